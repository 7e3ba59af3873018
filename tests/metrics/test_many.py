"""More than two classes: published tables, averages, class scores, and scikit-learn beside them."""

import itertools
import json
import math
import warnings

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import given
from hypothesis import strategies as st

import stakes
from stakes.language.sentences import words
from stakes.tallies import ClassScores, Confusion
from stakes.tallies.class_scores import ORDERED
from tests.parts import Lazily, examples, is_older

inter_rater = Lazily("statsmodels.stats.inter_rater")

m = stakes.metrics
NAMES = ("bus", "van", "saab", "opel")
FOUR = Confusion(NAMES, NAMES, [[130, 74, 2, 6], [96, 99, 6, 16], [3, 4, 207, 4], [6, 12, 4, 177]])
IRIS = Confusion(*[("setosa", "versicolor", "virginica")] * 2, [[13, 0, 0], [0, 10, 6], [0, 0, 9]])


def rows_of(table: Confusion):
    pairs = [
        (t, d)
        for t, row in zip(table.truths, table.counts.tolist(), strict=True)
        for d, n in zip(table.decisions, row, strict=True)
        for _ in range(n)
    ]
    return [t for t, _ in pairs], [d for _, d in pairs]


def evaluated(table: Confusion):
    truth, decided = rows_of(table)
    return stakes.evaluate(truth=truth, prediction=decided, classes=table.truths)


def test_the_four_class_table():
    ev = evaluated(FOUR)
    assert ev.rows == 846
    assert ev.confusion == FOUR
    for name, figures in {
        "recall": [0.613208, 0.456221, 0.949541, 0.889447],
        "false_positive_rate": [0.165615, 0.143084, 0.019108, 0.040185],
        "precision": [0.553191, 0.523810, 0.945205, 0.871921],
        "f1": [0.581655, 0.487685, 0.947368, 0.880597],
        "one_point_auc": [0.723796, 0.656568, 0.965217, 0.924631],
    }.items():
        assert [ev[name, c].value for c in NAMES] == pytest.approx(figures, abs=5e-7)
    assert ev["accuracy"].value == pytest.approx(0.724586, abs=5e-7)
    assert ev["kappa"].value == pytest.approx(0.632752, abs=5e-7)
    assert ev.notes == ["A kappa of 0.6328 is called substantial agreement (Landis and Koch)."]


def test_the_iris_report():
    ev = evaluated(IRIS)
    assert [ev["precision", c].value for c in IRIS.truths] == pytest.approx([1, 1, 0.6])
    assert [ev["recall", c].value for c in IRIS.truths] == pytest.approx([1, 0.625, 1])
    assert [ev["f1", c].value for c in IRIS.truths] == pytest.approx([1, 0.769, 0.75], abs=5e-4)
    assert ev["accuracy"].value == pytest.approx(0.842105, abs=5e-7)
    for how, figures in {"macro": (0.867, 0.875, 0.840), "weighted": (0.905, 0.842, 0.844)}.items():
        found = [ev[f"{how}_{name}"].value for name in ("precision", "recall", "f1")]
        assert found == pytest.approx(figures, abs=5e-4)
    assert ev["micro_f1"].value == ev["accuracy"].value


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (-0.1, "poor"),
        (0.1, "slight"),
        (0.2, "slight"),
        (0.21, "fair"),
        (0.5, "moderate"),
        (0.61, "substantial"),
        (1.0, "almost perfect"),
    ],
)
def test_landis_and_koch_have_words(value, word):
    from stakes.evaluation.cautions import _landis_koch

    assert words(f"kappa.{_landis_koch(value)}") == word


@st.composite
def labelled(draw):
    k = draw(st.integers(3, 5))
    n = draw(st.integers(k, 40))
    label = st.integers(0, k - 1)
    truth = [*range(k), *draw(st.lists(label, min_size=n - k, max_size=n - k))]
    decided = draw(st.lists(label, min_size=n, max_size=n))
    weight = draw(st.none() | st.lists(st.floats(0.25, 4), min_size=n, max_size=n))
    return k, np.array(truth), np.array(decided), None if weight is None else np.array(weight)


