"""Reject curves: how much better are the decisions that remain when the most doubtful cases are left to somebody else?

Cases are rejected in the order of doubt, those with the same doubt together. Rejecting at random would leave the share
of errors, or the mean cost, as it is.
"""

from typing import Any

import numpy as np

from stakes import errors
from stakes.decisions.curves.curve import Band, ClassScored, Curve, Scored, bootstrap_band
from stakes.decisions.curves.uncertain_decisions import Cases, cases_of_many, cases_of_two
from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.scores import growing
from stakes.uncertainty.sampling import Sampling

_BITS = 40
"""Doubts that agree in so many bits are the same."""


def reject_curve(scored: Scored | ClassScored, *, costs: Any = None, threshold: Any = None) -> Curve:
    """Return the share of wrong decisions (with costs, the mean cost) among the kept against the share rejected.

    ``thresholds`` are the largest doubts that are kept; ``area`` is the mean height, each point holding until the next.
    """
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
    weights, losses = (np.bincount(places, column, size) for column in (cases.weight, cases.weight * cases.losses))
    kept, lost = (np.cumsum(column[::-1])[::-1] for column in (weights, losses))
    x, y = (kept[0] - kept) / kept[0], lost / kept
    return Curve(
        "reject",
        "share_rejected",
        "error_rate" if costs is None else "mean_cost",
        x,
        y,
        doubts,
        lambda: _band(cases, size - 1 - places, x, y, scored.sampling),
        {"at random": np.full(size, y[0])},
        area=float(weights @ y / kept[0]),
        note=cases.note,
    )


def _alike(doubt: Array) -> Array:
    """Round off the last bits, so that 0.3 and 1 − 0.7 are the same doubt."""
    parts, powers = np.frexp(doubt)
    found: Array = np.ldexp(np.rint(np.ldexp(parts, _BITS)), powers - _BITS)
    return found


def _band(cases: Cases, ranks: Array, x: Array, y: Array, sampling: Sampling) -> Band:
    """The limits of y at some of the points, from resampled cases; ``ranks`` are 0 for those of the least doubt."""
    cuts = growing(len(x))  # how many of the doubts are kept: all numbers where they are few
    places = (len(x) - cuts)[::-1]

    def heights() -> list[Array]:
        pieces = np.searchsorted(cuts, ranks, side="right")
        kept, lost = (_bootstrap_rows if cases.groups is None else _bootstrap_clusters)(
            cases, pieces, len(cuts), sampling
        )
        rejected = 1 - kept / kept[:, -1:]
        lines = zip(rejected[:, ::-1], (lost / kept)[:, ::-1], strict=True)
        return [np.interp(x[places], share, height) for share, height in lines]

    return bootstrap_band(x[places], heights, sampling, y[places])


def _bootstrap_rows(cases: Cases, pieces: Array, size: int, sampling: Sampling) -> tuple[Array, Array]:
    """What is kept and what that costs in drawn samples (draws × cuts): cases of the same cost are drawn together."""
    from stakes.uncertainty.redraws import gamma_like, replicates_of  # only bands need it

    K, M = cases.prices.shape
    labels = np.stack([np.repeat(np.arange(K), M) * sampling.fixed, cases.prices.ravel()])
    kinds, kind_of = np.unique(labels, axis=1, return_inverse=True)
    cells = kind_of.ravel()[cases.truth * M + cases.decided] * size + pieces

    def sums(column: Array) -> Array:
        return np.bincount(cells, column, kinds.shape[1] * size).reshape(-1, size).astype(np.float64)

    squares = None if cases.squares is None else sums(cases.squares)
    drawn = gamma_like(sums(cases.weight), squares, 0.0, replicates_of(kinds.shape[1] * size), sampling)
    classes = (kinds[0, :, None] == np.arange(K)).astype(np.float64)
    kept, lost = (np.einsum("rcs,ck->rks", drawn, each) for each in (classes, classes * kinds[1][:, None]))
    unit = 1.0 if cases.squares is None else float(cases.squares.sum() / cases.weight.sum())
    return _cumulate(cases, kept, lost, unit, sampling)


def _bootstrap_clusters(cases: Cases, pieces: Array, size: int, sampling: Sampling) -> tuple[Array, Array]:
    """The same when whole clusters are drawn."""
    from stakes.uncertainty.redraws import cluster_weights  # only bands need it

    clusters: Any = sampling.clusters
    K = len(cases.prices)
    cells = (np.asarray(cases.groups) * K + cases.truth) * size + pieces
    weights = cluster_weights(sampling)
    columns = (cases.weight, cases.weight * cases.losses)
    sums = (np.bincount(cells, column, clusters.size * K * size).reshape(-1, K, size) for column in columns)
    kept, lost = (np.tensordot(weights, each, 1) for each in sums)
    return _cumulate(cases, kept, lost, float(cases.weight.sum()) / clusters.size, sampling)


def _cumulate(cases: Cases, kept: Array, lost: Array, unit: float, sampling: Sampling) -> tuple[Array, Array]:
    """Add up from the least doubt on (draws × class × piece).

    Half a unit at the highest and half at the lowest price joins the surest: where these rows have no errors, others
    may.
    """
    if sampling.fixed:
        wanted = np.bincount(cases.truth, cases.weight, kept.shape[1])
        found = kept.sum(-1)
        factors = divide(wanted, found, 1.0)[..., None]
        kept, lost = kept * factors, lost * factors
    low, high = np.random.default_rng(sampling.seed + 1).standard_gamma(0.5, (2, len(kept), 1)) * unit
    prices = cases.prices.min(), cases.prices.max()
    kept, lost = (np.cumsum(column.sum(1), axis=-1) for column in (kept, lost))
    return kept + low + high, lost + low * prices[0] + high * prices[1]
