"""The best threshold: brute force over all thresholds, literal bootstraps of rows, simulations with a known truth."""

import itertools
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

import stakes
from stakes.decisions.thresholds import threshold_grid
from stakes.decisions.thresholds.by_cost import decide_by_cost
from stakes.tallies import ScoreTable
from stakes.tallies.pricing import Pricing
from stakes.uncertainty.sampling import Sampling
from tests.parts import examples

pytestmark = pytest.mark.slow

ROWS = st.lists(st.tuples(st.integers(0, 6), st.booleans(), st.integers(1, 3)), min_size=3, max_size=25).filter(
    lambda rows: len({truth for _, truth, _ in rows}) == 2
)


def cost_at(threshold, score, truth, miss, alarm, weight=None):
    each = np.where(truth, miss * (score < threshold), alarm * (score >= threshold))
    return np.average(each, weights=weight)


def told(found):
    return " ".join(found.sentences())


def simulated(n, seed, prevalence=0.3, shift=1.0):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < prevalence
    return rng.normal(size=n) + shift * truth, truth


# ── the best threshold of these rows ─────────────────────────────────────────────────────────────────────────────
@examples(80)
@given(ROWS, st.integers(1, 9), st.integers(1, 9), st.booleans())
def test_the_best_threshold_is_the_cheapest_of_all(rows, miss, alarm, weighted):
    score, truth, weight = (np.array(column) for column in zip(*rows, strict=True))
    costs = stakes.Costs(miss=miss, false_alarm=alarm)
    used = weight if weighted else None
    choice = stakes.decide(truth=truth, score=score, costs=costs, weight=used)
    every = [cost_at(t, score, truth, miss, alarm, used) for t in [math.inf, *np.unique(score)]]
    assert choice.apparent.value == pytest.approx(min(every))
    assert cost_at(choice.threshold, score, truth, miss, alarm, used) == pytest.approx(min(every))
    prevalence = np.average(truth, weights=used)
    always = {name: cost.value for name, cost in choice.alternatives.items()}
    assert always["always false"] == pytest.approx(miss * prevalence)
    assert always["always true"] == pytest.approx(alarm * (1 - prevalence))


@examples(60)
@given(ROWS, st.lists(st.integers(0, 20), min_size=6, max_size=6))
def test_two_thresholds_between_three_decisions(rows, prices):
    score, truth, _ = (np.array(column) for column in zip(*rows, strict=True))
    matrix = [[0, prices[0], prices[0] + prices[1] + 1], [prices[3] + prices[4] + 1, prices[3], 0]]
    costs = stakes.Costs(matrix, ["no", "yes"], ["leave", "ask", "act"])
    names = [name for name, _ in costs.switch_points("yes")]
    if len(names) < 3:
        return
    labels = np.where(truth, "yes", "no")
    choice = stakes.decide(truth=labels, score=score, costs=costs, positive="yes")
    best = math.inf
    for low, high in itertools.combinations_with_replacement([*np.unique(score), math.inf], 2):
        decided = np.where(score >= high, 2, np.where(score >= low, 1, 0))
        best = min(best, np.mean(np.array(matrix)[truth.astype(int), decided]))
    assert choice.decisions == ("leave", "ask", "act")
    assert choice.apparent.value == pytest.approx(best)
    low, high = choice.thresholds
    assert low <= high
    decided = np.where(score >= high, 2, np.where(score >= low, 1, 0))
    assert np.mean(np.array(matrix)[truth.astype(int), decided]) == pytest.approx(best)


def test_the_cost_ratio_at_which_another_threshold_is_best():
    score, truth = simulated(300, 1)
    choice = stakes.decide(truth=truth, score=score, costs=stakes.Costs(miss=3, false_alarm=1))
    low, high = choice.cost_ratio
    assert low < 3 < high

    def best(ratio):
        return min(np.unique(score), key=lambda t: cost_at(t, score, truth, ratio, 1))

    for ratio in (low * 1.001, high * 0.999):
        assert cost_at(choice.threshold, score, truth, ratio, 1) == pytest.approx(
            cost_at(best(ratio), score, truth, ratio, 1)
        )
    for ratio in (low * 0.99, high * 1.01):
        here, there = (cost_at(t, score, truth, ratio, 1) for t in (choice.threshold, best(ratio)))
        assert there < here


