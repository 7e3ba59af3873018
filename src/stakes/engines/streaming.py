"""Files of many rows are read in batches and counted as they go by, so that memory stays bounded.

Up to ``MOST_EXACT`` rows the named columns are read whole and every figure is exact. Of more rows, or where bins are
asked for, only groups of rows alike are kept, their scores in bins (``binning.py``), as when another engine counts them
(``lazy.py``), and the bounds of the auc are told. With ``exact=True`` every score is kept at 8 bytes a row instead.

Questions that need the rows themselves (errors of predicted numbers, scores of several classes, clusters, costs that
differ by row; exact scores with weights or segments) read the columns whole, whatever the number of rows.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from stakes import errors
from stakes.engines.binning import Binned, BinnedCounts
from stakes.engines.cells import Cells, CellSums, Found
from stakes.engines.columns import as_finite
from stakes.engines.files.reading import Files
from stakes.engines.files.sources import read_once
from stakes.engines.groups import Grouped, count_groups
from stakes.engines.labels import Labels, encode, zeros_and_ones
from stakes.engines.lazy import count_inside, name_columns
from stakes.engines.plan import Counted
from stakes.engines.reading import FEW_OUTSIDE, Read, read_rows
from stakes.engines.rows import rows_that_count
from stakes.engines.segments import with_segments_together
from stakes.engines.tables import warn_of_same_column
from stakes.engines.tasks import settle_task
from stakes.tallies import ScoreTable, bins
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import is_one_of
from stakes.tallies.columns import Columns
from stakes.tallies.grid import Grid
from stakes.tallies.key_buffer import KeyBuffer
from stakes.tallies.parallel import ahead

MOST_EXACT = 20_000_000
"""Of more rows than this the scores are binned, unless exact=True."""

BATCH = 1 << 20
"""Rows that are read at a time."""

_MANY = 1 << 22
"""Where bins are asked for, files of more rows are counted as they go by; fewer take less memory at once."""


def count_files(data: Any, options: Mapping[str, Any], exact: bool | None) -> Counted | None:
    """Count files of many rows; None when they are to be read whole.

    ``options`` are the arguments of :func:`stakes.engines.reading.read_rows`.
    """
    named = name_columns(data, options)
    if not is_one_of(options.get("missing", "error"), ("error", "drop")):
        return None  # which is refused there
    if named is None or read_once(data):
        return None
    if exact and any(name == "weight" or name.startswith("by") for name in named):
        return None
    files = Files.open(data, named, options.get("where"))
    if not files.have_more_rows_than(_MANY if exact is False else MOST_EXACT):
        return None
    with files.relation() as table:
        if table is not None:
            return count_inside(table, options, exact)
    if _asks_for_numbers(files, options):
        return None
    warn_of_same_column(named)
    keep_scores = bool(exact and "score" in named)
    quick = files.with_types()
    try:
        try:
            return _count(quick, options, keep_scores)
        except errors.InputError:
            if quick is files:
                raise
            return _count(files, options, keep_scores)  # takes longer, and says in which line something is wrong
    except errors.GapError as problem:
        raise files.gap() or problem from None


def _asks_for_numbers(files: Files, options: Mapping[str, Any]) -> bool:
    """Whether the first rows are predicted numbers rather than classes."""
    of_classes = any(options.get(name) is not None for name in ("score", "positive", "classes"))
    if of_classes or options.get("task", "auto") != "auto":
        return False
    first = next((found for found in files.batches(BATCH) if len(found["truth"])), None)
    if first is None:
        return False
    judged = {name: first[name] for name in ("truth", "prediction")}
    try:
        columns = rows_that_count(judged, None, options.get("missing", "error")).columns
    except errors.InputError:
        return False  # said again, and better, when all rows are counted
    whole = all(zeros_and_ones(column) is not None for column in columns.values())
    return settle_task("auto", columns, whole, False) == "regression"


def _count(files: Files, options: Mapping[str, Any], keep_scores: bool) -> Counted | None:
    threshold = options.get("threshold")
    counting = KeptScores(files.likely_rows, threshold) if keep_scores else BinnedScores(threshold)
    dropped, read, lost, some = 0, 0, 0.0, False
    for batch in ahead(_batches(files, options.get("missing", "error"))):
        dropped, read, lost = dropped + batch.dropped, read + batch.length, lost + batch.dropped_weight
        if batch.labels:
            some = True
            if not counting.add(batch):
                return None
    if not some:
        raise files.nothing_there()
    counted = counting.counted(options)
    return None if counted is None else replace(counted, dropped=dropped, read=read, dropped_weight=lost)


def _batches(files: Files, missing: str) -> Iterator["Batch"]:
    """Read and check the rows batch by batch; one without rows that count has no labels."""
    rows = 0
    for found in files.batches(BATCH):
        first, rows = rows, rows + len(found["truth"])
        try:
            yield Batch.read(found, missing)
        except errors.EmptyError as nothing:
            yield Batch({}, {}, None, None, nothing.dropped, nothing.dropped)
        except errors.InputError as problem:
            if files.condition is None:
                raise problem.located(partial(_place, files, first)) from None
            raise problem.within(f"rows {first + 1:,} to {rows:,}, counted by themselves") from None


def _place(files: Files, first: int, row: int) -> str:
    return files.place_of(first + row)


# ── a batch ──────────────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows as codes and numbers."""

    labels: Mapping[str, Labels]
    kinds: Mapping[str, str]
    scores: Array | None
    weight: Array | None
    dropped: int
    length: int
    dropped_weight: float = 0

    @classmethod
    def read(cls, found: Mapping[str, Any], missing: str) -> "Batch":
        """Read and check the columns of some rows; those without weight are left out."""
        rows = rows_that_count(found, None, missing)
        labels = {name: column for name, column in rows.columns.items() if name != "score"}
        return cls(
            {name: encode(column) for name, column in labels.items()},
            {name: column.kind for name, column in labels.items()},
            as_finite(rows.columns["score"]) if "score" in rows.columns else None,
            rows.weight,
            rows.dropped,
            rows.dropped + len(rows.columns["truth"]),
            rows.dropped_weight,
        )


