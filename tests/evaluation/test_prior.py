"""Figures at other class frequencies than the rows have: against rows with weights, published formulas, and draws."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import polars as pl
import pytest
import sklearn.metrics as sk
from sklearn.linear_model import LogisticRegression

import stakes
from stakes import metrics
from stakes.evaluation import shared_models
from stakes.findings.facts import about
from stakes.findings.pages import payload_of
from stakes.language import speaking
from stakes.metrics.prior import at_prior
from stakes.tallies import ClassScores, Confusion, ScoreTable
from stakes.tallies.clusters import Clusters
from stakes.tallies.population import Population
from stakes.uncertainty import permutation as shuffles
from stakes.uncertainty.changes import influences
from stakes.uncertainty.sampling import Sampling, student
from stakes.views.page import where_used
from tests.parts import complete

SICK = 0.01
ALL = [complete(metric, miss=5, false_alarm=1) for metric in metrics.catalogue()]
TWO = [metric for metric in ALL if metric.tally in (Confusion, ScoreTable)]


def case_control(n=240, seed=0):
    """As many sick as healthy, as in a case-control study; probabilities that fit the rows."""
    random = np.random.default_rng(seed)
    truth = random.permutation(np.arange(n) % 2)
    return truth, np.round(1 / (1 + np.exp(-(2.2 * truth - 1.1 + 1.2 * random.normal(size=n)))), 3)


def weights_of(truth, shares):
    """What rows weigh so that their classes are that frequent."""
    return np.array(shares)[truth] / np.bincount(truth)[truth] * len(truth)


@pytest.fixture(scope="module")
def rows():
    return case_control()


@pytest.fixture(scope="module")
def ev(rows):
    return stakes.evaluate(truth=rows[0], score=rows[1], prior=SICK)


@pytest.fixture(scope="module")
def here(rows):
    return stakes.evaluate(truth=rows[0], score=rows[1])


@pytest.fixture(scope="module")
def weighed(rows):
    return stakes.evaluate(truth=rows[0], score=rows[1], weight=weights_of(rows[0], [1 - SICK, SICK]))


def test_a_decision_tells_alarms_as_an_evaluation_there_does(rows):
    asked = {"truth": rows[0], "score": rows[1], "prior": SICK, "training_prior": "rows"}
    choice = stakes.decide(**asked, costs=stakes.Costs(miss=50, false_alarm=1))
    ev = stakes.evaluate(**asked, costs=stakes.Costs(miss=50, false_alarm=1))
    assert ev.threshold == choice.recommended[0]
    for name in ("recall", "false_positive_rate", "alarm_rate", "precision"):
        assert choice.figures[name] == ev[name]


# ── the figures ──────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("metric", TWO, ids=lambda metric: metric.name)
def test_every_figure_is_that_of_rows_weighed_by_their_class(metric, rows, ev, here, weighed):
    truth, score = rows
    weight = weights_of(truth, [1 - SICK, SICK])
    output = score if metric.tally is ScoreTable else (score >= 0.5).astype(int)
    found = ev[metric.text]
    if metric.name.endswith("_at_k"):  # k of as many rows there, where weights leave fewer that tell as much
        return
    assert found.value == pytest.approx(metric(truth, output, weight=weight, positive=1), rel=1e-9, abs=1e-12)
    assert found.low is None or found.low <= found.value <= found.high
    assert (found.low is None) == bool(found.no_interval)
    assert found.baseline == pytest.approx(weighed[metric.text].baseline, rel=1e-9, nan_ok=True)
    if metric.within_classes:
        assert replace(found, baseline=math.nan) == replace(here[metric.text], baseline=math.nan)
    else:
        assert str(found).startswith(f"{metric.text} at prevalence 1 %")


@pytest.mark.parametrize("metric", TWO, ids=lambda metric: metric.name)
def test_what_is_said_to_be_within_the_classes_is(metric, rows):
    truth, score = rows
    output = score if metric.tally is ScoreTable else (score >= 0.7).astype(int)
    here, there = (metric(truth, output, weight=weights_of(truth, [1 - p, p]), positive=1) for p in (0.5, 0.02))
    same = here == pytest.approx(there, rel=1e-9)
    assert same == metric.within_classes or metric.name in (
        "coverage",
        "within_one_accuracy",
    )  # every case gets a class here


def test_a_figure_of_counts_is_rounded_once():
    table = Confusion.two_class(tp=9, fn=1, fp=3, tn=7)
    there = Population(("negative", "positive"), "positive", (Fraction(99, 100), Fraction(1, 100)))
    hits, alarms = Fraction(9, 10) / 100, Fraction(3, 10) * 99 / 100
    assert at_prior(metrics.precision, there).of(table) == float(hits / (hits + alarms))


def test_trained_elsewhere_the_probabilities_are_corrected(rows):
    truth, score = rows
    odds = score / (1 - score) * (SICK / (1 - SICK)) / (0.5 / 0.5)
    there = odds / (1 + odds)
    ev = stakes.evaluate(truth=truth, score=score, prior=SICK, training_prior=0.5)
    weight = weights_of(truth, [1 - SICK, SICK])
    assert ev["brier_score"].value == pytest.approx(sk.brier_score_loss(truth, there, sample_weight=weight))
    assert ev["log_loss"].value == pytest.approx(sk.log_loss(truth, there, sample_weight=weight))
    assert ev["net_benefit(threshold=0.2)"].value == pytest.approx(
        metrics.net_benefit(truth, there, weight=weight, threshold=0.2)
    )
    assert ev["recall"].value == np.mean(there[truth == 1] >= 0.5)  # decided by an even chance where it is used
    assert list(ev.curve("decision", thresholds=[0.2]).y) == pytest.approx([ev["net_benefit(threshold=0.2)"].value])


def test_several_classes_agree_with_scikit_learn():
    random, names = np.random.default_rng(1), ["a", "b", "c"]
    truth, shares = np.arange(300) % 3, [0.9, 0.09, 0.01]
    score = 0.6 * random.dirichlet([1, 1, 1], 300) + 0.4 * np.eye(3)[np.where(random.random(300) < 0.7, truth, 0)]
    said, weight = score.argmax(1), weights_of(truth, shares)
    ev = stakes.evaluate(
        truth=np.array(names)[truth], score=score, classes=names, prior=dict(zip(names, shares, strict=True))
    )
    theirs = {
        "accuracy": sk.accuracy_score(truth, said, sample_weight=weight),
        "macro_f1": sk.f1_score(truth, said, sample_weight=weight, average="macro"),
        "weighted_precision": sk.precision_score(truth, said, sample_weight=weight, average="weighted"),
        "mcc": sk.matthews_corrcoef(truth, said, sample_weight=weight),
        "multiclass_log_loss": sk.log_loss(truth, score, sample_weight=weight),
        "macro_auc": np.mean([sk.roc_auc_score(truth == c, score[:, c], sample_weight=weight) for c in range(3)]),
    }
    for name, value in theirs.items():
        found = ev[name]
        assert found.value == pytest.approx(value), name
        assert found.low < found.value < found.high
        assert "at the given class frequencies" in str(found)
    assert ev["precision", "c"].value == pytest.approx(
        sk.precision_score(truth, said, sample_weight=weight, average=None)[2]
    )
    assert ev["average_precision", "b"].value == pytest.approx(
        sk.average_precision_score(truth == 1, score[:, 1], sample_weight=weight)
    )
    assert ev.class_figures["c"]["precision"] == ev["precision", "c"]
    assert ev["macro_recall"].value == pytest.approx(np.mean([np.mean(said[truth == c] == c) for c in range(3)]))


# ── how sure ─────────────────────────────────────────────────────────────────────────────────────────────────────
SPREAD = ["precision", "mcc", "average_precision", "brier_score", "lift"]


@pytest.mark.parametrize("name", SPREAD)
def test_figures_spread_like_rows_drawn_within_their_class(name, rows, ev):
    truth, score = rows
    metric, random, drawn = metrics.find(name), np.random.default_rng(2), []
    weight = weights_of(truth, [1 - SICK, SICK])
    for _ in range(120):
        i = np.concatenate([random.choice(np.flatnonzero(truth == c), 120) for c in (0, 1)])
        output = score[i] if metric.tally is ScoreTable else (score[i] >= 0.5).astype(int)
        drawn.append(metric(truth[i], output, weight=weight[i], positive=1))
    metric, tally, sampling = ev._place_of(name)
    (found,) = influences([metric], [float(metric.of(tally))], tally, sampling)
    spread = math.sqrt((found.counts * found.changes**2).sum())
    if name == "average_precision":  # a negative on top weighs as much as a hundred positives: to be on the safe side
        assert np.std(drawn) < spread < 2.5 * np.std(drawn)
    else:
        assert spread == pytest.approx(np.std(drawn), rel=0.25)


@pytest.mark.parametrize("name", ["macro_auc", "multiclass_brier_score"])
def test_figures_of_classes_spread_like_rows_drawn_within_their_class(name):
    random, names, shares = np.random.default_rng(4), ["a", "b", "c"], np.array([0.2, 0.2, 0.6])
    truth = np.repeat([0, 1, 2], 80)
    score = 0.7 * random.dirichlet([1, 1, 1], 240) + 0.3 * np.eye(3)[np.where(random.random(240) < 0.8, truth, 0)]
    weight = 3 * shares[truth]

    def theirs(i):
        if name == "multiclass_brier_score":
            return np.average(((np.eye(3)[truth[i]] - score[i]) ** 2).sum(1), weights=weight[i])
        return np.mean([sk.roc_auc_score(truth[i] == c, score[i, c], sample_weight=weight[i]) for c in range(3)])

    places = (np.concatenate([80 * c + random.integers(0, 80, 80) for c in range(3)]) for _ in range(60))
    spread = np.std([theirs(i) for i in places])
    found = stakes.evaluate(
        truth=np.array(names)[truth], score=score, classes=names, prior=dict(zip(names, shares, strict=True))
    )[name]
    assert found.value == pytest.approx(theirs(np.arange(240)))
    assert found.high - found.low == pytest.approx(2 * 1.96 * spread, rel=0.25)


@pytest.mark.parametrize("name", SPREAD)
def test_clusters_weights_and_pairs_know_of_the_prior(name, rows, ev):
    truth, score = rows
    metric, tally, sampling = ev._place_of(name)
    value = float(metric.of(tally))
    (one,) = influences([metric], [value], tally, sampling)
    decided = (score >= 0.5).astype(int)
    alone = Clusters(np.arange(240), 240, truth=truth, decided=decided, scores=score)
    (other,) = influences([metric], [value], tally, Sampling(clusters=alone))
    assert (other.changes**2).sum() == pytest.approx((one.counts * one.changes**2).sum(), rel=1e-6)
    twice = stakes.evaluate(truth=truth, score=score, prior=SICK, weight=np.full(240, 2.0))[name]
    assert twice.value == pytest.approx(value)
    worse = np.clip(score + 0.1 * np.random.default_rng(0).normal(size=240), 0.001, 0.999)
    pair = stakes.compare(truth=truth, scores={"a": score, "b": worse}, prior=SICK, metric=name).pairs[0]
    other = stakes.evaluate(truth=truth, score=worse, prior=SICK)[name].value
    assert abs(pair.difference) == pytest.approx(abs(value - other))
    assert pair.low <= pair.difference <= pair.high


@pytest.mark.parametrize("place", [dict, pl.LazyFrame], ids=["memory", "engine"])
def test_accuracies_of_two_models_are_compared_where_they_are_used(place, monkeypatch):
    """McNemar's test counts rows as they are: at another frequency it spoke of another difference."""
    monkeypatch.setattr(shared_models, "FEW_ROWS", 10)
    rng = np.random.default_rng(0)
    truth = rng.random(1000) < 0.5
    one, other = truth ^ (rng.random(1000) < 0.3), np.where(truth, rng.random(1000) < 0.95, rng.random(1000) < 0.6)
    columns = place({"y": truth, "one": one, "other": other, "row": np.arange(1000)})
    asked = {"truth": "y", "predictions": ["one", "other"], "prior": 0.02, "metric": "accuracy"}
    pair = stakes.compare(columns, **asked).pairs[0]
    alone = stakes.compare(columns, **asked, cluster="row").pairs[0]
    gaps = [(one == truth)[rows].mean() - (other == truth)[rows].mean() for rows in (truth, ~truth)]
    assert pair.difference == pytest.approx(0.02 * gaps[0] + 0.98 * gaps[1])
    assert (pair.low, pair.high) == pytest.approx((alone.low, alone.high), rel=0.15)
    assert pair.low > 0.1
    assert pair.p_value < 1e-6


