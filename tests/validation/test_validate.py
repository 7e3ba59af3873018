"""Estimators under validation, against scikit-learn's own cross-validation with the same splitters."""

import json
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse, stats
from sklearn import model_selection as ms
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import stakes
from stakes.errors import InputError
from stakes.question.question import Question
from stakes.uncertainty.interval import mean_over_folds
from stakes.validation.from_files import validate_file
from stakes.validation.validate import validate_rows
from tests.command import run

pytestmark = pytest.mark.slow

IRIS = load_iris(return_X_y=True)
CANCER = tuple(part[::3] for part in load_breast_cancer(return_X_y=True))
DIABETES = load_diabetes(return_X_y=True)
close = pytest.approx


# ── the same figures as scikit-learn's ───────────────────────────────────────────────────────────────────────────
def test_two_classes_with_probabilities():
    X, y = CANCER
    model, splitter = GaussianNB(), ms.StratifiedKFold(5, shuffle=True, random_state=3)
    v = stakes.validate(model, X, y, seed=3)
    p = ms.cross_val_predict(model, X, y, cv=splitter, method="predict_proba")[:, 1]
    assert np.array_equal(v.predictions, p)
    assert v.decisions is None
    assert np.array_equal(v.rows, np.arange(len(y)))
    assert np.array_equal(v.truth, y)
    for fold, (_, test) in enumerate(splitter.split(X, y)):
        assert np.array_equal(np.flatnonzero(v.fold_of_row == fold), test)
    assert v["auc"].pooled.value == close(roc_auc_score(y, p))
    scores = ms.cross_validate(
        model, X, y, cv=splitter, scoring=["roc_auc", "accuracy", "neg_log_loss"], return_train_score=True
    )
    for ours, theirs, sign in (("auc", "roc_auc", 1), ("accuracy", "accuracy", 1), ("log_loss", "neg_log_loss", -1)):
        found = v[ours]
        assert found.folds == close(sign * scores[f"test_{theirs}"], rel=1e-9)
        assert found.mean == close(sign * scores[f"test_{theirs}"].mean(), rel=1e-9)
        assert found.spread == close(scores[f"test_{theirs}"].std(ddof=1), rel=1e-9)
        assert found.undefined == 0
    assert v["accuracy"].training.value == close(scores["train_accuracy"].mean(), abs=1e-3)  # pooled, not averaged


def test_the_training_figure_is_that_of_each_model_on_its_own_rows():
    X, y = DIABETES
    splitter = ms.KFold(4, shuffle=True, random_state=0)
    v = stakes.validate(LinearRegression(), X, y, how=4)
    residuals = [
        y[train] - LinearRegression().fit(X[train], y[train]).predict(X[train]) for train, _ in splitter.split(X)
    ]
    assert v["mae"].training.value == close(np.abs(np.concatenate(residuals)).mean())
    assert v.training.rows == 3 * len(y)


def test_numbers():
    X, y = DIABETES
    splitter = ms.KFold(10, shuffle=True, random_state=0)
    v = stakes.validate(LinearRegression(), X, y, how="10-fold")
    assert v["r2"].folds == close(ms.cross_val_score(LinearRegression(), X, y, cv=splitter), rel=1e-9)
    assert np.array_equal(v.predictions, ms.cross_val_predict(LinearRegression(), X, y, cv=splitter))
    assert v.decisions is None
    assert "stratified" not in v.how


def test_several_classes():
    X, y = IRIS
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = make_pipeline(StandardScaler(), LogisticRegression())
    splitter = ms.StratifiedKFold(5, shuffle=True, random_state=0)
    v = stakes.validate(model, X, names)
    assert np.array_equal(v.predictions, ms.cross_val_predict(model, X, names, cv=splitter, method="predict_proba"))
    assert np.array_equal(v.decisions, ms.cross_val_predict(model, X, names, cv=splitter))
    assert v["accuracy"].folds == close(ms.cross_val_score(model, X, names, cv=splitter))
    assert v["macro_f1"].folds == close(ms.cross_val_score(model, X, names, cv=splitter, scoring="f1_macro"))
    hand_till = ms.cross_val_score(model, X, names, cv=splitter, scoring="roc_auc_ovr")
    assert v["macro_auc"].folds == close(hand_till, rel=1e-9)
    recalls = [np.mean(v.decisions[(v.fold_of_row == k) & (names == "virginica")] == "virginica") for k in range(5)]
    assert v["recall", "virginica"].folds == close(recalls)
    assert v.pooled.confusion.counts.sum() == 150


