"""Cautions: decided once, told in every form, and silent about healthy rows."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import stakes
from stakes.cli import cli

RNG = np.random.default_rng(3)
Y = RNG.integers(0, 2, 300)
P = np.clip(0.3 * Y + 0.7 * RNG.random(300), 0, 1)
K = np.array(["a", "b", "c"])[RNG.integers(0, 3, 300)]
ONE_HOT = np.array([[float(label == name) for name in "abc"] for label in K])
Q = 0.3 * ONE_HOT + 0.7 * RNG.dirichlet([1, 1, 1], 300)
T = RNG.normal(size=300)

WRONG = {
    "own truth": (Y.astype(float), "score is the truth itself"),
    "own truth in other numbers": (3.0 * Y - 7, "score is the truth itself"),
    "constant": (np.full(300, 0.25), "score is 0.25 in every row"),
    "upside down": (1 - P, "the auc is surely below chance"),
}


def notes(**columns):
    return " | ".join(stakes.evaluate(**columns).notes)


def classes(score):
    return notes(truth=K, score=score, classes=list("abc"))


# ── who is cautioned ─────────────────────────────────────────────────────────────────────────────────────────────
def test_healthy_rows_have_no_notes():
    assert notes(truth=Y, score=P) == ""
    assert notes(truth=Y, prediction=(P > 0.5).astype(int)) == ""
    assert notes(truth=T, prediction=T + 0.2 * RNG.normal(size=300)) == ""
    assert [note for note in classes(Q).split(" | ") if not note.startswith("kappa")] == []


@pytest.mark.parametrize(("score", "words"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("more", [{}, {"weight": RNG.random(300) + 0.5}, {"cluster": np.arange(300) // 5}], ids=str)
def test_scores_that_mean_something_else(score, words, more):
    assert words in notes(truth=Y, score=score, **more)
    with pytest.raises(stakes.InputError, match=f"^{words}.*; a gate does not judge that"):
        stakes.gate(stakes.evaluate(truth=Y, score=score, **more), require="recall > 0")


@pytest.mark.parametrize(("score", "words"), WRONG.values(), ids=WRONG)
def test_a_tally_and_bins_tell_the_same(score, words, tmp_path):
    assert words in notes(truth=Y, score=score, exact=False)
    stakes.count(truth=Y, score=score).save(tmp_path / "x.tally", min_cell=1)
    assert words in " ".join(stakes.evaluate(tmp_path / "x.tally").notes)


def test_a_perfect_order_of_many_scores_is_no_copy():
    perfect = Y + 0.1 * RNG.random(300)
    said = notes(truth=Y, score=perfect)
    assert "auc 1.0000 is suspiciously perfect" in said
    assert "truth itself" not in said
    assert stakes.gate(stakes.evaluate(truth=Y, score=perfect), require="auc >= 0.9").passed


def test_decisions_and_numbers_that_are_all_right():
    assert "accuracy 1.0000 is suspiciously perfect" in notes(truth=Y, prediction=Y.copy())
    assert "suspicious" not in notes(truth=Y[:20], prediction=Y[:20].copy())
    assert "prediction is the truth itself" in notes(truth=T, prediction=T.copy())
    assert "r2 1.0000 is suspiciously perfect" in notes(truth=T, prediction=T + 1e-9 * RNG.normal(size=300))
    with pytest.warns(stakes.InputWarning, match="are the same column"):
        same = stakes.evaluate(truth=Y, prediction=Y)
    with pytest.raises(stakes.InputError, match="prediction is the truth itself"):
        stakes.gate(same, require="recall > 0")


def test_rare_classes_are_not_suspicious():
    rare = np.array([1] + [0] * 1999)
    assert "suspicious" not in notes(truth=rare, prediction=np.zeros(2000, int))


def test_several_classes():
    assert "score is the truth itself" in classes(ONE_HOT)
    assert "in every row, so it orders nothing" in classes(np.full((300, 3), 1 / 3))
    assert "below chance for 'a', 'b' and 'c'; give each class the" in classes(Q[:, [1, 2, 0]])
    assert "look like logits" in classes(10 * Q - 5)


def test_edges_majorities_logits_and_chance():
    assert "the threshold 0.5 lies at the edge of the scores" in notes(truth=Y, score=P / 10)
    assert "no better than always deciding for the most frequent class" in notes(truth=Y, prediction=1 - Y)
    assert "look like logits or margins" in notes(truth=Y, score=6 * P - 3, threshold=0)
    assert "covers chance" in notes(truth=Y, score=RNG.random(300))


# ── a constant score ─────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.filterwarnings("ignore:there are only")
@pytest.mark.parametrize("rows", [4, 40, 400])
@pytest.mark.parametrize("more", [{}, {"weight": 1}, {"cluster": 1}])
def test_a_constant_score_has_half_the_area_and_no_interval(rows, more):
    columns = {name: np.arange(rows) // 2 + 1 for name in more}
    ev = stakes.evaluate(truth=[0, 1] * (rows // 2), score=[0.3] * rows, **columns)
    for name, value in (("auc", 0.5), ("gini", 0)):
        assert (ev[name].value, ev[name].low) == (value, None)
        assert ev[name].no_interval == "every row has the same score, so nothing varies"


# ── where it is told ─────────────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture
def upside_down(tmp_path):
    file = tmp_path / "preds.csv"
    file.write_text("y,p,q\n" + "".join(f"{y},{1 - p},{p}\n" for y, p in zip(Y, P, strict=True)))
    return str(file)


@pytest.mark.parametrize("form", ["", "--json", "--markdown"])
def test_evaluate_tells_it_in_every_form(upside_down, form):
    done = CliRunner().invoke(cli, ["evaluate", upside_down, "--truth", "y", "--score", "p", *filter(None, [form])])
    assert "surely below chance" in " ".join(done.output.split())
    if form == "--json":
        assert any("surely below chance" in note for note in json.loads(done.output)["notes"])


def test_notebooks_comparisons_and_decisions_tell_it_too(upside_down):
    ev = stakes.evaluate(upside_down, truth="y", score="p")
    assert "surely below chance" in ev._repr_html_()
    both = stakes.compare(upside_down, truth="y", scores=["p", "q"])
    assert [note for note in both.notes if "below chance" in note] == [f"p: {ev.notes[0]}"]
    choice = ev.decide(stakes.Costs(miss=1, false_alarm=1))
    assert choice.cautions == (ev.notes[0],)
    assert "surely below chance" in str(choice)
    assert stakes.evaluate(upside_down, truth="y", score="q").decide(best="f1").cautions == ()
