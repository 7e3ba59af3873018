"""Permutation tests of fixed predictions, against scipy, exhaustive permutations and the laws of shuffled tables."""

import itertools
import json
import math
import re
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest
import scipy.stats
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score, log_loss, matthews_corrcoef, roc_auc_score, top_k_accuracy_score
from sklearn.naive_bayes import GaussianNB

import stakes
from stakes.errors import InputError
from stakes.metrics import find
from stakes.tallies import ClassScores
from stakes.tallies.losses import Losses
from stakes.uncertainty import permutation as shuffles
from stakes.uncertainty import permutation_laws
from stakes.uncertainty.permutation import QUESTION, PermutationTest, permute
from tests.parts import is_older

pytestmark = pytest.mark.slow

permutation_test = stakes.permutation_test
RNG = np.random.default_rng


def exhaustive(truth, figure, observed, lower=False):
    """The exact p of a figure: the share of all different orders of the truth that do as well."""
    orders = sorted(set(itertools.permutations(truth)))
    values = [figure(np.array(order)) for order in orders]
    sign = -1 if lower else 1
    return float(np.mean([sign * value >= sign * observed - 1e-12 for value in values]))


def metrics_of(tally):
    """All figures of a tally, those that need prices or a threshold with some."""
    found = [m for m in stakes.metrics.catalogue() if m.tally is tally]
    return [m.with_parameters(**dict.fromkeys(m.lacking, 0.5)) if m.lacking else m for m in found]


def two_class(counts, positive="1"):
    (tn, fp), (fn, tp) = counts
    return stakes.Confusion.two_class(tp=tp, fn=fn, fp=fp, tn=tn, positive=positive, negative="0")


# ── two classes: exact ───────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    "name", ["accuracy", "mcc", "recall", "miss_rate", "f1", "specificity", "false_discovery_rate"]
)
def test_two_classes_are_fishers_exact_test(name):
    rng = RNG(1)
    for most in (5, 30, 1000):
        for counts in rng.integers(1, most, (20, 2, 2)).tolist():
            test = permute(two_class(counts), stakes.metrics.find(name))
            wanted = scipy.stats.fisher_exact(counts, alternative="greater").pvalue
            assert test.p_value == pytest.approx(wanted, rel=1e-9)
            assert test.null is None
            assert test.method == "Fisher's exact test, one-sided"


def test_worse_than_chance_has_a_p_near_one():
    counts = [[2, 9], [8, 1]]
    p = permute(two_class(counts), stakes.metrics.mcc).p_value
    assert p == pytest.approx(scipy.stats.fisher_exact(counts, alternative="greater").pvalue, rel=1e-12)
    assert p > 0.99


@pytest.mark.parametrize("metric", metrics_of(stakes.Confusion), ids=lambda m: m.name)
def test_every_two_class_figure_is_exact_against_all_orders(metric):
    truth, decided = np.array([1, 1, 1, 0, 0, 0, 0]), np.array([1, 1, 0, 1, 0, 0, 0])

    def figure(order):
        return metric.of(stakes.count(truth=order, prediction=decided).confusion)

    observed = figure(truth)
    if metric.better == "neither":
        with pytest.raises(InputError, match="better neither higher nor lower"):
            permutation_test(truth=truth, prediction=decided, metric=metric.text)
        return
    test = permutation_test(truth=truth, prediction=decided, metric=metric.text)
    assert test.value == observed
    assert test.p_value == pytest.approx(exhaustive(truth, figure, observed, metric.better == "lower"), rel=1e-12)


def test_a_figure_that_is_not_monotone_is_still_exact():
    """A cost that punishes hits beyond three, so that the tables that do as well are no tail."""
    odd = replace(
        stakes.metrics.find("recall"), name="odd", function=lambda c: -((c.tp - 3.0) ** 2), range=(-math.inf, 0)
    )
    test = permute(two_class([[6, 4], [3, 4]]), odd)
    law = scipy.stats.hypergeom(17, 7, 8)
    assert test.p_value == pytest.approx(law.pmf([2, 3, 4]).sum(), rel=1e-12)
    assert test.method == "exact, over all tables with these margins, one-sided"


@pytest.mark.parametrize(
    ("counts", "rows"),
    [([[50_200, 49_800], [49_900, 50_100]], 2e5), ([[9 * 10**8, 10**8], [9 * 10**6, 1_003_000]], 1e9)],
)
def test_large_tables_agree_with_scipy(counts, rows):
    table = two_class(counts)
    law = scipy.stats.hypergeom(int(table.total), int(table.P), int(table.PP))
    test = permute(table, stakes.metrics.accuracy)
    assert test.p_value == pytest.approx(law.sf(int(table.tp) - 1), rel=1e-6 if rows > 1e6 else 1e-9)


def test_a_probability_below_all_floats_is_not_zero():
    test = permute(two_class([[10**5, 0], [0, 10**5]]), stakes.metrics.mcc)
    assert test.p_value == sys.float_info.min
    assert re.search(r"^MCC +1\.0000 +<1·10⁻³⁰⁰ +Fisher's exact test, one-sided$", str(test), re.M)


def test_too_many_rows_are_refused():
    with pytest.raises(InputError, match=r"10,000,000,000,000,000 rows are too many to shuffle; a random part"):
        permute(two_class([[25 * 10**14] * 2] * 2), stakes.metrics.mcc)
    table = stakes.Confusion(tuple("abc"), tuple("abc"), np.full((3, 3), 10**9))
    with pytest.raises(InputError, match="9,000,000,000 rows are too many to shuffle"):
        permute(table, stakes.metrics.mcc)