def test_costs_by_row_have_one_best_threshold():
    score, truth = simulated(200, 2)
    amount = np.random.default_rng(3).lognormal(2, 1, 200)
    data = {"y": truth, "s": score, "amount": amount}
    choice = stakes.decide(data, truth="y", score="s", costs=stakes.Costs(miss="amount", false_alarm=4))
    every = [np.mean(np.where(truth, amount * (score < t), 4 * (score >= t))) for t in [math.inf, *score]]
    assert choice.apparent.value == pytest.approx(min(every))
    assert choice.bayes is None
    assert choice.no_bayes.startswith("the costs differ from row to row")


def test_a_deployment_prior_weighs_the_classes():
    score, truth = simulated(400, 4)
    costs = stakes.Costs(miss=5, false_alarm=1)
    choice = stakes.decide(truth=truth, score=score, costs=costs, prior=0.02)

    def cost(t):
        return 0.02 * 5 * np.mean(score[truth] < t) + 0.98 * np.mean(score[~truth] >= t)

    assert choice.apparent.value == pytest.approx(min(map(cost, [math.inf, *score])))
    assert choice.alternatives["always false"].value == pytest.approx(0.1)
    assert choice.alternatives["always true"].value == pytest.approx(0.98)
    assert choice.no_bayes == "the scores are no probabilities"


# ── optimism ─────────────────────────────────────────────────────────────────────────────────────────────────────
def out_of_bag(score, truth, miss, alarm, resamples, seed):
    """The estimate literally: choose on rows drawn with replacement, judge the rows that were not drawn."""
    rng = np.random.default_rng(seed)
    n = len(score)
    places = np.unique(score)
    table = np.array([np.where(truth, miss * (score < t), alarm * (score >= t)) for t in [*places, math.inf]])
    losses, seen = np.zeros(n), np.zeros(n)
    for _ in range(resamples):
        drawn = rng.integers(0, n, n)
        best = table[:, drawn].mean(axis=1)[::-1].argmin()  # of ties the highest threshold
        out = np.ones(n, bool)
        out[drawn] = False
        losses[out] += table[::-1][best][out]
        seen += out
    return float(np.mean(losses / seen))


@pytest.mark.parametrize("rounded", [False, True])
def test_the_corrected_cost_is_mostly_that_of_rows_outside_the_resamples(rounded):
    score, truth = simulated(80, 5, prevalence=0.25)
    score = score.round(1) if rounded else score
    choice = stakes.decide(truth=truth, score=score, costs=stakes.Costs(miss=4, false_alarm=1))
    outside = out_of_bag(score, truth, 4, 1, 4000, 6)
    wanted = choice.apparent.value / 4 + outside * 3 / 4
    assert choice.corrected.value == pytest.approx(wanted, abs=0.01)
    assert choice.apparent.value < choice.corrected.value - 0.03  # the optimism is much larger than that
    optimism = outside - choice.apparent.value
    assert choice.worth_of_labels == pytest.approx(optimism / 4, abs=0.004)
    assert choice.most_worth_of_labels == pytest.approx(6 * choice.worth_of_labels)
    about, most = (f"{1000 * worth:.5g}" for worth in (choice.worth_of_labels, choice.most_worth_of_labels))
    assert f"Many more labels would save about {about} per 1,000 cases, hardly more than {most}." in told(choice)


@pytest.mark.parametrize(("samples", "close"), [(15, 0.25), pytest.param(60, 0.12, marks=pytest.mark.deep)])
def test_optimism_of_a_rare_class_is_removed(samples, close):
    """Like the published figure at n = 200, prevalence .05, miss 20: the apparent cost is far too low."""
    apparent, corrected, truths, covered = [], [], [], []
    for seed in range(samples):
        score, truth = simulated(200, 100 + seed, prevalence=0.05, shift=1.2)
        if truth.sum() < 2:
            continue
        table = ScoreTable.from_rows(score, truth)
        pricing = Pricing(stakes.Costs(miss=20, false_alarm=1))
        choice = decide_by_cost(table, pricing, Sampling(seed=seed), False)
        t = choice.threshold
        truths.append(0.05 * 20 * ndtr(t - 1.2) + 0.95 * ndtr(-t))
        apparent.append(choice.apparent.value)
        corrected.append(choice.corrected.value)
        covered.append(choice.corrected.low <= truths[-1] <= choice.corrected.high)
    assert np.mean(apparent) < 0.8 * np.mean(truths)
    assert np.mean(corrected) == pytest.approx(np.mean(truths), rel=close)
    assert np.mean(covered) > 0.85


