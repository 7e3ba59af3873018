"""What one row changes in a figure, and the standard error that follows: the engine behind intervals and tests.

Leaving a row out changes a figure a little. The sum of the squares of these changes is the variance of any figure (the
jackknife). Three corrections make it honest in small samples: a quarter of the squared change that one unseen row could
make is added; Student's t has as many degrees of freedom as the changes support (fewer where a few rows carry the
figure); and limits stay within the range of the figure.

Efron & Stein (1981), Annals of Statistics 9; Wilson (1927), JASA 22.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stakes.tallies.arithmetic import Array, divide, weighted_sum
from stakes.uncertainty.interval import Interval, none, t_limits
from stakes.uncertainty.sampling import FEW_CLUSTERS, Sampling, student

FEWEST_DEGREES = 4.0
"""Least degrees of freedom of a figure that rests on as many rows."""

FEW_CARRY = "a few rows carry this figure, so its interval can be too short"
"""The note of a figure with too few degrees of freedom for a reliable interval."""

SINGLE_CLUSTER = "there is a single cluster"
SINGLE_ROW = "a class has a single row"
NO_DIFFERENCE = "no row makes a difference"
NOT_KEPT = "the rows were not kept, only sums of them"

CELLS = 4_000_000
"""About this many numbers are computed at once for a figure."""

TOO_FEW_IN_TIME = "there are too few rows for forecasts so many steps ahead"

_STEP = 1e-4
"""The share of a unit that is added where a figure is undefined without it."""

_TINY = 1e-14

_ROUNDED = 1e-12
"""The share of a bounded figure that sums of rounded weights of very many rows may be off by."""


def steps_of(changes: Array, rows: int, horizon: int) -> int:
    """A horizon in units; each unit stands for some consecutive rows."""
    return 1 + math.ceil((horizon - 1) * len(changes) / rows)


def long_run_variance(changes: Array, steps: int) -> float | None:
    """The variance of a figure of autocorrelated rows, up to lag ``steps`` − 1; None if there are too few rows.

    Where the sum over lags is not above 0, lag 0 alone is used. With the correction of Harvey, Leybourne & Newbold
    (1997), International Journal of Forecasting 13.
    """
    n, away = len(changes), (len(changes) - 1) * (changes - changes.mean())
    if steps >= n:
        return None
    lags = [float((away[lag:] * away[: n - lag]).sum()) / n for lag in range(steps)]
    variance = lags[0] + 2 * sum(lags[1:])
    steps = steps if variance > 0 else 1
    harvey = (n + 1 - 2 * steps + steps * (steps - 1) / n) / n
    return (variance if variance > 0 else lags[0]) / n / harvey


@dataclass(frozen=True, eq=False)
class Influence:
    """What a figure would lose without one unit (a row, or a cluster), for every kind of unit.

    ``changes`` are the figure minus what it is without such a unit, ``counts`` how many units of each kind there are.
    ``sizes`` is the size of the sample that each unit belongs to: all, or its class where class counts are fixed.
    ``most_degrees`` bounds the degrees of freedom, ``unseen`` is the largest change that one more row could make.
    Units of a kind may weigh differently: ``tails`` says how much larger that makes their fourth powers.
    """

    changes: Array
    counts: Array
    sizes: Array | float
    most_degrees: float
    unseen: float = 0.0
    tails: Array | None = None

    @classmethod
    def of_error(
        cls, error: float, units: float, most_degrees: float, carried: float | None = None, unseen: float = 0.0
    ) -> "Influence":
        """An influence with this standard error: two kinds of units, with changes to either side.

        They are equally many, unless it is known how many rows ``carried`` the figure.
        """
        share = 0.5 if carried is None else min(max(carried / units, 1e-300), 0.5)
        change, odds = error / math.sqrt(max(units - 1, 1e-300)), math.sqrt((1 - share) / share)
        counts = units * np.array([share, 1 - share])
        return cls(change * np.array([odds, -1 / odds]), counts, units, most_degrees, unseen)

    @classmethod
    def of_units(cls, changes: Array, equal_units: float, unseen: float = 0.0) -> "Influence":
        """What each of these rows or clusters changes; ``equal_units`` is their effective number."""
        return cls(changes, np.ones(len(changes)), float(len(changes)), equal_units - 1, unseen)

    def joined(self, changes: Array, counts: Array) -> "Influence":
        """Return the same with units of another sample, which vary by themselves."""
        sizes = np.broadcast_to(self.sizes, self.changes.shape)
        more = np.full(len(changes), float(counts.sum()))
        return replace(
            self,
            changes=np.append(self.changes, changes),
            counts=np.append(self.counts, counts),
            tails=None if self.tails is None else np.append(self.tails, np.ones(len(counts))),
            sizes=np.append(sizes, more),
        )

    def in_time(self, steps: int) -> "Found":
        """Return the same for rows in time that are correlated when nearer than so many steps."""
        alone = float(self._weights @ self.changes**2)
        if not alone > 0:
            return self
        variance = long_run_variance(self.changes, steps)
        if variance is None:
            return TOO_FEW_IN_TIME
        return replace(self, changes=self.changes * math.sqrt(variance / alone))

    @property
    def finite(self) -> bool:
        """Whether every change is a number."""
        return math.isfinite(self._largest)

    @property
    def bias(self) -> float:
        """The negative of the jackknife's bias."""
        return weighted_sum(self.changes, self._weights)

    @cached_property
    def error(self) -> float:
        """The standard error of the figure, with what one unseen row could add."""
        return math.hypot(math.sqrt(weighted_sum(self._squares, self._weights)) * self._largest, self.unseen / 2)

    @cached_property
    def degrees(self) -> float:
        """The degrees of freedom of the variance: the fewer rows make most of it, the fewer."""
        square = weighted_sum(self._squares, self.counts)
        if square <= 0 or self._largest <= _ROUNDED * self.unseen:  # what varies then is rounding alone
            return min(FEWEST_DEGREES, self.most_degrees)
        units = float(self.counts.sum())
        fourths = self._squares**2 if self.tails is None else self._squares**2 * self.tails
        tails = units * weighted_sum(fourths, self.counts) / square**2
        found = 2 * units / (tails - 1) if tails > 1 else math.inf
        return min(max(found, FEWEST_DEGREES), self.most_degrees)

    @property
    def note(self) -> str:
        """A note where a few rows make most of the variance, as with heavy-tailed errors."""
        return FEW_CARRY if self.degrees < min(20, float(self.counts.sum()) / 5) else ""

    @cached_property
    def _weights(self) -> Array:
        sizes = np.maximum(self.sizes, 1.0)
        return np.asarray(self.counts * ((sizes - 1) / sizes))

    @cached_property
    def _largest(self) -> float:
        return float(max(self.changes.max(initial=0.0), -self.changes.min(initial=0.0)))

    @cached_property
    def _squares(self) -> Array:
        """The squares of the changes relative to the largest, so that none overflows or underflows."""
        return (self.changes / self._largest) ** 2 if self._largest > 0 else np.zeros(len(self.changes))


