"""The upper hull of a ROC curve: the thresholds that are best for some costs and some prevalence.

Its edges are the blocks of the rising curve (``calibration/isotonic.py``); that one is quicker and rounds, this one
compares whole numbers exactly, as thresholds have to be.
"""

import numpy as np

from stakes.tallies.arithmetic import Array, exact
from stakes.tallies.steps import EXACT_PRODUCTS

_WORTHWHILE = 1 / 8
"""Rounds over all points go on while each drops at least this share of them."""


def roc_hull(tp: Array, fp: Array) -> Array:
    """Return the places of the corners, from (0, 0) to (P, N); points on a straight edge are no corners.

    ``tp`` and ``fp`` never fall from one threshold to the next. Whole numbers are compared without rounding.
    """
    if tp.dtype.kind in "iu" and int(tp[-1]) + int(fp[-1]) >= EXACT_PRODUCTS:
        tp, fp = exact(tp), exact(fp)
    left = np.arange(len(tp))
    while len(left) > 2:
        up, along = np.diff(tp[left]), np.diff(fp[left])
        # an inner point that does not lie above the line between its neighbours is no corner
        inner = np.asarray(up[:-1] * along[1:] > up[1:] * along[:-1], bool)
        left, before = left[np.concatenate([[True], inner, [True]])], len(left)
        if len(left) == before:
            break
        if before - len(left) < _WORTHWHILE * before:  # long arcs lose one point a round: a single walk is faster
            left = left[_walk(tp[left].tolist(), fp[left].tolist())]
            break
    return left


def _walk(tp: list[int], fp: list[int]) -> list[int]:
    """Walk along the points once, going back over those that a later one shows to be no corners."""
    corners: list[int] = []
    for c in range(len(tp)):
        while len(corners) > 1:
            a, b = corners[-2:]
            if (tp[b] - tp[a]) * (fp[c] - fp[b]) > (tp[c] - tp[b]) * (fp[b] - fp[a]):
                break
            corners.pop()
        corners.append(c)
    return corners
