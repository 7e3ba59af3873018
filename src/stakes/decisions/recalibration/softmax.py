"""The likelihood of softmax(scale × log p + bias), and the numbers at which it is greatest, by Newton's steps."""

import numpy as np

from stakes.metrics.logistic import climb
from stakes.tallies.arithmetic import Array

_OWN = 0.01
"""So much of a row the probabilities count as they stand: the map stays finite where rows part the classes."""


def softmax(logs: Array) -> Array:
    """Turn logarithms into probabilities that add up to 1 in each row."""
    from scipy.special import softmax as of_rows

    return np.asarray(of_rows(logs, axis=1))


def fit_softmax(logs: Array, truth: Array, weight: Array, one_scale: bool) -> tuple[Array, Array]:
    """Return the scale and the bias of each class; scales are one number for all, or each at least 0.

    A scale that would be negative is held at 0 while the others are fitted again (Kull et al., 2017).
    """
    k = logs.shape[1]
    target = np.eye(k)[truth] * weight[:, None] + softmax(logs) * (_OWN * weight / weight.sum())[:, None]
    free = np.ones(k, bool)
    while True:
        likelihood = _Likelihood(logs, target, None if one_scale else free)
        scales, biases = likelihood.split(climb(likelihood.start, likelihood.height, likelihood.slopes, _least_squares))
        if one_scale or (scales >= 0).all():
            return scales, biases - biases.mean()
        free &= scales > 0


def _least_squares(curvature: Array, gradient: Array) -> Array:
    return np.linalg.lstsq(curvature, gradient, rcond=None)[0]


class _Likelihood:
    """How likely the rows are at coefficients: one scale for all classes or those that are ``free``, then biases.

    The bias of the first class is 0: only differences count.
    """

    def __init__(self, logs: Array, target: Array, free: Array | None) -> None:
        self.logs, self.target, self.total, self.free = logs, target, target.sum(axis=1), free
        scales = 1 if free is None else int(free.sum())
        self.start = np.concatenate([np.ones(scales), np.zeros(logs.shape[1] - 1)])

    def split(self, at: Array) -> tuple[Array, Array]:
        """The scale and the bias of each class."""
        k = self.logs.shape[1]
        scales, biases = np.zeros(k), np.append(0.0, at[len(at) - k + 1 :])
        scales[slice(None) if self.free is None else self.free] = at[: len(at) - k + 1]
        return scales, biases

    def _gather(self, columns: Array) -> Array:
        """What belongs to the scales, of a column for each class: the sum of all, or those that are free."""
        return columns.sum(axis=-1, keepdims=True) if self.free is None else columns[..., self.free]

    def height(self, at: Array) -> float:
        """The logarithm of the likelihood."""
        scales, biases = self.split(at)
        logits = self.logs * scales + biases
        most = logits.max(axis=1)
        sums = np.log(np.exp(logits - most[:, None]).sum(axis=1)) + most
        return float(np.sum(self.target * logits) - self.total @ sums)

    def slopes(self, at: Array) -> tuple[Array, Array]:
        """Its first derivatives, and minus its second ones."""
        scales, biases = self.split(at)
        expected = softmax(self.logs * scales + biases) * self.total[:, None]
        surprise = self.target - expected
        pull = self._gather((surprise * self.logs).sum(axis=0))
        gradient = np.concatenate([pull, surprise.sum(axis=0)[1:]])
        share = expected / np.sqrt(self.total)[:, None]
        columns = np.concatenate([self._gather(share * self.logs), share[:, 1:]], axis=1)
        once, twice = (expected * self.logs).sum(axis=0), (expected * self.logs**2).sum(axis=0)
        return gradient, self._own_parts(once, twice, expected.sum(axis=0)) - columns.T @ columns

    def _own_parts(self, once: Array, twice: Array, none: Array) -> Array:
        """The part of the second derivatives in which a class meets itself: sums of powers of its logarithms."""
        own = np.diag(np.concatenate([self._gather(twice), none[1:]]))
        scales = len(own) - len(none) + 1
        across = once[None] if self.free is None else np.diag(once)[self.free]
        own[:scales, scales:] = across[:, 1:]
        own[scales:, :scales] = across[:, 1:].T
        return own
