"""Losses of probabilities, by scikit-learn's names and conventions."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from stakes import errors
from stakes.errors import Given, InputError, Pass
from stakes.metrics import Metric, find
from stakes.sklearn.regression import Numbers, mean_of_rows
from stakes.sklearn.result import FloatWithInterval, Scale, Source, warn_undefined
from stakes.sklearn.targets import (
    as_array,
    as_numbers,
    codes_among,
    dense,
    distinct,
    encode,
    flat,
    float_weights,
    kind_of,
    negative_weights,
    same_length,
    warn_of_indexes,
    weights,
)
from stakes.tallies import ClassScores, ScoreTable
from stakes.tallies.arithmetic import Array, Values

LOG_LOSS, BRIER = ((find(name), find(f"multiclass_{name}")) for name in ("log_loss", "brier_score"))
D2_LOG_LOSS, D2_BRIER = (
    (find(f"normalised_{name}"), find(f"normalised_multiclass_{name}")) for name in ("log_loss", "brier_score")
)

_BLOCK = 1 << 14
_RENAMED = "deprecated"


@dataclass(frozen=True, eq=False)
class Probabilities:
    """The place of each row's class, a probability for each class (or for the second of two alone), and weights."""

    codes: Array
    given: Array
    names: tuple[str, ...]
    weight: Array | None

    @property
    def several(self) -> bool:
        """Whether rows have any number of classes: then there is a column of flags for each."""
        return self.codes.ndim == 2

    @property
    def two(self) -> bool:
        """Whether there is one column, for the second of two classes."""
        return self.given.ndim == 1

    def clipped(self) -> "Probabilities":
        """Return the same with nothing certain, as scikit-learn does before it takes logarithms."""
        least = np.finfo(self.given.dtype).eps
        if self.given.min() >= least and self.given.max() <= 1 - least:
            return self
        return replace(self, given=np.clip(self.given, least, 1 - least))

    def mean(self, loss: Callable[[Array], Array], squares: bool = False) -> float:
        """The mean of what the probability of the class that happened loses; with the squares of all the others."""
        sums = []
        for start in range(0, len(self.codes), _BLOCK):
            rows = slice(start, start + _BLOCK)
            codes, given = self.codes[rows], self.given[rows].astype(np.float64, copy=False)
            if self.several:
                lost = np.where(codes, loss(given), given**2 if squares else 0.0).sum(1)
            else:
                own = np.where(codes, given, 1 - given) if self.two else given[np.arange(len(codes)), codes]
                lost = loss(own)
                if squares and not self.two:
                    lost = lost + (given**2).sum(1) - own**2
            sums.append(float(lost.sum() if self.weight is None else lost @ self.weight[rows]))
        return math.fsum(sums) / self.total

    @property
    def total(self) -> float:
        """The (weighted) number of rows."""
        return float(len(self.codes) if self.weight is None else self.weight.sum())

    @property
    def shares(self) -> Array:
        """How frequent the classes are."""
        if self.weight is not None and self.weight.min() < 0:
            raise negative_weights()
        if self.several:
            return np.asarray(np.average(self.codes, axis=0, weights=self.weight))
        return np.asarray(np.bincount(self.codes, self.weight, len(self.names)) / self.total)

    def source(self, metrics: tuple[Metric, Metric]) -> Source | None:
        """What the interval is made from: of one column a ranking, of several class scores."""
        if self.several:
            return None
        if self.two:
            return lambda: (metrics[0], ScoreTable.from_rows(self.given, self.codes, self.weight))
        return lambda: (metrics[1], ClassScores.from_rows(self.given, self.codes, self.names, self.weight))


