"""What one row of each kind costs a system, and the limits of costs, savings and shares that follow.

Whatever its models are made to say, a system costs a mean over the rows of each class; where a model is given by a
table, a mean over the cases behind each row of the table, the other models being as they are. A saving is a difference
of two such costs and a share a sum of them, so their limits are those of costs: of means to which one more row could be
added. Where models in rows see another one, what one more row changes stands for what it costs.
"""

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from stakes.systems.bootstrap import RATES_ONLY
from stakes.systems.network import Do, JointRows, Model, Network, Units, all_combinations, sum_out, with_answers
from stakes.systems.situations import combinations_seen
from stakes.tallies.arithmetic import Array, divide
from stakes.uncertainty.one_more_row import Cells, mean_limits
from stakes.uncertainty.sampling import Sampling

_MOST_COMBINATIONS = 1024
"""Up to so many combinations, one more row could be any of them; beyond, any that occurred."""

_MOST_WORK = 1 << 23
_FIXED_WORK = 1000
"""The fixed time of handling a list of combinations, in combinations."""

TOO_MANY = "there are too many combinations to see what one more row changes"


class RowCosts:
    """The kinds of rows behind a system: ``counts`` of each, and into which kinds one more row could fall (``reach``).

    The first axis are independent samples: the rows of each class, and the cases behind each row of a model's table.
    Where no model sees another, rows without counts follow, one for each class: ``every`` combination of answers, whose
    costs no figure can leave.
    """

    def __init__(self, network: Network) -> None:
        """Find the samples behind a system; there must be some (:func:`no_limits` says why not)."""
        cascade = seen_in_rows(network)
        self.network = network = network if cascade else _with_every_combination(network)
        counts, reach = [], []
        for c in range(len(network.classes)):
            if network.rows is not None:
                counts.append(network.rows.counts[c][None])
                reach.append(counts[-1] > 0 if cascade else np.ones(counts[-1].shape))
            for _, table in _tables(network):
                counts.append(table[c])
                reach.append(np.ones(table[c].shape))
        self.every = _every_combination(network)
        if self.every:
            shape = len(network.classes), len(next(iter(self.every.values())))
            counts.append(np.zeros(shape))
            reach.append(np.ones(shape))
        self.counts, self.reach = _padded(counts), _padded(reach) > 0
        classes, samples = len(network.classes), (network.rows is not None) + len(_tables(network))
        self.sample_class = np.concatenate([np.repeat(np.arange(classes), samples), np.arange(classes)])
        self.units = None if network.rows is None else network.rows.units
        self.in_rows = np.arange(classes) * samples
        self.sampled = samples == 1 and network.rows is not None and as_in_rows(network)

    def made(self, do: Sequence[Do]) -> Array:
        """What each kind of row costs when models are made to say something, which may differ by class."""
        network, found = self.network, []
        for c, cases in enumerate(network.cases):
            if network.rows is not None:
                found.append(cases * _in_rows(network, c, do[c])[None])
            found += [cases * costs for costs in _in_tables(network, c, do[c])]
        if self.every:
            size = len(next(iter(self.every.values())))
            for c, cases in enumerate(network.cases):
                found.append(cases * network.costs(c, with_answers(self.every, do[c], size))[None])
        return _padded(found)

    def if_right(self, sets: Array) -> Array:
        """What each kind of row costs when the models of each set are always right: (set, sample, kind)."""
        network, models = self.network, self.network.models
        if network.rows is None or not all(model.by_rows for model in models.values()) or seen_in_rows(network):
            return np.stack([self.made(always_right(network, itertools.compress(models, made))) for made in sets])
        lists = [codes for codes in (network.rows.codes, self.every) if codes]
        found = []
        for codes, (c, cases) in itertools.product(lists, enumerate(network.cases)):
            answers = {
                name: np.where(made[:, None], model.right[c], codes[name])
                for made, (name, model) in zip(sets.T == 1, models.items(), strict=True)
            }
            found.append(cases * network.costs(c, answers))
        most = max(part.shape[1] for part in found)
        return np.stack([np.pad(part, ((0, 0), (0, most - part.shape[1]))) for part in found], axis=1)

    def limits(self, value: float, costs: Array, sampling: Sampling) -> tuple[float, float]:
        """Return the limits of a figure that is a sum of means of these costs; the value itself where none varies."""
        ends = self._ends(costs)
        if self.sampled:
            rows, whole = self._of_rows(costs), float(self.network.cases.sum())
            mean = float((rows.counts * rows.values).sum() / rows.counts.sum())  # of cascades not quite the value
            low, high = (value + whole * (end - mean) for end in mean_limits(rows, sampling)[:2])
            return max(min(low, value), ends[0]), min(max(high, value), ends[1])
        costs = costs - divide((self.counts * costs).sum(-1), self.counts.sum(-1))[:, None]
        spread = np.ptp(np.where(self.reach, costs, 0.0), axis=-1)
        some = (spread > 1e-12 * max(abs(value), spread.max())) & (self.counts.sum(-1) > 0)
        if not some.any():
            return value, value
        parts = []
        if self.units is not None:
            parts.append(self._of_units(costs, self.units))
            some[self.in_rows] = False
        if some.any():
            parts.append(Cells(costs[some], self.counts[some], self.reach[some], np.ones(int(some.sum()))))
        found = mean_limits(parts[0], sampling, *parts[1:])
        return max(value + found.low, ends[0]), min(value + found.high, ends[1])

    def _of_rows(self, costs: Array) -> Cells:
        """The rows of all classes together, whose frequencies vary from sample to sample, too."""
        here = self.in_rows
        each = divide(costs, np.append(self.network.cases, np.ones(len(costs) - len(here)))[:, None])
        if self.units is not None:
            return replace(self._of_units(each, self.units), shares=None)
        return Cells(each[here], self.counts[here], self.reach[here])

    def _of_units(self, costs: Array, units: Units) -> Cells:
        """The rows of all classes by what they cost, where they come in clusters or have weights."""
        assert self.network.rows is not None
        classes, kinds = self.network.rows.counts.shape
        values, places = np.unique(costs[self.in_rows, :kinds], return_inverse=True)
        shape = classes, len(values)
        places = np.arange(classes)[:, None] * len(values) + places.reshape(classes, kinds)
        reach = np.zeros(shape, bool)
        reach.flat[places[self.reach[self.in_rows, :kinds]]] = True
        moved = units.moved(places.ravel())
        clusters = moved.by_unit(reach.size).reshape(-1, *shape) if units.clusters else None
        counts, squares = (moved.sums(reach.size, each).reshape(shape) for each in (units.weight, units.square))
        return Cells(np.broadcast_to(values, shape), counts, reach, np.ones(classes), squares, clusters)

    def _ends(self, costs: Array) -> tuple[float, float]:
        """The least and the most that a figure can be, whatever the models say."""
        if not self.every:
            return -math.inf, math.inf
        anything = costs[-len(self.network.classes) :]
        reach = self.reach[-len(self.network.classes) :]
        low, high = np.where(reach, anything, math.inf).min(-1), np.where(reach, anything, -math.inf).max(-1)
        return float(low.sum()), float(high.sum())


