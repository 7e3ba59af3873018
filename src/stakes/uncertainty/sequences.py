"""Sequential tests: evidence that may be looked at every day without more false alarms.

An e-value is a bet against "all is well". Where that is true, its mean is at most 1 however often one looks, so the
chance that it ever reaches 1/α is at most α (Ville's inequality). Bets that begin on every day share one stake, so that
a change is found whenever it comes; the bet that won most dates the change.

Shafer (2021), JRSS A 184; Shin, Ramdas & Rinaldo (2024), e-detectors; Howard, Ramdas, McAuliffe & Sekhon (2021), Annals
of Statistics 49.
"""

import math
from dataclasses import dataclass

import numpy as np

from stakes.tallies.arithmetic import Array

_SUM = 2.11
"""Σ 1/((s+1)·ln²(s+1)) over all s from 1 on is a little less."""

_STEPS = 60
"""Bisection steps until an end of an interval is known to the last digit."""


# ── evidence ─────────────────────────────────────────────────────────────────────────────────────────────────────
def log_rate_evidence(hits: Array, rows: Array, floor: float, drop: float) -> Array:
    """The logarithm of the e-value of a rate below its floor: exact, for hits that are independent of each other.

    The bet spreads over all rates below the floor, about as far as ``drop``. Where the chance of any of them underflows
    there is no evidence at all, rather than a little: a smallest number put there would raise false alarms.
    """
    from scipy.special import betainc, betaln

    spread = floor * (1 - floor) / drop**2 - 1
    a, b = spread * floor, spread * (1 - floor)
    with np.errstate(divide="ignore"):
        below = np.log(betainc(a + hits, b + rows - hits, floor))
    start = betaln(a, b) + math.log(betainc(a, b, floor))
    own = hits * math.log(floor) + (rows - hits) * math.log1p(-floor)
    return np.asarray(betaln(a + hits, b + rows - hits) + below - start - own)


def log_evidence(distance: Array, variance: Array, drop: float | Array) -> Array:
    """The logarithm of the e-value of a figure on the wrong side by this distance, with this variance: asymptotic."""
    from scipy.special import log_ndtr

    ratio = drop**2 / variance
    z = distance / np.sqrt(variance)
    shrunk = ratio / (1 + ratio)
    return np.asarray(math.log(2) - np.log1p(ratio) / 2 + z**2 * shrunk / 2 + log_ndtr(z * np.sqrt(shrunk)))


def most_evidence(distance: float, variance: float, drop: float) -> float:
    """The largest evidence that there can be at such a distance, however many rows come, less the first stake."""
    return float(log_evidence(np.array(distance), np.array(variance), drop)) + math.log(0.5)


def log_stakes(days: int, life: int | None) -> Array:
    """The logarithm of what is bet on a change at each day: half on the first, half spread over all days to come.

    They are spread evenly over a ``life`` of so many days, otherwise without end.
    """
    s = np.arange(1, days + 1)
    shares = 0.5 / (_SUM * (s + 1) * np.log(s + 1) ** 2) if life is None else np.where(s <= life, 0.5 / life, 0.0)
    shares[:1] += 0.5
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shares))


def spread_of_days(hits: Array, rows: Array, rate: float) -> Array:
    """Overdispersion of the days up to each: how many times their variance exceeds chance; at least 1."""
    share = np.divide(hits, rows, out=np.full(len(rows), rate), where=rows > 0)
    variance = np.where(rows > 0, rate * (1 - rate) / np.maximum(rows, 1e-300), np.inf)
    return spread_of_figures(share, variance, rows)


def spread_of_figures(value: Array, variance: Array, rows: Array) -> Array:
    """The same for any figure, from each day's value and its variance by chance; infinite means unknown."""
    known = np.flatnonzero(np.isfinite(variance))
    unlike, pairs = np.zeros((2, len(rows)))
    pairs[known[1:]] = 1.0
    unlike[known[1:]] = np.diff(value[known]) ** 2 / np.maximum(variance[known][1:] + variance[known][:-1], 1e-300)
    mean = np.cumsum(rows) / np.maximum(np.cumsum(rows > 0), 1)
    return np.asarray(np.maximum(1.0, (10 * (1 + 0.01 * (mean - 1)) + np.cumsum(unlike)) / (10 + np.cumsum(pairs))))


@dataclass(frozen=True, eq=False)
class Alarm:
    """The day (by number, from 0) at which evidence sufficed, the likely day of the change, and its 95 % set."""

    day: int
    change: int
    days: tuple[int, ...]

    @classmethod
    def of(cls, day: int, terms: Array) -> "Alarm":
        """Find the change: the bet that won most, and the fewest that won 95 % together."""
        share = np.exp(terms - terms.max())
        order = np.argsort(-share, kind="stable")
        enough = int(np.searchsorted(np.cumsum(share[order]) / share.sum(), 0.95)) + 1
        return cls(day, int(order[0]), tuple(sorted(order[:enough].tolist())))


def log_total(terms: Array) -> float:
    """The logarithm of the sum of what all bets are worth."""
    most = float(terms.max())
    return most + math.log(float(np.exp(terms - most).sum())) if math.isfinite(most) else most


# ── the course ───────────────────────────────────────────────────────────────────────────────────────────────────
def rate_limits(hits: Array, rows: Array, alpha: float) -> tuple[Array, Array]:
    """Limits of a rate that hold on all days at once (a Beta(½, ½) mixture)."""
    from scipy.special import betaln, xlog1py, xlogy

    mixture = betaln(hits + 0.5, rows - hits + 0.5) - math.log(math.pi) + math.log(alpha)
    centre = np.divide(hits, rows, out=np.full(len(rows), 0.5), where=rows > 0)

    def outside(rate: Array) -> Array:
        return np.asarray(mixture >= xlogy(hits, rate) + xlog1py(rows - hits, -rate))

    ends = []
    for far in (np.zeros(len(rows)), np.ones(len(rows))):
        near, away = centre.copy(), far.copy()
        for _ in range(_STEPS):
            middle = (near + away) / 2
            out = outside(middle)
            near, away = np.where(out, near, middle), np.where(out, middle, away)
        ends.append(np.where(rows > 0, near, far))
    return ends[0], ends[1]


def reach(variance: Array, drop: float, alpha: float) -> Array:
    """How far limits that hold on all days at once reach to either side (a normal mixture, asymptotic)."""
    ratio = drop**2 / variance
    return np.asarray(np.sqrt(variance * (1 + 1 / ratio) * (np.log1p(ratio) - 2 * math.log(alpha))))
