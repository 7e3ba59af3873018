import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

import stakes
from stakes.metrics import auc_bounds
from stakes.tallies import ScoreTable, bins, keys
from stakes.tallies.grid import Grid
from stakes.tallies.keys import BLOCK, order_of
from stakes.tallies.population import Population
from stakes.tallies.pricing import Frequencies
from stakes.uncertainty.scores import order_bounds
from tests.parts import complete, examples

finite = st.floats(allow_nan=False, allow_infinity=False)
rows_of = st.lists(st.tuples(st.booleans(), finite), min_size=1, max_size=30)
coarse = st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=1, max_size=30)


def table_of(rows, dtype=float) -> ScoreTable:
    return ScoreTable.from_rows(np.array([s for _, s in rows], dtype), [y for y, _ in rows])


def as_columns(table) -> ScoreTable:
    return ScoreTable(table.positive, table.negative, table.as_columns(), table.grid)


def brute(rows, threshold) -> tuple[int, int, int, int]:
    tp = sum(y and s >= threshold for y, s in rows)
    fp = sum(not y and s >= threshold for y, s in rows)
    return tp, sum(y for y, _ in rows) - tp, fp, sum(not y for y, _ in rows) - fp


def four(table) -> tuple:
    return table.tp, table.fn, table.fp, table.tn


@examples(300)
@given(rows=st.one_of(rows_of, coarse), extra=finite)
def test_each_threshold_has_its_confusion_table(rows, extra):
    table = table_of(rows)
    assert table.thresholds.tolist() == [math.inf, *sorted({s + 0.0 for _, s in rows}, reverse=True)]
    tables = table.confusions()
    for i, threshold in enumerate(table.thresholds):
        assert four(table.at(threshold)) == brute(rows, threshold) == four(tables[i])
    assert four(table.at(extra)) == brute(rows, extra)


@examples(100)
@given(rows=coarse, split=st.integers(0, 30), seed=st.integers(0, 9))
def test_parts_add_up_to_the_whole_in_any_order(rows, split, seed):
    order = np.random.default_rng(seed).permutation(len(rows))
    parts = [[rows[i] for i in half] for half in (order[:split], order[split:]) if len(half)]
    assert ScoreTable.sum([table_of(part) for part in parts]) == table_of(rows)
    assert ScoreTable.sum([as_columns(table_of(part)) for part in parts]) == table_of(rows)


def test_parts_of_different_widths_and_signs_add_up():
    narrow = ScoreTable.from_rows(np.array([0.5, 0.25], np.float32), [1, 0])
    wide = ScoreTable.from_rows(np.array([0.1, 0.25]), [0, 1])
    signed = ScoreTable.from_rows(np.array([-2.0, 3.0]), [0, 1])
    assert narrow + wide + signed == ScoreTable.from_rows([0.5, 0.25, 0.1, 0.25, -2.0, 3.0], [1, 0, 0, 1, 0, 1])


@pytest.mark.parametrize("make", ["packed", "columns", "weighted", "binned", "stacked", "extra"])
def test_a_table_saves_itself(make):
    scores, truth = np.array([0.1, 0.7, 0.7, 1e-300, 0.35]), [0, 1, 0, 1, 1]
    packed = ScoreTable.from_rows(scores, truth)
    table = {
        "packed": packed,
        "columns": as_columns(packed),
        "weighted": ScoreTable.from_rows(scores, truth, [1, 2, 0.3, 4, 5]),
        "binned": packed.binned(),
        "stacked": ScoreTable.stack([packed, packed + packed]),
        "extra": ScoreTable.from_rows(scores, truth, extra={"cost": np.array([5.0, 1, 2, 3, 4])}),
    }[make]
    assert ScoreTable.from_dict(json.loads(json.dumps(table.to_dict()))) == table


def test_extra_columns_add_up_with_the_rest():
    table = ScoreTable.from_rows([0.5, 0.2, 0.5], [1, 0, 0], extra={"cost": np.array([10.0, 1, 5])})
    assert table.as_columns().scores.tolist() == [0.5, 0.2]
    assert table.as_columns().values["cost"].tolist() == [15, 1]
    assert (table + table).as_columns().values["cost"].tolist() == [30, 2]


