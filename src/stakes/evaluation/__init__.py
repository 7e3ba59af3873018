"""evaluate(): rows in, an Evaluation out, which answers every question about them."""

import functools
from dataclasses import replace
from typing import Any

from stakes import errors
from stakes.engines.counting import count_rows
from stakes.engines.plan import Counted
from stakes.errors import InputError
from stakes.evaluation.base import Evaluation, priced
from stakes.evaluation.from_tallies import are_tallies, load_sum, name_of
from stakes.evaluation.many_classes import ManyClassEvaluation
from stakes.evaluation.regression import RegressionEvaluation
from stakes.evaluation.two_classes import TwoClassEvaluation
from stakes.tallies.checks import check_threshold
from stakes.tallies.pricing import Pricing
from stakes.uncertainty.sampling import FEW_CLUSTERS, USUAL, Sampling

__all__ = [
    "Evaluation",
    "ManyClassEvaluation",
    "RegressionEvaluation",
    "TwoClassEvaluation",
    "count",
    "decide",
    "evaluate",
    "judge",
    "refuse_useless_threshold",
]


def evaluate(
    data: Any = None,
    *arrays: Any,
    truth: Any = None,
    score: Any = None,
    prediction: Any = None,
    task: str = "auto",
    positive: Any = None,
    classes: Any = None,
    weight: Any = None,
    by: Any = None,
    baseline: float | None = None,
    cluster: Any = None,
    costs: Any = None,
    prior: Any = None,
    training_prior: Any = None,
    threshold: float | None = None,
    design: str = "classes random",
    confidence: float = 0.95,
    seed: int = 0,
    where: str | None = None,
    missing: str = "error",
    exact: bool | None = None,
    alike: Any = None,
) -> Any:
    """Judge a model by its scores, its decisions or its predicted numbers.

    ``truth``, ``score``, ``prediction``, ``weight`` and ``by`` are arrays, or names of columns when ``data`` (a data
    frame, a dictionary of columns, or the names of files) is given. With more than two classes ``score``
    is a dictionary class → column, or an (n, k) array with ``classes``. A case of two classes is decided positive when
    score ≥ threshold; the threshold is 0.5 for probabilities, and must be given for other scores. Predicted numbers are
    compared with always saying the mean, or ``baseline``.

    ``costs`` (:class:`~stakes.Costs`) say what decisions cost. Scores are then decided so as to cost least, taking the
    model at its word. ``prior`` are the class frequencies where it is going to be used (a dictionary, or the share of
    the positive class), ``training_prior`` those that it was trained on.

    Rows of the same ``cluster`` (visits of a patient) resemble each other: intervals then draw whole clusters. Every
    figure has an interval of this ``confidence``, or says why not. ``design="classes fixed"`` means that another
    sample would have the same class counts; ``seed`` fixes what is drawn to find intervals.

    Files are CSV (also gzip), Parquet, JSON lines, Arrow, or a table of a SQLite or DuckDB database
    (``"preds.sqlite::table"``); several, or a pattern such as ``"preds/*.csv"``, are one table, and ``"-"`` is standard
    input. ``where`` keeps the rows of any table for which a condition is true (``"site = 'A'"``). A missing value is
    an error, unless ``missing="drop"`` leaves out its row; the result says how many. Files of more than 20 million rows
    are counted in batches, and their scores in fine bins: the auc is then known within bounds that are told.
    ``exact=True`` keeps every score, ``exact=False`` bins those of fewer rows too.

    Labels that differ in how they are written only (``Yes`` and ``yes``) are an error or a warning; ``alike="case"``
    makes them one class, and so do "numbers" (1, 1.0, true), "blanks", "unicode" and "punctuation" (dashes and
    underscores), several with commas between them.

    Tallies that were counted elsewhere (``"monday.tally"``, or several) need no ``truth``: they are added up, and the
    question is the one that was asked when counting. A published table is a tally, too:
    ``evaluate(Confusion.two_class(tp=90, fn=10, fp=20, tn=80))``.

    >>> ev = evaluate(truth=[1, 1, 0, 1, 1, 0], score=[0.9, 0.4, 0.6, 0.8, 0.1, 0.2])
    >>> print(ev["auc"])
    auc 0.625, 95 % interval 0.206437 to 0.911427 (ignoring the input: 0.5)
    """
    sampling = Sampling(confidence, design, seed)
    pricing = priced(costs, prior, training_prior)
    options = {"task": task, "positive": positive, "classes": classes, "weight": weight, "by": by, "baseline": baseline}
    options |= {"cluster": cluster, "where": where, "missing": missing, "exact": exact, "alike": alike}
    if not arrays and are_tallies(data):
        counted = load_sum(data, {"truth": truth, "score": score, "prediction": prediction, **options})
        return judge_tallies(counted, threshold, sampling, pricing)
    if arrays or truth is None:
        raise errors.positional_arrays()
    refuse_useless_threshold(threshold, score, prediction)
    options["pricing"] = pricing
    options["threshold"] = threshold  # rows that are not kept have to be decided when they are counted
    counted = count_rows(data, truth=truth, score=score, prediction=prediction, **options)
    if counted.clusters is not None and counted.clusters.count < FEW_CLUSTERS:
        errors.warn("few-clusters", errors.few_clusters(counted.clusters.count, FEW_CLUSTERS))
    evaluation = judge(counted, threshold, sampling, pricing)
    if _within_a_bin(evaluation):
        again = count_rows(
            data, truth=truth, score=score, prediction=prediction, **{**options, "threshold": evaluation.threshold}
        )
        return judge(again, None, sampling, pricing)
    return evaluation


