"""Intervals of the calibration line: Wald's, with the sandwich estimate of the variance for weights and clusters."""

import math
from collections.abc import Sequence

import numpy as np

from stakes.metrics import Metric, logistic
from stakes.metrics.calibration import Coefficient, FittedLine, LogOdds, line_of
from stakes.metrics.prior import base_of
from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.clusters import Clusters
from stakes.tallies.on_demand import remembered
from stakes.tallies.population import Population
from stakes.uncertainty.influence import SINGLE_CLUSTER, SINGLE_ROW
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.sampling import Sampling

_TINY = math.nextafter(0, 1)
"""The least number above 0."""


def line_intervals(
    metrics: Sequence[Metric], values: Sequence[float], table: ScoreTable, sampling: Sampling
) -> list[Interval]:
    """Return Wald's limits of the numbers of the line."""
    if sampling.clusters is not None and sampling.clusters.count < 2:
        return [none(SINGLE_CLUSTER)] * len(metrics)
    if table.weighted and min(table.effective_rows) < 1.5:  # as of all other figures
        return [none(SINGLE_ROW)] * len(metrics)
    return [_interval(metric, table, sampling) for metric in metrics]


def _interval(metric: Metric, table: ScoreTable, sampling: Sampling) -> Interval:
    one, there = (metric if metric.population is None else base_of(metric)).function, metric.population
    assert isinstance(one, Coefficient)
    if sampling.fixed and not one.place and there is None:
        return none("the design fixes the class counts, on which it hangs")
    return _limits(line_of(there.of(table) if there else table, one.held), table, sampling, there)[one.place]


def _limits(line: FittedLine, table: ScoreTable, sampling: Sampling, there: Population | None) -> list[Interval]:
    at, spread, method = line.at, line.covariances, "Wald, observed information"
    if there is not None:
        spread = spread @ _within_classes(line, table, sampling.clusters, there) @ spread
        method = "Wald, sandwich within the classes"
    elif sampling.clusters is not None:
        spread = spread @ _between_clusters(at, line.least, sampling.clusters) @ spread
        method = f"Wald, sandwich over {sampling.clusters.count:,} clusters"
    elif table.weighted:
        spread, method = spread @ _between_weights(at, table) @ spread, "Wald, sandwich"
    reach, note = sampling.width * np.sqrt(np.maximum(np.diag(spread), 0.0)), _note(table, line.least)
    return [Interval(float(low), float(high), method, note) for low, high in zip(at - reach, at + reach, strict=True)]


def _between_weights(at: Array, table: ScoreTable) -> Array:
    """How much the rows' pulls on the coefficients vary, by the squares of their weights."""
    rows, values = LogOdds.of(table), table.as_columns().values
    columns = np.stack([np.ones(len(rows.logits)), rows.logits])[: len(at)]
    p = logistic.probability(at[0] + (at[1] if len(at) == 2 else 1.0) * rows.logits)
    there = (values["positives"] + values["negatives"] > 0)[::-1]
    squares = [values[name][::-1][there] for name in ("positives_squared", "negatives_squared")]
    return np.asarray((columns * (squares[0] * (1 - p) ** 2 + squares[1] * p**2)) @ columns.T)


def _within_classes(line: FittedLine, table: ScoreTable, clusters: Clusters | None, there: Population) -> Array:
    """How much the rows' pulls vary within their class, each class counting as often as it is frequent there."""
    if clusters is None:
        columns = table.as_columns()
        names = ("negatives", "positives")
        weight = np.concatenate([columns.values[name] for name in names]).astype(np.float64)
        suffix = "_squared" if table.weighted else ""
        squares = np.concatenate([columns.values[name + suffix] for name in names]).astype(np.float64)
        scores, truth = np.tile(columns.scores.astype(np.float64), 2), np.repeat([0, 1], len(columns.scores))
    else:
        scores, truth = np.asarray(clusters.scores, np.float64), np.asarray(clusters.truth, np.int64)
        weight = clusters.weights
        squares = weight**2
    x = logistic.logit(there.correct(scores), line.least)
    p = logistic.probability(line.at[0] + (line.at[1] if len(line.at) == 2 else 1.0) * x)
    sides = np.stack([np.ones(len(x)), x])[: len(line.at)]
    pulls, sizes = (truth - p) * sides, np.bincount(truth, weight, 2)
    means = np.stack([np.bincount(truth, weight * one, 2) / sizes for one in pulls])
    often = there.weights(truth, weight, (table.negative, table.positive))
    # a row that weighs much pulls the line to itself: without it the line would be as much further away
    own = np.minimum(often * p * (1 - p) * np.einsum("ij,ik,kj->j", sides, line.covariances, sides), 0.9)
    pulls = (pulls - means[:, truth]) * often / (1 - own)
    if clusters is None:
        return np.asarray((pulls * squares) @ pulls.T)
    each = np.stack([np.bincount(clusters.groups, weight * one) for one in pulls])
    return np.asarray(clusters.size / (clusters.size - 1) * each @ each.T)


def _between_clusters(at: Array, least: float, clusters: Clusters) -> Array:
    """How much the sums of the rows' pulls on the coefficients vary from cluster to cluster."""
    x = logistic.logit(np.asarray(clusters.scores, np.float64), least)
    slope = at[1] if len(at) == 2 else 1.0
    surprise = np.asarray(clusters.truth, np.float64) - logistic.probability(at[0] + slope * x)
    if clusters.weight is not None:
        surprise = surprise * clusters.weight
    pulls = [np.bincount(clusters.groups, surprise * column) for column in (np.ones(len(x)), x)][: len(at)]
    groups = clusters.size
    return groups / (groups - 1) * np.stack(pulls) @ np.stack(pulls).T


def _note(table: ScoreTable, least: float) -> str:
    """What to keep in mind about rows with a probability of exactly 0 or 1."""
    seen, total = certain_rows(table)[0], float(table.total)
    if not seen:
        return ""
    rows = f"{seen:,.0f} of {total:,.0f} rows"
    if table.weighted:
        rows = f"rows with {seen:,.6g} of the weight {total:,.6g}"
    return f"in {rows} the probability is exactly 0 or 1, which has no log odds; it is read as {least:.3g} from there"


@remembered
def certain_rows(table: ScoreTable) -> tuple[float, float]:
    """The (weight of) rows with a probability of exactly 0 or 1, and of those among them that came out otherwise."""
    one, above = table.at(1.0), table.at(_TINY)
    rows = float(table.total) - float(above.PP) + float(one.PP)
    return rows, rows_at_0(table) + float(one.fp)


def rows_at_0(table: ScoreTable) -> float:
    """The (weight of) positive rows whose probability was exactly 0."""
    return float(table.P) - float(table.at(_TINY).tp)
