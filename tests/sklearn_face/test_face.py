"""The functions of ``stakes.sklearn``: scikit-learn's numbers and signatures, with our intervals."""

import inspect
import math
import pickle
import re
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
from scipy.stats import norm
from sklearn import config_context
from sklearn.calibration import CalibrationDisplay
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import confusion_matrix, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate

import stakes
import stakes.sklearn as face
from tests.parts import since

RNG = np.random.default_rng(0)
TWO, DECIDED = RNG.integers(0, 2, 200), RNG.integers(0, 2, 200)
SCORE = np.where(TWO, RNG.beta(3, 2, 200), RNG.beta(2, 3, 200))
THREE, DECIDED3 = RNG.integers(0, 3, 200), RNG.integers(0, 3, 200)
SCORES3 = RNG.dirichlet([1, 1, 1], 200)
NUMBERS, PREDICTED = RNG.gamma(2.0, size=200), RNG.gamma(2.0, size=200)
WEIGHT = RNG.uniform(0.5, 2, 200)
ROUTED = {"sample_weight": WEIGHT}

CALLS = [
    *((name, (TWO, DECIDED), {}) for name in ("accuracy_score", "precision_score", "recall_score", "f1_score")),
    *((name, (THREE, DECIDED3), {"average": "macro"}) for name in ("precision_score", "jaccard_score")),
    ("recall_score", (THREE, DECIDED3), {"average": "weighted"}),
    ("f1_score", (THREE, DECIDED3), {"average": "micro", "labels": [0, 2]}),
    ("fbeta_score", (TWO, DECIDED), {"beta": 2}),
    ("matthews_corrcoef", (THREE, DECIDED3), {}),
    ("cohen_kappa_score", (THREE, DECIDED3), {}),
    ("cohen_kappa_score", (THREE, DECIDED3), {"weights": "quadratic"}),
    ("balanced_accuracy_score", (THREE, DECIDED3), {"adjusted": True}),
    ("zero_one_loss", (TWO, DECIDED), {}),
    ("hamming_loss", (THREE, DECIDED3), {}),
    ("roc_auc_score", (TWO, SCORE), {}),
    ("roc_auc_score", (TWO, SCORE), {"max_fpr": 0.3}),
    ("roc_auc_score", (THREE, SCORES3), {"multi_class": "ovr"}),
    ("roc_auc_score", (THREE, SCORES3), {"multi_class": "ovo"}),
    ("average_precision_score", (TWO, SCORE), {}),
    ("top_k_accuracy_score", (THREE, SCORES3), {}),
    ("log_loss", (TWO, SCORE), {}),
    ("log_loss", (THREE, SCORES3), {}),
    ("brier_score_loss", (TWO, SCORE), {}),
    ("d2_log_loss_score", (TWO, SCORE), {}),
    ("d2_brier_score", (THREE, SCORES3), {}),
    ("hinge_loss", (TWO, SCORE), {}),
    *(
        (name, (NUMBERS, PREDICTED), {})
        for name in [
            "mean_absolute_error",
            "mean_squared_error",
            "root_mean_squared_error",
            "median_absolute_error",
            "r2_score",
            "explained_variance_score",
            "mean_squared_log_error",
            "root_mean_squared_log_error",
            "mean_pinball_loss",
            "mean_absolute_percentage_error",
            "mean_poisson_deviance",
            "mean_gamma_deviance",
        ]
    ),
]


