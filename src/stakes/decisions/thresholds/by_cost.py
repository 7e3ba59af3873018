"""The thresholds that cost least."""

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from stakes import errors
from stakes.decisions.curves.curve import Curve
from stakes.decisions.thresholds import threshold_grid
from stakes.decisions.thresholds.cost_account import CostAccount
from stakes.decisions.thresholds.decision import (
    BAYES,
    Decision,
    Range,
    UnseenMisses,
    all_within,
    cheapest_constant,
    threshold_way,
)
from stakes.decisions.thresholds.objectives import LowestCost
from stakes.decisions.thresholds.out_of_bag import Resamples
from stakes.decisions.thresholds.search import MeanCost, Search, alike, over_thresholds, ranges
from stakes.decisions.thresholds.threshold_grid import Policy, ThresholdGrid, cost_of_moving, cumulate
from stakes.metrics import Estimate
from stakes.metrics.cost import expected_cost
from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.pricing import Pricing, shares_of
from stakes.uncertainty.sampling import Sampling

_OWN_SHARE = 0.25
"""The weight of the apparent cost in the corrected one; from simulations (`make coverage`)."""


def decide_by_cost(
    table: ScoreTable, pricing: Pricing, sampling: Sampling, probabilities: bool, in_use: float | None = None
) -> Decision:
    """Return the thresholds that cost least, with what they cost on rows that did not choose them.

    A threshold that is ``in_use`` stays where these rows cannot tell it from the best.
    """
    if sampling.clusters is not None and pricing.costs.columns:
        raise errors.row_costs_in_clusters()
    return _ByCost(table, pricing, sampling, probabilities, in_use).decision()


def bayes_thresholds(table: ScoreTable, pricing: Pricing, probabilities: bool) -> tuple[list[float] | None, str]:
    """The thresholds that would cost least if the scores were right, or why there are none."""
    if pricing.costs.columns:
        return None, "the costs differ from row to row, so each row has one of its own (evaluate prices that)"
    if not probabilities:
        return None, "the scores are no probabilities"
    if pricing.prior is not None and pricing.training_prior is None:
        return None, "it depends on the class frequencies that the model was trained on; give the training prior"
    steps = pricing.thresholds(table.negative, table.positive, shares_of([table.N, table.P]))
    return [start for _, start in steps[1:]], ""


