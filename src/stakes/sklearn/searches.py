"""Ranked documents of searches: scikit-learn's names and conventions."""

import math

import numpy as np

from stakes.errors import Given, InputError
from stakes.metrics import Metric
from stakes.metrics.searches import grade_queries
from stakes.sklearn.regression import Numbers, mean_of_rows
from stakes.sklearn.result import FloatWithInterval
from stakes.sklearn.targets import as_numbers, different_shapes, float_weights, read_matrices
from stakes.tallies.arithmetic import Array, Values

_MEAN = {name: mean_of_rows(name, lambda gain, _: gain) for name in ("dcg", "ndcg")}
_KINDS = ("multilabel-indicator", "continuous-multioutput", "multiclass-multioutput")


def dcg_score(
    y_true: Values,
    y_score: Values,
    *,
    k: int | None = None,
    log_base: float = 2,
    sample_weight: Values = None,
    ignore_ties: bool = False,
) -> FloatWithInterval:
    """Return the relevance that is found, less the further down it stands, on average over the rows."""
    if not isinstance(log_base, int | float | np.number) or not log_base > 0:
        raise InputError("bad-log-base", Given("log_base", log_base), " is no number above 0; 2 is usual")
    relevance, scores = _read(y_true, y_score, ignore_ties)
    return _mean(_MEAN["dcg"], _gains("dcg", relevance, scores, k) * (math.log(log_base) / math.log(2)), sample_weight)


def ndcg_score(
    y_true: Values, y_score: Values, *, k: int | None = None, sample_weight: Values = None, ignore_ties: bool = False
) -> FloatWithInterval:
    """Return the same as a share of what the best order would find; a row in which nothing is relevant counts as 0."""
    relevance, scores = _read(y_true, y_score, ignore_ties)
    if relevance.min() < 0:
        raise InputError("negative-gains", "ndcg_score should not be used on negative y_true values; shift them")
    if relevance.shape[1] <= 1:
        text = "Computing NDCG is only meaningful when there is more than 1 document. Got 1 instead"
        raise InputError("one-document", f"{text}; give a column for each document")
    return _mean(_MEAN["ndcg"], np.nan_to_num(_gains("ndcg", relevance, scores, k)), sample_weight)


def _read(y_true: Values, y_score: Values, ignore_ties: bool) -> tuple[Array, Array]:
    """Relevance and scores, a column for each document; where ties are ignored, each score has a place of its own."""
    relevance, scores, kind = read_matrices(y_true, y_score)
    if kind not in _KINDS and not (relevance.ndim == 2 and relevance.shape[1] == 1):
        raise InputError("no-documents", f"Only {_KINDS} formats are supported. Got {kind} instead; give a table")
    if relevance.shape != scores.shape:
        raise different_shapes(relevance, scores)
    relevance, scores = (
        as_numbers(name, one).astype(np.float64) for name, one in (("y_true", relevance), ("y_score", scores))
    )
    return relevance, scores.argsort(1).argsort(1).astype(np.float64) if ignore_ties else scores


def _gains(measure: str, relevance: Array, scores: Array, k: int | None) -> Array:
    """The figure of each row."""
    if k is not None and (not isinstance(k, int | np.integer) or k < 1):
        raise InputError("bad-depth", Given("k", k), " is no whole number from 1 on; leave it out for all documents")
    rows = np.repeat(np.arange(len(relevance)), relevance.shape[1])
    return grade_queries(measure if k is None else f"{measure}@{k}", rows, relevance.ravel(), scores.ravel())


def _mean(metric: Metric, gains: Array, sample_weight: Values) -> FloatWithInterval:
    rows = Numbers(gains, np.zeros(len(gains)), float_weights(sample_weight, len(gains)), True)
    return FloatWithInterval(rows.figure(metric), rows.source(metric))
