"""Predicted intervals, quantiles and ensembles: how often they cover the truth, how wide they are, what they lose."""

import math
from typing import Annotated

import numpy as np

from stakes.metrics.baselines import Baseline
from stakes.metrics.declare import CHANCE, Kind, Metric, metric
from stakes.metrics.reasons import Undefined
from stakes.tallies import QuantileSums
from stakes.tallies.arithmetic import Number, ratio
from stakes.tallies.quantile_sums import ENSEMBLE

AS_STATED = Baseline("the share that the interval states", value=lambda metric, sums: sums.level)
NOTHING_GAINED = Baseline("0: the quantiles of the truth alone", value=lambda metric, sums: 0.0)
NO_INTERVALS = Undefined("no two quantiles make a central interval", lambda sums: "covered" not in sums)
UNEVEN = Undefined("the quantiles do not make central intervals", lambda sums: "weighted interval score" not in sums)
UNKNOWN_BASELINE = Undefined(
    "parts were added up, and the quantiles of all truths are not known", lambda sums: sums.constant is None
)
LEVEL = Kind("a number from 0 to 1", lambda value: 0 <= value <= 1)
_GNEITING = "Gneiting & Raftery (2007), JASA 102"


@metric(
    question="In what share of the rows does the widest interval hold the truth?",
    formula="sum(low <= t <= high for t in rows) / n",
    share_of="total",
    better="neither",
    baseline=AS_STATED,
    undefined=(NO_INTERVALS,),
    aliases=("picp", "interval_coverage"),
    pitfall="Right on the whole can be wrong in every segment; intervals without end cover everything.",
    reference="Christoffersen (1998), International Economic Review 39",
    headline=True,
)
def coverage_of_intervals(s: QuantileSums) -> Number:
    return s.mean("covered")


@metric(
    question="How wide is the widest interval on average?",
    formula="sum(high - low for rows) / n",
    undefined=(NO_INTERVALS,),
    aliases=("sharpness", "mpiw"),
    pitfall="Says nothing without coverage: an interval of width 0 is the sharpest.",
    reference=_GNEITING,
    headline=True,
)
def mean_interval_width(s: QuantileSums) -> Number:
    return s.mean("width")


@metric(
    question="How wide is the widest interval, with a fine for every truth outside it?",
    formula="sum(high - low + 2 / alpha * (max(low - t, 0) + max(t - high, 0)) for rows) / n",
    undefined=(NO_INTERVALS,),
    aliases=("interval_score",),
    pitfall="In the unit of the target; levels are not to be compared with each other.",
    reference="Winkler (1972), JASA 67",
    headline=True,
)
def winkler_score(s: QuantileSums) -> Number:
    return s.mean("interval score")


@metric(
    question="How far off are all central intervals together, each with its fines?",
    formula="sum((abs(t - median) / 2 + sum(alpha / 2 * interval score)) / (intervals + 1/2) for rows) / n",
    undefined=(UNEVEN,),
    aliases=("wis",),
    pitfall="Depends on which levels were predicted.",
    reference="Bracher et al. (2021), PLOS Computational Biology 17",
)
def weighted_interval_score(s: QuantileSums) -> Number:
    return s.mean("weighted interval score")


@metric(
    question="How large is the pinball loss of the predicted quantiles, on average over their levels?",
    formula="sum(mean(max(alpha * (t - q), (alpha - 1) * (t - q)) for alpha, q) for rows) / n",
    pitfall="Depends on which levels were predicted.",
    reference="Koenker & Bassett (1978), Econometrica 46",
)
def quantile_score(s: QuantileSums) -> Number:
    return s.mean("quantile score")


@metric(
    parts=(),
    question="How far is the predicted distribution from what happened, in the unit of the target?",
    formula="integral of (F(x) - [t <= x])**2: from quantiles twice their mean pinball loss, from an ensemble "
    "mean(abs(x - t)) - mean(abs(x - x2)) / 2",
    aliases=("continuous_ranked_probability_score",),
    pitfall="From few quantiles it is rough, and not to be compared with that of others.",
    reference=_GNEITING,
    headline=True,
)
def crps(s: QuantileSums) -> Number:
    return s.mean("distance")


