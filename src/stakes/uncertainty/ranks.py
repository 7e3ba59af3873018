"""Ranks that chance did not make: every two models are tested, and all of the tests hold at once.

A model's rank lies between one more than the number of models that are shown to be better, and the number of models
less those that are shown to be worse. Holm's correction over all pairs makes all of these intervals right at once.

Holm (1979), Scandinavian Journal of Statistics 6; Mogstad, Romano, Shaikh & Wilhelm (2024), Review of Economic Studies
91; Korn & Graubard (1998), Survey Methodology 24.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stakes.tallies.arithmetic import Array
from stakes.tallies.graded_items import GradedItems
from stakes.uncertainty.interval import Interval, clopper_pearson, none, wilson
from stakes.uncertainty.sampling import normal, student
from stakes.uncertainty.two_samples import holm

FEWEST_GROUPS = 5
"""With fewer (effective) clusters no two models are compared."""

_SAME = 1e-12


@dataclass(frozen=True, eq=False)
class PairTests:
    """Every two models: ``gaps`` is how much higher the row's model scores than the column's, with its standard error.

    ``degrees`` are those of Student's t; pairs with too few clusters in common have a p-value of 1.
    """

    gaps: Array
    errors: Array
    degrees: Array
    groups: Array

    @classmethod
    def of(cls, tally: GradedItems, higher_is_better: bool = True) -> "PairTests":
        """Test every two models of a tally; where lower scores are better, gaps change sign."""
        answered = np.maximum(tally.answered, 1.0)
        gaps = tally.gaps / answered
        parts = tally.gap_squares, 2 * gaps * tally.gap_counts, gaps**2 * tally.squared
        square = parts[0] - parts[1] + parts[2]
        square = np.where(square <= _SAME * (parts[0] + parts[2]), 0.0, square)
        groups = np.maximum(tally.groups, 2.0)
        errors = np.sqrt(groups / (groups - 1) * square) / answered
        sign = 1 if higher_is_better else -1
        return cls(sign * gaps, errors, tally.equal_groups - 1, tally.groups)

    @classmethod
    def over_tasks(cls, tallies: Sequence[GradedItems], higher_is_better: bool = True) -> "PairTests":
        """Test mean scores over equally weighted tasks; the items of each vary, the tasks do not.

        Degrees of freedom are Satterthwaite's (1946).
        """
        parts = [cls.of(tally, higher_is_better) for tally in tallies]
        errors, degrees = (np.stack([getattr(part, name) for part in parts]) for name in ("errors", "degrees"))
        whole, each = (errors**2).sum(axis=0), (errors**4 / np.maximum(degrees, 1)).sum(axis=0)
        free = np.divide(whole**2, each, out=degrees.sum(axis=0), where=each > 0)
        gaps, groups = np.mean([part.gaps for part in parts], axis=0), np.sum([part.groups for part in parts], axis=0)
        return cls(gaps, np.sqrt(whole) / len(parts), free, groups)

    @property
    def comparable(self) -> Array:
        """Which pairs have enough clusters in common."""
        return self.degrees >= FEWEST_GROUPS - 1

    @cached_property
    def better(self) -> Array:
        """The one-sided p-value of the row's model being no better than the column's."""
        from scipy.special import stdtr

        vary = self.errors > 0
        t = np.divide(self.gaps, self.errors, out=np.zeros_like(self.gaps), where=vary)
        constant = np.where(self.gaps == 0, 0.5, np.where(self.gaps > 0, 0.5**self.groups, 1.0))
        found = np.where(vary, stdtr(np.maximum(self.degrees, 1.0), -t), constant)
        return np.where(self.comparable, found, 1.0)

    @cached_property
    def p_values(self) -> Array:
        """The two-sided p-values."""
        return np.where(self.comparable, np.minimum(1.0, 2 * np.minimum(self.better, self.better.T)), 1.0)

    @cached_property
    def adjusted(self) -> Array:
        """Holm's p-values over all pairs."""
        upper = np.triu_indices(len(self.gaps), 1)
        found = np.ones_like(self.gaps)
        found[upper] = holm(self.p_values[upper].tolist())
        return np.minimum(found, found.T)

    def surely_better(self, confidence: float) -> Array:
        """Which models (rows) are shown to be better than which others, with all of this right at once."""
        return (self.adjusted <= 1 - confidence) & (self.gaps > 0)

    def interval(self, one: int, other: int, confidence: float) -> tuple[float, float]:
        """Student's interval of the difference of two models, by itself."""
        half = student((1 + confidence) / 2, float(self.degrees[one, other])) * float(self.errors[one, other])
        return float(self.gaps[one, other]) - half, float(self.gaps[one, other]) + half

    def among_best(self, confidence: float) -> Array:
        """Which models may be the best: no other is shown to be better than them.

        That is one question about each model, so fewer tests share the chance of an error (Bonferroni). What the ranks
        of all models show by Holm's correction holds here as well, without losing the best more often.
        """
        rivals = len(self.gaps) - 1
        others = self.better + np.eye(len(self.gaps))  # a model is no rival of its own
        worse = self.surely_better(confidence).any(axis=0)
        return np.asarray((others.min(axis=0) * rivals > 1 - confidence) & ~worse)

    @property
    def order(self) -> Array:
        """The models from best to worst: by how far each lies above the others on average, then as they came."""
        return np.argsort(-self.strengths, kind="stable")

    @cached_property
    def strengths(self) -> Array:
        """How far each model lies above the others on average, on items that both answered."""
        known = self.groups > 0
        return np.asarray((self.gaps * known).sum(axis=1) / np.maximum(known.sum(axis=1), 1))


