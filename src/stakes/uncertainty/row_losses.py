"""What each row adds to a figure that is a mean over the rows."""

import functools
from collections.abc import Callable

import numpy as np

from stakes.metrics import Metric
from stakes.metrics.declare import Losses
from stakes.tallies.arithmetic import Array
from stakes.tallies.error_sums import percentage


def row_loss(metric: Metric) -> Callable[[Array, Array], Array]:
    """Return what a row adds, from its truth (0 or 1, a code, a number) and its output."""
    if metric.losses is not None:
        return functools.partial(_of_probability, metric.losses)
    return functools.partial(_ROW_LOSSES[metric.name], **metric.parameters)


def is_mean_of_losses(metric: Metric) -> bool:
    """Whether a figure is a mean over the rows."""
    return metric.name in _ROW_LOSSES or (metric.losses is not None and metric.interval == "loss")


def _of_probability(losses: Losses, truth: Array, score: Array) -> Array:
    with np.errstate(divide="ignore"):  # what was thought impossible is infinitely surprising
        positive, negative = losses.of_positive(score), losses.of_negative(score)
    return np.asarray(np.where(truth, positive, negative))


def _own(truth: Array, scores: Array) -> Array:
    """The score of the class that happened."""
    return scores[np.arange(len(truth)), truth.astype(np.int64)].astype(np.float64)


def class_surprise(truth: Array, scores: Array) -> Array:
    """The log loss of each row of class scores."""
    with np.errstate(divide="ignore"):
        return 0.0 - np.log(_own(truth, scores))


def class_squares(truth: Array, scores: Array) -> Array:
    """The Brier score of each row of class scores."""
    return np.asarray((scores.astype(np.float64) ** 2).sum(1) - 2 * _own(truth, scores) + 1)


def _in_top(truth: Array, scores: Array, k: float) -> Array:
    return np.asarray(np.count_nonzero(scores >= _own(truth, scores)[:, None], axis=1) <= k)


def _pinball(truth: Array, prediction: Array, alpha: float) -> Array:
    error = truth - prediction
    return np.maximum(alpha * error, (alpha - 1) * error)


_ROW_LOSSES: dict[str, Callable[..., Array]] = {
    "multiclass_brier_score": class_squares,
    "multiclass_log_loss": class_surprise,
    "top_k_accuracy": _in_top,
    "mean_absolute_error": lambda truth, prediction: np.abs(truth - prediction),
    "mean_squared_error": lambda truth, prediction: (truth - prediction) ** 2,
    "mean_squared_log_error": lambda truth, prediction: (np.log1p(truth) - np.log1p(prediction)) ** 2,
    "mean_absolute_percentage_error": lambda truth, prediction: percentage(np.abs(truth - prediction), truth),
    "pinball": _pinball,
}
