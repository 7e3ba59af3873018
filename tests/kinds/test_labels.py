"""Several labels per row: scikit-learn as oracle, every way to write them, every surface."""

import json

import numpy as np
import pytest
import sklearn.metrics as sk
from scipy import sparse

import stakes
from stakes.errors import InputError
from tests.command import run
from tests.kinds.rows import labels
from tests.test_cli_schema import validator

ROWS = labels(n=80)
TRUTH, SAID, SCORES = ROWS["truth"], ROWS["prediction"], ROWS["score"]
WEIGHT = np.random.default_rng(5).choice([0.5, 1.0, 2.0], 80)
BY = np.where(np.arange(80) % 2, "odd", "even")
DECIDED = {"f1": sk.f1_score, "precision": sk.precision_score, "recall": sk.recall_score, "jaccard": sk.jaccard_score}
RANKED = {"auc": sk.roc_auc_score, "average_precision": sk.average_precision_score}
IN_ROWS = {
    "coverage_error": sk.coverage_error,
    "label_ranking_average_precision": sk.label_ranking_average_precision_score,
    "label_ranking_loss": sk.label_ranking_loss,
}


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["alone", "weighted"])
def test_figures_are_those_of_scikit_learn(weight):
    ev = stakes.evaluate(**ROWS, weight=weight)
    found = {name: one.value for name, one in ev.figures.items()}
    assert found["hamming_loss"] == pytest.approx(sk.hamming_loss(TRUTH, SAID, sample_weight=weight))
    assert found["subset_accuracy"] == pytest.approx(sk.accuracy_score(TRUTH, SAID, sample_weight=weight))
    for how in ("macro", "micro", "weighted"):
        for name, theirs in DECIDED.items():
            expected = theirs(TRUTH, SAID, average=how, sample_weight=weight)
            assert found[f"{how}_{name}"] == pytest.approx(expected), (how, name)
        for name, theirs in RANKED.items():
            expected = theirs(TRUTH, SCORES, average=how, sample_weight=weight)
            assert found[f"{how}_{name}"] == pytest.approx(expected), (how, name)
    for name in ("f1", "precision", "recall"):
        expected = DECIDED[name](TRUTH, SAID, average="samples", sample_weight=weight, zero_division=np.nan)
        assert found[f"samples_{name}"] == pytest.approx(expected), name
    for name, theirs in IN_ROWS.items():
        assert found[name] == pytest.approx(theirs(TRUTH, SCORES, sample_weight=weight)), name
    both = (TRUTH & SAID).sum(1), (TRUTH | SAID).sum(1)
    there = both[1] > 0
    unit = np.ones(80) if weight is None else weight
    assert found["samples_jaccard"] == pytest.approx(
        np.average((both[0] / np.maximum(both[1], 1))[there], weights=unit[there])
    )


def test_ties_of_scores_count_as_scikit_learn_counts_them():
    random = np.random.default_rng(1)
    truth, scores = random.random((200, 6)) < 0.4, random.integers(0, 3, (200, 6)) / 2
    for name, theirs in IN_ROWS.items():
        assert stakes.metrics.find(name)(truth, scores) == pytest.approx(theirs(truth, scores)), name


