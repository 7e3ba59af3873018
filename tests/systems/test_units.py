"""Rows with weights, rows in clusters, samples of one class; the system's own table."""

import itertools

import numpy as np
import pytest

import stakes
from stakes import Costs, InputError, System
from tests.systems.brute import Brute

COSTS = Costs(miss=5, false_alarm=1)
SH = ["sick", "healthy"]


def sample(n, seed=0, clusters=None):
    """Two models; rows of a cluster resemble each other in how hard they are."""
    rng = np.random.default_rng(seed)
    of = np.arange(n) if clusters is None else rng.integers(0, clusters, n)
    hard = (rng.random(of.max() + 1) < 0.4)[of]
    truth = (rng.random(n) < 0.4).astype(int)
    said = {name: np.where(rng.random(n) < np.where(hard, 0.5, 0.9), truth, 1 - truth) for name in "ab"}
    return {"y": truth, **said, "patient": of}


def system(data, decide="a and b", **options):
    return System(data, truth="y", models=["a", "b"], decide=decide, costs=COSTS, **options)


def figures(found):
    """Every figure with an interval: value, low, high."""
    yield "cost", found.cost, found.cost_limits
    for cell in found.table.to_rows():
        yield f"share {cell['truth']} {cell['decision']}", cell["share"], (cell["low"], cell["high"])
    for one in found.table.costs_of_classes():
        yield f"class {one['truth']}", one["cost"], (one["low"], one["high"])
    for name in found.models:
        costs, bounds, worth = found.component_costs(name), found.bounds(name), found.worth()[name]
        for cell in costs.to_rows():
            if cell["expected_high"] - cell["expected_low"] > 0:
                yield (
                    f"K1 {name} {cell['truth']} {cell['says']}",
                    cell["expected"],
                    (cell["expected_low"], cell["expected_high"]),
                )
        yield f"evaluation {name}", costs.evaluation, costs.evaluation_limits
        yield f"dependence {name}", costs.dependence, costs.dependence_limits
        yield f"bounds {name}", bounds.best, (bounds.low, bounds.high)
        yield f"saving {name}", worth.saving, worth.saving_limits
        yield f"share {name}", worth.share, worth.share_limits
    rule = found.best_rule()
    yield "rule", rule.saving, (rule.low, rule.high)


# ── weights and clusters ─────────────────────────────────────────────────────────────────────────────────────────
def test_weights_count_rows_as_often_as_they_say():
    data = sample(120)
    weight = np.random.default_rng(1).integers(1, 4, 120)
    repeated = {name: np.repeat(column, weight) for name, column in data.items()}
    weighted, whole = system(data, weight=weight), system(repeated)
    for (name, one, _), (_, other, _) in zip(figures(weighted), figures(whole), strict=True):
        if name != "rule":  # which rows judge it is drawn by lot
            assert one == pytest.approx(other), name


def test_equal_weights_do_not_make_figures_surer():
    data = sample(150)
    plain, heavy = system(data), system(data, weight=np.full(150, 7.0))
    per_case = ("share ", "class", "K1")
    for (name, value, limits), (_, other, ends) in zip(figures(plain), figures(heavy), strict=True):
        scale = 1 if name.startswith(per_case) and name not in ("share a", "share b") else 7
        if name == "rule":
            continue
        assert other == pytest.approx(scale * value), name
        width = limits[1] - limits[0]
        assert (ends[1] - ends[0]) / scale == pytest.approx(width, rel=0.12), name


