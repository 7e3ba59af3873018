"""Permutation tests that fit again, against scikit-learn's and against data whose answer is known."""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import model_selection as ms
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_squared_error, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import stakes
from stakes import metrics
from stakes.uncertainty.permutation import as_good
from stakes.validation.features import as_table, shuffle_within
from stakes.validation.permutation import permutation_test
from stakes.validation.refit import _shuffle_labels
from stakes.validation.target import read_target

pytestmark = pytest.mark.slow

IRIS = load_iris(return_X_y=True)
DIABETES = tuple(part[:100] for part in load_diabetes(return_X_y=True))
FIVE = ms.StratifiedKFold(5, shuffle=True, random_state=0)
close = pytest.approx


def noise(seed: int, rows: int = 40):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, 2)), np.arange(rows) % 2


def orders(seed: int, permutations: int, rows: int):
    """The shuffles that the documentation promises: one spawned seed for each."""
    return [np.random.default_rng(s).permutation(rows) for s in np.random.SeedSequence(seed).spawn(permutations)]


# ── test 1 ───────────────────────────────────────────────────────────────────────────────────────────────────────
def test_every_figure_is_that_of_scikit_learn_on_the_same_shuffle():
    X, y = IRIS[0][50:, :2], IRIS[1][50:] - 1
    found = permutation_test(GaussianNB(), X, y, permutations=7, seed=4, cv=FIVE)
    pooled = [np.mean(ms.cross_val_predict(GaussianNB(), X, y[o], cv=FIVE) == y[o]) for o in orders(4, 7, len(y))]
    assert found.value == np.mean(ms.cross_val_predict(GaussianNB(), X, y, cv=FIVE) == y)
    assert found.null == close(pooled)
    assert found.p_value == (1 + sum(value >= found.value for value in pooled)) / 8
    ranked = permutation_test(GaussianNB(), X, y, permutations=7, seed=4, cv=FIVE, metric="auc")
    means = [ms.cross_val_score(GaussianNB(), X, y[o], cv=FIVE, scoring="roc_auc").mean() for o in orders(4, 7, len(y))]
    assert ranked.null == close(means)
    assert ranked.value == close(ms.cross_val_score(GaussianNB(), X, y, cv=FIVE, scoring="roc_auc").mean())
    scores = ms.cross_val_predict(GaussianNB(), X, y, cv=FIVE, method="predict_proba")[:, 1]
    assert ranked.value != close(roc_auc_score(y, scores))  # the pooled auc is another figure
    assert "mean over folds" in ranked.method
    assert "pooled out-of-fold" in found.method


def test_losses_are_pooled_and_low_ones_are_good():
    X, y = DIABETES
    splitter = ms.KFold(4)
    found = permutation_test(LinearRegression(), X, y, permutations=9, cv=splitter)
    assert found.metric == "mean_squared_error"
    assert found.value == close(mean_squared_error(y, ms.cross_val_predict(LinearRegression(), X, y, cv=splitter)))
    shuffled = [
        mean_squared_error(y[o], ms.cross_val_predict(LinearRegression(), X, y[o], cv=splitter))
        for o in orders(0, 9, len(y))
    ]
    assert found.null == close(shuffled)
    assert found.p_value == 0.1
    by_rank = permutation_test(GaussianNB(), *IRIS, permutations=5, metric="multiclass_log_loss")
    assert "pooled" in by_rank.method
    assert by_rank.p_value == close(1 / 6)


def test_the_null_is_that_of_permutation_test_score():
    X, y = noise(1)
    ours = permutation_test(GaussianNB(), X, y, permutations=80, cv=ms.StratifiedKFold(4)).null
    _, theirs, _ = ms.permutation_test_score(
        GaussianNB(), X, y, cv=ms.StratifiedKFold(4), n_permutations=80, random_state=0
    )
    assert ours.mean() == close(theirs.mean(), abs=4 * theirs.std() / np.sqrt(40))
    assert ours.std() == close(theirs.std(), rel=0.3)


def test_informative_features_have_a_small_p():
    found = permutation_test(GaussianNB(), *IRIS, permutations=49)
    assert found.p_value == 1 / 50
    assert len(found.null) == found.permutations == 49
    assert found.question == "Are the features and the labels independent?"
    assert found.to_dict()["metric"] == "accuracy"


@pytest.mark.deep  # the small form: every figure is that of scikit-learn on the same shuffle
def test_noise_has_a_uniform_p():
    p = [
        permutation_test(GaussianNB(), *noise(seed), metric="auc", cv=2, permutations=19, seed=seed).p_value
        for seed in range(30)
    ]
    assert 0.35 < np.mean(p) < 0.7  # 0.525 ± 0.053
    assert 2 <= np.sum(np.array(p) <= 0.25) <= 15  # Binomial(30, 1/4) with all but 0.5 % of its mass


