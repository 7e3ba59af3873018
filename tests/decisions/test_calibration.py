"""How honest probabilities are, against statsmodels, scikit-learn and exact arithmetic."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

import stakes
from stakes import InputError, ScoreTable
from stakes.decisions.calibration.calibration import calibration
from stakes.decisions.calibration.reliability import judge_scores
from stakes.metrics.calibration import LogOdds
from stakes.uncertainty.sampling import USUAL, Sampling
from tests.decisions.test_isotonic import by_fractions
from tests.parts import Lazily

sm = Lazily("statsmodels.api")


def rows(n=400, seed=0, decimals=None, shape=1.5):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.02, 0.98, n)
    p = p if decimals is None else np.round(p, decimals)
    return p, rng.random(n) < p**shape, rng.choice([0.5, 1.0, 3.0], n)


def logit(p):
    return np.log(p / (1 - p))


# ── the line ─────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("decimals", [None, 1])
def test_slope_and_intercepts_against_statsmodels(decimals):
    p, y, _ = rows(decimals=decimals)
    p = np.clip(p, 0.05, 0.95)
    found = calibration(ScoreTable.from_rows(p, y), Sampling(confidence=0.9))
    model = sm.Logit(y.astype(float), sm.add_constant(logit(p))).fit(disp=0, tol=1e-12)
    limits = model.conf_int(0.1)
    for figure, i in ((found.intercept, 0), (found.slope, 1)):
        assert figure.value == pytest.approx(model.params[i], rel=1e-8)
        assert (figure.low, figure.high) == pytest.approx(tuple(limits[i]), rel=1e-6)
    shifted = sm.GLM(y.astype(float), np.ones(len(y)), family=sm.families.Binomial(), offset=logit(p)).fit(tol=1e-12)
    assert found.intercept_at_slope_1.value == pytest.approx(shifted.params[0], rel=1e-8)
    assert found.intercept_at_slope_1.low == pytest.approx(shifted.conf_int(0.1)[0, 0], rel=1e-6)
    assert found.slope.method == "Wald, observed information"


def line_without(p, y, w, left):
    """The line that statsmodels fits to the other rows, with a slope and with the slope held at 1."""
    keep = ~left
    y, x, w = y[keep].astype(float), logit(p[keep]), w[keep]
    binomial = sm.families.Binomial()
    sloped = sm.GLM(y, sm.add_constant(x), family=binomial, var_weights=w).fit(tol=1e-12)
    shifted = sm.GLM(y, np.ones(len(y)), family=binomial, var_weights=w, offset=x).fit(tol=1e-12)
    return [*sloped.params, shifted.params[0]]


def jackknifed(p, y, w, units):
    """The standard errors by refitting the line without each unit."""
    each = np.array([line_without(p, y, w, units == unit) for unit in np.unique(units)])
    whole = line_without(p, y, w, np.zeros(len(y), bool))
    count = len(each)
    return whole, np.sqrt((count - 1) / count * ((each - whole) ** 2).sum(axis=0))


def halves(found):
    return np.array([(one.high - one.low) / 2 for one in (found.intercept, found.slope, found.intercept_at_slope_1)])


@pytest.mark.parametrize("decimals", [None, 1])
def test_weighted_rows_vary_as_leaving_each_of_them_out_says(decimals):
    p, y, w = rows(120, decimals=decimals, seed=1)
    p = np.clip(p, 0.05, 0.95)
    if decimals:
        w = np.where(y, 2.0, 1.0)  # of rows that are alike a table knows the usual weight
    found = calibration(ScoreTable.from_rows(p, y, w))
    whole, errors = jackknifed(p, y, w, np.arange(120))
    assert found.slope.value == pytest.approx(whole[1], rel=1e-8)
    reach = halves(found) / errors
    assert (reach > 1.93).all()  # Student's t, of one step of the fit
    assert (reach < 2.3).all()
    assert found.slope.method == "influence of rows, Student's t"


def test_clusters_vary_as_leaving_each_of_them_out_says():
    p, y, w = rows(200, seed=2)
    cluster = np.repeat(np.arange(40), 5)
    found = stakes.evaluate(truth=y, score=p, cluster=cluster, weight=w).calibration
    _, errors = jackknifed(p, y, w, cluster)
    reach = halves(found) / errors
    assert (reach > 1.96).all()
    assert (reach < 2.4).all()
    assert found.slope.method == "influence of 40 clusters, Student's t"
    assert found.honest is None
    assert found.brier.uncertainty.no_interval.endswith("these come in clusters")
    assert "40 clusters" in str(found)


def test_very_many_scores_stand_at_the_mean_of_their_bin(monkeypatch):
    rng = np.random.default_rng(8)
    logits = rng.normal(size=4000) * 3
    truth = rng.random(4000) < 1 / (1 + np.exp(-0.3 - 0.8 * logits))
    score = 1 / (1 + np.exp(-logits))
    score[:4] = [0, 1, 1, 1e-300]
    names = ("calibration_slope", "calibration_intercept", "calibration_in_the_large")
    few = [stakes.metrics.find(name)(truth, score) for name in names]
    monkeypatch.setattr("stakes.metrics.calibration._MANY", 1000)
    many = [stakes.metrics.find(name)(truth, score) for name in names]
    assert many == pytest.approx(few, abs=1e-7)
    odds = LogOdds.of(ScoreTable.from_rows(np.repeat([0.3, 0.300001, 0.7], 400), np.tile([True, False], 600)))
    assert [len(odds.logits), odds.positives.tolist(), odds.negatives.tolist()] == [2, [400, 200], [400, 200]]
    assert odds.logits[0] == pytest.approx(np.mean([np.log(p / (1 - p)) for p in (0.3, 0.300001)]), abs=1e-12)


def test_a_single_cluster_gives_no_interval():
    p, y, _ = rows(60)
    with pytest.warns(stakes.InputWarning, match="only 1 cluster"):
        ev = stakes.evaluate(truth=y, score=p, cluster=np.zeros(60, int))
    assert ev.calibration.slope.no_interval == "there is a single cluster"


def test_a_fixed_design_leaves_the_intercepts_open():
    p, y, _ = rows()
    found = calibration(ScoreTable.from_rows(p, y), Sampling(design="classes fixed"))
    assert found.slope.low is not None
    assert found.intercept.no_interval == found.intercept_at_slope_1.no_interval
    assert "the design fixes the class counts" in found.intercept.no_interval
    assert "the design fixes the class counts" in found.brier.uncertainty.no_interval


@pytest.mark.parametrize(
    ("score", "truth", "reason"),
    [
        ([0.2, 0.3, 0.7, 0.8], [0, 0, 1, 1], "part the classes perfectly, so the slope is infinite"),
        ([0.2, 0.3, 0.3, 0.8], [0, 0, 1, 1], "part the classes perfectly, so the slope is infinite"),
        ([0.2, 0.3, 0.7, 0.8], [1, 1, 0, 0], "the wrong way round, so the slope is minus infinite"),
        ([0.4, 0.4, 0.4], [1, 0, 0], "all probabilities are equal"),
        ([0.4, 0.5], [1, 1], "no case is negative"),
        ([0.4, 0.5], [0, 0], "no case is positive"),
    ],
)
def test_where_there_is_no_slope_words_say_why(score, truth, reason):
    found = calibration(ScoreTable.from_rows(score, truth))
    assert reason in found.slope.reason
    assert found.intercept.reason == found.slope.reason
    assert math.isnan(found.slope.value)
    assert reason in " ".join(found.to_markdown().split())
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_intercept_at_slope_1_survives_what_the_slope_does_not():
    parted = calibration(ScoreTable.from_rows([0.2, 0.3, 0.7, 0.8], [0, 0, 1, 1]))
    assert parted.intercept_at_slope_1.value == pytest.approx(0, abs=1e-9)
    equal = calibration(ScoreTable.from_rows([0.4] * 3, [1, 0, 0]))
    assert equal.intercept_at_slope_1.value == pytest.approx(math.log(0.5) - math.log(0.4 / 0.6))


def test_weighted_certain_rows_are_told_by_weight():
    found = calibration(ScoreTable.from_rows([0.0, 0.5, 0.4, 0.6], [0, 1, 1, 0], [2.5, 0.5, 0.5, 1]))
    assert found.intercept_at_slope_1.note.startswith("in rows with 2.5 of the weight 4.5 the probability is exactly 0")
    assert (found.certain.rows, found.certain.wrong) == (2.5, 0)


def test_exact_0_and_1_are_read_as_halfway_to_their_neighbours():
    """A forest of ten trees says 0 where it might say 0.05."""
    rng = np.random.default_rng(3)
    votes = rng.binomial(10, rng.beta(0.7, 0.7, 500))
    y = rng.random(500) < (votes + 0.5) / 11
    found = calibration(ScoreTable.from_rows(votes / 10, y))
    model = sm.Logit(y.astype(float), sm.add_constant(logit(np.clip(votes / 10, 0.05, 0.95)))).fit(disp=0, tol=1e-12)
    assert [found.intercept.value, found.slope.value] == pytest.approx(list(model.params), rel=1e-6)
    assert [found.slope.low, found.slope.high] == pytest.approx(list(model.conf_int()[1]), rel=1e-4)
    certain = (votes == 0) | (votes == 10)
    assert found.certain.rows == certain.sum()
    assert found.certain.wrong == (certain & (y != (votes == 10))).sum() > 0
    assert found.slope.note.startswith(f"in {certain.sum()} of 500 rows the probability is exactly 0 or 1")
    # where all are 0 or 1 there is no neighbour; a score of five rows is read as half a row of six
    only = calibration(ScoreTable.from_rows([0, 0, 0, 1, 1], [0, 0, 1, 1, 0]))
    assert only.slope.value == pytest.approx(math.log(2) / (2 * math.log(5)), rel=1e-6)


def test_extreme_probabilities_still_have_a_line():
    rng = np.random.default_rng(7)
    x = rng.normal(0, 25, 300)
    p = 1 / (1 + np.exp(-x))
    p = np.clip(p, 1e-300, 1 - 1e-16)
    y = rng.random(300) < 1 / (1 + np.exp(-0.1 * x))
    found = calibration(ScoreTable.from_rows(p, y))
    model = sm.Logit(y.astype(float), sm.add_constant(np.log(p) - np.log1p(-p))).fit(disp=0, tol=1e-12)
    assert found.slope.value == pytest.approx(model.params[1], rel=1e-7)
    assert found.intercept_at_slope_1.defined


# ── the parts of a loss ──────────────────────────────────────────────────────────────────────────────────────────
def surprise(p, y, w):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.average(np.where(y, -np.log(p), -np.log1p(-p)), weights=w)


def squares(p, y, w):
    return np.average((p - y) ** 2, weights=w)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("decimals", [None, 1])
def test_parts_of_both_losses_against_scikit_learn(weighted, decimals):
    p, y, w = rows(300, decimals=decimals, seed=4)
    w = w if weighted else None
    found = calibration(ScoreTable.from_rows(p, y, w))
    fitted = IsotonicRegression().fit(p, y, w).predict(p)
    share = np.full(len(p), np.average(y, weights=w))
    for parts, loss in ((found.brier, squares), (found.log_loss, surprise)):
        score, best, constant = (loss(said, y, w) for said in (p, fitted, share))
        assert parts.score.value == pytest.approx(score, rel=1e-12)
        assert parts.miscalibration.value == pytest.approx(score - best, abs=1e-12)
        assert parts.discrimination.value == pytest.approx(constant - best, abs=1e-12)
        assert parts.uncertainty.value == pytest.approx(constant, rel=1e-12)
        assert parts.calibration_share.value == pytest.approx((score - best) / score, abs=1e-11)
        assert parts.score.value == pytest.approx(
            parts.miscalibration.value - parts.discrimination.value + parts.uncertainty.value, abs=1e-14
        )
        assert parts.score.baseline == parts.uncertainty.value
        assert parts.score.low < score < parts.score.high
        for figure in (parts.miscalibration, parts.discrimination, parts.calibration_share):
            assert figure.no_interval == "noise alone makes it larger than 0, so resampling would be biased"


def test_brier_parts_in_fractions():
    score, truth = [0.125, 0.25, 0.25, 0.5, 0.75, 0.875], [0, 1, 0, 1, 0, 1]
    fit = by_fractions([0, 1, 1, 0, 1], [1, 2, 1, 1, 1])
    fit = [fit[0], fit[1], fit[1], *fit[2:]]
    mean = [sum((Fraction(s) - y) ** 2 for s, y in zip(said, truth, strict=True)) / 6 for said in (score, fit)]
    parts = calibration(ScoreTable.from_rows(score, truth)).brier
    assert parts.miscalibration.value == pytest.approx(float(mean[0] - mean[1]), abs=1e-15)
    assert parts.uncertainty.value == 0.25
    assert parts.discrimination.value == pytest.approx(float(Fraction(1, 4) - mean[1]), abs=1e-15)


def test_infinite_and_vanishing_losses_have_no_share():
    wrong = calibration(ScoreTable.from_rows([0.0, 0.5, 0.9], [1, 0, 1]))
    assert wrong.log_loss.miscalibration.value == math.inf
    assert wrong.log_loss.calibration_share.reason == "the loss is infinite"
    perfect = calibration(ScoreTable.from_rows([0.0, 1.0], [0, 1]))
    assert perfect.brier.calibration_share.reason == "the loss is 0"
    assert perfect.brier.discrimination.value == 0.25
    for found in (wrong, perfect):
        json.dumps(found.to_dict(), allow_nan=False)
        assert str(found)


def test_uncertainty_has_wilsons_limits_carried_over():
    p, y, _ = rows(200, seed=5)
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(y.sum(), 200, method="wilson")
    assert high < 0.5
    found = calibration(ScoreTable.from_rows(p, y))
    assert (found.brier.uncertainty.low, found.brier.uncertainty.high) == pytest.approx(
        (low * (1 - low), high * (1 - high))
    )
    entropies = [-q * math.log(q) - (1 - q) * math.log(1 - q) for q in (low, high)]
    assert (found.log_loss.uncertainty.low, found.log_loss.uncertainty.high) == pytest.approx(tuple(entropies))
    even = calibration(ScoreTable.from_rows([0.2, 0.6, 0.7, 0.8], [0, 1, 0, 1]))
    assert even.brier.uncertainty.high == 0.25
    weighted = calibration(ScoreTable.from_rows(p, y, np.full(200, 7.0)))
    assert weighted.brier.uncertainty.low == pytest.approx(found.brier.uncertainty.low)


# ── the reliability curve ────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("by", ["mass", "width"])
@pytest.mark.parametrize("weighted", [False, True])
def test_bins_add_up_to_the_ece(by, weighted):
    p, y, w = rows(350, decimals=2, seed=6)
    ev = stakes.evaluate(truth=y, score=p, weight=w if weighted else None)
    bins = ev.calibration.reliability(7, by=by).bins
    gap = np.abs(bins.mean_probability - bins.frequency) @ bins.rows / bins.rows.sum()
    name = "ece(bins=7)" if by == "width" else "ece_equal_mass(bins=7)"
    assert gap == pytest.approx(ev[name].value, abs=1e-13)
    assert (np.diff(bins.mean_probability) > 0).all()
    if by == "mass" and not weighted:
        assert len(bins.rows) == 7
        assert bins.rows.min() > 40


def test_wilson_limits_of_bins_count_effective_rows():
    from statsmodels.stats.proportion import proportion_confint

    score, truth = [0.1, 0.1, 0.1, 0.9, 0.9], [0, 1, 0, 1, 1]
    plain = calibration(ScoreTable.from_rows(score, truth)).reliability(2, by="width").bins
    assert (plain.low[0], plain.high[0]) == pytest.approx(proportion_confint(1, 3, method="wilson"))
    assert plain.high[1] == 1
    weighted = calibration(ScoreTable.from_rows(score, truth, [1, 2, 1, 1, 1])).reliability(2, by="width").bins
    assert weighted.frequency[0] == 0.5
    telling = 16 / 6
    assert (weighted.low[0], weighted.high[0]) == pytest.approx(
        proportion_confint(telling / 2, telling, method="wilson")
    )


def test_empty_bins_are_left_out_and_scores_at_the_ends_have_a_bin():
    found = calibration(ScoreTable.from_rows([0.0, 1.0, 0.05], [0, 1, 0])).reliability(10, by="width").bins
    assert found.rows.tolist() == [2, 1]
    assert found.mean_probability.tolist() == [0.025, 1.0]


def test_the_curve_runs_like_scikit_learns():
    p, y, _ = rows(300, seed=8)
    found = calibration(ScoreTable.from_rows(p, y)).reliability()
    model = IsotonicRegression(out_of_bounds="clip").fit(p, y)
    assert np.interp(p, found.probability, found.frequency) == pytest.approx(model.predict(p), abs=1e-12)
    assert repr(found) == "<Reliability in 10 bins of equal mass>"
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_band_holds_honest_curves_and_not_others():
    p, y, _ = rows(3000, seed=9, shape=1.0)
    inside = calibration(ScoreTable.from_rows(p, y)).reliability()
    height = np.interp(inside.band.probability, inside.probability, inside.frequency)
    share = ((inside.band.low <= height) & (height <= inside.band.high)).mean()
    assert share > 0.85
    p, y, _ = rows(3000, seed=9, shape=3.0)
    outside = calibration(ScoreTable.from_rows(p, y)).reliability()
    height = np.interp(outside.band.probability, outside.probability, outside.frequency)
    assert ((outside.band.low <= height) & (height <= outside.band.high)).mean() < 0.3
    assert outside.band.p_value == 1 / 1001


@pytest.mark.parametrize("trials", [30, pytest.param(120, marks=pytest.mark.deep)])
@pytest.mark.parametrize(
    ("n", "decimals", "weighted"),
    [(150, None, False), (150, 1, True), pytest.param(6000, None, False, marks=pytest.mark.deep)],
)
def test_p_values_of_honest_probabilities_are_even(n, decimals, weighted, trials, monkeypatch):
    monkeypatch.setattr("stakes.decisions.calibration.reliability.REDRAWN", 99)
    found = []
    for seed in range(trials):
        p, y, w = rows(n, seed=seed, decimals=decimals, shape=1.0)
        table = ScoreTable.from_rows(p, y, w if weighted else None)
        found.append(judge_scores(table, replace(USUAL, seed=seed)).p_value)
    assert np.mean(found) == pytest.approx(0.5, abs=1.1 / trials**0.5)  # four errors of a mean of even numbers
    assert np.mean(np.array(found) <= 0.1) < 0.2
    assert min(found) < 0.2


def test_bands_are_the_same_for_the_same_seed_and_clusters_have_none():
    p, y, _ = rows(200)
    table = ScoreTable.from_rows(p, y)
    one, two, other = (calibration(table, Sampling(seed=s)).honest for s in (1, 1, 2))
    assert one.to_dict() == two.to_dict() != other.to_dict()
    ev = stakes.evaluate(truth=y, score=p, cluster=np.arange(200) // 2)
    curve = ev.calibration.reliability(5)
    assert curve.band is None
    assert curve.to_dict()["no_band"] == "it takes rows as independent, and these come in clusters"
    with pytest.warns(stakes.InputWarning, match="only 1 cluster"):
        alone = stakes.evaluate(truth=y, score=p, cluster=["same"] * 200).calibration.reliability(5)
    assert alone.to_dict()["bins"]["low"] == [None] * 5
    assert alone.bins.no_limits == curve.no_band


@pytest.mark.parametrize("weighted", [False, True])
def test_limits_of_a_bin_are_those_of_resampled_clusters(weighted):
    rng = np.random.default_rng(5)
    cluster = rng.integers(0, 150, 3000)
    ill = rng.normal(size=150)[cluster]
    p = rng.random(3000)
    y = (rng.random(3000) < 1 / (1 + np.exp(-4 * (p - 0.5) - ill))).astype(int)
    w = rng.integers(1, 4, 3000) if weighted else np.ones(3000)
    bins = stakes.evaluate(truth=y, score=p, cluster=cluster, weight=w).calibration.reliability(4, "width").bins
    plain = stakes.evaluate(truth=y, score=p, weight=w).calibration.reliability(4, "width").bins
    sums = np.stack([[np.bincount(cluster, w * one * (np.floor(p * 4) == b), 150) for one in (y, 1)] for b in range(4)])
    drawn = sums @ rng.multinomial(150, np.full(150, 1 / 150), 4000).T
    ends = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975], axis=1)
    assert bins.high - bins.low == pytest.approx(ends[1] - ends[0], rel=0.08)
    assert (bins.high - bins.low > 1.2 * (plain.high - plain.low)).all()
    assert bins.frequency == pytest.approx(plain.frequency)


# ── as users meet it ─────────────────────────────────────────────────────────────────────────────────────────────
def test_an_evaluation_has_a_calibration():
    p, y, _ = rows()
    ev = stakes.evaluate(truth=y, score=p, confidence=0.8, by=["a", "b"] * 200)
    found = ev.calibration
    assert isinstance(found, stakes.Calibration)
    assert found is ev.calibration
    assert found.slope.confidence == 0.8
    assert found.brier.score == ev["brier_score"]
    assert found.ece.value == ev["ece"].value
    assert ev.segments["a"].calibration.table.total == 200
    saved = found.to_dict()
    assert set(saved) >= {"slope", "intercept", "intercept_at_slope_1", "ece", "brier", "log_loss", "reliability"}
    json.dumps(saved, allow_nan=False)
    assert str(found.slope).endswith(f"80 % interval {found.slope.low:.6g} to {found.slope.high:.6g}")  # no baseline
    text = " ".join(str(found).split())
    assert text.startswith(
        "How honest are the probabilities of “true”? 400 rows ? Can the probabilities be taken at face"
    )
    assert "they are too high" in text
    assert "1,000 simulations" in text
    assert repr(found) == "<Calibration of 'true' against 'false'>"


@pytest.mark.parametrize(("factor", "words"), [(0.3, "they are too cautious"), (3, "they are too extreme")])
def test_the_slope_is_read_out_loud(factor, words):
    p, y, _ = rows(3000, shape=1.0)
    said = 1 / (1 + np.exp(-factor * logit(p)))
    assert words in str(calibration(ScoreTable.from_rows(said, y)))


def test_what_are_no_probabilities_is_refused():
    with pytest.raises(InputError, match=r"^calibration needs probabilities: the scores are no prob"):
        _ = stakes.evaluate(truth=[0, 1, 1], score=[-1.0, 2.0, 3.0], threshold=0).calibration
    with pytest.raises(InputError, match=r"^calibration needs probabilities: no scores were given; pass score=$"):
        _ = stakes.evaluate(truth=[0, 1], prediction=[0, 1]).calibration
    with pytest.raises(InputError, match=r"^calibration needs probabilities: the scores were counted in wide bins"):
        calibration(ScoreTable.from_rows([0.1, 0.2], [0, 1]).anonymise(10))
    with pytest.raises(InputError, match=r"^calibration needs probabilities: the scores are no probabilities"):
        calibration(ScoreTable.from_rows([1.1, 0.2], [0, 1]))
    with pytest.raises(InputError, match="by='x' is no way to cut bins; it is 'mass' or 'width'"):
        calibration(ScoreTable.from_rows([0.1, 0.2], [0, 1])).reliability(10, "x")
    with pytest.raises(InputError, match="bins=0 does not work; give a whole number from 1 on"):
        calibration(ScoreTable.from_rows([0.1, 0.2], [0, 1])).reliability(0)


def test_several_classes_are_calibrated_one_by_one_and_summed():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(3), 200)
    y = np.array([rng.choice(3, p=row) for row in p])
    ev = stakes.evaluate(truth=np.array(list("abc"))[y], score=p, classes=list("abc"))
    found = ev.calibration
    each = [calibration(ScoreTable.from_rows(p[:, i], y == i)).brier for i in range(3)]
    for name in ("miscalibration", "discrimination", "uncertainty"):
        total = sum(getattr(parts, name).value for parts in each)
        assert getattr(found.brier, name).value == pytest.approx(total, rel=1e-12)
    assert found.brier.score.value == pytest.approx(ev["multiclass_brier_score"].value, rel=1e-12)
    assert (found.brier.score.low, found.brier.score.high) == pytest.approx(
        (ev["multiclass_brier_score"].low, ev["multiclass_brier_score"].high)
    )
    assert found["b"].slope.value == calibration(ScoreTable.from_rows(p[:, 1], y == 1)).slope.value
    assert "no sum over classes" in found.log_loss.reason
    assert str(found).startswith("How honest are the probabilities of 3 classes?")
    assert repr(found) == "<Calibration of 3 classes>"
    json.dumps(found.to_dict(), allow_nan=False)
    with pytest.raises(InputError, match="there is no class 'd'"):
        found["d"]


def test_the_summed_parts_of_weighted_clustered_classes():
    rng = np.random.default_rng(2)
    p = rng.dirichlet(np.ones(3), 200)
    y, w = rng.integers(0, 3, 200), rng.random(200) + 0.5
    ev = stakes.evaluate(truth=y, score=p, classes=range(3), weight=w, cluster=np.arange(200) // 2)
    found = ev.calibration
    assert found.brier.score.value == pytest.approx(ev["multiclass_brier_score"].value, rel=1e-12)
    assert "clusters" in found["1"].slope.method
