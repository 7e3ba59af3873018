"""Probabilities of several classes: one body for rows in memory, files in batches and every engine."""

import functools
import importlib
import itertools
import math
import re

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from sklearn.metrics import confusion_matrix, log_loss, roc_auc_score, top_k_accuracy_score

import stakes
from stakes.decisions.recalibration.scaling import VectorCalibrator
from stakes.engines import streaming
from stakes.engines.classes import queries as class_queries
from stakes.engines.classes.batches import ClassBatch, ClassStream, EvenSample
from stakes.engines.classes.maps import map_classes
from stakes.engines.reading import RowQuestion
from stakes.errors import InputError, InputWarning
from stakes.evaluation import recalibrating
from stakes.metrics.many import hand_till_bounds
from stakes.tallies.class_scores import ClassSample, pairs_in_order
from tests.engines.test_lazy import ELSEWHERE, QUICK_ENGINES, SPARK, dask_frame, maker

ROWS = 300
CLASSES = ("a", "b", "c")
SCORE = {"c": "p_c", "a": "p_a", "b": "p_b"}
COSTS = stakes.Costs([[0, 1, 5], [3, 0, 1], [2, 2, 0]], classes=list(CLASSES))


@functools.cache
def rows() -> pl.DataFrame:
    """Probabilities in 64ths, among them ties; weights are whole eighths, so that their sums are exact in any order."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, ROWS)
    first = rng.integers(1, 40, ROWS) + 12 * (truth == 0)
    second = np.minimum(rng.integers(1, 40, ROWS) + 12 * (truth == 1), 63 - first).clip(1)
    said = np.stack([first, second, 64 - first - second]) / 64
    return pl.DataFrame(
        {"y": np.array(CLASSES)[truth], **{f"p_{name}": column for name, column in zip(CLASSES, said, strict=True)},
         "said": rng.choice(CLASSES, ROWS), "w": rng.integers(0, 24, ROWS) / 8, "site": rng.choice(["n", "s"], ROWS)}
    )  # fmt: skip


def file(kind):
    def written(frame, folder):
        path = folder / f"rows.{kind}"
        getattr(frame, f"write_{kind}")(path)
        return path

    return written


@pytest.fixture(autouse=True)
def _few_rows_are_many(monkeypatch):
    monkeypatch.setattr(streaming, "MOST_EXACT", 100)
    monkeypatch.setattr(streaming, "_MANY", 100)
    monkeypatch.setattr(streaming, "BATCH", 70)
    monkeypatch.setattr(class_queries, "FEW_ROWS", 5)
    with importlib.import_module("dask").config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def elsewhere(request):
    """How a table is handed over to an engine."""
    return maker(request)


@pytest.fixture(params=["parquet", "lazy polars"])
def quick(request, tmp_path):
    """The same, where it is quick."""
    return functools.partial(file("parquet"), folder=tmp_path) if request.param == "parquet" else maker(request)


QUESTIONS = {
    "plain": {},
    "weights and segments": {"weight": "w", "by": "site"},
    "segments": {"by": ["site", "said"]},
    "decisions": {"prediction": "said"},
    "costs": {
        "costs": COSTS,
        "prior": {"a": 0.5, "b": 0.25, "c": 0.25},
        "training_prior": {"a": 0.2, "b": 0.4, "c": 0.4},
    },
    "another order": {"classes": ["c", "b", "a"], "where": "w > 0.5"},
}


def ask(table, question, **more):
    return stakes.evaluate(table, truth="y", score=SCORE, **QUESTIONS[question], **more)


@functools.cache
def expected(question):
    """The answer of rows in memory."""
    return ask(rows(), question)


def same(found, wanted):
    """Counts are equal, sums within 1e-12, areas between their bounds."""
    assert found.confusion == wanted.confusion
    assert found.counted.decided_by == wanted.counted.decided_by
    one, other = found.scores, wanted.scores
    assert (one.classes, one.sizes.tolist(), one.ranks.tolist()) == (
        other.classes,
        other.sizes.tolist(),
        other.ranks.tolist(),
    )
    for loss in ("surprise", "squares", "squared_weight"):
        assert getattr(one, loss) == pytest.approx(getattr(other, loss), rel=1e-12, nan_ok=True)
    for table, exact in zip(one.tables, other.tables, strict=True):
        binned = exact if table.grid is None else exact.binned(table.grid.kind)
        assert table == binned
        if table.grid is not None:
            assert (table.losses is None) == (binned.losses is None)
            assert table.losses is None or table.losses == pytest.approx(binned.losses, rel=1e-12)
            low, high = stakes.metrics.auc_bounds(table)
            assert low <= float(stakes.metrics.find("auc").of(exact)) <= high
    if other.pair_wins is not None:
        low, high = hand_till_bounds(one)
        assert low <= float(stakes.metrics.find("hand_till_auc").of(other)) <= high
    assert found.segments.keys() == wanted.segments.keys()
    for name, part in wanted.segments.items():
        same(found.segments[name], part)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::stakes.errors.InputWarning")
@pytest.mark.parametrize("exact", [None, False])
def test_files_count_as_memory_does(tmp_path, exact):
    kinds = ("parquet", "csv") if exact is None else ("csv", "parquet")  # each with every question, once
    for kind, question in zip(itertools.cycle(kinds), QUESTIONS, strict=False):
        same(ask(file(kind)(rows(), tmp_path), question, exact=exact), expected(question))


def engines():
    """Every engine, with scores one by one and in bins; what takes long, and walks the way of others, is deep."""
    for engine, exact in itertools.product([*ELSEWHERE, "spark"], (None, False)):
        marks = [*SPARK.marks] if engine == "spark" else []
        deep = engine == "dask" or (engine, exact) == ("spark", None)
        yield pytest.param(engine, exact, marks=[*marks, *([pytest.mark.deep] if deep else [])])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::stakes.errors.InputWarning")
@pytest.mark.parametrize(("elsewhere", "exact"), list(engines()), indirect=["elsewhere"])
@pytest.mark.each_choice
def test_every_engine_counts_as_memory_does(elsewhere, exact, request):
    table = elsewhere(rows())
    engine = request.node.callspec.id.partition("-")[0]
    few = {"spark": ["plain"]}.get(engine, ["weights and segments"] if exact is None else ["costs"])
    for question in QUESTIONS if (engine, exact) == ("lazy polars", None) else few:
        same(ask(table, question, exact=exact), expected(question))


def test_the_figures_are_those_of_scikit_learn(quick):
    frame = rows()
    found = ask(quick(frame), "plain", exact=False)
    said, truth = frame.select("p_a", "p_b", "p_c").to_numpy(), frame["y"].to_numpy()
    assert found["multiclass_log_loss"].value == pytest.approx(log_loss(truth, said), rel=1e-12)
    assert found["top_k_accuracy"].value == pytest.approx(top_k_accuracy_score(truth, said, k=2), abs=0.02)  # ties
    assert found["macro_auc"].value == pytest.approx(roc_auc_score(truth, said, multi_class="ovr"), abs=1e-12)
    assert found["hand_till_auc"].value == pytest.approx(roc_auc_score(truth, said, multi_class="ovo"), abs=1e-12)
    decided = np.array(CLASSES)[said.argmax(axis=1)]
    assert found.confusion.counts.tolist() == confusion_matrix(truth, decided, labels=CLASSES).tolist()


def test_bins_of_pairs_are_those_of_every_pair():
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 4, (3, 3, 6))
    wins, ties = pairs_in_order(counts)
    for i, j in itertools.permutations(range(3), 2):
        mine, others = (np.repeat(np.arange(6), counts[i, place]) for place in (i, j))
        assert ties[i, j] == (mine[:, None] == others).sum()
        assert wins[i, j] == 2 * (mine[:, None] > others).sum() + ties[i, j]


@pytest.mark.filterwarnings("ignore:the probabilities of 600 rows")
def test_hundreds_of_classes_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "BATCH", 60_000)
    rng = np.random.default_rng(2)
    said = rng.integers(1, 9, (600, 300)) / 8
    names = [f"k{i:03}" for i in range(300)]
    frame = pl.DataFrame({"y": [names[i % 300] for i in range(600)], **dict(zip(names, said.T, strict=True))})
    counted = stakes.count(file("parquet")(frame, tmp_path), truth="y", score={name: name for name in names})
    found = counted.tallies["class_scores"]
    own = said[np.arange(600), np.arange(600) % 300]
    order = np.arange(300) < (np.arange(600) % 300)[:, None]
    ranks = ((said > own[:, None]) | ((said == own[:, None]) & order)).sum(axis=1)
    assert found.ranks.tolist() == np.bincount(ranks, minlength=300).tolist()
    first, second = said[:, 7][7::300], said[:, 7][299::300]  # by the score of k007, its rows and those of k299
    pairs = np.sign(first[:, None] - second) + 1
    assert found.pair_wins[found.classes.index("k007"), found.classes.index("k299")] == pairs.sum()


# ── intervals ────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.filterwarnings("ignore::stakes.errors.InputWarning")
@pytest.mark.parametrize("question", ["plain", "weights and segments"])
def test_intervals_come_from_a_sample_or_from_sums(tmp_path, question):
    wanted = expected(question)
    streamed = ask(file("parquet")(rows(), tmp_path), question)
    summed = ask(rows().lazy(), question)
    for name in ("multiclass_log_loss", "normalised_multiclass_brier_score", "multiclass_brier_score"):
        for found, near in ((streamed, 1e-9), (summed, 0.02)):
            here, there = found[name], wanted[name]
            assert (here.low, here.high) == pytest.approx((there.low, there.high), rel=near)
    for name in ("macro_auc", "weighted_auc"):
        here, there = summed[name], wanted[name]
        assert here.low <= there.low < there.high <= here.high  # classes may share their mistakes
        assert streamed[name].high == pytest.approx(there.high, rel=1e-3)


def test_a_sample_is_even_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("stakes.engines.classes.batches.SAMPLE", 40)
    found = ask(file("parquet")(rows(), tmp_path), "plain")
    sample = found.scores.sample
    assert len(sample.truth) == 40
    assert sample.weight.tolist() == [ROWS / 40] * 40
    assert "from a sample of 40 rows" in found["macro_auc"].method


def test_every_row_has_the_same_chance_to_be_in_the_sample(monkeypatch):
    """Whatever batch and segment it lies in; of a segment as many rows stay as may, or all that there are."""
    monkeypatch.setattr("stakes.engines.classes.batches.SAMPLE", 50)
    sizes, kept = (700, 10, 290, 1_000), np.zeros((2, 2_000), int)
    segment = (np.arange(2_000) % 20 > 0).astype(np.int64)  # a hundred rows of the first
    for seed in range(300):
        whole, parts, start = EvenSample(), EvenSample(), 0
        whole._generator, parts._generator = map(np.random.default_rng, (seed, 1_000 + seed))
        for size in sizes:
            numbers, zeros = np.arange(start, start + size), np.zeros(size, np.int64)
            batch = ClassBatch(numbers[None].astype(float), zeros, zeros, None, numbers)
            whole.add(batch, zeros, 1)
            parts.add(batch, segment[numbers], 2)
            start += size
        found = [whole.of(0), parts.of(0), parts.of(1)]
        assert [len(one.truth) for one in found] == [50, 50, 50]
        assert [one.weight.sum() for one in found] == pytest.approx([2_000, 100, 1_900])
        kept[0, found[0].scores[:, 0].astype(int)] += 1
        kept[1, np.concatenate([one.scores[:, 0].astype(int) for one in found[1:]])] += 1
    for chance, times in (
        (50 / 2_000, kept[0]),
        (50 / 100, kept[1, segment == 0]),
        (50 / 1_900, kept[1, segment == 1]),
    ):
        squares = ((times - 300 * chance) ** 2).sum() / (300 * chance * (1 - chance))
        assert abs(squares - len(times)) < 5 * np.sqrt(2 * len(times))


# ── what leaves its engine ───────────────────────────────────────────────────────────────────────────────────────
def test_no_row_leaves_its_engine(monkeypatch):
    seen, collect = [], nw.LazyFrame.collect
    monkeypatch.setattr(
        nw.LazyFrame, "collect", lambda *given, **options: seen.append(collect(*given, **options)) or seen[-1]
    )
    ask(rows().lazy(), "plain", exact=False)
    first, truths, groups, *tables = (len(table) for table in seen)
    assert (first, truths) == (1, 3)
    kinds = rows().select("y", "p_a", "p_b", "p_c").unique()
    assert groups <= 3 * 3 * 3 < len(kinds)
    assert tables == [*(len(rows().unique(["y", f"p_{n}"])) for n in CLASSES), 1]


@pytest.mark.parametrize("k", [5, 10, 33])
def test_more_classes_have_wider_bins_and_bounds_that_hold(k, tmp_path):
    rng, n = np.random.default_rng(k), 2_000 if k < 32 else 400
    truth = rng.permutation(np.arange(n) % k)
    shares = np.exp(rng.normal(size=(n, k)) + 2 * np.eye(k)[truth])
    shares /= shares.sum(1, keepdims=True)
    table = pl.DataFrame({"y": truth, **{f"p{c}": shares[:, c] for c in range(k)}})
    asked = {"truth": "y", "score": {str(c): f"p{c}" for c in range(k)}, "exact": False}
    wanted = stakes.evaluate(table, **{**asked, "exact": None}).scores
    exact = roc_auc_score(truth, shares, multi_class="ovo")
    for where in (file("parquet")(table, tmp_path), table.lazy()):
        found = stakes.evaluate(where, **asked).scores
        for one, other in zip(found.tables, wanted.tables, strict=True):
            assert one.grid.bits == (15 if k > 32 else 16 - (k - 1).bit_length())
            assert one.as_columns() == other._on(one.grid).as_columns()
        low, high = hand_till_bounds(found)
        assert low - 1e-12 <= exact <= high + 1e-12
        assert high - low < (2e-3 if k > 32 else 2e-4)


def unlike(n=2_500):
    """Rows that all differ, some of them alike in truth and site."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, n)
    said = np.exp(rng.normal(size=(n, 3)) + np.eye(3)[truth])
    said /= said.sum(1, keepdims=True)
    own = {f"p_{name}": said[:, place] for place, name in enumerate(CLASSES)}
    return pl.DataFrame({"y": np.array(CLASSES)[truth], **own, "w": rng.integers(1, 9, n) / 4,
                         "site": rng.choice(["n", "s"], n, p=[0.7, 0.3])})  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("elsewhere", QUICK_ENGINES, indirect=True)
