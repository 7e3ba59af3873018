"""Intervals of medians: the two errors between whose ranks the median lies, whatever the distribution."""

import math
from collections.abc import Sequence

import numpy as np

from stakes.metrics import Metric
from stakes.tallies import ErrorSums
from stakes.tallies.arithmetic import Array
from stakes.tallies.error_sums import ErrorRows
from stakes.uncertainty.changes.units import NOT_KEPT
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.quantiles import normal
from stakes.uncertainty.sampling import Sampling

_EXACT_RANKS = 1000


def median_intervals(
    metrics: Sequence[Metric], values: Sequence[float], sums: ErrorSums, sampling: Sampling
) -> list[Interval]:
    """Return the interval of the median |error|."""
    rows = sums.rows
    if rows is None:
        return [none(NOT_KEPT)] * len(metrics)
    if rows.weight is not None or sampling.clusters is not None:
        return [none("ranks of weighted or clustered rows have no simple law")] * len(metrics)
    n = len(rows.sizes)
    low = _rank_below(n, sampling.tail)
    if low < 0:
        return [none(f"{n} rows are too few for the ranks around the median")] * len(metrics)
    high = n - 1 - low
    places = np.partition(rows.sizes, (low, high))
    return [Interval(float(places[low]), float(places[high]), "order statistics")] * len(metrics)


def median_changes(rows: ErrorRows, median: float) -> Array:
    """What each row changes in the median |error|, which ranks alone do not tell: by where its interval ends.

    A row on one side of the median moves it by as much as one on the other side; how much follows from the ranks
    between which the median lies (Price & Bonett, 2001, Journal of Statistical Computation and Simulation 68).
    """
    n = len(rows.sizes)
    low = max(_rank_below(n, 0.025), 0)
    high = n - 1 - low
    places = np.partition(rows.sizes, (low, high))
    reach = (n / 2 - low) / (math.sqrt(n) / 2)  # how many standard errors these ranks lie away
    error = float(places[high] - places[low]) / (2 * reach) if reach > 0 else 0.0
    weight = np.ones(n) if rows.weight is None else rows.weight / rows.weight.mean()
    return np.asarray(weight * np.sign(rows.sizes - median) * error / math.sqrt(n))


def _rank_below(n: int, tail: float) -> int:
    """The largest rank, counting from 0, below which the median lies with at most this probability; −1 if none."""
    if n > _EXACT_RANKS:
        return math.floor(n / 2 - normal(1 - tail) * math.sqrt(n) / 2) - 1
    from scipy.special import bdtr

    return int(np.searchsorted(bdtr(np.arange(n // 2 + 1), n, 0.5), tail, "right")) - 1
