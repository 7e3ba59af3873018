"""Finer bins inside the bins that leave most of the auc open, until the auc is as exact as ``auc_error`` asks.

The order of two rows of different classes in one bin is unknown. Few bins hold most such pairs; another pass over the
rows splits these, and if that is not fine enough (ties, or nearly equal scores) down to every single score.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from stakes.engines.plan import Counted
from stakes.errors import Given, InputError, Pass
from stakes.tallies import ScoreTable, bins
from stakes.tallies.arithmetic import Array, Number, run_starts
from stakes.tallies.keys import add_up, put_together
from stakes.tallies.order import Order

_FINEST = 52 - bins.FINE
"""With this many more bits every score has a bin of its own."""

LabelledScores = Iterable[tuple[Array, Array, Array]]
"""Batches of scores, masks of the positive rows, and how much each of them counts."""

_RANGES = 32
"""Number of ranges of scores that an engine is asked for at most."""


@dataclass(frozen=True, eq=False)
class HeavyBins:
    """Bins to split into ``2**more`` each: their places among the lower edges and the rows of all bins, in order."""

    grid: str
    edges: Array
    rows: Array
    places: Array
    more: int

    @property
    def bits(self) -> int:
        """Bits of the finer bins within a power of two."""
        return bins.FINE + self.more

    @property
    def ranges(self) -> list[tuple[float, float]]:
        """Few ranges of scores, without their ends, that hold these bins and as few other rows as possible."""
        so_far = np.cumsum(self.rows)
        between = (so_far - self.rows)[self.places[1:]] - so_far[self.places[:-1]]
        cuts = np.sort(np.argsort(-between, kind="stable")[: min(_RANGES - 1, np.count_nonzero(between))])
        ends = np.append(self.edges, math.inf)[1 + self.places[[*cuts, -1]]]
        return list(zip(self.edges[self.places[[0, *(cuts + 1)]]].tolist(), ends.tolist(), strict=True))


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
            f": bins leave the auc open by {_left_open(table):.2g}; count the rows again with ",
            Pass("exact", True),
        )


def count_finer(counted: Counted, error: float, rows: Callable[[HeavyBins], LabelledScores]) -> Counted:
    """Count the rows again inside heavy bins until the auc is exact enough; ``rows`` may leave out those elsewhere."""
    table = counted.scores
    if table is None or is_exact_enough(table, error):
        return counted
    return counted.with_tally(replace(table, order=_order(table, error, rows)))


def _order(table: ScoreTable, error: float, rows: Callable[[HeavyBins], LabelledScores]) -> Order:
    columns = table.as_columns()
    ascending = np.argsort(columns.scores)
    edges, positives, negatives = (
        values[ascending] for values in (columns.scores, columns.values["positives"], columns.values["negatives"])
    )
    within, most = positives.astype(float) * negatives, 2 * error * float(table.P) * float(table.N)
    by_size = np.argsort(-within)
    left = np.append(np.cumsum(within[by_size[::-1]])[-2::-1], 0.0)  # added up from the least on: 0 only of nothing
    places = np.sort(by_size[: int(np.searchsorted(-left, -most / 2)) + 1])
    usual = float(table.row_weight) ** 2  # what a pair of rows counts
    more = math.ceil(math.log2(max(within[places].sum(), usual) / max(most / 2, usual))) + 1
    heavy = HeavyBins(str(table.grids[0]), edges, positives + negatives, places, min(max(more, 4), _FINEST))
    wins, open_inside, memory = _count_inside(heavy, rows(heavy))
    light = np.ones(len(edges), bool)
    light[places] = False
    open_pairs = _product(positives[light], negatives[light])
    if open_pairs + open_inside > most and heavy.more < _FINEST:
        heavy = replace(heavy, more=_FINEST)
        wins, open_inside, memory = _count_inside(heavy, rows(heavy))
    below = np.cumsum(negatives) - negatives
    return Order(_product(positives, 2 * below) + open_pairs + wins, None, None, open_pairs + open_inside, memory)


def _product(one: Array, other: Array) -> Number:
    """The sum of products: of whole numbers, which may be very large, exactly."""
    if one.dtype.kind == "f":
        return float(np.dot(one, other))
    return int(np.dot(one.astype(object), other.astype(object)))


def _count_inside(heavy: HeavyBins, rows: LabelledScores) -> tuple[Number, Number, int]:
    """Split the heavy bins, and count the rows in them.

    Return twice the pairs that are won within bins, the pairs that are still open, and the memory used.
    """
    grid, more, edges = heavy.grid, heavy.more, heavy.edges[heavy.places]
    numbers, first = bins.numbers(edges, grid), bins.numbers(edges, grid, heavy.bits)
    parts: list[tuple[Array, ...]] = []
    memory = 0
    for scores, positive, amounts in rows:
        own = bins.numbers(scores, grid)
        place = np.minimum(np.searchsorted(numbers, own), len(numbers) - 1)
        here = np.flatnonzero(numbers[place] == own)
        place = place[here]
        inside = bins.numbers(scores[here], grid, heavy.bits) - first[place]
        keys = (((place << more) + inside) << 1) | positive[here]
        parts.append(add_up(keys, amounts[here]))
        memory = max(memory, sum(part.nbytes for both in parts for part in both))
        if sum(len(keys) for keys, _ in parts[1:]) > len(parts[0][0]):
            parts = [put_together(parts)]
    keys, amounts = put_together(parts)
    return *_fold(keys, amounts, more), memory


def _fold(keys: Array, amounts: Array, more: int) -> tuple[Number, Number]:
    """Twice the pairs that are won within bins (ties count once), and the pairs that are open."""
    mine = keys & 1
    starts = run_starts(keys >> 1)
    positives, negatives = (np.add.reduceat(amounts * own, starts) for own in (mine, 1 - mine))
    place = (keys >> 1)[starts] >> more
    before = np.cumsum(negatives) - negatives
    below = before - before[np.searchsorted(place, place)]
    wins = _product(positives, 2 * below + negatives)
    return wins, 0 if more == _FINEST else _product(positives, negatives)
