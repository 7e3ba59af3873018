"""Grades, counts, quantiles, several outputs and forecasts: outside oracles, every surface, bad input."""

import json

import numpy as np
import pytest
import sklearn.metrics as sk
from scipy import integrate, stats

import stakes
from stakes.errors import InputError
from stakes.findings.pages import payload_of
from stakes.tallies import ScoreTable
from tests.command import run
from tests.kinds.rows import forecasts, labels, outputs, quantiles, take

random = np.random.default_rng(0)
BY = np.where(np.arange(60) % 2, "odd", "even")
WEIGHT = random.choice([0.5, 1.0, 2.0], 60)
EITHER = pytest.mark.parametrize("weight", [None, WEIGHT], ids=["alone", "weighted"])


def write(tmp_path, **columns):
    path = tmp_path / "rows.csv"
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines))
    return str(path)


# ── grades ───────────────────────────────────────────────────────────────────────────────────────────────────────
TRUTH = random.integers(1, 5, 60)
SAID = np.clip(TRUTH + random.integers(-1, 3, 60), 1, 4)
GRADES = np.array(["poor", "fair", "good", "fine"])
PROBABILITIES = random.dirichlet(np.ones(4), 60) * 0.6 + 0.4 * np.eye(4)[TRUTH - 1]


@EITHER
def test_grades_are_judged_by_how_far_off_they_are(weight):
    ev = stakes.evaluate(truth=TRUTH, prediction=SAID, ordered=True, weight=weight, by=BY)
    for power in ("linear", "quadratic"):
        expected = sk.cohen_kappa_score(TRUTH, SAID, weights=power, sample_weight=weight)
        assert ev[f"{power}_kappa"].value == pytest.approx(expected)
    assert ev["mean_class_distance"].value == pytest.approx(np.average(np.abs(TRUTH - SAID), weights=weight))
    assert ev["within_one_accuracy"].value == pytest.approx(np.average(np.abs(TRUTH - SAID) <= 1, weights=weight))
    assert ev["quadratic_kappa"].low < ev["quadratic_kappa"].value < ev["quadratic_kappa"].high
    assert ev.segments["odd"]["quadratic_kappa"].defined
    assert ev.by_segment("mean_class_distance")["odd"].value == pytest.approx(
        ev.segments["odd"]["mean_class_distance"].value
    )
    assert "quadratic_kappa" not in stakes.evaluate(truth=TRUTH, prediction=SAID, task="classification").figures


@EITHER
def test_probabilities_of_grades_have_a_ranked_score(weight):
    ev = stakes.evaluate(truth=TRUTH, score=PROBABILITIES, classes=[1, 2, 3, 4], ordered=True, weight=weight)
    above = np.cumsum(PROBABILITIES, 1) - (TRUTH[:, None] <= np.arange(1, 5))
    assert ev["rps"].value == pytest.approx(np.average((above**2).sum(1), weights=weight))
    shares = np.bincount(TRUTH - 1, weight, 4) / (60 if weight is None else weight.sum())
    always = np.cumsum(shares) - (TRUTH[:, None] <= np.arange(1, 5))
    assert ev["rps"].baseline == pytest.approx(np.average((always**2).sum(1), weights=weight))
    assert ev["rps"].low < ev["rps"].value < ev["rps"].high


def test_the_order_of_named_grades_is_the_one_that_is_given(tmp_path):
    names = {"truth": GRADES[TRUTH - 1], "prediction": GRADES[SAID - 1]}
    ev = stakes.evaluate(**names, ordered=True, classes=list(GRADES))
    assert ev.classes == tuple(GRADES)
    assert ev["quadratic_kappa"].value == pytest.approx(sk.cohen_kappa_score(TRUTH, SAID, weights="quadratic"))
    typed = [word for name in GRADES for word in ("--class", name)]
    file = write(tmp_path, truth=GRADES[TRUTH - 1], said=GRADES[SAID - 1])
    data = json.loads(
        run("evaluate", file, "--truth", "truth", "--prediction", "said", "--ordered", *typed, "--json").stdout
    )
    assert data["figures"]["linear_kappa"]["value"] == pytest.approx(ev["linear_kappa"].value)
    with pytest.raises(InputError, match=r"ordered=.* needs an order, and 'fair', 'fine', 'good' and 'poor' have none"):
        stakes.evaluate(**names, ordered=True)
    with pytest.raises(InputError, match="quadratic_kappa is a figure of grades, and these classes have no order"):
        stakes.evaluate(**names)["quadratic_kappa"]


