"""Segments in another engine: which rows lie in each, as a test that is part of a query."""

import operator
from collections.abc import Callable, Mapping
from functools import reduce

import numpy as np

from stakes.engines.columns import Series, to_column
from stakes.engines.labels import Labels
from stakes.engines.segments import segment_labels
from stakes.tallies.error_terms import Term

AT_A_TIME = 64
"""Segments in a query: each is a test of every row, and engines do not take expressions of any depth."""


def labels_of(columns: Mapping[str, Series]) -> Labels | None:
    """The segments of groups of rows, by the columns that make segments; None without any."""
    return segment_labels({name: to_column(column, name) for name, column in columns.items()})


def segment_tests(
    columns: Mapping[str, Series], places: Mapping[str, str], column: Callable[[str], Term]
) -> dict[str, Term]:
    """Whether a row lies in a segment, for every segment among groups of rows, which have these columns."""
    labels = labels_of(columns)
    if labels is None:
        return {}
    _, rows = np.unique(labels.codes, return_index=True)
    values = {name: column.to_list() for name, column in columns.items()}
    return {
        name: reduce(operator.and_, (column(places[one]) == each[row] for one, each in values.items()))
        for name, row in zip(labels.names, rows.tolist(), strict=True)
    }
