"""Scores of several classes: a dictionary, a data frame, or an (n, k) array with the classes in order."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stakes import errors
from stakes.engines.columns import Column, as_finite, refuse_missing
from stakes.engines.labels import canonical
from stakes.tallies.arithmetic import Array
from stakes.tallies.columns import refuse_infinite


@dataclass(frozen=True, eq=False)
class Table:
    """One score per class and row: a column for each of the classes."""

    classes: tuple[str, ...]
    values: Array

    def keep(self, rows: Array) -> "Table":
        """Return the table of some rows (a mask)."""
        return replace(self, values=self.values[rows])

    def refuse_uneven_rows(self) -> None:
        """Scores that all lie in [0, 1] are probabilities, and those of a row must add up to 1."""
        if self.values.min() >= 0 and self.values.max() <= 1:
            sums = self.values @ np.ones(len(self.classes), self.values.dtype)
            wrong = np.flatnonzero(np.abs(sums - 1) > 1e-3)
            if len(wrong):
                raise errors.uneven_probabilities(len(wrong), int(wrong[0]), float(sums[wrong[0]]))


def spread_scores(score: Any, classes: Any) -> tuple[dict[str, Any], Table | None]:
    """Return the score columns by argument, and the table when the scores came as an (n, k) array with classes."""
    if score is None:
        return {}, None
    if hasattr(score, "columns") and not isinstance(score, Mapping):  # a data frame: its names say which is which
        score = {name: score[name] for name in score.columns}
    if isinstance(score, Mapping):
        named = {f"score of {canonical(name)}": column for name, column in score.items()}
        if len(named) != len(score):
            raise errors.classes_not_different([canonical(name) for name in score])
        return named, None
    if isinstance(score, list | tuple) and score and isinstance(score[0], list | tuple | np.ndarray):
        score = np.asarray(score)
    if getattr(score, "ndim", 1) != 2:
        return {"score": score}, None
    if isinstance(score, np.ma.MaskedArray):
        refuse_missing(np.asarray(np.ma.getmaskarray(score).any(axis=1)), "score")
    if isinstance(classes, set | frozenset):
        raise errors.classes_without_order(classes)
    values = np.asarray(score)
    if classes is None or len(classes) != values.shape[1]:
        raise errors.which_score_column(values.shape, classes)
    if values.dtype.kind not in "biuf":
        raise errors.not_numbers("score", f"{values.dtype} values")
    values = values.astype(np.float32 if values.dtype in (np.float16, np.float32) else np.float64, copy=False)
    with np.errstate(all="ignore"):
        finite = np.isfinite(values.sum())
    if not finite:  # one pass tells; what is wrong is looked up only then
        refuse_infinite("score", values)
    return {}, Table(tuple(canonical(name) for name in classes), values)


def as_table(columns: Mapping[str, Column]) -> Table:
    """Put score columns side by side."""
    return Table(tuple(columns), np.column_stack([as_finite(column).astype(np.float64) for column in columns.values()]))
