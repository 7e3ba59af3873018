"""Figures of shuffled truths: drawn from the tally where its law is known, else row by row.

Two classes need no drawing: given its margins a table has one free cell, so every table can be looked at.
"""

import bisect
import math
import sys
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from stakes import errors
from stakes.metrics import Metric
from stakes.metrics.folds import Fold
from stakes.metrics.ranking import twice_wins
from stakes.tallies import Confusion, ErrorSums, JointCounts, ScoreTable, Tally
from stakes.tallies.arithmetic import Array
from stakes.tallies.columns import Columns
from stakes.tallies.error_sums import ErrorRows
from stakes.uncertainty.changes.numbers import moments_of

Again = Callable[[np.random.Generator], Tally]
"""Shuffles rows that were kept, and counts them."""

_CELLS = 1 << 21
"""Cells of tables drawn at a time."""

_COST_OF_A_DRAW = 10
"""Drawing a count takes about as long as shuffling this many rows."""

_FEW_AT_A_TIME = 100
"""Drawing a cell of fewer tables than this at a time does not pay."""

_MOST_ROWS = 10**9
"""NumPy draws no hypergeometric counts from more rows."""


_BLOCK = 1 << 16
_MOST_TABLES = 1 << 27
"""More tables than this, from some 10¹³ rows on, take minutes."""

_UNDERFLOW = 760.0
"""Tables e⁷⁶⁰ times rarer than the most likely one have a probability that no float holds."""


def draw(
    tally: Tally, metric: Metric, permutations: int, rng: np.random.Generator, again: Again | None
) -> tuple[Array, str]:
    """Return the figure of each shuffle, and how they were made."""
    if again is not None:
        weights = ", each with its weight" if tally.weighted else ""
        null = [metric.of(again(rng)) for _ in range(permutations)]
        return np.array(null, np.float64), f"{permutations:,} shuffles of the truth{weights}"
    if isinstance(tally, ErrorSums):
        return _errors(tally, metric, permutations, rng), f"{permutations:,} shuffles of the truth"
    if tally.total >= _MOST_ROWS:
        raise errors.too_many_rows_to_shuffle(int(tally.total))
    if isinstance(tally, Confusion):
        return _figures(metric, _tables(tally, permutations, rng)), f"{permutations:,} tables with the same margins"
    if isinstance(tally, JointCounts):
        return _figures(metric, _combinations(tally, permutations, rng)), f"{permutations:,} shuffles of the truth"
    if not isinstance(tally, ScoreTable):
        raise errors.wrong_tally(metric.name, metric.tally.kind, type(tally).__name__)
    if isinstance(metric.function, Fold) and metric.function.each is twice_wins:
        wins = _twice_wins(tally, permutations, rng)
        return metric.function.finish(wins, tally), f"{permutations:,} draws of the ranks of the positives"
    return _figures(metric, _score_tables(tally, permutations, rng)), f"{permutations:,} draws of the positives"


def _figures(metric: Metric, tallies: Iterator[Tally]) -> Array:
    return np.concatenate([np.atleast_1d(metric.of(tally)) for tally in tallies]).astype(np.float64)


