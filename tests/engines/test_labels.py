import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import stakes
from stakes.engines.columns import Column, to_column
from stakes.engines.labels import canonical, encode, group_codes
from stakes.tallies.clusters import Clusters


def names_and_rows(values):
    labels = encode(to_column(values, "truth"))
    return labels.names, [labels.names[c] for c in labels.codes]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        (-1, "-1"),
        (True, "true"),
        (np.False_, "false"),
        ("007", "007"),
        (np.float32(3), "3"),
        (2.5, "2.5"),
    ],
)
def test_a_class_is_its_text(value, text):
    assert canonical(value) == text


NUMBERS = {
    "list": [1, 0, 1],
    "floats": [1.0, 0.0, 1.0],
    "int8": np.array([1, 0, 1], np.int8),
    "uint64": np.array([1, 0, 1], np.uint64),
    "float32": np.array([1, 0, 1], np.float32),
    "strided": np.array([1, 9, 0, 9, 1, 9])[::2],
    "pandas": pd.Series([1, 0, 1], index=[7, 8, 9]),
    "nullable": pd.Series([1, 0, 1], dtype="Int64"),
    "arrow-backed": pd.Series([1, 0, 1], dtype="int64[pyarrow]"),
    "polars": pl.Series([1, 0, 1]),
    "pyarrow": pa.chunked_array([[1, 0], [1]]),
    "category of numbers": pd.Series([1, 0, 1], dtype="category"),
    "objects": np.array([1, 0, 1], object),
}


@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS.keys())
def test_numbers_are_the_same_classes_in_every_make(values):
    assert names_and_rows(values) == (("0", "1"), ["1", "0", "1"])


TEXTS = {
    "list": ["no", "yes", "no"],
    "tuple": ("no", "yes", "no"),
    "numpy": np.array(["no", "yes", "no"]),
    "objects": np.array(["no", "yes", "no"], object),
    "pandas": pd.Series(["no", "yes", "no"]),
    "pandas objects": pd.Series(["no", "yes", "no"], dtype=object),
    "category": pd.Series(["no", "yes", "no"], dtype="category"),
    "category with unused": pd.Series(["no", "yes", "no"], dtype=pd.CategoricalDtype(["zebra", "yes", "no", "ant"])),
    "polars": pl.Series(["no", "yes", "no"]),
    "polars category": pl.Series(["no", "yes", "no"], dtype=pl.Categorical),
    "polars enum": pl.Series(["no", "yes", "no"], dtype=pl.Enum(["zebra", "yes", "no"])),
    "pyarrow": pa.chunked_array([["no"], ["yes", "no"]]),
    "pyarrow dictionary": pa.array(["no", "yes", "no"]).dictionary_encode(),
}


@pytest.mark.parametrize("values", TEXTS.values(), ids=TEXTS.keys())
def test_text_is_the_same_classes_in_every_make(values):
    assert names_and_rows(values) == (("no", "yes"), ["no", "yes", "no"])


@pytest.mark.parametrize(
    "values", [[True, False], np.array([True, False]), pd.Series([True, False]), pl.Series([True, False])]
)
def test_booleans_are_true_and_false(values):
    assert names_and_rows(values) == (("false", "true"), ["true", "false"])


def test_text_that_looks_like_numbers_stays_text_but_is_sorted_by_size():
    assert names_and_rows(["10", "9", "-1"])[0] == ("-1", "9", "10")
    assert names_and_rows(["007", "7"])[0] == ("007", "7")
    assert names_and_rows(["b", "B", "10"])[0] == ("10", "B", "b")


@pytest.mark.parametrize(
    "values",
    [[-1, 1, -1], np.array([3, 100_000, 3]), np.array([2**62, -(2**62), 2**62]), np.array([2**63 + 1, 5], np.uint64)],
)
def test_whole_numbers_of_any_size_are_classes(values):
    names, rows = names_and_rows(values)
    assert rows == [str(int(v)) for v in values]
    assert list(names) == [str(v) for v in sorted({int(v) for v in values})]


def test_many_classes_get_wide_codes():
    values = np.arange(70_000) % 300
    labels = encode(to_column(values, "truth"))
    assert len(labels.names) == 300
    assert np.array_equal(np.array(labels.names, int)[labels.codes], values)


# ── which class is positive ──────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("truth", "positive"),
    [
        ([0, 1], "1"),
        ([-1, 1], "1"),
        ([False, True], "true"),
        (["0", "1"], "1"),
        (["false", "true"], "true"),
        ([0.0, 1.0], "1"),
    ],
)
def test_the_obvious_pairs_have_a_positive_class(truth, positive):
    ev = stakes.evaluate(truth=truth, score=[0.2, 0.9])
    assert ev.positive == positive
    assert ev.confusion.tp == 1


@pytest.mark.parametrize("truth", [["no", "yes"], [1, 2], ["TRUE", "False"], [0, 2]])
def test_other_pairs_ask(truth):
    with pytest.raises(stakes.InputError, match=r"neither is obviously the positive one; pass positive="):
        stakes.evaluate(truth=truth, score=[0.2, 0.9])


@pytest.mark.parametrize("positive", [2, "2", 2.0, np.int8(2)])
def test_the_positive_class_may_be_given_as_number_or_text(positive):
    assert stakes.evaluate(truth=[1, 2], score=[0.2, 0.9], positive=positive)["auc"].value == 1


