"""Limits for a share: x of n rows."""

import numpy as np

from stakes.tallies.arithmetic import Number
from stakes.uncertainty.quantiles import normal


def wilson(share: Number, n: Number, confidence: float) -> tuple[Number, Number]:
    """Return the limits that a score test does not reject; inside [0, 1] and of use for few rows (Wilson, 1927).

    Takes numbers, or arrays of them.
    """
    z2 = normal((1 + confidence) / 2) ** 2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return np.where(share == 0, 0.0, middle - half)[()], np.where(share == 1, 1.0, middle + half)[()]


def clopper_pearson(share: float, n: float, confidence: float) -> tuple[float, float]:
    """Return limits that cover at least as often as stated, whatever the share (Clopper & Pearson, 1934)."""
    from scipy.special import betaincinv

    tail, hits = (1 - confidence) / 2, share * n
    low = 0.0 if share == 0 else float(betaincinv(hits, n - hits + 1, tail))
    high = 1.0 if share == 1 else float(betaincinv(hits + 1, n - hits, 1 - tail))
    return low, high


METHODS = {"wilson": wilson, "clopper-pearson": clopper_pearson}
