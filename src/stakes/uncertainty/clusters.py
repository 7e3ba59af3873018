"""Intervals when rows come in clusters: whole clusters are drawn, with exponential weights (Rubin's bootstrap)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from stakes.metrics import Metric, measure
from stakes.tallies import Confusion, ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.clusters import Clusters
from stakes.uncertainty.cells import percentiles
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.sampling import Sampling
from stakes.uncertainty.score_tables import REPLICATES, redrawn, table_intervals

FEW = 30
"""With fewer clusters their intervals are too short, and a warning says so."""


def clustered_intervals(
    metrics: Sequence[Metric], values: Sequence[float], tally: Any, sampling: Sampling
) -> list[Interval]:
    """Return the intervals of figures of decisions or of two-class scores."""
    clusters: Any = sampling.clusters
    if clusters.count < 2:
        return [none("there is a single cluster")] * len(metrics)
    if isinstance(tally, Confusion):
        weights = _weights(clusters, sampling, sampling.replicates)
        cells = np.tensordot(weights, clusters.tables(tally), 1)
        if sampling.fixed:
            totals = tally.counts.sum(-1, keepdims=True).astype(np.float64)
            cells *= totals / np.maximum(cells.sum(-1, keepdims=True), 1e-300)
        drawn = Confusion(tally.truths, tally.decisions, cells, positive=tally.positive)
        words = f"{clusters.count:,} clusters drawn {len(cells):,} times"
        return [percentiles(np.asarray(found), sampling, words) for found in measure(list(metrics), drawn)]
    if isinstance(tally, ScoreTable):
        scores, counts = clusters.pieces(tally)
        draws = np.tensordot(_weights(clusters, sampling, REPLICATES), counts, 1)
        return table_intervals(metrics, values, redrawn(tally, scores, draws, sampling.fixed), sampling)
    return [none("figures of several classes' scores have none with clusters")] * len(metrics)


def _weights(clusters: Clusters, sampling: Sampling, replicates: int) -> Array:
    return sampling.generator().standard_exponential((replicates, clusters.size))
