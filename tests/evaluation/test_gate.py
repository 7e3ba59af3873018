"""Gates: conditions, margins from a baseline, and verdicts that the outside agrees with."""

import math

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import stakes
from stakes import metrics
from stakes.evaluation.gate.conditions import Figure, Requirement
from tests.bad_inputs.catalogue import run_command
from tests.parts import Lazily

proportion = Lazily("statsmodels.stats.proportion")

RNG = np.random.default_rng(5)
Y = RNG.integers(0, 2, 400)
NEW = np.clip(0.5 * Y + RNG.normal(0.25, 0.25, 400), 0, 1)
OLD = np.clip(0.3 * Y + RNG.normal(0.35, 0.25, 400), 0, 1)


@pytest.fixture(scope="module")
def ev():
    return stakes.evaluate(truth=Y, score=NEW)


@pytest.fixture(scope="module")
def old():
    return stakes.evaluate(truth=Y, score=OLD)


def only(gate):
    (check,) = gate.checks
    return check


# ── conditions ───────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("text", "figure", "end", "sign", "limit", "every"),
    [
        ("auc.low >= 0.80", Figure("auc"), "low", ">=", 0.8, False),
        ("auc>=0.8", Figure("auc"), "value", ">=", 0.8, False),
        ("auc.low >= 80% in every segment", Figure("auc"), "low", ">=", 0.8, True),
        ("recall > 92.5 %", Figure("recall"), "value", ">", 0.925, False),
        (" f_beta(beta=2) . high<1e-3 ", Figure("f_beta(beta=2)"), "high", "<", 0.001, False),
        ("f1[setosa].value ≤ .5", Figure("f1", "setosa"), "value", "<=", 0.5, False),
        ("f1[a]b.low > 1].low > -2", Figure("f1", "a]b.low > 1"), "low", ">", -2, False),
        ("recall.low >= 0.7 in  every segment", Figure("recall"), "low", ">=", 0.7, True),
    ],
)
def test_conditions_are_read(text, figure, end, sign, limit, every):
    found = Requirement.parse(text)
    assert (found.figure, found.end, found.sign, found.limit, found.every_segment) == (figure, end, sign, limit, every)


@pytest.mark.parametrize(
    "text",
    [
        *("", "auc", "auc = 0.8", "auc == 0.8", "auc >= ", "auc >= high", "auc.mid >= 0.8", "auc >= nan", "auc <= inf"),
        *("auc >= 0.8 in some segments", "auc >= %", "0.8 <= auc", "auc >= 0.8; auc", 7, None, "f1[] > 0.5"),
    ],
)
def test_what_is_no_condition(text):
    with pytest.raises(stakes.InputError, match="is no condition; write a figure, one of >= <= > <, and a number"):
        Requirement.parse(text)


@pytest.mark.filterwarnings("ignore:.*points the wrong way", "ignore:.*about the better end")
@pytest.mark.parametrize("end", ["value", "low", "high"])
@pytest.mark.parametrize(
    ("sign", "above", "at", "below"), [(">=", 1, 1, 0), (">", 1, 0, 0), ("<=", 0, 1, 1), ("<", 0, 0, 1)]
)
def test_each_end_is_held_against_the_number(ev, end, sign, above, at, below):
    limit = getattr(ev["auc"], end)
    for number, passed in ((np.nextafter(limit, 0), above), (limit, at), (np.nextafter(limit, 1), below)):
        check = only(stakes.gate(ev, require=f"auc.{end} {sign} {float(number)!r}"))
        assert check.passed == bool(passed), number
        assert check.seen == limit
    assert ev["auc"].value == pytest.approx(roc_auc_score(Y, NEW), abs=1e-15)


def test_a_gate_passes_when_all_conditions_are_met(ev):
    both = stakes.gate(ev, require=["auc >= 0.5", "auc >= 0.999"])
    assert [check.passed for check in both.checks] == [True, False]
    assert not both.passed
    assert not both
    assert stakes.gate(ev, require=["auc >= 0.5"]).passed
    assert both.to_dict()["checks"][1]["estimate"] == ev["auc"].to_dict()
    assert "No: 1 of 2 conditions not met." in str(both)
    assert repr(both) == "<Gate: failed, 1 of 2 not met>"


