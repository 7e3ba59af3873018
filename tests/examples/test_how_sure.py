"""Comparisons, chance and rare positives, worked out again with scikit-learn and scipy."""

import math
import re

import numpy as np
import pytest
from scipy.stats import binomtest, norm, t
from sklearn import metrics
from sklearn import model_selection as ms
from sklearn.datasets import load_breast_cancer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from tests.examples import printed, ran

pytestmark = pytest.mark.slow


# ── two classifiers ──────────────────────────────────────────────────────────────────────────────────────────────
def won(score, truth):
    """Whether each positive (row) beats each negative (column); a tie is half a win."""
    above = score[truth][:, None] - score[~truth]
    return (np.sign(above) + 1) / 2


def test_two_classifiers():
    """The difference in auc by placements (DeLong, DeLong and Clarke-Pearson, 1988), the curves by scikit-learn."""
    text = printed("how_sure/two_classifiers")
    X, benign = load_breast_cancer(return_X_y=True)
    truth = benign == 0
    folds = ms.StratifiedKFold(10, shuffle=True, random_state=0)
    neighbours, vectors = (
        ms.cross_val_predict(make_pipeline(StandardScaler(), model), X, truth, cv=folds, method=method)
        for model, method in ((KNeighborsClassifier(10), "predict_proba"), (SVC(), "decision_function"))
    )
    scores = {"neighbours": neighbours[:, 1], "vectors": vectors}
    for name, score in scores.items():
        x, y, _ = metrics.roc_curve(truth, score, drop_intermediate=False)
        for most in (0.01, 0.05, 0.1):
            assert re.search(rf"{name} +finds {y[x <= most].max():.1%} with at most {most:.0%} false alarms", text)

    gain = won(scores["vectors"], truth) - won(scores["neighbours"], truth)
    difference = metrics.roc_auc_score(truth, vectors) - metrics.roc_auc_score(truth, scores["neighbours"])
    placements = ((gain.mean(axis) - difference) / (gain.shape[1 - axis] - 1) for axis in (0, 1))
    changes = np.concatenate(list(placements))  # what leaving out each row would change
    n = len(changes)
    error = math.sqrt((n - 1) / n * (changes**2).sum())
    degrees = max(2 * n / (n * (changes**4).sum() / (changes**2).sum() ** 2 - 1), 4)
    low, high = difference + t.ppf([0.025, 0.975], degrees) * error
    assert f"vectors − neighbours: {difference:.4f}" in text
    assert f"95 % interval {low:.4f} to {high:.4f}, p = {2 * t.sf(difference / error, degrees):.4f}" in text
    assert low > 0  # better, as the example says,
    assert high < 0.02  # and within the margin


# ── chance ───────────────────────────────────────────────────────────────────────────────────────────────────────
def most_different(X, y, k):
    """The columns in which two classes differ most for their spread within the classes, as F orders them."""
    sides = X[y], X[~y]
    between = (sides[0].mean(0) - sides[1].mean(0)) ** 2
    return np.argsort(between / sum(side.var(0) * len(side) for side in sides))[-k:]


def naive_bayes(X, y, new):
    """Which of two classes is likelier, if columns were normal and independent within each."""
    sides, spare = (X[~y], X[y]), 1e-9 * X.var(0).max()
    densities = [norm(side.mean(0), np.sqrt(side.var(0) + spare)).logpdf(new).sum(1) for side in sides]
    return densities[1] + np.log(len(sides[1])) > densities[0] + np.log(len(sides[0]))


def as_good(X, y, shuffles, choose=None):
    """The accuracy of five folds, where columns may be chosen anew in each, and how many of the shuffles reach it."""
    folds = ms.StratifiedKFold(5, shuffle=True, random_state=0)

    def right(labels):
        found = 0
        for old, new in folds.split(X, labels):
            columns = most_different(X[old], labels[old], choose) if choose else slice(None)
            found += np.sum(naive_bayes(X[old][:, columns], labels[old], X[new][:, columns]) == labels[new])
        return int(found)

    order = (np.random.default_rng(seed).permutation(len(y)) for seed in np.random.SeedSequence(0).spawn(shuffles))
    here = right(y)
    return here / len(y), sum(right(y[shuffled]) >= here for shuffled in order)