def test_rows_that_repeat_within_clusters_tell_no_more_than_once():
    """Sixty rows, each four times: as one cluster of four they make figures as sure as sixty rows, and hardly wider."""
    data = sample(60)
    again = {name: np.repeat(column, 4) for name, column in data.items()}
    once, clustered, naive = system(data), system(again, cluster="patient"), system(again)
    for first, second, third in zip(figures(once), figures(clustered), figures(naive), strict=True):
        name, _, limits = first
        scale = 1 if name.startswith(("share 0", "share 1", "class", "K1")) else 4
        widths = [(one[2][1] - one[2][0]) / each for one, each in ((first, 1), (second, scale), (third, scale))]
        if name != "rule" and widths[0] > 1e-9:
            assert second[1] == pytest.approx(third[1]), name
            assert widths[1] == pytest.approx(widths[0], rel=0.3), name
            assert widths[1] > (1.2 if name.startswith("bounds") else 1.5) * widths[2], (name, limits)


@pytest.mark.parametrize("given", ["weight", "cluster"])
def test_a_system_costs_what_evaluate_says_of_its_decisions(given):
    data = sample(300, 3, clusters=40)
    units = (
        {"weight": np.random.default_rng(5).lognormal(0, 1, 300)} if given == "weight" else {"cluster": data["patient"]}
    )
    found = system(data, prior=0.3, **units)
    decided = data["a"] & data["b"]
    wanted = stakes.evaluate(truth=data["y"], prediction=decided, costs=COSTS, prior=0.3, **units)["expected_cost"]
    assert found.cost == pytest.approx(wanted.value)
    assert found.cost_limits == pytest.approx((wanted.low, wanted.high), rel=0.05)


@pytest.mark.slow
def test_clusters_cover_where_rows_would_not():
    """The cost of a system on 40 clusters that are hard or easy as a whole."""
    truth = system(sample(200_000, 99, clusters=20_000), prior=0.4).cost
    held = {"rows": 0, "clusters": 0}
    for seed in range(60):
        data = sample(400, seed, clusters=40)
        for name, units in (("rows", {}), ("clusters", {"cluster": data["patient"]})):
            low, high = system(data, prior=0.4, **units).cost_limits
            held[name] += low <= truth <= high
    assert held["clusters"] >= 55
    assert held["clusters"] > held["rows"]


def test_few_clusters_are_told_and_one_is_refused():
    data = sample(100, clusters=8)
    assert "There are only 8 clusters" in str(system(data, cluster="patient"))
    with pytest.raises(InputError, match="all rows belong to one cluster"):
        system(data, cluster=np.zeros(100))
    with pytest.raises(InputError, match="weight= is a column of rows, and there are none"):
        System(classes=SH, models={"a": 0.8}, decide="a", costs=COSTS, prior=0.5, weight=[1, 2])


def test_thresholds_know_weights_and_clusters():
    data = sample(200, clusters=30)
    score = data["a"] + np.random.default_rng(2).normal(0, 0.4, 200)
    weight = np.random.default_rng(3).integers(1, 4, 200)
    repeated = {name: np.repeat(column, weight) for name, column in data.items()}
    weighted = system(data, weight=weight, cluster="patient").best_thresholds({"a": score})
    whole = system(repeated, cluster="patient").best_thresholds({"a": np.repeat(score, weight)})
    assert weighted.thresholds == whole.thresholds
    assert (weighted.cost, weighted.held_out, weighted.low) == pytest.approx(
        (whole.cost, whole.held_out, whole.low), rel=0.01
    )


# ── one class ────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_sample_of_one_class():
    """100 positives, both of two models right for half of them: 75 missed if independent, 100 at worst."""
    half = {"images": [[50, 50], [0, 0]], "history": [[50, 50], [0, 0]]}
    found = System(classes=SH, models=half, decide="images and history", costs=Costs(miss=1, false_alarm=0), prior=1)
    assert (100 * found.cost, 100 * found.bounds("history").worst) == pytest.approx((75, 100))
    assert np.isnan(found.component_costs("history").expected[1]).all()
    assert "Nothing is known about “healthy”" in str(found)
    assert found.to_dict()["table"]["by_class"][1]["cost"] is None
    data = {"y": ["sick"] * 4, "a": ["sick", "sick", "healthy", "healthy"], "b": ["sick", "healthy"] * 2}
    rows = System(data, truth="y", models=["a", "b"], decide="a and b", costs=Costs(miss=1, false_alarm=0), prior=1)
    assert rows.cost == pytest.approx(0.75)
    assert rows.best_rule().cost == 0
    weighted = System(data, truth="y", models=["a", "b"], decide="a and b", costs=COSTS, prior=1, weight=[1, 2, 3, 4])
    assert np.isfinite(weighted.component_costs("a").expected_limits[0][0]).all()
    with pytest.raises(InputError, match="the threshold of 'a' needs both classes, and there is no case of 'healthy'"):
        rows.threshold("a")


