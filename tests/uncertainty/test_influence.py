"""What one row changes: against leaving rows and clusters out one by one, for every declared figure."""

import math

import numpy as np
import pytest

from stakes import metrics
from stakes.tallies import ClassScores, Confusion, ErrorSums, ScoreTable, TermSums
from stakes.tallies.class_scores import ORDERED
from stakes.tallies.clusters import Clusters, places_among
from stakes.uncertainty.changes import influences
from stakes.uncertainty.influence import Influence
from stakes.uncertainty.sampling import Sampling
from tests.parts import complete

PRICES = {"miss": 5, "false_alarm": 1}
EVERY = [complete(m, **PRICES) for m in metrics.catalogue() if not m.no_interval]
EVERY = [m for m in EVERY if not issubclass(m.tally, TermSums)]  # which tests/kinds leaves out
NAMES = "macro_f1 weighted_recall micro_precision macro_auc weighted_auc macro_average_precision macro_brier_score"
AVERAGES = [metrics.find(name) for name in NAMES.split()]
AT_A_PLACE = [m for m in EVERY if m.one_row is not None and m.one_row.place]
"""Figures at a place of the ranking jump from row to row: they spread like resampled rows."""

FIGURES = [m for m in EVERY + AVERAGES if m.interval not in ("median", "costs", "relative costs")]
FIGURES = [m for m in FIGURES if m not in AT_A_PLACE]

NOT_EXACT = ("relative_absolute_error", "weighted_auc")
"""Equal to leaving rows out but for terms of order 1/n²: the baseline moves with the rows, or the classes' shares."""


def rows_for(metric, n=40, seed=0):
    """Truth and output of rows that fit a metric."""
    random = np.random.default_rng(seed)
    if metric.tally is ErrorSums:
        truth = random.gamma(2, size=n)
        return truth, truth + random.normal(size=n) ** 2
    averaged = metric.name.split("_")[0] in ("macro", "weighted", "micro")
    k = 3 if averaged or metric.tally is ClassScores else 2
    truth = np.concatenate([np.arange(k), random.integers(0, k, n - k)])
    if metric.tally is ClassScores:
        return truth, random.dirichlet(np.ones(k), n) * 0.7 + 0.3 * np.eye(k)[truth]
    score = np.round(1 / (1 + np.exp(-(truth - 0.5 + random.normal(size=n)))), 2)
    if metric.tally is ScoreTable:
        return truth, score
    return truth, np.where(random.random(n) < 0.7, truth, random.integers(0, k, n))


def tally_of(metric, truth, output, weight=None):
    if metric.tally is ErrorSums:
        return ErrorSums.from_rows(truth, output, weight)
    if metric.tally is ClassScores:
        names = tuple("abc"[: output.shape[1]])
        return ClassScores.from_rows(output, truth, names, weight, parts=ORDERED)
    if metric.tally is ScoreTable:
        return ScoreTable.from_rows(output, truth == 1, weight)
    k = max(int(truth.max()), int(output.max())) + 1
    k = 3 if metric.name.split("_")[0] in ("macro", "weighted", "micro") else k
    counts, squares = np.zeros((k, k)), np.zeros((k, k))
    unit = np.ones(len(truth)) if weight is None else weight
    np.add.at(counts, (truth, output), unit)
    np.add.at(squares, (truth, output), unit**2)
    names = tuple("abc"[:k])
    return Confusion(names, names, counts, None if weight is None else squares, positive="b" if k == 2 else None)


def without(metric, truth, output, weight, left):
    keep = np.ones(len(truth), bool)
    keep[left] = False
    return float(metric.of(tally_of(metric, truth[keep], output[keep], None if weight is None else weight[keep])))


ROWS = [(m, weighted) for m in FIGURES for weighted in (False, True)]


