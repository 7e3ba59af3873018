"""permutation_test(): could the figure of a model be chance?"""

from dataclasses import replace
from functools import partial
from typing import Unpack

import numpy as np

from stakes import errors, metrics
from stakes.engines.counting import count_elsewhere, count_rows, in_batches
from stakes.engines.files.text_format import in_format
from stakes.engines.plan import Counted
from stakes.engines.reading import Read, RowQuestion, count_read, read_and_count
from stakes.errors import About, Given, InputError, several
from stakes.evaluation import judge, judge_counts
from stakes.evaluation.base import Evaluation
from stakes.evaluation.cautions import warn_of_wrongs
from stakes.evaluation.from_tallies import are_tallies, load_sum
from stakes.metrics import Metric, cost, many
from stakes.metrics.usual import TESTED
from stakes.question.options import Column, Data, Permuted, asks, options, why_not
from stakes.question.question import Question
from stakes.tallies import ClassScores, Confusion, ErrorSums, ScoreTable, Tally
from stakes.tallies.checks import check_whole
from stakes.uncertainty.permutation import Law, PermutationTest, figure_to_test, permute, shuffles
from stakes.uncertainty.permutation_laws import draw_pairs, draw_top, draw_weighted, places_in_rankings

_PERMUTATIONS = 10_000


@asks("permutation_test")
def permutation_test(
    data: Data = None, X: Column = None, y: Column = None, **asked: Unpack[Permuted]
) -> PermutationTest:
    """Compare a figure with what it is when the truth is shuffled: could it be chance?

    Predictions are given as in :func:`stakes.evaluate`; they stay, and the truth is shuffled against them (each truth
    together with its weight); so can tallies be, and published tables: ``Confusion([[80, 20], [10, 90]])``. The figure
    is the auc of scores, the mcc of decisions and the r2 of predicted numbers, unless ``metric`` names another.
    p is one-sided. Decisions between two classes are not shuffled: their p is exact, and so is that of few rows, all
    orders of which are counted. There are 10,000 permutations unless another number is given. An estimator with ``X``
    and ``y`` is fitted again for each permutation; the options of that are ``cv`` (a way to split, as ``how`` of
    :func:`stakes.validate`), ``test`` (1 or 2), ``jobs`` and ``groups``.

    >>> permutation_test(truth=[1, 1, 1, 0, 0, 0, 0, 0], prediction=[1, 1, 1, 0, 0, 0, 0, 0])
    <PermutationTest of mcc 1, p = 0.018>
    """
    if "how" in asked:
        asked["cv"] = asked.pop("how")  # type: ignore[typeddict-item]  # as validate() calls it
    question = Question.of("permutation_test", asked)
    if callable(getattr(data, "fit", None)):
        from stakes.validation.refit import refit_permutation

        for name in sorted(question.changed):
            if (problem := why_not("validate", name, "an estimator")) is not None:
                raise problem
        return refit_permutation(data, X, y, _name(question), question)
    tallies = are_tallies(data)
    if X is not None or y is not None or (question["truth"] is None and not tallies):
        raise errors.positional_arrays("permutation_test")
    fitting = [name for name, option in options("permutation_test").items() if option.group == "fitting"]
    if given := [name for name in fitting if name in question.changed]:
        raise InputError(
            "only-for-estimators", several(given), ": that is for an estimator, given with X and y; leave it out"
        )
    permutations = _PERMUTATIONS if question["permutations"] is None else question["permutations"]
    check_whole("permutations", permutations, least=1)
    question.refuse_useless_threshold()
    if tallies:
        return _test(load_sum(data, question), question, permutations)
    if (found := _count_where_they_lie(data, question)) is not None:
        (counted, law), read = found, None
    elif in_batches(data):
        counted, read, law = count_rows(data, **question.rows), None, None
    else:
        (read, counted), law = read_and_count(data, RowQuestion(**question.rows)), None
    warn_of_wrongs(Evaluation(counted))
    return replace(_test(counted, question, permutations, read, law), dropped=counted.dropped)


def _count_where_they_lie(data: Data, question: Question) -> tuple[Counted, Law | None] | None:
    """Count rows of files of any size, or in their engine, where their tally can be shuffled; otherwise None.

    Weighted rows are counted separately by weight.
    """
    if in_batches(data) or (question.pricing is not None and question.pricing.costs.columns):
        return None
    data = in_format(data, question.text_format)
    counted = count_elsewhere(data, RowQuestion(**question.rows))
    if counted is None:
        return None

    def count(**more: float) -> Counted:
        found = count_elsewhere(data, RowQuestion(**{**question.rows, **more})) if more else counted
        assert found is not None
        return found

    try:
        evaluation = judge_counts(count, question["threshold"], question.sampling, question.pricing)
        metric, tally = _tested(evaluation, question)
    except InputError as problem:
        if problem.code != "nothing-to-compare":
            raise
        return None  # bins do not determine that figure; rows may
    if np.isnan(figure_to_test(tally, metric)[0]):
        return None
    if shuffles(tally, metric):
        return evaluation.counted, None
    law = _law(data, question, evaluation, metric)
    return None if law is None else (evaluation.counted, law)


