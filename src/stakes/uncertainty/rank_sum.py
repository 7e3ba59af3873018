"""Could an auc be chance? The p-value of the rank sum, as Wilcoxon, Mann and Whitney have it."""

import math

import numpy as np

from stakes.metrics.folds import Fold, fold_all, total
from stakes.tallies import ScoreTable, Steps
from stakes.tallies.arithmetic import Number


def _tied(steps: Steps) -> Number:
    """Σ t³ − t over groups of t rows with the same score."""
    rows = np.asarray(steps.rows, np.float64)
    return total(rows**3 - rows)


def rank_sum_p_value(table: ScoreTable, auc: float) -> float | None:
    """Return how often shuffled labels would give an auc at least this far from ½ (normal, ties counted).

    None for weighted rows, whose ranks have no such law.
    """
    if table.weighted or not table.P or not table.N:
        return None
    P, N = float(table.P), float(table.N)
    rows = P + N
    (ties,) = fold_all([(Fold(_tied, lambda whole, _: whole), {})], table)
    variance = (rows + 1 - float(ties) / (rows * (rows - 1))) / (12 * P * N)
    if variance <= 0:  # every score is the same
        return 1.0
    return math.erfc(abs(auc - 0.5) / math.sqrt(2 * variance))
