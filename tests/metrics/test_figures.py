"""Published figures and worked examples that every release must reproduce."""

import math

import numpy as np
import pytest

import stakes
from stakes.tallies import Confusion, ScoreTable

m = stakes.metrics


def test_the_covid_table():
    table = Confusion.two_class(tp=2739, fn=56, fp=4, tn=1042)
    assert m.precision(table) == pytest.approx(0.998542, abs=5e-7)
    assert m.recall(table) == pytest.approx(0.979964, abs=5e-7)
    assert m.accuracy(table) == pytest.approx(0.984379, abs=5e-7)


def test_six_cases_by_their_decisions():
    truth, decided = list("YYNYYN"), list("YNYYNN")
    table = stakes.evaluate(truth=truth, prediction=decided, positive="Y").confusion
    assert (table.tp, table.fn, table.fp, table.tn) == (2, 2, 1, 1)


def test_six_cases_under_two_thresholds():
    truth = list("YYNYYN")
    score = [0.9, 0.4, 0.6, 0.8, 0.1, 0.35]
    ev = stakes.evaluate(truth=truth, score=score, positive="Y")
    assert (ev.confusion.tp, ev.confusion.fn, ev.confusion.fp, ev.confusion.tn) == (2, 2, 1, 1)
    lower = ev.at(0.3).confusion
    assert (lower.tp, lower.fn, lower.fp, lower.tn) == (3, 1, 2, 0)


def test_always_positive_at_eighty_percent():
    table = Confusion.two_class(tp=80, fn=0, fp=20, tn=0)
    assert m.f1(table) == pytest.approx(0.888889, abs=5e-7)
    assert m.f1(table.swapped()) == 0
    mcc = m.find("mcc")
    assert math.isnan(mcc.of(table))
    assert mcc.why_undefined(table) == "every case gets the same decision"


ORDER = "PPNPPPNNPNPNPNNNPNPN"
SCORES = [
    *(0.9, 0.8, 0.7, 0.6, 0.55, 0.54, 0.53, 0.52, 0.51, 0.505),
    *(0.4, 0.39, 0.38, 0.37, 0.36, 0.35, 0.34, 0.33, 0.3, 0.1),
]


def test_the_twenty_ranked_cases():
    truth = [label == "P" for label in ORDER]
    assert m.auc(truth, SCORES) == 0.68
    assert m.average_precision(truth, SCORES) == pytest.approx(0.735748, abs=5e-7)
    assert m.auc(truth, [-s for s in SCORES]) == pytest.approx(1 - 0.68, abs=1e-15)
    assert m.gini(truth, SCORES) == pytest.approx(0.36, abs=1e-15)


def test_the_retrieval_order():
    found = [1, 1, 0, 1, 0, 1, 0, 0, 0, 1]
    score = np.arange(10, 0, -1)
    precision = [m.precision_at_k(found, score, k=k) for k in range(1, 11)]
    recall = [m.recall_at_k(found, score, k=k) for k in range(1, 11)]
    assert precision == pytest.approx([1, 1, 0.667, 0.75, 0.6, 0.667, 0.571, 0.5, 0.444, 0.5], abs=5e-4)
    assert recall == pytest.approx([0.2, 0.4, 0.4, 0.6, 0.6, 0.8, 0.8, 0.8, 0.8, 1])
    assert m.average_precision(found, score) == pytest.approx(0.783333, abs=5e-7)


def test_five_scores_have_five_thresholds_and_nobody():
    table = ScoreTable.from_rows([0.2, 0.1, 0.5, 0.9, 0.8], [0, 1, 0, 1, 1])
    assert table.thresholds.tolist() == [math.inf, 0.9, 0.8, 0.5, 0.2, 0.1]


def test_a_constant_score_ranks_like_the_prevalence():
    truth = [1, 0, 0, 1, 0]
    assert m.average_precision(truth, [7] * 5) == pytest.approx(0.4)
    assert m.auc(truth, [7] * 5) == 0.5


def test_the_best_informedness_is_ks():
    truth = [label == "P" for label in ORDER]
    tables = ScoreTable.from_rows(SCORES, truth).confusions()
    assert m.ks(truth, SCORES) == pytest.approx(max(m.informedness.of(tables)))


def test_the_one_point_area_is_the_balanced_accuracy():
    table = Confusion.two_class(tp=130, fn=82, fp=105, tn=529)
    assert m.one_point_auc(table) == m.balanced_accuracy(table)
    assert m.one_point_auc(table) == pytest.approx(0.723796, abs=5e-7)


@pytest.mark.parametrize("scale", [1.0, 2.0, 1 / 500])
def test_figures_at_k_do_not_depend_on_the_scale_of_the_weights(scale):
    truth, score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.2, 0.1]
    equal = np.full(5, scale)
    assert m.precision_at_k(truth, score, weight=equal, k=3) == pytest.approx(2 / 3)
    assert m.recall_at_k(truth, score, weight=equal, k=5) == pytest.approx(1)
    # weights 2, 1, 1: as 16 / 6 rows of weight 6 / 4 each, of which the highest is within the first row
    uneven = scale * np.array([2, 1, 1])
    assert m.recall_at_k([1, 0, 1], [0.9, 0.8, 0.7], weight=uneven, k=1) == pytest.approx(1.5 / 3)
    assert m.precision_at_k([1, 0, 1], [0.9, 0.8, 0.7], weight=uneven, k=2) == pytest.approx(2 / 3)


def test_coverage_is_undefined_where_no_decision_is_named_like_a_class():
    costs = stakes.Costs([[1, 5], [1, 0]], classes=["sick", "well"], decisions=["treat", "wait"])
    ev = stakes.evaluate(truth=["sick", "well", "well"], prediction=["treat", "wait", "wait"], costs=costs)
    assert not ev["coverage"].defined
    assert ev["coverage"].reason == "no decision is named like a class"
