"""Figures of a score table as reductions over its steps, so that many figures share one walk down the scores."""

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from stakes.frozen import dataclass
from stakes.tallies import ScoreTable, Steps
from stakes.tallies.arithmetic import Array, Number
from stakes.tallies.parallel import run_all
from stakes.tallies.steps import BLOCK

Each = Callable[..., Number]
"""The part of a block: ``each(steps, **parameters)``."""

Finish = Callable[..., Number]
"""The figure of all parts together: ``finish(whole, table, **parameters)``."""


class Shared:
    """A function of a tally that is computed together with others of its kind."""

    @classmethod
    def all(cls, wanted: Sequence[tuple[Any, Mapping[str, float]]], tally: Any) -> Sequence[Number]:
        """Return the figure of each function with its parameters."""
        raise NotImplementedError


@dataclass(frozen=True)
class Fold(Shared):
    """One such figure: the parts of all blocks are added up (or the largest is kept), then finished."""

    each: Each
    finish: Finish
    keep: Literal["sum", "max"] = "sum"

    @classmethod
    def all(cls, wanted: Sequence[tuple["Fold", Mapping[str, float]]], tally: ScoreTable) -> Sequence[Number]:
        """Walk down the scores once for all figures."""
        return fold_all(wanted, tally, _known_parts(tally))

    def together(self, parts: Sequence[Number]) -> Number:
        """Reduce the parts of all blocks: whole numbers exactly, floats with a single rounding."""
        if len(parts) == 1:
            return parts[0]
        if np.ndim(parts[0]):
            columns = np.asarray(parts).reshape(len(parts), -1).T.tolist()
            return np.array([self._scalars(column) for column in columns]).reshape(np.shape(parts[0]))
        return self._scalars(parts)

    def _scalars(self, parts: Sequence[Number]) -> Number:
        if self.keep == "max":
            return max(parts)
        return sum(parts) if isinstance(parts[0], int) else math.fsum(parts)


def fold_all(
    folds: Sequence[tuple[Fold, Mapping[str, float]]],
    table: ScoreTable,
    known: "dict[Key, Sequence[Number]] | None" = None,
) -> list[Number]:
    """Return the figure of each fold with its parameters; equal parts are computed once for all folds.

    ``known`` are parts that were computed before; new ones are added to it.
    """
    plans = [(fold, _take(fold.each, given), _take(fold.finish, given)) for fold, given in folds]
    parts = {} if known is None else known
    wanted = [key for key in dict.fromkeys(map(_key, plans)) if key not in parts]

    def of_block(make: Callable[[], Steps]) -> list[Number]:
        steps = make()
        return [each(steps, **dict(given)) for each, given in wanted]

    if wanted:
        blocks = [functools.partial(of_block, make) for make in table.blocks()]
        busy = len(wanted) > 2  # a figure or two leave threads waiting for each other
        found = run_all(blocks, len(blocks) * BLOCK if busy else 0)
        parts.update(zip(wanted, zip(*found, strict=True), strict=True))
    return [plan[0].finish(plan[0].together(parts[_key(plan)]), table, **plan[2]) for plan in plans]


Plan = tuple[Fold, Mapping[str, float], Mapping[str, float]]
"""A fold, the parameters of its parts, and those of its end."""

Key = tuple[Each, tuple[tuple[str, float], ...]]


def _key(plan: Plan) -> Key:
    return plan[0].each, tuple(plan[1].items())


def _known_parts(table: ScoreTable) -> dict[Key, Sequence[Number]]:
    """The parts of a table that were computed before: figures of a class are needed alone and in averages."""
    if table.leading:
        return {}
    known: dict[Key, Sequence[Number]] = vars(table).setdefault("_parts_of_folds", {})
    return known


def _take(function: Each | Finish, parameters: Mapping[str, float]) -> dict[str, float]:
    """The parameters that a function takes."""
    return {name: parameters[name] for name in _names(function) if name in parameters} if parameters else {}


@functools.cache
def _names(function: Each | Finish) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


def total(values: Array) -> Number:
    """Sum over the steps: a Python number for a single table, so that whole numbers stay exact."""
    return values.sum(-1) if values.ndim > 1 else _unbox(values.sum())


def largest(values: Array) -> Number:
    """Return the largest over the steps: a Python number for a single table."""
    return values.max(-1) if values.ndim > 1 else _unbox(values.max())


def _unbox(value: Number) -> Number:
    return value.item() if isinstance(value, np.generic) else value
