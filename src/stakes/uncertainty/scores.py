"""What one row changes in figures of scores: means of losses, and rankings of two classes."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from stakes.metrics import Metric, measure
from stakes.metrics.prior import base_of
from stakes.tallies import ScoreTable, bins
from stakes.tallies.arithmetic import Array, Number, divide, weighted_sum
from stakes.tallies.clusters import Clusters
from stakes.tallies.columns import Columns
from stakes.tallies.grid import Grid
from stakes.tallies.losses import KEPT
from stakes.uncertainty.influence import CELLS, SINGLE_ROW, Found, Influence, kish, kish_of, left_out, unit_weights
from stakes.uncertainty.sampling import Sampling

if TYPE_CHECKING:
    from scipy.sparse import csc_array

MOST_ROWS = 1 << 17
"""Of more rows than this, evenly spaced ones are used for losses."""

_WIDE = 10
"""Powers of two are cut into 2¹⁰ bins where there are very many of the finer ones."""

_SOME_ROWS = 1 << 14
"""Rows from which the loss of one more is estimated."""


@dataclass(frozen=True, eq=False)
class LossRows:
    """Rows of a class and an output (a score, or one for each class), and the units that are left out.

    Units are rows that are alike, or the clusters (``groups``) in which they lie; of rows in cells it is known what
    clusters ``hold`` of those that are alike. ``weight`` is that of all rows that are alike, ``squares`` the sum of
    their squared weights. Rows in bins are those of a table, which knows what their losses add up to. There may be more
    classes (``least``) than those that have rows.
    """

    classes: Array
    outputs: Array
    weight: Array
    squares: Array
    groups: Array | None = None
    hold: "csc_array | None" = None
    in_bins: ScoreTable | None = None
    least: int = 0
    _known: dict[object, tuple[Array, float]] = field(default_factory=dict)

    @classmethod
    def of_clusters(cls, clusters: Clusters, classes: Array) -> "LossRows":
        """Every row by itself, in its cluster; of rows in cells, those of a class and cell together."""
        scores = np.asarray(clusters.scores, np.float64)
        if clusters.grid is None:
            return cls(classes, scores, clusters.weights, clusters.squared_weights, clusters.groups)
        first, hold = clusters.kinds()
        weight, squares = (np.add.reduceat(one, first) for one in (clusters.weights, clusters.squared_weights))
        return cls(classes[first], scores[first], weight, squares, hold=hold)

    @classmethod
    def of_table(cls, table: ScoreTable) -> "LossRows":
        """Rows of one class (0: positive) at one score; of very many rows, evenly spaced ones stand for all."""
        if table.weighted or table.grid is not None:
            store = table.as_columns()
            scores, store = (store.scores, store) if table.grid is None else _in_wide_bins(store, table.grid)
            counts, unit = score_counts(store)
        else:
            scores, *both = table.some_rows(MOST_ROWS)
            counts = np.stack(both).astype(np.float64)
            counts *= divide(np.array([[float(table.P)], [float(table.N)]]), counts.sum(-1, keepdims=True))
            unit = np.ones(counts.shape)
        classes, places = np.nonzero(counts)
        weight = counts[classes, places]
        outputs = scores[places].astype(np.float64)
        return cls(classes, outputs, weight, weight * unit[classes, places], in_bins=table)

    @cached_property
    def sizes(self) -> Array:
        """What the rows of each class weigh."""
        return np.bincount(self.classes, self.weight, self.least)

    @property
    def clustered(self) -> bool:
        """Whether units are clusters."""
        return self.groups is not None or self.hold is not None

    def by_cluster(self, each: Array) -> Array:
        """Add up what rows weigh, times a column of theirs: cluster × class."""
        K = len(self.sizes)
        if self.hold is not None:
            return np.asarray(self.hold @ (each[:, None] * (self.classes[:, None] == np.arange(K))))
        groups = np.asarray(self.groups)
        size = int(groups.max()) + 1
        return np.bincount(groups * K + self.classes, self.weight * each, size * K).reshape(size, K)

    @cached_property
    def unit(self) -> Array:
        """What one of the rows that are alike weighs."""
        return divide(self.squares, self.weight, 1.0)

    @cached_property
    def number(self) -> Array:
        """How many units of each kind there are."""
        return np.ones(len(self.taken)) if self.clustered else divide(self.weight, self.unit)

    @cached_property
    def equal_units(self) -> float:
        """The effective number of units (Kish)."""
        return kish(self.taken.sum(-1)) if self.clustered else kish_of(self.weight, self.squares)

    @property
    def taken(self) -> Array:
        """What each cluster takes from each class."""
        return self._taken[0]

    @cached_property
    def _taken(self) -> tuple[Array, Array | slice]:
        """What units take from each class: the different ones, and which of them each unit is."""
        K = len(self.sizes)
        if self.clustered:
            return self.by_cluster(np.ones(len(self.weight))), slice(None)
        if np.ptp(self.unit) == 0:
            return self.unit[0] * np.eye(K), self.classes
        return self.unit[:, None] * (self.classes[:, None] == np.arange(K)), slice(None)

    def losses(self, metric: Metric) -> tuple[Array, float]:
        """What each row loses, and what one more is taken to lose; figures that share a loss work it out once.

        That is E(loss²)/E(loss), if the stated probabilities held.
        """
        key = metric.loss, tuple(metric.parameters.items())
        if key not in self._known:
            of_two = self.outputs.ndim == 1
            own = self._as_added_up(
                metric, metric.row_losses(self.classes == 0 if of_two else self.classes, self.outputs)
            )
            some = slice(None, None, -(-len(own) // _SOME_ROWS))
            outputs, weight = self.outputs[some], self.weight[some]
            codes = (True, False) if of_two else range(outputs.shape[1])
            stated = np.stack([outputs, 1 - outputs]) if of_two else outputs.T
            each = np.stack([metric.row_losses(np.full(len(weight), code), outputs) for code in codes])
            possible = np.where(stated > 0, each, 0.0)
            expected = stated * possible * weight
            first, second = float(expected.sum()), float((expected * possible).sum())
            self._known[key] = own, second / first if first > 0 else 0.0
        return self._known[key]

    def losing(self, metric: Metric, losses: Array, worst: float) -> "LossRows":
        """Return the same rows with known losses, and the loss of one more row."""
        return replace(self, _known={(metric.loss, tuple(metric.parameters.items())): (losses, worst)})

    def _as_added_up(self, metric: Metric, losses: Array) -> Array:
        """Losses in the middle of bins, stretched so that those of a class add up to what its rows lose."""
        table, population = self.in_bins, metric.population
        loss = metric.loss if population is None else base_of(metric).loss
        if table is None or table.losses is None or loss not in KEPT:
            return losses
        table = table if population is None else population.with_losses(table)[0]
        assert table.losses is not None
        own = table.losses[KEPT.index(loss)]
        if not np.isfinite(own).all():
            return np.full(len(losses), np.inf)
        return losses * divide(own, np.bincount(self.classes, self.weight * losses, 2), 1.0)[self.classes]

    def shares(self, metric: Metric) -> Array | None:
        """The class frequencies of the population that a figure is about, if that is not the rows'."""
        if metric.population is None or metric.population.shares is None:
            return None
        shares = metric.population.by_class
        of_two = self.outputs.ndim == 1  # there the positive class comes first, as here
        return np.array(list(shares.values()) if of_two else [shares[name] for name in metric.population.classes])

    def mean(self, metric: Metric) -> float:
        """The mean loss, or the one relative to that of the class frequencies."""
        loss, _ = self.losses(metric)
        if (shares := self.shares(metric)) is not None:
            scale = 1.0 if metric.relative_to is None else float(metric.relative_to(shares))
            return float(np.divide(weighted_sum(shares, self._means(loss)), scale))
        scale = 1.0 if metric.relative_to is None else float(metric.relative_to(self.sizes))
        return float(np.divide(weighted_sum(loss, self.weight) / self.weight.sum(), scale))

    def value(self, metric: Metric) -> float:
        """The figure: that mean, or its root."""
        return math.sqrt(self.mean(metric)) if metric.root else self.mean(metric)

    def without(self, metric: Metric) -> Array:
        """The same without each unit."""
        (loss, _), (_, which), (rest, left) = self.losses(metric), self._taken, self._left
        lost = self.by_cluster(loss).sum(-1) if self.clustered else self.unit * loss
        left = left if metric.relative_to is None else left * metric.relative_to(rest)
        return np.asarray((weighted_sum(loss, self.weight) - lost) / left[which])

    @cached_property
    def _left(self) -> tuple[Array, Array]:
        """What is left of each class without each of the different units, and of all."""
        rest = np.maximum(self.sizes - self._taken[0], 0.0)
        return rest, rest.sum(-1)

    def _means(self, loss: Array) -> Array:
        """The mean loss of each class."""
        return np.asarray(np.bincount(self.classes, self.weight * loss, self.least) / np.maximum(self.sizes, 1e-300))

    def by_class(self, loss: Array, shares: Array | None = None) -> Found:
        """What units change in the mean loss at fixed class frequencies: ``shares``, or those of the rows."""
        shares = self.sizes / self.sizes.sum() if shares is None else shares
        if self.clustered:
            return self._clusters_by_class(loss, shares)
        means = self._means(loss)
        own = np.bincount(self.classes, self.number, self.least)
        if ((own > 0) & (own < 1.5)).any():
            return SINGLE_ROW
        sizes = self.sizes[self.classes]
        inside = divide(self.unit, sizes - self.unit) * (loss - means[self.classes])
        return Influence(shares[self.classes] * inside, self.number, own[self.classes], self.equal_units - 1)

    def _clusters_by_class(self, loss: Array, shares: Array) -> Found:
        """The same without each cluster."""
        lost = self.by_cluster(loss)
        rest = divide(lost.sum(0) - lost, self.sizes - self.taken, math.nan)
        changes = weighted_sum(shares, self._means(loss)) - (shares * rest)[:, shares > 0].sum(-1)
        return Influence.of_units(changes, self.equal_units)


