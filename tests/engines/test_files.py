"""Files of every kind are one table by name of column, and a file that is wrong gets one line that names it."""

import functools
import gzip
import importlib
import io
import json
import os
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import stakes
from stakes.engines import streaming
from stakes.engines.files import csv, database, kinds
from stakes.engines.files.sources import Source
from stakes.language.sentences import caution
from stakes.records import as_data
from tests.parts import since

ROWS = pl.DataFrame(
    {
        "y": ["yes", "no", "yes", "no", "yes", "no"],
        "p": [0.9, 0.2, 0.4, 0.6, 0.8, 0.1],
        "w": [1.0, 2.0, 1.5, 0.5, 3.0, 1.0],
        "site": ["A", "A", "A", "B", "B", "B"],
        "age": [70, 61, 9, 100, 60, 55],
    }
)
COLUMNS = {"truth": "y", "score": "p", "positive": "yes"}


def in_memory(rows=ROWS, **options):
    return _all_rows(**options) if rows is ROWS else from_file(rows, **options)


@functools.lru_cache
def _all_rows(**options):
    return from_file(ROWS, **options)


def from_file(data, **options):
    return stakes.evaluate(data, **{**COLUMNS, **options}).to_dict()


def counted(data, **options):
    told = stakes.count(data, **{**COLUMNS, **options}).to_dict()
    return {name: value for name, value in told.items() if name != "question"}


def left_out(told, rows):
    """What is told of the same rows when others were left out: how many, and a caution before those of few rows."""
    dropped = caution("caution.dropped", n=rows)
    first = next(i for i, one in enumerate(told["findings"]) if one["key"] == "caution.few")
    behind = len(told["findings"]) - first
    notes, findings = list(told["notes"]), list(told["findings"])
    notes.insert(len(notes) - behind, dropped.words[0])
    findings.insert(first, as_data(dropped))
    return {**told, "dropped": rows, "notes": notes, "findings": findings}


def write_sqlite(rows, file, table="preds"):
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in rows.columns)
    with sqlite3.connect(file) as connection:
        connection.execute(f'CREATE TABLE "{table}" ({names})')
        connection.executemany(f'INSERT INTO "{table}" VALUES ({", ".join("?" * rows.width)})', rows.rows())
    connection.close()
    return f"{file}::{table}"


def write_duckdb(rows, file, table="preds"):
    duckdb = importlib.import_module("duckdb")  # part of the test extra: missing is a failure
    with duckdb.connect(str(file)) as connection:
        quoted = [n.replace('"', '""') for n in rows.columns]
        kinds_of = {pl.String: "VARCHAR", pl.Float64: "DOUBLE", pl.Int64: "BIGINT"}
        fields = ", ".join(f'"{n}" {kinds_of[type(t)]}' for n, t in zip(quoted, rows.dtypes, strict=True))
        connection.execute(f'CREATE TABLE "{table}" ({fields})')
        connection.executemany(f'INSERT INTO "{table}" VALUES ({", ".join("?" * rows.width)})', rows.rows())
    return f"{file}::{table}"


def write_gzip(rows, file, write=pl.DataFrame.write_csv):
    file.write_bytes(gzip.compress(write(rows).encode()))


def write_arrow_stream(rows, file):
    rows.write_ipc_stream(file)


WRITERS = {
    "a.csv": pl.DataFrame.write_csv,
    "a.CSV": pl.DataFrame.write_csv,
    "a.csv.gz": write_gzip,
    "a.tsv": lambda rows, file: rows.write_csv(file, separator="\t"),
    "a.parquet": pl.DataFrame.write_parquet,
    "a.jsonl": pl.DataFrame.write_ndjson,
    "a.ndjson": pl.DataFrame.write_ndjson,
    "a.arrow": pl.DataFrame.write_ipc,
    "a.ipc": write_arrow_stream,
    "a.feather": pl.DataFrame.write_ipc,
    "a.jsonl.gz": lambda rows, file: write_gzip(rows, file, pl.DataFrame.write_ndjson),
    "a[1].csv": pl.DataFrame.write_csv,
    "a[1].jsonl": pl.DataFrame.write_ndjson,
    "a[1].arrow": pl.DataFrame.write_ipc,
    "a*.parquet": pl.DataFrame.write_parquet,
    "a?b%20#.sqlite": write_sqlite,
    "a.db": write_sqlite,
    "a.duckdb": write_duckdb,
}


def written(name, folder, rows=ROWS):
    """Write the rows as a file of that name, and return how to call it."""
    return WRITERS[name](rows, folder / name) or folder / name


# ── every kind ───────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file_gives_what_the_table_gives(tmp_path, name):
    file = written(name, tmp_path)
    assert from_file(file, weight="w", by="site") == in_memory(weight="w", by="site")
    assert stakes.count(file, **COLUMNS, cluster="site").clusters.count == 2


