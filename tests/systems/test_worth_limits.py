"""How sure the worth of a model is: limits against brute force and simulation, and when a model comes surely first."""

import itertools

import numpy as np
import pytest

import stakes
from stakes.systems.row_costs import RATES_ONLY, TOO_MANY, RowCosts
from stakes.systems.worth import _costs_of_sets, _sets
from stakes.tallies import JointCounts
from stakes.uncertainty.one_more_row import Cells, mean_limits

NAMES, CLASSES = ("a", "b", "c"), ("yes", "no")
COSTS = stakes.Costs(miss=5, false_alarm=1)


def of_rows(counts, decide="majority(a, b, c)", sees=None, **options):
    """The system of these rows: counts[truth, a, b, c]."""
    found = np.argwhere(counts > 0)
    joint = JointCounts(("truth", *NAMES), (CLASSES,) * 4, found, counts[tuple(found.T)])
    models = {name: {"column": name, "sees": (sees or {}).get(name, [])} for name in NAMES}
    return stakes.System(joint, models=models, decide=decide, costs=COSTS, positive="yes", **options)


def of_tables(tables, decide="majority(a, b, c)"):
    models = dict(zip(NAMES, tables, strict=True))
    return stakes.System(classes=CLASSES, models=models, decide=decide, costs=COSTS, prior=0.3)


def perfect(system, name):
    """What the system costs when a model is always right."""
    network = system.network
    right = enumerate(network.models[name].right)
    return sum(network.cases[c] * network.cost_of_class(c, {name: code}) for c, code in right)


def savings(system):
    return np.array([system.cost - perfect(system, name) for name in system.models])


def saved_by_row(system, rows):
    """What each kind of row saves when a model is perfect, around the mean of its sample."""
    right = {name: model.right for name, model in system.network.models.items()}
    for name in system.models:
        costs = rows.made([{}, {}]) - rows.made([{name: code} for code in right[name]])
        yield costs - (rows.counts * costs).sum(-1, keepdims=True) / rows.counts.sum(-1, keepdims=True).clip(1)


# ── brute force ──────────────────────────────────────────────────────────────────────────────────────────────────
def test_leaving_a_row_out_changes_the_saving_by_what_the_row_costs():
    counts = np.random.default_rng(3).integers(2, 9, (2, 2, 2, 2))
    system = of_rows(counts, "a and b or c", prior=0.3)
    rows = RowCosts(system.network)
    around = np.stack(list(saved_by_row(system, rows)))
    for cell in np.ndindex(counts.shape):
        fewer = counts.copy()
        fewer[cell] -= 1
        moved = savings(system) - savings(of_rows(fewer, "a and b or c", prior=0.3))
        kind = np.ravel_multi_index(cell[1:], (2, 2, 2))
        assert moved * fewer[cell[0]].sum() == pytest.approx(around[:, cell[0], kind], abs=1e-9)


def test_leaving_a_case_of_a_table_out_changes_the_saving_by_what_it_costs():
    tables = np.random.default_rng(4).integers(2, 20, (3, 2, 2))
    system = of_tables(tables.tolist())
    around = np.stack(list(saved_by_row(system, RowCosts(system.network))))
    for model, truth, says in np.ndindex(tables.shape):
        fewer = tables.copy()
        fewer[model, truth, says] -= 1
        moved = savings(system) - savings(of_tables(fewer.tolist()))
        assert moved * fewer[model, truth].sum() == pytest.approx(around[:, 3 * truth + model, says], abs=1e-9)


def test_one_more_row_of_a_cascade_changes_what_a_perfect_first_model_costs():
    """Models that see it answer as they did where it was right, so the cost is a sum of ratios and not a mean."""
    counts = np.random.default_rng(5).integers(2, 9, (2, 2, 2, 2))
    options = {"decide": "b if a == 'yes' else c", "sees": {"b": ["a"]}, "prior": 0.3, "shared_difficulty": False}
    system = of_rows(counts, **options)
    rows = RowCosts(system.network)
    found = rows.made([{"a": 0}, {"a": 1}])
    kinds = np.ravel_multi_index(tuple(system.network.rows.codes[name].astype(int) for name in NAMES), (2, 2, 2))
    for truth, place in itertools.product(range(2), range(8)):
        more = counts.copy()
        more.reshape(2, 8)[truth, kinds[place]] += 1
        moved = perfect(of_rows(more, **options), "a") - perfect(system, "a")
        cases = system.network.cases[truth]
        base = cases * system.network.cost_of_class(truth, {"a": truth})
        assert moved * more[truth].sum() == pytest.approx(found[truth, place] - base, abs=1e-9)


