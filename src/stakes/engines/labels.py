"""The one label rule, for every engine.

A class is a text: whole numbers in digits (1, 1.0 and "1" from a text file are the class ``1``), booleans as ``true``
and ``false`` (beside a column of numbers as 1 and 0), text as it stands (``007`` is not ``7``). Of the pairs {0, 1},
{−1, 1} and {false, true} the second is the positive class; of any other pair stakes asks for it, once something
depends on the answer.
"""

from collections.abc import Callable, Sequence

import numpy as np

from stakes import errors
from stakes.engines.alike import refuse_alike
from stakes.engines.columns import Column, Values, in_order, kind_in_words, ranks, refuse_missing
from stakes.engines.plan import Plan
from stakes.errors import About, InputError, Pass, some
from stakes.frozen import dataclass, replace
from stakes.tallies.arithmetic import Array
from stakes.tallies.columns import refuse_rows
from stakes.tallies.names import canonical

PAIRS = (("0", "1"), ("-1", "1"), ("false", "true"), ("False", "True"), ("FALSE", "TRUE"), ("0.0", "1.0"))
"""Pairs of which the second is the positive class; the last three are how text files often write the others."""

_BLOCK = 1 << 16
_FEW = 1 << 16


@dataclass(frozen=True, eq=False)
class Labels:
    """A column of classes: a code for each row, and the names of the codes."""

    codes: Array
    names: tuple[str, ...]

    def into(self, names: Sequence[str]) -> Array:
        """Return codes for other names, which contain these."""
        if tuple(names) == self.names:
            return self.codes
        kind = np.uint8 if len(names) <= 256 else np.uint16 if len(names) <= 65_536 else np.int64
        numbered = {name: i for i, name in enumerate(names)}
        places = np.array([numbered[name] for name in self.names], kind)
        return places[self.codes]

    def renamed(self, rename: Callable[[str], str]) -> "Labels":
        """Return the same rows with other names; those that get the same name become one class."""
        names = [rename(name) for name in self.names]
        known = tuple(names_in_order(list(dict.fromkeys(names))))
        return Labels(np.array([known.index(name) for name in names])[self.codes], known)


def rows_of(by: Labels | None, segment: str | None) -> Array | slice:
    """Where the rows of a segment stand; or all rows, if none is named."""
    return slice(None) if by is None or segment is None else np.flatnonzero(by.codes == by.names.index(segment))


def same_kind(truth: Column, prediction: Column, alike: bool = False) -> tuple[Column, Column]:
    """Refuse text against numbers, unless labels are made ``alike``; booleans beside numbers are 0 and 1."""
    if truth.kind == prediction.kind or (alike and "text" in (truth.kind, prediction.kind)):
        return truth, prediction
    if "text" in (truth.kind, prediction.kind):
        predicted, true = kind_in_words(prediction.kind), kind_in_words(truth.kind)
        raise InputError(
            "text-against-numbers",
            f"{prediction.argument} holds {predicted} but truth holds {true}; make both the same kind, so that labels "
            "can match, or pass ",
            Pass("alike", "numbers"),
            " (1, '1.0' and true are then one class)",
        )
    return replace(truth, kind="number"), replace(prediction, kind="number")


def encode(column: Column) -> Labels:
    """Encode a column as classes."""
    if column.kind == "text":
        names = tuple(names_in_order(column.names))
        return Labels(Labels(column.values, column.names).into(names), names)
    if column.kind == "boolean":
        return Labels(np.ascontiguousarray(column.values).view(np.uint8), ("false", "true"))
    return zeros_and_ones(column) or _encode_whole(whole_numbers(column))


def zeros_and_ones(column: Column) -> Labels | None:
    """Encode a column of numbers as classes if all are 0 or 1: the fast path for the usual case.

    Codes of one byte are checked and copied block by block.
    """
    if column.kind != "number" or not len(column):
        return None
    codes = np.empty(len(column), np.uint8)
    for start in range(0, len(column), _BLOCK):
        block = column.values[start : start + _BLOCK]
        if block.dtype.kind == "f":
            only = bool(((block == 0) | (block == 1)).all())
        else:
            only = int(np.bitwise_or.reduce(block)) in (0, 1)  # any other number sets another bit
        if not only:
            return None
        codes[start : start + _BLOCK] = block
    both = 0 < np.count_nonzero(codes.view(bool)) < len(codes)
    return Labels(codes, ("0", "1")) if both else Labels(np.zeros_like(codes), (str(codes[0]),))


def whole_numbers(column: Column) -> Array:
    """Return the numbers as integers; fractions are refused."""
    values = column.values
    if values.dtype.kind != "f":
        return values
    refuse_missing(np.isnan(values), column.argument)
    fractions = are_fractions(values)
    refuse_rows(fractions, lambda n, row: errors.fractional_labels(column.argument, n, row, float(values[row])))
    return values.astype(np.int64)


def are_fractions(values: Array) -> Array:
    """A mask of the numbers that are not integers of 64 bits."""
    return np.asarray((values != np.floor(values)) | (np.abs(values) >= 2.0**63))