@pytest.mark.spread(9)
@pytest.mark.parametrize("name", WRITERS)
def test_conditions_and_missing_values_in_every_kind(tmp_path, name):
    gaps = ROWS.with_columns(p=pl.Series([None, 0.2, 0.4, 0.6, 0.8, 0.1]), site=pl.Series([*"AAA", None, *"BB"]))
    file = written(name, tmp_path, gaps)
    kept = gaps.filter(pl.col("age") > 50, pl.col("site").is_not_null()).drop_nulls("p")
    found = from_file(file, where="age > 50 AND site IN ('A', 'B')", missing="drop")
    assert found == left_out(in_memory(kept), 1)
    with pytest.raises(stakes.InputError, match="score is missing in 1 row"):
        from_file(file)


@pytest.mark.slow
@pytest.mark.spread(9)
@pytest.mark.parametrize("name", WRITERS)
def test_column_names_with_quotes_and_sql_in_them(tmp_path, name):
    names = ['p, v2"; DROP TABLE preds; --', "it's a sélection *", "holds"]
    file = written(name, tmp_path, ROWS.with_columns(pl.col("p").alias(column) for column in names).drop("p"))
    whole, kept = counted(ROWS), counted(ROWS.filter(pl.col("p") > 0.15))
    for column in names:
        quoted = column.replace('"', '""')
        assert counted(file, score=column) == whole, column
        assert counted(file, score=column, where=f'"{quoted}" > 0.15') == kept, column


def test_regression_from_a_file_names_rows_of_the_file(tmp_path):
    file = tmp_path / "n.csv"
    file.write_text("y,d,w\n1.5,2,1\n,3,1\n7,900,0\n100,5,1\n4,4.5,1\n2.5,2,1\n")
    found = stakes.evaluate(file, truth="y", prediction="d", weight="w", missing="drop")
    assert found["mae"].value == pytest.approx(np.mean([0.5, 95, 0.5, 0.5]))
    assert "2 rows with a missing value or weight 0 were left out." in found.notes
    assert found.counted.tallies["errors"].worst[0].row == 3


# ── several files ────────────────────────────────────────────────────────────────────────────────────────────────
def test_several_files_of_several_kinds_are_one_table(tmp_path):
    ROWS[:2].write_csv(tmp_path / "1.csv")
    write_gzip(ROWS[2:4].select(reversed(ROWS.columns)), tmp_path / "2.csv.gz")
    ROWS[4:].with_columns(pl.col("y").cast(pl.Categorical), pl.col("p").cast(pl.Float32)).write_parquet(
        tmp_path / "3.parquet"
    )
    rows = pl.concat([ROWS[:4], ROWS[4:].with_columns(pl.col("p").cast(pl.Float32).cast(pl.Float64))])
    files = [tmp_path / "1.csv", str(tmp_path / "2.csv.gz"), tmp_path / "3.parquet"]
    assert from_file(files, by="site", weight="w") == in_memory(rows, by="site", weight="w")
    assert from_file(tuple(files[:1])) == in_memory(ROWS[:2])


def test_a_pattern_is_all_files_that_match(tmp_path):
    for number in range(3):
        (tmp_path / f"part{number}").mkdir()
        ROWS[2 * number : 2 * number + 2].write_csv(tmp_path / f"part{number}" / "p.csv")
    assert from_file(tmp_path / "part*" / "p.csv") == in_memory()
    assert from_file(str(tmp_path / "**" / "*.csv")) == in_memory()
    assert from_file(tmp_path / "part[02]" / "p.csv") == in_memory(pl.concat([ROWS[:2], ROWS[4:]]))
    with pytest.raises(stakes.InputError, match=r"nothing\*\.csv: there is no such file, and none that matches"):
        from_file(tmp_path / "nothing*.csv")


def test_a_file_whose_name_is_a_pattern_is_that_very_file(tmp_path):
    ROWS[:2].write_csv(tmp_path / "a[1].csv")
    ROWS[2:].write_csv(tmp_path / "a1.csv")
    assert from_file(tmp_path / "a[1].csv") == in_memory(ROWS[:2])


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_no_row_counts_twice(tmp_path, link):
    ROWS.write_csv(tmp_path / "a.csv")
    twice = [tmp_path / "a.csv", tmp_path / ".." / tmp_path.name / "a.csv"]
    with pytest.raises(stakes.InputError, match=r"a\.csv: the file is given twice, and its rows would count twice"):
        from_file(twice)
    link(tmp_path / "a.csv", tmp_path / "b.csv")
    with pytest.raises(stakes.InputError, match=r"b\.csv: the file is given twice"):
        from_file(tmp_path / "*.csv")
    stakes.count(truth=[0, 1], score=[0.2, 0.8]).save(tmp_path / "a.tally", min_cell=1)
    link(tmp_path / "a.tally", tmp_path / "b.tally")
    with pytest.raises(stakes.InputError, match=r"b\.tally: the file is given twice"):
        stakes.evaluate([tmp_path / "a.tally", tmp_path / "b.tally"])


