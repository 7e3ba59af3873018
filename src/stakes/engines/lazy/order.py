"""The order of scores in another engine: it sorts ranges of scores, and returns the sums of each range.

The bins of the scores are already known, so they give ranges of about equally many rows, and the number of rows above
each. The engine sorts every range by itself, on any of its machines, and counts within it.
"""

from collections.abc import Sequence
from functools import reduce
from operator import add

import narwhals as nw
import numpy as np

from stakes.engines.lazy.queries import QuerySource, collect, whether
from stakes.engines.lazy.spark_text import choose
from stakes.tallies.arithmetic import Array
from stakes.tallies.order import Order
from stakes.tallies.scores import ScoreTable

_RANGES = 32
"""Number of ranges of scores."""

_EXACT = 1 << 62
"""Products of counts up to this are whole numbers in every engine."""


def sorts_inside(source: QuerySource) -> bool:
    """Whether the engine can sort: not Dask, which has no running counts in ranges, nor with weights."""
    return "weight" not in source.places and not source.frame.implementation.is_dask()


def order_inside(source: QuerySource, table: ScoreTable, positive: Sequence[object]) -> Order:
    """The sums over the order of all scores, whose bins are in a table; ``positive`` are the labels of positive rows.

    A score has ``p`` positives and ``n`` negatives; ``tp`` and ``fp`` rows score at least as high, and ``here_p`` and
    ``here_n`` of these lie in its own range.
    """
    cuts, sizes = _ranges(table)
    P, N = int(table.P), int(table.N)
    kind = nw.Int64 if P * N < _EXACT else nw.Float64
    score, p, n, tp, fp = map(nw.col, ("score", "p", "n", "tp", "fp"))
    mine = whether(nw.col(source.places["truth"]).is_in(positive)).alias("p")
    rows = source.frame.select(nw.col(source.places["score"]).cast(nw.Float64).alias("score"), mine)
    scored = rows.with_columns((1 - p).alias("n")).group_by("score").agg(_whole(p, "p"), _whole(n, "n"))
    scored = scored.with_columns(reduce(add, (whether(score >= cut) for cut in cuts[1:]), nw.lit(0)).alias("range"))
    running = ((of, nw.col(of).cum_sum(reverse=True).over("range", order_by="score")) for of in "pn")
    scored = scored.with_columns(*(so_far.cast(nw.Int64).alias(f"here_{of}") for of, so_far in running))
    above = [_above(score, cuts, own) for own in sizes]
    scored = scored.with_columns((nw.col("here_p") + above[0]).alias("tp"), (nw.col("here_n") + above[1]).alias("fp"))
    scored = scored.with_columns(
        (p * (n - 2 * nw.col("here_n"))).alias("wins"),
        choose(p > 0, p.cast(nw.Float64) * tp / (tp + fp), nw.lit(0.0)).alias("steps"),
        (tp.cast(kind) * N - fp.cast(kind) * P).alias("gap"),
    )
    sums = nw.col("steps").sum().alias("steps"), nw.col("gap").max().alias("gap")
    totals = collect(scored.group_by("range").agg(_whole(nw.col("wins"), "wins"), *sums)).rows(named=True)
    below = np.cumsum(sizes[1]).tolist()  # with the range itself: its rows that are not below were subtracted
    wins = sum(int(one["wins"]) + 2 * int(sizes[0][one["range"]]) * below[one["range"]] for one in totals)
    return Order(wins, sum(float(one["steps"]) for one in totals), int(max(0, *(one["gap"] for one in totals))))


def _ranges(table: ScoreTable) -> tuple[list[float], tuple[list[int], list[int]]]:
    """The starts of ranges of about equally many rows, from the lowest on, and their positives and negatives."""
    columns = table.as_columns()
    order = np.argsort(columns.scores)
    edges, *counts = (
        values[order] for values in (columns.scores, *(columns.values[of] for of in ("positives", "negatives")))
    )
    reached = np.cumsum(counts[0] + counts[1])
    places = np.searchsorted(reached, reached[-1] * np.arange(_RANGES) / _RANGES)
    starts: Array = np.unique(np.append(0, places))
    positives, negatives = (np.add.reduceat(own, starts).astype(int).tolist() for own in counts)
    return edges[starts].tolist(), (positives, negatives)


def _above(score: nw.Expr, cuts: Sequence[float], sizes: Sequence[int]) -> nw.Expr:
    """The number of rows in the ranges above that of a score."""
    return reduce(add, (whether(score < cut) * size for cut, size in zip(cuts[1:], sizes[1:], strict=True)), nw.lit(0))


def _whole(column: nw.Expr, name: str) -> nw.Expr:
    """A sum of whole numbers; some engines would return decimals."""
    return column.sum().cast(nw.Int64).alias(name)
