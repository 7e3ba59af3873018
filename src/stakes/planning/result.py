"""A plan: how many rows a study needs, and what that rests on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from stakes.language.narrated import Narrated
from stakes.records import Count, Finite, Record, Share

Aim = Literal["width", "difference", "margin", "require"]
"""What a study shall reach: a narrow interval, a difference found, none that matters, or a condition met."""


@dataclass(frozen=True)
class Point(Record):
    """What a study of this many rows reaches: the width of the interval, or how often it succeeds."""

    rows: Finite
    reached: Finite


@dataclass(frozen=True)
class Part(Record):
    """How many rows one figure needs.

    ``value`` is what is expected of the figure (or of the difference), ``target`` the width, difference, margin or
    limit. ``low_rows`` and ``high_rows`` are the range that a pilot leaves open, ``high_rows`` is None where no number
    may be enough; ``checked`` is what simulated studies of that size reach: the median width, or how many succeed.
    """

    figure: str
    aim: Aim
    target: Finite
    value: float
    rows: Count
    low_rows: Count | None = None
    high_rows: Count | None = None
    checked: float | None = None
    curve: Sequence[Point] = ()
    condition: str = ""
    of_difference: bool = False


@dataclass(frozen=True)
class Plan(Record, Narrated, stakes="plan", shown="* paragraph findings"):
    """How many rows a study needs to reach all its aims.

    ``positives`` of them are expected if the prevalence is known, ``clusters`` if rows come in clusters; ``labels`` is
    the number of labels if outputs are known already. ``assumed`` are the expected rates, ``pilot_rows`` the rows of
    the pilot. ``smallest_share`` is the share of the smallest segment for which the aims shall hold as well.
    """

    rows: Count
    positives: Count | None
    clusters: Count | None
    labels: Count | None
    parts: Sequence[Part]
    confidence: Finite
    power: Share
    assured: Share | None = None
    smallest_share: Share | None = None
    pilot_rows: Finite | None = None
    assumed: Mapping[str, float] = field(default_factory=dict)

    plotted_as = "plan"

    @property
    def paragraph(self) -> str:
        """A paragraph for a protocol, in the language of the reader."""
        return " ".join(one for finding in self.findings if finding.key == "plan.protocol" for one in finding.words)

    def to_rows(self) -> list[dict[str, object]]:
        """Return the points of all curves, for a data frame."""
        return [
            {"figure": part.figure, "aim": part.aim, "target": part.target, "needed": part.rows, **point.data()}
            for part in self.parts
            for point in part.curve
        ]

    def __repr__(self) -> str:
        return f"<Plan of {self.rows:,} rows>"
