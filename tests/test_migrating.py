"""The pages for people who come from another library are true: names exist, and "same number" means the same number."""

import math
import re
import warnings
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pycm
import pytest
import scipy.stats
import sklearn.calibration
import sklearn.metrics as sk
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_val_score, cross_validate

import stakes
from stakes.tallies.confusion import Confusion
from tests.parts import since

pytestmark = pytest.mark.slow
since("scikit-learn", "1.9", "lacks some of the functions that its page names")

PAGES = Path(__file__).parents[1] / "docs" / "migrating"
MISSING = "not in stakes"
ANSWERS = ("yes", "no", "—")
EVERY = 20  # thresholds


# ── what a page says ─────────────────────────────────────────────────────────────────────────────────────────────
class Row(NamedTuple):
    theirs: tuple[str, ...]  # the names in code of the first cell
    ours: tuple[str, ...]
    missing: bool
    same: str


def named(cell: str) -> tuple[str, ...]:
    return tuple(re.findall(r"`([^`]+)`", cell))


def table_rows(page: str) -> list[Row]:
    """The rows of all tables of a page that compare names."""
    rows = []
    comparing = False
    for line in (PAGES / page).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if len(cells) < 4:
            comparing = False
        elif cells[2] == "same number":
            comparing = True
        elif comparing and set(cells[2]) != {"-"}:
            rows.append(Row(named(cells[0]), named(cells[1]), cells[1] == MISSING, cells[2]))
    return rows


def claims(page: str, answer: str) -> set[str]:
    return {name for row in table_rows(page) if row.same == answer for name in row.theirs}


TABLES = {page: table_rows(page) for page in ("scikit_learn.md", "pycm.md", "torchmetrics.md", "weka.md")}


@pytest.mark.parametrize("page", TABLES)
def test_every_row_says_what_there_is(page):
    assert len(TABLES[page]) >= 20
    for row in TABLES[page]:
        assert row.theirs, row
        assert row.same in ANSWERS, row
        assert row.missing or row.ours, row
        assert row.same == "—" or not row.missing, row


@pytest.mark.parametrize("page", TABLES)
def test_every_name_of_stakes_exists(page):
    for row in TABLES[page]:
        for name in row.ours:
            assert exists(name), f"{page}: {name} beside {row.theirs} is nothing in stakes"


def exists(name: str) -> bool:
    """Whether ``stakes.decide``, ``ev.curve``, ``v.predictions`` or a metric like ``f_beta(beta=2)`` is there."""
    if name.startswith("stakes "):
        return True  # a command; the pages' console blocks run
    first, _, rest = name.partition(".")
    rest = re.match(r"[\w.]*", rest)[0]
    if first == "stakes":
        found = stakes
        for part in rest.split("."):
            found = getattr(found, part, None)
        return found is not None
    if first in HOLDERS:
        return any(hasattr(one, rest) for one in HOLDERS[first])
    try:
        stakes.metrics.find(name)
    except stakes.InputError:
        return False
    return True


# ── rows to try both on ──────────────────────────────────────────────────────────────────────────────────────────
class Rows:
    """Random rows of two classes, of three, and of numbers; scores have ties."""

    classes = ("a", "b", "c")

    def __init__(self, seed: int):
        rng = np.random.default_rng(seed)
        size = 300
        self.y = rng.integers(0, 2, size)
        self.p = np.round(np.clip(0.35 * self.y + 0.65 * rng.random(size), 0.011, 0.989), 2) + 0.001
        self.d = (self.p >= 0.5).astype(int)
        self.weight = rng.integers(1, 5, size) / 2
        self.code = rng.choice(3, size, p=[0.5, 0.3, 0.2])
        table = rng.dirichlet([1, 1, 1], size) + 0.4 * np.eye(3)[self.code]
        self.P = table / table.sum(1, keepdims=True)
        self.Y = np.array(self.classes)[self.code]
        self.D = np.array(self.classes)[self.P.argmax(1)]
        self.t = rng.gamma(4, 2, size)
        self.q = self.t * np.exp(rng.normal(0, 0.3, size))

    @cached_property
    def ev(self):
        return stakes.evaluate(truth=self.y, score=self.p)

    @cached_property
    def many(self):
        return stakes.evaluate(truth=self.Y, score=self.P, classes=self.classes)

    @cached_property
    def numbers(self):
        return stakes.evaluate(truth=self.t, prediction=self.q)

    def __getitem__(self, name: str) -> float:
        """The figure of stakes, from the evaluation that knows it."""
        metric = stakes.metrics.find(name)
        ev = self.numbers if metric.tally is stakes.ErrorSums else self.many if metric.family == "many" else self.ev
        return ev[name].value


