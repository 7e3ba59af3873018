"""Recalibrators: they turn scores into honest probabilities, and never into exactly 0 or 1.

Fit them on rows other than those that are judged; :func:`stakes.cross_fitted` does that with a single file. They follow
scikit-learn's habits (``get_params``, ``set_params``, ``fit(X, y, sample_weight=…)``) without needing it.
"""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Self

import numpy as np

from stakes import errors
from stakes.decisions.calibration import logistic
from stakes.decisions.calibration.isotonic import rising_curve
from stakes.decisions.recalibration.rows import (
    LabelledScores,
    one_column,
    probability_table,
    read_classes,
    read_two_classes,
    refuse_other_scale,
)
from stakes.engines.tables import refuse_different_indexes
from stakes.errors import About, InputError, short
from stakes.question.options import Column, Value
from stakes.records import Record
from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import as_path
from stakes.text import as_json

VERSION = 1
"""The version of what to_dict() writes."""

_NEAR_0, _NEAR_1 = float(np.finfo(np.float64).tiny), 1 - 2.0**-53
"""The floats to which a curve that never reaches 0 or 1 is kept, where rounding would take it there."""

_SMALLEST = 2.0**-53
"""The probability as which a smaller one, which has no useful logarithm, is read."""

_TEMPERATURES = (1e-3, 1e3)


class Calibrator(Record, stakes="calibrator"):
    """What all recalibrators can do."""

    method: ClassVar[str]
    parameters: ClassVar[tuple[str, ...]] = ()
    learned: ClassVar[tuple[str, ...]]
    """The names under which what was learned is saved; the attributes have an underscore behind them."""
    rows_: float
    """How many rows (weighted: of equal weight) it was fitted on."""
    range_: tuple[float, float] | None = None
    """The lowest and the highest score that it was fitted on; None for old files, which do not know."""

    def fit(self, score: Column, truth: Column, weight: Column = None, *, sample_weight: Column = None) -> Self:
        """Learn from scores and what really happened; ``sample_weight`` is scikit-learn's name of ``weight``."""
        if weight is not None and sample_weight is not None:
            raise InputError("two-weights", About("weight"), " and sample_weight are the same thing; give one of them")
        weight = weight if sample_weight is None else sample_weight
        refuse_different_indexes({"truth": truth, "score": score, "weight": weight})
        rows = self._read(score, truth, weight)
        self._learn(rows)
        self.rows_ = rows.effective
        self.range_ = float(rows.scores.min()), float(rows.scores.max())
        return self

    def transform(self, score: Column) -> Array:
        """Return the probabilities that belong to scores, in the shape of the scores."""
        if not hasattr(self, "rows_"):
            raise errors.not_fitted(type(self).__name__)
        return self._apply(self._column(score)).reshape(np.shape(score))

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return what the recalibrator was made with."""
        return {name: getattr(self, name) for name in self.parameters}

    def set_params(self, **params: object) -> Self:
        """Change what the recalibrator was made with."""
        for name, value in params.items():
            if name not in self.parameters:
                raise errors.no_such_parameter(type(self).__name__, name, self.parameters)
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> object:
        """Tell a pipeline of scikit-learn, which alone asks, that this is a transformer which learns from the truth."""
        from sklearn.utils import Tags, TargetTags, TransformerTags

        return Tags("transformer", TargetTags(required=True), TransformerTags())

    fitted_for_: Mapping[str, str] = MappingProxyType({})
    """What was fitted, by name, so that it is noticed when something else is recalibrated."""

    def data(self) -> dict[str, object]:
        """Return what was learned, from which :func:`stakes.load_calibrator` makes it again."""
        if not hasattr(self, "rows_"):
            raise errors.not_fitted(type(self).__name__)
        return {
            "version": VERSION,
            "method": self.method,
            "rows": self.rows_,
            "range": self.range_ and list(self.range_),
            "fitted_for": dict(self.fitted_for_),
            **{name: getattr(self, f"{name}_") for name in self.learned},
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what was learned as JSON; the file appears whole or not at all."""
        from stakes.engines.files.writing import write_text

        write_text(path, as_json(self.to_dict()) + "\n", "calibrator")

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items() if value is not None)
        return f"{type(self).__name__}({given})"

    # What a kind of recalibrator has to say for itself.
    def _read(self, score: Column, truth: Column, weight: Column) -> LabelledScores:
        return read_two_classes(type(self).__name__, score, truth, weight)

    def _scores(self, score: Column) -> Array:
        """Checked scores, one for each row (and class)."""
        return one_column(type(self).__name__, score)

    def _column(self, score: Column) -> Array:
        """The same, of the kind that the recalibrator was fitted on."""
        values = self._scores(score)
        if self.range_ is not None:
            refuse_other_scale(values, *self.range_)
        return values

    def _learn(self, rows: LabelledScores) -> None:
        raise NotImplementedError

    def _apply(self, values: Array) -> Array:
        raise NotImplementedError

    def restore(self, content: Mapping[str, Value]) -> None:
        """Take over what :meth:`to_dict` saved; ValueError says what is wrong with it."""
        raise NotImplementedError


