"""Few labels and many outputs: against all labels, exact posteriors, and how often intervals hold."""

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats

import stakes
from stakes.evaluation.few_labels import FewLabels
from stakes.uncertainty.few_labels import Bins, draw_decisions, draw_tables
from tests.command import run


def world(seed, rows=2000, prevalence=0.3, apart=1.5):
    """Calibrated scores of two normal classes, and the truth."""
    generator = np.random.default_rng(seed)
    truth = (generator.random(rows) < prevalence).astype(float)
    seen = generator.normal(apart * truth, 1)
    logit = apart * seen - apart**2 / 2 + np.log(prevalence / (1 - prevalence))
    return truth, 1 / (1 + np.exp(-logit)), generator


def estimate(truth, score, labelled, **more):
    known = np.where(labelled, truth, np.nan)
    return stakes.evaluate({"t": known, "s": score}, truth="t", score="s", unlabelled="estimate", **more)


def at_random(generator, rows, labels):
    chosen = np.zeros(rows, bool)
    chosen[generator.choice(rows, labels, replace=False)] = True
    return chosen


def test_nearly_all_labels_tell_what_all_of_them_tell():
    truth, score, generator = world(0)
    found = estimate(truth, score, at_random(generator, 2000, 1900))
    full = stakes.evaluate(truth=truth, score=score)
    for name in ("prevalence", "accuracy", "recall", "specificity", "precision", "f1", "mcc", "auc", "brier_score"):
        width = full[name].high - full[name].low
        assert found[name].value == pytest.approx(full[name].value, abs=0.25 * width), name
        assert found[name].high - found[name].low == pytest.approx(width, rel=0.25), name


def test_decisions_alone_have_an_exact_posterior():
    """Two betas, mixed by how often each decision was taken: means by hand."""
    drawn = draw_decisions(np.array([600.0, 400.0]), np.array([3.0, 40.0]), np.array([47.0, 10.0]), 0, 40_000)
    shares = [3.5 / 51, 40.5 / 51]
    total = (drawn.positives + drawn.negatives).sum(-1)
    assert (drawn.positives.sum(-1) / total).mean() == pytest.approx(0.6 * shares[0] + 0.4 * shares[1], abs=2e-3)
    share = drawn.positives[:, 1] / (drawn.positives + drawn.negatives)[:, 1]
    assert stats.kstest(share, stats.beta(40.5, 10.5).cdf).pvalue > 1e-3
    assert (total / 1000).std() == pytest.approx(1 / np.sqrt(1000), rel=0.05)  # how many rows there are is chance


def test_the_labels_of_a_decision_anchor_the_curve():
    """In each decision the share of positives among the labelled rows varies as its own labels make it."""
    means = np.array([0.1, 0.3, 0.7, 0.9])
    rows, positive, negative = np.full(4, 500.0), np.array([1.0, 4, 9, 14]), np.array([14.0, 9, 4, 2])
    bins = Bins(rows, positive, negative, rows * means, rows * means**2, np.array([0, 0, 1, 1]))
    drawn = draw_tables(bins, 1, draws=8000)
    share = drawn.positives / (drawn.positives + drawn.negatives)
    for here in (slice(0, 2), slice(2, 4)):
        weight = (positive + negative)[here]
        mean = share[:, here] @ weight / weight.sum()
        beta = stats.beta(positive[here].sum() + 0.5, negative[here].sum() + 0.5)
        assert stats.kstest(mean, beta.cdf).pvalue > 1e-3


def test_labels_that_follow_the_score_do_not_mislead():
    truth, score, generator = world(1, rows=20_000)
    labelled = generator.random(20_000) < np.where(score > 0.5, 0.04, 0.005)  # positives are labelled far more often
    found = estimate(truth, score, labelled)
    naive = truth[labelled].mean()
    assert naive > truth.mean() + 0.15
    assert found["prevalence"].low < truth.mean() < found["prevalence"].high
    assert abs(found["prevalence"].value - truth.mean()) < 0.05


