"""Limits of a mean cost: those of a bounded mean to which one row could still be added (Gaffke 2005).

Nearly all of a cost can lie in a few rows, and the most expensive of them may not have come up yet. So rows are
resampled as gamma variables, and one more row is added: at the highest possible cost for the upper limit, at the lowest
for the lower limit. With two costs these are Clopper and Pearson's limits.

Rows of the same cost are grouped in cells. A saving is a mean cost, too: that of the difference, in cells of the truth
and both decisions.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from stakes.metrics import Metric
from stakes.metrics.cost import counted_shares, given_to, is_relative, shares_in
from stakes.tallies import Confusion, CostSums
from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.clusters import Clusters
from stakes.tallies.cost_sums import EACH, LEAST, OWN, CostGroups
from stakes.tallies.costs import Costs
from stakes.tallies.pricing import Pricing, Shares
from stakes.uncertainty.influence import SINGLE_CLUSTER, Influence, limits
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.sampling import Sample, Sampling, normal, student

_DRAWS = 9_999
_MOST_DRAWS = 199_999
_BEYOND = 50
"""Least number of draws beyond each end of an interval."""

_MOST_VALUES = 100
"""Rows with more different costs than this are replaced by rows with two."""


class Limits(NamedTuple):
    """The ends of an interval, and the p-value of a mean of 0, which is at most 1 − confidence if 0 lies outside."""

    low: float
    high: float
    p: float = math.nan

    def interval(self, sampling: Sampling) -> Interval:
        """Return the ends, or why there are none."""
        if math.isclose(self.low, self.high, rel_tol=1e-12):
            return none("every row that could come costs the same")
        clusters = "" if sampling.clusters is None else f", {sampling.clusters.count:,} clusters"
        return Interval(self.low, self.high, f"one more row{clusters}")


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows grouped by class and cost. The first axis of all arrays is the class, the others are cells.

    ``counts`` are (weighted) rows, ``squares`` sums of their squared weights (None without weights), ``reach`` says
    into which cells one more row could fall, empty or not. ``shares`` are the frequencies of the classes; None if they
    vary like everything else. ``clusters`` are the counts of each cluster, along an axis before the others. ``cases``
    are the cases of each class from which its share was estimated, where it is not known exactly.
    """

    values: Array
    counts: Array
    reach: Array
    shares: Array | None = None
    squares: Array | None = None
    clusters: Array | None = None
    cases: tuple[int, ...] | None = None

    @cached_property
    def groups(self) -> "Cells":
        """The same with two axes: cells of each class, or of all classes as one group."""
        count = 1 if self.shares is None else len(self.counts)
        flat = [np.broadcast_to(one, self.counts.shape).reshape(count, -1) for one in (self.values, self.reach)]
        squares = None if self.squares is None else self.squares.reshape(count, -1)
        clusters = None if self.clusters is None else self.clusters.reshape(len(self.clusters), count, -1)
        shares = np.ones(1) if self.shares is None else self.shares
        return Cells(flat[0], self.counts.reshape(count, -1), flat[1], shares, squares, clusters, self.cases)

    def draw_shares(self, sampling: Sampling) -> Array:
        """How frequent each group is: (group, draw), or the same in all draws."""
        if self.cases is None:
            return np.asarray(self.shares)[:, None]
        size, generator = (_draws(sampling), len(self.cases)), np.random.default_rng(sampling.seed + 1)
        sampled = generator.standard_gamma(np.array(self.cases, np.float64) + 0.5, size)
        return np.asarray((sampled / sampled.sum(axis=1, keepdims=True)).T)


# ── a mean ───────────────────────────────────────────────────────────────────────────────────────────────────────
def mean_limits(cells: Cells, sampling: Sampling, *others: Cells) -> Limits:
    """Return the limits of a mean cost, or of a mean saving; means over ``others``, sampled apart, are added."""
    low, high, ends = _draw_means(sampling, cells, *others)
    crossed = min(np.count_nonzero(low <= 0), np.count_nonzero(high >= 0))
    return _quantiles(low, high, ends, sampling)._replace(p=min(1.0, 2 * (1 + float(crossed)) / (1 + len(low))))


