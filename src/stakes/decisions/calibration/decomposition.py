"""The decomposition of a loss: miscalibration, discrimination and uncertainty.

    score = miscalibration − discrimination + uncertainty

Miscalibration is what the best rising curve through the scores (pool adjacent violators) would save, discrimination
what that curve gains on always saying the frequency, uncertainty the loss of saying just that (Dimitriadis,
Gneiting & Jordan, 2021, PNAS 118).
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from stakes.decisions.calibration.isotonic import pool_adjacent
from stakes.metrics import Estimate, Metric
from stakes.metrics.many import multiclass_brier_score
from stakes.metrics.probability import NOISE, brier_score
from stakes.records import Record
from stakes.tallies import ClassScores, ScoreTable
from stakes.uncertainty.interval import Interval, figure, none, wilson
from stakes.uncertainty.intervals import interval
from stakes.uncertainty.sampling import Sampling


class LossTerms(NamedTuple):
    """The parts of a loss."""

    miscalibration: float
    discrimination: float
    uncertainty: float
    score: float

    @classmethod
    def of(cls, metric: Metric, table: ScoreTable, fitted: ScoreTable) -> "LossTerms":
        """Decompose the loss of two classes; parts that are negative by rounding are 0."""
        score, recalibrated, constant = (float(metric.of(one)) for one in (table, fitted, table.constant()))
        return cls(max(score - recalibrated, 0.0), max(constant - recalibrated, 0.0), constant, score)


def recalibrate_table(table: ScoreTable) -> ScoreTable:
    """Return the table with every score replaced by its level on the rising curve fitted to these rows."""
    _, positives, negatives = table.upwards()
    blocks = pool_adjacent(positives, positives + negatives)
    rest = np.add.reduceat(negatives, blocks.starts)
    return ScoreTable.from_columns(blocks.levels, blocks.sums, rest, positive=table.positive, negative=table.negative)


@dataclass(frozen=True)
class Decomposition(Record):
    """The parts of a loss as figures; ``calibration_share`` is the share of the loss that is miscalibration."""

    score: Estimate
    miscalibration: Estimate
    discrimination: Estimate
    uncertainty: Estimate
    calibration_share: Estimate


def decompose(metric: Metric, table: ScoreTable, fitted: ScoreTable, sampling: Sampling) -> Decomposition:
    """Return the parts of the Brier score or the log loss of two classes; ``fitted`` is the recalibrated table."""
    parts = LossTerms.of(metric, table, fitted)
    limits = interval(metric, parts.score, table, sampling)
    return decomposition_of(metric, parts, limits, _uncertainty_limits(metric, table, sampling), sampling)


def decompose_sum(scores: ClassScores, sampling: Sampling) -> Decomposition:
    """Return the parts of the Brier score of several classes: the sum of those of each class against the rest."""
    of_class = [LossTerms.of(brier_score, table, recalibrate_table(table)) for table in scores.tables]
    parts = LossTerms(*(math.fsum(column) for column in zip(*of_class, strict=True)))
    limits = interval(multiclass_brier_score, parts.score, scores, sampling)
    return decomposition_of(multiclass_brier_score, parts, limits, none("it is a sum over classes"), sampling)


def decomposition_of(
    metric: Metric, parts: LossTerms, limits: Interval, uncertainty: Interval, sampling: Sampling
) -> Decomposition:
    """Return the parts of a loss as figures, with the limits of the loss itself and of the uncertainty."""
    made, noise = partial(figure, confidence=sampling.confidence), none(NOISE)
    why = "the loss is 0" if parts.score == 0 else "the loss is infinite" if math.isinf(parts.score) else ""
    share = math.nan if why else parts.miscalibration / parts.score
    return Decomposition(
        made(metric.text, parts.score, parts.uncertainty, limits),
        made("miscalibration", parts.miscalibration, 0.0, noise),
        made("discrimination", parts.discrimination, 0.0, noise),
        made("uncertainty", parts.uncertainty, parts.uncertainty, uncertainty),
        made("calibration_share", share, 0.0, noise, reason=why),
    )


def _uncertainty_limits(metric: Metric, table: ScoreTable, sampling: Sampling) -> Interval:
    """Carry Wilson's limits of the share of positives over to the loss of saying just that share."""
    if sampling.clusters is not None:
        return none("Wilson's limits take rows as independent, and these come in clusters")
    if sampling.fixed:
        return none("the design fixes the class counts, on which alone it hangs")
    share = float(table.P / table.total)
    low, high = wilson(share, table.equal_rows, sampling.confidence)
    losses = [_loss_of_saying(metric, p) for p in (low, high, min(max(low, 0.5), high))]  # largest at ½
    return Interval(min(losses), max(losses), "Wilson's limits of the share of positives")


def _loss_of_saying(metric: Metric, p: float) -> float:
    """The loss of always saying the share of positives."""
    if metric is brier_score:
        return p * (1 - p)
    return -sum(q * math.log(q) for q in (p, 1 - p) if q)
