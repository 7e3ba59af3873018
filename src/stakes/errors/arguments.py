"""Plain arguments of many functions: shares, whole numbers, flags, names."""

from stakes.errors import InputError
from stakes.errors.words import short


def not_whole(argument: str, value: object, least: int, most: float) -> InputError:
    end = f"to {most:,}" if isinstance(value, int) and value > most else "on"
    return InputError(f"{argument}={short(repr(value))} does not work; give a whole number from {least} {end}")


def not_a_share(argument: str, value: object) -> InputError:
    return InputError(f"{argument}={short(repr(value))} is no share; give a number from 0 to 1, such as 0.05 for 5 %")
