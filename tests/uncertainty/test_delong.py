"""The variance of areas is DeLong's where class counts are fixed: against the kernel of all pairs of rows."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from stakes import metrics
from stakes.metrics.many import Ranking
from stakes.tallies import ClassScores, ScoreTable
from stakes.uncertainty.changes import influences
from stakes.uncertainty.sampling import Sampling

FIXED = Sampling(design="classes fixed")
AUC = metrics.find("auc")


def rows(seed, n=80, ties=True):
    random = np.random.default_rng(seed)
    truth = random.random(n) < 0.4
    scores = random.normal(size=n) + truth
    return truth, np.round(scores, 1) if ties else scores


def placements(scores, truth):
    """Over how many negatives each positive lies, and under how many positives each negative (shares; ties half)."""
    kernel = np.sign(scores[truth][:, None] - scores[~truth][None]) / 2 + 0.5
    return kernel.mean(1), kernel.mean(0)


def influence_of(name, tally, sampling=FIXED):
    metric = metrics.find(name)
    (found,) = influences([metric], [float(metric.of(tally))], tally, sampling)
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ties", [True, False])
def test_the_variance_is_that_of_the_definition(seed, ties):
    truth, scores = rows(seed, ties=ties)
    of_positives, of_negatives = placements(scores, truth)
    wanted = of_positives.var(ddof=1) / truth.sum() + of_negatives.var(ddof=1) / (~truth).sum()
    table = ScoreTable.from_rows(scores, truth)
    assert influence_of("auc", table).error ** 2 == pytest.approx(wanted, rel=1e-10)
    assert influence_of("gini", table).error ** 2 == pytest.approx(4 * wanted, rel=1e-10)
    assert influence_of("auc", table).most_degrees == min(truth.sum(), (~truth).sum()) - 1


def test_random_class_counts_add_what_their_bias_tells():
    """With class counts left open each row is drawn among all of them: (n − 1)/n instead of (P − 1)/P."""
    truth, scores = rows(1)
    of_positives, of_negatives = placements(scores, truth)
    P, N = truth.sum(), (~truth).sum()
    squares = of_positives.var() * P / (P - 1) ** 2 + of_negatives.var() * N / (N - 1) ** 2
    found = influence_of("auc", ScoreTable.from_rows(scores, truth), Sampling())
    assert found.error**2 == pytest.approx(squares * 79 / 80, rel=1e-10)


def test_whole_weights_place_rows_like_repeated_ones():
    truth, scores = rows(1)
    weight = np.random.default_rng(0).integers(1, 4, len(truth)).astype(float)
    many = np.repeat(np.arange(len(truth)), weight.astype(int))
    weighted, repeated = (
        Ranking(scores, truth, weight),
        Ranking(scores[many], truth[many], np.ones(len(many))),
    )
    assert weighted.value(AUC) == pytest.approx(roc_auc_score(truth, scores, sample_weight=weight), abs=1e-14)
    # to first order a row of weight 3 changes what three rows do together
    assert repeated.value(AUC) == pytest.approx(weighted.value(AUC), abs=1e-14)
    assert weighted.changes(AUC) == pytest.approx(np.bincount(many, repeated.changes(AUC)), rel=0.05)


def test_weights_enter_as_the_squares_of_their_shares():
    truth, scores = rows(2, 120)
    weight = np.where(truth, 2.0, 1.0) * np.where(scores > 0.5, 3.0, 1.0)
    kernel = np.sign(scores[truth][:, None] - scores[~truth][None]) / 2 + 0.5
    w, v = weight[truth] / weight[truth].sum(), weight[~truth] / weight[~truth].sum()
    auc = w @ kernel @ v
    wanted = w**2 @ (kernel @ v - auc) ** 2 + v**2 @ (w @ kernel - auc) ** 2
    table = ScoreTable.from_rows(scores, truth, weight)
    assert influence_of("auc", table).error ** 2 == pytest.approx(wanted, rel=0.05)
    for unit in (1.0, 1e-3):
        same = influence_of("auc", ScoreTable.from_rows(scores, truth, np.full(120, unit)))
        assert same.error == pytest.approx(influence_of("auc", ScoreTable.from_rows(scores, truth)).error)


def test_the_mean_area_of_two_classes_is_the_area():
    truth, scores = rows(2)
    chance = 1 / (1 + np.exp(-scores))
    both = ClassScores.from_rows(np.stack([1 - chance, chance], axis=-1), truth.astype(int), ("a", "b"))
    single = influence_of("auc", ScoreTable.from_rows(scores, truth), Sampling())
    mean = influence_of("macro_auc", both, Sampling())
    assert metrics.find("macro_auc").of(both) == pytest.approx(roc_auc_score(truth, scores), abs=1e-14)
    assert mean.error == pytest.approx(single.error, rel=1e-9)


def test_the_spread_of_a_mean_area_is_that_of_rows_drawn_again():
    random = np.random.default_rng(5)
    truth = random.integers(0, 3, 150)
    scores = random.random((150, 3))
    scores[np.arange(150), truth] += 0.4
    scores /= scores.sum(1, keepdims=True)
    classes = [np.flatnonzero(truth == c) for c in range(3)]

    def mean_area(rows):
        return np.mean([np.mean(placements(scores[rows, c], truth[rows] == c)[0]) for c in range(3)])

    tally = ClassScores.from_rows(scores, truth, ("a", "b", "c"))
    assert metrics.find("macro_auc").of(tally) == pytest.approx(mean_area(np.arange(150)), abs=1e-14)
    drawn = [mean_area(np.concatenate([random.choice(rows, len(rows)) for rows in classes])) for _ in range(400)]
    assert influence_of("macro_auc", tally).error == pytest.approx(np.std(drawn), rel=0.12)


def test_a_class_of_one_row_has_no_variance():
    assert influence_of("auc", ScoreTable.from_rows([0.1, 0.5, 0.7], [0, 1, 0])) == "a class has a single row"
