"""A fixed grid of bins for scores, so that binned tables of different data add up.

Each power of two is cut into 2¹⁵ equal bins; probabilities above ½ mirror those below, so that scores crowded near
0 or near 1 are separated equally well. A bin contains its lower edge and is named by it: every threshold that is an
edge (½, ¼, 0.75, …) is answered exactly. Cutting bits off a float is all it takes, and engines that cannot see bits
reach the same edges by comparisons, sums and products that round alike everywhere.
"""

import math
from typing import Any

import numpy as np

from stakes.tallies.arithmetic import Array

GRIDS = ("probability", "line")

FINE = 15
"""Powers of two are cut into 2¹⁵ bins for scores; pictures take fewer."""

_HALF = int(np.array(0.5).view(np.int64))


def next_edge(edge: float, grid: str, bits: int = FINE) -> float:
    """Return the edge above an edge (just below 1 the bins are finer than floats, and each float has its own)."""
    above = float(edges(numbers(np.array([edge]), grid, bits) + 1, grid, bits)[0])
    return max(above, math.nextafter(edge, math.inf))


def start(grid: str) -> int:
    """Return the number of the bin of ½ for probabilities, and of 0 on the line."""
    return _HALF >> (52 - FINE) if grid == "probability" else 0


def domain(grid: str) -> tuple[int, int]:
    """Return the lowest and the highest number of a bin."""
    largest = int(np.array(np.finfo(np.float64).max).view(np.int64)) >> (52 - FINE)
    return (0, 2 * start(grid)) if grid == "probability" else (-largest, largest)


def numbers(scores: Array, grid: str, bits: int = FINE, xp: Any = np) -> Array:
    """Number the bins in the order of the scores; ``xp`` is the library that made them."""
    scores = xp.asarray(scores, dtype=xp.float64) + 0.0  # −0.0 becomes 0.0
    cut = 52 - bits
    if grid == "probability":
        others = 1.0 - scores
        above = (others - scores).view(xp.int64) >> 63  # all bits, which are −1, where the difference has a sign
        below = (xp.minimum(others, scores).view(xp.int64) + above) >> cut  # what is less by 1 above ½ …
        found: Array = (below ^ above) + (above & 2 * (_HALF >> cut))  # … is 2 · half − 1 less that: it is rounded up
    else:
        sign = scores.view(xp.int64) >> 63  # −1 below 0, where what is rounded down is larger
        found = ((abs(scores).view(xp.int64) + (sign & ((1 << cut) - 1))) >> cut ^ sign) - sign
    return found


def edges(numbers: Array, grid: str, bits: int = FINE, xp: Any = np) -> Array:
    """Return the lower edges of numbered bins."""
    cut = 52 - bits
    if grid == "probability":
        half = _HALF >> cut
        mirrored = abs(2 * half - numbers)
        found: Array = xp.where(numbers <= half, _floats(numbers, cut, xp), 1.0 - _floats(mirrored, cut, xp))
        return found
    sizes: Array = _floats(abs(numbers), cut, xp)
    sizes[numbers < 0] *= -1.0
    return sizes


def _floats(numbers: Array, cut: int, xp: Any) -> Any:
    return (xp.asarray(numbers, dtype=xp.int64) << cut).view(xp.float64)
