"""Calls as users write them, for the type checker of ``make types``; nobody runs them."""

from typing import assert_type

import stakes
from stakes.engines.plan import Counted
from stakes.evaluation.base import Evaluation
from stakes.metrics.declare import Metric
from stakes.sklearn import accuracy_score, mean_squared_error
from stakes.sklearn.result import FloatWithInterval
from stakes.tallies.confusion import Confusion
from stakes.tallies.costs import Costs


def what_comes_back() -> None:
    evaluation = stakes.evaluate("preds.csv", truth="y", score="p")
    assert_type(evaluation, Evaluation)
    assert_type(evaluation["auc"].value, float)
    assert_type(evaluation.threshold, float | None)
    assert_type(evaluation.confusion, Confusion | None)
    assert_type(stakes.metrics.f1, Metric)
    assert_type(stakes.metrics.f1([1, 0], [1, 1]), float)
    assert_type(stakes.compare("preds.csv", truth="y", scores=["a", "b"]).conclusion, str)
    assert_type(stakes.count("preds.csv", truth="y", score="p"), Counted)
    assert_type(stakes.gate("preds.csv", truth="y", score="p", require="auc.low >= 0.8").passed, bool)
    assert_type(stakes.calibrate("preds.csv", truth="y", score="p").method, str)
    assert_type(stakes.permutation_test("preds.csv", truth="y", score="p").p_value, float)
    assert_type(stakes.Costs(miss=5, false_alarm=1), Costs)
    assert_type(accuracy_score([1, 0], [1, 1]), FloatWithInterval)
    assert_type(accuracy_score([1, 0], [1, 1]).low, float | None)
    mean_squared_error([1.0, 0.0], [1.0, 1.0], multioutput="raw_values")


def what_is_refused() -> None:
    """An ignored error that is none is an error too."""
    stakes.evaluate("preds.csv", truth="y", scor="p")  # type: ignore[call-arg]
    stakes.evaluate("preds.csv", truth="y", confidence="high")  # type: ignore[arg-type]
    accuracy_score([1, 0], [1, 1], normalise=True)  # type: ignore[call-arg]
    stakes.evaluate("preds.csv", truth="y").treshold  # type: ignore[attr-defined]  # noqa: B018
