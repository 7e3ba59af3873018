"""Predicted numbers wherever they lie: the figures of rows in memory, though no row is kept."""

import functools
import importlib
import json
import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import stakes
from stakes.engines import streaming
from stakes.engines.numbers import batches, blocks, partitions, queries
from stakes.engines.numbers.passes import ALL, Wanted
from stakes.engines.numbers.products import ProductSums
from stakes.engines.numbers.rows import Numbers
from stakes.errors import InputError
from stakes.tallies import ErrorSums
from stakes.tallies.bins import edges, numbers
from stakes.tallies.error_terms import TERMS, Origin
from stakes.tallies.error_variation import COARSE, SizeCounts
from tests import command
from tests.engines.test_lazy import ELSEWHERE, SLOWEST, SPARK, engines_with, maker, spark_frame

ROWS = 600
QUESTIONS = {
    "plain": {},
    "segments": {"by": "site"},
    "weights, segments and a baseline": {"weight": "w", "by": ["site", "ward"], "baseline": 20.0},
    "clusters and segments": {"cluster": "patient", "by": "site"},
    "some rows": {"where": "t > 10", "missing": "drop"},
}


@functools.cache
def rows() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    truth = rng.lognormal(3, 1, ROWS)
    said = np.round(truth * rng.lognormal(0.02, 0.3, ROWS), 1)
    return pl.DataFrame(
        {
            "t": truth,
            "p": said,
            "w": rng.integers(1, 24, ROWS) / 8,
            "site": rng.choice(["north", "far, away"], ROWS),
            "ward": rng.integers(0, 2, ROWS),
            "patient": rng.integers(0, 80, ROWS),
        }
    )


@functools.cache
def expected(name: str, times: int = 1) -> stakes.Evaluation:
    return stakes.evaluate(pl.concat([rows()] * times), truth="t", prediction="p", **QUESTIONS[name])


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(streaming, "MOST_EXACT", 100)
    monkeypatch.setattr(streaming, "BATCH", 170)
    monkeypatch.setattr(batches, "_MANY", 3)  # what lies around medians and baselines is given up
    monkeypatch.setattr(batches, "_MORE", 12)


def written(tmp_path, kind: str, frame: pl.DataFrame | None = None) -> list[str]:
    """The rows in two files."""
    paths, frame = [str(tmp_path / f"{i}.{kind}") for i in range(2)], rows() if frame is None else frame
    for part, path in zip((frame[:250], frame[250:]), paths, strict=True):
        part.write_csv(path) if kind == "csv" else part.write_parquet(path)
    return paths


def agree(found: stakes.Evaluation, known: stakes.Evaluation) -> None:
    """Figures to the twelfth digit, intervals and baselines nearly."""
    assert found.errors.rows is None
    assert found.rows == known.rows
    for name, one in known.figures.items():
        other = found[name]
        assert other.value == pytest.approx(one.value, rel=1e-12, nan_ok=True), name
        assert (other.low is None) == (one.low is None), name
        if one.low is not None:
            width = one.high - one.low
            assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=0.05 * width), name
        assert other.baseline == pytest.approx(one.baseline, rel=4e-5, nan_ok=True), name


FILES = [("csv", "weights, segments and a baseline"), *(("parquet", name) for name in QUESTIONS)]


@pytest.mark.parametrize(("kind", "name"), FILES)
def test_files_in_batches(tmp_path, small_batches, kind, name):
    found = stakes.evaluate(written(tmp_path, kind), truth="t", prediction="p", **QUESTIONS[name])
    agree(found, expected(name))
    assert [*found.segments] == [*expected(name).segments]
    for segment, part in expected(name).segments.items():
        agree(found.segments[segment], part)
    assert [one.row for one in found.largest_errors] == [one.row for one in expected(name).largest_errors]


@pytest.mark.parametrize(
    ("order", "question", "passes"),
    [
        ("as they come", {}, 1),
        ("as they come", {"weight": "w", "baseline": 20.0}, 1),
        ("as they come", {"cluster": "patient"}, 1),
        ("t", {}, 2),
        ("t", {"weight": "w", "cluster": "patient", "by": "site"}, 2),
    ],
)
def test_one_pass_is_enough_where_the_first_rows_are_like_the_others(
    tmp_path, small_batches, monkeypatch, order, question, passes
):
    begun = []
    own = batches.FileNumbers._batches
    monkeypatch.setattr(batches.FileNumbers, "_batches", lambda self: begun.append(1) or own(self))
    frame = rows() if order not in rows().columns else rows().sort(order)
    frame.write_parquet(tmp_path / "a.parquet")
    found = stakes.evaluate(str(tmp_path / "a.parquet"), truth="t", prediction="p", **question)
    assert len(begun) == passes
    known = stakes.evaluate(frame, truth="t", prediction="p", **question)
    agree(found, known)
    for segment, part in known.segments.items():
        agree(found.segments[segment], part)


@pytest.mark.parametrize(
    "truth", [np.round(np.linspace(0, 9, 90) ** 2 % 5), np.full(90, 3), np.where(np.arange(90) % 9, 0.0, 7.5)]
)
def test_truths_that_tie_with_the_baseline_lose_what_they_do_in_memory(tmp_path, small_batches, monkeypatch, truth):
    """Many lie where the mean of all rows is, or where that of the first ones was."""
    monkeypatch.setattr(streaming, "MOST_EXACT", 50)
    monkeypatch.setattr(streaming, "BATCH", 20)
    frame = pl.DataFrame({"t": truth, "p": truth + np.sin(np.arange(90.0)).round(1) / 2})
    frame.write_parquet(tmp_path / "a.parquet")
    question = {"truth": "t", "prediction": "p", "task": "regression"}
    found, known = stakes.evaluate(str(tmp_path / "a.parquet"), **question), stakes.evaluate(frame, **question)
    for name, one in known.figures.items():
        assert found[name].value == pytest.approx(one.value, rel=1e-12, nan_ok=True), name
        assert found[name].baseline == pytest.approx(one.baseline, rel=1e-12, abs=1e-12, nan_ok=True), name


