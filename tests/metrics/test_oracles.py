"""Every metric against somebody else's code: scikit-learn, scipy, NumPy."""

import math
import warnings

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
import sklearn.metrics as sk
from hypothesis import given
from hypothesis import strategies as st

import stakes
from stakes.tallies import Confusion, ScoreTable
from tests.parts import Lazily, examples

m = stakes.metrics
sm = Lazily("statsmodels.api")


def normalised_brier_score(y, s, w):
    """The score in parts of that of the share of positives; scikit-learn 1.8 has one minus that, `d2_brier_score`."""
    share = np.full(len(y), np.average(y, weights=w))
    return sk.brier_score_loss(y, s, sample_weight=w) / sk.brier_score_loss(y, share, sample_weight=w)


def prevalence_threshold(y, d, w):
    """Where the slope of precision over prevalence is 1 (Balayla 2020), found numerically."""
    tpr, fpr = sk.recall_score(y, d, sample_weight=w), 1 - sk.recall_score(y, d, sample_weight=w, pos_label=0)
    if not tpr * fpr:  # precision jumps where the positives begin, or never rises
        return float(fpr > 0)

    def slope(prevalence):
        return tpr * fpr / (tpr * prevalence + fpr * (1 - prevalence)) ** 2 - 1

    return scipy.optimize.brentq(slope, 0, 1, xtol=1e-15)


def odds_ratio(y, d, w):
    table = sk.confusion_matrix(y, d, sample_weight=w)
    if w is not None:
        return table[1, 1] / table[1, 0] / (table[0, 1] / table[0, 0])
    return scipy.stats.contingency.odds_ratio(table, kind="sample").statistic


def likelihood(which):
    return lambda y, d, w: sk.class_likelihood_ratios(y, d, sample_weight=w)[which]


def rate(score, of, wrong=False):
    """Recall or precision of a class, or what is missing to 1."""
    return lambda y, d, w: abs(wrong - score(y, d, pos_label=of, sample_weight=w))


R, P = sk.recall_score, sk.precision_score

DECISION_ORACLES = {
    "prevalence": lambda y, d, w: np.average(y, weights=w),
    "alarm_rate": lambda y, d, w: np.average(d, weights=w),
    "recall": rate(R, 1),
    "miss_rate": rate(R, 1, wrong=True),
    "false_positive_rate": rate(R, 0, wrong=True),
    "specificity": rate(R, 0),
    "precision": rate(P, 1),
    "false_discovery_rate": rate(P, 1, wrong=True),
    "false_omission_rate": rate(P, 0, wrong=True),
    "negative_predictive_value": rate(P, 0),
    "positive_likelihood_ratio": likelihood(0),
    "negative_likelihood_ratio": likelihood(1),
    "diagnostic_odds_ratio": odds_ratio,
    "coverage": lambda y, d, w: np.average(np.isin(d, y), weights=w) if set(d) <= set(y) else 1.0,
    "accuracy": lambda y, d, w: sk.accuracy_score(y, d, sample_weight=w),
    "balanced_accuracy": lambda y, d, w: sk.balanced_accuracy_score(y, d, sample_weight=w),
    "one_point_auc": lambda y, d, w: sk.roc_auc_score(y, d, sample_weight=w),
    "informedness": lambda y, d, w: sk.balanced_accuracy_score(y, d, sample_weight=w, adjusted=True),
    "markedness": lambda y, d, w: P(y, d, sample_weight=w) + P(y, d, pos_label=0, sample_weight=w) - 1,
    "prevalence_threshold": prevalence_threshold,
    "f1": lambda y, d, w: sk.f1_score(y, d, sample_weight=w),
    "f_beta": lambda y, d, w: sk.fbeta_score(y, d, beta=2, sample_weight=w),
    "fowlkes_mallows": lambda y, d, w: scipy.stats.gmean([P(y, d, sample_weight=w), R(y, d, sample_weight=w)]),
    "expected_cost(miss=1, false_alarm=1)": lambda y, d, w: sk.zero_one_loss(y, d, sample_weight=w),
    "normalised_cost(miss=1, false_alarm=1)": lambda y, d, w: (
        sk.zero_one_loss(y, d, sample_weight=w) / min(np.average(y, weights=w), 1 - np.average(y, weights=w))
    ),
    "mcc": lambda y, d, w: sk.matthews_corrcoef(y, d, sample_weight=w),
    "jaccard": lambda y, d, w: sk.jaccard_score(y, d, sample_weight=w),
    "kappa": lambda y, d, w: sk.cohen_kappa_score(y, d, sample_weight=w),
    "linear_kappa": lambda y, d, w: sk.cohen_kappa_score(y, d, sample_weight=w, weights="linear"),
    "quadratic_kappa": lambda y, d, w: sk.cohen_kappa_score(y, d, sample_weight=w, weights="quadratic"),
    "mean_class_distance": lambda y, d, w: sk.mean_absolute_error(y, d, sample_weight=w),
    "within_one_accuracy": lambda y, d, w: np.average(np.abs(y - d) <= 1, weights=w),
}