class Fitted:
    """A model validated by both."""

    def __init__(self):
        self.X, self.y = make_classification(200, random_state=0)
        self.model, self.cv = LogisticRegression(), StratifiedKFold(4)
        self.v = stakes.validate(self.model, self.X, self.y, how=self.cv)


FITTED = Fitted()
SAMPLES = [Rows(seed) for seed in range(2)]
HOLDERS = {
    "ev": (SAMPLES[0].ev, SAMPLES[0].many, SAMPLES[0].numbers),
    "v": (FITTED.v,),
    "choice": (stakes.decide(truth=SAMPLES[0].y, score=SAMPLES[0].p, best="f1"),),
}

Pair = tuple[Callable[[Rows], object], Callable[[Rows], object]]


def figure(function: Callable, name: str, of: str = "d", **options) -> Pair:
    """scikit-learn's function on the truth and ``of``, and the figure of stakes by that name."""
    truth = {"d": "y", "p": "y", "D": "Y", "P": "Y", "q": "t"}[of]
    return lambda r: function(getattr(r, truth), getattr(r, of), **options), lambda r: r[name]


def per_class(r: Rows, name: str) -> list[float]:
    return [r.many[name, label].value for label in r.classes]


def reversed_pr(r: Rows):
    precision, recall, thresholds = sk.precision_recall_curve(r.y, r.p)
    return precision[::-1], recall[::-1], thresholds[::-1]


def misses_against_false_alarms(r: Rows, thresholds):
    curve = r.ev.curve("roc")
    chosen = np.isin(curve.thresholds, thresholds)
    return np.array([curve.x, 1 - curve.y, curve.thresholds])[:, chosen]


def four_cells(table: Confusion):
    return table.tn, table.fp, table.fn, table.tp


def f1_at_thresholds(r: Rows):
    """At some of the distinct scores, from the highest down; each has its interval, which takes a while."""
    return [r.ev.at(t)["f1"].value for t in r.ev.curve("roc").thresholds[1::EVERY]]


def with_median(r: Rows):
    return stakes.evaluate(truth=r.t, prediction=r.q, baseline=float(np.median(r.t)))


def cross_validated(scoring: str):
    return cross_val_score(FITTED.model, FITTED.X, FITTED.y, cv=FITTED.cv, scoring=scoring).mean()


def spread_and_training(r: Rows):
    found = cross_validate(FITTED.model, FITTED.X, FITTED.y, cv=FITTED.cv, return_train_score=True)
    return found["test_score"].std(ddof=1), found["train_score"].mean()


def in_five_bins(r: Rows):
    bins = r.ev.calibration.reliability(bins=5, by="width").bins
    return bins.frequency, bins.mean_probability


def weighted(r: Rows):
    ev = stakes.evaluate(truth=r.y, score=r.p, weight=r.weight)
    return [ev[name].value for name in ("f1", "auc", "average_precision", "brier_score", "log_loss")]


