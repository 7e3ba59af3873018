"""The fast path for the usual call of a metric: two plain arrays of numbers.

Everything else, and everything wrong, takes the general path (``counting.py``), which counts the same and explains
errors.
"""

import math
from collections.abc import Callable, Collection

import numpy as np

from stakes.engines import memory
from stakes.engines.columns import Column, Values
from stakes.engines.labels import zeros_and_ones
from stakes.engines.plan import Plan
from stakes.errors import InputError
from stakes.tallies import Confusion, ErrorSums, ScoreTable, Tally
from stakes.tallies.arithmetic import Array, weighted_sum
from stakes.tallies.steps import BLOCK

_PLAN = Plan(("0", "1"), ("0", "1"), "1")
_PLAN_OF_FLAGS = Plan(("false", "true"), ("false", "true"), "true")


def count_plain(
    wanted: type[Tally], truth: Values, output: Values, parts: Collection[str], weight: Values = None
) -> Tally | None:
    """Count two columns, perhaps with weights, as one kind of tally; None if they need the general path."""
    if not _plain_columns(truth, output, weight):
        return None
    try:
        if wanted is ErrorSums:
            numbers = truth.dtype.kind != "b" != output.dtype.kind
            return ErrorSums.on_demand(truth, output, parts, weight) if numbers else None  # it checks weights itself
        return None if not _ordinary(weight) else _of_classes(wanted, truth, output, parts, weight)
    except InputError:
        return None


def mean_of_plain(loss: Callable[[Array, Array], Array], truth: Values, score: Values, weight: Values) -> float | None:
    """The mean of a loss of probabilities, perhaps weighted, without sorting scores.

    None as above, and for few rows without weights: their result must not differ in the last bit.
    """
    few = weight is None and np.size(score) <= BLOCK
    if few or not _plain_columns(truth, score, weight) or score.dtype.kind != "f" or not _ordinary(weight):
        return None
    true = _codes(truth)
    if true is None or not (score.min() >= 0 and score.max() <= 1):
        return None
    blocks = [slice(start, start + BLOCK) for start in range(0, len(score), BLOCK)]
    own = [None if weight is None else weight[block] for block in blocks]
    lost = [weighted_sum(loss(true[block].view(bool), score[block]), w) for block, w in zip(blocks, own, strict=True)]
    found = math.fsum(lost) / (len(score) if weight is None else float(weight.sum()))
    return found if math.isfinite(found) else None


def _plain_columns(truth: Values, output: Values, weight: Values) -> bool:
    """Whether these are different arrays of numbers of equal length, with plain weights if any."""
    if type(truth) is not np.ndarray or type(output) is not np.ndarray or truth is output:
        return False
    if truth.ndim != 1 or truth.shape != output.shape or not truth.size or not _plain(truth) or not _plain(output):
        return False
    return weight is None or _plain_weight(weight, truth)


def _plain(values: Array) -> bool:
    return values.dtype.kind in "biuf" and values.dtype.isnative and values.itemsize <= 8


def _plain_weight(weight: Values, truth: Array) -> bool:
    """Whether these are weights clearly above 0."""
    if type(weight) is not np.ndarray or weight.shape != truth.shape or weight.dtype != np.float64:
        return False
    return weight is not truth and bool(weight.min() > 1e-100)  # False if one is NaN


def _ordinary(weight: Array | None) -> bool:
    return weight is None or bool(weight.max() < 1e100)


def _of_classes(
    wanted: type[Tally], truth: Array, output: Array, parts: Collection[str], weight: Array | None
) -> Tally | None:
    """Decisions or scores of two classes called 0 and 1, or false and true; None unless both occur."""
    flags = [column.dtype.kind == "b" for column in (truth, output)]
    plan = _PLAN_OF_FLAGS if flags[0] else _PLAN
    if wanted is ScoreTable and not flags[1]:
        true = _codes(truth)
        if true is None:
            return None
        positive, negative = str(plan.positive), plan.negative
        return ScoreTable.from_rows(output, true.view(bool), weight, positive=positive, negative=negative)
    if wanted is not Confusion or flags[0] != flags[1]:
        return None
    true, predicted = _codes(truth), _codes(output)
    if true is None or predicted is None:
        return None
    return memory.count_classes(plan, memory.Rows(true, predicted, weight=weight), None, parts).tallies[wanted.kind]


def _codes(values: Array) -> Array | None:
    if values.dtype.kind == "b":
        codes = np.ascontiguousarray(values).view(np.uint8)
        return codes if codes.any() and not codes.all() else None
    labels = zeros_and_ones(Column("", "number", values))
    return labels.codes if labels is not None and len(labels.names) == 2 else None