# ── what is kept of the batches ──────────────────────────────────────────────────────────────────────────────────
class Counting:
    """Groups of rows alike, and beside them whatever is kept of their scores.

    With a ``threshold`` its decisions are counted too: within a bin they could not be told later.
    """

    def __init__(self, threshold: float | None) -> None:
        self._threshold = threshold
        self._cells = Cells()
        self._sums = CellSums()
        self._kinds: Mapping[str, str] = {}

    def add(self, batch: Batch) -> bool:
        """Count a batch; False when its scores cannot be kept."""
        for name, kind in batch.kinds.items():
            if self._kinds.get(name, kind) != kind:
                raise errors.kind_changes(name, self._kinds[name], kind)
        self._kinds = batch.kinds
        labels = list(batch.labels.values())
        if self._threshold is not None and batch.scores is not None:
            labels.append(Labels((batch.scores.astype(np.float64) >= self._threshold).view(np.uint8), _DECIDED))
        found = self._cells.of(labels)
        self._sums.add(found, batch.weight)
        return batch.scores is None or self._keep(batch, found)

    def counted(self, options: Mapping[str, Any]) -> Counted | None:
        """Count the groups; None when they turn out to be numbers instead of classes."""
        columns = with_segments_together(self._labels())
        if options.get("score") is not None:
            columns["score"] = np.full(len(self._cells.names), 0.5)  # any score: so that the question is understood
        read = read_rows(**{**options, "weight": None, "where": None, "missing": "error", **columns})
        if read.plan is None:
            return None
        if self._threshold is None or read.rows.scores is None:
            return self._counted(read)
        above = np.array([names[-1] == _DECIDED[1] for names in self._cells.names], np.int64)
        counted = self._counted(replace(read, rows=replace(read.rows, prediction=above)))
        return replace(counted, decided_by="threshold", threshold=self._threshold)

    def _labels(self) -> dict[str, Any]:
        """The labels of the cells as they were in the rows: numbers as numbers."""
        columns = zip(
            self._kinds.items(), zip(*self._cells.names, strict=True), strict=False
        )  # but not what is decided
        return {name: list(map(_VALUES[kind], texts)) for (name, kind), texts in columns}

    def _keep(self, batch: Batch, found: Found) -> bool:
        """Keep the scores of a batch."""
        raise NotImplementedError

    def _counted(self, read: Read) -> Counted:
        """Count the cells, which were read as if they were rows."""
        sizes, squares = self._sums.weights
        grouped = Grouped(read.rows, self._sums.sizes if sizes is None else sizes, squares)
        return count_groups(read.plan, grouped, read.by)  # type: ignore[arg-type]


