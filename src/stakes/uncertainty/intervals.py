"""Intervals of any figures of a tally: each metric declares its method, and all that share one are done together."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stakes.errors import Given, InputError, some
from stakes.metrics import Metric
from stakes.metrics.many import ROW_LOSSES, Average, mean_over_classes
from stakes.tallies import ClassScores, Confusion, CostSums, ErrorSums, LabelSums, QuantileSums, ScoreTable, Tally
from stakes.tallies.arithmetic import Array, divide, exact
from stakes.tallies.checks import is_one_of
from stakes.uncertainty import score_intervals
from stakes.uncertainty.bootstrap import BOOTSTRAPS, bootstrap_interval, table_intervals
from stakes.uncertainty.changes import influences, of_parts
from stakes.uncertainty.influence import FEW_CARRY, Influence, few_alike, limits
from stakes.uncertainty.interval import SHARE_METHODS, Interval, none
from stakes.uncertainty.numbers import median_interval
from stakes.uncertainty.one_more_row import cost_interval
from stakes.uncertainty.sampling import FEW_ROWS, Sampling, normal
from stakes.uncertainty.scores import IN_BINS, corrects_losses, known_in_bins, order_bounds

METHODS = {"share": tuple(SHARE_METHODS), "area": score_intervals.METHODS}
"""The methods that a user can choose, beside those of any figure."""

Method = Callable[[Sequence[Metric], Sequence[float], Any, Sampling], list[Interval]]
"""A method takes figures of the tallies that it is for."""


def intervals(metrics: Sequence[Metric], values: Sequence[float], tally: Tally, sampling: Sampling) -> list[Interval]:
    """Return the interval of each figure of a single tally, or why it has none."""
    found: dict[int, Interval] = {}
    by_method: dict[tuple[str, bool], list[int]] = {}
    read = [metric.at_middles(tally) for metric in metrics]
    for i, (metric, value) in enumerate(zip(metrics, values, strict=True)):
        why = _why_none(metric, value, read[i])
        if why:
            found[i] = none(why)
        else:
            method = method_of(metric, read[i], sampling)
            shared = "influence" if method == "area" else method  # which share what one row changes
            by_method.setdefault((shared, read[i] is tally), []).append(i)
    for (method, _), places in by_method.items():
        chosen = [metrics[i] for i in places], [values[i] for i in places]
        found |= zip(places, _BY_METHOD[method](*chosen, read[places[0]], sampling), strict=True)
    widened = _in_bins([found[i] for i in range(len(metrics))], metrics, values, tally)
    return [one.around(value) for one, value in zip(widened, values, strict=True)]


def interval(metric: Metric, value: float, tally: Tally, sampling: Sampling, method: str | None = None) -> Interval:
    """Return the interval of one figure, by a method of the user's choice where there is one."""
    if method is None:
        return intervals([metric], [value], tally, sampling)[0]
    known = _methods(metric, tally)
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
    tally = metric.at_middles(tally)
    why = _why_none(metric, value, tally)
    if why:
        return none(why)
    if method in BOOTSTRAPS:
        return bootstrap_interval(metric, value, tally, sampling, method).around(value)
    if method == _ASYMPTOTIC:
        assert metric.asymptotic is not None
        half = normal((1 + sampling.confidence) / 2) * metric.asymptotic(tally)
        low, high = max(value - half, metric.range[0]), min(value + half, metric.range[1])
        return Interval(low, high, "the standard error in large samples")
    if isinstance(tally, ScoreTable):
        held = replace(sampling, design="classes fixed") if method in score_intervals.TEXTBOOK else sampling
        (found,) = influences([metric], [value], tally, held)
        here = score_intervals.auc_interval(metric, value, found, tally, sampling, method)
        return _in_bins([here], [metric], [value], tally)[0].around(value)
    return _share(metric, value, tally, sampling, method).around(value)


_ASYMPTOTIC = "asymptotic"


def _methods(metric: Metric, tally: Tally) -> tuple[str, ...]:
    """The methods that a figure can have."""
    own = METHODS.get(metric.interval, ())
    plain = not tally.weighted and metric.population is None and not isinstance(tally, CostSums)
    textbook = (_ASYMPTOTIC,) if metric.asymptotic is not None and plain else ()
    return (*own, *textbook, *(BOOTSTRAPS if plain else ()))


