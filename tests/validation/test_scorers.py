"""Scorers agree with scikit-learn's own, and with decisions that are priced by hand."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk
from sklearn import set_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression as Line
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import KFold, TunedThresholdClassifierCV, cross_val_score, cross_validate
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import stakes
from stakes.errors import InputError, UndefinedWarning

pytestmark = pytest.mark.slow

TUMOURS, BENIGN = load_breast_cancer(return_X_y=True)
TUMOURS = TUMOURS[:, :4] / TUMOURS[:, :4].std(axis=0)
NAMED = np.array(["malignant", "benign"])[BENIGN]
FLOWERS, KINDS = load_iris(return_X_y=True)
FLOWERS = FLOWERS[:, :2]
PEOPLE, SUGAR = load_diabetes(return_X_y=True)
FOLDS = KFold(4, shuffle=True, random_state=1)
MODEL = LogisticRegression(max_iter=1_000)


def scores(model, X, y, scoring, **options):
    return cross_val_score(model, X, y, scoring=scoring, cv=FOLDS, error_score="raise", **options)


@pytest.mark.parametrize(
    ("metric", "theirs", "model"),
    [
        ("auc", "roc_auc", MODEL),
        ("auc", "roc_auc", LinearSVC()),
        ("auc", "roc_auc", DecisionTreeClassifier(max_depth=3, random_state=0)),
        ("average_precision", "average_precision", MODEL),
        ("f1", "f1", MODEL),
        ("precision", "precision", RidgeClassifier()),
        ("accuracy", "accuracy", MODEL),
        ("mcc", "matthews_corrcoef", MODEL),
        ("log_loss", "neg_log_loss", MODEL),
        ("brier", "neg_brier_score", MODEL),
    ],
)
def test_two_classes(metric, theirs, model):
    ours = getattr(stakes.metrics, metric).scorer()
    assert scores(model, TUMOURS, BENIGN, ours) == pytest.approx(scores(model, TUMOURS, BENIGN, theirs), rel=1e-12)


@pytest.mark.parametrize(
    ("metric", "theirs"),
    [
        ("mean_absolute_error", "neg_mean_absolute_error"),
        ("root_mean_squared_error", "neg_root_mean_squared_error"),
        ("median_absolute_error", "neg_median_absolute_error"),
        ("r2", "r2"),
    ],
)
def test_numbers(metric, theirs):
    ours = getattr(stakes.metrics, metric).scorer()
    assert scores(Line(), PEOPLE, SUGAR, ours) == pytest.approx(scores(Line(), PEOPLE, SUGAR, theirs), rel=1e-12)


@pytest.mark.parametrize(
    ("metric", "theirs"),
    [
        ("macro_f1", "f1_macro"),
        ("accuracy", "accuracy"),
        ("log_loss", "neg_log_loss"),
        ("macro_auc", "roc_auc_ovr"),
        ("micro_recall", "recall_micro"),
    ],
)
def test_several_classes(metric, theirs):
    ours = getattr(stakes.metrics, metric).scorer()
    assert scores(MODEL, FLOWERS, KINDS, ours) == pytest.approx(scores(MODEL, FLOWERS, KINDS, theirs), rel=1e-12)


@pytest.mark.parametrize("positive", ["malignant", "benign"])
def test_the_positive_class_is_said(positive):
    """The columns of a model are in the order of its classes, in which either may be the positive one."""
    for model in (MODEL, LinearSVC()):
        f1 = sk.make_scorer(sk.f1_score, pos_label=positive)
        ours = stakes.metrics.f1.scorer(positive=positive)
        assert scores(model, TUMOURS, NAMED, ours) == pytest.approx(scores(model, TUMOURS, NAMED, f1))
        way = {"pos_label": positive, "response_method": ("decision_function", "predict_proba")}
        precise = sk.make_scorer(sk.average_precision_score, **way)
        ours = stakes.metrics.average_precision.scorer(positive=positive)
        assert scores(model, TUMOURS, NAMED, ours) == pytest.approx(scores(model, TUMOURS, NAMED, precise))
    with pytest.raises(InputError, match="pass positive="):
        scores(MODEL, TUMOURS, NAMED, stakes.metrics.f1.scorer())


def by_hand(model, X, y, costs, classes):
    """Fold by fold: the cheapest decision by the model's own probabilities, then what it cost, negated."""
    prices, found = np.array(costs.numbers, float), []
    rows = [list(costs.classes).index(str(name)) for name in classes]
    for train, test in FOLDS.split(X):
        table = model.fit(X[train], y[train]).predict_proba(X[test])
        decided = (table @ prices[rows]).argmin(axis=1)
        truth = [list(costs.classes).index(str(name)) for name in y[test]]
        found.append(-prices[truth, decided].mean())
    return found