SAME_AS_SCIKIT_LEARN: dict[str, Pair] = {
    "accuracy_score": figure(sk.accuracy_score, "accuracy"),
    "balanced_accuracy_score": figure(sk.balanced_accuracy_score, "balanced_accuracy"),
    "balanced_accuracy_score(adjusted=True)": figure(sk.balanced_accuracy_score, "informedness", adjusted=True),
    "precision_score": figure(sk.precision_score, "precision"),
    "recall_score": figure(sk.recall_score, "recall"),
    "recall_score(pos_label=0)": figure(sk.recall_score, "specificity", pos_label=0),
    "precision_score(pos_label=0)": figure(sk.precision_score, "negative_predictive_value", pos_label=0),
    "f1_score": figure(sk.f1_score, "f1"),
    "fbeta_score(beta=0.5)": figure(sk.fbeta_score, "f_beta(beta=0.5)", beta=0.5),
    "jaccard_score": figure(sk.jaccard_score, "jaccard"),
    "matthews_corrcoef": (
        lambda r: (sk.matthews_corrcoef(r.y, r.d), sk.matthews_corrcoef(r.Y, r.D)),
        lambda r: (r["mcc"], r.many["mcc"].value),
    ),
    "cohen_kappa_score": (
        lambda r: (sk.cohen_kappa_score(r.y, r.d), sk.cohen_kappa_score(r.Y, r.D)),
        lambda r: (r["kappa"], r.many["kappa"].value),
    ),
    "class_likelihood_ratios": (
        lambda r: sk.class_likelihood_ratios(r.y, r.d),
        lambda r: (r["positive_likelihood_ratio"], r["negative_likelihood_ratio"]),
    ),
    "zero_one_loss": figure(sk.zero_one_loss, "expected_cost(miss=1, false_alarm=1)"),
    "hamming_loss": figure(sk.hamming_loss, "expected_cost(miss=1, false_alarm=1)"),
    "confusion_matrix": (
        lambda r: np.append(sk.confusion_matrix(r.y, r.d), sk.confusion_matrix(r.Y, r.D)),
        lambda r: np.append(r.ev.confusion.counts, r.many.confusion.counts),
    ),
    'confusion_matrix(normalize="true")': (
        lambda r: sk.confusion_matrix(r.Y, r.D, normalize="true"),
        lambda r: r.many.confusion.counts / r.many.confusion.counts.sum(1, keepdims=True),
    ),
    "multilabel_confusion_matrix": (
        lambda r: sk.multilabel_confusion_matrix(r.Y, r.D),
        lambda r: [r.many.confusion.against_rest()[i].counts for i in range(3)],
    ),
    "precision_recall_fscore_support": (
        lambda r: sk.precision_recall_fscore_support(r.Y, r.D),
        lambda r: [*(per_class(r, name) for name in ("precision", "recall", "f1")), list(r.many.support.values())],
    ),
    'f1_score(average="macro")': figure(sk.f1_score, "macro_f1", "D", average="macro"),
    'f1_score(average="weighted")': figure(sk.f1_score, "weighted_f1", "D", average="weighted"),
    'f1_score(average="micro")': figure(sk.f1_score, "micro_f1", "D", average="micro"),
    "f1_score(average=None)": (lambda r: sk.f1_score(r.Y, r.D, average=None), lambda r: per_class(r, "f1")),
    # scores and curves
    "roc_auc_score": figure(sk.roc_auc_score, "auc", "p"),
    "roc_auc_score(max_fpr=0.3)": figure(sk.roc_auc_score, "partial_auc(max_fpr=0.3)", "p", max_fpr=0.3),
    'roc_auc_score(multi_class="ovr")': figure(sk.roc_auc_score, "macro_auc", "P", multi_class="ovr"),
    'roc_auc_score(multi_class="ovo")': figure(sk.roc_auc_score, "hand_till_auc", "P", multi_class="ovo"),
    "average_precision_score": figure(sk.average_precision_score, "average_precision", "p"),
    'average_precision_score(average="macro")': figure(sk.average_precision_score, "macro_average_precision", "P"),
    "top_k_accuracy_score": (
        lambda r: (sk.top_k_accuracy_score(r.Y, r.P), sk.top_k_accuracy_score(r.Y, r.P, k=1)),
        lambda r: (r["top_k_accuracy"], r["top_k_accuracy(k=1)"]),
    ),
    "roc_curve": (
        lambda r: np.array(sk.roc_curve(r.y, r.p, drop_intermediate=False))[:, 1:],
        lambda r: np.array([r.ev.curve("roc").x, r.ev.curve("roc").y, r.ev.curve("roc").thresholds])[:, 1:],
    ),
    "precision_recall_curve": (
        lambda r: np.concatenate(reversed_pr(r)),
        lambda r: np.concatenate([r.ev.curve("pr").y, r.ev.curve("pr").x, r.ev.curve("pr").thresholds[1:]]),
    ),
    "det_curve": (
        lambda r: np.array(sk.det_curve(r.y, r.p))[:, ::-1],
        lambda r: misses_against_false_alarms(r, sk.det_curve(r.y, r.p)[2]),
    ),
    "confusion_matrix_at_thresholds": (
        lambda r: np.array(sk.confusion_matrix_at_thresholds(r.y, r.p)[:4]).T,
        lambda r: [four_cells(r.ev.at(t).confusion) for t in r.ev.curve("roc").thresholds[1:]],
    ),
    "metric_at_thresholds": (
        lambda r: sk.metric_at_thresholds(r.y, r.p, sk.f1_score)[0][::EVERY],
        f1_at_thresholds,
    ),
    # probabilities
    "log_loss": (
        lambda r: (sk.log_loss(r.y, r.p), sk.log_loss(r.Y, r.P)),
        lambda r: (r["log_loss"], r["multiclass_log_loss"]),
    ),
    "brier_score_loss": figure(sk.brier_score_loss, "brier_score", "p"),
    "brier_score_loss(scale_by_half=False)": figure(
        sk.brier_score_loss, "multiclass_brier_score", "P", scale_by_half=False
    ),
    "calibration.calibration_curve": (
        lambda r: sklearn.calibration.calibration_curve(r.y, r.p, n_bins=5),
        in_five_bins,
    ),
    # numbers
    "mean_absolute_error": figure(sk.mean_absolute_error, "mean_absolute_error", "q"),
    "mean_squared_error": figure(sk.mean_squared_error, "mean_squared_error", "q"),
    "root_mean_squared_error": figure(sk.root_mean_squared_error, "root_mean_squared_error", "q"),
    "median_absolute_error": figure(sk.median_absolute_error, "median_absolute_error", "q"),
    "max_error": figure(sk.max_error, "max_error", "q"),
    "r2_score": figure(sk.r2_score, "r2", "q"),
    "explained_variance_score": figure(sk.explained_variance_score, "explained_variance", "q"),
    "mean_squared_log_error": figure(sk.mean_squared_log_error, "mean_squared_log_error", "q"),
    "mean_absolute_percentage_error": figure(sk.mean_absolute_percentage_error, "mean_absolute_percentage_error", "q"),
    "mean_pinball_loss(alpha=0.3)": figure(sk.mean_pinball_loss, "pinball(alpha=0.3)", "q", alpha=0.3),
    "d2_tweedie_score": figure(sk.d2_tweedie_score, "r2", "q"),
    "mean_tweedie_deviance": figure(sk.mean_tweedie_deviance, "mean_squared_error", "q"),
    "stats.pearsonr": (lambda r: scipy.stats.pearsonr(r.t, r.q).statistic, lambda r: r["pearson"]),
    # validation
    "model_selection.cross_val_score": (
        lambda r: (cross_validated("accuracy"), cross_validated("roc_auc")),
        lambda r: (FITTED.v["accuracy"].mean, FITTED.v["auc"].mean),
    ),
    "model_selection.cross_validate": (
        spread_and_training,
        lambda r: (FITTED.v["accuracy"].spread, FITTED.v["accuracy"].training.value),
    ),
    "model_selection.cross_val_predict": (
        lambda r: cross_val_predict(FITTED.model, FITTED.X, FITTED.y, cv=FITTED.cv, method="predict_proba")[:, 1],
        lambda r: FITTED.v.predictions,
    ),
    "make_scorer": (
        lambda r: [cross_validated(name) for name in ("f1", "neg_log_loss")],
        lambda r: [cross_validated(stakes.scorer(name)) for name in ("f1", "log_loss")],
    ),
    "sample_weight=": (
        lambda r: [
            sk.f1_score(r.y, r.d, sample_weight=r.weight),
            *(
                function(r.y, r.p, sample_weight=r.weight)
                for function in (sk.roc_auc_score, sk.average_precision_score, sk.brier_score_loss, sk.log_loss)
            ),
        ],
        weighted,
    ),
}

