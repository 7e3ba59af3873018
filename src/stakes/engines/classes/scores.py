"""Scores of several classes: a dictionary, a data frame, or an (n, k) array with the classes in order."""

import math
from collections.abc import Mapping

import numpy as np

from stakes import errors
from stakes.engines.columns import Column, Values, as_array, as_finite, columns_of, in_order, refuse_sparse
from stakes.engines.tensors.arrays import maker_of
from stakes.errors import InputError, Text, first_row, rows_text
from stakes.frozen import dataclass, replace
from stakes.tallies.arithmetic import Array
from stakes.tallies.bayes import ROUNDING
from stakes.tallies.class_blocks import Span
from stakes.tallies.columns import refuse_infinite
from stakes.tallies.names import canonical


@dataclass(frozen=True, eq=False)
class ClassColumns:
    """One score per class and row: a column for each of the classes."""

    classes: tuple[str, ...]
    values: Array

    def keep(self, rows: Array) -> "ClassColumns":
        """Return the table of some rows (a mask)."""
        return replace(self, values=self.values[rows])

    def check(self, even: bool = True) -> Span:
        """Refuse missing and infinite scores, and probabilities (all scores in [0, 1]) that do not add up to 1.

        Those that need not be ``even`` are only warned of: they order the rows. Return what was seen.
        """
        span = Span.of(self.values)
        if not math.isfinite(span.low + span.high):
            refuse_infinite("score", self.values)
        if span.low >= 0 and span.high <= 1 and not span.even:
            sums = self.values @ np.ones(len(self.classes), self.values.dtype)
            wrong = np.flatnonzero(np.abs(sums - 1) > ROUNDING)
            tell_uneven(len(wrong), float(sums[wrong[0]]), int(wrong[0]), even)
        return span


def tell_uneven(count: int, seen: float, first: int | None, even: bool) -> None:
    """Refuse probabilities that do not add up to 1, or warn of them where they need not be ``even``."""
    words = Text(f"the probabilities of {rows_text(count)} do not add up to 1 ({seen:.6g}; ", first_row(first), "); ")
    if even:
        advice = "give all classes, and divide each row by its sum if they were rounded"
        raise InputError("uneven-probabilities", words, advice)
    errors.warn("uneven-scores", words, "they order the rows, and have no losses of probabilities")


def width_of(score: Values) -> int:
    """How many columns scores have that come as an array or as a list of rows; 0 for all others."""
    if isinstance(score, list | tuple):
        widths = {len(row) if isinstance(row, list | tuple | np.ndarray) else 0 for row in score}
        return widths.pop() if len(widths) == 1 else 0
    array = isinstance(score, np.ndarray) or maker_of(score)
    return score.shape[1] if array and score.ndim == 2 else 0


def spread_scores(score: Values, classes: Values) -> tuple[dict[str, Values], ClassColumns | None]:
    """Return the score columns by argument, and the table when the scores came as an (n, k) array with classes."""
    if score is None:
        return {}, None
    if hasattr(score, "columns") and not isinstance(score, Mapping):  # a data frame: its names say which is which
        score = columns_of(score)
        score = score if len(score) != 1 else next(iter(score.values())).to_native()
    if isinstance(score, Mapping):
        named = {f"score of {canonical(name)}": column for name, column in score.items()}
        if len(named) != len(score):
            raise errors.classes_not_different([canonical(name) for name in score])
        return named, None
    refuse_sparse("score", score)
    if isinstance(score, list | tuple) and score and isinstance(score[0], list | tuple | np.ndarray):
        score = as_array(score, "score")
    if getattr(score, "ndim", 1) == 2 and score.shape[1] == 1:
        score = score[:, 0]
    if getattr(score, "ndim", 1) != 2:
        return {"score": score}, None
    classes = None if classes is None else in_order(classes)
    values = as_array(score, "score")
    if classes is None or len(classes) != values.shape[1]:
        raise errors.which_score_column(values.shape, classes)
    if values.dtype.kind not in "biuf":
        raise errors.not_numbers("score", f"{values.dtype} values")
    values = values.astype(np.float32 if values.dtype in (np.float16, np.float32) else np.float64, copy=False)
    return {}, ClassColumns(tuple(canonical(name) for name in classes), values)


def as_table(columns: Mapping[str, Column]) -> ClassColumns:
    """Put score columns side by side."""
    return ClassColumns(
        tuple(columns), np.column_stack([as_finite(column).astype(np.float64) for column in columns.values()])
    )
