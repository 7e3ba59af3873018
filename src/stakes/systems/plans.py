"""Which models to ask, in which order, when asking is not free: the cheapest tree of questions, found exactly.

What is known after some answers does not depend on their order. So dynamic programming works: the least remaining cost
is worked out once for each set of models and each combination of their answers, the largest sets first.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TypedDict

import numpy as np

from stakes.errors import InputError, Pass
from stakes.systems.choices import SystemChoice, cheapest, combinations, evaluate_choice
from stakes.systems.network import Network
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import check_whole
from stakes.uncertainty.sampling import Sampling

_MOST_WORK = 1 << 30
"""The largest product of sets of models and combinations that is searched."""

DEEPEST = 3
"""The most models that a plan asks one after the other, by default."""


class Step(TypedDict):
    """What to do after some answers: ask a model, or decide; ``share`` is how often that comes up."""

    after: dict[str, str]
    ask: str | None
    decide: str | None
    share: float


@dataclass(frozen=True, kw_only=True)
class BestPlan(
    SystemChoice,
    stakes="best plan",
    shown="cost now held_out saving low high confidence cases from_rows without asked steps findings",
):
    """Which models to ask in which order, and when to decide what; ``cost`` and ``now`` include the prices of asking.

    ``without`` is what the cheapest decision costs that asks nobody, ``asked`` how often each model is asked.
    """

    chosen = "plan"
    without: float
    asked: dict[str, float]
    steps: list[Step] = field(repr=False)

    def to_rows(self) -> list[dict[str, object]]:
        """Return the steps as flat dictionaries."""
        return [
            {**step, "after": ", ".join(f"{name} {answer}" for name, answer in step["after"].items())}
            for step in self.steps
        ]


def best_plan(network: Network, sampling: Sampling, depth: int = DEEPEST) -> BestPlan:
    """Find the cheapest tree of questions, and evaluate it on held-out rows."""
    check_whole("depth", depth, 0, DEEPEST)
    codes, weights = combinations(network)
    work = weights.size * sum(math.comb(len(network.models), size) for size in range(depth + 1))
    if work > _MOST_WORK:
        raise InputError(
            "plan-too-large",
            f"there are too many ways to ask {len(network.models):,} models with {weights.shape[1]:,} combinations of "
            "answers; pass ",
            Pass("depth", max(depth - 1, 0)),
        )
    outcomes = _Outcomes(network, codes, depth)
    tree = _Tree(network, codes, weights, depth)
    figures = evaluate_choice(
        network,
        outcomes.prices,
        outcomes.now,
        outcomes.of(tree),
        weights,
        lambda train, part: outcomes.of(_Tree(network, codes, train, depth)),
        sampling,
    )
    steps, total = list(tree.steps()), float(weights.sum())
    shares = dict.fromkeys(network.fusion.models, 0.0)
    for step in steps:
        step["share"] /= total
        if step["ask"] is not None:
            shares[step["ask"]] += step["share"]
    without = float((network.cases @ network.prices).min())
    return BestPlan(**figures, without=without, asked=shares, steps=steps)


def consulting(network: Network) -> float:
    """What it costs to ask the models that the given rule asks, for all cases."""
    if not any(model.price for model in network.models.values()):
        return 0.0
    codes, weights = combinations(network)
    return float(weights.sum(0) @ _asked_now(network, codes))


def _asked_now(network: Network, codes: Mapping[str, Array]) -> Array:
    """What the given rule pays for asking in each combination."""
    asked = network.fusion.asked(codes)
    return np.asarray(sum(network.models[name].price * when for name, when in asked.items()))


class _Outcomes:
    """Decisions together with what was paid for asking, numbered: ``prices[c, outcome]``."""

    def __init__(self, network: Network, codes: Mapping[str, Array], depth: int) -> None:
        before = _asked_now(network, codes)
        each = [model.price for model in network.models.values()]
        sums = {sum(some) for size in range(depth + 1) for some in itertools.combinations(each, size)}
        self.paid = np.unique(np.concatenate([np.atleast_1d(before), np.array(sorted(sums), float)]))
        self.decisions = network.prices.shape[1]
        self.prices = (network.prices[:, None, :] + self.paid[None, :, None]).reshape(len(network.prices), -1)
        self.now = self._numbered(np.asarray(network.fusion(codes)), before)

    def _numbered(self, decided: Array, paid: Array) -> Array:
        return np.asarray(np.abs(np.subtract.outer(paid, self.paid)).argmin(-1) * self.decisions + decided)

    def of(self, tree: "_Tree") -> Array:
        """The outcome of each combination."""
        return self._numbered(*tree.follow())


class _Tree:
    """The cheapest tree for these cases: ``choice(models)[answers]`` is a model to ask, or minus a decision minus 1."""

    def __init__(self, network: Network, codes: Mapping[str, Array], weights: Array, depth: int) -> None:
        self.network, self.codes, self.weights, self.depth = network, codes, weights, depth
        self.names = tuple(network.models)
        self.models = list(network.models.values())
        self.sizes = [len(model.outputs) for model in self.models]
        self.look = cache(self._look)

    def _look(self, asked: tuple[int, ...]) -> tuple[Array, Array, Array]:
        """The least remaining cost after each combination of answers, the next step, and the number of cases."""
        shape = [self.sizes[m] for m in asked]
        places = np.zeros(self.weights.shape[1], np.int64)
        for m in asked:
            places = places * self.sizes[m] + self.codes[self.names[m]]
        cells = np.stack([np.bincount(places, row, math.prod(shape)) for row in self.weights])
        decided = cheapest(cells, self.network.prices, np.zeros(cells.shape[1], np.int64))
        cost = np.einsum("cn,cn->n", cells, self.network.prices[:, decided]).reshape(shape)
        todo, cases = (-1 - decided).reshape(shape), cells.sum(0).reshape(shape)
        for m in self._could_ask(asked):
            more = tuple(sorted((*asked, m)))
            then = self.look(more)[0].sum(axis=more.index(m)) + self.models[m].price * cases
            better = then < cost - 1e-12 * np.abs(cost)
            cost, todo = np.where(better, then, cost), np.where(better, m, todo)
        return cost, todo, cases

    def _could_ask(self, asked: tuple[int, ...]) -> list[int]:
        """The models that can be asked next: those not asked yet that see nobody who was not."""
        if len(asked) == self.depth:
            return []
        known = {self.names[m] for m in asked}
        return [m for m, model in enumerate(self.models) if m not in asked and set(model.sees) <= known]

    def _walk(self, answers: dict[int, int]) -> Iterator[tuple[dict[int, int], int, float]]:
        """The nodes of the tree: answers so far, what to do then, how many cases get there."""
        asked = tuple(sorted(answers))
        place = tuple(answers[m] for m in asked)
        _, todo, cases = self.look(asked)
        do, many = int(todo[place]), float(cases[place])
        yield answers, do, many
        if do >= 0:
            for code in range(self.sizes[do]):
                yield from self._walk({**answers, do: code})

    def steps(self) -> Iterator[Step]:
        """The tree in words, from the first question on; answers that never come are left out."""
        decisions = self.network.fusion.decisions
        for answers, do, many in self._walk({}):
            if many or not answers:
                after = {self.names[m]: self.models[m].outputs[code] for m, code in answers.items()}
                ask, decide = (self.names[do], None) if do >= 0 else (None, decisions[-1 - do])
                yield {"after": after, "ask": ask, "decide": decide, "share": many}

    def follow(self) -> tuple[Array, Array]:
        """What is decided in each combination, and what is paid for asking."""
        size = self.weights.shape[1]
        decided, paid = np.zeros(size, np.int64), np.zeros(size)
        for answers, do, _ in self._walk({}):
            there = np.ones(size, bool)
            for m, code in answers.items():
                there &= self.codes[self.names[m]] == code
            if do >= 0:
                paid[there] += self.models[do].price
            else:
                decided[there] = -1 - do
        return decided, paid