# ── several classes ──────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("drawn", [shuffles.random_tables, shuffles.shuffled_tables])
def test_drawn_tables_have_the_margins_and_the_law(drawn):
    truths, decisions = np.array([5, 7, 0, 8]), np.array([9, 3, 8])
    tables = drawn(truths, decisions, 20_000, RNG(0))
    assert (tables.sum(2) == truths).all()
    assert (tables.sum(1) == decisions).all()
    n = truths.sum()
    for i, j in itertools.product(range(4), range(3)):
        mean = truths[i] * decisions[j] / n
        variance = mean * (n - truths[i]) * (n - decisions[j]) / (n * (n - 1))
        cell = tables[:, i, j]
        assert cell.mean() == pytest.approx(mean, abs=5 * math.sqrt(variance / 20_000))
        assert cell.var() == pytest.approx(variance, rel=0.06)
    # two cells of different rows and columns: their covariance is known too
    wanted = truths[0] * truths[1] * decisions[0] * decisions[1] / (n**2 * (n - 1))
    assert np.cov(tables[:, 0, 0], tables[:, 1, 1])[0, 1] == pytest.approx(wanted, abs=0.03)


@pytest.mark.parametrize("name", ["mcc", "kappa", "macro_f1"])
def test_several_classes_agree_with_all_orders(name):
    truth, decided = list("aaabbcc"), list("aabbbca")
    metric = stakes.metrics.find(name)

    def figure(order):
        return metric.of(stakes.count(truth=order, prediction=decided).confusion)

    wanted = exhaustive(truth, figure, figure(np.array(truth)))
    test = permutation_test(truth=truth, prediction=decided, metric=name, permutations=5000)
    assert test.p_value == pytest.approx(wanted, rel=1e-12)
    assert test.method == "exact, over all 210 orders of the truth, one-sided"
    drawn = permutation_test(truth=truth, prediction=decided, metric=name, permutations=209)
    assert drawn.p_value == pytest.approx(wanted, abs=5 * math.sqrt(wanted * (1 - wanted) / 209) + 5e-3)
    assert len(drawn.null) == drawn.permutations == 209


def test_many_rows_of_several_classes_agree_with_shuffled_rows():
    rng = RNG(3)
    truth, decided = rng.integers(0, 3, (2, 3000))
    test = permutation_test(truth=truth, prediction=decided, task="classification", permutations=4000)
    assert test.method == "4,000 tables with the same margins"
    shuffled = [matthews_corrcoef(truth, rng.permutation(decided)) for _ in range(100)]
    assert scipy.stats.ks_2samp(test.null, shuffled).pvalue > 1e-3


def test_more_classes_than_a_table_holds():
    rng = RNG(4)
    truth = rng.permutation(np.repeat(np.arange(1100), 3))
    decided = np.where(rng.random(3300) < 0.01, truth, rng.integers(0, 1100, 3300))
    test = permutation_test(truth=truth, prediction=decided, task="classification", permutations=50)
    assert test.metric == "accuracy"
    assert test.p_value == 1 / 51
    assert test.null.mean() == pytest.approx(1 / 1100, rel=0.3)


def test_undefined_shuffles_count_as_good():
    truth, decided = list("aabbc"), list("aabbc")
    table = stakes.count(truth=truth, prediction=decided).confusion
    metric = replace(stakes.metrics.accuracy, function=lambda c: np.where(c.hits > 0, c.hits / c.total, np.nan)[()])
    test = permute(table, metric, 29)
    undefined = np.isnan(test.null).sum()
    assert undefined > 0
    assert test.method == f"29 tables with the same margins; undefined in {undefined} of them, which count as good"
    assert test.p_value == (1 + undefined + (test.null >= 1).sum()) / 30
    assert json.loads(test.to_json())["null"].count(None) == undefined


# ── scores of two classes ────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    "score", [[0.9, 0.8, 0.3, 0.7, 0.2, 0.1, 0.4], [3, 2, 2, 2, 1, 1, 3]], ids=["distinct", "tied"]
)
@pytest.mark.parametrize("name", ["auc", "gini", "average_precision", "ks"])
def test_scores_agree_with_all_orders(score, name):
    truth = np.array([1, 1, 1, 0, 0, 0, 0])
    metric = stakes.metrics.find(name)
    wanted = exhaustive(truth, lambda order: metric(order, score), metric(truth, score))
    test = permutation_test(truth=truth, score=score, metric=name)
    assert test.p_value == pytest.approx(wanted, rel=1e-12)
    assert (test.method, test.null) == ("exact, over all 35 orders of the truth, one-sided", None)
    drawn = permutation_test(truth=truth, score=score, metric=name, permutations=34)
    assert drawn.p_value == pytest.approx(wanted, abs=5 * math.sqrt(wanted * (1 - wanted) / 34) + 0.03)


@pytest.mark.parametrize(
    "name", ["ece(bins=3)", "mce(bins=3)", "ece_equal_mass(bins=3)", "root_calibration_error(bins=3)"]
)
def test_calibration_errors_of_shuffles_have_the_law_of_all_orders(name):
    score, metric = np.array([0.1, 0.15, 0.15, 0.4, 0.55, 0.6, 0.7, 0.9]), find(name)
    listed = [metric(np.isin(np.arange(8), own), score) for own in itertools.combinations(range(8), 3)]
    table = stakes.ScoreTable.from_rows(score, np.arange(8) < 3)
    drawn, _ = shuffles.draw(table, metric, 4000, RNG(3), None)
    values, counts = np.unique(np.round(listed, 9), return_counts=True)
    found = (np.round(drawn, 9)[:, None] == values).mean(0)
    assert found.sum() == pytest.approx(1)  # nothing else was drawn
    assert found == pytest.approx(counts / 56, abs=0.035)


