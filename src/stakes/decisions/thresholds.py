"""Where to put the thresholds of a score, and what that is worth once the optimism of choosing is taken out."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from stakes import errors, metrics
from stakes.decisions.decision import Decision, Range
from stakes.decisions.ladder import CLASSES, Ladder, evenly, moved, near_the_best, ordered_decisions, prices_of
from stakes.decisions.losses import Bill
from stakes.decisions.objectives import BestFigure, LowestCost, cumulated, tables_at
from stakes.decisions.out_of_bag import ClusterResamples, RowResamples
from stakes.metrics import Estimate
from stakes.tallies import Confusion, ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.columns import Columns
from stakes.tallies.pricing import Pricing
from stakes.uncertainty.draws import spread_interval
from stakes.uncertainty.sampling import Sampling

RESAMPLES = 1000
_DEFAULT = 0.5
"""The threshold that people use when they do not think about it."""

_RUNNING = 1.0
"""How many standard errors dearer than the best a threshold may look and still be in the running.

In simulations the truly best threshold was then among those that cannot be told apart 96 to 99 times of 100.
"""


def decide_by_cost(table: ScoreTable, pricing: Pricing, sampling: Sampling, probabilities: bool) -> Decision:
    """Return the thresholds that cost least, with what they cost on rows that did not choose them."""
    _refuse_one_class(table)
    if sampling.clusters is not None and pricing.costs.columns:
        raise errors.row_costs_in_clusters()
    return _ByCost(table, pricing, sampling, probabilities).decision()


def decide_by_figure(table: ScoreTable, wanted: BestFigure, sampling: Sampling, probabilities: bool) -> Decision:
    """Return the threshold with the best figure, with that figure on rows that did not choose it."""
    _refuse_one_class(table)
    return _ByFigure(table, wanted, sampling, probabilities).decision()


def _refuse_one_class(table: ScoreTable) -> None:
    for name, size in ((table.positive, table.P), (table.negative, table.N)):
        if not size:
            raise errors.both_classes_wanted(name)


@dataclass(frozen=True, eq=False)
class _Search:
    """What a search for thresholds has in common, whatever is wanted of them."""

    table: ScoreTable
    wanted: Any
    sampling: Sampling
    probabilities: bool

    @cached_property
    def columns(self) -> Columns:
        return self.table.as_columns()

    def _resamples(self, ladder: Ladder) -> RowResamples | ClusterResamples:
        generator = self.sampling.generator()
        if self.sampling.clusters is None:
            return RowResamples.of(ladder, RESAMPLES, generator)
        return ClusterResamples.of(ladder, self.sampling.clusters, RESAMPLES, generator)

    def _facts(self) -> dict[str, Any]:
        total = float(self.table.total)
        return {
            "positive": self.table.positive,
            "negative": self.table.negative,
            "rows": int(total) if total.is_integer() else total,
            "confidence": self.sampling.confidence,
        }


# ── the lowest cost ──────────────────────────────────────────────────────────────────────────────────────────────
class _ByCost(_Search):
    """The search for the thresholds that cost least."""

    @cached_property
    def decisions(self) -> list[str]:
        return ordered_decisions(self.table, self.wanted)

    @cached_property
    def shares(self) -> Array | None:
        """The class frequencies of the deployment, the positive class first."""
        prior = self.wanted.deployed((self.table.negative, self.table.positive), self.table.positive)
        return None if prior is None else np.array([float(prior[1]), float(prior[0])])

    @cached_property
    def bayes(self) -> tuple[list[float] | None, str]:
        """The thresholds that would cost least if the scores were right, or why there are none."""
        if self.wanted.costs.columns:
            return None, "the costs differ from row to row, so each row has a threshold of its own"
        if not self.probabilities:
            return None, "the scores are no probabilities"
        if self.wanted.prior is not None and self.wanted.training_prior is None:
            return None, "training_prior= is not known"
        share = Fraction(self.table.P) / Fraction(self.table.total)
        steps = self.wanted.thresholds(self.table.negative, self.table.positive, (1 - share, share))
        return [start for _, start in steps[1:]], ""

    def decision(self) -> Decision:
        prices = prices_of(self.table, self.wanted, self.decisions)
        sizes = np.array([float(self.table.P), float(self.table.N)])
        shares = sizes / sizes.sum() if self.shares is None else self.shares
        goal = LowestCost(shares if self.shares is not None or self.sampling.fixed else None)
        moves = [moved(self.columns, *pair, shares / sizes) for pair in itertools.pairwise(prices)]
        thresholds = self._best(moves)
        usual = [_DEFAULT] if self.probabilities and len(self.decisions) == 2 else []
        keep = [*thresholds, *(self.bayes[0] or ()), *usual]
        ladder = Ladder.of(near_the_best(self.columns, moves, keep), prices)
        resamples = self._resamples(ladder)
        counts = resamples.counts if isinstance(resamples, ClusterResamples) else None
        bill = Bill(ladder, shares, goal.shares is not None, self.sampling, resamples.held, counts)

        def policy(starts: Sequence[float]) -> Array:
            return ladder.policy([ladder.place_of(start) for start in starts])

        best = policy(thresholds)
        paid = goal.paid(ladder, resamples.held)
        judged = _judged(resamples, goal.choose(paid), len(ladder.scores))
        others = {f"always {name}": _always(ladder, d, len(self.decisions)) for d, name in enumerate(self.decisions)}
        others |= {f"threshold {start:g}": policy([start]) for start in usual}
        if self.bayes[0] is not None:
            others["Bayes thresholds" if len(self.decisions) > 2 else "Bayes threshold"] = policy(self.bayes[0])
        places = [ladder.place_of(start) for start in thresholds]
        return Decision(
            criterion="the lowest cost",
            costs=self.wanted.costs,
            decisions=tuple(self.decisions),
            thresholds=tuple(thresholds),
            apparent=Estimate("expected_cost", bill.cost(best)),
            corrected=bill.estimate("expected_cost", judged),
            alternatives={name: bill.estimate("expected_cost", other) for name, other in others.items()},
            savings={name: bill.estimate("saving", other - judged) for name, other in others.items()},
            alike=tuple(self._alike(goal, ladder, places, paid)),
            bayes=None if self.bayes[0] is None else tuple(self.bayes[0]),
            no_bayes=self.bayes[1],
            cost_ratio=self._cost_ratio(thresholds, shares / sizes, prices),
            worth_of_labels=float(_whole_regret(paid, goal, places).mean()),
            **self._facts(),
        )

    def _best(self, moves: Sequence[tuple[Array, Array]]) -> list[float]:
        """The exact best thresholds of these rows."""
        places = LowestCost.choose(np.stack([paid[None] for paid, _ in moves]))[:, 0]
        return [float(self.columns.scores[place - 1]) if place else math.inf for place in places]

    def _alike(self, goal: LowestCost, ladder: Ladder, places: list[int], drawn: Array) -> list[list[Range]]:
        """The thresholds that cannot be told from the best, of each two decisions."""
        paid = goal.paid(ladder, np.ones((1, 2, len(ladder.scores))))[:, 0]
        found = zip(paid, drawn, places, strict=True)
        return [_ranges(ladder, alike(*one, self.sampling.confidence)) for one in found]

    def _cost_ratio(self, thresholds: Sequence[float], factors: Array, prices: Sequence[Any]) -> Range | None:
        """Between which costs of a miss, in false alarms, the same threshold stays the best."""
        if len(prices) != 2 or self.wanted.costs.columns:
            return None
        found = cumulated(np.stack([self.columns.values[name] for name in CLASSES]) * factors[:, None])
        place = int(np.count_nonzero(self.columns.scores >= thresholds[0]))
        more = found[:, place + 1 :] - found[:, place, None]
        less = found[:, place, None] - found[:, :place]
        with np.errstate(divide="ignore", invalid="ignore"):
            up, down = more[1] / more[0], less[1] / less[0]
        return (float(np.nanmax(down, initial=0.0)), float(np.nanmin(up, initial=math.inf)))


def alike(paid: Array, drawn: Array, best: int, confidence: float) -> Array:
    """Which places cannot be told from the best one: no dearer than the truly best one often looks.

    Were a place the best one in truth, it would still look dearer than the luckiest of the others. How much that can
    be, resamples tell: their noise at the place, less that of the luckiest other. Others that are dearer by more than
    a few standard errors are not in the running, and are handicapped by what is beyond that (Andrews & Soares 2010,
    Econometrica 78).
    """
    noise = drawn - paid
    dearer = paid - paid[best]
    handicap = np.maximum(dearer - _RUNNING * (noise - noise[:, [best]]).std(axis=0), 0.0)
    luckiest = (noise + handicap).min(axis=1)
    return dearer <= np.quantile(noise - luckiest[:, None], confidence, axis=0) + 1e-12 * abs(paid[best])


def _always(ladder: Ladder, decision: int, decisions: int) -> Array:
    policy = np.zeros((decisions, 1, len(ladder.scores)))
    policy[decision] = 1.0
    return policy


def _judged(resamples: RowResamples | ClusterResamples, places: Array, rungs: int) -> Array:
    """How often each decision is taken for rows by the resamples without them: (decision, …, class, rung)."""
    higher = [resamples.judged(np.arange(rungs) < place[:, None]) for place in places]
    ends = np.ones_like(higher[0]), np.zeros_like(higher[0])
    return -np.diff([ends[0], *higher, ends[1]], axis=0)


def _whole_regret(paid: Array, goal: LowestCost, places: list[int]) -> Array:
    """What the best thresholds of these rows cost more in each resample than its own best ones."""
    own = np.take_along_axis(paid, goal.choose(paid)[..., None], axis=-1)[..., 0].sum(axis=0)
    return paid[np.arange(len(places)), :, places].sum(axis=0) - own


def _ranges(ladder: Ladder, alike: Array) -> list[Range]:
    """Runs of places as ranges of thresholds, from the lowest to the highest."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], alike.astype(np.int8), [0]])))
    starts, ends = edges[::2], edges[1::2] - 1
    return [(ladder.threshold_at(int(b)), ladder.threshold_at(int(a))) for a, b in zip(starts, ends, strict=True)][::-1]


