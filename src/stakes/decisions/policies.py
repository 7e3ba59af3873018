"""Several classes: what it costs to decide for the highest score, to decide by the costs, and after recalibration."""

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from stakes import errors
from stakes.decisions.curves.curve import ScoredRows
from stakes.decisions.recalibration.calibrators import suited_to
from stakes.decisions.recalibration.folds import cross_fitted
from stakes.decisions.thresholds.decision import (
    Recommendation,
    WayRow,
    add_harm,
    cheapest_constant,
    constants_of,
    surely_saves,
    take_harm,
    ways_as_rows,
)
from stakes.errors import About, Given, InputError
from stakes.language.sentences import Finding
from stakes.metrics import Estimate
from stakes.metrics.cost import expected_cost
from stakes.metrics.many import multiclass_log_loss
from stakes.metrics.rates import recall
from stakes.records import Count, RowCount
from stakes.tallies import ClassScores, Confusion
from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.costs import Costs
from stakes.tallies.pricing import AS_IN_THE_ROWS, Pricing, Shares, shares_of
from stakes.text import visible
from stakes.uncertainty.interval import Interval, figure, none
from stakes.uncertainty.intervals import table_limits
from stakes.uncertainty.one_more_row import Cells, mean_interval
from stakes.uncertainty.sampling import Sampling
from stakes.uncertainty.shares import wilson

HIGHEST = "the highest score"
CHEAPEST = "the costs and the probabilities"
RECALIBRATED = "the costs and recalibrated probabilities"


@dataclass(frozen=True, eq=False, repr=False)
class Policies(
    Recommendation,
    stakes="policies",
    shown="classes decisions rows dropped best enough_evidence table right estimates savings costs "
    "harm recalibration recalibrations method note findings",
):
    """What several ways to decide cost per case, and what the best one saves against each of the others (``savings``).

    ``table`` are the decisions of the best way against the truth, ``right`` the share of each class that it decides
    rightly.
    ``recalibrations`` are what deciding by recalibrated probabilities saves against deciding by them as they stand, by
    each method; ``method`` is the one with the lowest log loss. They are cross-fitted: no row's probability was changed
    by looking at its own class. ``harm`` is what asking the model costs for each case.
    ``dropped`` rows lacked a value, ``cautions`` say why nothing here can be believed.
    """

    classes: tuple[str, ...]
    decisions: tuple[str, ...]
    costs: Costs
    estimates: Mapping[str, Estimate]
    rows: RowCount
    recalibrations: Mapping[str, Estimate] = field(default_factory=dict)
    method: str | None = None
    note: str = ""
    dropped: Count = 0
    cautions: tuple[Finding, ...] = ()
    savings: Mapping[str, Estimate] = field(default_factory=dict)
    table: Confusion | None = None
    right: Mapping[str, Estimate] = field(default_factory=dict)
    harm: float = 0.0

    drawn_as = "policies"

    @property
    def recalibration(self) -> Estimate | None:
        """What the method with the lowest log loss saves; None where nothing could be recalibrated."""
        return self.recalibrations[self.method] if self.method else None

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
        """Whether the best way surely costs less than every decision for everybody."""
        return self.best != self.constant and surely_saves(self.savings)

    def to_rows(self) -> list[WayRow]:
        """Return one flat dictionary per way to decide; a saving is what the best way saves against it."""
        return ways_as_rows(self.estimates, self.savings, self.best)

    def __repr__(self) -> str:
        return f"<Policies for {len(self.classes)} classes; the best is {visible(self.best)}>"


