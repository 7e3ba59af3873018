"""What the mistakes cost: per case, and compared with deciding the same for everyone."""

import functools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Annotated

import numpy as np

from stakes import errors
from stakes.metrics.baselines import BEST_CONSTANT, Baseline
from stakes.metrics.declare import NEEDED, PRICE, SIZE, Metric, metric
from stakes.metrics.reasons import NO_NEGATIVES, NO_POSITIVES, NO_ROWS, Undefined
from stakes.tallies import Confusion, CostSums
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


# ── any costs ────────────────────────────────────────────────────────────────────────────────────────────────────
NAMES = (expected_cost.name, normalised_cost.name)

_NOTHING_AT_STAKE = "the cheapest constant decision costs no more than what cannot be avoided"
_FORMULAS = {
    False: "sum(C[c, d] * n[c, d] for c in classes for d in decisions) / n",
    True: "(expected_cost - unavoidable) / (cheapest_constant - unavoidable)",
}


def with_prices(base: Metric, pricing: Pricing, tally: type = Confusion) -> Metric:
    """Return the expected or the normalised cost under any costs and class frequencies."""
    of_rows, relative = tally is CostSums, is_relative(base)
    lowest = -math.inf if of_rows or any(cost < 0 for row in pricing.costs.numbers for cost in row) else 0
    return replace(
        base,
        function=functools.partial(_of_sums if of_rows else _of_decisions, relative=relative, pricing=pricing),
        tally=tally,
        formula=_FORMULAS[relative],
        question=base.question.replace("at these prices of a miss and a false alarm", "at the given costs"),
        range=(0 if relative else lowest, math.inf),
        baseline=Baseline(BEST_CONSTANT.words, value=functools.partial(_constant, pricing=pricing)),
        undefined=(NO_ROWS, _empty_class(pricing)),
        otherwise=_NOTHING_AT_STAKE,
        swapped=None,
        many=True,
        headline=True,
        defaults={},
        kinds={},
        parameters={},
    )


def is_relative(metric: Metric) -> bool:
    """Whether a cost is measured in units of the cheapest constant decision."""
    return metric.interval == "relative costs"


def pricing_of(metric: Metric) -> Pricing | None:
    """What a metric that :func:`with_prices` made prices by."""
    function = metric.function
    return function.keywords.get("pricing") if isinstance(function, functools.partial) else None


def _empty_class(pricing: Pricing) -> Undefined:
    def applies(tally: Confusion | CostSums) -> Number:
        if isinstance(tally, CostSums):
            prior, sizes = at_prior(tally, pricing), tally.sums[:, 0]
        else:
            prior, sizes = pricing.deployed(tally.truths, tally.positive), tally.truth_totals
        wanted = [c for c, share in enumerate(prior or ()) if share]
        return (sizes[..., wanted] == 0).any(-1) if wanted else False

    return Undefined("a class that the prior expects has no rows", applies)


def costs_of(table: Confusion, pricing: Pricing) -> tuple[Number, Number, Array]:
    """Return what a case costs on average: as decided, with the best decision for each class, with each decision."""
    prices: Array = np.array(pricing.prices(table.truths, table.decisions, table.positive), object)
    prior = pricing.deployed(table.truths, table.positive)
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


def _of_decisions(table: Confusion, *, relative: bool, pricing: Pricing) -> Number:
    cost, unavoidable, constants = costs_of(table, pricing)
    if relative:
        return _relative(cost, unavoidable, constants.min(-1))
    return cost if table.leading else ratio(cost, 1)


def _of_sums(sums: CostSums, *, relative: bool, pricing: Pricing) -> float:
    _, cost, unavoidable, *constants = sums.means(at_prior(sums, pricing)).tolist()
    return float(_relative(cost, unavoidable, min(constants)) if relative else cost)


def at_prior(sums: CostSums, pricing: Pricing) -> Shares | None:
    """The class frequencies of the deployment; the positive class of two stands last."""
    return pricing.deployed(sums.classes, sums.classes[1] if len(sums.classes) == 2 else None)


def _relative(cost: Number, unavoidable: Number, constant: Number) -> Number:
    stake = constant - unavoidable
    if isinstance(stake, np.ndarray):
        return ratio(cost - unavoidable, np.where(stake > 0, stake, math.nan))
    return ratio(cost - unavoidable, stake) if stake > 0 else math.nan


def _constant(base: Metric, tally: Confusion | CostSums, *, pricing: Pricing) -> float:
    """The cost of the cheapest decision for everybody, or 1 as the measure of the normalised cost."""
    if math.isnan(base.of(tally)):
        return math.nan
    if is_relative(base):
        return 1.0
    if isinstance(tally, CostSums):
        return float(min(tally.means(at_prior(tally, pricing))[3:]))
    return float(costs_of(tally, pricing)[2].min())
