"""The mean of what rows add is the figure itself."""

import numpy as np
import pytest

from stakes import metrics
from stakes.tallies import ClassScores, ErrorSums, ScoreTable
from stakes.uncertainty.row_losses import is_mean_of_losses, row_loss

RANDOM = np.random.default_rng(4)
N = 200


def columns(metric):
    if metric.tally is ScoreTable:
        truth = RANDOM.random(N) < 0.4
        return truth.astype(int), RANDOM.random(N), truth.astype(float)
    if metric.tally is ClassScores:
        truth, scores = RANDOM.integers(0, 3, N), RANDOM.dirichlet([1, 1, 1], N)
        return truth, scores, truth
    truth = RANDOM.gamma(2, size=N)
    return truth, truth + RANDOM.random(N), truth


@pytest.mark.parametrize("name", [metric.name for metric in metrics.catalogue() if is_mean_of_losses(metric)])
def test_the_mean_loss_is_the_figure(name):
    metric = metrics.find(name)
    if metric.defaults:
        parameter = next(iter(metric.defaults))
        metric = metric.with_parameters(**{parameter: {"alpha": 0.8, "k": 1}[parameter]})
    truth, output, given = columns(metric)
    if metric.tally is ClassScores:
        whole = metric.of(ClassScores.from_rows(output, truth, ("a", "b", "c")))
    elif metric.tally is ErrorSums:
        whole = metric.of(ErrorSums.from_rows(truth, output))
    else:
        whole = metric.of(ScoreTable.from_rows(output, truth))
    assert row_loss(metric)(given, output).mean() == pytest.approx(whole, rel=1e-12)


def test_what_was_thought_impossible_is_infinitely_surprising():
    assert row_loss(metrics.find("log_loss"))(np.array([1.0, 0.0]), np.array([0.0, 1.0])).tolist() == [np.inf, np.inf]
    assert row_loss(metrics.find("log_loss"))(np.array([1.0, 0.0]), np.array([1.0, 0.0])).tolist() == [0, 0]
