"""Intervals of single figures: each way against its definition, brute force, or somebody else's code."""

import math
import warnings

import numpy as np
import polars as pl
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

import stakes
from stakes.metrics import find, measure
from stakes.metrics.declare import INTERVAL_WORDS
from stakes.tallies import ClassScores, Confusion, ErrorSums, ScoreTable
from stakes.uncertainty import bootstrap, score_intervals
from stakes.uncertainty.changes import influences
from stakes.uncertainty.interval import clopper_pearson, wilson
from stakes.uncertainty.intervals import intervals
from stakes.uncertainty.sampling import USUAL, Sampling, normal, student
from tests.parts import Lazily, examples

pytestmark = pytest.mark.slow

proportion = Lazily("statsmodels.stats.proportion")

Z = scipy.stats.norm.ppf(0.975)


def two_classes(n=400, seed=0, prevalence=0.4, apart=1.2):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < prevalence
    return truth, 1 / (1 + np.exp(-(rng.normal(size=n) + apart * truth - apart / 2)))


def one(metric, tally, sampling=USUAL):
    value = float(find(metric).of(tally))
    return value, intervals([find(metric)], [value], tally, sampling)[0]


def error_of(name, tally, sampling=USUAL):
    """The standard error of a figure, by what one row changes."""
    (found,) = influences([find(name)], [float(find(name).of(tally))], tally, sampling)
    return found.error


def ends(found):
    return found.low, found.high


# ── the law, by hand ─────────────────────────────────────────────────────────────────────────────────────────────
def by_hand(value, each, span, most=None, unseen=0.0, units=None, centred=False):
    """The 95 % interval of the specification, from what the figure loses without each row.

    Wilson's limits are those shares from which the figure lies q errors away, with as many rows as its error tells.
    """
    n = len(each)
    shrunk = 1 - 1 / (units or n)
    error = math.sqrt(shrunk * (each**2).sum() + unseen**2 / 4)
    degrees = max(2 * n / (n * (each**4).sum() / (each**2).sum() ** 2 - 1), 4)
    q = scipy.stats.t.ppf(0.975, min(degrees, (units or n) - 1 if most is None else most))
    if not np.isfinite(span).any():
        return value - q * error, value + q * error
    if not np.isfinite(span).all():
        end = span[0] if math.isfinite(span[0]) else span[1]
        return tuple(sorted(end + (value - end) * math.exp(sign * q * error / abs(value - end)) for sign in (-1, 1)))
    low, size = span[0], span[1] - span[0]
    share = np.clip((value - low) / size, unseen / size / 2, 1 - unseen / size / 2)
    centre = share if centred else np.clip(share + shrunk * each.sum() / size, share / 2, (1 + share) / 2)
    rows = centre * (1 - centre) / (error / size) ** 2

    def away(where):
        return (centre - where) * abs(centre - where) * rows - q**2 * where * (1 - where) * np.sign(centre - where)

    found = brentq(away, 0, centre * (1 - 1e-12)), brentq(away, centre + (1 - centre) * 1e-12, 1)
    return tuple(low + size * np.array([min(found[0], share), max(found[1], share)]))


def left_out(metric, make, n):
    """What a figure loses without each row; ``make`` counts some rows."""
    value = float(metric.of(make(np.ones(n, bool))))
    return value, np.array([value - float(metric.of(make(np.arange(n) != i))) for i in range(n)])


def unseen_in(metric, table):
    """The largest change by one more row of a table."""
    cells = np.eye(table.counts.size).reshape(-1, *table.counts.shape)
    more = [float(metric.of(table.with_counts(table.counts + cell))) for cell in cells]
    return np.nanmax(np.abs(np.array(more) - float(metric.of(table))))


def unseen_loss(chances, losses):
    """What one more row is taken to lose where losses have no upper end: E(loss²)/E(loss), as often as was stated."""
    return (chances * np.square(losses)).sum() / (chances * np.asarray(losses)).sum()


def unseen_scale(truth, name):
    share = truth.mean()
    return -share * np.log(share) - (1 - share) * np.log(1 - share) if "log" in name else share * (1 - share)


@pytest.mark.parametrize("name", ["brier_score", "log_loss", "normalised_log_loss", "normalised_brier_score"])
def test_losses_of_scores_by_hand(name):
    truth, score = two_classes(60)
    metric = find(name)
    value, each = left_out(metric, lambda rows: ScoreTable.from_rows(score[rows], truth[rows]), 60)
    unseen = max(value, 1 - value) / 61
    if name != "brier_score":
        losses = -np.log([score, 1 - score]) if "log" in name else np.array([1 - score, score]) ** 2
        scale = 1 if name == "log_loss" else unseen_scale(truth, name)
        unseen = max(unseen_loss([score, 1 - score], losses) / scale - value, 0) / 61
    _, found = one(name, ScoreTable.from_rows(score, truth))
    assert ends(found) == pytest.approx(by_hand(value, each, metric.range, unseen=unseen), rel=1e-8)
    _, equal = one(name, ScoreTable.from_rows(score, truth, np.full(60, 2.5)))
    assert ends(equal) == pytest.approx(ends(found), rel=1e-9)


def test_average_precision_by_hand():
    truth, score = two_classes(60)
    metric, P = find("average_precision"), truth.sum()
    value, each = left_out(metric, lambda rows: ScoreTable.from_rows(score[rows], truth[rows]), 60)
    places = np.flatnonzero(truth[np.argsort(-score)]) + 1
    on_top = np.sum(np.arange(1, P + 1) * (1 / places - 1 / (places + 1))) / P  # of an unseen negative
    unseen = max(max(value, 1 - value) / (P + 1), on_top)
    wanted = by_hand(value, each, (0, 1), most=P - 1, unseen=unseen)
    assert ends(one("average_precision", ScoreTable.from_rows(score, truth))[1]) == pytest.approx(wanted, rel=1e-8)


@pytest.mark.parametrize("weight", [1.25, 25_000 / 13_738, 0.1, 1 / 3])
def test_weights_that_are_all_alike_change_nothing_in_what_average_precision_loses(weight):
    """Sums of such weights round: the first row without itself must leave nothing, not a little less or more."""
    truth, score = two_classes(300)
    positives, negatives = np.array([truth, ~truth], float)[:, np.argsort(-score)]
    changes, ones = find("average_precision").one_row.changes, np.ones((2, 300))
    found = changes(weight * positives, weight * negatives, weight * ones)
    there = np.array([positives, negatives]) > 0
    np.testing.assert_allclose(found[there], changes(positives, negatives, ones)[there], rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("seed", range(4))
def test_what_average_precision_loses_without_a_weighted_row_is_its_slope(seed):
    """However light the rows on top are, which are all that precision there is made of."""
    truth, score = two_classes(2_000, seed)
    order = np.argsort(-score)
    weight = np.random.default_rng(seed).lognormal(0, 1, 2_000)
    weight[order[:3]] = weight.mean() * np.array([1 + 1e-9, 1e-3, 0.5])
    changes = find("average_precision").one_row.changes
    positives, negatives = np.where([truth, ~truth], weight, 0.0)[:, order]
    found = changes(positives, negatives, np.stack([weight[order]] * 2))[np.where(truth, 0, 1)[order], np.arange(2_000)]

    def figure(weights):
        return float(find("average_precision").of(ScoreTable.from_rows(score, truth, weights)))

    rows, step = np.arange(0, 2_000, 40), 1e-6
    slopes = [(figure(weight) - figure(np.where(np.arange(2_000) == row, weight * (1 - step), weight))) / step
              for row in order[rows]]  # fmt: skip
    np.testing.assert_allclose(found[rows], slopes, rtol=0.1, atol=0.02 * np.std(slopes))


@pytest.mark.parametrize("name", ["accuracy", "mcc", "kappa", "macro_f1", "weighted_recall", "balanced_accuracy"])
def test_tables_of_several_classes_by_hand(name):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 60)
    decided = np.where(rng.random(60) < 0.6, truth, rng.integers(0, 3, 60))
    metric = find(name)

    def make(rows):
        return stakes.count(truth=truth[rows], prediction=decided[rows], task="classification").confusion

    value, each = left_out(metric, make, 60)
    table = make(np.ones(60, bool))
    _, found = one(name, table)
    if name == "accuracy":
        assert ends(found) == pytest.approx(wilson(value, 60, 0.95))
    else:
        wanted = by_hand(value, each, metric.range, unseen=unseen_in(metric, table))
        assert ends(found) == pytest.approx(wanted, rel=1e-8)


