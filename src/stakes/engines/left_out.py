"""Counts dropped rows by segment, for rows in files or another engine."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from stakes.engines.columns import Data, Values, to_column
from stakes.engines.files.reading import Files
from stakes.engines.kinds import columns_named, kind_of
from stakes.engines.lazy.counting import name_columns, number_columns
from stakes.engines.lazy.queries import QuerySource
from stakes.engines.missing import complete
from stakes.engines.plan import Counted
from stakes.engines.reading import RowQuestion
from stakes.engines.segments import segment_labels, spread_by
from stakes.engines.streaming import BATCH
from stakes.engines.tables import is_lazy
from stakes.frozen import replace
from stakes.tallies.arithmetic import Array


def with_losses_of_segments(data: Data, asked: RowQuestion, counted: Counted) -> Counted:
    """Count the rows of segments before and after rows were dropped; a row without a segment is in none."""
    by = spread_by(asked.by, data)
    if asked.label_separator is not None:  # a row may have no label
        return counted
    kind = kind_of(asked)
    named = columns_named(data, asked, kind) if kind else number_columns(data, asked) or name_columns(data, asked)
    if named is None:
        return counted
    read = rows_of_segments(data, by, complete(asked.where, [*by.values()]))
    whole = complete(asked.where, [*named.values()])
    if asked.weight is not None:
        whole = f'{whole} AND "{asked.weight.replace(chr(34), 2 * chr(34))}" <> 0'
    kept = rows_of_segments(data, by, whole)
    return replace(counted, dropped_in={name: (rows - kept[name], rows) for name, rows in read.items()})


def rows_of_segments(data: Data, by: Mapping[str, str], where: str) -> Counter[str]:
    """The number of rows of each segment that satisfy a condition."""
    totals: Counter[str] = Counter()
    if is_lazy(data):
        groups = QuerySource.of(data, by, where).groups([*by])
        assert groups is not None
        _add(totals, groups.columns, groups.sizes)
        return totals
    files = Files.open(data, dict(by), where)
    with files.relation() as table:
        if table is not None:
            return rows_of_segments(table, by, where)
    for batch in files.batches(BATCH):
        _add(totals, batch)
    return totals


def _add(totals: Counter[str], columns: Mapping[str, Values], sizes: Array | None = None) -> None:
    """Count rows, or groups of these sizes, by segment."""
    labels = segment_labels({name: to_column(values, name) for name, values in columns.items()})
    assert labels is not None
    rows = np.bincount(labels.codes, sizes, len(labels.names)).astype(np.int64)
    totals.update(dict(zip(labels.names, rows.tolist(), strict=True)))
