"""Predicted numbers against true ones: points where they are few, otherwise how densely they lie."""

import math
from collections.abc import Sequence

import numpy as np

from stakes.decisions.calibration.numbers import NumberCalibration
from stakes.evaluation.regression import RegressionEvaluation
from stakes.evaluation.several import QuantilesEvaluation
from stakes.findings.pictures import Points, density, mean_errors, points_of
from stakes.language.sentences import metric_name, words
from stakes.metrics import Estimate
from stakes.metrics.counts import lorenz_gini
from stakes.metrics.quantiles import share_below
from stakes.tallies.arithmetic import Array
from stakes.views.plots.style import COLOURS, INK, PALE, Artists, Axes, Display, axes, reference
from stakes.views.plots.words import figure_in_words, interval_name, short_number

_CELLS = 60


def predicted(evaluation: RegressionEvaluation, kind: str, ax: object) -> Display:
    """Draw predictions against truths, beside the line on which they are equal."""
    points = _points(evaluation)
    with axes(ax, 5.6, 5.0) as ax:
        artists = {"points": _cloud(ax, points.truth, points.prediction, points)}
        both = np.concatenate([points.truth, points.prediction])
        ends = [float(both.min()), float(both.max())]
        artists["equal"] = reference(ax, ends, ends, words("predicted.right"))
        baseline = evaluation.errors.baseline
        if baseline is not None:
            label = words("plot.ignoring_says", value=short_number(baseline))
            artists["baseline"] = ax.axhline(baseline, color=PALE, linestyle=":", linewidth=1.2, label=label, zorder=1)
        ax.set(xlabel=words("predicted.truth"), ylabel=words("predicted.prediction"))
        figures = [evaluation.interval(name) for name in ("r2", "mean_absolute_error")]
        ax.set_title("\n".join(figure_in_words(metric_name(one.name), one) for one in figures))
        ax.legend(loc="upper left")
        return Display(kind, ax, artists)


def residuals(evaluation: RegressionEvaluation, kind: str, ax: object) -> Display:
    """Draw errors against predictions, and the mean error in groups of equally many rows with its interval."""
    points = _points(evaluation)
    error = points.truth - points.prediction
    with axes(ax, 6.2, 4.4) as ax:
        artists = {"points": _cloud(ax, points.prediction, error, points)}
        artists["zero"] = ax.axhline(0, color=INK, linewidth=1.0, linestyle="--", zorder=2)
        confidence = evaluation.sampling.confidence
        x, mean, reach = mean_errors(points, confidence)
        sure = points.rows and evaluation.counted.clusters is None
        label = words("predicted.tenths_sure" if sure else "predicted.tenths", confidence=confidence)
        artists["means"] = ax.errorbar(
            x, mean, yerr=reach if sure else None, fmt="o-", color=COLOURS[1], markersize=4.5, linewidth=1.4,
            label=label, zorder=4,
        )  # fmt: skip
        title = figure_in_words(metric_name("mean_error"), evaluation.interval("mean_error"))
        ax.set(xlabel=words("predicted.prediction"), ylabel=words("predicted.error"), title=title)
        ax.legend(loc="best")
        return Display(kind, ax, artists)


def reliability(evaluation: RegressionEvaluation, kind: str, ax: object, *, bins: int = 10) -> Display:
    """Draw the calibration of an evaluation."""
    return of_calibration(evaluation.calibration, kind, ax, bins=bins)


def of_calibration(calibration: NumberCalibration, kind: str, ax: object, *, bins: int = 10) -> Display:
    """Draw the mean truth against the prediction, in bins and as the rising curve, beside the line of being right."""
    found = calibration.reliability(bins)
    with axes(ax, 5.6, 5.0) as ax:
        x, y = found.bins.mean_prediction, found.bins.mean_truth
        both = np.concatenate([x, y])
        ends = [float(both.min()), float(both.max())]
        artists = {"equal": reference(ax, ends, ends, words("plot.right_on_average"))}
        artists["curve"] = ax.plot(
            found.prediction, found.truth, color=COLOURS[0], linewidth=1.2, label=words("plot.rising"), zorder=3
        )[0]
        sure = not np.isnan(found.bins.low).all()
        label = words("plot.groups", n=len(x)) + (f", {interval_name(calibration.sampling.confidence)}" if sure else "")
        artists["bins"] = ax.errorbar(
            x, y, yerr=y - found.bins.low if sure else None, fmt="o", color=COLOURS[1], label=label, zorder=4
        )
        ax.set(xlabel=words("predicted.prediction"), ylabel=words("plot.mean_truth"))
        ax.legend(loc="upper left")
        return Display(kind, ax, artists)


