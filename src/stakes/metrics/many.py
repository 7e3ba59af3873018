"""Figures of more than two classes: one number from the figures of each class against the rest, and of class scores."""

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from stakes.errors import InputError
from stakes.frozen import dataclass, field, replace
from stakes.metrics.baselines import Baseline
from stakes.metrics.declare import CATALOGUE, COUNT, Metric, measure, metric
from stakes.metrics.folds import Shared
from stakes.metrics.probability import (
    NEEDS_PROBABILITIES,
    OF_THESE_ROWS,
    WEKA,
    mean_loss,
    mean_probability_error,
    surprise_of_frequencies,
)
from stakes.metrics.ranking import auc
from stakes.metrics.reasons import BINNED, NO_PROBABILITIES, NO_ROWS, Undefined
from stakes.tallies import ClassScores, Confusion, ScoreTable
from stakes.tallies.arithmetic import Array, Number, exact, ratio, weighted_sum
from stakes.tallies.columns import COUNTS, Columns

AVERAGES = {
    "macro": "the plain mean over the classes",
    "weighted": "the mean over the classes, weighted by their frequency",
    "micro": "all classes' counts pooled",
}
"""The averages of the figures of each class against the rest."""

EMPTY_CLASS = Undefined("a class has no rows", lambda s: bool((s.sizes == 0).any()))
ADDED_PARTS = Undefined(
    "it compares pairs of rows, which added counts and older weighted ones do not keep", lambda s: s.pair_wins is None
)

_APART = "the classes' score tables do not show which rows they share; ask for one class"


# ── one figure from many ─────────────────────────────────────────────────────────────────────────────────────────
def average_of(base: Metric, how: str) -> Metric:
    """Return the average of a two-class figure over the classes, each against the rest."""
    if how == "micro" and base.tally is ScoreTable and not base.many:
        raise InputError(
            "no-average",
            f"there is no 'micro_{base.name}': scores of different classes are not pooled; write "
            f"'macro_{base.name}' or 'weighted_{base.name}'",
        )
    if base.many or base.tally not in (Confusion, ScoreTable):
        raise InputError(
            "no-average",
            f"there is no {f'{how}_{base.name}'!r}: {base.name} is not a figure of one class against the rest; write "
            f"{base.name!r}",
        )
    scored = base.tally is ScoreTable
    return replace(
        base,
        name=f"{how}_{base.name}",
        function=Average(base, how),
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
        within_classes=how == "macro" and base.share_of == "P",  # the rest of a class is a mixture of classes
        loss=None,
        root=False,
        one_row=None,
        changes=functools.partial(_changes_of_average, base=base, how=how) if scored else None,
        interval="influence" if scored else "cells",
        no_interval=base.no_interval or ("" if not scored or base.one_row or base.plain_mean else _APART),
    )


def of_class(base: Metric, place: int) -> Metric:
    """Return a two-class figure of one class against the rest, as a figure of the table of all classes."""
    moved = tuple(Undefined(one.words, functools.partial(_applies_to_class, one, place)) for one in base.undefined)
    return replace(
        base,
        function=OfClass(base, place),
        undefined=moved,
        baseline=Baseline(base.baseline.words, value=functools.partial(_baseline_of_class, base, place)),
        many=True,
        share_of="",
        within_classes=base.share_of == "P",
        swapped=None,
        interval="cells",
    )


@dataclass(frozen=True)
class OfClass(Shared):
    """The function of such a figure."""

    base: Metric
    place: int

    @classmethod
    def all(cls, wanted: Sequence[tuple["OfClass", Mapping[str, float]]], tally: Confusion) -> Sequence[Number]:
        """One figure after another."""
        return [one.base.with_parameters(**given).of(_class_of(tally, one.place)) for one, given in wanted]


def _class_of(table: Confusion, place: int) -> Confusion:
    rest = table.against_rest()
    return rest.with_counts(rest.counts[..., place, :, :])


def _applies_to_class(reason: Undefined, place: int, table: Confusion) -> Number:
    return reason.applies(_class_of(table, place))


def _baseline_of_class(base: Metric, place: int, figure: Metric, table: Confusion) -> Number:
    return base.with_parameters(**figure.parameters).baseline_of(_class_of(table, place))


