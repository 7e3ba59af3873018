"""What one row changes in figures of scores: means of losses, rankings, and figures of several classes."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial

import numpy as np

from stakes.metrics import Metric, measure
from stakes.metrics.many import ROW_LOSSES, Average, ClassRows, Ranking, unseen_in_ranking
from stakes.metrics.prior import base_of
from stakes.metrics.ranking import auc
from stakes.tallies import ClassScores, ScoreTable, bins
from stakes.tallies.arithmetic import Array, divide, weighted_sum
from stakes.tallies.clusters import MOST_CLASSES, Clusters
from stakes.tallies.columns import Columns
from stakes.tallies.grid import Grid
from stakes.tallies.losses import KEPT
from stakes.uncertainty.influence import (
    CELLS,
    NOT_KEPT,
    SINGLE_ROW,
    Found,
    Influence,
    kish,
    kish_of,
    left_out,
    unit_weights,
)
from stakes.uncertainty.sampling import Sampling

MOST_ROWS = 1 << 17
"""Of more rows than this, evenly spaced ones are used for losses."""

_WIDE = 10
"""Powers of two are cut into 2¹⁰ bins where there are very many of the finer ones."""

_ROUNDING = 1e-14
"""What rounding alone may change in a figure."""

_SOME_ROWS = 1 << 14
"""Rows from which the loss of one more is estimated."""


@dataclass(frozen=True, eq=False)
class LossRows:
    """Rows of a class and an output (a score, or one for each class), and the units that are left out.

    Units are rows that are alike, or the clusters (``groups``) in which they lie. ``weight`` is that of all rows that
    are alike, ``squares`` the sum of their squared weights. Of rows in bins ``sums`` are what their losses add up to.
    """

    classes: Array
    outputs: Array
    weight: Array
    squares: Array
    groups: Array | None = None
    sums: Array | None = None
    _known: dict[object, tuple[Array, float]] = field(default_factory=dict)

    @classmethod
    def of_clusters(cls, clusters: Clusters, classes: Array) -> "LossRows":
        """Every row by itself, in its cluster."""
        scores = np.asarray(clusters.scores, np.float64)
        return cls(classes, scores, clusters.weights, clusters.squared_weights, clusters.groups)

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
        return cls(classes, outputs, weight, weight * unit[classes, places], sums=table.losses)

    @cached_property
    def sizes(self) -> Array:
        """What the rows of each class weigh."""
        return np.bincount(self.classes, self.weight)

    @cached_property
    def unit(self) -> Array:
        """What one of the rows that are alike weighs."""
        return divide(self.squares, self.weight, 1.0)

    @cached_property
    def number(self) -> Array:
        """How many units of each kind there are."""
        return divide(self.weight, self.unit) if self.groups is None else np.ones(int(self.groups.max()) + 1)

    @cached_property
    def equal_units(self) -> float:
        """The effective number of units (Kish)."""
        return kish_of(self.weight, self.squares) if self.groups is None else kish(self._taken[0].sum(-1))

    @property
    def taken(self) -> Array:
        """What each cluster takes from each class."""
        return self._taken[0]

    @cached_property
    def _taken(self) -> tuple[Array, Array | slice]:
        """What units take from each class: the different ones, and which of them each unit is."""
        K = len(self.sizes)
        if self.groups is not None:
            cells = self.groups * K + self.classes
            return np.bincount(cells, self.weight, len(self.number) * K).reshape(-1, K), slice(None)
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
        if self.sums is None:
            return losses
        loss = metric.loss if metric.population is None else base_of(metric).loss
        if loss not in KEPT:
            return losses
        own = self.sums[KEPT.index(loss)]
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
        lost = self.unit * loss if self.groups is None else np.bincount(self.groups, self.weight * loss)
        left = left if metric.relative_to is None else left * metric.relative_to(rest)
        return np.asarray((weighted_sum(loss, self.weight) - lost) / left[which])

    @cached_property
    def _left(self) -> tuple[Array, Array]:
        """What is left of each class without each of the different units, and of all."""
        rest = np.maximum(self.sizes - self._taken[0], 0.0)
        return rest, rest.sum(-1)

    def _means(self, loss: Array) -> Array:
        """The mean loss of each class."""
        return np.asarray(np.bincount(self.classes, self.weight * loss) / np.maximum(self.sizes, 1e-300))

    def by_class(self, loss: Array, shares: Array | None = None) -> Found:
        """What units change in the mean loss at fixed class frequencies: ``shares``, or those of the rows."""
        shares = self.sizes / self.sizes.sum() if shares is None else shares
        if self.groups is not None:
            return self._clusters_by_class(loss, shares, self.groups)
        means = self._means(loss)
        own = np.bincount(self.classes, self.number)
        if ((own > 0) & (own < 1.5)).any():
            return SINGLE_ROW
        sizes = self.sizes[self.classes]
        inside = divide(self.unit, sizes - self.unit) * (loss - means[self.classes])
        return Influence(shares[self.classes] * inside, self.number, own[self.classes], self.equal_units - 1)

    def _clusters_by_class(self, loss: Array, shares: Array, groups: Array) -> Found:
        """The same without each cluster."""
        sizes, _ = self._taken
        K, cells = len(self.sizes), groups * len(self.sizes) + self.classes
        lost = np.bincount(cells, self.weight * loss, len(sizes) * K).reshape(-1, K)
        rest = divide(lost.sum(0) - lost, self.sizes - sizes, math.nan)
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
    if shares is not None or (held and rows.groups is None):
        found = rows.by_class(loss / scale, shares)
        return found if isinstance(found, str) else replace(found, unseen=unseen)
    among = rows.equal_units if rows.groups is None else float(len(rows.number))
    return Influence(value - rows.without(metric), rows.number, among, rows.equal_units - 1, unseen)


def score_counts(columns: Columns) -> tuple[Array, Array]:
    """Positives and negatives at each score, and the weight of such a row."""
    counts = columns.counts().astype(np.float64)
    return counts, unit_weights(counts, columns.counts("_squared") if columns.weighted else None)


# ── scores of several classes ────────────────────────────────────────────────────────────────────────────────────
def of_class_scores(metrics: Sequence[Metric], scores: ClassScores, sampling: Sampling) -> list[Found]:
    """What each row of clusters, or of a sample, changes; added up over clusters."""
    clusters, sample = sampling.clusters, scores.sample
    if len(scores.classes) > MOST_CLASSES:
        return [f"there are more than {MOST_CLASSES} classes"] * len(metrics)
    if clusters is not None and clusters.cells:
        return of_class_cells(metrics, scores, sampling)
    if clusters is not None:
        rows = LossRows.of_clusters(clusters, np.asarray(clusters.truth, np.int64))
    else:
        assert sample is not None
        rows = LossRows(sample.truth.astype(np.int64), sample.scores, sample.weight, sample.squares)
    ranked = ClassRows(rows.outputs, rows.classes, rows.weight)
    found: list[Found] = []
    for metric in metrics:
        if metric.loss is not None:
            found.append(of_losses(metric, rows, sampling.fixed))
        else:
            assert metric.changes is not None
            changes = _without_rounding(metric.changes(ranked))
            unseen = _unseen_in_classes(metric, scores, ranked, perfect=not changes.any())
            found.append(of_rows(changes, rows, sampling.fixed, unseen))
    return found


def _without_rounding(changes: Array) -> Array:
    """The same with 0 where rounding alone changes a figure."""
    return np.where(np.abs(changes) <= _ROUNDING, 0.0, changes)


def _unseen_in_classes(metric: Metric, scores: ClassScores, rows: ClassRows, perfect: bool) -> float:
    """What one more row of each class could change in an average over the classes, or over every two of them."""
    average = (metric if metric.population is None else base_of(metric)).function
    if not isinstance(average, Average):
        return _unseen_in_pairs(metric, scores) if perfect else 0.0
    base = average.base.with_parameters(**metric.parameters)
    if not _needs_unseen(base, perfect):
        return 0.0
    each = [one.unseen(base) if one.positive.any() else 0.0 for one in rows.against_rest]
    return _together(each, rows.shares if average.how == "weighted" else None)


def _needs_unseen(base: Metric, perfect: bool) -> bool:
    """Whether seen rows do not tell all: where none changes a figure, and at a place above which all may be right."""
    return perfect or (base.one_row is not None and base.one_row.place)


def _unseen_in_tables(base: Metric, scores: ClassScores, shares: Array) -> float:
    """The same from the table of each class."""
    each = []
    for table in scores.tables:
        _, counts, _ = level_counts(table, _MOST_LEVELS)
        each.append(unseen_in_ranking(base, float(base.of(table)), counts / float(table.row_weight)))
    return _together(each, shares)


def _together(unseen: Sequence[float] | Array, shares: Array | None = None) -> float:
    """What unseen rows of all classes, which vary by themselves, change in the average of their figures."""
    weights = np.full(len(unseen), 1 / len(unseen)) if shares is None else shares
    return float(np.sqrt(((weights * np.asarray(unseen)) ** 2).sum()))


def _unseen_in_pairs(metric: Metric, scores: ClassScores) -> float:
    """The same of the mean area of every two classes: each class is one of two in 2 / k of the pairs."""
    value, rows = float(metric.of(scores)), scores.sizes * (scores.equal_rows / float(scores.total))
    return 2 * _together(max(value, 1 - value) / (rows + 1))


def of_rows(changes: Array, rows: LossRows, held: bool, unseen: float = 0.0) -> Found:
    """Rows that stand for several others, or add up to clusters."""
    if not np.isfinite(changes).all():
        return "a class has no rows"
    if rows.groups is not None:
        return Influence.of_units(np.bincount(rows.groups, changes), rows.equal_units, unseen)
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


IN_BINS = "the scores were counted in bins"

_PARTS = 100_000
"""Into about as many parts rows are cut whose order is not known."""


def known_in_bins(metric: Metric, table: ScoreTable) -> bool:
    """Whether a figure of scores has an interval: of merged bins, only where it is known how far these move it."""
    return not table.merged or metric.loss is not None or metric.one_row is not None


def order_bounds(metrics: Sequence[Metric], table: ScoreTable) -> list[tuple[float, float]]:
    """The lowest and the highest of each figure over all orders of rows in a bin.

    A positive that ranks higher raises them.
    """
    walked = [metric for metric in metrics if metric.one_row is not None and metric.one_row.bounds is None]
    ends = [measure(walked, end) for end in _ends_of_order(table)] if walked else []
    found = dict(zip((id(metric) for metric in walked), zip(*ends, strict=True), strict=True))
    for metric in metrics:
        if metric.one_row is not None and metric.one_row.bounds is not None:
            found[id(metric)] = metric.one_row.bounds(table)
    return [(float(lost), float(won)) for lost, won in (found[id(metric)] for metric in metrics)]


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
    return rows if sampling.clusters.grid is None else replace(rows, sums=table.losses)


def level_counts(table: ScoreTable, most: int, single: int = 48) -> Levels:
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
        _, counts, _ = level_counts(table, _MOST_LEVELS)
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
    lowest, counts, _ = level_counts(table, _MOST_LEVELS)
    unit = np.full(counts.shape, float(table.row_weight))
    cells, levels, places = _cells_of_levels(lowest, clusters)
    places = places + len(cells) * (1 - np.asarray(clusters.truth, np.int64))
    rows = np.stack([np.bincount(levels, one) for one in counts])
    for metric in metrics:
        assert metric.one_row is not None
        changed = counts * metric.one_row.changes(*counts, unit, **metric.parameters) / unit
        by_row = divide(np.stack([np.bincount(levels, one) for one in changed]), rows)
        yield np.bincount(clusters.groups, clusters.weights * by_row.ravel()[places], clusters.size)


def _cells_of_levels(lowest: Array, clusters: Clusters) -> tuple[Array, Array, Array]:
    """The cells of scores in which rows of clusters lie, or the scores themselves; that of each level and each row."""
    scores = np.asarray(clusters.scores, np.float64)
    if clusters.grid is None:
        return lowest, np.arange(len(lowest)), np.searchsorted(-lowest, -scores)
    cells, levels = np.unique(bins.numbers(lowest, *clusters.grid), return_inverse=True)
    own = bins.numbers(scores, *clusters.grid)
    first, last = int(own.min()), int(own.max())
    nearest = np.maximum(np.searchsorted(cells, np.arange(first, last + 1), side="right") - 1, 0)
    return cells, levels, nearest[own - first]


# ── several classes, from sums alone ─────────────────────────────────────────────────────────────────────────────

_NO_SAMPLE = "no sample of the rows was kept"
_LARGEST_DISTANCE = 2.0


def without_rows(metrics: Sequence[Metric], scores: ClassScores, sampling: Sampling) -> list[Found]:
    """Means of losses by how these spread, other figures by random groups of rows, or by the figure of each class."""

    def known(metric: Metric) -> Found:
        if metric.population is not None:
            return _NO_SAMPLE
        if metric.loss in ROW_LOSSES and scores.moments is not None:
            return of_losses(metric, _as_spread(metric, scores), sampling.fixed)
        if isinstance(metric.function, Average):
            base = metric.function.base.with_parameters(**metric.parameters)
            return _of_average(base, metric.function.how == "weighted", scores, sampling)
        return _NO_SAMPLE

    if scores.row_groups is None:
        return [known(metric) for metric in metrics]
    by_groups = [i for i, metric in enumerate(metrics) if metric.population is None and metric.loss not in ROW_LOSSES]
    held = replace(sampling, clusters=scores.row_groups)
    found = dict(zip(by_groups, of_class_cells([metrics[i] for i in by_groups], scores, held), strict=True))
    return [found[i] if i in found else known(metric) for i, metric in enumerate(metrics)]


# ── means of losses ──────────────────────────────────────────────────────────────────────────────────────────────
def _as_spread(metric: Metric, scores: ClassScores) -> LossRows:
    """Two kinds of rows for each class, whose losses have the mean, the variance and the skewness of all."""
    assert scores.moments is not None
    place, sizes = ROW_LOSSES.index(metric.loss), scores.sizes.astype(np.float64)
    low, high, share = _two_points(sizes, scores.moments[:, place])
    unit = divide(scores.moments[:, place, 1], sizes, 1.0)
    weight, classes = np.concatenate([share * sizes, (1 - share) * sizes]), np.tile(np.arange(len(sizes)), 2)
    rows = LossRows(classes, np.zeros((len(classes), len(sizes))), weight, weight * np.tile(unit, 2))
    return rows.losing(metric, np.concatenate([low, high]), _worst(metric, scores))


def _worst(metric: Metric, scores: ClassScores) -> float:
    """What one more row is taken to lose."""
    return _LARGEST_DISTANCE if metric.loss is ROW_LOSSES[1] else _expected_surprise(scores)


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
    """E(loss²)/E(loss), if the stated probabilities held."""
    first = second = 0.0
    for table in scores.tables:
        columns = table.as_columns()
        probability = columns.scores.astype(np.float64) if table.grid is None else table.grid.middles(columns.scores)
        rows = (columns.values["positives"] + columns.values["negatives"]).astype(np.float64)
        likely = probability > 0
        loss = 0.0 - np.log(probability[likely])
        expected = rows[likely] * probability[likely] * loss
        first, second = first + float(expected.sum()), second + float((expected * loss).sum())
    return second / first if first > 0 else 0.0


# ── averages over the classes ────────────────────────────────────────────────────────────────────────────────────
def _of_average(base: Metric, weighted: bool, scores: ClassScores, sampling: Sampling) -> Found:
    """At most the average of the classes' standard errors, whichever rows they share."""
    sizes = scores.sizes.astype(np.float64)
    shares = sizes / sizes.sum() if weighted else np.full(len(sizes), 1 / len(sizes))
    values = np.array([float(base.of(table)) for table in scores.tables])
    each = zip(values, scores.tables, strict=True)
    found = [of_scores([base], [value], table, sampling)[0] for value, table in each]
    if why := next((one for one in found if isinstance(one, str)), ""):
        return why
    errors = np.array([replace(one, unseen=0.0).error for one in found if isinstance(one, Influence)])
    error, units = float(errors @ shares), scores.equal_rows
    if weighted:  # how frequent the classes are varies, too
        error += float(np.sqrt(shares @ (values - shares @ values) ** 2 / units))
    error = 0.0 if error <= _ROUNDING else error
    unseen = _unseen_in_tables(base, scores, shares) if _needs_unseen(base, perfect=not error) else 0.0
    return Influence.of_error(error, units, units - 1, unseen=unseen)


