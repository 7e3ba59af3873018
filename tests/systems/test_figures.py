"""The figures of the specification: images and history, fused by AND and by OR."""

import itertools
import re

import numpy as np
import pytest

import stakes
from stakes import Costs, System

CLASSES = ["sick", "healthy"]


def clinic(rule, images, history, miss=5, false_alarm=1, **options):
    models = {"images": images, "history": history}
    return System(
        classes=CLASSES, models=models, decide=rule, costs=Costs(miss=miss, false_alarm=false_alarm), **options
    )


AND = ("images and history", [[80, 20], [20, 80]], [[50, 50], [100, 100]])
OR = ("images or history", [[25, 75], [50, 50]], [[40, 60], [100, 100]])


def test_the_system_of_the_design_works_as_written():
    system = stakes.System(
        classes=["sick", "healthy"],
        models={"images": [[80, 20], [20, 80]], "history": [[50, 50], [100, 100]]},
        decide="images and history",
        costs=stakes.Costs(miss=5, false_alarm=1),
    )
    assert system.component_costs("history").expected == pytest.approx(np.array([[1, 5], [0.2, 0]]))
    assert system.component_costs("history").excess == pytest.approx(np.array([[0, 4], [0.2, 0]]))
    assert (system.bounds("history").best, system.bounds("history").worst) == pytest.approx((250, 390))
    assert system.worth()["history"].perfect == pytest.approx(100)
    assert "the first of the classes" in str(system).replace("\n", " ")


def test_and():
    system = clinic(*AND)
    costs = system.component_costs("history")
    assert system.cost == pytest.approx(320)
    assert costs.evaluation == pytest.approx(320)
    assert costs.excess_evaluation == pytest.approx(220)
    assert costs.of([[50, 50], [100, 100]]) == pytest.approx((320, 220))
    assert costs.of([[0.5, 0.5], [0.5, 0.5]]) == pytest.approx((320, 220))  # rates are of the system's cases
    assert costs.of([[90, 10], [0, 10]]) == pytest.approx((90 * 1 + 10 * 5, 10 * 4))
    assert costs.dependence == pytest.approx(0, abs=1e-9)


def failures(system, model, says_wrong):
    """How often the system fails when the model is wrong or right, for the positive and the negative class."""
    found = []
    for truth, other in (("sick", "healthy"), ("healthy", "sick")):
        outcome = system.do({model: other if says_wrong else truth})
        found.append(outcome.decisions[CLASSES.index(truth), CLASSES.index(other)])
    return found


def test_how_often_and_and_or_fail():
    assert failures(clinic(*AND), "history", says_wrong=True) == pytest.approx([1, 0.2])
    assert failures(clinic(*AND), "history", says_wrong=False) == pytest.approx([0.2, 0])
    assert failures(clinic(*OR), "history", says_wrong=True) == pytest.approx([0.75, 1])
    assert failures(clinic(*OR), "history", says_wrong=False) == pytest.approx([0, 0.5])


def test_or():
    system = clinic(*OR)
    costs, bounds = system.component_costs("history"), system.bounds("history")
    assert costs.expected == pytest.approx(np.array([[0, 3.75], [1, 0.5]]))
    assert costs.excess == pytest.approx(np.array([[0, 3.75], [0.5, 0]]))
    assert (system.cost, costs.evaluation, costs.excess_evaluation) == pytest.approx((375, 375, 275))
    assert (bounds.best, bounds.worst, bounds.independent) == pytest.approx((275, 500, 375))


def test_and_of_half_right_images():
    system = clinic("images and history", [[50, 50], [50, 50]], [[50, 50], [100, 100]], miss=1, false_alarm=0)
    assert system.component_costs("history").evaluation == pytest.approx(75)
    assert system.bounds("history").worst == pytest.approx(100)


@pytest.mark.parametrize(
    ("rule", "independent", "worst", "best"), [("A and B", 2.98, 3.90, 2.00), ("A or B", 2.72, 3.70, 1.80)]
)
def test_two_models_and_a_rare_class(rule, independent, worst, best):
    system = rare(rule)
    for name in "AB":
        bounds = system.bounds(name)
        assert (bounds.independent, bounds.worst, bounds.best) == pytest.approx((independent, worst, best))
    assert system.cost == pytest.approx(independent)


def rare(rule):
    return System(
        classes=["y=1", "y=0"],
        models={"A": [[0.9, 0.1], [0.1, 0.9]], "B": [[0.8, 0.2], [0.2, 0.8]]},
        decide=rule,
        costs=Costs(miss=100, false_alarm=10),
        prior=0.1,
    )


def test_component_costs_and_threshold_of_a():
    system = rare("A and B")
    assert system.component_costs("A").expected == pytest.approx(np.array([[20, 100], [2, 0]]))
    assert system.threshold("A").value == pytest.approx(1 / 41)
    assert "independent of the other models" in str(system.threshold("A"))


def test_majority_of_three():
    system = System(
        classes=CLASSES,
        models={"a": 0.8, "b": 0.8, "c": 0.8},
        decide="majority(a, b, c)",
        costs=Costs(miss=1, false_alarm=1),
        prior=0.3,
    )
    one, every = system.bounds("a"), system.bounds()
    assert (one.best, one.worst) == pytest.approx((0.04, 0.24))
    assert "assumed independent" in one.note
    assert (every.best, every.worst) == pytest.approx((0, 0.30))


