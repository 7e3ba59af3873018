"""Rules: what their text means, how they are explained, and that text is never run."""

import contextlib
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stakes import Costs, InputError, System
from tests.parts import examples

SICK = ["sick", "healthy"]
NAMES = ("a", "b", "c")
TABLE = [[8, 2], [3, 7]]


def system(rule, models=NAMES, **options):
    given_models = models if isinstance(models, dict) else dict.fromkeys(models, TABLE)
    options = {"classes": SICK, "costs": Costs(miss=5, false_alarm=1), **options}
    return System(models=given_models, decide=rule, **options)


def decided(found, **said):
    """What the system decides when all models are made to say something."""
    outcome = found.do(said)
    return outcome.decision_names[int(np.argmax(outcome.decisions[0]))]


MEANINGS = {
    "a and b": lambda a, b, c: a and b,
    "a or b and c": lambda a, b, c: a or (b and c),
    "(a or b) and not c": lambda a, b, c: (a or b) and not c,
    "not (a and b)": lambda a, b, c: not (a and b),
    "majority(a, b, c)": lambda a, b, c: a + b + c >= 2,
    "majority(a, b)": lambda a, b, c: a + b >= 1,  # a tie says the class listed first
    "majority(3 * a, b, c)": lambda a, b, c: a,
    "majority(a, b * 1.5)": lambda a, b, c: b,
    "majority(0.1 * a, 0.2 * b, 0.3 * c)": lambda a, b, c: c or (a and b),  # 0.1 + 0.2 and 0.3 tie exactly
    "at_least(2, a, b, c)": lambda a, b, c: a + b + c >= 2,
    "at_least(2.5, 2 * a, b, c)": lambda a, b, c: 2 * a + b + c >= 2.5,
    "at_least(0.3, 0.1 * a, 0.2 * b)": lambda a, b, c: a and b,
    "at_most(1, a, b, c)": lambda a, b, c: a + b + c <= 1,
    "exactly(1, a, b, c)": lambda a, b, c: a + b + c == 1,
    "a if b == 'sick' else c": lambda a, b, c: a if b else c,
    "a if b != 'sick' else c": lambda a, b, c: c if b else a,
    "'healthy' if a else 'sick'": lambda a, b, c: not a,
    "a in ('sick',) or b not in ['sick', 'healthy']": lambda a, b, c: a,
    "majority(a, b, not c)": lambda a, b, c: a + b + (not c) >= 2,
    "at_least(2, a, majority(a, b, c), b and c)": lambda a, b, c: a + (a + b + c >= 2) + (b and c) >= 2,
    "(a if c else b) and c": lambda a, b, c: a and c,
}


@pytest.mark.parametrize("text", MEANINGS)
def test_what_a_rule_means(text):
    found = system(text)
    for said in itertools.product((True, False), repeat=3):
        labels = dict(zip(NAMES, (SICK[0] if yes else SICK[1] for yes in said), strict=True))
        assert decided(found, **labels) == (SICK[0] if MEANINGS[text](*said) else SICK[1]), labels


EXPLAINED = {
    "a and b": "says 'sick' when a says 'sick' and b says 'sick', otherwise 'healthy'",
    "(a or b) and not c": (
        "says 'sick' when (a says 'sick' or b says 'sick') and it is not so that c says 'sick', otherwise 'healthy'"
    ),
    "majority(a, b, 2 * c)": "says what most of a, b and c (counting 2 times) say",
    "at_least(2, a, b, c)": "says 'sick' when at least 2 of a, b and c say 'sick', otherwise 'healthy'",
    "exactly(1, a, b and c)": (
        "says 'sick' when exactly 1 of (a says 'sick') and (b says 'sick' and c says 'sick') hold, otherwise 'healthy'"
    ),
    "a if b == 'sick' else c": "says what a says if b says 'sick', otherwise what c says",
    "a != 'sick'": "says 'sick' when a does not say 'sick', otherwise 'healthy'",
    "majority(a, b, c) == 'sick'": "says 'sick' when what most of a, b and c say is 'sick', otherwise 'healthy'",
}


@pytest.mark.parametrize("text", EXPLAINED)
def test_a_rule_is_explained_in_words(text):
    assert system(text).rules["decision"] == EXPLAINED[text]


def test_fusers_feed_fusers():
    found = system("second or c", fusers={"second": "first and b", "first": "not a"})
    for said in itertools.product((True, False), repeat=3):
        labels = dict(zip(NAMES, (SICK[0] if yes else SICK[1] for yes in said), strict=True))
        a, b, c = said
        assert decided(found, **labels) == (SICK[0] if (not a and b) or c else SICK[1])
    assert list(found.rules) == ["first", "second", "decision"]
    assert "((first)) ─►" in found.picture


def test_a_full_table_and_a_function_say_the_same_as_text():
    text = system("exactly(1, a, b, c)")
    table = {said: SICK[0] if said.count("sick") == 1 else SICK[1] for said in itertools.product(SICK, repeat=3)}
    named = {"of": ["c", "a", "b"], "table": [[*said, answer] for said, answer in table.items()]}

    def function(c, b, a):
        return [a, b, c].count("sick") == 1

    for rule in (table, named, function, lambda **said: list(said.values()).count("sick") == 1):
        assert system(rule).cost == pytest.approx(text.cost)
        assert system(rule).component_costs("b").expected == pytest.approx(text.component_costs("b").expected)
    assert system(function).rules["decision"] == "says what the function function of c, b and a gives"
    assert system(named).rules["decision"] == "says what the table of c, a and b gives"


