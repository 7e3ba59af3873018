"""Rows grouped by score into levels: what each decision costs at every level.

Thresholds lie between levels. Resampling millions of levels would take long and tell no more than resampling those
where the best threshold could lie: beyond them the decisions are certain, and levels are merged without any loss.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stakes import errors
from stakes.errors import InputError
from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.columns import COUNTS, Columns
from stakes.tallies.costs import Costs
from stakes.tallies.pricing import Pricing

MOST_LEVELS = 2000
"""The most scores that stay as they are."""

FEWER_LEVELS = 1000
"""The number of levels that more scores are merged to, where a best threshold could lie."""

_FAR = 6.0
"""A threshold whose cost is this many standard errors above the best one is not the best one by chance."""

Price = tuple[float, float] | int
"""What a decision costs a positive and a negative row: a pair, or the number of the columns that hold it."""


@dataclass(frozen=True, eq=False)
class Policy:
    """How often each decision is ``taken``: (decision, …, class, level); ``ends``: above and below all scores."""

    taken: Array
    ends: Array

    @property
    def places(self) -> Array:
        """Where each decision can be taken: (decision, level), above and below all scores included."""
        often = self.taken.reshape(len(self.taken), -1, self.taken.shape[-1]).max(axis=1)
        return np.concatenate([often > 0, self.ends], axis=1)

    def mixed(self, share: float, other: Array) -> "Policy":
        """Follow this policy in a share of all cases, otherwise the other one."""
        own = self.taken if self.taken.ndim == other.ndim else self.taken[:, None]
        return Policy(share * own + (1 - share) * other, self.ends)


class ThresholdGrid:
    """Levels from the highest scores down. The axes of the arrays are: decision, class (the positive one first), level.

    ``scores`` are the lowest scores of the levels; ``weight`` the (weighted) rows, ``sizes`` those of each class, and
    ``rows`` the effective number of equal weight and cost. ``costs`` are what the rows of a level cost under
    each decision, from the one for low scores to the one for high scores, ``spread`` the sums of their squares.
    ``squares`` are sums of squared weights, None without weights.
    """

    def __init__(self, columns: Columns, prices: Sequence[Price]) -> None:
        """Build one level for each score."""
        self.scores = columns.scores.astype(np.float64)
        self.weight, squares = _counts(columns)
        self.squares, self.sizes = squares if columns.weighted else None, self.weight.sum(-1)
        levels = [_price_levels(columns, price, self.weight, squares) for price in prices]
        self.costs, self.spread = (np.stack(parts) for parts in zip(*levels, strict=True))
        rows = np.divide(self.weight**2, squares, out=self.weight.copy(), where=squares > 0)
        most, anything = (self.costs**2).sum(0), self.costs.any(0)
        scatter = np.divide(self.spread.sum(0) * rows, most, out=np.ones(rows.shape), where=anything)
        self.rows = rows / np.maximum(scatter, 1.0)

    def place_of(self, threshold: float) -> int:
        """How many levels lie at or above a threshold."""
        return int(np.searchsorted(-self.scores, -threshold, side="right"))

    def threshold_at(self, place: int) -> float:
        """The threshold with so many levels at or above it: +∞ with none."""
        return float(self.scores[place - 1]) if place else np.inf

    def policy(self, thresholds: Sequence[float]) -> Policy:
        """Which decision is taken at each level (decision, 1, level) by these thresholds, the lowest first."""
        places = [len(self.scores), *map(self.place_of, thresholds), 0]
        higher = [(np.arange(len(self.scores)) < place).astype(np.float64) for place in places]
        ends = np.zeros((len(thresholds) + 1, 2), bool)
        ends[sum(start < np.inf for start in thresholds), 0] = ends[0, 1] = True
        return Policy(-np.diff(higher, axis=0)[:, None, :], ends)

    def constant(self, decision: int, decisions: int) -> Policy:
        """One decision for everybody."""
        same = np.arange(decisions)[:, None] == decision
        return Policy(same[..., None] * np.ones(len(self.scores)), same * np.ones(2, bool))


def _counts(columns: Columns) -> tuple[Array, Array]:
    """The sums of weights and of their squares: (class, level)."""
    weight = columns.counts().astype(np.float64)
    return weight, columns.counts("_squared") if columns.weighted else weight


def _price_levels(columns: Columns, price: Price, weight: Array, squares: Array) -> tuple[Array, Array]:
    """What the rows of each level cost under a decision, and the sum of the squares of that: (class, level)."""
    if isinstance(price, int):  # costs of single rows, added up when they were counted
        names = [f"cost {price} of {name}" for name in COUNTS]
        costs, spread = (np.stack([columns.values[n + end] for n in names]) for end in ("", " squared"))
        return costs, spread
    each = np.array(price, np.float64)[:, None]
    return weight * each, squares * each**2


# ── fewer levels ──────────────────────────────────────────────────────────────────────────────────────────────────
def near_the_best(columns: Columns, moves: Sequence[tuple[Array, Array]], keep: Sequence[float]) -> Columns:
    """Return at most some thousand scores: as they are where a best threshold could lie, merged elsewhere.

    ``moves`` are the costs of all thresholds (see :func:`cost_of_moving`); those to ``keep`` stay between scores.
    """
    if len(columns.scores) <= MOST_LEVELS:
        return columns
    inside = np.zeros(len(columns.scores) + 1, bool)
    for paid, noise in moves:
        best = int(paid.argmin())
        inside |= paid - paid[best] <= _FAR * np.sqrt(np.abs(noise - noise[best]))
    places = np.flatnonzero(inside)
    first, last = int(places[0]), int(places[-1])
    few = np.linspace(first, last, min(FEWER_LEVELS, last - first) + 1).round().astype(np.int64)
    return _cut_at(columns, few, keep)


def cost_of_moving(columns: Columns, lower: Price, higher: Price, factors: Array) -> tuple[Array, Array]:
    """What it costs to take the higher decision above each place instead of the lower one, and the variance of that.

    ``factors`` are by how much the costs of either class count.
    """
    if isinstance(higher, int):
        before, after = (_price_levels(columns, price, *_counts(columns)) for price in (lower, higher))
        return cumulate(factors @ (after[0] - before[0])), cumulate(factors**2 @ np.maximum(before[1], after[1]))
    each = factors * (np.array(higher) - np.array(lower))
    suffix = "_squared" if columns.weighted else ""
    counts, squares = ([columns.values[name + end] for name in COUNTS] for end in ("", suffix))
    return (
        cumulate(each[0] * counts[0] + each[1] * counts[1]),
        cumulate(each[0] ** 2 * squares[0] + each[1] ** 2 * squares[1]),
    )


def evenly(columns: Columns, keep: Sequence[float]) -> Columns:
    """Return at most some thousand scores, each with about as much of both classes."""
    if len(columns.scores) <= MOST_LEVELS:
        return columns
    weight, _ = _counts(columns)
    share = np.cumsum((weight / np.maximum(weight.sum(-1, keepdims=True), 1e-300)).mean(0))
    return _cut_at(columns, np.searchsorted(share, np.arange(1, MOST_LEVELS) / MOST_LEVELS) + 1, keep)


def _cut_at(columns: Columns, places: Array, keep: Sequence[float]) -> Columns:
    kept = np.searchsorted(-columns.scores.astype(np.float64), -np.asarray(keep, np.float64), side="right")
    ends = np.unique(np.concatenate([places, kept, [len(columns.scores)]]))
    return columns.cut(ends[(ends > 0) & (ends <= len(columns.scores))])


def cumulate(values: Array) -> Array:
    """Sums of what lies above each place, beginning with nothing."""
    whole: Array = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values, axis=-1, out=whole[..., 1:])
    return whole


# ── prices ───────────────────────────────────────────────────────────────────────────────────────────────────────
def price_decisions(table: ScoreTable, pricing: Pricing) -> tuple[list[str], list[Price]]:
    """The decisions worth taking, from the one for low scores to the one for high scores, and what each costs."""
    pair = (table.negative, table.positive)
    decisions = pricing.decisions(pair)
    by_row = bool(pricing.costs.columns)
    typical = _mean_costs(table, pricing) if by_row else pricing.prices(pair, decisions, table.positive)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.InputWarning)  # warned of when the costs were made
        costs = Costs(typical, pair, decisions)
    names = [decision for decision, _ in costs.switch_points(table.positive)]
    if len(names) == 1:
        raise InputError(
            "one-decision-is-best",
            f"at these costs the decision {names[0]!r} is the cheapest whatever the score says; take it for every case",
        )
    if by_row:
        return names, [decisions.index(name) for name in names]
    negative, positive = pricing.prices(pair, names, table.positive)
    return names, [(float(high), float(low)) for low, high in zip(negative, positive, strict=True)]


def _mean_costs(table: ScoreTable, pricing: Pricing) -> list[list[float]]:
    """What negative and positive rows cost on average under each decision, where that differs from row to row."""
    values = table.as_columns().values
    if "cost 0 of positives" not in values:
        raise errors.count_again_with_costs(pricing.costs.columns)
    decisions = range(len(pricing.decisions((table.negative, table.positive))))
    sizes = {"negatives": max(float(table.N), 1e-300), "positives": max(float(table.P), 1e-300)}
    return [[float(values[f"cost {d} of {name}"].sum()) / size for d in decisions] for name, size in sizes.items()]