def _draw_means(sampling: Sampling, *cells: Cells) -> tuple[Array, Array, Array]:
    """Sample the lower and the upper limit of a mean, or a sum of means; and the lowest and highest there can be."""
    generator, draws = sampling.generator(), _draws(sampling)
    low, high, ends = np.zeros(draws), np.zeros(draws), np.zeros(2)
    for groups in (one.groups for one in cells):
        counts, extra = _equal_rows(groups, sampling)
        shares = groups.draw_shares(sampling)
        for share, values, rows, reach in zip(shares, groups.values, counts, groups.reach, strict=True):
            if not share.any():
                continue
            sums, sizes, more = _draw(values, rows, extra, draws, generator)
            bounds = np.array([values[reach].min(), values[reach].max()])
            low += share * (sums + more * bounds[0]) / (sizes + more)
            high += share * (sums + more * bounds[1]) / (sizes + more)
            ends += share.mean() * bounds
    return low, high, ends


def mean_interval(cells: Cells, sampling: Sampling, by_row: bool = False) -> Interval:
    """Return the limits as an interval; of costs that differ ``by_row`` a note says what is assumed of one more row."""
    found = mean_limits(cells, sampling).interval(sampling)
    if not by_row or found.low is None:
        return found
    most = float(np.abs(cells.values[cells.reach]).max())
    return replace(found, note=f"one more row is taken to cost or save at most {most:.4g}")


def _draws(sampling: Sampling) -> int:
    return int(min(max(_DRAWS, _BEYOND / sampling.tail - 1), _MOST_DRAWS))


