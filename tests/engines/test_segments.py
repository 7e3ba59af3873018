"""Segments by several columns: their names, the combinations that occur, and every engine alike."""

import pickle

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stakes
from stakes.engines import segments, streaming
from stakes.engines.columns import to_column
from stakes.engines.lazy import counting as lazy_counting
from stakes.engines.segments import segment_labels, values_of

NAMES = st.text(st.sampled_from('ab,= "\\é'), min_size=1, max_size=6).filter(str.strip)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 600
    return pd.DataFrame(
        {
            "y": rng.integers(0, 2, n),
            "d": rng.integers(0, 2, n),
            "p": rng.integers(0, 50, n) / 50,
            "site": rng.choice(["A", "B, x", "C=1"], n),
            "sex": rng.choice(["f", "m"], n),
            "k": rng.integers(1, 12, n),
            "t": rng.normal(size=n),
        }
    )


QUESTIONS = {
    "decisions": {"truth": "y", "prediction": "d"},
    "scores": {"truth": "y", "score": "p"},
    "numbers": {"truth": "t", "prediction": "p"},
}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=list(QUESTIONS))
def test_a_segment_is_the_evaluation_of_its_rows(table, question):
    ev = stakes.evaluate(table, by=["site", "sex"], **question)
    groups = dict(list(table.groupby(["site", "sex"])))
    assert len(ev.segments) == len(groups) == 6
    for (site, sex), rows in groups.items():
        alone = stakes.evaluate(rows.reset_index(), **question)
        part = ev.segments[site, sex]
        assert part.rows == len(rows)
        assert {n: str(f.value) for n, f in part.figures.items()} == {n: str(f.value) for n, f in alone.figures.items()}


def test_names_say_which_values_and_quote_what_would_be_ambiguous(table):
    ev = stakes.evaluate(table, truth="y", prediction="d", by=("site", "sex"))
    assert list(ev.segments) == [
        "site=A, sex=f", "site=A, sex=m", 'site="B, x", sex=f', 'site="B, x", sex=m', 'site="C=1", sex=f',
        'site="C=1", sex=m',
    ]  # fmt: skip
    assert ev.segments['site="B, x", sex=f'] is ev.segments["B, x", "f"]
    assert ("B, x", "f") in ev.segments
    assert ("B", "f") not in ev.segments
    with pytest.raises(stakes.InputError, match=r"there is no segment \('B', 'f'\)"):
        ev.segments["B", "f"]
    by_number = stakes.evaluate(table, truth="y", prediction="d", by=["k", "sex"])
    assert by_number.segments[2, "f"].rows == ((table.k == 2) & (table.sex == "f")).sum()
    assert list(by_number.segments)[2::2][:3] == ["k=2, sex=f", "k=3, sex=f", "k=4, sex=f"]  # not 1, 10, 11, 2


@given(st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=20))
def test_no_two_combinations_have_the_same_name(rows):
    columns = {f"by {i}": to_column(list(values), "by") for i, values in enumerate(zip(*rows, strict=True))}
    labels = segment_labels(columns)
    assert len(set(labels.names)) == len(set(rows)) == len(labels.names)
    assert [values_of(labels.names[code]) for code in labels.codes] == rows


def test_only_combinations_that_occur_are_numbered():
    """Of columns whose combinations no table would hold."""
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 3_000, 10_000) for _ in range(6)]
    labels = segment_labels({f"by {i}": to_column(column, "by") for i, column in enumerate(columns)})
    found, codes = np.unique(np.stack(columns), axis=1, return_inverse=True)
    assert np.array_equal(labels.codes, codes)
    assert [tuple(map(int, values_of(name))) for name in labels.names] == [tuple(one) for one in found.T.tolist()]


def counted(data=None, **question):
    """The counts as data, without the names of their columns, which arrays do not have."""
    told = stakes.count(data, **question).to_dict()
    return {name: value for name, value in told.items() if name != "question"}


def test_every_way_to_give_the_columns_is_the_same(table, tmp_path):
    columns = ["site", "sex", "k"]
    question = {"truth": "y", "prediction": "d"}
    expected = counted(table, by=columns, **question)
    table.to_csv(tmp_path / "t.csv", index=False)
    arrays = {name: table[name] for name in columns}
    bare = {"truth": table.y, "prediction": table.d}
    assert counted(**bare, by=arrays) == expected
    assert counted(**bare, by=list(arrays.values())) == expected
    assert counted(table, by={name: name for name in columns}, **question) == expected
    assert counted(tmp_path / "t.csv", by=columns, **question) == expected
    assert counted(pl.from_pandas(table), by=columns, **question) == expected
    assert counted(pl.from_pandas(table).lazy(), by=columns, **question) == expected
    halves = [table.iloc[:250], table.iloc[250:].reset_index()]
    added = counted(halves, by=columns, **question)
    assert added["segments"] == {name: expected["segments"][name] for name in added["segments"]}
    one = stakes.evaluate(table, by=["site"], **question)
    assert list(one.segments) == ["A", "B, x", "C=1"]
    unnamed = stakes.evaluate(**bare, by=[table.site.to_numpy(), table.sex.to_numpy()])
    assert next(iter(unnamed.segments)) == "1=A, 2=f"


