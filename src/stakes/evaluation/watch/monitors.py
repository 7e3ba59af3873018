"""What of a day is kept to watch a figure, numbers that add up over days, and how they make evidence."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from stakes.errors import InputError
from stakes.evaluation.base import Evaluation
from stakes.metrics import Metric
from stakes.metrics.agreement import f1, mcc
from stakes.metrics.cost import expected_cost
from stakes.metrics.ranking import auc
from stakes.tallies import Confusion, ScoreTable, Tally, TermSums
from stakes.tallies.arithmetic import Array
from stakes.uncertainty import sequences
from stakes.uncertainty.changes import influences

BINS = 200
"""Scores are kept in so many bins, which hold about as many of the first rows each."""

TABLES = (f1.name, mcc.name, expected_cost.name)
"""Figures of decisions, beside rates, for which false alarms were simulated."""


class Figures(NamedTuple):
    """Figures of windows of days: values, variances, and whether there are enough rows to tell anything."""

    value: Array
    variance: Array
    enough: Array


@dataclass(frozen=True, eq=False)
class Monitor:
    """A figure that is watched: against a limit, or against that of a ``reference`` (numbers of its rows) and a margin.

    ``floor`` says that it must not fall, otherwise it must not rise; ``drop`` is the smallest change worth an alarm.
    """

    metric: Metric
    floor: bool
    limit: float
    drop: float = 0.0
    reference: Array | None = None

    @property
    def exact(self) -> bool:
        """Whether the chance of a false alarm is exact, if days are alike."""
        return False

    def numbers(self, evaluation: Evaluation) -> Array:
        """What is kept of a day."""
        raise NotImplementedError

    def figures(self, sums: Array) -> Figures:
        """The figures of windows, from the sums of what was kept of their days."""
        raise NotImplementedError

    def rows(self, sums: Array) -> Array:
        """How many rows windows have; of weighted ones, how many that weigh the same tell as much."""
        return np.asarray(sums.sum(axis=-1))

    def usual_drop(self) -> float:
        """The smallest change worth an alarm, where nobody says one."""
        return 0.05

    def within(self, sums: Array) -> float:
        """How far the figure of what was kept may lie from that of the rows themselves."""
        return 0.0

    def against(self, reference: Array, margin: float) -> "Monitor":
        """The same figure held against that of a reference, than which it may be worse by a margin."""
        (value,), _, (enough,) = self.figures(reference[None])
        if not enough:
            raise InputError(
                "small-reference",
                f"the reference has too few rows to tell its {self.metric.text}; count more rows for it",
            )
        bound = float(value) - margin if self.floor else float(value) + margin
        return replace(self, limit=bound, reference=reference)

    def refuse_useless_reference(self, alpha: float) -> None:
        """Refuse a reference that is so small that no number of rows would ever raise an alarm."""
        if self.reference is None:
            return
        variance = float(self.figures(self.reference[None]).variance[0])
        worst = self.metric.range[0 if self.floor else 1]
        away = abs(self.limit - worst) if math.isfinite(worst) else 10 * self.drop
        if sequences.most_evidence(away, variance, self.drop) < -math.log(alpha):
            raise InputError(
                "small-reference",
                f"the reference is so small that not even the worst {self.metric.text} would ever raise an alarm; "
                "count more rows for it, or give a limit instead",
            )

    def evidence(self, sums: Array, spread: Array) -> Array:
        """The logarithm of the evidence in windows, whose days differ so many times more than chance makes them."""
        found = self.figures(sums)
        variance = spread * found.variance
        if self.reference is not None:
            variance = variance + self.figures(self.reference[None]).variance
        return self._asymptotic(found.value, variance, found.enough)

    def _asymptotic(self, value: Array, variance: Array, enough: Array) -> Array:
        distance = self.limit - value if self.floor else value - self.limit
        known = enough & (variance > 0) & np.isfinite(value)
        told = sequences.log_evidence(np.where(known, distance, 0.0), np.where(known, variance, 1.0), self.drop)
        return np.where(known, told, 0.0)

    def spread(self, days: Array) -> Array:
        """How many times more days differ than chance makes them, up to each.

        Chance makes a day as uncertain as all rows up to then would be, were they as few.
        """
        value, running = self.figures(days).value, np.cumsum(days, axis=0)
        found, rows = self.figures(running), self.rows(days)
        told = found.enough & (found.variance > 0) & np.isfinite(value) & (rows > 0)
        variance = found.variance * self.rows(running) / np.where(told, rows, 1.0)
        return sequences.spread_of_figures(np.where(told, value, 0.0), np.where(told, variance, np.inf), rows)

    def course(self, sums: Array, spread: Array, alpha: float) -> tuple[Array, Array]:
        """Limits of the figure from the first day on, that hold on all days at once."""
        found = self.figures(sums)
        half = sequences.reach(np.where(found.variance > 0, spread * found.variance, np.nan), self.drop, alpha)
        return found.value - half, found.value + half


@dataclass(frozen=True, eq=False)
class Rate(Monitor):
    """A share of rows: hits and rows add up."""

    @property
    def exact(self) -> bool:
        """Whether the chance of a false alarm is exact, if days are alike."""
        return self.reference is None

    def numbers(self, evaluation: Evaluation) -> Array:
        """Hits and rows."""
        table = evaluation._tally(self.metric)
        rows = float(getattr(table, self.metric.share_of)) if table is not None else 0.0
        value = float(self.metric.of(table)) if table is not None and rows else 0.0
        return np.array([round(value * rows), rows])

    def figures(self, sums: Array) -> Figures:
        """Shares with their binomial variance."""
        hits, rows = sums[..., 0], np.maximum(sums[..., 1], 1e-300)
        share = hits / rows
        return Figures(share, share * (1 - share) / rows, sums[..., 1] > 0)

    def usual_drop(self) -> float:
        """A twentieth, of rare or frequent events less."""
        return min(0.05, math.sqrt(self.limit * (1 - self.limit)) / 6)

    def evidence(self, sums: Array, spread: Array) -> Array:
        """Exact where there is no reference; otherwise with the variance of both taken together."""
        hits, rows = sums[..., 0] / spread, sums[..., 1] / spread
        if self.reference is None:
            if self.floor:
                return sequences.log_rate_evidence(hits, rows, self.limit, self.drop)
            return sequences.log_rate_evidence(rows - hits, rows, 1 - self.limit, self.drop)
        other = self.reference
        pooled = (hits + other[0]) / (rows + other[1])
        variance = pooled * (1 - pooled) * (1 / np.maximum(rows, 1e-300) + 1 / other[1])
        return self._asymptotic(hits / np.maximum(rows, 1e-300), variance, rows > 0)

    def spread(self, days: Array) -> Array:
        """How many times more days differ than chance makes them, up to each."""
        hits = days[:, 0] if self.floor else days[:, 1] - days[:, 0]
        return sequences.spread_of_days(hits, days[:, 1], self.limit if self.floor else 1 - self.limit)

    def course(self, sums: Array, spread: Array, alpha: float) -> tuple[Array, Array]:
        """Limits from the counts, divided where days differ."""
        return sequences.rate_limits(sums[:, 0] / spread, sums[:, 1] / spread, alpha)


@dataclass(frozen=True, eq=False)
class TableFigure(Monitor):
    """A figure of decisions: the cells of the table add up, and those of squared weights where rows have any."""

    like: Confusion | None = None

    def numbers(self, evaluation: Evaluation) -> Array:
        """The cells, and the sums of squared weights in each."""
        table = evaluation._tally(self.metric)
        assert isinstance(table, Confusion)
        return np.concatenate([np.asarray(one, np.float64).ravel() for one in self._kept(table)])

    def _kept(self, table: Confusion) -> list[Array]:
        return [table.counts, *([] if table.squares is None else [table.squares])]

    def _cells(self, sums: Array) -> tuple[Array, Array]:
        """The tables of windows, and the sums of squared weights in their cells."""
        assert self.like is not None
        parts = np.split(sums, len(self._kept(self.like)), axis=-1)
        tables = [part.reshape(*part.shape[:-1], *self.like.counts.shape) for part in parts]
        return tables[0], tables[-1]

    def rows(self, sums: Array) -> Array:
        """How many rows windows have; of weighted ones, how many that weigh the same tell as much."""
        return equal(*(one.sum(axis=(-2, -1)) for one in self._cells(sums)))

    def figures(self, sums: Array) -> Figures:
        """Values, with the variance by what a row of each cell changes and one unseen row could."""
        tables, squares = self._cells(sums)
        value, rows = self._of(tables), np.maximum(self.rows(sums), 2.0)
        total, whole = (one.sum(axis=(-2, -1)) for one in (tables, squares))
        weight, usual = _mean_weight(squares, tables), _mean_weight(whole, total)[..., None, None]
        square, unseen = np.zeros(value.shape), np.zeros(value.shape)
        for place in np.ndindex(*tables.shape[-2:]):
            row = np.zeros(tables.shape[-2:])
            row[place] = 1.0
            own = weight[..., *place]
            less = np.nan_to_num(value - self._of(tables - own[..., None, None] * row))
            square += squares[..., *place] * (less / own) ** 2
            unseen = np.maximum(unseen, np.abs(np.nan_to_num(self._of(tables + usual * row) - value)))
        variance = (rows - 1) / rows * square + unseen**2 / 4
        return Figures(value, variance, np.isfinite(value) & self._enough(tables, squares))

    def _table(self, cells: Array) -> Confusion:
        assert self.like is not None
        return replace(self.like, counts=np.maximum(cells, 0.0), squares=None)

    def _of(self, tables: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(self.metric.of(self._table(tables)), np.float64)

    def _enough(self, tables: Array, squares: Array) -> Array:
        """Of f1, 5 hits and 5 mistakes; of mcc, 5 right rejections, too; of others, any rows."""
        sums, squared = self._table(tables), self._table(squares)
        parts = [("tp",), ("fp", "fn"), ("tn",)][: {f1.name: 2, mcc.name: 3}.get(self.metric.name, 0)]
        enough = tables.sum(axis=(-2, -1)) > 0
        for cells in parts:
            enough = enough & (equal(*(sum(getattr(one, cell) for cell in cells) for one in (sums, squared))) >= 5)
        return np.asarray(enough)

    def usual_drop(self) -> float:
        """Of costs three tenths of the limit, which mistakes that are rare need."""
        return 0.3 * abs(self.limit) if self.metric.name == expected_cost.name else 0.05


def _mean_weight(squares: Array, total: Array) -> Array:
    """What a row weighs, by the sums of weights and of their squares; 1 where there is none."""
    return np.divide(squares, total, out=np.ones(np.shape(total)), where=total > 0)


def equal(total: Array, squares: Array) -> Array:
    """How many numbers that are all the same tell as much as those of which these are the sum and that of squares."""
    return np.asarray(np.divide(total**2, squares, out=np.zeros(np.shape(total)), where=squares > 0))


@dataclass(frozen=True, eq=False)
class Area(Monitor):
    """The auc: scores of either class in bins add up."""

    edges: Array | None = None

    @staticmethod
    def edges_of(table: ScoreTable, bins: int = BINS) -> Array:
        """Edges between which about as many rows of a table lie."""
        columns = table.as_columns()
        scores = np.asarray(columns.scores, np.float64)[::-1]
        weight = np.asarray(columns.values["positives"] + columns.values["negatives"], np.float64)[::-1]
        places = np.searchsorted(np.cumsum(weight), np.linspace(0, weight.sum(), bins + 1)[1:-1])
        return np.unique(scores[np.minimum(places, len(scores) - 1)])

    def numbers(self, evaluation: Evaluation) -> Array:
        """Rows of either class in each bin, the lowest first."""
        table, edges = evaluation.counted.scores, self.edges
        assert isinstance(table, ScoreTable)
        assert edges is not None
        columns = table.as_columns()
        place = np.searchsorted(edges, np.asarray(columns.scores, np.float64), side="right")
        names = ("negatives", "positives")
        return np.concatenate([np.bincount(place, columns.values[name], len(edges) + 1) for name in names])

    def figures(self, sums: Array) -> Figures:
        """Areas with DeLong's variance."""
        negative, positive = np.split(sums, 2, axis=-1)
        N, P = (np.maximum(one.sum(axis=-1), 2.0) for one in (negative, positive))
        below = np.cumsum(negative, axis=-1) - negative / 2
        above = P[..., None] - np.cumsum(positive, axis=-1) + positive / 2
        of_positive, of_negative = below / N[..., None], above / P[..., None]
        area = (positive * of_positive).sum(axis=-1) / P
        variance = _variance(of_positive, positive, area, P) + _variance(of_negative, negative, area, N)
        return Figures(area, variance, (positive.sum(axis=-1) >= 10) & (negative.sum(axis=-1) >= 10) & (variance > 0))

    def within(self, sums: Array) -> float:
        """Half of all pairs that share a bin, whose order was not kept."""
        negative, positive = np.split(sums, 2)
        return float(negative @ positive / 2 / max(negative.sum() * positive.sum(), 1.0))

    def course(self, sums: Array, spread: Array, alpha: float) -> tuple[Array, Array]:
        """Limits on the scale of log odds."""
        found = self.figures(sums)
        inner = np.clip(found.value, 1e-9, 1 - 1e-9)
        slope = inner * (1 - inner)
        known = found.enough & (found.variance > 0)
        half = sequences.reach(np.where(known, spread * found.variance / slope**2, np.nan), 0.4, alpha)
        centre = np.log(inner / (1 - inner))
        return 1 / (1 + np.exp(half - centre)), 1 / (1 + np.exp(-half - centre))


