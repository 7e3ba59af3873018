"""Calibration as a line: the log odds of what happened against the predicted log odds.

Honest probabilities lie on the line with slope 1 and intercept 0. A slope below 1 says that they are too extreme, one
above 1 that they are too timid. The intercept beside the slope is where the line passes an even chance; the intercept
with the slope held at 1 says whether all of them together are too low (above 0) or too high (Cox, 1958, Biometrika 45).
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from stakes.frozen import dataclass
from stakes.metrics import logistic
from stakes.metrics.declare import metric
from stakes.metrics.probability import NEEDS_PROBABILITIES
from stakes.metrics.reasons import NO_NEGATIVES, NO_POSITIVES, Undefined
from stakes.tallies import ScoreTable, bins
from stakes.tallies.arithmetic import Array, Number, run_starts
from stakes.tallies.keys import Keys
from stakes.tallies.on_demand import remembered

_MANY = 1 << 20
"""With more rows the columns of all distinct scores would take several times their memory."""


@dataclass(frozen=True, eq=False)
class LogOdds:
    """The predicted log odds, from the lowest on, with the (weighted) rows of both classes there.

    Probabilities of exactly 0 and 1, which have no log odds, are read as ``least`` away from there.
    """

    logits: Array
    positives: Array
    negatives: Array
    least: float

    @classmethod
    def of(cls, table: ScoreTable) -> "LogOdds":
        """Read a single table of probabilities; very many are replaced by their means in bins of the fixed grid."""
        if isinstance(table.store, Keys) and table.total > _MANY:
            return cls._of_many(table)
        scores, positives, negatives = table.upwards()
        there = positives + negatives > 0
        if not there.all():
            scores, positives, negatives = scores[there], positives[there], negatives[there]
        least = logistic.nearest_inside(scores)
        return cls(logistic.logit(scores, least), positives, negatives, least)

    @classmethod
    def _of_many(cls, table: ScoreTable) -> "LogOdds":
        """The log odds in a bin differ by less than 1e-4, far below the standard errors."""
        parts, nearest = [], 1.0
        for steps in table.steps():
            scores, rows = steps.scores.astype(np.float64), steps.positives + steps.negatives
            room = np.minimum(scores, 1 - scores)
            nearest = min(nearest, float(room.min(initial=1.0, where=room > 0)))
            numbers = bins.numbers(scores, "probability")
            starts = run_starts(numbers)
            with np.errstate(divide="ignore"):
                sums = (np.log(scores) - np.log1p(-scores)) * rows, steps.positives, steps.negatives
            parts.append([np.add.reduceat(column, starts).astype(np.float64) for column in sums])
        logits, positives, negatives = (np.concatenate(column)[::-1] for column in zip(*parts, strict=True))
        least = logistic.nearest_inside(np.array([nearest, 1.0]))
        return cls(logistic.within_reach(logits / (positives + negatives), least), positives, negatives, least)

    @property
    def alike(self) -> bool:
        """Whether all log odds are the same."""
        return len(self.logits) < 2

    @property
    def parted(self) -> bool:
        """Whether no positive lies below a negative: the slope is infinite."""
        return bool(self._lowest(self.positives) >= self._highest(self.negatives))

    @property
    def parted_wrongly(self) -> bool:
        """Whether no positive lies above a negative."""
        return bool(self._highest(self.positives) <= self._lowest(self.negatives))

    def _lowest(self, rows: Array) -> float:
        return float(self.logits[np.argmax(rows > 0)])

    def _highest(self, rows: Array) -> float:
        return float(self.logits[::-1][np.argmax(rows[::-1] > 0)])

    @property
    def sloped(self) -> bool:
        """Whether the line has a slope: log odds differ, and the classes overlap."""
        return not (self.alike or self.parted or self.parted_wrongly)

    def fit(self, held: bool) -> "FittedLine":
        """Return the line, or the one with its slope ``held`` at 1."""
        if held:
            at = np.array([logistic.shift(self.logits, self.positives, self.negatives)])
        elif self.sloped:
            at = logistic.line(self.logits, self.positives, self.negatives)
        else:
            return FittedLine(np.full(2, math.nan), np.full((2, 2), math.nan), self.least)
        bend = logistic.information_of_line(self.logits, self.positives, self.positives + self.negatives, at)
        return FittedLine(at, np.linalg.pinv(bend, hermitian=True), self.least)


class FittedLine(NamedTuple):
    """The numbers of the line, their covariances for independent rows, and what 0 and 1 were read as."""

    at: Array
    covariances: Array
    least: float


@remembered
def _fitted(table: ScoreTable) -> tuple[FittedLine, FittedLine]:
    rows = LogOdds.of(table)
    return rows.fit(held=False), rows.fit(held=True)


def line_of(table: ScoreTable, held: bool) -> FittedLine:
    """Return the line of a table, or the one with its slope ``held`` at 1; both are found at once, and only once."""
    return _fitted(table)[held]


@dataclass(frozen=True)
class Coefficient:
    """One number of the line: at place 0 the intercept, at place 1 the slope, unless that is ``held`` at 1."""

    place: int
    held: bool = False

    def __call__(self, table: ScoreTable) -> Number:
        """The number of one table, or of each along the leading axes."""
        if table.leading:
            return np.reshape([self(table[place]) for place in np.ndindex(table.leading)], table.leading)
        return float(line_of(table, self.held).at[self.place]) if table.P and table.N else math.nan


def _no_slope(words: str, why: Callable[[LogOdds], bool]) -> Undefined:
    """A reason why there is no slope; along leading axes NaN says it already."""
    return Undefined(words, lambda t: not t.leading and math.isnan(line_of(t, False).at[1]) and why(LogOdds.of(t)))


_BOTH_CLASSES = (NO_POSITIVES, NO_NEGATIVES, *NEEDS_PROBABILITIES)
_SLOPED = (
    *_BOTH_CLASSES,
    _no_slope("all probabilities are equal", lambda rows: rows.alike),
    _no_slope("the probabilities part the classes perfectly, so the slope is infinite", lambda rows: rows.parted),
    _no_slope(
        "the probabilities part the classes perfectly the wrong way round, so the slope is minus infinite",
        lambda rows: rows.parted_wrongly,
    ),
)
_ANYWHERE = {"range": (-math.inf, math.inf), "better": "neither", "interval": "line"}

calibration_slope = metric(
    **_ANYWHERE,
    name="calibration_slope",
    question="Are the probabilities too extreme (below 1) or too timid (above 1)?",
    formula="line_of_log_odds()[1]",
    undefined=_SLOPED,
    swapped="calibration_slope",
    pitfall="1 is not enough: all probabilities can be too high or too low; read it beside calibration_in_the_large.",
    reference="Cox (1958), Biometrika 45; Steyerberg (2019), Clinical Prediction Models",
)(Coefficient(1))

calibration_intercept = metric(
    **_ANYWHERE,
    name="calibration_intercept",
    question="What log odds does the calibration line give a probability of one half?",
    formula="line_of_log_odds()[0]",
    undefined=_SLOPED,
    swapped="-calibration_intercept",
    pitfall="It belongs to the slope and says nothing by itself; whether all are too low or too high says "
    "calibration_in_the_large, which others call the calibration intercept.",
    reference="Cox (1958), Biometrika 45",
)(Coefficient(0))

calibration_in_the_large = metric(
    **_ANYWHERE,
    name="calibration_in_the_large",
    question="Are the probabilities together too low (above 0) or too high (below 0), in log odds?",
    formula="shift_of_log_odds()",
    undefined=_BOTH_CLASSES,
    aliases=("intercept_at_slope_1",),
    swapped="-calibration_in_the_large",
    pitfall="0 is not enough: too high for some and too low for others cancel out; read it beside calibration_slope.",
    reference="Cox (1958), Biometrika 45; Van Calster et al. (2019), BMC Medicine 17",
)(Coefficient(0, held=True))
