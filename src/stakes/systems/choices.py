"""The cheapest decision for each combination of what the models say, and what choosing it is worth.

A choice looks better than it is on the rows that it was made on. So it is cross-validated: chosen on some folds of the
rows, evaluated on the others. Tables hold all that is known, so a choice from tables is exact.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from stakes.language.narrated import Narrated
from stakes.records import Plain, Record
from stakes.systems.fusion import refuse_too_many
from stakes.systems.network import Do, Network, RowFolds, all_combinations
from stakes.systems.row_costs import RowCosts, as_in_rows, no_limits
from stakes.tallies.arithmetic import Array, divide
from stakes.uncertainty.one_more_row import Cells, mean_limits
from stakes.uncertainty.sampling import Sampling

FOLDS = 5
"""The number of folds: each is evaluated with the choice made on the other four fifths."""


def cheapest(weights: Array, prices: Array, stay: Array) -> Array:
    """Return the decision that costs least in each combination, of which there are ``weights[c, n]`` cases.

    Of decisions that cost the same, the one in ``stay`` stays, otherwise the first wins; where nothing is known of a
    combination, everything costs the same.
    """
    costs = prices.T @ weights  # decisions first: there are few of them, and many combinations
    best, least = np.zeros(costs.shape[1], np.int64), costs[0]
    for decision, cost in enumerate(costs[1:], 1):
        best, least = np.where(cost < least, decision, best), np.minimum(cost, least)
    gain = costs.ravel()[stay * costs.shape[1] + np.arange(costs.shape[1])] - least
    return np.where(gain > 1e-12 * np.abs(costs).max(axis=0), best, stay)


@dataclass(frozen=True, kw_only=True)
class SystemChoice(Record, Narrated):
    """Something chosen so that a system costs least; costs are for as many ``cases`` as those of the system.

    ``cost`` is what is paid on the cases that it was chosen on, ``now`` what is paid without it. ``held_out`` is what
    it costs on rows that took no part in the choice, if ``from_rows``; from tables, the same as ``cost``. ``saving`` is
    how much less that is than ``now``, with the ends of its interval, ``low`` and ``high``, in the ``unit`` of the
    costs.
    """

    plotted_as: ClassVar[str] = "system choice"
    chosen: ClassVar[str]
    cost: float
    now: float
    held_out: float
    saving: float
    low: float | None = None
    high: float | None = None
    confidence: float = 0.95
    cases: float = 1.0
    from_rows: bool = False
    unit: str = ""

    def to_rows(self) -> list[dict[str, object]]:
        """Return what was chosen, as flat dictionaries."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class BestRule(
    SystemChoice,
    stakes="best rule",
    shown="cost now held_out saving low high confidence cases from_rows changes=to_rows() findings",
):
    """The cheapest decision for each combination of answers (the Bayes fuser), compared with the given rule.

    ``changes`` are the combinations for which it decides otherwise, those that matter most first. ``rule`` is the whole
    of it as a table, which ``decide=`` takes; combinations that never occurred are decided as before.
    """

    chosen = "rule"
    models: tuple[str, ...]
    changes: Sequence[Mapping[str, object]]
    network: Network = field(repr=False)
    codes: Mapping[str, Array] = field(repr=False)
    decided: Array = field(repr=False)

    @cached_property
    def rule(self) -> dict[tuple[str, ...], str]:
        """The decision for every combination of what the models say, in the order of ``models``."""
        fusion, outputs = self.network.fusion, [self.network.models[name].outputs for name in self.models]
        sizes = [len(answers) for answers in outputs]
        refuse_too_many("the best rule", sizes)
        decided = np.array(fusion(all_combinations(self.models, sizes)))
        decided[np.ravel_multi_index([self.codes[name].astype(np.int64) for name in self.models], sizes)] = self.decided
        keys = itertools.product(*outputs)
        return {key: fusion.decisions[code] for key, code in zip(keys, decided.tolist(), strict=True)}

    def to_rows(self) -> list[dict[str, object]]:
        """Return the combinations that are decided otherwise than by the given rule."""
        return [dict(change) for change in self.changes]


def best_rule(network: Network, models: Sequence[str], sampling: Sampling) -> BestRule:
    """Find the cheapest decision for every combination of answers, and evaluate it on held-out rows."""
    codes, weights = combinations(network)
    now = np.asarray(network.fusion(codes))
    blend = _Blend(network, codes, now, sampling) if by_rows_only(network) else None

    def choose(cases: Array, part: int | None = None) -> Array:
        return cheapest(cases if blend is None else blend(cases, part), network.prices, now)

    decided = choose(weights)
    figures = evaluate_choice(network, network.prices, now, decided, weights, choose, sampling)
    changes = list(_changes(network, models, codes, weights, now, decided))
    return BestRule(**figures, models=tuple(models), changes=changes, network=network, codes=codes, decided=decided)


