"""Intervals of the calibration line: Wald's; of weights, clusters or a prior by what one row or cluster changes."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from stakes.metrics import Metric, logistic
from stakes.metrics.calibration import Coefficient, FittedLine, line_of
from stakes.metrics.prior import base_of
from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.clusters import Clusters
from stakes.tallies.on_demand import remembered
from stakes.tallies.population import Population
from stakes.uncertainty.influence import SINGLE_CLUSTER, SINGLE_ROW, Influence, few_alike, limits
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.losses import LossRows, score_counts
from stakes.uncertainty.sampling import Sampling

_TINY = math.nextafter(0, 1)
"""The least number above 0."""


def line_intervals(
    metrics: Sequence[Metric], values: Sequence[float], table: ScoreTable, sampling: Sampling
) -> list[Interval]:
    """Return the limits of the numbers of the line."""
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
    line = line_of(there.of(table) if there else table, one.held)
    value, note = float(line.at[one.place]), _note(table, line.least)
    if there is None and sampling.clusters is None and not table.weighted:
        reach = sampling.width * math.sqrt(max(line.covariances[one.place, one.place], 0.0))
        return Interval(value - reach, value + reach, "Wald, observed information", note)
    influence = _influence(line, one.place, table, sampling, there)
    found = limits(value, influence, metric.range, sampling.confidence)
    if found.low is None:
        return found
    units = "rows" if sampling.clusters is None else f"{sampling.clusters.count:,} clusters"
    notes = "; ".join(filter(None, [note, few_alike(influence, sampling)]))
    return replace(found, method=f"influence of {units}, {found.method}", note=notes)


# ── what a row pulls at the line ─────────────────────────────────────────────────────────────────────────────────
def _influence(
    line: FittedLine, place: int, table: ScoreTable, sampling: Sampling, there: Population | None
) -> Influence:
    """What a coefficient loses without each row, or cluster: by one step of the fit from where it is.

    In a population with other class frequencies only what rows of a class have beside their mean counts.
    """
    rows, clusters = _rows(table, sampling.clusters), sampling.clusters
    x = logistic.logit(rows.outputs if there is None else there.correct(rows.outputs), line.least)
    truth = 1 - rows.classes
    p = logistic.probability(line.at[0] + (line.at[1] if len(line.at) == 2 else 1.0) * x)
    sides = np.stack([np.ones(len(x)), x])[: len(line.at)]
    pulls = (truth - p) * sides
    often: Array | float = 1.0
    if there is not None:
        means = np.stack([np.bincount(rows.classes, rows.weight * one) / rows.sizes for one in pulls])
        pulls = pulls - means[:, rows.classes]
        often = there.weights(truth, rows.weight, (table.negative, table.positive))
    bends = often * p * (1 - p) * sides[:, None] * sides
    each = rows.weight if clusters is not None else rows.unit
    units = [each * often * pulls, each * bends]
    if clusters is not None:
        units = [np.apply_along_axis(lambda one: np.bincount(clusters.groups, one), -1, part) for part in units]
    changes = _step((rows.weight * bends).sum(-1), *units)[place]
    if clusters is not None:
        return Influence.of_units(changes, rows.equal_units)
    sizes = np.bincount(rows.classes, rows.number)[rows.classes] if there is not None else rows.equal_units
    return Influence(changes, rows.number, sizes, rows.equal_units - 1)


def _rows(table: ScoreTable, clusters: Clusters | None) -> LossRows:
    """The rows in their clusters, or those of each class and score."""
    if clusters is not None:
        return LossRows.of_clusters(clusters, 1 - np.asarray(clusters.truth, np.int64))
    store = table.as_columns()
    counts, unit = score_counts(store)
    classes, places = np.nonzero(counts)
    weight = counts[classes, places]
    return LossRows(classes, store.scores[places].astype(np.float64), weight, weight * unit[classes, places])


def _step(bend: Array, pulls: Array, bends: Array) -> Array:
    """Solve (bend − bends) · step = pulls for each unit; where a unit holds the line alone, bend · step = pulls."""
    rest = bend[..., None] - bends
    if len(bend) == 1:
        return np.asarray(pulls / np.where(rest[0] > 0, rest[0], bend[0, 0]))
    (a, b), (_, d) = rest
    alone = a * d - b * b <= 1e-9 * bend[0, 0] * bend[1, 1]
    a, b, d = (np.where(alone, whole, one) for one, whole in ((a, bend[0, 0]), (b, bend[0, 1]), (d, bend[1, 1])))
    return np.asarray(np.stack([d * pulls[0] - b * pulls[1], a * pulls[1] - b * pulls[0]]) / (a * d - b * b))


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
