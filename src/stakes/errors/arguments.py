"""Plain arguments of many functions: shares, whole numbers, flags, names."""

from stakes.errors import Given, InputError


def not_whole(argument: str, value: object, least: int, most: float) -> InputError:
    end = f"to {most:,}" if isinstance(value, int) and value > most else "on"
    return InputError("not-whole", Given(argument, value), f" does not work; give a whole number from {least} {end}")
