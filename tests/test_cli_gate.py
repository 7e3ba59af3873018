"""stakes gate, run as a build runs it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml
from click.testing import CliRunner

import stakes
from stakes.cli import cli
from stakes.cli.github import message_of_command, property_of_command
from stakes.text import visible
from tests import command
from tests.command import DEMO_FILE

ROOT = Path(__file__).parents[1]
COLUMNS = ("--truth", "diagnosis", "--score", "logistic", "--positive", "malignant")
DEMO = (str(DEMO_FILE), *COLUMNS)
AUC = stakes.evaluate(str(DEMO_FILE), truth="diagnosis", score="logistic", positive="malignant")["auc"]


@pytest.fixture(autouse=True)
def _not_on_github(monkeypatch):
    for name in [name for name in os.environ if name.startswith("GITHUB_")]:
        monkeypatch.delenv(name)


def run(*arguments, **options):
    return command.run("gate", *arguments, **options)


def told(*arguments):
    """The JSON of a gate that is run in this process, and its exit code."""
    done = CliRunner().invoke(cli, ["gate", *map(str, arguments), "--json"])
    assert done.exit_code in (0, 1), done.output
    return json.loads(done.stdout), done.exit_code


# ── exit codes ───────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.slow
def test_exit_codes():
    passed = run(*DEMO, "--require", "auc.low >= 0.80")
    assert (passed.returncode, passed.stderr) == (0, "")
    assert "✓ Does the model pass?\n  Yes: the one condition is met.\n" in passed.stdout
    failed = run(*DEMO, "--require", "auc.low >= 0.80", "--require", "auc.low >= 0.85")
    assert (failed.returncode, failed.stderr) == (1, "")
    assert "✕ Does the model pass?\n  No: 1 of 2 conditions not met.\n" in failed.stdout
    for arguments, words in (
        ((*DEMO, "--require", "auc.low = 0.85"), "stakes: 'auc.low = 0.85' is no condition"),
        (
            DEMO,
            "stakes: there is nothing to check; give conditions (--require) or margins from a baseline (--no-worse)",
        ),
        ((*DEMO, "--no-worse", "auc:0.1"), "stakes: --no-worse needs a baseline"),
        ((*DEMO, "--require", "acu > 0.5"), "did you mean"),
        (("gone.csv", *COLUMNS, "--require", "auc > 0.5"), "there is no such file"),
        (COLUMNS, "name the FILE with the predictions"),
        ((DEMO_FILE, "--score", "logistic", "--require", "auc > 0.5"), "--truth COLUMN says what really happened"),
        ((*DEMO, "--json", "--csv"), "--json and --csv are two forms"),
    ):
        done = run(*arguments)
        assert (done.returncode, done.stdout) == (2, ""), done
        assert words in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_quiet_says_nothing_and_a_closed_pipe_does_not_pass_a_failing_gate():
    for limit, code in (("0.80", 0), ("0.85", 1)):
        done = run(*DEMO, "--require", f"auc.low >= {limit}", "--quiet")
        assert (done.returncode, done.stdout, done.stderr) == (code, "", "")
    gate = f"'{sys.executable}' -m stakes gate '{DEMO_FILE}' {' '.join(COLUMNS)}"
    script = f'set -o pipefail; {gate} --require "auc.low >= 0.85" | true'
    assert subprocess.run(["bash", "-c", script], timeout=120).returncode == 1


# ── baselines ────────────────────────────────────────────────────────────────────────────────────────────────────
OPTIONS = {"truth": "diagnosis", "positive": "malignant"}
COSTS = ("--miss", "5", "--false-alarm", "1")


def test_another_column_is_compared_on_the_same_rows():
    found, code = told(
        *DEMO, *COSTS, "--baseline-score", "neighbours", "--no-worse", "normalised_cost:0.02", "--no-worse", "auc:0.05"
    )
    both = stakes.compare(
        str(DEMO_FILE), scores=["logistic", "neighbours"], metric=["normalised_cost", "auc"], **OPTIONS,
        costs=stakes.Costs(miss=5, false_alarm=1),
    )  # fmt: skip
    cost, auc = found["checks"]
    pair = both.pair("logistic", "neighbours", "normalised_cost")
    assert (cost["estimate"]["low"], cost["estimate"]["high"]) == (pair.low, pair.high)
    assert cost["seen"] == pair.high
    assert not cost["passed"]
    pair = both.pair("logistic", "neighbours", "auc")
    assert pair.first == "neighbours"
    assert auc["seen"] == pytest.approx(-pair.high, abs=1e-12)
    assert auc["passed"]
    assert code == 1
    assert found["baseline"] == "column neighbours, on the same rows"


def test_a_file_of_rows_is_joined_by_case_or_taken_as_other_rows(tmp_path):
    rows = [line.split(",") for line in DEMO_FILE.read_text().splitlines()[1:]]
    for name, column in (("new", 2), ("main", 3)):
        lines = [f"{i},{row[0]},{row[column]}" for i, row in enumerate(rows)]
        order = lines if name == "new" else lines[::-1]
        (tmp_path / f"{name}.csv").write_text("\n".join(["case,diagnosis,p", *order]))
    one = (tmp_path / "new.csv", "--truth", "diagnosis", "--score", "p", "--positive", "malignant")
    other = ("--baseline", tmp_path / "main.csv", "--no-worse", "auc:0.03")
    joined, _ = told(*one, *other, "--id", "case")
    beside, _ = told(*DEMO, "--baseline-score", "neighbours", "--no-worse", "auc:0.03")
    assert joined["checks"] == beside["checks"]
    assert joined["baseline"] == "main, on the same rows"
    apart, code = told(*one, *other)
    assert "MOVER" in apart["checks"][0]["estimate"]["method"]
    assert (apart["checks"][0]["passed"], joined["checks"][0]["passed"], code) == (False, True, 1)


def test_a_tally_is_compared_as_if_of_other_rows(tmp_path):
    tally = tmp_path / "main.tally"
    counted = stakes.count(str(DEMO_FILE), score="neighbours", threshold=1 / 6, **OPTIONS)
    counted.save(tally)
    found, _ = told(
        *DEMO, *COSTS, "--baseline", tally, "--no-worse", "normalised_cost:0.2", "--require", "auc.low >= 0.80"
    )
    costs = stakes.Costs(miss=5, false_alarm=1)
    one, other = (
        stakes.evaluate(str(DEMO_FILE), score=name, costs=costs, **OPTIONS)["normalised_cost"]
        for name in ("logistic", "neighbours")
    )
    high = one.value - other.value + np.hypot(one.high - one.value, other.value - other.low)
    assert found["checks"][1]["estimate"]["high"] == pytest.approx(high, abs=1e-12)
    assert found["baseline"] == f"{tally}: 569 rows, judged as if of other cases"
    counted.save(tmp_path / "copy.tally")
    both, code = told(
        tally, "--baseline", tmp_path / "copy.tally", "--no-worse", "recall:0.5", "--require", "recall > 0.5"
    )
    assert (both["passed"], code) == (True, 0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--baseline", "x.csv", "--baseline-score", "neighbours"), "are two baselines; give one"),
        (("--id", "case"), "--id joins FILE and --baseline FILE"),
        (("--baseline-prediction", "neighbours"), "--score and --baseline-score go together"),
        (("--baseline-score", "nobody"), "there is no column 'nobody'"),
        (("--baseline", "gone.tally"), "gone.tally"),
    ],
)
def test_baselines_that_do_not_work(options, words):
    done = CliRunner().invoke(cli, ["gate", *DEMO, "--no-worse", "auc:0.1", *options])
    assert done.exit_code != 0
    assert words in done.output + str(done.exception)


# ── outputs ──────────────────────────────────────────────────────────────────────────────────────────────────────
AWKWARD = 'north & "south" <b>|\x07\u2028`x`'


@pytest.fixture
def awkward(tmp_path):
    """Predictions with a segment whose name is markup everywhere."""
    file = tmp_path / "preds.csv"
    name = AWKWARD.replace('"', '""')
    file.write_text("y,p,ward\n" + "".join(f'{i % 2},{(i * 37 % 100) / 100},"{name}"\n' for i in range(100)))
    return file


def test_junit_is_well_formed_and_counts_failures(awkward, tmp_path):
    conditions = ("--require", "recall >= 0.99 in every segment", "--require", "auc >= 0 ")
    done = run(awkward, "--truth", "y", "--score", "p", "--by", "ward", *conditions, "--junit", tmp_path / "g.xml")
    assert done.returncode == 1, done.stderr
    suites = ElementTree.parse(tmp_path / "g.xml").getroot()
    (suite,) = suites
    assert (suites.tag, suite.tag, suite.get("tests"), suite.get("failures")) == ("testsuites", "testsuite", "2", "1")
    first, second = suite
    assert first.get("name") == "recall >= 0.99 in every segment"
    assert visible(AWKWARD) in first.find("failure").get("message")
    assert second.find("failure") is None


def test_markdown_holds_its_table_together(awkward, tmp_path):
    arguments = (
        awkward,
        "--truth",
        "y",
        "--score",
        "p",
        "--by",
        "ward",
        "--require",
        "recall >= 0.99 in every segment",
    )
    run(*arguments, "-o", tmp_path / "g.md")
    text = (tmp_path / "g.md").read_text()
    assert "<b>" not in text
    assert "&lt;b&gt;\\|" in text
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert [line.count("|") - line.count("\\|") for line in table] == [6] * 3


def test_csv_and_a_file(tmp_path):
    done = run(*DEMO, "--require", "auc.low >= 0.9", "--csv")
    head, row = done.stdout.splitlines()
    assert head == "condition,passed,seen,limit,segment,reason,value,low,high"
    assert row == f"auc.low >= 0.9,False,{AUC.low!r},0.9,,,{AUC.value!r},{AUC.low!r},{AUC.high!r}"
    done = run(*DEMO, "--require", "auc.low >= 0.9", "-o", tmp_path / "gate.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert json.loads((tmp_path / "gate.json").read_text())["passed"] is False


def test_github_gets_a_summary_and_errors(tmp_path):
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    env = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    done = run(*DEMO, "--require", "auc.low >= 0.9", "--require", "auc > 0.5", env=env)
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("::")]
    seen = f"saw {AUC.low:.4f} (auc {AUC.value:.4f}, interval {AUC.low:.4f} – {AUC.high:.4f})"
    assert line == f"::error title=stakes gate%3A auc.low >= 0.9::failed: {seen}"
    text = summary.read_text()
    assert text.startswith("before\n### stakes gate\n\n**Gate**\n\n569 rows\n\n- ✕ **Does the model pass?** No: 1 of 2")
    assert "| auc.low &gt;= 0.9 | failed |" in text
    done = run(*DEMO, "--require", "auc.low >= 0.9", "--json", env={"GITHUB_ACTIONS": "true"})
    assert json.loads(done.stdout)["passed"] is False
    assert done.stderr.startswith("::error title=")
    assert "::error" not in run(*DEMO, "--require", "auc.low >= 0.9").stdout


def test_workflow_commands_are_escaped_by_githubs_rules():
    assert message_of_command("50 %\r\na: b, c") == "50 %25\\r\\na: b, c"
    assert property_of_command("50 %\r\na: b, c") == "50 %25\\r\\na%3A b%2C c"


# ── rows left out ────────────────────────────────────────────────────────────────────────────────────────────────
GAPS = "y,p\n" + "0,0.1\n1,0.9\n0,0.6\n1,0.4\n0,0.2\n1,0.8\n" * 10 + "1,\n" * 40
LEFT_OUT = "rows left out <= 5 % (40 of 100)"


@pytest.fixture
def gaps(tmp_path):
    (tmp_path / "gaps.csv").write_text(GAPS)
    return (tmp_path / "gaps.csv", "--truth", "y", "--score", "p", "--missing", "drop", "--require", "auc >= 0.5")


def test_rows_left_out_close_the_gate_and_are_told_in_every_form(gaps, tmp_path):
    env = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"), "COLUMNS": "120"}
    assert run(*gaps, "--markdown", "-o", tmp_path / "g.md").returncode == 1
    shown = run(*gaps, "--junit", tmp_path / "g.xml", env=env)
    assert shown.returncode == 1
    assert "No: 1 of 2 conditions not met." in shown.stdout
    assert "! 40 rows with a missing value or weight 0 were left out.\n" in shown.stdout
    assert LEFT_OUT in shown.stdout
    (error,) = [line for line in shown.stdout.splitlines() if line.startswith("::")]
    assert error.startswith("::error title=stakes gate%3A rows left out <= 5 %25 (40 of 100)::failed: saw 0.4000")
    assert "40 rows with a missing value or weight 0 were left out" in (tmp_path / "summary.md").read_text()
    assert "40 rows with a missing value or weight 0 were left out" in (tmp_path / "g.md").read_text()
    _, case = ElementTree.parse(tmp_path / "g.xml").getroot()[0]
    assert (case.get("name"), case.find("failure").get("type")) == (LEFT_OUT, "dropped")
    found = json.loads(run(*gaps, "--json").stdout)
    assert (found["passed"], found["rows"], found["dropped"]) == (False, 60, 40)
    assert found["checks"][1]["kind"] == "dropped"
    assert f"{LEFT_OUT},False,0.4,0.05" in run(*gaps, "--csv").stdout
    quiet = run(*gaps, "--quiet")
    assert (quiet.returncode, quiet.stdout) == (1, f"{LEFT_OUT}: failed\n")


def test_rows_left_out_within_the_allowed_share_are_told_all_the_same(gaps):
    done = run(*gaps, "--allow-dropped", "0.4", env={"GITHUB_ACTIONS": "true", "COLUMNS": "120"})
    assert done.returncode == 0
    assert "Yes: both conditions are met." in done.stdout
    assert "! 40 rows with a missing value or weight 0 were left out.\n" in done.stdout
    assert "::warning title=stakes gate%3A rows left out <= 40 %25 (40 of 100)::passed: saw 0.4000" in done.stdout
    assert run(*gaps, "--allow-dropped", "0.4", "--quiet").stdout.startswith("rows left out <= 40 % (40 of 100)")


def test_tallies_know_the_rows_that_were_left_out(gaps, tmp_path):
    for weight in (None, "w"):
        rows = [line.split(",") for line in GAPS.splitlines()[1:]]
        (tmp_path / "w.csv").write_text("y,p,w\n" + "".join(f"{y},{p},250\n" for y, p in rows))
        halves = [tmp_path / f"{weight}{i}.tally" for i in range(2)]
        stakes.count(tmp_path / "w.csv", truth="y", score="p", weight=weight, missing="drop").save(halves[0])
        stakes.count(
            {"y": [0, 1] * 50, "p": [0.1, 0.9] * 50, "w": [9.0] * 100}, truth="y", score="p", weight=weight
        ).save(halves[1])
        found = stakes.gate(stakes.evaluate(halves), require="auc > 0", allow_dropped=0.1)
        assert not found.passed
        weighed = "" if weight is None else ", 38.6 % of the weight"
        assert found.failed[0].condition == f"rows left out <= 10 % (40 of 200{weighed})"


def test_rows_that_weigh_much_close_the_gate(tmp_path):
    rows = {"y": [0, 1] * 50, "p": [None, None, *[0.2, 0.7, 0.6, 0.4] * 24, 0.1, 0.9], "w": [180.0] * 2 + [1.0] * 98}
    gap = dict(rows, w=[None] * 2 + [1.0] * 98)
    asked = {"truth": "y", "score": "p", "weight": "w", "missing": "drop"}
    found = stakes.gate(stakes.evaluate(rows, **asked), require="auc > 0")
    assert found.failed[0].condition == "rows left out <= 5 % (2 of 100, 78.6 % of the weight)"
    assert stakes.gate(stakes.evaluate(gap, **asked), require="auc > 0").passed
    stakes.count(rows, **asked).save(tmp_path / "rows.tally")
    done = run(tmp_path / "rows.tally", "--require", "auc > 0", "--quiet")
    assert (done.returncode, "78.6 % of the weight): failed" in done.stdout) == (1, True), done


@pytest.mark.parametrize("form", ["--quiet", "--csv"])
@pytest.mark.parametrize("verb", ["evaluate", "decide"])
def test_short_forms_tell_of_rows_left_out_on_standard_error(gaps, verb, form):
    prices = ["--miss", "5", "--false-alarm", "1"] if verb == "decide" else []
    done = command.run(verb, *gaps[:7], *prices, form)
    assert done.returncode == 0, done.stderr
    assert "left out" not in done.stdout
    assert "40 rows with a missing value or weight 0 were left out" in done.stderr


def test_an_old_tally_without_the_number_of_rows_still_loads():
    counted = stakes.count({"y": [0, 1, 1], "p": [0.1, 0.9, None]}, truth="y", score="p", missing="drop")
    saved = counted.to_dict()
    assert saved.pop("read") == 3
    assert type(counted).from_dict(saved).rows_read == 3


def test_conditions_are_read_before_any_row(tmp_path):
    for arguments, words in (
        (("--require", "acu > 0.5"), "there is no metric 'acu'"),
        (("--require", "auc = 0.5"), "is no condition"),
        (("--baseline", "gone2.csv", "--no-worse", "auc:x"), "no worse by 'x'"),
        (("--require", "normalised_cost < 1"), "needs to know what mistakes cost; pass --miss 5 --false-alarm 1"),
        (("--require", "auc > 0.5", "--allow-dropped", "7"), "--allow-dropped 7 is no share"),
    ):
        done = run(tmp_path / "gone.csv", "--truth", "y", "--score", "p", *arguments)
        assert (done.returncode, words in done.stderr) == (2, True), done.stderr
    assert "there is no such file" in run(tmp_path / "gone.csv", *COLUMNS, "--require", "auc > 0.5").stderr


def test_a_condition_that_points_the_wrong_way_is_warned_of():
    done = run(*DEMO, "--require", "brier_score >= 0.1", "--json")
    assert (done.returncode, json.loads(done.stdout)["passed"]) == (0, True)
    assert "stakes: warning: 'brier_score >= 0.1' points the wrong way: a lower brier_score is better" in done.stderr
    assert run(*DEMO, "--require", "brier_score <= 0.5").stderr == ""


def test_a_summary_that_cannot_be_written_does_not_hide_the_verdict(tmp_path):
    file = tmp_path / "nowhere" / "summary.md"
    env = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(file)}
    done = run(*DEMO, "--require", "auc >= 0.99", env=env)
    assert done.returncode == 1
    assert "No: the one condition is not met." in done.stdout
    words = f"stakes: warning: the summary of the job: cannot write {file}: No such file or directory"
    assert done.stderr.splitlines() == [words]


def test_a_hyphen_is_standard_output(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plain = run(*DEMO, "--require", "auc >= 0.8", "--json")
    assert run(*DEMO, "--require", "auc >= 0.8", "--json", "-o", "-").stdout == plain.stdout
    for option in ("--junit", "--report"):
        verb = "gate" if option == "--junit" else "evaluate"
        more = ("--require", "auc >= 0.8") if verb == "gate" else ()
        done = command.run(verb, *DEMO, *more, option, "-")
        assert (done.returncode, done.stderr) == (
            2,
            "stakes: -: only answers are written to standard output; name a file\n",
        )
    assert list(tmp_path.iterdir()) == []


def test_a_model_is_no_baseline_of_its_own(tmp_path):
    stakes.count(str(DEMO_FILE), score="logistic", **OPTIONS).save(tmp_path / "main.tally")
    (tmp_path / "link.csv").symlink_to(DEMO_FILE)
    margin = ("--no-worse", "auc:0.1")
    for asked in (
        (*DEMO, "--baseline-score", "logistic"),
        (*DEMO, "--baseline", DEMO_FILE),
        (*DEMO, "--baseline", tmp_path / "link.csv", "--id", "case"),
        (tmp_path / "main.tally", "--baseline", tmp_path / "main.tally"),
    ):
        done = run(*asked, *margin)
        assert (done.returncode, done.stdout) == (2, ""), done.stdout
        assert done.stderr.startswith("stakes: the baseline is this model itself")
    with pytest.raises(stakes.InputError, match="the baseline is this model itself"):
        stakes.gate(tmp_path / "main.tally", baseline=str(tmp_path / "main.tally"), no_worse="auc:0.1")


# ── configuration ────────────────────────────────────────────────────────────────────────────────────────────────
CONFIG = """
files = ["preds.csv"]
truth = "diagnosis"
score = "logistic"
positive = "malignant"
miss = 5
false-alarm = 1
confidence = 0.9
require = ["auc.low >= 0.80", "expected_cost <= 0.5"]
baseline_score = "neighbours"
no-worse = { normalised_cost = 0.2, auc = 0.05 }
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    shutil.copy(DEMO_FILE, tmp_path / "preds.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "table", "option"),
    [
        ("stakes.toml", "gate", ()),
        ("pyproject.toml", "tool.stakes.gate", ()),
        ("other.toml", "gate", ("--config", "other.toml")),
        ("other.toml", "tool.stakes.gate", ("--config", "other.toml")),
    ],
)
def test_options_stand_in_a_file(folder, file, table, option):
    (folder / file).write_text(f"[{table}]{CONFIG}")
    found, code = told(*option)
    given = ("--no-worse", "normalised_cost:0.2", "--no-worse", "auc:0.05", "--confidence", "0.9")
    conditions = ("--require", "auc.low >= 0.80", "--require", "expected_cost <= 0.5")
    expected, _ = told("preds.csv", *COLUMNS, *COSTS, *conditions, "--baseline-score", "neighbours", *given)
    assert found == expected
    assert (found["confidence"], len(found["checks"]), code) == (0.9, 4, 0)


