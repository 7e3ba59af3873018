"""Errors of predicted numbers, by scikit-learn's names and conventions; several outputs are evaluated one by one."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Literal

import numpy as np

from stakes.errors import Given, InputError
from stakes.metrics import Metric, find
from stakes.metrics.counts import deviance
from stakes.metrics.declare import CATALOGUE
from stakes.metrics.outputs import average_of_outputs
from stakes.sklearn.result import FloatWithInterval, Source, warn_undefined
from stakes.sklearn.targets import as_array, as_numbers, float_weights, negative_weights, same_length, warn_of_indexes
from stakes.tallies import ErrorSums, OutputSums
from stakes.tallies.arithmetic import Array, Values
from stakes.tallies.parallel import run_all

Multioutput = Literal["raw_values", "uniform_average", "variance_weighted"] | Sequence[float] | Array

_BLOCK, _SPAN = 3 << 12, 1 << 18
"""Rows whose temporaries stay in the cache and below 128 KiB, from where on the system is asked for memory each time;
and those that a thread works on at a time."""

_NO_OPTIONS = {"positive": None, "classes": None, "baseline": None}
_SEVERAL = "the outputs are weighted by hand, of which no interval is known"
_MAE, _MSE, _RMSE, _MEDIAN, _MAX = map(
    find, ["mean_absolute_error", "mean_squared_error", "root_mean_squared_error", "median_absolute_error", "max_error"]
)
_LOGS, _SHARES, _PINBALL, _R2, _EXPLAINED = map(
    find, ["mean_squared_log_error", "mean_absolute_percentage_error", "pinball", "r2", "explained_variance"]
)


@dataclass(frozen=True, eq=False)
class Numbers:
    """Truth and predictions, a column for each output, and weights of the rows."""

    truth: Array
    predicted: Array
    weight: Array | None
    positive_weight: bool

    @property
    def outputs(self) -> list["Numbers"]:
        """Each output by itself."""
        if self.truth.ndim == 1:
            return [self]
        columns = zip(self.truth.T, self.predicted.T, strict=True)
        return [replace(self, truth=np.ascontiguousarray(t), predicted=np.ascontiguousarray(p)) for t, p in columns]

    def instead(self, constant: float) -> "Numbers":
        """Return the same with one prediction for all."""
        return replace(self, predicted=np.broadcast_to(np.float64(constant), self.truth.shape))

    def figure(self, metric: Metric) -> float:
        """A declared figure of a single output; means over rows allow weights below 0, as scikit-learn does."""
        if metric.plain_mean and (metric.parts == ("rows",) or not self.positive_weight):
            return self.mean_of(metric.row_losses)
        if not self.positive_weight:
            raise negative_weights()
        columns = self.truth, self.predicted[:]  # one column that stands for both is no mistake here
        found, _ = metric.of_rows(columns, {**_NO_OPTIONS, "weight": self.weight})
        return float(found)

    def mean_of(self, loss: Callable[[Array, Array], Array]) -> float:
        """The mean of what each row adds by its truth and prediction, in blocks that stay in the processor's cache."""

        def add_up(rows: slice) -> float:
            lost = loss(*(one[rows].astype(np.float64, copy=False) for one in (self.truth, self.predicted)))
            return float(lost.sum() if self.weight is None else lost @ self.weight[rows])

        total = len(self.truth) if self.weight is None else float(self.weight.sum())
        return math.fsum(self._each_block(add_up)) / total

    def largest(self) -> float:
        """The largest |error|."""

        def find_largest(rows: slice) -> float:
            errors = np.subtract(self.truth[rows], self.predicted[rows], dtype=np.float64)
            return float(np.maximum(errors.max(), -errors.min()))  # which is NaN if one is

        return max(self._each_block(find_largest))

    def _each_block(self, work: Callable[[slice], float]) -> list[float]:
        """What is worked out of each block of rows; a thread takes a span of them at a time."""
        size = len(self.truth)

        def of_span(first: int) -> list[float]:
            starts = range(first, min(first + _SPAN, size), _BLOCK)
            return [work(slice(start, start + _BLOCK)) for start in starts]

        spans = run_all([partial(of_span, first) for first in range(0, size, _SPAN)], size)
        found = [one for span in spans for one in span]
        if not math.isfinite(math.fsum(found)) and not all(np.isfinite(c).all() for c in (self.truth, self.predicted)):
            raise InputError(
                "not-finite-numbers", "y_true or y_pred holds NaN or infinite values; leave these rows out"
            )
        return found

    def source_of_all(self, metric: Metric, how: str) -> Source:
        """The same of an average over the outputs."""
        average = average_of_outputs(metric.name, how).with_parameters(**metric.parameters)
        names = tuple(map(str, range(self.truth.shape[1])))
        return lambda: (average, OutputSums.from_rows(names, *self._counting))

    def source(self, metric: Metric) -> Source:
        """What the interval of a figure is made from: rows are counted again with all that it takes."""
        return lambda: (metric, ErrorSums.from_rows(*self._counting))

    @property
    def _counting(self) -> tuple[Array, Array, Array | None]:
        """Truth, predictions and weights of the rows that weigh anything."""
        if self.weight is None:
            return self.truth, self.predicted, None
        if not self.positive_weight:
            raise negative_weights()
        held = self.weight > 0
        return self.truth[held], self.predicted[held], self.weight[held]


