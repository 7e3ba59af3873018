"""Ranks: the tests behind them against SciPy and statsmodels, tables of either shape, and all ranks covered at once."""

import json

import duckdb
import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from scipy import stats

import stakes
from stakes.errors import InputError
from stakes.uncertainty.ranks import PairTests, mean_interval
from tests.bad_inputs.catalogue import run_command
from tests.engines.test_lazy import dask_frame
from tests.parts import is_older

pytestmark = pytest.mark.filterwarnings("ignore:there are only")
RNG = np.random.default_rng(3)
X = (RNG.random((60, 4)) < [0.4, 0.5, 0.55, 0.9]).astype(float)
PASSAGE = np.arange(60) // 5
NAMES = ["a", "b", "c", "d"]
WIDE = {"id": [f"q{i}" for i in range(60)], "passage": PASSAGE, **dict(zip(NAMES, X.T, strict=True))}
LONG = {
    "id": np.repeat(WIDE["id"], 4),
    "model": np.tile(NAMES, 60),
    "score": X.ravel(),
    "passage": np.repeat(PASSAGE, 4),
}


def brute_ranks(ranks):
    """The intervals of ranks by their definition, from the p-values of pairs."""
    p = {frozenset((one.first, one.second)): one for one in ranks.pairs()}
    order = sorted(p, key=lambda pair: p[pair].p_value)
    adjusted, least = {}, 0.0
    for place, pair in enumerate(order):
        least = max(least, min(1, (len(order) - place) * p[pair].p_value))
        adjusted[pair] = least
    means = {one.model: one.estimate.value for one in ranks.standings}
    found = {}
    for name in means:
        sure = [other for other in means if other != name and adjusted[frozenset((name, other))] <= 0.05]
        better = sum(means[other] > means[name] for other in sure)
        found[name] = (1 + better, len(means) - (len(sure) - better))
    return found


def test_pairs_are_those_of_a_paired_t_test():
    ranks = stakes.rank(WIDE, item="id", scores=NAMES)
    for pair in ranks.pairs():
        one, other = (WIDE[name] for name in (pair.first, pair.second))
        found = stats.ttest_rel(one, other)
        assert pair.p_value == pytest.approx(found.pvalue, rel=1e-9)
        limits = found.confidence_interval()
        assert (pair.low, pair.high) == pytest.approx((limits.low, limits.high), rel=1e-9)


def test_clusters_give_the_standard_error_of_statsmodels():
    tests = PairTests.of(stakes.rank(WIDE, item="id", scores=NAMES, cluster="passage").tally)
    for i, j in ((0, 1), (3, 2)):
        fit = sm.OLS(X[:, i] - X[:, j], np.ones(60)).fit(
            cov_type="cluster", cov_kwds={"groups": PASSAGE, "use_correction": False}
        )
        groups = 12
        assert tests.errors[i, j] == pytest.approx(fit.bse[0] * np.sqrt(groups / (groups - 1)), rel=1e-9)
        assert tests.degrees[i, j] == pytest.approx(groups - 1)


def test_ranks_follow_their_definition_and_groups_begin_where_somebody_is_worse():
    ranks = stakes.rank(WIDE, item="id", scores=NAMES)
    assert {one.model: (one.rank_low, one.rank_high) for one in ranks.standings} == brute_ranks(ranks)
    assert [one.model for one in ranks.standings] == ["d", "c", "b", "a"]
    assert ranks.best == ["d"]
    assert ranks.pair("c", "a").adjusted_p_value <= 0.05 < ranks.pair("c", "b").adjusted_p_value
    assert [one.group for one in ranks.standings] == [1, 2, 2, 3]


