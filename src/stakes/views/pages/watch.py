"""Watched conditions to look at: a line for each, the last days on demand."""

from stakes.evaluation.watch import Watch, WatchedFigure
from stakes.findings.facts import about
from stakes.language.numbers import write
from stakes.language.sentences import Tone, words
from stakes.views.page import Page, TextTable, between

_LAST = 7
"""So many days are shown without being asked for."""


def page(watch: Watch, everything: bool = False, more: str = "") -> Page:
    """Lay out the conditions, and the course of each."""
    grids = [_conditions(watch), *(_course(one, everything) for one in watch.watched)]
    hidden = 0 if everything else max(watch.days - _LAST, 0)
    rest = words("watch.hidden", n=hidden, how=more or "to_rows()") if hidden else ""
    return Page.of(about(watch), watch.findings, grids, more=rest)


def _conditions(watch: Watch) -> TextTable:
    names = ("condition", "alarm_column", "since_column", "evidence_column")
    tones: dict[str, Tone] = {words("watch.none"): "good"}
    rows = [
        (one.condition, one.alarm or words("watch.none"), one.change or "–", f"{write(one.evidence)} / {one.needed:g}")
        for one in watch.watched
    ]
    return TextTable([words(f"watch.{name}") for name in names], rows, words=(0, 1, 2), tones=tones)


def _course(one: WatchedFigure, everything: bool) -> TextTable:
    sure = words("watch.limits", confidence=one.estimate.confidence)
    head = [words(f"watch.{name}") for name in ("day", "rows", "own", "so_far")]
    shown = one.course if everything else one.course[-_LAST:]
    rows = [
        (
            point.day,
            write(point.rows, "count"),
            write(point.own),
            write(point.value),
            between(point),
            write(point.evidence),
        )
        for point in shown
    ]
    return TextTable([*head, sure, words("watch.evidence_column")], rows, title=one.condition)
