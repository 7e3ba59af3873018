"""One table of options: every verb × every option, in Python and on the command line, and a new one in every face."""

import inspect
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import stakes
from stakes.cli.group import cli
from stakes.cli.words import on_the_command_line
from stakes.engines.plan import NAMES_OF_COLUMNS, REMEMBERED
from stakes.errors import Given, Text
from stakes.question.options import GROUPS, MEANS_NOTHING, NOT_TYPED, TABLES, VERBS, options, table
from stakes.uncertainty.sampling import DESIGNS
from tests.command import run

ROOT = Path(__file__).parents[1]
SHARED = list(table("evaluate"))
COMMANDS = {verb: {"permutation_test": "permute"}.get(verb, verb) for verb in VERBS}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    n = 240
    y = rng.random(n) < 0.4
    p = np.clip(0.5 * y + 0.6 * rng.random(n), 0.01, 0.99)
    table = {
        "y": np.where(y, "yes", "no"),
        "p": p,
        "q": np.clip(0.3 * y + 0.7 * rng.random(n), 0.01, 0.99),
        "w": rng.integers(1, 4, n),
        "site": rng.choice(["A", "B"], n),
        "patient": np.arange(n) // 4,
        "age": rng.integers(20, 80, n),
        "x": rng.normal(size=n) + y,
    }
    return pd.DataFrame(table)


FIT = {"truth": "y", "score": "p", "positive": "yes"}
NAMES = {"truth": "y", "score": "p"}
PRICED = {"costs": stakes.Costs(miss=5, false_alarm=1)}
GIVEN = {
    "weight": "w",
    "frequency": "w",
    "by": "site",
    "cluster": "patient",
    "where": "age > 40",
    "missing": "drop",
    "exact": False,
    "task": "classification",
    "positive": "yes",
    "classes": ["no", "yes"],
    "alike": "case",
    "threshold": 0.3,
    "from_logits": True,
    "confidence": 0.8,
    "design": "classes fixed",
    "seed": 7,
    **PRICED,
    "prior": 0.1,
    "training_prior": 0.5,
}
"""Values other than the default; truth, score and prediction are in every call, baseline is for numbers."""

TYPED = {"exact": ["--bins"], "from_logits": ["--from-logits"], "classes": ["--class", "no", "--class", "yes"]}
TYPED |= {"costs": ["--miss", "5", "--false-alarm", "1"]}


def beside(name):
    """What an option does not go without."""
    return {**PRICED, "training_prior": 0.4} if name in ("prior", "training_prior") else {}


def ask(verb, rows, folder, **more):
    """Ask a verb about the rows, and return what it says as data."""
    if verb == "compare":
        found = stakes.compare(rows, **{"truth": "y", "scores": ["p", "q"], "positive": "yes", **more})
    elif verb == "validate":
        more = {name: rows[value] if name in ("weight", "by") else value for name, value in more.items()}
        more = {"positive": "yes", "how": 2, **more}
        found = stakes.validate(LogisticRegression(), rows[["x", "age"]], rows["y"], **more)
    elif verb == "report":
        stakes.report(rows, folder / "page.html", **{**FIT, **more})
        return re.sub(r"[\d:T -]{16,}", "", (folder / "page.html").read_text())
    else:
        own = {"decide": PRICED, "gate": {"require": "auc.low > 0.1"}, "calibrate": {"method": "sigmoid"}}
        own["permutation_test"] = {"permutations": 50}
        found = getattr(stakes, verb)(rows, **{**FIT, **own.get(verb, {}), **more})
    return str(found) if verb == "count" and "cluster" in more else found.to_dict()  # clusters are never saved


LIKE_EVALUATE = ("where", "costs", "confidence")
"""Of a report, which hands its question on to the same code, these are enough."""

MATRIX = [(verb, name) for verb in VERBS for name in GIVEN if verb != "report" or name in LIKE_EVALUATE]


CHANGES = {name: set(VERBS) for name in ("where", "weight")} | {"frequency": {*VERBS} - {"validate"}}
CHANGES |= {
    "by": {"evaluate", "compare", "count", "report", "validate"},
    "cluster": {"evaluate", "compare", "decide", "calibrate", "report"},
    "confidence": {"evaluate", "compare", "decide", "gate", "calibrate", "validate", "report"},
    "design": {"evaluate", "calibrate", "validate", "report"},
    "seed": {"decide", "validate", "permutation_test"},
    "threshold": {"evaluate", "count", "report", "validate"},
    "costs": {"evaluate", "compare", "report", "validate"},
    "prior": {"evaluate", "compare", "decide", "report", "validate"},
}


