"""Models on the same rows, wherever these lie: the differences of rows in memory, though no row is brought here."""

import functools
import importlib
import math
from unittest import mock

import narwhals as nw
import numpy as np
import polars as pl
import pytest

import stakes
from stakes.engines import shared_rows, streaming
from stakes.engines.classes import queries as class_queries
from stakes.engines.lazy import counting as lazy
from stakes.engines.lazy.queries import QuerySource
from stakes.engines.numbers import medians
from stakes.errors import InputError
from stakes.evaluation import shared_models
from stakes.uncertainty import one_more_row
from tests.engines.test_lazy import ELSEWHERE, engines_with, maker

ROWS = 3000
NOISE = {"a": 0.3, "b": 0.4, "c": 2.0}
RANKS = ("macro_auc", "weighted_auc", "hand_till_auc", "auc", "average_precision", "partial_auc")
MEDIAN = "median_absolute_error"
COSTS = stakes.Costs(miss=5, false_alarm=1)
SCORES = {"truth": "y", "scores": ["a", "b"]}
NUMBERS = {"truth": "t", "predictions": ["p", "q"]}
QUESTIONS = {
    "scores": {**SCORES, "metric": ["auc", "average_precision", "brier", "log_loss", "partial_auc", "mcc"]},
    "weights and segments": {**SCORES, "metric": ["auc", "brier", "f1"], "weight": "w", "by": "site"},
    "costs, some rows": {**SCORES, "costs": COSTS, "where": "w > 1", "missing": "drop"},
    "class counts fixed": {**SCORES, "metric": ["auc", "accuracy"], "design": "classes fixed"},
    "three models": {"truth": "y", "scores": ["a", "b", "c"], "simultaneous": True},
    "decisions": {"truth": "kind", "predictions": ["j", "k"], "metric": ["accuracy", "mcc"], "by": ["site", "ward"]},
    "clusters": {**SCORES, "metric": ["auc", "brier", "f1"], "cluster": "patient", "by": "site"},
    "clusters and costs": {**SCORES, "costs": COSTS, "cluster": "patient"},
    "clusters of numbers": {**NUMBERS, "metric": ["mae", "r2", "medae"], "cluster": "patient"},
    "numbers": {**NUMBERS, "metric": ["mae", "rmse", "r2", "rae", "medae"]},
    "weighted numbers": {**NUMBERS, "metric": ["mae", "medae"], "weight": "w", "by": "site"},
    "medians of segments": {**NUMBERS, "metric": "medae", "by": ["site", "ward"]},
}  # fmt: skip
CLASSES = {"truth": "kind", "scores": {model: {name: f"{model}_{name}" for name in "xyz"} for model in "fg"}}
LOSSES = ["multiclass_log_loss", "multiclass_brier_score", "top_k_accuracy"]
QUESTIONS |= {
    "classes": {**CLASSES, "metric": ["macro_auc", "hand_till_auc", *LOSSES, "accuracy", "macro_f1"]},
    "classes, weights and segments": {**CLASSES, "metric": ["weighted_auc", LOSSES[0]], "weight": "w", "by": "site"},
    "classes, clusters and costs": {
        **CLASSES, "metric": ["expected_cost", "macro_auc", LOSSES[1]], "cluster": "patient",
        "costs": stakes.Costs([[0, 1, 5], [3, 0, 1], [2, 2, 0]], classes=list("xyz")),
    },
}  # fmt: skip
MISS = stakes.Costs(miss="worth", false_alarm=3)
BY_ROW = stakes.Costs({t: {d: 0 if d == t else "worth" if d == "x" else 3 for d in "xyz"} for t in "xyz"})
PAID = ["expected_cost", "normalised_cost"]
QUESTIONS |= {
    "costs by row": {**SCORES, "costs": MISS, "metric": [*PAID, "accuracy", "auc"], "missing": "drop"},
    "costs by row, weights and segments": {**SCORES, "costs": MISS, "metric": PAID, "weight": "w", "by": "site"},
    "costs by row, clusters": {
        **SCORES, "costs": MISS, "metric": [*PAID, "auc"], "cluster": "patient", "where": "w > 1",
    },
    "costs by row, a threshold": {**SCORES, "costs": MISS, "metric": PAID, "threshold": 0.3, "positive": 1},
    "costs by row, decisions": {
        "truth": "kind", "predictions": ["j", "k"], "metric": PAID, "costs": BY_ROW, "cluster": "patient",
        "weight": "w",
    },
    "costs by row, classes": {**CLASSES, "metric": [*PAID, LOSSES[0]], "costs": BY_ROW},
}  # fmt: skip


