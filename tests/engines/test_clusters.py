"""Clusters of classes wherever the rows lie: the intervals of rows in memory, though no row is kept."""

import functools

import narwhals as nw
import numpy as np
import polars as pl
import pytest

import stakes
from stakes.engines import binning, streaming
from stakes.engines.classes import queries as class_queries
from stakes.engines.clusters import batches as cluster_batches
from stakes.engines.clusters import numbering, queries
from stakes.engines.clusters import rows as cluster_rows
from stakes.engines.columns import Column
from stakes.engines.lazy import counting as lazy
from stakes.engines.lazy.queries import QuerySource
from stakes.errors import InputError, InputWarning
from stakes.tallies import bins
from stakes.tallies import clusters as tallied
from stakes.tallies.clusters import Clusters
from tests.engines.test_lazy import ELSEWHERE, engines_with, maker

ROWS = 2000
PATIENTS = 60
SCORES = {"truth": "y", "score": "p", "cluster": "patient"}
QUESTIONS = {
    "scores": SCORES,
    "weights and segments": {**SCORES, "weight": "w", "by": ["site", "ward"]},
    "costs, some rows": {**SCORES, "costs": stakes.Costs(miss=5, false_alarm=1), "where": "w > 1"},
    "a threshold": {**SCORES, "threshold": 0.3},
    "decisions": {"truth": "kind", "prediction": "said", "cluster": "patient", "by": "site"},
    "classes": {"truth": "kind", "score": {name: f"p_{name}" for name in "abc"}, "cluster": "patient"},
}
QUESTIONS["classes, weights and segments"] = {**QUESTIONS["classes"], "weight": "w", "by": "site"}
BY_ROW = stakes.Costs({t: {d: 0 if d == t else "worth" if d == "a" else 3 for d in "abc"} for t in "abc"})
MISS = stakes.Costs(miss="worth", false_alarm=3)
QUESTIONS |= {
    "costs by row": {**SCORES, "costs": MISS, "weight": "w", "by": "site"},
    "a threshold, costs by row": {**SCORES, "costs": MISS, "threshold": 0.3},
    "decisions, costs by row": {**QUESTIONS["decisions"], "costs": BY_ROW, "weight": "w"},
    "classes, costs by row": {**QUESTIONS["classes"], "costs": BY_ROW, "by": "site"},
}
IN_BINS = "the scores were counted in bins"
PLACES = ("gain", "lift", "partial_auc", "recall_at_specificity", "specificity_at_recall")


@functools.cache
def rows() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    patient = rng.integers(0, PATIENTS, ROWS)
    ill = rng.normal(size=PATIENTS)[patient]
    y = rng.random(ROWS) < 1 / (1 + np.exp(1 - ill))
    kind, other = rng.choice(["a", "b", "c"], (2, ROWS))
    odds = np.exp(
        np.random.default_rng(1).normal(size=(3, ROWS)) + (1 + ill) * (np.array([["a"], ["b"], ["c"]]) == kind)
    )
    return pl.DataFrame(
        {
            "y": y.astype(int),
            "p": 1 / (1 + np.exp(1 - rng.normal(size=ROWS) - y - ill / 2)),
            "w": rng.integers(1, 24, ROWS) / 8,
            "worth": np.random.default_rng(2).gamma(2, 3, ROWS) * np.exp(ill / 2),
            "kind": kind,
            "said": np.where(rng.random(ROWS) < 0.5 + 0.1 * ill, kind, other),
            **{f"p_{name}": own for name, own in zip("abc", odds / odds.sum(0), strict=True)},
            "site": rng.choice(["north", "far, away"], ROWS),
            "ward": rng.integers(0, 2, ROWS),
            "patient": [f"patient {number}" for number in patient],
        }
    )


@functools.cache
def expected(name: str, times: int = 1) -> stakes.Evaluation:
    return stakes.evaluate(pl.concat([rows()] * times), **QUESTIONS[name])