@examples(80)
@given(rows=labelled())
def test_figures_of_decisions_agree_with_scikit_learn(rows):
    k, truth, decided, weight = rows
    table = stakes.count(truth=truth, prediction=decided, classes=range(k), weight=weight).confusion
    np.testing.assert_allclose(
        table.counts, sk.confusion_matrix(truth, decided, labels=range(k), sample_weight=weight), rtol=1e-12
    )
    plain = {"sample_weight": weight}
    assert m.accuracy.of(table) == pytest.approx(sk.accuracy_score(truth, decided, **plain))
    assert m.balanced_accuracy.of(table) == pytest.approx(sk.balanced_accuracy_score(truth, decided, **plain))
    kappa, mcc = m.kappa.of(table), m.mcc.of(table)
    if math.isfinite(kappa):
        assert kappa == pytest.approx(sk.cohen_kappa_score(truth, decided, **plain), abs=1e-9)
    if math.isfinite(mcc):
        assert mcc == pytest.approx(sk.matthews_corrcoef(truth, decided, **plain), abs=1e-9)
    for how in ("macro", "weighted", "micro"):
        for name, theirs in (("precision", sk.precision_score), ("recall", sk.recall_score), ("f1", sk.f1_score)):
            value = m.find(f"{how}_{name}").of(table)
            if math.isfinite(value):
                expected = theirs(truth, decided, average=how, labels=range(k), zero_division=np.nan, **plain)
                assert value == pytest.approx(expected)


def test_wekas_errors_of_class_probabilities_are_those_that_it_prints():
    """J48 on iris, on the training data: 0.0233, 0.108, 5.2482 % and 22.9089 % in the output that tutorials show.

    Its five leaves hold (setosa, versicolor, virginica) = (50, 0, 0), (0, 47, 1), (0, 0, 3), (0, 2, 1) and (0, 1, 45)
    flowers, and say their shares.
    """
    leaves = np.array([(50, 0, 0), (0, 47, 1), (0, 0, 3), (0, 2, 1), (0, 1, 45)])
    p = np.repeat(leaves / leaves.sum(1, keepdims=True), leaves.sum(1), axis=0)
    y = np.concatenate([np.repeat([0, 1, 2], leaf) for leaf in leaves])
    ev = stakes.evaluate(truth=y, score=p)
    found = [ev[name] for name in ("weka_mae", "weka_rmse", "weka_rae", "weka_rrse")]
    assert [round(one.value, digits) for one, digits in zip(found, (4, 3, 6, 6), strict=True)] == [
        0.0233,
        0.108,
        0.052482,
        0.229089,
    ]
    assert [one.baseline for one in found] == pytest.approx([4 / 9, np.sqrt(2 / 9), 1, 1])
    assert all(one.low < one.value < one.high for one in found)


def test_mcc_and_kappa_of_one_class_are_scikit_learns_of_that_class_against_the_rest():
    truth, decided = np.random.default_rng(0).integers(0, 3, (2, 200))
    decided = np.where(np.arange(200) % 2, truth, decided)
    ev = stakes.evaluate(truth=truth, prediction=decided, task="classification")
    for of in range(3):
        assert ev["mcc", of].value == pytest.approx(sk.matthews_corrcoef(truth == of, decided == of))
        assert ev["kappa", of].value == pytest.approx(sk.cohen_kappa_score(truth == of, decided == of))
        assert ev["mcc", of].low < ev["mcc", of].value < ev["mcc", of].high
        assert {"mcc", "kappa"} <= set(ev.class_figures[str(of)])


@st.composite
def scored(draw):
    k, truth, _, weight = draw(labelled())
    seed = draw(st.integers(0, 10**6))
    raw = np.random.default_rng(seed).integers(1, 6, (len(truth), k)).astype(float)
    return k, truth, raw / raw.sum(axis=1, keepdims=True), weight


