"""Columns as people have them: every function gives scikit-learn's number, or refuses what it refuses."""

import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.metrics
from scipy import sparse

import stakes.sklearn as face
from tests.parts import since

since("scikit-learn", "1.9", "refuses other inputs")

DECISIONS = [name for name, home in face.HOMES.items() if home in ("decisions", "report")]
FLAGS = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0], [0, 1, 1]])
OTHER = FLAGS[:, ::-1]
PAIRS = {
    "text": (["b", "a", "c", "a"], ["a", "a", "c", "b"]),
    "text as objects": (np.array(["b", "a"], object), np.array(["a", "a"], object)),
    "objects in a column of their own": (np.array([["b"], ["a"], ["b"]], object), ["a", "a", "b"]),
    "a frame of one column": (pd.DataFrame({"y": ["b", "a", "b"]}), pd.Series(["b", "b", "b"])),
    "bool": ([True, False, True, True], np.array([True, True, False, True])),
    "bool beside whole numbers": (np.array([True, False, False, False]), np.array([2, 0, 1, 4])),
    "small integers": (np.array([0, 1, 200], np.uint8), np.array([0, 0, 100], np.int8)),
    "integers that no float holds": ([2**53, 2**53 + 1, 2**53], [2**53, 2**53, 2**53]),
    "whole floats": ([1.0, 0.0, 1.0, 0.0], [1.0, 1.0, 0.0, 0.0]),
    "fractions": ([0.5, 1.5, 0.5], [0.5, 0.5, 1.5]),
    "one class": ([1, 1, 1], [1, 1, 1]),
    "another class was decided": ([0, 0], [1, 1]),
    "no rows": ([], []),
    "NaN": ([0.0, math.nan, 1.0], [0.0, 1.0, 1.0]),
    "None": (["a", None, "b"], ["a", "a", "b"]),
    "pandas' NA": (pd.Series(["a", None, "b"], dtype="string"), ["a", "a", "b"]),
    "pandas' categories": (pd.Categorical(list("aab")), pd.Series(pd.Categorical(list("abb")))),
    "an index": (pd.Index([0, 1, 1]), pd.array([True, True, False], dtype="boolean")),
    "Polars": (pl.Series([0, 1, 1]), pl.Series([True, True, False])),
    "text beside numbers": (["a", "b"], [0, 1]),
    "unequal lengths": ([0, 1, 1], [0, 1]),
    "sparse labels": (sparse.csr_matrix(FLAGS), sparse.csc_matrix(OTHER)),
    "labels as bool and float": (FLAGS.astype(bool), OTHER.astype(float)),
    "labels of −1 and 1": (2 * FLAGS - 1, 2 * OTHER - 1),
    "labels of 1 and 2": (FLAGS + 1, OTHER + 1),
    "labels beside a column": (FLAGS, [0, 1, 1, 0]),
}
WEIGHTS = {"zero": [0, 1, 0, 2], "all zero": [0, 0, 0, 0], "text": ["a"] * 4, "NaN": [1, math.nan, 1, 1]}
OPTIONS = {
    "fbeta_score": [{"beta": 0.5}],
    "confusion_matrix": [{}, {"normalize": "pred"}],
    "balanced_accuracy_score": [{}, {"adjusted": True}],
    "classification_report": [{"output_dict": True}, {"digits": 3}],
    **{
        name: [{"average": average, "zero_division": instead}]
        for name, average, instead in (
            ("precision_score", None, 1),
            ("recall_score", "macro", math.nan),
            ("f1_score", "weighted", 0),
            ("jaccard_score", "samples", 0),
        )
    },
}