@pytest.mark.parametrize("share", [0.2, 0.8])
@pytest.mark.parametrize("levels", [10**9, 12], ids=["distinct", "tied"])
def test_auc_agrees_with_mann_whitney(share, levels):
    rng = RNG(5)
    truth = rng.random(400) < share
    score = rng.integers(0, levels, 400) / levels + 0.04 * truth
    score = np.floor(score * levels)
    test = permutation_test(truth=truth, score=score)
    exact = scipy.stats.mannwhitneyu(score[truth], score[~truth], alternative="greater", method="asymptotic").pvalue
    assert test.value == pytest.approx(roc_auc_score(truth, score), rel=1e-12)
    assert test.p_value == pytest.approx(exact, abs=0.02)
    P, N = truth.sum(), (~truth).sum()
    _, ties = np.unique(score, return_counts=True)
    variance = (401 - (ties**3 - ties).sum() / (400 * 399)) / (12 * P * N)
    assert test.null.mean() == pytest.approx(0.5, abs=5 * math.sqrt(variance / 10_000))
    assert test.null.var() == pytest.approx(variance, rel=0.12)


def test_auc_agrees_with_scipys_permutation_test():
    rng = RNG(6)
    truth, score = np.arange(60) < 25, rng.normal(size=60)
    score[truth] += 0.5
    theirs = scipy.stats.permutation_test(
        (score[truth], score[~truth]),
        lambda a, b: (a[:, None] > b).mean(),
        alternative="greater",
        n_resamples=4000,
        **{"random_state" if is_older("scipy", "1.15") else "rng": 1},
    )
    ours = permutation_test(truth=truth, score=score)
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=0.02)


def test_few_rows_are_exact_as_mann_whitney_is():
    rng = RNG(2)
    for positives, negatives in ((3, 3), (2, 9), (5, 4)):
        truth, score = np.arange(positives + negatives) < positives, rng.permutation(positives + negatives)
        theirs = scipy.stats.mannwhitneyu(score[truth], score[~truth], alternative="greater", method="exact").pvalue
        assert permutation_test(truth=truth, score=score).p_value == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("sizes", [[3, 3], [1, 1, 1, 1], [0, 4, 1], [2, 1, 3]], ids=str)
def test_every_different_order_is_listed_once(sizes):
    labels = [code for code, size in enumerate(sizes) for _ in range(size)]
    listed = shuffles.orders(sizes)
    assert sorted(map(tuple, listed.tolist())) == sorted(set(itertools.permutations(labels)))
    assert shuffles._number_of_orders(sizes, 10**6) == len(listed)
    assert shuffles._number_of_orders(sizes, len(listed) - 1) is None


@pytest.mark.parametrize("kind", ["distinct", "half tied", "outliers"])
@pytest.mark.parametrize("name", ["auc", "brier_score", "normalised_log_loss"])
@pytest.mark.spread(5)
def test_parts_of_the_ranking_give_the_law_of_single_rows(name, kind, monkeypatch):
    """Shuffled one by one, and in parts: mean, variance and the whole law agree."""
    rng, metric = RNG(3), stakes.metrics.find(name)
    score = {
        "distinct": rng.random(3000),
        "half tied": np.where(rng.random(3000) < 0.5, 0.5, rng.random(3000)),
        "outliers": np.where(rng.random(3000) < 0.002, 1 - 1e-9, rng.random(3000) / 50 + 1e-9),
    }[kind]
    table = stakes.ScoreTable.from_rows(score, rng.random(3000) < 0.3)
    singly, how = shuffles.draw(table, metric, 3000, RNG(0), None)
    assert "parts" not in how
    monkeypatch.setattr(shuffles, "_MOST_SINGLE", 10)
    together, how = shuffles.draw(table, metric, 3000, RNG(1), None)
    assert re.search(r"positives; counted in \d+ parts of the ranking, normal within each$", how)
    assert scipy.stats.ks_2samp(singly, together).pvalue > 1e-3
    assert together.mean() == pytest.approx(singly.mean(), abs=5 * singly.std() * math.sqrt(2 / 3000))
    assert together.std() == pytest.approx(singly.std(), rel=0.1)


@pytest.mark.parametrize("metric", metrics_of(stakes.ScoreTable), ids=lambda m: m.name)
def test_figures_of_sums_over_the_positives_are_the_figures(metric):
    rng = RNG(4)
    table = stakes.ScoreTable.from_rows(rng.integers(1, 30, 60) / 31, rng.random(60) < 0.4)
    added = shuffles._add_up(table, metric)
    assert (added is not None) == (isinstance(metric.loss, Losses) or metric.name in {"auc", "gini"})
    if added is not None:
        whole = added[1] @ table.as_columns().values["positives"] + added[2]
        assert metric.function.finish(whole, table) == pytest.approx(metric.of(table), rel=1e-12)


def test_a_million_rows_take_no_longer_than_ten_thousand():
    rng = RNG(6)
    truth, score = rng.random(10**6) < 0.3, rng.random(10**6)
    table = stakes.ScoreTable.from_rows(score, truth)
    test = permute(table, stakes.metrics.find("auc"))
    theirs = scipy.stats.mannwhitneyu(score[truth], score[~truth], alternative="greater").pvalue
    assert test.p_value == pytest.approx(theirs, abs=5 * math.sqrt(theirs * (1 - theirs) / 10**4))


