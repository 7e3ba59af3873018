"""The page of predicted numbers: verdict, predictions against truths, errors, segments, every figure."""

from dataclasses import asdict

import numpy as np

from stakes.evaluation.regression import RegressionEvaluation
from stakes.findings.pages.figures import figures_section, segments_section
from stakes.findings.pages.payload import Part, listed, section, span
from stakes.findings.pages.points import counts_section
from stakes.findings.pictures import Points, density, mean_errors, points_of
from stakes.tallies.arithmetic import Array

_CELLS, _BINS = 48, 40
_USUAL = (0.005, 0.995)
"""The distribution of errors is plotted between these quantiles, with a margin; errors beyond are counted."""

_ENOUGH = 100_000
"""With more rows these quantiles come from a sample: they only set the range of the picture."""


def sections_of(evaluation: RegressionEvaluation) -> list[Part]:
    """Return the sections below the verdict on an evaluation of predicted numbers."""
    points, worst = points_of(evaluation.errors), evaluation.largest_errors
    return [
        *([] if points is None else [_predicted_section(evaluation, points), _errors_section(points)]),
        *counts_section(evaluation),
        *([section("largest", errors=[asdict(one) for one in worst])] if worst else []),
        *segments_section(evaluation),
        figures_section(evaluation),
    ]


# ── pictures ─────────────────────────────────────────────────────────────────────────────────────────────────────
def _predicted_section(evaluation: RegressionEvaluation, points: Points) -> Part:
    """Predictions against truths, and errors against predictions with their mean in tenths of the rows."""
    error = points.truth - points.prediction
    x, mean, reach = mean_errors(points, evaluation.sampling.confidence)
    sure = points.rows and evaluation.counted.clusters is None
    limits = {"low": mean - reach, "high": mean + reach} if sure else {}
    return section(
        "predicted",
        predicted=_cloud(points.truth, points.prediction, points),
        residuals=_cloud(points.prediction, error, points),
        means={name: listed(values) for name, values in {"x": x, "mean": mean, **limits}.items()},
        baseline=evaluation.errors.baseline,
        confidence=evaluation.sampling.confidence,
        counted=points.rows,
    )


def _cloud(x: Array, y: Array, points: Points) -> Part:
    """Points where they are few, otherwise how many rows lie in each cell of a grid."""
    if points.few:
        return {"x": listed(x), "y": listed(y)}
    counts, *edges = density(x, y, points.weight, _CELLS)
    across, up = np.nonzero(counts)
    cells = [listed(across), listed(up), listed(counts[across, up].round(6))]
    return {"edges": [listed(one) for one in edges], "cells": cells}


def _errors_section(points: Points) -> Part:
    """The distribution of errors; far outliers are counted and not plotted."""
    error = points.truth - points.prediction
    low, high = _usual_span(error, points.weight)
    counts, edges = np.histogram(error, bins=_BINS, range=(low, high), weights=points.weight)
    below, above = (float(points.weight[beyond].sum()) for beyond in (error < low, error > high))
    if not points.rows:
        counts, below, above = counts.round(), round(below), round(above)
    return section("errors", edges=listed(edges), counts=listed(counts), below=below, above=above, counted=points.rows)


def _usual_span(error: Array, weight: Array) -> tuple[float, float]:
    some = slice(None, None, -(-len(error) // _ENOUGH))
    seen = error[some]
    order = np.argsort(seen)
    reached = np.cumsum(weight[some][order])
    places = np.searchsorted(reached, np.multiply(_USUAL, reached[-1]))
    low, high = seen[order[np.minimum(places, len(seen) - 1)]]
    room = 0.15 * (high - low)
    return span(np.clip([low - room, high + room], error.min(), error.max()))
