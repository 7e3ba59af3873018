"""The thresholds that a report stops at: exact counts, every corner of the hull, quantiles."""

import numpy as np
import pytest

from stakes.decisions.calibration.reliability import group_scores
from stakes.decisions.curves.hull import roc_hull
from stakes.decisions.curves.report_thresholds import report_thresholds
from stakes.tallies import ScoreTable


def table_of(rows, decimals=None, weighted=False, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < 0.3
    scores = 1 / (1 + np.exp(-rng.normal(size=rows) - truth))
    scores = scores if decimals is None else scores.round(decimals)
    return ScoreTable.from_rows(scores, truth, rng.random(rows) if weighted else None)


@pytest.mark.parametrize("rows", [2, 50, 5_000, 200_000])
@pytest.mark.parametrize("decimals", [None, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_stop_has_the_counts_of_its_threshold(rows, decimals, weighted):
    table = table_of(rows, decimals, weighted, seed=3)
    found = report_thresholds(table, 0.5)
    assert found.thresholds[0] == np.inf
    assert found.thresholds[-1] == min(table.range[0], 0.5)
    assert (np.diff(found.thresholds) < 0).all()
    assert 0.5 in found.thresholds
    exact = table.at_each(found.thresholds)
    assert found.tp.tolist() == pytest.approx(exact.tp.tolist(), rel=1e-12)
    assert found.fp.tolist() == pytest.approx(exact.fp.tolist(), rel=1e-12)


@pytest.mark.parametrize("decimals", [None, 3])
def test_every_corner_of_the_hull_is_a_stop(decimals):
    table = table_of(150_000, decimals)  # more than one block
    all_of_them = table.confusions()
    corners = table.thresholds[roc_hull(all_of_them.tp, all_of_them.fp)]
    assert len(corners) > 20
    assert set(corners) <= set(report_thresholds(table).thresholds)


def test_no_stop_is_missing_where_scores_are_few():
    table = table_of(5_000, 2)
    found = report_thresholds(table)
    assert found.complete
    assert found.thresholds.tolist() == table.thresholds.tolist()
    assert report_thresholds(table, 0.123).complete  # an own threshold between two scores adds a stop
    assert not report_thresholds(table_of(5_000)).complete


def test_quantiles_lie_a_thousandth_apart():
    table = table_of(100_000)
    found = report_thresholds(table)
    assert np.diff(found.tp + found.fp).max() <= 101
    assert 1_000 <= len(found.thresholds) <= 1_300


@pytest.mark.parametrize("weighted", [False, True])
def test_the_thinned_table_answers_the_stops_alike(weighted):
    table = table_of(20_000, weighted=weighted)
    found = report_thresholds(table, 0.5)
    small = found.thinned(table)
    assert len(small.as_columns().scores) <= len(found.thresholds)
    for i in (0, 1, 500, -1):
        there = small.at(found.thresholds[i])
        assert (float(there.tp), float(there.fp)) == pytest.approx((found.tp[i], found.fp[i]))
    assert small.weighted == weighted


def test_grouped_scores_keep_sums_and_order():
    table = table_of(300_000)
    small = group_scores(table, 1_000)
    columns, whole = small.as_columns(), table.as_columns()
    assert 1_000 <= len(columns.scores) <= 1_010
    assert (small.P, small.N) == (table.P, table.N)
    rows = columns.values["positives"] + columns.values["negatives"]
    assert float(columns.scores @ rows) == pytest.approx(float(whole.scores.sum()), rel=1e-12)
    assert rows.max() <= 301
    weighted = table_of(50, weighted=True)
    assert group_scores(weighted, 5) is weighted


def test_even_constructed_data_keeps_the_stops_few():
    steps = np.arange(6_000)  # every score is a corner: positives become rarer from step to step
    table = ScoreTable.from_columns(-steps.astype(float), 6_000 - steps, steps + 1)
    assert len(roc_hull(*(np.cumsum(column) for column in (6_000 - steps, steps + 1)))) == 6_000
    assert len(report_thresholds(table).thresholds) < 5_002


def test_many_ties_in_many_blocks_keep_the_stops_few():
    table = table_of(2_000_000, 4)  # each block has few scores, all blocks together many
    found = report_thresholds(table)
    assert not found.complete
    assert len(found.thresholds) < 1_500
    assert np.diff(found.tp + found.fp).max() <= 2_001 + 2_000_000 // 1_000
