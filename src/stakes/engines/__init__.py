"""The only code that sees rows: it turns columns into tallies."""

from typing import Any

from stakes import errors
from stakes.engines import memory
from stakes.engines.columns import as_numbers, as_weights, gather
from stakes.engines.labels import encode, same_kind, settle
from stakes.engines.plan import Counted, Plan

__all__ = ["Counted", "Plan", "count_rows"]


def count_rows(
    data: Any = None,
    *,
    truth: Any,
    score: Any = None,
    prediction: Any = None,
    positive: Any = None,
    classes: Any = None,
    weight: Any = None,
    by: Any = None,
) -> Counted:
    """Count the rows of two classes once: decisions, scores, or both, overall and by segment."""
    if score is None and prediction is None:
        raise errors.nothing_to_judge()
    columns = gather(data, truth=truth, score=score, prediction=prediction, weight=weight, by=by)
    weights = as_weights(columns.pop("weight")) if weight is not None else None
    if weights is not None and not weights.all():  # a row of weight 0 is a row that is not there
        present = weights > 0
        columns = {name: column.keep(present) for name, column in columns.items()}
        weights = weights[present]
    if "prediction" in columns:
        columns["truth"], columns["prediction"] = same_kind(columns["truth"], columns["prediction"])
    labels = {name: encode(columns[name]) for name in ("truth", "prediction", "by") if name in columns}
    scores = as_numbers(columns["score"]) if "score" in columns else None
    negative, positive = settle(labels["truth"], labels.get("prediction"), classes, positive)
    plan = Plan(negative, positive)
    return memory.count(plan, labels["truth"], labels.get("prediction"), scores, weights, labels.get("by"))
