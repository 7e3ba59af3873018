"""Dots with intervals, one under another: pairs of models, segments, ways to decide."""

import math
from collections.abc import Sequence

import numpy as np

from stakes import errors, metrics
from stakes.errors import InputError, Pass, some
from stakes.evaluation.base import Evaluation
from stakes.evaluation.gap import Gap
from stakes.evaluation.several import SeveralEvaluation
from stakes.findings.pages.ways import way
from stakes.frozen import dataclass
from stakes.language.sentences import words
from stakes.metrics import Estimate
from stakes.metrics.usual import SEGMENT_PLOT
from stakes.question.options import Value
from stakes.views.plots.style import COLOURS, INK, PALE, Artists, Axes, Display, axes, legend
from stakes.views.plots.words import figure_in_words, figure_name, inert

MOST_SEGMENTS = 30


@dataclass(frozen=True)
class Dot:
    """A line of a forest: a name, a figure, the ends of its interval, and whether it stands out."""

    name: str
    value: float
    low: float | None
    high: float | None
    clear: bool = False


def of_comparison(comparison: Value, kind: str, ax: object, *, metric: str | None = None) -> Display:
    """Draw the differences between models; those that are significant stand out."""
    wanted = comparison.metrics[0] if metric is None else metrics.find(metric).text
    if wanted not in comparison.metrics:
        raise InputError(
            "not-compared-by",
            f"the models were compared by {some(comparison.metrics)}, not by {wanted!r}; compare again with ",
            Pass("metric"),
        )
    pairs = [pair for pair in comparison.pairs if pair.metric == wanted and math.isfinite(pair.difference)]
    if not pairs:
        raise errors.nothing_defined(f"difference in {wanted}")
    names = [f"{inert(pair.first, 22)} − {inert(pair.second, 22)}" for pair in pairs]
    dots = [
        Dot(name, pair.difference, pair.low, pair.high, pair.told_apart(comparison.confidence))
        for name, pair in zip(names, pairs, strict=True)
    ]
    with axes(ax, 6.6, _height(dots)) as ax:
        artists = _forest(ax, dots)
        artists["zero"] = ax.axvline(0, color=INK, linewidth=1.0, linestyle="--", zorder=1)
        if comparison.margin is not None:
            ends = (-comparison.margin, comparison.margin)
            artists["margin"] = ax.axvspan(*ends, color=COLOURS[2], alpha=0.12, linewidth=0, label=words("plot.margin"))
            legend(ax, "below")
        ax.set_xlabel(words(f"plot.difference_{metrics.find(wanted).better}", name=figure_name(wanted)))
        ax.set_title(words(f"plot.{comparison.intervals}", confidence=comparison.confidence))
        return Display(kind, ax, artists)


def of_segments(evaluation: Evaluation, kind: str, ax: object, *, metric: Value = None) -> Display:
    """Draw a figure of the segments, the worst first, beside that of all rows."""
    names = SEGMENT_PLOT[evaluation.task] if metric is None else (metric,)
    wholes = {name: evaluation.interval(name) for name in names}
    name, whole = next((one for one in wholes.items() if one[1].defined), next(iter(wholes.items())))
    found = {segment: part.interval(name) for segment, part in evaluation.segments.items()}
    known = [(segment, figure) for segment, figure in found.items() if figure.defined]
    if not known:
        raise errors.nothing_defined(whole.name)
    better = metrics.find(name[0] if isinstance(name, tuple) else name).better
    sign = -1 if better == "lower" else 1
    known.sort(key=lambda one: sign * one[1].value)
    dots = [_dot(segment, figure) for segment, figure in known[:MOST_SEGMENTS]]
    with axes(ax, 6.2, _height(dots)) as ax:
        artists = _forest(ax, dots)
        label = figure_in_words(words("plot.all_rows"), whole)
        artists["whole"] = ax.axvline(whole.value, color=PALE, linestyle="--", linewidth=1.2, zorder=1, label=label)
        if whole.low is not None and whole.high is not None:
            ax.axvspan(whole.low, whole.high, color=PALE, alpha=0.15, linewidth=0, zorder=0)
        ax.set_xlabel(figure_name(whole.name))
        values = {"shown": len(dots), "n": len(found), "confidence": whole.confidence}
        ax.set_title(words("plot.segments_cut" if len(dots) < len(found) else "plot.segments", **values))
        legend(ax, "below")
        return Display(kind, ax, artists)