def agree(found: stakes.Evaluation, known: stakes.Evaluation) -> None:
    """Figures as without clusters; ends of intervals within four hundredths of their width.

    At a place of the ranking a row of the same bin may lie on the other side: one of some 800 rows of a class.
    """
    assert found.counted.clusters.count == known.counted.clusters.count
    for name, one in known.figures.items():
        other = found[name]
        why = other.reason + other.no_interval
        if any(words in why for words in (IN_BINS, "is undefined for a class", "the rows were not kept")):
            continue
        at_a_place = name.removeprefix("macro_").removeprefix("weighted_") in PLACES
        exact = {"rel": 1e-12} if name in ("expected_cost", "normalised_cost", "accuracy") else {"abs": 1e-4}
        exact = {"abs": 1e-3} if at_a_place else exact
        assert other.value == pytest.approx(one.value, **exact, nan_ok=True), name
        assert (other.low is None) == (one.low is None), name
        if one.low is not None:
            near = 0.04 if at_a_place or name.startswith(("macro_", "weighted_")) else 0.02  # what each row changes
            near = 1e-9 if name == "expected_cost" else near
            width = one.high - one.low
            assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=near * width), name


@pytest.fixture
def many_rows(monkeypatch):
    """As if there were many rows."""
    monkeypatch.setattr(streaming, "MOST_EXACT", 100)
    monkeypatch.setattr(streaming, "BATCH", 1700)
    monkeypatch.setattr(lazy, "FEW_ROWS", 100)
    monkeypatch.setattr(class_queries, "FEW_ROWS", 100)
    monkeypatch.setattr(class_queries, "MOST_SCORES", 100)
    monkeypatch.setattr(lazy, "MOST_SCORES", 100)
    monkeypatch.setattr(lazy, "MOST_GROUPS", 200)


FILES = [("csv", "weights and segments"), ("csv", "costs by row"), *(("parquet", name) for name in QUESTIONS)]


@pytest.mark.parametrize(("kind", "name"), FILES)
@pytest.mark.spread(6)
def test_files_in_batches(tmp_path, many_rows, kind, name, monkeypatch):
    paths = [str(tmp_path / f"{i}.{kind}") for i in range(2)]
    for part, path in zip((rows()[:1250], rows()[1250:]), paths, strict=True):
        part.write_csv(path) if kind == "csv" else part.write_parquet(path)
    monkeypatch.setattr(streaming.Files, "whole", None)  # which would read all rows at once
    found = stakes.evaluate(paths, **QUESTIONS[name])
    agree(found, expected(name))
    for segment, part in expected(name).segments.items():
        agree(found.segments[segment], part)


@pytest.mark.parametrize("where", ["file", "lazy"])
@pytest.mark.parametrize("name", ["scores", "weights and segments", "decisions", "classes, weights and segments"])
def test_segments_do_not_divide_the_clusters_of_all_rows(tmp_path, many_rows, where, name):
    """There would be as many entries as in all segments together, for the same answer."""
    rows().write_parquet(tmp_path / "rows.parquet")
    table = str(tmp_path / "rows.parquet") if where == "file" else rows().lazy()
    question = {key: value for key, value in QUESTIONS[name].items() if key != "by"}
    whole, divided = (stakes.evaluate(table, **question, **more) for more in ({}, {"by": ["site", "ward"]}))
    for one, other in zip(*map(every_entry, (whole, divided)), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12)
    named = {name: int(part.clusters.count) for name, part in divided.counted.segments.items()}
    assert sorted(named.values()) == sorted(
        len(part["patient"].unique()) for _, part in rows().group_by("site", "ward")
    )


def every_entry(evaluation: stakes.Evaluation) -> list[np.ndarray]:
    """The entries of clusters, and of those of each class's score, in order."""
    found = []
    for one in (evaluation.counted.clusters, *evaluation.counted.clusters.cells):
        keys = [one.groups, one.truth, one.decided, one.scores, one.ranks]
        order = np.lexsort([key for key in keys if key is not None])
        rows_alike = one.alike if one.weight is one.alike else None  # of weighted rows only about as many are known
        columns = (*keys, rows_alike, one.weight, one.squares, one.lost)
        found += [np.asarray(column, float)[order] for column in columns if column is not None]
    return found