def _read(y_true: Values, y_pred: Values, sample_weight: Values) -> Numbers:
    if sample_weight is None and _plain(y_true, y_pred):
        return Numbers(y_true, y_pred, None, True)  # whether all are finite is seen when they are added up
    truth, predicted = (_columns(name, one) for name, one in (("y_true", y_true), ("y_pred", y_pred)))
    same_length(y_true=truth, y_pred=predicted, sample_weight=sample_weight)
    warn_of_indexes(y_true, y_pred)
    if truth.shape != predicted.shape:
        sizes = [1 if one.ndim == 1 else one.shape[1] for one in (truth, predicted)]
        raise InputError(
            "different-shapes-of-numbers", f"y_true and y_pred have different number of output ({sizes[0]}!={sizes[1]})"
        )
    weight = float_weights(sample_weight, len(truth))
    return Numbers(truth, predicted, weight, weight is None or bool((weight >= 0).all()))


def _plain(truth: Values, predicted: Values) -> bool:
    """Whether these are two columns of floats, as they usually are."""
    if type(truth) is not np.ndarray or type(predicted) is not np.ndarray or not truth.size:
        return False
    return truth.ndim == 1 and truth.shape == predicted.shape and truth.dtype.kind == predicted.dtype.kind == "f"


def _columns(name: str, values: Values) -> Array:
    array = as_array(name, values)
    if array.ndim not in (1, 2):
        raise InputError("not-columns", f"{name} has {array.ndim} dimensions; give one column, or one for each output")
    array = as_numbers(name, array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array)
    return array.astype(np.float64) if array.dtype.kind == "b" else array


def _over_outputs(
    rows: Numbers, metric: Metric, multioutput: Multioutput, of: Callable[[Numbers], float] | None = None
) -> FloatWithInterval | Array:
    """A figure of each output, or their mean."""
    _check_multioutput(rows, multioutput)
    each = [of(one) if of else one.figure(metric) for one in rows.outputs]
    if isinstance(multioutput, str) and multioutput == "raw_values":
        return np.array(each)
    if len(each) == 1:
        return FloatWithInterval(each[0], rows.source(metric))
    weight = None if isinstance(multioutput, str) else np.asarray(multioutput)
    value = float(np.average(each, weights=weight))
    if weight is not None or metric.name not in CATALOGUE or not rows.positive_weight:
        return FloatWithInterval(value, why_none=_SEVERAL)
    return FloatWithInterval(value, rows.source_of_all(metric, "uniform"))


def _check_multioutput(rows: Numbers, multioutput: Multioutput, more: tuple[str, ...] = ()) -> None:
    known = ("raw_values", "uniform_average", *more)
    if isinstance(multioutput, str):
        if multioutput not in known:
            raise InputError(
                "bad-multioutput", Given("multioutput", multioutput), f" is not known; give one of {known}"
            )
        return
    if multioutput is None:
        raise InputError(
            "bad-multioutput", Given("multioutput", None), f" is not known; give one of {known}, or weights"
        )
    size = 1 if rows.truth.ndim == 1 else rows.truth.shape[1]
    if size == 1:
        raise InputError(
            "weights-of-one-output", "Custom weights are useful only in multi-output cases; leave them out"
        )
    if len(multioutput) != size or not sum(multioutput):
        words = f"multioutput has {len(multioutput)} weights for {size} outputs, which sum to {sum(multioutput)}"
        raise InputError("bad-multioutput", f"{words}; give one for each, not all 0")


def mean_absolute_error(
    y_true: Values, y_pred: Values, *, sample_weight: Values = None, multioutput: Multioutput = "uniform_average"
) -> FloatWithInterval | Array:
    """Return how far predictions are off on average."""
    return _over_outputs(_read(y_true, y_pred, sample_weight), _MAE, multioutput)