def of_two_classes(metric: Metric) -> Metric:
    """Turn a figure of the scores of several classes into one of the scores of the positive class of two.

    It is the figure of that class if the other class gives the same, or else one under its own name, with 1 − p (or the
    negative score) as the score of the other class.
    """
    if metric.tally is not ClassScores:
        return metric
    how, _, base = metric.name.partition("_")
    base = base if how in AVERAGES else metric.name.replace("multiclass_", "")
    plain = CATALOGUE.get(auc.name if metric.name == "hand_till_auc" else base)
    if plain is not None and plain is not metric:
        alike = plain.range == metric.range if "multiclass" in metric.name else plain.swapped == plain.name
        if alike:
            return plain.with_parameters(**metric.parameters)
    changed: dict[str, Any] = {"tally": ScoreTable, "parts": (), "changes": None}
    if isinstance(metric.function, Average):
        average = metric.function
        function = functools.partial(_average_of_two, average)
        return replace(metric, **changed, function=function, no_interval=average.base.no_interval)
    if metric.loss is None:
        return metric
    loss = functools.partial(_loss_of_two, metric.loss)
    undefined = (*metric.undefined, *(reason for reason in NEEDS_PROBABILITIES if reason not in metric.undefined))
    return replace(metric, **changed, function=functools.partial(_mean_of_two, loss), loss=loss, undefined=undefined)


def _average_of_two(average: "Average", table: ScoreTable, **given: float) -> Number:
    base = average.base.with_parameters(**given)
    each = [np.asarray(measure([base], one)[0], np.float64) for one in (table, table.flipped())]
    sizes = [np.asarray(size, np.float64) for size in (table.P, table.N)]
    return mean_over_classes(np.stack(each, -1), np.stack(sizes, -1) if average.how == "weighted" else None)


def _loss_of_two(loss: Callable[..., Array], positive: Array, score: Array, **given: float) -> Array:
    """The loss of a row; the positive class comes first, so that a tie is decided like a score of ½."""
    return loss(1 - positive.astype(np.int64), np.stack([score, 1 - score], -1), **given)


def _mean_of_two(loss: Callable[..., Array], table: ScoreTable, **given: float) -> Number:
    return mean_loss(functools.partial(loss, **given), table)


@dataclass(frozen=True)
class Average(Shared):
    """One figure from those of each class against the rest, which all averages of a tally share."""

    base: Metric
    how: str

    @classmethod
    def all(
        cls, wanted: Sequence[tuple["Average", Mapping[str, float]]], tally: Confusion | ClassScores
    ) -> Sequence[Number]:
        """Work out the figures of the classes once for all averages."""
        bases = [average.base.with_parameters(**given) for average, given in wanted]
        distinct = {base.full_text: base for base in bases}
        figures = list(distinct.values())
        if isinstance(tally, Confusion):
            rest = tally.against_rest()
            each, pooled, sizes = measure(figures, rest), measure(figures, rest.pooled()), tally.truth_totals
        else:
            each = pooled = list(np.array([measure(figures, table) for table in tally.tables], np.float64).T)
            sizes = exact(tally.sizes)
        places = {text: place for place, text in enumerate(distinct)}

        def average(how: str, place: int) -> Number:
            if how == "micro":
                return pooled[place]
            return mean_over_classes(np.asarray(each[place]), sizes if how == "weighted" else None)

        return [average(one.how, places[base.full_text]) for (one, _), base in zip(wanted, bases, strict=True)]


@dataclass(frozen=True, eq=False)
class ClassRows:
    """Rows with a score for each class, the code of the true one, and a weight.

    Where one stands for many alike, ``squares`` are the sums of their squared weights.
    """

    scores: Array
    truth: Array
    weight: Array
    squares: Array | None = None

    @cached_property
    def shares(self) -> Array:
        """How frequent the classes are."""
        return np.asarray(np.bincount(self.truth, self.weight, self.scores.shape[1]) / self.weight.sum())

    @cached_property
    def against_rest(self) -> list["Ranking"]:
        """The rows ranked by the score of each class, against the rest."""
        k = self.scores.shape[1]
        return [Ranking(self.scores[:, c], self.truth == c, self.weight, self.squares) for c in range(k)]


