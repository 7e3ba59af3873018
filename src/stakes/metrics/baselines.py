"""What ignoring the input would score: the figure that every other figure is read against."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.tallies import Confusion, JointCounts
from stakes.tallies.arithmetic import Number

if TYPE_CHECKING:
    from stakes.metrics.declare import Metric


@dataclass(frozen=True)
class Baseline:
    """A way of ignoring the input, with ``value(metric, tally)``."""

    words: str
    value: Callable[["Metric", Any], Number]


def _best_constant(metric: "Metric", table: Confusion | JointCounts) -> Number:
    values = np.array([metric.of(constant) for constant in table.constants()])
    sign = 1 if metric.better == "higher" else -1
    best = sign * np.max(np.where(np.isnan(values), -math.inf, sign * values), axis=0)
    return np.where(np.isnan(values).all(axis=0), math.nan, best)[()]


COIN = Baseline("a coin that takes each decision as often as the model", lambda metric, table: metric.of(table.coin()))
BEST_CONSTANT = Baseline("the best constant decision", _best_constant)
CONSTANT_SCORE = Baseline("the prevalence as everybody's score", lambda metric, table: metric.of(table.constant()))
ZERO = Baseline("0", lambda metric, table: 0.0)
CLASS_FREQUENCIES = Baseline("the class frequencies as everybody's scores", CONSTANT_SCORE.value)
MEAN = Baseline(
    "always saying the mean (or the baseline that was given)",
    lambda metric, sums: metric.of(sums.constant) if sums.constant is not None else math.nan,
)
NOTHING = Baseline(
    "0 for the mean; the figure of the baseline that was given",
    lambda metric, sums: MEAN.value(metric, sums) if sums.baseline_given else 0.0,
)
