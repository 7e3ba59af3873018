"""How many rows: published sample sizes, exact sums, and studies that are simulated."""

import json
import math

import numpy as np
import pytest
from scipy import stats

import stakes
from stakes.planning.basis import of_evaluation
from stakes.planning.labelling import _parts
from stakes.planning.sizes import mcnemar_power, mcnemar_rows
from tests.command import run

TABLE = stakes.Confusion([[80, 20], [10, 90]])


def test_external_validation_as_riley_and_others_published_it():
    """Riley et al. (2021), Statistics in Medicine 40: prevalence .018, C .8, linear predictor N(−5, 2.5)."""
    widths = {"observed_expected": 1.0, "auc": 0.1, "calibration_slope": 0.2}
    found = stakes.plan(width=widths, prevalence=0.018, auc=0.8, logit_mean=-5, logit_sd=2.5)
    assert [part.rows for part in found.parts] == [906, 4252, 4554]
    assert (found.rows, found.positives) == (4554, math.ceil(4554 * 0.018))


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_the_width_of_a_share_is_the_textbook_one(share):
    found = stakes.plan("accuracy", width=0.1, accuracy=share)
    assert found.rows == math.ceil(4 * stats.norm.ppf(0.975) ** 2 * share * (1 - share) / 0.1**2)
    recall = stakes.plan("recall", width=0.1, recall=share, prevalence=0.2)
    assert recall.rows == pytest.approx(5 * found.rows, abs=5)
    assert recall.positives == pytest.approx(found.rows, abs=1)
    assert stakes.plan("specificity", width=0.1, specificity=share, prevalence=0.2).rows == pytest.approx(
        found.rows / 0.8, abs=2
    )


@pytest.mark.parametrize("name", ["f1", "mcc", "precision", "balanced_accuracy"])
def test_a_study_of_that_size_has_intervals_of_that_width(name):
    found = stakes.plan(name, width=0.1, prevalence=0.2, recall=0.8, specificity=0.9)
    (part,) = found.parts
    assert part.checked == pytest.approx(0.1, rel=0.06)
    generator = np.random.default_rng(1)
    widths = []
    for tn, fp, fn, tp in generator.multinomial(found.rows, [0.72, 0.08, 0.04, 0.16], 40):
        one = stakes.evaluate(stakes.Confusion([[tn, fp], [fn, tp]]))[name]
        widths.append(one.high - one.low)
    assert np.median(widths) == pytest.approx(0.1, rel=0.06)
    middle = [point for point in part.curve if point.rows == found.rows]
    assert middle[0].reached == pytest.approx(0.1, rel=0.01)
    assert [point.reached for point in part.curve] == sorted((point.reached for point in part.curve), reverse=True)


def test_a_precision_and_a_recall_fix_the_same_table_as_the_specificity():
    by_precision = stakes.plan("f1", width=0.1, prevalence=0.2, recall=0.8, precision=0.16 / 0.24)
    assert by_precision.rows == stakes.plan("f1", width=0.1, prevalence=0.2, recall=0.8, specificity=0.9).rows


def test_a_pilot_of_a_share_leaves_open_what_its_own_interval_does():
    found = stakes.plan("recall", stakes.evaluate(TABLE), width=0.05)
    (part,) = found.parts
    assert found.rows == pytest.approx(4 * 1.96**2 * 0.09 / 0.05**2 * 2, rel=0.03)
    assert part.low_rows < found.rows < part.high_rows
    again = stakes.plan("recall", TABLE, width=0.05)
    assert again.to_dict() == found.to_dict()  # a tally is a pilot, too


def test_a_condition_is_met_as_often_as_planned():
    found = stakes.plan(pilot=TABLE, require="recall.low >= 0.85", power=0.9)
    met = []
    for tn, fp, fn, tp in np.random.default_rng(2).multinomial(found.rows, [0.4, 0.1, 0.05, 0.45], 300):
        met.append(stakes.evaluate(stakes.Confusion([[tn, fp], [fn, tp]]))["recall"].low >= 0.85)
    assert np.mean(met) == pytest.approx(0.9, abs=0.05)
    assert found.parts[0].high_rows is None  # the pilot cannot exclude that recall is below 0.85
    assert found.parts[0].checked == pytest.approx(0.9, abs=0.08)