@pytest.mark.parametrize("name", ["calibration_slope", "calibration_in_the_large"])
def test_the_calibration_line_varies_within_the_classes(name, rows, ev):
    """The limits against what leaving out row by row says, and against rows as clusters of one."""
    metric, tally, sampling = ev._place_of(name)
    found = ev[name]
    (jackknife,) = influences([metric], [found.value], tally, sampling)
    reach = student(0.975, jackknife.degrees) * jackknife.error
    assert (found.high - found.low) / 2 == pytest.approx(reach, rel=0.12)
    truth, score = rows
    alone = stakes.evaluate(truth=truth, score=score, prior=SICK, cluster=np.arange(240))[name]
    assert alone.high - alone.low == pytest.approx(found.high - found.low, rel=0.02)


@pytest.mark.slow
def test_a_prior_from_few_cases_is_less_sure(rows):
    """Of 1,000 cases 10 were sick: the share itself varies, as a binomial one."""
    truth, score = rows
    known, few, many = (
        stakes.evaluate(truth=truth, score=score, prior=prior)
        for prior in (SICK, {"1": 10, "0": 990}, {"1": 100_000, "0": 9_900_000})
    )
    costs = "expected_cost(miss=50, false_alarm=1)"
    for name in ("precision", "f1", costs):
        one, two, three = (ev[name] for ev in (known, few, many))
        assert one.value == two.value == three.value
        assert two.high - two.low > 1.03 * (three.high - three.low)
    table = known.confusion
    tpr, fpr = table.tp / table.P, table.fp / table.N
    shares = np.random.default_rng(0).binomial(1000, SICK, 4000) / 1000
    spread = np.std(shares * tpr / (shares * tpr + (1 - shares) * fpr))
    metric, tally, sampling = few._place_of("precision")
    (found,) = influences([metric], [few["precision"].value], tally, sampling)
    own = found.changes[-2:] ** 2 @ found.counts[-2:]
    assert math.sqrt(own) == pytest.approx(spread, rel=0.1)