def decide_among_policies(scores: ClassScores, pricing: Pricing, sampling: Sampling, harm: float = 0.0) -> Policies:
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
    wanted = pricing.deployed(scores.classes, None)
    for name, share, size in zip(scores.classes, wanted or (), scores.sizes, strict=False):
        if share and not size:
            raise InputError(
                "prior-of-empty-class",
                Given("prior"),
                f" expects the class {name!r}, of which there is no row; leave it out, or give rows of it",
            )
    honest = _recalibrate(rows, scores.classes, pricing, shares)
    method = min(honest, key=lambda name: _log_loss(rows, honest[name]), default=None)
    after = {name: _decide_after(p, scores.classes, pricing, shares) for name, p in honest.items()}
    decided = _decide(rows, scores.classes, decisions, pricing, shares, None if method is None else after[method])
    silly = pricing.costs.never_cheapest()
    worth = np.array([name not in silly for name in decisions])
    at_shares, cases = wanted or (shares if sampling.fixed else None), pricing.cases(scores.classes)
    account = _Account(rows, prices, at_shares, sampling, {**decided, **after}, worth, cases)
    estimates = add_harm({name: account.estimate(name) for name in decided}, harm)
    again = {name: account.saving(CHEAPEST, name) for name in after}
    total = scores.total if isinstance(scores.total, int) else float(scores.total)
    note = "" if len(rows.truth) == total or scores.weighted else f"from a sample of {len(rows.truth):,} rows"
    known = (estimates, total, again, method, note)
    found = Policies(scores.classes, decisions, pricing.costs, *known, harm=harm)
    savings = {name: account.saving(name, found.best) for name in decided if name != found.best}
    savings = add_harm(savings, harm) if found.best in constants_of(estimates) else take_harm(savings, harm)
    taken = decided[found.best]
    return replace(found, savings=savings, table=_table(found, rows, taken), right=_right(found, rows, taken, sampling))


def _table(found: Policies, rows: ScoredRows, taken: Array) -> Confusion:
    """The decisions of all rows against the truth."""
    shape = (len(found.classes), len(found.decisions))
    counts = np.bincount(np.ravel_multi_index((rows.truth, taken), shape), rows.weight, math.prod(shape)).reshape(shape)
    whole = counts.astype(np.int64) if (counts == np.rint(counts)).all() else counts
    return Confusion(found.classes, found.decisions, whole)


def _right(found: Policies, rows: ScoredRows, taken: Array, sampling: Sampling) -> dict[str, Estimate]:
    """The share of each class that is decided rightly, where deciding for the class is possible."""
    shares = {}
    for place, name in enumerate(found.classes):
        here = rows.truth == place
        if name in found.decisions and here.any():
            hits, weight = taken[here] == found.decisions.index(name), rows.weight[here]
            groups = None if rows.groups is None else rows.groups[here]
            shares[name] = _share(hits, weight, groups, sampling)
    return shares


def _share(hits: Array, weight: Array, groups: Array | None, sampling: Sampling) -> Estimate:
    value, level = float(np.average(hits, weights=weight)), sampling.confidence
    if groups is None:
        low, high = wilson(value, float(weight.sum() ** 2 / (weight**2).sum()), level)
        return figure(recall.name, value, math.nan, Interval(low, high, "Wilson"), level)
    code = np.unique(groups, return_inverse=True)[1]
    cells = np.stack([np.bincount(code, weight * one) for one in (hits, ~hits)], axis=-1)
    each = np.stack([np.zeros_like(cells), cells[:, ::-1]], axis=1)
    (tp, fn), size = cells.sum(axis=0), len(cells)
    if size < 2:
        return figure(recall.name, value, math.nan, none("there is a single cluster"), level)
    table = Confusion.two_class(tp=float(tp), fn=float(fn), fp=0.0, tn=0.0)
    (limits,) = table_limits([recall], [value], table, each, replace(sampling, clusters=None))
    return figure(recall.name, value, math.nan, limits, level)


def _decide(
    rows: ScoredRows,
    classes: Sequence[str],
    decisions: Sequence[str],
    pricing: Pricing,
    shares: Shares,
    recalibrated: Array | None,
) -> dict[str, Array]:
    """The decision of each row, by each way to decide."""
    found: dict[str, Array] = {}
    if set(classes) <= set(decisions):
        found[HIGHEST] = np.array([decisions.index(name) for name in classes])[rows.scores.argmax(axis=1)]
    found[CHEAPEST] = pricing.bayes(rows.scores, classes, None, shares)
    if recalibrated is not None:
        found[RECALIBRATED] = recalibrated
    for d, name in enumerate(decisions):
        found[f"always {name}"] = np.full(len(rows.truth), d)
    return found