def test_mcnemar_by_the_whole_sum():
    """Every pair of counts, its probability, and whether SciPy's exact test rejects."""
    rows, disagreement, difference = 30, 0.3, 0.2
    first, second = (disagreement + difference) / 2, (disagreement - difference) / 2
    power = 0.0
    for wins in range(rows + 1):
        for losses in range(rows + 1 - wins):
            if wins + losses and stats.binomtest(wins, wins + losses).pvalue <= 0.05:
                power += stats.multinomial.pmf([wins, losses, rows - wins - losses], rows, [first, second, 0.7])
    assert mcnemar_power(rows, disagreement, difference, 0.95) == pytest.approx(power, abs=1e-9)
    needed = mcnemar_rows(disagreement, difference, 0.8, 0.95)
    assert mcnemar_power(needed, disagreement, difference, 0.95) >= 0.8
    assert mcnemar_power(round(0.93 * needed), disagreement, difference, 0.95) < 0.8
    assert stakes.plan("accuracy", difference=0.2, disagreement=0.3).rows == needed


@pytest.fixture(scope="module")
def scores():
    generator = np.random.default_rng(3)
    truth = generator.random(400) < 0.3
    common = generator.normal(size=400)
    one, other = (truth * 1.2 + 0.8 * common + 0.6 * generator.normal(size=400) for _ in range(2))
    return truth.astype(int), one, other


def test_a_difference_of_two_models_from_a_pilot(scores):
    truth, one, other = scores
    pilot = stakes.compare({"t": truth, "a": one, "b": other}, truth="t", scores=["a", "b"], metric="auc")
    (pair,) = pilot.pairs
    found = stakes.plan("auc", pilot, difference=0.02, power=0.8)
    error = (pair.high - pair.low) / (2 * stats.norm.ppf(0.975))
    assert found.rows == math.ceil(400 * error**2 * (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) ** 2 / 0.02**2)
    assert found.positives == math.ceil(found.rows * truth.mean())
    assert stakes.plan("auc", pilot, margin=0.02, difference=0.02).rows == pytest.approx(found.rows / 4, rel=0.01)


def test_clusters_and_segments(scores):
    truth, one, _ = scores
    rows = {"t": np.repeat(truth, 3), "a": np.repeat(one, 3), "c": np.repeat(np.arange(400), 3)}
    plain = stakes.plan("auc", stakes.evaluate(truth=truth, score=one), width=0.1)
    clustered = stakes.plan("auc", stakes.evaluate(rows, truth="t", score="a", cluster="c"), width=0.1)
    assert clustered.clusters == pytest.approx(plain.rows, rel=0.02)  # copies of a row tell nothing new
    assert clustered.rows == pytest.approx(3 * plain.rows, rel=0.02)
    site = np.where(np.arange(400) < 100, "a", "b")
    by = stakes.plan("auc", stakes.evaluate({"t": truth, "s": one, "w": site}, truth="t", score="s", by="w"), width=0.1)
    assert (by.rows, by.smallest_share) == (4 * plain.rows, 0.25)
    assert (
        stakes.plan("auc", width=0.1, auc=0.8, prevalence=0.3, by=0.25).rows
        == 4 * stakes.plan("auc", width=0.1, auc=0.8, prevalence=0.3).rows
    )


def test_rates_that_contradict_each_other_are_refused():
    table = {"prevalence": 0.2, "recall": 0.5, "specificity": 0.6}
    with pytest.raises(stakes.InputError, match=r"accuracy is 0\.58 by the other rates that you expect, not 0\.99"):
        stakes.plan("accuracy", width=0.1, accuracy=0.99, **table)
    assert stakes.plan("accuracy", width=0.1, accuracy=0.58, **table).rows > 0
    with pytest.raises(stakes.InputError, match=r"precision is 0\.2381 by the other rates that you expect, not 0\.9"):
        stakes.plan("f1", width=0.1, precision=0.9, **table)
    with pytest.raises(stakes.InputError, match="accuracy= would change nothing in a plan for 'accuracy'"):
        stakes.plan("accuracy", difference=0.1, disagreement=0.3, accuracy=0.8)