SOONER = {"lazy polars": [*QUESTIONS], "duckdb": ["weights and segments", "decisions", "classes", "costs by row"]}
SOONER |= {"ibis": ["scores"], "dask": ["decisions, costs by row"], "spark": ["a threshold, costs by row"]}
ENGINES = list(engines_with(QUESTIONS, ELSEWHERE, lambda engine, name: name not in SOONER.get(engine, ["decisions"])))


@pytest.fixture
def elsewhere(request):
    return maker(request)


@pytest.mark.slow
@pytest.mark.parametrize(("elsewhere", "name"), ENGINES, indirect=["elsewhere"])
@pytest.mark.parametrize("most", [1000, 30])
@pytest.mark.spread(6)
def test_every_engine_groups_where_the_rows_lie(elsewhere, name, most, many_rows, pulled, monkeypatch):
    """Also where there are more clusters than are told apart, which are put together."""
    for room in (queries, cluster_rows):
        monkeypatch.setattr(room, "MOST_GROUPS", most)
    found = stakes.evaluate(elsewhere(pl.concat([rows()] * 3)), **QUESTIONS[name])
    assert max(pulled)[0] <= ROWS  # three times the rows bring no more of them here
    if most > PATIENTS:
        agree(found, expected(name, 3))
        for segment, part in expected(name, 3).segments.items():
            agree(found.segments[segment], part)
        return
    assert (found.counted.clusters.count, found.counted.clusters.size) == (PATIENTS, most)
    one, other = expected(name, 3)["accuracy"], found["accuracy"]
    assert (other.high - other.low) / (one.high - one.low) == pytest.approx(1, abs=0.35)


def test_few_rows_of_an_engine_are_as_in_memory():
    found = stakes.evaluate(rows().lazy(), **SCORES)
    known = expected("scores")
    for name in ("auc", "brier_score", "f1", "average_precision"):
        assert (found[name].low, found[name].high) == pytest.approx((known[name].low, known[name].high), rel=1e-9)


def test_rows_that_hold_the_same_are_dealt_out_at_random():
    """As many of a kind in each group as chance has it: neither together, nor evenly."""
    frame = nw.from_native(pl.DataFrame({"code": np.arange(60_000) % 4}).lazy())
    dealt = queries._add_group(queries._mix(frame, ["code"]), ["code"]).collect()
    for code in range(4):
        sizes = np.bincount(dealt.filter(nw.col("code") == code)["held"].to_numpy(), minlength=2000)
        assert sizes.mean() == 7.5
        assert 0.85 < sizes.var() / sizes.mean() < 1.15  # Poisson's is 1


@pytest.mark.parametrize("data", ["lazy", "file"])
def test_a_row_without_a_cluster_is_refused(data, many_rows, tmp_path):
    frame = rows().with_columns(patient=pl.when(pl.int_range(ROWS) < 3).then(None).otherwise("patient"))
    frame.write_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="cluster is missing in 3 rows"):
        stakes.evaluate(frame.lazy() if data == "lazy" else str(tmp_path / "a.parquet"), **SCORES)


def _counted_in_bins(batches, cells, by_cell):
    """What several batches of scores come to: a dictionary of cell, edge and group to rows."""
    counts = cluster_batches.GroupBins()
    for scores, cell, group in batches:
        parts = [(cell == one, np.int64(one)) for one in range(cells)] if by_cell else [(slice(None), cell)]
        for here, own in parts:
            counts.add(scores[here], own, group[here])
    found, groups = counts.result()
    keys = zip(found.cells.tolist(), found.edges.tolist(), groups.tolist(), strict=True)
    return found.grid, dict(zip(keys, found.weights.tolist(), strict=True))


