"""How unsure a model is about each case, and what its decision about the case costs in truth.

The doubt about a case is what its decision is expected to cost by the model's own probabilities. Errors without a
price cost 1 each; a threshold t says that a miss weighs 2 − 2t and a false alarm 2t, so that doubt is largest at t.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from stakes import errors
from stakes.decisions.curves.curve import ClassScored, Scored
from stakes.errors import Given, InputError, Pass
from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array, is_real
from stakes.tallies.class_scores import ClassSample
from stakes.tallies.costs import Costs

_HALF = 0.5


@dataclass(frozen=True, eq=False)
class Cases:
    """Rows, or all rows of a class that share a score: the doubt about them, what they are and what was decided.

    ``prices`` (truth × decision) says what that costs; ``squares`` are sums of squared weights (None for plain counts),
    ``groups`` the clusters that the cases belong to.
    """

    doubt: Array
    truth: Array
    decided: Array
    prices: Array
    weight: Array
    squares: Array | None = None
    groups: Array | None = None
    note: str = ""

    @cached_property
    def losses(self) -> Array:
        """What the decision about each case costs."""
        return self.prices[self.truth, self.decided]


# ── two classes ──────────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False)
class _Rule:
    """Decisions between two classes, each from its score in ``starts`` on.

    ``prices`` (negative and positive × decision) is what they cost, ``reckoned`` the costs by which doubt is told.
    """

    starts: Array
    prices: Array
    reckoned: Array


def cases_of_two(scored: Scored, costs: Any, threshold: Any) -> Cases:
    """Return the cases of two classes, decided by a threshold, or as costs least."""
    scored.need_probabilities("reject")
    if costs is not None and threshold is not None:
        raise InputError(
            "costs-or-threshold",
            Given("costs"),
            " decide by themselves where the threshold lies; give either ",
            Pass("costs"),
            " or ",
            Pass("threshold"),
        )
    rule = _rule_of_threshold(scored, threshold) if costs is None else _rule_of_costs(scored.table, _check(costs))
    scores, columns = (
        _of_table(scored.table) if scored.sampling.clusters is None else _of_rows(scored.sampling.clusters)
    )
    decided = np.searchsorted(rule.starts, scores, side="right") - 1
    doubt = (1 - scores) * rule.reckoned[0, decided] + scores * rule.reckoned[1, decided]
    return Cases(doubt, decided=decided, prices=rule.prices, **columns)


def _of_table(table: ScoreTable) -> tuple[Array, dict[str, Any]]:
    """The scores at which there are negatives, then those at which there are positives."""
    columns, names = table.as_columns(), ("negatives", "positives")
    present = [np.flatnonzero(columns.values[name]) for name in names]

    def joined(suffix: str) -> Array:
        parts = zip(names, present, strict=True)
        return np.concatenate([columns.values[name + suffix][places] for name, places in parts])

    scores = columns.scores.astype(np.float64)[np.concatenate(present)]
    truth = np.repeat([0, 1], [len(places) for places in present])
    return scores, {"truth": truth, "weight": joined(""), "squares": joined("_squared") if table.weighted else None}


def _of_rows(rows: Any) -> tuple[Array, dict[str, Any]]:
    """The scores of single rows (of clusters, or of a sample)."""
    weight = np.ones(len(rows.truth)) if rows.weight is None else rows.weight
    columns = {"truth": rows.truth.astype(np.int64), "weight": weight, "squares": weight**2}
    return rows.scores.astype(np.float64), columns | {"groups": getattr(rows, "groups", None)}


def _rule_of_threshold(scored: Scored, threshold: Any) -> _Rule:
    cut = next((one for one in (threshold, scored.threshold) if one is not None), _HALF)
    if not is_real(cut) or cut != cut:
        raise errors.bad_threshold(cut)
    alarm = 2 * min(max(float(cut), 0.0), 1.0)
    return _Rule(np.array([-np.inf, cut]), np.array([[0.0, 1], [1, 0]]), np.array([[0.0, alarm], [2 - alarm, 0]]))


def _rule_of_costs(table: ScoreTable, costs: Costs) -> _Rule:
    """The decisions that cost least, each from the probability at which it does."""
    matrix, names = costs.matrix, costs.decisions or ("negative", "positive")
    if costs.classes is not None:
        matrix = costs.for_table((table.negative, table.positive), names, table.positive)
    points = costs.switch_points(table.positive)
    prices = _floats(matrix)[:, [names.index(decision) for decision, _ in points]]
    return _Rule(np.array([-np.inf, *(float(start) for _, start in points[1:])]), prices, prices)


# ── several classes ──────────────────────────────────────────────────────────────────────────────────────────────
def cases_of_many(scored: ClassScored, costs: Any) -> Cases:
    """Return the cases of several classes, each decided for its highest score, or as costs least."""
    clusters, sample = scored.sampling.clusters, scored.scores.sample
    if clusters is None and sample is None:
        raise errors.no_curve("reject", "only sums were kept of them; evaluate the rows themselves")
    scores, columns = _of_rows(sample if clusters is None else clusters)
    classes = scored.scores.classes
    if costs is None:
        decided, prices = scores.argmax(axis=1), 1.0 - np.eye(len(classes))
        doubt = float(scored.probabilities) - scores.max(axis=1)
    else:
        if not scored.probabilities:
            raise errors.no_curve("reject", "costs need probabilities, and the scores lie outside [0, 1]")
        prices = _floats(_check(costs).for_table(classes, costs.decisions or classes, None))
        expected = scores @ prices
        decided, doubt = expected.argmin(axis=1), expected.min(axis=1)
    return Cases(doubt, decided=decided, prices=prices, note="" if clusters else _note(sample), **columns)


def _note(sample: ClassSample | None) -> str:
    """Say so where the rows stand for more rows than they are."""
    thinned = sample is not None and not np.array_equal(sample.squares, sample.weight**2)
    return f"from a sample of {len(sample.truth):,} rows" if thinned else ""  # type: ignore[union-attr]


# ── both ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def _check(costs: Any) -> Costs:
    if not isinstance(costs, Costs):
        raise errors.not_costs(costs)
    return costs


def _floats(matrix: Any) -> Array:
    return np.array([[float(cost) for cost in row] for row in matrix])
