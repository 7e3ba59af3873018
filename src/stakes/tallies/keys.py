"""Scores and labels packed into sortable integers.

A score and its label share one unsigned integer, the label in the lowest bit, ordered so that sorting puts the
highest score first. Sorting plain integers is several times faster than sorting scores with their labels beside them,
and the sorted keys are all that the exact score table has to keep: 4 or 8 bytes a row.

For numbers of one sign the bits of a float order like the float. A negative float64 has no bit to spare for the
label; multiplying by 2⁻⁵¹² is exact for every score of ordinary size and frees the second bit.
"""

import functools
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from stakes.tallies.arithmetic import Array

BLOCK = 1 << 16
"""Rows handled at a time, so that temporaries stay in the processor's cache."""


@dataclass(frozen=True)
class Layout:
    """How one kind of score is laid out in a key."""

    name: str
    score: type[Any]
    key: type[Any]

    @property
    def infinite(self) -> int:
        """The bits of +∞: those of a finite number that is not negative are below."""
        return int(np.array(np.inf, self.score).view(self.key))

    def to_bits(self, scores: Array) -> Array:
        """Return integers in the order of the scores, with one bit to spare at the top."""
        return np.ascontiguousarray(scores).view(self.key)

    def to_scores(self, bits: Array) -> Array:
        """Return the scores of such integers, as float64 (float32 values are kept exactly)."""
        return bits.view(self.score).astype(np.float64, copy=False)


class SignedLayout(Layout):
    """Scores of both signs: the sign moves to the bit that the scaling frees."""

    _SCALE = 2.0**-512
    _MIDDLE = np.uint64(1 << 62)

    def fits(self, scores: Array) -> bool:
        """Whether scaling is exact for all these scores."""
        size = np.abs(scores)
        return bool((((size >= 2.0**-510) & (size < 2.0**512)) | (size == 0)).all())

    def to_bits(self, scores: Array) -> Array:
        """Mirror negative scores below the middle."""
        size = (np.abs(scores) * self._SCALE).view(np.uint64)
        return np.where(scores < 0, self._MIDDLE - size, self._MIDDLE + size)

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

    def __len__(self) -> int:
        return len(self.values)

    def unpack(self, start: int, stop: int) -> tuple[Array, Array]:
        """Return the ordered bits of the scores and the labels (0 or 1) of some rows."""
        packed = np.invert(self.values[start:stop])
        labels = packed & packed.dtype.type(1)
        labels = labels.view(np.int64) if labels.itemsize == 8 else labels.astype(np.int64)
        return np.right_shift(packed, 1, out=packed), labels

    def scores_at(self, bits: Array, places: Any) -> Array:
        """Return the scores of some of the unpacked bits."""
        return self.layout.to_scores(bits[places])

    def score(self, row: int) -> float:
        """Return the score of one row."""
        return float(self.layout.to_scores(self.unpack(row, row + 1)[0])[0])


def pack(scores: Array, positive: Array) -> Keys | None:
    """Pack finite float scores and boolean labels, and sort them; None when no layout fits.

    Scores that are not finite make no sense here and are also answered with None.
    """
    if scores.dtype == np.float32 or scores.dtype == np.float16:
        keys = _pack(FLOAT32, scores.astype(np.float32, copy=False), positive)
    else:
        keys = _pack(FLOAT64, scores, positive)
    return keys or _pack_signed(scores, positive)


def _pack(layout: Layout, scores: Array, positive: Array) -> Keys | None:
    values = np.empty(len(scores), layout.key)
    infinite = layout.infinite
    for start in range(0, len(scores), BLOCK):
        stop = start + BLOCK
        bits = layout.to_bits(scores[start:stop])
        if bits.max() >= infinite:  # a sign bit, an infinity or a NaN
            return None
        _join(bits, positive[start:stop], out=values[start:stop])
    return Keys(layout, sort(values))


def _pack_signed(scores: Array, positive: Array) -> Keys | None:
    values = np.empty(len(scores), SIGNED.key)
    for start in range(0, len(scores), BLOCK):
        stop = start + BLOCK
        block = scores[start:stop].astype(np.float64)
        if not SIGNED.fits(block):
            return None
        _join(SIGNED.to_bits(block), positive[start:stop], out=values[start:stop])
    return Keys(SIGNED, sort(values))


def _join(bits: Array, positive: Array, out: Array) -> None:
    np.left_shift(bits, 1, out=out)
    np.bitwise_or(out, positive, out=out)
    np.invert(out, out=out)


def merge(parts: list[Keys]) -> Keys:
    """Put sorted keys of one layout together."""
    return Keys(parts[0].layout, sort(np.concatenate([part.values for part in parts])))


def sort(values: Array) -> Array:
    """Sort an array of our own (it may be reused) by the fastest exact way on this machine."""
    if len(values) < 1 << 20 or not _polars_is_faster():
        values.sort()
        return values
    return _polars_sort(values)


def _polars_sort(values: Array) -> Array:
    import polars  # heavy; worth its import from a million rows on

    return polars.Series(values).sort().to_numpy()


@functools.cache
def _polars_is_faster() -> bool:
    """Time both sorts once on 2¹⁷ keys.

    NumPy's AVX-512 sort is the fastest there is on most processors and six times slower than its own AVX2 sort on
    some (AMD Zen 4, where compressing stores are microcoded). Nothing but a clock can tell.
    """
    sample = np.random.default_rng(0).integers(0, 1 << 63, 1 << 17, dtype=np.uint64)

    def seconds(action: Any) -> float:
        best = float("inf")
        for _ in range(3):
            copy = sample.copy()
            start = time.perf_counter()
            action(copy)
            best = min(best, time.perf_counter() - start)
        return best

    return seconds(_polars_sort) < seconds(np.ndarray.sort)
