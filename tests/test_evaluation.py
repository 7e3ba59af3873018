import json
import math
from pathlib import Path

import numpy as np
import pytest

import stakes

TRUTH = ["sick", "well", "sick", "well", "well", "sick"]
SCORE = [0.9, 0.2, 0.4, 0.6, 0.1, 0.7]


def evaluation(**options):
    return stakes.evaluate(truth=TRUTH, score=SCORE, positive="sick", **options)


def test_a_figure_is_an_estimate():
    f1 = evaluation()["f1"]
    assert (f1.name, f1.value, float(f1)) == ("f1", 2 / 3, 2 / 3)
    assert f1.baseline == pytest.approx(2 / 3)  # calling everyone sick does as well
    assert f1.low < f1.value < f1.high
    assert f1.method == "the table resampled 2,000 times"
    assert f1.reason == f1.no_interval == ""
    assert f1.defined


def test_names_aliases_and_parameters_are_understood():
    ev = evaluation()
    assert ev["sensitivity"] == ev["recall"]
    assert ev["f_beta(beta=1)"].value == ev["f1"].value
    assert ev["f_beta(beta=1)"].name == "f_beta(beta=1)"
    assert ev["f_beta(beta=2)"].name == "f_beta"
    with pytest.raises(stakes.InputError, match="did you mean 'recall'"):
        ev["recal"]


def test_every_figure_of_the_tallies_is_there():
    ev = evaluation()
    two_class = [m for m in stakes.metrics.catalogue() if m.tally in (stakes.Confusion, stakes.ScoreTable)]
    two_class = [m for m in two_class if m.family != "graded"]  # which are about classes in order
    assert set(ev.figures) == {metric.name for metric in two_class if not metric.lacking}
    only_decisions = stakes.evaluate(truth=[1, 0], prediction=[1, 1])
    assert "auc" not in only_decisions.figures
    assert only_decisions["auc"].reason == "no scores were given; pass score="
    assert math.isnan(only_decisions["auc"].value)


def test_undefined_figures_carry_their_reason():
    ev = stakes.evaluate(truth=[1, 0, 1], score=[0.1, 0.2, 0.3])
    assert ev["precision"].reason == "nothing is decided positive"
    assert not ev["precision"].defined
    assert str(ev["precision"]) == "precision is undefined: nothing is decided positive"


# ── decisions ────────────────────────────────────────────────────────────────────────────────────────────────────
def test_probabilities_are_cut_at_one_half_and_a_score_on_the_threshold_is_positive():
    ev = stakes.evaluate(truth=[0, 1, 1], score=[0.5, 0.5, 0.2])
    assert ev.threshold == 0.5
    assert (ev.confusion.tp, ev.confusion.fp) == (1, 1)


def test_other_scores_have_no_decisions_until_a_threshold_is_given():
    ev = stakes.evaluate(truth=[0, 1, 1], score=[-1, 3, 0])
    assert ev.confusion is None
    assert ev["auc"].value == 1
    assert ev["recall"].reason.startswith("the scores are no probabilities, so there are no decisions yet")
    assert ev["log_loss"].reason.startswith("the scores are no probabilities: they lie outside [0, 1]")
    assert "recall" not in ev.figures
    assert ev.at(0)["recall"].value == 1
    assert stakes.evaluate(truth=[0, 1, 1], score=[-1, 3, 0], threshold=1)["recall"].value == 0.5


def test_the_threshold_is_compared_with_the_stored_value():
    """The float32 nearest to 0.7 is smaller than 0.7; it stays below the threshold in every engine."""
    narrow = stakes.evaluate(truth=[1, 0], score=np.array([0.7, 0.1], np.float32), threshold=0.7)
    assert narrow.confusion.tp == 0
    wide = stakes.evaluate(truth=[1, 0], score=np.array([0.7, 0.1]), threshold=0.7)
    assert wide.confusion.tp == 1