Found = Influence | str
"""What rows change, or why that is not known."""


# ── units that are left out ──────────────────────────────────────────────────────────────────────────────────────
def kish(weights: Array) -> float:
    """Kish's effective number of units."""
    return kish_of(weights, weights**2)


def kish_of(weight: Array, squares: Array) -> float:
    """Kish's effective number of rows, from sums of weights and of their squares."""
    square = float(squares.sum())
    return float(weight.sum()) ** 2 / square if square else 0.0


def unit_weights(counts: Array, squares: Array | None) -> Array:
    """The weight of a row of each cell; the mean weight in empty cells."""
    if squares is None:
        return np.ones(counts.shape)
    squares = squares.astype(np.float64)
    return divide(squares, counts, float(squares.sum() / max(counts.sum(), 1e-300)))


def left_out(value: float, without: Array, with_more: Callable[[float], Array]) -> Array:
    """The changes; where a figure is undefined without a unit, the slope towards more of the unit instead."""
    changes = value - without
    if np.isfinite(changes).all() or not math.isfinite(value):
        return np.asarray(changes)
    return np.where(np.isfinite(changes), changes, (with_more(_STEP) - value) / _STEP)


# ── limits ───────────────────────────────────────────────────────────────────────────────────────────────────────
def few_alike(influence: Influence, sampling: Sampling) -> str:
    """A note where clusters are so unequal, or so few hold positives, that their effective number is small."""
    alike = influence.most_degrees + 1
    if sampling.clusters is None or not alike < FEW_CLUSTERS <= sampling.clusters.count:
        return ""
    count = sampling.clusters.count
    return f"{count:,} clusters tell as much as {alike:.0f} equal ones, so its interval can be too short"


