"""Intervals of any figures of a tally: each metric declares the way, and all that share one are worked out together."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from stakes.errors import Given, InputError, some
from stakes.metrics import Metric
from stakes.tallies import ClassScores, Confusion, CostSums, ErrorSums, ScoreTable, Tally
from stakes.tallies.checks import is_one_of
from stakes.uncertainty import areas, shares
from stakes.uncertainty.class_scores import class_score_intervals
from stakes.uncertainty.cost_sums import row_cost_intervals
from stakes.uncertainty.draws import percentile_intervals, spread_intervals
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.losses import loss_intervals
from stakes.uncertainty.redraws import redraw_clustered_table, redraw_scores, redraw_table
from stakes.uncertainty.regression import regression_intervals
from stakes.uncertainty.sampling import Sampling

MOST_CLASSES = 200
"""Tables of more classes are not drawn anew: that would take longer than anything else."""

METHODS = {"share": tuple(shares.METHODS), "auc": areas.METHODS}
"""The ways between which a user can choose."""

Way = Callable[[Sequence[Metric], Sequence[float], Any, Sampling], list[Interval]]
"""A way takes figures of the tallies that it is for."""


def intervals(metrics: Sequence[Metric], values: Sequence[float], tally: Tally, sampling: Sampling) -> list[Interval]:
    """Return the interval of each figure of a single tally, or why it has none."""
    found: dict[int, Interval] = {}
    ways: dict[str, list[int]] = {}
    for i, (metric, value) in enumerate(zip(metrics, values, strict=True)):
        why = _why_none(metric, value, tally)
        if why:
            found[i] = none(why)
        else:
            ways.setdefault(way_of(metric, tally, sampling), []).append(i)
    for way, places in ways.items():
        chosen = [metrics[i] for i in places], [values[i] for i in places]
        found |= zip(places, _WAYS[way](*chosen, tally, sampling), strict=True)
    return [found[i].around(values[i]) for i in range(len(metrics))]


def interval(metric: Metric, value: float, tally: Tally, sampling: Sampling, method: str | None = None) -> Interval:
    """Return the interval of one figure, by a method of the user's choice where there is one."""
    if method is None:
        return intervals([metric], [value], tally, sampling)[0]
    known = METHODS.get(metric.interval, ())
    if not is_one_of(method, known):
        choice = f"it can be {some(known, last='or')}" if known else "there is no choice; leave it out"
        raise InputError(
            "bad-method", Given("method", method), f" does not make an interval of {metric.name}; {choice}"
        )
    if sampling.clusters is not None:
        raise InputError(
            "method-with-clusters",
            Given("method", method),
            " takes rows as independent, and these come in clusters; leave it out",
        )
    why = _why_none(metric, value, tally)
    if why:
        return none(why)
    if not isinstance(tally, ScoreTable):
        return _share(metric, value, tally, sampling, method).around(value)
    found = areas.auc_interval(tally, _area_of(metric, value), sampling.confidence, method)
    return areas.stretch_interval(metric, found).around(value)


def _why_none(metric: Metric, value: float, tally: Tally) -> str:
    if math.isnan(value):
        return "the figure itself is undefined"
    if metric.no_interval:
        return metric.no_interval
    if float(tally.total) < 2 and not tally.weighted:
        return "there are fewer than two rows"
    if isinstance(tally, ScoreTable) and metric.interval == "auc":
        return areas.ALL_TIED if tally.constant_score else ""
    return "the scores were counted in bins" if isinstance(tally, ScoreTable) and tally.grid is not None else ""


