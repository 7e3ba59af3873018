"""What one row changes in means of losses, and in figures of class scores."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from stakes.metrics import Metric
from stakes.metrics.many import ClassRows
from stakes.tallies import ClassScores, ScoreTable
from stakes.tallies.arithmetic import Array, divide
from stakes.uncertainty.changes.units import (
    MOST_LEVELS,
    SINGLE_ROW,
    Found,
    kish,
    kish_of,
    score_counts,
)
from stakes.uncertainty.influence import Influence
from stakes.uncertainty.sampling import Sampling

_MOST_CLASSES = 50

AlikeRows = tuple[Array, Array, Array, Array]
"""The scores of rows that are alike, their class (0: positive), their weight together, and that of one of them."""


def of_loss(metric: Metric, rows: Callable[[], AlikeRows], sampling: Sampling) -> Found:
    """A mean of losses, or one relative to the loss of the class frequencies."""
    if sampling.clusters is not None:
        held = sampling.clusters
        positive, scores = np.asarray(held.truth) == 1, np.asarray(held.scores, np.float64)
        unit = np.ones(len(positive)) if held.weight is None else held.weight
        classes, weight, squares = 1 - positive.astype(np.int64), unit, unit**2
    else:
        scores, classes, weight, unit = rows()
        squares = weight * unit
    groups = None if sampling.clusters is None else sampling.clusters.groups
    either = np.stack([metric.row_losses(np.full(len(scores), flag), scores) for flag in (True, False)])
    worst = _unseen_loss(weight * np.stack([scores, 1 - scores]), either)
    return of_losses(metric, np.where(classes == 0, *either), classes, weight, squares, groups, sampling.fixed, worst)


def _unseen_loss(chances: Array, losses: Array) -> float:
    """What one more row is taken to lose: E(loss²)/E(loss), had each row the classes as often as was stated."""
    losses = np.where(chances > 0, losses, 0.0)
    return float(divide((chances * losses**2).sum(), (chances * losses).sum()))


def alike_rows(table: ScoreTable) -> AlikeRows:
    """Rows of one class at one score; of very many rows, evenly spaced ones stand for all."""
    if table.weighted:
        store = table.as_columns()
        scores, (counts, unit) = np.asarray(store.scores, np.float64), score_counts(store)
    else:
        scores, *both = table.some_rows(MOST_LEVELS)
        counts = np.stack(both).astype(np.float64)
        counts *= divide(np.array([[float(table.P)], [float(table.N)]]), counts.sum(-1, keepdims=True))
        unit = np.ones(counts.shape)
    classes, places = np.nonzero(counts > 0)
    return scores[places].astype(np.float64), classes, counts[classes, places], unit[classes, places]


def of_losses(
    metric: Metric,
    loss: Array,
    classes: Array,
    weight: Array,
    squares: Array,
    groups: Array | None,
    held: bool = False,
    worst: float = 0.0,
) -> Found:
    """What a mean of losses, or a relative one, loses without a row of each kind, or without a cluster.

    ``weight`` is that of all rows of a kind, ``squares`` the sum of their squared weights. ``worst`` is what one more
    row is taken to lose, where losses have no upper end.
    """
    if not np.isfinite(loss).all():
        return "a probability of 0 for what happened makes the loss infinite"
    sizes = np.bincount(classes, weight)
    if groups is not None:
        count = int(groups.max()) + 1
        parts = np.bincount(groups * len(sizes) + classes, weight, count * len(sizes)).reshape(count, -1)
        lost, number, among = np.bincount(groups, weight * loss, count), np.ones(count), float(count)
        most = kish(parts.sum(-1)) - 1
    else:
        unit = divide(squares, weight, 1.0)
        number, most = divide(weight, unit), kish_of(weight, squares) - 1
        lost, among = unit * loss, most + 1
        parts = unit[:, None] * (classes[:, None] == np.arange(len(sizes)))
    total, rest = float(weight @ loss), sizes - parts
    scale = 1.0 if metric.relative_to is None else float(metric.relative_to(sizes))
    value = mean_of_losses(metric, loss, classes, weight)
    low, high = metric.range
    unseen = (
        max(value - low, high - value)
        if math.isfinite(high - low)
        else max(worst - value * scale, 0.0) / max(scale, 1e-300)
    )
    unseen /= most + 2
    if held and groups is None:
        means = np.bincount(classes, weight * loss) / np.maximum(sizes, 1e-300)
        own = np.bincount(classes, number)
        if ((own > 0) & (own < 1.5)).any():
            return SINGLE_ROW
        inside = divide(unit, sizes[classes] - unit) * (loss - means[classes])
        return Influence(sizes[classes] / sizes.sum() * inside / scale, number, own[classes], most, unseen)
    without = (total - lost) / rest.sum(-1)
    if metric.relative_to is not None:
        without /= metric.relative_to(np.maximum(rest, 0.0))
    return Influence(value - without, number, among, most, unseen)


def mean_of_losses(metric: Metric, loss: Array, classes: Array, weight: Array) -> float:
    """The figure of rows with these losses."""
    scale = 1.0 if metric.relative_to is None else float(metric.relative_to(np.bincount(classes, weight)))
    return float(np.divide(weight @ loss / weight.sum(), scale))


# ── scores of several classes ────────────────────────────────────────────────────────────────────────────────────
def of_class_scores(metrics: Sequence[Metric], scores: ClassScores, sampling: Sampling) -> list[Found]:
    """Ask a sample of rows what each changes, and add that up over clusters."""
    clusters, sample = sampling.clusters, scores.sample
    if sample is None and clusters is None:
        return ["no sample of the rows was kept"] * len(metrics)
    if len(scores.classes) > _MOST_CLASSES:
        return [f"there are more than {_MOST_CLASSES} classes"] * len(metrics)
    if clusters is not None:
        truth, each = np.asarray(clusters.truth, np.int64), np.asarray(clusters.scores)
        weight = np.ones(len(truth)) if clusters.weight is None else clusters.weight
        squares, groups = weight**2, clusters.groups
    else:
        assert sample is not None
        truth, each, groups = sample.truth.astype(np.int64), sample.scores, None
        weight, squares = sample.weight, sample.squares
    rows = ClassRows(each, truth, weight)
    found: list[Found] = []
    for metric in metrics:
        if metric.loss is not None:
            each_class = np.stack([metric.row_losses(np.full(len(truth), c), each) for c in range(each.shape[1])])
            loss, worst = each_class[truth, np.arange(len(truth))], _unseen_loss(weight * each.T, each_class)
            found.append(of_losses(metric, loss, truth, weight, squares, groups, sampling.fixed, worst))
            continue
        assert metric.changes is not None
        changes = metric.changes(rows)
        found.append(_of_rows(changes, truth, weight, squares, groups, sampling.fixed))
    return found


def _of_rows(changes: Array, truth: Array, weight: Array, squares: Array, groups: Array | None, held: bool) -> Found:
    """Rows that stand for several others, or add up to clusters."""
    if not np.isfinite(changes).all():
        return "a class has no rows"
    if groups is not None:
        by_group = np.bincount(groups, changes)
        units = kish(np.bincount(groups, weight))
        return Influence(by_group, np.ones(len(by_group)), float(len(by_group)), units - 1)
    number = divide(weight**2, squares)
    one = changes / np.maximum(number, 1e-300)  # of a single row of those that it stands for
    total = kish_of(weight, squares)
    sizes: Array | float = total
    if held:
        own = np.bincount(truth, number)
        if ((own > 0) & (own < 1.5)).any():
            return SINGLE_ROW
        sizes, one = own[truth], one - (np.bincount(truth, number * one) / np.maximum(own, 1e-300))[truth]
    return Influence(one, number, sizes, total - 1)