def answer(home, name, *columns, **options):
    """The number, or that the input is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return getattr(home, name)(*columns, **options)
        except (ValueError, TypeError):
            return "refused"


def same(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return all(map(same, one, other))
    if isinstance(one, str) or one is None or isinstance(other, str):
        return one is None or str(one) == str(other)
    return np.allclose(np.asarray(one, float), np.asarray(other, float), equal_nan=True)


@pytest.mark.parametrize("columns", PAIRS.values(), ids=PAIRS)
@pytest.mark.spread(13)
def test_odd_columns_of_decisions(columns):
    for name in DECISIONS:
        for options in OPTIONS.get(name, [{}]):
            theirs = answer(sklearn.metrics, name, *columns, **options)
            if name == "classification_report" and np.ndim(columns[0]) == 2 and theirs == "refused":
                continue  # scikit-learn reports on labels of 0 and 1 only, although it has precision of others, too
            assert same(theirs, answer(face, name, *columns, **options)), (name, options)


@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
def test_odd_weights(weight):
    for name in face.FUNCTIONS:
        columns = {"labels": (FLAGS, OTHER), "searches": (FLAGS, OTHER)}.get(
            face.HOMES[name], ([0, 1, 1, 0], [0, 1, 0, 1])
        )
        columns = ([1, 2, 1, 3], [1, 2, 3, 1]) if "deviance" in name or "tweedie" in name else columns
        if name in ("auc", "max_error", "metric_at_thresholds"):
            continue
        options = {**OPTIONS.get(name, [{}])[0], "sample_weight": weight}
        if weight in (WEIGHTS["text"], WEIGHTS["NaN"], WEIGHTS["all zero"]):
            assert answer(face, name, *columns, **options) == "refused", name
        elif "average" not in options or options["average"] != "samples":
            assert same(answer(sklearn.metrics, name, *columns, **options), answer(face, name, *columns, **options)), (
                name
            )


@pytest.mark.parametrize("name", [name for name in face.FUNCTIONS if name not in ("auc", "metric_at_thresholds")])
@pytest.mark.parametrize("place", [0, 1])
def test_nothing_is_worked_out_of_nan(name, place):
    home = face.HOMES[name]
    columns = [np.array([1.0, 0.0, 1.0, 1.0]), np.array([0.5, 0.25, 1.0, 1.0])]
    if home in ("labels", "searches"):
        columns = [FLAGS.astype(float), OTHER.astype(float)]
    elif home in ("decisions", "report"):
        columns[1] = columns[0].copy()
    columns[place].flat[1] = math.nan
    assert answer(face, name, *columns, **OPTIONS.get(name, [{}])[0]) == "refused"


@pytest.mark.parametrize("name", [name for name in face.FUNCTIONS if name not in ("auc", "metric_at_thresholds")])
def test_unequal_indexes_are_told_and_rows_paired_by_position(name):
    columns = pd.Series([1, 2, 2, 1]), pd.Series([1, 2, 1, 1], index=[3, 2, 1, 0])
    if face.HOMES[name] in ("ranking", "probability"):
        columns = columns[0] - 1, columns[1] / 2
    elif face.HOMES[name] in ("labels", "searches"):
        columns = pd.DataFrame(FLAGS), pd.DataFrame(OTHER, index=[3, 2, 1, 0])
    options = {"beta": 2.0} if name == "fbeta_score" else {}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = getattr(face, name)(*columns, **options)
    assert any("the indexes of y_true and the predictions differ" in str(one.message) for one in told)
    plain = [np.asarray(column) for column in columns]
    assert same(answer(sklearn.metrics, name, *plain, **options), found)


def test_weights_below_0_count_in_means_and_are_refused_elsewhere():
    truth, decided, weight = [0, 1, 1, 0], [0, 1, 0, 1], [1.0, -0.5, 2.0, 1.0]
    for name in ("accuracy_score", "confusion_matrix", "mean_absolute_error", "log_loss", "brier_score_loss"):
        columns = (truth, decided), {"sample_weight": weight}
        assert same(
            answer(sklearn.metrics, name, *columns[0], **columns[1]), answer(face, name, *columns[0], **columns[1])
        )
    for name in ("f1_score", "matthews_corrcoef", "roc_auc_score", "r2_score", "d2_absolute_error_score"):
        with pytest.raises(ValueError, match="sample_weight holds negative values"):
            getattr(face, name)(truth, decided, sample_weight=[1.0, -5, 2.0, 1.0])
    asked = {"sample_weight": weight}
    for name in ("coverage_error", "label_ranking_loss"):
        assert same(getattr(sklearn.metrics, name)(FLAGS, OTHER, **asked), getattr(face, name)(FLAGS, OTHER, **asked))


def test_a_label_that_is_named_twice_is_counted_once():
    for labels in ([0, 1, 0], [1, 1], [0, 2, 1]):
        asked = ([0, 1, 1, 0], [0, 1, 0, 1]), {"labels": labels}
        found = face.confusion_matrix(*asked[0], **asked[1])
        assert np.array_equal(found, sklearn.metrics.confusion_matrix(*asked[0], **asked[1]))


def test_positives_that_weigh_nothing_are_none():
    asked = ([0, 1, 1, 0], [0.1, 0.9, 0.4, 0.3]), {"sample_weight": [1, 0, 0, 1]}
    with pytest.warns(UserWarning, match="No positive class"):
        assert face.average_precision_score(*asked[0], **asked[1]) == 0.0


@pytest.mark.parametrize("column", [{0, 1}, np.array(1), "ab", None, np.ma.array([1, 0], mask=[0, 1])], ids=str)
def test_what_is_no_column_is_refused(column):
    for name in set(face.FUNCTIONS) - {"auc", "metric_at_thresholds"}:
        assert answer(face, name, column, column, **OPTIONS.get(name, [{}])[0]) == "refused", name


def test_the_words_of_refusals():
    with pytest.raises(ValueError, match="all values of sample_weight are 0; give at least one that is not"):
        face.accuracy_score([0, 1], [0, 1], sample_weight=[0, 0])
    with pytest.raises(ValueError, match="labels are continuous, infinite or NaN; give whole numbers, or text"):
        face.hinge_loss([0.5, 1.5], [1.0, -1.0])
    with pytest.raises(ValueError, match="replace_undefined_by=2 is neither NaN nor from -1 to 1"):
        face.cohen_kappa_score([0, 1], [0, 1], replace_undefined_by=2)
    with pytest.raises(ValueError, match="2 weights for 2 outputs, which sum to 0; give one for each, not all 0"):
        face.mean_squared_error([[1, 2], [3, 4]], [[1, 2], [3, 4]], multioutput=[0, 0])


@pytest.mark.parametrize(
    ("name", "columns", "options", "why"),
    [
        ("root_mean_squared_log_error", (FLAGS, OTHER), {}, "no interval is known of a mean of roots"),
        ("root_mean_squared_error", ([-2.0, 0.1], [-0.5, -0.2]), {"sample_weight": [0.3, 0]}, "too few rows"),
        (
            "accuracy_score",
            ([0, 1, 1], [0, 1, 0]),
            {"sample_weight": [1, -5, 1]},
            "sample_weight holds negative values",
        ),
        ("mean_absolute_error", ([0, 1, 1], [0, 1, 0]), {"sample_weight": [1, -5, 1]}, "sample_weight holds negative"),
        ("log_loss", ([0, 1, 1], [0.2, 0.9, 0.5]), {"sample_weight": [1, -5, 1]}, "negative"),
        ("accuracy_score", (FLAGS, OTHER + 1), {}, "hold other values than 0 and 1; give flags for an interval"),
        ("hamming_loss", (FLAGS, OTHER + 1), {}, "hold other values than 0 and 1; give flags for an interval"),
    ],
)
def test_a_figure_without_an_interval_says_why(name, columns, options, why):
    found = getattr(face, name)(*columns, **options)
    assert found == pytest.approx(getattr(sklearn.metrics, name)(*columns, **options))
    assert found.low is found.high is None
    assert why in found.reason


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
def test_an_average_over_some_labels_has_an_interval(average):
    truth, decided = [0, 1, 2, 1, 0, 2, 2, 1], [0, 2, 2, 1, 1, 2, 0, 1]
    asked = {"beta": 2.0, "labels": [0, 2], "average": average}
    found = face.fbeta_score(truth, decided, **asked)
    assert found == pytest.approx(sklearn.metrics.fbeta_score(truth, decided, **asked))
    assert 0 <= found.low < found < found.high <= 1
