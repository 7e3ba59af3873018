"""Watching: e-values against integration, promises by simulation, the state that is added to, and wrong questions."""

import json
import math

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.metrics import roc_auc_score

import stakes
from stakes import metrics
from stakes.errors import InputError
from stakes.evaluation import watch as watching
from stakes.evaluation.watch import bets_by_day, monitors, shifts
from stakes.evaluation.watch.expected import expected
from stakes.evaluation.watch.monitors import Area, Mean, Rate, TableFigure
from stakes.evaluation.watch.shifts import Unlabelled
from stakes.uncertainty import sequences
from tests.bad_inputs.catalogue import run_command
from tests.kinds.rows import labels, quantiles

RNG = np.random.default_rng(5)


def recall_day(hits, rows=50):
    return stakes.count(truth=[1] * rows + [0] * 10, prediction=[1] * hits + [0] * (rows - hits) + [0] * 10)


def score_day(apart, rows=200, rng=RNG):
    truth = np.arange(rows) % 4 == 0
    score = 1 / (1 + np.exp(-rng.normal(size=rows) - apart * truth))
    return stakes.count(truth=truth.astype(int), score=score, threshold=0.5)


GOOD = [recall_day(hits) for hits in (46, 47, 45, 46, 48)]
BAD = [recall_day(hits) for hits in (30, 31, 33)]
ALARM = {"require": "recall >= 0.9", "days_alike": True}


# ── e-values ─────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(("hits", "rows"), [(0, 0), (40, 50), (49, 50), (170, 200)])
def test_the_evidence_of_a_rate_is_its_mean_likelihood_below_the_floor(hits, rows):
    floor, drop = 0.9, 0.05
    m = floor * (1 - floor) / drop**2 - 1
    prior = stats.beta(m * floor, m * (1 - floor))

    def bet(p):
        return prior.pdf(p) * math.exp(hits * math.log(p / floor) + (rows - hits) * math.log((1 - p) / (1 - floor)))

    found = integrate.quad(bet, 0, floor, points=[0.7, 0.8, 0.85])[0] / prior.cdf(floor)
    told = sequences.log_rate_evidence(np.array([hits]), np.array([rows]), floor, drop)[0]
    assert math.exp(told) == pytest.approx(found, rel=1e-6)


def test_a_rate_far_above_its_floor_is_no_evidence_however_many_rows():
    told = sequences.log_rate_evidence(np.array([9.9e6]), np.array([1e7]), 0.9, 0.05)
    assert told[0] == -math.inf


@pytest.mark.parametrize(("distance", "variance"), [(0.0, 0.01), (0.1, 0.001), (-0.05, 0.0004)])
def test_the_evidence_of_a_figure_is_its_mean_likelihood_on_the_wrong_side(distance, variance):
    drop = 0.05

    def bet(g):
        return 2 * stats.norm.pdf(g, 0, drop) * math.exp((g * distance - g * g / 2) / variance)

    found = integrate.quad(bet, 0, 1, limit=200, points=[0.02, 0.05, 0.1])[0]
    told = sequences.log_evidence(np.array([distance]), np.array([variance]), drop)[0]
    assert math.exp(told) == pytest.approx(found, rel=1e-6)


def test_stakes_never_exceed_one():
    assert np.exp(sequences.log_stakes(200_000, None)).sum() < 1
    assert np.exp(sequences.log_stakes(500, 365)).sum() == pytest.approx(1)
    assert np.exp(sequences.log_stakes(500, 365))[365:].sum() == 0


def test_limits_of_a_rate_are_where_the_mixture_says():
    (low,), (high,) = sequences.rate_limits(np.array([90.0]), np.array([100.0]), 0.05)
    for end in (low, high):
        mixture = stats.betabinom(100, 0.5, 0.5).pmf(90) / stats.binom(100, end).pmf(90)
        assert mixture == pytest.approx(20, rel=1e-6)
    assert low < 0.9 < high


# ── what is kept of days ─────────────────────────────────────────────────────────────────────────────────────────
def whole(days):
    return stakes.evaluate(sum(days))


def test_figures_of_windows_are_those_of_their_rows():
    days = [score_day(1.0) for _ in range(4)]
    together = whole(days)
    for name in ("auc", "f1", "mcc", "recall", "brier_score", "log_loss"):
        monitor = monitors.monitor_of(stakes.evaluate(days[0]), name, metrics.find(name).better == "higher", 0.5, None)
        sums = sum(monitor.numbers(stakes.evaluate(day)) for day in days)
        value, variance, enough = (float(one[0]) for one in monitor.figures(sums[None]))
        exact = together[name]
        assert value == pytest.approx(exact.value, abs=5e-3 if name == "auc" else 1e-9)
        low, high = monitor.bounds(sums) or (value, value)
        assert low - 1e-9 <= exact.value <= high + 1e-9
        assert name == "recall" or float(monitor.rows(sums)) == together.rows
        assert 0 < high - low < 1e-2 if name == "auc" else monitor.bounds(sums) is None
        assert enough
        width = (exact.high - exact.low) / 2 / 1.96
        assert math.sqrt(variance) == pytest.approx(width, rel=0.1)


