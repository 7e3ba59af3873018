"""Data that ship with the package: they work from any folder, and each demo shows a real command and its answer."""

import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn import metrics
from sklearn.datasets import load_breast_cancer, load_diabetes

import stakes
from stakes.cli.demo import DEMOS
from tests.command import DEMO_FILE, run

TUMOURS = {"truth": "diagnosis", "score": "logistic", "positive": "malignant"}


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_data_are_those_of_the_sources():
    tumours, diabetes = stakes.demo_data("breast_cancer"), stakes.demo_data("diabetes")
    assert (tumours["diagnosis"] == "malignant").to_list() == (load_breast_cancer().target == 0).tolist()
    assert diabetes["progression"].to_list() == load_diabetes().target.tolist()
    assert stakes.demo_data().equals(tumours)


def test_a_demo_is_named_like_a_file(elsewhere):
    rows = pl.read_csv(DEMO_FILE)
    auc = metrics.roc_auc_score(rows["diagnosis"] == "malignant", rows["logistic"])
    for data in ("demo:breast_cancer", ["demo:breast_cancer"], stakes.demo_data(), stakes.demo_data(path=True)):
        assert stakes.evaluate(data, **TUMOURS)["auc"].value == pytest.approx(auc, rel=1e-12)
    mae = stakes.evaluate("demo:diabetes", truth="progression", prediction="linear")["mae"].value
    rows = stakes.demo_data("diabetes")
    assert mae == pytest.approx(np.abs(rows["progression"] - rows["linear"]).mean(), rel=1e-12)


def test_systems_are_named_likewise(elsewhere):
    assert stakes.System.from_toml("demo:clinic_and").cost == 320
    assert stakes.System.from_toml(stakes.demo_data("clinic_or", path=True)).cost == 375
    Path("own.toml").write_text(
        'data = "demo:breast_cancer"\ntruth = "diagnosis"\nmodels = ["size"]\npositive = "malignant"\n'
        "decide = \"`size` == 'large'\"\ncosts = {miss = 5, false_alarm = 1}\n"
    )
    rows = stakes.demo_data()
    large, sick = rows["size"] == "large", rows["diagnosis"] == "malignant"
    assert stakes.System.from_toml("own.toml").cost == 5 * (sick & ~large).sum() + (large & ~sick).sum()
    assert run("system", "own.toml", "--quiet").returncode == 0


def test_a_file_of_that_very_name_comes_first(elsewhere):
    pl.DataFrame({"diagnosis": ["malignant", "benign"], "logistic": [0.9, 0.1]}).write_parquet("demo:breast_cancer")
    assert stakes.evaluate("demo:breast_cancer", **TUMOURS).rows == 2


@pytest.mark.parametrize(
    "ask", [lambda: stakes.demo_data("tumours"), lambda: stakes.evaluate("demo:tumours", **TUMOURS)]
)
def test_an_unknown_demo_is_told_with_those_there_are(ask):
    with pytest.raises(stakes.InputError) as told:
        ask()
    known = "demo:breast_cancer, demo:clinic_and, demo:clinic_or, demo:diabetes"
    assert str(told.value) == f"demo:tumours: there is no such data; there are {known}"
    assert told.value.code == "no-such-demo"


def test_a_system_has_no_rows():
    with pytest.raises(stakes.InputError, match=r"System\.from_toml\('demo:clinic_and'\) reads it"):
        stakes.demo_data("clinic_and")


@pytest.mark.parametrize("words", [["columns"], ["system"], ["evaluate", "--truth", "y", "--score", "p"]])
def test_the_command_line_tells_it_in_one_line(words):
    done = run(words[0], "demo:none", *words[1:])
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "demo:none: there is no such data; there are demo:breast_cancer," in done.stderr


def test_messages_call_it_by_its_name():
    done = run("evaluate", "demo:breast_cancer", "demo:breast_cancer", "--truth", "diagnosis", "--score", "logistic")
    assert "demo:breast_cancer: the file is given twice" in done.stderr


def test_the_data_are_never_written_over(elsewhere):
    (elsewhere / "link.html").symlink_to(DEMO_FILE)
    before = DEMO_FILE.read_bytes()
    done = run("demo", "--report", "link.html")
    assert (done.returncode, DEMO_FILE.read_bytes()) == (2, before), done.stdout


@pytest.mark.parametrize("what", DEMOS)
@pytest.mark.spread(4)
def test_a_demo_shows_its_command_and_the_answer_to_it(elsewhere, what):
    shown = run("demo", what, "--lang", "es")
    assert shown.returncode == 0, shown.stderr
    (command,) = [line for line in shown.stdout.splitlines() if line.startswith("$ stakes ")]
    assert command == f"$ stakes {DEMOS[what]} --lang es"
    answered = run(*shlex.split(command)[2:])
    assert answered.returncode == 0, answered.stderr
    assert answered.stdout in shown.stdout
    assert "Para seguir" in shown.stdout


@pytest.mark.parametrize("what", [one for one in DEMOS if one != "calibrate"])
@pytest.mark.spread(3)
def test_a_demo_has_a_page_about_the_command(elsewhere, what):
    done = run("demo", what, "--report", "demo.html", "--lang", "ru")
    assert done.returncode == 0, done.stderr
    page = Path("demo.html").read_text()
    assert '<html lang="ru">' in page
    about = re.search(r'"about":"([^"]*)"', page)[1]
    assert sorted(about.split()) == sorted(f"stakes {DEMOS[what]}".split())


def test_without_a_word_the_predictions_are_evaluated():
    shown = run("demo")
    assert shown.stdout == run("demo", "evaluate").stdout
    assert "“malignant”" in shown.stdout
    assert "Where to look next" in shown.stdout
    none = run("demo", "calibrate", "--report", "a.html")
    assert (none.returncode, "calibrate has no page; leave --report out" in none.stderr) == (2, True)


def test_verdicts_on_segments_are_whole_in_eighty_columns():
    """Where they do not fit beside the numbers, they stand below them."""
    shown = run("demo", "regression", env={"COLUMNS": "80"}).stdout
    assert "middle: no difference shown" in shown