@pytest.mark.parametrize("samples", [15, pytest.param(60, marks=pytest.mark.deep)])
def test_the_best_threshold_in_truth_cannot_be_told_from_the_best(samples):
    grid = np.linspace(-3, 4, 7001)
    true = 0.3 * 3 * ndtr(grid - 1) + 0.7 * ndtr(-grid)
    best, inside, shares = grid[true.argmin()], [], []
    for seed in range(samples):
        score, truth = simulated(300, seed)
        choice = stakes.decide(truth=truth, score=score, costs=stakes.Costs(miss=3, false_alarm=1), seed=seed)
        ranges = choice.alike[0]
        inside.append(ranges[0][0] <= best <= ranges[-1][1])
        shares.append(sum(np.mean((score >= low) & (score <= high)) for low, high in ranges))
    assert np.mean(inside) >= 0.9
    assert 0.2 < np.mean(shares) < 0.7  # it is no trick: most rows lie elsewhere


def test_savings_are_paired_differences():
    score, truth = simulated(400, 8)
    costs = stakes.Costs(miss=3, false_alarm=1)
    choice = stakes.decide(truth=truth, score=score, costs=costs)
    saving = choice.savings["always false"]
    assert saving.value == pytest.approx(choice.alternatives["always false"].value - choice.corrected.value)
    each = np.where(truth, 3 * (score >= choice.threshold), -(score >= choice.threshold).astype(float))
    width = 2 * 1.96 * each.std() / 20
    assert (saving.high - saving.low) / width == pytest.approx(1, abs=0.15)
    assert choice.enough_evidence
    rng = np.random.default_rng(9)
    noise = stakes.decide(truth=rng.random(300) < 0.2, score=rng.random(300), costs=costs)
    assert not noise.enough_evidence
    assert not noise.worse
    assert noise.for_everyone
    assert "“false” for everyone. These rows do not show that deciding by the score costs less" in told(noise)
    saving = replace(noise.savings_by_score["always false"], value=-2.0, low=-3.0, high=-1.0)
    worse = replace(noise, savings_by_score={**noise.savings_by_score, "always false": saving})
    assert worse.worse
    assert "No: compared with deciding “false” for everyone, it costs 2,000 more per 1,000 cases." in told(worse)
    unsure = replace(saving, value=1.0, low=-0.1, high=2.0)  # against every constant, not only the cheapest one
    assert not replace(choice, savings_by_score={**choice.savings, "always true": unsure}).enough_evidence
    score, truth = simulated(40, 20, shift=0.5)
    unsure = stakes.decide(truth=truth, score=score, costs=costs)
    saving = unsure.savings[unsure.constant]
    assert saving.low < 0 < saving.high
    assert f"not enough evidence: compared with deciding “{unsure.rival.removeprefix('always ')}”" in told(unsure)


def test_few_rungs_tell_the_same_as_all(monkeypatch):
    score, truth = simulated(3000, 10)
    table, pricing = ScoreTable.from_rows(score, truth), Pricing(stakes.Costs(miss=3, false_alarm=1))
    few = decide_by_cost(table, pricing, Sampling(), False)
    monkeypatch.setattr(threshold_grid, "MOST_LEVELS", 10_000)
    every = decide_by_cost(table, pricing, Sampling(), False)
    assert few.threshold == every.threshold
    assert few.apparent.value == pytest.approx(every.apparent.value, rel=1e-12)
    error = (every.corrected.high - every.corrected.low) / 4
    assert few.corrected.value == pytest.approx(every.corrected.value, abs=0.15 * error)
    assert few.corrected.low == pytest.approx(every.corrected.low, abs=0.3 * error)
    assert few.cost_ratio == pytest.approx(every.cost_ratio)
    assert few.alternatives["always positive"].value == pytest.approx(0.7, abs=0.02)


