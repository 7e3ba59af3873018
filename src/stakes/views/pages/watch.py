"""Watched conditions to look at: a line for each, the last days on demand."""

from stakes.evaluation.watch import Watch, WatchedFigure
from stakes.findings.facts import about
from stakes.language.numbers import write
from stakes.language.sentences import Tone, words
from stakes.views.page import Page, TextTable, between, write_count, write_figure

_LAST = 7
"""The most days that are shown by default."""


def page(watch: Watch, everything: bool = False, more: str = "") -> Page:
    """Lay out the conditions, and the course of each."""
    grids = [_conditions(watch), *(_course(one, everything) for one in watch.watched)]
    hidden = 0 if everything else max(watch.days - _LAST, 0)
    rest = words("watch.hidden", n=hidden, how=more or "to_rows()") if hidden else ""
    return Page.of(about(watch), watch.findings, grids, more=rest)


def _conditions(watch: Watch) -> TextTable:
    tones: dict[str, Tone] = {words("watch.none"): "good"}
    return TextTable.of(
        watch.watched,
        (words("watch.condition"), lambda one: one.condition),
        (words("watch.alarm_column"), lambda one: one.alarm or words("watch.none")),
        (words("watch.since_column"), lambda one: one.change or "–"),
        (words("watch.evidence_column"), lambda one: f"{write(one.evidence)} / {one.needed:g}"),
        words=(0, 1, 2),
        tones=tones,
    )


def _course(one: WatchedFigure, everything: bool) -> TextTable:
    return TextTable.of(
        one.course if everything else one.course[-_LAST:],
        (words("watch.day"), lambda point: point.day),
        (words("watch.rows"), write_count("rows")),
        (words("watch.own"), write_figure("own")),
        (words("watch.so_far"), write_figure("value")),
        (words("watch.limits", confidence=one.estimate.confidence), between),
        (words("watch.evidence_column"), write_figure("evidence")),
        title=one.condition,
    )
