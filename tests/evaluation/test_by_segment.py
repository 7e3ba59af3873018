"""ev.by_segment(): figures as the segments and the rest have them, and p-values as others work them out."""

import itertools

import numpy as np
import polars as pl
import pytest
from scipy import stats

import stakes
from stakes.engines import streaming
from stakes.engines.lazy import counting as lazy
from tests.command import run
from tests.parts import corrected

pytestmark = pytest.mark.slow


N = 1_500


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    site = rng.choice(["a", "b", "c", "d", "tiny"], N, p=[0.5, 0.3, 0.1, 0.095, 0.005])
    truth = rng.random(N) < 0.4
    score = 1 / (1 + np.exp(-rng.normal(size=N) - np.where(site == "c", -0.5, 1.5) * truth))
    return {"truth": truth, "score": score, "site": site, "number": rng.normal(size=N)}


def questions(rows):
    kinds = rng_classes(rows["site"])
    return {
        "decisions": {"truth": rows["truth"], "prediction": rows["score"] > 0.6},
        "scores": {"truth": rows["truth"], "score": rows["score"]},
        "numbers": {"truth": rows["number"], "prediction": rows["score"]},
        "several": {"truth": kinds[0], "prediction": kinds[1], "task": "classification"},
    }


def rng_classes(site):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, len(site))
    return truth, np.where(rng.random(len(site)) < 0.6, truth, rng.integers(0, 3, len(site)))


CASES = [
    ("decisions", None, "accuracy"),
    ("decisions", "recall", "recall"),
    ("decisions", "precision", "precision"),
    ("decisions", "f1", "f1"),
    ("scores", None, "auc"),
    ("scores", "gini", "gini"),
    ("scores", "brier_score", "brier_score"),
    ("scores", "recall", "recall"),
    ("numbers", None, "mean_absolute_error"),
    ("numbers", "rmse", "root_mean_squared_error"),
    ("numbers", "r2", "r2"),
    ("several", None, "accuracy"),
    ("several", "macro_f1", "macro_f1"),
]


@pytest.mark.parametrize(("kind", "asked", "metric"), CASES, ids=[f"{k} {m}" for k, _, m in CASES])
def test_figures_are_those_of_the_segment_and_of_the_rest(rows, kind, asked, metric):
    question, site = questions(rows)[kind], rows["site"]
    found = stakes.evaluate(**question, by=site).by_segment(asked)
    assert found.metric == metric
    assert {one.name for one in found} == set(site)

    def alone(chosen):
        part = {name: values[chosen] if isinstance(values, np.ndarray) else values for name, values in question.items()}
        return stakes.evaluate(**part)[metric]

    for one in found:
        mine, rest = alone(site == one.name), alone(site != one.name)
        assert one.rows == (site == one.name).sum()
        assert one.value == pytest.approx(mine.value, rel=1e-12, nan_ok=True)
        assert (one.low, one.high) == pytest.approx((mine.low, mine.high), rel=1e-9)
        assert one.rest == pytest.approx(rest.value, rel=1e-12)
        assert one.difference == pytest.approx(mine.value - rest.value, abs=1e-12)
        below, above = (
            np.hypot(mine.value - mine.low, rest.high - rest.value),
            np.hypot(mine.high - mine.value, rest.value - rest.low),
        )
        ends = one.difference - below, one.difference + above
        if one.p_value is not None and one.p_value >= 0.05:  # what is not significant has 0 in its interval
            ends = min(ends[0], 0), max(ends[1], 0)
        # the rest's own interval may rest on draws, or on sums instead of rows
        assert (one.difference_low, one.difference_high) == pytest.approx(ends, rel=0.05, abs=2e-3)
        if one.p_value is not None:
            assert (one.p_value < 0.05) == (one.difference_low > 0 or one.difference_high < 0)


@pytest.mark.parametrize("kind", ["decisions", "scores", "numbers"])
def test_p_values_are_corrected_as_statsmodels_does(rows, kind):
    found = stakes.evaluate(**questions(rows)[kind], by=rows["site"]).by_segment()
    tested = [one for one in found if one.p_value is not None]
    assert (
        [one.name for one in found if one.p_value is None] == [one.name for one in found if one.too_small] == ["tiny"]
    )
    expected = corrected([one.p_value for one in tested])
    assert [one.adjusted_p_value for one in tested] == pytest.approx(expected)
    assert found.tested == 4