DIFFERENT_IN_SCIKIT_LEARN: dict[str, Pair] = {
    "auc(recall, precision)": (
        lambda r: sk.auc(*sk.precision_recall_curve(r.y, r.p)[1::-1]),
        lambda r: r["average_precision"],
    ),
    "d2_brier_score": figure(sk.d2_brier_score, "normalised_brier_score", "p"),
    "d2_log_loss_score": figure(sk.d2_log_loss_score, "normalised_log_loss", "p"),
    "root_mean_squared_log_error": figure(sk.root_mean_squared_log_error, "mean_squared_log_error", "q"),
    "d2_absolute_error_score": figure(sk.d2_absolute_error_score, "relative_absolute_error", "q"),
    "d2_pinball_score": figure(sk.d2_pinball_score, "pinball", "q"),
}


def equal(one: object, other: object) -> bool:
    one, other = np.asarray(one, float), np.asarray(other, float)
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-9, atol=1e-12)


def test_every_claim_about_scikit_learn_is_checked():
    assert claims("scikit_learn.md", "yes") == set(SAME_AS_SCIKIT_LEARN)
    assert claims("scikit_learn.md", "no") == set(DIFFERENT_IN_SCIKIT_LEARN)


@pytest.mark.parametrize("name", SAME_AS_SCIKIT_LEARN)
def test_the_same_number_as_scikit_learn(name):
    theirs, ours = SAME_AS_SCIKIT_LEARN[name]
    for rows in SAMPLES:
        assert equal(theirs(rows), ours(rows))


