"""Several classes: what it costs to decide for the highest score, to decide by the costs, and after recalibration."""

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

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
from stakes.metrics import Estimate, Metric
from stakes.metrics.cost import expected_cost, with_prices
from stakes.metrics.many import multiclass_log_loss
from stakes.metrics.rates import recall
from stakes.records import Count, RowCount
from stakes.tallies import ClassScores, Confusion
from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.class_scores import ClassSample
from stakes.tallies.clusters import Clusters
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
ALWAYS = "always "


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
    by looking at its own class; there are none where no rows were kept. ``sampled`` are the ways that are known for a
    sample of the rows only. ``harm`` is what asking the model costs for each case.
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
    sampled: tuple[str, ...] = ()

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


@dataclass(frozen=True, eq=False)
class DecidedRows:
    """Rows, or groups of rows alike, with the decisions of ways to decide; ``clusters`` are those of the same rows."""

    sample: Sample
    decided: Mapping[str, Array]
    clusters: Clusters | None = None

    @classmethod
    def of(cls, sample: Sample, decided: Mapping[str, Array], clusters: Clusters | None = None) -> Self:
        """Add deciding the same for everybody, which needs no scores."""
        always = {f"{ALWAYS}{name}": np.full(len(sample.truth), d) for d, name in enumerate(sample.decisions)}
        return cls(sample, {**decided, **always}, clusters)

    @classmethod
    def of_table(cls, table: Confusion, decisions: Sequence[str], way: str | None, clusters: Clusters | None) -> Self:
        """The rows of a table, which one of the ways decided; None if something else did."""
        names = table.truths, tuple(decisions)
        if clusters is not None:
            held = clusters.weight, clusters.groups, None, clusters.alike, clusters.squares
            codes, taken = (np.asarray(one, np.int64) for one in (clusters.truth, clusters.decided))
            sample = Sample(codes, *names, None, *held)
        else:
            truth, taken = np.nonzero(table.counts)
            sample = Sample(truth, *names, alike=table.counts[truth, taken])
            if table.squares is not None:
                sample = replace(sample, weight=sample.alike, squares=table.squares[truth, taken])
        if way is None:
            return cls.of(sample, {}, clusters)
        places = np.array([names[1].index(name) for name in table.decisions])
        return cls.of(sample, {way: places[taken]}, clusters)

    def cells(self, ways: Sequence[str]) -> Array:
        """A number for each combination of the truth and what these ways decide."""
        found = self.sample.truth.astype(np.int64)
        for name in ways:
            found = found * len(self.sample.decisions) + self.decided[name]
        return found

    def stand_for(self, counted: "DecidedRows") -> "DecidedRows":
        """The same rows, weighted so that they are as many as were counted: by truth and decisions, then by truth."""
        known = [name for name in counted.decided if name in self.decided and not name.startswith(ALWAYS)]
        weight = self.sample.weights
        for ways in (known, []):
            own, theirs = self.cells(ways), counted.cells(ways)
            size = int(max(own.max(), theirs.max())) + 1
            wanted = np.bincount(theirs, counted.sample.weights, size)
            weight = weight * divide(wanted, np.bincount(own, weight, size))[own]
        return replace(self, sample=replace(self.sample, weight=weight, squares=None, alike=None))