def ks(y, s, w):
    if w is not None:
        fpr, tpr, _ = sk.roc_curve(y, s, sample_weight=w)
        return max(tpr - fpr)
    return scipy.stats.ks_2samp(s[y == 1], s[y == 0], alternative="less").statistic


def gini(y, s, w):
    if w is not None or len(set(s)) == 1:  # scipy has no weights, and no answer for constant scores
        return 2 * sk.roc_auc_score(y, s, sample_weight=w) - 1
    return scipy.stats.somersd(y, s).statistic


def recall_at_precision(y, s, w):
    precision, recall, _ = sk.precision_recall_curve(y, s, sample_weight=w)
    reached = recall[:-1][precision[:-1] >= 0.9]
    return max(reached) if len(reached) else math.nan


def precision_at_recall(y, s, w):
    precision, recall, _ = sk.precision_recall_curve(y, s, sample_weight=w)
    return max(precision[:-1][recall[:-1] >= 0.9 - 1e-12])


def at_rate(y, s, w, of_positives):
    """The best of one rate where the other is at least 0.9, on scikit-learn's curve."""
    fpr, tpr, _ = sk.roc_curve(y, s, sample_weight=w, drop_intermediate=False)
    return max(tpr[1 - fpr >= 0.9 - 1e-12]) if of_positives else max((1 - fpr)[tpr >= 0.9 - 1e-12])


def line(y, s, w, place):
    """statsmodels' logistic regression of the truth on the log odds; NaN where the classes do not overlap."""
    x, w = np.log(s / (1 - s)), np.ones(len(y)) if w is None else w
    if len(set(x)) == 1 or min(x[y == 1]) >= max(x[y == 0]) or max(x[y == 1]) <= min(x[y == 0]):
        return math.nan
    model = sm.GLM(y.astype(float), sm.add_constant(x), family=sm.families.Binomial(), var_weights=w)
    return model.fit(tol=1e-14, maxiter=500).params[place]


def in_the_large(y, s, w):
    """The root of the score equation; steps of statsmodels, which are never halved, can run away."""
    if len({*y.tolist()}) < 2:
        return math.nan
    odds, share = np.log(s / (1 - s)), np.average(y, weights=w)
    return scipy.optimize.brentq(lambda a: np.average(scipy.special.expit(odds + a), weights=w) - share, -99, 99)


def net_benefit(y, s, w):
    """The published form: tp/n − fp/n · t/(1 − t)."""
    (_, fp), (_, tp) = sk.confusion_matrix(y, s >= 0.3, sample_weight=w, normalize="all", labels=[0, 1])
    return tp - fp * 0.3 / 0.7


