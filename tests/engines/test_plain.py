"""Plain arrays take a short way to the same figures; what is unusual or wrong is told by the long one."""

import math
import warnings

import numpy as np
import pytest

import stakes
from stakes.engines.plain import count_plain, mean_of_plain
from stakes.metrics.declare import CATALOGUE
from stakes.tallies import Confusion, ErrorSums, ScoreTable
from stakes.tallies.moments import UnusualNumbersError

RNG = np.random.default_rng(5)
N = 300
TRUTH, DECIDED, SCORE = RNG.integers(0, 2, N), RNG.integers(0, 2, N), np.round(RNG.random(N), 2)
NUMBERS = 1e6 + RNG.normal(size=N)
PREDICTED = NUMBERS + RNG.normal(size=N)
COLUMNS = {Confusion: (TRUTH, DECIDED), ScoreTable: (TRUTH, SCORE), ErrorSums: (NUMBERS, PREDICTED)}
NEEDED = {"expected_cost": {"miss": 5, "false_alarm": 1}}


def figure(metric, truth, output, **more):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            return metric(truth, output, **NEEDED.get(metric.name, {}), **more), [str(one.message) for one in told]
        except stakes.InputError as problem:
            return problem.code, str(problem)


def same(one, other):
    (a, words), (b, others) = one, other
    return words == others and (a == b or (math.isnan(a) and math.isnan(b)))


@pytest.mark.parametrize("name", [name for name, metric in CATALOGUE.items() if metric.tally in COLUMNS])
def test_both_ways_give_the_same_bytes(name):
    metric = CATALOGUE[name]
    truth, output = COLUMNS[metric.tally]
    assert count_plain(metric.tally, truth, output, metric.parts) is not None
    assert same(figure(metric, truth, output), figure(metric, truth.tolist(), output.tolist()))


@pytest.mark.parametrize("name", ["f1", "auc", "average_precision", "mae", "rmse", "r2", "pearson", "mad"])
def test_weights_give_the_same_bytes_either_way(name):
    metric, weight = stakes.metrics.find(name), RNG.uniform(0.5, 2.0, N)
    truth, output = COLUMNS[metric.tally]
    assert count_plain(metric.tally, truth, output, metric.parts, weight).weighted
    assert same(figure(metric, truth, output, weight=weight), figure(metric, truth, output, weight=weight.tolist()))


@pytest.mark.parametrize("name", ["brier_score", "log_loss"])
def test_weighted_means_over_rows_need_no_order(name):
    metric, weight = stakes.metrics.find(name), RNG.uniform(0.5, 2.0, N)
    score = SCORE.clip(0.01, 0.99)
    assert mean_of_plain(metric.row_losses, TRUTH, score, weight) is not None
    assert figure(metric, TRUTH, score, weight=weight)[0] == pytest.approx(
        figure(metric, TRUTH, score, weight=weight.tolist())[0], rel=1e-14
    )
    for odd in (1.5, -0.1, math.nan):
        beyond = np.append(score[1:], odd)
        assert mean_of_plain(metric.row_losses, TRUTH, beyond, weight) is None
        assert same(*(figure(metric, TRUTH, beyond, weight=one) for one in (weight, weight.tolist())))


@pytest.mark.parametrize("name", ["brier_score", "log_loss", "mean_probability_error"])
def test_means_over_many_rows_need_no_order(name):
    metric, many = stakes.metrics.find(name), 100_000
    score = RNG.random(many)
    truth = (RNG.random(many) < score).astype(int)
    assert mean_of_plain(metric.row_losses, truth[:N], score[:N], None) is None
    assert mean_of_plain(metric.row_losses, truth, score, None) is not None
    assert metric(truth, score) == pytest.approx(stakes.evaluate(truth=truth, score=score)[name].value, rel=1e-14)


@pytest.mark.parametrize("name", ["net_benefit", "soft_cost"])
def test_what_a_mean_of_weighted_rows_lacks_is_told(name):
    metric = stakes.metrics.find(name)
    assert same(*(figure(metric, TRUTH, SCORE, weight=one) for one in (np.ones(N), [1.0] * N)))


