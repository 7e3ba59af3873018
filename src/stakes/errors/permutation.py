"""Permutation tests."""

from collections.abc import Sequence

from stakes.errors import InputError, several
from stakes.errors.words import rows_text


def no_direction(name: str) -> InputError:
    return InputError(
        "no-direction",
        f"{name} is better neither higher nor lower, so nothing can be ranked by it; name another metric",
    )


def nothing_to_compare(name: str, why: str) -> InputError:
    return InputError(
        "nothing-to-compare",
        f"{name} is undefined here ({why}), so shuffles cannot be compared with it; name another metric",
    )


def single_row() -> InputError:
    return InputError("single-row", "there is a single row, which shuffling cannot change; give at least two")


def rows_not_kept(name: str) -> InputError:
    return InputError(
        "rows-not-kept", f"{name} needs the rows to shuffle them, and only counts were kept; give all rows in one table"
    )


def too_many_rows_to_shuffle(rows: int) -> InputError:
    return InputError(
        "too-many-rows-to-shuffle", f"{rows_text(rows)} are too many to shuffle; a random part of them tells as much"
    )


def only_for_estimators(arguments: Sequence[str]) -> InputError:
    return InputError(
        "only-for-estimators", several(arguments), ": that is for an estimator, given with X and y; leave it out"
    )


def only_for_predictions(arguments: Sequence[str]) -> InputError:
    return InputError(
        "only-for-predictions",
        several(arguments),
        ": that is for predictions that are there already; an estimator is given with X and y",
    )