def test_a_decision_function_is_a_score_and_no_probability():
    X, y = CANCER
    model, splitter = LinearSVC(C=1e-9), ms.StratifiedKFold(5, shuffle=True, random_state=0)
    v = stakes.validate(model, X, y)
    scores = ms.cross_val_predict(model, X, y, cv=splitter, method="decision_function")
    assert np.array_equal(v.predictions, scores)
    assert v["auc"].folds == close(ms.cross_val_score(model, X, y, cv=splitter, scoring="roc_auc"))
    assert v["accuracy"].folds == close(ms.cross_val_score(model, X, y, cv=splitter))
    assert not v["brier_score"].pooled.defined
    assert v["brier_score"].undefined == 5


class Level(ClassifierMixin, BaseEstimator):
    """A decision function that lies in [0, 1], and is no probability all the same."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0] / 10


def test_a_decision_function_within_0_and_1_is_no_probability():
    X = np.arange(10.0)[:, None]
    v = stakes.validate(Level(), X, [0, 1] * 5, how=2)
    assert not v["brier_score"].pooled.defined
    assert v["brier_score"].undefined == 2
    assert not v["accuracy"].pooled.defined  # no predict, no threshold: nothing is decided
    decided = stakes.validate(Level(), X, [0, 1] * 5, how=2, threshold=0.5)
    assert decided["accuracy"].pooled.value == 0.5 + 0.1


@pytest.mark.parametrize("positive", ["yes", "no"])
@pytest.mark.parametrize("model", [GaussianNB(), SVC()], ids=["probability", "decision function"])
def test_the_score_grows_towards_the_positive_class(model, positive):
    X, y = CANCER
    v = stakes.validate(model, X, np.where(y == 1, "yes", "no"), positive=positive)
    assert v.pooled.positive == positive
    assert v["auc"].pooled.value > 0.9


# ── how the rows are split ───────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("how", "share", "words"),
    [("hold-out", 0.2, "20%"), ("hold-out 35%", 0.35, "35%"), (0.5, 0.5, "50%"), ("Hold-out 12.5 %", 0.125, "12.5%")],
)
def test_hold_out(how, share, words):
    X, y = IRIS
    v = stakes.validate(GaussianNB(), X, y, how=how)
    _, test = next(ms.StratifiedShuffleSplit(1, test_size=share, random_state=0).split(X, y))
    assert np.array_equal(v.rows, np.sort(test))
    assert len(v.folds) == 1
    assert f"hold-out {words}, stratified" in v.how
    assert np.isnan(v["accuracy"].spread)
    assert v["accuracy"].mean == v["accuracy"].pooled.value


@pytest.mark.parametrize(("how", "folds"), [("2-fold", 2), ("7-fold", 7), (3, 3)])
def test_folds_are_stratified_for_classes_unless_told(how, folds):
    X, y = IRIS
    v = stakes.validate(GaussianNB(), X, y, how=how)
    assert len(v.folds) == folds
    assert all(np.ptp(np.bincount(v.truth[v.fold_of_row == k])) <= 1 for k in range(folds))
    plain = stakes.validate(GaussianNB(), X, y, how=how, stratified=False)
    splits = list(ms.KFold(folds, shuffle=True, random_state=0).split(X))
    assert np.array_equal(np.flatnonzero(plain.fold_of_row == 0), splits[0][1])


def test_leave_one_out_of_a_prevalence_predictor_has_pooled_auc_0():
    y = np.array([0] * 12 + [1] * 8)
    v = stakes.validate(DummyClassifier(strategy="prior"), np.zeros((20, 1)), y, how="leave-one-out")
    assert v["auc"].pooled.value == 0
    assert v["auc"].undefined == 20
    assert np.isnan(v["auc"].mean)
    assert v["auc"].training.value != 0
    assert "leave-one-out of one that only knows the prevalence has pooled auc 0" in " ".join(str(v).split())
    assert len(v.folds) == 20


@pytest.mark.parametrize("how", ["5-fold", "hold-out 30%", "leave-one-out"])
@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_groups_stay_whole(how, task):
    X, y = IRIS if task == "classes" else DIABETES
    groups = np.array(list("abcdefghijklm"))[np.arange(len(y)) % 13]
    v = stakes.validate(GaussianNB() if task == "classes" else LinearRegression(), X, y, how=how, groups=groups)
    for fold in range(len(v.folds)):
        inside = v.rows[v.fold_of_row == fold]
        outside = np.setdiff1d(np.arange(len(y)), inside)
        assert not set(groups[inside]) & set(groups[outside])
    assert len(v.folds) == {"5-fold": 5, "hold-out 30%": 1, "leave-one-out": 13}[how]
    assert ("stratified" in v.how) == (how == "5-fold" and task == "classes")


def test_repeats_shuffle_anew_and_pool_the_first():
    X, y = IRIS
    once, again = (stakes.validate(GaussianNB(), X, y, repeats=repeats) for repeats in (1, 3))
    assert len(again.folds) == 15
    assert again.pooled.to_dict() == once.pooled.to_dict()
    assert again["accuracy"].folds[:5] == once["accuracy"].folds
    expected = [
        ms.cross_val_score(GaussianNB(), X, y, cv=ms.StratifiedKFold(5, shuffle=True, random_state=seed))
        for seed in range(3)
    ]
    assert again["accuracy"].folds == close(np.concatenate(expected))
    assert "the first of 3 repeats" in str(again)
    assert "3 times" in again.how


def test_splitters_and_pairs_of_rows():
    X, y = IRIS
    splitter = ms.ShuffleSplit(4, test_size=0.2, random_state=5)
    v = stakes.validate(GaussianNB(), X, y, how=splitter)
    assert v["accuracy"].folds == close(ms.cross_val_score(GaussianNB(), X, y, cv=splitter))
    assert "some rows are judged in several folds" in " ".join(str(v).split())
    pairs = list(splitter.split(X))
    assert stakes.validate(GaussianNB(), X, y, how=iter(pairs))["accuracy"].folds == v["accuracy"].folds
    masks = [(np.isin(np.arange(150), train), np.isin(np.arange(150), test)) for train, test in pairs]
    assert stakes.validate(GaussianNB(), X, y, how=masks)["accuracy"].folds == v["accuracy"].folds
    groups = np.arange(150) % 6
    left_out = stakes.validate(GaussianNB(), X, y, how=ms.LeaveOneGroupOut(), groups=groups)
    assert np.array_equal(left_out.fold_of_row, groups)


# ── fits ─────────────────────────────────────────────────────────────────────────────────────────────────────────
class Counting(KNeighborsClassifier):
    fits = 0
    rows_seen = 0

    def fit(self, X, y):
        Counting.fits += 1
        Counting.rows_seen += len(X)
        return super().fit(X, y)


@pytest.mark.parametrize(("how", "repeats", "fits"), [("hold-out", 1, 1), ("5-fold", 2, 10), ("leave-one-out", 1, 15)])
def test_each_split_is_fitted_exactly_once_and_then_all_rows(how, repeats, fits):
    Counting.fits = Counting.rows_seen = 0
    estimator = Counting(3)
    rows = slice(None, None, 10 if how == "leave-one-out" else 1)
    v = stakes.validate(estimator, *(part[rows] for part in IRIS), how=how, repeats=repeats)
    assert f" · {fits} fit{'s' * (fits > 1)} · " in str(v)
    assert Counting.fits == fits + 1
    assert not hasattr(estimator, "classes_")  # only copies are fitted


def test_the_last_model_is_fitted_on_all_rows_and_judged_on_them():
    v = stakes.validate(GaussianNB(), *CANCER)
    last = GaussianNB().fit(*CANCER)
    assert v.model.theta_.tolist() == last.theta_.tolist()
    assert v["auc"].all_rows.value == close(roc_auc_score(CANCER[1], last.predict_proba(CANCER[0])[:, 1]))
    assert v["accuracy"].all_rows.value == close(last.score(*CANCER))
    assert {"all_rows", "mean_low", "mean_high"} <= set(v.to_rows()[0])


def test_limits_over_folds_are_corrected_for_the_rows_that_they_share():
    """Nadeau & Bengio (2003): the variance of the mean is (1/J + judged/fitted) times that of the folds."""
    v = stakes.validate(GaussianNB(), *CANCER, how=5, repeats=3)
    found = v["auc"]
    error = np.sqrt((1 / 15 + 1 / 4) * np.var(found.folds, ddof=1))
    reach = stats.t.ppf(0.975, 14) * error
    limits = found.mean - reach, min(found.mean + reach, 1)
    assert (found.over_folds.low, found.over_folds.high) == close(limits, rel=1e-6)
    assert "corrected interval" in str(found)
    assert (
        stakes.validate(GaussianNB(), *CANCER, how="hold-out")["auc"].over_folds.no_interval == "there is a single fold"
    )


def test_the_corrected_t_is_that_of_scikit_learns_guide():
    """Its page on comparing models, 10 × 10 folds: t 2.611 uncorrected is 0.750 corrected, and p .227 one-sided."""
    values = np.random.default_rng(0).normal(size=100)
    values = (values - values.mean()) / values.std(ddof=1) + 0.2611
    found = mean_over_folds(values, 1 / 9, 0.95, (-np.inf, np.inf))
    assert found.p_value / 2 == pytest.approx(0.2275, abs=0.001)
    assert found.value / ((found.limits.high - found.value) / stats.t.ppf(0.975, 99)) == pytest.approx(0.750, abs=1e-3)


def test_validations_are_compared_over_their_folds():
    one, other = (stakes.validate(model, *CANCER, repeats=2) for model in (GaussianNB(), KNeighborsClassifier(5)))
    found = stakes.compare(one, other, metric=["auc", "accuracy"])
    pair = found.pair("GaussianNB", "KNeighborsClassifier", "accuracy")
    apart = np.subtract(one["accuracy"].folds, other["accuracy"].folds)
    t = apart.mean() / np.sqrt((1 / 10 + 1 / 4) * apart.var(ddof=1))
    assert abs(pair.difference) == close(abs(apart.mean()))
    assert pair.p_value == close(2 * stats.t.sf(abs(t), 9), rel=1e-3)
    assert (pair.low <= 0 <= pair.high) == (pair.p_value > 0.05)
    assert found.table[0].estimate.value == close(one["auc"].mean)
    assert "Nadeau & Bengio's corrected t over 10 folds" in str(found)
    named = stakes.compare({"a": one, "b": one})
    assert (named.pairs[0].difference, named.pairs[0].p_value) == (0, 1)
    for models, words in [
        ([one], "a single validation has nothing to be compared with"),
        ([one, stakes.validate(GaussianNB(), *CANCER)], "were not tested on the same rows in the same folds"),
        ([one, stakes.validate(GaussianNB(), *CANCER, repeats=2, seed=1)], "validate both with the same rows, how"),
    ]:
        with pytest.raises(InputError, match=words):
            stakes.compare(models)


@pytest.mark.parametrize(("data", "metric"), [(IRIS, "macro_auc"), (DIABETES, "mean_absolute_error")])
def test_validations_of_other_tasks_are_compared(data, metric):
    models = (GaussianNB(), KNeighborsClassifier()) if data is IRIS else (LinearRegression(), KNeighborsRegressor())
    found = stakes.compare([stakes.validate(model, *data) for model in models])
    assert found.metrics == [metric]
    assert found.pairs[0].p_value is not None


def test_over_fitting_shows():
    found = stakes.validate(KNeighborsClassifier(1), *IRIS)["accuracy"]
    assert found.training.value == 1
    assert found.pooled.value < 1


class Thresholder:
    """An estimator that is none of scikit-learn's: no get_params, no classes_, and fit returns nothing."""

    def __init__(self):
        self.fitted_on = 0

    def fit(self, X, y):
        self.fitted_on += len(X)
        self.middle = float(np.mean(X))

    def predict(self, X):
        return (np.asarray(X)[:, 0] > self.middle).astype(int)