def _why_none(metric: Metric, value: float, tally: Tally) -> str:
    if math.isnan(value):
        return "the figure itself is undefined"
    if metric.no_interval:
        return metric.no_interval
    if float(tally.total) < 2 and not tally.weighted:
        return "there are fewer than two rows"
    if isinstance(tally, ScoreTable) and metric.interval == "area":
        return score_intervals.ALL_TIED if tally.constant_score else ""
    return IN_BINS if isinstance(tally, ScoreTable) and not known_in_bins(metric, tally) else ""


_HARDLY = 0.01
"""The share of an interval by which it is not made wider."""


def _in_bins(
    found: Sequence[Interval], metrics: Sequence[Metric], values: Sequence[float], tally: Tally
) -> list[Interval]:
    """The intervals of figures, wider by what bins leave open; a note tells how far the scores of others may be off."""
    each = [_with_off_by(*one, tally) for one in zip(found, metrics, values, strict=True)]
    if isinstance(tally, ScoreTable) and tally.grid is not None and not tally.rounded:
        moved = [i for i, metric in enumerate(metrics) if _is_moved(metric, values[i])]
        for i, ends in zip(moved, order_bounds([metrics[i] for i in moved], tally), strict=True):
            each[i] = _widened(each[i], metrics[i], values[i], ends, tally.merged)
    if isinstance(tally, ClassScores) and tally.merged:
        for i, metric in enumerate(metrics):
            if isinstance(metric.function, Average):
                each[i] = _widened_average(each[i], metric.function, metric, values[i], tally)
    return each


def _widened_average(found: Interval, average: Average, metric: Metric, value: float, tally: ClassScores) -> Interval:
    """The same for an average over the classes, each of which may be off in its own bins."""
    base = average.base.with_parameters(**metric.parameters)
    if not _is_moved(base, value):
        return found
    ends = np.array([order_bounds([base], table)[0] for table in tally.tables])
    low, high = mean_over_classes(ends.T, exact(tally.sizes) if average.how == "weighted" else None)
    return _widened(found, base, value, (float(low), float(high)), merged=True)


def _with_off_by(found: Interval, metric: Metric, value: float, tally: Tally) -> Interval:
    """Say of a figure of the scores themselves how far these may be off, and of one of merged bins what they hide."""
    if not isinstance(tally, ScoreTable | ClassScores) or math.isnan(value):
        return found
    if metric.reads_values and tally.off_by:
        words = f"every probability is taken as one inside its bin, which it is within {tally.off_by:.3g} of"
    elif tally.merged and _hangs_on_order(metric):
        words = "rows of a bin count as tied, which can move this figure far where bins are wide"
    else:
        return found
    return replace(found, note="; ".join(filter(None, (found.note, words))))


def _hangs_on_order(metric: Metric) -> bool:
    """Whether the order of rows decides, and no bounds tell how much of it bins leave open."""
    of_class = metric.function.base if isinstance(metric.function, Average) else metric
    has_bounds = of_class.one_row is not None or of_class.loss is not None or of_class.reads_values
    return of_class.tally is ScoreTable and not has_bounds


def _is_moved(metric: Metric, value: float) -> bool:
    """Whether the order of rows in a bin decides, or where in it they lie."""
    open_in_bins = metric.one_row is not None or corrects_losses(metric)
    return open_in_bins and not metric.reads_values and not math.isnan(value)


def _widened(found: Interval, metric: Metric, value: float, ends: tuple[float, float], merged: bool) -> Interval:
    """An interval is wider by as much as the figure may be off: it lies between its ends.

    Fine bins hardly move a mean over all rows, such as an area or a loss: unless they do, nothing is said of them.
    """
    bounds = ends if merged else None
    if found.low is None or found.high is None:
        return replace(found, bounds=bounds)
    hardly = ends[1] - ends[0] <= _HARDLY * (found.high - found.low)
    mean = metric.one_row is None or metric.one_row.bounds is not None
    if hardly and not merged and mean:
        return found
    low, high = metric.range
    limits = max(found.low - (value - ends[0]), low), min(found.high + (ends[1] - value), high)
    return Interval(*limits, f"{found.method}, wider by what the bins leave open", found.note, bounds=bounds)