@pytest.mark.parametrize("name", ["recall", "f1", "mcc"])
def test_weighted_windows_are_those_of_their_rows(name):
    rng = np.random.default_rng(3)
    days = [
        stakes.count(truth=t, prediction=np.where(rng.random(150) < 0.8, t, 1 - t), weight=rng.lognormal(size=150))
        for t in rng.integers(0, 2, (4, 150))
    ]
    monitor = monitors.monitor_of(stakes.evaluate(days[0]), name, True, 0.5, None)
    sums = sum(monitor.numbers(stakes.evaluate(day)) for day in days)
    exact = whole(days)[name]
    (value,), (variance,), (enough,) = monitor.figures(sums[None])
    assert value == pytest.approx(exact.value)
    assert math.sqrt(variance) == pytest.approx((exact.high - exact.low) / 2 / 1.96, rel=0.1)
    assert enough


@pytest.mark.parametrize("name", ["f1", "mcc", "recall"])
def test_equal_weights_tell_as_much_as_none(name):
    rows = {"truth": [0] * 40 + [1] * 40, "prediction": [0] * 33 + [1] * 7 + [0] * 9 + [1] * 31}
    found = []
    for day in (stakes.evaluate(**rows), stakes.evaluate(**rows, weight=[2.5] * 80)):
        monitor = TableFigure(metrics.find(name), True, 0.5, like=day._tally(metrics.find(name)))
        found.append([float(one[0]) for one in monitor.figures(monitor.numbers(day)[None])])
    assert found[0] == pytest.approx(found[1])


def test_weighted_days_are_held_against_a_weighted_reference():
    rng = np.random.default_rng(3)

    def day(right, rows=200, weighted=True):
        truth = rng.integers(0, 2, rows)
        said = np.where(rng.random(rows) < right, truth, 1 - truth)
        weight = {"weight": rng.lognormal(size=rows)} if weighted else {}
        return stakes.count(truth=truth, prediction=said, **weight)

    days = [day(0.9) for _ in range(8)] + [day(0.6) for _ in range(8)]
    found = stakes.watch(days, require=["f1", "recall"], against=day(0.9, 4000), margin=0.02)
    assert all(one.alarm is not None and int(one.alarm.split()[1]) >= 9 for one in found.watched)
    with pytest.raises(InputError, match="either the days or the reference have weights"):
        stakes.watch(days, require=["recall"], against=day(0.9, 4000, weighted=False), margin=0.02)


def test_the_right_monitor_is_chosen():
    day = stakes.evaluate(score_day(1.0), costs=stakes.Costs(miss=2, false_alarm=1))
    kinds = {"recall": Rate, "precision": Rate, "auc": Area, "f1": TableFigure, "expected_cost": TableFigure}
    for name, kind in {**kinds, "brier_score": Mean}.items():
        assert type(monitors.monitor_of(day, name, True, 0.5, None)) is kind


KINDS = {
    "subset_accuracy": (labels, Rate),
    "hamming_loss": (labels, Mean),
    "label_ranking_loss": (labels, Mean),
    "coverage_of_intervals": (quantiles, Rate),
    "share_below(level=0.1)": (quantiles, Rate),
    "crps": (quantiles, Mean),
    "pinball_at(level=0.9)": (quantiles, Mean),
}


@pytest.mark.parametrize("name", KINDS)
def test_shares_and_means_of_other_kinds_of_rows_are_watched(name, tmp_path):
    make, kind = KINDS[name]
    days = [stakes.count(**make(seed)) for seed in range(4)]
    rows = [make(seed) for seed in range(4)]
    days[0].save(tmp_path / "day.tally")
    days[0] = stakes.load(tmp_path / "day.tally")  # what travels has no rows
    monitor = monitors.monitor_of(stakes.evaluate(days[0]), name, False, 0.5, None)
    assert type(monitor) is kind
    sums = sum(monitor.numbers(stakes.evaluate(day)) for day in days)
    value, variance, _ = (float(one[0]) for one in monitor.figures(sums[None]))
    exact = stakes.evaluate(**_together(rows))[name]
    assert value == pytest.approx(exact.value)
    assert math.sqrt(variance) == pytest.approx((exact.high - exact.low) / 2 / 1.96, rel=0.15)


def _together(days):
    return {
        name: {key: np.concatenate([day[name][key] for day in days]) for key in one}
        if isinstance(one, dict)
        else np.concatenate([day[name] for day in days])
        for name, one in days[0].items()
    }


