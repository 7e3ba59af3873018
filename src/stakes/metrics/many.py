"""Figures of more than two classes: one number from the figures of each class against the rest, and of class scores."""

import functools
import math
from dataclasses import replace
from typing import Annotated

import numpy as np

from stakes.errors import InputError
from stakes.metrics.declare import CATALOGUE, COUNT, Metric, measure, metric
from stakes.metrics.reasons import NO_PROBABILITIES, NO_ROWS, Undefined
from stakes.tallies import ClassScores, Confusion, ScoreTable
from stakes.tallies.arithmetic import Array, Number, exact, ratio

AVERAGES = {
    "macro": "the plain mean over the classes",
    "weighted": "the mean over the classes, weighted by their frequency",
    "micro": "all classes' counts pooled",
}
"""The ways to make one figure of the figures of each class against the rest."""

EMPTY_CLASS = Undefined("a class has no rows", lambda s: bool((s.sizes == 0).any()))
ADDED_PARTS = Undefined(
    "it compares pairs of rows, which weighted or added counts do not keep", lambda s: s.pair_wins is None
)

_APART = "the classes' score tables do not tell which rows they share; ask for one class"


# ── one figure from many ─────────────────────────────────────────────────────────────────────────────────────────
def average_of(base: Metric, how: str) -> Metric:
    """Return the average of a two-class figure over the classes, each against the rest."""
    if base.many or base.tally not in (Confusion, ScoreTable) or (how == "micro" and base.tally is ScoreTable):
        raise InputError(
            "no-average",
            f"there is no {f'{how}_{base.name}'!r}: {base.name} is not a figure of one class against the rest; write "
            f"{base.name!r}",
        )
    scored = base.tally is ScoreTable
    return replace(
        base,
        name=f"{how}_{base.name}",
        function=functools.partial(_of_scores if scored else _of_decisions, base=base, how=how),
        tally=ClassScores if scored else Confusion,
        family="many",
        question=f"{base.question} ({AVERAGES[how]})",
        formula=f"{how} average of {base.formula}",
        undefined=tuple(r for r in base.undefined if r.words.startswith("some decisions")),
        otherwise=f"{base.name} is undefined for a class",
        aliases=(),
        laws=(),
        swapped=None,
        headline=how == "macro" and base.name in ("precision", "recall", "f1", "auc"),
        many=True,
        of_many="",
        parts=("tables",) if scored else (),
        share_of="",
        interval="sample" if scored else "cells",
        no_interval=base.no_interval or ("" if not scored or base.interval == "auc" else _APART),
    )


def of_two_classes(metric: Metric) -> str:
    """The name of the figure that says of two classes what this one says of several; empty if there is none."""
    plain = metric.name.partition("_")[2] if metric.name.partition("_")[0] in AVERAGES else ""
    return plain or next((one.name for one in CATALOGUE.values() if one.of_many == metric.name), "")


def _of_decisions(table: Confusion, *, base: Metric, how: str, **parameters: float) -> Number:
    rest = table.against_rest()
    chosen = base.with_parameters(**parameters)
    if how == "micro":
        pooled = rest.pooled()
        return measure([chosen], pooled)[0]
    return _mean(np.asarray(measure([chosen], rest)[0]), table.truth_totals if how == "weighted" else None)


def _of_scores(scores: ClassScores, *, base: Metric, how: str, **parameters: float) -> Number:
    values = [base.with_parameters(**parameters).of(table) for table in scores.tables]
    return _mean(np.array(values), exact(scores.sizes) if how == "weighted" else None)


def _mean(values: Array, weights: Array | None) -> Number:
    """The mean over the last axis; a class without rows does not count in a weighted one."""
    values = values.astype(np.float64)
    if weights is None:
        return values.mean(-1)[()]
    weights = weights.astype(np.float64)
    return ratio((np.where(weights > 0, values, 0.0) * weights).sum(-1)[()], weights.sum(-1)[()])