@pytest.mark.each_choice
@pytest.mark.parametrize("levels", [5, 10**6], ids=["few scores", "many scores"])
@pytest.mark.parametrize("metric", metrics_of(stakes.ScoreTable), ids=lambda m: m.name)
def test_every_figure_of_scores_is_that_of_a_shuffled_table(metric, levels):
    """Each figure of the stacked shuffles equals the figure of that shuffle alone."""
    rng = RNG(7)
    score, truth = rng.integers(0, levels, 80) / levels, np.arange(80) < 30
    table = stakes.ScoreTable.from_rows(score, truth)
    for found in itertools.islice(shuffles._with_positives(table, shuffles._positives(table, 4, rng)), 1):
        together = metric.of(found)
        for i in range(4):
            single = found[i]
            alone = stakes.ScoreTable.from_columns(single.store.scores, *single.store.values.values())
            assert single.P == 30
            assert single.total == 80
            assert together[i] == pytest.approx(metric.of(alone), rel=1e-12, nan_ok=True)


def test_decisions_come_from_the_threshold():
    truth, score = [1, 1, 0, 0, 1, 0, 1, 0], [0.9, 0.7, 0.6, 0.2, 0.4, 0.1, 0.35, 0.3]
    for threshold in (None, 0.33):
        decided = np.array(score) >= (0.5 if threshold is None else threshold)
        ours = permutation_test(truth=truth, score=score, metric="accuracy", threshold=threshold)
        assert ours.value == accuracy_score(truth, decided)
        assert ours.p_value == permutation_test(truth=np.array(truth) == 1, prediction=decided).p_value
    with pytest.raises(InputError, match="no probabilities, so there are no decisions yet; pass threshold="):
        permutation_test(truth=truth, score=np.array(score) * 5, metric="f1")
    with pytest.raises(InputError, match="threshold and prediction were both given"):
        permutation_test(truth=truth, prediction=truth, threshold=0.5)


# ── rows that are shuffled one by one ────────────────────────────────────────────────────────────────────────────
def test_class_scores_agree_with_all_orders():
    rng = RNG(8)
    truth, score = np.array(list("aabbcca")), rng.dirichlet(np.ones(3), 7)
    score[np.arange(7), [0, 0, 1, 1, 2, 2, 0]] += 0.25
    score /= score.sum(1, keepdims=True)
    for name in ("macro_auc", "multiclass_log_loss", "top_k_accuracy(k=1)"):
        metric = stakes.metrics.find(name)

        def figure(order, metric=metric):
            return metric(order, score, classes=list("abc"))

        wanted = exhaustive(truth, figure, figure(truth), metric.better == "lower")
        test = permutation_test(truth=truth, score=score, classes=list("abc"), metric=name, permutations=200)
        assert test.p_value == pytest.approx(wanted, abs=4 * math.sqrt(wanted * (1 - wanted) / 200) + 5e-3)
    columns = {"truth": truth, "score": score, "classes": list("abc"), "permutations": 5}
    assert permutation_test(**columns).metric == "macro_auc"
    assert permutation_test(**columns, metric="log_loss").metric == "multiclass_log_loss"
    decided = np.array(list("abc"))[score.argmax(1)]
    assert permutation_test(**columns, metric=stakes.metrics.accuracy).value == accuracy_score(truth, decided)
    with pytest.raises(InputError, match="f1 is a figure of one class against the rest; write 'macro_f1'"):
        permutation_test(**columns, metric="f1")


def test_class_scores_without_rows_have_the_mean_of_shuffles_and_at_least_their_variance():
    rng, n = RNG(3), 500
    score = (1 + rng.multinomial(14, rng.dirichlet([0.8, 2, 1], n))) / 17
    truth = rng.choice(3, n, p=[0.2, 0.5, 0.3])
    tally, shares = ClassScores.from_rows(score, truth, list("abc")), np.bincount(truth) / n
    for metric, lost in ((find("multiclass_log_loss"), -np.log(score)), (find("multiclass_brier_score"), -2 * score)):
        null, centred = permute(tally, metric, 3000).null, lost - lost.mean(0)
        fixed = 0 if metric.name.endswith("loss") else 1 + float((score**2).sum(1).mean())
        assert null.mean() == pytest.approx(shares @ lost.mean(0) + fixed, abs=5 * null.std() / math.sqrt(3000))
        within = (shares * centred**2).sum() / (n - 1)  # (Hoeffding, 1951), but for what rows have in common
        assert null.var() == pytest.approx(within / n, rel=0.12)
        assert null.var() >= 0.9 * (within / n - ((centred @ shares) ** 2).sum() / (n - 1) / n)
    rooted = find("multiclass_root_mean_squared_probability_error")
    assert permute(tally, rooted, 50).null == pytest.approx(np.sqrt(permute(tally, metric, 50).null / 3), rel=1e-12)
    score[:3] = [0, 0.5, 0.5]  # where one of the first rows becomes the first class, the log loss is infinite
    tally = ClassScores.from_rows(score, np.roll(np.sort(truth), 3), list("abc"))
    share = np.isinf(permute(tally, find("multiclass_log_loss"), 1000).null).mean()
    assert share == pytest.approx(1 - (1 - shares[0]) ** 3, abs=0.06)
    with pytest.raises(InputError, match=r"^hand_till_auc needs the rows to shuffle them"):
        permute(tally, find("hand_till_auc"), 9)


