"""Columns as scikit-learn reads them: labels are values of any kind, in sorted order, and nothing is asked back."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from stakes import errors
from stakes.engines.columns import is_missing
from stakes.engines.memory import sums_by
from stakes.errors import InputError, short
from stakes.tallies import Confusion, JointCounts, arithmetic
from stakes.tallies.arithmetic import Array, Values, is_real
from stakes.tallies.confusion import MOST_CLASSES

Kind = Literal["binary", "multiclass", "multilabel-indicator", "multiclass-multioutput", "continuous", "unknown"]

_BLOCK = 1 << 16


class WrongKindError(InputError, TypeError):
    """What was given is of a kind that the function does not take."""


# ── single columns ───────────────────────────────────────────────────────────────────────────────────────────────
def as_array(name: str, values: Values) -> Array:
    """Return what was given as an array; a column vector stays one."""
    if type(values) is np.ndarray and values.ndim:
        return values
    if hasattr(values, "toarray"):
        raise WrongKindError("sparse-input", f"{name} is a sparse matrix; give it as an array: {name}.toarray()")
    if isinstance(values, str | bytes | dict) or not hasattr(values, "__len__"):
        raise WrongKindError("no-column", f"{name} is {short(repr(values))}, not a column; give a list or an array")
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(
            "ragged-column", f"{name} has rows of different lengths; give one value for each row"
        ) from None
    if not array.ndim:
        raise WrongKindError("no-column", f"{name} is {short(repr(values))}, not a column; give a list or an array")
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        raise InputError("masked-rows", f"{name} holds masked values; leave these rows out")
    if array.dtype.kind in "US" and isinstance(values, Sequence):
        texts = {isinstance(v, str | bytes) for v in values if isinstance(v, str | bytes | int | float)}
        if len(texts) > 1:
            raise WrongKindError("mixed-labels", f"{name} mixes text and numbers; make all labels text, or all numbers")
    return array


def flat(name: str, values: Values) -> Array:
    """Return one column of values; that of a matrix with one column is taken."""
    array = as_array(name, values)
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    if array.ndim != 1:
        raise InputError("not-one-column", f"{name} has the shape {array.shape}; give one value for each row")
    return array


def numbers(name: str, values: Values) -> Array:
    """Return one column of finite numbers."""
    return as_numbers(name, flat(name, values))


def as_numbers(name: str, array: Array) -> Array:
    """Return an array of any shape as finite numbers."""
    if array.dtype.kind not in "biuf":
        if array.dtype.kind == "c":
            raise InputError(
                "complex-numbers", f"{name} holds complex numbers, which are not supported; give real ones"
            )
        try:
            array = array.astype(np.float64)
        except (ValueError, TypeError):
            raise InputError(
                "not-numbers-of-columns", f"{name} holds {array.dtype} values, not numbers; give numbers"
            ) from None
    if array.dtype.kind == "f" and not np.isfinite(array.sum()) and not np.isfinite(array).all():
        raise InputError("not-finite", f"{name} holds NaN or infinite values; leave these rows out")
    return array


def same_length(**columns: Values) -> None:
    """Refuse columns of different lengths, and none at all; a number stands for a column of any length."""
    sizes = {name: len(column) for name, column in columns.items() if column is not None and not is_real(column)}
    if len(set(sizes.values())) > 1:
        sizes_text = " and ".join(f"{name} has {size:,}" for name, size in sizes.items())
        raise InputError("different-lengths", f"{sizes_text} rows; give as many of each")
    if not all(sizes.values()):
        raise InputError("empty-input-of-columns", f"{next(iter(sizes))} has no rows; give one or more")


def warn_of_indexes(*columns: Values) -> None:
    """Warn where the indexes of series differ: rows are paired by position."""
    if "pandas" not in sys.modules:
        return
    indexes = [column.index for column in columns if hasattr(getattr(column, "index", None), "equals")]
    if any(not one.equals(indexes[0]) for one in indexes[1:]):
        errors.warn(
            "different-indexes-of-columns",
            "the indexes of y_true and the predictions differ; rows are paired by position",
        )


def weights(values: Values, rows: int) -> Array | None:
    """Return weights, one for each row; a number weighs every row alike."""
    if values is None:
        return None
    array = np.full(rows, float(values)) if is_real(values) else as_array("sample_weight", values)
    if array.ndim != 1:
        raise InputError("not-one-column", f"sample_weight has {array.ndim} dimensions (it must be 1D); give 1")
    if len(array) != rows:
        raise InputError("different-lengths", f"sample_weight has {len(array):,} values for {rows:,} rows")
    array = as_numbers("sample_weight", array)
    if not array.any():
        raise InputError("weightless-rows", "all values of sample_weight are 0; give at least one that is not")
    return array if array.dtype.kind == "f" else array.astype(np.int64)


def negative_weights() -> InputError:
    """Say that a figure is no mean over rows, and its counts must not be below 0."""
    text = "sample_weight holds negative values, with which this figure is undefined; give weights from 0 on"
    return InputError("negative-weights-of-columns", text)


# ── what a target is ─────────────────────────────────────────────────────────────────────────────────────────────
def distinct(name: str, array: Array) -> Array:
    """Return the values of a column in order; those of objects may be anything that can be sorted."""
    if array.dtype.kind in "biu" and array.size:
        low, high = int(array.min()), int(array.max())
        if high - low <= 1:
            return np.array([low, high][: high - low + 1], array.dtype)
    if array.dtype.kind != "O":
        found = arithmetic.distinct(array)
        if found.dtype.kind == "f" and np.isnan(found[-1:]).any():
            raise InputError("missing-labels", f"{name} holds NaN; leave these rows out")
        return found
    values = set(array.ravel().tolist())
    try:
        return np.array(sorted(values), dtype=object)
    except TypeError:
        if any(map(is_missing, values)):
            raise InputError("missing-labels", f"{name} holds missing values; leave these rows out") from None
        raise WrongKindError(
            "mixed-labels", f"{name} mixes text and numbers; make all labels text, or all numbers"
        ) from None


def kind_of(name: str, array: Array) -> Kind:
    """Say what a target is, by scikit-learn's words."""
    if array.ndim > 2 or array.dtype.kind not in "biufUSO":
        return "unknown"
    if not array.size:
        raise InputError("empty-input-of-columns", f"{name} has no labels; give one or more")
    if array.dtype.kind == "S" or (array.dtype.kind == "O" and isinstance(array.ravel()[0], bytes)):
        raise WrongKindError("bytes", f"{name} holds labels as bytes, which are not supported; make them text")
    if array.ndim == 2 and array.shape[1] > 1:
        whole = array.dtype.kind in "biu" or (array.dtype.kind == "f" and not (array % 1).any())
        return "multilabel-indicator" if whole and len(distinct(name, array)) <= 2 else "multiclass-multioutput"
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            raise InputError("not-finite", f"{name} holds NaN or infinite values; leave these rows out")
        if (array % 1).any():
            return "continuous"
    if array.dtype.kind == "O" and len(array) and not isinstance(array.ravel()[0], str | int | float | np.generic):
        return "unknown"
    return "binary" if len(distinct(name, array)) <= 2 else "multiclass"