class Probable(Thresholder):
    def predict_proba(self, X):
        p = 1 / (1 + np.exp(self.middle - np.asarray(X)[:, 0]))
        return np.column_stack([1 - p, p])


class Single(Probable):
    def predict_proba(self, X):
        return super().predict_proba(X)[:, 1]


def test_any_object_that_fits_and_predicts():
    X, y = np.arange(20.0)[:, None], [0] * 10 + [1] * 10
    estimator = Thresholder()
    v = stakes.validate(estimator, X, y)
    assert v["accuracy"].pooled.value >= 0.9
    assert estimator.fitted_on == 0
    assert not v["auc"].pooled.defined
    for model, classes in ((Probable(), [0, 1]), (Single(), None)):
        assert stakes.validate(model, X, y, classes=classes)["auc"].pooled.value == close(1)
    with pytest.raises(stakes.InputError, match=r"Probable has predict_proba but no classes_.*pass classes= in their"):
        stakes.validate(Probable(), X, y)


# ── what comes in ────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    "make",
    [
        np.asarray,
        np.ndarray.tolist,
        lambda X: pd.DataFrame(X, index=np.arange(len(X))[::-1]),
        lambda X: pl.DataFrame(X),
        sparse.coo_array,
        sparse.csr_matrix,
    ],
    ids=["array", "list", "pandas", "polars", "sparse array", "sparse matrix"],
)
def test_features_of_any_make(make):
    X, y = IRIS
    model = KNeighborsClassifier(3, algorithm="brute")
    assert stakes.validate(model, make(X), y)["accuracy"] == stakes.validate(model, X, y)["accuracy"]


