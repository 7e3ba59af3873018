"""ev.gap(): the largest gap between groups, against brute force, and simulated where all groups are equal."""

import numpy as np
import pytest
from scipy import stats

import stakes
from stakes.evaluation import gap as gaps_of_evaluation
from stakes.tallies import clusters
from stakes.uncertainty.interval import wilson
from stakes.uncertainty.segments import ONE_ERROR, confidence_of_pairs, largest_gap
from stakes.uncertainty.two_samples import Side

RNG = np.random.default_rng(0)
N = 2_000
ROWS = {
    "sex": RNG.choice(["f", "m"], N),
    "site": RNG.choice([*"abcd", "tiny"], N, p=[0.4, 0.3, 0.2, 0.095, 0.005]),
    "y": RNG.random(N) < 0.4,
}
ROWS["d"] = np.where(ROWS["y"], RNG.random(N) < np.where(ROWS["sex"] == "f", 0.85, 0.7), RNG.random(N) < 0.1)
ROWS["p"] = np.clip(0.5 * ROWS["y"] + RNG.random(N) * np.where(ROWS["site"] == "b", 0.9, 0.7), 0, 1)
NAMED = {"truth": "y", "prediction": "d"}


def rates(by):
    """The recall and the false positive rate of each group, by hand."""
    groups = [ROWS[by] == value for value in np.unique(ROWS[by])]
    return [[ROWS["d"][here & (ROWS["y"] == truth)].mean() for here in groups] for truth in (True, False)]


def test_two_groups_are_the_segment_beside_the_rest():
    ev = stakes.evaluate(ROWS, **NAMED, by="sex")
    gap, beside = ev.gap("recall", by="sex"), ev.by_segment("recall")["f"]
    assert gap.apart == pytest.approx(np.ptp(rates("sex")[0]))
    assert (gap.low, gap.high) == pytest.approx((beside.difference_low, beside.difference_high))
    assert (gap.highest, gap.lowest) == ("f", "m")
    # of two groups the square of the gap is corrected by its expected excess, the sum of both variances
    errors = [
        one.high - one.low for one in (part.interval("recall", confidence=ONE_ERROR) for part in ev.segments.values())
    ]
    assert gap.value == pytest.approx(np.sqrt(gap.apart**2 - np.sum(np.square(errors)) / 4), rel=1e-3)
    assert "No: by recall, “f” and “m” lie" in str(gap)


def test_equalised_odds_is_the_larger_of_both_gaps():
    """As Fairlearn defines its equalized_odds_difference; each of the two has half of the chance of error."""
    ev = stakes.evaluate(ROWS, **NAMED, by="sex")
    gap = ev.gap("equalized_odds")
    assert gap.metric == "equalised_odds"
    assert str(gap).startswith("How far apart are the groups by recall and by false positive rate?")
    assert gap.apart == pytest.approx(max(map(np.ptp, rates("sex"))))
    assert gap.figure == "recall"
    half = stakes.evaluate(ROWS, **NAMED, by="sex", confidence=0.975)
    assert gap.low == pytest.approx(half.gap("recall").low)
    assert gap.high == pytest.approx(max(half.gap(name).high for name in ("recall", "false_positive_rate")))


def test_one_of_several_columns():
    both, alone = (stakes.evaluate(ROWS, **NAMED, by=by) for by in (["sex", "site"], "site"))
    gap = both.gap("recall", by="site")
    assert gap.to_dict() == alone.gap("recall").to_dict()
    assert gap.not_estimable == {"tiny": "5 rows to judge it by; at least 10 wanted"}
    assert set(gap.groups) == set("abcd")
    assert "Not estimable: “tiny”" in str(gap)
    with pytest.raises(stakes.InputError, match="by='age' makes no segments here; name 'sex' or 'site'"):
        both.gap("recall", by="age")
    with pytest.raises(stakes.InputError, match="by='sex' makes no segments here; name 'site'"):
        alone.gap("recall", by="sex")
    with pytest.raises(stakes.InputError, match="there are no segments; evaluate with by="):
        stakes.evaluate(ROWS, **NAMED).gap("recall")


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"score": "p"}, "auc"),
        ({"score": "p"}, "brier_score"),
        ({"prediction": "d", "weight": RNG.uniform(0.5, 2, N)}, "recall"),
        ({"prediction": "d", "cluster": np.arange(N) // 5}, "f1"),
        ({"prediction": "p", "task": "regression"}, None),
        ({"prediction": "d", "costs": stakes.Costs(miss=5, false_alarm=1)}, None),
    ],
)
def test_any_figure_with_an_interval_has_a_gap(options, name):
    data = dict(ROWS, y=ROWS["y"].astype(float)) if options.get("task") else ROWS
    ev = stakes.evaluate(data, truth="y", by="site", **options)
    gap = ev.gap(name)
    values = {group: ev.segments[group][name or ev._key_figure].value for group in gap.groups}
    assert gap.apart == pytest.approx(max(values.values()) - min(values.values()))
    assert 0 <= gap.low <= gap.value <= gap.apart <= gap.high
    assert set(values) <= set(ROWS["site"])