@pytest.mark.parametrize("shift", [3, 30, 1e4])
def test_a_constant_shift_of_the_predictions_leaves_the_interval_of_pearson(shift):
    truth, noise = np.random.default_rng(0).normal(size=(2, 100))
    exactly = stakes.evaluate(truth=truth, prediction=truth + shift)["pearson"]
    assert (exactly.low, exactly.no_interval) == (None, "no row makes a difference")
    here, there = (stakes.evaluate(truth=truth, prediction=truth + noise / 100 + by)["pearson"] for by in (0, shift))
    assert (1 - there.low, 1 - there.high) == pytest.approx((1 - here.low, 1 - here.high), rel=1e-6)


@pytest.mark.parametrize("name", ["mae", "mse", "rmse", "mean_error", "r2", "explained_variance", "pearson", "rrse"])
def test_numbers_by_hand(name):
    truth, prediction = numbers(60)
    metric = find(name)
    value, each = left_out(metric, lambda rows: ErrorSums.from_rows(truth[rows], prediction[rows]), 60)
    wanted = by_hand(value, each, metric.range)
    assert ends(one(name, ErrorSums.from_rows(truth, prediction))[1]) == pytest.approx(wanted, rel=1e-6)


NAMES = (
    "macro_auc",
    "hand_till_auc",
    "multiclass_log_loss",
    "multiclass_brier_score",
    "normalised_multiclass_log_loss",
)


@pytest.mark.parametrize("name", [*NAMES, "macro_average_precision"])
def test_class_scores_by_hand(name):
    rng = np.random.default_rng(1)
    scores = rng.dirichlet((1, 2, 0.7), 60)
    truth = np.array([rng.choice(3, p=p) for p in scores])
    metric = find(name)
    value, each = left_out(metric, lambda rows: ClassScores.from_rows(scores[rows], truth[rows], "abc"), 60)
    unseen = max(value, 2 - value) / 61 if name == "multiclass_brier_score" else 0.0
    if "log_loss" in name:
        shares = np.bincount(truth) / 60
        scale = 1 if name == "multiclass_log_loss" else -(shares * np.log(shares)).sum()
        unseen = max(unseen_loss(scores, -np.log(scores)) / scale - value, 0) / 61
    _, found = one(name, ClassScores.from_rows(scores, truth, "abc"))
    assert ends(found) == pytest.approx(by_hand(value, each, metric.range, unseen=unseen), rel=1e-6)


@pytest.mark.parametrize("kind", ["distinct", "tied", "nearly perfect"])
def test_areas_are_the_union_of_the_law_and_newcombes(kind):
    truth, score = two_classes(100, seed=4)
    score = score.round(1) if kind == "tied" else score
    if kind == "nearly perfect":  # but for a negative above some positives
        truth, score = np.arange(100) < 30, np.linspace(1, 0, 100)
        score[40] = 0.75
    table, P, N = ScoreTable.from_rows(score, truth), truth.sum(), (~truth).sum()
    value, each = left_out(find("auc"), lambda rows: ScoreTable.from_rows(score[rows], truth[rows]), 100)
    law = by_hand(value, each, (0, 1), most=min(P, N) - 1, centred=True)
    newcombe = score_intervals.newcombe(value, P, N, 0.95)
    both = min(law[0], newcombe[0]), max(law[1], newcombe[1])
    assert (newcombe[0] < law[0]) == (kind == "nearly perfect")
    assert ends(one("auc", table)[1]) == pytest.approx(both, rel=1e-8)
    assert ends(one("gini", table)[1]) == pytest.approx([2 * end - 1 for end in both], rel=1e-8)


# ── every declaration ────────────────────────────────────────────────────────────────────────────────────────────
def evaluations():
    rng = np.random.default_rng(3)
    truth, score = two_classes()
    scores = rng.dirichlet(np.ones(3), 300)
    classes = np.array([rng.choice(3, p=p) for p in scores])
    target = rng.normal(size=200) + 5
    return {
        "two": stakes.evaluate(truth=truth, score=score),
        "three": stakes.evaluate(truth=classes, score=scores, classes=range(3)),
        "numbers": stakes.evaluate(truth=target, prediction=target + rng.normal(size=200)),
    }


@pytest.mark.parametrize("kind", ["two", "three", "numbers"])
def test_every_figure_has_an_interval_or_says_why_not(kind):
    ev = evaluations()[kind]
    for name, estimate in ev.figures.items():
        if estimate.low is None:
            assert estimate.no_interval, name
            assert not estimate.method, name
        else:
            assert estimate.low <= estimate.value <= estimate.high, name
            assert estimate.low < estimate.high, name
            assert estimate.method, name
            lowest, highest = find(name).range
            assert lowest <= estimate.low, name
            assert estimate.high <= highest, name


def test_every_metric_declares_a_way():
    for metric in stakes.metrics.catalogue():
        assert metric.no_interval or metric.interval in INTERVAL_WORDS
        assert metric.facts()["interval"]


def test_figures_of_the_specification_have_none():
    ev = evaluations()["two"]
    for name in ("ece", "mce", "ece_equal_mass", "mce_equal_mass", "ks", "recall_at_precision", "precision_at_recall"):
        assert ev[name].low is None
        assert ev[name].no_interval
    assert "more rows bring larger ones" in evaluations()["numbers"]["max_error"].no_interval


# ── quantiles and shares ─────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("degrees", [1, 2.5, 10, 999, 1000, 12345.6, 1e6])
def test_quantiles_agree_with_scipy(degrees):
    for probability in (0.9, 0.975, 0.995):
        assert normal(probability) == pytest.approx(scipy.stats.norm.ppf(probability), abs=1e-12)
        assert student(probability, degrees) == pytest.approx(scipy.stats.t.ppf(probability, degrees), rel=1e-9)