def of_each(evaluation: SeveralEvaluation, kind: str, ax: object, *, metric: str | None = None) -> Display:
    """Draw a figure of each label, output or quantile."""
    each = {name: evaluation[metric, name] for name in evaluation.shown_names} if metric else None
    found = {name: next(iter(one.values())) for name, one in evaluation.each_figures.items()} if each is None else each
    known = [(name, figure) for name, figure in found.items() if figure.defined]
    if not known:
        raise errors.nothing_defined(metric or "figure of each")
    dots = [_dot(name, figure) for name, figure in known[:MOST_SEGMENTS]]
    figure = known[0][1]
    title = words("plot.each", confidence=figure.confidence)
    return _forest_alone(dots, kind, ax, figure_name(figure.name.partition("(")[0]), title)


def of_gap(gap: Gap, kind: str, ax: object) -> Display:
    """Draw the groups from the lowest figure to the highest; the two that surely differ stand out."""
    if not gap.groups:
        raise errors.nothing_defined(gap.figure)
    ends = (gap.highest, gap.lowest) if gap.low else ()
    ordered = sorted(gap.groups.items(), key=lambda one: one[1].value)
    dots = [_dot(name, figure, clear=name in ends) for name, figure in ordered]
    return _forest_alone(dots, kind, ax, figure_name(gap.figure), figure_in_words(words("plot.gap"), gap.estimate))


def of_alternatives(decision: Value, kind: str, ax: object) -> Display:
    """Draw what the recommended way to decide and the others give, with intervals."""
    own = decision.cost if decision.costs is not None else decision.corrected
    others = {name: figure for name, figure in decision.alternatives.items() if figure is not own}
    dots = [_dot(words("way.recommended"), own, clear=True)]
    dots += [_dot(way(name).words, figure) for name, figure in others.items()]
    name = words("plot.axis_expected_cost") if decision.costs is not None else figure_name(own.name)
    return _forest_alone(dots, kind, ax, name, words("plot.ways", confidence=decision.confidence))


def _dot(name: str, figure: Estimate, clear: bool = False) -> Dot:
    return Dot(inert(name), figure.value, figure.low, figure.high, clear)


def _height(dots: Sequence[Dot]) -> float:
    return 1.35 + 0.32 * len(dots)


def _forest_alone(dots: Sequence[Dot], kind: str, ax: object, name: str, title: str) -> Display:
    """Dots with nothing beside them."""
    with axes(ax, 6.2, _height(dots)) as ax:
        artists = _forest(ax, dots)
        ax.set(xlabel=name, title=title)
        return Display(kind, ax, artists)


def _forest(ax: Axes, dots: Sequence[Dot]) -> Artists:
    """The dots from the top down; without an interval a dot stands alone, hollow."""
    places = np.arange(len(dots))
    edges = [COLOURS[1] if dot.clear else COLOURS[0] for dot in dots]
    for place, dot, colour in zip(places, dots, edges, strict=True):
        if dot.low is not None and dot.high is not None:
            ax.plot([dot.low, dot.high], [place, place], color=colour, linewidth=1.8, solid_capstyle="butt", zorder=2)
    faces = ["white" if dot.low is None else colour for dot, colour in zip(dots, edges, strict=True)]
    points = ax.scatter([dot.value for dot in dots], places, s=34, c=faces, edgecolors=edges, linewidths=1.3, zorder=3)
    ax.set_yticks(places, [dot.name for dot in dots])
    ax.set_ylim(len(dots) - 0.4, -0.6)
    ax.grid(False, axis="y")
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    return {"points": points}
