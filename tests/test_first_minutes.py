"""The first five minutes of people with a file of their own, which another program wrote."""

import json
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
        ("pandas.csv", WINDOWS, "fields separated by ';' and decimal commas; pass --separator ';', --decimal ,"),
        ("pandas.csv", [*WINDOWS, "--separator", ";", "--decimal", ","], ""),
        ("prozent.csv", [], "fields separated by ';' and decimal commas and percentages in 'Wahrscheinlichkeit'"),
        ("utf16.txt", [], "fields separated by a tab and decimal commas; pass --separator tab, --decimal ,"),
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
    assert f"rows       {(rows['Größe (cm)'] > 170.5).sum()}" in third.stdout


def test_an_engineer_uses_the_words_of_scikit_learn():
    rows = pd.read_csv(FILES / "plain.csv")
    with pytest.raises(stakes.InputError, match="here it is called truth=; pass that"):
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
