"""The causal network: the true class, models, fusers, the decision and its cost. Inference is exact.

For one true class at a time it lists every combination of what the models say, with its probability. Models given by
tables multiply the list by what they can say; models given by rows begin it with the combinations that occurred.
``do`` puts a point mass in the place of a model, so that only the models that see it notice.

Probabilities may have leading axes: bootstrapped networks, for intervals.
"""

import functools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stakes import errors
from stakes.errors import InputError, Pass, some
from stakes.systems.fusion import Fusion
from stakes.tallies.arithmetic import Array, divide

MOST_CELLS = 10**8
"""The largest list of combinations (times classes and models) that is written down."""


def refuse_too_many(combinations: int, classes: int, models: int, by_rows: bool) -> None:
    """Refuse a list that would not fit into memory."""
    if combinations * (classes + models) > MOST_CELLS:
        advice = (
            "leave some out" if by_rows else "give them by rows, of which only the combinations that occur are kept"
        )
        size = f"{combinations:,} combinations: a table of {combinations * (classes + models):,} cells"
        raise InputError("system-too-large", f"{models} models can say {size}, more than {MOST_CELLS:,}; {advice}")


_FEW_PLACES = 64
"""The most sums for which a product with an indicator matrix is quickest."""

Do = Mapping[str, int]
"""Models whose output is set, and to what (a code)."""

Amount = Any
"""What something costs: a number, or an array over bootstrapped networks."""

_MOST_INDEPENDENT = 1_000_000
"""The most combinations for which the cost under independent errors is worked out."""


@dataclass(frozen=True, eq=False)
class Model:
    """A model: what it can say, what of it is right for each class, whom it sees.

    ``right`` are codes, −1 where no output is right. ``chances[..., c, a, j]`` is the probability that it says j when
    the class is c and the models that it sees say a (all combinations of what they say, numbered); ``counts`` are the
    cases behind it, which may lack ``absent`` classes. A model given by rows has neither. ``price`` is what it costs to
    ask it once.
    """

    name: str
    outputs: tuple[str, ...]
    right: tuple[int, ...]
    sees: tuple[str, ...] = ()
    chances: Array | None = None
    counts: Array | None = None
    absent: tuple[int, ...] = ()
    price: float = 0.0

    @property
    def by_rows(self) -> bool:
        """Whether what the model says is known row by row."""
        return self.chances is None


@dataclass(frozen=True, eq=False)
class Joint:
    """Combinations of what models say (codes by model), and for one class the probability of each (last axis)."""

    codes: Mapping[str, Array]
    chance: Array

    def spread(self, model: Model, chances: Array) -> "Joint":
        """Add a model that says j with probability ``chances[..., n, j]`` in the n-th combination, or in all."""
        outputs = len(model.outputs)
        together = self.chance[..., None] * chances
        codes = {name: np.repeat(code, outputs) for name, code in self.codes.items()}
        codes[model.name] = np.tile(np.arange(outputs, dtype=np.uint8 if outputs < 256 else np.int64), self.size)
        return Joint(codes, together.reshape(*together.shape[:-2], -1))

    @property
    def size(self) -> int:
        """The number of combinations."""
        return int(self.chance.shape[-1])

    def fixed(self, model: str, code: int) -> "Joint":
        """Put an output in the place of what a model says."""
        return Joint(with_answers(self.codes, {model: code}, self.size), self.chance)

    def over(self, names: Collection[str]) -> "Joint":
        """Return the combinations of some models, the others summed out."""
        codes = {name: code for name, code in self.codes.items() if name in names}
        places, first = distinct(list(codes.values()), self.size)
        return Joint({name: code[first] for name, code in codes.items()}, sum_out(self.chance, places, len(first)))


def all_combinations(names: Iterable[str], sizes: Sequence[int]) -> dict[str, Array]:
    """The codes of every combination of answers, by model; the last model's change fastest."""
    return dict(zip(names, np.indices(sizes).reshape(len(sizes), -1), strict=True))


def with_answers(codes: Mapping[str, Array], do: Do, size: int) -> dict[str, Array]:
    """Combinations in which some models are made to say something else."""
    return {**codes, **{name: np.full(size, code) for name, code in do.items()}}


