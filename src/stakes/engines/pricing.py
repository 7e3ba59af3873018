"""Decisions by costs that need the rows: for several classes, or costs that differ by row."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from stakes import errors
from stakes.engines.columns import Column, as_finite
from stakes.engines.memory import Rows
from stakes.engines.plan import DecidedBy, Plan
from stakes.tallies.arithmetic import Array
from stakes.tallies.costs import Costs
from stakes.tallies.pricing import Pricing, shares_of


def cost_column(name: str) -> str:
    """The argument that stands for a column of costs."""
    return f"cost {name!r}"


def of_costs(arguments: Iterable[str]) -> bool:
    """Whether there are columns of costs among the arguments."""
    return any(name.startswith("cost ") for name in arguments)


def classes_of_costs(costs: Costs, truths: Sequence[str]) -> tuple[str, ...] | None:
    """The classes that the costs name, or None; their other decisions are not classes."""
    if costs.classes is None:
        return None
    costs.for_table(truths, (), None)  # refuses a class without costs
    return tuple(costs.classes)


def add_decisions_by_cost(plan: Plan, pricing: Pricing, taken: Sequence[str]) -> Plan:
    """Return the plan with the decisions that the costs name, which must include those taken."""
    pricing.prices(plan.classes, taken, plan.positive)  # refuses a decision without costs
    return replace(plan, decisions=pricing.decisions(plan.classes))


def decide_by_costs(
    pricing: Pricing, plan: Plan, rows: Rows, columns: Mapping[str, Column], threshold: float | None
) -> tuple[Plan, Rows, DecidedBy]:
    """Decide rows that only have scores by costs; two classes at fixed costs are decided later, without rows.

    If costs differ by row, a ``threshold`` decides instead.
    """
    by_row = {name: as_finite(columns[cost_column(name)]).astype(np.float64) for name in pricing.costs.columns}
    if by_row:
        rows = replace(rows, costs=pricing.of_rows(rows.truth, plan.classes, plan.positive, by_row))
    if rows.prediction is not None or rows.scores is None or (rows.scores.ndim == 1 and not by_row):
        return plan, rows, "rows"
    if threshold is not None and rows.scores.ndim == 1:
        pricing.prices(plan.classes, plan.classes, plan.positive)  # the decisions are the classes themselves
        decided = (rows.scores.astype(np.float64) >= threshold).astype(np.int64)
        places = np.array([pricing.decisions(plan.classes).index(name) for name in plan.classes])
        plan = replace(plan, decisions=pricing.decisions(plan.classes))
        return plan, replace(rows, prediction=places[decided]), "threshold"
    posteriors = _posteriors(rows.scores)
    if posteriors is None:
        return plan, rows, "rows"
    shares = shares_of(np.bincount(rows.truth, rows.weight, len(plan.classes)).tolist())
    decided = pricing.bayes(posteriors, plan.classes, plan.positive, shares, by_row)
    return replace(plan, decisions=pricing.decisions(plan.classes)), replace(rows, prediction=decided), "costs"


def _posteriors(scores: Array) -> Array | None:
    """The probability of each class; None if there is one score per row and it is not a probability."""
    values = scores.astype(np.float64)
    low, high = float(values.min()), float(values.max())
    if low >= 0 and high <= 1:
        return values if values.ndim == 2 else np.column_stack([1 - values, values])
    if values.ndim == 2:
        raise errors.costs_need_probabilities(low, high)
    return None