@pytest.mark.parametrize("prior", [None, 0.5])
def test_a_class_that_is_asked_about_needs_cases(prior):
    """One message, whether classes are named or not, from rows and from tables."""
    data = {"y": [1, 1], "a": [1, 0], "b": [0, 1]}
    calls = [
        lambda: system(data, prior=prior),
        lambda: system(data, prior=prior, classes=[1, 0]),
        lambda: System(classes=["1", "0"], models={"a": [[9, 1], [0, 0]]}, decide="a", costs=COSTS, prior=prior),
    ]
    for call in calls:
        with pytest.raises(
            InputError, match=r"has no case of the class '0', so nothing is known about it; give some, or"
        ):
            call()


# ── the system's own table ───────────────────────────────────────────────────────────────────────────────────────
def test_the_own_table_of_tables_by_hand():
    found = System(
        classes=SH,
        models={"images": [[80, 20], [20, 80]], "history": [[50, 50], [100, 100]]},
        decide="images and history",
        costs=COSTS,
    )
    assert found.table.shares == pytest.approx(np.array([[0.4, 0.6], [0.1, 0.9]]))
    assert found.table.costs == pytest.approx([3, 0.1])
    assert [one["total"] for one in found.table.costs_of_classes()] == pytest.approx([300, 20])
    worst, decides, *_ = found.findings
    assert (worst.key, decides.key) == ("system.cheaper_question", "system.decides_question")
    assert decides.words[0] == "Of the “sick” cases 60% are missed; of the “healthy” ones 10% raise a false alarm."
    moves = {(move["truth"], move["decision"]): (move["best"], move["worst"]) for move in found.bounds("history").moves}
    assert moves == {("sick", "healthy"): pytest.approx((0.5, 0.7)), ("healthy", "sick"): pytest.approx((0, 0.2))}


def test_the_own_table_of_rows_is_the_confusion_table():
    data = sample(200)
    found = system(data)
    ev = stakes.evaluate(truth=data["y"], prediction=data["a"] & data["b"])
    cells = {(cell["truth"], cell["decision"]): cell for cell in found.table.to_rows()}
    for name, cell in (("miss_rate", cells["1", "0"]), ("false_positive_rate", cells["0", "1"])):
        assert (cell["share"], cell["low"], cell["high"]) == pytest.approx(
            (ev[name].value, ev[name].low, ev[name].high)
        )
    assert cells["1", "0"]["cases"] == pytest.approx(np.sum((data["y"] == 1) & ~(data["a"] & data["b"] == 1)))


def test_the_own_table_of_a_cascade():
    tables = [{(c, ()): [3 + c, 2] for c in range(2)}, {(c, (a,)): [1 + c + a, 4] for c in range(2) for a in range(2)}]
    rule = dict(zip(itertools.product(range(2), range(2)), [0, 1, 1, 2], strict=True))
    brute = Brute([0.25, 0.75], [2, 2], [(), (0,)], tables, rule, [[0, 4, 9], [3, 0, 1]])
    found = brute.system()
    for c, row in enumerate(found.table.shares):
        joint = brute.joint(c)
        assert row == pytest.approx([float(sum(p for x, p in joint.items() if rule[x] == s)) for s in range(3)])
