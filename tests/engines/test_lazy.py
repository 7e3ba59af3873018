"""One question, every engine: the same counts and figures from lists as from Spark, and no row leaves its engine."""

import functools
import importlib
import itertools
import json
import math
import os
import runpy
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

import stakes
from stakes.engines import finer_bins, streaming
from stakes.engines.classes import queries as class_queries
from stakes.engines.lazy import counting as lazy
from stakes.engines.lazy import order, queries
from stakes.errors import InputError, InputWarning, MissingPartError
from stakes.evaluation import recalibrating, shared_models
from stakes.tallies import bins
from stakes.tallies.grid import Grid
from stakes.validation import permutation
from tests.engines.test_streaming import crowded
from tests.parts import since

pytestmark = pytest.mark.slow

ROWS = 400


# ── the engines ──────────────────────────────────────────────────────────────────────────────────────────────────
def duckdb_relation(frame: pl.DataFrame):
    duckdb = importlib.import_module("duckdb")  # part of the test extra: missing is a failure
    return duckdb.from_arrow(frame.to_arrow())


def dask_frame(frame: pl.DataFrame, partitions: int = 2):
    """Partitions as they come from files: the rows of each are numbered from 0 on, and one has none."""
    dask = importlib.import_module("dask.dataframe")  # part of the test extra: missing is a failure
    ends = [*np.linspace(0, len(frame), partitions + 1).astype(int).tolist(), len(frame)]
    parts = [frame[start:end].to_pandas() for start, end in itertools.pairwise(ends)]
    return dask.from_map(lambda part: part, parts, meta=parts[0].iloc[:0])


def ibis_table(frame: pl.DataFrame):
    ibis = importlib.import_module("ibis")  # part of the test extra: missing is a failure
    return ibis.memtable(frame.to_arrow())


def spark_frame(spark, frame: pl.DataFrame):
    return spark.createDataFrame(frame.to_pandas()).repartition(3)


HERE = {
    "lists": lambda frame: frame.to_dict(as_series=False),
    "numpy": lambda frame: {name: frame[name].to_numpy() for name in frame.columns},
    "pandas": lambda frame: frame.to_pandas(),
    "polars": lambda frame: frame,
    "pyarrow": lambda frame: frame.to_arrow(),
}
ELSEWHERE = {
    "lazy polars": lambda frame: pl.concat([frame[:100].lazy(), frame[100:].lazy()]),
    "duckdb": duckdb_relation,
    "dask": dask_frame,
    "ibis": ibis_table,
}
SPARK = pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.filterwarnings("ignore:PySpark does not")])


SLOWEST = ("dask", "ibis", "spark")
"""They take long for every question; those that walk the way of another one are asked in the deep form."""


def sooner_or_later(engine):
    marks = [*SPARK.marks] if engine == "spark" else []
    return pytest.param(engine, marks=[*marks, pytest.mark.deep] if engine in SLOWEST else marks)


EVERY_ENGINE = pytest.mark.parametrize("elsewhere", [*ELSEWHERE, SPARK], indirect=True)


QUICK_ENGINES = [sooner_or_later(engine) for engine in (*ELSEWHERE, "spark")]


@pytest.fixture(params=QUICK_ENGINES)
def elsewhere(request):
    """How a table is handed over, in the engines that keep the rows to themselves."""
    return maker(request)


@pytest.fixture
def anywhere(request):
    """The same in every engine; tests name those that they want."""
    return maker(request)


def maker(request):
    if request.param == "spark":
        spark = request.getfixturevalue("spark")
        return lambda frame: spark_frame(spark, frame)
    return {**HERE, **ELSEWHERE}[request.param]


def engines_with(others, engines, is_slow):
    """Every engine with everything else; what takes long, and walks the way of another case, is marked as deep."""
    for engine, other in itertools.product([*engines, "spark"], others):
        marks = [*SPARK.marks] if engine == "spark" else []
        marks += [pytest.mark.deep] if is_slow(engine, other) else []
        yield pytest.param(engine, other, marks=marks, id=f"{engine}-{other}")


@pytest.fixture(autouse=True)
def _one_thread_for_dask():
    """Tables are small here: Dask's threads would only wait for each other."""
    dask = importlib.import_module("dask")  # part of the test extra: missing is a failure
    with dask.config.set(scheduler="synchronous"):
        yield


# ── the rows ─────────────────────────────────────────────────────────────────────────────────────────────────────
@functools.cache
def rows() -> pl.DataFrame:
    """Columns of every kind; weights are whole eighths, so that their sums are exact in any order."""
    rng = np.random.default_rng(0)
    score = rng.integers(0, 60, ROWS) / 64
    sick = rng.random(ROWS) < 0.2 + 0.6 * score
    called = rng.random(ROWS) < 0.3 + 0.4 * sick
    answers = np.array(["no", "yes"])
    return pl.DataFrame(
        {
            "word": answers[sick.astype(int)],
            "said": answers[called.astype(int)],
            "whole": sick.astype(np.int8),
            "whole said": called.astype(np.int64),
            "flag": sick,
            "flag said": called,
            "float": sick.astype(np.float64),
            "sign": 2 * sick.astype(np.int64) - 1,
            "species": rng.choice(["setosa", "007", "7", "ünïcode"], ROWS),
            "species said": rng.choice(["setosa", "007", "7", "none of them"], ROWS),
            "p": score,
            "narrow": score.astype(np.float32) + np.float32(0.01),
            "logit": 8 * score - 4.125,
            "points": (64 * score).astype(np.int64),
            "w": rng.integers(0, 24, ROWS) / 8,
            "copies": rng.integers(1, 5, ROWS),
            "site": rng.choice(["north", "south", "far, far away"], ROWS),
            "ward": rng.integers(0, 30, ROWS),
            "patient": rng.integers(0, 80, ROWS),
            "number": rng.normal(size=ROWS),
            "number said": rng.normal(size=ROWS),
        }
    )


QUESTIONS = {
    "words": {"truth": "word", "prediction": "said", "positive": "yes"},
    "whole": {"truth": "whole", "prediction": "whole said"},
    "flags": {"truth": "flag", "prediction": "flag said"},
    "flags beside numbers": {"truth": "flag", "prediction": "whole said"},
    "floats": {"truth": "float", "prediction": "whole said"},
    "many": {"truth": "species", "prediction": "species said", "classes": ["7", "007", "setosa", "ünïcode"]},
    "weighted decisions": {"truth": "species", "prediction": "species said", "weight": "w", "by": "site"},
    "scores": {"truth": "word", "score": "p", "positive": "yes"},
    "scores of signs": {"truth": "sign", "score": "logit"},
    "narrow scores": {"truth": "flag", "score": "narrow"},
    "whole scores": {"truth": "whole", "score": "points"},
    "weighted scores": {"truth": "word", "score": "p", "positive": "no", "weight": "w"},
    "everything": {
        "truth": "word", "score": "p", "prediction": "said", "positive": "yes", "weight": "copies", "by": "ward",
    },
    "segments": {"truth": "whole", "score": "logit", "by": "site"},
}  # fmt: skip


def values(evaluation) -> dict[str, str]:
    """Every figure, to the last bit, of the whole and of the segments, in whatever order those came up."""
    figures = {name: estimate.value.hex() for name, estimate in evaluation.figures.items()}
    parts = {name: values(part) for name, part in evaluation.segments.items()}
    return figures | {"segments": json.dumps(parts, sort_keys=True)}


