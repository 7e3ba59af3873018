"""Tallies, added up and sent around."""

import math
from collections.abc import Sequence

from stakes.errors import EmptyError, InputError
from stakes.errors.words import short, some


def different_questions(what: str, left: object, right: object) -> InputError:
    one, other = (short(repr(value), 200) for value in (left, right))
    hint = " (classes= names classes that some part lacks)" if "class" in what or "decision" in what else ""
    return InputError(
        f"these tallies answer different questions: {what} is {one} in one and {other} in the other; "
        f"count both with the same arguments{hint}"
    )


def no_evaluation_of(kind: str) -> InputError:
    return InputError(
        f"a {kind} by itself is not enough to evaluate; give a Confusion, ScoreTable, ClassScores or ErrorSums, or "
        "the rows"
    )


def empty_tally(kind: str) -> InputError:
    return EmptyError(f"this {kind} counts no rows; there is nothing to evaluate")


def table_of_one_class(only: str) -> InputError:
    return InputError(f"this Confusion has the single class {short(repr(only))}; to be judged, a table needs two")


def several_tallies(kind: str, leading: Sequence[int]) -> InputError:
    return InputError(
        f"this {kind} holds {math.prod(leading):,} tables (shape {tuple(leading)}); evaluate one of them at a time"
    )


def not_to_add(seen: str) -> InputError:
    return InputError(f"a {seen} is no count; give what stakes.count(…) returned, or a list of those")


def nothing_to_add() -> InputError:
    return InputError("there are no tallies to add up; give at least one")


def not_a_tally(seen: str) -> InputError:
    return InputError(f"expected the dictionary of a tally, got {seen}; count the rows again")


def unknown_version(tally: str, version: object, known: int) -> InputError:
    return InputError(
        f"this {tally} was saved in version {short(repr(version))}, this stakes reads version {known}; update stakes, "
        "or count the rows again"
    )


def bad_counts(what: str) -> InputError:
    return InputError(f"these counts do not make a table: {what}")


def no_numbers_of_rows() -> InputError:
    return bad_counts("some are fractions, or more rows than there are of anything; count whole rows, or give weights")


def no_positive(classes: Sequence[str]) -> InputError:
    return InputError(f"this table has no positive class ({some(classes)}); pass positive= to have tp, fn, fp and tn")


def bad_grid(grid: str, known: Sequence[str], seen: tuple[float, float]) -> InputError:
    return InputError(
        f"grid={grid!r} does not hold scores from {seen[0]:g} to {seen[1]:g}; the grids are {some(known, last='or')} "
        "('probability' for scores in [0, 1])"
    )


def threshold_inside_bin(threshold: float, low: float, high: float) -> InputError:
    return InputError(
        f"threshold={threshold!r} lies inside a bin of this table; the nearest that it can answer are "
        f"{low!r} and {high!r}"
    )


def bad_min_cell(seen: object) -> InputError:
    return InputError(f"min_cell={short(repr(seen))} is no number of rows; give a whole number from 1 on")


def exact_scores_travel() -> str:
    return (
        "exact: distinct scores are row-level data, so whoever gets this file can look up single rows; "
        "leave exact out to send bins"
    )


def damaged_tally(path: str, why: str) -> InputError:
    return InputError(
        f"{path} is damaged or no tally ({short(why, 100)}); write it again with stakes count … -o, or count(…).save()"
    )


def tallies_and_rows(tally: str, other: str) -> InputError:
    return InputError(
        f"{tally} is a tally but {other} holds rows; count those first: stakes count {other} … -o {other}.tally"
    )


def fixed_when_counted(arguments: Sequence[str]) -> InputError:
    named = ", ".join(f"{name}=" for name in arguments)
    return InputError(f"{named}: the question of a tally was fixed when its rows were counted; leave this out")


def tallies_to_count(path: str) -> InputError:
    return InputError(
        f"{path} has been counted already; evaluate tallies together, or add them up: stakes.load(a) + stakes.load(b)"
    )


def too_sparse_to_travel(path: str) -> InputError:
    return InputError(
        f"{path}: these tables are so large and so empty that whoever loads them would take them for an attack; group "
        "the segments, or the classes"
    )