def mean_squared_error(
    y_true: Values, y_pred: Values, *, sample_weight: Values = None, multioutput: Multioutput = "uniform_average"
) -> FloatWithInterval | Array:
    """Return the mean of the squared errors."""
    return _over_outputs(_read(y_true, y_pred, sample_weight), _MSE, multioutput)


def root_mean_squared_error(
    y_true: Values, y_pred: Values, *, sample_weight: Values = None, multioutput: Multioutput = "uniform_average"
) -> FloatWithInterval | Array:
    """Return the root of the mean of the squared errors."""
    return _over_outputs(_read(y_true, y_pred, sample_weight), _RMSE, multioutput)


def median_absolute_error(
    y_true: Values, y_pred: Values, *, multioutput: Multioutput = "uniform_average", sample_weight: Values = None
) -> FloatWithInterval | Array:
    """Return the error that half of the predictions stay below."""
    return _over_outputs(_read(y_true, y_pred, sample_weight), _MEDIAN, multioutput)


def mean_pinball_loss(
    y_true: Values,
    y_pred: Values,
    *,
    sample_weight: Values = None,
    alpha: float = 0.5,
    multioutput: Multioutput = "uniform_average",
) -> FloatWithInterval | Array:
    """Return the loss of a predicted quantile."""
    return _over_outputs(_read(y_true, y_pred, sample_weight), _pinball(alpha), multioutput)


def _pinball(alpha: float) -> Metric:
    if not isinstance(alpha, int | float | np.number) or not 0 <= alpha <= 1:
        raise InputError("bad-quantile", Given("alpha", alpha), " is not between 0 and 1; ½ is usual")
    if alpha:
        return _PINBALL.with_parameters(alpha=float(alpha))
    return mean_of_rows("pinball", lambda t, p: np.maximum(p - t, 0.0))  # the smallest value, as a quantile


def mean_of_rows(name: str, loss: Callable[[Array, Array], Array]) -> Metric:
    """A figure that is the mean of what each row adds."""
    plain = replace(_PINBALL, name=name, parts=("rows",), defaults={}, kinds={}, parameters={})
    return replace(plain, loss=loss, function=lambda sums: sums.mean_of(loss))


def mean_absolute_percentage_error(
    y_true: Values,
    y_pred: Values,
    *,
    sample_weight: Values = None,
    multioutput: Multioutput = "uniform_average",
    strict: bool = False,
) -> FloatWithInterval | Array:
    """Return the mean error as a share of the truth; one of 0 is read as 2.2e-16, with ``strict`` it is undefined."""

    def share(rows: Numbers) -> float:
        return math.nan if strict and not rows.truth.all() else rows.mean_of(_share_of_truth)

    return _over_outputs(_read(y_true, y_pred, sample_weight), _SHARES, multioutput, share)


def _share_of_truth(t: Array, p: Array) -> Array:
    found, size = t - p, np.abs(t)
    np.abs(found, out=found)
    np.maximum(size, np.finfo(np.float64).eps, out=size)
    return np.asarray(np.divide(found, size, out=found))


def mean_squared_log_error(
    y_true: Values, y_pred: Values, *, sample_weight: Values = None, multioutput: Multioutput = "uniform_average"
) -> FloatWithInterval | Array:
    """Return the mean squared difference of the logarithms of 1 + truth and 1 + prediction."""
    rows = _with_logarithms(y_true, y_pred, sample_weight)
    return _over_outputs(rows, _LOGS, multioutput, lambda one: one.mean_of(_squared_log))


def root_mean_squared_log_error(
    y_true: Values, y_pred: Values, *, sample_weight: Values = None, multioutput: Multioutput = "uniform_average"
) -> FloatWithInterval | Array:
    """Return the root of it."""
    rows = _with_logarithms(y_true, y_pred, sample_weight)
    found = _over_outputs(rows, _LOGS, multioutput, lambda one: math.sqrt(one.mean_of(_squared_log)))
    if not isinstance(found, FloatWithInterval):
        return found
    if rows.truth.ndim == 1:
        return FloatWithInterval(found, rows.source(_LOGS), math.sqrt)
    return FloatWithInterval(found, why_none="no interval is known of a mean of roots")


def _squared_log(t: Array, p: Array) -> Array:
    """(log(1 + t) − log(1 + p))², by one logarithm."""
    return np.asarray(np.log1p((t - p) / (1 + p)) ** 2)


def _with_logarithms(y_true: Values, y_pred: Values, sample_weight: Values) -> Numbers:
    rows = _read(y_true, y_pred, sample_weight)
    if rows.truth.min() <= -1 or rows.predicted.min() <= -1:
        raise InputError(
            "no-logarithm", "y_true or y_pred holds values of -1 or less, which have no logarithm of 1 + y"
        )
    return rows


