"""Intervals and p-values of a difference, from pools whose rows are drawn again or swapped."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from stakes.tallies.arithmetic import Array
from stakes.tallies.parallel import run_all
from stakes.uncertainty.pools import Figures, Pool
from stakes.uncertainty.quantiles import student

_AT_ONCE = 1 << 18
"""How many numbers are drawn at once: few enough to stay in the processor's cache."""

_MOST_UNDEFINED = 0.05
"""An interval is given when at most this share of the draws has no figure."""

_DRAWN, _SWAPPED = 0, 1
"""Drawing and swapping have random numbers of their own, so that neither depends on whether the other was done."""


def percentile_interval(differences: Array, confidence: float) -> tuple[float, float] | None:
    """Return where the middle part of the drawn differences lies; None when too many have no value."""
    known = differences[np.isfinite(differences)]
    if len(known) < (1 - _MOST_UNDEFINED) * len(differences):
        return None
    low, high = np.quantile(known, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def drawn_differences(pool: Pool, seed: int, times: int) -> Array:
    """Return first minus second when rows are drawn again."""
    return _differences(*_draws(pool.drawn, pool.size, (seed, _DRAWN), times))


def independent_differences(one: Pool, other: Pool, seed: int, times: int) -> Array:
    """Return one minus other when the rows of each are drawn again; both pools hold a single model."""
    return _differences(*(_draws(p.drawn, p.size, (seed + i, _DRAWN), times)[0] for i, p in enumerate((one, other))))


def swap_p_value(pool: Pool, seed: int, times: int) -> float:
    """Return the two-sided p-value: how often swapping the outputs makes a difference at least as large.

    It is (1 + as large) / (1 + swaps), never 0. A swap without a figure counts as large.
    """
    first, second = pool.observed()
    differences = np.abs(_differences(*_draws(pool.swapped, pool.size, (seed, _SWAPPED), times)))
    smaller = differences < abs(first - second) - 1e-12 * max(abs(first), abs(second))
    return (1 + times - int(np.count_nonzero(smaller))) / (1 + times)


def sign_p_value(differences: Array) -> float:
    """Return the two-sided p-value of independently drawn differences: how often they lie on the other side of 0."""
    known = differences[~np.isnan(differences)]
    wrong = min(np.count_nonzero(known <= 0), np.count_nonzero(known >= 0))
    return float(min(1.0, 2 * (1 + wrong) / (1 + len(known))))


def mean_interval(
    differences: Array,
    weight: Array | None,
    confidence: float,
    cluster: Array | None = None,
    classes: Array | None = None,
) -> tuple[float, float] | None:
    """Return Student's interval of a (weighted) mean; None for a single row or infinite values.

    Rows of a ``cluster`` count as one. Of ``classes`` whose counts are fixed only the spread within each counts.
    """
    n = len(differences)
    if n < 2 or not np.isfinite(differences).all():
        return None
    share = np.full(n, 1 / n) if weight is None else weight / weight.sum()
    mean = float(share @ differences)
    centre = np.full(n, mean)
    if classes is not None:
        centre = (np.bincount(classes, share * differences) / np.maximum(np.bincount(classes, share), 1e-300))[classes]
    parts = share * (differences - centre)
    if cluster is not None:
        parts = np.bincount(np.unique(cluster, return_inverse=True)[1], parts)
        n = len(parts)
        if n < 2:
            return None
    reach = student((1 + confidence) / 2, n - 1) * math.sqrt(n / (n - 1) * float(parts @ parts))
    return mean - reach, mean + reach


def _draws(draw: Callable[..., Figures], size: int, seed: tuple[int, int], times: int) -> Figures:
    """Draw a few at a time, each few with random numbers of their own, so that threads can share the work."""
    few = max(1, _AT_ONCE // max(1, size))
    counts = [min(few, times - start) for start in range(0, times, few)]
    seeds = np.random.SeedSequence(seed).spawn(len(counts))
    tasks = [partial(draw, np.random.default_rng(s), count) for s, count in zip(seeds, counts, strict=True)]
    parts = run_all(tasks, size * times)
    return np.concatenate([first for first, _ in parts]), np.concatenate([second for _, second in parts])


def _differences(first: Array, second: Array) -> Array:
    with np.errstate(invalid="ignore"):  # ∞ − ∞ has no value
        return first - second