@pytest.mark.parametrize("wrong", [0.0, -1.0, math.nan, math.inf, 1e200])
def test_unusual_weights_are_looked_at_the_long_way(wrong):
    weight = np.append(np.ones(N - 1), wrong)
    if wrong > 1:  # which shows once they are added up
        with pytest.raises(UnusualNumbersError):
            _ = count_plain(ErrorSums, NUMBERS, PREDICTED, (), weight).sum_of(a=1)
    else:
        assert count_plain(ErrorSums, NUMBERS, PREDICTED, (), weight) is None
    way = [figure(stakes.metrics.mae, NUMBERS, PREDICTED, weight=one) for one in (weight, weight.tolist())]
    assert same(*way)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.uint64, np.float16, np.float32, ">i4", bool])
@pytest.mark.parametrize("name", ["f1", "auc", "mean_squared_error"])
def test_any_kind_of_number_will_do(name, kind):
    metric = CATALOGUE[name]
    truth, output = (TRUTH, DECIDED) if name != "auc" else (TRUTH, SCORE)
    assert metric(truth.astype(kind), output) == metric(truth.tolist(), output.tolist())


@pytest.mark.parametrize(
    ("name", "truth", "output"),
    [
        ("mae", [1.0, math.nan], [1.0, 2.0]),
        ("mae", [1.0, 2.0], [1.0, math.inf]),
        ("mae", [1e308, -1e308], [-1e308, 1e308]),
        ("mae", [1.0, 2.0], [1.0]),
        ("mae", [], []),
        ("mae", [[1.0, 2.0], [1.0, 2.0]], [1.0, 2.0]),
        ("f1", [0, 1, 2], [0, 1, 1]),
        ("f1", [0.5, 1], [0, 1]),
        ("f1", [1, 1], [1, 1]),
        ("auc", [0, 1], [0.5, math.nan]),
        ("auc", [1, 1], [0.5, 0.5]),
        ("auc", [2, 3], [0.5, 0.5]),
        ("log_loss", [0, 1], [0.5, 1.5]),
        ("multiclass_log_loss", [0, 1, 2], [0.5, 0.5, 0.5]),
    ],
)
def test_what_is_wrong_is_told_in_the_same_words(name, truth, output):
    metric = stakes.metrics.find(name)
    arrays = figure(metric, np.array(truth), np.array(output))
    if np.ndim(truth) == 1:
        assert same(arrays, figure(metric, truth, output))
    assert isinstance(arrays[0], str) or math.isnan(arrays[0]) or name == "f1"


def test_the_truth_as_its_own_prediction_is_pointed_out():
    with pytest.warns(UserWarning, match="same column"):
        stakes.metrics.mae(NUMBERS, NUMBERS)


@pytest.mark.parametrize("kind", [float, np.float32, int, np.uint8])
def test_sums_that_wait_are_those_that_do_not(kind):
    truth, predicted = 1e3 * RNG.random((2, 70_001))
    truth, predicted = truth.astype(kind), predicted.astype(kind)
    at_once, later = ErrorSums.from_rows(truth, predicted), ErrorSums.on_demand(truth, predicted, ("prediction",))
    assert all(at_once.moments[power] == later.moments[power] for power in later.moments)
    assert [at_once.spread(*pair) == later.spread(*pair) for pair in ("t", "e", "tp")] == [True] * 3
    assert at_once.median == np.median(np.abs(truth.astype(float) - predicted.astype(float)))


@pytest.mark.parametrize("scale", [1e-200, 1e150, 0.0])
@pytest.mark.parametrize("name", ["mae", "mse", "rmse", "r2", "pearson", "medae", "max_error"])
def test_unusual_numbers_go_the_long_way(name, scale):
    metric, truth, predicted = stakes.metrics.find(name), scale * RNG.normal(size=50), scale * RNG.normal(size=50)
    assert same(figure(metric, truth, predicted), figure(metric, truth.tolist(), predicted.tolist()))
    predicted[3] = math.nan
    assert figure(metric, truth, predicted)[0] == "missing-values"
