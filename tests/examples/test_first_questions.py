"""The first questions are answered as scikit-learn, SciPy and exact fractions answer them."""

import re
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics
from sklearn import model_selection as ms
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from tests.examples import EXAMPLES, printed, ran
from tests.parts import Lazily

plt = Lazily("matplotlib.pyplot")

pytestmark = pytest.mark.slow


def test_iris_with_a_support_vector_classifier():
    text = printed("first_questions/iris")
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVC())
    train, test = next(ms.StratifiedShuffleSplit(1, test_size=0.25, random_state=0).split(X, y))
    decided = model.fit(X[train], y[train]).predict(X[test])
    table = [[int(np.sum((y[test] == t) & (decided == d))) for d in range(3)] for t in range(3)]
    for name, row in zip(("setosa", "versicolor", "virginica"), table, strict=True):
        assert re.search(rf"^{name} +{' +'.join(map(str, row))}\b", text, re.M)
    scores = [
        ms.cross_val_score(model, X, y, cv=ms.StratifiedKFold(10, shuffle=True, random_state=seed)) for seed in range(3)
    ]
    folds = ms.StratifiedKFold(10, shuffle=True, random_state=0)
    crossed = metrics.confusion_matrix(y, ms.cross_val_predict(model, X, y, cv=folds))
    last = text.rpartition("truth \\ decision")[2]
    for name, row in zip(("setosa", "versicolor", "virginica"), crossed, strict=True):
        assert re.search(rf"^{name} +{' +'.join(map(str, row))}$", last, re.M)
    assert crossed[0].tolist() == [49, 1, 0], "the closing sentence says so"
    mean, spread = f"mean over folds {np.mean(scores):.4f}", f"spread over folds {np.std(scores, ddof=1):.4f}"
    assert re.search(rf"{mean} \(corrected interval [\d. –]+\), {spread}", text)


def test_tumours_by_logistic_regression():
    text, variables = ran("first_questions/breast_cancer")
    X, benign = load_breast_cancer(return_X_y=True)
    malignant = 1 - benign
    folds = ms.StratifiedKFold(10, shuffle=True, random_state=0)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    said = ms.cross_val_predict(model, X, malignant, cv=folds, method="predict_proba")[:, 1]

    tp, fn = _cells(malignant, said >= 0.5)[1]
    assert f"recall {tp / (tp + fn):.6g}, {_wilson(tp, tp + fn)}" in text
    assert f"precision {metrics.precision_score(malignant, said >= 0.5):.6g}, 95 %" in text
    assert f"auc {metrics.roc_auc_score(malignant, said):.6g}, 95 %" in text
    assert f"brier_score {metrics.brier_score_loss(malignant, said):.6g}, 95 %" in text

    missed = sorted((said[patient], patient) for patient in np.flatnonzero((malignant == 1) & (said < 0.5)))
    shown = re.findall(r"^patient +(\d+)  probability of malignant ([\d.]+)$", text, re.M)
    assert shown == [(f"{patient}", f"{score:.3f}") for score, patient in missed]

    (fp, tn), (tp, fn) = _cells(malignant, said >= 1 / 21)
    choice = variables["choice"]
    assert choice.cost.value == pytest.approx((20 * fn + fp) / len(said))
    assert re.search(rf"^benign +{tn} +{fp}\nmalignant +{fn} +{tp}$", text, re.M)
    (fp_half, _), (_, fn_half) = _cells(malignant, said >= 0.5)
    assert choice.alternatives["threshold 0.5"].value == pytest.approx((20 * fn_half + fp_half) / len(said))
    assert f"{1000 * (20 * fn + fp) / len(said):.5g} per 1,000 cases" in text
    assert (fn_half, fp_half, fn, fp) == (9, 4, 1, 53), "the last words of the example say so"


