"""Scores counted against the truth: what lies at each score, and at or above it."""

import bisect
import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from stakes import errors
from stakes.tallies import bins
from stakes.tallies.arithmetic import Array, Number, exact, ratio
from stakes.tallies.base import Tally
from stakes.tallies.confusion import Confusion
from stakes.tallies.keys import BLOCK, Keys, merge, pack

_EXACT_PRODUCTS = 1 << 31
"""Below this many rows, products of two counts fit into int64."""


@dataclass(frozen=True, eq=False)
class Steps:
    """A run of consecutive thresholds, highest first.

    ``positives`` and ``negatives`` lie exactly at each score; ``tp`` and ``fp`` lie at or above it, which is what the
    rule "positive when score ≥ threshold" finds there. P and N are the totals of the whole table. The scores
    themselves are read only when a figure asks for them: an order does not.
    """

    read_scores: Callable[[], Array]
    positives: Array
    negatives: Array
    tp: Array
    fp: Array
    P: Number
    N: Number

    @cached_property
    def scores(self) -> Array:
        """The distinct scores."""
        return self.read_scores()

    @property
    def single(self) -> bool:
        """Whether these are the steps of one table, without leading axes."""
        return self.positives.ndim == 1

    @property
    def fn(self) -> Array:
        """Positives below each score."""
        return np.expand_dims(self.P, -1) - self.tp

    @property
    def tn(self) -> Array:
        """Negatives below each score."""
        return np.expand_dims(self.N, -1) - self.fp

    @cached_property
    def rows(self) -> Array:
        """Rows at each score."""
        return self.positives + self.negatives

    @cached_property
    def rows_before(self) -> Array:
        """Rows above each score."""
        return self.tp + self.fp - self.rows

    @cached_property
    def precision(self) -> Array:
        """The share of positives at or above each score; NaN above the first row of a table with leading axes."""
        return ratio(self.tp, self.tp + self.fp)


