"""What a careful colleague would point out before anybody believes a figure."""

import math
from collections.abc import Iterator
from typing import Any

from stakes import metrics
from stakes.evaluation.base import FEW_ROWS
from stakes.views.report.payload import MOST, metric, named, said

_FLIPS = 0.5
NEAR_PERFECT = 0.999


def cautions(evaluation: Any) -> list[dict[str, Any]]:
    """Return all that applies, as sentences of the catalogue."""
    found = (_of_decisions, _of_scores, of_rows)
    return [sentence for each in found for sentence in each(evaluation)][:MOST]


def _of_decisions(evaluation: Any) -> Iterator[dict[str, Any]]:
    accuracy, table = evaluation.figures.get("accuracy"), evaluation.confusion
    if accuracy is not None and accuracy.defined and accuracy.value <= accuracy.baseline:
        yield said("caution.majority", share=accuracy.value, always=accuracy.baseline)
    if table is not None and table.positive is not None and 0 < evaluation.prevalence < 1:
        here, there = evaluation.figures["f1"].value, float(metrics.find("f1").of(table.swapped()))
        if abs(here - there) >= _FLIPS:
            names = {"positive": evaluation.positive, "negative": evaluation.negative}
            yield said("caution.f1_flips", here=here, there=there, **names)
    threshold = evaluation.threshold
    if threshold is not None and evaluation.scores is not None:
        low, high = evaluation.scores.range
        if threshold <= low or threshold > high:
            yield said("caution.edge", threshold=threshold, low=low, high=high)


def _of_scores(evaluation: Any) -> Iterator[dict[str, Any]]:
    table, auc = evaluation.scores, evaluation.figures.get("auc")
    if table is None:
        return
    if auc is not None and auc.defined:
        if auc.low is not None and auc.high is not None and auc.low <= 0.5 <= auc.high:
            yield said("caution.chance", low=auc.low, high=auc.high)
        if auc.value >= NEAR_PERFECT:
            yield said("caution.perfect", value=auc.value)
        if auc.high is not None and auc.high < 0.5:
            yield said("caution.upside_down", value=auc.value)
    low, high = table.range
    if low < 0 < high and not evaluation.probabilities:
        yield said("caution.logits", low=low, high=high)
    if table.grid is not None:
        least, most = metrics.auc_bounds(table)
        yield said("caution.bins", low=least, high=most)


def of_rows(evaluation: Any) -> Iterator[dict[str, Any]]:
    """Yield what is to be said about the rows and the costs of any evaluation."""
    if evaluation.counted.dropped:
        yield said("caution.dropped", n=evaluation.counted.dropped)
    for name, size in evaluation._sizes().items():
        if size < FEW_ROWS:
            yield said("caution.few", n=math.floor(size), name=named(name))
    pricing = evaluation.pricing
    if pricing is None:
        return
    for name in pricing.costs.never_cheapest():
        yield said("caution.never_cheapest", name=named(name))
    if pricing.prior is not None:
        yield said("caution.deployment", name=metric("expected_cost"))
    if pricing.costs.columns and evaluation.task == "binary":
        yield said("caution.costs_by_row")