def _in_wide_bins(store: Columns, grid: Grid) -> tuple[Array, Columns]:
    """The middles of bins; very many bins are merged into some a thousandth of a score wide."""
    middles = grid.middles(store.scores)
    if len(middles) <= MOST_ROWS:
        return middles, store
    wide = bins.numbers(store.scores, grid.kind, _WIDE)
    ends = np.append(np.flatnonzero(wide[1:] != wide[:-1]) + 1, len(wide))
    rows = store.counts().sum(-2)
    together = Columns(store.scores, {**store.values, "rows": rows, "scores": rows * middles}).cut(ends)
    return together.values["scores"] / together.values["rows"], together


def of_losses(metric: Metric, rows: LossRows, held: bool = False) -> Found:
    """What a mean of losses, a relative one, or the root of these loses without each unit."""
    found = _of_means(metric, rows, held)
    if isinstance(found, str) or not metric.root:
        return found
    mean, root = rows.mean(metric), rows.value(metric)
    changes = root - np.sqrt(np.maximum(mean - found.changes, 0.0))
    return replace(found, changes=changes, unseen=math.sqrt(mean + found.unseen) - root)


def _of_means(metric: Metric, rows: LossRows, held: bool) -> Found:
    loss, worst = rows.losses(metric)
    shares = rows.shares(metric)
    if not np.isfinite(loss).all():
        return "a probability of 0 for what happened makes the loss infinite"
    scale = 1.0 if metric.relative_to is None else float(metric.relative_to(rows.sizes if shares is None else shares))
    value, (low, high) = rows.mean(metric), metric.range
    bounded = math.isfinite(high - low)
    unseen = max(value - low, high - value) if bounded else max(worst / max(scale, 1e-300) - value, 0.0)
    unseen /= kish_of(rows.weight, rows.squares) + 1  # it is one row, whatever is left out
    if shares is not None:  # a row of a class that is more frequent there than here counts for more
        unseen *= float((shares * rows.sizes.sum() / np.maximum(rows.sizes, 1e-300)).max())
    if shares is not None or (held and not rows.clustered):
        found = rows.by_class(loss / scale, shares)
        return found if isinstance(found, str) else replace(found, unseen=unseen)
    among = float(len(rows.taken)) if rows.clustered else rows.equal_units
    return Influence(value - rows.without(metric), rows.number, among, rows.equal_units - 1, unseen)