def test_clusters_are_left_out_whole():
    score, truth = simulated(150, 11)
    costs = stakes.Costs(miss=3, false_alarm=1)
    rows = stakes.decide(truth=truth, score=score, costs=costs)
    single = stakes.decide(truth=truth, score=score, costs=costs, cluster=np.arange(150))
    assert single.threshold == rows.threshold
    assert single.corrected.value == pytest.approx(rows.corrected.value, abs=0.02)
    assert (single.corrected.high - single.corrected.low) == pytest.approx(
        rows.corrected.high - rows.corrected.low, rel=0.15
    )
    # the same rows four times over are no news; how alike rows are is known a little less well of lone ones
    again = {"truth": np.repeat(truth, 4), "score": np.repeat(score, 4), "cluster": np.repeat(np.arange(150), 4)}
    fourfold = stakes.decide(costs=costs, **again)
    assert fourfold.corrected.value == pytest.approx(single.corrected.value, abs=0.02)
    assert fourfold.corrected.high - fourfold.corrected.low == pytest.approx(
        single.corrected.high - single.corrected.low, rel=0.2
    )


# ── Bayes beside it ──────────────────────────────────────────────────────────────────────────────────────────────
def test_the_bayes_threshold_is_priced():
    rng = np.random.default_rng(12)
    p = rng.beta(1, 4, 2000)
    truth = rng.random(2000) < p
    bold = p**2 / (p**2 + (1 - p) ** 2)  # the same order, dishonest probabilities
    costs = stakes.Costs(miss=9, false_alarm=1)
    honest, dishonest = (stakes.decide(truth=truth, score=s, costs=costs) for s in (p, bold))
    assert honest.bayes == pytest.approx((0.1,))
    assert honest.alternatives["Bayes threshold"].value == pytest.approx(cost_at(0.1, p, truth, 9, 1))
    assert honest.bayes_is_alike
    assert not dishonest.bayes_is_alike
    assert math.isnan(honest.worth_of_labels)  # no row has chosen the Bayes threshold
    assert not honest.rough
    assert "labels" not in told(honest)
    assert dishonest.worth_of_labels > 0
    assert dishonest.savings["Bayes threshold"].low > 0
    assert "trusting them costs" in told(dishonest)
    (misled,) = (one for one in dishonest.findings if one.key == "decided.honest")
    assert (misled.tone, misled.words[0][:3]) == ("bad", "No:")
    shifted = stakes.decide(truth=truth, score=p, costs=costs, prior=0.05, training_prior="rows")
    share = truth.mean()
    odds = 1 / 9 * (share / (1 - share)) / (0.05 / 0.95)
    assert shifted.bayes == pytest.approx((odds / (1 + odds),))
    assert "give the training prior" in stakes.decide(truth=truth, score=p, costs=costs, prior=0.05).no_bayes
    assert honest.recommended == honest.bayes
    assert honest.cost is honest.alternatives["Bayes threshold"]
    assert dishonest.recommended == dishonest.thresholds
    saved = honest.savings["always true"]
    assert saved.value == pytest.approx(honest.alternatives["always true"].value - honest.cost.value)
    assert honest.miscalibration.value == pytest.approx(honest.cost.value - honest.corrected.value)


def test_more_labels_are_worth_less_the_more_there_are():
    worth = [
        stakes.decide(truth=t, score=s, costs=stakes.Costs(miss=3, false_alarm=1)).worth_of_labels
        for s, t in (simulated(n, 13) for n in (100, 1000, 10_000))
    ]
    assert worth[0] > 2 * worth[1] > 4 * worth[2] > 0


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", ["f1", "youden", "f_beta(beta=0.5)", "accuracy", "mcc"])
def test_the_best_figure_of_all_thresholds(name):
    score, truth = simulated(120, 14)
    choice = stakes.decide(truth=truth, score=score, best=name)
    metric = stakes.metrics.find(name)
    every = [metric.of(ScoreTable.from_rows(score, truth).at(t)) for t in np.unique(score)]
    assert choice.apparent.value == pytest.approx(np.nanmax(every))
    assert choice.corrected.value < choice.apparent.value
    assert choice.corrected.low < choice.corrected.value < choice.corrected.high
    low, high = choice.alike[0][0][0], choice.alike[0][-1][1]
    assert low <= choice.threshold <= high


