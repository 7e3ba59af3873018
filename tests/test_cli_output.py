"""The forms of an answer, help, completion, and what is installed."""

import csv
import importlib
import io
import json
import os
import re
import shlex
import subprocess
import sys

import pytest
from click.testing import CliRunner

import stakes
from stakes.cli import cli
from stakes.evaluation.recalibrating import calibrate
from stakes.views import csv as as_csv
from stakes.views import markdown
from tests.command import DEMO_FILE, DEMO_FILES, run
from tests.parts import all_told

COLUMNS = ("--truth", "diagnosis", "--score", "logistic", "--positive", "malignant")
DEMO = (str(DEMO_FILE), *COLUMNS)
OPTIONS = {"truth": "diagnosis", "score": "logistic", "positive": "malignant"}


def invoke(*arguments):
    done = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def read(text):
    return list(csv.DictReader(io.StringIO(text)))


# ── CSV ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_csv_has_every_figure_with_all_its_digits():
    rows = read(invoke("evaluate", *DEMO, "--by", "size", "--csv"))
    ev = stakes.evaluate(str(DEMO_FILE), **OPTIONS, by="size")
    assert len(rows) == len(ev.to_rows())
    (auc,) = [row for row in rows if row["metric"] == "auc" and row["segment"] == "small"]
    assert float(auc["value"]) == ev.segments["small"]["auc"].value
    assert float(auc["low"]) == ev.segments["small"]["auc"].low


@pytest.mark.parametrize(
    ("start", "shown"),
    [*((sign, f"'{sign}") for sign in "=+-@＝＋－＠"), ("\t", "\\t"), ("\r", "\\r"), ("a\n=", "a\\n=")],
)
def test_text_that_a_spreadsheet_would_run_is_neutralised(tmp_path, start, shown):
    name, wanted = (f"{begin}cmd|' /C calc'!A0" for begin in (start, shown))
    (cell,) = [row["a"] for row in read(as_csv.of_rows([{"a": name, "b": -1.5}]))]
    assert cell == wanted
    assert (
        as_csv.of_rows([{"a": "x=1", "b": -1.5, "c": None, "d": float("nan"), "e": -2}]) == "a,b,c,d,e\nx=1,-1.5,,,-2"
    )
    file = tmp_path / "preds.csv"
    out = io.StringIO()
    csv.writer(out).writerows([["y", "p", "ward"], *([i % 2, i / 40, name] for i in range(40))])
    file.write_text(out.getvalue(), newline="")
    rows = read(invoke("evaluate", file, "--truth", "y", "--score", "p", "--by", "ward", "--csv"))
    assert {row["segment"] for row in rows} == {"", wanted}


@pytest.mark.parametrize(
    ("arguments", "first", "count"),
    [
        (("decide", *DEMO, "--miss", "5", "--false-alarm", "1"), "way", 5),
        (("compare", str(DEMO_FILE), *COLUMNS, "--score", "neighbours"), "first", 1),
        (("permute", *DEMO, "--permutations", "99"), "metric", 1),
        (("calibrate", *DEMO), "method", 6),
        (("system", DEMO_FILES / "clinic_and.toml"), "model", 8),
        (("metrics",), "name", len(stakes.metrics.catalogue())),
        (("doctor",), "name", 15),
    ],
)
def test_every_verb_has_rows(arguments, first, count):
    rows = read(invoke(*arguments, "--csv"))
    assert next(iter(rows[0])) == first
    assert len(rows) == count
    table = [line for line in invoke(*arguments, "--markdown").splitlines() if line.startswith("|")]
    assert len(table) > 2
    assert invoke(*arguments, "--json").startswith("{")


def test_rows_of_a_decision_are_its_alternatives():
    choice = stakes.decide(str(DEMO_FILE), **OPTIONS, costs=stakes.Costs(miss=5, false_alarm=1))
    rows = {row["way"]: row for row in choice.to_rows()}
    assert rows["always benign"]["value"] == choice.alternatives["always benign"].value
    assert rows["always benign"]["saving_low"] == choice.savings["always benign"].low
    assert next(iter(rows.values()))["high"] == choice.corrected.high


