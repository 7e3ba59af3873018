"""Two samples of different rows: how far apart are their figures, and could that be chance?

Many pairs are compared at once: every argument is an array with an entry for each of them.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from stakes import errors
from stakes.errors import InputError
from stakes.records import Count, Record, Share
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Array, Values
from stakes.uncertainty.interval import exact_p_value

_SPREAD = 30.0
"""Counts of hits with a larger standard deviation than this are taken as normal."""


@dataclass(frozen=True, eq=False)
class Side:
    """Figures of one sample of each pair with the ends of their intervals, and how many rows each rests on."""

    value: Array
    low: Array
    high: Array
    rows: Array


@dataclass(frozen=True, eq=False)
class Differences:
    """First minus second, with intervals and two-sided p-values; NaN where something is unknown."""

    value: Array
    low: Array
    high: Array
    p_value: Array


def mover(one: Side, other: Side, confidence: float, correlation: Values = 0.0) -> Differences:
    """Return differences whose intervals are put together from those of both figures.

    The distances from each figure to the end of its own interval add up like standard errors. A p-value is one minus
    the confidence at which the interval would end at 0, on Student's t with the rows of the smaller sample, so that it
    is below 0.05 just when a 95 % interval leaves 0 out. Figures of rows of the same clusters have a ``correlation``.
    Newcombe (1998), Statistics in Medicine 17, method 10; Zou & Donner (2008), Statistics in Medicine 27.
    """
    from scipy.special import stdtr, stdtrit

    with np.errstate(invalid="ignore", divide="ignore"):  # what is unknown is NaN, and stays so
        value = one.value - other.value
        below = _apart(one.value - one.low, other.high - other.value, correlation)
        above = _apart(one.high - one.value, other.value - other.low, correlation)
        degrees = np.maximum(np.minimum(one.rows, other.rows) - 1, 1)
        away = np.abs(value) / np.where(value > 0, below, above) * stdtrit(degrees, (1 + confidence) / 2)
        p_value = np.where(value == 0, 1.0, 2 * stdtr(degrees, -away))
    unknown = ~np.isfinite(value - below) | ~np.isfinite(value + above)
    return Differences(*(np.where(unknown, np.nan, each) for each in (value, value - below, value + above, p_value)))


def _apart(one: Array, other: Array, correlation: Values) -> Array:
    """The half-width of the interval of a difference, from those of both figures."""
    alone = np.sqrt(np.maximum(1 - np.square(correlation), 0.0)) * other
    return np.asarray(np.hypot(one - correlation * other, alone))


def agree(found: Differences, p_value: Array, confidence: float) -> Differences:
    """Return other p-values with these intervals, such that 0 is left out just when p is below 1 − confidence.

    A test that is more careful than the interval widens it to 0; where the interval is more careful its p-value stays.
    """
    with np.errstate(invalid="ignore"):
        inside = (found.low <= 0) & (found.high >= 0)
        p_value = np.where(np.isnan(found.low) | (inside & (p_value < 1 - confidence)), found.p_value, p_value)
        still_open = p_value >= 1 - confidence
    low = np.where(still_open, np.minimum(found.low, 0.0), found.low)
    high = np.where(still_open, np.maximum(found.high, 0.0), found.high)
    return Differences(found.value, low, high, p_value)


def permuted_means(powers: Array, means: Array, rows: Array) -> Array:
    """Return two-sided p-values of means: would the mean of so many rows, chosen at random, lie that far away?

    ``powers`` are the number of all rows and the sums of their first three powers. The means of all possible choices
    have a known mean, variance and skewness; a gamma distribution with the same ones gives the p-value. Student's t
    would be too sure where rows are skewed: a choice of small losses has a small spread, too.
    Mielke & Berry (2007), Permutation Methods, chapter 2 (Pearson's type III).
    """
    from scipy.special import gammainc, gammaincc, ndtr

    total, (first, second, third) = float(powers[0]), (powers[1:] / powers[0]).tolist()
    left = total - rows
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt(max(second - first**2, 0.0) / rows * left / (total - 1))
        z = (means - first) / error
        of_mean = (left - rows) * np.sqrt(total - 1) / ((total - 2) * np.sqrt(rows * left))
        skewness = skewness_of_rows(first, second, third) * of_mean
        skewed = np.abs(skewness) > 1e-4
        shape = 4 / np.where(skewed, skewness, 1.0) ** 2
        place = np.maximum(shape + np.sign(skewness) * z * np.sqrt(shape), 0.0)
        below, above = gammainc(shape, place), gammaincc(shape, place)
        one_side = np.where(skewed, np.minimum(below, above), ndtr(-np.abs(z)))
    return np.asarray(np.minimum(2 * one_side, 1.0))


def of_shares(one: Side, other: Side, confidence: float) -> Differences:
    """Return differences of shares of unweighted rows: Newcombe's intervals, and exact p-values."""
    found = mover(one, other, confidence)
    hits = [np.rint(side.value * side.rows) for side in (one, other)]
    p_value = np.full(len(one.value), np.nan)
    known = np.flatnonzero(np.isfinite(found.value))
    p_value[known] = fisher(hits[0][known], one.rows[known], hits[1][known], other.rows[known])
    return agree(found, p_value, confidence)


def fisher(hits: Values, rows: Values, other_hits: Values, other_rows: Values) -> Array:
    """Return the two-sided p-values of Fisher's exact test: how probable are numbers of hits no likelier than these?

    With hundreds of hits the score test gives the same.
    """
    from scipy.special import ndtr

    hits, rows, other_hits, other_rows = (np.asarray(each, np.float64) for each in (hits, rows, other_hits, other_rows))
    of_all, total = hits + other_hits, rows + other_rows
    mean = rows * of_all / total
    spread = np.sqrt(mean * (1 - of_all / total) * (1 - rows / total) * total / np.maximum(total - 1, 1))
    p_values: Array = 2 * ndtr(-np.abs(hits - mean) / np.maximum(spread, 1e-300))
    few = np.flatnonzero(spread <= _SPREAD)
    if len(few):
        p_values[few] = _exact(hits[few], rows[few], of_all[few], total[few], mean[few], spread[few])
    return p_values


def _exact(hits: Array, rows: Array, of_all: Array, total: Array, mean: Array, spread: Array) -> Array:
    """Add up hypergeometric probabilities, those of all pairs in one array."""
    from scipy.special import gammaln

    # further away lies less than a float holds; the hits themselves always count
    reach = 40 * spread + 50
    low = np.maximum(np.maximum(0, rows + of_all - total), np.minimum(np.floor(mean - reach), hits))
    high = np.minimum(np.minimum(rows, of_all), np.maximum(np.ceil(mean + reach), hits))
    lengths = (high - low + 1).astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    pair = np.repeat(np.arange(len(hits)), lengths)
    x = np.arange(len(pair)) - starts[pair] + low[pair]

    def log_share(x: Array, which: Array | slice) -> Array:
        r, k, n = rows[which], of_all[which], total[which]
        cells = (x, k - x, r - x, n - r - k + x)
        return np.asarray(-sum(gammaln(cell + 1) for cell in cells))

    logs, seen = log_share(x, pair), log_share(hits, slice(None))
    likely = np.exp(logs - np.maximum.reduceat(logs, starts)[pair])
    as_rare = logs <= seen[pair] + 1e-7
    return np.minimum(np.add.reduceat(likely * as_rare, starts) / np.add.reduceat(likely, starts), 1.0)


def skewness_of_rows(first: float, second: float, third: float) -> float:
    """Return the skewness of single rows from the means of their first three powers."""
    variance = second - first**2
    if variance <= 1e-14 * second or variance < 1e-200:  # nothing but rounding, or too small for its power
        return 0.0
    return float((third - 3 * first * second + 2 * first**3) / variance**1.5)


# ── several tests at once ────────────────────────────────────────────────────────────────────────────────────────
def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values that may each be compared with the level of the whole family; their order is kept.

    The smallest is multiplied by the number of tests, the next by one less, and so on, never falling.
    Holm (1979), Scandinavian Journal of Statistics 6.

    >>> holm([0.25, 0.0625, 0.125])
    [0.25, 0.1875, 0.25]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    found, least = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[place]))
        found[place] = least
    return found