@pytest.mark.deep  # many shuffles; small ones are in tests/uncertainty/test_permutation.py
def test_chance_is_told_from_the_real_thing():
    text, variables = ran("how_sure/chance_55_patients")
    flattered, *told = text.splitlines()
    tests = [variables[name] for name in ("fooled", "by_chance", "real")]
    noise = np.random.default_rng(0).normal(size=(55, 5000))
    sick = np.arange(55) < 25
    data, benign = load_breast_cancer(return_X_y=True)
    rows = np.concatenate([np.flatnonzero(benign == 0)[:25], np.flatnonzero(benign == 1)[:30]])
    found = [
        as_good(noise[:, most_different(noise, sick, 20)], sick, 29),
        as_good(noise, sick, 29, choose=20),
        as_good(np.hstack([data[rows], noise[:, 30:]]), sick, 29, choose=20),
    ]
    for line, test, (accuracy, reached) in zip(told, tests, found, strict=True):
        assert (test.value, test.p_value) == pytest.approx((accuracy, (reached + 1) / 30))
        assert line.endswith(f"(p = {(reached + 1) / 30:.2g})")
    limits = binomtest(round(found[0][0] * 55), 55).proportion_ci(method="wilson")
    assert flattered.startswith(
        f"accuracy {found[0][0]:.6g}, 95 % interval {limits.low:.6g} to {limits.high:.6g} (ignoring the input: "
    )
    assert [reached > 0 for _, reached in found] == [False, True, False]


# ── rare positives ───────────────────────────────────────────────────────────────────────────────────────────────
def test_roc_stays_and_pr_collapses():
    text = printed("how_sure/roc_against_pr")
    rng = np.random.default_rng(0)
    healthy, sick = rng.normal(size=10_000), rng.normal(1.8, size=1_000)
    lines = re.findall(r"^(\w+) +([\d,]+) sick +([\d.]+) +([\d.]+) – ([\d.]+) +([\d.]+)$", text, re.M)
    shown = {(figure, size): [float(number) for number in numbers] for figure, size, *numbers in lines}
    assert len(shown) == 10
    for size, some in (("1,000", sick), ("50", sick[::20])):
        score, truth = np.concatenate([some, healthy]), np.arange(len(some) + 10_000) < len(some)
        alarm = score >= 1.5
        expected = {
            "recall": metrics.recall_score(truth, alarm),
            "specificity": metrics.recall_score(~truth, ~alarm),
            "auc": metrics.roc_auc_score(truth, score),
            "precision": metrics.precision_score(truth, alarm),
            "average_precision": metrics.average_precision_score(truth, score),
        }
        baseline = {"auc": 0.5, "recall": alarm.mean(), "specificity": 1 - alarm.mean()}
        for figure, value in expected.items():
            assert shown[figure, size][0] == pytest.approx(value, abs=5.1e-4)
            assert shown[figure, size][3] == pytest.approx(baseline.get(figure, truth.mean()), abs=5.1e-4)
        for figure, rows in (("recall", truth), ("specificity", ~truth), ("precision", alarm)):
            limits = binomtest(round(expected[figure] * rows.sum()), rows.sum()).proportion_ci(method="wilson")
            assert shown[figure, size][1:3] == pytest.approx(limits, abs=5.1e-4)
        false = np.sum(alarm & ~truth) / np.sum(alarm & truth)
        assert f"{size} sick: {false:.1f} false alarms for every sick person found" in text

    def width(figure, size):
        _, low, high, _ = shown[figure, size]
        return high - low

    # what the last lines of the example say
    for figure in ("recall", "auc", "average_precision"):
        assert 2.9 < width(figure, "50") / width(figure, "1,000") < 5.5


def test_leaderboard_has_fewer_ranks_than_it_seems():
    words = printed("how_sure/leaderboard")
    clustered, alone = re.findall(r"([\d.]+) possible ranks a model", words)
    assert float(clustered) > float(alone) > 1


def test_the_year_of_watching_finds_september():
    words = printed("how_sure/year_of_watching")
    alarm, change = re.search(r"alarm on (\S+), likely changed on (\S+);", words).groups()
    assert "2026-08-25" <= change <= "2026-09-07"
    assert "2026-09-01" < alarm <= "2026-10-10"
    assert int(words.rpartition(": ")[2]) <= 3


def test_an_llm_judge_is_corrected_by_a_few_labels():
    words = printed("how_sure/llm_judge")
    said = [float(one) for one in re.findall(r"passes ([\d.]+)% of all answers", words)]
    (true,) = (float(one) for one in re.findall(r"people would pass ([\d.]+)%", words))
    intervals = re.findall(r"  prevalence [\d.]+, 95 % interval ([\d.]+) to ([\d.]+)", words)
    assert len(intervals) == len(said) == 2
    for rate, (low, high) in zip(said, intervals, strict=True):
        assert 100 * float(low) < true < 100 * float(high)
        assert not 100 * float(low) < rate < 100 * float(high)  # the judge's own rate lies outside


def test_a_validation_study_has_its_published_size():
    words = " ".join(printed("how_sure/study_size").split())
    assert [f"With {rows} rows the 95% interval of" in words for rows in ("906", "4,252", "4,554")] == [True] * 3
    patients, low, high = re.search(
        r"([\d,]+) patients; the pilot leaves anything from ([\d,]+) to ([\d,]+)", words
    ).groups()
    assert int(low.replace(",", "")) < int(patients.replace(",", "")) < int(high.replace(",", ""))
