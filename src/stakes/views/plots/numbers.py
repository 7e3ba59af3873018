"""Predicted numbers against true ones: points where they are few, otherwise how densely they lie."""

import math
from dataclasses import dataclass

import numpy as np

from stakes.tallies import ErrorSums
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.quantiles import student
from stakes.views.plots.style import COLOURS, INK, PALE, Axes, Display, axes, reference
from stakes.views.plots.subjects import Evaluation
from stakes.views.plots.words import figure_in_words, interval_name, short_number

MOST_POINTS = 2000
"""More rows than this are counted on a grid."""

_CELLS = 60
_BINS = 10


@dataclass(frozen=True, eq=False)
class Points:
    """Truths and predictions with their weights: rows, or where rows are gone the cells that they were counted in."""

    truth: Array
    prediction: Array
    weight: Array
    rows: bool

    @property
    def few(self) -> bool:
        """Whether each row is drawn as a point."""
        return self.rows and len(self.truth) <= MOST_POINTS


def points_of(sums: ErrorSums) -> Points:
    """Return what there is to draw of a regression."""
    if sums.rows is not None:
        truth, prediction = (np.asarray(c, np.float64) for c in (sums.rows.truth, sums.rows.prediction))
        weight = np.ones(len(truth)) if sums.rows.weight is None else np.asarray(sums.rows.weight, np.float64)
        return Points(truth, prediction, weight, True)
    cells = np.array(sums.picture(), np.float64).reshape(-1, 3)
    return Points(cells[:, 0], cells[:, 1], cells[:, 2], False)


def predicted(evaluation: Evaluation, kind: str, ax: object) -> Display:
    """Draw predictions against truths, beside the line on which they are equal."""
    points = points_of(evaluation.errors)
    with axes(ax, 5.6, 5.0) as ax:
        artists = {"points": _cloud(ax, points.truth, points.prediction, points)}
        both = np.concatenate([points.truth, points.prediction])
        ends = [float(both.min()), float(both.max())]
        artists["equal"] = reference(ax, ends, ends, "right")
        baseline = evaluation.errors.baseline
        if baseline is not None:
            label = f"ignoring the input: {short_number(baseline)}"
            artists["baseline"] = ax.axhline(baseline, color=PALE, linestyle=":", linewidth=1.2, label=label, zorder=1)
        ax.set(xlabel="truth", ylabel="prediction")
        names = {"R²": "r2", "mean absolute error": "mean_absolute_error"}
        ax.set_title("\n".join(figure_in_words(words, evaluation.interval(name)) for words, name in names.items()))
        ax.legend(loc="upper left")
        return Display(kind, ax, artists)


def residuals(evaluation: Evaluation, kind: str, ax: object) -> Display:
    """Draw errors against predictions, and the mean error in groups of equally many rows with its interval."""
    points = points_of(evaluation.errors)
    error = points.truth - points.prediction
    with axes(ax, 6.2, 4.4) as ax:
        artists = {"points": _cloud(ax, points.prediction, error, points)}
        artists["zero"] = ax.axhline(0, color=INK, linewidth=1.0, linestyle="--", zorder=2)
        confidence = evaluation.sampling.confidence
        x, mean, reach = mean_errors(points.prediction, error, points.weight, confidence)
        sure = points.rows and evaluation.counted.clusters is None
        label = "mean error of a tenth of the rows" + (f", {interval_name(confidence)}" if sure else "")
        artists["means"] = ax.errorbar(
            x, mean, yerr=reach if sure else None, fmt="o-", color=COLOURS[1], markersize=4.5, linewidth=1.4,
            label=label, zorder=4,
        )  # fmt: skip
        title = figure_in_words("mean error", evaluation.interval("mean_error"))
        ax.set(xlabel="prediction", ylabel="error (truth − prediction)", title=title)
        ax.legend(loc="best")
        return Display(kind, ax, artists)


def mean_errors(prediction: Array, error: Array, weight: Array, confidence: float) -> tuple[Array, Array, Array]:
    """The mean prediction and the mean error of groups by prediction, with the reach of Student's interval.

    A group that nothing can be said about (a single row) has no reach.
    """
    order = np.argsort(prediction, kind="stable")
    groups = [part for part in np.array_split(order, _BINS) if len(part)]
    found = []
    for part in groups:
        w = weight[part] / weight[part].sum()
        mean = float(w @ error[part])
        n = 1 / float((w**2).sum())  # as many rows of equal weight tell as much (Kish)
        variance = float(w @ (error[part] - mean) ** 2)
        reach = student((1 + confidence) / 2, n - 1) * math.sqrt(variance / (n - 1)) if n > 1.5 else math.nan
        found.append((float(w @ prediction[part]), mean, reach))
    x, means, reaches = np.array(found).T
    return x, means, reaches


def _cloud(ax: Axes, x: Array, y: Array, points: Points) -> object:
    """Points where they are few, a grid of counts otherwise."""
    if points.few:
        strength = float(np.clip(60 / math.sqrt(len(x)), 1.5, 5.0))
        return ax.plot(x, y, "o", color=COLOURS[0], alpha=0.45, markersize=strength, markeredgewidth=0, zorder=3)[0]
    counts, *edges = np.histogram2d(x, y, bins=_CELLS, weights=points.weight)
    from matplotlib.colors import LogNorm

    drawn = np.ma.masked_less_equal(counts.T, 0)
    norm = LogNorm(vmin=float(drawn.min()), vmax=max(float(drawn.max()), float(drawn.min()) * 1.01))
    mesh = ax.pcolormesh(*edges, drawn, cmap="Blues", norm=norm, rasterized=True, zorder=1.5)
    ax.figure.colorbar(mesh, ax=ax, label="rows in a cell", pad=0.02, shrink=0.85)
    return mesh
