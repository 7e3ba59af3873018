"""Finer bins inside the bins that leave most of the auc open, until the auc is as exact as ``auc_error`` asks.

The order of two rows of different classes in one bin is unknown. Few bins hold most such pairs; another pass over the
rows splits these, and if that is not fine enough (ties, or nearly equal scores) down to every single score.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from stakes.engines.plan import Counted
from stakes.errors import Given, InputError, Pass
from stakes.tallies import ScoreTable, bins
from stakes.tallies.arithmetic import Array
from stakes.tallies.keys import add_up, put_together
from stakes.tallies.order import Order

_FINEST = 52 - bins.FINE
"""With this many more bits every score has a bin of its own."""

LabelledScores = Iterable[tuple[Array, Array]]
"""Batches of scores, and masks of the positive rows."""


def is_exact_enough(table: ScoreTable, error: float) -> bool:
    """Whether the auc of a table is exact up to this error."""
    return _left_open(table) <= error


def _left_open(table: ScoreTable) -> float:
    """Largest error of the auc of a table: pairs within a bin count half, and may be lost or won."""
    if table.grid is None or not table.P or not table.N:
        return 0.0
    columns = table.as_columns().values
    within = float(np.dot(columns["positives"].astype(float), columns["negatives"].astype(float)))
    left_open = within if table.order is None else table.order.open_pairs
    return left_open / (2 * float(table.P) * float(table.N))


def refuse_unless_kept(counted: Counted, error: float) -> None:
    """Refuse counts whose auc is not exact enough, if there are no rows to count again."""
    table = counted.scores
    if table is None:
        raise InputError("auc-error-of-what", Given("auc_error"), " is about scores of two classes; leave it out")
    if not is_exact_enough(table, error):
        raise InputError(
            "auc-error-of-bins",
            Given("auc_error", error),
            f": bins leave the auc open by {_left_open(table):.2g}; count the rows again, without weights or with ",
            Pass("exact", True),
        )


def count_finer(counted: Counted, error: float, rows: Callable[[], LabelledScores]) -> Counted:
    """Count the rows again inside heavy bins until the auc is exact enough."""
    table = counted.scores
    if table is None or table.weighted or is_exact_enough(table, error):
        return counted
    order = _order(table, error, rows)
    return replace(counted, tallies={**counted.tallies, "scores": replace(table, order=order)})


def _order(table: ScoreTable, error: float, rows: Callable[[], LabelledScores]) -> Order:
    columns = table.as_columns()
    ascending = np.argsort(columns.scores)
    edges, positives, negatives = (
        values[ascending] for values in (columns.scores, columns.values["positives"], columns.values["negatives"])
    )
    within, most = positives.astype(float) * negatives, 2 * error * float(table.P) * float(table.N)
    by_size = np.argsort(-within)
    left = within.sum() - np.cumsum(within[by_size])
    heavy = np.sort(by_size[: int(np.searchsorted(-left, -most / 2)) + 1])
    more = min(max(math.ceil(math.log2(max(within[heavy].sum(), 1.0) / max(most / 2, 1.0))) + 1, 4), _FINEST)
    wins, left, memory = _count_inside(str(table.grids[0]), edges[heavy], more, rows())
    light = np.ones(len(edges), bool)
    light[heavy] = False
    open_pairs = int(np.dot(positives[light].astype(object), negatives[light].astype(object)))
    if open_pairs + left > most and more < _FINEST:
        wins, left, memory = _count_inside(str(table.grids[0]), edges[heavy], _FINEST, rows())
    below = np.cumsum(negatives) - negatives
    between = int(np.dot(positives.astype(object), 2 * below.astype(object))) + open_pairs
    return Order(between + wins, None, None, open_pairs + left, memory)


def _count_inside(grid: str, edges: Array, more: int, rows: LabelledScores) -> tuple[int, int, int]:
    """Split the bins that begin at these edges into ``2**more`` bins each, and count the rows in them.

    Return twice the pairs that are won within bins, the pairs that are still open, and the memory used.
    """
    bits = bins.FINE + more
    numbers, first = bins.numbers(edges, grid), bins.numbers(edges, grid, bits)
    parts: list[tuple[Array, ...]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    memory = 0
    for scores, positive in rows:
        own = bins.numbers(scores, grid)
        place = np.minimum(np.searchsorted(numbers, own), len(numbers) - 1)
        here = np.flatnonzero(numbers[place] == own)
        place = place[here]
        inside = bins.numbers(scores[here], grid, bits) - first[place]
        keys = (((place << more) + inside) << 1) | positive[here]
        parts.append(add_up(keys, np.ones_like(keys)))
        memory = max(memory, sum(part.nbytes for both in parts for part in both))
        if sum(len(keys) for keys, _ in parts[1:]) > len(parts[0][0]):
            parts = [put_together(parts)]
    keys, counts = put_together(parts)
    return *_fold(keys, counts, more), memory


def _fold(keys: Array, counts: Array, more: int) -> tuple[int, int]:
    """Twice the pairs that are won within bins (ties count once), and the pairs that are open."""
    mine = keys & 1
    starts = np.flatnonzero(np.append(True, np.diff(keys >> 1) != 0))
    positives, negatives = (np.add.reduceat(counts * own, starts) for own in (mine, 1 - mine))
    place = (keys >> 1)[starts] >> more
    before = np.cumsum(negatives) - negatives
    below = before - before[np.searchsorted(place, place)]
    wins = int(np.dot(positives.astype(object), (2 * below + negatives).astype(object)))
    return wins, 0 if more == _FINEST else int(np.dot(positives.astype(object), negatives.astype(object)))
