"""Permutation tests."""

from collections.abc import Sequence

from stakes.errors import InputError
from stakes.errors.words import rows_text, short, some


def not_whole(argument: str, value: object, least: int, most: float) -> InputError:
    large = isinstance(value, int) and value > most
    end = f"to {most:,}" if large else "on"
    return InputError(f"{argument}={short(repr(value))} does not work; give a whole number from {least} {end}")


def no_direction(name: str) -> InputError:
    return InputError(f"{name} is better neither higher nor lower, so nothing can be ranked by it; name another metric")


def nothing_to_compare(name: str, why: str) -> InputError:
    return InputError(f"{name} is undefined here ({why}), so shuffles cannot be compared with it; name another metric")


def single_row() -> InputError:
    return InputError("there is a single row, which shuffling cannot change; give at least two")


def single_class(only: str) -> InputError:
    return InputError(f"truth is {only!r} in every row, which shuffling cannot change; give rows of two classes")


def shuffled_clusters() -> InputError:
    return InputError(
        "cluster= does not go with shuffling rows: rows of a cluster are alike, and a shuffle that parts them takes "
        "chance for a finding far too often; keep one row of each cluster"
    )


def rows_not_kept(name: str) -> InputError:
    return InputError(f"{name} needs the rows to shuffle them, and only counts were kept; give all rows in one table")


def too_many_rows_to_shuffle(rows: int) -> InputError:
    return InputError(f"{rows_text(rows)} are too many to shuffle; a random part of them tells as much")


def unknown_refit_options(arguments: Sequence[str]) -> InputError:
    return InputError(
        f"{some(arguments)} is no option of a permutation test that refits; there are cv, test, jobs, groups"
    )


def only_for_estimators(arguments: Sequence[str]) -> InputError:
    names = ", ".join(f"{name}=" for name in arguments)
    return InputError(f"{names}: that is for an estimator, given with X and y; leave it out")


def only_for_predictions(arguments: Sequence[str]) -> InputError:
    names = ", ".join(f"{name}=" for name in arguments)
    return InputError(f"{names}: that is for predictions that are there already; an estimator is given with X and y")