# ── truth and decisions ──────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False)
class Decisions:
    """One label for each row and each of truth and decision, counted.

    ``labels`` are all that occur, in order, ``counts[i, j]`` how often the decision j met the truth i (sums of weights,
    where rows have any, and ``squares`` those of the squared weights). Of very many labels ``codes`` are kept instead.
    """

    labels: Array
    counts: Array | None
    squares: Array | None = None
    codes: tuple[Array, Array, Array | None] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The labels as text."""
        return tuple(map(str, self.labels.tolist()))

    @cached_property
    def table(self) -> Confusion | JointCounts:
        """The counts of all labels."""
        if self.counts is None:
            assert self.codes is not None
            truth, decided, weight = self.codes
            return JointCounts.from_rows(("truth", "decision"), (self.names,) * 2, (truth, decided), weight)
        if len(self.labels) == 1:  # a class that never occurs stands beside the only one
            names = (*self.names, f"not {self.names[0]}")
            squares = None if self.squares is None else np.pad(self.squares, (0, 1))
            return Confusion(names, names, np.pad(self.counts, (0, 1)), squares, names[0])
        if self.squares is not None and (self.counts < 0).any():
            raise negative_weights()
        positive = self.names[1] if len(self.labels) == 2 else None
        return Confusion(self.names, self.names, self.counts, self.squares, positive)

    @cached_property
    def margins(self) -> tuple[Array, Array, Array]:
        """For each label, how often it is hit, true and decided."""
        if self.counts is not None:
            return np.diagonal(self.counts), self.counts.sum(1), self.counts.sum(0)
        assert self.codes is not None
        truth, decided, weight = self.codes
        size, hit = len(self.labels), truth == decided
        each = ((truth[hit], None if weight is None else weight[hit]), (truth, weight), (decided, weight))
        found = [np.bincount(codes, unit, size) for codes, unit in each]
        return found[0], found[1], found[2]

    def beyond_chance(self, *, squared: bool) -> float:
        """Mcc (``squared``) or kappa of very many labels, for which no table is kept."""
        hits, true, decided = (one.astype(np.float64) for one in self.margins)
        n, chance = self.total, float(true @ decided)
        spreads = [n * n - float(one @ one) for one in (true, decided)]
        return (float(hits.sum()) * n - chance) / (math.sqrt(spreads[0] * spreads[1]) if squared else n * n - chance)

    @property
    def total(self) -> float:
        """The (weighted) number of rows."""
        total: float = self.margins[1].sum().item()
        return total


@dataclass(frozen=True, eq=False)
class SeveralLabels:
    """Any number of labels for each row: two matrices of flags, where they differ, and weights of the rows.

    Whatever is not 0 is a label that a row has; matrices of other values than 0 and 1 can differ where both have it.
    """

    truth: Array
    decided: Array
    differ: Array
    weight: Array | None

    @property
    def labels(self) -> Array:
        """The numbers of the columns."""
        return np.arange(self.truth.shape[1])


def read_decisions(y_true: Values, y_pred: Values, sample_weight: Values = None) -> Decisions | SeveralLabels:
    """Read and count truth and decisions."""
    if sample_weight is None and (plain := _count_plain_arrays(y_true, y_pred)) is not None:
        return plain
    truth, decided = dense("y_true", y_true), dense("y_pred", y_pred)
    same_length(y_true=truth, y_pred=decided, sample_weight=sample_weight)
    warn_of_indexes(y_true, y_pred)
    kinds = kind_of("y_true", truth), kind_of("y_pred", decided)
    weight = weights(sample_weight, len(truth))
    if set(kinds) <= {"binary", "multiclass"}:
        return count_labels(truth.reshape(-1), decided.reshape(-1), weight)
    if len(set(kinds)) > 1:
        raise InputError("mixed-targets", f"y_true is {kinds[0]} and y_pred {kinds[1]}; both must be of one kind")
    if kinds[0] != "multilabel-indicator":
        raise InputError(
            "no-labels-of-columns", f"y_true and y_pred are {kinds[0]}, which is not supported; give labels"
        )
    if truth.shape != decided.shape:
        raise different_shapes(truth, decided)
    return SeveralLabels(truth.astype(bool), decided.astype(bool), truth != decided, weight)


def read_matrices(y_true: Values, y_score: Values) -> tuple[Array, Array, Kind]:
    """Return a truth and a score for each row and column, and what the truth is; shapes may still differ."""
    truth, scores = dense("y_true", y_true), as_array("y_score", y_score)
    warn_of_indexes(y_true, y_score)
    same_length(y_true=truth, y_score=scores)
    return truth, scores, kind_of("y_true", truth)


def float_weights(values: Values, rows: int) -> Array | None:
    """Return weights as floats."""
    found = weights(values, rows)
    return None if found is None else found.astype(np.float64)


def different_shapes(truth: Array, output: Array) -> InputError:
    """Say that there are other numbers of columns."""
    text = f"y_true has the shape {truth.shape} and what was predicted {output.shape}; give as many columns of each"
    return InputError("different-shapes-of-columns", text)


def _count_plain_arrays(truth: Values, decided: Values) -> Decisions | None:
    """Count the usual case, two arrays of whole numbers, without asking what they are; None for anything else."""
    if type(truth) is not np.ndarray or type(decided) is not np.ndarray:
        return None
    if truth.ndim != 1 or truth.shape != decided.shape or not truth.size:
        return None
    if truth.dtype.kind not in "biu" or decided.dtype.kind not in "biu":
        return None
    return _count_whole_numbers(truth, decided, None)


def dense(name: str, values: Values) -> Array:
    """Matrices of labels may be sparse."""
    if hasattr(values, "toarray"):
        if values.ndim != 2 or values.shape[1] < 2:
            raise WrongKindError("sparse-input", f"{name} is sparse and has one column; give it as an array")
        return np.asarray(values.toarray())
    return as_array(name, values)


def count_labels(truth: Array, decided: Array, weight: Array | None) -> Decisions:
    """Count two columns of labels of any kind."""
    kinds = {array.dtype.kind for array in (truth, decided)}
    if kinds <= {"b", "i", "u"}:
        plain = _count_whole_numbers(truth, decided, weight)
        if plain is not None:
            return plain
    texts = [_is_text(array) for array in (truth, decided)]
    if texts[0] != texts[1]:
        raise WrongKindError(
            "mixed-labels", "y_true and y_pred mix text and numbers; make all labels text, or all numbers"
        )
    labels, codes = encode(np.concatenate([truth, decided]))
    return _count_codes(labels, codes[: len(truth)], codes[len(truth) :], weight)


def _is_text(array: Array) -> bool:
    if array.dtype.kind in "US":
        return True
    if array.dtype.kind != "O" or not len(array):
        return False
    texts = {isinstance(value, str | bytes) for value in set(array.tolist())}
    if len(texts) > 1:
        raise WrongKindError("mixed-labels", "labels mix text and numbers; make all of them text, or all numbers")
    return texts.pop()


def encode(values: Array) -> tuple[Array, Array]:
    """Return the distinct labels in order, and for each row its place among them."""
    if values.dtype.kind in "biu" and len(labels := distinct("y", values)) <= 2:
        return labels, (values == labels[-1]).astype(np.int64) if len(labels) == 2 else np.zeros(len(values), np.int64)
    if values.dtype.kind != "O":
        if values.dtype.kind == "f" and not (values % 1 == 0).all():
            raise InputError("continuous-labels", "labels are continuous, infinite or NaN; give whole numbers, or text")
        labels, codes = np.unique(values, return_inverse=True)
        return labels, codes.reshape(-1)
    listed = values.tolist()
    labels = distinct("y", values)
    places = {value: place for place, value in enumerate(labels.tolist())}
    return labels, np.fromiter(map(places.__getitem__, listed), np.int64, len(listed))


def codes_among(classes: Array, found: Array, codes: Array) -> Array:
    """Return the place of each row's label among these classes, from those that were found."""
    places = {label: place for place, label in enumerate(classes.tolist())}
    unknown = [label for label in found.tolist() if label not in places]
    if unknown:
        raise InputError(
            "unknown-labels-of-columns", f"y_true contains {unknown[:5]}, not belonging to labels; give all of them"
        )
    return np.array([places[label] for label in found.tolist()], np.int64)[codes]


