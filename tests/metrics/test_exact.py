"""Figures against exact rational arithmetic, where floating point goes wrong."""

import math
from fractions import Fraction

import numpy as np
import pytest

import stakes
from stakes.tallies import Confusion, ScoreTable
from tests import exact
from tests.parts import complete

m = stakes.metrics


@pytest.mark.parametrize("size", [10**10, 10**15])
@pytest.mark.parametrize("shape", [(3, 1, 2, 5), (1, 0, 1, 9), (7, 7, 7, 7)])
def test_matthews_and_kappa_at_huge_counts(size, shape):
    # nearly independent tables: the difference of two products of some thirty digits
    four = [c * size + d for c, d in zip(shape, (1, 3, 2, 7), strict=True)]
    table = Confusion.two_class(**dict(zip(("tp", "fn", "fp", "tn"), four, strict=True)))
    tp, fn, fp, tn = map(Fraction, four)
    margins = (tp + fn) * (fp + tn) * (tp + fp) * (fn + tn)
    assert m.mcc(table) == pytest.approx(float((tp * tn - fp * fn) / exact.sqrt(margins)), rel=1e-15)
    assert m.kappa(table) == float(exact.run("(Po - Pe) / (1 - Pe)", exact.of_cells(*four)))


def test_a_table_one_count_away_from_independence():
    big = 10**15
    table = Confusion.two_class(tp=big + 1, fn=big, fp=big, tn=big)
    assert m.informedness(table) == float(Fraction((big + 1) * big - big * big, (2 * big + 1) * (2 * big)))


def test_auc_with_a_million_ties():
    score = np.concatenate([np.full(10**6, 0.5), [0.7, 0.2, 0.7]])
    truth = np.concatenate([np.arange(10**6) % 3 == 0, [True, True, False]])
    tied_p, tied_n = int(truth[: 10**6].sum()), int((~truth[: 10**6]).sum())
    wins = Fraction(tied_n) + Fraction(1, 2)  # the positive at 0.7 beats the tied negatives and ties with one
    wins += tied_p * Fraction(tied_n, 2)  # the tied ones among themselves
    assert m.auc(truth, score) == float(wins / ((tied_p + 2) * (tied_n + 1)))


def test_auc_of_scores_one_ulp_apart():
    low, high = 0.5, math.nextafter(0.5, 1)
    assert m.auc([0, 1], [low, high]) == 1
    assert m.auc([0, 1], [high, low]) == 0
    logit = -3.25
    assert m.auc([1, 0], [math.nextafter(logit, 0), logit]) == 1
    tiny = np.array([1e-45, 2.8e-45], np.float32)
    assert m.auc([0, 1], tiny) == 1


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_minus_zero_ties_with_zero(dtype):
    assert m.auc([0, 1], np.array([0.0, -0.0], dtype)) == 0.5
    assert m.auc([0, 1, 1], np.array([0.0, -0.0, -1.0], dtype)) == 0.25


def test_log_loss_of_a_probability_near_zero():
    assert m.log_loss([1], [1e-300], positive=1) == pytest.approx(300 * math.log(10), rel=1e-15)
    assert m.log_loss([1, 0], [1.0, 0.0]) == 0
    assert m.log_loss([1, 0], [0.0, 0.5]) == math.inf


def test_log_loss_and_brier_of_a_float32_near_zero():
    p = np.array([1e-9], np.float32)
    stored = Fraction(float(p[0]))
    assert m.log_loss([0], p, positive=1) == pytest.approx(float(stored + stored**2 / 2), rel=1e-14)
    assert m.brier_score([0], p, positive=1) == pytest.approx(float(stored**2), rel=1e-15)


@pytest.mark.slow
def test_brier_and_log_loss_do_not_drift_over_a_million_rows():
    rng = np.random.default_rng(5)
    p = rng.random(10**6)
    y = rng.random(10**6) < p
    exactly = math.fsum((float(a) - float(b)) ** 2 for a, b in zip(p, y, strict=True)) / len(p)
    assert m.brier_score(y, p) == pytest.approx(exactly, rel=1e-14)
    exactly = math.fsum(-math.log(a) if b else -math.log1p(-a) for a, b in zip(p.tolist(), y, strict=True)) / len(p)
    assert m.log_loss(y, p) == pytest.approx(exactly, rel=1e-14)


def test_weights_of_any_size_give_the_same_rates():
    truth, decided = [1, 1, 0, 0, 1], [1, 0, 0, 1, 1]
    weight = np.array([0.1, 0.2, 0.3, 0.4, 0.7])
    for scale in (1e-90, 1.0, 2.0**300):
        assert m.mcc(truth, decided, weight=weight * scale) == pytest.approx(m.mcc(truth, decided, weight=weight))
        assert m.auc(truth, weight, weight=weight * scale) == pytest.approx(m.auc(truth, weight, weight=weight))


def test_weighted_sums_do_not_drift():
    rng = np.random.default_rng(1)
    weight = rng.random(300_001)
    truth, decided = rng.random(300_001) < 0.4, rng.random(300_001) < 0.5
    table = stakes.evaluate(truth=truth, prediction=decided, weight=weight).confusion
    assert float(table.tp) == pytest.approx(math.fsum(weight[truth & decided]), rel=1e-14)
    assert table.squares[1, 1] == pytest.approx(math.fsum(weight[truth & decided] ** 2), rel=1e-14)


def test_the_same_table_gives_the_same_bytes_however_it_is_stored():
    rng = np.random.default_rng(3)
    score = rng.integers(0, 20_000, 100_000) / 20_000
    truth = rng.random(100_000) < score
    packed = ScoreTable.from_rows(score, truth)
    as_columns = ScoreTable("positive", "negative", packed.as_columns())
    halves = ScoreTable.from_rows(score[:777], truth[:777]) + ScoreTable.from_rows(score[777:], truth[777:])
    restored = ScoreTable.from_dict(packed.to_dict())
    for metric in [complete(metric) for metric in m.catalogue() if metric.tally is ScoreTable]:
        values = {metric.of(table) for table in (packed, as_columns, halves, restored)}
        assert len(values) == 1, metric.name


def test_threads_do_not_change_a_bit(monkeypatch):
    rng = np.random.default_rng(6)
    score = rng.random(400_000)
    table = ScoreTable.from_rows(score, rng.random(400_000) < score)
    wanted = [complete(metric) for metric in m.catalogue() if metric.tally is ScoreTable]
    alone = m.measure(wanted, table)
    monkeypatch.setattr("stakes.tallies.parallel._LARGE", 1)
    assert m.measure(wanted, table) == alone


def test_float32_scores_count_with_the_value_that_is_stored():
    rng = np.random.default_rng(4)
    score = rng.random(50_000).astype(np.float32)
    truth = rng.random(50_000) < score
    narrow, wide = ScoreTable.from_rows(score, truth), ScoreTable.from_rows(score.astype(np.float64), truth)
    assert narrow == wide
    for metric in [complete(metric) for metric in m.catalogue() if metric.tally is ScoreTable]:
        assert metric.of(narrow) == metric.of(wide), metric.name