def expected_hits(y, s, w, k=10):
    """Positives among the first k rows, over many random orders of the ties."""
    order = np.random.default_rng(0).random((20_000, len(s)))
    ranked = np.lexsort((order, np.broadcast_to(-s, order.shape)), axis=-1)
    return y[ranked[:, :k]].sum(axis=1).mean()


def binned(y, s, w, edges, gap):
    w = np.ones(len(y)) if w is None else w
    groups = np.searchsorted(edges, s, side="right")
    sums = np.array([[w[groups == g].sum(), ((y - s) * w)[groups == g].sum()] for g in np.unique(groups)])
    return np.abs(sums[:, 1]).sum() / w.sum() if gap == "mean" else max(np.abs(sums[:, 1]) / sums[:, 0])


def squared_gap(y, s, w):
    """Murphy's reliability: the mean over rows of the squared gap of their bin."""
    w, groups = np.ones(len(y)) if w is None else w, np.searchsorted(WIDTH, s, side="right")
    gaps = {g: np.average((y - s)[groups == g], weights=w[groups == g]) for g in np.unique(groups)}
    return np.average([gaps[g] ** 2 for g in groups], weights=w)


def relative_to_prevalence(loss):
    """A mean loss of numbers relative to that of always saying the prevalence, as Weka has it."""

    def ratio(y, s, w):
        return loss(y, s, sample_weight=w) / loss(y, np.full(len(y), np.average(y, weights=w)), sample_weight=w)

    return ratio


WIDTH = np.arange(1, 10) / 10

SCORE_ORACLES = {
    "auc": lambda y, s, w: sk.roc_auc_score(y, s, sample_weight=w),
    "gini": gini,
    "average_precision": lambda y, s, w: sk.average_precision_score(y, s, sample_weight=w),
    "ks": ks,
    "partial_auc": lambda y, s, w: sk.roc_auc_score(y, s, sample_weight=w, max_fpr=0.1),
    "recall_at_precision": recall_at_precision,
    "precision_at_recall": precision_at_recall,
    "brier_score": lambda y, s, w: sk.brier_score_loss(y, s, sample_weight=w),
    "normalised_brier_score": normalised_brier_score,
    "log_loss": lambda y, s, w: sk.log_loss(y, s, sample_weight=w),
    "normalised_log_loss": lambda y, s, w: 1 - sk.d2_log_loss_score(y, s, sample_weight=w),
    "mean_probability_error": lambda y, s, w: sk.mean_absolute_error(y, s, sample_weight=w),
    "root_mean_squared_probability_error": lambda y, s, w: sk.root_mean_squared_error(y, s, sample_weight=w),
    "relative_probability_error": relative_to_prevalence(sk.mean_absolute_error),
    "root_relative_squared_probability_error": relative_to_prevalence(sk.root_mean_squared_error),
    "quadratic_calibration_error": squared_gap,
    "root_calibration_error": lambda y, s, w: np.sqrt(squared_gap(y, s, w)),
    "ece": lambda y, s, w: binned(y, s, w, WIDTH, "mean"),
    "mce": lambda y, s, w: binned(y, s, w, WIDTH, "max"),
    "recall_at_specificity": lambda y, s, w: at_rate(y, s, w, True),
    "specificity_at_recall": lambda y, s, w: at_rate(y, s, w, False),
    "calibration_in_the_large": in_the_large,
    "net_benefit(threshold=0.3)": net_benefit,
    "soft_cost(miss=5, false_alarm=1)": lambda y, s, w: np.average(np.where(y, 5 * (1 - s), s), weights=w),
}
LINE_ORACLES = {"calibration_slope": 1, "calibration_intercept": 0}
SHUFFLED_ORACLES = {"precision_at_k", "recall_at_k", "gain", "lift"}
MASS_ORACLES = {"ece_equal_mass", "mce_equal_mass"}


def test_every_metric_has_an_outside_oracle():
    named = {*DECISION_ORACLES, *SCORE_ORACLES, *LINE_ORACLES, *SHUFFLED_ORACLES, *MASS_ORACLES}
    covered = {name.partition("(")[0] for name in named}
    assert covered == {metric.name for metric in m.catalogue() if metric.tally in (Confusion, ScoreTable)}


