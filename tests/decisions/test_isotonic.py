"""The rising curve, against fractions, SciPy and scikit-learn."""

import importlib
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from stakes import ScoreTable
from stakes.decisions.calibration import isotonic
from stakes.decisions.calibration.isotonic import pool_adjacent, rising_curve
from tests.parts import examples


def by_fractions(sums, weights):
    """Pool the textbook way: one entry after the other, exactly."""
    blocks: list[list] = []
    for s, w in zip(sums, weights, strict=True):
        blocks.append([Fraction(s), Fraction(w), 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            s1, w1, n1 = blocks.pop()
            blocks[-1] = [blocks[-1][0] + s1, blocks[-1][1] + w1, blocks[-1][2] + n1]
    return [float(s / w) for s, w, n in blocks for _ in range(n)]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=40))
def test_weighted_entries_against_fractions(entries):
    weights = [weight for _, weight in entries]
    sums = [m * w for m, w in entries]
    found = pool_adjacent(np.array(sums), np.array(weights))
    assert found.fitted().tolist() == pytest.approx(by_fractions(sums, weights), abs=1e-14)
    assert (np.diff(found.levels) > 0).all()
    assert found.sums.sum() == sum(sums)
    assert found.weights.sum() == sum(weights)


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_labels_against_fractions(labels):
    found = pool_adjacent(np.array(labels))
    assert found.fitted().tolist() == pytest.approx(by_fractions(map(int, labels), [1] * len(labels)), abs=1e-14)


@examples(50)
@given(st.lists(st.booleans(), min_size=20, max_size=200), st.integers(1, 9))
@example([digit == "1" for digit in "1011110001111111000001111100001111100000100000"], 1)
def test_short_stretches_change_nothing(labels, stretch):
    whole = pool_adjacent(np.array(labels))
    usual, isotonic._STRETCH = isotonic._STRETCH, stretch
    try:
        cut, weighted = pool_adjacent(np.array(labels)), pool_adjacent(np.array(labels), np.ones(len(labels)))
    finally:
        isotonic._STRETCH = usual
    for other in (cut, weighted):
        assert other.starts.tolist() == whole.starts.tolist()
        assert other.levels.tolist() == pytest.approx(whole.levels.tolist(), abs=1e-14)


@pytest.mark.parametrize("rate", [0.5, 0.01, 0.999])
def test_many_labels_against_scipy(rate):
    rng = np.random.default_rng(3)
    n = 300_000
    labels = rng.random(n) < rate * np.linspace(0.5, 1, n)
    assert np.abs(pool_adjacent(labels).fitted() - isotonic_regression(labels.astype(float)).x).max() < 1e-12


def test_entries_may_be_negative_and_weights_broken():
    rng = np.random.default_rng(4)
    y, w = rng.normal(size=5000) + np.linspace(-1, 1, 5000), rng.random(5000) + 0.01
    expected = isotonic_regression(y, weights=w)
    found = pool_adjacent(y * w, w)
    assert np.abs(found.fitted() - expected.x).max() < 1e-12
    assert found.starts.tolist() == expected.blocks[:-1].tolist()
    assert (found.last + 1).tolist() == expected.blocks[1:].tolist()


def test_the_curve_of_a_table_pools_ties_first():
    sklearn = importlib.import_module("sklearn.isotonic")
    rng = np.random.default_rng(5)
    score, weight = np.round(rng.random(400), 2), rng.random(400)
    truth = rng.random(400) < score
    table = ScoreTable.from_rows(score, truth, weight)
    model = sklearn.IsotonicRegression(out_of_bounds="clip").fit(score, truth, weight)
    x, levels = rising_curve(table)
    places = np.linspace(-0.2, 1.2, 501)
    assert np.interp(places, x, levels) == pytest.approx(model.predict(places), abs=1e-12)
    assert len(x) < len(np.unique(score))


def test_upwards_turns_a_table_round():
    scores, positives, negatives = ScoreTable.from_rows([0.3, 0.1, 0.3, 0.9], [1, 0, 0, 1]).upwards()
    assert (scores.tolist(), positives.tolist(), negatives.tolist()) == ([0.1, 0.3, 0.9], [0, 1, 1], [1, 1, 0])
