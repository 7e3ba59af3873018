"""Cost, decision and reject curves, and histograms, against brute force over rows and thresholds."""

import functools
import json
import math
import random
from fractions import Fraction

import numpy as np
import pytest

import stakes
from stakes.decisions.curves.curve import bootstrap_band
from stakes.decisions.curves.hull import roc_hull
from stakes.language import speaking
from stakes.language.sentences import reason_text
from stakes.uncertainty.sampling import Sampling

Z = 1.959964


def rows(n=400, seed=0, steps=None, apart=1.2):
    """Truths, and probabilities that are calibrated but for their steps."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    score = 1 / (1 + np.exp(-(apart * rng.normal(size=n) + apart * truth - apart / 2)))
    return truth, score if steps is None else np.round(score * steps) / steps


def inside(curve):
    """Whether the band holds the curve at the places of the band."""
    height = np.interp(curve.band.x, curve.x, curve.y)
    return (curve.band.low <= height + 1e-12) & (height <= curve.band.high + 1e-12)


def strictly(data):
    return json.loads(json.dumps(data, allow_nan=False))


# ── the hull ─────────────────────────────────────────────────────────────────────────────────────────────────────
def hull_by_hand(tp, fp):
    """The corners of the upper hull, each chosen as the steepest next one in exact arithmetic."""
    corners, last = [0], len(tp) - 1
    while corners[-1] != last:
        a = corners[-1]
        ahead = [i for i in range(a + 1, last + 1) if (tp[i], fp[i]) != (tp[a], fp[a])]
        slopes = {i: (fp[i] == fp[a], Fraction(tp[i] - tp[a], (fp[i] - fp[a]) or 1)) for i in ahead}
        steepest = max(slopes.values())
        corners.append(max(i for i in ahead if slopes[i] == steepest))
    return corners


@pytest.mark.parametrize("most", [1, 2, 30])
def test_the_hull_has_the_corners_of_brute_force(most):
    for seed in range(60):
        rng = random.Random(seed * 100 + most)
        steps = [(rng.randint(0, most), rng.randint(0, most)) for _ in range(rng.randint(1, 60))]
        steps = [step for step in steps if any(step)] or [(1, 1)]
        tp = np.cumsum([0, *(up for up, _ in steps)])
        fp = np.cumsum([0, *(along for _, along in steps)])
        assert roc_hull(tp, fp).tolist() == hull_by_hand(tp.tolist(), fp.tolist()), seed


@pytest.mark.parametrize("seed", range(5))
def test_the_hull_is_that_of_scipy(seed):
    from scipy.spatial import ConvexHull

    rng = np.random.default_rng(seed)
    positive = rng.random(3000) < np.linspace(0.9, 0.1, 3000)
    tp, fp = (np.append(0, np.cumsum(column)) for column in (positive, ~positive))
    found = roc_hull(tp, fp)
    corner = np.array([[fp[-1], 0]])  # closes the area under the curve
    theirs = ConvexHull(np.concatenate([np.column_stack([fp, tp]), corner])).vertices
    assert set(found.tolist()) == {i for i in theirs.tolist() if i <= 3000}


def test_the_hull_is_exact_where_products_pass_64_bits():
    big = 1 << 40
    tp = np.array([0, big, 2 * big + 1, 3 * big + 1])
    fp = np.array([0, big, 2 * big, 3 * big])
    assert roc_hull(tp, fp).tolist() == [0, 2, 3]
    assert roc_hull(tp - np.array([0, 0, 2, 2]), fp).tolist() == [0, 1, 3]
    assert roc_hull(np.array([0, 3 * big, 4 * big]), np.array([0, big, 2 * big])).tolist() == [0, 1, 2]


def test_long_arcs_before_a_far_point_cost_no_more_than_a_walk():
    """Only the last corner of an arc can be seen to be none, so rounds over all points would take one for each."""
    arc = np.arange(20_000)
    tp = np.cumsum([0, *(40_000 - arc).tolist(), 700_000_000])
    fp = np.cumsum([0, *(20_000 + arc).tolist(), 1])
    assert roc_hull(tp[:-1], fp[:-1]).tolist() == list(range(20_001))
    assert roc_hull(tp, fp).tolist() == [0, 20_001]


def test_a_far_point_in_line_with_an_edge_leaves_one_corner_of_it():
    up, along = 200 - np.arange(64), 100 + np.arange(64)
    tp, fp = np.append(0, np.cumsum(up)), np.append(0, np.cumsum(along))
    tp, fp = np.append(tp, tp[11] + 100 * up[10]), np.append(fp, fp[11] + 100 * along[10])
    assert roc_hull(tp, fp).tolist() == [*range(11), 65]


# ── cost curves ──────────────────────────────────────────────────────────────────────────────────────────────────
def lines_of(truth, score):
    """FNR and FPR of every threshold as fractions, nobody first."""
    P, N = int(truth.sum()), int((~truth).sum())
    found = {}
    for t in [math.inf, *np.unique(score)[::-1].tolist()]:
        found[t] = Fraction(int((truth & (score < t)).sum()), P), Fraction(int((~truth & (score >= t)).sum()), N)
    return found


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("steps", [None, 10, 3])
@pytest.mark.spread(8)
def test_the_cost_curve_is_the_lowest_of_all_lines(seed, steps):
    truth, score = rows(120, seed, steps)
    curve = stakes.evaluate(truth=truth, score=score).curve("cost")
    lines = lines_of(truth, score)

    def lowest(x):
        return min(missed * x + alarmed * (1 - x) for missed, alarmed in lines.values())

    assert (curve.x[0], curve.x[-1]) == (0, 1)
    assert (np.diff(curve.x) > 0).all()
    for x, y in zip(curve.x.tolist(), curve.y.tolist(), strict=True):
        assert y == pytest.approx(float(lowest(Fraction(x))), abs=1e-15)
    for i in range(len(curve) - 1):  # within a piece its threshold is best, and better than every other
        x = (Fraction(curve.x[i]) + Fraction(curve.x[i + 1])) / 2
        costs = {t: missed * x + alarmed * (1 - x) for t, (missed, alarmed) in lines.items()}
        best = [t for t, cost in costs.items() if cost == min(costs.values())]
        assert best == [curve.thresholds[i]]
    assert curve.thresholds[-1] == curve.thresholds[-2]
    np.testing.assert_array_equal(curve.references["never"], curve.x)
    np.testing.assert_array_equal(curve.references["always"], 1 - curve.x)


def test_corners_are_correctly_rounded():
    curve = stakes.evaluate(truth=[1, 0, 1, 0, 0], score=[0.9, 0.8, 0.7, 0.6, 0.5]).curve("cost")
    assert curve.x.tolist() == [0, float(Fraction(2, 2 + 3)), 1]
    assert curve.y.tolist() == [0, float(Fraction(1, 2 + 3)), 0]
    assert curve.thresholds.tolist() == [0.9, 0.7, 0.7]


def test_perfect_and_useless_scores_have_the_cost_curves_of_their_hulls():
    perfect = stakes.evaluate(truth=[1, 1, 0], score=[0.9, 0.8, 0.1]).curve("cost")
    assert (perfect.x.tolist(), perfect.y.tolist(), perfect.thresholds.tolist()) == ([0, 1], [0, 0], [0.8, 0.8])
    useless = stakes.evaluate(truth=[1, 0, 0], score=[0.1, 0.8, 0.9]).curve("cost")
    assert (useless.x.tolist(), useless.y.tolist()) == ([0, 0.5, 1], [0, 0.5, 0])
    assert useless.thresholds.tolist() == [math.inf, 0.1, 0.1]


def test_weighted_cost_curves_are_those_of_repeated_rows():
    truth, score = rows(80, 3, 20)
    times = np.random.default_rng(0).integers(1, 5, 80)
    weighted = stakes.evaluate(truth=truth, score=score, weight=times / 8).curve("cost")
    repeated = stakes.evaluate(truth=np.repeat(truth, times), score=np.repeat(score, times)).curve("cost")
    for name in ("x", "y", "thresholds"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), atol=1e-14)


def test_a_single_threshold_has_a_straight_line_above_the_curve():
    truth, score = rows(300)
    ev = stakes.evaluate(truth=truth, score=score)
    line, curve = ev.curve("cost", threshold=0.6), ev.curve("cost")
    assert line.x.tolist() == [0, 1]
    assert line.y.tolist() == [(score[~truth] >= 0.6).mean(), (score[truth] < 0.6).mean()]
    assert line.thresholds.tolist() == [0.6, 0.6]
    at = np.linspace(0, 1, 50)
    assert (np.interp(at, line.x, line.y) >= np.interp(at, curve.x, curve.y) - 1e-15).all()
    assert not line.note
    assert "flatters" in curve.note


@pytest.mark.parametrize("design", ["classes random", "classes fixed"])
def test_the_band_of_a_cost_line_is_that_of_two_shares(design):
    truth, score = rows(1500)
    band = stakes.evaluate(truth=truth, score=score, design=design).curve("cost", threshold=0.5).band
    missed, alarmed = (score[truth] < 0.5).mean(), (score[~truth] >= 0.5).mean()
    for place in (0, 30, 50, 100):
        x = band.x[place]
        variance = x**2 * missed * (1 - missed) / truth.sum() + (1 - x) ** 2 * alarmed * (1 - alarmed) / (~truth).sum()
        assert (band.high - band.low)[place] == pytest.approx(2 * Z * math.sqrt(variance), rel=0.1)
        assert (band.high + band.low)[place] / 2 == pytest.approx(missed * x + alarmed * (1 - x), abs=0.005)


def test_the_band_of_a_cost_curve_holds_it_and_is_that_of_its_thresholds():
    truth, score = rows(600)
    ev = stakes.evaluate(truth=truth, score=score)
    curve = ev.curve("cost")
    assert inside(curve).all()
    for place in (20, 50, 80):
        x = curve.band.x[place]
        chosen = curve.thresholds[np.searchsorted(curve.x, x) - 1]
        alone = ev.curve("cost", threshold=chosen).band
        width = curve.band.high - curve.band.low
        assert width[place] == pytest.approx((alone.high - alone.low)[place], rel=0.1)
    assert (curve.band.high - curve.band.low)[[0, -1]].max() < 0.02


# ── decision curves ──────────────────────────────────────────────────────────────────────────────────────────────
def net_benefit(truth, score, t, weight=None):
    weight = np.ones(len(truth)) if weight is None else weight
    acts = score >= t
    return (weight @ (acts & truth) - weight @ (acts & ~truth) * t / (1 - t)) / weight.sum()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("steps", [None, 100])
def test_net_benefit_is_that_of_the_rows(weighted, steps):
    truth, score = rows(300, 1, steps)
    weight = np.random.default_rng(1).random(300) if weighted else None
    curve = stakes.evaluate(truth=truth, score=score, weight=weight).curve("decision")
    at = np.arange(1, 100) / 100
    np.testing.assert_array_equal(curve.x, at)
    np.testing.assert_array_equal(curve.thresholds, at)
    np.testing.assert_allclose(curve.y, [net_benefit(truth, score, t, weight) for t in at], atol=1e-13)
    everybody = [net_benefit(truth, np.ones(300), t, weight) for t in at]
    np.testing.assert_allclose(curve.references["treat all"], everybody, atol=1e-12)
    assert not curve.references["treat none"].any()


def test_net_benefit_by_hand():
    """Of ten rows 3 positives and 2 negatives reach 0.2, where a false alarm weighs a quarter."""
    ev = stakes.evaluate(truth=[1, 1, 1, 1, 0, 0, 0, 0, 0, 0], score=[0.9, 0.5, 0.2, 0.1, 0.6, 0.2, 0.1, 0.1, 0, 0])
    curve = ev.curve("decision", thresholds=[0.5, 0.2, 0])
    assert curve.x.tolist() == [0, 0.2, 0.5]
    assert curve.y.tolist() == pytest.approx([0.4, 0.3 - 0.2 / 4, 0.2 - 0.1])
    assert curve.references["treat all"].tolist() == pytest.approx([0.4, 0.4 - 0.6 / 4, 0.4 - 0.6])


def bootstrap(truth, columns, figure, times=2000, cluster=None, weight=None):
    """The standard errors of a figure of rows, or clusters, drawn again."""
    rng, n = np.random.default_rng(9), len(truth)
    groups = (
        [np.array([i]) for i in range(n)] if cluster is None else [np.flatnonzero(cluster == c) for c in set(cluster)]
    )
    found = []
    for _ in range(times):
        drawn = np.concatenate([groups[i] for i in rng.integers(0, len(groups), len(groups))])
        found.append(figure(truth[drawn], *(c[drawn] for c in columns), *(() if weight is None else (weight[drawn],))))
    return np.std(found, axis=0)


AT = np.array([0.1, 0.3, 0.5, 0.7])


@pytest.mark.parametrize("kind", ["rows", "weighted", "clusters"])
def test_bands_of_net_benefit_are_those_of_a_bootstrap(kind):
    truth, score = rows(400, 2)
    if kind == "clusters":  # each row three times
        truth, score = np.repeat(truth, 3), np.repeat(score, 3)
    weight = np.random.default_rng(3).uniform(0.2, 2, 400) if kind == "weighted" else None
    cluster = np.repeat(np.arange(400), 3) if kind == "clusters" else None
    curve = stakes.evaluate(truth=truth, score=score, weight=weight, cluster=cluster).curve("decision", thresholds=AT)
    assert inside(curve).all()

    def figure(y, s, w=None):
        return [net_benefit(y, s, t, w) for t in AT]

    error = bootstrap(truth, [score], figure, 800, cluster, weight)
    np.testing.assert_allclose((curve.band.high - curve.band.low) / (2 * Z * error), 1, atol=0.13)


def test_where_nobody_is_positive_another_sample_may_differ():
    truth, score = rows(200, apart=0.5)
    curve = stakes.evaluate(truth=truth, score=score).curve("decision", thresholds=[0.95])
    assert score.max() < 0.95
    assert curve.y[0] == 0
    assert curve.band.low[0] < 0 <= curve.band.high[0]


@pytest.mark.parametrize("kind", ["rows", "weighted", "clusters"])
def test_the_difference_of_two_models_is_paired(kind):
    rng = np.random.default_rng(4)
    truth, first = rows(300, 4)
    second = np.clip(first + rng.normal(0, 0.15, 300), 0, 1)
    if kind == "clusters":
        truth, first, second = (np.repeat(column, 2) for column in (truth, first, second))
    weight = rng.uniform(0.2, 2, 300) if kind == "weighted" else None
    cluster = np.repeat(np.arange(300), 2) if kind == "clusters" else None
    both = stakes.compare(truth=truth, scores={"a": first, "b": second}, weight=weight, cluster=cluster, resamples=100)
    curve = both.curve("decision", "a", "b", thresholds=AT)

    def figure(y, a, b, w=None):
        return [net_benefit(y, a, t, w) - net_benefit(y, b, t, w) for t in AT]

    np.testing.assert_allclose(curve.y, figure(truth, first, second, weight), atol=1e-14)
    error = bootstrap(truth, [first, second], figure, 800, cluster, weight)
    reach = (curve.band.high - curve.band.low) / 2
    unit = 1 / 300 if weight is None else (weight**2).sum() / weight.sum() ** 2  # half of it for either model
    error = np.sqrt(error**2 + (1 + (AT / (1 - AT)) ** 2) * unit**2)
    np.testing.assert_allclose(reach / (Z * error), 1, atol=0.08)
    np.testing.assert_allclose(curve.band.low + reach, curve.y, atol=1e-14)
    swapped = both.curve("decision", "b", "a", thresholds=AT)
    np.testing.assert_allclose(swapped.y, -curve.y, atol=1e-15)
    assert strictly(curve.to_dict())["references"] == {"no difference": [0, 0, 0, 0]}


def test_the_error_of_a_difference_is_that_of_the_mean_of_rows():
    """Student's interval of the rows' own differences, where half a row of each class more spoke for either model."""
    from scipy import stats

    truth, first = rows(150, 5, 20)
    second = rows(150, 6, 20)[1]
    curve = stakes.compare(truth=truth, scores={"a": first, "b": second}, resamples=100).curve("decision", "a", "b")
    for i, t in enumerate(curve.x):
        worth = np.where(truth, 1, -t / (1 - t))
        each = worth * ((first >= t).astype(float) - (second >= t))
        error = math.sqrt(stats.sem(each) ** 2 + (1 + (t / (1 - t)) ** 2) / (150 * 149))
        low, high = stats.t.interval(0.95, 149, each.mean(), error)
        assert (curve.band.low[i], curve.band.high[i]) == pytest.approx((low, high), rel=1e-6)


def test_a_model_does_not_differ_from_itself_but_on_other_rows_a_copy_might():
    truth, score = rows(100)
    both = stakes.compare(truth=truth, scores={"a": score, "b": score}, resamples=100)
    curve = both.curve("decision", "a", "b", thresholds=[0.2, 0.5])
    assert not curve.y.any()
    np.testing.assert_allclose(curve.band.high, 1.984217 * np.sqrt([1 + 1 / 16, 2]) / math.sqrt(100 * 99), rtol=1e-5)
    np.testing.assert_array_equal(curve.band.low, -curve.band.high)
    twice = np.repeat(score, 2)
    options = {"cluster": np.repeat(np.arange(100), 2), "resamples": 100}
    clusters = stakes.compare(truth=np.repeat(truth, 2), scores={"a": twice, "b": twice}, **options)
    found = clusters.curve("decision", "a", "b", thresholds=[0.2, 0.5])
    np.testing.assert_allclose(found.band.high, curve.band.high)


@pytest.mark.parametrize(
    ("kind", "names", "words"),
    [
        ("roc", ("a", "b"), "there is no curve 'roc'; there is 'decision'"),
        ("decision", ("a", "c"), "'a' and 'c' are not two of the models; there are 'a', 'b' and 'logits'"),
        ("decision", ("a", "a"), "'a' and 'a' are not two of the models"),
        ("decision", ("a", "logits"), "there is no decision curve for these rows: logits gives no probabilities"),
    ],
)
def test_differences_that_do_not_exist(kind, names, words):
    scores = {"a": [0.1, 0.9, 0.3, 0.7], "b": [0.2, 0.8, 0.5, 0.4], "logits": [-1.0, 2, 0, 1]}
    both = stakes.compare(truth=[0, 1, 0, 1], scores=scores, resamples=100)
    with pytest.raises(stakes.InputError, match=words):
        both.curve(kind, *names)


def test_models_on_different_rows_have_no_paired_difference():
    scores = {"a": ([0, 1, 1], [0.1, 0.9, 0.4]), "b": ([0, 1, 0], [0.1, 0.9, 0.2])}
    apart = stakes.compare(scores=scores, paired=False, resamples=100)
    with pytest.raises(stakes.InputError, match="the models were not evaluated on the same rows"):
        apart.curve("decision", "a", "b")


def test_pieces_of_clusters_stay_at_their_thresholds():
    """The mean of equal scores may be rounded to less than they are, and would then miss the threshold."""
    score = np.repeat(np.random.default_rng(0).random(200), 7)
    ev = stakes.evaluate(truth=np.arange(1400) % 2, score=score, cluster=np.arange(1400) // 7)
    table = ev.scores.between(np.unique(score))
    means, _ = ev.counted.clusters.pieces(table)
    assert (means >= table.as_columns().scores).all()


# ── reject curves ────────────────────────────────────────────────────────────────────────────────────────────────
def rejected_by_hand(doubt, loss, weight):
    """Shares rejected and mean losses, taking off the rows of the largest doubt one after the other."""
    points, left = [], set(range(len(doubt)))
    while left:
        kept = sorted(left)
        whole = sum(weight[i] for i in kept)
        points.append((1 - whole / sum(weight), sum(weight[i] * loss[i] for i in kept) / whole))
        most = max(doubt[i] for i in left)
        left -= {i for i in left if doubt[i] > most - 1e-9}
    return np.array(points).T


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("steps", [None, 20])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_reject_curve_takes_off_the_least_sure_first(seed, steps, weighted):
    truth, score = rows(90, seed, steps)
    weight = np.random.default_rng(seed).uniform(0.5, 2, 90) if weighted else None
    curve = stakes.evaluate(truth=truth, score=score, weight=weight).curve("reject")
    wrong = (score >= 0.5) != truth
    x, y = rejected_by_hand(np.minimum(score, 1 - score), wrong, np.ones(90) if weight is None else weight)
    np.testing.assert_allclose(curve.x, x, atol=1e-12)
    np.testing.assert_allclose(curve.y, y, atol=1e-12)
    assert curve.area == pytest.approx((np.diff(np.append(x, 1)) * y).sum())
    np.testing.assert_allclose(curve.references["at random"], np.average(wrong, weights=weight))


def test_rows_that_tie_are_rejected_together_on_both_sides_of_the_threshold():
    curve = stakes.evaluate(truth=[1, 0, 1, 0, 1], score=[0.7, 0.3, 0.3, 0.1, 0.45]).curve("reject")
    assert curve.x.tolist() == pytest.approx([0, 0.2, 0.8])
    assert curve.y.tolist() == pytest.approx([0.4, 0.25, 0])
    assert curve.thresholds.tolist() == [0.45, 1 - 0.7, 0.1]  # the larger of those that are the same but for rounding
    assert curve.area == pytest.approx(0.2 * 0.4 + 0.6 * 0.25)


def test_without_ties_the_area_is_the_mean_over_all_coverages():
    truth, score = rows(50, 8)
    order = np.argsort(np.abs(score - 0.5))[::-1]
    wrong = ((score >= 0.5) != truth)[order]
    expected = np.mean([wrong[:kept].mean() for kept in range(1, 51)])  # Geifman & El-Yaniv
    assert stakes.evaluate(truth=truth, score=score).curve("reject").area == pytest.approx(expected)


@pytest.mark.parametrize("miss", [1, 4, 0.2])
def test_with_costs_the_doubt_is_the_expected_cost_of_the_bayes_decision(miss):
    truth, score = rows(120, 2)
    curve = stakes.evaluate(truth=truth, score=score).curve("reject", costs=stakes.Costs(miss=miss, false_alarm=1))
    acts = score >= 1 / (1 + miss)
    loss = np.where(acts, ~truth, miss * truth)
    x, y = rejected_by_hand(np.minimum(miss * score, 1 - score), loss, np.ones(120))
    np.testing.assert_allclose([curve.x, curve.y], [x, y], atol=1e-12)
    assert curve.y_name == "mean_cost"


def test_three_decisions_between_two_classes():
    """Operate, tests or home, as costs least at each probability of a tumour."""
    costs = stakes.Costs([[0, 10, 1000], [500, 20, 0]], ["tumour", "none"], ["operate", "tests", "home"])
    truth = ["tumour", "none", "none", "tumour", "none"]
    ev = stakes.evaluate(truth=truth, score=[0.99, 0.01, 0.5, 0.6, 0.99], positive="tumour")
    curve = ev.curve("reject", costs=costs)
    # doubts at 0.5 and 0.6: 15 and 14 for tests; at 0.01: 10 for home; at 0.99: 5 for operating
    assert curve.thresholds.tolist() == pytest.approx([15, 14, 10, 5])
    assert curve.x.tolist() == pytest.approx([0, 0.2, 0.4, 0.6])
    assert curve.y.tolist() == pytest.approx([530 / 5, 510 / 4, 500 / 3, 500 / 2])
    with pytest.raises(stakes.InputError, match="sick"):
        stakes.evaluate(truth=["sick", "none"], score=[0.9, 0.1], positive="sick").curve("reject", costs=costs)


def test_another_threshold_moves_the_doubt():
    truth, score = rows(100, 6)
    ev = stakes.evaluate(truth=truth, score=score)
    moved, same = ev.curve("reject", threshold=0.2), ev.at(0.2).curve("reject")
    np.testing.assert_array_equal(moved.y, same.y)
    doubt = np.where(score >= 0.2, 0.2 * (1 - score), 0.8 * score)
    x, y = rejected_by_hand(doubt, (score >= 0.2) != truth, np.ones(100))
    np.testing.assert_allclose([moved.x, moved.y], [x, y], atol=1e-12)
    for cut in (0, math.inf):  # nothing is nearer to such a threshold than anything else
        assert len(ev.curve("reject", threshold=cut)) == 1


def test_several_classes_are_kept_by_their_highest_score():
    rng = np.random.default_rng(0)
    scores = rng.dirichlet(np.ones(3), 150)
    truth = np.array([rng.choice(3, p=p) for p in scores])
    ev = stakes.evaluate(truth=truth, score=scores, classes=range(3))
    curve = ev.curve("reject")
    x, y = rejected_by_hand(-scores.max(1), scores.argmax(1) != truth, np.ones(150))
    np.testing.assert_allclose([curve.x, curve.y], [x, y], atol=1e-12)
    assert curve.note == ""
    matrix = [[0, 1, 5, 0.5], [1, 0, 1, 0.5], [2, 1, 0, 0.5]]
    priced = ev.curve("reject", costs=stakes.Costs(matrix, ["0", "1", "2"], ["0", "1", "2", "ask"]))
    expected = scores @ np.array(matrix)
    loss = np.array(matrix)[truth, expected.argmin(1)]
    x, y = rejected_by_hand(expected.min(1), loss, np.ones(150))
    np.testing.assert_allclose([priced.x, priced.y], [x, y], atol=1e-12)
    single = ev.curve("reject", 1)
    assert single.y[0] == pytest.approx(((scores[:, 1] >= 0.5) != (truth == 1)).mean())
    with pytest.raises(stakes.InputError, match="threshold"):
        ev.curve("reject", threshold=0.5)


def test_many_rows_of_several_classes_are_sampled():
    rng = np.random.default_rng(0)
    scores = rng.dirichlet(np.ones(3), 30_000)
    truth = (rng.random(30_000)[:, None] > scores.cumsum(1)).sum(1)
    curve = stakes.evaluate(truth=truth, score=scores, classes=range(3)).curve("reject")
    assert curve.note == f"from a sample of {len(curve):,} rows"
    assert len(curve) < 20_000
    assert curve.y[0] == pytest.approx((scores.argmax(1) != truth).mean(), abs=0.015)


def reject_heights(truth, score, at):
    doubt = np.minimum(score, 1 - score)
    order = np.argsort(-doubt, kind="stable")
    wrong = ((score >= 0.5) != truth)[order]
    return [wrong[round(share * len(truth)) :].mean() for share in at]


REJECTED = [0.0, 0.25, 0.5]


@functools.cache
def reject_error(clustered):
    """How much the curve of 600 rows spreads at a few shares; those of three in a cluster are equal."""
    truth, score = rows(600, 7)
    cluster = None
    if clustered:
        truth, score, cluster = np.repeat(truth, 3), np.repeat(score, 3), np.repeat(np.arange(600), 3)
    return bootstrap(truth, [score], lambda y, s: reject_heights(y, s, REJECTED), 800, cluster)


@pytest.mark.parametrize(
    "kind", ["rows", "weighted", "clusters", "classes fixed", "three", "weighted three", "three in clusters"]
)
def test_bands_of_reject_curves_are_those_of_a_bootstrap(kind):
    truth, score = rows(600, 7)
    options = {}
    if "clusters" in kind:
        truth, score = np.repeat(truth, 3), np.repeat(score, 3)
        options["cluster"] = np.repeat(np.arange(600), 3)
    if "weighted" in kind:  # equal weights do not matter
        options["weight"] = np.full(600, 0.25)
    if kind == "classes fixed":
        options["design"] = kind
    if "three" in kind:  # the third class is never true and never likely
        columns = np.column_stack([1 - score, score, np.zeros(len(score))])
        curve = stakes.evaluate(truth=truth.astype(int), score=columns, classes=range(3), **options).curve("reject")
    else:
        curve = stakes.evaluate(truth=truth, score=score, **options).curve("reject")
    at = REJECTED
    error = reject_error("clusters" in kind)
    width = np.interp(at, curve.band.x, curve.band.high - curve.band.low)
    np.testing.assert_allclose(width / (2 * Z * error), 1, atol=0.2)
    assert inside(curve).all()
    assert (curve.band.x[0], curve.band.x[-1]) == (0, curve.x[-1])
    assert (np.diff(curve.band.x) > 0).all()


def test_fixed_classes_leave_no_doubt_about_errors_that_are_all_of_one_class():
    truth, score = rows(500)
    widths = []
    for design in ("classes random", "classes fixed"):
        band = stakes.evaluate(truth=truth, score=score, design=design).curve("reject", threshold=math.inf).band
        widths.append(float(band.high[0] - band.low[0]))
    assert widths[0] == pytest.approx(2 * Z * math.sqrt(truth.mean() * (1 - truth.mean()) / 500), rel=0.1)
    assert widths[1] < 0.1 * widths[0]


def test_where_no_error_is_left_another_sample_may_have_some():
    truth, score = np.arange(40) % 2 == 1, np.where(np.arange(40) % 2, 0.9, 0.1) + np.arange(40) / 1000
    band = stakes.evaluate(truth=truth, score=score).curve("reject").band
    assert (band.low == 0).all()
    assert 0.01 < band.high[0] < 0.15
    assert (np.diff(band.high) > -0.02).all()


# ── histograms ───────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("steps", [None, 50])
def test_histograms_are_those_of_numpy(weighted, steps):
    truth, score = rows(300, 2, steps)
    weight = np.random.default_rng(1).random(300) if weighted else None
    found = stakes.evaluate(truth=truth, score=score, weight=weight, threshold=0.3).histograms()
    np.testing.assert_allclose(found.edges, np.linspace(0, 1, 51))
    for name, mask in (("true", truth), ("false", ~truth)):
        theirs, _ = np.histogram(score[mask], found.edges, weights=None if weight is None else weight[mask])
        np.testing.assert_allclose(found.counts[name], theirs, atol=1e-12)
    assert found.threshold == 0.3
    assert found.counts["true"].dtype == (np.float64 if weighted else np.int64)
    assert strictly(found.to_dict())["counts"]["true"] == found.counts["true"].tolist()
    assert repr(found) == "<histograms of the scores of 'true' and 'false' in 50 bins>"


def test_histograms_of_other_scores_run_over_their_range():
    found = stakes.evaluate(truth=[0, 1, 1, 0], score=[-3, 5, 1, 5]).histograms(bins=4)
    assert found.edges.tolist() == [-3, -1, 1, 3, 5]
    assert found.counts["1"].tolist() == [0, 0, 1, 1]
    assert found.counts["0"].tolist() == [1, 0, 0, 1]
    assert found.threshold is None
    same = stakes.evaluate(truth=[0, 1], score=[7, 7]).histograms(bins=2)
    assert same.edges.tolist() == [6.5, 7, 7.5]
    assert same.counts["1"].tolist() == [0, 1]


def test_histograms_of_several_classes_show_each_against_the_rest():
    rng = np.random.default_rng(0)
    scores = rng.dirichlet(np.ones(3), 100)
    truth = rng.integers(0, 3, 100)
    found = stakes.evaluate(truth=truth, score=scores, classes=range(3)).histograms(bins=10)
    assert list(found) == ["0", "1", "2"]
    for c in range(3):
        own, rest = (np.histogram(scores[mask, c], np.linspace(0, 1, 11))[0] for mask in (truth == c, truth != c))
        assert found[str(c)].counts[str(c)].tolist() == own.tolist()
        assert found[str(c)].counts[f"not {c}"].tolist() == rest.tolist()


def test_histograms_that_do_not_exist():
    with pytest.raises(stakes.InputError, match="no histograms of scores for these rows: no scores were given"):
        stakes.evaluate(truth=[0, 1], prediction=[0, 1]).histograms()
    with pytest.raises(stakes.InputError, match="no histograms of scores for these rows: no scores were given"):
        stakes.evaluate(truth=["a", "b", "c"], prediction=["a", "b", "b"]).histograms()
    with pytest.raises(stakes.InputError, match="a histogram of scores is for scores of classes"):
        stakes.evaluate(truth=[1.5, 2], prediction=[1.0, 2]).histograms()
    with pytest.raises(stakes.InputError, match="bins"):
        stakes.evaluate(truth=[0, 1], score=[0.1, 0.2]).histograms(bins=0)
    binned = stakes.count(truth=[0, 1], score=[0.1, 0.2])
    kept = stakes.Evaluation(type(binned)(binned.task, {"scores": binned.scores.binned()}))
    assert "lower edges" in kept.histograms().to_dict()["note"]


# ── every curve ──────────────────────────────────────────────────────────────────────────────────────────────────
KINDS = {
    "roc": ("false_positive_rate", "recall", set()),
    "pr": ("recall", "precision", set()),
    "cost": ("probability_cost", "normalised_expected_cost", {"never", "always"}),
    "decision": ("threshold_probability", "net_benefit", {"treat all", "treat none"}),
    "reject": ("share_rejected", "error_rate", {"at random"}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_curve_can_be_saved_and_says_what_it_is(kind):
    truth, score = rows(100)
    curve = stakes.evaluate(truth=truth, score=score).curve(kind)
    x_name, y_name, lines = KINDS[kind]
    saved = strictly(curve.to_dict())
    assert (saved["kind"], saved[x_name], saved[y_name]) == (kind, curve.x.tolist(), curve.y.tolist())
    assert len(saved["threshold"]) == len(saved[x_name]) == len(curve)
    assert set(saved.get("references", {})) == lines
    assert all(len(line) == len(curve) for line in curve.references.values())
    assert len(saved["band"]["x"]) == len(saved["band"]["low"]) == len(saved["band"]["high"])
    assert repr(curve) == f"<{kind} curve: {y_name} against {x_name} at {len(curve):,} thresholds>"
    wide = stakes.evaluate(truth=truth, score=score, confidence=0.999).curve(kind).band
    assert (wide.high - wide.low).sum() > (curve.band.high - curve.band.low).sum()


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_single_cluster_there_is_no_band(kind):
    truth, score = rows(60)
    with pytest.warns(stakes.InputWarning):
        ev = stakes.evaluate(truth=truth, score=score, cluster=np.zeros(60))
    saved = strictly(ev.curve(kind).to_dict())
    assert saved["band"]["reason"] == "there is a single cluster"
    assert set(saved["band"]["low"]) == {None}


def test_a_difference_within_a_single_cluster_has_no_band():
    truth, score = rows(60)
    with pytest.warns(stakes.InputWarning):
        both = stakes.compare(truth=truth, scores={"a": score, "b": score[::-1]}, cluster=np.zeros(60), resamples=100)
    band = both.curve("decision", "a", "b").band
    assert band.reason == "there is a single cluster"
    assert np.isnan(band.low).all()


LOGITS = [-1.0, 2, 0, 1]
SCORES = [0.1, 0.9, 0.3, 0.7]


@pytest.mark.parametrize(
    ("score", "kind", "options", "words"),
    [
        (
            LOGITS,
            "decision",
            {},
            "no decision curve for these rows: the scores are no probabilities: they lie outside",
        ),
        (LOGITS, "reject", {}, "no reject curve for these rows: the scores are no probabilities: they lie outside"),
        (
            SCORES,
            "decision",
            {"thresholds": [0.5, 1]},
            "thresholds: 1 is no threshold probability; give numbers from 0",
        ),
        (SCORES, "decision", {"thresholds": []}, r"thresholds: \[\] is no threshold probability"),
        (SCORES, "decision", {"thresholds": "half"}, "thresholds: 'half' is no threshold probability"),
        (
            SCORES,
            "decision",
            {"threshold": 1},
            "the decision curve has no option 'threshold'; did you mean 'thresholds'",
        ),
        (SCORES, "pr", {"costs": 1}, "the pr curve has no option 'costs'; leave it out"),
        (SCORES, "cost", {"threshold": math.nan}, "threshold"),
        (SCORES, "reject", {"threshold": "half"}, "threshold"),
        (SCORES, "reject", {"costs": 5}, r"costs=5 does not work; pass costs=Costs\(miss=5, false_alarm=1\)"),
        (
            SCORES,
            "reject",
            {"costs": stakes.Costs(miss=1, false_alarm=1), "threshold": 0.5},
            "give either costs= or threshold=",
        ),
        (SCORES, "nonsense", {}, "there is no curve 'nonsense'; there is 'roc', 'pr', 'cost', 'decision' and 'reject'"),
    ],
)
def test_curves_and_options_that_do_not_exist(score, kind, options, words):
    with pytest.raises(stakes.InputError, match=words):
        stakes.evaluate(truth=[0, 1, 0, 1], score=score).curve(kind, **options)


def test_a_cost_curve_needs_both_classes():
    with pytest.raises(stakes.InputError, match="there is no cost curve for these rows: no case is negative"):
        stakes.evaluate(truth=[1, 1], score=[0.1, 0.2]).curve("cost")


def test_sums_alone_have_no_reject_curve_of_several_classes():
    counted = stakes.count(truth=[0, 1, 2], score=np.eye(3), classes=range(3))
    saved = stakes.ClassScores.from_dict(counted.tallies["class_scores"].to_dict())
    ev = stakes.Evaluation(type(counted)(counted.task, {"class_scores": saved}))
    with pytest.raises(stakes.InputError, match="only sums were kept of them"):
        ev.curve("reject")


def test_thresholds_inside_bins_are_moved_to_their_ends():
    counted = stakes.count(truth=[0, 1, 1], score=[0.1, 0.6, 0.7])
    binned = stakes.Evaluation(type(counted)(counted.task, {"scores": counted.scores.binned()}))
    assert binned.curve("decision", thresholds=[0.5]).y.tolist() == pytest.approx([2 / 3])
    assert binned.curve("decision", thresholds=[0.5]).note == ""
    truth, score = np.random.default_rng(0).random((2, 4000))
    whole = stakes.count(truth=truth < score, score=score)
    binned = stakes.Evaluation(type(whole)(whole.task, {"scores": whole.scores.binned()}))
    found, known = binned.curve("decision"), stakes.Evaluation(whole).curve("decision")
    assert found.note.startswith("the scores were counted in bins, which moves a net benefit by ")
    for language, words in (("es", "un beneficio neto en 0,0"), ("ru", "чистую пользу не более чем на 0,0")):
        with speaking(language):
            assert words in reason_text(found.note)
    most = float(found.note.split()[-3])
    assert 0 < most < 0.05
    assert np.abs(found.y - known.y).max() <= most * 1.06  # it is told with one digit


# ── the ROC line of decisions, and the null ──────────────────────────────────────────────────────────────────────
FOUR = np.array([[130, 74, 2, 6], [96, 99, 6, 16], [3, 4, 207, 4], [6, 12, 4, 177]])


def cells(table):
    truth, decided = np.divmod(np.repeat(np.arange(table.size), table.ravel()), table.shape[1])
    return truth, decided


def test_decisions_have_the_roc_line_through_their_point():
    """The areas are those of the one-point auc: .723796 .656568 .965217 .924631."""
    truth, decided = cells(FOUR)
    ev = stakes.evaluate(truth=truth, prediction=decided, task="classification")
    assert ev.plots == ("confusion", "roc")
    for of, area in enumerate((0.723796, 0.656568, 0.965217, 0.924631)):
        curve = ev.curve("roc", of)
        x, y = ev["false_positive_rate", of].value, ev["recall", of].value
        assert [curve.x.tolist(), curve.y.tolist()] == [[0, pytest.approx(x), 1], [0, pytest.approx(y), 1]]
        assert np.trapezoid(curve.y, curve.x) == pytest.approx(area, abs=5e-7)
        assert inside(curve).all()
        assert ev["one_point_auc", of].value == pytest.approx(area, abs=5e-7)


@pytest.mark.parametrize("beside", ["weight", "cluster"])
def test_the_line_of_two_classes_has_weights_and_clusters(beside):
    truth, decided = (codes == 1 for codes in cells(FOUR))
    column = {"weight": 1 + np.arange(len(truth)) % 3, "cluster": np.arange(len(truth)) // 3}[beside]
    ev = stakes.evaluate(truth=truth, prediction=decided, **{beside: column})
    curve = ev.curve("roc")
    assert curve.y[1] == pytest.approx(ev["recall"].value)
    assert curve.x[1] == pytest.approx(ev["false_positive_rate"].value)
    assert inside(curve).all()
    with pytest.raises(stakes.InputError, match="there is no pr curve"):
        ev.curve("pr")


def test_the_null_band_holds_the_curves_of_shuffled_labels():
    truth, score = rows(120, steps=20)
    ev = stakes.evaluate(truth=truth, score=score)
    band = ev.curve("roc", null=True).chance
    assert ev.curve("roc").chance is None
    rng, held = np.random.default_rng(1), 0
    for _ in range(300):
        other = stakes.evaluate(truth=rng.permutation(truth), score=score).curve("roc", null=False)
        height = np.interp(band.x, other.x, other.y)
        held += (height >= band.low - 1e-9).all() and (height <= band.high + 1e-9).all()
    assert 0.91 < held / 300 < 0.99  # all of a curve, 95 times of 100
    own = np.interp(band.x, *(getattr(ev.curve("roc"), axis) for axis in "xy"))
    assert (own > band.high).any()  # the model itself leaves it
    assert "chance" in strictly(ev.curve("roc", null=True).to_dict())
    weighted = stakes.evaluate(truth=truth, score=score, weight=np.full(120, 2.0)).curve("roc", null=True)
    assert weighted.chance.reason == "labels of clusters or weights are not shuffled"
    with pytest.raises(stakes.InputError, match="null="):
        ev.curve("roc", null="yes")


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95])
def test_a_simultaneous_band_is_the_narrowest_that_holds_enough_whole_curves(confidence, ties):
    """As many of the lowest and of the highest heights are cut off at every place as leave most curves within."""
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=(200, 9)) + rng.normal(size=(200, 1))
    drawn = drawn.round(1) if ties else drawn
    ordered = np.sort(drawn, axis=0)
    limits = [(ordered[cut], ordered[-1 - cut]) for cut in range(100)]
    held = [((low <= drawn) & (drawn <= high)).all(axis=1).sum() for low, high in limits]
    narrowest = max(cut for cut, curves in enumerate(held) if curves >= confidence * 200)
    band = bootstrap_band(np.arange(9), lambda: drawn, Sampling(confidence), simultaneous=True)
    np.testing.assert_array_equal((band.low, band.high), limits[narrowest])


@pytest.mark.parametrize("clusters", [3000, 20_000])
def test_bands_of_clusters_of_rare_positives_hold_their_curve(clusters):
    """Beyond all scores lies half a cluster of a class, and not half of what very many clusters share at random."""
    rng = np.random.default_rng(0)
    truth = rng.random(20_000) < 0.02
    score = 1 / (1 + np.exp(-rng.normal(1.5 * truth, 1)))
    asked = {"truth": truth, "score": score}
    alone, together = stakes.evaluate(**asked), stakes.evaluate(**asked, cluster=np.arange(20_000) % clusters)
    rows, held = (ev.curve("roc").band for ev in (alone, together))
    for place in (0.1, 0.5, 0.9, 0.99):
        low, high = (np.interp(place, rows.x, end) for end in (rows.low, rows.high))
        assert np.interp(place, held.x, held.low) == pytest.approx(low, abs=0.02)
        assert np.interp(place, held.x, held.high) == pytest.approx(high, abs=0.02)
