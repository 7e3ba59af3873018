import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import stakes

DATA = {
    "y": [1, 0, 1, 0, 1],
    "p": [0.9, 0.4, 0.35, 0.1, 0.6],
    "w": [1.0, 2, 1, 2, 1],
    "site": ["n", "s", "n", "s", "s"],
}
TABLES = {
    "dict": DATA,
    "pandas": pd.DataFrame(DATA),
    "polars": pl.DataFrame(DATA),
    "polars lazy": pl.LazyFrame(DATA),
    "pyarrow": pa.table(DATA),
}


@pytest.mark.parametrize("data", TABLES.values(), ids=TABLES.keys())
def test_every_kind_of_table_gives_the_same_answer(data):
    ev = stakes.evaluate(data, truth="y", score="p", weight="w", by="site")
    assert ev.to_dict() == stakes.evaluate(DATA, truth="y", score="p", weight="w", by="site").to_dict()
    assert ev["auc"].value == pytest.approx(10 / 12)  # 2 · 2 + 2 · 2 + 2 of the 3 · 4 weighted pairs
    assert list(ev.segments) == ["n", "s"]


def test_a_table_and_an_array_may_be_mixed():
    assert stakes.evaluate(DATA, truth="y", score=np.array(DATA["p"]))["auc"].value == 5 / 6


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: stakes.evaluate([1, 0], [0.3, 0.2]), r"write which column is which: evaluate\(truth=y, score=p\)"),
        (lambda: stakes.evaluate(np.array([1, 0]), truth="y", score="p"), "write which column is which"),
        (lambda: stakes.evaluate(truth=[1, 0]), "give score= .*, prediction= .*, or both"),
        (lambda: stakes.evaluate(truth="y", score=[1, 2]), "truth='y' is a name, but no data was given"),
        (lambda: stakes.evaluate(DATA, truth="y", score="prob"), "score: there is no column 'prob'; there is 'y'"),
        (
            lambda: stakes.evaluate(pd.DataFrame(DATA), truth="Y", score="p"),
            "truth: there is no column 'Y'; did you mean 'y'",
        ),
        (lambda: stakes.evaluate(truth=[1, 0], score=[0.5]), "score has 1 row but truth has 2"),
        (lambda: stakes.evaluate(truth=[], score=[]), "truth is empty; there is nothing to evaluate"),
        (lambda: stakes.evaluate(7, truth="y", score="p"), "data is a int; give a file name, a data frame"),
        (
            lambda: stakes.evaluate(truth=[1, 0], score=["a", "b"]),
            r"score holds text \('a' and 'b'\); give one number per row",
        ),
        (
            lambda: stakes.evaluate(truth=[1, 0, 1], score=["0.5", "oops", "0.25"]),
            r"score holds text \('oops', beside numbers written as text\); give one number per row",
        ),
        (lambda: stakes.evaluate(truth=[1, 0], score=[0.5, np.nan]), "score is missing in 1 row .the first is row 2,"),
        (lambda: stakes.evaluate(truth=[1, 0], score=np.array([np.nan, 0.1])), "score is missing in 1 row"),
        (lambda: stakes.evaluate(truth=[1, 0], score=np.array([0.2, np.inf])), "score is infinite in 1 row"),
        (lambda: stakes.evaluate(truth=[1, 0], score=[0.5, None]), "score is missing in 1 row"),
        (lambda: stakes.evaluate(truth=[1, 0], score=[2**70, 1]), "beyond 64 bits"),
        (
            lambda: stakes.evaluate(truth=[1, 0], score=[1, 0], weight=[1, -2]),
            "weight is negative in 1 row .the first is row 2,",
        ),
        (lambda: stakes.evaluate(truth=[1, 0], score=[1, 0], weight=[0, 0]), "weight is 0 in every row"),
        (lambda: stakes.evaluate(truth=[1, 0], score=[1, 0], weight=[1, np.nan]), "weight is missing in 1 row"),
        (lambda: stakes.evaluate(truth=[1, 0], score=[1, 0], weight=[1, np.inf]), "weight is infinite in 1 row"),
        (lambda: stakes.evaluate(truth=[1, 0], score=[1, 0], threshold="high"), "threshold='high' is not a number"),
        (
            lambda: stakes.evaluate(truth=[1, 0], prediction=[1, 0], threshold=0.2),
            "threshold and prediction were both given",
        ),
        (
            lambda: stakes.evaluate(truth=[1, 0], score=[1, 0], costs=[[0, 1], [5, 0]]),
            "pass costs=Costs.miss=5, false_alarm=1., or",
        ),
        (lambda: stakes.evaluate(truth=[1, 0], score=[1, 0], confidence=95), "confidence=95 is not between 0 and 1"),
        (lambda: stakes.evaluate(truth=[1, 0], score=[1, 0], confidence=1), "confidence=1 is not between 0 and 1"),
        (
            lambda: stakes.evaluate(truth=[1, 0], score=[1, 0], seed=-1),
            "seed=-1 does not work; give a whole number from 0 on",
        ),
        (
            lambda: stakes.evaluate(truth=[1, 0], score=[1, 0], design="fixed"),
            "design='fixed' is not known; it is 'classes random' or 'classes fixed'",
        ),
        (
            lambda: stakes.evaluate(truth=[1, 0], score=[1, 0], task="regression"),
            "a regression is judged by prediction=",
        ),
        (
            lambda: stakes.evaluate(truth=[1, 0], score=[1, 0], task="ranking"),
            "task='ranking' is not known; the tasks are",
        ),
        (lambda: stakes.evaluate(truth=[3, 1], prediction=[3, 2]), "whole numbers, which can be classes or quantities"),
        (lambda: stakes.evaluate(truth=["3", "1"], prediction=["3", "2"]), "pass task='classification' or task='regr"),
        (
            lambda: stakes.evaluate(truth=[1, 0], score=[1, 0], baseline=3),
            "baseline= is the constant that a regression",
        ),
        (lambda: stakes.evaluate(truth=[0.5, np.nan], prediction=[1, 2]), "truth is missing in 1 row"),
        (lambda: stakes.evaluate(truth=[0.5, 1], prediction=np.array([1, np.inf])), "prediction is infinite in 1 row"),
        (
            lambda: stakes.evaluate(truth=[0.5, 1], prediction=["a", "b"], task="regression"),
            "prediction has 2 rows that hold no number \\('a'",
        ),
        (
            lambda: stakes.evaluate(truth=["a", "b"], score=np.eye(2)),
            r"score is an array of shape \(2, 2\) with no list of classes;",
        ),
        (
            lambda: stakes.evaluate(truth=list("abc"), score=np.eye(3), classes=["a", "b"]),
            "with 2 classes; pass classes=",
        ),
        (
            lambda: stakes.evaluate(truth=list("abc"), score={"a": [1, 0, 0], "b": [0, 1, 0]}),
            "score has no column for the class 'c'",
        ),
        (
            lambda: stakes.evaluate(truth=list("abc"), prediction=list("abc"), positive="a"),
            "positive='a' is for two classes",
        ),
        (lambda: stakes.evaluate(truth=list("abc"), score=[1, 2, 3]), "there is one score column for 3 classes"),
        (
            lambda: stakes.evaluate(truth=[0.5, 1], prediction=[1, 2], baseline=0, threshold=1),
            "threshold and prediction were both",
        ),
        (
            lambda: stakes.evaluate(truth=list("abc"), score=np.eye(3), classes="abc", threshold=0.5),
            "threshold= is for the scores of two classes",
        ),
        (lambda: stakes.Evaluation(3), r"an Evaluation is made from stakes\.count"),
    ],
)
def test_a_call_that_is_wrong_gets_a_useful_line(call, words):
    with pytest.raises(stakes.InputError, match=words) as problem:
        call()
    assert "\n" not in str(problem.value)