@pytest.mark.slow
def test_costs_of_a_pilot_are_those_of_its_plan():
    pilot = stakes.evaluate(TABLE, costs=stakes.Costs(miss=5, false_alarm=1))
    (part,) = stakes.plan("expected_cost", pilot, width=0.2).parts
    assert part.checked == pytest.approx(0.2, rel=0.15)
    cells = np.repeat([0.0, 1.0, 5.0, 0.0], [80, 20, 10, 90])
    assert part.rows == pytest.approx(4 * 1.96**2 * cells.var() / 0.2**2, rel=0.02)
    costs = stakes.Costs(miss=5, false_alarm=1)
    rates = {"prevalence": 0.5, "recall": 0.9, "specificity": 0.8}
    (expected,) = stakes.plan("expected_cost", width=0.2, costs=costs, **rates).parts
    assert (expected.value, expected.rows) == (pytest.approx(cells.mean()), pytest.approx(part.rows, rel=0.02))


def test_labels_of_rows_whose_decisions_are_known():
    """A share of right decisions: within each decision the labels vary, and how many there are of it does not."""
    basis = of_evaluation(stakes.evaluate(TABLE), "accuracy")
    within, between = _parts(basis)
    flagged, right, wrong = 110 / 200, 90 / 110, 80 / 90
    assert within == pytest.approx(flagged * right * (1 - right) + (1 - flagged) * wrong * (1 - wrong), rel=0.01)
    assert between == pytest.approx(flagged * (1 - flagged) * (right - wrong) ** 2, rel=0.03)
    assert within + between == pytest.approx(0.85 * 0.15, rel=0.01)
    found = stakes.plan("accuracy", TABLE, width=0.05, labels=1_000_000)
    assert found.labels == pytest.approx(4 * 1.96**2 * within / 0.05**2, rel=0.01)
    for by in (None, 0.1):
        labels = stakes.plan("accuracy", TABLE, width=0.05, labels=50_000, by=by).labels
        share = by or 1.0
        needed = within / ((0.05 / 2 / stats.norm.ppf(0.975)) ** 2 - between / (50_000 * share))
        assert labels == pytest.approx(needed / share, abs=2 / share)
    with pytest.raises(stakes.InputError, match="no number of labels is enough"):
        stakes.plan("recall", TABLE, width=0.01, labels=500)


def test_an_assurance_takes_more_rows():
    usual = stakes.plan("mcc", TABLE, width=0.1)
    sure = stakes.plan("mcc", TABLE, width=0.1, assurance=0.8)
    assert 1.0 < sure.rows / usual.rows < 1.25


def test_a_pilot_without_mistakes_does_not_tell_how_its_figure_varies():
    with pytest.raises(stakes.InputError, match="recall of the pilot is 1 whichever row is left out"):
        stakes.plan("recall", stakes.Confusion([[80, 20], [0, 100]]), width=0.1)


def test_a_condition_on_the_figure_itself_needs_fewer_rows_than_one_on_its_interval():
    at_value, at_low = (
        stakes.plan(require=f"recall{end} >= 0.8", recall=0.85, prevalence=0.3).rows for end in ("", ".low")
    )
    met = np.random.default_rng(4).binomial(round(0.3 * at_value), 0.85, 4000) / round(0.3 * at_value) >= 0.8
    assert met.mean() == pytest.approx(0.8, abs=0.05)
    assert at_value < 0.2 * at_low


def test_a_segment_and_labels_are_told_with_their_own_numbers():
    found = stakes.plan("recall", width=0.1, prevalence=0.05, recall=0.9, by=0.1)
    assert (found.rows, found.parts[0].rows) == (27_660, 27_660)
    assert "With 27,660 rows" in str(found)
    labels = stakes.plan("recall", TABLE, width=0.05, labels=100_000)
    assert f"With {labels.labels:,} labels the 95%" in str(labels)


