"""Resampled tables: percentiles of figures of a 2×2 table, and score tables for the bands of curves.

Rows resampled from the same population give cells that are nearly Dirichlet. So an interval needs the table and not
the rows, and takes as long for a thousand rows as for a billion. Cells that happen to be empty would stay empty, so
half a row is added to each (Jeffreys' prior).

A table of millions of scores is first compressed into some hundred pieces that grow with the rank. Resampling those
takes as long for any number of rows and moves the ends of an interval by some thousandths of a standard error
(`make bench` measures it).

Where rows come in clusters, whole clusters are resampled with exponential weights (Rubin's bootstrap).
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from stakes.metrics import Metric, measure
from stakes.tallies import ClassScores, Confusion, ErrorSums, OutputSums, ScoreTable, Tally, TermSums
from stakes.tallies.arithmetic import Array
from stakes.tallies.columns import COUNTS, Columns
from stakes.uncertainty.changes import influences
from stakes.uncertainty.influence import NOT_KEPT
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.sampling import Sampling, normal

_REPLICATES = 400
"""Replicates of a large score table: only their spread is used, which needs fewer than percentiles do."""

_CELLS = 400_000
_MOST = 2000
"""Small score tables are resampled more often: up to ``_MOST`` times, until ``_CELLS`` cells were sampled."""

_ENDS = 0.5
"""Rows of each class that are added above and below all scores."""

_BEYOND = 50
"""Least number of replicates of a 2×2 table beyond each end of an interval."""

_MOST_DRAWS = 500_000

_TABLES = 128
"""Tables that are resampled at once."""


def gamma_like(sums: Array, squares: Array | None, replicates: int, sampling: Sampling) -> Array:
    """Sample sums of weights with these means, and with these sums of squared weights as variances.

    Unweighted counts are gamma variables whose shares are Dirichlet.
    """
    generator = sampling.generator()
    if squares is None:
        return generator.standard_gamma(sums, (replicates, *sums.shape))
    usual = squares.sum() / sums.sum()
    unit = np.divide(squares, sums, out=np.full(sums.shape, usual), where=(sums > 0) & (squares > 0))
    return np.asarray(generator.standard_gamma(sums / unit, (replicates, *sums.shape)) * unit)


# ── scores ───────────────────────────────────────────────────────────────────────────────────────────────────────
def redraw_scores(table: ScoreTable, sampling: Sampling, pieces: ScoreTable | None = None) -> ScoreTable:
    """Return tables like this one along a leading axis, of the same number of rows, compressed or in these pieces.

    Half a row (or cluster) of each class is added above and below all scores: where a curve has reached 0 or 1 in these
    rows, another sample need not have.
    """
    draw = _draw_rows if sampling.clusters is None else _draw_clusters
    scores, draws = draw(table, table.compressed() if pieces is None else pieces, sampling)
    return scale_draws(table, scores, draws, sampling.fixed)


def _draw_rows(table: ScoreTable, pieces: ScoreTable, sampling: Sampling) -> tuple[Array, Array]:
    store = pieces.as_columns()

    def stacked(suffix: str) -> Array:
        return np.pad(store.counts(suffix).astype(np.float64), ((0, 0), (1, 1)), constant_values=_ENDS)

    low, high = table.range
    scores = np.concatenate([[high + 1], store.scores, [low - 1]])
    replicates = replicates_of(2 * len(scores))
    return scores, gamma_like(stacked(""), stacked("_squared") if table.weighted else None, replicates, sampling)


def _draw_clusters(table: ScoreTable, pieces: ScoreTable, sampling: Sampling) -> tuple[Array, Array]:
    clusters, generator = sampling.require_clusters(), sampling.generator()
    scores, counts = clusters.pieces(pieces)
    draws = np.tensordot(cluster_weights(sampling, generator), counts, 1)
    held = np.count_nonzero(counts.any(axis=-1), axis=0) * max(clusters.count / len(counts), 1.0)
    typical = counts.sum((0, 2)) / np.maximum(held, 1)  # what a cluster holds of each class, if anything
    beyond = generator.standard_gamma(_ENDS, (*draws.shape[:2], 2)) * typical[:, None]
    draws = np.concatenate([beyond[..., :1], draws, beyond[..., 1:]], axis=-1)
    return np.concatenate([[scores.max() + 1], scores, [scores.min() - 1]]), draws


def replicates_of(cells: int) -> int:
    """How often a table of this many cells is resampled."""
    return min(_MOST, max(_REPLICATES, _CELLS // cells))


def scale_draws(table: ScoreTable, scores: Array, draws: Array, fixed: bool) -> ScoreTable:
    """Make tables of the draws (replicates × class × score), each scaled to the rows of the table itself."""
    wanted = np.array([float(table.P), float(table.N)])
    found = draws.sum(-1)
    with np.errstate(invalid="ignore"):
        factors = wanted / found if fixed else (wanted.sum() / found.sum(-1))[:, None] * np.ones(2)
    factors = np.nan_to_num(factors, nan=1.0)  # a class without rows has no draws
    draws *= factors[..., None]
    columns = Columns(scores, {"positives": draws[:, 0], "negatives": draws[:, 1]})
    return ScoreTable(table.positive, table.negative, columns)


# ── clusters ─────────────────────────────────────────────────────────────────────────────────────────────────────
def cluster_weights(sampling: Sampling, generator: "np.random.Generator") -> Array:
    """Return the weight of each group of clusters in each replicate (replicates × groups)."""
    return generator.standard_exponential((_REPLICATES, sampling.require_clusters().size))


# ── two classes ──────────────────────────────────────────────────────────────────────────────────────────────────
def table_intervals(
    metrics: Sequence[Metric], values: Sequence[float], table: Confusion, sampling: Sampling
) -> list[Interval]:
    """Return the percentiles of each figure over resampled tables."""
    times = min(max(sampling.replicates, math.ceil(_BEYOND / sampling.tail)), _MOST_DRAWS)
    cells = sampling.generator().standard_gamma(table.counts.astype(np.float64) + 0.5, (times, 2, 2))
    figures = np.stack(measure(list(metrics), table.with_counts(cells)))
    words, places = f"the table resampled {times:,} times", np.flatnonzero(np.isfinite(figures).all(-1))
    ends = dict(zip(places.tolist(), zip(*sampling.percentiles(figures[places].T), strict=True), strict=True))
    return [
        _between(*ends[i], words) if i in ends else percentiles(one, sampling, words) for i, one in enumerate(figures)
    ]


def limits_of_tables(metric: Metric, tables: Confusion, sampling: Sampling) -> tuple[Array, Array]:
    """Return the same limits of thousands of tables at once, from other random numbers."""
    generator, ends = sampling.generator(), []
    for start in range(0, len(tables.counts), _TABLES):
        counts = tables.counts[start : start + _TABLES] + 0.5
        cells = generator.standard_gamma(counts, (sampling.replicates, *counts.shape))
        figures = measure([metric], tables.with_counts(cells))[0]
        ends.append(sampling.percentiles(figures))
    low, high = np.concatenate(ends, axis=1)
    return low, high


def percentiles(draws: Array, sampling: Sampling, words: str) -> Interval:
    """Return the percentiles between which most draws of a figure lie; ``words`` say what was resampled."""
    defined = draws[~np.isnan(draws)]
    lost = len(draws) - len(defined)
    if lost > len(draws) / 2:
        return none("it is undefined on most resamples")
    finite = bool(np.isfinite(defined).all())  # nothing lies between a number and infinity
    low, high = np.quantile(defined, (sampling.tail, 1 - sampling.tail), method="linear" if finite else "nearest")
    return _between(low, high, words, f"undefined on {lost:,} of {len(draws):,} resamples" if lost else "")


def _between(low: float, high: float, words: str, note: str = "") -> Interval:
    if low == high or (math.isfinite(high) and high - low <= 1e-12 * abs(high)):
        return none("every resample gives the same figure")
    return Interval(float(low), float(high), words, note)


# ── rows, for whoever wants to check ─────────────────────────────────────────────────────────────────────────────
# Counts of rows sampled with replacement are multinomial, so tables resample their cells and score tables their levels;
# predicted numbers and class scores resample the rows that were kept. With classes fixed each class is resampled by
# itself. Efron (1987), Journal of the American Statistical Association 82.

BOOTSTRAPS = ("bootstrap", "bca")

_NUMBERS_AT_ONCE = 4_000_000
"""About this many numbers are sampled at once."""


def bootstrap_interval(metric: Metric, value: float, tally: Tally, sampling: Sampling, method: str) -> Interval:
    """Return the percentiles of a figure over bootstrapped rows, or their BCa form."""
    gone = (isinstance(tally, ErrorSums | TermSums) and tally.rows is None) or isinstance(tally, OutputSums)
    if gone or (isinstance(tally, ClassScores) and tally.sample is None):
        return none(NOT_KEPT)
    with np.errstate(all="ignore"):
        figures = np.concatenate([np.atleast_1d(np.asarray(one, np.float64)) for one in _draw(metric, tally, sampling)])
    words = f"rows bootstrapped {len(figures):,} times"
    found = percentiles(figures, sampling, words)
    if method == "bootstrap" or found.low is None:
        return found
    (influence,) = influences([metric], [value], tally, sampling)
    if isinstance(influence, str):
        return none(influence)
    low, high = _accelerated(figures[np.isfinite(figures)], value, influence.changes, influence.counts, sampling)
    return Interval(low, high, f"{words}, BCa", found.note)


def _accelerated(draws: Array, value: float, changes: Array, counts: Array, sampling: Sampling) -> tuple[float, float]:
    """The percentiles of the draws, moved by their bias and by how their spread grows with the figure."""
    from scipy.special import ndtr

    below = float(np.mean(draws < value) + np.mean(draws == value) / 2)
    bias = normal(min(max(below, 1 / len(draws)), 1 - 1 / len(draws)))
    moved = changes - float((counts * changes).sum() / counts.sum())
    square = float((counts * moved**2).sum())
    growth = float((counts * moved**3).sum()) / (6 * square**1.5) if square > 0 else 0.0
    ends = []
    for tail in (sampling.tail, 1 - sampling.tail):
        z = bias + normal(tail)
        ends.append(float(np.quantile(draws, float(ndtr(bias + z / (1 - growth * z))))))
    return ends[0], ends[1]


def _draw(metric: Metric, tally: Tally, sampling: Sampling) -> Iterator[Array | float]:
    """The figures of bootstrapped rows; of tables several at once."""
    generator, times = sampling.generator(), max(sampling.replicates, math.ceil(50 / sampling.tail))
    if isinstance(tally, Confusion):
        for cells in _counts(tally.counts.astype(np.int64), sampling.fixed, times, generator):
            yield metric.of(tally.with_counts(cells.astype(np.float64)))
    elif isinstance(tally, ScoreTable):
        columns = tally.as_columns()
        for cells in _counts(columns.counts().astype(np.int64), sampling.fixed, times, generator):
            counts = dict(zip(COUNTS, np.moveaxis(cells, 1, 0), strict=True))
            yield metric.of(ScoreTable(tally.positive, tally.negative, Columns(columns.scores, counts), tally.grid))
    else:
        yield from _draw_kept_rows(metric, tally, times, generator)


def _counts(counts: Array, fixed: bool, times: int, generator: np.random.Generator) -> Iterator[Array]:
    """Resample tables of as many rows (of each class, where that is fixed), some at once."""
    step = max(1, _NUMBERS_AT_ONCE // counts.size)
    groups = counts if fixed else counts.reshape(1, -1)
    for start in range(0, times, step):
        size = min(step, times - start)
        parts = [generator.multinomial(int(one.sum()), one / max(one.sum(), 1), size) for one in groups]
        yield np.stack(parts, axis=1).reshape(size, *counts.shape)


def _draw_kept_rows(metric: Metric, tally: Tally, times: int, generator: np.random.Generator) -> Iterator[float]:
    """The figures of resampled rows of predicted numbers, terms or class scores."""
    if isinstance(tally, ErrorSums) and tally.rows is not None:
        rows = tally.rows
        for i in _places(len(rows.truth), times, generator):
            yield float(metric.of(ErrorSums.from_rows(rows.truth[i], rows.prediction[i], parts=metric.parts)))
    elif isinstance(tally, TermSums) and tally.rows is not None:
        for i in _places(len(tally.rows), times, generator):
            columns = tally.rows.take(i).columns
            yield float(metric.of(type(tally).from_rows(tally.names, columns, parts=metric.parts)))
    elif isinstance(tally, ClassScores) and tally.sample is not None:
        sample, parts = tally.sample, metric.parts
        for i in _places(len(sample.truth), times, generator):
            resampled = ClassScores.from_rows(sample.scores[i], sample.truth[i], tally.classes, parts=parts)
            yield float(metric.of(resampled))


def _places(n: int, times: int, generator: np.random.Generator) -> Iterator[Array]:
    return (generator.integers(0, n, n) for _ in range(times))