@pytest.mark.slow
def test_a_table_of_a_duckdb_file_is_added_up_there(tmp_path, small_batches, monkeypatch):
    duckdb = importlib.import_module("duckdb")
    with duckdb.connect(str(tmp_path / "a.duckdb")) as base:
        rows().to_pandas().to_csv(tmp_path / "a.csv", index=False)
        base.execute(f"CREATE TABLE t AS SELECT * FROM read_csv('{tmp_path / 'a.csv'}')")
    found = stakes.evaluate(f"{tmp_path / 'a.duckdb'}::t", truth="t", prediction="p", by="site")
    agree(found, expected("segments"))


SOONER = {"dask": ["clusters and segments"], "ibis": ["some rows"], "spark": ["plain"]}
DEEP = [(engine, name) for engine, sooner in SOONER.items() for name in QUESTIONS if name not in sooner]
ENGINES = [
    pytest.param(
        engine, name, id=f"{engine}-{name}",
        marks=[*(SPARK.marks if engine == "spark" else ()), *([pytest.mark.deep] if (engine, name) in DEEP else [])],
    )
    for engine in (*ELSEWHERE, "spark") for name in QUESTIONS
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("request_", "name"), ENGINES, indirect=["request_"])
@pytest.mark.each_choice
def test_every_engine_adds_up_where_the_rows_lie(request_, name, pulled):
    table = request_(pl.concat([rows()] * 3))  # three times the rows bring no more of them here
    found = stakes.evaluate(table, truth="t", prediction="p", **QUESTIONS[name])
    sizes = len(pl.concat([rows()]).with_columns(e=(pl.col("t") - pl.col("p")).abs()).unique(["e", "site", "ward"]))
    assert max(pulled)[0] <= sizes
    known = expected(name, 3)
    agree(found, known)
    for segment, part in known.segments.items():
        agree(found.segments[segment], part)


# ── a gate asks for some figures ─────────────────────────────────────────────────────────────────────────────────
CONDITIONS = {
    "sums": ("rmse <= 99", "mae <= 99", "r2 >= 0", "bias.low >= -99", "rae <= 2", "pearson >= 0", "max_error <= 999"),
    "shares": ("rmse <= 99", "mape.high <= 2", "msle <= 2"),
    "medians": ("rmse <= 99", "median_absolute_error <= 99"),
}


def checks_agree(found: stakes.Gate, known: stakes.Gate) -> None:
    """Figures to the twelfth digit, the ends of intervals and baselines nearly."""
    for one, other in zip(known.checks, found.checks, strict=True):
        assert (other.condition, other.passed, other.segment) == (one.condition, one.passed, one.segment)
        here, there = one.estimate, other.estimate
        assert there.value == pytest.approx(here.value, rel=1e-12), one.condition
        assert there.baseline == pytest.approx(here.baseline, rel=4e-5, nan_ok=True), one.condition
        assert (there.low is None) == (here.low is None), one.condition
        if here.low is not None:
            width = here.high - here.low
            assert (there.low, there.high) == pytest.approx((here.low, here.high), abs=0.05 * width), one.condition


def without_what_single_rows_tell(monkeypatch, asked):
    """Nothing is counted by size where no condition is about medians, and no logarithm is taken for sums."""

    def refuse(*_):
        raise AssertionError("counted although no condition asks for it")

    if asked != "medians":
        monkeypatch.setattr(batches.MedianWindow, "add", refuse)
        monkeypatch.setattr(batches.SizeBins, "add", refuse)
        monkeypatch.setattr(batches, "with_worst", refuse)
        monkeypatch.setattr(queries.QueryNumbers, "_sizes", refuse)
    if asked != "shares":
        monkeypatch.setattr(blocks, "operation_of", _no_share)


def _no_share(ops, name, known=blocks.operation_of):
    """How columns are made, of which logarithms, and what shares are shares of, must not be."""
    assert name not in {"log1p", "whole"}
    return known(ops, name)


GATED = {"": {}, "in every segment": {"by": "site", "weight": "w"}, "clusters": {"cluster": "patient"}}


@pytest.mark.parametrize("asked", CONDITIONS)
@pytest.mark.parametrize("where", GATED)
def test_a_gate_counts_what_its_conditions_ask_of_files(tmp_path, small_batches, monkeypatch, asked, where):
    every = f" {where}" if "segment" in where else ""
    question = {"truth": "t", "prediction": "p", **GATED[where]}
    require = [f"{condition}{every}" for condition in CONDITIONS[asked]]
    known = stakes.gate(rows(), require=require, **question)
    without_what_single_rows_tell(monkeypatch, asked)
    checks_agree(stakes.gate(written(tmp_path, "parquet"), require=require, **question), known)


GATED_ELSEWHERE = list(engines_with(CONDITIONS, ELSEWHERE, lambda engine, asked: engine in SLOWEST and asked != "sums"))


@pytest.mark.slow
@pytest.mark.parametrize(("request_", "asked"), GATED_ELSEWHERE, indirect=["request_"])
def test_a_gate_asks_an_engine_for_no_more(request_, monkeypatch, asked):
    question = {"truth": "t", "prediction": "p", "by": "site"}
    require = [*CONDITIONS[asked], f"{CONDITIONS[asked][0]} in every segment"]
    known, table = stakes.gate(rows(), require=require, **question), request_(rows())
    without_what_single_rows_tell(monkeypatch, asked)
    found = stakes.gate(table, require=require, **question)
    checks_agree(found, known)
    clustered = {**question, "cluster": "patient"}
    checks_agree(stakes.gate(table, require=require, **clustered), stakes.gate(rows(), require=require, **clustered))


def test_more_segments_than_are_looked_at_closer_pass_the_gate_that_their_evaluation_passes(monkeypatch):
    monkeypatch.setattr(queries, "_MOST_CLOSER", 1)
    question, require = {"truth": "t", "prediction": "p", "by": ["site", "ward"]}, "mae <= 99 in every segment"
    known = stakes.gate(stakes.evaluate(rows().lazy(), **question), require=require)
    checks_agree(stakes.gate(rows().lazy(), require=require, **question), known)


