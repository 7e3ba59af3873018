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
from stakes.errors import About, Given, InputError, Pass
from stakes.language.sentences import Finding
from stakes.metrics import Estimate, Metric
from stakes.metrics.cost import expected_cost, with_prices
from stakes.metrics.many import multiclass_log_loss
from stakes.metrics.rates import recall
from stakes.records import Count, RowCount
from stakes.tallies import ClassScores, Confusion
from stakes.tallies.arithmetic import Array
from stakes.tallies.costs import Costs
from stakes.tallies.pricing import AS_IN_THE_ROWS, Pricing, Shares, shares_of
from stakes.text import visible
from stakes.uncertainty.interval import Interval, figure, none, wilson
from stakes.uncertainty.intervals import interval, table_limits
from stakes.uncertainty.one_more_row import saving_limits
from stakes.uncertainty.sampling import Sample, Sampling

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

    plotted_as = "policies"

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
    rows = _checked_rows(scores, pricing, sampling)
    decisions = pricing.decisions(scores.classes)
    shares = shares_of(scores.sizes.tolist())
    honest = _recalibrate(rows, scores.classes, pricing, shares)
    losses = {name: multiclass_log_loss.row_losses(rows.truth, p) for name, p in honest.items()}
    method = min(losses, key=lambda name: float(np.average(losses[name], weights=rows.weight)), default=None)
    as_sampled = replace(pricing, training_prior=AS_IN_THE_ROWS)  # carried from there to the deployment
    after = {name: as_sampled.bayes(p, scores.classes, None, shares) for name, p in honest.items()}
    decided = _decide(rows, scores.classes, decisions, pricing, shares, None if method is None else after[method])
    silly = pricing.costs.never_cheapest()
    worth = np.array([name not in silly for name in decisions])
    weight = None if (rows.weight == 1).all() else rows.weight
    sample = Sample(rows.truth, scores.classes, tuple(decisions), None, weight, rows.groups, squares=rows.squares)
    account = _Account(sample, with_prices(expected_cost, pricing), sampling, {**decided, **after}, worth)
    estimates = add_harm({name: account.estimate(name) for name in decided}, harm)
    again = {name: account.saving(CHEAPEST, name) for name in after}
    total = scores.total if isinstance(scores.total, int) else float(scores.total)
    note = "" if len(rows.truth) == total or scores.weighted else f"from a sample of {len(rows.truth):,} rows"
    known = (estimates, total, again, method, note)
    found = Policies(scores.classes, decisions, pricing.costs, *known, harm=harm)
    savings = {name: account.saving(name, found.best) for name in decided if name != found.best}
    savings = add_harm(savings, harm) if found.best in constants_of(estimates) else take_harm(savings, harm)
    taken = decided[found.best]
    return replace(found, savings=savings, table=account.table(found.best), right=_right(found, rows, taken, sampling))


def _checked_rows(scores: ClassScores, pricing: Pricing, sampling: Sampling) -> ScoredRows:
    """The rows by which ways to decide are compared; refuse what nothing can be compared by."""
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
    source = scores.sample if sampling.clusters is None else sampling.clusters.with_scores
    if source is None:
        raise InputError(
            "rows-are-gone",
            "ways to decide between several classes are compared row by row, and a saved count, or one by an engine of "
            "more than 20,000 rows, keeps none; evaluate them with ",
            Pass("costs"),
            " to know what deciding by the costs costs, or decide with some of the rows, or a file of them",
        )
    wanted = pricing.deployed(scores.classes, None)
    for name, share, size in zip(scores.classes, wanted or (), scores.sizes, strict=False):
        if share and not size:
            raise InputError(
                "prior-of-empty-class",
                Given("prior"),
                f" expects the class {name!r}, of which there is no row; leave it out, or give rows of it",
            )
    return ScoredRows.of(source)


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
    """Recalibrated probabilities by each method, cross-fitted, at the class frequencies of the rows."""
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


@dataclass(frozen=True, eq=False)
class _Account:
    """What the decisions of each row cost, as evaluating and comparing them would give it."""

    sample: Sample
    metric: Metric
    sampling: Sampling
    decided: Mapping[str, Array]
    worth_taking: Array

    def table(self, name: str, alone: bool = False) -> Confusion:
        """The decisions of all rows against the truth; of one decision for everybody perhaps that one ``alone``."""
        sample, places = self.sample, np.arange(len(self.sample.decisions))
        if alone and name.startswith("always "):
            places = self.decided[name][:1]
        shape = len(sample.classes), len(places)
        cells = sample.truth * len(places) + np.searchsorted(places, self.decided[name])

        def count(weight: Array) -> Array:
            return np.bincount(cells, weight, math.prod(shape)).reshape(shape)

        counts, names = count(sample.weights), tuple(sample.decisions[d] for d in places)
        if sample.weight is None:
            return Confusion(sample.classes, names, counts.astype(np.int64))
        return Confusion(sample.classes, names, counts, count(sample.squared_weights))

    def estimate(self, name: str) -> Estimate:
        """What a way to decide costs per case."""
        table = self.table(name, alone=True)
        value = float(self.metric.of(table))
        clusters, first = self.sampling.clusters, self.sample.decisions.index(table.decisions[0])
        decided = clusters and replace(clusters, decided=self.decided[name] - first)
        limits = interval(self.metric, value, table, replace(self.sampling, clusters=decided))
        return figure(expected_cost.name, value, math.nan, limits.around(value), self.sampling.confidence)

    def saving(self, other: str, name: str) -> Estimate:
        """What a way to decide saves per case against another."""
        value = float(self.metric.of(self.table(other))) - float(self.metric.of(self.table(name)))
        might = self.worth_taking if other.startswith("always ") and not name.startswith("always ") else None
        both = self.decided[other], self.decided[name]
        limits = saving_limits(self.metric, self.sample, *both, self.sampling, might).interval(self.sampling)
        return figure("saving", value, math.nan, limits.around(value), self.sampling.confidence)