@examples(60)
@given(rows=scored())
def test_figures_of_scores_agree_with_scikit_learn(rows):
    k, truth, scores, weight = rows
    tally = ClassScores.from_rows(scores, truth, [str(c) for c in range(k)], weight)
    plain = {"sample_weight": weight}
    assert m.multiclass_log_loss.of(tally) == pytest.approx(sk.log_loss(truth, scores, labels=range(k), **plain))
    if not is_older("scikit-learn", "1.7"):  # which knows the Brier score of two classes only
        expected = sk.brier_score_loss(truth, scores, labels=range(k), scale_by_half=False, **plain)
        assert m.multiclass_brier_score.of(tally) == pytest.approx(expected)
    outcome = np.eye(k)[truth]
    every = {"sample_weight": None if weight is None else np.repeat(weight, k)}
    flat = (outcome.ravel(), scores.ravel())
    assert m.macro_mean_probability_error.of(tally) == pytest.approx(sk.mean_absolute_error(*flat, **every))
    root = m.multiclass_root_mean_squared_probability_error.of(tally)
    assert root == pytest.approx(sk.root_mean_squared_error(*flat, **every))
    constant = np.broadcast_to(np.average(outcome, axis=0, weights=weight), scores.shape).ravel()
    for name, loss in {"relative": sk.mean_absolute_error, "root_relative_squared": sk.root_mean_squared_error}.items():
        expected = loss(*flat, **every) / loss(flat[0], constant, **every)
        assert m.find(f"multiclass_{name}_probability_error").of(tally) == pytest.approx(expected)
    for how in ("macro", "weighted"):
        expected = sk.roc_auc_score(truth, scores, multi_class="ovr", average=how, labels=range(k), **plain)
        assert m.find(f"{how}_auc").of(tally) == pytest.approx(expected)
    if weight is None:
        expected = sk.roc_auc_score(truth, scores, multi_class="ovo", average="macro", labels=range(k))
        assert m.hand_till_auc.of(tally) == pytest.approx(expected)
    else:  # which scikit-learn has of two classes only
        pairs = [(i, j, np.isin(truth, (i, j))) for i, j in itertools.permutations(range(k), 2)]
        areas = [sk.roc_auc_score(truth[b] == i, scores[b, i], sample_weight=weight[b]) for i, _, b in pairs]
        assert m.hand_till_auc.of(tally) == pytest.approx(np.mean(areas))
    distinct = scores + np.linspace(0, 1e-9, k)  # scikit-learn breaks ties by the order of the columns
    expected = sk.top_k_accuracy_score(truth, distinct, k=2, labels=range(k), **plain)
    found = m.top_k_accuracy.of(ClassScores.from_rows(distinct, truth, [str(c) for c in range(k)], weight))
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("table", [FOUR, IRIS], ids=["four", "iris"])
def test_kappa_agrees_with_statsmodels(table):
    assert m.kappa(table) == pytest.approx(inter_rater.cohens_kappa(table.counts, return_results=False))


def test_normalised_losses_of_the_frequencies_are_one():
    truth = np.array([0, 0, 1, 2, 2, 2])
    shares = np.tile([2 / 6, 1 / 6, 3 / 6], (6, 1))
    tally = ClassScores.from_rows(shares, truth, "abc")
    assert m.normalised_multiclass_log_loss.of(tally) == pytest.approx(1)
    assert m.normalised_multiclass_brier_score.of(tally) == pytest.approx(1)
    assert m.multiclass_log_loss.baseline_of(tally) == pytest.approx(m.multiclass_log_loss.of(tally))
    assert m.multiclass_brier_score.baseline_of(tally) == pytest.approx(m.multiclass_brier_score.of(tally))
    assert m.hand_till_auc.baseline_of(tally) == 0.5
    assert m.macro_auc.baseline_of(tally) == 0.5
    assert m.top_k_accuracy.baseline_of(tally) == pytest.approx(5 / 6)


