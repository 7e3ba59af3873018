"""Bins are put together until no cell is small; such tables add up, and say nothing wrong."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, roc_auc_score

import stakes
from stakes import metrics
from stakes.tallies import ScoreTable, bins
from stakes.tallies.grid import Grid
from tests.parts import examples

HALF = bins.start("probability")


def sample(seed, rows, shape="sigmoid"):
    """Scores and truth of a model that is neither blind nor perfect."""
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < rng.choice([0.5, 0.2, 0.03])
    raw = rng.normal(size=rows) + 2 * truth - 1
    scores = {
        "sigmoid": 1 / (1 + np.exp(-raw)),
        "line": 3 * raw,
        "rare": 1 / (1 + np.exp(4 - raw)),
        "rounded": np.round(1 / (1 + np.exp(-raw)), 2),
        "near 1": 1 - np.abs(raw) * 2.0 ** -rng.integers(1, 60, rows) / 8,
        "tiny": np.abs(raw) * 2.0 ** -rng.integers(1, 1000, rows) / 8,
    }[shape]
    return scores, truth


SHAPES = ["sigmoid", "line", "rare", "rounded", "near 1", "tiny"]


def cells(table):
    """Every bin: where it begins, its positives and its negatives."""
    columns = table.as_columns()
    return list(zip(*(a.tolist() for a in (columns.scores, *list(columns.values.values())[:2])), strict=True))


def is_whole_side(table, edge):
    """Whether the bin that begins there is all of [0, ½), [½, 1] or the line."""
    number = table.grid.numbers(np.array([edge]))[0]
    found = [tuple(r) for r in table.grid.ranges.tolist() if r[0] == number]
    lowest, highest = bins.domain(table.grid.kind)
    wholes = [(lowest, highest + 1), (0, HALF), (HALF, highest + 1)]
    return bool(found) and found[0] in wholes


def check_cells(table, minimum):
    for edge, positives, negatives in cells(table):
        small = 0 < positives < minimum or 0 < negatives < minimum
        assert not small or is_whole_side(table, edge), (edge, positives, negatives)


def check_against_rows(table, scores, truth):
    """Edges that are left (of very many some) answer as the rows do, and the exact auc lies within the bounds."""
    edges = table.as_columns().scores.tolist()
    for threshold in edges[:: 1 + len(edges) // 12]:
        decided = scores >= threshold
        wanted = [[np.sum((truth == is_so) & (decided == said)) for said in (False, True)] for is_so in (False, True)]
        np.testing.assert_array_equal(table.at(threshold).counts, wanted)
    if 0 < truth.sum() < len(truth):
        low, high = metrics.auc_bounds(table)
        assert low - 1e-12 <= roc_auc_score(truth, scores) <= high + 1e-12


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("minimum", [1, 2, 10, 40])
@pytest.mark.parametrize("rows", [1, 12, 150, 3000])
@pytest.mark.parametrize("samples", [1, pytest.param(20, marks=pytest.mark.deep)])
@pytest.mark.spread(40)
def test_no_cell_is_small_and_none_is_wrong(shape, minimum, rows, samples):
    for seed in range(samples):
        scores, truth = sample(seed, rows, shape)
        table = ScoreTable.from_rows(scores, truth).anonymise(minimum)
        check_cells(table, minimum)
        check_against_rows(table, scores, truth)
        assert int(truth.sum()) == table.P
        assert rows - int(truth.sum()) == table.N


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rows", [(40, 700), (500, 500, 90), (3, 2000)])
def test_tables_whose_bins_differ_add_up(shape, rows):
    parts = [sample(seed, n, shape) for seed, n in enumerate(rows)]
    tables = [ScoreTable.from_rows(*part).anonymise(10) for part in parts]
    scores, truth = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    whole = ScoreTable.sum(tables)
    check_cells(whole, 10)
    check_against_rows(whole, scores, truth)
    assert whole == ScoreTable.sum(tables[::-1])
    assert whole == tables[0] + ScoreTable.sum(tables[1:])
    assert ScoreTable.from_dict(whole.to_dict()) == whole


@given(
    st.lists(st.tuples(st.integers(0, 60), st.booleans()), min_size=1, max_size=60),
    st.lists(st.tuples(st.integers(0, 60), st.booleans()), min_size=1, max_size=60),
    st.integers(1, 12),
    st.sampled_from(["probability", "line"]),
)
@examples(150)
def test_any_two_tables_keep_the_promise_of_small_cells(one, other, minimum, kind):
    """Scores on few edges, so that every way of meeting occurs."""
    edges = bins.edges(HALF - 30 + np.arange(61) if kind == "probability" else np.arange(61) * 9000 - 300000, kind)
    rows = [(edges[[s for s, _ in part]], np.array([t for _, t in part])) for part in (one, other)]
    tables = [ScoreTable.from_rows(*part).binned(kind).anonymise(minimum) for part in rows]
    for table, part in zip(tables, rows, strict=True):
        check_cells(table, minimum)
        check_against_rows(table, *part)
    whole = tables[0] + tables[1]
    check_cells(whole, minimum)
    check_against_rows(whole, *(np.concatenate(columns) for columns in zip(*rows, strict=True)))


def test_large_tables_stay_fine():
    """Putting together costs little: the bounds of the auc stay narrow, also of a sum."""
    scores, truth = sample(1, 100_000)
    table = ScoreTable.from_rows(scores, truth)
    low, high = metrics.auc_bounds(table.anonymise(10))
    assert high - low < 0.003
    halves = [ScoreTable.from_rows(scores[i::2], truth[i::2]).anonymise(10) for i in range(2)]
    low, high = metrics.auc_bounds(halves[0] + halves[1])
    assert high - low < 0.006


def test_a_few_rows_in_the_tail_do_not_spoil_the_rest():
    truth = np.arange(4000) % 2 == 0
    scores = np.where(truth, 0.3, 0.2) + np.arange(4000) / 40_000
    scores[:6] = [1e-9, 1e-9, 2e-9, 1e-7, 0.9, 0.95]
    table = ScoreTable.from_rows(scores, truth).anonymise(10)
    assert len(cells(table)) > 50
    assert table.at(0.5).tp == 1
    assert table.at(0.5).fp == 1  # the side above ½ is small, and one bin


def test_half_is_always_an_edge():
    scores, truth = sample(2, 400)
    table = ScoreTable.from_rows(scores, truth).anonymise(10_000)
    assert [edge for edge, _, _ in cells(table)] == [0.5, 0.0]
    np.testing.assert_array_equal(table.at(0.5).counts, confusion_matrix(truth, scores >= 0.5))
    line = ScoreTable.from_rows(3 * scores - 1, truth).anonymise(10_000)
    assert len(cells(line)) == 1
    with pytest.raises(stakes.InputError, match=r"lies inside a bin of this table.*and inf"):
        line.at(0.5)


def test_a_threshold_inside_bins_that_were_put_together_is_refused_with_their_edges():
    table = ScoreTable.from_rows(*sample(3, 300)).anonymise(20)
    edges = [0.5, *sorted(edge for edge, _, _ in cells(table) if edge > 0.5)]
    inside = (edges[0] + edges[1]) / 2
    assert not table.answers(inside)
    with pytest.raises(stakes.InputError, match=rf"the nearest that it can answer are {edges[0]!r} and {edges[1]!r}"):
        table.at(inside)
    assert table.answers(edges[1])
    assert table.answers(1.5)
    assert table.answers(math.inf)


def test_weighted_cells_are_judged_by_the_number_of_equal_rows():
    """Nineteen rows of weight 1 and one of 1,000 tell little more than one row."""
    weight = np.array([1.0] * 19 + [1000.0])
    scores = np.array([0.1, 0.2] * 10)
    table = ScoreTable.from_rows(scores, np.ones(20), weight).anonymise(5)
    assert [(edge, p) for edge, p, _ in cells(table)] == [(0.0, 1019.0)]
    even = ScoreTable.from_rows(scores, np.ones(20), np.full(20, 7.0)).anonymise(5)
    assert len(cells(even)) == 2
    rng = np.random.default_rng(0)
    scores, truth = rng.random(2000), rng.random(2000) < 0.4
    table = ScoreTable.from_rows(scores, truth, rng.exponential(size=2000)).anonymise(10)
    values = table.as_columns().values
    for name in ("positives", "negatives"):
        sums, squares = values[name], values[f"{name}_squared"]
        assert (sums[sums > 0] ** 2 / squares[sums > 0] >= 10 * (1 - 1e-9)).all()
    assert len(sums) > 20


def test_binning_again_changes_nothing():
    one, other = (ScoreTable.from_rows(*sample(seed, 900)).anonymise(10) for seed in (5, 6))
    assert one.anonymise(10) == one
    assert (one + other).anonymise(10) == one + other


def test_exact_counts_beyond_64_bits_can_be_put_together():
    big = ScoreTable.from_columns([0.9, 0.8, 0.1, 0.01], [2**62, 2**62, 2**62, 1], [2**62, 2**62, 2**62, 3])
    table = (big + big).anonymise(10)
    assert [positives for _, positives, _ in cells(table)] == [2**63, 2**63, 2**63 + 2]
    assert (table.P, table.N) == (3 * 2**63 + 2, 3 * 2**63 + 6)


# ── the grid ─────────────────────────────────────────────────────────────────────────────────────────────────────
def grid(*ranges):
    return Grid("line", np.array(ranges, np.int64).reshape(-1, 2))


def test_the_common_grid_is_the_finest_that_is_no_finer():
    assert grid().joined([grid()]) == grid()
    assert grid((0, 4), (8, 9)).joined([grid((2, 6))]) == grid((0, 6), (8, 9))
    assert grid((0, 4)).joined([grid((4, 6))]) == grid((0, 4), (4, 6))  # they touch, and stay two
    assert grid((0, 4), (4, 6)).joined([grid((3, 5))]) == grid((0, 6))
    assert grid((0, 9)).joined([grid((2, 3)), grid((5, 9))]) == grid((0, 9))


@given(st.lists(st.tuples(st.integers(-40, 40), st.integers(1, 20)), max_size=12), st.integers(0, 4))
def test_the_common_grid_against_putting_bins_together_one_by_one(pieces, cut):
    def disjoint(found):
        kept = []
        for first, size in sorted(found):
            if not kept or first >= kept[-1][1]:
                kept.append((first, first + size))
        return kept

    one, other = disjoint(pieces[:cut]), disjoint(pieces[cut:])
    leader = {number: number for number in range(-50, 80)}
    for first, stop in one + other:
        merged = {leader[n] for n in range(first, stop)}
        leader = {n: min(merged) if of in merged else of for n, of in leader.items()}
    joined = grid(*one).joined([grid(*other)])
    numbers = np.array(sorted(leader))
    np.testing.assert_array_equal(joined.numbers(bins.edges(numbers, "line")), [leader[n] for n in numbers.tolist()])


@pytest.mark.parametrize(
    "damage",
    [
        {"kind": "log"},
        {"ranges": [[4, 4]]},
        {"ranges": [[0, 4], [3, 6]]},
        {"ranges": [[0.5, 4]]},
        {"ranges": [[-1, 4]]},
        {"ranges": [[0, 2**40]]},
        {"ranges": [1, 2, 3]},
        {"ranges": None},
        {"bits": 16},
        {"bits": 7.5},
        {"bits": 7, "ranges": [[0, 3]]},
    ],
)
def test_a_damaged_grid_is_refused(damage):
    saved = ScoreTable.from_rows([0.25, 0.5], [1, 0]).binned().to_dict()
    assert ScoreTable.from_dict(saved).grid == Grid("probability")
    with pytest.raises(stakes.InputError, match="damaged"):
        ScoreTable.from_dict({**saved, "grid": {**saved["grid"], **damage}})


def test_scores_must_be_the_edges_of_what_was_put_together():
    saved = ScoreTable.from_rows([0.25, 0.5], [1, 0]).binned().to_dict()
    with pytest.raises(stakes.InputError, match="the scores are not on the grid"):
        ScoreTable.from_dict({**saved, "grid": {"kind": "probability", "ranges": [[HALF - 2**15 - 1, HALF]]}})


def test_the_bounds_of_the_auc_are_reached():
    """Ties in a bin are all lost, or all won: no bound is wider than it must be."""
    table = ScoreTable.from_rows([0.1] * 10 + [0.2] * 10, [0] * 10 + [1] * 10).anonymise(20)
    assert metrics.auc_bounds(table) == (0.0, 1.0)
    assert metrics.find("auc").of(table) == Fraction(1, 2)