@pytest.mark.parametrize("asked", [{"by": "site"}, {"weight": "w"}], ids=str)
@pytest.mark.each_choice
def test_figures_that_compare_rows_are_as_sure_as_in_memory(elsewhere, asked, monkeypatch):
    """Also the Hand–Till AUC, though no row leaves its engine: random groups of rows tell how they vary."""
    frame, seen, collect = unlike(), [], nw.LazyFrame.collect
    here = stakes.evaluate(frame, truth="y", score=SCORE, **asked)
    table = elsewhere(frame)
    monkeypatch.setattr(
        nw.LazyFrame, "collect", lambda *given, **options: seen.append(collect(*given, **options)) or seen[-1]
    )
    there = stakes.evaluate(table, truth="y", score=SCORE, exact=False, **asked)
    brought = {number for one in seen for column in one.iter_columns() for number in column.to_list()}
    assert len(brought & {*frame["p_a"].to_list()}) < 5  # bins, and no scores
    figures = ["macro_auc", "weighted_auc", "macro_average_precision", "macro_log_loss", "top_k_accuracy"]
    for one, other in ((here, there), *((here.segments[name], there.segments[name]) for name in here.segments)):
        for name in [*figures, "hand_till_auc"]:
            known, found = one.interval(name), other.interval(name)
            assert (found.high - found.low) / (known.high - known.low) == pytest.approx(1, abs=0.2), name
            by_groups = ", from random groups of rows" if "auc" in name or "average" in name else ""
            assert found.method.endswith(by_groups)


