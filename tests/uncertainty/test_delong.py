"""DeLong's method against its definition: the kernel of every pair of a positive and a negative."""

import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from stakes.uncertainty import delong


def rows(seed, n=80, ties=True):
    random = np.random.default_rng(seed)
    truth = random.random(n) < 0.4
    scores = random.normal(size=(2, n)) + truth + random.normal(size=n)
    return truth, np.round(scores, 1) if ties else scores


def slow(scores, truth):
    """Areas and their covariance from the kernel matrices, as DeLong et al. wrote them."""
    kernels = [np.sign(s[truth][:, None] - s[~truth][None]) / 2 + 0.5 for s in scores]
    of_positives = np.cov([kernel.mean(1) for kernel in kernels])
    of_negatives = np.cov([kernel.mean(0) for kernel in kernels])
    return [kernel.mean() for kernel in kernels], of_positives / truth.sum() + of_negatives / (~truth).sum()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ties", [True, False])
def test_areas_and_variances_are_those_of_the_definition(seed, ties):
    truth, scores = rows(seed, ties=ties)
    values, covariance = slow(scores, truth)
    first, second = (delong.area(s, truth) for s in scores)
    assert first.value == pytest.approx(roc_auc_score(truth, scores[0]), abs=1e-14)
    assert [first.value, second.value] == pytest.approx(values, abs=1e-14)
    assert delong.variance(first.influence, truth) == pytest.approx(covariance[0, 0], rel=1e-12)
    of_difference = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert delong.variance(first.influence - second.influence, truth) == pytest.approx(of_difference, rel=1e-10)


def test_whole_weights_place_rows_like_repeated_ones():
    truth, scores = rows(1)
    weight = np.random.default_rng(0).integers(1, 4, len(truth)).astype(float)
    many = np.repeat(np.arange(len(truth)), weight.astype(int))
    weighted, repeated = delong.area(scores[0], truth, weight), delong.area(scores[0][many], truth[many])
    assert weighted.value == pytest.approx(repeated.value, abs=1e-14)
    assert weighted.value == pytest.approx(roc_auc_score(truth, scores[0], sample_weight=weight), abs=1e-14)
    sums = np.bincount(many, repeated.influence)
    assert weighted.influence == pytest.approx(sums, abs=1e-14)


def test_the_variance_is_that_of_rows_drawn_again():
    truth, scores = rows(3, n=400, ties=False)
    random, found = np.random.default_rng(0), []
    positives, negatives = np.flatnonzero(truth), np.flatnonzero(~truth)
    for _ in range(2000):
        again = np.append(random.choice(positives, len(positives)), random.choice(negatives, len(negatives)))
        found.append(
            delong.area(scores[0][again], truth[again]).value - delong.area(scores[1][again], truth[again]).value
        )
    first, second = (delong.area(s, truth) for s in scores)
    assert math.sqrt(delong.variance(first.influence - second.influence, truth)) == pytest.approx(
        np.std(found), rel=0.06
    )


def test_the_mean_area_of_two_classes_is_the_area():
    truth, scores = rows(2)
    both = np.stack([-scores[0], scores[0]], axis=-1)
    mean, single = delong.mean_area(both, truth.astype(int), np.full(2, 0.5)), delong.area(scores[0], truth)
    assert mean.value == pytest.approx(single.value, abs=1e-14)
    assert mean.influence == pytest.approx(single.influence, abs=1e-14)


def test_the_spread_of_a_mean_area_is_that_of_rows_drawn_again():
    random = np.random.default_rng(5)
    truth = random.integers(0, 3, 300)
    scores = random.random((300, 3))
    scores[np.arange(300), truth] += 0.4
    mean = delong.mean_area(scores, truth, np.full(3, 1 / 3))
    one_against_rest = [roc_auc_score(truth == c, scores[:, c]) for c in range(3)]
    assert mean.value == pytest.approx(np.mean(one_against_rest), abs=1e-14)
    classes = [np.flatnonzero(truth == c) for c in range(3)]
    found = []
    for _ in range(1000):
        again = np.concatenate([random.choice(rows, len(rows)) for rows in classes])
        found.append(delong.mean_area(scores[again], truth[again], np.full(3, 1 / 3)).value)
    assert math.sqrt(delong.variance(mean.influence, truth)) == pytest.approx(np.std(found), rel=0.08)


def test_a_class_of_one_row_has_no_variance():
    assert math.isnan(delong.variance(np.array([0.1, -0.1, 0.0]), np.array([1, 0, 0])))


def test_the_normal_interval_and_its_p_value():
    low, high, p_value = delong.normal_interval(0.03, 0.01, 0.9)
    assert (low, high) == pytest.approx(norm.interval(0.9, 0.03, 0.01))
    assert p_value == pytest.approx(2 * norm.sf(3), rel=1e-12)
    assert delong.normal_interval(0.0, 0.0, 0.95) == (0, 0, 1)
