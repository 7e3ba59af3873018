"""Scores and labels packed into sortable integers.

A score and its label share one unsigned integer, the label in the lowest bit, ordered so that sorting puts the
highest score first. Sorting plain integers is several times faster than sorting scores with their labels beside them,
and the sorted keys are all that the exact score table has to keep: 4 or 8 bytes a row.

For numbers of one sign the bits of a float order like the float. A negative float64 has no bit to spare for the
label; multiplying by 2⁻⁵¹² is exact for every score of ordinary size and frees the second bit.
"""

import bisect
import functools
import itertools
import sys
import timeit
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from stakes.frozen import dataclass
from stakes.tallies.arithmetic import Array, distinct, exact, run_starts
from stakes.tallies.parallel import polars_is_lost
from stakes.tallies.steps import BLOCK, EXACT_PRODUCTS, Steps


@dataclass(frozen=True)
class Layout:
    """How one kind of score is laid out in a key."""

    name: str
    score: type[np.floating[Any]]
    key: type[np.unsignedinteger[Any]]

    def to_bits(self, scores: Array) -> Array | None:
        """Return integers in the order of the scores, with one bit to spare at the top; None for what does not fit."""
        bits = np.ascontiguousarray(scores).view(self.key)
        infinite = np.array(np.inf, self.score).view(self.key)
        return None if bits.max() >= infinite else bits  # a sign bit, an infinity or a NaN

    def to_scores(self, bits: Array) -> Array:
        """Return the scores of such integers, as float64 (float32 values are kept exactly)."""
        return np.asarray(bits.view(self.score).astype(np.float64, copy=False))


class SignedLayout(Layout):
    """Scores of both signs: the sign moves to the bit that the scaling frees."""

    _SCALE = 2.0**-512
    _MIDDLE = np.uint64(1 << 62)

    def to_bits(self, scores: Array) -> Array | None:
        """Mirror negative scores below the middle; None where scaling is not exact for all of them."""
        size = np.abs(scores, dtype=np.float64)
        if not (((size >= 2.0**-510) & (size < 2.0**512)) | (size == 0)).all():
            return None
        bits = (size * self._SCALE).view(np.uint64)
        return np.where(scores < 0, self._MIDDLE - bits, self._MIDDLE + bits)

    def to_scores(self, bits: Array) -> Array:
        """Undo :meth:`to_bits`."""
        negative = bits < self._MIDDLE
        size = np.where(negative, self._MIDDLE - bits, bits - self._MIDDLE)
        scores = size.view(np.float64) / self._SCALE
        return np.where(negative, -scores, scores)


FLOAT32 = Layout("float32", np.float32, np.uint32)
FLOAT64 = Layout("float64", np.float64, np.uint64)
SIGNED = SignedLayout("signed", np.float64, np.uint64)