def _parts(permutations: int, cells: int) -> Iterator[int]:
    """Cut the permutations into parts that fit into memory."""
    most = max(1, _CELLS // cells)
    for start in range(0, permutations, most):
        yield min(most, permutations - start)


# ── decisions ────────────────────────────────────────────────────────────────────────────────────────────────────
def _tables(table: Confusion, permutations: int, rng: np.random.Generator) -> Iterator[Confusion]:
    """Draw tables with the same margins, whichever way is cheaper."""
    truths, decisions = (table.counts.sum(axis).astype(np.int64) for axis in (-1, -2))
    size, rows = table.counts.size, int(truths.sum())
    by_cells = _COST_OF_A_DRAW * size <= rows and _FEW_AT_A_TIME * size <= _CELLS
    cells = size if by_cells else size + rows
    drawn = random_tables if by_cells else shuffled_tables
    for size in _parts(permutations, cells):
        yield table.with_counts(drawn(truths, decisions, size, rng))


def random_tables(truths: Array, decisions: Array, size: int, rng: np.random.Generator) -> Array:
    """Draw tables with these margins, cell by cell: each is hypergeometric given those before it."""
    tables = np.zeros((len(truths), len(decisions), size), np.int64)
    left = np.repeat(decisions[:, None], size, axis=1)
    for row, total in zip(tables[:-1], truths, strict=False):
        wanted, others = np.full(size, total), left.sum(0)
        for cell, available in zip(row[:-1], left, strict=False):
            others -= available
            cell[:] = rng.hypergeometric(available, others, wanted)
            wanted -= cell
        row[-1] = wanted
        left -= row
    tables[-1] = left
    return np.moveaxis(tables, -1, 0)


def shuffled_tables(truths: Array, decisions: Array, size: int, rng: np.random.Generator) -> Array:
    """Shuffle the decisions of single rows and count: cheaper for many classes and few rows."""
    shape = (size, len(truths), len(decisions))
    cells = np.repeat(np.arange(len(truths)) * len(decisions), truths)
    decided = np.tile(np.repeat(np.arange(len(decisions)), decisions), (size, 1))
    cells = cells + rng.permuted(decided, axis=1, out=decided)
    cells += np.arange(size)[:, None] * (shape[1] * shape[2])
    return np.bincount(cells.ravel(), minlength=size * shape[1] * shape[2]).reshape(shape)


def _combinations(joint: JointCounts, permutations: int, rng: np.random.Generator) -> Iterator[JointCounts]:
    truth, decision = (np.repeat(joint.codes[:, column], joint.counts) for column in (0, 1))
    for _ in range(permutations):
        yield JointCounts.from_rows(joint.columns, joint.labels, (truth, rng.permutation(decision)))


# ── scores ───────────────────────────────────────────────────────────────────────────────────────────────────────
def _twice_wins(table: ScoreTable, permutations: int, rng: np.random.Generator) -> Array:
    """Draw twice the pairs that positives win: ranks stay, and shuffling draws which of them are the positives'."""
    rows = _rows_at_scores(table)
    twice_ranks = 2 * (rows[::-1].cumsum()[::-1] - rows) + rows + 1  # the middle rank of those that tie
    P = int(table.P)
    if _few_scores(table, rows):
        drawn = (found @ twice_ranks for found in _positives(table, permutations, rng))
        return np.concatenate(list(drawn)) - P * (P + 1)
    of_rows = np.repeat(twice_ranks, rows)
    fewer = min(P, int(table.N))  # drawing the smaller class costs less
    sums = np.array([of_rows[_drawn(len(of_rows), fewer, rng)].sum() for _ in range(permutations)])
    return (sums if fewer == P else of_rows.sum() - sums) - P * (P + 1)


def _score_tables(table: ScoreTable, permutations: int, rng: np.random.Generator) -> Iterator[ScoreTable]:
    scores, rows = table.as_columns().scores, _rows_at_scores(table)
    for found in _positives(table, permutations, rng):
        values = {"positives": found, "negatives": rows - found}
        yield ScoreTable(table.positive, table.negative, Columns(scores, values), table.grid)


def _positives(table: ScoreTable, permutations: int, rng: np.random.Generator) -> Iterator[Array]:
    """Draw how many positives lie at each score, one row for each shuffle."""
    rows, P = _rows_at_scores(table), int(table.P)
    if _few_scores(table, rows):
        for size in _parts(permutations, len(rows)):
            yield rng.multivariate_hypergeometric(rows, P, size, method="marginals")
        return
    places = np.repeat(np.arange(len(rows)), rows)
    fewer = min(P, int(table.N))
    for size in _parts(permutations, len(rows)):
        drawn = [np.bincount(places[_drawn(len(places), fewer, rng)], minlength=len(rows)) for _ in range(size)]
        yield np.array(drawn) if fewer == P else rows - np.array(drawn)


def _rows_at_scores(table: ScoreTable) -> Array:
    values = table.as_columns().values
    return np.asarray(values["positives"] + values["negatives"], np.int64)


def _few_scores(table: ScoreTable, rows: Array) -> bool:
    return bool(_COST_OF_A_DRAW * len(rows) <= table.total)


def _drawn(rows: int, size: int, rng: np.random.Generator) -> Array:
    return rng.choice(rows, size, replace=False, shuffle=False)


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────
def _errors(sums: ErrorSums, metric: Metric, permutations: int, rng: np.random.Generator) -> Array:
    rows = sums.rows
    if rows is None:
        raise errors.rows_not_kept(metric.text)
    if set(metric.parts) <= {"prediction", "baseline"} and not metric.no_interval:  # figures of sums
        return _figures(metric, _shuffled_sums(sums, rows, permutations, rng))
    baseline = sums.baseline if sums.baseline_given else None
    shuffles = (rng.permutation(rows.prediction) for _ in range(permutations))
    sums_of = partial(ErrorSums.from_rows, rows.truth, weight=rows.weight, baseline=baseline, parts=metric.parts)
    return _figures(metric, (sums_of(moved) for moved in shuffles))


def _shuffled_sums(
    sums: ErrorSums, rows: ErrorRows, permutations: int, rng: np.random.Generator
) -> Iterator[ErrorSums]:
    """Shuffle the predictions many times at once, and add up what figures of sums need."""
    weight = np.ones(len(rows.truth)) if rows.weight is None else rows.weight
    truth, prediction = rows.truth.astype(np.float64), rows.prediction.astype(np.float64)
    centre = np.average(truth, weights=weight)

    def total(column: Array) -> Array:
        return column @ weight

    constant = None
    if sums.baseline is not None:
        constant = ErrorSums(moments_of(truth - centre, truth - sums.baseline, total), math.nan, weighted=True)
    for size in _parts(permutations, 8 * len(truth)):
        moved = rng.permuted(np.broadcast_to(prediction, (size, len(truth))), axis=1)
        moments = moments_of(truth - centre, truth - moved, total)
        yield ErrorSums(moments, math.nan, weighted=True, baseline=sums.baseline, constant=constant)


# ── two classes, every table ─────────────────────────────────────────────────────────────────────────────────────
def probability(table: Confusion, as_good: Callable[[Confusion], Array]) -> tuple[float, bool]:
    """Return how probable the tables are that are as good, when the truth is shuffled.

    And whether those are the tables with at least as many positives found: then it is Fisher's exact test.
    """
    tp, P, PP, n = (int(count) for count in (table.tp, table.P, table.PP, table.total))
    good = total = 0.0
    fisher = True
    for found, likelihood in _possible_tables(P, PP, n):
        shuffled = Confusion.two_class(
            tp=found,
            fn=P - found,
            fp=PP - found,
            tn=n - P - PP + found,
            positive=str(table.positive),
            negative=next(name for name in table.truths if name != table.positive),
        )
        chosen = as_good(shuffled)
        good += float(likelihood[chosen].sum())
        total += float(likelihood.sum())
        fisher = fisher and bool((chosen == (found >= tp)).all())
    return max(good / total, sys.float_info.min), fisher


def _possible_tables(P: int, PP: int, n: int) -> Iterator[tuple[Array, Array]]:
    """Yield the possible numbers of positives found, block by block, and their likelihoods up to a factor.

    Each likelihood comes from the one before it, which keeps its digits where differences of factorials lose them.
    """
    log = _log_likelihood(P, PP, n)
    low, high = _window(log, P, PP, n)
    if high - low >= _MOST_TABLES:
        raise errors.too_many_rows_to_shuffle(n)
    level = log(low)
    for start in range(low, high + 1, _BLOCK):
        found = np.arange(start, min(start + _BLOCK, high + 1))
        later = found[1:] if start == low else found
        t = later.astype(np.float64)
        steps = np.log((P - t + 1) * (PP - t + 1) / (t * (n - P - PP + t)))
        if start == low:
            steps = np.append(0.0, steps)
        logs = level + np.cumsum(steps)
        level = float(logs[-1])
        yield found, np.exp(logs)


def _log_likelihood(P: int, PP: int, n: int) -> Callable[[int], float]:
    """The logarithm of the likelihood of a number of positives found, 0 for the most likely one."""

    def ways(t: int) -> float:
        return -sum(math.lgamma(cell + 1) for cell in (t, P - t, PP - t, n - P - PP + t))

    most = ways((P + 1) * (PP + 1) // (n + 2))
    return lambda t: ways(t) - most


def _window(log: Callable[[int], float], P: int, PP: int, n: int) -> tuple[int, int]:
    """The fewest and the most positives found that have a probability to speak of."""
    least, most, mode = max(0, P + PP - n), min(P, PP), (P + 1) * (PP + 1) // (n + 2)
    low = bisect.bisect_left(range(least, mode), True, key=lambda t: log(t) > -_UNDERFLOW)
    high = bisect.bisect_left(range(mode, most), True, key=lambda t: log(t + 1) <= -_UNDERFLOW)
    return least + low, mode + high
