"""Columns and scores in the shapes that people have them in."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, roc_auc_score

import stakes
from stakes import metrics

Y, P = np.array([0, 1, 1, 0, 1]), np.array([0.2, 0.8, 0.6, 0.4, 0.3])
THREE = np.array([0, 1, 2, 1, 0, 2])
SCORES = np.array(
    [[0.5, 0.3, 0.2], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6], [0.4, 0.4, 0.2], [0.3, 0.3, 0.4], [0.2, 0.4, 0.4]]
)


def test_a_column_of_one_is_a_column():
    expected = stakes.evaluate(truth=Y, score=P)["auc"]
    assert stakes.evaluate(truth=Y[:, None], score=P[:, None])["auc"] == expected
    frame = pd.DataFrame({"y": Y, "p": P})
    assert stakes.evaluate(truth=frame[["y"]], score=frame[["p"]])["auc"] == expected
    assert stakes.evaluate(truth=[[y] for y in Y.tolist()], score=[[p] for p in P.tolist()])["auc"] == expected
    assert stakes.evaluate(truth=[(y,) for y in "abab"], prediction=[[y] for y in "abba"])["accuracy"].value == 0.5


@pytest.mark.parametrize("kind", [np.int64, np.uint8])
def test_numbered_classes_need_no_names_for_their_columns(kind):
    found = stakes.evaluate(truth=THREE.astype(kind), score=SCORES)
    assert found["macro_auc"] == stakes.evaluate(truth=THREE, score=SCORES, classes=[0, 1, 2])["macro_auc"]
    both = np.column_stack([1 - P, P])
    assert stakes.evaluate(truth=Y, score=both)["auc"].value == 5 / 6
    assert stakes.evaluate(truth=Y == 1, score=both)["auc"].value == 5 / 6
    assert metrics.macro_auc(THREE, SCORES) == pytest.approx(roc_auc_score(THREE, SCORES, multi_class="ovr"))


def test_columns_whose_order_cannot_be_known_are_asked_for():
    with pytest.raises(stakes.InputError, match="pass classes= in the order of its 3 columns"):
        stakes.evaluate(truth=list("abcbac"), score=SCORES)
    for truth in (THREE - 1, THREE + 1, np.minimum(THREE, 1), np.maximum(THREE, 1)):
        with pytest.raises(stakes.InputError, match="pass classes="):
            stakes.evaluate(truth=truth, score=SCORES)
    with pytest.raises(stakes.InputError, match="score has no column for the class '2'; every class needs one"):
        stakes.evaluate(truth=THREE, score=SCORES[:, :2])
    with pytest.raises(
        stakes.InputError, match=r"score has 2 columns for 3 classes \('a', 'b' and 'c'\); give one for"
    ):
        stakes.evaluate(truth=list("abcb"), score=[[0.2, 0.8], [0.5, 0.5], [0.6, 0.4], [0.7, 0.3]])


def test_the_first_of_several_that_tie_is_decided_and_counts_as_first():
    found = stakes.evaluate(truth=THREE, score=SCORES)
    assert metrics.top_k_accuracy(THREE, SCORES, k=1) == found["accuracy"].value
    assert found["accuracy"].value == accuracy_score(THREE, SCORES.argmax(axis=1)) == 3 / 6
    assert metrics.top_k_accuracy(THREE, SCORES, k=3) == 1
    rng = np.random.default_rng(0)
    tied = rng.integers(0, 3, (500, 4)) / 2
    truth = rng.integers(0, 4, 500)
    with pytest.warns(stakes.InputWarning, match="do not add up to 1"):
        assert metrics.top_k_accuracy(truth, tied, k=1) == accuracy_score(truth, tied.argmax(axis=1))


def test_scores_that_do_not_add_up_order_the_rows():
    """One against the rest: each class has a score of its own."""
    uneven = np.random.default_rng(1).random((60, 3))
    truth = np.arange(60) % 3
    with pytest.warns(stakes.InputWarning, match=r"do not add up to 1 .*; they order the rows, and have no losses of"):
        found = stakes.evaluate(truth=truth, score=uneven)
    aucs = [roc_auc_score(truth == k, uneven[:, k]) for k in range(3)]
    assert found["macro_auc"].value == pytest.approx(np.mean(aucs), rel=1e-12)
    assert found["hand_till_auc"].defined
    assert found["accuracy"].value == accuracy_score(truth, uneven.argmax(axis=1))
    assert found["multiclass_log_loss"].reason.startswith(
        "the scores are no probabilities: they lie outside [0, 1], or"
    )
    costs = stakes.Costs(np.ones((3, 3)) - np.eye(3), classes=[0, 1, 2])
    with pytest.raises(stakes.InputError, match=r"do not add up to 1 .*divide each row by its sum"):
        stakes.evaluate(truth=truth, score=uneven, costs=costs)


def test_figures_of_several_classes_work_with_two():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 60)
    score = np.clip(rng.normal(0.3 + 0.4 * truth, 0.25), 0.01, 0.99)
    both, named = np.column_stack([1 - score, score]), np.array(["a", "b"])[truth]
    expected = {
        "multiclass_log_loss": log_loss(truth, both),
        "multiclass_brier_score": 2 * brier_score_loss(truth, score),
        "hand_till_auc": roc_auc_score(truth, score),
        "macro_auc": roc_auc_score(truth, score),
        "top_k_accuracy(k=1)": np.mean((score > 0.5) == truth),
    }
    for name, value in expected.items():
        metric = stakes.metrics.find(name)
        assert metric(truth, both) == pytest.approx(value, rel=1e-14)
        assert metric(named, {"b": score, "a": 1 - score}) == pytest.approx(value, rel=1e-14)
    two = stakes.evaluate(truth=named, score=both, classes=["a", "b"], positive="b")
    for name, plain in {"macro_auc": "auc", "multiclass_log_loss": "log_loss"}.items():
        assert two[name] == two[plain]


@pytest.mark.parametrize(
    "name",
    [
        "macro_auc",
        "weighted_auc",
        "hand_till_auc",
        "macro_gini",
        "multiclass_log_loss",
        "normalised_multiclass_log_loss",
        "normalised_multiclass_brier_score",
    ],
)
def test_figures_of_several_classes_have_their_value_for_two(name):
    scores = np.array([0.1, 0.8, 0.6, 0.3, 0.5])
    truth, both = np.array([0, 1, 1, 0, 0]), np.column_stack([1 - scores, scores])
    found = stakes.evaluate(truth=truth, score=scores)
    assert found[name].value == pytest.approx(float(metrics.find(name)(truth, both)))
    pair = stakes.compare(truth=truth, scores={"a": scores, "b": 1 - scores}, metric=name).pairs[0]
    assert np.isfinite(pair.difference)