def group_codes(column: Column) -> Array:
    """Number the groups of a column from 0 on; their names are not needed, and there may be very many."""
    if column.kind != "number":
        return encode(column).codes
    values = whole_numbers(column)
    low, reach = int(values.min()), int(values.max()) - int(values.min())
    if reach >= max(_FEW, 8 * len(values)):
        return np.unique(values, return_inverse=True)[1]
    # unused numbers are left out when clusters are counted; wrapping is intended, as below
    return (values.astype(np.uint64) - np.uint64(low % 2**64)).astype(np.int64)


def _encode_whole(values: Array) -> Labels:
    low, high = int(values.min()), int(values.max())
    if high - low >= _FEW:
        found, codes = np.unique(values, return_inverse=True)
        return Labels(codes, tuple(str(v) for v in found.tolist()))
    codes = np.empty(len(values), np.uint8 if high - low < 256 else np.uint16)
    seen = np.zeros(high - low + 1, bool)
    for start in range(0, len(values), _BLOCK):
        rows = slice(start, start + _BLOCK)
        # wrapping is intended: the difference fits even if the numbers themselves do not
        np.subtract(values[rows], values.dtype.type(low), out=codes[rows], casting="unsafe", dtype=values.dtype)
        if not seen.all():  # usually settled by the first block
            seen |= np.bincount(codes[rows], minlength=len(seen)) > 0
    present = np.flatnonzero(seen)
    names = tuple([str(low + place) for place in present.tolist()])
    if len(present) == len(seen):
        return Labels(codes, names)
    return Labels(ranks(present, len(seen), codes.dtype)[codes], names)


def names_in_order(names: Sequence[str]) -> list[str]:
    """Order names that are all whole numbers by size (-1, 1, 2, 10), others as text."""
    try:
        return sorted(names, key=lambda name: (int(name), name))
    except ValueError:
        return sorted(names)


# ── which class is which ─────────────────────────────────────────────────────────────────────────────────────────
def settle(
    truth: Labels,
    prediction: Labels | None,
    classes: Values,
    positive: Values,
    scored: Sequence[str] = (),
    *,
    ask: bool | None = True,
) -> Plan:
    """Return the classes, the decisions and the positive class of two.

    Classes are those that occur, those with a score column of their own, or those that are declared. If the positive
    class is not obvious, it is asked for (an error) if ``ask``, else left open; with None it is always left open.
    """
    names = list(dict.fromkeys([*truth.names, *scored]))
    predicted = () if prediction is None else prediction.names
    wanted = None if positive is None else canonical(positive)
    if isinstance(positive, bool) and {*names, *predicted} <= {"0", "1"}:
        wanted = str(int(positive))
    declared = () if classes is None else _declare(classes)
    refuse_alike(truth.names, predicted, declared)
    refuse_alike(truth.names, [*declared, *scored], declared, needed=True)
    strangers = predicted and not set(names) & set(predicted) and len({*names, *predicted}) > 2
    if strangers and classes is None:
        errors.warn(
            "nothing-in-common",
            About("prediction"),
            f" has no class of truth ({some(predicted)} against {some(names)}); is it the right column?",
        )
    names = list(dict.fromkeys([*names, *predicted]))
    if classes is not None:
        every = declared
    else:
        every = tuple(names_in_order(names)) if len(names) >= 2 else _complete(names[0], wanted)
    members = set(every)
    if unknown := [name for name in truth.names if name not in members]:
        raise errors.unknown_labels("truth", unknown, every)
    extra = tuple(name for name in names if name not in members)
    if len(every) > 2:
        if wanted is not None:
            raise errors.positive_of_many(wanted, every)
        return Plan(every, every + extra)
    chosen = None if ask is None else _positive(every, wanted)
    if chosen is None:
        if ask:
            raise errors.which_positive(every)
        return Plan(every, every + extra)
    pair = (next(name for name in every if name != chosen), chosen)
    return Plan(pair, pair + extra, chosen)


def _positive(pair: Sequence[str], wanted: str | None) -> str | None:
    """The positive class that was given, or the obvious one, if there is one."""
    if wanted is None:
        return next((known[1] for known in PAIRS if set(known) == set(pair)), None)
    if wanted not in pair:
        raise errors.unknown_positive(wanted, pair)
    return wanted


def _declare(classes: Values) -> tuple[str, ...]:
    known = tuple(canonical(name) for name in in_order(classes))
    if len(set(known)) != len(known) or len(known) < 2:
        raise errors.classes_not_different(known)
    return known


def _complete(only: str, positive: str | None) -> tuple[str, str]:
    """Both classes, if the data hold only one."""
    for pair in PAIRS:
        if only in pair and positive in (None, *pair):
            return pair
    if positive is None:
        raise InputError(
            "one-class",
            About("truth"),
            f" has the single class {only!r}; pass ",
            Pass("positive"),
            " or ",
            Pass("classes"),
            " to say what the other one is",
        )
    return (only, positive) if positive != only else (f"not {only}", only)