def test_the_callers_memory_is_never_written():
    truth, score = np.array([1, 0, 1, 1]), np.array([0.2, -0.0, 0.9, 0.3])
    decided, weight = np.array([1, 0, 0, 1]), np.array([1.0, 0, 2, 1])
    before = [a.copy() for a in (truth, score, decided, weight)]
    for a in (truth, score, decided, weight):
        a.flags.writeable = False
    ev = stakes.evaluate(truth=truth, score=score, prediction=decided, weight=weight, by=truth)
    ev.to_dict()
    for a, b in zip((truth, score, decided, weight), before, strict=True):
        assert np.array_equal(a, b)


def test_unusual_memory_layouts_are_read_rightly():
    block = np.asfortranarray(np.random.default_rng(0).random((50, 4)))
    truth = block[:, 0] < 0.5
    plain = stakes.evaluate(truth=truth.copy(), score=block[:, 1].copy())
    assert stakes.evaluate(truth=truth, score=block[:, 1]).to_dict() == plain.to_dict()
    assert stakes.evaluate(truth=truth[::-1], score=block[::-1, 1]).to_dict() == plain.to_dict()
    for kind in (">f8", ">f4", "longdouble"):
        scores = np.array([1.0, 2.0, 4.0, 3.0], kind)  # round numbers: their bytes look like small ones when swapped
        assert stakes.metrics.auc(np.array([0, 1, 1, 0], ">i4"), scores) == 0.75