def test_one_label_is_an_evaluation_of_two_classes():
    ev = stakes.evaluate(**ROWS, cluster=np.arange(80) // 2)
    one = stakes.evaluate(truth=TRUTH[:, 1], prediction=SAID[:, 1], score=SCORES[:, 1], cluster=np.arange(80) // 2)
    for name in ("f1", "auc", "brier_score"):
        assert (ev[name, "1"].value, ev[name, "1"].low, ev[name, "1"].high) == (
            one[name].value,
            one[name].low,
            one[name].high,
        )
    assert ev["f1[1]"].value == sk.f1_score(TRUTH[:, 1], SAID[:, 1])
    assert ev.each_figures["1"]["recall"].value == sk.recall_score(TRUTH[:, 1], SAID[:, 1])


PRICES = stakes.Costs(miss=5, false_alarm=1)
FEW = stakes.Costs(miss=1, false_alarm=5)


def test_each_label_is_decided_about_as_two_classes_are(tmp_path):
    table = {f"{kind}{i}": one[:, i] for kind, one in (("t", TRUTH), ("s", SCORES)) for i in range(3)}
    asked = {"truth": {i: f"t{i}" for i in "012"}, "score": {i: f"s{i}" for i in "012"}}
    found = stakes.decide(table, **asked, costs=PRICES)
    for i, row in enumerate(found.to_rows()):
        alone = stakes.decide(truth=TRUTH[:, i], score=SCORES[:, i], costs=PRICES)
        assert (row["threshold"], row["value"]) == (alone.recommended[0], alone.cost.value)
        assert row["saving_low"] == alone.savings[alone.rival].low
    best = stakes.decide(table, **asked, best="f1")["1"]
    assert best.threshold == stakes.decide(truth=TRUTH[:, 1], score=SCORES[:, 1], best="f1").threshold
    tags = [";".join(name for name, has in zip("012", row, strict=True) if has) for row in TRUTH]
    scores = {i: SCORES[:, int(i)] for i in "012"}
    assert stakes.decide(truth=tags, score=scores, label_separator=";", costs=PRICES).to_rows() == found.to_rows()
    data = json.loads(found.to_json())
    assert [error.message for error in validator("decide.json").iter_errors(data)] == []
    found.report(tmp_path / "page.html")
    assert "Label by label" in (tmp_path / "page.html").read_text()
    assert "Label by label" in found._repr_html_()


def test_the_command_decides_about_each_label(tmp_path):
    header = ",".join([*(f"t{i}" for i in range(3)), *(f"s{i}" for i in range(3))])
    np.savetxt(tmp_path / "rows.csv", np.hstack([TRUTH, SCORES]), "%.9g", ",", header=header, comments="")
    columns = [word for i in range(3) for word in ("--truth", f"{i}=t{i}", "--score", f"{i}=s{i}")]
    answer = run("decide", str(tmp_path / "rows.csv"), *columns, "--miss", "5", "--false-alarm", "1", "--csv")
    assert answer.returncode == 0
    thresholds = [float(line.split(",")[1]) for line in answer.stdout.splitlines()[1:]]
    assert thresholds == pytest.approx([one.recommended[0] for one in _decided(PRICES).decisions.values()])


def _decided(costs, **changed):
    return stakes.decide(**{"truth": TRUTH, "score": SCORES, **changed}, costs=costs)


def test_labels_about_which_nothing_can_be_decided_say_so(tmp_path):
    never = _decided(PRICES, truth=TRUTH & [True, False, True])
    assert (list(never.decisions), never.left_out, never.labels) == (["0", "2"], ("1",), 3)
    assert "Nothing is chosen about labels that no row has, or that all rows have: “1”." in str(never)
    assert "Not surely for all labels" in str(_decided(FEW, score=np.random.default_rng(3).random((80, 3))))
    stakes.count(**ROWS).save(tmp_path / "labels.tally")
    with pytest.raises(InputError, match="scores of labels stay with the rows; decide about the rows themselves"):
        stakes.decide(tmp_path / "labels.tally", costs=PRICES)
    with pytest.raises(InputError, match="there are no scores to put a threshold on"):
        stakes.decide(truth=TRUTH, prediction=SAID, costs=PRICES)


def test_labels_that_are_missed_together_or_for_another():
    truth = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]])
    said = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]])
    ev = stakes.evaluate(truth=truth, prediction=said, classes=["a", "b", "c"])
    first = ev.forgotten[0]
    assert (first.missed, first.beside, first.rows, first.share) == ("a", "b", 2, 1)
    assert {(one.missed, one.beside, one.rows) for one in ev.taken_for} == {("a", "c", 1), ("b", "c", 1)}
    assert "missed together in 2 rows" in " ".join(words for one in ev.findings for words in one.words)


WRITTEN = {
    "columns": {
        "truth": {n: TRUTH[:, i] for i, n in enumerate("abc")},
        "prediction": {n: SAID[:, i] for i, n in enumerate("abc")},
    },
    "sets": {
        "truth": [set(np.array(list("abc"))[row]) for row in TRUTH],
        "prediction": [set(np.array(list("abc"))[row]) for row in SAID],
    },
    "texts": {
        "truth": [";".join(np.array(list("abc"))[row]) for row in TRUTH],
        "prediction": ["; ".join(np.array(list("abc"))[row]) or None for row in SAID],
        "label_separator": ";",
    },
    "numbers": {"truth": TRUTH.astype(int), "prediction": SAID.astype(float), "classes": list("abc")},
    "sparse": {
        "truth": sparse.csr_matrix(TRUTH.astype(int)),
        "prediction": sparse.csc_array(SAID),
        "classes": list("abc"),
    },
}


