"""Intervals of any figures of a tally: each metric declares the way, and all that share one are worked out together."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from stakes.errors import Given, InputError, some
from stakes.metrics import Metric
from stakes.tallies import ClassScores, Confusion, ErrorSums, ScoreTable, Tally
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import is_one_of
from stakes.uncertainty import areas, shares
from stakes.uncertainty.changes import influences
from stakes.uncertainty.changes.numbers import median_intervals
from stakes.uncertainty.changes.tables import of_parts
from stakes.uncertainty.costs import cost_intervals
from stakes.uncertainty.influence import Influence, few_alike, limits
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.redraws import table_intervals
from stakes.uncertainty.sampling import Sampling

METHODS = {"share": tuple(shares.METHODS), "area": areas.METHODS}
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
            way = way_of(metric, tally, sampling)
            ways.setdefault("influence" if way == "area" else way, []).append(i)  # which share what one row changes
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
    if isinstance(tally, ScoreTable):
        (found,) = influences([metric], [value], tally, sampling)
        return areas.auc_interval(metric, value, found, tally, sampling, method).around(value)
    return _share(metric, value, tally, sampling, method).around(value)


def _why_none(metric: Metric, value: float, tally: Tally) -> str:
    if math.isnan(value):
        return "the figure itself is undefined"
    if metric.no_interval:
        return metric.no_interval
    if float(tally.total) < 2 and not tally.weighted:
        return "there are fewer than two rows"
    if isinstance(tally, ScoreTable) and metric.interval == "area":
        return areas.ALL_TIED if tally.constant_score else ""
    return "the scores were counted in bins" if isinstance(tally, ScoreTable) and tally.grid is not None else ""


def way_of(metric: Metric, tally: Tally, sampling: Sampling) -> str:
    """The way that is taken: the declared one, unless weights, clusters or the design rule it out."""
    if metric.interval in ("median", "costs", "relative costs") or (
        metric.interval == "area" and isinstance(tally, ScoreTable)
    ):
        return metric.interval
    if sampling.clusters is not None:
        return "influence"
    if metric.interval == "share":
        # with fixed class counts only shares of a class are simple shares
        simple = not tally.weighted and (not sampling.fixed or metric.share_of in ("P", "N"))
        return "share" if simple else "influence"
    if metric.interval == "cells":
        plain = isinstance(tally, Confusion) and tally.counts.shape == (2, 2) and not tally.weighted
        return "cells" if plain and not sampling.fixed else "influence"
    return metric.interval


def _shares(metrics: Sequence[Metric], values: Sequence[float], tally: Tally, sampling: Sampling) -> list[Interval]:
    return [_share(m, value, tally, sampling, "wilson") for m, value in zip(metrics, values, strict=True)]


def _share(metric: Metric, value: float, tally: Tally, sampling: Sampling, method: str) -> Interval:
    rows = float(getattr(tally, metric.share_of))
    if tally.weighted:  # as many rows of equal weight as would tell as much
        rows *= (tally.equal_rows if isinstance(tally, Confusion | ClassScores) else rows) / float(tally.total)
    if rows < 1:
        return none("there are too few rows")
    low, high = shares.METHODS[method](value, rows, sampling.confidence)
    return Interval(float(low), float(high), _NAMES[method])


_NAMES = {"wilson": "Wilson", "clopper-pearson": "Clopper–Pearson"}


def _influence(metrics: Sequence[Metric], values: Sequence[float], tally: Tally, sampling: Sampling) -> list[Interval]:
    """The general way: what one row changes."""
    if isinstance(tally, Confusion) and tally.weighted and tally.squares is None:
        return [none("the squares of the weights were not counted")] * len(metrics)
    units = "rows" if sampling.clusters is None else f"{sampling.clusters.count:,} clusters"
    found = influences(metrics, values, tally, sampling)
    return [
        areas.auc_interval(metric, value, one, tally, sampling)
        if metric.interval == "area" and isinstance(tally, ScoreTable)
        else _limits(metric, value, one, units, sampling, _of_sample(tally))
        for metric, value, one in zip(metrics, values, found, strict=True)
    ]


def table_limits(
    metrics: Sequence[Metric], values: Sequence[float], table: Confusion, clusters: Array, sampling: Sampling
) -> list[Interval]:
    """Return intervals of figures of a table that is the sum of those of clusters."""
    found = of_parts(metrics, values, table, clusters)
    each = zip(metrics, values, found, strict=True)
    return [_limits(*one, f"{len(clusters):,} clusters", sampling).around(one[1]) for one in each]


def _limits(
    metric: Metric, value: float, found: Influence | str, units: str, sampling: Sampling, words: str = ""
) -> Interval:
    if isinstance(found, str):
        return none(found)
    here = limits(value, found, metric.range, sampling.confidence)
    if here.low is None:
        return here
    return replace(here, method=f"influence of {units}, {here.method}{words}", note=_note(metric, found, sampling))


def _of_sample(tally: Tally) -> str:
    """Say where a sample of the rows was asked."""
    sample = tally.sample if isinstance(tally, ClassScores) else None
    few = sample is not None and len(sample.truth) < float(tally.total)
    return f", from a sample of {len(sample.truth):,} rows" if sample is not None and few else ""


def _note(metric: Metric, influence: Influence, sampling: Sampling) -> str:
    """Say where a few rows carry a figure of predicted numbers, or where clusters tell as much as a few."""
    notes = [influence.note if metric.tally is ErrorSums else "", few_alike(influence, sampling)]
    return "; ".join(filter(None, notes))


_WAYS: dict[str, Way] = {
    "share": _shares,
    "cells": table_intervals,
    "influence": _influence,
    "median": median_intervals,
    "costs": cost_intervals,
    "relative costs": cost_intervals,
}