def test_the_command_line_goes_before_the_file(folder):
    (folder / "stakes.toml").write_text(f"[gate]{CONFIG}")
    (folder / "pyproject.toml").write_text("[tool.stakes.gate]\nrequire = 'auc > 2'\n")  # stakes.toml goes before
    found, code = told("--require", "auc >= 0.99")
    assert [check["condition"] for check in found["checks"]] == [
        "auc >= 0.99",
        "normalised_cost at most 0.2 worse",
        "auc at most 0.05 worse",
    ]
    assert code == 1


def test_a_gate_that_is_whole_takes_nothing_from_the_folder(folder):
    (folder / "stakes.toml").write_text(f"[gate]{CONFIG}")
    found, _ = told("preds.csv", *COLUMNS, "--require", "auc >= 0.5")
    assert [check["condition"] for check in found["checks"]] == ["auc >= 0.5"]
    assert found["confidence"] == 0.95
    again, _ = told("preds.csv", "--config", "stakes.toml", "--require", "auc >= 0.5")
    assert len(again["checks"]) == 3


def test_what_is_wrong_with_an_option_of_a_file_begins_with_its_name(folder):
    lines = ["[gate]", "truth = 'diagnosis'", "score = 'logistic'", "positive = 'ill'", "require = 'auc > 0.5'"]
    (folder / "stakes.toml").write_text("\n".join(lines))
    assert run("preds.csv").stderr.startswith("stakes: stakes.toml: --positive ill ")
    assert run("preds.csv", "--positive", "sick").stderr.startswith("stakes: --positive sick ")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            "[gate]\nrequired = []",
            "stakes.toml: 'required' is no option; did you mean 'require', 'ordered' or 'quiet'?",
        ),
        ("[gate]\nweight = ['a', 'b']", 'stakes.toml: weight has ["a", "b"]; write a text in quotes'),
        ("[gate]\nallow-dropped = true", "stakes.toml: allow-dropped has true; write a number"),
        ("[gate]\nthreshold = true", "stakes.toml: threshold has true; write a number"),
        ("[gate]\nthreshold = 2024-01-01", 'stakes.toml: threshold has "2024-01-01"; write a number'),
        ("[gate]\nconfidence = '0.9'", 'stakes.toml: confidence has "0.9"; write a number'),
        ("[gate]\nseed = true", "stakes.toml: seed has true; write a whole number"),
        ("[gate]\nseed = 1.5", "stakes.toml: seed has 1.5; write a whole number"),
        ("[gate]\nwhere = true", "stakes.toml: where has true; write a text in quotes"),
        ("[gate]\njunit = 5", "stakes.toml: junit has 5; write a text in quotes"),
        ("[gate]\nfiles = [true]", "stakes.toml: files has [true]; write a text in quotes"),
        ("[gate]\nno-worse = {auc = true}", 'stakes.toml: no-worse has {"auc": true}; write a text in quotes'),
        ("[gate]\nexact = 'no'", 'stakes.toml: exact has "no"; write true or false'),
        ("[gate]\nbins = true\nexact = true", "stakes.toml: exact says again what another line says; keep one"),
        ("[gate]\nconfig = 'x'", "stakes.toml: 'config' is no option; did you mean 'confidence'?"),
        ("[tool.stakes]\ngate = 1", "stakes.toml: tool.stakes.gate is no table; write the options below"),
        ("gate = 1", "stakes.toml: gate is no table; write the options below [gate]"),
        ("[gate", "stakes.toml: cannot be read: "),
        ("[gates]\ntruth = 'a'", "stakes.toml: there is no table [gate] or [tool.stakes.gate]"),
    ],
)
def test_configurations_that_do_not_work(folder, content, words):
    (folder / "stakes.toml").write_text(content)
    done = run("--config", "stakes.toml")
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "gone.toml: there is no such file" in run("--config", "gone.toml").stderr