@pytest.mark.parametrize("beyond", [None, 1.5], ids=["probabilities", "of which the last are none"])
@pytest.mark.parametrize("most", [1 << 31, 700], ids=["at once", "tables that are full"])
def test_groups_are_counted_in_tables_as_by_sorting(beyond, most, monkeypatch):
    rng, batches = np.random.default_rng(4), []
    for _ in range(3):
        scores = rng.random(400) ** 9
        scores[:9] = 0, 1, 0.5, 1 - 2**-53, 5e-324, np.nextafter(0.5, 0), 2**-30, 0.75, 1
        batches.append((scores, rng.integers(0, 2, 400), rng.integers(0, 2000, 400)))
    if beyond is not None:
        batches[-1][0][20] = beyond
    sorted_out = _counted_in_bins(batches, 2, by_cell=False)
    monkeypatch.setattr(binning, "_MOST_COUNTED", most)
    monkeypatch.setattr(binning, "_BLOCK", 64)
    assert _counted_in_bins(batches, 2, by_cell=True) == sorted_out
    monkeypatch.setattr(cluster_batches, "ROOM", np.inf)
    monkeypatch.setattr(cluster_batches, "LongTable", None)  # there is no memory for any
    assert _counted_in_bins(batches, 2, by_cell=True) == sorted_out


def test_clusters_are_numbered_as_they_come_up_however_far_apart_their_names_lie():
    numbers, known, rng = numbering.ClusterNumbers(), {}, np.random.default_rng(2)
    for low, high in (
        (0, 99),
        (50, 400),
        (-300, 9),
        (2**40, 2**40 + 50),
        (5, 2**50),
        (-9, 99),
        (2**40 - 9, 2**40 + 60),
        (-(2**63), 50 - 2**63),
        (2**63 - 50, 2**63),
        (-(2**63), 2**63),
    ):
        values = rng.integers(low, high, 60).astype(np.uint64 if low == 5 else np.int64)
        for value in sorted(set(values.tolist())):
            known.setdefault(value, len(known))
        found = numbers.of(Column("cluster", "number", values))
        assert found.tolist() == [known[value] for value in values.tolist()]
    assert numbers.count == len(known)


WHOLE = {
    "int8": (np.int8, -100),
    "uint8": (np.uint8, 150),
    "uint32": (np.uint32, 2**32 - 60),
    "the least int64": (np.int64, -(2**63)),
    "the greatest int64": (np.int64, 2**63 - 60),
    "uint64 from 2^63 on": (np.uint64, 2**63),
    "uint64 around 2^63": (np.uint64, 2**63 - 30),
    "the greatest uint64": (np.uint64, 2**64 - 60),
}


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("data", ["arrays", "file", "lazy"])
def test_whole_numbers_of_any_kind_name_clusters(data, kind, many_rows, tmp_path):
    known = stakes.evaluate(rows().select("y", "p", "patient"), **SCORES)["auc"]
    dtype, first = WHOLE[kind]
    numbers = np.unique(rows()["patient"], return_inverse=True)[1].tolist()
    patient = np.array([first + number for number in numbers], dtype)
    frame = rows().select("y", "p", patient=patient)
    frame.write_parquet(tmp_path / "a.parquet")
    source = {"arrays": frame, "file": str(tmp_path / "a.parquet"), "lazy": frame.lazy()}[data]
    found = stakes.evaluate(source, **SCORES)
    assert found.counted.clusters.count == PATIENTS
    assert (found["auc"].low, found["auc"].high) == pytest.approx((known.low, known.high), abs=2e-3)


def test_integers_of_two_kinds_that_no_integer_holds_are_refused():
    numbers = numbering.ClusterNumbers()
    numbers.of(Column("cluster", "number", np.array([-1, 5])))
    assert numbers.of(Column("cluster", "number", np.array([5, 2**62], np.uint64)))[0] == 1
    with pytest.raises(InputError, match="beyond 64 bits"):
        numbers.of(Column("cluster", "number", np.array([2**64 - 1], np.uint64)))