@pytest.mark.parametrize(
    "make",
    [
        np.ndarray.tolist,
        lambda y: y[:, None],
        lambda y: y.astype(float),
        lambda y: pd.Series(y, index=np.arange(len(y))[::-1], dtype="Int64"),
        lambda y: pd.Series(y.astype(str), dtype="category"),
        lambda y: pl.Series(y),
        lambda y: y.astype(str).astype(object),
    ],
)
def test_labels_follow_the_one_rule(make):
    X, y = IRIS
    v = stakes.validate(GaussianNB(), X, make(y))
    assert v.pooled.classes == ("0", "1", "2")
    assert v["accuracy"] == stakes.validate(GaussianNB(), X, y)["accuracy"]


class ZeroOne(GaussianNB):
    """Says 0 and 1 where it was given booleans."""

    def fit(self, X, y):
        super().fit(X, y.astype(int))
        self.classes_ = self.classes_.astype(int)
        return self


@pytest.mark.parametrize("model", [GaussianNB(), ZeroOne(), SVC()])
def test_booleans_have_a_positive_class(model):
    X, y = CANCER
    assert stakes.validate(model, X, y == 1)["auc"].folds == stakes.validate(model, X, y)["auc"].folds


def test_a_model_that_renames_its_classes_is_refused():
    class Renaming(GaussianNB):
        def predict_proba(self, X):
            found = super().predict_proba(X)
            self.classes_ = np.array(["x", "y", "z"])
            return found

    with pytest.raises(stakes.InputError, match=r"score has no column for the classes '0', '1' and '2'"):
        stakes.validate(Renaming(), *IRIS)

    class Short(GaussianNB):
        def predict_proba(self, X):
            return super().predict_proba(X)[:, :2]

    with pytest.raises(stakes.InputError, match="score has 2 columns for 3 classes"):
        stakes.validate(Short(), *IRIS)