CHANGED = [(verb, name) for name, verbs in CHANGES.items() for verb in sorted(verbs) if (verb, name) in MATRIX]
"""What is tried by its effect, which shows that it is taken."""


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "name"), [case for case in MATRIX if case not in CHANGED])
def test_every_verb_takes_every_option_or_says_why_not(verb, name, rows, tmp_path):
    given = {**beside(name), name: GIVEN[name]}
    if name in options(verb):
        ask(verb, rows, tmp_path, **given)
        return
    with pytest.raises(stakes.InputError) as caught:
        ask(verb, rows, tmp_path, **{name: GIVEN[name]})
    assert (caught.value.code, caught.value.argument) == ("means-nothing-here", name)
    assert str(caught.value).startswith(f"{name}= means nothing to {verb}: {MEANS_NOTHING[verb][name]}")


@pytest.fixture(scope="module")
def without():
    """What verbs say without an option, once they were asked."""
    return {}


@pytest.mark.slow
@pytest.mark.spread(18)
@pytest.mark.parametrize(("verb", "name"), CHANGED)
def test_an_option_that_is_taken_is_used(verb, name, rows, without, tmp_path):
    if name not in options(verb):
        pytest.fail(f"{verb} does not take {name}")
    key = (verb, bool(beside(name)))
    if key not in without:
        without[key] = ask(verb, rows, tmp_path, **beside(name))
    assert ask(verb, rows, tmp_path, **{**beside(name), name: GIVEN[name]}) != without[key]


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "report"])
def test_a_condition_keeps_the_rows_that_one_would_take_out_by_hand(verb, rows, tmp_path):
    by_hand = rows[rows.age > 40].reset_index(drop=True)
    if verb in ("evaluate", "count"):  # arrays beside the table lose the same rows
        found = ask(verb, rows, tmp_path, where="age > 40", score=rows["p"].to_numpy(), truth=rows["y"].tolist())
        assert found.get("figures") == ask(verb, by_hand, tmp_path).get("figures")
    found = ask(verb, rows, tmp_path, where="age > 40")
    expected = ask(verb, by_hand, tmp_path)
    for data in (found, expected):
        data.pop("question", None)
    assert found == expected


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in ("report", "validate")])
def test_rows_with_gaps_are_left_out_by_every_verb(verb, rows, tmp_path):
    holes = rows.copy()
    holes.loc[[3, 50], "p"] = np.nan
    with pytest.raises(stakes.InputError) as caught:
        ask(verb, holes, tmp_path)
    assert caught.value.code == "missing-values"
    assert ("missing", "drop") in [(one.name, one.value) for one in caught.value.advice]
    dropped = ask(verb, holes, tmp_path, missing="drop")
    assert "2 rows with a missing value or weight 0 were left out" in str(dropped) or dropped["dropped"] == 2
    by_hand = ask(verb, holes.dropna().reset_index(drop=True), tmp_path)
    for data in (dropped, by_hand):
        for name in ("dropped", "read", "checks", "models", "notes"):
            data.pop(name, None)
    if "findings" in dropped:  # they are those of the rows that were left, and one about the others
        told = dropped.pop("findings")
        assert "caution.dropped" in [one["key"] for one in told]
        if verb != "gate":  # a gate counts the condition about rows left out
            assert [one for one in told if one["key"] != "caution.dropped"] == by_hand["findings"]
        del by_hand["findings"]
    assert dropped == by_hand


def test_models_are_compared_on_the_rows_that_both_have(rows):
    holes = rows.copy()
    holes.loc[[3, 50], "p"] = np.nan
    holes.loc[[4, 50], "q"] = np.nan
    found = stakes.compare(holes, truth="y", scores=["p", "q"], positive="yes", missing="drop")
    assert [model.counted.dropped for model in found.models.values()] == [3, 3]
    by_hand = stakes.compare(holes.dropna(), truth="y", scores=["p", "q"], positive="yes")
    assert found.pairs[0].difference == by_hand.pairs[0].difference


def test_a_condition_chooses_rows_of_every_table_that_is_joined(rows):
    cases = rows.assign(id=range(len(rows)))
    tables = [cases, cases.assign(p=cases.q).sample(frac=1, random_state=1)]
    asked = {"truth": "y", "scores": "p", "positive": "yes", "id": "id"}
    found = stakes.compare(tables, **asked, where="age > 40")
    by_hand = stakes.compare([table[table.age > 40] for table in tables], **asked)
    assert found.pairs[0].difference == by_hand.pairs[0].difference
    apart = {"truth": "y", "scores": "p", "positive": "yes", "paired": False}
    found = stakes.compare(tables, **apart, where="age > 40")
    assert found.pairs[0].difference == by_hand.pairs[0].difference
    with pytest.raises(stakes.InputError, match="model 'table 2': where: there is no column 'age'"):
        stakes.compare([tables[0], tables[1].drop(columns="age")], **asked, where="age > 40")


