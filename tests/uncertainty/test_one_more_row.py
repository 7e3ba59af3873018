"""Limits of costs: Clopper and Pearson's where there are two costs, cells by hand, one law through every door."""

import numpy as np
import pytest
from scipy.special import betaincinv

import stakes
from stakes.tallies import Confusion
from stakes.uncertainty.one_more_row import Cells, mean_limits, normalised_limits, two_costs
from stakes.uncertainty.sampling import Sampling

SCAN = np.array([[0.0, 1.0], [50.0, 0.0]])  # rows: negative, positive; a miss costs 50, a false alarm 1
EVERYWHERE = np.ones((2, 2), bool)


def table(tn, fp, fn, tp):
    return np.array([[tn, fp], [fn, tp]], float)


# ── exact ────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("hits", "rows"), [(0, 20), (3, 50), (50, 50), (17, 400)])
def test_two_costs_have_the_limits_of_clopper_and_pearson(hits, rows, confidence):
    sampling = Sampling(confidence)
    cells = Cells(np.array([[5.0, 0.0]]), np.array([[hits, rows - hits]], float), np.ones((1, 2), bool))
    low, high, _ = mean_limits(cells, sampling)
    exact_low = 5 * betaincinv(hits, rows - hits + 1, sampling.tail) if hits else 0.0
    exact_high = 5 * betaincinv(hits + 1, rows - hits, 1 - sampling.tail) if hits < rows else 5.0
    error = 5 * np.sqrt((hits + 1) * (rows - hits + 1) / (rows + 2) ** 3)
    assert low == pytest.approx(exact_low, abs=0.2 * error)
    assert high == pytest.approx(exact_high, abs=0.2 * error)


def test_classes_apart_are_drawn_apart():
    """At a prior of 1 only the positives count: the limits are those of the miss rate."""
    sampling, counts = Sampling(), table(tn=90, fp=10, fn=2, tp=18)
    low, high, _ = mean_limits(Cells(SCAN, counts, EVERYWHERE, shares=np.array([0.0, 1.0])), sampling)
    assert low == pytest.approx(50 * betaincinv(2, 19, 0.025), rel=0.05)
    assert high == pytest.approx(50 * betaincinv(3, 18, 0.975), rel=0.03)
    # half and half: one more row in each class, and each class has its own dearest cell
    low, high, _ = mean_limits(Cells(SCAN, counts, EVERYWHERE, shares=np.array([0.5, 0.5])), sampling)
    assert high < 0.5 * 50 * betaincinv(3, 18, 0.975) + 0.5 * betaincinv(11, 90, 0.975)
    assert low < 0.5 * 50 * 2 / 20 + 0.5 * 10 / 100 < high


def test_an_empty_cell_counts_if_a_row_could_fall_into_it():
    counts = table(tn=60, fp=20, fn=0, tp=20)
    seen = mean_limits(Cells(SCAN, counts, counts > 0), Sampling())
    possible = mean_limits(Cells(SCAN, counts, EVERYWHERE), Sampling())
    assert seen.low == possible.low
    assert seen.high < 0.32 < 1.5 < possible.high  # a miss has not come up among 100 rows
    assert possible.high == pytest.approx(0.2 + 50 * -np.log(0.025) / 100, rel=0.1)


def test_a_swapped_cost_matrix_is_noticed():
    """Rows are the truth: the transposed prices have other limits on either side."""
    counts = table(tn=180, fp=5, fn=2, tp=13)
    right, swapped = (mean_limits(Cells(p, counts, EVERYWHERE), Sampling()) for p in (SCAN, SCAN.T))
    assert right.low < (50 * 2 + 5) / 200 < right.high
    assert swapped.low < (50 * 5 + 2) / 200 < swapped.high
    assert swapped.high > 1.5 * right.high


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.995])
def test_the_p_value_agrees_with_the_interval(confidence):
    rng = np.random.default_rng(1)
    values = np.array([[-1.0, 0.0, 1.0]])
    inside = []
    for _ in range(40):
        low, high, p = mean_limits(
            Cells(values, rng.poisson([[9, 20, 16]]).astype(float), np.ones((1, 3), bool)), Sampling(confidence)
        )
        assert (low <= 0 <= high) == (p > 1 - confidence + 1e-12)
        inside.append(low <= 0 <= high)
    assert 0 < sum(inside) < 40 or confidence == 0.995