def test_labels_of_groups_change_places_together():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), 5)
    y = np.repeat([0, 1] * 6, 5)
    target = read_target(y, y, GaussianNB(), "auto", None, None)
    shuffled = [_shuffle_labels(target, groups, rng).values.reshape(12, 5) for _ in range(20)]
    assert all((part == part[:, :1]).all() and part[:, 0].sum() == 6 for part in shuffled)
    assert len({part.tobytes() for part in shuffled}) > 15
    # every group has its own place and nothing else: rows alone would seem to tell the labels of seen groups
    X = rng.normal(size=(12, 2))[groups] + rng.normal(scale=0.1, size=(60, 2))
    kept_whole = permutation_test(GaussianNB(), X, y, groups=groups, cv=3, permutations=39)
    assert kept_whole.p_value > 0.05
    torn_apart = permutation_test(DecisionTreeClassifier(random_state=0), X, y, cv=3, permutations=39)
    assert torn_apart.p_value == 1 / 40


# ── test 2 ───────────────────────────────────────────────────────────────────────────────────────────────────────
def test_dependence_between_features_is_found_where_there_is_some():
    rng = np.random.default_rng(2)
    bits = rng.integers(0, 2, (160, 2))
    X, y = bits + rng.normal(scale=0.1, size=bits.shape), bits[:, 0] ^ bits[:, 1]
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    found = permutation_test(tree, X, y, test=2, permutations=39)
    assert found.p_value == 1 / 40
    assert found.value > 0.75 > found.null.max()
    assert found.question == "Does the model use dependence between the features within a class?"


@pytest.mark.deep  # the small form: each feature is shuffled by itself within its class
def test_features_that_are_independent_within_the_classes_have_a_uniform_p():
    tree, p = DecisionTreeClassifier(max_depth=4, random_state=0), []
    y = np.arange(60) % 2
    for seed in range(12):
        X = 2 * y[:, None] + np.random.default_rng(seed).normal(size=(60, 2))
        p.append(permutation_test(tree, X, y, test=2, permutations=19, cv=3, seed=seed).p_value)
    assert np.mean(p) > 0.3  # at least 0.525 ± 0.083, more with ties
    assert np.sum(np.array(p) <= 0.1) <= 4  # Binomial(12, 1/10) with all but 0.4 % of its mass
    assert permutation_test(tree, X, y, test=1, permutations=19, cv=3).p_value == 1 / 20


@pytest.mark.parametrize(
    "make",
    [np.asarray, np.ndarray.tolist, pd.DataFrame, pl.DataFrame, sparse.csr_array],
    ids=["array", "list", "pandas", "polars", "sparse"],
)
def test_each_feature_is_shuffled_by_itself_within_its_class(make):
    codes = np.repeat([0, 1, 0, 1], 25)
    X = np.arange(300.0).reshape(100, 3)
    found = np.asarray(shuffle_within(as_table(make(X)), codes, np.random.default_rng(0)))
    for code in (0, 1):
        rows = codes == code
        assert np.array_equal(np.sort(found[rows], axis=0), np.sort(X[rows], axis=0))
    assert 0 < np.mean(found == X) < 0.1
    assert np.mean(found[:, 0] + 1 == found[:, 1]) < 0.1  # columns go different ways
    assert np.array_equal(X, np.arange(300.0).reshape(100, 3))


def test_data_frames_keep_their_columns_types_and_index():
    frame = pd.DataFrame({"a": pd.Categorical(list("xyzx")), "b": [1, 2, 3, 4]}, index=[7, 5, 3, 1])
    found = shuffle_within(frame, np.zeros(4, int), np.random.default_rng(0))
    assert found.dtypes.equals(frame.dtypes)
    assert found.index.equals(frame.index)
    assert sorted(found["b"]) == [1, 2, 3, 4]
    table = pl.DataFrame(frame.reset_index(drop=True).astype({"a": str}))
    assert shuffle_within(table, np.zeros(4, int), np.random.default_rng(0)).schema == table.schema


# ── both ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_every_shuffle_is_fitted_once_for_each_fold():
    fits = []

    class Counting(GaussianNB):
        def fit(self, X, y):
            fits.append(len(X))
            return super().fit(X, y)

    permutation_test(Counting(), *noise(0), permutations=3, cv=4)
    assert len(fits) == 4 * (1 + 3)