def test_the_multiclass_brier_score_of_two_classes_is_twice_the_other():
    p = np.array([0.9, 0.2, 0.4])
    tally = ClassScores.from_rows(np.column_stack([1 - p, p]), np.array([1, 0, 1]), "ab")
    assert m.multiclass_brier_score.of(tally) == pytest.approx(2 * m.brier_score([1, 0, 1], p))


@pytest.mark.parametrize("weighted", [False, True])
def test_figures_of_several_classes_answer_for_two(weighted):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 200)
    p = np.round(np.clip(0.3 * y + 0.7 * rng.random(200), 0, 1), 2)
    p[0] = 0.5  # decided positive, as by the threshold
    w = rng.integers(1, 4, 200).astype(float) if weighted else None
    ev = stakes.evaluate(truth=y, score=p, weight=w)
    areas = [sk.average_precision_score(truth, score, sample_weight=w) for truth, score in ((y, p), (1 - y, 1 - p))]
    shares = [np.average(y, weights=w), np.average(1 - y, weights=w)]
    expected = {
        "top_k_accuracy": 1.0,
        "top_k_accuracy(k=1)": sk.accuracy_score(y, p >= 0.5, sample_weight=w),
        "multiclass_brier_score": 2 * sk.brier_score_loss(y, p, sample_weight=w),
        "macro_average_precision": np.mean(areas),
        "weighted_average_precision": np.average(areas, weights=shares),
    }
    for name, value in expected.items():
        found = ev[name]
        assert found.name == name
        assert found.value == pytest.approx(value, rel=1e-12), name
        assert found.low <= found.value <= found.high, name
    both = np.stack([1 - p, p], 1)
    own = {name: getattr(m, name)(y, both, weight=w) for name in expected if "(" not in name}
    assert own == pytest.approx({name: expected[name] for name in own})
    rows = {"truth": y, "scores": {"a": p, "b": p**2}, "metric": list(expected)[1:], "weight": w}
    compared = stakes.compare(**rows, cluster=np.arange(200) // 4)
    assert all(pair.low <= pair.difference <= pair.high for pair in compared.pairs if pair.difference)
    assert stakes.gate(ev, require="macro_average_precision.low >= 0.2").passed
    assert stakes.evaluate(truth=y, score=p - 0.5, threshold=0)["multiclass_brier_score"].reason


def test_class_scores_add_up_and_save_themselves():
    rng = np.random.default_rng(3)
    scores = rng.dirichlet([1, 1, 1], 60)
    truth = rng.integers(0, 3, 60)
    whole = ClassScores.from_rows(scores, truth, "abc", parts=ORDERED)
    parts = [ClassScores.from_rows(scores[r], truth[r], "abc", parts=ORDERED) for r in (slice(0, 20), slice(20, 60))]
    both = ClassScores.sum(parts)
    assert m.macro_auc.of(both) == m.macro_auc.of(whole)
    for metric in m.catalogue():
        if metric.tally is ClassScores and metric.name != "hand_till_auc":
            assert metric.of(both) == pytest.approx(metric.of(whole), rel=1e-14), metric.name
            assert metric.baseline_of(both) == pytest.approx(metric.baseline_of(whole), rel=1e-14), metric.name
    assert math.isnan(m.hand_till_auc.of(both))
    assert "which added counts and" in m.hand_till_auc.why_undefined(both)
    assert ClassScores.from_dict(json.loads(json.dumps(whole.to_dict()))) == whole


# ── the evaluation ───────────────────────────────────────────────────────────────────────────────────────────────
def three(**options):
    truth = ["a", "b", "c", "a", "b", "c", "a"]
    scores = np.array(
        [
            [0.6, 0.3, 0.1],
            [0.2, 0.5, 0.3],
            [0.1, 0.2, 0.7],
            [0.3, 0.4, 0.3],
            [0.1, 0.8, 0.1],
            [0.3, 0.4, 0.3],
            [0.8, 0.1, 0.1],
        ]
    )
    decided = ["a", "b", "c", "b", "b", "b", "a"]
    return stakes.evaluate(truth=truth, prediction=decided, score=scores, classes="abc", **options)


@pytest.mark.slow
def test_an_evaluation_of_three_classes():
    ev = three(by=list("xxxyyyy"))
    assert ev.classes == ("a", "b", "c")
    assert ev.support == {"a": 3, "b": 2, "c": 2}
    assert ev["macro_recall"].value == ev["balanced_accuracy"].value == pytest.approx((2 / 3 + 1 + 1 / 2) / 3)
    assert ev["log_loss"].name == "multiclass_log_loss"
    assert ev["brier_score"].name == "multiclass_brier_score"
    assert ev["f_beta(beta=1)", "a"].value == ev["f1", "a"].value
    assert ev["macro_f_beta(beta=1)"].value == pytest.approx(ev["macro_f1"].value)
    assert ev.most_confused() == [("a", "b", 1, pytest.approx(1 / 3)), ("c", "b", 1, 0.5)]
    assert ev.curve("roc", "a").y[-1] == 1
    assert ev["top_k_accuracy(k=3)"].value == 1
    assert ev.segments["x"]["accuracy"].value == 1
    data = json.loads(ev.to_json())
    assert (data["task"], data["classes"]) == ("multiclass", ["a", "b", "c"])
    assert data["class_figures"]["b"]["recall"]["value"] == 1
    rows = ev.to_rows()
    assert {(row["class"], row["segment"]) for row in rows} >= {(None, None), ("a", None), ("c", "y")}
    assert "Most confused" in str(ev)
    assert "<td style=" in ev._repr_html_()
    assert repr(ev) == "<Evaluation of 3 classes, rows: 7>"


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("f1", r"write 'macro_f1', 'weighted_f1', 'micro_f1', or f1\[a\] for a class \(in Python ev\['f1', 'a'\]\)"),
        ("auc", "write 'macro_auc'"),
        (("f1", "z"), "there is no class 'z'"),
        (("macro_f1", "a"), "macro_f1 is not a figure of one class against the rest here"),
        (("mae", "a"), "mean_absolute_error is not a figure of one class"),
        ("macro_kappa", "there is no 'macro_kappa': kappa is not a figure of one class against the rest"),
        ("micro_auc", "micro_auc is a figure of several labels per row"),
        ("micro_gini", "there is no 'micro_gini': .* not pooled; write 'macro_gini' or 'weighted_gini'"),
        ("macro_nonsense", "there is no metric 'macro_nonsense'"),
    ],
)
def test_wrong_keys_get_a_useful_line(key, words):
    with pytest.raises(stakes.InputError, match=words):
        three()[key]


