"""What the mistakes cost: per case, and compared with deciding the same for everyone."""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Annotated

import numpy as np

from stakes import errors
from stakes.errors import InputError, some
from stakes.metrics.baselines import BEST_CONSTANT, CLASS_FREQUENCIES, Baseline
from stakes.metrics.declare import CHANCE, NEEDED, PRICE, SIZE, Metric, metric
from stakes.metrics.folds import Fold, total
from stakes.metrics.probability import NEEDS_PROBABILITIES
from stakes.metrics.reasons import NO_NEGATIVES, NO_POSITIVES, NO_PROBABILITIES, NO_ROWS, Undefined
from stakes.tallies import ClassScores, Confusion, CostSums, ScoreTable, Steps
from stakes.tallies.arithmetic import Array, Number, ratio
from stakes.tallies.pricing import Pricing, Shares


@metric(
    question="What do the mistakes cost per case, at these prices of a miss and a false alarm?",
    formula="(miss * fn + false_alarm * fp) / n",
    range=(0, math.inf),
    better="lower",
    baseline=BEST_CONSTANT,
    interval="costs",
    undefined=(NO_ROWS,),
    aliases=("cost", "risk"),
    swapped="expected_cost",
    pitfall="In the unit of the prices; who sets them decides what is good.",
    reference="Elkan (2001), IJCAI",
)
def expected_cost(
    c: Confusion, *, miss: Annotated[float, PRICE] = NEEDED, false_alarm: Annotated[float, PRICE] = NEEDED
) -> Number:
    if not miss and not false_alarm:
        raise errors.costs_of_nothing()
    return ratio(_exact(c, miss) * c.fn + _exact(c, false_alarm) * c.fp, c.total)


@metric(
    question="What part of the cost of the cheapest constant decision is left? (below 1 is useful)",
    formula="(miss * fn + false_alarm * fp) / min(miss * P, false_alarm * N) if P * N else 0 / 0",
    range=(0, math.inf),
    better="lower",
    baseline=BEST_CONSTANT,
    interval="relative costs",
    undefined=(NO_POSITIVES, NO_NEGATIVES),
    swapped="normalised_cost",
    pitfall="Moves with the class frequencies: give the prior of the deployment where it differs from the rows.",
    reference="Ferrer (2022), Analysis and comparison of classification metrics, arXiv 2209.05355",
)
def normalised_cost(
    c: Confusion, *, miss: Annotated[float, SIZE] = NEEDED, false_alarm: Annotated[float, SIZE] = NEEDED
) -> Number:
    missed, alarmed = _exact(c, miss), _exact(c, false_alarm)
    cost, always = missed * c.fn + alarmed * c.fp, (missed * c.P, alarmed * c.N)
    if c.leading:
        cheapest = np.minimum(*always)
        return ratio(cost, np.where(cheapest > 0, cheapest, math.nan))
    return ratio(cost, min(always)) if all(always) else math.nan


def _exact(c: Confusion, price: float) -> Number:
    return float(price) if c.leading else Fraction(price)


# ── of probabilities ─────────────────────────────────────────────────────────────────────────────────────────────
def _benefit(truth: Array, score: Array, *, threshold: float, harm: float) -> Array:
    """The benefit of acting from the threshold on: 1 for a positive, minus the odds of the threshold for a negative."""
    return np.where(score >= threshold, np.where(truth, 1.0, -threshold / (1 - threshold)), 0.0) - harm


@metric(
    loss=_benefit,
    question="What is acting from this probability on worth, in found positives per case, false alarms taken off?",
    formula="(tp_at(threshold) - fp_at(threshold) * threshold / (1 - threshold)) / n - harm",
    range=(-math.inf, 1),
    range_of=lambda threshold, harm: (-threshold / (1 - threshold) - harm, 1 - harm),
    better="higher",
    baseline=Baseline(
        "acting on everybody or on nobody, whichever is better",
        value=lambda metric, table: metric.with_parameters(harm=0.0).of(table.constant()),
    ),
    undefined=NEEDS_PROBABILITIES,
    pitfall="The threshold is a price: whoever acts from t on holds a false alarm t/(1 - t) times as bad as a found "
    "case is good. Compare it with acting on everybody and on nobody, which need no asking (harm: what that costs).",
    reference="Vickers & Elkin (2006), Medical Decision Making 26",
)
def net_benefit(
    table: ScoreTable, *, threshold: Annotated[float, CHANCE] = NEEDED, harm: Annotated[float, PRICE] = 0.0
) -> Number:
    c = table.at(threshold)
    t, lost = _exact(c, threshold), _exact(c, harm)
    return ratio(c.tp * (1 - t) - c.fp * t - lost * c.total * (1 - t), c.total * (1 - t))


Prices = tuple[tuple[float, float], tuple[float, float]]
"""What it costs to call a negative negative and positive, and the same for a positive."""