def test_the_corrected_figure_is_that_of_rows_outside():
    score, truth = simulated(100, 15)
    choice = stakes.decide(truth=truth, score=score, best="f1")
    rng = np.random.default_rng(16)
    called, seen = np.zeros(100), np.zeros(100)
    places = np.unique(score)[::-1]
    for _ in range(2000):
        drawn = rng.integers(0, 100, 100)
        s, t = score[drawn], truth[drawn]
        called_there = s >= places[:, None]
        tp, fp = (called_there & t).sum(axis=1), (called_there & ~t).sum(axis=1)
        best = places[np.argmax(2 * tp / np.maximum(tp + fp + t.sum(), 1))]
        out = ~np.isin(np.arange(100), drawn)
        called[out] += score[out] >= best
        seen += out
    p = called / seen
    tp, fp = p[truth].sum(), p[~truth].sum()
    assert choice.corrected.value == pytest.approx(2 * tp / (tp + fp + truth.sum()), abs=0.02)


def test_rows_that_came_four_times_make_the_best_figure_no_surer_where_they_are_clusters():
    score, truth = simulated(150, 3)
    rows = np.repeat(np.arange(150), 4)
    once = stakes.decide(truth=truth, score=score, best="f1").corrected
    together = stakes.decide(truth=truth[rows], score=score[rows], cluster=rows, best="f1").corrected
    apart = stakes.decide(truth=truth[rows], score=score[rows], best="f1").corrected
    widths = [figure.high - figure.low for figure in (once, together, apart)]
    assert together.value == pytest.approx(once.value, abs=0.01)
    assert widths[1] == pytest.approx(widths[0], rel=0.15)
    assert widths[2] < 0.6 * widths[0]


def test_the_best_figure_under_a_condition():
    score, truth = simulated(200, 17)
    choice = stakes.decide(truth=truth, score=score, best="recall >= 0.9")
    recalls = {t: np.mean(score[truth] >= t) for t in score}
    precisions = {t: np.mean(truth[score >= t]) for t in score}
    assert choice.apparent.value == max(p for t, p in precisions.items() if recalls[t] >= 0.9)
    assert recalls[choice.threshold] >= 0.9
    assert choice.condition.name == "recall"
    assert choice.limit == ("≥", 0.9)
    assert "Of the thresholds with recall ≥ 0.9 on these rows, this one has the best precision." in told(choice)
    assert choice.threshold < 0.5  # which finds fewer than the condition wants
    assert stakes.decide(truth=truth, score=score, best="recall ≥ 90 %").threshold == choice.threshold
    assert "threshold 0.5" not in choice.alternatives
    few = stakes.decide(truth=truth, score=score, best="alarm_rate <= 0.1")
    assert np.mean(score >= few.threshold) <= 0.1
    assert few.apparent.value == max(recalls[t] for t in score if np.mean(score >= t) <= 0.1)
    assert few.criterion == "the highest recall with alarm_rate ≤ 0.1"
    assert "the condition ≤ 0.1" in told(few)


