"""What of a count can be shared: bins instead of scores, and no segment of a few rows.

The tallies know for themselves what of them can be shared (``Tally.anonymise``). Scores are put into bins, and bins
together, until every cell is empty or holds at least ``minimum`` rows (``tallies/small_cells.py``). Of predicted
numbers the sums are shared, and not the rows, the worst errors or the histogram. Decisions are shared as they are: that
three patients were missed is what an evaluation is about. So are the totals of the classes and the largest error.

Segments with fewer rows are put together into one, called "(small segments)"; where that one is still too small, it is
left out. Its rows are in the whole all the same, so a segment that was small in one of several files lacks those rows
in the sum, and the evaluation says so. Rows that were dropped are known for the whole only.

This keeps single rows from being read off a file. It is no proof against somebody who compares files: all rows less
all segments but one are that segment, in the bins that all of them share.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from stakes.errors import Given, InputError
from stakes.tallies.arithmetic import MOST, is_real

if TYPE_CHECKING:
    from stakes.engines.plan import Counted

SMALL = 10
"""A cell with fewer rows than this is not shared, unless somebody says otherwise."""

SMALL_SEGMENTS = "(small segments)"
"""Label of the merged segment that collects segments of too few rows to be sent by themselves."""

SUFFIX = ".tally"
"""How the names of files end that hold counts."""


def anonymise(counted: "Counted", minimum: float) -> "Counted":
    """Return what of a count can be shared."""
    if not is_real(minimum) or not 1 <= minimum <= MOST or minimum != int(minimum):
        raise InputError(
            "bad-min-cell", Given("min_cell", minimum), " is no number of rows; give a whole number from 1 on"
        )
    segments = _large_enough(counted, minimum)
    return replace(_tallies(counted, minimum), segments={n: _tallies(part, minimum) for n, part in segments.items()})


def _tallies(counted: "Counted", minimum: float) -> "Counted":
    return replace(counted, tallies={kind: tally.anonymise(minimum) for kind, tally in counted.tallies.items()})


def _large_enough(counted: "Counted", minimum: float) -> dict[str, "Counted"]:
    """Put small segments together; they are left out where even together they are too few.

    Few labels are told by their segments alone, so none is left out: the next larger ones join them.
    """
    segments = counted.kinds_by_segment()
    if not any(segments):
        return dict(counted.segments)  # there are none, or the rows of few labels as a whole
    sizes = {name: min(tally.equal_rows for part in kinds.values() for tally in part.tallies.values())
             for name, kinds in segments.items()}  # fmt: skip
    rising = sorted(sizes, key=lambda name: (sizes[name], name))
    small = [name for name in rising if sizes[name] < minimum or name == SMALL_SEGMENTS]
    of_kinds = any(kind for kinds in segments.values() for kind in kinds)
    for name in rising if of_kinds and small else ():
        if sum(sizes[one] for one in small) < minimum and name not in small:
            small.append(name)
    kept = [name for name in segments if name not in small]
    if sum(sizes[name] for name in small) < minimum and not of_kinds:
        small = []
    found: dict[str, list[Counted]] = {}
    for name, place in {**{name: name for name in kept}, **dict.fromkeys(small, SMALL_SEGMENTS)}.items():
        for kind, part in segments[name].items():
            found.setdefault(f"{kind} {place}" if kind else place, []).append(part)
    return {name: type(counted).sum(parts) for name, parts in found.items()}