def test_decisions_and_scores_may_both_be_given():
    ev = stakes.evaluate(truth=[0, 1, 1], score=[0.1, 0.2, 0.3], prediction=[0, 1, 1])
    assert ev["accuracy"].value == 1
    assert ev["auc"].value == 1
    assert ev.threshold is None
    assert ev.at(0.25)["accuracy"].value == pytest.approx(2 / 3)


def test_another_threshold_counts_nothing_again():
    ev = evaluation(by=["a", "b", "a", "b", "a", "b"])
    lower = ev.at(0.3)
    assert lower.scores is ev.scores
    assert (lower.confusion.tp, lower.confusion.fn) == (3, 0)
    assert lower.segments["a"].confusion.tp == 2
    with pytest.raises(stakes.InputError, match="threshold was given without score"):
        stakes.evaluate(truth=[1, 0], prediction=[1, 0]).at(0.5)


def test_a_segment_of_logits_is_not_taken_for_probabilities():
    ev = stakes.evaluate(truth=[0, 1, 0, 1], score=[-3.0, 5, 0.2, 0.7], by=list("aabb"))
    part = ev.segments["b"]
    assert part.threshold is None
    assert part["brier_score"].reason.startswith("the scores are no probabilities: they lie outside [0, 1]")
    assert part["auc"].value == 1


def test_thresholds_of_every_real_kind():
    assert evaluation(threshold=np.float32(0.5)).confusion == evaluation().confusion
    nobody = evaluation(threshold=math.inf)
    assert nobody.confusion.PP == 0
    assert json.loads(nobody.to_json())["threshold"] == "Infinity"


# ── curves ───────────────────────────────────────────────────────────────────────────────────────────────────────
def test_the_roc_curve_runs_from_nobody_to_everybody():
    roc = evaluation().curve("roc")
    assert roc.thresholds.tolist() == [math.inf, 0.9, 0.7, 0.6, 0.4, 0.2, 0.1]
    assert roc.x.tolist() == pytest.approx([0, 0, 0, 1 / 3, 1 / 3, 2 / 3, 1])
    assert roc.y.tolist() == pytest.approx([0, 1 / 3, 2 / 3, 2 / 3, 1, 1, 1])
    assert np.trapezoid(roc.y, roc.x) == pytest.approx(evaluation()["auc"].value)


def test_the_pr_curve_is_drawn_from_one():
    pr = evaluation().curve("pr")
    assert pr.x[0] == 0
    assert pr.y.tolist() == pytest.approx([1, 1, 1, 2 / 3, 3 / 4, 3 / 5, 1 / 2])
    assert (np.diff(pr.x) * pr.y[1:]).sum() == pytest.approx(evaluation()["average_precision"].value)
    assert pr.to_dict()["threshold"][0] is None
    assert set(pr.to_dict()) == {"kind", "recall", "precision", "threshold", "band"}


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("weighted", [False, True])
def test_curves_agree_with_scikit_learn(seed, weighted):
    import sklearn.metrics as sk

    rng = np.random.default_rng(seed)
    score = rng.integers(0, 50, 400) / 50
    truth = rng.random(400) < score
    weight = rng.random(400) if weighted else None
    ev = stakes.evaluate(truth=truth, score=score, weight=weight)
    fpr, tpr, thresholds = sk.roc_curve(truth, score, drop_intermediate=False, sample_weight=weight)
    roc = ev.curve("roc")
    np.testing.assert_allclose([roc.x, roc.y, roc.thresholds], [fpr, tpr, thresholds], atol=1e-12)
    precision, recall, thresholds = sk.precision_recall_curve(truth, score, sample_weight=weight)
    pr = ev.curve("pr")
    np.testing.assert_allclose(pr.x[::-1], recall)
    np.testing.assert_allclose(pr.y[::-1], precision)


