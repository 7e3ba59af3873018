"""How text files are written is found by a rule, asked for where two answers fit, and can be said."""

import gzip
import json
import warnings

import pandas as pd
import polars as pl
import pytest

import stakes
from stakes.engines.files.dialect import find_dialect
from stakes.engines.files.reading import read
from stakes.engines.files.text_format import TextFormat, in_format
from tests.command import run
from tests.spreadsheet import write

ROWS = [("yes", 0.9), ("no", 0.25), ("yes", 0.625), ("no", 0.75)]
FIT = {"truth": "y", "score": "p", "positive": "yes"}
AUC = 0.75


def written(separator=",", decimal=".", ends="\n", percent="", title=""):
    shown = [(y, f"{100 * p:g} %" if percent else f"{p:g}") for y, p in ROWS]
    lines = ["y" + separator + "p", *(y + separator + p.replace(".", decimal) for y, p in shown)]
    return title + "".join(line + ends for line in lines)


def evaluated(path, **more):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = stakes.evaluate(path, **FIT, **more)
    return found, " ".join(str(one.message) for one in caught)


# ── the rule ─────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("text", "separator", "decimal"),
    [
        ("a,b\n1,2\n", ",", "."),
        ("a;b\n1,5;2\n", ";", ","),
        ("a;b\n1.5;2\n", ";", "."),
        ("a\tb\n1,5\t2\n", "\t", ","),
        ("a|b\n1|2\n", "|", "."),
        ("a,b;c\n1,2\n", ",", "."),  # only commas part the rows alike
        ("Name, first;age\nAnn;3\n", ";", "."),
        ('"a;b",c\n1,2\n', ",", "."),  # a separator within quotes is none
        ("a\n1\n", ",", "."),
        ("a;b\n1,234;5\n", ";", "."),  # thousands, perhaps: not a sure decimal comma
        ("a;b\n1,234;5\n0,5;6\n", ";", ","),
        ("a;b\n1,5;2.5\n", ";", "."),  # both signs in use: nothing is sure
        ('a,b\n"1,5","2"\n', ",", ","),
        ("a;b\n01.02.2026;1,5\n", ";", ","),  # a date is no number
        ("a;b\n1.000;1,5\n", ";", ","),  # thousands
        ("a;b\nx;\n", ";", "."),
    ],
)
def test_the_first_lines_tell(text, separator, decimal):
    found = find_dialect("a.csv", text.splitlines(), TextFormat(), ",")
    assert (found.separator, found.decimal) == (separator, decimal)


def test_what_was_found_is_said_in_the_answer(tmp_path):
    (tmp_path / "a.csv").write_text(written(";", ","))
    found, said = evaluated(tmp_path / "a.csv")
    told = "a.csv is read with fields separated by ';' and decimal commas"
    assert said.count(told) == 1
    assert [note for note in found.to_dict()["notes"] if told in note] == [f"{tmp_path / told}"]
    assert not [note for note in evaluated(tmp_path / "a.csv", separator=";", decimal=",")[0].notes if told in note]
    done = run("evaluate", tmp_path / "a.csv", "--truth", "y", "--score", "p", "--positive", "yes", "--json")
    assert json.loads(done.stdout)["notes"].count(f"{tmp_path / told}") == 1
    assert done.stderr.count(told) == 1


def test_a_name_tells_what_is_usual():
    assert find_dialect("a.tsv", ["a\tb", "1\t2"], TextFormat(), "\t").found == ()
    assert find_dialect("a.txt", ["a\tb", "1\t2"], TextFormat(), None).found == ("fields separated by a tab",)