def test_four_regressors_are_ranked():
    text = printed("first_questions/diabetes_regressors")
    X, y = load_diabetes(return_X_y=True)
    predicted = ms.cross_val_predict(KNeighborsRegressor(10), X, y, cv=ms.KFold(5, shuffle=True, random_state=0))
    neighbours = text.partition("nearest neighbours\n")[2]
    for name, value in (
        ("max_error", metrics.max_error(y, predicted)),
        ("mean_absolute_error", metrics.mean_absolute_error(y, predicted)),
        ("mean_squared_error", metrics.mean_squared_error(y, predicted)),
        ("median_absolute_error", metrics.median_absolute_error(y, predicted)),
        ("r2", metrics.r2_score(y, predicted)),
    ):
        assert re.search(rf"^    {name} +([-\d.]+)", neighbours, re.M)[1] == f"{value:.4g}"
    ranks = [float(value) for value in re.findall(r"mean_absolute_error +([\d.]+)", text)]
    assert len(ranks) == 4
    assert ranks == sorted(ranks)
    tree = text.partition("decision tree\n")[2]
    assert re.search(r"mean_absolute_error .* on training rows 0$", tree, re.M)
    assert f"a mean absolute error of {np.abs(y - y.mean()).mean():.4g}\n" in text
    kernel = RBF(0.2) + WhiteKernel(1.0)
    process = GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True)
    closer = ms.cross_val_predict(process, X, y, cv=ms.KFold(5, shuffle=True, random_state=0))
    errors = np.abs(y - closer), np.abs(y - predicted)
    limits = stats.ttest_rel(*errors).confidence_interval()
    shown = f"{np.mean(errors[0] - errors[1]):.2f} [{limits.low:.2f}, {limits.high:.2f}]"
    assert f"Gaussian process − nearest neighbours: {shown}" in text


VEHICLES = ("opel", "saab", "bus", "van")
COUNTS = np.array([[130, 74, 2, 6], [96, 99, 6, 16], [3, 4, 207, 4], [6, 12, 4, 177]])


def test_four_vehicles():
    text = printed("first_questions/four_class_table")
    truth, decided = (np.repeat(places.ravel(), COUNTS.ravel()) for places in np.indices((4, 4)))
    for name, value in (
        ("accuracy", metrics.accuracy_score(truth, decided)),
        ("kappa", metrics.cohen_kappa_score(truth, decided)),
        *((f"{how}_f1", metrics.f1_score(truth, decided, average=how)) for how in ("macro", "weighted", "micro")),
    ):
        assert re.search(rf"^{name} +{value:.6f}$", text, re.M)
    precision, recall, f1, _ = metrics.precision_recall_fscore_support(truth, decided)
    rates = {"precision": precision, "recall": recall, "f1": f1}
    rates["false_positive_rate"] = [np.mean(decided[truth != place] == place) for place in range(4)]
    for name, values in rates.items():
        shown = " ".join(f"{vehicle} {value:.6f}" for vehicle, value in zip(VEHICLES, values, strict=True))
        assert re.search(rf"^{name} +{shown}$", text, re.M)
    assert "saab taken for opel: 96 times, 44.2%" in text.partition("f1  ")[2]
    assert "of 399 cars that were called a car, 229 got the right name" in text


def test_what_a_covid_test_means():
    text = printed("first_questions/covid_table")
    tp, fn, fp, tn = 2739, 56, 4, 1042
    for name, hits, rows in (
        ("recall", tp, tp + fn),
        ("specificity", tn, tn + fp),
        ("precision", tp, tp + fp),
        ("negative_predictive_value", tn, tn + fn),
        ("accuracy", tp + tn, tp + fn + fp + tn),
    ):
        assert f"{name} {hits / rows:.6g}, {_wilson(hits, rows)}" in text
    found, alarmed = Fraction(tp, tp + fn), Fraction(fp, fp + tn)
    assert f"positive_likelihood_ratio {float(found / alarmed):.6g}, 95 %" in text
    assert f"negative_likelihood_ratio {float((1 - found) / (1 - alarmed)):.6g}, 95 %" in text
    shown = re.findall(r"^ +([\d.]+)% +([\d.]+)% \[.*\] +([\d.]+)%$", text, re.M)
    assert [float(share) for share, *_ in shown] == [50, 10, 1, 0.1]
    for share, right, cleared in shown:
        infected = Fraction(share) / 100
        after_positive = infected * found / (infected * found + (1 - infected) * alarmed)
        after_negative = (1 - infected) * (1 - alarmed) / ((1 - infected) * (1 - alarmed) + infected * (1 - found))
        assert (right, cleared) == (f"{100 * float(after_positive):.1f}", f"{100 * float(after_negative):.3f}")
    # Simel's interval is normal on the logarithm of the likelihood ratio; four false alarms keep it apart a little.
    error = np.sqrt(1 / tp - 1 / (tp + fn) + 1 / fp - 1 / (fp + tn))
    odds = float(found / alarmed) * np.exp(error * stats.norm.ppf([0.025, 0.975])) / 999
    limits = re.search(r"\n +0\.1% .* \[([\d.]+)%, ([\d.]+)%\]", text).groups()
    assert [float(limit) for limit in limits] == pytest.approx(100 * odds / (1 + odds), rel=0.15)