def test_rows_that_are_alike_make_no_groups():
    """They would stay together, and tell of a spread that is not there."""
    frame = pl.concat([unlike(100)] * 20)
    here, there = (stakes.evaluate(one, truth="y", score=SCORE, exact=False) for one in (frame, frame.lazy()))
    assert there.scores.row_groups is None
    assert there.interval("macro_auc").method.endswith("as if all classes erred together")
    assert there.interval("hand_till_auc").low is None is not here.interval("hand_till_auc").low


def test_the_calibration_of_clusters_is_that_of_rows(quick):
    question = {"truth": "y", "score": SCORE, "cluster": "patient"}
    found, exact = (stakes.evaluate(one, **question).calibration for one in (quick(patients()), patients()))
    assert found.test.p_value == pytest.approx(exact.test.p_value, rel=0.05)
    for name in "abc":
        own, known = found[name], exact[name]
        width = known.slope.high - known.slope.low
        assert own.sampling.clusters.grid is not None
        assert (own.slope.low, own.slope.high) == pytest.approx((known.slope.low, known.slope.high), abs=0.05 * width)
        own, known = own.reliability(4).bins, known.reliability(4).bins
        assert own.frequency == pytest.approx(known.frequency, abs=1e-9)
        assert own.high - own.low == pytest.approx(known.high - known.low, rel=0.1)