def test_undefined_figures_fail_with_their_reason():
    nobody = stakes.evaluate(truth=[0, 0, 1, 1], prediction=[0, 0, 0, 0], positive=1)
    check = only(stakes.gate(nobody, require="precision > 0"))
    assert not check.passed
    assert check.seen is None
    assert check.reason == f"precision is undefined: {nobody['precision'].reason}"
    assert check.reason in str(stakes.gate(nobody, require="precision > 0")).replace("\n      ", " ")
    check = only(stakes.gate(nobody, require="auc > 0"))
    assert check.reason == "auc is undefined: no scores were given; pass score="


def test_a_missing_interval_fails_with_its_reason():
    numbers = stakes.evaluate(truth=[1.5, 2.5, 3.25, 4.0], prediction=[1.0, 2.0, 3.0, 5.0])
    assert only(stakes.gate(numbers, require="max_error <= 1")).passed
    check = only(stakes.gate(numbers, require="max_error.high <= 100"))
    assert not check.passed
    assert check.reason == f"there is no interval: {numbers['max_error'].no_interval}"


def test_figures_of_a_class():
    truth = ["a", "b", "c"] * 20
    said = ["a", "b", "b"] * 20
    three = stakes.evaluate(truth=truth, prediction=said)
    check = only(stakes.gate(three, require="precision[b].low >= 0.3"))
    assert check.seen == three["precision", "b"].low
    assert check.estimate.value == 0.5
    with pytest.raises(stakes.InputError, match="'d'"):
        stakes.gate(three, require="f1[d] > 0.5")
    two = stakes.evaluate(truth=[0, 1], prediction=[0, 1])
    with pytest.raises(stakes.InputError, match=r"f1\[1\]: \[CLASS\] is for more than two classes"):
        stakes.gate(two, require="f1[1] > 0.5")


@pytest.mark.filterwarnings("ignore:.*points the wrong way")
def test_every_segment_must_meet_the_condition():
    ward = np.where(np.arange(400) % 4 == 0, "north", "south")
    worse = np.where(ward == "north", OLD, NEW)
    both = stakes.evaluate(truth=Y, score=worse, by=ward)
    lows = {name: part["recall"].low for name, part in both.segments.items()}
    assert lows["north"] < lows["south"]
    between = sum(lows.values()) / 2
    check = only(stakes.gate(both, require=f"recall.low >= {between} in every segment"))
    assert (check.passed, check.segment, check.seen) == (False, "north", lows["north"])
    check = only(stakes.gate(both, require="recall.low <= 1 in every segment"))
    assert (check.passed, check.segment, check.seen) == (True, "south", lows["south"])
    with pytest.raises(stakes.InputError, match="there are no segments"):
        stakes.gate(stakes.evaluate(truth=Y, score=NEW), require="recall > 0 in every segment")
    one_class = stakes.evaluate(truth=[0, 1, 0, 0], score=[0.1, 0.9, 0.2, 0.3], by=["a", "a", "b", "b"])
    check = only(stakes.gate(one_class, require="recall > 0 in every segment"))
    assert (check.passed, check.segment) == (False, "b")
    assert "recall is undefined" in check.words


# ── no worse than a baseline ─────────────────────────────────────────────────────────────────────────────────────
def test_unpaired_differences_of_shares_are_newcombes():
    one = stakes.evaluate(truth=[1] * 90 + [0] * 60, prediction=[1] * 70 + [0] * 80, positive=1)
    other = stakes.evaluate(truth=[1] * 50 + [0] * 60, prediction=[1] * 44 + [0] * 66, positive=1)
    low, high = proportion.confint_proportions_2indep(70, 90, 44, 50, method="newcomb", compare="diff")
    check = only(stakes.gate(one, baseline=other, no_worse={"recall": 0.2}))
    assert (check.estimate.low, check.estimate.high) == pytest.approx((low, high), abs=1e-12)
    assert check.estimate.value == pytest.approx(70 / 90 - 44 / 50)
    assert check.seen == check.estimate.low
    for margin, passed in ((-low + 1e-9, True), (-low - 1e-9, False)):
        assert stakes.gate(one, baseline=other, no_worse={"recall": margin}).passed is passed