def test_a_saving_of_nothing_has_a_p_value_of_one():
    same = mean_limits(Cells(np.zeros((2, 2)), table(5, 5, 5, 5), EVERYWHERE), Sampling())
    assert same == (0.0, 0.0, 1.0)
    assert same.interval(Sampling()).reason == "every row that could come costs the same"


def test_equal_weights_and_lone_rows_change_little():
    counts, sampling = table(tn=150, fp=30, fn=5, tp=15), Sampling()
    plain = mean_limits(Cells(SCAN, counts, EVERYWHERE), sampling)
    weighted = mean_limits(Cells(SCAN, 3 * counts, EVERYWHERE, squares=9 * counts), sampling)
    assert weighted == pytest.approx(plain, rel=1e-9)
    lone = np.concatenate([np.eye(4)[[i]].repeat(int(n), 0) for i, n in enumerate(counts.ravel())]).reshape(-1, 2, 2)
    clustered = mean_limits(Cells(SCAN, counts, EVERYWHERE, clusters=lone), sampling)
    assert clustered[:2] == pytest.approx(plain[:2], rel=0.06)
    fourfold = mean_limits(Cells(SCAN, 4 * counts, EVERYWHERE, clusters=4 * lone), sampling)
    assert fourfold == pytest.approx(clustered, rel=1e-9)  # the same rows again are no news


def test_clusters_that_all_cost_the_same_count_as_one_row_each():
    counts = np.zeros((10, 2, 2))
    counts[:, 1, 1] = 20
    _, high, _ = mean_limits(Cells(SCAN, counts.sum(0), EVERYWHERE, clusters=counts), Sampling())
    assert 50 * -np.log(0.025) / 20 < high < 50 * 0.5  # ten clusters, not 200 rows


def test_costs_by_row_become_rows_of_two_costs():
    amounts = np.random.default_rng(2).lognormal(3, 1, 50)
    costs, rows = two_costs(np.float64(80), amounts.sum(), (amounts**2).sum())  # 30 more rows cost nothing
    assert rows.sum() == pytest.approx(80)
    assert rows @ costs == pytest.approx(amounts.sum())
    assert rows @ costs**2 == pytest.approx((amounts**2).sum())
    assert costs[0] == pytest.approx((amounts**2).sum() / amounts.sum())
    assert two_costs(np.float64(7), np.float64(-21), np.float64(63))[0][0] == -3
    costs, rows = two_costs(np.float64(50), np.float64(0.0), np.float64(200))  # gains and losses cancel out
    assert (costs.tolist(), rows.tolist()) == ([2, -2], [25, 25])


# ── normalised costs ─────────────────────────────────────────────────────────────────────────────────────────────
def test_a_normalised_cost_below_one_is_a_sure_saving_against_every_constant():
    rng, sampling, sure = np.random.default_rng(3), Sampling(), 0
    for _ in range(25):
        counts = table(*rng.poisson([400, 60, 1.5, 18])).clip(0)
        cells = Cells(SCAN, counts, EVERYWHERE)
        if normalised_limits(cells, SCAN, sampling).high < 1:
            sure += 1
            for d in range(2):
                assert mean_limits(Cells(SCAN[:, [d]] - SCAN, counts, EVERYWHERE), sampling).low > 0
    assert sure > 3