@dataclass(frozen=True, eq=False)
class ScoreTable(Tally):
    """How the scores of the positive and of the negative rows are ordered: everything about thresholds is in it.

    Unweighted rows are kept as sorted keys (see ``keys.py``), 4 or 8 bytes each, and columns are derived a block at a
    time. Otherwise the table is a set of columns over the distinct scores, highest first: ``positives`` and
    ``negatives``, for weighted rows also ``positives_squared`` and ``negatives_squared``, and any further column that
    adds up. ``grid`` names the grid of bins when scores were rounded down to it (see ``bins.py``).

    >>> table = ScoreTable.from_rows([0.2, 0.1, 0.5, 0.9, 0.8], [0, 0, 1, 1, 0])
    >>> table.thresholds.tolist()
    [inf, 0.9, 0.8, 0.5, 0.2, 0.1]
    >>> print(table.at(0.5))
    truth \\ decision  negative  positive
    negative                 2         1
    positive                 0         2
    """

    positive: str = "positive"
    negative: str = "negative"
    keys: Keys | None = None
    scores: Array = field(default_factory=lambda: np.empty(0))
    columns: Mapping[str, Array] = field(default_factory=dict)
    grid: str | None = None

    kind = "scores"

    @classmethod
    def from_rows(
        cls,
        scores: Any,
        truth: Any,
        weight: Any = None,
        *,
        extra: Mapping[str, Array] | None = None,
        positive: str = "positive",
        negative: str = "negative",
    ) -> Self:
        """Count rows: finite scores, whether each is positive, and if wanted weights and columns to add up."""
        scores, truth = np.asarray(scores), np.asarray(truth).astype(bool, copy=False)
        if scores.dtype.kind not in "f":
            scores = _as_float_if_exact(scores)
        names: dict[str, Any] = {"positive": positive, "negative": negative}
        if weight is None and not extra and scores.dtype.kind == "f":
            keys = pack(scores, truth)
            if keys is not None:
                return cls(keys=keys, **names)
        _refuse_infinite(scores)
        rows = _row_columns(truth, None if weight is None else np.asarray(weight, np.float64), extra or {})
        return cls(**names, **_add_columns(scores, rows))

    @classmethod
    def from_columns(
        cls, scores: Any, positives: Any, negatives: Any, *, grid: str | None = None, **names: Any
    ) -> Self:
        """Make a table from counts at distinct scores (in any order, leading axes first)."""
        columns = {"positives": np.asarray(positives), "negatives": np.asarray(negatives)}
        return cls(**names, grid=grid, **_add_columns(np.asarray(scores), columns))

    # ── what it is ───────────────────────────────────────────────────────────────────────────────────────────
    @property
    def leading(self) -> tuple[int, ...]:
        """The leading axes: () for a single table."""
        return () if self.keys is not None else self.columns["positives"].shape[:-1]

    @property
    def weighted(self) -> bool:
        """Whether the counts are sums of weights."""
        return "positives_squared" in self.columns

    @cached_property
    def P(self) -> Number:
        """The (weighted) number of positive rows."""
        return int(self._positives_before[-1]) if self.keys is not None else self._total("positives")

    @cached_property
    def N(self) -> Number:
        """The (weighted) number of negative rows."""
        return len(self.keys) - self.P if self.keys is not None else self._total("negatives")

    @property
    def total(self) -> Number:
        """The (weighted) number of rows."""
        return self.P + self.N

    def _total(self, column: str) -> Number:
        values = self.columns[column]
        return values.sum(-1) if self.leading else exact(values).sum() if len(values) else 0

    @cached_property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        if self.keys is not None:
            return self.keys.score(len(self.keys) - 1), self.keys.score(0)
        return float(self.scores[-1]), float(self.scores[0])

    @property
    def probabilities(self) -> bool:
        """Whether every score lies in [0, 1], so that it can be read as a probability."""
        low, high = self.range
        return low >= 0 and high <= 1

    # ── a block of thresholds at a time ──────────────────────────────────────────────────────────────────────
    def steps(self) -> Iterator[Steps]:
        """Walk down the distinct scores in blocks.

        A step belongs to the block in which its first row lies, however the table is stored; so sums over
        blocks are the same to the last bit for the same counts.
        """
        if self.keys is not None:
            return self._steps_of_keys(self.keys)
        return self._steps_of_columns()

    def _steps_of_keys(self, keys: Keys) -> Iterator[Steps]:
        found = 0
        for start, stop in self._spans(keys):
            bits, positives = keys.unpack(start, stop)
            tp = np.cumsum(positives) + found
            rows = np.arange(start + 1, stop + 1)
            found = int(tp[-1])
            new = bits[1:] != bits[:-1]
            ends: Any = slice(None)
            if new.all():  # every row is a step
                negatives = 1 - positives
            else:  # some rows tie: a step ends where the score changes
                ends = np.append(np.flatnonzero(new), len(bits) - 1)
                before = tp[0] - positives[0]
                tp, rows = tp[ends], rows[ends]
                positives = np.diff(tp, prepend=before)
                negatives = np.diff(rows, prepend=start) - positives
            columns = [positives, negatives, tp, rows - tp]
            if self.total >= _EXACT_PRODUCTS:
                columns = [exact(column) for column in columns]
            read = functools.partial(keys.scores_at, bits, ends)
            yield Steps(read, columns[0], columns[1], columns[2], columns[3], self.P, self.N)

    def _spans(self, keys: Keys) -> Iterator[tuple[int, int]]:
        """Cut the rows every BLOCK, moved down to where a new score begins."""
        start = 0
        while start < len(keys):
            stop = self._next_score(keys, (start // BLOCK + 1) * BLOCK)
            yield start, stop
            start = stop

    @staticmethod
    def _next_score(keys: Keys, row: int) -> int:
        """The first row from ``row`` on that does not tie with the row before it."""
        if row >= len(keys):
            return len(keys)
        tied = keys.values[row - 1] | keys.values.dtype.type(1)  # a label bit of 1 sorts last among equal scores
        return row + int(np.searchsorted(keys.values[row:], tied, side="right"))

    def _steps_of_columns(self) -> Iterator[Steps]:
        positives, negatives = self.columns["positives"], self.columns["negatives"]
        if self.leading or self.weighted:
            positives, negatives = positives.astype(float), negatives.astype(float)
            P, N = (self.P, self.N) if self.leading else (float(self.P), float(self.N))
            tp, fp = positives.cumsum(-1), negatives.cumsum(-1)
            yield Steps(lambda: self.scores, positives, negatives, tp, fp, P, N)
            return
        rows = positives + negatives
        cuts = np.flatnonzero(np.diff((np.cumsum(rows) - rows) // BLOCK)) + 1
        if self.total >= _EXACT_PRODUCTS:
            positives, negatives = exact(positives), exact(negatives)
        tp, fp = positives.cumsum(), negatives.cumsum()
        for cut in itertools.starmap(slice, itertools.pairwise([0, *cuts.tolist(), len(rows)])):
            read = functools.partial(self.scores.__getitem__, cut)
            yield Steps(read, positives[cut], negatives[cut], tp[cut], fp[cut], self.P, self.N)

    # ── thresholds ───────────────────────────────────────────────────────────────────────────────────────────
    @property
    def thresholds(self) -> Array:
        """The thresholds worth considering, highest first: +∞ ("nobody") and every distinct score."""
        return np.concatenate([[np.inf], *(steps.scores for steps in self.steps())])

    def confusions(self) -> Confusion:
        """Return the confusion tables of all thresholds, along a leading axis in the order of ``thresholds``."""
        walked = list(self.steps())
        zero = np.zeros((*self.leading, 1))
        tp = np.concatenate([zero, *(s.tp for s in walked)], axis=-1)
        fp = np.concatenate([zero, *(s.fp for s in walked)], axis=-1)
        return self._confusion(tp, fp, np.expand_dims(self.P, -1) - tp, np.expand_dims(self.N, -1) - fp)

    def at(self, threshold: float) -> Confusion:
        """Return the confusion table of the rule "positive when score ≥ threshold"."""
        if self.keys is not None:
            rows = bisect.bisect_left(range(len(self.keys)), True, key=lambda i: self.keys.score(i) < threshold)  # type: ignore[union-attr]
            tp = self._positives_among(rows)
            return self._confusion(tp, rows - tp, self.P - tp, self.N - (rows - tp))
        self._refuse_inside_bin(threshold)
        above = self.scores >= threshold
        cells, squares = self._split("", above), None
        if self.weighted:
            squares = self._confusion(*self._split("_squared", above)).counts
        return self._confusion(*cells, squares=squares)

    def _split(self, suffix: str, above: Array) -> tuple[Array, Array, Array, Array]:
        positives, negatives = self.columns["positives" + suffix], self.columns["negatives" + suffix]
        return (
            positives[..., above].sum(-1),
            negatives[..., above].sum(-1),
            positives[..., ~above].sum(-1),
            negatives[..., ~above].sum(-1),
        )

    def _confusion(self, tp: Any, fp: Any, fn: Any, tn: Any, squares: Array | None = None) -> Confusion:
        table = Confusion.two_class(tp=tp, fn=fn, fp=fp, tn=tn, positive=self.positive, negative=self.negative)
        return (
            table
            if squares is None
            else Confusion(table.truths, table.decisions, table.counts, squares, table.positive)
        )

    def _refuse_inside_bin(self, threshold: float) -> None:
        if self.grid is None or not np.isfinite(threshold):
            return
        if self.grid == "probability" and not 0 <= threshold <= 1:
            return  # above or below every score
        low = float(bins.lower_edges(np.array([threshold]), self.grid)[0])
        if low != threshold:
            raise errors.threshold_inside_bin(threshold, low, bins.next_edge(low, self.grid))

    @cached_property
    def _positives_before(self) -> Array:
        """Positives in the first 0, 1, 2, … blocks of the keys."""
        values = self.keys.values  # type: ignore[union-attr]
        one = values.dtype.type(1)
        negatives = [np.count_nonzero(values[i : i + BLOCK] & one) for i in range(0, len(values), BLOCK)]
        sizes = [min(BLOCK, len(values) - i) for i in range(0, len(values), BLOCK)]
        return np.concatenate([[0], np.cumsum(np.array(sizes) - np.array(negatives))]).astype(np.int64)

    def _positives_among(self, rows: int) -> int:
        """Positives among the first rows (those with the highest scores)."""
        values, block = self.keys.values, rows // BLOCK  # type: ignore[union-attr]
        rest = values[block * BLOCK : rows]
        return int(self._positives_before[block]) + len(rest) - int(np.count_nonzero(rest & values.dtype.type(1)))

    # ── other tables made from this one ──────────────────────────────────────────────────────────────────────
    def constant(self) -> Self:
        """Return the table of giving every case the same score, the prevalence: what ignoring the input scores."""
        share = np.array([float(self.P / self.total) if not self.leading and self.total else 0.5])
        return self._like(share, {"positives": _column(self.P), "negatives": _column(self.N)})

    def as_columns(self) -> Self:
        """Return an equal table stored as columns over the distinct scores."""
        if self.keys is None:
            return self
        walked = list(self.steps())
        columns = {
            name: np.concatenate([getattr(s, name) for s in walked]).astype(np.int64)
            for name in ("positives", "negatives")
        }
        return self._like(np.concatenate([s.scores for s in walked]), columns)

    def binned(self) -> Self:
        """Return the table with scores rounded down to the fixed grid: smaller, and fit to travel."""
        if self.grid is not None:
            return self
        table = self.as_columns()
        grid = "probability" if self.probabilities else "line"
        return self._like(grid=grid, **_add_columns(bins.lower_edges(table.scores, grid), table.columns))

    def _like(self, scores: Array, columns: Mapping[str, Array], grid: str | None = None) -> Self:
        return type(self)(self.positive, self.negative, scores=scores, columns=columns, grid=grid)

    # ── a tally like any other ───────────────────────────────────────────────────────────────────────────────
    def __post_init__(self) -> None:
        for array in (self.scores, *self.columns.values(), *([] if self.keys is None else [self.keys.values])):
            array.flags.writeable = False

    def __getitem__(self, index: Any) -> Self:
        """Take one (or some) of the leading axis."""
        if not self.leading:
            raise TypeError("this score table has no leading axis to index")
        return self._like(self.scores, {name: values[index] for name, values in self.columns.items()}, self.grid)

    @classmethod
    def stack(cls, parts: Sequence[Self]) -> Self:
        """Put tables side by side along a new leading axis, over all scores that occur in any of them."""
        parts = [part.as_columns() for part in parts]
        scores = np.unique(np.concatenate([part.scores for part in parts]))[::-1]
        columns = {name: np.zeros((len(parts), len(scores)), v.dtype) for name, v in parts[0].columns.items()}
        for i, part in enumerate(parts):
            places = np.searchsorted(-scores, -part.scores)
            for name, values in part.columns.items():
                columns[name][i, places] = values
        return parts[0]._like(scores, columns, parts[0].grid)

    def _question(self) -> dict[str, Any]:
        return {
            "the positive class": self.positive,
            "the negative class": self.negative,
            "weighting": "weighted" if self.weighted else "unweighted",
            "the grid of bins": self.grid or "none",
            "the list of extra columns": sorted(set(self.columns) - {"positives", "negatives"}),
            "the kind of score": "integer" if self.scores.dtype.kind in "iu" and len(self.scores) else "float",
            "the shape of the leading axes": self.leading,
        }

    @classmethod
    def _sum(cls, parts: list[Self]) -> Self:
        keys = [part.keys for part in parts if part.keys is not None]
        if len(keys) == len(parts) and len({k.layout for k in keys}) == 1:
            return cls(parts[0].positive, parts[0].negative, keys=merge(keys))
        parts = [part.as_columns() for part in parts]
        columns = {name: np.concatenate([part.columns[name] for part in parts], axis=-1) for name in parts[0].columns}
        scores = np.concatenate([part.scores for part in parts])
        return parts[0]._like(grid=parts[0].grid, **_add_columns(scores, columns))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreTable):
            return NotImplemented
        if self._question() != other._question() or not np.array_equal(self.total, other.total):
            return False
        a, b = self.keys, other.keys
        if a is not None and b is not None and a.layout == b.layout:
            return np.array_equal(a.values, b.values)
        one, two = self.as_columns(), other.as_columns()
        return np.array_equal(one.scores, two.scores) and all(
            np.array_equal(values, two.columns[name]) for name, values in one.columns.items()
        )

    __hash__ = None  # type: ignore[assignment]

    def _content(self) -> dict[str, Any]:
        table = self.as_columns()
        return {
            "positive": self.positive,
            "negative": self.negative,
            "grid": self.grid,
            "scores": table.scores.tolist(),
            "columns": {name: values.tolist() for name, values in table.columns.items()},
        }

    @classmethod
    def _restore(cls, content: dict[str, Any]) -> Self:
        columns = {name: np.asarray(values) for name, values in content["columns"].items()}
        if content["grid"] not in (None, *bins.GRIDS) or not {"positives", "negatives"} <= set(columns):
            raise KeyError("grid or columns")
        table = _add_columns(np.asarray(content["scores"]), columns)
        return cls(content["positive"], content["negative"], grid=content["grid"], **table)

    def __str__(self) -> str:
        how = f"binned on the {self.grid} grid" if self.grid else "exact"
        rows = "" if self.leading else f" of {int(self.total):,} rows ({self.positive!r} against {self.negative!r})"
        return f"<ScoreTable{rows}, {how}>"


def _as_float_if_exact(scores: Array) -> Array:
    """Turn whole numbers into float64 where that loses nothing; larger ones stay integers."""
    if scores.dtype.kind == "b" or not scores.size or max(abs(int(scores.min())), abs(int(scores.max()))) <= 1 << 53:
        return scores.astype(np.float64)
    return scores


def _refuse_infinite(scores: Array) -> None:
    if scores.dtype.kind == "f" and not np.isfinite(scores).all():
        bad = np.flatnonzero(~np.isfinite(scores))
        wrong = errors.missing_values if np.isnan(scores[bad[0]]) else errors.infinite_values
        raise wrong("score", len(bad), int(bad[0]))


def _row_columns(truth: Array, weight: Array | None, extra: Mapping[str, Array]) -> dict[str, Array]:
    """Write single rows as the columns of a table."""
    unit = np.ones(len(truth), np.int64) if weight is None else weight
    rows = {"positives": np.where(truth, unit, 0), "negatives": np.where(truth, 0, unit)}
    if weight is not None:
        rows["positives_squared"] = rows["positives"] ** 2
        rows["negatives_squared"] = rows["negatives"] ** 2
    return {**rows, **extra}


def _add_columns(scores: Array, columns: Mapping[str, Array]) -> dict[str, Any]:
    """Sort by score, highest first, and add up what lies at equal scores; scores with no weight are left out."""
    scores = scores + 0.0 if scores.dtype.kind == "f" else scores  # −0.0 becomes 0.0
    if scores.dtype == np.float32 or scores.dtype == np.float16:
        scores = scores.astype(np.float64)
    order = np.argsort(scores, kind="stable")[::-1]
    scores = scores[order]
    if not len(scores):
        return {"scores": scores, "columns": dict(columns)}
    starts = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
    added = {name: np.add.reduceat(values[..., order], starts, axis=-1) for name, values in columns.items()}
    present = np.flatnonzero((added["positives"] + added["negatives"]).reshape(-1, len(starts)).any(axis=0))
    return {
        "scores": scores[starts][present],
        "columns": {name: values[..., present] for name, values in added.items()},
    }


def _column(total: Number) -> Array:
    """One score's worth of counts: keep whole numbers whole."""
    values = np.asarray(total if isinstance(total, np.ndarray | int) else float(total))
    return values[..., None]
