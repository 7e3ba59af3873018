"""Random systems, rules and cascades against listing everything in fractions, and against pyAgrum."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from stakes import Costs, JointCounts, System
from tests.parts import Lazily, examples, since
from tests.systems.brute import Brute, systems

pytestmark = pytest.mark.slow

gum = Lazily("pyagrum")

SLOW = examples(30, suppress_health_check=list(HealthCheck))


@SLOW
@given(systems())
def test_system_cost_and_component_costs(brute: Brute):
    system = brute.system()
    assert system.cost == pytest.approx(float(brute.cost()), abs=1e-12)
    for i, c in itertools.product(range(len(brute.sizes)), range(len(brute.prior))):
        costs = system.component_costs(f"m{i}")
        for a, seen in enumerate(brute.seen_by(i)):
            for j in range(brute.sizes[i]):
                wanted = brute.expected(i, c, seen, j)
                place = (c, a, j) if brute.sees[i] else (c, j)
                got = costs.expected[place]
                assert np.isnan(got) if wanted is None else got == pytest.approx(float(wanted), abs=1e-12)
                right = brute.expected(i, c, seen, c)
                if wanted is not None:
                    assert costs.excess[place] == pytest.approx(float(wanted - right), abs=1e-12)


@SLOW
@given(systems())
def test_evaluation_plus_dependence_is_the_cost_and_bounds_contain_it(brute: Brute):
    system = brute.system()
    for name in system.models:
        costs, bounds = system.component_costs(name), system.bounds(name)
        assert costs.evaluation == pytest.approx(system.cost, abs=1e-9)  # independent given what is seen
        assert bounds.independent == pytest.approx(system.cost, abs=1e-9)
        assert bounds.best <= system.cost + 1e-9
        assert bounds.worst >= system.cost - 1e-9
    every = system.bounds()
    assert every.best <= system.cost + 1e-9 <= every.worst + 2e-9


@SLOW
@given(systems())
def test_worth(brute: Brute):
    system = brute.system()
    worth, names = system.worth(), range(len(brute.sizes))
    value = {s: float(brute.cost(s)) for r in range(len(names) + 1) for s in itertools.combinations(names, r)}
    assert worth.all_perfect == pytest.approx(value[tuple(names)], abs=1e-12)
    orders = list(itertools.permutations(names))
    for i in names:
        assert worth[f"m{i}"].perfect == pytest.approx(value[(i,)], abs=1e-12)
        gains = [
            value[tuple(sorted(order[: order.index(i)]))] - value[tuple(sorted(order[: order.index(i) + 1]))]
            for order in orders
        ]
        assert worth[f"m{i}"].share == pytest.approx(sum(gains) / len(orders), abs=1e-9)


@SLOW
@given(systems(), st.data())
def test_seeing_and_doing(brute: Brute, data):
    system = brute.system()
    i = data.draw(st.integers(0, len(brute.sizes) - 1))
    j = data.draw(st.integers(0, brute.sizes[i] - 1))
    done = system.do({f"m{i}": brute.label(i, j)})
    joints = [brute.joint(c) for c in range(len(brute.prior))]
    chances = [sum(p for x, p in joint.items() if x[i] == j) for joint in joints]
    for c in range(len(brute.prior)):
        for s in range(len(brute.costs[0])):
            wanted = sum(p for x, p in brute.joint(c, {i: j}).items() if brute.rule[x] == s)
            assert done.decisions[c, s] == pytest.approx(float(wanted), abs=1e-12)
    assert done.classes == pytest.approx([float(p) for p in brute.prior])
    if not any(chances):
        return
    seen = system.given({f"m{i}": brute.label(i, j)})
    evidence = sum(p * q for p, q in zip(brute.prior, chances, strict=True))
    for c, chance in enumerate(chances):
        assert seen.classes[c] == pytest.approx(float(brute.prior[c] * chance / evidence), abs=1e-12)
        for s in range(len(brute.costs[0])):
            if chance:
                wanted = sum(p for x, p in joints[c].items() if x[i] == j and brute.rule[x] == s) / chance
                assert seen.decisions[c, s] == pytest.approx(float(wanted), abs=1e-12)


def as_bayes_net(brute: Brute):
    net = gum.BayesNet()
    net.add(gum.LabelizedVariable("C", "", len(brute.prior)))
    for i, size in enumerate(brute.sizes):
        net.add(gum.LabelizedVariable(f"m{i}", "", size))
        net.addArc("C", f"m{i}")
        for p in brute.sees[i]:
            net.addArc(f"m{p}", f"m{i}")
    net.add(gum.LabelizedVariable("S", "", len(brute.costs[0])))
    for i in range(len(brute.sizes)):
        net.addArc(f"m{i}", "S")
    net.cpt("C").fillWith([float(p) for p in brute.prior])
    for i in range(len(brute.sizes)):
        for c in range(len(brute.prior)):
            for seen in brute.seen_by(i):
                row = brute.tables[i][c, seen]
                where = {"C": c, **{f"m{p}": v for p, v in zip(brute.sees[i], seen, strict=True)}}
                net.cpt(f"m{i}")[where] = [n / sum(row) for n in row]
    for x, s in brute.rule.items():
        row = [float(s == t) for t in range(len(brute.costs[0]))]
        net.cpt("S")[{f"m{i}": j for i, j in enumerate(x)}] = row
    return net


@examples(25, suppress_health_check=list(HealthCheck))
@given(systems(most_models=3, most_classes=3), st.data())
def test_doing_as_pyagrum_does(brute: Brute, data):
    since("pyagrum", "3.0", "has no causal models of its own")
    net = as_bayes_net(brute)
    system = brute.system()
    i = data.draw(st.integers(0, len(brute.sizes) - 1))
    j = data.draw(st.integers(0, brute.sizes[i] - 1))
    done = system.do({f"m{i}": brute.label(i, j)})
    for c in range(len(brute.prior)):
        model = gum.CausalModel(net)
        values = {f"m{i}": j, "C": c}
        _, adjusted, _ = gum.causalImpact(model, on="S", doing=f"m{i}", knowing={"C"}, values=values)
        assert done.decisions[c] == pytest.approx(adjusted.toarray(), abs=1e-9)


def by_rows(brute: Brute, **options) -> System:
    """The same system, known by the rows that it would give in the long run."""
    labels = (tuple(brute.classes), *(tuple(brute.label(i, j) for j in range(m)) for i, m in enumerate(brute.sizes)))
    cells = [(c, x, share * p) for c, share in enumerate(brute.prior) for x, p in brute.joint(c).items() if p]
    codes = np.array([[c, *x] for c, x, _ in cells])
    counts = np.array([float(10_000 * p) for _, _, p in cells])
    names = [f"m{i}" for i in range(len(brute.sizes))]
    decisions = [f"d{s}" for s in range(len(brute.costs[0]))]
    rule = {tuple(brute.label(i, j) for i, j in enumerate(x)): decisions[s] for x, s in brute.rule.items()}
    return System(
        JointCounts(("truth", *names), labels, codes, counts),
        models={name: {"column": name, "sees": [f"m{p}" for p in brute.sees[i]]} for i, name in enumerate(names)},
        decide=rule,
        classes=brute.classes,
        costs=Costs(brute.costs, brute.classes, decisions),
        prior=[float(p) for p in brute.prior],
        **options,
    )


def without_zeros(brute: Brute) -> Brute:
    """Every answer is possible, so that rows show every combination."""
    return replace(brute, tables=[{key: [n + 1 for n in row] for key, row in t.items()} for t in brute.tables])


@SLOW
@given(systems(most_classes=3))
def test_rows_without_shared_difficulty_tell_the_same_as_tables(brute: Brute):
    brute = without_zeros(brute)
    tables, rows = brute.system(), by_rows(brute, shared_difficulty=False)
    assert rows.cost == pytest.approx(tables.cost, abs=1e-9)
    worth = rows.worth(), tables.worth()
    for name in tables.models:
        one, other = tables.component_costs(name), rows.component_costs(name)
        assert other.expected == pytest.approx(one.expected, abs=1e-9)
        assert other.evaluation + other.dependence == pytest.approx(rows.cost, abs=1e-9)
        assert worth[0][name].share == pytest.approx(worth[1][name].share, abs=1e-9)
        assert worth[0][name].removed == pytest.approx(worth[1][name].removed, abs=1e-9)
        bounds = rows.bounds(name), tables.bounds(name)
        assert bounds[0].best == pytest.approx(bounds[1].best, abs=1e-7)
        assert bounds[0].worst == pytest.approx(bounds[1].worst, abs=1e-7)


@SLOW
@given(systems())
def test_the_range_of_open_cascades_holds_what_tables_tell(brute: Brute):
    brute = without_zeros(brute)
    tables, rows = brute.system(), by_rows(brute)
    for name in tables.models:
        one, other = tables.component_costs(name), rows.component_costs(name)
        known = one.at_least
        assert (other.at_least <= known + 1e-9).all()
        assert (known <= other.at_most + 1e-9).all()
        assert other.known == (not tables.network.later(name))


@SLOW
@given(systems(cascades=False))
def test_rows_with_any_dependence(brute: Brute):
    """Rows whose models depend on each other: the identity by its formula, over all combinations."""
    rng = np.random.default_rng(sum(brute.rule.values()))
    system = by_rows(brute)
    joint = system.joint
    joint = replace(joint, counts=rng.gamma(0.5, size=len(joint.counts)) + 1e-3)
    system = System(
        joint,
        models=list(system.models),
        decide=lambda **said: f"d{brute.rule[tuple(_code(brute, i, s) for i, s in enumerate(said.values()))]}",
        classes=brute.classes,
        costs=Costs(brute.costs, brute.classes, [f"d{s}" for s in range(len(brute.costs[0]))]),
    )
    total = float(joint.counts.sum())
    for i in range(len(brute.sizes)):
        dependence = 0.0
        for c in range(len(brute.prior)):
            there = joint.codes[:, 0] == c
            p = {tuple(x[1:]): n for x, n in zip(joint.codes[there].tolist(), joint.counts[there], strict=True)}
            n = sum(p.values())
            says = [sum(q for x, q in p.items() if x[i] == j) / n for j in range(brute.sizes[i])]
            others = {x[:i] + x[i + 1 :] for x in p}
            for u in others:
                p_u = sum(q for x, q in p.items() if x[:i] + x[i + 1 :] == u) / n
                for j in range(brute.sizes[i]):
                    x = (*u[:i], j, *u[i:])
                    dependence += n * (p.get(x, 0) / n - p_u * says[j]) * brute.costs[c][brute.rule[x]]
        assert system.component_costs(f"m{i}").dependence == pytest.approx(dependence, abs=1e-8 * max(total, 1))


def _code(brute: Brute, i: int, label: str) -> int:
    return next(j for j in range(brute.sizes[i]) if brute.label(i, j) == label)
