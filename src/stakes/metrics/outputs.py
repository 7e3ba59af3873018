"""Several predicted numbers per row: averages of the figures of each output."""

from dataclasses import replace
from functools import cache, partial

import numpy as np

from stakes.errors import InputError
from stakes.metrics.baselines import Baseline
from stakes.metrics.declare import CATALOGUE, Metric
from stakes.metrics.many import mean_over_classes
from stakes.tallies import ErrorSums, OutputSums
from stakes.tallies.arithmetic import Number

AVERAGES = {
    "uniform": "the plain mean over the outputs",
    "variance_weighted": "the mean over the outputs, weighted by the variance of their truth",
}
"""The averages of the figures of each output."""


def _average(base: Metric, how: str, sums: OutputSums, **given: float) -> Number:
    """The mean of the figures of each output, which lie along the last axis."""
    one, weights = base.with_parameters(**given), None
    each = np.stack([np.asarray(one.of(part), np.float64) for part in sums.each], -1)
    if how == "variance_weighted":
        weights = np.stack([np.asarray(part.spread("t"), np.float64) for part in sums.each], -1)
    return mean_over_classes(each, weights)


def _baseline(base: Metric, how: str, metric: Metric, sums: OutputSums) -> Number:
    each = np.array([float(base.with_parameters(**metric.parameters).baseline_of(part)) for part in sums.each])
    return mean_over_classes(each, None)


@cache
def average_of_outputs(name: str, how: str) -> Metric:
    """Return the average of a figure of predicted numbers over the outputs; by variance only for shares of variance."""
    base = CATALOGUE[name]
    if base.tally is not ErrorSums or (how == "variance_weighted" and name not in ("r2", "explained_variance")):
        words = f"there is no {f'{how}_{name}'!r}: {how} averages are not of {name}; write {name!r}"
        raise InputError("no-average-of-outputs", words)
    return replace(
        base,
        name=f"{how}_{base.name}",
        function=partial(_average, base, how),
        tally=OutputSums,
        family="regression",
        question=f"{base.question} ({AVERAGES[how]})",
        formula=f"{how} average of {base.formula}",
        baseline=Baseline(base.baseline.words, value=partial(_baseline, base, how)),
        undefined=(),
        otherwise=f"{base.name} is undefined for an output",
        aliases=(),
        laws=(),
        parts=(),
        loss=None,
        changes=None,
        interval="influence" if base.interval != "median" else "",
        no_interval=base.no_interval or ("medians of several outputs have no simple law" * (base.interval == "median")),
        headline=how == "uniform" and base.name in ("r2", "mean_absolute_error", "root_mean_squared_error"),
    )
