"""A comparison to look at: the verdict, a line for each model, every two of them on demand."""

import math
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial

from stakes.evaluation.comparison import Comparison
from stakes.findings.facts import about
from stakes.language.numbers import write
from stakes.language.sentences import metric, metric_name, reason_text, words
from stakes.metrics.estimate import percent
from stakes.views import pictures
from stakes.views.page import Page, TextTable, between, ranks_between
from stakes.views.pages.segments import MOST_SHOWN

_MOST_PAIRS = 6
"""So many pairs are shown without being asked for: those of four models."""


def page(comparison: Comparison, everything: bool = False, more: str = "") -> Page:
    """Lay out a comparison; the pairs of more than four models only if everything is asked for."""
    pairs = math.comb(len(comparison.models), 2)
    grids = [_models(comparison) if len(comparison.metrics) > 1 else _ranking(comparison, comparison.metrics[0])]
    if everything or pairs <= _MOST_PAIRS:
        for name in comparison.metrics:
            grids += [_ranking(comparison, name)] if len(comparison.metrics) > 1 else []
            grids.append(_differences(comparison, name))
        grids += _flips(comparison)
    grids += [_segments(comparison, name, everything) for name in comparison.metrics] if comparison.segments else []
    rest = "" if everything or pairs <= _MOST_PAIRS else words("compared.hidden", n=pairs, how=more or "to_rows()")
    drawn = list(_pictures(comparison))
    notes = [f"{metric_name(name)}: {reason_text(note)}" for name, note in comparison._pair_notes]
    return Page.of(about(comparison), comparison.findings, grids, notes, more=rest, pictures=drawn)


def _models(comparison: Comparison) -> TextTable:
    """Models × metrics: one line for each model."""
    places = {(one.model, one.metric): one.estimate for one in comparison.table}
    rows = [
        (name, *(f"{write(places[name, one].value)} ({between(places[name, one])})" for one in comparison.metrics))
        for name in (one.model for one in comparison._places_by(comparison.metrics[0]))
    ]
    return TextTable((words("compared.model_column"), *map(metric_name, comparison.metrics)), rows)


def _ranking(comparison: Comparison, name: str) -> TextTable:
    sure = words("figures.interval", confidence=comparison.confidence)
    head = [words("compared.model_column"), metric_name(name), sure, words("figures.baseline")]
    ranks = {one.model: ranks_between(one.low, one.high) for one in comparison.ranks if one.metric == name}
    several = len(ranks) > 2
    rows = [
        (
            one.model,
            write(one.estimate.value),
            between(one.estimate),
            write(one.estimate.baseline),
            *([ranks[one.model]] if several else []),
        )
        for one in comparison._places_by(name)
    ]
    return TextTable([*head, *([words("ranks.rank_interval")] if several else [])], rows)


def _differences(comparison: Comparison, name: str) -> TextTable:
    pairs = comparison._pairs_by(name)
    several = len(pairs) > 1
    adjusted = [words("compared.bonferroni" if comparison.simultaneous else "differences.holm")] if several else []
    sure = words("figures.interval", confidence=comparison.confidence)
    head = [words("compared.first_minus_second"), metric_name(name), sure, "p", *adjusted]
    rows = []
    for pair in pairs:
        row = [f"{pair.first} − {pair.second}", write(pair.difference), between(pair), write(pair.p_value)]
        rows.append([*row, *([write(pair.adjusted_p_value)] if several else [])])
    methods = dict.fromkeys(pair.method for pair in pairs if pair.method)
    return TextTable(head, rows, title="; ".join(map(reason_text, methods)))


def _segments(comparison: Comparison, name: str, everything: bool) -> TextTable:
    """The same differences within each segment, those of the first pair first."""
    pairs = comparison._pairs_by(name)
    places = [(segment, part, part.pair_like(pair)) for pair in pairs for segment, part in comparison.segments.items()]
    shown = places if everything else places[:MOST_SHOWN]
    several = len(pairs) > 1
    sure = words("figures.interval", confidence=comparison.confidence)
    adjusted = words("compared.bonferroni" if comparison.simultaneous else "differences.holm")
    pair_column = [words("compared.first_minus_second")] if several else []
    head = [words("segments.segment"), *pair_column, words("segments.rows"), metric_name(name), sure, "p", adjusted]
    rows = []
    for segment, part, pair in shown:
        named = [f"{pair.first} − {pair.second}"] if several else []
        size = part.rows if isinstance(part.rows, list) else [part.rows]
        numbers = (pair.difference, pair.p_value, pair.adjusted_p_value)
        value, p, corrected = map(write, numbers)
        count = " + ".join(write(n, "count") for n in size)
        rows.append([segment, *named, count, value, between(pair), p, corrected])
    title = "" if several else f"{pairs[0].first} − {pairs[0].second}"
    hidden = len(places) - len(shown)
    more = [words("segments.hidden", n=hidden, how="to_rows()")] if hidden else []
    return TextTable(head, rows, words=(0, 1) if several else (0,), title="; ".join([*filter(None, [title]), *more]))


def _flips(comparison: Comparison) -> Iterator[TextTable]:
    """On how many rows the models of each pair are right."""
    head = [words(f"compared.{name}") for name in ("pair", "both_right", "only_first", "only_second", "both_wrong")]
    rows = [
        (f"{pair.first}, {pair.second}", *(write(count, "count") for count in asdict(pair.flipped).values()))
        for pair in comparison._pairs_by(comparison.metrics[0])
        if pair.flipped
    ]
    if rows:
        yield TextTable(head, rows)


def _pictures(comparison: Comparison) -> Iterator[partial[str]]:
    name = comparison.metrics[0]
    drawn = [
        (f"{pair.first} − {pair.second}", pair.difference, pair.low, pair.high)
        for pair in comparison._pairs_by(name)
        if math.isfinite(pair.difference)
    ]
    title = words("compared.picture", figure=metric(name), confidence=percent(comparison.confidence))
    if drawn:
        yield partial(pictures.forest, title, drawn)
