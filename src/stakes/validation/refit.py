"""Could a validated figure be chance? Models are fitted again on shuffled data (Ojala & Garriga 2010, JMLR 11)."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from stakes import metrics
from stakes.errors import Given, InputError, Pass
from stakes.metrics import Metric
from stakes.metrics.cost import expected_cost
from stakes.metrics.reasons import NO_PROBABILITIES
from stakes.metrics.usual import REFITTED
from stakes.question.options import Column, Data, Value
from stakes.question.question import Question
from stakes.tallies import ClassScores, Confusion, ErrorSums, ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import check_whole
from stakes.uncertainty.permutation import PermutationTest, as_good
from stakes.validation.features import Estimator, as_table, shuffle_within
from stakes.validation.fitting import Predictions, evaluate, fit_all, metric_of, run, value_of
from stakes.validation.result import mean_of_defined
from stakes.validation.splits import number_groups, split
from stakes.validation.target import Target, read_rows

_LABELS, _FEATURES = 1, 2
_QUESTIONS = {
    _LABELS: "Are the features and the labels independent?",
    _FEATURES: "Does the model use dependence between the features within a class?",
}
_SHUFFLED = {_LABELS: "labels", _FEATURES: "each feature within its class"}
_PERMUTATIONS = 100


def refit_permutation(
    estimator: Estimator, X: Data, y: Column, wanted: str | None, question: Question
) -> PermutationTest:
    """Compare a validated figure with what the same validation gives on shuffled data.

    Test 1 shuffles the labels: a small p says that features and labels are not independent. Test 2 shuffles every
    feature by itself among the rows of the same class: a small p says that the model uses the dependence between
    features within the classes. p is (1 + as good or better) / (1 + permutations); a shuffle on which the figure is
    undefined counts as better, which only makes p larger.

    The figure is the accuracy, or for numbers the mean squared error, unless another is ``wanted``. It is the
    pooled out-of-fold one; a figure of how scores are ordered, such as auc, is the mean over folds instead, because
    the scores of different models have no common order. ``cv`` is what :func:`stakes.validate` calls ``how``. Every
    shuffle has a seed of its own, so the result does not depend on ``jobs``. With ``groups``, which must have a single
    label each, the labels of whole groups change places, and a weight always goes with its label.
    """
    cv, test, seed = (question[name] for name in ("cv", "test", "seed"))
    permutations = _PERMUTATIONS if question["permutations"] is None else question["permutations"]
    check_whole("permutations", permutations, 1)
    X, target, beside, dropped = read_rows(estimator, X, y, question)
    groups = beside["groups"]
    usual = REFITTED[ErrorSums if target.plan is None else Confusion]
    wanted = wanted or (usual if question.pricing is None else expected_cost.name)
    if metrics.find(wanted).better == "neither":
        raise InputError(
            "neither-better",
            f"{wanted} is neither better when higher nor when lower, so nothing can be as good or better",
        )
    group = None if groups is None else number_groups(groups, X)
    _check(test, target, group)
    X = as_table(X) if test == _FEATURES else X
    if not hasattr(cv, "split") and isinstance(cv, Iterable) and not isinstance(cv, str):
        cv = list(cv)  # an iterator would be used up by the first validation
    trial = _Trial(estimator, cv, groups, question)
    value, chosen, words, prior = trial.observed(X, target, wanted)
    combined = "mean over folds" if _of_order(chosen) else "pooled out-of-fold"
    seeds = np.random.SeedSequence(seed).spawn(permutations)
    tasks = [partial(_figure_of_shuffle, trial, X, target, group, test, chosen, one) for one in seeds]
    null = np.array(list(run(tasks, question["jobs"], "fitting on shuffled data")))
    return PermutationTest(
        metric=chosen.text,
        value=value,
        p_value=(1 + int(as_good(chosen, value)(null).sum())) / (1 + permutations),
        null=null,
        permutations=permutations,
        method=f"{_SHUFFLED[test]} shuffled and models fitted again; {combined}; {words}",
        question=_QUESTIONS[test],
        dropped=dropped,
        prior=prior,
    )


def _check(test: object, target: Target, group: Array | None) -> None:
    """Refuse shuffles that would not keep what the data have in common with the null hypothesis."""
    if test not in _QUESTIONS or isinstance(test, bool):
        raise InputError(
            "no-such-permutation-test",
            Given("test", test),
            " is not known; 1 shuffles the labels, 2 shuffles each feature within its class",
        )
    if test == _FEATURES and target.plan is None:
        raise InputError(
            "features-within-numbers",
            Given("test", 2),
            " shuffles each feature within its class, and y holds numbers; give classes, or ",
            Pass("test", 1),
        )
    if group is None:
        return
    if test == _FEATURES:
        raise InputError(
            "features-across-groups",
            Given("test", 2),
            " would carry features from one group into another; leave ",
            Pass("groups"),
            " out, or give ",
            Pass("test", 1),
        )
    mixed = np.flatnonzero(target.values[_first_rows(group)][group] != target.values)
    if len(mixed):
        raise InputError(
            "group-of-several-labels",
            f"groups: row {int(mixed[0]) + 1:,} (counting from 1) has another label than the first row of its group; "
            "labels can only change places between groups that have a single label each",
        )


def _first_rows(group: Array) -> Array:
    """A row of every group."""
    return np.unique(group, return_index=True)[1]


# ── one validation ───────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False)
class _Trial:
    """One validation, which is done in the same way on the data and on every shuffle of them."""

    estimator: Estimator
    cv: Value
    groups: Column
    question: Question

    def observed(self, X: Data, target: Target, wanted: str) -> tuple[float, Metric, str, Mapping[str, float] | None]:
        """Return the figure of the data as they are, which metric that is for them, how rows were split, the prior."""
        predictions, rows, fold, words = self._out_of_fold(X, target)
        evaluated = evaluate(target, predictions, rows, self.question)
        chosen = metric_of(evaluated, wanted)
        value = self._figure(chosen, target, predictions, rows, fold)
        if math.isnan(value):
            raise InputError(
                "undefined-figure",
                f"{chosen.text} is undefined ({evaluated[wanted].reason or 'it is undefined on every fold'}), so there "
                "is nothing to test; choose another metric or cv",
            )
        return value, chosen, words, evaluated._prior_of(chosen)

    def figure(self, X: Data, target: Target, metric: Metric) -> float:
        """Return the figure of other data."""
        predictions, rows, fold, _ = self._out_of_fold(X, target)
        return self._figure(metric, target, predictions, rows, fold)

    def _out_of_fold(self, X: Data, target: Target) -> tuple[Predictions, Array, Array, str]:
        splits = split(self.cv, X, target, self.groups, self.question["seed"])
        fitted = fit_all(self.estimator, X, target, splits.all, training=False, doing="")
        rows, fold = splits.test_rows
        return Predictions.joined([one.test for one in fitted]), rows, fold, splits.words

    def _figure(self, metric: Metric, target: Target, predictions: Predictions, rows: Array, fold: Array) -> float:
        if not _of_order(metric):
            return value_of(metric, evaluate(target, predictions, rows, self.question))
        folds = evaluate(target, predictions, rows, self.question, by=fold).segments.values()
        return mean_of_defined([value_of(metric, part) for part in folds])


def _of_order(metric: Metric) -> bool:
    """Whether a figure compares the scores of rows with each other, which only makes sense within a fold."""
    return metric.tally in (ScoreTable, ClassScores) and NO_PROBABILITIES not in metric.undefined


# ── shuffles ─────────────────────────────────────────────────────────────────────────────────────────────────────
def _figure_of_shuffle(
    trial: _Trial, X: Data, target: Target, group: Array | None, test: int, metric: Metric, seed: np.random.SeedSequence
) -> float:
    rng = np.random.default_rng(seed)
    if test == _FEATURES and target.labels is not None:
        return trial.figure(shuffle_within(X, target.labels.codes, rng), target, metric)
    return trial.figure(X, _shuffle_labels(target, group, rng), metric)


def _shuffle_labels(target: Target, group: Array | None, rng: np.random.Generator) -> Target:
    if group is None:
        return target.reordered(rng.permutation(len(target)))
    return target.reordered(rng.permutation(_first_rows(group))[group])