@pytest.mark.parametrize(("name", "columns", "options"), CALLS, ids=lambda value: str(value)[:30])
def test_the_number_is_scikit_learns_and_has_an_interval(name, columns, options):
    if not hasattr(sklearn.metrics, name):
        since("scikit-learn", "1.9", "has no such metric")
    ours, theirs = getattr(face, name)(*columns, **options), getattr(sklearn.metrics, name)(*columns, **options)
    assert ours == pytest.approx(theirs, rel=1e-12)
    assert isinstance(ours, float)
    assert ours.low < ours < ours.high
    assert ours.reason == ""
    if name != "roc_auc_score" or options.get("multi_class") != "ovo":
        weighted = getattr(face, name)(*columns, sample_weight=WEIGHT, **options)
        assert weighted == pytest.approx(
            getattr(sklearn.metrics, name)(*columns, sample_weight=WEIGHT, **options), rel=1e-9
        )
        if name == "median_absolute_error":
            assert (weighted.low, weighted.estimate.no_interval) == (
                None,
                "ranks of weighted or clustered rows have no simple law",
            )
        else:
            assert weighted.low < weighted < weighted.high


@pytest.mark.parametrize("name", face.FUNCTIONS)
def test_signatures_are_scikit_learns(name):
    theirs = getattr(sklearn.metrics, name, None)
    since("scikit-learn", "1.9", "has another signature")
    ours = [p for p in inspect.signature(getattr(face, name)).parameters.values() if p.name != "strict"]
    facts = [(p.name, p.kind, str(p.default)) for p in ours]
    assert facts == [(p.name, p.kind, str(p.default)) for p in inspect.signature(theirs).parameters.values()]


def test_type_checkers_know_every_name():
    typed = re.findall(r"^    from [\w.]+ import (\w+) as \1$", Path(face.__file__).read_text(encoding="utf-8"), re.M)
    assert sorted(typed) == face.__all__ == dir(face)


def test_every_metric_of_scikit_learn_is_here():
    modules = ("_classification", "_ranking", "_regression")
    theirs = {
        name
        for name in sklearn.metrics.__all__
        if getattr(getattr(sklearn.metrics, name), "__module__", "").rpartition(".")[2] in modules
    }
    assert {name for name in theirs if name[0].islower()} <= {*face.FUNCTIONS}


@pytest.mark.parametrize(
    "asked", [{}, {"k": 2}, {"ignore_ties": True}, {"k": 3, "sample_weight": [1, 2, 0.5, 3, 1, 2]}]
)
def test_searches_have_scikit_learns_numbers(asked):
    rng = np.random.default_rng(3)
    relevance, scores = rng.integers(0, 4, (6, 5)), rng.integers(0, 3, (6, 5)) / 2  # with ties
    relevance[1] = 0
    for name, more in (("ndcg_score", {}), ("dcg_score", {}), ("dcg_score", {"log_base": 3})):
        found = getattr(face, name)(relevance, scores, **asked, **more)
        assert found == pytest.approx(getattr(sklearn.metrics, name)(relevance, scores, **asked, **more), rel=1e-14)
        assert found.low < found < found.high
    for wrong, words in (
        ((-relevance, scores), "negative"),
        ((relevance[:, :1], scores[:, :1]), "more than 1 document"),
    ):
        with pytest.raises(ValueError, match=words):
            face.ndcg_score(*wrong)
    with pytest.raises(ValueError, match="formats are supported"):
        face.dcg_score([1, 0], [0.5, 0.2])


@pytest.mark.parametrize(
    ("ours", "asked", "name"),
    [
        (face.f1_score(TWO, DECIDED), {"prediction": DECIDED}, "f1"),
        (face.accuracy_score(TWO, DECIDED), {"prediction": DECIDED}, "accuracy"),
        (face.roc_auc_score(TWO, SCORE), {"score": SCORE}, "auc"),
        (face.log_loss(TWO, SCORE), {"score": SCORE}, "log_loss"),
    ],
)
def test_an_interval_is_that_of_an_evaluation(ours, asked, name):
    theirs = stakes.evaluate(truth=TWO, **asked)[name]
    assert (ours, ours.low, ours.high) == pytest.approx((theirs.value, theirs.low, theirs.high), rel=1e-12)
    assert ours.estimate.baseline == pytest.approx(theirs.baseline)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float32])
