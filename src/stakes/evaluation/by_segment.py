"""ev.by_segment(): which segments are worse than the rest, and which are too small to compare."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes import errors
from stakes.metrics import Estimate, Metric
from stakes.metrics.declare import Better
from stakes.question.options import Value
from stakes.records import Count, Finite, Record, RowCount, Share
from stakes.results import Shown
from stakes.tallies import Tally
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.segments import AgainstRest, Parts, against_rest
from stakes.uncertainty.two_samples import holm

if TYPE_CHECKING:
    from stakes.evaluation.base import Evaluation

LEAST_ROWS = 10
"""A segment with fewer rows (of each class, where a figure needs both) is too small to be compared."""


@dataclass(frozen=True)
class Segment(Record):
    """A segment by one figure: its value, and how far it lies from that of all other rows (``rest``).

    ``p_value`` is two-sided, ``adjusted_p_value`` Holm's over all segments that were compared. ``verdict`` says it in
    words. What is not known is None.
    """

    name: str
    rows: RowCount
    value: float | None
    low: float | None = None
    high: float | None = None
    rest: float | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    p_value: Share | None = None
    adjusted_p_value: Share | None = None
    too_small: bool = False
    verdict: str = ""


@dataclass(frozen=True, eq=False)
class BySegment(Record, Shown, shown="metric better confidence method note tested segments"):
    """All segments by one figure, the worst first: those whose interval is bad even at its better end.

    ``by["north"]`` is one of them, ``smallest()`` are those with the fewest rows. ``method`` says how differences from
    the rest were tested, ``note`` why they were not.
    """

    metric: str
    better: Better
    segments: Sequence[Segment]
    confidence: Finite = 0.95
    method: str = ""
    note: str = ""

    plotted_as = "segments"

    def __iter__(self) -> Iterator[Segment]:
        return iter(self.segments)

    def __len__(self) -> int:
        return len(self.segments)

    def __getitem__(self, name: str) -> Segment:
        for segment in self.segments:
            if segment.name == name:
                return segment
        raise errors.no_such_segment(name, [segment.name for segment in self.segments])

    @property
    def tested(self) -> Count:
        """How many segments were compared with the rest: the tests that Holm's p-values are corrected for."""
        return sum(segment.p_value is not None for segment in self.segments)

    def worst(self, most: int = 10) -> Sequence[Segment]:
        """Return the worst segments."""
        return self.segments[:most]

    def smallest(self, most: int = 10) -> Sequence[Segment]:
        """Return the segments with the fewest rows."""
        return sorted(self.segments, key=lambda segment: segment.rows)[:most]

    def estimates(self) -> dict[str, Estimate]:
        """Return the figure of each segment with its interval, by the name of the segment."""
        return {
            one.name: Estimate(self.metric, one.value, low=one.low, high=one.high, confidence=self.confidence)
            if one.value is not None
            else Estimate(self.metric, math.nan, reason=one.verdict, confidence=self.confidence)
            for one in self.segments
        }

    def to_rows(self) -> list[dict[str, object]]:
        """Return one flat dictionary per segment, for a data frame."""
        return [asdict(segment) for segment in self.segments]

    def __repr__(self) -> str:
        return f"<{len(self):,} segments by {self.metric}>"


def by_segment(evaluation: "Evaluation", name: Value = None) -> BySegment:
    """Compare every segment with the rest by one figure."""
    if not evaluation.segments:
        raise errors.no_segments()
    name = evaluation._key_figure if name is None else name
    metric, whole, _ = evaluation._place_of(name)
    if whole is None:
        raise errors.no_figure_of_segments(metric.text, evaluation._why_no(metric))
    known = evaluation.interval(name)
    if not known.defined:
        raise errors.no_figure_of_segments(metric.text, known.reason)
    parts = list(evaluation.segments.values())
    found = against_rest(metric, _parts(evaluation, parts, name, whole))
    segments = _segments(list(zip(evaluation.segments, parts, strict=True)), metric, found, known.confidence)
    text = metric.text if not isinstance(name, tuple) else f"{metric.text} of {name[1]}"
    ordered = sorted(segments, key=lambda segment: _badness(segment, metric.better))
    return BySegment(text, metric.better, ordered, known.confidence, found.method, found.note)


