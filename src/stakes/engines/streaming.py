"""Files of many rows are read in batches and counted as they go by, so that memory stays bounded.

Up to ``MOST_EXACT`` rows the named columns are read whole and every figure is exact. Of more rows only groups of rows
alike are kept, their scores in bins (``binning.py``), as when another engine counts them (``lazy.py``), and the bounds
of the auc are told. With ``exact=True`` every score is kept at 8 bytes a row instead.

Questions that need the rows themselves (errors of predicted numbers, scores of several classes, clusters, costs that
differ by row; exact scores with weights or segments) read the columns whole, whatever the number of rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stakes import errors
from stakes.engines.binning import BinnedCounts
from stakes.engines.cells import Cells, CellSums
from stakes.engines.columns import as_columns, as_finite, as_weights
from stakes.engines.files import Files
from stakes.engines.files.sources import STANDARD_INPUT
from stakes.engines.labels import Labels, encode
from stakes.engines.lazy import count_groups_of, count_inside, named_columns
from stakes.engines.missing import keep, present_rows
from stakes.engines.plan import Counted
from stakes.engines.queries import Groups
from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.key_buffer import KeyBuffer
from stakes.tallies.parallel import ahead

MOST_EXACT = 20_000_000
"""Of more rows than this the scores are binned, unless exact=True."""

BATCH = 1 << 20
"""Rows that are read at a time."""

_LABELS = ("truth", "prediction", "by")


def count_files(data: Any, options: Mapping[str, Any], exact: bool | None) -> Counted | None:
    """Count files of many rows; None when they are to be read whole.

    ``options`` are the arguments of :func:`stakes.engines.read_rows`.
    """
    named = named_columns(options)
    if named is None or (exact and {"weight", "by"} & set(named)) or STANDARD_INPUT in (data, *_listed(data)):
        return None
    files = Files.open(data, named, options.get("where"))
    if not files.have_more_rows_than(MOST_EXACT):
        return None
    with files.relation() as table:
        if table is not None:
            return count_inside(table, options, exact)
    keep_scores = bool(exact and "score" in named)
    quick = files.with_types()
    try:
        return _count(quick, options, keep_scores)
    except errors.InputError:
        if quick is files:
            raise
        return _count(files, options, keep_scores)  # takes longer, and says in which line something is wrong


def _listed(data: Any) -> Sequence[Any]:
    return data if isinstance(data, list | tuple) else ()


def _count(files: Files, options: Mapping[str, Any], keep_scores: bool) -> Counted | None:
    counting = KeptScores(files.likely_rows) if keep_scores else Counting()
    dropped, some = 0, False
    for batch in ahead(_batches(files, options.get("missing", "error"))):
        dropped += batch.dropped
        if batch.labels:
            some = True
            if not counting.add(batch):
                return None
    if not some:
        raise errors.empty("truth")
    counted = counting.counted(options)
    return None if counted is None else replace(counted, dropped=dropped)


def _batches(files: Files, missing: str) -> Iterator["Batch"]:
    """Read and check the rows batch by batch; one without rows that count has no labels."""
    rows = 0
    for found in files.batches(BATCH):
        first, rows = rows, rows + len(found["truth"])
        try:
            yield Batch.read(found, missing)
        except errors.EmptyError as nothing:
            yield Batch({}, {}, None, None, nothing.dropped)
        except errors.InputError as problem:
            raise errors.in_rows(first, rows - 1, problem) from None


# ── a batch ──────────────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows as codes and numbers."""

    labels: Mapping[str, Labels]
    kinds: Mapping[str, str]
    scores: Array | None
    weight: Array | None
    dropped: int

    @classmethod
    def read(cls, found: Mapping[str, Any], missing: str) -> "Batch":
        """Read and check the columns of some rows; those without weight are left out."""
        import polars as pl

        length = len(found["truth"])
        if missing == "drop" and length:
            present = present_rows(found, None)
            found = {name: keep(values, present) for name, values in found.items()}  # type: ignore[arg-type]
        columns = as_columns(found, {})
        dropped = length - len(columns["truth"])
        weight = as_weights(columns["weight"]) if "weight" in columns else None
        if weight is not None and not weight.all():
            columns = {name: column.keep(weight > 0) for name, column in columns.items()}
            weight = weight[weight > 0]
        labels = {name: columns[name] for name in _LABELS if name in columns}
        for name, column in labels.items():
            if found[name].dtype == pl.Categorical and any("\0" in text for text in column.names):
                raise errors.nul_bytes(name, 0)  # the second look says in which line
        return cls(
            {name: encode(column) for name, column in labels.items()},
            {name: column.kind for name, column in labels.items()},
            as_finite(columns["score"]) if "score" in columns else None,
            weight,
            dropped,
        )


# ── what is kept of the batches ──────────────────────────────────────────────────────────────────────────────────
class Counting:
    """Groups of rows alike; scores in bins."""

    def __init__(self) -> None:
        self._cells = Cells()
        self._sums = CellSums()
        self._bins: BinnedCounts | None = None
        self._kinds: Mapping[str, str] = {}

    def add(self, batch: Batch) -> bool:
        """Count a batch."""
        self._kinds = batch.kinds
        found = self._cells.of(list(batch.labels.values()))
        if batch.scores is None:
            self._sums.add(found, batch.weight)
        else:
            self._bins = self._bins or BinnedCounts()
            self._bins.add(batch.scores, found.of_rows, batch.weight)
        return True

    def counted(self, options: Mapping[str, Any]) -> Counted | None:
        """Count the groups; None when they turn out to be numbers instead of classes."""
        if self._bins is None:
            groups = Groups(self._labels(np.arange(len(self._cells.names))), self._sums.sizes, *self._sums.weights)
            return count_groups_of(groups, None, options)
        found = self._bins.result()
        columns = {**self._labels(found.cells), "score": found.edges}
        return count_groups_of(Groups(columns, found.sizes, found.sums, found.squares), found.grid, options)

    def _labels(self, cells: Array) -> dict[str, Any]:
        """The labels of some cells as they were in the rows: numbers as numbers."""
        import polars as pl

        columns = zip(self._kinds.items(), zip(*self._cells.names, strict=True), strict=True)
        return {name: pl.Series(map(_VALUES[kind], texts)).gather(cells) for (name, kind), texts in columns}


_VALUES: dict[str, Any] = {"number": int, "boolean": "true".__eq__, "text": str}


class KeptScores(Counting):
    """Groups of rows alike, and every score."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self._keys = KeyBuffer(rows)
        self._truths = Cells()

    def add(self, batch: Batch) -> bool:
        """Keep the scores; False when there is no room for such scores in keys."""
        truths = self._truths.of([batch.labels["truth"]]).of_rows
        super().add(replace(batch, scores=None))
        if len(self._truths.names) > 2:
            return True  # one score for more than two classes: said at the end
        return self._keys.add(batch.scores, truths)  # type: ignore[arg-type]

    def counted(self, options: Mapping[str, Any]) -> Counted | None:
        """Count the groups, of which each gets some score: those that count are in the keys."""
        cells = np.arange(len(self._cells.names))
        groups = Groups({**self._labels(cells), "score": np.full(len(cells), 0.5)}, self._sums.sizes)
        counted = count_groups_of(groups, None, options)
        if counted is None:
            return None
        pair = counted.scores.positive, counted.scores.negative
        scores = ScoreTable(*pair, self._keys.sorted(swapped=self._truths.names[0] == (pair[0],)))
        return replace(counted, tallies={**counted.tallies, "scores": scores})
