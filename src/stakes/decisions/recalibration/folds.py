"""Recalibration judged fairly when one file must serve both purposes: each row by a fit on the other folds."""

import math
from typing import Any

import numpy as np

from stakes import errors
from stakes.decisions.recalibration.calibrators import Calibrator
from stakes.decisions.recalibration.rows import read_labels
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import check_whole


def cross_fitted(
    calibrator: Calibrator,
    score: Any,
    truth: Any,
    folds: int = 5,
    seed: int = 0,
    weight: Any = None,
    groups: Any = None,
) -> Array:
    """Return recalibrated scores, each row's from a copy of the calibrator that was fitted on the other folds.

    Rows are dealt to the folds at random, every class evenly; rows of the same group (numbers from 0 on) stay together.
    The calibrator itself stays as it is.
    """
    if not isinstance(calibrator, Calibrator):
        raise errors.no_calibrator(type(calibrator).__name__)
    check_whole("folds", folds, 2)
    check_whole("seed", seed, 0, math.inf)
    values, labels = np.asarray(score), np.asarray(truth)
    weights = None if weight is None else np.asarray(weight)
    codes = read_labels(labels).codes
    for name, column in {"score": values, "weight": weights}.items():
        if column is not None and len(column) != len(codes):
            raise errors.wrong_length(name, len(column), len(codes))
    sizes = np.bincount(codes)
    if np.count_nonzero(sizes) == 2 and sizes[sizes > 0].min() < 2:
        raise errors.too_few_to_cross_fit()
    together = None if groups is None else np.asarray(groups)
    fold_of = (
        dealt(codes, folds, seed) if together is None else dealt(np.zeros(together.max() + 1), folds, seed)[together]
    )
    found = np.empty(values.shape)
    for fold in np.unique(fold_of):
        here = fold_of == fold
        copy = type(calibrator)(**calibrator.get_params())
        copy.fit(values[~here], labels[~here], None if weights is None else weights[~here])
        found[here] = copy.transform(values[here])
    return found


def dealt(codes: Array, folds: int, seed: int) -> Array:
    """Deal rows to folds like cards: in random order, one class after the other."""
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    place = np.empty(len(codes), np.int64)
    place[order] = np.arange(len(codes)) % folds
    return place
