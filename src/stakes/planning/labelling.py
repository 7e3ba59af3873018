"""How many labels: the outputs of many rows are known, and some rows get a truth."""

import numpy as np

from stakes.errors import Given, InputError
from stakes.metrics import find
from stakes.planning.basis import Basis
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.changes import influences
from stakes.uncertainty.influence import Influence


def labels_needed(basis: Basis, rows: float, error: float) -> float:
    """Return how many of the rows need a label until the standard error is that small.

    A label tells which class a row has among those with its decision; how many rows have each decision is known of all
    of them. So the variance has a part that labels make smaller, and one that only more rows do.
    """
    within, between = _parts(basis)
    left = error**2 - between / rows
    if left <= 0:
        raise InputError(
            "too-few-outputs",
            f"with the outputs of {rows:,.0f} rows no number of labels is enough: more rows are needed",
        )
    needed = max(within / left, 2.0)
    if needed > rows:
        raise InputError(
            "too-few-outputs", f"{needed:,.0f} labels would be needed, and there are only {rows:,.0f} rows to label"
        )
    return needed


def _parts(basis: Basis) -> tuple[float, float]:
    """The variance of one row within decisions, and between them."""
    table = basis.table
    if not isinstance(table, Confusion) or table.counts.shape[-2:] != (2, 2):
        raise InputError(
            "labels-of-tables",
            Given("labels"),
            f" plans figures of decisions between two classes, and {basis.figure} is none here",
        )
    metric = find(basis.figure)
    (found,) = influences([metric], [basis.value], table, basis.sampling)
    assert isinstance(found, Influence), found  # the basis rests on it
    counts = np.asarray(table.counts, np.float64)
    total = counts.sum()
    moves = _by_cell(found, counts) * (total - 1)
    shares = counts.sum(axis=0) / total  # of each decision
    rates = counts / np.maximum(counts.sum(axis=0), 1e-300)  # of each class among its rows
    within = float(np.sum(shares * rates[0] * rates[1] * (moves[0] - moves[1]) ** 2))
    means = (rates * moves).sum(axis=0)
    between = float(np.sum(shares * means**2) - np.sum(shares * means) ** 2)
    return within, between


def _by_cell(found: Influence, counts: Array) -> Array:
    """What a row of each cell changes, as the table has its cells; cells without rows change nothing."""
    changes = np.zeros(counts.shape)
    if found.changes.size == counts.size:
        return np.asarray(found.changes).reshape(counts.shape)
    changes[counts > 0] = found.changes
    return changes
