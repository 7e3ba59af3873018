"""Worlds whose true figures are known, because rows are made from uniform numbers.

Random numbers make a sample. An even net of half a million points makes the rows whose figures are taken for the true
ones: they are as close to those of infinitely many rows as a thousandth of an interval's width.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, gammaincinv, ndtr, ndtri, stdtrit
from scipy.stats import poisson, qmc

from stakes.metrics import average_precision

Numbers = np.ndarray
Rows = dict[str, object]
"""Columns as ``stakes.evaluate`` takes them, or ``stakes.compare`` with two models ``a`` and ``b``."""
Law = Callable[[Numbers], Numbers]
Rates = tuple[float, float]
"""The shares of the positives and of the negatives that raise an alarm."""

NET = 19
"""The net has 2 to this power points."""
_INSIDE = 1e-12


@dataclass(frozen=True)
class World:
    """``make`` turns ``numbers`` uniform numbers a row into rows.

    With ``clusters`` their sizes are lognormal (σ 1), the rows of one have the first ``shared`` numbers in common, and
    ``rows`` is the mean number of rows. With ``fixed`` every sample has the same class counts. Rows of a ``series``
    depend on those before them.
    """

    words: str
    rows: int
    numbers: int
    make: Callable[[Numbers], Rows]
    clusters: int = 0
    shared: int = 0
    fixed: bool = False
    series: bool = False

    def sample(self, rng: np.random.Generator) -> Rows:
        if self.clusters:
            return self._sample_clusters(rng)
        u = rng.random((self.numbers, self.rows))
        if self.fixed:
            u[0] = (np.arange(self.rows) + 0.5) / self.rows
        return self.make(np.clip(u, _INSIDE, 1 - _INSIDE))

    def _sample_clusters(self, rng: np.random.Generator) -> Rows:
        mean = self.rows / self.clusters
        sizes = np.ceil(mean * rng.lognormal(-0.5, 1, self.clusters)).astype(int)
        cluster = np.repeat(np.arange(self.clusters), sizes)
        u = rng.random((self.numbers, len(cluster)))
        u[: self.shared] = rng.random((self.shared, self.clusters))[:, cluster]
        return {**self.make(np.clip(u, _INSIDE, 1 - _INSIDE)), "cluster": cluster}

    def ideal(self) -> Rows:
        """Rows that stand for infinitely many; every row is a cluster of its own."""
        net = _net(self.numbers)
        return self.make(np.random.default_rng(0).permuted(net, axis=1) if self.series else net)


@cache
def _net(numbers: int) -> Numbers:
    points = qmc.Sobol(numbers, seed=0).random_base2(NET).T
    return np.clip(points, _INSIDE, 1 - _INSIDE)


# ── scores of two classes ────────────────────────────────────────────────────────────────────────────────────────
def squash(x: Numbers) -> Numbers:
    """Any number as one between 0 and 1, in the same order and without ties at the ends."""
    return 0.5 + 0.5 * x / (1 + np.abs(x))


def apart_for(auc: float) -> float:
    """How far apart two normal scores are that have this auc."""
    return math.sqrt(2) * float(ndtri(auc))


def ranked(prevalence: float, apart: float, *, hidden: float = 0, law: Law = ndtri) -> Callable[[Numbers], Rows]:
    """Scores of the positives lie higher; a ``hidden`` share of them has the scores of negatives (three numbers)."""

    def make(u: Numbers) -> Rows:
        truth = u[0] < prevalence
        seen = truth & (u[2] >= hidden)
        return {"truth": truth, "score": squash(law(u[1]) + apart * seen)}

    return make


def calibrated(prevalence: float, apart: float, dishonest: float = 1, steps: int = 0) -> Callable[[Numbers], Rows]:
    """Normal scores as probabilities, honest unless they are raised to a power; in so many steps if asked (two)."""

    def make(u: Numbers) -> Rows:
        truth = u[0] < prevalence
        odds = math.log(prevalence / (1 - prevalence))
        p = expit(odds + apart * (ndtri(u[1]) + apart * truth) - apart**2 / 2) ** dishonest
        return {"truth": truth, "score": np.round(p * steps) / steps if steps else p}

    return make


def extreme(u: Numbers) -> Rows:
    """Honest probabilities near 0 or 1 (three numbers)."""
    p = expit(np.where(u[1] < 0.5, -5, 5) + ndtri(u[2]))
    return {"truth": u[0] < p, "score": p}


def two_valued(prevalence: float, low: Rates, values: tuple[float, float]) -> Callable[[Numbers], Rows]:
    """A score with two values; the higher one is an alarm with these rates (two numbers)."""

    def make(u: Numbers) -> Rows:
        rows = decided(prevalence, low)(u)
        return {"truth": rows["truth"], "score": np.where(rows["prediction"], values[1], values[0])}

    return make


# ── decisions ────────────────────────────────────────────────────────────────────────────────────────────────────
def decided(prevalence: float, rates: Rates) -> Callable[[Numbers], Rows]:
    """Alarms (two numbers)."""

    def make(u: Numbers) -> Rows:
        truth = u[0] < prevalence
        return {"truth": truth, "prediction": u[1] < np.where(truth, *rates)}

    return make


def many_decided(k: int, right: float) -> Callable[[Numbers], Rows]:
    """So many equally frequent classes; mistakes go to any other (three numbers)."""

    def make(u: Numbers) -> Rows:
        truth = np.floor(k * u[0]).astype(int)
        wrong = (truth + 1 + np.floor((k - 1) * u[2]).astype(int)) % k
        return {"truth": truth, "prediction": np.where(u[1] < right, truth, wrong), "classes": list(range(k))}

    return make


def many_scored(k: int, apart: float) -> Callable[[Numbers], Rows]:
    """Probabilities of so many classes, honest, from normal evidence for each (one number more than classes)."""

    def make(u: Numbers) -> Rows:
        truth = np.floor(k * u[0]).astype(int)
        odds = np.exp(apart * (ndtri(u[1:]) + apart * (truth == np.arange(k)[:, None])))
        return {"truth": truth, "score": (odds / odds.sum(axis=0)).T, "classes": list(range(k))}

    return make


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────
def lognormal(u: Numbers) -> Numbers:
    """Mean 0, variance e² − e, mean absolute value 2√e · (2Φ(½) − 1) = 1.2626."""
    return np.exp(ndtri(u)) - math.exp(0.5)


def student(u: Numbers) -> Numbers:
    """Student's t with 3 degrees of freedom: variance 3."""
    return stdtrit(3, u)