def test_a_saving_has_the_limits_of_a_mean_cost():
    counts = np.array([[[[9, 1], [2, 0]], [[1, 3], [0, 4]]], [[[1, 2], [0, 4]], [[2, 0], [3, 40]]]])
    system = of_rows(counts, "a and b and c")
    price, right = np.array([5.0, 1.0]), (0, 1)
    saved = np.zeros((2, 8))
    for truth, place in itertools.product(range(2), range(8)):
        said = [place >> 2 & 1, place >> 1 & 1, place & 1]
        wrong = [int(any(one)) != truth for one in (said, [right[truth], *said[1:]])]
        saved[truth, place] = price[truth] * (wrong[0] - wrong[1])
    want = mean_limits(Cells(saved, counts.reshape(2, 8), np.ones((2, 8), bool)), system.sampling)
    found = np.array(system.worth()["a"].saving_limits) / counts.sum()
    assert found == pytest.approx([want.low, want.high], rel=1e-9)


# ── simulation ───────────────────────────────────────────────────────────────────────────────────────────────────
def rows_of_a_world(generator):
    """Rows in which a fifth of the cases is hard for every model."""
    parts = [(0.8, (0.95, 0.9, 0.85)), (0.2, (0.5, 0.4, 0.6))]
    yes = sum(part * np.einsum("i,j,k", *([a, 1 - a] for a in right)) for part, right in parts)
    chances = np.stack([yes, yes[::-1, ::-1, ::-1]])
    if generator is None:
        return of_rows(np.rint(chances * 1e9).astype(int), prior=0.3)
    drawn = [generator.multinomial(n, p.ravel()).reshape(p.shape) for n, p in zip((25, 75), chances, strict=True)]
    return of_rows(np.stack(drawn), prior=0.3)


def tables_of_a_world(generator):
    right, sizes = (0.95, 0.93, 0.9), ((20, 60), (20, 30), (15, 40))
    if generator is None:
        return of_tables([[[a, 1 - a], [1 - a, a]] for a in right])
    hits = [[int(generator.binomial(n, a)) for n in pair] for pair, a in zip(sizes, right, strict=True)]
    pairs = zip(hits, sizes, strict=True)
    return of_tables([[[x, n - x], [m - y, y]] for (x, y), (n, m) in pairs])


@pytest.mark.parametrize("world", [rows_of_a_world, tables_of_a_world])
@pytest.mark.parametrize("runs", [15, pytest.param(300, marks=[pytest.mark.deep, pytest.mark.slow])])
def test_the_intervals_of_savings_and_shares_hold_the_truth(world, runs):
    generator, truth = np.random.default_rng(7), world(None).worth()
    held = []
    for _ in range(runs):
        for name, one in world(generator).worth().models.items():
            for limits, value in ((one.saving_limits, truth[name].saving), (one.share_limits, truth[name].share)):
                held.append(limits[0] <= value <= limits[1])
    assert np.mean(held) >= 0.93


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_model_comes_first_only_where_the_difference_is_sure():
    unsure = of_tables([[[160, 40], [40, 160]], [[150, 50], [40, 160]], [[1990, 10], [10, 1990]]])
    assert unsure.worth().first_name == "b"
    assert unsure.worth().rivals == ("a",)
    assert unsure.advice.startswith(
        "There is not enough evidence which of “b” and “a” comes first. If “b” were always right, "
    )
    sure = of_tables([[[1600, 400], [400, 1600]], [[1000, 1000], [400, 1600]], [[1900, 100], [100, 1900]]])
    assert sure.worth().rivals == ()
    assert sure.advice.startswith("“b”: if it were always right, the system would cost ")
    assert sure.to_dict()["worth"]["interval_method"] == "one more row"