@pytest.mark.parametrize("name", ["micro_f1", "samples_f1", "crps_skill"])
def test_ratios_of_other_kinds_of_rows_are_not_watched(name):
    days = [stakes.count(**(quantiles() if name == "crps_skill" else labels()))]
    with pytest.raises(InputError, match=f"false alarms of {name} were not simulated, so it is not watched"):
        stakes.watch(days, require=f"{name} >= 0.5")


def test_intervals_that_no_longer_hold_are_found():
    rng = np.random.default_rng(4)
    days = []
    for day in range(20):
        middle, width = rng.normal(size=100), 1.6 if day < 10 else 0.8
        given = {"low": middle - width, "high": middle + width, "level": 0.9}
        days.append(stakes.count(truth=middle + rng.normal(size=100), **given))
    (one,) = stakes.watch(days, require="coverage_of_intervals >= 0.8").watched
    assert one.alarm is not None
    assert one.change == "day 11"


# ── alarms ───────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_fall_is_found_with_its_day_and_a_steady_model_is_left_alone():
    found = stakes.watch(GOOD + BAD, **ALARM)
    (one,) = found.watched
    assert (one.alarm, one.change, one.exact, found.alarmed) == ("day 6", "day 6", True, True)
    assert "day 6" in one.change_days
    assert one.since_change == pytest.approx((30 + 31 + 33) / 150)
    assert not bool(found)
    assert stakes.watch(GOOD * 10, **ALARM)


def test_a_ceiling_is_a_floor_turned_round():
    days = [recall_day(hits) for hits in (46, 47, 30, 31)]
    one = stakes.watch(days, require="recall >= 0.9").watched[0]
    other = stakes.watch(days, require="miss_rate <= 0.1").watched[0]
    assert [p.evidence for p in one.course] == pytest.approx([p.evidence for p in other.course])


@pytest.mark.parametrize(
    "require", ["auc >= 0.72", "f1 >= 0.52", "mcc >= 0.27", "brier_score <= 0.24", "expected_cost <= 0.4"]
)
def test_every_kind_of_figure_can_fall(require):
    rng = np.random.default_rng(2)
    days = [score_day(1.3, rng=rng) for _ in range(15)] + [score_day(0.0, rng=rng) for _ in range(25)]
    (one,) = stakes.watch(days, require=require, costs=stakes.Costs(miss=1, false_alarm=1)).watched
    assert one.alarm is not None
    assert abs(int(one.change.split()[1]) - 16) <= 3
    assert not one.exact
    assert bool(one.bounds) == require.startswith("auc")


def test_against_a_reference_with_a_margin():
    rng = np.random.default_rng(4)
    reference = sum(score_day(1.5, rng=rng) for _ in range(20))
    days = [score_day(1.5, rng=rng) for _ in range(10)] + [score_day(0.6, rng=rng) for _ in range(15)]
    found = stakes.watch(days, require=["auc", "recall"], against=reference, margin=0.02)
    assert [one.condition for one in found.watched] == [
        "auc at most 0.02 worse than the reference",
        "recall at most 0.02 worse than the reference",
    ]
    assert found.watched[0].alarm is not None
    assert found.watched[0].limit == pytest.approx(whole([reference])["auc"].value - 0.02, abs=2e-3)
    both = stakes.watch(days, require="auc >= 0.5", against=reference)
    assert [one.condition for one in both.watched] == ["auc >= 0.5", "auc no worse than the reference"]


def first_alarm(monitor, hits, rows, alike):
    """The number of the first day of alarm, without all that is told beside."""
    days = np.stack([hits, rows], axis=1).astype(float)
    spread = np.ones(len(days)) if alike else monitor.spread(days)
    totals = map(sequences.log_total, bets_by_day(monitor, days, spread))
    return next((day for day, total in enumerate(totals) if total >= math.log(20)), None)


def test_bets_of_blocks_of_days_are_those_of_single_windows(monkeypatch):
    """Windows of several days at once, also where blocks are small; the first stake is that of the first day."""
    monitor = Rate(metrics.find("recall"), True, 0.9, 0.05)
    days, spread = np.array([[46.0, 50], [41, 50], [30, 40], [20, 30]]), np.array([1.0, 1.5, 1.2, 1.1])
    for size in (1, 1 << 20):
        monkeypatch.setattr(watching, "_AT_ONCE", size)
        for last, terms in enumerate(bets_by_day(monitor, days, spread)):
            for first, term in enumerate(terms):
                hits, rows = days[first : last + 1].sum(axis=0) / spread[last]
                alone = sequences.log_rate_evidence(np.array([hits]), np.array([rows]), 0.9, 0.05)[0]
                assert term == pytest.approx(alone + sequences.log_stakes(4, None)[first])


