"""The kind of scorer that tools of scikit-learn work with; loaded on first use, because it extends one of theirs."""

from typing import TYPE_CHECKING

from sklearn.metrics._scorer import _BaseScorer  # TunedThresholdClassifierCV takes nothing else

from stakes.question.options import Column, Data
from stakes.validation.features import Estimator

if TYPE_CHECKING:
    from stakes.validation.scoring import ScoredFigure


class Scorer(_BaseScorer):
    """A scorer for which higher is always better: figures of which less is better are negated.

    ``figure`` is a :class:`~stakes.validation.scoring.ScoredFigure`; a tool may ask it about decisions of its own, too.
    """

    def __init__(self, figure: "ScoredFigure") -> None:
        super().__init__(figure, -1 if figure.metric.better == "lower" else 1, {}, response_method=figure.methods)

    def _score(self, _: object, estimator: Estimator, X: Data, y_true: Column, **weights: Column) -> float:
        return float(self._sign * self._score_func.of_model(estimator, X, y_true, **weights))

    def __repr__(self) -> str:
        return f"<scorer: {'negated ' if self._sign < 0 else ''}{self._score_func.name}>"
