"""Systems at their edges: outputs that never come, orders of their own, rules that are not monotone."""

import functools
import json
import re

import numpy as np
import pytest

from stakes import Costs, InputError, JointCounts, System
from stakes.systems import bounds
from stakes.systems import system as evaluation

pytestmark = pytest.mark.slow

SH = ["s", "h"]
COSTS = Costs(miss=5, false_alarm=1)
EVEN = [[8, 2], [2, 8]]


def of_tables(decide="a and b", **models):
    return System(classes=SH, models=models, decide=decide, costs=COSTS)


def refused(make):
    with pytest.raises(InputError) as problem:
        make()
    assert "\n" not in str(problem.value)
    return str(problem.value)


# ── what is never seen ───────────────────────────────────────────────────────────────────────────────────────────
NEVER = {"y": [1, 0, 1, 0], "a": [1, 0, 1, 0], "b": [1, 1, 1, 1]}


def never_no(**options):
    return System(NEVER, truth="y", models=["a", "b"], decide="a and b", costs=COSTS, **options)


def test_an_output_that_never_comes_is_a_dash_and_null():
    found = never_no()
    cells = {(cell["truth"], cell["says"], cell["decision"]): cell for cell in found.seeing_and_doing("b")}
    assert np.isnan(cells["1", "0", "1"]["seen"])
    assert cells["1", "0", "1"]["done"] == 0
    assert cells["1", "1", "1"]["seen"] == cells["1", "1", "1"]["done"] == 1
    told = json.loads(found.to_json())["seeing_and_doing"]["b"]
    assert [cell["seen"] for cell in told if cell["says"] == "0"] == [None] * 4
    assert re.search(r"^b +1 +0 +1 +– +0$", str(found), re.M)
    assert "b='0' never happens" in refused(lambda: found.given(b=0))


@pytest.mark.parametrize("prior", [0, 1])
def test_a_class_without_any_share_can_be_shown(prior):
    found = never_no(prior=prior)
    seen = [cell["seen"] for cell in json.loads(found.to_json())["seeing_and_doing"]["a"] if cell["truth"] == "1"]
    assert seen == [1, 0, None, None]  # what happens in a class does not ask how frequent the class is
    assert "What does the system cost?\n" in str(found)


def test_a_table_with_an_empty_column_can_be_shown():
    found = of_tables(a=[[10, 0], [10, 0]], b=EVEN)
    told = json.loads(found.to_json())["seeing_and_doing"]["a"]
    assert {cell["seen"] for cell in told if cell["says"] == "h"} == {None}
    assert "Component costs" in str(found)


# ── candidates ───────────────────────────────────────────────────────────────────────────────────────────────────
TABLE_OF_SHARES = {"s": {"s": 8, "h": 2}, "h": {"s": 1, "h": 9}}


@pytest.mark.parametrize("shares", [[0.8, 0.9], (0.8, 0.9), {"h": 0.9, "s": 0.8}, np.array([0.8, 0.9])])
@pytest.mark.parametrize("outputs", [["h", "s"], ["s", "h"]])
def test_shares_of_right_answers_go_by_name(shares, outputs):
    found = of_tables(a={"table": [[2, 8], [9, 1]], "outputs": outputs}, b=EVEN)
    by_shares, by_table = found.bounds("a", shares), found.bounds("a", TABLE_OF_SHARES)
    for one in ("best", "independent", "worst"):
        assert getattr(by_shares, one) == pytest.approx(getattr(by_table, one))
    assert by_shares.independent == pytest.approx(18.2)  # 10·(.8·.2·5 + .2·5) + 10·.1·.2
    assert found.component_costs("a").of(shares) == pytest.approx(found.component_costs("a").of(TABLE_OF_SHARES))


def test_shares_of_right_answers_need_outputs_that_are_the_classes():
    three = of_tables(a={"table": [[2, 8, 1], [9, 1, 1]], "outputs": ["h", "s", "odd"]}, b=EVEN)
    words = "'a' says 'h', 's' and 'odd', and the classes are 's' and 'h', so shares of right answers do not tell"
    assert words in refused(lambda: three.bounds("a", [0.8, 0.9]))
    assert words in refused(lambda: three.component_costs("a").of(0.8))
    seeing = of_tables(a={"table": [EVEN, EVEN], "sees": "b"}, b=EVEN)
    assert "'a' sees another model; give a table" in refused(lambda: seeing.bounds("a", [0.8, 0.9]))
    assert "'a' sees another model; give a table" in refused(lambda: seeing.component_costs("a").of([0.8, 0.9]))


