"""The short way for the usual call of a metric: two plain arrays of numbers, about which nothing need be asked.

What is unusual, and whatever is wrong, goes the long way (``counting.py``), which counts the same and says why not.
"""

from collections.abc import Collection

import numpy as np

from stakes.engines import memory
from stakes.engines.columns import Column, Values
from stakes.engines.labels import zeros_and_ones
from stakes.engines.plan import Plan
from stakes.errors import InputError
from stakes.tallies import Confusion, ErrorSums, ScoreTable, Tally
from stakes.tallies.arithmetic import Array

_PLAN = Plan(("0", "1"), ("0", "1"), "1")


def count_plain(wanted: type[Tally], truth: Values, output: Values, parts: Collection[str]) -> Tally | None:
    """Count two columns as one kind of tally; None where they must be looked at more closely."""
    if type(truth) is not np.ndarray or type(output) is not np.ndarray or truth is output:
        return None
    if truth.ndim != 1 or truth.shape != output.shape or not truth.size or not _plain(truth) or not _plain(output):
        return None
    try:
        if wanted is ErrorSums:
            return ErrorSums.from_rows(truth, output, parts=parts, at_once=False)
        return _of_classes(wanted, truth, output, parts)
    except InputError:
        return None


def _plain(values: Array) -> bool:
    return values.dtype.kind in "iuf" and values.dtype.isnative and values.itemsize <= 8


def _of_classes(wanted: type[Tally], truth: Array, output: Array, parts: Collection[str]) -> Tally | None:
    """Decisions or scores of two classes called 0 and 1, where both occur."""
    if wanted is ScoreTable:
        true = _codes(truth)
        rows = None if true is None else memory.Rows(true, scores=output)
    elif wanted is Confusion:
        true, said = _codes(truth), _codes(output)
        rows = None if true is None or said is None else memory.Rows(true, said)
    else:
        return None
    return None if rows is None else memory.count_classes(_PLAN, rows, None, parts).tallies[wanted.kind]


def _codes(values: Array) -> Array | None:
    labels = zeros_and_ones(Column("", "number", values))
    return labels.codes if labels is not None and len(labels.names) == 2 else None
