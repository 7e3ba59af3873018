"""What one row changes in figures of several classes: of rows or a sample of them, of sums, and of groups of rows."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from stakes.metrics import Metric, measure
from stakes.metrics.many import ROW_LOSSES, Average, ClassRows, Ranking, unseen_in_ranking
from stakes.metrics.prior import base_of, first_rows
from stakes.metrics.ranking import auc
from stakes.tallies import ClassScores
from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.clusters import MOST_CLASSES, Clusters
from stakes.uncertainty.influence import NOT_KEPT, Found, Influence
from stakes.uncertainty.sampling import Sampling
from stakes.uncertainty.scores import LossRows, level_counts, of_losses, of_rows, of_scores

_ROUNDING = 1e-14
"""What rounding alone may change in a figure."""


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
        of_all = (scores.squared_weight or float(sample.squares.sum())) / float(sample.squares.sum())
        squares = sample.squares * of_all  # heavy rows make most of the sum, and a sample has too few or too many
        rows = LossRows(sample.truth.astype(np.int64), sample.scores, sample.weight, squares)
    alone = replace(rows, squares=rows.weight**2)
    ranked, ranked_alone = (ClassRows(one.outputs, one.classes, one.weight, one.squares) for one in (rows, alone))
    found: list[Found] = []
    for metric in metrics:
        of_sample = clusters is None and _is_of_sample(metric, scores)
        units, ranking = (alone, ranked_alone) if of_sample else (rows, ranked)
        if metric.loss is not None:
            found.append(of_losses(metric, units, sampling.fixed))
        elif not of_sample and clusters is None and scores.hardly_samples(first_rows(metric) or math.inf):
            found.append(_of_average(metric, scores, sampling))
        else:
            assert metric.changes is not None
            changes = _without_rounding(metric.changes(ranking))
            unseen = _unseen_in_classes(metric, scores, ranking, perfect=not changes.any())
            found.append(of_rows(changes, units, sampling.fixed, unseen))
    return found


def _is_of_sample(metric: Metric, scores: ClassScores) -> bool:
    """Whether the figure itself is that of a sample, and varies like one: at other class frequencies."""
    return metric.population is not None and _loss_of(metric, scores) is None


def _loss_of(metric: Metric, scores: ClassScores) -> int | None:
    """Which of the losses that were added up by class a figure is a mean of, if it is one."""
    base = metric if metric.population is None else base_of(metric)
    known = metric.population is None or metric.population.knows_losses(scores)
    return ROW_LOSSES.index(base.loss) if known and base.loss in ROW_LOSSES else None


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
    each, bearing = [], np.flatnonzero(shares)
    for table in (scores.tables[place] for place in bearing):
        _, counts, _ = level_counts(table)
        each.append(unseen_in_ranking(base, float(base.of(table)), counts / float(table.row_weight)))
    return _together(each, shares[bearing])


def _together(unseen: Sequence[float] | Array, shares: Array | None = None) -> float:
    """What unseen rows of all classes, which vary by themselves, change in the average of their figures."""
    weights = np.full(len(unseen), 1 / len(unseen)) if shares is None else shares
    return float(np.sqrt(((weights * np.asarray(unseen)) ** 2).sum()))


def _unseen_in_pairs(metric: Metric, scores: ClassScores) -> float:
    """The same of the mean area of every two classes: each class is one of two in 2 / k of the pairs."""
    value, rows = float(metric.of(scores)), scores.sizes * (scores.equal_rows / float(scores.total))
    return 2 * _together(max(value, 1 - value) / (rows + 1))


# ── several classes, from sums alone ─────────────────────────────────────────────────────────────────────────────

_NO_SAMPLE = "no sample of the rows was kept"
_LARGEST_DISTANCE = 2.0


def without_rows(metrics: Sequence[Metric], scores: ClassScores, sampling: Sampling) -> list[Found]:
    """Means of losses by how these spread, other figures by random groups of rows, or by the figure of each class."""

    def known(metric: Metric) -> Found:
        place = _loss_of(metric, scores)
        if place is not None and scores.moments is not None:
            return of_losses(metric, _as_spread(metric, scores, place), sampling.fixed)
        if metric.population is not None:
            return _NO_SAMPLE
        return _of_average(metric, scores, sampling) if isinstance(metric.function, Average) else _NO_SAMPLE

    if scores.row_groups is None:
        return [known(metric) for metric in metrics]
    by_groups = [i for i, metric in enumerate(metrics) if metric.population is None and metric.loss not in ROW_LOSSES]
    held = replace(sampling, clusters=scores.row_groups)
    found = dict(zip(by_groups, of_class_cells([metrics[i] for i in by_groups], scores, held), strict=True))
    return [found[i] if i in found else known(metric) for i, metric in enumerate(metrics)]


# ── means of losses ──────────────────────────────────────────────────────────────────────────────────────────────
def _as_spread(metric: Metric, scores: ClassScores, place: int) -> LossRows:
    """Two kinds of rows for each class, whose losses have the mean, the variance and the skewness of all."""
    assert scores.moments is not None
    sizes = scores.sizes.astype(np.float64)
    low, high, share = _two_points(sizes, scores.moments[:, place])
    unit = divide(scores.moments[:, place, 1], sizes, 1.0)
    weight, classes = np.concatenate([share * sizes, (1 - share) * sizes]), np.tile(np.arange(len(sizes)), 2)
    rows = LossRows(classes, np.zeros((len(classes), len(sizes))), weight, weight * np.tile(unit, 2))
    return rows.losing(metric, np.concatenate([low, high]), _worst(metric, place, scores))


def _worst(metric: Metric, place: int | None, scores: ClassScores) -> float:
    """What one more row is taken to lose: as a sample tells, or at most."""
    if (sample := scores.sample) is not None and place is not None:
        rows = LossRows(sample.truth.astype(np.int64), sample.scores, sample.weight, sample.squares)
        return rows.losses(metric)[1]
    return _LARGEST_DISTANCE if place == 1 else _expected_surprise(scores)


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
def _of_average(metric: Metric, scores: ClassScores, sampling: Sampling) -> Found:
    """At most the average of the classes' standard errors, unless it is known that these rest on different rows."""
    assert isinstance(metric.function, Average)
    base, weighted = metric.function.base.with_parameters(**metric.parameters), metric.function.how == "weighted"
    all_shares, bearing = _shares_of_classes(scores.sizes.astype(np.float64), weighted)
    shares, tables = all_shares[bearing], [scores.tables[place] for place in bearing]
    values = np.array([float(base.of(table)) for table in tables])
    found = [of_scores([base], [value], table, sampling)[0] for value, table in zip(values, tables, strict=True)]
    if why := next((one for one in found if isinstance(one, str)), ""):
        return why
    errors = np.array([replace(one, unseen=0.0).error for one in found if isinstance(one, Influence)])
    each, units = errors * shares, scores.equal_rows
    error = float(np.sqrt(each @ _may_share_rows(base, scores)[np.ix_(bearing, bearing)] @ each))
    if weighted:  # how frequent the classes are varies, too
        error += float(np.sqrt(shares @ (values - shares @ values) ** 2 / units))
    error = 0.0 if error <= _ROUNDING else error
    unseen = _unseen_in_tables(base, scores, all_shares) if _needs_unseen(base, perfect=not error) else 0.0
    return Influence.of_error(error, units, units - 1, unseen=unseen)