def test_a_figure_of_another_task_is_refused_and_one_without_its_column_undefined():
    with pytest.raises(
        stakes.InputError, match=r"mean_absolute_error is a figure of predicted numbers, .* an evaluation of more"
    ):
        three()["mae"]
    decisions = evaluated(IRIS)
    assert decisions["macro_auc"].reason == "no scores were given; pass score={class: column, …}"
    with pytest.raises(stakes.InputError, match="no scores were given"):
        decisions.curve("pr", "setosa")
    with pytest.raises(stakes.InputError, match=r"a curve is that of one against the rest: curve\('roc', 'setosa'\)"):
        decisions.curve("roc")


def test_class_scores_decide_for_the_highest():
    scores = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.4, 0.4, 0.2], [0.0, 1.0, 0.0]])
    ev = stakes.evaluate(truth=list("acba"), score=scores, classes="abc")
    assert ev.confusion.counts.tolist() == [[1, 1, 0], [1, 0, 0], [0, 0, 1]]  # the tie goes to the first class
    assert "highest score" in str(ev)
    parts = [stakes.count(truth=["a"], score=scores[:1], classes="abc") for _ in range(2)]
    assert stakes.Evaluation(type(parts[0]).from_dict((parts[0] + parts[1]).to_dict())).counted.decided_by == "score"
    decided = stakes.count(truth=["a"], score=scores[:1], prediction=["b"], classes="abc")
    with pytest.raises(stakes.InputError, match="what decides is 'score' in one and 'rows' in the other"):
        _ = parts[0] + decided