def test_how_much_more_days_differ_than_chance_makes_them():
    """Means whose days differ by a known standard deviation: the variance of a day over that by chance alone."""
    rng, rows, own = np.random.default_rng(1), 200, 0.03
    level = 0.3 + own * rng.normal(size=(2000, 1))
    lost = rng.uniform(0, 2 * level, (2000, rows))
    days = np.stack([np.full(2000, rows), lost.sum(axis=1), (lost**2).sum(axis=1)], axis=1)
    monitor = Mean(metrics.find("brier_score"), False, 0.3, 0.03)
    spread = monitor.spread(days)
    assert spread[0] == pytest.approx(1 + 0.01 * (rows - 1))  # before anything is known
    assert spread[-1] == pytest.approx(1 + rows * own**2 / lost.var(), rel=0.1)
    quiet = np.insert(days, np.arange(2000), 0.0, axis=0)  # days without rows change nothing
    assert monitor.spread(quiet)[1::2] == pytest.approx(spread)


@pytest.mark.parametrize("alike", [True, False])
def test_a_model_at_its_floor_raises_hardly_any_alarm_in_a_year(alike):
    """The small form of what `make coverage` simulates: 8 times 70 days at the floor, and 6 falls."""
    rng, monitor = np.random.default_rng(9), Rate(metrics.find("recall"), True, 0.9, 0.05)
    rows = np.full(70, 100)
    alarms = sum(first_alarm(monitor, rng.binomial(100, 0.9, 70), rows, alike) is not None for _ in range(8))
    assert alarms <= 1
    fallen = np.where(np.arange(70) < 40, 0.93, 0.85)
    delays = [first_alarm(monitor, rng.binomial(100, fallen), rows, alike) - 40 for _ in range(6)]
    assert 4 <= np.median(delays) <= 16


def test_days_that_differ_raise_no_alarms_unless_they_are_taken_for_alike():
    rng, monitor = np.random.default_rng(8), Rate(metrics.find("recall"), True, 0.9, 0.05)
    rates = np.clip(rng.normal(0.9, 0.05, (10, 70)), 0, 1)
    alarms = [[first_alarm(monitor, rng.binomial(400, p), np.full(70, 400), alike) for p in rates] for alike in (0, 1)]
    differing, alike = (sum(one is not None for one in found) for found in alarms)
    assert differing <= 2 < 5 <= alike


# ── day by day ───────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_state_is_added_to_day_by_day_and_says_what_all_days_say(tmp_path):
    state = str(tmp_path / "watch.json")
    days = {f"2026-03-{number:02d}": day for number, day in enumerate(GOOD + BAD, 1)}
    for name, day in days.items():
        found = stakes.watch({name: day}, **ALARM, state=state)
    assert found.to_dict() == stakes.watch(days, **ALARM).to_dict()
    assert found.watched[0].alarm == "2026-03-06"
    with pytest.raises(InputError, match="in the state already"):
        stakes.watch({"2026-03-08": BAD[0]}, **ALARM, state=state)
    with pytest.raises(InputError, match=r"made with alpha 0\.05, and now it is 0\.01"):
        stakes.watch({"2026-03-09": BAD[0]}, **ALARM, alpha=0.01, state=state)
    again = stakes.watch({"2026-03-09": GOOD[0]}, **ALARM, state=state, restart="2026-03-09")
    assert (again.alarmed, again.days, again.since) == (False, 1, "2026-03-09")
    later = stakes.watch({"2026-03-10": GOOD[1]}, **ALARM, state=state)
    assert (later.alarmed, later.days) == (False, 2)


