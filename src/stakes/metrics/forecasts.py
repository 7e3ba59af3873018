"""Forecasts of series, beside the naive forecast: the last value again."""

import numpy as np

from stakes.metrics.baselines import Baseline
from stakes.metrics.declare import metric
from stakes.metrics.reasons import Undefined
from stakes.tallies import ForecastSums
from stakes.tallies.arithmetic import Number, ratio

NAIVE = Baseline("1: saying the last value again", value=lambda metric, sums: 1.0)
NOTHING_BEFORE = Undefined("no row has another before it in its series", lambda sums: sums["with one before"] == 0)
NEVER_CHANGES = Undefined("the series never change", lambda sums: sums["naive error"] == 0)
_HYNDMAN = "Hyndman & Koehler (2006), International Journal of Forecasting 22"


@metric(
    question="How large are the errors of forecasts, beside those of saying the last value again? (below 1 is useful)",
    formula="sum(abs(t - p) for rows with one before) / sum(abs(t - before) for the same rows)",
    baseline=NAIVE,
    undefined=(NOTHING_BEFORE, NEVER_CHANGES),
    aliases=("mean_absolute_scaled_error",),
    pitfall="Scaled by the naive errors of these rows, as the rows of training are not known.",
    reference=_HYNDMAN,
    headline=True,
)
def mase(s: ForecastSums) -> Number:
    return ratio(s["error"][()], s["naive error"][()])


@metric(
    question="How large are squared errors of forecasts, beside those of saying the last value again, as a root? "
    "(below 1 is useful)",
    formula="sqrt(sum((t - p)**2 for rows with one before) / sum((t - before)**2 for the same rows))",
    baseline=NAIVE,
    undefined=(NOTHING_BEFORE, NEVER_CHANGES),
    aliases=("root_mean_squared_scaled_error",),
    pitfall="A few large errors decide it.",
    reference="Makridakis, Spiliotis & Assimakopoulos (2022), International Journal of Forecasting 38",
)
def rmsse(s: ForecastSums) -> Number:
    return np.sqrt(ratio(s["squared error"][()], s["squared naive error"][()]))
