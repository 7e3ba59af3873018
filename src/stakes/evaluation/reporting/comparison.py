"""The page of a comparison: what is sure in words, differences with intervals, the ranking, curves together."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from stakes import metrics
from stakes.evaluation.reporting.answers import Answer, answer
from stakes.evaluation.reporting.many_classes import swept
from stakes.records import plain
from stakes.tallies import ScoreTable
from stakes.views.report.payload import MOST, figure, metric, named, page, said, section

_MOST_CURVES = 6
"""So many colours can be told apart by everyone."""

_POINTS = 3000
_MOST_NAMES = 5


def page_of(comparison: Any) -> dict[str, Any]:
    """Return the payload of a comparison."""
    sections = [
        section("verdict", answers=_answers(comparison), cautions=list(_cautions(comparison))),
        _differences_section(comparison),
        _ranking_section(comparison),
        *_together_section(comparison),
        *_agreement_section(comparison),
    ]
    return page(said("page.comparison"), _facts(comparison), sections)


def _facts(comparison: Any) -> list[dict[str, Any]]:
    facts = [said("page.models", n=len(comparison.models))]
    if comparison.on_same_rows:
        facts.append(said("page.same_rows", n=comparison.rows))
    else:
        facts.append(said("page.different_rows", n=sum(comparison.rows)))
    if comparison.clusters is not None:
        facts.append(said("page.clusters", n=comparison.clusters))
    return facts


# ── in words ─────────────────────────────────────────────────────────────────────────────────────────────────────
def _answers(comparison: Any) -> list[Answer]:
    """What is sure, metric by metric; and, where a margin was given, who is shown not to be worse by more than it."""
    told = []
    for name in comparison.metrics[:MOST]:
        pairs = [pair for pair in comparison.pairs if pair.metric == name]
        told.append(_of_two(comparison, pairs[0]) if len(pairs) == 1 else _of_many(comparison, name, pairs))
        told += _of_margin(comparison, name, pairs)
    return told


def _of_two(comparison: Any, pair: Any) -> Answer:
    names = {"first": named(pair.first), "second": named(pair.second)}
    question = "compared.which"
    figures = [comparison.models[name].interval(pair.metric) for name in (pair.first, pair.second)]
    tone, words = _found(comparison, pair)
    sentences = [said(words, name=metric(pair.metric), **names)]
    if math.isfinite(pair.difference):
        sentences.append(said("compared.difference", value=pair.difference, **names))
    if pair.low is not None:
        limits = {"low": pair.low, "high": pair.high, "confidence": comparison.confidence}
        sentences.append(said("compared.limits", **limits))
    sentences += _chance(pair.p_value)
    made = answer(question, tone, *sentences, figures=figures, name=metric(pair.metric))
    labels = [
        {**one, "label": said("compared.model", name=name)}
        for one, name in zip(made["figures"], names.values(), strict=True)
    ]
    return {**made, "figures": labels}


def _found(comparison: Any, pair: Any) -> tuple[str, str]:
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


def _chance(p_value: float | None) -> list[dict[str, Any]]:
    if p_value is None:
        return []
    return [said("compared.p", p=p_value) if p_value >= 1e-4 else said("compared.tiny_p")]


def _of_many(comparison: Any, name: str, pairs: Sequence[Any]) -> Answer:
    best = next(place for place in comparison.table if place.metric == name)
    question, gaps = "compared.which", {"name": metric(name)}
    if not best.estimate.defined:
        return answer(question, "open", said("compared.none", **gaps), **gaps)
    of_best = [pair for pair in pairs if best.model in (pair.first, pair.second)]
    worse = [pair.second for pair in of_best if pair.told_apart(comparison.confidence)]
    known = [pair for pair in of_best if math.isfinite(pair.difference)]
    unsure = [pair.second for pair in known if not pair.told_apart(comparison.confidence)]
    lost = [pair.second for pair in of_best if pair not in known]
    sentences = [said("compared.best", model=best.model, value=best.estimate.value, **gaps)]
    lists = {"compared.surely_better": worse, "compared.not_apart": unsure, "compared.no_comparison": lost}
    sentences += [
        said(words, models=models[:_MOST_NAMES] + ["…"] * (len(models) > _MOST_NAMES))
        for words, models in lists.items()
        if models
    ]
    tone = "good" if len(worse) == len(of_best) else "doubt"
    return answer(question, tone, *sentences, figures=[best.estimate], **gaps)


def _of_margin(comparison: Any, name: str, pairs: Sequence[Any]) -> list[Answer]:
    judged = [pair for pair in pairs if pair.not_inferior is not None]
    if not judged:
        return []
    sides = [(p.first, p.second, p.not_inferior) for p in judged] + [
        (p.second, p.first, p.second_not_inferior) for p in judged
    ]
    sentences = [
        said("compared.shown" if shown else "compared.not_shown", one=one, other=other, margin=comparison.margin)
        for one, other, shown in sides[: 2 * _MOST_CURVES]
    ]
    tone = "good" if any(shown for *_, shown in sides) else "doubt"
    gaps = {"name": metric(name), "margin": comparison.margin}
    return [answer("compared.margin", tone, *sorted(sentences, key=lambda one: one["text"], reverse=True), **gaps)]


def _cautions(comparison: Any) -> Iterator[dict[str, Any]]:
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
def _differences_section(comparison: Any) -> dict[str, Any]:
    """The difference of every two models by each metric."""
    kept = ("difference", "low", "high", "p_value", "adjusted_p_value")
    found = [
        {
            "metric": name,
            "better": metrics.find(name).better,
            "pairs": [
                {"first": named(p.first), "second": named(p.second), **{key: plain(getattr(p, key)) for key in kept}}
                for p in comparison.pairs
                if p.metric == name
            ][:MOST],
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


def _ranking_section(comparison: Any) -> dict[str, Any]:
    tables = [
        {
            "metric": name,
            "places": [
                {"rank": place.rank, "model": named(place.model), "figure": figure(place.estimate)}
                for place in comparison.table
                if place.metric == name
            ][:MOST],
        }
        for name in comparison.metrics
    ]
    return section("ranking", tables=tables, confidence=comparison.confidence)


def _together_section(comparison: Any) -> list[dict[str, Any]]:
    """The ROC and PR curves of the best models."""
    ranked = [place.model for place in comparison.table if place.metric == comparison.metrics[0]]
    tables = {name: getattr(comparison.models[name], "scores", None) for name in ranked}
    drawn = {name: t for name, t in tables.items() if isinstance(t, ScoreTable) and t.P and t.N}
    if not drawn:
        return []
    shown = list(drawn.items())[:_MOST_CURVES]
    curves = [
        {**swept(name, table, _POINTS // len(shown)), "figures": _areas(comparison.models[name])}
        for name, table in shown
    ]
    return [section("together", curves=curves, count=len(drawn))]


def _areas(evaluation: Any) -> list[dict[str, Any]]:
    return [figure(evaluation.figures[name]) for name in ("auc", "average_precision")]


def _agreement_section(comparison: Any) -> list[dict[str, Any]]:
    """On how many rows both, one or none of two models is right."""
    pairs = [
        {"first": named(p.first), "second": named(p.second), **{name: plain(n) for name, n in vars(p.flipped).items()}}
        for p in comparison.pairs
        if p.metric == comparison.metrics[0] and p.flipped is not None
    ]
    return [section("agreement", pairs=pairs[:MOST])] if pairs else []
