"""Calibration of predicted numbers: is the truth, on average or at a quantile, what was predicted?

As for probabilities, a loss is decomposed by the best rising curve through the predictions (pool adjacent violators):

    score = miscalibration − discrimination + uncertainty

The curve is that of means for squared errors and that of quantiles for the quantile loss (Gneiting & Resin, 2023,
Electronic Journal of Statistics 17; Jordan, Mühlemann & Ziegel, 2022, Annals of the Institute of Statistical
Mathematics 74).
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stakes import errors
from stakes.decisions.calibration.decomposition import Decomposition, LossTerms, decomposition_of
from stakes.decisions.calibration.isotonic import Blocks, pool_adjacent
from stakes.decisions.calibration.reliability import rows_of
from stakes.errors import Pass
from stakes.metrics import Metric
from stakes.metrics.regression import mean_squared_error, pinball
from stakes.records import Record, RowCount
from stakes.results import Plottable, Shown
from stakes.tallies import ErrorSums
from stakes.tallies.arithmetic import Array, run_starts
from stakes.tallies.checks import MOST_BINS, check_whole
from stakes.uncertainty.influence import NOT_KEPT
from stakes.uncertainty.interval import Interval, mean_interval, none
from stakes.uncertainty.intervals import interval
from stakes.uncertainty.sampling import USUAL, Sampling, student

_GROUPS = 10


@dataclass(frozen=True, eq=False)
class NumberBins(Record):
    """Rows binned by their prediction: its mean, the mean truth with Student's limits, and the number of rows."""

    mean_prediction: Array
    mean_truth: Array
    rows: Array
    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class NumberReliability(Record):
    """What came true of predicted numbers: in bins of equally many rows, and as the rising curve nearest to the data.

    ``prediction`` and ``truth`` are the points between which the rising curve of means runs straight.
    """

    bins: NumberBins
    prediction: Array
    truth: Array


@dataclass(frozen=True, eq=False, repr=False)
class NumberCalibration(
    Record, Shown, Plottable, stakes="number calibration", shown="rows squared_error reliability=reliability()"
):
    """How far predicted numbers lie from the truth, and the decomposition of their losses."""

    errors: ErrorSums
    sampling: Sampling = USUAL

    plotted_as = "number calibration"
    plots = ("reliability",)

    @property
    def rows(self) -> RowCount:
        """The (weighted) number of rows."""
        total = self.errors.total
        return total if isinstance(total, int) else float(total)

    @cached_property
    def _sorted(self) -> "_SortedRows":
        return _SortedRows.of(self.errors)

    @cached_property
    def squared_error(self) -> Decomposition:
        """The parts of the mean squared error, by the rising curve of means."""
        rows = self._sorted
        mean = float(np.average(rows.truth, weights=rows.weight))
        return self._decompose(mean_squared_error, rows.pooled().fitted(), mean)

    def quantile_loss(self, alpha: float = 0.5) -> Decomposition:
        """Return the parts of the quantile loss at ``alpha``, by the rising curve of quantiles."""
        metric, rows = pinball.with_parameters(alpha=alpha), self._sorted
        every = np.zeros(1, np.int64)
        constant = float(rising_quantiles(rows.truth, rows.weight, every, alpha)[0])
        return self._decompose(metric, rising_quantiles(rows.truth, rows.weight, rows.starts, alpha), constant)

    def reliability(self, bins: int = _GROUPS) -> NumberReliability:
        """Return the mean truth beside the prediction, in bins of equally many rows and as a rising curve."""
        check_whole("bins", bins, 1, MOST_BINS)
        rows = self._sorted
        x, error, reach, size = errors_by_prediction(
            rows.prediction, rows.truth, rows.weight, bins, self.sampling.confidence
        )
        if self.sampling.clusters is not None:
            reach = np.full(len(x), math.nan)
        truth = x + error
        found = NumberBins(x, truth, size, truth - reach, truth + reach)
        blocks = rows.pooled()
        ends = np.unique(np.concatenate([blocks.starts, blocks.last]))
        return NumberReliability(found, rows.prediction[rows.starts][ends], blocks.fitted()[ends])

    def _decompose(self, metric: Metric, curve: Array, constant: float) -> Decomposition:
        """``curve`` is the level of each distinct prediction, ``constant`` the best single number."""
        rows = self._sorted
        fitted = np.repeat(curve, np.diff(rows.starts, append=len(rows.truth)))
        losses = [metric.row_losses(rows.truth, p) for p in (rows.prediction, fitted, np.full(len(fitted), constant))]
        score, best, ignorant = (float(np.average(loss, weights=rows.weight)) for loss in losses)
        parts = LossTerms(max(score - best, 0.0), max(ignorant - best, 0.0), ignorant, score)
        limits = interval(metric, score, self.errors, self.sampling)
        return decomposition_of(metric, parts, limits, self._limits(losses[2]), self.sampling)

    def _limits(self, losses: Array) -> Interval:
        if self.sampling.clusters is not None:
            return none("these rows come in clusters")
        found = mean_interval(losses, self._sorted.weight, self.sampling.confidence)
        return none("there is a single row") if found is None else Interval(*found, "Student, the constant held fixed")

    def to_rows(self) -> list[dict[str, float]]:
        """Return one flat dictionary per bin, for a data frame."""
        return rows_of(self.reliability().bins)

    def __repr__(self) -> str:
        return f"<Calibration of predicted numbers, rows: {self.rows:,.6g}>"