def intervals(evaluation) -> list[float]:
    """Both ends of every interval; NaN where there is none."""
    ends = [end for estimate in evaluation.figures.values() for end in (estimate.low, estimate.high)]
    return [math.nan if end is None else end for end in ends]


# ── counts ───────────────────────────────────────────────────────────────────────────────────────────────────────
FEW = ("flags beside numbers", "weighted decisions", "narrow scores", "everything")
"""What the slowest are tried with, which take long for each: labels of every type, weights, segments, scores."""


@pytest.mark.filterwarnings("ignore::stakes.errors.InputWarning")
@pytest.mark.parametrize(
    ("anywhere", "questions"),
    list(
        engines_with(["few", "others"], [*HERE, *ELSEWHERE], lambda *case: case[1] == "others" and case[0] in SLOWEST)
    ),
    indirect=["anywhere"],
)
@pytest.mark.each_choice
def test_every_engine_counts_alike_in_any_order(anywhere, questions):
    table = anywhere(rows().sample(fraction=1, shuffle=True, seed=1))
    for question in QUESTIONS:
        if (question in FEW) == (questions == "few"):
            same_answer(stakes.count(table, **QUESTIONS[question]), question)


TOLD = ("many", "weighted decisions", "narrow scores", "weighted scores", "segments")
"""Questions whose figures are compared too; those of equal counts are equal, so that one of each kind is enough."""


@functools.cache
def expected_count(question):
    return stakes.count(rows().to_dict(as_series=False), **QUESTIONS[question])


@functools.cache
def expected_figures(question):
    evaluation = stakes.Evaluation(expected_count(question))
    return values(evaluation), intervals(evaluation)


def same_answer(found, question):
    assert found.to_dict() == expected_count(question).to_dict(), question
    if question in TOLD:
        ours, (figures, ends) = stakes.Evaluation(found), expected_figures(question)
        assert values(ours) == figures, question
        np.testing.assert_allclose(intervals(ours), ends, rtol=1e-13, err_msg=question)


UNTYPED = set(QUESTIONS) - {"flags beside numbers", "floats", "narrow scores"}
"""Questions that do not hang on types, which text does not have."""


@pytest.mark.filterwarnings("ignore::stakes.errors.InputWarning")
@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "jsonl", "arrow"])
@pytest.mark.spread(3)
def test_files_count_as_every_engine_does(tmp_path, kind):
    path, shuffled = tmp_path / f"rows.{kind}", rows().sample(fraction=1, shuffle=True, seed=2)
    writers = {"csv": shuffled.write_csv, "tsv": lambda p: shuffled.write_csv(p, separator="\t")}
    writers |= {"parquet": shuffled.write_parquet, "jsonl": shuffled.write_ndjson, "arrow": shuffled.write_ipc}
    writers[kind](path)
    for question in QUESTIONS if kind in ("parquet", "arrow") else UNTYPED:
        same_answer(stakes.count(path, **QUESTIONS[question]), question)


@pytest.mark.filterwarnings("ignore::stakes.errors.InputWarning")
@pytest.mark.parametrize("parts", [2, 5])
def test_tallies_that_travelled_count_as_every_engine_does(tmp_path, parts):
    shuffled = rows().sample(fraction=1, shuffle=True, seed=3)
    for question, arguments in QUESTIONS.items():
        for i, part in enumerate(shuffled.iter_slices(-(-ROWS // parts))):
            stakes.count(part, **arguments).save(tmp_path / f"{i}.tally", exact=True, min_cell=1)
        loaded = [stakes.load(tmp_path / f"{i}.tally") for i in range(parts)]
        same_answer(sum(loaded[::-1]), question)


def test_the_count_is_that_of_plain_python(elsewhere):
    frame = rows()
    counted = stakes.count(elsewhere(frame), truth="species", prediction="species said", weight="w", by="site")
    for site, species, said in itertools.product(*(frame[c].unique() for c in ("site", "species", "species said"))):
        mine = frame.filter(site=site, species=species, **{"species said": said})["w"].to_list()
        table = counted.segments[site].confusion
        place = table.truths.index(species), table.decisions.index(said)
        assert table.counts[place] == sum(map(Fraction, mine))
        assert table.squares[place] == sum(Fraction(w) ** 2 for w in mine)


def test_weights_of_any_size_add_up_to_within_a_trillionth(elsewhere):
    frame = rows().with_columns((pl.col("w") + 0.1).exp().alias("w"))
    arguments = {"truth": "word", "prediction": "said", "score": "p", "positive": "yes", "weight": "w"}
    found, expected = (stakes.count(data, **arguments) for data in (elsewhere(frame), frame))
    np.testing.assert_allclose(found.confusion.counts, expected.confusion.counts, rtol=1e-12)
    np.testing.assert_allclose(found.confusion.squares, expected.confusion.squares, rtol=1e-12)
    for name, column in expected.scores.as_columns().values.items():
        np.testing.assert_allclose(found.scores.as_columns().values[name], column, rtol=1e-12)


def test_a_row_of_weight_0_is_not_there(elsewhere):
    frame = pl.DataFrame({"y": ["a", "b", "ghost"], "d": ["a", "a", "b"], "w": [1.0, 2.0, 0.0]})
    counted = stakes.count(elsewhere(frame), truth="y", prediction="d", weight="w", positive="b")
    assert counted.confusion.truths == ("a", "b")
    assert counted.confusion.total == 3


def test_more_classes_than_a_table_holds(elsewhere):
    names = [f"class {i}" for i in range(1200)]
    frame = pl.DataFrame({"y": [*names, "class 3"], "d": [*names[1:], "class 0", "class 4"]})
    found, expected = (stakes.count(data, truth="y", prediction="d") for data in (elsewhere(frame), frame))
    assert found.to_dict() == expected.to_dict()
    assert found.tallies["joint"].counts.max() == 2
    assert not found.tallies["joint"].weighted


@pytest.mark.parametrize("kind", [pl.Decimal(6, 3), pl.Float32, pl.Int64, pl.UInt8])
def test_numbers_of_every_type(kind):
    if kind == pl.Decimal(6, 3):
        since("pyarrow", "23", "cannot tell decimals of 32 bits apart")
    frame = rows().select(y="whole", p=pl.col("points"), w="copies")
    table = frame.with_columns(pl.col("y", "p", "w").cast(kind))
    expected = stakes.count(frame, truth="y", score="p", weight="w")
    for engine in ("lazy polars", "duckdb"):
        found = stakes.count(ELSEWHERE[engine](table), truth="y", score="p", weight="w")
        assert found.to_dict() == expected.to_dict()


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["never", "no", "yes"])])
def test_texts_of_every_type(kind):
    frame = rows().with_columns(pl.col("word", "said").cast(kind))
    arguments = {"truth": "word", "prediction": "said", "positive": "yes"}
    assert stakes.count(frame.lazy(), **arguments).to_dict() == stakes.count(rows(), **arguments).to_dict()


def test_whole_scores_beyond_floats_stay_apart():
    frame = pl.DataFrame({"y": [0, 1, 0, 1], "p": [2**60, 2**60 + 1, 2**60 + 2, 2**60 + 3]})
    for engine in ("lazy polars", "duckdb"):
        assert stakes.evaluate(ELSEWHERE[engine](frame), truth="y", score="p")["auc"].value == 0.75


