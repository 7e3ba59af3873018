"""permutation_test(): could the figure of a model be chance?"""

from dataclasses import replace
from typing import Any

import numpy as np

from stakes import errors, metrics
from stakes.engines.counting import count_rows, in_batches
from stakes.engines.plan import Counted
from stakes.engines.reading import Read, count_read, read_rows
from stakes.errors import About, Given, InputError
from stakes.evaluation import judge, refuse_useless_threshold
from stakes.evaluation.base import Evaluation
from stakes.evaluation.cautions import warn_of_wrongs
from stakes.metrics import Metric
from stakes.tallies import ClassScores, Confusion, ErrorSums, JointCounts, ScoreTable, Tally
from stakes.tallies.checks import check_whole
from stakes.uncertainty.permutation import PermutationTest, permute

_PERMUTATIONS = 10_000
_REFIT_OPTIONS = ("cv", "test", "jobs", "groups")

_DEFAULTS: dict[type[Tally], str] = {
    ScoreTable: "auc",
    ClassScores: "macro_auc",
    Confusion: "mcc",
    JointCounts: "accuracy",
    ErrorSums: "r2",
}
"""The figure to test, of the first of these tallies that there is."""


def permutation_test(
    data: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    truth: Any = None,
    score: Any = None,
    prediction: Any = None,
    metric: str | Metric | None = None,
    positive: Any = None,
    classes: Any = None,
    task: str = "auto",
    weight: Any = None,
    threshold: float | None = None,
    cluster: Any = None,
    permutations: int | None = None,
    seed: int = 0,
    where: str | None = None,
    alike: Any = None,
    **refit: Any,
) -> PermutationTest:
    """Compare a figure with what it is when the truth is shuffled: could it be chance?

    Predictions are given as in :func:`stakes.evaluate`; they stay, and the truth is shuffled against them (each truth
    together with its weight). The figure is the auc of scores, the mcc of decisions and the r2 of predicted numbers,
    unless ``metric`` names another. Decisions between two classes are not shuffled: their p is exact. There are 10,000
    permutations unless another number is given. An estimator with ``X`` and ``y`` is fitted again for each
    permutation; ``refit`` are the options of that: ``cv`` (a way to split, as ``how`` of :func:`stakes.validate`),
    ``test`` (1 or 2), ``jobs`` and ``groups``.

    >>> print(permutation_test(truth=[1, 1, 1, 0, 0, 0, 0, 0], prediction=[1, 1, 1, 0, 0, 0, 0, 0]))
    mcc 1; Fisher's exact test, one-sided: p = 0.018
    """
    name = metric.text if isinstance(metric, Metric) else metric
    columns = {"positive": positive, "classes": classes, "alike": alike, "weight": weight}
    if callable(getattr(data, "fit", None)):
        fixed = {"truth": truth, "score": score, "prediction": prediction, "threshold": threshold}
        fixed |= {"weight": columns.pop("weight"), "cluster": cluster, "where": where}
        _refuse(fixed, errors.only_for_predictions)
        from stakes.validation.refit import refit_permutation

        options = {
            **columns,
            "permutations": permutations,
            "task": None if task == "auto" else task,
        }
        given = {name: value for name, value in options.items() if value is not None}
        if "how" in refit:
            refit["cv"] = refit.pop("how")  # as validate() calls it
        _refuse({name: name for name in refit if name not in _REFIT_OPTIONS}, errors.unknown_refit_options)
        return refit_permutation(data, X, y, metric=name, seed=seed, **given, **refit)
    if X is not None or y is not None or truth is None:
        raise errors.positional_arrays("permutation_test")
    _refuse(refit, errors.only_for_estimators)
    if cluster is not None:
        raise InputError(
            "shuffled-clusters",
            Given("cluster"),
            " does not go with shuffling rows: rows of a cluster are alike, and a shuffle that parts them takes "
            "chance for a finding far too often; keep one row of each cluster",
        )
    permutations = _PERMUTATIONS if permutations is None else permutations
    check_whole("permutations", permutations, least=1)
    refuse_useless_threshold(threshold, score, prediction)
    columns |= {"truth": truth, "score": score, "prediction": prediction, "task": task, "where": where}
    read = None if in_batches(data) else read_rows(data, **columns)
    counted = count_rows(data, **columns) if read is None else count_read(read)
    warn_of_wrongs(Evaluation(counted))
    return _test(counted, read, threshold, name, permutations, seed)


def _refuse(arguments: dict[str, Any], words: Any) -> None:
    given = [name for name, value in arguments.items() if value is not None]
    if given:
        raise words(given)


def _test(
    counted: Counted, read: Read | None, threshold: float | None, name: str | None, permutations: int, seed: int
) -> PermutationTest:
    _refuse_idle_shuffles(counted)
    evaluation = judge(counted, threshold)
    metric = _metric(evaluation, _default(counted) if name is None else name)

    def again(rng: np.random.Generator) -> Any:
        assert read is not None
        rows = read.rows.shuffled(rng.permutation(len(read.rows.truth)))
        return _tally(judge(count_read(replace(read, rows=rows), parts=metric.parts), threshold), metric)

    return permute(_tally(evaluation, metric), metric, permutations, seed, again if read else None)


def _refuse_idle_shuffles(counted: Counted) -> None:
    """Refuse what shuffling cannot change: a single row, or rows of a single class."""
    tally: Any = next(iter(counted.tallies.values()))
    if isinstance(tally, ErrorSums):
        if tally.rows is not None and len(tally.rows.truth) == 1:
            raise errors.single_row()
        return
    if tally.total == 1 and not tally.weighted:
        raise errors.single_row()
    occurring = [name for name, size in _sizes(tally).items() if size]
    if len(occurring) < 2:
        raise InputError(
            "single-class",
            About("truth"),
            f" is {occurring[0]!r} in every row, which shuffling cannot change; give rows of two classes",
        )


def _sizes(tally: Any) -> dict[str, Any]:
    """How often each class is the truth."""
    if isinstance(tally, ScoreTable):
        return {tally.positive: tally.P, tally.negative: tally.N}
    if isinstance(tally, ClassScores):
        return dict(zip(tally.classes, tally.sizes, strict=True))
    sizes = tally.sizes(0) if isinstance(tally, JointCounts) else tally.truth_totals
    return dict(zip(tally.truths, sizes, strict=True))


def _default(counted: Counted) -> str:
    return next(name for kind, name in _DEFAULTS.items() if kind.kind in counted.tallies)


def _metric(evaluation: Any, name: str) -> Metric:
    metric = metrics.find(name)
    if _tally(evaluation, metric) is not None:
        return metric
    estimate = evaluation[metric.text]  # an error in words, a reason, or what the figure is called for several classes
    if not estimate.defined:
        raise errors.nothing_to_compare(estimate.name, estimate.reason)
    return metrics.find(estimate.name)


def _tally(evaluation: Any, metric: Metric) -> Any:
    """The tally that the figure is a function of, if it is there."""
    if metric.tally is not Confusion:
        return evaluation.counted.tallies.get(metric.tally.kind)
    confusion = getattr(evaluation, "confusion", None)
    return confusion if confusion is not None else getattr(evaluation, "joint", None)
