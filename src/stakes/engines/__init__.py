"""The only code that sees rows: it turns columns into tallies."""

from typing import Any

import numpy as np

from stakes import errors
from stakes.engines import memory
from stakes.engines.columns import Column, as_finite, as_numbers, as_weights, gather, spread_scores
from stakes.engines.labels import Labels, encode, same_kind, settle
from stakes.engines.plan import Counted, Plan
from stakes.engines.tasks import settle_task
from stakes.tallies.arithmetic import Array

__all__ = ["Counted", "Plan", "count_rows"]


def count_rows(
    data: Any = None,
    *,
    truth: Any,
    score: Any = None,
    prediction: Any = None,
    task: str = "auto",
    positive: Any = None,
    classes: Any = None,
    weight: Any = None,
    by: Any = None,
    baseline: float | None = None,
) -> Counted:
    """Count the rows once: decisions, scores or both of two or more classes, or errors of predicted numbers."""
    if score is None and prediction is None:
        raise errors.nothing_to_judge()
    scores = spread_scores(score, classes)
    columns = gather(data, truth=truth, prediction=prediction, weight=weight, by=by, **scores)
    weights = as_weights(columns.pop("weight")) if weight is not None else None
    if weights is not None and not weights.all():  # a row of weight 0 is a row that is not there
        present = weights > 0
        columns = {name: column.keep(present) for name, column in columns.items()}
        weights = weights[present]
    segments = encode(columns["by"]) if by is not None else None
    of_classes = bool(scores) or positive is not None or classes is not None
    if settle_task(task, columns, of_classes, baseline is not None) == "regression":
        return _count_errors(columns, weights, segments, baseline)
    if baseline is not None:
        raise errors.baseline_of_classes()
    return _count_classes(columns, list(scores), weights, segments, classes, positive)


def _count_errors(
    columns: dict[str, Column], weights: Array | None, segments: Labels | None, baseline: float | None
) -> Counted:
    if "prediction" not in columns:
        raise errors.regression_without_prediction()
    truth, prediction = (as_finite(columns[name]) for name in ("truth", "prediction"))
    return memory.count_errors(memory.Rows(truth, prediction, weight=weights), segments, baseline)


def _count_classes(
    columns: dict[str, Column],
    scores: list[str],
    weights: Array | None,
    segments: Labels | None,
    classes: Any,
    positive: Any,
) -> Counted:
    if "prediction" in columns:
        columns["truth"], columns["prediction"] = same_kind(columns["truth"], columns["prediction"])
    truth = encode(columns["truth"])
    prediction = encode(columns["prediction"]) if "prediction" in columns else None
    plan = settle(truth, prediction, classes, positive)
    rows = memory.Rows(
        truth.into(plan.classes),
        None if prediction is None else prediction.into(plan.decisions),
        _score_columns(columns, scores, plan),
        weights,
    )
    return memory.count_classes(plan, rows, segments)


def _score_columns(columns: dict[str, Column], scores: list[str], plan: Plan) -> Array | None:
    """The score of the positive class, or one column for each class of several."""
    if not scores:
        return None
    if scores == ["score"]:
        if plan.positive is None:
            raise errors.one_score_for_many(plan.classes)
        return as_numbers(columns["score"])
    missing = [name for name in plan.classes if f"score of {name}" not in scores]
    if missing:
        raise errors.class_without_score(missing)
    table = np.column_stack([as_finite(columns[f"score of {name}"]) for name in plan.classes])
    _refuse_uneven(table)
    return table[:, plan.classes.index(plan.positive)] if plan.positive is not None else table


def _refuse_uneven(scores: Array) -> None:
    """Scores that all lie in [0, 1] are probabilities, and those of a row must add up to 1."""
    if scores.min() >= 0 and scores.max() <= 1:
        sums = scores.sum(axis=1, dtype=np.float64)
        wrong = np.flatnonzero(np.abs(sums - 1) > 1e-3)
        if len(wrong):
            raise errors.uneven_probabilities(len(wrong), int(wrong[0]), float(sums[wrong[0]]))
