"""A comparison to look at: the verdict, a line for each model, every two of them on demand."""

import math
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial

from stakes import metrics
from stakes.evaluation.comparison import Comparison
from stakes.findings.facts import about
from stakes.language.numbers import write
from stakes.language.sentences import metric, metric_name, reason_text, words
from stakes.metrics.estimate import percent
from stakes.records import RowCount
from stakes.tallies import ScoreTable
from stakes.views import pictures
from stakes.views.page import Column, Page, TextTable, between, pair_of, ranks_between, sure_of, write_figure
from stakes.views.pages.segments import MOST_SHOWN

_MOST_PAIRS = 6
"""The most pairs that are shown by default: those of four models."""


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
    notes = [f"{metric_name(name)}: {reason_text(note)}" for name, note in comparison._pair_notes]
    shown = list(_pictures(comparison))
    return Page.of(about(comparison), comparison.findings, grids, notes, more=rest, pictures=shown)


def _models(comparison: Comparison) -> TextTable:
    """Models × metrics: one line for each model."""
    places = {(one.model, one.metric): one.estimate for one in comparison.table}
    rows = [
        (name, *(f"{write(places[name, one].value)} ({between(places[name, one])})" for one in comparison.metrics))
        for name in (one.model for one in comparison._places_by(comparison.metrics[0]))
    ]
    return TextTable((words("compared.model_column"), *map(metric_name, comparison.metrics)), rows)


def _ranking(comparison: Comparison, name: str) -> TextTable:
    ranks = {one.model: ranks_between(one.low, one.high) for one in comparison.ranks if one.metric == name}
    several: list[Column] = [(words("ranks.rank_interval"), lambda one: ranks[one.model])] if len(ranks) > 2 else []
    return TextTable.of(
        comparison._places_by(name),
        (words("compared.model_column"), lambda one: one.model),
        (metric_name(name), lambda one: write(one.estimate.value)),
        (sure_of(comparison.confidence), lambda one: between(one.estimate)),
        (words("figures.baseline"), lambda one: write(one.estimate.baseline)),
        *several,
    )


def _columns(comparison: Comparison, name: str, corrected: bool) -> list[Column]:
    """A difference with its interval and its p-values."""
    adjusted = words("compared.bonferroni" if comparison.simultaneous else "differences.holm")
    return [
        (metric_name(name), write_figure("difference")),
        (sure_of(comparison.confidence), between),
        ("p", write_figure("p_value")),
        *([(adjusted, write_figure("adjusted_p_value"))] if corrected else []),
    ]


def _differences(comparison: Comparison, name: str) -> TextTable:
    pairs = comparison._pairs_by(name)
    methods = dict.fromkeys(pair.method for pair in pairs if pair.method)
    columns = [(words("compared.first_minus_second"), pair_of), *_columns(comparison, name, len(pairs) > 1)]
    by = words("compared.by_method", method="; ".join(map(reason_text, methods))) if methods else ""
    return TextTable.of(pairs, *columns, title=by)


def _segments(comparison: Comparison, name: str, everything: bool) -> TextTable:
    """The same differences within each segment, those of the first pair first."""
    pairs = comparison._pairs_by(name)
    places = [(segment, part, part.pair_like(pair)) for pair in pairs for segment, part in comparison.segments.items()]
    shown = places if everything else places[:MOST_SHOWN]
    several = len(pairs) > 1
    numbers = [
        (head, lambda place, tell=tell: tell(place[2])) for head, tell in _columns(comparison, name, corrected=True)
    ]
    columns: list[Column] = [
        (words("segments.segment"), lambda place: place[0]),
        *([(words("compared.first_minus_second"), lambda place: pair_of(place[2]))] if several else []),
        (words("segments.rows"), lambda place: _size(place[1].rows)),
        *numbers,
    ]
    hidden = len(places) - len(shown)
    title = ["" if several else pair_of(pairs[0])]
    title += [words("segments.hidden", n=hidden, how="to_rows()")] if hidden else []
    texts = (0, 1) if several else (0,)
    return TextTable.of(shown, *columns, words=texts, title="; ".join(filter(None, title)))


def _size(rows: RowCount | list[RowCount]) -> str:
    """The rows of both models; each has its own where they were evaluated separately."""
    return " + ".join(write(n, "count") for n in (rows if isinstance(rows, list) else [rows]))


def _flips(comparison: Comparison) -> Iterator[TextTable]:
    """On how many rows the models of each pair are right; not shown where all figures are of scores."""
    if all(metrics.find(name).tally is ScoreTable for name in comparison.metrics):
        return
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
    rows = [
        (pair_of(pair), pair.difference, pair.low, pair.high)
        for pair in comparison._pairs_by(name)
        if math.isfinite(pair.difference)
    ]
    title = words("compared.picture", figure=metric(name), confidence=percent(comparison.confidence))
    if rows:
        yield partial(pictures.forest, title, rows)