def test_the_command_counts_what_its_conditions_ask(tmp_path, small_batches, monkeypatch):
    without_what_single_rows_tell(monkeypatch, "sums")
    conditions = [word for condition in CONDITIONS["sums"] for word in ("--require", condition)]
    files = written(tmp_path, "parquet")
    found = command.run("gate", *files, "--truth", "t", "--prediction", "p", *conditions, "--json")
    assert found.returncode == 0, found.stderr
    known = stakes.gate(rows(), truth="t", prediction="p", require=[*CONDITIONS["sums"]])
    seen = [check["estimate"]["value"] for check in json.loads(found.stdout)["checks"]]
    assert seen == pytest.approx([check.estimate.value for check in known.checks], rel=1e-12)


HARD = {
    "right": lambda truth: truth,
    "beyond 64 bits": lambda truth: np.where(np.arange(len(truth)) == 7, 9.4e18, truth + 1),
    "nearly right": lambda truth: truth + 1e-19,
}


def walks_like_another(engine, predicted):
    """Ibis asks DuckDB, and Dask pandas; Spark has 64 bits like DuckDB, and takes long for each of them."""
    return engine in SLOWEST and predicted != "beyond 64 bits"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("request_", "predicted"), list(engines_with(HARD, ELSEWHERE, walks_like_another)), indirect=["request_"]
)
def test_no_engine_stumbles_over_right_predictions_or_numbers_beyond_64_bits(request_, predicted):
    truth = rows()["t"].to_numpy()
    frame = pl.DataFrame({"t": truth, "p": HARD[predicted](truth)})
    known, found = (stakes.evaluate(d, truth="t", prediction="p") for d in (frame, request_(frame)))
    for name in ("rmse", "mae", "median_absolute_error"):
        assert found[name].value == pytest.approx(known[name].value, rel=1e-12, abs=1e-30), name
    if predicted == "right":
        assert found["rmse"].no_interval == known["rmse"].no_interval == "no row makes a difference"


@pytest.mark.parametrize("question", [{}, {"weight": "w"}, {"cluster": "patient"}])
@pytest.mark.parametrize("engine", ELSEWHERE)
def test_the_largest_errors_of_an_engine_have_no_row_numbers(engine, question):
    asked = {"truth": "t", "prediction": "p", **question}
    known, found = (stakes.evaluate(d, **asked) for d in (rows(), ELSEWHERE[engine](rows())))
    assert [one.row for one in found.largest_errors] == [None] * 20
    wanted = sorted((one.truth, one.prediction, one.error) for one in known.largest_errors)
    assert sorted((one.truth, one.prediction, one.error) for one in found.largest_errors) == wanted
    text = str(found)
    assert "Largest errors" in text
    assert "The largest error is " in text
    assert "in row" not in text


@pytest.mark.parametrize("most", [10**6, 3])
@pytest.mark.parametrize("engine", ["lazy polars", "dask"])
def test_segments_of_an_engine_have_largest_errors_of_their_own(engine, most, monkeypatch):
    monkeypatch.setattr(queries, "_MOST_SIZES", most)
    asked = {"truth": "t", "prediction": "p", "by": "site", "weight": "w"}
    known, found = (stakes.evaluate(d, **asked).segments for d in (rows(), ELSEWHERE[engine](rows())))
    for segment, part in known.items():
        wanted = sorted((one.truth, one.prediction) for one in part.largest_errors)
        assert sorted((one.truth, one.prediction) for one in found[segment].largest_errors) == wanted


def test_largest_errors_without_row_numbers_can_be_saved():
    errors = stakes.evaluate(rows().lazy(), truth="t", prediction="p", weight="w").errors
    assert type(errors).from_dict(errors.to_dict()).worst == errors.worst


def test_of_errors_that_are_alike_the_first_rows_are_told(tmp_path, small_batches):
    """However many rows are looked at together."""
    frame = pl.DataFrame({"t": np.arange(900.0) % 7, "p": np.arange(900.0) % 5})
    frame.write_parquet(tmp_path / "rows.parquet")
    error = (frame["t"] - frame["p"]).abs().to_numpy()
    wanted = np.argsort(-error, kind="stable")[:20].tolist()
    for data in (frame, str(tmp_path / "rows.parquet")):
        found = stakes.evaluate(data, truth="t", prediction="p", task="regression")
        assert [one.row for one in found.largest_errors] == wanted


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("engine", [*ELSEWHERE, SPARK])
def test_segments_far_from_the_others_keep_their_digits(engine, weight, request):
    """One lies far away, one has a single row, and one a single truth."""
    place, far = pl.int_range(pl.len()), pl.when(pl.col("site") == "north").then(1e6).otherwise(0.0)
    names = pl.when(place == 5).then(pl.lit("alone")).when(place % 9 == 0).then(pl.lit("alike")).otherwise("site")
    frame = rows().with_columns(pl.col("t") + far, pl.col("p") + far, names.alias("site"))
    frame = frame.with_columns(pl.when(pl.col("site") == "alike").then(7.3).otherwise("t").alias("t"))
    data = spark_frame(request.getfixturevalue("spark"), frame) if engine == "spark" else ELSEWHERE[engine](frame)
    asked = {"truth": "t", "prediction": "p", "by": "site", "weight": weight}
    known, found = stakes.evaluate(frame, **asked).segments, stakes.evaluate(data, **asked).segments
    for segment, part in known.items():
        for name, one in part.figures.items():
            other = found[segment][name]
            assert other.value == pytest.approx(one.value, rel=1e-9, nan_ok=True), name
            assert other.baseline == pytest.approx(one.baseline, rel=1e-9, nan_ok=True), name
            assert other.reason == one.reason