def test_two_separators_that_fit_are_asked_for(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y,x;p,z\n1,2;3,4\n5,6;7,8\n")
    with pytest.raises(stakes.InputError, match=r"may be separated by ',' or ';'; pass separator=','") as caught:
        stakes.evaluate(path, truth="y", score="z")
    assert [(one.name, one.value) for one in caught.value.advice] == [("separator", ",")]


# ── the files ────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("percent", ["", "%"])
def test_every_dialect_gives_the_same_figures(tmp_path, separator, decimal, percent):
    if separator == decimal:
        return
    path = tmp_path / "a.csv"
    path.write_text(written(separator, decimal, percent=percent))
    found, said = evaluated(path)
    assert found["auc"].value == AUC
    assert found["brier_score"].value == pytest.approx(sum((p - (y == "yes")) ** 2 for y, p in ROWS) / 4, rel=1e-15)
    assert ("fields separated by" in said) == (separator != ",")
    assert ("decimal commas" in said) == (decimal == ",")
    assert ("percentages in 'p'" in said) == bool(percent)
    again, said = evaluated(path, separator=separator, decimal=decimal, percent=bool(percent))
    assert said == ""
    assert again["auc"] == found["auc"]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "windows-1252", "latin-1"]
)
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("zipped", [False, True])
def test_every_encoding_and_end_of_line(tmp_path, encoding, ends, zipped):
    path = tmp_path / ("a.csv.gz" if zipped else "a.csv")
    content = written(ends=ends).replace("yes", "größer").encode(encoding)
    path.write_bytes(gzip.compress(content) if zipped else content)
    said = {} if encoding.startswith("utf") else {"encoding": encoding}
    found = stakes.evaluate(path, **{**FIT, "positive": "größer"}, **said)
    assert found["auc"].value == AUC


def test_many_rows_are_read_alike(tmp_path):
    """The quick way through Polars' own types, and batches."""
    path, plain = tmp_path / "a.csv", tmp_path / "b.csv"
    rows = [("yes" if i % 3 else "no", f"{(i * 37 % 1000) / 1000:.3f}") for i in range(150_000)]
    plain.write_text("y,p\n" + "".join(f"{y},{p}\n" for y, p in rows))
    path.write_text("y;p\n" + "".join(f"{y};{p.replace('.', ',')}\n" for y, p in rows))
    expected = stakes.evaluate(plain, **FIT)
    for exact in (None, False):
        found, _ = evaluated(path, exact=exact)
        assert found["auc"].value == pytest.approx(expected["auc"].value, abs=1e-12 if exact is None else 1e-4)
        assert found.confusion == expected.confusion


