"""What results answer as ordinary Python objects: names of figures, data frames, words, pictures."""

import numpy as np
import pytest

import stakes
from tests.command import run

RNG = np.random.default_rng(3)
Y = RNG.integers(0, 2, 60)
S = np.clip(0.3 * Y + 0.7 * RNG.random(60), 0, 1)
K = RNG.integers(0, 3, 60)


def test_figures_have_names():
    ev = stakes.evaluate(truth=Y, score=S)
    assert "auc" in ev
    assert "nonsense" not in ev
    assert 0 not in ev
    assert list(ev) == list(ev.figures)
    several = stakes.evaluate(truth=K, prediction=K[::-1], task="classification")
    assert "macro_recall" in several
    assert "recall" not in several  # of which class?


def test_calibrations_are_data_frames():
    found = stakes.evaluate(truth=Y, score=S).calibration
    frame, bins = found.to_frame(), found.reliability().bins
    assert list(frame["frequency"]) == bins.frequency.tolist()
    assert sum(frame["rows"]) == 60
    several = stakes.evaluate(truth=K, score=RNG.dirichlet([1, 1, 1], 60), classes=[0, 1, 2]).calibration
    assert list(several) == ["0", "1", "2"]
    assert set(several.to_frame()["class"]) == {"0", "1", "2"}


def test_findings_speak():
    found = stakes.evaluate(truth=Y, score=S).findings[0]
    assert str(found) == " ".join([found.question, *found.words])


@pytest.mark.parametrize("named", [False, True])
def test_costs_keep_their_unit(named):
    tables = {"1": {"1": 0, "0": 200}, "0": {"1": 15, "0": 0}}
    costs = stakes.Costs(tables, unit="€") if named else stakes.Costs(miss=200, false_alarm=15, unit="€")
    assert "costs: a miss €200, a false alarm €15" in " ".join(
        str(stakes.evaluate(truth=Y, score=S, costs=costs)).split()
    )
    paid = stakes.Costs(miss=200, false_alarm=15, unit="€")
    models = {"images": [[80, 20], [20, 80]]}
    system = stakes.System(classes=["sick", "healthy"], models=models, decide="images", costs=paid)
    assert "costs in €" in str(system)


@pytest.mark.parametrize(("miss", "alarm"), [("200 €", "15 €"), ("€200", "15"), ("200€", "€ 15")])
def test_amounts_with_a_unit(tmp_path, miss, alarm):
    (tmp_path / "a.csv").write_text("y,p\n1,0.9\n0,0.2\n1,0.6\n0,0.7\n")
    words = ["evaluate", str(tmp_path / "a.csv"), "--truth", "y", "--score", "p", "--positive", "1"]
    told = run(*words, "--miss", miss, "--false-alarm", alarm).stdout
    assert "a miss €200, a false alarm €15" in " ".join(told.split())
    assert "one unit" in run(*words, "--miss", miss, "--false-alarm", "15 USD").stderr


def test_plots_have_the_names_of_matplotlib(tmp_path):
    drawn = stakes.evaluate(truth=Y, score=S).plot("roc")
    assert (drawn.ax, drawn.figure) == (drawn.ax_, drawn.figure_)
    drawn.savefig(tmp_path / "roc.png")
    assert (tmp_path / "roc.png").stat().st_size > 1000


# ── words of other libraries, and scores that are percentages ────────────────────────────────────────────────────────
def test_names_of_other_libraries_are_translated_at_once(tmp_path):
    with pytest.raises(stakes.InputError, match=r"is called truth=, y_pred prediction=; pass those$"):
        stakes.evaluate(y_true=Y, y_pred=Y)
    with pytest.raises(stakes.InputError, match=r"costs=stakes\.Costs\(miss=5, false_alarm=1\)$"):
        stakes.evaluate(truth=Y, score=S, miss=5)
    told = run("evaluate", "a.csv", "--y-true", "y", "--y-pred", "p").stderr
    assert "has no option '--y-true'; here it is called --truth, --y-pred --prediction; pass those" in told


def test_scores_that_may_be_percentages_are_pointed_out():
    assert "percent=True" in str(stakes.evaluate(truth=Y, score=100 * S, threshold=50))
    for score in (S, 6 * S - 3, 1000 * S):
        assert "percent=True" not in str(stakes.evaluate(truth=Y, score=score, threshold=0.5))


# ── other languages ──────────────────────────────────────────────────────────────────────────────────────────────────
def test_segments_speak_the_language_of_the_whole():
    by = np.array(["a", "b"])[RNG.integers(0, 2, 60)]
    ev = stakes.evaluate(truth=Y, score=S, by=by, lang="ru")
    assert "сегмент" in str(ev.by_segment())
    assert "строк" in str(ev.segments["a"])
    numbers = stakes.evaluate(truth=S, prediction=S + Y, by=by, lang="es")
    assert "error absoluto medio" in str(numbers.by_segment())
    assert not {"mae", "rows"} & set(str(numbers.by_segment()).split())


def test_notes_are_told_in_the_language(tmp_path):
    (tmp_path / "kunden.csv").write_text("y;p\n1;90,5\n0;20\n1;60\n0;70\n")
    told = run("evaluate", tmp_path / "kunden.csv", "--truth", "y", "--score", "p", "--positive", "1", "--lang", "es")
    assert "kunden.csv se lee con campos" in " ".join(told.stdout.split())
    costs = ("--miss", "5", "--false-alarm", "1", "--percent")
    told = run(
        "decide", tmp_path / "kunden.csv", "--truth", "y", "--score", "p", "--positive", "1", *costs, "--lang", "ru"
    )
    assert "строках (0,6)" in " ".join(told.stdout.split())
    assert "incierto" in run("system", "demo:clinic_and", "--lang", "es").stdout
    assert "holds numbers" in run("count", tmp_path / "kunden.csv", "--truth", "y", "--lang", "es").stderr