class IsotonicCalibrator(Calibrator):
    """The rising curve nearest to the data, straight between its points: for any score of two classes, many rows.

    What n rows never showed is not impossible: probabilities are kept half a row of n + 1 away from 0 and from 1, that
    is between 1/(2(n+1)) and 1 − 1/(2(n+1)).

    >>> IsotonicCalibrator().fit([1, 2, 3, 4], [0, 1, 0, 1]).transform([0, 2, 2.5, 3.5, 9]).tolist()
    [0.1, 0.5, 0.5, 0.75, 0.9]
    """

    method = "isotonic"
    learned = ("scores", "levels")

    def _learn(self, rows: LabelledScores) -> None:
        self.scores_, self.levels_ = rising_curve(ScoreTable.from_rows(rows.scores, rows.truth, rows.weight))

    def curve(self, score: Column) -> Array:
        """Return the curve as it was fitted, which can touch 0 and 1."""
        return np.interp(self._column(score), self.scores_, self.levels_)

    def _apply(self, values: Array) -> Array:
        levels: Array = np.interp(values, self.scores_, self.levels_)
        least = 0.5 / (self.rows_ + 1)
        return np.clip(levels, least, 1 - least)

    def restore(self, content: Mapping[str, Value]) -> None:
        """Take over points of a rising curve."""
        scores, levels = (np.array(content[name], np.float64) for name in ("scores", "levels"))
        if scores.ndim != 1 or scores.shape != levels.shape or not len(scores):
            raise ValueError("as many levels as scores are needed")
        rises = (np.diff(scores) > 0).all() and (np.diff(levels) >= 0).all()
        if not np.isfinite(scores).all() or not rises or not levels[0] >= 0 or not levels[-1] <= 1:
            raise ValueError("the curve does not rise from 0 to 1")
        self.scores_, self.levels_ = scores, levels
        self.range_ = float(scores[0]), float(scores[-1])


class SigmoidCalibrator(Calibrator):
    """An S-shaped curve with two numbers (Platt, 1999): for any score of two classes, few rows.

    The truth counts as (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2) instead of 1 and 0, which keeps the curve from being too sure.
    """

    method = "sigmoid"
    learned = ("slope", "intercept")

    def _learn(self, rows: LabelledScores) -> None:
        if rows.scores.min() == rows.scores.max():
            raise errors.equal_scores(type(self).__name__, float(rows.scores[0]))
        weight = np.ones(len(rows.truth)) if rows.weight is None else rows.weight
        P, N = float(weight[rows.truth].sum()), float(weight[~rows.truth].sum())
        target = np.where(rows.truth, (P + 1) / (P + 2), 1 / (N + 2))
        intercept, slope = logistic.line(rows.scores, weight * target, weight * (1 - target))
        self.slope_, self.intercept_ = float(slope), float(intercept)

    def _apply(self, values: Array) -> Array:
        return np.clip(logistic.probability(self.intercept_ + self.slope_ * values), _NEAR_0, _NEAR_1)

    def restore(self, content: Mapping[str, Value]) -> None:
        """Take over the two numbers."""
        self.slope_, self.intercept_ = (_finite(content[name]) for name in ("slope", "intercept"))