def test_a_table_of_a_cascade_names_what_was_never_seen():
    words = "the table of 'a' has no case where the truth is 'h' and b says 's', c says 'h', so nobody knows"
    table = np.ones((2, 2, 2, 2)) * 3
    table[1, 0, 1] = 0
    models = {"c": EVEN, "a": {"table": table, "sees": ["b", "c"]}, "b": EVEN}
    assert words in refused(lambda: of_tables("a and b and c", **models))
    table[1] = 0
    assert "a has no case of the class 'h'" in refused(lambda: of_tables("a and b and c", **models))


# ── counted combinations ─────────────────────────────────────────────────────────────────────────────────────────
def counted():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 400)
    wrong = [rng.random(400) < rate for rate in (0.1, 0.4)]
    codes = [truth, *(np.where(w, 1 - truth, truth) for w in wrong)]
    return JointCounts.from_rows(("truth", "images", "history"), (tuple(SH),) * 3, codes)


def of_counts(models, decide):
    return System(counted(), models=models, decide=decide, costs=COSTS)


def test_models_of_counted_combinations_are_their_columns():
    plain = of_counts(["images", "history"], "images if images == 's' else history")
    swapped = of_counts({"images": "history", "history": "images"}, "images if images == 's' else history")
    renamed = of_counts({"img": "images", "his": {"column": "history"}}, "his if his == 's' else img")
    first = plain.component_costs("history").rates
    np.testing.assert_allclose(swapped.component_costs("images").rates, first)
    np.testing.assert_allclose(renamed.component_costs("his").rates, first)
    alone = of_counts(["images"], "images").cost
    assert of_counts({"history": "images"}, "history").cost == alone != of_counts(["history"], "history").cost
    assert "there is no column 'imges'; did you mean 'images'?" in refused(lambda: of_counts({"img": "imges"}, "img"))
    assert "there is no column 'truth'" in refused(lambda: of_counts({"img": "truth"}, "img"))


# ── intervals ────────────────────────────────────────────────────────────────────────────────────────────────────
def few_rows(seed):
    rng = np.random.default_rng(seed)
    truth = np.array([0, 1] * 6)
    said = {name: np.where(rng.random(12) < 0.15, 1 - truth, truth) for name in "ab"}
    return System({"y": truth, **said}, truth="y", models=["a", "b"], decide="a and b", costs=COSTS)


@pytest.mark.parametrize("seed", range(4))
def test_intervals_contain_what_they_are_about(seed):
    found = few_rows(seed)
    low, high = found.cost_limits
    assert low <= found.cost <= high
    for name in found.models:
        costs, bounds = found.component_costs(name), found.bounds(name)
        for values, limits in ((costs.expected, costs.expected_limits), (costs.excess, costs.excess_limits)):
            assert (limits[0] <= values).all()
            assert (values <= limits[1]).all()
        for cell in costs.to_rows():
            assert cell["expected_low"] <= cell["expected"] <= cell["expected_high"]
            assert cell["excess_low"] <= cell["excess"] <= cell["excess_high"]
        assert costs.evaluation_limits[0] <= costs.evaluation <= costs.evaluation_limits[1]
        assert costs.dependence_limits[0] <= costs.dependence <= costs.dependence_limits[1]
        assert bounds.low <= bounds.best <= bounds.worst <= bounds.high


def test_intervals_of_perfect_tables_begin_at_nothing():
    found = of_tables("a and b and c", a=[[9, 0], [0, 9]], b=[[9, 0], [0, 9]], c=[[9, 0], [0, 9]])
    assert found.cost_limits[0] == found.cost == 0
    assert found.bounds().low == found.bounds().best == 0
    assert found.component_costs("a").expected_limits[0][0, 0] == 0


# ── advice ───────────────────────────────────────────────────────────────────────────────────────────────────────
def test_advice_says_where_being_right_is_not_the_cheapest_answer():
    found = of_tables("not exactly(1, a, b)", a=[[60, 40], [40, 60]], b=[[95, 5], [5, 95]])
    assert found.component_costs("a").excess[1, 0] == pytest.approx(-0.9)
    one = found.worth()["a"]
    assert (one.now, one.perfect, one.cheapest) == pytest.approx((264, 120, 30))
    assert "No better model" not in found.advice
    assert "under this rule being right is not its cheapest answer everywhere" in found.advice
    assert "its cheapest answers would save 1,170." in found.advice
    monotone = of_tables(a=[[60, 40], [40, 60]], b=[[95, 5], [5, 95]])
    assert monotone.worth()["a"].cheapest == pytest.approx(monotone.worth()["a"].perfect)
    assert "No better model in its place can save more" in monotone.advice