def visits(patients, seed=0):
    """Patients that are seen at two sites, and are hard or easy at both."""
    random = np.random.default_rng(seed)
    easy = random.normal(size=patients)
    who = np.repeat(np.arange(patients), 4)
    site = np.tile(["a", "a", "b", "b"], patients)
    y = random.random(4 * patients) < 0.6
    score = easy[who] * np.where(y, 1, -1) * 1.5 + random.normal(size=4 * patients)
    return {
        "y": y,
        "d": np.where(y, score > -0.5, score < -0.5),
        "p": 1 / (1 + np.exp(-score)),
        "site": site,
        "who": who,
    }


@pytest.mark.parametrize(
    ("asked", "name"), [({"prediction": "d"}, "recall"), ({"score": "p"}, "auc"), ({"score": "p"}, "brier_score")]
)
def test_patients_of_both_groups_make_the_gap_as_sure_as_it_is(asked, name, monkeypatch):
    """Against leaving out whole patients, from both groups at once."""
    rows = visits(150)
    gap = stakes.evaluate(rows, truth="y", **asked, by="site", cluster="who").gap(name)

    def difference(kept):
        here = [kept & (rows["site"] == site) for site in "ab"]
        (column,) = asked.values()
        return np.subtract(*(stakes.metrics.find(name)(rows["y"][i], rows[column][i], positive=True) for i in here))

    left = np.array([difference(rows["who"] != one) for one in range(150)])
    error = np.sqrt(((left - left.mean()) ** 2).sum() * 149 / 150)
    assert gap.apart == pytest.approx(abs(difference(rows["who"] >= 0)))
    assert gap.high - gap.apart == pytest.approx(1.976 * error, rel=0.12)
    apart = dict(rows, who=[f"{site}{one}" for site, one in zip(rows["site"], rows["who"], strict=True)])
    wide = stakes.evaluate(apart, truth="y", **asked, by="site", cluster="who").gap(name)
    assert wide.high > gap.high + 0.1 * error
    monkeypatch.setattr(clusters, "MOST_GROUPS", 120)  # very many patients are put together, alike in both groups
    rough = stakes.evaluate(rows, truth="y", **asked, by="site", cluster="who").gap(name)
    assert rough.high - rough.apart == pytest.approx(gap.high - gap.apart, rel=0.25)


