"""Intervals when rows come in clusters: whole clusters are drawn, with exponential weights (Rubin's bootstrap)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from stakes.metrics import Metric, measure
from stakes.tallies import Confusion, ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.clusters import Clusters
from stakes.uncertainty.cells import ADDED, percentiles
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.sampling import Sampling
from stakes.uncertainty.score_tables import REPLICATES, redrawn, table_intervals
from stakes.uncertainty.score_tables import drawn as drawn_rows

FEW = 30
"""With fewer clusters their intervals are too short, and a warning says so."""


def clustered_intervals(
    metrics: Sequence[Metric], values: Sequence[float], tally: Any, sampling: Sampling
) -> list[Interval]:
    """Return the intervals of figures of decisions or of two-class scores."""
    clusters: Any = sampling.clusters
    if clusters.count < 2:
        return [none("there is a single cluster")] * len(metrics)
    words = f"{clusters.count:,} clusters drawn {{:,}} times"
    if isinstance(tally, Confusion):
        drawn = drawn_tables(tally, sampling)
        words = words.format(len(drawn.counts))
        return [percentiles(np.asarray(found), sampling, words) for found in measure(list(metrics), drawn)]
    if isinstance(tally, ScoreTable):
        return table_intervals(metrics, values, drawn_scores(tally, sampling), sampling, words.format(REPLICATES))
    return [none("with clusters there is none for so many classes; ask for one class")] * len(metrics)


def drawn_tables(table: Confusion, sampling: Sampling) -> Confusion:
    """Return tables of clusters drawn anew; cells get what :mod:`cells` adds, in clusters instead of rows."""
    clusters: Any = sampling.clusters
    generator = sampling.generator()
    each = clusters.tables(table)
    drawn = np.tensordot(_weights(clusters, generator, sampling.replicates), each, 1)
    typical = each.sum() / len(each)
    drawn += generator.standard_gamma(ADDED / table.counts.size, drawn.shape) * typical
    if sampling.fixed:
        totals = table.counts.sum(-1, keepdims=True).astype(np.float64)
        drawn *= totals / np.maximum(drawn.sum(-1, keepdims=True), 1e-300)
    return Confusion(table.truths, table.decisions, drawn, positive=table.positive)


def drawn_scores(table: ScoreTable, sampling: Sampling, ends: float = 0.0) -> ScoreTable:
    """Return score tables of clusters drawn anew, or of rows where there are no clusters."""
    if sampling.clusters is None:
        return drawn_rows(table, sampling, ends=ends)
    clusters = sampling.clusters
    scores, counts = clusters.pieces(table)
    generator = sampling.generator()
    draws = np.tensordot(_weights(clusters, generator, REPLICATES), counts, 1)
    if ends:
        typical = counts.sum() / len(counts)
        beyond = generator.standard_gamma(ends, (*draws.shape[:2], 2)) * typical
        draws = np.concatenate([beyond[..., :1], draws, beyond[..., 1:]], axis=-1)
        scores = np.concatenate([[scores.max() + 1], scores, [scores.min() - 1]])
    return redrawn(table, scores, draws, sampling.fixed)


def _weights(clusters: Clusters, generator: Any, replicates: int) -> Array:
    return generator.standard_exponential((replicates, clusters.size))