def rank_limits(surely_better: Array) -> tuple[Array, Array]:
    """The lowest and the highest rank of each model, by which are shown to be better (rows) than which."""
    return 1 + surely_better.sum(axis=0), len(surely_better) - surely_better.sum(axis=1)


def group_models(order: Array, surely_better: Array) -> Array:
    """The group of each model: a new one begins with the first that is shown to be worse than the leader of one."""
    groups, leader, group = np.zeros(len(order), np.int64), int(order[0]), 1
    for model in order.tolist():
        if surely_better[leader, model]:
            leader, group = model, group + 1
        groups[model] = group
    return groups


def mean_interval(tally: GradedItems, place: int, confidence: float) -> Interval:
    """The limits of what a model scores on average over the items that it answered."""
    n, squares = float(tally.answered[place, place]), float(tally.squared[place, place])
    if n == 0 or n**2 / squares < FEWEST_GROUPS:
        return none("it has too few items or clusters")
    if tally.binary and not tally.clustered and tally.runs is None:
        low, high = wilson(float(tally.sums[place]) / n, n, confidence)
        return Interval(float(low), float(high), "Wilson")
    return _limits(tally, n, *_mean_and_variance(tally, place), n**2 / squares - 1, confidence)


def mean_over_tasks(tallies: Sequence[GradedItems], place: int, confidence: float) -> tuple[float, Interval]:
    """The mean score of a model over equally weighted tasks, and its limits."""
    means, variances = np.transpose([_mean_and_variance(tally, place) for tally in tallies])
    free = np.array([float(tally.equal_groups[place, place]) - 1 for tally in tallies])
    mean, variance = float(means.mean()), float(variances.sum()) / len(tallies) ** 2
    degrees = variances.sum() ** 2 / (variances**2 / free).sum() if variance else free.sum()
    whole = tallies[0].sum(tallies)
    return mean, _limits(whole, float(whole.answered[place, place]), mean, variance, float(degrees), confidence)


def _mean_and_variance(tally: GradedItems, place: int) -> tuple[float, float]:
    n, groups = float(tally.answered[place, place]), float(tally.groups[place, place])
    mean = float(tally.sums[place]) / n
    squares = mean**2 * float(tally.squared[place, place])
    parts = float(tally.cluster_squares[place]), 2 * mean * float(tally.cluster_counts[place]), squares
    square = max(parts[0] - parts[1] + parts[2], 0.0)
    return mean, groups / (groups - 1) * square / n**2 if square > _SAME * (parts[0] + parts[2]) else 0.0


def _limits(tally: GradedItems, n: float, mean: float, variance: float, degrees: float, confidence: float) -> Interval:
    """Limits of a mean with this variance: Korn and Graubard's of scores from 0 to 1, otherwise Student's."""
    reach = student((1 + confidence) / 2, degrees)
    if tally.lowest >= 0 and tally.highest <= 1:
        equal = min(n, mean * (1 - mean) / variance) if variance > 0 else n
        low, high = clopper_pearson(mean, equal * (normal((1 + confidence) / 2) / reach) ** 2, confidence)
        return Interval(low, high, "Korn–Graubard").around(mean)
    if variance == 0:
        return none("no item makes a difference")
    return Interval(mean - reach * math.sqrt(variance), mean + reach * math.sqrt(variance), "Student's t")


@dataclass(frozen=True)
class RepeatSpread:
    """How far answers to the same item vary (``within``), and items themselves (``between``), over all models.

    ``removable`` is the share of the variance of a mean that ever more repeats would remove, ``best`` how often to ask
    each item where a new item costs as much as one more run.
    """

    per_item: float
    within: float
    between: float
    removable: float
    best: int


def repeat_spread(tally: GradedItems) -> RepeatSpread | None:
    """The spread within and between items, or None where nothing was asked twice."""
    if tally.runs is None or tally.inverse_runs is None or tally.within is None or tally.item_squares is None:
        return None
    n = tally.answered.diagonal()
    free = tally.runs - n
    use = (free > 0) & (n > 1)
    if not use.any():
        return None
    within = float((tally.within[use] / free[use]).mean())
    spread = (tally.item_squares[use] - tally.sums[use] ** 2 / n[use]) / (n[use] - 1)
    inverse = float((tally.inverse_runs[use] / n[use]).mean())
    between = max(float(spread.mean()) - within * inverse, 0.0)
    whole = between + within * inverse
    best = max(1, round(math.sqrt(within / between))) if between > 0 else 0
    return RepeatSpread(1 / inverse, within, between, within * inverse / whole if whole > 0 else 0.0, best)
