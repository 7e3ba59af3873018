"""Several classes: what it costs to decide for the highest score, to decide by the costs, and after recalibration."""

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from stakes import errors
from stakes.decisions.curves.curve import ScoredRows
from stakes.decisions.recalibration.calibrators import TemperatureCalibrator
from stakes.decisions.recalibration.folds import cross_fitted
from stakes.decisions.thresholds.decision import (
    PER,
    Recommendation,
    WayRow,
    cheapest_constant,
    ways_as_rows,
    with_interval,
)
from stakes.errors import About, Given, InputError
from stakes.metrics import Estimate
from stakes.records import Count, RowCount
from stakes.tallies import ClassScores
from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.costs import Costs
from stakes.tallies.pricing import AS_IN_THE_ROWS, Pricing, Shares, shares_of
from stakes.text import visible
from stakes.uncertainty.interval import Interval, figure, none
from stakes.uncertainty.means import SKEWED, held_back, skewed_t, skewness_of_rows
from stakes.uncertainty.sampling import Sampling

HIGHEST = "the highest score"
CHEAPEST = "the costs and the probabilities"
RECALIBRATED = "the costs and recalibrated probabilities"


@dataclass(frozen=True, eq=False, repr=False)
class Policies(
    Recommendation,
    stakes="policies",
    shown="classes decisions rows dropped cautions best enough_evidence estimates savings costs recalibration note",
):
    """What several ways to decide cost per case, and what each saves against the cheapest constant decision.

    Recalibration is by temperature and cross-fitted: no row's probability was changed by looking at its own class.
    ``dropped`` rows lacked a value, ``cautions`` say why nothing here can be believed.
    """

    classes: tuple[str, ...]
    decisions: tuple[str, ...]
    costs: Costs
    estimates: Mapping[str, Estimate]
    savings: Mapping[str, Estimate]
    rows: RowCount
    recalibration: Estimate | None = None
    note: str = ""
    dropped: Count = 0
    cautions: tuple[str, ...] = ()

    drawn_as = "policies"

    @property
    def best(self) -> str:
        """The way that costs least; recalibration only if it surely helps."""
        helps = self.recalibration is not None and (self.recalibration.low or 0) > 0
        known = [name for name in self.estimates if name != RECALIBRATED or helps]
        return min(known, key=lambda name: self.estimates[name].value)

    @property
    def constant(self) -> str:
        """The cheapest way to decide the same for everybody."""
        return cheapest_constant(self.estimates)

    @property
    def enough_evidence(self) -> bool:
        """Whether the best way surely costs less than deciding the same for everybody."""
        return self.best in self.savings and (self.savings[self.best].low or 0) > 0

    def to_rows(self) -> list[WayRow]:
        """Return one flat dictionary per way to decide, for a data frame; a saving is against the best constant."""
        return ways_as_rows(self.estimates, self.savings)

    def __repr__(self) -> str:
        return f"<Policies for {len(self.classes)} classes; the best is {visible(self.best)}>"

    def _sentences(self) -> Iterator[str]:
        yield f"{self.rows:,.6g} rows; costs: {self.costs.words}."
        yield f"Decide by {self.best}." if self.best != self.constant else f"Decide {self.constant}."
        if self.best == RECALIBRATED:
            yield "`stakes calibrate` fits and applies the recalibration; then decide by the costs (evaluate)."
        yield f"Costs per {PER:,} cases:"
        for name, cost in self.estimates.items():
            yield f"  {name}: {with_interval(cost)}"
        if self.best == self.constant:
            yield "Not enough evidence that looking at the scores costs less than deciding the same for everybody."
            return
        yield self._evidence("it", self.constant, self.savings[self.best])
        if self.recalibration is not None:
            yield f"Recalibration saves {with_interval(self.recalibration)} per {PER:,} cases."
        if self.note:
            yield f"Note: {self.note}."


def decide_among_policies(scores: ClassScores, pricing: Pricing, sampling: Sampling) -> Policies:
    """Compare ways to decide by the probabilities of several classes."""
    if pricing.costs.columns:
        raise InputError(
            "row-costs-of-many",
            About("costs"),
            " that differ by row are compared for two classes only; evaluate(costs=) prices several",
        )
    if not scores.probabilities:
        raise errors.costs_need_probabilities(*scores.range)
    if sampling.clusters is not None and sampling.clusters.count < 2:
        raise errors.single_cluster()
    source = sampling.clusters or scores.sample
    if source is None:
        raise InputError(
            "rows-are-gone",
            "ways to decide between several classes are compared row by row, and the rows are gone; count again",
        )
    rows = ScoredRows.of(source)
    decisions = pricing.decisions(scores.classes)
    prices = np.array(pricing.prices(scores.classes, decisions, None), np.float64)
    shares = shares_of(scores.sizes.tolist())
    decided = _decide(rows, scores.classes, decisions, pricing, shares)
    losses = {name: prices[rows.truth, codes] for name, codes in decided.items()}
    wanted = pricing.deployed(scores.classes, None)
    for name, share, size in zip(scores.classes, wanted or (), scores.sizes, strict=False):
        if share and not size:
            raise InputError(
                "prior-of-empty-class",
                Given("prior"),
                f" expects the class {name!r}, of which there is no row; leave it out, or give rows of it",
            )
    mean = _Mean(rows, wanted or (shares if sampling.fixed else None), sampling)
    estimates = {name: mean.of("expected_cost", loss) for name, loss in losses.items()}
    least = float(prices.min())  # no case costs less, so no mean does
    for name, cost in estimates.items():
        if cost.low is not None:
            estimates[name] = replace(cost, low=max(cost.low, least))
    constant = cheapest_constant(estimates)
    savings = {name: mean.of("saving", losses[constant] - loss) for name, loss in losses.items() if name != constant}
    again = mean.of("saving", losses[CHEAPEST] - losses[RECALIBRATED]) if RECALIBRATED in losses else None
    total = float(scores.total)
    note = "" if len(rows.truth) == total or scores.weighted else f"from a sample of {len(rows.truth):,} rows"
    return Policies(scores.classes, decisions, pricing.costs, estimates, savings, total, again, note)