def covered(worlds, labels, draw):
    hits = {}
    for seed in range(worlds):
        truth, score, generator = world(seed)
        labelled = at_random(generator, 2000, labels)
        found, full = draw(truth, score, labelled), draw(*world(10_000, rows=200_000)[:2], None)
        for name, value in full.items():
            hits.setdefault(name, []).append(found[name].low <= value <= found[name].high)
    return {name: np.mean(each) for name, each in hits.items()}


_FULL = {}


def judged_by_decisions(truth, score, labelled):
    if labelled is None:
        return _FULL.setdefault("of decisions", _all_of(truth, score, ("prevalence", "accuracy", "specificity")))
    known = np.where(labelled, truth, np.nan)
    table = {"t": known, "d": (score >= 0.5).astype(int)}
    return stakes.evaluate(table, truth="t", prediction="d", positive=1, unlabelled="estimate")


def judged_by_scores(truth, score, labelled):
    if labelled is None:
        names = ("prevalence", "accuracy", "recall", "specificity", "precision", "f1", "auc")
        return _FULL.setdefault("of scores", _all_of(truth, score, names))
    return estimate(truth, score, labelled)


def _all_of(truth, score, names):
    full = stakes.evaluate(truth=truth, score=score)
    return {name: full[name].value for name in names}


def test_intervals_of_decisions_hold():
    assert min(covered(60, 60, judged_by_decisions).values()) >= 0.87


@pytest.mark.deep
@pytest.mark.parametrize("labels", [50, 200])
def test_intervals_of_scores_hold(labels):
    assert min(covered(200, labels, judged_by_scores).values()) >= 0.89


def test_rows_to_label_next_tell_more_than_random_ones():
    widths = {"chosen": [], "random": []}
    for seed in range(2):
        truth, score, generator = world(seed, prevalence=0.1, apart=2)
        first = at_random(generator, 2000, 60)
        chosen = estimate(truth, score, first).next_labels("f1", 120)
        assert len({*chosen.tolist()}) == 120
        assert not first[chosen].any()
        more = {"chosen": chosen, "random": generator.choice(np.flatnonzero(~first), 120, replace=False)}
        for kind, rows in more.items():
            labelled = first.copy()
            labelled[rows] = True
            one = estimate(truth, score, labelled)["f1"]
            widths[kind].append(one.high - one.low)
    assert np.mean(widths["chosen"]) < 0.9 * np.mean(widths["random"])


def test_segments_costs_and_other_figures():
    truth, score, generator = world(2)
    labelled = at_random(generator, 2000, 200)
    table = {"t": np.where(labelled, truth, np.nan), "s": score, "site": np.where(np.arange(2000) < 1200, "a", "b")}
    asked = {"truth": "t", "score": "s", "unlabelled": "estimate", "by": "site"}
    found = stakes.evaluate(table, **asked, costs=stakes.Costs(miss=5, false_alarm=1))
    assert {name: part.rows for name, part in found.segments.items()} == {"a": 1200, "b": 800}
    assert sum(part.labelled for part in found.segments.values()) == 200
    cost = found["expected_cost"]
    table_ = found._table(found._drawn)
    by_hand = (5 * table_[:, 1, 0] + table_[:, 0, 1]) / table_.sum((-1, -2))
    assert cost.value == pytest.approx(np.median(by_hand))
    assert found["f_beta(beta=2)"].low < found["f_beta(beta=2)"].value
    assert found.as_good_as["prevalence"] > 200
    with pytest.raises(stakes.InputError, match=r"few labels tell figures of decisions, auc and brier_score; log_loss"):
        found["log_loss"]


def test_too_few_of_a_class_is_told_with_what_to_do():
    truth, score, generator = world(3, prevalence=0.02, apart=3)
    found = estimate(truth, score, at_random(generator, 2000, 60))
    assert found.labelled_positives < 5
    why = found["recall"].no_interval
    assert found["recall"].low is None
    assert why.startswith(f"only {found.labelled_positives} labelled row")
    assert "fits; label about" in why
    assert "best those with scores from" in why
    assert found["specificity"].low is not None
    assert not stakes.gate(found, require="recall.low >= 0.1").passed
    assert stakes.gate(found, require="specificity.low >= 0.5").passed


