"""The page of a comparison: what is sure in words, differences with intervals, the ranking, curves together."""

import math
from collections.abc import Mapping

from stakes import metrics
from stakes.evaluation.comparison import Comparison, Pair
from stakes.findings.pages.many_classes import sweep
from stakes.findings.pages.payload import Part, figure, section
from stakes.findings.verdicts.answers import MOST
from stakes.language.sentences import short_name
from stakes.metrics.usual import AREAS
from stakes.records import plain

_MOST_CURVES = 6
"""The most colours that everyone can distinguish."""

_POINTS = 3000


def sections_of(comparison: Comparison) -> list[Part]:
    """Return the sections below the verdict on a comparison."""
    return [
        _differences_section(comparison),
        _ranking_section(comparison),
        *_together_section(comparison),
        *_agreement_section(comparison),
    ]


# ── sections ─────────────────────────────────────────────────────────────────────────────────────────────────────
def _differences_section(comparison: Comparison) -> Part:
    """The difference of every two models by each metric."""
    kept = ("difference", "low", "high", "p_value", "adjusted_p_value")
    found = [
        {
            "metric": name,
            "better": metrics.find(name).better,
            "pairs": [_pair(p, {key: getattr(p, key) for key in kept}) for p in comparison._pairs_by(name)[:MOST]],
        }
        for name in comparison.metrics
    ]
    return section(
        "differences",
        metrics=found,
        margin=comparison.margin,
        confidence=comparison.confidence,
        count=math.comb(len(comparison.models), 2),
    )


def _pair(pair: Pair, numbers: Mapping[str, float | None]) -> Part:
    """Two models, and numbers about them."""
    names = {"first": short_name(pair.first), "second": short_name(pair.second)}
    return {**names, **{name: plain(number) for name, number in numbers.items()}}


def _ranking_section(comparison: Comparison) -> Part:
    tables = [
        {
            "metric": name,
            "places": [
                {"rank": place.rank, "model": short_name(place.model), "figure": figure(place.estimate)}
                for place in comparison._places_by(name)[:MOST]
            ],
        }
        for name in comparison.metrics
    ]
    return section("ranking", tables=tables, confidence=comparison.confidence)


def _together_section(comparison: Comparison) -> list[Part]:
    """The ROC and PR curves of the best models."""
    names = [place.model for place in comparison._places_by(comparison.metrics[0])]
    tables = {name: comparison.models[name].counted.scores for name in names}
    usable = {name: table for name, table in tables.items() if table is not None and table.P and table.N}
    shown = list(usable.items())[:_MOST_CURVES]
    curves = [
        sweep(name, table, _POINTS // len(shown), [comparison.models[name].figures[area] for area in AREAS.values()])
        for name, table in shown
    ]
    return [section("together", curves=curves, count=len(usable))] if curves else []


def _agreement_section(comparison: Comparison) -> list[Part]:
    """On how many rows both, one or none of two models is right."""
    found = comparison._pairs_by(comparison.metrics[0])
    pairs = [_pair(p, vars(p.flipped)) for p in found if p.flipped is not None]
    return [section("agreement", pairs=pairs[:MOST])] if pairs else []
