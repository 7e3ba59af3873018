"""Files of many rows: batches are counted as they go by, and the answers are those of all rows at once."""

import functools
import gzip
import math
import sqlite3
from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from stakes import Costs, InputError, compare, decide, evaluate, metrics
from stakes.engines import progress, streaming
from stakes.engines.binning import BinnedCounts
from stakes.engines.columns import codes_of
from stakes.engines.counting import count_rows
from stakes.engines.files import database
from stakes.errors import InputWarning
from stakes.tallies import bins
from stakes.tallies.grid import Grid
from stakes.tallies.losses import losses_either_way
from stakes.tallies.parallel import in_turn

pytestmark = pytest.mark.slow

ROWS = 5_000
KINDS = ["csv", "csv.gz", "tsv", "parquet", "jsonl", "arrow", "sqlite"]
OWN_WAYS = ("csv", "parquet", "sqlite")
"""The others are read as one of these: one question with everything and one with weights are enough."""


def rows(seed=3, count=ROWS):
    generator = np.random.default_rng(seed)
    truth = generator.random(count) < 0.3
    score = np.clip(generator.beta(0.5, 2, count) + 0.2 * truth, 0, 1)
    return pl.DataFrame(
        {
            "sick": np.where(truth, "yes", "no"),
            "y": truth.astype(np.int8),
            "p": np.round(score, 3),
            "logit": generator.normal(size=count),
            "said": np.where(generator.random(count) < 0.4, "yes", "no"),
            "w": np.round(generator.random(count), 2),
            "site": generator.choice(["a", "b,c", 'd"'], count),
        }
    )


def written(frame, folder, kind):
    path = folder / f"rows.{kind}"
    if kind == "csv.gz":
        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    elif kind == "sqlite":
        with sqlite3.connect(path) as base:
            base.execute(f"create table t ({', '.join(frame.columns)})")
            base.executemany(f"insert into t values ({', '.join('?' * frame.width)})", frame.rows())
        base.close()
        return f"{path}::t"
    else:
        writers = {"csv": frame.write_csv, "parquet": frame.write_parquet, "arrow": frame.write_ipc}
        writers |= {"jsonl": frame.write_ndjson, "tsv": lambda p: frame.write_csv(p, separator="\t")}
        writers[kind](path)
    return str(path)


@pytest.fixture(autouse=True)
def _many_rows(monkeypatch):
    """Let a thousand rows be many."""
    monkeypatch.setattr(streaming, "MOST_EXACT", 1_000)
    monkeypatch.setattr(streaming, "_MANY", 1_000)
    monkeypatch.setattr(streaming, "BATCH", 257)


@pytest.fixture
def watched(monkeypatch):
    """The files that were streamed rather than read whole."""
    seen = []
    original = streaming._count
    monkeypatch.setattr(streaming, "_count", lambda *given: seen.append(given) or original(*given))
    return seen


QUESTIONS = [
    {"truth": "sick", "score": "p", "positive": "yes"},
    {"truth": "y", "score": "p"},
    {"truth": "sick", "prediction": "said", "positive": "yes"},
    {"truth": "sick", "prediction": "said", "score": "p", "positive": "yes"},
    {"truth": "sick", "score": "logit", "positive": "no"},
    {"truth": "sick", "score": "p", "positive": "yes", "by": "site"},
    {"truth": "sick", "prediction": "said", "positive": "yes", "by": "site"},
    {"truth": "sick", "score": "p", "positive": "yes", "by": ["site", "said"]},
    {"truth": "sick", "score": "p", "positive": "yes", "weight": "w"},
    {"truth": "sick", "prediction": "said", "positive": "yes", "weight": "w", "by": "site"},
    {"truth": "site", "prediction": "said", "classes": ["a", "b,c", 'd"', "yes", "no"]},
]