# ── tests of a published table ───────────────────────────────────────────────────────────────────────────────────


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
    from scipy.special import bdtrc

    counts = _counts(table)
    n, hits, most = int(counts.sum()), int(np.trace(counts)), int(counts.sum(axis=1).max())
    p_value = float(bdtrc(hits - 1, n, most / n)) if hits else 1.0
    above = TableTest("no information", "Is the accuracy above the share of the most frequent class?", p_value)
    tests = [above, *_mcnemar(counts)]
    if counts.shape == (2, 2):
        tests += _fisher(counts)
    return TableTests(n, hits / n, most / n, tuple(tests))


def _counts(table: Confusion | Values) -> Array:
    """The counts of a square table, the decisions in the order of the truths."""
    if isinstance(table, Confusion):
        if table.leading or table.weighted or set(table.truths) != set(table.decisions):
            raise errors.bad_counts("tests need one table of plain counts, whose decisions are its classes")
        return np.asarray(table.counts[:, [table.decisions.index(name) for name in table.truths]])
    if hasattr(table, "shape"):  # some arrays have no length
        size = table.shape[0] if table.shape else 0
    else:
        size = len(table) if hasattr(table, "__len__") else 0
    names = tuple(map(str, range(size)))
    made = Confusion(names, names, table)
    if made.leading or not made.total:
        raise errors.bad_counts("tests need one table with rows in it")
    made.check_counts()
    return np.asarray(made.counts).astype(np.int64)


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

    def log_share(of: Array | float, chosen: Array) -> Array:
        return np.asarray(-betaln(of - chosen + 1, chosen + 1) - np.log(np.asarray(of) + 1.0))

    log = (
        log_share(float(a + b), hits)
        + log_share(float(c + d), a + c - hits)
        - log_share(float(a + b + c + d), np.array(float(a + c)))
    )
    yield TableTest(
        "fisher greater", "Is the diagonal fuller than chance makes it?", min(math.exp(logsumexp(log)), 1.0)
    )