def test_who_is_shown_to_be_worse_is_not_among_the_best():
    """Six models far apart but the first two: Holm's last test is of those alone, and the best set's of five rivals."""
    noise = np.random.default_rng(0).normal(size=(40, 6))
    noise -= noise.mean(axis=0)
    gap = 2.2 * (noise[:, 0] - noise[:, 1]).std(ddof=1) / np.sqrt(40)  # a one-sided p-value of 0.017, above 0.05 / 5
    scores = noise - [0, gap, 30, 60, 90, 120]
    ranks = stakes.rank(scores=dict(zip("abcdef", scores.T, strict=True)))
    assert ranks.pair("a", "b").p_value == pytest.approx(stats.ttest_rel(scores[:, 0], scores[:, 1]).pvalue)
    assert 0.01 < ranks.pair("a", "b").p_value / 2 < 0.025
    assert [(one.rank_low, one.rank_high) for one in ranks.standings[:2]] == [(1, 1), (2, 2)]
    assert ranks.best == ["a"]
    assert "cannot be told from the best" not in ranks.findings[0].words[0]


def test_wide_long_and_any_order_are_the_same():
    wide = stakes.rank(WIDE, item="id", scores=NAMES, cluster="passage").to_rows()
    order = RNG.permutation(240)
    mixed = {name: np.asarray(column)[order] for name, column in LONG.items()}
    long = stakes.rank(mixed, item="id", model="model", score="score", cluster="passage").to_rows()
    assert [one["model"] for one in long] == [one["model"] for one in wide]
    for one, other in zip(long, wide, strict=True):
        assert {k: v for k, v in one.items() if k not in ("value", "low", "high")} == {
            k: v for k, v in other.items() if k not in ("value", "low", "high")
        }
        assert one["low"] == pytest.approx(other["low"], rel=1e-12)


def test_columns_can_be_arrays():
    named = stakes.rank(LONG, item="id", model="model", score="score")
    arrays = stakes.rank(item=LONG["id"], model=LONG["model"], score=LONG["score"])
    assert arrays.to_rows() == named.to_rows()
    assert stakes.rank(scores=X).items == 60


def test_scores_that_had_better_be_low_turn_everything_round():
    up = stakes.rank(WIDE, item="id", scores=NAMES)
    down = stakes.rank({**WIDE, **{n: 1 - WIDE[n] for n in NAMES}}, item="id", scores=NAMES, higher_is_better=False)
    kept = [(one.model, one.rank, one.rank_low, one.rank_high, one.group) for one in up.standings]
    assert [(one.model, one.rank, one.rank_low, one.rank_high, one.group) for one in down.standings] == kept
    assert down.pair("d", "a").difference == pytest.approx(-up.pair("d", "a").difference)


def test_parts_add_up_and_travel(tmp_path):
    frame = pl.DataFrame(WIDE)
    whole = stakes.rank(frame, item="id", scores=NAMES, cluster="passage")
    for place, rows in enumerate((slice(0, 25), slice(25, 60))):
        stakes.rank(frame[rows], item="id", scores=NAMES, cluster="passage").save(tmp_path / f"{place}.tally")
    both = stakes.rank([str(tmp_path / f"{place}.tally") for place in (0, 1)])
    for one, other in zip(both.to_rows(), whole.to_rows(), strict=True):
        assert one == {**other, "low": pytest.approx(other["low"]), "high": pytest.approx(other["high"])}
    assert both.items == 60


def test_a_cluster_in_two_parts_is_refused():
    parts = [
        stakes.rank({n: c[rows] for n, c in WIDE.items()}, item="id", scores=NAMES, cluster="passage").tally
        for rows in (slice(0, 28), slice(28, 60))
    ]
    with pytest.raises(InputError, match="1 cluster is in several parts") as caught:
        stakes.rank(parts)
    assert caught.value.code == "split-clusters"