def test_two_tables_of_one_database_are_two_sources(tmp_path):
    names = [write_sqlite(part, tmp_path / "a.sqlite", name) for name, part in (("x", ROWS[:3]), ("y", ROWS[3:]))]
    assert from_file(names) == in_memory()


def test_files_of_one_table_have_the_same_columns(tmp_path):
    ROWS.write_csv(tmp_path / "a.csv")
    ROWS.drop("age").write_csv(tmp_path / "b.csv")
    ROWS.with_columns(y=pl.lit(1)).write_parquet(tmp_path / "c.parquet")
    for files, words in (
        ("ab", r"b\.csv lacks the column 'age' that .*a\.csv has; give files with the same columns"),
        ("ba", r"b\.csv lacks the column 'age' that .*a\.csv has"),
        ("ac", r"truth holds text in .*a\.csv and numbers in .*c\.parquet; write it alike in all files"),
    ):
        paths = [next(tmp_path.glob(f"{letter}.*")) for letter in files]
        with pytest.raises(stakes.InputError, match=words):
            from_file(paths)


# ── standard input and databases ─────────────────────────────────────────────────────────────────────────────────
def test_standard_input(monkeypatch):
    class Stream:
        buffer = io.BytesIO(ROWS.write_csv().encode())

    monkeypatch.setattr(sys, "stdin", Stream)
    assert from_file("-", where="site = 'A'") == in_memory(ROWS[:3])
    Stream.buffer = io.BytesIO(b"y,p\n1,0.5\n0\n")
    with pytest.raises(stakes.InputError, match="standard input: line 3 has 1 field"):
        from_file("-")
    with pytest.raises(stakes.InputError, match="standard input: cannot be read: it is empty"):
        from_file("-")