@pytest.mark.parametrize("name", DIFFERENT_IN_SCIKIT_LEARN)
def test_another_number_than_scikit_learn(name):
    theirs, ours = DIFFERENT_IN_SCIKIT_LEARN[name]
    for rows in SAMPLES:
        assert not equal(theirs(rows), ours(rows))


def test_how_the_different_numbers_are_related():
    for r in SAMPLES:
        assert sk.d2_brier_score(r.y, r.p) == pytest.approx(1 - r["normalised_brier_score"])
        assert sk.d2_log_loss_score(r.y, r.p) == pytest.approx(1 - r["normalised_log_loss"])
        assert sk.root_mean_squared_log_error(r.t, r.q) ** 2 == pytest.approx(r["mean_squared_log_error"])
        assert sk.d2_absolute_error_score(r.t, r.q) == pytest.approx(1 - with_median(r)["rae"].value)
        halved = with_median(r)["pinball"]
        assert sk.d2_pinball_score(r.t, r.q) == pytest.approx(1 - halved.value / halved.baseline)


OUT_OF_SCOPE = {  # without a truth to compare with; the page says so in a paragraph
    *("DistanceMetric", "adjusted_mutual_info_score", "adjusted_rand_score", "calinski_harabasz_score", "cluster"),
    *("completeness_score", "consensus_score", "davies_bouldin_score", "euclidean_distances", "fowlkes_mallows_score"),
    *("homogeneity_completeness_v_measure", "homogeneity_score", "mutual_info_score", "nan_euclidean_distances"),
    *("normalized_mutual_info_score", "pair_confusion_matrix", "pairwise_distances", "pairwise_distances_argmin"),
    *("pairwise_distances_argmin_min", "pairwise_distances_chunked", "pairwise_kernels", "rand_score"),
    *("silhouette_samples", "silhouette_score", "v_measure_score"),
}


def test_every_function_of_scikit_learn_is_on_the_page():
    on_page = {name.partition("(")[0] for row in TABLES["scikit_learn.md"] for name in row.theirs}
    missing = set(sk.__all__) - on_page - OUT_OF_SCOPE
    assert not missing, f"scikit-learn {sklearn.__version__} has {sorted(missing)}: add them to docs/migrating"


def quietly(function: Callable, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **options)


def test_what_to_expect_of_undefined_figures():
    truth, never = ["a", "b", "c"], ["a", "b", "b"]
    assert quietly(sk.precision_score, truth, never, average="macro") == 0.5
    assert math.isnan(stakes.evaluate(truth=truth, prediction=never)["macro_precision"].value)
    assert quietly(sk.balanced_accuracy_score, ["a", "b"], ["a", "c"]) == 0.5
    assert stakes.evaluate(truth=["a", "b"], prediction=["a", "c"])["balanced_accuracy"].reason
    assert (sk.r2_score([1, 1], [1, 2]), sk.r2_score([1, 1], [1, 1])) == (0, 1)
    assert stakes.evaluate(truth=[1, 1], prediction=[1, 2], task="regression")["r2"].reason
    with pytest.raises(ValueError, match="Logarithmic"):
        sk.mean_squared_log_error([-2, 1], [1, 1])
    assert stakes.evaluate(truth=[-2, 1], prediction=[1, 1], task="regression")["msle"].reason
    zero = [0.0, 1.0], [1.0, 1.0]
    assert sk.mean_absolute_percentage_error(*zero) > 1e15
    assert "0 in 1 of the rows" in stakes.evaluate(truth=zero[0], prediction=zero[1], task="regression")["mape"].reason


def test_what_to_expect_at_the_threshold_and_of_ties():
    line = LogisticRegression().fit([[-1.0], [1.0]], [0, 1])  # symmetrical: probability ½ at 0
    line.intercept_[:] = 0
    assert line.predict_proba([[0.0]])[0, 1] == 0.5
    assert line.predict([[0.0]]) == [0]
    assert stakes.evaluate(truth=[1, 0], score=[0.5, 0.1])["recall"].value == 1
    even = np.full((3, 3), 1 / 3)
    assert sk.top_k_accuracy_score([0, 1, 2], even, k=1) > 0
    found = stakes.evaluate(truth=[0, 1, 2], score=even, classes=[0, 1, 2])
    assert found["top_k_accuracy(k=1)"].value == found["accuracy"].value == 1 / 3  # the first of those that tie