def test_intervals_of_a_precision_elsewhere_cover():
    """Recall 0.8, 5 % false alarms: precision 0.139 at prevalence 1 %."""
    true, random, hits = 0.008 / (0.008 + 0.0495), np.random.default_rng(3), 0
    there = Population(("negative", "positive"), "positive", (Fraction(99, 100), Fraction(1, 100)))
    metric = at_prior(metrics.precision, there)
    for _ in range(60):
        tp, fp = int(random.binomial(60, 0.8)), int(random.binomial(80, 0.05))
        table = Confusion.two_class(tp=tp, fn=60 - tp, fp=fp, tn=80 - fp)
        found = stakes.uncertainty.intervals.interval(metric, float(metric.of(table)), table, Sampling())
        hits += found.low <= true <= found.high
    assert hits >= 53


# ── curves, decisions, words ─────────────────────────────────────────────────────────────────────────────────────
def test_a_decision_curve_of_a_case_control_study_is_the_published_one(rows, ev):
    """Net benefit with a given prevalence, as dcurves and rmda have it: TPR·π − FPR·(1 − π)·t/(1 − t)."""
    truth, score = rows
    at = np.array([0.005, 0.01, 0.02, 0.05, 0.1, 0.3])
    curve = ev.curve("decision", thresholds=at)
    tpr, fpr = (np.array([np.mean(score[truth == c] >= t) for t in at]) for c in (1, 0))
    assert curve.y == pytest.approx(tpr * SICK - fpr * (1 - SICK) * at / (1 - at), abs=1e-15)
    assert curve.references["treat all"] == pytest.approx(SICK - (1 - SICK) * at / (1 - at))
    assert ((curve.band.low <= curve.y) & (curve.y <= curve.band.high)).all()
    here = stakes.evaluate(truth=truth, score=score).curve("decision", thresholds=at)
    assert here.y[-1] > 0 > curve.y[-1]  # the conclusion is another one
    assert [ev[f"net_benefit(threshold={t})"].value for t in at] == pytest.approx(list(curve.y))