def _soft(truth: Array, score: Array, *, prices: Prices) -> Array:
    """What a case costs if each class is decided with its probability."""
    of_negative, of_positive = (low + (high - low) * score for low, high in prices)
    return np.where(truth, of_positive, of_negative)


def _soft_sum(steps: Steps, *, prices: Prices) -> Number:
    of_negative, of_positive = (low + (high - low) * steps.scores for low, high in prices)
    return total(steps.negatives * of_negative + steps.positives * of_positive)


def _soft_of_mistakes(
    steps: Steps, *, miss: Annotated[float, PRICE] = NEEDED, false_alarm: Annotated[float, PRICE] = NEEDED
) -> Number:
    if not miss and not false_alarm:
        raise errors.costs_of_nothing()
    return _soft_sum(steps, prices=_of_mistakes(miss, false_alarm))


def _of_mistakes(miss: float, false_alarm: float) -> Prices:
    return (0.0, float(false_alarm)), (float(miss), 0.0)


def _mean(paid: Number, table: ScoreTable) -> Number:
    return ratio(paid, table.total)


soft_cost = metric(
    name="soft_cost",
    loss=lambda truth, score, *, miss, false_alarm: _soft(truth, score, prices=_of_mistakes(miss, false_alarm)),
    question="What would a case cost if decisions were drawn with the probabilities that the model gives them?",
    formula="sum(miss * (1 - p) if y else false_alarm * p for p, y in rows) / n",
    range=(0, math.inf),
    range_of=lambda miss, false_alarm: (0, max(miss, false_alarm)),
    better="lower",
    undefined=NEEDS_PROBABILITIES,
    aliases=("probability_weighted_cost",),
    swapped="soft_cost",
    pitfall="Lowest for probabilities of 0 and 1, honest or not: it rewards sureness, so do not train or choose by it.",
    reference="Ferri, Hernández-Orallo & Modroiu (2009), Pattern Recognition Letters 30",
)(Fold(_soft_of_mistakes, _mean))


# ── any costs ────────────────────────────────────────────────────────────────────────────────────────────────────
NAMES = (expected_cost.name, normalised_cost.name)

_NOTHING_AT_STAKE = "the cheapest constant decision costs no more than what cannot be avoided"
_FORMULAS = {
    False: "sum(C[c, d] * n[c, d] for c in classes for d in decisions) / n",
    True: "(expected_cost - unavoidable) / (cheapest_constant - unavoidable)",
}


def with_prices(base: Metric, pricing: Pricing, tally: type = Confusion, of: str = "") -> Metric:
    """Return the expected or the normalised cost under any costs and class frequencies; the former ``of`` a class."""
    of_rows, relative = tally is CostSums, is_relative(base)
    lowest = -math.inf if of_rows or any(cost < 0 for row in pricing.costs.numbers for cost in row) else 0
    return replace(
        base,
        name=f"{base.text}[{of}]" if of else base.name,
        function=partial(_of_sums if of_rows else _of_decisions, relative=relative, pricing=pricing, of=of),
        tally=tally,
        formula=_FORMULAS[relative],
        question=base.question.replace("at these prices of a miss and a false alarm", "at the given costs"),
        range=(0 if relative else lowest, math.inf),
        baseline=Baseline(BEST_CONSTANT.words, value=partial(_constant, pricing=pricing, of=of)),
        undefined=(NO_ROWS, _empty_class(pricing, of)),
        otherwise=_NOTHING_AT_STAKE,
        swapped=None,
        many=True,
        headline=not of,
        defaults={},
        kinds={},
        parameters={},
    )


def soft_with_prices(
    base: Metric, pricing: Pricing, classes: Sequence[str], positive: str | None, several: bool
) -> Metric:
    """Return the soft cost under any costs of classes that are the decisions, too; of two the negative class first."""
    if pricing.costs.columns:
        raise InputError(
            "soft-cost-by-row",
            f"{base.name} is for costs that are numbers, and these differ from row to row (column "
            f"{some(pricing.costs.columns)}); ask for expected_cost",
        )
    matrix = np.array(pricing.prices(classes, classes, positive), np.float64)
    base = replace(
        base,
        range=(float(matrix.min()), float(matrix.max())),
        range_of=None,
        swapped=None,
        defaults={},
        kinds={},
        parameters={},
    )
    if several:
        return _soft_of_classes(base, matrix)
    (rest, alarm), (miss, hit) = matrix.tolist()
    prices = (rest, alarm), (miss, hit)
    return replace(base, function=Fold(partial(_soft_sum, prices=prices), _mean), loss=partial(_soft, prices=prices))


def _soft_of_classes(base: Metric, prices: Array) -> Metric:
    return replace(
        base,
        function=partial(_soft_of_sums, prices=prices),
        loss=partial(_soft_of_row, prices=prices),
        tally=ClassScores,
        baseline=CLASS_FREQUENCIES,
        formula="sum(sum(C[y, d] * p[d] for d in classes) for p, y in rows) / n",
        undefined=(NO_ROWS, NO_PROBABILITIES, _NOT_ADDED_UP),
        parts=("given",),
        many=True,
    )