def test_a_figure_of_grades_asks_for_their_order():
    assert stakes.metrics.quadratic_kappa(TRUTH, SAID) == pytest.approx(
        sk.cohen_kappa_score(TRUTH, SAID, weights="quadratic")
    )
    named = GRADES[TRUTH - 1], GRADES[SAID - 1]
    found = stakes.metrics.linear_kappa(*named, classes=list(GRADES))
    assert found == pytest.approx(sk.cohen_kappa_score(TRUTH, SAID, weights="linear"))
    with pytest.raises(InputError, match="needs an order"):
        stakes.metrics.linear_kappa(*named)


def test_grades_are_compared():
    other = random.integers(1, 5, 60)
    both = stakes.compare(truth=TRUTH, predictions={"a": SAID, "b": other}, ordered=True, metric="mean_class_distance")
    gap = np.abs(TRUTH - SAID) - np.abs(TRUTH - other)
    assert both.pairs[0].difference == pytest.approx(gap.mean())


# ── counts ───────────────────────────────────────────────────────────────────────────────────────────────────────
EXPOSURE = random.random(60) + 0.2
RATE = random.random(60) + 0.5
CLAIMS = random.poisson(2 * RATE * EXPOSURE)


def test_counts_over_an_exposure_are_rates_that_weigh_as_much():
    ev = stakes.evaluate(truth=CLAIMS, prediction=2 * RATE * EXPOSURE, exposure=EXPOSURE, by=BY)
    expected = sk.mean_poisson_deviance(CLAIMS / EXPOSURE, 2 * RATE, sample_weight=EXPOSURE)
    assert ev["poisson_deviance"].value == pytest.approx(expected)
    assert ev["d2_poisson"].value == pytest.approx(
        sk.d2_tweedie_score(CLAIMS / EXPOSURE, 2 * RATE, power=1, sample_weight=EXPOSURE)
    )
    order = np.argsort(RATE)
    x, y = (np.append(0, np.cumsum(one[order]) / one.sum()) for one in (EXPOSURE, CLAIMS))
    assert ev["lorenz_gini"].value == pytest.approx(1 - 2 * integrate.trapezoid(y, x))
    assert {"poisson_deviance", "lorenz_gini"} <= set(ev.figures)
    assert "lorenz_gini" in ev.segments["odd"].figures
    assert ev.calibration is not None
    plain = stakes.evaluate(truth=CLAIMS + 0.5, prediction=RATE)
    assert "lorenz_gini" not in plain.figures
    assert plain["gamma_deviance"].value == pytest.approx(sk.mean_gamma_deviance(CLAIMS + 0.5, RATE))


def test_counts_on_the_command_line_and_in_a_gate(tmp_path):
    file = write(tmp_path, claims=CLAIMS, said=2 * RATE, years=EXPOSURE)
    typed = (file, "--truth", "claims", "--prediction", "said")
    data = json.loads(run("evaluate", *typed, "--task", "counts", "--json").stdout)
    assert data["figures"]["poisson_deviance"]["value"] == pytest.approx(sk.mean_poisson_deviance(CLAIMS, 2 * RATE))
    assert run("gate", *typed, "--exposure", "years", "--require", "poisson_deviance <= 100").returncode == 0


# ── quantiles ────────────────────────────────────────────────────────────────────────────────────────────────────
def interval_score(truth, low, high, alpha):
    return high - low + 2 / alpha * (np.maximum(low - truth, 0) + np.maximum(truth - high, 0))