def test_models_that_score_alike_differ_by_nothing():
    values = RNG.random(40) * 1e6
    for cluster in (None, np.arange(40) // 4):
        ranks = stakes.rank(scores={"a": values, "b": values.copy(), "c": values + 1}, cluster=cluster)
        same, above = ranks.pair("a", "b"), ranks.pair("c", "a")
        assert (same.difference, same.p_value) == (0, 1)
        assert above.difference == pytest.approx(1)
        assert above.p_value == pytest.approx(2.0 ** (1 - (40 if cluster is None else 10)))


def test_pairwise_compares_on_what_both_answered():
    gaps = X.copy()
    gaps[RNG.random(X.shape) < 0.2] = np.nan
    for cluster in (None, PASSAGE):
        tally = stakes.rank(scores=dict(zip(NAMES, gaps.T, strict=True)), cluster=cluster, missing="pairwise").tally
        tests = PairTests.of(tally)
        for i, j in ((0, 1), (2, 3)):
            both = ~np.isnan(gaps[:, i] + gaps[:, j])
            d = (gaps[:, i] - gaps[:, j])[both]
            groups = np.arange(both.sum()) if cluster is None else PASSAGE[both]
            sums = np.bincount(groups, d - d.mean())
            size = np.bincount(groups)
            G = np.count_nonzero(size)
            assert tests.gaps[i, j] == pytest.approx(d.mean())
            assert tests.errors[i, j] == pytest.approx(np.sqrt(G / (G - 1) * (sums**2).sum()) / len(d))
            assert tests.degrees[i, j] == pytest.approx(len(d) ** 2 / (size**2).sum() - 1)


def test_skipping_hard_items_does_not_help():
    hard = np.arange(200) % 2 == 0
    good = np.where(hard, 0.4, 0.9) + 0.05 * RNG.standard_normal(200)
    lazy = np.where(hard, np.nan, 0.8 + 0.05 * RNG.standard_normal(200))
    ranks = stakes.rank(scores={"lazy": lazy, "good": good}, missing="pairwise")
    assert [one.model for one in ranks.standings] == ["good", "lazy"]
    assert ranks.standings[1].estimate.value > ranks.standings[0].estimate.value  # by its own mean it would win
    assert any("may be easier" in words for found in ranks.findings for words in found.words)


def test_means_of_zeros_and_ones_have_the_interval_of_evaluate():
    ranks = stakes.rank(WIDE, item="id", scores=NAMES)
    judged = stakes.evaluate(truth=np.ones(60, int), prediction=X[:, 0].astype(int), classes=[0, 1], positive=1)
    own = next(one for one in ranks.standings if one.model == "a").estimate
    assert (own.low, own.high) == pytest.approx((judged["accuracy"].low, judged["accuracy"].high))


def test_means_of_losses_are_students():
    loss = RNG.lognormal(size=(50, 2))
    tally = stakes.rank(scores=dict(zip("ab", loss.T, strict=True)), higher_is_better=False).tally
    found = mean_interval(tally, 0, 0.9)
    assert (found.low, found.high) == pytest.approx(stats.ttest_1samp(loss[:, 0], 0).confidence_interval(0.9))


def test_repeats_are_averaged_and_tell_what_more_of_them_would_bring():
    item, model, run = (one.ravel() for one in np.meshgrid(range(300), range(2), range(4), indexing="ij"))
    ability = RNG.normal(0, 1, (300, 2))
    score = ability[item, model] + RNG.normal(0, 2, len(item))
    ranks = stakes.rank({"i": item, "m": model, "s": score, "r": run}, item="i", model="m", score="s", repeat="r")
    means = stakes.rank(scores={str(k): [score[(item == i) & (model == k)].mean() for i in range(300)] for k in (0, 1)})
    assert ranks.pair("0", "1").p_value == pytest.approx(means.pair("0", "1").p_value)
    found = ranks.repeats
    assert (found.per_item, found.within, found.between) == pytest.approx((4, 4, 1), rel=0.25)
    assert found.removable == pytest.approx(0.5, rel=0.2)
    assert found.best == 2


def test_tasks_that_weigh_the_same_vary_by_their_questions_only(tmp_path):
    """Welch's way with three samples: means of tasks, variances within them, Satterthwaite's degrees of freedom."""
    task = np.repeat(["x", "y", "z"], [8, 20, 40])
    scores = {name: RNG.random(68) + (task == "x") for name in "abc"}
    wide = {"task": task, "q": [f"q{i}" for i in range(68)], **scores}
    ranks = stakes.rank(wide, item="q", scores=list("abc"), task="task")
    apart = [(scores["a"] - scores["b"])[task == one] for one in "xyz"]
    variances = np.array([one.var(ddof=1) / len(one) for one in apart])
    error = np.sqrt(variances.sum()) / 3
    free = variances.sum() ** 2 / (variances**2 / [7, 19, 39]).sum()
    pair = ranks.pair("a", "b")
    assert pair.difference == pytest.approx(np.mean([one.mean() for one in apart]))
    assert pair.p_value == pytest.approx(2 * stats.t.sf(abs(pair.difference) / error, free))
    means = {name: np.mean([values[task == one].mean() for one in "xyz"]) for name, values in scores.items()}
    assert {one.model: one.estimate.value for one in ranks.standings} == pytest.approx(means)
    assert "each of which weighs the same" in " ".join(str(ranks).split())
    long = {"q": np.tile(np.arange(68), 3), "t": np.tile(task, 3), "m": np.repeat(list("abc"), 68),
            "s": np.concatenate(list(scores.values()))}  # fmt: skip
    other = stakes.rank(long, item="q", model="m", score="s", task="t")
    assert other.pair("a", "b").p_value == pytest.approx(pair.p_value)
    ranks.save(tmp_path / "a.tally")  # a task of 8 items stays one
    assert stakes.rank(tmp_path / "a.tally").pair("a", "b").p_value == pytest.approx(pair.p_value)


def test_the_mean_over_tasks_takes_each_task_as_one_item():
    sizes = [10, 20, 30, 40, 50, 60]
    task = np.repeat(np.arange(6), sizes)
    scores = {name: RNG.random(210) for name in "ab"}
    long = {
        "task": np.tile(task, 2),
        "question": np.tile(np.arange(210), 2),
        "model": np.repeat(["a", "b"], 210),
        "score": np.concatenate(list(scores.values())),
    }
    ranks = stakes.rank(long, item="task", repeat="question", model="model", score="score")
    means = {name: [values[task == one].mean() for one in range(6)] for name, values in scores.items()}
    assert ranks.pair("a", "b").difference == pytest.approx(np.mean(means["a"]) - np.mean(means["b"]))
    assert ranks.pair("a", "b").p_value == pytest.approx(stats.ttest_rel(means["a"], means["b"]).pvalue)


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("which-scores", {"item": "id"}),
        ("which-scores", {"item": "id", "scores": NAMES, "model": "passage"}),
        ("which-scores", {"model": "passage", "score": "a"}),
        ("one-model-to-rank", {"item": "id", "scores": ["a"]}),
        ("repeat-without-item", {"scores": NAMES, "repeat": "passage"}),
        ("doubled-answers", {"item": "passage", "scores": NAMES}),
        ("doubled-answers", {"item": "passage", "model": "b", "score": "a"}),
        ("item-in-two-clusters", {"item": "passage", "model": "id", "score": "a", "cluster": "b", "repeat": "c"}),
        ("missing-answers", {"item": "id", "model": "b", "score": "a"}),
        ("bad-missing", {"item": "id", "scores": NAMES, "missing": "drop"}),
        ("means-nothing-here", {"item": "id", "scores": NAMES, "truth": "a"}),
        ("few-items", {"scores": NAMES, "where": "passage = 0", "cluster": "passage"}),
        ("one-task", {"scores": NAMES, "task": np.zeros(60)}),
        ("task-of-one", {"scores": NAMES, "task": np.arange(60) // 59}),
        ("tasks-complete", {"scores": NAMES, "task": "passage", "missing": "pairwise"}),
        ("tasks-of-all-rows", {"scores": NAMES, "task": "passage", "where": "passage > 1"}),
        ("no-such-column", {"item": "id", "scores": ["a", "z"]}),
    ],
)
def test_wrong_questions_are_one_line(code, call):
    with pytest.raises(InputError) as caught:
        stakes.rank(WIDE, **call)
    assert caught.value.code == code
    assert "\n" not in str(caught.value)


def test_unknown_models_and_strange_tallies_are_refused():
    ranks = stakes.rank(WIDE, item="id", scores=NAMES)
    with pytest.raises(InputError, match="are not two of the models"):
        ranks.pair("a", "z")
    with pytest.raises(InputError, match="stakes rank"):
        stakes.evaluate(ranks.counted)
    with pytest.raises(InputError, match="holds no graded items"):
        stakes.rank(stakes.count(truth=[0, 1, 1], score=[0.1, 0.2, 0.3]))


def test_all_ranks_are_covered_where_chance_alone_makes_them():
    """The small form of what `make coverage` simulates: 200 boards of 8 equal models, 40 clustered items."""
    rng, missed = np.random.default_rng(11), 0
    for _ in range(200):
        item = rng.normal(size=(10, 1, 1)) + rng.normal(size=(10, 4, 1))
        score = (item + rng.normal(size=(10, 4, 8)) > 0).astype(float).reshape(40, 8)
        tally = stakes.tallies.GradedItems.from_items(
            list("abcdefgh"), score, np.arange(40) // 4, [*map(str, range(10))]
        )
        missed += bool(PairTests.of(tally).surely_better(0.95).any())
    assert missed <= 18  # 5 % of 200 and three standard errors


def test_the_command_tells_the_same_in_every_form(tmp_path, capsys):
    file = tmp_path / "s.csv"
    pl.DataFrame(WIDE).write_csv(file)
    words = ["rank", str(file), "--item", "id", "--score", "a", "--score", "b", "--score", "d"]
    code, out, _ = run_command([*words, "--json", "--tally", str(tmp_path / "t.tally")], capsys)
    told = json.loads(out)
    assert (code, told["best"], told["standings"][0]["model"]) == (0, ["d"], "d")
    assert json.loads(run_command(["rank", str(tmp_path / "t.tally"), "--json"], capsys)[1]) == told
    assert "cannot be told from the best" in run_command(words, capsys)[1]
    assert run_command([*words, "--lang", "es", "--quiet"], capsys)[1].startswith("«d» es mejor")
    assert run_command([*words, "--csv"], capsys)[1].startswith("rank,rank_low,rank_high,model")
    code, _, err = run_command(["rank", str(file), "--item", "id", "--score", "a"], capsys)
    assert code == 2
    assert "--score" in err


def test_a_comparison_of_several_models_has_the_same_ranks(capsys):
    truth = RNG.integers(0, 2, 300)
    said = {
        name: np.where(RNG.random(300) < right, truth, 1 - truth)
        for name, right in {"a": 0.7, "b": 0.72, "c": 0.9, "d": 0.6}.items()
    }
    compared = stakes.compare(truth=truth, predictions=said, metric=["accuracy", "f1"])
    for name in ("accuracy", "f1"):
        sure = [pair for pair in compared.pairs if pair.metric == name and pair.told_apart(0.95)]
        for one in (one for one in compared.ranks if one.metric == name):
            assert one.low == 1 + sum(pair.second == one.model for pair in sure)
            assert one.high == 4 - sum(pair.first == one.model for pair in sure)
    graded = stakes.rank(scores={name: (values == truth).astype(int) for name, values in said.items()})
    by_items = {one.model: (one.rank_low, one.rank_high) for one in graded.standings}
    assert {one.model: (one.low, one.high) for one in compared.ranks if one.metric == "accuracy"} == by_items
    stakes.compare(truth=truth, predictions=said).show()
    assert "ranks it may have" in capsys.readouterr().out


@pytest.fixture
def in_batches(monkeypatch):
    """Let small tables be added up batch by batch, as those larger than memory are."""
    monkeypatch.setattr("stakes.engines.items._MANY", 10)
    monkeypatch.setattr("stakes.engines.items._BATCH", 16)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_batches_add_up_to_the_whole(tmp_path, in_batches, ending):
    file, loss = tmp_path / f"s.{ending}", RNG.lognormal(size=60)
    frame = pl.DataFrame({**WIDE, "loss": loss, "other": loss + RNG.normal(size=60)})
    frame.write_csv(file) if ending == "csv" else frame.write_parquet(file)
    for scores in (NAMES, ["loss", "other"]):
        for more in ({}, {"where": "passage < 9"}):
            kept = frame.filter(pl.col("passage") < 9) if more else frame
            found, whole = (
                stakes.rank(file, item="id", scores=scores, **more),
                stakes.rank(kept, item="id", scores=scores),
            )
            assert [one.model for one in found.standings] == [one.model for one in whole.standings]
            assert np.allclose(found.tests.p_values, whole.tests.p_values, rtol=1e-9)
            assert [one.estimate.low for one in found.standings] == pytest.approx(
                [one.estimate.low for one in whole.standings]
            )


def test_batches_refuse_what_the_whole_does(tmp_path, in_batches):
    file = tmp_path / "s.parquet"
    frame = pl.DataFrame(WIDE)
    pl.concat([frame, frame[:2]]).write_parquet(file)
    with pytest.raises(InputError, match="2 items were scored more than once"):
        stakes.rank(file, item="id", scores=NAMES)
    frame.with_columns(a=pl.when(pl.col("passage") == 3).then(None).otherwise(pl.col("a"))).write_parquet(file)
    with pytest.raises(InputError, match="'a' has none in some items"):
        stakes.rank(file, item="id", scores=NAMES)
    assert not stakes.rank(file, item="id", scores=NAMES, missing="pairwise").complete
    with pytest.raises(InputError, match="no row satisfies"):
        stakes.rank(file, scores=NAMES, where="passage > 99")


LAZY = {
    "lazy polars": lambda frame, _: frame.lazy(),
    "duckdb": lambda frame, _: duckdb.sql("SELECT * FROM frame"),
    "dask": lambda frame, _: dask_frame(frame),
    "spark": lambda frame, session: session.createDataFrame(frame.to_pandas()).repartition(3),
}
ASKED = {
    "items": {},
    "clusters": {"cluster": "c", "item": "q"},
    "some": {"item": "q", "where": "a > 0.2"},
}


DOTTED = "z_z" if is_older("duckdb", "2.0") else "z.z"  # before 2.0 a relation takes the dot for that of a table


def graded_frame():
    rng = np.random.default_rng(1)
    return pl.DataFrame({
        "q": [f"q{place}" for place in range(240)], "c": [f"c{place // 8}" for place in range(240)],
        "a": rng.random(240), DOTTED: (rng.random(240) > 0.5) * 1, "same": (rng.random(240) > 0.5) * 1.0,
    }).with_columns(twin=pl.col("same"))  # fmt: skip


@pytest.fixture(params=["lazy polars", "duckdb", "dask", pytest.param("spark", marks=pytest.mark.spark)])
def lazily(request):
    session = request.getfixturevalue("spark") if request.param == "spark" else None
    return lambda frame: LAZY[request.param](frame, session)


@pytest.mark.filterwarnings("ignore:PySpark does not")
@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
@pytest.mark.spread(6)
def test_lazy_tables_are_ranked_where_they_lie(lazily, asked, monkeypatch):
    """Every sum of the tally is that of the rows, and no row is brought here."""
    frame, scores = graded_frame(), ["a", DOTTED, "same", "twin"]
    whole = stakes.rank(frame, scores=scores, **asked).tally
    monkeypatch.setattr("stakes.engines.items._count_wide", None)
    found = stakes.rank(lazily(frame), scores=scores, **asked).tally
    for name in whole.__dataclass_fields__:
        one, other = getattr(whole, name), getattr(found, name)
        if name == "seals" and one is not None:
            assert sorted(one.tolist()) == sorted(other.tolist())
        elif isinstance(one, np.ndarray):
            assert other == pytest.approx(one, rel=1e-9, abs=1e-12), name
        else:
            assert one == other, name
    assert found.gap_squares[2, 3] == 0  # twins differ nowhere


def test_what_is_wrong_in_a_lazy_table_is_told_as_usual():
    frame = graded_frame()
    wrong = {
        "scored more than once": frame.with_columns(q=pl.lit("q1")),
        "scores are missing": frame.with_columns(a=pl.when(pl.col("a") < 0.5).then(pl.col("a"))),
    }
    for words, table in wrong.items():
        with pytest.raises(stakes.InputError, match=words):
            stakes.rank(table.lazy(), item="q", scores=["a", "same"])
