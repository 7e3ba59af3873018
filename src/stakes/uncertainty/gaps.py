"""The largest gap between the figures of several groups.

The largest of many noisy gaps is large even where the groups are equal in truth. So its interval holds for all pairs of
groups at once (Tukey's range): where all groups are equal it leaves 0 out in 5 % of the files at most. The gap itself
is taken between figures that were drawn together by as much as noise alone had spread them (Louis, 1984, JASA 79).
"""

import math
from dataclasses import dataclass

import numpy as np

from stakes.tallies.arithmetic import Array
from stakes.uncertainty.two_samples import Differences, Side, agree, fisher, mover

_NODES = np.linspace(-9, 9, 2001)


@dataclass(frozen=True)
class LargestGap:
    """The gap as it was ``seen`` and without what noise adds, its limits, and the groups it is seen between."""

    seen: float
    value: float
    low: float
    high: float
    highest: int
    lowest: int


ONE_ERROR = math.erf(math.sqrt(0.5))
"""The confidence at which an interval reaches one standard error to either side."""


def confidence_of_pairs(groups: int, confidence: float) -> float:
    """Return the confidence of each pair at which the intervals of all pairs of so many groups hold at once.

    Tukey's range of independent standard normals; careful where groups differ in size (Hayter, 1984, Annals of
    Statistics 12).
    """
    from scipy.optimize import brentq
    from scipy.special import ndtr

    if groups < 3:
        return confidence
    density = np.exp(-(_NODES**2) / 2) * (_NODES[1] - _NODES[0]) / math.sqrt(2 * math.pi)

    def surplus(width: float) -> float:
        between = (ndtr(_NODES) - ndtr(_NODES - width)) ** (groups - 1)
        return float(groups * density @ between) - confidence

    width = brentq(surplus, 1e-6, 60)
    return float(1 - 2 * ndtr(-width / math.sqrt(2)))


def largest_gap(
    groups: Side, errors: Array, confidence: float, shares: bool, correlations: Array | None = None
) -> LargestGap:
    """Return the largest gap of two groups or more; ``groups`` have intervals at the ``confidence`` of each pair.

    ``errors`` are the standard errors of the groups; their figures have ``correlations`` where rows of a cluster lie in
    several groups. ``shares`` of unweighted rows also have to pass Fisher's exact test, as segments beside the rest
    have to.
    """
    alike = np.eye(len(errors)) if correlations is None else correlations
    order = np.argsort(-groups.value, kind="stable")
    i, j = (order[places] for places in np.triu_indices(len(order), 1))
    pairs = _pairs(groups, i, j, confidence, shares, alike[i, j])
    low, high = max(float(pairs.low.max()), 0.0), float(pairs.high.max())
    seen = float(np.ptp(groups.value))
    corrected = min(max(_without_noise(groups.value, alike * np.outer(errors, errors)), low), seen)
    return LargestGap(seen, corrected, low, high, int(order[0]), int(order[-1]))


def _pairs(groups: Side, i: Array, j: Array, confidence: float, shares: bool, alike: Array) -> Differences:
    """The higher minus the lower group of each pair."""
    one, other = (Side(*(getattr(groups, name)[k] for name in ("value", "low", "high", "rows"))) for k in (i, j))
    found = mover(one, other, confidence, alike)
    if not shares:
        return found
    p_value = found.p_value.copy()
    apart = np.flatnonzero(found.low > 0)  # an exact test can only take these back
    hits = [np.rint(side.value * side.rows)[apart] for side in (one, other)]
    p_value[apart] = fisher(hits[0], one.rows[apart], hits[1], other.rows[apart])
    return agree(found, p_value, confidence)


def _without_noise(values: Array, covariances: Array) -> float:
    """The gap of figures that spread as much as the truth does: by the spread that is seen less that of noise.

    What moves all figures together spreads none of them.
    """
    together = float(covariances[np.triu_indices(len(values), 1)].mean())
    variances = np.maximum(np.diag(covariances) - together, 0.0)
    spread = max(float(np.var(values, ddof=1)) - float(variances.mean()), 0.0)
    if not spread:
        return 0.0
    kept = np.sqrt(spread / (spread + variances))
    return float(np.ptp(kept * (values - values.mean())))