def uniform(u: Numbers) -> Numbers:
    return u - 0.5


def outliers(u: Numbers) -> Numbers:
    """Normal, but one in a hundred is twenty times as large."""
    rare = u < 0.01
    return np.where(rare, 20 * ndtri(u / 0.01), ndtri((u - 0.01) / 0.99))


def predicted(errors: Law, size: float = 0.5, truth: Law = ndtri) -> Callable[[Numbers], Rows]:
    """Predictions with errors of a law (two numbers)."""

    def make(u: Numbers) -> Rows:
        y = truth(u[0])
        return {"truth": y, "prediction": y - size * errors(u[1])}

    return make


# ── other kinds of rows ──────────────────────────────────────────────────────────────────────────────────────────
def labelled(u: Numbers) -> Rows:
    """Three labels that go together, the last of them rare, and scores of them (six numbers)."""
    shared = 0.5 * ndtri(u[0])
    truth = np.stack([shared + ndtri(one) > cut for one, cut in zip(u[:3], (0.0, 0.5, 2.0), strict=True)], axis=1)
    scores = expit(truth * 1.5 - 0.75 + ndtri(u[3:6]).T)
    return {"truth": truth, "score": scores}


def graded(u: Numbers) -> Rows:
    """Five grades, decided about one step off (two numbers)."""
    hidden = ndtri(u[0])
    codes = [np.searchsorted((-1.5, -0.5, 0.5, 1.5), one) for one in (hidden, hidden + 0.7 * ndtri(u[1]))]
    return {"truth": codes[0], "prediction": codes[1], "ordered": True}


def graded_by_chance(u: Numbers) -> Rows:
    """Four grades, cut from a normal law, and their honest probabilities where half of it is known (two numbers)."""
    known, cuts = ndtri(u[0]), np.array([-1.5, 0.0, 1.5])
    below = ndtr(math.sqrt(2) * (cuts - math.sqrt(0.5) * known[:, None]))
    chances = np.diff(below, axis=1, prepend=0.0, append=1.0)
    truth = np.searchsorted(cuts, math.sqrt(0.5) * (known + ndtri(u[1])))
    return {"truth": truth, "score": chances, "classes": [0, 1, 2, 3], "ordered": True}


