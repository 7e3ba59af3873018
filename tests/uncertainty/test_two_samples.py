"""Two samples of different rows, against scipy and statsmodels."""

import numpy as np
import pytest
from scipy import stats

import stakes
from stakes.uncertainty.changes import influences
from stakes.uncertainty.interval import wilson
from stakes.uncertainty.sampling import Sampling
from stakes.uncertainty.segments import RestAreas
from stakes.uncertainty.two_samples import Differences, Side, agree, fisher, mover, of_shares
from tests.parts import Lazily

proportion = Lazily("statsmodels.stats.proportion")


def test_fishers_exact_test_is_scipys():
    rng = np.random.default_rng(0)
    rows, others = rng.integers(1, 60, 400), rng.integers(1, 3_000, 400)
    hits = rng.binomial(rows, rng.choice([0, 0.02, 0.3, 0.99], 400))
    other_hits = rng.binomial(others, rng.choice([0, 0.02, 0.3, 1], 400))
    expected = [
        stats.fisher_exact([[a, m - a], [b, n - b]]).pvalue
        for a, m, b, n in zip(hits, rows, other_hits, others, strict=True)
    ]
    assert fisher(hits, rows, other_hits, others) == pytest.approx(expected, rel=1e-6)


def test_many_hits_are_judged_by_the_score_test():
    rows, others, hits, other_hits = 20_000, 50_000, 8_700, 21_000
    z = stats.chi2_contingency([[hits, rows - hits], [other_hits, others - other_hits]], correction=False).pvalue
    assert fisher([hits], [rows], [other_hits], [others])[0] == pytest.approx(z, rel=1e-3)


def test_differences_of_shares_have_newcombes_interval():
    a, m, b, n = 7, 40, 900, 2_500
    one = Side(np.array([a / m]), *(np.array([end]) for end in wilson(a / m, m, 0.95)), np.array([m]))
    other = Side(np.array([b / n]), *(np.array([end]) for end in wilson(b / n, n, 0.95)), np.array([n]))
    found = of_shares(one, other, 0.95)
    low, high = proportion.confint_proportions_2indep(a, m, b, n, method="newcomb", compare="diff", alpha=0.05)
    assert (found.low[0], found.high[0]) == pytest.approx((low, high), abs=1e-12)
    assert found.p_value[0] == pytest.approx(stats.fisher_exact([[a, m - a], [b, n - b]]).pvalue)


def test_the_p_value_is_below_the_level_just_when_the_interval_leaves_0_out():
    rng = np.random.default_rng(1)
    ends = [np.sort(rng.normal(size=(3, 500)), axis=0) for _ in range(2)]
    one, other = (Side(e[1], e[0], e[2], rng.integers(2, 400, 500)) for e in ends)
    for confidence in (0.8, 0.95):
        found = mover(one, other, confidence)
        outside = (found.low > 0) | (found.high < 0)
        assert 50 < outside.sum() < 450
        assert np.array_equal(found.p_value < 1 - confidence, outside)


def test_an_exact_test_that_is_more_careful_widens_the_interval_to_0():
    columns = np.array([
        # value, low, high, p-value, exact p-value → low, high, p-value
        (0.20, 0.05, 0.35, 0.010, 0.200, 0.00, 0.35, 0.200),  # the exact test does not reject
        (-0.2, -0.3, -0.1, 0.010, 0.060, -0.3, 0.00, 0.060),
        (0.20, 0.05, 0.35, 0.010, 0.040, 0.05, 0.35, 0.040),  # both reject
        (0.20, -0.1, 0.50, 0.200, 0.010, -0.1, 0.50, 0.200),  # the interval is the more careful one
        (0.20, -0.1, 0.50, 0.200, 0.150, -0.1, 0.50, 0.150),  # neither rejects
        (np.nan, np.nan, np.nan, np.nan, 0.5, np.nan, np.nan, np.nan),
    ]).T  # fmt: skip
    found = agree(Differences(*columns[:4]), columns[4], 0.95)
    assert np.array_equal(found.value, columns[0], equal_nan=True)
    assert np.array_equal(np.array([found.low, found.high, found.p_value]), columns[5:], equal_nan=True)
    just = agree(Differences(*np.array([[0.2], [0.05], [0.35], [0.1]])), np.array([0.5]), 0.5)
    assert (just.low[0], just.p_value[0]) == (0, 0.5)  # not below the level, so not rejected


def test_shares_are_rejected_just_when_their_interval_leaves_0_out():
    rng = np.random.default_rng(4)
    rows, others = rng.integers(2, 30, 3000), rng.integers(2, 60, 3000)
    shares = [rng.binomial(n, rng.random(3000)) / n for n in (rows, others)]
    for confidence in (0.5, 0.9, 0.95):
        sides = [Side(share, *wilson(share, n, confidence), n) for share, n in zip(shares, (rows, others), strict=True)]
        found = of_shares(*sides, confidence)
        outside = (found.low > 0) | (found.high < 0)
        assert 300 < outside.sum() < 2700
        assert np.array_equal(found.p_value < 1 - confidence, outside)
        assert ((found.low <= found.value) & (found.value <= found.high)).all()


def test_means_of_normal_rows_are_compared_as_by_welch():
    rng = np.random.default_rng(2)
    x, y = rng.normal(0.4, 1, 60), rng.normal(0, 2, 5_000)

    def side(values):
        reach = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
        mean = np.array([values.mean()])
        return Side(mean, mean - reach, mean + reach, np.array([len(values)]))

    found = mover(side(x), side(y), 0.95)
    welch = stats.ttest_ind(x, y, equal_var=False)
    assert found.p_value[0] == pytest.approx(welch.pvalue, rel=0.1)


def test_what_is_unknown_stays_unknown():
    one = Side(np.array([0.5, np.nan, 0.5]), np.array([0.4, np.nan, np.nan]), np.array([0.6, np.nan, np.nan]),
               np.array([50, 0, 50]))  # fmt: skip
    found = mover(one, one, 0.95)
    assert found.p_value[0] == 1
    assert np.isnan(found.p_value[1:]).all()
    assert np.isnan(found.value[1:]).all()


@pytest.mark.parametrize("digits", [0, 1, 6])
def test_the_auc_of_the_rest_is_that_of_its_rows(digits):
    rng = np.random.default_rng(3)
    n = 800
    y, site = rng.integers(0, 2, n), rng.choice(5, n, p=[0.6, 0.3, 0.05, 0.04, 0.01])
    score = np.round(rng.normal(size=n) + y * site, digits)
    ev = stakes.evaluate(truth=y, score=score, by=site)
    whole = RestAreas(ev.scores)
    for name, part in ev.segments.items():
        rest = site != int(name)
        table = stakes.ScoreTable.from_rows(score[rest], y[rest])
        value = float(stakes.metrics.auc(table))
        (found,) = influences([stakes.metrics.auc], [value], table, Sampling(design="classes fixed"))
        assert whole.without(part.scores) == pytest.approx((value, found.error), abs=1e-12)
