"""The first five minutes of people with a file of their own, which another program wrote."""

import json
import shlex
from pathlib import Path

import pandas as pd
import pytest
from sklearn.metrics import brier_score_loss, roc_auc_score

import stakes
from tests.command import run

FILES = Path(__file__).parent / "files"
FIT = ["--truth", "Befund", "--score", "Wahrscheinlichkeit", "--positive", "ja"]
WINDOWS = ["--encoding", "windows-1252"]


@pytest.fixture(scope="module")
def figures():
    rows = pd.read_csv(FILES / "plain.csv")
    sick = rows.Befund == "ja"
    return {
        "auc": roc_auc_score(sick, rows.Wahrscheinlichkeit),
        "brier": brier_score_loss(sick, rows.Wahrscheinlichkeit),
    }


@pytest.mark.parametrize(
    ("name", "options", "found"),
    [
        ("plain.csv", [], ""),
        ("pandas.csv", WINDOWS, "fields separated by ';' and decimal commas; pass --separator ';' and --decimal ,"),
        ("pandas.csv", [*WINDOWS, "--separator", ";", "--decimal", ","], ""),
        ("prozent.csv", [], "fields separated by ';' and decimal commas and percentages in 'Wahrscheinlichkeit'"),
        ("utf16.txt", [], "fields separated by a tab and decimal commas; pass --separator tab and --decimal ,"),
        ("libreoffice.csv", WINDOWS, "fields separated by ';'; pass --separator ';' to be sure"),
        ("libreoffice.xlsx", [], ""),
        ("r_csv2.csv", WINDOWS, "fields separated by ';' and decimal commas"),
        ("r_table.txt", ["--separator", "tab"], ""),
        ("r_rownames.csv", [], ""),
    ],
)
def test_files_of_other_programs_give_the_same_figures(name, options, found, figures):
    done = run("evaluate", FILES / name, *FIT, *options, "--json")
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)["figures"]
    assert shown["auc"]["value"] == pytest.approx(figures["auc"], rel=1e-12)
    assert shown["brier_score"]["value"] == pytest.approx(figures["brier"], rel=1e-12)
    assert (found in done.stderr) if found else done.stderr == ""


def test_a_clinician_is_led_to_the_answer():
    """Each message says what to type next."""
    first = run("evaluate", FILES / "pandas.csv", *FIT[:4])
    assert first.returncode == 2
    assert "line 1 is not UTF-8; pass --encoding windows-1252 if a program of Windows wrote it" in first.stderr
    second = run("evaluate", FILES / "pandas.csv", *FIT[:4], *WINDOWS)
    assert "pass --positive nein or --positive ja" in second.stderr
    third = run("evaluate", FILES / "pandas.csv", *FIT, *WINDOWS, "--where", '"Größe (cm)" > 170.5')
    assert third.returncode == 0, third.stderr
    rows = pd.read_csv(FILES / "plain.csv")
    assert f"\n{(rows['Größe (cm)'] > 170.5).sum()} rows · " in third.stdout


def test_an_engineer_uses_the_words_of_scikit_learn():
    rows = pd.read_csv(FILES / "plain.csv")
    with pytest.raises(stakes.InputError, match="here it is called truth=, y_score score=; pass those"):
        stakes.evaluate(y_true=rows.Befund, y_score=rows.Wahrscheinlichkeit)
    ev = stakes.evaluate(truth=rows.Befund, score=rows.Wahrscheinlichkeit, positive="ja")
    assert ev["AUC"] == ev["roc_auc"] == ev["auc"]
    assert ev["acc"] == ev["accuracy"]


def test_an_analyst_has_a_spreadsheet_with_other_sheets(tmp_path):
    book = tmp_path / "a.xlsx"
    book.write_bytes((FILES / "libreoffice.xlsx").read_bytes())
    assert run("evaluate", f"{book}::plain", *FIT).returncode == 0
    done = run("evaluate", f"{book}::Tabelle2", *FIT)
    assert (done.returncode, "there is no sheet 'Tabelle2'; there is 'plain'" in done.stderr) == (2, True), done.stderr


def test_a_file_tells_its_columns_and_what_to_type():
    done = run("columns", FILES / "pandas.csv", *WINDOWS, "--separator", ";", "--decimal", ",")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["column", "kind", "missing", "values"]
    assert [line.split("  ")[0] for line in lines[1:6]] == list(pd.read_csv(FILES / "plain.csv").columns)
    assert lines[3].split() == ["Befund", "text", "0", "ja,", "nein"]
    assert "0.014 to 0.982, 57 different" in lines[4]
    said = "--separator ';' --decimal , --encoding windows-1252"
    roles = "--truth Befund --score Wahrscheinlichkeit --positive ja"
    assert lines[-1] == f"next: stakes evaluate {FILES / 'pandas.csv'} {said} {roles}"