# ── input that is allowed, but probably not meant ────────────────────────────────────────────────────────────────
def test_a_target_as_its_own_prediction_is_pointed_out():
    truth = np.array([0, 1, 1])
    with pytest.warns(stakes.InputWarning, match="prediction and truth are the same column"):
        stakes.evaluate(truth=truth, prediction=truth)
    with pytest.warns(stakes.InputWarning, match="score and truth are the same column"):
        stakes.evaluate({"y": [0, 1]}, truth="y", score="y")


def test_pandas_objects_whose_indexes_disagree_are_refused():
    truth = pd.Series([0, 1, 1])
    with pytest.raises(
        stakes.InputError, match="score and truth are pandas objects whose indexes disagree; align them"
    ):
        stakes.evaluate(truth=truth, score=pd.Series([0.1, 0.2, 0.3], index=[2, 1, 0]))
    assert stakes.evaluate(truth=truth, score=pd.Series([0.1, 0.2, 0.3]))["auc"].value == 1
    assert stakes.evaluate(truth=truth, score=np.array([0.1, 0.2, 0.3]))["auc"].value == 1


def test_decimals_are_numbers():
    from decimal import Decimal

    decimals = [Decimal("0.1"), Decimal("0.25"), Decimal("0.5")]
    expected = stakes.evaluate(truth=[0, 1, 1], score=[0.1, 0.25, 0.5]).to_dict()
    for column in (decimals, np.array(decimals, object), pl.Series(decimals), pa.array(decimals)):
        assert stakes.evaluate(truth=[0, 1, 1], score=column).to_dict() == expected


# ── scores of several classes ────────────────────────────────────────────────────────────────────────────────────
SCORES = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_frame_of_scores_is_taken_by_its_names(make):
    shuffled = make({"c": SCORES[:, 2], "a": SCORES[:, 0], "b": SCORES[:, 1]})
    expected = stakes.evaluate(truth=list("abc"), score=SCORES, classes="abc").to_dict()
    assert stakes.evaluate(truth=list("abc"), score=shuffled).to_dict() == expected
    assert stakes.evaluate(truth=list("abc"), score=SCORES.tolist(), classes="abc").to_dict() == expected


def test_a_class_with_scores_but_without_rows_is_a_class():
    score = {"a": [0.5, 0.2], "b": [0.3, 0.6], "c": [0.2, 0.2]}
    ev = stakes.evaluate(truth=["a", "b"], score=score)
    assert ev.classes == ("a", "b", "c")
    assert ev["log_loss"].value == pytest.approx(-(np.log(0.5) + np.log(0.6)) / 2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"score": np.ma.array(SCORES, mask=np.eye(3) > 0), "classes": "abc"}, "score is missing in 3 rows"),
        ({"score": np.where(np.eye(3) > 0, np.nan, SCORES), "classes": "abc"}, "score is missing in 3 rows"),
        ({"score": SCORES, "classes": {"a", "b", "c"}}, "has no order; give a list"),
        ({"score": SCORES[:2], "classes": "abc"}, "score has 2 rows but truth has 3"),
        ({"score": {1: [0, 1, 0], "1": [1, 0, 1]}}, "give at least two different classes"),
        ({"score": {}}, "give score="),
        ({"prediction": list("abc"), "classes": 3}, "classes=3 has no order"),
        ({"prediction": [["a"], ["b", "c"], ["a"]]}, r"several labels per row \(multilabel\) can be evaluated"),
    ],
)
def test_scores_and_classes_that_are_wrong(options, words):
    with pytest.raises(stakes.InputError, match=words):
        stakes.evaluate(truth=list("abc"), **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"truth": ["1.5", "2.5", "3.5", "-"], "prediction": ["1", "2", "3", "4"]},
            r"truth has 1 row that holds no number \('-'",
        ),
        ({"truth": [0, 1, 1], "prediction": [0.2, 0.9, 0.6]}, "pass probabilities as score=, or task='regression'"),
        ({"truth": ["1.5", "inf"], "prediction": ["1", "2"]}, "truth is infinite in 1 row"),
        ({"truth": ["1.5", "1_000"], "prediction": ["1", "2"], "task": "regression"}, "'1_000'"),
        ({"truth": [1.5, 2], "prediction": [1, 2], "baseline": float("nan")}, "baseline=nan is not a finite number"),
        ({"truth": [1.5, 2], "prediction": [1, 2], "baseline": "3"}, "baseline='3' is not a finite number"),
        (
            {"truth": [1.5, 2], "prediction": [1, 2], "score": [1, 2], "task": "regression"},
            "a regression is judged by prediction=",
        ),
        ({"truth": [1.5e308, 1.0], "prediction": [-1.5e308, 0.5]}, "too far apart for a float"),
    ],
)
def test_numbers_that_are_wrong(options, words):
    with pytest.raises(stakes.InputError, match=words):
        stakes.evaluate(**options)