def _shares_of_classes(sizes: Array, weighted: bool) -> tuple[Array, Array]:
    """How much each class counts in an average, and which count at all: in a weighted one those that have rows."""
    shares = sizes / sizes.sum() if weighted else np.full(len(sizes), 1 / len(sizes))
    return shares, np.flatnonzero(shares)


def _may_share_rows(base: Metric, scores: ClassScores) -> Array:
    """Whether the figures of every two classes may rest on the same rows (1): of two probabilities one is below ½."""
    k = len(scores.classes)
    if "k" not in base.parameters or not scores.probabilities:
        return np.ones((k, k))
    last = np.empty(k)  # the score of the last of the first rows of each class
    for place, table in enumerate(scores.tables):
        levels, counts, _ = level_counts(table)
        reached = np.cumsum(counts.sum(0)) / float(table.row_weight)
        last[place] = levels[min(int(np.searchsorted(reached, base.parameters["k"])), len(levels) - 1)]
    return np.where(np.add.outer(last, last) <= 1, 1.0, np.eye(k))


# ── several classes, from sums and cells of each cluster ─────────────────────────────────────────────────────────
def of_class_cells(metrics: Sequence[Metric], scores: ClassScores, sampling: Sampling) -> list[Found]:
    """Leave out one cluster after another: of sums of losses, and of the cells in which each class's scores lie."""
    clusters = sampling.require_clusters()
    outputs = np.zeros((len(clusters.groups), len(scores.classes)))  # what rows lose was added up
    truth, weights = np.asarray(clusters.truth, np.int64), (clusters.weights, clusters.squared_weights)
    rows = LossRows(truth, outputs, *weights, clusters.groups, least=len(scores.classes))
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
        place = _loss_of(metric, scores)
        lost = _lost(metric, clusters, place)
        return NOT_KEPT if lost is None else of_losses(metric, rows.losing(metric, lost, _worst(metric, place, scores)))

    return [found(metric) for metric in metrics]


def _lost(metric: Metric, clusters: Clusters, place: int | None) -> Array | None:
    """The mean loss of the rows of each entry; None for a loss that was not added up."""
    if place is not None:
        return divide(np.asarray(clusters.lost)[:, place], clusters.weights)
    if "k" not in metric.parameters or metric.population is not None:
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
    shares, bearing = _shares_of_classes(rows.sizes, weighted)
    values, founds = np.array([each[place][0] for place in bearing]), [each[place][1] for place in bearing]
    if why := next((found for found in founds if isinstance(found, str)), ""):
        return why
    changes = shares[bearing] @ np.stack([found.changes for found in founds if isinstance(found, Influence)])
    if weighted:  # how frequent the classes are varies, too
        rest = rows.sizes - rows.taken
        moved = shares - divide(rest, rest.sum(-1, keepdims=True))
        changes = changes + moved[:, bearing] @ values
    if np.isin(values, base.range).all():  # perfect, whatever shares a coarse cell
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
