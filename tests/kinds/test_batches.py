"""Rows of every kind in files of many rows: counted in batches, they tell what they tell when they are read whole."""

import importlib

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtr

import stakes
from stakes.engines import kind_stream, on_disk, streaming
from stakes.engines.lazy.queries import QuerySource
from stakes.errors import InputError
from stakes.evaluation import shared_models
from stakes.tallies.clusters import deal_out
from stakes.tallies.count_sums import Levels
from tests.engines.test_lazy import dask_frame
from tests.kinds.rows import labels, quantiles

N = 900
LABELS, QUANTILES, random = labels(n=N), quantiles(n=N), np.random.default_rng(2)
TABLE = {
    **{f"t{name}": LABELS["truth"][:, i].astype(int) for i, name in enumerate("abc")},
    **{f"s{name}": LABELS["score"][:, i] for i, name in enumerate("abc")},
    "tags": [";".join(np.array(list("abc"))[row]) for row in LABELS["truth"]],
    "said": [";".join(np.array(list("abc"))[row]) for row in LABELS["prediction"]],
    "y": QUANTILES["truth"],
    **{f"q{level}": one for level, one in QUANTILES["quantiles"].items()},
    "n": random.poisson(2, N),
    "rate": np.round(1.5 + random.random(N), 2),
    "years": 0.5 + random.random(N),
    "grade": np.array(["low", "mid", "high"])[np.arange(N) % 3],
    "graded": np.array(["low", "mid", "high"])[random.integers(0, 3, N)],
    "weight": random.choice([0.5, 1, 3], N),
    "cluster": np.arange(N) // 3,
    "day": [f"2026-03-{1 + i // 60:02}" for i in range(N)],
    "ward": [f"ward {i % 60}" for i in range(N)],
    "by": np.where(random.random(N) < 0.4, "x", "z"),
}
ASKED = {
    "scores of labels": {"truth": {n: f"t{n}" for n in "abc"}, "score": {n: f"s{n}" for n in "abc"}},
    "tags": {"truth": "tags", "prediction": "said", "label_separator": ";"},
    "quantiles": {"truth": "y", "quantiles": {level: f"q{level}" for level in (0.1, 0.5, 0.9)}},
    "an interval": {"truth": "y", "low": "q0.1", "high": "q0.9", "level": 0.8},
    "outputs": {"truth": {"a": "y", "b": "rate"}, "prediction": {"a": "q0.5", "b": "years"}},
    "counts": {"truth": "n", "prediction": "rate", "task": "counts"},
    "an exposure": {"truth": "n", "prediction": "rate", "exposure": "years"},
    "grades": {"truth": "grade", "prediction": "graded", "classes": ["low", "mid", "high"], "ordered": True},
    "forecasts": {"truth": "y", "prediction": "rate", "order": "day", "series": "ward", "season": 2},
    "an ensemble": {"truth": "y", "ensemble": ["q0.1", "q0.5", "q0.9"]},
}
MORE = {
    "alone": {},
    "weighted": {"weight": "weight"},
    "clustered": {"cluster": "cluster"},
    "some": {"where": "by = 'x'"},
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    pl.DataFrame(TABLE).write_parquet(folder / "rows.parquet")
    pl.DataFrame(TABLE).write_csv(folder / "rows.csv")
    return folder


@pytest.fixture
def in_batches(monkeypatch):
    def ask(*given, verb=stakes.evaluate, **asked):
        with monkeypatch.context() as patched:
            patched.setattr(streaming, "MOST_EXACT", 100)
            patched.setattr(shared_models, "MOST_EXACT", 100)
            patched.setattr(streaming, "BATCH", 700)
            return verb(*given, **asked)

    return ask


def keeps_rows(counted):
    tallies = [one for tally in counted.tallies.values() for one in getattr(tally, "each", [tally])]
    return any(getattr(tally, "rows", None) is not None for tally in tallies)


@pytest.mark.each_choice
@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize("kind", ASKED)
def test_batches_tell_what_whole_files_tell(kind, more, files, in_batches):
    asked, file = {**ASKED[kind], **MORE[more]}, files / ("rows.csv" if more == "alone" else "rows.parquet")
    whole, parts = stakes.evaluate(file, **asked), in_batches(file, **asked)
    assert not keeps_rows(parts.counted)
    assert parts.rows == pytest.approx(whole.rows)
    for name, one in whole.figures.items():
        found = parts[name]
        ranked = "auc" in name or ("average_precision" in name and "ranking" not in name)
        in_bins = kind != "grades" and (ranked or name == "lorenz_gini")
        near = 1e-4 if in_bins else 1e-3 if name == "crps_skill" else 1e-12
        assert found.value == pytest.approx(one.value, rel=near, abs=1e-12, nan_ok=True), name
        assert found.baseline == pytest.approx(one.baseline, rel=1e-3, nan_ok=True) or not one.defined, name
        widths = [None if side.low is None else side.high - side.low for side in (found, one)]
        apart = 0.05 if in_bins else 0.1
        assert widths[0] == (None if widths[1] is None else pytest.approx(widths[1], rel=apart, abs=1e-12)), name


@pytest.mark.parametrize("more", [{}, {"weight": "weight"}])
def test_the_quantiles_of_rounded_truths_are_those_of_all_rows(more, files, in_batches):
    asked = {**ASKED["quantiles"], "truth": "rate", **more, "by": "by"}
    whole, parts = stakes.evaluate(files / "rows.parquet", **asked), in_batches(files / "rows.parquet", **asked)
    assert not keeps_rows(parts.counted)
    for one, found in [(whole, parts), *((whole.segments[name], parts.segments[name]) for name in "xz")]:
        assert found["crps_skill"].value == pytest.approx(one["crps_skill"].value, rel=1e-12)
        assert found["crps"].baseline == pytest.approx(one["crps"].baseline, rel=1e-12)


def test_the_quantiles_of_truths_far_from_zero_are_those_of_all_rows(files, in_batches, tmp_path):
    moved = [pl.col("y", "q0.1", "q0.5", "q0.9") + 1.7e9]  # seconds since 1970
    pl.read_parquet(files / "rows.parquet").with_columns(moved).write_parquet(tmp_path / "rows.parquet")
    asked = {**ASKED["quantiles"], "by": "by"}
    whole, parts = (tell(tmp_path / "rows.parquet", **asked) for tell in (stakes.evaluate, in_batches))
    for one, found in [(whole, parts), *((whole.segments[name], parts.segments[name]) for name in "xz")]:
        assert found["crps_skill"].value == pytest.approx(one["crps_skill"].value, rel=1e-4)


def test_rows_without_one_of_several_outputs_are_left_out_of_all(files, in_batches, tmp_path):
    table = pl.read_parquet(files / "rows.parquet").with_columns(pl.when(pl.col("rate") > 1.6).then("years"))
    table.write_parquet(tmp_path / "rows.parquet")
    asked = {**ASKED["outputs"], "missing": "drop", "where": "by = 'x'"}
    whole, parts = (tell(tmp_path / "rows.parquet", **asked) for tell in (stakes.evaluate, in_batches))
    assert not keeps_rows(parts.counted)
    assert (parts.rows, parts.counted.dropped) == (whole.rows, whole.counted.dropped)
    assert parts.counted.dropped > 0
    assert parts["uniform_r2"].value == pytest.approx(whole["uniform_r2"].value)


@pytest.mark.parametrize("kind", ["scores of labels", "quantiles"])
def test_segments_of_batches(kind, files, in_batches):
    whole, parts = (tell(files / "rows.parquet", **ASKED[kind], by="by") for tell in (stakes.evaluate, in_batches))
    for name in ("x", "z"):
        for one in whole.segments[name].figures.values():
            assert parts.segments[name][one.name].value == pytest.approx(one.value, rel=1e-4), one.name
    figure = whole._usual_figure
    assert parts.by_segment(figure).segments[0].name == whole.by_segment(figure).segments[0].name


@pytest.mark.parametrize("always", [0, 1])
def test_a_segment_in_which_a_label_is_never_or_always_there(always, files, in_batches, tmp_path):
    lonely = pl.when(pl.col("by") == "x").then(pl.lit(always)).otherwise("ta").alias("ta")
    pl.read_parquet(files / "rows.parquet").with_columns(lonely).write_parquet(tmp_path / "rows.parquet")
    asked = {**ASKED["scores of labels"], "by": "by", "cluster": "cluster"}
    whole, parts = (tell(tmp_path / "rows.parquet", **asked) for tell in (stakes.evaluate, in_batches))
    for name in ("micro_auc", "macro_auc"):
        one, found = whole.segments["x"][name], parts.segments["x"][name]
        assert found.value == pytest.approx(one.value, rel=1e-4, nan_ok=True)
        if one.defined:
            assert found.high - found.low == pytest.approx(one.high - one.low, rel=0.05)


def test_one_label_of_batches(files, in_batches):
    asked = ASKED["scores of labels"]
    for more, near in (({}, 1e-9), ({"weight": "weight"}, 2e-3), ({"cluster": "cluster"}, 1e-9)):
        whole, parts = (tell(files / "rows.parquet", **asked, **more) for tell in (stakes.evaluate, in_batches))
        assert parts["f1", "b"].low == pytest.approx(whole["f1", "b"].low, rel=near)
        assert parts.forgotten == whole.forgotten
        assert parts.taken_for == whole.taken_for
        if "weight" not in more:
            assert parts["auc", "b"].value == pytest.approx(whole["auc", "b"].value)
            assert parts["auc", "b"].low == pytest.approx(whole["auc", "b"].low, rel=1e-3)
        if not more:
            costs = stakes.Costs(miss=5, false_alarm=1)
            chosen, known = (one.decide(costs)["b"].threshold for one in (parts, whole))
            assert chosen == pytest.approx(known, abs=0.01)


def test_rankings_of_too_many_groups_are_not_kept_and_say_so(files, in_batches, monkeypatch):
    monkeypatch.setattr(kind_stream, "_MOST_IN_PIECES", 1000)
    found = in_batches(files / "rows.parquet", **ASKED["scores of labels"], cluster="cluster")
    assert found["macro_auc"].defined
    assert found["macro_auc"].no_interval == "the rows were not kept, only sums of them"
    assert found["f1", "b"].low is not None


def test_sums_of_batches_are_shared_with_their_intervals(files, in_batches, tmp_path):
    for kind in ("tags", "quantiles"):
        parts = in_batches(files / "rows.parquet", **ASKED[kind], weight="weight")
        parts.counted.save(tmp_path / "kind.tally")
        shared = stakes.evaluate(tmp_path / "kind.tally")
        figure = parts._usual_figure
        assert shared[figure].value == parts[figure].value
        assert shared[figure].low == pytest.approx(parts[figure].low, rel=0.01)


def test_what_only_all_rows_tell_is_the_same_in_batches(in_batches, tmp_path):
    scores = np.linspace(0, 1, 600)
    scores[599] = 1.5  # no probability, so nothing is decided by any batch
    rows = {"t": np.arange(600) % 2, "u": np.arange(600) % 3 == 0, "s": scores, "v": scores}
    pl.DataFrame(rows).write_parquet(tmp_path / "rows.parquet")
    asked = {"truth": {"a": "t", "b": "u"}, "score": {"a": "s", "b": "v"}}
    assert not in_batches(tmp_path / "rows.parquet", **asked)["hamming_loss"].defined
    numbers = {"t": np.r_[np.arange(500) % 2, 7], "u": np.arange(501) % 2, "p": np.arange(501) % 2}  # numbers after all
    pl.DataFrame(numbers).write_parquet(tmp_path / "numbers.parquet")
    asked = {"truth": {"a": "t", "b": "u"}, "prediction": {"a": "p", "b": "p"}}
    assert in_batches(tmp_path / "numbers.parquet", **asked).task == "outputs"


def test_a_bad_row_of_a_batch_is_named_with_its_place(in_batches, tmp_path):
    said = {"y": [1.0] * 500, "low": [0.0] * 500, "high": [2.0] * 400 + [-1.0] + [2.0] * 99}
    pl.DataFrame(said).write_csv(tmp_path / "rows.csv")
    with pytest.raises(InputError, match=r"low lies above high in 1 row \(0 and -1; the first is .*line 402"):
        in_batches(tmp_path / "rows.csv", truth="y", low="low", high="high", level=0.9)


@pytest.mark.filterwarnings("ignore:there are only 2 clusters")
def test_a_series_goes_on_from_batch_to_batch(in_batches, tmp_path):
    """Numbers, days and words for times; a time that goes back is named with its line, in whatever batch it lies."""
    rows, truth = 900, np.cumsum(np.random.default_rng(4).normal(size=900))
    days = np.datetime64("2026-01-01") + np.arange(rows) // 2
    table = {"y": truth, "p": truth + 0.3, "s": np.arange(rows) % 2, "n": np.arange(rows) / 2, "day": days}
    frame = pl.DataFrame({**table, "word": days.astype(str)})
    frame.write_parquet(tmp_path / "rows.parquet")
    asked = {"truth": "y", "prediction": "p", "series": "s"}
    for order in ("n", "day", "word"):
        parts = in_batches(tmp_path / "rows.parquet", **asked, order=order)
        assert not keeps_rows(parts.counted)
        assert parts["mase"].value == pytest.approx(898 * 0.3 / np.abs(truth[2:] - truth[:-2]).sum(), rel=1e-12)
    frame[[*range(800), 3, *range(800, 900)]].write_csv(tmp_path / "rows.csv")
    with pytest.raises(InputError, match=r"the times of series '1' go back \(the first is .*line 802\); sort the rows"):
        in_batches(tmp_path / "rows.csv", **asked, order="word")
    alone = {"truth": "y", "prediction": "p", "where": "s = 1"}  # errors in time are told from the rows
    assert keeps_rows(in_batches(tmp_path / "rows.parquet", **alone, order="n").counted)
    assert keeps_rows(in_batches(tmp_path / "rows.parquet", **alone, order="n", series="s").counted)


ENGINES = {
    "polars": lambda file: pl.scan_parquet(file),
    "duckdb": lambda file: importlib.import_module("duckdb").sql(f"select * from '{file}'"),
    "dask": lambda file: dask_frame(pl.read_parquet(file)),
    "ibis": lambda file: importlib.import_module("ibis").memtable(pl.read_parquet(file).to_arrow()),
}
IN_BATCHES = ["tags", "scores of labels", "quantiles", "an ensemble", "outputs", "counts", "an exposure", "forecasts"]


def comes_in_batches(table, file, kind, in_batches, monkeypatch):
    """What is told of a table is that of the rows, none of which are brought here all at once."""
    whole = stakes.evaluate(file, **ASKED[kind], where="by = 'x'")
    with monkeypatch.context() as patched:
        patched.setattr(QuerySource, "rows", None)
        patched.setattr(on_disk, "_NUMBERS", 600)
        parts = in_batches(table, **ASKED[kind], where="by = 'x'")
    assert not keeps_rows(parts.counted)
    figure = whole._usual_figure
    assert parts[figure].value == pytest.approx(whole[figure].value)
    assert parts[figure].high - parts[figure].low == pytest.approx(whole[figure].high - whole[figure].low, rel=0.15)


@pytest.mark.each_choice
@pytest.mark.parametrize("kind", IN_BATCHES)
@pytest.mark.parametrize("engine", ENGINES)
def test_tables_of_engines_come_here_in_batches(engine, kind, files, in_batches, monkeypatch):
    comes_in_batches(ENGINES[engine](files / "rows.parquet"), files / "rows.parquet", kind, in_batches, monkeypatch)


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:PySpark does not")
@pytest.mark.parametrize("kind", ["tags", "outputs", "an exposure"])
def test_rows_of_spark_come_here_in_batches(kind, spark, files, in_batches, monkeypatch):
    table = spark.createDataFrame(pl.read_parquet(files / "rows.parquet").to_pandas()).repartition(3)
    comes_in_batches(table, files / "rows.parquet", kind, in_batches, monkeypatch)


def test_few_rows_of_a_lazy_table_are_kept_and_a_wrong_one_has_no_number(files, in_batches):
    table = pl.scan_parquet(files / "rows.parquet")
    assert keeps_rows(stakes.evaluate(table, **ASKED["tags"]).counted)
    wrong = table.with_columns(pl.col("n") - 3)
    with pytest.raises(
        InputError, match=r"holds counts, and in .* below 0 \(-2; in an engine whose rows have no numbers"
    ):
        in_batches(wrong, **ASKED["counts"])
    with pytest.raises(InputError, match="prediction: there is no column 'nope'"):
        in_batches(table, truth="n", prediction="nope", task="counts")
    with pytest.raises(InputError, match="model 'nope': prediction: there is no column 'nope'"):
        in_batches(table, verb=stakes.compare, truth="n", predictions=["rate", "nope"], task="counts")


COMPARED = {
    "labels": (
        {"truth": {n: f"t{n}" for n in "abc"}, "scores": {m: {n: f"{m}{n}" for n in "abc"} for m in "so"}},
        ["hamming_loss", "macro_f1", "weighted_auc", "micro_average_precision"],
    ),
    "tags": ({"truth": "tags", "predictions": ["said", "other"], "label_separator": ";"}, ["samples_f1"]),
    "quantiles": (
        {"truth": "y", "predictions": {m: {level: f"{m}{level}" for level in (0.1, 0.5, 0.9)} for m in "qo"}},
        ["crps", "winkler_score"],
    ),
    "outputs": (
        {
            "truth": {"a": "y", "b": "rate"},
            "predictions": {"one": {"a": "q0.5", "b": "years"}, "two": {"a": "o0.5", "b": "years"}},
        },
        ["uniform_mean_absolute_error"],
    ),
    "counts": (
        {"truth": "n", "predictions": ["rate", "years"], "task": "counts"},
        ["poisson_deviance", "lorenz_gini", "mean_absolute_error"],
    ),
    "forecasts": (
        {"truth": "y", "predictions": ["q0.5", "o0.5"], "order": "day", "series": "ward"},
        ["mase", "mean_absolute_error"],
    ),
    "an exposure": (
        {"truth": "n", "predictions": ["rate", "years"], "exposure": "time"},
        ["d2_poisson", "lorenz_gini", "mean_absolute_error"],
    ),
}


@pytest.fixture(scope="module")
def two_models(tmp_path_factory):
    """The same rows with what another model says, which resembles the first."""
    noise = np.random.default_rng(7)
    table = {
        **TABLE,
        **{f"o{name}": np.clip(TABLE[f"s{name}"] + 0.2 * noise.normal(size=N), 0, 1) for name in "abc"},
        "time": 0.5 + noise.random(N),
        "other": [said if noise.random() < 0.7 else "a" for said in TABLE["said"]],
        **{f"o{level}": TABLE[f"q{level}"] + 0.3 * (i + 1) for i, level in enumerate((0.1, 0.5, 0.9))},
    }
    file = tmp_path_factory.mktemp("models") / "rows.parquet"
    pl.DataFrame(table).write_parquet(file)
    return file


@pytest.mark.each_choice
@pytest.mark.parametrize("more", ["alone", "weighted", "clustered", "by"])
@pytest.mark.parametrize("kind", COMPARED)
def test_models_are_compared_in_batches(kind, more, two_models, in_batches):
    asked, figures = COMPARED[kind]
    asked = {**asked, **(MORE | {"by": {"by": "by"}})[more], "metric": figures}
    whole = stakes.compare(two_models, **asked)
    parts = in_batches(two_models, verb=stakes.compare, **asked)
    sides = [(whole, parts), *((whole.segments[name], parts.segments[name]) for name in whole.segments)]
    for one, other in sides:
        for known, found in zip(one.pairs, other.pairs, strict=True):
            assert (found.first, found.second, found.metric) == (known.first, known.second, known.metric)
            assert found.difference == pytest.approx(known.difference, rel=1e-4, abs=5e-5)  # scores lie in bins
            assert found.high - found.low == pytest.approx(known.high - known.low, rel=0.15)
            clustered = more == "clustered" or kind == "forecasts"  # a series is a cluster
            assert "groups of rows" in found.method or clustered or "error" in found.metric
    assert not any(keeps_rows(model.evaluation.counted) for model in parts.contestants)


@pytest.mark.parametrize("kind", ["an interval", "counts"])
def test_clusters_without_rows_in_a_segment_do_not_widen_its_intervals(files, in_batches, tmp_path, kind):
    table = pl.read_parquet(files / "rows.parquet").with_columns(few=pl.col("cluster") < 12)
    table.write_parquet(tmp_path / "few.parquet")
    asked = {**ASKED[kind], "cluster": "cluster", "by": "few"}
    whole, parts = stakes.evaluate(table, **asked), in_batches(tmp_path / "few.parquet", **asked)
    for name, known in whole.segments.items():
        for figure in ("coverage_of_intervals", "winkler_score") if kind == "an interval" else ("poisson_deviance",):
            one, other = known[figure], parts.segments[name][figure]
            assert (other.low, other.high) == pytest.approx((one.low, one.high), rel=1e-9), (name, figure)


GAPS = {"sa": (3, 11), "ob": (7, 11), "q0.5": (5,), "o0.5": (20,), "years": (8,), "rate": (9,), "weight": (30,)}


@pytest.mark.each_choice
@pytest.mark.parametrize("kind", COMPARED)
@pytest.mark.parametrize("place", ["memory", "batches", "lazy"])
def test_models_are_compared_on_the_rows_that_none_of_them_lacks(kind, place, two_models, in_batches, tmp_path):
    table = pl.read_parquet(two_models)
    gaps = [
        pl.when(pl.int_range(pl.len()).is_in(rows)).then(None).otherwise(pl.col(n)).alias(n) for n, rows in GAPS.items()
    ]
    table = table.with_columns(gaps)
    asked, (figure, *_) = COMPARED[kind]
    asked = {**asked, "metric": figure, "weight": "weight"}
    named = {name for name in GAPS if f"'{name}'" in str(asked)}
    complete = table.drop_nulls(sorted(named))
    known = stakes.compare(complete, **asked)
    if place == "memory":
        found = stakes.compare(table, **asked, missing="drop")
    elif place == "lazy":
        found = in_batches(table.lazy(), verb=stakes.compare, **asked, missing="drop")
    else:
        table.write_parquet(tmp_path / "gaps.parquet")
        found = in_batches(tmp_path / "gaps.parquet", verb=stakes.compare, **asked, missing="drop")
    (pair,), (expected,) = found.pairs, known.pairs
    assert pair.difference == pytest.approx(expected.difference, rel=1e-9)
    assert pair.high - pair.low == pytest.approx(expected.high - expected.low, rel=0.15)
    for model, whole in zip(found.contestants, known.contestants, strict=True):
        assert model.evaluation.rows == pytest.approx(whole.evaluation.rows)
        assert model.evaluation.counted.dropped == N - len(complete) > 0


@pytest.mark.deep
def test_intervals_of_rankings_in_batches_hold_what_is_true(in_batches):
    """Of 200 files each: the mean auc of two labels (normal scores, one and two apart), and the Gini of counts."""
    noise, n = np.random.default_rng(3), 2500
    apart = np.array([1.0, 2.0])
    is_true = {"macro_auc": float(ndtr(apart / np.sqrt(2)).mean()), "lorenz_gini": 1 - 2 * float(ndtr(-0.5 / 2**0.5))}
    held = dict.fromkeys(is_true, 0)
    for _ in range(200):
        truth = noise.random((n, 2)) < (0.3, 0.02)
        scores, size = noise.normal(size=(n, 2)) + apart * truth, noise.normal(size=n)
        table = {"t": truth[:, 0], "u": truth[:, 1], "s": scores[:, 0], "v": scores[:, 1]}
        table |= {"n": noise.poisson(np.exp(size / 2)), "p": np.exp(size / 2)}
        rows = pl.DataFrame(table).lazy()
        found = in_batches(rows, truth={"a": "t", "b": "u"}, score={"a": "s", "b": "v"})["macro_auc"]
        held["macro_auc"] += found.low <= is_true["macro_auc"] <= found.high
        levels = Levels.of(table["n"], table["p"], np.ones(n))
        groups = np.bincount(deal_out(np.arange(n)), levels.changes(table["n"], table["p"], np.ones(n)), 2000)
        reach = 1.96 * float((groups**2).sum()) ** 0.5
        held["lorenz_gini"] += abs(levels.area - is_true["lorenz_gini"]) <= reach
    assert all(180 <= times <= 198 for times in held.values()), held
