"""The page of predicted numbers: verdict, predictions against truths, errors, segments, every figure."""

import math
from dataclasses import asdict

import numpy as np

from stakes.evaluation.cautions import FEW_ROWS
from stakes.evaluation.regression import RegressionEvaluation
from stakes.evaluation.reporting import Part
from stakes.evaluation.reporting.answers import answer, believe, better, fails, side_of, verdict
from stakes.evaluation.reporting.figures import clusters_fact, figures_section, segments_section
from stakes.tallies import ErrorSums
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.quantiles import student
from stakes.views.plots.numbers import Points
from stakes.views.report.payload import listed, page, said, section, span

_MANY = 200_000
"""More rows than this are seen through the picture that their tally keeps."""

_PARTS = 6
"""A box of the picture is spread evenly over so many places each way, which hides that boxes grow with the numbers."""

_CELLS, _BINS, _GROUPS = 48, 40, 10
_USUAL = (0.005, 0.995)
"""The distribution of errors is drawn between these quantiles, with some air; what lies beyond is counted."""


def page_of(evaluation: RegressionEvaluation) -> Part:
    """Return the payload of an evaluation of predicted numbers."""
    points, worst = _points(evaluation.errors), evaluation.largest_errors
    sections = [
        verdict(evaluation, _better(evaluation), _believe(evaluation), _shifted(evaluation), _where(evaluation)),
        *([] if points is None else [_predicted_section(evaluation, points), _errors_section(points)]),
        *([section("largest", errors=[asdict(one) for one in worst])] if worst else []),
        *segments_section(evaluation),
        figures_section(evaluation),
    ]
    return page(said("page.regression"), _facts(evaluation), sections)


def _facts(evaluation: RegressionEvaluation) -> list[Part]:
    sums = evaluation.errors
    facts = [said("page.rows", n=evaluation.rows), said("page.mean_truth", mean=float(sums.mean(t=1)))]
    if sums.baseline is not None:
        facts.append(said("page.always_saying", value=sums.baseline))
    return facts + clusters_fact(evaluation)


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


# ── the verdict ──────────────────────────────────────────────────────────────────────────────────────────────────
def _better(evaluation: RegressionEvaluation) -> Part:
    r2, size = evaluation.figures["r2"], evaluation.figures["mean_absolute_error"]
    if not r2.defined:
        return answer("verdict.better", "open", said("verdict.better_no_figure"), figures=[size])
    more = []
    if evaluation.errors.baseline is not None:
        values = {"error": size.value, "always": size.baseline, "baseline": evaluation.errors.baseline}
        more = [said("verdict.better_mean", **values)]
    return better(1 if _perfect(evaluation) else side_of(r2, r2.baseline), *more, figures=[r2, size])


def _perfect(evaluation: RegressionEvaluation) -> bool:
    """Whether no prediction of many is wrong: then nothing varies, and there is no interval to ask."""
    return evaluation.figures["r2"].value == 1 and evaluation.rows >= FEW_ROWS


def _believe(evaluation: RegressionEvaluation) -> Part:
    found = evaluation.figures["r2"]
    if _perfect(evaluation):
        return answer("verdict.believe", "doubt", said("verdict.believe_perfect"), figures=[found])
    figures = [evaluation.figures[name] for name in ("r2", "mean_absolute_error", "root_mean_squared_error")]
    return believe(evaluation, found if found.defined else None, "verdict.believe_few_rows", figures=figures)


def _shifted(evaluation: RegressionEvaluation) -> Part:
    """Whether predictions are too high or too low on the whole."""
    question, found = "verdict.shifted", evaluation.figures["mean_error"]
    size = abs(found.value)
    if not _perfect(evaluation) and (found.low is None or found.high is None):
        return answer(question, "open", said("verdict.shifted_unknown", size=size), figures=[found])
    side = 0 if _perfect(evaluation) else side_of(found, 0)
    if not side:
        return answer(question, "good", said("verdict.shifted_no"), figures=[found])
    words = "verdict.shifted_low" if side > 0 else "verdict.shifted_high"
    return answer(question, "doubt", said(words, size=size), figures=[found])


def _where(evaluation: RegressionEvaluation) -> Part:
    told = []
    for worst in evaluation.largest_errors[:1]:
        values = {"size": abs(worst.error), "truth": worst.truth, "prediction": worst.prediction}
        told.append(said("verdict.where_largest", row=worst.row, **values))
    figures = [evaluation.figures[name] for name in ("max_error", "median_absolute_error")]
    return fails(evaluation, evaluation.figures["mean_absolute_error"], told, figures)
