"""McNemar's test against statsmodels and scipy, Tango's interval against the score test turned round on a grid."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import binomtest, norm

from stakes.uncertainty import interval as mcnemar
from tests.parts import Lazily

tables = Lazily("statsmodels.stats.contingency_tables")

TABLES = [(0, 0, 20), (1, 5, 30), (12, 2, 50), (9, 9, 100), (0, 7, 25), (40, 22, 400), (3, 0, 3)]


@pytest.mark.parametrize(("one", "other", "rows"), TABLES)
def test_the_p_value_is_exact(one, other, rows):
    assert mcnemar.exact_p_value(one, other) == pytest.approx(tables.mcnemar([[0, one], [other, 0]], exact=True).pvalue)
    if one + other:
        assert mcnemar.exact_p_value(one, other) == pytest.approx(binomtest(one, one + other).pvalue)


def test_models_that_never_differ_have_a_p_value_of_one():
    assert mcnemar.exact_p_value(0, 0) == 1


def test_many_rows_are_no_trouble():
    assert mcnemar.exact_p_value(5_000_000, 5_010_000) == pytest.approx(
        2 * norm.sf(10_000 / math.sqrt(10_010_000)), rel=1e-2
    )


def score(one, other, rows, difference):
    """The score statistic with the shares that make the rows most likely, found by a search."""

    def surprise(share):  # of rows that only the second has right
        logs = [(one, share + difference), (other, share), (rows - one - other, 1 - 2 * share - difference)]
        return -sum(count * math.log(max(p, 1e-300)) for count, p in logs if count)

    low, high = max(0.0, -difference), (1 - difference) / 2
    share = minimize_scalar(surprise, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x
    spread = rows * (2 * share + difference - difference**2)
    return (one - other - rows * difference) / math.sqrt(spread)


@pytest.mark.parametrize(("one", "other", "rows"), TABLES[:-1])
def test_tangos_interval_holds_what_the_score_test_does_not_reject(one, other, rows):
    low, high = mcnemar.tango_interval(one, other, rows, 0.95)
    near = [end + side for end in (low, high) for side in (-0.001, 0.001)]
    for difference in (*np.arange(-0.995, 0.996, 0.02), *near):
        if abs(difference) < 1:
            kept = abs(score(one, other, rows, difference)) <= norm.ppf(0.975)
            assert kept == (low <= difference <= high), difference


def test_where_the_models_never_differ_the_interval_has_a_known_width():
    z2 = norm.ppf(0.975) ** 2
    assert mcnemar.tango_interval(0, 0, 100, 0.95) == pytest.approx((-z2 / (100 + z2), z2 / (100 + z2)))


@pytest.mark.parametrize(("one", "other", "rows"), TABLES)
def test_swapping_the_models_turns_the_interval_round(one, other, rows):
    low, high = mcnemar.tango_interval(one, other, rows, 0.9)
    assert mcnemar.tango_interval(other, one, rows, 0.9) == (-high, -low)
    assert -1 <= low <= (one - other) / rows <= high <= 1


def test_the_interval_covers_the_truth():
    """20,000 tables of 60 rows; the share of intervals that hold the true difference."""
    random, cells = np.random.default_rng(1), [0.12, 0.06, 0.82]
    tables = random.multinomial(60, cells, 20_000)
    pairs, times = np.unique(tables[:, :2], axis=0, return_counts=True)
    ends = [mcnemar.tango_interval(int(b), int(c), 60, 0.95) for b, c in pairs]
    covered = sum(n for (low, high), n in zip(ends, times, strict=True) if low <= 0.06 <= high) / 20_000
    assert 0.94 < covered < 0.97


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_test_and_interval_agree_for_all_few_discordant_rows(confidence):
    widened = 0
    for one in range(61):
        for other in range(min(one, 60 - one) + 1):
            for rows in (max(one + other, 1), 3 * (one + other) + 10):
                low, high, p_value = mcnemar.interval_and_test(one, other, rows, confidence)
                assert (p_value < 1 - confidence) == (low > 0), (one, other, rows)
                assert low <= (one - other) / rows <= high
                score_low, score_high = mcnemar.tango_interval(one, other, rows, confidence)
                assert (low, high) in ((score_low, score_high), (0, score_high))
                widened += (low, high) != (score_low, score_high)
    assert widened > 10


def test_five_to_none_is_not_yet_a_difference():
    low, high, p_value = mcnemar.interval_and_test(5, 0, 50, 0.95)
    assert (low, p_value) == (0, 0.0625)
    assert mcnemar.tango_interval(5, 0, 50, 0.95)[0] > 0
    assert mcnemar.interval_and_test(0, 5, 50, 0.95) == (-high, 0, 0.0625)
