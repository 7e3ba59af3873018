"""Cautions: silent about healthy rows, and not fooled by what only looks suspicious."""

import re

import numpy as np
import pytest

import stakes
from stakes.findings.pages.figures import figures_section

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
    "upside down": (1 - P, "AUC is surely below chance"),
}


def notes(**columns):
    return " | ".join(stakes.evaluate(**columns).notes)


def classes(score):
    return notes(truth=K, score=score, classes=list("abc"))


def test_healthy_rows_have_no_notes():
    assert notes(truth=Y, score=P) == ""
    assert notes(truth=Y, prediction=(P > 0.5).astype(int)) == ""
    assert notes(truth=T, prediction=T + 0.2 * RNG.normal(size=300)) == ""
    assert [note for note in classes(Q).split(" | ") if not note.startswith("A kappa")] == []


@pytest.mark.parametrize(("score", "words"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("more", ["", "weight", "cluster"])
def test_scores_that_mean_something_else(score, words, more):
    columns = {"weight": RNG.random(300) + 0.5, "cluster": np.arange(300) // 5}
    ev = stakes.evaluate(truth=Y, score=score, **{name: columns[name] for name in columns if name == more})
    assert words in " | ".join(ev.notes)
    with pytest.raises(stakes.InputError, match=f"{words}.* A gate does not judge that"):
        stakes.gate(ev, require="recall > 0")


@pytest.mark.parametrize(("score", "words"), WRONG.values(), ids=WRONG)
def test_a_tally_and_bins_tell_the_same(score, words, tmp_path):
    assert words in notes(truth=Y, score=score, exact=False)
    stakes.count(truth=Y, score=score).save(tmp_path / "x.tally", min_cell=1)
    assert words in " ".join(stakes.evaluate(tmp_path / "x.tally").notes)


def test_a_perfect_order_of_many_scores_is_no_copy():
    perfect = Y + 0.1 * RNG.random(300)
    told = notes(truth=Y, score=perfect)
    assert "An AUC of 1.0000 is suspiciously perfect" in told
    assert "truth itself" not in told
    assert stakes.gate(stakes.evaluate(truth=Y, score=perfect), require="auc >= 0.9").passed


def test_decisions_and_numbers_that_are_all_right():
    assert "1.0000 for the accuracy is suspiciously perfect" in notes(truth=Y, prediction=Y.copy())
    assert "suspicious" not in notes(truth=Y[:20], prediction=Y[:20].copy())
    assert "prediction is the truth itself" in notes(truth=T, prediction=T.copy())
    assert "1.0000 for the R² is suspiciously" in notes(truth=T, prediction=T + 1e-9 * RNG.normal(size=300))
    with pytest.warns(stakes.InputWarning, match="are the same column"):
        same = stakes.evaluate(truth=Y, prediction=Y)
    with pytest.raises(stakes.InputError, match="prediction is the truth itself"):
        stakes.gate(same, require="recall > 0")


def test_rare_classes_are_not_suspicious():
    rare = np.array([1] + [0] * 1999)
    assert "suspicious" not in notes(truth=rare, prediction=np.zeros(2000, int))


@pytest.mark.filterwarnings("ignore:there are only")
@pytest.mark.parametrize("rows", [4, 40, 400])
@pytest.mark.parametrize("more", [{}, {"weight": 1}, {"cluster": 1}])
def test_a_constant_score_has_half_the_area_and_no_interval(rows, more):
    columns = {name: np.arange(rows) // 2 + 1 for name in more}
    ev = stakes.evaluate(truth=[0, 1] * (rows // 2), score=[0.3] * rows, **columns)
    for name, value in (("auc", 0.5), ("gini", 0)):
        assert (ev[name].value, ev[name].low) == (value, None)
        assert ev[name].no_interval == "every row has the same score, so nothing varies"


def test_comparisons_and_decisions_tell_of_wrong_scores():
    ev = stakes.evaluate(truth=Y, score=1 - P)
    both = stakes.compare(truth=Y, scores={"p": 1 - P, "q": P})
    assert [note for note in both.notes if "below chance" in note] == [f"“p”: {ev.notes[0]}"]
    assert [one.key for one in ev.decide(stakes.Costs(miss=1, false_alarm=1)).cautions] == ["caution.upside_down"]
    assert stakes.evaluate(truth=Y, score=P).decide(best="f1").cautions == ()


@pytest.mark.parametrize("wrong", [Y * 0.5, 1 - P, np.full(len(Y), 0.3)], ids=["leak", "upside down", "constant"])
@pytest.mark.parametrize("lang", ["en", "es", "ru"])
def test_the_headlines_of_a_comparison_say_what_is_wrong_and_tick_nothing(wrong, lang):
    found = stakes.compare(truth=Y, scores={"p": P, "odd": wrong}, margin=0.01, lang=lang)
    lines = str(found).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("✕"))
    _, _, said = lines[start].partition(": ")
    assert len(said) > 30
    assert "odd" in lines[start]
    assert not any(line.startswith("✓") for line in lines)


@pytest.mark.parametrize(
    ("lang", "said"),
    [("en", "a few rows carry this figure"), ("es", "unas pocas filas sostienen"), ("ru", "влияют немногие строки")],
)
def test_every_view_shows_that_a_few_rows_carry_a_figure(lang, said):
    truth = np.random.default_rng(3).normal(size=200)
    ev = stakes.evaluate(truth=truth, prediction=truth + np.random.default_rng(4).standard_t(1.2, 200), lang=lang)
    assert ev["mean_absolute_error"].note
    for shown in (str(ev), ev.to_markdown(), ev._repr_html_()):
        assert said in " ".join(shown.split())
        assert re.search(r"\d\\?\*", shown)  # the mark beside an end of the interval
    marked = {one["metric"]: one["note"] for one in ev.to_rows()}
    assert "a few rows carry this figure" in marked["mean_absolute_error"]
    assert marked["max_error"] == ""
    figures = {one["name"]: one.get("mark", "") for one in figures_section(ev)["figures"]}
    assert (figures["mean_absolute_error"], figures["max_error"]) == ("*", "")


@pytest.mark.parametrize(("slope", "follows"), [(1.0, True), (0.0, False), (-1.0, False)])
def test_predictions_follow_the_truth_only_where_the_correlation_surely_does(slope, follows):
    noise = np.random.default_rng(5).normal(size=300)
    said = notes(truth=T, prediction=30 + slope * T + 0.5 * noise)
    assert ("follow the truth, but shifted" in said) == follows


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_what_few_rows_are_does_not_depend_on_the_unit_of_weights(unit):
    random = np.random.default_rng(0)
    truth, weight = random.random((80, 2)) < 0.5, random.random(80) + 0.5
    asks = {"truth": truth, "prediction": truth}, {"truth": truth[:, 0], "score": truth[:, 0] * 0.8 + 0.1}
    for asked in asks:
        one, other = (stakes.evaluate(**asked, weight=weight * by) for by in (1, unit))
        assert {(said.key, said.tone) for said in one.findings} == {(said.key, said.tone) for said in other.findings}


@pytest.mark.parametrize("classes", [2, 3])
def test_no_bounds_are_told_of_an_area_that_there_is_not(classes):
    """A class without rows has no area, in bins neither; the note had holes where numbers belong."""
    names, score = ["a", "b", "c"][:classes], np.full((40, classes), 1 / classes)
    given = score[:, 0] if classes == 2 else dict(zip(names, score.T, strict=True))
    truth, more = np.array(["a", "b"])[np.arange(40) % 2 * (classes - 2)], {"positive": "a"} if classes == 2 else {}
    ev = stakes.evaluate(truth=truth, score=given, classes=names, exact=False, **more)
    assert not [note for note in ev.notes if "between – and –" in note or "nan" in note]
    assert not any(found.key.startswith("caution.bins") for found in ev.findings)
