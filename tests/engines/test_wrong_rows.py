"""What is wrong with rows is told of all of them: batches of files say what the same files read whole say."""

import importlib
import math
import pickle
import sqlite3

import duckdb
import numpy as np
import polars as pl
import pytest

from stakes import InputError, calibrate, compare, evaluate, permutation_test
from stakes.engines import streaming
from stakes.engines.counting import count_rows
from stakes.evaluation import shared_models

ROWS = 1_000
WRONG = [50, 300, 301, 700, 999]
SCORES = {"truth": "y", "score": "p"}
WEIGHED = {**SCORES, "weight": "w"}
DECISIONS = {"truth": "sick", "prediction": "said", "positive": "yes"}
PROBABILITIES = {"truth": "site", "score": {"a": "a", "b": "b"}}
NUMBERS = {"truth": "real", "prediction": "guess"}
COUNTS = {"truth": "times", "prediction": "p", "task": "counts"}
QUANTILES = {"truth": "real", "quantiles": {0.1: "real", 0.9: "guess"}}
LABELS = {"truth": {"a": "y", "b": "ill"}, "score": {"a": "a", "b": "b"}, "frequency": "often"}
MODELS = {"truth": "y", "scores": ["p", "b"]}
SERIES = {"truth": "real", "prediction": "guess", "order": "day", "series": "ward"}
CLUSTERED = {"cluster": "patient"}


