"""What one row changes in means of losses, and in figures of class scores."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from stakes.metrics import Metric
from stakes.metrics.many import ClassRows
from stakes.metrics.prior import base_of
from stakes.tallies import ClassScores, ScoreTable
from stakes.tallies.arithmetic import Array, divide, weighted_sum
from stakes.tallies.clusters import Clusters
from stakes.tallies.columns import Columns
from stakes.tallies.losses import KEPT
from stakes.uncertainty.influence import SINGLE_ROW, Found, Influence, kish, kish_of, unit_weights
from stakes.uncertainty.sampling import Sampling

MOST_ROWS = 1 << 17
"""Of more rows evenly spaced ones are asked for their loss."""

_SOME_ROWS = 1 << 14
"""So many rows tell what one more could lose."""

_MOST_CLASSES = 50


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
            scores, (counts, unit) = store.scores, score_counts(store)
            if table.grid is not None:
                scores = table.grid.middles(scores)
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
        """How many units of equal weight would tell as much."""
        return kish_of(self.weight, self.squares) if self.groups is None else kish(self._taken[0].sum(-1))

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

        That is E(loss²)/E(loss), had each row the classes as often as was stated.
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

    def _as_added_up(self, metric: Metric, losses: Array) -> Array:
        """Losses in the middle of bins, stretched so that those of a class add up to what its rows lose."""
        if self.sums is None:
            return losses
        loss = metric.loss if metric.population is None else base_of(metric).loss
        own = self.sums[[kept is loss for kept in KEPT].index(True)]
        if not np.isfinite(own).all():
            return np.full(len(losses), np.inf)
        return losses * divide(own, np.bincount(self.classes, self.weight * losses, 2), 1.0)[self.classes]

    def shares(self, metric: Metric) -> Array | None:
        """How frequent the classes are where a figure is about another place than the rows."""
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
        (loss, _), (taken, which) = self.losses(metric), self._taken
        lost = self.unit * loss if self.groups is None else np.bincount(self.groups, self.weight * loss)
        rest = np.maximum(self.sizes - taken, 0.0)
        left = rest.sum(-1) if metric.relative_to is None else rest.sum(-1) * metric.relative_to(rest)
        return np.asarray((weighted_sum(loss, self.weight) - lost) / left[which])

    def _means(self, loss: Array) -> Array:
        """The mean loss of each class."""
        return np.asarray(np.bincount(self.classes, self.weight * loss) / np.maximum(self.sizes, 1e-300))

    def by_class(self, loss: Array, shares: Array | None = None) -> Found:
        """What units change in the mean loss where the frequency of each class is held, at ``shares`` or as it is."""
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
    names = "positives", "negatives"
    counts = np.stack([columns.values[name] for name in names]).astype(np.float64)
    squares = np.stack([columns.values[f"{name}_squared"] for name in names]) if columns.weighted else None
    return counts, unit_weights(counts, squares)


# ── scores of several classes ────────────────────────────────────────────────────────────────────────────────────
def of_class_scores(metrics: Sequence[Metric], scores: ClassScores, sampling: Sampling) -> list[Found]:
    """Ask the rows of clusters, or a sample of all, what each changes, and add that up over clusters."""
    clusters, sample = sampling.clusters, scores.sample
    if len(scores.classes) > _MOST_CLASSES:
        return [f"there are more than {_MOST_CLASSES} classes"] * len(metrics)
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
            found.append(of_rows(metric.changes(ranked), rows, sampling.fixed))
    return found


def of_rows(changes: Array, rows: LossRows, held: bool) -> Found:
    """Rows that stand for several others, or add up to clusters."""
    if not np.isfinite(changes).all():
        return "a class has no rows"
    if rows.groups is not None:
        return Influence.of_units(np.bincount(rows.groups, changes), rows.equal_units)
    one = changes / np.maximum(rows.number, 1e-300)  # of a single row of those that it stands for
    sizes: Array | float = rows.equal_units
    if held:
        own = np.bincount(rows.classes, rows.number)
        if ((own > 0) & (own < 1.5)).any():
            return SINGLE_ROW
        means = np.bincount(rows.classes, rows.number * one) / np.maximum(own, 1e-300)
        sizes, one = own[rows.classes], one - means[rows.classes]
    return Influence(one, rows.number, sizes, rows.equal_units - 1)
