"""Intervals of regression figures: what each would be without one row after another (the jackknife)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from stakes.metrics import Metric, measure
from stakes.tallies import ErrorSums
from stakes.tallies.arithmetic import Array, Number
from stakes.tallies.error_sums import ErrorRows, Power, percentage
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.means import SKEWED, skewed_t, skewness_of_rows
from stakes.uncertainty.quantiles import PLAIN, SQUARE, Scale, normal, on_scale, scale_of, student
from stakes.uncertainty.sampling import Sampling

MOST_GROUPS = 20_000
"""More rows than this are left out in random groups, which tell their spread to half a per cent."""

_EXACT_RANKS = 1000

_NO_ROWS = "the rows were not kept, only sums of them"


def regression_intervals(
    metrics: Sequence[Metric], values: Sequence[float], sums: ErrorSums, sampling: Sampling
) -> list[Interval]:
    """Return the intervals of figures of predicted numbers."""
    rows = sums.rows
    if rows is None:
        return [_of_moments(metric, value, sums, sampling) for metric, value in zip(metrics, values, strict=True)]
    if sampling.clusters is not None and sampling.clusters.count < 2:
        return [none("there is a single cluster")] * len(metrics)
    smooth = [metric for metric in metrics if metric.interval != "median"]
    with np.errstate(all="ignore"):  # powers of very large numbers are not finite, and their figures have no interval
        left_out = iter(measure(smooth, without_each(sums, rows, sampling)))
    return [
        _median(rows, sampling) if metric.interval == "median" else _jackknife(metric, value, next(left_out), sampling)
        for metric, value in zip(metrics, values, strict=True)
    ]


def _jackknife(metric: Metric, value: float, left_out: Array, sampling: Sampling) -> Interval:
    scale = {"mean": PLAIN, "root mean": SQUARE}.get(metric.interval, scale_of(metric.range))
    with np.errstate(all="ignore"):
        there, moved = float(scale.to(np.float64(value))), scale.to(np.asarray(left_out, np.float64))
    if not math.isfinite(there) or not np.isfinite(moved).all():
        return none("it is at the end of its range, or undefined without some row")
    steps = moved.mean() - moved
    groups, largest = len(steps), float(np.abs(steps).max())
    if largest <= 1e-14 * abs(there):
        return none("no row makes a difference")
    steps = steps / largest  # powers of very large or small steps stay finite
    square = float((steps**2).sum())
    error = math.sqrt((groups - 1) / groups * square) * largest
    if metric.interval == "ratio":
        t = student((1 + sampling.confidence) / 2, groups - 1)
        ends = on_scale(PLAIN, there, error, t)
        return _back(scale, ends, f"jackknife{f', on the {scale.name} scale' if scale.name else ''}")
    skewness = float((steps**3).sum()) / square**1.5
    low, high = skewed_t(there, error, skewness, groups - 1, sampling.confidence)
    least = metric.range[0]
    return _back(scale, (max(low, least), max(high, least)), SKEWED)


def _back(scale: Scale, ends: tuple[float, float], method: str) -> Interval:
    low, high = sorted(float(scale.back(end)) for end in ends)
    return Interval(low, high, method)


def _median(rows: ErrorRows, sampling: Sampling) -> Interval:
    """Return the two errors between whose ranks the median lies with this confidence, whatever the distribution."""
    if rows.weight is not None or sampling.clusters is not None:
        return none("ranks of weighted or clustered rows have no simple law")
    n = len(rows.sizes)
    low = _rank_below(n, sampling.tail)
    if low < 0:
        return none(f"{n} rows are too few for the ranks around the median")
    high = n - 1 - low
    places = np.partition(rows.sizes, (low, high))
    return Interval(float(places[low]), float(places[high]), "order statistics")


def _rank_below(n: int, tail: float) -> int:
    """The largest rank, counting from 0, below which the median lies with at most this probability; −1 if none."""
    if n > _EXACT_RANKS:
        return math.floor(n / 2 - normal(1 - tail) * math.sqrt(n) / 2) - 1
    below, rank = 0, -1
    while (below + math.comb(n, rank + 1)) / 2**n <= tail:  # as few as this many rows below the median
        rank += 1
        below += math.comb(n, rank)
    return rank


# ── from moments alone ───────────────────────────────────────────────────────────────────────────────────────────
_POWERS_OF_LOSS: dict[str, tuple[dict[str, int], ...]] = {
    "mean_absolute_error": ({"a": 1}, {"e": 2}, {"a": 1, "e": 2}),
    "mean_error": ({"e": 1}, {"e": 2}, {"e": 3}),
    "mean_squared_error": ({"e": 2}, {"e": 4}),
    "root_mean_squared_error": ({"e": 2}, {"e": 4}),
}
"""The sums of the first, second and, where there is one, third power of a loss."""


def _of_moments(metric: Metric, value: float, sums: ErrorSums, sampling: Sampling) -> Interval:
    """The interval of a figure when only sums were kept: of a mean from its powers, of r2 by the delta method."""
    if sampling.clusters is not None or sums.weighted or not sums.has("order 4"):
        return none(_NO_ROWS)
    n = float(sums.total)
    if metric.name == "r2":
        half = student((1 + sampling.confidence) / 2, n - 1) * _error_of_log_rest(sums) / math.sqrt(n - 1)
        return Interval(1 - (1 - value) * math.exp(half), 1 - (1 - value) * math.exp(-half), "delta method")
    if metric.name not in _POWERS_OF_LOSS:
        return none(_NO_ROWS)
    powers = [float(sums.mean(**power)) for power in _POWERS_OF_LOSS[metric.name]]
    first, second = powers[:2]
    third = powers[2] if len(powers) > 2 else 3 * first * second - 2 * first**3  # not known: taken as symmetric
    error = math.sqrt(max(second - first**2, 0.0) / (n - 1))
    ends = skewed_t(first, error, skewness_of_rows(first, second, third) / math.sqrt(n), n - 1, sampling.confidence)
    scale = SQUARE if metric.interval == "root mean" else PLAIN
    return _back(scale, (max(ends[0], metric.range[0]), ends[1]), SKEWED)


def _error_of_log_rest(sums: ErrorSums) -> float:
    """The standard deviation of what a row adds to log(1 − r2): e²/mean e² − (t − mean)²/variance."""
    centre = sums.mean(t=1)

    def mean(e: int, t: int) -> Number:  # of errorᵉ·(truth − mean)ᵗ
        return sum(math.comb(t, i) * (-centre) ** (t - i) * sums.mean(e=e, t=i) for i in range(t + 1))

    square, spread = mean(2, 0), mean(0, 2)
    whole = mean(4, 0) / square**2 - 2 * mean(2, 2) / (square * spread) + mean(0, 4) / spread**2
    return math.sqrt(max(float(whole), 0.0))


# ── sums without each row ────────────────────────────────────────────────────────────────────────────────────────
def without_each(sums: ErrorSums, rows: ErrorRows, sampling: Sampling) -> ErrorSums:
    """Return the sums without each row (or group of rows, or cluster) along a leading axis.

    Truth and prediction are moved by the mean truth, which no figure minds that is made of sums of powers, and which
    keeps their digits.
    """
    groups = _groups(rows, sampling)
    count = int(groups.max()) + 1
    weight = np.ones(len(groups)) if rows.weight is None else rows.weight

    def without(column: Array) -> Array:
        found = np.bincount(groups, weight * column, count)
        return np.asarray(found.sum() - found)

    truth, prediction = rows.truth.astype(np.float64), rows.prediction.astype(np.float64)
    centre = float(np.average(truth, weights=weight))
    size, error = rows.sizes, np.where(truth >= prediction, rows.sizes, -rows.sizes)
    t = truth - centre
    logs = None
    if sums.squared_logs is not None and not math.isnan(sums.squared_logs):
        logs = without((np.log1p(truth) - np.log1p(prediction)) ** 2)
    shares = None if sums.percentages is None else without(percentage(size, truth))
    constant = None
    if sums.baseline is not None:
        constant = ErrorSums(moments_of(t, truth - sums.baseline, without), math.nan, weighted=True)
    whole = ErrorSums(moments_of(t, error, without), math.nan, logs, shares, weighted=True)
    return replace(whole, baseline=sums.baseline, baseline_given=sums.baseline_given, constant=constant)


def is_of_sums(metric: Metric) -> bool:
    """Whether a regression figure is a function of what :func:`moments_of` adds up, for the model and the baseline."""
    return metric.tally is ErrorSums and set(metric.parts) <= {"prediction", "baseline"} and metric.name != "max_error"


def moments_of(t: Array, error: Array, total: Callable[[Array], Array]) -> dict[Power, Array]:
    """Return what ``total`` makes of the products of |error|, error, truth and prediction that figures need."""
    t = np.broadcast_to(t, error.shape)
    p = t - error
    products = {
        (0, 0, 0, 0): np.ones(t.shape),
        (1, 0, 0, 0): np.abs(error),
        (0, 1, 0, 0): error,
        (0, 2, 0, 0): error**2,
        (0, 0, 1, 0): t,
        (0, 0, 2, 0): t**2,
        (0, 0, 0, 1): p,
        (0, 0, 0, 2): p**2,
        (0, 0, 1, 1): t * p,
    }
    return {power: total(column) for power, column in products.items()}


def _groups(rows: ErrorRows, sampling: Sampling) -> Array:
    if sampling.clusters is not None:
        return sampling.clusters.groups
    n = len(rows.truth)
    return np.arange(n) if n <= MOST_GROUPS else sampling.generator().integers(0, MOST_GROUPS, n)
