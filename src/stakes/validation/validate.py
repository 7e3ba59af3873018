"""validate(): an estimator and data in, figures on rows that it was not fitted on out."""

from dataclasses import replace
from typing import Unpack

import numpy as np

from stakes import errors
from stakes.engines.columns import as_weights
from stakes.engines.files.text_format import in_format
from stakes.errors import InputError
from stakes.evaluation import Evaluation
from stakes.question.options import Column, Validated, asks
from stakes.question.question import Question
from stakes.tallies.arithmetic import Array
from stakes.validation.features import Estimator, indexable
from stakes.validation.fitting import Predictions, check_estimator, fit_all, judge, require_scikit_learn
from stakes.validation.result import Validation
from stakes.validation.splits import split
from stakes.validation.target import as_array, column_of, keep_rows, read_target


@asks("validate")
def validate(estimator: Estimator, X: Column, y: Column, **asked: Unpack[Validated]) -> Validation:
    """Fit copies of an estimator on some rows, and judge them on the others.

    ``how`` is "5-fold" (or a number of folds), "hold-out", "hold-out 30%" (or a share from 0.05 to 0.5),
    "leave-one-out", a splitter of scikit-learn, or a list of pairs (rows to fit on, rows to judge). Folds are shuffled
    with ``seed`` and, for classes, stratified; ``groups`` stay whole (leave-one-out then leaves out one group);
    ``repeats`` shuffles again. ``weight`` and ``by`` are for judging, not for fitting. Intervals of pooled figures
    (``confidence``, ``design``) are given these fits; with ``groups`` they draw whole groups.

    Of two classes the probability of the positive one is judged as the score, or else the decision function; of more
    classes all probabilities and the decisions; otherwise what ``predict`` says. Each split is fitted exactly once.
    Other arguments are those of :func:`stakes.evaluate`: ``alike`` makes labels alike before anything is fitted,
    ``where`` keeps rows of a table ``X`` that satisfy a condition, ``missing="drop"`` leaves out rows without ``y``,
    weight, segment or group, and with ``costs`` the folds are judged by what their decisions cost.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> v = validate(KNeighborsClassifier(1), *load_iris(return_X_y=True))
    >>> print(v["accuracy"].pooled)
    accuracy 0.96, 95 % interval 0.915487 to 0.981541 (ignoring the input: 0.333333)
    >>> round(v["accuracy"].mean, 3), v["accuracy"].training.value
    (0.96, 1.0)
    """
    question = Question.of("validate", asked)
    require_scikit_learn()
    check_estimator(estimator)
    X, y, beside, dropped = keep_rows(indexable(in_format(X, question.text_format)), y, question)
    target = read_target(y, X, estimator, *(question[name] for name in ("task", "positive", "classes", "alike")))
    if target.labels is not None and len(set(target.labels.codes.tolist())) < 2:
        raise InputError(
            "one-class-to-fit",
            f"y is {target.labels.names[int(target.labels.codes[0])]!r} in every row, so there is nothing to tell "
            "apart; give rows of two classes or more",
        )
    threshold, pricing = question["threshold"], question.pricing
    if threshold is not None and not target.two_classes:
        raise errors.threshold_of_many()
    if pricing is not None and target.plan is None:
        raise errors.costs_of_numbers()
    weights = None if beside["weight"] is None else as_weights(column_of("weight", beside["weight"], X))
    segments = None if beside["by"] is None else as_array(column_of("by", beside["by"], X))
    groups = beside["groups"]
    dealt = {name: question[name] for name in ("stratified", "repeats", "seed")}
    splits = split(question["how"], X, target, groups=groups, **dealt)
    fitted = fit_all(estimator, X, target, splits.all, training=True, jobs=question["jobs"])

    units = np.arange(len(target.values)) if groups is None else as_array(column_of("groups", groups, X))

    def evaluate_fold(said: Predictions, rows: Array, by: Array | None = None) -> Evaluation:
        """Evaluate; rows that are judged several times, and groups, stay together in intervals."""
        weight = None if weights is None else weights[rows]
        cluster = units[rows] if groups is not None or len(np.unique(rows)) < len(rows) else None
        columns = {"weight": weight, "by": by, "cluster": cluster, "baseline": question["baseline"], "pricing": pricing}
        return judge(target, said, rows, threshold=threshold, sampling=question.sampling, **columns)

    rows, fold = splits.test_rows
    said = Predictions.joined([one.test for one in fitted])
    in_order = np.argsort(rows, kind="stable")
    first = in_order[fold[in_order] < len(splits.repeats[0])]
    once, chosen = said.take(first), rows[first]
    pooled = evaluate_fold(once, chosen, None if segments is None else segments[chosen])
    counted = pooled.counted  # which has left out rows of weight 0 already
    pooled.counted = replace(counted, dropped=counted.dropped + dropped, read=counted.read + dropped)
    return Validation(
        how=splits.words,
        pooled=pooled,
        folds=list(evaluate_fold(said, rows, by=fold).segments.values()),
        training=evaluate_fold(
            Predictions.joined([one.train for one in fitted if one.train is not None]), splits.fitted
        ),
        truth=target.values[chosen],
        predictions=np.asarray(once.prediction if once.score is None else once.score),
        decisions=None if once.score is None else once.prediction,
        rows=chosen,
        fold_of_row=fold[first],
        repeats=len(splits.repeats),
    )
