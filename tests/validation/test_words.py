"""What users read when a validation cannot be done."""

import builtins

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn import model_selection as ms
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

import stakes

X = np.random.default_rng(0).normal(size=(20, 2))
Y = np.array([0, 1] * 10)
RARE = np.array([0] * 17 + [1] * 3)
ONE = np.array([0] * 19 + [1])


def validate(estimator=None, X=X, y=Y, **options):
    return stakes.validate(GaussianNB() if estimator is None else estimator, X, y, **options)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: validate(X=X[:1], y=[1]), "there is 1 row; at least two are needed to fit and judge"),
        (lambda: validate(X=[], y=[]), "there are 0 rows; at least two are needed"),
        (lambda: validate(how=21), "there are 21 folds but 20 rows; give fewer folds, or how='leave-one-out'"),
        (
            lambda: validate(y=RARE),
            "class '1' has 3 rows, fewer than the 5 folds; give fewer folds, stratified=False, or group the classes",
        ),
        (lambda: validate(y=ONE, how=0.2), "class '1' has 1 row, too few to have some on both sides; pass stratified"),
        (
            lambda: validate(y=ONE, how="leave-one-out"),
            "fold 20 of 20: the class '1' is not in its training rows, so its model cannot know it; give fewer folds, "
            "or stratified=True",
        ),
        (lambda: validate(how=0.6), "how=0.6: a share from 5% to 50% can be held out (0.2 or '20%')"),
        (lambda: validate(how=0.0), "how=0.0: a share from 5% to 50%"),
        (lambda: validate(how=1.5), "how=1.5: a share from 5% to 50%"),
        (lambda: validate(how="hold-out -3%"), "how='hold-out -3%': a share from 5% to 50%"),
        (lambda: validate(how="hold-out 100%"), "how='hold-out 100%': a share"),
        (lambda: validate(how=1), "1-fold does not split anything; give 2 folds or more, or a share such as 0.2 to"),
        (lambda: validate(how="0-fold"), "0-fold does not split anything"),
        (
            lambda: validate(how="leave one on"),
            "how='leave one on' is no way to split; did you mean 'leave-one-out'?",
        ),
        (lambda: validate(how="bootstrap"), "how='bootstrap' is no way to split; there is 'hold-out', "),
        (lambda: validate(how=True), "how=True is no way to split"),
        (lambda: validate(how=None), "how=None is no way to split"),
        (lambda: validate(how=[]), "how has no splits; give at least one pair"),
        (lambda: validate(how=[([0, 1], [2]), [3]]), "split 2 of how= does not work: it is no pair (rows to fit on, "),
        (lambda: validate(how=[([0, 1], [])]), "split 1 of how= does not work: one side holds no row numbers"),
        (lambda: validate(how=[([0, 1], [0.5])]), "one side holds no row numbers"),
        (lambda: validate(how=[([0, 1], [20])]), "rows run from 0 to 19, and it has row 20"),
        (lambda: validate(how=[([0, 1, 2], [1, 2])]), "row 1 is fitted on and judged too (2 such rows)"),
        (lambda: validate(how=ms.KFold(5), repeats=2), "repeats= does not go with splits of your own, which decide it"),
        (lambda: validate(how=ms.KFold(5), stratified=True), "stratified= does not go with splits of your own"),
        (lambda: validate(how=[([0, 1], [2])], groups=Y), "groups= does not go with splits of your own"),
        (lambda: validate(how=ms.KFold(30)), "the rows cannot be split (KFold(n_splits=30, random_state=None, shuffle"),
        (
            lambda: validate(X=X[:12], y=list("abcdefabcdef"), how=0.1),
            "the rows cannot be split (hold-out 10%, stratified): The test_size = 2 should be greater or equal",
        ),
        (lambda: validate(how="leave-one-out", repeats=2), "leave-one-out is the same every time; leave repeats= out"),
        (lambda: validate(repeats=0), "repeats=0 does not work; give a whole number from 1 on"),
        (lambda: validate(seed=-1), "seed=-1 does not work; give a whole number from 0 on"),
        (lambda: validate(seed=None), "seed=None does not work"),
        (lambda: validate(jobs=0), "jobs=0 does not work; give the number of processes, or -1 for all cores"),
        (lambda: validate(stratified="yes"), "stratified='yes' does not work; give True, False or 'auto'"),
        (lambda: validate(LinearRegression(), stratified=True), "stratified=True is for classes, and y holds numbers"),
        (
            lambda: validate(how="leave-one-out", stratified=True),
            "stratified=True does not go with leave-one-out; leave it out, or give a number of folds",
        ),
        (
            lambda: validate(how=0.2, stratified=True, groups=np.arange(20)),
            "stratified=True does not go with hold-out 20%, whole groups; leave it out",
        ),
        (
            lambda: validate(X=pd.DataFrame(X), y=pd.Series(Y)[::-1]),
            "y and X are pandas objects whose indexes disagree; align them first (reindex), or pass .to_numpy()",
        ),
        (lambda: validate(groups=[1, 2] * 10), "groups stay whole, and there are 5 folds but 2 groups; give fewer"),
        (lambda: validate(groups=[1] * 20, how=0.2), "there are 2 folds but 1 group; give"),
        (lambda: validate(groups=[1] * 19), "groups has 19 rows but X has 20; give one value per row of X"),
        (lambda: validate(weight=[1] * 19), "weight has 19 rows but X has 20"),
        (lambda: validate(weight=[-1] * 20), "weight is negative in 20 rows"),
        (lambda: validate(by=["a"]), "by has 1 row but X has 20"),
        (lambda: validate(y=Y[:-1]), "y has 19 rows but X has 20; give one value per row of X"),
        (
            lambda: validate(GaussianNB),
            "estimator is the class GaussianNB; give an object with fit, and with predict, ",
        ),
        (lambda: validate(GaussianNB), "predict_proba or decision_function: write GaussianNB()"),
        (lambda: validate("svc"), "estimator is a str; give an object with fit, and"),
        (
            lambda: validate(X=3),
            "X is a int, whose rows cannot be chosen; give an array, a list, a data frame or a sparse",
        ),
        (lambda: validate(X=range(20)), "X is a range, whose rows cannot be chosen; give"),
        (lambda: validate(X=memoryview(np.arange(20.0))), "X is a memoryview, whose rows cannot be chosen; give"),
        (lambda: validate(X=pa.table({"a": np.arange(20.0)})), "X is a Table, whose rows cannot be chosen; give"),
        (
            lambda: validate(X=np.array([[object()]] * 20)),
            "GaussianNB cannot be fitted to these rows (TypeError: float()",
        ),
        (lambda: validate(X=[[10**400]] * 20), "GaussianNB cannot be fitted to these rows (OverflowError: int"),
        (lambda: validate(X=np.ma.masked_array(X, X > 0)), "X is missing in"),
        (lambda: validate(y=np.ma.masked_array(Y, [1] + 19 * [0])), "y is missing in 1 row (the first is row 1"),
        (lambda: validate(y=sparse.coo_array(Y)), "y is a sparse matrix of shape (20,); give the values"),
        (
            lambda: validate(groups=sparse.coo_array(Y), missing="drop"),
            "groups is a sparse matrix of shape (20,); give",
        ),
        (lambda: validate(y=np.array(1)), "y is an array of shape (); give one value per row"),
        (
            lambda: validate(y=pd.Series(Y), weight=pd.Series(range(20))[::-1]),
            "weight and y are pandas objects whose indexes disagree",
        ),
        (lambda: validate(threshold="high"), "threshold='high' is not a number"),
        (lambda: validate(LinearRegression(), threshold=0.5), "threshold= is for the scores of two classes; leave it"),
        (lambda: validate(y=["a", "b"] * 10), "pass positive='b' or positive='a'"),
        (lambda: validate(y=[0, None] * 10), "y is missing in 10 rows (the first is row 2, counting from 1)"),
        (lambda: validate(task="ranking"), "task='ranking' is not known"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(call, words):
    with pytest.raises(stakes.InputError) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nothing_is_fitted_before_the_call_is_checked():
    class Never(GaussianNB):
        def fit(self, X, y):
            raise AssertionError("fitted")

    for options in ({"weight": [1]}, {"by": [1]}, {"threshold": "x"}, {"how": 21}, {"groups": [1]}):
        with pytest.raises(stakes.InputError):
            validate(Never(), **options)


def test_without_scikit_learn(monkeypatch):
    importing = builtins.__import__

    def without(name, *rest, **more):
        if name.partition(".")[0] == "sklearn":
            raise ImportError(name)
        return importing(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(stakes.UnableError, match="scikit-learn, which is missing; pip install scikit-learn"):
        stakes.validate(GaussianNB(), X, Y)
