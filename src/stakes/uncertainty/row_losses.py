"""What each row adds to a figure that is a mean over the rows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from stakes.tallies.arithmetic import Array


def _brier(truth: Array, score: Array) -> Array:
    return (truth - score) ** 2


def _surprise(truth: Array, score: Array) -> Array:
    with np.errstate(divide="ignore"):  # what was thought impossible is infinitely surprising
        return 0.0 - np.where(truth, np.log(np.where(truth, score, 1)), np.log1p(-np.where(truth, 0, score)))


def _own(truth: Array, scores: Array) -> Array:
    """The score of the class that happened."""
    return np.take_along_axis(scores, truth[:, None].astype(np.int64), axis=1)[:, 0]


def _class_surprise(truth: Array, scores: Array) -> Array:
    with np.errstate(divide="ignore"):
        return 0.0 - np.log(_own(truth, scores))


def _class_brier(truth: Array, scores: Array) -> Array:
    return (scores**2).sum(1) - 2 * _own(truth, scores) + 1


def _in_top(truth: Array, scores: Array, k: float) -> Array:
    return np.count_nonzero(scores >= _own(truth, scores)[:, None], axis=1) <= k


def _pinball(truth: Array, prediction: Array, alpha: float) -> Array:
    error = truth - prediction
    return np.maximum(alpha * error, (alpha - 1) * error)


def _percentage(truth: Array, prediction: Array) -> Array:
    return np.abs(truth - prediction) / np.maximum(np.abs(truth), np.finfo(np.float64).eps)


ROW_LOSSES: dict[str, Callable[..., Any]] = {
    "brier_score": _brier,
    "log_loss": _surprise,
    "multiclass_brier_score": _class_brier,
    "multiclass_log_loss": _class_surprise,
    "top_k_accuracy": _in_top,
    "mean_absolute_error": lambda truth, prediction: np.abs(truth - prediction),
    "mean_squared_error": lambda truth, prediction: (truth - prediction) ** 2,
    "mean_squared_log_error": lambda truth, prediction: (np.log1p(truth) - np.log1p(prediction)) ** 2,
    "mean_absolute_percentage_error": _percentage,
    "pinball": _pinball,
}
"""Name of the metric → what each row adds, from its truth (0 or 1, a code, a number), its output and parameters."""