# ── several classes, from sums and cells of each cluster ─────────────────────────────────────────────────────────
def of_class_cells(metrics: Sequence[Metric], scores: ClassScores, sampling: Sampling) -> list[Found]:
    """Leave out one cluster after another: of sums of losses, and of the cells in which each class's scores lie."""
    clusters = sampling.require_clusters()
    outputs = np.zeros((len(clusters.groups), len(scores.classes)))  # what rows lose was added up
    truth, weights = np.asarray(clusters.truth, np.int64), (clusters.weights, clusters.squared_weights)
    rows = LossRows(truth, outputs, *weights, clusters.groups)
    bases = {
        metric.full_text: metric.function.base.with_parameters(**metric.parameters)
        for metric in metrics
        if isinstance(metric.function, Average)
    }
    each = _of_each_class(list(bases.values()), scores, sampling)

    def found(metric: Metric) -> Found:
        if isinstance(metric.function, Average):
            base, weighted = bases[metric.full_text], metric.function.how == "weighted"
            return _averaged(base, each[base.full_text], rows, scores, weighted)
        if "pairs" in metric.parts:
            changes = _without_rounding(_pairs_of_clusters(clusters))
            unseen = 0.0 if changes.any() else _unseen_in_pairs(metric, scores)
            return Influence.of_units(changes, rows.equal_units, unseen)
        lost = None if metric.population is not None else _lost(metric, clusters)
        return NOT_KEPT if lost is None else of_losses(metric, rows.losing(metric, lost, _worst(metric, scores)))

    return [found(metric) for metric in metrics]


