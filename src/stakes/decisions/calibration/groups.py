"""Probabilities put together to their means: what a picture of calibration needs of very many rows."""

import functools
from collections.abc import Callable

import numpy as np

from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.parallel import run_all
from stakes.tallies.steps import Steps


def group_scores(table: ScoreTable, groups: int) -> ScoreTable:
    """Return a table of about so many scores: neighbours in the ranking, equally many rows each, share their mean.

    Weighted tables, which are small enough to be kept as columns, stay as they are.
    """
    if table.weighted:
        return table
    edges = np.arange(groups) * (float(table.total) / groups)
    parts = run_all([functools.partial(_pieces, block, edges) for block in table.blocks()], int(table.total))
    sums, positives, rows = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return ScoreTable.from_columns(
        sums / rows, positives, rows - positives, positive=table.positive, negative=table.negative
    )


def _pieces(block: Callable[[], Steps], edges: Array) -> list[Array]:
    """The sums of scores, the positives and the rows of the pieces into which the edges cut a block."""
    steps = block()
    before = steps.rows_before
    here = edges[slice(*np.searchsorted(edges, (before[0], before[-1]), side="right"))]
    starts = np.unique(np.append(0, np.searchsorted(before, here)))
    columns = (steps.scores * steps.rows, steps.positives, steps.rows)
    return [np.add.reduceat(column, starts) for column in columns]
