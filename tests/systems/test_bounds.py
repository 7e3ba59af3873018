"""Bounds against linear programs over whole joint tables, and their intervals."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given

from stakes import Costs, InputError, System
from stakes.systems import bounds as linear_programs
from tests.parts import examples
from tests.systems.brute import Brute, least_and_most, systems

pytestmark = pytest.mark.slow

SLOW = examples(30, suppress_health_check=list(HealthCheck))


def indicator(rows, test, keys):
    return np.array([[float(test(row, key)) for row in rows] for key in keys])


@SLOW
@given(systems(cascades=False, most_models=3, most_classes=3))
def test_one_model_against_the_whole_joint(brute: Brute):
    """q over all combinations, with J's own margin and the joint of all others fixed."""
    system = brute.system()
    for i in range(len(brute.sizes)):
        best = worst = 0.0
        for c, share in enumerate(brute.prior):
            joint = brute.joint(c)
            rows = list(joint)
            others = sorted({x[:i] + x[i + 1 :] for x in rows})
            mass = [float(sum(p for x, p in joint.items() if x[:i] + x[i + 1 :] == u)) for u in others]
            says = [float(sum(p for x, p in joint.items() if x[i] == j)) for j in range(brute.sizes[i])]
            margins = [
                (indicator(rows, lambda x, u, i=i: x[:i] + x[i + 1 :] == u, others), np.array(mass)),
                (indicator(rows, lambda x, j, i=i: x[i] == j, range(brute.sizes[i])), np.array(says)),
            ]
            low, high = least_and_most(np.array([float(brute.costs[c][brute.rule[x]]) for x in rows]), margins)
            best, worst = best + float(share) * low, worst + float(share) * high
        found = system.bounds(f"m{i}")
        assert (found.best, found.worst) == pytest.approx((best, worst), abs=1e-7)
        assert tuple(costs_of_tables(brute, found)) == pytest.approx((best, worst), abs=1e-7)


def costs_of_tables(brute, found):
    """What the tables of the best and the worst case cost; each row is a distribution."""
    for table in (found.best_table, found.worst_table):
        shares = np.array([[row[f"d{s}"] for s in range(len(brute.costs[0]))] for row in table.values()])
        assert shares.min() > -1e-9
        assert shares.sum(1) == pytest.approx(np.ones(len(shares)))
        yield float((np.array(brute.prior, float)[:, None] * shares * np.array(brute.costs)).sum())


@SLOW
@given(systems(most_models=3, most_classes=3))
def test_all_models_against_the_whole_joint(brute: Brute):
    system = brute.system()
    best = worst = 0.0
    for c, share in enumerate(brute.prior):
        rows = list(brute.combinations)
        margins = [(np.ones((1, len(rows))), np.ones(1))]
        cells = [(model, seen) for model in range(len(brute.sizes)) for seen in brute.seen_by(model)]
        for i, seen in cells:
            row = np.array(brute.tables[i][c, seen]) / sum(brute.tables[i][c, seen])
            there = np.array([tuple(x[p] for p in brute.sees[i]) == seen for x in rows])
            says = indicator(rows, lambda x, j, i=i: x[i] == j, range(brute.sizes[i]))
            margins.append((says * there - row[:, None] * there, np.zeros(len(row))))
        low, high = least_and_most(np.array([float(brute.costs[c][brute.rule[x]]) for x in rows]), margins)
        best, worst = best + float(share) * low, worst + float(share) * high
    found = system.bounds()
    assert (found.best, found.worst) == pytest.approx((best, worst), abs=1e-7)


def clinic(**options):
    return System(
        classes=["sick", "healthy"],
        models={"images": [[80, 20], [20, 80]], "history": [[50, 50], [100, 100]]},
        decide="images and history",
        costs=Costs(miss=5, false_alarm=1),
        **options,
    )


