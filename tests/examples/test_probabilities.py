"""Losses and what calibration could save of them, worked out again with scikit-learn."""

import re

import numpy as np
import pytest
from sklearn.calibration import _SigmoidCalibration
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss

from tests.examples import ran

pytestmark = pytest.mark.slow


def sigmoid(score, truth, new):
    return _SigmoidCalibration().fit(score, truth).predict(new)


def isotonic(score, truth, new):
    """As scikit-learn draws the curve, half a row of n + 1 away from 0 and 1."""
    least = 0.5 / (len(score) + 1)
    return np.clip(IsotonicRegression(out_of_bounds="clip").fit(score, truth).predict(new), least, 1 - least)


def out_of_fold(calibrate, p, truth):
    """Recalibrate in five folds to which the rows of each class were dealt like cards."""
    shuffled = np.random.default_rng(0).permutation(len(truth))
    order = np.concatenate([shuffled[truth[shuffled] == label] for label in (0, 1)])
    fold = np.empty(len(truth), int)
    fold[order] = np.arange(len(truth)) % 5
    found = np.empty(len(truth))
    for here in range(5):
        found[fold == here] = calibrate(p[fold != here], truth[fold != here], p[fold == here])
    return found


def unclipped_log_loss(truth, p):
    """Infinite as soon as something happens that was called impossible."""
    return np.inf if (p == 1 - truth).any() else log_loss(truth, p)


def best_rising(p, truth):
    """The probabilities that the best rising curve through these very rows would say."""
    return IsotonicRegression().fit(p, truth).predict(p)


def test_recalibration():
    text, variables = ran("probabilities/recalibration")
    said, truth = variables["said"], variables["truth"]  # as scikit-learn's models say it
    lines = re.findall(r"^(\w+ \w+) +(as said|sigmoid|isotonic) +(.*)$", text, re.M)
    shown = {(name, way): [float(number) for number in numbers.split()] for name, way, numbers in lines}
    bins = np.digitize(said["naive Bayes"], np.arange(1, 10) / 10)
    gaps = [abs(np.sum((truth - said["naive Bayes"])[bins == one])) for one in range(10)]
    assert f"naive Bayes lies {sum(gaps) / len(truth):.3f} beside the frequencies" in text
    for name, p in said.items():
        ways = {"as said": p, **{one.__name__: out_of_fold(one, p, truth) for one in (sigmoid, isotonic)}}
        for way, q in ways.items():
            rising = best_rising(q, truth)
            brier, loss = brier_score_loss(truth, q), unclipped_log_loss(truth, q)
            avoidable = brier - brier_score_loss(truth, rising), loss - log_loss(truth, rising)
            expected = [brier, avoidable[0], loss, avoidable[1]]
            assert shown[name, way][:4] == pytest.approx(expected, abs=6e-5), (name, way)

    # what the last lines of the example say
    honest = {which: numbers[4] > 0.05 for which, numbers in shown.items()}
    assert 0.004 < shown["logistic regression", "as said"][4] < 0.06  # on the border
    assert shown["logistic regression", "sigmoid"] > shown["logistic regression", "as said"]
    assert not honest["support vectors", "as said"]
    assert honest["support vectors", "sigmoid"]
    assert [honest["naive Bayes", way] for way in ("as said", "sigmoid", "isotonic")] == [False, False, True]
    assert np.isinf(shown["random forest", "as said"][2])
    assert np.isfinite(shown["random forest", "isotonic"][2])


def test_ten_classes():
    text, variables = ran("probabilities/many_classes")
    p, truth = variables["p"], variables["truth"]
    losses = variables["found"].losses_before
    assert losses["multiclass_log_loss"] == pytest.approx(log_loss(truth, p), rel=1e-9)
    wrong = 1000 * np.mean(p.argmax(1) != truth)
    assert f" of {wrong:,.2f} per 1,000 cases" in text
    assert "temperature scaling saves nothing beyond chance" in text  # it moves no maximum
    rare, frequent = map(float, re.search(r"were rare (\S+), of the others (\S+)", text).groups())
    assert rare > 2 > -2 > frequent
