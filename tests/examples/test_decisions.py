"""Decisions and what they cost, against fractions, NumPy over every threshold, and scikit-learn."""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, recall_score, roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.examples import printed, ran

pytestmark = pytest.mark.slow

EVERY_ROW = slice(None)
PAGE = " ".join((Path(__file__).parents[2] / "docs" / "migrating" / "same_names.md").read_text("utf-8").split())


def figures(name, text):
    """The values that a figure is printed with, in order."""
    return [float(value) for value in re.findall(rf"\b{name}(?: at prevalence [\d.]+ ?%)? ([\d.]+),", text)]


def probabilities_of_malignant(rows=EVERY_ROW):
    """Which tumours are malignant, and the cross-validated probabilities of a model of radius and texture."""
    X, y = load_breast_cancer(return_X_y=True)
    malignant = y[rows] == 0
    model = make_pipeline(StandardScaler(), LogisticRegression())
    return malignant, cross_val_predict(model, X[rows, :2], malignant, cv=10, method="predict_proba")[:, 1]


def test_three_decisions_after_a_scan():
    text = printed("decisions/tumour_three_decisions")
    tests, operate = Fraction(20, 1000 + 20 - 10), Fraction(500 - 20, 500 - 20 + 10)
    assert f"tests from p = {tests} = {float(tests):.6f}\noperate from p = {operate} = {float(operate):.6f}" in text
    malignant, p = probabilities_of_malignant()
    price = np.array([[500, 20, 0], [0, 10, 1000]])  # benign, malignant: operate, tests, home
    decided = (np.column_stack([1 - p, p]) @ price).argmin(axis=1)
    for name, truth in (("benign", 0), ("malignant", 1)):
        row = np.bincount(decided[malignant == truth], minlength=3)
        assert re.search(rf"^{name} +{' +'.join(map(str, row))}$", text, re.M)
    paid = price[malignant.astype(int), decided].mean()
    always = {name: price[malignant.astype(int), d].mean() for d, name in enumerate(("operate", "tests", "home"))}
    assert figures("expected_cost", text) == [pytest.approx(paid, rel=1e-5)]
    assert figures("normalised_cost", text) == [pytest.approx(paid / min(always.values()), rel=1e-5)]
    for name, cost in always.items():
        assert f"always {name}: {cost:.2f} per case" in text
    half = price[malignant.astype(int), np.where(p >= 0.5, 0, 2)].mean()
    assert f"threshold 0.5: {half:.2f} per case" in text
    assert 7.5 < half / paid < 8
    assert not np.any(malignant & (decided == 2))


def test_who_gets_the_discount():
    text = printed("decisions/advertising_discount")
    assert "big client {'big discount': 0.0, 'small discount': 160.0}" in text
    assert "small client {'big discount': 15.0, 'small discount': 0.0}" in text
    assert "big discount loses 13.5\nsmall discount loses 16\ndecide: big discount" in text
    big, small = 200 - 40, 25 - 10
    switch = Fraction(small, small + big)
    assert repr(switch) in text
    groups = {Fraction(1, 20): (5, 95), Fraction(1, 10): (6, 54), Fraction(1, 4): (10, 30)}
    lost = sum(n_small * small if p > switch else n_big * big for p, (n_big, n_small) in groups.items())
    constant = {"big discount": (95 + 54 + 30) * small, "small discount": (5 + 6 + 10) * big}
    assert (lost, min(constant.values())) == (2060, 2685)
    assert figures("expected_cost", text) == [lost / 200]
    assert figures("normalised_cost", text) == [pytest.approx(lost / 2685, rel=1e-5)]
    for name, cost in constant.items():
        assert f"always {name}: {cost / 200:.4f} per client" in text
    assert f"threshold 0.5: {constant['small discount'] / 200:.4f} per client" in text


@pytest.fixture(scope="module")
def payments():
    return ran("decisions/fraud_amounts")


