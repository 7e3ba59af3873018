"""Curves over thresholds with their bands, the lines to compare them with, and the threshold in use."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from stakes import errors
from stakes.decisions.curves.curve import Curve
from stakes.evaluation.many_classes import ManyClassEvaluation
from stakes.evaluation.two_classes import TwoClassEvaluation
from stakes.language.numbers import write
from stakes.language.sentences import metric_name, words
from stakes.language.texts import texts
from stakes.metrics import Estimate
from stakes.metrics.agreement import one_point_auc
from stakes.metrics.usual import AREAS
from stakes.question.options import Value
from stakes.tallies.arithmetic import Array
from stakes.tallies.names import canonical
from stakes.views.plots.style import BAND, COLOURS, INK, PALE, Artists, Axes, Display, axes, legend, reference
from stakes.views.plots.words import figure_in_words, figure_name, inert, short_number

MOST_LINES = len(COLOURS)
"""The most classes that are drawn at once: the largest ones."""

_MOST_POINTS = 5000
_MODEL = "model"
"""Marks the lines of models, so that the next one drawn into the same axes has a colour of its own."""

_MANY = 4
"""With more lines the legend goes beside the plot."""

_SQUARE = ("roc", "pr")
_STEPS = {"pr": "steps-pre", "reject": "steps-post"}


def axis_name(name: str) -> str:
    """Say in words what an axis shows."""
    key = f"plot.axis_{name}"
    return words(key) if key in texts("en") else figure_name(name)


# ── a curve by itself ────────────────────────────────────────────────────────────────────────────────────────────
def of_curve(curve: Curve, kind: str, ax: object, *, name: str = "") -> Display:
    """Draw a curve, its band and the lines to compare it with; beside other curves the line alone, in a new colour."""
    with axes(ax, 5.2, 4.6) as ax:
        others, name = _others(ax), name or words(f"plot.curve_{curve.kind}")
        label = name if curve.area is None else words("plot.area", curve=name, area=short_number(curve.area))
        artists = _draw(ax, curve, label, COLOURS[others % len(COLOURS)], banded=not others)
        references = _references(ax, curve)
        _finish(ax, curve)
        return Display(kind, ax, {**artists, "references": references})


def _others(ax: Axes) -> int:
    """How many curves of models there are in these axes."""
    return sum(line.get_gid() == _MODEL for line in ax.get_lines())


def _draw(ax: Axes, curve: Curve, label: str, colour: str, banded: bool = True) -> Artists:
    x, y = visible(curve.x, curve.y)
    (line,) = ax.plot(
        x, y, color=colour, label=label, drawstyle=_STEPS.get(curve.kind, "default"), zorder=3, gid=_MODEL
    )
    artists: Artists = {"line": line}
    chance, band = curve.chance, curve.band
    if banded and chance is not None and not np.isnan(chance.low).all():
        label = words("plot.shuffled", confidence=chance.confidence)
        artists["chance"] = ax.fill_between(
            chance.x, chance.low, chance.high, color=PALE, alpha=BAND, linewidth=0, label=label, zorder=1
        )
    if banded and not np.isnan(band.low).all():
        label = words(f"plot.band_{band.kind}", confidence=band.confidence)
        artists["band"] = ax.fill_between(
            band.x, band.low, band.high, color=colour, alpha=BAND, linewidth=0, label=label, zorder=2
        )
    return artists


def visible(x: Array, y: Array) -> tuple[Array, Array]:
    """Leave out points that look the same as their neighbours; few points stay as they are."""
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    if len(x) <= _MOST_POINTS:
        return x, y
    moved = sum(np.abs(np.diff(axis)) / (np.ptp(axis) or 1.0) for axis in (x, y))
    way = np.concatenate([[0.0], np.cumsum(moved)])
    kept = np.unique(np.searchsorted(way, np.linspace(0, way[-1], _MOST_POINTS)))
    kept = np.union1d(kept, [0, len(x) - 1])
    return x[kept], y[kept]


def _references(ax: Axes, curve: Curve) -> list[object]:
    """The lines of the curve's references; those of ROC curves that ignore the input run along the diagonal."""
    lines = {_line_name(key): (curve.x, height) for key, height in curve.references.items()}
    if curve.kind == "roc":
        lines[words("plot.ignoring_the_input")] = (np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    styles = ("--", ":", "-.")
    return [
        reference(ax, *visible(x, y), key, style) for style, (key, (x, y)) in zip(styles, lines.items(), strict=False)
    ]


def _line_name(key: str) -> str:
    """What a line of references is called; those that users named keep their names."""
    known = f"plot.{key.replace(' ', '_')}"
    return words(known) if known in texts("en") else inert(key)


def _finish(ax: Axes, curve: Curve, title: str = "") -> None:
    ax.set(xlabel=axis_name(curve.x_name), ylabel=axis_name(curve.y_name) + _where(curve))
    if curve.place is not None:
        label = words("plot.used") + _where(curve)
        ax.axvline(curve.place, color=COLOURS[1], linestyle=":", linewidth=1.2, label=label)
    if curve.kind in _SQUARE:
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.02), aspect="equal")
    elif curve.kind == "decision" and "treat all" in curve.references:
        top = max(float(curve.band.high.max()), *(float(line.max()) for line in curve.references.values()))
        ax.set(xlim=(0, 1), ylim=(-0.15 * top, 1.08 * top))
    elif curve.kind == "cost":
        ax.set(xlim=(0, 1), ylim=(0, None))
    else:
        ax.set_ylim(*_heights(curve))
    if title:
        ax.set_title(title)
    ax.legend(loc="lower right" if curve.kind == "roc" else "best")