def always_right(network: Network, names: Iterable[str]) -> list[Do]:
    """The right answers of these models, for each class."""
    made = [network.models[name] for name in names]
    return [{model.name: model.right[c] for model in made} for c in range(len(network.classes))]


def no_limits(network: Network, asked: int) -> str:
    """Why there are no limits, where so many costs are asked for; empty when there are."""
    if network.rows is None and not _tables(network):
        return RATES_ONLY
    lists = 1 + sum(len(model.outputs) for model, _ in _tables(network))
    if network.rows is not None and seen_in_rows(network):
        lists += network.rows.counts.shape[-1]
    work = asked * lists * len(network.classes) * max(network.joint(0).size, _FIXED_WORK)
    return TOO_MANY if work > _MOST_WORK else ""


def as_in_rows(network: Network) -> bool:
    """Whether the classes are as frequent as in the rows, so that their frequencies vary with these."""
    assert network.rows is not None
    return not network.absent and np.allclose(network.cases, network.rows.counts.sum(-1), rtol=1e-12)


def _tables(network: Network) -> list[tuple[Model, Array]]:
    """The models given by numbers of cases, with these."""
    return [(model, model.counts) for model in network.models.values() if model.counts is not None]


def seen_in_rows(network: Network, names: Collection[str] | None = None) -> bool:
    """Whether one of these models (of all, unless told) is in rows and seen by others in rows."""
    models = network.models
    in_rows = [name for name in (models if names is None else names) if models[name].by_rows]
    return any(models[other].by_rows for name in in_rows for other in network.later(name))


