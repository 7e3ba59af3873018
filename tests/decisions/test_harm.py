"""What asking the model costs: in decision curves, in the net benefit, and where a decision is chosen."""

import numpy as np
import pytest

import stakes
from stakes.decisions.policies import CHEAPEST, HIGHEST


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    truth = (random.random(300) < 0.3).astype(int)
    return truth, 1 / (1 + np.exp(-(2 * truth - 1.5 + random.normal(size=300))))


def test_a_decision_curve_is_lower_by_the_harm(rows):
    """Net benefit less the harm per use, as Vickers et al. (2008) take it off; acting on all or none needs no test."""
    truth, score = rows
    ev, at = stakes.evaluate(truth=truth, score=score), [0.1, 0.2, 0.4]
    free, dear = (ev.curve("decision", thresholds=at, harm=harm) for harm in (0, 0.02))
    tp, fp = (np.array([np.mean((truth == c) & (score >= t)) for t in at]) for c in (1, 0))
    assert dear.y == pytest.approx(tp - fp * np.array(at) / (1 - np.array(at)) - 0.02)
    assert dear.band.low == pytest.approx(free.band.low - 0.02)
    assert np.array_equal(dear.references["treat all"], free.references["treat all"])
    figure = ev["net_benefit(threshold=0.2, harm=0.02)"]
    assert figure.value == pytest.approx(dear.y[1])
    assert figure.baseline == ev["net_benefit(threshold=0.2)"].baseline
    assert figure.high - figure.low == pytest.approx(0.1, abs=0.03)


def test_a_model_that_has_to_be_paid_saves_less(rows):
    truth, score = rows
    asked = {"truth": truth, "score": score, "costs": stakes.Costs(miss=5, false_alarm=1)}
    free, dear, dearest = (stakes.decide(**asked, harm=harm) for harm in (0, 0.1, 0.9))
    assert dear.corrected.value == pytest.approx(free.corrected.value + 0.1)
    assert dear.cost.low == pytest.approx(free.cost.low + 0.1)
    for name, saved in free.savings.items():
        asks = not name.startswith("always ")
        assert dear.savings[name].value == pytest.approx(saved.value - (0 if asks else 0.1))
        assert dear.alternatives[name].value == pytest.approx(free.alternatives[name].value + (0.1 if asks else 0))
    assert dear.over_thresholds.y == pytest.approx(free.over_thresholds.y + 0.1)
    assert free.enough_evidence
    assert not dearest.enough_evidence
    assert "asking the model costs 0.1 per case" in " ".join(str(dear).split())
    assert (free.to_dict()["harm"], dear.to_dict()["harm"]) == (0, 0.1)


def test_policies_of_several_classes_know_of_it():
    random = np.random.default_rng(1)
    truth = random.integers(0, 3, 300)
    score = 0.5 * random.dirichlet([1, 1, 1], 300) + 0.5 * np.eye(3)[truth]
    names = ["a", "b", "c"]
    asked = {
        "truth": np.array(names)[truth],
        "score": score,
        "classes": names,
        "costs": stakes.Costs([[0, 1, 2], [3, 0, 4], [5, 6, 0]], names),
    }
    free, dear, dearest = (stakes.decide(**asked, harm=harm) for harm in (0, 0.5, 10))
    for name in (HIGHEST, CHEAPEST):
        assert dear.estimates[name].value == pytest.approx(free.estimates[name].value + 0.5)
    assert dear.estimates["always a"] == free.estimates["always a"]
    for one in (free, dear, dearest):
        assert set(one.savings) == set(one.estimates) - {one.best}
        for name, saved in one.savings.items():
            assert saved.value == pytest.approx(one.estimates[name].value - one.estimates[one.best].value)
    assert dear.savings["always a"].low == pytest.approx(free.savings["always a"].low - 0.5)
    assert dear.savings[CHEAPEST].low == pytest.approx(free.savings[CHEAPEST].low)
    assert dearest.best == dearest.constant


def test_ways_to_decide_are_told_as_evaluating_and_comparing_them_would():
    random = np.random.default_rng(2)
    truth, names = random.integers(0, 3, 200), ["a", "b", "c"]
    score = random.dirichlet([1, 1, 1], 200) * 0.6 + 0.4 * np.eye(3)[truth]
    costs = stakes.Costs([[0, 1, 2], [3, 0, 4], [5, 6, 0]], names)
    rows = {"truth": np.array(names)[truth], "costs": costs, "classes": names}
    choice = stakes.decide(**rows, score=score)
    decided = {CHEAPEST: (score @ costs.numbers).argmin(1), HIGHEST: score.argmax(1)}
    said = {name: np.array(names)[codes] for name, codes in decided.items()}
    for name, answers in said.items():
        found = stakes.evaluate(**rows, prediction=answers)["expected_cost"]
        assert (choice.estimates[name].low, choice.estimates[name].high) == pytest.approx((found.low, found.high))
    (pair,) = stakes.compare(**rows, predictions=said, metric="expected_cost").pairs
    assert choice.best == HIGHEST
    saved = choice.savings[CHEAPEST]
    more = (-pair.difference, -pair.high, -pair.low)  # drawn the other way round, so not to the last digit
    assert (saved.value, saved.low, saved.high) == pytest.approx(more, rel=0.03)


@pytest.mark.parametrize("harm", [-1, float("nan"), "dear", None])
def test_harm_is_a_number_from_0_on(rows, harm):
    truth, score = rows
    with pytest.raises(stakes.InputError, match="harm="):
        stakes.decide(truth=truth, score=score, costs=stakes.Costs(miss=5, false_alarm=1), harm=harm)
    with pytest.raises(stakes.InputError, match="harm="):
        stakes.evaluate(truth=truth, score=score).curve("decision", harm=harm)


def test_asking_one_model_can_cost_more_than_asking_another(rows):
    truth, score = rows
    worse = np.clip(score + 0.2 * np.random.default_rng(1).normal(size=300), 0.01, 0.99)
    both = stakes.compare(truth=truth, scores={"a": score, "b": worse})
    drawn = both.plot("decision", harm={"b": 0.05})
    lines = {line.get_label(): line.get_ydata() for line in drawn.artists["lines"]}
    for name, model in both.models.items():
        own = model.curve("decision", harm=0.05 if name == "b" else 0.0)
        assert np.array_equal(lines[name], own.y)
    with pytest.raises(stakes.InputError, match="there is no model 'c'"):
        both.plot("decision", harm={"c": 0.05})