def test_p_values_of_shares_are_fishers(rows):
    question, site = questions(rows)["decisions"], rows["site"]
    right = question["truth"] == question["prediction"]
    for one in stakes.evaluate(**question, by=site).by_segment():
        if not one.too_small:
            inside = site == one.name
            cells = [[(right & side).sum(), (~right & side).sum()] for side in (inside, ~inside)]
            assert one.p_value == pytest.approx(stats.fisher_exact(cells).pvalue, rel=1e-3)


def test_p_values_of_means_are_those_of_dealing_rows_out():
    rng = np.random.default_rng(4)
    wrong = rng.exponential(size=200)
    site = np.repeat(["a", "b", "c"], [25, 75, 100])
    found = stakes.evaluate(truth=wrong, prediction=np.zeros(200), by=site).by_segment()
    one = found["a"]
    dealt = np.array([rng.permutation(wrong)[:25].mean() for _ in range(40_000)])
    tail = (dealt <= one.value).mean() if one.difference < 0 else (dealt >= one.value).mean()
    assert one.p_value == pytest.approx(2 * tail, rel=0.1)


@pytest.mark.parametrize("error", ["lognormal", "t3"])
def test_errors_with_heavy_tails_are_compared_alike_through_every_door(error, tmp_path, monkeypatch):
    """Squares and their root have one test, and what large errors of the rest leave open is open everywhere."""
    monkeypatch.setattr(streaming, "MOST_EXACT", 1000)
    monkeypatch.setattr(lazy, "FEW_ROWS", 1000)
    rng, n = np.random.default_rng(0), 6000
    errors = rng.standard_t(3, n) if error == "t3" else rng.lognormal(0, 1, n) * rng.choice([-1, 1], n)
    truth, site = rng.normal(0, 3, n), rng.choice(list("abcd"), n, p=[0.5, 0.3, 0.15, 0.05])
    frame = pl.DataFrame({"truth": truth, "prediction": truth - errors, "site": site})
    frame.write_parquet(tmp_path / "a.parquet")
    question = {"truth": "truth", "prediction": "prediction", "by": "site"}
    doors = [stakes.evaluate(data, **question) for data in (frame, str(tmp_path / "a.parquet"), frame.lazy())]
    assert [ev.counted.tallies["errors"].rows is None for ev in doors] == [False, True, True]
    for name in ("mse", "rmse", "mae", "bias"):
        known, *others = [sorted(ev.by_segment(name).segments, key=lambda one: one.name) for ev in doors]
        for segments in others:
            for here, there in zip(known, segments, strict=True):
                assert there.p_value == pytest.approx(here.p_value, abs=3e-3)  # that of an interval where it is larger
                ends = [(one.difference_low, one.difference_high) for one in (here, there)]
                assert ends[1] == pytest.approx(ends[0], abs=0.02 * (ends[0][1] - ends[0][0]))
    squares, roots = (doors[0].by_segment(name) for name in ("mse", "rmse"))
    assert {one.name: one.p_value for one in squares} == pytest.approx({one.name: one.p_value for one in roots})


def test_sizes_in_wide_bins_tell_no_powers(tmp_path):
    """Those of a saved tally are merged until each bin holds some rows."""
    rng = np.random.default_rng(1)
    truth, error = rng.normal(size=(2, 400))
    stakes.count(truth=truth, prediction=truth + error, by=rng.choice(["a", "b"], 400)).save(tmp_path / "a.tally")
    found = stakes.evaluate(str(tmp_path / "a.tally"))
    assert found.by_segment("mse").method == "intervals of both put together (MOVER), p-value on Student's t"
    assert found.by_segment("mae").method == "intervals of both put together (MOVER), p-value of dealing out all rows"


def test_p_values_of_areas_are_nearly_those_of_delong():
    rng = np.random.default_rng(5)
    truth, site = rng.integers(0, 2, 6_000), rng.integers(0, 3, 6_000)
    score = rng.normal(size=6_000) + truth * (1 - 0.12 * (site == 1))
    ev = stakes.evaluate(truth=truth, score=score, by=site, threshold=0.5)
    one = ev.by_segment("auc")["1"]
    areas, errors = [], []
    for side in (site == 1, site != 1):
        positives, negatives = (score[side & (truth == c)] for c in (1, 0))
        wins = positives[:, None] > negatives
        areas.append(wins.mean())
        errors.append(np.sqrt(sum(wins.mean(axis).var(ddof=1) / wins.shape[1 - axis] for axis in (0, 1))))
    z = (areas[0] - areas[1]) / np.hypot(*errors)
    assert one.p_value == pytest.approx(2 * stats.norm.sf(abs(z)), rel=0.2)