def method_of(metric: Metric, tally: Tally, sampling: Sampling) -> str:
    """The method that is taken: the declared one, unless weights, clusters or the design rule it out."""
    if metric.interval in ("median", "costs", "relative costs") or (
        metric.interval in ("area", "line") and isinstance(tally, ScoreTable)
    ):
        return metric.interval
    if sampling.clusters is not None or (metric.interval == "rate" and not isinstance(tally, ScoreTable)):
        return "influence"
    if metric.interval == "share":
        # with fixed class counts only shares of a class are simple shares
        simple = not tally.weighted and (not sampling.fixed or metric.share_of in ("P", "N"))
        return "share" if simple else "influence"
    if metric.interval == "cells":
        plain = isinstance(tally, Confusion) and tally.counts.shape == (2, 2) and not tally.weighted
        plain = plain and (metric.population is None or metric.population.cases is None)
        held = sampling.fixed and metric.population is None  # a population has its own class frequencies anyway
        return "cells" if plain and not held else "influence"
    return metric.interval


def _share(metric: Metric, value: float, tally: Tally, sampling: Sampling, method: str = "wilson") -> Interval:
    rows = float(getattr(tally, metric.share_of))
    if tally.weighted:  # the effective number of rows
        rows *= (tally.equal_rows if isinstance(tally, Confusion | ClassScores) else rows) / float(tally.total)
    if rows < 1:
        return none("there are too few rows")
    limits_of, name = SHARE_METHODS[method]
    low, high = limits_of(value, rows, sampling.confidence)
    return Interval(float(low), float(high), name)


def _influence(metrics: Sequence[Metric], values: Sequence[float], tally: Tally, sampling: Sampling) -> list[Interval]:
    """The general method: what one row changes."""
    if isinstance(tally, Confusion) and tally.weighted and tally.squares is None:
        return [none("the squares of the weights were not counted")] * len(metrics)
    found = influences(metrics, values, tally, sampling)
    return [
        score_intervals.auc_interval(metric, value, one, tally, sampling)
        if metric.interval == "area" and isinstance(tally, ScoreTable)
        else _noted(_limits(metric, value, one, sampling.units, sampling, _seen_of(tally, metric)), metric, tally)
        for metric, value, one in zip(metrics, values, found, strict=True)
    ]


def table_limits(
    metrics: Sequence[Metric], values: Sequence[float], table: Confusion, clusters: Array, sampling: Sampling
) -> list[Interval]:
    """Return intervals of figures of a table that is the sum of those of clusters."""
    found = of_parts(metrics, values, table, [clusters])
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
    carried = found.note if metric.tally in (ErrorSums, QuantileSums) else ""  # by a few rows
    note = "; ".join(filter(None, (carried, few_alike(found, sampling))))
    return replace(here, method=f"influence of {units}, {here.method}{words}", note=note)


def _seen_of(tally: Tally, metric: Metric) -> str:
    """Say where only a sample of the rows was used, random groups of them, or sums."""
    if not isinstance(tally, ClassScores):
        return ""
    if tally.sample is None and metric.loss in ROW_LOSSES:
        return ", from sums of the rows"
    if tally.sample is None:
        return ", as if all classes erred together" if tally.row_groups is None else ", from random groups of rows"
    return f", from a sample of {len(tally.sample.truth):,} rows" if tally.sample.partial else ""


def _noted(found: Interval, metric: Metric, tally: Tally) -> Interval:
    """Note where rows beyond outer quantiles, or of the rarest label in an average, are few (found by simulation)."""
    few = isinstance(tally, QuantileSums) and tally.equal_rows < 2 * FEW_ROWS
    if isinstance(tally, LabelSums):
        averages = [one for one in getattr(metric.function, "args", ()) if isinstance(one, Average)]
        rarest = float(divide(tally["truth"].min() * tally.equal_rows, float(tally.total)))
        few = any(one.how == "macro" for one in averages) and rarest < FEW_ROWS
    return replace(found, note=FEW_CARRY) if few and found.low is not None and not found.note else found


def _one_by_one(find: Callable[[Metric, float, Any, Sampling], Interval]) -> Method:
    """A method that looks at one figure after the other."""
    return lambda metrics, values, tally, sampling: [
        find(metric, value, tally, sampling) for metric, value in zip(metrics, values, strict=True)
    ]


_BY_METHOD: dict[str, Method] = {
    "share": _one_by_one(_share),
    "cells": table_intervals,
    "influence": _influence,
    "median": _one_by_one(median_interval),
    "costs": _one_by_one(cost_interval),
    "relative costs": _one_by_one(cost_interval),
    "line": score_intervals.line_intervals,
    "rate": _one_by_one(score_intervals.rate_interval),
}
