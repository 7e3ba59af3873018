"""A fixed grid of bins for scores, so that binned tables of different data add up.

Each power of two is cut into 2¹⁵ equal bins; probabilities above ½ mirror those below, so that scores crowded near
0 or near 1 are told apart equally well. A bin contains its lower edge and is named by it: every threshold that is an
edge (½, ¼, 0.75, …) is answered exactly. Cutting bits off a float is all it takes, and engines that cannot see bits
reach the same edges by comparisons and products with powers of two.
"""

import math

import numpy as np

from stakes.tallies.arithmetic import Array

GRIDS = ("probability", "line")

_CUT = 52 - 15
_HALF = int(np.array(0.5).view(np.int64)) >> _CUT


def lower_edges(scores: Array, grid: str) -> Array:
    """Return the lower edge of each score's bin, as float64."""
    return _edges(_numbers(scores, grid), grid)


def next_edge(edge: float, grid: str) -> float:
    """Return the edge above an edge (just below 1 the bins are finer than floats, and each float has its own)."""
    above = float(_edges(_numbers(np.array([edge]), grid) + 1, grid)[0])
    return max(above, math.nextafter(edge, math.inf))


def _numbers(scores: Array, grid: str) -> Array:
    """Number the bins in the order of the scores."""
    scores = scores.astype(np.float64) + 0.0  # −0.0 becomes 0.0
    below = _bits(np.abs(scores)) >> _CUT
    if grid == "probability":
        return np.where(scores <= 0.5, below, 2 * _HALF - _rounded_up(1.0 - scores))
    return np.where(scores >= 0, below, -_rounded_up(scores))


def _edges(numbers: Array, grid: str) -> Array:
    if grid == "probability":
        mirrored = 2 * _HALF - numbers
        return np.where(numbers <= _HALF, _floats(numbers), 1.0 - _floats(np.abs(mirrored)))
    return np.copysign(_floats(np.abs(numbers)), numbers)


def _rounded_up(sizes: Array) -> Array:
    return (_bits(np.abs(sizes)) + ((1 << _CUT) - 1)) >> _CUT


def _bits(sizes: Array) -> Array:
    return sizes.view(np.int64)


def _floats(numbers: Array) -> Array:
    return (numbers.astype(np.int64) << _CUT).view(np.float64)