@pytest.mark.parametrize(
    ("truth", "kind", "words"),
    [
        ([1, 1], "roc", "there is no roc curve for these rows: no case is negative"),
        ([0, 0], "pr", "there is no pr curve for these rows: no case is positive"),
        ([0, 1], "rok", "there is no curve 'rok'; did you mean 'roc'"),
    ],
)
def test_curves_that_do_not_exist(truth, kind, words):
    with pytest.raises(stakes.InputError, match=words):
        stakes.evaluate(truth=truth, score=[0.1, 0.2]).curve(kind)


def test_decisions_alone_have_no_curve_but_the_line_through_their_point():
    with pytest.raises(stakes.InputError, match="no scores were given"):
        stakes.evaluate(truth=[1, 0], prediction=[1, 0]).curve("pr")


# ── as data ──────────────────────────────────────────────────────────────────────────────────────────────────────
def test_json_is_versioned_and_strict():
    ev = stakes.evaluate(truth=[1, 0, 1], score=[0.6, 0.4, 0.7], by=["x", "y", "x"])
    data = json.loads(ev.to_json(), parse_constant=lambda text: pytest.fail(f"{text} is not JSON"))
    assert (data["stakes"], data["format"], data["task"]) == ("evaluation", 1, "binary")
    assert (data["rows"], data["positive"], data["negative"], data["threshold"]) == (3, "1", "0", 0.5)
    assert data["figures"]["auc"]["value"] == 1
    assert data["figures"]["positive_likelihood_ratio"]["value"] == "Infinity"
    assert data["segments"]["x"]["figures"]["auc"] == {
        "name": "auc",
        "value": None,
        "baseline": None,
        "low": None,
        "high": None,
        "reason": "no case is negative",
        "confidence": 0.95,
        "method": "",
        "no_interval": "the figure itself is undefined",
        "note": "",
    }
    assert stakes.Confusion.from_dict(data["confusion"]) == ev.confusion


def test_rows_are_flat():
    rows = evaluation(by=["a", "b"] * 3).to_rows()
    assert {row["segment"] for row in rows} == {None, "a", "b"}
    assert len(rows) == 3 * len(evaluation().figures)
    assert set(rows[0]) == {"segment", "metric", "value", "low", "high", "baseline", "reason", "no_interval", "note"}


def test_segments_are_evaluations():
    ev = evaluation(by=["a", "a", "b", "b", "b", "a"])
    assert ev.segments["a"].rows == 3
    assert ev.segments["b"]["auc"].value == 0.5
    assert ev.segments["b"].segments == {}


def test_weights_are_counted():
    ev = evaluation(weight=[1, 1, 2, 1, 1, 0.5])
    assert ev.rows == 6.5
    assert ev.prevalence == pytest.approx(3.5 / 6.5)
    assert ev["recall"].value == pytest.approx(1.5 / 3.5)


# ── to look at ───────────────────────────────────────────────────────────────────────────────────────────────────
def test_it_prints_a_readable_table():
    text = str(evaluation())
    assert text.startswith("sick or well?\n6 rows · 50% are “sick” · “sick” when score ≥ 0.5\n")
    assert "AUC" in text
    assert "0.8889" in text
    assert max(map(len, text.splitlines())) <= 100
    assert repr(evaluation()) == "<Evaluation of 'sick' against 'well', rows: 6>"
    assert "no decisions yet, because the scores are no probabilities; pass threshold=" in str(
        stakes.evaluate(truth=[0, 1], score=[5, 9])
    )


def test_names_from_the_data_are_inert_in_html_and_text():
    nasty = "</td><script>alert(1)</script>"
    bold = "[bold red]x[/bold red]"
    ev = stakes.evaluate(truth=[nasty, bold], prediction=[nasty, nasty], positive=bold, by=[bold, nasty])
    assert "<script>" not in ev._repr_html_()
    assert "&lt;script&gt;" in ev._repr_html_()
    assert bold in str(ev)


def test_a_figure_can_be_formatted_and_compared():
    auc = evaluation()["auc"]
    assert f"{auc:.2f}" == "0.89"
    assert auc > 0.5
    assert auc <= evaluation()["auc"]
    assert not auc < 0.5
    assert auc >= 0.8