def _parts(evaluation: "Evaluation", parts: Sequence["Evaluation"], name: Value, whole: Tally) -> Parts:
    places = [part._place_of(name) for part in parts]
    sizes = np.array([list(part._sizes().values()) for part in parts], np.float64)
    of_all = np.array(list(evaluation._sizes().values()), np.float64)
    tallies = [tally for _, tally, _ in places if tally is not None]  # parts have what the whole has
    samplings = [sampling for _, _, sampling in places]
    return Parts(whole, tallies, samplings, sizes.min(-1), np.maximum(of_all - sizes, 0).min(-1))


def _segments(
    parts: Sequence[tuple[str, "Evaluation"]], metric: Metric, found: AgainstRest, confidence: float
) -> list[Segment]:
    """Combine figures and differences; segments that are too small are not tested."""
    unknown = np.full(len(parts), np.nan)
    side, apart = found.segments, found.differences
    small = side.rows < LEAST_ROWS
    p_values = unknown if apart is None else np.where(small, np.nan, apart.p_value)
    tested, adjusted = np.flatnonzero(~np.isnan(p_values)), unknown.copy()
    adjusted[tested] = holm(p_values[tested].tolist())
    columns: dict[str, Array] = {"value": side.value, "low": side.low, "high": side.high}
    columns["rest"] = unknown if found.rests is None else found.rests.value
    for name in ("value", "low", "high"):
        columns[f"difference_{name}".removesuffix("_value")] = unknown if apart is None else getattr(apart, name)
    columns |= {"p_value": p_values, "adjusted_p_value": adjusted}
    segments = []
    for i, ((name, part), row) in enumerate(zip(parts, np.transpose(list(columns.values())).tolist(), strict=True)):
        numbers: dict[str, Any] = {key: None if math.isnan(n) else n for key, n in zip(columns, row, strict=True)}
        words = _verdict(metric, part, numbers, float(side.rows[i]), confidence, found.note)
        segments.append(Segment(name, part.rows, **numbers, too_small=bool(small[i]), verdict=words))
    return segments


def _verdict(
    metric: Metric, part: "Evaluation", numbers: Mapping[str, float | None], rows: float, confidence: float, note: str
) -> str:
    """The verdict on a segment, which its p-value supports."""
    difference, adjusted = numbers["difference"], numbers["adjusted_p_value"]
    if rows < LEAST_ROWS:
        return f"too small: {_rests_on(metric, part, rows)}; at least {LEAST_ROWS} wanted"
    if numbers["value"] is None:
        tally = part._tally(metric)
        return f"undefined: {part._why_no(metric) if tally is None else metric.why_undefined(tally)}"
    if adjusted is None or difference is None:
        return f"not compared: {note or 'there is no interval of both'}"
    if adjusted > 1 - confidence:
        return "no difference shown"
    side = "higher" if difference > 0 else "lower"
    word = side if metric.better == "neither" else "better" if side == metric.better else "worse"
    return f"{word} than the rest, p {_chance(adjusted)}"


def _chance(p_value: float) -> str:
    """Write a p-value; one too small for a number is below the smallest."""
    return f"= {p_value:.2g}" if p_value >= 1e-99 else "< 1e-99"


def _rests_on(metric: Metric, part: "Evaluation", rows: float) -> str:
    """The rows that are too few: those of the rarest class where a figure needs all of them."""
    sizes = part._sizes()
    if not metric.share_of and len(sizes) > 1:
        rarest = min(sizes, key=sizes.__getitem__)
        return f"{sizes[rarest]:,.6g} {'row' if sizes[rarest] == 1 else 'rows'} of {rarest}"
    names = {"P": "positive ", "N": "negative ", "PP": "alarmed ", "PN": "unalarmed "}
    return f"{rows:,.6g} {names.get(metric.share_of, '')}{'row' if rows == 1 else 'rows'}"


def _badness(segment: Segment, better: str) -> tuple[bool, float]:
    """The order, worst first: by the better end of the interval, so that a tiny segment is not first by chance.

    Figures that are better neither high nor low are in the order of their p-values.
    """
    if better == "neither":
        key = segment.p_value
    else:
        key = segment.high if better == "higher" else None if segment.low is None else -segment.low
    return key is None, key if key is not None else segment.rows