@pytest.mark.spread(24)
@pytest.mark.parametrize(("metric", "weighted"), ROWS, ids=[f"{m.text}{'-weighted' * w}" for m, w in ROWS])
def test_influence_is_what_leaving_a_row_out_changes(metric, weighted):
    first_order = weighted or metric.name in NOT_EXACT
    truth, output = rows_for(metric, 40 if not first_order else 150 if metric in AVERAGES else 90)
    weight = np.random.default_rng(1).choice([0.5, 1.0, 3.0], len(truth)) if weighted else None
    if weighted and metric.tally in (Confusion, ScoreTable) and metric.loss is None:
        weight = np.where(truth == 1, 2.0, 1.0)  # a table knows the usual weight of a cell, not that of each row
    tally = tally_of(metric, truth, output, weight)
    value = float(metric.of(tally))
    (found,) = influences([metric], [value], tally, Sampling())
    assert isinstance(found, Influence), found
    each = np.array([value - without(metric, truth, output, weight, i) for i in range(len(truth))])
    each = each[np.isfinite(each)]
    near = 0.08 if first_order else 1e-9
    assert float((found.counts * found.changes**2).sum()) == pytest.approx((each**2).sum(), rel=near)
    spread = math.sqrt((each**2).sum())
    assert float((found.counts * found.changes).sum()) == pytest.approx(each.sum(), rel=near, abs=near * spread)


ALL_OUT = [m for m in FIGURES if m.tally is not ClassScores or m.loss is not None]
ALL_OUT = [m for m in ALL_OUT if m.name != "lorenz_gini"]
"""Areas of several classes add up what the rows of a cluster change."""


@pytest.mark.parametrize("metric", ALL_OUT, ids=lambda metric: metric.text)
@pytest.mark.spread(24)
def test_influence_is_what_leaving_a_cluster_out_changes(metric):
    truth, output = rows_for(metric, 60)
    groups = np.random.default_rng(2).integers(0, 12, len(truth))
    tally = tally_of(metric, truth, output)
    columns = {"truth": truth, "decided": output} if metric.tally is Confusion else {"truth": truth, "scores": output}
    clusters = Clusters(groups, 12, **({} if metric.tally is ErrorSums else columns))
    value = float(metric.of(tally))
    (found,) = influences([metric], [value], tally, Sampling(clusters=clusters))
    assert isinstance(found, Influence), found
    each = np.array([value - without(metric, truth, output, None, groups == g) for g in range(12)])
    near = 0.007 if metric.name == "relative_absolute_error" else 1e-11
    assert found.changes == pytest.approx(each, rel=1e-9, abs=near)


@pytest.mark.parametrize("metric", AT_A_PLACE, ids=lambda metric: metric.name)
def test_figures_at_a_place_of_the_ranking_spread_like_resampled_rows(metric):
    metric, random = metric.with_parameters(k=60) if "k" in metric.parameters else metric, np.random.default_rng(0)
    truth = random.random(400) < 0.3
    scores = truth + random.normal(size=400)
    table = ScoreTable.from_rows(scores, truth)
    (found,) = influences([metric], [float(metric.of(table))], table, Sampling())
    drawn = [metric.of(ScoreTable.from_rows(scores[i], truth[i])) for i in random.integers(0, 400, (600, 400))]
    spread = math.sqrt((found.counts * found.changes**2).sum())
    assert spread == pytest.approx(np.std(drawn), rel=0.12 if metric.one_row.rate is None else 0.25)
    alone = Clusters(np.arange(400), 400, truth=truth.astype(int), scores=scores)
    (found,) = influences([metric], [float(metric.of(table))], table, Sampling(clusters=alone))
    assert math.sqrt((found.changes**2).sum()) == pytest.approx(spread, rel=0.01)  # every row a cluster


