"""where=: the same condition keeps the same rows in every engine, those that plain Python keeps."""

import datetime
import importlib
import itertools
import math
import sqlite3
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import stakes
from stakes.engines import streaming
from stakes.engines.counting import count_rows
from stakes.engines.files import database, reading
from stakes.engines.files.sources import sources
from stakes.engines.reading import RowQuestion, read_rows
from stakes.errors import EmptyError, InputError
from stakes.evaluation.recalibrating import calibrate
from tests.parts import since

pytestmark = pytest.mark.slow

SLOWLY = pytest.mark.filterwarnings("ignore:PySpark does not")


# ── the engines ──────────────────────────────────────────────────────────────────────────────────────────────────
def write_sqlite(rows, folder):
    with sqlite3.connect(folder / "t.sqlite") as connection:
        names = ", ".join(f'"{name}"' for name in rows.columns)
        connection.execute("DROP TABLE IF EXISTS t")
        connection.execute(f"CREATE TABLE t ({names})")
        connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * rows.width)})", rows.rows())
    connection.close()
    return f"{folder / 't.sqlite'}::t"


def write_duckdb(rows, folder):
    duckdb = importlib.import_module("duckdb")  # part of the test extra: missing is a failure
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        connection.register("given", rows.to_arrow())
        connection.execute("CREATE OR REPLACE TABLE t AS SELECT * FROM given")
    return f"{folder / 't.duckdb'}::t"