def test_other_curves_are_those_of_rows_weighed_by_their_class(rows, ev):
    truth, score = rows
    weight = weights_of(truth, [1 - SICK, SICK])
    curve = ev.curve("pr")
    precision = [sk.precision_score(truth, score >= t, sample_weight=weight) for t in curve.thresholds[1:]]
    assert curve.y[1:] == pytest.approx(precision)
    assert curve.y[-1] == pytest.approx(SICK)
    reject = ev.curve("reject")
    assert reject.y[0] == pytest.approx(1 - ev["accuracy"].value)
    assert reject.band.low[0] < reject.y[0] < reject.band.high[0]
    assert np.array_equal(ev.curve("roc").y, stakes.evaluate(truth=truth, score=score).curve("roc").y)


def test_a_cost_curve_says_where_on_it_the_deployment_lies(rows):
    """Its x axis is the share of the cost at stake that lies with misses: π·miss / (π·miss + (1 − π)·false alarm)."""
    truth, score = rows
    ev = stakes.evaluate(
        truth=truth, score=score, prior=SICK, training_prior=0.5, costs=stakes.Costs(miss=20, false_alarm=2)
    )
    curve = ev.curve("cost")
    assert curve.place == pytest.approx(0.01 * 20 / (0.01 * 20 + 0.99 * 2))
    own = ev.curve("cost", threshold=ev.threshold)
    stake = 0.01 * 20 + 0.99 * 2
    assert np.interp(curve.place, own.x, own.y) * stake == pytest.approx(ev["expected_cost"].value)
    assert stakes.evaluate(truth=truth, score=score, prior=SICK).curve("cost").place == SICK
    assert stakes.evaluate(truth=truth, score=score).curve("cost").place is None
    drawn = ev.plot("cost").ax_
    assert "at prevalence 1%" in drawn.get_ylabel()
    assert any("where it is used" in text.get_text() for text in drawn.get_legend().get_texts())