def test_one_progress_bar_for_all_shuffles(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    X, y = noise(0, rows=22)
    permutation_test(GaussianNB(), X, y, cv="leave-one-out", permutations=20)  # more fits in each than make a bar
    assert "fitting on shuffled data" in capsys.readouterr().err
    permutation_test(GaussianNB(), X, y, cv="leave-one-out", permutations=3)
    assert capsys.readouterr().err == ""


def test_pairs_of_rows_are_used_again():
    X, y = noise(5)
    pairs = list(ms.StratifiedKFold(4).split(X, y))
    given, split = (
        permutation_test(GaussianNB(), X, y, cv=cv, permutations=3).value for cv in (iter(pairs), ms.StratifiedKFold(4))
    )
    assert given == split


def test_an_undefined_shuffle_counts_as_better():
    null = np.array([np.nan, 0.1, 0.5, 0.5 - 1e-15, 0.9])
    assert as_good(metrics.find("auc"), 0.5)(null).sum() == 4
    assert as_good(metrics.find("log_loss"), 0.5)(null).sum() == 4
    assert as_good(metrics.find("log_loss"), 0.05)(null).sum() == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"permutations": 0}, "permutations=0 does not work; give a whole number from 1 on"),
        ({"permutations": 2.5}, "permutations=2.5 does not work"),
        ({"test": 3}, "test=3 is not known; 1 shuffles the labels, 2 shuffles each feature within its class"),
        (
            {"metric": "prevalence"},
            "prevalence is neither better when higher nor when lower, so nothing can be as good",
        ),
        ({"metric": "aucc"}, "there is no metric 'aucc'; did you mean 'auc'"),
        ({"metric": "r2"}, "r2 is a figure of predicted numbers"),
        ({"metric": "auc", "cv": "leave-one-out"}, "auc is undefined (it is undefined on every fold), so there is"),
        ({"test": 2, "estimator": LinearRegression()}, "test=2 shuffles each feature within its class, and y holds n"),
        ({"test": 2, "groups": np.arange(40)}, "test=2 would carry features from one group into another; leave groups"),
        (
            {"groups": np.arange(40) // 4},
            "groups: row 2 (counting from 1) has another label than the first row of its group; labels can only change "
            "places between groups that have a single label each",
        ),
        ({"groups": [1]}, "groups has 1 row but X has 40"),
        ({"y": [0, 1]}, "y has 2 rows but X has 40"),
        ({"cv": "5 fouls"}, "how='5 fouls' is no way to split; did you mean '5-fold'"),
        (
            {"X": np.zeros((40, 2, 2)), "test": 2},
            "X has the shape (40, 2, 2); test=2 shuffles columns: give one row per",
        ),
        ({"jobs": "all"}, "jobs='all' does not work"),
        ({"seed": 1.5}, "seed=1.5 does not work"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(options, words):
    X, y = noise(0)
    arguments = {"estimator": GaussianNB(), "X": X, "y": y, "permutations": 2} | options
    with pytest.raises(stakes.InputError) as caught:
        permutation_test(arguments.pop("estimator"), arguments.pop("X"), arguments.pop("y"), **arguments)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


# ── rows that do not all count alike ─────────────────────────────────────────────────────────────────────────────
def table_of_rows():
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 60)
    X = pd.DataFrame({"x": y + rng.normal(size=60), "age": rng.integers(20, 80, 60), "price": rng.uniform(1, 9, 60)})
    return X, y, rng.integers(1, 5, 60)


def test_rows_are_chosen_before_anything_is_fitted():
    X, y, weight = table_of_rows()
    old = (X.age > 40).to_numpy()
    found = permutation_test(GaussianNB(), X, y, weight=weight, where="age > 40", permutations=5)
    by_hand = permutation_test(GaussianNB(), X[old], y[old], weight=weight[old], permutations=5)
    assert found.to_dict() == by_hand.to_dict()
    gaps = np.where(np.arange(60) < 3, np.nan, y)
    found = permutation_test(GaussianNB(), X, gaps, missing="drop", permutations=5)
    assert found.dropped == 3
    assert found.null.tolist() == permutation_test(GaussianNB(), X[3:], gaps[3:], permutations=5).null.tolist()


def test_a_weight_counts_and_goes_with_its_label():
    X, y, weight = table_of_rows()
    found = permutation_test(GaussianNB(), X, y, weight=weight, permutations=5)
    validated = stakes.validate(GaussianNB(), X, y, weight=weight, seed=0)
    assert found.value == validated.pooled["accuracy"].value != stakes.validate(GaussianNB(), X, y).pooled["accuracy"]
    order = np.random.default_rng(1).permutation(60)
    target = replace(read_target(y, X, GaussianNB(), "auto", None, None), weight=weight).reordered(order)
    assert (target.values.tolist(), target.weight.tolist()) == (y[order].tolist(), weight[order].tolist())


@pytest.mark.parametrize("costs", [stakes.Costs(miss=5, false_alarm=1), stakes.Costs(miss="price", false_alarm=1)])
def test_costs_are_tested_by_fitting_again(costs):
    X, y, _ = table_of_rows()
    found = permutation_test(GaussianNB(), X, y, costs=costs, permutations=5)
    validated = stakes.validate(GaussianNB(), X, y, costs=costs, seed=0)
    assert (found.metric, found.value) == ("expected_cost", validated.pooled["expected_cost"].value)
    at = permutation_test(GaussianNB(), X, y, threshold=0.9, permutations=5)
    assert at.value == stakes.validate(GaussianNB(), X, y, threshold=0.9).pooled["accuracy"].value
