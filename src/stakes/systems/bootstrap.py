"""Bootstrapped systems: what the tables and rows behind one could have been, for intervals.

Cells of a table row are gamma variables whose shares are Dirichlet. Half a case is added to each cell (of many cells,
two cases to all together), since a cell that happens to be empty need not be impossible. Tables given as rates are
taken as known.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from stakes.systems.network import JointRows, Model, Network
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.sampling import Sampling

_MOST_NUMBERS = 1 << 23
_FEWEST = 250
_TOO_MANY = 1 << 27

RATES_ONLY = "everything is given as rates, without the number of cases behind them"
TOO_MANY = "there are too many combinations to draw them anew"


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Systems like the given one along a leading axis, or the reason why there are none."""

    network: Network | None
    times: int
    sampling: Sampling
    reason: str = ""

    def limits(self, draws: Array, value: Any) -> tuple[Array, Array]:
        """The ends between which the middle part of the draws (first axis) lies, and the value itself.

        What is added to each cell moves the draws a little, so the value of few cases can lie outside of them.
        """
        tail = self.sampling.tail
        low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
        return np.fmin(low, value), np.fmax(high, value)

    @cached_property
    def costs(self) -> Any:
        """What each of these systems costs."""
        return None if self.network is None else self.network.cost()

    def rates(self, counts: Array) -> Array:
        """Bootstrap the rates of a candidate, apart from the rest."""
        generator = np.random.default_rng((self.sampling.seed, 1))
        return _bootstrap_rates(counts, generator, self.times or self.sampling.replicates)


def bootstrap(network: Network, sampling: Sampling) -> Bootstrap:
    """Bootstrap a system, as often as there is room for."""
    generator = sampling.generator()
    counted = [model for model in network.models.values() if model.counts is not None]
    if not counted and network.rows is None:
        return Bootstrap(None, 0, sampling, RATES_ONLY)
    size = len(network.classes) * max(
        network.joint(0).size, 1 if network.rows is None else network.rows.counts.shape[-1]
    )
    times = min(sampling.replicates, max(_FEWEST, _MOST_NUMBERS // size))
    if times * size > _TOO_MANY:
        return Bootstrap(None, 0, sampling, TOO_MANY)
    models: Mapping[str, Model] = {
        name: model
        if model.counts is None
        else replace(model, chances=_bootstrap_rates(model.counts, generator, times))
        for name, model in network.models.items()
    }
    rows = network.rows
    if rows is not None:
        rows = JointRows(rows.codes, _draw_counts(rows.counts, generator, times))
    return Bootstrap(replace(network, models=models, rows=rows), times, sampling)


def _bootstrap_rates(counts: Array, generator: Any, times: int) -> Array:
    """Bootstrap the rates behind the counts of a table (its last axis)."""
    cells = _draw_counts(counts, generator, times)
    found: Array = cells / cells.sum(-1, keepdims=True)
    return found


def _draw_counts(counts: Array, generator: Any, times: int) -> Array:
    extra = min(0.5, 2 / counts.shape[-1])
    found: Array = generator.standard_gamma(counts + extra, (times, *counts.shape))
    return found