def score_counts(columns: Columns) -> tuple[Array, Array]:
    """Positives and negatives at each score, and the weight of such a row."""
    counts = columns.counts().astype(np.float64)
    return counts, unit_weights(counts, columns.counts("_squared") if columns.weighted else None)


def of_rows(changes: Array, rows: LossRows, held: bool, unseen: float = 0.0) -> Found:
    """Rows that stand for several others, or add up to clusters."""
    if not np.isfinite(changes).all():
        return "a class has no rows"
    if rows.clustered:
        changes = rows.by_cluster(divide(changes, rows.weight)).sum(-1)
        return Influence.of_units(changes, rows.equal_units, unseen)
    one = changes / np.maximum(rows.number, 1e-300)  # of a single row of those that it stands for
    sizes: Array | float = rows.equal_units
    if held:
        own = np.bincount(rows.classes, rows.number)
        if ((own > 0) & (own < 1.5)).any():
            return SINGLE_ROW
        means = np.bincount(rows.classes, rows.number * one) / np.maximum(own, 1e-300)
        sizes, one = own[rows.classes], one - means[rows.classes]
    return Influence(one, rows.number, sizes, rows.equal_units - 1, unseen)


_MOST_LEVELS = 1 << 17
"""Up to this many scores are used where a figure declares what each row changes."""

