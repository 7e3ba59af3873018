"""The result of a validation: every figure on held-out rows, and beside it on training rows."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from stakes import errors
from stakes.evaluation import Evaluation
from stakes.evaluation.over_folds import OverFolds
from stakes.language.numbers import write
from stakes.metrics import Estimate
from stakes.metrics.estimate import percent
from stakes.question.options import Value
from stakes.records import Count, Positive, Record
from stakes.results import Shown
from stakes.tallies.arithmetic import Array, distinct
from stakes.uncertainty.sampling import FEW_CLUSTERS
from stakes.validation.fitting import metric_of, value_of


@dataclass(frozen=True)
class FigureOverFolds(Record, shown="name pooled mean spread over_folds training all_rows undefined folds"):
    """One figure of a validation.

    ``pooled`` is the figure of all out-of-fold predictions together, ``mean`` and ``spread`` are the mean and the
    standard deviation (n − 1) over those ``folds`` on which it is defined, ``undefined`` counts the others, and
    ``over_folds`` is the mean with limits that allow for folds which share training rows (Nadeau & Bengio).
    ``training`` is the figure on the rows that the models of the folds were fitted on, ``all_rows`` that of the model
    which was fitted on all rows, on all rows.
    """

    name: str
    pooled: Estimate
    training: Estimate
    folds: tuple[float, ...]
    over_folds: Estimate
    all_rows: Estimate

    @property
    def mean(self) -> float:
        """The plain mean over the folds."""
        return mean_of_defined(self.folds)

    @property
    def spread(self) -> float:
        """The standard deviation over the folds; it is not a standard error, because folds share training rows."""
        known = [value for value in self.folds if not math.isnan(value)]
        finite = len(known) > 1 and all(map(math.isfinite, known))
        return float(np.std(known, ddof=1)) if finite else math.nan

    @property
    def undefined(self) -> Count:
        """On how many folds the figure is undefined."""
        return sum(map(math.isnan, self.folds))

    def __str__(self) -> str:
        missing = f" (undefined on {self.undefined} of {len(self.folds)} folds)" if self.undefined else ""
        sure = ""
        if self.pooled.low is not None:
            ends = f"{write(self.pooled.low)} – {write(self.pooled.high)}"
            sure = f"{percent(self.pooled.confidence)} interval {ends}, given these fits; "
        mean, corrected = self.over_folds, ""
        if mean.low is not None:
            corrected = f" (corrected interval {write(mean.low)} – {write(mean.high)})"
        return (
            f"{self.name}: pooled out-of-fold {write(self.pooled.value)} ({sure}ignoring the input "
            f"{write(self.pooled.baseline)}), mean over folds "
            f"{write(self.mean)}{corrected}, spread over folds {write(self.spread)}{missing}, on training data "
            f"{write(self.training.value)}, fitted on all rows and judged on them {write(self.all_rows.value)}"
        )


def mean_of_defined(values: Sequence[float]) -> float:
    """Return the mean of those values that are defined."""
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


@dataclass(frozen=True, eq=False, repr=False)
class Validation(
    OverFolds, Record, Shown, stakes="validation", shown="how fits repeats pooled training all_rows figures notes"
):
    """An estimator tested on rows that it was not fitted on.

    ``pooled`` is the evaluation of the out-of-fold predictions together (with repeats: of the first one, so that
    every row counts once), ``folds`` are the evaluations of each fold (of all repeats), and ``training`` is that of
    every model on its own training rows. ``v["auc"]`` has the figure of all three. ``model`` is fitted on all rows, for
    the cases to come, and ``all_rows`` what it says about the rows that it has seen, which flatters it.

    ``truth``, ``predictions``, ``decisions``, ``rows`` and ``fold_of_row`` are what ``pooled`` evaluates, in the order
    of the rows. ``predictions`` are the scores of the positive class, or one column of scores for each of
    ``pooled.classes``, or else what ``predict`` says; ``decisions`` are what ``predict`` says beside scores, if asked.
    """

    how: str
    pooled: Evaluation
    folds: Sequence[Evaluation]
    training: Evaluation
    truth: Array
    predictions: Array
    decisions: Array | None
    rows: Array
    fold_of_row: Array
    repeats: Positive
    test_to_train: float
    model: Value
    all_rows: Evaluation

    def over_folds(self, name: Value) -> tuple[float, ...]:
        """Return a figure on each fold, of all repeats."""
        if isinstance(name, tuple):  # of one class against the rest
            return tuple(fold[name].value for fold in self.folds)
        metric = metric_of(self.pooled, name)
        return tuple(value_of(metric, fold) for fold in self.folds)

    def figure(self, name: Value) -> FigureOverFolds:
        """Return a figure: pooled, over the folds, and on the training rows."""
        pooled, training, all_rows = (evaluation[name] for evaluation in (self.pooled, self.training, self.all_rows))
        mean = self.mean_over_folds(name, self.pooled.sampling.confidence)
        return FigureOverFolds(pooled.name, pooled, training, tuple(self.over_folds(name)), mean, all_rows)

    __getitem__ = figure

    def __contains__(self, name: object) -> bool:
        return name in self.pooled

    def __iter__(self) -> Iterator[str]:
        return iter(self.pooled)

    # ── as data ──────────────────────────────────────────────────────────────────────────────────────────────
    def to_rows(self) -> list[dict[str, object]]:
        """Return one flat dictionary per figure, for a data frame; the interval is that of the pooled figure."""
        return [
            {
                "metric": found.name,
                "pooled": found.pooled.value,
                "low": found.pooled.low,
                "high": found.pooled.high,
                "mean": found.mean,
                "mean_low": found.over_folds.low,
                "mean_high": found.over_folds.high,
                "spread": found.spread,
                "training": found.training.value,
                "all_rows": found.all_rows.value,
                "undefined": found.undefined,
                "reason": found.pooled.reason,
            }
            for found in map(self.figure, self.pooled.figures)
        ]

    @property
    def fits(self) -> Positive:
        """How many models were fitted."""
        return len(self.folds)

    @property
    def figures(self) -> dict[str, FigureOverFolds]:
        """Every figure by name: pooled, over the folds, and on the training rows."""
        return {name: self.figure(name) for name in self.pooled.figures}

    # ── to look at ───────────────────────────────────────────────────────────────────────────────────────────
    @property
    def notes(self) -> list[str]:
        """How to read the columns."""
        several = len(self.folds) > 1
        notes = [
            "pooled: out of fold, all rows judged by models not fitted on them; training: every model on its own "
            "training rows; a large gap is over-fitting; all rows: the model fitted on all rows, on the same rows",
            "intervals of pooled figures are given these fits: they do not tell how other fits would vary",
        ]
        clusters = self.pooled.counted.clusters
        if clusters is not None and clusters.count < FEW_CLUSTERS:
            notes.append(errors.few_clusters(clusters.count, FEW_CLUSTERS))
        if several and getattr(self.pooled, "scores", None) is not None:
            notes.append(
                "a pooled auc compares scores of different models (leave-one-out of one that only knows the prevalence "
                "has pooled auc 0); the mean over folds does not"
            )
        if several:
            notes.append(
                "folds: mean and standard deviation over the folds on which the figure is defined; "
                "the spread is no standard error, because folds share training rows, for which v[…].over_folds allows"
            )
        if self.repeats > 1:
            notes.append(f"pooled is the first of {self.repeats} repeats; those of folds are over all repeats")
        if len(distinct(self.rows)) < len(self.rows):
            notes.append("some rows are judged in several folds and count as often in pooled figures")
        return notes

    def __repr__(self) -> str:
        return f"<Validation: {self.how}, fits: {len(self.folds):,}>"
