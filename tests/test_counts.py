"""Rows that stand for several, and published tables."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import stakes
from tests.command import run

ROWS = pd.DataFrame(
    {
        "y": ["yes", "no", "yes", "no", "no", "yes"],
        "p": [0.9, 0.2, 0.4, 0.6, 0.1, 0.7],
        "q": [0.8, 0.3, 0.6, 0.1, 0.5, 0.2],
        "n": [30, 41, 12, 9, 5, 7],
        "site": ["A", "B", "B", "A", "B", "A"],
    }
)
EACH = ROWS.loc[ROWS.index.repeat(ROWS.n)].reset_index(drop=True)
FIT = {"truth": "y", "score": "p", "positive": "yes"}
TABLE = [[80, 20], [10, 90]]


def answers(rows, **more):
    ev = stakes.evaluate(rows, **FIT, by="site", **more)
    costs = stakes.Costs(miss=5, false_alarm=1)
    yield ev.to_dict()
    yield ev.by_segment("auc").to_dict()
    yield stakes.compare(rows, truth="y", scores=["p", "q"], positive="yes", **more).to_dict()
    yield stakes.permutation_test(rows, **FIT, permutations=50, **more).to_dict()
    yield stakes.decide(rows, **FIT, costs=costs, **more).to_dict()
    yield stakes.calibrate(rows, **FIT, method="sigmoid", **more).to_dict()
    yield stakes.gate(rows, **FIT, require="auc.low >= 0.5", **more).to_dict()


@pytest.mark.slow
def test_a_frequency_is_as_if_the_rows_were_there(tmp_path):
    for found, expected in zip(answers(ROWS, frequency="n"), answers(EACH), strict=True):
        for one in (found, expected):
            one.pop("question", None)  # one of them names a column more
        assert found == expected
    numbers = {"truth": "p", "prediction": "q", "task": "regression"}
    found, expected = stakes.evaluate(ROWS, **numbers, frequency="n"), stakes.evaluate(EACH, **numbers)
    assert [one.value for one in found.figures.values()] == [one.value for one in expected.figures.values()]
    ROWS.to_csv(tmp_path / "a.csv", index=False)
    done = run(
        "evaluate",
        tmp_path / "a.csv",
        "--truth",
        "y",
        "--score",
        "p",
        "--positive",
        "yes",
        "--frequency",
        "n",
        "--json",
    )
    assert json.loads(done.stdout)["figures"] == stakes.evaluate(EACH, **FIT).to_dict()["figures"]


def test_a_frequency_beside_a_weight_and_gaps():
    rows = ROWS.assign(w=[1.5, 2, 1, 0, 1, 3], p=ROWS.p.where(ROWS.p != 0.4))
    each = rows.loc[rows.index.repeat(rows.n)].reset_index(drop=True)
    found = stakes.evaluate(rows, **FIT, weight="w", frequency="n", missing="drop")
    expected = stakes.evaluate(each, **FIT, weight="w", missing="drop")
    assert found["auc"] == expected["auc"]
    assert found["recall"] == expected["recall"]


@pytest.mark.parametrize(("wrong", "seen"), [(0, "0"), (-1, "-1"), (1.5, "1.5"), (1e12, "1e+12")])
def test_frequencies_that_are_none(wrong, seen):
    with pytest.raises(stakes.InputError) as caught:
        stakes.evaluate(ROWS.assign(n=[1, 2, wrong, 1, 1, 1]), **FIT, frequency="n")
    assert str(caught.value).startswith(f"frequency is {seen} in 1 row (the first is row 3, counting from 1)")
    assert caught.value.argument == "frequency"


def test_frequencies_beyond_reason():
    with pytest.raises(stakes.InputError, match=r"frequency adds up to 5\.4e\+08 rows, more than 100,000,000"):
        stakes.evaluate(ROWS.assign(n=90_000_000), **FIT, frequency="n")


# ── published tables ─────────────────────────────────────────────────────────────────────────────────────────────
def test_a_table_by_itself():
    table = stakes.Confusion(TABLE)
    assert (table.tn, table.fp, table.fn, table.tp, table.positive) == (80, 20, 10, 90, "1")
    named = stakes.Confusion(np.array(TABLE), classes=["well", "ill"], positive="ill")
    assert (named.tp, named.truths) == (90, ("well", "ill"))
    assert stakes.evaluate(table)["recall"] == stakes.evaluate(named)["recall"]
    open_ = stakes.evaluate(stakes.Confusion(TABLE, classes=["well", "ill"]))
    assert open_["accuracy"].value == 0.85
    with pytest.raises(stakes.InputError, match="pass positive='ill' or positive='well'"):
        open_["recall"]
    three = stakes.Confusion([[5, 1, 0], [1, 5, 1], [0, 2, 6]])
    assert (three.truths, three.positive) == (("0", "1", "2"), None)


def test_a_frame_names_its_classes():
    crossed = pd.crosstab(pd.Series(list("aabbb")), pd.Series(list("bbccb")))
    table = stakes.Confusion(crossed)
    assert (table.truths, table.decisions) == (("a", "b"), ("b", "c"))
    turned = pd.DataFrame([[2, 8], [40, 3]], index=["sick", "well"], columns=["well", "sick"])
    assert stakes.Confusion(turned, positive="sick").tp == 8
    assert stakes.evaluate(stakes.Confusion(turned))["accuracy"].value == pytest.approx(48 / 53)


@pytest.mark.parametrize("wrong", ["abc", 5, {"a": 1}, [[1, 2], [3]], [[1, 2, 3], [4, 5, 6]], [[1, -2], [3, 4]]])
def test_tables_that_are_none(wrong):
    with pytest.raises(stakes.InputError, match="these counts do not make a table: "):
        stakes.Confusion(wrong)


def test_a_published_table_is_tested_by_fisher():
    found = stakes.permutation_test(stakes.Confusion(TABLE))
    assert found.p_value == pytest.approx(stats.fisher_exact(TABLE, "greater").pvalue, rel=1e-9)


def test_a_table_on_the_command_line():
    done = run(
        "evaluate", "--table", "80 20; 10 90", "--class", "well", "--class", "ill", "--positive", "ill", "--json"
    )
    found = json.loads(done.stdout)
    assert (found["positive"], found["figures"]["recall"]["value"]) == ("ill", 0.9)
    assert run("evaluate", "--table", "80,20; 10,90", "--quiet").stdout.startswith(
        "accuracy 0.85, 95% interval 0.793944"
    )
    for table, words in {
        "80 x; 10 90": "--table '80 x; 10 90' does not work; write numbers like 80 20; 10 90",
        "80 20; 10": "--table '80 20; 10' has rows of 2 and of 1 numbers; give as many in each",
        "tp=8 fn=2": "rows are the truth, columns the decision",
        "": "--table '' does not work",
    }.items():
        done = run("evaluate", "--table", table)
        assert (done.returncode, words in done.stderr) == (2, True), done.stderr
    assert "give FILE, or --table TEXT." in run("evaluate").stderr


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("1,234 20; 10 90", 1354),
        ("1,234, 20; 10, 90", 1354),
        ("1'234 20; 10 90", 1354),
        ("80,20;10,90", 200),
        ("80, 20; 10, 90;", 200),
        ("80,200;100,900", 1280),
    ],
)
def test_a_typed_table_may_have_marks_of_thousands(text, rows):
    assert json.loads(run("evaluate", "--table", text, "--json").stdout)["rows"] == rows


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["1.234 20; 10 90"], "does not work; write numbers like 80 20; 10 90, without marks of thousands"),
        (["8 1 1; 1 8 1; 1 1 8", "--positive", "1"], "--positive 1 is for two classes, and there are 3 ('0', '1' and"),
    ],
)
def test_typed_tables_that_do_not_work(words, told):
    done = run("evaluate", "--table", *words)
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr


def test_published_tables_of_different_cases_are_compared():
    names = {"classes": ["no", "yes"], "positive": "yes"}
    tables = {
        "old": stakes.Confusion([[70, 30], [10, 90]], **names),
        "new": stakes.Confusion([[90, 10], [5, 95]], **names),
    }
    with pytest.raises(stakes.InputError, match=r"do not show in which rows the models differ; pass paired=False if"):
        stakes.compare(tables)
    truth = np.repeat(["no", "yes"], 100)
    said = {"old": np.repeat(list("nyny"), [70, 30, 10, 90]), "new": np.repeat(list("nyny"), [90, 10, 5, 95])}
    rows = {name: (truth, np.where(one == "y", "yes", "no")) for name, one in said.items()}
    for metric in ("accuracy", "f1"):
        asked = {"metric": metric, "paired": False, "positive": "yes"}
        expected = stakes.compare(predictions=rows, **asked).pairs
        assert stakes.compare(tables, **asked).pairs == expected
        assert stakes.compare(predictions=tables, **asked).pairs == expected
    assert expected[0].low > 0
    with pytest.raises(stakes.InputError, match="some are fractions"):
        stakes.compare({"a": stakes.Confusion([[0.5, 1], [1, 1]]), "b": tables["old"]}, paired=False)


@pytest.mark.parametrize("given", ["a.tally", ["a.tally", "b.csv"], "tally", "evaluation"])
def test_what_holds_no_rows_is_not_compared(given):
    ev = stakes.evaluate(truth=[1, 0], prediction=[1, 0])
    held = {"tally": {"a": ev.counted, "b": ev.counted}, "evaluation": {"a": ev, "b": ev}}
    with pytest.raises(stakes.InputError, match=r"holds counts and no rows, .* stakes gate FILE"):
        stakes.compare(held[given] if isinstance(given, str) and given in held else given, truth="y", scores=["p", "q"])


@pytest.mark.parametrize("text", ["80 20\n10 90", "[[80, 20], [10, 90]]", "[[80,20],[10,90]]", "80 20;10 90;"])
def test_a_table_may_be_written_in_lines_and_brackets(text):
    assert json.loads(run("evaluate", "--table", text, "--json").stdout)["figures"]["accuracy"]["value"] == 0.85


def test_every_command_that_a_table_answers_takes_one(tmp_path):
    typed, page = ("--table", "80 20; 10 90"), tmp_path / "a.html"
    test = json.loads(run("permute", *typed, "--json").stdout)
    assert test["p_value"] == pytest.approx(stats.fisher_exact(TABLE, "greater").pvalue, rel=1e-9)
    assert run("gate", *typed, "--require", "recall.low >= 0.8").returncode == 0
    assert run("gate", *typed, "--require", "recall.low >= 0.9").returncode == 1
    assert run("report", *typed, "-o", page).returncode == 0
    assert "<html" in page.read_text()
    both = run("compare", *typed, "--table", "85 15; 12 88", "--unpaired", "--metric", "recall", "--json")
    found = json.loads(both.stdout)["pairs"][0]
    tables = [stakes.Confusion(TABLE), stakes.Confusion([[85, 15], [12, 88]])]
    pair = stakes.compare(tables, paired=False, metric="recall").pairs[0]
    assert (found["difference"], found["low"], found["p_value"]) == (pair.difference, pair.low, pair.p_value)
    assert "pass --unpaired if they are of different cases" in run("compare", *typed, *typed).stderr
    with pytest.raises(stakes.InputError, match="pass paired=False if they are of different cases"):
        stakes.compare(tables)
    for verb in ("evaluate", "permute", "report", "compare"):
        assert "give FILE, or --table TEXT; not both" in run(verb, "a.csv", *typed).stderr
        assert "give FILE, or --table TEXT." in run(verb, *(("-o", page) if verb == "report" else ())).stderr
    assert "has one row; end each with a semicolon" in run("evaluate", "--table", "80 20 10 90").stderr


def test_a_published_table_of_two_tests_on_the_same_cases_is_mcnemars():
    """Both positive 59, only the first 6, only the second 16, neither 80: four rows that stand for several."""
    rows = {"truth": ["right"] * 4, "frequency": [59, 6, 16, 80]}
    said = {"first": ["right", "right", "wrong", "wrong"], "second": ["right", "wrong", "right", "wrong"]}
    pair = stakes.compare(**rows, predictions=said).pairs[0]
    assert pair.p_value == pytest.approx(stats.binomtest(6, 22).pvalue)
    assert pair.difference == pytest.approx(10 / 161)


@pytest.mark.parametrize("costs", [None, stakes.Costs(miss=5, false_alarm=1)], ids=["nothing to decide", "decided"])
def test_a_prior_that_changes_no_decision_is_refused(costs):
    with pytest.raises(stakes.InputError, match="changes figures, and a tally has none"):
        stakes.count(truth=[0, 1, 1], prediction=[0, 1, 0], costs=costs, prior=0.02)