def _within_a_bin(evaluation: Evaluation) -> bool:
    """Whether costs put the threshold where bins cannot tell; then the decisions have to be counted in another pass."""
    scores, threshold = evaluation.counted.scores, getattr(evaluation, "threshold", None)
    if scores is None or threshold is None or evaluation.counted.confusion is not None:
        return False
    return not scores.answers(threshold)


def decide(data: Any = None, *arrays: Any, truth: Any = None, best: str | None = None, **options: Any) -> Any:
    """Return how to decide by the scores of these rows so as to cost least, or to have the best figure.

    Takes the arguments of :func:`evaluate`; ``costs`` say what decisions cost, or ``best`` names a figure ("f1") or a
    condition ("recall >= 0.9").

    >>> choice = decide(truth=[0, 0, 1, 0, 1, 1], score=[1, 2, 3, 4, 5, 6], best="youden")
    >>> choice.threshold, choice.apparent.value
    (5.0, 0.6666666666666666)
    """
    if arrays or (truth is None and not are_tallies(data)):
        raise errors.positional_arrays("decide")
    if best is not None and options.get("costs") is not None:
        raise errors.costs_or_best()
    for name in ("threshold", "by"):
        if options.get(name) is not None:
            raise errors.not_to_decide_by(name)
    shares = {name: options.pop(name, None) for name in ("prior", "training_prior")}
    evaluation = evaluate(data, truth=truth, **options)
    return replace(evaluation.decide(best=best, **shares), dropped=evaluation.counted.dropped)


def judge(
    counted: Counted,
    threshold: float | None = None,
    sampling: Sampling = USUAL,
    pricing: Pricing | None = None,
) -> Any:
    """Return the evaluation of what was counted, with scores of two classes under a threshold if there is one."""
    if threshold is not None and counted.scores is None:
        raise errors.threshold_of_many()
    kind: Any = Evaluation if threshold is None else functools.partial(TwoClassEvaluation, threshold=threshold)
    judged = kind(counted, sampling=sampling, pricing=pricing)
    judged._check_pricing()
    return judged


def judge_tallies(counted: Counted, threshold: float | None, sampling: Sampling, pricing: Pricing | None) -> Any:
    """Return the evaluation of a tally: its decisions stand, unless another threshold is wanted."""
    if pricing is not None and pricing.costs.columns:
        raise errors.count_again_with_costs(pricing.costs.columns)
    if threshold is None:
        return judge(counted, None, sampling, pricing)
    check_threshold(threshold)
    if counted.confusion is not None and counted.decided_by == "rows":
        raise errors.threshold_and_prediction()
    if counted.scores is None:
        raise errors.threshold_of_many()
    return TwoClassEvaluation(counted, sampling=sampling, pricing=pricing).at(threshold)


def count(data: Any = None, *, threshold: float | None = None, **columns: Any) -> Counted:
    """Count rows once and keep only the tallies: ``Evaluation(count(monday) + count(tuesday))``.

    Takes the arguments of :func:`evaluate` that say which rows, and of what classes. With a ``threshold`` its decisions
    are kept beside the scores, which makes them exact wherever the counts travel: ``count(…).save("monday.tally")``.
    """
    if are_tallies(data):
        raise InputError(
            "tallies-to-count",
            f"{name_of(data)} has been counted already; evaluate tallies together, or add them up: stakes.load(a) + "
            "stakes.load(b)",
        )
    refuse_useless_threshold(threshold, columns.get("score"), columns.get("prediction"))
    return count_rows(data, threshold=threshold, **columns).asked(threshold, **columns)


def refuse_useless_threshold(threshold: Any, score: Any, prediction: Any) -> None:
    """Refuse what is no threshold, or has nothing to decide."""
    if threshold is None:
        return
    check_threshold(threshold)
    if prediction is not None:
        raise errors.threshold_and_prediction()
    if score is None:
        raise errors.threshold_without_score()