def test_the_estimator_says_what_whole_numbers_are():
    X, y = DIABETES  # whole numbers, all of them
    assert stakes.validate(DummyRegressor(), X, y).pooled.task == "regression"
    with pytest.raises(stakes.InputError, match="pass task='classification' or task='regression'"):
        stakes.validate(Thresholder(), X, y)
    assert stakes.validate(Thresholder(), X, y, task="regression").pooled.task == "regression"
    assert stakes.validate(Thresholder(), X, y > 100).pooled.task == "binary"
    with pytest.raises(stakes.InputError, match=r"no class .*for quantities give a regressor"):
        stakes.validate(GaussianNB(), X, y + 0.5)


def test_a_declared_class_that_never_occurs():
    X, y = IRIS
    v = stakes.validate(GaussianNB(), X, y, classes=[0, 1, 2, 3])
    assert v.pooled.classes == ("0", "1", "2", "3")
    assert v.predictions.shape == (150, 4)
    assert not v.predictions[:, 3].any()


def test_weights_and_segments_are_for_judging():
    X, y = CANCER
    weight, by = np.arange(len(y)) % 3 + 1.0, np.array(["north", "south"])[np.arange(len(y)) % 2]
    v = stakes.validate(GaussianNB(), X, y, weight=weight, by=by)
    plain = stakes.validate(GaussianNB(), X, y)
    assert np.array_equal(v.predictions, plain.predictions)
    assert v["accuracy"].pooled.value == close(np.average((plain.predictions >= 0.5) == y, weights=weight))
    inside = v.fold_of_row == 2
    assert v["auc"].folds[2] == close(roc_auc_score(y[inside], v.predictions[inside], sample_weight=weight[inside]))
    assert set(v.pooled.segments) == {"north", "south"}
    south = by == "south"
    right = np.average((plain.predictions >= 0.5)[south] == y[south], weights=weight[south])
    assert v.pooled.segments["south"]["accuracy"].value == close(right)


