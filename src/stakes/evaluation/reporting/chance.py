"""The page of a permutation test: what shuffled labels give, beside what was seen."""

import numpy as np

from stakes import metrics
from stakes.evaluation.reporting import Part
from stakes.evaluation.reporting.answers import answer
from stakes.records import plain
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.permutation import PermutationTest
from stakes.views.report.payload import listed, metric, page, reason, said, section, span

_BINS = 40
_HARDLY, _UNLIKELY = 0.001, 0.05


def page_of(test: PermutationTest) -> Part:
    """Return the payload of a permutation test."""
    found = [] if test.null is None else [_null_section(test, test.null)]
    facts = [] if test.null is None else [said("page.shuffles", n=test.permutations)]
    sections = [section("verdict", answers=[_answer(test)], cautions=_cautions(test)), *found]
    return page(said("page.chance", figure=metric(test.metric)), facts, sections)


def _answer(test: PermutationTest) -> Part:
    """Whether it could be chance, in words and as a probability."""
    words = "chance.unlikely" if test.p_value <= _UNLIKELY else "chance.possible"
    if test.p_value < _HARDLY:
        words = "chance.hardly"
    sentences = [said(words), said("chance.exact") if test.null is None else _seen(test)]
    bare: Part = {"name": test.metric, "low": None, "high": None}
    figures: list[Part] = [
        {**bare, "value": plain(test.value)},
        {**bare, "value": test.p_value, "label": said("chance.p_value")},
    ]
    tone = "good" if test.p_value <= _UNLIKELY else "doubt"
    return answer("chance.question", tone, *sentences, figures=figures, question=reason(test.question))


def _seen(test: PermutationTest) -> Part:
    as_good = round(test.p_value * (1 + test.permutations)) - 1
    values = {"n": test.permutations, "name": metric(test.metric), "value": test.value}
    return said("chance.some", times=as_good, **values) if as_good else said("chance.none_did", **values)


def _cautions(test: PermutationTest) -> list[Part]:
    if test.null is None:
        return []
    undefined = int(np.isnan(test.null).sum())
    told = [said("chance.undefined", n=undefined)] if undefined else []
    if test.p_value <= 1 / (1 + test.permutations):
        told.append(said("chance.smallest", p=test.p_value))
    return told


def _null_section(test: PermutationTest, null: Array) -> Part:
    """How the figures of shuffled labels are spread."""
    known = null[np.isfinite(null)]
    counts, edges = (
        np.histogram(known, bins=_BINS, range=span(known)) if len(known) else (np.zeros(1), np.array([0.0, 1.0]))
    )
    return section(
        "null",
        metric=test.metric,
        better=metrics.find(test.metric).better,
        value=plain(test.value),
        p_value=test.p_value,
        edges=listed(edges),
        counts=listed(counts),
        mean=plain(float(known.mean())) if len(known) else None,
        permutations=test.permutations,
    )