_VALUES: dict[str, Any] = {"number": int, "boolean": "true".__eq__, "text": str}
_DECIDED = ("below", "above")


class BinnedScores(Counting):
    """Groups of rows alike, with their scores in bins."""

    def __init__(self, threshold: float | None) -> None:
        super().__init__(threshold)
        self._bins = BinnedCounts()

    def _keep(self, batch: Batch, found: Found) -> bool:
        self._bins.add(batch.scores, found.of_rows, batch.weight)  # type: ignore[arg-type]
        return True

    def _counted(self, read: Read) -> Counted:
        counted = super()._counted(read)
        if read.rows.scores is None:
            return counted
        found, by = self._bins.result(), read.by or Labels(np.zeros(0), ())
        whole = _score_table(read, found, np.arange(len(read.rows.truth)))
        _warn_of_few_outside(whole)
        segments = {
            name: _with_scores(counted.segments[name], _score_table(read, found, np.flatnonzero(by.codes == i)))
            for i, name in enumerate(by.names)
        }
        return replace(_with_scores(counted, whole), segments=segments)


def _score_table(read: Read, found: Binned, cells: Array) -> ScoreTable:
    """The binned scores of some cells; what was found lies in the order of cells."""
    plan: Any = read.plan
    starts, ends = (np.searchsorted(found.cells, cells, side) for side in ("left", "right"))
    places: Any = slice(None)
    if len(cells) < len(read.rows.truth):
        places = np.concatenate([np.arange(start, end) for start, end in zip(starts, ends, strict=True)])
    positive = (read.rows.truth == plan.classes.index(plan.positive))[found.cells[places]]
    values = {}
    weights: Any = {"": found.sizes} if found.sums is None else {"": found.sums, "_squared": found.squares}
    for suffix, column in weights.items():
        values[f"positives{suffix}"] = np.where(positive, column[places], 0)
        values[f"negatives{suffix}"] = np.where(positive, 0, column[places])
    return ScoreTable(plan.positive, plan.negative, Columns.added(found.edges[places], values), Grid(found.grid))


def _with_scores(counted: Counted, scores: ScoreTable) -> Counted:
    return replace(counted, tallies={**counted.tallies, "scores": scores})


class KeptScores(Counting):
    """Groups of rows alike, and every score with its truth."""

    def __init__(self, rows: int, threshold: float | None) -> None:
        super().__init__(threshold)
        self._keys = KeyBuffer(rows)
        self._truths = Cells()

    def _keep(self, batch: Batch, found: Found) -> bool:
        truths = self._truths.of([batch.labels["truth"]]).of_rows
        if len(self._truths.names) > 2:
            return True  # one score for more than two classes: said at the end
        return self._keys.add(batch.scores, truths)  # type: ignore[arg-type]

    def _counted(self, read: Read) -> Counted:
        plan: Any = read.plan
        counted = super()._counted(read)
        keys = self._keys.sorted(swapped=self._truths.names[0] == (plan.positive,))
        scores = ScoreTable(plan.positive, plan.negative, keys)
        _warn_of_few_outside(scores)
        return _with_scores(counted, scores)


def _warn_of_few_outside(table: ScoreTable) -> None:
    """Warn as :func:`stakes.engines.warn_of_few_outside` does, of scores that are counted already."""
    if table.probabilities:
        return
    (low, high), total = table.range, table.total
    below = total - sum(table.at(0.0).counts[:, 1])
    above = sum(table.at(math.nextafter(1.0, 2.0) if table.grid is None else bins.next_edge(1.0, "line")).counts[:, 1])
    if below + above <= FEW_OUTSIDE * total:
        errors.warn(
            "few-outside", errors.few_outside(round(below + above), round(total), None, low if low < 0 else high)
        )