class TemperatureCalibrator(Calibrator):
    """One number for all classes (Guo et al., 2017): softmax(log p / T), which makes probabilities bolder or shyer.

    Takes the probability of the positive class of two, or an (n, k) array of one column per class; the truth then holds
    the numbers of the columns from 0 on, or the names in ``classes``. The order of the classes in a row never changes.
    T lies between 1/1,000 and 1,000; a probability below 2⁻⁵³ is read as that.
    """

    method = "temperature"
    parameters = ("classes",)
    learned = ("temperature", "columns")

    def __init__(self, classes: Value = None) -> None:
        self.classes = classes

    def _scores(self, score: Column) -> Array:
        return probability_table(score)

    def _read(self, score: Column, truth: Column, weight: Column) -> LabelledScores:
        return read_classes(score, truth, weight, self.classes)

    def _learn(self, rows: LabelledScores) -> None:
        from scipy.optimize import brentq

        logs = _logs(rows.scores)
        if np.ptp(logs, axis=1).max() == 0:
            raise errors.equal_scores(type(self).__name__, float(np.ravel(rows.scores)[0]))
        own = np.take_along_axis(logs, rows.truth.astype(np.int64)[:, None], axis=1)[:, 0]
        weight = np.ones(len(own)) if rows.weight is None else rows.weight

        def slope(log_temperature: float) -> float:
            """How fast the log loss falls as the temperature falls."""
            p = _softmax(logs / np.exp(log_temperature))
            return float(weight @ (np.einsum("ij,ij->i", p, logs) - own))

        coldest, hottest = np.log(_TEMPERATURES)
        if slope(coldest) <= 0 or slope(hottest) >= 0:
            found = coldest if slope(coldest) <= 0 else hottest
        else:
            found = brentq(slope, coldest, hottest, xtol=1e-13)
        self.temperature_ = float(np.exp(found))
        self.columns_ = 0 if rows.scores.ndim == 1 else rows.scores.shape[1]

    def _apply(self, values: Array) -> Array:
        columns = 0 if values.ndim == 1 else values.shape[1]
        if columns != self.columns_:
            shapes = ["one probability per row" if k == 0 else f"{k} columns" for k in (self.columns_, columns)]
            raise InputError(
                "other-columns",
                f"the calibrator was fitted on {shapes[0]}, and score has {shapes[1]}; give the same classes",
            )
        p = np.clip(_softmax(_logs(values) / self.temperature_), _NEAR_0, _NEAR_1)
        return p if columns else p[:, 1]

    def data(self) -> dict[str, object]:
        """Return what was learned, and the names of the columns."""
        return {**super().data(), "classes": None if self.classes is None else list(map(str, self.classes))}

    def restore(self, content: Mapping[str, Value]) -> None:
        """Take over the temperature and for which columns it is."""
        self.temperature_, self.columns_ = _finite(content["temperature"]), int(content["columns"])
        self.classes = content["classes"]
        if self.temperature_ <= 0:
            raise ValueError("the temperature is not positive")
        if self.classes is not None and len(self.classes) != self.columns_:
            raise ValueError("as many classes as columns are needed")


CALIBRATORS: dict[str, type[Calibrator]] = {
    kind.method: kind for kind in (IsotonicCalibrator, SigmoidCalibrator, TemperatureCalibrator)
}
"""The recalibrators by the name of their method."""


# ── saved ones, made again ───────────────────────────────────────────────────────────────────────────────────────
def load_calibrator(saved: str | os.PathLike[str] | dict[str, object]) -> Calibrator:
    """Return the recalibrator that was saved in a file, or as the dictionary of ``to_dict()``."""
    where = "the dictionary" if isinstance(saved, dict) else str(saved)
    content = saved if isinstance(saved, dict) else _read(as_path("saved", saved))
    if not isinstance(content, dict) or content.get("stakes") != "calibrator":
        raise errors.no_saved_calibrator(where)
    if content.get("version") != VERSION:
        raise InputError(
            "other-calibrator-version",
            f"{where}: the calibrator was saved in version {short(repr(content.get('version')))}, this stakes reads "
            f"version {VERSION}; update stakes, or fit it again",
        )
    kind = CALIBRATORS.get(str(content.get("method")))
    if kind is None:
        raise errors.damaged_calibrator(where, f"there is no method {content.get('method')!r}")
    made = kind()
    try:
        made.restore(content)
        made.range_ = _range(content.get("range")) or made.range_
        made.rows_ = float(content["rows"])
        made.fitted_for_ = {str(what): str(name) for what, name in dict(content.get("fitted_for", {})).items()}
        if not made.rows_ > 0:
            raise ValueError("it was fitted on no rows")
    except (KeyError, TypeError, ValueError, OverflowError) as problem:
        why = f"{problem} is missing" if isinstance(problem, KeyError) else str(problem)
        raise errors.damaged_calibrator(where, why) from None
    return made


def _range(saved: Value) -> tuple[float, float] | None:
    if saved is None:
        return None
    low, high = map(float, saved)
    if not -math.inf < low <= high < math.inf:
        raise ValueError("the range of its scores")
    return low, high


def _read(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise errors.no_such_file(str(path)) from None
    except OSError as problem:
        raise errors.unreadable_file(str(path), problem.strerror or str(problem)) from None
    except (ValueError, RecursionError):  # no JSON, a number of thousands of digits, or brackets without end
        raise errors.no_saved_calibrator(str(path)) from None


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────
def _logs(probabilities: Array) -> Array:
    """The logarithms of the probabilities of all classes; those of one of two classes tell the other's."""
    logs = np.log(np.maximum(probabilities, _SMALLEST))
    if probabilities.ndim == 1:
        return np.stack([np.log1p(-np.minimum(probabilities, _NEAR_1)), logs], axis=1)
    return logs


def _softmax(logs: Array) -> Array:
    from scipy.special import softmax

    return np.asarray(softmax(logs, axis=1))


def _finite(value: Value) -> float:
    number = float(value)
    if not np.isfinite(number):
        raise ValueError(f"{value!r} is not a finite number")
    return number
