"""Reads groups of equal rows, counted elsewhere, like rows, so that labels follow one rule."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from stakes import errors
from stakes.engines.columns import Arguments
from stakes.engines.labels import Labels
from stakes.engines.lazy.queries import Groups
from stakes.engines.memory import Rows
from stakes.engines.plan import Counted, DecidedBy, Plan
from stakes.engines.reading import FEW_OUTSIDE, Read, RowQuestion, read_rows
from stakes.engines.segments import with_segments_together
from stakes.tallies import ScoreTable, bins
from stakes.tallies.arithmetic import Array

Count = Callable[[Plan, Rows, Labels | None], Counted | None]
"""Counts groups (read like rows) by segment."""


def read_as_rows(asked: RowQuestion, columns: Arguments) -> Read:
    """Read groups like rows; costs that differ by row are set to 0, since the groups know them."""
    given = {"weight": None, "cluster": None, "where": None, "missing": "error", "text_format": None}
    by_row = () if asked.pricing is None else asked.pricing.costs.columns
    costs = {name: np.zeros(len(columns["truth"])) for name in by_row}
    return read_rows(costs or None, replace(asked, **{**given, **with_segments_together(columns)}))


def count_as_rows(asked: RowQuestion, columns: Arguments, decided: Array | None, count: Count) -> Counted | None:
    """Read groups like rows and count them; None if they turn out to be numbers instead of classes.

    ``decided`` are the indices of decisions by a threshold or by the costs of each row, lost within bins.
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
    """Count groups from an engine; they have no row numbers that an error could name."""
    columns = dict(groups.columns)
    decided = columns.pop("decided").to_numpy() if "decided" in columns else None
    if asked.score is not None and "score" not in columns:
        columns["score"] = np.full(len(groups.sizes), 0.5)  # any score, so that the question is read as one of scores
    with errors.pointing(lambda problem: problem.unnumbered()):
        return count_as_rows(asked, columns, decided, count)


def warn_of_few_in(table: ScoreTable) -> None:
    """Warn like :func:`stakes.engines.reading.warn_of_few_outside`, for scores that are already counted."""
    if table.probabilities:
        return
    (low, high), total = table.range, table.total
    below = total - sum(table.at(0.0).counts[:, 1])
    above = sum(table.at(math.nextafter(1.0, 2.0) if table.grid is None else bins.next_edge(1.0, "line")).counts[:, 1])
    if below + above <= FEW_OUTSIDE * total:
        errors.warn(
            "few-outside", errors.few_outside(round(below + above), round(total), None, low if low < 0 else high)
        )
