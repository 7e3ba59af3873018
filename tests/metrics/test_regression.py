"""Predicted numbers: exact arithmetic, scikit-learn, scipy, and input that breaks naive formulas."""

import json
import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics as sk
from hypothesis import given
from hypothesis import strategies as st

import stakes
from stakes.tallies import ErrorSums, bins, error_sums
from tests import exact
from tests.parts import Lazily, examples

eval_measures = Lazily("statsmodels.tools.eval_measures")

m = stakes.metrics
METRICS = [metric for metric in m.catalogue() if metric.tally is ErrorSums]
each = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)

value = st.integers(-8, 40).map(lambda v: v / 4) | st.floats(-0.9, 1e3).map(lambda v: round(v, 6))
pairs = st.lists(st.tuples(value, value), min_size=1, max_size=12)


def sums_of(rows, **options) -> ErrorSums:
    truth, prediction = (np.array(column, float) for column in zip(*rows, strict=True))
    return ErrorSums.from_rows(truth, prediction, **options)


def names_of(rows, baseline=None, **parameters):
    rows = [(Fraction(t), Fraction(p)) for t, p in rows]
    truths, predictions = [t for t, _ in rows], [p for _, p in rows]
    n = len(rows)

    def covariance(a, b):
        return sum(x * y for x, y in zip(a, b, strict=True)) - sum(a) * sum(b) / n

    return {
        "rows": rows,
        "n": n,
        "truths": truths,
        "predictions": predictions,
        "errors": [t - p for t, p in rows],
        "covariance": covariance,
        "median": statistics.median,
        "b": Fraction(float(sum(truths) / n)) if baseline is None else Fraction(baseline),
        "log": lambda x: math.log1p(float(x - 1)),
        **{k: Fraction(v) for k, v in parameters.items()},
    }


def close(a, b, tolerance=1e-10) -> bool:
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= tolerance * max(1e-3, abs(a), abs(b))


@each
@examples(100)
@given(rows=pairs)
def test_a_figure_is_its_formula_on_fractions(metric, rows):
    sums = sums_of(rows)
    found = metric.of(sums)
    if math.isnan(found):
        assert metric.why_undefined(sums)
        return
    assert close(found, float(exact.run(metric.formula, names_of(rows, **metric.parameters))), 1e-9)


LAWS = [(metric, law) for metric in METRICS for law in metric.laws]


@pytest.mark.parametrize(("metric", "law"), LAWS, ids=[law for _, law in LAWS])
@examples(60)
@given(rows=pairs)
def test_laws_hold(metric, law, rows):
    names = {other.name: other.of(sums_of(rows)) for other in METRICS}
    left, _, right = law.partition(" == " if " == " in law else " <= ")
    left, right = eval(left, {"abs": abs, **names}), eval(right, {"abs": abs, **names})
    if math.isfinite(left) and math.isfinite(right):
        assert close(left, right, 1e-8) or (" <= " in law and left <= right)


@each
@examples(40)
@given(rows=pairs, data=st.data())
def test_a_weight_of_two_is_a_row_twice(metric, rows, data):
    weights = data.draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows)))
    repeated = [row for row, w in zip(rows, weights, strict=True) for _ in range(w)]
    found = metric.of(sums_of(rows, weight=np.array(weights, float)))
    expected = metric.of(sums_of(repeated))
    assert close(found, expected, 1e-7)


def oracle_rae(t, p, w):
    constant = np.full(len(t), np.average(t, weights=w))
    return sk.mean_absolute_error(t, p, sample_weight=w) / sk.mean_absolute_error(t, constant, sample_weight=w)


def oracle_pinball(t, p, w):
    return sk.mean_pinball_loss(t, p, alpha=0.5, sample_weight=w)


def oracle_gini(t, p, w):
    """Twice the area over the polygon of shares; predictions here are all different."""
    w, order = np.ones(len(t)) if w is None else w, np.argsort(p)
    x, y = (np.append(0, np.cumsum(one[order]) / one.sum()) for one in (w, w * t))
    return 1 - 2 * np.trapezoid(y, x)