def test_a_partition_of_dask_that_is_tried_again_does_not_count_twice(monkeypatch):
    original = partitions._add

    def tried_again(*given):
        original(*given)
        return original(*given)

    monkeypatch.setattr(partitions, "_add", tried_again)
    agree(stakes.evaluate(ELSEWHERE["dask"](rows()), truth="t", prediction="p"), expected("plain"))


@pytest.fixture
def request_(request):
    return maker(request)


# ── what is wrong with the rows ──────────────────────────────────────────────────────────────────────────────────
def spoilt(value: object) -> pl.DataFrame:
    return rows().with_columns(p=pl.Series([*rows()["p"][:-3].to_list(), *[value] * 3]))


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_wrong_numbers_are_counted(value, tmp_path, small_batches):
    frame = spoilt(value)
    with pytest.raises(InputError) as in_memory:
        stakes.evaluate(frame, truth="t", prediction="p")
    with pytest.raises(InputError) as elsewhere:
        stakes.evaluate(frame.lazy(), truth="t", prediction="p")
    assert elsewhere.value.code == in_memory.value.code
    assert "3 " in str(elsewhere.value)
    frame.write_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError) as in_files:
        stakes.evaluate(str(tmp_path / "a.parquet"), truth="t", prediction="p")
    assert in_files.value.code == in_memory.value.code
    if value != math.inf:
        for data in (frame.lazy(), str(tmp_path / "a.parquet")):
            found = stakes.evaluate(data, truth="t", prediction="p", missing="drop")
            assert (found.rows, found.counted.dropped) == (ROWS - 3, 3)


def test_what_needs_the_rows_says_how_to_keep_them():
    assert stakes.evaluate(rows().lazy(), truth="t", prediction="p", exact=True).calibration.rows == ROWS
    with pytest.raises(InputError, match=r"calibration needs rows: .*; give the rows, and pass exact=True"):
        _ = stakes.evaluate(rows().lazy(), truth="t", prediction="p").calibration


def test_probabilities_given_as_predictions_are_refused_in_an_engine_too():
    frame = pl.DataFrame({"y": [0, 1, 0, 1], "p": [0.1, 0.9, 0.4, 0.6]})
    with pytest.raises(InputError, match="pass probabilities as score="):
        stakes.evaluate(frame.lazy(), truth="y", prediction="p")


def test_whole_numbers_are_asked_about_in_an_engine_too():
    frame = pl.DataFrame({"y": [10, 20, 30], "p": [12, 20, 31]}).lazy()
    with pytest.raises(InputError, match="which can be classes or quantities"):
        stakes.evaluate(frame, truth="y", prediction="p")
    assert stakes.evaluate(frame, truth="y", prediction="p", task="regression")["mae"].value == 1.0


# ── sums that travel ─────────────────────────────────────────────────────────────────────────────────────────────
def test_saved_sums_of_parts_have_intervals_of_every_figure_but_those_of_ranks(tmp_path):
    question = {"truth": "t", "prediction": "p", "baseline": 20.0}
    for i, part in enumerate((rows()[:250], rows()[250:])):
        stakes.count(part, **question).save(tmp_path / f"{i}.tally")
    found = stakes.evaluate([str(tmp_path / f"{i}.tally") for i in range(2)])
    whole = stakes.evaluate(rows(), **question)
    for name, one in whole.figures.items():
        if name == "median_absolute_error":
            continue
        assert found[name].value == pytest.approx(one.value, rel=1e-12)
        assert (found[name].low is None) == (one.low is None), name
        if one.low is not None:
            width = one.high - one.low
            assert (found[name].low, found[name].high) == pytest.approx((one.low, one.high), abs=0.25 * width), name


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("place", ["saved", "file", "engine"])
@pytest.mark.each_choice
def test_parts_about_different_means_have_the_squared_errors_of_the_mean_of_all(tmp_path, small_batches, place, weight):
    named, halves = (
        {"truth": "t", "prediction": "p", "weight": weight},
        [rows().sort("t")[:200], rows().sort("t")[200:]],
    )
    parts = []
    for i, half in enumerate(halves):
        half.write_parquet(path := tmp_path / f"{i}.parquet")
        counted = stakes.count({"saved": half, "file": str(path), "engine": half.lazy()}[place], **named)
        counted.save(tmp_path / f"{i}.tally")
        parts.append(stakes.load(tmp_path / f"{i}.tally") if place == "saved" else counted)
    found, known = stakes.evaluate(parts[0] + parts[1]), stakes.evaluate(rows(), **named)
    for name in ("rrse", "rmse", "mse"):
        assert found[name].value == pytest.approx(known[name].value, rel=1e-12)
        assert found[name].baseline == pytest.approx(known[name].baseline, rel=1e-12)
        assert found[name].low == pytest.approx(known[name].low, abs=0.25 * (known[name].high - known[name].low))
    assert found["rae"].reason.startswith("parts were counted about different means")


def test_a_damaged_variation_is_refused():
    saved = stakes.count(rows(), truth="t", prediction="p").tallies["errors"].anonymise(10).to_dict()
    damages = [
        lambda one: one[3].pop(),
        lambda one: one[3][2].__setitem__(2, -1.0),
        lambda one: one[3][1].__setitem__(4, 1e9),
        lambda one: one.__setitem__(0, math.nan),
    ]
    for damage in damages:
        damaged = json.loads(json.dumps(saved))
        damage(damaged["variation"])
        with pytest.raises(InputError, match="variation of errors"):
            ErrorSums.from_dict(damaged)


def test_the_median_of_sizes_in_bins_lies_within_its_bounds():
    sizes = np.random.default_rng(1).lognormal(0, 2, 501)
    halves = [SizeCounts.of_bins(part, np.ones(len(part))) for part in (sizes[:200], sizes[200:])]
    both = SizeCounts.joined(halves)
    assert both.around_median[0] <= np.median(sizes) <= both.around_median[1]
    assert both.refined(np.sort(sizes), np.ones(501)).median == np.median(sizes)


