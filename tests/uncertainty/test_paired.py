"""Differences of figures: swaps against full enumeration, draws against rows drawn one by one, coverage."""

import functools
import itertools
import math

import numpy as np
import pytest
from scipy.stats import permutation_test, ttest_rel
from sklearn.metrics import average_precision_score, median_absolute_error, r2_score

from stakes import metrics
from stakes.tallies import ClassScores, Confusion, ErrorSums, ScoreTable
from stakes.uncertainty import pools, resampling
from stakes.uncertainty.paired import Sample, difference, difference_of_unpaired, flipped
from stakes.uncertainty.sampling import Sampling

pytestmark = pytest.mark.slow

TWO = {"classes": ("0", "1"), "decisions": ("0", "1"), "positive": "1"}
PRICES = {"miss": 1, "false_alarm": 1}
FIGURES = [m.with_parameters(**PRICES) if m.lacking else m for m in metrics.catalogue() if m.better != "neither"]


def two_class_rows(n, seed=0, apart=1.5):
    random = np.random.default_rng(seed)
    truth = (random.random(n) < 0.4).astype(int)
    truth[:2] = 0, 1
    signal = apart * truth + random.normal(size=n)
    scores = [1 / (1 + np.exp(-(signal + noise * random.normal(size=n)))) for noise in (0.5, 1.0)]
    return truth, *scores


def outputs(metric, n=60, seed=0):
    """A sample and two outputs that fit a metric."""
    truth, first, second = two_class_rows(n, seed)
    if metric.tally is ErrorSums:
        target = truth + first
        return Sample(target), target + second, target + 0.9 * first
    if metric.tally is ClassScores:
        random = np.random.default_rng(seed)
        truth, scores = random.integers(0, 3, n), random.dirichlet([2, 2, 2], (2, n))
        return Sample(truth, ("a", "b", "c"), ("a", "b", "c")), *scores
    if metric.tally is Confusion:
        first, second = (first >= 0.5).astype(int), (second >= 0.5).astype(int)
    return Sample(truth, **TWO), first, second


def figure(metric, sample, output):
    if metric.tally is ErrorSums:
        return metric.of(ErrorSums.from_rows(sample.truth, output, sample.weight))
    if metric.tally is ClassScores:
        return metric.of(ClassScores.from_rows(output, sample.truth, sample.classes, sample.weight))
    if metric.tally is ScoreTable:
        return metric.of(ScoreTable.from_rows(output, sample.hits, sample.weight))
    counts = np.zeros((len(sample.classes), len(sample.decisions)))
    np.add.at(counts, (sample.truth, output), 1 if sample.weight is None else sample.weight)
    return metric.of(Confusion(sample.classes, sample.decisions, counts, positive=sample.positive))


# ── the figures that pools start from ────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("name", "grouped"),
    [
        (m.text, grouped)
        for m in FIGURES
        for grouped in ("alone", "weighted", "clustered", "both")
        if m.name != "hand_till_auc" or grouped in ("alone", "clustered")  # it has no weighted form
    ],
)
def test_every_pool_begins_with_the_figures_of_its_rows(name, grouped):
    from stakes.uncertainty.paired import _pool

    metric = metrics.find(name)
    sample, first, second = outputs(metric)
    random = np.random.default_rng(1)
    weight = random.integers(1, 5, len(first)) / 4 if grouped in ("weighted", "both") else None
    cluster = random.permutation(len(first)) // 4 if grouped in ("clustered", "both") else None
    sample = Sample(sample.truth, sample.classes, sample.decisions, sample.positive, weight, cluster)
    expected = figure(metric, sample, first), figure(metric, sample, second)
    assert _pool(metric, sample, first, second).observed() == pytest.approx(expected, rel=1e-9, abs=1e-12)


# ── swaps ────────────────────────────────────────────────────────────────────────────────────────────────────────
def all_swaps(measure, first, second):
    """The p-value over every way to swap, and the differences."""
    found = []
    for swap in itertools.product([False, True], repeat=len(first)):
        there = np.array(swap)
        found.append(measure(np.where(there, second, first)) - measure(np.where(there, first, second)))
    found = np.abs(found)
    return np.mean(found >= found[0] - 1e-12)


