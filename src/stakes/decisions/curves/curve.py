"""What every curve has: points, names of its axes, lines to compare it with, and a band."""

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from stakes import errors
from stakes.metrics.declare import Figure
from stakes.metrics.reasons import NO_PROBABILITIES
from stakes.records import Record
from stakes.results import Plottable
from stakes.tallies import ClassScores, Confusion, ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.class_scores import ClassSample
from stakes.tallies.clusters import Clusters
from stakes.tallies.costs import Costs, as_fraction
from stakes.tallies.population import Population, Seen
from stakes.tallies.pricing import lowest_score
from stakes.uncertainty.sampling import USUAL, Sampling


@dataclass(frozen=True, eq=False)
class Scored:
    """What a curve of two classes is made from: the scores, and the confidence of its band.

    All rows decide whether the scores are probabilities, also for a segment of them; ``threshold`` is the one that
    decisions are made with, if there is one, ``population`` where they are made, at which ``costs``.
    """

    table: ScoreTable
    sampling: Sampling = USUAL
    probabilities: bool = False
    threshold: float | None = None
    population: Population | None = None
    costs: Costs | None = None

    def there(self, tally: Seen) -> Seen:
        """Return a tally of these rows as that of the place where the model is used."""
        return tally if self.population is None else self.population.of(tally)

    @property
    def shares(self) -> tuple[float, float] | None:
        """How frequent positives and negatives are where the model is used; None where those of the rows hold."""
        there, table = self.population, self.table
        if there is None or there.shares is None:
            return None
        positive, negative = (float(there.share_of(name, table.positive)) for name in (table.positive, table.negative))
        return positive, negative

    def scores_of(self, probabilities: Array) -> Array:
        """Return the lowest scores that stand for these probabilities there."""
        if self.population is None or self.population.factors is None:
            return probabilities
        first_is_positive = self.table.positive == self.population.classes[0]
        pair = self.population.factors[::-1] if first_is_positive else self.population.factors
        return np.array([lowest_score(as_fraction(p), *pair) for p in probabilities.tolist()])

    def need(self, kind: str, *wanted: str) -> None:
        """Refuse rows without ``positives`` or ``negatives`` and scores that are no ``probabilities``, where wanted."""
        known = {
            "positives": (self.table.P, "no case is positive"),
            "negatives": (self.table.N, "no case is negative"),
            "probabilities": (self.probabilities, NO_PROBABILITIES.words),
        }
        for there, why in (known[name] for name in wanted):
            if not there:
                raise errors.no_curve(kind, why)