@dataclass(frozen=True, eq=False)
class Keys:
    """Sorted keys, highest score first, and how they are laid out."""

    layout: Layout
    values: Array

    leading: ClassVar[tuple[int, ...]] = ()
    weighted: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        ends = np.invert(self.values[[-1, 0]]) >> self.values.dtype.type(1)
        low, high = self.layout.to_scores(ends).tolist()
        return low, high

    def score(self, row: int) -> float:
        """Return the score of one row."""
        return float(self.layout.to_scores(self._unpack(row, row + 1)[0])[0])

    # ── counts ───────────────────────────────────────────────────────────────────────────────────────────────
    @property
    def row_weight(self) -> float:
        """What a row weighs."""
        return 1.0

    @cached_property
    def P(self) -> int:
        """How many rows are positive."""
        return self._positives_before[-1]

    @property
    def N(self) -> int:
        """How many rows are negative."""
        return len(self) - self.P

    def at_least(self, threshold: float) -> tuple[int, int]:
        """Return how many positives and how many negatives score at least this much."""
        rows = bisect.bisect_left(range(len(self)), True, key=lambda row: self.score(row) < threshold)
        block = rows // BLOCK
        tp = self._positives_before[block] + self._positives_between(block * BLOCK, rows)
        return tp, rows - tp

    @cached_property
    def _positives_before(self) -> Sequence[int]:
        """Positives in the first 0, 1, 2, … blocks."""
        blocks = (self._positives_between(start, start + BLOCK) for start in range(0, len(self), BLOCK))
        return list(itertools.accumulate(blocks, initial=0))

    def _positives_between(self, start: int, stop: int) -> int:
        rows = self.values[start:stop]
        return len(rows) - int(np.count_nonzero(rows & rows.dtype.type(1)))  # keys are complemented: 1 is negative

    def cut(self, rows: Array) -> tuple[Array, Array, Array]:
        """Cut the ranking below these rows (moved down to where a new score begins).

        Return for each piece its lowest score, its positives and its negatives.
        """
        last = self.values[rows - 1] | self.values.dtype.type(1)  # the last key that the score above can have
        tied = (rows < len(self)) & (self.values[np.minimum(rows, len(self) - 1)] <= last)
        ends = np.minimum(rows, len(self))
        ends[tied] = [self._next_score(int(row)) for row in rows[tied]]
        ends = distinct(ends)
        found = np.empty(len(ends), np.int64)
        for start in range(0, len(self), BLOCK):
            here = slice(*np.searchsorted(ends, (start + 1, start + BLOCK + 1)))
            if ends[here].size:
                _, positives = self._unpack(start, start + BLOCK)
                found[here] = self._positives_before[start // BLOCK] + np.cumsum(positives)[ends[here] - start - 1]
        positives = np.diff(found, prepend=0)
        scores = self.layout.to_scores(np.invert(self.values[ends - 1]) >> self.values.dtype.type(1))
        return scores, positives, np.diff(ends, prepend=0) - positives

    def some(self, most: int) -> tuple[Array, Array]:
        """Return the scores and labels of all rows, or of every second, third, … one where there are more than that."""
        packed = np.invert(self.values[:: -(-len(self) // most)])
        labels = packed & packed.dtype.type(1)
        return self.layout.to_scores(packed >> packed.dtype.type(1)), labels.astype(np.int64)

    # ── steps ────────────────────────────────────────────────────────────────────────────────────────────────
    def blocks(self) -> list[Callable[[], Steps]]:
        """Return the walk down the distinct scores, block by block, each to be made when it is wanted.

        A step belongs to the block in which its first row lies.
        """
        return [functools.partial(self._steps, start, stop) for start, stop in self._spans()]

    def _steps(self, start: int, stop: int) -> Steps:
        block = start // BLOCK
        found = self._positives_before[block]
        if start > block * BLOCK:
            found += self._positives_between(block * BLOCK, start)
        bits, positives = self._unpack(start, stop)
        tp = np.cumsum(positives) + found
        rows = np.arange(start + 1, stop + 1)
        new = bits[1:] != bits[:-1]
        ends: slice | Array = slice(None)
        if new.all():  # every row is a step
            negatives = 1 - positives
        else:  # some rows tie: a step ends where the score changes
            ends = np.append(np.flatnonzero(new), len(bits) - 1)
            tp, rows = tp[ends], rows[ends]
            positives = np.diff(tp, prepend=found)
            negatives = np.diff(rows, prepend=start) - positives
        columns = [positives, negatives, tp, rows - tp]
        if len(self) >= EXACT_PRODUCTS:
            columns = [exact(column) for column in columns]
        positives, negatives, tp, fp = columns
        return Steps(lambda: self.layout.to_scores(bits[ends]), positives, negatives, tp, fp, self.P, self.N)

    def _spans(self) -> Iterator[tuple[int, int]]:
        """Cut the rows every BLOCK, moved down to where a new score begins."""
        start = 0
        while start < len(self):
            stop = self._next_score((start // BLOCK + 1) * BLOCK)
            yield start, stop
            start = stop

    def _next_score(self, row: int) -> int:
        """The first row from ``row`` on that does not tie with the row before it."""
        if row >= len(self):
            return len(self)
        tied = self.values[row - 1] | self.values.dtype.type(1)  # the last key that this score can have
        return row + int(np.searchsorted(self.values[row:], tied, side="right"))

    def _unpack(self, start: int, stop: int) -> tuple[Array, Array]:
        """Return the ordered bits of the scores and the labels (0 or 1) of some rows."""
        packed = np.invert(self.values[start:stop])
        labels = packed & packed.dtype.type(1)
        labels = labels.view(np.int64) if labels.itemsize == 8 else labels.astype(np.int64)
        return np.right_shift(packed, 1, out=packed), labels


def pack(scores: Array, positive: Array) -> Keys | None:
    """Pack finite float scores and boolean labels, and sort them; None when no layout fits.

    Scores that are not finite make no sense here and are also answered with None.
    """
    layout = FLOAT32 if scores.dtype in (np.float32, np.float16) else FLOAT64
    scores = scores.astype(layout.score, copy=False)  # also brings foreign byte orders home
    keys = _pack(layout, scores, positive)
    if keys is None and scores.min() >= 0:  # nothing but a −0.0 stood in the way
        keys = _pack(layout, scores + layout.score(0), positive)
    return keys if keys is not None else _pack(SIGNED, scores, positive)


def _pack(layout: Layout, scores: Array, positive: Array) -> Keys | None:
    values = np.empty(len(scores), layout.key)
    for start in range(0, len(scores), BLOCK):
        stop = start + BLOCK
        bits = layout.to_bits(scores[start:stop])
        if bits is None:
            return None
        join(bits, positive[start:stop], out=values[start:stop])
    return Keys(layout, sort(values))


def join(bits: Array, positive: Array, out: Array) -> None:
    """Put ordered bits and labels (0 or 1) together: the highest score becomes the lowest key."""
    np.left_shift(bits, 1, out=out)
    np.bitwise_or(out, positive, out=out)
    np.invert(out, out=out)


def merge(parts: list[Keys]) -> Keys:
    """Put sorted keys of one layout together."""
    return Keys(parts[0].layout, sort(np.concatenate([part.values for part in parts])))


_FEW = 1 << 10
"""Up to so many numbers are put in order the plain way."""

_FEW_RUNS = 64
"""So few runs of ascending numbers are merged in a twentieth of the time that a sort takes."""

_MANY, _VERY_MANY = 1 << 16, 1 << 19
"""From how many keys on another sort may be worth its overhead: when Polars is loaded, and when it is not."""


def sort(values: Array) -> Array:
    """Sort an array of our own (it may be reused) by the fastest exact way on this machine."""
    worth_it = _MANY if "polars" in sys.modules else _VERY_MANY
    if len(values) < worth_it or polars_is_lost() or not _polars_is_faster():
        values.sort()
        return values
    return _polars_sort(values)


def order_of(values: Array) -> Array:
    """Where numbers stand in ascending order, equal ones as they were; floats must be finite, and none of them −0.0.

    The leading bits of a number and its place share one integer: sorting those is several times faster than sorting
    places by what stands there. Where these bits are the same, numbers are sorted again.
    """
    packs = values.dtype in (np.float64, np.int64) and _FEW < len(values) < 1 << 32
    if not packs or np.count_nonzero(values[1:] < values[:-1]) < _FEW_RUNS:
        return np.argsort(values, kind="stable")
    low, high = _ordered_bits(np.array([values.min(), values.max()])).tolist()
    places = len(values).bit_length()
    cut = np.uint64(max((high - low).bit_length() + places - 64, 0))
    packed = np.empty(len(values), np.uint64)
    for start in range(0, len(values), BLOCK):
        here = packed[start : start + BLOCK]
        np.subtract(_ordered_bits(values[start : start + BLOCK]), low, out=here, casting="unsafe")
        np.right_shift(here, cut, out=here)
        np.left_shift(here, np.uint64(places), out=here)
        np.bitwise_or(here, np.arange(start, start + len(here), dtype=np.uint64), out=here)
    packed = sort(packed)
    order = (packed & np.uint64((1 << places) - 1)).view(np.int64)
    if not cut:
        return order
    leading = packed >> np.uint64(places)
    same = leading[1:] == leading[:-1]
    unsure = np.flatnonzero(np.append(same, False) | np.append(False, same))
    if len(unsure):
        rows = order[unsure]
        order[unsure] = rows[np.argsort(values[rows], kind="stable")]
    return order


def add_up(keys: Array, *columns: Array) -> tuple[Array, ...]:
    """The keys that occur, in their order, and what columns add up to at each of them."""
    if (keys[1:] > keys[:-1]).all():
        return keys, *columns
    order = order_of(keys)
    keys = keys[order]
    starts = run_starts(keys)
    return keys[starts], *(np.add.reduceat(column[order], starts) for column in columns)


def put_together(parts: Iterable[tuple[Array, ...]]) -> tuple[Array, ...]:
    """The same of several such results."""
    columns = zip(*parts, strict=True)
    return add_up(*(pieces[0] if len(pieces) == 1 else np.concatenate(pieces) for pieces in columns))


def _ordered_bits(values: Array) -> Array:
    """Integers in the order of finite floats: those of negative ones are mirrored; integers are what they are."""
    if values.dtype == np.int64:
        return values
    bits = np.ascontiguousarray(values).view(np.int64)
    return bits ^ ((bits >> 63) & np.int64((1 << 63) - 1))


def _polars_sort(values: Array) -> Array:
    import polars

    return polars.Series(values).sort().to_numpy()


@functools.cache
def _polars_is_faster() -> bool:
    """Time both sorts once on 2¹⁷ keys.

    NumPy's AVX-512 sort is the fastest there is on most processors and six times slower than its own AVX2 sort on
    some (AMD Zen 4, where compressing stores are microcoded). Only a clock can decide.
    """
    sample = np.random.default_rng(0).integers(0, 1 << 63, 1 << 17, dtype=np.uint64)

    def seconds(action: Callable[[Array], object]) -> float:
        return min(timeit.repeat(lambda: action(sample.copy()), number=1, repeat=3))

    return seconds(_polars_sort) < seconds(np.ndarray.sort)


# ── keys that are collected batch by batch ───────────────────────────────────────────────────────────────────────
_GROWTH = 1.25


class KeyBuffer:
    """Scores and labels packed into keys (see ``keys.py``) as they come, in one array that grows."""

    def __init__(self, rows: int) -> None:
        """Make room for about so many rows; memory is taken only as it is filled."""
        self._values = np.empty(max(rows, 1), np.uint64)
        self._layout: Layout = FLOAT64
        self._length = 0

    def add(self, scores: Array, labels: Array) -> bool:
        """Add finite scores with labels 0 or 1; False when no layout holds them, and the buffer is of no use then."""
        if self._layout is FLOAT64 and scores.min() < 0 and not self._lay_out_signed():
            return False
        end = self._length + len(scores)
        if end > len(self._values):
            self._values = np.concatenate([self._values, np.empty(int(_GROWTH * end) - len(self._values), np.uint64)])
        for start in range(0, len(scores), BLOCK):
            block = scores[start : start + BLOCK].astype(np.float64) + 0.0  # −0.0 becomes 0.0
            bits = self._layout.to_bits(block)
            if bits is None:
                return False
            place = slice(self._length + start, self._length + start + len(block))
            join(bits, labels[start : start + BLOCK], out=self._values[place])
        self._length = end
        return True

    def sorted(self, swapped: bool) -> Keys:
        """Sort the keys, with labels 0 and 1 swapped if wanted; the buffer gives its memory away."""
        values, self._values = self._values[: self._length], self._values[:0]
        if swapped:
            np.bitwise_xor(values, np.uint64(1), out=values)
        return Keys(self._layout, sort(values))

    def _lay_out_signed(self) -> bool:
        """Change to the layout for scores of both signs, a block at a time."""
        for start in range(0, self._length, BLOCK):
            keys = self._values[start : min(start + BLOCK, self._length)]
            packed = np.invert(keys)
            bits = SIGNED.to_bits(FLOAT64.to_scores(packed >> np.uint64(1)))
            if bits is None:
                return False
            join(bits, packed & np.uint64(1), out=keys)
        self._layout = SIGNED
        return True