def distinct(columns: list[Array], size: int) -> tuple[Array, Array]:
    """Number the distinct rows of several columns: return the number of each row, and the first row of each number."""
    if not columns:
        return np.zeros(size, np.int64), np.zeros(min(size, 1), np.int64)
    flat, most = np.zeros(size, np.int64), 1
    for column in columns:
        high = int(column.max()) + 1 if size else 1
        if most * high > 2**62:
            flat = np.unique(flat, return_inverse=True)[1]
            most = int(flat.max()) + 1
        flat, most = flat * high + column, most * high
    _, first, places = np.unique(flat, return_index=True, return_inverse=True)
    return places, first


def sum_out(values: Array, places: Array, count: int) -> Array:
    """Sum the last axis by number; numbers that do not occur sum to 0."""
    if len(places) == count == values.shape[-1] and (places == np.arange(count)).all():  # nothing to add
        return values
    if values.ndim == 1:
        return np.bincount(places, weights=values, minlength=count)
    if count <= _FEW_PLACES:
        return np.asarray(values @ (places[:, None] == np.arange(count)).astype(np.float64))
    order = np.argsort(places, kind="stable")
    present, starts = np.unique(places[order], return_index=True)
    found = np.zeros((*values.shape[:-1], count))
    found[..., present] = np.add.reduceat(values[..., order], starts, axis=-1)
    return found


@dataclass(frozen=True, eq=False)
class Units:
    """Sampling units: clusters of rows, or rows of different weights (merged at random).

    Each entry is a unit and a ``cell`` (a class times all combinations, plus a combination) that meet: the ``weight``
    of these rows, and the sum of their squared weights, ``square``. ``clusters`` is the number of clusters, 0 where
    rows only differ in weight.
    """

    unit: Array
    cell: Array
    weight: Array
    square: Array
    clusters: int = 0

    @property
    def count(self) -> int:
        """The number of units."""
        return int(self.unit.max()) + 1

    @property
    def alike(self) -> float:
        """The effective number of units: how many of equal size would vary as much."""
        sizes = np.bincount(self.unit, self.weight)
        return float(sizes.sum() ** 2 / (sizes**2).sum())

    def moved(self, places: Array) -> "Units":
        """Return the same rows in other cells: ``places`` maps old cells to new ones."""
        return replace(self, cell=places[self.cell])

    def sums(self, cells: int, each: Array | None = None) -> Array:
        """How much lies in each cell, or the sum of something else."""
        return np.bincount(self.cell, self.weight if each is None else each, cells)

    def by_unit(self, cells: int) -> Array:
        """How much of each unit lies in each cell."""
        flat = np.bincount(self.unit * cells + self.cell, self.weight, self.count * cells)
        return flat.reshape(self.count, cells)


@dataclass(frozen=True, eq=False)
class JointRows:
    """The combinations that occurred in rows, and how often for each class (leading axes when resampled).

    ``units`` are rows of unlike weight, or clusters of rows; None where rows are just rows. ``merged`` tells how many
    combinations were put together in each, if some were.
    """

    codes: Mapping[str, Array]
    counts: Array
    units: Units | None = None
    merged: Array | None = None

    def merge(self, places: Array, first: Array) -> "JointRows":
        """Merge combinations: ``places`` maps old to new ones, ``first`` is one old combination of each new one."""
        codes = {name: code[first] for name, code in self.codes.items()}
        classes, units = len(self.counts), self.units
        if units is not None:
            units = units.moved((np.arange(classes)[:, None] * len(first) + places).ravel())
        merged = np.bincount(places, minlength=len(first)).astype(np.float64)
        counts = np.stack([np.bincount(places, row, len(first)) for row in self.counts])
        return JointRows(codes, counts, units, merged)

    def into_folds(self, parts: int, generator: "np.random.Generator") -> "RowFolds":
        """Assign the rows to folds at random; rows of a unit stay together."""
        if self.units is None:
            there = np.flatnonzero(self.counts)
            rows = self.counts.flat[there]
            shares = generator.multinomial(rows.astype(np.int64), [1 / parts] * parts).T.astype(np.float64)
            shares[generator.integers(0, parts, len(rows)), np.arange(len(rows))] += rows % 1  # fractions of weights
            part, place = np.nonzero(shares)
            return RowFolds(part, there[place], shares[part, place])
        part = (generator.permutation(self.units.count) % parts)[self.units.unit]
        return RowFolds(part, self.units.cell, self.units.weight, self.units)


