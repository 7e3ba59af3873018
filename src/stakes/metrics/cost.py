"""What the mistakes cost: per case, and compared with deciding the same for everyone."""

import math
from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from stakes.metrics.baselines import BEST_CONSTANT
from stakes.metrics.declare import PRICE, SIZE, metric
from stakes.metrics.reasons import NO_NEGATIVES, NO_POSITIVES, NO_ROWS
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Number, ratio


@metric(
    question="What do the mistakes cost per case, at these prices of a miss and a false alarm?",
    formula="(miss * fn + false_alarm * fp) / n",
    tally=Confusion,
    range=(0, math.inf),
    better="lower",
    baseline=BEST_CONSTANT,
    undefined=(NO_ROWS,),
    aliases=("cost", "risk"),
    swapped="expected_cost",
    pitfall="In the unit of the prices; who sets them decides what is good.",
)
def expected_cost(
    c: Confusion, *, miss: Annotated[float, PRICE] = 1, false_alarm: Annotated[float, PRICE] = 1
) -> Number:
    return ratio(_exact(c, miss) * c.fn + _exact(c, false_alarm) * c.fp, c.total)


@metric(
    question="What part of the cost of the cheapest constant decision is left? (below 1 is useful)",
    formula="(miss * fn + false_alarm * fp) / min(miss * P, false_alarm * N) if P * N else 0 / 0",
    tally=Confusion,
    range=(0, math.inf),
    better="lower",
    baseline=BEST_CONSTANT,
    undefined=(NO_POSITIVES, NO_NEGATIVES),
    swapped="normalised_cost",
    reference="Ferrer (2022), Analysis and comparison of classification metrics, arXiv 2209.05355",
)
def normalised_cost(
    c: Confusion, *, miss: Annotated[float, SIZE] = 1, false_alarm: Annotated[float, SIZE] = 1
) -> Number:
    missed, alarmed = _exact(c, miss), _exact(c, false_alarm)
    cost, always = missed * c.fn + alarmed * c.fp, (missed * c.P, alarmed * c.N)
    if c.leading:
        cheapest = np.minimum(*always)
        return ratio(cost, np.where(cheapest > 0, cheapest, math.nan))
    return ratio(cost, min(always)) if all(always) else math.nan


def _exact(c: Confusion, price: float) -> Any:
    return float(price) if c.leading else Fraction(price)
