"""Are the probabilities honest? Constructed situations, and the one conclusion on each."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

import stakes
from stakes.decisions.calibration.calibration import calibration_in_brief, calibration_of
from stakes.decisions.calibration.honesty_test import (
    LINE,
    SHAPE,
    HonestyTest,
    compare_with_redrawn,
    judge_classes,
    judge_clusters,
    log_odds,
    worst_of,
)
from stakes.decisions.calibration.reliability import judge_scores
from stakes.tallies import ClassScores, ScoreTable
from stakes.tallies.clusters import Clusters
from stakes.uncertainty.sampling import USUAL, Sampling

CLASSES = tuple("abcd")


def chance(x):
    return 1 / (1 + np.exp(-np.asarray(x)))


def two(n, seed=5, middle=-0.5):
    rng = np.random.default_rng(seed)
    x = rng.normal(middle, 1.3, n)
    return x, rng.random(n) < chance(x)


def four(n, seed=0, at_least=0.0):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([0.5, 1, 1, 2], n)
    p = np.where(p < at_least, 0, p)
    p /= p.sum(axis=1, keepdims=True)
    return p, (p.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)


def answer_of(found, key="verdict.honest"):
    (one,) = [finding for finding in found.findings if finding.key == key]
    return one


def keys(finding):
    return [one.key.removeprefix("verdict.") for one in finding.sentences]


def evaluate_two(p, y, **options):
    return answer_of(stakes.evaluate(truth=y, score=p, **options))


def evaluate_four(p, y):
    names = np.array(CLASSES)
    return answer_of(stakes.evaluate(truth=names[y], score={c: p[:, i] for i, c in enumerate(CLASSES)}))


# ── two classes ──────────────────────────────────────────────────────────────────────────────────────────────────
def test_honest_probabilities_are_not_doubted():
    x, y = two(800)
    found = evaluate_two(chance(x), y)
    assert found.tone == "good"
    assert keys(found) == ["honest_yes", "honest_redrawn", "honest_share"]
    share = found.sentences[-1].values
    assert 0 < share["honest"] < 2 * share["share"] < 0.1


@pytest.mark.parametrize(
    ("bent", "moved", "said"),
    [(2, 0, "honest_extreme"), (0.5, 0, "honest_timid"), (1, 0.6, "honest_high"), (1, -0.6, "honest_low")],
)
def test_what_is_off_along_the_whole_range_is_seen_by_the_line(bent, moved, said):
    x, y = two(800, middle=0)
    found = evaluate_two(chance(bent * x + moved), y)
    assert found.tone == "doubt"
    assert keys(found)[0] == said
    assert "honest_by_slope" in keys(found)
    assert "honest_yes" not in keys(found)
    assert found.sentences[-1].values["share"] > 1.5 * found.sentences[-1].values["honest"]


@pytest.mark.parametrize(
    ("bent", "moved", "said"),
    [
        (0.6, 1.5, ["honest_high"]),  # too cautious, but nearly all of them too high
        (0.6, -1.5, ["honest_low"]),
        (2.0, 0.8, ["honest_extreme", "honest_high"]),  # the line crosses among the rows
        (0.5, 0.3, ["honest_timid", "honest_high"]),
    ],
)
def test_high_and_low_are_off_in_different_directions_only_where_rows_show_it(bent, moved, said):
    x, y = two(10_000, middle=0)
    p = chance(bent * x + moved)
    found = stakes.evaluate(truth=y, score=p)
    assert keys(answer_of(found))[: len(said) + 1] == [*said, "honest_by_slope"]
    assert found.calibration.share_too_high == pytest.approx(np.mean(p > chance(x)), abs=0.05)


def test_most_may_be_a_little_too_high_and_all_together_too_low():
    rng = np.random.default_rng(2)
    rare = rng.random(20_000) < 0.05
    y = rng.random(20_000) < chance(np.where(rare, 2.0, -6.0))
    found = stakes.evaluate(truth=y, score=chance(np.where(rare, 0.0, -5.0)))
    assert keys(answer_of(found))[:2] == ["honest_timid", "honest_low"]
    assert found.calibration.share_too_high == pytest.approx(0.95, abs=0.01)


def test_what_no_line_sees_is_seen_by_the_shape():
    rng = np.random.default_rng(1)
    p = rng.random(2000)
    y = rng.random(2000) < p + 0.6 * p * (1 - p) * np.cos(4 * np.pi * p)  # neither bent nor moved on the whole
    found = evaluate_two(p, y)
    assert found.tone == "doubt"
    assert "honest_by_shape" in keys(found)
    assert stakes.evaluate(truth=y, score=p).calibration.test.sharper == SHAPE


def test_nothing_is_ticked_beside_an_infinite_loss():
    """A forest says 0 and is wrong: the loss is infinite, however good the rest is."""
    x, y = two(600, middle=-1)
    p = np.where(chance(x) < 0.15, 0.0, chance(x))
    ev = stakes.evaluate(truth=y, score=p)
    found = answer_of(ev)
    assert ev["log_loss"].value == np.inf
    assert found.tone == "bad"
    assert keys(found)[:2] == ["honest_impossible", "honest_impossible_rows"]
    assert found.sentences[1].values["n"] == y[p == 0].sum() > 1
    assert found.figures[0].value == pytest.approx(ev.calibration.slope.value)  # the slope is there all the same
    turned = answer_of(stakes.evaluate(truth=~y, score=1 - p))
    assert turned.sentences[1].values["n"] == y[p == 0].sum()  # a 1 that did not happen
    assert "honest_certain" in keys(turned)


def test_exact_zeros_that_are_right_are_counted_and_not_held_against_it():
    x, y = two(600, middle=-1)
    p = np.where(chance(x) < 0.1, 0.0, chance(x))
    found = evaluate_two(p, y & (p > 0))
    assert found.tone == "good"
    assert found.sentences[-1].key == "verdict.honest_certain"
    assert found.sentences[-1].values["n"] == (p == 0).sum()


def test_an_infinite_loss_is_seen_however_many_rows_there_are():
    x, y = two(201_000)
    p = chance(x)
    rare = np.flatnonzero(y)[:3]
    p[rare] = 0.0
    table = ScoreTable.from_rows(p, y)
    found = calibration_in_brief(table, USUAL)
    assert found.table.total == table.total
    assert len(found.table.as_columns().scores) < 21_000  # neighbours were put together
    assert (found.certain.rows, found.certain.wrong) == (3, 3)


@pytest.mark.parametrize("bent", [1, 2])
def test_clusters_are_asked_as_a_whole(bent):
    x, y = two(600)
    ev = stakes.evaluate(truth=y, score=chance(bent * x), cluster=np.arange(600) // 4)
    found = answer_of(ev)
    assert found.tone == ("good" if bent == 1 else "doubt")
    assert "honest_p" in keys(found)
    assert "honest_redrawn" not in keys(found)
    assert ev.calibration.p_value_if_honest == ev.calibration.test.p_value


def test_too_few_clusters_leave_it_open():
    x, y = two(90)
    with pytest.warns(stakes.InputWarning, match="clusters"):
        found = evaluate_two(chance(x), y, cluster=np.arange(90) // 30)
    assert found.tone == "open"
    assert keys(found)[0] == "honest_untested"


def test_the_design_effect_by_hand():
    x, y = two(60, seed=3)
    p, groups = chance(x), np.arange(60) // 5
    found = judge_clusters(Clusters.of(groups, truth=y.astype(int), scores=p))
    pulls = np.array([[(y - p)[groups == g].sum(), ((y - p) * x)[groups == g].sum()] for g in range(12)])
    inverse = np.linalg.inv(sum(q * (1 - q) * np.outer((1, z), (1, z)) for q, z in zip(p, x, strict=True)))
    effect = max(1, np.trace(inverse @ pulls.T @ pulls) / 2)
    far = pulls.sum(0) @ inverse @ pulls.sum(0) / effect
    assert found.p_value == pytest.approx(stats.f.sf(far * 10 / (2 * 11), 2, 10))
    assert found.sharper == LINE


def test_rows_that_belong_together_are_not_taken_for_many():
    """Every row ten times, in a cluster of its own: nothing more is known."""
    x, y = two(200, seed=9)
    p = chance(1.3 * x)
    one = judge_clusters(Clusters.of(np.arange(200), truth=y.astype(int), scores=p))
    rows = {"truth": y.astype(int).repeat(10), "scores": p.repeat(10)}
    ten = judge_clusters(Clusters.of(np.repeat(np.arange(200), 10), **rows))
    assert ten.p_value == pytest.approx(one.p_value, rel=0.3)
    alone = judge_clusters(Clusters.of(np.arange(2000), **rows))
    assert alone.p_value < 0.1 * ten.p_value


def test_a_design_that_fixes_the_classes_is_not_held_against_the_probabilities():
    x, y = two(4000, middle=-2)
    kept = y | (np.arange(4000) % 6 == 0)  # every positive, one of six negatives
    rows = {"truth": y[kept], "score": chance(x)[kept]}
    assert answer_of(stakes.evaluate(**rows)).tone == "doubt"
    assert answer_of(stakes.evaluate(**rows, design="classes fixed")).tone == "good"


def test_scores_and_decisions_are_not_asked():
    assert keys(answer_of(stakes.evaluate(truth=[0, 1, 1, 0], prediction=[0, 1, 0, 0]))) == ["honest_no_scores"]
    scores = stakes.evaluate(truth=[0, 1, 1, 0], score=[-2.0, 1.0, 3.0, 0.5], threshold=0)
    assert keys(answer_of(scores)) == ["honest_no_probabilities"]


# ── few rows ─────────────────────────────────────────────────────────────────────────────────────────────────────
def test_rows_that_cannot_tell_are_not_ticked():
    """Six rows doubt nothing, whatever the probabilities are."""
    found = evaluate_two([0.1, 0.3, 0.4, 0.6, 0.7, 0.9], [0, 0, 1, 0, 1, 1])
    assert found.tone == "doubt"
    assert keys(found)[:2] == ["honest_unsure", "honest_slope_range"]
    slope = stakes.evaluate(truth=[0, 0, 1, 0, 1, 1], score=[0.1, 0.3, 0.4, 0.6, 0.7, 0.9]).calibration.slope
    assert found.sentences[1].values == {"low": slope.low, "high": slope.high, "confidence": 0.95}


@pytest.mark.parametrize("n", [40, 80, 160, 320])
def test_a_tick_needs_a_slope_between_a_half_and_two(n):
    x, y = two(n, seed=2)
    ev = stakes.evaluate(truth=y, score=chance(x))
    slope, test = ev.calibration.slope, ev.calibration.test
    assert test.p_value > 0.05
    assert answer_of(ev).tone == ("good" if 0.5 <= slope.low <= slope.high <= 2 else "doubt")


def test_without_a_slope_the_shift_tells():
    """The same probability for everybody: the odds must be known within a factor of 2."""
    for n, tone in ((12, "doubt"), (120, "good")):
        assert evaluate_two(np.full(n, 0.25), np.arange(n) % 4 == 0).tone == tone


def test_few_rows_of_some_classes_are_told():
    p, y = four(40, seed=3)
    found = evaluate_four(p, y)
    each = stakes.evaluate(truth=np.array(CLASSES)[y], score=dict(zip(CLASSES, p.T, strict=True))).calibration.classes
    wide = sum(not (one.slope.defined and 0.5 <= one.slope.low <= one.slope.high <= 2) for one in each.values())
    assert found.tone == "doubt"
    assert keys(found)[0] == "honest_classes_unsure"
    assert found.sentences[0].values == {"n": wide, "of": 4}


# ── the test itself ──────────────────────────────────────────────────────────────────────────────────────────────
def test_the_p_value_is_that_of_the_smaller_one():
    line, shape = np.array([9.0, 1, 2, 3, 8]), np.array([1.0, 5, 4, 3, 2])
    # p of the line .2 1 .8 .6 .4, of the shape 1 .2 .4 .6 .8: the smaller ones .2 .2 .4 .6 .4
    assert compare_with_redrawn(line, shape) == HonestyTest(2 / 5, LINE, 1, 4, pytest.approx(np.nan, nan_ok=True))
    assert compare_with_redrawn(shape, line).sharper == SHAPE


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("files", [60, pytest.param(400, marks=pytest.mark.deep)])
def test_honest_probabilities_are_doubted_as_seldom_as_promised(classes, files, monkeypatch):
    monkeypatch.setattr("stakes.decisions.calibration.reliability.REDRAWN", 99)
    monkeypatch.setattr("stakes.decisions.calibration.honesty_test.REDRAWN", 99)
    found = []
    for seed in range(files):
        if classes == 2:
            x, y = two(80, seed, middle=-2)
            found.append(judge_scores(ScoreTable.from_rows(chance(x), y), Sampling(seed=seed)).p_value)
        else:
            p, y = four(80, seed)
            found.append(judge_classes(ClassScores.from_rows(p, y, CLASSES), Sampling(seed=seed)).p_value)
    assert np.mean(np.array(found) <= 0.05) <= stats.binom.ppf(0.999, files, 0.05) / files
    assert np.mean(found) == pytest.approx(0.5, abs=1.2 / files**0.5)  # four errors of a mean of even numbers


def test_several_tests_count_as_many():
    one, two_ = HonestyTest(0.02, LINE, 19, 999), HonestyTest(0.5, SHAPE, 499, 999)
    assert worst_of([one, None, two_]) == HonestyTest(0.04, LINE, None, None, pytest.approx(np.nan, nan_ok=True))
    assert worst_of([None]) is None


def test_halfway_to_the_nearest():
    assert expit(log_odds(np.array([0, 0.1, 0.98, 1]))) == pytest.approx([0.01, 0.1, 0.98, 0.99])
    assert expit(log_odds(np.array([0.2, 0.3]))) == pytest.approx([0.2, 0.3])
    far = log_odds(np.array([0, 1e-80, 0.5, 1]))  # 1 − 1e-80 is no float, its log odds are
    assert far == pytest.approx([-80 * np.log(10) - np.log(2), -80 * np.log(10), 0, 80 * np.log(10) + np.log(2)])
    assert np.isfinite(log_odds(np.array([0, 5e-324, 1]))).all()


# ── several classes ──────────────────────────────────────────────────────────────────────────────────────────────
def test_honest_classes_are_not_doubted():
    found = evaluate_four(*four(500))
    assert found.tone == "good"
    assert keys(found) == ["honest_yes", "honest_redrawn", "honest_share"]


def test_dishonest_classes_are_told():
    p, y = four(500)
    bold = p**2.5 / (p**2.5).sum(axis=1, keepdims=True)
    found = evaluate_four(bold, y)
    assert found.tone == "doubt"
    assert keys(found)[:2] == ["honest_classes", "honest_classes_extreme"]
    assert found.sentences[1].values == {"n": 4, "of": 4}
    assert "honest_by_slope" in keys(found)
    share = found.sentences[-1].values
    assert share["share"] > 2 * share["honest"] > 0


def test_two_classes_taken_for_each_other_are_seen():
    """Only the names of two columns are swapped: the others are honest."""
    p, y = four(500)
    assert evaluate_four(p[:, [0, 2, 1, 3]], y).tone == "doubt"


def test_classes_that_were_called_impossible():
    p, y = four(700, seed=1, at_least=0.05)
    assert evaluate_four(p, y).tone == "good"  # zeros that are right
    rng = np.random.default_rng(2)
    wrong = rng.choice(np.flatnonzero(p[:, 0] == 0), 7, replace=False)
    y[wrong] = 0
    found = evaluate_four(p, y)
    assert found.tone == "bad"
    assert found.sentences[1].values["n"] == 7


def test_classes_whose_rows_are_gone_are_asked_one_by_one():
    p, y = four(500)
    for bent, tone in ((1, "good"), (2.5, "doubt")):
        bold = p**bent / (p**bent).sum(axis=1, keepdims=True)
        scores = ClassScores.from_rows(bold, y, CLASSES, parts=("tables", "squares"))
        assert judge_classes(scores, USUAL) is None
        found = calibration_of(scores, True, USUAL)
        assert found.test == worst_of(one.test for one in found.classes.values())
        assert found.findings[0].tone == tone


def test_a_fixed_design_of_classes_leaves_their_frequencies_open():
    p, y = four(4000)
    kept = (y != 3) | (np.arange(4000) % 5 == 0)
    scores = ClassScores.from_rows(p[kept], y[kept], CLASSES)
    assert judge_classes(scores, USUAL).p_value < 0.01
    assert judge_classes(scores, Sampling(design="classes fixed")).p_value > 0.05


def test_probabilities_upside_down_are_called_so():
    x, truth = two(600)
    (found,) = stakes.evaluate(truth=truth, score=chance(-x)).calibration.findings
    assert (found.tone, found.sentences[0].key) == ("bad", "verdict.honest_upside_down")
    (found,) = stakes.evaluate(truth=truth, score=chance(3 * x)).calibration.findings
    assert (found.tone, found.sentences[0].key) == ("doubt", "verdict.honest_extreme")
