"""Losses of a probability, and their sums, which stay exact where scores are put in bins."""

from collections.abc import Callable

import numpy as np

from stakes.frozen import dataclass
from stakes.tallies.arithmetic import Array, Number


@dataclass(frozen=True)
class Losses:
    """What a probability of the positive class costs a positive row and a negative row."""

    of_positive: Callable[[Number], Number]
    of_negative: Callable[[Number], Number]

    def __call__(self, truth: Array, score: Array) -> Array:
        """The loss of each row."""
        with np.errstate(divide="ignore"):  # what was thought impossible is infinitely surprising
            return np.asarray(np.where(truth, self.of_positive(score), self.of_negative(score)))


SQUARES = Losses(lambda p: (1.0 - p) ** 2, lambda p: p**2)
SURPRISE = Losses(lambda p: 0.0 - np.log(p), lambda p: 0.0 - np.log1p(-p))

KEPT = (SQUARES, SURPRISE)
"""The losses that are added up before the values of scores are lost in bins."""

SHAPE = (len(KEPT), 2)
"""Their sums: for each loss, over positives and over negatives."""

_TOGETHER = 32
"""Probabilities that are multiplied before a logarithm is taken, which takes ten times as long as a product."""

_AT_A_TIME = 1 << 13
"""Scores whose losses are worked out at a time: they take several columns."""

_SMALLEST = 1e-290
_SMALL = 1e-3
"""Mean losses below this are made of probabilities that lie near 1: their products would lose digits."""


def each_loss(scores: Array) -> Array:
    """What each probability loses, were its row positive and were it negative: losses × 2 × rows."""
    with np.errstate(divide="ignore"):
        return np.stack([[loss.of_positive(scores), loss.of_negative(scores)] for loss in KEPT])


def loss_sums(scores: Array, counts: Array) -> Array:
    """Add up each loss over the positives and negatives (``counts``) at each score, a few scores at a time."""
    found = np.zeros((*counts.shape[:-2], *SHAPE), np.longdouble)
    for start in range(0, len(scores), _AT_A_TIME):
        some = counts[..., None, :, start : start + _AT_A_TIME].astype(np.float64)  # those beyond 64 bits are objects
        with np.errstate(invalid="ignore"):
            lost = some * each_loss(scores[start : start + _AT_A_TIME])
        found += np.where(some > 0, lost, 0.0).sum(-1)
    return np.asarray(found, np.float64)


def losses_either_way(scores: Array, weight: Array | None) -> Array:
    """Add up each loss of some rows, were all of them positive and were all of them negative."""
    if weight is not None:
        return loss_sums(scores, np.stack([weight, weight]))
    others = 1.0 - scores
    surprise = [
        sum_of_logs(said[None], exactly, scores[None])[0]
        for said, exactly in ((scores, SURPRISE.of_positive), (others, SURPRISE.of_negative))
    ]
    return np.array([[_sum_of_squares(others), _sum_of_squares(scores)], surprise])


def _sum_of_squares(values: Array) -> float:
    """Add up squares in a few rows: of long ones BLAS would make work for threads, which get in each other's way."""
    whole = len(values) // _TOGETHER * _TOGETHER
    rows, rest = values[:whole].reshape(_TOGETHER, -1), values[whole:]
    return float(np.vecdot(rows, rows).sum() + rest @ rest)


def sum_of_logs(probabilities: Array, exactly: Callable[[Array], Array], scores: Array) -> Array:
    """The sum of −log p in each row, by logarithms of products; ``exactly`` works it out from the scores one by one."""
    rows, length = probabilities.shape
    whole = length // _TOGETHER * _TOGETHER
    products = np.multiply.reduce(probabilities[:, :whole].reshape(rows, _TOGETHER, -1), axis=1)
    with np.errstate(divide="ignore"):
        found = np.asarray(exactly(scores[:, whole:]).sum(axis=1) - np.log(products).sum(axis=1))
        doubtful = (products.min(axis=1, initial=1.0) <= _SMALLEST) | (found <= _SMALL * length)
        if doubtful.any():
            found[doubtful] = exactly(scores[doubtful]).sum(axis=1)
    return found
