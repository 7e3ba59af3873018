"""Recalibrators: they turn scores into honest probabilities, and never into exactly 0 or 1.

Fit them on rows other than those that are evaluated; :func:`stakes.cross_fitted` does that with a single file.
"""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from stakes import errors
from stakes.decisions.calibration.isotonic import rising_curve
from stakes.decisions.recalibration.calibrator import VERSION, Calibrator, finite, keep_inside
from stakes.decisions.recalibration.rows import LabelledScores
from stakes.decisions.recalibration.scaling import (
    AffineCalibrator,
    BetaCalibrator,
    ScalingCalibrator,
    TemperatureCalibrator,
    VectorCalibrator,
)
from stakes.errors import InputError, short
from stakes.metrics import logistic
from stakes.question.options import Column, Value
from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import as_path


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
            raise errors.equal_scores(float(rows.scores[0]))
        weight = np.ones(len(rows.truth)) if rows.weight is None else rows.weight
        P, N = float(weight[rows.truth].sum()), float(weight[~rows.truth].sum())
        target = np.where(rows.truth, (P + 1) / (P + 2), 1 / (N + 2))
        intercept, slope = logistic.line(rows.scores, weight * target, weight * (1 - target))
        self.slope_, self.intercept_ = float(slope), float(intercept)

    def _apply(self, values: Array) -> Array:
        return keep_inside(logistic.probability(self.intercept_ + self.slope_ * values))

    def restore(self, content: Mapping[str, Value]) -> None:
        """Take over the two numbers."""
        self.slope_, self.intercept_ = (finite(content[name]) for name in ("slope", "intercept"))


_OF_TWO = (IsotonicCalibrator, SigmoidCalibrator, TemperatureCalibrator, AffineCalibrator, BetaCalibrator)
_OF_MANY = (TemperatureCalibrator, AffineCalibrator, VectorCalibrator)

CALIBRATORS: dict[str, type[Calibrator]] = {kind.method: kind for kind in (*_OF_TWO, *_OF_MANY)}
"""The recalibrators by the name of their method."""

_MOST_TRIED: dict[type[Calibrator], int] = {AffineCalibrator: 100, VectorCalibrator: 20}
"""With more classes such a recalibrator is fitted only on request: it takes long, and rows are few."""


def suited_to(classes: int, probabilities: bool = True) -> list[type[Calibrator]]:
    """Return the recalibrators to try on scores of so many classes, the plainest first."""
    kinds: tuple[type[Calibrator], ...] = _OF_TWO if classes == 2 else _OF_MANY
    tried = [kind for kind in kinds if classes <= _MOST_TRIED.get(kind, classes)]
    return [kind for kind in tried if probabilities or not issubclass(kind, ScalingCalibrator)]


def fits(method: str, classes: int) -> bool:
    """Whether a method is for so many classes."""
    return CALIBRATORS[method] in (_OF_TWO if classes == 2 else _OF_MANY)


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
