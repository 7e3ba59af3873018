"""How many labels: the outputs of many rows are known, and some rows get a truth."""

from dataclasses import replace

import numpy as np

from stakes.errors import Given, InputError
from stakes.metrics import find
from stakes.planning.basis import Basis
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.few_labels import stratified


def labels_needed(basis: Basis, rows: float, error: float) -> float:
    """Return how many of the rows need a label until the standard error is that small.

    A label gives the class of a row within its decision; the number of rows of each decision is known without labels.
    So the variance has a part that labels reduce, and one that only more rows reduce.
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
    metric, counts = find(basis.figure), np.asarray(table.counts, np.float64)

    def figure(cells: Array) -> Array:
        return np.asarray(metric.of(replace(table, counts=cells, squares=cells)), np.float64)

    rows = counts.sum(axis=0)
    _, found = stratified(figure, counts, rows)
    square = counts.sum() * found.counts * (found.changes * (1 - 1 / np.asarray(found.sizes))) ** 2
    labels = np.count_nonzero(counts)  # changes by a label come first, then those by a row of each decision
    return float(square[:labels].sum()), float(square[labels:].sum())
