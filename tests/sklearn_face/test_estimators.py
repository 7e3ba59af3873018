"""Classifiers that decide by costs, abstain and recalibrate: scikit-learn's checks, brute force, routing."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

import stakes
from stakes.sklearn import CostClassifier, RecalibratedClassifier, RejectClassifier

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:, :3], 1 - y  # 1 is malignant
FLOWERS, KINDS = load_iris(return_X_y=True)
FLOWERS = FLOWERS[:, :2]
MODEL = make_pipeline(StandardScaler(), LogisticRegression())
DEAR_MISS = [[0, 1], [10, 0]]
ESTIMATORS = [
    RecalibratedClassifier(LogisticRegression()),
    RecalibratedClassifier(LogisticRegression(), method="isotonic"),
    CostClassifier(LogisticRegression(), calibrate="temperature"),
    RejectClassifier(LogisticRegression(), 1.0),
]
MORE = [
    CostClassifier(LogisticRegression()),
    CostClassifier(LogisticRegression(), method="threshold"),
    RejectClassifier(LogisticRegression(), 0.2),
    *(RecalibratedClassifier(LogisticRegression(), method=one) for one in ("sigmoid", "temperature", "vector")),
]
QUICK = ("unfitted", "clone", "params", "tags", "no_attributes", "repr", "pickle", "1d", "nan", "one_label", "y_2d")


@pytest.mark.deep
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("estimator", [*ESTIMATORS, *MORE], ids=str)
def test_they_pass_all_of_scikit_learns_checks(estimator):
    abstains = estimator.get_params().get("reject_cost", 1.0) < 1.0
    differs = {"check_classifiers_train": "its decisions are not the likeliest class"} if abstains else {}
    check_estimator(estimator, expected_failed_checks=differs)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of scikit-learn, about labels that are NaN
@pytest.mark.parametrize("estimator", ESTIMATORS[2:], ids=str)
def test_they_pass_some_of_scikit_learns_checks(estimator):
    chosen = [pair for pair in estimator_checks_generator(estimator) if any(word in str(pair[1]) for word in QUICK)]
    assert len(chosen) > 10
    for one, check in chosen:
        check(clone(one))


@pytest.mark.parametrize("costs", [DEAR_MISS, {0: {0: 0, 1: 1}, 1: {0: 10, 1: 0}}])
def test_the_cheapest_decision_is_taken_for_each_row(costs):
    model = CostClassifier(MODEL, costs).fit(X, y)
    given = clone(MODEL).fit(X, y).predict_proba(X)
    assert (model.predict(X) == (given @ np.array(DEAR_MISS)).argmin(1)).all()


def test_three_classes_and_decisions_that_are_no_classes():
    costs = [[0, 5, 5, 1], [1, 0, 2, 1], [9, 2, 0, 1]]
    model = CostClassifier(MODEL, costs, decisions=[0, 1, 2, 9]).fit(FLOWERS, KINDS)
    given = clone(MODEL).fit(FLOWERS, KINDS).predict_proba(FLOWERS)
    assert (model.predict(FLOWERS) == np.array([0, 1, 2, 9])[(given @ np.array(costs)).argmin(1)]).all()
    assert set(model.decision_.estimates) >= {"the costs and the probabilities"}


def test_the_threshold_is_chosen_out_of_fold_and_judged_there():
    model = CostClassifier(MODEL, DEAR_MISS, method="threshold", cv=5).fit(X, y)
    given = cross_val_predict(MODEL, X, y, cv=5, method="predict_proba")[:, 1]
    expected = stakes.decide(truth=y, score=given, costs=stakes.Costs(miss=10, false_alarm=1))
    assert model.threshold_ == expected.recommended[0]
    assert model.decision_.cost.value == expected.cost.value
    assert model.decision_.cost.low < model.decision_.cost.value < model.decision_.cost.high
    assert (model.predict(X) == (clone(MODEL).fit(X, y).predict_proba(X)[:, 1] >= model.threshold_)).all()


@pytest.mark.slow
def test_costs_by_row_choose_and_are_routed():
    amount = np.random.default_rng(0).uniform(0, 20, len(y))
    each = np.zeros((len(y), 2, 2))
    each[:, 0, 1], each[:, 1, 0] = 1, amount
    model = CostClassifier(MODEL, DEAR_MISS).fit(X, y, costs=each)
    given = model.predict_proba(X)
    assert (model.predict(X, costs=each) == (given[:, 1] * amount > given[:, 0])).all()
    assert model.decision_.costs.columns
    with config_context(enable_metadata_routing=True):
        routed = CostClassifier(MODEL, DEAR_MISS, method="threshold").set_fit_request(costs=True)
        search = GridSearchCV(routed, {"method": ["threshold"]}, cv=3, scoring=make_scorer(stakes.sklearn.f1_score))
        search.fit(X, y, costs=each)
        assert search.best_estimator_.decision_.costs.columns
        assert (
            search.best_estimator_.threshold_
            != CostClassifier(MODEL, DEAR_MISS, method="threshold").fit(X, y).threshold_
        )


def test_weights_are_routed_to_the_classifier():
    weight = np.where(y == 1, 5.0, 1.0)
    with config_context(enable_metadata_routing=True):
        model = CostClassifier(LogisticRegression().set_fit_request(sample_weight=True)).fit(X, y, sample_weight=weight)
    expected = LogisticRegression().fit(X, y, sample_weight=weight)
    assert np.allclose(model.predict_proba(X), expected.predict_proba(X))


def test_abstaining_is_chows_rule():
    model = RejectClassifier(MODEL, 0.1).fit(X, y)
    given = clone(MODEL).fit(X, y).predict_proba(X)
    expected = np.where(given.max(1) < 0.9, -1, given.argmax(1))
    assert (model.predict(X) == expected).all()
    assert (expected == -1).any()
    named = RejectClassifier(MODEL, 0.1).fit(X, np.array(["benign", "malignant"])[y])
    assert set(named.predict(X)) == {"benign", "malignant", "reject"}
    with pytest.raises(ValueError, match="say what abstaining costs"):
        RejectClassifier(MODEL).fit(X, y)


def test_recalibration_is_that_of_the_recalibrator_and_near_scikit_learns():
    folds = StratifiedKFold(5)
    model = RecalibratedClassifier(MODEL, method="sigmoid", cv=folds).fit(X, y)
    given = cross_val_predict(MODEL, X, y, cv=folds, method="predict_proba")[:, 1]
    fitted = stakes.SigmoidCalibrator().fit(given, y)
    last = clone(MODEL).fit(X, y).predict_proba(X)[:, 1]
    assert np.allclose(model.predict_proba(X)[:, 1], fitted.transform(last))
    theirs = CalibratedClassifierCV(MODEL, method="sigmoid", cv=folds, ensemble=False).fit(X, y)
    assert log_loss(y, model.predict_proba(X)) < log_loss(y, theirs.predict_proba(X)) + 0.05


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (CostClassifier(MODEL, [[0, 1]]), "costs have the shape"),
        (CostClassifier(MODEL, {0: {0: 0, 1: 1}}), "costs are of"),
        (CostClassifier(MODEL, method="both"), "give 'bayes' or 'threshold'"),
        (CostClassifier(MODEL, calibrate="line"), "is no way to recalibrate"),
        (RejectClassifier(MODEL, 0.1, reject_label=1), "is a class, too"),
    ],
)
def test_wrong_parameters_are_told_in_one_line(estimator, words):
    with pytest.raises(ValueError, match=words):
        estimator.fit(X, y)


def test_a_vector_of_two_classes_is_the_beta_map():
    both = [RecalibratedClassifier(MODEL, method=one).fit(X, y).predict_proba(X) for one in ("vector", "beta")]
    assert np.array_equal(*both)
    many = RecalibratedClassifier(MODEL, method="vector").fit(FLOWERS, KINDS).predict_proba(FLOWERS)
    assert np.allclose(many.sum(1), 1)
    with pytest.raises(ValueError, match="there are 3 classes; temperature, affine and vector are for any number"):
        RecalibratedClassifier(MODEL, method="beta").fit(FLOWERS, KINDS)


def test_a_threshold_is_for_two_classes():
    model = CostClassifier(MODEL, method="threshold")
    assert not get_tags(model).classifier_tags.multi_class
    with pytest.raises(ValueError, match="A threshold is for 2 × 2 costs, and these are 3 × 3; take 'bayes'"):
        model.fit(FLOWERS, KINDS)


def test_rows_of_one_of_a_class_are_not_divided():
    model = CostClassifier(MODEL, calibrate="affine").fit(X[:40], np.arange(40) == 3)
    assert (model.decision_, model.calibrator_) == (None, None)
    assert len(cross_val_score(CostClassifier(MODEL), X, y, cv=3)) == 3
