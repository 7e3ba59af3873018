"""Losses of a probability, and their sums, which stay exact where scores are put in bins."""

from collections.abc import Callable, Sequence

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

_TOGETHER = 16
"""Probabilities that are multiplied before a logarithm is taken, which takes ten times as long as a product."""

_AT_A_TIME = 1 << 13
"""Scores whose losses are computed at a time: they take several columns."""

_SMALLEST = 1e-290
_SMALL = 1e-3
"""Mean losses below this are made of probabilities that lie near 1: their products would lose digits."""


def each_loss(scores: Array) -> Array:
    """The losses of each probability if its row is positive, and if it is negative: losses × 2 × rows."""
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


def corrected_losses(known: Array, counts: Array, scores: Sequence[Array], factors: Sequence[float]) -> Array:
    """The sums of losses in bins after a correction for class frequencies, and the least and most they can be.

    ``known`` are those before it. ``scores`` are where bins begin, a score inside each, and where they end; ``factors``
    are those of a probability of the positive class and of the negative one. Within a class squares rise or fall with
    the score, and so does what the correction adds to a logarithm: the ends of bins are the bounds.
    """
    squares, logs = np.moveaxis(known, -2, 0)

    def add_up(of_positive: Array, of_negative: Array) -> Array:
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(counts > 0, counts * np.stack([of_positive, of_negative]), 0.0).sum(-1))

    def sums_of_squares(scores: Array) -> Array:
        return add_up(SQUARES.of_positive(scores), SQUARES.of_negative(scores))

    def sums_at(scores: Array) -> Array:
        own, other = factors[0] * scores, factors[1] * (1 - scores)
        with np.errstate(divide="ignore", invalid="ignore"):
            moved, more = own / (own + other), [np.log((own + other) / factor) for factor in factors]
        return np.stack([sums_of_squares(moved), logs + add_up(*more)], axis=-2)

    low, inside, high = map(sums_at, scores)
    inside[..., 0, :] += squares - sums_of_squares(scores[1])  # as much as scores inside bins miss without correction
    ends = np.minimum(low, high), np.maximum(low, high)
    return np.stack([np.clip(inside, *ends), *ends])


def losses_either_way(scores: Array, weight: Array | None = None) -> Array:
    """Add up each loss of some rows, as if all were positive, and as if all were negative."""
    if weight is not None:
        return loss_sums(scores, np.stack([weight, weight]))
    both = np.empty((2, len(scores)))
    both[0] = scores
    np.subtract(1.0, scores, out=both[1])

    def surprise(rows: Array) -> Array:
        either = SURPRISE.of_positive, SURPRISE.of_negative
        return np.stack([loss(scores) for loss, asked in zip(either, rows, strict=True) if asked])

    return np.stack([sum_of_squares(both)[::-1], sum_of_logs(both, surprise)])


def sum_of_squares(values: Array) -> Array:
    """The sum of squares in each row, in pieces: BLAS would make work for threads of long ones, for no gain."""
    return np.asarray(sum(np.vecdot(some, some).sum(axis=1) for some in _in_parts(values)))


def sum_of_logs(probabilities: Array, exactly: Callable[[Array], Array]) -> Array:
    """The sum of −log p in each row, by logarithms of products; ``exactly`` computes each of some rows."""
    products = np.concatenate([np.multiply.reduce(some, axis=1) for some in _in_parts(probabilities)], axis=1)
    with np.errstate(divide="ignore"):
        found = np.asarray(-np.log(products).sum(axis=1))
        doubtful = (products.min(axis=1) <= _SMALLEST) | (found <= _SMALL * probabilities.shape[1])
        if doubtful.any():
            found[doubtful] = exactly(doubtful).sum(axis=1)
    return found


def _in_parts(values: Array) -> tuple[Array, Array]:
    """Each row cut into a few pieces of the same length, and into what is left over."""
    whole = values.shape[1] // _TOGETHER * _TOGETHER
    return values[:, :whole].reshape(len(values), _TOGETHER, -1), values[:, whole:, None]