@functools.cache
def rows() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    y = rng.random(ROWS) < 0.3
    sure = rng.normal(size=ROWS) + 1.2 * y
    said = {name: 1 / (1 + np.exp(1 - sure - rng.normal(size=ROWS) * noise)) for name, noise in NOISE.items()}
    kind, other = rng.choice(["x", "y", "z"], (2, ROWS))
    guess = {name: np.where(rng.random(ROWS) < right, kind, other) for name, right in {"j": 0.6, "k": 0.55}.items()}
    truth, own = rng.gamma(3, 10, ROWS), np.random.default_rng(1)
    near = own.normal(size=(3, ROWS)) + (np.array([["x"], ["y"], ["z"]]) == kind)
    odds = {model: np.exp(near + noise * own.normal(size=(3, ROWS))) for model, noise in {"f": 0.5, "g": 0.7}.items()}
    chances = {f"{m}_{n}": one for m, some in odds.items() for n, one in zip("xyz", some / some.sum(0), strict=True)}
    frame = pl.DataFrame(
        {
            "y": y.astype(int), **said, "kind": kind, **guess, "t": truth, "w": rng.integers(1, 24, ROWS) / 8,
            "p": truth * rng.lognormal(0, 0.3, ROWS), "q": truth * rng.lognormal(0.01, 0.32, ROWS),
            "site": rng.choice(["north", "far, away"], ROWS), "ward": rng.integers(0, 2, ROWS),
            "patient": rng.integers(0, 150, ROWS), **chances, "worth": np.random.default_rng(2).gamma(2, 3, ROWS),
        }
    )  # fmt: skip
    return frame.with_columns(b=pl.when(pl.int_range(ROWS) == 7).then(None).otherwise("b"))


def full(name: str) -> pl.DataFrame:
    """The rows, without a gap unless the question drops it."""
    return rows() if "missing" in QUESTIONS[name] else rows().with_columns(pl.col("b").fill_null(0.5))


@functools.cache
def expected(name: str, times: int = 1) -> stakes.Comparison:
    with mock.patch.object(one_more_row, "_MOST_VALUES", 10**9):  # every row has its own cost
        return stakes.compare(pl.concat([full(name)] * times), **QUESTIONS[name])


def agree(found: stakes.Comparison, known: stakes.Comparison) -> None:
    """Figures to the twelfth digit, counts alike, intervals and p-values nearly."""
    assert all(model.elsewhere is not None for model in found.contestants)
    assert (found.rows, found.dropped) == (pytest.approx(known.rows), known.dropped)
    assert [place.model for place in found.table] == [place.model for place in known.table]
    for one, other in zip(known.pairs, found.pairs, strict=True):
        assert all(getattr(one, name) == getattr(other, name) for name in ("first", "second", "metric"))
        assert other.method.replace("groups of rows", "rows") == one.method
        binned = (
            1e-5 if one.metric in RANKS else 1e-3 if one.metric == MEDIAN else 1e-12
        )  # scores of which there are many lie in bins
        assert other.difference == pytest.approx(one.difference, abs=binned), one.metric
        assert other.flipped == one.flipped
        width = one.high - one.low
        near = 0.05 if found.models[one.first].task == "regression" else 0.01 if known.clusters else 0.003
        near = 0.05 if "groups of rows" in other.method else 0.02 if one.metric == "macro_auc" else near
        if one.metric in PAID and known.models[one.first].pricing.costs.columns:  # whose limits are drawn
            assert (other.high - other.low) / width == pytest.approx(1, abs=0.05)
            near = 0.04
        assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=near * width), one.metric
        likely = 0.002 if near == 0.003 else max(near, 0.02) if one.metric in PAID else 0.02
        assert other.p_value == pytest.approx(one.p_value, abs=likely)
    assert [*found.segments] == [*known.segments]


