"""Recalibrators, against scikit-learn's and SciPy's."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.calibration import _SigmoidCalibration
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import stakes
from stakes import (
    AffineCalibrator,
    BetaCalibrator,
    InputError,
    IsotonicCalibrator,
    SigmoidCalibrator,
    TemperatureCalibrator,
    VectorCalibrator,
    cross_fitted,
    load_calibrator,
)
from stakes.decisions.recalibration.folds import deal_folds
from stakes.engines.lazy import counting as lazy
from stakes.evaluation import recalibrating
from stakes.uncertainty.interval import mean_interval

PLAIN = [IsotonicCalibrator, SigmoidCalibrator, TemperatureCalibrator]
ALL = [*PLAIN, AffineCalibrator, BetaCalibrator]
OF_MANY = [TemperatureCalibrator, AffineCalibrator, VectorCalibrator]


def rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.01, 0.99, n)
    return p, (rng.random(n) < p**2).astype(int), rng.choice([0.5, 1.0, 2.0], n)


def many(n=400, k=4, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(k), n)
    truth = np.array([rng.choice(k, p=row) for row in p])
    return np.power(p, 2) / np.power(p, 2).sum(1, keepdims=True), truth


# ── what is learned ──────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("decimals", [8, 1])
def test_isotonic_is_scikit_learns_before_clipping(weighted, decimals):
    p, y, w = rows()
    score, w = np.round(5 * p - 2, decimals), w if weighted else None
    theirs = IsotonicRegression(out_of_bounds="clip").fit(score, y, w)
    ours = IsotonicCalibrator().fit(score, y, w)
    places = np.linspace(-4, 5, 1000)
    assert ours.curve(places) == pytest.approx(theirs.predict(places), abs=1e-12)
    rows_told = len(p) if w is None else w.sum() ** 2 / (w**2).sum()
    assert ours.rows_ == pytest.approx(rows_told)
    least = 1 / (2 * (rows_told + 1))
    assert ours.transform(places) == pytest.approx(np.clip(theirs.predict(places), least, 1 - least), abs=1e-12)
    assert ours.transform([-4.0])[0] == pytest.approx(least)
    assert ours.transform([5.0])[0] == pytest.approx(1 - least)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("stretch", [1, 1000])
def test_sigmoid_is_platts_like_scikit_learns(weighted, stretch):
    p, y, w = rows(80, seed=3)
    score, w = (p - 0.3) * stretch, w if weighted else None
    theirs = _SigmoidCalibration().fit(score, y, w)
    ours = SigmoidCalibrator().fit(score, y, w)
    assert ours.transform(score) == pytest.approx(theirs.predict(score), abs=2e-4)
    # at the optimum the residuals against Platt's targets have no pull left
    unit = np.ones(80) if w is None else w
    P, N = unit[y == 1].sum(), unit[y == 0].sum()
    target = np.where(y == 1, (P + 1) / (P + 2), 1 / (N + 2))
    residuals = unit * (ours.transform(score) - target)
    assert [residuals.sum(), residuals @ p] == pytest.approx([0, 0], abs=1e-8)


def test_sigmoid_stays_finite_where_the_classes_are_parted():
    found = SigmoidCalibrator().fit([1, 2, 3, 4], [0, 0, 1, 1])
    assert np.isfinite([found.slope_, found.intercept_]).all()
    assert found.slope_ > 0


def test_sigmoid_does_not_mind_the_size_of_scores():
    p, y, _ = rows(80, seed=3)
    usual = SigmoidCalibrator().fit(p, y).transform(p)
    for size in (1e-200, 1e200):
        assert SigmoidCalibrator().fit(p * size, y).transform(p * size) == pytest.approx(usual, rel=1e-9)


def log_loss_at(temperature, p, truth, w=None):
    z = np.log(p) / temperature
    z = z - np.log(np.exp(z).sum(1, keepdims=True))
    return -np.average(z[np.arange(len(truth)), truth], weights=w)


@pytest.mark.parametrize("weighted", [False, True])
def test_temperature_has_the_lowest_log_loss(weighted):
    p, y = many()
    w = np.random.default_rng(9).random(400) if weighted else None
    best = minimize_scalar(lambda t: log_loss_at(np.exp(t), p, y, w), bounds=(-5, 5), options={"xatol": 1e-10})
    found = TemperatureCalibrator().fit(p, y, w)
    assert found.temperature_ == pytest.approx(np.exp(best.x), rel=1e-6)
    assert 1.5 < found.temperature_ < 2.7  # the probabilities were squared
    z = np.log(p) / found.temperature_
    assert found.transform(p) == pytest.approx(np.exp(z) / np.exp(z).sum(1, keepdims=True), abs=1e-14)
    assert (found.transform(p).argmax(1) == p.argmax(1)).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [AffineCalibrator, VectorCalibrator])
def test_scales_and_biases_have_the_lowest_log_loss(kind, weighted):
    """Against a minimiser that knows nothing of the gradient; the biases of the truth are far from 0."""
    p, y = many(n=600, k=3, seed=4)
    p = p * [8, 1, 0.2]
    p /= p.sum(1, keepdims=True)
    w = np.random.default_rng(9).random(600) if weighted else None

    def loss(free):
        z = np.log(p) * (free[2] if kind is AffineCalibrator else free[2:]) + [0, *free[:2]]
        return -np.average(log_softmax(z, axis=1)[np.arange(600), y], weights=w)

    best = minimize(loss, np.r_[0, 0, np.ones(1 if kind is AffineCalibrator else 3)], method="BFGS")
    found = kind().fit(p, y, w)
    assert found.biases_.sum() == pytest.approx(0, abs=1e-12)
    assert found.biases_ - found.biases_[0] == pytest.approx(np.r_[0, best.x[:2]], abs=2e-3)
    assert [found.scale_] if kind is AffineCalibrator else found.scales_ == pytest.approx(best.x[2:], abs=1e-3)
    said = -np.average(np.log(found.transform(p))[np.arange(600), y], weights=w)
    assert said == pytest.approx(best.fun, abs=1e-8)
    assert found.transform(p).sum(1) == pytest.approx(np.ones(600), abs=1e-12)


def test_affine_of_two_classes_is_the_line_that_calibration_reports():
    p, y, _ = rows(2000)
    theirs = LogisticRegression(C=np.inf, tol=1e-10).fit(np.log(p / (1 - p))[:, None], y)
    found, line = AffineCalibrator().fit(p, y), stakes.evaluate(truth=y, score=p).calibration
    assert [found.slope_, found.intercept_] == pytest.approx([theirs.coef_[0, 0], theirs.intercept_[0]], abs=1e-4)
    assert [found.slope_, found.intercept_] == pytest.approx([line.slope.value, line.intercept.value], abs=1e-5)
    both = AffineCalibrator().fit(np.column_stack([1 - p, p]), y)
    assert both.intercept_ == pytest.approx(found.intercept_, abs=1e-9)
    assert np.isnan(AffineCalibrator().fit(*many()).intercept_)  # several classes have biases


def test_beta_is_the_logistic_regression_of_both_logarithms():
    """Kull, Silva Filho & Flach (2017): a and b are the coefficients of log p and −log(1 − p), at least 0."""
    p, y, _ = rows(3000)  # happened p² often: a = 2, b = 1 + small, as log(1 − p²) = log(1 − p) + log(1 + p)
    columns = np.column_stack([np.log(p), -np.log1p(-p)])
    theirs = LogisticRegression(C=np.inf, tol=1e-10).fit(columns, y)
    found = BetaCalibrator().fit(p, y)
    expected = [*theirs.coef_[0], theirs.intercept_[0]]
    assert [found.a_, found.b_, found.c_] == pytest.approx(expected, abs=1e-3)
    reversed_ = BetaCalibrator().fit(p, 1 - y)  # would fall: both are held at 0
    assert [reversed_.a_, reversed_.b_] == [0, 0]
    assert reversed_.transform([0.1, 0.9]) == pytest.approx(1 - y.mean(), abs=1e-4)


def test_a_class_that_was_never_seen_and_classes_apart_stay_possible():
    p, y = many(k=3)
    found = AffineCalibrator().fit(p, np.minimum(y, 1)).transform(p)
    assert 0 < found[:, 2].min() < found[:, 2].max() < 0.01
    apart = AffineCalibrator().fit([0.1, 0.4, 0.6, 0.9], [0, 0, 1, 1])
    assert 1 < apart.slope_ < 1e3


@pytest.mark.parametrize("kind", OF_MANY)
def test_probabilities_of_exactly_0_are_read_as_half_the_least_other(kind):
    p, y = many(k=3)
    p = np.where(p < 0.01, 0, p)
    p /= p.sum(1, keepdims=True)
    near = np.maximum(p, p[p > 0].min() / 2)  # rows need not add up to 1 for the map itself
    found = kind().fit(p, y)
    assert found.least_ == pytest.approx(p[p > 0].min() / 2)
    scale, bias = found._map
    assert found.transform(p) == pytest.approx(np.exp(log_softmax(np.log(near) * scale + bias, axis=1)), abs=1e-12)


def test_temperature_of_two_classes_is_that_of_both_columns():
    p, y, _ = rows()
    one = TemperatureCalibrator().fit(p, y)
    both = TemperatureCalibrator().fit(np.column_stack([1 - p, p]), y)
    assert one.temperature_ == pytest.approx(both.temperature_, rel=1e-10)
    assert one.transform(p) == pytest.approx(both.transform(np.column_stack([1 - p, p]))[:, 1])


def test_temperature_knows_classes_by_name_in_the_order_of_the_columns():
    p, y = many()
    names = np.array(["d", "b", "a", "c"])
    named = TemperatureCalibrator(classes=["d", "b", "a", "c"]).fit(p, names[y])
    assert named.temperature_ == TemperatureCalibrator().fit(p, y).temperature_


def test_temperature_stays_between_its_ends():
    perfect = TemperatureCalibrator().fit([0.1, 0.4, 0.6, 0.9], [0, 0, 1, 1])
    reversed_ = TemperatureCalibrator().fit([0.1, 0.4, 0.6, 0.9], [1, 1, 0, 0])
    assert perfect.temperature_ == pytest.approx(1e-3)
    assert reversed_.temperature_ == pytest.approx(1e3)


@pytest.mark.parametrize("kind", ALL)
def test_nothing_is_impossible_or_certain(kind):
    score = np.array([0.0, 0.0, 1.0, 1.0, 0.5, 0.5])
    found = kind().fit(score, [0, 0, 1, 1, 0, 1]).transform([0.0, 1e-300, 0.5, 1.0])
    assert (found > 0).all()
    assert (found < 1).all()
    assert (np.diff(found) >= 0).all()
    if kind is SigmoidCalibrator:
        extreme = kind().fit(4 * score - 2, [0, 0, 1, 1, 0, 1]).transform([-1e6, 1e6])
        assert extreme[0] > 0
        assert extreme[1] < 1


def test_rows_of_several_classes_still_add_up_to_1():
    p, y = many()
    p[0] = [0, 0, 1, 0]
    found = TemperatureCalibrator().fit(p, y).transform(p)
    assert found.sum(1) == pytest.approx(np.ones(400), abs=1e-12)
    assert found.min() > 0
    assert found.max() < 1


@pytest.mark.parametrize("kind", ALL)
def test_weights_count_rows(kind):
    p, y, _ = rows(60)
    w = np.random.default_rng(1).integers(0, 4, 60)
    weighted, repeated = kind().fit(p, y, w), kind().fit(np.repeat(p, w), np.repeat(y, w))
    curve = (lambda model: model.curve(p)) if kind is IsotonicCalibrator else (lambda model: model.transform(p))
    assert curve(weighted) == pytest.approx(curve(repeated), abs=1e-9)
    assert kind().fit(p, y, sample_weight=w).transform(p).tolist() == weighted.transform(p).tolist()


# ── scikit-learn's habits ────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("kind", ALL)
def test_scikit_learn_can_clone_and_chain_them(kind):
    p, y, _ = rows()
    fitted = kind().fit(p, y)
    fresh = clone(fitted)
    assert type(fresh) is kind
    with pytest.raises(InputError, match=f"^this {kind.__name__} has not been fitted yet; call fit"):
        fresh.transform(p)
    column = make_pipeline(kind()).fit(p[:, None], y).transform(p[:, None])
    assert column.shape == (300, 1)
    assert column[:, 0].tolist() == fitted.transform(p).tolist()
    assert kind().fit(pd.Series(p), pd.Series(y)).transform(pd.DataFrame({"p": p})).shape == (300, 1)


def test_parameters():
    model = TemperatureCalibrator(classes=["a", "b"])
    assert clone(model).get_params() == {"classes": ["a", "b"]}
    assert model.set_params(classes=None).get_params(deep=False) == {"classes": None}
    assert repr(TemperatureCalibrator(["a", "b"])) == "TemperatureCalibrator(classes=['a', 'b'])"
    assert repr(SigmoidCalibrator()) == "SigmoidCalibrator()"
    assert IsotonicCalibrator().get_params() == {}
    with pytest.raises(InputError, match="SigmoidCalibrator has no parameter 'slope'; it takes none"):
        SigmoidCalibrator().set_params(slope=1)


@pytest.mark.slow
def test_scikit_learn_is_not_needed():
    code = (
        "import sys, stakes; m = stakes.SigmoidCalibrator().fit([1, 2, 3], [0, 1, 1]); m.transform([2.0]); "
        "assert 'sklearn' not in sys.modules and 'scipy.stats' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


# ── wrong input ──────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(
    ("score", "truth", "words"),
    [
        ([0.1, 0.2, 0.3], [1, 1, 1], "truth is the positive class in every row, so there is nothing to learn"),
        ([0.1, 0.2, 0.3], [0, 0, 0], "truth is the negative class in every row"),
        ([0.1, np.nan, 0.3], [1, 0, 1], "score is missing in 1 row"),
        ([0.1, np.inf, 0.3], [1, 0, 1], "score is infinite in 1 row"),
        ([0.1, 0.2], [1, 0, 1], "score has 2 rows but truth has 3"),
        ([0.1, 0.2, 0.3], [1, None, 1], "truth is missing in 1 row"),
        ([0.1, 0.2, 0.3], ["yes", "no", "no"], "truth holds 'no' and 'yes'; write 1 for the positive class"),
        ([0.1, 0.2, 0.3], [0, 1, 2], "truth has 3 classes ('0', '1' and '2'), and "),
        ([], [], "truth is empty"),
        ([[0.1], [0.2, 0.3]], [0, 1], "score is a list of rows of different lengths"),
        (["a", "b"], [0, 1], "score has 2 rows that hold no number ('a'"),
    ],
)
def test_wrong_rows_get_one_line(kind, score, truth, words):
    with pytest.raises(InputError) as problem:
        kind().fit(score, truth)
    assert words in str(problem.value)
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize("kind", [SigmoidCalibrator, TemperatureCalibrator])
def test_a_constant_score_teaches_nothing(kind):
    with pytest.raises(InputError, match=r"score is the same in every row \(0.5\), so there is nothing"):
        kind().fit([0.5, 0.5, 0.5], [0, 1, 1])
    assert IsotonicCalibrator().fit([0.5] * 4, [0, 1, 1, 1]).transform([0.1]) == [0.75]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda p, y: SigmoidCalibrator().fit(p, y), r"SigmoidCalibrator is for two classes: give the column of"),
        (lambda p, y: IsotonicCalibrator().fit(p, y), r"score is an array of shape \(400, 4\), and IsotonicCalibrator"),
        (lambda p, y: TemperatureCalibrator().fit(p * 2, y), "do not add up to 1|is no probability"),
        (lambda p, y: TemperatureCalibrator().fit(p - 0.5, y), "is no probability, and TemperatureCalibrator takes"),
        (lambda p, y: TemperatureCalibrator().fit(p / 2, y), "the probabilities of 400 rows do not add up to 1"),
        (lambda p, y: TemperatureCalibrator().fit([0.1, 1.2], [0, 1]), "score holds 1.2, which is no probability"),
        (lambda p, y: TemperatureCalibrator().fit(p, y + 1), r"truth has the label '4', which is not in classes"),
        (lambda p, y: TemperatureCalibrator(["a", "b"]).fit(p, y), r"shape \(400, 4\) with 2 classes"),
        (lambda p, y: TemperatureCalibrator().fit(p, y * 0), "truth is '0' in every row"),
        (lambda p, y: TemperatureCalibrator().fit(p, y[:9]), "score has 400 rows but truth has 9"),
        (lambda p, y: TemperatureCalibrator().fit(p.astype(str), y), "score holds <U.* values; give one number"),
        (
            lambda p, y: TemperatureCalibrator().fit(p, y).transform(p[:, 0]),
            "fitted on 4 columns, and score has one probability per row; give the same classes",
        ),
        (lambda p, y: IsotonicCalibrator().fit([1, 2], [0, 1], [1, -1]), "weight is negative"),
        (lambda p, y: IsotonicCalibrator().fit([1, 2], [0, 1], [1, 1, 1]), "weight has 3 rows but truth has 2"),
        (lambda p, y: IsotonicCalibrator().fit([1, 2], [0, 1], [1, 1], sample_weight=[1, 1]), "are the same thing"),
        (lambda p, y: IsotonicCalibrator().fit([1, 2], [0, 1], [1, 0]), "truth is the negative class in every row"),
        (lambda p, y: SigmoidCalibrator().to_dict(), "has not been fitted yet"),
        (lambda p, y: cross_fitted(IsotonicCalibrator, p, y), "calibrator is a type; give a recalibrator such as"),
        (lambda p, y: cross_fitted(IsotonicCalibrator(), [1, 2, 3], [0, 1, 1]), "a class has a single row"),
        (lambda p, y: cross_fitted(IsotonicCalibrator(), [1, 2], [0, 1, 1]), "score has 2 rows but truth has 3"),
        (lambda p, y: cross_fitted(TemperatureCalibrator(), p, y, folds=1), "folds=1 does not work; give a whole"),
        (lambda p, y: cross_fitted(TemperatureCalibrator(), p, y, seed=-1), "seed=-1 does not work"),
    ],
)
def test_other_mistakes_get_one_line(make, words):
    with pytest.raises(InputError, match=words) as problem:
        make(*many())
    assert "\n" not in str(problem.value)


# ── saved and loaded ─────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("kind", ALL)
def test_saved_and_loaded_it_says_the_same(kind, tmp_path):
    p, y, w = rows()
    model = kind().fit(p, y, w)
    model.save(tmp_path / "c.json")
    assert [f.name for f in tmp_path.iterdir()] == ["c.json"]
    loaded = load_calibrator(tmp_path / "c.json")
    assert type(loaded) is kind
    places = np.linspace(0, 1, 777)
    assert loaded.transform(places).tolist() == model.transform(places).tolist()
    assert loaded.to_dict() == model.to_dict() == json.loads((tmp_path / "c.json").read_text())
    assert load_calibrator(model.to_dict()).transform(places).tolist() == model.transform(places).tolist()


@pytest.mark.parametrize("kind", OF_MANY)
def test_classes_are_saved_too(kind, tmp_path):
    p, y = many()
    model = kind(classes=[10, 20, 30, 40]).fit(p, 10 * (y + 1))
    model.save(str(tmp_path / "c.json"))
    loaded = load_calibrator(str(tmp_path / "c.json"))
    assert loaded.get_params() == {"classes": ["10", "20", "30", "40"]}
    assert loaded.transform(p).tolist() == model.transform(p).tolist()


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "c.json"
    target.write_text("old")
    p, y, _ = rows()
    model = SigmoidCalibrator().fit(p, y)
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        model.save(target)
    assert target.read_text() == "old"
    assert [f.name for f in tmp_path.iterdir()] == ["c.json"]


SAVED = {"stakes": "calibrator", "version": 1, "rows": 9.0}
CURVE = {**SAVED, "method": "isotonic", "scores": [0.1, 0.2], "levels": [0.0, 1.0]}
SIGMOID = {**SAVED, "method": "sigmoid", "slope": 1.0, "intercept": 0.0}
AFFINE = {**SAVED, "method": "affine", "scale": 2.0, "biases": [-0.5, 0.5], "columns": 0, "classes": None}
VECTOR = {**SAVED, "method": "vector", "scales": [1, 1, 1], "biases": [0, 0, 0], "columns": 3, "classes": None}
HEAT = {**SAVED, "method": "temperature", "temperature": 2.0, "columns": 0, "classes": None}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "this is no saved calibrator"),
        ("[1]", "this is no saved calibrator"),
        ('{"tally": "scores"}', "this is no saved calibrator"),
        (json.dumps({**CURVE, "version": 2}), "saved in version 2, this stakes reads version 1; update stakes"),
        (json.dumps({**CURVE, "method": "magic"}), "damaged (there is no method 'magic'); fit and save it again"),
        (json.dumps({**CURVE, "levels": [0.5, 0.4]}), "damaged (the curve does not rise from 0 to 1)"),
        (json.dumps({**CURVE, "levels": [0.5, 1.4]}), "the curve does not rise from 0 to 1"),
        (json.dumps({**CURVE, "scores": [0.2, 0.1]}), "the curve does not rise from 0 to 1"),
        (json.dumps({**CURVE, "scores": [0.2]}), "as many levels as scores are needed"),
        (json.dumps({**CURVE, "scores": [], "levels": []}), "as many levels as scores are needed"),
        (json.dumps({**CURVE, "scores": None}), "damaged"),
        (json.dumps({**CURVE, "rows": 0}), "it was fitted on no rows"),
        (json.dumps({k: v for k, v in CURVE.items() if k != "rows"}), "damaged ('rows' is missing)"),
        (json.dumps({**SIGMOID, "slope": "steep"}), "damaged (could not convert"),
        (json.dumps({**SIGMOID, "slope": "inf"}), "damaged ('inf' is not a finite number)"),
        (json.dumps({**HEAT, "temperature": -1}), "damaged (the temperature is not positive)"),
        (json.dumps({**AFFINE, "biases": [0.0]}), "damaged (as many numbers as classes are needed)"),
        (json.dumps({**AFFINE, "scale": "nan"}), "damaged ('nan' is not a finite number)"),
        (json.dumps({**AFFINE, "least": 0.7}), "damaged (the least probability)"),
        (json.dumps({**VECTOR, "scales": [1, -1, 1]}), "damaged (a scale is negative)"),
        (json.dumps({**HEAT, "columns": 3, "classes": ["a"]}), "damaged (as many classes as columns are needed)"),
    ],
)
def test_what_is_no_calibrator_is_told_in_one_line(content, words, tmp_path):
    file = tmp_path / "c.json"
    file.write_text(content)
    with pytest.raises(InputError) as problem:
        load_calibrator(file)
    assert words in str(problem.value)
    assert str(problem.value).startswith(str(file))
    assert "\n" not in str(problem.value)


def test_whole_examples_of_saved_calibrators_load():
    assert load_calibrator(CURVE).transform([0.15])[0] == pytest.approx(0.5)
    assert load_calibrator(SIGMOID).transform([0.0])[0] == 0.5
    assert load_calibrator(AFFINE).transform([0.8])[0] == pytest.approx(16 * np.e / (1 + 16 * np.e))
    assert load_calibrator(HEAT).transform([0.8])[0] == pytest.approx(2 / 3)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"gone.json: there is no such file"):
        load_calibrator(tmp_path / "gone.json")
    with pytest.raises(InputError, match="cannot be read"):
        load_calibrator(tmp_path)
    (tmp_path / "latin.json").write_bytes(b"\xff\xfe{")
    with pytest.raises(InputError, match="this is no saved calibrator"):
        load_calibrator(tmp_path / "latin.json")
    with pytest.raises(InputError, match=r"^the dictionary: this is no saved calibrator"):
        load_calibrator({})


# ── cross-fitting ────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("kind", PLAIN)
@pytest.mark.parametrize("weighted", [False, True])
def test_each_row_is_fitted_on_the_other_folds(kind, weighted):
    p, y, w = rows(97)
    w = w if weighted else None
    found = cross_fitted(kind(), p, y, folds=4, seed=3, weight=w)
    place = deal_folds(y, 4, 3)
    for row in range(0, 97, 9):
        others = place != place[row]
        alone = kind().fit(p[others], y[others], None if w is None else w[others])
        assert found[row] == alone.transform(p[[row]])[0]


def test_folds_are_even_in_every_class_and_random():
    y = np.repeat([0, 1, 2], [50, 23, 4])
    place = deal_folds(y, 5, 0)
    assert np.ptp(np.bincount(place)) <= 1
    for c in range(3):
        assert np.ptp(np.bincount(place[y == c], minlength=5)) <= 1
    assert (deal_folds(y, 5, 0) == place).all()
    assert (deal_folds(y, 5, 1) != place).any()
    assert (np.sort(place[:50]) != place[:50]).any()


def test_cross_fitting_several_classes_and_leaving_the_calibrator_alone():
    p, y = many()
    model = TemperatureCalibrator(classes=["a", "b", "c", "d"])
    found = cross_fitted(model, p, np.array(list("abcd"))[y])
    assert found.shape == p.shape
    assert found.sum(1) == pytest.approx(np.ones(400))
    assert not hasattr(model, "rows_")
    assert found.tolist() == cross_fitted(TemperatureCalibrator(), p, y).tolist()


def test_cross_fitting_is_honest_about_noise():
    """Fitted on the rows themselves, a curve through noise looks useful; on other rows it does not."""
    rng = np.random.default_rng(0)
    p, y = rng.random(400), rng.random(400) < 0.5
    loss = stakes.metrics.find("log_loss")
    apparent = loss(y, IsotonicCalibrator().fit(p, y).transform(p))
    honest = loss(y, cross_fitted(IsotonicCalibrator(), p, y))
    assert apparent < np.log(2) < honest


def test_one_cluster_cannot_be_split_into_folds():
    with pytest.raises(stakes.InputError, match="all rows belong to one cluster, which cannot be split into folds"):
        stakes.calibrate(truth=[0, 1, 1] * 20, score=[0.2, 0.6, 0.1, 0.8] * 15, cluster=["a"] * 60)


# ── rows that are not here ───────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("binned", [False, True])
@pytest.mark.parametrize("more", [{}, {"weight": "w"}, {"cluster": "patient"}, {"weight": "w", "cluster": "patient"}])
@pytest.mark.spread(4)
def test_scores_that_were_counted_are_recalibrated_as_rows_are(binned, more, monkeypatch):
    """The fits are those of rows, and so are losses but for another deal of the folds; no row leaves its engine."""
    rng = np.random.default_rng(0)
    y, patient = rng.random(3000) < 0.3, rng.integers(0, 60, 3000)
    logit = 2 * rng.normal(size=3000) + 2.6 * y - 1.8 + rng.normal(size=60)[patient]
    columns = {"p": 1 / (1 + np.exp(-logit)).round(3), "w": rng.integers(0, 24, 3000) / 8, "patient": patient}
    frame = pl.DataFrame({"y": np.where(y, "a", "b"), **columns})
    question = {"truth": "y", "score": "p", "positive": "a", **more}
    known = {name: stakes.calibrate(frame, **question, method=name) for name in ("isotonic", "sigmoid")}
    monkeypatch.setattr(recalibrating, "FEW_ROWS", 100)
    monkeypatch.setattr(lazy, "FEW_ROWS", 100)
    monkeypatch.setattr(recalibrating, "read_and_count", None)
    if binned:
        monkeypatch.setattr(lazy, "MOST_SCORES", 50)
        monkeypatch.setattr(lazy, "MOST_GROUPS", 100)
    some = np.linspace(0.01, 0.99, 9)
    for name, rows in known.items():
        found = stakes.calibrate(frame.lazy(), **question, method=name)
        assert found.rows == rows.rows == (3000 if "weight" not in more else int((columns["w"] > 0).sum()))
        assert found.calibrator.rows_ == pytest.approx(rows.calibrator.rows_, rel=1e-12)
        near = 1e-4 if binned else 1e-12
        assert found.calibrator.transform(some) == pytest.approx(rows.calibrator.transform(some), abs=near)
        assert found.losses_before == pytest.approx(rows.losses_before, rel=1e-9 if binned else 1e-12)
        one, other = rows.changes[name], found.changes[name]
        assert other.value == pytest.approx(one.value, abs=0.2 * (one.high - one.low))
        assert (other.high - other.low) / (one.high - one.low) == pytest.approx(1, abs=0.05)


def test_a_single_cluster_of_counts_cannot_be_split_into_folds(monkeypatch):
    monkeypatch.setattr(recalibrating, "FEW_ROWS", 1)
    frame = pl.DataFrame({"y": [0, 1, 1] * 20, "p": [0.2, 0.6, 0.1, 0.8] * 15, "c": ["a"] * 60})
    with pytest.raises(stakes.InputError, match="all rows belong to one cluster, which cannot be split into folds"):
        stakes.calibrate(frame.lazy(), truth="y", score="p", cluster="c")


@pytest.mark.parametrize("weight", [None, np.array([1.5, 0.25, 2.0])])
def test_an_interval_of_rows_alike_is_that_of_the_rows(weight):
    values, counts = np.array([0.1, -0.4, 2.0]), np.array([500, 200, 300])
    classes, unit = np.array([0, 1, 1]), np.ones(3) if weight is None else weight
    for held in (None, classes):
        each = None if held is None else np.repeat(held, counts)
        own = None if weight is None else np.repeat(weight, counts)
        rows = mean_interval(np.repeat(values, counts), own, 0.95, None, each)
        found = mean_interval(values, counts * unit, 0.95, None, held, counts * unit**2)
        assert found == pytest.approx(rows, rel=1e-12 if weight is None else 1e-3)