def test_the_worst_come_first_but_not_by_the_noise_of_few_rows():
    truth = np.ones(1_000, int)
    decided, site = truth.copy(), np.repeat(["good", "bad", "lost"], [600, 380, 20])
    decided[np.flatnonzero(site == "bad")[:190]] = 0
    decided[np.flatnonzero(site == "lost")[:11]] = 0  # looks worse than "bad", but rests on 20 rows
    found = stakes.evaluate(truth=truth, prediction=decided, by=site, positive=1).by_segment("recall")
    assert [one.name for one in found] == ["bad", "lost", "good"]
    assert found["lost"].value < found["bad"].value
    assert [one.verdict.split(",")[0] for one in found] == [
        "worse than the rest", "worse than the rest", "better than the rest",
    ]  # fmt: skip
    lower = stakes.evaluate(truth=truth, prediction=decided, by=site, positive=1).by_segment("miss_rate")
    assert [one.name for one in lower] == ["bad", "lost", "good"]
    assert lower["bad"].verdict.startswith("worse than the rest, p = ")
    assert [one.name for one in found.smallest(2)] == ["lost", "bad"]
    assert [one.name for one in found.worst(1)] == ["bad"]
    neither = stakes.evaluate(truth=truth, prediction=decided, by=site, positive=1).by_segment("alarm_rate")
    assert neither["bad"].verdict.startswith("lower than the rest, p = ")


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("accuracy", "too small: 7 rows; at least 10 wanted"),
        ("recall", "too small: 1 positive row; at least 10 wanted"),
        ("f1", "too small: 1 row of 1; at least 10 wanted"),
    ],
)
def test_a_segment_that_is_too_small_says_so(metric, words):
    truth = np.array([0, 1] * 50 + [0] * 6 + [1])
    site = np.array(["large"] * 100 + ["small"] * 7)
    found = stakes.evaluate(truth=truth, prediction=truth.copy(), by=site).by_segment(metric)
    assert (found["small"].verdict, found["small"].too_small, found["small"].p_value) == (words, True, None)


