"""Groups of rows alike, which were counted elsewhere, are read as if they were rows: there is one label rule."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from stakes import errors
from stakes.engines.columns import Arguments
from stakes.engines.labels import Labels
from stakes.engines.memory import Rows
from stakes.engines.plan import Counted, Plan
from stakes.engines.reading import FEW_OUTSIDE, RowQuestion, read_rows
from stakes.engines.segments import with_segments_together
from stakes.tallies import ScoreTable, bins
from stakes.tallies.arithmetic import Array


def count_as_rows(
    asked: RowQuestion,
    columns: Arguments,
    above: Array | None,
    count: Callable[[Plan, Rows, Labels | None], Counted | None],
) -> Counted | None:
    """Read groups as if they were rows, and count them; None when they turn out to be numbers instead of classes.

    ``above`` says which groups reach the threshold, where that is known of the rows: within a bin it could not be told
    later.
    """
    given = {"weight": None, "cluster": None, "where": None, "text_format": None, "missing": "error"}
    read = read_rows(None, replace(asked, **{**given, **with_segments_together(columns)}))
    if read.plan is None or above is None:
        return None if read.plan is None else count(read.plan, read.rows, read.by)
    counted = count(read.plan, replace(read.rows, prediction=above.astype(np.int64)), read.by)
    return None if counted is None else replace(counted, decided_by="threshold", threshold=asked.threshold)


def warn_of_few_in(table: ScoreTable) -> None:
    """Warn as :func:`stakes.engines.reading.warn_of_few_outside` does, of scores that are counted already."""
    if table.probabilities:
        return
    (low, high), total = table.range, table.total
    below = total - sum(table.at(0.0).counts[:, 1])
    above = sum(table.at(math.nextafter(1.0, 2.0) if table.grid is None else bins.next_edge(1.0, "line")).counts[:, 1])
    if below + above <= FEW_OUTSIDE * total:
        errors.warn(
            "few-outside", errors.few_outside(round(below + above), round(total), None, low if low < 0 else high)
        )