# ── PyCM ─────────────────────────────────────────────────────────────────────────────────────────────────────────
@cache
def two_class_matrix(r: Rows, threshold: float = 0.5) -> pycm.ConfusionMatrix:
    return pycm.ConfusionMatrix(r.y.tolist(), r.p.tolist(), threshold=lambda p: int(p >= threshold))


@cache
def matrix(r: Rows) -> pycm.ConfusionMatrix:
    return pycm.ConfusionMatrix(r.Y.tolist(), r.D.tolist())


def of_classes(theirs: Callable[[pycm.ConfusionMatrix], dict], ours: Callable[[Confusion], float]) -> Pair:
    """A figure of each class against the rest: of three classes, and of both of two."""

    def in_pycm(r: Rows) -> list[float]:
        three, two = theirs(matrix(r)), theirs(two_class_matrix(r))
        return [*(three[label] for label in r.classes), two[0], two[1]]

    def in_stakes(r: Rows) -> list[float]:
        rest = r.many.confusion.against_rest()
        tables = [*(rest[i] for i in range(3)), r.ev.confusion.swapped(), r.ev.confusion]
        return [ours(table) for table in tables]

    return in_pycm, in_stakes


def of_all(attribute: str, name: str) -> Pair:
    return lambda r: getattr(matrix(r), attribute), lambda r: r.many[name].value


CELLS = {"TP": "tp", "TN": "tn", "FP": "fp", "FN": "fn", "P": "P", "N": "N", "TOP": "PP", "TON": "PN", "POP": "total"}

OF_A_CLASS = {
    **{"TPR": "recall", "TNR": "specificity", "PPV": "precision", "NPV": "negative_predictive_value"},
    **{"FNR": "miss_rate", "FPR": "false_positive_rate", "FDR": "false_discovery_rate", "FOR": "false_omission_rate"},
    **{
        "ACC": "accuracy",
        "ERR": "expected_cost(miss=1, false_alarm=1)",
        "F1": "f1",
        "F2": "f_beta(beta=2)",
        "F05": "f_beta(beta=0.5)",
    },
    **{"MCC": "mcc", "BM": "informedness", "Y": "informedness", "GI": "informedness", "MK": "markedness"},
    **{"PLR": "positive_likelihood_ratio", "NLR": "negative_likelihood_ratio", "DOR": "diagnostic_odds_ratio"},
    **{"PRE": "prevalence", "PR": "prevalence", "TOPR": "alarm_rate", "J": "jaccard", "AUC": "one_point_auc"},
    **{"G": "fowlkes_mallows", "OOC": "fowlkes_mallows"},
}

OF_ALL_CLASSES = {
    **{"Overall_ACC": "accuracy", "Kappa": "kappa", "Overall_MCC": "mcc", "Overall_RACC": "weighted_alarm_rate"},
    **{"AUNU": "macro_one_point_auc", "AUNP": "weighted_one_point_auc"},
    **{
        f"{theirs}_{how.title()}": f"{how}_{ours}"
        for how in ("macro", "micro")
        for theirs, ours in OF_A_CLASS.items()
        if theirs in ("TPR", "TNR", "PPV", "NPV", "FPR", "FNR", "F1")
    },
}


def added_up(r: Rows):
    half = len(r.Y) // 2
    parts = [stakes.count(truth=r.Y[s], prediction=r.D[s]) for s in (slice(half), slice(half, None))]
    return (parts[0] + parts[1]).confusion.counts


def combined(r: Rows):
    half = len(r.Y) // 2
    first, second = (pycm.ConfusionMatrix(r.Y[s].tolist(), r.D[s].tolist()) for s in (slice(half), slice(half, None)))
    return first.combine(second).to_array()


def net_benefit(r: Rows, at: float):
    curve = r.ev.curve("decision")
    return curve.y[np.isclose(curve.x, at)]


def weighted_matrix(r: Rows) -> pycm.ConfusionMatrix:
    return pycm.ConfusionMatrix(r.Y.tolist(), r.D.tolist(), sample_weight=r.weight.tolist())


def mistakes(r: Rows) -> float:
    return 1 - r.many["accuracy"].value


COUNTS: Pair = (lambda r: matrix(r).to_array(), lambda r: r.many.confusion.counts)
SHARES: Pair = (
    lambda r: matrix(r).to_array(normalized=True),  # rounded to five digits
    lambda r: np.round(r.many.confusion.counts / r.many.confusion.counts.sum(1, keepdims=True), 5),
)

