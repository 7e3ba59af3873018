"""The thresholds that a report shows: few enough for a page, and no best threshold is missing.

Whatever mistakes cost and however frequent the classes are, a cheapest threshold is a corner of the upper hull of the
ROC curve. Between the corners, quantiles of the scores show how everything moves.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stakes.decisions.curves.hull import roc_hull
from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.columns import Columns
from stakes.tallies.parallel import run_all
from stakes.tallies.steps import Steps

_QUANTILES = 1000
_MOST_CORNERS = 4000
"""More corners than this (never seen outside of constructed data) are thinned out evenly."""

_Points = tuple[Array, ...]
"""Thresholds, what each finds, and what it lets through."""


@dataclass(frozen=True, eq=False)
class ReportThresholds:
    """Thresholds from +∞ (nobody) down, what each finds and lets through, and whether they are all there are."""

    thresholds: Array
    tp: Array
    fp: Array
    complete: bool

    def thinned(self, table: ScoreTable) -> ScoreTable:
        """Return a small table that answers every one of these thresholds as the table itself does."""
        if isinstance(table.store, Columns):
            return table.between(self.thresholds)
        counts = [np.diff(column) for column in (self.tp, self.fp)]
        names = {"positive": table.positive, "negative": table.negative}
        return ScoreTable.from_columns(self.thresholds[1:], *counts, **names)


def report_thresholds(table: ScoreTable, *wanted: float | None, quantiles: int = _QUANTILES) -> ReportThresholds:
    """Return every corner of the ROC hull and these quantiles of the scores, with exact counts, and ``wanted`` ones.

    Where there are no more scores than quantiles, every score is a threshold.
    """
    places = np.arange(1, quantiles + 1) * (float(table.total) / quantiles)

    def of(block: Callable[[], Steps]) -> tuple[_Points, _Points, int]:
        steps = block()
        few = len(steps.tp) <= quantiles  # there may be few in all
        between = np.arange(len(steps.tp)) if few else _reaching(steps.tp + steps.fp, places)
        points = (np.asarray(steps.scores, np.float64), steps.tp, steps.fp)
        return _take(points, roc_hull(steps.tp, steps.fp)), _take(points, between), len(steps.tp)

    found = run_all([functools.partial(of, block) for block in table.blocks()], int(table.total))
    corners, between = (
        tuple(np.concatenate(columns) for columns in zip(*(one[kind] for one in found), strict=True)) for kind in (0, 1)
    )
    corners = _take(corners, _corners(corners))
    complete = sum(one[2] for one in found) <= quantiles
    if not complete:
        between = _take(between, _reaching(between[1] + between[2], places))
    asked = [(t, table.at(t)) for t in wanted if t is not None and np.isfinite(t)]
    extra = [(t, float(found.tp), float(found.fp)) for t, found in asked]
    start = np.array([[np.inf, 0, 0], *extra]).T
    scores, tp, fp = (np.concatenate(columns) for columns in zip(start, corners, between, strict=True))
    order = np.unique(-scores, return_index=True)[1]
    return ReportThresholds(scores[order], _whole(tp[order]), _whole(fp[order]), complete)


def _reaching(reached: Array, rows: Array) -> Array:
    """The first places at which so many rows are reached; the last one stands for all that lie beyond."""
    return np.unique(np.minimum(np.searchsorted(np.asarray(reached, np.float64), rows), len(reached) - 1))


def _take(points: _Points, places: Array) -> _Points:
    return tuple(column[places] for column in points)


def _corners(points: _Points) -> Array:
    """The corners of all blocks' corners together; the hull begins at (0, 0)."""
    tp, fp = (np.concatenate([column[:1] * 0, column]) for column in points[1:])
    places = roc_hull(tp, fp)[1:] - 1
    return places if len(places) <= _MOST_CORNERS else places[:: -(-len(places) // _MOST_CORNERS)]


def _whole(counts: Array) -> Array:
    """Counts of rows as whole numbers; sums of weights stay as they are."""
    return counts.astype(np.int64) if (counts == np.floor(counts)).all() else counts
