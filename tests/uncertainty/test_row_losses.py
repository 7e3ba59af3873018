"""The mean of what rows add is the figure itself, or that divided by the loss of the class frequencies."""

import numpy as np
import pytest

from stakes import count, metrics
from stakes.tallies import ClassScores, ErrorSums, ScoreTable
from stakes.tallies.class_scores import ORDERED
from stakes.uncertainty.scores import LossRows, of_losses

N = 200
PARAMETERS = {
    "pinball": {"alpha": 0.8},
    "top_k_accuracy": {"k": 1},
    "net_benefit": {"threshold": 0.3},
    "soft_cost": {"miss": 5, "false_alarm": 1},
}


def columns(metric):
    """What a loss is asked with, and the whole tally."""
    random = np.random.default_rng(4)
    if metric.tally is ScoreTable:
        truth, scores = random.random(N) < 0.4, random.random(N)
        return truth, scores, ScoreTable.from_rows(scores, truth)
    if metric.tally is ClassScores:
        truth, scores = random.choice(3, N, p=(0.5, 0.3, 0.2)), random.dirichlet([1, 1, 1], N)
        return truth, scores, ClassScores.from_rows(scores, truth, ("a", "b", "c"), parts=ORDERED)
    truth = random.gamma(2, size=N)
    prediction = np.abs(truth + random.normal(size=N))
    return truth, prediction, ErrorSums.from_rows(truth, prediction)


@pytest.mark.parametrize("name", [metric.name for metric in metrics.catalogue() if metric.loss is not None])
def test_the_mean_loss_is_the_figure(name):
    metric = metrics.find(name).with_parameters(**PARAMETERS.get(name, {}))
    truth, output, whole = columns(metric)
    mean = metric.row_losses(truth, output).mean()
    if metric.relative_to is not None:
        sizes = np.array([truth.sum(), (~truth).sum()]) if metric.tally is ScoreTable else np.bincount(truth)
        mean /= metric.relative_to(sizes)
    mean = mean**0.5 if metric.root else mean
    assert mean == pytest.approx(float(metric.of(whole)), rel=1e-12)


def test_what_was_thought_impossible_is_infinitely_surprising():
    surprise = metrics.find("log_loss").row_losses
    assert surprise(np.array([True, False]), np.array([0.0, 1.0])).tolist() == [np.inf, np.inf]
    assert surprise(np.array([True, False]), np.array([1.0, 0.0])).tolist() == [0, 0]


def test_a_figure_that_is_no_mean_has_no_row_losses():
    with pytest.raises(TypeError, match="auc is not a mean over rows"):
        metrics.find("auc").row_losses(np.array([True]), np.array([0.5]))


@pytest.mark.parametrize("name", ["brier_score", "log_loss"])
def test_very_many_bins_vary_like_a_few_that_are_wider(name, monkeypatch):
    random = np.random.default_rng(5)
    scores = random.beta(0.3, 2, 20_000).clip(1e-9)
    table = count(truth=(random.random(20_000) < scores).astype(int), score=scores, exact=False).scores
    fine = of_losses(metrics.find(name), LossRows.of_table(table))
    monkeypatch.setattr("stakes.uncertainty.scores.MOST_ROWS", 100)
    wide = of_losses(metrics.find(name), LossRows.of_table(table))
    assert len(wide.changes) < 0.7 * len(fine.changes)
    assert wide.counts.sum() == fine.counts.sum() == 20_000
    assert wide.error == pytest.approx(fine.error, rel=1e-4)