def test_every_figure_is_found_by_its_own_name():
    ev = three()
    for name, estimate in ev.figures.items():
        again = ev[name]
        assert again.name == estimate.name
        assert again.value == estimate.value or (math.isnan(again.value) and math.isnan(estimate.value))


def test_logits_stay_logits_in_classes_and_segments():
    scores = np.array(
        [[3.0, 0.2, 0.1], [0.1, 0.5, 0.3], [0.1, 0.2, 0.7], [-1.0, 0.4, 0.3], [0.1, 0.8, 0.1], [0.3, 0.4, 0.5]]
    )
    ev = stakes.evaluate(truth=list("abcabc"), score=scores, classes="abc", by=list("xyyxyy"))
    words = "the scores are no probabilities: they lie outside [0, 1], or those of a row do not add up to 1"
    assert ev["log_loss"].reason == words
    assert ev.segments["y"]["log_loss"].reason == words
    assert ev["ece", "b"].reason == words
    with pytest.raises(
        stakes.InputError, match="multiclass_log_loss needs probabilities, but the scores run from -1 to 3"
    ):
        m.multiclass_log_loss(list("abcabc"), scores, classes="abc")


def test_metrics_on_arrays_of_the_wrong_number_of_classes():
    scores = np.eye(3)
    with pytest.raises(stakes.InputError, match="write 'macro_auc', 'weighted_auc', or"):
        m.auc(list("abc"), scores, classes="abc")
    both = np.array([[0.5, 0.5], [0.1, 0.9], [0.2, 0.8]])
    assert m.multiclass_log_loss([0, 1, 1], both, classes=[0, 1]) == pytest.approx(m.log_loss([0, 1, 1], both[:, 1]))
    many = np.arange(1500)
    assert m.accuracy(many, many[::-1]) == 0


def test_crumbs_of_weights_are_no_cases():
    ev = stakes.evaluate(truth=list("abc"), prediction=list("aaa"), weight=[0.1, 0.2, 0.3])
    assert ev["negative_predictive_value", "a"].reason == "nothing is decided negative"
    assert ev["specificity", "a"].value == 0


def test_brier_scores_near_zero_keep_their_digits():
    tally = ClassScores.from_rows(np.array([[1 - 1e-9, 5e-10, 5e-10]]), np.array([0]), "abc")
    assert m.multiclass_brier_score.of(tally) == pytest.approx(1.5e-18, rel=1e-6)


@pytest.mark.slow
def test_a_hundred_classes_are_shown_in_reasonable_time():
    rng = np.random.default_rng(0)
    truth = np.concatenate([np.arange(100), rng.integers(0, 100, 700)])
    ev = stakes.evaluate(truth=truth, prediction=np.roll(truth, 1), task="classification")
    assert ev["accuracy"].baseline == np.bincount(truth).max() / 800
    assert "The first 20 of 100 classes" in str(ev)


def test_averages_are_undefined_when_a_class_is():
    ev = stakes.evaluate(truth=list("aabc"), prediction=list("aabb"))
    assert ev["macro_precision"].reason == "precision is undefined for a class"
    assert ev["precision", "c"].reason == "nothing is decided positive"
    assert ev["micro_precision"].value == 0.75


