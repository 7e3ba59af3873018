"""Predicted numbers of many rows: added up in two passes where they lie, so that no row is kept.

The first pass adds up what figures are functions of, by segment, and counts errors by size. Then the mean of the truth
is known, which is what ignoring the input would say, and the second pass adds up what that loses and how errors vary
(``tallies/error_variation.py``), or the sums of each cluster. Whoever holds the rows answers both: files that are read
in batches, mostly at once (``batches.py``), or another engine (``queries.py``).
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Protocol

import numpy as np

from stakes.engines.plan import Counted
from stakes.tallies import ErrorSums, LargeError
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import check_baseline
from stakes.tallies.clusters import Clusters
from stakes.tallies.error_sums import check_sizes, powers_too_large
from stakes.tallies.error_terms import MOMENTS, TERMS
from stakes.tallies.error_variation import ErrorVariation, HeavyRows, SizeCounts
from stakes.tallies.moments import Moments

OTHER = "prediction of another model"
"""How the second of two models' predictions is called among the arguments."""


MOST_SQUARED = 1e150
"""Products of squares are added up, too: what is larger, or as much smaller than 1, would be lost among them."""


@dataclass(frozen=True)
class Wanted:
    """What is counted of predicted numbers beside sums and their products; gates leave out what they do not ask for.

    ``rows`` are what single ones tell: medians, the largest errors, a picture. ``shares`` are those of the truth, and
    squared differences of logarithms. ``baseline`` is whether figures are held against what a baseline loses, and not
    only told beside it.
    """

    rows: bool = True
    shares: bool = True
    baseline: bool = True

    @classmethod
    def of(cls, parts: Collection[str] | None) -> "Wanted":
        """What figures with these parts need; None if any figure may be asked for."""
        if parts is None:
            return ALL
        return cls("rows" in parts, not {"logs", "percentages"}.isdisjoint(parts), "baseline" in parts)

    @property
    def terms(self) -> Sequence[str]:
        """The terms that figures are functions of, whose products their intervals need."""
        lacking = {*(() if self.shares else ("logs", "share")), *(() if self.baseline else ("away",))}
        return [name for name in TERMS if name not in lacking]


ALL = Wanted()
"""What any figure needs."""


@dataclass(frozen=True, eq=False)
class FirstPass:
    """The sums of all rows and of each segment, without what a baseline loses; how many rows were read and left out."""

    whole: ErrorSums
    segments: Mapping[str, ErrorSums]
    rows: int
    dropped: int = 0
    dropped_weight: float = 0.0


@dataclass(frozen=True, eq=False)
class SecondSums:
    """What always saying a number b loses, and how terms vary: sums of ``products``, or of the terms by ``clusters``.

    ``lost`` are the sums of ``LOST``; ``largest`` is the largest |t − b|, ``sizes`` are all of them in bins.
    ``errors`` are the sizes of errors, where those around the median became known; ``heavy`` are a few rows that can
    carry a figure, ``worst`` the largest errors, where the first pass did not find them. ``cluster_numbers`` tell which
    clusters these are, in every segment alike; each may be a group of very many clusters (``cluster_count``).
    ``squares`` is the sum of squared weights, if there are weights beside clusters.
    """

    lost: Sequence[float]
    largest: float
    products: Array | None = None
    clusters: Array | None = None
    squares: float | None = None
    sizes: SizeCounts | None = None
    errors: SizeCounts | None = None
    heavy: HeavyRows | None = None
    cluster_numbers: Array | None = None
    cluster_count: int | None = None
    worst: tuple[LargeError, ...] | None = None

    def of_clusters(self, count: int | None) -> "SecondSums":
        """The same of so many clusters, of which some share a group; without a count each is a group of its own."""
        return replace(self, cluster_count=count) if count else self

    def at_the_baseline(self, total: float) -> "SecondSums":
        """The same of rows whose truths all are b: engines find means that are off by a last digit."""
        sizes = SizeCounts(np.zeros(1), np.zeros(1), np.array([total]))
        return replace(self, lost=[0.0] * len(LOST), largest=0.0, sizes=sizes)


