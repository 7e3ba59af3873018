"""Decisions that costs take, where the rows are needed for them: several classes, or costs that differ by row."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from stakes import errors
from stakes.engines.columns import Column, as_finite
from stakes.engines.memory import Rows
from stakes.engines.plan import DecidedBy, Plan
from stakes.tallies.arithmetic import Array
from stakes.tallies.costs import Costs
from stakes.tallies.pricing import Pricing, Shares


def cost_column(name: str) -> str:
    """How a column of costs is called among the arguments."""
    return f"cost {name!r}"


def classes_of_costs(costs: Costs, truths: Sequence[str]) -> tuple[str, ...] | None:
    """The classes that the costs name, if they do: decisions beside them are no classes."""
    if costs.classes is None:
        return None
    costs.for_table(truths, (), None)  # says which class has no costs
    return tuple(costs.classes)


def with_priced_decisions(plan: Plan, pricing: Pricing, taken: Sequence[str]) -> Plan:
    """Return the plan with the decisions that the costs name, among which those taken must be."""
    pricing.prices(plan.classes, taken, plan.positive)  # says which decision has no price
    return replace(plan, decisions=pricing.decisions(plan.classes))


def decided_by_costs(
    pricing: Pricing, plan: Plan, rows: Rows, columns: Mapping[str, Column]
) -> tuple[Plan, Rows, DecidedBy]:
    """Let the costs decide rows that only have scores; two classes at fixed costs need no rows for that."""
    by_row = {name: as_finite(columns[cost_column(name)]).astype(np.float64) for name in pricing.costs.columns}
    decides = rows.prediction is None and rows.scores is not None and (rows.scores.ndim == 2 or bool(by_row))
    if decides:
        plan = replace(plan, decisions=pricing.decisions(plan.classes))
        shares = shares_of(rows.truth, len(plan.classes), rows.weight)
        decided = pricing.bayes(_posteriors(plan, rows), plan.classes, plan.positive, shares, by_row)
        rows = replace(rows, prediction=decided)
    if by_row:
        rows = replace(rows, costs=pricing.of_rows(rows.truth, plan.classes, plan.positive, by_row))
    return plan, rows, "costs" if decides else "rows"


def _posteriors(plan: Plan, rows: Rows) -> Array:
    scores = np.asarray(rows.scores, np.float64)
    if scores.min() < 0 or scores.max() > 1:
        raise errors.costs_need_probabilities(float(scores.min()), float(scores.max()))
    return scores if scores.ndim == 2 else np.column_stack([1 - scores, scores])


def shares_of(truth: Array, classes: int, weight: Array | None) -> Shares:
    """How frequent each class is in the rows."""
    sizes = np.bincount(truth, weight, classes)
    whole = Fraction(float(sizes.sum()))
    return tuple(Fraction(float(size)) / whole for size in sizes)
