"""Intervals of the losses of two-class probabilities, from sums of their powers."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from stakes.metrics import Metric
from stakes.metrics.declare import Losses
from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.columns import Columns
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.means import SKEWED, skewed_t, skewness_of_rows
from stakes.uncertainty.quantiles import LOG, normal, on_scale
from stakes.uncertainty.sampling import Sampling

ENOUGH = 1 << 17
"""Of more rows than this only every second, third, … one is asked for the spread of its loss."""


@dataclass(frozen=True)
class _Sums:
    """Sums over the rows of each class, the positive one first.

    ``powers`` are Σw, Σw·loss, Σw·loss², Σw·loss³; ``squared`` are the same with w² (equal to them without weights).
    """

    powers: Array
    squared: Array

    @property
    def whole(self) -> float:
        return float(self.powers[:, 0].sum())

    @property
    def rows(self) -> float:
        """How many rows of equal weight would tell as much (Kish)."""
        return self.whole**2 / float(self.squared[:, 0].sum())

    @property
    def loss(self) -> float:
        return float(self.powers[:, 1].sum()) / self.whole

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.powers).all())

    def error(self, factor: float, shifts: Array) -> float:
        """The standard error of the mean of factor·loss + a shift of each class, which is 0 on average."""
        one, loss, square, _ = self.squared.T
        around = factor**2 * square + 2 * factor * shifts * loss + shifts**2 * one
        return math.sqrt(max(float(around.sum()), 0.0)) / self.whole

    def mean_error(self, fixed: bool) -> float:
        """The standard error of the mean loss; within the classes if their sizes are fixed."""
        if not fixed:
            return self.error(1.0, np.full(2, -self.loss)) * math.sqrt(self.rows / (self.rows - 1))
        means = divide(self.powers[:, 1], self.powers[:, 0])
        return self.error(1.0, -means)

    def skewness(self) -> float:
        """The skewness of the mean loss, as if rows weighed the same."""
        whole, first, second, third = self.powers.sum(axis=0)
        return skewness_of_rows(first / whole, second / whole, third / whole) / math.sqrt(self.rows)

    def relative_error(self, losses: Losses, fixed: bool) -> float:
        """The standard error of the loss divided by that of the class frequencies, which vary too."""
        shares = self.powers[:, 0] / self.whole
        prevalence = min(float(shares[0]), 1 - 2.0**-53)  # some rows may weigh nearly nothing
        each = np.array([losses.of_positive(prevalence), losses.of_negative(prevalence)])
        scale = float(each @ shares)
        if fixed:
            return self.mean_error(fixed) / scale
        # of a proper loss only the difference between the classes' losses moves the scale
        return self.error(1 / scale, -self.loss / scale**2 * each)


def loss_intervals(
    metrics: Sequence[Metric], values: Sequence[float], table: ScoreTable, sampling: Sampling
) -> list[Interval]:
    """Return the intervals of losses and of losses relative to the class frequencies."""
    sums = _all_sums({losses_of(metric) for metric in metrics}, table)
    return [_interval(m, value, sums[losses_of(m)], sampling) for m, value in zip(metrics, values, strict=True)]


def losses_of(metric: Metric) -> Losses:
    """The losses that a figure is a mean of."""
    assert metric.losses is not None
    return metric.losses


def loss_powers(losses: Losses, table: ScoreTable) -> Array:
    """Return the number of rows and the sums of the first three powers of their losses, without weights."""
    return np.asarray(_all_sums({losses}, table)[losses].powers.sum(axis=0))


def _interval(metric: Metric, value: float, sums: _Sums, sampling: Sampling) -> Interval:
    if not sums.finite or math.isinf(value):
        return none("a probability of 0 for what happened makes the loss infinite")
    if sums.rows < 1.5:
        return none("there is a single row")
    if metric.interval == "relative loss":
        error = sums.relative_error(losses_of(metric), sampling.fixed)
        if not value or error < 1e-14:
            return none("every row has the same loss")
        return Interval(*on_scale(LOG, value, error, normal((1 + sampling.confidence) / 2)), "delta method")
    error = sums.mean_error(sampling.fixed)
    if error <= 1e-12 * value:
        return none("every row has the same loss")
    low, high = skewed_t(value, error, sums.skewness(), sums.rows - 1, sampling.confidence)
    return Interval(max(low, 0.0), min(high, metric.range[1]), SKEWED)


def _all_sums(wanted: set[Losses], table: ScoreTable) -> dict[Losses, _Sums]:
    if table.weighted:
        return {losses: _weighted(losses, table) for losses in wanted}
    sizes = np.array([float(table.P), float(table.N)])
    scores, *counts = table.some_rows(ENOUGH)
    found = {}
    for losses in wanted:
        sums = _powers((counts[0], counts[1]), scores, losses)
        powers = sums * divide(sizes, sums[:, 0])[:, None]  # of all rows
        found[losses] = _Sums(powers, powers)
    return found


def _weighted(losses: Losses, table: ScoreTable) -> _Sums:
    assert isinstance(table.store, Columns)
    values = table.store.values
    counts = [(values[f"positives{suffix}"], values[f"negatives{suffix}"]) for suffix in ("", "_squared")]
    return _Sums(*(_powers(pair, table.store.scores, losses) for pair in counts))


def _powers(counts: tuple[Array, Array], scores: Array, losses: Losses) -> Array:
    pairs = zip(counts, (losses.of_positive, losses.of_negative), strict=True)
    return np.array([_sums(count, scores, loss_of) for count, loss_of in pairs])


def _sums(counts: Array, scores: Array, loss_of: Callable[[Array], Array]) -> list[float]:
    """Return the number of rows and the sums of the powers of their losses."""
    here = np.flatnonzero(counts)
    with np.errstate(divide="ignore"):
        loss = loss_of(scores[here])
    powers = [counts[here].astype(np.float64)]
    for _ in range(3):
        powers.append(powers[-1] * loss)
    return [float(power.sum()) for power in powers]
