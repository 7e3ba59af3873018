"""No worse than a baseline: the bad end of the interval of a difference stays within a margin."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from stakes import errors
from stakes.errors import InputError, Pass
from stakes.evaluation.base import Evaluation
from stakes.evaluation.comparing import pair_of
from stakes.evaluation.comparison import Comparison
from stakes.evaluation.gate.checks import Check
from stakes.evaluation.gate.conditions import Figure
from stakes.metrics import Estimate, Metric
from stakes.metrics.estimate import percent
from stakes.question.options import Value
from stakes.tallies.arithmetic import is_real
from stakes.tallies.checks import as_list
from stakes.uncertainty.two_samples import Side, mover

MOVER = "put together from the intervals of both (MOVER), as of different rows"


def margins(no_worse: Value) -> dict[Figure, float]:
    """Read which figures may be how much worse: a dictionary, or texts such as ``auc:0.02``."""
    if no_worse is None:
        return {}
    texts = [no_worse] if isinstance(no_worse, str) else as_list(no_worse)
    if texts is None:
        raise errors.bad_no_worse(no_worse, None)
    pairs = no_worse.items() if isinstance(no_worse, Mapping) else map(_take_apart, texts)
    return {_figure(name): _margin(name, margin) for name, margin in pairs}


def _figure(name: object) -> Figure:
    return Figure(*map(str, name)) if isinstance(name, tuple) and len(name) == 2 else Figure.parse(str(name))


def _take_apart(text: object) -> tuple[str, object]:
    name, colon, margin = str(text).rpartition(":")
    if not colon:
        raise errors.bad_no_worse(text, None)
    try:
        return name, float(margin)
    except ValueError:
        return name, margin


def _margin(name: object, margin: Value) -> float:
    if not is_real(margin) or not 0 <= margin < math.inf:
        raise errors.bad_no_worse(name, margin)
    return float(margin)


def warn_of_wide(figure: Figure, margin: float) -> None:
    """Warn of a margin that no two models can exceed."""
    low, high = figure.metric.range
    if margin >= high - low:
        errors.warn(
            "wide-margin",
            f"{figure!s} at most {margin:g} worse is met by every model: it is never below {low:g} or above {high:g}",
        )


_ROUNDING, _BINNED = 1e-12, 1e-3
"""Figures that differ by less are those of the same model on the same rows; the second where one of them is of bins."""


@dataclass(frozen=True, eq=False)
class Baseline:
    """The baseline of differences, and a description of it; a comparison knows the rows of both models."""

    evaluation: Evaluation
    words: str
    comparison: Comparison | None = None


def check_no_worse(figure: Figure, margin: float, evaluation: Evaluation, baseline: Baseline) -> Check:
    """Check whether the interval shows that a figure is not worse than the baseline's by more than the margin."""
    metric, _, _ = evaluation._place_of(str(figure) if figure.of is None else (figure.name, figure.of))
    if metric.better == "neither":
        raise errors.no_direction(metric.text)
    difference = _difference(figure, metric, evaluation, baseline)
    text = f"{figure} at most {margin:g} worse"
    bad_end, sign = (difference.low, -1) if metric.better == "higher" else (difference.high, 1)
    if bad_end is None or not difference.defined:
        reason = f"there is no interval: {difference.no_interval}" if difference.defined else difference.reason
        return Check("no_worse", text, False, None, margin, difference, reason)
    return Check("no_worse", text, sign * bad_end <= margin, bad_end, margin, difference)


def _difference(figure: Figure, metric: Metric, evaluation: Evaluation, baseline: Baseline) -> Estimate:
    """This model minus the baseline: on shared rows where they are known, otherwise from the two intervals."""
    other, compared = baseline.evaluation, baseline.comparison
    if compared is not None:
        _same_model(figure, evaluation, next(iter(compared.models.values())))
        if figure.of is None and all(model.output(metric) is not None for model in compared.contestants):
            return _paired(metric, compared)
    return _unpaired(figure, figure.in_(evaluation), figure.in_(other), evaluation.rows, other.rows)


def _same_model(figure: Figure, evaluation: Evaluation, first: Evaluation) -> None:
    """A comparison whose first model is another one, or has other rows, says nothing about this evaluation.

    The last digits may differ: an evaluation that was counted for a gate knows no sums that it does not need. Scores
    may lie in bins in one of the two, and be known in the other.
    """
    one, other = figure.in_(evaluation).value, figure.in_(first).value
    near = _ROUNDING if _in_bins(evaluation) == _in_bins(first) else _BINNED
    alike = math.isclose(one, other, rel_tol=near, abs_tol=near)
    if not alike and not (math.isnan(one) and math.isnan(other)):
        raise InputError(
            "another-model",
            f"baseline: its first model has {figure!s} {other:.6g} but this evaluation {one:.6g}; compare this "
            "model, on these rows, with the baseline",
        )


def _in_bins(evaluation: Evaluation) -> bool:
    counted = evaluation.counted
    return any(table is not None and any(table.grids) for table in (counted.scores, counted.class_scores))


def _paired(metric: Metric, comparison: Comparison) -> Estimate:
    pair = pair_of(comparison, metric)
    name = f"{metric.text} minus the baseline's"
    if not math.isfinite(pair.difference):
        return Estimate(name, math.nan, reason=pair.note, confidence=comparison.confidence)
    found = Estimate(name, pair.difference, confidence=comparison.confidence, method=pair.method)
    if pair.low is None:
        return replace(found, no_interval=pair.note)
    return replace(found, low=pair.low, high=pair.high, note=pair.note)


def _unpaired(figure: Figure, one: Estimate, other: Estimate, rows: float, other_rows: float) -> Estimate:
    name = f"{figure} minus the baseline's"
    if one.confidence != other.confidence:
        raise InputError(
            "different-confidences",
            f"baseline: its intervals are of {percent(other.confidence)}, these of {percent(one.confidence)}; "
            "evaluate both with one ",
            Pass("confidence"),
        )
    for words, estimate in (("", one), ("the baseline's ", other)):
        if not math.isfinite(estimate.value):
            reason = estimate.reason or "it is infinite"
            return Estimate(name, math.nan, reason=f"{words}{estimate.name} is undefined: {reason}")
    gap = one.value - other.value
    for words, estimate in (("", one), ("the baseline's ", other)):
        if estimate.low is None:
            return Estimate(name, gap, no_interval=f"{words}{estimate.name}: {estimate.no_interval}")
    found = mover(_side(one, rows), _side(other, other_rows), one.confidence)
    low, high = float(found.low[0]), float(found.high[0])
    if math.isnan(low):
        return Estimate(name, gap, no_interval="an end of an interval is infinite")
    return Estimate(name, gap, low=low, high=high, confidence=one.confidence, method=MOVER)


def _side(estimate: Estimate, rows: float) -> Side:
    return Side(*(np.array([number]) for number in (estimate.value, estimate.low, estimate.high, float(rows))))
