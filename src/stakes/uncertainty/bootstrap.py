"""The bootstrap of rows, for whoever wants to check an interval: percentiles, or bias-corrected and accelerated (BCa).

Rows drawn with replacement are counts drawn from a multinomial law, so tables draw their cells and score tables their
levels; predicted numbers and class scores draw the rows that were kept. With classes fixed the rows of each class are
drawn by themselves. Efron (1987), Journal of the American Statistical Association 82.
"""

import math
from collections.abc import Iterator

import numpy as np

from stakes.metrics import Metric
from stakes.tallies import ClassScores, Confusion, ErrorSums, OutputSums, ScoreTable, Tally, TermSums
from stakes.tallies.arithmetic import Array
from stakes.tallies.columns import Columns
from stakes.uncertainty.changes import influences
from stakes.uncertainty.influence import NOT_KEPT
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.quantiles import normal
from stakes.uncertainty.redraws import percentiles
from stakes.uncertainty.sampling import Sampling

BOOTSTRAPS = ("bootstrap", "bca")

_CELLS = 4_000_000
"""About so many numbers are drawn at once."""


def bootstrap_interval(metric: Metric, value: float, tally: Tally, sampling: Sampling, method: str) -> Interval:
    """Return the percentiles of a figure over bootstrapped rows, or their BCa form."""
    gone = (isinstance(tally, ErrorSums | TermSums) and tally.rows is None) or isinstance(tally, OutputSums)
    if gone or (isinstance(tally, ClassScores) and tally.sample is None):
        return none(NOT_KEPT)
    with np.errstate(all="ignore"):
        drawn = np.concatenate([np.atleast_1d(np.asarray(one, np.float64)) for one in _draw(metric, tally, sampling)])
    words = f"rows bootstrapped {len(drawn):,} times"
    found = percentiles(drawn, sampling, words)
    if method == "bootstrap" or found.low is None:
        return found
    (influence,) = influences([metric], [value], tally, sampling)
    if isinstance(influence, str):
        return none(influence)
    low, high = _accelerated(drawn[np.isfinite(drawn)], value, influence.changes, influence.counts, sampling)
    return Interval(low, high, f"{words}, BCa", found.note)


def _accelerated(drawn: Array, value: float, changes: Array, counts: Array, sampling: Sampling) -> tuple[float, float]:
    """The percentiles, moved by the bias of the draws and by how much the spread grows with the figure."""
    from scipy.special import ndtr

    below = float(np.mean(drawn < value) + np.mean(drawn == value) / 2)
    bias = normal(min(max(below, 1 / len(drawn)), 1 - 1 / len(drawn)))
    moved = changes - float((counts * changes).sum() / counts.sum())
    square = float((counts * moved**2).sum())
    growth = float((counts * moved**3).sum()) / (6 * square**1.5) if square > 0 else 0.0
    ends = []
    for tail in (sampling.tail, 1 - sampling.tail):
        z = bias + normal(tail)
        ends.append(float(np.quantile(drawn, float(ndtr(bias + z / (1 - growth * z))))))
    return ends[0], ends[1]


def _draw(metric: Metric, tally: Tally, sampling: Sampling) -> Iterator[Array | float]:
    """The figure of bootstrapped rows, several draws at once where they are cheap."""
    generator, times = sampling.generator(), max(sampling.replicates, math.ceil(50 / sampling.tail))
    if isinstance(tally, Confusion):
        for cells in _counts(tally.counts.astype(np.int64), sampling.fixed, times, generator):
            yield metric.of(tally.with_counts(cells.astype(np.float64)))
    elif isinstance(tally, ScoreTable):
        columns = tally.as_columns()
        counts = np.stack([columns.values[name] for name in ("positives", "negatives")]).astype(np.int64)
        for cells in _counts(counts, sampling.fixed, times, generator):
            drawn = dict(zip(("positives", "negatives"), np.moveaxis(cells, 1, 0), strict=True))
            yield metric.of(ScoreTable(tally.positive, tally.negative, Columns(columns.scores, drawn), tally.grid))
    else:
        yield from _draw_rows(metric, tally, times, generator)


def _counts(counts: Array, fixed: bool, times: int, generator: np.random.Generator) -> Iterator[Array]:
    """Draw tables of as many rows (of each class, where that is fixed), some at once."""
    step = max(1, _CELLS // counts.size)
    groups = counts if fixed else counts.reshape(1, -1)
    for start in range(0, times, step):
        size = min(step, times - start)
        parts = [generator.multinomial(int(one.sum()), one / max(one.sum(), 1), size) for one in groups]
        yield np.stack(parts, axis=1).reshape(size, *counts.shape)


def _draw_rows(metric: Metric, tally: Tally, times: int, generator: np.random.Generator) -> Iterator[float]:
    """Rows of predicted numbers, or of class scores."""
    if isinstance(tally, ErrorSums) and tally.rows is not None:
        rows = tally.rows
        for i in _places(len(rows.truth), times, generator):
            yield float(metric.of(ErrorSums.from_rows(rows.truth[i], rows.prediction[i], parts=metric.parts)))
    elif isinstance(tally, TermSums) and tally.rows is not None:
        for i in _places(len(tally.rows), times, generator):
            drawn_rows = tally.rows.take(i).columns
            yield float(metric.of(type(tally).from_rows(tally.names, drawn_rows, parts=metric.parts)))
    elif isinstance(tally, ClassScores) and tally.sample is not None:
        sample, parts = tally.sample, metric.parts
        for i in _places(len(sample.truth), times, generator):
            drawn = ClassScores.from_rows(sample.scores[i], sample.truth[i], tally.classes, parts=parts)
            yield float(metric.of(drawn))


def _places(n: int, times: int, generator: np.random.Generator) -> Iterator[Array]:
    return (generator.integers(0, n, n) for _ in range(times))
