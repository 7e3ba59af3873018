"""Intervals of a rate at the threshold where the other class reaches its own: the threshold varies, and so do the rows.

Both parts are put together as the ends of independent intervals are (Zou & Donner 2008, Statistics in Medicine 27): the
rate at thresholds between which the true one lies (order statistics of the other class, a row beyond them unseen), and
Wilson's limits of the rate itself.
"""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from stakes.metrics import Metric
from stakes.metrics.folds import Fold, fold_all, largest
from stakes.tallies import ScoreTable, Steps
from stakes.tallies.arithmetic import Number
from stakes.uncertainty.interval import Interval
from stakes.uncertainty.sampling import Sampling
from stakes.uncertainty.shares import wilson


def rate_intervals(
    metrics: Sequence[Metric], values: Sequence[float], table: ScoreTable, sampling: Sampling
) -> list[Interval]:
    """Return the limits of each rate."""
    return [_interval(metric, value, table, sampling.confidence) for metric, value in zip(metrics, values, strict=True)]


def _interval(metric: Metric, value: float, table: ScoreTable, confidence: float) -> Interval:
    assert metric.one_row is not None
    assert metric.one_row.rate is not None
    ((_, wanted),) = metric.parameters.items()
    (own, other), sizes, whole = metric.one_row.rate, table.effective_rows, (float(table.P), float(table.N))
    if own == "tn":
        sizes, whole = sizes[::-1], whole[::-1]
    ends = np.asarray(wilson(1 - wanted, sizes[1], confidence)) * sizes[1]
    # as many of the other class as may lie before the threshold, a row of them at least and at most
    least, most = (number * whole[1] / sizes[1] for number in (math.floor(ends[0]), math.ceil(ends[1])))

    def reached(steps: Steps, bound: float, inside: bool) -> Number:
        taken = getattr(steps, other)
        within = taken <= bound * (1 + 1e-12) if inside else taken < bound * (1 - 1e-12)
        return largest(np.where(within, getattr(steps, own), 0))

    both = [partial(reached, bound=least, inside=False), partial(reached, bound=most, inside=True)]
    low, high = (float(one) / whole[0] for one in fold_all([(Fold(one, _as_it_is, "max"), {}) for one in both], table))
    high = 1.0 if most >= whole[1] * (1 - 1e-12) else high
    limits = wilson(value, sizes[0], confidence)
    low = value - math.hypot(value - limits[0], max(value - low, 0.0))
    high = value + math.hypot(limits[1] - value, max(high - value, 0.0))
    return Interval(max(low, 0.0), min(high, 1.0), "order statistics of the threshold and Wilson (MOVER)")


def _as_it_is(found: Number, table: ScoreTable) -> Number:
    return found
