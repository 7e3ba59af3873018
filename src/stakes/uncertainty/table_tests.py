"""Tests of a published table: is it better than always saying the most frequent class, and do its margins agree?"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from stakes import errors
from stakes.errors import InputError
from stakes.records import Count, Record, Share
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Array, Values
from stakes.uncertainty.shares import exact_p_value
from stakes.uncertainty.two_samples import fisher


@dataclass(frozen=True)
class TableTest(Record):
    """A test by its name, what it asks, its statistic (None of exact tests) and its p-value."""

    name: str
    question: str
    p_value: Share
    statistic: float | None = None


@dataclass(frozen=True, eq=False)
class TableTests(Record, shown="rows accuracy no_information_rate tests"):
    """What the textbook's tests say about a table of truths (rows) and decisions (columns).

    ``no_information_rate`` is the share of the most frequent class. Intervals and comparisons of stakes do not rest on
    these; they are here to check published ones.
    """

    rows: Count
    accuracy: Share
    no_information_rate: Share
    tests: tuple[TableTest, ...]

    def __getitem__(self, name: str) -> TableTest:
        for test in self.tests:
            if test.name == name:
                return test
        raise InputError(
            "no-such-test", f"there is no test {name!r}{errors.nearest(name, [t.name for t in self.tests])}"
        )

    def __iter__(self) -> Iterator[str]:
        return (test.name for test in self.tests)

    def __repr__(self) -> str:
        found = ", ".join(f"{test.name} p = {test.p_value:.4g}" for test in self.tests)
        return f"<Tests of a table of {self.rows:,} rows: {found}>"


def table_tests(table: Confusion | Values) -> TableTests:
    """Test a table of counts: a :class:`Confusion`, or rows of numbers (rows are the truth, columns the decisions).

    "no information": is the accuracy above the share of the most frequent class (binomial, one-sided)? "mcnemar exact",
    "mcnemar" and "mcnemar corrected" (the χ² without and with the correction for continuity): is either mistake made
    more often than the other? Of two models, count on which rows each is right: rows the first, columns the second. Of
    more than two classes "mcnemar" is Bowker's test of symmetry. "fisher" (two-sided) and "fisher greater": have
    truth and decision anything to do with each other?

    >>> found = table_tests([[231, 27], [32, 54]])
    >>> [f"{found[name].p_value:.4g}" for name in ("no information", "mcnemar corrected")]
    ['0.0003097', '0.6025']
    """
    counts = _counts(table)
    n, hits, most = int(counts.sum()), int(np.trace(counts)), int(counts.sum(axis=1).max())
    tests = [_no_information(hits, most, n), *_mcnemar(counts)]
    if counts.shape == (2, 2):
        tests += _fisher(counts)
    return TableTests(n, hits / n, most / n, tuple(tests))


def _counts(table: Confusion | Values) -> Array:
    """The counts of a square table, the decisions in the order of the truths."""
    if isinstance(table, Confusion):
        if table.leading or table.weighted or set(table.truths) != set(table.decisions):
            raise errors.bad_counts("tests need one table of plain counts, whose decisions are its classes")
        return np.asarray(table.counts[:, [table.decisions.index(name) for name in table.truths]])
    size = len(table) if hasattr(table, "__len__") else 0
    names = tuple(map(str, range(size)))
    made = Confusion(names, names, table)
    if made.leading or not made.total:
        raise errors.bad_counts("tests need one table with rows in it")
    made.check_counts()
    return np.asarray(made.counts).astype(np.int64)


def _no_information(hits: int, most: int, n: int) -> TableTest:
    from scipy.special import bdtrc

    p_value = float(bdtrc(hits - 1, n, most / n)) if hits else 1.0
    return TableTest("no information", "Is the accuracy above the share of the most frequent class?", p_value)


def _mcnemar(counts: Array) -> Iterator[TableTest]:
    """McNemar (1947), Psychometrika 12; Edwards (1948), Psychometrika 13; Bowker (1948), JASA 43."""
    from scipy.special import chdtrc

    upper = np.triu_indices(len(counts), 1)
    one, other = counts[upper].astype(np.float64), counts.T[upper].astype(np.float64)
    apart, sums = np.abs(one - other), one + other
    question = "Is either mistake made more often than the other?"

    def squared(less: float) -> float:
        return float(np.divide(np.maximum(apart - less, 0) ** 2, sums, out=np.zeros(len(sums)), where=sums > 0).sum())

    pairs = {"mcnemar": squared(0.0)}
    if len(counts) == 2:
        yield TableTest("mcnemar exact", question, exact_p_value(int(one[0]), int(other[0])))
        pairs["mcnemar corrected"] = squared(1.0)
    for name, statistic in pairs.items():
        yield TableTest(name, question, float(chdtrc(len(sums), statistic)), statistic)


def _fisher(counts: Array) -> Iterator[TableTest]:
    """Fisher (1935), Journal of the Royal Statistical Society 98."""
    from scipy.special import betaln, logsumexp

    (a, b), (c, d) = counts.tolist()
    question = "Have truth and decision anything to do with each other?"
    two_sided = float(fisher([a], [a + b], [c], [c + d])[0])
    yield TableTest("fisher", question, min(two_sided, 1.0))
    hits = np.arange(a, min(a + b, a + c) + 1, dtype=np.float64)

    def ways(of: Array | float, chosen: Array) -> Array:
        return np.asarray(-betaln(of - chosen + 1, chosen + 1) - np.log(np.asarray(of) + 1.0))

    log = (
        ways(float(a + b), hits) + ways(float(c + d), a + c - hits) - ways(float(a + b + c + d), np.array(float(a + c)))
    )
    yield TableTest(
        "fisher greater", "Is the diagonal fuller than chance makes it?", min(math.exp(logsumexp(log)), 1.0)
    )