def way_of(metric: Metric, tally: Tally, sampling: Sampling) -> str:
    """The way that is taken: the declared one, unless the tally, clusters or the design rule it out."""
    if isinstance(tally, ErrorSums):
        return "rows left out"
    if isinstance(tally, CostSums):
        return "row costs"
    if sampling.clusters is not None:
        return "clusters"
    # with fixed class counts only shares of a class are simple shares
    if metric.interval == "share" and sampling.fixed and metric.share_of not in ("P", "N"):
        return "cells"
    return "loss" if metric.interval == "relative loss" else metric.interval


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────
def _cells(metrics: Sequence[Metric], values: Sequence[float], table: Tally, sampling: Sampling) -> list[Interval]:
    """Percentiles of the figures of tables drawn anew; of more classes, which are biased in draws, their spread."""
    if not isinstance(table, Confusion) or max(table.counts.shape) > MOST_CLASSES:
        return [none(f"tables of more than {MOST_CLASSES} classes are not drawn anew")] * len(metrics)
    words = "the table drawn {:,} times"
    if table.counts.shape == (2, 2):
        return percentile_intervals(metrics, redraw_table(table, sampling), sampling, words)
    return spread_intervals(metrics, values, partial(redraw_table, table, sampling), sampling, words)


def _shares(metrics: Sequence[Metric], values: Sequence[float], tally: Tally, sampling: Sampling) -> list[Interval]:
    return [_share(m, value, tally, sampling, "wilson") for m, value in zip(metrics, values, strict=True)]


def _share(metric: Metric, value: float, tally: Tally, sampling: Sampling, method: str) -> Interval:
    rows = _rows_of_share(metric, value, tally)
    if rows is None:
        return none("the squares of the weights were not counted")
    if rows < 1:
        return none("there are too few rows")
    return Interval(*shares.METHODS[method](value, rows, sampling.confidence), _NAMES[method])


_NAMES = {"wilson": "Wilson", "clopper-pearson": "Clopper–Pearson"}


def _rows_of_share(metric: Metric, value: float, tally: Tally) -> float | None:
    """Of how many rows a share is; of weighted ones, how many equal ones would tell as much."""
    whole = float(getattr(tally, metric.share_of))
    if not tally.weighted:
        return whole
    if isinstance(tally, ClassScores):
        return tally.equal_rows
    if not isinstance(tally, Confusion) or tally.squares is None:
        return None
    squared = tally.with_counts(tally.squares)
    of_all = float(getattr(squared, metric.share_of))
    hits = float(metric.of(squared))  # the part of the squared weights that lies where the share does
    variance = of_all * (hits * (1 - value) ** 2 + (1 - hits) * value**2) / whole**2
    return value * (1 - value) / variance if 0 < value < 1 and variance else whole**2 / of_all


# ── scores ───────────────────────────────────────────────────────────────────────────────────────────────────────
def _areas(metrics: Sequence[Metric], values: Sequence[float], table: ScoreTable, sampling: Sampling) -> list[Interval]:
    found = areas.auc_interval(table, _area_of(metrics[0], values[0]), sampling.confidence)
    return [areas.stretch_interval(metric, found) for metric in metrics]


def _area_of(metric: Metric, value: float) -> float:
    return value if metric.range[0] == 0 else (1 + value) / 2


def _ranking(
    metrics: Sequence[Metric], values: Sequence[float], table: ScoreTable, sampling: Sampling
) -> list[Interval]:
    """The spread over score tables drawn anew."""
    draw = partial(redraw_scores, table, sampling)
    return spread_intervals(metrics, values, draw, sampling, "the score table drawn {:,} times")


# ── clusters ─────────────────────────────────────────────────────────────────────────────────────────────────────
def _clusters(metrics: Sequence[Metric], values: Sequence[float], tally: Tally, sampling: Sampling) -> list[Interval]:
    """The spread over draws of whole clusters."""
    count = sampling.require_clusters().count
    if count < 2:
        return [none("there is a single cluster")] * len(metrics)
    draw: Callable[..., Tally]
    if isinstance(tally, Confusion):
        draw = partial(redraw_clustered_table, tally, sampling)
    elif isinstance(tally, ScoreTable):
        draw = partial(redraw_scores, tally, sampling)
    else:
        return [none("with clusters there is none for so many classes; ask for one class")] * len(metrics)
    return spread_intervals(metrics, values, draw, sampling, f"{count:,} clusters drawn {{:,}} times")


_WAYS: dict[str, Way] = {
    "share": _shares,
    "cells": _cells,
    "auc": _areas,
    "table": _ranking,
    "loss": loss_intervals,
    "sample": class_score_intervals,
    "rows left out": regression_intervals,
    "row costs": row_cost_intervals,
    "clusters": _clusters,
}
