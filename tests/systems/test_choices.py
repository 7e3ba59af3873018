"""What would cost less: the cheapest rule, whom to ask, thresholds together; by brute force and published values."""

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stakes import Costs, InputError, System
from stakes.systems import choices
from stakes.systems.choices import cheapest, combinations
from tests.command import run
from tests.parts import Lazily
from tests.systems.brute import Brute, systems

gum = Lazily("pyagrum")

SH = ["sick", "healthy"]
COSTS = Costs(miss=5, false_alarm=1)
CLINIC = {"images": [[80, 20], [20, 80]], "history": [[50, 50], [100, 100]]}


def clinic(rule="images and history", **options):
    return System(classes=SH, models=CLINIC, decide=rule, costs=COSTS, **options)


def rows_of(n, seed, models=3, right=0.75, shared=0.5):
    """Rows of models of which some cases are hard for all."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < 0.4).astype(int)
    hard = rng.random(n) < shared
    said = {
        f"m{i}": np.where(rng.random(n) < np.where(hard, 0.55, right + 0.1), truth, 1 - truth) for i in range(models)
    }
    return {"y": truth, **said}


@pytest.mark.parametrize("together", [1, 4, 4096])
def test_independent_models_are_looked_up_some_at_a_time(together, monkeypatch):
    monkeypatch.setattr(choices, "_MOST_TOGETHER", together)
    system = of_rows(rows_of(300, 4, models=5))
    codes, weights = combinations(system.network)
    blend = choices._Blend(system.network, codes, np.zeros(weights.shape[1], int), system.sampling)
    assert len(blend.bundles) == {1: 5, 4: 3, 4096: 1}[together]
    for own, row in zip(blend._independent(weights), weights, strict=True):
        even = np.prod([[row[code == said].sum() for said in code] for code in codes.values()], axis=0)
        assert own == pytest.approx(even / row.sum() ** 4)


def of_rows(data, decide=None, **options):
    names = [name for name in data if name.startswith("m")]
    rule = decide or f"majority({', '.join(names)})"
    return System(data, truth="y", models=names, decide=rule, costs=COSTS, **options)


# ── the cheapest rule ────────────────────────────────────────────────────────────────────────────────────────────
@given(systems())
@settings(max_examples=30)
def test_the_best_rule_of_tables_is_the_least_over_all_rules(brute: Brute):
    """Every combination is decided by itself, so the least over all rules is the sum of the least of each."""
    least = Fraction(0)
    joints = [brute.joint(c) for c in range(len(brute.prior))]
    for x in brute.combinations:
        prices = range(len(brute.costs[0]))
        least += min(
            sum(p * j[x] * row[s] for p, j, row in zip(brute.prior, joints, brute.costs, strict=True)) for s in prices
        )
    found = brute.system().best_rule()
    assert found.cost == pytest.approx(float(least), abs=1e-9)
    assert found.now == pytest.approx(float(brute.cost()), abs=1e-9)


def test_the_best_rule_is_the_cheapest_of_all_sixteen_and_can_be_used():
    found = clinic().best_rule()
    said = list(itertools.product(SH, SH))
    every = (
        clinic(dict(zip(said, one, strict=True))).cost for one in itertools.product(SH, repeat=4) if len(set(one)) > 1
    )
    assert found.cost == pytest.approx(min(every))
    assert (found.cost, found.now, found.saving) == pytest.approx((140, 320, 180))
    assert clinic(found.rule).cost == pytest.approx(found.cost)
    assert found.to_rows() == [
        {"images": "sick", "history": "healthy", "now": "healthy", "best": "sick", "cases": 60.0, "saves": 180.0}
    ]
    assert found.low < 180 < found.high
    assert "Yes: 466.67 per 1,000 cases instead of 1,066.7" in str(found)
    assert "466,67" in found.to_markdown(lang="ru")


def test_answers_that_know_nothing_give_no_better_rule():
    """Ten such models: the cheapest decision of each combination looks ten times cheaper on the rows that chose it."""
    rng = np.random.default_rng(0)
    data = {"y": rng.integers(0, 2, 600), **{f"m{i}": rng.integers(0, 2, 600) for i in range(10)}}
    system = of_rows(data, "m0 or not m0 or m1")
    codes, weights = combinations(system.network)
    greedy = cheapest(weights, system.network.prices, np.asarray(system.network.fusion(codes)))
    assert np.einsum("cn,cn->", weights, system.network.prices[:, greedy]) < 0.5 * system.cost
    found = system.best_rule()
    assert found.low <= 0
    assert found.held_out >= 0.97 * system.cost
    assert found.from_rows


@pytest.mark.parametrize(("models", "rows"), [(3, 200), (8, 300)])
def test_the_held_out_cost_is_that_of_the_rule_elsewhere(models, rows):
    """What some rows say of a rule chosen on rows like them, against 100,000 fresh rows, on average over files."""
    fresh = of_rows(rows_of(100_000, 99, models))
    promised, paid = [], []
    for seed in range(25):
        found = of_rows(rows_of(rows, seed, models)).best_rule()
        promised.append(found.held_out / rows)
        paid.append(System(fresh.joint, models=list(fresh.models), decide=found.rule, costs=COSTS).cost / 100_000)
    assert np.mean(promised) == pytest.approx(np.mean(paid), abs=3 * np.std(promised) / np.sqrt(25))
    assert np.mean(paid) < 1.02 * fresh.cost / 100_000


def test_a_rule_that_is_the_cheapest_stays():
    data = {name: np.repeat(column, 30) for name, column in {"y": [1, 1, 0, 0], "m0": [1, 1, 0, 0]}.items()}
    found = of_rows({**data, "m1": 1 - data["m0"]}, "m0").best_rule()
    assert (found.to_rows(), found.saving) == ([], 0)
    assert "what is given costs as little as can be" in str(found)


def test_combinations_that_never_occurred_are_decided_as_before():
    data = {"y": [1, 1, 0, 0] * 20, "m0": [1, 1, 0, 0] * 20, "m1": [1, 1, 1, 1] * 20}
    found = of_rows(data, "m0 and m1").best_rule()
    assert found.rule[("1", "0")] == "0"


# ── whom to ask ──────────────────────────────────────────────────────────────────────────────────────────────────
OIL, DRILL = ["dry", "wet", "soaking"], ["drill", "leave"]
SOUNDINGS = [[0.6, 0.3, 0.1], [0.3, 0.4, 0.3], [0.1, 0.4, 0.5]]


def wildcatter(price=10):
    """Raiffa, Decision Analysis (1968): drill for 70, find nothing, 120 or 270; a seismic sounding costs 10."""
    test = {"table": SOUNDINGS, "outputs": ["none", "open", "closed"], "price": price}
    costs = Costs([[70, 0], [70 - 120, 0], [70 - 270, 0]], OIL, DRILL)
    rule = "'leave' if test == 'none' else 'drill'"
    return System(classes=OIL, models={"test": test}, decide=rule, costs=costs, prior=[0.5, 0.3, 0.2])


def test_the_oil_wildcatter():
    found = wildcatter().best_plan()
    assert (-found.cost, -found.without) == pytest.approx((22.5, 20))
    assert [(step["after"].get("test"), step["ask"] or step["decide"]) for step in found.steps] == [
        (None, "test"), ("none", "leave"), ("open", "drill"), ("closed", "drill"),
    ]  # fmt: skip
    assert found.asked == pytest.approx({"test": 1})
    too_dear = wildcatter(price=13).best_plan()
    assert (-too_dear.cost, too_dear.steps[0]["decide"], too_dear.asked) == (pytest.approx(20), "drill", {"test": 0})
    assert "Ask nobody: decide “drill”." in str(too_dear)


def test_the_oil_wildcatter_as_pyagrum_solves_it():
    diagram = gum.InfluenceDiagram()
    oil = diagram.addChanceNode(gum.LabelizedVariable("oil", "", OIL))
    sound = diagram.addDecisionNode(gum.LabelizedVariable("sound", "", ["yes", "no"]))
    heard = diagram.addChanceNode(gum.LabelizedVariable("heard", "", ["none", "open", "closed", "nothing"]))
    drill = diagram.addDecisionNode(gum.LabelizedVariable("drill", "", DRILL))
    paid = diagram.addUtilityNode(gum.LabelizedVariable("paid", "", 1))
    price = diagram.addUtilityNode(gum.LabelizedVariable("price", "", 1))
    for arc in (
        (oil, heard),
        (sound, heard),
        (sound, drill),
        (heard, drill),
        (oil, paid),
        (drill, paid),
        (sound, price),
    ):
        diagram.addArc(*arc)
    diagram.cpt(oil).fillWith([0.5, 0.3, 0.2])
    for i, row in enumerate(SOUNDINGS):
        diagram.cpt(heard)[{"oil": i, "sound": "yes"}] = [*row, 0]
        diagram.cpt(heard)[{"oil": i, "sound": "no"}] = [0, 0, 0, 1]
        for decision, value in (("drill", [-70, 50, 200][i]), ("leave", 0)):
            diagram.utility(paid)[{"oil": i, "drill": decision}] = value
    diagram.utility(price)[{"sound": "yes"}], diagram.utility(price)[{"sound": "no"}] = -10, 0
    inference = gum.ShaferShenoyLIMIDInference(diagram)
    inference.addNoForgettingAssumption(["sound", "drill"])
    inference.makeInference()
    assert -wildcatter().best_plan().cost == pytest.approx(inference.MEU()["mean"])


def cheapest_tree(brute: Brute, prices, depth, known=()):
    """The least that can be paid from here on, by trying every question and every decision."""

    def fits(x):
        return all(x[i] == j for i, j in known)

    cases = [p * sum(q for x, q in brute.joint(c).items() if fits(x)) for c, p in enumerate(brute.prior)]
    least = min(sum(n * row[s] for n, row in zip(cases, brute.costs, strict=True)) for s in range(len(brute.costs[0])))
    asked = {i for i, _ in known}
    for i, size in enumerate(brute.sizes if depth else []):
        if i not in asked and set(brute.sees[i]) <= asked:
            then = (cheapest_tree(brute, prices, depth - 1, (*known, (i, j))) for j in range(size))
            least = min(least, sum(cases) * prices[i] + sum(then))
    return least


@given(systems(most_models=3, most_classes=2), st.integers(0, 2), st.integers(0, 4))
@settings(max_examples=15)
def test_the_best_plan_is_the_cheapest_tree_of_all(brute: Brute, depth, tenths):
    prices = [Fraction(tenths * (1 + i), 10) for i in range(len(brute.sizes))]
    system = brute.system()
    for i, price in enumerate(prices):
        object.__setattr__(system.network.models[f"m{i}"], "price", float(price))
    found = system.best_plan(depth)
    assert found.cost == pytest.approx(float(cheapest_tree(brute, prices, depth)), abs=1e-9)
    assert sum(step["share"] for step in found.steps if step["decide"]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("rule", "asked"),
    [
        ("a and b", [1, 0.5, 0]),  # b only where a says yes
        ("a or b", [1, 0.5, 0]),
        ("a and b or c", [1, 0.5, 0.75]),
        ("c if a == 'sick' else b", [1, 0.5, 0.5]),
        ("majority(a, b, c)", [1, 1, 0.5]),  # c only where the others disagree
        ("not (a and b)", [1, 0.5, 0]),
    ],
)
def test_a_rule_is_read_from_the_left_and_asks_no_more_than_it_needs(rule, asked):
    models = {name: {"table": [[0.5, 0.5]] * 2, "price": 1} for name in "abc"}
    found = System(classes=SH, models=models, decide=rule, costs=COSTS, prior=0.5)
    assert found.consulting == pytest.approx(sum(asked))
    fused = System(classes=SH, models=models, decide="f", fusers={"f": rule}, costs=COSTS, prior=0.5)
    assert fused.consulting == pytest.approx(sum(asked))
    words = f"about mistakes alone: asking the models costs {1000 * sum(asked):,.0f} per 1,000 cases on top"
    assert any(words in word for one in found.findings for word in one.words)


def test_a_plan_from_rows_is_judged_on_other_rows():
    data = rows_of(400, 1)
    models = {name: {"column": name, "price": 0.05} for name in ("m0", "m1", "m2")}
    found = System(data, truth="y", models=models, decide="majority(m0, m1, m2)", costs=COSTS).best_plan()
    assert found.from_rows
    assert found.now > found.cost
    assert found.cost <= found.held_out
    assert found.low <= found.saving <= found.high


# ── thresholds together ──────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("rule", ["a and b", "a or b"])
@pytest.mark.parametrize("seed", range(4))
def test_thresholds_together_against_all_pairs(rule, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 40)
    scores = {name: np.round(rng.random(40) * 0.6 + 0.4 * truth, 1) for name in "ab"}
    data = {"y": truth, **{name: (score >= 0.5).astype(int) for name, score in scores.items()}}
    system = System(data, truth="y", models=["a", "b"], decide=rule, costs=COSTS)
    found = system.best_thresholds(scores)
    join = np.logical_and if rule == "a and b" else np.logical_or
    pairs = itertools.product(*([*np.unique(score), np.inf] for score in scores.values()))
    decided = (join(scores["a"] >= one, scores["b"] >= other) for one, other in pairs)
    least = min(5 * (truth & ~said).sum() + ((1 - truth) & said).sum() for said in decided)
    assert found.cost == least
    alone = system.threshold("a", scores["a"])
    assert found.cost <= alone.cost * 40
    assert found.now == pytest.approx(system.cost)


def test_thresholds_of_scores_that_know_nothing_do_not_pay():
    rng = np.random.default_rng(3)
    data = {"y": rng.integers(0, 2, 300), "a": rng.integers(0, 2, 300), "b": rng.integers(0, 2, 300)}
    system = System(data, truth="y", models=["a", "b"], decide="a or not a", costs=COSTS)
    found = system.best_thresholds({"a": rng.random(300), "b": rng.random(300)})
    assert found.low <= 0
    assert "Perhaps" in str(found) or "No" in str(found)


# ── bad input ────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s: s.best_plan(depth=4), "depth=4"),
        (lambda s: s.best_thresholds({}), "give {'images': column} by model"),
        (lambda s: s.best_thresholds({"nobody": [0.5]}), "nobody"),
        (lambda s: s.best_thresholds({"images": [0.5]}), "needs the rows of every model"),
    ],
)
def test_what_cannot_be_chosen_is_told_in_one_line(call, words):
    with pytest.raises(InputError) as problem:
        call(clinic())
    assert words in str(problem.value)
    assert "\n" not in str(problem.value)


def test_scores_are_no_decisions():
    data = {"y": [0, 1, 1], "a": [0.2, 0.7, 0.9], "b": [0, 1, 1]}
    with pytest.raises(InputError, match=r"^the model 'a' says 0.2, a score and no decision; give decisions"):
        System(data, truth="y", models=["a", "b"], decide="a and b", costs=COSTS)


def test_a_price_is_a_number():
    with pytest.raises(InputError, match="price"):
        System(classes=SH, models={"a": {"accuracy": 0.5, "price": -1}}, decide="a", costs=COSTS, prior=0.5)


def test_the_command_finds_what_costs_less(tmp_path):
    data = rows_of(300, 5)
    lines = [",".join(data), *(",".join(map(str, row)) for row in zip(*data.values(), strict=True))]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    columns = [part for name in ("m0", "m1", "m2") for part in ("--model", name)]
    asked = ["--rule", "m0 and m1 and m2", "--miss", "5", "--false-alarm", "1", "--price", "m1=0.1"]
    done = run(
        "system", tmp_path / "rows.csv", "--truth", "y", *columns, *asked, "--best-rule", "--best-plan", "--json"
    )
    found = json.loads(done.stdout)
    assert found["best_rule"]["from_rows"] is True
    assert found["best_plan"]["steps"][0]["after"] == {}
    assert found["table"]["cells"][0]["truth"] == "1"


def test_what_is_asked_counts_against_one_decision_for_everybody():
    cheap, dear = (wildcatter(price).findings for price in (10, 13))
    told = {found.key: found for found in cheap}
    assert told["system.cheaper_question"].words[0].startswith("Yes: it saves 2,500 per 1,000 cases")
    assert "Asking the models costs 10,000 per 1,000 cases on top." in told["system.cost_question"].words
    assert next(found for found in dear if found.key == "system.cheaper_question").tone == "bad"


def test_a_threshold_says_how_sure_its_interval_is():
    data = rows_of(400, 3)
    data["s"] = data["m0"] + np.random.default_rng(0).normal(size=400)
    found = of_rows(data, confidence=0.8).threshold("m0", data["s"])
    assert found.confidence == 0.8
    assert "(80 % interval" in str(found)


@pytest.mark.parametrize(
    "rule",
    [
        "majority(a, b, c)",
        "majority(2 * a, b, c)",
        "majority(a, b)",
        "at_least(2, a, b, c)",
        "at_most(1, a, b, c)",
        "exactly(1, a, b, c)",
    ],
)
def test_a_count_of_votes_stops_asking_when_the_rest_cannot_change_it(rule):
    """Against trying everything that the models not yet asked could say."""
    tables = {name: [[8, 2], [3, 7]] for name in "abc"}
    costs = Costs(miss=5, false_alarm=1)
    fusion = System(classes=["y", "n"], models=tables, decide=rule, costs=costs).network.fusion
    every = np.indices((2, 2, 2)).reshape(3, -1)
    codes = dict(zip("abc", every, strict=True))
    decided = fusion(codes)
    for k, (name, asked) in enumerate(fusion.asked(codes).items()):
        heard = name in fusion.heard
        for said, now in zip(every.T, asked, strict=True):
            like = (every[:k] == said[:k, None]).all(0)
            assert now == (heard and len(set(decided[like])) > 1), (name, said)