RECALIBRATED = {"rows": {}, "weights": {"weight": "w"}, "clusters": {"weight": "w", "cluster": "patient"}}


@functools.cache
def recalibrated(name, method):
    return stakes.calibrate(patients(), truth="y", score=SCORE, method=method, **RECALIBRATED[name])


@functools.cache
def patients():
    return rows().with_columns(patient=pl.Series([f"p{i % 37}" for i in range(ROWS)]))


@pytest.mark.slow
@pytest.mark.parametrize("elsewhere", QUICK_ENGINES, indirect=True)
@pytest.mark.spread(1)
def test_every_engine_recalibrates_as_memory_does(elsewhere, tmp_path, request, monkeypatch):
    """Maps are those of rows to rounding, losses but for another deal of the folds; no row leaves its engine."""
    asked, slow = {"truth": "y", "score": SCORE}, "polars" not in request.node.callspec.id
    cases = (
        [("clusters", "vector")] if slow else [("rows", "temperature"), ("weights", "affine"), ("clusters", "vector")]
    )
    known = {case: recalibrated(*case) for case in cases}
    seen, collect = [], nw.LazyFrame.collect
    monkeypatch.setattr(
        nw.LazyFrame, "collect", lambda *given, **options: seen.append(collect(*given, **options)) or seen[-1]
    )
    monkeypatch.setattr(recalibrating, "FEW_ROWS", 5)
    monkeypatch.setattr(recalibrating, "read_and_count", None)
    said = rows().select("p_a", "p_b", "p_c").to_numpy()
    table, written = elsewhere(patients()), file("parquet")(patients(), tmp_path)
    for (name, method), wanted in known.items():
        for data in (table, written) if (name, slow) == ("clusters", False) else (table,):
            found = stakes.calibrate(data, **asked, method=method, **RECALIBRATED[name])
            assert (found.rows, found.method, found.calibrator.classes) == (wanted.rows, method, list(CLASSES))
            assert found.calibrator.transform(said) == pytest.approx(wanted.calibrator.transform(said), abs=1e-8)
            assert found.calibrator.rows_ == pytest.approx(wanted.calibrator.rows_, rel=1e-12)
            assert found.losses_before == pytest.approx(wanted.losses_before, rel=1e-12)
            one, other = wanted.changes[method], found.changes[method]
            assert other.value == pytest.approx(one.value, abs=0.25 * (one.high - one.low))
            assert (other.high - other.low) / (one.high - one.low) == pytest.approx(1, abs=0.2)
    assert not [one.shape for one in seen if {"s0", "s1"} <= {*one.columns} and len(one) > 1]