@EITHER
def test_quantiles_have_the_scores_of_the_literature(weight):
    given = quantiles()
    truth, said = given["truth"], given["quantiles"]
    ev = stakes.evaluate(**given, weight=weight, by=BY)

    def mean(values):
        return pytest.approx(np.average(values, weights=weight))

    winkler = interval_score(truth, said[0.1], said[0.9], 0.2)
    assert ev["coverage_of_intervals"].value == mean((said[0.1] <= truth) & (truth <= said[0.9]))
    assert ev["mean_interval_width"].value == mean(said[0.9] - said[0.1])
    assert ev["winkler_score"].value == mean(winkler)
    assert ev["wis"].value == mean((np.abs(truth - said[0.5]) / 2 + 0.1 * winkler) / 1.5)
    losses = {level: np.maximum(level * (truth - one), (level - 1) * (truth - one)) for level, one in said.items()}
    assert ev["quantile_score"].value == mean(np.mean(list(losses.values()), 0))
    assert ev["crps"].value == mean(2 * np.mean(list(losses.values()), 0))
    assert ev["wis"].value == pytest.approx(ev["crps"].value)  # which is the same for these levels
    for level, one in said.items():
        assert ev["pinball_at", level].value == pytest.approx(
            sk.mean_pinball_loss(truth, one, alpha=level, sample_weight=weight)
        )
        assert ev[f"share_below(level={level})"].value == mean(truth <= one)
    assert ev.segments["odd"]["crps"].value == pytest.approx(
        np.average(
            2 * np.mean(list(losses.values()), 0)[BY == "odd"], weights=None if weight is None else weight[BY == "odd"]
        )
    )


def test_the_baseline_says_the_quantiles_of_the_truth():
    truth = quantiles()["truth"]
    ev = stakes.evaluate(**quantiles())
    always = {level: np.quantile(truth, level, method="hazen") for level in (0.1, 0.5, 0.9)}
    expected = np.mean(
        [2 * sk.mean_pinball_loss(truth, np.full(60, one), alpha=level) for level, one in always.items()]
    )
    assert ev["crps"].baseline == pytest.approx(expected)
    assert ev["crps_skill"].value == pytest.approx(1 - ev["crps"].value / expected)


def test_the_order_of_rows_that_tie_does_not_change_the_quantiles_of_the_truth():
    truth, weight = np.repeat(np.arange(12.0), 2), np.tile([1, 5], 12)
    said = {level: np.full(24, 11 * level) for level in (0.1, 0.25)}
    answers = [
        stakes.evaluate(truth=truth, quantiles=said, weight=one)["crps_skill"].value for one in (weight, weight[::-1])
    ]
    assert answers == pytest.approx([answers[0]] * 2, rel=1e-12)


def test_an_ensemble_has_the_crps_of_its_steps():
    truth, members = random.normal(size=60), random.normal(size=(60, 7))
    ev = stakes.evaluate(truth=truth, ensemble=members)

    def integral(t, x):  # of (F − [t ≤ x])², a step function between sorted points
        points = np.sort(np.append(x, t))
        middle = (points[1:] + points[:-1]) / 2
        share = (x[:, None] <= middle).mean(0)
        return (np.diff(points) * (share - (t <= middle)) ** 2).sum()

    assert ev["crps"].value == pytest.approx(np.mean([integral(t, x) for t, x in zip(truth, members, strict=True)]))
    named = {f"m{i}": members[:, i] for i in range(7)}
    assert stakes.evaluate({"t": truth, **named}, truth="t", ensemble=list(named))["crps"].value == pytest.approx(
        ev["crps"].value
    )


def test_an_interval_is_two_quantiles_and_its_coverage_a_share():
    given = quantiles(n=400)
    low, high = given["quantiles"][0.1], given["quantiles"][0.9]
    ev = stakes.evaluate(truth=given["truth"], low=low, high=high, level=0.8)
    assert ev.names == ("0.1", "0.9")
    found = ev["coverage_of_intervals"]
    assert found.baseline == pytest.approx(0.8)
    wilson = stats.binomtest(round(400 * found.value), 400).proportion_ci(0.95, method="wilson")
    assert (found.low, found.high) == pytest.approx((wilson.low, wilson.high), abs=0.005)
    fifths = ev.coverage_by_width
    assert [one.rows for one in fifths] == [80] * 5
    assert np.mean([one.coverage for one in fifths]) == pytest.approx(found.value)
    assert fifths[0].widest <= fifths[1].narrowest
    assert any(one.key == "verdict.covers" for one in ev.findings)
    assert "Do the predicted intervals hold?" in str(ev)


