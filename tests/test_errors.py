"""What is said when something is wrong: codes, the arguments that a text is about, and its advice, as data."""

import ast
import copy
import functools
import pickle
import re
import runpy
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import stakes
from stakes.cli.words import as_option
from stakes.errors import About, Given, InputError, Pass, Text, several

ROOT = Path(__file__).parents[1]
ERRORS = ROOT / "src" / "stakes" / "errors"


@functools.cache
def places():
    """Every place that makes an error or a warning, as the page of codes tells them."""
    return list(runpy.run_path(str(ROOT / "tools" / "pages" / "error_codes.py"))["places"]())


# ── as data ──────────────────────────────────────────────────────────────────────────────────────────────────────
def test_an_error_carries_its_code_argument_and_advice():
    with pytest.raises(InputError) as caught:
        stakes.evaluate(truth=["a", "b"], score=[0.1, 0.9])
    problem = caught.value
    assert (problem.code, problem.argument) == ("which-positive", "truth")
    assert problem.advice == [Pass("positive", "b"), Pass("positive", "a")]
    assert str(problem).endswith("; pass positive='b' or positive='a'")
    assert problem.written(as_option).endswith("; pass --positive b or --positive a")


def test_an_error_says_where_it_was_met_and_stays_the_same():
    found = InputError("empty", About("truth"), " is empty; pass ", Pass("score")).within("model 'a'", " (again)")
    assert (found.code, found.argument, found.advice) == ("empty", "truth", [Pass("score")])
    assert str(found) == "model 'a': truth is empty; pass score= (again)"


@pytest.mark.parametrize("send", [lambda one: pickle.loads(pickle.dumps(one)), copy.copy, copy.deepcopy])
def test_errors_and_texts_can_be_sent(send):
    problem = InputError("x", Given("prior", 2), " is no share; pass ", Pass("prior", each="share"))
    sent = send(problem)
    assert (sent.code, str(sent), sent.advice) == (problem.code, str(problem), problem.advice)
    text = send(problem.text)
    assert (text, text.parts) == (problem.text, problem.text.parts)


@pytest.mark.parametrize(
    ("mention", "in_python", "typed"),
    [
        (Pass("positive"), "positive=", "--positive"),
        (Pass("positive", "yes"), "positive='yes'", "--positive yes"),
        (Pass("positive", "not sure"), "positive='not sure'", "--positive 'not sure'"),
        (Given("training_prior", 0.3), "training_prior=0.3", "--training-prior 0.3"),
        (Pass("classes"), "classes=", "--class"),
        (Pass("scores"), "scores=", "--score"),
        (Pass("paired", False), "paired=False", "--unpaired"),
        (Pass("score", each="column"), "score={class: column, …}", "--score CLASS=COLUMN"),
        (Pass("costs", miss=5, false_alarm=1), "costs=Costs(miss=5, false_alarm=1)", "--miss 5 --false-alarm 1"),
        (About("truth"), "truth", "truth"),
    ],
)
def test_each_face_writes_an_argument_in_its_own_way(mention, in_python, typed):
    text = Text("a ", Text("b ", mention), "; c")
    assert (text, text.written(as_option)) == (f"a b {in_python}; c", f"a b {typed}; c")


def test_names_from_data_are_no_arguments():
    """What looks like an argument in a name stays what it is on every face."""
    problem = InputError("x", "the class 'positive=1' is unknown")
    assert problem.written(as_option) == str(problem)
    assert str(several(["by", "where"])) == "by=, where="


# ── in the source ────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.slow
def test_every_code_has_one_home():
    homes = defaultdict(set)
    for file, _, code, _ in places():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code), code
        homes[code].add(file)
    assert len(homes) > 400
    shared = {"few-clusters", "few-outside", "undefined"}  # warnings, whose words have one home
    assert {code for code, files in homes.items() if len(files) > 1} <= shared


def test_a_sentence_used_once_stands_where_it_is_raised():
    """A function of its own is for what several places say, or for words that depend on what was seen."""
    functions = {
        node.name: node
        for file in ERRORS.glob("*.py")
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }
    said = Counter(word for file in (ROOT / "src").rglob("*.py") for word in re.findall(r"\w+", file.read_text()))
    used = {name: said[name] - 1 for name in functions}
    assert [name for name, times in used.items() if times < 1] == []
    once = [name for name, times in used.items() if times == 1 and _plain(functions[name])]
    assert len(once) <= 4, once  # where the place that raises is crowded as it is


def _plain(function: ast.FunctionDef) -> bool:
    """Whether a function only fills gaps in one sentence."""
    logic = (ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.GeneratorExp, ast.ListComp, ast.Assign)
    return not any(isinstance(node, logic) for node in ast.walk(function))


def test_no_sentence_spells_an_argument_by_hand():
    """Arguments are data (Pass, Given), so that every face can write them; an example of a call stays as it is."""
    for file, _, code, parts in places():
        for words in map(_words, parts):
            bare = re.sub(r"[\w…]\([^()]*\)?|\{[^}]*\}", "", words)
            assert not re.search(r"\b[a-z_]{2,}=(?!=)", bare), (file.name, code, words)


def _words(part: ast.expr) -> str:
    values = part.values if isinstance(part, ast.JoinedStr) else [part]
    return "".join(str(value.value) if isinstance(value, ast.Constant) else "…" for value in values)
