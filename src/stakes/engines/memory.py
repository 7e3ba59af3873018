"""NumPy kernels: rows in memory become tallies in one pass.

Columns are walked in blocks, so that temporaries stay in the processor's cache, and the caller's arrays are only read.
"""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stakes.engines.labels import Labels
from stakes.engines.plan import Counted, Plan
from stakes.errors import Given, InputError
from stakes.tallies import ClassScores, Confusion, CostSums, ErrorSums, JointCounts, ScoreTable, Tally
from stakes.tallies.arithmetic import Array
from stakes.tallies.clusters import Clusters
from stakes.tallies.on_demand import OnDemand

_BLOCK = 1 << 16
_MOST_CELLS = 100_000_000
"""How many cells the tables of all segments may have together."""

_RUN = 1 << 8
"""Weights are added up in runs of this many rows, and the runs without rounding: naive sums drift."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Columns of equal length; what is not there is None.

    Labels are codes, scores one column or one for each class; ``span`` is how far the scores of all classes reach.
    ``costs`` is what each decision costs in that row, where that differs from row to row.
    """

    truth: Array
    prediction: Array | None = None
    scores: Array | None = None
    span: tuple[float, float] | None = None
    weight: Array | None = None
    cluster: Array | None = None
    costs: Array | None = None
    places: Array | None = None

    @property
    def clusters(self) -> Clusters | None:
        """Which rows belong together, and what intervals have to know about them."""
        if self.cluster is None:
            return None
        return Clusters.of(
            self.cluster, truth=self.truth, decided=self.prediction, scores=self.scores, weight=self.weight
        )

    def shuffled(self, order: Array) -> "Rows":
        """Return the truth in another order against the predictions; a weight belongs to its truth."""
        weight = None if self.weight is None else self.weight[order]
        return replace(self, truth=self.truth[order], weight=weight)

    def take(self, rows: Array | slice) -> "Rows":
        """Return some of the rows, which remember their places in the whole."""
        places = np.arange(len(self.truth)) if self.places is None else self.places
        names = ("truth", "prediction", "scores", "weight", "cluster", "costs")
        columns = {name: getattr(self, name) for name in names if getattr(self, name) is not None} | {"places": places}
        return Rows(**{name: column[rows] for name, column in columns.items()})


def count_classes(plan: Plan, rows: Rows, by: Labels | None, parts: Collection[str] | None = None) -> Counted:
    """Count decisions, scores or both, overall and by segment."""
    tallies: dict[str, Tally] = {}
    if rows.prediction is not None and not plan.dense:
        tallies["joint"] = _joint(plan, rows)
    elif rows.prediction is not None:
        tallies["confusion"] = _confusion(plan, rows)
    tallies |= _costs(plan, rows)
    if rows.scores is not None:
        tallies |= _scores(plan, rows, parts)
    if by is None:
        return Counted("classification", tallies, clusters=rows.clusters)
    cells = len(plan.classes) * (len(plan.decisions) if plan.dense else 1)
    if rows.prediction is not None and len(by.names) * cells > _MOST_CELLS:
        raise InputError(
            "too-many-segments",
            Given("by"),
            f" makes {len(by.names):,} segments of {len(plan.classes):,} classes each, which is more than memory "
            "holds; group the segments, or the classes",
        )
    confusions: Any = None if "confusion" not in tallies else _segment_confusions(plan, rows, by)

    def of_segment(place: int, part: Rows) -> dict[str, Tally]:
        found: dict[str, Tally] = {} if confusions is None else {"confusion": confusions[place]}
        if "joint" in tallies:
            found["joint"] = _joint(plan, part)
        found |= _costs(plan, part)
        return found | (_scores(plan, part, parts) if part.scores is not None else {})

    if list(tallies) == ["confusion"] and rows.cluster is None:  # then the rows need not be looked at again
        numbers = {name: i for i, name in enumerate(by.names)}
        there = np.flatnonzero(confusions.total).tolist()
        segments: Mapping[str, Counted] = OnDemand(
            [by.names[i] for i in there],
            lambda name: Counted("classification", {"confusion": confusions[numbers[name]]}),
        )
    else:
        segments = dict(_segments("classification", rows, by, of_segment))
    return Counted("classification", tallies, segments, clusters=rows.clusters)


def count_errors(
    rows: Rows, by: Labels | None, baseline: float | None, parts: Collection[str] | None = None
) -> Counted:
    """Count the errors of a regression, overall and by segment."""

    def sums(part: Rows) -> dict[str, Tally]:
        options: Any = {"baseline": baseline, "places": part.places, **({} if parts is None else {"parts": parts})}
        return {"errors": ErrorSums.from_rows(part.truth, part.prediction, part.weight, **options)}  # type: ignore[arg-type]

    segments = {} if by is None else _segments("regression", rows, by, lambda _, part: sums(part))
    return Counted("regression", sums(rows), segments, clusters=rows.clusters)


