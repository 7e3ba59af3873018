"""The likelihood of softmax(scale × log p + bias), and its maximum by Newton's steps."""

from collections.abc import Callable
from functools import partial

import numpy as np

from stakes.metrics.logistic import climb
from stakes.tallies.arithmetic import Array

_OWN = 0.01
"""The weight of a prior row at the probabilities as they stand: it keeps the map finite for separable classes."""


def softmax(logs: Array) -> Array:
    """Turn logarithms into probabilities that add up to 1 in each row."""
    from scipy.special import softmax as of_rows

    return np.asarray(of_rows(logs, axis=1))


Pulls = Callable[[Array, Array, Array | None, bool, float], Array]
"""What rows say of scales and biases: fold × sums over its rows.

These are the logarithm of the likelihood; of each class what is left of the truth, and that times its logarithms; its
probabilities times their logarithms, times those squared, and as they are; and products of two columns, those that
belong to the scales (one for all classes, or those that are free) and to the biases but the first, if there are any.
"""


def fit_pulls(
    pulls: Pulls, classes: int, total: float, one_scale: bool, biased: bool = True
) -> list[tuple[Array, Array]]:
    """Return the scale and the bias of each class that rows lead to; of several folds, then those without each.

    Scales are one number for all classes, or each at least 0: one that would be negative is held at 0 while the others
    are fitted again (Kull et al., 2017). Without a fold they are one step from where all rows lead: what a second one
    would add is the square of it. ``total`` is what all rows weigh.
    """
    free = np.ones(classes, bool)
    while True:
        likelihood = _Likelihood(pulls, classes, _OWN / total, None if one_scale else free, biased)
        at = climb(likelihood.start, likelihood.height, likelihood.slopes, _least_squares)
        scales, _ = likelihood.split(at)
        if one_scale or (scales >= 0).all():
            maps = map(likelihood.split, [at, *likelihood.without_folds()])
            return [(scales if one_scale else np.maximum(scales, 0), biases - biases.mean()) for scales, biases in maps]
        free &= scales > 0


def _least_squares(curvature: Array, gradient: Array) -> Array:
    return np.linalg.lstsq(curvature, gradient, rcond=None)[0]


def pulls_of_rows(logs: Array, truth: Array, weight: Array) -> Pulls:
    """What rows in memory say, all in one fold."""
    return partial(_pulls_of_rows, logs, np.eye(logs.shape[1])[truth] * weight[:, None])


def _pulls_of_rows(
    logs: Array, target: Array, scales: Array, biases: Array, free: Array | None, biased: bool, own: float
) -> Array:
    """The sums of rows in one fold, of which ``target`` are the weights of the true classes."""
    unit = target.sum(axis=1)
    target, total = target + softmax(logs) * (own * unit)[:, None], unit * (1 + own)
    logits = logs * scales + biases
    most = logits.max(axis=1)
    raised = np.exp(logits - most[:, None])
    sums = raised.sum(axis=1)
    height = float(np.sum(target * logits) - total @ (np.log(sums) + most))
    expected = raised * (total / sums)[:, None]
    left, moved = target - expected, expected * logs
    each = left, left * logs, moved, moved * logs, expected
    columns = np.concatenate([_gather(moved, free), expected[:, 1:] if biased else expected[:, :0]], axis=1)
    products = columns.T @ (columns / total[:, None])
    return np.concatenate([[height], *(one.sum(axis=0) for one in each), products.ravel()])[None]


def _gather(columns: Array, free: Array | None) -> Array:
    """What belongs to the scales, of a column for each class: the sum of all, or those that are free."""
    return columns.sum(axis=-1, keepdims=True) if free is None else columns[..., free]


class _Likelihood:
    """How likely the rows are at coefficients: one scale for all classes or those that are ``free``, then biases.

    The bias of the first class is 0: only differences count. ``own`` is what the probabilities count as they stand.
    """

    def __init__(self, pulls: Pulls, classes: int, own: float, free: Array | None, biased: bool) -> None:
        self._pulls, self._k, self._own, self._free, self._biased = pulls, classes, own, free, biased
        scales = 1 if free is None else int(free.sum())
        self.start = np.concatenate([np.ones(scales), np.zeros((classes - 1) * biased)])
        self._at: Array = np.zeros(0)

    def split(self, at: Array) -> tuple[Array, Array]:
        """The scale and the bias of each class."""
        count = len(self.start) - (self._k - 1) * self._biased
        scales, biases = np.zeros(self._k), np.zeros(self._k)
        scales[slice(None) if self._free is None else self._free] = at[:count]
        biases[1:] = at[count:] if self._biased else 0.0
        return scales, biases

    def _sums(self, at: Array) -> Array:
        if not np.array_equal(at, self._at):  # what was asked last is known
            self._at, self._known = at, self._pulls(*self.split(at), self._free, self._biased, self._own)
        return self._known

    def height(self, at: Array) -> float:
        """The logarithm of the likelihood."""
        return float(self._sums(at)[:, 0].sum())

    def slopes(self, at: Array) -> tuple[Array, Array]:
        """Its first derivatives, and minus its second ones."""
        return self._derivatives(self._sums(at).sum(axis=0))

    def _derivatives(self, sums: Array) -> tuple[Array, Array]:
        left, slanted, once, twice, even = sums[1 : 1 + 5 * self._k].reshape(5, self._k)
        products = sums[1 + 5 * self._k :].reshape(len(self.start), len(self.start))
        biased = slice(1, None) if self._biased else slice(0, 0)
        gradient = np.concatenate([_gather(slanted, self._free), left[biased]])
        own = np.diag(np.concatenate([_gather(twice, self._free), even[biased]]))  # where a class meets itself
        across = (once[None] if self._free is None else np.diag(once)[self._free])[:, biased]
        own[: len(across), len(across) :], own[len(across) :, : len(across)] = across, across.T
        return gradient, own - products

    def without_folds(self) -> list[Array]:
        """The coefficients without the rows of each fold, if there are several."""
        folds = self._known if len(self._known) > 1 else self._known[:0]
        others = [self._derivatives(self._known.sum(axis=0) - own) for own in folds]
        return [self._at + _least_squares(curvature, gradient) for gradient, curvature in others]