def test_shares_that_sum_to_nearly_one_are_one_case():
    names = ["x", "y", "z"]
    found = System(
        classes=names,
        models={"m": np.eye(3) * 5 + 1},
        decide="m",
        costs=Costs(1 - np.eye(3), names),
        prior=[0.7, 0.2, 0.1],
    )
    assert np.cumsum([*found.cases.values()])[-1] != 1  # Python's own sum is rounded once, from 3.12 on
    assert found.per_case
    assert not of_tables(a=EVEN, b=EVEN).per_case
    assert "would cost 0 per 1,000 cases, 250 less" in found.advice
    assert "1 cases" not in str(found)
    assert "that is" not in str(found)


# ── rules ────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_negative_numbers_are_labels():
    tables = {"a": [[8, 2], [3, 7]], "b": [[6, 4], [1, 9]]}

    def cost(rule, classes):
        return System(classes=classes, models=tables, decide=rule, costs=COSTS).cost

    for rule in ("a if b == -1 else b", "a if b in (-1, 7) else b", "-1 if b == 1 else a", "a if -1 == b else b"):
        if "7" in rule:
            with pytest.raises(InputError, match="with '7', which it never is"):
                cost(rule, [1, -1])
            rule = rule.replace(", 7", ",")
        plain = re.sub(r"-1\b", "'no'", rule).replace("== 1", "== 'yes'")
        assert cost(rule, [1, -1]) == cost(plain, ["yes", "no"])
    assert "is no weighted vote" in refused(lambda: of_tables("majority(-2 * a, b)", a=EVEN, b=EVEN))
    assert "is nothing that a rule can say" in refused(lambda: of_tables("-a", a=EVEN, b=EVEN))


def test_a_table_of_a_rule_names_models_once():
    def decide(of):
        return lambda: of_tables({"of": of, "table": [["s", "s"], ["h", "h"]]}, a=EVEN, b=EVEN)

    assert "of=[['a']] does not work; list the models" in refused(decide([["a"]]))
    assert "of=['a', 'a'] does not work; list the models" in refused(decide(["a", "a"]))
    assert decide(["a"])().cost == of_tables("a", a=EVEN, b=EVEN).cost


def test_a_model_is_asked_for_by_its_name():
    found = of_tables(a=EVEN, b=EVEN)
    for ask in (found.component_costs, found.bounds, found.break_even, found.worth().__getitem__):
        assert "there is no model ['b']" in refused(lambda ask=ask: ask(["b"]))


class Both:
    def __call__(self, a, b):
        return a == b == "s"


def with_limit(a, b, limit):
    return (a == "s") + (b == "s") >= limit


def test_functions_without_a_name_are_rules():
    both, either = (of_tables(f"a {word} b", a=EVEN, b=[[7, 3], [1, 9]]) for word in ("and", "or"))
    for rule, alike in (
        (Both(), both),
        (functools.partial(with_limit, limit=2), both),
        (functools.partial(with_limit, limit=1), either),
        (functools.partial(lambda limit, **said: sum(s == "s" for s in said.values()) >= limit, limit=1), either),
    ):
        found = of_tables(rule, a=EVEN, b=[[7, 3], [1, 9]])
        assert found.cost == pytest.approx(alike.cost)
        assert "the function" in found.facts["rule"]
    assert (
        "the function with_limit of a and b"
        in of_tables(functools.partial(with_limit, limit=2), a=EVEN, b=EVEN).facts["rule"]
    )
    alone = of_tables(functools.partial(with_limit, b="s", limit=2), a=EVEN, b=EVEN)
    assert alone.cost == of_tables("a", a=EVEN, b=EVEN).cost


def test_a_function_that_fails_is_told_with_the_combination():
    def decide(a, b):
        return {"s": "s"}[a]

    with pytest.raises(InputError) as problem:
        of_tables(decide, a=EVEN, b=EVEN)
    assert "the function decide fails when a says 'h', b says 's' (KeyError: 'h'); mend it" in str(problem.value)
    assert isinstance(problem.value.__cause__, KeyError)