def test_a_threshold_decides():
    X, y = CANCER
    v = stakes.validate(GaussianNB(), X, y, threshold=0.9)
    assert v["recall"].pooled.value == close(np.mean(v.predictions[y == 1] >= 0.9))
    assert v.training.threshold == v.folds[0].threshold == 0.9
    by_score = stakes.validate(SVC(), X, y, threshold=-0.5)
    assert by_score["recall"].pooled.value == close(np.mean(by_score.predictions[y == 1] >= -0.5))


# ── what comes out ───────────────────────────────────────────────────────────────────────────────────────────────
def test_the_table_says_which_is_which():
    X, y = CANCER
    v = stakes.validate(GaussianNB(), X, y)
    text = str(v)
    assert "5-fold, stratified, shuffled with seed 0" in text
    head = next(line for line in text.splitlines() if line.startswith("figure"))
    assert head.split("  ")[0] == "figure"
    for words in ("pooled", "95% interval", "baseline", "folds (mean ± sd)", "training", "all rows"):
        assert words in head
    found = v["auc"]
    line = next(line for line in text.splitlines() if line.startswith("AUC "))
    ends = (found.pooled.low, found.pooled.high, found.pooled.baseline)
    values = (found.pooled.value, *ends, found.mean, found.spread, found.training.value, found.all_rows.value)
    assert [float(cell) for cell in line.replace("–", "").replace("±", "").split()[1:]] == close(values, abs=5e-5)
    assert "the spread is no standard error" in " ".join(text.split())
    assert "given these fits" in text
    assert "<table>" in v._repr_html_()
    assert repr(v) == "<Validation: 5-fold, stratified, shuffled with seed 0, fits: 5>"


def test_undefined_folds_are_counted():
    y = [0] * 6 + [1] * 4
    v = stakes.validate(DummyClassifier(), np.zeros((10, 1)), y, how=ms.KFold(5))
    assert v["auc"].undefined == 5
    assert v["recall"].undefined == 3
    assert "Undefined on some of the 5 folds: recall (3), " in " ".join(str(v).split())
    assert str(v["recall"]).count("(undefined on 3 of 5 folds)") == 1


def test_as_data():
    v = stakes.validate(KNeighborsClassifier(1), *IRIS)
    data = json.loads(json.dumps(v.to_dict(), allow_nan=False))
    assert data["figures"]["accuracy"]["training"]["value"] == 1
    assert data["figures"]["multiclass_log_loss"]["pooled"]["value"] == "Infinity"
    assert data["figures"]["accuracy"]["folds"] == list(v["accuracy"].folds)
    assert data["pooled"] == v.pooled.to_dict()
    rows = {row["metric"]: row for row in v.to_rows()}
    assert rows["macro_f1"]["mean"] == v["macro_f1"].mean
    assert rows.keys() == v.pooled.figures.keys()
    assert v.figure("accuracy") == v["accuracy"]


@pytest.mark.parametrize(
    ("watched", "how", "shown"), [(True, "leave-one-out", True), (True, 5, False), (False, 30, False)]
)
def test_a_progress_bar_where_somebody_watches(capsys, monkeypatch, watched, how, shown):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: watched)
    stakes.validate(GaussianNB(), *IRIS, how=how)
    assert ("fitting" in capsys.readouterr().err) == shown


# ── how sure ─────────────────────────────────────────────────────────────────────────────────────────────────────
def test_intervals_are_those_of_the_pooled_figures():
    X, y = CANCER
    v = stakes.validate(GaussianNB(), X, y, confidence=0.9)
    alone = stakes.evaluate(truth=y, score=v.predictions, confidence=0.9)
    assert (v["auc"].pooled.low, v["auc"].pooled.high) == (alone["auc"].low, alone["auc"].high)
    assert "90% interval" in str(v)
    assert "given these fits" in str(v["auc"])
    assert stakes.validate(GaussianNB(), X, y, design="classes fixed").pooled.sampling.fixed


