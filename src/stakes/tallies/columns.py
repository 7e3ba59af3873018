"""Score tables as columns over the distinct scores: for weights, bins, leading axes, and scores that no key holds."""

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, partial
from types import MappingProxyType
from typing import Self

import numpy as np

from stakes import errors
from stakes.frozen import dataclass
from stakes.tallies.arithmetic import Array, Index, Number, as_float, distinct, divide, exact, room_for, run_starts
from stakes.tallies.keys import order_of
from stakes.tallies.steps import BLOCK, EXACT_PRODUCTS, Steps

COUNTS = ("positives", "negatives")
"""The columns that every table has."""


@dataclass(frozen=True, eq=False)
class Columns:
    """Distinct scores, highest first, and what adds up at each of them.

    ``values`` holds ``positives`` and ``negatives``; for weighted rows also ``positives_squared`` and
    ``negatives_squared``; and any further column. Their last axis runs along the scores.
    """

    scores: Array
    values: Mapping[str, Array]

    def __post_init__(self) -> None:
        """Check, and keep read-only views: the arrays may be somebody else's."""
        object.__setattr__(self, "scores", _frozen(self.scores))
        object.__setattr__(self, "values", MappingProxyType({k: _frozen(v) for k, v in self.values.items()}))
        for name, column in self.values.items():
            if column.shape[-1:] != self.scores.shape:
                raise errors.bad_counts(f"{name} has {column.shape[-1]} entries for {len(self.scores)} scores")
            if name.startswith(COUNTS) and not column.min(initial=0) >= 0:
                raise errors.bad_counts(f"some {name} are negative or not numbers")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.scores, dict(self.values))  # a read-only view of a dictionary cannot be pickled

    @classmethod
    def added(cls, scores: Array, values: Mapping[str, Array]) -> Self:
        """Sort by score and add up what lies at equal scores; scores at which nothing lies are left out."""
        scores, order = _in_order(scores)
        if not len(scores):
            return cls(scores, values)
        return cls._present(scores, {name: column[..., order] for name, column in values.items()})

    @classmethod
    def _present(cls, scores: Array, values: Mapping[str, Array]) -> Self:
        """The same of scores in order."""
        whole = cls.joined_neighbours(scores, values)
        counts = whole.values["positives"] + whole.values["negatives"]
        present = np.flatnonzero(counts.reshape(-1, len(whole.scores)).any(axis=0))
        if len(present) == len(whole.scores):
            return whole
        return cls(whole.scores[present], {name: column[..., present] for name, column in whole.values.items()})

    @classmethod
    def joined_neighbours(cls, scores: Array, values: Mapping[str, Array]) -> Self:
        """Add up what lies at equal scores, which stand side by side."""
        starts = run_starts(scores)
        if len(starts) == len(scores):
            return cls(scores, values)
        return cls(scores[starts], {name: np.add.reduceat(column, starts, axis=-1) for name, column in values.items()})

    @classmethod
    def of_rows(cls, scores: Array, truth: Array, weight: Array | None, extra: Mapping[str, Array]) -> Self:
        """Count single rows."""
        scores, order = _in_order(scores)
        truth = truth.take(order)
        unit = np.ones(len(truth), np.int64) if weight is None else weight.take(order)
        rows = {"positives": np.where(truth, unit, 0), "negatives": np.where(truth, 0, unit)}
        if weight is not None:
            rows |= {f"{name}_squared": column**2 for name, column in rows.items()}
        rows |= {name: column[order] for name, column in extra.items()}
        return cls._present(scores, rows) if len(scores) else cls(scores, rows)

    @classmethod
    def merged(cls, parts: Sequence[Self]) -> Self:
        """Add tables of disjoint rows."""
        values = {
            name: np.concatenate([room_for(part.values[name], len(parts)) for part in parts], axis=-1)
            for name in parts[0].values
        }
        return cls.added(join_scores([part.scores for part in parts]), values)

    @classmethod
    def stacked(cls, parts: Sequence[Self]) -> Self:
        """Put tables side by side along a new leading axis, over all scores that occur in any of them."""
        upwards = distinct(join_scores([part.scores for part in parts]))
        values = {name: np.zeros((len(parts), len(upwards)), column.dtype) for name, column in parts[0].values.items()}
        for i, part in enumerate(parts):
            places = len(upwards) - 1 - np.searchsorted(upwards, part.scores)
            for name, column in part.values.items():
                values[name][i, places] = column
        return cls(upwards[::-1], values)

    def __getitem__(self, index: Index) -> Self:
        """Take one (or some) of the leading axis."""
        return type(self)(self.scores, {name: column[index] for name, column in self.values.items()})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Columns):
            return NotImplemented
        return (
            np.array_equal(self.scores, other.scores)
            and set(self.values) == set(other.values)
            and all(np.array_equal(column, other.values[name]) for name, column in self.values.items())
        )

    @property
    def leading(self) -> tuple[int, ...]:
        """The leading axes: () for a single table."""
        return tuple(self.values["positives"].shape[:-1])

    @property
    def weighted(self) -> bool:
        """Whether the counts are sums of weights."""
        return "positives_squared" in self.values

    @cached_property
    def row_weight(self) -> Number:
        """The weight of each of Kish's effective rows; 1 without weights."""
        if not self.weighted:
            return 1.0
        squares, sums = (self.counts(suffix).astype(np.float64).sum((-2, -1)) for suffix in ("_squared", ""))
        return divide(squares, sums, 1.0)[()]

    def counts(self, suffix: str = "") -> Array:
        """Positives and negatives at each score (class × score), or ``"_squared"``: the sums of squared weights."""
        return np.stack([self.values[name + suffix] for name in COUNTS], axis=-2)

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest score; NaN when there is none."""
        return (float(self.scores[-1]), float(self.scores[0])) if len(self.scores) else (math.nan, math.nan)

    @property
    def P(self) -> Number:
        """The (weighted) number of positive rows."""
        return self.total("positives")

    @property
    def N(self) -> Number:
        """The (weighted) number of negative rows."""
        return self.total("negatives")

    def total(self, name: str) -> Number:
        """The sum of a column: of a single table an exact number (of weights in extended precision), else float64."""
        if name not in self._totals:
            self._totals[name] = self._add_up(self.values[name])
        return self._totals[name]

    @cached_property
    def _totals(self) -> dict[str, Number]:
        return {}

    def _add_up(self, column: Array) -> Number:
        if self.leading:
            return column.sum(-1)
        return Fraction(float(column.sum(dtype=np.longdouble))) if column.dtype.kind == "f" else exact_sum(column)

    def cumulated(self, name: str) -> Array:
        """What lies at or above each score, never more than the total."""
        sums = self._running(self.values[name])
        exact = self.leading or sums.dtype.kind != "f"
        return sums if exact else np.asarray(np.minimum(sums, as_float(self.total(name)), out=sums))

    def _running(self, column: Array) -> Array:
        if column.dtype.kind != "f" or self.leading:  # with leading axes a few ulp do not matter, and time does
            return column.cumsum(-1)
        sums, before = np.empty(len(column)), np.longdouble(0)
        for start in range(0, len(column), BLOCK):  # extended precision takes twice the memory
            block = column[start : start + BLOCK].astype(np.longdouble)
            block[0] += before
            before = np.cumsum(block, out=block)[-1]
            sums[start : start + BLOCK] = block
        return sums

    def found(self, name: str) -> Array:
        """What is called positive at each threshold: nothing at +∞, then what lies at or above each score."""
        return np.concatenate([np.zeros((*self.leading, 1)), self.cumulated(name)], axis=-1)

    def rest(self, name: str) -> Array:
        """What is not, added up from below: in a difference of weights rounding would leave rows that do not exist."""
        column = self.values[name]
        if column.dtype.kind != "f":
            found = self.found(name)
            return np.asarray(found[..., -1:] - found)
        from_below = self._running(column[..., ::-1])[..., ::-1]
        return np.concatenate([from_below, np.zeros((*self.leading, 1))], axis=-1)

    def reaching(self, thresholds: Array) -> Array:
        """How many of the distinct scores reach each threshold."""
        return len(self.scores) - np.searchsorted(self.scores[::-1], thresholds, side="left")

    def between(self, name: str, thresholds: Sequence[float]) -> list[Number]:
        """What lies at or above each threshold (the highest first) and below the one before it."""
        places = [int(np.count_nonzero(self.scores >= threshold)) for threshold in thresholds]
        parts = [self.values[name][..., start:end] for start, end in itertools.pairwise([0, *places])]
        if self.values[name].dtype.kind != "f":
            return [part.sum(-1) for part in parts]
        return [part.sum(-1, dtype=np.longdouble).astype(np.float64)[()] for part in parts]

    def cut(self, places: Array) -> Self:
        """Add up what lies between these places of the ranking, each piece under its lowest score."""
        starts = np.append(0, places[:-1])
        sums = {name: np.add.reduceat(column, starts, axis=-1) for name, column in self.values.items()}
        return type(self)(self.scores[places - 1], sums)

    def split(self, threshold: float, low: float, reached: Mapping[str, Number]) -> Self:
        """Cut what lies from ``low`` on at a threshold inside, which so much of each column reaches."""
        place = int(np.count_nonzero(self.scores >= threshold))
        if place == len(self.scores) or self.scores[place] < low:
            return self  # nothing lies there
        values = {}
        for name, column in self.values.items():
            above = np.clip(reached[name] - column[:place].sum(), 0, column[place])
            both = np.array([above, column[place] - above], column.dtype)
            values[name] = np.concatenate([column[:place], both, column[place + 1 :]])
        return type(self).added(np.insert(self.scores, place, threshold), values)

    def blocks(self, in_bins: bool = False) -> list[Callable[[], Steps]]:
        """Return the walk down the scores, as many of which make a block where they are weighted or ``in_bins``.

        Other counts come in the blocks that keys would have, so that sums round alike.
        """
        if self.leading:
            return [lambda: self._all_steps]
        positives, negatives = self.values["positives"], self.values["negatives"]
        tp, fp = self.cumulated("positives"), self.cumulated("negatives")
        P, N, cuts = self.P, self.N, list(range(BLOCK, len(self.scores), BLOCK))
        if self.weighted:
            P, N = float(P), float(N)
            positives, negatives, tp, fp = (c.astype(np.float64, copy=False) for c in (positives, negatives, tp, fp))
        else:
            if P + N >= EXACT_PRODUCTS:
                positives, negatives, tp, fp = (exact(column) for column in (positives, negatives, tp, fp))
            if not in_bins:
                before = tp + fp - positives - negatives
                cuts = (np.flatnonzero(np.diff(before // BLOCK)) + 1).tolist()

        def steps(cut: slice) -> Steps:
            read = functools.partial(self.scores.__getitem__, cut)
            return Steps(read, positives[cut], negatives[cut], tp[cut], fp[cut], P, N, self.row_weight)

        edges = itertools.pairwise([0, *cuts, len(self.scores)])
        return [functools.partial(steps, cut) for cut in itertools.starmap(slice, edges)]

    @cached_property
    def _all_steps(self) -> Steps:
        """The whole walk of all tables along the leading axes, kept for all figures of draws and the like."""
        (positives, negatives), (tp, fp) = (
            [column.astype(np.float64, copy=False) for column in map(read, COUNTS)]
            for read in (self.values.__getitem__, self.cumulated)
        )
        totals = (as_float(self.P), as_float(self.N))
        return Steps(lambda: self.scores, positives, negatives, tp, fp, *totals, self.row_weight)


def exact_sum(counts: Array) -> int:
    """Add up whole numbers; Python's where 64 bits could be too few."""
    small = counts.dtype != object and (not counts.size or int(counts.max()) < 2**62 // counts.size)
    return int(counts.sum() if small else exact(counts).sum())


def _in_order(scores: Array) -> tuple[Array, Array]:
    """Scores, the highest first, and where each of them stood."""
    if scores.dtype.kind == "f":
        scores = np.add(scores, 0.0, dtype=np.float64)  # −0.0 becomes 0.0
        refuse_infinite("score", scores)
    order = order_of(scores)[::-1]
    return scores.take(order), order


def join_scores(scores: Sequence[Array]) -> Array:
    """Concatenate scores; whole numbers too large for float64 stay exact beside other kinds, as Python numbers."""
    kinds = {part.dtype for part in scores if len(part)}
    if len(kinds) > 1 and any(kind.kind in "iuO" for kind in kinds):
        return np.concatenate([part.astype(object) for part in scores])
    return np.concatenate(scores)


def _frozen(array: Array) -> Array:
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def refuse_infinite(argument: str, values: Array) -> None:
    """Raise when a row of numbers (one column or several) is missing or infinite, naming the first."""
    with np.errstate(over="ignore", invalid="ignore"):  # one sum is quicker than looking at each
        if math.isfinite(values.sum()) or np.isfinite(values).all():
            return
    rows: Array = values.reshape(len(values), -1)
    for wrong, words in ((np.isnan(rows), errors.missing_values), (np.isinf(rows), errors.infinite_values)):
        refuse_rows(np.asarray(wrong.any(axis=1)), partial(words, argument))


def refuse_rows(wrong: Array, words: Callable[[int, int], errors.InputError]) -> None:
    """Raise an error about wrong rows, made of their number and the first of them, if there are any."""
    rows = np.flatnonzero(wrong)
    if len(rows):
        first = int(rows[0])
        raise errors.WrongRows(len(rows), lambda count: words(count, first)).error()