def test_costs_are_tested_by_shuffling(rows):
    """The figure is the expected cost, as that of an evaluation; a figure that costs do not change refuses them."""
    found = stakes.permutation_test(rows, **FIT, **PRICED, permutations=50)
    assert (found.metric, found.value) == (
        "expected_cost",
        stakes.evaluate(rows, **FIT, **PRICED)["expected_cost"].value,
    )
    with pytest.raises(stakes.InputError, match="costs= mean nothing to auc"):
        stakes.permutation_test(rows, **FIT, **PRICED, metric="auc")


def test_tallies_remember_by_which_costs_they_were_decided():
    table = {"y": list("abcabc"), "a": [0.8, 0.2, 0.1, 0.4, 0.3, 0.2], "b": [0.1, 0.6, 0.2, 0.3, 0.4, 0.3]}
    table["c"] = [1 - a - b for a, b in zip(table["a"], table["b"], strict=True)]
    scores = {"truth": "y", "score": {name: name for name in "abc"}}
    one, other = (stakes.Costs([[0, 1, x], [1, 0, 1], [1, 1, 0]], classes=list("abc")) for x in (1, 9))
    counted = stakes.count(table, **scores, costs=one)
    expected = stakes.evaluate(table, **scores, costs=one)["expected_cost"].value
    assert stakes.evaluate(counted, costs=one)["expected_cost"].value == expected
    with pytest.raises(stakes.InputError, match="at other costs need the rows again"):
        stakes.evaluate(counted, costs=other)
    with pytest.raises(stakes.InputError, match="these tallies answer different questions: costs="):
        counted + stakes.count(table, **scores, costs=other)


def test_rows_without_a_target_are_left_out_by_validate(rows):
    holes = rows.copy()
    holes.loc[[3, 50], "y"] = None
    found = stakes.validate(LogisticRegression(), holes[["x"]], holes["y"], positive="yes", missing="drop")
    kept = holes.dropna(subset=["y"])
    by_hand = stakes.validate(LogisticRegression(), kept[["x"]], kept["y"], positive="yes")
    assert found.pooled.counted.dropped == 2
    assert found["auc"].pooled == by_hand["auc"].pooled


def test_a_baseline_of_numbers_is_taken_where_numbers_are_judged(rows):
    numbers = {"truth": "age", "prediction": "x", "task": "regression"}
    assert stakes.evaluate(rows, **numbers, baseline=30)["r2"] != stakes.evaluate(rows, **numbers)["r2"]
    both = {"truth": "age", "predictions": ["x", "w"], "task": "regression", "metric": "relative_absolute_error"}
    assert stakes.compare(rows, **both, baseline=30).table[0].estimate != stakes.compare(rows, **both).table[0].estimate
    test = {**numbers, "metric": "relative_absolute_error", "permutations": 50}
    assert stakes.permutation_test(rows, **test, baseline=30).value != stakes.permutation_test(rows, **test).value