# ── Markdown ─────────────────────────────────────────────────────────────────────────────────────────────────────
def test_markdown_means_what_it_says():
    assert markdown.text("a|b <i> `x` *y* [z] # & c") == "a\\|b &lt;i&gt; \\`x\\` \\*y\\* \\[z\\] \\# &amp; c"
    assert markdown.text("_a_b_ ~c~\n$1") == "\\_a_b\\_ \\~c\\~\\\\n<span>$</span>1"
    assert markdown.text("@me #1 a://b www.c :d:") == (
        "@<!-- -->me \\#<!-- -->1 a:<!-- -->//b www<!-- -->.c :<!-- -->d:"
    )
    assert [markdown.paragraph(text) for text in ("1. a", "- b", "---", "0.5 c", "-1 d")] == [
        *("1\\. a", "\\- b", "\\---", "0.5 c", "-1 d")
    ]
    table = markdown.of_rows([{"name": "a|b", "n": 3, "x": 0.5, "no": None, "ok": True}])
    assert table == "| name | n | x | ok |\n| :-- | :-- | :-- | :-- |\n| a\\|b | 3 | 0.5000 | yes |"
    text = invoke("evaluate", *DEMO, "--markdown")
    assert text.startswith("**malignant or benign?**\n\n569 rows · 37.3% are “malignant”")
    assert "- ✓ **Is it better than a guess that ignores the input?** Yes, and chance alone" in text
    assert "| AUC | 0.8382 | 0.8006 – 0.8691 | 0.5000 |" in text


# ── one line, and files ──────────────────────────────────────────────────────────────────────────────────────────
def test_quiet_is_the_essential_line(tmp_path):
    ev = stakes.evaluate(str(DEMO_FILE), **OPTIONS)
    digits = [f"{getattr(ev['auc'], name):.6g}" for name in ("value", "low", "high")]
    line = "AUC {}, 95% interval {} to {} (ignoring the input: 0.5)\n"
    assert invoke("evaluate", *DEMO, "--quiet") == line.format(*digits)
    assert invoke("evaluate", *DEMO, "--quiet", "--lang", "es").startswith("AUC 0,838196, intervalo del 95")
    both = stakes.compare(str(DEMO_FILE), truth="diagnosis", positive="malignant", scores=["logistic", "neighbours"])
    assert invoke("compare", str(DEMO_FILE), *COLUMNS, "--score", "neighbours", "--quiet") == f"{both.conclusion}\n"
    assert invoke("decide", *DEMO, "--best", "f1", "--quiet").startswith("“malignant” from score 0.5 on")
    assert invoke("system", DEMO_FILES / "clinic_and.toml", "--quiet").startswith(
        "“history”: if it were always right, the system would"
    )
    fitted = calibrate(str(DEMO_FILE), **OPTIONS)
    first = fitted.findings[0]
    assert invoke("calibrate", *DEMO, "--quiet") == f"Can the probabilities be taken at face value? {first.words[0]}\n"
    assert invoke("count", *DEMO, "-o", tmp_path / "m.tally", "--quiet") == ""
    assert (tmp_path / "m.tally").exists()


@pytest.mark.parametrize(
    ("suffix", "form"), [(".json", "--json"), (".csv", "--csv"), (".md", "--markdown"), (".txt", "")]
)
def test_a_file_takes_the_form_of_its_name(tmp_path, suffix, form):
    file = tmp_path / f"out{suffix}"
    assert invoke("evaluate", *DEMO, "-o", file) == ""
    expected = invoke("evaluate", *DEMO, *([form] if form else []))
    assert [line.rstrip() for line in file.read_text().splitlines()] == [
        line.rstrip() for line in expected.rstrip().splitlines()
    ]
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize("name", ["out.txt", "out", "out.2024"])
def test_a_form_that_is_named_goes_before_a_name_that_promises_nothing_else(tmp_path, name):
    invoke("metrics", "auc", "--json", "-o", tmp_path / name)
    assert json.loads((tmp_path / name).read_text())["metrics"][0]["name"] == "auc"


