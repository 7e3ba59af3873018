"""Reject curves: how much better are the decisions that remain when the most doubtful cases are left to somebody else?

Cases are rejected in the order of doubt, those with the same doubt together. Rejecting at random would leave the share
of errors, or the mean cost, as it is.
"""

from functools import partial

import numpy as np

from stakes import errors
from stakes.decisions.curves.curve import Band, ClassScored, Curve, Scored, bootstrap_band
from stakes.decisions.curves.uncertain_decisions import Cases, cases_of_many, cases_of_two
from stakes.question.options import Value
from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.clusters import Clusters
from stakes.tallies.costs import Costs
from stakes.tallies.scores import growing
from stakes.uncertainty.sampling import Sampling

_BITS = 40
"""Doubts that agree in so many bits are the same."""


def reject_curve(scored: Scored | ClassScored, *, costs: Value = None, threshold: Value = None) -> Curve:
    """Return the share of wrong decisions (with costs, the mean cost) among the kept against the share rejected.

    ``thresholds`` are the largest doubts that are kept; ``area`` is the mean height, each point holding until the next.
    """
    if costs is not None and not isinstance(costs, Costs):
        raise errors.not_costs(costs)
    if isinstance(scored, Scored):
        cases = cases_of_two(scored, costs, threshold)
    elif threshold is not None:
        raise errors.threshold_of_many()
    else:
        cases = cases_of_many(scored, costs)
    negated, places = np.unique(-_alike(cases.doubt), return_inverse=True)
    size = len(negated)
    doubts = np.full(size, -np.inf)
    np.maximum.at(doubts, places, cases.doubt)
    weight = cases.rows.weight
    weights, losses = (np.bincount(places, column, size) for column in (weight, weight * cases.losses))
    kept, lost = (np.cumsum(column[::-1])[::-1] for column in (weights, losses))
    x, y = (kept[0] - kept) / kept[0], lost / kept
    height, random = "error_rate" if costs is None else "mean_cost", {"at random": np.full(size, y[0])}
    band, area = partial(_band, cases, size - 1 - places, x, y, scored.sampling), float(weights @ y / kept[0])
    return Curve("reject", "share_rejected", height, x, y, doubts, band, random, area, cases.note)


def _alike(doubt: Array) -> Array:
    """Round off the last bits, so that 0.3 and 1 − 0.7 are the same doubt."""
    parts, powers = np.frexp(doubt)
    return np.asarray(np.ldexp(np.rint(np.ldexp(parts, _BITS)), powers - _BITS))


def _band(cases: Cases, ranks: Array, x: Array, y: Array, sampling: Sampling) -> Band:
    """The limits of y at some of the points, from resampled cases; ``ranks`` are 0 for those of the least doubt."""
    cuts = growing(len(x))  # how many of the doubts are kept: all numbers where they are few
    places = (len(x) - cuts)[::-1]

    def heights() -> list[Array]:
        pieces = np.searchsorted(cuts, ranks, side="right")
        bootstrap = _bootstrap_rows if sampling.clusters is None else partial(_bootstrap_clusters, sampling.clusters)
        kept, lost = bootstrap(cases, pieces, len(cuts), sampling)
        rejected = 1 - kept / kept[:, -1:]
        lines = zip(rejected[:, ::-1], (lost / kept)[:, ::-1], strict=True)
        return [np.interp(x[places], share, height) for share, height in lines]

    return bootstrap_band(x[places], heights, sampling, y[places])


def _bootstrap_rows(cases: Cases, pieces: Array, size: int, sampling: Sampling) -> tuple[Array, Array]:
    """What is kept and what that costs in drawn samples (draws × cuts): cases of the same cost are drawn together."""
    from stakes.uncertainty.cells import gamma_like  # only bands need it
    from stakes.uncertainty.score_tables import replicates_of

    (K, M), rows = cases.prices.shape, cases.rows
    labels = np.stack([np.repeat(np.arange(K), M) * sampling.fixed, cases.prices.ravel()])
    kinds, kind_of = np.unique(labels, axis=1, return_inverse=True)
    cells = kind_of.ravel()[rows.truth * M + cases.decided] * size + pieces

    def sums(column: Array) -> Array:
        return np.bincount(cells, column, kinds.shape[1] * size).reshape(-1, size).astype(np.float64)

    squares = None if rows.squares is None else sums(rows.squares)
    drawn = gamma_like(sums(rows.weight), squares, 0.0, replicates_of(kinds.shape[1] * size), sampling)
    classes = (kinds[0, :, None] == np.arange(K)).astype(np.float64)
    kept, lost = (np.einsum("rcs,ck->rks", drawn, each) for each in (classes, classes * kinds[1][:, None]))
    unit = 1.0 if rows.squares is None else float(rows.squares.sum() / rows.weight.sum())
    return _cumulate(cases, kept, lost, unit, sampling)


def _bootstrap_clusters(
    clusters: Clusters, cases: Cases, pieces: Array, size: int, sampling: Sampling
) -> tuple[Array, Array]:
    """The same when whole clusters are drawn."""
    from stakes.uncertainty.clusters import drawn_weights  # only bands need it

    K, weight = len(cases.prices), cases.rows.weight
    cells = (clusters.groups * K + cases.rows.truth) * size + pieces
    weights = drawn_weights(sampling)
    columns = (weight, weight * cases.losses)
    sums = (np.bincount(cells, column, clusters.size * K * size).reshape(-1, K, size) for column in columns)
    kept, lost = (np.tensordot(weights, each, 1) for each in sums)
    return _cumulate(cases, kept, lost, float(weight.sum()) / clusters.size, sampling)


def _cumulate(cases: Cases, kept: Array, lost: Array, unit: float, sampling: Sampling) -> tuple[Array, Array]:
    """Add up from the least doubt on (draws × class × piece).

    Half a unit at the highest and half at the lowest price joins the surest: where these rows have no errors, others
    may.
    """
    if sampling.fixed:
        wanted = np.bincount(cases.rows.truth, cases.rows.weight, kept.shape[1])
        factors = divide(wanted, kept.sum(-1), 1.0)[..., None]
        kept, lost = kept * factors, lost * factors
    low, high = np.random.default_rng(sampling.seed + 1).standard_gamma(0.5, (2, len(kept), 1)) * unit
    prices = cases.prices.min(), cases.prices.max()
    kept, lost = (np.cumsum(column.sum(1), axis=-1) for column in (kept, lost))
    return kept + low + high, lost + low * prices[0] + high * prices[1]
