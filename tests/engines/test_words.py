"""What users read when a call is nearly right: the text names the slip and the remedy."""

import json

import numpy as np
import pandas as pd
import pytest

import stakes
from tests.command import run

TABLE = pd.DataFrame({"y": list("abca"), "d": list("abcb"), "a": 0.5, "b": 0.3, "c": 0.2, "t": [1.5, 2, 3, 4]})
SCORES = TABLE[["a", "b", "c"]].to_numpy()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: stakes.evaluate(TABLE, truth="y", score=["a", "b", "c"]),
            r"score is a list of the names 'a', 'b' and",
        ),
        (lambda: stakes.evaluate(TABLE, truth="y", prediction="d", by=["a", "a"]), "by= names a column twice .*once"),
        (lambda: stakes.evaluate(TABLE, truth="t", score="a"), "for quantities pass the predicted numbers as predict"),
        (
            lambda: stakes.evaluate(TABLE, truth="t", prediction="y"),
            "truth holds numbers .'1.5', '2.0' and 1 more. but prediction holds text .'a', 'b' and",
        ),
        (lambda: stakes.evaluate(TABLE, truth="y", prediction="d", baseline=1), "baseline= .* truth holds text"),
        (
            lambda: stakes.evaluate(TABLE, truth="t", prediction="a", baseline=[1] * 99),
            r"1…. is not a finite number; give one",
        ),
        (lambda: stakes.evaluate(truth=TABLE.y, score=SCORES.T, classes="abc"), "transpose it: rows first"),
        (
            lambda: stakes.evaluate(TABLE, truth="y", score={"a": "a", "b": "b", "d": "c"}),
            r"score has no column for the class 'c' \(there is one for 'd', which occurs in no row\)",
        ),
        (
            lambda: stakes.TemperatureCalibrator().fit(SCORES * 1.01, TABLE.y),
            "do not add up to 1 .*divide each row by its sum|is no probability",
        ),
        (
            lambda: stakes.evaluate(pd.concat([TABLE, TABLE[["d"]]], axis=1), truth="y", prediction="d"),
            "several columns called 'd'; rename them",
        ),
        (lambda: stakes.evaluate(truth=["a", " "], prediction=["a", "b"]), "truth is missing in 1 row .*row 2"),
    ],
)
def test_slips_are_named(call, words):
    with pytest.raises(stakes.InputError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_numbers_against_text_in_a_file(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("t,word\n1.5,a\n2.5,b\n")
    with pytest.raises(stakes.InputError, match=r"truth holds numbers \('1.5' and '2.5'\) but prediction holds text"):
        stakes.evaluate(path, truth="t", prediction="word")
    with pytest.raises(stakes.InputError, match=r"prediction holds numbers .* but truth holds text"):
        stakes.evaluate(path, truth="word", prediction="t")
    many = tmp_path / "many.csv"
    many.write_text("t,p\n" + "".join(f"{i + 0.5},{i}\n" for i in range(30)))
    with pytest.raises(stakes.InputError, match=r"truth has 30 different numbers .*pass the predicted numbers as"):
        stakes.evaluate(many, truth="t", score="p")


def test_a_few_scores_outside_are_pointed_out_with_the_row():
    scores = np.append(np.linspace(0, 1, 99), 1.0000001)
    with pytest.warns(stakes.InputWarning, match=r"in 1 of 100 rows \(1.0000001; the first is row 100,"):
        ev = stakes.evaluate(truth=np.arange(100) > 40, score=scores)
    assert not ev["log_loss"].defined
    table = np.tile(SCORES[:1], (50, 1))
    table[7] = [-0.1, 0.6, 0.5]
    with pytest.warns(stakes.InputWarning, match=r"in 1 of 50 rows \(-0.1; the first is row 8,"):
        stakes.evaluate(truth=np.resize(list("abc"), 50), score=table, classes="abc")
    stakes.evaluate(truth=np.arange(100) > 40, score=np.linspace(-3, 3, 100))  # another kind of score: no warning


def test_a_warning_points_at_the_callers_line():
    with pytest.warns(stakes.InputWarning) as caught:
        stakes.evaluate(truth=["a", "b", "c", "c "], prediction=["a", "b", "c", "c"])
    assert caught[0].filename == __file__


def test_single_columns_and_lists_of_batches_are_taken():
    truth, prediction = np.array([1.5, 2, 3]), np.array([1.0, 2, 4])
    ev = stakes.evaluate(truth=truth[:, None], prediction=prediction[:, None])
    assert ev["mae"].value == 0.5
    parts = [{"t": truth[:1], "p": prediction[:1]}, {"t": truth[1:], "p": prediction[1:]}]
    assert stakes.evaluate(parts, truth="t", prediction="p").to_dict() == ev.to_dict()


def test_labels_that_would_be_misread_are_quoted():
    ev = stakes.evaluate(truth=["a, b", "c", "d"], prediction=["a, b", "c", "d"])
    assert "the most frequent class is “a, b” with 33.3%" in str(ev)
    assert ev.confusion.text_rows()[0] == ["truth \\ decision", "'a, b'", "c", "d"]


def test_segments_are_found_by_number():
    ev = stakes.evaluate(truth=[1, 0, 1], prediction=[1, 0, 0], by=[1, 1, 2])
    assert ev.segments[2].rows == 1


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("R²", "r2"),
        ("LR−", "negative_likelihood_ratio"),
        ("nll", "log_loss"),
        ("bacc", "balanced_accuracy"),
        ("F-measure", "f1"),
        ("C-index", "auc"),
        ("AUPRC", "average_precision"),
        ("logloss", "log_loss"),
        ("fbeta_score(beta=0.5)", "f_beta(beta=0.5)"),
    ],
)
def test_metrics_are_found_by_names_of_others(theirs, ours):
    assert stakes.metrics.find(theirs).text == ours


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: stakes.evaluate(TABLE, truth="y", prediction="d", sep=";"),
            "here it is called separator=;",
        ),
        (lambda: stakes.evaluate(TABLE, truth="y", prediction="d", sheet_name=0), "write FILE::SHEET"),
        (lambda: stakes.evaluate(TABLE, truth="y", prediction="d", scoring="f1"), "read the one .* such as ev.'auc'."),
        (lambda: stakes.compare(TABLE, truth="y", predictions=["d", "y"], scoring="f1"), "here it is called metric=;"),
        (
            lambda: stakes.Confusion([[1, 2], [3, 4]], labels=["a", "b"]),
            r"Confusion\(\) has no .* called classes=;",
        ),
        (
            lambda: stakes.evaluate(np.ones((2, 2))),
            r"for a table .* write evaluate\(Confusion\(table\)\)",
        ),
        (
            lambda: stakes.evaluate([[8, 2], [1, 9]]),
            r"for a table .* write evaluate\(Confusion\(table\)\)",
        ),
        (lambda: stakes.evaluate(TABLE[["t"]][:1]), r"for a table of counts"),
        (
            lambda: stakes.evaluate(truth=TABLE.y, score=SCORES[:, :2], classes="abc"),
            r"score has 2 columns for 3 classes \('a', 'b' and 'c'\); give one for each, of zeros where a",
        ),
        (
            lambda: stakes.gate(TABLE, truth="y", prediction="d", no_worse="f1=0.02"),
            "worse it may be: f1:0.02",
        ),
    ],
)
def test_words_of_others_are_translated(call, words):
    with pytest.raises(stakes.InputError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("typed", "told"),
    [("--sep", "--separator"), ("--y-true", "--truth"), ("--pos_label", "--positive"), ("--average", "macro_f1")],
)
def test_options_of_others_are_translated(tmp_path, typed, told):
    (tmp_path / "a.csv").write_text("y,p\n1,0.5\n0,0.25\n")
    done = run("evaluate", tmp_path / "a.csv", typed, "x")
    assert (done.returncode, told in done.stderr, done.stderr.count("\n")) == (2, True, 1), done.stderr


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("alpha", "it is 1 minus what is called confidence here"),
        ("zero_division", "a figure that has no value is NaN, with the reason beside it"),
        ("multi_class", "macro_auc is one class against the rest, hand_till_auc every two classes"),
        ("squared", "rmse and mse are two figures"),
        ("n_jobs", "nothing is fitted here"),
        ("groups", "rows that belong together are called cluster here, segments by"),
        ("freq", "here it is called frequency="),
        ("y_true", "here it is called truth="),
    ],
)
def test_an_option_of_another_library_is_translated_and_named_as_data(option, words):
    with pytest.raises(stakes.InputError, match=words) as caught:
        stakes.evaluate(truth=[0, 1], prediction=[0, 1], **{option: 1})
    assert (caught.value.argument, "\n" in str(caught.value)) == (option, False)


def test_a_figure_of_ones_own_takes_no_name_in_use_however_it_is_written():
    for name in ("auc", "AUC", "Accuracy", "ROC_AUC"):
        with pytest.raises(stakes.InputError, match="or that of another one; give a word that is not in use"):
            stakes.metric(lambda table: table.tp, name=name)


def test_numbers_and_classes_typed_with_commas_are_told_how_to_be_typed(tmp_path):
    (tmp_path / "a.csv").write_text("y,p\nyes,0.5\nno,0.2\n")
    rows = ("evaluate", tmp_path / "a.csv", "--truth", "y", "--score", "p", "--positive", "yes")
    assert "0,5 is no number here; write 0.5." in run(*rows, "--threshold", "0,5").stderr
    assert "0,9 is no number here; write 0.9." in run(*rows, "--confidence", "0,9").stderr
    for typed in ("11,7 %", "11.7%"):
        assert json.loads(run(*rows, "--threshold", typed, "--json").stdout)["threshold"] == 0.117
    assert (
        "--class no,yes is one name with commas; pass --class no --class yes" in run(*rows, "--class", "no,yes").stderr
    )
    done = run(*rows, "--where", "z = 1")
    assert "where: there is no column 'z'" in done.stderr