def test_weighted_tables_keep_the_squares():
    table = ScoreTable.from_rows([0.5, 0.2, 0.5, 0.5], [1, 0, 0, 1], [2, 1, 3, 4])
    values = table.as_columns().values
    assert values["positives"].tolist() == [6, 0]
    assert values["positives_squared"].tolist() == [20, 0]
    assert values["negatives_squared"].tolist() == [9, 1]
    assert table.confusions()[1] == table.at(0.5)
    at = table.at(0.5)
    assert (float(at.tp), float(at.fp)) == (6, 3)
    assert at.squares.tolist() == [[1, 9], [0, 20]]


def test_different_questions_do_not_add_up():
    one = ScoreTable.from_rows([0.5], [1])
    with pytest.raises(stakes.InputError, match="the grid of bins is 'none' in one and 'probability' in the other"):
        _ = one + one.binned()
    with pytest.raises(stakes.InputError, match="weighting is 'unweighted'"):
        _ = one + ScoreTable.from_rows([0.5], [1], [2.0])
    with pytest.raises(stakes.InputError, match="the positive class is 'positive' in one and 'yes' in the other"):
        _ = one + ScoreTable.from_rows([0.5], [1], positive="yes")


def test_what_was_not_saved_by_us_is_refused():
    saved = ScoreTable.from_rows([0.5], [1]).to_dict()
    with pytest.raises(stakes.InputError, match="damaged"):
        ScoreTable.from_dict({**saved, "grid": "log"})
    for damage in (
        {"columns": {"positives": [1]}},
        {"columns": [1]},
        {"columns": {"positives": [1, 2], "negatives": [0, 0]}},
        {"columns": {"positives": ["a"], "negatives": [0]}},
        {"scores": ["x"]},
        {"scores": [[0.5]]},
        {"grid": "probability", "scores": [0.3]},
    ):
        with pytest.raises(stakes.InputError, match="damaged"):
            ScoreTable.from_dict({**saved, **damage})
    with pytest.raises(stakes.InputError, match="some positives are negative or not numbers"):
        ScoreTable.from_dict({**saved, "columns": {"positives": [-1], "negatives": [3]}})
    with pytest.raises(stakes.InputError, match="score is missing"):
        ScoreTable.from_dict({**saved, "scores": [math.nan]})
    with pytest.raises(stakes.InputError, match="give two different classes"):
        ScoreTable.from_dict({**saved, "negative": "positive"})