def test_decisions_beyond_the_classes_leave_coverage():
    ev = stakes.evaluate(truth=list("abcab"), prediction=["a", "b", "later", "a", "later"], classes="abc")
    assert ev.confusion.decisions == ("a", "b", "c", "later")
    assert ev["coverage"].value == 0.6
    assert ev["accuracy"].reason == "some decisions are no class, so there is only coverage"
    assert ev["macro_f1"].reason == "some decisions are no class, so there is only coverage"
    assert ev["f1", "a"].reason == "some decisions are no class, so there is only coverage"
    assert "later" in str(ev)
    pair = stakes.evaluate(
        truth=["no", "yes", "yes"], prediction=["no", "yes", "ask"], classes=["no", "yes"], positive="yes"
    )
    assert pair["coverage"].value == pytest.approx(2 / 3)
    assert pair["recall"].reason == "some decisions are no class, so there is only coverage"
    assert "ask" in str(pair)


@pytest.mark.slow
def test_scores_may_be_a_dictionary_or_columns_by_name():
    data = {"y": list("abca"), "pa": [0.5, 0.2, 0.1, 0.9], "pb": [0.3, 0.6, 0.1, 0.05], "pc": [0.2, 0.2, 0.8, 0.05]}
    by_name = stakes.evaluate(data, truth="y", score={"a": "pa", "b": "pb", "c": "pc"})
    table = np.column_stack([data["pa"], data["pb"], data["pc"]])
    assert by_name.to_dict() == stakes.evaluate(truth=data["y"], score=table, classes="abc").to_dict()
    shuffled = stakes.evaluate(data, truth="y", score={"c": "pc", "a": "pa", "b": "pb"})
    assert shuffled.to_dict() == by_name.to_dict()


def test_two_columns_of_two_classes_are_the_score_of_the_positive_one():
    p = np.array([0.9, 0.2, 0.6, 0.4])
    truth = ["yes", "no", "yes", "no"]
    both = stakes.evaluate(truth=truth, score=np.column_stack([1 - p, p]), classes=["no", "yes"], positive="yes")
    assert both.to_dict() == stakes.evaluate(truth=truth, score=p, positive="yes").to_dict()


@pytest.mark.parametrize("name", ["top_k_accuracy(k=1)", "multiclass_brier_score", "macro_average_precision"])
def test_a_figure_of_many_classes_takes_the_one_score_of_two(name):
    p, truth = np.array([0.9, 0.2, 0.3, 0.4, 0.6]), ["yes", "no", "yes", "no", "no"]
    figure = stakes.metrics.find(name)
    beside = figure(truth, np.column_stack([1 - p, p]), classes=["no", "yes"])
    assert figure(truth, p, positive="yes") == beside != figure(truth, p, positive="no")
    assert stakes.evaluate(truth=truth, score=p, positive="yes")[name].value == pytest.approx(beside, rel=1e-12)
    assert stakes.metrics.top_k_accuracy(truth, 10 * p - 5, k=1, positive="yes") == 0.6  # scores need be no shares
    with pytest.raises(stakes.InputError, match="pass positive='yes' or positive='no'"):
        figure(truth, p)


def test_a_class_of_no_rows_is_kept_when_it_was_declared():
    ev = stakes.evaluate(truth=list("aab"), prediction=list("aab"), classes="abc")
    assert ev.support == {"a": 2, "b": 1, "c": 0}
    assert ev["recall", "c"].reason == "no case is positive"
    assert ev["weighted_recall"].value == 1
    assert ev["balanced_accuracy"].reason == "a class has no cases"


def test_many_classes_are_cut_off_in_the_text():
    truth = np.arange(30)
    text = str(stakes.evaluate(truth=truth, prediction=truth.copy(), task="classification"))
    assert "The first 20 of 30 classes" in text


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, object, str, "category"])
def test_labels_of_every_kind_count_alike(dtype):
    import pandas as pd

    rng = np.random.default_rng(0)
    truth, decided = rng.integers(0, 7, (2, 5000))
    expected = sk.confusion_matrix(truth, decided)
    t, d = (pd.Series(v, dtype=dtype) if dtype == "category" else v.astype(dtype) for v in (truth, decided))
    table = stakes.count(truth=t, prediction=d, task="classification").confusion
    assert table.counts.tolist() == expected.tolist()


def test_nothing_warns_on_the_way():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        three(by=list("xxxyyyy")).to_json()
