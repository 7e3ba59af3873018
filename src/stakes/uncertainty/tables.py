"""Intervals of figures of 2×2 tables: the percentiles of tables drawn anew.

Rows drawn again from the same population give cells that are nearly Dirichlet; so an interval needs the table and not
the rows, and costs the same for a thousand rows and for a billion. Cells that happen to be empty would stay empty, so
half a row is added to each, as Jeffreys would.
"""

import math
from collections.abc import Sequence

import numpy as np

from stakes.metrics import Metric, measure
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.sampling import Sampling

_BEYOND = 50
"""How many draws shall lie beyond each end of an interval."""

_MOST_DRAWS = 500_000

_TABLES = 128
"""So many tables are drawn anew at once."""


def table_intervals(
    metrics: Sequence[Metric], values: Sequence[float], table: Confusion, sampling: Sampling
) -> list[Interval]:
    """Return the percentiles of each figure over tables drawn anew."""
    times = min(max(sampling.replicates, math.ceil(_BEYOND / sampling.tail)), _MOST_DRAWS)
    cells = sampling.generator().standard_gamma(table.counts.astype(np.float64) + 0.5, (times, 2, 2))
    drawn = measure(list(metrics), table.with_counts(cells))
    return [percentiles(np.asarray(one), sampling, f"the table drawn {times:,} times") for one in drawn]


def limits_of_tables(metric: Metric, tables: Confusion, sampling: Sampling) -> tuple[Array, Array]:
    """Return the same limits of thousands of tables at once, from other random numbers."""
    generator, ends = sampling.generator(), []
    for start in range(0, len(tables.counts), _TABLES):
        counts = tables.counts[start : start + _TABLES] + 0.5
        drawn = generator.standard_gamma(counts, (sampling.replicates, *counts.shape))
        figures = measure([metric], tables.with_counts(drawn))[0]
        ends.append(sampling.percentiles(figures))
    low, high = np.concatenate(ends, axis=1)
    return low, high


def percentiles(draws: Array, sampling: Sampling, words: str) -> Interval:
    """Return the percentiles between which most draws of a figure lie; ``words`` say what was drawn."""
    defined = draws[~np.isnan(draws)]
    lost = len(draws) - len(defined)
    if lost > len(draws) / 2:
        return none("it is undefined on most resamples")
    finite = bool(np.isfinite(defined).all())  # nothing lies between a number and infinity
    low, high = np.quantile(defined, (sampling.tail, 1 - sampling.tail), method="linear" if finite else "nearest")
    if low == high or (math.isfinite(high) and high - low <= 1e-12 * abs(high)):
        return none("every resample gives the same figure")
    note = f"undefined on {lost:,} of {len(draws):,} resamples" if lost else ""
    return Interval(float(low), float(high), words, note)
