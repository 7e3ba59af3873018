"""A small form of `make coverage`: hard worlds with few samples, and what the table in the documents says."""

import math
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

import stakes
from stakes.uncertainty.interval import clopper_pearson, wilson

ROOT = Path(__file__).parents[2]
LAST = "What is not rescued"


@pytest.fixture(scope="module")
def bench():
    """The modules `coverage` and `worlds`, with truths from fewer points."""
    sys.path.insert(0, str(ROOT / "bench"))
    import coverage
    import worlds

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worlds, "NET", 16)
        yield coverage, worlds
    sys.path.remove(str(ROOT / "bench"))


def cell_of(coverage, words, figure):
    """The first cell of such a world, with this figure alone."""
    cell = next(cell for cell in coverage.ALL if cell.world.words.startswith(words) and figure in cell.figures)
    return replace(cell, figures=(figure,))


def summary(coverage, words, figure, runs):
    return cell_of(coverage, words, figure).run(runs, seed=1)[figure]


# ── covers ───────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("n", [50, 200])
def test_a_share_is_covered_as_often_as_enumeration_says(n):
    """The chance of every number of hits is known, so that this coverage has no Monte Carlo error."""
    hits = np.arange(n + 1)
    for share in (0.05, 0.2, 0.5, 0.7, 0.95):
        chances = binom.pmf(hits, n, share)
        low, high = wilson(hits / n, n, 0.95)
        assert 0.92 < chances[(low <= share) & (share <= high)].sum() < 0.98, share
        low, high = np.transpose([clopper_pearson(k / n, n, 0.95) for k in hits])
        assert chances[(low <= share) & (share <= high)].sum() >= 0.95, share


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "figure", "runs"),
    [
        ("auc 0.995, 50 positives", "auc", 250),
        ("30 clusters", "mcc", 100),
        ("normal errors", "r2", 100),
        pytest.param("half of 20 positives", "auc", 200, marks=pytest.mark.deep),
        pytest.param("lognormal truth", "relative_absolute_error", 120, marks=pytest.mark.deep),
        pytest.param(
            "15 positives of 300, a miss costs 50, honest", "cost, recommended threshold", 16, marks=pytest.mark.deep
        ),
        pytest.param("half positive", "f1", 100, marks=pytest.mark.deep),
    ],
)
def test_hard_worlds_are_covered(bench, words, figure, runs):
    """The limit is some two simulation errors below the 93 % that are promised; version 0.1 covers 76 to 89 %."""
    found = summary(bench[0], words, figure, runs)
    assert found.without == 0
    assert found.covered >= 0.93 - 2 * math.sqrt(0.93 * 0.07 / runs)
    assert found.width < 2.5


def test_equal_precision_is_seldom_rejected(bench):
    """Alarms of 2 % and of 32 % of the rows; swapping decisions within rows rejects a third of the samples."""
    found = summary(bench[0], "precision ½ both", "precision", 60)
    assert found.rejected <= 0.12
    assert found.contradictions == 0


@pytest.mark.deep  # the small form is above
def test_every_world_is_covered_or_is_one_that_nothing_rescues(bench):
    coverage, _ = bench
    promised = [cell for section in coverage.SECTIONS if section.title != LAST for cell in section.cells]
    for cell in promised:
        for figure, found in cell.run(300, seed=1).items():
            told = found.noted == 1 and not (found.rash or found.contradictions)  # each sample says: take it as rough
            assert found.kept or told, (cell.world.words, figure, found)


# ── p-values and intervals ───────────────────────────────────────────────────────────────────────────────────────
def two_classes(rng, n):
    truth = rng.random(n) < rng.choice([0.2, 0.5, 0.8])
    return {"truth": truth, "scores": {"a": np.round(rng.random(n), 2), "b": np.round((rng.random(n) + truth) / 2, 2)}}


def three_classes(rng, n):
    truth = rng.integers(0, 3, n)
    evidence = rng.exponential(size=(2, n, 3))
    evidence[1, np.arange(n), truth] += 0.5
    a, b = evidence / evidence.sum(axis=2, keepdims=True)
    return {"truth": truth, "scores": {"a": a, "b": b}, "classes": [0, 1, 2]}


def positive_numbers(rng, n):
    truth = rng.lognormal(size=n)
    errors = rng.lognormal(sigma=(0.3, 0.5), size=(n, 2)).T
    return {"truth": truth, "predictions": {name: truth * error for name, error in zip("ab", errors, strict=True)}}