def by_rows_only(network: Network) -> bool:
    """Whether what all models say is known row by row."""
    return network.rows is not None and all(model.by_rows for model in network.models.values())


class _Blend:
    """Counts smoothed towards independent models: most combinations of many models hold hardly any rows.

    The strength is chosen by the cost on held-out rows; for a fold that is evaluated, on the other folds.
    """

    strengths = (0.0, 1.0, 10.0, 100.0, 1000.0)
    """Pseudo-rows from independent models, for each combination that occurs."""

    def __init__(self, network: Network, codes: Mapping[str, Array], now: Array, sampling: Sampling) -> None:
        assert network.rows is not None
        self.bundles = list(_bundles(network, codes))
        self.unit = len(now) / float(network.rows.counts.sum())
        costs = np.zeros((len(self.strengths), FOLDS))
        for part, (train, test) in enumerate(_parts(network, network.rows.into_folds(FOLDS, sampling.generator()))):
            even = self._independent(train)
            for i, strength in enumerate(self.strengths):
                decided = cheapest(train + strength * self.unit * even, network.prices, now)
                costs[i, part] = np.einsum("cn,cn->", test, network.prices[:, decided])
        total = costs.sum(axis=1, keepdims=True)
        self.best = (total - costs).argmin(axis=0), int(total.argmin())

    def __call__(self, cases: Array, part: int | None) -> Array:
        strength = self.strengths[self.best[1] if part is None else self.best[0][part]]
        return cases + strength * self.unit * self._independent(cases) if strength else cases

    def _independent(self, cases: Array) -> Array:
        """How many cases of each class each combination would hold if the models were independent."""
        total = cases.sum(axis=1)
        found = np.repeat(total[:, None], cases.shape[1], axis=1)
        for places, sizes in self.bundles:
            cells = np.stack([np.bincount(places, row, math.prod(sizes)) for row in cases]).reshape(-1, *sizes)
            even = np.ones(len(cases))
            for k in range(1, cells.ndim):
                answers = cells.sum(axis=tuple(axis for axis in range(1, cells.ndim) if axis != k))
                even = even[..., None] * divide(answers, total[:, None]).reshape(len(cases), *[1] * (k - 1), -1)
            found *= even.reshape(len(cases), -1)[:, places]
        return found


def _bundles(network: Network, codes: Mapping[str, Array]) -> Iterator[tuple[Array, list[int]]]:
    """Groups of models with few combinations of answers each: the number of every combination, and how many answers."""
    places, sizes = np.zeros(0, np.int64), [1]
    for name, model in network.models.items():
        size = len(model.outputs)
        if math.prod(sizes) * size > _MOST_TOGETHER and len(places):
            yield places, sizes
            places, sizes = np.zeros(0, np.int64), [1]
        places = places * size + codes[name] if len(places) else codes[name].astype(np.int64)
        sizes = [*sizes, size] if sizes != [1] else [size]
    yield places, sizes


_MOST_TOGETHER = 1 << 12
"""The most combinations of answers in one group of models."""


def _parts(network: Network, folds: RowFolds) -> Iterator[tuple[Array, Array]]:
    """The cases of each class in each combination without a part of the rows, and those of that part."""
    assert network.rows is not None
    rows = network.rows.counts
    for part in range(FOLDS):
        inside = folds.counts(part, rows.shape)
        both = (rows - inside, inside)
        train, test = (network.cases[:, None] * divide(one, one.sum(-1, keepdims=True)) for one in both)
        yield train, test


def combinations(network: Network) -> tuple[Mapping[str, Array], Array]:
    """All combinations of answers, and how many cases of each class there are in each: weights[c, n]."""
    joints = [network.joint(c) for c in range(len(network.classes))]
    return joints[0].codes, np.stack([n * joint.chance for n, joint in zip(network.cases, joints, strict=True)])


def _changes(
    network: Network, models: Sequence[str], codes: Mapping[str, Array], weights: Array, now: Array, decided: Array
) -> Iterator[Mapping[str, object]]:
    """The combinations that are decided otherwise, with what that saves on these cases, most first."""
    places = np.flatnonzero(now != decided)
    saved = np.einsum(
        "cn,cn->n", weights[:, places], network.prices[:, now[places]] - network.prices[:, decided[places]]
    )
    names = network.fusion.decisions
    for i in np.argsort(-saved, kind="stable")[:_MOST_CHANGES]:
        n = places[i]
        answers: Plain = {name: network.models[name].outputs[int(codes[name][n])] for name in models}
        cases = {"cases": float(weights[:, n].sum()), "saves": float(saved[i])}
        yield {**answers, "now": names[now[n]], "best": names[decided[n]], **cases}


