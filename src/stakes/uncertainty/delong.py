"""How sure are areas under ROC curves? DeLong's method, in n·log n steps by placement values.

The placement of a positive is the share of negatives that score below it (ties count half), that of a negative the
share of positives above it. Their spread tells how far the area would move with other rows; for two models on the same
rows the spread of the *difference* does, so that what both find easy or hard cancels.

DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44; Sun & Xu (2014), IEEE Signal Processing Letters 21.
"""

import math
from dataclasses import dataclass

import numpy as np

from stakes.tallies.arithmetic import Array
from stakes.uncertainty.quantiles import normal


@dataclass(frozen=True, eq=False)
class Area:
    """An area, what each row contributes to its deviation, and the order that the scores give.

    For several classes it is a mean of areas, each class against the rest, and ``order`` has a column for each.
    """

    value: float
    influence: Array
    order: Array


def area(scores: Array, positive: Array, weight: Array | None = None) -> Area:
    """Return the area under the ROC curve of scores, by placement values."""
    found, places = np.unique(scores, return_inverse=True)
    unit = np.ones(len(scores)) if weight is None else weight
    positives = np.bincount(places, np.where(positive, unit, 0.0), len(found))
    negatives = np.bincount(places, np.where(positive, 0.0, unit), len(found))
    P, N = positives.sum(), negatives.sum()
    below = np.cumsum(negatives) - negatives / 2
    above = P - np.cumsum(positives) + positives / 2
    placement = np.where(positive, below[places] / N, above[places] / P)
    value = float((positives * below).sum() / (P * N))
    return Area(value, unit * (placement - value) / np.where(positive, P, N), places)


def mean_area(scores: Array, truth: Array, shares: Array, weight: Array | None = None) -> Area:
    """Return the mean of the areas of each class against the rest; ``shares`` say how much each class counts."""
    counted = np.flatnonzero(shares)
    areas = [(shares[c], area(scores[:, c], truth == c, weight)) for c in counted]
    return Area(
        math.fsum(share * a.value for share, a in areas),
        np.sum([share * a.influence for share, a in areas], axis=0),
        np.stack([a.order for _, a in areas], axis=-1),
    )


def variance(influence: Array, truth: Array) -> float:
    """Return the variance of a figure with these influences, the sizes of the classes being fixed.

    It is NaN when a class has a single row, whose spread nobody knows.
    """
    _, codes, sizes = np.unique(truth, return_inverse=True, return_counts=True)
    if (sizes == 1).any():
        return math.nan
    deviations = influence - (np.bincount(codes, influence) / sizes)[codes]
    return float((np.bincount(codes, deviations**2) * sizes / (sizes - 1)).sum())


def normal_interval(difference: float, error: float, confidence: float) -> tuple[float, float, float]:
    """Return the ends of the interval of a difference and the two-sided p-value; a difference of 0 ± 0 has p = 1."""
    reach = normal((1 + confidence) / 2) * error
    p_value = math.erfc(abs(difference) / error / math.sqrt(2)) if error else float(difference == 0)
    return difference - reach, difference + reach, p_value