def calibration_of_numbers(sums: ErrorSums, sampling: Sampling) -> NumberCalibration:
    """Ask the rows of predicted numbers, which must have been kept."""
    if sums.rows is None:
        raise errors.no_calibration(NOT_KEPT, "rows", "; give the rows, and pass ", Pass("exact", True))
    return NumberCalibration(sums, sampling)


@dataclass(frozen=True, eq=False)
class _SortedRows:
    """Rows in the order of their predictions; ``starts`` are the first rows of each distinct prediction."""

    prediction: Array
    truth: Array
    weight: Array
    starts: Array

    @classmethod
    def of(cls, sums: ErrorSums) -> "_SortedRows":
        assert sums.rows is not None
        order = np.argsort(sums.rows.prediction, kind="stable")
        prediction, truth = (np.asarray(c, np.float64)[order] for c in (sums.rows.prediction, sums.rows.truth))
        weight = np.ones(len(order)) if sums.rows.weight is None else sums.rows.weight[order].astype(np.float64)
        starts = np.append(0, np.flatnonzero(np.diff(prediction)) + 1)
        return cls(prediction, truth, weight, starts)

    def pooled(self) -> Blocks:
        """The rising curve of means over the distinct predictions."""
        sums, weights = (np.add.reduceat(column, self.starts) for column in (self.weight * self.truth, self.weight))
        return pool_adjacent(sums, weights)


def rising_quantiles(truth: Array, weight: Array, starts: Array, alpha: float) -> Array:
    """Return the rising curve of quantiles: the level of each run of rows, ``starts`` being where runs begin.

    Levels are truths. A cut in the middle of the truths that come into question parts the runs, which rise, into those
    that lie below it and those above; both parts are cut again (Stout, 2013, Algorithmica 66).
    """
    edges = np.append(starts, len(truth))
    found = np.empty(len(starts))
    open_ = [(0, len(starts), -math.inf, math.inf)]
    while open_:
        first, last, low, high = open_.pop()
        rows = slice(edges[first], edges[last])
        inside = np.clip(truth[rows], low, high)
        levels = np.unique(inside)
        if len(levels) == 1:
            found[first:last] = levels[0]
            continue
        middle = (len(levels) - 1) // 2
        # what the next level costs more than this one, run by run, and from each run on
        more = weight[rows] * np.where(inside <= levels[middle], 1 - alpha, -alpha)
        rest = np.append(np.cumsum(np.add.reduceat(more, edges[first:last] - edges[first])[::-1])[::-1], 0.0)
        cut = first + len(rest) - 1 - int(np.argmin(rest[::-1]))
        if cut > first:
            open_.append((first, cut, low, levels[middle]))
        if cut < last:
            open_.append((cut, last, levels[middle + 1], high))
    return found


def errors_by_prediction(
    prediction: Array, truth: Array, weight: Array, groups: int, confidence: float
) -> tuple[Array, Array, Array, Array]:
    """Return mean prediction and mean error of groups of about equally many rows, Student's reach, and their size.

    Rows of the same prediction are in one group. One that nothing can be said about (a single row) has no reach.
    """
    order = np.argsort(prediction)
    prediction, weight = prediction[order], weight[order]
    error = truth[order] - prediction
    runs = run_starts(prediction)
    alike = np.add.reduceat(weight, runs)
    reached = np.cumsum(alike) - alike / 2
    group = np.minimum((groups * reached / alike.sum()).astype(np.int64), groups - 1)
    starts = runs[np.flatnonzero(np.diff(group, prepend=-1))]  # of fewer predictions than groups some are empty
    size = np.add.reduceat(weight, starts)
    x, mean = (np.add.reduceat(weight * column, starts) / size for column in (prediction, error))
    off = error - np.repeat(mean, np.diff(starts, append=len(error)))
    variance = np.add.reduceat(weight * off**2, starts) / size
    rows = size**2 / np.add.reduceat(weight**2, starts)  # the effective number of rows (Kish)
    reach = [_reach(float(v), float(n), confidence) for v, n in zip(variance, rows, strict=True)]
    return x, mean, np.array(reach), size


def _reach(variance: float, rows: float, confidence: float) -> float:
    return student((1 + confidence) / 2, rows - 1) * math.sqrt(variance / (rows - 1)) if rows > 1.5 else math.nan
