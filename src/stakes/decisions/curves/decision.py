"""Decision curves: what a model's probabilities are worth to those who act on them (Vickers & Elkin 2006).

Somebody who acts from a probability t on holds a false alarm t/(1 − t) times as bad as a found case is good. The net
benefit of acting when score ≥ t is tp/n − fp/n·t/(1 − t): found cases per row, less the false alarms at that price.

Of two models on the same rows, the difference of two means is the mean of the rows' differences, so its standard error
is known at each threshold. Rows on which both act alike add nothing; the others add or take off what their class is
worth.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from stakes.decisions.curves.curve import Band, Curve, Scored, bootstrap_band, bootstrap_tables
from stakes.errors import InputError, short
from stakes.question.options import Column
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Array, is_real
from stakes.tallies.checks import as_list, check_harm
from stakes.tallies.clusters import Clusters
from stakes.uncertainty.sampling import Sample, student

_USUAL = np.arange(1, 100) / 100


def decision_curve(scored: Scored, *, thresholds: Column = None, harm: float = 0.0) -> Curve:
    """Return the net benefit at threshold probabilities, beside acting on everybody and on nobody.

    ``harm`` is what asking the model costs for each case, in found cases; acting on all or none needs no asking.
    """
    scored.need("decision", "probabilities")
    at = _threshold_probabilities(thresholds)
    table, scores = scored.table, scored.scores_of(at)
    scores, note = _at_edges(scored, scores, at)
    found = scored.there(table.at_each(scores))
    share = float(found.P[0] / found.total[0])
    harm = check_harm(harm)
    y = _net_benefit(found, at) - harm
    references = {"treat all": share - (1 - share) * _price(at), "treat none": np.zeros(len(at))}

    def heights() -> Array:
        return _net_benefit(scored.there(bootstrap_tables(table, scores, scored.sampling)), at) - harm

    band = partial(bootstrap_band, at, heights, scored.sampling, y)
    return Curve("decision", "threshold_probability", "net_benefit", at, y, at, band, references, note=note)


def _at_edges(scored: Scored, scores: Array, at: Array) -> tuple[Array, str]:
    """Return thresholds that the table answers, bins being told apart only at their ends, and how much that moves."""
    table = scored.table
    inside = np.array([not table.answers(score) for score in scores])
    if table.grid is None or not inside.any():
        return scores, ""
    lower = np.where(inside, table.grid.lower_edges(scores), scores)
    upper = np.where(inside, table.grid.upper_edges(table.grid.lower_edges(scores)), scores)
    low, high = (_net_benefit(scored.there(table.at_each(each)), at) for each in (lower, upper))
    return (
        lower,
        f"the scores were counted in bins, which moves a net benefit by {np.abs(low - high).max():.1g} at most",
    )


def _threshold_probabilities(given: Column) -> Array:
    """Return the thresholds in increasing order, .01 to .99 when none are given."""
    if given is None:
        return _USUAL
    listed = None if isinstance(given, str) else as_list(given)
    listed = [given] if listed is None else listed
    for value in listed or [given]:
        if not is_real(value) or not 0 <= value < 1:
            raise InputError(
                "no-threshold-probability",
                f"thresholds: {short(repr(value))} is no threshold probability; give numbers from 0 on that are below "
                "1",
            )
    return np.unique(np.array(listed, np.float64))


def _price(at: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a false alarm weighs against a found case."""
    return at / (1 - at)


def _net_benefit(tables: Confusion, at: Array) -> Array:
    return np.asarray((tables.tp - tables.fp * _price(at)) / tables.total)


# ── two models ───────────────────────────────────────────────────────────────────────────────────────────────────
def decision_difference(
    sample: Sample, first: Array, second: Array, confidence: float, *, thresholds: Column = None
) -> Curve:
    """Return how much more net benefit the first model's probabilities have than the second's, on the same rows."""
    at = _threshold_probabilities(thresholds)
    gains = np.stack([-_price(at), np.ones(len(at))])  # of acting on a negative, and on a positive
    differing = _Differing(sample, first, second, at)
    clusters = None if sample.cluster is None else Clusters.of(sample.cluster)
    y, error = _of_rows(differing, gains) if clusters is None else _of_clusters(differing, gains, clusters.groups)
    units = len(sample.truth) if clusters is None else clusters.count
    reach = error * student((1 + confidence) / 2, max(units - 1, 1))
    band = Band(at, y - reach, y + reach, confidence, "" if units > 1 else "there is a single cluster")
    none = {"no difference": np.zeros(len(at))}
    return Curve("decision", "threshold_probability", "net_benefit_difference", at, y, at, lambda: band, none)


class _Differing:
    """The rows on which the models act differently at some threshold: from which to which, and who acts (±1)."""

    def __init__(self, sample: Sample, first: Array, second: Array, at: Array) -> None:
        acts, other = (np.searchsorted(at, scores, side="right") for scores in (first, second))
        self.rows = np.flatnonzero(acts != other)
        acts, other = acts[self.rows], other[self.rows]
        self.starts, self.ends, self.sign = np.minimum(acts, other), np.maximum(acts, other), np.sign(acts - other)
        self.hits, self.size = sample.hits[self.rows].astype(np.int64), len(at)
        self.weights = np.ones(len(sample.truth)) if sample.weight is None else sample.weight
        self.weight = self.weights[self.rows]

    def sums(self, values: Array, places: Array, count: int) -> Array:
        """Add up values of rows by place, at each threshold at which the models differ on the row (count × size)."""
        width = self.size + 1
        begun, ended = (np.bincount(places * width + edge, values, count * width) for edge in (self.starts, self.ends))
        return np.cumsum((begun - ended).reshape(count, -1), axis=1)[:, :-1]


def _of_rows(differing: _Differing, gains: Array) -> tuple[Array, Array]:
    """The mean difference and its standard error when rows are independent."""
    weight, sign, whole = differing.weight, differing.sign, differing.weights.sum()
    values = (weight * sign, weight**2 * sign, weight**2)
    total, signed, squares = (differing.sums(each, differing.hits, 2) for each in values)
    mean = (gains * total).sum(0) / whole
    every = float((differing.weights**2).sum())
    spread = (gains**2 * squares).sum(0) - 2 * mean * (gains * signed).sum(0) + mean**2 * every
    return mean, _error(spread, gains * every / whole, len(differing.weights)) / whole


def _of_clusters(differing: _Differing, gains: Array, groups: Array) -> tuple[Array, Array]:
    """The same when only clusters are independent."""
    sizes = np.bincount(groups, differing.weights)
    places = groups[differing.rows] * 2 + differing.hits
    total = differing.sums(differing.weight * differing.sign, places, 2 * len(sizes))
    each = (gains * total.reshape(len(sizes), 2, -1)).sum(1)
    mean = each.sum(0) / sizes.sum()
    spread = ((each - mean * sizes[:, None]) ** 2).sum(0)
    return mean, _error(spread, gains * sizes.mean(), len(sizes)) / sizes.sum()


def _error(spread: Array, unit: Array, units: int) -> Array:
    """The standard error of a sum, with half a row (or cluster) of each class added in favour of either model.

    Models that act alike on all of these rows may differ on others.
    """
    if units < 2:
        return np.full(len(spread), np.nan)
    return np.asarray(np.sqrt((np.maximum(spread, 0) + (unit**2).sum(0)) * units / (units - 1)))