# ── words about models ───────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("model", "words"),
    [
        ({"column": "b", "outputs": ["0", "1"]}, "model 'b' has outputs beside column"),
        ({"accuracy": 0.8, "outputs": ["1", "0"]}, "model 'b' has outputs beside accuracy"),
        ({"accuracy": 0.8, "table": EVEN}, "model 'b' has table beside accuracy"),
    ],
)
def test_words_that_would_be_ignored_are_refused(model, words):
    models = {"a": "a", "b": model}
    assert words in refused(lambda: System(NEVER, truth="y", models=models, decide="a and b", costs=COSTS))


# ── ranges ───────────────────────────────────────────────────────────────────────────────────────────────────────
def cascade(more=(), **options):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 600)
    said = {name: np.where(rng.random(600) < 0.2, 1 - y, y) for name in "xjde"}
    seeing = {name: {"column": name, "sees": "j"} for name in ("d", *more)}
    models = {"x": "x", "j": "j", **seeing}
    rule = f"majority({', '.join(models)}, x)"
    return System({"y": y, **said}, truth="y", models=models, decide=rule, costs=COSTS, **options)


def test_seeing_beside_doing_of_the_models_of_which_it_is_known():
    found = cascade()
    assert not found.component_costs("j").known
    told = found.to_dict()["seeing_and_doing"]
    assert told["j"] is None
    shown = str(found)
    assert "How often the system decides so" in shown
    table = shown[shown.index("How often the system decides so") :].split("\n\n")[0]
    for name in ("x", "d"):
        cells = found.seeing_and_doing(name)
        assert [cell["done"] for cell in told[name]] == [cell["done"] for cell in cells]
        assert len(re.findall(rf"^ *{name} +[01] +[01] +1 ", table, re.M)) == 4
    assert not re.search(r"^ *j +[01] +[01] +1 ", table, re.M)


def test_who_has_no_intervals_is_named():
    shown = " ".join(str(cascade()).split())
    assert "there are no intervals of the costs of “j”: only the range of these costs is known" in shown
    assert "there are no intervals:" not in shown
    rates = System(classes=SH, models={"a": 0.8, "b": 0.7}, decide="a and b", costs=COSTS, prior=0.5)
    assert "there are no intervals: everything is given as rates" in " ".join(str(rates).split())


@pytest.mark.parametrize(("more", "words"), [((), "d sees j"), (("e",), "d and e see j")])
def test_one_sees_and_several_see(more, words):
    assert f"{words} and may find" in cascade(more).component_costs("j").notes[0]
    assert f"{words}: taken as" in cascade(more, shared_difficulty=False).component_costs("j").notes[0]
    quoted = re.sub(r"\b([dej])\b", r"'\1'", words)
    assert f"{quoted} and may find" in refused(lambda: cascade(more).do(j=1))


def test_worth_of_a_model_with_a_range_is_a_range():
    found = cascade()
    one, costs = found.worth()["j"], found.component_costs("j")
    counts = costs.cases[:, None] * costs.seen_shares
    places = [list(costs.right), [costs.outputs.index(one.answer)] * 2]
    for told, codes in zip((one.perfect_range, one.removed_range), places, strict=True):
        wanted = [
            sum(counts[c, 0] * ends[c, 0, j] for c, j in enumerate(codes)) for ends in (costs.at_least, costs.at_most)
        ]
        assert told == pytest.approx(tuple(wanted))
        assert told[0] < told[1]
    low, high = one.perfect_range
    assert low <= cascade(shared_difficulty=False).worth()["j"].perfect <= high
    assert f"{low:.4g} – {high:.4g}" in str(found.worth())
    assert f"{low / 0.6:.4g} – {high / 0.6:.4g}" in str(found)  # of 600 cases, told for 1,000
    assert found.to_dict()["worth"]["models"]["j"]["perfect_range"] == [low, high]
    json.loads(found.to_json())
    assert found.worth()["x"].perfect_range is None


# ── large programs ───────────────────────────────────────────────────────────────────────────────────────────────
def test_the_page_leaves_large_programs_to_who_asks(monkeypatch):
    found = of_tables("majority(a, b, c)", a=EVEN, b=EVEN, c=EVEN)
    assert re.search("^ *all models +0 ", str(found), re.M)
    assert found.to_dict()["bounds_of_all"]["worst"] == found.bounds().worst
    assert evaluation._MOST_COMBINATIONS == 2**10  # ten models that say yes or no
    monkeypatch.setattr(evaluation, "_MOST_COMBINATIONS", 7)
    found = of_tables("majority(a, b, c)", a=EVEN, b=EVEN, c=EVEN)
    monkeypatch.setattr(evaluation, "bounds_of_all", None)  # would be noticed
    assert not re.search("^ *all models +0 ", str(found), re.M)
    assert "between all models take long here: call bounds()" in " ".join(str(found).split())
    assert found.to_dict()["bounds_of_all"] is None