@pytest.mark.parametrize("name", ["brier_score", "log_loss"])
def test_an_unseen_row_is_one_row_whether_rows_or_clusters_are_left_out(name):
    metric = metrics.find(name)
    truth, score = rows_for(metric, 120)
    table = tally_of(metric, truth, score)
    value = float(metric.of(table))
    clusters = Clusters.of(np.arange(120) // 10, truth=truth, scores=score)
    (by_row,), (by_cluster,) = (
        influences([metric], [value], table, Sampling(clusters=one)) for one in (None, clusters)
    )
    assert by_cluster.unseen == pytest.approx(by_row.unseen, rel=1e-12)
    if name == "brier_score":
        assert by_row.unseen == pytest.approx(max(value, 1 - value) / 121)


def test_figures_that_share_a_loss_and_many_that_do_not_are_told_apart():
    names = ("log_loss", "normalised_log_loss", "brier_score", "normalised_brier_score", "auc", "gini")
    figures = [metrics.find(name) for name in names]
    truth, score = rows_for(figures[0], 90)
    table = tally_of(figures[0], truth, score)
    values = [float(metric.of(table)) for metric in figures]
    together = influences(figures, values, table, Sampling())
    for metric, value, found in zip(figures, values, together, strict=True):
        (alone,) = influences([metric], [value], table, Sampling())
        assert found.error == pytest.approx(alone.error, rel=1e-14), metric.name
        assert found.unseen == alone.unseen


@pytest.mark.parametrize("make", ["random", "standard_normal", "standard_cauchy"])
def test_places_on_a_grid_are_those_of_a_search(make):
    rng = np.random.default_rng(0)
    values = getattr(rng, make)(70_000)
    levels = np.unique(np.concatenate([values[:200], np.sort(values)[-16:]]))
    np.testing.assert_array_equal(places_among(levels, values), np.searchsorted(levels, values))


def test_entries_of_clusters_tell_the_same_in_any_order():
    """Those of one class and cell are taken together where they stand side by side."""
    rng = np.random.default_rng(5)
    truth, cell, group = (one.ravel() for one in np.meshgrid([0, 1], np.arange(16), np.arange(30), indexing="ij"))
    alike = rng.integers(1, 9, len(truth)).astype(np.float64)
    scores, weight = (cell + 0.5) / 32 + truth / 2.1, alike * rng.random(len(truth))
    table = ScoreTable.from_rows(scores, truth == 1, weight)
    columns = group, truth, scores, alike, weight, weight**2 / alike

    def found(order):
        groups, classes, own, *sums = (column[order] for column in columns)
        held = Clusters(
            groups, 30, classes, None, own, sums[1], alike=sums[0], squares=sums[2], grid=("probability", 5)
        )
        asked = [metrics.find(name) for name in ("brier", "log_loss", "auc", "gain", "specificity_at_recall")]
        values = [float(metric.of(table)) for metric in asked]
        return held, influences(asked, values, table, Sampling(clusters=held))

    (runs, ordered), (_, shuffled) = found(np.arange(len(truth))), found(rng.permutation(len(truth)))
    assert runs.kinds()[1].shape == (30, 32)
    for one, other in zip(ordered, shuffled, strict=True):
        assert (one.error, one.unseen) == pytest.approx((other.error, other.unseen), rel=1e-9)


def test_a_share_of_weighted_rows_has_the_degrees_of_the_rows_it_is_a_share_of():
    """Of 6 positives, one of which weighs 5: (Σw)²/Σw² = 100/30 rows."""
    truth = np.array([1] * 6 + [0] * 30)
    decided, weight = np.array([1, 1, 1, 1, 0, 0] + [0] * 30), np.array([5.0] + [1.0] * 35)
    metric = metrics.find("recall")
    table = tally_of(metric, truth, decided, weight)
    (found,) = influences([metric], [float(metric.of(table))], table, Sampling())
    assert found.most_degrees == pytest.approx(100 / 30 - 1)
    (other,) = influences([metrics.find("f1")], [0.5], table, Sampling())
    assert other.most_degrees == pytest.approx(40**2 / 60 - 1)


def test_rounding_is_nothing_that_varies():
    """Losses that are alike differ in the last bit when rows are left out one by one, and not as a group of rows."""
    of_rows = Influence(np.array([2e-18] * 99 + [-3e-18]), np.ones(100), 100.0, 99.0, unseen=0.01)
    of_groups = Influence(np.zeros(1), np.array([100.0]), 100.0, 99.0, unseen=0.01)
    assert of_rows.degrees == of_groups.degrees
