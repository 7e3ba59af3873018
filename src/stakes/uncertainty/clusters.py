"""Intervals when rows come in clusters: whole clusters are drawn, with exponential weights (Rubin's bootstrap)."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from stakes.metrics import Metric
from stakes.tallies import Confusion, ScoreTable, Tally
from stakes.tallies.arithmetic import Array
from stakes.tallies.clusters import Clusters
from stakes.uncertainty.draws import spread_intervals
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.sampling import Sampling
from stakes.uncertainty.score_tables import REPLICATES, redrawn
from stakes.uncertainty.score_tables import drawn as drawn_rows


def clustered_intervals(
    metrics: Sequence[Metric], values: Sequence[float], tally: Tally, sampling: Sampling
) -> list[Interval]:
    """Return the intervals of figures of decisions or of two-class scores."""
    count = sampling.whole_clusters.count
    if count < 2:
        return [none("there is a single cluster")] * len(metrics)
    draw: Callable[..., Tally]
    if isinstance(tally, Confusion):
        draw = partial(drawn_tables, tally, sampling)
    elif isinstance(tally, ScoreTable):
        draw = partial(drawn_scores, tally, sampling)
    else:
        return [none("with clusters there is none for so many classes; ask for one class")] * len(metrics)
    return spread_intervals(metrics, values, draw, sampling, f"{count:,} clusters drawn {{:,}} times")


def drawn_tables(table: Confusion, sampling: Sampling, ends: float = 0.0) -> Confusion:
    """Return tables of clusters drawn anew; with ``ends`` as much of a cluster is added to each cell of two classes."""
    generator, clusters = sampling.generator(), sampling.whole_clusters
    each = clusters.tables(table)
    drawn = np.tensordot(_weights(clusters, generator, sampling.replicates), each, 1)
    if ends:
        drawn += generator.standard_gamma(4 * ends / table.counts.size, drawn.shape) * (each.sum() / len(each))
    if sampling.fixed:
        totals = table.counts.sum(-1, keepdims=True).astype(np.float64)
        drawn *= totals / np.maximum(drawn.sum(-1, keepdims=True), 1e-300)
    return table.with_counts(drawn)


def drawn_scores(
    table: ScoreTable, sampling: Sampling, ends: float = 0.0, pieces: ScoreTable | None = None
) -> ScoreTable:
    """Return score tables of clusters drawn anew, or of rows where there are no clusters.

    ``pieces`` is the table put together as the figure needs it; some hundred pieces otherwise.
    """
    if sampling.clusters is None:
        return drawn_rows(table, sampling, ends, pieces)
    clusters = sampling.clusters
    scores, counts = clusters.pieces(table.compressed() if pieces is None else pieces)
    generator = sampling.generator()
    draws = np.tensordot(_weights(clusters, generator, REPLICATES), counts, 1)
    if ends:
        typical = counts.sum() / len(counts)
        beyond = generator.standard_gamma(ends, (*draws.shape[:2], 2)) * typical
        draws = np.concatenate([beyond[..., :1], draws, beyond[..., 1:]], axis=-1)
        scores = np.concatenate([[scores.max() + 1], scores, [scores.min() - 1]])
    return redrawn(table, scores, draws, sampling.fixed)


def drawn_weights(sampling: Sampling) -> Array:
    """Return how often each group of clusters is drawn (draws × groups)."""
    return _weights(sampling.whole_clusters, sampling.generator(), REPLICATES)


def _weights(clusters: Clusters, generator: np.random.Generator, replicates: int) -> Array:
    return generator.standard_exponential((replicates, clusters.size))