def test_the_closed_form_of_two_classes():
    """worst min(a·n + wrong, b·n) failures, best max(a·n, b·n − right), of the n cases of a class."""
    for rule, images, history in (AND, OR):
        system = clinic(rule, images, history, miss=1, false_alarm=1)
        wrong_fails = failures(system, "history", says_wrong=True)
        right_fails = failures(system, "history", says_wrong=False)
        best = worst = 0.0
        for c, row in enumerate(history):
            n, right = sum(row), row[c]
            best += max(right_fails[c] * n, wrong_fails[c] * n - right)
            worst += min(right_fails[c] * n + n - right, wrong_fails[c] * n)
        assert (system.bounds("history").best, system.bounds("history").worst) == pytest.approx((best, worst))


def test_different_class_totals_are_no_contradiction_and_never_the_prior_of_a_candidate():
    system = clinic(*AND, prior=0.5)
    few, many = ([[50 * n, 50 * n], [5, 5]] for n in (1, 100))
    assert system.bounds("history", few).best == system.bounds("history", many).best
    assert system.bounds("history", few).best == pytest.approx(0.5 * 5 * 0.5)


def test_shapley_shares_by_all_orders():
    system = clinic(*AND)
    images, history = (system.worth()[name] for name in ("images", "history"))
    both = system.worth().all_perfect
    by_order = [
        (system.cost - images.perfect, history.perfect - both),
        (images.perfect - both, system.cost - history.perfect),
    ]
    assert images.share == pytest.approx((by_order[0][0] + by_order[0][1]) / 2)
    assert history.share == pytest.approx((by_order[1][0] + by_order[1][1]) / 2)
    assert images.share + history.share == pytest.approx(system.cost - both)


def test_removed_is_the_majority_answer():
    system = clinic("images and history", [[80, 20], [20, 80]], [[90, 10], [110, 90]])
    assert system.worth()["history"].answer == "sick"
    assert system.worth()["history"].removed == pytest.approx(5 * 100 * 0.2 + 200 * 0.2)


def test_break_even_is_a_line():
    system = clinic(*AND)
    line = system.break_even("history", price=30)
    for tpr, tnr in itertools.product((0.2, 0.5, 0.9), (0.1, 0.5, 1.0)):
        replaced = clinic(AND[0], AND[1], [[100 * tpr, 100 - 100 * tpr], [200 - 200 * tnr, 200 * tnr]])
        assert line.saving(tpr, tnr) == pytest.approx(system.cost - replaced.cost - 30)
        even = line.tnr(tpr)
        if 0 <= even <= 1:
            assert line.saving(tpr, even) == pytest.approx(0)
    assert "pays when" in str(line)


def test_advice_names_the_model_and_what_it_saves():
    advice = clinic(*AND).advice
    assert advice.startswith(
        "“history”: if it were always right, the system would cost 333.33 per 1,000 cases, 733.33 less"
    )
    perfect = clinic("images and history", [[5, 0], [0, 5]], [[5, 0], [0, 5]]).advice
    assert re.search(r"would save nothing\. But a saving of up to \d.* cannot be excluded\.", perfect)


def test_answers_print_themselves_in_a_few_lines():
    system = clinic(*AND)
    assert str(system.component_costs("history")).splitlines() == [
        "what the answers of history cost (✓ right)",
        "truth        says  expected  excess",
        "sick        sick✓         1       0",
        "sick      healthy         5       4",
        "healthy      sick       0.2     0.2",
        "healthy  healthy✓         0       0",
    ]
    assert repr(system.component_costs("history")) == "<ComponentCosts of history>"
    assert str(system.bounds("history")).startswith(
        "the system costs 250 to 390 whatever the dependence of history, inter"
    )
    assert str(system.worth()).splitlines()[2] == (
        "history  320         100    220  171.3 – 267.4         140         sick    235  186.5 – 282.2"
    )
    assert str(system.do(history="sick")).splitlines()[0] == "do(history='sick'): a case costs 0.4667"
    assert "assumed" in str(system)


def test_shares_of_right_answers_stand_for_a_table():
    rates = {"images": [[0.9, 0.1], [0.4, 0.6]], "history": [[0.7, 0.3], [0.2, 0.8]]}
    shares = {"images": [0.9, 0.6], "history": {"healthy": 0.8, "sick": 0.7}}
    table, right = (
        System(classes=CLASSES, models=m, decide="images and history", costs=Costs(miss=5, false_alarm=1), prior=0.3)
        for m in (rates, shares)
    )
    assert right.cost == pytest.approx(table.cost)
    assert right.component_costs("images").rates == pytest.approx(table.component_costs("images").rates)


def test_outputs_are_matched_by_name():
    system = clinic(*AND)
    listed = system.bounds("history", [[90, 10], [60, 140]])
    named = system.bounds("history", {"healthy": {"healthy": 140, "sick": 60}, "sick": {"healthy": 10, "sick": 90}})
    tally = stakes.Confusion.two_class(tp=90, fn=10, fp=60, tn=140, positive="sick", negative="healthy")
    for found in (named, system.bounds("history", tally)):
        assert str(vars(found)) == str(vars(listed))  # NaN is another number than NaN