def test_costs_take_the_cheapest_decision_which_may_be_to_abstain():
    prices = {"malignant": {"operate": 0, "tests": 2, "home": 30}, "benign": {"home": 0, "operate": 8, "tests": 1}}
    costs = stakes.Costs(prices)
    expected = by_hand(MODEL, TUMOURS, NAMED, costs, ["benign", "malignant"])
    ours = stakes.metrics.expected_cost.scorer(costs=costs, positive="malignant")
    assert scores(MODEL, TUMOURS, NAMED, ours) == pytest.approx(expected, rel=1e-12)
    relative = scores(MODEL, TUMOURS, NAMED, stakes.metrics.normalised_cost.scorer(costs=costs, positive="malignant"))
    assert (relative > -1).all()
    flowers = stakes.Costs([[0, 5, 9, 2], [1, 0, 1, 2], [20, 10, 0, 2]], ["0", "1", "2"], ["0", "1", "2", "ask"])
    expected = by_hand(MODEL, FLOWERS, KINDS, flowers, [0, 1, 2])
    ours = stakes.metrics.expected_cost.scorer(costs=flowers)
    assert scores(MODEL, FLOWERS, KINDS, ours) == pytest.approx(expected, rel=1e-12)


def test_costs_without_probabilities_price_what_is_predicted():
    ours = stakes.metrics.expected_cost.scorer(costs=stakes.Costs(miss=5, false_alarm=2))
    plain = stakes.metrics.expected_cost.scorer(miss=5, false_alarm=2)
    for (train, test), found in zip(FOLDS.split(TUMOURS), scores(LinearSVC(), TUMOURS, BENIGN, ours), strict=True):
        model = LinearSVC().fit(TUMOURS[train], BENIGN[train])
        (_, fp), (fn, _) = sk.confusion_matrix(BENIGN[test], model.predict(TUMOURS[test]))
        assert found == plain(model, TUMOURS[test], BENIGN[test]) == -(5 * fn + 2 * fp) / len(test)
    by_probability = scores(MODEL, TUMOURS, BENIGN, ours)
    assert list(by_probability) != list(scores(MODEL, TUMOURS, BENIGN, plain))


def test_class_frequencies_of_the_deployment():
    costs = stakes.Costs(miss=5, false_alarm=1)
    model = MODEL.fit(TUMOURS, BENIGN)
    score = model.predict_proba(TUMOURS)[:, 1]
    shares = {"prior": 0.1, "training_prior": "rows"}
    expected = stakes.evaluate(truth=BENIGN, score=score, costs=costs, **shares)["expected_cost"].value
    assert -stakes.metrics.expected_cost.scorer(costs=costs, **shares)(model, TUMOURS, BENIGN) == expected


def test_a_threshold_is_tuned_by_costs():
    costs = stakes.Costs(miss=1, false_alarm=20)
    tuned = TunedThresholdClassifierCV(MODEL, scoring=stakes.metrics.expected_cost.scorer(costs=costs), cv=FOLDS)
    theirs = sk.make_scorer(lambda y, d: -np.mean(np.where(y == 1, d == 0, 20 * (d == 1))))
    other = TunedThresholdClassifierCV(MODEL, scoring=theirs, cv=FOLDS)
    tuned.fit(TUMOURS, BENIGN), other.fit(TUMOURS, BENIGN)
    assert tuned.best_threshold_ == other.best_threshold_ > 0.5
    assert tuned.best_score_ == pytest.approx(other.best_score_, rel=1e-12)
    other = stakes.metrics.f1.scorer(positive="malignant")
    found = TunedThresholdClassifierCV(MODEL, scoring=other, cv=FOLDS).fit(TUMOURS, NAMED).best_score_
    assert 0.8 < found < 1
    with pytest.raises(InputError, match="figure of scores, so it cannot judge decisions; a threshold is tuned by one"):
        TunedThresholdClassifierCV(MODEL, scoring=stakes.metrics.auc.scorer(), cv=FOLDS).fit(TUMOURS, BENIGN)


def test_weights_pass_through():
    weight = np.random.default_rng(0).integers(1, 9, len(BENIGN)).astype(float)
    model = MODEL.fit(TUMOURS, BENIGN)
    set_config(enable_metadata_routing=True)
    try:
        ours = stakes.metrics.f1.scorer().set_score_request(sample_weight=True)
        theirs = sk.make_scorer(sk.f1_score).set_score_request(sample_weight=True)
        fitted = MODEL.set_fit_request(sample_weight=False)
        found, expected = (
            cross_validate(fitted, TUMOURS, BENIGN, scoring=one, cv=FOLDS, params={"sample_weight": weight})
            for one in (ours, theirs)
        )
    finally:
        set_config(enable_metadata_routing=False)
    assert found["test_score"] == pytest.approx(expected["test_score"], rel=1e-12)
    assert ours(model, TUMOURS, BENIGN, sample_weight=weight) != ours(model, TUMOURS, BENIGN)