@pytest.mark.slow
def test_slow_queries_print_nothing_and_nobody_changes_what_they_may_do(tmp_path):
    """In a session, as DuckDB takes ``python -c`` for one, it would print a bar after two seconds."""
    write_duckdb(ROWS, tmp_path / "all.db", "t")
    asked = "SELECT current_setting('enable_progress_bar'), current_setting('lock_configuration')"
    code = f"""
from pathlib import Path
from stakes.engines.files import database
from stakes.engines.files.sources import Source
with database._connect(Source("all.db", Path("all.db"))) as connection:
    print(connection.execute({asked!r}).fetchone())
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout == "(False, True)\n", done.stderr


@pytest.mark.parametrize("write", [write_sqlite, write_duckdb])
def test_databases_say_what_they_hold(tmp_path, write):
    file = tmp_path / "all.db"
    write(ROWS, file, "we ird; --")
    assert from_file(f"{file}::we ird; --") == in_memory()
    with pytest.raises(stakes.InputError, match=r"all\.db is a database; name the table too: .*there is 'we ird; --'"):
        from_file(file)
    with pytest.raises(stakes.InputError, match=r"all\.db: there is no table 'preds'; there is 'we ird; --'"):
        from_file(f"{file}::preds")
    with pytest.raises(stakes.InputError, match="score: there is no column 'q'"):
        from_file(f"{file}::we ird; --", score="q")
    before = file.stat().st_mtime_ns
    file.write_bytes(file.read_bytes()[:3000])
    os.utime(file, ns=(before, before))
    with pytest.raises(stakes.InputError, match=r"all\.db::we ird; --: cannot be read: "):
        from_file(f"{file}::we ird; --")


def test_only_databases_have_tables(tmp_path):
    ROWS.write_csv(tmp_path / "a.csv")
    with pytest.raises(stakes.InputError, match="neither a SQLite nor a DuckDB database, so it has no tables"):
        from_file(f"{tmp_path}/a.csv::preds")
    with pytest.raises(stakes.InputError, match=r"gone\.db: there is no such file"):
        from_file(f"{tmp_path}/gone.db::preds")
    ROWS.write_csv(tmp_path / "b::c.csv")
    assert from_file(tmp_path / "b::c.csv") == in_memory()


def test_duckdb_is_asked_for_when_it_is_missing(tmp_path, monkeypatch):
    name = write_duckdb(ROWS, tmp_path / "a.duckdb")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(stakes.UnableError, match=r"a\.duckdb is a DuckDB database, which needs .*: pip install duckdb"):
        from_file(name)


def test_sqlite_columns_of_several_types(tmp_path):
    file = tmp_path / "a.sqlite"
    rows = [(1, 1), (0, 0.25), (1, 0.75)]
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE t (y, p)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
    assert stakes.evaluate(f"{file}::t", truth="y", score="p")["auc"].value == 1
    with sqlite3.connect(file) as connection:
        connection.execute("INSERT INTO t VALUES (0, 'low')")
    connection.close()
    with pytest.raises(stakes.InputError, match="the column 'p' holds values of the types float, int, str; make it"):
        stakes.evaluate(f"{file}::t", truth="y", score="p")


def test_duckdb_decimals_enumerations_and_missing_values(tmp_path):
    duckdb = importlib.import_module("duckdb")  # part of the test extra: missing is a failure
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TYPE answer AS ENUM ('no', 'yes')")
        connection.execute("CREATE TABLE t (y answer, p DECIMAL(4, 2), b BIGINT)")
        connection.execute("INSERT INTO t VALUES ('yes', 0.9, 1), ('no', 0.2, 1), (NULL, 0.3, 1), ('no', NULL, NULL)")
    found = from_file(f"{tmp_path}/a.duckdb::t", missing="drop")
    plain = in_memory(pl.DataFrame({"y": ["yes", "no"], "p": [0.9, 0.2]}))
    assert found == left_out(plain, 2)
    assert from_file(f"{tmp_path}/a.duckdb::t", where="b IS NOT NULL AND y IS NOT NULL") == plain


def test_duckdb_lists_with_gaps_are_lists(tmp_path):
    duckdb = importlib.import_module("duckdb")
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        rows = "(0, 0.1, [1, NULL]), (1, 0.9, NULL), (0, 0.2, [2]), (1, 0.8, NULL)"
        connection.execute(f"CREATE TABLE t AS SELECT * FROM (VALUES {rows}) v(y, p, l)")
    asked = {"data": f"{tmp_path / 'a.duckdb'}::t", "truth": "y", "score": "p"}
    assert stakes.evaluate(**asked, where="l IS NULL").rows == 2
    with pytest.raises(stakes.InputError, match="by is missing in 2 rows"):
        stakes.evaluate(**asked, by="l")


def test_duckdb_columns_are_of_the_types_that_they_have_there(tmp_path):
    """Releases before 1.4 describe an answer by kinds only, such as NUMBER and DATETIME."""
    file = tmp_path / "a.duckdb"
    with importlib.import_module("duckdb").connect(str(file)) as connection:
        connection.execute("CREATE TABLE t (moment TIMESTAMPTZ, long HUGEINT)")
        connection.execute("INSERT INTO t VALUES ('2024-05-01 12:00:00+02:00', 9007199254740993)")
    source = Source("a.duckdb", file, "t")
    assert database.collect(source, ["moment"])["moment"].to_list() == [datetime(2024, 5, 1, 10, tzinfo=UTC)]
    with pytest.raises(stakes.InputError, match="the column 'long' holds whole numbers beyond 64 bits"):
        database.collect(source, ["long"])


# ── conditions ───────────────────────────────────────────────────────────────────────────────────────────────────
SITE, AGE = pl.col("site"), pl.col("age")


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ("site = 'A'", SITE == "A"),
        ("age > 60", AGE > 60),  # as text, '9' would be more than '60', and '100' less
        ("age = '70' OR site = 'B'", (AGE == 70) | (SITE == "B")),
        ("NOT site = 'A' AND age BETWEEN 50 AND 60 OR p > 0.8", (SITE == "B") & (AGE <= 60) | (pl.col("p") > 0.8)),
        ("age - 1 < 60 OR upper(site) LIKE 'A%'", (AGE < 61) | (SITE == "A")),
        ("true", pl.lit(True)),
    ],
)
def test_conditions_on_text_take_for_numbers_what_is_compared_with_numbers(tmp_path, where, kept):
    ROWS.write_csv(tmp_path / "a.csv")
    assert from_file(tmp_path / "a.csv", where=where) == in_memory(ROWS.filter(kept))


def test_large_whole_numbers_in_conditions_are_exact(tmp_path):
    (tmp_path / "a.csv").write_text("y,p,id\n1,0.5,9007199254740992\n0,0.2,9007199254740993\n0,0.7,9007199254740994\n")
    found = stakes.evaluate(tmp_path / "a.csv", truth="y", score="p", where="id <> 9007199254740993")
    assert found.rows == 2


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.jsonl", "a.db"])
@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("stie = 'A'", "where: there is no column 'stie'; did you mean 'site'"),
        ("site = ", "where='site = ' is not understood: .*; write SQL such as site = 'A' AND age > 60"),
        ("site", "the column 'site' is compared with TRUE or FALSE but holds ('A'|text); compare it with text"),
        ("site + 1", "where='site . 1' is not understood: a part of it is neither true nor false"),
        ("DROP TABLE preds", "is not understood"),
        ("site = 'A'; site = 'B'", "is not understood"),
        ("", "where='' is not understood"),
        (7, "where=7 is not understood"),
        ("site > 5", "'site' is compared with a number but holds ('A'|text); compare it with text in single quotes"),
        ("site IN (SELECT 1)", "is not understood: SELECT at character 10 stands where a number or a text"),
        ("age > 1000", "no row satisfies"),
    ],
)
def test_conditions_that_are_wrong_get_one_line(tmp_path, name, where, words):
    with pytest.raises(stakes.InputError, match=words) as caught:
        from_file(written(name, tmp_path), where=where)
    assert "\n" not in str(caught.value)


def test_conditions_are_for_tables():
    assert in_memory(where="site = 'A'") == in_memory(ROWS[:3])
    with pytest.raises(
        stakes.InputError, match="where= chooses rows by the columns of a table, and there are only arr"
    ):
        stakes.evaluate(truth=[0, 1], score=[0.1, 0.2], where="site = 'A'")
    assert from_file(ROWS, score=ROWS["p"].to_numpy(), where="site = 'A'") == in_memory(ROWS[:3])
    lazy = ROWS.lazy()
    with pytest.raises(stakes.InputError, match="where= chooses rows of the table, and score is an array beside it"):
        stakes.evaluate(lazy, **{**COLUMNS, "score": ROWS["p"].to_numpy()}, where="site = 'A'")


# ── files that are wrong ─────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"y,p\n1,0.5\n0\n", r"a\.csv: line 3 has 1 field and the header has 2; mend that line$"),
        (b'y,p\n"1\n1",0.5\n0\n', r"a\.csv: line 4 has 1 field"),
        (b"y,p\n1,0.5\n0,0.2,7\n", r"a\.csv: line 3 has 3 fields and the header has 2; .*decimal comma"),
        (b"y,p\n1,0.5\n0,0,2\n", r"a\.csv: line 3 has 3 fields .* \(a decimal comma\?\) must stand in quotes"),
        (b"y,p\n1,0.5\n\n0,0.2\n", r"a\.csv: line 3 is empty; delete it"),
        (
            b'y,p\n1,0.5\n0,"0,2"\n',
            r"score has numbers with two decimal signs, .*'0,2' .*a\.csv, line 3",
        ),
        (b'y,p\n1,"1,23.5"\n0,2\n', r"score .*'1,23\.5'; .*a\.csv, line 2.* write 0\.5 for 0,5 and 1234\.5 for"),
        (b"y,p\n1,1 23\n0,2\n", r"score .*'1 23'; .*a\.csv, line 2"),
        (b"y,p\n1,0.5\n0,oops\n", r"score has 1 row that holds no number \('oops'; .*a\.csv, line 3.*mend the file"),
        (b"1,0.5\n0,0.2\n", r"a\.csv: the first line holds only numbers \('1' and '0\.5'\), so the header is missing"),
        (b"y,p,y\n1,0.5,1\n", r"a\.csv: the table has several columns called 'y'"),
        (b"\xef\xbb\xbfy,p,y\n1,0.5,1\n", r"a\.csv: the table has several columns called 'y'"),
        (b"y,p\n1,0.5\n0\0,0.2\n", r"a\.csv: line 3 has a NUL byte"),
        (b"y\0,p\n1,0.5\n", r"a\.csv: line 1 has a NUL byte"),
        (
            "y,p\nnö,0.5\nja,0.2\n".encode("latin-1"),
            r"a\.csv: line 2 is not UTF-8; pass encoding='windows-1252'",
        ),
        ("y,p,größe\n1,0.5,1\n".encode("latin-1"), r"a\.csv: line 1 is not UTF-8"),
        (b"y,p\n1,0.5\n0,1e400\n", r"score is infinite in 1 row .*a\.csv, line 3.*'1e400' is beyond what a float64"),
        (b"", r"a\.csv: cannot be read: it is empty"),
        (b"\n", r"a\.csv: cannot be read: line 1 is empty; write the names of the columns there"),
        (b"y,p\n", "truth is empty"),
        (b'y,p\n1,0.5\n"0,0.2\n', r"a\.csv: cannot be read: line 3: a quote is opened there and never closed; mend"),
        (b'y,p,n\n1,0.5,a\n0,0.2,5" disk\n', r"a\.csv: line 3 has a quote within a value; write the quote twice"),
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_separated_text_that_is_wrong_gets_one_line_with_its_number(tmp_path, name, content, words):
    if "quote within a value" in words:
        since("polars", "1.36", "takes such a quote as it stands")
    file = tmp_path / name
    file.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    words = words.replace(r"a\.csv", name.replace(".", r"\."))
    words = words.replace("it is empty", "it is empty" if name == "a.csv" else "line 1 is empty")
    with pytest.raises(stakes.InputError, match=words) as caught:
        stakes.evaluate(file, truth="y", score="p")
    assert "\n" not in str(caught.value)


def test_a_byte_order_mark_line_ends_of_windows_and_empty_last_fields_are_fine(tmp_path):
    file = tmp_path / "a.csv"
    file.write_bytes(b'\xef\xbb\xbf"y",p,note\r\n1,0.5,\r\n0,0.2,\r\n1,0.7,good\r\n')
    assert stakes.evaluate(file, truth="y", score="p").rows == 3


def test_a_column_that_is_text_in_quotes_with_separators_is_no_ragged_line(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text('y,p,note\n1,0.5,"a, b"\n0,0.2,\n"1",0.7,"two\nlines"\n')
    assert stakes.evaluate(file, truth="y", score="p").rows == 3


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"y": 1, "p": 0.5}\n{"y": 0, "p": 0.2\n', r"a\.jsonl: cannot be read: line 2, column 18: Expecting"),
        ('{"y": 1, "p": 0.5}\n[1, 2]\n', r"line 2 is not one object"),
        ('{"y": 1, "p": 0.5}\n{"y": 0, "p": 1e400}\n', r"line 2: 1e400 is beyond what a float64 holds"),
        ('{"y": 1, "p": 0.5}\n{"y": 0, "p": NaN}\n', r"line 2: NaN is no JSON; write null for a missing value"),
        ('{"y": 1, "p": 0.5}\n{"y": 0}\n', "score is missing in 1 row"),
        (
            '{"y": 1, "p": 0.5}\n{"y": {"a": 0}, "p": 0.1}\n',
            r"a\.jsonl: cannot|there is no column 'y'; there is 'y\.a'",
        ),
        ("", r"a\.jsonl: cannot be read: it is empty"),
    ],
)
def test_json_lines_that_are_wrong_get_one_line_with_its_number(tmp_path, content, words):
    file = tmp_path / "a.jsonl"
    file.write_text(content)
    with pytest.raises(stakes.InputError, match=words) as caught:
        stakes.evaluate(file, truth="y", score="p")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.ipc", "a.csv.gz", "a.feather"])
@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
def test_files_that_were_cut_short_are_not_read(tmp_path, name, share):
    many = pl.concat([ROWS] * 200)
    file = written(name, tmp_path, many)
    whole = file.read_bytes()
    file.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(stakes.InputError, match=name.replace(".", r"\.") + ": cannot be read: ") as caught:
        from_file(file)
    assert "\n" not in str(caught.value)


def test_columns_of_awkward_types(tmp_path):
    file = tmp_path / "a.parquet"
    decimals = pl.Series([Decimal(str(p)) for p in ROWS["p"]], dtype=pl.Decimal(6, 3))
    kind = SITE.cast(pl.Enum(["A", "B"]))
    awkward = ROWS.with_columns(pl.col("y").cast(pl.Categorical), p=decimals, kind=kind)
    awkward.with_columns(nested=pl.Series([[1, 2]] * 6), both=pl.struct("age", "site")).write_parquet(file)
    assert from_file(file, by="kind") == in_memory(by="site")
    for column in ("nested", "both"):
        with pytest.raises(stakes.InputError, match="truth"):
            from_file(file, truth=column)


def test_what_is_no_file_of_predictions(tmp_path):
    (tmp_path / "a.docx").write_text("x")
    (tmp_path / "old.feather").write_bytes(b"FEA1" + bytes(20))
    for file, words in (
        (tmp_path, "cannot be read: it is a directory"),
        (tmp_path / "gone.csv", "there is no such file"),
        ("a" * 300 + ".csv", "there is no such file"),
        (tmp_path / "a.docx", r"the name does not end in \.csv, .* or \.xlsx; convert the file"),
        (tmp_path / "old.feather", "it is of Feather's first version; write it again as Arrow IPC"),
    ):
        with pytest.raises(stakes.InputError, match=words):
            from_file(file)


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.db"])
def test_a_file_that_changes_while_it_is_read_is_noticed(tmp_path, monkeypatch, name):
    source = written(name, tmp_path)
    file = tmp_path / name
    collect = kinds.FileTable.collect

    def meanwhile(table, names):
        os.utime(file, ns=(1, 1))
        return collect(table, names)

    monkeypatch.setattr(kinds.FileTable, "collect", meanwhile)
    with pytest.raises(stakes.InputError, match=r"the file changed while it was read; read it when nobody writes it"):
        from_file(source)


def test_a_file_that_nobody_may_read(tmp_path, monkeypatch):
    ROWS.write_csv(tmp_path / "a.csv")
    really = Path.open

    def refused(path, *arguments, **options):
        if path.name == "a.csv":
            raise PermissionError(13, "Permission denied", str(path))
        return really(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", refused)  # root may read everything
    with pytest.raises(stakes.InputError, match=r"a\.csv: cannot be read: Permission denied; mend the file"):
        from_file(tmp_path / "a.csv")


# ── missing values ───────────────────────────────────────────────────────────────────────────────────────────────
GAPS = {
    "y": ["yes", None, "no", "yes", "no", "yes", "no"],
    "p": [0.9, 0.5, 0.2, None, 0.6, 0.8, 0.1],
    "w": [1.0, 1.0, 2.0, 1.5, None, 3.0, 1.0],
    "site": ["A", "A", "A", "A", "B", " ", "B"],
}
FULL = [0, 2, 6]


def test_missing_values_are_dropped_from_every_make_of_column():
    import pandas as pd

    arrow = pl.DataFrame(GAPS).to_arrow()
    asked = {**COLUMNS, "weight": "w", "by": "site"}
    plain = stakes.count({k: [v[i] for i in FULL] for k, v in GAPS.items()}, **asked).to_dict()

    def check(table):
        found = stakes.count(table, **asked, missing="drop").to_dict()
        assert (found["tallies"], found["segments"].keys()) == (plain["tallies"], plain["segments"].keys())
        assert (found["dropped"], found["dropped_weight"]) == (4, 5.5)

    floats = {**GAPS, "p": np.array(GAPS["p"], float), "w": np.array(GAPS["w"], object)}
    for table in (GAPS, pl.DataFrame(GAPS), pd.DataFrame(GAPS), arrow, floats, pl.DataFrame(GAPS).lazy()):
        check(table)
    masked = np.ma.masked_array([0.9, 0.5, 0.2, 0.0, 0.6, 0.8, 0.1], mask=[i == 3 for i in range(7)])
    check({**GAPS, "p": masked})


def test_missing_values_in_tables_of_scores_and_in_batches():
    truth = [0, 1, 2, 0, 1]
    scores = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0, 0, 1], [np.nan, 0.5, 0.5], [0.3, 0.4, 0.3]])
    found = stakes.evaluate(truth=truth, score=scores, classes=[0, 1, 2], missing="drop").to_dict()
    kept = [0, 1, 2, 4]
    plain = stakes.evaluate(truth=[truth[i] for i in kept], score=scores[kept], classes=[0, 1, 2]).to_dict()
    assert found == left_out(plain, 1)
    batches = [{"y": [1, 0, None], "p": [0.9, 0.3, 0.2]}, {"y": [None], "p": [0.1]}, {"y": [0, 1], "p": [0.5, 0.4]}]
    found = stakes.evaluate(batches, truth="y", score="p", missing="drop")
    plain = stakes.evaluate(truth=[1, 0, 0, 1], score=[0.9, 0.3, 0.5, 0.4])
    assert found.to_dict() == left_out(plain.to_dict(), 2)
    assert stakes.Evaluation(stakes.count(batches, truth="y", score="p", missing="drop")).to_dict()["dropped"] == 2


def test_dropped_rows_are_added_saved_and_told():
    counted = stakes.count(truth=[1, 0, None], score=[0.5, 0.2, 0.3], missing="drop")
    assert (counted + counted).dropped == 2
    assert type(counted).from_dict(json.loads(json.dumps(counted.to_dict()))).dropped == 1
    assert "1 row with a missing value or weight 0 was left out" in str(stakes.Evaluation(counted))
    rows = {"truth": [1, 0, 1, 0, None, 1], "score": [0.9, 0.2, 0.7, 0.4, 0.3, None]}
    choice = stakes.decide(**rows, best="f1", missing="drop")
    assert choice.to_dict()["dropped"] == 2
    assert str(choice).endswith("2 rows with a missing value or weight 0 were left out.")


def test_what_missing_can_be():
    with pytest.raises(stakes.InputError, match="missing='fill' is not known; give 'error' or 'drop'"):
        stakes.evaluate(truth=[1, 0], score=[0.5, 0.2], missing="fill")
    with pytest.raises(stakes.InputError, match="something is missing in every one of 2 rows; there is nothing to"):
        stakes.evaluate(truth=[1, None], score=[None, 0.2], missing="drop")
    with pytest.raises(stakes.InputError, match="score has 3 rows but truth has 2"):
        stakes.evaluate(truth=[1, 0], score=[0.5, 0.2, 0.1], missing="drop")


# ── blank lines ──────────────────────────────────────────────────────────────────────────────────────────────────
THREE = "y,p,s\n1,0.5,a\n0,0.25,b\n1,0.75,a\n"


@pytest.mark.parametrize(
    "ending", ["", "\n", "\n\n\n", "\r\n\r\n", "\n" * 200_000], ids=["none", "1", "3", "crlf", "many"]
)
@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.spread(5)
def test_blank_lines_at_the_end_are_no_rows(tmp_path, ending, zipped):
    import gzip

    def judged(text):
        file = tmp_path / ("t.csv.gz" if zipped else "t.csv")
        file.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
        return stakes.count(file, truth="y", score="p", by="s").to_dict()

    text = THREE.replace("\n", "\r\n") if "\r" in ending else THREE
    assert judged(text + ending) == judged(THREE)
    with pytest.raises(stakes.InputError, match="line 3 is empty; delete it"):
        judged(text.replace("\n0", "\n\n0").replace("\r\n\n", "\r\n\r\n") + ending)


def test_a_condition_that_no_row_satisfies_is_told(tmp_path):
    ROWS.write_csv(tmp_path / "a.csv")
    with pytest.raises(stakes.InputError, match="no row satisfies where='p > 7'; there is nothing to evaluate"):
        from_file(tmp_path / "a.csv", where="p > 7")


def test_a_folder_is_no_target(tmp_path):
    ROWS.write_csv(tmp_path / "a.csv")
    with pytest.raises(stakes.InputError, match="is a folder; name a file in it"):
        stakes.evaluate(tmp_path / "a.csv", **COLUMNS).report(tmp_path)


def test_a_question_looks_at_the_dialect_of_each_file_once(tmp_path, monkeypatch):
    from stakes.engines.files import csv

    looked = []
    find = csv.dialect_of
    monkeypatch.setattr(csv, "dialect_of", lambda source, usual: looked.append(source.name) or find(source, usual))
    files = [tmp_path / name for name in ("a.csv", "b.csv")]
    for file in files:
        file.write_text("y,d\n1,1\n0,1\n")
    assert stakes.evaluate(files, truth="y", prediction="d")["accuracy"].value == 0.5
    assert looked == [str(file) for file in files]
    files[1].write_text("y;d\n1;1\n0;0\n1;1\n")  # another question, another look
    with pytest.warns(stakes.InputWarning, match="is read with"):
        assert stakes.evaluate(files[1], truth="y", prediction="d")["accuracy"].value == 1


@pytest.mark.parametrize(
    "labels",
    [[], ["a"], ["a", "a"], ["b", "a", "b"], ["a", "b", "c", "a"], ["a", None, "b"], [None], ["", "x"], ["é", "\0"]],
)
def test_labels_of_typed_text_are_categories(labels):
    text = pl.Series("y", labels, pl.String)
    found = kinds._as_categories(text)
    assert found.dtype in (pl.Categorical, pl.Enum)
    assert found.name == "y"
    assert found.cast(pl.String).to_list() == labels
    assert kinds._as_categories(pl.Series("p", [0.5])).to_list() == [0.5]


def test_labels_may_first_occur_in_any_batch(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "BATCH", 4)
    monkeypatch.setattr(streaming, "_MANY", 2)
    truth = ["b", "a", "b", "a", *"aaaa", *"abca", *"ccbb"]
    said = ["b", "b", "b", "a", *"aaab", *"abba", *"cabb"]
    frame = pl.DataFrame({"y": truth, "d": said})
    frame.write_csv(tmp_path / "rows.csv")
    found = stakes.evaluate(tmp_path / "rows.csv", truth="y", prediction="d", exact=False)
    assert found.confusion == stakes.evaluate(frame, truth="y", prediction="d").confusion


LONG_LINES = {
    "a decimal comma": ["1,0,73,a,n"],
    "a comma in a label": ["1,0,9,b, c,n"],
    "beside quotes": ['1,0.9,"a, ""b""\nc",n', "0,0,7,a,n"],
    "and one that is too short": ["1,0,73,a,n", "1,0.7,a"],
}


@pytest.mark.parametrize("wrong", LONG_LINES)
@pytest.mark.parametrize("batches", [False, True], ids=["whole", "batches"])
def test_no_column_is_read_from_the_place_of_another(wrong, batches, tmp_path, monkeypatch):
    """Polars cuts off what a line has too much where not all columns are read, so that what follows it moves."""
    if batches:
        monkeypatch.setattr(streaming, "MOST_EXACT", 10)
    lines = ["y,p,site,n", *(f"{i % 2},0.{i % 9},a,n" for i in range(50)), *LONG_LINES[wrong], "1,0.5,b,n"]
    file = tmp_path / "rows.csv"
    file.write_text("\n".join(lines))
    with pytest.raises(stakes.InputError, match=r"rows\.csv: line 5\d has \d fields and the header has 4"):
        stakes.evaluate(file, truth="y", score="p")


def test_lines_of_a_wide_file_may_have_quotes_and_end_with_nothing(tmp_path, monkeypatch):
    """What is counted are separators that part fields; no slow look at every line is needed."""
    monkeypatch.setattr(csv, "fault", None)
    monkeypatch.setattr(csv, "_BLOCK", 7)
    rows = [f'{i % 2},0.{i % 9},"a, ""b""\nc",{"" if i % 3 else "n"}' for i in range(60)]
    file = tmp_path / "rows.csv"
    file.write_text("\n".join(["y,p,site,n", *rows]) + "\n\n")
    assert stakes.evaluate(file, truth="y", score="p").rows == 60