# ── class scores ─────────────────────────────────────────────────────────────────────────────────────────────────
@metric(
    question="How surprised is the model by the class that happened (natural logarithm)?",
    formula="-sum(log(p[y]) for p, y in rows) / n",
    better="lower",
    undefined=(NO_ROWS, NO_PROBABILITIES),
    aliases=("categorical_cross_entropy",),
    pitfall="A single certain and wrong probability makes it infinite; nothing is clipped.",
    reference="Good (1952), Journal of the Royal Statistical Society B 14",
    headline=True,
)
def multiclass_log_loss(s: ClassScores) -> Number:
    return ratio(s.surprise, s.total)


@metric(
    parts=("squares",),
    question="How far, squared and summed over the classes, are the probabilities from what happened?",
    formula="sum(sum((p[c] - (c == y))**2 for c in classes) for p, y in rows) / n",
    range=(0, 2),
    better="lower",
    undefined=(NO_ROWS, NO_PROBABILITIES),
    pitfall="At two classes it is twice the two-class Brier score.",
    reference="Brier (1950), Monthly Weather Review 78",
    headline=True,
)
def multiclass_brier_score(s: ClassScores) -> Number:
    return ratio(s.squares, s.total)


@metric(
    question="What part of the log loss of the class frequencies alone is left? (below 1 is useful)",
    formula="-sum(log(p[y]) for p, y in rows) / -sum(log(frequency[y]) for p, y in rows)",
    better="lower",
    undefined=(NO_ROWS, NO_PROBABILITIES),
    otherwise="every row is of the same class, and the model knows it",
    pitfall="One certain and wrong probability makes it infinite; at other class frequencies it is another figure.",
    reference="Ferrer (2022), Analysis and comparison of classification metrics, arXiv 2209.05355",
)
def normalised_multiclass_log_loss(s: ClassScores) -> Number:
    return ratio(s.surprise, s.constant().surprise)


@metric(
    parts=("squares",),
    question="What part of the Brier score of the class frequencies alone is left? (below 1 is useful)",
    formula="squares / sum(sum((frequency[c] - (c == y))**2 for c in classes) for p, y in rows)",
    better="lower",
    undefined=(NO_ROWS, NO_PROBABILITIES),
    otherwise="every row is of the same class, and the model knows it",
    pitfall="Compared with the frequencies in these rows: at others it is another figure.",
    reference="Ferrer (2022), Analysis and comparison of classification metrics, arXiv 2209.05355",
)
def normalised_multiclass_brier_score(s: ClassScores) -> Number:
    return ratio(s.squares, s.constant().squares)


@metric(
    parts=("ranks",),
    share_of="total",
    question="How often is the true class among the k highest scores?",
    formula="sum(rank(p, y) < k for p, y in rows) / n",
    better="higher",
    pitfall="Of classes that tie the first goes before the others, as in decisions.",
    reference="Russakovsky et al. (2015), International Journal of Computer Vision 115",
)
def top_k_accuracy(s: ClassScores, *, k: Annotated[int, COUNT] = 2) -> Number:
    return ratio(exact(s.ranks[: int(k)]).sum(), exact(s.ranks).sum())


@metric(
    question="How well do the scores tell every two classes apart, on average over the pairs?",
    formula="mean(pair_auc(i, j) for i in classes for j in classes if i != j)",
    parts=("pairs",),
    range=(0, 1),
    better="higher",
    undefined=(EMPTY_CLASS, ADDED_PARTS),
    aliases=("one_against_one_auc", "roc_auc_ovo"),
    pitfall="Every pair counts alike, however rare its classes: easy pairs hide one that is not.",
    reference="Hand & Till (2001), Machine Learning 45",
)
def hand_till_auc(s: ClassScores) -> Number:
    if s.pair_wins is None:
        return math.nan
    wins, sizes = exact(s.pair_wins), exact(s.sizes)
    k = len(sizes)
    areas = [ratio(wins[i, j], 2 * sizes[i] * sizes[j]) for i in range(k) for j in range(k) if i != j]
    return math.fsum(areas) / len(areas)