def test_a_table_is_frozen():
    table = ScoreTable.from_rows([0.5, 0.2], [1, 0])
    with pytest.raises(ValueError, match="read-only"):
        table.store.values[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        table.as_columns().values["positives"][0] = 9
    with pytest.raises(TypeError):
        table.as_columns().values["more"] = 1
    mine = np.array([1.0, 2.0])
    ScoreTable.from_rows(mine, [0, 1], [1.0, 2.0])
    assert mine.flags.writeable


# ── keys ─────────────────────────────────────────────────────────────────────────────────────────────────────────
@examples(300)
@given(rows=rows_of)
def test_keys_keep_every_score_and_label(rows):
    scores = np.array([s for _, s in rows])
    packed = keys.pack(scores, np.array([y for y, _ in rows]))
    if packed is None:  # no layout holds them all; the table falls back on columns
        assert any(s < 0 or str(s) == "-0.0" for s in scores)
        assert any(s != 0 and not 2.0**-510 <= abs(s) < 2.0**512 for s in scores)
        return
    walked = [make() for make in packed.blocks()]
    kept = [(s, p, n) for w in walked for s, p, n in zip(w.scores, w.positives, w.negatives, strict=True)]
    found = sorted((float(s), label) for s, p, n in kept for label in [1] * p + [0] * n)
    assert found == sorted((s + 0.0, int(y)) for y, s in rows)
    assert [s for s, _, _ in kept] == sorted({s + 0.0 for s in scores}, reverse=True)


@pytest.mark.parametrize(
    ("scores", "layout"),
    [
        (np.array([0.5, 0.0]), "float64"),
        (np.array([0.5, 1e308]), "float64"),
        (np.array([0.5, 0.0], np.float32), "float32"),
        (np.array([0.5, 0.0], np.float16), "float32"),
        (np.array([-0.5, 7.0]), "signed"),
        (np.array([-0.5, 7.0], np.float32), "signed"),
        (np.array([-0.0, 0.5]), "float64"),
        (np.array([-0.0, 0.5], np.float32), "float32"),
    ],
)
def test_each_kind_of_score_has_its_layout(scores, layout):
    assert keys.pack(scores, np.array([True, False])).layout.name == layout


@pytest.mark.parametrize("scores", [[-1.0, 1e-300], [-1e300, 1.0], [-1.0, 5e-324]])
def test_scores_that_no_layout_holds_are_still_ordered(scores):
    assert keys.pack(np.array(scores), np.array([True, False])) is None
    assert stakes.metrics.auc([1, 0], scores) == float(scores[0] > scores[1])


@pytest.mark.parametrize("faster", [True, False])
def test_both_sorts_sort(faster, monkeypatch):
    monkeypatch.setattr(keys, "_polars_is_faster", lambda: faster)
    values = np.random.default_rng(0).integers(0, 1 << 63, (1 << 20) + 3, dtype=np.uint64)
    assert np.array_equal(keys.sort(values.copy()), np.sort(values))


# ── blocks ───────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("distinct", [1, 2, 7, 500, 10**9])
@pytest.mark.parametrize("size", [BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5])
def test_blocks_never_cut_a_tie_and_lose_no_row(size, distinct):
    rng = np.random.default_rng(size)
    scores = rng.integers(0, distinct, size) / 7
    truth = rng.random(size) < 0.3
    packed = ScoreTable.from_rows(scores, truth)
    for table in (packed, as_columns(packed)):
        walked = list(table.steps())
        joined = np.concatenate([s.scores for s in walked])
        assert np.array_equal(joined, np.unique(scores)[::-1])
        assert sum(int(s.positives.sum()) for s in walked) == truth.sum()
        assert (walked[-1].tp[-1], walked[-1].fp[-1]) == (truth.sum(), (~truth).sum())
    for ours, theirs in zip(packed.steps(), as_columns(packed).steps(), strict=True):
        assert np.array_equal(ours.scores, theirs.scores)


# ── bins ─────────────────────────────────────────────────────────────────────────────────────────────────────────
@examples(300)
@given(value=st.floats(0, 1))
def test_a_probability_lies_in_its_bin(value):
    low = float(Grid("probability").lower_edges(np.array([value]))[0])
    high = bins.next_edge(low, "probability")
    assert low <= value
    assert value < high or value == low == 1
    assert Grid("probability").lower_edges(np.array([low]))[0] == low
    size = min(value, 1 - value)
    assert high - low <= max(2.0**-15 * size * 1.0001, 2.0**-53) or value == 1


@examples(300)
@given(value=finite)
def test_a_number_lies_in_its_bin(value):
    low = float(Grid("line").lower_edges(np.array([value]))[0])
    assert low <= value < bins.next_edge(low, "line")
    assert Grid("line").lower_edges(np.array([low]))[0] == low


@examples(200)
@given(values=st.lists(st.floats(0, 1), min_size=2, max_size=9), grid=st.sampled_from(bins.GRIDS))
def test_bins_keep_the_order(values, grid):
    edges = Grid(grid).lower_edges(np.sort(values))
    assert (np.diff(edges) >= 0).all()


@examples(300)
@given(value=st.floats(0, 1), bits=st.integers(0, 15), grid=st.sampled_from(bins.GRIDS))
def test_of_fewer_bits_bins_are_wider(value, bits, grid):
    coarse = Grid(grid, bits=bits)
    low = coarse.lower_edges(np.array([value]))
    assert low == bins.edges(bins.numbers(np.array([value]), grid, bits), grid, bits)
    assert coarse.around(value) == (float(low[0]), bins.next_edge(float(low[0]), grid, bits))
    high = float(coarse.upper_edges(low)[0])
    assert value < high or value == low == high == 1 or (grid == "probability" and high - value < 2**-52)
    fine = Grid(grid)
    assert fine.lower_edges(np.array([value])) >= low
    assert coarse.joined([fine]) == fine.joined([coarse]) == coarse
    assert Grid.restored(coarse.saved()) == coarse


def test_tables_of_wider_bins_are_the_grid_of_a_sum():
    rng = np.random.default_rng(8)
    scores, truth = rng.random(5_000), rng.random(5_000) < 0.4
    whole = ScoreTable.from_rows(scores, truth)
    parts = [ScoreTable.from_rows(scores[half], truth[half]) for half in (slice(2_000), slice(2_000, None))]
    coarse = parts[0]._on(Grid("probability", bits=7))
    added = ScoreTable.sum([coarse, parts[1].binned()])
    assert added.grid == Grid("probability", bits=7)
    assert ScoreTable.from_dict(added.to_dict()) == added
    np.testing.assert_array_equal(added.as_columns().scores, whole._on(added.grid).as_columns().scores)
    private = coarse.anonymise(10)
    counts = private.as_columns().counts("")
    assert counts[counts > 0].min() >= 10
    assert private.grid.bits == 7
    assert (private.grid.ranges[:, 0] % 2**8 == 0).all()
    assert (private.P, private.N) == (coarse.P, coarse.N)
    assert coarse.on_grid("line").grid == Grid("line", bits=7)


@pytest.mark.parametrize("draw", ["uniform", "rare", "logits"])
def test_binned_tables_bound_the_auc(draw):
    rng = np.random.default_rng(7)
    n = 200_000
    scores = {"uniform": rng.random(n), "rare": rng.beta(0.1, 50, n), "logits": rng.normal(size=n)}[draw]
    truth = rng.random(n) < (0.3 + 0.4 * (scores > np.median(scores)))
    table = ScoreTable.from_rows(scores, truth)
    low, high = auc_bounds(table.binned())
    assert low <= stakes.metrics.auc(table) <= high
    assert high - low < 2e-5
    assert low <= stakes.metrics.auc(table.binned()) <= high
    assert table.binned().binned() == table.binned()


def test_bins_of_parts_are_the_bins_of_the_whole():
    rng = np.random.default_rng(8)
    scores, truth = rng.random(5000), rng.random(5000) < 0.5
    one, two = (ScoreTable.from_rows(scores[part], truth[part]) for part in (slice(0, 99), slice(99, None)))
    assert one.binned() + two.binned() == (one + two).binned()


def test_a_binned_table_answers_thresholds_on_its_edges_only():
    table = ScoreTable.from_rows([0.2, 0.1, 0.5, 0.9, 0.8], [0, 1, 0, 1, 1]).binned()
    assert four(table.at(0.5)) == (2, 1, 1, 1)
    assert four(table.at(0.75)) == (2, 1, 0, 2)
    assert four(table.at(2.0)) == (0, 3, 0, 2)
    with pytest.raises(stakes.InputError, match=r"threshold=0\.3 lies inside a bin of this table; the nearest"):
        table.at(0.3)


LOSSES = ("brier_score", "log_loss", "normalised_brier_score", "normalised_log_loss")


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_those_of_the_scores_in_any_bins_and_add_up(name):
    figure, rng = stakes.metrics.find(name).of, np.random.default_rng(1)
    scores, truth, weight = rng.beta(0.3, 2, 900), rng.random(900) < 0.3, rng.random(900)
    for unit in (None, weight):
        table = ScoreTable.from_rows(scores, truth, unit)
        assert figure(table.binned()) == pytest.approx(figure(table), rel=1e-13)
        assert figure(table.binned().anonymise(10)) == pytest.approx(figure(table), rel=1e-13)
    pieces = np.array_split(np.arange(900), 3)
    parts = [ScoreTable.from_rows(scores[p], truth[p], weight[p]).binned() for p in pieces]
    assert figure(sum(parts)) == pytest.approx(figure(table), rel=1e-13)
    stacked = ScoreTable.stack(parts)
    assert [*figure(stacked), figure(stacked[1])] == pytest.approx([*map(figure, parts), figure(parts[1])], rel=1e-13)
    again = ScoreTable.from_dict(json.loads(json.dumps(parts[0].to_dict())))
    assert figure(again) == figure(parts[0])


def test_losses_in_bins_follow_a_prior():
    rng = np.random.default_rng(2)
    score = rng.beta(0.5, 2, 2000)
    truth = (rng.random(2000) < score).astype(int)
    exact, binned = (stakes.evaluate(truth=truth, score=score, prior=0.05, exact=kept) for kept in (True, False))
    for name in LOSSES:
        assert binned[name].value == pytest.approx(exact[name].value, rel=1e-12)
        assert (binned[name].low, binned[name].high) == pytest.approx((exact[name].low, exact[name].high), rel=1e-6)
    given = {"truth": truth, "score": score, "training_prior": 0.5}
    exact, binned = (stakes.evaluate(**given, exact=kept) for kept in (True, False))
    for name in LOSSES:
        assert binned[name].value == pytest.approx(exact[name].value, rel=1e-6)


def test_corrected_losses_of_stacked_tables_are_those_of_each():
    rng = np.random.default_rng(2)
    score, truth = rng.random(900), rng.random(900) < 0.4
    parts = [ScoreTable.from_rows(score[p], truth[p]).binned() for p in np.array_split(np.arange(900), 3)]
    there = Population.of_frequencies(Frequencies(0.05, 0.5), ["0", "1"], "1", (Fraction(1, 2), Fraction(1, 2)))
    stacked = there.of(ScoreTable.stack(parts))
    assert stacked.losses == pytest.approx(np.stack([there.of(part).losses for part in parts]))


def test_a_certain_and_wrong_probability_is_infinitely_surprising_in_bins_too():
    table = ScoreTable.from_rows([0.0, 0.7], [1, 0]).binned()
    saved = json.loads(json.dumps(table.to_dict(), allow_nan=False))
    for one in (table, ScoreTable.from_dict(saved)):
        assert stakes.metrics.find("log_loss").of(one) == math.inf
    assert stakes.metrics.find("brier_score").of(table) == pytest.approx((1 + 0.49) / 2)


def test_bins_counted_without_losses_have_none_and_say_why():
    saved = ScoreTable.from_rows([0.2, 0.7], [0, 1]).binned().to_dict()
    del saved["losses"]
    old = ScoreTable.from_dict(saved)
    assert math.isnan(stakes.metrics.find("brier_score").of(old))
    assert "counted in bins" in stakes.metrics.find("brier_score").why_undefined(old)
    assert math.isnan(stakes.metrics.find("brier_score").of(old + old.binned()))


def test_the_average_precision_of_scores_in_bins_lies_within_its_bounds():
    """Rows of a bin may have had any order and any ties: all of them for five rows, as scikit-learn counts them."""
    bounds, truth = stakes.metrics.find("average_precision").one_row.bounds, np.array([1, 0, 1, 1, 0])
    scores = np.array([1, 1, 1, 0, 0])
    finer = [scores + np.array(step) / 9 for step in itertools.product(range(3), repeat=5)]
    every = {average_precision_score(truth, one) for one in finer}
    assert bounds(ScoreTable.from_rows(scores, truth)) == pytest.approx((min(every), max(every)), rel=1e-12)


def test_the_losses_of_a_few_rows_do_not_travel():
    scores, truth = np.linspace(0.1, 0.9, 50), np.arange(50) < 3
    assert ScoreTable.from_rows(scores, truth).anonymise(10).losses is None  # three rows would tell their scores
    assert ScoreTable.from_rows(scores, truth).anonymise(3).losses is not None


# ── leading axes ─────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_leading_axis_can_be_taken_apart():
    one = ScoreTable.from_rows([0.5, 0.2], [1, 0])
    two = ScoreTable.from_rows([0.5, 0.7, 0.1], [0, 1, 1])
    stacked = ScoreTable.stack([one, two])
    assert stacked.leading == (2,)
    assert stacked.P.tolist() == [1, 2]
    assert stacked[1].at(0.5) == two.at(0.5)
    assert stacked.at(0.5).tp.tolist() == [1, 1]
    assert stacked.confusions().counts.shape == (2, 5, 2, 2)
    with pytest.raises(TypeError, match="no leading axis"):
        one[0]


def test_it_prints_what_it_is():
    assert str(ScoreTable.from_rows([0.5], [1])) == "<ScoreTable of 1 rows ('positive' against 'negative'), exact>"
    assert "binned on the probability grid" in str(ScoreTable.from_rows([0.5], [1]).binned())


# ── sizes and kinds ──────────────────────────────────────────────────────────────────────────────────────────────
def test_big_integers_stay_exact_in_sums_and_stacks():
    days = [
        (np.array([2**62 + 1, 2**62]), [1, 0]),
        (np.array([2**63 + 1, 2**63], np.uint64), [1, 0]),
        (np.array([3, 2]), [0, 1]),
        (np.array([0.5, 2.0**63]), [1, 0]),
    ]
    whole = ScoreTable.sum([ScoreTable.from_rows(*day) for day in days])
    assert [int(t) for t in whole.thresholds[1:6]] == [2**63 + 1, 2**63, 2**62 + 1, 2**62, 3]
    assert whole.thresholds[-1] == 0.5
    assert (whole.at(2**63 + 1).PP, whole.at(2**63).PP) == (1, 3)
    stacked = ScoreTable.stack([ScoreTable.from_rows(*day) for day in days[:2]])
    assert stacked.as_columns().values["positives"].tolist() == [[0, 0, 1, 0], [1, 0, 0, 0]]


def test_counts_that_pass_64_bits_when_added():
    big = ScoreTable.from_columns([0.9, 0.1], [2**62, 1], [1, 2**62])
    assert (big + big + big).P == 3 * (2**62 + 1)
    assert stakes.metrics.auc(big + big + big) == stakes.metrics.auc(big)


@pytest.mark.parametrize("weight", [None, []])
def test_no_rows_are_a_table_too(weight):
    nothing = ScoreTable.from_rows([], [], weight)
    assert nothing.total == 0
    assert not nothing.probabilities
    assert nothing.thresholds.tolist() == [math.inf]
    assert ScoreTable.from_dict(nothing.to_dict()) == nothing
    assert nothing.binned("line").total == 0
    for metric in map(complete, stakes.metrics.catalogue()):
        if metric.tally is ScoreTable:
            assert math.isnan(metric.of(nothing))
    if weight is None:
        some = ScoreTable.from_rows([0.5, 0.4], [1, 0])
        assert nothing + some == some


def test_the_grid_can_be_chosen_so_that_days_add_up():
    calm, wild = ScoreTable.from_rows([0.2, 0.7], [0, 1]), ScoreTable.from_rows([-3.0, 4.0], [0, 1])
    assert (calm.binned("line") + wild.binned("line")).total == 4
    with pytest.raises(stakes.InputError, match=r"grid='probability' does not hold scores from -3 to 4; the grids are"):
        wild.binned("probability")


def test_weighted_totals_do_not_drift():
    weight = np.full(10**5 + 1, 0.1)
    table = ScoreTable.from_rows(np.linspace(0, 1, 10**5 + 1), np.ones(10**5 + 1), weight)
    assert float(table.P) == math.fsum(weight)
    assert float(table.at(0).tp) == pytest.approx(math.fsum(weight), rel=1e-15)
    assert table.as_columns().cumulated("positives")[-1] == pytest.approx(math.fsum(weight), rel=1e-15)


def test_keys_and_columns_are_compressed_alike():
    rng = np.random.default_rng(5)
    scores, truth = rng.integers(0, 300, 5000) / 512, rng.random(5000) < 0.3
    keys = ScoreTable.from_rows(scores, truth)
    columns = ScoreTable.from_dict(keys.to_dict())
    assert type(keys.store) is not type(columns.store)
    assert keys.compressed() == columns.compressed()
    assert 100 < len(columns.compressed().as_columns().scores) < 300


def test_order_is_that_of_a_stable_sort():
    rng = np.random.default_rng(8)
    close = 1 + rng.random(3000) * 1e-13  # told apart by their last bits only
    signs = rng.normal(size=3000) * 10.0 ** rng.integers(-300, 300, 3000)
    runs = np.sort(rng.integers(0, 99, (3, 1000)).astype(float)).ravel()  # a few of ascending numbers, with ties
    plain = rng.random(3000), np.repeat(rng.random(30), 100), np.zeros(3000), rng.random(9)
    for values in (*plain, close, signs, runs):
        assert np.array_equal(order_of(values), np.argsort(values, kind="stable"))


@pytest.mark.parametrize("weighted", [False, True])
def test_bins_are_cut_where_more_is_known(weighted):
    rng = np.random.default_rng(3)
    scores, truth, weight = 0.3 + 1e-4 * rng.random(400), rng.random(400) < 0.4, rng.integers(1, 5, 400) / 4
    exact = stakes.ScoreTable.from_rows(scores, truth, weight if weighted else None)
    binned, inside = exact.binned(), np.sort(scores)[[100, 101, 300]].tolist()
    nowhere = 0.7000001  # no row lies in that bin
    cut = binned.cut_at({at: exact.at(at) for at in (*inside, nowhere)})
    for at in (*inside, nowhere, *binned.thresholds[1::9]):
        for name in ("counts", "squares") if weighted else ("counts",):
            wanted = getattr((exact if at in (*inside, nowhere) else binned).at(at), name)
            assert getattr(cut.at(at), name) == pytest.approx(wanted, abs=1e-12)
    assert float(cut.total) == pytest.approx(float(exact.total))
    assert not cut.answers(math.nextafter(inside[0], 1))
    assert stakes.ScoreTable.sum([cut, binned]) == stakes.ScoreTable.sum([binned, binned])
    assert stakes.ScoreTable.from_dict(cut.saved()) == binned
    assert cut.anonymise(5) == binned.anonymise(5)


@given(st.integers(0, 1000), st.integers(2, 5))
def test_no_weight_is_left_where_there_are_no_rows(seed, spread):
    """What is left of a difference of sums is not a decision, and no figure may be made of it."""
    rng = np.random.default_rng(seed)
    score, truth, weight = rng.integers(0, 6, 40) / 5, rng.random(40) < 0.5, np.exp(rng.normal(0, spread, 40))
    table = ScoreTable.from_rows(score, truth, weight)
    thresholds = np.append(np.unique(score)[::-1], 2.0)
    each = [table.at(threshold) for threshold in thresholds]
    for tables in (each, table.at_each(thresholds)):
        for threshold, one in zip(thresholds, tables, strict=True):
            for row, true in enumerate((False, True)):
                for column, said in enumerate((False, True)):
                    there = (truth == true) & ((score >= threshold) == said)
                    cells = (one.counts, one.squares)
                    for sums, units in zip(cells, (weight, weight**2), strict=True):
                        assert float(sums[row, column]) == pytest.approx(float(units[there].sum()), rel=1e-12)
    steps = [("low", -np.inf), ("never", 0.3), ("middle", 0.3), ("high", 0.7)]
    decided = table.decided([name for name, _ in steps], steps)
    assert not np.asarray(decided.counts)[:, 1].any()


@pytest.mark.parametrize("unit", [2.0**-30, 2.0**20])
def test_bounds_of_weighted_bins_do_not_hang_on_the_unit_and_hold(unit):
    rng = np.random.default_rng(0)
    truth = rng.random(2000) < 0.4
    score, weight = 1 / (1 + np.exp(-rng.normal(truth, 1))), rng.random(2000)
    found = []
    for one in (1.0, unit):
        rows = ScoreTable.from_rows(score, truth, weight * one)
        shared = rows.anonymise(10)
        bounds = order_bounds([stakes.metrics.auc, stakes.metrics.average_precision], shared)
        for metric, (low, high) in zip(("auc", "average_precision"), bounds, strict=True):
            assert low < float(stakes.metrics.find(metric).of(rows)) < high
        found.append(bounds)
    assert found[0] == [pytest.approx(bounds, rel=1e-12) for bounds in found[1]]