def _count_whole_numbers(truth: Array, decided: Array, weight: Array | None) -> Decisions | None:
    """The same of whole numbers that lie close together; None where a table of all between would be large."""
    low, high = min(int(truth.min()), int(decided.min())), max(int(truth.max()), int(decided.max()))
    span = high - low + 1
    if span > 512 or span * span > max(4096, len(truth)):
        return None
    counts = np.zeros(span * span, np.int64)
    cells = np.empty(0, np.int64)
    for start in range(0, len(truth), _BLOCK):
        cells = truth[start : start + _BLOCK].astype(np.int64)
        cells -= low
        cells *= span
        cells += decided[start : start + _BLOCK]
        cells -= low
        counts += np.bincount(cells, minlength=span * span)
    table = counts.reshape(span, span)
    present = np.flatnonzero(table.any(0) | table.any(1))
    labels = (present + low).astype(np.result_type(truth, decided))
    if weight is None:
        return Decisions(labels, table if len(present) == span else table[np.ix_(present, present)])
    codes = [np.searchsorted(labels, column) for column in (truth, decided)]
    return _count_codes(labels, codes[0], codes[1], weight)


def _count_codes(labels: Array, truth: Array, decided: Array, weight: Array | None) -> Decisions:
    size = len(labels)
    if size > MOST_CLASSES:
        return Decisions(labels, None, codes=(truth, decided, weight))
    cells, shape = truth * size + decided, (size, size)
    if weight is None:
        return Decisions(labels, np.bincount(cells, minlength=size * size).reshape(shape))
    if weight.dtype.kind == "i":
        counts = np.zeros(size * size, np.int64)
        np.add.at(counts, cells, weight)
        return Decisions(labels, counts.reshape(shape), np.bincount(cells, weight**2.0, size * size).reshape(shape))
    sums = [sums_by(cells, unit, size * size).reshape(shape) for unit in (weight, weight**2)]
    return Decisions(labels, sums[0], sums[1])
