"""What one row changes in figures of sums of terms, and in averages over several outputs."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from stakes.metrics import Metric, measure
from stakes.tallies import OutputSums, TermSums
from stakes.tallies.arithmetic import Array
from stakes.tallies.term_sums import TermRows
from stakes.uncertainty.influence import CELLS, NOT_KEPT, Found, Influence, kish, left_out
from stakes.uncertainty.numbers import MOST_GROUPS, error_changes, group_rows, resembling, without_each, without_groups
from stakes.uncertainty.sampling import Sampling

SPARSE = "scores are sparse, and what a row changes in their ranking is not told; give an array"

_FEWEST_GROUPS = 200
_STEP = 1e-6


def groups_of(tally: TermSums | OutputSums, sampling: Sampling) -> tuple[Array, int]:
    """The cluster of each row, each row by itself, or very many rows (or terms) in random groups."""
    if sampling.clusters is not None:
        return sampling.clusters.groups, sampling.clusters.size
    if isinstance(tally, OutputSums):
        rows = tally.each[0].rows
        return group_rows(0 if rows is None else len(rows.truth), sampling)
    n = 0 if tally.rows is None else len(tally.rows)
    most = max(_FEWEST_GROUPS, min(MOST_GROUPS, CELLS // tally.sums.shape[-1]))
    if n <= most:
        return np.arange(n), n
    if sampling.in_time:
        return np.arange(n) * most // n, most
    return sampling.generator().integers(0, most, n), most


def of_terms(metrics: Sequence[Metric], values: Sequence[float], sums: TermSums, sampling: Sampling) -> list[Found]:
    """Leave out one row, cluster or group of the sums; where none were kept, ask the sums of products."""
    kept = sums.groups is None and not sums.sparse_scores
    known = [(metric, value) for metric, value in zip(metrics, values, strict=True) if kept or metric.changes is None]
    if sums.groups is not None:
        each = sums.groups[sums.groups[:, 0] > 0]
        units, rows = kish(each[:, 0]), 0
        without = iter(_left_out(known, sums, each, sums.ignoring_groups))
    elif sums.rows is None:
        return [_of_products(metric, sums, sampling) for metric in metrics]
    else:
        groups, count = groups_of(sums, sampling)
        units, rows = kish(np.bincount(groups, sums.rows.weights, count)), len(groups)
        without = iter(term_changes([one for one, _ in known], [value for _, value in known], sums, groups, count))
    found = [next(without) if kept or metric.changes is None else None for metric in metrics]
    why = NOT_KEPT if sums.groups is not None else SPARSE
    influences: list[Found] = [
        why if changes is None else Influence.of_units(changes, units, _unseen(metric, value, sums.equal_rows))
        for metric, value, changes in zip(metrics, values, found, strict=True)
    ]
    return resembling(influences, rows, sampling) if rows else influences


def _unseen(metric: Metric, value: float, rows: float) -> float:
    """What one more row could change in a figure between two ends: it is one row, whatever is left out."""
    low, high = metric.range
    return max(value - low, high - value) / (rows + 1) if math.isfinite(high - low) else 0.0


def term_changes(
    metrics: Sequence[Metric], values: Sequence[float], sums: TermSums, groups: Array, count: int
) -> list[Array]:
    """What figures lose without each group of rows."""
    assert sums.rows is not None
    by_row = [None if metric.changes is None else metric.changes(sums.rows) for metric in metrics]
    summed = [(metric, value) for metric, value, own in zip(metrics, values, by_row, strict=True) if own is None]
    each, always = (None, None) if not summed else _sums_of_groups(summed, sums, groups, count)
    others = iter([] if each is None else _left_out(summed, sums, each, always))
    return [next(others) if own is None else np.bincount(groups, own, count) for own in by_row]


def _sums_of_groups(
    wanted: Sequence[tuple[Metric, float]], sums: TermSums, groups: Array, count: int
) -> tuple[Array, Array | None]:
    """The sums of each group, and where a figure asks for them those of a model that ignores its input."""
    assert sums.rows is not None
    each = sums.sums_by(groups, count)
    columns = None
    if any("baseline" in metric.parts for metric, _ in wanted):
        columns = sums.columns_ignoring(sums.rows, sums.names)
    if columns is None:
        return each, None
    return each, replace(sums, rows=TermRows(columns, sums.rows.weight)).sums_by(groups, count)


def _left_out(wanted: Sequence[tuple[Metric, float]], sums: TermSums, each: Array, always: Array | None) -> list[Array]:
    """What figures lose without each group, of which these are the sums."""
    constant = None if always is None else sums.constant

    def figures(metrics: list[Metric], step: float) -> list[Array]:
        """The figures with so much more or less of each group."""
        ignoring = None if constant is None or always is None else constant.sums + step * always
        moved = sums.moved(sums.sums + step * each, ignoring)
        return [np.asarray(one, np.float64) for one in measure(metrics, moved)]

    without = figures([metric for metric, _ in wanted], -1.0)
    return [
        left_out(value, one, lambda step, metric=metric: figures([metric], step)[0])  # type: ignore[misc]
        for (metric, value), one in zip(wanted, without, strict=True)
    ]


def _of_products(metric: Metric, sums: TermSums, sampling: Sampling) -> Found:
    """By the delta method: how the figure moves with each sum, and how these vary together."""
    if (
        sampling.clusters is not None
        or sums.products is None
        or metric.changes is not None
        or "baseline" in metric.parts
    ):
        return NOT_KEPT
    scale = np.maximum(np.sqrt(np.diagonal(sums.products)), 1e-12)
    moved = _STEP * np.diag(scale)
    up, down = (np.asarray(measure([metric], sums.moved(sums.sums + sign * moved))[0]) for sign in (1.0, -1.0))
    slopes = np.where(np.isfinite(up - down), (up - down) / (2 * _STEP * scale), 0.0)
    variance, units = float(slopes @ sums.products @ slopes), sums.equal_rows
    return Influence.of_error(math.sqrt(max(variance, 0.0)), units, units - 1)


# ── several outputs ──────────────────────────────────────────────────────────────────────────────────────────────
def of_outputs(metrics: Sequence[Metric], values: Sequence[float], sums: OutputSums, sampling: Sampling) -> list[Found]:
    """Leave out one row, or one cluster, of the sums of every output."""
    rows = sums.each[0].rows
    if rows is None:
        return _of_output_groups(metrics, values, sums)
    groups, count = groups_of(sums, sampling)
    weights = np.ones(len(groups)) if rows.weight is None else rows.weight.astype(np.float64)
    units = kish(np.bincount(groups, weights, count))
    found = output_changes(metrics, values, sums, groups, count)
    return [Influence.of_units(changes, units) for changes in found]


def _of_output_groups(metrics: Sequence[Metric], values: Sequence[float], sums: OutputSums) -> list[Found]:
    """Leave out one group of rows after another, which are the same ones of every output."""
    varied = [one.variation for one in sums.each]
    if any(one is None or one.clusters is None for one in varied):
        return [NOT_KEPT] * len(metrics)
    units = kish(varied[0].clusters[:, 0])  # type: ignore[union-attr,index]
    found: list[Found] = []
    for metric, value in zip(metrics, values, strict=True):
        base, _ = metric.function.args  # type: ignore[union-attr]
        without = tuple(without_groups(one, base.parts) for one in sums.each)
        found.append(Influence.of_units(value - np.asarray(metric.of(OutputSums(sums.names, without))), units))
    return found


def output_changes(
    metrics: Sequence[Metric], values: Sequence[float], sums: OutputSums, groups: Array, count: int
) -> list[Array]:
    """What averages over the outputs lose without each group of rows."""
    found = []
    for metric, value in zip(metrics, values, strict=True):
        base, how = metric.function.args  # type: ignore[union-attr]
        if how == "uniform":
            base = base.with_parameters(**metric.parameters)
            each = [error_changes([base], [float(base.of(one))], one, groups, count)[0] for one in sums.each]
            found.append(np.mean(each, axis=0))
        else:
            without = [without_each(one, groups, count) for one in sums.each]
            found.append(value - np.asarray(metric.of(OutputSums(sums.names, tuple(without)))))
    return found
