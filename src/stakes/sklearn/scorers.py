"""Scorers that tell how sure a score is, for ``cross_validate`` and for searches."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from stakes.errors import Given, InputError
from stakes.sklearn.result import FloatWithInterval
from stakes.tallies.arithmetic import Array, Values
from stakes.validation.features import Estimator

Response = Literal["predict", "predict_proba", "decision_function"]


@dataclass(frozen=True)
class IntervalScorer:
    """Asks a fitted model, and returns the score with the ends of its interval.

    scikit-learn takes a scorer that returns several numbers as several scorers: ``cross_validate`` then has
    ``test_score``, ``test_low`` and ``test_high``, a search with ``refit="score"`` their means over the folds.
    """

    function: Callable[..., FloatWithInterval | Array]
    response_method: Response = "predict"
    greater_is_better: bool = True
    name: str = "score"
    options: dict[str, object] = field(default_factory=dict)

    def __call__(self, estimator: Estimator, X: Values, y: Values, sample_weight: Values = None) -> dict[str, float]:
        """Return the score, and between which numbers it lies for sure enough; NaN where no interval is known."""
        said = np.asarray(getattr(estimator, self.response_method)(X))
        if self.response_method == "predict_proba" and said.shape[1] == 2:
            said = said[:, 1]
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        found = self.function(y, said, **self.options, **weight)
        if not isinstance(found, FloatWithInterval):
            raise InputError("score-of-many", "a scorer needs one number, and there are several; give an average")
        ends = [float("nan") if end is None else end for end in (found.low, found.high)]
        value = float(found)
        if not self.greater_is_better:
            value, ends = -value, [-ends[1], -ends[0]]
        prefix = "" if self.name == "score" else f"{self.name}_"
        return {self.name: value, f"{prefix}low": ends[0], f"{prefix}high": ends[1]}


def interval_scorer(
    function: Callable[..., FloatWithInterval | Array],
    *,
    response_method: Response = "predict",
    greater_is_better: bool = True,
    name: str = "score",
    **options: object,
) -> IntervalScorer:
    """Return a scorer of a function of this face, with the ends of its interval; a loss is negated.

    >>> from stakes.sklearn import interval_scorer, roc_auc_score
    >>> interval_scorer(roc_auc_score, response_method="predict_proba").name
    'score'
    """
    if response_method not in ("predict", "predict_proba", "decision_function"):
        text = " is no method to ask; give 'predict', 'predict_proba' or 'decision_function'"
        raise InputError("what-to-ask", Given("response_method", response_method), text)
    return IntervalScorer(function, response_method, greater_is_better, name, options)