def test_the_best_threshold_is_that_of_the_deployment(rows):
    truth, score = rows
    choice = stakes.decide(truth=truth, score=score, best="f1", prior=SICK)
    weight = weights_of(truth, [1 - SICK, SICK])
    figures = [sk.f1_score(truth, score >= t, sample_weight=weight) for t in np.unique(score)]
    assert choice.apparent.value == pytest.approx(max(figures))
    assert choice.threshold == np.unique(score)[np.argmax(figures)]
    (recommended,) = choice.recommended
    found = sk.f1_score(truth, score >= recommended, sample_weight=weight)
    assert choice.evaluation["f1"].value == pytest.approx(found)
    assert choice.corrected.value < choice.apparent.value
    assert "at prevalence 1 %" in str(choice.corrected)


def test_segments_and_gates_are_of_the_deployment(rows):
    truth, score = rows
    ev = stakes.evaluate(truth=truth, score=score, prior=SICK, by=np.arange(240) % 3)
    for name, part in ev.segments.items():
        here = np.arange(240) % 3 == int(name)
        assert part["precision"] == stakes.evaluate(truth=truth[here], score=score[here], prior=SICK)["precision"]
    assert {one.name for one in ev.by_segment("precision")} == {"0", "1", "2"}
    assert not stakes.gate(ev, require="precision >= 0.5")
    assert stakes.gate(stakes.evaluate(truth=truth, score=score), require="precision >= 0.5")


@pytest.mark.parametrize(
    ("lang", "words"), [("en", "at prevalence 1%"), ("es", "con prevalencia del 1 %"), ("ru", "распространённости 1 %")]
)
def test_it_is_said_in_three_languages(lang, words, ev):
    with speaking(lang):
        told = [where_used(ev["precision"]), *(one.words for one in about(ev).facts)]
    told = [text.replace("\u00a0", " ").replace("\u202f", " ") for text in told]
    assert words in told[0]
    assert any(words.rpartition(" ")[2] in text and "1" in text for text in told[1:])