def test_decisions_are_found_from_counts(elsewhere, pulled):
    frame = rows()
    arguments = {"truth": "word", "score": "p", "positive": "yes", "costs": stakes.Costs(miss=5, false_alarm=1)}
    choice, expected = (stakes.decide(data, **arguments) for data in (elsewhere(frame), frame))
    assert choice.threshold == expected.threshold
    assert choice.apparent.value == expected.apparent.value
    assert pulled[-1][0] == len(frame.unique(["word", "p"]))
    assert pulled[:-1] in ([], ESTIMATED)


ESTIMATED = [(1, 1)]
"""Spark estimates first how many scores there are."""


# ── what leaves the engine ───────────────────────────────────────────────────────────────────────────────────────
@EVERY_ENGINE
def test_only_groups_leave_their_engine(elsewhere, pulled):
    table = elsewhere(rows())
    frame = rows()
    stakes.evaluate(table, truth="word", prediction="said", positive="yes")
    assert pulled == [(4, 3)]
    pulled.clear()
    stakes.evaluate(table, truth="word", score="p", positive="yes")
    assert pulled[-1:] == [(len(frame.unique(["word", "p"])), 3)]
    assert pulled[:-1] in ([], ESTIMATED)
    pulled.clear()
    stakes.count(table, truth="word", prediction="said", positive="yes", by="site", weight="copies")
    assert pulled == [(12, 7)]


def test_bins_leave_their_engine_when_there_are_too_many_scores(elsewhere, pulled, monkeypatch):
    monkeypatch.setattr(lazy, "MOST_SCORES", 50)
    monkeypatch.setattr(lazy, "MOST_GROUPS", 100)
    frame = rows().with_columns(p=pl.Series(np.random.default_rng(1).beta(0.1, 50, ROWS)))
    stakes.count(elsewhere(frame), truth="word", score="p", positive="yes")
    edges = pl.Series(Grid("probability").lower_edges(frame["p"].to_numpy()))
    assert pulled.count((2, 10)) == 1  # a look at the scores of each truth
    bins = len(frame.with_columns(p=edges).unique(["word", "p"]))
    assert [shape for shape in pulled if shape[0] > 2] == [(101, 3), (bins, 3)]


def test_what_needs_rows_brings_only_the_named_columns(pulled, caplog):
    frame, columns = rows().with_columns(rest=1 - pl.col("p")), 3
    arguments = {"truth": "word", "score": {"yes": "p", "no": "rest"}, "positive": "yes"}
    expected = stakes.evaluate(frame, **arguments).to_dict()
    with caplog.at_level("INFO", logger="stakes"):
        assert stakes.evaluate(frame.lazy(), **arguments).to_dict() == expected
    assert pulled[-1] == (ROWS, columns)
    assert f"{ROWS} rows of {columns} columns" in caplog.text


# ── costs that differ by row ─────────────────────────────────────────────────────────────────────────────────────
BY_ROW = {
    "two": {"truth": "word", "prediction": "said", "positive": "yes", "costs": stakes.Costs(miss="w", false_alarm=3)},
    "weighted": {
        "truth": "word", "prediction": "said", "positive": "yes", "weight": "copies", "by": "site", "missing": "drop",
        "costs": stakes.Costs(miss="w", false_alarm="p"),
    },
    "many": {
        "truth": "species", "prediction": "species said",
        "costs": stakes.Costs({
            t: {d: 0 if d == t else "w" if d == "7" else "p" for d in ("setosa", "007", "7", "none of them")}
            for t in ("setosa", "007", "7", "ünïcode")
        }),
    },
}  # fmt: skip
SCORED = {"truth": "word", "score": "p", "positive": "yes"}
BY_ROW["scores"] = {**SCORED, "weight": "copies", "by": "site", "costs": stakes.Costs(miss="w", false_alarm=3)}
BY_ROW["a threshold"] = {**SCORED, "threshold": 0.4, "costs": stakes.Costs(miss="w", false_alarm="ward")}


def without_some_costs() -> pl.DataFrame:
    return rows().with_columns(w=pl.when(pl.col("ward") > 1).then("w"))


@EVERY_ENGINE
@pytest.mark.spread(2)
def test_costs_that_differ_by_row_are_added_up_where_they_lie(elsewhere, pulled, request):
    slow = request.node.callspec.id in ("spark", "dask")  # which ask as the others do
    for name, question in BY_ROW.items():
        if slow and name not in ("weighted", "scores"):
            continue
        frame = without_some_costs() if name == "weighted" else rows()
        known, found = (stakes.count(table, **question) for table in (frame, elsewhere(frame)))
        assert (found.decided_by, found.dropped, found.read) == (known.decided_by, known.dropped, known.read)
        assert [*found.segments] == [*known.segments]
        for here, there in zip((found, *found.segments.values()), (known, *known.segments.values()), strict=True):
            assert here.confusion == there.confusion
            for sums in ("sums", "products", "powers"):
                ours, theirs = (getattr(one.tallies["costs"], sums) for one in (here, there))
                np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12, err_msg=name)
            if "score" in question:
                ours, theirs = (one.scores.as_columns() for one in (here, there))
                assert ours.scores.tolist() == theirs.scores.tolist()
                for column, sums in theirs.values.items():  # also what each decision costs at each score
                    np.testing.assert_allclose(ours.values[column], sums.astype(float), rtol=1e-12, err_msg=column)
        groups = len(rows().unique(["word", "site", "p"])) if "score" in question else 16  # of truth and decision
        assert max(many for many, _ in pulled) <= groups
        pulled.clear()


def test_costs_by_row_beside_scores_in_bins(monkeypatch):
    monkeypatch.setattr(lazy, "MOST_SCORES", 50)
    monkeypatch.setattr(lazy, "MOST_GROUPS", 100)
    known, found = (stakes.count(table, **BY_ROW["scores"]) for table in (rows(), rows().lazy()))
    assert found.confusion == known.confusion
    for here, there in zip((found, *found.segments.values()), (known, *known.segments.values()), strict=True):
        ours, theirs = here.scores.as_columns(), there.scores.binned().as_columns()
        assert ours.scores.tolist() == theirs.scores.tolist()
        for column, sums in theirs.values.items():
            np.testing.assert_allclose(ours.values[column], sums.astype(float), rtol=1e-12, err_msg=column)


WRONG_COSTS = ((None, "is missing in 32 rows"), (math.inf, "is infinite in 32 rows"), ("?", "has 32 rows that hold no"))


def test_wrong_costs_of_rows_are_counted_in_the_engine():
    question = BY_ROW["two"]
    for wrong, words in WRONG_COSTS:
        worth = pl.when(pl.col("ward") > 1).then(pl.col("w").cast(pl.String if wrong == "?" else pl.Float64))
        frame = rows().with_columns(w=worth.otherwise(pl.lit(wrong)))
        for table in (frame, frame.lazy()):
            with pytest.raises(InputError, match=f"cost .w. .*{words}"):
                stakes.evaluate(table, **question)


# ── bins ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def awkward_scores(grid: str) -> np.ndarray:
    """Scores of every size that floats have, and the edges of bins."""
    rng = np.random.default_rng(3)
    small = rng.random(500) * 2.0 ** -rng.integers(0, 1074, 500)
    ends = [0.0, 1.0, 0.5, 0.25, 0.75, 5e-324, 2.0**-1022, 1e-310, np.nextafter(1, 0), np.nextafter(0.5, 1)]
    probabilities = np.concatenate([rng.beta(0.1, 50, 500), small, 1 - small, ends])
    if grid == "probability":
        return probabilities
    return np.concatenate([probabilities, -probabilities, rng.normal(size=500) * 2.0 ** rng.integers(0, 1000, 500)])


