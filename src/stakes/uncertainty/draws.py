"""Intervals from the figures of tallies that were drawn anew: their percentiles, or their spread around the value."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from stakes.metrics import Metric, measure
from stakes.tallies import Tally
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.interval import Interval, none
from stakes.uncertainty.quantiles import on_scale, scale_of
from stakes.uncertainty.sampling import Sampling


def percentile_intervals(metrics: Sequence[Metric], tallies: Tally, sampling: Sampling, words: str) -> list[Interval]:
    """Return the percentiles of each figure; ``words`` say what was drawn, with a place for how often."""
    return [
        percentiles(np.asarray(draws), sampling, words.format(len(draws))) for draws in measure(list(metrics), tallies)
    ]


def spread_intervals(
    metrics: Sequence[Metric], values: Sequence[float], draw: Callable[..., Tally], sampling: Sampling, words: str
) -> list[Interval]:
    """Return intervals as wide as the figures of drawn tallies spread around their values.

    Where nothing spreads because a figure is perfect, percentiles of tallies with half a row (or cluster) more at
    the ends: ``draw(ends=0.5)`` makes those.
    """
    found = [
        spread_interval(metric, value, np.asarray(draws), sampling, words.format(len(draws)))
        for metric, value, draws in zip(metrics, values, measure(list(metrics), draw()), strict=True)
    ]
    flat = [i for i, one in enumerate(found) if one.low is None]
    if flat:
        softened = percentile_intervals([metrics[i] for i in flat], draw(ends=0.5), sampling, words)
        found = [softened[flat.index(i)] if i in flat else one for i, one in enumerate(found)]
    return found


def spread_interval(metric: Metric, value: float, draws: Array, sampling: Sampling, words: str) -> Interval:
    """Return value ± z standard deviations of the draws, on a scale without ends."""
    defined = draws[np.isfinite(draws)]
    lost = len(draws) - len(defined)
    scale = scale_of(metric.range)
    if lost > len(draws) / 2:
        return none("it is undefined on most resamples")
    error = float(defined.std())
    with np.errstate(all="ignore"):
        inside = np.isfinite(scale.to(np.float64(value)))
    if error < 1e-12 or not inside:
        return none(
            "every resample gives the same figure" if error < 1e-12 else "the figure is at the end of its range"
        )
    low, high = on_scale(scale, value, error, sampling.width)
    return Interval(low, high, words, lost_words(lost, len(draws)))


def percentiles(draws: Array, sampling: Sampling, words: str) -> Interval:
    """Return the percentiles between which most draws of a figure lie; draws on which it is undefined are told."""
    defined = draws[~np.isnan(draws)]
    lost = len(draws) - len(defined)
    if lost > len(draws) / 2:
        return none("it is undefined on most resamples")
    finite = bool(np.isfinite(defined).all())  # nothing lies between a number and infinity
    low, high = np.quantile(defined, (sampling.tail, 1 - sampling.tail), method="linear" if finite else "nearest")
    if low == high or (math.isfinite(high) and high - low <= 1e-12 * abs(high)):
        return none("every resample gives the same figure")
    return Interval(float(low), float(high), words, lost_words(lost, len(draws)))


def lost_words(lost: int, of: int) -> str:
    """Say on how many resamples a figure is undefined."""
    return f"undefined on {lost:,} of {of:,} resamples" if lost else ""
