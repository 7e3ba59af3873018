"""Metrics by the names that other libraries and papers give them."""

import numpy as np
import pytest
import sklearn.metrics as sk

import stakes
from stakes import metrics

Y = np.array([0, 1, 1, 0, 1, 0, 1, 1, 0, 0])
D = np.array([0, 1, 0, 0, 1, 1, 1, 1, 0, 1])
P = np.array([0.2, 0.8, 0.45, 0.4, 0.9, 0.55, 0.7, 0.6, 0.1, 0.5])
THREE = np.array([0, 1, 2, 0, 1, 2, 2, 1, 0, 2])
SAID = np.array([0, 1, 1, 0, 2, 2, 2, 1, 1, 2])
SCORES = np.random.default_rng(0).dirichlet([1, 1, 1], 10)


@pytest.mark.parametrize(
    ("name", "declared"),
    {
        "acc": "accuracy",
        "ACC": "accuracy",
        "ba": "balanced_accuracy",
        "bm": "informedness",
        "mk": "markedness",
        "fm": "fowlkes_mallows",
        "pt": "prevalence_threshold",
        "lr+": "positive_likelihood_ratio",
        "LR-": "negative_likelihood_ratio",
        "PLR": "positive_likelihood_ratio",
        "medae": "median_absolute_error",
        "mad": "median_absolute_error",
        "AUC": "auc",
        "ROC-AUC": "auc",
        "roc auc": "auc",
        "roc_auc_score": "auc",
        "matthews_corrcoef": "mcc",
        "brier_score_loss": "brier_score",
        "F2": "f_beta",
        "f0.5_score": "f_beta(beta=0.5)",
        "f_3": "f_beta(beta=3.0)",
        "f1_macro": "macro_f1",
        "recall_weighted": "weighted_recall",
        "roc_auc_ovo": "hand_till_auc",
        "roc_auc_ovr": "macro_auc",
        "roc_auc_ovr_weighted": "weighted_auc",
    }.items(),
)
def test_other_names_are_understood(name, declared):
    assert metrics.find(name).text == metrics.find(declared).text == declared


def understood(name):
    """The metric of that name; None where an error of one line says what to ask for."""
    try:
        return metrics.find(name)
    except stakes.InputError as problem:
        told = str(problem)
    if name.startswith("neg_") and "; ask for " in told:
        assert metrics.find(told.rpartition("; ask for ")[2]).better == "lower"
    else:
        assert told.startswith("there is no ")
    return None


@pytest.mark.parametrize("name", sk.get_scorer_names())
def test_names_of_scorers_are_found_or_translated_in_one_line(name):
    """A figure under a name of scikit-learn's is the same number."""
    metric = understood(name)
    if metric is None:
        return
    scorer = sk.get_scorer(name)
    if metric.tally is stakes.tallies.ErrorSums:
        truth, said = Y + 0.5, P
    elif metric.tally is stakes.tallies.ClassScores or metric.name in ("macro_auc", "weighted_auc"):
        truth, said = THREE, SCORES
    elif metric.tally is stakes.tallies.ScoreTable:
        truth, said = Y, P
    else:
        truth, said = (THREE, SAID) if metric.many and "_" in name else (Y, D)
    found = metric(truth, said, **({"classes": [0, 1, 2]} if np.ndim(said) == 2 else {}))
    assert found == pytest.approx(scorer._score_func(truth, said, **scorer._kwargs), rel=1e-12)


def test_columns_may_be_named():
    expected = sk.precision_score(Y, D)
    assert metrics.precision(truth=Y, prediction=D) == expected
    assert metrics.precision(prediction=D, truth=Y) == metrics.precision(D, truth=Y) == expected
    assert metrics.precision(Y, prediction=D) == expected != metrics.precision(D, Y)
    assert metrics.auc(truth=Y, score=P) == sk.roc_auc_score(Y, P)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"y_true": Y}, "f1 has no parameter 'y_true'; here it is called truth=; pass that"),
        ({"y_pred": D}, "f1 has no parameter 'y_pred'; here it is called prediction=; pass that"),
        ({"sample_weight": Y}, "f1 has no parameter 'sample_weight'; here it is called weight=; pass that"),
        ({"pos_label": 1}, "f1 has no parameter 'pos_label'; here it is called positive=; pass that"),
        ({"labels": [0, 1]}, "f1 has no parameter 'labels'; here it is called classes=; pass that"),
        ({"average": "macro"}, "f1 has no parameter 'average'; each average is a figure of its own, such as macro_f1"),
        ({"zero_division": 0}, "f1 has no parameter 'zero_division'; a figure that has no value is NaN"),
    ],
)
def test_words_of_other_libraries_are_translated(options, words):
    with pytest.raises(stakes.InputError) as caught:
        metrics.f1(Y, D, **options)
    assert str(caught.value).startswith(words)


def test_options_of_other_libraries_are_translated():
    for given, ours in {
        "y_true": "truth",
        "y_score": "score",
        "sample_weight": "weight",
        "random_state": "seed",
    }.items():
        with pytest.raises(stakes.InputError) as caught:
            stakes.evaluate(**{given: Y})
        assert str(caught.value) == f"evaluate() has no option {given!r}; here it is called {ours}=; pass that"
        assert [one.name for one in caught.value.advice] == [ours]
    with pytest.raises(stakes.InputError, match=r"compare\(\) has no option 'y_score'; here it is called scores="):
        stakes.compare(truth=Y, y_score=P)
    with pytest.raises(stakes.InputError, match="each average is a figure of its own, such as macro_f1"):
        stakes.evaluate(truth=Y, score=P, average="macro")
