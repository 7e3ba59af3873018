"""Several labels per row, ranked by scores: scikit-learn's names and conventions."""

import numpy as np

from stakes.errors import InputError
from stakes.metrics import Metric, find
from stakes.sklearn.result import FloatWithInterval, Source
from stakes.sklearn.targets import as_numbers, different_shapes, read_matrices, weights
from stakes.tallies import LabelSums
from stakes.tallies.arithmetic import Array, Values

_DEPTH, _PRECISION, _LOSS = map(find, ("coverage_error", "label_ranking_average_precision", "label_ranking_loss"))


def source_of_labels(metric: Metric, weight: Array | None, **columns: Array) -> Source:
    """What the interval of a figure of several labels is made from; rows that weigh nothing are left out."""

    def source() -> tuple[Metric, LabelSums]:
        held = slice(None) if weight is None else weight != 0
        names = tuple(map(str, range(columns["truth"].shape[1])))
        units = None if weight is None else weight[held].astype(np.float64)
        return metric, LabelSums.from_rows(
            names, {name: one[held] for name, one in columns.items()}, units, metric.parts
        )

    return source


def _ranked(metric: Metric, y_true: Values, y_score: Values, sample_weight: Values, one: bool) -> FloatWithInterval:
    truth, scores, kind = read_matrices(y_true, y_score)
    if kind != "multilabel-indicator" and not (one and kind == "binary" and truth.ndim == 2):
        raise InputError(
            "no-labels-to-rank", f"{kind} format is not supported; give a column of 0 and 1 for each label"
        )
    if truth.shape != scores.shape:
        raise different_shapes(truth, scores)
    columns = {"truth": truth.astype(bool), "scores": as_numbers("y_score", scores).astype(np.float64)}
    source = source_of_labels(metric, weights(sample_weight, len(truth)), **columns)
    return FloatWithInterval(float(metric.of(source()[1])), source)


def coverage_error(y_true: Values, y_score: Values, *, sample_weight: Values = None) -> FloatWithInterval:
    """Return how far down the ranking of its labels one has to go to find all that a row has."""
    return _ranked(_DEPTH, y_true, y_score, sample_weight, one=False)


def label_ranking_average_precision_score(
    y_true: Values, y_score: Values, *, sample_weight: Values = None
) -> FloatWithInterval:
    """Return the mean share of own labels among those ranked at or above an own one."""
    return _ranked(_PRECISION, y_true, y_score, sample_weight, one=True)


def label_ranking_loss(y_true: Values, y_score: Values, *, sample_weight: Values = None) -> FloatWithInterval:
    """Return the share of pairs of an own and a lacking label that are ranked the wrong way round."""
    return _ranked(_LOSS, y_true, y_score, sample_weight, one=False)
