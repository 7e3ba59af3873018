"""Calibration as a line: the log odds of what happened against the log odds that were said.

Honest probabilities lie on the line with slope 1 and intercept 0. A slope below 1 says that they are too extreme, one
above 1 that they are too timid. The intercept beside the slope is where the line passes an even chance; the intercept
with the slope held at 1 says whether all of them together are too low (above 0) or too high (Cox, 1958, Biometrika 45).
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from stakes.decisions.calibration import logistic
from stakes.decisions.calibration.honesty_test import nearest_inside
from stakes.decisions.calibration.isotonic import upwards
from stakes.metrics import Estimate
from stakes.metrics.reasons import NO_NEGATIVES, NO_POSITIVES
from stakes.records import Record
from stakes.tallies import Confusion, ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.clusters import Clusters
from stakes.uncertainty.interval import Interval, figure, none
from stakes.uncertainty.sampling import Sampling

_TINY = math.nextafter(0, 1)
"""The least number above 0."""


@dataclass(frozen=True)
class CalibrationLine:
    """The line's slope with its intercept, and the intercept of the line with slope 1."""

    slope: Estimate
    intercept: Estimate
    intercept_at_slope_1: Estimate


def calibration_line(table: ScoreTable, sampling: Sampling) -> CalibrationLine:
    """Fit both lines to the rows of a table of probabilities."""
    if why := next((one.words for one in (NO_POSITIVES, NO_NEGATIVES) if one.applies(table)), ""):
        names = ("slope", "intercept", "intercept_at_slope_1")
        return CalibrationLine(*(Estimate(name, math.nan, reason=why) for name in names))

    rows = _Rows(table, sampling.clusters)

    def estimate(name: str, value: float, limits: Interval, ideal: float = math.nan) -> Estimate:
        if sampling.fixed and name != "slope":
            limits = none("the design fixes the class counts, on which it hangs")
        limits = replace(limits, note=rows.certain)
        return figure(name, float(value), ideal, limits, sampling.confidence)

    ones = np.ones((1, len(rows.logits)))
    added = np.array([logistic.shift(rows.logits, rows.positives, rows.negatives)])
    (limits,) = rows.intervals(ones, added, rows.logits + added, sampling)
    at_slope_1 = estimate("intercept_at_slope_1", added[0], limits, 0.0)
    if why := _why_no_slope(rows):
        slope, intercept = (Estimate(name, math.nan, reason=why) for name in ("slope", "intercept"))
        return CalibrationLine(slope, intercept, at_slope_1)
    columns = np.concatenate([ones, rows.logits[None]])
    found = logistic.line(rows.logits, rows.positives, rows.negatives)
    of_intercept, of_slope = rows.intervals(columns, found, found @ columns, sampling)
    slope, intercept = estimate("slope", found[1], of_slope), estimate("intercept", found[0], of_intercept)
    return CalibrationLine(slope, intercept, at_slope_1)


class _Rows:
    """The log odds that were said, from the lowest on, with the counts there; Σw² of weighted rows, and clusters."""

    def __init__(self, table: ScoreTable, clusters: Clusters | None) -> None:
        scores, self.positives, self.negatives = upwards(table)
        self.least = nearest_inside(scores)
        self.logits = logistic.logit(scores, self.least)
        self.clusters, values = clusters, table.as_columns().values
        names = ("positives_squared", "negatives_squared")
        self.squares = [values[name][::-1] for name in names] if table.weighted else None
        self.certain = _certain(table, self.least)

    def intervals(self, columns: Array, found: Array, logits: Array, sampling: Sampling) -> list[Interval]:
        """Return Wald's limits of the coefficients of these columns."""
        if self.clusters is not None and self.clusters.count < 2:
            return [none("there is a single cluster")] * len(found)
        inverse = np.linalg.pinv(logistic.information(columns, logits, self.positives + self.negatives), hermitian=True)
        method = "Wald, observed information"
        if self.clusters is not None:
            inverse = inverse @ self._between_clusters(found, self.clusters) @ inverse
            method = f"Wald, sandwich over {self.clusters.count:,} clusters"
        elif self.squares is not None:
            p = logistic.probability(logits)
            meat = (columns * (self.squares[0] * (1 - p) ** 2 + self.squares[1] * p**2)) @ columns.T
            inverse, method = inverse @ meat @ inverse, "Wald, sandwich"
        reach = sampling.width * np.sqrt(np.diag(inverse))
        ends = zip(found - reach, found + reach, strict=True)
        return [Interval(float(low), float(high), method) for low, high in ends]

    def _between_clusters(self, found: Array, clusters: Clusters) -> Array:
        """How much the sums of the rows' pulls on the coefficients vary from cluster to cluster."""
        x = logistic.logit(np.asarray(clusters.scores, np.float64), self.least)
        slope = found[1] if len(found) == 2 else 1.0
        surprise = np.asarray(clusters.truth, np.float64) - logistic.probability(found[0] + slope * x)
        if clusters.weight is not None:
            surprise = surprise * clusters.weight
        pulls = [np.bincount(clusters.groups, surprise * column) for column in (np.ones(len(x)), x)][: len(found)]
        groups = clusters.size
        return groups / (groups - 1) * np.stack(pulls) @ np.stack(pulls).T


@dataclass(frozen=True)
class CertainRows(Record):
    """The (weight of) rows with a probability of exactly 0 or 1, and of those among them that came out otherwise."""

    rows: float
    wrong: float

    @classmethod
    def of(cls, table: ScoreTable) -> "CertainRows":
        """Count them."""
        zero, one = rows_at_0(table), table.at(1.0)
        rows = float(table.total) - _called(table.at(_TINY)) + _called(one)
        return cls(rows, zero + float(one.fp))


def _called(table: Confusion) -> float:
    return float(table.tp) + float(table.fp)


def rows_at_0(table: ScoreTable) -> float:
    """The (weight of) positive rows whose probability was exactly 0."""
    return float(table.P) - float(table.at(_TINY).tp)


def _certain(table: ScoreTable, least: float) -> str:
    """What to keep in mind about rows with a probability of exactly 0 or 1."""
    seen, total = CertainRows.of(table).rows, float(table.total)
    if not seen:
        return ""
    rows = f"{seen:,.0f} of {total:,.0f} rows"
    if table.weighted:
        rows = f"rows with {seen:,.6g} of the weight {total:,.6g}"
    return f"in {rows} the probability is exactly 0 or 1, which has no log odds; it is read as {least:.3g} from there"


def _why_no_slope(rows: _Rows) -> str:
    """Why the line has no slope: it needs probabilities that differ, and classes that overlap."""
    x = rows.logits
    if len(x) == 1:
        return "all probabilities are equal"
    of_positive, of_negative = x[rows.positives > 0], x[rows.negatives > 0]
    if of_positive[0] >= of_negative[-1]:
        return "the probabilities part the classes perfectly, so the slope is infinite"
    if of_positive[-1] <= of_negative[0]:
        return "the probabilities part the classes perfectly the wrong way round, so the slope is minus infinite"
    return ""