@pytest.mark.parametrize("name", ["f1", "mcc"])
def test_swapping_cells_of_the_joint_table_is_swapping_rows(name):
    metric = metrics.find(name)
    sample = Sample(np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 1]), **TWO)
    first = np.array([0, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1])
    second = np.array([1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0])
    exact = all_swaps(lambda d: metric.of(table(sample, d)), first, second)
    names = (sample.classes, sample.decisions, sample.positive)
    pool = pools.decisions(metric.of, names, (sample.truth, first, second))
    assert 0 < exact < 1
    assert resampling.swap_p_value(pool, 0, 40_000) == pytest.approx(exact, abs=0.01)


def table(sample, decided):
    counts = np.zeros((2, 2), int)
    np.add.at(counts, (sample.truth, decided), 1)
    return Confusion(sample.classes, sample.decisions, counts, positive=sample.positive)


@pytest.mark.parametrize("weighted", [False, True])
def test_swaps_of_losses_are_scipys(weighted):
    truth, first, second = two_class_rows(12, seed=5)
    weight = np.random.default_rng(0).random(12) if weighted else None
    losses = [(truth - score) ** 2 * (1 if weight is None else weight) for score in (first, second)]
    exact = permutation_test(losses, lambda a, b: a.mean() - b.mean(), permutation_type="samples").pvalue
    sample = Sample(truth, **TWO, weight=weight)
    found = difference(metrics.find("brier_score"), sample, first, second, Sampling(replicates=40_000))
    assert found.p_value == pytest.approx(exact, abs=0.01)


def test_swaps_of_scores_that_only_order_swap_ranks():
    truth, first, second = two_class_rows(10, seed=7)
    metric = metrics.find("average_precision")
    ranks = [np.argsort(np.argsort(score)) for score in (first, second)]
    exact = all_swaps(lambda score: average_precision_score(truth, score), *ranks)
    for scale in (1, 100):  # the scale of a model's scores does not matter
        found = difference(metric, Sample(truth, **TWO), first, scale * second, Sampling(replicates=20_000))
        assert found.p_value == pytest.approx(exact, abs=0.015)


@pytest.mark.parametrize("name", ["r2", "median_absolute_error"])
def test_swaps_of_numbers(name):
    sample, first, second = outputs(metrics.find(name), n=9, seed=2)
    theirs = {"r2": r2_score, "median_absolute_error": median_absolute_error}[name]
    exact = all_swaps(functools.partial(theirs, sample.truth), first, second)
    found = difference(metrics.find(name), sample, first, second, Sampling(replicates=1500))
    assert found.p_value == pytest.approx(exact, abs=0.05)


def test_whole_clusters_are_swapped():
    truth, first, second = two_class_rows(40, seed=3)
    cluster = np.arange(40) // 4
    losses = [np.bincount(cluster, (truth - score) ** 2) for score in (first, second)]
    exact = permutation_test(losses, lambda a, b: a.sum() - b.sum(), permutation_type="samples").pvalue
    sample = Sample(truth, **TWO, cluster=cluster)
    found = difference(metrics.find("brier_score"), sample, first, second, Sampling(replicates=20_000))
    assert found.p_value == pytest.approx(exact, abs=0.015)
    assert found.method == "20,000 paired draws of whole clusters; p from 20,000 swaps of clusters"


@pytest.mark.parametrize("name", ["f1", "brier_score"])
def test_p_values_are_uniform_when_models_are_equally_good(name):
    metric, p_values = metrics.find(name), []
    for seed in range(300):
        random = np.random.default_rng(seed)
        truth = (random.random(80) < 0.5).astype(int)
        first, second = (1 / (1 + np.exp(-(truth + random.normal(size=80)))) for _ in range(2))
        if metric.tally is Confusion:
            first, second = (first >= 0.6).astype(int), (second >= 0.6).astype(int)
        p_values.append(difference(metric, Sample(truth, **TWO), first, second, Sampling(replicates=199)).p_value)
    for level in (0.05, 0.2, 0.5):
        assert np.mean(np.array(p_values) <= level) == pytest.approx(
            level, abs=3.5 * math.sqrt(level * (1 - level) / 300)
        )


def test_a_p_value_is_never_zero():
    truth = np.tile([0, 1], 200)
    found = difference(metrics.find("f1"), Sample(truth, **TWO), truth, 1 - truth, Sampling(replicates=999))
    assert found.p_value == 1 / 1000


# ── draws ────────────────────────────────────────────────────────────────────────────────────────────────────────
def f1(truth, decided):
    tp = (truth & decided).sum()
    return 2 * tp / (truth.sum() + decided.sum())


