"""Conditions: where= chooses rows."""

from collections.abc import Sequence

from stakes.errors import EmptyError, Given, InputError, Pass
from stakes.errors.columns import empty
from stakes.errors.words import short

_EXAMPLE = "write SQL such as site = 'A' AND age > 60"


def bad_where(condition: object, why: str, advice: str | None = None) -> InputError:
    return InputError("bad-where", Given("where", condition), f" is not understood: {why}; {advice or _EXAMPLE}")


def nested_condition(condition: str, most: int) -> InputError:
    return bad_where(condition, f"it is nested more than {most} deep", "take brackets out, or list values with IN (…)")


_KINDS = {"number": "numbers", "text": "text", "boolean": "booleans", "date": "dates"}
_BESIDE = {"number": "a number", "text": "text", "boolean": "TRUE or FALSE", "date": "a date"}
_HOW = {"number": ", without quotes", "text": " in single quotes", "boolean": "", "date": " such as '2024-05-31'"}


def condition_of_other_kind(column: str, wanted: str | None, held: str, value: str | None = None) -> InputError:
    asked = "compared" if wanted is None else f"compared with {_BESIDE[wanted]}"
    seen = _KINDS.get(held, held) if value is None else short(repr(value) if held == "text" else value)
    advice = (
        f"compare it with {_BESIDE[held]}{_HOW[held]}" if held in _HOW else "choose these rows before they are passed"
    )
    return InputError(
        "condition-of-other-kind", f"where: the column {short(repr(column))} is {asked} but holds {seen}; {advice}"
    )


def columns_of_other_kinds(column: str, kind: str, other: str, other_kind: str) -> InputError:
    one, two = (f"{short(repr(c))} holds {_KINDS.get(k, k)}" for c, k in ((column, kind), (other, other_kind)))
    return InputError(
        "columns-of-other-kinds", f"where: {one} and {two}, so they cannot be compared; compare columns of one kind"
    )


def no_order(column: str, kind: str) -> InputError:
    held, advice = "dates that are not all written as '2024-05-31'", "write them so"
    if kind == "number":
        held, advice = "numbers beside other text", "write what is no number as a missing value"
    return InputError("no-order", f"where: the column {short(repr(column))} is put in order but holds {held}; {advice}")


def taken_for_two_kinds(condition: str, column: str, other: str, kinds: Sequence[str]) -> InputError:
    one, two = (_BESIDE[kind] for kind in kinds)
    what = f"{short(repr(column))} is compared with {one} and with {two}"
    if column != other:
        what = f"{short(repr(column))} is compared with {one}, and {short(repr(other))}, to be equal to it, with {two}"
    return bad_where(condition, what, "compare a column with one kind of value")


def rounded_column(column: str, number: object) -> InputError:
    return InputError(
        "rounded-column",
        f"where: the column {short(repr(column))} holds {short(str(number))}, beyond 2**53, where fractions and "
        "arithmetic of float64 round; compare it with whole numbers as it is",
    )


def nothing_there(where: str | None) -> EmptyError:
    """Rows are empty, or a condition keeps none of them."""
    return empty("truth") if where is None else nothing_satisfies(where)


def nothing_satisfies(where: str) -> EmptyError:
    return EmptyError("nothing-satisfies", "no row satisfies ", Pass("where", where), "; there is nothing to evaluate")
