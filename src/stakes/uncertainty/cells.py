"""Confusion tables drawn anew.

Rows drawn again from the same population give cells that are multinomial, or nearly Dirichlet; so an interval needs
the table and not the rows, and costs the same for a thousand rows and for a billion. Cells that happen to be empty
would stay empty, and intervals would be far too short: half a row is added to each cell of two classes, as Jeffreys
would. Of k classes all cells together get two rows as well: more would pull every figure towards chance.
"""

import math

import numpy as np

from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Array, divide
from stakes.uncertainty.sampling import Sampling

_MOST_DRAWS = 2_000_000
_FEWEST = 200
_BEYOND = 50
"""How many draws shall lie beyond each end of an interval."""


def drawn(table: Confusion, sampling: Sampling, ends: float = 0.5) -> Confusion:
    """Return tables like this one along a leading axis; fewer of them when they are large.

    ``ends`` is what each cell of two classes gets added, and as much in all the cells of more classes together.
    """
    size = table.counts.size
    wanted = max(sampling.replicates, math.ceil(_BEYOND / sampling.tail))
    replicates = max(_FEWEST, min(wanted, _MOST_DRAWS // size))
    cells = gamma_like(table.counts.astype(np.float64), table.squares, 4 * ends / size, replicates, sampling)
    if sampling.fixed:
        cells *= divide(table.counts.sum(-1, keepdims=True).astype(np.float64), cells.sum(-1, keepdims=True), 1.0)
    return table.with_counts(cells)


def gamma_like(sums: Array, squares: Array | None, extra: float, replicates: int, sampling: Sampling) -> Array:
    """Draw sums of weights with these means, and with these sums of squared weights as variances.

    Unweighted counts are gamma variables whose shares are Dirichlet. ``extra`` is added to every shape.
    """
    generator = sampling.generator()
    if squares is None:
        return generator.standard_gamma(sums + extra, (replicates, *sums.shape))
    usual = squares.sum() / sums.sum()
    unit = np.divide(squares, sums, out=np.full(sums.shape, usual), where=(sums > 0) & (squares > 0))
    return np.asarray(generator.standard_gamma(sums / unit + extra, (replicates, *sums.shape)) * unit)