class _ByCost(Search):
    """The search, step by step: the best thresholds, a grid around them, resamples, and what all that costs."""

    def __init__(
        self, table: ScoreTable, pricing: Pricing, sampling: Sampling, probabilities: bool, in_use: float | None
    ) -> None:
        super().__init__(table, sampling, probabilities, in_use)
        self.pricing = pricing
        self.decisions, self.prices = threshold_grid.price_decisions(table, pricing)
        # how frequent the classes count, and how much a row of each does; the positive class first
        prior = pricing.deployed((table.negative, table.positive), table.positive)
        self.deployed = None if prior is None else np.array(prior[::-1], np.float64)
        self.sizes = np.array([float(table.P), float(table.N)])
        self.shares = self.sizes / self.sizes.sum() if self.deployed is None else self.deployed
        self.factors = self.shares / self.sizes
        self.goal = LowestCost(self.shares if self.deployed is not None or sampling.fixed else None)
        # the exact best thresholds of these rows, and a grid around them
        moves = [cost_of_moving(self.columns, *pair, self.factors) for pair in itertools.pairwise(self.prices)]
        places = LowestCost.choose(np.stack([paid[None] for paid, _ in moves]))[:, 0]
        self.thresholds = [float(self.columns.scores[place - 1]) if place else math.inf for place in places]
        self.bayes, self.no_bayes = self._bayes(probabilities)
        keep = [*self.thresholds, *(self.bayes or ()), *self.usual]
        self.grid = ThresholdGrid(threshold_grid.near_the_best(self.columns, moves, keep), self.prices)
        # decisions by the thresholds that all rows chose, and out-of-bag decisions: resamples without a row are smaller
        # than the whole and choose worse than it does, so the thresholds of all rows get some weight
        resamples = Resamples(self.grid, sampling)
        paid = self.goal.paid(self.grid, resamples.held)
        self.own = self.grid.policy(self.thresholds)
        self.chosen = self.own.mixed(_OWN_SHARE, resamples.policy(self.goal.choose(paid)))
        self.alike = self._alike(paid)
        prices = None if pricing.costs.columns else np.array(self.prices, np.float64).T
        apart = self.goal.shares is not None
        cases = pricing.cases((table.negative, table.positive))
        self.account = CostAccount(self.grid, self.shares, apart, sampling, resamples, prices, cases)

    def _bayes(self, probabilities: bool) -> tuple[list[float] | None, str]:
        starts, why = bayes_thresholds(self.table, self.pricing, probabilities)
        if starts is not None and not all(map(self.table.answers, starts)):
            return None, f"{starts[0]:.6g} lies inside a bin of these scores"
        return starts, why

    def _alike(self, resampled: Array) -> list[list[Range]]:
        """The thresholds that are as good as the best within noise, of each two decisions."""
        paid = self.goal.paid(self.grid, np.ones((1, 2, len(self.grid.scores))))[:, 0]
        found = zip(paid, resampled, map(self.grid.place_of, self.thresholds), strict=True)
        return [ranges(self.grid, alike(*one, self.sampling.confidence)) for one in found]

    def _alternatives(self) -> dict[str, Policy]:
        """Other ways to decide, as policies."""
        count = len(self.decisions)
        found = {f"always {name}": self.grid.constant(d, count) for d, name in enumerate(self.decisions)}
        found |= {threshold_way(start): self.grid.policy([start] * len(self.thresholds)) for start in self.usual}
        return found if self.bayes is None else {**found, BAYES: self.grid.policy(self.bayes)}

    def decision(self) -> Decision:
        """Put everything together."""
        others, bayes = self._alternatives(), self.bayes
        kept = self.kept(self.alike)
        taken, given = self.chosen, None if kept is None else [kept]
        if bayes is not None and all_within(bayes, self.alike):
            taken, given = others[BAYES], bayes
        elif kept is not None:
            taken = others[threshold_way(kept)]
        alternatives = {name: self.account.estimate(other) for name, other in others.items()}
        constant = others[cheapest_constant(alternatives)]
        about, most = self._worth_of_labels() if given is None else (math.nan, math.nan)
        return Decision(
            criterion="the lowest cost",
            question=self._question(),
            costs=self.pricing.costs,
            worthless=tuple(self.pricing.costs.never_cheapest()),
            decisions=tuple(self.decisions),
            thresholds=tuple(self.thresholds),
            apparent=Estimate(expected_cost.name, self.account.cost(self.own)),
            corrected=self.account.estimate(self.chosen),
            alternatives=alternatives,
            savings_by_score={name: self.account.saving(other, taken) for name, other in others.items()},
            savings_for_everyone={name: self.account.saving(other, constant) for name, other in others.items()},
            miscalibration=None if bayes is None else self.account.saving(others[BAYES], self.chosen),
            alike=tuple(self.alike),
            bayes=None if bayes is None else tuple(bayes),
            no_bayes=self.no_bayes,
            cost_ratio=self._cost_ratio(),
            worth_of_labels=about,
            most_worth_of_labels=most,
            unseen=self._unseen(given or self.thresholds),
            find_over_thresholds=self._over_thresholds(),
            in_use_alike=kept,
            deployed=None if self.deployed is None else float(self.deployed[0]),
            shown_as=self.shown([*self.thresholds, *(bayes or ())], self.alike),
            positive=self.table.positive,
            negative=self.table.negative,
            rows=self.rows,
            confidence=self.sampling.confidence,
        )

    def _question(self) -> str:
        """What was asked, so that a slip in the costs is seen."""
        prior = "" if self.deployed is None else f"; {self.table.positive} is {self.deployed[0]:.6g} where it is used"
        return f"{self.rows_in_words}; costs: {self.pricing.costs.words}{prior}"

    def _over_thresholds(self) -> Callable[[], Curve] | None:
        """What finds out what each threshold costs, where two decisions have the same costs in all rows."""
        match self.prices:
            case [tuple() as low, tuple() as high]:
                cost = MeanCost(low, high, self.goal.shares)
                return partial(over_thresholds, self.table, expected_cost.name, cost, self.thresholds[0], self.sampling)
        return None

    def _worth_of_labels(self) -> tuple[float, float]:
        """Estimate what a threshold chosen on many more rows would save, and an upper limit that is rarely exceeded.

        In simulations with 10 to 100 positives these were a quarter of the optimism, and one and a half times it.
        """
        optimism = max(self.account.cost(self.chosen) - self.account.cost(self.own), 0.0) / (1 - _OWN_SHARE)
        return optimism / 4, 1.5 * optimism

    def _unseen(self, thresholds: Sequence[float]) -> UnseenMisses | None:
        """What cannot be excluded where no positive was missed."""
        plain = self.deployed is None and self.sampling.clusters is None and not self.columns.weighted
        match self.prices:
            case [(silent, rest), (found, alarm)] if plain and silent > found and alarm > rest:
                missed = self.sizes[0] - float(self.table.at(thresholds[0]).tp)
                most = -math.log(self.sampling.tail)
                if not missed:
                    cost = most * (silent - found)
                    return UnseenMisses(int(self.sizes[0]), most, cost / self.rows, cost / (alarm - rest))
        return None

    def _cost_ratio(self) -> Range | None:
        """Between which costs of a miss, in false alarms, the same threshold stays the best."""
        if len(self.prices) != 2 or self.pricing.costs.columns:
            return None
        found = cumulate(self.columns.counts() * self.factors[:, None])
        place = int(np.count_nonzero(self.columns.scores >= self.thresholds[0]))
        more = found[:, place + 1 :] - found[:, place, None]
        less = found[:, place, None] - found[:, :place]
        with np.errstate(divide="ignore", invalid="ignore"):
            up, down = more[1] / more[0], less[1] / less[0]
        return (float(np.nanmax(down, initial=0.0)), float(np.nanmin(up, initial=math.inf)))