def _decide(
    rows: ScoredRows, classes: Sequence[str], decisions: Sequence[str], pricing: Pricing, shares: Shares
) -> dict[str, Array]:
    """The decision of each row, by each way to decide."""
    found: dict[str, Array] = {}
    if set(classes) <= set(decisions):
        found[HIGHEST] = np.array([decisions.index(name) for name in classes])[rows.scores.argmax(axis=1)]
    found[CHEAPEST] = pricing.bayes(rows.scores, classes, None, shares)
    with contextlib.suppress(errors.InputError):  # too few rows, or scores all alike, leave nothing to recalibrate
        found[RECALIBRATED] = _recalibrate(rows, classes, pricing, shares)
    for d, name in enumerate(decisions):
        found[f"always {name}"] = np.full(len(rows.truth), d)
    return found


def _recalibrate(rows: ScoredRows, classes: Sequence[str], pricing: Pricing, shares: Shares) -> Array:
    """Decide by probabilities that were made honest where the rows come from, then carried to the deployment."""
    posteriors = rows.scores
    here = replace(pricing, prior=None).correction(classes, None, shares)
    if here is not None:
        posteriors = posteriors * np.array(here, np.float64)
        posteriors = posteriors / posteriors.sum(axis=1, keepdims=True)
    honest = cross_fitted(TemperatureCalibrator(), posteriors, rows.truth, weight=rows.weight, groups=rows.groups)
    return replace(pricing, training_prior=AS_IN_THE_ROWS).bayes(honest, classes, None, shares)


@dataclass(frozen=True, eq=False)
class _Mean:
    """Means over the rows with their intervals; at given ``shares`` of the classes, or at the rows' own."""

    rows: ScoredRows
    shares: Shares | None
    sampling: Sampling

    def of(self, name: str, losses: Array) -> Estimate:
        """The mean of a loss of each row."""
        weight = self._weights()
        value = float(weight @ losses)
        spread = self._spread(weight * (losses - self._centres(losses, weight)))
        return figure(name, value, math.nan, self._limits(value, spread, weight, losses), self.sampling.confidence)

    def _limits(self, value: float, spread: float, weight: Array, losses: Array) -> Interval:
        if not spread > 1e-12 * max(abs(value), 1e-300):
            return none("nothing varies" if self.shares is None else "nothing varies within the classes")
        if self.rows.groups is not None:
            half = self.sampling.width * spread
            return Interval(value - half, value + half, "Student's t over the clusters")
        n = float(self.rows.weight.sum()) ** 2 / float((self.rows.weight**2).sum())
        powers = [float(weight @ losses**k) for k in (1, 2, 3)]
        skewness = 0.0 if self.shares is not None else skewness_of_rows(*powers) / math.sqrt(n)
        return Interval(*skewed_t(value, spread, held_back(skewness), n - 1, self.sampling.confidence), SKEWED)

    def _weights(self) -> Array:
        """What each row counts; together they count 1."""
        if self.shares is None:
            return np.asarray(self.rows.weight / self.rows.weight.sum())
        sizes = np.bincount(self.rows.truth, self.rows.weight, len(self.shares))
        each = divide(np.array(self.shares, np.float64), sizes)
        return self.rows.weight * each[self.rows.truth]

    def _centres(self, losses: Array, weight: Array) -> Array | float:
        """The mean around which losses vary: of all rows, or of the row's own class where shares are set."""
        if self.shares is None:
            return float(weight @ losses)
        sizes, sums = (np.bincount(self.rows.truth, w, len(self.shares)) for w in (weight, weight * losses))
        return divide(sums, sizes)[self.rows.truth]

    def _spread(self, moved: Array) -> float:
        """The standard error of the mean."""
        if self.rows.groups is not None:
            sums = np.bincount(self.rows.groups, moved)
            return math.sqrt(float((sums**2).sum()) * len(sums) / (len(sums) - 1)) if len(sums) > 1 else math.nan
        return math.sqrt(float((moved**2).sum()))
