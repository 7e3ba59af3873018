"""A walk down the thresholds of a score table."""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from stakes.frozen import dataclass
from stakes.tallies.arithmetic import Array, Number, ratio

BLOCK = 1 << 16
"""Rows handled at a time: few enough that temporaries stay in the processor's cache."""

EXACT_PRODUCTS = 1 << 31
"""Below this many rows, products of two counts fit into int64; from here on counts are Python integers."""


@dataclass(frozen=True, eq=False)
class Steps:
    """A run of consecutive thresholds, highest first.

    ``positives`` and ``negatives`` lie exactly at each score; ``tp`` and ``fp`` lie at or above it, which is what the
    rule "positive when score ≥ threshold" finds there. P and N are the totals of the whole table, in which a
    row has the weight ``row_weight``. The scores themselves are read only when a figure asks for them: an order does
    not.
    """

    read_scores: Callable[[], Array]
    positives: Array
    negatives: Array
    tp: Array
    fp: Array
    P: Number
    N: Number
    row_weight: Number = 1.0

    @cached_property
    def scores(self) -> Array:
        """The distinct scores."""
        return self.read_scores()

    @property
    def single(self) -> bool:
        """Whether these are the steps of one table, without leading axes."""
        return self.positives.ndim == 1

    @property
    def fn(self) -> Array:
        """Positives below each score."""
        return np.expand_dims(self.P, -1) - self.tp

    @property
    def tn(self) -> Array:
        """Negatives below each score."""
        return np.expand_dims(self.N, -1) - self.fp

    @cached_property
    def rows(self) -> Array:
        """Rows at each score."""
        return self.positives + self.negatives

    @cached_property
    def rows_before(self) -> Array:
        """Rows above each score."""
        return self.tp + self.fp - self.rows

    @cached_property
    def precision(self) -> Array:
        """The share of positives at or above each score; NaN above the first row of a table with leading axes."""
        return np.asarray(ratio(self.tp, self.tp + self.fp))