def test_the_law_of_sets_of_highest_scores_is_that_of_all_orders(monkeypatch):
    rng, truth = RNG(6), np.array([0, 0, 0, 0, 1, 1, 2])
    score = rng.dirichlet([3, 1, 1], 7)
    top = np.argsort(-score, axis=1)[:, :2]
    sets, rows = np.unique((np.eye(3, dtype=int)[top]).sum(1), axis=0, return_counts=True)
    tally = ClassScores.from_rows(score, truth, list("abc"))
    all_orders = sorted(set(itertools.permutations(truth.tolist())))
    hits = [top_k_accuracy_score(order, score, k=2, labels=[0, 1, 2]) for order in all_orders]
    for tables in (1 << 12, 0):  # drawn, or as a normal sum
        monkeypatch.setattr(permutation_laws, "_MOST_CELLS_OF_SETS", tables)
        null, _ = permutation_laws.draw_top(tally, sets, rows, 4000, RNG(1))
        assert null.mean() == pytest.approx(np.mean(hits), abs=4 * np.std(hits) / math.sqrt(4000))
        assert null.std() == pytest.approx(np.std(hits), rel=0.05)
        assert set(np.round(null * 7, 9)) <= set(np.round(np.array(hits) * 7, 9)) or not tables


def test_the_law_of_pairs_of_classes_is_that_of_shuffled_rows():
    rng, n = RNG(7), 300
    score = np.round(rng.dirichlet([2, 1, 0.5], n), 2)
    truth = rng.choice(3, n, p=[0.7, 0.2, 0.1])
    score[:, 0] = 1 - score[:, 1:].sum(1)
    tally = ClassScores.from_rows(score, truth, list("abc"))
    places = permutation_laws.places_in_rankings(tally)
    own = np.stack([at[np.searchsorted(cut, s, "right") - 1] for (cut, at), s in zip(places, score.T, strict=True)])
    assert own[1] == pytest.approx((scipy.stats.rankdata(score[:, 1]) - 0.5) / n - 0.5, abs=1 / 128)
    null, _ = permutation_laws.draw_pairs(tally, own @ own.T, 4000, RNG(2))
    areas = [roc_auc_score(rng.permutation(truth), score, multi_class="ovo") for _ in range(120)]
    assert np.mean(areas) == pytest.approx(null.mean(), abs=4 * null.std() / math.sqrt(120))
    assert np.std(areas) == pytest.approx(null.std(), rel=0.25)


def test_class_scores_of_many_rows_are_drawn_from_what_was_counted(monkeypatch):
    rng = RNG(4)
    rows = {"truth": rng.choice(list("abc"), 200), "score": rng.dirichlet([1, 1, 1], 200), "classes": list("abc")}
    few = permutation_test(**rows, permutations=99)
    monkeypatch.setattr(shuffles, "_FEWEST_SUMMED", 200)
    many = permutation_test(**rows, permutations=99)
    assert (few.method, few.value) == ("99 shuffles of the truth", many.value)
    assert many.method == "99 draws of the rows of each class, as wide as those of all can be together"
    assert many.p_value == pytest.approx(few.p_value, abs=0.15)


def test_weighted_rows_are_shuffled_with_the_weight_beside_the_truth():
    truth, decided = np.array([1, 1, 0, 0, 1, 0]), np.array([1, 1, 0, 0, 0, 1])
    weight = np.array([3.0, 1.0, 2.0, 1.0, 0.5, 0.25])
    rows = range(6)

    def figure(order):
        return accuracy_score(truth[list(order)], decided, sample_weight=weight[list(order)])

    wanted = exhaustive(rows, figure, figure(rows))
    score = np.where(decided, 0.8, 0.3)
    for predicted in ({"prediction": decided}, {"score": score}):
        test = permutation_test(truth=truth, **predicted, weight=weight, metric="accuracy", permutations=400)
        assert test.method == "400 shuffles of the truth, each with its weight"
        assert test.p_value == pytest.approx(wanted, abs=5 * math.sqrt(wanted * (1 - wanted) / 400))
    frame = pl.DataFrame({"y": truth, "d": decided, "s": score, 'a "w"': weight, "keep": [1] * 6}).lazy()
    for more in (
        {"prediction": "d"},
        {"score": "s"},
        {"score": "s", "where": "keep = 1 OR keep = 2", "threshold": 0.4},
    ):
        asked = {"truth": "y", "positive": 1, "weight": 'a "w"', **more}
        test = permutation_test(frame, **asked, metric="accuracy", permutations=400)
        assert (test.value, test.method) == (figure(rows), "400 draws of where the rows of each class and weight lie")
        assert test.p_value == pytest.approx(wanted, abs=5 * math.sqrt(wanted * (1 - wanted) / 400))
    auc = permutation_test(truth=truth, score=score, weight=weight, permutations=10)
    assert auc.value == pytest.approx(roc_auc_score(truth, score, sample_weight=weight), rel=1e-12)


