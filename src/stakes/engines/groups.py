"""Groups of rows alike, which were counted elsewhere, are read as if they were rows: there is one label rule."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from stakes import errors
from stakes.engines.columns import Arguments
from stakes.engines.labels import Labels
from stakes.engines.memory import Rows
from stakes.engines.plan import Counted, DecidedBy, Plan
from stakes.engines.queries import Groups
from stakes.engines.reading import FEW_OUTSIDE, Read, RowQuestion, read_rows
from stakes.engines.segments import with_segments_together
from stakes.tallies import ScoreTable, bins
from stakes.tallies.arithmetic import Array

Count = Callable[[Plan, Rows, Labels | None], Counted | None]
"""How groups are counted that were read as if they were rows, and lie in these segments."""


def read_as_rows(asked: RowQuestion, columns: Arguments) -> Read:
    """Read groups as if they were rows, with any costs that differ by row: those are known by groups."""
    given = {"weight": None, "cluster": None, "where": None, "missing": "error", "text_format": None}
    by_row = () if asked.pricing is None else asked.pricing.costs.columns
    costs = {name: np.zeros(len(columns["truth"])) for name in by_row}
    return read_rows(costs or None, replace(asked, **{**given, **with_segments_together(columns)}))


def count_as_rows(asked: RowQuestion, columns: Arguments, decided: Array | None, count: Count) -> Counted | None:
    """Read groups as if they were rows, and count them; None when they turn out to be numbers instead of classes.

    ``decided`` are their decisions (by place) where a threshold, or the costs of each row, took them: within a bin that
    could not be told later.
    """
    read = read_as_rows(asked, columns)
    if read.plan is None:
        return None
    rows = replace(read.rows, costs=None)
    if decided is None:
        return count(read.plan, rows, read.by)
    counted = count(read.plan, replace(rows, prediction=decided.astype(np.int64)), read.by)
    by: DecidedBy = "costs" if asked.threshold is None else "threshold"
    return None if counted is None else replace(counted, decided_by=by, threshold=asked.threshold)


def count_groups(asked: RowQuestion, groups: Groups, count: Count) -> Counted | None:
    """Count groups that an engine gave, in no order that rows had."""
    columns = dict(groups.columns)
    decided = columns.pop("decided").to_numpy() if "decided" in columns else None
    if asked.score is not None and "score" not in columns:
        columns["score"] = np.full(len(groups.sizes), 0.5)  # any score: so that the question is understood
    with errors.pointing(lambda problem: problem.unnumbered()):
        return count_as_rows(asked, columns, decided, count)


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