def takes_long_to_bin(engine, case):
    """Weighted bins by site are those of all rows and more; writing those of the line down takes seconds."""
    return engine in SLOWEST and case != "by site, probability"


CASES = [f"{options}, {grid}" for grid in bins.GRIDS for options in ("all rows", "by site")]


@pytest.mark.parametrize(
    ("elsewhere", "case"), list(engines_with(CASES, ELSEWHERE, takes_long_to_bin)), indirect=["elsewhere"]
)
@pytest.mark.each_choice
def test_every_engine_bins_alike(elsewhere, monkeypatch, case):
    monkeypatch.setattr(lazy, "MOST_SCORES", 50)
    options, grid = case.split(", ")
    scores = awkward_scores(grid)
    rng = np.random.default_rng(4)
    frame = pl.DataFrame(
        {"y": rng.random(len(scores)) < 0.4, "p": scores, "w": rng.integers(1, 9, len(scores)) / 4,
         "site": rng.choice(["a", "b"], len(scores))}
    )  # fmt: skip
    question = {"truth": "y", "score": "p", **({"weight": "w", "by": "site"} if options == "by site" else {})}
    exact, found = stakes.count(frame, **question), stakes.count(elsewhere(frame), **question)
    assert found.scores.grid.kind == grid
    assert found.scores == exact.scores.binned(grid)
    assert {name: part.scores for name, part in found.segments.items()} == {
        name: part.scores.binned(grid) for name, part in exact.segments.items()
    }
    for here, there in [(exact, found), *((exact.segments[name], part) for name, part in found.segments.items())]:
        lost, expected = there.scores.losses, here.scores.binned(grid).losses
        assert (lost is None) == (expected is None) == (grid == "line")
        assert lost is None or lost == pytest.approx(expected, rel=1e-12)  # some are infinite


@pytest.mark.parametrize(
    ("elsewhere", "by"),
    list(engines_with([None, ["site", "said"]], ELSEWHERE, lambda engine, by: engine in SLOWEST or by is None)),
    indirect=["elsewhere"],
)
def test_decisions_of_a_threshold_within_a_bin_are_counted_with_the_bins(elsewhere, monkeypatch, by):
    monkeypatch.setattr(lazy, "MOST_SCORES", 5)
    frame = rows()
    arguments = {"truth": "word", "score": "p", "positive": "yes", "by": by, "threshold": 0.3}
    found, expected = stakes.evaluate(elsewhere(frame), **arguments), stakes.evaluate(frame, **arguments)
    assert found.scores.grid is not None
    assert found.threshold == 0.3
    assert found.confusion == expected.confusion
    assert {name: part.confusion for name, part in found.segments.items()} == {
        name: part.confusion for name, part in expected.segments.items()
    }


def test_a_binned_auc_is_told_with_its_bounds(monkeypatch):
    monkeypatch.setattr(lazy, "MOST_SCORES", 50)
    frame = rows().with_columns(p=pl.Series(np.random.default_rng(1).random(ROWS)))
    arguments = {"truth": "word", "score": "p", "positive": "yes"}
    ev, exact = (stakes.evaluate(data, **arguments) for data in (frame.lazy(), frame))
    low, high = stakes.metrics.auc_bounds(ev.counted.scores)
    assert low <= exact["auc"].value <= high
    assert f"between {low:.6f} and {high:.6f}" in " ".join(ev.notes)


@pytest.mark.parametrize("column", ["p", "points"])
def test_exact_figures_of_the_order_come_from_sums_of_ranges_that_the_engine_sorts(
    elsewhere, request, monkeypatch, pulled, column
):
    """Ties within and between ranges, scores of both signs; what comes back are bins, and a line for each range."""
    monkeypatch.setattr(lazy, "MOST_SCORES", 50)
    monkeypatch.setattr(lazy, "MOST_GROUPS", 50)
    monkeypatch.setattr(order, "_RANGES", 5)
    rng = np.random.default_rng(6)
    frame = rows().with_columns(
        p=pl.Series(rng.random(ROWS).round(3)), points=pl.Series(rng.normal(size=ROWS).round(2))
    )
    arguments = {"truth": "word", "score": column, "positive": "yes", "threshold": 0.3}
    found, expected = stakes.evaluate(elsewhere(frame), **arguments, exact=True), stakes.evaluate(frame, **arguments)
    for name in ("auc", "gini", "average_precision", "ks", "recall"):
        assert found[name].value == pytest.approx(expected[name].value, rel=1e-14)
    assert found["auc"].low == pytest.approx(expected["auc"].low, rel=1e-4)
    assert not any("between" in note for note in found.notes)
    if "dask" not in request.node.name:  # which has no running counts, so that its scores come here
        assert pulled[-1] == (5, 4)
        assert found.scores.grid is not None
        assert "caution.sorted_bins" in {one.key for one in found.findings}


PROMISED = {"probability": ("w", 1e-3), "line": ("w", 1e-12), "line, no weights": (None, 1e-12)}


@pytest.mark.parametrize(
    ("elsewhere", "promise"),
    list(engines_with(PROMISED, ELSEWHERE, lambda engine, name: engine in SLOWEST and name != "probability")),
    indirect=["elsewhere"],
)
def test_an_auc_is_known_in_an_engine_as_well_as_promised(elsewhere, monkeypatch, pulled, promise):
    """Scores crowd in bins at both ends, with rows of other bins between them, which stay where they are."""
    monkeypatch.setattr(lazy, "MOST_SCORES", 50)
    monkeypatch.setattr(finer_bins, "_RANGES", 2)
    far = np.random.default_rng(2).random(300) * 0.3 + 0.35
    between = pl.DataFrame({"y": np.arange(300) % 2 > 0, "p": far, "w": np.full(300, 0.5)})
    weight, error = PROMISED[promise]
    frame = pl.concat([crowded(promise.split(",")[0], count=400), between])
    arguments = {"truth": "y", "score": "p", "weight": weight}
    exact = roc_auc_score(frame["y"], frame["p"], sample_weight=weight and frame[weight])
    found = stakes.evaluate(elsewhere(frame), **arguments, auc_error=error)
    assert found.scores.grid is not None
    assert found["auc"].value == pytest.approx(exact, abs=error + 1e-14)
    low, high = stakes.metrics.auc_bounds(found.scores)
    assert low - 1e-14 <= exact <= high + 1e-14
    assert high - low <= 2 * error
    assert pulled[-1][0] <= 400


def test_scores_above_1_are_binned_on_the_line(monkeypatch):
    monkeypatch.setattr(lazy, "MOST_SCORES", 50)
    counted = stakes.count(rows().lazy(), truth="flag", score="points")
    assert counted.scores == stakes.count(rows(), truth="flag", score="points").scores.binned("line")