def _variance(placements: Array, rows: Array, mean: Array, total: Array) -> Array:
    square = (rows * (placements - mean[..., None]) ** 2).sum(axis=-1)
    return np.asarray(square / (total - 1) / total)


@dataclass(frozen=True, eq=False)
class Mean(Monitor):
    """A mean over rows: their number, the sum and the sum of squares of what they lose add up."""

    def numbers(self, evaluation: Evaluation) -> Array:
        """Rows, the sum of their losses, and of the squares, by what one row changes in the day's figure."""
        metric, tally, sampling = evaluation._place_of(self.metric.text)
        assert tally is not None
        rows, value = float(tally.total), float(metric.of(tally))
        (found,) = influences([metric], [value], tally, sampling)
        if isinstance(found, str):
            raise InputError("no-influence", f"{metric.text} of a day has no variance: {found}; count its rows again")
        square = float((found.counts * found.changes**2).sum()) * (rows - 1) ** 2
        return np.array([rows, rows * value, square + rows * value**2])

    def figures(self, sums: Array) -> Figures:
        """Means with their variance; from as many rows on as tell as much as 100 equal ones."""
        rows = np.maximum(sums[..., 0], 2.0)
        mean = sums[..., 1] / rows
        variance = np.maximum(sums[..., 2] - rows * mean**2, 0.0) / (rows - 1) / rows
        return Figures(mean, variance, equal(sums[..., 1], sums[..., 2]) >= 100)

    def rows(self, sums: Array) -> Array:
        """How many rows windows have."""
        return np.asarray(sums[..., 0])

    def usual_drop(self) -> float:
        """A tenth of the limit."""
        return 0.1 * abs(self.limit)


