"""The page of predicted numbers: verdict, predictions against truths, errors, segments, every figure."""

import math
from dataclasses import asdict

import numpy as np

from stakes.evaluation.regression import RegressionEvaluation
from stakes.findings.pages.figures import figures_section, segments_section
from stakes.findings.pages.payload import Part, listed, section, span
from stakes.tallies import ErrorSums
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.quantiles import student
from stakes.views.plots.numbers import Points

_MANY = 200_000
"""More rows than this are seen through the picture that their tally keeps."""

_PARTS = 6
"""A box of the picture is spread evenly over so many places each way, which hides that boxes grow with the numbers."""

_CELLS, _BINS, _GROUPS = 48, 40, 10
_USUAL = (0.005, 0.995)
"""The distribution of errors is drawn between these quantiles, with some air; what lies beyond is counted."""


def sections_of(evaluation: RegressionEvaluation) -> list[Part]:
    """Return the sections below the verdict on an evaluation of predicted numbers."""
    points, worst = _points(evaluation.errors), evaluation.largest_errors
    return [
        *([] if points is None else [_predicted_section(evaluation, points), _errors_section(points)]),
        *([section("largest", errors=[asdict(one) for one in worst])] if worst else []),
        *segments_section(evaluation),
        figures_section(evaluation),
    ]


def _points(sums: ErrorSums) -> Points | None:
    """The rows, or where they are very many or gone, places in the boxes of the picture that stand for them."""
    rows = sums.rows
    if rows is not None and len(rows.truth) <= _MANY:
        truth, prediction = (np.asarray(column, np.float64) for column in (rows.truth, rows.prediction))
        weight = np.ones(len(rows.truth)) if rows.weight is None else np.asarray(rows.weight, np.float64)
        return Points(truth, prediction, weight, rows=True)
    if sums.histogram is None:
        return None
    lower, upper, counts = sums.boxes()
    middles = (np.arange(_PARTS) + 0.5) / _PARTS
    spread = np.stack([one.ravel() for one in np.meshgrid(middles, middles)])  # (2, parts²)
    places = lower[:, :, None] + (upper - lower)[:, :, None] * spread
    weight = np.repeat(counts / _PARTS**2, _PARTS**2)
    return Points(places[:, 0].ravel(), places[:, 1].ravel(), weight, rows=False)


# ── pictures ─────────────────────────────────────────────────────────────────────────────────────────────────────
def _predicted_section(evaluation: RegressionEvaluation, points: Points) -> Part:
    """Predictions against truths, and errors against predictions with their mean in tenths of the rows."""
    error = points.truth - points.prediction
    x, mean, reach = _tenths(points, error, evaluation.sampling.confidence)
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


def _tenths(points: Points, error: Array, confidence: float) -> tuple[Array, Array, Array]:
    """Mean prediction and mean error of tenths of the rows by prediction, and how far Student's interval reaches."""
    order = np.argsort(points.prediction, kind="stable")
    weight, prediction, error = points.weight[order], points.prediction[order], error[order]
    reached = np.cumsum(weight) - weight / 2
    group = np.minimum((_GROUPS * reached / weight.sum()).astype(np.int64), _GROUPS - 1)
    group = np.unique(group, return_inverse=True)[1]  # of fewer rows than groups some are empty
    size = np.bincount(group, weight)
    x, mean = (np.bincount(group, weight * column) / size for column in (prediction, error))
    variance = np.bincount(group, weight * (error - mean[group]) ** 2) / size
    rows = size**2 / np.bincount(group, weight**2)  # as many rows of equal weight tell as much (Kish)
    reach = [_reach(float(v), float(n), confidence) for v, n in zip(variance, rows, strict=True)]
    return x, mean, np.array(reach)


def _reach(variance: float, rows: float, confidence: float) -> float:
    return student((1 + confidence) / 2, rows - 1) * math.sqrt(variance / (rows - 1)) if rows > 1.5 else math.nan


def _cloud(x: Array, y: Array, points: Points) -> Part:
    """Points where they are few, otherwise how many rows lie in each cell of a grid."""
    if points.few:
        return {"x": listed(x), "y": listed(y)}
    spans = [span(values) for values in (x, y)]
    counts, *edges = np.histogram2d(x, y, bins=_CELLS, range=spans, weights=points.weight)
    across, up = np.nonzero(counts)
    cells = [listed(across), listed(up), listed(counts[across, up].round(6))]
    return {"edges": [listed(one) for one in edges], "cells": cells}


def _errors_section(points: Points) -> Part:
    """How errors are spread; what lies far out is counted and not drawn."""
    error = points.truth - points.prediction
    low, high = _usual_span(error, points.weight)
    counts, edges = np.histogram(error, bins=_BINS, range=(low, high), weights=points.weight)
    below, above = (float(points.weight[beyond].sum()) for beyond in (error < low, error > high))
    if not points.rows:
        counts, below, above = counts.round(), round(below), round(above)
    return section("errors", edges=listed(edges), counts=listed(counts), below=below, above=above, counted=points.rows)


def _usual_span(error: Array, weight: Array) -> tuple[float, float]:
    order = np.argsort(error)
    reached = np.cumsum(weight[order])
    places = np.searchsorted(reached, np.multiply(_USUAL, reached[-1]))
    low, high = error[order[np.minimum(places, len(error) - 1)]]
    room = 0.15 * (high - low)
    return span(np.clip([low - room, high + room], error.min(), error.max()))