def test_weighted_rows_of_many_scores_have_the_law_of_shuffled_rows(monkeypatch):
    """The mean and the variance of Σ weight · loss over all shuffles (Hoeffding, 1951); the ranking is cut in parts."""
    rng, n = RNG(5), 400
    truth, score, weight = rng.random(n) < 0.3, rng.random(n), rng.choice([1.0, 2.5, 4.0], n)
    own = {w: stakes.ScoreTable.from_rows(score[weight == w], truth[weight == w]) for w in (1.0, 2.5, 4.0)}
    table, brier, auc = stakes.ScoreTable.from_rows(score, truth, weight), find("brier_score"), find("auc")
    monkeypatch.setattr(permutation_laws, "_EVEN_PARTS", 20)
    scores, rows = permutation_laws._ranking_in_parts(table.from_rows(score, truth))
    assert rows.sum() == n
    assert rows @ scores == pytest.approx(score.sum(), rel=1e-12)
    assert (scores[[0, 1, -2, -1]] == np.sort(score)[[-1, -2, 1, 0]]).all()
    assert len(rows) < n / 2
    paid = weight[:, None] * np.where(truth[:, None], (1 - score) ** 2, score**2) / weight.sum()
    away = paid - paid.mean(0) - paid.mean(1, keepdims=True) + paid.mean()
    null = permute(table, brier, 1500, law=partial(permutation_laws.draw_weighted, table, brier, own)).null
    spread = math.sqrt((away**2).sum() / (n - 1))
    assert null.mean() == pytest.approx(paid.sum() / n, abs=4 * spread / math.sqrt(1500))
    assert null.std() == pytest.approx(spread, rel=0.08)
    aucs = permute(table, auc, 300, law=partial(permutation_laws.draw_weighted, table, auc, own)).null
    moved = [rng.permutation(n) for _ in range(300)]
    known = [roc_auc_score(truth[i], score, sample_weight=weight[i]) for i in moved]
    assert aucs.mean() == pytest.approx(0.5, abs=4 * np.std(known) / math.sqrt(300))
    assert aucs.std() == pytest.approx(np.std(known), rel=0.2)


def test_weights_of_many_sizes_bring_the_rows():
    frame = pl.DataFrame({"y": [0, 1] * 15, "d": [0, 1, 1] * 10, "w": np.arange(30) / 7})
    found = permutation_test(frame.lazy(), truth="y", prediction="d", positive=1, weight="w", permutations=20)
    assert found.method == "20 shuffles of the truth, each with its weight"
    assert found.value == pytest.approx(matthews_corrcoef(frame["y"], frame["d"], sample_weight=frame["w"]))


def test_class_probabilities_are_shuffled_where_the_model_is_used():
    """Every order of six labels, rows weighed as classes are frequent there."""
    rng, prior = RNG(2), {"a": 0.5, "b": 0.2, "c": 0.3}
    truth, score = np.array(list("aabbcc")), rng.dirichlet(np.ones(3), 6)

    def weighed(order):
        return log_loss(order, score, sample_weight=[prior[name] for name in order])

    wanted = exhaustive(truth, weighed, weighed(truth), lower=True)
    asked = {"metric": "multiclass_log_loss", "prior": prior, "classes": list("abc")}
    test = permutation_test(truth=truth, score=score, **asked, permutations=300)
    assert test.value == pytest.approx(weighed(truth), rel=1e-12)
    assert test.p_value == pytest.approx(wanted, abs=4 * math.sqrt(wanted * (1 - wanted) / 300) + 5e-3)


def test_weights_may_add_up_to_one():
    columns = {"truth": [1, 1, 0, 0], "prediction": [1, 1, 0, 1], "permutations": 300, "metric": "accuracy"}
    shares = permutation_test(**columns, weight=[0.25] * 4)
    assert shares.value == 0.75
    assert shares.p_value == permutation_test(**columns, weight=[2] * 4).p_value
    with pytest.raises(InputError, match="truth is '1' in every row, which shuffling cannot change; give rows of two"):
        permutation_test(truth=[1, 1], prediction=[1, 0], weight=[0.5, 0.5], positive=1)


def test_rows_of_weight_zero_are_not_there():
    truth, decided, weight = [1, 1, 0, 0, 1, 0], [1, 1, 0, 1, 0, 1], [1, 2, 1, 3, 0, 0]
    all_rows = permutation_test(truth=truth, prediction=decided, weight=weight, permutations=200)
    some = permutation_test(truth=truth[:4], prediction=decided[:4], weight=weight[:4], permutations=200)
    assert (all_rows.dropped, some.dropped) == (2, 0)
    assert {**all_rows.to_dict(), "dropped": 0, "findings": []} == {**some.to_dict(), "findings": []}
    assert [one.key for one in all_rows.findings] == [*(one.key for one in some.findings), "caution.dropped"]


@pytest.mark.parametrize(
    ("name", "lower"),
    [("r2", False), ("mae", True), ("pearson", False), ("median_absolute_error", True), ("rae", True), ("msle", True)],
)
def test_numbers_agree_with_all_orders(name, lower):
    truth, prediction = np.array([1.5, 2.0, 3.5, 4.0, 5.5, 6.0]), np.array([1.0, 3.0, 2.5, 4.5, 4.0, 7.0])
    metric = stakes.metrics.find(name)
    wanted = exhaustive(truth, lambda order: metric(order, prediction), metric(truth, prediction), lower)
    test = permutation_test(truth=truth, prediction=prediction, metric=name, permutations=1000)
    assert test.p_value == pytest.approx(wanted, abs=5 * math.sqrt(wanted * (1 - wanted) / 1000) + 2e-3)
    assert permutation_test(truth=truth, prediction=prediction, permutations=3).metric == "r2"


