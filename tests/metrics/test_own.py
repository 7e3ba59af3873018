"""Figures that users declare."""

import math

import numpy as np
import pytest

import stakes
from stakes.metrics.declare import CATALOGUE

Y = np.array([0, 1, 1, 0, 1, 0, 1, 0] * 20)
P = np.clip(0.4 * Y + 0.6 * np.random.default_rng(0).random(160), 0, 1)
D = P >= 0.5


@pytest.fixture(autouse=True)
def forget():
    before = dict(CATALOGUE)
    yield
    CATALOGUE.clear()
    CATALOGUE.update(before)


def g_mean(c):
    return math.sqrt(c.tp / c.P * (c.tn / c.N))  # of a single table: math knows no arrays


def found_share(c):
    return c.tp / (c.tp + c.fn)


def test_an_own_figure_is_judged_like_a_declared_one():
    stakes.metric(found_share, question="What share is found?", range=(0, 1))
    ev, other = stakes.evaluate(truth=Y, score=P), np.sqrt(P)
    own, declared = ev["found_share"], ev["recall"]
    assert own.value == declared.value
    assert own.baseline == pytest.approx(declared.baseline)
    assert own.low <= own.value <= own.high
    pairs = [
        stakes.compare(truth=Y, scores={"a": P, "b": other}, metric=name).pairs[0] for name in ("found_share", "recall")
    ]
    assert pairs[0].difference == pairs[1].difference
    tests = [stakes.permutation_test(truth=Y, prediction=D, metric=name).p_value for name in ("found_share", "recall")]
    assert tests[0] == pytest.approx(tests[1], rel=1e-9)
    assert stakes.gate(ev, require="found_share >= 0.1").passed
    assert not stakes.gate(ev, require="found_share >= 1.1").passed
    assert stakes.metrics.found_share(Y, D) == declared.value
    assert "found_share" in str(stakes.metrics.found_share.scorer())
    assert stakes.evaluate(truth=Y, score=P, by=["a", "b"] * 80).by_segment("found_share").segments


def test_a_function_of_single_tables_has_an_interval_too():
    assert stakes.metric(g_mean).name == "g_mean"
    found = stakes.evaluate(truth=Y, score=P)["g_mean"]
    rates = [stakes.evaluate(truth=Y, score=P)[name].value for name in ("recall", "specificity")]
    assert found.value == pytest.approx(math.sqrt(math.prod(rates)), rel=1e-12)
    assert found.low < found.value < found.high


def test_a_division_by_zero_is_undefined():
    stakes.metric(lambda c: c.fp / c.fn, name="alarms_per_miss", better="lower")
    found = stakes.evaluate(truth=[0, 1, 1, 0], prediction=[1, 1, 1, 0])["alarms_per_miss"]
    assert math.isnan(found.value)
    assert found.reason == "its function divides by zero, or has no value"


def test_a_name_can_be_declared_again():
    stakes.metric(lambda c: c.tp, name="mine")
    stakes.metric(lambda c: c.fp, name="mine")
    assert stakes.metrics.mine([0, 1, 1], [1, 1, 1]) == 1


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"name": "auc"}, "name='auc' is no name for a figure of your own, or that of another one"),
        ({"name": "roc_auc"}, "name='roc_auc' is no name"),
        ({"name": "two words"}, "name='two words' is no name"),
        ({}, "name='<lambda>' is no name"),
        ({"name": "x", "better": "up"}, "better='up' is not known; give 'higher', 'lower' or 'neither'"),
    ],
)
def test_what_is_no_figure_of_ones_own(facts, words):
    with pytest.raises(stakes.InputError) as caught:
        stakes.metric(lambda c: c.tp, **facts)
    assert str(caught.value).startswith(words)


def test_a_function_that_fails_is_told():
    stakes.metric(lambda c: c.nothing, name="broken")
    with pytest.raises(stakes.InputError, match=r"the function of broken failed \(AttributeError: .*nothing.*\)"):
        stakes.evaluate(truth=Y, score=P)["broken"]
