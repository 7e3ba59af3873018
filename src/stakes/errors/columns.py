"""Columns: which are given, how long they are, what they hold."""

from collections.abc import Mapping, Sequence

from stakes.errors import About, EmptyError, GapError, Given, InputError, Pass, Text
from stakes.errors.mentions import in_rows
from stakes.errors.words import first_row, nearest, rows_text, short


def no_such_column(argument: str, name: str, columns: Sequence[str], sheets: Sequence[str] = ()) -> InputError:
    """``sheets`` are others of the same file, which were not looked at."""
    more = f"; the first sheet was read, {sheets[0]!r} names another" if sheets else ""
    return InputError(
        "no-such-column", About(argument), f": there is no column {short(repr(name))}{nearest(name, columns)}{more}"
    )


def name_without_data(argument: str, name: str) -> InputError:
    return InputError(
        "name-without-data",
        Given(argument, name),
        " is a name, but no data was given; pass the table or file first, or an array here",
    )


def not_a_column(argument: str, seen: str) -> InputError:
    return InputError(
        "not-a-column", About(argument), f" is {seen}; give one value per row: a list, an array or a column"
    )


def wrong_length(argument: str, length: int, other_length: int, other: str = "truth") -> InputError:
    return InputError(
        "wrong-length",
        About(argument),
        f" has {rows_text(length)} but {other} has {other_length:,}; give one value per row",
    )


def empty(argument: str) -> EmptyError:
    return EmptyError("empty", About(argument), " is empty; there is nothing to evaluate")


def missing_values(argument: str, count: int, first: int | None, needed: bool = False) -> GapError:
    if needed:
        return GapError(
            "missing-values", About(argument), " is missing ", in_rows(count, first), "; give a value for each"
        )
    return GapError(
        "missing-values",
        About(argument),
        " is missing ",
        in_rows(count, first),
        "; fill them, or leave those rows out with ",
        Pass("missing", "drop"),
        *(_FEW_LABELS if argument == "truth" and count >= _MANY_WITHOUT else ()),
    )


_MANY_WITHOUT = 50
_FEW_LABELS = (
    "; ",
    Pass("unlabelled", "estimate"),
    " estimates their figures, which holds if labelling depends on the output only",
)


def mixed_devices(places: Mapping[str, str]) -> InputError:
    seen = ", ".join(f"{name} on {place}" for name, place in places.items())
    return InputError(
        "mixed-devices", f"the tensors lie on different devices ({seen}); bring them to one with .to(device)"
    )


def classes_without_order(classes: object) -> InputError:
    return InputError(
        "classes-without-order",
        Given("classes", classes),
        " has no order; give a list, in the order of the score columns",
    )


def few_outside(count: int, rows: int, first: int | None, value: float) -> Text:
    return Text(
        f"score lies outside [0, 1] in {count:,} of {rows_text(rows)} ({value!r}; ",
        first_row(first),
        "), so the scores are not taken as probabilities; clip or mend them if they are meant to be",
    )


def unsupported_type(argument: str, seen: str) -> InputError:
    return InputError("unsupported-type", About(argument), f" holds {seen} values; give text, numbers or booleans")


def beyond_64_bits(argument: str) -> InputError:
    return InputError(
        "beyond-64-bits",
        About(argument),
        " holds whole numbers beyond 64 bits; scale them down, or give labels as text",
    )


def no_segments() -> InputError:
    return InputError(
        "no-segments", "there are no segments; evaluate with ", Pass("by"), ", the column (or columns) that make them"
    )


def no_figure_of_segments(name: str, why: str) -> InputError:
    return InputError("no-figure-of-segments", f"segments cannot be compared by {name}: {why}")


def unknown_missing(missing: object) -> InputError:
    return InputError("unknown-missing", Given("missing", missing), " is not known; give 'error' or 'drop'")
