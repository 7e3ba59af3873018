"""The kind of scorer that tools of scikit-learn work with; loaded on first use, because it extends one of theirs."""

from typing import Any

from sklearn.metrics._scorer import _BaseScorer  # TunedThresholdClassifierCV takes nothing else


class Scorer(_BaseScorer):
    """A scorer for which higher is always better: figures of which less is better are negated.

    ``figure`` is a :class:`~stakes.validation.scoring.Figure`, which a tool may also ask about decisions of its own.
    """

    def __init__(self, figure: Any) -> None:
        super().__init__(figure, -1 if figure.metric.better == "lower" else 1, {}, response_method=figure.ways)

    def _score(self, _: Any, estimator: Any, X: Any, y_true: Any, **weights: Any) -> float:
        return float(self._sign * self._score_func.of_model(estimator, X, y_true, **weights))

    def __repr__(self) -> str:
        return f"<scorer: {'negated ' if self._sign < 0 else ''}{self._score_func.name}>"