def test_a_prior_that_needs_what_is_not_there():
    ev = stakes.evaluate(truth=[1, 1, 1], prediction=[1, 0, 1], positive=1, classes=[0, 1], prior=0.5)
    assert ev["accuracy"].reason == "a class that the prior expects has no rows"
    assert ev["recall"].value == pytest.approx(2 / 3)
    assert stakes.evaluate(truth=[0, 0, 1], prediction=[0, 1, 1], prior=0.0)["accuracy"].value == 0.5
    undefined = stakes.evaluate(truth=[0, 0, 1], prediction=[0, 1, 1], prior=0.0)["mcc"]
    assert undefined.reason == "every case is of the same class"
    kept = ClassScores.from_rows(np.eye(3)[[0, 1, 2]], np.arange(3), ("a", "b", "c"), parts=("tables", "squares"))
    there = at_prior(metrics.multiclass_brier_score, Population(("a", "b", "c"), None, (Fraction(1, 3),) * 3))
    assert "no sample of the rows" in there.why_undefined(kept)


# ── shuffles, scorers, calibration, normalised costs ─────────────────────────────────────────────────────────────
def test_shuffles_of_decisions_are_judged_where_the_model_is_used():
    """Every order of eight labels: weighed precision as scikit-learn has it."""
    truth, said = np.array([1, 1, 1, 0, 0, 0, 0, 0]), np.array([1, 1, 0, 1, 0, 0, 0, 0])
    weight = weights_of(truth, [1 - SICK, SICK])
    orders = {tuple(order) for order in itertools.permutations(truth)}
    figure = partial(sk.precision_score, y_pred=said)
    seen = figure(truth, sample_weight=weight)
    each = [figure(np.array(one), sample_weight=weights_of(np.array(one), [1 - SICK, SICK])) for one in orders]
    test = stakes.permutation_test(truth=truth, prediction=said, prior=SICK, metric="precision")
    assert test.value == pytest.approx(seen)
    assert test.p_value == pytest.approx(np.mean(np.array(each) >= seen - 1e-12))
    assert test.prior == {"1": SICK, "0": 1 - SICK}
    assert test.to_dict()["prior"] == {"1": SICK, "0": 1 - SICK}
    assert "prevalence of 1%" in str(test)


@pytest.mark.parametrize("name", ["brier_score", "normalised_log_loss", "average_precision"])
def test_shuffles_of_scores_are_judged_where_the_model_is_used(name, rows):
    truth, score = rows
    test = stakes.permutation_test(
        truth=truth, score=score, prior=SICK, training_prior=0.5, metric=name, permutations=200
    )
    odds = score / (1 - score) * SICK / (1 - SICK)
    weight, random, metric = weights_of(truth, [1 - SICK, SICK]), np.random.default_rng(5), metrics.find(name)
    moved = [random.permutation(240) for _ in range(200)]
    null = [metric(truth[i], odds / (1 + odds), weight=weight[i], positive=1) for i in moved]
    assert test.value == pytest.approx(metric(truth, odds / (1 + odds), weight=weight, positive=1))
    assert test.null.mean() == pytest.approx(np.mean(null), abs=4 * np.std(null) / math.sqrt(100))
    assert test.null.std() == pytest.approx(np.std(null), rel=0.25)


def test_a_loss_in_the_population_is_a_sum_over_the_positives(rows):
    """What makes a million rows quick to shuffle."""
    table = ScoreTable.from_rows(rows[1], rows[0])
    pair = Fraction(99, 100), Fraction(1, 100)
    there = Population(("negative", "positive"), "positive", pair, pair)
    for name in ("brier_score", "normalised_log_loss"):
        metric = at_prior(metrics.find(name), there)
        fold, of_one, of_all = shuffles._add_up(table, metric)
        whole = of_one @ table.as_columns().values["positives"] + of_all
        assert fold.finish(whole, there.of(table)) == pytest.approx(metric.of(table), rel=1e-12)