@dataclass(frozen=True, eq=False)
class SecondPass:
    """The same of all rows and of each segment."""

    whole: SecondSums
    segments: Mapping[str, SecondSums] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Asked:
    """What the second pass has to know: from where truths are counted, and the number that each part always says."""

    first: FirstPass
    centre: float
    whole: float
    segments: Mapping[str, float]


# ── the first pass, where no row is here ─────────────────────────────────────────────────────────────────────────
FIRST = (*MOMENTS, "logs", "share")
"""The terms of a row that the first pass adds up."""

LOST = ("away", "sign", "logs away", "share away")
"""Those that tell what always saying a number loses, which the second pass adds up beside products."""


def first_sums(
    added: Sequence[float],
    centres: tuple[float, float],
    largest: float,
    least: float,
    weighted: bool,
    sizes: SizeCounts | None,
    shares: bool = True,
) -> ErrorSums:
    """The sums of errors, from those of ``FIRST`` in their order and the number of truths that are 0.

    ``centres`` are those of truths and predictions, ``least`` is the least truth or prediction. Without ``shares``
    neither these nor logarithms were added up.
    """
    *sums, logs, percentages, zeros = added
    if not all(map(math.isfinite, sums)):
        raise powers_too_large(largest)
    moments = Moments.of_sums(dict(zip(MOMENTS.values(), sums, strict=True)), *centres)
    found = ErrorSums(moments, largest, weighted=weighted, sizes=sizes)
    if not shares:
        return found
    logs = logs if least > -1 else math.nan
    return replace(found, squared_logs=logs, percentages=percentages, zeros=round(zeros))


class NumberSource(Protocol):
    """Rows of truth and prediction that can be gone through twice."""

    def first(self, baseline: float | None) -> FirstPass:
        """Go through the rows; a baseline is known beforehand where it was given."""

    def second(self, asked: Asked) -> SecondPass:
        """Go through them again."""


def count_numbers(source: NumberSource, baseline: float | None) -> Counted:
    """Count predicted numbers, overall and by segment."""
    if baseline is not None:
        check_baseline(baseline)
    first = source.first(None if baseline is None else float(baseline))
    check_sizes(first.whole, MOST_SQUARED)

    def baseline_of(sums: ErrorSums) -> float:
        return float(sums.mean(t=1)) if baseline is None else float(baseline)

    own = {name: baseline_of(part) for name, part in first.segments.items()}
    asked = Asked(first, float(first.whole.mean(t=1)), baseline_of(first.whole), own)
    second = source.second(asked)
    given = baseline is not None
    parts = {
        name: _counted(part, own[name], given, second.segments[name], asked.centre)
        for name, part in first.segments.items()
    }
    return replace(
        _counted(first.whole, asked.whole, given, second.whole, asked.centre),
        segments=parts,
        dropped=first.dropped,
        dropped_weight=first.dropped_weight,
        read=first.rows + first.dropped,
    )


def _counted(sums: ErrorSums, baseline: float, given: bool, more: SecondSums, centre: float) -> Counted:
    """The tally of some rows, with what the second pass tells of them."""
    if not sums.spread("t") and baseline == float(sums.mean(t=1)):
        more = more.at_the_baseline(float(sums.total))
    away, balance, logs, shares = more.lost
    constant = ErrorSums({MOMENTS["size"]: Fraction(away)}, more.largest, sizes=more.sizes)
    if sums.has("logs"):
        logs = logs if baseline > -1 and not math.isnan(sums.squared_logs) else math.nan
        constant = replace(constant, squared_logs=logs, percentages=shares)
    about = sums.against(constant, baseline, given)
    varied = ErrorVariation(centre, baseline, balance, more.products, more.clusters, more.squares)
    sizes = sums.sizes if more.errors is None else more.errors
    worst = sums.worst if more.worst is None else more.worst
    errors = replace(about, variation=varied, sizes=sizes, heavy=more.heavy, worst=worst)
    held = more.clusters
    count = 0 if held is None else more.cluster_count or len(held)
    clusters = None if held is None else Clusters(np.arange(len(held)), count, names=more.cluster_numbers)
    return Counted("regression", {"errors": errors}, clusters=clusters)