def rows():
    generator = np.random.default_rng(9)
    truth, score = generator.random(ROWS) < 0.4, generator.random(ROWS)
    sick, said = (np.where(one, "yes", "no") for one in (truth, generator.random(ROWS) < 0.5))
    real = generator.normal(size=ROWS)
    return pl.DataFrame(
        {"y": truth.astype(int), "p": score, "w": 1 - score / 2, "sick": sick, "said": said}
        | {"site": np.where(truth, "a", "b"), "a": score, "b": 1 - score}
        | {"real": real, "guess": real + 0.5, "times": generator.integers(0, 9, ROWS)}
        | {"patient": np.arange(ROWS) // 4 * 1.0, "ill": (~truth).astype(int), "often": np.ones(ROWS, int)}
        | {"day": np.arange(ROWS), "ward": [f"ward {row % 3}" for row in range(ROWS)]}
    )


def spoiled(frame, column, value, where=WRONG):
    """Put a value into some rows of a column."""
    values = frame[column].to_list()
    if isinstance(value, str):
        values = [str(one) for one in values]
    for row in where:
        values[row] = value
    return frame.with_columns(pl.Series(column, values, strict=False))


def told(data, question, monkeypatch, most_exact, **more):
    """The error of a question, counted in batches where there are more rows than ``most_exact``."""
    monkeypatch.setattr(streaming, "MOST_EXACT", most_exact)
    monkeypatch.setattr(streaming, "BATCH", 128)
    with pytest.raises(InputError) as problem:
        count_rows(data, **question, **more)
    return problem.value.code, str(problem.value)


def in_files(frame, folder, kind, files):
    names = [str(folder / f"{number}.{kind}") for number in range(files)]
    for number, name in enumerate(names):
        part = frame[number * ROWS // files : (number + 1) * ROWS // files]
        part.write_csv(name) if kind == "csv" else part.write_parquet(name)
    return names


FAULTS = [
    (SCORES, "p", None), (SCORES, "p", math.nan), (SCORES, "p", math.inf), (SCORES, "p", "n/k"), (SCORES, "y", 0.5),
    (WEIGHED, "w", -1.0), (WEIGHED, "w", math.inf), (WEIGHED, "w", 1e200), (DECISIONS, "sick", " "),
    (DECISIONS, "said", None), (PROBABILITIES, "b", math.inf), (PROBABILITIES, "b", "?"), (PROBABILITIES, "site", None),
    (NUMBERS, "guess", math.inf), (NUMBERS, "guess", "none"), (NUMBERS, "real", None), (COUNTS, "times", -1),
    (QUANTILES, "guess", -99.0), (LABELS, "often", 0),
]  # fmt: skip


@pytest.mark.parametrize(("question", "column", "value"), FAULTS)
@pytest.mark.parametrize("files", [1, 2])
@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.spread(24)
def test_a_fault_is_told_of_all_rows(question, column, value, files, kind, tmp_path, monkeypatch):
    data = in_files(spoiled(rows(), column, value), tmp_path, kind, files)
    whole = told(data, question, monkeypatch, 10**9)
    assert told(data, question, monkeypatch, 100) == whole
    if (column, value, kind) != ("y", 0.5, "csv"):  # text names classes: there are three of them
        assert " 5 rows" in whole[1]
        assert f"0.{kind}, {'row 51' if kind == 'parquet' else 'line 52'}" in whole[1]


@pytest.mark.parametrize("question", [SCORES, WEIGHED, DECISIONS, PROBABILITIES, NUMBERS])
def test_clusters_that_are_no_whole_numbers_are_told_of_all_rows(question, tmp_path, monkeypatch):
    """Of files that are read in batches, and of rows that lie elsewhere."""
    frame = spoiled(rows(), "patient", 0.5)
    data = in_files(frame, tmp_path, "parquet", 2)
    assert told(data, question | CLUSTERED, monkeypatch, 100) == told(data, question | CLUSTERED, monkeypatch, 10**9)
    for elsewhere in (frame.lazy(), duckdb.from_arrow(frame.to_arrow())):
        code, words = told(elsewhere, question | CLUSTERED, monkeypatch, 100)
        assert code == "fractional-labels"
        assert words.startswith("cluster has 5 rows that hold no class (0.5; ")


def test_the_first_row_of_all_series_is_told_that_goes_back_in_time(tmp_path, monkeypatch):
    """Rows 51 and 701 are of one ward, row 301 is of the one that comes first by name."""
    data = in_files(spoiled(rows(), "day", 0), tmp_path, "parquet", 2)
    whole = told(data, SERIES, monkeypatch, 10**9)
    assert "of series 'ward 2' go back (the first is in " in whole[1]
    assert told(data, SERIES, monkeypatch, 100) == whole


@pytest.mark.parametrize("verb", [evaluate, calibrate, permutation_test])
@pytest.mark.parametrize("value", [math.inf, math.nan, None])
def test_every_verb_names_the_file(verb, value, tmp_path):
    data = in_files(spoiled(rows(), "p", value), tmp_path, "parquet", 2)
    with pytest.raises(InputError, match=r"5 rows \(the first is in .*0\.parquet, row 51, "):
        verb(data, **SCORES)


OUTPUTS = {"truth": {"a": "real", "b": "a"}, "prediction": {"a": "guess", "b": "b"}}
NOTHING_LEFT = [
    (evaluate, {**LABELS, "frequency": None}, {"where": "p < 0"}, "no row satisfies where='p < 0'"),
    (evaluate, OUTPUTS, {"where": "p < 0", "missing": "drop"}, "no row satisfies where='p < 0'"),
    (evaluate, OUTPUTS, {"missing": "drop"}, "something is missing in every one of 1,000 rows"),
    (compare, MODELS, {"where": "p < 0", "missing": "drop"}, "no row satisfies where='p < 0'"),
    (compare, MODELS, {"missing": "drop"}, "something is missing in every one of 1,000 rows"),
]


@pytest.mark.parametrize(("verb", "question", "more", "words"), NOTHING_LEFT)
def test_rows_of_which_none_is_left_are_told_as_users_asked(verb, question, more, words, tmp_path, monkeypatch):
    """What is missing is left out by a condition of our own in files and engines, which is not named."""
    frame = rows().with_columns(b=pl.lit(None, pl.Float64))
    for module in (streaming, shared_models):
        monkeypatch.setattr(module, "MOST_EXACT", 100)
    monkeypatch.setattr(shared_models, "FEW_ROWS", 100)
    monkeypatch.setattr(streaming, "BATCH", 128)
    for data in (frame, in_files(frame, tmp_path, "parquet", 1)[0], frame.lazy()):
        with pytest.raises(InputError) as problem:
            verb(data, **question, **more)
        assert words in str(problem.value)


def test_shares_that_are_called_percentages_are_refused_in_batches_too(tmp_path, monkeypatch):
    shares, question = in_files(rows(), tmp_path, "parquet", 2), {**SCORES, "percent": True}
    with pytest.raises(InputError, match="it is no percentage") as whole:
        evaluate(shares, **question)
    monkeypatch.setattr(streaming, "MOST_EXACT", 100)
    monkeypatch.setattr(streaming, "BATCH", 128)
    with pytest.raises(InputError) as in_batches:
        evaluate(shares, **question)
    assert str(in_batches.value) == str(whole.value)
    one_above = in_files(spoiled(rows(), "p", 99.0, [800]), tmp_path, "csv", 2)
    assert evaluate(one_above, **question).scores.grid is not None


def test_what_is_told_first_is_what_all_rows_would_be_refused_for(tmp_path, monkeypatch):
    """The first batch has an infinite score, a later one a missing truth beside another one: the truth comes first."""
    frame = spoiled(spoiled(rows(), "p", math.inf, [10, 800]), "y", None, [400, 800])
    data = in_files(frame, tmp_path, "parquet", 1)
    assert "truth is missing in 2 rows" in told(data, SCORES, monkeypatch, 100)[1]
    assert told(data, SCORES, monkeypatch, 100) == told(data, SCORES, monkeypatch, 10**9)


def test_words_of_all_rows_may_stand_for_missing_values(tmp_path, monkeypatch):
    data = in_files(spoiled(spoiled(rows(), "p", "n/k", [10]), "p", "?", [900]), tmp_path, "csv", 1)
    assert "('n/k' and '?'; " in told(data, SCORES, monkeypatch, 100)[1]
    assert told(data, SCORES, monkeypatch, 100) == told(data, SCORES, monkeypatch, 10**9)


def test_rows_that_a_condition_or_a_gap_leaves_out_are_numbered_with_the_others(tmp_path, monkeypatch):
    frame = spoiled(spoiled(rows(), "p", math.inf), "y", None, [3, 340, 600])
    data = in_files(frame.with_row_index(), tmp_path, "parquet", 2)
    more = {"where": "index >= 20", "missing": "drop"}
    code, words = told(data, SCORES, monkeypatch, 100, **more)
    assert code == "infinite-values"
    assert "infinite in 5 rows" in words
    assert "0.parquet, row 51," in words
    assert (code, words) == told(data, SCORES, monkeypatch, 10**9, **more)


@pytest.mark.parametrize("question", [SCORES, WEIGHED, PROBABILITIES, NUMBERS, COUNTS])
def test_rows_that_all_lack_a_value_are_said_to(question, tmp_path, monkeypatch):
    frame = rows().with_columns(pl.lit(None, pl.Int64).alias(question["truth"]))
    data = in_files(frame, tmp_path, "parquet", 2)
    code, words = told(data, question, monkeypatch, 100, missing="drop")
    assert code == "nothing-left"
    assert "every one of 1,000 rows" in words


def test_weights_of_nothing_are_told_beside_rows_that_lack_a_value(tmp_path, monkeypatch):
    frame = spoiled(rows().with_columns(w=pl.lit(0.0)), "y", None, range(500))
    data = in_files(frame, tmp_path, "parquet", 1)
    assert told(data, WEIGHED, monkeypatch, 100, missing="drop")[0] == "zero-weights"


def test_an_error_about_rows_travels_between_processes():
    with pytest.raises(InputError) as problem:
        evaluate({"y": [0, 1, 0], "p": [0.1, math.inf, math.inf]}, truth="y", score="p")
    arrived = pickle.loads(pickle.dumps(problem.value))
    assert (str(arrived), arrived.row) == (str(problem.value), 1)


# ── kinds of columns that differ between files ───────────────────────────────────────────────────────────────────
WORDS = pl.when(pl.col("y") == 1).then(pl.lit("yes")).otherwise(pl.lit("no"))


@pytest.mark.parametrize(
    ("question", "other", "words"),
    [
        (SCORES, {"y": WORDS}, "truth holds numbers in {}0.parquet and text in {}1.parquet"),
        (SCORES, {"y": pl.col("y") == 1}, "truth holds numbers in {}0.parquet and booleans in {}1.parquet"),
        (NUMBERS, {"guess": pl.col("guess").cast(str)}, "prediction holds numbers in {}0.parquet and text in"),
        ({**SCORES, "by": "site"}, {"site": pl.lit(7)}, "by holds text in {}0.parquet and numbers in {}1.parquet"),
    ],
)
def test_files_that_hold_other_kinds_are_refused_and_named(question, other, words, tmp_path, monkeypatch):
    data = in_files(rows(), tmp_path, "parquet", 2)
    pl.read_parquet(data[1]).with_columns(**other).write_parquet(data[1])
    whole = told(data, question, monkeypatch, 10**9)
    assert whole == told(data, question, monkeypatch, 100)
    assert whole[0] == "different-kinds"
    assert words.format(*[f"{tmp_path}/"] * 2) in whole[1]


@pytest.mark.parametrize("order", [1, -1])
def test_text_without_types_is_read_as_the_files_beside_it(order, tmp_path, monkeypatch):
    """Labels of a CSV file are text, and those of a Parquet file numbers; scores are numbers wherever they stand."""
    (one,), frame = in_files(rows(), tmp_path, "csv", 1), rows()
    frame.with_columns(pl.col("p").cast(str)).write_parquet(tmp_path / "typed.parquet")
    data = [one, str(tmp_path / "typed.parquet")][::order]
    expected = count_rows(pl.concat([frame, frame]), **SCORES, exact=False)
    for most in (10**9, 100):
        monkeypatch.setattr(streaming, "MOST_EXACT", most)
        found = count_rows(data, **SCORES, exact=False)
        assert found.scores.class_sizes() == expected.scores.class_sizes()
        assert found.scores.as_columns().scores.tolist() == expected.scores.as_columns().scores.tolist()


def test_a_column_that_changes_its_kind_within_a_table_is_refused(tmp_path, monkeypatch):
    with sqlite3.connect(tmp_path / "rows.sqlite") as base:
        base.execute("create table t (y, p)")
        labels = [str(n % 2) if n >= 512 else n % 2 for n in range(ROWS)]
        base.executemany("insert into t values (?, ?)", [(label, n / ROWS) for n, label in enumerate(labels)])
    base.close()
    code, words = told(f"{tmp_path}/rows.sqlite::t", SCORES, monkeypatch, 100)
    assert code == "kind-changes"
    assert "truth holds numbers in the first rows and text in later ones" in words


@pytest.mark.parametrize("question", [SCORES, DECISIONS, NUMBERS], ids=lambda question: question["truth"])
@pytest.mark.parametrize("role", ["by", "cluster"])
@pytest.mark.parametrize("place", ["memory", "lazy", "duckdb", "ibis"])
def test_durations_name_nothing(question, role, place):
    frame = rows().with_columns(stay=pl.duration(hours=pl.col("times")))
    made = {
        "memory": lambda: frame,
        "lazy": frame.lazy,
        "duckdb": lambda: duckdb.from_arrow(frame.to_arrow()),
        "ibis": lambda: importlib.import_module("ibis").memtable(frame.to_arrow()),
    }[place]()
    with pytest.raises(InputError) as problem:
        evaluate(made, **question, **{role: "stay"})
    assert str(problem.value) == f"{role} holds Duration(time_unit='us') values; give text, numbers or booleans"