@dataclass(frozen=True, eq=False)
class Ranking:
    """Rows ranked by a score: which are positive, and what each weighs.

    Where one stands for many alike, ``squares`` are the sums of their squared weights.
    """

    scores: Array
    positive: Array
    weight: Array
    squares: Array | None = None
    _known: dict[str, Array] = field(default_factory=dict)

    @cached_property
    def _levels(self) -> tuple[Array, Array, Array]:
        """The distinct scores, highest first; positives and negatives at each; and the place of each row."""
        levels, places = np.unique(-self.scores, return_inverse=True)
        weights = (np.where(here, self.weight, 0.0) for here in (self.positive, ~self.positive))
        return -levels, np.stack([np.bincount(places, column, len(levels)) for column in weights]), places

    @property
    def _number(self) -> float:
        """How many rows there are, with those that others stand for."""
        return len(self.weight) if self.squares is None else float((self.weight**2 / self.squares).sum())

    @property
    def _row_weight(self) -> float:
        """The weight of an effective row (Kish)."""
        squares = self.weight**2 if self.squares is None else self.squares
        return float(squares.sum() / self.weight.sum())

    def value(self, base: Metric) -> float:
        """A figure of the ranking."""
        return float(np.ravel(base.of(self._table))[0])

    @cached_property
    def _table(self) -> ScoreTable:
        scores, counts, _ = self._levels
        values = dict(zip(COUNTS, counts[:, None], strict=True))  # one table along a leading axis
        values |= {f"{name}_squared": column * self._row_weight for name, column in values.items()}
        return ScoreTable("positive", "negative", Columns(scores, values))

    def changes(self, base: Metric) -> Array:
        """What a figure loses without each row; NaN where a class is empty."""
        if base.full_text not in self._known:  # several averages ask for the same
            self._known[base.full_text] = self._changes(base)
        return self._known[base.full_text]

    def _changes(self, base: Metric) -> Array:
        if base.loss is not None:
            return mean_changes(base.row_losses(self.positive, self.scores), self.weight)
        assert base.one_row is not None
        if self.positive.all() or not self.positive.any():
            return np.full(len(self.scores), math.nan)
        _, counts, places = self._levels
        unit = self._row_weight if base.one_row.place else self.weight.sum() / self._number
        found = base.one_row.changes(*counts, np.full(counts.shape, unit), **base.parameters)
        return np.asarray(found[np.where(self.positive, 0, 1), places] * self.weight / unit)

    def unseen(self, base: Metric) -> float:
        """The largest change that one more row could make in a figure."""
        return unseen_in_ranking(base, self.value(base), self._levels[1] / self._row_weight)


def unseen_in_ranking(base: Metric, value: float, counts: Array) -> float:
    """The largest change that one more row could make, given the positives and negatives at each score.

    It is 0 for losses without an end.
    """
    low, high = base.range
    declared = 0.0 if base.one_row is None else base.one_row.unseen(value, *counts, **base.parameters)
    if declared or not math.isfinite(high - low):
        return declared
    rows = counts.sum() if base.one_row is None else counts.sum(1).min()  # a ranking rests on the rarer class
    return max(value - low, high - value) / float(rows + 1)


def _changes_of_average(rows: ClassRows, *, base: Metric, how: str) -> Array:
    """What the average over the classes loses without each row."""
    weighted = how == "weighted"
    shares = rows.shares if weighted else np.full(len(rows.shares), 1 / len(rows.shares))
    found = np.zeros(len(rows.truth))
    for c in np.flatnonzero(shares):
        ranking = rows.against_rest[c]
        found += shares[c] * ranking.changes(base)
        if weighted:  # the share of the class changes, too
            moved = rows.weight * (ranking.positive - shares[c]) / (rows.weight.sum() - rows.weight)
            found += ranking.value(base) * moved
    return found


def mean_changes(loss: Array, weight: Array) -> Array:
    """Return what the mean of the losses loses without each row."""
    total = weight.sum()
    return np.asarray(weight * (loss - weighted_sum(loss, weight) / total) / np.maximum(total - weight, 1e-300))


