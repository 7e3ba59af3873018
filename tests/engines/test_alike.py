"""Labels that are nearly alike: the same answer from every engine."""

import itertools

import duckdb
import pandas as pd
import polars as pl
import pytest

import stakes
from stakes.engines import streaming
from stakes.engines.alike import ALIKE, form

ROWS = {
    "y": ["Yes", "yes ", "No", "NO", "yes", "No"],
    "d": ["YES", "No", "no", "yes", "yes", "No"],
    "site": ["A", "A", "A", "B", "B", "B"],
}
TRUTH = [1, 1, 0, 0, 1, 0]
DECIDED = [1, 0, 0, 1, 1, 0]


@pytest.fixture(params=["csv", "streamed", "parquet", "pandas", "polars", "lazy", "duckdb", "dictionary"])
def table(request, tmp_path, monkeypatch):
    frame = pl.DataFrame(ROWS)
    if request.param in ("csv", "streamed"):
        if request.param == "streamed":
            monkeypatch.setattr(streaming, "MOST_EXACT", 2)
            monkeypatch.setattr(streaming, "BATCH", 2)
        frame.write_csv(tmp_path / "rows.csv")
        return tmp_path / "rows.csv"
    if request.param == "parquet":
        frame.write_parquet(tmp_path / "rows.parquet")
        return tmp_path / "rows.parquet"
    made = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "lazy": pl.LazyFrame, "dictionary": dict}
    if request.param in made:
        return made[request.param](ROWS)
    duckdb.execute("CREATE OR REPLACE TABLE nearly_alike AS SELECT * FROM frame")
    return duckdb.table("nearly_alike")


def test_every_engine_makes_labels_alike(table):
    question = {"truth": "y", "prediction": "d", "by": "site", "positive": "yes"}
    with pytest.raises(stakes.InputError, match=r"the labels '.*' and '.*' differ in .* only"):
        stakes.evaluate(table, **question)
    made = stakes.evaluate(table, **question, alike="case,blanks")
    plain = stakes.evaluate(truth=TRUTH, prediction=DECIDED, by=ROWS["site"])
    assert (made.negative, made.positive) == ("no", "yes")
    assert made.confusion.counts.tolist() == plain.confusion.counts.tolist()
    for name in ("A", "B"):
        assert made.segments[name]["recall"].value == plain.segments[name]["recall"].value


def test_counts_of_different_days_add_up_once_their_labels_are_alike():
    days = [
        stakes.count(truth=truth, prediction=said, alike="case", positive="yes")
        for truth, said in ((["Yes", "No"], ["yes", "NO"]), (["YES", "no"], ["No", "no"]))
    ]
    assert stakes.Evaluation(days[0] + days[1])["recall"].value == 0.5


def test_a_form_is_the_form_of_itself():
    names = [
        "Yes",
        " yes\u00a0",
        "1.0",
        "+1",
        "TRUE",
        "007",
        "cafe\u0301",
        "\u200b",
        "ﬁ",
        "1e400",
        "-0",
        '"1.0"',
        "a-b",
        "1,0",
    ]
    for size in (1, 2, 3, 4, 5):
        for words, name in itertools.product(itertools.combinations(ALIKE, size), names):
            assert form(form(name, words), words) == form(name, words)


DIFFERENCES = {
    "numbers": [("1", "1.0"), ("1", "true"), ("-0", "0"), ("1,0", "1.0"), ("1,000", "1000"), ("1,000.5", "1000.5")],
    "case": [("a", "A"), ("ß", "SS")],
    "blanks": [("a b", "a  b "), ("NewYork", "New York")],
    "punctuation": [
        *(("new york", "new_york"), ("a-b", "a\u2013b"), ("a_b", "a-b"), ("A/B", "A-B"), ("A (x)", "A x")),
        *(("it's", "it\u2019s"), ("y-es", "yes"), ("-1", "'-1'"), ("1.0", '"1.0"')),
        *(("yes", spelled) for spelled in ("yes.", "'yes'", '"yes"', "yes,", "yes_", "[yes]", "\u201cyes\u201d")),
    ],
    "unicode": [("é", "e\u0301"), ("a", "a\ufeff"), ("é", "e"), ("Ångström", "Angstrom")],
}


@pytest.mark.parametrize("word", ALIKE)
def test_each_word_makes_its_own_difference_alike(word):
    for one, other in DIFFERENCES[word]:
        assert next(alike for alike in ALIKE if form(one, (alike,)) == form(other, (alike,))) == word
        assert form(one, ALIKE) == form(other, ALIKE)


@pytest.mark.parametrize(("one", "other"), [("007", "7"), ("1", "2"), ("ab", "a b"), ("nan", "NaN "), ("1", "yes")])
def test_what_differs_in_meaning_stays_apart(one, other):
    assert form(one, ("numbers",)) != form(other, ("numbers",))


APART = [
    *(
        ("-1", "1"),
        ("'-1'", "1"),
        ("1.5", "15"),
        ("1-2", "12"),
        ("1 2", "12"),
        ("2020-01", "202001"),
        ("A01.1", "A011"),
    ),
    *(("+", "-"), ("...", "-"), ("<=50K", ">50K"), ("C", "C++"), ("A", "A+"), ("กิน", "กัน")),
]


@pytest.mark.parametrize(("one", "other"), APART)
def test_signs_that_mean_something_stay(one, other):
    assert form(one, ALIKE) != form(other, ALIKE)