_MOST_CHANGES = 100
"""The most changes of a rule that are listed."""


# ── what a choice is worth ───────────────────────────────────────────────────────────────────────────────────────
def evaluate_choice(
    network: Network,
    prices: Array,
    now: Array,
    chosen: Array,
    weights: Array,
    choose: Callable[[Array, int], Array],
    sampling: Sampling,
) -> Plain:
    """Compare the outcomes of a choice with the present ones, for each combination, at ``prices[c, outcome]``.

    ``choose`` makes the choice on other weights: where all models are in rows, on the rows outside of each fold.
    """
    cost = float(np.einsum("cn,cn->", weights, prices[:, chosen]))
    before = float(np.einsum("cn,cn->", weights, prices[:, now]))
    found: Plain = {"cost": cost, "now": before, "cases": float(network.cases.sum()), "confidence": sampling.confidence}
    if network.rows is None or not by_rows_only(network):
        low, high = _limits_of_tables(network, prices, now, chosen, before - cost, sampling)
        return {**found, "held_out": cost, "saving": before - cost, "low": low, "high": high}
    folds = network.rows.into_folds(FOLDS, sampling.generator())
    truth, place = np.divmod(folds.cell, weights.shape[1])
    others = now[place]
    for part, (train, _) in enumerate(_parts(network, folds)):
        there = folds.part == part
        others[there] = choose(train, part)[place[there]]
    return found | held_out(network, prices, truth, (now[place], others), folds, sampling, before)


def held_out(
    network: Network,
    prices: Array,
    truth: Array,
    outcomes: tuple[Array, Array],
    folds: RowFolds,
    sampling: Sampling,
    now: float,
) -> Plain:
    """What a choice saves on held-out rows, from their ``outcomes`` now and as chosen."""
    cases, (before, after) = network.cases, outcomes
    saved = (prices[:, :, None] - prices[:, None, :]).reshape(len(prices), -1)
    pairs, places = np.unique(before * prices.shape[1] + after, return_inverse=True)
    values = saved[:, pairs]
    cell, shape = truth * len(pairs) + places, values.shape
    counts = np.bincount(cell, folds.weight, values.size).reshape(shape)
    squares = clusters = None
    if folds.units is not None:
        units = replace(folds.units, cell=cell)
        squares = units.sums(values.size, units.square).reshape(shape)
        clusters = units.by_unit(values.size).reshape(-1, *shape) if units.clusters else None
    saving = float((cases * divide((counts * values).sum(-1), counts.sum(-1))).sum())
    some = (cases > 0) & (counts.sum(-1) > 0)
    low: float | None = None
    high: float | None = None
    if some.any():
        squares, clusters = (None if one is None else one[..., some, :] for one in (squares, clusters))
        reach = np.ones((int(some.sum()), len(pairs)), bool)
        sampled = as_in_rows(network)  # the frequencies of the classes vary with the rows, too
        cells = Cells(values[some], counts[some], reach, None if sampled else cases[some], squares, clusters)
        found, times = mean_limits(cells, sampling), float(cases.sum()) if sampled else 1.0
        low, high = min(times * found.low, saving), max(times * found.high, saving)
    return {"held_out": now - saving, "saving": saving, "low": low, "high": high, "from_rows": True}


def _limits_of_tables(
    network: Network, prices: Array, now: Array, chosen: Array, saving: float, sampling: Sampling
) -> tuple[float | None, float | None]:
    """The limits of what a fixed choice saves when the tables are resampled; None where models are in rows."""
    if network.rows is not None or no_limits(network, 2):
        return None, None
    sizes = [len(model.outputs) for model in network.models.values()]
    nothing: list[Do] = [{}] * len(network.classes)
    ways = []
    for way in (now, chosen):
        written = _Written(tuple(network.models), way.reshape(sizes))
        ways.append(RowCosts(replace(network, prices=prices, fusion=written)))  # type: ignore[arg-type]
    return ways[0].limits(saving, ways[0].made(nothing) - ways[1].made(nothing), sampling)


@dataclass(frozen=True, eq=False)
class _Written:
    """A table of the outcome of each combination of answers."""

    models: tuple[str, ...]
    outcomes: Array

    def __call__(self, codes: Mapping[str, Array]) -> Array:
        return self.outcomes[tuple(codes[name] for name in self.models)]
