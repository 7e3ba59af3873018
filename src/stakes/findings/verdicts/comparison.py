"""The verdict on several models: which is better, and is that sure?"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from stakes import metrics
from stakes.evaluation.cautions import wrongs
from stakes.evaluation.comparison import Comparison, Pair
from stakes.findings.verdicts.answers import MOST, MOST_NAMES, in_order, some_names
from stakes.language.sentences import Chip, Finding, Sentence, Tone, answer, caution, metric, sentence

_MOST_SIDES = 12


def verdict_of(comparison: Comparison) -> tuple[Finding, ...]:
    """Return what is sure about the models, and what a careful colleague would point out."""
    wrong = [_about(name, one) for name, model in comparison.models.items() for one in wrongs(model)]
    answers = _answers(comparison)
    if wrong:  # no figure of such a model is a reason to choose one
        answers = [replace(one, tone="doubt") if one.tone == "good" else one for one in answers]
    return in_order(answers, [*wrong, *_cautions(comparison)])


def _about(model: str, found: Finding) -> Finding:
    """What is wrong with one of the models."""
    first, *more = found.sentences
    return replace(found, sentences=(sentence("compared.about", model=model, words=first), *more))


def _answers(comparison: Comparison) -> list[Finding]:
    """What is sure, metric by metric; and, where a margin was given, who is shown not to be worse by more than it."""
    findings: list[Finding] = []
    for name in comparison.metrics[:MOST]:
        pairs = comparison._pairs_by(name)
        findings.append(_of_two(comparison, pairs[0]) if len(pairs) == 1 else _of_many(comparison, name))
        findings += _of_margin(comparison, name, pairs)
        findings += _of_segments(comparison, name) if comparison.segments else []
    return findings


def _of_two(comparison: Comparison, pair: Pair) -> Finding:
    names = {"first": pair.first, "second": pair.second}
    estimates = {place.model: place.estimate for place in comparison._places_by(pair.metric)}
    figures = [Chip.of(estimates[name], "compared.model", name=name) for name in (pair.first, pair.second)]
    tone, words = _certainty(comparison, pair)
    sentences = [sentence(words, name=metric(pair.metric), **names)]
    if math.isfinite(pair.difference):
        sentences.append(sentence("compared.difference", value=pair.difference, **names))
    if pair.low is not None:
        limits = {"low": pair.low, "high": pair.high, "confidence": comparison.confidence}
        sentences.append(sentence("compared.limits", **limits))
    sentences += _chance(pair.p_value)
    return answer("compared.which", tone, *sentences, figures=figures, name=metric(pair.metric))


def _certainty(comparison: Comparison, pair: Pair) -> tuple[Tone, str]:
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


def _chance(p_value: float | None) -> list[Sentence]:
    if p_value is None:
        return []
    return [sentence("compared.p", p=p_value) if p_value >= 1e-4 else sentence("compared.tiny_p")]


def _of_many(comparison: Comparison, name: str) -> Finding:
    found = comparison._standing(name)
    question, best, called = "compared.which", found.best.estimate, metric(name)
    if not best.defined:
        return answer(question, "open", sentence("compared.none", name=called), name=called)
    lists = {
        "compared.surely_better": found.beaten,
        "compared.not_apart": found.alike,
        "compared.no_comparison": found.lost,
    }
    sentences = [sentence("compared.best", model=found.best.model, value=best.value, name=called)]
    sentences += [sentence(words, models=some_names(models)) for words, models in lists.items() if models]
    tone: Tone = "doubt" if found.alike or found.lost else "good"
    return answer(question, tone, *sentences, figures=[best], name=called)


def _of_segments(comparison: Comparison, name: str) -> list[Finding]:
    """In which segments which model is surely better; tone "doubt" where another one is better elsewhere."""
    sure: dict[tuple[str, str], list[str]] = {}
    for segment, part in comparison.segments.items():
        for pair in part._pairs_by(name):
            if pair.told_apart(comparison.confidence):
                sure.setdefault((pair.first, pair.second), []).append(segment)
    sentences = [
        sentence("compared.better_in", one=one, other=other, segments=some_names(names))
        for (one, other), names in list(sure.items())[:_MOST_SIDES]
    ] or [sentence("compared.nowhere", n=len(comparison.segments))]
    against = any((other, one) in sure for one, other in sure)
    tone: Tone = "doubt" if against or not sure else "good"
    return [answer("compared.where", tone, *sentences, name=metric(name))]


def _of_margin(comparison: Comparison, name: str, pairs: Sequence[Pair]) -> list[Finding]:
    tested = [pair for pair in pairs if pair.not_inferior is not None]
    if not tested:
        return []
    alike = [p for p in tested if p.not_inferior and p.second_not_inferior]
    sides = [(p.first, p.second, p.not_inferior) for p in tested]
    sides += [(p.second, p.first, p.second_not_inferior) for p in tested]
    sentences = [
        sentence("compared.shown" if shown else "compared.not_shown", one=one, other=other, margin=comparison.margin)
        for one, other, shown in sorted(sides[:_MOST_SIDES], key=lambda side: not side[2])
    ]
    level = (1 - comparison.confidence) / 2
    sentences[:0] = [
        sentence("compared.equivalent", one=p.first, other=p.second, margin=comparison.margin, level=level)
        for p in alike[:MOST_NAMES]
    ]
    tone: Tone = "good" if any(shown for *_, shown in sides) else "doubt"
    return [answer("compared.margin", tone, *sentences, name=metric(name), margin=comparison.margin)]


def _cautions(comparison: Comparison) -> Iterator[Finding]:
    count = math.comb(len(comparison.models), 2)
    if count > 1:
        yield caution("compared.simultaneous" if comparison.simultaneous else "compared.each_alone", n=count)
    if comparison.segments:
        words = "compared.segments_at_once" if comparison.simultaneous else "compared.segments_alone"
        yield caution(words, n=count * len(comparison.segments))
    if any(pair.low is None and math.isfinite(pair.difference) for pair in comparison.pairs):
        yield caution("compared.no_intervals")
    if comparison.clusters is not None:
        yield caution("compared.whole_clusters", n=comparison.clusters)
    if not comparison.on_same_rows:
        yield caution("compared.own_rows")
    if comparison.unlabelled:
        yield caution("few.compared", n=comparison.rows, rows=comparison.unlabelled)
        yield caution("few.provided")
    if comparison.dropped:
        yield caution("caution.dropped", n=comparison.dropped)