def test_leaving_out_a_fold_is_fitting_without_it(monkeypatch):
    """The maps without each fold, by which rows are judged, are a step from the fit to all rows: nearly exact."""
    monkeypatch.setattr(class_queries, "FEW_ROWS", 5)
    question = RowQuestion(truth="y", score=SCORE, cluster="patient", weight="w")
    frame = patients()
    with map_classes(frame.lazy(), question, 3, 0) as found:
        _, maps = VectorCalibrator.fit_elsewhere(found, float(frame["w"].sum()))
    names = sorted(set(frame.filter(pl.col("w") > 0)["patient"]))
    for fold, (scales, biases) in enumerate(maps):
        rest = frame.filter(~pl.col("patient").is_in([name for n, name in enumerate(names) if n % 3 == fold]))
        said = rest.select("p_a", "p_b", "p_c").to_numpy()
        known = VectorCalibrator(classes=list(CLASSES)).fit(said, rest["y"], rest["w"])
        assert scales == pytest.approx(known.scales_, rel=0.05, abs=0.05)
        assert biases == pytest.approx(known.biases_, abs=0.05)
        all_rows = recalibrated("clusters", "vector").calibrator
        assert np.abs(scales - known.scales_).max() < 0.5 * np.abs(all_rows.scales_ - known.scales_).max()