def test_f1_that_flips_with_the_names_of_the_classes_is_pointed_out():
    ev = stakes.evaluate(truth=[1, 1, 1, 1, 0], prediction=[1] * 5)
    assert "F1 is 0.8889 with “1” as the positive class, but 0.0000 with “0”: say which one you mean." in ev.notes
    assert "but 0.0000 with “0”" in " ".join(str(ev).split())
    assert not any("F1" in note for note in evaluation().notes)


def test_bins_state_the_bounds_of_the_auc():
    counted = stakes.count(truth=[0, 1, 1], score=[0.1, 0.6, 0.7])
    binned = stakes.Evaluation(type(counted)(counted.task, {"scores": counted.scores.binned()}))
    assert "Scores were counted in bins: the AUC lies between 1 and 1; other figures" in str(binned.notes)


def test_wrong_keys_get_a_useful_line():
    ev = evaluation(by=["a", "b"] * 3)
    with pytest.raises(stakes.InputError, match="there is no segment 'c'"):
        ev.segments["c"]
    with pytest.raises(stakes.InputError, match="is not how a metric is written"):
        ev[0]


@pytest.mark.parametrize("width", [40, 50, 64, 80, 200])
def test_numbers_are_whole_at_any_width(width):
    from stakes.language.sentences import metric_question
    from stakes.views import terminal
    from stakes.views.pages import page_of

    ev = evaluation(by=["a somewhat long name", "b"] * 3)
    text = terminal.text_of_page(page_of(ev, everything=True), width)
    assert "0.8889" in text
    assert "a somewhat long name" in " ".join(text.split())
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    for metric, _ in ((ev._find(name), one) for name, one in ev.figures.items()):
        assert metric_question(metric.full_text).split()[0] in text


