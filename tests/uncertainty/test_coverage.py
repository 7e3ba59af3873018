"""A small form of `make coverage`: intervals must cover the truth nearly as often as they say."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from stakes.uncertainty.shares import clopper_pearson, wilson

FILE = Path(__file__).parents[2] / "bench" / "coverage.py"


@pytest.fixture(scope="module")
def coverage():
    spec = importlib.util.spec_from_file_location("bench_coverage", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


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


@pytest.mark.deep  # the small form is the enumeration above; the table of the documents is read below
@pytest.mark.parametrize("words", ["two bells, prevalence 0.5", "five classes", "noise", "noise, heavy tails"])
def test_intervals_cover_and_are_not_too_wide(coverage, words):
    cell = next(cell for cell in coverage.cells() if cell.words == words and cell.n == 200)
    for name, found in cell.run(300, seed=1).items():
        assert found["coverage"] >= 0.95 - 3.5 * (0.95 * 0.05 / 300) ** 0.5, name  # 3.5 Monte Carlo errors
        assert 0.8 <= found["width"] <= 1.35, name
        assert found["without"] == 0, name


def test_the_true_figures_are_those_of_many_rows(coverage):
    import stakes

    (names, table), (others, scores) = coverage.draw_bells(400_000, 0.05, np.random.default_rng(0))
    truth = coverage.true_bells(0.05)
    for wanted, tally in ((names, table), (others, scores)):
        for name in wanted:
            assert stakes.metrics.find(name).of(tally) == pytest.approx(truth[name], rel=0.02), name


def test_the_table_in_the_documents_keeps_its_promise():
    """Wherever each class has 50 rows or more, 95 % intervals cover at least 93 %, within Monte Carlo error."""
    rows = [line.split("|")[1:-1] for line in (FILE.parents[1] / "docs" / "coverage.md").read_text().splitlines()]
    rows = [[cell.strip() for cell in row] for row in rows if len(row) == 6 and "%" in row[3]]
    large = [row for row in rows if not row[2].endswith("*")]
    assert len(rows) >= 60
    assert len(large) >= 30
    for name, _, n, covered, _, _ in large:
        assert float(covered.rstrip("%")) >= 92.5, (name, n)