def test_lower_is_better_turns_the_bad_end_around(ev, old):
    check = only(stakes.gate(old, baseline=ev, no_worse=["brier_score:0.01"]))  # the old model is worse: dearer losses
    assert check.estimate.value > 0
    assert check.seen == check.estimate.high
    assert not check.passed
    assert stakes.gate(old, baseline=ev, no_worse={"brier_score": check.estimate.high}).passed
    assert not stakes.gate(old, baseline=ev, no_worse={"brier_score": check.estimate.high - 1e-12}).passed
    assert stakes.gate(ev, baseline=old, no_worse={"brier_score": 0}).passed


@pytest.mark.parametrize("metric", ["auc", "accuracy", "f1", "brier_score"])
def test_paired_differences_are_those_of_compare(ev, metric):
    both = stakes.compare(truth=Y, scores={"new": NEW, "old": OLD}, metric=metric)
    pair = both.pair("new", "old")
    assert pair.first == "new"  # the better one ranks first, so that signs agree
    found = only(stakes.gate(ev, baseline=both, no_worse={metric: 0.5})).estimate
    assert (found.value, found.low, found.high) == (pair.difference, pair.low, pair.high)
    assert found.method == pair.method


def test_pairs_keep_this_model_first(old):
    both = stakes.compare(truth=Y, scores={"old": OLD, "new": NEW}, metric="auc")
    found = only(stakes.gate(old, baseline=both, no_worse={"auc": 0.5})).estimate
    pair = both.pair("new", "old")
    assert found.value == -pair.difference < 0
    assert (found.low, found.high) == pytest.approx((-pair.high, -pair.low), abs=1e-12)


def test_the_same_model_is_not_worse_than_itself_by_more_than_nothing(ev):
    same = stakes.compare(truth=Y, scores={"new": NEW, "copy": NEW})
    with pytest.warns(stakes.InputWarning, match="copy says what this model says in every row"):
        assert stakes.gate(ev, baseline=same, no_worse={"auc": 0, "f1": 0, "accuracy": 1e-9}).checks[0].passed
    for own in (ev, ev.counted):
        with pytest.raises(stakes.InputError, match="the baseline is this model itself"):
            stakes.gate(ev, baseline=own, no_worse={"auc": 0})
    unpaired = only(stakes.gate(ev, baseline=stakes.evaluate(truth=Y, score=NEW), no_worse={"auc": 0}))
    assert not unpaired.passed  # as if of other rows, nothing is shown without a margin


def test_costs_are_compared_on_the_same_rows():
    costs = stakes.Costs(miss=5, false_alarm=1)
    ev = stakes.evaluate(truth=Y, score=NEW, costs=costs)
    both = stakes.compare(truth=Y, scores={"new": NEW, "old": OLD}, costs=costs, metric="normalised_cost")
    old = stakes.evaluate(truth=Y, score=OLD, costs=costs)
    assert both.models["old"]["expected_cost"].value == old["expected_cost"].value
    paired, unpaired = (
        only(stakes.gate(ev, baseline=baseline, no_worse={"normalised_cost": 0.02})).estimate
        for baseline in (both, old)
    )
    cells = {name: stakes.evaluate(truth=Y, score=s, threshold=1 / 6).confusion for name, s in (("n", NEW), ("o", OLD))}
    cost = {name: (5 * c.fn + c.fp) / min(5 * c.P, c.N) for name, c in cells.items()}
    assert paired.value == pytest.approx(float(cost["n"] - cost["o"]), abs=1e-12) == unpaired.value
    assert paired.high - paired.low < unpaired.high - unpaired.low


def test_decisions_beyond_the_classes_are_compared_row_by_row():
    matrix = stakes.Costs([[0, 1, 9], [4, 1, 0]], classes=[0, 1], decisions=["home", "watch", "treat"])
    ev = stakes.evaluate(truth=Y, score=NEW, costs=matrix)
    both = stakes.compare(truth=Y, scores={"new": NEW, "old": OLD}, costs=matrix)
    found = only(stakes.gate(ev, baseline=both, no_worse={"expected_cost": 1})).estimate
    assert found.method == "one more row on the saving"
    assert found.value == pytest.approx(ev["expected_cost"].value - both.models["old"]["expected_cost"].value)


