"""What a loss is made of: how far probabilities lie beside the frequencies, what they tell apart, and what is left.

    score = miscalibration − discrimination + uncertainty

Miscalibration is what the best rising curve through the scores (pool adjacent violators) would save, discrimination
what that curve gains on always saying the frequency, uncertainty the loss of saying just that (Dimitriadis,
Gneiting & Jordan, 2021, PNAS 118).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from stakes import metrics
from stakes.decisions.calibration.isotonic import pool_adjacent, upwards
from stakes.metrics import Estimate, Metric
from stakes.metrics.probability import NOISE
from stakes.records import Record
from stakes.tallies import ClassScores, ScoreTable
from stakes.uncertainty.interval import Interval, figure, none
from stakes.uncertainty.intervals import interval
from stakes.uncertainty.sampling import Sampling
from stakes.uncertainty.shares import wilson

_NO_LOG_LOSS = "the log loss of several classes is no sum over classes, so it has no parts of this kind"


class LossTerms(NamedTuple):
    """The parts of a loss."""

    miscalibration: float
    discrimination: float
    uncertainty: float
    score: float

    @classmethod
    def of(cls, score: float, recalibrate_table: float, constant: float) -> "LossTerms":
        """Take the loss apart; a part that rounding makes a hair negative is 0."""
        return cls(max(score - recalibrate_table, 0.0), max(constant - recalibrate_table, 0.0), constant, score)


def squared_error_terms(truth: Any, prediction: Any, weight: Any = None) -> LossTerms:
    """Take the mean squared error of predicted numbers apart.

    >>> squared_error_terms([0, 0, 1, 1], [-1, 1, 1, 2])
    LossTerms(miscalibration=0.625, discrimination=0.125, uncertainty=0.25, score=0.75)
    """
    truth, prediction = (np.asarray(column, np.float64) for column in (truth, prediction))
    weight = np.ones(len(truth)) if weight is None else np.asarray(weight, np.float64)
    _, place = np.unique(prediction, return_inverse=True)
    fitted = pool_adjacent(np.bincount(place, weight * truth), np.bincount(place, weight)).fitted()[place]
    constant = np.full(len(truth), np.average(truth, weights=weight))
    score, recalibrate_table, unskilled = (
        float(np.average((truth - said) ** 2, weights=weight)) for said in (prediction, fitted, constant)
    )
    return LossTerms.of(score, recalibrate_table, unskilled)


def recalibrate_table(table: ScoreTable) -> ScoreTable:
    """Return the table with every score replaced by its level on the rising curve, as these rows themselves draw it."""
    _, positives, negatives = upwards(table)
    blocks = pool_adjacent(positives, positives + negatives)
    rest = np.add.reduceat(negatives, blocks.starts)
    names = {"positive": table.positive, "negative": table.negative}
    return ScoreTable.from_columns(blocks.levels, blocks.sums, rest, **names)


def terms(metric: Metric, table: ScoreTable, fitted: ScoreTable) -> LossTerms:
    """Take the loss of the probabilities of two classes apart; ``fitted`` is the recalibrated table."""
    return LossTerms.of(*(float(metric.of(one)) for one in (table, fitted, table.constant())))


@dataclass(frozen=True)
class Decomposition(Record):
    """The parts of a loss as figures; ``calibration_share`` is the share of the loss that is miscalibration."""

    score: Estimate
    miscalibration: Estimate
    discrimination: Estimate
    uncertainty: Estimate
    calibration_share: Estimate


def decomposition(name: str, table: ScoreTable, fitted: ScoreTable, sampling: Sampling) -> Decomposition:
    """Return the parts of the "brier_score" or the "log_loss" of two classes; ``fitted`` is the recalibrated table."""
    metric = metrics.find(name)
    parts = terms(metric, table, fitted)
    return _figures(metric, parts, table, _uncertainty_limits(name, table, sampling), sampling)


def sum_decomposition(scores: ClassScores, sampling: Sampling) -> Decomposition:
    """Return the parts of the Brier score of several classes: the sum of those of each class against the rest."""
    of_class = [terms(metrics.find("brier_score"), table, recalibrate_table(table)) for table in scores.tables]
    parts = LossTerms(*(math.fsum(column) for column in zip(*of_class, strict=True)))
    limits = none("it is a sum over classes")
    return _figures(metrics.find("multiclass_brier_score"), parts, scores, limits, sampling)


def no_log_loss_of_many() -> Estimate:
    """Say why the log loss of several classes is not taken apart."""
    return Estimate("log_loss", math.nan, reason=_NO_LOG_LOSS)


def _figures(metric: Metric, parts: LossTerms, tally: Any, uncertainty: Interval, sampling: Sampling) -> Decomposition:
    def made(name: str, value: float, baseline: float, limits: Interval, reason: str = "") -> Estimate:
        return figure(name, value, baseline, limits, sampling.confidence, reason)

    noise = none(NOISE)
    share, why = _share(parts)
    limits = interval(metric, parts.score, tally, sampling)
    return Decomposition(
        made(metric.name, parts.score, parts.uncertainty, limits),
        made("miscalibration", parts.miscalibration, 0.0, noise),
        made("discrimination", parts.discrimination, 0.0, noise),
        made("uncertainty", parts.uncertainty, parts.uncertainty, uncertainty),
        made("calibration_share", share, 0.0, noise, why),
    )


def _share(parts: LossTerms) -> tuple[float, str]:
    """The share of the loss that is miscalibration, or why there is none."""
    if parts.score == 0:
        return math.nan, "the loss is 0"
    if math.isinf(parts.score):
        return math.nan, "the loss is infinite"
    return parts.miscalibration / parts.score, ""


def _uncertainty_limits(name: str, table: ScoreTable, sampling: Sampling) -> Interval:
    """Carry Wilson's limits of the share of positives over to the loss of saying just that share."""
    if sampling.clusters is not None:
        return none("Wilson's limits take rows as independent, and these come in clusters")
    if sampling.fixed:
        return none("the design fixes the class counts, on which alone it hangs")
    share = float(table.P / table.total)
    low, high = wilson(share, rows_that_tell_as_much(table), sampling.confidence)
    ends: Sequence[float] = [low, high, *([0.5] if low < 0.5 < high else [])]
    losses = [_loss_of_saying(name, p) for p in ends]
    return Interval(min(losses), max(losses), "Wilson's limits of the share of positives")


def rows_that_tell_as_much(table: ScoreTable) -> float:
    """How many rows of equal weight would tell as much as all of these (Kish)."""
    total = float(table.total)
    if not table.weighted:
        return total
    values = table.as_columns().values
    return total**2 / float(values["positives_squared"].sum() + values["negatives_squared"].sum())


def _loss_of_saying(name: str, p: float) -> float:
    """The loss of always saying the share of positives."""
    if name == "brier_score":
        return p * (1 - p)
    return -sum(q * math.log(q) for q in (p, 1 - p) if q)