def _law(data: Data, question: Question, evaluation: Evaluation, metric: Metric) -> Law | None:
    """How to draw shuffled values of a figure that the tally does not determine; None where rows are needed."""
    tally = evaluation._tally(metric)
    if isinstance(tally, ClassScores):
        return _law_of_classes(data, RowQuestion(**question.rows), tally, metric)
    if not isinstance(tally, Confusion | ScoreTable) or not tally.weighted:
        return None
    from stakes.engines.equal_weights import count_by_weight  # loads Narwhals, Polars

    threshold = getattr(evaluation, "threshold", None)
    classes = {"classes": list(tally.class_sizes()), "positive": tally.positive}
    more = {**classes, **({} if threshold is None or question["prediction"] else {"threshold": threshold})}
    by_weight = count_by_weight(data, RowQuestion(**{**question.rows, **more, "pricing": None}))
    if by_weight is None:
        return None
    asked = more.get("threshold"), question.sampling, None
    strata = {weight: _tally(judge(counted, *asked), metric) for weight, counted in by_weight.items()}
    return partial(draw_weighted, tally, metric, strata)


def _law_of_classes(data: Data, asked: RowQuestion, tally: ClassScores, metric: Metric) -> Law | None:
    """The same of class probabilities without weights, of figures that look at several scores of a row."""
    of_top, of_pairs = (metric.name == one.name for one in (many.top_k_accuracy, many.hand_till_auc))
    if tally.weighted or metric.population is not None or not (of_top or of_pairs):
        return None
    from stakes.engines.classes.maps import map_classes  # loads Narwhals, Polars

    with map_classes(data, asked, 1, 0) as rows:
        if rows is None:
            return None
        if of_top:
            return partial(draw_top, tally, *rows.top(int(metric.parameters["k"])))
        return partial(draw_pairs, tally, rows.products(places_in_rankings(tally)))


def _name(question: Question) -> str | None:
    metric = question["metric"]
    return metric.text if isinstance(metric, Metric) else metric


def _test(
    counted: Counted, question: Question, permutations: int, read: Read | None = None, law: Law | None = None
) -> PermutationTest:
    _refuse_idle_shuffles(counted)
    asked = question["threshold"], question.sampling, question.pricing
    evaluation, pricing = judge(counted, *asked), question.pricing
    metric, tally = _tested(evaluation, question)
    if pricing is not None and metric.name not in cost.NAMES:
        raise InputError(
            "costs-not-tested", Given("costs"), f" mean nothing to {metric.name}; leave them out, or test expected_cost"
        )
    if pricing is not None and pricing.costs.columns:
        words = " that differ from row to row go with its truth, which a shuffle takes away; give one price for each "
        raise InputError("row-costs-not-tested", Given("costs"), words, "mistake, or test another figure")

    def again(rng: np.random.Generator) -> Tally:
        assert read is not None
        rows = read.rows.shuffled(rng.permutation(len(read.rows.truth)))
        parts = metric.parts if metric.population is None else (*metric.parts, "sample")
        shuffled = count_read(replace(read, rows=rows), question["baseline"], parts)
        return _tally(judge(shuffled, *asked), metric)

    found = permute(tally, metric, permutations, question["seed"], again if read else None, law)
    return replace(found, prior=evaluation._prior_of(metric))


def _refuse_idle_shuffles(counted: Counted) -> None:
    """Refuse what shuffling cannot change: a single row, or rows of a single class."""
    tally = next(iter(counted.tallies.values()))
    if isinstance(tally, ErrorSums):
        if tally.rows is not None and len(tally.rows.truth) == 1:
            raise errors.single_row()
        return
    sizes = tally.class_sizes()
    if sum(sizes.values()) == 1 and not counted._weighted:
        raise errors.single_row()
    occurring = [name for name, size in sizes.items() if size]
    if len(occurring) < 2:
        raise InputError(
            "single-class",
            About("truth"),
            f" is {occurring[0]!r} in every row, which shuffling cannot change; give rows of two classes",
        )


def _tested(evaluation: Evaluation, question: Question) -> tuple[Metric, Tally]:
    """The figure that is tested, and the tally that it is a function of."""
    name, tallies = _name(question), evaluation.counted.tallies
    if name is None:
        usual = next(name for kind, name in TESTED.items() if kind.kind in tallies)
        name = usual if question.pricing is None else cost.expected_cost.name
    metric = evaluation._find(name)
    if evaluation._tally(metric) is None:
        estimate = evaluation[metric.text]  # an error message, a reason, or its name for several classes
        if not estimate.defined:
            raise errors.nothing_to_compare(estimate.name, estimate.reason)
        metric = metrics.find(estimate.name)
    return metric, _tally(evaluation, metric)


def _tally(evaluation: Evaluation, metric: Metric) -> Tally:
    """The tally that the figure is a function of."""
    found = evaluation._tally(metric)
    if found is None:
        raise errors.nothing_to_compare(metric.text, evaluation._why_no(metric))
    return found