# ── words, data, mistakes ────────────────────────────────────────────────────────────────────────────────────────
def test_the_recommendation_in_words_and_as_data():
    rng = np.random.default_rng(18)
    p = rng.beta(1, 4, 1000)
    ev = stakes.evaluate(truth=rng.random(1000) < p, score=p, costs=stakes.Costs(miss=9, false_alarm=1))
    choice = ev.decide()
    words = str(choice)
    for part in (
        "“true” from score 0.1 on",
        "per 1,000 cases",
        "threshold 0.5",
        "always “false”",
        "raise a false alarm",
    ):
        assert part in words
    assert f"{1000 * choice.corrected.value:.5g}" in words
    data = json.loads(choice.to_json())
    assert data["thresholds"] == [choice.threshold]
    assert data["corrected"]["low"] == choice.corrected.low
    assert data["enough_evidence"] is True
    assert ev.decide().to_json() == choice.to_json()  # the same seed
    assert ev.decide(stakes.Costs(miss=1, false_alarm=9)).threshold > choice.threshold


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "say what mistakes cost .costs=., or which figure shall be best"),
        (
            {"best": "recall > 0.9"},
            "best='recall > 0.9' cannot be read; write a metric such as 'f1', or a condition",
        ),
        ({"best": "recall >= 90 of 100"}, "cannot be read"),
        ({"best": "recall <= 0"}, "loosen the condition|no threshold gives"),
        ({"best": "f1", "threshold": 0.5}, "threshold= means nothing to decide: it is what decide looks for"),
        ({"best": "f1", "by": [1, 1, 2, 2]}, "by= means nothing to decide: one rule is found for all rows"),
        ({"best": "f1", "costs": stakes.Costs(miss=1, false_alarm=1)}, "give costs= .* not both"),
        ({"best": "auc"}, "auc is no figure of decisions"),
        ({"best": "prevalence"}, "better neither higher nor lower"),
        ({"best": "recall >= "}, "no metric|cannot be read"),
        ({"best": "recall >= 1.5"}, "no threshold gives recall ≥ 1.5 on these rows; the nearest is 1"),
        ({"costs": stakes.Costs(miss=0, false_alarm=1)}, "the decision '0' is the cheapest whatever the score says"),
    ],
)
def test_what_cannot_be_decided(options, words):
    with pytest.raises(stakes.InputError, match=words) as problem:
        stakes.decide(truth=[0, 1, 0, 1], score=[0.1, 0.4, 0.35, 0.8], **options)
    assert "\n" not in str(problem.value)