ORACLES = {
    "mean_absolute_error": lambda t, p, w: sk.mean_absolute_error(t, p, sample_weight=w),
    "mean_squared_error": lambda t, p, w: sk.mean_squared_error(t, p, sample_weight=w),
    "root_mean_squared_error": lambda t, p, w: sk.root_mean_squared_error(t, p, sample_weight=w),
    "median_absolute_error": lambda t, p, w: sk.median_absolute_error(t, p) if w is None else None,
    "max_error": lambda t, p, w: sk.max_error(t, p),
    "mean_error": lambda t, p, w: np.average(t - p, weights=w),
    "pearson": lambda t, p, w: scipy.stats.pearsonr(t, p).statistic if w is None else None,
    "r2": lambda t, p, w: sk.r2_score(t, p, sample_weight=w),
    "explained_variance": lambda t, p, w: sk.explained_variance_score(t, p, sample_weight=w),
    "relative_absolute_error": oracle_rae,
    "root_relative_squared_error": lambda t, p, w: math.sqrt(1 - sk.r2_score(t, p, sample_weight=w)),
    "mean_squared_log_error": lambda t, p, w: sk.mean_squared_log_error(t, p, sample_weight=w),
    "mean_absolute_percentage_error": lambda t, p, w: sk.mean_absolute_percentage_error(t, p, sample_weight=w),
    "pinball": oracle_pinball,
    "poisson_deviance": lambda t, p, w: sk.mean_poisson_deviance(t, p, sample_weight=w),
    "gamma_deviance": lambda t, p, w: sk.mean_gamma_deviance(t, p, sample_weight=w),
    "tweedie_deviance": lambda t, p, w: sk.mean_tweedie_deviance(t, p, sample_weight=w, power=1.5),
    "d2_poisson": lambda t, p, w: sk.d2_tweedie_score(t, p, sample_weight=w, power=1),
    "d2_gamma": lambda t, p, w: sk.d2_tweedie_score(t, p, sample_weight=w, power=2),
    "d2_tweedie": lambda t, p, w: sk.d2_tweedie_score(t, p, sample_weight=w, power=1.5),
    "lorenz_gini": oracle_gini,
}


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("weighted", [False, True])
def test_figures_agree_with_scikit_learn_and_scipy(seed, weighted):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 400))
    truth = rng.gamma(2, 10, size)
    prediction = truth * rng.uniform(0.5, 1.5, size)
    weight = rng.random(size) + 0.1 if weighted else None
    assert set(ORACLES) == {metric.name for metric in METRICS}
    for metric in METRICS:
        expected = ORACLES[metric.name](truth, prediction, weight)
        if expected is not None:
            assert metric(truth, prediction, weight=weight) == pytest.approx(expected, rel=1e-9), metric.name


@pytest.mark.parametrize("seed", range(5))
def test_figures_agree_with_statsmodels(seed):
    rng = np.random.default_rng(seed)
    truth, prediction = rng.normal(size=(2, 57)) * 9 + 3
    for name, theirs in {
        "mae": eval_measures.meanabs,
        "mse": eval_measures.mse,
        "rmse": eval_measures.rmse,
        "median_absolute_error": eval_measures.medianabs,
        "max_error": eval_measures.maxabs,
        "bias": eval_measures.bias,
    }.items():
        assert m.find(name)(truth, prediction) == pytest.approx(theirs(truth, prediction), rel=1e-12), name


def test_relative_errors_have_wekas_training_mean():
    """Worked by hand: truth 3, 5, 7; predictions 4, 5, 9; a training mean of 4."""
    truth, prediction = [3.0, 5, 7], [4.0, 5, 9]
    assert m.rae(truth, prediction, baseline=4) == pytest.approx((1 + 0 + 2) / (1 + 1 + 3))
    assert m.rrse(truth, prediction, baseline=4) == pytest.approx(math.sqrt((1 + 0 + 4) / (1 + 1 + 9)))
    assert m.rae(truth, prediction) == pytest.approx(3 / 4)
    ev = stakes.evaluate(truth=truth, prediction=prediction, baseline=4)
    assert ev["mae"].baseline == pytest.approx(5 / 3)
    assert ev["r2"].baseline == pytest.approx(1 - 11 / 8)


# ── where floating point goes wrong ──────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("offset", [0.0, 1e9, 1e12])
def test_r2_and_pearson_at_large_offsets(offset):
    rng = np.random.default_rng(1)
    truth = rng.normal(size=2000) + offset
    prediction = truth + rng.normal(size=2000)
    names = names_of(zip(truth.tolist(), prediction.tolist(), strict=True))
    for name in ("r2", "pearson", "explained_variance"):
        expected = float(exact.run(m.find(name).formula, names))
        assert m.find(name)(truth, prediction) == pytest.approx(expected, rel=1e-13)


