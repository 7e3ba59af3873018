"""Scorers that also return the interval of a score, for ``cross_validate`` and for searches."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Literal, Self

from stakes.errors import Given, InputError
from stakes.sklearn.result import FloatWithInterval
from stakes.tallies.arithmetic import Array, Values
from stakes.validation.features import Estimator

Response = Literal["predict", "predict_proba", "decision_function"]
Function = Callable[..., FloatWithInterval | Array]

RESPONSES = ("predict", "predict_proba", "decision_function")

_LAST: ContextVar[FloatWithInterval] = ContextVar("what the scorer of this thread gave last")


class LastFigure:
    """A function that scikit-learn's scorer calls, and that keeps what it gave with its interval."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.__name__ = getattr(function, "__name__", "score")
        self.__signature__ = inspect.signature(function)

    def __call__(self, *columns: Values, **options: object) -> float:
        """Return the plain number."""
        found = self.function(*columns, **options)
        if not isinstance(found, FloatWithInterval):
            raise InputError("score-of-many", "a scorer needs one number, and there are several; give an average")
        _LAST.set(found)
        return float(found)


class IntervalScorer:
    """Asks a fitted model as scikit-learn's scorers do, and returns the score with the ends of its interval.

    scikit-learn takes a scorer that returns several numbers as several scorers: ``cross_validate`` then has
    ``test_score``, ``test_low`` and ``test_high``, a search with ``refit="score"`` their means over the folds. Weights
    are routed as to other scorers: ``set_score_request(sample_weight=True)``.
    """

    def __init__(
        self,
        function: Function,
        response_method: Response | Sequence[Response],
        sign: int,
        name: str,
        options: Mapping[str, object],
    ) -> None:
        from sklearn.metrics import make_scorer  # installed wherever scorers are used

        self.name, self.sign = name, sign
        self.scorer = make_scorer(LastFigure(function), response_method=response_method, **options)

    def set_score_request(self, **requests: Values) -> Self:
        """Ask for metadata, where they are routed."""
        self.scorer.set_score_request(**requests)
        return self

    def get_metadata_routing(self) -> object:
        """Return which metadata are asked for."""
        return self.scorer.get_metadata_routing()

    def __call__(self, estimator: Estimator, X: Values, y: Values, **params: Values) -> dict[str, float]:
        """Return the score, and the ends of its interval; NaN where no interval is known."""
        value = self.sign * self.scorer(estimator, X, y, **params)
        limits = (_LAST.get().low, _LAST.get().high)
        low, high = (float("nan") if limit is None else self.sign * limit for limit in limits[:: self.sign])
        prefix = "" if self.name == "score" else f"{self.name}_"
        return {self.name: value, f"{prefix}low": low, f"{prefix}high": high}


def interval_scorer(
    function: Function,
    *,
    response_method: Response | Sequence[Response] = "predict",
    greater_is_better: bool = True,
    name: str = "score",
    **options: object,
) -> IntervalScorer:
    """Return a scorer of a function of this package, with the ends of its interval; a loss is negated.

    ``response_method`` is what the model is asked, or several of which it is asked the first that it has.

    >>> from stakes.sklearn import interval_scorer, roc_auc_score
    >>> interval_scorer(roc_auc_score, response_method="predict_proba").name
    'score'
    """
    asked = [response_method] if isinstance(response_method, str) else response_method
    if not asked or not set(asked) <= set(RESPONSES):
        text = " is no method to ask; give 'predict', 'predict_proba' or 'decision_function'"
        raise InputError("what-to-ask", Given("response_method", response_method), text)
    return IntervalScorer(function, response_method, 1 if greater_is_better else -1, name, options)