def amounts_of_claims(u: Numbers) -> Rows:
    """Amounts of a gamma law of shape 2 around means that were predicted up to a factor (three numbers)."""
    mean = 1000 * np.exp(0.5 * ndtri(u[0]))
    return {"truth": mean * gammaincinv(2, u[1]) / 2, "prediction": mean * np.exp(0.2 * ndtri(u[2])), "task": "counts"}


def counted(u: Numbers) -> Rows:
    """Rare counts of different rates, predicted up to a factor (three numbers)."""
    rate = 0.3 * np.exp(0.6 * ndtri(u[0]))
    return {"truth": poisson.ppf(u[1], rate), "prediction": rate * np.exp(0.3 * ndtri(u[2])), "task": "counts"}


def quantiles(u: Numbers) -> Rows:
    """Quantiles of a normal law whose spread is known, stated too narrow (three numbers)."""
    middle, spread = ndtri(u[0]), np.exp(0.3 * ndtri(u[1]))
    said = {level: middle + 0.9 * spread * ndtri(level) for level in (0.05, 0.25, 0.5, 0.75, 0.95)}
    return {"truth": middle + spread * ndtri(u[2]), "quantiles": said}


def forecast_three_ahead(u: Numbers) -> Rows:
    """One series that wanders, forecast three steps ahead: errors resemble those of two steps before (two numbers)."""
    surprise = ndtri(u[1])
    error = surprise + np.append(0.0, surprise[:-1]) + np.concatenate([[0.0, 0.0], surprise[:-2]])
    truth = np.cumsum(ndtri(u[0]))
    return {"truth": truth, "prediction": truth - error, "order": np.arange(len(truth))}


def several_numbers(u: Numbers) -> Rows:
    """Two outputs of different spread, whose errors go together (three numbers)."""
    truth = np.stack([ndtri(u[0]), 10 * (ndtri(u[0]) + ndtri(u[1])) / 2], axis=1)
    return {"truth": truth, "prediction": truth - 0.7 * ndtri(u[2])[:, None] * (1, 6)}


# ── rows that weigh differently, rows that belong together ───────────────────────────────────────────────────────
def weighted(make: Callable[[Numbers], Rows], weights: Law) -> Callable[[Numbers], Rows]:
    """The same rows with weights (one number more, the last)."""
    return lambda u: {**make(u[:-1]), "weight": weights(u[-1])}


def few_heavy(u: Numbers) -> Numbers:
    return np.where(u < 0.1, 20.0, 1.0)


def _shared(cluster: Numbers, row: Numbers) -> Numbers:
    """Uniform numbers of which rows of a cluster have a correlation of 0.3, as normal ones."""
    return math.sqrt(0.3) * ndtri(cluster) + math.sqrt(0.7) * ndtri(row)


def clustered(prevalence: float, apart: float) -> Callable[[Numbers], Rows]:
    """Truth and score resemble those of the same cluster (four numbers, two of them shared)."""

    def make(u: Numbers) -> Rows:
        truth = _shared(u[0], u[2]) < ndtri(prevalence)
        odds = math.log(prevalence / (1 - prevalence))
        x = _shared(u[1], u[3]) + apart * truth
        return {"truth": truth, "score": expit(odds + apart * x - apart**2 / 2)}

    return make


def clustered_numbers(u: Numbers) -> Rows:
    """Errors resemble those of the same cluster (three numbers, one of them shared)."""
    y = ndtri(u[1])
    return {"truth": y, "prediction": y - _shared(u[0], u[2])}


# ── groups, amounts, several models in one decision ──────────────────────────────────────────────────────────────
def grouped(make: Callable[[Numbers], Rows], groups: int) -> Callable[[Numbers], Rows]:
    """The same rows in so many groups of unequal sizes, which have nothing to do with them (one number more)."""
    ends = np.cumsum(np.arange(1, groups + 1)) / (groups * (groups + 1) / 2)
    return lambda u: {**make(u[:-1]), "by": np.array([f"g{i}" for i in range(groups)])[np.searchsorted(ends, u[-1])]}


def amounts(make: Callable[[Numbers], Rows], sigma: float) -> Callable[[Numbers], Rows]:
    """The same rows, each with a lognormal amount at stake (one number more)."""

    def with_amounts(u: Numbers) -> Rows:
        columns = {**make(u[:-1]), "amount": np.exp(sigma * ndtri(u[-1]))}
        return {"data": columns, **{name: name for name in columns if name != "amount"}}

    return with_amounts