def next_of(done):
    """The command that is suggested, as words of the shell after the name of the program."""
    (line,) = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("next: ")]
    return shlex.split(line)[2:]


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("evaluate", []),
        ("evaluate", ["--by", "Ort"]),
        ("compare", []),
        ("gate", []),
        ("gate", ["--require", "auc >= 0.6"]),
        ("decide", []),
        ("decide", ["--best", "f1"]),
        ("permute", ["--permutations", "50"]),
        ("count", ["-o", "a.tally"]),
        ("report", ["-o", "a.html"]),
        ("columns", []),
    ],
)
def test_the_next_command_runs_as_it_is_printed(tmp_path, monkeypatch, verb, options):
    """With everything that was typed: how the file is written, too."""
    monkeypatch.chdir(tmp_path)
    rows = pd.read_csv(FILES / "plain.csv").assign(Ort=[f"Ort {i // 2}" for i in range(60)])
    if verb == "compare":
        rows["Zweites"] = rows.Wahrscheinlichkeit**2
    Path("a file.csv").write_bytes(("Export\n\n" + rows.to_csv(index=False, sep=";")).encode("windows-1252"))
    first = run(verb, "a file.csv", *options, *WINDOWS)
    assert "the columns are named in line 3, below something else; pass --skip 2" in first.stderr
    command = next_of(run(verb, "a file.csv", *options, *WINDOWS, "--skip", "2"))
    done = run(*command)
    assert done.returncode == 0, done.stderr


def test_the_next_command_of_standard_input_and_of_classes(tmp_path):
    text = (FILES / "plain.csv").read_text()
    done = run("evaluate", "-", input=text)
    assert next_of(done)[:2] == ["evaluate", "-"]
    assert run(*next_of(done), input=text).returncode == 0
    (tmp_path / "a.csv").write_text("y,first,second\na,a,b\nb,b,b\nc,c,a\na,a,a\n")
    done = run("compare", tmp_path / "a.csv")
    assert run(*next_of(done)).returncode == 0, next_of(done)


@pytest.mark.parametrize("verb", ["evaluate", "decide", "gate", "permute", "count", "report"])
def test_a_command_without_a_truth_lists_the_columns(verb, tmp_path):
    needed = {"gate": ["--require", "auc > 0"]}
    more = needed.get(verb, []) + (["-o", tmp_path / "a.tally"] if verb == "count" else [])
    more += ["-o", tmp_path / "a.html"] if verb == "report" else []
    done = run(verb, FILES / "plain.csv", *more)
    assert (done.returncode, done.stdout) == (2, "")
    *listed, last = done.stderr.splitlines()
    assert listed[-1].startswith(f"next: stakes {verb} ")
    assert "Befund" in listed[3]
    assert last == "stakes: --truth COLUMN says what really happened, and is not given; the columns are above"


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("y,p\n1,0.5\n0,0.25\n1,0.75\n", {"truth": "y", "score": "p"}),
        ("label,pred\na,a\nb,a\na,b\n", {"truth": "label", "prediction": "pred"}),
        ("a,b\n1.5,2.5\n2.25,3.5\n", {}),
        ("y_true,y_pred\n1.5,2.5\n2.25,3.5\n", {"truth": "y_true", "prediction": "y_pred"}),
        ("u,v,w\nx,0.5,0.5\nz,0.25,0.75\n", {"truth": "u"}),  # two may be the score
    ],
)
def test_columns_are_told_by_their_names_and_values(tmp_path, text, roles):
    path = tmp_path / "a.csv"
    path.write_text(text)
    assert json.loads(run("columns", path, "--json").stdout)["roles"] == roles


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["evaluate", "https://example.org/a.csv", *FIT], "https://example.org/a.csv: files are read from this"),
        (["evaluate", "~/a.csv", *FIT], "~ is a sign of the shell's; write the whole path"),
        (
            ["evaluate", FILES / "plain.csv", *FIT, "--costs", "costs.json"],
            "it is JSON, and TOML is wanted; write lines",
        ),
        (
            ["decide", FILES / "plain.csv", *FIT, "--miss", "5,5", "--false-alarm", "1"],
            "5,5 is no number here; write 5.5",
        ),
        (["evaluate", FILES / "plain.csv", *FIT, "--where", 'Befund = "ja"'], "write it in single quotes"),
        (
            ["evaluate", FILES / "plain.csv", *FIT, "--class", "ja,nein"],
            "--class ja,nein is one name with commas; pass --class ja --class nein",
        ),
    ],
)
def test_messages_lead_to_the_fix(tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    Path("costs.json").write_text('{"miss": 5, "false_alarm": 1}')
    done = run(*words)
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr


def test_columns_says_how_far_it_looked(tmp_path):
    file = tmp_path / "long.csv"
    file.write_text("y,p\n" + "1,0.5\n" * 10_000 + "maybe,\n")
    told = run("columns", file).stdout
    assert "(of the first 10,000 rows; others may hold more)" in told
    file.write_text("y,p\n" + "1,0.5\n" * 9_999)
    assert "of the first" not in run("columns", file).stdout