def test_training_rows_count_once_in_intervals():
    X, y = CANCER
    v = stakes.validate(GaussianNB(), X, y, how="10-fold")
    once, often = (e["accuracy"].high - e["accuracy"].low for e in (v.pooled, v.training))
    assert often > 0.8 * once  # each row was judged nine times
    assert v.training.counted.clusters.count == len(y)


def test_groups_are_drawn_whole():
    X, y = (np.repeat(part, 4, axis=0) for part in CANCER)
    groups = np.repeat(np.arange(len(CANCER[1])), 4)
    grouped = stakes.validate(GaussianNB(), X, y, groups=groups)
    naive = stakes.evaluate(truth=y, score=grouped.predictions)
    width, short = (e["accuracy"].high - e["accuracy"].low for e in (grouped.pooled, naive))
    assert width > 1.5 * short
    few = stakes.validate(GaussianNB(), X, y, groups=np.arange(len(y)) % 10)
    assert any("there are only 10 clusters" in note for note in few.notes)


class Saying:
    """An estimator that says whatever it is told to."""

    def __init__(self, method, say):
        self.method, self.say = method, say

    def fit(self, X, y):
        return self

    def __getattr__(self, name):
        if name == self.__dict__.get("method"):
            return self.say
        raise AttributeError(name)


@pytest.mark.parametrize(
    ("say", "words"),
    [
        (lambda X: None, "gives a NoneType for 8 rows; make it return one value or row for each"),
        (lambda X: "text", "gives a str_ for 8 rows"),
        (lambda X: [0] * (len(X) - 1), "gives 7 rows for 8 rows"),
        (lambda X: [[0], [0, 1]] * (len(X) // 2), "does not take these rows"),
        (lambda X: [1 / 0], "does not take these rows (ZeroDivisionError: division by zero)"),
        (lambda X: sys.exit(0), "does not take these rows (SystemExit: 0)"),
    ],
)
@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_what_an_estimator_says_is_held_against_the_rows(method, say, words):
    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    with pytest.raises(stakes.InputError) as problem:
        stakes.validate(Saying(method, say), X, y)
    assert f"Saying.{method} {words}" in str(problem.value)
    if method == "predict_proba":
        with pytest.raises(stakes.InputError, match="could not convert string to float"):
            stakes.validate(Saying(method, lambda X: ["a"] * len(X)), X, y)


# ── costs that differ from row to row ────────────────────────────────────────────────────────────────────────────
def priced_rows():
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 80)
    return pd.DataFrame({"x": y + rng.normal(size=80), "price": rng.uniform(1, 9, 80), "y": y})


def test_a_column_of_the_table_prices_each_row():
    rows, costs = priced_rows(), stakes.Costs(miss="price", false_alarm=1)
    found = stakes.validate(GaussianNB(), rows[["x", "price"]], rows["y"], costs=costs)
    said = {"y": found.truth, "p": found.predictions, "price": rows["price"].to_numpy()[found.rows]}
    expected = stakes.evaluate(said, truth="y", score="p", costs=costs)
    assert found.pooled["expected_cost"].value == expected["expected_cost"].value
    assert len({fold["expected_cost"].value for fold in found.folds}) == 5
    with pytest.raises(stakes.InputError, match="costs: there is no column 'price'"):
        stakes.validate(GaussianNB(), rows[["x"]], rows["y"], costs=costs)
    with pytest.raises(
        stakes.InputError,
        match="the costs name the column 'price', and the columns of X have no names \\(ndarray\\); give X as",
    ):
        stakes.validate(GaussianNB(), rows[["x"]].to_numpy(), rows["y"], costs=costs)


def test_the_price_in_a_file_is_no_feature(tmp_path):
    rows, costs = priced_rows(), stakes.Costs(miss="price", false_alarm=1)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    typed = ["--target", "y", "--estimator", "sklearn.naive_bayes:GaussianNB", "--miss", "price", "--false-alarm", "1"]
    done = run("validate", tmp_path / "rows.csv", *typed, "--json")
    assert done.returncode == 0, done.stderr
    only = validate_file(tmp_path / "rows.csv", typed[3], target="y", costs=costs)
    by_hand = validate_rows(
        GaussianNB(), rows[["x"]], rows["y"], Question.of("validate", {"costs": costs}), {"price": rows["price"]}
    )
    assert only.pooled["expected_cost"] == by_hand.pooled["expected_cost"]
    assert f"{only.pooled['expected_cost'].value!r}" in done.stdout