def test_numbers_of_any_kind_are_numbers(kind):
    """scikit-learn is asked with float64: its max_error of unsigned numbers wraps below 0."""
    truth, said = (NUMBERS * 3 + 1).astype(kind), (PREDICTED * 3 + 1).astype(kind)
    wide = truth.astype(np.float64), said.astype(np.float64)
    for name in face.FUNCTIONS:
        theirs = getattr(sklearn.metrics, name, None)
        if theirs is not None and getattr(face, name).__module__ == "stakes.sklearn.regression":
            assert getattr(face, name)(truth, said) == pytest.approx(theirs(*wide), rel=1e-9), name


def test_an_area_under_points_in_either_direction():
    for x, y in (([0, 1, 2], [1, 3, 1]), ([2, 1, 0], [1, 3, 1]), ([0, 1], [-1, -3])):
        assert face.auc(x, y) == sklearn.metrics.auc(x, y)


def test_an_error_rate_has_the_interval_of_the_accuracy_upside_down():
    right, wrong = face.accuracy_score(TWO, DECIDED), face.zero_one_loss(TWO, DECIDED, normalize=False)
    assert (wrong.low, wrong.high) == pytest.approx((200 * (1 - right.high), 200 * (1 - right.low)))


def test_undefined_follows_scikit_learn_and_strict_follows_stakes():
    with pytest.warns(UndefinedMetricWarning):
        usual = face.precision_score([1, 0], [0, 0])
    assert (usual, usual.low, usual.reason) == (0.0, None, "nothing is decided positive")
    assert math.isnan(face.precision_score([1, 0], [0, 0], strict=True))
    assert face.log_loss([1, 0], [0.0, 0.5], strict=True) == math.inf
    assert face.log_loss([1, 0], [0.0, 0.5]) == pytest.approx(sklearn.metrics.log_loss([1, 0], [0.0, 0.5]))
    assert math.isnan(face.r2_score([1.0, 1.0], [1.0, 2.0], strict=True) * 0)
    assert face.r2_score([1.0, 1.0], [1.0, 2.0]) == 0.0


def test_numbers_keep_their_digits_where_scikit_learn_loses_them():
    far = NUMBERS * 1e-6 + 1e9
    near = np.round(far, 6)
    truth, said = ([Fraction(float(value)) for value in column] for column in (far, near))
    mean = sum(truth) / len(truth)
    lost = sum((t - p) ** 2 for t, p in zip(truth, said, strict=True)) / sum((t - mean) ** 2 for t in truth)
    assert face.r2_score(far, near) == pytest.approx(float(1 - lost), rel=1e-12)
    assert sklearn.metrics.r2_score(far, near) != pytest.approx(float(1 - lost), rel=1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_errors_whose_squares_are_beyond_floats():
    truth, said = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.1])
    for name in ("root_mean_squared_error", "r2_score", "explained_variance_score"):
        small, large = getattr(face, name)(truth, said), getattr(face, name)(truth * 1e200, said * 1e200)
        assert large == pytest.approx(small * (1e200 if name.startswith("root") else 1))
        assert not np.isfinite(getattr(sklearn.metrics, name)(truth * 1e200, said * 1e200))


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: face.f1_score([0, 1], [0, 1, 1]), ValueError, "y_true has 2 and y_pred has 3 rows"),
        (lambda: face.f1_score([], []), ValueError, "no rows"),
        (lambda: face.f1_score(["a", "b"], [0, 1]), TypeError, "mix text and numbers"),
        (lambda: face.f1_score([0.5, 1.5], [0, 1]), ValueError, "continuous"),
        (lambda: face.f1_score([0, 1, 2], [0, 1, 2]), ValueError, "average='binary'"),
        (lambda: face.f1_score([0, 1], [0, 1], average="mean"), ValueError, "average='mean' is not known"),
        (lambda: face.f1_score([0, 3], [0, 3]), ValueError, "pos_label=1 is not a valid label"),
        (lambda: face.roc_auc_score([0, 1, 2], [0.1, 0.2, 0.3]), ValueError, "multi_class="),
        (lambda: face.roc_auc_score([0, 1], [0.1, math.nan]), ValueError, "y_score holds NaN or infinite"),
        (lambda: face.roc_curve(["a", "b"], [0.1, 0.2]), ValueError, "pass pos_label="),
        (lambda: face.log_loss([0, 1], [0.1, 1.2]), ValueError, "greater than 1"),
        (lambda: face.log_loss([1, 1], [0.1, 0.2]), ValueError, "only one label"),
        (lambda: face.mean_squared_error([1.0, 2.0], [1.0, math.inf]), ValueError, "y_pred|prediction"),
        (lambda: face.mean_squared_error([[1.0, 2.0]], [[1.0]]), ValueError, "different number of output"),
        (lambda: face.mean_poisson_deviance([-1.0, 2.0], [1.0, 1.0]), ValueError, "non-negative y"),
        (lambda: face.mean_squared_error("a", [1.0]), TypeError, "not a column"),
    ],
)
def test_wrong_input_is_scikit_learns_kind_of_error_in_one_line(call, kind, words):
    with pytest.raises(kind, match=words) as problem:
        call()
    assert "\n" not in str(problem.value)