_FEW_LEVELS = 256
"""Up to this many scores of a ranking are left out one by one."""

_FEW_SINGLE = 16
"""Beyond that pieces are left out; this many at the top are single scores."""

Levels = tuple[Array, Array, Array]
"""The scores (of pieces: the lowest), positives and negatives there, and the weight of such a row."""


def of_scores(metrics: Sequence[Metric], values: Sequence[float], table: ScoreTable, sampling: Sampling) -> list[Found]:
    """Leave out one row of each class at each score, or one cluster."""
    found: dict[int, Found] = {}
    levels, rows = cache(partial(level_counts, table)), cache(partial(_loss_rows, table, sampling))
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


IN_BINS = "the scores were counted in bins"

_PARTS = 100_000
"""Into about as many parts rows are cut whose order is not known."""


def known_in_bins(metric: Metric, table: ScoreTable) -> bool:
    """Whether a figure of scores has an interval: of merged bins, only where it is known how far these move it."""
    return not table.merged or metric.loss is not None or metric.one_row is not None


def order_bounds(metrics: Sequence[Metric], table: ScoreTable) -> list[tuple[float, float]]:
    """The lowest and the highest of each figure over all orders of rows in a bin, or over all scores in it.

    A positive that ranks higher raises a figure of the order.
    """
    walked = [metric for metric in metrics if metric.one_row is not None and metric.one_row.bounds is None]
    ends = [measure(walked, end) for end in _ends_of_order(table)] if walked else []
    found = dict(zip((id(metric) for metric in walked), zip(*ends, strict=True), strict=True))
    for metric in metrics:
        if metric.one_row is not None and metric.one_row.bounds is not None:
            found[id(metric)] = metric.one_row.bounds(table)
        elif corrects_losses(metric):
            found[id(metric)] = _bounds_of_loss(metric, table)
    return [(float(lost), float(won)) for lost, won in (found[id(metric)] for metric in metrics)]


def corrects_losses(metric: Metric) -> bool:
    """Whether a figure is one of losses of probabilities that were corrected for other class frequencies."""
    return metric.loss is not None and metric.population is not None and metric.population.factors is not None


def _bounds_of_loss(metric: Metric, table: ScoreTable) -> tuple[Number, Number]:
    """The lowest and the highest figure of corrected losses that the bins leave open."""
    population, base = metric.population, base_of(metric)
    assert population is not None
    at_shares = replace(population, factors=None).of(table)
    _, least, most = population.with_losses(at_shares)
    low, high = (measure([base], one)[0] for one in (least, most))
    return low, high


def _ends_of_order(table: ScoreTable) -> tuple[ScoreTable, ScoreTable]:
    """The same rows in bins, the positives of each bin below its negatives, and above them.

    Neighbouring bins with a hundred thousandth of the rows are taken together.
    """
    columns, grid = table.as_columns(), table.grid
    assert grid is not None
    rows = columns.counts().sum(0, dtype=np.float64).cumsum()
    parts = (rows * (_PARTS / rows[-1])).astype(np.int64)
    columns = columns.cut(np.append(np.flatnonzero(parts[1:] != parts[:-1]) + 1, len(parts)))
    scores = np.stack([grid.middles(columns.scores), columns.scores], axis=1).ravel()

    def apart(above: str) -> ScoreTable:
        values = {}
        for name, some in columns.values.items():
            both = np.zeros((len(some), 2), some.dtype)
            both[:, 0 if name.startswith(above) else 1] = some
            values[name] = both.ravel()
        return ScoreTable(table.positive, table.negative, Columns.joined_neighbours(scores, values), grid)

    return apart("negatives"), apart("positives")


def _loss_rows(table: ScoreTable, sampling: Sampling) -> LossRows:
    if sampling.clusters is None:
        return LossRows.of_table(table)
    rows = LossRows.of_clusters(sampling.clusters, 1 - np.asarray(sampling.clusters.truth, np.int64))
    return rows if sampling.clusters.grid is None else replace(rows, in_bins=table)


def level_counts(table: ScoreTable, most: int = _MOST_LEVELS, single: int = 48) -> Levels:
    """All scores, or if there are more than ``most`` pieces of them, of which ``single`` ones at the top."""
    columns = (table if _levels_at_most(table, most) else table.compressed(single)).as_columns()
    return columns.scores, *score_counts(columns)


