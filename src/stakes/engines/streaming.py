"""Files of many rows are read in batches and counted as they go by, so that memory stays bounded.

Up to ``MOST_EXACT`` rows the named columns are read whole and every figure is exact. Of more rows, or where bins are
asked for, only groups of rows alike are kept, their scores in bins (``binning.py``), as when another engine counts them
(``lazy.py``), and the bounds of the auc are told. With ``exact=True`` every score is kept at 8 bytes a row instead.

Questions that need the rows themselves (errors of predicted numbers, scores of several classes, clusters, costs that
differ by row; exact scores with weights or segments) read the columns whole, whatever the number of rows.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from stakes import errors
from stakes.engines.binning import BinnedCounts
from stakes.engines.cells import Cells, CellSums, Found
from stakes.engines.columns import Arguments, Values, as_finite, kind_in_words
from stakes.engines.files.reading import Files
from stakes.engines.files.sources import FileNames, read_once
from stakes.engines.groups import Grouped, count_as_rows, count_groups
from stakes.engines.labels import Labels, encode, zeros_and_ones
from stakes.engines.lazy import count_inside, name_columns
from stakes.engines.memory import Rows
from stakes.engines.plan import Counted, Plan
from stakes.engines.reading import FEW_OUTSIDE, RowQuestion
from stakes.engines.rows import Dropped, rows_that_count
from stakes.engines.tables import warn_of_same_column
from stakes.engines.tasks import settle_task
from stakes.errors import About, InputError
from stakes.tallies import ScoreTable, bins
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import is_one_of
from stakes.tallies.keys import KeyBuffer
from stakes.tallies.parallel import ahead

MOST_EXACT = 20_000_000
"""Of more rows than this the scores are binned, unless exact=True."""

BATCH = 1 << 20
"""Rows that are read at a time."""

_MANY = 1 << 22
"""Where bins are asked for, files of more rows are counted as they go by; fewer take less memory at once."""


def count_files(data: FileNames, asked: RowQuestion, exact: bool | None) -> Counted | None:
    """Count files of many rows; None when they are to be read whole."""
    named = name_columns(data, asked)
    if not is_one_of(asked.missing, ("error", "drop")):
        return None  # which is refused there
    if named is None or read_once(data):
        return None
    if exact and any(name == "weight" or name.startswith("by") for name in named):
        return None
    files = Files.open(data, named, asked.where)
    if not files.have_more_rows_than(_MANY if exact is False else MOST_EXACT):
        return None
    with files.relation() as table:
        if table is not None:
            return count_inside(table, asked, exact)
    if _asks_for_numbers(files, asked):
        return None
    warn_of_same_column(named)
    keep_scores = bool(exact and "score" in named)
    quick = files.with_types()
    try:
        try:
            return _count(quick, asked, keep_scores)
        except errors.InputError:
            if quick is files:
                raise
            return _count(files, asked, keep_scores)  # takes longer, and says in which line something is wrong
    except errors.GapError as problem:
        raise files.gap() or problem from None


def _asks_for_numbers(files: Files, asked: RowQuestion) -> bool:
    """Whether the first rows are predicted numbers rather than classes."""
    if asked.of_classes or asked.task != "auto":
        return False
    first = next((found for found in files.batches(BATCH) if len(found["truth"])), None)
    if first is None:
        return False
    judged = {name: first[name] for name in ("truth", "prediction")}
    try:
        columns = rows_that_count(judged, None, asked.missing).columns
    except errors.InputError:
        return False  # said again, and better, when all rows are counted
    whole = all(zeros_and_ones(column) is not None for column in columns.values())
    return settle_task("auto", columns, whole, False) == "regression"


def _count(files: Files, asked: RowQuestion, keep_scores: bool) -> Counted | None:
    counting = KeptScores(files.likely_rows, asked.threshold) if keep_scores else BinnedScores(asked.threshold)
    dropped, read, lost, some = 0, 0, 0.0, False
    for batch in ahead(_batches(files, asked.missing)):
        dropped, read, lost = dropped + batch.dropped.rows, read + batch.length, lost + batch.dropped.weight
        if batch.labels:
            some = True
            if not counting.add(batch):
                return None
    if not some:
        raise files.nothing_there()
    counted = counting.count(asked)
    return None if counted is None else replace(counted, dropped=dropped, read=read, dropped_weight=lost)


def _batches(files: Files, missing: str) -> Iterator["Batch"]:
    """Read and check the rows batch by batch; one without rows that count has no labels."""
    rows = 0
    for found in files.batches(BATCH):
        first, rows = rows, rows + len(found["truth"])
        try:
            yield Batch.read(found, missing)
        except errors.EmptyError as nothing:
            yield Batch({}, {}, None, None, Dropped(nothing.dropped), nothing.dropped)
        except errors.InputError as problem:
            raise problem.located(partial(_place, files, first)) from None


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
    dropped: Dropped
    length: int

    @classmethod
    def read(cls, found: Arguments, missing: str) -> "Batch":
        """Read and check the columns of some rows; those without weight are left out."""
        rows = rows_that_count(found, None, missing)
        labels = {name: column for name, column in rows.columns.items() if name != "score"}
        return cls(
            {name: encode(column) for name, column in labels.items()},
            {name: column.kind for name, column in labels.items()},
            as_finite(rows.columns["score"]) if "score" in rows.columns else None,
            rows.weight,
            rows.dropped,
            rows.dropped.rows + len(rows.columns["truth"]),
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
                before, here = kind_in_words(self._kinds[name]), kind_in_words(kind)
                raise InputError(
                    "kind-changes",
                    About(name),
                    f" holds {before} in the first rows and {here} in later ones; make it of one kind",
                )
        self._kinds = batch.kinds
        labels = list(batch.labels.values())
        if self._threshold is not None and batch.scores is not None:
            labels.append(Labels((batch.scores.astype(np.float64) >= self._threshold).view(np.uint8), _DECIDED))
        found = self._cells.of(labels)
        self._sums.add(found, batch.weight)
        return batch.scores is None or self._keep(batch, batch.scores, found)

    def count(self, asked: RowQuestion) -> Counted | None:
        """Count the groups; None when they turn out to be numbers instead of classes."""
        texts = zip(*self._cells.names, strict=True)  # the last of them may be what is decided
        labels = zip(self._kinds.items(), texts, strict=False)
        columns: dict[str, Values] = {name: list(map(_VALUES[kind], column)) for (name, kind), column in labels}
        above = None
        if asked.score is not None:
            columns["score"] = np.full(len(self._cells.names), 0.5)  # any score: so that the question is understood
            if self._threshold is not None:
                above = np.array([names[-1] == _DECIDED[1] for names in self._cells.names])
        return count_as_rows(asked, columns, above, self._count_cells)

    def _keep(self, batch: Batch, scores: Array, found: Found) -> bool:
        """Keep the scores of a batch."""
        raise NotImplementedError

    def _count_cells(self, plan: Plan, rows: Rows, by: Labels | None) -> Counted:
        """Count the cells, which were read as if they were rows."""
        return count_groups(plan, Grouped(rows, *self._sums.weights), by)


_VALUES: dict[str, Callable[[str], object]] = {"number": int, "boolean": "true".__eq__, "text": str}
_DECIDED = ("below", "above")


class BinnedScores(Counting):
    """Groups of rows alike, with their scores in bins."""

    def __init__(self, threshold: float | None) -> None:
        super().__init__(threshold)
        self._bins = BinnedCounts()

    def _keep(self, batch: Batch, scores: Array, found: Found) -> bool:
        self._bins.add(scores, found.of_rows, batch.weight)
        return True

    def _count_cells(self, plan: Plan, rows: Rows, by: Labels | None) -> Counted:
        if rows.scores is None:
            return super()._count_cells(plan, rows, by)
        found = self._bins.result()  # each bin of a cell is a group of its own
        rows = replace(rows.take(found.cells), scores=found.edges)
        by = None if by is None else replace(by, codes=by.codes[found.cells])
        counted = count_groups(plan, Grouped(rows, found.weights, found.squares, found.grid), by)
        _warn_of_few_outside(counted.scores)
        return counted


class KeptScores(Counting):
    """Groups of rows alike, and every score with its truth."""

    def __init__(self, rows: int, threshold: float | None) -> None:
        super().__init__(threshold)
        self._keys = KeyBuffer(rows)
        self._truths = Cells()

    def _keep(self, batch: Batch, scores: Array, found: Found) -> bool:
        truths = self._truths.of([batch.labels["truth"]]).of_rows
        if len(self._truths.names) > 2:
            return True  # one score for more than two classes: said at the end
        return self._keys.add(scores, truths)

    def _count_cells(self, plan: Plan, rows: Rows, by: Labels | None) -> Counted:
        keys = self._keys.sorted(swapped=self._truths.names[0] == (plan.positive,))
        scores = ScoreTable(str(plan.positive), plan.negative, keys)
        _warn_of_few_outside(scores)
        counted = super()._count_cells(plan, rows, by)
        return replace(counted, tallies={**counted.tallies, "scores": scores})


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
