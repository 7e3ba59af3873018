"""Intervals of the area under the ROC curve, and the p-value of the rank sum."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from stakes.metrics import Metric, auc_bounds
from stakes.metrics.folds import Fold, fold_all, total
from stakes.tallies import ScoreTable, Steps
from stakes.tallies.arithmetic import Number
from stakes.tallies.columns import Columns
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.quantiles import LOGIT, normal, on_scale

FEW = 30
"""With fewer rows in a class DeLong's interval covers too rarely."""

METHODS = ("delong", "newcombe")

ALL_TIED = "every row has the same score, so nothing varies"
"""Why a constant score has no interval."""


def auc_interval(table: ScoreTable, value: float, confidence: float, method: str | None = None) -> Interval:
    """Return DeLong's interval on the logit scale, or Newcombe's where a class is small or the order perfect.

    Where bins were put together it is wider, by as much as the auc of the scores may lie to either side.
    """
    found = area_interval(value, table.effective_rows, lambda: delong_error(table, value), confidence, method)
    if not table.merged or found.low is None or found.high is None:
        return found
    lost, won = (float(bound) for bound in auc_bounds(table))
    low, high = max(found.low - (value - lost), 0.0), min(found.high + (won - value), 1.0)
    return Interval(low, high, f"{found.method}, wider by what the bins leave open")


def area_interval(
    value: float, rows: tuple[float, float], error_of: Callable[[], float], confidence: float, method: str | None = None
) -> Interval:
    """Return the interval of an area between classes of so many rows; its standard error is only asked if needed."""
    P, N = rows
    if min(P, N) < 2:
        return none("a class has a single row")
    few = min(P, N) < FEW or not 0 < value < 1
    if method == "newcombe" or (method is None and few):
        return Interval(*newcombe(value, P, N, confidence), "Newcombe's method 5")
    error = error_of()
    if not 0 < value < 1:
        return none("the order is perfect, so nothing varies")
    if error == 0:
        return none(ALL_TIED)
    return Interval(*on_scale(LOGIT, value, error, normal((1 + confidence) / 2)), "DeLong, on the logit scale")


def stretch(metric: Metric, area: float) -> float:
    """The figure of an area: itself, or gini, which is 2·auc − 1."""
    return area if metric.range[0] == 0 else 2 * area - 1


def stretch_interval(metric: Metric, found: Interval) -> Interval:
    """The interval of the figure, which is that of the area, stretched."""
    if found.low is None or found.high is None:
        return found
    return replace(found, low=stretch(metric, found.low), high=stretch(metric, found.high))


# ── DeLong ───────────────────────────────────────────────────────────────────────────────────────────────────────
def _of_positives(steps: Steps) -> Number:
    """The squared shares of negatives that positives outrank, times 4·N²."""
    return total(steps.positives * np.square((2.0 * steps.tn + steps.negatives).astype(np.float64)))


def _of_negatives(steps: Steps) -> Number:
    """The squared shares of positives that outrank negatives, times 4·P²."""
    return total(steps.negatives * np.square((2.0 * steps.tp - steps.positives).astype(np.float64)))


def delong_error(table: ScoreTable, auc: float) -> float:
    """Return the standard error of the auc by DeLong, DeLong and Clarke-Pearson (1988)."""
    if table.weighted:
        return _weighted_error(table, auc)
    P, N = float(table.P), float(table.N)
    mine, theirs = fold_all(
        [(Fold(each, lambda whole, _: whole), {}) for each in (_of_positives, _of_negatives)], table
    )
    return placement_error(auc, P, N, mine / 4, theirs / 4)


def placement_error(auc: float, P: float, N: float, of_positives: float, of_negatives: float) -> float:
    """Return the standard error of an auc from sums of squares: what positives outrank, what outranks negatives"""
    between_positives = (of_positives / N**2 - P * auc**2) / (P - 1)
    between_negatives = (of_negatives / P**2 - N * auc**2) / (N - 1)
    return math.sqrt(max(between_positives / P + between_negatives / N, 0.0))


def _weighted_error(table: ScoreTable, auc: float) -> float:
    """The same with weights: each row's distance from the mean counts with its squared weight."""
    assert isinstance(table.store, Columns)
    (steps,), values = table.steps(), table.store.values
    outranked = (steps.tn + steps.negatives / 2) / steps.N
    outranking = (steps.tp - steps.positives / 2) / steps.P
    positives = (values["positives_squared"] * (outranked - auc) ** 2).sum() / float(steps.P) ** 2
    negatives = (values["negatives_squared"] * (outranking - auc) ** 2).sum() / float(steps.N) ** 2
    P, N = table.effective_rows
    return math.sqrt(positives * P / (P - 1) + negatives * N / (N - 1))


# ── Newcombe ─────────────────────────────────────────────────────────────────────────────────────────────────────
def newcombe(auc: float, P: float, N: float, confidence: float) -> tuple[float, float]:
    """Return the limits of Newcombe (2006), method 5: those areas from which the observed one is z errors away.

    The error is Hanley and McNeil's for exponential scores, with both class sizes replaced by their mean.
    """
    from scipy.optimize import brentq

    z, size = normal((1 + confidence) / 2), (P + N) / 2 - 1

    def error(area: float) -> float:
        spread = 1 + size * ((1 - area) / (2 - area) + area / (1 + area))
        return math.sqrt(area * (1 - area) * spread / (P * N))

    tiny = 1e-12  # areas of 0 and 1 have no error, so they are roots that tell nothing
    low = 0.0 if auc == 0 else brentq(lambda area: auc - area - z * error(area), 0.0, min(auc, 1 - tiny), xtol=1e-15)
    high = 1.0 if auc == 1 else brentq(lambda area: auc - area + z * error(area), max(auc, tiny), 1.0, xtol=1e-15)
    return float(low), float(high)


# ── could it be chance? ──────────────────────────────────────────────────────────────────────────────────────────
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