def test_quantiles_on_the_command_line_and_compared(tmp_path):
    given = quantiles()
    truth, said = given["truth"], given["quantiles"]
    file = write(tmp_path, t=truth, a=said[0.1], b=said[0.9])
    typed = (file, "--truth", "t", "--quantile", "0.1=a", "--quantile", "0.9=b")
    data = json.loads(run("evaluate", *typed, "--json").stdout)
    expected = stakes.evaluate(truth=truth, low=said[0.1], high=said[0.9], level=0.8)
    assert data["figures"]["winkler_score"]["low"] == pytest.approx(expected["winkler_score"].low)
    low_high = json.loads(
        run("evaluate", file, "--truth", "t", "--low", "a", "--high", "b", "--level", "0.8", "--json").stdout
    )
    assert low_high["figures"] == data["figures"]
    assert run("gate", *typed, "--require", "coverage_of_intervals.high >= 0.5").returncode == 0
    wide = {level: truth + (level - 0.5) * 9 for level in (0.1, 0.9)}
    both = stakes.compare(
        truth=truth, predictions={"ours": {k: said[k] for k in (0.1, 0.9)}, "wide": wide}, metric="winkler_score"
    )
    gap = interval_score(truth, said[0.1], said[0.9], 0.2) - interval_score(truth, wide[0.1], wide[0.9], 0.2)
    pair = both.pairs[0]
    sign = 1 if pair.first == "ours" else -1
    assert sign * pair.difference == pytest.approx(gap.mean())
    ends = stats.ttest_1samp(sign * gap, 0).confidence_interval(0.95)
    assert (pair.low, pair.high) == pytest.approx((ends.low, ends.high), rel=0.1)


def test_models_with_several_columns_are_compared_on_the_command_line(tmp_path):
    given = quantiles()
    truth, said = given["truth"], given["quantiles"]
    file = write(tmp_path, t=truth, a=said[0.1], b=said[0.9], c=said[0.1] - 3, d=said[0.9] + 3)
    typed = ["ours:0.1=a", "ours:0.9=b", "wide:0.1=c", "wide:0.9=d"]
    options = [word for one in typed for word in ("--prediction", one)]
    data = json.loads(run("compare", file, "--truth", "t", *options, "--metric", "winkler_score", "--json").stdout)
    wide = {0.1: said[0.1] - 3, 0.9: said[0.9] + 3}
    both = stakes.compare(
        truth=truth, predictions={"ours": {k: said[k] for k in (0.1, 0.9)}, "wide": wide}, metric="winkler_score"
    )
    assert data["pairs"][0]["low"] == pytest.approx(both.pairs[0].low)
    assert data["table"][0]["model"] == both.table[0].model == "ours"


# ── several outputs ──────────────────────────────────────────────────────────────────────────────────────────────
@EITHER
def test_averages_over_outputs_are_those_of_scikit_learn(weight):
    given = outputs()
    ev = stakes.evaluate(**given, classes=["size", "cost"], weight=weight, by=BY)
    columns = given["truth"], given["prediction"]
    for name, theirs in {"r2": sk.r2_score, "mae": sk.mean_absolute_error, "rmse": sk.root_mean_squared_error}.items():
        assert ev[f"uniform_{name}"].value == pytest.approx(theirs(*columns, sample_weight=weight))
        assert ev[name, "cost"].value == pytest.approx(
            theirs(*columns, sample_weight=weight, multioutput="raw_values")[1]
        )
    for name, theirs in {"r2": sk.r2_score, "explained_variance": sk.explained_variance_score}.items():
        expected = theirs(*columns, sample_weight=weight, multioutput="variance_weighted")
        assert ev[f"variance_weighted_{name}"].value == pytest.approx(expected)
    assert ev["uniform_r2"].low < ev["uniform_r2"].value < ev["uniform_r2"].high
    assert set(ev.each_figures) == {"size", "cost"}
    assert ev.segments["odd"]["uniform_mae"].defined
    with pytest.raises(InputError, match=r"r2 is a figure of one output; write 'uniform_r2', or r2\[size\]"):
        ev["r2"]