# ── on the command line ──────────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture(scope="module")
def file(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    rows.to_csv(path, index=False)
    return path


def typed(name):
    value = GIVEN[name]
    return TYPED.get(name) or [f"--{name.replace('_', '-')}", str(value)]


def command(verb, file, folder):
    own = {
        "gate": ["--require", "auc.low > 0.1"],
        "report": ["-o", str(folder / "page.html")],
        "count": ["-o", str(folder / "rows.tally")],
        "permutation_test": ["--permutations", "50", "--metric", "expected_cost"],
        "calibrate": ["--method", "sigmoid"],
    }
    columns = ["--truth", "y", "--score", "p"] + (["--score", "q"] if verb == "compare" else [])
    if verb == "validate":
        columns = ["--target", "y", "--estimator", "sklearn.tree:DecisionTreeClassifier", "--feature", "x"]
    return [COMMANDS[verb], str(file), *columns, "--positive", "yes", *own.get(verb, [])]


@pytest.mark.slow
@pytest.mark.parametrize("verb", list(VERBS))
def test_every_command_takes_what_its_verb_takes(verb, file, tmp_path):
    """Those that go together are used in one call."""
    apart = {"threshold", "frequency", "weight", "by", "exact", "design"} | ({"cluster"} if verb == "count" else set())
    taken = [name for name in GIVEN if name in options(verb) and name not in apart]
    lang = ["--lang", "es"] if "lang" in options(verb) else []
    done = run(*command(verb, file, tmp_path), *(word for name in taken for word in typed(name)), *lang)
    assert done.returncode in (0, 1 if verb == "gate" else 0), done.stderr
    assert "¿" in done.stdout or verb in ("count", "report")


WHERE_VERBS_LIVE = {
    "evaluate": "stakes.evaluation.evaluate",
    "gate": "stakes.cli.gate._evaluate",
    **{verb: f"stakes.evaluation.{verb}" for verb in ("decide", "count")},
    "compare": "stakes.evaluation.comparing.compare",
    "calibrate": "stakes.evaluation.recalibrating.calibrate",
    "permutation_test": "stakes.validation.permutation.permutation_test",
    "validate": "stakes.validation.from_files.validate_file",
    "report": "stakes.views.report.verb.report",
    "rank": "stakes.evaluation.ranks.rank",
    "watch": "stakes.evaluation.watch.watch",
}
"""The function that each command calls."""


def sample(name, option):
    """Words to type for an option, and the argument that they stand for: never its default."""
    dashed = f"--{(option.spelled or name).replace('_', '-')}"
    if option.form == "switch":
        on = option.default is not True
        return [f"--{option.of[0 if on else -1]}"], on
    if option.form == "costs":
        return ["--miss", "5", "--false-alarm", "1"], stakes.Costs(miss=5, false_alarm=1)
    if option.form == "choice":
        other = next(one for one in reversed(option.of) if one != option.default)
        return [dashed, other], other
    if option.form in ("number", "shares"):
        return [dashed, "12.5 %"], 0.125
    if option.form == "whole":
        return [dashed, "17"], 17
    several = [dashed, name[0], dashed, f"{name[0]} 2"]
    if option.form == "columns":
        return several, [name[0], f"{name[0]} 2"]
    if option.form == "by class" and name != "truth":
        return [dashed, "0.1=x", dashed, "0.9=y=z"], {"0.1": "x", "0.9": "y=z"}
    return several[:2], name[0]


class AskedError(Exception):
    """What a command asked, before anything is worked out."""


@pytest.mark.parametrize("verb", list(TABLES))
def test_every_option_that_is_typed_arrives_as_the_argument_of_its_verb(verb, file, monkeypatch):
    def asked(*_, **arguments):
        raise AskedError(arguments)

    monkeypatch.setattr(WHERE_VERBS_LIVE[verb], asked)
    own = {"gate": {"require", "no_worse", "allow_dropped"}, "watch": {"restart"}, "rank": {"model"}}.get(verb, set())
    own |= NOT_TYPED.get(verb, {}).keys()
    wanted = {name: one for name, one in options(verb).items() if one.typed and name not in own}
    samples = {name: sample(name, option) for name, option in wanted.items()}
    if verb == "validate":
        samples["by"] = (["--by", "b"], "b")
    words = [word for typed, _ in samples.values() for word in typed]
    needed = {
        "gate": ["--require", "auc > 0"],
        "count": ["-o", "x.tally"],
        "report": ["-o", "x.html"],
        "validate": ["--target", "y", "--estimator", "sklearn.tree:DecisionTreeClassifier"],
    }
    with pytest.raises(AskedError) as reached:
        cli.main([commands(verb), str(file), *words, *needed.get(verb, [])], standalone_mode=False)
    (arguments,) = reached.value.args
    assert {name: arguments[name] for name in samples} == {name: value for name, (_, value) in samples.items()}


def commands(verb):
    return COMMANDS.get(verb, verb)


@pytest.mark.parametrize("verb", [verb for verb in TABLES if verb in MEANS_NOTHING])
def test_every_command_says_why_an_option_means_nothing(verb, file):
    spelled = {option.spelled for option in options(verb).values()}  # compare --score is its scores=
    typed = options(verb).keys() - NOT_TYPED.get(verb, {}).keys()
    for name in (name for name in table("evaluate") if name not in typed and name not in spelled):
        words, _ = sample(name, table("evaluate")[name])
        with pytest.raises(stakes.InputError) as caught:
            cli.main([commands(verb), str(file), *words], standalone_mode=False)
        told = on_the_command_line(caught.value.text)
        assert told.startswith(f"{on_the_command_line(Text(Given(name)))} means nothing to {commands(verb)}: ")
        assert "=" not in told.replace("CLASS=", "")


def test_signatures_and_commands_are_those_of_the_table():
    for verb in VERBS:
        names = set(options(verb))
        assert names <= set(inspect.signature(getattr(stakes, verb)).parameters), verb
        params = {one.name for one in cli.commands[COMMANDS[verb]].params}
        missing = names - params - NOT_TYPED.get(verb, {}).keys()
        assert missing <= {"cv", "test", "jobs", "groups", "stratified"}, (verb, missing)
    assert inspect.signature(stakes.evaluate).parameters["confidence"].default == 0.95
    assert table("evaluate")["design"].of == DESIGNS


def test_help_begins_with_the_columns_and_cuts_nothing():
    shown = run("evaluate", "--help").stdout
    found = [line[:-1].lower() for line in shown.splitlines() if re.fullmatch(r"[A-Z][a-z ]+:", line)]
    assert found == [name for name in GROUPS if name in found]
    assert found[0] == "columns"
    assert re.search(r"Columns:\n  --truth COLUMN", shown)
    listed = run("--help").stdout
    assert "…" not in listed
    assert "..." not in listed.replace("[ARGS]...", "")


# ── what travels with counts ─────────────────────────────────────────────────────────────────────────────────────
def test_a_tally_remembers_its_question(rows, tmp_path):
    def count(**more):
        return stakes.count(rows, **FIT, **more)

    old, young, every = count(where="age > 40"), count(where="age <= 40"), count()
    assert (old + young).question == {**NAMES, "where": "(age > 40) OR (age <= 40)"}
    assert (old + old).question == old.question == {**NAMES, "where": "age > 40"}
    assert (old + every).question == NAMES
    with pytest.raises(stakes.InputError, match=r"different questions: alike= is 'case' in one and 'not given'"):
        count(alike="case") + every
    with pytest.raises(stakes.InputError, match="different questions: the column of weight= is 'w' in one and 'age'"):
        count(weight="w") + count(weight="age")
    with pytest.raises(stakes.InputError, match="different questions: the column of score= is 'p' in one and 'q'"):
        every + stakes.count(rows, **{**FIT, "score": "q"})
    both = stakes.count(rows.assign(rest=1 - rows["p"]), **{**FIT, "score": {"yes": "p", "no": "rest"}})
    assert both.question == {"truth": "y", "score": "no=rest, yes=p"}
    assert replace(every, question={}) + every == every + every  # one of an earlier version
    assert stakes.count(truth=[0, 1, 1], prediction=[0, 1, 0], by=["a", "b", "a"]).question == {}  # rows never travel
    assert count(by=["site", "age"]).question == {**NAMES, "by": "site, age"}
    count(weight="w") + stakes.count(rows, **FIT, weight=rows["w"])  # an array has no name, which is no other question
    old.save(tmp_path / "old.tally")
    loaded = stakes.load(tmp_path / "old.tally")
    assert loaded.question == old.question
    assert stakes.evaluate(loaded, where="age > 40")["auc"].value == stakes.evaluate(loaded)["auc"].value
    with pytest.raises(stakes.InputError, match="where=: the question of a tally was fixed when its rows were counted"):
        stakes.evaluate(loaded, where="age > 50")


def test_what_a_tally_remembers_are_options_of_the_table():
    columns = {name for name, option in table("evaluate").items() if option.group == "columns"}
    assert columns - set(NAMES_OF_COLUMNS) == {"cluster"}  # which are never saved
    assert set(REMEMBERED) <= set(table("evaluate"))
    names = {"truth": ["a", "b", "a"], "said": ["a", "b", "b"], "n": [1, 2, 3], "m": [3, 2, 1]}
    one, other = (stakes.count(names, truth="truth", prediction="said", positive="a", frequency=f) for f in "nm")
    with pytest.raises(stakes.InputError, match=r"the column of frequency= \(n against m\)|frequency=.*'n'.*'m'"):
        _ = one + other
    assert (one + one).confusion.total == 12


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda rows: stakes.watch([], truth="y"), "truth= means nothing to watch: days are tallies"),
        (lambda rows: stakes.rank(scores={"a": [1, 0]}, threshold=0.4), "threshold= means nothing to rank: graded"),
        (lambda rows: stakes.evaluate(**rows, label_separator=";"), "score is one column, and with several labels"),
        (
            lambda rows: stakes.permutation_test(rows, truth="truth", score="score", costs=BY_ROW),
            "costs= that differ from row to row go with its truth, which a shuffle takes away; give one price",
        ),
    ],
)
def test_what_means_nothing_is_told_with_the_reason(ask, said):
    rows = {"truth": [0, 1, 0, 1], "score": [0.1, 0.2, 0.3, 0.4]}
    if "price" in said:
        rows["amount"] = [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(stakes.InputError) as caught:
        ask(rows)
    assert str(caught.value).startswith(said)


BY_ROW = stakes.Costs(miss="amount", false_alarm=1)
