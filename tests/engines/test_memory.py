"""The NumPy kernels against counting by hand, in every dtype and over block boundaries."""

import functools
import math
from collections import Counter

import numpy as np
import pytest

import stakes
from stakes.engines import memory

SIZES = [1, 2, 1000, (1 << 17) - 1, (1 << 17) + 3, 300_000]


def by_hand(truth, decided, weight=None):
    cells = Counter()
    for t, d, w in zip(truth, decided, weight if weight is not None else [1] * len(truth), strict=True):
        cells[bool(t), bool(d)] += w
    return [[cells[False, False], cells[False, True]], [cells[True, False], cells[True, True]]]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float32, np.float64])
def test_two_columns_of_decisions(size, dtype):
    truth, decided, expected = decisions(size)
    table = stakes.count(truth=truth.astype(dtype), prediction=decided.astype(dtype)).confusion
    assert table.counts.tolist() == expected


@functools.cache
def decisions(size):
    """Two columns, and what Python counts in them."""
    truth, decided = np.random.default_rng(size).random((2, size)) < 0.4
    return truth, decided, by_hand(truth, decided)


@pytest.mark.parametrize("size", [5, 1000, (1 << 17) + 3])
def test_weights_and_segments(size):
    rng = np.random.default_rng(size)
    truth, decided = rng.random((2, size)) < 0.4
    weight, site = rng.random(size), rng.integers(0, 5, size)
    counted = stakes.count(truth=truth, prediction=decided, weight=weight, by=site)
    np.testing.assert_allclose(counted.confusion.counts, by_hand(truth, decided, weight), rtol=1e-10)
    for name, part in counted.segments.items():
        rows = site == int(name)
        np.testing.assert_allclose(part.confusion.counts, by_hand(truth[rows], decided[rows], weight[rows]), rtol=1e-10)
        squares = by_hand(truth[rows], decided[rows], weight[rows] ** 2)
        np.testing.assert_allclose(part.confusion.squares, squares, rtol=1e-10)


def test_segments_of_scores_and_decisions_are_those_of_their_rows():
    rng = np.random.default_rng(2)
    truth, decided = rng.random((2, 5000)) < 0.4
    score, site = rng.random(5000), rng.choice(["north", "south", "east"], 5000)
    counted = stakes.count(truth=truth, score=score, prediction=decided, by=site)
    assert list(counted.segments) == ["east", "north", "south"]
    for name, part in counted.segments.items():
        rows = site == name
        alone = stakes.count(truth=truth[rows], score=score[rows], prediction=decided[rows])
        assert dict(part.tallies) == dict(alone.tallies)


def test_many_segments_with_codes_of_one_byte_do_not_wrap():
    site = np.repeat(np.arange(200), 3)
    truth = np.tile([True, False, True], 200)
    ev = stakes.evaluate(truth=truth, prediction=truth.copy(), by=site)
    assert len(ev.segments) == 200
    assert all(part.confusion.counts.tolist() == [[1, 0], [0, 2]] for part in ev.segments.values())


def test_sums_by_group_are_exact_enough_and_blind_to_blocks():
    rng = np.random.default_rng(9)
    groups, values = rng.integers(0, 3, 400_000), rng.random(400_000) * 10.0 ** rng.integers(-8, 8, 400_000)
    sums = memory.sums_by(groups, values, 4)
    for g in range(3):
        assert sums[g] == pytest.approx(math.fsum(values[groups == g]), rel=1e-14)
    assert sums[3] == 0


def test_counted_rows_add_up_and_save_themselves():
    rng = np.random.default_rng(4)
    truth, score, site = rng.random(100) < 0.5, rng.random(100), rng.choice(["a", "b"], 100)
    site[:40] = "a"  # the first part knows only one segment
    parts = [stakes.count(truth=truth[r], score=score[r], by=site[r]) for r in (slice(0, 40), slice(40, 100))]
    whole = stakes.count(truth=truth, score=score, by=site)
    assert sum(parts).to_dict() == whole.to_dict()
    assert type(parts[0]).from_dict(sum(parts).to_dict()).to_dict() == whole.to_dict()
    with pytest.raises(stakes.InputError, match=r"the list of tallies is \['scores'\] in one"):
        _ = stakes.count(truth=truth, score=score) + stakes.count(truth=truth, prediction=truth.copy())
    with pytest.raises(stakes.InputError, match="by is 'given' in one and 'not given' in the other"):
        _ = parts[0] + stakes.count(truth=truth, score=score)
    with pytest.raises(stakes.InputError, match=r"Counted\.to_dict\(\) did not write"):
        type(parts[0]).from_dict({})
    with pytest.raises(stakes.InputError, match="whose content is damaged"):
        type(parts[0]).from_dict({**parts[0].to_dict(), "tallies": [{}]})
    with pytest.raises(stakes.InputError, match="version 9"):
        type(parts[0]).from_dict({**parts[0].to_dict(), "version": 9})
    assert repr(sum(parts)).startswith("<Counted for classification: <ScoreTable of 100 rows")
