"""Other methods for intervals, and tests of a table: against statsmodels, scipy and published figures."""

import math

import numpy as np
import pytest
import scipy.stats

import stakes
from stakes import metrics
from stakes.tallies import Confusion, ErrorSums, ScoreTable
from stakes.uncertainty.interval import SHARE_METHODS
from stakes.uncertainty.intervals import interval
from stakes.uncertainty.sampling import USUAL, Sampling
from tests.parts import Lazily

proportion = Lazily("statsmodels.stats.proportion")
raters = Lazily("statsmodels.stats.inter_rater")
tables = Lazily("statsmodels.stats.contingency_tables")

THEIRS = {"wilson": "wilson", "clopper-pearson": "beta", "jeffreys": "jeffreys", "agresti-coull": "agresti_coull"}


@pytest.mark.parametrize("method", SHARE_METHODS)
@pytest.mark.parametrize(("hits", "n", "confidence"), [(7, 20, 0.95), (0, 15, 0.9), (98, 100, 0.99)])
def test_limits_of_shares_are_statsmodels(method, hits, n, confidence):
    ev = stakes.evaluate(truth=[1] * n + [0], prediction=[1] * hits + [0] * (n - hits) + [0], confidence=confidence)
    found = ev.interval("recall", method=method)
    low, high = proportion.proportion_confint(hits, n, 1 - confidence, THEIRS[method])
    wanted = (low if hits or method != "jeffreys" else 0.0, high)
    assert (found.low, found.high) == pytest.approx(np.clip(wanted, 0, 1), abs=1e-9)


def test_plain_and_logit_delong_by_hand():
    """DeLong, DeLong & Clarke-Pearson (1988): the variance of the placements; pROC's default is the plain form."""
    random = np.random.default_rng(0)
    truth = random.random(80) < 0.4
    score = np.round(truth + random.normal(size=80), 1)
    pos, neg = score[truth], score[~truth]
    wins = (pos[:, None] > neg) + (pos[:, None] == neg) / 2
    auc = wins.mean()
    error = math.sqrt(wins.mean(1).var(ddof=1) / len(pos) + wins.mean(0).var(ddof=1) / len(neg))
    ev, z = stakes.evaluate(truth=truth, score=score), scipy.stats.norm.ppf(0.975)
    plain, logit = (ev.interval("auc", method=f"{kind} delong") for kind in ("plain", "logit"))
    assert (plain.low, plain.high) == pytest.approx((auc - z * error, min(auc + z * error, 1)), rel=1e-9)
    centre, reach = math.log(auc / (1 - auc)), z * error / (auc * (1 - auc))
    assert (logit.low, logit.high) == pytest.approx(scipy.special.expit([centre - reach, centre + reach]), rel=1e-9)
    gini = ev.interval("gini", method="plain delong")
    assert gini.low == pytest.approx(2 * plain.low - 1)


@pytest.mark.parametrize("counts", [[[20, 5], [10, 15]], [[30, 4, 1], [6, 25, 3], [2, 5, 24]]])
def test_asymptotic_kappa_is_statsmodels(counts):
    names = list("abc"[: len(counts)])
    table = Confusion(names, names, counts)
    found = interval(metrics.kappa, metrics.kappa(table), table, USUAL, "asymptotic")
    theirs = raters.cohens_kappa(counts)
    assert (found.low, found.high) == pytest.approx((theirs.kappa_low, theirs.kappa_upp), rel=1e-9)


def figures():
    random = np.random.default_rng(1)
    truth = (random.random(60) < 0.4).astype(int)
    score = truth + random.normal(size=60)
    number = random.gamma(2, size=60)
    told = number + random.normal(size=60)
    yield "f1", (truth, (score > 0.5).astype(int)), Confusion, "bootstrap"
    yield "auc", (truth, score), ScoreTable, "bca"
    yield "mean_absolute_error", (number, told), ErrorSums, "bca"


@pytest.mark.parametrize(
    ("name", "rows", "kind", "method"), list(figures()), ids=lambda one: one if isinstance(one, str) else ""
)
def test_the_bootstrap_of_rows_is_scipys(name, rows, kind, method):
    metric, column = metrics.find(name), "score" if kind is ScoreTable else "prediction"
    ev = stakes.evaluate(truth=rows[0], **{column: rows[1]})
    found = ev.interval(name, method=method)
    theirs = scipy.stats.bootstrap(
        rows,
        lambda *some: metric(*some, **({} if kind is ErrorSums else {"classes": [0, 1], "positive": 1})),
        paired=True,
        vectorized=False,
        n_resamples=300,
        method={"bootstrap": "percentile", "bca": "BCa"}[method],
        random_state=0,
    ).confidence_interval
    width = found.high - found.low
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.15 * width)
    assert f"rows bootstrapped 2,000 times{', BCa' if method == 'bca' else ''}" == found.method
    assert ev[name] == ev.interval(name)  # the usual one stays what it is


