"""How a figure is watched: the numbers of a day that are kept, which add up, and the evidence in them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from stakes.errors import InputError, Pass
from stakes.evaluation.base import Evaluation
from stakes.metrics import Metric
from stakes.metrics.agreement import f1, mcc
from stakes.metrics.cost import expected_cost
from stakes.metrics.ranking import auc, auc_bounds
from stakes.tallies import Confusion, CostSums, ScoreTable, Tally, TermSums
from stakes.tallies.arithmetic import Array, divide
from stakes.uncertainty import sequences
from stakes.uncertainty.changes import influences

BINS = 200
"""Number of bins in which scores are kept; each holds about as many of the first rows."""

TABLES = (f1.name, mcc.name, expected_cost.name)
"""Figures of decisions, beside rates, for which false alarms were simulated."""


class Figures(NamedTuple):
    """Figures of windows of days: values, variances, and whether there are enough rows."""

    value: Array
    variance: Array
    enough: Array


@dataclass(frozen=True, eq=False)
class Monitor:
    """A figure that is watched: against a limit, or against a ``reference`` (its numbers) and a margin.

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
        """The (effective) number of rows of windows."""
        return np.asarray(sums.sum(axis=-1))

    def usual_drop(self) -> float:
        """The smallest change worth an alarm, by default."""
        return 0.05

    def bounds(self, sums: Array) -> tuple[float, float] | None:
        """The ends between which the figure of the rows lies; None where it is known."""
        return None

    def of_reference(self, reference: Array) -> Figures:
        """The figure of a reference; where bins leave it open, the end that is easiest to meet."""
        return self.figures(reference[None])

    def against(self, reference: Array, margin: float) -> "Monitor":
        """The same figure compared with that of a reference, which it may miss by a margin."""
        (value,), _, (enough,) = self.of_reference(reference)
        if not enough:
            raise InputError(
                "small-reference", f"the reference has too few rows for its {self.metric.text}; count more rows for it"
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
        """The logarithm of the evidence in windows; ``spread`` is the overdispersion of their days."""
        found = self.figures(sums)
        variance = spread * found.variance
        if self.reference is not None:
            variance = variance + self.figures(self.reference[None]).variance
        return self._asymptotic(found.value, variance, found.enough)

    def _asymptotic(self, value: Array, variance: Array, enough: Array) -> Array:
        distance = self.limit - value if self.floor else value - self.limit
        known = enough & (variance > 0) & np.isfinite(value)
        found = sequences.log_evidence(np.where(known, distance, 0.0), np.where(known, variance, 1.0), self.drop)
        return np.where(known, found, 0.0)

    def spread(self, days: Array) -> Array:
        """The overdispersion of the days up to each.

        The variance of a day by chance is that of all rows up to then, scaled to the rows of the day.
        """
        value, running = self.figures(days).value, np.cumsum(days, axis=0)
        found, rows = self.figures(running), self.rows(days)
        known = found.enough & (found.variance > 0) & np.isfinite(value) & (rows > 0)
        variance = found.variance * self.rows(running) / np.where(known, rows, 1.0)
        return sequences.spread_of_figures(np.where(known, value, 0.0), np.where(known, variance, np.inf), rows)

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
        """A twentieth, less for rare or frequent events."""
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
        """The overdispersion of the days up to each."""
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
        """The (effective) number of rows of windows."""
        return equal(*(one.sum(axis=(-2, -1)) for one in self._cells(sums)))

    def figures(self, sums: Array) -> Figures:
        """Values, with the variance by what a row of each cell changes and one unseen row could."""
        tables, squares = self._cells(sums)
        value, rows = self._of(tables), np.maximum(self.rows(sums), 2.0)
        total, whole = (one.sum(axis=(-2, -1)) for one in (tables, squares))
        weight, usual = divide(squares, tables, 1.0), divide(whole, total, 1.0)[..., None, None]  # of a row
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
        """Whether there are 5 hits and 5 mistakes for f1, 5 right rejections, too, for mcc, any rows for others."""
        sums, squared = self._table(tables), self._table(squares)
        parts = [("tp",), ("fp", "fn"), ("tn",)][: {f1.name: 2, mcc.name: 3}.get(self.metric.name, 0)]
        enough = tables.sum(axis=(-2, -1)) > 0
        for cells in parts:
            enough = enough & (equal(*(sum(getattr(one, cell) for cell in cells) for one in (sums, squared))) >= 5)
        return np.asarray(enough)

    def usual_drop(self) -> float:
        """For costs three tenths of the limit, because mistakes are rare."""
        return 0.3 * abs(self.limit) if self.metric.name == expected_cost.name else 0.05


def equal(total: Array, squares: Array) -> Array:
    """Kish's effective number, from a sum and a sum of squares."""
    return divide(total**2, squares)


@dataclass(frozen=True, eq=False)
class Area(Monitor):
    """The auc: scores of either class in bins add up.

    Rows of days in bins may lie anywhere in their bin. Each is kept at its lowest and at its highest possible place,
    and the auc is the end that favours the condition: no alarm rests on what is left open.
    """

    edges: Array | None = None

    @staticmethod
    def edges_of(tables: Sequence[ScoreTable], bins: int = BINS) -> Array:
        """Quantiles of the scores of the first table, or of all tables where that one is in bins."""
        columns = [table.as_columns() for table in (tables if tables[0].merged else tables[:1])]
        scores = np.concatenate([np.asarray(one.scores, np.float64) for one in columns])
        weight = np.concatenate([one.values["positives"] + one.values["negatives"] for one in columns])
        order = np.argsort(scores, kind="stable")
        places = np.searchsorted(np.cumsum(weight[order]), np.linspace(0, weight.sum(), bins + 1)[1:-1])
        return np.unique(scores[order][np.minimum(places, len(scores) - 1)])

    def numbers(self, evaluation: Evaluation) -> Array:
        """Negatives in each bin, the lowest first, at their lowest and highest places, and positives likewise.

        At its highest place a row of a wide bin beats all that it could beat, so it is kept one bin above.
        """
        table, edges = evaluation.counted.scores, self.edges
        assert isinstance(table, ScoreTable)
        assert edges is not None
        columns = table.as_columns()
        scores = np.asarray(columns.scores, np.float64)
        lowest = highest = np.searchsorted(edges, scores, side="right")
        if table.grid is not None and _is_open(table):
            highest = np.maximum(lowest, np.searchsorted(edges, table.grid.upper_edges(scores), side="left")) + 1
        names, places = ("negatives", "positives"), (lowest, highest)
        kept = [np.bincount(place, columns.values[name], len(edges) + 2) for name in names for place in places]
        return np.concatenate(kept)

    def rows(self, sums: Array) -> Array:
        """How many rows windows have, each of which is kept twice."""
        return np.asarray(sums.sum(axis=-1) / 2)

    def figures(self, sums: Array) -> Figures:
        """Areas at the end that favours the condition, with the larger of DeLong's variances at both ends."""
        kind, other = self._ends(sums) if self.floor else self._ends(sums)[::-1]
        return Figures(kind.value, np.maximum(kind.variance, other.variance), kind.enough | other.enough)

    def _ends(self, sums: Array) -> tuple[Figures, Figures]:
        """The highest and the lowest possible areas; without bins they are the same."""
        low_negative, high_negative, low_positive, high_positive = np.split(sums, 4, axis=-1)
        most = _areas(low_negative, high_positive)
        if np.array_equal(low_negative, high_negative) and np.array_equal(low_positive, high_positive):
            return most, most
        return most, _areas(high_negative, low_positive)

    def of_reference(self, reference: Array) -> Figures:
        """The end of a reference that is easiest to meet; refuse one whose bins leave too much open."""
        least, most = self.bounds(reference)
        if most - least > 2 * self.usual_drop():
            raise InputError(
                "reference-in-bins",
                f"the bins of the reference leave its {self.metric.text} open between {least:.4g} and {most:.4g}; "
                "count its rows again with ",
                Pass("exact", True),
            )
        return replace(self, floor=not self.floor).figures(reference[None])

    def bounds(self, sums: Array) -> tuple[float, float]:
        """The ends between which the area of the scores lies: the order of pairs that share a bin was not kept."""
        low_negative, high_negative, low_positive, high_positive = np.split(sums, 4)
        most, least = self._ends(sums[None])
        pairs = 2 * max(low_negative.sum() * low_positive.sum(), 1.0)
        lowest = float(least.value[0] - high_negative @ low_positive / pairs)
        highest = float(most.value[0] + low_negative @ high_positive / pairs)
        return max(lowest, 0.0), min(highest, 1.0)

    def course(self, sums: Array, spread: Array, alpha: float) -> tuple[Array, Array]:
        """Limits on the scale of log odds, around all that the bins leave open."""
        most, least = self._ends(sums)
        low, high = _limit(least, spread, alpha, -1), _limit(most, spread, alpha, 1)
        known = ~(np.isnan(low) & np.isnan(high))
        return np.where(known & np.isnan(low), 0.0, low), np.where(known & np.isnan(high), 1.0, high)


def _limit(found: Figures, spread: Array, alpha: float, sign: int) -> Array:
    """The lower or the upper limit of areas, which holds on all days at once."""
    inner = np.clip(found.value, 1e-9, 1 - 1e-9)
    slope = inner * (1 - inner)
    known = found.enough & (found.variance > 0)
    half = sequences.reach(np.where(known, spread * found.variance / slope**2, np.nan), 0.4, alpha)
    return np.asarray(1 / (1 + np.exp(-sign * half - np.log(inner / (1 - inner)))))


def _is_open(table: ScoreTable) -> bool:
    """Whether bins leave more open than those of a watch: some were merged, or they are crowded."""
    least, most = map(float, auc_bounds(table))
    return table.merged or not most - least < 1 / BINS


def _areas(negative: Array, positive: Array) -> Figures:
    """Areas with DeLong's variance, of rows of either class in bins."""
    N, P = (np.maximum(one.sum(axis=-1), 2.0) for one in (negative, positive))
    below = np.cumsum(negative, axis=-1) - negative / 2
    above = P[..., None] - np.cumsum(positive, axis=-1) + positive / 2
    of_positive, of_negative = below / N[..., None], above / P[..., None]
    area = (positive * of_positive).sum(axis=-1) / P
    variance = _variance(of_positive, positive, area, P) + _variance(of_negative, negative, area, N)
    return Figures(area, variance, (positive.sum(axis=-1) >= 10) & (negative.sum(axis=-1) >= 10) & (variance > 0))


def _variance(placements: Array, rows: Array, mean: Array, total: Array) -> Array:
    square = (rows * (placements - mean[..., None]) ** 2).sum(axis=-1)
    return np.asarray(square / (total - 1) / total)


@dataclass(frozen=True, eq=False)
class Mean(Monitor):
    """A mean over rows: their number, and the sum and sum of squares of their losses add up."""

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
        """Means with their variance; at least 100 effective rows are needed."""
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


def monitor_of(
    evaluation: Evaluation,
    name: str,
    floor: bool,
    limit: float,
    edges: Sequence[float] | None,
    others: Sequence[Evaluation] = (),
) -> Monitor:
    """The monitor of a figure, or an error that says why there is none; ``others`` are further days."""
    metric, tally, _ = evaluation._place_of(name)
    if metric.population is not None:
        raise InputError("prior-to-watch", "figures at other class frequencies were not tried; leave out the prior")
    if metric.tally is CostSums:
        raise InputError(
            "costs-by-row-to-watch",
            f"{metric.text} is not watched where costs differ by row, because its false alarms were not simulated; "
            "give one price for each kind of mistake: ",
            Pass("costs", miss=5, false_alarm=1),
        )
    if tally is None:
        words = "; count the days with what it needs"
        raise InputError("not-in-day", f"{metric.text}: ", evaluation._why_no(metric), words)
    if isinstance(tally, Confusion | TermSums) and metric.share_of and not tally.weighted:
        return Rate(metric, floor, limit)
    if isinstance(tally, Confusion) and (metric.share_of or metric.name in TABLES):
        return TableFigure(metric, floor, limit, like=tally)
    if tally.weighted:
        words = f"weighted rows are watched by decisions only (rates, {', '.join(TABLES)}); {metric.text} of them was"
        raise InputError("weights-to-watch", f"{words} not simulated, so count the days without weights for it")
    if metric.name == auc.name and isinstance(tally, ScoreTable):
        tables = [tally, *(one.counted.scores for one in others)]
        return Area(metric, floor, limit, edges=Area.edges_of(tables) if edges is None else np.array(edges))
    if _is_mean(metric, tally):
        _refuse_unbounded(metric, floor)
        return Mean(metric, floor, limit)
    raise InputError(
        "not-watched",
        f"false alarms of {metric.text} were not simulated, so it is not watched; use rates (recall, precision, "
        "accuracy …), auc, f1, mcc, expected_cost, or means of losses (brier_score, log_loss, mae, crps …)",
    )


def _is_mean(metric: Metric, tally: Tally) -> bool:
    """Whether a figure is a mean over the rows: by its declaration, or because it doubles with all terms."""
    if not isinstance(tally, TermSums):
        return metric.loss is not None and metric.relative_to is None and not metric.root
    twice = tally.moved(np.append(tally.sums[:1], 2 * tally.sums[1:]))
    value = float(metric.of(tally))
    return value > 0 and math.isclose(float(metric.of(twice)), 2 * value)


def _refuse_unbounded(metric: Metric, floor: bool) -> None:
    """Refuse to watch an unbounded mean for a fall: values that were not seen yet may be of any size."""
    if floor and not all(map(math.isfinite, metric.range)):
        raise InputError(
            "unbounded-fall",
            f"{metric.text} has no upper end, so that a fall cannot be told from rare large values that have not come "
            "yet; use an upper limit (<=)",
        )