@dataclass(frozen=True, eq=False)
class ClassScored:
    """What a curve of all classes together is made from."""

    scores: ClassScores
    sampling: Sampling = USUAL
    probabilities: bool = False
    population: Population | None = None


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows, or all rows of a class that share a score, with their classes as codes.

    ``squares`` are sums of squared weights (None for plain counts), ``groups`` the clusters that the rows belong to.
    """

    scores: Array
    truth: Array
    weight: Array
    squares: Array | None = None
    groups: Array | None = None

    @classmethod
    def of(cls, rows: Clusters | ClassSample) -> "ScoredRows":
        """Take single rows, of clusters or of a sample."""
        scores, truth = np.asarray(rows.scores, np.float64), np.asarray(rows.truth, np.int64)
        weight = np.ones(len(truth)) if rows.weight is None else rows.weight
        return cls(scores, truth, weight, weight**2, rows.groups if isinstance(rows, Clusters) else None)


@dataclass(frozen=True, eq=False)
class Band(Record, shown="kind x low high confidence reason?"):
    """Where the curve of another sample would run.

    A "pointwise" band is right at each place by itself, a "simultaneous" one at all places at once. Where nothing can
    be said, the limits are NaN and ``reason`` says why.
    """

    x: Array
    low: Array
    high: Array
    confidence: float
    reason: str = ""
    kind: str = "pointwise"


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Record, Plottable):
    """Points of a curve with the threshold of each, and ``references``: the heights of lines to compare it with.

    ``area`` is the area under it, for kinds that are summed up so; ``note`` what a careful colleague would point out;
    ``chance`` where the curve of shuffled labels would run, if that was asked. ``prior`` are the class frequencies that
    it is about, the positive class first, if those of the rows are others; ``place`` is where on the x axis of a cost
    curve they lie, at the costs of the evaluation (or equal ones).
    """

    kind: str
    x_name: str
    y_name: str
    x: Array
    y: Array
    thresholds: Array
    find_band: Callable[[], Band]
    references: Mapping[str, Array] = field(default_factory=dict)
    area: float | None = None
    note: str = ""
    chance: Band | None = None
    prior: Mapping[str, float] | None = None
    place: float | None = None

    plotted_as = "curve"

    @property
    def plots(self) -> tuple[str, ...]:
        """A curve has one plot."""
        return (self.kind,)

    @cached_property
    def band(self) -> Band:
        """The limits of y at some places of x."""
        return self.find_band()

    def __getstate__(self) -> dict[str, object]:
        """A pickled copy holds the band itself, not the function that computes it."""
        return {**vars(self), "find_band": partial(replace, self.band)}

    def __len__(self) -> int:
        return len(self.x)

    def __repr__(self) -> str:
        return f"<{self.kind} curve: {self.y_name} against {self.x_name} at {len(self):,} thresholds>"

    def data(self) -> dict[str, object]:
        """Return the columns under the names of their axes; the threshold +∞ is unknown."""
        more: dict[str, object] = {"references": self.references, "area": self.area, "note": self.note}
        more |= {"chance": self.chance, "prior": self.prior, "place": self.place}
        return {
            "kind": self.kind,
            self.x_name: self.x,
            self.y_name: self.y,
            "threshold": np.where(np.isfinite(self.thresholds), self.thresholds, np.nan),
            "band": self.band,
            **{name: value for name, value in more.items() if value or value == 0},
        }


def bootstrap_tables(table: ScoreTable, at: Array, sampling: Sampling) -> Confusion:
    """Return the decisions at thresholds in resampled score tables: (draw, threshold)."""
    from stakes.uncertainty.bootstrap import redraw_scores  # only bands need it

    return redraw_scores(table, sampling, table.between(at)).at_each(at)


def bootstrap_band(
    places: Array, draw: Callable[[], Figure], sampling: Sampling, y: Array | None = None, simultaneous: bool = False
) -> Band:
    """Return the limits of resampled heights (draws × places), widened to hold the curve itself if that is given."""
    if sampling.clusters is not None and sampling.clusters.count < 2:
        unknown = np.full(len(places), np.nan)
        return Band(places, unknown, unknown, sampling.confidence, "there is a single cluster")
    draws = np.asarray(draw())
    low, high = _simultaneous_limits(draws, sampling) if simultaneous else sampling.percentiles(draws)
    if y is not None:
        low, high = np.minimum(low, y), np.maximum(high, y)
    return Band(places, low, high, sampling.confidence, kind="simultaneous" if simultaneous else "pointwise")


def _simultaneous_limits(draws: Array, sampling: Sampling) -> tuple[Array, Array]:
    """Return limits between which most resampled curves lie as a whole: the same number is cut off at every place.

    A curve is as extreme as its most extreme place; the quantile of that extremeness says how many are cut off.
    """
    ordered, times = np.sort(draws, axis=0), len(draws)
    may_leave = int((times - 1) * (1 - sampling.confidence))

    def too_many_leave(cut: int) -> bool:
        beyond = (draws < ordered[cut]) | (draws > ordered[-1 - cut])
        return bool(np.count_nonzero(beyond.any(axis=1)) > may_leave)

    cut = bisect_left(range(times), True, 1, key=too_many_leave)
    return ordered[cut - 1], ordered[times - cut]
