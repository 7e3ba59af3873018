"""Costs, switch points and Bayes decisions: published figures, exact fractions and brute force."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stakes
from stakes.tallies import Confusion
from stakes.tallies.costs import Costs
from tests.parts import Lazily, examples

pd, pl = Lazily("pandas"), Lazily("polars")


def test_switch_points_of_the_tumour():
    costs = Costs([[0, 10, 1000], [500, 20, 0]], ["tumour", "none"], ["operate", "tests", "home"])
    found = costs.switch_points("tumour")
    assert found == [("home", 0), ("tests", Fraction(20, 1010)), ("operate", Fraction(480, 490))]
    assert costs.never_cheapest() == []


def test_switch_points_of_a_loan():
    gains = [[0, 0.45, 0.5], [0, -0.24, -0.4]]
    costs = Costs.from_utilities(gains, ["repays", "defaults"], ["refuse", "small loan", "large loan"])
    wanted = ((Fraction(1, 2), Fraction(1, 20), 0), (0, Fraction(24, 100), Fraction(4, 10)))
    assert costs.matrix == wanted
    found = costs.switch_points("defaults")
    assert found == [("large loan", 0), ("small loan", Fraction(5, 21)), ("refuse", Fraction(15, 23))]


def test_two_classes():
    assert Costs([[0, 1], [10, 0]], ["negative", "positive"]).switch_points("positive")[1] == (
        "positive",
        Fraction(1, 11),
    )
    assert Costs(miss=10, false_alarm=1).switch_points() == [("negative", 0), ("positive", Fraction(1, 11))]
    assert Costs(miss=0, false_alarm=1).switch_points() == [("negative", 0)]
    assert Costs(miss=0, false_alarm=1).never_cheapest() == ["positive"]


def test_the_advertisement():
    costs = Costs({"big": {"say small": 160, "say big": 0}, "small": {"say small": 0, "say big": 15}})
    found = costs.bayes_decisions([[0.1, 0.9], [0.05, 0.95]])
    assert list(found) == ["say big", "say small"]
    assert found.expected == {"say small": [16, 8], "say big": pytest.approx([13.5, 14.25])}
    assert found.to_rows()[0] == {"decision": "say big", "say small": 16, "say big": 13.5}
    one = costs.bayes_decisions({"big": 0.1})
    assert (one.decision, one.expected) == ("say big", {"say small": 16, "say big": 13.5})
    assert repr(one) == "<say big; expected costs: say small 16, say big 13.5>"
    assert json.loads(one.to_json())["taken"] == ["say big"]


def test_probabilities_come_as_rows_dictionaries_and_columns():
    scan = Costs([[0, 10, 1000], [500, 20, 0]], ["tumour", "none"], ["operate", "tests", "home"])
    p = [0.01, 0.3, 0.99]
    wanted = ["home", "tests", "operate"]
    rows = [[one, 1 - one] for one in p]
    columns = {"none": [1 - one for one in p], "tumour": p}
    for said, more in (
        (rows, {}),
        (np.array(rows), {}),
        (columns, {}),
        (pd.DataFrame(columns), {}),
        (pl.DataFrame(columns), {}),
        (p, {"positive": "tumour"}),
        (pd.Series(p), {"positive": "tumour"}),
        ({"tumour": p}, {}),
    ):
        assert list(scan.bayes_decisions(said, **more)) == wanted
    for said, more in (([0.3, 0.7], {}), (0.3, {"positive": "tumour"}), ({"tumour": 0.3, "none": 0.7}, {})):
        assert scan.bayes_decisions(said, **more).decision == "tests"
    pair = Costs(miss=5, false_alarm=1)
    assert list(pair.bayes_decisions([0.1, 0.2, 0.9])) == ["negative", "positive", "positive"]
    assert list(pair.bayes_decisions([0.1, 0.9], positive="positive")) == ["negative", "positive"]
    assert pair.bayes_decisions([0.1, 0.9]).decision == "positive"  # a row: it adds up to 1


def test_ties_are_broken_alike_through_every_door():
    """A miss three times a false alarm: at p = 1/4 both decisions cost the same, and positive is decided."""
    costs, p = Costs(miss=3, false_alarm=1), [0.5, 0.25, 0.1]
    amounts = Costs(miss="amount", false_alarm=1)
    by_name = Costs([[0, 1], [3, 0]], ["0", "1"])
    rows = {"y": [1, 0, 0], "p": p, "amount": [3.0, 3.0, 3.0]}
    wanted = [1, 1, 0]
    assert list(costs.bayes_decisions(p).codes) == wanted
    assert list(by_name.bayes_decisions(p, positive="1").codes) == wanted
    for priced in (costs, by_name, amounts):
        table = stakes.evaluate(rows, truth="y", score="p", costs=priced).confusion
        assert table.decision_totals.tolist() == [1, 2]
    assert Costs([[0, 1], [1, 0]], ["a", "b"]).bayes_decisions([[0.5, 0.5]]).names == ["a"]  # nothing is positive


@examples(200)
@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=2, max_size=6).filter(
        lambda lines: len(set(lines)) > 1
    )
)
def test_switch_points_are_the_cheapest_decisions(lines):
    names = [f"d{i}" for i in range(len(lines))]
    costs = Costs(list(zip(*lines, strict=True)), ["no", "yes"], names)
    found = costs.switch_points("yes")
    assert [start for _, start in found] == sorted({start for _, start in found})
    for p in (Fraction(i, 97) for i in range(1, 97)):
        best = min((1 - p) * a + p * b for a, b in lines)
        taken = [name for name, start in found if start <= p][-1]
        a, b = lines[names.index(taken)]
        assert (1 - p) * a + p * b == best


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Costs(), "give Costs.miss=5, false_alarm=1., or a matrix with classes="),
        (lambda: Costs(miss=5), "give Costs.miss=5, false_alarm=1., or a matrix"),
        (lambda: Costs([[0, 1], [5, 0]]), "a cost matrix needs classes="),
        (
            lambda: Costs([[0, 1, 2], [5, 0, 1]], ["a", "b"]),
            "is 2 × 3, but there are 2 classes × 2 decisions",
        ),
        (
            lambda: Costs([[0, None], [5, 0]], ["a", "b"]),
            "the cost of 'b' for the class 'a' is None; give a",
        ),
        (lambda: Costs([[0, np.inf], [5, 0]], ["a", "b"]), "the cost of 'b' for the class 'a' is inf"),
        (
            lambda: Costs({"a": {"x": 0, "y": 1}, "b": {"x": 2}}),
            "the class 'a' has a cost of the decision 'y', but the class 'b' has none",
        ),
        (lambda: Costs([[0, 1], [5, 0]], ["a", "b"]).switch_points("c"), "switch points are for two classes"),
        (
            lambda: Costs([[0, 1], [5, 0]], ["a", "b"]).for_table(["a", "B"], ["a", "b"], None),
            "no class 'B'; did you mean",
        ),
        (
            lambda: Costs(miss=1, false_alarm=1).for_table("abc", "abc", None),
            "miss and false_alarm are for two classes",
        ),
    ],
)
def test_costs_that_do_not_work(make, words):
    with pytest.raises(stakes.InputError, match=words):
        make()


def test_costs_are_put_in_the_order_of_a_table():
    costs = Costs([[0, 10, 1000], [500, 20, 0]], ["tumour", "none"], ["operate", "tests", "home"])
    assert costs.for_table(["none", "tumour"], ["home", "operate"], None) == [(0, 500), (1000, 0)]
    pair = Costs(miss=5, false_alarm=1)
    table = Confusion.two_class(tp=1, fn=1, fp=1, tn=1)
    assert pair.for_table(table.truths, table.decisions, "positive") == [(0, 1), (5, 0)]
    assert pair.for_table(("yes", "no"), ("no", "yes"), "yes") == [(5, 0), (0, 1)]


# ── figures of cost ──────────────────────────────────────────────────────────────────────────────────────────────
def test_costs_of_mistakes():
    table = Confusion.two_class(tp=30, fn=10, fp=20, tn=140)
    cost, relative = stakes.metrics.expected_cost, stakes.metrics.normalised_cost
    assert cost(table, miss=5, false_alarm=1) == (5 * 10 + 20) / 200
    assert relative(table, miss=5, false_alarm=1) == (5 * 10 + 20) / min(5 * 40, 160)
    assert cost.with_parameters(miss=5, false_alarm=1).baseline_of(table) == 160 / 200  # calling everyone positive
    assert relative.with_parameters(miss=5, false_alarm=1).baseline_of(table) == 1
    assert np.isnan(relative.with_parameters(miss=5, false_alarm=1).of(Confusion.two_class(tp=0, fn=0, fp=3, tn=5)))
    with pytest.raises(stakes.InputError, match=r"normalised_cost\(miss=0\) does not work; give a number above 0"):
        relative(table, miss=0)  # then deciding the same for everyone would cost nothing
    with pytest.raises(stakes.InputError, match=r"expected_cost\(miss=-1\) does not work; give a number from 0 on"):
        cost(table, miss=-1)


def test_costs_of_an_evaluation_have_intervals():
    rng = np.random.default_rng(0)
    truth = rng.random(500) < 0.2
    decided = np.where(rng.random(500) < 0.15, ~truth, truth)
    ev = stakes.evaluate(truth=truth, prediction=decided)
    found = ev["expected_cost(miss=20, false_alarm=1)"]
    loss = np.where(truth & ~decided, 20, 0) + (decided & ~truth)
    assert found.value == pytest.approx(loss.mean())
    assert (found.high - found.low) / (2 * 1.96 * loss.std() / 500**0.5) == pytest.approx(1, abs=0.1)
    assert found.name == "expected_cost(miss=20, false_alarm=1)"
    assert ev["normalised_cost(miss=20, false_alarm=1)"].baseline == 1