def _recalibrate(rows: ScoredRows, classes: Sequence[str], pricing: Pricing, shares: Shares) -> dict[str, Array]:
    """Probabilities that each method has made honest where the rows come from, each row's by a fit on others."""
    posteriors = rows.scores
    here = replace(pricing, prior=None).correction(classes, None, shares)
    if here is not None:
        posteriors = posteriors * np.array(here, np.float64)
        posteriors = posteriors / posteriors.sum(axis=1, keepdims=True)
    found = {}
    for kind in suited_to(len(classes)):
        with contextlib.suppress(errors.InputError):  # too few rows, or scores all alike, leave nothing to recalibrate
            found[kind.method] = cross_fitted(kind(), posteriors, rows.truth, weight=rows.weight, groups=rows.groups)
    return found


def _decide_after(honest: Array, classes: Sequence[str], pricing: Pricing, shares: Shares) -> Array:
    """Decide by recalibrated probabilities, carried to the deployment."""
    return replace(pricing, training_prior=AS_IN_THE_ROWS).bayes(honest, classes, None, shares)


def _log_loss(rows: ScoredRows, honest: Array) -> float:
    return float(np.average(multiclass_log_loss.row_losses(rows.truth, honest), weights=rows.weight))


@dataclass(frozen=True, eq=False)
class _Account:
    """What the decisions of each row cost; at given ``shares`` of the classes, or at the rows' own."""

    rows: ScoredRows
    prices: Array
    shares: Shares | None
    sampling: Sampling
    decided: Mapping[str, Array]
    worth_taking: Array
    cases: tuple[int, ...] | None = None

    def estimate(self, name: str) -> Estimate:
        """What a way to decide costs per case."""
        return self._figure(expected_cost.name, np.zeros(len(self.rows.truth), np.int64), name, self.prices[:, None])

    def saving(self, other: str, name: str) -> Estimate:
        """What a way to decide saves per case against another."""
        return self._figure("saving", self.decided[other], name, self.prices[:, :, None] - self.prices[:, None])

    def _figure(self, called: str, other: Array, name: str, values: Array) -> Estimate:
        """The mean over cells of the truth, the other decision and the decision."""
        places = np.ravel_multi_index((self.rows.truth, other, self.decided[name]), values.shape)
        groups = self.rows.groups
        counts = self._added(places, self.rows.weight, values.shape)
        clusters = None
        if groups is not None:
            shape = (int(groups.max()) + 1, *values.shape)
            clusters = self._added(groups * values.size + places, self.rows.weight, shape)
        squares = None if (self.rows.weight == 1).all() else self._added(places, self.rows.weight**2, values.shape)
        shares = None if self.shares is None else np.array(self.shares, np.float64)
        reach = np.broadcast_to(self._reach(name, counts.sum(axis=0) > 0), values.shape)
        cells = Cells(values, counts, reach, shares, squares, clusters, self.cases)
        limits = mean_interval(cells, self.sampling)
        sums, sizes = (counts * values).sum(axis=(1, 2)), counts.sum(axis=(1, 2))
        value = float(sums.sum() / sizes.sum() if shares is None else shares @ divide(sums, sizes))
        return figure(called, value, math.nan, limits.around(value), self.sampling.confidence)

    def _reach(self, name: str, seen: Array) -> Array:
        """Which pairs of decisions one more row could get: those of some row; beside one constant, all worth taking."""
        other = seen.any(axis=1, keepdims=True)
        return seen if name.startswith("always ") or other.sum() > 1 else seen | (other & self.worth_taking)

    @staticmethod
    def _added(places: Array, weight: Array, shape: tuple[int, ...]) -> Array:
        return np.bincount(places, weight, math.prod(shape)).reshape(shape).astype(np.float64)