@pytest.mark.parametrize("engine", ["lazy polars", "duckdb"])
@pytest.mark.parametrize("grid", bins.GRIDS)
def test_engines_round_to_the_bins_of_memory_from_the_least_to_the_largest_float(engine, grid):
    rng = np.random.default_rng(0)
    scores = [rng.random(200), 2.0 ** -np.arange(0.0, 1075.0, 25.0), [0.0, 1.0, 0.5, 2.0**-1022, 1e-310, 5e-324]]
    edges = bins.edges(bins.numbers(np.concatenate(scores), grid), grid)
    scores += [edges, np.nextafter(edges, 0.0), np.nextafter(edges, 1.0)]
    if grid == "line":
        wide = rng.normal(size=300) * 10.0 ** rng.integers(-300, 300, 300)
        scores += [wide, -edges, [sys.float_info.max, -sys.float_info.max, 2.0**900, -(2.0**1023)]]
    scores = np.concatenate(scores)
    for bits in (0, 5, bins.FINE):
        frame = pl.DataFrame({"row": np.arange(len(scores)), "edge": scores})
        asked = queries.round_down(nw.from_native(ELSEWHERE[engine](frame)).lazy(), grid, 2.0**bits)
        found = queries.collect(asked.select("row", "edge")).sort("row")["edge"].to_numpy()
        np.testing.assert_array_equal(found, bins.edges(bins.numbers(scores, grid, bits), grid, bits))


@pytest.mark.parametrize("wrong", [math.inf, -math.inf, math.nan])
def test_scores_are_finite_before_they_are_binned(wrong):
    source = queries.QuerySource.of(pl.LazyFrame({"p": [0.5, wrong, wrong]}), {"score": "p"})
    with pytest.raises(InputError, match=r"score is (infinite|missing) in 2 rows"):
        source.look_at_scores([])


@pytest.mark.parametrize("most", [60, 59])
def test_bins_begin_beyond_the_most_scores(monkeypatch, most):
    frame = rows().filter(pl.col("p").is_in(np.arange(60) / 64))
    assert frame["p"].n_unique() == 60
    monkeypatch.setattr(lazy, "MOST_SCORES", most)
    counted = stakes.count(frame.lazy(), truth="flag", score="p")
    grid = counted.scores.grid
    assert (None if grid is None else grid.kind) == (None if most == 60 else "probability")