# ── very many classes ────────────────────────────────────────────────────────────────────────────────────────────
@functools.cache
def many_classes() -> tuple[pl.DataFrame, dict[str, str]]:
    rng = np.random.default_rng(3)
    truth, names = rng.integers(0, 60, 2000), [f"k{place:02}" for place in range(60)]
    odds = np.exp(rng.normal(size=(2000, 60)) + 1.5 * (truth[:, None] == np.arange(60)))
    said = dict(zip(names, (odds / odds.sum(1, keepdims=True)).T, strict=True))
    labels = np.array(names)[truth]
    return pl.DataFrame({"y": labels, "patient": rng.integers(0, 40, 2000), **said}), {name: name for name in names}


@pytest.mark.parametrize("where", ["file", pytest.param("engine", marks=pytest.mark.deep)])
def test_more_classes_than_engines_take(where, tmp_path, many_rows, monkeypatch):
    """Files are counted in batches, and rows of an engine come here in batches, by way of the disk."""
    frame, said = many_classes()
    question = {"truth": "y", "score": said, "cluster": "patient"}
    known = stakes.evaluate(frame, **question)
    frame.write_parquet(tmp_path / "a.parquet")
    monkeypatch.setattr(streaming.Files, "whole", None)  # which would read all rows at once
    monkeypatch.setattr(QuerySource, "rows", None)
    found = stakes.evaluate(str(tmp_path / "a.parquet") if where == "file" else frame.lazy(), **question)
    assert (found.confusion, found.scores.ranks.tolist()) == (known.confusion, known.scores.ranks.tolist())
    for name in ("accuracy", "macro_f1", "kappa", ("auc", "k07"), ("recall", "k07")):
        here, there = found[name], known[name]
        near = 1e-12 if "auc" not in name else 1e-4
        assert here.value == pytest.approx(there.value, rel=near)
        assert (here.low, here.high) == pytest.approx((there.low, there.high), abs=0.03 * (there.high - there.low))
    assert found["multiclass_log_loss"].no_interval == known["multiclass_log_loss"].no_interval
    groups = max(len(cells.groups) for cells in found.counted.clusters.cells)
    assert (
        groups <= 40 * 2 * 4 * 12
    )  # patients, and whether it is the true class, by cells of the score: no class beside


def test_tables_of_clusters_are_made_some_at_a_time():
    held = Clusters(np.array([2, 0, 2, 5]), 6, np.array([0, 1, 1, 0]), np.array([1, 1, 0, 1]), weight=np.arange(1.0, 5))
    table = stakes.Confusion(("a", "b"), ("a", "b"), np.ones((2, 2)))
    whole = np.zeros((6, 2, 2))
    whole[2, 0, 1], whole[0, 1, 1], whole[2, 1, 0], whole[5, 0, 1] = 1, 2, 3, 4
    for most in (1, 2, 4, 6, 9):
        assert np.concatenate(list(held.some_tables(table, most))).tolist() == whole.tolist()


