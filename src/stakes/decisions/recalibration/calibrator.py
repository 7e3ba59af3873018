"""What all recalibrators can do: learn from scores and the truth, turn scores into probabilities, save what they know.

They follow scikit-learn's habits (``get_params``, ``set_params``, ``fit(X, y, sample_weight=…)``) without needing it.
"""

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Self

import numpy as np

from stakes import errors
from stakes.decisions.recalibration.rows import LabelledScores, one_column, read_two_classes, refuse_other_scale
from stakes.engines.tables import refuse_different_indexes
from stakes.errors import About, InputError
from stakes.question.options import Column, Value
from stakes.records import Record
from stakes.tallies.arithmetic import Array
from stakes.text import as_json

VERSION = 1
"""The version of what to_dict() writes."""

_NEAR_0, _NEAR_1 = float(np.finfo(np.float64).tiny), 1 - 2.0**-53


def keep_inside(probabilities: Array) -> Array:
    """Keep probabilities, which rounding may have taken to 0 or 1, at the floats beside these."""
    return np.clip(probabilities, _NEAR_0, _NEAR_1)


def finite(value: Value) -> float:
    """Return a number that was saved; ValueError says that it is none."""
    number = float(value)
    if not np.isfinite(number):
        raise ValueError(f"{value!r} is not a finite number")
    return number


class Calibrator(Record, stakes="calibrator", form=None):  # what is saved has a version of its own
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