def test_more_decisions_than_classes():
    costs = Costs([[0, 10, 1000], [500, 20, 0]], SICK, ["operate", "tests", "home"])
    found = system("'operate' if a and b else 'tests' if a or b else 'home'", costs=costs)
    assert decided(found, a="sick", b="sick", c="sick") == "operate"
    assert decided(found, a="sick", b="healthy", c="sick") == "tests"
    assert decided(found, a="healthy", b="healthy", c="sick") == "home"
    for c, p in ((0, 0.8), (1, 0.3)):
        prices = costs.matrix[c]
        wanted = float(p * p * prices[0] + 2 * p * (1 - p) * prices[1] + (1 - p) ** 2 * prices[2])
        assert found.network.cost_of_class(c) == pytest.approx(wanted)


def test_outputs_that_are_no_classes():
    models = {
        "scan": {
            "table": [[7, 2, 1], [1, 1, 8]],
            "outputs": ["bright", "grey", "dark"],
            "right": {"sick": "bright", "healthy": "dark"},
        },
        "b": TABLE,
    }
    found = system("scan and b", models)
    assert "scan says 'bright'" in found.rules["decision"]
    assert decided(found, scan="bright", b="sick") == "sick"
    assert decided(found, scan="grey", b="sick") == "healthy"
    assert "of scan: sick → bright, healthy → dark" in found.facts["right answers"]
    assert found.component_costs("scan").excess[:, [0, 2]].diagonal() == pytest.approx([0, 0])
    del models["scan"]["right"]
    unsaid = system("scan == 'bright' and b", models)
    assert np.isnan(unsaid.component_costs("scan").excess).all()
    assert "which of them is right was not said" in unsaid.component_costs("scan").notes[0]
    assert np.isnan(unsaid.worth()["scan"].perfect)
    assert "of scan: sick → –, healthy → –" in unsaid.facts["right answers"]


def test_names_that_are_no_words_stand_in_backticks():
    found = system("`chest x-ray` and not `if`", {"chest x-ray": TABLE, "if": TABLE})
    assert decided(found, **{"chest x-ray": "sick", "if": "healthy"}) == "sick"
    assert "chest x-ray says 'sick'" in found.rules["decision"]


def test_ties_are_stated():
    assert system("majority(a, b)").facts["tied votes"] == "the first one listed wins, in the order sick, healthy"
    assert "tied votes" not in system("a and b").facts
    turned = system("majority(a, b)", classes=SICK[::-1], positive="sick")
    assert decided(turned, a="sick", b="healthy", c="sick") == "healthy"


UNREADABLE = [
    "__import__('os').system('true')",
    "a.b",
    "a[0]",
    "lambda: a",
    "[a for a in (1, 2)]",
    "a + b",
    "a < b",
    "f'{a}'",
    "majority(*a)",
    "majority(a, key=b)",
    "print(a)",
    "a == b == c",
    "a == b < c",
    "a and True",
    "a == 'sick' or 'healthy'",
    "not 'sick'",
    "at_least(4, a, b, c)",
    "at_least(0, a, b, c)",
    "at_most(3, a, b, c)",
    "exactly(4, a, b, c)",
    "majority",
    "a in 'sick'",
    "a in ()",
    "(x := a)",
    "None",
    "a is 'sick'",
    "{'a': b}",
    "at_least(2)",
    "at_least(a, b, c)",
    "majority()",
    "majority(0 * a, b)",
    "majority(a * b, c)",
    "a and",
    "",
    "a; b",
    "a\x00b",
    "(" * 500 + "a" + ")" * 500,
    "not " * 4000 + "a",
    "not " * 600 + "a",
    "a or " * 5000 + "b",
]


@pytest.mark.parametrize("text", UNREADABLE, ids=range(len(UNREADABLE)))
def test_what_is_no_rule_is_refused_in_one_line(text):
    with pytest.raises(InputError) as problem:
        system(text)
    assert "\n" not in str(problem.value)
    assert len(str(problem.value)) < 400


@examples(200)
@given(st.text(alphabet="ab()[]{}.,:=!<>'\"\\`~@ \n\t01_andorti", max_size=30))
def test_any_text_is_a_rule_or_an_input_error(text):
    with contextlib.suppress(InputError):
        made = system(text)
        assert made.rules["decision"].startswith("says ")
        assert 0 <= made.cost < np.inf


def test_a_rule_that_turns_a_model_around_has_no_threshold():
    found = system("not a", {"a": TABLE})
    assert np.isnan(found.threshold("a").value)
    assert "no threshold of this kind is best" in found.threshold("a").method
    assert system("a or b", {"a": TABLE, "b": [[8, 0], [0, 8]]}).threshold("a").value == np.inf  # b knows already


def test_models_that_agree():
    found = system('a if a == b else "healthy"')
    assert "agree" in found.rules["decision"]
    same = system('a if (a == "sick" and b == "sick") or (a == "healthy" and b == "healthy") else "healthy"')
    assert found.cost == pytest.approx(same.cost)
    differ = system('"sick" if a != b else "healthy"')
    assert differ.cost == pytest.approx(system("exactly(1, a, b)").cost)


def test_slips_are_told_in_words():
    for text, words in (
        ("a and True", "the rule uses 'true' as if it could be true; compare a model with it"),
        ("at_least(4, a, b, c)", "at_least(4, …) gives the same answer for every case: there are 3 votes"),
        ("majority", "does not say of whom; write majority(a, b, c"),
    ):
        with pytest.raises(InputError) as problem:
            system(text)
        assert words in str(problem.value)


def test_a_fuser_that_nobody_listens_to_changes_nothing():
    without = system("a and b")
    assert system("a and b", fusers={"f": "at_least(2, a, b, c)"}).cost == without.cost
