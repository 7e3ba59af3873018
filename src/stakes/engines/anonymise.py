"""Makes a count safe to share: bins instead of scores, and no segment of a few rows.

Each tally anonymises itself (``Tally.anonymise``). Scores are binned, and bins are merged, until every cell is empty or
holds at least ``minimum`` rows (``tallies/small_cells.py``). Of predicted numbers only the sums are shared, not the
rows, the worst errors or the histogram. Decisions are shared as they are: that three patients were missed is what an
evaluation is about. So are the class totals and the largest error.

Segments with fewer rows are merged into one, called "(small segments)"; if that is still too small, it is left out. Its
rows still count in the whole, so a segment that was small in one of several files lacks those rows in the sum, and the
evaluation says so. The number of dropped rows is only known for the whole.

This keeps single rows from being read off a file. It does not protect against somebody who compares files: all rows
minus all segments but one are that segment, in the bins that all of them share.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from stakes.errors import Given, InputError
from stakes.tallies.arithmetic import MOST, is_real

if TYPE_CHECKING:
    from stakes.engines.plan import Counted

SMALL = 10
"""Default of ``min_cell``: cells with fewer rows are not shared."""

SMALL_SEGMENTS = "(small segments)"
"""Label of the merged segment that collects segments of too few rows to be sent by themselves."""

SUFFIX = ".tally"
"""File extension of saved counts."""


def anonymise(counted: "Counted", minimum: float) -> "Counted":
    """Return the part of a count that can be shared."""
    if not is_real(minimum) or not 1 <= minimum <= MOST or minimum != int(minimum):
        raise InputError(
            "bad-min-cell", Given("min_cell", minimum), " is no number of rows; give a whole number from 1 on"
        )
    segments = _large_enough(counted, minimum)
    return replace(_tallies(counted, minimum), segments={n: _tallies(part, minimum) for n, part in segments.items()})


def _tallies(counted: "Counted", minimum: float) -> "Counted":
    return replace(counted, tallies={kind: tally.anonymise(minimum) for kind, tally in counted.tallies.items()})


def _large_enough(counted: "Counted", minimum: float) -> dict[str, "Counted"]:
    """Merge small segments; leave them out if they are too small even when merged.

    Few labels are only kept by segment, so none is left out: the next larger segments are merged with them.
    """
    segments = counted.kinds_by_segment()
    if not any(segments):
        return dict(counted.segments)  # no segments, or few labels counted as a whole
    sizes = {name: min(tally.equal_rows for part in kinds.values() for tally in part.tallies.values())
             for name, kinds in segments.items()}  # fmt: skip
    by_size = sorted(sizes, key=lambda name: (sizes[name], name))
    small = [name for name in by_size if sizes[name] < minimum or name == SMALL_SEGMENTS]
    of_kinds = any(kind for kinds in segments.values() for kind in kinds)
    for name in by_size if of_kinds and small else ():
        if sum(sizes[one] for one in small) < minimum and name not in small:
            small.append(name)
    kept = [name for name in segments if name not in small]
    if sum(sizes[name] for name in small) < minimum and not of_kinds:
        small = []
    merged: dict[str, list[Counted]] = {}
    for name, place in {**{name: name for name in kept}, **dict.fromkeys(small, SMALL_SEGMENTS)}.items():
        for kind, part in segments[name].items():
            merged.setdefault(f"{kind} {place}" if kind else place, []).append(part)
    return {name: type(counted).sum(parts) for name, parts in merged.items()}