@pytest.mark.filterwarnings("ignore::stakes.errors.InputWarning")
@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"y": pl.lit("a")}, "truth is '.' in every row"),
        ({"p_a": pl.lit(0.25), "p_b": pl.lit(0.25), "p_c": pl.lit(0.5)}, None),
        ({f"p_{name}": pl.lit(1 / 3) for name in CLASSES}, "score is the same in every row"),
        (
            {"p_b": pl.when(pl.int_range(pl.len()) < 9).then(math.nan).otherwise("p_b")},
            "score of b is missing in 9 rows",
        ),
        ({"patient": pl.lit("one")}, "all rows belong to one cluster, which cannot be split into folds"),
    ],
)
def test_what_cannot_be_recalibrated_is_told_as_in_memory(changed, words, monkeypatch):
    monkeypatch.setattr(recalibrating, "FEW_ROWS", 5)
    frame, question = patients().with_columns(**changed), {"truth": "y", "score": SCORE, "cluster": "patient"}
    told = []
    for table in (frame, frame.lazy()):
        try:
            told.append(stakes.calibrate(table, **question, method="temperature").calibrator.temperature_)
        except InputError as problem:
            told.append(str(problem).partition(" (")[0])
    assert all(re.search(words, one) for one in told) if words else told[1] == pytest.approx(told[0])


@pytest.mark.slow
@pytest.mark.parametrize("elsewhere", QUICK_ENGINES, indirect=True)
@pytest.mark.spread(1)
def test_permutation_tests_shuffle_what_the_engine_counted(elsewhere, tmp_path, monkeypatch):
    """Null figures are those of shuffled rows: as many of them, around the same mean, and as wide."""
    truth = rows()["y"].sample(fraction=1, shuffle=True, seed=5)  # by chance: p-values are to be told apart
    frame = rows().with_columns(y=truth)
    table, written, asked = elsewhere(frame), file("parquet")(frame, tmp_path), {"truth": "y", "score": SCORE}
    asks = {"macro_auc": table, "multiclass_log_loss": table, "multiclass_brier_score": written, "mcc": written}
    asks |= {"hand_till_auc": table, "top_k_accuracy(k=1)": table, "top_k_accuracy(k=2)": written}
    known = {name: stakes.permutation_test(frame, **asked, metric=name, permutations=400) for name in asks}
    monkeypatch.setattr("stakes.validation.permutation.read_and_count", None)
    for name, wanted in known.items():
        found = stakes.permutation_test(asks[name], **asked, metric=name, permutations=400)
        assert found.value == pytest.approx(wanted.value, rel=1e-5)
        spread = float(wanted.null.std())
        assert found.null.mean() == pytest.approx(wanted.null.mean(), abs=0.25 * spread)
        assert found.null.std() / spread == pytest.approx(1, abs=0.15)
        assert found.p_value == pytest.approx(wanted.p_value, abs=0.1)


def test_few_rows_are_brought_as_they_are(monkeypatch):
    monkeypatch.setattr(class_queries, "FEW_ROWS", ROWS)
    found = ask(rows().lazy(), "plain")
    assert str(found.figures) == str(expected("plain").figures)


# ── bad input ────────────────────────────────────────────────────────────────────────────────────────────────────
def spoilt(column, value, at=(40, 200)):
    index = pl.int_range(pl.len())
    return rows().with_columns(pl.when(index.is_in(at)).then(pl.lit(value)).otherwise(pl.col(column)).alias(column))


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("p_b", None, "score of b is missing in 2 rows"),
        ("p_b", math.inf, "score of b is infinite in"),
        ("y", None, "truth is missing in 2 rows"),
        ("y", "d", "the class 'd'"),
        ("w", -1.0, "weight is negative in"),
        ("site", None, "by is missing in 2 rows"),
    ],
)
def test_what_is_wrong_is_told(quick, column, value, words):
    with pytest.raises(InputError, match=words):
        ask(quick(spoilt(column, value)), "weights and segments")