@metric(
    question="How much of the CRPS is avoided, compared with always saying the quantiles of the truth?",
    formula="1 - crps / crps of the quantiles of the truth",
    range=(-math.inf, 1),
    better="higher",
    baseline=NOTHING_GAINED,
    parts=("baseline",),
    undefined=(UNKNOWN_BASELINE,),
    otherwise="the truth is the same in every row",
    pitfall="The quantiles of the truth are known only afterwards: a hard opponent in few rows.",
    reference=_GNEITING,
    headline=True,
)
def crps_skill(s: QuantileSums) -> Number:
    return 1 - ratio(s.mean("distance"), s.constant.mean("distance")) if s.constant is not None else math.nan


def _place(sums: QuantileSums, level: float) -> int | None:
    """The place of a level among those that were predicted."""
    found = [place for place, one in enumerate(sums.levels) if abs(one - level) < 1e-9]
    return found[0] if found else None


def _at(sums: QuantileSums, term: str, level: float) -> Number:
    place = _place(sums, level)
    if place is None:
        return math.nan if not sums.leading else np.full(sums.leading, math.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (sums[term][..., place] / sums.sums[..., 0])[()]


@metric(
    question="Does the truth lie at or below the predicted quantile as often as its level says?",
    formula="sum(t <= quantile for rows) / n",
    share_of="total",
    better="neither",
    baseline=Baseline("the level of the quantile", value=lambda metric, sums: float(metric.parameters["level"])),
    otherwise="the quantile {level} was not predicted",
    pitfall="Right on the whole can be wrong in every segment.",
    reference="Dawid (1984), Journal of the Royal Statistical Society A 147",
)
def share_below(s: QuantileSums, *, level: Annotated[float, CHANCE] = 0.5) -> Number:
    return _at(s, "below", level)


def _expected_between(metric: Metric, sums: QuantileSums) -> float:
    """The share that should lie there; the truth is as likely at each rank among the members of an ensemble."""
    low, high = (float(metric.parameters[name]) for name in ("low", "high"))
    if not sums.names[0].startswith(ENSEMBLE):
        return high - low
    ranks = [_rank(sums, level) for level in (low, high)]
    return math.nan if None in ranks else (ranks[1] - ranks[0]) / (len(sums.names) + 1)  # type: ignore[operator]


def _rank(sums: QuantileSums, level: float) -> int | None:
    """How many quantiles lie up to a level that was predicted, or is an end."""
    if level in (0, 1):
        return len(sums.levels) + 1 if level else 0
    place = _place(sums, level)
    return None if place is None else place + 1


@metric(
    question="Does the truth lie between two predicted quantiles as often as their levels say?",
    formula="sum(lower quantile < t <= upper quantile for rows) / n",
    share_of="total",
    better="neither",
    baseline=Baseline("the share that lies between the levels", value=_expected_between),
    otherwise="the quantile {low} or {high} was not predicted",
    pitfall="Right on the whole can be wrong in every segment.",
    reference="Dawid (1984), Journal of the Royal Statistical Society A 147",
)
def share_between(
    s: QuantileSums, *, low: Annotated[float, LEVEL] = 0.1, high: Annotated[float, LEVEL] = 0.9
) -> Number:
    below = [np.zeros(s.leading)[()] if low == 0 else _at(s, "below", low)]
    below.append(np.ones(s.leading)[()] if high == 1 else _at(s, "below", high))
    return below[1] - below[0]


@metric(
    question="How large is the pinball loss of one predicted quantile?",
    formula="sum(max(level * (t - quantile), (level - 1) * (t - quantile)) for rows) / n",
    otherwise="the quantile {level} was not predicted",
    pitfall="Losses of different levels are not to be compared.",
    reference="Koenker & Bassett (1978), Econometrica 46",
)
def pinball_at(s: QuantileSums, *, level: Annotated[float, CHANCE] = 0.5) -> Number:
    return _at(s, "loss", level)
