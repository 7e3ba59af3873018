"""Cross-fitted recalibration: each row's probability comes from a fit on the other folds."""

import math
from dataclasses import dataclass
from typing import Self

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
from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import check_whole
from stakes.tallies.clusters import Clusters


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

    Rows are assigned to folds at random, stratified by class; rows of the same group stay together.
    The calibrator itself is not fitted.
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
        copy.range_ = span  # checked on all rows: one fold may lack the scores that show their kind
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
    return deal_clusters(together, int(together.max()) + 1, folds, seed)


def deal_clusters(clusters: Array, count: int, folds: int, seed: int) -> Array:
    """The fold of each row, where rows of a cluster (its number) stay together."""
    if count < 2:
        raise InputError(
            "too-few-to-cross-fit",
            "all rows belong to one cluster, which cannot be split into folds; give rows of more clusters, or none",
        )
    return np.asarray(deal_folds(np.zeros(count), folds, seed)[clusters])


# ── rows that were counted ───────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False)
class ScoreCounts:
    """Rows of each score and class (0 or 1): what they weigh together, and the sum of their squared weights."""

    scores: Array
    truth: Array
    weight: Array
    squares: Array

    @classmethod
    def of(cls, table: ScoreTable) -> Self:
        """Take the entries of a table with a positive weight."""
        columns = table.as_columns()
        weight = columns.counts().T[:, ::-1].astype(np.float64)  # class 1 is the positive one
        squares = columns.counts("_squared").T[:, ::-1] if columns.weighted else weight
        places, codes = np.nonzero(weight)
        return cls(columns.scores.astype(np.float64)[places], codes, weight[places, codes], squares[places, codes])

    @classmethod
    def of_clusters(cls, clusters: Clusters) -> tuple[Self, Array]:
        """Take the entries of all clusters together; also return the entry of each row."""
        scores, entry = np.unique(np.asarray(clusters.scores, np.float64), return_inverse=True)
        found, entry = np.unique(2 * entry + np.asarray(clusters.truth, np.int64), return_inverse=True)
        sums = [np.bincount(entry, one) for one in (clusters.weights, clusters.squared_weights)]
        return cls(scores[found // 2], found % 2, *sums), entry

    def fit(self, calibrator: Calibrator, without: Array | float = 0.0) -> Calibrator:
        """Fit a copy of the calibrator to the rows, less the weight ``without`` at each entry."""
        weight = self.weight - without
        here, copy = weight > 1e-9 * self.weight, type(calibrator)(**calibrator.get_params())
        copy.fit(self.scores[here], self.truth[here], weight[here])
        copy.rows_ = float(weight.sum() ** 2 / (self.squares * weight / self.weight).sum())  # (Kish)
        copy.range_ = float(np.min(self.scores)), float(np.max(self.scores))
        return copy

    def deal(self, folds: int, seed: int) -> Array:
        """Assign rows to folds at random: the weight of each entry in each fold.

        Weighted rows are assigned like their effective number (Kish) of rows of equal weight.
        """
        rows = np.maximum(np.rint(self.weight * (self.weight / self.squares)), 1)
        counts = np.random.default_rng(seed).multinomial(rows.astype(np.int64), np.full(folds, 1 / folds))
        return np.asarray(counts * (self.weight / rows)[:, None])

    def cross_fitted(self, calibrator: Calibrator, by_fold: Array) -> Array:
        """Recalibrated scores, each from a fit on the other folds: entry × fold."""
        return np.stack([self.fit(calibrator, own).transform(self.scores) for own in by_fold.T], axis=1)


def deal_folds(codes: Array, folds: int, seed: int) -> Array:
    """Assign rows to folds like dealt cards: shuffled, one class after the other."""
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    place = np.empty(len(codes), np.int64)
    place[order] = np.arange(len(codes)) % folds
    return place
