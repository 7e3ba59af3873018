"""Differences of figures: against leaving rows out one by one, scipy's t-tests, rows drawn again, and coverage."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import r2_score, roc_auc_score

from stakes import metrics
from stakes.tallies import ClassScores, Confusion, ErrorSums, ScoreTable, TermSums
from stakes.tallies.class_scores import ORDERED
from stakes.uncertainty.paired import Sample, difference, difference_of_unpaired, flipped
from stakes.uncertainty.sampling import Sampling
from tests.parts import complete

TWO = {"classes": ("0", "1"), "decisions": ("0", "1"), "positive": "1"}
PRICES = {"miss": 5, "false_alarm": 1}
EVERY = [complete(m, **PRICES) for m in metrics.catalogue() if not issubclass(m.tally, TermSums)]
EVERY += [metrics.find(name) for name in ("macro_f1", "weighted_recall", "macro_auc", "macro_average_precision")]
EVERY = [m for m in EVERY if not m.no_interval]
FIGURES = [m for m in EVERY if m.name != "expected_cost"]
"""All but that cost, whose savings have limits of their own: see test_one_more_row.py."""
KINDS = ("alone", "weighted", "clustered", "both")


def ids(metric):
    return metric.text


def two_class_rows(n, seed=0, apart=1.0):
    random = np.random.default_rng(seed)
    truth = (random.random(n) < 0.4).astype(int)
    truth[:4] = 0, 1, 0, 1
    signal = apart * truth + random.normal(size=n)
    scores = [1 / (1 + np.exp(-(signal + noise * random.normal(size=n)))) for noise in (0.5, 1.0)]
    return truth, *scores


def outputs(metric, n=60, seed=0, kind="alone"):
    """A sample and two outputs that fit a metric."""
    sample, first, second = _outputs(metric, n, seed)
    random = np.random.default_rng(seed + 1)
    weight = random.choice([0.5, 1.0, 3.0], n) if kind in ("weighted", "both") else None
    cluster = np.append(np.arange(n // 4), random.integers(0, n // 4, n - n // 4))
    return replace(sample, weight=weight, cluster=cluster if kind in ("clustered", "both") else None), first, second


def _outputs(metric, n, seed):
    truth, first, second = two_class_rows(n, seed)
    if metric.tally is ErrorSums:
        target = truth + first + 0.6
        return Sample(target), target + second - 0.4, target + 0.9 * first - 0.5
    many = metric.name.split("_")[0] in ("macro", "weighted", "micro")
    if metric.tally is ClassScores or many:
        random = np.random.default_rng(seed)
        truth = np.append([0, 1, 2] * 2, random.integers(0, 3, n - 6))
        scores = random.dirichlet([2, 2, 2], (2, n)) * 0.7 + 0.3 * np.eye(3)[truth]
        sample = Sample(truth, ("a", "b", "c"), ("a", "b", "c"))
        return (sample, *scores) if metric.tally is ClassScores else (sample, *scores.argmax(-1))
    if metric.tally is Confusion:
        first, second = (first >= 0.5).astype(int), (second >= 0.5).astype(int)
    return Sample(truth, **TWO), first, second


def figure(metric, sample, output):
    """The figure of rows that are counted from scratch."""
    if metric.tally is ErrorSums:
        return float(metric.of(ErrorSums.from_rows(sample.truth, output, sample.weight)))
    if metric.tally is ClassScores:
        return float(
            metric.of(ClassScores.from_rows(output, sample.truth, sample.classes, sample.weight, parts=ORDERED))
        )
    if metric.tally is ScoreTable:
        return float(metric.of(ScoreTable.from_rows(output, sample.hits, sample.weight)))
    counts = np.zeros((len(sample.classes), len(sample.decisions)))
    np.add.at(counts, (sample.truth, output), 1 if sample.weight is None else sample.weight)
    return float(metric.of(Confusion(sample.classes, sample.decisions, counts, positive=sample.positive)))


def some(sample, rows):
    """The sample of these rows, in this order."""
    parts = {name: getattr(sample, name) for name in ("truth", "weight", "cluster")}
    return replace(sample, **{name: None if part is None else part[rows] for name, part in parts.items()})


def gap_of(metric, sample, first, second, rows=slice(None)):
    return figure(metric, some(sample, rows), first[rows]) - figure(metric, some(sample, rows), second[rows])


# ── the law: what one row changes, on Student's t ────────────────────────────────────────────────────────────────
def kish(weights):
    return weights.sum() ** 2 / (weights**2).sum()


def units_of(metric, sample):
    """How many equal rows, or clusters, bear a figure."""
    groups = np.arange(len(sample.truth)) if sample.cluster is None else sample.cluster
    rests_on = "rows" if metric.one_row is None else metric.one_row.rests_on
    sides = {"rows": [np.ones(len(groups), bool)], "positives": [], "both": []}[rests_on]
    if not sides:
        sides = [sample.hits] if rests_on == "positives" else [sample.hits, ~sample.hits]
    return min(kish(np.bincount(groups, sample.weights * side)) for side in sides)


def unseen(metric, sample, first, second):
    """The largest change of the difference by one more row: any class, any two decisions; only tables have one."""
    if metric.tally is not Confusion:
        return 0.0
    usual = (sample.weights**2).sum() / sample.weights.sum()
    gap, found = gap_of(metric, sample, first, second), []
    for truth in range(len(sample.classes)):
        for a in range(len(sample.decisions)):
            for b in range(len(sample.decisions)):
                more = replace(
                    sample, truth=np.append(sample.truth, truth), weight=np.append(sample.weights, usual), cluster=None
                )
                found.append(gap_of(metric, more, np.append(first, a), np.append(second, b)) - gap)
    return np.nanmax(np.abs(found))


def by_hand(metric, sample, first, second, confidence):
    """Interval and p-value of the specification, from rows or clusters left out one by one."""
    gap = gap_of(metric, sample, first, second)
    groups = np.arange(len(first)) if sample.cluster is None else sample.cluster
    each = np.array([gap - gap_of(metric, sample, first, second, groups != g) for g in np.unique(groups)])
    n = len(each)
    error = math.sqrt((n - 1) / n * (each**2).sum() + unseen(metric, sample, first, second) ** 2 / 4)
    tails = n * (each**4).sum() / (each**2).sum() ** 2
    degrees = min(max(2 * n / (tails - 1), 4), units_of(metric, sample) - 1)
    half, size = stats.t.ppf((1 + confidence) / 2, degrees) * error, metric.range[1] - metric.range[0]
    return max(gap - half, -size), min(gap + half, size), 2 * stats.t.sf(abs(gap) / error, degrees)


BY_ROWS = [m for m in FIGURES if m.interval != "median" and (m.one_row is None or not m.one_row.place)]
BY_ROWS = [
    m for m in BY_ROWS if m.name not in ("prevalence", "coverage", "within_one_accuracy")
]  # here the same for all models
BY_ROWS = [m.with_parameters(k=1) if m.name == "top_k_accuracy" else m for m in BY_ROWS]
SUMMED = ("hand_till_auc", "macro_auc", "macro_average_precision", "lorenz_gini")
"""What the rows of a cluster change is added up, rather than leaving the cluster out."""


def nearness(metric, kind):
    """As which share of its length an interval is the one by hand: weights are left out to first order only."""
    if (metric.name in SUMMED and kind != "alone") or (metric.name == "average_precision" and kind == "weighted"):
        return 0.1
    first_order = kind == "weighted" or metric.name == "relative_absolute_error"
    return 0.02 if first_order else 1e-9


NAMES = (
    "recall",
    "mcc",
    "accuracy",
    "auc",
    "average_precision",
    "normalised_log_loss",
    "top_k_accuracy",
    "r2",
    "macro_f1",
)


@pytest.mark.spread(16)
@pytest.mark.parametrize("metric", BY_ROWS, ids=ids)
def test_a_difference_is_judged_by_what_rows_or_clusters_change_in_it(metric):
    kinds = KINDS if metric.name in NAMES else [("alone", "clustered")[BY_ROWS.index(metric) % 2]]
    for kind in kinds:
        if (metric.name, kind) == ("accuracy", "alone"):  # that is McNemar's
            continue
        sample, first, second = outputs(metric, 40, seed=1, kind=kind)
        found = difference(metric, sample, first, second, Sampling(0.9))
        low, high, p_value = by_hand(metric, sample, first, second, 0.9)
        near = nearness(metric, kind)
        assert (found.low, found.high) == pytest.approx((low, high), abs=near * (high - low)), kind
        assert found.p_value == pytest.approx(p_value, abs=3 * near), kind


def test_a_loss_has_the_statistic_of_the_paired_t_test():
    truth, first, second = two_class_rows(90)
    one, other = ((truth - score) ** 2 for score in (first, second))
    theirs = stats.ttest_rel(one, other)
    degrees = min(max(2 * 90 / (stats.kurtosis(one - other, fisher=False) - 1), 4), 89)
    found = difference(metrics.find("brier_score"), Sample(truth, **TWO), first, second, Sampling())
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(theirs.statistic), degrees), rel=1e-9)
    half = stats.t.ppf(0.975, degrees) * (one - other).std(ddof=1) / math.sqrt(90)
    middle = (one - other).mean()
    assert (found.low, found.high) == pytest.approx((middle - half, middle + half), rel=1e-9)
    assert found.method == "influence of rows on the difference, Student's t"


@pytest.mark.parametrize("ties", [False, True])
def test_areas_have_delongs_variance_where_class_counts_are_fixed(ties):
    truth, *scores = two_class_rows(120, seed=4)
    scores = np.round(scores, 1 if ties else 9)
    hits = truth == 1
    kernels = [np.sign(s[hits][:, None] - s[~hits][None]) / 2 + 0.5 for s in scores]
    of_positives, of_negatives = (np.cov([k.mean(axis) for k in kernels]) for axis in (1, 0))
    covariance = of_positives / hits.sum() + of_negatives / (~hits).sum()
    error = math.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    found = difference(metrics.find("auc"), Sample(truth, **TWO), *scores, Sampling(design="classes fixed"))
    gap = roc_auc_score(truth, scores[0]) - roc_auc_score(truth, scores[1])
    placed, lost = (np.subtract(*(k.mean(axis) for k in kernels)) - gap for axis in (1, 0))
    each = np.concatenate([placed / (hits.sum() - 1), lost / ((~hits).sum() - 1)])
    degrees = min(2 * 120 / (120 * (each**4).sum() / (each**2).sum() ** 2 - 1), hits.sum() - 1)
    half = stats.t.ppf(0.975, degrees) * error
    assert (found.low, found.high) == pytest.approx((gap - half, gap + half), abs=1e-12)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(gap) / error, degrees), rel=1e-9)
    gini = difference(metrics.find("gini"), Sample(truth, **TWO), *scores, Sampling(design="classes fixed"))
    assert (gini.low, gini.high) == pytest.approx((2 * found.low, 2 * found.high))


@pytest.mark.parametrize("weighted", [False, True])
def test_medians_differ_as_their_ranks_allow(weighted):
    """The spread of the difference is that of rows drawn again, though no single row tells it."""
    random = np.random.default_rng(2)
    truth = random.normal(size=400)
    first, second = truth + random.normal(size=400), truth + 1.3 * random.normal(size=400)
    weight = np.where(abs(truth - first) > 1, 5.0, 1.0) if weighted else np.ones(400)  # where medians lie elsewhere
    sample = Sample(truth, weight=weight if weighted else None)
    found = difference(metrics.find("median_absolute_error"), sample, first, second, Sampling())
    rows = random.integers(0, 400, (800, 400))

    def median(errors, rows):
        return np.quantile(errors[rows], 0.5, axis=-1, weights=weight[rows], method="inverted_cdf")

    each = [abs(truth - said) for said in (first, second)]
    drawn = median(each[0], rows) - median(each[1], rows)
    gap = median(each[0], np.arange(400)) - median(each[1], np.arange(400))
    assert (found.low + found.high) / 2 == pytest.approx(gap, abs=0.01)
    assert (found.high - found.low) / (2 * 1.96 * drawn.std()) == pytest.approx(1, abs=0.15)


def share_in_both(truth, decided):
    return (truth & decided).sum() / (truth | decided).sum()


def average_precision(truth, score):
    """Precision at each positive, rows drawn twice together."""
    at_least = score[None] >= score[truth == 1][:, None]
    return ((at_least & (truth == 1)).sum(1) / at_least.sum(1)).mean()


@pytest.mark.parametrize(
    ("name", "theirs"), [("jaccard", share_in_both), ("average_precision", average_precision), ("r2", r2_score)]
)
def test_the_spread_is_that_of_rows_drawn_again(name, theirs):
    sample, first, second = outputs(metrics.find(name), n=300)
    found = difference(metrics.find(name), sample, first, second, Sampling())
    rows = np.random.default_rng(9).integers(0, 300, (250, 300))
    drawn = [theirs(sample.truth[i], first[i]) - theirs(sample.truth[i], second[i]) for i in rows]
    assert (found.high - found.low) / (2 * 1.96 * np.std(drawn)) == pytest.approx(1, abs=0.15)


# ── p-value and interval ─────────────────────────────────────────────────────────────────────────────────────────
def assert_agreement(judge):
    """The p-value is below a level just when the interval of that confidence leaves 0 out, also a hair from it."""
    found = judge(0.95)
    if found.low is None:
        assert found.p_value is None
        assert found.note
        return
    for level in (0.05, found.p_value * 1.001, found.p_value * 0.999):
        if 1e-8 < level < 1:
            here = judge(1 - level)
            assert here.p_value == found.p_value
            assert here.low <= here.high
            assert (here.p_value < level) == (here.low > 0 or here.high < 0), (level, here)


SMALL = [metrics.find(f"{m.name}(k=4)") if m.name in ("precision_at_k", "recall_at_k") else m for m in EVERY]


@pytest.mark.spread(18)
@pytest.mark.parametrize("metric", SMALL, ids=ids)
def test_the_p_value_is_small_just_when_the_interval_leaves_0_out(metric):
    kinds = ("alone", KINDS[1 + SMALL.index(metric) % 3])  # the others with the next figure
    for n, kind in zip((10, 24), kinds, strict=True):
        sample, first, second = outputs(metric, n, 0, kind)
        other, _, last = outputs(metric, n + 5, 50, kind)
        sides = (sample, first), (other, last)
        if kind != "alone" or metric.name != "accuracy":  # see test_mcnemar.py
            assert_agreement(lambda sure, rows=(sample, first, second): difference(metric, *rows, Sampling(sure)))
        assert_agreement(lambda sure, sides=sides: difference_of_unpaired(metric, *sides, Sampling(sure)))


@pytest.mark.spread(30)
@pytest.mark.parametrize("n", [12, 30])
@pytest.mark.parametrize("metric", [m for m in FIGURES if m.tally in (Confusion, ScoreTable)], ids=ids)
def test_they_agree_where_class_counts_are_fixed(metric, n):
    rows = outputs(metric, n, seed=n // 30)
    assert_agreement(lambda sure: difference(metric, *rows, Sampling(sure, "classes fixed")))


# ── what may not matter ──────────────────────────────────────────────────────────────────────────────────────────
def same(one, other):
    if one.low is None or other.low is None:
        return one == other
    return (one.low, one.high, one.p_value) == pytest.approx((other.low, other.high, other.p_value), rel=1e-6, abs=1e-9)


TURNED = [(m, kind) for m in FIGURES for kind in ("alone", "both")]


@pytest.mark.spread(45)
@pytest.mark.parametrize(("metric", "kind"), TURNED, ids=[f"{m.text}-{kind}" for m, kind in TURNED])
def test_neither_order_nor_scale_matters_and_swapped_models_turn_everything_round(metric, kind):
    sample, first, second = outputs(metric, kind=kind)
    found = difference(metric, sample, first, second, Sampling())
    shuffled = np.random.default_rng(3).permutation(len(first))
    assert same(found, difference(metric, some(sample, shuffled), first[shuffled], second[shuffled], Sampling()))
    turned = difference(metric, sample, second, first, Sampling())
    if found.low is not None:
        assert (-turned.high, -turned.low, turned.p_value) == pytest.approx((found.low, found.high, found.p_value))
    if sample.weight is not None:
        for scale in (1e-6, 7.0):
            scaled = replace(sample, weight=sample.weight * scale)
            assert same(found, difference(metric, scaled, first, second, Sampling()))


@pytest.mark.parametrize("name", ["f1", "accuracy", "auc", "average_precision", "brier_score", "rmse", "macro_f1"])
def test_equal_weights_of_any_size_are_none(name):
    metric = metrics.find(name)
    sample, first, second = outputs(metric)
    plain = difference(metric, sample, first, second, Sampling())
    for size in (1.0, 2.5):
        equal = difference(metric, replace(sample, weight=np.full(60, size)), first, second, Sampling())
        if name == "accuracy":  # McNemar's test knows no weights
            assert (equal.low, equal.high) == pytest.approx((plain.low, plain.high), abs=0.02)
        else:
            assert same(plain, equal), size


def test_scores_that_only_order_may_be_shifted_and_scaled():
    truth, first, second = two_class_rows(60)
    for name in ("auc", "average_precision", "partial_auc"):
        found, moved = (
            difference(metrics.find(name), Sample(truth, **TWO), first, other, Sampling())
            for other in (second, 100 * second - 7)
        )
        assert same(found, moved)


def test_copies_of_rows_tell_nothing_new_as_clusters():
    truth, first, second = two_class_rows(100)
    thrice = np.tile(np.arange(100), 3)
    for name in ("f1", "auc", "brier_score"):
        metric = metrics.find(name)
        columns = [(s >= 0.5).astype(int) if metric.tally is Confusion else s for s in (first, second)]
        each = difference(metric, Sample(truth, **TWO, cluster=np.arange(100)), *columns, Sampling())
        copies = Sample(truth[thrice], **TWO, cluster=thrice)
        again = difference(metric, copies, *(column[thrice] for column in columns), Sampling())
        # one more row changes three times as many by a third
        assert (again.low, again.high) == pytest.approx((each.low, each.high), abs=0.1 * (each.high - each.low))
        assert again.method == "influence of whole clusters on the difference, Student's t"


@pytest.mark.parametrize("kind", KINDS)
def test_identical_models_do_not_differ(kind):
    for metric in FIGURES:
        sample, first, _ = outputs(metric, kind=kind)
        found = difference(metric, sample, first, first.copy(), Sampling())
        assert found.p_value == 1, metric.text
        assert found.low == -found.high, metric.text
        decided = metric.tally is Confusion and metric.name not in ("prevalence", "coverage", "within_one_accuracy")
        assert (found.low < 0) == decided, metric.text  # one more row may be decided otherwise
        assert decided or found.note in ("both models say the same on every row", "no row makes a difference")


@pytest.mark.parametrize("name", ["recall", "precision", "f1", "specificity", "mcc", "kappa", "balanced_accuracy"])
def test_models_that_agree_on_the_rows_that_matter_may_differ_on_the_next_one(name):
    truth, metric = np.repeat([1, 0], [3, 40]), metrics.find(name)
    first = truth.copy()
    first[3:5] = 1
    second = np.append(truth[:3], np.roll(first[3:], 7))
    sample = Sample(truth, **TWO)
    found = difference(metric, sample, first, second, Sampling())
    assert gap_of(metric, sample, first, second) == 0
    assert (found.p_value, found.low) == (1, -found.high)
    if name == "recall":  # one more positive that only one of them finds, on 4 degrees of freedom
        half = stats.t.ppf(0.975, 4) / 2 / 4
        assert found.high == pytest.approx(half)
    else:
        assert found.high > 0.01


def test_the_recall_difference_of_8_positives_is_covered_exactly():
    """Every way in which the positives can fall out, with its probability: no simulation."""
    metric, n, (both, one, other) = metrics.find("recall"), 8, (0.7, 0.1, 0.05)
    covered = 0.0
    for a in range(n + 1):
        for b in range(n + 1 - a):
            for c in range(n + 1 - a - b):
                rest = n - a - b - c
                first, second = np.zeros((2, n + 4), int)
                first[: a + b], second[:a], second[a + b : a + b + c] = 1, 1, 1
                sample = Sample(np.repeat([1, 0], [n, 4]), **TWO)
                found = difference(metric, sample, first, second, Sampling())
                chance = stats.multinomial.pmf([a, b, c, rest], n, [both, one, other, 1 - both - one - other])
                assert found.high > found.low
                assert (found.p_value < 0.05) == (found.low > 0 or found.high < 0)
                covered += chance * (found.low <= one - other <= found.high)
    assert 0.95 <= covered <= 1


@pytest.mark.parametrize("kind", KINDS)
def test_savings_turn_round_too_and_identical_decisions_save_nothing_for_sure(kind):
    metric = metrics.find("expected_cost").with_parameters(**PRICES)
    sample, first, second = outputs(metric, 200, kind=kind)
    one, other = (difference(metric, sample, *pair, Sampling()) for pair in ((first, second), (second, first)))
    size = one.high - one.low
    assert (-other.high, -other.low) == pytest.approx((one.low, one.high), abs=0.03 * size)  # other random numbers
    assert other.p_value == pytest.approx(one.p_value, abs=0.03)
    assert one.low < gap_of(metric, sample, first, second) < one.high
    same = difference(metric, sample, first, first.copy(), Sampling())
    assert same.p_value == 1
    assert same.low == pytest.approx(-same.high, abs=0.03 * size) != 0  # one more row may be decided otherwise


# ── what is not known ────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", ["ks", "ece", "max_error", "macro_ks"])
def test_figures_without_an_interval_have_none_of_their_difference(name):
    metric = metrics.find(name)
    sample, first, second = outputs(metric)
    found = difference(metric, sample, first, second, Sampling())
    assert (found.low, found.high, found.p_value) == (None, None, None)
    assert found.note == metric.no_interval != ""
    assert difference_of_unpaired(metric, (sample, first), (sample, second), Sampling()) == found


def test_a_single_positive_or_cluster_has_no_spread():
    truth, first, second = two_class_rows(40)
    single = np.append(1, np.zeros(39, int))
    found = difference(metrics.find("auc"), Sample(single, **TWO), first, second, Sampling())
    assert (found.low, found.p_value) == (None, None)
    assert found.note == "auc is infinite or undefined without some row"
    together = Sample(truth, **TWO, cluster=np.zeros(40, int))
    found = difference(metrics.find("auc"), together, first, second, Sampling())
    assert (found.low, found.note) == (None, "there is a single cluster")
    assert difference_of_unpaired(metrics.find("auc"), (together, first), (together, second), Sampling()) == found


def test_two_perfect_orders_differ_by_a_row_that_is_not_there():
    truth = np.repeat([0, 1], 20)
    scores = truth + np.linspace(0, 0.5, 40), truth + np.linspace(0.5, 0, 40)
    found = difference(metrics.find("auc"), Sample(truth, **TWO), *scores, Sampling())
    half = stats.t.ppf(0.975, 4) / 2 / 21  # one more positive below all negatives, by one of the models
    assert (found.low, found.high, found.p_value) == pytest.approx((-half, half, 1))


def test_errors_that_are_equal_by_chance_have_no_interval():
    truth = np.arange(8.0)
    found = difference(metrics.find("mean_absolute_error"), Sample(truth), truth + 1, truth - 1, Sampling())
    assert (found.low, found.p_value) == (None, None)
    assert found.note == "too few rows bear the difference, or none makes one"


# ── different rows ───────────────────────────────────────────────────────────────────────────────────────────────
def test_models_on_different_rows_vary_independently():
    (a, first, _), (b, _, second) = two_class_rows(80, 1), two_class_rows(200, 2)
    sides = (Sample(a, **TWO), first), (Sample(b, **TWO), second)
    found = difference_of_unpaired(metrics.find("brier_score"), *sides, Sampling())
    losses = [(truth - score) ** 2 for truth, score in ((a, first), (b, second))]
    theirs = stats.ttest_ind(*losses, equal_var=False)
    squares = [loss.var(ddof=1) / len(loss) for loss in losses]
    bearing = [min(max(2 * len(loss) / (stats.kurtosis(loss, fisher=False) - 1), 4), len(loss) - 1) for loss in losses]
    degrees = sum(squares) ** 2 / sum(v**2 / d for v, d in zip(squares, bearing, strict=True))
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(theirs.statistic), degrees), rel=1e-9)
    half = stats.t.ppf(0.975, degrees) * math.sqrt(sum(squares))
    middle = losses[0].mean() - losses[1].mean()
    assert (found.low, found.high) == pytest.approx((middle - half, middle + half), rel=1e-9)
    turned = difference_of_unpaired(metrics.find("brier_score"), sides[1], sides[0], Sampling())
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))


def test_shares_of_different_rows_know_of_the_row_that_is_not_there():
    truth = np.array([1] * 20 + [0] * 30)
    sample, right = Sample(truth, **TWO), truth.copy()
    found = difference_of_unpaired(metrics.find("recall"), (sample, right), (sample, right), Sampling())
    half = stats.t.ppf(0.975, 4 + 4) * math.sqrt(2) / 2 / 21  # 20 of 20 found, and one more that need not be
    assert (found.low, found.high, found.p_value) == pytest.approx((-half, half, 1))


def test_flipped_counts_who_is_right():
    sample = Sample(np.array([0, 0, 1, 1, 1, 1]), **TWO)
    rows = flipped(sample, np.array([0, 1, 1, 0, 1, 1]), np.array([0, 0, 0, 0, 1, 0]))
    assert (rows.both_right, rows.only_first_right, rows.only_second_right, rows.both_wrong) == (2, 2, 1, 1)


# ── coverage ─────────────────────────────────────────────────────────────────────────────────────────────────────
def judged(name, runs, n):
    """The true difference of two models in a population, and the difference as it is judged in samples of it."""
    metric, population = metrics.find(name), two_class_rows(100_000, seed=99, apart=1.5)

    def cut(truth, first, second):
        if metric.tally is Confusion:
            first, second = (first >= 0.5).astype(int), (second >= 0.5).astype(int)
        return Sample(truth, **TWO), first, second

    rows = np.random.default_rng(1).integers(100_000, size=(runs, n))
    found = [difference(metric, *cut(*(column[i] for column in population)), Sampling()) for i in rows]
    return gap_of(metric, *cut(*population)), found


@pytest.mark.parametrize("runs", [60, pytest.param(2000, marks=pytest.mark.deep)])
@pytest.mark.parametrize("name", ["auc", "accuracy", "f1", "recall", "brier_score", "average_precision"])
def test_intervals_cover_the_true_difference(name, runs):
    true, found = judged(name, runs, 150)
    covered = np.mean([one.low <= true <= one.high for one in found])
    error = math.sqrt(0.95 * 0.05 / runs)
    assert 0.94 - 3 * error <= covered <= min(0.975 + 3 * error, 1)


@pytest.mark.parametrize("runs", [100, pytest.param(4000, marks=pytest.mark.deep)])
@pytest.mark.parametrize("name", ["f1", "brier_score", "auc", "expected_cost"])
def test_equally_good_models_are_told_apart_as_often_as_stated(name, runs):
    metric, p_values = metrics.find(name), []
    metric = complete(metric, **PRICES)
    for seed in range(runs):
        random = np.random.default_rng(seed)
        truth = (random.random(80) < 0.5).astype(int)
        first, second = (1 / (1 + np.exp(-(truth + random.normal(size=80)))) for _ in range(2))
        if metric.tally is Confusion:
            first, second = (first >= 0.6).astype(int), (second >= 0.6).astype(int)
        p_values.append(difference(metric, Sample(truth, **TWO), first, second, Sampling()).p_value)
    for level in (0.05, 0.2, 0.5):
        found, error = np.mean(np.array(p_values) < level), math.sqrt(level * (1 - level) / runs)
        assert 0.6 * level - 3 * error <= found <= 1.2 * level + 3 * error, level