def test_sizes_in_coarse_bins_add_up_with_fine_ones():
    sizes = np.sort(np.random.default_rng(2).lognormal(0, 2, 801))
    lower = edges(numbers(sizes, "line", COARSE), "line", COARSE)
    coarse = SizeCounts.of_bins(*np.unique(lower, return_counts=True), COARSE)
    fine = SizeCounts.of_bins(np.array([sizes[400]]), np.array([1.0]))
    both = SizeCounts.joined([coarse, fine])
    assert (both.upper - both.lower == [coarse.upper[coarse.lower == one][0] - one for one in both.lower]).all()
    assert both.total == 802
    assert both.around_median[0] <= sizes[400] < both.around_median[1]
    around = sizes[(sizes >= (reach := coarse.around(50))[0]) & (sizes < reach[1])]
    known = coarse.refined(around, np.ones(len(around)))
    assert known.total == 801
    assert known.median == sizes[400]
    assert (known.at_rank(360)[0], known.at_rank(440)[1]) == (sizes[360], sizes[440])


def test_truths_far_from_0_keep_their_digits():
    table = rows().with_columns(t=pl.col("t") / 100 + 1e6, p=pl.col("p") / 100 + 1e6)
    found, known = (stakes.evaluate(data, truth="t", prediction="p") for data in (table.lazy(), table))
    for name in ("r2", "pearson", "rmse"):
        assert found[name].value == pytest.approx(known[name].value, rel=1e-9)
        assert found[name].low == pytest.approx(known[name].low, rel=0.01)


def exact_correlation(truth, prediction) -> tuple[float, float]:
    """Pearson's r and the explained variance by whole numbers, without rounding."""
    t, p = ([Fraction(value) for value in column.tolist()] for column in (truth, prediction))

    def spread(one, other):
        return sum(x * y for x, y in zip(one, other, strict=True)) - sum(one) * sum(other) / len(one)

    errors = [x - y for x, y in zip(t, p, strict=True)]
    r = float(spread(t, p)) / math.sqrt(spread(t, t) * spread(p, p))
    return r, float(1 - spread(errors, errors) / spread(t, t))


@pytest.mark.parametrize("place", ["file", "engine"])
@pytest.mark.parametrize("far", ["reversed", "shifted", "scaled"])
@pytest.mark.each_choice
def test_predictions_far_from_the_truth_keep_their_digits(tmp_path, small_batches, place, far):
    """Squares about the mean of the truths lost so many that pearson was -0.8949 for -0.8946."""
    rng = np.random.default_rng(3)
    t, noise = 2.0**20 + np.round(rng.normal(size=400), 6), np.round(rng.normal(size=400), 6)
    p = {"reversed": -2 * t + noise, "shifted": t + 2.0**23 + noise, "scaled": 4096 * t + noise}[far]
    table = pl.DataFrame({"t": t, "p": p})
    table.write_parquet(tmp_path / "rows.parquet")
    source = str(tmp_path / "rows.parquet") if place == "file" else table.lazy()
    found = stakes.evaluate(source, truth="t", prediction="p", task="regression")
    assert found.errors.rows is None
    r, explained = exact_correlation(t, p)
    assert found["pearson"].value == pytest.approx(r, rel=1e-12)
    assert found["explained_variance"].value == pytest.approx(explained, rel=1e-9)
    assert found["rmse"].value == pytest.approx(math.sqrt(np.mean((t - p) ** 2)), rel=1e-14)
    for name in ("pearson", "explained_variance"):  # fourth powers have lost what an interval needs
        assert "lose too many digits" in str(found.interval(name))


@pytest.mark.parametrize("place", ["file", "engine"])
def test_narrow_and_wide_numbers_of_files_are_those_of_memory(tmp_path, small_batches, place):
    """Distances of float32 truths from a baseline were all 0; errors of whole numbers that no float holds are exact."""
    narrow = rows().select(pl.col("t", "p").cast(pl.Float32))
    wide = pl.DataFrame({"t": [2**60 + i % 3 for i in range(300)], "p": [2**60 - 5 + i % 2 for i in range(300)]})
    for name, table in (("narrow", narrow), ("wide", wide)):
        table.write_parquet(tmp_path / f"{name}.parquet")
    asked = {"truth": "t", "prediction": "p", "baseline": 20.0}
    source = str(tmp_path / "narrow.parquet") if place == "file" else narrow.lazy()
    agree(stakes.evaluate(source, **asked), stakes.evaluate(narrow, **asked))
    if place == "file":
        found = stakes.evaluate(str(tmp_path / "wide.parquet"), truth="t", prediction="p", task="regression")
        known = stakes.evaluate(wide, truth="t", prediction="p", task="regression")
        for name in ("mean_error", "mean_absolute_error", "rmse"):
            assert found[name].value == pytest.approx(known[name].value, rel=1e-12)


def test_a_variance_that_sums_have_lost_makes_no_interval():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        t = 1000 + rng.normal(size=300)
        table = pl.DataFrame({"t": t, "p": t - 1000 - 1e-6 * rng.normal(size=300)})
        found = stakes.evaluate(table.lazy(), truth="t", prediction="p", task="regression")
        assert "lose too many digits" in str(found.interval("mean_error")), seed


@pytest.mark.parametrize("most", [10**6, 3])
def test_rows_that_can_carry_a_figure_are_those_of_memory(monkeypatch, most):
    """Also where more rows are alike than are brought here: then the heavy ones are sorted."""
    monkeypatch.setattr(queries, "_MOST_SIZES", most)
    heavy = stakes.count(rows().lazy(), truth="t", prediction="p").tallies["errors"].heavy
    errors = (rows()["t"] - rows()["p"]).to_numpy() ** 2
    np.testing.assert_allclose(np.sort(heavy.chosen[0][0]), np.sort(errors)[-20:], rtol=1e-12)
    centred = (rows()["t"] - rows()["t"].mean()).to_numpy() ** 2
    np.testing.assert_allclose(np.sort(heavy.chosen[1][0]), np.sort(centred)[-20:], rtol=1e-9)