def test_tallies_are_baselines(tmp_path, ev):
    counted = stakes.count(truth=Y, score=OLD, threshold=0.5)
    counted.save(tmp_path / "main.tally")
    loaded = only(stakes.gate(ev, baseline=tmp_path / "main.tally", no_worse={"recall": 0.1})).estimate
    plain = only(stakes.gate(ev, baseline=stakes.evaluate(truth=Y, score=OLD), no_worse={"recall": 0.1})).estimate
    assert (loaded.value, loaded.low, loaded.high) == (plain.value, plain.low, plain.high)


def test_what_has_no_difference_fails_with_a_reason():
    nobody = stakes.evaluate(truth=[0, 0, 1, 1], prediction=[0, 0, 0, 0], positive=1)
    some = stakes.evaluate(truth=[0, 0, 1, 1], prediction=[0, 0, 0, 1], positive=1)
    for one, other, words in ((nobody, some, "precision is"), (some, nobody, "the baseline's precision is")):
        check = only(stakes.gate(one, baseline=other, no_worse={"precision": 0.9}))
        assert not check.passed
        assert check.reason.startswith(words)
        assert math.isnan(check.estimate.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "there is nothing to check"),
        ({"no_worse": {"auc": 0.1}}, "needs a baseline"),
        ({"baseline": "self", "require": "auc > 0.5"}, "a baseline alone checks nothing"),
        ({"baseline": "self", "no_worse": {"auc": -0.1}}, "the margin is a number from 0 on"),
        ({"baseline": "self", "no_worse": {"auc": math.nan}}, "the margin is a number from 0 on"),
        (
            {"baseline": "self", "no_worse": ["auc"]},
            "names no margin; write the figure and how much worse it may be: auc:0.02",
        ),
        ({"baseline": "self", "no_worse": ["f_beta(beta=2)=0.02"]}, r"worse it may be: f_beta\(beta=2\):0.02"),
        ({"baseline": "self", "no_worse": ["auc:x"]}, "no worse by 'x' in 'auc'"),
        ({"baseline": "self", "no_worse": ["au-c:1"]}, "there is no metric 'au-c'; did you mean 'auc'"),
        ({"baseline": "other", "no_worse": {"prevalence": 0.1}}, "prevalence"),
        ({"baseline": 7, "no_worse": {"auc": 0.1}}, "int is nothing to compare a binary evaluation with"),
        ({"require": ["nonsense > 1"]}, "nonsense"),
        ({"require": ["r2 > 0.5"]}, "r2"),
    ],
)
def test_wrong_gates_ask_for_what_they_need(ev, options, words):
    known = {"self": ev, "other": stakes.evaluate(truth=Y, score=OLD)}
    options = {name: known.get(value, value) if name == "baseline" else value for name, value in options.items()}
    with pytest.raises(stakes.InputError, match=words):
        stakes.gate(ev, **options)


def test_baselines_of_another_kind_or_model(ev, old):
    with pytest.raises(stakes.InputError, match="got a dict; pass what evaluate"):
        stakes.gate({}, require="auc > 0.5")
    numbers = stakes.evaluate(truth=[1.5, 2.5, 3.0], prediction=[1.0, 2.0, 3.0])
    with pytest.raises(stakes.InputError, match="regression is nothing to compare a binary evaluation with"):
        stakes.gate(ev, baseline=numbers, no_worse={"auc": 0.1})
    three = stakes.compare(truth=Y, scores={"a": NEW, "b": OLD, "c": NEW})
    with pytest.raises(
        stakes.InputError, match="holds this model and the baseline, and this one holds 'a', 'b' and 'c'"
    ):
        stakes.gate(ev, baseline=three, no_worse={"auc": 0.1})
    both = stakes.compare(truth=Y, scores={"old": OLD, "new": NEW})
    with pytest.raises(stakes.InputError, match=r"its first model has auc .* but this evaluation"):
        stakes.gate(ev, baseline=both, no_worse={"auc": 0.1})
    sure = stakes.evaluate(truth=Y, score=OLD, confidence=0.9)
    with pytest.raises(stakes.InputError, match="its intervals are of 90 %, these of 95 %"):
        stakes.gate(ev, baseline=sure, no_worse={"auc": 0.1})