def test_undefined_is_nan_with_a_warning():
    model = MODEL.fit(TUMOURS, BENIGN)
    with pytest.warns(UndefinedWarning, match="auc is undefined: no case is negative"):
        assert np.isnan(stakes.metrics.auc.scorer()(model, TUMOURS[BENIGN == 1], BENIGN[BENIGN == 1]))


def test_a_fold_that_lacks_a_class():
    model = MODEL.fit(FLOWERS, KINDS)
    some = KINDS < 2
    expected = sk.log_loss(KINDS[some], model.predict_proba(FLOWERS[some]), labels=[0, 1, 2])
    assert -stakes.metrics.log_loss.scorer()(model, FLOWERS[some], KINDS[some]) == pytest.approx(expected, rel=1e-12)
    few = MODEL.fit(FLOWERS[some], KINDS[some])
    with pytest.raises(InputError, match="'2'"):
        stakes.metrics.log_loss.scorer()(few, FLOWERS, KINDS)


def test_booleans():
    truth = BENIGN.astype(bool)
    assert scores(MODEL, TUMOURS, truth, stakes.metrics.auc.scorer()) == pytest.approx(
        scores(MODEL, TUMOURS, truth, "roc_auc"), rel=1e-12
    )


class NoOrder(ClassifierMixin, BaseEstimator):
    """Decides, and says nothing else."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: stakes.metrics.alarm_rate.scorer(), "alarm_rate is neither better when higher nor when lower"),
        (lambda: stakes.metrics.f1.scorer(costs=stakes.Costs(miss=1, false_alarm=1)), "costs= mean nothing to f1; "),
        (
            lambda: stakes.metrics.r2.scorer(prior=0.1)(Line().fit(PEOPLE, SUGAR), PEOPLE, SUGAR),
            "prior= is about classes, and these are predicted numbers",
        ),
        (lambda: stakes.metrics.expected_cost.scorer(costs=5), "costs"),
        (
            lambda: stakes.metrics.expected_cost.scorer(costs=stakes.Costs(miss="amount", false_alarm=1)),
            "column 'amount'.*scikit-learn gives scorers no columns; give costs that are numbers",
        ),
        (lambda: stakes.metrics.f_beta.scorer(gamma=2), "gamma"),
        (
            lambda: stakes.metrics.auc.scorer()(NoOrder().fit(TUMOURS, BENIGN), TUMOURS, BENIGN),
            "NoOrder has no decision_function and no predict_proba, which auc needs",
        ),
        (lambda: stakes.metrics.f1.scorer()(MODEL.fit(FLOWERS, KINDS), FLOWERS, KINDS), "macro_f1"),
        (lambda: stakes.metrics.r2.scorer()(MODEL.fit(TUMOURS, NAMED), TUMOURS, NAMED), "number"),
    ],
)
def test_what_cannot_score(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_features_whose_rows_are_not_those_of_the_truth():
    X, y = pd.DataFrame({"a": [0.0, 1, 2, 3]}), pd.Series([0, 1, 0, 1])
    model = LogisticRegression().fit(X, y)
    with pytest.raises(InputError, match="y and X are pandas objects whose indexes disagree"):
        stakes.metrics.auc.scorer()(model, X, y[::-1])
    with pytest.raises(InputError, match="X is missing in 1 row"):
        stakes.metrics.auc.scorer()(model, np.ma.masked_array(X.to_numpy(), [[1], [0], [0], [0]]), y)


def test_parameters_are_part_of_the_scorer():
    ours = stakes.metrics.f_beta.scorer(beta=3)
    theirs = sk.make_scorer(sk.fbeta_score, beta=3)
    assert scores(MODEL, TUMOURS, BENIGN, ours) == pytest.approx(scores(MODEL, TUMOURS, BENIGN, theirs), rel=1e-12)
    assert repr(ours) == "<scorer: f_beta(beta=3)>"
    tree = DecisionTreeRegressor(max_depth=2, random_state=0).fit(PEOPLE, SUGAR)
    assert stakes.scorer("r2")(tree, PEOPLE, SUGAR) == pytest.approx(sk.r2_score(SUGAR, tree.predict(PEOPLE)))


def test_without_scikit_learn_one_line_says_what_to_install():
    code = "import sys; sys.modules['sklearn'] = None\nimport stakes\nstakes.metrics.f1.scorer()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "which is missing; pip install scikit-learn" in done.stderr.splitlines()[-1]