def _surprise(own: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(0.0 - np.log(own))


def _square(own: Array) -> Array:
    return np.asarray((1 - own) ** 2)


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────
def _read(y_true: Values, y_proba: Values, sample_weight: Values, labels: Values) -> Probabilities:
    """Labels, and a probability for each in their order."""
    given = _shares_of_one(y_proba)
    truth = dense("y_true", y_true)
    warn_of_indexes(y_true, y_proba)
    same_length(y_true=truth, y_proba=given, sample_weight=sample_weight)
    weight = weights(sample_weight, len(truth))
    if labels is None and given.ndim == 1 and (plain := _zeros_and_ones(truth)) is not None:
        return Probabilities(plain, given, ("0", "1"), weight)
    classes, codes = _classes(truth, labels)
    columns = 2 if given.ndim == 1 else given.shape[1]
    if len(classes) != columns:
        text = f"there are {len(classes)} classes ({classes[:5].tolist()} …) and y_proba has {columns} columns"
        raise InputError("classes-and-columns-of-probabilities", f"{text}; pass all classes as ", Pass("labels"))
    if given.ndim == 2 and not np.allclose(given.sum(1), 1, rtol=math.sqrt(np.finfo(given.dtype).eps)):
        text = "The y_proba values do not sum to one. Make sure to pass probabilities."
        errors.warn("sums-not-one", text)
    return Probabilities(codes, given, tuple(map(str, classes.tolist())), weight)


def _shares_of_one(values: Values) -> Array:
    array = as_numbers("y_proba", as_array("y_proba", values))
    array = array if array.dtype.kind == "f" else array.astype(np.float64)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if not array.size:
        raise InputError("empty-input-of-probabilities", "y_proba has no rows; give one or more")
    if not (array.min() >= 0 and array.max() <= 1):
        words = "greater than 1" if array.max() > 1 else "lower than 0"
        raise InputError("no-probabilities-of-probabilities", f"y_proba contains values {words}; give probabilities")
    return array


def _zeros_and_ones(truth: Array) -> Array | None:
    if truth.ndim != 1 or truth.dtype.kind not in "biu" or not truth.size or truth.min() != 0 or truth.max() != 1:
        return None
    return truth.astype(bool)


def _classes(truth: Array, labels: Values) -> tuple[Array, Array]:
    if truth.ndim == 2 and truth.shape[1] > 1:  # a column of flags for each class
        if kind_of("y_true", truth) != "multilabel-indicator":
            raise InputError(
                "several-labels-of-probabilities", "y_true is multioutput; give one class for each row, or flags"
            )
        single = (truth.sum(1) == 1).all()
        return np.arange(truth.shape[1]), truth.argmax(1) if single else truth.astype(bool)
    found, codes = encode(truth.reshape(-1))
    if labels is None:
        if len(found) < 2:
            raise InputError(
                "one-class-of-probabilities",
                f"y_true contains only one label ({found[0]}); pass all as ",
                Pass("labels"),
            )
        return found, codes
    wanted = flat("labels", labels)
    classes = distinct("labels", wanted)
    if len(classes) < 2:
        raise InputError(
            "one-class-of-probabilities", f"labels needs to contain at least two labels, got {classes.tolist()}"
        )
    if len(classes) == len(wanted) and not np.array_equal(classes, wanted):
        text = f"labels are taken in their order, which is {classes.tolist()}; the columns of y_proba must follow it"
        errors.warn("unordered-labels-of-probabilities", text)
    return classes, codes_among(classes, found, codes)


def _read_binary(y_true: Values, y_proba: Values, sample_weight: Values, pos_label: object) -> Probabilities:
    """Which rows are positive, and their probabilities."""
    given = _shares_of_one(y_proba)
    truth = flat("y_true", y_true)
    warn_of_indexes(y_true, y_proba)
    same_length(y_true=truth, y_proba=given, sample_weight=sample_weight)
    weight = weights(sample_weight, len(truth))
    if pos_label in (None, 1) and (plain := _zeros_and_ones(truth)) is not None:
        return Probabilities(plain, given, ("0", "1"), weight)
    kind = kind_of("y_true", truth)
    if kind != "binary":
        text = f"The type of the target inferred from y_true is {kind} but should be binary according to y_proba"
        raise InputError("not-two-classes-of-probabilities", text)
    labels = distinct("y_true", truth)
    if pos_label is None:
        if labels.dtype.kind in "OUS":
            text = f"y_true takes value in {labels.tolist()} and pos_label is not specified; pass "
            raise InputError("which-positive-of-probabilities", text, Pass("pos_label"))
        known = labels.tolist() in ([0], [-1], [1], [0, 1], [-1, 1])
        pos_label = 1 if known else labels[-1]
    return Probabilities(np.asarray(truth == pos_label), given, ("0", "1"), weight)


# ── losses ───────────────────────────────────────────────────────────────────────────────────────────────────────
def log_loss(
    y_true: Values,
    y_proba: Values = None,
    *,
    normalize: bool = True,
    sample_weight: Values = None,
    labels: Values = None,
    y_pred: Values = _RENAMED,
    strict: bool = False,
) -> FloatWithInterval:
    """Return the mean surprise; certain probabilities are moved off 0 and 1, unless ``strict``."""
    rows = _read(y_true, _renamed(y_proba, y_pred), sample_weight, labels)
    rows = rows if strict else rows.clipped()
    scale: Scale | None = None if normalize else lambda mean: mean * rows.total
    value = rows.mean(_surprise)
    return FloatWithInterval(scale(value) if scale else value, rows.source(LOG_LOSS), scale)


def _renamed(y_proba: Values, y_pred: Values) -> Values:
    """Take scikit-learn's former name of the probabilities, which it will have until 1.11."""
    if isinstance(y_pred, str) and y_pred == _RENAMED:
        return y_proba
    if y_proba is not None:
        raise InputError("two-names", "Cannot use both `y_pred` and `y_proba`, which are the same; give y_proba")
    warnings.warn("`y_pred` was renamed to `y_proba`", FutureWarning, stacklevel=3)
    return y_pred


def brier_score_loss(
    y_true: Values,
    y_proba: Values,
    *,
    sample_weight: Values = None,
    pos_label: object = None,
    labels: Values = None,
    scale_by_half: bool | Literal["auto"] = "auto",
) -> FloatWithInterval:
    """Return the mean squared distance of the probabilities from what happened."""
    if scale_by_half not in (True, False, "auto"):
        raise InputError(
            "unknown-value-of-probabilities",
            Given("scale_by_half", scale_by_half),
            " is not known; give True, False or 'auto'",
        )
    rows = _read_any(y_true, y_proba, sample_weight, pos_label, labels)
    few = rows.two or rows.given.shape[1] < 3
    half = few if scale_by_half == "auto" else bool(scale_by_half)
    factor = (1.0 if half else 2.0) if rows.two else (0.5 if half else 1.0)
    return FloatWithInterval(factor * rows.mean(_square, True), rows.source(BRIER), lambda value: factor * value)


def _read_any(
    y_true: Values, y_proba: Values, sample_weight: Values, pos_label: object, labels: Values
) -> Probabilities:
    shape = np.shape(y_proba)
    if len(shape) == 1 or (len(shape) == 2 and shape[1] == 1):
        return _read_binary(y_true, y_proba, sample_weight, pos_label)
    return _read(y_true, y_proba, sample_weight, labels)


def d2_log_loss_score(
    y_true: Values,
    y_proba: Values = None,
    *,
    sample_weight: Values = None,
    labels: Values = None,
    y_pred: Values = _RENAMED,
    strict: bool = False,
) -> FloatWithInterval:
    """Return how much of the log loss of the class frequencies is avoided."""
    y_proba = _renamed(y_proba, y_pred)
    if _too_few(y_true, y_proba, sample_weight):
        return FloatWithInterval(math.nan, why_none="there are fewer than two rows")
    rows = _read(y_true, y_proba, sample_weight, labels)
    rows, shares = rows if strict else rows.clipped(), rows.shares
    present = shares[shares > 0]
    eps = np.finfo(rows.given.dtype).eps
    known = present if strict else np.clip(present, eps, 1 - eps)
    return _skill(rows.mean(_surprise), float(-(present * np.log(known)).sum()), rows.source(D2_LOG_LOSS))


def d2_brier_score(
    y_true: Values, y_proba: Values, *, sample_weight: Values = None, pos_label: object = None, labels: Values = None
) -> FloatWithInterval:
    """Return how much of the Brier score of the class frequencies is avoided."""
    if _too_few(y_true, y_proba, sample_weight):
        return FloatWithInterval(math.nan, why_none="there are fewer than two rows")
    rows = _read_any(y_true, y_proba, sample_weight, pos_label, labels)
    constant = float((rows.shares - rows.shares**2).sum())
    return _skill(rows.mean(_square, True), constant / 2 if rows.two else constant, rows.source(D2_BRIER))


def _too_few(y_true: Values, y_proba: Values, sample_weight: Values) -> bool:
    if len(as_array("y_proba", y_proba)) > 1:
        return False
    if len(y_proba):
        same_length(y_true=y_true, y_proba=y_proba, sample_weight=sample_weight)
    warn_undefined("D^2 score is not well-defined with less than two samples.")
    return True


def _skill(lost: float, by_constant: float, source: Source | None) -> FloatWithInterval:
    if by_constant:
        return FloatWithInterval(1 - lost / by_constant, source, lambda left: 1 - left)
    return FloatWithInterval(-math.inf if lost else math.nan, source)


def hinge_loss(
    y_true: Values, pred_decision: Values, *, labels: Values = None, sample_weight: Values = None
) -> FloatWithInterval:
    """Return how far decision values fall short of a margin of 1, on average."""
    scores = as_numbers("pred_decision", as_array("pred_decision", pred_decision))
    truth = flat("y_true", y_true)
    warn_of_indexes(y_true, pred_decision)
    same_length(y_true=truth, pred_decision=scores, sample_weight=sample_weight)
    found, codes = encode(truth)
    classes = found if labels is None else distinct("labels", flat("labels", labels))
    if len(classes) > 2:
        margin = _margins(scores, found, codes, classes)
        sides = np.ones(len(margin))
    else:
        margin, sides = flat("pred_decision", scores), np.where(truth == classes[-1], 1.0, -1.0)
        sides = -np.ones(len(truth)) if len(classes) == 1 else sides
    rows = Numbers(sides, margin.astype(np.float64), float_weights(sample_weight, len(truth)), True)
    return FloatWithInterval(rows.figure(HINGE), rows.source(HINGE))


HINGE = mean_of_rows("hinge_loss", lambda side, margin: np.maximum(1 - side * margin, 0.0))


def _margins(scores: Array, found: Array, codes: Array, classes: Array) -> Array:
    """By how much the score of the true class is ahead of the highest of the others."""
    if scores.ndim != 2 or scores.shape[1] != len(classes):
        text = f"pred_decision has the shape {scores.shape} and there are {len(classes)} classes"
        raise InputError(
            "classes-and-columns-of-probabilities",
            f"{text}; give a column for each, and pass all labels with ",
            Pass("labels"),
        )
    rows, own = np.arange(len(codes)), codes_among(classes, found, codes)
    others = scores.astype(np.float64)
    mine = others[rows, own]
    others[rows, own] = -math.inf
    return np.asarray(mine - others.max(1))