def test_many_segments_are_cut_off_in_the_text():
    ev = stakes.evaluate(truth=[0, 1] * 30, prediction=[0, 1] * 30, by=[i // 2 for i in range(60)])
    assert "… and 10 more: ev.by_segment().to_rows(); 30 too small to compare" in " ".join(str(ev).split())


def test_a_figure_is_the_same_alone_and_among_all():
    """The first few are worked out as they are asked for, later ones with all others."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 300)
    score = np.clip(0.3 * truth + 0.7 * rng.random(300), 0, 1)
    whole = stakes.evaluate(truth=truth, score=score)
    names = list(whole.figures)
    assert len(names) > 40
    for name in names:
        assert stakes.Evaluation(whole.counted)[name].to_dict() == whole.figures[name].to_dict()
    asked = stakes.Evaluation(whole.counted)
    for i, name in enumerate(names):
        assert str(asked[name]) == str(whole.figures[name])
        assert ("figures" in vars(asked)) == (i >= 3)
    asked = stakes.Evaluation(whole.counted)
    for beta in range(2, 9):  # figures of one's own never need the others
        assert asked[f"f_beta(beta={beta})"].value == stakes.metrics.f_beta(whole.confusion, beta=beta)
    assert "figures" not in vars(asked)


@pytest.mark.slow
def test_a_tally_is_evaluated_as_its_rows_are():
    rng = np.random.default_rng(6)
    two, three = rng.integers(0, 2, 200), rng.integers(0, 3, 200)
    score, said = np.round(np.clip(0.3 * two + 0.7 * rng.random(200), 0, 1), 2), rng.integers(0, 3, 200)
    shares = rng.dirichlet([2, 2, 2], 200)
    numbers = rng.normal(size=(2, 200))
    asked = [
        {"truth": two, "score": score},
        {"truth": two, "prediction": score > 0.5},
        {"truth": three, "prediction": said, "task": "classification"},
        {"truth": three, "score": shares, "classes": [0, 1, 2]},
        {"truth": numbers[0], "prediction": numbers[1]},
    ]
    for question in asked:
        rows = stakes.evaluate(**question)
        assert stakes.evaluate(rows.counted).to_dict() == rows.to_dict()
        twice = stakes.evaluate([rows.counted, rows.counted])
        assert twice.to_dict() == stakes.evaluate(rows.counted + rows.counted).to_dict()
        for tally in rows.counted.tallies.values():
            alone = stakes.evaluate(tally)
            assert len(alone.figures) >= 14
            for name, figure in alone.figures.items():
                assert str(figure) == str(rows.figures[name])


def test_a_published_table_is_enough():
    table = stakes.Confusion.two_class(tp=2739, fn=56, fp=4, tn=1042)
    ev = stakes.evaluate(table, costs=stakes.Costs(miss=5, false_alarm=1), confidence=0.9)
    assert ev["recall"].value == 2739 / 2795
    assert ev["expected_cost"].value == pytest.approx((5 * 56 + 4) / 3841)
    assert ev["recall"].confidence == 0.9


def test_a_published_table_may_name_the_positive_class_first():
    table = stakes.Confusion(("sick", "healthy"), ("sick", "healthy"), [[90, 10], [30, 270]], positive="sick")
    ev = stakes.evaluate(table)
    assert (ev.positive, ev.negative, ev.prevalence) == ("sick", "healthy", 0.25)
    assert ev["recall"].value == 0.9
    unnamed = stakes.Confusion(("sick", "healthy"), ("sick", "healthy"), [[90, 10], [30, 270]])
    assert stakes.evaluate(unnamed, positive="sick").to_dict() == ev.to_dict()
    assert stakes.evaluate(unnamed, positive="healthy")["recall"].value == 0.9
    assert stakes.evaluate(unnamed, positive="healthy")["precision"].value == 270 / 280
    with pytest.raises(stakes.InputError, match="well"):
        stakes.evaluate(unnamed, positive="well")
    assert str(ev).startswith("sick or healthy?\n400 rows · 25% are “sick” · decisions as given\n")


def test_tallies_that_cannot_be_evaluated_say_so():
    table = stakes.Confusion.two_class(tp=5, fn=1, fp=2, tn=9)
    for wrong, words in (
        (stakes.Confusion.stack([table, table]), "holds 2 tables"),
        (stakes.Confusion.two_class(tp=0, fn=0, fp=0, tn=0), "this Confusion counts no rows"),
        (stakes.ScoreTable.from_rows([], []), "this ScoreTable counts no rows"),
        (stakes.Confusion(("a",), ("a",), [[3]]), "has the single class 'a'"),
        (stakes.JointCounts(("a",), (("x",),), np.array([[0]]), np.array([1])), "JointCounts by itself is not enough"),
    ):
        with pytest.raises(stakes.InputError, match=words):
            stakes.evaluate(wrong)
    for tally, name in ((Path("monday.tally"), "monday.tally has"), (["a.tally", "b.tally"], "a.tally, b.tally has")):
        with pytest.raises(stakes.InputError, match=f"^{name} been counted already"):
            stakes.count(tally)
    with pytest.raises(stakes.InputError, match="this Confusion has been counted already"):
        stakes.count(stakes.Confusion.two_class(tp=1, fn=1, fp=1, tn=1))
    with pytest.raises(stakes.InputError, match="truth"):
        stakes.evaluate(stakes.Confusion.two_class(tp=1, fn=1, fp=1, tn=1), truth=[1, 0])


def test_an_evaluation_of_another_task_says_why_it_lacks_something():
    numbers = stakes.evaluate(truth=[1.5, 2.5, 3.0], prediction=[1.0, 2.0, 3.5])
    with pytest.raises(stakes.InputError, match=r"ev\.threshold is for two classes, and this is an evaluation of pred"):
        numbers.threshold  # noqa: B018
    assert not hasattr(numbers, "positive")
    two = stakes.evaluate(truth=[1, 0, 1], score=[0.9, 0.1, 0.4])
    assert (two.positive, two.threshold) == ("1", 0.5)
    with pytest.raises(AttributeError, match=r"ev\.largest_errors is for predicted numbers"):
        two.largest_errors  # noqa: B018
