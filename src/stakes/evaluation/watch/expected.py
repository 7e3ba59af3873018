"""Before labels come: the figures to expect if the scores are calibrated.

A row with probability s counts as s positives and 1 − s negatives. What is watched is then a ratio of two means over
rows, such as Σ s·[s ≥ threshold] / Σ s for recall. It is meaningless once the scores are no longer calibrated.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stakes.errors import InputError, Pass, some
from stakes.evaluation.base import Evaluation
from stakes.evaluation.watch.monitors import Figures, Monitor, equal
from stakes.evaluation.watch.shifts import Unlabelled
from stakes.metrics import find
from stakes.metrics.agreement import accuracy, f1
from stakes.metrics.cost import expected_cost
from stakes.metrics.probability import brier_score
from stakes.metrics.rates import precision, prevalence, recall, specificity
from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.costs import Costs

EXPECTED = "expected "
"""The first word of a condition on an expected figure."""

_FEWEST = 100
"""Least effective number of rows of a window."""


class Terms(NamedTuple):
    """For each row: its score, whether it is decided positive, and what both classes cost with that decision."""

    score: Array
    decided: Array
    cost_of_negative: Array
    cost_of_positive: Array


def _sure(terms: Terms) -> Array:
    return np.ones(len(terms.score))


_RATIOS: dict[str, tuple[Callable[[Terms], Array], Callable[[Terms], Array]]] = {
    prevalence.name: (lambda one: one.score, _sure),
    accuracy.name: (lambda one: np.where(one.decided, one.score, 1 - one.score), _sure),
    recall.name: (lambda one: one.score * one.decided, lambda one: one.score),
    specificity.name: (lambda one: (1 - one.score) * ~one.decided, lambda one: 1 - one.score),
    precision.name: (lambda one: one.score * one.decided, lambda one: one.decided.astype(np.float64)),
    f1.name: (lambda one: 2 * one.score * one.decided, lambda one: one.score + one.decided),
    brier_score.name: (lambda one: one.score * (1 - one.score), _sure),
    expected_cost.name: (
        lambda one: one.score * one.cost_of_positive + (1 - one.score) * one.cost_of_negative,
        _sure,
    ),
}
"""The expected figures: numerator and denominator of each row."""


@dataclass(frozen=True, eq=False)
class Expected(Monitor):
    """An expected figure: sums of numerators, denominators and their products add up.

    ``costs`` are those of the four cells, the negative class and decision first.
    """

    costs: Array | None = None

    def numbers(self, evaluation: Evaluation | Unlabelled) -> Array:
        """Rows, both sums, and the sums of their squares and product."""
        table = evaluation.counted.scores
        if not isinstance(table, ScoreTable):
            raise InputError(
                "expected-of-scores", "what is expected follows from probabilities; count days with scores"
            )
        if table.merged:
            words = "what is expected follows from each probability, and days are in wide bins; count them with "
            raise InputError("expected-in-bins", words, Pass("exact", True))
        columns = table.as_columns()
        score = np.asarray(columns.scores, np.float64)
        if len(score) and not (score.min() >= 0 and score.max() <= 1):
            raise InputError("expected-of-scores", "what is expected follows from probabilities, and scores are none")
        threshold = evaluation.counted.threshold
        decided = score >= (0.5 if threshold is None else threshold)
        costs = np.zeros((2, 2)) if self.costs is None else self.costs
        above, below = (
            part(Terms(score, decided, *(row[decided.astype(np.int64)] for row in costs)))
            for part in _RATIOS[self.metric.name]
        )
        rows = np.asarray(columns.values["positives"] + columns.values["negatives"], np.float64)
        products = (above, below, above**2, above * below, below**2)
        return np.array([rows.sum(), *(rows @ one for one in products)])

    def figures(self, sums: Array) -> Figures:
        """Ratios with their variance by the delta rule."""
        rows, above, below, squares, product, below_squares = np.moveaxis(sums, -1, 0)
        line = np.maximum(below, 1e-150)
        value = above / line
        variance = np.maximum(squares - 2 * value * product + value**2 * below_squares, 0.0) / line**2
        return Figures(value, variance * rows / np.maximum(rows - 1, 1.0), equal(below, below_squares) >= _FEWEST)

    def rows(self, sums: Array) -> Array:
        """How many rows windows have."""
        return np.asarray(sums[..., 0])

    def usual_drop(self) -> float:
        """A twentieth; of costs and the Brier score a tenth of the limit."""
        return 0.05 if self.metric.name not in (brier_score.name, expected_cost.name) else 0.1 * abs(self.limit)


def expected(
    evaluation: Evaluation | Unlabelled, name: str, floor: bool, limit: float, costs: Costs | None
) -> Expected:
    """The monitor of an expected figure; figures that scores alone do not give are refused."""
    metric = find(name)
    if metric.name not in _RATIOS:
        words = f"scores alone promise {some(list(_RATIOS))}; {metric.text} is none of them"
        raise InputError("not-expected", words)
    cells = None
    if metric.name == expected_cost.name:
        table = evaluation.counted.scores
        if costs is None or not isinstance(table, ScoreTable) or table.positive is None:
            raise InputError(
                "expected-cost-of-nothing", "say what mistakes cost, and count days with scores: ", Pass("costs")
            )
        names = next(one for one in table.class_sizes() if one != table.positive), table.positive
        cells = np.asarray(costs.for_table(names, names, table.positive), np.float64)
    return Expected(metric, floor, limit, costs=cells)