def costs_of_thresholds(positive, score, miss, false_alarm):
    """What it costs to call positive from each score on, or never; the last threshold is infinite."""
    thresholds = np.append(np.unique(score), np.inf)
    missed = np.bincount(np.searchsorted(thresholds, score, "right"), positive * miss, len(thresholds)).cumsum()
    alarmed = np.bincount(np.searchsorted(thresholds, score, "right"), ~positive * false_alarm, len(thresholds))
    return thresholds, missed + alarmed.sum() - alarmed.cumsum()


def test_credit_is_scored_by_costs():
    text, variables = ran("decisions/credit_scoring")
    positive, score = variables["truth"] == "defaults", variables["score"]
    n = len(score)
    assert figures("accuracy", text) == [pytest.approx(accuracy_score(positive, score >= 0.5), rel=1e-5)]
    assert accuracy_score(positive, score >= 0.5) - np.mean(~positive) < 0.001  # accuracy sees no use in the model
    assert figures("recall", text) == [pytest.approx(recall_score(positive, score >= 0.5), rel=1e-5)]
    assert figures("auc", text) == [pytest.approx(roc_auc_score(positive, score), rel=1e-5)]

    def cost(called):
        return 8 * np.mean(positive & ~called) + np.mean(~positive & called)

    thresholds, paid = costs_of_thresholds(positive, score, 8, 1)
    best = paid.argmin()
    assert paid[best] / n == pytest.approx(cost(score >= thresholds[best]))
    choice = variables["choice"]
    assert (choice.threshold, choice.apparent.value) == pytest.approx((thresholds[best], paid[best] / n))
    bayes, constant = cost(score >= 1 / 9), cost(np.zeros(n, bool))
    assert choice.cost.value == pytest.approx(bayes)
    always = {"always repays": constant, "always defaults": np.mean(~positive)}
    assert {name: choice.alternatives[name].value for name in always} == pytest.approx(always)
    assert f"{1000 * bayes:.5g} per 1,000 cases" in text
    ratios = [bayes / constant, cost(score >= 0.5) / constant]
    assert figures("normalised_cost", text) == pytest.approx(ratios, rel=1e-5)
    assert 0.82 < ratios[0] < 0.845  # a sixth is saved
    assert ratios[1] > 0.97  # next to nothing is saved


def test_fraud_is_decided_by_the_loss_of_each_payment(payments):
    text, variables = payments
    rows = variables["payments"]
    fraud, p, amount = rows["truth"] == "fraud", rows["probability"], rows["amount"]

    def cost(asked):
        return np.where(asked, 5 * ~fraud, amount * fraud).mean()

    by_loss = p * amount >= 5 * (1 - p)
    thresholds, paid = costs_of_thresholds(fraud, p, amount, 5)
    one = thresholds[paid.argmin()]
    assert variables["choice"].recommended == (one,)
    assert "“fraud” from score" in text
    assert re.search(rf"^fraud +{np.sum(fraud & ~by_loss)} +{np.sum(fraud & by_loss)}$", text, re.M)
    beside = [cost(by_loss), cost(p >= one), cost(by_loss)]
    assert figures("expected_cost", text) == pytest.approx(beside, rel=1e-5)
    assert figures("recall", text) == pytest.approx(
        [fraud[p >= one].sum() / fraud.sum(), by_loss[fraud].mean()], rel=1e-5
    )
    assert figures("precision", text) == pytest.approx([fraud[p >= one].mean(), fraud[by_loss].mean()], rel=1e-5)
    assert cost(by_loss) < cost(p >= one)
    let_through = [np.median(amount[fraud & ~asked]) for asked in (by_loss, p >= one)]
    assert let_through[0] < let_through[1]  # what expected loss lets through is small