def monitor_of(evaluation: Evaluation, name: str, floor: bool, limit: float, edges: Sequence[float] | None) -> Monitor:
    """How a figure is watched, or why it is not."""
    metric, tally, _ = evaluation._place_of(name)
    if metric.population is not None:
        raise InputError("prior-to-watch", "figures at other class frequencies were not tried; leave out the prior")
    if tally is None:
        raise InputError(
            "not-in-day", f"{metric.text}: {evaluation._why_no(metric)}; count the days with what it needs"
        )
    if isinstance(tally, Confusion | TermSums) and metric.share_of and not tally.weighted:
        return Rate(metric, floor, limit)
    if isinstance(tally, Confusion) and (metric.share_of or metric.name in TABLES):
        return TableFigure(metric, floor, limit, like=tally)
    if tally.weighted:
        words = f"weighted rows are watched by decisions only (rates, {', '.join(TABLES)}); {metric.text} of them was"
        raise InputError("weights-to-watch", f"{words} not simulated, so count the days without weights for it")
    if metric.name == auc.name and isinstance(tally, ScoreTable):
        return Area(metric, floor, limit, edges=Area.edges_of(tally) if edges is None else np.array(edges))
    if _is_mean(metric, tally):
        _refuse_unbounded(metric, floor)
        return Mean(metric, floor, limit)
    raise InputError(
        "not-watched",
        f"false alarms of {metric.text} were not simulated, so it is not watched; use rates (recall, precision, "
        "accuracy …), auc, f1, mcc, expected_cost, or means of losses (brier_score, log_loss, mae, crps …)",
    )


def _is_mean(metric: Metric, tally: Tally) -> bool:
    """Whether a figure is a mean over the rows: of what is declared, or one that doubles with what all rows add."""
    if not isinstance(tally, TermSums):
        return metric.loss is not None and metric.relative_to is None and not metric.root
    twice = tally.moved(np.append(tally.sums[:1], 2 * tally.sums[1:]))
    value = float(metric.of(tally))
    return value > 0 and math.isclose(float(metric.of(twice)), 2 * value)


def _refuse_unbounded(metric: Metric, floor: bool) -> None:
    """A mean of losses without end cannot be watched for a fall: what was not seen yet may be of any size."""
    if floor and not all(map(math.isfinite, metric.range)):
        raise InputError(
            "unbounded-fall",
            f"{metric.text} has no upper end, so that a fall cannot be told from rare large values that have not come "
            "yet; use an upper limit (<=)",
        )
