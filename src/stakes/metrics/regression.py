"""Errors of predicted numbers, in the unit of the target or relative to always predicting the mean."""

import math
from fractions import Fraction
from typing import Annotated

import numpy as np

from stakes.frozen import replace
from stakes.metrics.baselines import MEAN, NOTHING, ZERO, Baseline
from stakes.metrics.declare import SHARE, metric
from stakes.metrics.reasons import Undefined
from stakes.tallies import ErrorSums
from stakes.tallies.arithmetic import Number, ratio, root, root_ratio
from stakes.tallies.error_terms import terms_of

SQUARES = Baseline(MEAN.words, value=lambda metric, sums: ratio(sums.baseline_squares, sums.total))
ONE = Baseline("1: the baseline compared with itself", value=lambda metric, sums: 1.0)

CONSTANT_TRUTH = Undefined("the truth is the same in every row", lambda sums: sums.spread("t") == 0)
CONSTANT_PREDICTION = Undefined(
    "the prediction is the same in every row", lambda sums: sums.has("prediction") and sums.spread("p") == 0
)
NO_BASELINE = Undefined(
    "parts were counted about different means; count them with the same baseline", lambda sums: sums.constant is None
)
NOTHING_TO_COMPARE = Undefined(
    "neither the predictions nor the baseline are ever wrong",
    lambda sums: (sums.sum_of(a=1) == 0) & (sums.baseline_squares == 0),
)
ZERO_TRUTHS = Undefined(
    "the truth is 0 in {zeros} of the rows, and nothing is a share of 0", lambda sums: bool(sums.zeros)
)
NO_LOGARITHM = Undefined("a truth or a prediction is −1 or less", lambda sums: np.isnan(sums.squared_logs))


def needs_parts(part: str) -> Undefined:
    """The reason for a tally without a part that only some figures need."""
    return Undefined(f"the tally was counted without its part {part!r}", lambda sums: not sums.has(part))


NO_SIZES = Undefined(
    "the tally was counted without its part 'rows'", lambda sums: sums.rows is None and sums.sizes is None
)


@metric(
    loss=lambda t, p: np.abs(t - p),
    question="How far off is a prediction on average, in the unit of the target?",
    formula="sum(abs(t - p) for t, p in rows) / n",
    aliases=("mae",),
    laws=("mean_absolute_error <= root_mean_squared_error", "abs(mean_error) <= mean_absolute_error"),
    pitfall="In the unit of the target: says little without its baseline, nothing between targets.",
    reference="Willmott & Matsuura (2005), Climate Research 30",
    headline=True,
)
def mean_absolute_error(s: ErrorSums) -> Number:
    return ratio(s.sum_of(a=1), s.total)


@metric(
    loss=lambda t, p: (t - p) ** 2,
    question="How large is the squared error on average?",
    formula="sum((t - p)**2 for t, p in rows) / n",
    baseline=SQUARES,
    aliases=("mse",),
    laws=("mean_squared_error == root_mean_squared_error**2",),
    pitfall="A few outliers decide it; compare its root with the mean absolute error.",
    reference="Gauss (1821), Theoria combinationis observationum",
)
def mean_squared_error(s: ErrorSums) -> Number:
    return ratio(s.sum_of(e=2), s.total)


@metric(
    loss=lambda t, p: (t - p) ** 2,
    root=True,
    question="How large is a typical error when large ones count more, in the unit of the target?",
    formula="sqrt(sum((t - p)**2 for t, p in rows) / n)",
    baseline=replace(SQUARES, value=lambda metric, sums: root(sums.baseline_squares / sums.moments[0, 0, 0, 0])),
    aliases=("rmse",),
    laws=("root_mean_squared_error <= max_error",),
    pitfall="A few outliers decide it: it is not the typical error, which the median tells.",
    reference="Willmott & Matsuura (2005), Climate Research 30",
    headline=True,
)
def root_mean_squared_error(s: ErrorSums) -> Number:
    return root(s.mean(e=2))


@metric(
    question="How large is the error that half of the predictions stay below?",
    formula="median([abs(t - p) for t, p in rows])",
    interval="median",
    parts=("rows",),
    undefined=(NO_SIZES,),
    aliases=("medae", "mad"),
    laws=("median_absolute_error <= max_error",),
    pitfall="Blind to the worse half of the errors.",
    reference="Hampel (1974), JASA 69",
)
def median_absolute_error(s: ErrorSums) -> Number:
    return s.median


@metric(
    question="How large is the worst error?",
    formula="max(abs(t - p) for t, p in rows)",
    parts=("largest",),
    no_interval="it is the largest of these rows, and more rows bring larger ones",
    pitfall="Grows with the number of rows.",
    reference="Powell (1981), Approximation Theory and Methods",
    headline=True,
)
def max_error(s: ErrorSums) -> Number:
    return s.largest


@metric(
    loss=lambda t, p: t - p,
    question="Are the predictions too low (above 0) or too high (below 0) on average?",
    formula="sum(t - p for t, p in rows) / n",
    range=(-math.inf, math.inf),
    better="neither",
    baseline=NOTHING,
    aliases=("bias",),
    pitfall="Errors that cancel leave 0: right on average can be wrong every time.",
    reference="Hyndman & Koehler (2006), International Journal of Forecasting 22",
    headline=True,
)
def mean_error(s: ErrorSums) -> Number:
    return ratio(s.sum_of(e=1), s.total)