def quietly(function, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)


@st.composite
def judged(draw, scores):
    n = draw(st.integers(2, 40))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n).filter(lambda v: 0 < sum(v) < len(v)))
    s = draw(st.lists(scores, min_size=n, max_size=n))
    w = draw(st.one_of(st.none(), st.lists(st.floats(0.25, 8), min_size=n, max_size=n)))
    return np.array(y), np.array(s), None if w is None else np.array(w)


@examples(100)
@given(rows=judged(st.integers(0, 1)))
def test_decisions_agree(rows):
    y, d, w = rows
    table = stakes.count(truth=y, prediction=d, weight=w).confusion
    for name, theirs in DECISION_ORACLES.items():
        value = m.find(name).of(table)
        if math.isfinite(value):  # where scikit-learn answers something else for undefined figures, see below
            assert value == pytest.approx(quietly(theirs, y, d, w), rel=1e-7, abs=1e-9), name


coarse = st.sampled_from([0.05, 0.1, 0.25, 0.3, 0.45, 0.5, 0.7, 0.9, 0.95])
fine = st.floats(0.001, 0.999)
any_score = st.one_of(coarse, fine, st.floats(-1e6, 1e6).map(lambda v: round(v, 3)))


@examples(120)
@given(rows=st.one_of(judged(coarse), judged(fine)))
def test_probabilities_agree(rows):
    y, s, w = rows
    table = ScoreTable.from_rows(s, y, w)
    for name, theirs in SCORE_ORACLES.items():
        value, expected = m.find(name).of(table), quietly(theirs, y, s, w)
        assert value == pytest.approx(expected, rel=1e-7, abs=1e-9, nan_ok=True), name


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [20, 300])
def test_the_line_agrees(n, weighted):
    rng = np.random.default_rng(n)
    y, w = rng.permutation(np.arange(n) % 2), rng.gamma(2, size=n) if weighted else None
    s = np.round(scipy.special.expit(y - 0.5 + 1.5 * rng.normal(size=n)), 3)
    table = ScoreTable.from_rows(s, y, w)
    for name, place in LINE_ORACLES.items():
        assert m.find(name).of(table) == pytest.approx(line(y, s, w, place), rel=1e-7), name


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@examples(200)
@given(rows=judged(any_score))
def test_the_order_agrees_for_scores_of_any_kind(dtype, rows):
    y, s, w = rows
    s = np.clip(s, -6e4, 6e4).astype(dtype)
    table = ScoreTable.from_rows(s, y, w)
    for name in ("auc", "average_precision", "partial_auc"):
        expected = quietly(SCORE_ORACLES[name], y, s.astype(float), w)
        assert m.find(name).of(table) == pytest.approx(expected, rel=1e-9)


@examples(150)
@given(rows=judged(st.integers(-(2**63), 2**63 - 1) | st.integers(2**62, 2**62 + 3)))
def test_big_integers_are_ordered_exactly(rows):
    y, s, w = rows
    wins = sum((a > b) + (a == b) / 2 for a in s[y == 1].tolist() for b in s[y == 0].tolist())
    assert m.auc(y, s) == pytest.approx(wins / (sum(y) * sum(1 - y)))
    if w is not None:
        pairs = [
            (a, b, v * u)
            for a, v in zip(s[y == 1].tolist(), w[y == 1], strict=True)
            for b, u in zip(s[y == 0].tolist(), w[y == 0], strict=True)
        ]
        expected = sum(((a > b) + (a == b) / 2) * v for a, b, v in pairs) / sum(v for _, _, v in pairs)
        assert m.auc(y, s, weight=w) == pytest.approx(expected, rel=1e-9)