def test_pearson_of_nearly_constant_predictions():
    rng = np.random.default_rng(2)
    truth = rng.normal(size=500) * 1e6
    prediction = 1e6 + rng.normal(size=500) * 1e-3 + truth * 1e-10
    names = names_of(zip(truth.tolist(), prediction.tolist(), strict=True))
    assert m.pearson(truth, prediction) == pytest.approx(float(exact.run(m.pearson.formula, names)), rel=1e-10)


def test_unsigned_and_extreme_integers():
    assert m.max_error(np.array([0], np.uint8), np.array([255], np.uint8)) == 255
    low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    assert m.median_absolute_error(np.array([low, high, 5]), np.array([high, low, 5])) == float(2**64 - 1)
    assert m.mae(np.array([high, high - 1]), np.array([high - 1, high - 1])) == 0.5
    assert m.mean_error(np.array([2**64 - 1], np.uint64), np.array([2**64 - 4], np.uint64)) == 3


def test_half_precision_and_huge_numbers():
    assert m.mse(np.array([60000, -60000], np.float16), np.array([0, 0], np.float16)) == float(np.float16(60000)) ** 2
    assert m.rmse(np.array([1e200, -1e200]), np.array([0.0, 0.0])) == 1e200
    assert m.mse(np.array([1e200]), np.array([0.0])) == math.inf
    assert m.rmse(np.array([1e-200, -1e-200]), np.array([0.0, 0.0])) == 1e-200
    assert m.r2(np.array([1e200, 2e200, 3e200]), np.array([1e200, 2e200, 2e200])) == pytest.approx(0.5)


def test_a_constant_target_has_no_r2_and_says_why():
    ev = stakes.evaluate(truth=[2.5, 2.5], prediction=[2.0, 3.0])
    assert ev["r2"].reason == "the truth is the same in every row"
    assert ev["pearson"].reason == "the truth is the same in every row"
    assert ev["rae"].value == math.inf
    perfect = stakes.evaluate(truth=[2.5, 2.5], prediction=[2.5, 2.5])
    assert perfect["rae"].reason == "neither the predictions nor the baseline are ever wrong"
    assert stakes.evaluate(truth=[1.5, 2], prediction=[3.0, 3.0])["pearson"].reason.startswith(
        "the prediction is the same"
    )
    assert (
        stakes.evaluate(truth=[-1.5, 2], prediction=[3.0, 3.5])["msle"].reason
        == "a truth or a prediction is −1 or less"
    )


# ── the tally ────────────────────────────────────────────────────────────────────────────────────────────────────
def test_sums_add_up_and_save_themselves():
    rng = np.random.default_rng(5)
    truth = rng.normal(size=200_000) * 3 + 7
    prediction = truth + rng.normal(size=200_000)
    whole = ErrorSums.from_rows(truth, prediction, baseline=7)
    parts = [ErrorSums.from_rows(truth[r], prediction[r], baseline=7) for r in (slice(0, 777), slice(777, None))]
    both = ErrorSums.sum(parts)
    for metric in METRICS:
        assert metric.of(both) == pytest.approx(metric.of(whole), rel=1e-12, nan_ok=True)
        assert metric.baseline_of(both) == pytest.approx(metric.baseline_of(whole), rel=1e-12, nan_ok=True)
    small = ErrorSums.from_rows(truth[:50], prediction[:50], rng.random(50))
    assert ErrorSums.from_dict(json.loads(json.dumps(small.to_dict()))) == small


def test_a_constant_truth_has_no_spread_whatever_the_weights():
    rng = np.random.default_rng(9)
    for size in (3, 100, 2552):
        truth, prediction, weight = np.full(size, -13.21), rng.normal(size=size), rng.random(size)
        ev = stakes.evaluate(truth=truth, prediction=prediction, weight=weight)
        assert ev["r2"].reason == "the truth is the same in every row"
    assert m.median_absolute_error([0.0] * 6, [1.0, 2, 3, 4, 5, 6.5], weight=[0.1] * 6) == 3.5
    straight = rng.normal(size=50)
    assert m.pearson(straight, straight * 3 + 1) <= 1


def test_rows_of_the_largest_errors_are_those_of_the_whole():
    truth = np.array([1.5, 2.5, 3, 4, 5, 60])
    prediction = np.array([1.5, 2, 3, 4, 5, 6.0])
    ev = stakes.evaluate(truth=truth, prediction=prediction, by=list("ababab"), weight=[0, 1, 1, 1, 1, 1])
    assert ev.largest_errors[0].row == 5
    assert ev.segments["b"].largest_errors[0].row == 5
    assert "in row 6: 6 was predicted" in str(ev)  # people count from 1, as errors do
    table = ev.to_markdown().split("Largest errors")[1].splitlines()
    assert next(line for line in table if "60" in line).split("|")[1].strip() == "6"