def test_rows_that_cannot_be_decided():
    costs = stakes.Costs(miss=1, false_alarm=1)
    with pytest.raises(stakes.InputError, match="no row is of the class '1', so no threshold can be chosen"):
        stakes.decide(truth=[0, 0, 0], score=[0.1, 0.2, 0.3], costs=costs)
    with pytest.raises(stakes.InputError, match="there are no scores to put a threshold on"):
        stakes.decide(truth=[0, 1], prediction=[0, 1], costs=costs)
    with pytest.raises(stakes.InputError, match="write which column is which: decide"):
        stakes.decide([0, 1], [0.1, 0.9])
    data = {"y": [0, 1] * 40, "s": np.arange(80) / 80, "a": np.ones(80), "c": np.arange(80) // 2}
    by_row = stakes.Costs(miss="a", false_alarm=1)
    with pytest.raises(stakes.InputError, match="cannot be decided with cluster= yet"):
        stakes.decide(data, costs=by_row, truth="y", score="s", cluster="c")
    with pytest.raises(stakes.InputError, match="cannot be decided with cluster= yet"):
        stakes.decide("unread.csv", costs=by_row, truth="y", score="s", cluster="c")  # before the file is looked for
    with pytest.raises(stakes.InputError, match="cannot be decided with cluster= yet"):
        stakes.decide(data, costs=by_row, truth="y", score=data["s"], cluster="c")


# ── several classes ──────────────────────────────────────────────────────────────────────────────────────────────
def test_ways_to_decide_between_several_classes():
    rng = np.random.default_rng(19)
    q = rng.dirichlet([1, 1, 1], 3000)
    truth = (q.cumsum(1) > rng.random((3000, 1))).argmax(1)
    bold = q**3 / (q**3).sum(1, keepdims=True)
    prices = np.array([[0, 1, 4, 1], [2, 0, 1, 1], [9, 3, 0, 1]])
    costs = stakes.Costs(prices.tolist(), "abc", ["a", "b", "c", "ask"])
    options = {"truth": np.array(list("abc"))[truth], "score": {n: bold[:, i] for i, n in enumerate("abc")}}
    found = stakes.decide(costs=costs, **options)
    assert found.estimates["the highest score"].value == pytest.approx(prices[truth, bold.argmax(1)].mean())
    cheapest = prices[truth, (bold @ prices).argmin(1)]
    one = found.estimates["the costs and the probabilities"]
    assert one.value == pytest.approx(cheapest.mean())
    assert (one.high - one.low) / (2 * 1.96 * cheapest.std() / 3000**0.5) == pytest.approx(1, abs=0.03)
    again = found.estimates["the costs and recalibrated probabilities"]
    assert again.value == pytest.approx(prices[truth, (q @ prices).argmin(1)].mean(), rel=0.02)
    assert found.best == "the costs and recalibrated probabilities"
    assert found.recalibration.low > 0
    assert found.constant == "always ask"
    assert found.enough_evidence
    assert json.loads(found.to_json())["best"] == found.best
    assert re.search(r"Not as they are: (affine|temperature|vector) .* saves [\d.]+ of [\d.]+ per 1,000", told(found))
    honest = stakes.decide(costs=costs, truth=options["truth"], score={n: q[:, i] for i, n in enumerate("abc")})
    assert honest.best == "the costs and the probabilities"  # there is nothing to recalibrate
    with pytest.raises(stakes.InputError, match="best= is for the scores of two classes"):
        stakes.decide(best="f1", **options)
    with pytest.raises(stakes.InputError, match="needs to know what mistakes cost; pass costs="):
        stakes.decide(**options)
    groups = stakes.decide(costs=costs, cluster=np.repeat(np.arange(300), 10), **options)
    sums = cheapest.reshape(300, 10).sum(1)
    one = groups.estimates["the costs and the probabilities"]
    assert (one.high - one.low) / (2 * 1.968 * sums.std() * 300**0.5 / 3000) == pytest.approx(1, abs=0.08)
    there = stakes.decide(
        costs=costs, prior={"a": 0.7, "b": 0.2, "c": 0.1}, training_prior=dict.fromkeys("abc", 1 / 3), **options
    )
    decided = (bold * [0.7, 0.2, 0.1] @ prices).argmin(1)
    each = [prices[c, decided[truth == c]].mean() for c in range(3)]
    assert there.estimates["the costs and the probabilities"].value == pytest.approx(np.dot([0.7, 0.2, 0.1], each))


def test_class_biases_are_mended_where_a_temperature_saves_nothing():
    """Four classes equally often, scores that lean to one: as when a language model prefers one of the labels."""
    rng = np.random.default_rng(23)
    q = rng.dirichlet(np.full(4, 0.4), 1200)
    truth = (q.cumsum(1) > rng.random((1200, 1))).argmax(1)
    leaning = q * [100, 1, 1, 1]
    leaning /= leaning.sum(1, keepdims=True)
    score = {n: leaning[:, i] for i, n in enumerate("abcd")}
    costs = stakes.Costs((1 - np.eye(4)).tolist(), "abcd")
    found = stakes.decide(truth=np.array(list("abcd"))[truth], score=score, costs=costs)
    before = np.mean(leaning.argmax(1) != truth)
    saved = {}
    for name, kind in {"affine": stakes.AffineCalibrator, "temperature": stakes.TemperatureCalibrator}.items():
        saved[name] = before - np.mean(stakes.cross_fitted(kind(), leaning, truth).argmax(1) != truth)
    assert {name: found.recalibrations[name].value for name in saved} == pytest.approx(saved, abs=1e-12)
    assert saved["temperature"] == 0
    assert found.method in ("affine", "vector")
    assert found.recalibration is found.recalibrations[found.method]
    assert f"saves {1000 * found.recalibration.value:,.2f} of {1000 * before:,.2f} per 1,000 cases" in told(found)
    assert "For comparison, temperature scaling saves nothing beyond chance." in told(found)
    assert json.loads(found.to_json())["method"] == found.method


def test_a_shift_of_training_is_undone_before_recalibration():
    rng = np.random.default_rng(20)
    q = rng.dirichlet([1, 1, 1], 4000)
    truth = (q.cumsum(1) > rng.random((4000, 1))).argmax(1)
    trained = np.array([0.8, 0.1, 0.1])
    there = q * trained / trained.mean()
    there /= there.sum(1, keepdims=True)  # honest where the model was trained
    prices = np.array([[0, 1, 4], [2, 0, 1], [9, 3, 0]])
    found = stakes.decide(
        truth=np.array(list("abc"))[truth],
        score={n: there[:, i] for i, n in enumerate("abc")},
        costs=stakes.Costs(prices.tolist(), "abc"),
        training_prior=dict(zip("abc", trained.tolist(), strict=True)),
    )
    honest = prices[truth, (q @ prices).argmin(1)].mean()
    assert found.estimates["the costs and the probabilities"].value == pytest.approx(honest, rel=0.03)
    assert found.estimates["the costs and recalibrated probabilities"].value == pytest.approx(honest, rel=0.03)


def test_decisions_that_cannot_be_judged():
    score, truth = simulated(60, 21)
    costs = stakes.Costs(miss=3, false_alarm=1)
    for wanted in ({"costs": costs}, {"best": "f1"}):
        with (
            pytest.warns(stakes.InputWarning, match="cluster"),
            pytest.raises(stakes.InputError, match="there is a single cluster, so no rows are left"),
        ):
            stakes.decide(truth=truth, score=score, cluster=np.zeros(60, int), **wanted)
    with pytest.raises(stakes.InputError, match="mcc is undefined at every threshold"):
        stakes.decide(truth=truth, score=np.ones(60), best="mcc")
    options = {
        "truth": list("abab"),
        "score": {n: [0.2, 0.3, 0.4, 0.5] if n < "c" else [0.6, 0.4, 0.2, 0.0] for n in "abc"},
    }
    prior = {"a": 0.2, "b": 0.3, "c": 0.5}
    three = stakes.Costs([[0, 1, 1], [1, 0, 1], [1, 1, 0]], "abc")
    with pytest.raises(stakes.InputError, match="prior= expects the class 'c', of which there is no row"):
        stakes.decide(costs=three, prior=prior, training_prior=prior, classes="abc", **options)


def test_names_and_decisions_that_are_pointed_out():
    score, truth = simulated(100, 22)
    named = stakes.decide(
        truth=np.where(truth, "Bayes threshold", "always b"),
        score=score,
        positive="Bayes threshold",
        costs=stakes.Costs(miss=3, false_alarm=1),
    )
    assert "always “Bayes threshold”" in str(named)
    costs = stakes.Costs([[0, 50, 1], [5, 50, 0]], ["false", "true"], ["false", "silly", "true"])
    found = stakes.decide(truth=truth, score=score, costs=costs)
    assert found.worthless == ("silly",)
    assert "The decision “silly” is never worth taking" in told(found)


def test_a_decision_keeps_the_deployment_of_its_evaluation():
    rng = np.random.default_rng(23)
    p = rng.beta(1, 3, 500)
    truth = rng.random(500) < p
    ev = stakes.evaluate(
        truth=truth, score=p, costs=stakes.Costs(miss=5, false_alarm=1), prior=0.02, training_prior="rows"
    )
    assert ev.decide(stakes.Costs(miss=5, false_alarm=1)).to_json() == ev.decide().to_json()
    assert "where it is used, 2% are “true”" in str(ev.decide())


def test_ways_to_decide_are_as_unsure_as_the_rows_that_they_are_known_for():
    rng = np.random.default_rng(24)
    q = rng.dirichlet([1, 1, 1], 60_000)
    truth = (q.cumsum(1) > rng.random((60_000, 1))).argmax(1)
    prices = np.array([[0, 1, 4], [2, 0, 1], [9, 3, 0]])
    found = stakes.decide(
        truth=np.array(list("abc"))[truth],
        score={n: q[:, i] for i, n in enumerate("abc")},
        costs=stakes.Costs(prices.tolist(), "abc"),
    )
    rows = int(found.note.split()[4].replace(",", ""))
    assert 15_000 < rows <= 20_000
    each = prices[truth, (q @ prices).argmin(1)]
    for way, known in (("the costs and the probabilities", 60_000), ("the costs and recalibrated probabilities", rows)):
        one = found.estimates[way]
        assert (one.high - one.low) / (2 * 1.96 * each.std() / known**0.5) == pytest.approx(1, abs=0.05)
