"""Sheets are read like separated text: words for missing values, text cells with numbers, titles, names of columns."""

import datetime
import os
import warnings

import numpy as np
import pytest

import stakes
from tests import spreadsheet
from tests.command import run

if not os.environ.get("CI"):  # where a missing part is a failure
    pytest.importorskip("fastexcel")

ROWS = [["y", "p"], ["yes", 0.1 + 0.2], ["no", 0.25], ["yes", 0.625], ["no", 0.75]]
FIT = {"truth": "y", "score": "p", "positive": "yes"}


def evaluated(path, **more):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = stakes.evaluate(path, **{**FIT, **more})
    return found, " ".join(str(one.message) for one in caught)


@pytest.fixture
def book(tmp_path):
    return lambda rows, **others: spreadsheet.write(tmp_path / "a.xlsx", data=rows, **others)


def brier(scores):
    truth = np.array([row[0] == "yes" for row in ROWS[1:]])
    return float(((np.array(scores) - truth) ** 2).mean())


@pytest.mark.parametrize(
    ("cells", "scores", "found"),
    [
        (["0,9", "0,25", "0,625", "0,75"], [0.9, 0.25, 0.625, 0.75], "decimal commas; pass decimal=','"),
        (["90 %", "25%", "62.5%", "75%"], [0.9, 0.25, 0.625, 0.75], "percentages in 'p'; pass percent=True"),
        (["90 %", "25%", "62,5%", "75%"], [0.9, 0.25, 0.625, 0.75], "decimal commas and percentages in 'p'"),
    ],
)
def test_text_cells_with_numbers(book, cells, scores, found):
    path = book([ROWS[0], *([row[0], cell] for row, cell in zip(ROWS[1:], cells, strict=True))])
    ev, said = evaluated(path)
    assert ev["brier_score"].value == pytest.approx(brier(scores), rel=1e-15)
    assert found in said
    more = {"decimal": ","} if "," in cells[0] + cells[2] else {}
    again, said = evaluated(path, **more, **({"percent": True} if "%" in cells[0] else {}))
    assert (again["auc"], said) == (ev["auc"], "")


@pytest.mark.parametrize("word", ["NA", "N/A", "nan", None])
def test_words_for_missing_values_are_those_of_text_files(book, tmp_path, word):
    rows = [*ROWS, [word, 0.3], ["no", word]]
    (tmp_path / "a.csv").write_text("\n".join(",".join(str(cell or "") for cell in row) for row in rows))
    for path in (book(rows), tmp_path / "a.csv"):
        ev, _ = evaluated(path, missing="drop")
        assert (ev.rows, ev.counted.dropped) == (4, 2)
        assert ev["brier_score"].value == pytest.approx(brier([row[1] for row in ROWS[1:]]), rel=1e-15)


def test_other_words_for_missing_values_keep_all_digits(book):
    third = 1 / 3
    path = book([["y", "p"], ["yes", third], ["NA", 0.25], ["yes", "?"], ["NA", 0.75]])
    ev, _ = evaluated(path, missing="drop", na=["", "?"])
    assert (ev.negative, ev.rows) == ("NA", 3)
    assert ev["brier_score"].value == pytest.approx(((1 - third) ** 2 + 0.25**2 + 0.75**2) / 3, rel=1e-15)


def test_truth_values_and_codes(book):
    path = book([["y", "p"], [True, 0.9], [False, 0.25], ["NA", 0.5]])
    assert evaluated(path, missing="drop", positive=None)[0].positive == "true"
    path = book([["y", "p"], ["007", 0.9], ["7", 0.25], ["NA", 0.5]])
    assert evaluated(path, missing="drop", positive="007")[0].negative == "7"


def test_days_name_segments(book, tmp_path):
    days = [datetime.datetime(2026, month, 1) for month in (1, 1, 2, 2)]
    rows = [[*ROWS[0], "day"], *([*row, day] for row, day in zip(ROWS[1:], days, strict=True))]
    ev, _ = evaluated(book(rows), by="day")
    assert {name: one.rows for name, one in ev.segments.items()} == {"2026-01-01": 2, "2026-02-01": 2}
    assert evaluated(book(rows), where="day >= '2026-02-01'")[0].rows == 2
    rows = [rows[0], *([y, p, day + datetime.timedelta(hours=5)] for y, p, day in rows[1:])]
    assert "2026-01-01 05:00:00" in evaluated(book(rows), by="day")[0].segments


def test_titles_row_names_and_empty_columns(book):
    title = [["Export of the laboratory"], [], *ROWS]
    with pytest.raises(stakes.InputError, match=r"named in row 3 of sheet 'data', below something else; pass skip=2"):
        evaluated(book(title))
    for rows, more in (
        (title, {"skip": 2}),
        ([[None if i == 0 else i - 1, *row] for i, row in enumerate(ROWS)], {}),  # as pandas writes its index
        ([[], *([None, *row, None] for row in ROWS)], {}),
    ):
        assert evaluated(book(rows), **more)[0]["auc"].value == 0.5
    with pytest.raises(stakes.InputError, match=r"row 8 of the sheet"):
        evaluated(book([*title, ["no", "oops"]]), skip=2)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([["y", "p", "p"], ["yes", 0.5, 0.1]], r"a\.xlsx: the table has several columns called 'p'; rename them"),
        ([["y", "p", None], ["yes", 0.5, None], ["no", None, 0.1]], "column 3 of sheet 'data' holds values and has no"),
        ([["y", "p", None], ["yes", 0.5, 0.5], ["no", 0.25, 0.75]], r"column 3 .* has no name \(merged cells\?\)"),
        ([[], []], "sheet 'data' is empty"),
        ([*ROWS, ["no", "oops"]], r"no number \('oops'; the first is in .*a\.xlsx, row 6 of the sheet\)"),
        ([*ROWS, ["no", None]], r"score is missing in 1 row \(the first is in .*a\.xlsx, row 6 of the sheet\)"),
    ],
)
def test_what_is_wrong_is_told_by_the_row_of_the_sheet(book, rows, words):
    with pytest.raises(stakes.InputError, match=words):
        evaluated(book(rows))


def test_an_empty_sheet_before_another_and_files_that_no_reader_opens(book, tmp_path):
    path = book([], Daten=ROWS)
    with pytest.raises(stakes.InputError, match=r"sheet 'data' is empty; name another, such as .*a\.xlsx::Daten"):
        evaluated(path)
    (tmp_path / "old.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    with pytest.raises(stakes.InputError, match=r"an old kind, or locked by a password; save it as \.xlsx"):
        evaluated(tmp_path / "old.xls")


def test_other_sheets_are_told(book, tmp_path):
    path = book(ROWS, Tabelle2=[["a"]], Tabelle3=[["a"]])
    _, said = evaluated(path)
    assert "the first sheet is read, and not 'Tabelle2' and 'Tabelle3'; name the one that is meant, such as" in said
    assert f"{path}::Tabelle2" in said
    with pytest.raises(
        stakes.InputError, match=r"no column 'z'.*; the first sheet was read, '.*a\.xlsx::Tabelle2' names"
    ):
        stakes.evaluate(path, truth="y", score="z")
    assert evaluated(f"{path}::data")[1] == ""
    done = run("columns", path)
    assert "Tabelle2" in done.stderr + done.stdout