def max_error(y_true: Values, y_pred: Values) -> FloatWithInterval:
    """Return the largest error."""
    rows = _one_output(_read(y_true, y_pred, None), "max_error")
    return FloatWithInterval(rows.largest(), rows.source(_MAX))


def _one_output(rows: Numbers, name: str) -> Numbers:
    if rows.truth.ndim == 2:
        raise InputError("several-outputs", f"Multioutput not supported in {name}; give one column")
    return rows


# ── shares of what a constant leaves ─────────────────────────────────────────────────────────────────────────────
def r2_score(
    y_true: Values,
    y_pred: Values,
    *,
    sample_weight: Values = None,
    multioutput: Multioutput | None = "uniform_average",
    force_finite: bool = True,
    strict: bool = False,
) -> FloatWithInterval | Array:
    """Return how much of the squared error of the mean is avoided."""
    rows = _read(y_true, y_pred, sample_weight)
    return _explained(rows, _R2, multioutput, force_finite and not strict, few="R^2", mean_errors=False)


def explained_variance_score(
    y_true: Values,
    y_pred: Values,
    *,
    sample_weight: Values = None,
    multioutput: Multioutput = "uniform_average",
    force_finite: bool = True,
    strict: bool = False,
) -> FloatWithInterval | Array:
    """Return how much of the spread of the truth is explained, a constant shift aside."""
    rows = _read(y_true, y_pred, sample_weight)
    return _explained(rows, _EXPLAINED, multioutput, force_finite and not strict, few="", mean_errors=True)


def _explained(
    rows: Numbers, metric: Metric, multioutput: Multioutput | None, force_finite: bool, few: str, mean_errors: bool
) -> FloatWithInterval | Array:
    if few and len(rows.truth) < 2:
        warn_undefined(f"{few} score is not well-defined with less than two samples.")
        return FloatWithInterval(math.nan, rows.source(metric))
    multioutput = "uniform_average" if multioutput is None else multioutput
    _check_multioutput(rows, multioutput, ("variance_weighted",))

    def share(one: Numbers) -> float:
        value = one.figure(metric)
        if not math.isnan(value):
            return value
        errors = one.truth - one.predicted
        errors = errors if one.weight is None else errors[one.weight != 0]
        right = not (errors - errors[0] if mean_errors else errors).any()
        if force_finite:
            return float(right)
        return math.nan if right else -math.inf

    if not isinstance(multioutput, str) or multioutput != "variance_weighted":
        return _over_outputs(rows, metric, multioutput, share)
    spread = [
        float(np.average((o.truth - np.average(o.truth, weights=o.weight)) ** 2, weights=o.weight))
        for o in rows.outputs
    ]
    found = _over_outputs(rows, metric, spread if len(spread) > 1 and any(spread) else "uniform_average", share)
    if len(spread) == 1 or not any(spread) or not rows.positive_weight:
        return found
    return FloatWithInterval(float(found), rows.source_of_all(metric, "variance_weighted"))


def d2_pinball_score(
    y_true: Values,
    y_pred: Values,
    *,
    sample_weight: Values = None,
    alpha: float = 0.5,
    multioutput: Multioutput = "uniform_average",
) -> FloatWithInterval | Array:
    """Return how much of the loss of the best constant quantile is avoided."""
    metric, rows = _pinball(alpha), _read(y_true, y_pred, sample_weight)

    def share(one: Numbers) -> float:
        return _of_constant(
            one.mean_of(metric.row_losses),
            one.instead(_quantile(one.truth, one.weight, alpha)).mean_of(metric.row_losses),
        )

    return _skill(rows, metric, multioutput, share)


def d2_absolute_error_score(
    y_true: Values, y_pred: Values, *, sample_weight: Values = None, multioutput: Multioutput = "uniform_average"
) -> FloatWithInterval | Array:
    """Return how much of the absolute error of the median is avoided."""
    return d2_pinball_score(y_true, y_pred, sample_weight=sample_weight, multioutput=multioutput)


def _of_constant(lost: float, by_constant: float) -> float:
    if not by_constant:
        return float(not lost)
    return 1 - lost / by_constant


