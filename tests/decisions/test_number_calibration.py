"""Calibration of predicted numbers, against scikit-learn's isotonic regression and linear programs."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import mean_pinball_loss, mean_squared_error

import stakes
from stakes.decisions.calibration.numbers import rising_quantiles

PARTS = ("score", "miscalibration", "discrimination", "uncertainty")


def rows(n=200, seed=0, decimals=1):
    rng = np.random.default_rng(seed)
    prediction = np.round(rng.normal(size=n), decimals)  # ties among the predictions
    return 2 * prediction + rng.normal(size=n), prediction, rng.choice([0.5, 1.0, 3.0], n)


def calibration(truth, prediction, **more):
    return stakes.evaluate(truth=truth, prediction=prediction, task="regression", **more).calibration


def parts(found):
    return [getattr(found, name).value for name in PARTS]


def test_the_parts_of_four_rows_are_those_that_were_published():
    """The example of model-diagnostics' decompose(): 0.75 = 0.625 − 0.125 + 0.25."""
    found = calibration([0, 0, 1, 1], [-1, 1, 1, 2])
    assert parts(found.squared_error) == [0.75, 0.625, 0.125, 0.25]
    assert parts(found.quantile_loss(0.5)) == [0.375, 0.25, 0.125, 0.25]  # half of the absolute errors, by hand


@pytest.mark.parametrize("weighted", [False, True])
def test_squared_errors_are_taken_apart_by_isotonic_regression(weighted):
    truth, prediction, weight = rows()
    w = weight if weighted else None
    curve = IsotonicRegression().fit(prediction, truth, w).predict(prediction)
    score, best = (mean_squared_error(truth, p, sample_weight=w) for p in (prediction, curve))
    ignorant = np.average((truth - np.average(truth, weights=w)) ** 2, weights=w)
    found = calibration(truth, prediction, weight=w)
    assert parts(found.squared_error) == pytest.approx([score, score - best, ignorant - best, ignorant])
    reliability = found.reliability()
    at = np.interp(prediction, reliability.prediction, reliability.truth)
    assert at == pytest.approx(curve, abs=1e-12)


def lowest_loss(truth, weight, starts, alpha):
    """The loss of the best rising quantiles, by a linear program over levels, and errors to either side."""
    n, k = len(truth), len(starts)
    run = np.searchsorted(starts, np.arange(n), side="right") - 1
    level = np.zeros((n, k))
    level[np.arange(n), run] = 1
    cost = np.concatenate([np.zeros(k), alpha * weight, (1 - alpha) * weight])
    equal = np.hstack([level, np.eye(n), -np.eye(n)])
    falls = np.hstack([np.eye(k)[:-1] - np.eye(k)[1:], np.zeros((k - 1, 2 * n))])
    bounds = [(None, None)] * k + [(0, None)] * (2 * n)
    return linprog(cost, falls, np.zeros(k - 1), equal, truth, bounds).fun / weight.sum()


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.73])
@pytest.mark.parametrize("seed", range(3))
def test_quantile_losses_are_taken_apart_by_the_best_rising_quantiles(alpha, seed):
    truth, prediction, weight = rows(60, seed)
    order = np.argsort(prediction, kind="stable")
    starts = np.append(0, np.flatnonzero(np.diff(prediction[order])) + 1)
    curve = rising_quantiles(truth[order], weight[order], starts, alpha)
    assert (np.diff(curve) >= 0).all()
    best = lowest_loss(truth[order], weight[order], starts, alpha)
    found = calibration(truth, prediction, weight=weight).quantile_loss(alpha)
    constants = [mean_pinball_loss(truth, np.full(60, t), sample_weight=weight, alpha=alpha) for t in truth]
    score, ignorant = mean_pinball_loss(truth, prediction, sample_weight=weight, alpha=alpha), min(constants)
    assert parts(found) == pytest.approx([score, score - best, ignorant - best, ignorant])


def test_bins_have_the_mean_truth_of_equally_many_rows():
    truth, prediction, _ = rows(200, decimals=9)
    found = calibration(truth, prediction)
    bins = found.reliability(bins=5).bins
    fifths = np.array_split(np.argsort(prediction), 5)
    assert bins.mean_truth == pytest.approx([truth[part].mean() for part in fifths])
    assert bins.mean_prediction == pytest.approx([prediction[part].mean() for part in fifths])
    assert bins.rows.tolist() == [40] * 5
    error = [(truth - prediction)[part].std(ddof=1) / 40**0.5 for part in fifths]
    assert (bins.high - bins.low) / 2 == pytest.approx(2.022691 * np.array(error), rel=1e-6)
    assert "miscalibration" in str(found)
    assert found.to_dict()["squared_error"]["score"]["name"] == "mean_squared_error"
    assert len(found.to_rows()) == 10


def test_the_score_has_the_interval_of_the_figure_also_with_clusters():
    truth, prediction, _ = rows()
    ev = stakes.evaluate(truth=truth, prediction=prediction, task="regression", cluster=np.arange(200) // 4)
    score = ev.calibration.squared_error.score
    assert (score.low, score.high) == pytest.approx((ev["mse"].low, ev["mse"].high), rel=1e-14)
    assert np.isnan(ev.calibration.reliability().bins.low).all()
    assert ev.plots == ("predicted", "residuals", "reliability")
    assert len(ev.plot("reliability").artists["bins"].lines[0].get_xdata()) == 10


def test_what_cannot_be_asked():
    truth, prediction, _ = rows(30)
    found = calibration(truth, prediction)
    with pytest.raises(stakes.InputError, match=r"pinball\(alpha=2\) does not work"):
        found.quantile_loss(2)
    with pytest.raises(stakes.InputError, match="bins=0 does not work"):
        found.reliability(0)
    gone = stakes.load(save(stakes.count(truth=truth, prediction=prediction, task="regression")))
    with pytest.raises(stakes.InputError, match="calibration needs rows: the rows were not kept"):
        _ = stakes.Evaluation(gone).calibration


def save(counted):
    import tempfile

    with tempfile.NamedTemporaryFile(suffix=".tally", delete=False) as file:
        counted.save(file.name)
    return file.name


def test_it_draws_itself_as_the_evaluation_does():
    ev = stakes.evaluate(truth=[1.5, 2, 4, 3], prediction=[1.0, 2, 3, 3.5])
    own, whole = ev.calibration.plot(bins=2), ev.plot("reliability", bins=2)
    assert own.kind == "reliability"
    assert own.artists["curve"].get_xydata().tolist() == whole.artists["curve"].get_xydata().tolist()


def test_rows_of_the_same_prediction_are_in_one_bin():
    bins = (
        stakes.evaluate(truth=[0.0, 0, 1, 1], prediction=[-1.0, 1, 1, 2], task="regression")
        .calibration.reliability()
        .bins
    )
    assert bins.mean_prediction.tolist() == [-1, 1, 2]
    assert bins.mean_truth.tolist() == [0, 0.5, 1]
    assert bins.rows.tolist() == [1, 2, 1]