def test_lines_above_the_header(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(written(title="Export of the laboratory\n\n2026-11-16; 14:03\n"))
    with pytest.raises(stakes.InputError, match=r"the columns are named in line 4, below something else; pass skip=3"):
        stakes.evaluate(path, **FIT)
    assert evaluated(path, skip=3)[0]["auc"].value == AUC
    path.write_text(path.read_text() + "no,oops\n")
    with pytest.raises(stakes.InputError, match=r"no number \('oops'; the first is in .*a\.csv, line 9\)"):
        stakes.evaluate(path, **FIT, skip=3)


def test_columns_without_a_name(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y;p;;\nyes;0,9;;\nno;0,25;;\nyes;0,625;;\nno;0,75;;\n")
    assert evaluated(path)[0]["auc"].value == AUC


def test_words_for_missing_values(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y,p\nNA,0.9\nEU,0.25\nNA,?\nEU,0.75\n")
    kept = stakes.evaluate(path, truth="y", score="p", positive="NA", na=["", "?"], missing="drop")
    assert (kept.counted.dropped, kept["auc"].value, kept.positive) == (1, 1.0, "NA")
    with pytest.raises(stakes.InputError, match=r"truth is missing in 2 rows \(the first is in .*a\.csv, line 2\)"):
        stakes.evaluate(path, truth="y", score="p", positive="EU", na=["?", "NA"])


def test_a_word_for_missing_values_joins_the_usual_ones(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y,p\nyes,0.9\nno,n/a\nno,?\nNA,0.1\nno,0.75\n")
    assert evaluated(path, na="?", missing="drop")[0].counted.dropped == 3
    path.write_text("y,p\nyes,dunno\nno,0.3\nno,lost\n")
    with pytest.raises(stakes.InputError, match=r"\('dunno' and 'lost'; .*pass na='dunno' and na='lost'$"):
        stakes.evaluate(path, **FIT)


def test_labels_that_may_be_no_class_are_named(tmp_path):
    path = tmp_path / "a.csv"
    rows = "y,p\n" + "1,0.9\n0,0.2\n" * 12
    path.write_text(rows + "Total,13.2\n")
    with pytest.raises(stakes.InputError, match=r"'Total' occurs in a single row \(.*line 26\): .* with where"):
        stakes.evaluate(path, truth="y", score="p")
    path.write_text(rows + "?,0.3\n?,0.4\n")
    with pytest.raises(stakes.InputError, match=r"if '\?' means a missing value, pass na='\?'$"):
        stakes.evaluate(path, truth="y", score="p")


def test_all_ways_to_make_labels_alike_are_named_at_once():
    truth, said = ["Y", "N", "Y", "N"], ["Y ", "n", "Y ", "n"]
    with pytest.raises(stakes.InputError, match="pass alike='blanks,case' if"):
        stakes.evaluate(truth=truth, prediction=said)


def test_all_empty_lines_are_named_at_once(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y,p\n\nyes,0.9\nno,0.2\n\n\nno,0.1\n\n\n")
    with pytest.raises(stakes.InputError, match=r"a\.csv: lines 2, 5, 6 are empty; delete them$"):
        stakes.evaluate(path, **FIT)


def test_percentages_without_a_sign(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y,p\nyes,90\nno,25\nyes,62.5\nno,75\n")
    assert stakes.evaluate(path, **FIT, percent=True)["brier_score"].value == pytest.approx(0.19390625, rel=1e-14)
    frame = tmp_path / "a.parquet"
    pl.read_csv(path).write_parquet(frame)
    found = [stakes.evaluate(one, **FIT, percent=True)["log_loss"].value for one in (path, frame)]
    assert found[0] == found[1]


@pytest.mark.parametrize("digits", [0, 1, 2])
@pytest.mark.parametrize("sign", ["", " %"])
def test_percentages_are_the_nearest_numbers(tmp_path, digits, sign):
    """11,7 % is 0.117, not the number one bit below that 11.7 / 100 gives."""
    shares = [f"{i:0{digits + 3}}" for i in range(100 * 10**digits + 1)]  # 0.117 without its point
    texts = [f"{share[: len(share) - digits]},{share[len(share) - digits :]}".rstrip(",") + sign for share in shares]
    path = tmp_path / "a.csv"
    path.write_text("p;x\n" + "".join(f"{text};1,5\n" for text in texts))
    score = read(in_format(path, TextFormat(separator=";", decimal=",", percent=True)), {"score": "p"})["score"]
    assert score.to_list() == [float(f"{share[: -digits - 2]}.{share[-digits - 2 :]}") for share in shares]


def test_a_threshold_that_is_a_percentage_of_the_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y;p\nyes;11,7 %\nno;3,2 %\n")
    assert evaluated(path, threshold=0.117)[0]["recall"].value == 1


# ── other kinds ──────────────────────────────────────────────────────────────────────────────────────────────────
def test_the_first_bytes_tell_the_kind(tmp_path):
    frame = pl.DataFrame(ROWS, schema=["y", "p"], orient="row")
    frame.write_parquet(tmp_path / "parquet.csv")
    frame.write_ipc(tmp_path / "arrow.txt")
    for name in ("parquet.csv", "arrow.txt"):
        assert stakes.evaluate(tmp_path / name, **FIT)["auc"].value == AUC


def test_lists_and_nested_fields_of_json(tmp_path):
    rows = [{"y": y, "scores": {"match": {"value": p}, "note": None}} for y, p in ROWS]
    (tmp_path / "a.json").write_text(json.dumps(rows, indent=2))
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "b.json").write_text((tmp_path / "a.jsonl").read_text())
    for name in ("a.json", "a.jsonl", "b.json"):
        found = stakes.evaluate(tmp_path / name, truth="y", score="scores.match.value", positive="yes")
        assert found["auc"].value == AUC


@pytest.mark.parametrize("orient", ["records", "columns", "index", "split", "table", "list", "wrapped"])
def test_tables_of_json_as_libraries_write_them(tmp_path, orient):
    frame = pd.DataFrame(ROWS, columns=["y", "p"])
    texts = {
        "list": lambda: json.dumps(frame.to_dict("list")),
        "wrapped": lambda: json.dumps({"data": frame.to_dict("records"), "count": 4}, indent=1),
    }
    (tmp_path / "a.json").write_text(texts[orient]() if orient in texts else frame.to_json(orient=orient))
    assert stakes.evaluate(tmp_path / "a.json", **FIT)["auc"].value == AUC


def test_an_object_of_json_that_is_one_row(tmp_path):
    (tmp_path / "a.json").write_text('{"y": 1, "scores": {"a": 0.5}}\n')
    assert json.loads(run("columns", tmp_path / "a.json", "--json").stdout)["rows"] == 1


def test_files_with_types_beside_text(tmp_path):
    """A number is the same class in all of them, and so is a truth value; a code with zeros before it is none."""
    text, typed = tmp_path / "a.csv", tmp_path / "b.parquet"
    for values, labels in (([1, 0], ["1", "0"]), ([True, False], ["TRUE", "FALSE"])):
        text.write_text(f"y,p\n{labels[0]},0.9\n{labels[1]},0.25\n")
        pl.DataFrame({"y": values, "p": [0.75, 0.5]}).write_parquet(typed)
        for files in ([text, typed], [typed, text]):
            assert (stakes.evaluate(files, truth="y", score="p").rows, len(files)) == (4, 2)
    text.write_text("y,p\n01,0.9\n0,0.25\n")
    pl.DataFrame({"y": [1, 0], "p": [0.75, 0.5]}).write_parquet(typed)
    with pytest.raises(stakes.InputError, match=r"truth holds text in .*a\.csv and numbers in .*b\.parquet; write"):
        stakes.evaluate([text, typed], truth="y", score="p")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1, 2]", "it is not a list of objects"),
        ("[]", "it is not a list of objects"),
        ('[{"y": 1}, {"y": ', "cannot be read: "),
        ("[" * 100_000, "nested too deep"),
        ('[{"y": NaN}]', "NaN is no JSON; write null"),
    ],
)
def test_lists_of_json_that_are_wrong(tmp_path, text, words):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(stakes.InputError, match=words):
        stakes.evaluate(tmp_path / "a.json", truth="y", score="p")


# ── what is wrong ────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("text", "more", "words"),
    [
        ("y;p\n1;0,5\n0,2\n", {}, "line 3 has 1 field and the header has 2"),
        (
            "y;p\n1;0,5\n0;0.2\n",
            {},
            r"score has numbers with two decimal signs, such as .*, line [23]\); write",
        ),
        ("y;p\n1;50 %\n0;0,2\n", {}, r"score has numbers with a percent sign and without, such as .*write them alike"),
        ("y;p\n1;1,234\n0;2,345\n", {}, r"'1,234', whose commas may separate thousands; pass decimal=',' if they are"),
        ("y;p\n1;1,2\n0;2\n", {"decimal": "."}, r"'1,2' \(.*line 2\); if that is a decimal sign pass decimal=','"),
        ("y,p\n1,0.5\n", {"separator": "ab"}, "separator='ab' is not one sign; give ',', ';', '|' or a tab"),
        ("y,p\n1,0.5\n", {"separator": ",", "decimal": ","}, "decimal=',' separates the fields, too"),
        ("y,p\n1,0.5\n", {"decimal": "!"}, "decimal='!' is neither '.' nor ','"),
        ("y,p\n1,0.5\n", {"encoding": "klingon"}, "encoding='klingon' does not exist; give 'utf-8'"),
        ("y,p\n1,0.5\n", {"encoding": 3}, "encoding=3 is no text"),
        ("y,p\n1,0.5\n", {"skip": -1}, "skip=-1"),
        ("y,p\n1,0.5\n", {"percent": "yes"}, "percent='yes' does not work; give True or False"),
        ("y,p\n1,0.5\n", {"separator": ";"}, r"fields are not separated by ';'; pass separator=','"),
    ],
)
@pytest.mark.filterwarnings("ignore::stakes.errors.InputWarning")
def test_what_is_wrong_is_told_with_what_to_pass(tmp_path, text, more, words):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(stakes.InputError, match=words):
        stakes.evaluate(tmp_path / "a.csv", truth="y", score="p", **more)


def test_an_encoding_that_fits_half_of_a_file(tmp_path):
    half = b"y,p\nja,0.5\n" + "nö,0.25\n".encode("windows-1252")
    (tmp_path / "a.csv").write_bytes(half)
    with pytest.raises(stakes.InputError, match=r"line 3 is not UTF-8; pass encoding='windows-1252' if a program of"):
        stakes.evaluate(tmp_path / "a.csv", truth="y", score="p")
    (tmp_path / "b.csv").write_bytes("y,p\nja,0.5\n".encode("utf-16") + b"\xd8")
    with pytest.raises(stakes.InputError, match=r"b\.csv: line \d+ or one soon after it is not utf-16; pass another"):
        stakes.evaluate(tmp_path / "b.csv", truth="y", score="p")


def test_letters_of_utf8_are_not_read_as_other_ones(tmp_path):
    """What the advice to pass an encoding would make silently wrong: a label written in two ways."""
    utf8, windows = "nö,0.25\n".encode(), "nö,0.25\n".encode("windows-1252")
    path = tmp_path / "a.csv"
    path.write_bytes(b"y,p\nja,0.5\n" + utf8 + windows)
    with pytest.raises(stakes.InputError, match="line 3 is UTF-8 and line 4 is not, so no encoding fits the whole"):
        stakes.evaluate(path, truth="y", score="p")
    for content in (utf8 + windows, utf8):
        path.write_bytes(b"y,p\nja,0.5\n" + content)
        with pytest.raises(
            stakes.InputError, match="line 3 is UTF-8, and not what encoding='windows-1252' says"
        ) as told:
            stakes.evaluate(path, truth="y", score="p", encoding="windows-1252")
        assert told.value.argument == "encoding"
    path.write_bytes("y,p\nÃO,0.5\nnö,0.25\n".encode("windows-1252"))  # Portuguese capitals are no UTF-8
    found = stakes.evaluate(path, truth="y", score="p", encoding="windows-1252", positive="ÃO")
    assert found["auc"].value == 1


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.csv"])
@pytest.mark.parametrize("lines", [True, False])
def test_json_is_told_by_its_first_letters(tmp_path, encoding, name, lines):
    records = [{"y": y, "p": p} for y, p in ROWS]
    text = "\n".join(map(json.dumps, records)) if lines else json.dumps(records, indent=1)
    (tmp_path / name).write_bytes(text.encode(encoding))
    assert evaluated(tmp_path / name)[0]["auc"].value == AUC
    assert run("columns", "-", "--json", input=text).returncode == 0


def test_separated_text_is_no_json(tmp_path):
    (tmp_path / "a.json").write_text(written())
    with pytest.raises(stakes.InputError, match=r"it is no JSON; if it is separated text, call it \.csv"):
        evaluated(tmp_path / "a.json")


@pytest.mark.parametrize("kind", ["csv", "json", "jsonl", "parquet", "xlsx"])
def test_numbers_and_words_for_missing_values_in_every_kind(tmp_path, kind):
    rows = pd.DataFrame(
        {"y": ["yes", "no", "?", "yes", "no"], "p": [0.9, -999.0, 0.3, 0.2, 0.1], "n": [1, 2, 3, -999, 4]}
    )
    path = tmp_path / f"a.{kind}"
    if kind == "xlsx":
        write(path, T=[list(rows), *rows.to_numpy().tolist()])
    elif kind.startswith("json"):
        rows.to_json(path, orient="records", lines=kind == "jsonl")
    else:
        rows.to_csv(path, index=False) if kind == "csv" else rows.to_parquet(path)
    found = evaluated(path, na=["?", "-999"], missing="drop")[0]
    assert (found.rows, found.counted.dropped) == (3, 2)
    assert evaluated(path, na=["?", "-999"], missing="drop", frequency="n")[0].rows == 5


@pytest.mark.parametrize(
    ("kind", "more", "named"),
    [
        ("parquet", {"separator": ";", "na": "?"}, "separator="),
        ("parquet", {"decimal": ",", "skip": 1}, "decimal=, skip="),
        ("json", {"decimal": ","}, "decimal="),
        ("xlsx", {"encoding": "utf-8"}, "encoding="),
    ],
)
def test_what_a_file_cannot_be_is_not_ignored(tmp_path, kind, more, named):
    rows, path = pd.DataFrame(ROWS, columns=["y", "p"]), tmp_path / f"a.{kind}"
    if kind == "parquet":
        rows.to_parquet(path)
    elif kind == "json":
        rows.to_json(path, orient="records")
    else:
        write(path, T=[list(rows), *rows.to_numpy().tolist()])
    with pytest.raises(stakes.InputError, match=f"^{named}: .*a.{kind} is no separated text, and not written so"):
        evaluated(path, **more)


def test_warnings_tell_the_line_of_the_file_whatever_is_left_out(tmp_path):
    rows = ["yes,0.9", "no,", "no,0.2", "old,0.3", "yes,1.5", *["no,0.1"] * 300]
    (tmp_path / "a.csv").write_text("y,p\n" + "\n".join(rows) + "\n")
    _, said = evaluated(tmp_path / "a.csv", missing="drop", where="y <> 'old'")
    assert "a.csv, line 6), so the scores are not taken as probabilities" in said
    table = pd.read_csv(tmp_path / "a.csv")
    with pytest.warns(stakes.InputWarning, match="the first is row 5, counting from 1"):
        stakes.evaluate(truth=table.y == "yes", score=table.p, missing="drop")


def test_a_format_is_of_files():
    with pytest.raises(stakes.InputError, match=r"separator=, skip= says how a text file is written"):
        stakes.evaluate({"y": [0, 1], "p": [0.1, 0.9]}, truth="y", score="p", separator=";", skip=2)


@pytest.mark.slow
def test_every_command_reads_such_files(tmp_path):
    path = tmp_path / "a.csv"
    rows = [("ja" if i % 3 else "nein", i * 7 % 100, i) for i in range(60)]
    text = "Befund;Wahrscheinlichkeit;Größe\n" + "".join(
        f"{y};{p / 100:.2f};{x}\n".replace(".", ",") for y, p, x in rows
    )
    path.write_bytes(text.encode("windows-1252"))
    said = ["--separator", ";", "--decimal", ",", "--encoding", "windows-1252"]
    fit = ["--truth", "Befund", "--score", "Wahrscheinlichkeit", "--positive", "ja", *said]
    tree = ["--estimator", "sklearn.tree:DecisionTreeClassifier"]
    for command in (
        ["evaluate", path, *fit],
        ["decide", path, *fit, "--miss", "5", "--false-alarm", "1"],
        ["gate", path, *fit, "--require", "auc >= 0.1", "--where", "Größe >= 0.5"],
        ["calibrate", path, *fit, "--method", "sigmoid", "-o", tmp_path / "c.json"],
        ["permute", path, *fit, "--permutations", "50"],
        ["compare", path, *fit, "--score", "Größe", "--metric", "auc"],
        ["count", path, *fit, "-o", tmp_path / "a.tally"],
        ["report", path, *fit, "-o", tmp_path / "a.html"],
        ["calibrate", path, "--score", fit[3], *said, "--apply", tmp_path / "c.json", "-o", tmp_path / "b.csv"],
        ["validate", path, "--target", "Befund", *tree, "--feature", fit[3], "--positive", "ja", *said],
    ):
        done = run(*command)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr


def test_lines_are_counted_as_an_editor_does(tmp_path):
    """Also behind a value of two lines, and in the second of several files."""
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("y,p,note\n1,0.9,a\n0,0.2,x\n")
    for value, words in {"oops": "no number", "": "is missing"}.items():
        second.write_text(f'y,p,note\n1,0.9,"two\nlines"\n0,0.2,x\n1,{value},y\n')
        for data in (second, [first, second]):
            with pytest.raises(stakes.InputError, match=rf"{words}.*the first is in .*b\.csv, line 5\)"):
                stakes.evaluate(data, truth="y", score="p")


def test_lines_are_those_of_the_file_whatever_rows_are_left_out(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y,p,w,g\n" + "1,,1,a\n" * 3 + "1,oops,1,b\n" * 2 + "0,0.2,1,a\n1,0.1,1,a\n0,0.5,-1,a\n")
    asked = {"truth": "y", "score": "p", "weight": "w", "where": "g = 'a'"}
    with pytest.raises(stakes.InputError, match=r"score is missing in 3 rows \(the first is in .*a\.csv, line 2\)"):
        stakes.evaluate(path, **asked)
    with pytest.raises(stakes.InputError, match=r"weight is negative in 1 row \(the first is in .*a\.csv, line 9\)"):
        stakes.evaluate(path, **asked, missing="drop")
    path.write_text("y,p,g\n1,oops,b\n1,0.5,a\n0,oops,a\n")
    with pytest.raises(stakes.InputError, match=r"no number \('oops'; the first is in .*a\.csv, line 4\)"):
        stakes.evaluate(path, truth="y", score="p", where="g = 'a'")
    rows = {"truth": [1, None, 0, 1], "score": [0.5, 0.5, 0.25, float("inf")]}
    with pytest.raises(stakes.InputError, match=r"score is infinite in 1 row .the first is row 4, counting from 1"):
        stakes.evaluate(**rows, missing="drop")


def test_points_of_thousands(tmp_path):
    """Beside decimal commas they part thousands; alone in such a file they are asked about."""
    path = tmp_path / "a.csv"
    path.write_text("y;p;n\nyes;0,9;1.000\nno;0,25;2.500\nyes;0,625;500\nno;0,75;1.000\n")
    assert evaluated(path, frequency="n")[0].rows == 5000
    numbers = {"truth": "y", "prediction": "p", "task": "regression"}
    path.write_text("y;p\n1.000;950\n2.500;2.400\n3.000;3.100\n")
    with pytest.raises(stakes.InputError, match=r"'1\.000', whose points may separate thousands; pass decimal='\.' if"):
        stakes.evaluate(path, **numbers, separator=";")
    assert stakes.evaluate(path, **numbers, separator=";", decimal=",")["mae"].value == pytest.approx(250 / 3)
    assert stakes.evaluate(path, **numbers, separator=";", decimal=".")["mae"].value == pytest.approx(
        949.2 / 3, rel=1e-3
    )
    path.write_text("y;p\n1;0,5\n0;12.34\n")
    with pytest.raises(stakes.InputError, match="score has numbers with two decimal signs"):
        stakes.evaluate(path, truth="y", score="p", separator=";", decimal=",")


@pytest.mark.parametrize(
    ("values", "more"),
    [
        (["1,234.5", "1,200.0", "950.25", "1,000"], {}),
        (["1.234,5", "1.200,0", "950,25", "1.000"], {}),
        (["1'234.5", "1'200.0", "950.25", "1'000"], {}),
        (["1 234,5", "1\u202f200,0", "950,25", "1\u00a0000"], {}),
        (["1234.5", "1200.0", "950.25", "1000"], {}),
        (["1,234.5", "1,200", "950.25", "1,000"], {"decimal": "."}),
    ],
)
@pytest.mark.parametrize("separator", [",", ";"])
def test_marks_of_thousands(tmp_path, values, more, separator):
    path = tmp_path / "a.csv"
    truth, said = values[::2], values[1::2]
    path.write_text(f"y{separator}p\n" + "".join(f'"{y}"{separator}"{p}"\n' for y, p in zip(truth, said, strict=True)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = stakes.evaluate(path, truth="y", prediction="p", separator=separator, **more)
    assert found["mae"].value == pytest.approx((34.5 + 49.75) / 2, rel=1e-15)
    told = " ".join(str(one.message) for one in caught)
    assert ("marks of thousands in 'y' and 'p'; pass decimal=" in told) == (len(values[0]) > 6 and not more)


def test_thousands_alone_are_asked_about(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('y,p\n"1,234","1,200"\n"2,345","950"\n')
    with pytest.raises(stakes.InputError, match=r"'1,234', whose commas may separate thousands; pass decimal=',' if"):
        stakes.evaluate(path, truth="y", prediction="p", task="regression")
    numbers = {"truth": "y", "prediction": "p", "task": "regression"}
    assert stakes.evaluate(path, **numbers, decimal=".")["mae"].value == (34 + 1395) / 2
    path.write_text('y,p\n"1.234.567",1\n"950",2\n')  # which no decimal point does
    with pytest.warns(stakes.InputWarning, match="decimal commas and marks of thousands in 'y'"):
        assert stakes.evaluate(path, **numbers)["mae"].value == (1234566 + 948) / 2


def test_words_are_no_numbers_with_marks(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('y,p,g\n1,0.5,"10,000"\n0,0.25,"10,000"\n1,0.75,New York\n0,0.5,New York\n')
    assert list(stakes.evaluate(path, truth="y", score="p", by="g").segments) == ["10000", "New York"]


def test_percentages_that_are_shares(tmp_path):
    (tmp_path / "a.csv").write_text(written())
    with pytest.raises(stakes.InputError, match="score lies in \\[0, 1\\] as it stands in the file, so it is no perc"):
        stakes.evaluate(tmp_path / "a.csv", **FIT, percent=True)


def test_a_header_longer_than_a_field_may_be_has_its_separator(tmp_path):
    names = ",".join(f"c{i}" for i in range(30_000))
    (tmp_path / "wide.csv").write_text(f"y,p,{names}\n" + ("0,0.1" + ",1" * 30_000 + "\n1,0.9" + ",1" * 30_000 + "\n"))
    with pytest.raises(stakes.InputError, match="there is no column 'z'"):
        stakes.evaluate(tmp_path / "wide.csv", truth="z", score="p")


# ── what to type next ────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("y,p\n1,98.4\n0,0.5\n", "--truth y --score p --percent"),
        ("y,p\n1,4.5\n0,-7.5\n", "--truth y --score p --from-logits"),
        ("y,p\n1,0.5\n0,0.25\n", "--truth y --score p"),
        ("claims,expected,hours\n0,0.5,3\n2,1.5,4\n7,2.5,5\n", "--truth claims --prediction expected"),
        ("truth,prediction\nY,Y \nN,n\n", "--truth truth --prediction prediction"),
        ("outcome,p\nyes,0.5\nYes ,0.25\nno,0.1\n", "--truth outcome --score p"),
    ],
)
def test_columns_guesses_what_to_type(tmp_path, text, words):
    path = tmp_path / "a.csv"
    path.write_text(text)
    assert run("columns", path, "--quiet").stdout.strip() == f"stakes evaluate {path} {words}"


def test_blanks_in_labels_are_seen(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y,p\nyes ,0.5\nno,0.25\n")
    assert "no, 'yes '" in run("columns", path).stdout


def test_a_file_beside_the_figure_of_a_plan_is_a_pilot():
    done = run("plan", "auc", "first study.csv", "--width", "0.1")
    assert "a file of a first study goes with --pilot: --pilot 'first study.csv'." in done.stderr
