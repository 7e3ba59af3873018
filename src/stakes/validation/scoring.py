"""Figures of fitted models, as scikit-learn asks for them: one number for an estimator and some rows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stakes import errors, evaluation, metrics
from stakes.engines.columns import in_order, to_column
from stakes.engines.counting import count_rows
from stakes.engines.labels import encode, settle
from stakes.engines.tables import refuse_different_indexes
from stakes.errors import Given, InputError, some
from stakes.metrics import Metric, cost
from stakes.metrics.reasons import NO_PROBABILITIES
from stakes.question.options import Column, Data, Value
from stakes.question.question import at_frequencies
from stakes.tallies import ClassScores, Confusion, ErrorSums
from stakes.tallies.checks import refuse_masked
from stakes.tallies.names import canonical
from stakes.tallies.pricing import Frequencies, Pricing
from stakes.uncertainty.sampling import Sampling
from stakes.validation.features import Estimator, require_scikit_learn
from stakes.validation.fitting import ask_model, predict_rows, score_rows, trained_classes
from stakes.validation.target import Target, as_array

if TYPE_CHECKING:
    from stakes.validation.scorers import Scorer


def scorer(
    metric: Metric | str,
    *,
    costs: Value = None,
    prior: Value = None,
    training_prior: Value = None,
    positive: Value = None,
    classes: Value = None,
) -> "Scorer":
    """Return a scorer for scikit-learn; :meth:`stakes.metrics.Metric.scorer` says more."""
    require_scikit_learn()
    from stakes.validation.scorers import Scorer

    metric = metric if isinstance(metric, Metric) else metrics.find(metric)
    if metric.better == "neither":
        raise InputError(
            "no-direction-to-score",
            f"{metric.name} is neither better when higher nor when lower, so it cannot score; choose another metric",
        )
    pricing = None if costs is None else Pricing(costs, prior, training_prior)
    if pricing is None and metric.lacking:
        raise errors.which_costs(metric.name)
    if pricing is not None and metric.text not in cost.NAMES:
        raise InputError(
            "costs-without-use",
            Given("costs"),
            f" mean nothing to {metric.text}; leave them out, or score by {' or '.join(cost.NAMES)}",
        )
    if pricing is not None and pricing.costs.columns:
        raise InputError(
            "scorer-of-cost-columns",
            f"these costs differ from row to row (column {some(pricing.costs.columns)}), and scikit-learn gives "
            "scorers no columns; give costs that are numbers",
        )
    declared = classes if classes is not None or pricing is None else pricing.costs.classes
    known = None if declared is None else tuple(map(canonical, in_order(declared)))
    return Scorer(ScoredFigure(metric.text, pricing, positive, known, at_frequencies(prior, training_prior)))


@dataclass(frozen=True)
class ScoredFigure:
    """A figure of a fitted model, or of decisions or predicted numbers; it can be sent to other processes."""

    name: str
    pricing: Pricing | None = None
    positive: Value = None
    classes: tuple[str, ...] | None = None
    frequencies: Frequencies | None = None

    @property
    def metric(self) -> Metric:
        """The declared metric."""
        return metrics.find(self.name)

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of a model of two classes, or of numbers, that serve; the best first."""
        return _serving(self.metric, self.pricing is not None)

    def __call__(self, y_true: Column, y_pred: Column, *, sample_weight: Column = None) -> float:
        """Return the figure of decisions or of predicted numbers."""
        if self.metric.tally not in (Confusion, ErrorSums):
            raise InputError(
                "scorer-of-decisions",
                f"{self.name} is a figure of scores, so it cannot judge decisions; a threshold is tuned by one of "
                "decisions, such as f1 or expected_cost",
            )
        return self._of(self.metric, truth=y_true, prediction=y_pred, weight=sample_weight, classes=self.classes)

    def of_model(self, model: Estimator, X: Data, y: Column, sample_weight: Column = None) -> float:
        """Return the figure of a fitted model, asking it for what the figure needs."""
        refuse_different_indexes({"X": X, "y": y, "sample_weight": sample_weight})
        refuse_masked("X", X, needed=True)
        if self.metric.tally is ErrorSums:
            return self(y, ask_model(model, "predict", X), sample_weight=sample_weight)
        target = self._target(model, y)
        metric = self.metric
        if not target.two_classes and metric.of_many:
            metric = metrics.find(metric.of_many)
        methods = _serving(metric, self.pricing is not None)
        method = next((method for method in methods if hasattr(model, method)), None)
        if method is None:
            raise InputError(
                "model-cannot-say",
                f"{type(model).__name__} has no {' and no '.join(methods)}, which {metric.name} needs; use a model "
                "that has",
            )
        predicts = method == "predict"
        found = predict_rows(model, X, target) if predicts else score_rows(model, method, X, target)
        answers = {"prediction" if predicts else "score": found}
        return self._of(metric, truth=target.values, weight=sample_weight, classes=target.classes, **answers)

    def _target(self, model: Estimator, y: Column) -> Target:
        """The rows with all classes that are declared, or that the model was trained on and these rows have."""
        column = to_column(y, "y")
        values, labels, known = as_array(column), encode(column), self.classes
        trained = trained_classes(model, values.dtype.kind == "b")
        if known is None and trained is not None:
            known = tuple(dict.fromkeys([*trained, *labels.names]))
        ask = self.metric.tally is not Confusion or self.pricing is not None  # scores are those of the positive class
        return Target(values, settle(labels, None, known, self.positive, ask=ask), labels, self.classes)

    def _of(self, metric: Metric, **columns: Column) -> float:
        """Count rows, and warn if they have no such figure."""
        if metric.tally is ErrorSums:
            columns |= {"task": "regression", "classes": None}
        else:
            columns |= {"task": "classification", "positive": self.positive}
        counted = count_rows(parts=metric.parts, pricing=self.pricing, **columns)
        evaluated = evaluation.judge(counted, None, Sampling(population=self.frequencies), self.pricing)
        found, tally, _ = evaluated._place_of(metric.text)
        if tally is None:
            raise errors.wrong_tally(found.name, found.tally.kind, " and ".join(evaluated.counted.tallies))
        value = float(found.of(tally))
        if value != value:
            words = f"{found.text} is undefined: {found.why_undefined(tally)}"
            errors.warn("undefined", words, category=errors.UndefinedWarning)
        return value


def _serving(metric: Metric, by_costs: bool) -> tuple[str, ...]:
    """The methods of a model that serve a metric, the best first; costs decide by probabilities if there are any."""
    if by_costs:
        return ("predict_proba", "predict")
    if metric.tally in (Confusion, ErrorSums):
        return ("predict",)
    orders = metric.tally is not ClassScores and NO_PROBABILITIES not in metric.undefined
    return ("decision_function", "predict_proba") if orders else ("predict_proba",)