def test_parts_are_compared_with_the_mean_of_all_where_rows_were_kept():
    rows = [(1.0, 2.0), (3.0, 3.5), (7.0, 6.0), (9.0, 9.5)]
    parts = [sums_of(rows[:2]), sums_of(rows[2:])]
    whole, both = sums_of(rows), ErrorSums.sum(parts)
    for metric in (m.rae, m.rrse, m.mae, m.median_absolute_error):
        assert metric.of(both) == metric.of(whole)
        assert metric.baseline_of(both) == metric.baseline_of(whole)
    lean = ErrorSums.sum([sums_of(part, parts=("baseline",)) for part in (rows[:2], rows[2:])])
    assert m.rae.why_undefined(lean).startswith("parts were counted about different means")
    assert m.r2.of(lean) == m.r2.of(whole)
    with pytest.raises(stakes.InputError, match="the baseline is 'the mean' in one and 3"):
        _ = parts[0] + sums_of([(1.0, 2.0)], baseline=3.0)


@pytest.mark.parametrize(
    "damage", [{"rows": [[1.0], [2.0, 3.0], None]}, {"rows": [["a"], ["b"], None]}, {"moments": []}, {"largest": None}]
)
def test_damaged_sums_are_refused(damage):
    with pytest.raises(stakes.InputError, match="expected the dictionary of a tally, got a 'errors' whose content"):
        ErrorSums.from_dict({**sums_of([(1.0, 2.0), (3.0, 3.5)]).to_dict(), **damage})


def test_moments_up_to_order_four_are_those_of_the_rows():
    rng = np.random.default_rng(6)
    truth, prediction = rng.normal(size=(2, 300)) * 5 + 100
    sums = ErrorSums.from_rows(truth, prediction)
    error = truth - prediction
    for (a, e, t, p), found in sums.moments.items():
        expected = math.fsum(np.abs(error) ** a * error**e * truth**t * prediction**p)
        assert float(found) == pytest.approx(expected, rel=1e-9, abs=1e-6)
    assert {(0, 4, 0, 0), (0, 2, 2, 0), (1, 0, 3, 0), (0, 0, 4, 0)} <= set(sums.moments)


@examples(60)
@given(rows=pairs, split=st.integers(1, 11))
def test_the_picture_counts_every_row_in_its_cell(rows, split):
    whole = sums_of(rows)
    for low_t, low_p, count in whole.picture():
        inside = [(t, p) for t, p in rows if _in_bin(low_t, t) and _in_bin(low_p, p)]
        assert len(inside) == count
    assert sum(count for _, _, count in whole.picture()) == len(rows)
    parts = [part for part in (rows[:split], rows[split:]) if part]
    assert ErrorSums.sum([sums_of(part, baseline=1.0) for part in parts]).picture() == whole.picture()


def _in_bin(low: float, value: float) -> bool:
    """Bins are a thirty-second of a power of two wide, and closed below."""
    return (
        bins.edges(bins.numbers(np.array([value]), "line", 5), "line", 5)[0] == low
        and low <= value <= low + max(abs(low), abs(value)) / 16
    )


def test_a_lean_tally_says_what_it_lacks():
    lean = sums_of([(1.0, 2.0), (3.0, 3.5)], parts=())
    assert m.mae.of(lean) == 0.75
    assert m.r2.of(lean) == pytest.approx(1 - 1.25 / 2)
    for name in ("median_absolute_error", "pearson", "msle", "mape", "rae"):
        assert math.isnan(m.find(name).of(lean))
    assert m.median_absolute_error.why_undefined(lean) == "the tally was counted without its part 'rows'"
    assert math.isnan(m.mae.baseline_of(lean))