@examples(8)
@given(rows=judged(coarse).filter(lambda rows: len(rows[0]) >= 10))
def test_the_top_of_the_list_agrees_with_random_orders_of_the_ties(rows):
    y, s, _ = rows
    hits = expected_hits(y, s, None)
    assert m.precision_at_k(y, s) == pytest.approx(hits / 10, abs=0.02)
    assert m.recall_at_k(y, s) == pytest.approx(hits / sum(y), abs=0.2 / sum(y))
    assert m.gain(y, s, share=10 / len(y)) == pytest.approx(hits / sum(y), abs=0.2 / sum(y))
    assert m.lift(y, s, share=10 / len(y)) == pytest.approx(hits / sum(y) * len(y) / 10, abs=0.02 * len(y) / sum(y))


@pytest.mark.parametrize("size", [50, 53, 1000])
def test_equal_mass_bins_agree_with_splitting_the_sorted_rows(size):
    rng = np.random.default_rng(size)
    s = rng.permutation(np.arange(1, size + 1) / (size + 1))
    y = (rng.random(size) < s).astype(int)
    order = np.argsort(-s)
    parts = [order[math.ceil(j * size / 10) : math.ceil((j + 1) * size / 10)] for j in range(10)]
    gaps = [abs((y[p] - s[p]).sum()) for p in parts]
    assert m.ece_equal_mass(y, s) == pytest.approx(sum(gaps) / size)
    assert m.mce_equal_mass(y, s) == pytest.approx(max(g / len(p) for g, p in zip(gaps, parts, strict=True)))


# ── where we differ from scikit-learn, and why ───────────────────────────────────────────────────────────────────
def test_exception_undefined_is_nan_not_zero_or_one():
    """scikit-learn answers 0 for 0/0 rates and Matthews, with or without a warning; here they have no value."""
    y, never, always = np.array([1, 0, 1]), np.zeros(3, int), np.ones(3, int)
    for name, d in (("precision", never), ("markedness", never), ("mcc", always), ("mcc", never)):
        assert quietly(DECISION_ORACLES[name], y, d, None) <= 0
        assert math.isnan(m.find(name).of(stakes.count(truth=y, prediction=d).confusion))
    nothing = np.zeros(3, int)
    assert quietly(sk.f1_score, nothing, nothing) == 0
    assert math.isnan(m.f1.of(stakes.count(truth=nothing, prediction=nothing.copy()).confusion))


def test_exception_likelihood_ratios_over_zero_are_infinite():
    """scikit-learn answers NaN for x/0; a positive decision that is never wrong raises the odds without bound."""
    table = Confusion.two_class(tp=3, fn=1, fp=0, tn=4)
    assert math.isnan(quietly(sk.class_likelihood_ratios, [1] * 4 + [0] * 4, [1, 1, 1, 0, 0, 0, 0, 0])[0])
    assert m.positive_likelihood_ratio(table) == math.inf


def test_exception_log_loss_is_not_clipped():
    """scikit-learn moves probabilities away from 0 and 1 by the resolution of their type."""
    assert sk.log_loss([1, 0], np.array([1e-300, 0.5]), labels=[0, 1]) < 60
    assert m.log_loss([1, 0], [1e-300, 0.5]) == pytest.approx((300 * math.log(10) + math.log(2)) / 2)
    assert sk.log_loss([1, 0], [0.0, 0.5]) < 60
    assert m.log_loss([1, 0], [0.0, 0.5]) == math.inf


def test_exception_one_class_has_no_auc_and_says_why():
    assert math.isnan(quietly(sk.roc_auc_score, [1, 1], [0.2, 0.4]))
    table = stakes.count(truth=[1, 1], score=[0.2, 0.4]).scores
    assert math.isnan(m.auc.of(table))
    assert m.auc.why_undefined(table) == "no case is negative"


def test_exception_average_precision_without_positives_is_undefined():
    assert quietly(sk.average_precision_score, [0, 0], [0.2, 0.4]) == 0
    assert math.isnan(m.average_precision.of(stakes.count(truth=[0, 0], score=[0.2, 0.4]).scores))