def _where(curve: Curve) -> str:
    """At which class frequencies a curve is, if not those of the rows."""
    if not curve.prior:
        return ""
    if len(curve.prior) > 2:
        return f" ({words('plot.at_frequencies')})"
    return f" ({words('plot.at_prevalence', share=next(iter(curve.prior.values())))})"


def _heights(curve: Curve) -> tuple[float, float]:
    """The range in which a curve is worth looking at: where next to nothing is left, a band can reach anywhere."""
    lines = np.concatenate([curve.y, *curve.references.values(), [0.0]])
    ends = [float(np.nanquantile(curve.band.low, 0.08)), float(np.nanquantile(curve.band.high, 0.92))]
    ends = ends if np.isfinite(ends).all() else [0.0, 0.0]
    low, high = min(float(lines.min()), ends[0]), max(float(lines.max()), ends[1])
    room = 0.06 * (high - low) or 0.5
    return low - (room if low < 0 else 0.02 * (high - low)), high + room


# ── the curves of an evaluation ──────────────────────────────────────────────────────────────────────────────────
def of_two_classes(
    evaluation: TwoClassEvaluation, kind: str, ax: object, *, name: str = "", **options: Value
) -> Display:
    """Draw a curve of two classes with its summary, what ignoring the input gives, and the threshold in use.

    Into axes that hold the curve of another model only the line is added, in the next colour; ``name`` is that of the
    model.
    """
    curve = evaluation.curve(kind, **options)
    with axes(ax, *_size(kind)) as ax:
        others = _others(ax)
        if others:
            colour = COLOURS[others % len(COLOURS)]
            artists = _draw(
                ax, curve, _label(evaluation, kind, name or words("plot.model", n=others + 1)), colour, banded=False
            )
            ax.legend(loc="lower right" if kind == "roc" else "best")
            return Display(kind, ax, artists)
        label = _label(evaluation, kind, name)
        artists = _against_ignorance(ax, curve, label, evaluation.prevalence)
        artists |= _threshold_in_use(ax, evaluation, curve)
        _finish(ax, curve, words("plot.positive", name=inert(evaluation.positive)))
        return Display(kind, ax, artists)


def of_models(comparison: Value, kind: str, ax: object, **options: Value) -> Display:
    """Draw the curves of all models of a comparison together, the best first, as many as there are colours.

    The ``harm`` of a decision curve may be given by model: asking one can cost more than asking another.
    """
    names = [place.model for place in comparison.table if place.metric == comparison.metrics[0]]
    models = {name: comparison.models[name] for name in names if kind in comparison.models[name].plots}
    shown = list(models.items())[:MOST_LINES]
    curves = [model.curve(kind, **_own(options, name, comparison.models)) for name, model in shown]
    labels = [_label(model, kind, name) for name, model in shown]
    title = words("plot.positive", name=inert(shown[0][1].positive))
    return _together(curves, labels, kind, ax, with_cut("plot.best_of", title, len(shown), len(models)))


def _together(
    curves: Sequence[Curve], labels: Sequence[str], kind: str, ax: object, title: str, alike: bool = True
) -> Display:
    """Several curves without bands, beside the lines to compare them with where these are alike for all."""
    with axes(ax, *_size(kind, len(curves))) as ax:
        rows = zip(curves, labels, COLOURS, strict=False)
        lines = [_draw(ax, curve, label, colour, banded=False)["line"] for curve, label, colour in rows]
        references = _references(ax, curves[0]) if alike else []
        _finish(ax, curves[0], title)
        if len(curves) > _MANY:
            legend(ax, "beside")
        return Display(kind, ax, {"lines": lines, "references": references})