def write_halves(rows, folder):
    rows[: len(rows) // 2].write_csv(folder / "1.csv")
    rows[len(rows) // 2 :].write_csv(folder / "2.tsv", separator="\t")
    return [folder / "1.csv", folder / "2.tsv"]


def writer(name, method):
    def write(rows, folder):
        getattr(rows, method)(folder / name)
        return folder / name

    return write


def as_pandas(rows):
    """Types that hold missing values without changing the others; booleans as Python objects."""
    types = {pl.Int64: "Int64", pl.Float64: "float64", pl.String: "str", pl.Boolean: "object"}
    return pd.DataFrame({c.name: pd.Series(c.to_list(), dtype=types[type(c.dtype)]) for c in rows.get_columns()})


def relation(rows):
    return importlib.import_module("duckdb").from_arrow(rows.to_arrow())


FILES = {
    "csv": writer("t.csv", "write_csv"),
    "parquet": writer("t.parquet", "write_parquet"),
    "json lines": writer("t.jsonl", "write_ndjson"),
    "arrow": writer("t.arrow", "write_ipc"),
    "two files": write_halves,
    "sqlite": write_sqlite,
    "duckdb": write_duckdb,
}
TABLES = {
    "lists": lambda rows: rows.to_dict(as_series=False),
    "pandas": as_pandas,
    "polars": lambda rows: rows,
    "pyarrow": lambda rows: rows.to_arrow(),
    "lazy polars": lambda rows: rows.lazy(),
    "relation": relation,
}
SLOW = {
    "dask": lambda rows: importlib.import_module("dask.dataframe").from_pandas(as_dask(rows), npartitions=2),
    "ibis": lambda rows: importlib.import_module("ibis").memtable(rows.to_arrow()),
}


def as_dask(rows):
    return as_pandas(rows).astype({c: "boolean" for c, t in rows.schema.items() if t == pl.Boolean})


def kept(data, where) -> list[int]:
    """The numbers of the rows that satisfy a condition."""
    try:
        asked = RowQuestion(truth="k", prediction="n", task="regression", where=where)
        return sorted(read_rows(data, asked).rows.truth.tolist())
    except EmptyError:
        return []


# ── random tables ────────────────────────────────────────────────────────────────────────────────────────────────
MOST_ROWS = 8
LETTERS = "aAbB'\"%_ \\é日\n.*[(?^$|"
HUGE = [2**53 + 1, 2**53, -(2**53) - 1, 2**62 + 1, -(2**63), 2**63 - 1, 9007199254740995]
WORDS = st.text(LETTERS, max_size=4).map(lambda text: text if text.strip() in ("", ".") else "x" + text)
COLUMNS = {
    "i": (st.none() | st.integers(-5, 5), pl.Int64),
    "j": (st.none() | st.integers(-5, 300), pl.Int64),
    "huge": (st.none() | st.sampled_from(HUGE), pl.Int64),
    "f": (st.none() | st.sampled_from([-0.0, 0.0, 0.1, 0.5, -2.5, 1e22, math.nan, 3.0, 2.0**53]), pl.Float64),
    "g": (st.none() | st.floats(-3, 3), pl.Float64),
    "t": (st.none() | WORDS, pl.String),
    "u": (st.none() | WORDS, pl.String),
    "b": (st.none() | st.booleans(), pl.Boolean),
    "c": (st.none() | st.booleans(), pl.Boolean),
}


@st.composite
def tables(draw):
    rows = draw(st.integers(1, MOST_ROWS))
    columns = {n: pl.Series(n, draw(st.lists(v, min_size=rows, max_size=rows)), t) for n, (v, t) in COLUMNS.items()}
    numbers = pl.Series(range(rows), dtype=pl.Int64)
    return pl.DataFrame({**columns, "k": numbers, "n": numbers})


# ── random conditions, as text and as a function of a row: True, False, or None where something is missing ───────
def column(name):
    def value(row):
        found = row[name]
        absent = found is None or found != found or (isinstance(found, str) and not found.strip())
        return None if absent else found

    return name, value


def constant(text, value):
    return text, lambda row: value


def apply(function, *values):
    """A function of values, which is missing where one of them is."""

    def value(row):
        found = [v(row) for v in values]
        return None if None in found else function(*found)

    return value


def calculated(sign):
    def work(a, b):
        a, b = float(a), float(b)
        if sign in "/%" and b == 0:
            return None
        found = {"+": a + b, "-": a - b, "*": a * b}.get(sign)
        if found is None:
            found = a / b if sign == "/" else math.fmod(a, b)
        return None if found != found else found

    return work


def compared(sign, a, b):
    """Python compares whole numbers with fractions exactly; a decimal is meant as its nearest float beside a float."""
    if isinstance(a, float) and isinstance(b, Fraction) and b.denominator > 1:
        b = float(b)
    if isinstance(b, float) and isinstance(a, Fraction) and a.denominator > 1:
        a = float(a)
    signs = {"=": a == b, "==": a == b, "<>": a != b, "!=": a != b}
    return signs[sign] if sign in signs else {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[sign]


def like(text, pattern, fold=False):
    if fold:
        text, pattern = text.lower(), pattern.lower()
    if not pattern:
        return not text
    if pattern[0] == "%":
        return any(like(text[i:], pattern[1:]) for i in range(len(text) + 1))
    return bool(text) and pattern[0] in ("_", text[0]) and like(text[1:], pattern[1:])


SIGNS = st.sampled_from(["=", "==", "<>", "!=", "<", "<=", ">", ">="])
WRITTEN = ["0", "1", "-1", "3", "2.5", "-2.5", "0.5", "0.1", ".5", "3.", "1e1", "2.50e0", "-0.0", "300", "1e22"]
BEYOND = ["9007199254740993", "-9007199254740993", "9007199254740992.5", "9223372036854775807", "9223372036854775808"]
BEYOND += ["1e19", "-1e19", "99999999999999999999999", "4611686018427387905", "0"]
LITERALS = st.sampled_from([*WRITTEN, "9007199254740992", "9007199254740993"]).map(lambda t: constant(t, Fraction(t)))
FAR = st.sampled_from(BEYOND).map(lambda text: constant(text, Fraction(text)))
SMALL = st.sampled_from(["1", "2", "-3", "4", "0"]).map(lambda text: constant(text, int(text)))


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


TEXTS = WORDS.filter(str.strip).map(lambda text: constant(quoted(text), text))
FRACTIONS = st.sampled_from(["f", "g", "i", "j"]).map(column)
WHOLE = st.sampled_from(["i", "j"]).map(column)


def worked_out(parts):
    def join(sign, one, other):
        return f"({one[0]} {sign} {other[0]})", apply(calculated(sign), one[1], other[1])

    remainders = st.builds(join, st.just("%"), WHOLE, SMALL)
    negative = parts.map(lambda part: (f"(- {part[0]})", apply(lambda v: 0.0 - float(v), part[1])))
    absolute = parts.map(lambda part: (f"ABS({part[0]})", apply(lambda v: abs(float(v)), part[1])))
    return st.builds(join, st.sampled_from("+-*/"), parts, parts | SMALL) | remainders | negative | absolute


NUMBERS = st.recursive(FRACTIONS, worked_out, max_leaves=4)
LENGTHS = st.sampled_from("tu").map(lambda name: (f"length({name})", apply(len, column(name)[1])))


def function_of(part, name):
    functions = {"lower": str.lower, "upper": str.upper, "trim": str.strip}
    return f"{name}({part[0]})", apply(functions[name], part[1])


TEXT_VALUES = st.sampled_from("tu").map(column)
TEXT_VALUES |= st.builds(function_of, TEXT_VALUES, st.sampled_from(["lower", "upper", "trim"]))


def comparison(sign, one, other):
    return f"{one[0]} {sign} {other[0]}", apply(lambda a, b: compared(sign, a, b), one[1], other[1])


def between(value, low, high, negated):
    def inside(row):
        ends = [apply(lambda a, b: compared(">=", a, b), value[1], low[1])(row)]
        ends.append(apply(lambda a, b: compared("<=", a, b), value[1], high[1])(row))
        found = False if False in ends else None if None in ends else True
        return found if found is None else found != negated

    return f"{value[0]} {'not ' * negated}BETWEEN {low[0]} AND {high[0]}", inside


def one_of(value, items, negated):
    def inside(found):
        return any(compared("=", found, item[1](None)) for item in items) != negated

    return f"{value[0]} {'NOT ' * negated}in ({', '.join(item[0] for item in items)})", apply(inside, value[1])


def alike(value, pattern, fold, negated):
    words = f"{value[0]} {'NOT ' * negated}{'ILIKE' if fold else 'LIKE'} {quoted(pattern)}"
    return words, apply(lambda text: like(text, pattern, fold) != negated, value[1])


def is_null(value, negated):
    return f"{value[0]} IS {'NOT ' * negated}NULL", lambda row: (value[1](row) is None) != negated


def flag(name, words, test):
    return words.format(name), apply(test, column(name)[1])


def lists(values):
    return st.lists(values, min_size=1, max_size=3)


ANY_COLUMN = st.sampled_from(list(COLUMNS)).map(column)
LEAVES = st.one_of(
    st.builds(comparison, SIGNS, FRACTIONS | NUMBERS | LENGTHS, LITERALS),
    st.builds(comparison, SIGNS, LITERALS, FRACTIONS | NUMBERS),
    st.builds(comparison, SIGNS, NUMBERS, NUMBERS),
    st.builds(comparison, SIGNS, WHOLE, WHOLE | LENGTHS),
    st.builds(comparison, SIGNS, st.just(column("huge")), FAR | st.sampled_from(["i", "huge"]).map(column)),
    st.builds(comparison, SIGNS, FAR, st.just(column("huge"))),
    st.builds(comparison, SIGNS, TEXT_VALUES, TEXT_VALUES | TEXTS),
    st.builds(between, FRACTIONS, LITERALS, LITERALS | NUMBERS, st.booleans()),
    st.builds(one_of, FRACTIONS | LENGTHS, lists(LITERALS), st.booleans()),
    st.builds(one_of, st.just(column("huge")), lists(FAR), st.booleans()),
    st.builds(one_of, TEXT_VALUES, lists(TEXTS), st.booleans()),
    st.builds(alike, TEXT_VALUES, st.text(LETTERS + "%%%__", max_size=4), st.booleans(), st.booleans()),
    st.builds(is_null, ANY_COLUMN | NUMBERS | LENGTHS, st.booleans()),
    st.sampled_from("bc").map(lambda name: flag(name, "{}", bool)),
    st.sampled_from("bc").map(lambda name: flag(name, "{} = false", lambda v: not v)),
    st.sampled_from("bc").map(lambda name: flag(name, "{} <> TRUE", lambda v: not v)),
    st.just(("b = c", apply(lambda a, b: a == b, column("b")[1], column("c")[1]))),
)


def put_together(parts):
    def joined(word, parts):
        def value(row):
            found = [part[1](row) for part in parts]
            decides = word == "or"
            return decides if decides in found else None if None in found else not decides

        return f" {word} ".join(f"({part[0]})" for part in parts), value

    def opposite(part):
        return f"NOT ({part[0]})", apply(lambda v: not v, part[1])

    several = st.lists(parts, min_size=2, max_size=3)
    return st.builds(joined, st.sampled_from(["and", "or"]), several) | parts.map(opposite)


CONDITIONS = st.recursive(LEAVES, put_together, max_leaves=5)
"""Pairs of a text and a function of a row."""

ALWAYS = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
ALWAYS["phases"] = [phase for phase in Phase if phase is not Phase.explain]
QUICKLY = settings(max_examples=3, derandomize=True, **ALWAYS)
DEEPLY = settings(max_examples=1_000, **ALWAYS)


def expected(rows, condition) -> list[int]:
    return [row["k"] for row in rows.to_dicts() if condition[1](row) is True]


def check(rows, conditions, data):
    for (name, table), condition in itertools.product(data.items(), conditions):
        assert kept(table, condition[0]) == expected(rows, condition), (name, condition[0])


BOTH = pytest.mark.parametrize(
    "how", [QUICKLY, pytest.param(DEEPLY, marks=pytest.mark.deep)], ids=["quickly", "deeply"]
)


@BOTH
def test_every_engine_keeps_the_rows_that_python_keeps(tmp_path, how):
    @how
    @given(tables(), st.lists(CONDITIONS, min_size=1, max_size=2))
    def same_rows(rows, conditions):
        data = {name: write(rows, tmp_path) for name, write in FILES.items()}
        check(rows, conditions, data | {name: make(rows) for name, make in TABLES.items()})

    same_rows()


@pytest.mark.parametrize("engine", [*SLOW, pytest.param("spark", marks=[pytest.mark.spark, SLOWLY, pytest.mark.deep])])
@BOTH
def test_engines_elsewhere_keep_the_rows_that_python_keeps(request, engine, how):
    make = SLOW.get(engine) or request.getfixturevalue("spark_frame")

    @settings(how, max_examples=-(-how.max_examples // (12 if engine == "spark" else 4)))  # a job each
    @given(tables(), st.lists(CONDITIONS, min_size=1, max_size=2))
    def same_rows(rows, conditions):
        check(rows, conditions, {engine: make(rows)})

    same_rows()


@pytest.fixture
def spark_frame(request):
    spark = request.getfixturevalue("spark")
    return lambda rows: spark.createDataFrame(rows.to_arrow())


def counted_rows(data, where) -> list[int]:
    """The numbers of the rows that are counted, not read: in batches, or by the engine that holds them."""
    try:
        counted = count_rows(data, truth="k", prediction="n", classes=list(range(MOST_ROWS)), where=where)
    except EmptyError:
        return []
    return np.flatnonzero(np.diagonal(counted.confusion.counts)).tolist()


@pytest.fixture
def _in_batches(monkeypatch):
    """Let two rows be many, and three a batch."""
    monkeypatch.setattr(streaming, "MOST_EXACT", 2)
    monkeypatch.setattr(streaming, "BATCH", 3)
    monkeypatch.setattr(reading, "_LOOKED_AT", 3)


@pytest.mark.usefixtures("_in_batches")
@BOTH
def test_rows_that_are_counted_in_batches_or_elsewhere_are_the_same(tmp_path, how):
    @how
    @given(tables(), CONDITIONS)
    def same_rows(rows, condition):
        data = {name: FILES[name](rows, tmp_path) for name in ("csv", "two files", "parquet", "sqlite", "duckdb")}
        data |= {name: TABLES[name](rows) for name in ("lazy polars", "relation")}
        for name, table in data.items():
            assert counted_rows(table, condition[0]) == expected(rows, condition), (name, condition[0])

    same_rows()


# ── what a text means ────────────────────────────────────────────────────────────────────────────────────────────
NUMBERED = pl.DataFrame({"k": range(200), "n": range(200), "age": range(200), "limit": [9.5] * 200})
HERE = {name: FILES[name] for name in ("csv", "parquet", "json lines", "sqlite", "duckdb")}
HERE |= {name: lambda rows, _, make=make: make(rows) for name, make in TABLES.items()}


@pytest.fixture(params=HERE)
def handed(request, tmp_path):
    """How rows are handed over, in every quick way."""
    return lambda rows: HERE[request.param](rows, tmp_path)


@pytest.mark.spread(6)
def test_numbers_compare_as_numbers(handed):
    rows = handed(NUMBERED)
    for where in ("age > 9", "9.5 < age", "age > limit", "age - 9.5 > 0"):
        assert kept(rows, where) == list(range(10, 200))


@pytest.mark.parametrize(
    ("where", "same"),
    [
        ("a OR b AND NOT c", "a OR (b AND (NOT c))"),
        ("NOT a AND b", "(NOT a) AND b"),
        ("NOT i = 1", "NOT (i = 1)"),
        ("i + 2 * j - 1 > 3", "((i + (2 * j)) - 1) > 3"),
        ("i - 1 - 1 = j", "(i - 1) - 1 = j"),
        ("-i * 2 < j / 2 / 2", "((-i) * 2) < ((j / 2) / 2)"),
        ("i BETWEEN 0 AND 1 AND b", "(i BETWEEN 0 AND 1) AND b"),
        ("NOT NOT a", "a"),
        ("1 = 1 AND a OR 1 > 2", "a"),
        ("a = TRUE", "a"),
        ("i > 1 + 2 * 3 - 4", "i > 3"),
    ],
)
def test_what_binds_more_tightly(where, same):
    values = list(itertools.product([True, False], [True, False], [True, False], [-1, 0, 1, 4], [-2, 1, 8]))
    rows = pl.DataFrame(dict(zip("abcij", zip(*values, strict=True), strict=True))).with_row_index("k")
    rows = rows.with_columns(n=pl.col("k"))
    assert kept(rows, where) == kept(rows, same)
    assert 0 < len(kept(rows, where)) < len(rows)


@pytest.mark.spread(6)
def test_columns_that_are_called_like_words_of_sql(handed):
    names = ["Len", "Over", "Window", "order", "select", "date", "from", "count", "length", "âge"]
    rows = handed(NUMBERED.with_columns(pl.col("age").alias(name) for name in names))
    assert kept(rows, " AND ".join(f"({name} < 3 OR {name} = 7)" for name in names)) == [0, 1, 2, 7]
    assert kept(rows, " AND ".join(f'"{name}" < 3' for name in names)) == [0, 1, 2]


@pytest.mark.parametrize("name", ["and", "IN", "null", "a.b", "a b", 'a"b', "a`b", "5", "日本", "-- x", "a'); DROP"])
@pytest.mark.parametrize("quote", ['"', "`"])
def test_any_name_can_be_quoted(name, quote):
    rows = NUMBERED.rename({"age": name})
    assert kept(rows.lazy(), f"{quote}{name.replace(quote, quote * 2)}{quote} < 2") == [0, 1]


# ── what columns hold ────────────────────────────────────────────────────────────────────────────────────────────
DAY, TIME = datetime.date, datetime.datetime
TYPED = pl.DataFrame(
    {
        "k": range(5),
        "n": range(5),
        "day": [DAY(2024, 5, 1), DAY(2024, 5, 2), None, DAY(2023, 1, 1), DAY(2025, 1, 1)],
        "at": [TIME(2024, 5, 1), TIME(2024, 5, 1, 10, 30), None, TIME(2024, 5, 2), TIME(2024, 5, 1, 0, 0, 0, 5)],
        "byte": pl.Series([1, -128, None, 127, 7], dtype=pl.Int8),
        "id": pl.Series([1, 2**64 - 1, None, 2**63, 7], dtype=pl.UInt64),
        "narrow": pl.Series([0.25, 0.5, None, 3, 5], dtype=pl.Float32),
        "money": pl.Series(["0.10", "0.50", None, "3.00", "7.25"]).cast(pl.Decimal(10, 2)),
        "level": pl.Series(["low", "high", None, "low", "mid"], dtype=pl.Enum(["low", "mid", "high"])),
        "word": pl.Series(["low", "high", None, " ", "mid"], dtype=pl.Categorical),
        "nothing": pl.Series([None] * 5, dtype=pl.Null),
        "written": ["2024-05-01", "2024-05-01 10:30", None, "2024-05-02T00:00", "2024-05-01T00:00:00.000005"],
    }
)
MEANT = [
    ("day >= '2024-05-01'", [0, 1, 4]),
    ("NOT day > '2024-05-01'", [0, 3]),
    ("day IN ('2024-05-01', '2025-01-01')", [0, 4]),
    ("at = '2024-05-01'", [0]),
    ("at <= '2024-05-01'", [0]),
    ("at BETWEEN '2024-05-01 00:00:01' AND '2024-05-01T23:59'", [1]),
    ("day = at", [0]),
    ("byte > 300 OR byte < -128.5", []),
    ("byte >= -128", [0, 1, 3, 4]),
    ("id = 18446744073709551615", [1]),
    ("id > -1 AND id < 99999999999999999999999", [0, 1, 3, 4]),
    ("id IN (9223372036854775808, -5, 7)", [3, 4]),
    ("id > byte", [1, 3]),
    ("narrow = 0.25 OR narrow % 2 = 1", [0, 3, 4]),
    ("money = 0.1 OR money > byte", [0, 1, 4]),
    ("level > 'low'", [4]),
    ("level = word", [0, 1, 4]),
    ("word <> 'low'", [1, 4]),
    ("word IS NULL", [2, 3]),
    ("lower(level) LIKE 'm_d' AND length(word) = 3", [4]),
]


IN_TYPES = {name: HERE[name] for name in ("parquet", "duckdb", "polars", "pyarrow", "lazy polars", "relation")}
IN_TYPES |= {
    "csv": lambda rows, folder: FILES["csv"](rows.with_columns(pl.col("money").cast(pl.Float64)), folder),
    "json lines": lambda rows, folder: FILES["json lines"](rows.with_columns(pl.col("money").cast(pl.Float64)), folder),
    "arrow in pandas": lambda rows, _: rows.to_pandas(use_pyarrow_extension_array=True),
}


@pytest.mark.parametrize("name", IN_TYPES)
@pytest.mark.spread(6)
def test_types_of_columns_are_compared_as_what_they_are(tmp_path, name):
    if name == "json lines":
        since("polars", "1.37", "refuses whole numbers beyond 2^63 in JSON")
    table = IN_TYPES[name](TYPED.drop("nothing"), tmp_path)
    asked = MEANT[::3] if name == "duckdb" else MEANT  # opened anew for each; a relation answers all
    found = {where: kept(table, where) for where, _ in asked}
    assert found == dict(asked)


@pytest.mark.parametrize("make", [lambda rows: rows.to_pandas(), lambda rows: rows.to_dict(as_series=False)])
def test_dates_decimals_and_categories_of_pandas_and_lists(make):
    table = make(TYPED.drop("id", "nothing"))
    for where, rows in MEANT:
        if "id" not in where.split():
            assert kept(table, where) == rows, where


@pytest.mark.parametrize("name", ["csv", "parquet", "json lines", "polars", "pyarrow"])
def test_text_that_is_all_dates_compares_as_dates(tmp_path, name):
    table = HERE[name](TYPED.select("k", "n", "at", "written"), tmp_path)
    assert kept(table, "written <= '2024-05-01'") == [0]
    assert kept(table, "written > '2024-05-01 10:00'") == [1, 3]
    assert kept(table, "written = at") == [0, 1, 3, 4]
    words = HERE[name](TYPED.select("k", "n", written=pl.col("written").replace("2024-05-01", "soon")), tmp_path)
    assert kept(words, "written = '2024-05-01 10:30'") == [1]
    with pytest.raises(InputError, match="'written' is put in order but holds dates that are not all written as '2024"):
        kept(words, "written > '2024-05-01 10:00'")


@pytest.mark.parametrize("make", [lambda rows: rows.lazy(), relation])
def test_dates_as_text_are_refused_in_lazy_tables(make):
    table = make(TYPED.select("k", "n", "written", word=pl.col("word").cast(pl.String)))
    for where in ("written = '2024-05-01'", "written > '2024-05-01 10:00'"):
        with pytest.raises(InputError, match="'written' holds dates as text, which other engines do not read as dates"):
            kept(table, where)
    with pytest.raises(InputError, match="'written' is compared with text but holds dates; compare it with a date"):
        kept(table, "written > '2024'")
    assert kept(table, "word > 'm'") == [4]


@pytest.mark.parametrize("make", [lambda rows: rows, lambda rows: rows.lazy(), lambda rows: rows.to_arrow()])
def test_a_column_of_nothing_is_missing_whatever_it_is_compared_with(make):
    for where in ("nothing = 5", "nothing = 'a'", "NOT nothing", "nothing = byte", "nothing < '2024-05-01'"):
        assert kept(make(TYPED), where) == []
        assert kept(make(TYPED), f"({where}) OR byte = 7") == [4]
    assert kept(make(TYPED), "nothing IS NULL") == [0, 1, 2, 3, 4]


def test_zeros_and_ones_are_booleans_where_there_are_no_others(tmp_path):
    rows = pl.DataFrame({"k": range(4), "n": range(4), "old": [1, 0, None, 1]})
    for write in ("csv", "sqlite", "parquet", "json lines"):
        assert kept(FILES[write](rows, tmp_path), "old") == kept(FILES[write](rows, tmp_path), "old = TRUE") == [0, 3]
        assert kept(FILES[write](rows, tmp_path), "NOT old") == [1]
    assert kept(rows.to_pandas(), "old <> TRUE") == [1]
    for make in (lambda rows: rows.lazy(), relation):
        assert kept(make(rows), "old") == [0, 3]
        assert kept(make(rows), "NOT old") == [1]
        with pytest.raises(
            InputError, match="'k' is compared with TRUE or FALSE but holds numbers; compare it with a n"
        ):
            kept(make(rows), "k")
    (tmp_path / "t.csv").write_text("k,n,old\n0,0,TRUE\n1,1,false\n2,2,\n3,3,True\n")
    assert kept(tmp_path / "t.csv", "old") == [0, 3]


@pytest.mark.parametrize("make", SLOW.values(), ids=SLOW)
def test_missing_values_are_looked_at_elsewhere_too(make):
    rows = pl.DataFrame(
        {"k": range(3), "n": range(3), "t": ["a", None, "b"], "u": ["a", "x", None], "old": [1, None, 0]}
    )
    assert kept(make(rows), "t = u") == kept(make(rows), "old") == [0]
    assert kept(make(rows), "t > 'a' OR u = 'x'") == [1, 2]


# ── all values decide, not the first ones ────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("batches", [False, True])
def test_columns_of_text_are_numbers_only_if_all_values_are(tmp_path, request, batches):
    if batches:
        request.getfixturevalue("_in_batches")
    asked = counted_rows if batches else kept
    values = ["10,9", "9,10", "100,20", "8,9", "9,10", "9,10"]
    (tmp_path / "1.csv").write_text("k,n,a,b\n" + "".join(f"{i},{i},{v}\n" for i, v in enumerate(values)))
    files = [tmp_path / "1.csv", tmp_path / "2.csv"]
    (tmp_path / "2.csv").write_text("k,n,a,b\n6,6,2.5,3\n")
    assert asked(files, "a < b") == [1, 3, 4, 5, 6]
    (tmp_path / "2.csv").write_text("k,n,a,b\n6,6,x,x\n")
    assert asked(files, "a = b") == [6]
    with pytest.raises(InputError, match="'a' is put in order but holds numbers beside other text; write what is no n"):
        asked(files, "a < b")
    (tmp_path / "2.csv").write_text("k,n,a,b\n6,6,x,3\n")
    for where in ("a < b", "a = b"):
        with pytest.raises(InputError, match="'a' holds text and 'b' holds numbers, so they cannot be compared"):
            asked(files, where)


@pytest.mark.parametrize(("where", "rows"), [("name >= 'Bo'", [1, 2]), ("zip > 'A'", [1, 2]), ("name < nothing", [])])
def test_text_has_the_order_of_text(tmp_path, where, rows):
    (tmp_path / "t.csv").write_text("k,n,name,zip,nothing\n0,0,Ada,01234,\n1,1,Bo,A1,\n2,2,Cy,B2,\n")
    assert kept(tmp_path / "t.csv", where) == rows


@pytest.mark.usefixtures("_in_batches")
def test_a_batch_that_is_of_another_kind_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("k,n,age\n" + "".join(f"{i},{i},{'old' if i == 7 else i}\n" for i in range(8)))
    with pytest.raises(
        InputError, match=r"t\.csv, line 9: where: the column 'age' is compared with a number but holds"
    ):
        counted_rows(tmp_path / "t.csv", "age > 3")
    with sqlite3.connect(tmp_path / "t.sqlite") as connection:
        connection.execute("CREATE TABLE t (k, n, age)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [(i, i, "old" if i > 35 else i) for i in range(40)])
    connection.close()
    with pytest.raises(InputError, match="the column 'age' is compared with a number but holds text"):
        counted_rows(f"{tmp_path / 't.sqlite'}::t", "age > 3")
    with pytest.raises(InputError, match="no row satisfies where='k > 100'"):
        count_rows(tmp_path / "t.csv", truth="k", prediction="n", classes=[0, 1], where="k > 100")


# ── nothing else can be reached ──────────────────────────────────────────────────────────────────────────────────
HOSTILE = [
    "site IN (SELECT password FROM read_csv('{file}'))",
    "site = (SELECT password FROM '{file}')",
    "EXISTS (SELECT * FROM read_csv_auto('{file}'))",
    "site IN (TABLE '{file}')",
    "length(read_text('{file}')) > 0",
    "site = 'A' UNION SELECT 1",
    "site = getenv('HOME')",
    "site = ANY (SELECT 1)",
    "load_extension('{file}') IS NULL",
    "site = 'A'; COPY t TO '{file}'",
    "pg_sleep(10) IS NULL",
    "site = $1",
    "site = ?",
    "site @> 'A'",
    "site = x'41'",
    "site = E'\\x41'",
    "site SIMILAR TO 'A'",
    "site REGEXP 'A'",
    "site LIKE 'A' ESCAPE 'B'",
    "site COLLATE nocase = 'a'",
    "site[1] = 'A'",
    "{{'a': site}}.a = 'A'",
    "site -> 'a' = 'A'",
    "(SELECT 1)",
    "(VALUES (1))",
    "rank() OVER () < 3",
    "site = 'A' LIMIT 1",
]


@pytest.mark.parametrize("name", ["csv", "parquet", "sqlite", "duckdb", "relation"])
def test_nothing_but_the_rows_columns_can_be_reached(tmp_path, name):
    secret = tmp_path / "secret.csv"
    secret.write_text("secret\nA\n")
    table = HERE[name](NUMBERED.with_columns(site=pl.lit("A")), tmp_path)
    for where in HOSTILE:
        with pytest.raises(InputError, match=r"^where=.* is not understood: ") as caught:
            kept(table, where.format(file=secret))
        assert "\n" not in str(caught.value), where
    assert secret.read_text() == "secret\nA\n"


@pytest.mark.parametrize("view", ["read_csv('{}')", "'{}'", "read_text('{}')", "glob('{}')"])
def test_a_duckdb_file_opens_no_other_file(tmp_path, view):
    duckdb = importlib.import_module("duckdb")  # part of the test extra: missing is a failure
    (tmp_path / "secret.csv").write_text("k,n\n1,1\n")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("CREATE TABLE own AS SELECT 1 AS k, 1 AS n")
        connection.execute(f"CREATE VIEW v AS SELECT * FROM {view.format(tmp_path / 'secret.csv')}")
        connection.execute("CREATE VIEW w AS SELECT * FROM own")
    assert kept(f"{tmp_path}/t.duckdb::w", "k = 1") == [1]
    with pytest.raises(InputError, match=r"t\.duckdb::v: cannot be read: it is a view of something outside its data"):
        kept(f"{tmp_path}/t.duckdb::v", "k = 1")


def test_databases_are_only_read(tmp_path):
    for write in (write_sqlite, write_duckdb):
        name = write(NUMBERED, tmp_path)
        with database._connect(sources(name)[0]) as connection:
            for query in ("DELETE FROM t", "CREATE TABLE u (a INT)", f"COPY t TO '{tmp_path}/x'"):
                with pytest.raises(Exception, match=r"(?i)read.?only|syntax|disabled"):
                    connection.execute(query)


# ── where it is asked ────────────────────────────────────────────────────────────────────────────────────────────
def test_an_engine_gives_away_groups_of_the_rows_that_are_asked_for(pulled):
    rows = pl.DataFrame({"y": [0, 1] * 500, "said": [0, 1, 1, 1] * 250, "id": range(1000)})
    for table in (relation(rows), rows.lazy()):
        pulled.clear()
        found = stakes.evaluate(table, truth="y", prediction="said", where="id < 600")
        assert found.rows == 600
        assert max(pulled)[0] <= 4


def test_every_verb_takes_a_condition(tmp_path):
    rng = np.random.default_rng(1)
    rows = pl.DataFrame({"y": rng.integers(0, 2, 80), "p": rng.random(80), "q": rng.random(80), "age": range(80)})
    half = rows.filter(pl.col("age") < 40)
    question = {"truth": "y", "score": "p"}
    rows.write_csv(tmp_path / "t.csv")
    where = "age < 40"
    for table in (rows, rows.lazy(), rows.to_pandas(), rows.to_dict(as_series=False), tmp_path / "t.csv"):
        assert stakes.evaluate(table, **question, where=where).to_dict() == stakes.evaluate(half, **question).to_dict()
        assert stakes.count(table, **question, where=where).scores == stakes.count(half, **question).scores
    for table in (rows.lazy(), tmp_path / "t.csv"):
        for ask in (
            lambda t, **more: stakes.decide(t, **question, best="f1", **more).threshold,
            lambda t, **more: stakes.permutation_test(t, **question, permutations=99, **more).p_value,
            lambda t, **more: stakes.compare(t, truth="y", scores=["p", "q"], resamples=200, **more).conclusion,
            lambda t, **more: str(calibrate(t, **question, folds=2, method="sigmoid", **more)),
        ):
            assert ask(table, where=where) == ask(half)
    assert stakes.evaluate([rows[:20], rows[20:60], rows[60:]], **question, where=where).rows == 40
    with pytest.raises(InputError, match="no row satisfies where='age > 400'"):
        stakes.evaluate(rows.lazy(), **question, exact=False, where="age > 400")


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "arrow", "duckdb", "parquet", "array"])
def test_nanoseconds_are_refused_rather_than_cut(kind, tmp_path):
    times = np.array(["2024-01-01T00:00:00.000000000", "2024-01-01T00:00:00.000000500"] * 2, "datetime64[ns]")
    rows = {"y": [0, 0, 1, 1], "p": [0.1, 0.2, 0.8, 0.9], "t": times}
    plain = {**rows, "t": times.astype("datetime64[us]").astype("datetime64[ns]")}
    for content in (rows, plain):
        frame = pl.DataFrame(content)
        frame.write_parquet(tmp_path / "t.parquet")
        table = frame.to_arrow()
        data = {
            "polars": frame,
            "lazy": frame.lazy(),
            "pandas": pd.DataFrame(content),
            "arrow": table,
            "duckdb": importlib.import_module("duckdb").from_arrow(table),
            "parquet": tmp_path / "t.parquet",
            "array": content,
        }[kind]
        if content is plain:
            assert stakes.evaluate(data, truth="y", score="p", where="t = '2024-01-01'").rows == 4
            with pytest.raises(stakes.InputError, match="is compared with text but holds"):
                stakes.evaluate(data, truth="y", score="p", where="t < '2024-01-01 00:00:00.0000004'")
        else:
            with pytest.raises(stakes.InputError, match="the column 't' holds times finer than microseconds"):
                stakes.evaluate(data, truth="y", score="p", where="t = '2024-01-01'")


def test_a_text_with_blanks_around_it_is_found_again(tmp_path):
    (tmp_path / "t.csv").write_text("y,p,site\n1,0.8,a \n0,0.2,b\n1,0.7,a\n0,0.3,b\n")
    with pytest.raises(
        InputError, match=r"t\.csv, line 2: where: the column 'site' is compared with a number but holds"
    ):
        stakes.evaluate(tmp_path / "t.csv", truth="y", score="p", where="site > 20")
