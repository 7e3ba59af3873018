"""The rows that a recalibrator learns from, read and checked."""

from dataclasses import dataclass

import numpy as np

from stakes import errors
from stakes.engines.classes.scores import ClassColumns
from stakes.engines.columns import as_array, as_finite, as_weights, in_order, to_column
from stakes.engines.labels import PAIRS, Labels, encode
from stakes.errors import About, InputError, first_row, rows_text, some
from stakes.question.options import Column, Value
from stakes.tallies.arithmetic import Array
from stakes.tallies.names import canonical

_ROUNDING = 1e-6
"""How far rounding may take a probability beyond 0 or 1."""

_MANY = 20
"""The fewest scores that do not all lie in [0, 1] by chance, unless they are probabilities."""


@dataclass(frozen=True, eq=False)
class LabelledScores:
    """Scores with the truth: whether each row is positive, or the number of its class."""

    scores: Array
    truth: Array
    weight: Array | None

    @property
    def effective(self) -> float:
        """The effective number of rows of equal weight (Kish)."""
        if self.weight is None:
            return float(len(self.truth))
        return float(self.weight.sum() ** 2 / (self.weight**2).sum())


def read_two_classes(calibrator: str, score: Column, truth: Column, weight: Column) -> LabelledScores:
    """Read any real scores and the truth of two classes."""
    return _weigh(one_column(calibrator, score), _positive(calibrator, truth), weight)


def read_classes(values: Array, truth: Column, weight: Column, classes: Value) -> LabelledScores:
    """Read the truth beside probabilities: of the positive class of two, or of all classes."""
    if values.ndim == 1:
        return _weigh(values, _positive("a single column of probabilities", truth), weight)
    names = tuple(canonical(name) for name in (range(values.shape[1]) if classes is None else in_order(classes)))
    if len(names) != values.shape[1]:
        raise errors.which_score_column(values.shape, names)
    labels = read_labels(truth)
    unknown = [name for name in labels.names if name not in names]
    if unknown:
        raise errors.unknown_labels("truth", unknown, names)
    rows = _weigh(values, labels.into(names), weight)
    if (rows.truth == rows.truth[0]).all():
        raise errors.one_class_to_recalibrate(repr(names[int(rows.truth[0])]))
    return rows


def read_labels(truth: Column) -> Labels:
    """Read the classes of the rows, of which there must be some."""
    column = to_column(truth, "truth")
    if not len(column):
        raise errors.empty("truth")
    return encode(column)


def one_column(calibrator: str, score: Column) -> Array:
    """Return one finite number per row, given as (n,) or (n, 1)."""
    values = as_array(score, "score")
    if values.ndim == 2 and values.shape[1] != 1:
        raise InputError(
            "one-score-column",
            About("score"),
            f" is an array of shape {values.shape}, and {calibrator} is for two classes: give the column of the "
            "positive one; for more classes there are TemperatureCalibrator, AffineCalibrator and VectorCalibrator",
        )
    return as_finite(to_column(values, "score")).astype(np.float64)


def refuse_other_scale(values: Array, low: float, high: float) -> None:
    """Refuse scores outside of [0, 1] if the recalibrator was fitted on probabilities; warn of the contrary."""
    outside = (values < -_ROUNDING) | (values > 1 + _ROUNDING)
    if low >= 0 and high <= 1 and outside.any():
        first = int(outside.argmax())
        raise InputError(
            "not-on-its-scale",
            About("score"),
            f" lies outside [0, 1] in {rows_text(int(outside.sum()))} ({float(values[first])!r}; ",
            first_row(first),
            "), and the calibrator was fitted on probabilities; give scores of that kind, or fit it on these",
        )
    if (low < 0 or high > 1) and len(values) >= _MANY and not outside.any():
        errors.warn(
            "perhaps-probabilities",
            f"the calibrator was fitted on scores from {low:.6g} to {high:.6g}, and these all lie in [0, 1]; are they "
            "probabilities instead?",
        )


def probability_table(calibrator: str, score: Column) -> Array:
    """Return the probabilities of one class, (n,), or of all, (n, k), which add up to 1."""
    values = as_array(score, "score")
    if values.ndim != 2 or values.shape[1] == 1:
        values = one_column(calibrator, values)
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    else:
        if values.dtype.kind not in "biuf":
            raise errors.not_numbers("score", f"{values.dtype} values")
        values = values.astype(np.float64)
        low, high, _ = ClassColumns(tuple(map(str, range(values.shape[1]))), values).check()
    if low < 0 or high > 1:
        raise InputError(
            "temperature-of-probabilities",
            About("score"),
            f" holds {(low if low < 0 else high)!r}, which is no probability, and {calibrator} takes "
            "probabilities; use SigmoidCalibrator or IsotonicCalibrator for other scores",
        )
    return values


def _positive(calibrator: str, truth: Column) -> Array:
    """Whether each row is positive: 1 of 0 and 1, true of false and true."""
    labels = read_labels(truth)
    pair = next((known for known in PAIRS if set(labels.names) <= set(known)), None)
    if pair is None:
        if len(labels.names) > 2:
            raise InputError(
                "truth-of-recalibration",
                About("truth"),
                f" has {len(labels.names):,} classes ({some(labels.names)}), and {calibrator} is for two; for more "
                "there are TemperatureCalibrator, AffineCalibrator and VectorCalibrator, with one column of "
                "probabilities for each",
            )
        raise InputError(
            "truth-of-recalibration",
            About("truth"),
            f" holds {some(labels.names)}; write 1 for the positive class and 0 for the other",
        )
    return np.asarray(labels.into(pair) == 1)


def _weigh(scores: Array, truth: Array, weight: Column) -> LabelledScores:
    """Check lengths and weights; rows of weight 0 are left out."""
    if len(scores) != len(truth):
        raise errors.wrong_length("score", len(scores), len(truth))
    weights = None
    if weight is not None:
        weights = as_weights(to_column(weight, "weight"))
        if len(weights) != len(truth):
            raise errors.wrong_length("weight", len(weights), len(truth))
        present = weights > 0
        scores, truth, weights = scores[present], truth[present], weights[present]
    if truth.dtype == bool and truth.all() == truth.any():
        raise errors.one_class_to_recalibrate(f"the {'positive' if truth[0] else 'negative'} class")
    return LabelledScores(scores, truth, weights)