def with_cut(key: str, title: str, shown: int, n: int) -> str:
    """Return a title, and of how many things some are shown where it is not all."""
    return words(key, title=title, shown=shown, n=n) if shown < n else title


def _own(options: Mapping[str, Value], name: str, models: Mapping[str, Value]) -> dict[str, Value]:
    """The options of the curve of one model; the harm of one that is not named is 0."""
    harm = options.get("harm")
    if not isinstance(harm, Mapping):
        return dict(options)
    if strange := [one for one in harm if one not in models]:
        raise errors.no_such_model(strange[0], list(models))
    return {**options, "harm": harm.get(name, 0.0)}


def _label(evaluation: TwoClassEvaluation, kind: str, name: str) -> str:
    """What a model is called in the legend, with the figure that sums its curve up."""
    called = f"{inert(name, 18)}: " if name else ""
    if kind in AREAS:
        return called + _area(evaluation, kind)
    return called.removesuffix(": ")


def _area(evaluation: TwoClassEvaluation | ManyClassEvaluation, kind: str, of: Value = None, name: str = "") -> str:
    """The area under a curve, of a class against the rest if one is named; that of decisions is of one point."""
    found = evaluation.interval(AREAS[kind] if of is None else (AREAS[kind], of))
    if not found.defined and kind == "roc":
        found = evaluation.interval(one_point_auc.name if of is None else (one_point_auc.name, of))
        return figure_in_words(name or words("plot.one_point"), found)
    return figure_in_words(name or metric_name(AREAS[kind]), found)


def _size(kind: str, names: int = 1) -> tuple[float, float]:
    """The size of a new figure."""
    return 5.2 if names <= _MANY else 8.8, 5.2 if kind in _SQUARE else 4.4


def _against_ignorance(ax: Axes, curve: Curve, label: str, prevalence: float) -> Artists:
    """One curve with its band, beside what ignoring the input gives."""
    if not label:
        area = curve.area
        label = words("plot.the_model") if area is None else words("plot.doubtful_first", area=short_number(area))
    artists = _draw(ax, curve, label, COLOURS[0])
    references = _references(ax, curve)
    if curve.kind == "pr":
        prevalence = next(iter(curve.prior.values())) if curve.prior else prevalence
        label = words("plot.ignoring_at", value=short_number(prevalence))
        references.append(reference(ax, [0, 1], [prevalence, prevalence], label))
    return {**artists, "references": references}


def _threshold_in_use(ax: Axes, evaluation: TwoClassEvaluation, curve: Curve) -> Artists:
    """The point of the decisions with its figures; on cost curves, which hold every threshold, its line."""
    threshold, table = evaluation.threshold, evaluation.confusion
    if threshold is None or not math.isfinite(threshold) or table is None or evaluation.counted.confusion is not None:
        return {}
    in_use = words("plot.score_from", threshold=short_number(threshold))
    if curve.kind in _SQUARE:
        figures = [evaluation.interval(name) for name in (curve.x_name, curve.y_name)]
        lines = [in_use] + [figure_in_words(figure_name(figure.name), figure) for figure in figures]
        return {"point": _point(ax, figures, "\n".join(lines))} if all(f.defined for f in figures) else {}
    if curve.kind == "cost" and len(np.unique(curve.thresholds)) > 1:
        own = evaluation.curve("cost", threshold=threshold)
        return {"threshold": ax.plot(own.x, own.y, color=COLOURS[1], linewidth=1.2, label=in_use, zorder=2)[0]}
    if curve.kind == "decision" and "treat all" in curve.references and threshold in curve.x:
        height = float(curve.y[int(np.searchsorted(curve.x, threshold))])
        label = f"{in_use}: {short_number(height)}"
        return {"point": ax.plot([threshold], [height], "o", color=COLOURS[1], label=label, zorder=4)[0]}
    return {}


def _point(ax: Axes, figures: Sequence[Estimate], label: str) -> object:
    """A point with its intervals both ways."""
    (x, x_reach), (y, y_reach) = ((figure.value, _reach(figure)) for figure in figures)
    return ax.errorbar(
        [x], [y], xerr=x_reach, yerr=y_reach, fmt="o", color=COLOURS[1], elinewidth=1.2, label=label, zorder=5
    )


