"""What rides on one model: the situations that the others leave it in, and what each of its answers then costs.

For a true class c, u is what the models say that do not see the model in question, d what those say that do.
k(c, u, j) = Σ_d P(d | c, u, do j) · cost of the decision is the price of its answer j in that situation. Situations in
which every answer has the same price are one and the same here, so there are few even when there are many models.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stakes import errors
from stakes.systems.network import Joint, Model, Network, distinct, summed
from stakes.tallies.arithmetic import Array

_MOST_ANSWERS = 10_000
"""The most combinations of answers of later models that are tried one by one."""


@dataclass(frozen=True, eq=False)
class Situations:
    """The situations of a model for one true class.

    ``seen`` numbers what the model itself sees; ``shares[..., g]`` is the probability of a situation, ``low[g, j]``
    and ``high[g, j]`` the price of an answer. The two differ only where models that see this one may share
    its difficulties, so that nobody knows what they would have said.
    """

    seen: Array
    shares: Array
    low: Array
    high: Array

    @property
    def known(self) -> bool:
        """Whether prices are known, not only their range."""
        return self.low is self.high

    def seen_shares(self, combinations: int) -> Array:
        """The probability of each combination of what the model sees."""
        return summed(self.shares, self.seen, combinations)

    def mean_prices(self, prices: Array, combinations: int) -> Array:
        """The mean price of each answer (last axis), for each combination of what the model sees."""
        weighted = np.einsum("...g,gj->...jg", self.shares, prices)
        totals = np.moveaxis(summed(weighted, self.seen, combinations), -2, -1)
        shares = self.seen_shares(combinations)[..., None]
        return np.divide(totals, shares, out=np.full(totals.shape, math.nan), where=shares > 0)


def situations(network: Network, name: str, c: int, drawn: Network | None = None) -> Situations:
    """Return the situations of a model for one class; shares come from ``drawn`` when the network was drawn anew."""
    model = network.models[name]
    later = network.later(name)
    left_out = [other for other in later if not network.models[other].by_rows]
    base = network.joint(c, without=[*left_out, name])
    by_rows = [other for other in later if network.models[other].by_rows]
    others = [other for other in base.codes if other not in (name, *by_rows)]
    places, first = distinct([base.codes[other] for other in others], base.size)
    codes = {other: base.codes[other][first] for other in others}
    chance = base.chance if drawn is None else drawn.joint(c, without=[*left_out, name]).chance
    shares = summed(chance, places, len(first))
    if by_rows:
        low, high = _prices_in_rows(network, c, model, base, places, codes, by_rows, left_out)
    else:
        low = high = _prices(network, c, model, codes, len(first), left_out)
    return _merged(network.seen_codes(model, codes, len(first)), shares, low, high)


def _prices(
    network: Network, c: int, model: Model, codes: Mapping[str, Array], size: int, later: Sequence[str]
) -> Array:
    """The price of each answer when those that see it are given by tables, or there are none."""
    answers = [{**codes, model.name: np.full(size, j)} for j in range(len(model.outputs))]
    return np.stack([network.expected_costs(c, said, size, later) for said in answers], axis=-1)


def _prices_in_rows(
    network: Network,
    c: int,
    model: Model,
    base: Joint,
    places: Array,
    codes: Mapping[str, Array],
    by_rows: Sequence[str],
    left_out: Sequence[str],
) -> tuple[Array, Array]:
    """The prices when models that see this one are known from rows: exact when they share nothing else with it."""
    size = int(places.max()) + 1
    costs = network.expected_costs(c, base.codes, base.size, left_out)
    shares = summed(base.chance, places, size)
    low, high = np.empty((size, len(model.outputs))), np.empty((size, len(model.outputs)))
    for j in range(len(model.outputs)):
        there = base.codes[model.name] == j
        answered = summed(base.chance * there, places, size)
        paid = summed(base.chance * there * costs, places, size)
        if network.shared is False:
            network.joint(c, {model.name: j})  # refuses what was never observed
            low[:, j] = high[:, j] = np.divide(paid, answered, out=np.zeros(size), where=answered > 0)
            continue
        seen = np.divide(answered, shares, out=np.zeros(size), where=shares > 0)
        mean = np.divide(paid, shares, out=np.zeros(size), where=shares > 0)
        said = {**codes, model.name: np.full(size, j)}
        least, most = _whatever_they_say(network, c, said, size, by_rows, left_out)
        low[:, j], high[:, j] = mean + (1 - seen) * least, mean + (1 - seen) * most
    return (low, low) if network.shared is False else (low, high)


def _whatever_they_say(
    network: Network, c: int, said: Mapping[str, Array], size: int, later: Sequence[str], left_out: Sequence[str]
) -> tuple[Array, Array]:
    """The least and the most that can be paid over everything that later models could have said."""
    least, most = np.full(size, np.inf), np.full(size, -np.inf)
    for answers in _all_answers(network, later):
        codes = {**said, **{name: np.full(size, code) for name, code in answers.items()}}
        costs = network.expected_costs(c, codes, size, left_out)
        least, most = np.minimum(least, costs), np.maximum(most, costs)
    return least, most


def _all_answers(network: Network, names: Sequence[str]) -> Iterator[dict[str, int]]:
    sizes = [len(network.models[name].outputs) for name in names]
    if math.prod(sizes) > _MOST_ANSWERS:
        raise errors.too_many_to_write_down(f"what {' and '.join(names)} say", math.prod(sizes), _MOST_ANSWERS)
    for codes in itertools.product(*map(range, sizes)):
        yield dict(zip(names, codes, strict=True))


def _merged(seen: Array, shares: Array, low: Array, high: Array) -> Situations:
    """Put situations together in which the same is seen and every answer has the same price."""
    keys = np.column_stack([seen, low] if low is high else [seen, low, high])
    found, places = np.unique(keys, axis=0, return_inverse=True)
    outputs = low.shape[1]
    merged = np.ascontiguousarray(found[:, 1 : 1 + outputs])
    above = merged if low is high else np.ascontiguousarray(found[:, 1 + outputs :])
    return Situations(found[:, 0].astype(np.int64), summed(shares, np.ravel(places), len(found)), merged, above)


def own_rates(network: Network, name: str) -> Array:
    """How often a model says j when the class is c and it sees a: an array [..., c, a, j]; NaN where a never occurs."""
    model = network.models[name]
    if model.chances is not None:
        return model.chances
    combinations = seen_combinations(network, model)
    outputs = len(model.outputs)
    tables = []
    for c in range(len(network.classes)):
        joint = network.joint(c, without=[other for other in network.models if not network.models[other].by_rows])
        cell = network.seen_codes(model, joint.codes, joint.size) * outputs + joint.codes[name]
        table = summed(joint.chance, cell, combinations * outputs)
        tables.append(table.reshape(*table.shape[:-1], combinations, outputs))
    stacked = np.stack(tables, axis=-3)
    totals = stacked.sum(-1, keepdims=True)
    return np.divide(stacked, totals, out=np.full(stacked.shape, math.nan), where=totals > 0)


def seen_combinations(network: Network, model: Model) -> int:
    """How many combinations of outputs a model can see (1 when it sees nobody)."""
    return math.prod(len(network.models[name].outputs) for name in model.sees)
