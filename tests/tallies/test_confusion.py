import json

import numpy as np
import pytest

import stakes
from stakes.tallies import Confusion, ScoreTable

TABLE = Confusion.two_class(tp=7, fn=3, fp=2, tn=11, positive="sick", negative="well")


def test_rows_are_the_truth_and_columns_the_decision():
    assert TABLE.truths == TABLE.decisions == ("well", "sick")
    assert TABLE.counts.tolist() == [[11, 2], [3, 7]]
    assert (TABLE.tp, TABLE.fn, TABLE.fp, TABLE.tn) == (7, 3, 2, 11)
    assert (TABLE.P, TABLE.N, TABLE.PP, TABLE.PN, TABLE.total, TABLE.hits) == (10, 13, 9, 14, 23, 18)


def test_names_find_their_cells_in_any_order():
    shuffled = Confusion(("sick", "well"), ("well", "sick"), [[3, 7], [11, 2]], positive="sick")
    assert (shuffled.tp, shuffled.fn, shuffled.fp, shuffled.tn) == (7, 3, 2, 11)
    assert shuffled.hits == 18
    assert stakes.metrics.kappa(shuffled) == stakes.metrics.kappa(TABLE)
    assert stakes.metrics.mcc(shuffled) == stakes.metrics.mcc(TABLE)


def test_swapping_the_classes_swaps_the_cells():
    other = TABLE.swapped()
    assert other.positive == "well"
    assert (other.tp, other.fn, other.fp, other.tn) == (11, 2, 3, 7)


def test_a_table_may_have_more_decisions_than_truths():
    table = Confusion(("ill", "well"), ("operate", "test", "home"), [[5, 3, 1], [0, 2, 9]])
    assert table.truth_totals.tolist() == [9, 11]
    assert table.decision_totals.tolist() == [5, 5, 10]
    with pytest.raises(stakes.InputError, match="this table has no positive class"):
        _ = table.tp


def test_tables_add_up():
    assert (TABLE + TABLE).counts.tolist() == [[22, 4], [6, 14]]
    assert sum([TABLE, TABLE, TABLE]) == Confusion.sum([TABLE] * 3)
    assert Confusion.sum([TABLE]) == TABLE


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (TABLE.swapped(), "the positive class is 'sick' in one and 'well' in the other"),
        (Confusion.two_class(tp=1, fn=1, fp=1, tn=1), r"the list of classes is \('well', 'sick'\) in one and"),
        (Confusion.stack([TABLE]), r"the shape of the leading axes is \(\) in one and \(1,\) in the other"),
        (ScoreTable.from_rows([0.5], [1]), "the kind of tally is 'confusion' in one and 'scores' in the other"),
        (
            Confusion(TABLE.truths, TABLE.decisions, TABLE.counts, TABLE.counts, "sick"),
            "weighting is 'unweighted' in one and 'weighted' in the other",
        ),
    ],
)
def test_different_questions_do_not_add_up(other, words):
    with pytest.raises(stakes.InputError, match=words):
        _ = TABLE + other


def test_nothing_does_not_add_up():
    with pytest.raises(stakes.InputError, match="there are no tallies to add up"):
        Confusion.sum([])
    with pytest.raises(TypeError):
        _ = TABLE + 3


def test_a_table_is_frozen_and_does_not_follow_the_callers_array():
    counts = np.array([[11, 2], [3, 7]])
    table = Confusion(("a", "b"), ("a", "b"), counts)
    counts[0, 0] = 99
    assert table.counts[0, 0] == 11
    with pytest.raises(ValueError, match="read-only"):
        table.counts[0, 0] = 1
    with pytest.raises(AttributeError):
        table.positive = "b"


@pytest.mark.parametrize(
    "table", [TABLE, Confusion.stack([TABLE, TABLE + TABLE]), Confusion(("a",), ("x", "y"), [[1, 2]])]
)
def test_a_table_saves_itself(table):
    assert Confusion.from_dict(json.loads(json.dumps(table.to_dict()))) == table


def test_a_weighted_table_saves_its_squares():
    table = stakes.count(truth=[1, 0, 1], prediction=[1, 1, 0], weight=[0.1, 2, 3]).confusion
    again = Confusion.from_dict(json.loads(json.dumps(table.to_dict())))
    assert again == table
    assert again.weighted
    assert again.squares[1, 1] == 0.1**2


@pytest.mark.parametrize(
    ("saved", "words"),
    [
        ([], "expected the dictionary of a tally, got 'list' instead of 'confusion'"),
        ({"tally": "scores"}, "got 'scores' instead of 'confusion'"),
        ({**TABLE.to_dict(), "version": 99}, "was saved in version 99, this stakes reads version 1"),
        ({"tally": "confusion", "version": 1}, "whose content is damaged"),
    ],
)
def test_what_was_not_saved_by_us_is_refused(saved, words):
    with pytest.raises(stakes.InputError, match=words):
        Confusion.from_dict(saved)


@pytest.mark.parametrize("counts", [[[1, 2], [3, -1]], [[1, float("nan")], [0, 0]], [[1, float("inf")], [0, 0]]])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(stakes.InputError, match="some are negative, infinite or not numbers"):
        Confusion(("a", "b"), ("a", "b"), counts)


def test_counts_beyond_64_bits_stay_exact():
    table = Confusion.two_class(tp=2**62, fn=1, fp=2, tn=2**63)
    assert Confusion.sum([table] * 5).tp == 5 * 2**62
    assert Confusion.from_dict(json.loads(json.dumps(table.to_dict()))).tn == 2**63
    assert Confusion.two_class(tp=2**70, fn=1, fp=2, tn=3).tp == 2**70


def test_tables_of_different_questions_do_not_stack():
    with pytest.raises(stakes.InputError, match="the positive class"):
        Confusion.stack([TABLE, TABLE.swapped()])


def test_a_table_of_the_wrong_shape_is_refused():
    with pytest.raises(stakes.InputError, match="truths must be a list of different names"):
        Confusion(("a", "a"), ("a", "b"), [[1, 2], [3, 4]])
    with pytest.raises(stakes.InputError, match="tp is '1', which is no number"):
        Confusion.two_class(tp="1", fn="2", fp="3", tn="4")
    with pytest.raises(stakes.InputError, match=r"shape \(1, 2\) does not fit 2 truths and 2 decisions"):
        Confusion(("a", "b"), ("a", "b"), [[1, 2]])
    with pytest.raises(stakes.InputError, match="positive='c' is not a class"):
        Confusion(("a", "b"), ("a", "b"), [[1, 2], [3, 4]], positive="c")


def test_a_leading_axis_can_be_taken_apart():
    stacked = Confusion.stack([TABLE, TABLE + TABLE])
    assert stacked.leading == (2,)
    assert stacked[1] == TABLE + TABLE
    assert stacked.tp.tolist() == [7, 14]
    with pytest.raises(TypeError, match="no leading axis"):
        TABLE[0]


def test_a_coin_keeps_the_margins():
    coin = TABLE.coin()
    assert coin.truth_totals.tolist() == [13 * 23, 10 * 23]
    assert coin.tp * TABLE.total == TABLE.P * TABLE.PP * TABLE.total
    assert [t.PP for t in TABLE.constants()] == [0, 23]


def test_it_prints_as_a_table():
    assert str(TABLE).splitlines() == [
        "truth \\ decision  well  sick",
        "well                11     2",
        "sick                 3     7",
    ]
    assert "leading axes (1,)" in str(Confusion.stack([TABLE]))
