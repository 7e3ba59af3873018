"""Models that were fitted and tested over folds, as compare() takes them: validations, for example."""

from collections.abc import Mapping, Sequence

import numpy as np

from stakes.errors import InputError
from stakes.evaluation.base import Evaluation
from stakes.metrics import Estimate
from stakes.question.options import Value
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.interval import FoldMean, figure, mean_over_folds


class OverFolds:
    """What is known of a model that was fitted and tested on several folds.

    ``test_to_train`` is the ratio of a fold's test rows to its training rows.
    """

    pooled: Evaluation
    truth: Array
    predictions: Array
    rows: Array
    fold_of_row: Array
    repeats: int
    test_to_train: float
    model: Value

    def over_folds(self, name: Value) -> Sequence[float]:
        """Return a figure on each fold."""
        raise NotImplementedError

    def mean_over_folds(self, name: Value, confidence: float) -> Estimate:
        """Return the mean of a figure over the folds, with limits for folds that share training rows."""
        pooled, span = self.pooled[name], self._span(name)
        found = mean_over_folds(self.over_folds(name), self.test_to_train, confidence, span)
        return figure(pooled.name, found.value, pooled.baseline, found.limits, confidence, pooled.reason)

    def minus(self, other: "OverFolds", name: Value, confidence: float) -> FoldMean:
        """Return the mean difference of a figure between two models, fold by fold."""
        apart = [a - b for a, b in zip(self.over_folds(name), other.over_folds(name), strict=True)]
        low, high = self._span(name)
        return mean_over_folds(apart, self.test_to_train, confidence, (low - high, high - low))

    def _span(self, name: Value) -> tuple[float, float]:
        return self.pooled._place_of(name)[0].range


def models_of(data: Value, more: Sequence[Value]) -> dict[str, OverFolds] | None:
    """Return models tested over folds by name, if these are some: given one by one, as a list, or by name."""
    if isinstance(data, Mapping) and data and all(isinstance(one, OverFolds) for one in data.values()):
        return {str(name): one for name, one in data.items()}
    several = list(data) if isinstance(data, list | tuple) else [data, *more]
    if not several or not all(isinstance(one, OverFolds) for one in several):
        return None
    names = [type(one.model).__name__ for one in several]
    return {
        name if names.count(name) == 1 else f"{name} {number}": one
        for number, (name, one) in enumerate(zip(names, several, strict=True), 1)
    }


def columns_of(models: Mapping[str, OverFolds]) -> dict[str, Value]:
    """Return the columns of a comparison row by row: the truth, and each model's predictions; refuse other folds."""
    if len(models) < 2:
        raise InputError("one-validation", "a single validation has nothing to be compared with; give two or more")
    (first, one), *others = models.items()
    for name, other in others:
        same = all(np.array_equal(getattr(one, k), getattr(other, k)) for k in ("rows", "truth", "fold_of_row"))
        if not same or (one.repeats, one.test_to_train) != (other.repeats, other.test_to_train):
            raise InputError(
                "other-folds",
                f"{first} and {name} were not tested on the same rows in the same folds; validate both with the same "
                "rows, how, seed and repeats",
            )
    found: dict[str, Value] = {"truth": one.truth}
    for name, model in models.items():
        kind = "predictions" if model.pooled._any_scores is None else "scores"
        found[kind] = {**found.get(kind, {}), name: model.predictions}
    if one.pooled.task != "regression":
        found |= {"classes": list(one.pooled._classes_to_price()[0]), "positive": one.pooled._classes_to_price()[1]}
    pricing = one.pooled.pricing
    if pricing is not None and not pricing.costs.columns:
        found |= {"costs": pricing.costs, "prior": pricing.prior, "training_prior": pricing.training_prior}
    return {name: value for name, value in found.items() if value is not None}