# ── batches ──────────────────────────────────────────────────────────────────────────────────────────────────────
def test_batches_are_counted_and_added():
    frame = pd.DataFrame(DATA)

    def batches():
        yield frame[:2]
        yield frame[2:]

    whole = stakes.evaluate(frame, truth="y", score="p", by="site")
    assert stakes.evaluate(batches(), truth="y", score="p", by="site").to_dict() == whole.to_dict()
    numbers = pd.DataFrame({"t": [1.5, 2, 3, 10], "p": [1, 2, 3, 4.5]})
    ev = stakes.evaluate(iter([numbers[:2], numbers[2:]]), truth="t", prediction="p", baseline=2)
    assert ev["mae"].value == stakes.evaluate(numbers, truth="t", prediction="p", baseline=2)["mae"].value
    assert ev.largest_errors[0].row == 3
    weighted = numbers.assign(w=[0.5, 0, 2, 3])
    options = {"truth": "t", "prediction": "p", "weight": "w", "baseline": 2, "task": "regression"}
    assert stakes.evaluate(iter([weighted[:2], weighted[2:]]), **options).largest_errors[0].row == 3
    lazy = iter([pl.LazyFrame(weighted[:2]), pl.LazyFrame(weighted[:0]), pl.LazyFrame(weighted[2:])])
    assert stakes.evaluate(lazy, **options).largest_errors[0].row == 3
    arrow = iter(pa.table(DATA).to_batches(max_chunksize=2))
    assert stakes.evaluate(arrow, truth="y", score="p", by="site").to_dict() == whole.to_dict()
    with pytest.raises(stakes.InputError, match="an iterator that gave no batch"):
        stakes.evaluate(iter([]), truth="y", score="p")


def test_a_wrong_batch_is_named():
    frame = pd.DataFrame({"y": ["a", "b", "c", "a", "b", "a"], "d": ["a", "b", "c", "c", "b", "a"]})
    halves = (frame[:3], frame[3:5])
    classes = stakes.evaluate(iter(halves), truth="y", prediction="d", classes="abc")
    assert classes.confusion.counts.tolist() == [[1, 0, 1], [0, 2, 0], [0, 0, 1]]
    with pytest.raises(stakes.InputError, match=r"batch 2, which begins at row 4: .*classes= names the classes of all"):
        stakes.evaluate(iter((frame[:3], frame[5:])), truth="y", prediction="d")
    broken = frame[3:].assign(d=["a", None, "b"])
    with pytest.raises(
        stakes.InputError, match=r"batch 2, which begins at row 4: prediction is missing in 1 row .*row 2"
    ):
        stakes.evaluate(iter((frame[:3], broken)), truth="y", prediction="d", classes="abc")


# ── more classes than a table can hold ───────────────────────────────────────────────────────────────────────────
def test_thousands_of_classes_give_the_sparse_figures():
    rng = np.random.default_rng(0)
    truth = np.concatenate([np.arange(1500), rng.integers(0, 1500, 3000)])
    decided = np.where(rng.random(4500) < 0.7, truth, (truth + 1) % 1500)
    ev = stakes.evaluate(truth=truth, prediction=decided, task="classification", by=np.arange(4500) % 2)
    assert ev["accuracy"].value == (truth == decided).mean()
    assert ev["accuracy"].baseline == np.bincount(truth).max() / 4500
    assert ev["kappa"].reason.startswith("1,500 classes × 1,500 decisions are too many for a table; there are accuracy")
    worst = ev.most_confused(3)
    wrong = truth[truth != decided]
    assert [count for _, _, count, _ in worst] == sorted(np.bincount(wrong))[::-1][:3]
    pairs = {(t, d): ((truth == int(t)) & (decided == int(d))).sum() for t, d, _, _ in worst}
    assert [count for _, _, count, _ in worst] == list(pairs.values())
    assert ev.segments["0"]["accuracy"].value == (truth == decided)[::2].mean()
    assert "Most confused" in str(ev)
    both = stakes.count(truth=truth, prediction=decided, task="classification")
    twice = stakes.Evaluation(both + both)
    assert twice.rows == 9000
    assert twice["accuracy"].value == ev["accuracy"].value
    assert stakes.Evaluation(type(both).from_dict(both.to_dict()))["accuracy"].value == ev["accuracy"].value
    names = tuple(map(str, range(1500)))
    with pytest.raises(stakes.InputError, match="1,500 classes × 1,500 decisions would make a table of 2,250,000"):
        stakes.Confusion(names, names, np.zeros((1500, 1500)))