def test_positive_turns_the_table_round():
    ev = stakes.evaluate(truth=[0, 1, 1], prediction=[0, 0, 1], positive=0)
    assert (ev.confusion.tp, ev.confusion.fp, ev.negative) == (1, 1, "1")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"truth": ["no", "yes"], "positive": "Yes"}, "positive='Yes' is not a class of truth; did you mean 'yes'"),
        ({"truth": [0, 1], "positive": "x"}, "positive='x' is not a class of truth; there is '0' and '1'"),
        ({"truth": ["a", "b"], "classes": ["a", "c"]}, r"the label 'b', which is not in classes \('a' and 'c'\)"),
        ({"truth": ["a", "b"], "classes": ["a", "a"]}, "give at least two different classes"),
        ({"truth": ["yes", "yes"]}, "truth has the single class 'yes'; pass positive= or classes="),
        ({"truth": [0.5, 1]}, r"truth has 1 row that holds no class \(0\.5; the first is row 1, counting from 1"),
        ({"truth": [0, float("nan")]}, "truth is missing in 1 row .the first is row 2, counting from 1"),
        ({"truth": np.array([0, np.nan])}, "truth is missing in 1 row"),
        ({"truth": ["a", None]}, "truth is missing in 1 row"),
        ({"truth": pd.Series(["a", None])}, "truth is missing in 1 row"),
        ({"truth": pd.Series([1, None], dtype="Int64")}, "truth is missing in 1 row"),
        ({"truth": np.ma.array([0, 1], mask=[False, True])}, "truth is missing in 1 row"),
        ({"truth": [1, "1"]}, r"truth mixes numbers and text \(1 and '1'\)"),
        ({"truth": [True, "True"]}, r"truth mixes booleans and text"),
        ({"truth": [True, 0]}, r"truth mixes booleans and numbers"),
        ({"truth": np.array(["2020-01-01", "2021-01-01"], "datetime64[D]")}, r"truth holds datetime64\[D\] values"),
        ({"truth": [object(), 1]}, "truth holds object values; give text, numbers or booleans"),
        ({"truth": np.eye(2)}, "score is one column, and truth has several; give a column for each"),
        ({"truth": 7}, "truth is an int; give one value per row"),
    ],
)
def test_labels_that_are_wrong_get_a_useful_line(arguments, words):
    with pytest.raises(stakes.InputError, match=words):
        stakes.evaluate(**arguments, score=[0.2, 0.9])


@pytest.mark.parametrize(
    ("truth", "prediction", "words"),
    [
        ([1, 0], ["1", "0"], "prediction holds text but truth holds numbers; make both the same kind"),
        (["a", "b"], [True, False], "prediction holds booleans but truth holds text"),
    ],
)
def test_kinds_of_label_are_not_mixed_between_columns(truth, prediction, words):
    with pytest.raises(stakes.InputError, match=words):
        stakes.evaluate(truth=truth, prediction=prediction)


def test_booleans_beside_numbers_are_ones_and_zeros():
    score = np.array([0.2, 0.9, 0.7])
    ev = stakes.evaluate(truth=[0, 1, 1], prediction=score > 0.5)
    assert (ev.positive, ev.confusion.tp, ev.confusion.tn) == ("1", 2, 1)
    assert stakes.evaluate(truth=[0, 1], prediction=[0, 1], positive=True).positive == "1"


@pytest.mark.parametrize(
    ("truth", "prediction"), [([-1, 1, 1], [1, 1, 1]), ([2, 1, 1], [1, 1, 1]), ([-1, -1, 1], [1, 1, 1])]
)
def test_a_constant_prediction_brings_no_class_of_its_own(truth, prediction):
    assert stakes.evaluate(truth=truth, prediction=prediction, positive=1).confusion.PN == 0


def test_a_class_that_only_weightless_rows_have_is_not_there():
    ev = stakes.evaluate(truth=["a", "b", "c"], score=[0.3, 0.2, 0.1], positive="a", weight=[1, 1, 0])
    assert ev.negative == "b"


@pytest.mark.parametrize(
    ("truth", "positive", "pair"),
    [
        ([1, 1], None, ("0", "1")),
        ([-1, -1], None, ("-1", "1")),
        ([False], None, ("false", "true")),
        (["ill"], "ill", ("not ill", "ill")),
        (["well"], "ill", ("well", "ill")),
    ],
)
def test_a_single_class_is_completed_where_the_other_is_known(truth, positive, pair):
    ev = stakes.evaluate(truth=truth, score=[0.3] * len(truth), positive=positive)
    assert (ev.negative, ev.positive) == pair
    assert ev["auc"].reason.startswith("no case is")


def test_nothing_warns_on_the_way():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stakes.evaluate(
            truth=pd.Series(["a", "b"], dtype="category"), score=pd.Series([0.1, 0.2]), positive="b"
        ).to_dict()


@pytest.mark.parametrize(
    "values",
    [
        np.array([-128, 127, 5, -128], np.int8),
        np.array([0, 10**12, -(10**12), 0]),
        np.array([2**64 - 1, 2**64 - 3, 2**64 - 1, 2**64 - 2], np.uint64),
        np.array([70_000.0, 3.0, 70_000.0, 1.0]),
    ],
)
def test_groups_of_numbers_are_told_apart_without_their_names(values):
    codes = group_codes(Column("cluster", "number", values))
    assert np.array_equal(codes[:, None] == codes, values[:, None] == values)
    found = Clusters.of(codes)
    assert found.count == len(np.unique(values))
    assert np.array_equal(found.groups, np.unique(values, return_inverse=True)[1])
