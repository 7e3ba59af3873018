"""No worse than a baseline: the bad end of the interval of a difference stays within a margin."""

import math
from collections.abc import Mapping
from typing import Any

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
from stakes.tallies.arithmetic import is_real
from stakes.tallies.checks import as_list
from stakes.uncertainty.two_samples import Side, mover

MOVER = "put together from the intervals of both (MOVER), as of different rows"


def margins(no_worse: Any) -> dict[Figure, float]:
    """Read which figures may be how much worse: a dictionary, or texts such as ``auc:0.02``."""
    if no_worse is None:
        return {}
    texts = [no_worse] if isinstance(no_worse, str) else as_list(no_worse)
    if texts is None:
        raise errors.bad_no_worse(no_worse, None)
    pairs = no_worse.items() if isinstance(no_worse, Mapping) else map(_taken_apart, texts)
    return {_figure(name): _margin(name, margin) for name, margin in pairs}


def _figure(name: Any) -> Figure:
    return Figure(*map(str, name)) if isinstance(name, tuple) and len(name) == 2 else Figure.parse(str(name))


def _taken_apart(text: Any) -> tuple[str, Any]:
    name, colon, margin = str(text).rpartition(":")
    if not colon:
        return str(text), None
    try:
        return name, float(margin)
    except ValueError:
        return name, margin


def _margin(name: Any, margin: Any) -> float:
    if not is_real(margin) or not 0 <= margin < math.inf:
        raise errors.bad_no_worse(name, margin)
    return float(margin)


def check_no_worse(figure: Figure, margin: float, evaluation: Evaluation, baseline: Any) -> Check:
    """Ask whether the interval shows that a figure is not worse than the baseline's by more than the margin."""
    place = evaluation._place_of(str(figure) if figure.of is None else (figure.name, figure.of))
    metric = place[0]
    if metric.better == "neither":
        raise errors.no_direction(metric.text)
    difference = _difference(figure, metric, evaluation, baseline)
    text = f"{figure} at most {margin:g} worse"
    reason = _why_unknown(difference)
    if reason:
        return Check("no_worse", text, False, None, margin, difference, reason)
    bad_end: Any = difference.low if metric.better == "higher" else difference.high
    worse_by = -bad_end if metric.better == "higher" else bad_end
    return Check("no_worse", text, worse_by <= margin, bad_end, margin, difference)


def _why_unknown(difference: Estimate) -> str:
    if not difference.defined:
        return difference.reason
    return f"there is no interval: {difference.no_interval}" if difference.low is None else ""


def _difference(figure: Figure, metric: Metric, evaluation: Evaluation, baseline: Any) -> Estimate:
    """This model minus the baseline: on shared rows where they are known, otherwise from the two intervals."""
    if isinstance(baseline, Comparison):
        first, second = baseline.models.values()
        _same_model(figure, evaluation, first)
        if figure.of is None and _has_rows(metric, baseline):
            return _paired(metric, baseline)
        baseline = second
    return _unpaired(figure, figure.in_(evaluation), figure.in_(baseline), evaluation.rows, baseline.rows)


def _same_model(figure: Figure, evaluation: Evaluation, first: Evaluation) -> None:
    """A comparison whose first model is another one, or has other rows, says nothing about this evaluation."""
    one, other = figure.in_(evaluation).value, figure.in_(first).value
    if one != other and not (math.isnan(one) and math.isnan(other)):
        raise InputError(
            "another-model",
            f"baseline: its first model has {figure!s} {other:.6g} but this evaluation {one:.6g}; compare this "
            "model, on these rows, with the baseline",
        )


def _has_rows(metric: Metric, comparison: Comparison) -> bool:
    """Whether the rows tell what this figure judges."""
    return all(model.output(metric) is not None for model in comparison.contestants)


def _paired(metric: Metric, comparison: Comparison) -> Estimate:
    pair = pair_of(comparison, metric)
    name = f"{metric.text} minus the baseline's"
    if not math.isfinite(pair.difference):
        return Estimate(name, math.nan, reason=pair.note, confidence=comparison.confidence)
    ends = {"low": pair.low, "high": pair.high, "no_interval": pair.note if pair.low is None else ""}
    note = pair.note if pair.low is not None else ""
    how = {"confidence": comparison.confidence, "method": pair.method, "note": note}
    return Estimate(name, pair.difference, **ends, **how)  # type: ignore[arg-type]


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
