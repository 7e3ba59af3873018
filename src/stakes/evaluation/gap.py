"""ev.gap(): how far apart are the groups, at most, and could that be chance?"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from stakes import errors
from stakes.engines.anonymise import SMALL_SEGMENTS
from stakes.engines.plan import Counted
from stakes.engines.segments import parts_of
from stakes.errors import Given, InputError, some
from stakes.evaluation.by_segment import LEAST_ROWS
from stakes.language.narrated import Narrated
from stakes.metrics import Estimate
from stakes.metrics.agreement import accuracy
from stakes.metrics.rates import false_positive_rate, recall
from stakes.metrics.regression import mean_absolute_error
from stakes.metrics.usual import COMPARED
from stakes.question.options import Value
from stakes.records import Finite, Record
from stakes.results import Plottable
from stakes.tallies import CostSums, LabelSums, OutputSums, QuantileSums
from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.names import written_of_class
from stakes.uncertainty.changes import influences
from stakes.uncertainty.intervals import method_of
from stakes.uncertainty.sampling import student
from stakes.uncertainty.segments import ONE_ERROR, confidence_of_pairs, largest_gap
from stakes.uncertainty.two_samples import Side

if TYPE_CHECKING:
    from stakes.evaluation.base import Evaluation

TOGETHER: dict[str, tuple[str, ...]] = {"equalised_odds": (recall.name, false_positive_rate.name)}
"""Sets of figures whose largest gap counts: equalised odds mean that both are equal (Hardt et al., 2016)."""

USUAL = {
    "binary": "equalised_odds",
    "multiclass": accuracy.name,
    "regression": mean_absolute_error.name,
    "labels": COMPARED[LabelSums],
    "outputs": COMPARED[OutputSums],
    "quantiles": COMPARED[QuantileSums],
}
"""The figure by which the verdict on each task compares segments."""

_SIMULATED = ("cells", "costs", "relative costs")
"""Methods whose intervals are percentiles of draws."""

SPELLED = {"equalized_odds": "equalised_odds"}
"""Other spellings of these."""


@dataclass(frozen=True, eq=False)
class Gap(Record, Narrated, Plottable, stakes="gap", shown="* findings"):
    """The largest gap of a figure between groups.

    ``apart`` is the gap as it is in these rows, between the groups ``highest`` and ``lowest``; ``value`` is corrected
    for what noise alone adds to the largest of several gaps. The interval holds for all pairs of groups at once: where
    all are equal, ``low`` is above 0 in 5 % of the files at most. ``figure`` is the one of several that differs most.
    ``not_estimable`` says which groups could not be compared, and why.
    """

    metric: str
    value: float
    low: float | None
    high: float | None
    apart: float
    figure: str
    highest: str | None
    lowest: str | None
    groups: Mapping[str, Estimate]
    not_estimable: Mapping[str, str]
    confidence: Finite = 0.95
    reason: str = ""

    plotted_as = "gap"
    plots = ("groups",)

    @property
    def estimate(self) -> Estimate:
        """The gap as a figure with its interval, beside 0."""
        method = "all pairs of groups at once (Tukey's range)" if self.low is not None else ""
        apart = f"{self.apart:.4f} apart in these rows; {self.value:.4f} beyond chance" if self.low is not None else ""
        missing = f"not estimable: {some(list(self.not_estimable))}" if self.not_estimable else ""
        note = "; ".join(filter(None, (apart, missing)))
        return Estimate(
            f"gap({self.metric})",
            self.value,
            0.0,
            self.low,
            self.high,
            self.reason,
            self.confidence,
            method,
            self.reason,
            note,
        )

    def __float__(self) -> float:
        return self.value

    def to_rows(self) -> list[dict[str, object]]:
        """Return one flat dictionary per group, for a data frame."""
        known: list[dict[str, object]] = [
            {"group": name, "metric": one.name, "value": one.value, "low": one.low, "high": one.high, "reason": ""}
            for name, one in self.groups.items()
        ]
        unknown: dict[str, object] = {"metric": self.figure, "value": math.nan, "low": None, "high": None}
        return [*known, *({"group": name, **unknown, "reason": why} for name, why in self.not_estimable.items())]

    def __repr__(self) -> str:
        return f"<Gap of {self.metric} between {len(self.groups)} groups>"


def gap(evaluation: "Evaluation", name: Value = None, by: str | None = None) -> Gap:
    """Return the largest gap of a figure between the segments, or between the values of one of their columns."""
    name = evaluation._key_figure if name is None else name
    asked = SPELLED.get(name, name) if isinstance(name, str) else name
    names = TOGETHER.get(asked, (asked,)) if isinstance(asked, str) else (asked,)
    groups, confidence = groups_of(evaluation, by), evaluation.sampling.confidence
    found = [_gap_of(groups, one, 1 - (1 - confidence) / len(names)) for one in names]
    known = [one for one in found if one.highest is not None]
    if not known:
        return replace(found[0], metric=_text(asked), confidence=confidence)
    widest = max(known, key=lambda one: one.apart)
    value, low, high = (max(getattr(one, end) for one in known) for end in ("value", "low", "high"))
    missing = {group: why for one in found for group, why in one.not_estimable.items()}
    shown = {group: groups[group].interval(widest.figure) for group in widest.groups} if len(names) > 1 else None
    return replace(
        widest,
        metric=_text(asked),
        value=value,
        low=low,
        high=high,
        not_estimable=missing,
        confidence=confidence,
        groups=widest.groups if shown is None else shown,
    )


def _text(name: Value) -> str:
    return written_of_class(*name) if isinstance(name, tuple) else str(name)


def _gap_of(groups: Mapping[str, "Evaluation"], name: Value, confidence: float) -> Gap:
    """The largest gap of one figure, with limits of this confidence."""
    missing = {group: why for group, part in groups.items() if (why := _why_not(part, name))}
    kept = {group: part for group, part in groups.items() if group not in missing}
    own = {group: part.interval(name) for group, part in kept.items()}
    figure = groups[next(iter(groups))]._place_of(name)[0]
    if len(kept) < 2:
        few = f"{len(kept) or 'none'} of {len(groups)} groups can be compared"
        return Gap(_text(name), math.nan, None, None, math.nan, figure.text, None, None, own, missing, reason=few)
    pairwise = confidence_of_pairs(len(kept), confidence)
    at_once = {group: _widened(part, name, pairwise) for group, part in kept.items()}
    narrow = [part.interval(name, confidence=ONE_ERROR) for part in kept.values()]
    columns = [[getattr(one, end) for one in at_once.values()] for end in ("value", "low", "high")]
    rows = [_rows_behind(part, name) for part in kept.values()]
    side = Side(*(np.array(column, np.float64) for column in (*columns, rows)))
    spread = np.array([(float(one.high or 0) - float(one.low or 0)) / 2 for one in narrow])
    simple = all(_is_share(part, name) for part in kept.values())
    found = largest_gap(side, spread, pairwise, simple, _correlations(list(kept.values()), name))
    highest, lowest = list(kept)[found.highest], list(kept)[found.lowest]
    limits = (found.value, found.low, found.high, found.seen)
    return Gap(_text(name), *limits, figure.text, highest, lowest, own, missing)


def _correlations(parts: list["Evaluation"], name: Value) -> Array | None:
    """The correlations of the figures of groups, where rows of a cluster can lie in several; None without clusters.

    They follow from what each figure loses without each cluster.
    """
    places = [part._place_of(name) for part in parts]
    clusters = [one for _, _, sampling in places if (one := sampling.clusters) is not None]
    if len(clusters) < len(parts) or any(isinstance(tally, CostSums) for _, tally, _ in places):
        return None
    coarse = any(one.names is None for one in clusters)
    lost, units = [], []
    for (metric, tally, sampling), own in zip(places, clusters, strict=True):
        assert tally is not None
        (found,) = influences([metric], [float(metric.of(tally))], tally, sampling)
        if isinstance(found, str):
            return None
        lost.append(found.changes[: own.size])  # cases behind a prior follow
        units.append(own.places if coarse or own.names is None else own.names)
    known, where = np.unique(np.concatenate(units), return_inverse=True)
    ends = np.cumsum([len(one) for one in units])[:-1]
    each = np.stack([np.bincount(own, one, len(known)) for own, one in zip(np.split(where, ends), lost, strict=True)])
    each = divide(each, np.abs(each).max(axis=1, keepdims=True))  # whose squares floats hold
    products = each @ each.T
    size = np.sqrt(np.diag(products))
    return np.asarray(divide(products, np.outer(size, size)))


def _widened(part: "Evaluation", name: Value, confidence: float) -> Estimate:
    """The figure with an interval of a high confidence; percentiles of too few draws are stretched like Student's t."""
    metric, tally, sampling = part._place_of(name)
    if tally is None or method_of(metric, tally, sampling) not in _SIMULATED or confidence <= sampling.confidence:
        return part.interval(name, confidence=confidence)
    found, degrees = part.interval(name), _rows_behind(part, name) - 1
    usual, wanted = (student((1 + level) / 2, degrees) for level in (sampling.confidence, confidence))
    low, high = (found.value + wanted / usual * (float(end or 0) - found.value) for end in (found.low, found.high))
    return replace(found, low=max(low, metric.range[0]), high=min(high, metric.range[1]), confidence=confidence)