def test_a_search_result():
    text, variables = ran("first_questions/retrieval_order")
    relevant, score = [1, 1, 0, 1, 0, 1, 0, 0, 0, 1], np.arange(10, 0, -1)
    value = metrics.average_precision_score(relevant, score)
    assert f"average precision by hand: 47/60 = {value:.6f}" in text
    assert f"average_precision {value:.6g}, 95 %" in text
    assert f"auc {metrics.roc_auc_score(relevant, score):.6g}, 95 %" in text
    found = np.cumsum(relevant)
    for k in range(1, 11):
        assert f"k = {k:2}  precision {found[k - 1] / k:.3f}  recall {found[k - 1] / 5:.3f}" in text
    every = []
    for places in combinations(range(10), 5):
        every.append(metrics.average_precision_score(np.isin(np.arange(10), places), score))
    as_good = sum(one > value - 1e-9 for one in every)
    assert f"average over all {len(every)} orders: {np.mean(every):.6f}" in text
    assert f"as good as ours: {as_good} orders" in text
    p = variables["test"].p_value
    assert f"(p = {p:.4f})" in text
    shuffles = round(10_001 * p) - 1
    assert stats.binomtest(shuffles, 10_000, as_good / len(every)).pvalue > 1e-4


def test_one_import_line():
    text, variables = ran("first_questions/one_import_line")
    truth, decided, probability = (variables[name] for name in ("y_test", "decided", "probability"))
    names = ["malignant", "benign"]
    assert metrics.classification_report(truth, decided, target_names=names) in text
    assert f"AUC {metrics.roc_auc_score(truth, probability):.3f}" in text
    share = stats.binomtest(int(decided[truth == 1].sum()), int(truth.sum())).proportion_ci(method="wilson")
    assert f"{metrics.recall_score(truth, decided):.3f}   between {share.low:.3f} and {share.high:.3f}" in text
    assert "0.0 because nothing is decided positive" in text


def test_only_the_import_line_differs_from_scikit_learns(capsys):
    plt.switch_backend("Agg")
    source = (EXAMPLES / "first_questions" / "one_import_line.py").read_text(encoding="utf-8")
    unchanged = source.split("# What is new")[0]
    shown = []
    for home in ("stakes.sklearn", "sklearn.metrics"):
        variables = {}
        exec(unchanged.replace("stakes.sklearn", home), variables)
        shown.append((capsys.readouterr().out, variables["display"].roc_auc, variables["display"].tpr.tolist()))
    plt.close("all")
    assert shown[0] == shown[1]


def _cells(truth, decided):
    """Each row with the decision "positive" first: ((fp, tn), (tp, fn))."""
    return tuple((int(np.sum((truth == t) & decided)), int(np.sum((truth == t) & ~decided))) for t in (0, 1))


def _wilson(hits, rows):
    """The interval of a share as the examples print it."""
    limits = stats.binomtest(hits, rows).proportion_ci(method="wilson")
    return f"95 % interval {limits.low:.6g} to {limits.high:.6g}"