@pytest.fixture
def few_cells(monkeypatch):
    """As if there were many rows: fewer are asked about than there are."""
    monkeypatch.setattr(shared_models, "FEW_ROWS", 100)
    monkeypatch.setattr(shared_models, "MOST_CELLS", 8000)
    monkeypatch.setattr(lazy, "FEW_ROWS", 100)
    monkeypatch.setattr(lazy, "MOST_SCORES", 100)
    monkeypatch.setattr(lazy, "MOST_GROUPS", 200)
    monkeypatch.setattr(class_queries, "FEW_ROWS", 100)
    monkeypatch.setattr(class_queries, "MOST_SCORES", 100)
    monkeypatch.setattr(medians, "AT_A_TIME", 1)


FILES = [("csv", "clusters"), ("csv", "weighted numbers"), *(("parquet", name) for name in QUESTIONS)]
FILES += [("csv", name) for name in QUESTIONS if name.startswith("costs by row")]


@pytest.mark.parametrize(("kind", "name"), FILES)
@pytest.mark.spread(3)
def test_files_in_batches(tmp_path, monkeypatch, few_cells, kind, name):
    for module in (streaming, shared_models):
        monkeypatch.setattr(module, "MOST_EXACT", 100)
    for module in (streaming, shared_rows):
        monkeypatch.setattr(module, "BATCH", 1700)
    paths = [tmp_path / f"{i}.{kind}" for i in range(2)]
    for part, path in zip((full(name)[:1250], full(name)[1250:]), paths, strict=True):
        part.write_csv(path) if kind == "csv" else part.write_parquet(path)
    monkeypatch.setattr(streaming.Files, "whole", None)  # which would read all rows at once
    found = stakes.compare(str(tmp_path / f"*.{kind}"), **QUESTIONS[name])
    agree(found, expected(name))
    for segment, part in expected(name).segments.items():
        agree(found.segments[segment], part)


SOONER = {"lazy polars": [*QUESTIONS], "ibis": ["weights and segments"]}
SOONER["duckdb"] = ["three models", "classes", "costs by row"]
ENGINES = list(engines_with(QUESTIONS, ELSEWHERE, lambda engine, name: name not in SOONER.get(engine, ["decisions"])))


@pytest.fixture
def elsewhere(request):
    return maker(request)


@pytest.mark.slow
@pytest.mark.parametrize(("elsewhere", "name"), ENGINES, indirect=["elsewhere"])
@pytest.mark.spread(8)
def test_every_engine_groups_where_the_rows_lie(elsewhere, name, few_cells, pulled, monkeypatch):
    grouped, group = [], shared_models.group_shared

    def counted(*arguments):
        groups = group(*arguments)
        grouped.append(len(groups.sizes))
        return groups

    monkeypatch.setattr(shared_models, "group_shared", counted)
    monkeypatch.setattr(QuerySource, "rows", None)  # which brings the rows here
    found = stakes.compare(elsewhere(pl.concat([full(name)] * 3)), **QUESTIONS[name])
    agree(found, expected(name, 3))
    for segment, part in expected(name, 3).segments.items():
        agree(found.segments[segment], part)
    if not any("groups of rows" in pair.method for pair in found.pairs):  # of which there are 2,000, however many rows
        assert max(pulled)[0] <= ROWS  # three times the rows bring no more of them here
    assert max(grouped, default=0) < 2 * ROWS / 3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["weights and segments", "clusters", "weighted numbers"])
@pytest.mark.spread(1)
def test_a_table_of_a_duckdb_file_is_grouped_there(tmp_path, few_cells, monkeypatch, name):
    for module in (streaming, shared_models):
        monkeypatch.setattr(module, "MOST_EXACT", 100)
    duckdb = importlib.import_module("duckdb")
    full(name).write_csv(tmp_path / "a.csv")
    with duckdb.connect(str(tmp_path / "a.duckdb")) as base:
        base.execute(f"CREATE TABLE t AS SELECT * FROM read_csv('{tmp_path / 'a.csv'}')")
    agree(stakes.compare(f"{tmp_path / 'a.duckdb'}::t", **QUESTIONS[name]), expected(name))