def test_a_column_that_makes_segments_is_named_in_errors(table):
    with pytest.raises(stakes.InputError, match=r"by site .*3"):
        stakes.evaluate(truth=table.y, prediction=table.d, by={"site": ["a", "b", "c"], "sex": table.sex})
    with pytest.raises(stakes.InputError, match="there is no column 'sight'"):
        stakes.evaluate(table, truth="y", prediction="d", by=["sight", "sex"])
    with pytest.raises(stakes.InputError, match=r"by= names a column twice \('sex' and 'sex'\); name each column"):
        stakes.evaluate(table, truth="y", prediction="d", by=["sex", "sex"])
    with pytest.raises(stakes.InputError, match="by= names no column; name each"):
        stakes.evaluate(table, truth="y", prediction="d", by={})


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=list(QUESTIONS))
def test_segments_are_saved_pickled_and_added(table, question):
    counted = stakes.count(table, by=["site", "sex"], **question)
    assert pickle.loads(pickle.dumps(counted)) == counted
    assert type(counted).from_dict(counted.to_dict()) == counted
    parts = [stakes.count(table.iloc[rows].reset_index(), by=["site", "sex"], **question)
             for rows in (slice(0, 300), slice(300, 600))]  # fmt: skip
    assert {n: p.tallies for n, p in sum(parts).segments.items()}.keys() == dict(counted.segments).keys()


def test_the_callers_columns_may_change_afterwards(table):
    truth, said, site = table.t.to_numpy().copy(), table.p.to_numpy().copy(), table.k.to_numpy().copy()
    ev = stakes.evaluate(truth=truth, prediction=said, by=site)
    expected = stakes.evaluate(truth=truth[site == 3], prediction=said[site == 3])["mean_error"].value
    truth += 100
    assert ev.segments[3]["mean_error"].value == expected


def test_thousands_of_segments_are_counted_in_one_pass():
    rng = np.random.default_rng(0)
    truth, decided, site = rng.integers(0, 2, 10**5), rng.integers(0, 2, 10**5), rng.integers(0, 10**4, 10**5)
    counted = stakes.count(truth=truth, prediction=decided, by=site)
    cells = np.zeros((10**4, 2, 2), int)
    np.add.at(cells, (site, truth, decided), 1)
    for name, part in counted.segments.items():
        assert np.array_equal(part.confusion.counts, cells[int(name)])


def test_times_name_segments_alike_wherever_they_lie(table):
    """Arrow, in which DuckDB and Ibis answer, writes seconds with a fraction."""
    hours = pl.datetime(2026, 1, 1) + pl.duration(hours=pl.col("k") % 3)
    frame = pl.from_pandas(table).with_columns(hour=hours)
    wanted = [f"2026-01-01 0{hour}:00:00" for hour in range(3)]
    for data in (frame, frame.to_pandas(), frame.to_arrow(), frame.lazy(), duckdb.from_arrow(frame.to_arrow())):
        assert [*stakes.evaluate(data, **QUESTIONS["scores"], by="hour").segments] == wanted


CLUSTERED = {"decisions in clusters": {**QUESTIONS["decisions"], "cluster": "k"}}


@pytest.mark.parametrize("place", ["memory", "file", "engine"])
@pytest.mark.parametrize("question", [*QUESTIONS.values(), *CLUSTERED.values()], ids=[*QUESTIONS, *CLUSTERED])
def test_flags_without_rows_are_no_segment(question, place, table, tmp_path, monkeypatch):
    monkeypatch.setattr(lazy_counting, "FEW_ROWS", 10)
    flagged = pl.from_pandas(table).with_columns(
        vip=pl.col("sex") == "f", left=pl.col("sex") == "f", k=pl.int_range(pl.len()) % 60
    )
    flagged.write_parquet(tmp_path / "rows.parquet")
    rows = {"memory": flagged, "file": tmp_path / "rows.parquet", "engine": flagged.lazy()}[place]
    beside = {"exact": False} if place == "file" else {}
    ev = stakes.evaluate(rows, **question, by="vip", where="left", **beside)
    assert {name: part.rows for name, part in ev.segments.items()} == {"true": ev.rows}
    assert ev.rows == flagged["vip"].sum()


@pytest.mark.parametrize("lost", [{"missing": "drop"}, {"weight": "w"}], ids=str)
def test_all_that_is_left_out_may_have_one_flag(lost):
    rows = pl.DataFrame({"y": [1, 0, 1, 0] * 9, "d": [1, 0, 0, 1] * 9, "vip": [True, True, True, False] * 9})
    gone = pl.when("vip").then(pl.lit(1)).otherwise(pl.lit(0 if "weight" in lost else None)).alias("w")
    counted = rows.with_columns(gone).with_columns(pl.when(pl.col("w").is_null()).then(None).otherwise("d").alias("d"))
    ev = stakes.evaluate(counted, truth="y", prediction="d", positive=1, by="vip", **lost)
    assert [*ev.segments] == ["true"]
    assert ev.counted.dropped_in == {"false": (9, 9), "true": (0, 27)}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=list(QUESTIONS))
@pytest.mark.parametrize("place", ["memory", "batches"])
def test_a_column_that_names_rows_makes_no_segments(question, place, table, tmp_path, monkeypatch):
    """Each row would be an evaluation of its own, which takes gigabytes before anybody sees why."""
    for module in (segments, streaming):
        monkeypatch.setattr(module, "MOST_SEGMENTS", 15)
    named = pl.from_pandas(table).with_columns(row=pl.int_range(pl.len()))
    rows = named
    if place == "batches":
        monkeypatch.setattr(streaming, "MOST_EXACT", 100)
        named.write_parquet(rows := tmp_path / "rows.parquet")
    with pytest.raises(stakes.InputError, match=r"by= makes 600 segments of 600 rows, too few in each to .*cluster="):
        stakes.evaluate(rows, **question, by="row")
    assert len(stakes.evaluate(rows, **question, by=["k", "sex"]).segments) == 22