@pytest.mark.parametrize("way", WRITTEN)
def test_labels_are_the_same_however_they_are_written(way):
    ev, plain = (
        stakes.evaluate(**WRITTEN[way], by=BY),
        stakes.evaluate(truth=TRUTH, prediction=SAID, classes=list("abc"), by=BY),
    )
    assert ev.names == ("a", "b", "c")
    for name, one in plain.figures.items():
        assert (ev[name].value, ev[name].low, ev[name].high) == pytest.approx(
            (one.value, one.low, one.high), nan_ok=True
        )
        assert ev.segments["odd"][name].value == pytest.approx(plain.segments["odd"][name].value, nan_ok=True)


def test_rows_that_lack_a_value_are_left_out():
    truth = TRUTH.astype(float)
    truth[3, 1] = np.nan
    with pytest.raises(InputError, match="truth"):
        stakes.evaluate(truth=truth, prediction=SAID)
    ev = stakes.evaluate(truth=truth, prediction=SAID, missing="drop")
    keep = np.arange(80) != 3
    assert (ev.rows, ev.counted.dropped) == (79, 1)
    assert ev["hamming_loss"].value == pytest.approx(sk.hamming_loss(TRUTH[keep], SAID[keep]))


def test_options_of_other_rows_mean_the_same_here():
    low = stakes.evaluate(truth=TRUTH, score=SCORES, threshold=0.3)
    assert low["hamming_loss"].value == pytest.approx(sk.hamming_loss(TRUTH, SCORES >= 0.3))
    logits = stakes.evaluate(truth=TRUTH, score=4 * SCORES - 2, from_logits=True)
    assert logits["hamming_loss"].value == pytest.approx(sk.hamming_loss(TRUTH, 4 * SCORES - 2 >= 0))
    assert logits["macro_brier_score"].value == pytest.approx(np.mean((1 / (1 + np.exp(2 - 4 * SCORES)) - TRUTH) ** 2))
    often = np.arange(80) % 3 + 1
    repeated = stakes.evaluate(truth=np.repeat(TRUTH, often, 0), prediction=np.repeat(SAID, often, 0))
    assert stakes.evaluate(truth=TRUTH, prediction=SAID, frequency=often)["macro_f1"].low == repeated["macro_f1"].low
    table = {f"{kind}{i}": one[:, i].astype(int) for i in range(3) for kind, one in {"t": TRUTH, "p": SAID}.items()}
    named = {kind: {str(i): f"{kind[0]}{i}" for i in range(3)} for kind in ("truth", "prediction")}
    some = stakes.evaluate({**table, "by": BY}, **named, where="by = 'odd'")
    assert some["hamming_loss"].value == pytest.approx(sk.hamming_loss(TRUTH[BY == "odd"], SAID[BY == "odd"]))
    batches = ({name: one[rows] for name, one in table.items()} for rows in (slice(0, 30), slice(30, 80)))
    assert stakes.evaluate(batches, **named)["macro_f1"].low == pytest.approx(
        stakes.evaluate(table, **named)["macro_f1"].low
    )
    with pytest.raises(InputError, match="unlabelled= is for rows with one truth and one answer"):
        stakes.evaluate(**ROWS, unlabelled="estimate")
    for option in ({"prior": 0.2}, {"design": "classes fixed"}):
        with pytest.raises(InputError, match="= is about the two classes of one label, and here are several; evaluate"):
            stakes.evaluate(**ROWS, **option)


@pytest.fixture
def file(tmp_path):
    columns = {
        f"{kind}_{name}": one[:, i] for i, name in enumerate("abc") for kind, one in {"t": TRUTH, "s": SCORES}.items()
    }
    columns = {name: one.astype(float) for name, one in columns.items()} | {"by": BY}
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(lines))
    return str(path)