def honest_rows(classes: int) -> tuple[pl.DataFrame, dict[str, object]]:
    """Probabilities that are as honest as rows of patients, who resemble each other, let them look."""
    rng = np.random.default_rng(classes)
    odds, ill = rng.normal(size=(4000, classes)), np.repeat(rng.normal(0, 0.3, (200, classes)), 20, axis=0)
    shares = [np.exp(each) / np.exp(each).sum(1, keepdims=True) for each in (odds, odds + ill)]
    kind = (rng.random((4000, 1)) > shares[1].cumsum(1)).sum(1)
    columns = {f"p{place}": column for place, column in enumerate(shares[0].T)}
    frame = pl.DataFrame({"y": kind, **columns, "patient": np.arange(4000) // 20, "w": rng.integers(1, 4, 4000)})
    return frame, {"truth": "y", "score": "p1" if classes == 2 else dict(enumerate(columns)), "cluster": "patient"}


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("place", ["files", "engine"])
def test_probabilities_in_bins_look_as_honest_as_those_of_rows(tmp_path, many_rows, place, classes, weight):
    """Cells of clusters are so wide that their edges would look dishonest: the mean of their rows stands for them."""
    frame, question = honest_rows(classes)
    frame.write_parquet(tmp_path / "rows.parquet")
    data = frame.lazy() if place == "engine" else str(tmp_path / "rows.parquet")
    found, known = (stakes.evaluate(one, **question, weight=weight) for one in (data, frame))
    assert found.calibration.test.p_value == pytest.approx(known.calibration.test.p_value, rel=0.05)
    assert found.findings[0].tone == known.findings[0].tone


def test_one_cluster_in_bins_says_why_nothing_can_be_tested(many_rows):
    frame, question = honest_rows(2)
    with pytest.warns(InputWarning, match="there is only 1 cluster"):
        found = stakes.evaluate(frame.with_columns(patient=pl.lit(1)).lazy(), **question)
    assert "That cannot be tested: there are too few clusters." in str(found)


def test_one_class_in_bins_says_that_both_are_needed(many_rows):
    frame, question = honest_rows(2)
    found = stakes.evaluate(frame.lazy(), **question, where="y = 1")
    assert "Both classes are needed for that." in str(found)


@pytest.mark.parametrize(("threshold", "lies"), [(2.0, True), (0.0, True), (0.5, False)])
def test_a_threshold_beyond_all_scores_is_told_of_bins_too(many_rows, threshold, lies):
    frame, question = honest_rows(2)
    found = stakes.evaluate(frame.lazy(), **question, threshold=threshold)
    assert ("so everyone gets the same decision" in " ".join(found.notes)) is lies
    assert found.scores.grid is not None


@pytest.mark.parametrize("by", [None, "site"])
def test_very_many_clusters_of_numbers_are_groups_in_files_as_in_memory(tmp_path, many_rows, by, monkeypatch):
    """No more sums are kept than of the groups; the number of clusters is that of all, and of each segment."""
    table = pl.concat([rows(), rows().with_columns(site=pl.lit("south"))])
    table = table.with_columns(case=pl.int_range(pl.len()) % 500, guess=pl.col("worth") * 0.9 + pl.col("w"))
    table.write_parquet(tmp_path / "rows.parquet")
    question = {"truth": "worth", "prediction": "guess", "cluster": "case", "by": by}
    for room in (numbering, cluster_rows, tallied):
        monkeypatch.setattr(room, "MOST_GROUPS", 100)
    found, known = (stakes.evaluate(where, **question) for where in (str(tmp_path / "rows.parquet"), table))
    parts = {"": (found, known)} | {name: (found.segments[name], known.segments[name]) for name in found.segments}
    for one, other in parts.values():
        assert one.counted.clusters.count == other.counted.clusters.count > 400
        assert one.counted.clusters.size <= 100
        for name in ("mae", "rmse", "r2"):
            here, there = one[name], other[name]
            assert here.value == pytest.approx(there.value)
            assert here.high - here.low == pytest.approx(there.high - there.low, rel=0.4)


@pytest.mark.parametrize("decided", [{"threshold": 0.3}, {"costs": stakes.Costs(miss=7, false_alarm=3)}], ids=str)
@pytest.mark.parametrize("where", ["file", "lazy"])
def test_thresholds_inside_the_cells_of_clusters_are_as_sure_as_in_memory(tmp_path, monkeypatch, where, decided):
    """Cells were decided by their middles, which moved intervals away from their figures."""
    rng = np.random.default_rng(0)
    truth = (rng.random(24_000) < 0.3).astype(int)
    scores = np.clip(rng.beta(0.5, 2, 24_000) + 0.2 * truth, 0, 1)
    frame = pl.DataFrame({"y": truth, "p": scores, "c": rng.integers(0, 600, 24_000)})
    frame.write_parquet(tmp_path / "rows.parquet")
    monkeypatch.setattr(streaming, "_MANY", 1000)
    question = {"truth": "y", "score": "p", "cluster": "c", **decided}
    table, how = (str(tmp_path / "rows.parquet"), {"exact": False}) if where == "file" else (frame.lazy(), {})
    known, found = stakes.evaluate(frame, **question), stakes.evaluate(table, **question, **how)
    pairs = [(known, found)] if where == "file" else [(known, found), (known.at(0.26), found.at(0.26))]
    for one, other in pairs:
        for name in ("recall", "precision", "specificity", "mcc", "accuracy"):
            width = one[name].high - one[name].low
            assert other[name].value == pytest.approx(one[name].value, rel=1e-12)
            ends = (other[name].low, other[name].high)
            assert ends == pytest.approx((one[name].low, one[name].high), abs=0.03 * width), name


CROWDED = {
    "a part in a thousand of the scale": (lambda z: 0.4901 + 0.0021 * z, 0.06),
    "degrees of fever": (lambda z: 36.5 + 4 * z, 0.03),
    "two values": (lambda z: np.where(z > 0.4, 0.8, 0.2), 1e-9),
    "decimals": (lambda z: np.round(0.3 + 0.4 * z, 2), 0.01),
}
RANKED = ["auc", "average_precision", "partial_auc", "recall_at_specificity", "brier_score"]


@pytest.mark.parametrize("crowded", CROWDED)
@pytest.mark.parametrize("place", ["file", "engine"])
def test_scores_that_lie_close_together_are_told_apart(crowded, place, tmp_path, many_rows, monkeypatch):
    """Cells as wide as those of other scores would hold them all, and their order would seem to vary with nothing."""
    for name in ("MOST_EXACT", "_MANY"):
        monkeypatch.setattr(streaming, name, 100)
    rng, (written, near) = np.random.default_rng(0), CROWDED[crowded]
    patient = rng.integers(0, 150, ROWS)
    ill = rng.normal(size=150)[patient]
    y = rng.random(ROWS) < 1 / (1 + np.exp(-ill))
    score = written(1 / (1 + np.exp(-(ill + rng.normal(size=ROWS) + 0.6 * y))))
    frame = pl.DataFrame({"y": y, "p": score, "patient": patient})
    frame.write_parquet(tmp_path / "rows.parquet")
    data = frame.lazy() if place == "engine" else tmp_path / "rows.parquet"
    one, other = (stakes.evaluate(rows, **SCORES) for rows in (frame, data))
    for name in RANKED if score.max() <= 1 else RANKED[:-1]:
        known, found = one[name], other[name]
        assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=near * (known.high - known.low))


def test_classes_whose_probabilities_lie_close_together_are_told_apart(many_rows):
    rng = np.random.default_rng(0)
    patient, kind = rng.integers(0, 150, ROWS), rng.integers(0, 3, ROWS)
    odds = np.exp(0.02 * (rng.normal(size=(3, ROWS)) + rng.normal(size=(3, 150))[:, patient] + np.eye(3)[:, kind]))
    shares = {f"p_{name}": own for name, own in zip("abc", odds / odds.sum(0), strict=True)}
    frame = pl.DataFrame({"kind": np.array([*"abc"])[kind], "patient": patient, **shares})
    one, other = (stakes.evaluate(data, **QUESTIONS["classes"]) for data in (frame, frame.lazy()))
    for name in ("macro_auc", "macro_average_precision"):
        known, found = one[name], other[name]
        assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=0.06 * (known.high - known.low))


def test_a_grid_that_is_too_fine_for_later_scores_is_merged(monkeypatch):
    monkeypatch.setattr(cluster_batches, "_MOST_ENTRIES", 500)
    rng, counts = np.random.default_rng(0), cluster_batches.GroupBins()
    narrow, wide = 0.49 + 0.001 * rng.random(400), rng.random(5000)
    groups = rng.integers(0, 5, 5400)
    counts.add(narrow, np.int64(0), groups[:400])
    finer = counts._bits
    counts.add(wide, np.int64(0), groups[400:])
    found, own = counts.result()
    assert finer > cluster_rows.BITS > found.bits
    assert len(own) <= 500
    scores = np.concatenate([narrow, wide])
    cells = bins.edges(bins.numbers(scores, "probability", found.bits), "probability", found.bits)
    keys, sizes = np.unique(np.stack([cells, groups]), axis=1, return_counts=True)
    assert np.array_equal(np.stack([found.edges, own]), keys)
    assert np.array_equal(found.weights, sizes)