def test_the_first_wrong_row_is_told_with_its_place(tmp_path):
    with pytest.raises(InputError, match=r"score of b is infinite in 1 row \(the first is in .*rows\.parquet, row 201"):
        ask(file("parquet")(spoilt("p_b", math.inf, (200,)), tmp_path), "plain")
    with pytest.warns(InputWarning, match=r"of 2 rows do not add up to 1 .*row 41"):
        ask(file("parquet")(spoilt("p_b", 0.9999), tmp_path), "plain")


def test_probabilities_that_do_not_add_up_are_warned_of_or_refused(quick):
    table = quick(spoilt("p_b", 0.9999))
    with pytest.warns(InputWarning, match="the probabilities of 2 rows do not add up to 1"):
        found = ask(table, "plain")
    assert "multiclass_log_loss" in found.figures
    assert math.isnan(found["multiclass_log_loss"].value)
    with pytest.raises(InputError, match="the probabilities of 2 rows do not add up to 1"):
        ask(table, "costs")


def test_probabilities_of_three_decimals_add_up_in_whatever_order(quick):
    """0.999 and 1.001 are a thousandth away from 1, give or take the rounding of sums."""
    sums = [np.array([i, j, total - i - j]) / 1000 for total in (999, 1001) for i in range(1, 90, 7) for j in (33, 467)]
    table = pl.DataFrame(np.array(sums), ["p_a", "p_b", "p_c"]).with_columns(y=pl.Series([*"abc", *"aab"] * 10)[:52])
    for data in (table, quick(table)):
        assert ask(data, "costs", classes=list(CLASSES)).rows == len(sums)


def test_scores_that_are_no_probabilities_order_the_rows(quick):
    with pytest.warns(InputWarning, match=r"score lies outside \[0, 1\] in 2 of 300 rows"):
        found = ask(quick(spoilt("p_b", 1.5)), "plain")
    with pytest.warns(InputWarning, match=r"score lies outside \[0, 1\] in 2 of 300 rows"):
        wanted = ask(spoilt("p_b", 1.5), "plain")
    same(found, wanted)
    with pytest.raises(InputError, match="costs"):
        ask(quick(spoilt("p_b", 1.5)), "costs")


def test_rows_with_gaps_are_left_out_in_batches(tmp_path):
    found = ask(file("csv")(spoilt("p_b", None), tmp_path), "plain", missing="drop")
    assert (found.counted.dropped, found.counted.read) == (2, ROWS)
    same(found, ask(spoilt("p_b", None).drop_nulls(), "plain"))


def test_rows_with_gaps_are_left_out_in_an_engine(quick):
    found = ask(quick(spoilt("p_b", None)), "plain", missing="drop")
    assert (found.counted.dropped, found.counted.read) == (2, ROWS)
    same(found, ask(quick(spoilt("p_b", None).drop_nulls()), "plain"))


def test_labels_are_made_alike(quick):
    frame = rows().with_columns(pl.col("y").str.to_uppercase())
    same(ask(quick(frame), "plain", alike="case"), expected("plain"))


def test_bounds_are_told(tmp_path):
    notes = " ".join(ask(file("parquet")(rows(), tmp_path), "plain").notes)
    assert "the mean AUC of the classes against the rest lies between" in notes
    assert "The mean AUC of every two classes lies between" in notes


def test_counts_in_bins_travel(tmp_path):
    counted = stakes.count(file("parquet")(rows(), tmp_path), truth="y", score=SCORE)
    counted.save(tmp_path / "rows.tally", exact=True)
    found = stakes.evaluate(tmp_path / "rows.tally")
    wanted = ask(file("parquet")(rows(), tmp_path), "plain")
    for name in ("multiclass_log_loss", "hand_till_auc", "macro_auc"):
        assert found[name].value == wanted[name].value
    assert found["multiclass_log_loss"].high == pytest.approx(wanted["multiclass_log_loss"].high, rel=0.02)
    assert found.scores == counted.tallies["class_scores"]