def test_beyond_all_draws_the_limits_are_the_ends():
    cells, sure = Cells(SCAN, table(20, 4, 1, 5), EVERYWHERE), Sampling(1 - 1e-9)
    assert mean_limits(cells, sure)[:2] == (0, 50)
    found = normalised_limits(cells, SCAN, sure).interval(sure)
    assert (found.low, found.high) == (0, np.inf)


# ── one law, every door ──────────────────────────────────────────────────────────────────────────────────────────
def rows(n=400, seed=4):
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 15, n)
    return p, rng.random(n) < p, rng


@pytest.mark.parametrize("options", ["plain", "prior", "fixed", "weights", "clusters", "weighted clusters"])
def test_evaluate_and_decide_have_the_same_interval(options):
    p, truth, rng = rows()
    asked = {
        "plain": {},
        "prior": {"prior": 0.01, "training_prior": "rows"},
        "fixed": {"design": "classes fixed"},
        "weights": {"weight": rng.choice([1.0, 5.0], len(p))},
        "clusters": {"cluster": np.arange(len(p)) // 4},
        "weighted clusters": {"cluster": np.arange(len(p)) // 4, "weight": rng.choice([1.0, 5.0], len(p))},
    }[options]
    costs = stakes.Costs(miss=30, false_alarm=1)
    ev = stakes.evaluate(truth=truth, score=p, costs=costs, **asked)
    choice = stakes.decide(truth=truth, score=p, costs=costs, **asked)
    doors = [(ev, choice.alternatives["Bayes threshold"]), (ev.at(0.5), choice.alternatives["threshold 0.5"])]
    for evaluation, other in doors:
        one = evaluation["expected_cost"]
        assert (other.value, other.low, other.high) == pytest.approx((one.value, one.low, one.high), rel=1e-9)
        assert other.method == one.method
    if options not in ("prior", "fixed"):
        named = ev["expected_cost(miss=30, false_alarm=1)"]
        assert (named.low, named.high) == pytest.approx((ev["expected_cost"].low, ev["expected_cost"].high), rel=1e-12)


def test_costs_by_row_have_the_same_interval_through_both_doors():
    p, truth, rng = rows()
    data = {"y": truth, "p": p, "amount": rng.lognormal(3, 1, len(p))}
    options = {"truth": "y", "score": "p", "costs": stakes.Costs(miss="amount", false_alarm=2)}
    one = stakes.evaluate(data, threshold=0.5, **options)["expected_cost"]
    other = stakes.decide(data, **options).alternatives["threshold 0.5"]
    assert (other.value, other.low, other.high) == pytest.approx((one.value, one.low, one.high), rel=1e-6)
    amounts = data["amount"][truth]
    most = (amounts**2).sum() / amounts.sum()
    assert f"one more row is taken to cost or save at most {most:.4g}" in one.note
    assert other.note in one.note


def test_several_classes_have_the_same_interval_through_both_doors():
    rng = np.random.default_rng(5)
    q = rng.dirichlet([1, 1, 1], 300)
    truth = np.array(list("abc"))[(q.cumsum(1) > rng.random((300, 1))).argmax(1)]
    costs = stakes.Costs([[0, 1, 4, 1], [2, 0, 1, 1], [9, 3, 0, 1]], "abc", ["a", "b", "c", "ask"])
    options = {"truth": truth, "score": {n: q[:, i] for i, n in enumerate("abc")}, "costs": costs}
    for asked in ({}, {"design": "classes fixed"}, {"cluster": np.arange(300) // 3}):
        one = stakes.evaluate(**options, **asked)["expected_cost"]
        other = stakes.decide(**options, **asked).estimates["the costs and the probabilities"]
        assert (other.value, other.low, other.high) == pytest.approx((one.value, one.low, one.high), rel=1e-9)


def test_no_miss_is_no_proof():
    truth = np.repeat([False, True], [300, 12])
    score = np.linspace(0, 0.79, 312) + 0.2 * truth
    choice = stakes.decide(truth=truth, score=score, costs=stakes.Costs(miss=50, false_alarm=1))
    assert choice.unseen.positives == 12
    assert choice.unseen.misses == pytest.approx(-np.log(0.025))
    assert choice.unseen.cost == pytest.approx(choice.unseen.misses * 50 / 312)
    assert choice.unseen.negatives == pytest.approx(choice.unseen.misses * 50)
    assert choice.cost.high > choice.unseen.cost
    said = " ".join(str(choice).split())
    assert (
        "None of the 12 positives is missed here, but up to 3.7 misses in 312 rows cannot be excluded, which would "
        "cost 591.17 per 1,000 cases; to be worth using, a model needs at least 185 true negatives."
    ) in said
    assert choice.apparent.value == 0
    assert choice.rough
    assert "All this is rough: the threshold was chosen on too few positives." in said
    rich = stakes.decide(truth=truth, score=score, costs=stakes.Costs(miss=50, false_alarm=1), prior=0.1)
    assert rich.unseen is None  # at other class frequencies so many rows say something else


# ── small simulations ────────────────────────────────────────────────────────────────────────────────────────────
def test_rare_and_dear_misses_are_covered():
    """10 positives among 400 rows, a miss costs 50; at these alarms the model saves nothing in truth."""
    rng, sampling, found = np.random.default_rng(6), Sampling(), []
    share, missed, alarmed = 10 / 400, 0.2, 0.769
    for _ in range(60):
        positives = rng.binomial(400, share)
        fn, fp = rng.binomial(positives, missed), rng.binomial(400 - positives, alarmed)
        counts = table(400 - positives - fp, fp, fn, positives - fn)
        cost = mean_limits(Cells(SCAN, counts, EVERYWHERE), sampling)
        saving = mean_limits(Cells(SCAN[:, [1]] - SCAN, counts, EVERYWHERE), sampling)
        true = 50 * share * missed + (1 - share) * alarmed
        found.append((cost.low <= true <= cost.high, saving.low <= (1 - share) - true <= saving.high, saving.low > 0))
    covered, saved, earns = np.mean(found, axis=0)
    assert covered >= 0.9
    assert saved >= 0.9
    assert earns <= 0.1


def test_a_table_of_one_decision_has_an_interval():
    counts = Confusion.two_class(tp=0, fn=3, fp=0, tn=40)
    found = stakes.Evaluation(stakes.engines.plan.Counted("classification", {"confusion": counts})).priced(
        stakes.Costs(miss=1, false_alarm=100)
    )["expected_cost"]
    assert found.high > 5  # nobody was alarmed, which is no proof that nobody ever is


def test_many_costs_are_as_sure_as_rows_of_them():
    """A table of 400 costs of both signs: the limits are near those of Student's t, for 5,000 rows."""
    rng = np.random.default_rng(7)
    values, counts = rng.normal(0.05, 1, (20, 20)), rng.poisson(12, (20, 20)).astype(float)
    low, high, _ = mean_limits(Cells(values, counts, np.ones((20, 20), bool)), Sampling())
    mean = np.average(values, weights=counts)
    half = 1.96 * np.sqrt(np.average((values - mean) ** 2, weights=counts) / counts.sum())
    assert (mean - low) / half == pytest.approx(1, abs=0.1)
    assert (high - mean) / half == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("name", ["expected_cost", "normalised_cost"])
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_limits_of_costs_by_row_do_not_depend_on_the_unit_of_weights(name, unit):
    random = np.random.default_rng(0)
    truth, weight = random.random(300) < 0.4, random.random(300) + 0.1
    table = {"y": truth, "p": np.clip(0.3 * truth + 0.6 * random.random(300), 0, 1), "paid": random.integers(1, 9, 300)}
    asked = {"truth": "y", "score": "p", "weight": "w", "costs": stakes.Costs(miss="paid", false_alarm=1)}
    one, other = (stakes.evaluate({**table, "w": weight * by}, **asked)[name] for by in (1, unit))
    assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-9)