def test_scorers_score_where_the_model_is_used(rows):
    truth, score = rows
    model = LogisticRegression().fit(score[:, None], truth)
    weight = weights_of(truth, [1 - SICK, SICK])
    said, sure = model.predict(score[:, None]), model.predict_proba(score[:, None])[:, 1]
    found = metrics.precision.scorer(prior=SICK)(model, score[:, None], truth)
    assert found == pytest.approx(sk.precision_score(truth, said, sample_weight=weight))
    found = metrics.brier_score.scorer(prior=SICK, training_prior="rows")(model, score[:, None], truth)
    odds = sure / (1 - sure) * SICK / (1 - SICK)
    assert found == pytest.approx(-sk.brier_score_loss(truth, odds / (1 + odds), sample_weight=weight))


def test_a_refitted_model_is_judged_where_it_is_used(rows):
    truth, score = rows
    asked = {"metric": "precision", "permutations": 3, "cv": "3-fold"}
    here, there = (
        stakes.permutation_test(LogisticRegression(), score[:, None], truth, **asked, **more)
        for more in ({}, {"prior": SICK})
    )
    assert there.value < here.value / 5
    assert there.prior == {"1": SICK, "0": 1 - SICK}
    assert there.null.max() < there.value


def test_calibration_says_that_it_is_about_the_rows(rows, ev, here):
    words = "This is about the rows, their class frequencies and the scores as they stand"
    assert words in " ".join(str(ev).split())
    assert words in " ".join(str(ev.calibration).split())
    assert words in str(ev.calibration.to_dict()["findings"])
    assert words not in str(here)
    parts = {one["kind"]: one for one in payload_of(ev)["sections"]}
    assert parts["calibration"]["at_prior"]
    assert parts["calibration"]["ece"]["value"] == here["ece"].value


def test_a_counted_prior_widens_the_denominator_of_the_normalised_cost():
    """With rates known nearly for sure, the interval is what the share itself leaves open: Beta(10.5, 990.5)."""
    table = Confusion.two_class(tp=800_000, fn=200_000, fp=50_000, tn=950_000, positive="1", negative="0")
    ev = stakes.evaluate(
        table, prior={"1": 10, "0": 990}, costs=stakes.Costs(miss=200, false_alarm=1), training_prior="rows"
    )
    shares = np.random.default_rng(0).beta(10.5, 990.5, 20_000)
    ratio = (shares * 200 * 0.2 + (1 - shares) * 0.05) / np.minimum(shares * 200, 1 - shares)
    found = ev["normalised_cost"]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(ratio, [0.025, 0.975])), rel=0.02)
    random = np.random.default_rng(1)
    truth = np.repeat([1, 0], 20_000)
    rows = {"y": truth, "d": random.random(40_000) < np.where(truth, 0.8, 0.05), "one": np.full(40_000, 200.0)}
    by_row = stakes.evaluate(
        rows,
        truth="y",
        prediction="d",
        prior={"1": 100, "0": 9900},
        training_prior="rows",
        costs=stakes.Costs(miss="one", false_alarm=1),
    )
    shares = random.beta(100.5, 9900.5, 20_000)
    mean = shares * 200 * 0.2 + (1 - shares) * 0.05
    for name, spread in {"expected_cost": mean, "normalised_cost": mean / np.minimum(shares * 200, 1 - shares)}.items():
        found = by_row[name]
        low, high = np.quantile(spread, [0.025, 0.975])
        assert found.high - found.low == pytest.approx(high - low, rel=0.1)


def test_very_many_classes_are_not_weighed():
    names = [f"class {i}" for i in range(1002)]
    with pytest.raises(stakes.InputError, match="1,002 classes, too many for a table that could be weighed"):
        stakes.evaluate(truth=names, prediction=names[::-1], prior=dict.fromkeys(names, 1 / 1002))


def test_figures_at_k_there_do_not_depend_on_the_scale_of_weights():
    truth, score = [1, 0] * 15, [i % 7 / 7 for i in range(30)]
    plain, *others = (
        stakes.evaluate(truth=truth, score=score, prior=0.2, training_prior=0.5, weight=weight)["recall_at_k"].value
        for weight in (None, [3.0] * 30, [0.01] * 30)
    )
    assert others == pytest.approx([plain, plain])