def test_segments_against_the_rest_are_as_sure_as_in_memory_however_many_there_are(monkeypatch):
    """The rest of several segments has the random groups of all of their rows."""
    monkeypatch.setattr(class_queries, "FEW_ROWS", 5)
    rng, k, n = np.random.default_rng(9), 8, 4_000
    truth = rng.integers(0, k, n)
    said = np.exp(rng.normal(size=(n, k)) + np.eye(k)[truth])
    said /= said.sum(1, keepdims=True)
    columns = {f"p{c}": said[:, c] for c in range(k)}
    table = pl.DataFrame({"y": truth.astype(str), **columns, "site": rng.choice(list("nesw"), n)})
    asked = {"truth": "y", "score": {str(c): f"p{c}" for c in range(k)}, "by": "site"}
    here, there = (
        {one.name: one.difference_high - one.difference_low for one in by.by_segment("macro_auc").worst(4)}
        for by in (stakes.evaluate(where, **asked) for where in (table, table.lazy()))
    )
    for name in "nesw":
        assert there[name] == pytest.approx(here[name], rel=0.2)


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
def test_a_batch_may_have_fewer_rows_than_threads(rows):
    """The last batch of a file, say, or one of which nearly all rows were left out."""
    stream, whole = (ClassStream(CLASSES, None) for _ in range(2))
    scores = [np.arange(1.0, 12) / 20, np.full(11, 0.3), 0.7 - np.arange(1.0, 12) / 20]
    truth, numbers = np.arange(11) % 3, np.arange(11)
    for some in (slice(0, rows), slice(rows, 11)):
        batch = ClassBatch([column[some] for column in scores], truth[some], 0 * truth[some], None, numbers[some])
        stream.count(batch)
    best, ranks, *_ = whole.count(ClassBatch(scores, truth, 0 * truth, None, numbers))
    assert best.tolist() == np.argmax(scores, axis=0).tolist()
    one, other = (counted.result([""], ClassSample.of(np.stack(scores, axis=1), truth, None)).tally(None)
                  for counted in (stream, whole))  # fmt: skip
    assert one.ranks.tolist() == other.ranks.tolist() == np.bincount(ranks, minlength=3).tolist()
    assert one.surprise == pytest.approx(other.surprise, rel=1e-14)
    assert one.tables == other.tables


@pytest.mark.parametrize("lacking", [0, 2], ids=["the first class", "the last"])
@pytest.mark.parametrize("beside", [{}, {"cluster": "group"}], ids=["rows", "clusters"])
def test_a_segment_without_rows_of_a_class_is_as_sure_of_the_others(lacking, beside):
    rng = np.random.default_rng(0)
    truth, site = rng.integers(0, 3, 900), rng.integers(0, 2, 900)
    truth = np.where((site == 1) & (truth == lacking), 1, truth)
    scores = np.exp(rng.normal(size=(900, 3)) + np.eye(3)[truth])
    scores /= scores.sum(1, keepdims=True)
    columns = {f"of {name}": scores[:, place] for place, name in enumerate("abc")}
    rows = pl.DataFrame({"k": np.array([*"abc"])[truth], "site": site, "group": np.arange(900) % 150, **columns})
    asked = {"truth": "k", "score": {name: f"of {name}" for name in "abc"}, "by": "site", **beside}
    here, there = (stakes.evaluate(data, **asked).segments["1"] for data in (rows, rows.lazy()))
    for name in ("weighted_auc", "weighted_average_precision", "weighted_brier_score"):
        one, other = here[name], there[name]
        assert other.value == pytest.approx(one.value, rel=1e-12)
        assert (other.low, other.high) == pytest.approx((one.low, one.high), rel=0.006)
    assert there["macro_auc"].reason == here["macro_auc"].reason != ""
    assert there.to_json()


@pytest.mark.parametrize("beside", [{}, {"costs": COSTS}], ids=["by score", "by costs"])
def test_rows_of_partitions_that_are_numbered_alike_are_not_mixed_up(beside):
    """As in tables of files, where Dask joins columns by these numbers, which each partition has again."""
    asked, frame = {"truth": "y", "score": SCORE, **beside}, unlike(1200)
    known, found = (stakes.evaluate(data, **asked) for data in (frame, dask_frame(frame, 4)))
    assert np.array_equal(found.confusion.counts, known.confusion.counts)
    for name in ("multiclass_log_loss", "multiclass_brier_score", "top_k_accuracy"):
        assert found[name].value == pytest.approx(known[name].value, rel=1e-12)