def test_days_whose_labels_are_missing_wait_with_all_after_them():
    rows = {"y": [1] * 40 + [None] * 10, "p": [1] * 50}
    late = stakes.count(rows, truth="y", prediction="p", classes=[0, 1], missing="drop")
    plain = [stakes.count({"y": [1] * 50, "p": [1] * 50}, truth="y", prediction="p", classes=[0, 1])] * 2
    found = stakes.watch({"a": plain[0], "b": late, "c": plain[1]}, require="recall >= 0.9")
    assert (found.days, list(found.waiting)) == (1, ["b", "c"])
    assert any("wait for labels" in words for one in found.findings for words in one.words)


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("nothing-to-watch", {}),
        ("condition-of-one-look", {"require": "recall.low >= 0.9"}),
        ("condition-of-one-look", {"require": "recall >= 0.9 in every segment"}),
        ("no-reference", {"require": "recall"}),
        ("margin-of-nothing", {"require": "recall >= 0.9", "margin": 0.1}),
        ("not-watched", {"require": "kappa >= 0.2"}),
        ("limit-at-end", {"require": "recall >= 1"}),
        ("bad-alpha", {"require": "recall >= 0.9", "alpha": 2}),
        ("bad-drop", {"require": "recall >= 0.9", "drop": 0.4}),
        ("bad-watch-number", {"require": "recall >= 0.9", "drop": -1}),
        ("not-in-day", {"require": "auc >= 0.9"}),
        ("no-such-day", {"require": "recall >= 0.9", "restart": "day 77"}),
        ("small-reference", {"require": "recall", "against": recall_day(2, 3), "margin": 0.5}),
        ("not-a-reference", {"require": "recall", "against": 3}),
        ("which-costs", {"require": "expected_cost <= 0.3"}),
    ],
)
@pytest.mark.filterwarnings("ignore::stakes.errors.InputWarning")
def test_wrong_questions_are_one_line(code, call):
    with pytest.raises(InputError) as caught:
        stakes.watch(GOOD, **call)
    assert caught.value.code == code
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("code", "days"),
    [
        ("not-days", "rows.csv"),
        ("no-days", {}),
        ("not-a-day", {"a": [1, 2]}),
        ("days-out-of-order", {"2026-01-02": GOOD[0], "2026-01-01": GOOD[1]}),
        ("different-questions", [GOOD[0], score_day(1.0)]),
    ],
)
def test_wrong_days_are_one_line(code, days):
    with pytest.raises(InputError) as caught:
        stakes.watch(days, **ALARM)
    assert caught.value.code == code


def test_weights_of_scores_and_falls_of_losses_without_end_are_refused():
    weighted = stakes.count(truth=[0, 1, 1], score=[0.2, 0.8, 0.4], weight=[1.0, 2.0, 3.0], threshold=0.5)
    with pytest.raises(InputError, match=r"decisions only \(rates, f1, mcc, expected_cost\); auc of them was"):
        stakes.watch([weighted], require="auc >= 0.6")
    numbers = stakes.count(truth=RNG.normal(size=300), prediction=RNG.normal(size=300))
    with pytest.raises(InputError, match="has no upper end"), pytest.warns(stakes.InputWarning, match="wrong way"):
        stakes.watch([numbers], require="mae >= 0.5")
    assert stakes.watch([numbers] * 3, require="mae <= 2")


def test_a_damaged_state_is_named(tmp_path):
    file = tmp_path / "watch.json"
    file.write_text("{}")
    with pytest.raises(InputError, match=r"watch\.json is damaged or no state"):
        stakes.watch(GOOD, **ALARM, state=str(file))


def test_the_command_ends_with_1_on_an_alarm(tmp_path, capsys):
    for number, day in enumerate(GOOD + BAD, 1):
        day.save(tmp_path / f"2026-03-{number:02d}.tally")
    files = sorted(map(str, tmp_path.glob("*.tally")))
    words = ["--require", "recall >= 0.9", "--days-alike"]
    code, out, _ = run_command(["watch", *files, *words, "--json"], capsys)
    told = json.loads(out)
    assert (code, told["alarmed"], told["watched"][0]["change"]) == (1, True, "2026-03-06")
    assert run_command(["watch", *files[:5], *words, "--quiet"], capsys)[1].startswith(
        "No alarm after 5 days, which cannot tell yet"
    )
    code, out, _ = run_command(["watch", *files, *words, "--lang", "es", "--report", str(tmp_path / "w.html")], capsys)
    assert code == 1
    assert "Alarma el 2026-03-06" in out
    assert "course-1" in (tmp_path / "w.html").read_text()
    assert run_command(["watch", files[0], *words, "--csv"], capsys)[1].startswith("condition,day,rows,own")


def test_the_command_adds_to_a_state_and_never_writes_over_a_day(tmp_path, capsys):
    files = []
    for number, day in enumerate(GOOD[:2], 1):
        day.save(tmp_path / f"2026-03-{number:02d}.tally")
        files.append(str(tmp_path / f"2026-03-{number:02d}.tally"))
    words, state = ["--require", "recall >= 0.9", "--quiet"], str(tmp_path / "watch.json")
    assert run_command(["watch", files[0], *words, "--state", state], capsys)[1].startswith(
        "No alarm after 1 day, which cannot tell yet"
    )
    assert run_command(["watch", files[1], *words, "--state", state], capsys)[1].startswith(
        "No alarm after 2 days, which cannot tell yet"
    )
    code, _, err = run_command(["watch", files[1], *words, "--state", files[1]], capsys)
    assert code == 2
    assert "never written over" in err


