"""How sure a mean over folds is: folds share training rows, so their spread understates how other fits would vary.

Nadeau and Bengio (2003, Machine Learning 52) add the share of judged to fitted rows to the variance of the mean;
Bouckaert and Frank (2004, PAKDD) found that tests over repeated folds then hold their level.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stakes.uncertainty.influence import t_limits
from stakes.uncertainty.interval import Interval, none

METHOD = "Nadeau & Bengio's corrected t over {folds:,} folds"


@dataclass(frozen=True)
class FoldMean:
    """The mean of a figure, or of a difference, over those folds on which it is defined."""

    value: float
    limits: Interval
    p_value: float | None = None


def mean_over_folds(
    values: Sequence[float], judged_to_fitted: float, confidence: float, span: tuple[float, float]
) -> FoldMean:
    """Return the mean over folds with its limits, and the p-value of its being 0.

    ``judged_to_fitted`` is how many rows a fold is judged on, for each that it is fitted on; ``span`` are the ends
    between which the figure lies.
    """
    known = np.array([value for value in values if not math.isnan(value)])
    if not len(known):
        return FoldMean(math.nan, none("it is undefined on every fold"))
    mean, folds = float(known.mean()), len(known)
    if folds < 2 or not np.isfinite(known).all():
        return FoldMean(mean, none("there is a single fold" if folds < 2 else "it is infinite on some fold"))
    if not known.any():
        return FoldMean(0.0, Interval(0.0, 0.0, METHOD.format(folds=folds)), 1.0)
    error = math.sqrt((1 / folds + judged_to_fitted) * float(known.var(ddof=1)))
    if error <= 1e-14 * abs(mean):
        return FoldMean(mean, none("it is the same on every fold"))
    low, high, p_value = t_limits(mean, error, folds - 1, math.inf, confidence)
    limits = float(max(low, span[0])), float(min(high, span[1]))
    return FoldMean(mean, Interval(*limits, METHOD.format(folds=folds)), p_value)