@dataclass(frozen=True, eq=False)
class RowFolds:
    """Rows assigned to folds: the fold (``part``), the cell and the weight of each lot, and its ``units``, if any."""

    part: Array
    cell: Array
    weight: Array
    units: Units | None = None

    def counts(self, part: int, shape: tuple[int, ...]) -> Array:
        """How much of each cell is in a part."""
        there = self.part == part
        return np.bincount(self.cell[there], self.weight[there], math.prod(shape)).reshape(shape)


@dataclass(frozen=True, eq=False)
class Network:
    """A system, ready to be asked: for ``cases`` cases of each class.

    ``models`` come after those that they see. ``prices[c, s]`` is what the decision s costs for the class c.
    ``shared`` tells whether models that see another may share its difficulties beyond what is in the rows; None if not
    given. ``absent`` classes have no cases, so nothing is known about them.
    """

    classes: tuple[str, ...]
    cases: Array
    models: Mapping[str, Model]
    fusion: Fusion
    prices: Array
    rows: JointRows | None = None
    shared: bool | None = None
    absent: tuple[int, ...] = ()

    # ── who sees whom ────────────────────────────────────────────────────────────────────────────────────────
    @functools.cached_property
    def _later(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for name in self.models:
            reached = {name}
            for other, model in self.models.items():  # in order, so one pass is enough
                if reached & set(model.sees):
                    reached.add(other)
            found[name] = tuple(other for other in self.models if other in reached - {name})
        return found

    def later(self, name: str) -> tuple[str, ...]:
        """The models that see this one, also through others."""
        return self._later[name]

    def seen_codes(self, model: Model, codes: Mapping[str, Array], size: int) -> Array:
        """Number the combinations of what a model sees, as its table does."""
        flat = np.zeros(size, np.int64)
        for name in model.sees:
            flat = flat * len(self.models[name].outputs) + codes[name]
        return flat

    # ── what is said ─────────────────────────────────────────────────────────────────────────────────────────
    def joint(self, c: int, do: Do | None = None, without: Collection[str] = ()) -> Joint:
        """Return all combinations for a class, with some outputs set by ``do`` and some models left out.

        Models may be left out when nobody else in the list sees them.
        """
        if not do and not without:
            if c not in self._joints:
                self._joints[c] = self._joint(c, {}, ())
            return self._joints[c]
        return self._joint(c, do or {}, without)

    @functools.cached_property
    def _joints(self) -> dict[int, Joint]:
        """A cache of all combinations, by class."""
        return {}

    @functools.cached_property
    def noted(self) -> dict[str, Any]:
        """A cache of what was worked out about single models for all classes, by name."""
        return {}

    def _joint(self, c: int, do: Do, without: Collection[str]) -> Joint:
        joint = Joint({}, np.ones(1))
        if self.rows is not None:
            counts = self.rows.counts[..., c, :]
            joint = Joint(self.rows.codes, counts / counts.sum(-1, keepdims=True))
        for name, model in self.models.items():
            if model.by_rows and name in do:
                joint = self._set_in_rows(joint, c, model, do[name])
        tables = [model for model in self.models.values() if not model.by_rows and model.name not in without]
        self._refuse_too_many(joint.size, [model for model in tables if model.name not in do])
        for model in tables:
            joint = joint.fixed(model.name, do[model.name]) if model.name in do else self._answers(joint, c, model)
        return joint

    def _answers(self, joint: Joint, c: int, model: Model) -> Joint:
        seen = self.seen_codes(model, joint.codes, joint.size) if model.sees else slice(1)
        return joint.spread(model, np.asarray(model.chances)[..., c, seen, :])

    def _refuse_too_many(self, size: int, tables: list[Model]) -> None:
        combinations = size * math.prod(len(model.outputs) for model in tables)
        refuse_too_many(combinations, len(self.classes), len(self.models), by_rows=not tables)

    def _set_in_rows(self, joint: Joint, c: int, model: Model, code: int) -> Joint:
        """Set what a model says in the rows: models that see it answer as in the rows where it did say so."""
        later = [name for name in self.later(model.name) if self.models[name].by_rows]
        if not later:
            return joint.fixed(model.name, code)
        if self.shared is not False:
            raise InputError(
                "shared-difficulty",
                f"{some(later)} {'sees' if len(later) == 1 else 'see'} {model.name!r} and may find the same cases "
                f"difficult, so rows do not tell what they would say if {model.name!r} said something else; pass ",
                Pass("shared_difficulty", False),
                " if they share nothing beyond the rows, or give them by a table",
            )
        others = [name for name in joint.codes if name not in (model.name, *later)]
        places, first = distinct([joint.codes[name] for name in others], joint.size)
        there = joint.codes[model.name] == code
        situations = sum_out(joint.chance, places, len(first))
        answered = sum_out(joint.chance * there, places, len(first))
        unseen = first[((situations > 0) & (answered == 0)).reshape(-1, len(first)).any(0)]
        if len(unseen):
            answers = {name: self.models[name].outputs[int(joint.codes[name][unseen[0]])] for name in others}
            seen = errors.who_says(answers | {model.name: model.outputs[code]})
            more = "" if len(unseen) == 1 else f" (and {len(unseen) - 1:,} more)"
            raise InputError(
                "never-observed",
                f"never observed: truth {self.classes[c]!r}, {seen}{more}; so nobody knows what the models that see it "
                "would say; give them by a table, or more rows",
            )
        ratio = divide(situations, answered)
        kept = np.flatnonzero(there)
        codes = {name: column[kept] for name, column in joint.codes.items()}
        return Joint(codes, (joint.chance * ratio[..., places])[..., kept])

    # ── what it costs ────────────────────────────────────────────────────────────────────────────────────────
    def costs(self, c: int, codes: Mapping[str, Array]) -> Array:
        """What the system's decision costs in each combination."""
        return np.asarray(self.prices[c][self.fusion(codes)])

    def decided(self, joint: Joint) -> Array:
        """The probability of each decision."""
        return sum_out(joint.chance, self.fusion(joint.codes), self.prices.shape[1])

    def decisions(self, do: Do | None = None) -> Array:
        """How often each decision is taken in each class (rows); NaN for classes of which there are no cases."""
        return self.masked(np.stack([self.decided(self.joint(c, do)) for c in range(len(self.classes))]))

    def masked(self, decided: Array) -> Array:
        """Replace the values of classes without cases by NaN."""
        decided[list(self.absent)] = math.nan
        return decided

    def cost_of_class(self, c: int, do: Do | None = None) -> Amount:
        """What one case of a class costs on average."""
        joint = self.joint(c, do)
        return np.einsum("...n,n->...", joint.chance, self.costs(c, joint.codes))

    def cost_if_independent(self) -> float:
        """What all cases would cost if the models erred independently given the class; NaN where that is not clear."""
        sizes = [len(model.outputs) for model in self.models.values()]
        if any(model.sees for model in self.models.values()) or math.prod(sizes) > _MOST_INDEPENDENT:
            return math.nan
        codes = all_combinations(self.models, sizes)
        total = 0.0
        for c, cases in enumerate(self.cases):
            joint = self.joint(c)
            chance = np.ones(math.prod(sizes))
            for name, size in zip(self.models, sizes, strict=True):
                chance = chance * sum_out(joint.chance, joint.codes[name], size)[codes[name]]
            total += float(cases * (chance @ self.costs(c, codes)))
        return total

    def cheapest_constant(self) -> tuple[str, float]:
        """The decision that costs least when everybody gets it, and what that costs."""
        costs = self.cases @ self.prices
        best = int(costs.argmin())
        return self.fusion.decisions[best], float(costs[best])

    def cost(self) -> Amount:
        """What all cases cost."""
        return sum(n * self.cost_of_class(c) for c, n in enumerate(self.cases) if n)

    def expected_costs(self, c: int, codes: Mapping[str, Array], size: int, later: Collection[str]) -> Array:
        """What each combination costs, averaged over models (given by tables) that were left out of it."""
        joint = Joint(codes, np.ones(size))
        missing = [self.models[name] for name in self.models if name in later]
        self._refuse_too_many(size, missing)
        for model in missing:
            joint = self._answers(joint, c, model)
        paid = joint.chance * self.costs(c, joint.codes)
        return np.asarray(paid.reshape(*paid.shape[:-1], size, -1).sum(-1))