def test_different_indexes_are_paired_by_position_with_a_warning():
    truth, decided = pd.Series([0, 1, 1], [0, 1, 2]), pd.Series([0, 1, 0], [2, 1, 0])
    with pytest.warns(stakes.InputWarning, match="paired by position"):
        assert face.accuracy_score(truth, decided) == pytest.approx(2 / 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        face.accuracy_score(truth, pd.Series([0, 1, 0]))


def test_labels_of_any_kind_and_number():
    many, guess = RNG.integers(0, 3000, 9000), RNG.integers(0, 3000, 9000)
    guess[::2] = many[::2]
    ours = [face.f1_score(many, guess, average="macro"), face.matthews_corrcoef(many, guess)]
    theirs = [sklearn.metrics.f1_score(many, guess, average="macro"), sklearn.metrics.matthews_corrcoef(many, guess)]
    assert ours == pytest.approx(theirs, rel=1e-12)
    names = np.array(["b", "a", "c"], object)
    assert (
        face.confusion_matrix(names[THREE], names[DECIDED3], labels=["b", "a", "c"])
        == np.array(sklearn.metrics.confusion_matrix(THREE, DECIDED3))
    ).all()


def test_a_float_travels_as_a_float_and_functions_by_their_name():
    found = pickle.loads(pickle.dumps(face.f1_score(TWO, DECIDED)))
    assert type(found) is float
    for name in face.FUNCTIONS:
        function = getattr(face, name)
        assert pickle.loads(pickle.dumps(function)) is function


def test_functions_work_in_scorers_and_reports():
    model, X = LogisticRegression(), np.column_stack([SCORE, WEIGHT])
    ours, theirs = (cross_val_score(model, X, TWO, scoring=make_scorer(m.f1_score)) for m in (face, sklearn.metrics))
    assert ours.tolist() == theirs.tolist()
    report = face.classification_report(THREE, DECIDED3)
    assert report == sklearn.metrics.classification_report(THREE, DECIDED3)
    found = face.classification_report(THREE, DECIDED3, output_dict=True)
    assert found["macro avg"]["f1-score"].low < found["macro avg"]["f1-score"] < found["macro avg"]["f1-score"].high


def test_scikit_learn_is_not_loaded():
    code = (
        "import sys, stakes.sklearn as face\n"
        "found = [face.f1_score([0, 1, 1], [0, 1, 0]).low, face.roc_auc_score([0, 1, 1], [0.1, 0.2, 0.3]).low]\n"
        "assert not [name for name in sys.modules if name.split('.')[0] == 'sklearn']"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


CURVES = {
    "RocCurveDisplay": ("fpr", "tpr", "roc_auc"),
    "PrecisionRecallDisplay": ("precision", "recall", "average_precision"),
    "DetCurveDisplay": ("fpr", "fnr"),
    "CalibrationDisplay": ("prob_true", "prob_pred", "y_prob"),
}


@pytest.fixture
def plt():
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    yield plt
    plt.close("all")


@pytest.mark.slow
@pytest.mark.parametrize("name", CURVES)
def test_displays_have_scikit_learns_points_and_a_band(plt, name):
    if name == "DetCurveDisplay":
        since("scikit-learn", "1.7", "draws every point of a DET curve")
    model, X = LogisticRegression().fit(SCORE[:, None], TWO), SCORE[:, None]
    home = sklearn.calibration if name == "CalibrationDisplay" else sklearn.metrics
    for asked in ({}, {"pos_label": 0}):
        ours = getattr(face, name).from_estimator(model, X, TWO, **asked)
        theirs = getattr(home, name).from_estimator(model, X, TWO, **asked)
        for part in CURVES[name]:
            assert np.allclose(getattr(ours, part), getattr(theirs, part))
        assert ours.ax_.collections  # the band
        words = [text.get_text() for text in ours.ax_.get_legend().get_texts()] + [ours.ax_.get_title(loc="left")]
        assert any("LogisticRegression" in one for one in words)
    ax = plt.figure().gca()
    second = getattr(face, name).from_predictions(TWO, np.clip(SCORE, 0, 1), ax=ax, color="red", name="B")
    assert second.figure_ is ax.figure
    assert second.artists_["line"].get_color() == "red"


def test_a_det_curve_and_its_band_lie_on_the_scale_of_a_normal_law(plt):
    since("scikit-learn", "1.7", "draws every point of a DET curve")
    made = face.DetCurveDisplay.from_predictions(TWO, SCORE)
    theirs = sklearn.metrics.DetCurveDisplay.from_predictions(TWO, SCORE)
    seen = {tuple(point) for point in np.round(made.artists_["line"].get_xydata(), 9)}
    theirs = np.round(theirs.line_.get_xydata(), 9)  # shares of 0 and 1 lie far off the plot
    assert seen == {tuple(point) for point in theirs if (np.abs(point) < 8).all()}
    roc, band = made.evaluation.curve("roc").band, made.curve.band
    assert np.allclose(norm.cdf(band.low)[1:-1], 1 - roc.high[1:-1], atol=4e-5)
    assert np.allclose(norm.cdf(band.high)[1:-1], 1 - roc.low[1:-1], atol=4e-5)


def test_calibration_in_bins_of_equally_many_rows(plt):
    asked = {"n_bins": 4, "strategy": "quantile"}
    ours, theirs = (d.from_predictions(TWO, SCORE, **asked) for d in (face.CalibrationDisplay, CalibrationDisplay))
    assert np.allclose(ours.prob_true, theirs.prob_true)
    assert np.allclose(ours.prob_pred, theirs.prob_pred)
    with pytest.raises(ValueError, match="give one of"):
        face.CalibrationDisplay.from_predictions(TWO, SCORE, strategy="kmeans")


@pytest.mark.parametrize("normalize", [None, "true", "pred", "all"])
def test_the_display_of_decisions_has_scikit_learns_table(plt, normalize):
    asked = {"labels": [2, 0], "normalize": normalize, "sample_weight": WEIGHT}
    ours = face.ConfusionMatrixDisplay.from_predictions(THREE, DECIDED3, **asked, values_format=".3f", colorbar=True)
    theirs = sklearn.metrics.ConfusionMatrixDisplay.from_predictions(THREE, DECIDED3, **asked, values_format=".3f")
    assert np.allclose(ours.confusion_matrix, theirs.confusion_matrix)
    shown = [[text.get_text() for text in np.ravel(one)] for one in (ours.artists_["texts"], theirs.text_)]
    assert shown[0] == shown[1]
    assert [text.get_text() for text in ours.ax_.get_yticklabels()] == ["2", "0"]


def test_displays_of_decisions_and_numbers(plt):
    X = SCORE[:, None]
    model = LogisticRegression().fit(X, np.array(["no", "yes"])[TWO])
    made = face.ConfusionMatrixDisplay.from_estimator(model, X, np.array(["no", "yes"])[TWO], display_labels=["N", "Y"])
    assert made.confusion_matrix.tolist() == confusion_matrix(TWO, model.predict(X) == "yes").tolist()
    assert [text.get_text() for text in made.ax_.get_xticklabels()] == ["N", "Y"]
    for kind in ("residual_vs_predicted", "actual_vs_predicted"):
        drawn = face.PredictionErrorDisplay.from_predictions(
            NUMBERS, PREDICTED, kind=kind, scatter_kwargs={"alpha": 0.2}, line_kwargs={"color": "red"}
        )
        assert drawn.artists_["points"].get_alpha() == 0.2
        assert drawn.ax_.get_xlabel()
    linear = LinearRegression().fit(X, NUMBERS)
    assert np.array_equal(face.PredictionErrorDisplay.from_estimator(linear, X, NUMBERS).y_pred, linear.predict(X))
    with pytest.raises(ValueError, match="is no kind of this display"):
        face.PredictionErrorDisplay.from_predictions(NUMBERS, PREDICTED, kind="both")


def test_scorers_tell_how_sure_a_score_is():
    X, model = SCORE[:, None], LogisticRegression()
    scorer = face.interval_scorer(face.roc_auc_score, response_method="predict_proba")
    found = cross_validate(model, X, TWO, scoring=scorer, cv=3)
    assert np.allclose(found["test_score"], cross_val_score(model, X, TWO, scoring="roc_auc", cv=3), rtol=1e-12)
    assert (found["test_low"] < found["test_score"]).all()
    assert (found["test_score"] < found["test_high"]).all()
    loss = face.interval_scorer(face.log_loss, response_method="predict_proba", greater_is_better=False)
    search = GridSearchCV(model, {"C": [0.01, 1.0]}, scoring=loss, refit="score", cv=3).fit(X, TWO)
    expected = GridSearchCV(model, {"C": [0.01, 1.0]}, scoring="neg_log_loss", cv=3).fit(X, TWO)
    assert np.allclose(search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])
    assert (search.cv_results_["mean_test_low"] < search.cv_results_["mean_test_score"]).all()
    with pytest.raises(ValueError, match="there are several; give an average"):
        face.interval_scorer(face.f1_score, average=None)(model.fit(X, TWO), X, TWO)


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("method", ["predict_proba", "decision_function", ("decision_function", "predict_proba")])
def test_scorers_ask_for_the_positive_class(label, method):
    X, model = SCORE[:, None], LogisticRegression().fit(SCORE[:, None], TWO)
    asked = {"response_method": method, "pos_label": label}
    ours = pickle.loads(pickle.dumps(face.interval_scorer(face.average_precision_score, **asked)))(model, X, TWO)
    theirs = make_scorer(sklearn.metrics.average_precision_score, **asked)(model, X, TWO)
    assert ours["score"] == pytest.approx(theirs)
    assert ours["low"] < theirs < ours["high"]


def test_an_import_line_may_name_scikit_learns_scorers_too():
    assert face.make_scorer is make_scorer


def test_weights_are_routed_to_scorers():
    X, model = SCORE[:, None], LogisticRegression()
    with config_context(enable_metadata_routing=True):
        found = [
            cross_validate(
                model.set_fit_request(sample_weight=False),
                X,
                TWO,
                scoring=scorer.set_score_request(sample_weight=True),
                cv=3,
                params=ROUTED,
            )
            for scorer in (face.interval_scorer(face.f1_score, name="f1"), make_scorer(sklearn.metrics.f1_score))
        ]
    assert np.allclose(found[0]["test_f1"], found[1]["test_score"])
    assert (found[0]["test_f1_low"] < found[0]["test_f1"]).all()