def test_the_threshold_of_payments_is_judged_on_rows_that_did_not_choose_it(payments):
    _, variables = payments
    rows = variables["payments"]
    fraud, p, amount = rows["truth"] == "fraud", rows["probability"], rows["amount"]
    rng, n = np.random.default_rng(1), len(p)
    paid, left_out = np.zeros(n), np.zeros(n)
    for _ in range(300):
        drawn = np.bincount(rng.integers(0, n, n), minlength=n)
        thresholds, costs = costs_of_thresholds(fraud, p, drawn * amount, drawn * 5)
        asked = p >= thresholds[costs.argmin()]
        paid += (drawn == 0) * np.where(asked, 5 * ~fraud, amount * fraud)
        left_out += drawn == 0
    _, costs = costs_of_thresholds(fraud, p, amount, np.full(n, 5.0))
    expected = costs.min() / n / 4 + np.mean(paid / left_out) * 3 / 4
    assert variables["choice"].cost.value == pytest.approx(expected, rel=0.01)


def test_a_model_goes_where_fewer_are_ill():
    text = printed("decisions/prior_shift")
    y = load_breast_cancer().target
    benign = np.random.default_rng(0).choice(np.flatnonzero(y == 1), 212, replace=False)
    malignant, q = probabilities_of_malignant(np.concatenate([np.flatnonzero(y == 0), benign]))
    corrected = q * 0.02 / 0.5 / (q * 0.02 / 0.5 + (1 - q) * 0.98 / 0.5)  # Bayes' rule, row by row

    def cost(called, ill):
        return ill * 20 * np.mean(~called[malignant]) + (1 - ill) * np.mean(called[~malignant])

    here, there, uncorrected = cost(q >= 1 / 21, 0.5), cost(corrected >= 1 / 21, 0.02), cost(q >= 1 / 21, 0.02)
    assert f"threshold {float(Fraction(1, 21)):.6f}\n" in text
    assert f"threshold {float(Fraction(49, 69)):.6f}, by hand" in text
    assert figures("expected_cost", text) == pytest.approx([here, there], rel=1e-5)
    assert f"= {there:.6f}\n" in text
    constant = min(cost(np.full(len(q), same), 0.02) for same in (True, False))
    for place, paid in (("old", uncorrected), ("new", there)):
        assert (
            f"threshold of the {place} place: {paid:.4f} per case, {paid / constant:.4f} of the best constant" in text
        )
    assert there < 0.36 * constant < constant < uncorrected


def test_classifiers_that_know_the_losses_of_payments():
    _, found = ran("decisions/fraud_classifier")
    lost = {
        way: -found["loss_of"](found["fraud"][10_000:], said, found["amount"][10_000:])
        for way, said in found["paid"].items()
    }
    tuned = -found["loss_of"](found["fraud"][10_000:], found["decided"], found["amount"][10_000:])
    assert {way: round(paid, 3) for way, paid in lost.items()} == {
        "never ask": 2.652,
        "one threshold": 1.578,
        "costs of each payment": 1.213,
    }
    assert round(tuned, 3) == 1.609
    one, each = lost["one threshold"], lost["costs of each payment"]
    assert f"{one:.2f} with one threshold, {each:.2f} with the costs of each payment, against {tuned:.2f}" in PAGE
    cost = found["model"].decision_.cost
    assert cost.low < min(lost["one threshold"], tuned) < max(lost["one threshold"], tuned) < cost.high


@pytest.mark.deep  # many fits; small ones are in tests/sklearn_face/test_estimators.py
def test_classifiers_that_know_costs_beside_scikit_learns():
    lines = printed("decisions/cost_classifier").splitlines()
    told = [float(re.search(r"\d\.\d+", line)[0]) for line in lines]
    logistic, bayes = told[:5], told[5:]
    assert max(logistic[1:]) - min(logistic[1:]) < 0.05 < logistic[0] - max(logistic[1:])
    assert bayes[4] < bayes[3] < bayes[1] < bayes[2] < bayes[0]
    assert f"{logistic[2]:.2f} against {logistic[1]:.2f} per patient" in PAGE
    assert f'{bayes[4]:.2f} recalibrated, {bayes[3]:.2f} with `method="threshold"`, ' in PAGE
    assert f"{bayes[2]:.2f} by the probabilities as they stand, against {bayes[1]:.2f}." in PAGE