def _reach(figure: Estimate) -> list[list[float]] | None:
    """How far the interval reaches below a figure, and above it."""
    if figure.low is None or figure.high is None:
        return None
    return [[max(figure.value - figure.low, 0.0)], [max(figure.high - figure.value, 0.0)]]


def of_many_classes(
    evaluation: ManyClassEvaluation, kind: str, ax: object, *, of: Value = None, **options: Value
) -> Display:
    """Draw the curve of a class against the rest; without ``of``, those of the largest classes."""
    if of is not None or kind == "reject":
        return _of_class(evaluation, kind, ax, of, **options)
    names = largest(evaluation)
    curves = [evaluation.curve(kind, name, **options) for name in names]
    labels, title = [inert(name, 18) for name in names], words("plot.each_class")
    if kind in AREAS:
        labels = [_area(evaluation, kind, name, f"{label}:") for name, label in zip(names, labels, strict=True)]
        title = words("plot.figure_of_each_class", figure=metric_name(AREAS[kind]))
    title = with_cut("plot.largest_of", title, len(names), len(evaluation.classes))
    # to treat all is worth something else for each class
    return _together(curves, labels, kind, ax, title, alike=kind != "decision")


def _of_class(evaluation: ManyClassEvaluation, kind: str, ax: object, of: Value, **options: Value) -> Display:
    """The curve of one class, or of all together."""
    curve = evaluation.curve(kind, of, **options)
    share = math.nan if of is None else evaluation.support[canonical(of)] / evaluation.rows
    label = _area(evaluation, kind, of) if kind in AREAS else ""
    with axes(ax, *_size(kind)) as ax:
        artists = _against_ignorance(ax, curve, label, share)
        title = words("plot.all_classes") if of is None else words("plot.one_class", name=inert(of))
        _finish(ax, curve, title)
        return Display(kind, ax, artists)


def largest(evaluation: ManyClassEvaluation) -> list[str]:
    """The classes with the most rows, as many as there are colours, in their own order."""
    by_size = sorted(evaluation.classes, key=lambda name: -evaluation.support[name])[:MOST_LINES]
    return [name for name in evaluation.classes if name in by_size]


# ── thresholds of a decision ─────────────────────────────────────────────────────────────────────────────────────
def of_decision(decision: Value, kind: str, ax: object) -> Display:
    """Draw what each threshold gives, the thresholds that are as good as the best, and the recommended one."""
    curve = decision.over_thresholds
    with axes(ax, 6.0, 5.2) as ax:
        artists = _draw(ax, curve, axis_name(curve.y_name), COLOURS[0])
        for low, high in decision.alike[0] if decision.alike else ():
            ends = np.clip([low, high], curve.x[0], curve.x[-1])
            artists["alike"] = ax.axvspan(*ends, color=COLOURS[4], alpha=0.15, linewidth=0, zorder=0)
        if "alike" in artists:
            artists["alike"].set_label(words("plot.alike"))
        artists |= _mark_recommended(ax, decision, curve)
        ax.set_xlabel(words("plot.decide_from", name=inert(decision.decisions[1])))
        ax.set(ylabel=axis_name(curve.y_name), title=_aim(decision))
        legend(ax, "below")
        return Display(kind, ax, artists)


def _aim(decision: Value) -> str:
    """What the thresholds are chosen for: the lowest cost, or the best of a figure under a condition."""
    if decision.costs is not None:
        return words("plot.lowest_cost")
    name = figure_name(decision.corrected.name)
    if decision.condition is None:
        return name
    sign, limit = decision.limit
    return words(
        "plot.best_under", name=name, condition=f"{figure_name(decision.condition.name)} {sign} {write(limit)}"
    )


def _mark_recommended(ax: Axes, decision: Value, curve: Curve) -> Artists:
    """The recommended threshold with its honest figure, and the best one of these rows if that is another."""
    found: Artists = {}
    figure = decision.cost if decision.costs is not None else decision.corrected
    start = decision.recommended[0]
    if math.isfinite(start):
        value = figure_in_words(words("plot.gives"), figure)
        label = words("plot.recommended", threshold=short_number(start), figure=value)
        found["recommended"] = ax.errorbar(
            [start], [figure.value], _reach(figure), fmt="o", color=COLOURS[1], elinewidth=1.4, label=label, zorder=5
        )
    if decision.threshold != start and math.isfinite(decision.threshold):
        label = words("plot.best_here", threshold=short_number(decision.threshold))
        at = float(np.interp(decision.threshold, curve.x, curve.y))
        (found["best"],) = ax.plot([decision.threshold], [at], "D", color=INK, markersize=5, label=label, zorder=5)
    return found
