"""Logistic regression of the truth on one number, on counts: the maximum of a concave likelihood, by Newton's steps."""

import math

import numpy as np

from stakes.tallies.arithmetic import Array

_MOST_STEPS = 100
_ENOUGH = 1e-12
"""A step that promises less likelihood than this share of it is the last one."""


def line(x: Array, positives: Array, negatives: Array) -> Array:
    """Return intercept and slope of the log odds on x; the classes must overlap along x, which must vary.

    Counts may be weights or parts of rows. The numbers are centred and scaled first, so that steps stay well behaved.
    """
    total = positives + negatives
    middle = float(np.average(x, weights=total))
    spread = float(np.abs(x - middle).max())
    columns = np.stack([np.ones(len(x)), (x - middle) / spread])
    intercept, slope = _maximise(columns, positives, negatives)
    return np.array([intercept - slope * middle / spread, slope / spread])


def shift(x: Array, positives: Array, negatives: Array) -> float:
    """Return the number that is to be added to the log odds x; both classes must have rows."""
    from scipy.optimize import brentq

    total, found = positives + negatives, float(positives.sum())
    wanted = float(np.log(found / negatives.sum()))
    low, high = wanted - float(x.max()), wanted - float(x.min())
    if low == high:
        return low

    def surplus(added: float) -> float:
        return float(total @ probability(x + added)) - found

    return float(brentq(surplus, low - 1, high + 1, xtol=1e-13))  # a little wider, for rounding at the ends


def information(columns: Array, logits: Array, total: Array) -> Array:
    """Return the observed information of the coefficients of these columns."""
    p = probability(logits)
    return np.asarray((columns * (total * p * (1 - p))) @ columns.T)


def logit(p: Array, least: float) -> Array:
    """Turn probabilities into log odds; one nearer to 0 or 1 than ``least`` is read as that far from it."""
    with np.errstate(divide="ignore"):
        found = np.log(p) - np.log1p(-p)
    most = math.log1p(-least) - math.log(least)  # of 1 − least there may be no float
    return np.asarray(np.clip(found, -most, most))


def probability(logits: Array) -> Array:
    """Turn log odds into probabilities."""
    from scipy.special import expit

    return np.asarray(expit(logits))


def _maximise(columns: Array, positives: Array, negatives: Array) -> Array:
    """Climb to the coefficients of greatest likelihood; a step that overshoots is halved."""
    total = positives + negatives
    at = np.zeros(len(columns))
    height = _likelihood(at @ columns, positives, negatives)
    for _ in range(_MOST_STEPS):
        logits = at @ columns
        gradient = columns @ (positives - total * probability(logits))
        step = np.linalg.solve(information(columns, logits, total), gradient)
        if gradient @ step <= _ENOUGH * abs(height):
            return at + step
        while (higher := _likelihood(logits + step @ columns, positives, negatives)) < height:
            step = step / 2
        at, height = at + step, higher
    return at


def _likelihood(logits: Array, positives: Array, negatives: Array) -> float:
    return -float(positives @ np.logaddexp(0, -logits) + negatives @ np.logaddexp(0, logits))
