"""What the figures of a tally would be without one row, or one cluster, after another.

A table knows how many rows of each kind there are, so a figure is worked out once for every kind. Rankings of very many
scores are put together into some hundred pieces first, and rows with very many predicted numbers into random groups.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from stakes.metrics import Metric
from stakes.metrics.prior import at_prior, base_of
from stakes.tallies import ClassScores, Confusion, ErrorSums, OutputSums, ScoreTable, Tally, TermSums
from stakes.tallies.arithmetic import Array, Number
from stakes.uncertainty.changes.class_sums import without_rows
from stakes.uncertainty.changes.losses import of_class_scores
from stakes.uncertainty.changes.numbers import of_errors
from stakes.uncertainty.changes.scores import of_scores
from stakes.uncertainty.changes.tables import of_table
from stakes.uncertainty.changes.terms import of_outputs, of_terms
from stakes.uncertainty.influence import SINGLE_CLUSTER, Found
from stakes.uncertainty.sampling import Sampling

Seen = TypeVar("Seen")


def influences(metrics: Sequence[Metric], values: Sequence[float], tally: Tally, sampling: Sampling) -> list[Found]:
    """Return what one row (or cluster) changes in each figure of a tally."""
    if sampling.clusters is not None and sampling.clusters.count < 2:
        return [SINGLE_CLUSTER] * len(metrics)
    found = _influences(metrics, values, tally, sampling)
    return [
        one
        if isinstance(one, str) or metric.population is None
        else one.joined(*cases_behind(metric, value, tally, Metric.of))
        for metric, value, one in zip(metrics, values, found, strict=True)
    ]


def cases_behind(
    metric: Metric, value: float, rows: Seen, figure: Callable[[Metric, Seen], Number]
) -> tuple[Array, Array]:
    """What a figure loses without one of the cases behind its prior, of each class, and how many there are."""
    population = metric.population
    if population is None or population.cases is None:
        return np.zeros(0), np.zeros(0)
    cases = np.array(population.cases, np.float64)
    here = np.flatnonzero(cases)
    others = [at_prior(base_of(metric), population.without_case(int(place))) for place in here]
    return np.array([value - float(figure(other, rows)) for other in others]), cases[here]


def _influences(metrics: Sequence[Metric], values: Sequence[float], tally: Tally, sampling: Sampling) -> list[Found]:
    with np.errstate(all="ignore"):  # what is not finite has no interval, and says so
        if isinstance(tally, Confusion):
            return of_table(metrics, values, tally, sampling)
        if isinstance(tally, ScoreTable):
            return of_scores(metrics, values, tally, sampling)
        if isinstance(tally, TermSums):
            return of_terms(metrics, values, tally, sampling)
        if isinstance(tally, OutputSums):
            return of_outputs(metrics, values, tally, sampling)
        if isinstance(tally, ErrorSums):
            return of_errors(metrics, values, tally, sampling)
        assert isinstance(tally, ClassScores)
        if tally.sample is None and sampling.clusters is None:
            return without_rows(metrics, tally, sampling)
        return of_class_scores(metrics, tally, sampling)