def test_few_rows_are_read(monkeypatch):
    """The rows of a small table are read, and of any table with exact=True."""
    assert stakes.compare(full("scores").lazy(), **SCORES).contestants[0].elsewhere is None
    monkeypatch.setattr(shared_models, "FEW_ROWS", 100)
    assert stakes.compare(full("scores").lazy(), **SCORES, exact=True).contestants[0].elsewhere is None
    apart = stakes.compare(full("scores").lazy(), **SCORES)
    with pytest.raises(InputError, match=r"the rows were not brought here; pass exact=True"):
        apart.curve("decision")


def test_models_that_say_the_same_are_told_as_such(few_cells):
    frame = full("scores").with_columns(b="a", q="p", g_x="f_x", g_y="f_y", g_z="f_z").lazy()
    for question in (SCORES, {"truth": "t", "predictions": ["p", "q"]}, {**CLASSES, "metric": LOSSES[0]}):
        (pair,) = stakes.compare(frame, **question).pairs
        assert (pair.low, pair.high, pair.p_value) == (0, 0, 1)
        assert pair.note == "both models say the same on every row"


def test_ties_and_lumps_of_scores(few_cells):
    """Scores of few values, and a model most of whose scores lie at two points."""
    rng = np.random.default_rng(1)
    y = rng.random(20_000) < 0.4
    a = np.round(np.clip(rng.normal(0.4 + 0.2 * y, 0.2), 0, 1), 2)
    b = np.where(rng.random(20_000) < 0.7, np.where(a > 0.5, 0.61, 0.29), np.clip(a + rng.normal(0, 0.1, 20_000), 0, 1))
    frame = pl.DataFrame({"y": y, "a": a, "b": b})
    known, found = (stakes.compare(one, **SCORES).pairs[0] for one in (frame, frame.lazy()))
    assert found.difference == pytest.approx(known.difference, abs=1e-5)
    assert 0.99 < (found.high - found.low) / (known.high - known.low) < 1.02


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
@pytest.mark.parametrize(("column", "question"), [("b", SCORES), ("worth", {**SCORES, "costs": MISS})])
def test_wrong_scores_and_costs_are_counted(value, column, question, few_cells):
    known = full("scores")
    frame = known.with_columns(pl.Series(column, [*known[column][:-3].to_list(), *[value] * 3]))
    with pytest.raises(InputError) as here:
        stakes.compare(frame, **question)
    with pytest.raises(InputError) as elsewhere:
        stakes.compare(frame.lazy(), **question)
    assert elsewhere.value.code == here.value.code
    assert f"model {'b' if column == 'b' else 'a'!r}" in str(elsewhere.value)
    assert " 3 " in str(elsewhere.value)


def test_a_gate_against_a_model_on_the_same_rows(few_cells):
    frame = full("scores")
    gates = []
    for data in (frame, frame.lazy()):
        compared = stakes.compare(data, **SCORES)
        gates.append(stakes.gate(compared.models["a"], baseline=compared, no_worse={"auc": 0.02, "recall": 0.02}))
    for one, other in zip(*(gate.checks for gate in gates), strict=True):
        assert (one.passed, one.seen) == (other.passed, pytest.approx(other.seen, abs=1e-4))


def test_decisions_of_all_models_are_asked_for_once(monkeypatch):
    monkeypatch.setattr(shared_models, "FEW_ROWS", 100)
    asked, collect = [], nw.LazyFrame.collect
    watched = lambda frame, *given, **more: asked.append(frame.implementation) or collect(frame, *given, **more)  # noqa: E731
    monkeypatch.setattr(nw.LazyFrame, "collect", watched)
    question = {"truth": "kind", "predictions": ["j", "k"], "by": "site", "where": "ward = 1"}
    found = stakes.compare(ELSEWHERE["duckdb"](rows()), **question)
    assert sum(one.is_duckdb() for one in asked) == 1  # their groups, which tell how many rows there are
    known = stakes.compare(rows(), **question)
    assert [row["difference"] for row in found.to_rows()] == [row["difference"] for row in known.to_rows()]