SAME_AS_PYCM: dict[str, Pair] = {
    **{
        name: of_classes(lambda cm, n=name: getattr(cm, n), lambda t, c=cell: getattr(t, c))
        for name, cell in CELLS.items()
    },
    **{
        name: of_classes(lambda cm, n=name: getattr(cm, n), stakes.metrics.find(ours).of)
        for name, ours in OF_A_CLASS.items()
    },
    **{name: of_all(name, ours) for name, ours in OF_ALL_CLASSES.items()},
    "F_beta": of_classes(lambda cm: cm.F_beta(beta=3), stakes.metrics.find("f_beta(beta=3)").of),
    "NB": (lambda r: [two_class_matrix(r, 0.2).NB(w=0.25)[1]], lambda r: net_benefit(r, 0.2)),
    "average": (lambda r: matrix(r).average("PPV"), lambda r: r.many["macro_precision"].value),
    "weighted_average": (lambda r: matrix(r).weighted_average("PPV"), lambda r: r.many["weighted_precision"].value),
    "Overall_J": (lambda r: matrix(r).Overall_J[1], lambda r: r.many["macro_jaccard"].value),
    "NIR": (lambda r: matrix(r).NIR, lambda r: r.many["accuracy"].baseline),
    "HammingLoss": (lambda r: matrix(r).HammingLoss, mistakes),
    "ZeroOneLoss": (lambda r: matrix(r).ZeroOneLoss, lambda r: mistakes(r) * len(r.Y)),
    "brier_score": (lambda r: two_class_matrix(r).brier_score(), lambda r: r["brier_score"]),
    "log_loss": (lambda r: two_class_matrix(r).log_loss(), lambda r: r["log_loss"]),
    "ROCCurve": (lambda r: roc_area(r), lambda r: r["auc"]),
    "matrix": COUNTS,
    "table": COUNTS,
    "to_array": COUNTS,
    "normalized_matrix": SHARES,
    "normalized_table": SHARES,
    "combine": (combined, added_up),
    "weights": (
        lambda r: weighted_matrix(r).Overall_ACC,
        lambda r: stakes.evaluate(truth=r.Y, prediction=r.D, weight=r.weight)["accuracy"].value,
    ),
}


def roc_area(r: Rows, kind=pycm.ROCCurve) -> float:
    return quietly(kind, r.y.tolist(), np.c_[1 - r.p, r.p], classes=[0, 1]).area()[1]


def ends(estimate) -> tuple[float, float]:
    return estimate.low, estimate.high


DIFFERENT_IN_PYCM: dict[str, Pair] = {
    "LS": (lambda r: two_class_matrix(r).LS[1], lambda r: r["precision"]),
    "AUPR": (lambda r: two_class_matrix(r).AUPR[1], lambda r: r["average_precision"]),
    "PRCurve": (lambda r: roc_area(r, pycm.PRCurve), lambda r: r["average_precision"]),
    "PValue": (
        lambda r: pycm.ConfusionMatrix(r.y.tolist(), np.roll(r.d, 1).tolist()).PValue,
        lambda r: stakes.permutation_test(truth=r.y, prediction=np.roll(r.d, 1)).p_value,
    ),
    "SE": (lambda r: 1.96 * matrix(r).SE, lambda r: r.many["accuracy"].value - r.many["accuracy"].low),
    "CI95": (lambda r: matrix(r).CI95, lambda r: ends(r.many["accuracy"])),
    "Kappa_SE": (lambda r: 1.96 * matrix(r).Kappa_SE, lambda r: r.many["kappa"].value - r.many["kappa"].low),
    "Kappa_CI": (lambda r: matrix(r).Kappa_CI, lambda r: ends(r.many["kappa"])),
    "CI": (lambda r: two_class_matrix(r).CI("TPR", binom_method="wilson")[1][1], lambda r: ends(r.ev["recall"])),
}


def test_every_claim_about_pycm_is_checked():
    assert claims("pycm.md", "yes") == set(SAME_AS_PYCM)
    assert claims("pycm.md", "no") == set(DIFFERENT_IN_PYCM)


@pytest.mark.parametrize("name", SAME_AS_PYCM)
@pytest.mark.spread(10)
def test_the_same_number_as_pycm(name):
    theirs, ours = SAME_AS_PYCM[name]
    for rows in SAMPLES:
        assert equal(theirs(rows), ours(rows))


@pytest.mark.parametrize("name", DIFFERENT_IN_PYCM)
def test_another_number_than_pycm(name):
    theirs, ours = DIFFERENT_IN_PYCM[name]
    assert not all(equal(theirs(rows), ours(rows)) for rows in SAMPLES)