def three_valued(n=400, seed=0):
    """A model with three answers, so that bounds need a program."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    frame = {"y": truth}
    for name in "abc":
        frame[name] = np.where(rng.random(n) < 0.6, truth, rng.integers(0, 3, n))
    prices = [[0, 1, 4], [2, 0, 1], [7, 2, 0]]
    return System(
        pd.DataFrame(frame),
        truth="y",
        models=["a", "b", "c"],
        decide="majority(a, b, c)",
        costs=Costs(prices, ["0", "1", "2"]),
    )


def test_the_program_agrees_with_sorting_for_two_answers():
    """The same situations through the program of three answers, with a third answer that is never given."""
    system = clinic()
    padded = System(
        classes=["sick", "healthy"],
        models={
            "images": [[80, 20], [20, 80]],
            "history": {"table": [[50, 50, 0], [100, 100, 0]], "outputs": ["sick", "healthy", "unsure"]},
        },
        decide='"sick" if images == "sick" and history == "sick" else "healthy"',
        costs=Costs(miss=5, false_alarm=1),
    )
    assert padded.bounds("history").best == pytest.approx(system.bounds("history").best)
    assert padded.bounds("history").worst == pytest.approx(system.bounds("history").worst)
    assert padded.bounds("history").low == pytest.approx(system.bounds("history").low, rel=0.05)
    assert padded.bounds("history").high == pytest.approx(system.bounds("history").high, rel=0.05)


def test_duals_of_a_few_draws_price_all_of_them():
    rng = np.random.default_rng(2)
    for _ in range(2):
        prices = rng.integers(0, 6, (12, 3)).astype(float)
        constraints = linear_programs.transport(12, 3)
        draws = np.hstack([rng.dirichlet(20 * np.ones(12), 80), rng.dirichlet([30, 20, 20], 80)[:, :2]])
        quick = linear_programs.least_of_draws(prices.ravel(), constraints, draws, [])
        exact = np.array([linear_programs.least(prices.ravel(), constraints, margins)[0] for margins in draws])
        assert (quick <= exact + 1e-9).all()
        assert np.mean(quick > exact - 1e-9) > 0.5
        assert np.quantile(quick, [0.025, 0.975]) == pytest.approx(np.quantile(exact, [0.025, 0.975]), rel=0.03)


def test_intervals_hold_the_bounds():
    for name in "abc":
        found = three_valued().bounds(name)
        assert found.low < found.best < found.worst < found.high


def test_bounds_contain_the_actual_cost_and_shrink_to_it():
    system = three_valued()
    for name in "abc":
        found = system.bounds(name)
        assert found.best <= found.actual <= found.worst
        assert found.actual == system.cost
    with pytest.raises(InputError, match=r"so nothing is open between all of them; ask about one model: bounds..a"):
        system.bounds()
    with pytest.raises(InputError, match=r"table= is a candidate in the place of one model; say which: bounds..a"):
        system.bounds(table=[[1, 0, 0], [0, 1, 0], [0, 0, 1]])


def test_a_candidate_has_no_actual_cost_and_an_interval_of_its_own():
    system = clinic()
    few, many = (system.bounds("history", [[5 * n, 5 * n], [10 * n, 10 * n]]) for n in (1, 1000))
    assert np.isnan(few.actual)
    assert (few.best, few.worst) == pytest.approx((many.best, many.worst))
    assert few.high - few.low > many.high - many.low > many.worst - many.best
    rates = system.bounds("history", [[0.5, 0.5], [0.5, 0.5]])
    assert rates.high - rates.low == pytest.approx(many.high - many.low, rel=0.05)
    assert system.bounds("history", 0.5).best == pytest.approx(few.best)


@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize("times", [50, pytest.param(500, marks=pytest.mark.deep)])
def test_intervals_cover_both_bounds(by_rows, times):
    """The limits hold the true best and worst about as often as they say."""
    rng = np.random.default_rng(4)
    truth_rates = {"a": (0.85, 0.3), "b": (0.7, 0.2)}
    exact = System(
        classes=["1", "0"],
        models={name: [[tpr, 1 - tpr], [fpr, 1 - fpr]] for name, (tpr, fpr) in truth_rates.items()},
        decide="a and b",
        costs=Costs(miss=5, false_alarm=1),
        prior=0.4,
    )
    wanted, k1 = exact.bounds("b"), exact.component_costs("b").expected
    hits = covered = 0
    for _ in range(times):
        n = rng.multinomial(200, [0.4, 0.6])
        drawn = {
            name: [rng.binomial(m, r) for m, r in zip(n, rates, strict=True)] for name, rates in truth_rates.items()
        }
        if by_rows:
            y = np.repeat([1, 0], n)
            frame = {"y": y}
            for name, rates in truth_rates.items():
                frame[name] = (rng.random(200) < np.where(y == 1, *rates)).astype(int)
            found = System(
                frame, truth="y", models=["a", "b"], decide="a and b", costs=Costs(miss=5, false_alarm=1), prior=0.4
            )
        else:
            tables = {name: [[a, n[0] - a], [b, n[1] - b]] for name, (a, b) in drawn.items()}
            found = System(
                classes=["1", "0"], models=tables, decide="a and b", costs=Costs(miss=5, false_alarm=1), prior=0.4
            )
        bounds = found.bounds("b")
        covered += bounds.low <= wanted.best and wanted.worst <= bounds.high
        low, high = found.component_costs("b").expected_limits
        hits += low[0, 0] <= k1[0, 0] <= high[0, 0]
    assert hits / times > 0.9
    assert covered / times > 0.9


def test_costs_that_are_certain_have_no_width():
    low, high = clinic().component_costs("history").expected_limits
    assert low[0, 1] == pytest.approx(5)
    assert high[0, 1] == pytest.approx(5)
    assert low[0, 0] < 1 < high[0, 0]


def test_rates_have_no_interval_and_say_why():
    system = System(
        classes=["1", "0"], models={"a": 0.8, "b": 0.7}, decide="a or b", costs=Costs(miss=5, false_alarm=1), prior=0.1
    )
    assert system.bounds("a").low is None
    assert "given as rates" in system.bounds("a").no_interval
    assert system.component_costs("a").expected_limits is None
    assert "given as rates" in system.component_costs("a").no_interval


def test_the_same_seed_gives_the_same_interval_whatever_was_asked_before():
    first, second = clinic(seed=1), clinic(seed=1)
    second.bounds("history", [[1, 9], [3, 4]])
    assert first.bounds("images") == second.bounds("images")
    assert first.bounds("images") != clinic(seed=2).bounds("images")
    wide, narrow = clinic(confidence=0.99).bounds("images"), clinic(confidence=0.5).bounds("images")
    assert wide.low < narrow.low < narrow.high < wide.high


def test_bounds_of_all_with_rows_keep_what_rows_tell():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    frame = {"y": y, "a": np.where(rng.random(300) < 0.8, y, 1 - y), "b": np.where(rng.random(300) < 0.7, y, 1 - y)}
    table = [[90, 10], [30, 170]]
    system = System(
        frame,
        truth="y",
        models={"a": "a", "b": "b", "c": table, "d": table},
        decide="at_least(2, a, b, c, d)",
        costs=Costs(miss=5, false_alarm=1),
    )
    every = system.bounds()
    for name in "cd":
        assert every.best <= system.bounds(name).best + 1e-9
        assert every.worst >= system.bounds(name).worst - 1e-9
    assert every.low < every.best < every.worst < every.high
    assert list(itertools.chain(system.models)) == ["a", "b", "c", "d"]


def test_rates_beside_counts_vary_only_where_there_are_counts():
    system = System(
        classes=["1", "0"],
        models={"a": {"1": 0.8, "0": 0.9}, "b": [[70, 30], [20, 80]]},
        decide="a and b",
        costs=Costs(miss=5, false_alarm=1),
        prior=0.4,
    )
    low, high = system.component_costs("b").expected_limits  # of b's answers, given the known a
    assert low == pytest.approx(high)
    low, high = system.component_costs("a").expected_limits
    assert low[0, 0] < system.component_costs("a").expected[0, 0] < high[0, 0]
    assert system.bounds("a").low < system.bounds("a").best
    assert "exact" in str(system)


def test_tiny_margins_are_not_impossible():
    """HiGHS' presolve calls this program infeasible, which it is not."""
    prices = np.array([1.0, 2, 1, 2, 2, 1, 2, 2, 8, 2, 1, 2, 8, 2, 8, 2])
    rows = [9.348832798132637e-08, 7.310589378796618e-09, 0.003501125905240796, 0.00029390470733926685]
    columns = [1.721910296125958e-07, 0.0002938440220653726, 0.0035011151980084143]
    value, _, _ = linear_programs.least(prices, linear_programs.transport(4, 4), np.array(rows + columns))
    assert value == pytest.approx(rows[2] + 2 * rows[3], rel=1e-3)  # the third at 1, the fourth at 2