def _draw(
    values: Array, counts: Array, extra: float, draws: int, generator: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Sample what the rows of a group cost together, how many they are, and how much one more row counts."""
    kept = counts > 0
    each, place = np.unique(values[kept], return_inverse=True)
    rows = np.bincount(place, counts[kept], len(each))
    if len(each) > _MOST_VALUES:
        least, each = each[0], each - each[0]  # costs that are not below 0 keep their skewness best
        each, rows = two_costs(rows.sum(), rows @ each, rows @ each**2)
        each += least
    sampled = generator.standard_gamma(rows, (draws, len(rows)))
    return sampled @ each, sampled @ np.ones(len(rows)), extra * generator.standard_exponential(draws)


def _quantiles(low: Array, high: Array, ends: Array, sampling: Sampling) -> Limits:
    """The quantiles that agree with the p-value; with too few draws, the ends of the range."""
    beyond = math.floor(sampling.tail * (1 + len(low)) + 1e-9)
    if not beyond:
        return Limits(float(ends[0]), float(ends[1]))
    return Limits(
        float(np.partition(low, beyond - 1)[beyond - 1]), float(np.partition(high, len(high) - beyond)[-beyond])
    )


# ── a cost in units of the cheapest constant decision ────────────────────────────────────────────────────────────
def normalised_limits(cells: Cells, prices: Array, sampling: Sampling) -> Limits:
    """Return the limits of (cost − unavoidable) / (cheapest constant − unavoidable).

    ``prices`` are what each decision costs a row of each class: (class, decision).
    """
    least = prices.min(axis=1)
    if cells.shares is not None:  # the denominator is known, or as sure as the cases behind the shares
        shares, (low, high, ends) = cells.draw_shares(sampling), _draw_means(sampling, cells)
        unavoidable, always = least @ shares, (prices.T @ shares).min(axis=0)
        low, high = ((one - unavoidable) / (always - unavoidable) for one in (low, high))
        usual = float(unavoidable.mean())
        return _quantiles(low, high, (ends - usual) / (float(always.mean()) - usual), sampling)
    excess, counts = cells.values - least[:, None], cells.counts
    stakes = prices - least[:, None]
    cheapest = stakes[:, int((counts.sum(axis=1) @ stakes).argmin())]
    worth = float((counts * excess).sum() / (counts.sum(axis=1) @ cheapest))
    moved = replace(cells, values=excess - worth * cheapest[:, None])  # how a row moves the figure
    rows, extra = _equal_rows(moved.groups, sampling)
    generator, draws = sampling.generator(), _draws(sampling)
    parts = [_draw(*one, extra, draws, generator) for one in zip(excess, rows.reshape(counts.shape), strict=True)]
    sums, sizes, more = np.sum([p[0] for p in parts], axis=0), np.stack([p[1] for p in parts], axis=1), parts[0][2]
    low, high = np.full(draws, math.inf), np.zeros(draws)
    for c, (values, reach) in enumerate(zip(excess, cells.reach, strict=True)):
        whole = (sizes @ stakes + more[:, None] * stakes[c]).min(axis=1)
        low = np.minimum(low, divide(sums + more * values[reach].min(), whole, math.inf))
        high = np.maximum(high, divide(sums + more * values[reach].max(), whole, math.inf))
    return _quantiles(low, high, np.array([0.0, math.inf]), sampling)


# ── weights and clusters ─────────────────────────────────────────────────────────────────────────────────────────
def _equal_rows(groups: Cells, sampling: Sampling) -> tuple[Array, float]:
    """Return the effective number of independent rows of each cell, and how much one more row counts.

    An unseen row may weigh more than those that make up the variance. It counts more by as much as their effective
    number exceeds what is usual for their weights.
    """
    if groups.squares is None and groups.clusters is None:
        return groups.counts, 1.0
    shares, sizes = np.asarray(groups.shares), groups.counts.sum(axis=1)
    squares = groups.counts if groups.squares is None else groups.squares
    kish = divide(sizes, squares.sum(axis=1))  # equal rows for each unit of weight
    around = groups.values - divide((groups.counts * groups.values).sum(axis=1), sizes)[:, None]
    usual = float(shares**2 @ divide((groups.counts * around**2).sum(axis=1), sizes**2 * kish))
    if groups.clusters is None:
        variance = float(shares**2 @ divide((squares * around**2).sum(axis=1), sizes**2))
        gain = usual / variance if variance > 0 else 1.0
        return groups.counts * (kish * gain)[:, None], max(1.0, gain)
    clusters, variance = _clusters(groups.clusters, around, shares)
    alike = usual / variance if variance > 0 else 1.0
    # where every row costs the same the spread of clusters is unknown, so that each counts as one row
    gain = min(alike if usual > 0 else clusters / float(sizes @ kish), 1.0)
    longer = student(1 - sampling.tail, clusters - 1) / normal(1 - sampling.tail)
    return groups.counts * (kish * gain / longer**2)[:, None], 1.0


def _clusters(counts: Array, around: Array, shares: Array) -> tuple[float, float]:
    """Return the effective number of clusters, and the variance of the mean: clusters left out one by one."""
    sizes = counts.sum(axis=-1)
    rest = sizes.sum(axis=0) - sizes
    pulls = divide((counts * around).sum(axis=-1), np.where(rest > 0, rest, sizes.sum(axis=0))) @ shares
    each = sizes.sum(axis=-1)
    return float(each.sum() ** 2 / (each**2).sum()), float((pulls**2).sum()) * (1 - 1 / len(pulls))


# ── rows of several costs ─────────────────────────────────────────────────────────────────────────────────────────
def two_costs(rows: Array, sums: Array, squares: Array) -> tuple[Array, Array]:
    """Replace rows of several costs by rows of two costs with the same mean and mean square: (costs, rows).

    One of the two is 0, the other Σa²/Σa, the cost-weighted mean cost. Where costs of both signs cancel out, the two
    lie at the same distance on either side of the mean.
    """
    high, many = divide(squares, np.abs(sums)) * np.sign(sums), divide(sums**2, squares)
    rest = np.where(rows - many > 1e-9 * rows, rows - many, 0.0)
    cancel = many * (rows + 10) < rows  # of costs of one sign at least one row remains
    mean, spread = divide(sums, rows), np.sqrt(divide(squares, rows))
    costs = np.where(cancel, mean + spread, high), np.where(cancel, mean - spread, 0.0)
    return np.stack(costs, -1), np.where(cancel[..., None], rows[..., None] / 2, np.stack([rows - rest, rest], -1))


# ── expected and normalised costs ────────────────────────────────────────────────────────────────────────────────


def cost_interval(metric: Metric, value: float, tally: Confusion | CostSums, sampling: Sampling) -> Interval:
    """Return the limits of an expected or a normalised cost."""
    if sampling.clusters is not None and sampling.clusters.count < 2:
        return none(SINGLE_CLUSTER)
    return (
        _of_table(metric, tally, sampling) if isinstance(tally, Confusion) else _of_sums(metric, value, tally, sampling)
    )


def _known_shares(prior: Shares | None, sizes: Array, sampling: Sampling) -> Array | None:
    """How frequent the classes are in every sample, where that does not vary."""
    if prior is not None:
        return np.array(prior, np.float64)
    return divide(sizes, sizes.sum()) if sampling.fixed else None


def _pricing(metric: Metric) -> tuple[Pricing, str]:
    """The costs of a figure (those of the evaluation, or its own parameters), and the class that it is about."""
    pricing, of = given_to(metric)
    return pricing or Pricing(Costs(**metric.parameters)), of


def saving_limits(
    metric: Metric, sample: Sample, first: Array, second: Array, sampling: Sampling, might: Array | None = None
) -> Limits:
    """Return the limits of what one column of decisions costs more per case than another, with the p-value.

    ``might`` are decisions that the second can take although it took them in none of these rows.
    """
    K, M = len(sample.classes), len(sample.decisions)
    pricing, of = _pricing(metric)
    sizes = np.bincount(sample.truth, sample.weights, K)
    shares = _known_shares(counted_shares(pricing, of, sample.classes, sample.positive), sizes, sampling)
    cases = None if of else pricing.cases(sample.classes)
    if sample.costs is not None:
        find = _cells_of_groups if isinstance(sample.costs, CostGroups) else _cells_of_rows
        return mean_limits(replace(find(sample, first, second, shares), cases=cases), sampling)
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
    """Every row by itself; one more of its class could cost as much more or less as the expensive rows do."""
    rows, costs = np.arange(len(first)), sample.costs
    assert isinstance(costs, np.ndarray)
    own = sample.truth == np.arange(len(sample.classes))[:, None]
    stake = np.where(own, np.ptp(costs, axis=1), 0.0)
    largest = divide((stake**2).sum(axis=1), stake.sum(axis=1))
    squares = None if sample.weight is None else sample.weights**2
    return _with_one_more(costs[rows, first] - costs[rows, second], sample.weights, squares, own, largest, shares)


def _cells_of_groups(sample: Sample, first: Array, second: Array, shares: Array | None) -> Cells:
    """The rows of each group as rows of two costs with the same mean and mean square."""
    costs, (K, M) = sample.costs, (len(sample.classes), len(sample.decisions))
    assert isinstance(costs, CostGroups)
    numbers, truth, weighted = np.eye(EACH + M), sample.truth, sample.weight is not None
    apart = costs.factors(truth, first, numbers[OWN]) - costs.factors(truth, second, numbers[OWN])
    values, rows = two_costs(*costs.moments(apart, once=True))
    squares = None
    if weighted:  # rows that count by squared weight vary in another way, and are not among those resampled
        others, squares = two_costs(*costs.moments(apart))
        values, nothing = np.hstack([values, others]), np.zeros_like(rows)
        rows, squares = np.hstack([rows, nothing]), np.hstack([nothing, squares]).ravel()
    largest = np.zeros(K)
    for one in numbers[EACH:] - numbers[LEAST]:
        _, *stake = costs.moments(costs.factors(truth, first, one))
        total, square = (np.bincount(truth, sums, K) for sums in stake)
        largest = np.maximum(largest, divide(square, total))
    own = np.repeat(truth, values.shape[1]) == np.arange(K)[:, None]
    return _with_one_more(values.ravel(), rows.ravel(), squares, own, largest, shares)


def _with_one_more(
    values: Array, rows: Array, squares: Array | None, own: Array, largest: Array, shares: Array | None
) -> Cells:
    """Rows by class (``own`` says which belong to each), and one more that costs up to ``largest`` more or less."""
    K, most = len(largest), largest[:, None]
    some, nothing = np.ones((K, 2), bool), np.zeros((K, 2))
    each = np.hstack([np.broadcast_to(values, own.shape), most, -most])
    weighing = None if squares is None else np.hstack([own * squares, nothing])
    return Cells(each, np.hstack([own * rows, nothing]), np.hstack([own & False, some]), shares, weighing)


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────
def _of_table(metric: Metric, table: Confusion, sampling: Sampling) -> Interval:
    pricing, of = _pricing(metric)
    prices = np.array(pricing.prices(table.truths, table.decisions, table.positive), np.float64)
    counts = table.counts.astype(np.float64)
    shares = _known_shares(shares_in(table, pricing, of), counts.sum(axis=1), sampling)
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
    shares = _known_shares(prior, sums.sums[:, 0], sampling)
    if not is_relative(metric):
        cells = replace(_cells(sums, shares, sampling.clusters), cases=cases)
        return mean_interval(cells, sampling, by_row=True)
    if sampling.clusters is not None:
        return none("of costs that differ by row only the mean has one with clusters")
    means = sums.means(prior)
    direction = _direction(value, means)
    error = _error(sums, direction, shares, cases)
    if not error > 1e-12 * abs(value):
        return none("every row costs the same")
    carried = float(divide(sums.sums[:, OWN].sum() ** 2, sums.products[:, OWN, OWN].sum()))
    known = Influence.of_error(error, sums.equal_rows, math.inf, carried, _unseen_cost(sums, direction, means, shares))
    return replace(limits(value, known, metric.range, sampling.confidence), note=known.note)


def _unseen_cost(sums: CostSums, direction: Array, means: Array, shares: Array | None) -> float:
    """The largest change by one more row: of any class, with any decision, as costly as its expensive rows."""
    sizes, squares = sums.sums[:, :1], np.einsum("cii->ci", sums.products)
    each = divide(squares[:, :1], sizes)  # the usual weight of a row
    prices = divide(divide(squares, each), np.abs(sums.sums))[:, EACH:]
    pulls = (direction[OWN] * prices).T + direction[LEAST] * prices.min(axis=1)
    pulls = pulls + prices @ direction[EACH:] - float(direction[1:] @ means[1:])
    often = np.ones(len(prices)) if shares is None else divide(shares * sizes.sum(), sizes[:, 0])
    return float(np.abs(pulls * often)[:, sizes[:, 0] > 0].max() / (sums.equal_rows + 1))


def _cells(sums: CostSums, shares: Array | None, clusters: Clusters | None) -> Cells:
    """The rows of each class as rows of two costs; one more could cost as much as its most or least costly decision."""
    first, squared = sums.sums, np.einsum("cii->ci", sums.products)
    each = divide(squared[:, :1], first[:, :1])  # the usual weight of a row
    costs, counts = two_costs(divide(first[:, :1], each), divide(first, each), divide(squared, each**2))
    counts *= each[..., None]
    one_more = costs[:, EACH:].reshape(len(costs), -1)
    occurs = (counts[:, EACH:] > 0).reshape(one_more.shape)
    values = np.concatenate([costs[:, OWN], one_more], axis=1)
    rows = np.concatenate([counts[:, OWN], np.zeros_like(one_more)], axis=1)
    reach = np.concatenate([np.zeros((len(costs), 2), bool), occurs], axis=1)
    squares, parts = rows * each if sums.weighted else None, None
    if clusters is not None:
        sizes, paid = clusters.costs(len(costs))
        high, low = costs[:, OWN].T
        many = divide(paid - low * sizes, np.abs(high - low)) * np.sign(high - low)
        nothing = np.zeros((*sizes.shape, one_more.shape[1]))
        parts = np.concatenate([many[..., None], (sizes - many)[..., None], nothing], axis=-1)
    return Cells(values, rows, reach, shares, squares, parts)


def _direction(value: float, means: Array) -> Array:
    """How much the normalised cost moves with the mean of each number."""
    moves = np.zeros(len(means))
    cheapest = EACH + int(means[EACH:].argmin())
    moves[[OWN, LEAST, cheapest]] = 1.0, value - 1, -value
    return np.asarray(moves / (means[cheapest] - means[LEAST]))


def _error(sums: CostSums, direction: Array, shares: Array | None, cases: Sequence[int] | None) -> float:
    """The standard error of a mean of the numbers: over all rows, or within the classes where shares are set.

    Shares that were estimated from ``cases`` add the variance of that estimate.
    """
    slopes, means = _slopes(sums, direction, shares), divide(sums.sums @ direction, sums.sums[:, 0])
    variance = 0.0
    if shares is not None and cases is not None:
        variance = float(shares @ (means - shares @ means) ** 2) / sum(cases)
    return math.sqrt(variance + max(float(np.einsum("ci,cij,cj", slopes, sums.products, slopes)), 0.0))


def _slopes(sums: CostSums, direction: Array, shares: Array | None) -> Array:
    """How much each number of one more row of each class moves a mean; ``direction`` is its gradient in their means."""
    sizes = sums.sums[:, 0]
    often = np.full(len(sizes), 1 / sums.total) if shares is None else divide(shares, sizes)
    means = np.full(len(sizes), direction @ sums.means()) if shares is None else divide(sums.sums @ direction, sizes)
    found = np.outer(often, direction)
    found[:, 0] -= often * means
    return found


def cost_slopes(metric: Metric, value: float, sums: CostSums) -> Array:
    """How much each number of one more row of each class moves a cost in units of the cheapest constant decision."""
    prior = shares_in(sums, *_pricing(metric))
    shares = None if prior is None else np.array(prior, np.float64)
    return _slopes(sums, _direction(value, sums.means(prior)), shares)