@examples(200)
@given(n=st.integers(1, 10_000), share=st.floats(0, 1), confidence=st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_limits_of_shares_agree_with_statsmodels(n, share, confidence):
    hits = round(share * n)
    for ours, method in ((wilson, "wilson"), (clopper_pearson, "beta")):
        wanted = proportion.proportion_confint(hits, n, 1 - confidence, method)
        assert ours(hits / n, n, confidence) == pytest.approx(np.clip(np.nan_to_num(wanted), 0, 1), abs=1e-9)


def test_shares_of_an_evaluation_are_those_limits():
    ev = stakes.evaluate(truth=[1] * 30 + [0] * 70, prediction=[1] * 24 + [0] * 6 + [1] * 10 + [0] * 60)
    cases = {"recall": (24, 30), "precision": (24, 34), "specificity": (60, 70), "accuracy": (84, 100)}
    for name, (hits, n) in cases.items():
        wanted = proportion.proportion_confint(hits, n, 0.05, "wilson")
        assert (ev[name].low, ev[name].high) == pytest.approx(wanted)
        exact = ev.interval(name, method="clopper-pearson", confidence=0.9)
        assert (exact.low, exact.high) == pytest.approx(proportion.proportion_confint(hits, n, 0.1, "beta"))
        assert (exact.method, exact.confidence) == ("Clopper–Pearson", 0.9)
    with pytest.raises(stakes.InputError, match="method='delong' does not make an interval of recall; it can be 'wils"):
        ev.interval("recall", method="delong")
    with pytest.raises(stakes.InputError, match="of f1; it can be 'bootstrap' or 'bca'"):
        ev.interval("f1", method="wilson")


def test_weighted_tables_by_hand():
    rng = np.random.default_rng(3)
    truth = rng.random(80) < 0.4
    decided = truth ^ (rng.random(80) < 0.25)
    weight = np.where(truth, 2.0, 1.0) * np.where(decided, 1.5, 1.0)  # the same for all rows of a cell
    units = weight.sum() ** 2 / (weight**2).sum()

    def make(rows):
        return stakes.count(truth=truth[rows], prediction=decided[rows], weight=weight[rows]).confusion

    table, usual = make(np.ones(80, bool)), (weight**2).sum() / weight.sum()
    for name in ("recall", "precision", "accuracy", "f1", "mcc"):
        metric = find(name)
        value, each = left_out(metric, make, 80)
        counts = Confusion(table.truths, table.decisions, table.counts / usual, positive=table.positive)
        wanted = by_hand(value, each, metric.range, unseen=unseen_in(metric, counts), units=units)
        assert ends(one(name, table)[1]) == pytest.approx(wanted, rel=0.01), name


def test_equal_weights_are_rows():
    truth, score = two_classes(80)
    plain = stakes.evaluate(truth=truth, prediction=score > 0.4)
    same = stakes.evaluate(truth=truth, prediction=score > 0.4, weight=[7.0] * 80)
    for name in ("recall", "accuracy", "f1"):  # another law, and nearly the same ends
        assert ends(same[name]) == pytest.approx(ends(plain[name]), abs=0.05), name


# ── resampled tables ─────────────────────────────────────────────────────────────────────────────────────────────
def test_drawn_tables_spread_like_resampled_rows():
    truth, score = two_classes(500)
    table = ScoreTable.from_rows(score, truth).at(0.5)
    rows = np.random.default_rng(1).multinomial(500, (table.counts / 500).ravel(), 20_000).reshape(-1, 2, 2)
    bootstrapped = Confusion(table.truths, table.decisions, rows, positive=table.positive)
    for name in ("f1", "mcc", "kappa", "informedness", "diagnostic_odds_ratio", "negative_likelihood_ratio"):
        low, high = np.quantile(find(name).of(bootstrapped), (0.025, 0.975))
        _, found = one(name, table)
        assert ends(found) == pytest.approx((low, high), abs=0.06 * (high - low)), name
        assert found.method == "the table resampled 2,000 times"


def test_thousands_of_tables_have_the_same_limits():
    counts = np.random.default_rng(0).multinomial(60, (0.3, 0.1, 0.15, 0.45), 130).reshape(-1, 2, 2)
    stack = Confusion(("0", "1"), ("0", "1"), counts, positive="1")
    low, high = bootstrap.limits_of_tables(find("f1"), stack, USUAL)
    for i in (0, 129):
        _, found = one("f1", stack[i])
        assert ends(found) == pytest.approx((low[i], high[i]), abs=0.02)


def test_weights_widen_intervals_by_their_squares():
    rng = np.random.default_rng(2)
    truth, decided, weight = rng.random(300) < 0.5, rng.random(300) < 0.5, rng.gamma(0.5, size=300)
    table = stakes.count(truth=truth, prediction=decided, weight=weight).confusion
    shares = rng.dirichlet(np.ones(300), 4000) * weight  # Rubin's bootstrap of the rows themselves
    tpr, fpr = (((shares * decided * side).sum(1) / (shares * side).sum(1)) for side in (truth, ~truth))
    assert error_of("informedness", table) == pytest.approx((tpr - fpr).std(), rel=0.08)


def test_fixed_classes_vary_within_themselves():
    table, fixed = Confusion.two_class(tp=30, fn=10, fp=5, tn=55), Sampling(design="classes fixed")
    accuracy = (0.4**2 * 0.75 * 0.25 / 39) + (0.6**2 * (5 / 60) * (55 / 60) / 59)
    unseen = max(0.4 * 0.75 / 41, 0.6 * (55 / 60) / 61)  # the shares of the classes stay
    assert error_of("accuracy", table, fixed) == pytest.approx(math.sqrt(accuracy + unseen**2 / 4), rel=1e-6)
    assert one("recall", table, fixed)[1].method == "Wilson"
    assert one("precision", table, fixed)[1].method == "influence of rows, Wilson's limits"
    assert one("prevalence", table, fixed)[1].reason == "no row makes a difference"


def test_empty_cells_do_not_make_intervals_too_short():
    value, found = one("f1", Confusion.two_class(tp=10, fn=0, fp=0, tn=190))
    assert value == 1
    assert found.low < 0.93
    assert found.high == 1


@pytest.mark.parametrize(
    ("k", "n", "right", "samples"),
    [
        (5, 400, 0.9, 40),
        *(
            pytest.param(*case, 400, marks=pytest.mark.deep)
            for case in ((10, 1000, 0.97), (10, 1000, 0.6), (5, 400, 0.9))
        ),
    ],
)
def test_figures_of_many_classes_are_covered(k, n, right, samples):
    """Draws of tables with many nearly empty cells are biased; intervals must not be."""
    law = np.full((k, k), (1 - right) / k / (k - 1))
    np.fill_diagonal(law, right / k)
    names = tuple(map(str, range(k)))
    wanted = [find(name) for name in ("kappa", "mcc", "balanced_accuracy", "macro_f1")]
    truth = [metric.of(Confusion(names, names, law)) for metric in wanted]
    rng, hits = np.random.default_rng(0), []
    for seed in range(samples):
        table = Confusion(names, names, rng.multinomial(n, law.ravel()).reshape(k, k))
        values = [float(value) for value in measure(wanted, table)]
        found = intervals(wanted, values, table, Sampling(seed=seed, replicates=300))
        hits.append([one.low <= true <= one.high for one, true in zip(found, truth, strict=True)])
    least = 0.93 - 3 * math.sqrt(0.93 * 0.07 / samples)
    assert (np.mean(hits, axis=0) >= least).all(), np.mean(hits, axis=0)


def test_of_very_many_cells_a_sample_is_asked():
    rng, k = np.random.default_rng(0), 90
    truth = rng.integers(0, k, 3000)
    decided = np.where(rng.random(3000) < 0.6, truth, rng.integers(0, k, 3000))
    counts = np.bincount(truth * k + decided, minlength=k * k).reshape(k, k)
    names = tuple(map(str, range(k)))
    assert np.count_nonzero(counts) > 1000
    right = np.trace(counts) / 3000
    wanted = math.sqrt(right * (1 - right) / 3000)  # of the accuracy, from which kappa differs by chance alone: 1/k
    table = Confusion(names, names, counts)
    assert error_of("kappa", table) == pytest.approx(wanted / (1 - 1 / k), rel=0.05)
    assert error_of("balanced_accuracy", table) == pytest.approx(wanted, rel=0.1)


def test_resamples_without_a_figure_are_told():
    draws = np.array([0.1, 0.2, np.nan, 0.3])
    assert bootstrap.percentiles(draws, USUAL, "drawn").note == "undefined on 1 of 4 resamples"
    assert bootstrap.percentiles(draws * np.nan, USUAL, "drawn").reason == "it is undefined on most resamples"


# ── areas ────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(("auc", "P", "N"), [(0.8, 10, 40), (0.5, 5, 5), (0.99, 20, 200), (0.03, 8, 9)])
def test_newcombe_solves_its_equation(auc, P, N):
    size = (P + N) / 2 - 1

    def distance(area):
        spread = 1 + size * (1 - area) / (2 - area) + size * area / (1 + area)
        return (auc - area) / math.sqrt(area * (1 - area) * spread / (P * N))

    wanted = brentq(lambda a: distance(a) - Z, 1e-12, auc), brentq(lambda a: distance(a) + Z, auc, 1 - 1e-12)
    assert score_intervals.newcombe(auc, P, N, 0.95) == pytest.approx(wanted, abs=1e-9)


def test_small_classes_and_perfect_orders_take_newcombe():
    truth = np.arange(60) < 20
    ev = stakes.evaluate(truth=truth, score=np.where(truth, 0.9, 0.1))
    assert ev["auc"].method == "Newcombe's method 5"
    assert 0.9 < ev["auc"].low < ev["auc"].high == 1
    truth, score = two_classes(400)
    ev = stakes.evaluate(truth=truth, score=score)
    assert ev["auc"].method == "DeLong's variance, Wilson's limits, and Newcombe's method 5"
    assert ev.interval("auc", method="delong").method == "DeLong's variance, Wilson's limits"
    assert ev.interval("auc", method="newcombe").method == "Newcombe's method 5"
    single = stakes.evaluate(truth=[1, 0, 0, 0], score=[0.9, 0.2, 0.3, 0.1])
    assert single["auc"].no_interval == "a class has a single row"


# ── score tables ─────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("prevalence", [0.3, 0.01])
def test_compressing_a_table_moves_the_ends_by_little(prevalence):
    truth, score = two_classes(20_000, seed=6, prevalence=prevalence)
    table = ScoreTable.from_rows(score, truth)
    pieces = table.compressed()
    assert len(pieces.as_columns().scores) < 500
    for name in ("average_precision", "auc", "partial_auc"):
        assert error_of(name, pieces) == pytest.approx(error_of(name, table), rel=0.01), name


def test_compressed_tables_keep_every_row_and_the_top():
    truth, score = two_classes(5000)
    for table in (ScoreTable.from_rows(score.round(3), truth), ScoreTable.from_rows(score, truth, np.ones(5000))):
        pieces = table.compressed()
        assert (float(pieces.P), float(pieces.N)) == (float(table.P), float(table.N))
        top = pieces.as_columns().scores[:50]
        assert top.tolist() == table.as_columns().scores[:50].tolist()
        assert pieces.at(float(top[-1])).counts.tolist() == table.at(float(top[-1])).counts.tolist()


def test_a_perfect_ranking_still_has_a_lower_limit():
    truth = np.arange(200) < 60
    ev = stakes.evaluate(truth=truth, score=np.linspace(1, 0, 200))
    for name in ("average_precision", "precision_at_k", "partial_auc"):
        assert ev[name].value == 1
        assert 0.5 < ev[name].low < 1 == ev[name].high


# ── losses ───────────────────────────────────────────────────────────────────────────────────────────────────────
def losses(truth, score):
    return {"brier_score": (truth - score) ** 2, "log_loss": -np.log(np.where(truth, score, 1 - score))}


@pytest.mark.parametrize("name", ["brier_score", "log_loss"])
def test_losses_have_the_error_of_a_mean(name):
    truth, score = two_classes(300)
    loss, table = losses(truth, score)[name], ScoreTable.from_rows(score, truth)
    unseen = (1 - loss.mean()) / 301
    if name == "log_loss":
        unseen = max(unseen_loss([score, 1 - score], -np.log([score, 1 - score])) - loss.mean(), 0) / 301
    assert error_of(name, table) == pytest.approx(math.hypot(loss.std(ddof=1) / math.sqrt(300), unseen / 2), rel=1e-9)
    parts = [(loss[side].std(ddof=1) ** 2 * side.mean() ** 2 / side.sum()) for side in (truth, ~truth)]
    fixed = error_of(name, table, Sampling(design="classes fixed"))
    assert fixed == pytest.approx(math.hypot(*np.sqrt(parts), unseen / 2), rel=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_losses_of_very_many_rows_are_asked_of_some(dtype):
    truth, score = two_classes(300_000)
    loss = losses(truth, score)["log_loss"]
    _, found = one("log_loss", ScoreTable.from_rows(score.astype(dtype), truth))
    assert (found.high - found.low) / (2 * Z * loss.std() / math.sqrt(300_000)) == pytest.approx(1, abs=0.02)


def test_an_infinite_loss_has_no_interval():
    ev = stakes.evaluate(truth=[1, 0, 1, 0], score=[0.0, 0.2, 0.8, 0.1])
    assert ev["log_loss"].value == math.inf
    assert "infinite" in ev["log_loss"].no_interval


# ── predicted numbers ────────────────────────────────────────────────────────────────────────────────────────────
def numbers(n=80, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.gamma(3, size=n)
    return truth, truth + rng.normal(size=n) * 0.8 + 0.1


def test_the_median_lies_between_ranks():
    truth, prediction = numbers(101)
    found = stakes.evaluate(truth=truth, prediction=prediction)["median_absolute_error"]
    sizes = np.sort(abs(truth - prediction))
    low, high = (int(np.flatnonzero(sizes == end)[0]) for end in (found.low, found.high))
    law = scipy.stats.binom(101, 0.5)
    assert law.cdf(high) - law.cdf(low) >= 0.95  # ranks low + 1 … high + 1, counting from 1
    assert law.cdf(high - 2) - law.cdf(low + 1) < 0.96
    six = stakes.evaluate(truth=np.arange(6) + 0.5, prediction=[0, 1, 2, 3, 4, 9.0])["median_absolute_error"]
    assert (six.low, six.high) == (0.5, 3.5)  # the extremes: 1 - 2/64 of the time the median lies between them
    few = stakes.evaluate(truth=[1.5, 2, 3], prediction=[1.0, 2, 4])["median_absolute_error"]
    assert few.no_interval == "3 rows are too few for the ranks around the median"


def test_many_rows_are_left_out_in_groups():
    rng = np.random.default_rng(0)
    truth = np.sort(rng.normal(size=60_000))  # sorted rows must not matter
    prediction = truth + rng.normal(size=60_000) * (1 + truth**2)
    found = stakes.evaluate(truth=truth, prediction=prediction)["mae"]
    error = np.abs(truth - prediction).std() / math.sqrt(60_000)
    assert (found.high - found.low) / (2 * Z * error) == pytest.approx(1, abs=0.03)


def test_weighted_numbers():
    truth, prediction = numbers(200)
    weight = np.random.default_rng(0).gamma(1, size=200)
    found = stakes.evaluate(truth=truth, prediction=prediction, weight=weight)["mae"]
    loss = abs(truth - prediction)
    error = math.sqrt((weight**2 * (loss - found.value) ** 2).sum()) / weight.sum()
    assert (found.high - found.low) / (2 * Z * error) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("name", ["mean_absolute_error", "mean_error", "mean_squared_error", "rmse", "r2"])
def test_moments_alone_give_nearly_the_same_intervals(name):
    truth, prediction = numbers(400)
    kept, sums = ErrorSums.from_rows(truth, prediction), ErrorSums.from_rows(truth, prediction, parts=("order 4",))
    assert error_of(name, sums) == pytest.approx(error_of(name, kept), rel=0.04)
    (_, wanted), (value, found) = one(name, kept), one(name, sums)
    assert found.low < value < found.high
    assert (found.high - found.low) / (wanted.high - wanted.low) == pytest.approx(1, abs=0.12)


def test_rows_that_were_not_kept():
    sums = ErrorSums.from_rows(*numbers(), parts=())
    assert one("mean_absolute_error", sums)[1].reason == "the rows were not kept, only sums of them"


# ── class scores ─────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_sample_of_many_rows_is_enough():
    rng = np.random.default_rng(2)
    scores = rng.dirichlet(np.ones(3), 50_000)
    truth = rng.integers(0, 3, 50_000)
    whole = ClassScores.from_rows(scores, truth, "abc")
    assert len(whole.sample.truth) < 20_001
    loss = -np.log(scores[np.arange(50_000), truth])
    _, found = one("multiclass_log_loss", whole)
    assert (found.high - found.low) / (2 * Z * loss.std() / math.sqrt(50_000)) == pytest.approx(1, abs=0.05)
    assert "from a sample of" in found.method
    parts = [ClassScores.from_rows(scores[part], truth[part], "abc") for part in (slice(0, 9000), slice(9000, None))]
    _, joined = one("multiclass_log_loss", ClassScores.sum(parts))
    assert (joined.low, joined.high) == pytest.approx((found.low, found.high), rel=0.01)


# ── clusters ─────────────────────────────────────────────────────────────────────────────────────────────────────
def test_copies_of_a_row_tell_nothing_new():
    truth, score = two_classes(300, seed=8)
    alone = stakes.evaluate(truth=truth, score=score)
    copies = {"truth": np.repeat(truth, 5), "score": np.repeat(score, 5)}
    ev = stakes.evaluate(**copies, cluster=np.repeat(np.arange(300), 5))
    for name in ("accuracy", "f1", "mcc", "auc", "average_precision", "brier_score", "log_loss"):
        width, wanted = (e[name].high - e[name].low for e in (ev, alone))
        assert width == pytest.approx(wanted, rel=0.12), name
    assert ev["f1"].method == "influence of 300 clusters, Wilson's limits"
    naive = stakes.evaluate(**copies)
    assert naive["auc"].high - naive["auc"].low < 0.6 * (ev["auc"].high - ev["auc"].low)


def test_clusters_of_numbers_classes_and_segments():
    truth, prediction = numbers(300)
    cluster = np.repeat(np.arange(300), 4)
    alone = stakes.evaluate(truth=truth, prediction=prediction)
    ev = stakes.evaluate(truth=np.repeat(truth, 4), prediction=np.repeat(prediction, 4), cluster=cluster)
    for name in ("mae", "rmse", "r2", "pearson"):
        assert (ev[name].low, ev[name].high) == pytest.approx((alone[name].low, alone[name].high), rel=0.01), name
    assert "clustered rows have no simple law" in ev["median_absolute_error"].no_interval
    labels = np.random.default_rng(0).integers(0, 3, (2, 1200))
    several = stakes.evaluate(
        truth=labels[0], prediction=labels[1], task="classification", cluster=cluster, by=cluster % 2
    )
    assert several["macro_f1"].method == "influence of 300 clusters, Wilson's limits"
    assert several.segments["1"]["macro_f1"].method == "influence of 150 clusters, Wilson's limits"
    assert several["accuracy"].method.startswith(
        "influence of 300 clusters"
    )  # Wilson would take the rows as independent


def test_one_class_of_several_in_clusters():
    rng = np.random.default_rng(0)
    scores = rng.dirichlet(np.ones(3), 300)
    truth = np.array([rng.choice(3, p=p) for p in scores])
    options = {"classes": range(3), "cluster": np.repeat(np.arange(300), 3)}
    ev = stakes.evaluate(truth=np.repeat(truth, 3), score=np.repeat(scores, 3, axis=0), **options)
    for c in range(3):
        alone = stakes.evaluate(truth=truth == c, score=scores[:, c])
        for name in ("auc", "average_precision", "log_loss"):
            ends = (ev[name, c].low, ev[name, c].high)
            assert ends == pytest.approx((alone[name].low, alone[name].high), abs=0.02), name
        table = stakes.evaluate(truth=truth == c, prediction=scores.argmax(1) == c)
        assert (ev["f1", c].low, ev["f1", c].high) == pytest.approx((table["f1"].low, table["f1"].high), abs=0.02)
    assert len(ev.to_rows()) > 100
    wide, narrow = (
        e.curve("roc", 1).band
        for e in (ev, stakes.evaluate(truth=np.repeat(truth, 3), score=np.repeat(scores, 3, axis=0), classes=range(3)))
    )
    assert (wide.high - wide.low).mean() > 1.4 * (narrow.high - narrow.low).mean()


def test_clusters_are_covered_without_bias():
    """Few clusters of independent rows: neither pulled towards chance nor much wider than needed."""
    rng, hits, widths, values = np.random.default_rng(0), [], [], []
    cluster = np.repeat(np.arange(40), 10)
    for seed in range(150):
        truth = rng.integers(0, 2, 400)
        decided = np.where(rng.random(400) < 0.05, 1 - truth, truth)
        found = stakes.evaluate(truth=truth, prediction=decided, cluster=cluster, seed=seed)["accuracy"]
        hits.append((found.low <= 0.95, found.high >= 0.95))
        widths.append(found.high - found.low)
        values.append(found.value)
    assert (np.mean(hits, axis=0) > 0.93).all(), np.mean(hits, axis=0)
    assert np.mean(widths) / (2 * Z * np.std(values)) < 1.2


def test_perfect_decisions_in_clusters_have_a_lower_limit():
    truth = np.arange(120) % 2
    ev = stakes.evaluate(truth=truth, prediction=truth.copy(), cluster=np.arange(120) // 2)
    assert 0.8 < ev["accuracy"].low < ev["accuracy"].high == 1
    assert ev["diagnostic_odds_ratio"].no_interval == "it is infinite or undefined without some row"


def test_clusters_refuse_what_takes_rows_as_independent():
    truth, score = two_classes(100)
    cluster = np.arange(100) // 2
    ev = stakes.evaluate(truth=truth, score=score, cluster=cluster)
    with pytest.raises(
        stakes.InputError, match="method='delong' takes rows as independent, and these come in clusters"
    ):
        ev.interval("auc", method="delong")
    with pytest.raises(stakes.InputError, match="counted with cluster= are neither added nor saved"):
        _ = ev.counted + ev.counted
    with pytest.raises(stakes.InputError, match="counted with cluster= are neither added nor saved"):
        ev.counted.to_dict()
    with pytest.warns(stakes.InputWarning, match="there are only 20 clusters; with fewer than 30"):
        stakes.evaluate(truth=truth, score=score, cluster=np.arange(100) // 5)
    with pytest.warns(stakes.InputWarning):
        single = stakes.evaluate(truth=truth, score=score, cluster=["a"] * 100)
    assert single["auc"].no_interval == "there is a single cluster"


def test_thousands_of_clusters_are_put_together():
    truth, score = two_classes(6000, seed=9)
    ev = stakes.evaluate(truth=truth, score=score, cluster=np.arange(6000))
    alone = stakes.evaluate(truth=truth, score=score)
    for name in ("f1", "auc"):
        assert ev[name].high - ev[name].low == pytest.approx(alone[name].high - alone[name].low, rel=0.12)
    assert "6,000 clusters" in ev["f1"].method


# ── what users choose ────────────────────────────────────────────────────────────────────────────────────────────
def test_weights_that_are_rare_and_wrong_widen_shares_and_losses():
    """Kish's number of rows would be too large here: the heavy rows are the uncertain ones."""
    rng, hits = np.random.default_rng(0), []
    for _ in range(150):
        heavy = rng.random(300) < 0.05
        weight = np.where(heavy, 10.0, 1.0)
        right = rng.random(300) < np.where(heavy, 0.5, 0.98)
        true = (0.05 * 10 * 0.5 + 0.95 * 0.98) / (0.05 * 10 + 0.95)
        found = stakes.evaluate(truth=np.ones(300), prediction=right.astype(int), weight=weight, classes=[0, 1])[
            "accuracy"
        ]
        hits.append(found.low <= true <= found.high)
    assert np.mean(hits) > 0.89


def test_odd_input_has_figures_and_no_crash():
    rng = np.random.default_rng(0)
    truth, score = two_classes(60)
    heavy = stakes.evaluate(truth=truth, score=score, weight=np.r_[1e12, np.ones(59)])
    assert heavy["auc"].no_interval == "a class has a single row"
    one_class = {"truth": [1] * 10, "score": np.linspace(0.1, 0.9, 10), "classes": [0, 1]}
    assert stakes.evaluate(**one_class, design="classes fixed")["recall"].low is not None
    numbers = rng.normal(size=(2, 30))
    for size in (1e150, 1e300, 1e-300):
        found = stakes.evaluate(truth=numbers[0] * size, prediction=numbers[1] * size, task="regression")["mae"]
        assert 0 < found.low < found.value < found.high < math.inf
    two = stakes.evaluate(truth=[1.5, 2.5], prediction=[1.0, 1.9])["mae"]
    assert two.high - two.value > 12 * 0.05  # Student's t with one degree of freedom
    wide = stakes.evaluate(truth=truth, score=score, confidence=np.float32(0.9), seed=np.int64(3))
    assert wide["f1"].confidence == pytest.approx(0.9)


def test_seed_and_confidence():
    truth, score = two_classes(200)
    ev, same, other = (stakes.evaluate(truth=truth, score=score, seed=seed) for seed in (1, 1, 2))
    assert ev.to_dict() == same.to_dict()
    assert ev["f1"].low != other["f1"].low
    narrow = stakes.evaluate(truth=truth, score=score, confidence=0.5)
    assert narrow["f1"].confidence == 0.5
    assert ev["f1"].low < narrow["f1"].low < narrow["f1"].high < ev["f1"].high
    assert "50% interval" in str(narrow)
    assert ev.interval("f1", confidence=0.5).low == pytest.approx(narrow["f1"].low, abs=0.01)


def test_intervals_of_one_class_and_of_averages():
    ev = evaluations()["three"]
    wide = ev.interval(("recall", 1), confidence=0.99, method="clopper-pearson")
    assert wide.low < ev["recall", 1].low < ev["recall", 1].high < wide.high
    assert ev.interval(("auc", 0), method="newcombe").method == "Newcombe's method 5"
    assert ev.interval("macro_f1").low == ev["macro_f1"].low
    with pytest.raises(stakes.InputError, match="'macro_f1'"):
        ev.interval("f1")


def test_few_rows_are_pointed_out():
    truth, score = two_classes(100, prevalence=0.2)
    ev = stakes.evaluate(truth=truth, score=score)
    rows = int(truth.sum())
    assert ev.notes[-1] == f"There are only {rows} rows of “true”; intervals can be too narrow."
    assert f"with fewer than 50 rows ({rows} rows of true) intervals can cover less often" in ev["auc"].note
    assert not stakes.evaluate(truth=np.arange(100) < 50, score=score)["auc"].note
    assert "2 rows of data" in stakes.evaluate(truth=[1.5, 2], prediction=[1.0, 2])["mae"].note


def test_pages_say_why_and_how():
    truth, score = two_classes(200)
    ev = stakes.evaluate(truth=truth, score=score, cluster=np.arange(200) // 2)
    assert "100 clusters; intervals resample whole clusters" in " ".join(str(ev).split())
    assert str(ev["ks"]).endswith("no interval: the threshold is chosen on the same rows, which no resampling undoes")
    with pytest.warns(stakes.InputWarning):
        single = stakes.evaluate(truth=truth, prediction=score > 0.4, cluster=np.zeros(200))
    assert single.notes[-1] == "There are no intervals: there is a single cluster."


def test_one_row_has_figures_but_no_intervals():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ev = stakes.evaluate(truth=[1], score=[0.7])
        one_number = stakes.evaluate(truth=[1.5], prediction=[1.0])
    assert ev["recall"].no_interval == one_number["mae"].no_interval == "there are fewer than two rows"


# ── curves ───────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("kind", ["roc", "pr"])
def test_curves_have_bands(kind):
    truth, score = two_classes(800)
    curve = stakes.evaluate(truth=truth, score=score).curve(kind)
    height = np.interp(curve.band.x, curve.x, curve.y)
    inside = (curve.band.low <= height) & (height <= curve.band.high)
    assert inside[2:-2].mean() > 0.95
    assert (curve.band.low <= curve.band.high).all()
    wide = stakes.evaluate(truth=truth, score=score, confidence=0.999).curve(kind).band
    assert (wide.high - wide.low).sum() > (curve.band.high - curve.band.low).sum()


def test_the_band_of_a_roc_curve_holds_whole_curves():
    truth, score = two_classes(400, prevalence=0.5)
    ev = stakes.evaluate(truth=truth, score=score)
    band, table = ev.curve("roc").band, ev.scores
    assert (band.kind, ev.curve("pr").band.kind) == ("simultaneous", "pointwise")

    def curves(seed):
        drawn = bootstrap.redraw_scores(table, Sampling(seed=seed)).as_columns().values
        found = (np.cumsum(np.pad(drawn[name], ((0, 0), (1, 0))), axis=1) for name in ("negatives", "positives"))
        rates = (one / one[:, -1:] for one in found)
        return np.array([np.interp(band.x, x, y) for x, y in zip(*rates, strict=True)])

    low, high = np.quantile(curves(0), (0.025, 0.975), axis=0)
    assert (band.low <= low).all()
    assert (high <= band.high).all()
    others = curves(1)  # of other draws most lie inside as a whole, which they do not in the pointwise band
    assert 0.92 < np.mean(((band.low <= others) & (others <= band.high)).all(axis=1)) < 0.98
    assert np.mean(((low <= others) & (others <= high)).all(axis=1)) < 0.8


# ── any weights, any segments ────────────────────────────────────────────────────────────────────────────────────
def kinds_of_rows():
    rng = np.random.default_rng(5)
    truth, score = two_classes(60, seed=5)
    scores = rng.dirichlet(np.ones(3), 60)
    classes = np.array([rng.choice(3, p=p) for p in scores])
    target = rng.normal(size=60)
    return {
        "scores": {"truth": truth, "score": score},
        "decisions": {"truth": truth, "prediction": score > 0.4},
        "class scores": {"truth": classes, "score": scores, "classes": range(3)},
        "numbers": {"truth": target, "prediction": target + rng.normal(size=60)},
    }


@pytest.mark.parametrize("kind", list(kinds_of_rows()))
def test_the_scale_of_weights_does_not_matter(kind):
    columns = kinds_of_rows()[kind]
    weight = np.random.default_rng(0).gamma(2, size=60)
    usual = stakes.evaluate(**columns, weight=weight)
    for scale in (1 / weight.sum(), 1e-8, 1e10):
        ev = stakes.evaluate(**columns, weight=weight * scale)
        for name, estimate in usual.figures.items():
            found = ev.figures[name]
            assert (found.low is None) == (estimate.low is None), (name, found.no_interval)
            if estimate.low is not None:
                assert (found.low, found.high) == pytest.approx((estimate.low, estimate.high), rel=1e-4), name
            if name.endswith("_at_k"):
                assert found.baseline == pytest.approx(estimate.baseline, rel=1e-9), name
        assert [note for note in ev.notes if "rows" in note] == [note for note in usual.notes if "rows" in note]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", list(kinds_of_rows()))
@pytest.mark.each_choice
def test_segments_of_one_row_or_one_class_have_figures(kind, weighted):
    columns = kinds_of_rows()[kind]
    options = {"weight": np.linspace(0.5, 2, 60)} if weighted else {}
    alone = np.minimum(np.arange(60), 3)  # a few rows each for itself, and the rest
    for by in (alone, columns["truth"] if kind != "numbers" else np.arange(60) // 10):
        ev = stakes.evaluate(**columns, **options, by=by)
        for part in ev.segments.values():
            assert part.figures
            assert all(e.low is not None or e.no_interval for e in part.figures.values() if e.defined)


def test_segments_with_few_clusters_say_so():
    truth, score = two_classes(400)
    ev = stakes.evaluate(truth=truth, score=score, cluster=np.arange(400) // 10, by=np.arange(400) // 100)
    assert not any("clusters" in note for note in ev.notes)
    assert any("There are only 10 clusters" in note for note in ev.segments["0"].notes)


def test_losses_too_small_for_their_powers_do_not_warn():
    tiny = [3e-306, 1e-160, 8e-137, 3e-199, 4e-319]
    found = stakes.evaluate(truth=[False] * 5, score=tiny, positive=True)["brier_score"]
    assert found.value == pytest.approx(0, abs=1e-250)


@pytest.mark.parametrize("seed", range(6))
def test_very_wide_intervals_do_not_warn(seed):
    rng = np.random.default_rng(seed)
    with pytest.warns(stakes.InputWarning, match="cluster"):
        ev = stakes.evaluate(
            truth=[0, 1, 0, 1, 1, 0], score=rng.random(6), weight=10 * rng.random(6), cluster=[1, 1, 2, 2, 3, 3]
        )
    assert all(one.low is None or one.low <= one.value <= one.high for one in ev.figures.values())


def test_a_median_of_equal_errors_has_a_reason_instead_of_an_interval():
    truth = np.arange(40.0)
    found = stakes.evaluate(truth=truth, prediction=truth + 1, task="regression")["median_absolute_error"]
    assert (found.value, found.low, found.no_interval) == (1.0, None, "no row makes a difference")


def test_ends_are_plain_numbers():
    rng = np.random.default_rng(0)
    truth, numbers = rng.integers(0, 2, 80), rng.normal(size=80)
    asked = ({"truth": truth, "score": rng.random(80)}, {"truth": numbers, "prediction": numbers + rng.normal(size=80)})
    for rows in asked:
        for row in stakes.evaluate(**rows).to_rows():
            assert {type(row[name]) for name in ("value", "baseline", "low", "high")} <= {float, type(None)}, row


# ── averages over the classes where no row changes anything ──────────────────────────────────────────────────────
def _class_rows(rng, rows, apart):
    truth = rng.integers(0, 4, rows)
    logits = rng.normal(size=(rows, 4)) + apart * np.eye(4)[truth]
    shares = np.exp(logits)
    return truth, shares / shares.sum(1, keepdims=True)


def test_averages_of_the_top_cover_where_nearly_all_of_the_first_k_are_right():
    """Of 200 rows the 10 highest of most classes are right, so that rows alone tell of hardly any variance."""
    rng, found = np.random.default_rng(0), []
    for _ in range(100):
        truth, score = _class_rows(rng, 200, 2.2)
        found.append(stakes.evaluate(truth=truth, score=score, classes=range(4))["weighted_recall_at_k"])
    true = np.mean([one.value for one in found])
    assert np.mean([one.low <= true <= one.high for one in found]) >= 0.9
    assert np.mean([one.high - one.low for one in found]) < 3 * 4 * np.std([one.value for one in found])


PERFECT = ("macro_auc", "weighted_auc", "hand_till_auc", "macro_average_precision", "macro_precision_at_k")


@pytest.mark.parametrize("cluster", [None, "group"])
def test_perfect_classes_are_not_perfectly_sure(cluster, monkeypatch):
    """One more row of a class could be ranked wrongly; of a rare class that changes more. Engines say the same."""
    truth, score = _class_rows(np.random.default_rng(1), 200, 9)
    columns = {"y": truth.astype(str), **{f"of {c}": score[:, c] for c in range(4)}, "group": np.arange(200) // 2}
    frame, named = pl.DataFrame(columns), {str(c): f"of {c}" for c in range(4)}
    monkeypatch.setattr("stakes.engines.classes.queries.FEW_ROWS", 5)
    some = frame.filter(pl.int_range(200) % 4 == 0)
    here, there, fewer = (
        stakes.evaluate(rows, truth="y", score=named, cluster=cluster) for rows in (frame, frame.lazy(), some)
    )
    for name in PERFECT:
        assert here[name].value == 1
        assert 0.5 < fewer[name].low <= here[name].low < 0.99
        if not there[name].reason and there[name].low is not None:  # places are lost in the bins of clusters
            assert there[name].low == pytest.approx(here[name].low, rel=1e-6)
    assert there["macro_auc"].low is not None


def test_the_k_of_an_average_is_that_of_its_interval_in_an_engine(monkeypatch):
    truth, score = _class_rows(np.random.default_rng(2), 400, 1)
    frame = pl.DataFrame({"y": truth.astype(str), **{f"of {c}": score[:, c] for c in range(4)}})
    monkeypatch.setattr("stakes.engines.classes.queries.FEW_ROWS", 5)
    found = stakes.evaluate(frame.lazy(), truth="y", score={str(c): f"of {c}" for c in range(4)})
    few, many = (found[f"macro_precision_at_k(k={k})"] for k in (10, 80))
    assert many.high - many.low < 0.7 * (few.high - few.low)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_sample_tells_as_much_of_an_average_as_all_rows(weighted, monkeypatch):
    """Fewer rows than there are lose more of a figure each, and know nothing of the first k: that is put right."""
    rng = np.random.default_rng(3)
    truth, score = _class_rows(rng, 120_000, 1)
    named = {"weight": rng.uniform(0.5, 2, len(truth))} if weighted else {}
    names = ("macro_auc", "macro_average_precision", "weighted_average_precision", "macro_partial_auc",
             "macro_recall_at_k", "macro_precision_at_k", "macro_recall_at_specificity", "hand_till_auc")  # fmt: skip

    def ends():
        answer = stakes.evaluate(truth=truth, score=score, classes=range(4), **named)
        return {name: np.array([answer[name].value - answer[name].low, answer[name].high - answer[name].value])
                for name in names}  # fmt: skip

    some = ends()
    monkeypatch.setattr("stakes.tallies.class_scores.SAMPLE", 1 << 20)
    every = ends()
    for name in names:
        np.testing.assert_allclose(some[name], every[name], rtol=0.5 if "_at_k" in name else 0.12)


PRIOR = {"0": 0.4, "1": 0.3, "2": 0.2, "3": 0.1}


def _at_prior(sample, monkeypatch, rows=8_000):
    monkeypatch.setattr("stakes.tallies.class_scores.SAMPLE", sample)
    truth, score = _class_rows(np.random.default_rng(4), rows, 1)
    named = {str(place): score[:, place] for place in range(4)}
    return stakes.evaluate(truth=truth.astype(str), score=named, prior=PRIOR)


def test_figures_of_a_sample_at_other_class_frequencies_vary_like_those_of_so_many_rows(monkeypatch):
    """The sample is where the figure comes from, so it must not look as sure as that of all rows; losses are of all."""
    every, some = (_at_prior(sample, monkeypatch) for sample in (1 << 20, 500))
    for name in ("macro_auc", "weighted_average_precision", "top_k_accuracy"):
        wider = (some[name].high - some[name].low) / (every[name].high - every[name].low)
        assert 0.7 * 4 < wider < 1.4 * 4, name  # the root of 8,000 / 500
        assert some[name].low < every[name].value < some[name].high
    for name in ("multiclass_log_loss", "multiclass_brier_score", "normalised_multiclass_log_loss"):
        assert some[name].value == pytest.approx(every[name].value, rel=1e-12)
        assert some[name].high - some[name].low == pytest.approx(every[name].high - every[name].low, rel=0.2)
    for name in ("macro_precision_at_k", "weighted_recall_at_k", ("precision_at_k", "0")):
        assert every[name].defined
        assert "too few of the first k" in some[name].reason


def test_the_difference_of_two_models_at_other_class_frequencies_lies_in_the_middle_of_its_interval(monkeypatch):
    monkeypatch.setattr("stakes.tallies.class_scores.SAMPLE", 500)
    truth, one = _class_rows(np.random.default_rng(5), 8_000, 1)
    other = np.exp(0.5 * np.log(one) + np.random.default_rng(6).normal(0, 0.5, one.shape))
    scores = {"one": one, "other": other / other.sum(1, keepdims=True)}
    for metric in ("multiclass_log_loss", "macro_average_precision"):
        (pair,) = stakes.compare(truth=truth, scores=scores, classes=range(4), prior=PRIOR, metric=metric).pairs
        assert pair.difference == pytest.approx((pair.low + pair.high) / 2, abs=0.05 * (pair.high - pair.low))


def test_no_figure_of_a_class_is_told_at_other_frequencies_where_no_row_is_kept(monkeypatch):
    """The rest of the classes has another mixture there, so figures at the frequencies of the rows are no answer."""
    monkeypatch.setattr("stakes.engines.classes.queries.FEW_ROWS", 5)
    truth, score = _class_rows(np.random.default_rng(7), 400, 1)
    frame = pl.DataFrame({"y": truth.astype(str), **{f"of {c}": score[:, c] for c in range(4)}})
    found = stakes.evaluate(frame.lazy(), truth="y", score={str(c): f"of {c}" for c in range(4)}, prior=PRIOR)
    why = "no sample of the rows was kept, which other class frequencies need"
    assert found["average_precision", "0"].reason == found["macro_auc"].reason == why
    assert "average_precision" not in found.class_figures["0"]
    assert found["recall", "0"].defined
    with pytest.raises(stakes.InputError, match=why):
        found.curve("pr", "0")


@pytest.mark.parametrize("more", [{}, {"weight": "w"}, {"cluster": "g"}, {"by": "s"}])
def test_losses_at_other_frequencies_need_no_row(more, monkeypatch, tmp_path):
    """They follow from those of each class, in engines and in tallies that were saved."""
    monkeypatch.setattr("stakes.engines.classes.queries.FEW_ROWS", 5)
    truth, score = _class_rows(np.random.default_rng(7), 400, 1)
    scores, rest = (
        {str(c): f"of {c}" for c in range(4)},
        {"w": np.arange(400) % 3 + 1, "g": np.arange(400) % 40, "s": np.arange(400) % 2},
    )
    frame = pl.DataFrame({"y": truth.astype(str), **{f"of {c}": score[:, c] for c in range(4)}, **rest})
    asked = {"truth": "y", "score": scores, **more}
    expected, found = (stakes.evaluate(one, **asked, prior=PRIOR) for one in (frame, frame.lazy()))
    both = [(expected, found)]
    if "cluster" not in more:
        stakes.count(frame, **asked).save(tmp_path / "kept.tally")
        both.append((expected, stakes.evaluate(str(tmp_path / "kept.tally"), prior=PRIOR)))
    both += [(part, found.segments[name]) for name, part in expected.segments.items()][:2]
    for one, other in both:
        for name in ("multiclass_log_loss", "multiclass_brier_score", "normalised_multiclass_log_loss"):
            assert other[name].value == pytest.approx(one[name].value, rel=1e-12)
            assert other[name].baseline == pytest.approx(one[name].baseline, rel=1e-12)
            if one[name].low is not None:
                assert other[name].high - other[name].low == pytest.approx(one[name].high - one[name].low, rel=0.02)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_a_class_against_the_rest_is_as_sure_as_two_classes_whatever_the_unit_of_weights(unit):
    rng = np.random.default_rng(2)
    truth = np.array([*"abc"])[rng.integers(0, 3, 300)]
    said, weight = np.where(rng.random(300) < 0.8, truth, "a"), (rng.random(300) + 0.1) * unit
    found = stakes.evaluate(truth=truth, prediction=said, weight=weight)
    two = stakes.evaluate(truth=truth == "a", prediction=said == "a", weight=weight)
    for name in ("precision", "specificity", "f1", "mcc", "prevalence"):
        one, other = found[name, "a"], two[name]
        assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-9), name


def test_the_first_rows_of_very_many_have_the_interval_of_all_rows(monkeypatch):
    """A sample has none of them; two classes whose first rows all have more than a half share none of these."""
    truth, score = _class_rows(np.random.default_rng(8), 20_000, 1.5)
    named = {"truth": truth, "score": score, "classes": range(4)}
    widths = []
    for sample in (1 << 20, 2_000):
        monkeypatch.setattr("stakes.tallies.class_scores.SAMPLE", sample)
        found = stakes.evaluate(**named)
        widths.append([found[name].high - found[name].low for name in ("macro_precision_at_k", "weighted_recall_at_k")])
    np.testing.assert_allclose(*widths, rtol=0.1)


def test_what_rounding_alone_changes_is_no_interval():
    rng = np.random.default_rng(0)
    truth, score = rng.random(30_000) < 0.3, rng.random(30_000)
    found = stakes.evaluate(truth=truth, score=score, weight=rng.lognormal(0, 1, 30_000), prior=0.05)
    for name, value in (("coverage", 1), ("prevalence", 0.05)):
        assert found[name].value == pytest.approx(value, rel=1e-12)
        assert (found[name].low, found[name].no_interval) == (None, "no row makes a difference")


@pytest.mark.parametrize("rare", [1, 3])
def test_a_class_that_the_sample_lacks_has_a_reason_at_other_class_frequencies(rare, monkeypatch):
    monkeypatch.setattr("stakes.tallies.class_scores.SAMPLE", 300)
    truth, score = _class_rows(np.random.default_rng(11), 6_000, 1)
    truth[(truth == rare) & (np.arange(6_000) != np.flatnonzero(truth == rare)[-1])] = 0
    found = stakes.evaluate(truth=truth, score=score, classes=range(4), prior=PRIOR)
    for name in ("multiclass_log_loss", "top_k_accuracy", "macro_auc", "macro_average_precision"):
        assert found[name].reason == "a class that the prior expects has no rows"
