"""What --json gives is what the schemas say, for every command."""

import functools
import json
from importlib import resources

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

import stakes
from stakes.cli import cli
from tests.command import DEMO_FILE, DEMO_FILES

pytestmark = pytest.mark.slow

SCHEMAS = {
    file.name: json.loads(file.read_text(encoding="utf-8"))
    for file in resources.files("stakes").joinpath("schema").iterdir()
    if file.name.endswith(".json")
}
COLUMNS = ("--truth", "diagnosis", "--score", "logistic", "--positive", "malignant")
DEMO = (str(DEMO_FILE), *COLUMNS)
COSTS = ("--miss", "5", "--false-alarm", "1")
ASKED = {
    "gap": lambda: stakes.evaluate(truth=[1, 0] * 60, prediction=[1, 0, 0] * 40, by=[*"abc"] * 40).gap("recall"),
    "number_calibration": lambda: stakes.evaluate(truth=[1.5, 2, 4, 3], prediction=[1.0, 2, 3, 3.5]).calibration,
}
MANY = ("many.csv", "--truth", "y", "--score", "a=a", "--score", "b=b", "--score", "c=c")


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """Files of three classes and of numbers, in the current folder."""
    monkeypatch.chdir(tmp_path)
    rows = [(("a", "b", "c")[i % 3], i * 7 % 10) for i in range(90)]
    lines = [f"{y},{(k + 1) / 20},{(9 - k) / 20},0.5,{'abc'[k % 3]},{k + 0.5},{k / 2},{k % 2}" for y, k in rows]
    (tmp_path / "many.csv").write_text("\n".join(["y,a,b,c,said,t,p,g", *lines]) + "\n")
    few = [f"{k % 2 if i < 60 else ''},{(k + 1) / 20}" for i, (_, k) in enumerate(rows)]
    (tmp_path / "partly.csv").write_text("\n".join(["g,s", *few]) + "\n")
    prices = [f"[costs.{t}]\n" + "\n".join(f"{d} = {int(t != d) * 2}" for d in "abc") for t in "abc"]
    (tmp_path / "costs.toml").write_text("\n".join(prices))
    (tmp_path / "three.toml").write_text(
        "[costs.malignant]\noperate = 0\nwatch = 4\nhome = 20\n[costs.benign]\noperate = 5\nwatch = 1\nhome = 0\n"
    )


CASES = {
    "evaluate": [
        DEMO,
        (*DEMO, *COSTS, "--prior", "0.1", "--training-prior", "rows", "--by", "size"),
        (*DEMO, "--costs", "three.toml", "--cluster", "size"),
        ("partly.csv", "--truth", "g", "--score", "s", "--unlabelled", "estimate"),
        (str(DEMO_FILE), "--truth", "diagnosis", "--prediction", "diagnosis", "--positive", "benign"),
        (str(DEMO_FILE), "--truth", "diagnosis", "--prediction", "diagnosis"),
        (*MANY, "--costs", "costs.toml", "--by", "g"),
        ("many.csv", "--truth", "y", "--prediction", "said", "--weight", "t"),
        ("many.csv", "--truth", "t", "--prediction", "p", "--by", "g"),
        ("many.csv", "--truth", "g", "--score", "t"),  # no probabilities
    ],
    "compare": [
        (str(DEMO_FILE), *COLUMNS, "--score", "neighbours", "--margin", "0.1", "--metric", "auc", "--metric", "f1"),
        (str(DEMO_FILE), *COLUMNS, "--score", "neighbours", *COSTS, "--metric", "expected_cost"),
        ("many.csv", "--truth", "t", "--prediction", "p", "--prediction", "a", "--cluster", "g"),
    ],
    "rank": [
        (str(DEMO_FILE), "--score", "logistic", "--score", "neighbours"),
        ("many.csv", "--score", "p", "--score", "a", "--item", "t", "--repeat", "g", "--missing", "pairwise"),
    ],
    "decide": [
        (*DEMO, *COSTS),
        (*DEMO, "--best", "recall >= 0.9"),
        (*DEMO, "--costs", "three.toml"),
        (*MANY, "--costs", "costs.toml"),
    ],
    "calibrate": [DEMO, MANY, (str(DEMO_FILE), "--score", "logistic", "--apply", "c.json", "-o", "out.csv")],
    "plan": [
        ("auc", "--pilot", *DEMO, "--width", "0.05"),
        ("accuracy", "--difference", "0.1", "--disagreement", "0.2"),
    ],
    "permute": [(*DEMO, "--permutations", "99"), ("many.csv", "--truth", "g", "--prediction", "g")],
    "system": [
        (str(DEMO_FILES / "clinic_and.toml"),),
        ("many.csv", "--truth", "g", "--model", "x=g", "--model", "y=g", "--rule", "x or y", *COSTS, "--score", "x=t"),
    ],
    "report": [(*DEMO, "-o", "page.html")],
    "count": [
        (*DEMO, "-o", "d.tally"),
        ("many.csv", "--truth", "t", "--prediction", "p", "--by", "g", "-o", "m.tally"),
    ],
    "validate": [
        ("many.csv", "--estimator", "sklearn.tree:DecisionTreeClassifier", "--target", "g", "--feature", "a"),
        ("many.csv", "--estimator", "sklearn.linear_model:LinearRegression", "--target", "t", "--feature", "p"),
        (
            "many.csv",
            "--estimator",
            "sklearn.naive_bayes:GaussianNB",
            "--target",
            "y",
            "--feature",
            "a",
            "--folds",
            "3",
        ),
    ],
    "watch": [
        ("d.tally", "--require", "recall >= 0.3", "--require", "auc >= 0.95"),
        ("d.tally", "--require", "recall", "--against", "d.tally", "--margin", "0.1"),
    ],
    "gate": [
        (*DEMO, "--require", "auc.low >= 0.9", "--require", "recall > 0 in every segment", "--by", "size"),
        (*DEMO, "--baseline-score", "neighbours", "--no-worse", "auc:0.01"),
        ("many.csv", "--truth", "g", "--score", "t", "--require", "brier_score < 1"),  # undefined
    ],
    "label": [("partly.csv", "--truth", "g", "--score", "s", "--count", "5", "-o", "next.csv")],
    "metrics": [(), ("f_beta(beta=2)",)],
    "columns": [(str(DEMO_FILE),)],
    "doctor": [()],
}