def test_bins_of_a_file_are_bins(folder):
    content = f"[gate]{CONFIG[: CONFIG.index('baseline_score')]}bins = true\n"
    (folder / "stakes.toml").write_text(content)
    told_by_file, _ = told()
    conditions = ("--require", "auc.low >= 0.80", "--require", "expected_cost <= 0.5", "--confidence", "0.9")
    assert told_by_file == told("preds.csv", *COLUMNS, *COSTS, *conditions, "--bins")[0]
    assert told_by_file != told("preds.csv", *COLUMNS, *COSTS, *conditions, "--exact")[0]


# ── GitHub Actions ───────────────────────────────────────────────────────────────────────────────────────────────
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())


@pytest.fixture
def stakes_on_path(tmp_path):
    """An environment in which `stakes` and `python` are these ones."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, what in (("stakes", f"'{sys.executable}' -m stakes"), ("python", f"'{sys.executable}'")):
        (programs / name).write_text(f'#!/bin/sh\nexec {what} "$@"\n')
        (programs / name).chmod(0o755)
    return {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "GITHUB_ACTIONS": "true", "COLUMNS": "100"}


def steps_of(steps, environment, folder, inputs=None):
    """Run the shell commands of steps, but for installations, as GitHub does; return the last outcome."""
    done = None
    for step in steps:
        if step.get("uses") == "./stakes":
            done = steps_of(ACTION["runs"]["steps"], environment, folder, step.get("with"))
        if "run" in step and "pip install" not in step["run"]:
            given = {k: v.replace("${{ inputs.", "").replace(" }}", "") for k, v in step.get("env", {}).items()}
            env = {**environment, **{name: (inputs or {}).get(key, "") for name, key in given.items()}}
            shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
            done = subprocess.run(shell, cwd=folder, env=env, capture_output=True, text=True, timeout=300)
            if done.returncode:
                return done
    return done


@pytest.mark.deep  # the action itself runs in every make test
def test_the_example_workflow_runs(tmp_path, stakes_on_path):
    folder = tmp_path / "example"
    shutil.copytree(ROOT / "examples" / "gate", folder)
    workflow = yaml.safe_load((folder / "workflow.yml").read_text())
    steps = workflow["jobs"]["gate"]["steps"]
    done = steps_of(steps, stakes_on_path, folder)
    assert done.returncode == 0, done.stderr
    assert "Yes: all 5 conditions are met." in done.stdout
    assert ElementTree.parse(folder / "gate.xml").getroot().get("tests") == "5"


@pytest.mark.slow
def test_the_action_runs(folder, stakes_on_path):
    assert ACTION["runs"]["using"] == "composite"
    assert all(step["shell"] == "bash" for step in ACTION["runs"]["steps"])
    (folder / "my gate.toml").write_text(f"[gate]{CONFIG}")
    inputs = {"config": "my gate.toml", "junit": "out put.xml"}
    done = steps_of(ACTION["runs"]["steps"], stakes_on_path, folder, inputs)
    assert done.returncode == 0, done.stderr
    assert "Yes: all 4 conditions are met." in done.stdout
    assert (folder / "out put.xml").exists()
    (folder / "stakes.toml").write_text(f"[gate]{CONFIG.replace('0.80', '0.99')}")
    done = steps_of(ACTION["runs"]["steps"], stakes_on_path, folder)
    assert done.returncode == 1
    assert "::error title=stakes gate%3A" in done.stdout
    values = [value for step in ACTION["runs"]["steps"] for value in step["env"].values()]
    named = {found[1] for value in values if (found := re.search(r"inputs\.([\w-]+)", value))}
    assert named | {"working-directory"} == set(ACTION["inputs"])


def test_nothing_installs_stakes_by_a_name_from_an_index():
    workflow = yaml.safe_load((ROOT / "examples" / "gate" / "workflow.yml").read_text())
    steps = [*ACTION["runs"]["steps"], *workflow["jobs"]["gate"]["steps"]]
    installs = [step for step in steps if "pip install" in step.get("run", "")]
    asked = [word for step in installs for word in step["run"].partition("pip install")[2].split()]
    assert asked == ["--quiet", '"$STAKES_SOURCE"', "scikit-learn"]
    assert installs[0]["env"] == {"STAKES_SOURCE": "${{ github.action_path }}"}


def test_figures_may_be_named_as_the_text_names_them():
    ev = stakes.evaluate(truth=[1, 0, 1, 0], score=[0.9, 0.2, 0.6, 0.7])
    for name, asked in {"balanced_accuracy": "balanced accuracy", "log_loss": "log loss", "auc": "AUC"}.items():
        sign = "<=" if asked == "log loss" else ">="
        (check,) = stakes.gate(ev, require=[f"{asked} {sign} 0.3"]).checks
        assert check.seen == ev[name].value


@pytest.mark.parametrize(
    "how",
    [["--bins"], ["--exact"], ["--bins", "--frequency", "times"], ["--bins", "--auc-error", "1e-6"]],
    ids=" ".join,
)
def test_a_model_in_bins_is_its_own_on_the_same_rows(how, tmp_path):
    """Both are counted as was asked; where rows are read one of the two has no bins."""
    rng = np.random.default_rng(0)
    truth = rng.random(400) < 0.4
    scores = [rng.beta(2, 2, 400) * (1 - part) + part * truth for part in (0.3, 0.2)]
    lines = [",".join(map(str, row)) for row in zip(truth.astype(int), *scores, rng.integers(1, 4, 400), strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["y,p,q,times", *lines]))
    asked = [tmp_path / "rows.csv", "--truth", "y", "--score", "p", "--baseline-score", "q", "--no-worse", "auc:0.01"]
    plain, _ = told(*asked, *(how[1:] if "--frequency" in how else []))
    found, code = told(*asked, *how)
    assert code == 0
    assert found["checks"][0]["seen"] == pytest.approx(plain["checks"][0]["seen"], abs=1e-3)
