"""How scores are spread, and whether things happen as often as probabilities say."""

import math
from collections.abc import Mapping

import numpy as np

from stakes import errors
from stakes.decisions.calibration.calibration import Calibration
from stakes.decisions.calibration.reliability import Bins
from stakes.decisions.curves.histograms import Histograms
from stakes.evaluation.many_classes import ManyClassEvaluation
from stakes.evaluation.two_classes import TwoClassEvaluation
from stakes.language.sentences import words
from stakes.question.options import Value
from stakes.tallies.names import canonical
from stakes.views.plots.curves import MOST_LINES, largest, with_cut
from stakes.views.plots.style import BAND, COLOURS, INK, MARKERS, PALE, Artists, Axes, Display, axes, legend, reference
from stakes.views.plots.words import inert, interval_name, short_number


# ── histograms ───────────────────────────────────────────────────────────────────────────────────────────────────
def histograms_of_two(evaluation: TwoClassEvaluation, kind: str, ax: object, *, bins: int = 50) -> Display:
    """Draw the scores of the two classes, and where the threshold cuts."""
    return _histograms(evaluation.histograms(bins), kind, ax, words("explorer.score"))


def histograms_of_many(
    evaluation: ManyClassEvaluation, kind: str, ax: object, *, of: Value = None, bins: int = 50
) -> Display:
    """Draw the score of a class over its own cases and over the rest; without ``of``, over each class's own cases."""
    found = evaluation.histograms(bins)
    if of is not None:
        if canonical(of) not in found:
            raise errors.no_such_class(of, list(found))
        return _histograms(found[canonical(of)], kind, ax, words("plot.score_of", name=inert(of)))
    names = largest(evaluation)
    own = Histograms(found[names[0]].edges, {name: found[name].counts[name] for name in names})
    return _histograms(own, kind, ax, words("plot.own_score"))


def _histograms(found: Histograms, kind: str, ax: object, x_name: str) -> Display:
    """Each class as a share of its own cases, so that rare classes are seen beside frequent ones."""
    with axes(ax, 6.0 if len(found.counts) == 2 else 8.2, 3.8) as ax:
        bars = []
        for (name, counts), colour in zip(found.counts.items(), COLOURS, strict=False):
            size = float(counts.sum())
            heights = counts / size if size else counts.astype(np.float64)
            label = words("plot.class_rows", name=inert(name), n=size)
            fill = len(found.counts) == 2
            bars.append(
                ax.stairs(heights, found.edges, fill=fill, color=colour, alpha=0.55 if fill else 1.0, label=label)
            )
        artists: Artists = {"bars": bars}
        if found.threshold is not None and math.isfinite(found.threshold):
            label = words("plot.threshold", threshold=short_number(found.threshold))
            artists["threshold"] = ax.axvline(found.threshold, color=INK, linewidth=1.2, linestyle="--", label=label)
        ax.set(xlim=(found.edges[0], found.edges[-1]), ylim=(0, None))
        ax.set(xlabel=x_name, ylabel=words("plot.class_share"))
        ax.grid(False, axis="x")
        ax.legend(loc="best")
        if len(bars) > 2:
            legend(ax, "beside")
        return Display(kind, ax, artists)


# ── reliability ──────────────────────────────────────────────────────────────────────────────────────────────────
def reliability_of_two(evaluation: Value, kind: str, ax: object, *, bins: int = 10, by: str = "mass") -> Display:
    """Draw how often things happened among the cases of which a probability was said."""
    return _reliability(evaluation.calibration, kind, ax, evaluation.positive, bins, by)


def reliability_of_many(
    evaluation: ManyClassEvaluation, kind: str, ax: object, *, of: Value = None, bins: int = 10, by: str = "mass"
) -> Display:
    """Draw the reliability of the probability of one class; without ``of``, of the largest classes."""
    each: Value = evaluation.calibration
    if of is not None:
        return _reliability(each[of], kind, ax, canonical(of), bins, by)
    calibrations = {name: each[name] for name in largest(evaluation)}
    return _reliabilities(calibrations, kind, ax, words("plot.each_class"), bins, by)


def reliability_of_models(comparison: Value, kind: str, ax: object, *, bins: int = 10, by: str = "mass") -> Display:
    """Draw the reliability of the probabilities of all models of a comparison together."""
    models = [name for name, model in comparison.models.items() if kind in model.plots]
    shown = {name: comparison.models[name].calibration for name in models[:MOST_LINES]}
    title = with_cut("plot.first_of", words("plot.models_bins"), len(shown), len(models))
    return _reliabilities(shown, kind, ax, title, bins, by)


def _reliabilities(
    calibrations: Mapping[str, Calibration], kind: str, ax: object, title: str, bins: int, by: str
) -> Display:
    """Several classes or models in one plot, each with a colour and a sign of its own."""
    with axes(ax, 7.2, 5.2) as ax:
        points = []
        for (name, one), colour, marker in zip(calibrations.items(), COLOURS, MARKERS, strict=False):
            found = one.reliability(bins, by).bins
            points.append(_points(ax, found, inert(name), color=colour, marker=marker, linewidth=1.2))
        _diagonal(ax, title)
        legend(ax, "beside")
        return Display(kind, ax, {"points": points})


def _reliability(calibration: Calibration, kind: str, ax: object, of: str, bins: int, by: str) -> Display:
    found = calibration.reliability(bins, by)
    with axes(ax, 5.2, 5.2) as ax:
        (line,) = ax.plot(
            found.probability, found.frequency, color=COLOURS[0], linewidth=1.6, label=words("plot.rising"), zorder=3
        )
        artists: Artists = {"line": line}
        band = found.band
        if band is not None:
            label = words("plot.honest_band", confidence=band.confidence)
            artists["band"] = ax.fill_between(
                band.probability, band.low, band.high, color=PALE, alpha=BAND + 0.05, linewidth=0, label=label
            )
        sure = "" if found.bins.no_limits else f", {interval_name(calibration.sampling.confidence)}"
        name = words("plot.bins_mass" if by == "mass" else "plot.bins_width", n=len(found.bins.rows)) + sure
        artists["points"] = _points(ax, found.bins, name, color=COLOURS[1], marker="o", linestyle="none")
        _diagonal(ax, words("plot.probability_of", name=inert(of)))
        return Display(kind, ax, artists)


def _points(ax: Axes, bins: Bins, label: str, **look: Value) -> object:
    x, y = bins.mean_probability, bins.frequency
    reach = None if bins.no_limits else np.maximum([y - bins.low, bins.high - y], 0.0)
    return ax.errorbar(x, y, yerr=reach, elinewidth=1.1, markersize=4.5, label=label, zorder=4, **look)


def _diagonal(ax: Axes, title: str) -> None:
    reference(ax, [0, 1], [0, 1], words("plot.honest"))
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
    ax.set(xlabel=words("calibration.said"), ylabel=words("calibration.happened"), title=title)
    ax.legend(loc="best")
