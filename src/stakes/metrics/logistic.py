"""Logistic regression of the truth on one number, on counts: the maximum of a concave likelihood, by Newton's steps."""

import math
import sys
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from stakes.tallies.arithmetic import Array
from stakes.tallies.parallel import run_all

_MANY = 1 << 13
"""With more numbers than this the line is first fitted to pieces of them; from there a few steps are enough."""

_PIECES = 1 << 13
_BLOCK, _SPAN = 1 << 15, 1 << 18
"""Numbers that are handled at a time, and that a thread adds up before it takes others."""

_MOST_STEPS, _LAST_STEPS = 100, 20
_LAST = 1e-7
"""After a step as short as this share of the answer the next one would be about as long as the square of it."""

_ENOUGH = 1e-12
"""A step that gains less than this share of the log likelihood is the last one."""


def line(x: Array, positives: Array, negatives: Array) -> Array:
    """Return intercept and slope of the log odds on x, which is sorted; x must vary, and the classes must overlap.

    Counts may be weights or parts of rows. The numbers are centred and scaled first, so that steps stay well behaved.
    """
    total = positives + negatives
    middle = float(np.average(x, weights=total))
    spread = max(float(x[-1]) - middle, middle - float(x[0]))
    scaled = (x - middle) / spread
    if len(x) > _MANY:
        intercept, slope = line(*_in_pieces(x, positives, negatives))
        at = _approach(scaled, positives, total, np.array([intercept + slope * middle, slope * spread]))
    else:
        at = _fit(np.stack([np.ones(len(x)), scaled]), positives, negatives)
    return np.array([at[0] - at[1] * middle / spread, at[1] / spread])


def _approach(x: Array, positives: Array, total: Array, at: Array) -> Array:
    """Refine coefficients that are nearly right: each of Newton's steps doubles the digits."""
    for _ in range(_LAST_STEPS):
        surprise, slanted, *bends = pulls(x, positives, total, at[0], at[1])
        step = np.linalg.solve(_matrix(bends), [surprise, slanted])
        at = at + step
        if np.abs(step).max() <= _LAST * max(np.abs(at).max(), 1e-3):
            break
    return at


def pulls(x: Array, positives: Array, total: Array, intercept: float, slope: float) -> Array:
    """The gradient in intercept and slope, and the entries of the information: Σr, Σrx, Σv, Σvx, Σvx²."""

    def of_span(start: int) -> Array:
        found = np.zeros(5)
        for first in range(start, min(start + _SPAN, len(x)), _BLOCK):
            here = slice(first, first + _BLOCK)
            each, rows = x[here], total[here]
            p = probability(intercept + slope * each)
            surprise = positives[here] - rows * p
            bend = p * (1 - p) * rows
            slanted = bend * each
            parts = surprise, surprise * each, bend, slanted, slanted * each
            found += [np.add.reduce(part) for part in parts]
        return found

    return np.asarray(np.sum(run_all([partial(of_span, start) for start in range(0, len(x), _SPAN)], len(x)), axis=0))


def _matrix(bends: Sequence[float]) -> Array:
    even, first, second = bends
    return np.array([[even, first], [first, second]])


def information_of_line(x: Array, positives: Array, total: Array, at: Array) -> Array:
    """Return the observed information of an intercept and a slope, or of an intercept beside the slope 1."""
    _, _, *bends = pulls(x, positives, total, at[0], at[1] if len(at) == 2 else 1.0)
    return _matrix(bends)[: len(at), : len(at)]


def _in_pieces(x: Array, positives: Array, negatives: Array) -> tuple[Array, Array, Array]:
    """Merged neighbours: their means, and their counts."""
    cuts = np.arange(_PIECES) * len(x) // _PIECES
    total, *counts = (np.add.reduceat(column, cuts) for column in (positives + negatives, positives, negatives))
    return np.add.reduceat(x * (positives + negatives), cuts) / total, counts[0], counts[1]


def shift(x: Array, positives: Array, negatives: Array) -> float:
    """Return the number that is to be added to the log odds x, which rise; both classes must have rows.

    Newton's steps; one that would leave the bracket goes to its middle instead.
    """
    total = positives + negatives
    wanted = float(np.log(positives.sum() / negatives.sum()))
    low, high = wanted - float(x.max()) - 1, wanted - float(x.min()) + 1  # a little wider, for rounding at the ends
    added = shift(*_in_pieces(x, positives, negatives)) if len(x) > _MANY else (low + high) / 2
    for _ in range(_MOST_STEPS):
        surprise, _, bend, *_ = pulls(x, positives, total, added, 1.0)
        low, high = (added, high) if surprise > 0 else (low, added)
        step = float(surprise / bend) if bend > 0 else math.inf
        if not low <= added + step <= high:
            step = (low + high) / 2 - added
        added += step
        if abs(step) <= _LAST * max(abs(added), 1e-3):
            break
    return added


def information(columns: Array, logits: Array, total: Array) -> Array:
    """Return the observed information of the coefficients of these columns."""
    p = probability(logits)
    return np.asarray((columns * (total * p * (1 - p))) @ columns.T)


def logit(p: Array, least: float) -> Array:
    """Turn probabilities into log odds; one nearer to 0 or 1 than ``least`` is read as that far from it."""
    with np.errstate(divide="ignore"):
        found = np.log(p)
        found -= np.log1p(-p)
    return within_reach(found, least)


def within_reach(logits: Array, least: float) -> Array:
    """Read log odds beyond those of ``least`` and 1 − ``least`` as these; the array itself is changed."""
    most = math.log1p(-least) - math.log(least)  # of 1 − least there may be no float
    return np.asarray(np.clip(logits, -most, most, out=logits))


def nearest_inside(probabilities: Array) -> float:
    """Half the distance of the nearest probability that is not exactly 0 or 1; half a row's share if all are."""
    room = np.minimum(probabilities, 1 - probabilities)
    nearest = float(room.min(initial=1.0))
    if nearest == 0.0:
        nearest = float(room.min(initial=1.0, where=room > 0))
    half = nearest / 2 if nearest < 1.0 else 1 / (2 * probabilities.size + 2)
    return max(half, sys.float_info.min)


def probability(logits: Array) -> Array:
    """Turn log odds into probabilities."""
    from scipy.special import expit

    return np.asarray(expit(logits))


def _fit(columns: Array, positives: Array, negatives: Array) -> Array:
    """The coefficients of these columns of greatest likelihood."""
    total = positives + negatives

    def height(at: Array) -> float:
        logits = at @ columns
        return -float(positives @ np.logaddexp(0, -logits) + negatives @ np.logaddexp(0, logits))

    def slopes(at: Array) -> tuple[Array, Array]:
        logits = at @ columns
        return columns @ (positives - total * probability(logits)), information(columns, logits, total)

    return climb(np.zeros(len(columns)), height, slopes)


def climb(
    at: Array,
    height: Callable[[Array], float],
    slopes: Callable[[Array], tuple[Array, Array]],
    solve: Callable[[Array, Array], Array] = np.linalg.solve,
) -> Array:
    """Climb to the coefficients of greatest likelihood; a step that overshoots is halved.

    ``height`` is the logarithm of the likelihood, ``slopes`` are its first derivatives and minus its second ones, from
    which ``solve`` finds a step.
    """
    reached = height(at)
    for _ in range(_MOST_STEPS):
        gradient, curvature = slopes(at)
        step = solve(curvature, gradient)
        if gradient @ step <= _ENOUGH * abs(reached):
            return np.asarray(at + step)
        while (higher := height(at + step)) < reached:
            step = step / 2
        at, reached = at + step, higher
    return at