def test_files_that_cannot_be_written(tmp_path):
    rows = tmp_path / "preds.csv"
    rows.write_bytes(DEMO_FILE.read_bytes())
    before = rows.read_bytes()
    done = run("evaluate", rows, *COLUMNS, "-o", rows)
    assert done.returncode == 2
    assert "never written over" in done.stderr
    assert rows.read_bytes() == before
    done = run("evaluate", *DEMO, "-o", tmp_path / "nowhere" / "x.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "the folder to write to does not exist" in done.stderr
    done = run("evaluate", *DEMO, "--json", "--quiet")
    assert done.returncode == 2
    assert "--json and --quiet are two forms; choose one." in done.stderr
    done = run("evaluate", "gone.csv", *COLUMNS, "-o", tmp_path / "kept.json")
    assert done.returncode == 2
    assert not (tmp_path / "kept.json").exists()


# ── help, completion, colours ────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("command", sorted(cli.commands))
def test_help_has_an_example_that_names_real_options(command):
    text = invoke(command, "--help")
    assert re.search(r"Examples?:", text)
    assert f"stakes {command}" in text
    known = {name for option in cli.commands[command].params for name in (*option.opts, *option.secondary_opts)}
    examples = " ".join(line for line in text.partition("Example")[2].splitlines() if "stakes " + command in line)
    assert set(re.findall(r"(?<= )--[a-z-]+", examples)) <= known


def test_the_help_of_all_says_how_to_complete():
    text = invoke("--help")
    assert 'eval "$(_STAKES_COMPLETE=bash_source stakes)"' in text
    assert all(re.search(rf"^  {name} ", text, re.M) for name in cli.commands)


@pytest.mark.slow
def test_bash_completes_commands_and_options(tmp_path):
    program = tmp_path / "stakes"
    program.write_text(f"#!{sys.executable}\nfrom stakes.cli import main\nmain()\n")
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    script = """
    eval "$(_STAKES_COMPLETE=bash_source stakes)"
    for words in "stakes ga" "stakes gate --req" "stakes evaluate --cl"; do
        COMP_WORDS=($words); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
        _stakes_completion stakes "${COMP_WORDS[COMP_CWORD]}"
        echo "${COMPREPLY[@]}"
    done
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=environment, timeout=60)
    assert done.stdout.splitlines() == ["gate", "--require", "--cluster --class"], done.stderr


COLOUR = r"\x1b\[[0-9;]*3[0-7]"


def in_terminal(arguments, env):
    pty = importlib.import_module("pty")
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "stakes", *arguments]
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "TERM")}
    environment = {**clean, "COLUMNS": "100", "TERM": "xterm-256color", **env}
    process = subprocess.Popen(command, stdout=child, stderr=child, env=environment)
    os.close(child)
    text = all_told(parent)
    assert process.wait(timeout=60) == 0
    os.close(parent)
    return text


@pytest.mark.slow
def test_colours_only_on_a_terminal_that_wants_them():
    gate = ["gate", *DEMO, "--require", "auc.low >= 0.8", "--require", "brier_score < 0.5"]
    assert re.search(COLOUR, in_terminal(gate, {}))
    assert not re.search(COLOUR, in_terminal(gate, {"NO_COLOR": "1"}))
    assert "\x1b[" not in run(*gate).stdout
    assert "\x1b[" not in run("evaluate", *DEMO, "--json", env={"FORCE_COLOR": "1"}).stdout


# ── doctor ───────────────────────────────────────────────────────────────────────────────────────────────────────
def test_doctor_tells_versions_and_what_is_missing(monkeypatch):
    found = json.loads(invoke("doctor", "--json"))
    parts = {part["name"]: part for part in found["parts"]}
    assert found["version"] == stakes.__version__
    assert parts["numpy"]["version"] == importlib.import_module("numpy").__version__
    assert parts["scikit-learn"]["install"] is None
    doctor = importlib.import_module("stakes.cli.doctor")
    real = doctor.util.find_spec
    monkeypatch.setattr(doctor.util, "find_spec", lambda name: None if name == "sklearn" else real(name))
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    found = json.loads(invoke("doctor", "--json"))
    parts = {part["name"]: part for part in found["parts"]}
    assert parts["scikit-learn"]["version"] is None
    assert parts["scikit-learn"]["install"] == "pip install scikit-learn"
    assert "openjdk-17" in parts["java"]["install"]
    assert "pip install scikit-learn" in invoke("doctor")


def test_warnings_are_one_line_and_said_once(tmp_path, monkeypatch):
    (tmp_path / "loud.py").write_text(
        "import warnings\nfrom sklearn.dummy import DummyClassifier\n"
        "class Loud(DummyClassifier):\n    def fit(self, X, y):\n"
        "        warnings.warn('one\\ntwo', stacklevel=1)\n        return super().fit(X, y)\n"
    )
    rows = "".join(f"{i % 2},{i}\n" for i in range(20))
    (tmp_path / "d.csv").write_text("y,x\n" + rows)
    monkeypatch.syspath_prepend(tmp_path)
    done = run("validate", tmp_path / "d.csv", "--estimator", "loud:Loud", "--target", "y", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == "stakes: warning: one\n"


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (
            "evaluate --positive malignant --by size --truth=diagnosis FILE --score logistic --missing drop --lang es "
            "--json -oFOLDER/out.json",
            "evaluate FILE --truth diagnosis --score logistic --by size --missing drop --positive malignant",
        ),
        (
            "compare FILE --truth diagnosis --score logistic --score neighbours --positive malignant --quiet",
            "compare FILE --truth diagnosis --positive malignant --score logistic --score neighbours",
        ),
        (
            "decide FILE --bins --truth diagnosis --score logistic --positive malignant --best 'recall >= 0.9'",
            "decide FILE --truth diagnosis --score logistic --bins --positive malignant --best 'recall >= 0.9'",
        ),
    ],
)
def test_a_report_is_about_what_was_asked(typed, told, tmp_path):
    words = shlex.split(typed.replace("FILE", str(DEMO_FILE)).replace("FOLDER", str(tmp_path)))
    done = CliRunner().invoke(cli, [*words, "--report", str(tmp_path / "out.html")])
    assert done.exit_code == 0, done.output
    about = re.search(r'"about": ?("(?:[^"\\]|\\.)*")', (tmp_path / "out.html").read_text())[1]
    assert json.loads(about) == f"stakes {told.replace('FILE', str(DEMO_FILE))}"


def test_names_from_the_data_are_not_taken_for_options(tmp_path):
    """Advice is worded for the command line; a class that looks like an argument stays what it is."""
    file = tmp_path / "odd.csv"
    file.write_text("y,p\n" + "by=hand,7\nscore=low,2\n" * 60)
    asked = ["evaluate", str(file), "--truth", "y", "--score", "p", "--positive", "by=hand"]
    for form in ([], ["--markdown"]):
        shown = CliRunner().invoke(cli, [*asked, *form]).output
        assert "by=hand" in shown
        assert "--by" not in shown
        assert "pass --threshold" in shown
        assert "threshold=" not in shown


@pytest.mark.parametrize("verb", ["evaluate", "permute"])
def test_the_advice_about_gaps_names_commands_that_can_follow_it(verb, tmp_path):
    file = tmp_path / "gaps.csv"
    file.write_text("y,p\n1,0.5\n0,\n1,0.7\n0,0.1\n")
    done = run(verb, file, "--truth", "y", "--score", "p")
    assert done.returncode == 2
    assert "leave those rows out with --missing drop" in done.stderr
    assert "missing" in {option.name for option in cli.commands[verb].params}


def test_semicolons_are_noticed_also_beside_commas(tmp_path):
    file = tmp_path / "excel.csv"
    file.write_text("id;y;p, new\n1;1;0,5\n2;0;0,3\n")
    done = run("evaluate", file, "--truth", "y", "--score", "p, new")
    assert done.returncode == 2
    assert "its fields may be separated by ';' or ','; pass --separator ';'" in done.stderr