def test_intervals_of_hard_bounds_are_nearly_exact(monkeypatch):
    rng = np.random.default_rng(0)
    y, names = rng.integers(0, 4, 300), [str(i) for i in range(4)]
    said = {f"m{i}": np.where(rng.random(300) < 0.6 + 0.1 * i, y, rng.integers(0, 4, 300)) for i in range(3)}
    prices = np.abs(np.subtract.outer(range(4), range(4))) + np.triu(np.ones((4, 4)), 1)
    costs = Costs(prices.tolist(), names)
    found = System(
        {"y": y, **said}, truth="y", models=list(said), decide="majority(m0, m1, m2)", costs=costs, classes=names
    )
    inexact, quickly = [], bounds.least_of_draws

    def compared(prices, constraints, draws, duals):
        values = quickly(prices, constraints, draws, duals)
        some = np.linspace(3, len(draws) - 5, 25).astype(int)
        each = np.broadcast_to(prices, (len(some), len(prices)))
        exact, _, _ = bounds.least_of_each(each, constraints, draws[some])
        assert (values[some] <= exact + 1e-6).all()
        inexact.append(np.mean(values[some] < exact - 1e-6))
        return values

    monkeypatch.setattr(bounds, "least_of_draws", compared)
    for name in found.models:
        found.bounds(name)
    assert len(inexact) == 3 * 2 * 4
    assert max(inexact) <= 0.1


# ── ties ─────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("rule", "ties"),
    [
        ("majority(a, b, c)", False),
        ("majority(a, b)", True),
        ("majority(2 * a, b, c)", True),
        ("majority(3 * a, b, c)", False),
        ("majority(0.1 * a, 0.2 * b, 0.3 * c)", True),
        ("majority(4 * a, 3 * b, 3 * c)", False),
        ("majority(a)", False),
        ("majority(a, b, majority(b, c))", True),
        ("a and b and c", False),
    ],
)
def test_tied_votes_are_spoken_of_where_votes_can_tie(rule, ties):
    assert ("tied votes" in of_tables(rule, a=EVEN, b=EVEN, c=EVEN).facts) == ties


def test_classes_named_like_words_about_models_are_classes():
    named = {"right": [8, 2], "left": [3, 7]}
    found = System(classes=["right", "left"], models={"m": named}, decide="m", costs=COSTS)
    assert found.cost == 2 * 5 + 3


def test_three_labels_can_tie_among_three_models():
    names = ["x", "y", "z"]
    models = {name: np.eye(3) * 5 + 1 for name in "abc"}
    found = System(classes=names, models=models, decide="majority(a, b, c)", costs=Costs(1 - np.eye(3), names))
    assert "tied votes" in found.facts


@pytest.mark.parametrize(("answer", "told"), [("wel", "did you mean 'well'"), ("unsure", "“a” also says “unsure”")])
def test_an_answer_that_is_no_class_is_a_slip_or_told(answer, told):
    rows = {
        "y": ["ill", "ill", "well", "well"],
        "a": ["ill", answer, "well", "well"],
        "b": ["ill", "ill", "ill", "well"],
    }
    asked = {"truth": "y", "models": ["a", "b"], "costs": COSTS, "positive": "ill"}

    def words(rule):
        try:
            return " ".join(str(System(rows, decide=rule, **asked)).split())
        except InputError as refused:
            return str(refused)

    assert told in words("a and b")
    assert told not in words(f"b if a == {answer!r} else a")  # who is named in the rule is meant


def test_one_class_alone_is_told_once_and_not_held_against_deciding_for_it():
    tables = {name: [[50, 50], [0, 0]] for name in ("images", "history")}
    costs = Costs(miss=1, false_alarm=0)
    alone = System(classes=["sick", "well"], models=tables, decide="images and history", costs=costs, prior=1)
    assert (100 * alone.cost, 100 * alone.bounds("history").worst) == (75, 100)
    words = str(alone)
    assert words.count("Nothing is known about “well”") == 1
    assert "for everybody?" not in words
    assert "holds only 0 cases" not in words