def test_models_that_are_one_and_the_same_need_no_evidence():
    counts = np.zeros((2, 2, 2, 2), int)
    counts[0, 0, 0, 0], counts[0, 1, 1, 0], counts[1, 1, 1, 1] = 20, 5, 30
    system = of_rows(counts, "c")
    low, high = system.worth()["a"].saving_limits
    assert (low, high) == (0, 0)
    assert system.worth().rivals == ()


def test_without_cases_there_is_a_reason_instead():
    rates = stakes.System(classes=CLASSES, models={"a": 0.8, "b": 0.9}, decide="a and b", costs=COSTS, prior=0.3)
    worth = rates.worth()
    assert worth.no_interval == RATES_ONLY
    assert worth["a"].saving_limits is None
    assert worth.interval_method == ""
    assert str(worth).endswith(f"no intervals: {RATES_ONLY}")
    assert f"worth has no intervals: {RATES_ONLY}" in " ".join(str(rates).split())


def test_very_many_subsets_have_no_interval_of_shares():
    models = {f"m{i}": [[8, 2], [2, 8]] for i in range(8)}
    votes = f"majority({', '.join(models)})"
    worth = stakes.System(classes=CLASSES, models=models, decide=votes, costs=COSTS).worth()
    assert worth["m0"].saving_limits is not None
    assert worth["m0"].share_limits is None
    assert worth.no_interval == f"shares: {TOO_MANY}"


def test_a_system_costs_what_evaluate_says_of_its_decisions():
    """The interval of rows, too, also where hardly any row errs; with a prior the classes stay as frequent."""
    counts = np.zeros((2, 2, 2, 2), int)
    counts[0, 0, 0, 0], counts[0, 0, 1, 1], counts[1, 1, 1, 1], counts[1, 0, 0, 1] = 14, 1, 98, 2
    system = of_rows(counts)
    table = stakes.Confusion(CLASSES, CLASSES, [[14, 1], [2, 98]], positive="yes")
    figure = stakes.evaluate(table, costs=COSTS)["expected_cost"]
    assert np.array(system.cost_limits) / 115 == pytest.approx([figure.low, figure.high], rel=1e-9)
    assert system.cost / 115 == pytest.approx(figure.value)
    there = stakes.evaluate(table, costs=COSTS, prior=15 / 115)["expected_cost"]
    assert of_rows(counts, prior=15 / 115).cost_limits == pytest.approx((there.low, there.high), rel=0.03)
    assert there.high < figure.high


def test_limits_stay_within_what_any_cases_could_give():
    """Of a rule to which being right never does harm, nothing is saved at least."""
    worth = of_tables([[[8, 2], [2, 18]], [[9, 1], [4, 16]], [[9, 1], [1, 9]]], "a and b and c").worth()
    limits = [ends for one in worth.models.values() for ends in (one.saving_limits, one.share_limits)]
    assert min(low for low, _ in limits) == 0
    assert max(high for _, high in limits) <= 0.3 * 5 + 0.7


@pytest.mark.parametrize("sees", [None, {"c": ["a"]}])
def test_the_costs_of_all_sets_of_models_are_those_of_each(sees):
    """Made right one by one, the sets cost what they cost together, of rows and of tables, also where all are right."""
    counts = np.random.default_rng(6).integers(0, 9, (2, 2, 2, 2))
    rows = of_rows(counts, "a and b or c", sees=sees, prior=0.3, shared_difficulty=False)
    tables = of_tables([[[5, 1], [0, 7]], [[8, 8], [3, 4]], [[9, 2], [2, 5]]], "a and b or c")
    for network in (rows.network, tables.network):
        right = {name: model.right for name, model in network.models.items()}
        want = [
            [network.cost_of_class(c, {name: right[name][c] for name in made}) for made in subsets()] for c in range(2)
        ]
        assert np.array([_costs_of_sets(network, c) for c in range(2)]) == pytest.approx(np.array(want))
        kinds = RowCosts(network)
        made = [kinds.made([{name: right[name][c] for name in made} for c in range(2)]) for made in subsets()]
        assert kinds.if_right(_sets(3)) == pytest.approx(np.stack(made))


def subsets():
    return [list(itertools.compress(NAMES, made)) for made in itertools.product((0, 1), repeat=3)]