_NOT_ADDED_UP = Undefined(
    "these counts did not add up the probabilities of each class; count the rows again", lambda s: s.given is None
)


def _soft_of_sums(scores: ClassScores, *, prices: Array) -> Number:
    return math.nan if scores.given is None else ratio(float((scores.given * prices).sum()), scores.total)


def _soft_of_row(truth: Array, scores: Array, *, prices: Array) -> Array:
    """What a case of a class costs if each class is decided with its probability."""
    return np.asarray((prices[truth] * scores).sum(axis=-1))


def is_relative(metric: Metric) -> bool:
    """Whether a cost is measured in units of the cheapest constant decision."""
    return metric.interval == "relative costs"


def given_to(metric: Metric) -> tuple[Pricing | None, str]:
    """The pricing of a metric made by :func:`with_prices`, and the class whose cost it is."""
    given = metric.function.keywords if isinstance(metric.function, partial) else {}
    return given.get("pricing"), given.get("of", "")


def shares_in(tally: Confusion | CostSums, pricing: Pricing, of: str = "") -> Shares | None:
    """The class frequencies of a cost."""
    if isinstance(tally, Confusion):
        return counted_shares(pricing, of, tally.truths, tally.positive)
    positive = tally.classes[1] if len(tally.classes) == 2 else None  # of two the positive one stands last
    return counted_shares(pricing, of, tally.classes, positive)


def counted_shares(pricing: Pricing, of: str, classes: Sequence[str], positive: str | None) -> Shares | None:
    """The class frequencies of a cost: those of the deployment, None for those of the rows, or one class alone."""
    return tuple(Fraction(name == of) for name in classes) if of else pricing.deployed(classes, positive)


def _empty_class(pricing: Pricing, of: str) -> Undefined:
    def applies(tally: Confusion | CostSums) -> Number:
        prior = shares_in(tally, pricing, of)
        sizes = tally.sums[:, 0] if isinstance(tally, CostSums) else tally.truth_totals
        wanted = [c for c, share in enumerate(prior or ()) if share]
        return (sizes[..., wanted] == 0).any(-1) if wanted else False

    return Undefined("a class that the prior expects has no rows", applies)


def costs_of(table: Confusion, pricing: Pricing, of: str = "") -> tuple[Number, Number, Array]:
    """Return what a case costs on average: as decided, with the best decision for each class, with each decision."""
    prices: Array = np.array(pricing.prices(table.truths, table.decisions, table.positive), object)
    prior = shares_in(table, pricing, of)
    totals = table.truth_totals
    if table.leading:
        prices = prices.astype(np.float64)
        shares = totals / np.expand_dims(table.total, -1) if prior is None else np.array(prior, np.float64)
        each = (prices * table.cells).sum(-1) / np.where(totals > 0, totals, 1.0)
        return (shares * each).sum(-1), shares @ prices.min(-1), shares @ prices
    shares = np.array([Fraction(size) / table.total for size in totals] if prior is None else prior, object)
    paid = (prices * table.cells).sum(-1)
    each = np.array([cost / Fraction(size or 1) for cost, size in zip(paid, totals, strict=True)])
    return shares @ each, shares @ prices.min(-1), shares @ prices


def _of_decisions(table: Confusion, *, relative: bool, pricing: Pricing, of: str) -> Number:
    cost, unavoidable, constants = costs_of(table, pricing, of)
    if relative:
        return _relative(cost, unavoidable, constants.min(-1))
    return cost if table.leading else ratio(cost, 1)


def _of_sums(sums: CostSums, *, relative: bool, pricing: Pricing, of: str) -> float:
    _, cost, unavoidable, *constants = sums.means(shares_in(sums, pricing, of)).tolist()
    return float(_relative(cost, unavoidable, min(constants)) if relative else cost)


def _relative(cost: Number, unavoidable: Number, constant: Number) -> Number:
    stake = constant - unavoidable
    if isinstance(stake, np.ndarray):
        return ratio(cost - unavoidable, np.where(stake > 0, stake, math.nan))
    return ratio(cost - unavoidable, stake) if stake > 0 else math.nan


def _constant(base: Metric, tally: Confusion | CostSums, *, pricing: Pricing, of: str) -> float:
    """The cost of the cheapest constant decision, or 1 for the normalised cost."""
    if math.isnan(base.of(tally)):
        return math.nan
    if is_relative(base):
        return 1.0
    whole, here = (_constants(tally, pricing, one) for one in ("", of))
    return float(here[int(np.argmin(whole.astype(np.float64)))])


def _constants(tally: Confusion | CostSums, pricing: Pricing, of: str) -> Array:
    """What a case costs if everybody gets the same decision, for each of them."""
    if isinstance(tally, CostSums):
        return np.asarray(tally.means(shares_in(tally, pricing, of))[3:])
    return costs_of(tally, pricing, of)[2]