def test_outputs_elsewhere(tmp_path):
    given = outputs()
    columns = {f"{kind[0]}{i}": given[kind][:, i] for kind in given for i in range(2)}
    file = write(tmp_path, **columns)
    typed = [word for i in range(2) for word in ("--truth", f"{i}=t{i}", "--prediction", f"{i}=p{i}")]
    data = json.loads(run("evaluate", file, *typed, "--json").stdout)
    assert data["outputs"] == ["0", "1"]
    assert data["figures"]["uniform_r2"]["value"] == pytest.approx(sk.r2_score(given["truth"], given["prediction"]))
    assert "Output by output" in run("evaluate", file, *typed).stdout
    near = given["truth"] + 0.1
    both = stakes.compare(truth=given["truth"], predictions={"far": given["prediction"], "near": near})
    assert both.table[0].model == "near"
    assert both.pairs[0].p_value < 0.05
    parts = [stakes.count(**{k: v[rows] for k, v in given.items()}) for rows in (slice(0, 20), slice(20, 60))]
    assert stakes.Evaluation(parts[0] + parts[1])["uniform_r2"].low == pytest.approx(
        stakes.evaluate(**given)["uniform_r2"].low
    )


# ── forecasts ────────────────────────────────────────────────────────────────────────────────────────────────────
def test_forecasts_are_held_against_the_last_value():
    given = forecasts()
    truth, said = given["truth"], given["prediction"]
    ev = stakes.evaluate(**given)
    errors, naive = np.abs(truth - said)[1:], np.abs(np.diff(truth))
    assert ev["mase"].value == pytest.approx(errors.mean() / naive.mean())
    assert ev["rmsse"].value == pytest.approx(np.sqrt((errors**2).mean() / (naive**2).mean()))
    assert ev["mae"].value == pytest.approx(np.abs(truth - said).mean())  # of all rows
    season = stakes.evaluate(**given, season=7)
    assert season["mase"].value == pytest.approx(
        np.abs(truth - said)[7:].mean() / np.abs(truth[7:] - truth[:-7]).mean()
    )
    assert "no times were given" in stakes.evaluate(truth=truth, prediction=said)["mase"].reason


def test_the_verdict_on_forecasts_holds_them_against_the_last_value():
    """A series that wanders is easy to tell from its mean, and hard to forecast better than by its last value."""
    random = np.random.default_rng(3)
    truth = np.cumsum(random.normal(size=200))
    last = np.append(0.0, truth[:-1])
    said = (last + random.normal(size=200), truth + 0.4 * random.normal(size=200))
    found = [stakes.evaluate(truth=truth, prediction=one, order=np.arange(200)) for one in said]
    tones = [next(one.tone for one in ev.findings if one.key == "verdict.better") for ev in found]
    assert tones == ["bad", "good"]
    share = f"Its errors are {found[1]['mase'].value:.1%} of those of saying the last value of the series again."
    assert share in " ".join(words for one in found[1].findings for words in one.words)


def test_times_may_be_dates():
    given = forecasts(n=40)
    import pandas as pd

    days = np.datetime64("2024-01-30") + np.arange(40)
    for order in (days, pd.Series(pd.to_datetime(days)), [str(day) for day in days]):
        assert stakes.evaluate(**{**given, "order": order})["mase"].value == stakes.evaluate(**given)["mase"].value
    with pytest.raises(InputError, match="the times go back"):
        stakes.evaluate(**{**given, "order": days[::-1]})


def test_a_bootstrap_of_the_rows_tells_the_same():
    ev = stakes.evaluate(**quantiles(n=200))
    drawn, usual = ev.interval("winkler_score", method="bootstrap"), ev["winkler_score"]
    assert (drawn.low, drawn.high) == pytest.approx((usual.low, usual.high), rel=0.05)
    for option in ({"prior": 0.2}, {"design": "classes fixed"}):
        with pytest.raises(InputError, match=r"= is about classes, and these are predicted numbers; leave .*= out"):
            stakes.evaluate(**quantiles(), **option)