def _levels_at_most(table: ScoreTable, most: int) -> bool:
    """Whether there are so few scores; without weights the number of rows is enough, pieces keep their scores."""
    return float(table.total) <= most if not table.weighted else len(table.as_columns().scores) <= most


def _of_one_row(metric: Metric, value: float, table: ScoreTable, levels: Levels, sampling: Sampling) -> Found:
    assert metric.one_row is not None
    _, counts, unit = levels
    changes = metric.one_row.changes(counts[0], counts[1], unit, **metric.parameters)
    unseen = unseen_row(metric, value, table, counts)
    return _of_levels(changes, counts, unit, bearing_rows(metric, table) - 1, unseen, sampling)


def unseen_row(metric: Metric, value: float, table: ScoreTable, counts: Array | None = None) -> float:
    """The largest change that one more row could make; 0 for a figure that does not declare it."""
    if metric.one_row is None:
        return 0.0
    if counts is None:
        _, counts, _ = level_counts(table)
    equal = counts / float(table.row_weight)  # counts of equally weighted rows
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
    """The effective number of rows that a figure rests on: all, the positives, or the smaller class."""
    P, N = table.effective_rows
    if metric.one_row is None or metric.one_row.rests_on == "rows":
        return table.equal_rows
    return P if metric.one_row.rests_on == "positives" else min(P, N)


def _numerically(metrics: Sequence[Metric], table: ScoreTable, sampling: Sampling) -> list[Found]:
    """Leave rows or clusters out of a table of some hundred pieces, and compute the figures again."""
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
        rows = LossRows(classes, scores[places], weight, weight * unit[classes, places], in_bins=table)
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
    few = _levels_at_most(table, CELLS // clusters.size if clusters.grid is None else _FEW_LEVELS)
    scores, each = clusters.pieces(table if few else table.compressed(_FEW_SINGLE))
    counts = each.sum(0)
    at_a_place = [i for i, metric in enumerate(metrics) if metric.one_row is not None and metric.one_row.place]
    left = [i for i in range(len(metrics)) if i not in at_a_place]
    found: dict[int, Array] = {}
    if left:
        found |= zip(left, _score_changes([metrics[i] for i in left], table, scores, counts, each), strict=True)
    found |= zip(at_a_place, _added_up([metrics[i] for i in at_a_place], table, clusters), strict=True)
    by_class = each.sum(-1)
    rests_on = {"rows": kish(by_class.sum(-1)), "positives": kish(by_class[:, 0]), "both": min(map(kish, by_class.T))}
    influences: list[Found] = []
    for i, metric in enumerate(metrics):
        most = rests_on["rows" if metric.one_row is None else metric.one_row.rests_on]
        extra = unseen_row(metric, float(metric.of(table)), table, counts)
        influences.append(Influence.of_units(found[i], most, extra))
    return influences


def _added_up(metrics: Sequence[Metric], table: ScoreTable, clusters: Clusters) -> Iterator[Array]:
    """What the rows of each cluster change, one by one; of rows in coarse cells, what those of a cell do on average."""
    if not metrics:
        return
    lowest, counts, _ = level_counts(table)
    unit = np.full(counts.shape, float(table.row_weight))
    rows = LossRows.of_clusters(clusters, 1 - np.asarray(clusters.truth, np.int64))
    cells, levels, places = _cells_of_levels(lowest, rows.outputs, clusters.grid)
    places = places + len(cells) * rows.classes
    sizes = np.stack([np.bincount(levels, one) for one in counts])
    for metric in metrics:
        assert metric.one_row is not None
        changed = counts * metric.one_row.changes(*counts, unit, **metric.parameters) / unit
        by_row = divide(np.stack([np.bincount(levels, one) for one in changed]), sizes)
        yield rows.by_cluster(by_row.ravel()[places]).sum(-1)


def _cells_of_levels(lowest: Array, scores: Array, grid: tuple[str, int] | None) -> tuple[Array, Array, Array]:
    """The cells in which these scores of rows lie, or the scores themselves; that of each level and each row."""
    if grid is None:
        return lowest, np.arange(len(lowest)), np.searchsorted(-lowest, -scores)
    cells, levels = np.unique(bins.numbers(lowest, *grid), return_inverse=True)
    own = bins.numbers(scores, *grid)
    first, last = int(own.min()), int(own.max())
    nearest = np.maximum(np.searchsorted(cells, np.arange(first, last + 1), side="right") - 1, 0)
    return cells, levels, nearest[own - first]