def test_clusters_that_lie_in_one_group_each_leave_the_groups_independent():
    ev = stakes.evaluate(ROWS, **NAMED, by="site", cluster=np.char.add(ROWS["site"], (np.arange(N) // 5).astype(str)))
    parts = [ev.segments[name] for name in "abcd"]
    assert gaps_of_evaluation._correlations(parts, "f1") == pytest.approx(np.eye(4))
    alone = stakes.evaluate(ROWS, **NAMED, by="site").segments
    assert gaps_of_evaluation._correlations([alone["a"], alone["b"]], "f1") is None


def test_the_groups_are_drawn_with_their_intervals():
    gap = stakes.evaluate(ROWS, **NAMED, by="sex").gap("recall")
    drawn = gap.plot()
    assert [label.get_text() for label in drawn.ax.get_yticklabels()] == ["m", "f"]
    assert drawn.artists["points"].get_offsets()[:, 0].tolist() == pytest.approx(sorted(rates("sex")[0]))
    assert "largest gap: 0.1" in drawn.ax.get_title("left")
    with pytest.raises(stakes.InputError, match="recall"):
        stakes.evaluate(truth=[1, 0] * 8, prediction=[1, 0] * 8, by=["a", "b"] * 8).gap("recall").plot()


def test_gates_and_pages_know_it():
    ev = stakes.evaluate(ROWS, **NAMED, by=["sex", "site"])
    gate = stakes.gate(ev, require=["gap(recall, by=sex).high <= 0.1", "gap(f_beta(beta=2)) < 0.5"])
    assert [check.passed for check in gate.checks] == [False, True]
    assert gate.checks[0].seen == ev.gap("recall", by="sex").high
    assert gate.checks[1].condition == "gap(f_beta(beta=2)) < 0.5"
    (plain,) = stakes.gate(ev, require="gap(recall, by=sex) <= 0.5").checks
    apart = np.ptp(rates("sex")[0])  # what is seen is held against the limit without what noise adds, and both are told
    assert plain.seen < apart
    assert f"{apart:.4f} apart in these rows; {plain.seen:.4f} beyond chance" in plain.words
    with pytest.warns(stakes.InputWarning, match="points the wrong way: a lower gap"):
        stakes.gate(ev, require="gap(equalized_odds, by=sex).low >= 0.2")
    few = stakes.evaluate(truth=[1, 0] * 8, prediction=[1, 0] * 8, by=["a", "b"] * 8)
    (check,) = stakes.gate(few, require="gap(recall).high <= 0.2").checks
    assert not check.passed
    assert "none of 2 groups can be compared" in check.reason
    assert "That cannot be told" in str(few.gap("recall"))
    assert "The largest gap between segments: recall of “sex=f" in str(ev)
    for text in ("gap(nonsense) < 1", "gap() < 1", "gap(recall < 1"):
        with pytest.raises(stakes.InputError):
            stakes.gate(ev, require=text)


@pytest.mark.parametrize("groups", [2, 3, 12])
def test_pairs_hold_at_once_by_tukeys_range(groups):
    theirs = 2 * stats.norm.cdf(stats.studentized_range.ppf(0.95, groups, 1e7) / np.sqrt(2)) - 1
    assert confidence_of_pairs(groups, 0.95) == pytest.approx(theirs, abs=1e-6)


def simulate(shares, rows, times):
    """How often 0 is left out, how often the true gap is covered, the mean error of the gap as seen and corrected."""
    rng, rows, level = np.random.default_rng(5), np.asarray(rows, float), confidence_of_pairs(len(shares), 0.95)
    found, truth = [], np.ptp(shares)
    for _ in range(times):
        seen = rng.binomial(rows.astype(int), shares) / rows
        side, (low, high) = Side(seen, *wilson(seen, rows, level), rows), wilson(seen, rows, ONE_ERROR)
        gap = largest_gap(side, (high - low) / 2, level, shares=True)
        found.append((gap.low > 0, gap.low <= truth <= gap.high, gap.seen - truth, gap.value - truth))
    return np.mean(found, axis=0)


def test_equal_groups_are_called_unequal_in_one_of_twenty_files_at_most():
    apart, covered, seen, corrected = simulate([0.7] * 10, [20, 40, 60, 80, 100] * 2, 300)
    assert apart < 0.08  # 0.05 and two standard errors
    assert covered > 0.92
    assert corrected < seen / 2  # the largest of 45 gaps is large by chance


@pytest.mark.deep
@pytest.mark.parametrize("groups", [2, 5, 30])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("rows", [10, 50, 500])
def test_the_gap_of_equal_groups_in_many_worlds(groups, share, rows):
    apart, covered, seen, corrected = simulate([share] * groups, [rows] * groups, 2000)
    assert apart < 0.065
    assert covered > 0.935
    assert corrected < 0.55 * seen


@pytest.mark.deep
@pytest.mark.parametrize("shares", [[0.65, 0.8], np.linspace(0.6, 0.9, 10), [0.6, *[0.8] * 9]])
def test_the_gap_of_unequal_groups_is_hardly_biased(shares):
    rows = np.geomspace(30, 600, len(shares)).astype(int)
    _, covered, seen, corrected = simulate(shares, rows, 2000)
    assert covered > 0.92  # 93 % within two simulation errors
    assert abs(corrected) < max(0.03, 0.6 * seen)