TYPED = [word for name in "abc" for word in ("--truth", f"{name}=t_{name}", "--score", f"{name}=s_{name}")]


@pytest.mark.slow
def test_the_command_line_says_the_same(file, tmp_path):
    ev = stakes.evaluate(truth=TRUTH, score=SCORES, by=BY)
    data = json.loads(run("evaluate", file, *TYPED, "--by", "by", "--json").stdout)
    assert data["task"] == "labels"
    assert data["labels"] == ["a", "b", "c"]
    for name in ("hamming_loss", "macro_auc", "samples_f1"):
        assert data["figures"][name]["low"] == pytest.approx(ev[name].low)
        assert data["segments"]["odd"]["figures"][name]["value"] == pytest.approx(ev.segments["odd"][name].value)
    shown = run("evaluate", file, *TYPED).stdout
    assert "Which of 3 labels does each row have?" in shown
    assert "Label by label" in shown
    gate = run("gate", file, *TYPED, "--require", "hamming_loss.high <= 0.5", "--require", "f1[b] > 0.4")
    assert gate.returncode == 0, gate.stdout
    assert run("gate", file, *TYPED, "--require", "macro_f1.low >= 0.99").returncode == 1
    page = tmp_path / "page.html"
    assert run("evaluate", file, *TYPED, "--by", "by", "--report", str(page)).returncode == 0
    assert '"kind": "classes"' in page.read_text() or '"kind":"classes"' in page.read_text()


def test_lazy_tables_are_asked_for_their_rows():
    import polars as pl

    columns = {f"{kind}{i}": one[:, i] for i in range(3) for kind, one in {"t": TRUTH, "p": SAID}.items()}
    lazy = pl.LazyFrame(columns)
    named = {kind: {str(i): f"{kind[0]}{i}" for i in range(3)} for kind in ("truth", "prediction")}
    ev = stakes.evaluate(lazy, **named)
    assert ev["macro_f1"].value == pytest.approx(sk.f1_score(TRUTH, SAID, average="macro"))


def test_models_are_compared_by_what_rows_change_in_both():
    other = np.random.default_rng(9).random((80, 3)) < 0.4
    both = stakes.compare(
        truth=TRUTH, predictions={"ours": SAID, "theirs": other}, metric=["hamming_loss", "macro_f1"], by=BY
    )
    pair = next(one for one in both.pairs if one.metric == "hamming_loss")
    gap = (SAID != TRUTH).mean(1) - (other != TRUTH).mean(1)
    assert pair.difference == pytest.approx(gap.mean())
    from scipy import stats

    low, high = stats.ttest_1samp(gap, 0).confidence_interval(0.95)
    assert (pair.low, pair.high) == pytest.approx((low, high), rel=0.05)
    assert set(both.segments) == {"odd", "even"}
    assert stakes.compare(truth=TRUTH, predictions={"ours": SAID, "theirs": other}).table[0].model == "ours"


def test_counts_add_up_and_travel(tmp_path):
    parts = [
        stakes.count(truth=TRUTH[rows], prediction=SAID[rows], score=SCORES[rows])
        for rows in (slice(0, 30), slice(30, 80))
    ]
    whole = stakes.evaluate(**ROWS)
    both = stakes.Evaluation(parts[0] + parts[1])
    assert both["macro_f1"].low == pytest.approx(whole["macro_f1"].low)
    parts[0].save(tmp_path / "one.tally")
    parts[1].save(tmp_path / "two.tally")
    ev = stakes.evaluate([str(tmp_path / "one.tally"), str(tmp_path / "two.tally")])
    assert ev["macro_f1"].value == pytest.approx(whole["macro_f1"].value)
    assert ev["hamming_loss"].low == pytest.approx(whole["hamming_loss"].low, rel=0.02)
    assert "not kept" in ev["macro_auc"].reason
    assert ev["recall[1]"].value == pytest.approx(whole["recall[1]"].value)


def test_what_is_shown_in_three_languages():
    ev = stakes.evaluate(**ROWS)
    for lang, title in {"en": "Label by label", "es": "Etiqueta por etiqueta", "ru": "Каждая метка"}.items():
        shown = str(stakes.evaluate(**ROWS, lang=lang))
        assert title in shown
        assert "samples_f1" not in shown
    assert "Label by label" in ev._repr_html_()