def test_compare_chooses_rows_of_tables(tmp_path):
    for name, scores in (("a", NEW), ("b", OLD)):
        lines = [f"{i},{y},{s},{'n' if i % 2 else 's'}" for i, (y, s) in enumerate(zip(Y, scores, strict=True))]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,y,p,ward", *lines]))
    half = stakes.compare(tmp_path / "a.csv", truth="y", scores=["p", "id"], where="ward = 'n'")
    assert half.rows == 200
    both = [tmp_path / "a.csv", tmp_path / "b.csv"]
    assert stakes.compare(both, id="id", truth="y", scores="p", where="ward = 'n'").rows == 200


# ── tallies whose bins leave a condition open ────────────────────────────────────────────────────────────────────
@pytest.fixture
def in_bins(tmp_path):
    """The name of a tally of few rows, and the rows themselves."""
    rng = np.random.default_rng(0)
    truth = np.arange(120) % 3 == 0
    score = 1 / (1 + np.exp(-rng.normal(size=120) - 1.5 * truth))
    counted = stakes.count(truth=truth.astype(int), score=score)
    counted.save(tmp_path / "a.tally")
    return str(tmp_path / "a.tally"), roc_auc_score(truth, score)


@pytest.mark.parametrize("sign", [">=", "<="])
@pytest.mark.filterwarnings("ignore:.*points the wrong way")
def test_a_condition_that_the_bins_leave_open_fails_and_says_so(in_bins, sign):
    file, auc = in_bins
    low, high = metrics.auc_bounds(stakes.load(file).scores)
    assert low < auc < high
    check = only(stakes.gate(file, require=f"auc {sign} {auc}"))
    sure = only(stakes.gate(file, require=f"auc {sign} {low - 0.01 if sign == '>=' else high + 0.01}"))
    assert not check.passed
    assert str(check.reason) == f"the bins leave it open: {low:.4f} to {high:.4f}; count the rows with exact=True"
    assert check.reason in check.words
    assert (sure.passed, sure.reason) == (True, "")


def test_the_command_line_says_that_bins_leave_a_condition_open(in_bins, capsys):
    file, auc = in_bins
    for form in ([], ["--quiet"]):
        code, told, _ = run_command(["gate", file, "--require", f"auc >= {auc}", *form], capsys)
        assert code == 1
        assert "the bins leave it open" in told
        assert "count the rows with --exact" in told.replace("\n  ", " ")
    assert "; the bins leave it open between 0." in run_command(["evaluate", file, "--quiet"], capsys)[1]


@pytest.mark.parametrize("form", [[], ["--quiet"], ["--json"]])
def test_a_threshold_inside_a_bin_is_wrong_input_in_every_form(in_bins, form, capsys):
    code, _, told = run_command(["evaluate", in_bins[0], "--threshold", "0.4001", *form], capsys)
    assert code == 2
    assert "--threshold 0.4001 lies inside a bin of this table" in told


def test_segments_whose_bins_overlap_are_not_ranked(tmp_path):
    rng = np.random.default_rng(1)
    truth, site = np.arange(400) % 4 == 0, np.arange(400) // 200
    score = 1 / (1 + np.exp(-rng.normal(size=400) - 1.5 * truth))
    counted = stakes.count(truth=truth.astype(int), score=score, by=site)
    counted.save(tmp_path / "a.tally")
    for held, ranked in ((counted, True), (stakes.load(tmp_path / "a.tally"), False)):
        told = " ".join(words for found in stakes.evaluate(held).findings for words in found.words)
        assert ("The weakest segment is" in told or "No segment has a lower AUC" in told) is ranked
        assert ("Which segment is the weakest the bins of the scores leave open" in told) is not ranked