def test_sums_of_numbers_have_the_law_of_shuffled_rows(monkeypatch):
    monkeypatch.setattr(shuffles, "_FEWEST_SUMMED", 100)
    rng = np.random.default_rng(3)
    truth, noise = rng.gamma(2.0, size=(2, 500))
    frame = pl.DataFrame({"t": truth + 50, "p": noise + 0.06 * truth})
    asked = {"truth": "t", "prediction": "p", "permutations": 5000}
    for metric in ("r2", "pearson", "mean_squared_error"):
        known, found = (stakes.permutation_test(one, **asked, metric=metric) for one in (frame, frame.lazy()))
        assert found.method == "5,000 draws of what a shuffle of the truth adds up to"
        assert found.value == pytest.approx(known.value, rel=1e-12)
        assert found.p_value == pytest.approx(known.p_value, abs=0.02)
        levels = (0.01, 0.1, 0.5, 0.9, 0.99)
        places = [float((known.null <= np.quantile(found.null, level)).mean()) for level in levels]
        assert places == pytest.approx(levels, abs=0.02)


def test_the_law_of_a_shuffled_sum_is_that_of_all_orders(monkeypatch):
    monkeypatch.setattr(shuffles, "_FEWEST_SUMMED", 2)
    monkeypatch.setattr(shuffles, "_HEAVIEST", 100.0)
    given = []
    monkeypatch.setattr(shuffles, "_skewed", lambda skewness, count, rng: given.append(skewness) or np.array([1.0]))
    truth, said = np.array([0.0, 1, 2, 7, 3, 4, 2]), np.array([1.0, 0, 0, 5, 2, 2, 9])
    sums = stakes.count(pl.DataFrame({"t": truth, "p": said}).lazy(), truth="t", prediction="p", task="regression")
    found = shuffles._of_sums(sums.tallies["errors"], stakes.metrics.find("mean_squared_error"), 1, None)
    every = np.array([truth @ np.array(order) for order in itertools.permutations(said)]) / 7
    expected = np.mean(truth**2) + np.mean(said**2) - 2 * (every.mean() + every.std())
    assert found == pytest.approx([expected], rel=1e-12)  # one standard deviation above the mean of the products
    n = 7  # where the number of rows is large the skewness is that of all orders
    exactly = scipy.stats.skew(every) * (n - 2) / math.sqrt(n * (n - 1))
    assert given == [pytest.approx(exactly, rel=1e-12)]


def test_sums_that_a_few_rows_carry_read_the_rows(monkeypatch):
    monkeypatch.setattr(shuffles, "_FEWEST_SUMMED", 100)
    heavy = pl.DataFrame({"t": np.append(np.arange(300) % 7, 5000.5), "p": np.append(np.arange(300) % 5, 4000.5)})
    asked = {"truth": "t", "prediction": "p", "permutations": 50, "metric": "r2", "task": "regression"}
    assert stakes.permutation_test(heavy.lazy(), **asked).method == "50 shuffles of the truth"
    assert stakes.permutation_test(heavy[:-1].lazy(), **asked).method.startswith("50 draws")
    mae = {**asked, "metric": "mae"}
    assert stakes.permutation_test(heavy[:-1].lazy(), **mae).method == "50 shuffles of the truth"


# ── what every test promises ─────────────────────────────────────────────────────────────────────────────────────
def test_p_is_never_zero_and_the_seed_decides():
    truth, score = [0] * 20 + [1] * 20, list(range(40))
    first, same = (permutation_test(truth=truth, score=score, permutations=99, seed=3) for _ in range(2))
    assert first.p_value == 1 / 100
    assert first.to_dict() == same.to_dict()
    other = permutation_test(truth=truth, score=score, permutations=99, seed=4)
    assert not np.array_equal(first.null, other.null)


@pytest.mark.filterwarnings("ignore::stakes.errors.InputWarning")  # by chance an auc is surely below one half
@pytest.mark.parametrize("trials", [100, pytest.param(1_000, marks=pytest.mark.deep)])
@pytest.mark.parametrize("kind", ["auc", "tables", "exact", "numbers"])
def test_chance_is_called_a_finding_five_times_in_a_hundred(kind, trials):
    rng, found = RNG(9), 0
    for seed in range(trials):  # one seed for all would compare every auc with the same 19 draws
        if kind == "auc":
            rows = {"truth": np.arange(40) < 15, "score": rng.random(40)}
        elif kind == "tables":
            rows = {"truth": rng.choice(list("abc"), 60), "prediction": rng.choice(list("abc"), 60)}
        elif kind == "exact":
            rows = {"truth": rng.random(2000) < 0.4, "prediction": rng.random(2000) < 0.5}
        else:
            rows = {"truth": rng.normal(size=12), "prediction": rng.normal(size=12)}
        found += permutation_test(**rows, permutations=19, seed=seed).p_value <= 0.05
    assert abs(found - 0.05 * trials) <= 3 * math.sqrt(0.05 * 0.95 * trials)


def told(test):
    return " ".join(words for found in test.findings for words in found.words)


def test_a_test_says_no_more_than_it_shows():
    made = PermutationTest("auc", 0.83, 1 / 10_001, np.zeros(10_000), 10_000, "m", QUESTION)
    assert told(made) == (
        "Chance alone would hardly give this. In none of 10,000 shuffles was the result as good as the AUC of 0.8300. "
        "With this many shuffles p cannot be smaller than 1·10⁻⁴; run more of them to learn more."
    )
    assert repr(made) == "<PermutationTest of auc 0.83, p = 0.0001>"
    some = PermutationTest("mae", 2.5, 38 / 1001, np.zeros(1000), 1000, "m", QUESTION)
    assert told(some).endswith("In 37 of 1,000 shuffles the result was at least as good as the mae of 2.5000.")
    exact = PermutationTest("mcc", 0.41, 0.00031, None, 0, "Fisher's exact test, one-sided", QUESTION)
    assert re.search(r"^MCC +0\.4100 +0\.00031 +Fisher's exact test, one-sided$", str(exact), re.M)
    assert "exact and one-sided: every way to shuffle the truth was counted" in told(exact)
    infinite = permutation_test(truth=[1, 1, 0, 0], prediction=[1, 1, 0, 0], metric="odds_ratio")
    assert infinite.to_dict()["value"] == "Infinity"
    assert infinite.p_value == pytest.approx(1 / 6)