def test_a_bootstrap_can_keep_the_classes():
    table = Confusion.two_class(tp=30, fn=10, fp=5, tn=55)
    random, fixed = (Sampling(design=design) for design in ("classes random", "classes fixed"))
    one, two = (interval(metrics.accuracy, 0.85, table, sampling, "bootstrap") for sampling in (random, fixed))
    assert two.high - two.low <= one.high - one.low
    spread = math.sqrt(40 * 0.75 * 0.25 + 60 * (55 / 60) * (5 / 60)) / 100
    assert two.high - two.low == pytest.approx(2 * 1.96 * spread, abs=0.011)


def test_methods_that_do_not_fit_are_named():
    ev = stakes.evaluate(truth=[1, 0, 1, 0, 1], score=[0.9, 0.2, 0.7, 0.6, 0.4])
    with pytest.raises(stakes.InputError, match="it can be 'bootstrap' or 'bca'"):
        ev.interval("f1", method="wilson")
    with pytest.raises(stakes.InputError, match="it can be 'wilson', 'clopper-pearson', 'jeffreys'"):
        ev.interval("recall", method="wald")
    weighed = stakes.evaluate(truth=[1, 0, 1, 0, 1], score=[0.9, 0.2, 0.7, 0.6, 0.4], weight=[1, 2, 1, 1, 1])
    with pytest.raises(stakes.InputError, match="there is no choice; leave it out"):
        weighed.interval("f1", method="bca")


# ── tests of a table ─────────────────────────────────────────────────────────────────────────────────────────────
def test_the_table_of_a_published_package():
    """The manual of R's caret: accuracy .8285 against a no-information rate of .75, McNemar's p .6025."""
    found = stakes.table_tests([[231, 27], [32, 54]])
    assert (round(found.accuracy, 4), found.no_information_rate) == (0.8285, 0.75)
    assert found["no information"].p_value == pytest.approx(0.0003097, abs=5e-8)
    assert found["mcnemar corrected"].p_value == pytest.approx(0.6025370, abs=5e-8)
    assert stakes.table_tests(Confusion(["n", "a"], ["a", "n"], [[32, 54], [231, 27]])).accuracy == found.accuracy


@pytest.mark.parametrize("counts", [[[20, 5], [12, 30]], [[3, 0], [4, 1]], [[794, 86], [150, 570]], [[5, 2], [2, 7]]])
def test_mcnemar_and_fisher_are_those_of_others(counts):
    found = stakes.table_tests(counts)
    assert found["mcnemar exact"].p_value == pytest.approx(tables.mcnemar(counts, exact=True).pvalue)
    for name, corrected in (("mcnemar", False), ("mcnemar corrected", True)):
        theirs = tables.mcnemar(counts, exact=False, correction=corrected)
        if corrected and counts[0][1] == counts[1][0]:  # |b − c| − 1 is below 0 there, and nothing speaks against it
            assert found[name].p_value == 1
            continue
        assert (found[name].statistic, found[name].p_value) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert found["fisher"].p_value == pytest.approx(scipy.stats.fisher_exact(counts).pvalue)
    greater = scipy.stats.fisher_exact(counts, alternative="greater").pvalue
    assert found["fisher greater"].p_value == pytest.approx(greater, rel=1e-9)
    hits, n, most = np.trace(counts), np.sum(counts), max(map(sum, counts))
    theirs = scipy.stats.binomtest(int(hits), int(n), most / n, alternative="greater").pvalue
    assert found["no information"].p_value == pytest.approx(theirs)


def test_more_classes_have_bowkers_test():
    counts = np.array([[30, 4, 1], [6, 25, 3], [2, 5, 24]])
    found, theirs = stakes.table_tests(counts), tables.SquareTable(counts, shift_zeros=False).symmetry()
    assert (found["mcnemar"].statistic, found["mcnemar"].p_value) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert [test.name for test in found.tests] == ["no information", "mcnemar"]
    assert found.to_dict()["tests"][0]["name"] == "no information"
    with pytest.raises(stakes.InputError, match="there is no test 'fisher'"):
        found["fisher"]


@pytest.mark.parametrize("table", [[[1, 2]], [[1.5, 2], [3, 4]], [[0, 0], [0, 0]], 5, "ab", [[1, -2], [3, 4]]])
def test_what_is_no_table_is_refused(table):
    with pytest.raises(stakes.InputError):
        stakes.table_tests(table)