def lorenz(evaluation: RegressionEvaluation, kind: str, ax: object) -> Display:
    """Draw which share of all that happens the rows of the lowest predictions hold."""
    share, held = evaluation.lorenz()
    with axes(ax, 5.6, 5.0) as ax:
        artists = {"equal": reference(ax, [0, 1], [0, 1], words("points.lorenz_right"))}
        artists["curve"] = ax.plot(
            share, held, color=COLOURS[0], linewidth=1.6, label=words("points.lorenz_title"), zorder=3
        )[0]
        ax.set(xlabel=words("points.lorenz_x"), ylabel=words("points.lorenz_y"))
        ax.set_title(figure_in_words("Gini", evaluation.interval(lorenz_gini.name)))
        ax.legend(loc="upper left")
        return Display(kind, ax, artists)


def reliability_of_quantiles(evaluation: QuantilesEvaluation, kind: str, ax: object) -> Display:
    """Draw how often truths lie at or below each quantile, beside the line of what its level says."""
    found = [one[share_below.name] for one in evaluation.each_figures.values()]
    with axes(ax, 5.6, 5.0) as ax:
        artists = {"equal": reference(ax, [0, 1], [0, 1], words("points.below_right"))}
        artists["shares"] = _with_intervals(ax, evaluation.quantiles.levels, found)
        ax.set(xlabel=words("points.below_x"), ylabel=words("points.below_y"))
        ax.legend(loc="upper left")
        return Display(kind, ax, artists)


def pit(evaluation: QuantilesEvaluation, kind: str, ax: object) -> Display:
    """Draw how many truths lie between neighbouring quantiles, as a multiple of what the levels say."""
    found = evaluation.pit
    expected = np.array([one.baseline for one in found])
    edges = np.append(0.0, np.cumsum(expected))
    with axes(ax, 6.2, 4.4) as ax:
        heights = np.array([one.value for one in found]) / expected
        artists: Artists = {"bars": ax.bar(edges[:-1], heights, expected, align="edge", color=COLOURS[0], alpha=0.55)}
        artists["intervals"] = _with_intervals(ax, edges[:-1] + expected / 2, found, expected)
        artists["equal"] = ax.axhline(
            1, color=INK, linewidth=1.0, linestyle="--", zorder=2, label=words("points.pit_right")
        )
        ax.set(xlabel=words("points.pit_x"), ylabel=words("points.pit_y"))
        ax.legend(loc="best")
        return Display(kind, ax, artists)


def _with_intervals(ax: Axes, x: Array, found: Sequence[Estimate], unit: Array | float = 1.0) -> object:
    """Dots with their intervals, as multiples of a unit."""
    value, low, high = (np.array([getattr(one, n) for one in found], float) / unit for n in ("value", "low", "high"))
    away = np.nan_to_num(np.stack([value - low, high - value]).clip(0))
    name = interval_name(found[0].confidence)
    return ax.errorbar(x, value, yerr=away, fmt="o", color=COLOURS[1], markersize=4.5, label=name, zorder=4)


def _points(evaluation: RegressionEvaluation) -> Points:
    nothing = np.empty(0)
    return points_of(evaluation.errors) or Points(nothing, nothing, nothing, rows=False)


def _cloud(ax: Axes, x: Array, y: Array, points: Points) -> object:
    """Points where they are few, a grid of counts otherwise."""
    if points.few:
        strength = float(np.clip(60 / math.sqrt(len(x)), 1.5, 5.0))
        return ax.plot(x, y, "o", color=COLOURS[0], alpha=0.45, markersize=strength, markeredgewidth=0, zorder=3)[0]
    counts, *edges = density(x, y, points.weight, _CELLS)
    from matplotlib.colors import LogNorm

    shown = np.ma.masked_less_equal(counts.T, 0)
    norm = LogNorm(vmin=float(shown.min()), vmax=max(float(shown.max()), float(shown.min()) * 1.01))
    mesh = ax.pcolormesh(*edges, shown, cmap="Blues", norm=norm, rasterized=True, zorder=1.5)
    ax.figure.colorbar(mesh, ax=ax, label=words("plot.cell_rows"), pad=0.02, shrink=0.85)
    return mesh
