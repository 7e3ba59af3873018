"""What one row changes in figures of scores: of two classes, and of several, whether rows were kept or only sums."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from stakes.metrics import Metric, measure
from stakes.metrics.many import ROW_LOSSES, Average
from stakes.tallies import ClassScores, ScoreTable
from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.clusters import Clusters
from stakes.tallies.columns import Columns
from stakes.uncertainty.influence import CELLS, SINGLE_ROW, Found, Influence, kish, left_out
from stakes.uncertainty.losses import LossRows, of_losses, score_counts
from stakes.uncertainty.sampling import Sampling

_MOST_LEVELS = 1 << 17
"""Where a figure knows what each row changes, up to so many scores are asked."""

_FEW_LEVELS = 256
"""The scores of a ranking are left out one by one up to so many of them."""

_FEW_SINGLE = 16
"""Of more scores pieces are left out, of which so many at the top are single ones."""

Levels = tuple[Array, Array, Array]
"""The scores (of pieces: the lowest), positives and negatives there, and the weight of such a row."""


def of_scores(metrics: Sequence[Metric], values: Sequence[float], table: ScoreTable, sampling: Sampling) -> list[Found]:
    """Leave out one row of each class at each score, or one cluster."""
    found: dict[int, Found] = {}
    levels, rows = cache(partial(level_counts, table, _MOST_LEVELS)), cache(partial(_loss_rows, table, sampling))
    numeric = []
    for i, (metric, value) in enumerate(zip(metrics, values, strict=True)):
        if metric.loss is not None:
            found[i] = of_losses(metric, rows(), sampling.fixed)
        elif metric.one_row is not None and sampling.clusters is None:
            found[i] = _of_one_row(metric, value, table, levels(), sampling)
        else:
            numeric.append(i)
    if numeric:
        found |= zip(numeric, _numerically([metrics[i] for i in numeric], table, sampling), strict=True)
    return [found[i] for i in range(len(metrics))]


def _loss_rows(table: ScoreTable, sampling: Sampling) -> LossRows:
    if sampling.clusters is None:
        return LossRows.of_table(table)
    rows = LossRows.of_clusters(sampling.clusters, 1 - np.asarray(sampling.clusters.truth, np.int64))
    return rows if sampling.clusters.grid is None else replace(rows, sums=table.losses)


def level_counts(table: ScoreTable, most: int, single: int = 48) -> Levels:
    """Ask for all scores, or of more than that for pieces, which are ``single`` at the top."""
    columns = (table if _levels_at_most(table, most) else table.compressed(single)).as_columns()
    return columns.scores, *score_counts(columns)


def _levels_at_most(table: ScoreTable, most: int) -> bool:
    """Whether there are so few scores; of rows that do not weigh their number is enough, pieces keep their scores."""
    return float(table.total) <= most if not table.weighted else len(table.as_columns().scores) <= most


def _of_one_row(metric: Metric, value: float, table: ScoreTable, levels: Levels, sampling: Sampling) -> Found:
    assert metric.one_row is not None
    _, counts, unit = levels
    changes = metric.one_row.changes(counts[0], counts[1], unit, **metric.parameters)
    unseen = unseen_row(metric, value, table, counts)
    return _of_levels(changes, counts, unit, bearing_rows(metric, table) - 1, unseen, sampling)


def unseen_row(metric: Metric, value: float, table: ScoreTable, counts: Array | None = None) -> float:
    """The largest change that one more row could make; 0 of a figure that does not know."""
    if metric.one_row is None:
        return 0.0
    if counts is None:
        _, counts, _ = level_counts(table, _MOST_LEVELS)
    equal = counts * (table.equal_rows / float(table.total))  # of so many rows that weigh the same
    return metric.one_row.unseen(value, *equal, **metric.parameters)


def _of_levels(changes: Array, counts: Array, unit: Array, most: float, unseen: float, sampling: Sampling) -> Found:
    here = counts > 0
    number = divide(counts, unit)
    sizes: Array | float = float(number.sum())
    if sampling.fixed:
        sizes = np.broadcast_to(number.sum(-1, keepdims=True), counts.shape)[here]
        if (sizes < 1.5).any():
            return SINGLE_ROW
    return Influence(changes[here], number[here], sizes, most, unseen)


def bearing_rows(metric: Metric, table: ScoreTable) -> float:
    """How many rows bear a figure: all, or those of the class of which there may be too few."""
    P, N = table.effective_rows
    if metric.one_row is None or metric.one_row.rests_on == "rows":
        return table.equal_rows
    return P if metric.one_row.rests_on == "positives" else min(P, N)


def _numerically(metrics: Sequence[Metric], table: ScoreTable, sampling: Sampling) -> list[Found]:
    """Leave rows or clusters out of a table of some hundred pieces, and work the figures out again."""
    if sampling.clusters is not None:
        return of_score_clusters(metrics, table, sampling.clusters)
    scores, counts, unit, found = _by_level(metrics, table, sampling.fixed)
    unseen = _unseen_scores(metrics, table, scores, counts, float((unit * counts).sum() / counts.sum()))
    return [
        _of_levels(changes, counts, unit, bearing_rows(metric, table) - 1, extra, sampling)
        for metric, changes, extra in zip(metrics, found, unseen, strict=True)
    ]


def _by_level(metrics: Sequence[Metric], table: ScoreTable, held: bool) -> tuple[Array, Array, Array, list[Array]]:
    """The pieces of a ranking (as of :data:`Levels`), and what figures lose without a row of each: class × piece."""
    scores, counts, unit = level_counts(table, _FEW_LEVELS, _FEW_SINGLE)
    here = counts > 0
    each = np.zeros((np.count_nonzero(here), *counts.shape))
    each[:, here] = np.diag(unit[here])
    found = [np.zeros(counts.shape) for _ in metrics]
    for one, changes in zip(found, _score_changes(metrics, table, scores, counts, each, held), strict=True):
        one[here] = changes
    return scores, counts, unit, found


def _score_changes(
    metrics: Sequence[Metric], table: ScoreTable, scores: Array, counts: Array, each: Array, held: bool = False
) -> list[Array]:
    """What figures lose without each of these parts: parts × class × score."""

    def figures(parts: Array, some: Sequence[Metric]) -> list[Array]:
        cells = np.maximum(counts - parts, 0.0)
        axes = -1 if held else (-1, -2)  # as many rows as before, so that the k highest stay the same share of them
        cells *= divide(counts.sum(axes, keepdims=True), cells.sum(axes, keepdims=True), 1.0)
        columns = Columns(scores, {"positives": cells[:, 0], "negatives": cells[:, 1]})
        found = measure(list(some), ScoreTable(table.positive, table.negative, columns))
        return [np.asarray(one, np.float64) for one in found]

    def figure(metric: Metric, step: float) -> Array:
        return figures(-step * each, [metric])[0]

    own = [float(one[0]) for one in figures(np.zeros((1, *counts.shape)), metrics)]
    return [
        left_out(value, one, partial(figure, metric))
        for metric, value, one in zip(metrics, own, figures(each, metrics), strict=True)
    ]


def score_changes_by_row(
    metric: Metric, table: ScoreTable, scores: Array, positive: Array, weight: Array, held: bool
) -> Array:
    """What a figure of scores loses without each of the rows, by the piece of the ranking in which it lies."""
    lowest, _, unit, (found,) = _by_level([metric], table, held)
    places = np.searchsorted(-lowest, -scores)
    return np.asarray((found / unit)[np.where(positive, 0, 1), places] * weight)


def score_changes_by_level(metric: Metric, table: ScoreTable, held: bool) -> "tuple[Array, Array, Array, Array] | str":
    """What a figure of scores loses without a row of each class at each score of a table, by its weight.

    Returned are the scores, and by class (positive first) and score how much lies there, what a row of it weighs, and
    what it changes; or why that is not known.
    """
    store = table.as_columns()
    counts, unit = score_counts(store)
    scores = store.scores.astype(np.float64) if table.grid is None else table.grid.middles(store.scores)
    if metric.loss is not None:
        classes, places = np.nonzero(counts)
        weight = counts[classes, places]
        rows = LossRows(classes, scores[places], weight, weight * unit[classes, places], sums=table.losses)
        of_loss = of_losses(metric, rows, held)
        if isinstance(of_loss, str):
            return of_loss
        found = np.zeros(counts.shape)
        found[classes, places] = of_loss.changes
    elif metric.one_row is not None:
        found = metric.one_row.changes(counts[0], counts[1], unit, **metric.parameters)
    else:
        lowest, _, usual, (by_piece,) = _by_level([metric], table, held)
        found = (by_piece / usual)[:, np.searchsorted(-lowest, -store.scores.astype(np.float64))] * unit
    return scores, counts, unit, found / unit


def _unseen_scores(
    metrics: Sequence[Metric], table: ScoreTable, scores: Array, counts: Array, usual: float
) -> list[float]:
    """The largest change that one more row of either class could make above or below all others."""
    ends = np.concatenate([[scores[0] + 1.0], scores, [scores[-1] - 1.0]])
    padded = np.pad(counts, ((0, 0), (1, 1)))
    more = np.zeros((4, *padded.shape))
    for i, (c, place) in enumerate((c, place) for c in (0, 1) for place in (0, -1)):
        more[i, c, place] = -usual
    return [float(np.max(np.abs(np.nan_to_num(one)))) for one in _score_changes(metrics, table, ends, padded, more)]


def of_score_clusters(metrics: Sequence[Metric], table: ScoreTable, clusters: Clusters) -> list[Found]:
    """Leave out one cluster after another; at a place of the ranking, add up what the rows of each change."""
    few = _levels_at_most(table, CELLS // clusters.size)
    scores, each = clusters.pieces(table if few else table.compressed(_FEW_SINGLE))
    counts = each.sum(0)
    places = [metric.one_row is not None and metric.one_row.place for metric in metrics]
    left = [metric for metric, place in zip(metrics, places, strict=True) if not place]
    without = iter(_score_changes(left, table, scores, counts, each) if left else [])
    found = [
        _added_up(metric, counts, each, clusters.rows) if place else next(without)
        for metric, place in zip(metrics, places, strict=True)
    ]
    by_class = each.sum(-1)
    rests_on = {"rows": kish(by_class.sum(-1)), "positives": kish(by_class[:, 0]), "both": min(map(kish, by_class.T))}
    influences: list[Found] = []
    for metric, changes in zip(metrics, found, strict=True):
        most = rests_on["rows" if metric.one_row is None else metric.one_row.rests_on]
        extra = 0.0
        if metric.one_row is not None:
            extra = metric.one_row.unseen(float(metric.of(table)), *counts, **metric.parameters)
        influences.append(Influence.of_units(changes, most, extra))
    return influences


def _added_up(metric: Metric, counts: Array, each: Array, rows: float) -> Array:
    """What clusters (clusters × class × score) change together, their rows one by one."""
    assert metric.one_row is not None
    unit = np.full(counts.shape, counts.sum() / rows)
    by_row = metric.one_row.changes(*counts, unit, **metric.parameters) / unit
    return np.asarray((each * by_row).sum((-1, -2)))


# ── several classes, of which only sums were kept ────────────────────────────────────────────────────────────────

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
