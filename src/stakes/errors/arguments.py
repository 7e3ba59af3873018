"""Plain arguments of many functions: shares, whole numbers, flags, names."""

from stakes.errors import InputError
from stakes.errors.words import short


def not_whole(argument: str, value: object, least: int, most: float) -> InputError:
    end = f"to {most:,}" if isinstance(value, int) and value > most else "on"
    return InputError(f"{argument}={short(repr(value))} does not work; give a whole number from {least} {end}")


def not_a_share(argument: str, value: object) -> InputError:
    return InputError(f"{argument}={short(repr(value))} is no share; give a number from 0 to 1, such as 0.05 for 5 %")


def not_a_flag(argument: str, value: object) -> InputError:
    return InputError(f"{argument}={short(repr(value))} does not work; give True or False")


def not_a_path(argument: str, value: object) -> InputError:
    return InputError(f"{argument}={short(repr(value))} is no name of a file; give a text or a path")


def not_a_class(argument: str, value: object) -> InputError:
    return InputError(f"{argument}={short(repr(value))} is no class; give its name as a text")


def not_a_line(about: object) -> InputError:
    return InputError(f"about={short(repr(about))} is no text; give a line to stand below the title")
