"""Segments to look at: the worst first, the smallest marked; and the gap between groups."""

from stakes.evaluation.by_segment import BySegment
from stakes.evaluation.gap import Gap
from stakes.findings.facts import about
from stakes.findings.verdicts.segments import verdict_of_segment
from stakes.language.numbers import write
from stakes.language.sentences import metric, reason_text, words
from stakes.views.page import Column, Page, TextTable, between, short, sure_of, write_count, write_figure

MOST_SHOWN = 20


def grid(overview: BySegment, more: str = "") -> TextTable:
    """Return the worst segments by one figure, beside the rest; ``more`` says how to see the others."""
    shown = overview.segments[:MOST_SHOWN]
    hidden = len(overview.segments) - len(shown)
    verdicts = {s.name: verdict_of_segment(s, overview) for s in shown}
    tones = {verdict.words: tone for tone, verdict in verdicts.values()}
    small = sum(s.too_small for s in overview.segments)
    title = [
        words("segments.worst_first", figure=metric(overview.metric)) if len(overview.segments) > 1 else "",
        words("segments.hidden", n=hidden, how=more) if hidden else "",
        words("segments.too_small", n=small) if small and hidden else "",
    ]
    columns: list[Column] = [
        (words("segments.segment"), lambda one: one.name),
        (words("segments.rows"), write_count("rows")),
        (short(overview.metric.partition(" of ")[0]), write_figure("value")),
        (sure_of(overview.confidence), between),
        (words("segments.difference"), write_figure("difference")),
        (words("segments.holm"), write_figure("adjusted_p_value")),
        (words("segments.compared"), lambda one: verdicts[one.name][1].words),
    ]
    return TextTable.of(shown, *columns, words=(0, 6), title="; ".join(filter(None, title)), below=6, tones=tones)


def page(overview: BySegment, everything: bool = False, more: str = "") -> Page:
    """Return a page of segments by themselves."""
    notes = [reason_text(note) for note in (overview.method, overview.note) if note]
    return Page.of(about(overview), (), grids=[grid(overview, more or "to_rows()")], notes=notes)


def gap_page(found: Gap, everything: bool = False, more: str = "") -> Page:
    """Return the groups behind a gap, and which ones have no figure."""
    rows = [(name, write(one.value), between(one)) for name, one in found.groups.items()]
    notes = [f"{name}: {reason_text(why)}" for name, why in found.not_estimable.items()]
    grid_ = TextTable((words("gap.group"), short(found.figure), sure_of(found.confidence)), rows)
    return Page.of(about(found), found.findings, grids=[grid_] if rows else [], notes=notes)
