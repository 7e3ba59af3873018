"""What one row changes in figures of class scores of which no rows were kept, only sums."""

from collections.abc import Sequence

import numpy as np

from stakes.metrics import Metric
from stakes.metrics.many import ROW_LOSSES, Average
from stakes.tallies import ClassScores
from stakes.tallies.arithmetic import Array, divide
from stakes.uncertainty.changes.losses import LossRows, of_losses
from stakes.uncertainty.changes.scores import of_scores
from stakes.uncertainty.influence import Found, Influence
from stakes.uncertainty.sampling import Sampling

_NO_SAMPLE = "no sample of the rows was kept"
_LARGEST_DISTANCE = 2.0


def without_rows(metrics: Sequence[Metric], scores: ClassScores, sampling: Sampling) -> list[Found]:
    """Means of losses by how these spread, averages over the classes by the figure of each class."""
    return [_of_one(metric, scores, sampling) for metric in metrics]


def _of_one(metric: Metric, scores: ClassScores, sampling: Sampling) -> Found:
    if metric.population is not None:
        return _NO_SAMPLE
    if metric.loss in ROW_LOSSES and scores.moments is not None:
        return of_losses(metric, _as_spread(metric, scores), sampling.fixed)
    if isinstance(metric.function, Average):
        return _of_average(metric.function, scores, sampling)
    return _NO_SAMPLE


# ── means of losses ──────────────────────────────────────────────────────────────────────────────────────────────
def _as_spread(metric: Metric, scores: ClassScores) -> LossRows:
    """Two kinds of rows for each class, whose losses have the mean, the variance and the skewness of all."""
    assert scores.moments is not None
    place, sizes = ROW_LOSSES.index(metric.loss), scores.sizes.astype(np.float64)
    low, high, share = _two_points(sizes, scores.moments[:, place])
    unit = divide(scores.moments[:, place, 1], sizes, 1.0)
    weight, classes = np.concatenate([share * sizes, (1 - share) * sizes]), np.tile(np.arange(len(sizes)), 2)
    rows = LossRows(classes, np.zeros((len(classes), len(sizes))), weight, weight * np.tile(unit, 2))
    worst = _expected_surprise(scores) if place == 0 else _LARGEST_DISTANCE
    rows._known[metric.loss, tuple(metric.parameters.items())] = np.concatenate([low, high]), worst
    return rows


def _two_points(sizes: Array, moments: Array) -> tuple[Array, Array, Array]:
    """A lower and a higher loss of each class, and the share of the lower one.

    ``moments`` are Σw·loss, and Σw² times each power of the loss from 0 on.
    """
    total, *powers = moments.T
    mean = divide(total, sizes)
    none, first, second, third = (divide(power, powers[0]) for power in powers)
    variance = np.maximum(second - 2 * mean * first + mean**2 * none, 0.0)
    skew = divide(third - 3 * mean * second + 3 * mean**2 * first - mean**3 * none, variance)
    root = np.sqrt(skew**2 + 4 * variance)
    above, below = (root + skew) / 2, (root - skew) / 2
    return mean - below, mean + above, divide(above, root, 0.5)


def _expected_surprise(scores: ClassScores) -> float:
    """E(loss²)/E(loss), had each row the classes as often as its probabilities say."""
    first = second = 0.0
    for table in scores.tables:
        columns = table.as_columns()
        said = columns.scores.astype(np.float64) if table.grid is None else table.grid.middles(columns.scores)
        rows = (columns.values["positives"] + columns.values["negatives"]).astype(np.float64)
        likely = said > 0
        loss = 0.0 - np.log(said[likely])
        expected = rows[likely] * said[likely] * loss
        first, second = first + float(expected.sum()), second + float((expected * loss).sum())
    return second / first if first > 0 else 0.0


# ── averages over the classes ────────────────────────────────────────────────────────────────────────────────────
def _of_average(average: Average, scores: ClassScores, sampling: Sampling) -> Found:
    """How far an average can be off at most, whichever rows the classes share: by the average of their errors."""
    sizes = scores.sizes.astype(np.float64)
    weighted, shares = average.how == "weighted", sizes / sizes.sum()
    values = np.array([float(average.base.of(table)) for table in scores.tables])
    each = zip(values, scores.tables, strict=True)
    found = [of_scores([average.base], [value], table, sampling)[0] for value, table in each]
    if why := next((one for one in found if isinstance(one, str)), ""):
        return why
    errors = np.array([one.error for one in found if isinstance(one, Influence)])
    error, units = float(errors @ shares if weighted else errors.mean()), scores.equal_rows
    if weighted:  # how frequent the classes are varies, too
        error += float(np.sqrt(shares @ (values - shares @ values) ** 2 / units))
    return Influence.of_error(error, units, units - 1)