# ── the best figure ──────────────────────────────────────────────────────────────────────────────────────────────
class _ByFigure(_Search):
    """The search for the threshold with the best figure."""

    def decision(self) -> Decision:
        place = self._best()
        threshold = math.inf if not place else float(self.columns.scores[place - 1])
        usual = [_DEFAULT] if self.probabilities else []
        ladder = Ladder.of(evenly(self.columns, [threshold, *usual]), [(0.0, 0.0)])
        resamples = self._resamples(ladder)
        tables = tables_at(ladder, resamples.held)
        here = ladder.place_of(threshold)
        judged = _judged(resamples, self.wanted.choose(tables)[None], len(ladder.scores))
        soft = self._soft(ladder, judged[1], resamples)
        metric = self.wanted.metric
        others = {f"threshold {start:g}": self.table.at(start) for start in usual}
        return Decision(
            criterion=self.wanted.words,
            decisions=(self.table.negative, self.table.positive),
            thresholds=(threshold,),
            apparent=self._figure(metric, self.table.at(threshold)),
            corrected=self._interval(metric, *soft),
            alternatives={name: self._figure(metric, table) for name, table in others.items()},
            condition=None if self.wanted.condition is None else self._interval(self.wanted.condition, *soft),
            limit=None if self.wanted.condition is None else ("≥" if self.wanted.at_least else "≤", self.wanted.limit),
            alike=(_ranges(ladder, self._alike(ladder, here, tables)),),
            **self._facts(),
        )

    def _best(self) -> int:
        """The exact best place among all distinct scores."""
        tables = self.table.confusions()
        merit = self.wanted.merit(tables)
        if np.isneginf(merit.max()):
            if self.wanted.condition is None:
                raise errors.nothing_to_compare(self.wanted.metric.name, "at every threshold")
            found = self.wanted.condition.of(tables)
            nearest = np.nanmax(found) if self.wanted.at_least else np.nanmin(found)
            raise errors.condition_never_met(self.wanted.words.partition(" with ")[2], float(nearest))
        return int(merit.argmax())

    def _soft(self, ladder: Ladder, called: Array, resamples: Any) -> tuple[Confusion, Confusion]:
        """The confusion table of rows judged without them, and such tables of resamples."""
        if isinstance(resamples, ClusterResamples):
            each = (resamples.counts * called).sum(-1), resamples.counts.sum(-1)
            drawn = [self._drawn_clusters(part) for part in each]
            return _table(each[0].sum(0), each[1].sum(0)), _table(*drawn)
        found = (called * ladder.weight).sum(-1)
        held = resamples.held * ladder.weight
        return _table(found, ladder.sizes), _table((held * called).sum(-1), held.sum(-1))

    def _drawn_clusters(self, each: Array) -> Array:
        weights = self.sampling.generator().standard_exponential((RESAMPLES, len(each)))
        return weights @ each

    def _interval(self, metric: metrics.Metric, table: Confusion, drawn: Confusion) -> Estimate:
        found = self._figure(metric, table)
        limits = spread_interval(metric, found.value, np.asarray(metric.of(drawn)), self.sampling, "rows drawn anew")
        return replace(found, low=limits.low, high=limits.high, method=limits.method, no_interval=limits.reason)

    def _figure(self, metric: metrics.Metric, table: Confusion) -> Estimate:
        level = self.sampling.confidence
        return Estimate(metric.text, float(metric.of(table)), float(metric.baseline_of(table)), confidence=level)

    def _alike(self, ladder: Ladder, place: int, drawn: Confusion) -> Array:
        """Which places cannot be told from the best, or might be just where the condition begins to hold."""
        if self.wanted.condition is not None:
            found = np.nan_to_num(np.asarray(self.wanted.condition.of(drawn)), nan=self.wanted.limit)
            low, high = np.quantile(found, (self.sampling.tail, 1 - self.sampling.tail), axis=0)
            return (low <= self.wanted.limit) & (self.wanted.limit <= high)
        merit = self.wanted.merit(tables_at(ladder, np.ones((1, 2, len(ladder.scores)))))[0]
        again = self.wanted.merit(drawn)
        known = np.isfinite(merit)
        merits = np.where(np.isfinite(again), again, merit)[:, known]
        found = np.zeros(len(merit), bool)
        found[known] = alike(-merit[known], -merits, int(np.count_nonzero(known[:place])), self.sampling.confidence)
        return found


def _table(called: Array, rows: Array) -> Confusion:
    """The table of rows called positive, of each class the positive one first (last axis)."""
    missed = np.maximum(rows - called, 0.0)
    return Confusion.two_class(tp=called[..., 0], fn=missed[..., 0], fp=called[..., 1], tn=missed[..., 1])