def test_series_are_clusters_and_are_not_continued_by_others():
    truth, said = np.cumsum(random.normal(size=(40, 6)), 1), random.normal(size=(40, 6))
    series, times = np.repeat([f"s{i}" for i in range(40)], 6), np.tile(np.arange(6), 40)
    ev = stakes.evaluate(truth=truth.ravel(), prediction=said.ravel(), order=times, series=series, by=times)
    assert ev["mase"].value == pytest.approx(np.abs(truth - said)[:, 1:].sum() / np.abs(np.diff(truth)).sum())
    assert ev.counted.clusters.count == 40
    given = stakes.evaluate(truth=truth.ravel(), prediction=said.ravel(), cluster=series)
    assert (ev["mae"].low, ev["mae"].high) == (given["mae"].low, given["mae"].high)
    assert ev.segments["3"]["mae"].value == pytest.approx(np.abs(truth - said)[:, 3].mean())  # errors by horizon
    mixed = np.argsort(times, kind="stable")  # sorted by time, series one after the other
    other = stakes.evaluate(
        truth=truth.ravel()[mixed], prediction=said.ravel()[mixed], order=times[mixed], series=series[mixed]
    )
    assert other["mase"].value == pytest.approx(ev["mase"].value)


def test_two_forecasts_of_one_series_are_told_apart_by_diebold_and_mariano():
    given = forecasts(n=120)
    truth, one = given["truth"], given["prediction"]
    noise = np.convolve(random.normal(size=122), np.ones(3), "valid")  # errors of three steps ahead overlap
    two, steps = truth + noise, 3
    both = stakes.compare(
        truth=truth, predictions={"one": one, "two": two}, order=np.arange(120), horizon=steps, metric="mse"
    )
    pair = both.pairs[0]
    loss = (truth - one) ** 2 - (truth - two) ** 2
    loss = loss if pair.first == "one" else -loss
    n, away = len(loss), loss - loss.mean()
    covariances = [(away[lag:] * away[: n - lag]).sum() / n for lag in range(steps)]
    variance = (covariances[0] + 2 * sum(covariances[1:])) / n
    harvey = (n + 1 - 2 * steps + steps * (steps - 1) / n) / n
    statistic = loss.mean() / np.sqrt(variance / harvey)
    assert pair.difference == pytest.approx(loss.mean())
    assert pair.p_value == pytest.approx(2 * stats.t.sf(abs(statistic), n - 1), rel=1e-6)
    assert "Diebold" in pair.method


def test_errors_of_one_series_that_resemble_each_other_make_intervals_longer():
    import statsmodels.api as sm

    given, steps, n = forecasts(n=120), 3, 120
    given["prediction"] = given["truth"] - np.convolve(random.normal(size=122), np.ones(3), "valid")
    loss = np.abs(given["truth"] - given["prediction"])
    theirs = sm.OLS(loss, np.ones(n)).fit(
        cov_type="HAC", cov_kwds={"maxlags": steps - 1, "kernel": "uniform", "use_correction": False}
    )
    harvey = (n + 1 - 2 * steps + steps * (steps - 1) / n) / n
    longer = theirs.bse[0] / np.sqrt(harvey) / (loss.std() / np.sqrt(n)) * np.sqrt((n - 1) / n)
    alone, ahead = (stakes.evaluate(**given, horizon=one)["mae"] for one in (1, steps))
    assert np.log(ahead.high / ahead.value) == pytest.approx(longer * np.log(alone.high / alone.value))
    assert longer > 1.3
    scaled = [stakes.evaluate(**given, horizon=one)["mase"] for one in (1, steps)]
    assert scaled[1].high - scaled[1].low > 1.2 * (scaled[0].high - scaled[0].low)
    with pytest.raises(InputError, match="horizon= is of forecasts in time; pass order="):
        stakes.evaluate(truth=given["truth"], prediction=given["prediction"], horizon=steps)
    few = stakes.evaluate(**take(given, slice(0, 8)), horizon=9)["mae"]
    assert (few.low, few.no_interval) == (None, "there are too few rows for forecasts so many steps ahead")


