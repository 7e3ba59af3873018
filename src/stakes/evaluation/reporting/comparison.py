"""The page of a comparison: what is sure in words, differences with intervals, the ranking, curves together."""

import math
from collections.abc import Iterator, Sequence

from stakes import metrics
from stakes.evaluation.comparison import Comparison, Pair
from stakes.evaluation.reporting import Part
from stakes.evaluation.reporting.answers import answer
from stakes.evaluation.reporting.many_classes import sweep
from stakes.metrics.usual import AREAS
from stakes.records import plain
from stakes.views.report.payload import MOST, figure, metric, named, page, said, section

_MOST_CURVES = 6
"""So many colours can be told apart by everyone."""

_POINTS = 3000
_MOST_NAMES = 5


def page_of(comparison: Comparison) -> Part:
    """Return the payload of a comparison."""
    sections = [
        section("verdict", answers=_answers(comparison), cautions=list(_cautions(comparison))),
        _differences_section(comparison),
        _ranking_section(comparison),
        *_together_section(comparison),
        *_agreement_section(comparison),
    ]
    return page(said("page.comparison"), _facts(comparison), sections)


def _facts(comparison: Comparison) -> list[Part]:
    facts, rows = [said("page.models", n=len(comparison.models))], comparison.rows
    if isinstance(rows, list):
        facts.append(said("page.different_rows", n=sum(rows)))
    else:
        facts.append(said("page.same_rows", n=rows))
    if comparison.clusters is not None:
        facts.append(said("page.clusters", n=comparison.clusters))
    return facts


# ── in words ─────────────────────────────────────────────────────────────────────────────────────────────────────
def _answers(comparison: Comparison) -> list[Part]:
    """What is sure, metric by metric; and, where a margin was given, who is shown not to be worse by more than it."""
    told = []
    for name in comparison.metrics[:MOST]:
        pairs = comparison._pairs_by(name)
        told.append(_of_two(comparison, pairs[0]) if len(pairs) == 1 else _of_many(comparison, name))
        told += _of_margin(comparison, name, pairs)
    return told


def _of_two(comparison: Comparison, pair: Pair) -> Part:
    names = {"first": named(pair.first), "second": named(pair.second)}
    figures = [
        {**figure(comparison.models[name].interval(pair.metric)), "label": said("compared.model", name=named(name))}
        for name in (pair.first, pair.second)
    ]
    tone, words = _found(comparison, pair)
    sentences = [said(words, name=metric(pair.metric), **names)]
    if math.isfinite(pair.difference):
        sentences.append(said("compared.difference", value=pair.difference, **names))
    if pair.low is not None:
        limits = {"low": pair.low, "high": pair.high, "confidence": comparison.confidence}
        sentences.append(said("compared.limits", **limits))
    sentences += _chance(pair.p_value)
    return answer("compared.which", tone, *sentences, figures=figures, name=metric(pair.metric))


def _found(comparison: Comparison, pair: Pair) -> tuple[str, str]:
    """How sure the difference of two models is."""
    if not math.isfinite(pair.difference):
        return "open", "compared.undefined"
    if pair.low is None or pair.high is None:
        return "open", "compared.unknown"
    if pair.low == pair.high == 0:
        return "note", "compared.same"
    if not pair.told_apart(comparison.confidence):
        return "doubt", "compared.alike"
    return "good", "compared.higher" if metrics.find(pair.metric).better == "higher" else "compared.lower"


def _chance(p_value: float | None) -> list[Part]:
    if p_value is None:
        return []
    return [said("compared.p", p=p_value) if p_value >= 1e-4 else said("compared.tiny_p")]


def _of_many(comparison: Comparison, name: str) -> Part:
    found = comparison._standing(name)
    question, best, called = "compared.which", found.best.estimate, metric(name)
    if not best.defined:
        return answer(question, "open", said("compared.none", name=called), name=called)
    lists = {
        "compared.surely_better": found.beaten,
        "compared.not_apart": found.alike,
        "compared.no_comparison": found.lost,
    }
    sentences = [said("compared.best", model=found.best.model, value=best.value, name=called)]
    sentences += [
        said(words, models=models[:_MOST_NAMES] + ["…"] * (len(models) > _MOST_NAMES))
        for words, models in lists.items()
        if models
    ]
    tone = "doubt" if found.alike or found.lost else "good"
    return answer(question, tone, *sentences, figures=[best], name=called)


def _of_margin(comparison: Comparison, name: str, pairs: Sequence[Pair]) -> list[Part]:
    judged = [pair for pair in pairs if pair.not_inferior is not None]
    if not judged:
        return []
    sides = [(p.first, p.second, p.not_inferior) for p in judged]
    sides += [(p.second, p.first, p.second_not_inferior) for p in judged]
    sentences = [
        said("compared.shown" if shown else "compared.not_shown", one=one, other=other, margin=comparison.margin)
        for one, other, shown in sorted(sides[: 2 * _MOST_CURVES], key=lambda side: not side[2])
    ]
    tone = "good" if any(shown for *_, shown in sides) else "doubt"
    return [answer("compared.margin", tone, *sentences, name=metric(name), margin=comparison.margin)]


def _cautions(comparison: Comparison) -> Iterator[Part]:
    count = math.comb(len(comparison.models), 2)
    if count > 1:
        yield said("compared.simultaneous" if comparison.simultaneous else "compared.each_alone", n=count)
    if any(pair.low is None and math.isfinite(pair.difference) for pair in comparison.pairs):
        yield said("compared.no_intervals")
    if comparison.clusters is not None:
        yield said("compared.whole_clusters", n=comparison.clusters)
    if not comparison.on_same_rows:
        yield said("compared.own_rows")


# ── sections ─────────────────────────────────────────────────────────────────────────────────────────────────────
def _differences_section(comparison: Comparison) -> Part:
    """The difference of every two models by each metric."""
    kept = ("difference", "low", "high", "p_value", "adjusted_p_value")
    found = [
        {
            "metric": name,
            "better": metrics.find(name).better,
            "pairs": [
                {"first": named(p.first), "second": named(p.second), **{key: plain(getattr(p, key)) for key in kept}}
                for p in comparison._pairs_by(name)[:MOST]
            ],
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


def _ranking_section(comparison: Comparison) -> Part:
    tables = [
        {
            "metric": name,
            "places": [
                {"rank": place.rank, "model": named(place.model), "figure": figure(place.estimate)}
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
    drawn = {name: table for name, table in tables.items() if table is not None and table.P and table.N}
    shown = list(drawn.items())[:_MOST_CURVES]
    curves = [
        sweep(name, table, _POINTS // len(shown), [comparison.models[name].figures[area] for area in AREAS.values()])
        for name, table in shown
    ]
    return [section("together", curves=curves, count=len(drawn))] if curves else []


def _agreement_section(comparison: Comparison) -> list[Part]:
    """On how many rows both, one or none of two models is right."""
    pairs = [
        {"first": named(p.first), "second": named(p.second), **{name: plain(n) for name, n in vars(p.flipped).items()}}
        for p in comparison._pairs_by(comparison.metrics[0])
        if p.flipped is not None
    ]
    return [section("agreement", pairs=pairs[:MOST])] if pairs else []
