"""Null distributions of figures that need more counts than the tally itself."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from stakes.metrics import Metric
from stakes.tallies import ClassScores, Confusion, ScoreTable, Tally
from stakes.tallies.arithmetic import Array, run_starts
from stakes.tallies.columns import COUNTS, Columns
from stakes.uncertainty.permutation import (
    PARTS_OF_RANKING,
    at_middles,
    figures_of,
    in_parts,
    random_tables,
    rows_at_scores,
)

_EVEN_PARTS, _PARTS_OF_ENDS = 512, 32
"""The ranking of weighted rows is cut into this many parts of equal size, and finer towards its ends: parts per e-fold
of the rows that lie beyond."""

_MOST_CELLS_OF_SETS = 1 << 12
"""Up to this many cells of sets and classes are sampled one by one."""


# ── weighted rows ────────────────────────────────────────────────────────────────────────────────────────────────
def draw_weighted(
    tally: Confusion | ScoreTable,
    metric: Metric,
    strata: Mapping[float, Tally],
    permutations: int,
    rng: np.random.Generator,
) -> tuple[Array, str]:
    """Shuffle truths together with their weights.

    ``strata`` are the rows of each weight, counted as one each. Sampled is how many of each class and weight have each
    decision, or lie in each part of the ranking.
    """
    weights, middles = np.array(list(strata)), [at_middles(one) for one in strata.values()]
    sizes = np.array([[one.class_sizes()[name] for name in tally.class_sizes()] for one in middles], np.int64)
    whole: Any = type(tally).sum(middles)  # type: ignore[arg-type]
    ranked = None if isinstance(whole, Confusion) else _ranking_in_parts(whole)
    rows = whole.counts.sum(-2).astype(np.int64) if ranked is None else ranked[1]

    def weigh(counts: Array) -> Confusion | ScoreTable:
        sums = np.einsum("w,nwcr->ncr", weights, counts.reshape(-1, *sizes.shape, len(rows)))
        if isinstance(tally, Confusion):
            return tally.with_counts(sums)
        assert ranked is not None
        columns = Columns(ranked[0], dict(zip(COUNTS, sums.swapaxes(0, 1), strict=True)))
        return ScoreTable(tally.positive, tally.negative, columns)

    parts = in_parts(permutations, sizes.size * len(rows))
    shuffled = (weigh(random_tables(sizes.ravel(), rows, size, rng)) for size in parts)
    return figures_of(metric, shuffled), f"{permutations:,} draws of where the rows of each class and weight lie"


def _ranking_in_parts(table: ScoreTable) -> tuple[Array, Array]:
    """The mean score and the number of rows of each part of the ranking: single rows at its ends."""
    scores, rows = np.asarray(table.as_columns().scores, np.float64), rows_at_scores(table)
    even, total = rows.sum() / _EVEN_PARTS, rows.sum()
    beyond = np.cumsum(rows) - rows

    def part_of(beyond: Array) -> Array:
        """The number of parts between an end of the ranking and a row with this many rows ``beyond`` it."""
        near = np.minimum(beyond, even * _PARTS_OF_ENDS)
        return np.asarray(_PARTS_OF_ENDS * np.log1p(near) + (beyond - near) / even)

    half = beyond * 2 < total
    number = np.where(half, part_of(beyond) // 1, 2 * part_of(total) - part_of(total - beyond - rows) // 1)
    starts = run_starts(number)
    sizes = np.add.reduceat(rows, starts)
    return np.add.reduceat(rows * scores, starts) / sizes, sizes


# ── scores of several classes ────────────────────────────────────────────────────────────────────────────────────────
def draw_top(
    scores: ClassScores, sets: Array, rows: Array, permutations: int, rng: np.random.Generator
) -> tuple[Array, str]:
    """Sample the share of rows whose class is among their highest scores: those of each set (set × class).

    With very many sets the number of hits is taken as normal, with the mean and variance of all shuffles.
    """
    sizes, total = scores.sizes.astype(np.int64), int(rows.sum())
    if sets.size <= _MOST_CELLS_OF_SETS:
        parts = in_parts(permutations, sets.size)
        hits = [np.einsum("ncs,sc->n", random_tables(sizes, rows, size, rng), sets) for size in parts]
        return np.concatenate(hits) / total, f"{permutations:,} tables with the same margins"
    expected = sets @ (sizes / total)  # in rows of each set
    away = sets - rows @ sets / total - (expected - rows @ expected / total)[:, None]
    spread = math.sqrt(float(rows @ away**2 @ sizes) / (total - 1))
    return _normal(float(rows @ expected) / total, spread / total, permutations, rng)


def _normal(mean: float, spread: float, permutations: int, rng: np.random.Generator) -> tuple[Array, str]:
    """Sample a share that is nearly normal over all shuffles."""
    shares = np.clip(mean + spread * rng.standard_normal(permutations), 0, 1)
    return shares, f"{permutations:,} draws of what a shuffle of the truth adds up to"


def places_in_rankings(scores: ClassScores) -> list[tuple[Array, Array]]:
    """Cut the ranking by each class's scores: from which score on a part begins, and where its rows lie (−½ to ½)."""
    found = []
    for table in scores.tables:
        (levels, *counts), total = table.upwards(), float(table.total)
        rows = counts[0] + counts[1]
        middle = (np.cumsum(rows) - rows / 2) / total
        starts = np.unique(middle * PARTS_OF_RANKING // 1, return_index=True)[1]
        places = np.add.reduceat(rows * middle, starts) / np.add.reduceat(rows, starts) - 0.5
        found.append((levels[starts], places))
    return found


def draw_pairs(scores: ClassScores, products: Array, permutations: int, rng: np.random.Generator) -> tuple[Array, str]:
    """Sample the mean area over all pairs of classes: it is nearly a sum of places in the rankings.

    ``products`` are the sums over rows of their places in the rankings by two classes' scores. They give the variance
    of that sum over all shuffles (Hoeffding, 1951); it is taken as normal.
    """
    k, sizes = len(scores.classes), scores.sizes.astype(np.float64)
    gains = (np.eye(k) - (1 - np.eye(k)) / (k - 1)) / sizes / k  # own scores count for a class (score × class)
    spread = math.sqrt(float(np.einsum("ct,cd,dt,t->", gains, products, gains, sizes)) / (float(scores.total) - 1))
    return _normal(0.5, spread, permutations, rng)