def decide_among_policies(
    scores: ClassScores, pricing: Pricing, sampling: Sampling, harm: float, counted: DecidedRows | None
) -> Policies:
    """Compare ways to decide by the probabilities of several classes.

    ``counted`` are all rows, where only some of them, or none, were kept with their scores.
    """
    source, decisions = rows_with_scores(scores, sampling.clusters), pricing.decisions(scores.classes)
    rows = None if source is None else ScoredRows.of(source)
    parts = [] if counted is None else [counted]
    methods: list[str] = []
    method = None
    if rows is not None:
        kept, methods, method = _decide(rows, scores, pricing, sampling)
        parts.append(kept if counted is None else kept.stand_for(counted))
    silly = pricing.costs.never_cheapest()
    worth = np.array([name not in silly for name in decisions])
    account = _Account(parts, with_prices(expected_cost, pricing), sampling, worth)
    known = [name for name in (HIGHEST, CHEAPEST, RECALIBRATED) if any(name in part.decided for part in parts)]
    always = [f"{ALWAYS}{name}" for name in decisions]
    estimates = add_harm({name: account.estimate(name) for name in (*known, *always)}, harm)
    again = {name: account.saving(CHEAPEST, name) for name in methods}
    total = scores.total if isinstance(scores.total, int) else float(scores.total)
    few = tuple(name for name in known if name not in parts[0].decided)
    note = "no rows were kept to recalibrate"
    if rows is not None:
        note = f"from a sample of {len(rows.truth):,} rows" if few else ""
    figures = estimates, total, again, method, note
    found = Policies(scores.classes, decisions, pricing.costs, *figures, harm=harm, sampled=few)
    savings = {name: account.saving(name, found.best) for name in estimates if name != found.best}
    savings = add_harm(savings, harm) if found.best in constants_of(estimates) else take_harm(savings, harm)
    return replace(found, savings=savings, table=account.table(found.best), right=account.right(found))


def check_policies(scores: ClassScores, pricing: Pricing, sampling: Sampling) -> None:
    """Refuse what no ways to decide can be compared by."""
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
    wanted = pricing.deployed(scores.classes, None)
    for name, share, size in zip(scores.classes, wanted or (), scores.sizes, strict=False):
        if share and not size:
            raise InputError(
                "prior-of-empty-class",
                Given("prior"),
                f" expects the class {name!r}, of which there is no row; leave it out, or give rows of it",
            )


def rows_with_scores(scores: ClassScores, clusters: Clusters | None) -> ClassSample | Clusters | None:
    """The rows that were kept with the scores of all classes, if any were."""
    return scores.sample if clusters is None else clusters.with_scores


def _decide(
    rows: ScoredRows, scores: ClassScores, pricing: Pricing, sampling: Sampling
) -> tuple[DecidedRows, list[str], str | None]:
    """Decide rows in every way; the methods of recalibration, and the one with the lowest log loss."""
    classes, shares = scores.classes, shares_of(scores.sizes.tolist())
    decisions = pricing.decisions(classes)
    taken = decide_highest(rows.scores.argmax(axis=1), classes, decisions)
    taken[CHEAPEST] = pricing.bayes(rows.scores, classes, None, shares)
    honest = _recalibrate(rows, classes, pricing, shares)
    losses = {name: multiclass_log_loss.row_losses(rows.truth, p) for name, p in honest.items()}
    method = min(losses, key=lambda name: float(np.average(losses[name], weights=rows.weight)), default=None)
    as_sampled = replace(pricing, training_prior=AS_IN_THE_ROWS)  # carried from there to the deployment
    taken |= {name: as_sampled.bayes(p, classes, None, shares) for name, p in honest.items()}
    if method is not None:
        taken[RECALIBRATED] = taken[method]
    weight = None if (rows.weight == 1).all() else rows.weight
    sample = Sample(rows.truth, classes, decisions, None, weight, rows.groups, squares=rows.squares)
    return DecidedRows.of(sample, taken, sampling.clusters), list(honest), method


