"""Recalibration judged fairly when one file must serve both purposes: each row by a fit on the other folds."""

import math

import numpy as np

from stakes import errors
from stakes.decisions.recalibration.calibrator import Calibrator
from stakes.decisions.recalibration.rows import read_labels
from stakes.engines import columns
from stakes.engines.columns import as_weights, to_column
from stakes.engines.labels import encode
from stakes.engines.tables import refuse_different_indexes
from stakes.errors import InputError
from stakes.question.options import Column
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import check_whole


def cross_fitted(
    calibrator: Calibrator,
    score: Column,
    truth: Column,
    folds: int = 5,
    seed: int = 0,
    weight: Column = None,
    groups: Column = None,
) -> Array:
    """Return recalibrated scores, each row's from a copy of the calibrator that was fitted on the other folds.

    Rows are dealt to the folds at random, every class evenly; rows of the same group stay together.
    The calibrator itself stays as it is.
    """
    if not isinstance(calibrator, Calibrator):
        raise InputError(
            "no-calibrator",
            f"calibrator is a {type(calibrator).__name__}; give a recalibrator such as IsotonicCalibrator()",
        )
    check_whole("folds", folds, 2)
    check_whole("seed", seed, 0, math.inf)
    refuse_different_indexes({"truth": truth, "score": score, "weight": weight, "groups": groups})
    codes, values = read_labels(truth).codes, calibrator._scores(score)
    labels, weights = np.asarray(truth), None if weight is None else as_weights(to_column(weight, "weight"))
    grouped = None if groups is None else to_column(groups, "groups")
    for name, column in {"score": values, "weight": weights, "groups": grouped}.items():
        if column is not None and len(column) != len(codes):
            raise errors.wrong_length(name, len(column), len(codes))
    fold_of = _folds_of(codes, grouped, folds, seed)
    span = float(np.min(values)), float(np.max(values))
    found = np.empty(values.shape)
    for fold in np.unique(fold_of):
        here = fold_of == fold
        copy = type(calibrator)(**calibrator.get_params())
        copy.fit(values[~here], labels[~here], None if weights is None else weights[~here])
        copy.range_ = span  # of all rows: one fold may lack the scores that tell what kind they are
        found[here] = copy.transform(values[here])
    return found.reshape(np.shape(score))


def _folds_of(codes: Array, grouped: columns.Column | None, folds: int, seed: int) -> Array:
    """The fold of each row; refuse rows that cannot be on both sides of one."""
    sizes = np.bincount(codes)
    if np.count_nonzero(sizes) == 2 and sizes[sizes > 0].min() < 2:
        raise InputError(
            "too-few-to-cross-fit",
            "a class has a single row, which cannot be on both sides of a fold; give more rows of it",
        )
    if grouped is None:
        return deal_folds(codes, folds, seed)
    together = encode(grouped).codes
    if not together.any():
        raise InputError(
            "too-few-to-cross-fit",
            "all rows belong to one cluster, which cannot be split into folds; give rows of more clusters, or none",
        )
    return np.asarray(deal_folds(np.zeros(together.max() + 1), folds, seed)[together])


def cross_fitted_counts(
    calibrator: Calibrator, score: Array, truth: Array, counts: Array, folds: int, seed: int
) -> tuple[Array, Array]:
    """The same of so many rows of each score and class (0 or 1), which are dealt to the folds at random.

    Return recalibrated scores, and how many rows have them: score × fold.
    """
    check_whole("folds", folds, 2)
    check_whole("seed", seed, 0, math.inf)
    dealt = np.random.default_rng(seed).multinomial(counts, np.full(folds, 1 / folds))
    said = np.stack([fit_counts(calibrator, score, truth, counts - own).transform(score) for own in dealt.T], axis=1)
    return said, dealt


def fit_counts(calibrator: Calibrator, score: Array, truth: Array, counts: Array) -> Calibrator:
    """Fit a copy of the calibrator to so many rows of each score and class (0 or 1)."""
    here, copy = counts > 0, type(calibrator)(**calibrator.get_params())
    copy.fit(score[here], truth[here], counts[here].astype(np.float64))
    copy.rows_ = float(counts.sum())  # each of which tells by itself
    copy.range_ = float(np.min(score)), float(np.max(score))
    return copy


def deal_folds(codes: Array, folds: int, seed: int) -> Array:
    """Deal rows to folds like cards: in random order, one class after the other."""
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    place = np.empty(len(codes), np.int64)
    place[order] = np.arange(len(codes)) % folds
    return place
