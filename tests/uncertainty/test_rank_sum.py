"""The rank sum against scipy's."""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from stakes import metrics
from stakes.tallies import ScoreTable
from stakes.uncertainty.permutation import rank_sum_p_value


@pytest.mark.parametrize("decimals", [8, 1, 0])
@pytest.mark.parametrize("rows", [30, 300])
def test_p_values_are_those_of_scipy(rows, decimals):
    rng = np.random.default_rng(rows)
    truth = np.arange(rows) % 3 == 0
    scores = (rng.normal(size=rows) + 0.3 * truth).round(decimals)
    table = ScoreTable.from_rows(scores, truth)
    theirs = mannwhitneyu(scores[truth], scores[~truth], method="asymptotic", use_continuity=False).pvalue
    assert rank_sum_p_value(table, float(metrics.find("auc").of(table))) == pytest.approx(theirs, rel=1e-10)


@pytest.mark.parametrize(("positives", "negatives"), [(3, 3), (4, 6), (1, 9)])
def test_few_rows_are_exact_on_both_sides(positives, negatives):
    truth = np.arange(positives + negatives) < positives
    scores = np.random.default_rng(1).permutation(positives + negatives)
    table = ScoreTable.from_rows(scores, truth)
    theirs = mannwhitneyu(scores[truth], scores[~truth], method="exact").pvalue
    assert rank_sum_p_value(table, float(metrics.find("auc").of(table))) == pytest.approx(theirs, rel=1e-12)


def test_where_there_is_no_such_law():
    weighted = ScoreTable.from_rows([0.1, 0.2], [0, 1], [1.0, 2.5])
    assert rank_sum_p_value(weighted, 1.0) is None
    assert rank_sum_p_value(ScoreTable.from_rows([0.1, 0.2], [1, 1]), 0.5) is None
    assert rank_sum_p_value(ScoreTable.from_rows([0.5, 0.5], [0, 1]), 0.5) == 1.0