def _quantile(values: Array, weight: Array | None, alpha: float) -> float:
    """The mean of the lowest and the highest value that can be called the alpha-quantile."""
    if weight is None:
        place = alpha * len(values)
        high = min(int(place + 1e-9), len(values) - 1)
        low = high - 1 if high and abs(place - round(place)) < 1e-9 and place < len(values) else high
        some = np.partition(values, (low, high))
        return (float(some[low]) + float(some[high])) / 2
    if weight.min() < 0:
        raise negative_weights()
    order = np.argsort(values, kind="stable")
    unit = weight[order]
    some = unit > 0
    ranked, reached = values[order][some], np.cumsum(unit[some])
    wanted = alpha * reached[-1]
    near = 4 * np.finfo(np.float64).eps * reached[-1]
    low = ranked[min(int(np.searchsorted(reached, wanted - near)), len(ranked) - 1)]
    high = ranked[min(int(np.searchsorted(reached, wanted + near, "right")), len(ranked) - 1)]
    return float(low + high) / 2 if alpha else float(ranked[0])


def _skill(
    rows: Numbers, metric: Metric, multioutput: Multioutput, share: Callable[[Numbers], float]
) -> FloatWithInterval | Array:
    if len(rows.truth) < 2:
        warn_undefined("D^2 score is not well-defined with less than two samples.")
        return FloatWithInterval(math.nan, why_none="there are fewer than two rows")
    found = _over_outputs(rows, metric, multioutput, share)
    if not isinstance(found, FloatWithInterval) or not found.has_source:
        return found
    return FloatWithInterval(float(found), why_none="the constant that it is compared with comes from the same rows")


# ── deviances ────────────────────────────────────────────────────────────────────────────────────────────────────
def mean_tweedie_deviance(
    y_true: Values, y_pred: Values, *, sample_weight: Values = None, power: float = 0
) -> FloatWithInterval:
    """Return the mean deviance of a Tweedie law: 0 is normal, 1 Poisson, 2 gamma, 3 inverse Gaussian."""
    rows = _one_output(_read(y_true, y_pred, sample_weight), "mean_tweedie_deviance")
    metric = _tweedie(power, rows)
    return FloatWithInterval(rows.figure(metric), rows.source(metric))


def mean_poisson_deviance(y_true: Values, y_pred: Values, *, sample_weight: Values = None) -> FloatWithInterval:
    """Return the mean deviance of counts."""
    return mean_tweedie_deviance(y_true, y_pred, sample_weight=sample_weight, power=1)


def mean_gamma_deviance(y_true: Values, y_pred: Values, *, sample_weight: Values = None) -> FloatWithInterval:
    """Return the mean deviance of positive amounts."""
    return mean_tweedie_deviance(y_true, y_pred, sample_weight=sample_weight, power=2)


def d2_tweedie_score(
    y_true: Values, y_pred: Values, *, sample_weight: Values = None, power: float = 0
) -> FloatWithInterval | Array:
    """Return how much of the deviance of the mean is avoided."""
    rows = _one_output(_read(y_true, y_pred, sample_weight), "d2_tweedie_score")
    metric = _tweedie(power, rows) if len(rows.truth) > 1 else _MSE
    if metric is _MSE and len(rows.truth) > 1:
        value = rows.figure(_R2)
        value = 1 - _quotient(rows.figure(_MSE), 0.0) if math.isnan(value) else value
        return FloatWithInterval(value, rows.source(_R2))

    def share(one: Numbers) -> float:
        mean = float(np.average(one.truth, weights=one.weight))
        return 1 - _quotient(one.figure(metric), one.instead(mean).mean_of(metric.row_losses))

    found = _skill(rows, metric, "uniform_average", share)
    if power < 1 or len(rows.truth) < 2 or not rows.positive_weight:
        return found
    return FloatWithInterval(float(found), rows.source(find("d2_tweedie").with_parameters(power=float(power))))


def _quotient(one: float, other: float) -> float:
    return one / other if other else math.nan if not one else math.inf


def _tweedie(power: float, rows: Numbers) -> Metric:
    """The deviance as a declared figure; refuses numbers that the law does not have."""
    if not isinstance(power, int | float | np.number) or 0 < power < 1:
        raise InputError("bad-power", Given("power", power), " is no Tweedie law; give 0, 1, 2, or another from 1 on")
    if power == 0:
        return _MSE
    least_truth, least = rows.truth.min(), rows.predicted.min()
    if least <= 0 or (power >= 1 and least_truth < 0) or (power >= 2 and least_truth <= 0):
        truths = "" if power < 0 else "non-negative y and " if power < 2 else "strictly positive y and "
        text = f" can only be used on {truths}strictly positive y_pred"
        raise InputError("no-deviance", "the deviance with ", Given("power", power), text)
    return _deviance(float(power))


@lru_cache
def _deviance(power: float) -> Metric:
    return mean_of_rows("tweedie_deviance", partial(deviance, power=power))
