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
from stakes.tallies.arithmetic import Array, divide
from stakes.uncertainty.sampling import Sampling, normal, student

_MOST_NUMBERS = 1 << 21
_FEWEST = 250
_TOO_MANY = 1 << 27

RATES_ONLY = "everything is given as rates, without the number of cases behind them"
TOO_MANY = "there are too many combinations to draw them anew"


class Bootstrap:
    """Systems like the given one along a leading axis, or the reason why there are none."""

    def __init__(self, network: Network, sampling: Sampling) -> None:
        """Bootstrap a system, as often as memory allows."""
        self.sampling, self.times, self.reason, self._given = sampling, 0, "", network
        if network.rows is None and all(model.counts is None for model in network.models.values()):
            self.reason = RATES_ONLY
            return
        in_rows = 1 if network.rows is None else network.rows.counts.shape[-1]
        size = len(network.classes) * max(network.joint(0).size, in_rows)
        times = min(sampling.replicates, max(_FEWEST, _MOST_NUMBERS // size))
        if times * size > _TOO_MANY:
            self.reason = TOO_MANY
            return
        self.times = times

    @cached_property
    def network(self) -> Network | None:
        """The bootstrapped systems; None where there is a reason."""
        if self.reason:
            return None
        network, times, sampling = self._given, self.times, self.sampling
        generator = sampling.generator()
        models, rows = dict(network.models), network.rows
        for name, model in models.items():
            if model.counts is not None:
                models[name] = replace(model, chances=_bootstrap_rates(model.counts, generator, times))
        if rows is not None:
            rows = JointRows(rows.codes, _draw_rows(rows, generator, times, sampling))
        return replace(network, models=models, rows=rows)

    def limits(self, draws: Array, value: Amount) -> tuple[Array, Array]:
        """Return percentile limits over the draws (first axis), widened to include the value itself.

        The half case added to each cell shifts the draws, so with few cases the value can lie outside of them.
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


def _draw_rows(rows: JointRows, generator: np.random.Generator, times: int, sampling: Sampling) -> Array:
    """Resample rows: weighted rows vary by their squared weights, clusters vary as wholes.

    Few clusters understate how much they vary; the draws are widened by the ratio of Student's to normal limits.
    """
    counts, units, merged = rows.counts, rows.units, rows.merged
    if units is None:
        return _draw_counts(counts, generator, times, merged)
    if not units.clusters:
        squares = units.sums(counts.size, units.square).reshape(counts.shape)
        weight = np.where(squares > 0, divide(squares, counts), 1.0)
        return weight * _draw_counts(counts / weight, generator, times, merged)
    from scipy.sparse import csr_array

    shape = (normal(1 - sampling.tail) / student(1 - sampling.tail, max(units.alike - 1, 1))) ** 2
    weights = generator.standard_gamma(shape, (times, units.count)) / shape
    cells = csr_array((units.weight, (units.unit, units.cell)), shape=(units.count, counts.size))
    extra = _draw_counts(0 * counts, generator, times, merged)
    return np.asarray(weights @ cells).reshape(times, *counts.shape) + extra


def _draw_counts(
    counts: Array, generator: np.random.Generator, times: int, merged: Array | None = None
) -> NDArray[np.float64]:
    """Draw counts of cells (the last axis); ``merged`` says how many combinations each cell stands for."""
    cells = np.ones(counts.shape[-1]) if merged is None else merged
    return generator.standard_gamma(counts + cells * min(0.5, 2 / cells.sum()), (times, *counts.shape))
