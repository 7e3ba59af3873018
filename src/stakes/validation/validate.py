"""validate(): an estimator and data in, figures on rows that it was not fitted on out."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Unpack

import numpy as np

from stakes.errors import InputError
from stakes.evaluation import Evaluation
from stakes.question.options import Column, Validated, asks
from stakes.question.question import Question
from stakes.tallies.arithmetic import Array, distinct
from stakes.validation.features import Estimator
from stakes.validation.fitting import Predictions, evaluate, fit_all, fit_copy, predict
from stakes.validation.result import Validation
from stakes.validation.splits import split
from stakes.validation.target import Target, as_array, column_of, read_rows


@asks("validate")
def validate(estimator: Estimator, X: Column, y: Column, **asked: Unpack[Validated]) -> Validation:
    """Fit copies of an estimator on some rows, and test them on the others.

    ``how`` is "5-fold" (or a number of folds), "hold-out", "hold-out 30%" (or a share from 0.05 to 0.5),
    "leave-one-out", a splitter of scikit-learn, or a list of pairs (rows to fit on, rows to test on). Folds are
    shuffled with ``seed`` and, for classes, stratified; ``groups`` stay whole (leave-one-out leaves out one group);
    ``repeats`` shuffles again. ``weight`` and ``by`` are for testing, not for fitting. Intervals of pooled figures
    (``confidence``, ``design``) are given these fits; with ``groups`` they resample whole groups.

    Of two classes the probability of the positive one is used as the score, or else the decision function; of more
    classes all probabilities and the decisions; otherwise what ``predict`` says. Each split is fitted exactly once;
    last of all a copy is fitted on all rows (``v.model``), and its figures on them stand beside the honest ones.
    Other arguments are those of :func:`stakes.evaluate`: ``alike`` makes labels alike before anything is fitted,
    ``where`` keeps rows of a table ``X`` that satisfy a condition, ``missing="drop"`` leaves out rows without ``y``,
    weight, segment or group, and with ``costs`` the folds are evaluated by what their decisions cost, also where
    a column of the table ``X`` says it for each row.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> v = validate(KNeighborsClassifier(1), *load_iris(return_X_y=True))
    >>> print(v["accuracy"].pooled)
    accuracy 0.96, 95 % interval 0.915487 to 0.981541 (ignoring the input: 0.333333)
    >>> round(v["accuracy"].mean, 3), v["accuracy"].training.value
    (0.96, 1.0)
    """
    return validate_rows(estimator, X, y, Question.of("validate", asked))


def validate_rows(
    estimator: Estimator, X: Column, y: Column, question: Question, prices: Mapping[str, Column] | None = None
) -> Validation:
    """The same; ``prices`` are the columns that costs name, where they are no features."""
    X, target, beside, dropped = read_rows(estimator, X, y, question, prices)
    _refuse_one_class(target)
    segments = None if beside["by"] is None else as_array(column_of("by", beside["by"], X))
    groups = beside["groups"]
    options = {name: question[name] for name in ("seed", "stratified", "repeats")}
    splits = split(question["how"], X, target, groups, **options)
    fitted = fit_all(estimator, X, target, splits.all, training=True, jobs=question["jobs"])
    model = fit_copy(estimator, X, target.values)

    units = np.arange(len(target.values)) if groups is None else as_array(column_of("groups", groups, X))

    def evaluate_fold(predictions: Predictions, rows: Array, by: Array | None = None) -> Evaluation:
        """Evaluate; rows that are tested several times, and groups, stay together in intervals."""
        cluster = units[rows] if groups is not None or len(distinct(rows)) < len(rows) else None
        return evaluate(target, predictions, rows, question, by=by, cluster=cluster)

    rows, fold = splits.test_rows
    predictions = Predictions.joined([one.test for one in fitted])
    in_order = np.argsort(rows, kind="stable")
    first = in_order[fold[in_order] < len(splits.repeats[0])]
    once, chosen = predictions.take(first), rows[first]
    pooled = evaluate_fold(once, chosen, None if segments is None else segments[chosen])
    counted = pooled.counted  # rows of weight 0 are left out of it already
    pooled.counted = replace(counted, dropped=counted.dropped + dropped, read=counted.read + dropped)
    return Validation(
        how=splits.words,
        pooled=pooled,
        folds=list(evaluate_fold(predictions, rows, by=fold).segments.values()),
        training=evaluate_fold(
            Predictions.joined([one.train for one in fitted if one.train is not None]), splits.fitted
        ),
        truth=target.values[chosen],
        predictions=np.asarray(once.prediction if once.score is None else once.score),
        decisions=None if once.score is None else once.prediction,
        rows=chosen,
        fold_of_row=fold[first],
        repeats=len(splits.repeats),
        test_to_train=len(rows) / len(splits.fitted),
        model=model,
        all_rows=evaluate_fold(predict(model, X, target), np.arange(len(target.values))),
    )


def _refuse_one_class(target: Target) -> None:
    if target.labels is not None and len(set(target.labels.codes.tolist())) < 2:
        raise InputError(
            "one-class-to-fit",
            f"y is {target.labels.names[int(target.labels.codes[0])]!r} in every row, so there is nothing to tell "
            "apart; give rows of two classes or more",
        )