def test_how_the_numbers_of_pycm_are_related():
    for r in SAMPLES:
        two = two_class_matrix(r)
        assert two.LS[1] == pytest.approx(r["precision"] / r.ev["precision"].baseline)
        assert two.AUPR[1] == pytest.approx((r["precision"] + r["recall"]) / 2)
        assert two.TI(alpha=1, beta=1)[1] == pytest.approx(r["jaccard"])
        odds = r["diagnostic_odds_ratio"]
        assert two.Q[1] == pytest.approx((odds - 1) / (odds + 1))
        assert two.CI("TPR", binom_method="wilson")[1][1] == pytest.approx(ends(r.ev["recall"]), abs=1e-5)


def test_what_to_expect_of_undefined_figures_in_pycm():
    never = quietly(pycm.ConfusionMatrix, [1, 0, 1], [0, 0, 0])
    assert never.PPV[1] == "None"
    safe = quietly(pycm.ConfusionMatrix, [1, 1, 0, 0], [1, 0, 0, 0])
    assert safe.PLR[1] == "None"
    assert stakes.evaluate(truth=[1, 1, 0, 0], prediction=[1, 0, 0, 0])["lr_plus"].value == math.inf
    certain = pycm.ConfusionMatrix([1, 0], [1.0, 0.2], threshold=lambda p: int(p >= 0.5))
    assert certain.log_loss() == "None"
    assert stakes.metrics.log_loss([1, 0], [1.0, 0.2]) == pytest.approx(-math.log(0.8) / 2)


PLUMBING = {
    *("actual_vector", "predict_vector", "prob_vector", "class_stat", "overall_stat", "classes", "copy", "digit"),
    *("label_map", "metrics_off", "print_timings", "timings", "transpose"),
}


def test_every_attribute_of_pycm_is_on_the_page():
    on_page = {name.partition("(")[0] for row in TABLES["pycm.md"] for name in row.theirs}
    public = {name for name in dir(matrix(SAMPLES[0])) if not name.startswith("_")}
    curves = {name for name in dir(pycm) if name.endswith(("Curve", "CM")) or name in ("Compare", "ConfusionMatrix")}
    missing = (public | curves) - on_page - PLUMBING
    assert not missing, f"PyCM {pycm.__version__} has {sorted(missing)}: add them to docs/migrating"


# ── Weka ─────────────────────────────────────────────────────────────────────────────────────────────────────────
TUMOURS = Confusion(("benign", "malignant"), ("benign", "malignant"), [[180, 23], [1, 65]], positive="malignant")
FLOWERS = ("setosa", "versicolor", "virginica")
IRIS = Confusion(FLOWERS, FLOWERS, [[50, 0, 0], [0, 48, 2], [0, 4, 46]])
COLUMNS = ("recall", "false_positive_rate", "precision", "recall", "f1", "mcc")
PRINTED_BY_WEKA = {  # version 3.9.7; TP Rate, FP Rate, Precision, Recall, F-Measure, MCC of each class
    "benign": (TUMOURS.swapped(), (0.887, 0.015, 0.994, 0.887, 0.938, 0.799)),
    "malignant": (TUMOURS, (0.985, 0.113, 0.739, 0.985, 0.844, 0.799)),
    "versicolor": (IRIS.against_rest()[1], (0.960, 0.040, 0.923, 0.960, 0.941, 0.911)),
    "virginica": (IRIS.against_rest()[2], (0.920, 0.020, 0.958, 0.920, 0.939, 0.910)),
}


@pytest.mark.parametrize("label", PRINTED_BY_WEKA)
def test_weka_printed_the_same_of_a_class(label):
    table, printed = PRINTED_BY_WEKA[label]
    assert [round(stakes.metrics.find(name).of(table), 3) for name in COLUMNS] == list(printed)


def test_weka_printed_the_same_summary():
    m = stakes.metrics
    assert (round(100 * m.accuracy(TUMOURS), 4), round(m.kappa(TUMOURS), 4)) == (91.0781, 0.7834)
    assert (round(m.accuracy(IRIS), 4), round(m.kappa(IRIS), 4)) == (0.96, 0.94)
    averages = ("weighted_recall", "weighted_false_positive_rate", "weighted_precision", "weighted_f1")
    assert [round(m.find(name).of(IRIS), 3) for name in averages] == [0.960, 0.020, 0.960, 0.960]
    costs = m.find("expected_cost(miss=5, false_alarm=1)").of(TUMOURS)
    assert (round(costs, 4), round(costs * 269)) == (0.1041, 28)