@pytest.mark.parametrize("most", [10**6, 3])
def test_a_small_weighted_segment_in_an_engine_is_as_sure_as_in_memory(monkeypatch, most):
    """It has heavy rows of its own, and medians: those of all rows lie elsewhere."""
    monkeypatch.setattr(queries, "_MOST_SIZES", most)
    small = rows().with_columns(site=pl.when(pl.int_range(ROWS) < 40).then(pl.lit("a")).otherwise(pl.lit("b")))
    asked = {"truth": "t", "prediction": "p", "weight": "w", "by": "site"}
    known, found = (stakes.evaluate(data, **asked).segments["a"] for data in (small, small.lazy()))
    for name, one in known.figures.items():
        other, close = found[name], 4e-5 if name == "median_absolute_error" and most == 3 else 1e-12
        assert other.value == pytest.approx(one.value, rel=close), name
        assert other.baseline == pytest.approx(one.baseline, rel=close), name
        if one.low is not None:
            assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=0.02 * (one.high - one.low)), name


def test_of_very_many_segments_the_smaller_ones_keep_what_bins_tell(monkeypatch):
    monkeypatch.setattr(queries, "_MOST_CLOSER", 1)
    sites = rows().with_columns(site=pl.when(pl.int_range(ROWS) < 40).then(pl.lit("a")).otherwise(pl.lit("b")))
    known, found = (
        stakes.evaluate(data, truth="t", prediction="p", by="site").segments for data in (sites, sites.lazy())
    )
    for name in ("a", "b"):
        close = {"median_absolute_error": 4e-5 if name == "a" else 1e-12}
        for figure, one in known[name].figures.items():
            assert found[name][figure].value == pytest.approx(one.value, rel=close.get(figure, 1e-12)), figure
            assert (found[name][figure].low is None) == (one.low is None), figure


def test_rows_that_are_alike_carry_a_figure_as_often_as_they_are_there():
    table = pl.DataFrame({"t": [0.0, 1.0, 2.5, 7.0] * 15, "p": [0.0, 3.0, 2.5, 8.0] * 15})
    heavy = stakes.count(table.lazy(), truth="t", prediction="p").tallies["errors"].heavy
    assert heavy.chosen[0].tolist() == [
        [4.0] * 15 + [1.0] * 5,
        [1.0] * 15 + [7.0] * 5,
        [3.0] * 15 + [8.0] * 5,
        *[[1.0] * 20] * 2,
    ]
    assert heavy.chosen[3][0].tolist() == [2.0] * 15 + [1 / 7] * 5


@pytest.mark.parametrize("scale", [2.0**200, 2.0**-200])
def test_engines_take_numbers_of_any_usual_size(scale):
    rng = np.random.default_rng(0)
    truth = rng.normal(3, 1, 300)
    frame = pl.DataFrame({"t": truth, "p": truth + rng.normal(0, 0.3, 300)})
    wanted, found = (
        stakes.evaluate((frame * size).lazy(), truth="t", prediction="p", task="regression") for size in (1.0, scale)
    )
    for name in ("mae", "rmse"):
        ends = [(one.low, one.value, one.high) for one in (found[name], wanted[name])]
        assert np.divide(ends[0], scale) == pytest.approx(ends[1], rel=2e-4)
    assert found["r2"].low == pytest.approx(wanted["r2"].low, rel=2e-4)


@pytest.mark.parametrize(
    ("scale", "words"), [(1e100, r"1\.5e\+100\); leave such rows out"), (1e-100, "; scale them up")]
)
def test_very_many_numbers_whose_powers_no_float_holds_are_refused(tmp_path, monkeypatch, scale, words):
    """Sums of products need fourth powers: of what is smaller intervals would be wrong."""
    monkeypatch.setattr(streaming, "MOST_EXACT", 2)
    frame = pl.DataFrame({"t": [1.0, 2.0, 3.5, 4.0], "p": [1.5, 1.0, 3.0, 5.5]}) * scale
    frame.write_parquet(tmp_path / "a.parquet")
    for data in (frame.lazy(), str(tmp_path / "a.parquet")):
        with pytest.raises(stakes.InputError, match=words):
            stakes.evaluate(data, truth="t", prediction="p", task="regression")
        with pytest.raises(stakes.InputError, match=words):
            stakes.evaluate(data, truth={"x": "t", "y": "t"}, prediction={"x": "p", "y": "t"})


