"""Decisions computed in another engine: by the highest score, by costs or by a threshold."""

import operator
import sys
from collections.abc import Mapping

import narwhals as nw

from stakes.engines.columns import LazyTable
from stakes.engines.conditions.translation import combine_in_pairs
from stakes.engines.lazy.queries import row_by_row
from stakes.engines.lazy.spark_text import choose
from stakes.engines.plan import Plan
from stakes.tallies.bayes import ALIKE
from stakes.tallies.pricing import Pricing, shares_of


def _first(tests: list[nw.Expr]) -> nw.Expr:
    """The index of the first test that holds; at least one does."""
    places = [choose(test, nw.lit(place), nw.lit(len(tests))) for place, test in enumerate(tests)]
    return nw.min_horizontal(*(one.alias(f"place{place}") for place, one in enumerate(places)))


@row_by_row
def with_decisions(
    frame: LazyTable, classes: tuple[str, ...], pricing: Pricing | None, columns: Mapping[str, nw.Expr]
) -> LazyTable:
    """Decide for the highest score (s0, s1, …), or for the lowest cost; ties go to the first."""
    if pricing is not None:
        return with_cheapest(frame, pricing, classes, None, columns)
    scores = [f"s{place}" for place in range(len(classes))]
    best = frame.with_columns(nw.max_horizontal(*scores).alias("best"))
    return best.with_columns(_first([nw.col(score) >= nw.col("best") for score in scores]).alias("decided"))


@row_by_row
def with_cheapest(
    frame: LazyTable, pricing: Pricing, classes: tuple[str, ...], positive: str | None, columns: Mapping[str, nw.Expr]
) -> LazyTable:
    """Add the cheapest decision, the same as ``Pricing.bayes``; ``columns`` hold costs that differ by row."""
    decisions, any_shares = pricing.decisions(classes), shares_of([1] * len(classes))
    factors = pricing.correction(classes, positive, any_shares)
    prices = [
        [columns[cell] if isinstance(cell, str) else nw.lit(float(cell)) for cell in row]
        for row in pricing.prices(classes, decisions, positive)
    ]
    weights = [
        nw.col(f"s{place}") * (1.0 if factors is None else float(factors[place])) for place in range(len(classes))
    ]
    count = range(len(decisions))
    risks = [
        combine_in_pairs(operator.add, [w * row[d] for w, row in zip(weights, prices, strict=True)]) for d in count
    ]
    names = [f"risk{d}" for d in count]
    frame = frame.with_columns(*(risk.alias(name) for risk, name in zip(risks, names, strict=True)))
    sizes = [nw.col(name).abs().alias(f"size{d}") for d, name in enumerate(names)]
    frame = frame.with_columns(nw.min_horizontal(*names).alias("least"), *sizes)
    frame = frame.with_columns(nw.max_horizontal(*(f"size{d}" for d in count)).alias("largest"))
    enough = nw.col("least") + nw.col("largest") * ALIKE
    if positive is not None:  # ties go to the decision that costs less if the positive class is true
        own = prices[classes.index(positive)]
        excluded = nw.lit(sys.float_info.max)
        paid = [choose(nw.col(name) <= enough, own[d], excluded).alias(f"paid{d}") for d, name in enumerate(names)]
        frame = frame.with_columns(*paid)
        frame = frame.with_columns(nw.min_horizontal(*(f"paid{d}" for d in count)).alias("least"))
        return frame.with_columns(_first([nw.col(f"paid{d}") <= nw.col("least") for d in count]).alias("decided"))
    return frame.with_columns(_first([nw.col(name) <= enough for name in names]).alias("decided"))


@row_by_row
def with_decision(
    frame: LazyTable,
    score: nw.Expr,
    plan: Plan,
    pricing: Pricing,
    columns: Mapping[str, nw.Expr],
    threshold: float | None,
) -> LazyTable:
    """Decide between two classes by the score of the positive one: at a threshold, or by each row's costs."""
    if threshold is None:
        frame = frame.with_columns((1.0 - score).alias("s0"), score.alias("s1"))
        return with_cheapest(frame, pricing, plan.classes, plan.positive, columns)
    places = [plan.decisions.index(name) for name in plan.classes]
    decided = choose(score >= float(threshold), nw.lit(places[1]), nw.lit(places[0]))
    return frame.with_columns(decided.alias("decided"))
