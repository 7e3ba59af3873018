"""validate(): an estimator and data in, figures on rows that it was not fitted on out."""

from typing import Any

import numpy as np

from stakes import errors
from stakes.engines.columns import as_weights
from stakes.errors import InputError
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import check_threshold
from stakes.uncertainty.sampling import Sampling
from stakes.validation.evaluating import judge
from stakes.validation.features import indexable
from stakes.validation.fitting import Predictions, check_estimator, fit_all, require_scikit_learn
from stakes.validation.result import Validation
from stakes.validation.splits import split
from stakes.validation.target import as_array, column_of, read_target


def validate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    how: Any = "5-fold",
    stratified: Any = "auto",
    groups: Any = None,
    repeats: int = 1,
    positive: Any = None,
    classes: Any = None,
    task: str = "auto",
    weight: Any = None,
    threshold: float | None = None,
    by: Any = None,
    confidence: float = 0.95,
    design: str = "classes random",
    seed: int = 0,
    jobs: int = 1,
    alike: Any = None,
) -> Validation:
    """Fit copies of an estimator on some rows, and judge them on the others.

    ``how`` is "5-fold" (or a number of folds), "hold-out", "hold-out 30%" (or a share from 0.05 to 0.5),
    "leave-one-out", a splitter of scikit-learn, or a list of pairs (rows to fit on, rows to judge). Folds are shuffled
    with ``seed`` and, for classes, stratified; ``groups`` stay whole (leave-one-out then leaves out one group);
    ``repeats`` shuffles again. ``weight`` and ``by`` are for judging, not for fitting. Intervals of pooled figures
    (``confidence``, ``design``) are given these fits; with ``groups`` they draw whole groups.

    Of two classes the probability of the positive one is judged as the score, or else the decision function; of more
    classes all probabilities and the decisions; otherwise what ``predict`` says. Each split is fitted exactly once.
    ``alike`` makes labels alike before anything is fitted, as in :func:`stakes.evaluate`.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> v = validate(KNeighborsClassifier(1), *load_iris(return_X_y=True))
    >>> print(v["accuracy"].pooled)
    accuracy 0.96, 95 % interval 0.915487 to 0.981541 (ignoring the input: 0.333333)
    >>> round(v["accuracy"].mean, 3), v["accuracy"].training.value
    (0.96, 1.0)
    """
    sampling = Sampling(confidence, design, seed)
    require_scikit_learn()
    check_estimator(estimator)
    X = indexable(X)
    target = read_target(y, X, estimator, task, positive, classes, alike)
    if target.labels is not None and len(set(target.labels.codes.tolist())) < 2:
        raise InputError(
            "one-class-to-fit",
            f"y is {target.labels.names[int(target.labels.codes[0])]!r} in every row, so there is nothing to tell "
            "apart; give rows of two classes or more",
        )
    if threshold is not None:
        check_threshold(threshold)
        if not target.two_classes:
            raise errors.threshold_of_many()
    weights = None if weight is None else as_weights(column_of("weight", weight, X))
    segments = None if by is None else as_array(column_of("by", by, X))
    splits = split(how, X, target, groups=groups, stratified=stratified, repeats=repeats, seed=seed)
    fitted = fit_all(estimator, X, target, splits.all, training=True, jobs=jobs)

    units = np.arange(len(target.values)) if groups is None else as_array(column_of("groups", groups, X))

    def evaluate_fold(said: Predictions, rows: Array, by: Array | None = None) -> Any:
        """Evaluate; rows that are judged several times, and groups, stay together in intervals."""
        weight = None if weights is None else weights[rows]
        cluster = units[rows] if groups is not None or len(np.unique(rows)) < len(rows) else None
        columns = {"weight": weight, "by": by, "cluster": cluster}
        return judge(target, said, rows, threshold=threshold, sampling=sampling, **columns)

    rows, fold = splits.test_rows
    said = Predictions.joined([one.test for one in fitted])
    in_order = np.argsort(rows, kind="stable")
    first = in_order[fold[in_order] < len(splits.repeats[0])]
    once, chosen = said.take(first), rows[first]
    return Validation(
        how=splits.words,
        pooled=evaluate_fold(once, chosen, None if segments is None else segments[chosen]),
        folds=list(evaluate_fold(said, rows, by=fold).segments.values()),
        training=evaluate_fold(
            Predictions.joined([one.train for one in fitted if one.train is not None]), splits.fitted
        ),
        truth=target.values[chosen],
        predictions=once.prediction if once.score is None else once.score,  # type: ignore[arg-type]
        decisions=None if once.score is None else once.prediction,
        rows=chosen,
        fold_of_row=fold[first],
        repeats=len(splits.repeats),
    )