@pytest.mark.parametrize("wrong", [1e100, 1e300])
def test_a_prediction_whose_powers_no_float_holds_is_told_as_in_memory_wherever_rows_lie(tmp_path, wrong):
    frame = rows().with_columns(p=pl.when(pl.int_range(ROWS) == 7).then(wrong).otherwise("p"))
    frame.write_parquet(tmp_path / "a.parquet")
    known, *found = (
        stakes.evaluate(data, truth="t", prediction="p", exact=exact)
        for data, exact in ((frame, None), (frame.lazy(), None), (str(tmp_path / "a.parquet"), False))
    )
    assert known["mae"].low < known["mae"].value == pytest.approx(wrong / ROWS)
    assert all(str(one) == str(known) for one in found)
    models = [stakes.compare(data, truth="t", predictions=["p", "w"], metric="mae") for data in (frame, frame.lazy())]
    assert models[0].pairs == models[1].pairs


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_where_no_float_holds_squares_figures_of_rows_stay_and_have_no_interval(scale):
    frame = rows().select(pl.col("t", "p") * scale)
    found = stakes.evaluate(frame, truth="t", prediction="p", task="regression")
    assert found["mae"].low < found["mae"].value < found["mae"].high
    for name in ("rmse", "r2", "pearson"):
        wanted = expected("plain")[name].value * (scale if name == "rmse" else 1)
        assert found[name].value == pytest.approx(wanted, rel=1e-12)
        assert found[name].no_interval == "the squares of these numbers lose too many digits; scale or shift them"


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("cluster", [None, "patient"])
@pytest.mark.parametrize("scale", [2.0**-530, 2.0**530])  # 1e160, of which no float holds the square
def test_numbers_beyond_squares_have_baselines_segments_and_gaps_of_their_scale(scale, cluster):
    question = {"truth": "t", "prediction": "p", "by": "site", "cluster": cluster, "task": "regression"}
    frame = rows().with_columns(pl.col("t", "p") * scale)
    found = stakes.evaluate(frame, **question, baseline=scale)
    wanted = stakes.evaluate(rows(), **question, baseline=1.0)
    assert found["mae"].baseline == pytest.approx(wanted["mae"].baseline * scale, rel=1e-12)
    assert found["r2"].value == pytest.approx(wanted["r2"].value, rel=1e-12)
    for name, part in wanted.segments.items():
        assert found.segments[name]["mae"].value == pytest.approx(part["mae"].value * scale, rel=1e-12)
    gap, usual = found.gap("mae"), wanted.gap("mae")
    assert [gap.value / scale, gap.high / scale] == pytest.approx([usual.value, usual.high], rel=1e-6)
    assert str(found)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(
    "more", [{"baseline": 1e160}, {"by": "site"}, {"by": "site", "cluster": "patient", "baseline": -1e300}]
)
@pytest.mark.parametrize(("scale", "code"), [(1e160, "errors-too-large"), (1e-160, "errors-too-small")])
def test_sums_that_no_float_holds_are_told_in_a_line(tmp_path, small_batches, scale, code, more):
    frame = rows().with_columns(pl.col("t", "p") * scale)
    frame.write_parquet(tmp_path / "a.parquet")
    for data in (str(tmp_path / "a.parquet"), frame.lazy()):
        with pytest.raises(stakes.InputError, match=r"to be added up .the largest error is [^\n]*$") as problem:
            stakes.evaluate(data, truth="t", prediction="p", task="regression", **more)
        assert problem.value.code == code


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_baseline_far_beyond_all_segments_leaves_figures_in_an_engine():
    """Products with the baseline are endless there, of both signs."""
    frame = rows().with_columns(pl.col("t", "p") * pl.when(pl.col("site") == "north").then(1e75).otherwise(1))
    question = {"truth": "t", "prediction": "p", "by": "site", "baseline": -1e300, "task": "regression"}
    known, found = (stakes.evaluate(data, **question) for data in (frame, frame.lazy()))
    assert found["mae"].value == pytest.approx(known["mae"].value, rel=1e-12)
    assert str(found)


@pytest.mark.parametrize("scale", [2.0**-400, 2.0**400])
def test_intervals_in_memory_have_the_scale_of_their_rows(scale):
    truth, prediction = rows()["t"].to_numpy(), rows()["p"].to_numpy()
    question = {"task": "regression"}
    wanted, found = (stakes.evaluate(truth=truth * by, prediction=prediction * by, **question) for by in (1.0, scale))
    for name in ("mae", "rmse", "r2", "pearson"):
        unit = scale if name in ("mae", "rmse") else 1.0
        ends = [found[name].low / unit, found[name].high / unit]
        assert ends == pytest.approx([wanted[name].low, wanted[name].high], rel=1e-9), name


@pytest.mark.parametrize("baseline", [None, 2.0])
@pytest.mark.parametrize("place", ["file", "engine"])
def test_medians_of_tallies_whose_errors_are_unlike_add_up(tmp_path, small_batches, baseline, place):
    """Around the median of each all errors are known; the median of both lies elsewhere, in a bin of the grid."""
    rng, parts, tallies = np.random.default_rng(1), [], []
    named = {"truth": "t", "prediction": "p", "task": "regression", "baseline": baseline}
    for centre, wide in [(3, 0.1), (9, 4.0)]:
        truth = rng.normal(centre, 1, 600)
        parts.append(pl.DataFrame({"t": truth, "p": truth + rng.normal(0, wide, 600)}))
        parts[-1].write_parquet(tmp_path / "rows.parquet")
        data = str(tmp_path / "rows.parquet") if place == "file" else parts[-1].lazy()
        tallies.append(stakes.count(data, **named))
    wanted = stakes.evaluate(pl.concat(parts), **named)["median_absolute_error"]
    found = stakes.evaluate(tallies[0] + tallies[1])["median_absolute_error"]
    assert found.value == pytest.approx(wanted.value, rel=2**-11)
    if baseline is not None:
        assert found.baseline == pytest.approx(wanted.baseline, rel=2**-11)


@pytest.mark.parametrize("name", ["alone", "in clusters"])
@pytest.mark.parametrize("says", [lambda t: t, lambda t: -2 * t + 1, lambda t: t - 1])
@pytest.mark.each_choice
def test_where_no_row_makes_a_difference_every_door_says_so(tmp_path, small_batches, says, name):
    """Predictions that are right, on a line with the truth, or always wrong by 1."""
    truth = np.random.default_rng(3).integers(-400, 400, 3000) / 8
    frame = pl.DataFrame({"t": truth, "p": says(truth), "c": np.arange(3000) % 1001})
    frame.write_parquet(tmp_path / "a.parquet")
    question = {"truth": "t", "prediction": "p", "cluster": "c" if name == "in clusters" else None}
    known = stakes.evaluate(frame, **question)
    assert known["pearson"].no_interval == "no row makes a difference"
    for data in (str(tmp_path / "a.parquet"), frame.lazy()):
        found = stakes.evaluate(data, **question)
        for metric in ("median_absolute_error", "mae", "rmse", "mean_error", "pearson"):
            one, other = known[metric], found[metric]
            assert (other.low is None, other.no_interval) == (one.low is None, one.no_interval), metric


