"""Rows and clusters as units that are left out: how many there are, what they weigh, and why nothing can be said."""

import math
from collections.abc import Callable

import numpy as np

from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.columns import Columns
from stakes.uncertainty.influence import Influence

SINGLE_CLUSTER = "there is a single cluster"
SINGLE_ROW = "a class has a single row"
NOT_KEPT = "the rows were not kept, only sums of them"

CELLS = 4_000_000
"""About so many numbers are worked out at once for a figure."""

MOST_LEVELS = 1 << 17
"""Where a figure knows what each row changes, up to so many scores are asked; likewise rows for their loss."""

STEP = 1e-4
"""So much more of a unit is added where a figure is undefined without it."""

Found = Influence | str
"""What rows change, or why that is not known."""


def kish(weights: Array) -> float:
    """How many units of equal weight would tell as much."""
    square = float((weights**2).sum())
    return float(weights.sum()) ** 2 / square if square else 0.0


def kish_of(weight: Array, squares: Array) -> float:
    """How many rows of equal weight would tell as much, from sums of weights and of their squares."""
    return float(weight.sum()) ** 2 / max(float(squares.sum()), 1e-300)


def unit_weights(counts: Array, squares: Array | None) -> Array:
    """What a row of each cell weighs: the usual weight where there is none."""
    if squares is None:
        return np.ones(counts.shape)
    squares = squares.astype(np.float64)
    return divide(squares, counts, float(squares.sum() / max(counts.sum(), 1e-300)))


def left_out(value: float, without: Array, more: Callable[[], Array]) -> Array:
    """The changes; where a figure is undefined without a unit, those of a little more of the unit instead."""
    changes = value - without
    if np.isfinite(changes).all() or not math.isfinite(value):
        return np.asarray(changes)
    return np.where(np.isfinite(changes), changes, (more() - value) / STEP)


def score_counts(columns: Columns) -> tuple[Array, Array]:
    """Positives and negatives at each score, and the weight of such a row."""
    counts = np.stack([columns.values[name] for name in ("positives", "negatives")]).astype(np.float64)
    if not columns.weighted:
        return counts, np.ones(counts.shape)
    return counts, unit_weights(counts, np.stack([columns.values[f"{n}_squared"] for n in ("positives", "negatives")]))
