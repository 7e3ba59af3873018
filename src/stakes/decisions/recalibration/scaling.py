"""Recalibration on logarithms: softmax(scale × log p + bias), with one scale or one per class, with biases or without.

The logarithm of a probability of 0 does not exist. It is read as half as far from 0 as the nearest other probability of
the rows that were fitted, as calibration's line does.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from stakes import errors
from stakes.decisions.recalibration.calibrator import Calibrator, finite, keep_inside
from stakes.decisions.recalibration.rows import LabelledScores, one_column, probability_table, read_classes
from stakes.decisions.recalibration.softmax import Pulls, fit_pulls, pulls_of_rows, softmax
from stakes.errors import InputError
from stakes.metrics import logistic
from stakes.question.options import Column, Value
from stakes.tallies.arithmetic import Array

if TYPE_CHECKING:
    from stakes.engines.classes.maps import Map, MappedRows

_SMALLEST = 2.0**-53
"""Smaller probabilities, which have no useful logarithm, are read as this one."""

_ENDS = (1e-3, 1e3)
"""The range of a scale without biases, and of the temperature, which is 1 / scale."""


class ScalingCalibrator(Calibrator):
    """What recalibrators on logarithms have in common.

    They take the probability of the positive class of two, or an (n, k) array of one column per class; the truth then
    holds the numbers of the columns from 0 on, or the names in ``classes``.
    """

    parameters: ClassVar[tuple[str, ...]] = ("classes",)
    fixed: ClassVar[tuple[str, ...]] = ("columns", "least")
    """What is saved beside the numbers of the map."""
    one_scale: ClassVar[bool] = True
    biased: ClassVar[bool] = True
    """Whether there is one scale for all classes, and whether there are biases."""

    def __init__(self, classes: Value = None) -> None:
        self.classes = classes

    def _scores(self, score: Column) -> Array:
        return probability_table(type(self).__name__, score)

    def _read(self, score: Column, truth: Column, weight: Column) -> LabelledScores:
        return read_classes(self._scores(score), truth, weight, self.classes)

    def _learn(self, rows: LabelledScores) -> None:
        self.columns_ = 0 if rows.scores.ndim == 1 else rows.scores.shape[1]
        self.least_ = max(logistic.nearest_inside(rows.scores), _SMALLEST)
        logs = _logs(rows.scores, self.least_)
        if np.ptp(logs, axis=1).max() == 0:
            raise errors.equal_scores(float(np.ravel(rows.scores)[0]))
        weight = np.ones(len(logs)) if rows.weight is None else rows.weight
        pulls = pulls_of_rows(logs, rows.truth.astype(np.int64), weight)
        self._take(self._fit_maps(pulls, float(weight.sum()), logs.shape[1])[0])

    @classmethod
    def fit_elsewhere(cls, rows: "MappedRows", weight: float) -> "tuple[Self, list[Map]]":
        """Fit to rows of this weight that are not here; also return the maps that rows of the other folds have."""
        first, *others = cls._fit_maps(rows.pulls, weight, rows.folds.classes, rows.folds.count)
        fitted = cls()
        fitted.columns_, fitted.least_ = rows.folds.classes, rows.folds.least
        fitted._take(first)
        return fitted, others

    @classmethod
    def _fit_maps(cls, pulls: Pulls, weight: float, classes: int, folds: int = 0) -> "list[Map]":
        """The map fitted to rows of this weight, and the maps without the rows of each fold."""
        even = np.zeros(classes)
        if not cls.biased:
            hot, cold = (
                pulls(even + end, even, None, False, 0.0)[:, 1 + classes :][:, :classes].sum() for end in _ENDS
            )
            if hot <= 0 or cold >= 0:
                return [(even + _ENDS[0 if hot <= 0 else 1], even)] * (1 + folds)
        return fit_pulls(pulls, classes, weight if cls.biased else math.inf, cls.one_scale, cls.biased)

    def _apply(self, values: Array) -> Array:
        columns = 0 if values.ndim == 1 else values.shape[1]
        if columns != self.columns_:
            shapes = ["one probability per row" if k == 0 else f"{k} columns" for k in (self.columns_, columns)]
            raise InputError(
                "other-columns",
                f"the calibrator was fitted on {shapes[0]}, and score has {shapes[1]}; give the same classes",
            )
        scale, bias = self._map
        p = keep_inside(softmax(_logs(values, self.least_) * scale + bias))
        return p if columns else p[:, 1]

    def data(self) -> dict[str, object]:
        """Return what was learned, and the names of the columns."""
        return {**super().data(), "classes": None if self.classes is None else list(map(str, self.classes))}

    def restore(self, content: Mapping[str, Value]) -> None:
        """Take over the numbers of the map, and for which columns they are."""
        self.columns_, self.least_ = int(content["columns"]), finite(content.get("least", _SMALLEST))
        self.classes = content["classes"]
        if self.classes is not None and len(self.classes) != self.columns_:
            raise ValueError("as many classes as columns are needed")
        if not 0 < self.least_ <= 0.5:
            raise ValueError("the least probability")
        self._restore_map(content)

    # What a kind of map has to say for itself.
    @property
    def _map(self) -> tuple[float | Array, float | Array]:
        """The scale and the bias of the logarithms, of all classes or of each."""
        raise NotImplementedError

    def _take(self, found: "Map") -> None:
        raise NotImplementedError

    def _restore_map(self, content: Mapping[str, Value]) -> None:
        raise NotImplementedError

    def _numbers(self, saved: Value) -> Array:
        """One number for each class."""
        found = np.array([finite(value) for value in saved])
        if len(found) != (self.columns_ or 2):
            raise ValueError("as many numbers as classes are needed")
        return found


class TemperatureCalibrator(ScalingCalibrator):
    """One number for all classes (Guo et al., 2017): softmax(log p / T), which makes probabilities bolder or shyer.

    Takes the probability of the positive class of two, or an (n, k) array of one column per class; the truth then holds
    the numbers of the columns from 0 on, or the names in ``classes``. The order of the classes in a row never changes.
    T lies between 1/1,000 and 1,000.
    """

    method = "temperature"
    learned = ("temperature", *ScalingCalibrator.fixed)
    biased = False

    @property
    def _map(self) -> tuple[float | Array, float | Array]:
        return 1 / self.temperature_, 0.0

    def _take(self, found: "Map") -> None:
        self.temperature_ = float(1 / np.clip(found[0][0], *_ENDS))

    def _restore_map(self, content: Mapping[str, Value]) -> None:
        self.temperature_ = finite(content["temperature"])
        if self.temperature_ <= 0:
            raise ValueError("the temperature is not positive")


class AffineCalibrator(ScalingCalibrator):
    """One scale for all classes and a bias for each: softmax(scale × log p + bias); mends wrong class frequencies, too.

    Of two classes this is the line of the log odds whose slope and intercept calibration reports (Cox, 1958):
    ``slope_`` and ``intercept_``. The biases add up to 0.
    """

    method = "affine"
    learned = ("scale", "biases", *ScalingCalibrator.fixed)

    @property
    def slope_(self) -> float:
        """The slope of the log odds."""
        return self.scale_

    @property
    def intercept_(self) -> float:
        """The intercept of the log odds of the second class of two; NaN of more classes, which have biases."""
        return float(self.biases_[1] - self.biases_[0]) if len(self.biases_) == 2 else math.nan

    @property
    def _map(self) -> tuple[float | Array, float | Array]:
        return self.scale_, self.biases_

    def _take(self, found: "Map") -> None:
        self.scale_, self.biases_ = float(found[0][0]), found[1]

    def _restore_map(self, content: Mapping[str, Value]) -> None:
        self.scale_, self.biases_ = finite(content["scale"]), self._numbers(content["biases"])


class VectorCalibrator(ScalingCalibrator):
    """A scale, at least 0, and a bias for each class (Guo et al., 2017): softmax(scale_c × log p_c + bias_c).

    For many rows, and classes of which some are too bold and others too timid. The biases add up to 0.
    """

    method = "vector"
    learned = ("scales", "biases", *ScalingCalibrator.fixed)
    one_scale = False

    @property
    def _map(self) -> tuple[float | Array, float | Array]:
        return self.scales_, self.biases_

    def _take(self, found: "Map") -> None:
        self.scales_, self.biases_ = found

    def _restore_map(self, content: Mapping[str, Value]) -> None:
        self.scales_, self.biases_ = self._numbers(content["scales"]), self._numbers(content["biases"])
        if (self.scales_ < 0).any():
            raise ValueError("a scale is negative")


class BetaCalibrator(VectorCalibrator):
    """The map of beta distributions (Kull et al., 2017): log odds = a·log p − b·log(1 − p) + c, a and b at least 0.

    For probabilities of two classes, also such as are too bold at one end and too timid at the other.
    """

    method = "beta"
    parameters = ()

    def __init__(self) -> None:
        super().__init__()

    @property
    def a_(self) -> float:
        """What multiplies log p."""
        return float(self.scales_[1])

    @property
    def b_(self) -> float:
        """What multiplies −log(1 − p)."""
        return float(self.scales_[0])

    @property
    def c_(self) -> float:
        """What is added."""
        return float(self.biases_[1] - self.biases_[0])

    def _scores(self, score: Column) -> Array:
        return probability_table(type(self).__name__, one_column(type(self).__name__, score))


def _logs(probabilities: Array, least: float) -> Array:
    """The logarithms of the probabilities of all classes; those of one of two classes tell the other's."""
    with np.errstate(divide="ignore"):
        logs = np.log(probabilities)
        if probabilities.ndim == 1:
            logs = np.stack([np.log1p(-probabilities), logs], axis=1)
    return np.maximum(logs, math.log(least))