# ── before labels come ───────────────────────────────────────────────────────────────────────────────────────────
def unlabelled_day(rng, tilt=0.0, rows=300):
    """Scores without any truth; with a tilt they lie higher."""
    score = rng.beta(2 + tilt, 2, rows)
    site = np.where(rng.random(rows) < 0.5 + 0.2 * (tilt > 0), "a", "b")
    return stakes.count(
        {"t": [None] * rows, "s": score, "site": site},
        truth="t", score="s", by="site", classes=[0, 1], unlabelled="estimate",
    )  # fmt: skip


def test_scores_and_segments_are_watched_before_labels_come():
    rng = np.random.default_rng(0)
    reference = unlabelled_day(rng, rows=3000)
    days = [unlabelled_day(rng) for _ in range(12)]
    asked = {"require": ["scores", "segments"], "against": reference}
    calm = stakes.watch(days, **asked)
    assert not calm.alarmed
    assert "only labels say" in " ".join(str(calm).split())
    moved = stakes.watch(days + [unlabelled_day(rng, 1.0) for _ in range(12)], **asked)
    assert all(abs(int(one.change.split()[1]) - 13) <= 1 for one in moved.watched)
    assert [one.figure for one in moved.watched] == ["shift_of_scores", "shift_of_segments"]
    (_, sites) = moved.watched
    assert sites.since_change == pytest.approx(0.2, abs=0.05)  # the distance in total variation
    with pytest.raises(InputError, match=r"'recall >= 0\.9' needs the truth of every row"):
        stakes.watch(days, require="recall >= 0.9")
    with pytest.raises(InputError, match="scores are held against those of a reference; give against="):
        stakes.watch(days, require="scores")
    with pytest.raises(InputError, match="fewer than 5 rows in all"):
        stakes.watch(days, require="scores", against=unlabelled_day(rng, rows=12))


def test_the_evidence_of_a_shift_is_a_mean_of_e_values():
    """By hand, from the two-sided evidence of each share."""
    reference, window = np.array([400.0, 500, 100]), np.array([30.0, 60, 10])
    monitor = shifts.Shift(shifts._named("segments"), False, 0.0, 0.05, reference, names=("a", "b"))
    total = []
    for seen, before in zip(window, reference, strict=True):
        p = (seen + before) / 1100
        v = p * (1 - p) * (1 / 100 + 1 / 1000)
        drop = min(0.05, math.sqrt(p * (1 - p)) / 6)
        total += [np.exp(sequences.log_evidence(s * (seen / 100 - before / 1000), v, drop)) for s in (1, -1)]
    assert np.exp(monitor.evidence(window[None], np.ones(1)))[0] == pytest.approx(np.mean(total))
    assert monitor.figures(window[None]).value[0] == pytest.approx(0.1)


@pytest.mark.deep
@pytest.mark.parametrize("differ", [0.0, 0.2])
def test_days_like_the_reference_raise_hardly_any_alarm(differ):
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(100):
        reference = rng.multinomial(2000, [0.1] * 10)
        monitor = shifts.Shift(
            shifts._named("segments"), False, 0.0, 0.05, reference.astype(float), names=tuple("abcdefghi")
        )
        share = np.exp(differ * rng.normal(size=(90, 10)))
        days = np.array([rng.multinomial(300, one / one.sum()) for one in share], float)
        running, stakes_ = np.vstack([np.zeros(10), np.cumsum(days, axis=0)]), sequences.log_stakes(90, None)
        spread = monitor.spread(days)
        totals = [
            sequences.log_total(
                stakes_[: day + 1] + monitor.evidence(running[day + 1] - running[: day + 1], spread[day])
            )
            for day in range(90)
        ]
        alarms += max(totals) >= math.log(20)
    assert alarms <= 8


def promised(day, apart=1.5, rows=400):
    """Calibrated scores without any truth."""
    generator = np.random.default_rng(day)
    hit = generator.random(rows) < 0.3
    logit = apart * generator.normal(apart * hit, 1) - apart**2 / 2 + np.log(3 / 7)
    return 1 / (1 + np.exp(-logit))


def unlabelled(score, **more):
    asked = {"truth": "t", "score": "s", "classes": [0, 1], "unlabelled": "estimate"}
    return stakes.count({"t": [None] * len(score), "s": score}, **asked, **more)


RATIOS = {
    "prevalence": lambda s, d: s.mean(),
    "accuracy": lambda s, d: np.where(d, s, 1 - s).mean(),
    "recall": lambda s, d: s[d].sum() / s.sum(),
    "specificity": lambda s, d: (1 - s[~d]).sum() / (1 - s).sum(),
    "precision": lambda s, d: s[d].mean(),
    "f1": lambda s, d: 2 * s[d].sum() / (s.sum() + d.sum()),
    "brier_score": lambda s, d: (s * (1 - s)).mean(),
    "expected_cost": lambda s, d: np.where(d, 1 - s, 5 * s).mean(),
}