WRONG = {
    "every row has a truth": ({"t": [0, 1, 1] * 20, "s": [0.1, 0.9, 0.8] * 20}, {}),
    "no row has a truth": ({"t": [None] * 60, "s": [0.1, 0.9, 0.8] * 20}, {}),
    "2 of 60 rows have a truth, and 30 at least": ({"t": [0, 1, *[None] * 58], "s": [0.1] * 60}, {}),
    "every labelled row is '0'": ({"t": [*[0] * 40, *[None] * 20], "s": [0.1] * 60}, {"classes": [0, 1]}),
    "the scores are no probabilities": ({"t": [*[0, 1] * 20, *[None] * 20], "s": [3.0, *[0.1] * 59]}, {}),
    "score is missing in 1 row": ({"t": [*[0, 1] * 20, *[None] * 20], "s": [None, *[0.1] * 59]}, {}),
    "prior= means nothing to few labels": ({"t": [*[0, 1] * 20, *[None] * 20], "s": [0.1] * 60}, {"prior": 0.2}),
    "plain rows, and a weight is given": ({"t": [*[0, 1] * 20, *[None] * 20], "s": [0.1] * 60}, {"weight": "s"}),
}  # fmt: skip


@pytest.mark.parametrize("words", WRONG)
def test_what_cannot_be_estimated_is_told_in_a_line(words):
    table, more = WRONG[words]
    with pytest.raises(stakes.InputError) as problem:
        stakes.evaluate(table, truth="t", score="s", unlabelled="estimate", **more)
    assert words in str(problem.value)
    assert "\n" not in str(problem.value)


def test_a_file_of_few_labels_says_how_to_estimate(tmp_path):
    truth, score, generator = world(4, rows=400)
    labelled = at_random(generator, 400, 60)
    file, out = tmp_path / "judged.csv", tmp_path / "to_label.csv"
    human = ["" if not one else "pass" if truth[i] else "fail" for i, one in enumerate(labelled)]
    judge = np.where(score >= 0.5, "pass", "fail")
    pl.DataFrame({"id": range(400), "human": human, "judge": judge, "p": score}).write_csv(file)
    asked = [file, "--truth", "human", "--prediction", "judge", "--positive", "pass"]
    wrong = run("evaluate", *asked)
    assert (wrong.returncode, "--unlabelled estimate estimates what they would tell" in wrong.stderr) == (2, True)
    told = run("evaluate", *asked, "--unlabelled", "estimate").stdout
    assert "From 60 labels of 400 rows: prevalence of “pass” is" in " ".join(told.split())
    assert "provided that whether a row was labelled depends on its output only" in " ".join(told.split())
    data = json.loads(run("evaluate", *asked, "--unlabelled", "estimate", "--json").stdout)
    assert (data["stakes"], data["labelled"]) == ("few labels", 60)
    assert run("gate", *asked, "--unlabelled", "estimate", "--require", "accuracy.low >= 0.3").returncode == 0
    by_score = [file, "--truth", "human", "--score", "p", "--positive", "pass"]
    done = run("label", *by_score, "--for", "recall", "--count", "25", "-o", out)
    assert done.returncode == 0, done.stderr
    chosen = pl.read_csv(out)
    assert chosen.columns == ["row", "id", "human", "judge", "p"]
    assert (chosen["row"] == chosen["id"] + 1).all()
    assert chosen["human"].is_null().all()
    assert len(chosen) == 25


def test_it_shows_itself_in_every_language():
    truth, score, generator = world(5)
    found = estimate(truth, score, at_random(generator, 2000, 100), lang="ru")
    assert isinstance(found, FewLabels)
    assert "Помогли ли строки без меток?" in str(found)
    assert "¿Ayudaron las filas sin etiqueta?" in found.to_markdown(lang="es")
    assert {row["metric"] for row in found.to_rows()} >= {"recall", "auc", "brier_score"}