def two_readers(u: Numbers) -> Rows:
    """Two models of which either can raise the alarm, with errors that resemble each other (four numbers)."""
    truth = u[0] < 0.15
    both = {
        name: math.sqrt(0.5) * ndtri(u[1]) + math.sqrt(0.5) * ndtri(u[i]) + 2 * truth > 1.4
        for i, name in enumerate(("images", "history"), 2)
    }
    columns = {"truth": np.where(truth, "sick", "well")}
    columns |= {name: np.where(alarm, "sick", "well") for name, alarm in both.items()}
    return {"data": columns, "truth": "truth", "models": list(both)}


# ── two models that are equally good ─────────────────────────────────────────────────────────────────────────────
def both_decided(prevalence: float, a: Rates, b: Rates) -> Callable[[Numbers], Rows]:
    """Two sets of alarms (three numbers)."""

    def make(u: Numbers) -> Rows:
        truth = u[0] < prevalence
        return {"truth": truth, "predictions": {"a": u[1] < np.where(truth, *a), "b": u[2] < np.where(truth, *b)}}

    return make


def both_ranked(prevalence: float, apart: float, spread: float = 1) -> Callable[[Numbers], Rows]:
    """Two normal scores of equal auc, noise correlated by ½; the positives of ``b`` may spread more (three numbers)."""
    return lambda u: _both_ranked(u, prevalence, apart, apart * math.sqrt((1 + spread**2) / 2), spread)


def both_precise(prevalence: float, apart: float, spread: float) -> Callable[[Numbers], Rows]:
    """The same, of equal average precision (three numbers)."""
    return lambda u: _both_ranked(u, prevalence, apart, _equally_precise(prevalence, apart, spread), spread)


def _both_ranked(u: Numbers, prevalence: float, apart: float, further: float, spread: float) -> Rows:
    truth = u[0] < prevalence
    a = ndtri(u[1])
    b = 0.5 * a + math.sqrt(0.75) * ndtri(u[2])
    wide = np.where(truth, further + spread * b, b)
    return {"truth": truth, "scores": {"a": squash(a + apart * truth), "b": squash(wide)}}


@cache
def _equally_precise(prevalence: float, apart: float, spread: float) -> float:
    """How far apart the classes must be for the second score to have the average precision of the first."""

    def excess(further: float) -> float:
        rows = _both_ranked(_net(3), prevalence, apart, further, spread)
        a, b = (average_precision(rows["truth"], score) for score in rows["scores"].values())
        return b - a

    return brentq(excess, -2, 2 * apart, xtol=1e-4)


def both_honest(u: Numbers) -> Rows:
    """Two noisy views of the same chances (four numbers)."""
    x = 2 * ndtri(u[1])
    scores = {name: expit(x + ndtri(noise)) for name, noise in zip("ab", u[2:], strict=True)}
    return {"truth": u[0] < expit(x), "scores": scores}


def both_many(k: int = 5) -> Callable[[Numbers], Rows]:
    """Each model knows other classes well, mistakes go to the next one: macro figures are equal (three numbers)."""
    right = np.array([0.9, 0.9, 0.5, 0.5, 0.7])

    def make(u: Numbers) -> Rows:
        truth = np.floor(k * u[0]).astype(int)
        known = {"a": right[truth], "b": right[(truth + 2) % k]}
        models = {name: (truth + (u[i] >= known[name])) % k for i, name in enumerate("ab", 1)}
        return {"truth": truth, "predictions": models, "classes": list(range(k))}

    return make


def both_predicted(other: Law, size: float) -> Callable[[Numbers], Rows]:
    """Normal errors, and errors of another law times a size that makes them as large (three numbers)."""

    def make(u: Numbers) -> Rows:
        y = ndtri(u[0])
        return {"truth": y, "predictions": {"a": y - ndtri(u[1]), "b": y - size * other(u[2])}}

    return make


def both_clustered(u: Numbers) -> Rows:
    """Two exchangeable scores whose errors resemble those of the same cluster (six numbers, three of them shared)."""
    truth = _shared(u[0], u[3]) < ndtri(0.3)
    scores = {name: expit(1.5 * (_shared(u[i], u[i + 3]) + 1.5 * truth - 1)) for i, name in enumerate("ab", 1)}
    return {"truth": truth, "scores": scores}
