"""Classes that are grades, in order: how far off decisions and probabilities are, in steps."""

import math

import numpy as np

from stakes.metrics.baselines import BEST_CONSTANT, ZERO
from stakes.metrics.declare import metric
from stakes.metrics.reasons import NO_PROBABILITIES, NO_ROWS, Undefined
from stakes.tallies import ClassScores, Confusion
from stakes.tallies.arithmetic import Array, Number, exact, ratio
from stakes.tallies.class_blocks import ranked_losses

_COHEN = "Cohen (1968), Psychological Bulletin 70"
ALL_ALIKE = Undefined(
    "truth and decisions are the same one class in every row",
    lambda c: (c.truth_totals * c.decision_totals).sum(-1) == np.asarray(c.total, np.float64) ** 2,
)


def _steps(table: Confusion) -> Array:
    """How many steps each decision lies from each truth."""
    order = [table.truths.index(name) for name in table.decisions]
    return np.array([[abs(place - other) for other in order] for place in range(len(table.truths))], object)


def _sum(table: Confusion, paid: Array, counts: Array | None = None) -> Number:
    """What all rows pay: exact, or floats over the leading axes."""
    counts = table.counts if counts is None else counts
    if table.leading:
        return (counts * paid.astype(np.float64)).sum((-1, -2))
    return (exact(counts) * paid).sum()


def _weighted_kappa(table: Confusion, power: int) -> Number:
    paid, counts = _steps(table) ** power, table.counts if table.leading else exact(table.counts)
    total, by_chance = counts.sum((-1, -2)), counts.sum(-1)[..., :, None] * counts.sum(-2)[..., None, :]
    expected = _sum(table, paid, by_chance)
    return ratio(expected - total * _sum(table, paid), expected)


@metric(
    question="How much better than chance do grades agree, a miss by more steps costing as many times more?",
    formula="1 - n * sum(count * abs(t - d) for t, d, count in cells) / "
    "sum(a * b * abs(t - d) for t, a in truths for d, b in decisions)",
    range=(-1, 1),
    baseline=ZERO,
    undefined=(NO_ROWS, ALL_ALIKE),
    swapped="linear_kappa",
    many=True,
    pitfall="Takes grades as evenly spaced; depends on how frequent they are.",
    reference=_COHEN,
)
def linear_kappa(c: Confusion) -> Number:
    return _weighted_kappa(c, 1)


@metric(
    question="How much better than chance do grades agree, a miss costing the square of its steps?",
    formula="1 - n * sum(count * abs(t - d)**2 for t, d, count in cells) / "
    "sum(a * b * abs(t - d)**2 for t, a in truths for d, b in decisions)",
    range=(-1, 1),
    baseline=ZERO,
    undefined=(NO_ROWS, ALL_ALIKE),
    aliases=("quadratic_weighted_kappa", "qwk"),
    swapped="quadratic_kappa",
    many=True,
    pitfall="A few misses by many steps decide it; it grows with the number of grades.",
    reference=_COHEN,
    headline=True,
)
def quadratic_kappa(c: Confusion) -> Number:
    return _weighted_kappa(c, 2)


@metric(
    question="By how many steps is a grade off on average?",
    formula="sum(count * abs(t - d) for t, d, count in cells) / n",
    range=(0, np.inf),
    better="lower",
    baseline=BEST_CONSTANT,
    undefined=(NO_ROWS,),
    swapped="mean_class_distance",
    many=True,
    interval="influence",
    pitfall="Takes grades as evenly spaced.",
    reference="Gaudette & Japkowicz (2009), Canadian AI",
    headline=True,
)
def mean_class_distance(c: Confusion) -> Number:
    return ratio(_sum(c, _steps(c)), c.total)


@metric(
    question="In what share of the rows is the grade right, or off by one step?",
    formula="sum(count for t, d, count in cells if abs(t - d) <= 1) / n",
    share_of="total",
    baseline=BEST_CONSTANT,
    swapped="within_one_accuracy",
    many=True,
    pitfall="With three grades, always giving the middle one scores 1.",
    reference="Gaudette & Japkowicz (2009), Canadian AI",
    headline=True,
)
def within_one_accuracy(c: Confusion) -> Number:
    return ratio(_sum(c, (_steps(c) <= 1).astype(object)), c.total)


@metric(
    loss=ranked_losses,
    question="How far are the probabilities of grades from what happened, near misses forgiven?",
    formula="mean over rows of the sum over grades of (P(grade or lower) - [truth is that or lower])**2",
    parts=("ranked",),
    undefined=(NO_PROBABILITIES,),
    otherwise="the tally was counted without its part 'ranked'",
    aliases=("rps",),
    pitfall="Not divided by the number of grades less 1, as some do.",
    reference="Epstein (1969), Journal of Applied Meteorology 8",
    headline=True,
)
def ranked_probability_score(s: ClassScores) -> Number:
    return math.nan if s.ranked is None else ratio(s.ranked, s.total)