@metric(
    question="How closely do predictions and truth follow a straight line?",
    formula="covariance(truths, predictions) / sqrt(covariance(truths, truths) * covariance(predictions, predictions))",
    parts=("prediction",),
    range=(-1, 1),
    better="higher",
    baseline=ZERO,
    undefined=(needs_parts("prediction"), CONSTANT_TRUTH, CONSTANT_PREDICTION),
    aliases=("pearson_r", "correlation"),
    laws=("r2 <= pearson**2",),
    pitfall="Blind to shift and scale: predictions that are all ten times too large have r = 1. Read it beside r2.",
    reference="Pearson (1895), Proceedings of the Royal Society of London 58",
    headline=True,
)
def pearson(s: ErrorSums) -> Number:
    both, t, p = s.spread("t", "p"), s.spread("t"), s.spread("p")
    r = ratio(both, root(t) * root(p)) if s.leading else root_ratio(both, t * p)  # no float may hold their product
    return np.clip(r, -1.0, 1.0)[()]  # the sums are rounded, each by itself


@metric(
    question="How much of the squared error is avoided, compared with always predicting the mean?",
    formula="1 - sum((t - p)**2 for t, p in rows) / (sum(t**2 for t in truths) - sum(truths)**2 / n)",
    range=(-math.inf, 1),
    better="higher",
    baseline=NOTHING,
    undefined=(CONSTANT_TRUTH,),
    aliases=("r_squared", "coefficient_of_determination"),
    laws=("r2 <= explained_variance",),
    pitfall="Can be negative: worse than the mean. r = 0.7 explains about twice the variance of r = 0.5, while "
    "r2 = 0.7 is 1.4 times r2 = 0.5.",
    reference="Kvålseth (1985), The American Statistician 39",
    headline=True,
)
def r2(s: ErrorSums) -> Number:
    spread = s.spread("t")
    return ratio(spread - s.sum_of(e=2), spread)


@metric(
    question="What part of the spread of the truth do the predictions explain, ignoring a constant shift?",
    formula="1 - covariance(errors, errors) / covariance(truths, truths)",
    range=(-math.inf, 1),
    better="higher",
    baseline=NOTHING,
    undefined=(CONSTANT_TRUTH,),
    laws=("explained_variance <= pearson**2",),
    pitfall="Forgives a constant shift: predictions that are all 100 too high can score 1. r2 does not.",
    reference="Kvålseth (1985), The American Statistician 39",
)
def explained_variance(s: ErrorSums) -> Number:
    return ratio(s.spread("t") - s.spread("e"), s.spread("t"))


@metric(
    question="What part of the absolute error of the baseline is left? (below 1 is useful)",
    formula="sum(abs(t - p) for t, p in rows) / sum(abs(t - b) for t, p in rows)",
    parts=("baseline",),
    baseline=ONE,
    undefined=(NO_BASELINE, NOTHING_TO_COMPARE),
    aliases=("rae",),
    pitfall="Easy to lower where the truth varies much: not to be compared between data sets.",
    reference="Witten & Frank, Data Mining (Weka); the baseline may be a training mean",
)
def relative_absolute_error(s: ErrorSums) -> Number:
    return ratio(s.sum_of(a=1), s.constant.sum_of(a=1)) if s.constant else math.nan


@metric(
    question="What part of the root squared error of the baseline is left? (below 1 is useful)",
    formula="sqrt(sum((t - p)**2 for t, p in rows) / sum((t - b)**2 for t, p in rows))",
    parts=("baseline",),
    baseline=ONE,
    undefined=(NOTHING_TO_COMPARE,),
    aliases=("rrse",),
    pitfall="A few outliers decide it; easy to lower where the truth varies much.",
    reference="Witten & Frank, Data Mining (Weka); the baseline may be a training mean",
)
def root_relative_squared_error(s: ErrorSums) -> Number:
    ours, theirs = s.sum_of(e=2), s.baseline_squares
    return root(ours / theirs) if np.all(theirs) else ratio(ours, theirs)


@metric(
    loss=lambda t, p: terms_of(t, p)["logs"],
    question="How far off are predictions by their order of magnitude?",
    formula="sum((log(1 + t) - log(1 + p))**2 for t, p in rows) / n",
    parts=("logs",),
    undefined=(needs_parts("logs"), NO_LOGARITHM),
    aliases=("msle",),
    pitfall="Too low by some amount costs more than too high by the same amount.",
    reference="Tofallis (2015), Journal of the Operational Research Society 66",
)
def mean_squared_log_error(s: ErrorSums) -> Number:
    return ratio(s.squared_logs, s.total)


@metric(
    loss=lambda t, p: terms_of(t, p)["share"],
    question="How large is the error relative to the truth, on average?",
    formula="sum(abs(t - p) / abs(t) for t, p in rows) / n",
    parts=("percentages",),
    undefined=(needs_parts("percentages"), ZERO_TRUTHS),
    aliases=("mape",),
    pitfall="A share, not per cent. A truth near 0 makes it huge, and it forgives predicting too low.",
    reference="Hyndman & Koehler (2006), International Journal of Forecasting 22",
)
def mean_absolute_percentage_error(s: ErrorSums) -> Number:
    return ratio(s.percentages, s.total)


@metric(
    loss=lambda t, p, alpha: np.maximum(alpha * (t - p), (alpha - 1) * (t - p)),
    question="How large is the loss of a predicted quantile, here the alpha-quantile?",
    formula="sum(max(alpha * (t - p), (alpha - 1) * (t - p)) for t, p in rows) / n",
    aliases=("quantile_loss",),
    pitfall="Judges one quantile; at alpha = 0.5 it is half the absolute error.",
    reference="Koenker & Bassett (1978), Econometrica 46",
)
def pinball(s: ErrorSums, *, alpha: Annotated[float, SHARE] = 0.5) -> Number:
    tilt = 2 * alpha - 1 if s.leading else 2 * Fraction(alpha) - 1
    return ratio(s.sum_of(a=1) + tilt * s.sum_of(e=1), 2 * s.total)
