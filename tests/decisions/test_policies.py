"""Ways to decide between several classes, compared on all rows wherever these lie."""

import itertools

import numpy as np
import polars as pl
import pytest

import stakes
from stakes.decisions.policies import ALWAYS, CHEAPEST, HIGHEST, RECALIBRATED
from stakes.engines import streaming
from stakes.engines.classes import queries as class_queries
from stakes.engines.lazy import queries
from stakes.errors import InputError
from stakes.evaluation import decided_rows
from tests.engines.test_lazy import QUICK_ENGINES, SPARK, _one_thread_for_dask, elsewhere  # noqa: F401

PRICES = np.array([[0, 2, 1, 0.6], [4, 0, 3, 0.7], [10, 7, 0, 0.8]])
COSTS = stakes.Costs(PRICES.tolist(), [*"abc"], [*"abc", "ask"])
SCORE = {name: f"of {name}" for name in "abc"}


def rows(count, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, count, p=[0.6, 0.3, 0.1])
    shares = rng.dirichlet([2, 1, 1], count) + 0.8 * np.eye(3)[truth]
    shares /= shares.sum(1, keepdims=True)
    columns = {"y": np.array([*"abc"])[truth], **{f"of {name}": shares[:, i] for i, name in enumerate("abc")}}
    return pl.DataFrame({**columns, "w": rng.integers(1, 5, count), "group": rng.integers(0, count // 8, count)})


def paid(frame, decide, weight=None):
    """What a rule costs per case, row by row."""
    shares = frame.select("of a", "of b", "of c").to_numpy()
    truth = np.searchsorted([*"abc"], frame["y"].to_numpy())
    return np.average(PRICES[truth, decide(shares)], weights=weight)


RULES = {
    HIGHEST: lambda shares: shares.argmax(1),
    CHEAPEST: lambda shares: (shares @ PRICES).argmin(1),
    **{f"always {name}": lambda shares, d=d: np.full(len(shares), d) for d, name in enumerate([*"abc", "ask"])},
}


def ends(found):
    """Values and limits; of deciding the same for everybody at a known prior there are none."""
    own = {name: (one.value, one.low, one.high) for name, one in found.items() if name != RECALIBRATED}
    return {name: tuple(end for end in one if end is not None) for name, one in own.items()}


@pytest.fixture
def few_kept(monkeypatch):
    monkeypatch.setattr("stakes.tallies.class_scores.SAMPLE", 2_000)
    monkeypatch.setattr("stakes.engines.classes.batches.SAMPLE", 2_000)


@pytest.mark.usefixtures("few_kept")
@pytest.mark.parametrize("weight", [None, "w"])
def test_every_row_in_memory_counts(weight):
    """Of more rows than are kept with their scores; recalibration alone is known from a sample."""
    frame = rows(3_000)
    found = stakes.decide(frame, truth="y", score=SCORE, costs=COSTS, weight=weight)
    weights = None if weight is None else frame[weight].to_numpy()
    for name, rule in RULES.items():
        assert found.estimates[name].value == pytest.approx(paid(frame, rule, weights), rel=1e-12)
        assert found.estimates[name].low < paid(frame, rule, weights) < found.estimates[name].high
    assert found.sampled == (RECALIBRATED,)
    assert "decided.sampled_recalibration" in [one.key for one in found.findings]
    saved = found.estimates[CHEAPEST].value - found.estimates[RECALIBRATED].value
    assert found.recalibration.value == pytest.approx(saved, rel=1e-9)


@pytest.mark.usefixtures("few_kept")
def test_the_sample_stands_for_the_rows_that_were_counted():
    """An evaluation knows its own table and how many rows of each class there are, and the sample agrees with them."""
    frame = rows(3_000)
    for own, given in ((CHEAPEST, {"costs": COSTS}), (HIGHEST, {})):
        found = stakes.evaluate(frame, truth="y", score=SCORE, **given).decide(COSTS)
        exact = [name for name in RULES if name == own or name.startswith("always")]
        for name in exact:
            assert found.estimates[name].value == pytest.approx(paid(frame, RULES[name]), rel=1e-12)
        for name, saving in found.savings.items():
            difference = found.estimates[name].value - found.estimates[found.best].value
            assert saving.value == pytest.approx(difference, rel=1e-9)
        assert {HIGHEST, CHEAPEST} - {own} < set(found.sampled)


@pytest.fixture
def counted_there(monkeypatch):
    monkeypatch.setattr(class_queries, "FEW_ROWS", 5)


QUESTIONS = [
    {},
    {"weight": "w"},
    {"cluster": "group"},
    {"prior": {"a": 0.2, "b": 0.3, "c": 0.5}, "training_prior": "rows"},
    {"where": "w > 1"},
]


ALL_AT_ONCE = dict(item for one in QUESTIONS for item in one.items())


def engines():
    """All questions at once in the quick engines, one of them in Spark, which takes seconds; others are deep."""
    for engine, asked in itertools.product((*QUICK_ENGINES[:-1], SPARK), (ALL_AT_ONCE, *QUESTIONS)):
        sooner = asked == ({"cluster": "group"} if engine is SPARK else ALL_AT_ONCE)
        marks = [*engine.marks, *([] if sooner else [pytest.mark.deep])]
        yield pytest.param(*engine.values, asked, marks=marks, id=f"{engine.values[0]}-{asked}")


@pytest.mark.usefixtures("counted_there")
@pytest.mark.parametrize(("elsewhere", "asked"), list(engines()), indirect=["elsewhere"])
def test_an_engine_compares_them_as_memory_does(elsewhere, asked):  # noqa: F811
    frame = rows(400)
    here, there = (
        stakes.decide(data, truth="y", score=SCORE, costs=COSTS, **asked) for data in (frame, elsewhere(frame))
    )
    costs = ends(here.estimates)
    assert ends(there.estimates) == {name: pytest.approx(one, rel=1e-9) for name, one in costs.items()}
    assert there.recalibrations == {}
    assert "decided.not_recalibrated" in [one.key for one in there.findings]
    if here.best == there.best:
        assert ends(there.savings) == {name: pytest.approx(one, rel=1e-9) for name, one in ends(here.savings).items()}
        assert ends(there.right) == {name: pytest.approx(one, rel=1e-9) for name, one in ends(here.right).items()}
        np.testing.assert_allclose(np.array(there.table.counts, float), np.array(here.table.counts, float))


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("asked", QUESTIONS[:3], ids=str)
@pytest.mark.each_choice
def test_files_in_batches(kind, asked, tmp_path, monkeypatch):
    frame = rows(400)
    getattr(frame, f"write_{kind}")(tmp_path / f"rows.{kind}")
    here = stakes.decide(frame, truth="y", score=SCORE, costs=COSTS, **asked)
    for module in (streaming, "stakes.evaluation.decided_rows"):
        place = module if isinstance(module, str) else module.__name__
        monkeypatch.setattr(f"{place}.MOST_EXACT", 10)
    there = stakes.decide(tmp_path / f"rows.{kind}", truth="y", score=SCORE, costs=COSTS, **asked)
    expected = {name: pytest.approx(one, rel=1e-9) for name, one in ends(here.estimates).items()}
    assert ends(there.estimates) == expected


@pytest.mark.usefixtures("counted_there")
def test_a_count_at_these_costs_knows_its_own_decisions(tmp_path):
    """Without rows and without a second look at them: what the costs decide, against deciding for everybody."""
    frame = rows(400)
    stakes.count(frame, truth="y", score=SCORE, costs=COSTS).save(tmp_path / "rows.tally")
    whole = stakes.decide(frame, truth="y", score=SCORE, costs=COSTS)
    known = {name: one for name, one in ends(whole.estimates).items() if name != HIGHEST}
    for found in (
        stakes.decide(tmp_path / "rows.tally", costs=COSTS),
        stakes.evaluate(frame.lazy(), truth="y", score=SCORE, costs=COSTS).decide(),
    ):
        assert ends(found.estimates) == {name: pytest.approx(one, rel=1e-9) for name, one in known.items()}
    with pytest.raises(InputError, match="count them again with these costs="):
        stakes.evaluate(frame.lazy(), truth="y", score=SCORE).decide(COSTS)


@pytest.mark.usefixtures("few_kept")
def test_rows_that_come_once_have_a_sample():
    """Batches are gone when they were counted; what everybody costs is still exact."""
    frame = rows(3_000)
    found = stakes.decide(iter([frame[:1_500], frame[1_500:]]), truth="y", score=SCORE, costs=COSTS)
    for name in (CHEAPEST, "always a"):
        assert found.estimates[name].value == pytest.approx(paid(frame, RULES[name]), rel=1e-12)
    assert HIGHEST in found.sampled
    assert "decided.sampled" in [one.key for one in found.findings]


@pytest.mark.usefixtures("counted_there")
def test_decisions_alone_are_compared_by_a_small_table(monkeypatch):
    """Accuracies of class probabilities need no scores here: a group for each truth and both decisions."""
    monkeypatch.setattr("stakes.evaluation.shared_models.FEW_ROWS", 5)
    frame = rows(600).with_columns(**{f"b {name}": rows(600, 1)[f"of {name}"] for name in "abc"})
    asked = {"truth": "y", "scores": {"one": SCORE, "other": {name: f"b {name}" for name in "abc"}}}
    asked |= {"metric": ["accuracy", "macro_f1"], "by": "w"}
    here, brought, fetch = stakes.compare(frame, **asked), [], queries.collect

    def collect(table):
        brought.append(len(found := fetch(table)))
        return found

    for module in (queries, class_queries):
        monkeypatch.setattr(module, "collect", collect, raising=False)
    there = stakes.compare(frame.lazy(), **asked)
    for one, other in zip(here.pairs, there.pairs, strict=True):
        ends = (one.difference, one.low, one.high, one.p_value)
        assert (other.difference, other.low, other.high, other.p_value) == pytest.approx(ends, rel=1e-9)
    assert 0 < max(brought) <= 3 * 3 * 3 * 4


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_what_is_right_of_clusters_is_as_sure_whatever_the_unit_of_weights(unit):
    """Also where every row is right, and one more row is all that varies."""
    random = np.random.default_rng(0)
    codes = random.integers(0, 3, 300)
    asked = {"truth": np.array([*"abc"])[codes], "score": np.eye(3)[codes] * 0.7 + 0.1, "classes": [*"abc"]}
    prices = stakes.Costs([[0, 1, 2], [3, 0, 1], [1, 4, 0]], [*"abc"], [*"abc"])
    asked |= {"costs": prices, "cluster": np.arange(300) // 4}
    weight = random.random(300) + 0.1
    one, other = (stakes.decide(**asked, weight=weight * by).right["a"] for by in (1, unit))
    assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-9)


def test_more_classes_than_engines_take_cost_what_they_do_also_in_clusters(tmp_path, monkeypatch):
    """Codes of up to 256 classes have a byte, and there are more combinations of truth and decision."""
    monkeypatch.setattr(streaming, "MOST_EXACT", 100)
    monkeypatch.setattr(decided_rows, "MOST_EXACT", 100)
    rng, names = np.random.default_rng(0), [f"c{place:02d}" for place in range(51)]
    truth = rng.integers(0, 51, 400)
    scores = np.exp(rng.normal(size=(400, 51)) + 3 * np.eye(51)[truth])
    scores /= scores.sum(1, keepdims=True)
    columns = {name: scores[:, place] for place, name in enumerate(names)}
    pl.DataFrame({"y": np.array(names)[truth], "group": rng.integers(0, 60, 400), **columns}).write_parquet(
        tmp_path / "rows.parquet"
    )
    costs = stakes.Costs((1 - np.eye(51)).tolist(), names, names)
    found = stakes.decide(
        tmp_path / "rows.parquet", truth="y", score={name: name for name in names}, costs=costs, cluster="group"
    )
    wrong = 1 - (scores.argmax(1) == truth).mean()
    assert found.estimates[CHEAPEST].value == pytest.approx(wrong, rel=1e-12)
    for name, count in zip(names, np.bincount(truth, minlength=51), strict=True):
        assert found.savings[f"{ALWAYS}{name}"].value == pytest.approx(1 - count / 400 - wrong, rel=1e-9)
