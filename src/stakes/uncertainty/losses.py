"""Intervals of the losses of two-class probabilities, from sums of their powers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stakes.metrics import Metric
from stakes.metrics.declare import Losses
from stakes.metrics.folds import Fold, fold_all
from stakes.tallies import ScoreTable, Steps
from stakes.tallies.arithmetic import Array
from stakes.tallies.columns import Columns
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.means import SKEWED, skewed_t, spread_and_skewness
from stakes.uncertainty.quantiles import LOG, normal, on_scale
from stakes.uncertainty.sampling import Sampling

ENOUGH = 1 << 17
"""Of more rows than this only every second, third, … one is asked for the spread of its loss."""


@dataclass(frozen=True)
class _Sums:
    """Sums of the first, second and third powers of the losses of each class, the positive one first."""

    powers: Array
    sizes: tuple[float, float]

    @property
    def n(self) -> float:
        return sum(self.sizes)

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.powers).all())

    def error_and_skewness(self, fixed: bool) -> tuple[float, float]:
        """The standard error of the mean loss and its skewness, within the classes if their sizes are fixed."""
        if not fixed:
            return spread_and_skewness(self.n, *self.powers.sum(axis=0))
        parts = [spread_and_skewness(size, *powers) for size, powers in zip(self.sizes, self.powers, strict=True)]
        errors = [size / self.n * error for size, (error, _) in zip(self.sizes, parts, strict=True)]
        whole = math.hypot(*errors)
        skewed = sum(error**3 * skewness for error, (_, skewness) in zip(errors, parts, strict=True))
        return whole, skewed / whole**3 if whole else 0.0

    def relative_error(self, losses: Losses, loss: float, fixed: bool) -> float:
        """The standard error of the loss divided by that of the class frequencies, which vary too."""
        (found, found_squared, _), (_, missed_squared, _) = self.powers
        n, prevalence = self.n, self.sizes[0] / self.n
        scale = prevalence * losses.of_positive(prevalence) + (1 - prevalence) * losses.of_negative(prevalence)
        if fixed:
            return self.error_and_skewness(fixed)[0] / scale
        # of a proper loss only the difference between the classes' losses moves the scale
        tilt = -loss / scale * (losses.of_positive(prevalence) - losses.of_negative(prevalence))
        variance = (found_squared + missed_squared) / n - loss**2
        together = found / n - loss * prevalence
        return math.sqrt((variance + 2 * tilt * together + tilt**2 * prevalence * (1 - prevalence)) / (n - 1)) / scale


def loss_intervals(
    metrics: Sequence[Metric], values: Sequence[float], table: ScoreTable, sampling: Sampling
) -> list[Interval]:
    """Return the intervals of losses and of losses relative to the class frequencies, walking down the scores once."""
    sums = _all_sums({metric.losses for metric in metrics if metric.losses}, table)
    return [
        _interval(metric, value, sums[metric.losses], sampling)  # type: ignore[index]
        for metric, value in zip(metrics, values, strict=True)
    ]


def _interval(metric: Metric, value: float, sums: _Sums, sampling: Sampling) -> Interval:
    if not sums.finite or math.isinf(value):
        return none("a probability of 0 for what happened makes the loss infinite")
    if sampling.fixed and min(sums.sizes) < 2:
        return none("a class has a single row")
    if metric.interval == "relative loss":
        loss = float(sums.powers[:, 0].sum()) / sums.n
        error = sums.relative_error(metric.losses, loss, sampling.fixed)  # type: ignore[arg-type]
        if not value or not error:
            return none("every row has the same loss")
        return Interval(*on_scale(LOG, value, error, normal((1 + sampling.confidence) / 2)), "delta method")
    error, skewness = sums.error_and_skewness(sampling.fixed)
    if not error:
        return none("every row has the same loss")
    low, high = skewed_t(value, error, skewness, sums.n - 1, sampling.confidence)
    return Interval(max(low, 0.0), min(high, metric.range[1]), SKEWED)


def _all_sums(wanted: set[Losses], table: ScoreTable) -> dict[Losses, _Sums]:
    if table.weighted:
        return {losses: _weighted(losses, table) for losses in wanted}

    sizes = np.array([float(table.P), float(table.N)])
    stride = max(1, int(sizes.sum()) // ENOUGH)

    def each(losses: Losses) -> Any:
        return lambda steps: _powers(steps, losses, stride)

    folds: list[Any] = [(Fold(each(losses), lambda whole, _: whole), {}) for losses in wanted]
    found = zip(wanted, fold_all(folds, table), strict=True)
    return {losses: _Sums(_of_all(powers, sizes), (sizes[0], sizes[1])) for losses, powers in found}


def _of_all(powers: Array, sizes: Array) -> Array:
    """Scale the sums of some rows of each class (the counts stand before the powers) up to all of them."""
    return powers[:, 1:] * np.divide(sizes, powers[:, 0], out=np.zeros(2), where=powers[:, 0] > 0)[:, None]


def _powers(steps: Steps, losses: Losses, stride: int = 1) -> Array:
    classes = ((steps.positives, losses.of_positive), (steps.negatives, losses.of_negative))
    return np.array([_sums(counts, steps.scores, loss_of, stride) for counts, loss_of in classes])


def _sums(counts: Array, scores: Array, loss_of: Any, stride: int) -> list[float]:
    """Return the number of rows and the sums of the powers of their losses, of every so many-th score."""
    here = np.flatnonzero(counts)[::stride]
    with np.errstate(divide="ignore"):
        loss = loss_of(scores[here])
    powers = [counts[here].astype(np.float64)]
    for _ in range(3):
        powers.append(powers[-1] * loss)
    return [float(power.sum()) for power in powers]


def _weighted(losses: Losses, table: ScoreTable) -> _Sums:
    """Weighted rows stand for as many equal ones as have the same error (Kish); their skewness is not known."""
    assert isinstance(table.store, Columns)
    (steps,), values = table.steps(), table.store.values
    powers = _powers(steps, losses)[:, 1:]
    squared = sum(float(values[f"{name}_squared"].sum()) for name in ("positives", "negatives"))
    rows = float(table.total) ** 2 / squared
    shrink = rows / float(table.total)
    return _Sums(powers * shrink, (float(table.P) * shrink, float(table.N) * shrink))