@pytest.mark.parametrize("engine", ["duckdb", "ibis"])
@pytest.mark.parametrize("wrong", [math.nan, math.inf])
@pytest.mark.each_choice
def test_numbers_that_are_none_are_found_in_parquet_files_which_name_their_ends(tmp_path, engine, wrong):
    """DuckDB takes its test of NaN for settled where a file says between which numbers all others lie."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"y": rng.random(500) < 0.4, **{name: rng.random(500) for name in ("p", "q", "w", "a")}})
    frame = frame.with_columns(
        pl.when(pl.arange(500) < 40).then(wrong).otherwise(pl.col("p", "q", "w", "a")).name.keep()
    )
    frame.write_parquet(tmp_path / "rows.parquet")
    table = importlib.import_module(engine).read_parquet(str(tmp_path / "rows.parquet"))
    good = frame.with_columns(p=pl.col("w").is_finite().cast(pl.Float64) / 2, t=1.0)
    good.write_parquet(tmp_path / "good.parquet")
    kept = stakes.evaluate(
        importlib.import_module(engine).read_parquet(str(tmp_path / "good.parquet")),
        truth="y",
        score="p",
        where="a > 0.5",
    )
    assert kept.rows == stakes.evaluate(good, truth="y", score="p", where="a > 0.5").rows
    for question in ({"score": "p"}, {"truth": "p", "prediction": "q"}, {"score": "p", "weight": "w"}):
        for missing in ("error", "drop"):
            asked = {"truth": "y", "missing": missing, **question}
            if missing == "drop" and wrong != wrong:
                known, found = (stakes.evaluate(data, **asked) for data in (frame, table))
                assert (found.rows, found.counted.dropped) == (known.rows, known.counted.dropped)
            else:
                with pytest.raises(InputError, match=r"is (missing|infinite) in 40 rows"):
                    stakes.evaluate(table, **asked)


# ── bad input ────────────────────────────────────────────────────────────────────────────────────────────────────
WITHOUT_ROWS = "in an engine whose rows have no numbers"


WRONG = [
    ("y", None, "truth is missing in 3 rows"),
    ("y", " ", "truth is missing in 3 rows"),
    ("p", None, "score is missing in 3 rows"),
    ("p", float("nan"), "score is missing in 3 rows"),
    ("p", float("inf"), "score is infinite in 3 rows"),
    ("p", float("-inf"), "score is infinite in 3 rows"),
    ("w", None, "weight is missing in 3 rows"),
    ("w", float("nan"), "weight is missing in 3 rows"),
    ("w", -1.0, "weight is negative in 3 rows"),
    ("w", float("inf"), "weight is infinite in 3 rows"),
    ("w", 1e101, "weight is beyond 1e100"),
    ("w", 1e-101, "weight is beyond 1e100"),
    ("site", None, "by is missing in 3 rows"),
    ("visit", 0.5, "by has 3 rows that hold no class (0.5;"),
]


def wrong_in(engine):
    """Dask and Ibis are tried with a gap and with a number: they take long for each, and others walk the same way."""
    for one in WRONG:
        slow = engine in SLOWEST and one[:2] not in (("p", None), ("w", -1.0))
        yield pytest.param(*one, engine, marks=[pytest.mark.deep] if slow else [])


@pytest.mark.parametrize(
    ("column", "wrong", "words", "engine"), [case for engine in ELSEWHERE for case in wrong_in(engine)]
)
@pytest.mark.spread(8)
def test_what_is_wrong_is_counted_in_the_engine(column, wrong, words, engine, monkeypatch):
    table = ELSEWHERE[engine](spoilt(column, wrong))
    for most in (10**6, 0):  # scores one by one, then binned
        monkeypatch.setattr(lazy, "MOST_SCORES", most)
        with pytest.raises(InputError) as problem:
            stakes.count(table, **judged(column))
        assert words in str(problem.value)
        assert WITHOUT_ROWS in str(problem.value)


@functools.cache
def of_every_kind() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(3), 60)
    answers = {name: np.array(["no", "yes"])[rng.integers(0, 2, 60)] for name in ("y", "d", "d2")}
    numbers = {name: rng.random(60) for name in ("s", "s2", "t", "p", "p2", "w", "cost")}
    classes = {"k": np.array(["a", "b", "c"])[rng.integers(0, 3, 60)], **dict(zip("abc", shares.T, strict=True))}
    return pl.DataFrame({**answers, **numbers, **classes, "site": answers["y"], "who": rng.integers(0, 9, 60) + 0.0})


OF_NUMBERS = (None, math.nan, math.inf, "?")
SPOILT = {
    "numbers": ({"truth": "t", "prediction": "p", "by": "site", "weight": "w"}, {"p": OF_NUMBERS, "site": [None, " "]}),
    "clusters": ({"truth": "t", "prediction": "p", "cluster": "who"}, {"who": (None, math.inf, 0.5)}),
    "classes": (
        {"truth": "k", "score": {name: name for name in "abc"}, "by": "site"},
        {"a": OF_NUMBERS, "k": [None], "site": [None]},
    ),
    "costs": (
        {"truth": "y", "prediction": "d", "positive": "yes", "costs": stakes.Costs(miss="cost", false_alarm=1)},
        {"cost": OF_NUMBERS, "y": [None, " "]},
    ),
    "two scores": ({"truth": "y", "scores": ["s", "s2"], "positive": "yes"}, {"s2": OF_NUMBERS, "y": [None]}),
    "two numbers": ({"truth": "t", "predictions": ["p", "p2"]}, {"p2": OF_NUMBERS}),
    "two decisions": ({"truth": "y", "predictions": ["d", "d2"], "positive": "yes"}, {"d2": [None, " "]}),
}


@pytest.mark.parametrize("question", SPOILT)
@pytest.mark.parametrize(
    "engine", ["lazy polars", *(pytest.param(one, marks=pytest.mark.deep) for one in ("duckdb", "dask"))]
)
def test_what_is_wrong_is_told_as_in_memory(question, engine, monkeypatch):
    monkeypatch.setattr(class_queries, "FEW_ROWS", 10)
    monkeypatch.setattr(shared_models, "FEW_ROWS", 10)
    asked, faults = SPOILT[question]
    ask = stakes.compare if question.startswith("two") else stakes.evaluate
    for column, wrong in [(column, one) for column, several in faults.items() for one in several]:
        values = of_every_kind()[column].to_list()
        values = [str(one) for one in values] if wrong == "?" else values
        frame = of_every_kind().with_columns(pl.Series(column, [wrong] * 3 + values[3:]))
        told = []
        for table in (frame, ELSEWHERE[engine](frame)):
            with pytest.raises(InputError) as problem:
                ask(table, **asked)
            told.append((problem.value.code, "3 rows" in str(problem.value) or wrong == "?"))
        assert told == [(told[0][0], True)] * 2, (column, wrong)


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:PySpark does not")
@pytest.mark.parametrize(
    ("column", "wrong", "words"),
    [
        ("p", float("nan"), "score is"),
        pytest.param("y", None, "truth is", marks=pytest.mark.deep),
        pytest.param("w", None, "weight is", marks=pytest.mark.deep),
    ],
)
def test_what_is_wrong_is_counted_in_spark(spark, column, wrong, words):
    frame = spoilt(column, wrong)
    table = spark.createDataFrame(frame.rows(), frame.columns).repartition(2)
    with pytest.raises(InputError, match=f"{words} missing in 3 rows"):
        stakes.count(table, **judged(column))


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:PySpark does not")
def test_spark_says_at_once_that_scores_are_too_many_to_be_told_one_by_one(spark, monkeypatch):
    truths = ["no", "yes", "no", "no", "yes"] * 160  # two of each score, of one class or of both
    frame = pl.DataFrame({"y": truths, "p": np.repeat(np.linspace(0.01, 0.99, 400), 2)})
    table, question = spark_frame(spark, frame), {"truth": "y", "score": "p", "positive": "yes"}
    whole = stakes.count(table, **question)
    assert whole.scores.grid is None
    monkeypatch.setattr(queries, "MOST_SCORES", 200)
    monkeypatch.setattr(queries.QuerySource, "groups", binned_alone(queries.QuerySource.groups))
    found = stakes.count(table, **question)
    assert found.scores == stakes.count(frame, **question).scores.binned("probability")
    assert stakes.metrics.auc.of(found.scores) == pytest.approx(stakes.metrics.auc.of(whole.scores), abs=1e-9)


def binned_alone(groups):
    """Let nothing be grouped but bins."""

    def asked(source, keys, most=None):
        assert most is None
        return groups(source, keys, most)

    return asked


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:PySpark does not")
def test_spark_gives_away_only_the_named_columns(spark, pulled):
    frame = rows().rename({"number": "the.number"})
    arguments = {"truth": "the.number", "prediction": "number said", "task": "regression"}
    found, expected = (stakes.count(data, **arguments, exact=True) for data in (spark_frame(spark, frame), frame))
    assert pulled == [(ROWS, 2)]
    squares = [float(counted.tallies["errors"].sum_of(e=2)) for counted in (found, expected)]
    assert squares[0] == pytest.approx(squares[1], rel=1e-14)


def test_text_among_numbers_is_told_without_the_number_of_a_row_that_came_in_no_order():
    frame = pl.DataFrame({"t": [0.5, 1.5, 2.5, 3.5], "u": ["1.5", "x", "2", "x"]})
    with pytest.raises(InputError, match=f"2 rows that hold no number \\('x'; {WITHOUT_ROWS}\\)"):
        stakes.evaluate(duckdb_relation(frame), truth="t", prediction="u")


def spoilt(column: str, wrong: object) -> pl.DataFrame:
    """Nine rows with a wrong value in three of them."""
    columns: dict = {"y": list("ababababa"), "p": [i / 8 for i in range(9)], "w": [1.0] * 9, "site": list("nnnssssss")}
    columns["visit"] = [1.0] * 9
    columns[column][3:6] = [wrong] * 3
    return pl.DataFrame(columns)


def judged(column: str) -> dict:
    segments = {"by": "visit" if column == "visit" else "site"}
    return {"truth": "y", "score": "p", "weight": "w", "positive": "a", **segments}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"truth": "number", "score": "p"}, "truth has 400 rows that hold no class"),
        ({"truth": "word", "score": "said", "positive": "yes"}, "score holds text"),
        (
            {"truth": "word", "score": "said", "costs": stakes.Costs(miss="w", false_alarm=1), "positive": "yes"},
            "score holds text",
        ),
        ({"truth": "word", "score": "p", "positive": "yes", "weight": "said"}, "weight holds String values"),
        ({"truth": "word", "score": "p"}, "positive="),
        ({"truth": "species", "score": "p"}, "score"),
        ({"truth": "wrod", "score": "p"}, "did you mean 'word'"),
        ({"truth": "word", "prediction": "whole"}, "prediction"),
        ({"truth": "word"}, "score="),
        ({"truth": "nested", "score": "p"}, "truth holds List"),
        ({"truth": "whole", "prediction": "whole said", "weight": "nothing"}, "weight is 0 in every row"),
    ],
)
def test_input_is_refused_as_anywhere_else(arguments, words):
    frame = rows().with_columns(nothing=pl.lit(0.0), nested=pl.concat_list("p"))
    with pytest.raises(InputError, match=words) as found:
        stakes.count(frame.lazy(), **arguments)
    with pytest.raises(InputError) as expected:
        stakes.count(frame, **arguments)
    assert str(found.value).partition("(")[0] == str(expected.value).partition("(")[0] or "String" in str(found.value)


def test_a_table_without_rows_is_refused():
    with pytest.raises(InputError, match="truth"):
        stakes.count(rows()[:0].lazy(), truth="word", score="p", positive="yes")


def test_text_instead_of_very_many_scores_is_refused(monkeypatch):
    monkeypatch.setattr(lazy, "MOST_SCORES", 1)
    with pytest.raises(InputError, match="score holds String values; give one number per row"):
        stakes.count(rows().lazy(), truth="word", score="species", positive="yes")


def test_a_few_scores_outside_are_told_by_how_many():
    frame = rows().with_columns(pl.when(pl.col("p") == pl.col("p").max()).then(1.5).otherwise(pl.col("p")).alias("p"))
    count = frame.filter(pl.col("p") == 1.5).height
    with pytest.warns(InputWarning, match=rf"in {count} of 400 rows \(1.5; {WITHOUT_ROWS}\)"):
        stakes.count(frame.lazy(), truth="word", score="p", positive="yes")


def test_truth_as_its_own_score_is_pointed_out():
    with pytest.warns(InputWarning, match="score"):
        stakes.count(rows().lazy(), truth="whole", score="whole")


def test_names_that_engines_would_read_as_something_else(elsewhere, request):
    if "duckdb" in request.node.name:
        since("duckdb", "2.0", "cannot be asked for a name with a quote in it")
    names = ["a.b", 'x"y', "select", "it's `q`; DROP TABLE t --"]
    frame = pl.DataFrame(
        [["no", "yes", "yes"], [0.25, 0.5, 0.25], [1, 2, 3], ["u", "v", "v"]], schema=names, orient="col"
    )
    arguments = dict(zip(["truth", "score", "weight", "by"], names, strict=True))
    found, expected = (stakes.count(data, positive="yes", **arguments) for data in (elsewhere(frame), frame))
    assert found.to_dict() == expected.to_dict()


# ── a job ────────────────────────────────────────────────────────────────────────────────────────────────────────
JOB = Path(__file__).parents[2] / "examples" / "scale" / "spark_job.py"


def in_this_spark(source, target, monkeypatch, capsys):
    """Run the job in the Spark that is there, which it must leave running."""
    from pyspark.sql import SparkSession

    monkeypatch.setattr(sys, "argv", [str(JOB), str(source), str(target)])
    monkeypatch.setattr(SparkSession, "stop", lambda _: None)
    runpy.run_path(str(JOB), run_name="__main__")
    return capsys.readouterr().out


def submitted(source, target, *_):
    """With ``spark-submit`` as users would run it."""
    import pyspark

    submit = [Path(pyspark.__file__).parent / "bin" / "spark-submit", "--master", "local[2]", JOB]
    environment = {**os.environ, "COLUMNS": "100", "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run([*submit, source, target], capture_output=True, text=True, timeout=180, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:PySpark does not")
@pytest.mark.deep  # its questions are asked by the tests of each of them
@pytest.mark.parametrize("how", [in_this_spark, submitted])
def test_the_spark_job_counts_a_file(tmp_path, spark, how, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")
    others = {"other_score": "narrow", "amount": "number", "predicted_amount": "number said"}
    frame = rows().select(truth="whole", score="p", site="site", patient="patient", **others)
    frame = frame.with_columns(pl.col("other_score").round(1))
    frame.write_parquet(tmp_path / "predictions.parquet")
    shown = how(tmp_path / "predictions.parquet", tmp_path / "counted.tally", monkeypatch, capsys)
    expected = stakes.evaluate(frame, truth="truth", score="score", by="site")
    assert f"{expected['auc'].value:.4f}" in shown
    patients = stakes.evaluate(frame, truth="truth", score="score", cluster="patient")
    assert str(patients["auc"]) in shown
    assert stakes.compare(frame, truth="truth", scores=["score", "other_score"]).conclusion in shown
    assert f"{stakes.evaluate(frame, truth='amount', prediction='predicted_amount')['mae'].value:.6g}" in shown
    stakes.count(frame, truth="truth", score="score", by="site").save(tmp_path / "here.tally")
    assert (tmp_path / "counted.tally").read_bytes() == (tmp_path / "here.tally").read_bytes()


GAPS = {
    "scores": {"score": "p", "weight": "w"},
    "decisions": {"prediction": "said", "by": "site"},
    "clusters": {"score": "p", "cluster": "patient"},
}


@pytest.mark.parametrize(
    ("elsewhere", "name"),
    list(engines_with(GAPS, ELSEWHERE, lambda engine, name: engine in SLOWEST and name != "scores")),
    indirect=["elsewhere"],
)
@pytest.mark.each_choice
def test_rows_with_gaps_are_left_out_where_they_lie(elsewhere, name, pulled):
    def gap(*places):
        return pl.int_range(ROWS).is_in(places)

    blank = pl.when(gap(7, 8)).then(pl.lit(" ")).otherwise("word")
    frame = rows().with_columns(blank.alias("word"), p=pl.when(gap(3, 7, 20)).then(None).otherwise("p"))
    question = {"truth": "word", "positive": "yes", "missing": "drop", "where": "w > 0.5", **GAPS[name]}
    known, found = stakes.evaluate(frame, **question), stakes.evaluate(elsewhere(frame), **question)
    assert all(getattr(found, one) == getattr(known, one) for one in ("rows", "confusion"))
    assert (found.counted.dropped, found.counted.read) == (known.counted.dropped, known.counted.read) != (0, ROWS)
    assert found.counted.dropped_weight == known.counted.dropped_weight
    for figure in ("accuracy", *(("auc", "brier_score") if "score" in question else ())):
        assert (found[figure].value, found[figure].low) == pytest.approx((known[figure].value, known[figure].low))
    assert max(rows for rows, _ in pulled) < known.counted.read


def test_a_table_of_nothing_but_gaps_is_refused():
    frame = pl.DataFrame({"y": [1, 0], "p": [None, math.nan]})
    with pytest.raises(InputError, match="something is missing in every one of 2 rows"):
        stakes.evaluate(frame.lazy(), truth="y", score="p", missing="drop")


@EVERY_ENGINE
@pytest.mark.spread(2)
def test_every_engine_recalibrates_from_counts(elsewhere, pulled, monkeypatch):
    asked = {"truth": "word", "positive": "yes", "score": "p", "weight": "w", "method": "sigmoid"}
    known = {more: stakes.calibrate(rows(), **asked, cluster=more) for more in (None, "site")}
    monkeypatch.setattr(recalibrating, "FEW_ROWS", 5)
    monkeypatch.setattr(recalibrating, "read_and_count", None)
    for more, wanted in known.items():
        found = stakes.calibrate(elsewhere(rows()), **asked, cluster=more)
        one, other = wanted.calibrator, found.calibrator
        assert (other.slope_, other.intercept_, other.rows_) == pytest.approx((one.slope_, one.intercept_, one.rows_))
        assert (found.rows, found.dropped) == (wanted.rows, wanted.dropped)
        assert found.losses_before == pytest.approx(wanted.losses_before, rel=1e-12)
        assert found.loss("log_loss", "sigmoid") == pytest.approx(wanted.loss("log_loss", "sigmoid"), rel=0.01)
    kinds = rows().with_columns(there=pl.col("w") > 0).unique(["word", "p", "site", "there"])
    assert max(size for size, _ in pulled) <= len(kinds) < 0.9 * ROWS


@EVERY_ENGINE
@pytest.mark.spread(2)
def test_permutation_tests_shuffle_what_the_engine_counted(elsewhere, pulled, monkeypatch):
    monkeypatch.setattr(lazy, "MOST_SCORES", 20)
    monkeypatch.setattr(lazy, "MOST_GROUPS", 40)
    frame = rows().with_columns(
        p=pl.Series(np.random.default_rng(1).random(ROWS) * 0.9) + 0.04 * (pl.col("word") == "yes")
    )
    question, read_and_count = {"truth": "word", "positive": "yes"}, permutation.read_and_count
    costs = {"costs": stakes.Costs(miss=5, false_alarm=1.3)}  # which put the threshold within a bin
    monkeypatch.setattr(
        permutation, "read_and_count", lambda data, asked: read_and_count(data, asked) if data is frame else None
    )
    for said in ({"prediction": "said"}, {"score": "p"}, {"score": "p", **costs}):
        known = stakes.permutation_test(frame, **question, **said, permutations=500)
        found = stakes.permutation_test(elsewhere(frame), **question, **said, permutations=500)
        assert (found.value, found.p_value) == pytest.approx((known.value, known.p_value), abs=1e-4)
    assert max(rows for rows, _ in pulled) <= ROWS


def test_shuffled_scores_in_bins_are_the_middles_of_these(monkeypatch):
    monkeypatch.setattr(lazy, "MOST_SCORES", 20)
    monkeypatch.setattr(lazy, "MOST_GROUPS", 40)
    question, read = {"truth": "word", "positive": "yes", "score": "p", "permutations": 200}, []
    read_and_count = permutation.read_and_count
    monkeypatch.setattr(permutation, "read_and_count", lambda *given: read.append(1) or read_and_count(*given))
    there = {"prior": 0.2, "training_prior": 0.4}
    asks = [("brier", {}, 1e-12), ("log_loss", {}, 1e-12), ("brier", there, 1e-4), ("ece", {}, 1e-4), ("mce", {}, 1e-4)]
    for metric, more, close in asks:
        asked = {**question, **more, "metric": metric}
        found, known = (stakes.permutation_test(one, **asked) for one in (rows().lazy(), rows()))
        assert found.p_value == known.p_value
        assert found.value == pytest.approx(known.value, rel=close)
        assert found.null == pytest.approx(known.null, rel=1e-4)
        assert found.method.endswith("; each score taken as one inside its bin") == (close > 1e-12)
    assert len(read) == len(asks)  # those in memory


COSTS = stakes.Costs(miss=5, false_alarm=1.3)
THREE = stakes.Costs([[0, 2, 10], [12, 4, 0]], ["no", "yes"], ["no", "ask", "yes"])
DECIDED = {
    "costs": {"costs": COSTS},
    "a prior": {"costs": COSTS, "prior": 0.1, "training_prior": 0.4},
    "weights": {"costs": COSTS, "weight": "w"},
    "clusters": {"costs": COSTS, "cluster": "patient"},
    "three decisions": {"costs": THREE},
}


def scores_of_many_values():
    spread = pl.Series(np.random.default_rng(1).random(ROWS) * 0.06)  # of which many lie in one bin
    return rows().select("word", "w", "patient", p=0.19 + spread + 0.03 * (pl.col("word") == "yes"))


@EVERY_ENGINE
@pytest.mark.spread(2)
def test_a_threshold_inside_a_bin_is_priced(elsewhere, monkeypatch):
    asked = {"truth": "word", "score": "p", "positive": "yes", **DECIDED["costs"]}
    known = stakes.decide(scores_of_many_values(), **asked)
    monkeypatch.setattr(lazy, "MOST_SCORES", 20)
    monkeypatch.setattr(lazy, "MOST_GROUPS", 40)
    found = stakes.decide(elsewhere(scores_of_many_values()), **asked)
    assert found.bayes == known.bayes
    assert {name: one.value for name, one in found.alternatives.items()} == pytest.approx(
        {name: one.value for name, one in known.alternatives.items()}, rel=1e-12
    )


@pytest.mark.parametrize("place", ["lazy", "file"])
@pytest.mark.parametrize("more", DECIDED)
@pytest.mark.spread(3)
def test_decisions_by_scores_in_bins_cost_what_those_of_rows_do(place, more, tmp_path, monkeypatch):
    frame, asked = scores_of_many_values(), {"truth": "word", "score": "p", "positive": "yes", **DECIDED[more]}
    known = stakes.decide(frame, **asked)
    for room, name, few in ((lazy, "MOST_SCORES", 20), (lazy, "MOST_GROUPS", 40), (lazy, "FEW_ROWS", 5)):
        monkeypatch.setattr(room, name, few)
    monkeypatch.setattr(streaming, "MOST_EXACT", 10)
    frame.write_parquet(tmp_path / "rows.parquet")
    found = stakes.decide(frame.lazy() if place == "lazy" else tmp_path / "rows.parquet", **asked)
    assert (found.bayes, found.no_bayes, found.decisions) == (known.bayes, "", known.decisions)
    assert {*found.alternatives} == {*known.alternatives} > {"Bayes threshold", "threshold 0.5"}
    for name, one in known.alternatives.items():
        own = found.alternatives[name]
        assert own.value == pytest.approx(one.value, rel=1e-12)
        if one.low is not None:
            assert (own.low, own.high) == pytest.approx((one.low, one.high), rel=0.02)
    if (place, more) == ("lazy", "costs"):  # what the page of an evaluation says of its costs
        brief = [stakes.evaluate(one, **asked)._decision for one in (frame, frame.lazy())]
        assert brief[1].bayes == brief[0].bayes
        costs = [{name: one.value for name, one in side.alternatives.items()} for side in brief]
        assert costs[1] == pytest.approx(costs[0], rel=1e-12)
    close = 0.05 if more == "clusters" else 0.02  # which are told apart by cells, and those by few of them here
    assert found.corrected.value == pytest.approx(known.corrected.value, rel=close)


@pytest.mark.parametrize("place", ["parquet", "csv", "duckdb"])
@pytest.mark.spread(1)
def test_shuffled_rows_of_few_weights_stay_where_they_are(place, tmp_path, monkeypatch):
    frame = rows().select("word", "said", "p", pl.col("w").round(0) / 4)  # of weights 0, 0.25, 0.5 and 0.75
    question, read_and_count = {"truth": "word", "positive": "yes", "weight": "w"}, permutation.read_and_count
    monkeypatch.setattr(
        permutation, "read_and_count", lambda data, asked: read_and_count(data, asked) if data is frame else None
    )
    monkeypatch.setattr(streaming, "MOST_EXACT", ROWS // 5)  # rows of some weights are more, of others fewer
    table = HERE.get(place, ELSEWHERE.get(place))
    data = table(frame) if table else tmp_path / f"rows.{place}"
    if not table:
        getattr(frame, f"write_{place}")(data)
    for said in ({"prediction": "said"}, {"score": "p"}, {"score": "p", "costs": stakes.Costs(miss=5, false_alarm=1)}):
        known, found = (stakes.permutation_test(one, **question, **said, permutations=200) for one in (frame, data))
        assert (found.value, found.dropped) == (pytest.approx(known.value, rel=1e-12), known.dropped)
        assert found.null.mean() == pytest.approx(known.null.mean(), abs=0.4 * known.null.std())
        assert found.null.std() == pytest.approx(known.null.std(), rel=0.25)


def test_duckdb_takes_any_name_of_a_column():
    import duckdb

    frame = pl.DataFrame({"y.1": [0, 1, 1, 0, 1], 'p"2': [0.1, 0.8, 0.6, 0.7, 0.9], "a b": ["u", "v", "u", "v", "v"]})
    question = {"truth": "y.1", "score": 'p"2', "by": "a b", "where": '"y.1" >= 0 AND "a b" <> \'w\''}
    there = stakes.evaluate(duckdb.sql("SELECT * FROM frame"), **question)
    assert there.to_dict() == stakes.evaluate(frame, **question).to_dict()


@pytest.mark.parametrize("engine", ["dask", pytest.param("spark", marks=SPARK.marks)])
def test_columns_of_the_same_name_are_refused(engine, request):
    frame = rows().select("flag", "p").head(30)
    if engine == "dask":
        table = ELSEWHERE["dask"](frame)
        table = importlib.import_module("dask.dataframe").concat([table, table[["p"]]], axis=1)
    else:
        table = request.getfixturevalue("spark").createDataFrame(frame.to_pandas()).toDF("p", "p")
    with pytest.raises(InputError, match="the table has several columns called 'p'; rename them"):
        stakes.evaluate(table, truth="flag", score="p")


def test_a_library_that_hands_answers_over_may_be_missing(monkeypatch):
    """DuckDB alone gives its answers to nobody: it takes pyarrow."""
    table = duckdb_relation(pl.DataFrame({"y": [0, 1] * 20, "d": [0, 1] * 20}))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingPartError, match="is handed over by pyarrow, which is missing; pip install pyarrow"):
        stakes.evaluate(table, truth="y", prediction="d")