# ── bad input ────────────────────────────────────────────────────────────────────────────────────────────────────
TWO = np.array([1.0, 2.0])
WRONG = {
    "crossing": (
        {"truth": TWO, "quantiles": {0.1: [0, 5], 0.5: [1, 4], 0.9: [2, 6]}},
        "quantiles cross in 1 row: 0.5 is 4, below 5 of 0.1 (the first is row 2, counting from 1",
    ),
    "low above high": (
        {"truth": TWO, "low": [3, 0], "high": [2, 1], "level": 0.9},
        "low lies above high in 1 row (3 and 2; the first is row 1, counting from 1)",
    ),
    "no level": ({"truth": TWO, "low": TWO, "high": TWO}, "an interval has low=, high= and level=0.9"),
    "bad level": ({"truth": TWO, "quantiles": {"high": TWO}}, "'high' is no level of a quantile"),
    "two ways": ({"truth": TWO, "quantiles": {0.5: TWO}, "ensemble": [[1, 2], [3, 4]]}, "one of them"),
    "negative counts": (
        {"truth": [1, -2, 3], "prediction": [1, 1, 1], "task": "counts"},
        "truth holds counts, and in 1 row they are below 0 (-2; the first is row 2, counting from 1",
    ),
    "no exposure": ({"truth": TWO, "prediction": TWO + 1, "exposure": [1, 0]}, "exposure= is 0 or less in 1 row"),
    "dates that begin with the day": (
        {"truth": TWO, "prediction": TWO + 1, "order": ["02.03.2026", "01.04.2026"]},
        "order holds '01.04.2026', which does not sort as time does; write dates as 2026-12-31",
    ),
    "unsorted": (
        {"truth": TWO, "prediction": TWO + 1, "order": [2, 1]},
        "the times go back (the first is row 2, counting from 1); sort the rows by time",
    ),
    "doubled": (
        {"truth": [1, 2, 3.5], "prediction": [1, 1, 1.5], "order": ["2024-01-01"] * 3, "series": ["a", "b", "b"]},
        "the times of series 'b' come twice (the first is row 3, counting from 1); give each time of a series once",
    ),
    "series": (
        {"truth": TWO, "prediction": TWO + 1.5, "series": ["a", "b"]},
        "series= needs the time of each row; pass order=",
    ),
    "grades without an order": (
        {"truth": ["low", "mid", "high"], "prediction": ["low", "mid", "mid"], "ordered": True},
        "ordered= needs an order, and 'high', 'low' and 'mid' have none of their own; pass classes=",
    ),
    "a grade outside the list": (
        {"truth": ["low", "huge"], "prediction": ["low", "low"], "classes": ["low", "high"], "ordered": True},
        "truth has the label 'huge', which is not in classes ('low' and 'high')",
    ),
    "repeated times": (
        {"truth": TWO, "prediction": TWO + 1.5, "order": [1, 2], "frequency": [1, 3]},
        "frequency= counts rows that are alike, and each time of a series comes once; leave it out",
    ),
    "outputs": ({"truth": [[1.5, 2], [3, 4]], "prediction": [1, 2]}, "prediction"),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_input_is_one_line(case):
    given, words = WRONG[case]
    with pytest.raises(InputError) as problem:
        stakes.evaluate(**given)
    assert words in str(problem.value)
    assert "\n" not in str(problem.value)


def test_a_score_table_is_no_figure_of_grades():
    assert (
        "mean_class_distance" not in stakes.evaluate(ScoreTable.from_rows([0.2, 0.7, 0.4], [False, True, True])).figures
    )


# ── pictures and pages ───────────────────────────────────────────────────────────────────────────────────────────
def charts_of(ev):
    return {
        chart["title"]["key"]: chart
        for part in payload_of(ev)["sections"]
        if part["kind"] == "points"
        for chart in part["charts"]
    }  # fmt: skip


def test_where_truths_lie_among_the_quantiles():
    given = quantiles(n=300)
    truth, said = given["truth"], np.stack([*given["quantiles"].values()], 1)
    ev = stakes.evaluate(**given)
    ranks = (said < truth[:, None]).sum(1)
    assert [one.value for one in ev.pit] == pytest.approx(np.bincount(ranks, minlength=4) / 300)
    assert [one.baseline for one in ev.pit] == pytest.approx([0.1, 0.4, 0.4, 0.1])
    assert all(one.low < one.value < one.high for one in ev.pit)
    members = stakes.evaluate(truth=truth, ensemble=said)
    assert [one.baseline for one in members.pit] == pytest.approx([0.25] * 4)
    assert [one.value for one in members.pit] == [one.value for one in ev.pit]
    charts = charts_of(ev)
    assert charts["points.pit_title"]["bars"]["edges"] == pytest.approx([0, 0.1, 0.5, 0.9, 1])
    assert charts["points.pit_title"]["bars"]["heights"][0] == pytest.approx((ranks == 0).mean() / 0.1)
    below = charts["points.below_title"]["dots"]
    assert below["x"] == pytest.approx([0.1, 0.5, 0.9])
    assert below["y"] == pytest.approx((truth[:, None] <= said).mean(0).tolist())
    assert charts["points.widths_title"]["dots"]["y"] == [one.coverage for one in ev.coverage_by_width]
    assert "reliability" in ev.plots
    assert "pit" in ev.plots


def test_pages_of_counts_show_tenths_and_the_lorenz_curve():
    rate = random.gamma(2, size=400)
    ev = stakes.evaluate(truth=random.poisson(rate), prediction=rate, task="counts")
    charts = charts_of(ev)
    bins = ev.calibration.reliability().bins
    assert charts["points.tenths_title"]["dots"]["y"] == bins.mean_truth.tolist()
    curve = charts["points.lorenz_title"]["curve"]
    assert (curve["x"][0], curve["x"][-1], curve["y"][-1]) == (0, 1, pytest.approx(1))
    assert 1 - 2 * np.trapezoid(curve["y"], curve["x"]) == pytest.approx(ev["lorenz_gini"].value, abs=0.01)
    assert not charts_of(stakes.evaluate(truth=rate, prediction=rate + 0.1))


def test_pages_of_labels_tell_which_go_wrong_together():
    ev = stakes.evaluate(**labels(n=200))
    found = {part["id"]: part["pairs"] for part in payload_of(ev)["sections"] if part["kind"] == "pairs"}
    assert [one["rows"] for one in found["forgotten"]] == [one.rows for one in ev.forgotten]
    assert found["taken_for"][0]["missed"] == ev.taken_for[0].missed


def test_arrays_of_the_members_are_an_ensemble():
    rng = np.random.default_rng(1)
    truth = rng.normal(size=30)
    members = [truth + rng.normal(size=30) for _ in range(8)]
    by_member, by_row = (stakes.evaluate(truth=truth, ensemble=one) for one in (members, np.stack(members, axis=1)))
    assert by_member["crps"].value == by_row["crps"].value


@pytest.mark.parametrize(("levels", "rough"), [((0.1, 0.9), True), ((0.1, 0.3, 0.5, 0.7, 0.9), False)])
def test_a_crps_of_few_quantiles_says_so(levels, rough):
    truth = np.arange(60.0)
    ev = stakes.evaluate(truth=truth, quantiles={level: truth + level for level in levels})
    assert ("it rests on few quantiles" in ev["crps"].note) == rough == any("few quantiles" in n for n in ev.notes)


def test_grades_of_text_are_asked_for_their_order():
    with pytest.raises(stakes.InputError, match="pass classes= with all of them in their order, from the lowest"):
        stakes.evaluate(truth=["low", "high", "mid"], prediction=["low", "mid", "mid"], ordered=True)


def test_few_rows_of_labels_are_rows():
    ev = stakes.evaluate(truth=[{"a"}, {"b"}, {"a", "b"}], prediction=[{"a"}, {"b"}, {"a"}])
    assert "There are only 3 rows; intervals can be too narrow." in ev.notes


@pytest.mark.parametrize(("rows", "noted"), [(60, True), (200, False)])
def test_a_loss_of_predicted_quantiles_of_few_rows_carries_a_note(rows, noted):
    rng = np.random.default_rng(0)
    truth, low = rng.normal(size=rows), -1 - rng.random(rows)
    found = stakes.evaluate(truth=truth, low=low, high=-low, level=0.9)
    assert ("a few rows carry this figure" in found["mean_interval_width"].note) is noted
