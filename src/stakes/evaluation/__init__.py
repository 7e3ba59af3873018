"""evaluate(): rows in, an Evaluation out, which answers every question about them."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Unpack

import numpy as np

from stakes import errors
from stakes.engines.counting import count_rows
from stakes.engines.kinds import has_columns
from stakes.engines.plan import FEW_LABELS, Counted
from stakes.errors import Given, InputError, Pass, several
from stakes.evaluation.base import Evaluation
from stakes.evaluation.from_tallies import are_tallies, load_sum, name_of
from stakes.evaluation.many_classes import ManyClassEvaluation
from stakes.evaluation.two_classes import TwoClassEvaluation
from stakes.frozen import replace
from stakes.question.options import Asked, Column, Data, Decided, Value, asks, names_of_files
from stakes.question.question import Question
from stakes.records import Record
from stakes.tallies import LabelSums, Tally
from stakes.tallies.checks import is_one_of
from stakes.tallies.pricing import Pricing
from stakes.uncertainty.sampling import FEW_CLUSTERS, USUAL, Sampling

if TYPE_CHECKING:
    from stakes.decisions.policies import DecidedRows, Policies
    from stakes.decisions.thresholds.by_label import LabelDecisions
    from stakes.decisions.thresholds.decision import Decision

__all__ = ["Evaluation", "TwoClassEvaluation", "answer", "count", "decide", "evaluate", "evaluation_of", "judge"]


@asks("evaluate")
def evaluate(data: Data = None, *arrays: Column, **asked: Unpack[Asked]) -> Evaluation:
    """Evaluate a model by its scores, its decisions or its predicted numbers.

    ``truth``, ``score``, ``prediction``, ``weight`` and ``by`` are arrays, or names of columns when ``data`` (a data
    frame, a dictionary of columns, or the names of files) is given. With more than two classes ``score``
    is a dictionary class → column, or an (n, k) array with ``classes``. A case of two classes is decided positive when
    score ≥ threshold; the threshold is 0.5 for probabilities, and must be given for other scores. Predicted numbers are
    compared with always predicting the mean, or ``baseline``.

    ``costs`` (:class:`~stakes.Costs`) say what decisions cost. Scores are then taken as probabilities, and decisions
    are those that cost least. ``prior`` are the class frequencies where the model is going to be used (a dictionary,
    or the share of the positive class), ``training_prior`` those that it was trained on.

    Rows of the same ``cluster`` (visits of a patient) resemble each other: intervals then resample whole clusters.
    Every figure has an interval of this ``confidence``, or says why not. ``design="classes fixed"`` means that another
    sample would have the same class counts; ``seed`` fixes the random numbers behind intervals.

    Files are CSV (also gzip), Parquet, JSON lines, Arrow, or a table of a SQLite or DuckDB database
    (``"preds.sqlite::table"``); several, or a pattern such as ``"preds/*.csv"``, are one table, and ``"-"`` is standard
    input. ``where`` keeps the rows of any table for which a condition is true (``"site = 'A'"``). A missing value is
    an error, unless ``missing="drop"`` leaves out its row; the result says how many. Files of more than 20 million rows
    are counted in batches, and their scores in fine bins: the auc is then known within bounds, which are shown.
    ``exact=True`` keeps every score, ``exact=False`` bins those of fewer rows too.

    Labels that differ in how they are written only (``Yes`` and ``yes``) are an error or a warning; ``alike="case"``
    makes them one class, and so do "numbers" (1, 1.0, true), "blanks", "unicode" and "punctuation" (dashes and
    underscores), several with commas between them.

    Tallies that were counted elsewhere (``"monday.tally"``, or several) need no ``truth``: they are added up, and the
    question is the one that was asked when counting. A published table is a tally, too:
    ``evaluate(Confusion.two_class(tp=90, fn=10, fp=20, tn=80))``.

    >>> ev = evaluate(truth=[1, 1, 0, 1, 1, 0], score=[0.9, 0.4, 0.6, 0.8, 0.1, 0.2])
    >>> print(ev["auc"])
    auc 0.625, 95 % interval 0.00623533 to 0.997746 (ignoring the input: 0.5)
    """
    return answer(Question.of("evaluate", asked), data, arrays)


def evaluation_of(given: Evaluation | Data, question: Question, needed: Collection[str] | None = None) -> Evaluation:
    """Return an evaluation as it is, or evaluate the rows that were given in its place."""
    result = isinstance(given, Record) and not isinstance(given, Counted | Tally)
    if result and question.about_rows:
        raise InputError(
            "already-evaluated",
            several(list(question.about_rows)),
            f": {question.verb}() got a result, whose question was asked; leave this out, or give the rows",
        )
    if not result and (question.about_rows or are_tallies(given)):
        return answer(question, given, needed=needed)
    evaluation: Evaluation = given  # anything else is refused by the caller
    return evaluation


def _is_square(data: Data) -> bool:
    """Whether this may be a table of counts: an array, a list of rows, or a frame of pandas."""
    if isinstance(data, list | tuple):
        widths = {len(row) if isinstance(row, list | tuple) else 0 for row in data}
        return widths == {len(data)}
    shape: tuple[int, ...] = data.shape if isinstance(data, np.ndarray) or hasattr(data, "iloc") else ()
    return len(shape) == 2 and shape[0] == shape[1]


def answer(
    question: Question, data: Data, arrays: Sequence[Column] = (), needed: Collection[str] | None = None
) -> Evaluation:
    """Count the rows, or take tallies as they are, and evaluate.

    ``needed`` are the parts of tallies that will be asked for, if not all.
    """
    unlabelled = question["unlabelled"]
    if unlabelled is not None and not is_one_of(unlabelled, ("error", "estimate")):
        known = " is not known; it is 'error' or 'estimate'"
        raise InputError("unknown-unlabelled", Given("unlabelled", unlabelled), known)
    if question["label_probability"] is not None and unlabelled != "estimate":
        words = " is for rows of which only some have a truth; pass "
        raise InputError("label-probability-alone", Given("label_probability"), words, Pass("unlabelled", "estimate"))
    if not arrays and are_tallies(data):
        counted = load_sum(data, question)
        if counted.task == FEW_LABELS and question.verb in ("evaluate", "decide", "gate", "report"):
            return _few(question, counted)
        if unlabelled == "estimate":
            raise InputError("unlabelled-tally", Given("unlabelled"), ": this tally holds no rows without a truth")
        return judge_tallies(counted, question)
    if not arrays and question["truth"] is None and _is_square(data):
        raise InputError(
            "bare-table",
            f"for a table of counts, rows the truth and columns the decision, write {question.verb}(Confusion(table)); "
            "for rows pass ",
            Pass("truth"),
            " and ",
            Pass("prediction"),
        )
    if arrays or question["truth"] is None:
        raise errors.positional_arrays(question.verb)
    question.refuse_useless_threshold()
    if question["unlabelled"] == "estimate":
        return _few(question, data)
    count = partial(_count, question, data, row_groups=True, needed=needed)
    evaluation = judge_counts(count, question["threshold"], question.sampling, question.pricing)
    clusters = evaluation.counted.clusters
    if clusters is not None and clusters.count < FEW_CLUSTERS:
        errors.warn("few-clusters", errors.few_clusters(clusters.count, FEW_CLUSTERS))
    return evaluation


def _few(question: Question, data: Data) -> Evaluation:
    """The estimates from a few labels, which have the members of an evaluation."""
    from stakes.evaluation.few_labels import estimate_few  # few calls need it

    found: Value = estimate_few(question, data)
    estimated: Evaluation = found
    return estimated


def judge_counts(
    count: Callable[..., Counted], threshold: float | None, sampling: Sampling, pricing: Pricing | None
) -> Evaluation:
    """Count and evaluate rows; where costs put the threshold within a bin, the decisions there are counted too."""
    evaluation = judge(count(), threshold, sampling, pricing)
    if _within_a_bin(evaluation):
        return judge(count(threshold=evaluation.threshold), None, sampling, pricing)
    return evaluation


def _count(question: Question, data: Data, **other: Value) -> Counted:
    """Count the rows, and keep the question with the counts; ``other`` options override those of the question."""
    counted = count_rows(data, **{**question.rows, "exact": question["exact"], **other})
    files = names_of_files(data)
    return replace(counted, question=question.words(data is not None), files=files, call=question.call(files))


def _within_a_bin(evaluation: Evaluation) -> bool:
    """Whether costs put the threshold inside a bin; then the decisions have to be counted in another pass."""
    scores, threshold = evaluation.counted.scores, getattr(evaluation, "threshold", None)
    if scores is None or threshold is None or evaluation.counted.confusion is not None:
        return False
    clusters = evaluation.counted.clusters
    return not scores.answers(threshold) or not (clusters is None or clusters.answers(threshold))


@asks("decide")
def decide(data: Data = None, *arrays: Column, **asked: Unpack[Decided]) -> "Decision | Policies | LabelDecisions":
    """Return how to decide by the scores of these rows so as to cost least, or to have the best figure.

    Takes the arguments of :func:`evaluate`; ``costs`` say what decisions cost, or ``best`` names a figure ("f1") or a
    condition ("recall >= 0.9"). ``harm`` is what asking the model costs for each case, in the unit of the costs. With
    ``unlabelled="estimate"`` a few labels choose the threshold, and the estimates at it are returned. Each of several
    labels per row has a threshold of its own.

    >>> choice = decide(truth=[0, 0, 1, 0, 1, 1], score=[1, 2, 3, 4, 5, 6], best="youden")
    >>> choice.threshold, choice.apparent.value
    (5.0, 0.6666666666666666)
    """
    question = Question.of("decide", asked)
    if question["best"] is not None and question["costs"] is not None:
        raise errors.costs_or_best()
    if question.cost_columns and question["cluster"] is not None and isinstance(question["score"], str):
        raise errors.row_costs_in_clusters()  # before rows are read
    shares = {name: question[name] for name in ("prior", "training_prior")}
    asked_later = {"costs": question["costs"]} if _of_labels(question, data) else {}
    evaluation = answer(question.without(*shares, *asked_later), data, arrays)
    if evaluation.task == FEW_LABELS:
        return _decide_few(question, evaluation)
    if isinstance(evaluation, TwoClassEvaluation) and not are_tallies(data):
        evaluation = evaluation._with_bins_cut(lambda at: _count(question, data, threshold=at, pricing=None), **shares)
    if isinstance(evaluation, ManyClassEvaluation) and question["best"] is None and not are_tallies(data):
        return replace(_decide_among(evaluation, data, question), dropped=evaluation.counted.dropped)
    decision = evaluation.decide(best=question["best"], harm=question["harm"], **asked_later, **shares)
    return replace(decision, dropped=evaluation.counted.dropped)


def _decide_among(evaluation: ManyClassEvaluation, data: Data, question: Question) -> "Policies":
    """Compare ways to decide by class probabilities; what all rows are decided is counted where they were not kept."""

    def count(pricing: Pricing) -> "DecidedRows | None":
        from stakes.evaluation.decided_rows import count_decided  # loads Narwhals, Polars

        assert evaluation.scores is not None
        return count_decided(data, question, evaluation.scores, pricing)

    return evaluation._decide_among(question.pricing, question["harm"], count)


def _of_labels(question: Question, data: Data) -> bool:
    """Whether rows have several labels; costs then decide about each label by itself."""
    if are_tallies(data):
        return load_sum(data, question).task == LabelSums.kind
    return question["label_separator"] is not None or has_columns(question["truth"])


def _decide_few(question: Question, found: Value) -> "Decision":
    """Choose a threshold by few labels; options that do not apply are refused."""
    reasons = {
        "harm": "is weighed against what the model saves, which few labels cannot estimate",
        "training_prior": "corrects probabilities, and few labels say themselves what a score means",
    }
    for name in (one for one in reasons if one in question.changed):
        raise InputError("few-labels-not-decided", Given(name), f" {reasons[name]}; leave it out")
    decided: Decision = found.decide(question["best"], question.sampling.population)
    return decided


def judge(
    counted: Counted, threshold: float | None = None, sampling: Sampling = USUAL, pricing: Pricing | None = None
) -> Evaluation:
    """Return the evaluation of what was counted, with scores of two classes under a threshold if there is one."""
    if threshold is None or counted.task == "labels":
        evaluation = Evaluation(counted, sampling=sampling, pricing=pricing)
    elif counted.scores is None:
        raise errors.threshold_of_many()
    else:
        evaluation = TwoClassEvaluation(counted, threshold, sampling=sampling, pricing=pricing)
    evaluation._check_pricing()
    return evaluation


def judge_tallies(counted: Counted, question: Question) -> Evaluation:
    """Return the evaluation of a tally: its decisions stand, unless another threshold is given."""
    threshold, sampling, pricing = question.given.get("threshold"), question.sampling, question.pricing
    known = counted.question.get("costs")
    if pricing is not None and pricing.costs.columns and known != pricing.costs.in_full:
        raise errors.count_again_with_costs(pricing.costs.columns)
    if pricing is not None and counted.decided_by == "costs" and known not in (None, pricing.costs.in_full):
        raise errors.count_again_to_decide()
    if threshold is None:
        return judge(counted, None, sampling, pricing)
    if counted.confusion is not None and counted.decided_by == "rows":
        raise errors.threshold_and_prediction()
    if counted.scores is None:
        raise errors.threshold_of_many()
    evaluation = TwoClassEvaluation(counted, sampling=sampling, pricing=pricing).at(threshold)
    if counted.threshold != threshold:
        for part in (evaluation, *evaluation.segments.values()):
            part.counted.scores.refuse_inside_bin(threshold)  # now, not when a figure is asked for
    return evaluation


@asks("count")
def count(data: Data = None, **asked: Unpack[Asked]) -> Counted:
    """Count rows once and keep only the tallies: ``Evaluation(count(monday) + count(tuesday))``.

    Takes the arguments of :func:`evaluate` that say which rows, and of what classes. With a ``threshold`` its decisions
    are kept beside the scores, so they stay exact when the scores are binned: ``count(…).save("monday.tally")``.
    """
    if are_tallies(data):
        raise InputError(
            "tallies-to-count",
            f"{name_of(data)} has been counted already; evaluate tallies together, or add them up: stakes.load(a) + "
            "stakes.load(b)",
        )
    question = Question.of("count", asked)
    question.refuse_useless_threshold()
    if question["truth"] is None:
        raise errors.positional_arrays("count")
    for name in ("prior", "training_prior") if question["costs"] is None or question["score"] is None else ():
        if question[name] is not None:
            raise InputError(
                "prior-of-counts",
                Given(name),
                " changes figures, and a tally has none; say this when you evaluate it (it matters here only where ",
                Pass("costs"),
                " decide)",
            )
    if question["unlabelled"] == "estimate":
        from stakes.engines.unlabelled import count_partly, count_partly_elsewhere
        from stakes.evaluation.few_labels import row_question

        asked_rows = row_question(question)
        large = None if question["exact"] else count_partly_elsewhere(data, asked_rows)
        counted = replace(large or count_partly(data, asked_rows), question=question.words(data is not None))
        counted = counted.binned() if question["exact"] is False else counted
    else:
        counted = _count(question, data)
    return counted if question["threshold"] is None else counted.decided_at(float(question["threshold"]))