@functools.cache
def output_of(command, place):
    arguments = CASES[command][place]
    if "d.tally" in arguments and command == "watch":
        assert CliRunner().invoke(cli, ["count", *DEMO, "--threshold", "0.5", "-o", "d.tally"]).exit_code == 0
    if "--apply" in arguments:
        assert CliRunner().invoke(cli, [command, *DEMO, "-o", "c.json"]).exit_code == 0
    done = CliRunner().invoke(cli, [command, *arguments, "--json"])
    assert done.exit_code in (0, 1), (done.output, done.exception)
    return json.loads(done.stdout)


def validator(name):
    return Draft202012Validator(SCHEMAS[name])


@pytest.mark.filterwarnings("ignore::stakes.errors.InputWarning")  # two clusters are few
@pytest.mark.parametrize(("command", "place"), [(name, i) for name, cases in CASES.items() for i in range(len(cases))])
@pytest.mark.spread(16)
def test_output_is_what_the_schema_says(command, place):
    found = output_of(command, place)
    problems = [
        f"{error.json_path}: {error.message[:200]}" for error in validator(f"{command}.json").iter_errors(found)
    ]
    assert not problems
    assert found["format"] == 1


def test_every_command_with_json_has_a_schema():
    with_json = {name for name, one in cli.commands.items() if any("--json" in option.opts for option in one.params)}
    beside = {"estimate", *ASKED}
    assert with_json == set(CASES) == {name.removesuffix(".json") for name in SCHEMAS} - beside
    for schema in SCHEMAS.values():
        Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("name", ASKED)
def test_what_is_asked_in_python_is_what_its_schema_says(name):
    found = json.loads(ASKED[name]().to_json())
    valid = validator(f"{name}.json").is_valid
    assert not list(validator(f"{name}.json").iter_errors(found))
    assert not valid({**found, "surprise": 1})
    assert not valid({**found, "stakes": "something else"})


@pytest.mark.parametrize("command", [name for name in CASES if name not in ("doctor", "metrics")])
@pytest.mark.spread(6)
def test_a_schema_refuses_what_it_does_not_describe(command):
    found = output_of(command, 0)
    valid = validator(f"{command}.json").is_valid
    assert valid(found)
    assert not valid({**found, "surprise": 1})
    assert not valid({name: value for name, value in found.items() if name != "stakes"})
    assert not valid({**found, "stakes": "something else"})
