"""Which question the columns ask: classes, or numbers? Where they do not say, stakes asks."""

import numpy as np

from stakes import errors
from stakes.engines.columns import Column

TASKS = ("auto", "classification", "regression")


def settle_task(task: str, columns: dict[str, Column], of_classes: bool, of_numbers: bool) -> str:
    """Return "classification" or "regression"; some arguments make sense for one of them only."""
    if task not in TASKS:
        raise errors.no_such_task(task, TASKS)
    if task != "auto":
        return task
    if of_classes or of_numbers:
        return "classification" if of_classes else "regression"
    kinds = [_numbers_in(columns[name]) for name in ("truth", "prediction")]
    if "none" in kinds:
        return "classification"
    if "fractions" in kinds:
        return "regression"
    if all(_two_valued(columns[name]) for name in ("truth", "prediction")):
        return "classification"
    raise errors.which_task()


def _numbers_in(column: Column) -> str:
    """Whether a column holds fractions, only whole numbers, or no numbers at all."""
    if column.kind == "boolean":
        return "none"
    values = column.values
    if column.kind == "text":
        try:
            values = np.array([float(name) for name in column.names])
        except ValueError:
            return "none"
    if values.dtype.kind == "f":
        known = values[~np.isnan(values)]
        return "fractions" if (known != np.floor(known)).any() else "whole"
    return "whole"


def _two_valued(column: Column) -> bool:
    """Whether whole numbers are labels of two classes beyond doubt: 0 and 1, or −1 and 1."""
    found = {float(name) for name in column.names} if column.kind == "text" else set(np.unique(column.values).tolist())
    return found <= {0, 1} or found <= {-1, 1}