WRONG = {
    "labels outside the list": (
        {"truth": [{"a"}, {"z"}], "prediction": [{"a"}, {"a"}], "classes": ["a", "b"]},
        "truth has the label 'z', which is not in classes",
    ),
    "labels of texts outside the list": (
        {"truth": ["a;z", "b"], "prediction": ["a", "b"], "label_separator": ";", "classes": ["a", "b"]},
        "truth has the label 'z', which is not in classes ('a' and 'b')",
    ),
    "other columns": (
        {"truth": {"a": [0, 1], "b": [1, 0]}, "prediction": {"a": [0, 1], "c": [0, 1]}},
        "prediction has no column for the same names as truth: 'b' and 'c'",
    ),
    "no flags": (
        {"truth": [[0, 2], [1, 0]], "prediction": [[0, 1], [1, 0]], "task": "classification"},
        "a column for each label, which holds 0 and 1",
    ),
    "no output": ({"truth": [[0, 1], [1, 0]]}, "score"),
    "costs": (
        {"truth": [[0, 1], [1, 0]], "score": [[0, 1], [1, 0]], "costs": stakes.Costs(miss=1, false_alarm=1)},
        "or about each of several labels where decide is asked; leave them out here",
    ),
    "a positive class": ({**ROWS, "positive": 1}, "positive= means nothing where rows have several labels"),
    "a baseline": ({**ROWS, "baseline": 0.5}, "baseline= means nothing where rows have several labels"),
    "an average": ({**ROWS, "_ask": "f1"}, "macro_f1"),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_input_is_one_line(case):
    given, words = WRONG[case]
    ask = given.get("_ask")
    given = {name: one for name, one in given.items() if name != "_ask"}
    with pytest.raises(InputError) as problem:
        stakes.evaluate(**given)[ask]
    assert words in str(problem.value)
    assert "\n" not in str(problem.value)


@pytest.mark.slow
def test_ten_thousand_sparse_labels_stay_sparse():
    random = np.random.default_rng(0)
    truth, said = (sparse.random(3000, 10_000, 0.0005, format="csr", random_state=random) for _ in range(2))
    truth.data[:], said.data[:] = 1, 1
    ev = stakes.evaluate(truth=truth, prediction=said)
    assert ev["micro_f1"].low is not None
    assert ev["hamming_loss"].value == pytest.approx(abs(truth - said).sum() / 3e7)
    assert len(ev.shown_names) == 200


def test_the_face_has_the_names_of_scikit_learn():
    from stakes.sklearn import coverage_error, label_ranking_average_precision_score, label_ranking_loss

    for ours in (coverage_error, label_ranking_average_precision_score, label_ranking_loss):
        theirs = getattr(sk, ours.__name__)
        found = ours(TRUTH.astype(int), SCORES, sample_weight=WEIGHT)
        assert found == pytest.approx(theirs(TRUTH.astype(int), SCORES, sample_weight=WEIGHT))
        assert found.low < found < found.high


def test_scores_without_decisions_are_shown_by_the_order_of_labels():
    ev = stakes.evaluate(truth=TRUTH, score=SCORES * 10, by=BY)
    assert "hamming_loss" not in ev.figures
    assert "label ranking average precision" in str(ev)
    assert ev.by_segment().metric == "label_ranking_average_precision"


def test_a_plot_shows_each_label_and_each_segment():
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    ev = stakes.evaluate(**ROWS, by=BY)
    assert ev.plots == ("each", "segments")
    drawn = ev.plot(metric="f1")
    assert drawn.artists["points"].get_offsets()[:, 0].tolist() == pytest.approx(
        sk.f1_score(TRUTH, SAID, average=None).tolist()
    )
    ev.plot("segments")
    plt.close("all")


@pytest.mark.browser
def test_the_page_opens(opened, tmp_path):
    path = tmp_path / "page.html"
    stakes.evaluate(**ROWS, by=BY).report(path)
    page = opened(path)
    assert page.locator("#classes h2").first.inner_text() == "Label by label"
    assert page.locator("#classes-chart circle, #classes-chart .dot").count() >= 3


@pytest.mark.parametrize("dense", ["", "truth", "prediction"])
def test_sparse_scores_tell_what_scores_with_zeros_tell(dense):
    scores = np.where(SCORES > 0.35, np.round(SCORES, 1), 0.0)  # ties, and own labels without a score
    given = {"truth": TRUTH, "prediction": SAID, "score": scores}
    thin = {name: one if name == dense else sparse.csr_array(one * 1.0) for name, one in given.items()}
    whole, found = stakes.evaluate(**given), stakes.evaluate(**thin)
    for name, one in whole.figures.items():
        assert found[name].value == pytest.approx(one.value, nan_ok=True), name
        if "auc" in name or name.endswith("o_average_precision") or name.startswith("weighted_average"):
            assert "scores are sparse" in found[name].no_interval
        else:
            assert (found[name].low, found[name].high) == pytest.approx((one.low, one.high)), name
    for name, theirs in IN_ROWS.items():
        assert found[name].value == pytest.approx(theirs(TRUTH, scores)), name
    decided = stakes.evaluate(truth=thin["truth"], score=thin["score"])
    assert decided["hamming_loss"].value == pytest.approx(sk.hamming_loss(TRUTH, scores >= 0.5))
    assert decided["auc", "1"].low == stakes.evaluate(truth=TRUTH, score=scores)["auc", "1"].low
    both = stakes.compare(truth=thin["truth"], scores={"a": thin["score"], "b": sparse.csr_array(scores[::-1])})
    plain = stakes.compare(truth=TRUTH, scores={"a": scores, "b": scores[::-1]})
    assert both.pairs[0].p_value == pytest.approx(plain.pairs[0].p_value)


def test_sparse_scores_that_zeros_would_turn_round_are_refused():
    for given in ({"score": sparse.csr_array(SCORES - 0.5)}, {"score": sparse.csr_array(SCORES), "from_logits": True}):
        with pytest.raises(InputError, match="score is sparse, and what is not there counts as 0, the lowest score"):
            stakes.evaluate(truth=TRUTH, **given)


def test_verbs_of_one_column_say_what_to_ask_instead():
    from sklearn.linear_model import LinearRegression

    with pytest.raises(InputError, match=r"ask it of one column: ev.each\['0'\].calibration"):
        _ = stakes.evaluate(**ROWS).calibration
    assert stakes.evaluate(**ROWS).each["0"].calibration.ece.value > 0
    for verb in (stakes.calibrate, stakes.permutation_test):
        with pytest.raises(InputError, match="truth has several columns, which can be evaluated and compared"):
            verb(truth=TRUTH, score=SCORES)
    with pytest.raises(InputError, match=r"y has several columns; predict them out of fold .* and evaluate that"):
        stakes.validate(LinearRegression(), SCORES, TRUTH)


@pytest.mark.parametrize(("rare", "noted"), [(20, True), (60, False)])
def test_an_average_over_labels_of_which_one_is_rare_carries_a_note(rare, noted):
    truth = np.zeros((200, 2), bool)
    truth[:100, 0], truth[:rare, 1] = True, True
    found = stakes.evaluate(truth=truth, prediction=np.roll(truth, 5, axis=0), classes=["often", "seldom"])
    assert bool(found["macro_f1"].note) is noted
    assert not found["micro_f1"].note


def test_very_many_rankings_are_walked_down_side_by_side_to_the_same_figures():
    random = np.random.default_rng(4)
    rates = np.linspace(0.05, 0.6, 60)
    truth = random.random((150, 60)) < rates
    scores = np.where(random.random((150, 60)) < 0.5, np.round(random.random((150, 60)) + truth / 2, 1), 0.0)
    found = stakes.evaluate(truth=truth, score=sparse.csr_array(scores))
    for name, judge in RANKED.items():
        by_label = np.array([judge(truth[:, i], scores[:, i]) for i in range(60)])
        assert found[f"macro_{name}"].value == pytest.approx(by_label.mean(), rel=1e-12)
        assert found[f"weighted_{name}"].value == pytest.approx(np.average(by_label, weights=truth.sum(0)), rel=1e-12)
    assert found["macro_auc"].baseline == pytest.approx(0.5)
    assert found["macro_average_precision"].baseline == pytest.approx(truth.mean())