def _lost(metric: Metric, clusters: Clusters) -> Array | None:
    """The mean loss of the rows of each entry; None for a loss that was not added up."""
    if metric.loss in ROW_LOSSES:
        return divide(np.asarray(clusters.lost)[:, ROW_LOSSES.index(metric.loss)], clusters.weights)
    if "k" not in metric.parameters:
        return None
    return np.asarray(np.asarray(clusters.ranks) < metric.parameters["k"], np.float64)


def _of_each_class(
    bases: Sequence[Metric], scores: ClassScores, sampling: Sampling
) -> dict[str, list[tuple[float, Found]]]:
    """Figures of each class against the rest, and what they lose without each cluster."""
    distinct = list({base.full_text: base for base in bases}.values())
    of_base: dict[str, list[tuple[float, Found]]] = {base.full_text: [] for base in distinct}
    for place, table in enumerate(scores.tables if distinct else ()):
        values = [float(one) for one in measure(distinct, table)]
        own = sampling.of_clusters(sampling.require_clusters().against_rest(place))
        for base, value, found in zip(distinct, values, of_scores(distinct, values, table, own), strict=True):
            of_base[base.full_text].append((value, found))
    return of_base


def _averaged(
    base: Metric, each: Sequence[tuple[float, Found]], rows: LossRows, scores: ClassScores, weighted: bool
) -> Found:
    """What the average over the classes loses without each cluster: the average of what their figures lose."""
    if why := next((found for _, found in each if isinstance(found, str)), ""):
        return why
    shares = rows.sizes / rows.sizes.sum() if weighted else np.full(len(each), 1 / len(each))
    changes = shares @ np.stack([found.changes for _, found in each if isinstance(found, Influence)])
    if weighted:  # how frequent the classes are varies, too
        rest = rows.sizes - rows.taken
        moved = shares - divide(rest, rest.sum(-1, keepdims=True))
        changes = changes + moved @ np.array([value for value, _ in each])
    if all(value in base.range for value, _ in each):  # perfect, whatever shares a coarse cell
        changes = np.zeros(len(changes))
    changes = _without_rounding(changes)
    unseen = _unseen_in_tables(base, scores, shares) if _needs_unseen(base, perfect=not changes.any()) else 0.0
    return Influence.of_units(changes, rows.equal_units, unseen)


def _pairs_of_clusters(clusters: Clusters) -> Array:
    """What the mean area of all pairs of classes loses without each cluster."""
    k, size = len(clusters.cells), clusters.size
    changes = np.zeros(size)
    for one, other in itertools.permutations(range(k), 2):
        cells = clusters.cells[one]
        both = np.flatnonzero((cells.truth == one) | (cells.truth == other))
        columns = np.asarray(cells.scores)[both], np.asarray(cells.truth)[both] == one
        pair = Ranking(*columns, cells.weights[both], cells.squared_weights[both])
        changes += np.bincount(cells.groups[both], pair.changes(auc), size)
    return changes / (k * (k - 1))