def _with_every_combination(network: Network) -> Network:
    """Add the combinations that occur in no row, where there are few."""
    if network.rows is None:
        return network
    codes = network.rows.codes
    sizes = [len(network.models[name].outputs) for name in codes]
    if math.prod(sizes) > _MOST_COMBINATIONS:
        return network
    counts = np.zeros((len(network.classes), math.prod(sizes)))
    places = np.ravel_multi_index(tuple(codes[name].astype(np.int64) for name in codes), sizes)
    counts[:, places] = network.rows.counts
    units = network.rows.units
    if units is not None:
        units = units.moved((np.arange(len(counts))[:, None] * counts.shape[1] + places).ravel())
    return replace(network, rows=JointRows(all_combinations(codes, sizes), counts, units))


def _every_combination(network: Network) -> dict[str, Array]:
    """All combinations of what the models can say, where there are few and no model sees another."""
    sizes = [len(model.outputs) for model in network.models.values()]
    if math.prod(sizes) > _MOST_COMBINATIONS or any(model.sees for model in network.models.values()):
        return {}
    return all_combinations(network.models, sizes)


def _padded(parts: Sequence[Array]) -> Array:
    """Put tables (sample, kind) below each other; those with fewer kinds get empty ones."""
    most = max(part.shape[1] for part in parts)
    return np.concatenate([np.pad(part, ((0, 0), (0, most - part.shape[1]))) for part in parts])


def _in_rows(network: Network, c: int, do: Do) -> Array:
    """What a row of each combination costs on average over the models given by tables."""
    assert network.rows is not None
    codes, counts = network.rows.codes, network.rows.counts[c]
    if not seen_in_rows(network, do):
        left = [name for name, model in network.models.items() if not model.by_rows and name not in do]
        return network.expected_costs(c, with_answers(codes, do, len(counts)), len(counts), left)
    kinds, total, now = np.flatnonzero(counts), counts.sum(), network.cost_of_class(c, do)
    more = np.tile(counts, (len(kinds), 1))
    more[np.arange(len(kinds)), kinds] += 1
    shape = (len(kinds), len(network.classes), len(counts))
    varied = replace(network, rows=JointRows(codes, np.broadcast_to(more[:, None], shape)))
    found = np.full(len(counts), float(now))
    found[kinds] += (total + 1) * (varied.cost_of_class(c, do) - now)
    return found


def _in_tables(network: Network, c: int, do: Do) -> Iterator[Array]:
    """What each answer of each model costs, weighed by how often it sees what it sees: (seen, answer).

    A combination is as probable as the model's own answer in it times the rest, so the rest follows from one list of
    all combinations; an answer that is never given has none there, and is made.
    """
    joint = network.joint(c, do)
    paid = joint.chance * network.costs(c, joint.codes)
    for model, _ in _tables(network):
        seen, outputs = combinations_seen(network, model), len(model.outputs)
        if model.name in do:
            yield np.zeros((seen, outputs))
            continue
        chances = np.asarray(model.chances)[c]
        cells = network.seen_codes(model, joint.codes, joint.size) * outputs + joint.codes[model.name]
        costs = divide(sum_out(paid, cells, seen * outputs).reshape(seen, outputs), chances)
        for j in np.flatnonzero((chances == 0).any(0)).tolist():
            made = network.joint(c, {**do, model.name: j})
            made_paid = made.chance * network.costs(c, made.codes)
            costs[:, j] = sum_out(made_paid, network.seen_codes(model, made.codes, made.size), seen)
        yield costs
