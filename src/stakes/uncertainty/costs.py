"""Intervals of expected and normalised costs: of a table of decisions, and of costs that differ from row to row."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from stakes.metrics import Metric
from stakes.metrics.cost import counted_shares, given_to, is_relative, shares_in
from stakes.tallies import Confusion, CostSums
from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.clusters import Clusters
from stakes.tallies.costs import Costs
from stakes.tallies.pricing import Pricing, Shares
from stakes.uncertainty.influence import Influence, limits
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.one_more_row import Cells, Limits, mean_interval, mean_limits, normalised_limits, two_costs
from stakes.uncertainty.sampling import Sample, Sampling

_COST, _UNAVOIDABLE, _FIRST_DECISION = 1, 2, 3
"""Where the numbers of a row stand in the sums."""


def cost_intervals(
    metrics: Sequence[Metric], values: Sequence[float], tally: Confusion | CostSums, sampling: Sampling
) -> list[Interval]:
    """Return the intervals of expected and normalised costs."""
    if sampling.clusters is not None and sampling.clusters.count < 2:
        return [none("there is a single cluster")] * len(metrics)
    if isinstance(tally, Confusion):
        return [_of_table(metric, tally, sampling) for metric in metrics]
    return [_of_sums(metric, value, tally, sampling) for metric, value in zip(metrics, values, strict=True)]


def _shares(prior: Shares | None, sizes: Array, sampling: Sampling) -> Array | None:
    """How frequent the classes are in every sample, where that does not vary."""
    if prior is not None:
        return np.array(prior, np.float64)
    return divide(sizes, sizes.sum()) if sampling.fixed else None


def _pricing(metric: Metric) -> tuple[Pricing, str]:
    """What a figure prices by: the costs of the evaluation, or its own parameters; and the class that it is about."""
    pricing, of = given_to(metric)
    return pricing or Pricing(Costs(**metric.parameters)), of


def saving_limits(
    metric: Metric, sample: Sample, first: Array, second: Array, sampling: Sampling, might: Array | None = None
) -> Limits:
    """Return the limits of what one column of decisions costs more per case than another, with the p-value.

    Decisions that the second ``might`` take belong to it although it took them in none of these rows.
    """
    K, M = len(sample.classes), len(sample.decisions)
    pricing, of = _pricing(metric)
    sizes = np.bincount(sample.truth, sample.weights, K)
    shares = _shares(counted_shares(pricing, of, sample.classes, sample.positive), sizes, sampling)
    cases = None if of else pricing.cases(sample.classes)
    if sample.costs is not None:
        return mean_limits(replace(_cells_of_rows(sample, first, second, shares), cases=cases), sampling)
    prices = np.array(pricing.prices(sample.classes, sample.decisions, sample.positive), np.float64)
    places = (sample.truth * M + first) * M + second

    def counted(weight: Array, groups: int = 1) -> Array:
        where = places if groups == 1 or sample.cluster is None else sample.cluster * (K * M * M) + places
        return np.bincount(where, weight, groups * K * M * M).reshape(groups, K, M * M)

    taken = [np.bincount(one, minlength=M) > 0 for one in (first, second)]
    taken[1] |= False if might is None else might
    reach = np.broadcast_to(np.logical_and.outer(*taken).ravel(), (K, M * M))
    values = (prices[:, :, None] - prices[:, None, :]).reshape(K, M * M)
    squares = None if sample.weight is None else counted(sample.squared_weights)[0]
    clusters = None if sample.cluster is None else counted(sample.weights, int(sample.cluster.max()) + 1)
    return mean_limits(Cells(values, counted(sample.weights)[0], reach, shares, squares, clusters, cases), sampling)


def _cells_of_rows(sample: Sample, first: Array, second: Array, shares: Array | None) -> Cells:
    """Every row by itself; one more of its class could cost as much more or less as the dear ones of its rows do."""
    rows, K = np.arange(len(first)), len(sample.classes)
    assert sample.costs is not None
    values = np.broadcast_to(sample.costs[rows, first] - sample.costs[rows, second], (K, len(rows)))
    own = sample.truth == np.arange(K)[:, None]
    stake = np.where(own, np.ptp(sample.costs, axis=1), 0.0)
    largest = divide((stake**2).sum(axis=1), stake.sum(axis=1))[:, None]
    some, nothing = np.ones((K, 2), bool), np.zeros((K, 2))
    counts = np.hstack([own * sample.weights, nothing])
    squares = None if sample.weight is None else np.hstack([own * sample.weights**2, nothing])
    return Cells(np.hstack([values, largest, -largest]), counts, np.hstack([own & False, some]), shares, squares)


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────
def _of_table(metric: Metric, table: Confusion, sampling: Sampling) -> Interval:
    pricing, of = _pricing(metric)
    prices = np.array(pricing.prices(table.truths, table.decisions, table.positive), np.float64)
    counts = table.counts.astype(np.float64)
    shares = _shares(shares_in(table, pricing, of), counts.sum(axis=1), sampling)
    clusters = None if sampling.clusters is None else sampling.clusters.tables(table)
    reach = np.broadcast_to(_possible(table, pricing), counts.shape)
    cells = Cells(prices, counts, reach, shares, table.squares, clusters, None if of else pricing.cases(table.truths))
    if not is_relative(metric):
        return mean_interval(cells, sampling)
    return normalised_limits(cells, prices, sampling).interval(sampling)


def _possible(table: Confusion, pricing: Pricing) -> Array:
    """Which decisions can be taken: those that were, and those that could be worth taking."""
    taken: Array = table.counts.sum(axis=0) > 0
    if not taken.all():
        silly = pricing.costs.never_cheapest()
        taken = taken | [name not in silly for name in table.decisions]
    return taken


# ── costs by row ─────────────────────────────────────────────────────────────────────────────────────────────────
def _of_sums(metric: Metric, value: float, sums: CostSums, sampling: Sampling) -> Interval:
    pricing, of = _pricing(metric)
    prior, cases = shares_in(sums, pricing, of), None if of else pricing.cases(sums.classes)
    shares = _shares(prior, sums.sums[:, 0], sampling)
    if not is_relative(metric):
        cells = replace(_cells(sums, shares, sampling.clusters), cases=cases)
        return mean_interval(cells, sampling, by_row=True)
    if sampling.clusters is not None:
        return none("of costs that differ by row only the mean has one with clusters")
    error = _error(sums, _direction(value, sums.means(prior)), shares, cases)
    if not error > 1e-12 * abs(value):
        return none("every row costs the same")
    return limits(value, Influence.of_error(error, sums.total, math.inf), metric.range, sampling.confidence)


def _cells(sums: CostSums, shares: Array | None, clusters: Clusters | None) -> Cells:
    """The rows of each class as rows of two costs; one more could cost what the dearest or cheapest decision does."""
    first, squared = sums.sums, np.einsum("cii->ci", sums.products)
    each = divide(squared[:, :1], first[:, :1])  # the usual weight of a row
    costs, counts = two_costs(first[:, :1], first, divide(squared, each))
    one_more = costs[:, _FIRST_DECISION:].reshape(len(costs), -1)
    occurs = (counts[:, _FIRST_DECISION:] > 0).reshape(one_more.shape)
    values = np.concatenate([costs[:, _COST], one_more], axis=1)
    rows = np.concatenate([counts[:, _COST], np.zeros_like(one_more)], axis=1)
    reach = np.concatenate([np.zeros((len(costs), 2), bool), occurs], axis=1)
    squares, parts = rows * each if sums.weighted else None, None
    if clusters is not None:
        sizes, paid = clusters.costs(len(costs))
        dear, other = costs[:, _COST].T
        many = divide(paid - other * sizes, np.abs(dear - other)) * np.sign(dear - other)
        nothing = np.zeros((*sizes.shape, one_more.shape[1]))
        parts = np.concatenate([many[..., None], (sizes - many)[..., None], nothing], axis=-1)
    return Cells(values, rows, reach, shares, squares, parts)


def _direction(value: float, means: Array) -> Array:
    """How much the normalised cost moves with the mean of each number."""
    moves = np.zeros(len(means))
    cheapest = _FIRST_DECISION + int(means[_FIRST_DECISION:].argmin())
    moves[[_COST, _UNAVOIDABLE, cheapest]] = 1.0, value - 1, -value
    return np.asarray(moves / (means[cheapest] - means[_UNAVOIDABLE]))


def _error(sums: CostSums, direction: Array, shares: Array | None, cases: Sequence[int] | None) -> float:
    """The standard error of a mean of the numbers: over all rows, or over the classes apart where shares are set.

    Shares that were seen in some ``cases`` vary as those do.
    """
    if shares is None:
        around = direction.copy()
        around[0] -= float(direction @ sums.means())
        return math.sqrt(max(float(around @ sums.products.sum(axis=0) @ around), 0.0)) / sums.total
    means = divide(sums.sums @ direction, sums.sums[:, 0])
    variance = 0.0 if cases is None else float(shares @ (means - shares @ means) ** 2) / sum(cases)
    for share, row, products in zip(shares, sums.sums, sums.products, strict=True):
        if row[0] > 0:
            around = direction.copy()
            around[0] -= float(direction @ row) / row[0]
            variance += (share / row[0]) ** 2 * max(float(around @ products @ around), 0.0)
    return math.sqrt(variance)