def _why_not(part: "Evaluation", name: Value) -> str:
    """Why a group cannot be compared: the figure is undefined, has no interval, or rests on too few rows."""
    found = part.interval(name)
    if not found.defined:
        return found.reason
    rows = _rows_behind(part, name)
    if rows < LEAST_ROWS:
        return f"{rows:,.6g} {'row' if rows == 1 else 'rows'} to judge it by; at least {LEAST_ROWS} wanted"
    if found.low is None or found.high is None:
        return f"there is no interval: {found.no_interval}"
    return "" if all(map(math.isfinite, (found.value, found.low, found.high))) else "it is infinite"


def _rows_behind(part: "Evaluation", name: Value) -> float:
    """How many rows the figure of a group rests on: those it is a share of, or those of the rarest class."""
    metric, tally, _ = part._place_of(name)
    if _is_share(part, name):
        return float(getattr(tally, metric.share_of))
    return min(part._sizes().values())


def _is_share(part: "Evaluation", name: Value) -> bool:
    metric, tally, sampling = part._place_of(name)
    return tally is not None and not tally.weighted and method_of(metric, tally, sampling) == "share"


def groups_of(evaluation: "Evaluation", by: str | None) -> dict[str, "Evaluation"]:
    """Return the segments, or, of segments by several columns, all rows that have the same value in one of them."""
    if not evaluation.segments:
        raise errors.no_segments()
    parts = {name: part for name, part in evaluation.segments.items() if name != SMALL_SEGMENTS}
    columns = [dict(parts_of(name) or ()) for name in parts]
    known = list(dict.fromkeys(column for one in columns for column in one))
    single = evaluation.counted.question.get("by")
    if by is None or (not known and single in (None, by)):
        return parts
    if by not in known:
        raise InputError(
            "no-such-grouping",
            Given("by", by),
            f" makes no segments here; name {some(known or [str(single)], last='or')}",
        )
    return dict(_together(evaluation, [one.get(by, "") for one in columns], parts))


def _together(
    evaluation: "Evaluation", values: list[str], parts: Mapping[str, "Evaluation"]
) -> Iterator[tuple[str, "Evaluation"]]:
    """The segments with the same value, added up."""
    for value in dict.fromkeys(values):
        here = [part.counted for part, own in zip(parts.values(), values, strict=True) if own == value]
        yield value, evaluation._segment(here[0] if len(here) == 1 else Counted.sum(here))