def _segments(
    task: str, rows: Rows, by: Labels, tallies: Callable[[int, Rows], dict[str, Tally]]
) -> OnDemand[str, Counted]:
    """The segments that have rows, each counted when it is asked for."""
    ends = np.cumsum(np.bincount(by.codes, minlength=len(by.names))).tolist()
    ordered = rows.take(np.argsort(by.codes, kind="stable"))  # once, so that each segment is a piece of it
    places = {
        name: (i, slice(start, end))
        for i, (name, start, end) in enumerate(zip(by.names, [0, *ends[:-1]], ends, strict=True))
        if end > start
    }

    def segment(name: str) -> Counted:
        i, piece = places[name]
        part = ordered.take(piece)
        return Counted(task, tallies(i, part), clusters=part.clusters)

    return OnDemand(list(places), segment)


# ── scores ───────────────────────────────────────────────────────────────────────────────────────────────────────
def _scores(plan: Plan, rows: Rows, parts: Collection[str] | None) -> dict[str, Tally]:
    scores: Any = rows.scores
    if scores.ndim == 2:
        options: Any = {"span": rows.span} | ({} if parts is None else {"parts": parts})
        return {"class_scores": ClassScores.from_rows(scores, rows.truth, plan.classes, rows.weight, **options)}
    positive = _mask(rows.truth, plan.classes.index(str(plan.positive)))
    pair = {"positive": str(plan.positive), "negative": plan.negative}
    extra = None if rows.costs is None else _costs_by_class(rows, positive)
    return {"scores": ScoreTable.from_rows(scores, positive, rows.weight, extra=extra, **pair)}


def _costs(plan: Plan, rows: Rows) -> dict[str, Tally]:
    """Add up what the decisions cost, where that differs from row to row."""
    if rows.costs is None or rows.prediction is None:
        return {}
    sums = CostSums.from_rows(rows.costs, rows.prediction, rows.truth, plan.classes, plan.decisions, rows.weight)
    return {"costs": sums}


def _costs_by_class(rows: Rows, positive: Array) -> dict[str, Array]:
    """What each decision costs the positive and the negative rows at a score, and the squares of it."""
    found: dict[str, Array] = {}
    unit = np.ones(len(positive)) if rows.weight is None else rows.weight
    for d, cost in enumerate(rows.costs.T):  # type: ignore[union-attr]
        for name, mine in (("positives", positive), ("negatives", ~positive)):
            paid = np.where(mine, unit * cost, 0.0)
            found |= {f"cost {d} of {name}": paid, f"cost {d} of {name} squared": paid**2}
    return found


def _mask(codes: Array, code: int) -> Array:
    """Which rows have a code; codes of one byte that are 0 or 1 need no comparison."""
    if codes.dtype == np.uint8 and code == 1 and len(codes) and codes.max() <= 1:
        return codes.view(bool)
    found: Array = codes == code
    return found


# ── decisions ────────────────────────────────────────────────────────────────────────────────────────────────────
def _confusion(plan: Plan, rows: Rows) -> Confusion:
    truth, decided = rows.truth, rows.prediction
    if rows.weight is None and len(plan.classes) == len(plan.decisions) == 2:
        t, d = _mask(truth, 1), _mask(decided, 1)  # type: ignore[arg-type]
        both, P, PP = np.count_nonzero(t & d), np.count_nonzero(t), np.count_nonzero(d)
        return _table(plan, np.array([[len(t) - P - PP + both, PP - both], [P - both, both]]))
    counts, squares = _cells(plan, rows, None, 1)
    return _table(plan, counts[0], None if squares is None else squares[0])


def _joint(plan: Plan, rows: Rows) -> JointCounts:
    """Count the combinations that occur, where a table of all would be too large."""
    names = (plan.classes, plan.decisions)
    return JointCounts.from_rows(("truth", "decision"), names, (rows.truth, rows.prediction), rows.weight)


def _segment_confusions(plan: Plan, rows: Rows, by: Labels) -> Confusion:
    """Return the tables of all segments along a leading axis."""
    return _table(plan, *_cells(plan, rows, by.codes, len(by.names)))


def _table(plan: Plan, counts: Array, squares: Array | None = None) -> Confusion:
    return Confusion(plan.classes, plan.decisions, counts, squares, plan.positive)


def _cells(plan: Plan, rows: Rows, segment: Array | None, segments: int) -> tuple[Array, Array | None]:
    """Return the counts (or Σw, and Σw²) of every segment's table."""
    K, M = len(plan.classes), len(plan.decisions)
    shape, size = (segments, K, M), segments * K * M

    narrow: Any = np.uint8 if size <= 256 else np.int64  # narrower numbers would wrap

    def numbers(part: slice) -> Array:
        cells = rows.truth[part].astype(narrow)
        if segment is not None:
            cells += narrow(K) * segment[part].astype(narrow)
        cells *= narrow(M)
        cells += rows.prediction[part].astype(narrow, copy=False)  # type: ignore[index]
        return cells

    if rows.weight is not None:
        cells = numbers(slice(None)).astype(np.int64)
        return tuple(sums_by(cells, w, size).reshape(shape) for w in (rows.weight, rows.weight**2))  # type: ignore[return-value]
    counts = np.zeros(size, np.int64)
    for start in range(0, len(rows.truth), _BLOCK):
        counts += np.bincount(numbers(slice(start, start + _BLOCK)), minlength=size)
    return counts.reshape(shape), None


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
