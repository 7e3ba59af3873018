"""Intervals of costs that differ from row to row, from sums of their powers and products."""

import math
from collections.abc import Sequence

import numpy as np

from stakes.metrics import Metric
from stakes.metrics.cost import at_prior, pricing_of
from stakes.tallies import CostSums
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.means import SKEWED, held_back, skewed_t, skewness_of_rows
from stakes.uncertainty.quantiles import LOG, on_scale
from stakes.uncertainty.sampling import Sampling

_COST, _UNAVOIDABLE, _FIRST_DECISION = 1, 2, 3
"""Where the numbers of a row stand in the sums."""


def row_cost_intervals(
    metrics: Sequence[Metric], values: Sequence[float], sums: CostSums, sampling: Sampling
) -> list[Interval]:
    """Return the intervals of expected and normalised costs."""
    if sampling.clusters is not None:
        return [none("costs that differ by row have none with clusters")] * len(metrics)
    return [_interval(metric, value, sums, sampling) for metric, value in zip(metrics, values, strict=True)]


def _interval(metric: Metric, value: float, sums: CostSums, sampling: Sampling) -> Interval:
    pricing = pricing_of(metric)
    prior = None if pricing is None else at_prior(sums, pricing)
    apart = prior is not None or sampling.fixed
    shares = sums.shares(prior)
    direction = _direction(metric, value, sums.means(prior))
    error = _error(sums, direction, shares, apart)
    if not error > 1e-12 * abs(value):
        return none("every row costs the same")
    if metric.name == "normalised_cost":
        return Interval(*on_scale(LOG, value, error, sampling.width), "delta method")
    rows = sums.total**2 / float(sums.products[:, 0, 0].sum())
    second, third = sums.powers.sum(axis=0) / sums.total
    skewness = 0.0 if apart else skewness_of_rows(value, second, third) / math.sqrt(rows)
    low, high = skewed_t(value, error, held_back(skewness), rows - 1, sampling.confidence)
    if not sums.products[:, _UNAVOIDABLE, _UNAVOIDABLE].any():  # the best decision is free in every row
        low = max(low, 0.0)
    return Interval(low, high, SKEWED)


def _direction(metric: Metric, value: float, means: Array) -> Array:
    """How much the figure moves with the mean of each number."""
    moves = np.zeros(len(means))
    if metric.name == "expected_cost":
        moves[_COST] = 1.0
        return moves
    cheapest = _FIRST_DECISION + int(means[_FIRST_DECISION:].argmin())
    moves[[_COST, _UNAVOIDABLE, cheapest]] = 1.0, value - 1, -value
    return np.asarray(moves / (means[cheapest] - means[_UNAVOIDABLE]))


def _error(sums: CostSums, direction: Array, shares: Array, apart: bool) -> float:
    """The standard error of a mean of the numbers: over all rows, or over the classes apart where shares are set."""
    if not apart:
        around = direction.copy()
        around[0] -= float(direction @ sums.means())
        return math.sqrt(max(float(around @ sums.products.sum(axis=0) @ around), 0.0)) / sums.total
    variance = 0.0
    for share, row, products in zip(shares, sums.sums, sums.products, strict=True):
        if row[0] > 0:
            around = direction.copy()
            around[0] -= float(direction @ row) / row[0]
            variance += (share / row[0]) ** 2 * max(float(around @ products @ around), 0.0)
    return math.sqrt(variance)