def test_costs_come_first_and_the_weighted_and_clustered_are_honest(rows):
    question, site = questions(rows)["scores"], rows["site"]
    costs = stakes.Costs(miss=5, false_alarm=1)
    priced = stakes.evaluate(**question, by=site, costs=costs).by_segment()
    assert priced.metric == "expected_cost"
    assert next(iter(priced)).name == "c"
    decisions = questions(rows)["decisions"]
    weighted = stakes.evaluate(**decisions, by=site, weight=np.full(N, 2.0)).by_segment("recall")
    plain = stakes.evaluate(**decisions, by=site).by_segment("recall")
    for one, other in itertools.product(weighted, plain):
        if one.name == other.name:
            assert (one.value, one.rest) == pytest.approx((other.value, other.rest))
            if other.rows > 100:  # of few rows Student's t makes weighted figures less sure
                assert one.difference_low == pytest.approx(other.difference_low, rel=0.05, abs=0.03)
    clustered = stakes.evaluate(**decisions, by=site, cluster=np.arange(N) // 2).by_segment("recall")
    assert clustered.note == "rows of a cluster may lie in several segments"
    assert clustered["a"].verdict == f"not compared: {clustered.note}"
    assert clustered["a"].low is not None


def test_what_cannot_be_compared_says_why(rows):
    question = questions(rows)["decisions"]
    with pytest.raises(stakes.InputError, match="there are no segments; evaluate with by="):
        stakes.evaluate(**question).by_segment()
    ev = stakes.evaluate(**question, by=rows["site"])
    with pytest.raises(stakes.InputError, match="segments cannot be compared by auc: no scores were given"):
        ev.by_segment("auc")
    with pytest.raises(stakes.InputError, match="there is no segment 'A'"):
        ev.by_segment()["A"]
    many = stakes.evaluate(**questions(rows)["scores"], by=np.arange(N) // 25)
    assert "only worked out for 50 segments" in many.by_segment("average_precision").note
    one = stakes.evaluate(**questions(rows)["numbers"], by=np.zeros(N, int)).by_segment()
    assert one["0"].verdict == "not compared: there are no other rows"


@pytest.mark.parametrize(("families", "most"), [(8, 3), pytest.param(40, 7, marks=pytest.mark.deep)])
def test_chance_alone_seldom_looks_like_a_difference(families, most):
    """Of 40 families of 30 alike segments, two should show a difference; ten would be too many."""
    found = {"accuracy": 0, "auc": 0, "mean_absolute_error": 0}
    for seed in range(families):
        rng = np.random.default_rng(seed)
        site, truth = rng.integers(0, 30, 900), rng.random(900) < 0.4
        scores = stakes.evaluate(
            truth=truth, score=rng.normal(size=900) + truth, prediction=rng.random(900) < 0.3 + 0.4 * truth, by=site
        )
        numbers = stakes.evaluate(truth=rng.exponential(size=900), prediction=np.zeros(900), by=site)
        for ev, metric in ((scores, "accuracy"), (scores, "auc"), (numbers, "mean_absolute_error")):
            found[metric] += any((one.adjusted_p_value or 1) < 0.05 for one in ev.by_segment(metric))
    assert max(found.values()) <= most, found


# ── to look at, and as data ──────────────────────────────────────────────────────────────────────────────────────
def test_data_tell_the_figures_of_segments_and_work_out_no_verdicts_of_theirs():
    truth, site = np.tile([1, 0, 0, 1, 1], 12), np.repeat(["a", "b", "c"], 20)
    ev = stakes.evaluate(truth=truth, score=np.linspace(0, 1, 60), by=site)
    data = ev.to_dict()
    assert set(data["segments"]["b"]) == {"rows", "figures", "confusion", "verdict"}
    for one in data["by_segment"]["segments"]:
        assert data["segments"][one["name"]]["verdict"] == one["verdict"] != ""
    for name, part in ev.segments.items():
        assert "findings" not in vars(part)
        assert data["segments"][name]["figures"] == part.to_dict()["figures"]
        assert stakes.Confusion.from_dict(data["segments"][name]["confusion"]) == part.confusion


def test_thousands_of_segments_are_told_by_one_figure():
    rng = np.random.default_rng(6)
    truth, site = rng.integers(0, 2, 20_000), rng.integers(0, 1_000, 20_000)
    ev = stakes.evaluate(truth=truth, prediction=np.where(rng.random(20_000) < 0.8, truth, 1 - truth), by=site)
    data, flat = ev.to_dict(), ev.to_rows()
    assert len(data["segments"]) == len(data["by_segment"]["segments"]) == 1_000
    some = data["segments"]["17"]
    assert some["rows"] == (site == 17).sum()
    assert some["figures"]["accuracy"]["value"] == ev.segments[17]["accuracy"].value
    assert sum(row["segment"] is not None for row in flat) == 1_000
    assert {row["metric"] for row in flat if row["segment"] == "17"} == {"accuracy"}
    text = " ".join(str(ev).split())
    assert (
        "Segments by accuracy, the worst first (by their better ends); … and 980 more: ev.by_segment().to_rows()"
        in text
    )


def test_the_command_line_takes_several_columns_and_shows_the_worst(tmp_path):
    rng = np.random.default_rng(7)
    file = tmp_path / "p.csv"
    lines = ["y,p,site,sex"]
    for i in range(2_000):
        y, site = rng.integers(0, 2), int(rng.integers(0, 15))
        p = rng.random() if site == 3 else (rng.random() + 2 * y) / 3
        lines.append(f"{y},{p:.6f},s{site},{'fm'[i % 2]}")
    file.write_text("\n".join(lines) + "\n")
    done = run("evaluate", file, "--truth", "y", "--score", "p", "--by", "site", "--by", "sex", env={"COLUMNS": "140"})
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert (
        "Segments by AUC, the worst first (by their better ends); … and 10 more: stakes evaluate … --by … --json"
        in text
    )
    shown = done.stdout[done.stdout.index("Segments by AUC") :].splitlines()
    assert {line.split("  ")[0] for line in shown if line.startswith("site=s3,")} == {
        "site=s3, sex=f",
        "site=s3, sex=m",
    }
    assert shown[3].startswith("site=s3,")
    assert "worse than the rest, p " in shown[3]


@pytest.mark.parametrize(("metric", "costs"), [("f1", None), ("expected_cost", stakes.Costs(miss=5, false_alarm=1))])
def test_many_tables_drawn_together_are_as_sure_as_one_by_one(metric, costs):
    rng = np.random.default_rng(8)
    truth, site = rng.integers(0, 2, 30_000), rng.integers(0, 150, 30_000)
    decided = np.where(rng.random(30_000) < 0.8, truth, 1 - truth)
    ev = stakes.evaluate(truth=truth, prediction=decided, by=site, costs=costs)
    found = ev.by_segment(metric)
    for one in found.segments[::30]:
        mine = ev.segments[one.name].interval(metric)
        rest = stakes.evaluate(
            truth=truth[site != int(one.name)], prediction=decided[site != int(one.name)], costs=costs
        )
        assert one.value == pytest.approx(mine.value, rel=1e-12)
        assert one.rest == pytest.approx(rest.interval(metric).value, rel=1e-12)
        assert (one.low, one.high) == pytest.approx((mine.low, mine.high), abs=0.1 * (mine.high - mine.low))