def like(counted, expected):
    """Whether two counts are the same; sums of weights may be rounded differently."""
    assert counted.tallies.keys() == expected.tallies.keys()
    assert list(counted.segments) == list(expected.segments)
    for kind, tally in expected.tallies.items():
        found = counted.tallies[kind]
        if kind == "scores":
            assert found._question() == tally._question()
            assert found.as_columns().scores.tolist() == tally.as_columns().scores.tolist()
            pairs = [(found.as_columns().values[k], v) for k, v in tally.as_columns().values.items()]
            pairs += [(found.losses, tally.losses)]
        else:
            assert found._question() == tally._question()
            pairs = [(found.counts, tally.counts), (found.squares, tally.squares)]
        for one, other in pairs:
            if other is None or other.dtype.kind != "f":
                assert np.array_equal(one, other)
            else:
                np.testing.assert_allclose(one, other, rtol=1e-14)
    for name, part in expected.segments.items():
        like(counted.segments[name], part)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The same rows in a file of each kind."""
    folder = tmp_path_factory.mktemp("kinds")
    return {kind: written(rows(), folder, kind) for kind in KINDS}


@functools.cache
def in_memory(question):
    return count_rows(rows(), **QUESTIONS[question], exact=False)


KINDS_AND_QUESTIONS = [
    (kind, number) for kind in KINDS for number in range(len(QUESTIONS)) if kind in OWN_WAYS or number in (3, 9)
]


@pytest.mark.parametrize(("kind", "question"), KINDS_AND_QUESTIONS)
@pytest.mark.spread(9)
def test_batches_count_as_all_rows_in_memory_do(files, watched, kind, question):
    like(count_rows(files[kind], **QUESTIONS[question]), in_memory(question))
    assert len(watched) == 1


@pytest.mark.parametrize("name", ["even", "rare", "near 1", "ends"])
def test_every_score_is_counted_in_its_own_bin(name):
    rng = np.random.default_rng(8)
    ends = [0.0, -0.0, 5e-324, 1e-310, 0.25, 0.5, np.nextafter(0.5, 1), 0.75, np.nextafter(1, 0), 1.0]
    scores = {
        "even": rng.random(3_000),
        "rare": rng.beta(0.1, 50, 3_000),
        "near 1": 1 - rng.beta(0.1, 50, 3_000),
        "ends": np.array(ends),
    }[name]
    cells, more = rng.integers(0, 2, len(scores)).astype(np.uint8), rng.integers(0, 10, len(scores))
    for bits, own in ((15, cells), (11, more)):
        counts = BinnedCounts(bits)
        for part in (slice(None), slice(None, None, 3)):
            counts.add(scores[part], own[part])
        for cell in np.unique(own):  # also where all rows have the same cell
            counts.add(scores[own == cell], cell)
        by_bin = counts.by_bin()
        found = counts.result()
        for one, other in [*zip(by_bin.by_cell(3), found.by_cell(3), strict=True)][:2]:  # of segments of three classes
            np.testing.assert_array_equal(one, other)
        part, of_found = by_bin.of_cells(range(1, 3)), found.of_cells(range(1, 3))
        assert part.edges.tolist() == sorted(set(of_found.edges.tolist()))
        assert part.counts.sum() == of_found.weights.sum()
        edges = bins.edges(bins.numbers(scores, "probability", bits), "probability", bits)
        rows = [*zip(own.tolist(), edges.tolist(), strict=True)]
        assert found.grid == "probability"
        columns = found.cells.tolist(), found.edges.tolist(), found.weights.tolist()
        assert [*zip(*columns, strict=True)] == [(*key, n) for key, n in sorted(Counter(2 * rows + rows[::3]).items())]


@pytest.mark.parametrize(
    "scores",
    [[0.3], np.linspace(0.01, 0.99, 77), np.geomspace(1e-300, 0.5, 77), [1e-9] * 40, [1 - 1e-9] * 33, [0.5, 1.0] * 20],
    ids=len,
)
def test_losses_of_bins_are_those_of_each_row(scores):
    """Also where products of probabilities are too small for a float, or too near to 1 to be told from it."""
    scores = np.asarray(scores)
    with np.errstate(divide="ignore"):
        each = [(1 - scores) ** 2, scores**2], [-np.log(scores), -np.log1p(-scores)]
    found = losses_either_way(scores)
    np.testing.assert_allclose(found, [[math.fsum(one) for one in both] for both in each], rtol=1e-13)
    doubled = losses_either_way(scores, np.full(len(scores), 2.0))
    np.testing.assert_allclose(doubled, 2 * found, rtol=1e-12)


@pytest.mark.parametrize("classes", [3, 40])
def test_categories_are_told_by_their_codes_however_many_there_are(classes):
    known = pl.Series([f"unused {n}" for n in range(5)] + [f"class {n}" for n in range(classes)], dtype=pl.Categorical)
    series = known.gather([5 + 7 * n % classes for n in range(200)])
    codes, seen, names = codes_of(series)
    called = dict(zip(seen.tolist(), names, strict=True))
    assert [called[code] for code in codes.tolist()] == series.to_list()
    assert seen.tolist() == sorted(set(codes.tolist()))


def test_bins_are_the_same_where_there_is_no_room_for_the_long_table(tmp_path, monkeypatch):
    question = {"truth": "sick", "score": "p", "positive": "yes"}
    path = written(rows(), tmp_path, "parquet")
    roomy = count_rows(path, **question)
    monkeypatch.setattr("stakes.engines.binning.LongTable", None)
    monkeypatch.setattr("stakes.engines.binning.ROOM", math.inf)
    like(count_rows(path, **question), roomy)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """All rows in a database of DuckDB."""
    import duckdb

    path = tmp_path_factory.mktemp("base") / "base.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("frame", rows())
        connection.execute("create table t as select * from frame")
    return f"{path}::t"


@pytest.mark.parametrize("question", range(len(QUESTIONS)), ids=lambda number: str(QUESTIONS[number]))
@pytest.mark.spread(6)
def test_a_large_table_of_duckdb_is_counted_where_it_is(base, question, monkeypatch):
    monkeypatch.setattr(database, "collect", None)  # no row leaves it
    like(count_rows(base, **QUESTIONS[question], exact=False), in_memory(question))


@pytest.mark.parametrize("question", [q for q in QUESTIONS if "score" in q and "by" not in q], ids=str)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_every_score_is_kept_if_wanted(tmp_path, watched, kind, question):
    frame = rows()
    counted = count_rows(written(frame, tmp_path, kind), **question, exact=True)
    assert counted.scores == count_rows(frame, **question).scores
    assert counted.scores.grid is None
    assert len(watched) == ("weight" not in question)  # weights are read whole


def test_exact_figures_are_the_same_bytes_as_in_memory(tmp_path, watched):
    frame = rows()
    here = evaluate(frame, truth="sick", score="p", positive="yes").to_dict()
    there = evaluate(written(frame, tmp_path, "csv"), truth="sick", score="p", positive="yes", exact=True).to_dict()
    assert here == there
    assert watched


def test_few_rows_are_read_whole_and_exact(tmp_path, watched):
    frame = rows(count=1_000)
    for kind in ("parquet", "csv"):
        counted = count_rows(written(frame, tmp_path, kind), truth="y", score="p")
        assert counted.scores.grid is None
    assert not watched


def test_several_files_are_many_rows_together(tmp_path, watched):
    parts = [rows(seed, 400) for seed in range(4)]
    paths = [
        written(part, tmp_path / str(i), "csv") for i, part in enumerate(parts) if (tmp_path / str(i)).mkdir() is None
    ]
    counted = count_rows(paths, truth="sick", prediction="said", positive="yes")
    assert counted.confusion == count_rows(pl.concat(parts), truth="sick", prediction="said", positive="yes").confusion
    assert watched


def test_a_class_and_another_kind_of_score_may_come_up_late(tmp_path):
    frame = rows().with_row_index()
    late = frame.with_columns(
        said=pl.when(pl.col("index") < 4_000).then(pl.lit("no")).otherwise("said"),
        p=pl.when(pl.col("index") < 4_000).then("p").otherwise(pl.col("p") - 0.5),
        sick=pl.when(pl.col("index") < 1_000).then(pl.lit("yes")).otherwise("sick"),
    )
    question = {"truth": "sick", "score": "p", "prediction": "said", "positive": "no"}
    path = written(late, tmp_path, "parquet")
    like(count_rows(path, **question), count_rows(late, **question, exact=False))
    assert count_rows(path, **question).scores.grid.kind == "line"
    assert count_rows(path, **question, exact=True).scores == count_rows(late, **question).scores


def test_scores_that_no_key_holds_are_read_whole(tmp_path, watched):
    frame = rows().with_columns(p=pl.col("logit") * 1e-300)
    path = written(frame, tmp_path, "parquet")
    assert count_rows(path, truth="y", score="p", exact=True).scores == count_rows(frame, truth="y", score="p").scores
    assert len(watched) == 1


def test_conditions_and_dropped_rows_are_those_of_all_rows(tmp_path, watched):
    frame = rows().with_row_index().with_columns(p=pl.when(pl.col("index") % 7 == 0).then(None).otherwise("p"))
    for kind in ("csv", "parquet"):
        path = written(frame, tmp_path, kind)
        question = {"truth": "y", "score": "p", "where": "site <> 'a' and index < 4000", "missing": "drop"}
        counted = count_rows(path, **question)
        wanted = frame.filter((pl.col("site") != "a") & (pl.col("index") < 4_000))
        kept = wanted.drop_nulls("p")
        like(counted, count_rows(kept, truth="y", score="p", exact=False))
        assert counted.dropped == len(wanted) - len(kept)
    assert len(watched) == 2


def test_the_bounds_of_the_auc_hold(tmp_path):
    frame = rows()
    ev = evaluate(written(frame, tmp_path, "parquet"), truth="y", score="logit")
    low, high = metrics.auc_bounds(ev.scores)
    assert low <= evaluate(frame, truth="y", score="logit")["auc"].value <= high
    assert any("AUC lies between" in note for note in ev.notes)


# ── what is wrong with the rows ──────────────────────────────────────────────────────────────────────────────────
def test_a_fault_is_told_with_the_rows_where_it_was_met(tmp_path):
    frame = rows().with_row_index().with_columns(p=pl.when(pl.col("index") == 3_000).then(np.inf).otherwise("p"))
    with pytest.raises(InputError, match=r"score is infinite in 1 row \(the first is in .*rows\.parquet, row 3,001, "):
        count_rows(written(frame, tmp_path, "parquet"), truth="y", score="p")


def test_a_number_that_is_none_is_told_with_its_line(tmp_path):
    frame = rows().cast({"p": pl.String}).with_row_index()
    frame = frame.with_columns(p=pl.when(pl.col("index") == 3_000).then(pl.lit("0,5")).otherwise("p"))
    with pytest.raises(InputError, match=r"two decimal signs, such as .*'0,5' .*line 3,002"):
        count_rows(written(frame, tmp_path, "csv"), truth="y", score="p")
    frame = frame.with_columns(p=pl.when(pl.col("index") == 3_000).then(pl.lit("1e400")).otherwise("p"))
    with pytest.raises(InputError, match=r"line 3,002.*1e400"):
        count_rows(written(frame, tmp_path, "csv"), truth="y", score="p")


def test_a_nul_byte_is_told(tmp_path):
    path = tmp_path / "rows.csv"
    rows().select("p", "sick").write_csv(path)
    path.write_bytes(path.read_bytes().replace(b"yes", b"y\0s"))
    with pytest.raises(InputError, match="NUL"):
        count_rows(str(path), truth="sick", score="p", positive="no")


def test_a_short_line_is_told(tmp_path):
    path = tmp_path / "rows.csv"
    rows().select("p", "y").write_csv(path)
    lines = path.read_text().splitlines()
    lines[3_000] = "0.5"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match="line 3,001"):
        count_rows(str(path), truth="y", score="p")


def test_one_score_for_three_classes_is_refused(tmp_path):
    path = written(rows(), tmp_path, "parquet")
    for exact in (None, True):
        with pytest.raises(InputError, match="one score column for 3 classes"):
            count_rows(path, truth="site", score="p", exact=exact)


def test_predicted_numbers_are_read_whole_if_everything_shall_be_exact(tmp_path):
    frame = rows()
    counted = count_rows(written(frame, tmp_path, "csv"), truth="logit", prediction="p", exact=True)
    assert counted.task == "regression"
    assert counted.tallies["errors"] == count_rows(frame, truth="logit", prediction="p").tallies["errors"]


def test_a_file_that_changes_while_it_is_read_is_noticed(tmp_path, monkeypatch):
    path = written(rows(), tmp_path, "parquet")
    original = streaming.Batch.read

    def meddling(found, missing):
        with open(path, "ab") as file:
            file.write(b"x")
        return original(found, missing)

    monkeypatch.setattr(streaming.Batch, "read", meddling)
    with pytest.raises(InputError, match="changed while it was read"):
        count_rows(path, truth="y", score="p")


def test_progress_is_told_from_the_first_row_to_the_last(tmp_path):
    told = []
    for kind in ("parquet", "csv"):
        with progress.telling(lambda done, total, _: told.append((done, total))):
            count_rows(written(rows(), tmp_path, kind), truth="y", score="p")
        done = [rows for rows, _ in told]
        assert done == sorted(done)
        assert told[-1] == (ROWS, ROWS)
        assert all(total > rows for rows, total in told[:-1])
        assert abs(told[0][1] - ROWS) < 0.05 * ROWS  # lines of text are guessed
        told.clear()


# ── bins ─────────────────────────────────────────────────────────────────────────────────────────────────────────
SPECIAL = [0, -0.0, 1, 0.5, 0.25, 0.75, np.nextafter(0.5, 1), np.nextafter(0.5, 0), np.nextafter(1, 0), 5e-324, 1e-320]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cells", [1, 4])
@pytest.mark.parametrize("which", ["uniform", "rare", "special", "float32", "line", "mixed"])
@pytest.mark.each_choice
def test_bins_are_those_of_the_grid(which, cells, weighted):
    generator = np.random.default_rng(1)
    scores = {
        "uniform": generator.random(50_000),
        "rare": generator.beta(0.1, 50, 50_000),
        "special": np.array(SPECIAL),
        "float32": generator.random(10_000).astype(np.float32),
        "line": generator.normal(size=10_000) * 10.0 ** generator.integers(-200, 200, 10_000),
        "mixed": np.append(generator.random(60_000), [1.5, -3]),
    }[which]
    cell = generator.integers(0, cells, len(scores)).astype(np.uint8)
    weight = generator.random(len(scores)) if weighted else None
    counting = BinnedCounts()
    for start in range(0, len(scores), 40_000):
        part = slice(start, start + 40_000)
        counting.add(scores[part], cell[part], None if weight is None else weight[part])
    found = counting.result()
    edges = Grid(found.grid).lower_edges(scores)
    order = np.lexsort([edges, cell])  # as np.unique would find them, in a tenth of the time
    keys = np.stack([cell, edges])[:, order]
    first = np.append(True, (np.diff(keys) != 0).any(axis=0))
    keys, places = keys[:, first], np.empty(len(scores), int)
    places[order] = np.cumsum(first) - 1
    sizes = np.bincount(places)
    assert found.grid == ("line" if which in ("line", "mixed") else "probability")
    assert found.cells.tolist() == keys[0].tolist()
    assert found.edges.tolist() == keys[1].tolist()
    if weight is not None:
        np.testing.assert_allclose(found.weights, np.bincount(places, weight), rtol=1e-12)
        np.testing.assert_allclose(found.squares, np.bincount(places, weight**2), rtol=1e-12)
    else:
        assert (found.weights.tolist(), found.squares) == (sizes.tolist(), None)


@pytest.mark.parametrize("by", [None, "site", ["site", "said"]])
@pytest.mark.parametrize("exact", [None, True])
def test_decisions_of_a_threshold_within_a_bin_are_counted_with_the_bins(tmp_path, watched, by, exact):
    frame = rows()
    arguments = {"truth": "sick", "score": "p", "positive": "yes", "by": by, "threshold": 0.3}
    found = evaluate(written(frame, tmp_path, "parquet"), **arguments, exact=exact)
    expected = evaluate(frame, **arguments)
    assert found.confusion == expected.confusion
    assert found["recall"] == expected["recall"]
    assert {name: part.confusion for name, part in found.segments.items()} == {
        name: part.confusion for name, part in expected.segments.items()
    }
    assert bool(watched) == (not (exact and by))


def test_truth_as_its_own_score_is_pointed_out(tmp_path, watched):
    with pytest.warns(InputWarning, match="score") as told:
        count_rows(written(rows(), tmp_path, "parquet"), truth="y", score="y")
    assert len(told) == len(watched) == 1


# ── as in memory, also where batches differ ──────────────────────────────────────────────────────────────────────
def test_predicted_numbers_of_any_file_are_read_whole(tmp_path, watched):
    frame = rows().with_columns(said=pl.col("logit") + 0.1)
    for kind in ("parquet", "csv", "jsonl"):
        assert count_rows(written(frame, tmp_path, kind), truth="logit", prediction="said").task == "regression"
    assert not watched


def test_a_batch_without_weight_is_not_there(tmp_path, watched):
    frame = rows().with_row_index().with_columns(w=pl.when(pl.col("index") < 600).then(0.0).otherwise("w"))
    question = {"truth": "y", "score": "p", "weight": "w"}
    like(count_rows(written(frame, tmp_path, "parquet"), **question), count_rows(frame, **question, exact=False))
    with pytest.raises(InputError, match="weight is 0 in every row"):
        count_rows(written(frame.with_columns(w=0.0 * pl.col("w")), tmp_path, "parquet"), **question)
    assert len(watched) == 2


@pytest.mark.parametrize("kind", ["parquet", "csv", "arrow"])
def test_missing_values_are_counted_over_all_rows(tmp_path, kind):
    gaps = [300, 3_000, 4_999]
    frame = rows().with_row_index().with_columns(p=pl.when(pl.col("index").is_in(gaps)).then(None).otherwise("p"))
    with pytest.raises(InputError, match=r"score is missing in 3 rows \(the first is in .*(line 302|row 301)"):
        count_rows(written(frame, tmp_path, kind), truth="y", score="p")


@pytest.mark.parametrize("word", ["NA", "nan", "-9"])
@pytest.mark.parametrize("column", ["y", "p"])
@pytest.mark.spread(3)
def test_a_word_for_a_missing_value_is_found_wherever_it_stands(tmp_path, column, word):
    lines = rows().select("y", "p").write_csv().splitlines()
    y, p = lines[4_000].split(",")
    lines[4_000] = {"y": f"{word},{p}", "p": f"{y},{word}"}[column]
    path, question = tmp_path / "rows.csv", {"truth": "y", "score": "p"} | ({"na": ["-9"]} if word == "-9" else {})
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match="line 4,001"):
        evaluate(str(path), **question)
    left = evaluate(str(path), **question, missing="drop")
    assert (left.counted.dropped, left.scores.total) == (1, ROWS - 1)


def test_what_to_do_about_gaps_is_checked(tmp_path):
    with pytest.raises(InputError, match="missing"):
        count_rows(written(rows(), tmp_path, "parquet"), truth="y", score="p", missing="dorp")


@pytest.mark.parametrize("where", ["p > avg(p)", "p = max(p)", "row_number() over (order by p) < 3"])
def test_conditions_look_at_one_row_at_a_time(tmp_path, where):
    with pytest.raises(InputError, match=r"\(\) is no function that looks at one value of one row"):
        count_rows(written(rows(), tmp_path, "parquet"), truth="y", score="p", where=where)


@pytest.mark.parametrize("options", [{}, {"prior": 0.1, "training_prior": 0.5}, {"by": "site"}])
@pytest.mark.parametrize("exact", [None, False])
@pytest.mark.each_choice
def test_costs_decide_as_in_memory_also_within_a_bin(tmp_path, options, exact):
    frame = rows()
    question = {"truth": "y", "score": "p", "costs": Costs(miss=5, false_alarm=1), **options}
    found, expected = evaluate(written(frame, tmp_path, "csv"), **question, exact=exact), evaluate(frame, **question)
    assert found.threshold == expected.threshold
    assert found.confusion == expected.confusion
    assert found["expected_cost"].value == expected["expected_cost"].value
    assert [part.confusion for part in found.segments.values()] == [p.confusion for p in expected.segments.values()]


def test_a_threshold_is_exact_beside_bins_of_few_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "MOST_EXACT", 10**9)
    frame = rows()
    found = evaluate(written(frame, tmp_path, "csv"), truth="y", score="p", threshold=0.37, exact=False)
    assert found.scores.grid is not None
    assert found.confusion == evaluate(frame, truth="y", score="p", threshold=0.37).confusion


# ── a promised auc ───────────────────────────────────────────────────────────────────────────────────────────────
def crowded(grid, seed=1, count=600):
    """Scores that crowd in a few bins, some of them tied, on either side of ½ or of 0."""
    generator = np.random.default_rng(seed)
    centre = generator.choice([0.3, 0.7] if grid == "probability" else [-3.0, 5.0], count)
    score = centre * (1 + np.round(generator.random(count) * 2e-5, 8))
    truth = generator.random(count) < 0.5 + (score - centre) * 1e4
    return pl.DataFrame({"y": truth, "p": score, "w": generator.lognormal(3, 1, count)})


@pytest.mark.parametrize("grid", ["probability", "line"])
@pytest.mark.parametrize("error", [0.02, 1e-3, 1e-12])
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.each_choice
def test_an_auc_is_known_as_well_as_promised(tmp_path, monkeypatch, grid, error, weight):
    monkeypatch.setattr(streaming, "_MANY", 100)
    monkeypatch.setattr(streaming, "BATCH", 170)
    frame = crowded(grid)
    file = written(frame, tmp_path, "parquet")
    question = {"truth": "y", "score": "p", "threshold": 0.3, "weight": weight}
    exact = roc_auc_score(frame["y"], frame["p"], sample_weight=weight and frame[weight])
    plain = evaluate(file, **question, exact=False)
    low, high = metrics.auc_bounds(plain.scores)
    assert high - low > 2 * error  # the fixed bins alone leave more open
    found = evaluate(file, **question, exact=False, auc_error=error)
    low, high = metrics.auc_bounds(found.scores)
    assert low <= exact * (1 + 1e-15)
    assert exact * (1 - 1e-15) <= high
    assert high - low <= 2 * error
    assert found["auc"].value == pytest.approx(exact, abs=error)
    assert found.confusion == plain.confusion
    assert any("counted once more and finer, which took 1 MB" in note for note in found.notes)
    if error < 1e-6:
        assert found["auc"].value == pytest.approx(exact, rel=1e-14)  # ties count half, as they do in the rows


def test_a_promise_that_counts_cannot_keep_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "_MANY", 100)
    frame = crowded("probability")
    file = written(frame, tmp_path, "parquet")
    question = {"truth": "y", "score": "p", "exact": False}
    count_rows(file, **question).save(tmp_path / "rows.tally", min_cell=1)
    told = r"^auc_error=0.001: bins leave the auc open by 0\.11; count the rows again with exact=True"
    with pytest.raises(InputError, match=told):
        evaluate(str(tmp_path / "rows.tally"), auc_error=1e-3)
    assert evaluate(str(tmp_path / "rows.tally"), auc_error=0.3)["auc"].value > 0.5
    with pytest.raises(InputError, match="auc_error=2 is how far the auc may be off: between 0 and 1"):
        evaluate(file, **question, auc_error=2)
    with pytest.raises(InputError, match="auc_error= is about scores of two classes; leave it out"):
        evaluate(frame.with_columns(said=~frame["y"]), truth="y", prediction="said", auc_error=0.1)
    assert evaluate(frame, **question, auc_error=1e-9).scores.grid is None  # rows in memory need no bins


# ── costs that differ by row ─────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("kind", "said"),
    [("csv", {"prediction": "said"}), ("parquet", {"prediction": "said"}), ("parquet", {"score": "p"}),
     ("csv", {"score": "p", "threshold": 0.3})],
)  # fmt: skip
def test_costs_by_row_are_added_up_batch_by_batch(tmp_path, monkeypatch, kind, said):
    frame = rows(count=700).with_columns(missed=pl.Series(np.random.default_rng(2).integers(1, 90, 700) / 4))
    costs = Costs(miss="missed", false_alarm=1)
    question = {"truth": "sick", "positive": "yes", "costs": costs, **said}
    question |= {"weight": "w", "by": "site", "where": "w > 0.1"}
    file = written(frame, tmp_path, kind)
    whole = evaluate(file, **question)
    monkeypatch.setattr(streaming, "MOST_EXACT", 100)
    monkeypatch.setattr(streaming, "BATCH", 170)
    monkeypatch.setattr(streaming.Files, "whole", None)  # which would read all rows at once
    found = evaluate(file, **question)
    assert found.counted.decided_by == whole.counted.decided_by
    assert found.confusion.counts.astype(float) == pytest.approx(whole.confusion.counts.astype(float), rel=1e-13)
    assert found.counted.tallies["costs"].sums == pytest.approx(whole.counted.tallies["costs"].sums, rel=1e-13)
    assert [*found.segments] == [*whole.segments]
    for name in whole.segments:
        here, there = ({row["metric"]: row for row in part.segments[name].to_rows()} for part in (found, whole))
        known = [one for one in there if not math.isnan(here[one]["value"])]  # bins do not keep every value of a score
        near = {"rel": 1e-12} if "prediction" in said else {"abs": 2e-4}
        assert [here[m]["value"] for m in known] == pytest.approx([there[m]["value"] for m in known], **near)
        for end in ("value", "low", "high"):
            one, other = (part.segments[name]["expected_cost"] for part in (found, whole))
            assert getattr(one, end) == pytest.approx(getattr(other, end), rel=1e-9)
    if "score" in said and len(said) == 1:
        best, known = (decide(data, **{**question, "by": None}) for data in (file, frame))
        assert best.apparent.value == pytest.approx(known.apparent.value, rel=1e-3)


def test_a_damaged_file_of_costs_by_row_is_told_by_its_name(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "MOST_EXACT", 100)
    frame = pl.DataFrame({"y": np.arange(9000) % 2, "p": np.arange(9000) % 7 / 7, "worth": np.arange(9000) % 5})
    frame.write_parquet(tmp_path / "rows.parquet")
    content = bytearray((tmp_path / "rows.parquet").read_bytes())
    content[30:200] = bytes(170)
    (tmp_path / "rows.parquet").write_bytes(content)
    with pytest.raises(InputError, match=r"rows\.parquet"):
        evaluate(str(tmp_path / "rows.parquet"), truth="y", score="p", costs=Costs(miss="worth", false_alarm=1))


def test_workers_take_items_in_turn_and_a_fault_stops_them():
    found = [], []
    in_turn(iter(range(7)), [one.append for one in found])
    assert found == ([0, 2, 4, 6], [1, 3, 5])
    with pytest.raises(ZeroDivisionError):
        in_turn(iter([1, 0, 1]), [found[0].append, lambda n: 1 / n])
    with pytest.raises(ZeroDivisionError):
        in_turn((1 // n for n in (1, 0)), [found[0].append])


# ── intervals at a place of the ranking ──────────────────────────────────────────────────────────────────────────
PLACES = ("partial_auc", "recall_at_specificity", "specificity_at_recall", "recall_at_k(k=300)", "gain", "lift")


@functools.cache
def patients(count=3000):
    """Rows in clusters that resemble each other, with weights."""
    generator = np.random.default_rng(4)
    patient = generator.integers(0, count // 20, count)
    ill = generator.normal(size=count // 20)[patient]
    truth = generator.random(count) < 1 / (1 + np.exp(1.5 - ill))
    score = 1 / (1 + np.exp(1.5 - generator.normal(size=count) - 1.2 * truth - ill / 2))
    return pl.DataFrame({"y": truth, "p": score, "w": generator.integers(1, 24, count) / 8, "patient": patient})


@pytest.mark.parametrize("digits", [2, 16])
@pytest.mark.parametrize("option", [{}, {"weight": "w"}, {"cluster": "patient"}, {"prior": 0.05}], ids=str)
@pytest.mark.each_choice
def test_figures_at_a_place_of_the_ranking_have_the_intervals_of_rows(tmp_path, monkeypatch, option, digits):
    monkeypatch.setattr(streaming, "_MANY", 100)
    monkeypatch.setattr(streaming, "BATCH", 700)
    question, frame = {"truth": "y", "score": "p", **option}, patients().with_columns(pl.col("p").round(digits))
    file = written(frame, tmp_path, "parquet")
    found, exact = evaluate(file, **question, exact=False), evaluate(frame, **question)
    assert found.scores.grid is not None
    for name in PLACES:
        own, known = found[name], exact[name]
        assert own.value == pytest.approx(known.value, abs=2e-3), name
        assert own.high - own.low == pytest.approx(known.high - known.low, rel=0.03), name
        assert own.low == pytest.approx(known.low, abs=0.05 * (known.high - known.low)), name


@pytest.mark.parametrize("name", [*PLACES, "auc", "average_precision"])
def test_where_bins_hold_many_rows_an_interval_reaches_as_far_as_any_order_of_them(tmp_path, monkeypatch, name):
    """All rows lie in some twenty bins, so the figure of the scores is known to within a bin."""
    monkeypatch.setattr(streaming, "_MANY", 100)
    frame = patients().with_columns(p=0.5 + pl.col("p") * 20 * 2.0**-16)
    file = written(frame, tmp_path, "parquet")
    found, exact = (evaluate(data, truth="y", score="p", exact=False, **more)[name] for data, more in
                    ((file, {}), (frame, {"auc_error": 1e-9})))  # fmt: skip
    assert found.method.endswith("wider by what the bins leave open")
    assert found.low <= exact.low
    assert exact.high <= found.high
    assert found.high - found.low > 1.2 * (exact.high - exact.low)


def test_an_exact_auc_leaves_the_average_precision_open(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "_MANY", 100)
    file = written(patients().with_columns(p=0.5 + pl.col("p") * 20 * 2.0**-16), tmp_path, "parquet")
    found = evaluate(file, truth="y", score="p", exact=False, auc_error=1e-7)
    assert found.scores.order is not None
    wider = [found[name].method.endswith("wider by what the bins leave open") for name in ("auc", "average_precision")]
    assert wider == [False, True]


# ── figures that need the scores themselves ──────────────────────────────────────────────────────────────────────
VALUES = ("ece", "mce", "ece_equal_mass", "calibration_slope", "calibration_intercept", "calibration_in_the_large",
          "mean_probability_error", "relative_probability_error", "net_benefit(threshold=0.3)")  # fmt: skip


@pytest.mark.parametrize("option", [{}, {"weight": "w"}, {"cluster": "patient"}, {"training_prior": 0.5}], ids=str)
@pytest.mark.parametrize("digits", [2, 12])
@pytest.mark.each_choice
def test_figures_of_the_scores_themselves_are_those_of_rows_and_say_how_near_bins_are(
    tmp_path, monkeypatch, option, digits
):
    """Scores that are rounded lie on the edges of the ten bins of ece, and on the side of the edge where rows are."""
    monkeypatch.setattr(streaming, "_MANY", 100)
    frame = patients().with_columns(pl.col("p").round(digits))
    question = {"truth": "y", "score": "p", **option}
    found, exact = evaluate(written(frame, tmp_path, "parquet"), **question, exact=False), evaluate(frame, **question)
    for name in VALUES:
        own, known = found[name], exact[name]
        assert own.value == pytest.approx(known.value, abs=1e-3 if "mce" in name and digits == 12 else 5e-5), name
        assert own.note.endswith(f"one inside its bin, which it is within {found.scores.off_by:.3g} of"), name
        assert (own.low is None) == (known.low is None), name
        if own.low is not None:
            width = known.high - known.low
            assert (own.low, own.high) == pytest.approx((known.low, known.high), abs=0.01 * width), name
    assert not math.isnan({row["metric"]: row for row in found.to_rows()}["ece"]["value"])
    if option in ({}, {"weight": "w"}):  # a correction is no matter of honesty
        judged, slope = found.calibration, found["calibration_slope"]
        assert judged.off_by == found.scores.off_by < 1e-5
        assert judged.ece.value == found["ece"].value
        assert (judged.slope.value, judged.slope.low, judged.slope.high) == (slope.value, slope.low, slope.high)


def alike_calibration(found, exact, limits=0.15):
    """Curve, line, parts of losses and the test of clusters in bins are those of rows in memory."""
    for name in ("slope", "intercept", "intercept_at_slope_1"):
        own, known = getattr(found, name), getattr(exact, name)
        ends = known.low, known.value, known.high
        assert (own.low, own.value, own.high) == pytest.approx(ends, abs=limits / 4 * (known.high - known.low)), name
    assert found.ece.value == pytest.approx(exact.ece.value, abs=2e-4)
    assert found.brier.miscalibration.value == pytest.approx(exact.brier.miscalibration.value, abs=1e-4)
    assert found.test.p_value == pytest.approx(exact.test.p_value, abs=0.02)
    for by in ("mass", "width"):
        own, known = found.reliability(5, by).bins, exact.reliability(5, by).bins
        assert own.rows == pytest.approx(known.rows, abs=known.rows.sum() / 1000)
        assert own.frequency == pytest.approx(known.frequency, abs=0.002)
        assert own.high - own.low == pytest.approx(known.high - known.low, rel=limits)


@pytest.mark.parametrize("option", [{}, {"weight": "w"}], ids=str)
def test_clusters_in_bins_have_a_calibration_like_that_of_rows(tmp_path, monkeypatch, option):
    monkeypatch.setattr(streaming, "_MANY", 100)
    frame = patients()
    honest = frame.with_columns(y=np.random.default_rng(1).random(len(frame)) < frame["p"].to_numpy())
    for one in (frame, honest):
        question = {"truth": "y", "score": "p", "cluster": "patient", **option}
        found, exact = evaluate(written(one, tmp_path, "parquet"), **question, exact=False), evaluate(one, **question)
        assert found.counted.clusters.grid is not None
        assert found.calibration.off_by == found.scores.off_by < 1e-5
        alike_calibration(found.calibration, exact.calibration)
    assert found.calibration.p_value_if_honest > 0.05  # which is that of the honest ones


LOSSES = ("brier_score", "log_loss", "normalised_brier_score", "normalised_log_loss")
ELSEWHERE_TRAINED = [
    {"prior": 0.05, "training_prior": 0.5},
    {"training_prior": 0.6},
    {"prior": 0.2, "training_prior": "rows"},
]


@pytest.mark.parametrize("there", ELSEWHERE_TRAINED, ids=str)
@pytest.mark.parametrize("option", [{}, {"weight": "w"}, {"cluster": "patient"}, {"by": "site"}], ids=str)
@pytest.mark.each_choice
def test_losses_of_corrected_probabilities_are_those_of_rows(tmp_path, monkeypatch, there, option):
    monkeypatch.setattr(streaming, "_MANY", 100)
    frame = patients().with_columns(site=pl.int_range(pl.len()) % 2)
    question = {"truth": "y", "score": "p", **there, **option}
    found, exact = evaluate(written(frame, tmp_path, "parquet"), **question, exact=False), evaluate(frame, **question)
    parts = [(found, exact), *((part, exact.segments[name]) for name, part in found.segments.items())]
    for binned, rows_themselves in parts:
        assert binned.scores.grid is not None
        for name in LOSSES:
            own, known = binned[name], rows_themselves[name]
            assert own.value == pytest.approx(known.value, rel=1e-6), name
            width = known.high - known.low
            assert (own.low, own.high) == pytest.approx((known.low, known.high), abs=0.01 * width), name
            assert own.baseline == pytest.approx(known.baseline, rel=1e-9), name


@pytest.mark.parametrize("digits", [2, 3])
def test_losses_of_rounded_probabilities_are_exact_after_a_correction(tmp_path, monkeypatch, digits):
    monkeypatch.setattr(streaming, "_MANY", 100)
    frame = patients().with_columns(pl.col("p").round(digits))
    question = {"truth": "y", "score": "p", "prior": 0.05, "training_prior": 0.5}
    found, exact = evaluate(written(frame, tmp_path, "parquet"), **question, exact=False), evaluate(frame, **question)
    for name in LOSSES:
        assert found[name].value == pytest.approx(exact[name].value, rel=1e-12), name


def test_a_certain_miss_is_infinitely_surprising_also_after_a_correction():
    frame = patients()
    frame = frame.with_columns(p=pl.when(pl.int_range(pl.len()) == frame["y"].arg_max()).then(0.0).otherwise("p"))
    counted = count_rows(frame, truth="y", score="p")
    binned = replace(counted, tallies={"scores": counted.scores.binned()})
    found, exact = (evaluate(one, prior=0.05, training_prior=0.5) for one in (binned, counted))
    assert found["log_loss"].value == exact["log_loss"].value == math.inf
    assert found["brier_score"].value == pytest.approx(exact["brier_score"].value, rel=1e-6)


@pytest.mark.parametrize("minimum", [10, 60])
def test_losses_of_corrected_probabilities_in_wide_bins_lie_within_the_bounds_told(minimum):
    counted, there = count_rows(patients(), truth="y", score="p"), {"prior": 0.05, "training_prior": 0.5}
    found = evaluate(replace(counted, tallies={"scores": counted.scores.anonymise(minimum)}), **there)
    exact = evaluate(counted, **there)
    for name in LOSSES[:2]:
        own, known = found[name], exact[name]
        assert own.bounds[0] <= known.value <= own.bounds[1], name
        assert abs(own.value - known.value) < 0.25 * (own.bounds[1] - own.bounds[0]), name
        assert own.low <= known.low, name
        assert own.high >= known.high, name
        low, high = _furthest(found.scores, name, 0.05 / 0.5, 0.95 / 0.5)
        assert own.bounds == pytest.approx((low, high), rel=1e-9), name


def _furthest(table, name, up, down):
    """The least and the most a loss can be if every row of a bin has the score that suits it best, or worst."""
    low, _, high = table.inside_bins
    counts, ends = table.as_columns().counts(), []
    for scores in (low, high):
        moved = up * scores / (up * scores + down * (1 - scores))
        squares = (counts * [(1 - moved) ** 2, moved**2]).sum(1)
        logs = table.losses[1] + (
            counts * np.log([(up * scores + down * (1 - scores)) / one for one in (up, down)])
        ).sum(1)
        ends.append((squares if name == "brier_score" else logs) / counts.sum(1))
    return [float([0.05, 0.95] @ choose(*ends)) for choose in (np.minimum, np.maximum)]


def test_bins_that_were_merged_keep_no_values_and_say_so():
    counted = count_rows(patients(), truth="y", score="p")
    wide = replace(counted, tallies={"scores": counted.scores.anonymise(10)})
    found = evaluate(wide)
    for name in VALUES:
        assert found[name].reason == "the scores were counted in wide bins, which do not keep their values", name
    with pytest.raises(InputError, match="the scores were counted in wide bins, which do not keep their values"):
        _ = found.calibration


def test_differences_of_corrected_losses_are_as_wide_as_those_of_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("stakes.evaluation.shared_models.MOST_EXACT", 1_000)
    frame = rows().with_columns(other=(pl.col("p") + pl.col("logit").abs() / 10).clip(0.001, 0.999))
    frame = frame.with_columns(pl.col("p").clip(0.001, 0.999))
    question = {"truth": "y", "scores": ["p", "other"], "prior": 0.1, "training_prior": 0.3, "metric": "log_loss"}
    known, found = (compare(data, **question).pairs[0] for data in (frame, written(frame, tmp_path, "parquet")))
    assert found.difference == pytest.approx(known.difference, rel=1e-4)
    assert found.high - found.low == pytest.approx(known.high - known.low, rel=0.01)
