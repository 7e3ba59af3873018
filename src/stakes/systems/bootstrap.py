"""Bootstrapped systems: what the tables and rows behind one could have been, for intervals.

Cells of a table row are gamma variables whose shares are Dirichlet. Half a case is added to each cell (of many cells,
two cases to all together), since a cell that happens to be empty need not be impossible. Tables given as rates are
taken as known.
"""

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stakes.systems.network import Amount, JointRows, Network
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.sampling import Sampling

_MOST_NUMBERS = 1 << 23
_FEWEST = 250
_TOO_MANY = 1 << 27

RATES_ONLY = "everything is given as rates, without the number of cases behind them"
TOO_MANY = "there are too many combinations to draw them anew"


class Bootstrap:
    """Systems like the given one along a leading axis, or the reason why there are none."""

    def __init__(self, network: Network, sampling: Sampling) -> None:
        """Bootstrap a system, as often as there is room for."""
        self.sampling, self.times, self.reason = sampling, 0, ""
        self.network: Network | None = None
        generator = sampling.generator()
        if network.rows is None and all(model.counts is None for model in network.models.values()):
            self.reason = RATES_ONLY
            return
        in_rows = 1 if network.rows is None else network.rows.counts.shape[-1]
        size = len(network.classes) * max(network.joint(0).size, in_rows)
        times = min(sampling.replicates, max(_FEWEST, _MOST_NUMBERS // size))
        if times * size > _TOO_MANY:
            self.reason = TOO_MANY
            return
        models, rows = dict(network.models), network.rows
        for name, model in models.items():
            if model.counts is not None:
                models[name] = replace(model, chances=_bootstrap_rates(model.counts, generator, times))
        if rows is not None:
            rows = JointRows(rows.codes, _draw_counts(rows.counts, generator, times))
        self.network, self.times = replace(network, models=models, rows=rows), times

    def limits(self, draws: Array, value: Amount) -> tuple[Array, Array]:
        """The ends between which the middle part of the draws (first axis) lies, and the value itself.

        What is added to each cell moves the draws a little, so the value of few cases can lie outside of them.
        """
        low, high = self.sampling.percentiles(draws)
        return np.fmin(low, value), np.fmax(high, value)

    @cached_property
    def costs(self) -> Amount | None:
        """What each of these systems costs."""
        return None if self.network is None else self.network.cost()

    def rates(self, counts: Array) -> Array:
        """Bootstrap the rates of a candidate, apart from the rest."""
        generator = np.random.default_rng((self.sampling.seed, 1))
        return _bootstrap_rates(counts, generator, self.times or self.sampling.replicates)


def _bootstrap_rates(counts: Array, generator: np.random.Generator, times: int) -> Array:
    """Bootstrap the rates behind the counts of a table (its last axis)."""
    cells = _draw_counts(counts, generator, times)
    return np.asarray(cells / cells.sum(-1, keepdims=True))


def _draw_counts(counts: Array, generator: np.random.Generator, times: int) -> NDArray[np.float64]:
    return generator.standard_gamma(counts + min(0.5, 2 / counts.shape[-1]), (times, *counts.shape))