def test_a_difference_of_medians_does_not_hang_on_the_unit_of_weights():
    rng = np.random.default_rng(3)
    truth = rng.normal(size=900)
    frame = pl.DataFrame({"t": truth, "a": truth + rng.normal(size=900), "b": truth + 1.1 * rng.normal(size=900),
                          "w": rng.integers(1, 9, 900) / 4})  # fmt: skip
    low, *others = (
        stakes.compare(frame.with_columns(pl.col("w") * unit).lazy(), truth="t", predictions=["a", "b"], weight="w",
                       metric=MEDIAN).pairs[0].low
        for unit in (1, 2.0**-20, 2.0**20)
    )  # fmt: skip
    assert others == pytest.approx([low] * 2, rel=1e-12)


@pytest.mark.parametrize("missing", ["error", "drop"])
def test_rows_that_come_in_another_order_each_time_stay_paired(missing):
    """As those of a Spark table do: all columns of all models come in one answer."""
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 2, 300)
    frame = pl.DataFrame({"y": truth, "p": truth + rng.normal(size=300), "q": truth + rng.normal(size=300),
                          "w": rng.integers(1, 4, 300)})  # fmt: skip
    shuffled = frame.lazy().map_batches(lambda one: one.sample(fraction=1.0, shuffle=True))
    asked = {"truth": "y", "scores": ["p", "q"], "positive": 1, "weight": "w", "where": "w > 1", "missing": missing}
    here, there = (stakes.compare(one, **asked, metric="auc").pairs[0] for one in (frame, shuffled))
    assert (there.difference, there.low, there.high) == pytest.approx((here.difference, here.low, here.high), rel=1e-9)


@pytest.mark.parametrize("question", [{"scores": ["p", "q"], "truth": "y"}, {"predictions": ["p", "q"], "truth": "t"}])
def test_segments_of_weights_that_add_up_to_one_are_not_too_small(question, monkeypatch):
    """How many rows a segment has does not depend on the unit of its weights."""
    monkeypatch.setattr(shared_models, "FEW_ROWS", 100)
    random = np.random.default_rng(3)
    weight = random.random(200) + 0.1
    frame = pl.DataFrame({"y": np.arange(200) % 2, "t": random.normal(size=200), "by": np.repeat(["m", "n"], 100)})
    frame = frame.with_columns(p=random.random(200), q=random.random(200), w=weight / weight.sum())
    for data in (frame, frame.lazy()):
        found = stakes.compare(data, **question, weight="w", by="by")
        for part in found.segments.values():
            assert part.pairs[0].low < part.pairs[0].difference < part.pairs[0].high


@pytest.mark.parametrize("weight", [None, "w"])
def test_a_model_that_is_never_wrong_leaves_the_other_as_sure_as_it_is(weight, few_cells):
    """Its changes are those of rounding, which tell of no heavy rows."""
    perfect = rows().select("t", "q", "w", p="t")
    asked = {"truth": "t", "predictions": ["p", "q"], "metric": ["mae", "rmse", "r2", "pearson"], "weight": weight}
    for one, other in zip(*(stakes.compare(d, **asked).pairs for d in (perfect, perfect.lazy())), strict=True):
        assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=0.06 * (one.high - one.low))
        assert max(one.p_value, other.p_value) < 1e-12


def test_heavy_rows_make_differences_of_decisions_less_sure_without_the_rows_too(few_cells):
    """A few heavy rows carry the difference: fourth powers of weights tell how few."""
    rng = np.random.default_rng(1)
    truth, weight = rng.integers(0, 2, 600), np.exp(2 * rng.normal(size=600))
    said = {name: np.where(rng.random(600) < right, truth, 1 - truth) for name, right in {"a": 0.75, "b": 0.6}.items()}
    frame = pl.DataFrame({"y": truth, **said, "w": weight})
    asked = {"truth": "y", "predictions": ["a", "b"], "positive": 1, "weight": "w", "metric": ["accuracy", "mcc", "f1"]}
    for one, other in zip(*(stakes.compare(d, **asked).pairs for d in (frame, frame.lazy())), strict=True):
        assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=0.01 * (one.high - one.low))
        assert other.p_value == pytest.approx(one.p_value, rel=0.05)
