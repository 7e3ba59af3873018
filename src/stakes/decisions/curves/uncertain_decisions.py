"""How unsure a model is about each case, and what its decision about the case costs in truth.

The doubt about a case is what its decision is expected to cost by the model's own probabilities. Errors without a
price cost 1 each; a threshold t says that a miss weighs 2 − 2t and a false alarm 2t, so that doubt is largest at t.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stakes import errors
from stakes.decisions.curves.curve import ClassScored, Scored
from stakes.errors import Given, InputError, Pass
from stakes.question.options import Value
from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array, is_real
from stakes.tallies.class_scores import ClassSample
from stakes.tallies.clusters import Clusters
from stakes.tallies.costs import Costs

_HALF = 0.5


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows, or all rows of a class that share a score, with their classes as codes.

    ``squares`` are sums of squared weights (None for plain counts), ``groups`` the clusters that the rows belong to.
    """

    scores: Array
    truth: Array
    weight: Array
    squares: Array | None = None
    groups: Array | None = None

    @classmethod
    def of(cls, rows: Clusters | ClassSample) -> "ScoredRows":
        """Take single rows, of clusters or of a sample."""
        scores, truth = np.asarray(rows.scores, np.float64), np.asarray(rows.truth, np.int64)
        weight = np.ones(len(truth)) if rows.weight is None else rows.weight
        return cls(scores, truth, weight, weight**2, rows.groups if isinstance(rows, Clusters) else None)


@dataclass(frozen=True, eq=False)
class Cases:
    """Rows with the doubt about them and what was decided; ``prices`` (truth × decision) says what that costs."""

    rows: ScoredRows
    doubt: Array
    decided: Array
    prices: Array
    note: str = ""

    @cached_property
    def losses(self) -> Array:
        """What the decision about each case costs."""
        return self.prices[self.rows.truth, self.decided]


# ── two classes ──────────────────────────────────────────────────────────────────────────────────────────────────
def cases_of_two(scored: Scored, costs: Costs | None, threshold: Value) -> Cases:
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
    if costs is None:
        starts, prices, reckoned = _rule_of_threshold(scored, threshold)
    else:
        starts, prices = _rule_of_costs(scored.table, costs)
        reckoned = prices
    clusters = scored.sampling.clusters
    rows = _of_table(scored.table) if clusters is None else ScoredRows.of(clusters)
    decided = np.searchsorted(starts, rows.scores, side="right") - 1
    doubt = (1 - rows.scores) * reckoned[0, decided] + rows.scores * reckoned[1, decided]
    return Cases(rows, doubt, decided, prices)


def _of_table(table: ScoreTable) -> ScoredRows:
    """The scores at which there are negatives, then those at which there are positives."""
    columns, names = table.as_columns(), ("negatives", "positives")
    present = [np.flatnonzero(columns.values[name]) for name in names]

    def joined(suffix: str) -> Array:
        parts = zip(names, present, strict=True)
        return np.concatenate([columns.values[name + suffix][places] for name, places in parts])

    scores = columns.scores.astype(np.float64)[np.concatenate(present)]
    truth = np.repeat([0, 1], [len(places) for places in present])
    return ScoredRows(scores, truth, joined(""), joined("_squared") if table.weighted else None)


def _rule_of_threshold(scored: Scored, threshold: Value) -> tuple[Array, Array, Array]:
    """From which score on each decision is taken, what it costs (class × decision), and the costs that tell doubt."""
    cut = next((one for one in (threshold, scored.threshold) if one is not None), _HALF)
    if not is_real(cut) or cut != cut:
        raise errors.bad_threshold(cut)
    alarm = 2 * min(max(float(cut), 0.0), 1.0)
    return np.array([-np.inf, cut]), np.array([[0.0, 1], [1, 0]]), np.array([[0.0, alarm], [2 - alarm, 0]])


def _rule_of_costs(table: ScoreTable, costs: Costs) -> tuple[Array, Array]:
    """From which probability on each decision costs least, and what it costs (class × decision)."""
    matrix, names = costs.matrix, costs.decisions or ("negative", "positive")
    if costs.classes is not None:
        matrix = costs.for_table((table.negative, table.positive), names, table.positive)
    points = costs.switch_points(table.positive)
    prices = np.array(matrix, np.float64)[:, [names.index(decision) for decision, _ in points]]
    return np.array([-np.inf, *(float(start) for _, start in points[1:])]), prices


# ── several classes ──────────────────────────────────────────────────────────────────────────────────────────────
def cases_of_many(scored: ClassScored, costs: Costs | None) -> Cases:
    """Return the cases of several classes, each decided for its highest score, or as costs least."""
    clusters, sample = scored.sampling.clusters, scored.scores.sample
    source = clusters or sample
    if source is None:
        raise errors.no_curve("reject", "only sums were kept of them; evaluate the rows themselves")
    rows, classes = ScoredRows.of(source), scored.scores.classes
    if costs is None:
        decided, prices = rows.scores.argmax(axis=1), 1.0 - np.eye(len(classes))
        doubt = float(scored.probabilities) - rows.scores.max(axis=1)
    else:
        if not scored.probabilities:
            raise errors.no_curve("reject", "costs need probabilities, and the scores lie outside [0, 1]")
        prices = np.array(costs.for_table(classes, costs.decisions or classes, None), np.float64)
        expected = rows.scores @ prices
        decided, doubt = expected.argmin(axis=1), expected.min(axis=1)
    # some of the rows stand for more rows than they are
    thinned = isinstance(source, ClassSample) and not np.array_equal(source.squares, source.weight**2)
    return Cases(rows, doubt, decided, prices, f"from a sample of {len(rows.truth):,} rows" if thinned else "")