WRONG = {
    "width=1.5 is met by any study: auc lies in 0 to 1": {"width": 1.5, "auc": 0.8, "prevalence": 0.1},
    "one of width=, difference=, margin= or require=, and none is given": {},
    "and 'width' and 'require' are given": {"width": 0.1, "require": "auc >= 0.8"},
    "width=0 is no aim": {"width": 0, "auc": 0.8, "prevalence": 0.1},
    "power=1 cannot be planned with": {"difference": 0.1, "power": 1},
    "a plan for auc needs a pilot, or what you expect: auc= and prevalence=": {"width": 0.1},
    "prevalence=2 is no share": {"width": 0.1, "prevalence": 2},
    "plan() has no option 'prevalance'; did you mean 'prevalence'?": {"width": 0.1, "prevalance": 0.1},
    "auc.low >= 0.9 is not met by the expected auc of 0.8": {
        "require": "auc.low >= 0.9", "auc": 0.8, "prevalence": 0.1,
    },
    "margin, so it would be shown to be worse": {"margin": 0.02, "difference": -0.05, "auc": 0.8, "prevalence": 0.1},
    "cannot be planned for": {"require": "auc.low >= 0.7 in every segment", "auc": 0.8, "prevalence": 0.1},
    "labels=, assurance= do not go together": {"width": 0.1, "labels": 500, "assurance": 0.8},
    "recall= would change nothing in a plan for 'auc'; leave it out": {
        "width": 0.1, "auc": 0.8, "prevalence": 0.1, "recall": 0.9,
    },
    "costs= would change nothing in a plan for 'auc'": {
        "width": 0.1, "auc": 0.8, "prevalence": 0.1, "costs": stakes.Costs(miss=5, false_alarm=1),
    },
    "no study of up to a trillion rows": {"width": 1e-7, "auc": 0.8, "prevalence": 0.1},
    "disagreement= is for the difference of two accuracies": {"width": 0.1, "disagreement": 0.1},
}  # fmt: skip


@pytest.mark.parametrize("words", WRONG)
def test_what_cannot_be_planned_is_told_in_a_line(words):
    with pytest.raises(stakes.InputError) as problem:
        stakes.plan("auc", **WRONG[words])
    assert words in str(problem.value)
    assert "\n" not in str(problem.value)


def test_the_command(tmp_path):
    asked = ["plan", "recall", "--width", "10%", "--prevalence", "5%", "--recall", "0.9"]
    told = run(*asked).stdout
    assert "About 2,766 rows, of which about 139 positive." in told
    assert "Se calculó a partir de lo que se espera" in run(*asked, "--lang", "es").stdout
    data = json.loads(run(*asked, "--json").stdout)
    assert data["stakes"] == "plan"
    assert data["rows"] == 2766
    assert data["paragraph"].endswith("About 2,766 rows, of which about 139 positive.")
    pilot = tmp_path / "pilot.csv"
    pilot.write_text("y,p,q\n" + "".join(f"{i % 2},{(i * 7 % 10) / 10},{(i * 3 % 10) / 10}\n" for i in range(200)))
    seen = json.loads(
        run("plan", "auc", "--pilot", str(pilot), "--truth", "y", "--score", "p", "--width", "0.1", "--json").stdout
    )
    assert seen["pilot_rows"] == 200
    two = run(
        "plan", "auc", "--pilot", str(pilot), "--truth", "y", "--score", "p", "--other", "q", "--difference", "0.1"
    )
    assert "a difference of 0.1000 in AUC is found in 80% of studies" in " ".join(two.stdout.split())
    wrong = run(*asked, "--truth", "y")
    assert (wrong.returncode, "--truth is a column of a pilot; give --pilot FILE" in wrong.stderr) == (2, True)
    wrong = run("plan", "auc", "--width", "0.1")
    assert (wrong.returncode, "needs a pilot, or what you expect: --auc and --prevalence" in wrong.stderr) == (2, True)


def test_a_protocol_names_the_segment_that_its_numbers_are_for():
    told = stakes.plan("recall", width=0.1, prevalence=0.05, recall=0.9, by=0.2).paragraph
    assert "These numbers make it hold in a segment of 20% of the rows as well" in told