def limits(
    value: float, influence: Influence, span: tuple[float, float], confidence: float, centred: bool = False
) -> Interval:
    """Return the limits of a figure between these ends; ``centred`` ones are not moved by the jackknife's bias."""
    if influence.most_degrees < 1:
        return none("too few rows or clusters bear it")
    if not influence.finite:
        return none("it is infinite or undefined without some row")
    error, degrees = influence.error, influence.degrees
    between = all(map(math.isfinite, span))
    at_end = between and any(abs(value - end) <= _TINY * abs(end) for end in span)  # where rounding alone varies
    if error <= (_ROUNDED if between else _TINY) * abs(value) or (at_end and influence.unseen <= _TINY):
        return none(NO_DIFFERENCE)
    reach = student((1 + confidence) / 2, degrees)
    if between:
        low, high = _between_ends(value, influence, span, reach, centred)
        return Interval(low, high, "Wilson's limits")
    half = reach * error
    if not math.isfinite(span[0]) and not math.isfinite(span[1]):
        return Interval(value - half, value + half, "Student's t")
    end = span[0] if math.isfinite(span[0]) else span[1]
    away = value - end
    if away == 0:
        return none("it is at the end of its range")
    with np.errstate(over="ignore"):
        near, far = (end + away * float(np.exp(sign * half / abs(away))) for sign in (-1, 1))
    return Interval(min(near, far), max(near, far), "on the logarithmic scale")


def _between_ends(
    value: float, influence: Influence, span: tuple[float, float], reach: float, centred: bool
) -> tuple[float, float]:
    """Wilson's limits of a bounded figure, as of a share with the same variance."""
    low, size = span[0], span[1] - span[0]
    half_row = influence.unseen / size / 2
    share = min(max((value - low) / size, half_row), 1 - half_row)
    centre = share if centred else min(max(share + influence.bias / size, share / 2), (1 + share) / 2)
    variance = (influence.error / size) ** 2
    # Wilson's limits with n = centre·(1 − centre)/variance, written so that no 1/n is needed
    spread = centre * (1 - centre)
    extra = reach**2 * variance / spread if spread > 0 else math.inf
    if not math.isfinite(extra):
        return span
    middle = (centre + extra / 2) / (1 + extra)
    half = math.sqrt(extra * spread + extra**2 / 4) / (1 + extra)
    return low + size * max(middle - half, 0.0), low + size * min(middle + half, 1.0)


def difference_limits(
    gap: float, influence: Influence, size: float, confidence: float
) -> tuple[float, float, float] | None:
    """Return the ends of the interval of a difference and its p-value; None where nothing varies.

    ``size`` is the largest difference that there can be.
    """
    error = influence.error
    if influence.most_degrees < 1 or not math.isfinite(error) or error <= _TINY * max(abs(gap), 1e-300):
        return None
    return t_limits(gap, error, influence.degrees, size, confidence)