def mean_over_classes(values: Array, weights: Array | None) -> Number:
    """The mean over the last axis; a class without rows does not count in a weighted one."""
    values = values.astype(np.float64)
    if weights is None:
        return values.mean(-1)[()]
    weights = weights.astype(np.float64)
    return ratio((np.where(weights > 0, values, 0.0) * weights).sum(-1)[()], weights.sum(-1)[()])


# ── what a row of class scores adds ──────────────────────────────────────────────────────────────────────────────
def _own(truth: Array, scores: Array) -> Array:
    """The score of the class that happened."""
    return scores[np.arange(len(truth)), truth].astype(np.float64)


def _surprise(truth: Array, scores: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(0.0 - np.log(_own(truth, scores)))


def _squares(truth: Array, scores: Array) -> Array:
    return np.asarray((scores.astype(np.float64) ** 2).sum(1) - 2 * _own(truth, scores) + 1)


ROW_LOSSES = (_surprise, _squares)
"""The losses whose moments class scores keep where no rows are kept, in the order of these."""


def _distances(truth: Array, scores: Array) -> Array:
    return np.asarray(scores.astype(np.float64).sum(1) - 2 * _own(truth, scores) + 1)


def _in_top(truth: Array, scores: Array, k: float) -> Array:
    own, places = _own(truth, scores)[:, None], np.arange(scores.shape[1])
    ahead = (scores > own) | ((scores == own) & (places < truth[:, None]))
    return np.asarray(np.count_nonzero(ahead, axis=1) < k, np.float64)


def _squares_of_frequencies(sizes: Array) -> Array:
    """The mean Brier score of giving everyone the class frequencies; the classes lie along the last axis."""
    return np.asarray(1 - ((sizes / sizes.sum(-1, keepdims=True)) ** 2).sum(-1))


def _distances_of_frequencies(sizes: Array) -> Array:
    """The same of absolute distances."""
    return 2 * _squares_of_frequencies(sizes)


def _pair_changes(rows: ClassRows) -> Array:
    """What the mean area of all pairs of classes loses without each row."""
    k = len(rows.shares)
    whole, own = np.zeros(len(rows.truth)), [np.flatnonzero(rows.truth == c) for c in range(k)]
    for i, j in itertools.permutations(range(k), 2):
        both = np.concatenate([own[i], own[j]])
        squares = None if rows.squares is None else rows.squares[both]
        pair = Ranking(rows.scores[both, i], np.arange(len(both)) < len(own[i]), rows.weight[both], squares)
        whole[both] += pair.changes(auc) / (k * (k - 1))
    return whole


# ── class scores ─────────────────────────────────────────────────────────────────────────────────────────────────
@metric(
    loss=_surprise,
    question="How surprised is the model by the class that happened (natural logarithm)?",
    formula="-sum(log(p[y]) for p, y in rows) / n",
    undefined=(NO_ROWS, NO_PROBABILITIES),
    aliases=("categorical_cross_entropy",),
    pitfall="A single certain and wrong probability makes it infinite; nothing is clipped.",
    reference="Good (1952), Journal of the Royal Statistical Society B 14",
    headline=True,
)
def multiclass_log_loss(s: ClassScores) -> Number:
    return ratio(s.surprise, s.total)


@metric(
    loss=_squares,
    parts=("squares",),
    question="What is the mean squared distance of the probabilities from what happened, summed over the classes?",
    formula="sum(sum((p[c] - (c == y))**2 for c in classes) for p, y in rows) / n",
    range=(0, 2),
    undefined=(NO_ROWS, NO_PROBABILITIES),
    pitfall="At two classes it is twice the two-class Brier score.",
    reference="Brier (1950), Monthly Weather Review 78",
    headline=True,
)
def multiclass_brier_score(s: ClassScores) -> Number:
    return ratio(s.squares, s.total)


@metric(
    loss=_surprise,
    relative_to=surprise_of_frequencies,
    question="What is left of the log loss that the class frequencies alone would get? (below 1 is useful)",
    formula="-sum(log(p[y]) for p, y in rows) / -sum(log(frequency[y]) for p, y in rows)",
    undefined=(NO_ROWS, NO_PROBABILITIES),
    otherwise="every row is of the same class, and the model knows it",
    pitfall="One certain and wrong probability makes it infinite; at other class frequencies it is another figure.",
    reference="Ferrer (2022), Analysis and comparison of classification metrics, arXiv 2209.05355",
)
def normalised_multiclass_log_loss(s: ClassScores) -> Number:
    return ratio(s.surprise, s.constant().surprise)


@metric(
    loss=_squares,
    relative_to=_squares_of_frequencies,
    parts=("squares",),
    question="What is left of the Brier score that the class frequencies alone would get? (below 1 is useful)",
    formula="squares / sum(sum((frequency[c] - (c == y))**2 for c in classes) for p, y in rows)",
    undefined=(NO_ROWS, NO_PROBABILITIES),
    otherwise="every row is of the same class, and the model knows it",
    pitfall="Compared with the frequencies in these rows: at others it is another figure.",
    reference="Ferrer (2022), Analysis and comparison of classification metrics, arXiv 2209.05355",
)
def normalised_multiclass_brier_score(s: ClassScores) -> Number:
    return ratio(s.squares, s.constant().squares)


@metric(
    loss=_squares,
    relative_to=lambda sizes: np.asarray(sizes.shape[-1], np.float64),
    root=True,
    parts=("squares",),
    question="How far are the probabilities of the classes from what happened, large errors counting more?",
    formula="sqrt(sum(sum((p[c] - (c == y))**2 for c in classes) for p, y in rows) / (n * len(classes)))",
    range=(0, 1),
    undefined=(NO_ROWS, NO_PROBABILITIES),
    pitfall="The root of the mean over rows and classes: the more classes there are, the smaller it is.",
    reference=WEKA,
)
def multiclass_root_mean_squared_probability_error(s: ClassScores) -> Number:
    return math.sqrt(ratio(s.squares, s.total * len(s.classes)))


@metric(
    loss=_distances,
    relative_to=_distances_of_frequencies,
    parts=("tables",),
    question="What is left of the mean error of the class frequencies alone? (below 1 is useful)",
    formula="distances / sum(sum(abs(frequency[c] - (c == y)) for c in classes) for p, y in rows)",
    undefined=(NO_ROWS, NO_PROBABILITIES, BINNED),
    otherwise="every row is of the same class, and the model knows it",
    pitfall=OF_THESE_ROWS,
    reference=WEKA,
)
def multiclass_relative_probability_error(s: ClassScores) -> Number:
    distances = math.fsum(float(mean_probability_error.of(table)) * float(table.total) for table in s.tables)
    return ratio(distances, float(_distances_of_frequencies(s.sizes.astype(np.float64))) * float(s.total))


@metric(
    loss=_squares,
    relative_to=_squares_of_frequencies,
    root=True,
    parts=("squares",),
    question="What is left of the root mean squared error of the class frequencies alone? (below 1 is useful)",
    formula="sqrt(squares / sum(sum((frequency[c] - (c == y))**2 for c in classes) for p, y in rows))",
    undefined=(NO_ROWS, NO_PROBABILITIES),
    otherwise="every row is of the same class, and the model knows it",
    pitfall=OF_THESE_ROWS,
    reference=WEKA,
)
def multiclass_root_relative_squared_probability_error(s: ClassScores) -> Number:
    return math.sqrt(ratio(s.squares, s.constant().squares))


@metric(
    loss=_in_top,
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
    within_classes=True,
    changes=_pair_changes,
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
    return math.nan if s.pair_wins is None else _mean_of_pairs(exact(s.pair_wins), s)


def hand_till_bounds(s: ClassScores) -> tuple[float, float]:
    """The Hand–Till auc of scores in bins, were every pair in a bin lost, or won; the exact one lies between."""
    assert s.pair_wins is not None
    wins, ties = exact(s.pair_wins), exact(np.zeros_like(s.pair_wins) if s.pair_ties is None else s.pair_ties)
    return _mean_of_pairs(wins - ties, s), _mean_of_pairs(wins + ties, s)


def _mean_of_pairs(wins: Array, s: ClassScores) -> float:
    """The mean share of wins, which are counted twice, over all pairs of classes."""
    sizes = exact(s.sizes)
    areas = [ratio(wins[i, j], 2 * sizes[i] * sizes[j]) for i, j in itertools.permutations(range(len(sizes)), 2)]
    return math.fsum(areas) / len(areas)