def average_precision(truth, score):
    """The definition for scores that tie only when a row is drawn twice: precision at each positive, ties together."""
    at_least = score[None] >= score[truth == 1][:, None]
    return ((at_least & (truth == 1)).sum(1) / at_least.sum(1)).mean()


def drawn_row_by_row(sample, measure, first, second, seed=9, times=1500):
    random, found = np.random.default_rng(seed), []
    for _ in range(times):
        rows = random.integers(len(first), size=len(first))
        found.append(measure(sample.truth[rows], first[rows]) - measure(sample.truth[rows], second[rows]))
    return np.quantile(found, [0.025, 0.975])


@pytest.mark.parametrize(
    ("name", "theirs"),
    [("f1", f1), ("average_precision", average_precision), ("r2", r2_score)],
)
def test_intervals_are_those_of_rows_drawn_one_by_one(name, theirs):
    sample, first, second = outputs(metrics.find(name), n=500)
    found = difference(metrics.find(name), sample, first, second, Sampling(replicates=3000))
    low, high = drawn_row_by_row(sample, theirs, first, second)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.1 * (high - low))


def test_losses_have_students_interval():
    truth, first, second = two_class_rows(90)
    found = difference(metrics.find("brier_score"), Sample(truth, **TWO), first, second, Sampling(0.9))
    theirs = ttest_rel((truth - first) ** 2, (truth - second) ** 2).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), rel=1e-9)


def test_clusters_of_one_row_are_rows_and_large_clusters_widen_the_interval():
    truth, first, second = two_class_rows(300)
    metric, rows = metrics.find("f1"), np.arange(300)
    decided = [(score >= 0.5).astype(int) for score in (first, second)]
    alone = difference(metric, Sample(truth, **TWO), *decided, Sampling())
    each = difference(metric, Sample(truth, **TWO, cluster=rows), *decided, Sampling())
    assert (each.low, each.high) == pytest.approx((alone.low, alone.high), abs=0.02)
    thrice = np.tile(rows, 3)  # the same rows three times: as clusters they tell no more than once
    again = Sample(truth[thrice], **TWO, cluster=thrice)
    same = difference(metric, again, decided[0][thrice], decided[1][thrice], Sampling())
    assert (same.low, same.high) == pytest.approx((each.low, each.high), abs=1e-12)


def test_weights_that_are_all_one_change_little_and_equal_weights_nothing():
    truth, first, second = two_class_rows(300)
    decided = [(score >= 0.5).astype(int) for score in (first, second)]
    found = [
        difference(metrics.find("f1"), Sample(truth, **TWO, weight=weight), *decided, Sampling())
        for weight in (None, np.ones(300), np.full(300, 7.0))
    ]
    assert found[0] == found[1]
    assert (found[2].low, found[2].high, found[2].p_value) == pytest.approx(
        (found[0].low, found[0].high, found[0].p_value)
    )


@pytest.mark.parametrize("name", ["auc", "accuracy", "f1", "brier_score", "average_precision", "r2", "hand_till_auc"])
def test_the_order_of_the_rows_does_not_matter(name):
    metric = metrics.find(name)
    sample, first, second = outputs(metric)
    shuffled = np.random.default_rng(3).permutation(len(first))
    settings = Sampling(replicates=200)
    here = difference(metric, sample, first, second, settings)
    there = difference(metric, sample.take(shuffled), first[shuffled], second[shuffled], settings)
    assert (here.low, here.high, here.p_value) == pytest.approx((there.low, there.high, there.p_value), abs=1e-12)


@pytest.mark.parametrize("name", [m.text for m in FIGURES])
def test_identical_models_have_a_p_value_of_one(name):
    metric = metrics.find(name)
    sample, first, _ = outputs(metric)
    found = difference(metric, sample, first, first, Sampling(replicates=100))
    assert found.p_value == 1
    if metric.tally is not Confusion and found.low is not None:
        assert (found.low, found.high) == (0, 0)


@pytest.mark.parametrize("name", ["auc", "gini", "accuracy"])
def test_swapping_the_models_turns_everything_round(name):
    metric = metrics.find(name)
    sample, first, second = outputs(metric, n=200)
    one, other = (
        difference(metric, sample, first, second, Sampling()),
        difference(metric, sample, second, first, Sampling()),
    )
    assert (one.low, one.high, one.p_value) == pytest.approx((-other.high, -other.low, other.p_value))