def test_ties_by_rounding_count_as_as_good():
    """0.1 + 0.2 and 0.3 differ in the last bit; which one came out must not decide."""
    table = stakes.Confusion(tuple("abc"), tuple("abc"), np.diag([3, 3, 3]))

    def off_by_a_bit(c):
        return 1 - 1e-15 * np.arange(c.leading[0]) if c.leading else 1.0

    noisy = replace(stakes.metrics.accuracy, function=off_by_a_bit)
    assert permute(table, noisy, 50).p_value == 1


# ── errors ───────────────────────────────────────────────────────────────────────────────────────────────────────
Y, D = [1, 0, 1, 0], [1, 0, 0, 0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"permutations": 0}, r"^permutations=0 does not work; give a whole number from 1 on$"),
        ({"permutations": 10.0}, r"^permutations=10\.0 does not work; give a whole number from 1 on$"),
        ({"permutations": True}, r"^permutations=True does not work"),
        ({"seed": -1}, r"^seed=-1 does not work; give a whole number from 0 on$"),
        (
            {"metric": "prevalence"},
            r"^prevalence is better neither higher nor lower, so nothing can be ranked by it; name an",
        ),
        ({"metric": "r2"}, r"^r2 is a figure of predicted numbers, and this is an evaluation of two classes"),
        (
            {"metric": "auc"},
            r"^auc is undefined here \(no scores were given; pass score=\), so shuffles cannot be compared",
        ),
        ({"prediction": [0, 0, 0, 0]}, r"^mcc is undefined here \(every case gets the same decision\)"),
        (
            {"truth": [1, 1, 1, 1], "positive": 1, "classes": [0, 1]},
            r"^truth is '1' in every row, which shuffling cannot ch",
        ),
        (
            {"truth": [1], "prediction": [1], "classes": [0, 1]},
            r"^there is a single row, which shuffling cannot change; giv",
        ),
        (
            {"truth": [1.5], "prediction": [1.25], "metric": "mae"},
            r"^there is a single row, which shuffling cannot change",
        ),
        (
            {"cluster": [1, 1, 2, 2]},
            r"^cluster= means nothing to permutation_test: rows of a cluster are alike, and a shuffle",
        ),
        ({"cv": 5, "jobs": 2}, r"^cv=, jobs=: that is for an estimator, given with X and y; leave it out$"),
        ({"truth": None}, r"^write which column is which: permutation_test\(truth=y, score=p\) or permutation_test\("),
        ({"metric": "nonsense"}, r"^there is no metric 'nonsense'"),
    ],
)
def test_errors_are_in_words(arguments, words):
    with pytest.raises(InputError, match=words):
        permutation_test(**{"truth": Y, "prediction": D, **arguments})


def test_batches_serve_where_counts_are_enough():
    batches = [{"y": Y, "d": D}, {"y": [1, 1], "d": [1, 0]}]
    whole = permutation_test(truth=[*Y, 1, 1], prediction=[*D, 1, 0])
    columns = {"truth": "y", "prediction": "d", "classes": [0, 1]}
    assert permutation_test(batches, **columns).to_dict() == whole.to_dict()
    weighted = [{**batch, "w": [1.5] * len(batch["y"])} for batch in batches]
    with pytest.raises(
        InputError, match=r"^mcc needs the rows to shuffle them, and only counts were kept; give all rows in"
    ):
        permutation_test(weighted, weight="w", **columns)


def test_an_estimator_is_fitted_again():
    X, y = load_iris(return_X_y=True)
    test = permutation_test(GaussianNB(), X, y, metric=stakes.metrics.accuracy, permutations=4, seed=1, how="3-fold")
    wanted = permutation_test(GaussianNB(), X, y, metric="accuracy", permutations=4, seed=1, cv=3)
    assert test.to_dict() == wanted.to_dict()
    for options, words in (
        ({"truth": "t"}, r"^truth= means nothing to an estimator: it is given as y"),
        ({"frequency": [1]}, r"^frequency= means nothing to an estimator: an estimator is fitted on single rows"),
        ({"weight": [1]}, r"^weight has 1 row but X has 150; give one value per row of X"),
        ({"folds": 3}, r"^permutation_test\(\) has no option 'folds'"),
    ):
        with pytest.raises(InputError, match=words):
            permutation_test(GaussianNB(), X, y, **options)


@pytest.mark.parametrize("metric", ["r2", "mae", "rmse", "pearson", "rae", "rrse", "explained_variance"])
def test_shuffled_numbers_are_counted_all_at_once(metric):
    rng = np.random.default_rng(0)
    truth = rng.gamma(2, size=30) + 1e6
    columns = {"truth": truth, "prediction": truth + rng.normal(size=30), "weight": rng.random(30) + 0.5}
    test = permutation_test(**columns, metric=metric, permutations=50)
    shuffles = np.random.default_rng(0).permuted(np.broadcast_to(columns["prediction"], (50, 30)), axis=1)
    wanted = [stakes.evaluate(truth=truth, prediction=p, weight=columns["weight"])[metric].value for p in shuffles[:5]]
    assert test.null[:5] == pytest.approx(wanted, rel=1e-6)
