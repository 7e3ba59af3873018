"""NumPy kernels: rows in memory become tallies in one pass.

Columns are walked in blocks, so that temporaries stay in the processor's cache, and the caller's arrays are only read.
"""

import math
from typing import Any

import numpy as np

from stakes.engines.labels import Labels
from stakes.engines.plan import Counted, Plan
from stakes.tallies import Confusion, ScoreTable
from stakes.tallies.arithmetic import Array

_BLOCK = 1 << 17
_RUN = 1 << 8
"""Weights are added up in runs of this many rows, and the runs without rounding: naive sums drift."""


def count(
    plan: Plan, truth: Labels, prediction: Labels | None, score: Array | None, weight: Array | None, by: Labels | None
) -> Counted:
    """Fill every tally of the plan."""
    positive = truth.mask(plan.positive)
    decided = None if prediction is None else prediction.mask(plan.positive)
    confusion = None if decided is None else _confusion(plan, positive, decided, weight)
    scores = None if score is None else _scores(plan, score, positive, weight)
    return Counted(confusion, scores, {} if by is None else _segments(plan, positive, decided, score, weight, by))


def _scores(plan: Plan, score: Array, positive: Array, weight: Array | None) -> ScoreTable:
    return ScoreTable.from_rows(score, positive, weight, positive=plan.positive, negative=plan.negative)


# ── decisions ────────────────────────────────────────────────────────────────────────────────────────────────────
def _confusion(plan: Plan, positive: Array, decided: Array, weight: Array | None) -> Confusion:
    if weight is None:
        both = np.count_nonzero(positive & decided)
        P, PP = np.count_nonzero(positive), np.count_nonzero(decided)
        cells = np.array([[len(positive) - P - PP + both, PP - both], [P - both, both]])
        return _table(plan, cells)
    return _table(plan, *(s[0] for s in _weighted_cells(positive, decided, weight, np.zeros(len(weight), np.int64), 1)))


def _table(plan: Plan, counts: Array, squares: Array | None = None) -> Confusion:
    names = (plan.negative, plan.positive)
    return Confusion(names, names, counts, squares, plan.positive)


def _weighted_cells(
    positive: Array, decided: Array, weight: Array, segment: Array, segments: int
) -> tuple[Array, Array]:
    """Return Σw and Σw² of every segment's four cells."""
    cells = 4 * segment.astype(np.int64) + 2 * positive + decided
    return tuple(sums_by(cells, w, 4 * segments).reshape(segments, 2, 2) for w in (weight, weight**2))  # type: ignore[return-value]


def sums_by(groups: Array, values: Array, count: int) -> Array:
    """Add up values by group number, nearly without rounding, and the same for any cutting into blocks."""
    length = max(_RUN, count)  # with many groups a run must be longer, or there would be more sums than rows
    runs = []
    for start in range(0, len(groups), _BLOCK):
        block, part = groups[start : start + _BLOCK], values[start : start + _BLOCK]
        run = np.arange(len(block)) // length
        sums = np.bincount(run * count + block, weights=part, minlength=(int(run[-1]) + 1) * count)
        runs.append(sums.reshape(-1, count))
    return np.array([math.fsum(column) for column in np.concatenate(runs).T.tolist()])


# ── segments ─────────────────────────────────────────────────────────────────────────────────────────────────────
def _segments(
    plan: Plan, positive: Array, decided: Array | None, score: Array | None, weight: Array | None, by: Labels
) -> dict[str, Counted]:
    sizes = np.bincount(by.codes, minlength=len(by.names))
    confusions: Any = [None] * len(by.names)
    if decided is not None:
        confusions = _segment_confusion(plan, positive, decided, weight, by)
    scores: Any = [None] * len(by.names)
    if score is not None:
        rows = np.split(np.argsort(by.codes, kind="stable"), np.cumsum(sizes)[:-1])
        scores = [_scores(plan, score[r], positive[r], None if weight is None else weight[r]) for r in rows]
    return {name: Counted(confusions[i], scores[i]) for i, name in enumerate(by.names) if sizes[i]}


def _segment_confusion(plan: Plan, positive: Array, decided: Array, weight: Array | None, by: Labels) -> Confusion:
    """Return the tables of all segments along a leading axis."""
    if weight is not None:
        return _table(plan, *_weighted_cells(positive, decided, weight, by.codes, len(by.names)))
    counts = np.zeros(4 * len(by.names), np.int64)
    for start in range(0, len(positive), _BLOCK):
        rows = slice(start, start + _BLOCK)
        cells = 4 * by.codes[rows].astype(np.int64) + 2 * positive[rows] + decided[rows]
        counts += np.bincount(cells, minlength=len(counts))
    return _table(plan, counts.reshape(-1, 2, 2))
