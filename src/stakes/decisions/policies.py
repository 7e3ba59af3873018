"""Several classes: what it costs to decide for the highest score, to decide by the costs, and after recalibration."""

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stakes import errors
from stakes.decisions.recalibration.calibrators import TemperatureCalibrator
from stakes.decisions.recalibration.folds import cross_fitted
from stakes.decisions.thresholds.decision import PER, ways_as_rows, with_interval
from stakes.errors import About, Given, InputError
from stakes.metrics import Estimate
from stakes.records import Count, Record, RowCount
from stakes.results import Reportable
from stakes.tallies import ClassScores
from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.costs import Costs
from stakes.tallies.pricing import AS_IN_THE_ROWS, Pricing, Shares, shares_of
from stakes.text import lines, visible
from stakes.uncertainty.means import SKEWED, held_back, skewed_t, skewness_of_rows
from stakes.uncertainty.sampling import Sampling

HIGHEST = "the highest score"
CHEAPEST = "the costs and the probabilities"
RECALIBRATED = "the costs and recalibrated probabilities"


@dataclass(frozen=True, eq=False, repr=False)
class Policies(
    Record,
    Reportable,
    stakes="policies",
    shown="classes decisions rows dropped cautions best enough_evidence estimates savings costs recalibration note",
):
    """What several ways to decide cost per case, and what each saves against the cheapest constant decision.

    Recalibration is by temperature and cross-fitted: no row's probability was changed by looking at its own class.
    ``dropped`` rows lacked a value,
    ``cautions`` say why nothing here can be believed.
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
        always = [name for name in self.estimates if name.startswith("always ")]
        return min(always, key=lambda name: self.estimates[name].value)

    @property
    def enough_evidence(self) -> bool:
        """Whether the best way surely costs less than deciding the same for everybody."""
        low = self.savings[self.best].low if self.best in self.savings else None
        return low is not None and low > 0

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one flat dictionary per way to decide, for a data frame; a saving is against the best constant."""
        return ways_as_rows(self.estimates, self.savings)

    def __str__(self) -> str:
        left_out = [errors.rows_left_out(self.dropped)] if self.dropped else []
        return lines([*self.sentences(), *(f"{words}." for words in (*left_out, *self.cautions))])

    def __repr__(self) -> str:
        return f"<Policies for {len(self.classes)} classes; the best is {visible(self.best)}>"

    def sentences(self) -> Iterator[str]:
        """Tell the recommendation in plain words."""
        return map(visible, self._sentences())

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
        saving = self.savings[self.best]
        if self.enough_evidence:
            yield f"Against {self.constant} it saves {with_interval(saving)}: the model earns its keep."
        else:
            yield (
                f"Not enough evidence that it costs less than {self.constant}: the saving is {with_interval(saving)} "
                f"per {PER:,} cases."
            )
        if self.recalibration is not None:
            yield f"Recalibration saves {with_interval(self.recalibration)} per {PER:,} cases."
        if self.note:
            yield f"Note: {self.note}."


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows that are asked: all of them, or a sample in which each one stands for several."""

    scores: Array
    truth: Array
    weight: Array
    groups: Array | None = None


def decide_among_policies(scores: ClassScores, pricing: Pricing, sampling: Sampling) -> Policies:
    """Compare ways to decide by the probabilities of several classes."""
    if pricing.costs.columns:
        raise InputError(
            "row-costs-of-many",
            About("costs"),
            " that differ by row are compared for two classes only; evaluate(costs=) prices several",
        )
    low, high = scores.range
    if not scores.probabilities:
        raise errors.costs_need_probabilities(low, high)
    if sampling.clusters is not None and sampling.clusters.count < 2:
        raise errors.single_cluster()
    rows = _rows(scores, sampling)
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
    least = float(prices.min())
    estimates = {name: _at_least(least, mean.of("expected_cost", loss)) for name, loss in losses.items()}
    constant = min((name for name in losses if name.startswith("always ")), key=lambda name: estimates[name].value)
    savings = {name: mean.of("saving", losses[constant] - loss) for name, loss in losses.items() if name != constant}
    again = mean.of("saving", losses[CHEAPEST] - losses[RECALIBRATED]) if RECALIBRATED in losses else None
    total = float(scores.total)
    note = "" if len(rows.truth) == total or scores.weighted else f"from a sample of {len(rows.truth):,} rows"
    return Policies(scores.classes, decisions, pricing.costs, estimates, savings, total, again, note)


def _at_least(least: float, cost: Estimate) -> Estimate:
    """No case costs less than the cheapest decision of all, so no mean does."""
    return cost if cost.low is None else replace(cost, low=max(cost.low, least))


def _rows(scores: ClassScores, sampling: Sampling) -> _Rows:
    clusters: Any = sampling.clusters
    if clusters is not None:
        weight = np.ones(len(clusters.truth)) if clusters.weight is None else clusters.weight
        return _Rows(clusters.scores, clusters.truth.astype(np.int64), weight, clusters.groups)
    sample = scores.sample
    if sample is None:
        raise InputError(
            "rows-are-gone",
            "ways to decide between several classes are compared row by row, and the rows are gone; count again",
        )
    return _Rows(sample.scores, sample.truth.astype(np.int64), sample.weight)


def _decide(
    rows: _Rows, classes: Sequence[str], decisions: Sequence[str], pricing: Pricing, shares: Shares
) -> dict[str, Array]:
    """The decision of each row, by each way to decide."""
    posteriors = rows.scores.astype(np.float64)
    found: dict[str, Array] = {}
    if set(classes) <= set(decisions):
        found[HIGHEST] = np.array([decisions.index(name) for name in classes])[posteriors.argmax(axis=1)]
    found[CHEAPEST] = pricing.bayes(posteriors, classes, None, shares)
    with contextlib.suppress(errors.InputError):  # too few rows, or scores all alike, leave nothing to recalibrate
        found[RECALIBRATED] = _recalibrate(rows, posteriors, classes, pricing, shares)
    for d, name in enumerate(decisions):
        found[f"always {name}"] = np.full(len(rows.truth), d)
    return found


def _recalibrate(rows: _Rows, posteriors: Array, classes: Sequence[str], pricing: Pricing, shares: Shares) -> Array:
    """Decide by probabilities that were made honest where the rows come from, then carried to the deployment."""
    here = replace(pricing, prior=None).correction(classes, None, shares)
    if here is not None:
        posteriors = posteriors * np.array(here, np.float64)
        posteriors = posteriors / posteriors.sum(axis=1, keepdims=True)
    options: Any = {"weight": rows.weight, "groups": rows.groups}
    honest = cross_fitted(TemperatureCalibrator(), posteriors, rows.truth, **options)
    return replace(pricing, training_prior=AS_IN_THE_ROWS).bayes(honest, classes, None, shares)


@dataclass(frozen=True, eq=False)
class _Mean:
    """Means over the rows with their intervals; at given ``shares`` of the classes, or at the rows' own."""

    rows: _Rows
    shares: Shares | None
    sampling: Sampling

    def of(self, name: str, losses: Array) -> Estimate:
        """The mean of a loss of each row."""
        weight = self._weights()
        value = float(weight @ losses)
        moved = weight * (losses - self._centres(losses, weight))
        spread = self._spread(moved)
        level = self.sampling.confidence
        if not spread > 1e-12 * max(abs(value), 1e-300):
            why = "nothing varies" if self.shares is None else "nothing varies within the classes"
            return Estimate(name, value, confidence=level, no_interval=why)
        if self.rows.groups is not None:
            half = self.sampling.width * spread
            return Estimate(
                name,
                value,
                math.nan,
                value - half,
                value + half,
                confidence=level,
                method="Student's t over the clusters",
            )
        n = float(self.rows.weight.sum()) ** 2 / float((self.rows.weight**2).sum())
        powers = [float(weight @ losses**k) for k in (1, 2, 3)]
        skewness = 0.0 if self.shares is not None else skewness_of_rows(*powers) / math.sqrt(n)
        low, high = skewed_t(value, spread, held_back(skewness), n - 1, level)
        return Estimate(name, value, math.nan, low, high, confidence=level, method=SKEWED)

    def _weights(self) -> Array:
        """What each row counts; together they count 1."""
        if self.shares is None:
            found: Array = self.rows.weight / self.rows.weight.sum()
            return found
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
