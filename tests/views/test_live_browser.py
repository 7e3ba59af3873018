"""The verdict on the page follows costs, prevalence and threshold by the rules that Python has."""

import math

import numpy as np
import pytest

import stakes
from stakes.decisions.thresholds.decision import constants_of, surely_saves
from stakes.metrics import Estimate
from stakes.uncertainty.one_more_row import Cells, mean_limits
from tests.views.test_report_browser import value

pytestmark = pytest.mark.slow

ROWS = 260


def surely_loses(saving):
    """Whether a saving is surely none."""
    return saving.high is not None and saving.high < 0


def rows(weighted=False, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.random(ROWS) < 0.35
    score = 1 / (1 + np.exp(-rng.normal(size=ROWS) - 1.1 * truth + 0.6)).round(3)
    return {"y": truth.astype(int), "p": score, **({"w": rng.uniform(0.2, 3, ROWS)} if weighted else {})}


def tone_of(saves, loses):
    return "bad" if loses else "good" if saves else "doubt"


def of_threshold(table, squares, costs, prevalence, sampling):
    """What deciding by a table saves against either constant decision: (tone, how near to another tone)."""
    miss, alarm = costs
    values = {"nobody": [[0, -alarm], [0, miss]], "everyone": [[alarm, 0], [-miss, 0]]}
    counts = np.array([[table.tn, table.fp], [table.fn, table.tp]], float)
    shares = None if prevalence is None else np.array([1 - prevalence, prevalence])
    found = {}
    for name, each in values.items():
        limits = mean_limits(Cells(np.array(each, float), counts, np.ones((2, 2), bool), shares, squares), sampling)
        found[f"always {name}"] = Estimate("saving", 0.0, low=limits.low, high=limits.high)
    return tone_of(surely_saves(found), any(map(surely_loses, found.values()))), _near(found)


def _near(savings):
    """How near an end of an interval comes to 0, in widths: what Monte Carlo may decide either way."""
    found = constants_of(savings).values()
    return min(min(abs(one.low), abs(one.high)) / (one.high - one.low) for one in found if one.low is not None)


def _set(page, field, number):
    page.fill(field, repr(float(number)))
    page.press(field, "Enter")


def test_the_verdict_follows_costs_prevalence_and_threshold(opened, tmp_path):
    ev = stakes.evaluate(rows(), truth="y", score="p", positive=1)
    ev.report(tmp_path / "live.html")
    page = opened(tmp_path / "live.html")
    card = "document.getElementById('answer-{}').dataset.tone".format
    assert page.evaluate(card("keeps")) == "open"  # nobody gave costs
    assert page.evaluate(card("threshold")) == "open"
    assert page.locator(".computed").count() == 4
    rng = np.random.default_rng(1)
    seen, near = set(), 0
    for turn in range(8):
        miss, alarm = (float(one) for one in 10 ** rng.uniform(-0.5, 1.3, 2).round(2))
        prevalence = None if turn % 3 else round(rng.uniform(0.02, 0.6), 3)
        _set(page, "#cost-miss", miss)
        _set(page, "#cost-alarm", alarm)
        if prevalence is None:
            page.click("#prevalence-reset")
        else:
            _set(page, "#prevalence-typed", 100 * prevalence)
        _set(page, "#threshold-typed", rng.uniform(0.1, 0.9))
        page.wait_for_timeout(150)
        shown = page.evaluate(f"[{card('keeps')}, {card('threshold')}]")
        threshold = value(page, "#threshold-typed")
        keeps, edge = of_threshold(ev.scores.at(threshold), None, (miss, alarm), prevalence, ev.sampling)
        shares = {} if prevalence is None else {"prior": prevalence, "training_prior": "rows"}
        decision = ev.priced(stakes.Costs(miss=miss, false_alarm=alarm), **shares)._decision
        useful = tone_of(decision.enough_evidence, decision.worse or math.isinf(decision.by_score[0]))
        assert shown[0] == keeps or edge < 0.02, (miss, alarm, prevalence, threshold)
        blurred = _near(decision.savings_by_score) < 0.04  # resamples choose the threshold, too
        assert shown[1] == useful or blurred, (miss, alarm, prevalence)
        seen |= {("keeps", keeps), ("useful", useful)}
        near += (edge < 0.02) + blurred
    assert {("keeps", "good"), ("keeps", "doubt"), ("keeps", "bad"), ("useful", "good"), ("useful", "doubt")} <= seen
    assert near < 4


def test_costs_that_were_given_come_back_as_computed(opened, tmp_path):
    ev = stakes.evaluate(rows(), truth="y", score="p", positive=1, costs=stakes.Costs(miss=5, false_alarm=1))
    ev.report(tmp_path / "live.html")
    page = opened(tmp_path / "live.html")
    before = page.locator("#answer-threshold").inner_text()
    _set(page, "#cost-miss", 0.001)
    page.wait_for_timeout(150)
    assert "set on this page" in page.locator("#answer-threshold").inner_text()
    assert "0.001" in page.locator("#answer-threshold").inner_text()
    _set(page, "#cost-miss", 5)
    page.wait_for_timeout(150)
    assert page.locator("#answer-threshold").inner_text() == before
    _set(page, "#cost-alarm", -1)
    page.wait_for_timeout(150)
    assert "whatever the score says" in page.locator("#answer-threshold").inner_text()


def test_the_saving_at_the_costs_that_were_given_is_the_one_that_decide_tells(opened, tmp_path):
    asked = {"truth": "y", "score": "p", "positive": 1, "costs": stakes.Costs(miss=3, false_alarm=1)}
    stakes.evaluate(rows(), **asked).report(tmp_path / "live.html")
    decision = stakes.decide(rows(), **asked)
    saving = decision.savings_by_score[decision.rival]
    page = opened(tmp_path / "live.html")
    for _ in range(2):
        told = page.locator("#answer-keeps").inner_text()
        assert all(f"{1000 * number:.5g}" in told for number in (saving.value, saving.low, saving.high)), told
        _set(page, "#cost-miss", 4.9)
        page.wait_for_timeout(150)
        assert "4.9" in page.locator("#answer-keeps").inner_text()
        _set(page, "#cost-miss", 3)
        page.wait_for_timeout(150)


def test_weighted_rows_follow_too_and_clusters_do_not(opened, tmp_path):
    data = rows(weighted=True)
    costs = stakes.Costs(miss=3, false_alarm=1)
    ev = stakes.evaluate(data, truth="y", score="p", positive=1, weight="w", costs=costs)
    ev.report(tmp_path / "weighted.html")
    page = opened(tmp_path / "weighted.html")
    for threshold in (0.2, 0.35, 0.5, 0.8):
        _set(page, "#threshold-typed", threshold)
        page.wait_for_timeout(150)
        called = data["p"] >= value(page, "#threshold-typed")
        squares = [[(data["w"][(data["y"] == y) & (called == c)] ** 2).sum() for c in (0, 1)] for y in (0, 1)]
        tone, edge = of_threshold(
            ev.scores.at(value(page, "#threshold-typed")), np.array(squares), (3, 1), None, ev.sampling
        )
        assert page.locator("#answer-keeps").get_attribute("data-tone") == tone or edge < 0.02
    clustered = stakes.evaluate(data, truth="y", score="p", positive=1, cluster=np.arange(ROWS) // 4, costs=costs)
    clustered.report(tmp_path / "clusters.html")
    page = opened(tmp_path / "clusters.html")
    assert page.locator("#answer-keeps").count() == page.locator(".computed").count() == 0


def test_costs_keep_their_unit_on_the_page(opened, tmp_path):
    costs = stakes.Costs(miss=200, false_alarm=15, unit="€")
    stakes.evaluate(rows(), truth="y", score="p", positive=1, costs=costs).report(tmp_path / "live.html")
    page = opened(tmp_path / "live.html")
    assert page.locator("fieldset", has=page.locator("#cost-miss")).locator("legend").inner_text() == "Costs (€)"
    assert page.locator("#reading-cost-everyone").inner_text().startswith("€")
    _set(page, "#cost-miss", 300)
    page.wait_for_timeout(150)
    assert "€300" in page.locator("#answer-threshold").inner_text()


def test_a_decision_has_one_saving_with_one_interval(opened, tmp_path):
    """The answer of Python follows the controls itself, and no other card tells a second interval."""
    costs = stakes.Costs(miss=5, false_alarm=1)
    decision = stakes.decide(rows(), truth="y", score="p", positive=1, costs=costs)
    decision.report(tmp_path / "decide.html")
    page = opened(tmp_path / "decide.html")
    saving = decision.savings_by_score[decision.rival]
    card = page.locator("#answer-keeps")
    assert card.count() == 1
    assert card.get_attribute("data-question") == "decided.evidence"
    assert f"{1000 * saving.value:.5g}" in card.inner_text()
    _set(page, "#cost-miss", 12)
    page.wait_for_selector("#answer-keeps[data-question='live.keeps']")
    assert page.locator("[data-question='decided.evidence']").count() == 0
    _set(page, "#cost-miss", 5)
    page.wait_for_selector("#answer-keeps[data-question='decided.evidence']")