# ── what is not known ────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", ["ks", "ece", "max_error", "macro_ks"])
def test_figures_that_draws_move_in_one_direction_have_no_interval(name):
    sample, first, second = outputs(metrics.find(name))
    found = difference(metrics.find(name), sample, first, second, Sampling(replicates=100))
    assert (found.low, found.high) == (None, None)
    assert found.p_value is not None
    assert found.note == metrics.find(name).no_interval != ""
    unpaired = difference_of_unpaired(metrics.find(name), (sample, first), (sample, second), Sampling(replicates=100))
    assert (unpaired.low, unpaired.note) == (None, found.note)


def test_two_perfect_orders_are_no_proof_of_being_alike():
    truth = np.repeat([0, 1], 20)
    first = truth + np.linspace(0, 0.5, 40)
    second = truth + np.linspace(0.5, 0, 40)
    found = difference(metrics.find("auc"), Sample(truth, **TWO), first, second, Sampling())
    assert (found.low, found.high, found.p_value) == (None, None, 1)
    assert found.note == "every pair of rows agrees, so their spread is not known"


def test_few_rows_in_a_class_are_pointed_out():
    truth, first, second = two_class_rows(40)
    found = difference(metrics.find("auc"), Sample(truth, **TWO), first, second, Sampling())
    assert found.note.endswith("rows, so DeLong's interval may be too narrow")
    single = np.append(1, np.zeros(39, int))
    found = difference(metrics.find("auc"), Sample(single, **TWO), first, second, Sampling())
    assert found.note == "a class has a single row, whose spread nobody knows"


# ── different rows ───────────────────────────────────────────────────────────────────────────────────────────────
def test_models_on_different_rows_vary_independently():
    (a, first, _), (b, _, second) = two_class_rows(300, 1), two_class_rows(400, 2)
    sides = (Sample(a, **TWO), first), (Sample(b, **TWO), second)
    area = difference_of_unpaired(metrics.find("auc"), *sides, Sampling())
    alone = [difference_of_unpaired(metrics.find("auc"), side, side, Sampling()) for side in sides]
    widths = [(d.high - d.low) / math.sqrt(2) for d in alone]
    assert area.high - area.low == pytest.approx(math.hypot(*widths), rel=1e-9)
    loss = difference_of_unpaired(metrics.find("brier_score"), *sides, Sampling(replicates=4000))
    losses = [(truth - score) ** 2 for truth, score in ((a, first), (b, second))]
    error = math.sqrt(sum(loss.var() / len(loss) for loss in losses))
    middle = losses[0].mean() - losses[1].mean()
    assert (loss.low, loss.high) == pytest.approx((middle - 1.96 * error, middle + 1.96 * error), abs=0.15 * error)


def test_flipped_counts_who_is_right():
    sample = Sample(np.array([0, 0, 1, 1, 1]), **TWO)
    rows = flipped(sample, np.array([0, 1, 1, 0, 1]), np.array([0, 0, 0, 0, 1]))
    assert (rows.both_right, rows.only_first_right, rows.only_second_right, rows.both_wrong) == (2, 1, 1, 1)


# ── coverage ─────────────────────────────────────────────────────────────────────────────────────────────────────
def coverage(name, runs, n, settings):
    """The share of intervals that hold the difference in a population."""
    metric = metrics.find(name)
    population = two_class_rows(400_000, seed=99)
    covered = 0

    def cut(truth, first, second):
        if metric.tally is Confusion:
            first, second = (first >= 0.5).astype(int), (second >= 0.5).astype(int)
        return Sample(truth, **TWO), first, second

    sample, first, second = cut(*population)
    true = figure(metric, sample, first) - figure(metric, sample, second)
    random = np.random.default_rng(1)
    for _ in range(runs):
        rows = random.integers(400_000, size=n)
        found = difference(metric, *cut(*(column[rows] for column in population)), settings)
        covered += found.low <= true <= found.high
    return covered / runs


@pytest.mark.parametrize("runs", [50, pytest.param(500, marks=pytest.mark.deep)])
@pytest.mark.parametrize("name", ["auc", "accuracy", "f1", "recall", "brier_score"])
def test_intervals_cover_the_true_difference(name, runs):
    error = math.sqrt(0.95 * 0.05 / runs)
    assert abs(coverage(name, runs, 150, Sampling(replicates=400)) - 0.95) <= 3 * error