def decide_highest(best: Array, classes: Sequence[str], decisions: Sequence[str]) -> dict[str, Array]:
    """Deciding for the class with the highest score, where every class can be decided for."""
    if not set(classes) <= set(decisions):
        return {}
    return {HIGHEST: np.array([list(decisions).index(name) for name in classes])[best]}


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
    """What decisions cost, as evaluating and comparing them would give it: from all rows where they were counted."""

    parts: Sequence[DecidedRows]
    metric: Metric
    sampling: Sampling
    worth_taking: Array

    def _on(self, *names: str) -> DecidedRows:
        """The rows of which it is known what these ways decide: all rows before some of them."""
        return next(part for part in self.parts if all(name in part.decided for name in names))

    def _sampling(self, rows: DecidedRows, decided: Array | None = None) -> Sampling:
        held = rows.clusters
        return replace(self.sampling, clusters=None if held is None else replace(held, decided=decided))

    def table(self, name: str, alone: bool = False, ways: DecidedRows | None = None) -> Confusion:
        """The decisions of all rows against the truth; of one decision for everybody perhaps that one ``alone``."""
        ways = ways or self._on(name)
        sample, places = ways.sample, np.arange(len(ways.sample.decisions))
        if alone and name.startswith(ALWAYS):
            places = ways.decided[name][:1]
        shape = len(sample.classes), len(places)
        cells = sample.truth.astype(np.int64) * len(places) + np.searchsorted(places, ways.decided[name])

        def count(weight: Array) -> Array:
            return np.bincount(cells, weight, math.prod(shape)).reshape(shape)

        counts, names = count(sample.weights), tuple(sample.decisions[d] for d in places)
        if sample.weight is None:
            return Confusion(sample.classes, names, np.rint(counts).astype(np.int64))
        return Confusion(sample.classes, names, counts, count(sample.squared_weights))

    def estimate(self, name: str) -> Estimate:
        """What a way to decide costs per case."""
        ways, table = self._on(name), self.table(name, alone=True)
        value = float(self.metric.of(table))
        first = ways.sample.decisions.index(table.decisions[0])
        limits = interval(self.metric, value, table, self._sampling(ways, ways.decided[name] - first))
        return figure(expected_cost.name, value, math.nan, limits.around(value), self.sampling.confidence)

    def saving(self, other: str, name: str) -> Estimate:
        """What a way to decide saves per case against another."""
        ways = self._on(other, name)
        paid = [float(self.metric.of(self.table(one, ways=ways))) for one in (other, name)]
        might = self.worth_taking if other.startswith(ALWAYS) and not name.startswith(ALWAYS) else None
        both, sampling = (ways.decided[other], ways.decided[name]), self._sampling(ways)
        value, limits = paid[0] - paid[1], saving_limits(self.metric, ways.sample, *both, sampling, might)
        return figure("saving", value, math.nan, limits.interval(sampling).around(value), self.sampling.confidence)

    def right(self, found: Policies) -> dict[str, Estimate]:
        """The share of each class that the best way decides rightly, where deciding for the class is possible."""
        ways, shares = self._on(found.best), {}
        for place, name in enumerate(found.classes):
            here = ways.sample.truth == place
            if name in found.decisions and here.any():
                hits = ways.decided[found.best][here] == found.decisions.index(name)
                shares[name] = _share(hits, ways.sample.take(here), self.sampling)
        return shares


def _share(hits: Array, sample: Sample, sampling: Sampling) -> Estimate:
    weight, level = sample.weights, sampling.confidence
    value = float(np.average(hits, weights=weight))
    if sample.cluster is None:
        low, high = wilson(value, float(weight.sum() ** 2 / sample.squared_weights.sum()), level)
        return figure(recall.name, value, math.nan, Interval(low, high, "Wilson"), level)
    cells = np.stack([np.bincount(sample.cluster, weight * one) for one in (hits, ~hits)], axis=-1)
    each = np.stack([np.zeros_like(cells), cells[:, ::-1]], axis=1)
    (tp, fn), size = cells.sum(axis=0), len(cells)
    if size < 2:
        return figure(recall.name, value, math.nan, none("there is a single cluster"), level)
    table = Confusion.two_class(tp=float(tp), fn=float(fn), fp=0.0, tn=0.0)
    if sample.weight is not None:  # what one more row weighs
        own = [float(sample.squared_weights @ one) for one in (~hits, hits)]
        table = table.with_counts(table.counts, np.array([[0.0, 0.0], own]))
    (limits,) = table_limits([recall], [value], table, each, replace(sampling, clusters=None))
    return figure(recall.name, value, math.nan, limits, level)