# ── the evaluation ───────────────────────────────────────────────────────────────────────────────────────────────
def test_an_evaluation_of_numbers():
    rng = np.random.default_rng(7)
    truth = rng.normal(size=100) * 10 + 50
    prediction = truth + rng.normal(size=100)
    prediction[17] += 90
    ev = stakes.evaluate(truth=truth, prediction=prediction, by=["a", "b"] * 50)
    assert len(ev.largest_errors) == 20
    assert ev.largest_errors[0].row == 17
    assert ev.largest_errors[0].error == truth[17] - prediction[17]
    sizes = [abs(w.error) for w in ev.largest_errors]
    assert sizes == sorted(np.abs(truth - prediction))[::-1][:20]
    assert "times the mean absolute error: a few large errors dominate" in " ".join(ev.notes)
    assert ev["mae"].baseline == pytest.approx(np.abs(truth - truth.mean()).mean())
    assert (ev["r2"].baseline, ev["bias"].baseline, ev["rae"].baseline) == (0, 0, 1)
    assert ev.segments["a"].rows == 50
    data = json.loads(ev.to_json())
    assert data["task"] == "regression"
    assert data["largest_errors"][0]["row"] == 18  # counted from 1, as in the text
    assert "Largest errors" in str(ev)
    with pytest.raises(
        stakes.InputError, match=r"auc is a figure of the scores of .* an evaluation of predicted numbers"
    ):
        ev["auc"]
    with pytest.raises(stakes.InputError, match="a curve is for scores of classes"):
        ev.curve("roc")
    with pytest.raises(stakes.InputError, match="a threshold is for the scores of two classes"):
        ev.at(0.5)
    assert repr(ev) == "<Evaluation of a regression, rows: 100>"


def test_predictions_that_are_shifted_are_pointed_out():
    truth = np.arange(20) / 2
    assert any("far above R²" in note for note in stakes.evaluate(truth=truth, prediction=truth * 3 + 1).notes)


@pytest.mark.parametrize(
    ("truth", "prediction", "task"),
    [
        ([1.5, 2], [1, 2], "regression"),
        ([1, 2], [1.25, 2], "regression"),
        (["1.5", "2"], ["1", "2"], "regression"),
        ([0, 1], [1, 1], "binary"),
        (["x", "y"], ["x", "y"], None),
    ],
)
def test_the_task_is_told_by_the_columns(truth, prediction, task):
    options = {"positive": "x"} if task is None else {}
    assert stakes.evaluate(truth=truth, prediction=prediction, **options).task == (task or "binary")


def test_text_that_spells_numbers_is_read():
    text = stakes.evaluate(truth=["1.5", "2", "4"], prediction=["1", "2.25", "4e0"])
    assert text.to_dict() == stakes.evaluate(truth=[1.5, 2, 4], prediction=[1, 2.25, 4]).to_dict()


def test_weights_and_days_add_up():
    truth, prediction, weight = np.array([1.5, 2, 4, 8]), np.array([1, 2.5, 3, 9]), np.array([1.0, 2, 0, 3])
    ev = stakes.evaluate(truth=truth, prediction=prediction, weight=weight)
    assert ev["mae"].value == pytest.approx((0.5 + 2 * 0.5 + 3) / 6)
    days = [
        stakes.count(truth=truth[r], prediction=prediction[r], baseline=3, task="regression")
        for r in (slice(0, 2), slice(2, 4))
    ]
    assert stakes.Evaluation(sum(days))["mae"].value == pytest.approx(0.75)


def test_ranks_of_very_many_errors_are_those_of_all_sorted(monkeypatch):
    monkeypatch.setattr(error_sums, "_MANY", 1000)
    rng = np.random.default_rng(3)
    ties, sorted_by_size = rng.integers(0, 3, 5001) / 4, np.sort(rng.normal(size=5001))
    periodic = np.where(np.arange(5000) % 10 == 0, 100.0, 1.0) * rng.normal(size=5000)  # those asked tell nothing
    for errors in (rng.normal(size=5000), ties, sorted_by_size, periodic):
        n = len(errors)
        rows = error_sums.ErrorRows(errors, np.zeros(n))
        for first, last in ((0, 0), (n // 2 - 70, n // 2 + 70), (n - 1, n - 1)):
            assert np.array_equal(rows.ranked(first, last), np.sort(np.abs(errors))[first : last + 1])
        assert ErrorSums.from_rows(errors, np.zeros(n)).median == np.median(np.abs(errors))


def test_what_travels_holds_no_rows():
    sums = ErrorSums.from_rows(*np.random.default_rng(4).normal(size=(2, 50)))
    sent = sums.anonymise(10)
    assert type(sent.moments) is dict
    assert dict(sent.moments) == {power: sums.moments[power] for power in sent.moments}
    assert sum(power[2] for power in sent.moments) == 4  # what order 4 told, the variation does
    assert sent.variation is not None