@pytest.mark.parametrize("name", RATIOS)
def test_what_scores_promise_is_a_ratio_of_means(name):
    """The figure and its variance by the jackknife over rows."""
    score = promised(0, rows=300)
    worse = "<=" if name in ("brier_score", "expected_cost") else ">="
    costs = {"costs": stakes.Costs(miss=5, false_alarm=1)} if name == "expected_cost" else {}
    found = stakes.watch([unlabelled(score, threshold=0.4)], require=f"expected {name} {worse} 0.3", **costs)
    decided = score >= 0.4
    assert found.watched[0].estimate.value == pytest.approx(RATIOS[name](score, decided))
    left = [RATIOS[name](np.delete(score, row), np.delete(decided, row)) for row in range(300)]
    jackknife = 299 / 300 * ((np.array(left) - np.mean(left)) ** 2).sum()
    monitor = expected(Unlabelled(unlabelled(score, threshold=0.4)), name, True, 0.3, costs.get("costs"))
    sums = monitor.numbers(Unlabelled(unlabelled(score, threshold=0.4)))
    assert monitor.figures(sums).variance == pytest.approx(jackknife, rel=0.03)


def test_expected_figures_are_watched_before_labels_come():
    days = {f"2026-01-{day + 1:02d}": unlabelled(promised(day, 1.5 if day < 10 else 0.8)) for day in range(20)}
    found = stakes.watch(days, require=["expected recall >= 0.5", "expected accuracy >= 0.3"])
    assert (found.watched[0].change, found.watched[1].alarm) == ("2026-01-11", None)
    assert "provided that they are still calibrated" in " ".join(str(found).split())
    truth = np.random.default_rng(1).random(4000) < (score := promised(99, rows=4000))
    reference = stakes.count(truth=truth.astype(int), score=score)
    held = stakes.watch(days, require="expected accuracy", against=reference, margin=0.02)
    assert held.watched[0].change == "2026-01-11"
    for words, asked in {
        "scores alone promise 'prevalence'": "expected auc >= 0.5",
        "needs the truth of every row, and days hold rows without one; watch 'scores' or": "recall >= 0.5",
        "say what mistakes cost": "expected expected_cost <= 1",
    }.items():
        with pytest.raises(stakes.InputError, match=words):
            stakes.watch(days, require=asked)
    with pytest.raises(stakes.InputError, match="follows from probabilities"):
        stakes.watch([stakes.count(truth=[0, 1], prediction=[0, 1])], require="expected recall >= 0.5")
    with pytest.raises(stakes.InputError, match="scores are none"):
        stakes.watch([stakes.count(truth=[0, 1], score=[-3.0, 4.0], threshold=0)], require="expected recall >= 0.5")


@pytest.mark.deep
def test_expected_figures_hardly_ever_alarm_falsely():
    """Also where days differ by more than chance."""
    limit = {"recall": 0.573, "accuracy": 0.806}
    for name, value in limit.items():
        alarms = 0
        for course in range(60):
            days = {f"day {day:03d}": unlabelled(promised(1000 * course + day, rows=100)) for day in range(60)}
            alarms += stakes.watch(days, require=f"expected {name} >= {value - 0.002}").alarmed
        assert alarms <= 6


# ── days that were counted in bins ───────────────────────────────────────────────────────────────────────────────
def rare_day(apart, rng, rows=400):
    truth = np.arange(rows) % 20 == 0
    score = 1 / (1 + np.exp(4 - rng.normal(size=rows) - apart * truth))
    return stakes.count(truth=truth.astype(int), score=score, threshold=0.5)


def in_bins(day, folder):
    """The day as it comes back from a file, which no cell of few rows leaves."""
    day.save(folder / "day.tally")
    return stakes.load(folder / "day.tally")


@pytest.mark.parametrize("require", ["auc >= 0.9", "auc <= 0.99"])
@pytest.mark.filterwarnings("ignore:.*points the wrong way")
def test_no_alarm_rests_on_what_bins_leave_open(tmp_path, require):
    rng = np.random.default_rng(3)
    days = [rare_day(2.9, rng) for _ in range(8)]
    found = stakes.watch([in_bins(day, tmp_path) for day in days], require=require)
    (one,) = found.watched
    assert one.alarm is None
    low, high = one.bounds
    assert low < roc_auc(days) < high
    assert high - low > 0.1  # the bins of such days tell little, and the page says so
    assert one.estimate.low <= low < high <= one.estimate.high
    assert one.course[-1].value == pytest.approx(high if ">=" in require else low, abs=0.05)
    told = " ".join(words for finding in found.findings for words in finding.words)
    assert f"lies between {low:.4f} and {high:.4f}" in told
    assert "exact=True" in told


