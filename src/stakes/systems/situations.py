"""The situations in which one model answers, by what the others say, and what each of its answers then costs.

For a true class c, u are the answers of models that do not see this model, d the answers of those that do.
k(c, u, j) = Σ_d P(d | c, u, do j) · cost of the decision is the price of its answer j in that situation. Situations in
which every answer has the same price are one and the same here, so there are few even when there are many models.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from stakes import errors
from stakes.systems.network import Joint, Model, Network, distinct, sum_out, with_answers
from stakes.tallies.arithmetic import Array, divide

_FEW = 1 << 16
"""The most kinds of situations that are numbered by counting instead of sorting."""

_MOST_ANSWERS = 10_000
"""The most combinations of answers of later models that are tried one by one."""


@dataclass(frozen=True, eq=False)
class Situations:
    """The situations of a model for one true class.

    ``seen`` numbers what the model itself sees; ``shares[..., g]`` is the probability of a situation,
    ``low[..., g, j]`` and ``high[..., g, j]`` the price of an answer. The two differ only where models that see this
    one may share its difficulties, so that nobody knows what they would have said. ``decided[g, j, s]`` is how often
    the system then decides s; None where that is not known, or rows are resampled.
    """

    seen: Array
    shares: Array
    low: Array
    high: Array
    decided: Array | None = None

    @property
    def known(self) -> bool:
        """Whether prices are known, not only their range."""
        return self.low is self.high

    def of_draws(self, chosen: Array) -> "Situations":
        """Return some of the draws (the leading axis)."""
        low = self.low[chosen]
        high = low if self.known else self.high[chosen]
        return Situations(self.seen, self.shares[chosen] if self.shares.ndim > 1 else self.shares, low, high)

    def seen_shares(self, combinations: int) -> Array:
        """The probability of each combination of what the model sees."""
        return sum_out(self.shares, self.seen, combinations)

    def mean_prices(self, prices: Array, combinations: int) -> Array:
        """The mean price of each answer (last axis), for each combination of what the model sees."""
        weighted = np.einsum("...g,...gj->...jg", self.shares, prices)
        totals = np.moveaxis(sum_out(weighted, self.seen, combinations), -2, -1)
        shares = self.seen_shares(combinations)[..., None]
        return divide(totals, shares, math.nan)


class _Others:
    """What the others say before a model answers, for one class: the situations, still one by one.

    ``base`` lists the combinations, those of the model and of the models in rows that see it (``by_rows``) among them;
    ``places`` tell in which situation each combination is, ``codes`` and ``shares`` what the others say in a situation
    and how probable it is. Models given by tables that see it are ``left_out``.
    """

    def __init__(self, network: Network, model: Model, c: int) -> None:
        self.network, self.model, self.c = network, model, c
        later = network.later(model.name)
        self.left_out = [other for other in later if not network.models[other].by_rows]
        self.by_rows = [other for other in later if network.models[other].by_rows]
        self.base = network.joint(c, without=[*self.left_out, model.name])
        names = [other for other in self.base.codes if other not in (model.name, *self.by_rows)]
        self.places, first = distinct([self.base.codes[other] for other in names], self.base.size)
        self.codes, self.size = {other: self.base.codes[other][first] for other in names}, len(first)
        self.shares = sum_out(self.base.chance, self.places, self.size)

    def costs(self, answers: Mapping[str, int]) -> Array:
        """What each situation costs when some models are made to give an answer, averaged over those left out."""
        codes = with_answers(self.codes, answers, self.size)
        return self.network.expected_costs(self.c, codes, self.size, self.left_out)


def situations(network: Network, name: str, c: int) -> Situations:
    """Return the situations of a model for one class (with leading axes when the network is bootstrapped)."""
    if not network.later(name):
        return _by_decision(network, network.models[name], c)
    others = _Others(network, network.models[name], c)
    seen = network.seen_codes(others.model, others.codes, others.size)
    low, high = _prices(others)
    if low.ndim > 2 or high.ndim > 2:  # resampled prices hardly ever coincide
        return Situations(seen, others.shares, low, high)
    if low is not high or others.shares.ndim > 1:
        seen, shares, prices = _merge(seen, others.shares, low if low is high else np.stack([low, high], 1))
        return Situations(seen, shares, *([prices] * 2 if low is high else np.moveaxis(prices, 1, 0)))
    decided = []
    for s in range(network.prices.shape[1]):
        others.network = replace(
            network, prices=np.broadcast_to(np.eye(network.prices.shape[1])[s], network.prices.shape)
        )
        decided.append(_prices(others)[0])
    seen, shares, found = _merge(seen, others.shares, np.stack(decided, axis=-1))
    prices = found @ network.prices[c]
    return Situations(seen, shares, prices, prices, found)


def _prices(others: _Others) -> tuple[Array, Array]:
    """The least and the most that each answer costs in each situation."""
    if others.by_rows:
        return _prices_in_rows(others)
    low = np.stack([others.costs({others.model.name: j}) for j in range(len(others.model.outputs))], axis=-1)
    return low, low


def _by_decision(network: Network, model: Model, c: int) -> Situations:
    """Where no model sees this one, situations differ only by the decision for each of its answers."""
    joint = network.joint(c)
    if model.name not in network.noted:
        network.noted[model.name] = _number_situations(network, model, joint)
    places, first, codes = network.noted[model.name]
    prices, shares = network.prices[c][codes], sum_out(joint.chance, places, len(first))
    decided = None if shares.ndim > 1 else np.eye(network.prices.shape[1])[codes]
    return Situations(network.seen_codes(model, joint.codes, joint.size)[first], shares, prices, prices, decided)


def _number_situations(network: Network, model: Model, joint: Joint) -> tuple[Array, Array, Array]:
    """Number combinations by what a model sees, and by what is decided for each of its answers.

    Returns the number of each combination, the first of each number, and what is decided there for each answer.
    """
    decisions = network.prices.shape[1]
    seen = network.seen_codes(model, joint.codes, joint.size)
    answers = range(len(model.outputs))
    decided = [np.asarray(network.fusion(joint.fixed(model.name, j).codes)) for j in answers]
    most = combinations_seen(network, model) * decisions ** len(decided)
    if most > _FEW:
        places, first = distinct([seen, *decided], joint.size)
    else:
        numbers = seen
        for column in decided:
            numbers = numbers * decisions + column
        occurs = np.bincount(numbers, minlength=most) > 0
        places, first = (np.cumsum(occurs) - 1)[numbers], np.zeros(int(occurs.sum()), np.int64)
        first[places[::-1]] = np.arange(joint.size)[::-1]
    return places, first, np.stack([column[first] for column in decided], axis=-1)


def collapsed(network: Network, name: str) -> Network:
    """Where all models are in rows, merge the combinations that are the same to one model."""
    if network.rows is None or network.later(name) or not all(model.by_rows for model in network.models.values()):
        return network
    model = network.models[name]
    joint = Joint(network.rows.codes, network.rows.counts[0])
    situation = _number_situations(network, model, joint)[0]
    return replace(network, rows=network.rows.merge(*distinct([situation, joint.codes[name]], joint.size)))


def _prices_in_rows(others: _Others) -> tuple[Array, Array]:
    """The prices when models that see this one are known from rows: exact when they share nothing else with it."""
    base, network, shares = others.base, others.network, others.shares
    costs = network.expected_costs(others.c, base.codes, base.size, others.left_out)
    low, high = [], []
    for j in range(len(others.model.outputs)):
        there = base.codes[others.model.name] == j
        answered = sum_out(base.chance * there, others.places, others.size)
        paid = sum_out(base.chance * there * costs, others.places, others.size)
        if network.shared is False:
            if base.chance.ndim == 1:
                network.joint(others.c, {others.model.name: j})  # refuses what was never observed
            low.append(divide(paid, answered))
            continue
        least, most = _whatever_they_say(others, j)
        unseen = 1 - divide(answered, shares)
        low.append(divide(paid, shares) + unseen * least)
        high.append(divide(paid, shares) + unseen * most)
    below = np.stack(low, axis=-1)
    return below, np.stack(high, axis=-1) if high else below


def _whatever_they_say(others: _Others, j: int) -> tuple[Array, Array]:
    """The least and the most cost over all answers that later models could have given."""
    sizes = [len(others.network.models[name].outputs) for name in others.by_rows]
    if math.prod(sizes) > _MOST_ANSWERS:
        what = f"what {' and '.join(others.by_rows)} say"
        raise errors.too_many_to_write_down(what, math.prod(sizes), _MOST_ANSWERS)
    least, most = np.array(np.inf), np.array(-np.inf)
    for codes in itertools.product(*map(range, sizes)):
        costs = others.costs({others.model.name: j, **dict(zip(others.by_rows, codes, strict=True))})
        least, most = np.minimum(least, costs), np.maximum(most, costs)
    return least, most


def _merge(seen: Array, shares: Array, follows: Array) -> tuple[Array, Array, Array]:
    """Merge situations in which the model sees the same and every answer has the same consequences."""
    keys = np.column_stack([seen, follows.reshape(len(seen), -1)])
    found, places = np.unique(keys, axis=0, return_inverse=True)
    merged = np.ascontiguousarray(found[:, 1:]).reshape(-1, *follows.shape[1:])
    return found[:, 0].astype(np.int64), sum_out(shares, np.ravel(places), len(found)), merged


def own_rates(network: Network, name: str) -> Array:
    """How often a model says j when the class is c and it sees a: an array [..., c, a, j]; NaN where a never occurs."""
    model = network.models[name]
    if model.chances is not None:
        return model.chances
    combinations = combinations_seen(network, model)
    outputs = len(model.outputs)
    tables = []
    for c in range(len(network.classes)):
        joint = network.joint(c, without=[other for other in network.models if not network.models[other].by_rows])
        cell = network.seen_codes(model, joint.codes, joint.size) * outputs + joint.codes[name]
        table = sum_out(joint.chance, cell, combinations * outputs)
        tables.append(table.reshape(*table.shape[:-1], combinations, outputs))
    stacked = np.stack(tables, axis=-3)
    return divide(stacked, stacked.sum(-1, keepdims=True), math.nan)


def combinations_seen(network: Network, model: Model) -> int:
    """How many combinations of outputs a model can see (1 when it sees nobody)."""
    return math.prod(len(network.models[name].outputs) for name in model.sees)