@pytest.mark.parametrize("weighted", [False, True])
def test_products_that_no_condition_asks_for_are_not_made_and_the_others_are_the_same(weighted):
    table, at = rows(), Origin(12.0, 11.0, 13.0)
    weight = table["w"].to_numpy() if weighted else None
    some = Numbers(table["t"].to_numpy(), table["p"].to_numpy(), weight)
    every, fewer = (
        ProductSums(weighted, False, one) for one in (ALL, Wanted(rows=False, shares=False, baseline=False))
    )
    for sums in (every, fewer):
        sums.add(some, at, logs=True)
    moved = [sums.moved(at, Origin(10.0, 11.0, 9.0), some.take(slice(0))) for sums in (every, fewer)]
    known, found = (sums.products for sums in moved)
    asked = [TERMS.index(name) for name in ("one", "size", "error", "square", "truth", "truth2", "cross")]
    assert np.isfinite(known).all()
    np.testing.assert_allclose(found[np.ix_(asked, asked)], known[np.ix_(asked, asked)], rtol=1e-12)
    others = [place for place in range(len(TERMS)) if place not in asked]
    assert np.isnan(found[others, 1:]).all()  # but sums
    for name in ("away", "sign", "prediction2", "product"):
        assert moved[1].sum_of(name) == pytest.approx(moved[0].sum_of(name), rel=1e-12)


# ── what memory and other places told differently ────────────────────────────────────────────────────────────────
def test_differences_of_relative_errors_are_about_the_baseline_that_was_given():
    frame = rows().with_columns(q=pl.col("p") * 1.01 + 0.2)
    question = {"truth": "t", "predictions": ["p", "q"], "baseline": 200.0}
    for metric in ("rae", "rrse"):
        known, found = (stakes.compare(table, **question, metric=metric).pairs[0] for table in (frame, frame.lazy()))
        assert known.low < known.difference < known.high
        assert (found.low, found.high) == pytest.approx((known.low, known.high), rel=1e-6), metric


@pytest.mark.parametrize("request_", ["lazy polars", "duckdb", "dask"], indirect=True)
def test_a_gate_knows_the_weight_of_the_numbers_that_engines_left_out(request_):
    lost = pl.int_range(ROWS) % 40 == 0
    frame = rows().with_columns(t=pl.when(lost).then(None).otherwise("t"), w=pl.when(lost).then(20.0).otherwise(1.0))
    gates = [
        stakes.gate(table, truth="t", prediction="p", weight="w", missing="drop", require="mae <= 99")
        for table in (frame, request_(frame))
    ]
    known, found = ([check.seen for check in gate.checks] for gate in gates)
    assert found == pytest.approx(known, rel=1e-12)
    assert [check.passed for check in gates[1].checks] == [True, False]


@pytest.mark.parametrize("more", [{"weight": "w"}, {"cluster": "patient"}, {"where": "site = 'north'"}], ids=str)
def test_a_gate_of_files_knows_its_own_model_beside_another(tmp_path, small_batches, more):
    files = str(tmp_path / "rows.parquet")
    rows().with_columns(q=pl.col("p") * 1.01 + 0.2).write_parquet(files)
    both = stakes.compare(files, truth="t", predictions=["p", "q"], **more)
    for metric in ("rmse", "pearson", "r2", "mae"):
        assert stakes.gate(files, truth="t", prediction="p", no_worse={metric: 0.9}, baseline=both, **more).checks


@pytest.mark.parametrize("shift", [0.0, 1e8, 1e9])
def test_clusters_whose_squares_lose_digits_have_no_interval_made_of_them(tmp_path, small_batches, shift):
    frame = rows().with_columns(p=pl.col("p") + shift)
    known = stakes.evaluate(frame, truth="t", prediction="p", cluster="patient")
    for table in (written(tmp_path, "parquet", frame), frame.lazy()):
        found = stakes.evaluate(table, truth="t", prediction="p", cluster="patient")
        for name in ("pearson", "explained_variance"):
            one, other = known[name], found[name]
            assert other.low is None or (other.low, other.high) == pytest.approx((one.low, one.high), abs=1e-3)
            assert other.low is not None or (shift and "digits" in other.no_interval)


@pytest.mark.parametrize("two", [(1.0, 2.0), (0.0, 3.0), (100.0, 101.0)], ids=str)
def test_truths_of_two_kinds_as_often_have_the_intervals_of_memory_by_segment(tmp_path, small_batches, two):
    rng = np.random.default_rng(0)
    guess = rng.random(ROWS).round(2) + two[0]
    frame = pl.DataFrame({"t": np.resize(two, ROWS), "p": guess, "site": rng.choice([*"abcd"], ROWS)})
    question = {"truth": "t", "prediction": "p", "by": "site", "task": "regression"}
    known, found = (stakes.evaluate(table, **question) for table in (frame, written(tmp_path, "parquet", frame)))
    for segment, part in known.segments.items():
        for name in ("r2", "pearson", "rrse"):
            one, other = part[name], found.segments[segment][name]
            assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=0.05 * (one.high - one.low)), name


@pytest.mark.parametrize("unit", [1e-6, 1.0])
def test_weights_beside_clusters_are_not_taken_for_rows(unit, tmp_path, monkeypatch):
    """How many rows there are to rest on does not hang on what they weigh."""
    monkeypatch.setattr(streaming, "MOST_EXACT", 100)
    rng = np.random.default_rng(0)
    truth, weight = rng.normal(size=400), unit * rng.gamma(2, 1, 400)
    beside = {"w": weight, "k": np.arange(400) // 4, "site": np.arange(400) // 4 % 2}
    frame = pl.DataFrame({"t": truth, "p": truth + rng.normal(size=400), **beside})
    frame.write_parquet(tmp_path / "rows.parquet")
    asked = {"truth": "t", "prediction": "p", "weight": "w", "cluster": "k", "by": "site"}
    known, *found = (stakes.evaluate(data, **asked) for data in (frame, tmp_path / "rows.parquet", frame.lazy()))
    for one in found:
        for name, part in {"": one, **one.segments}.items():
            same = known.segments[name] if name else known
            assert part._sizes()["data"] == pytest.approx(same._sizes()["data"], rel=1e-12)
        assert [s.verdict for s in one.by_segment("mae")] == [s.verdict for s in known.by_segment("mae")]