def roc_auc(days):
    """The auc of the rows of all days, by scikit-learn."""
    columns = [day.scores.as_columns() for day in days]
    counts = [np.concatenate([one.values[name] for one in columns]) for name in ("negatives", "positives")]
    score = np.concatenate([one.scores for one in columns])
    truth = np.repeat([0, 1], len(score))
    return roc_auc_score(truth, np.tile(score, 2), sample_weight=np.concatenate(counts))


def test_days_in_bins_that_are_fine_enough_still_raise_an_alarm(tmp_path):
    rng = np.random.default_rng(4)
    days = [rare_day(2.5 if day < 4 else 0.0, rng, rows=6000) for day in range(8)]
    (one,) = stakes.watch([in_bins(day, tmp_path) for day in days], require="auc >= 0.85", days_alike=True).watched
    assert one.alarm in ("day 5", "day 6")
    assert one.bounds[0] < roc_auc(days) < one.bounds[1] < 0.85


def test_a_reference_whose_bins_leave_its_auc_open_is_refused(tmp_path):
    day = rare_day(2.5, np.random.default_rng(5))
    with pytest.raises(InputError, match=r"reference leave its auc open between 0\.\d+ and .*; count .* exact=True"):
        stakes.watch([day], require="auc", against=in_bins(day, tmp_path))


def test_a_quiet_watch_names_each_of_several_conditions(tmp_path, capsys):
    for name, hits in {"day1": 46, "day2": 10}.items():
        recall_day(hits).save(tmp_path / f"{name}.tally")
    files, words = [str(tmp_path / f"day{n}.tally") for n in (1, 2)], ["--require", "recall >= 0.9", "--days-alike"]
    _, alone, _ = run_command(["watch", *files, *words, "--quiet"], capsys)
    assert alone == "Alarm on day2: it surely no longer holds.\n"
    _, both, _ = run_command(["watch", *files, *words, "--require", "specificity >= 0.1", "--quiet"], capsys)
    assert both.startswith(
        f"Does recall >= 0.9 still hold? {alone.strip()} Does specificity >= 0.1 still hold? No alarm"
    )


def test_costs_by_row_are_told_what_to_do():
    rows = {"y": [0, 1] * 20, "p": [0.2, 0.7, 0.6, 0.4] * 10, "amount": [5.0, 8.0, 2.0, 9.0] * 10}
    costs = stakes.Costs(miss="amount", false_alarm=5)
    day = stakes.count(rows, truth="y", score="p", costs=costs)
    with pytest.raises(InputError, match=r"expected_cost is not watched where costs differ by row.*Costs\(miss=5"):
        stakes.watch([day], require="expected_cost <= 3", costs=costs)
    assert stakes.watch([day], require="expected_cost <= 3", costs=stakes.Costs(miss=5, false_alarm=1))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--require", "recall"], "give --against"),
        (["--require", "recall >= 0.9", "--margin", "0.1"], "--margin is about a reference; give --against"),
        (["--require", "recall >= 0.8", "--state", "{state}"], "name another file as --state"),
        (["--require", "recall >= 0.9", "--days-alike"], "begins anew (--restart)"),
    ],
)
def test_options_are_named_as_they_are_typed(tmp_path, words, told, capsys):
    recall_day(10).save(tmp_path / "a.tally")
    recall_day(10).save(tmp_path / "b.tally")
    state = str(tmp_path / "watch.json")
    if "{state}" in words:
        stakes.watch(str(tmp_path / "a.tally"), require="recall >= 0.9", state=state)
    _, out, err = run_command(
        ["watch", str(tmp_path / "b.tally"), *(word.format(state=state) for word in words)], capsys
    )
    assert told in (out + err).replace("\n  ", " ")


def test_bins_that_do_not_tell_where_rows_lie_are_refused(tmp_path):
    rng = np.random.default_rng(6)
    reference, day = rare_day(2.5, rng, rows=4000), in_bins(rare_day(2.5, rng), tmp_path)
    with pytest.raises(InputError, match=r"the bins of a day lie across those of the reference, .* exact=True$"):
        stakes.watch([day], require="scores", against=reference)
    with pytest.raises(InputError, match=r"follows from each probability, and days are in wide bins; .* exact=True$"):
        stakes.watch([day], require="expected accuracy >= 0.8")
    assert stakes.watch([rare_day(2.5, rng)], require="scores", against=reference)


@pytest.mark.filterwarnings("ignore::stakes.InputWarning")
@pytest.mark.parametrize(("condition", "tone"), [("recall <= 0.99", "good"), ("recall >= 0.5", "good")])
def test_a_condition_holds_on_the_side_of_its_sign(condition, tone):
    day = stakes.count(truth=[1] * 400 + [0] * 400, prediction=[1] * 300 + [0] * 500)
    found = stakes.watch([day] * 5, require=[condition], days_alike=True)
    assert found.findings[0].tone == tone
