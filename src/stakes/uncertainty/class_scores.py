"""Intervals of figures of class scores: how much each row of a sample moves the figure."""

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from stakes.metrics import Metric
from stakes.tallies import ClassScores
from stakes.tallies.arithmetic import Array
from stakes.tallies.class_scores import ClassSample
from stakes.uncertainty import delong
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.means import SKEWED, skewed_t
from stakes.uncertainty.quantiles import normal, on_scale, scale_of
from stakes.uncertainty.row_losses import class_squares, class_surprise
from stakes.uncertainty.sampling import Sampling

_MOST_CLASSES = 50


def class_score_intervals(
    metrics: Sequence[Metric], values: Sequence[float], scores: ClassScores, sampling: Sampling
) -> list[Interval]:
    """Return the intervals of losses and areas of class scores."""
    sample, why = scores.sample, _why_none(scores, sampling)
    if sample is None or why:
        return [none(why)] * len(metrics)
    moves = _Moves(sample, len(scores.classes))
    with np.errstate(all="ignore"):  # infinite losses are told apart afterwards
        found = [_INFLUENCES[metric.name](moves) for metric in metrics]
    return [
        _interval(metric, value, each, scores, sample, sampling)
        for metric, value, each in zip(metrics, values, found, strict=True)
    ]


def _why_none(scores: ClassScores, sampling: Sampling) -> str:
    if scores.sample is None:
        return "no sample of the rows was kept"
    if len(scores.classes) > _MOST_CLASSES:
        return f"there are more than {_MOST_CLASSES} classes"
    return (
        "figures of several classes' scores have none for fixed class counts; ask for one class"
        if sampling.fixed
        else ""
    )


def _interval(
    metric: Metric, value: float, moves: Array, scores: ClassScores, sample: ClassSample, sampling: Sampling
) -> Interval:
    if not np.isfinite(moves).all():
        return none("the loss of some row is infinite, or a class has no rows in the sample")
    rows, whole = scores.equal_rows, float(sample.weight.sum())
    square = float((sample.squares * moves**2).sum()) / whole**2
    error = math.sqrt(square * rows / (rows - 1)) if rows > 1 else 0.0
    if error < 1e-14:
        return none("no row makes a difference")
    words = "" if len(sample.truth) >= float(scores.total) else f", from a sample of {len(sample.truth):,} rows"
    if metric.name in _PLAIN:
        skewness = float(np.average(moves**3, weights=sample.weight)) / rows**2 / square**1.5
        low, high = skewed_t(value, error, skewness, rows - 1, sampling.confidence)
        return Interval(max(low, metric.range[0]), min(high, metric.range[1]), SKEWED + words)
    scale = scale_of(metric.range)
    if not metric.range[0] < value < metric.range[1]:
        return none("it is at the end of its range")
    ends = on_scale(scale, value, error, normal((1 + sampling.confidence) / 2))
    return Interval(*ends, f"influence of rows, on the {scale.name} scale{words}")


# ── how much a row moves a figure ────────────────────────────────────────────────────────────────────────────────
class _Moves:
    """How much each row of a sample moves a figure of class scores, per share of the rows."""

    def __init__(self, sample: ClassSample, k: int) -> None:
        self.scores, self.truth, self.weight = sample.scores, sample.truth.astype(np.int64), sample.weight
        self.total = sample.weight.sum()
        self.shares = np.bincount(sample.truth, sample.weight, k) / self.total

    def surprise(self) -> Array:
        return class_surprise(self.truth, self.scores)

    def squares(self) -> Array:
        return class_squares(self.truth, self.scores)

    def mean(self, losses: Array) -> Array:
        return np.asarray(losses - np.average(losses, weights=self.weight))

    def relative(self, losses: Array, of_shares: Array) -> Array:
        """The loss over that of the class frequencies; of a proper loss only its value for each class moves that."""
        scale = float((self.shares * np.where(self.shares > 0, of_shares, 0.0)).sum())
        if not scale:  # every row is of the same class
            return np.full(len(losses), math.nan)
        mean = float(np.average(losses, weights=self.weight))
        return (losses - mean) / scale - mean / scale**2 * (of_shares[self.truth] - scale)

    def relative_surprise(self) -> Array:
        with np.errstate(divide="ignore"):
            return self.relative(self.surprise(), -np.log(self.shares))

    def relative_squares(self) -> Array:
        return self.relative(self.squares(), 1 - 2 * self.shares + (self.shares**2).sum())

    @cached_property
    def areas(self) -> list[tuple[float, Array]]:
        """The auc of each class against the rest, and how much each row moves it."""
        return [_area_moves(self.scores[:, c], self.truth == c, self.weight) for c in range(len(self.shares))]

    def macro_area(self) -> Array:
        return np.asarray(np.mean([moves for _, moves in self.areas], axis=0))

    def weighted_area(self) -> Array:
        found: Array = sum(
            share * moves + area * ((self.truth == c) - share)
            for c, (share, (area, moves)) in enumerate(zip(self.shares, self.areas, strict=True))
        )
        return found

    def pairs_area(self) -> Array:
        """One class against one other, all pairs."""
        k = len(self.shares)
        whole, rows = np.zeros(len(self.truth)), [np.flatnonzero(self.truth == c) for c in range(k)]
        for i in range(k):
            for j in range(k):
                if i != j:
                    both = np.concatenate([rows[i], rows[j]])
                    weight = self.weight[both]
                    _, moves = _area_moves(self.scores[both, i], np.arange(len(both)) < len(rows[i]), weight)
                    whole[both] += moves * (self.total / weight.sum()) / (k * (k - 1))
        return whole


def _area_moves(scores: Array, positive: Array, weight: Array) -> tuple[float, Array]:
    """Return an auc and how much each row moves it; NaN when a class has no rows."""
    if positive.all() or not positive.any():
        return math.nan, np.full(len(scores), math.nan)
    found = delong.area(scores, positive, weight)
    return found.value, found.influence * weight.sum() / weight


_PLAIN = ("multiclass_log_loss", "multiclass_brier_score")
_INFLUENCES: dict[str, Callable[[_Moves], Array]] = {
    "multiclass_log_loss": lambda moves: moves.mean(moves.surprise()),
    "multiclass_brier_score": lambda moves: moves.mean(moves.squares()),
    "normalised_multiclass_log_loss": _Moves.relative_surprise,
    "normalised_multiclass_brier_score": _Moves.relative_squares,
    "macro_auc": _Moves.macro_area,
    "weighted_auc": _Moves.weighted_area,
    "macro_gini": lambda moves: 2 * moves.macro_area(),
    "weighted_gini": lambda moves: 2 * moves.weighted_area(),
    "hand_till_auc": _Moves.pairs_area,
}