def comparable(rows):
    """The names of all figures of such rows that have a better side."""
    one = {name.rstrip("s") if name in ("scores", "predictions") else name: column for name, column in rows.items()}
    one |= {name: one[name]["a"] for name in ("score", "prediction") if name in one}
    names = stakes.evaluate(**one).figures
    return [name for name in names if stakes.metrics.find(name).better != "neither"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        two_classes,
        three_classes,
        positive_numbers,
    ],
)
def test_p_agrees_with_the_interval_for_every_figure(make):
    rng = np.random.default_rng(21)
    wrong = []
    rows = make(rng, 30)  # few rows, weights and clusters: test_paired.py
    both = stakes.compare(**rows, metric=comparable(rows), resamples=200)
    for pair in both.pairs:
        if pair.low is not None and pair.p_value is not None:
            apart = pair.low > 0 or pair.high < 0
            wrong += [pair] if apart != (pair.p_value < 0.05) else []
    assert not wrong


# ── the bench itself ─────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("words", "figure", "truth"),
    [
        ("auc 0.98, 50 positives", "auc", 0.98),
        ("half of 10 positives", "auc", 0.25 + 0.5 * ndtr(5 / math.sqrt(2))),
        ("lognormal weights", "recall", 0.8),
        ("30 clusters", "auc", ndtr(1.5 / math.sqrt(2))),
        ("20 classes", "macro_recall", 0.7),
        ("15 positives of 300, a miss costs 50, decisions", "expected_cost", 0.05 * 0.15 * 50 + 0.95 * 0.3),
        ("t₃ errors", "r2", 1 - 0.25 * 3),
        ("precision ½ both", "precision", 0),
        ("few and many alarms", "f1", 0),
        ("5 classes, each model", "macro_f1", 0),
    ],
)
def test_true_figures_are_those_of_a_formula(bench, words, figure, truth):
    assert cell_of(bench[0], words, figure).truths()[figure] == pytest.approx(truth, rel=0.01, abs=0.001)


def test_a_sample_is_drawn_from_the_world_whose_truth_is_known(bench):
    """Many rows have the figures that the net gives, weighted, clustered or with fixed classes alike."""
    coverage, _ = bench
    for words in ("lognormal weights", "40 clusters", "100 of 200 positive", "5 classes, 70 % right"):
        cell = next(cell for cell in coverage.ALL if words in cell.world.words)
        large = replace(cell.world, rows=60_000, clusters=10_000 if cell.world.clusters else 0)
        rows = large.sample(np.random.default_rng(0))
        rows.pop("cluster", None)
        for figure, truth in cell.truths().items():
            assert stakes.evaluate(**rows)[figure].value == pytest.approx(truth, abs=0.01), (words, figure)


def test_the_bench_counts_rightly(bench):
    """Covered, rejected, contradicted, noted, none: by hand."""
    from cells import Outcome, Summary

    outcomes = [
        Outcome(1, 0.5, 1.5, True, p=0.001),
        Outcome(-1, -1.5, 0.5, p=0.2),
        Outcome(2, 1.5, 2.5, p=0.2),
        Outcome(0, p=0.04),
    ]
    found = Summary.of(outcomes, truth=0.6, confidence=0.95)
    assert (found.runs, found.contradictions, found.noted, found.without) == (4, 1, 0.25, 0.25)
    assert found.covered == pytest.approx(1 / 3)
    assert found.rejected == 0.5
    assert found.width == pytest.approx((1 + 2 + 1) / 3 / (2 * 1.959964 * np.std([1, -1, 2, 0])))
    assert not found.kept


# ── the page ─────────────────────────────────────────────────────────────────────────────────────────────────────
def lines_of_the_page():
    """The section and the cells of every line of a table."""
    section = ""
    for line in (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8").splitlines():
        section = line[3:] if line.startswith("## ") else section
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) >= 7 and "±" in line:
            yield section, cells


def test_the_page_has_every_cell_and_counts_what_falls_short(bench):
    lines = list(lines_of_the_page())
    assert len(lines) == sum(len(cell.figures) for cell in bench[0].ALL)
    text = " ".join((ROOT / "docs" / "coverage.md").read_text(encoding="utf-8").split())
    told = re.search(r"Of (\d+) lines (\d+) keep less", text)
    assert [int(count) for count in told.groups()] == [len(lines), sum("**" in "".join(cells) for _, cells in lines)]


def test_the_page_keeps_its_promise():
    """Outside the worlds that nothing rescues, what is covered too rarely has a note in every sample, or none."""
    short = [cells for section, cells in lines_of_the_page() if "**" in "".join(cells) and section != LAST]
    assert len(short) <= 7
    assert all(sum(int(cell.removesuffix("%")) for cell in cells[-2:]) == 100 for cells in short)
