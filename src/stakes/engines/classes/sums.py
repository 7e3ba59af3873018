"""Scores of several classes that were counted elsewhere, batch by batch or group by group, made into tallies.

Whoever sees the rows (``batches.py``, ``queries.py``) hands over the same sums by segment and class; the
tallies of all rows and of every segment are made from them, and no row is needed for that.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from stakes import errors
from stakes.engines.classes.scores import tell_uneven
from stakes.engines.columns import Values, in_order
from stakes.engines.labels import names_in_order
from stakes.engines.memory import Binned, CountsByBin
from stakes.engines.plan import Counted, DecidedBy, Plan
from stakes.engines.reading import FEW_OUTSIDE, RowQuestion
from stakes.frozen import dataclass, field, replace
from stakes.tallies import ClassScores, ScoreTable, bins
from stakes.tallies.arithmetic import Array
from stakes.tallies.class_scores import ClassSample, pairs_in_order
from stakes.tallies.columns import Columns
from stakes.tallies.losses import KEPT, SQUARES, SURPRISE
from stakes.tallies.names import canonical
from stakes.tallies.parallel import run_all

SCORE_OF = "score of "
"""How the columns of class scores are named."""

SURPRISES, DISTANCES = range(2)
"""The losses of class probabilities whose moments are kept, in the order of ``MOMENTS``."""

MOST_TOGETHER = 32
"""The scores of up to this many classes are counted by the true class alone, which also tells them from the rest."""

_FEWEST = 3
"""Fewer score columns are those of two classes, of which one decides."""


# ── the question ─────────────────────────────────────────────────────────────────────────────────────────────────
def class_columns(asked: RowQuestion) -> dict[str, str] | None:
    """The score columns by argument, in the order of the classes; None when this question needs the rows themselves.

    The order says which of two classes that tie goes first, so it must be known before the first row.
    """
    if not isinstance(asked.score, Mapping) or len(asked.score) < _FEWEST or asked.threshold is not None:
        return None
    columns = {canonical(name): column for name, column in asked.score.items()}
    order = _order(asked, list(columns))
    waits = asked.pricing is not None and asked.prediction is None and asked.pricing.needs_all_rows
    if waits or {*order} != {*columns} or len(columns) < len(asked.score) or len(order) != len(columns):
        return None  # a wrong list of classes is refused where the rows are read
    return {f"{SCORE_OF}{name}": columns[name] for name in order}


def class_names(arguments: Mapping[str, object]) -> tuple[str, ...]:
    """The classes that have a score column among these arguments."""
    return tuple(name.removeprefix(SCORE_OF) for name in arguments if name.startswith(SCORE_OF))


def _order(asked: RowQuestion, names: Sequence[str]) -> Sequence[str]:
    if asked.classes is not None:
        return [canonical(name) for name in in_order(asked.classes)]
    named = None if asked.pricing is None else asked.pricing.costs.classes
    return names_in_order(names) if named is None else named


def any_scores(classes: Sequence[str], rows: int) -> dict[str, Values]:
    """Scores that stand for those which were counted, so that the rest of the question is understood."""
    return {name: np.full(rows, 1 / len(classes)) for name in classes}


# ── the sums ─────────────────────────────────────────────────────────────────────────────────────────────────────
Noted = tuple[int, int | None, float]
"""How many rows are odd, and of the first of them its row and a number to show."""

NONE_NOTED: Noted = (0, None, math.nan)


@dataclass(frozen=True, eq=False)
class Oddities:
    """Rows whose scores are no probabilities: those that do not add up to 1, and those outside [0, 1].

    ``uneven`` and ``outside`` are how many, and of the first of them its row and a number to show (the sum, the score).
    """

    rows: int
    span: tuple[float, float]
    uneven: Noted = NONE_NOTED
    outside: Noted = NONE_NOTED

    @classmethod
    def joined(cls, parts: Sequence["Oddities"]) -> "Oddities":
        """Those of several parts, which can lie in any order."""
        lows, highs = zip(*(part.span for part in parts), strict=True)
        uneven, outside = _first([part.uneven for part in parts]), _first([part.outside for part in parts])
        return cls(sum(part.rows for part in parts), (min(lows), max(highs)), uneven, outside)

    def tell(self, asked: RowQuestion, decided_by: DecidedBy) -> None:
        """Warn of them as rows in memory do, or refuse them where costs need probabilities."""
        low, high = self.span
        within = low >= 0 and high <= 1
        count, row, seen = self.uneven
        if count and within:
            tell_uneven(count, seen, row, even=asked.pricing is not None)
        if decided_by == "costs" and not within:
            raise errors.costs_need_probabilities(low, high)
        count, row, seen = self.outside
        if 0 < count <= FEW_OUTSIDE * self.rows:
            errors.warn("few-outside", errors.few_outside(count, self.rows, row, seen))


def _first(parts: Sequence[Noted]) -> Noted:
    """How many there are in all parts, and the first of them."""
    _, row, seen = min(parts, key=lambda part: math.inf if part[1] is None else part[1])
    return sum(count for count, _, _ in parts), row, seen


@dataclass(frozen=True, eq=False)
class ClassSums:
    """What was counted of class scores, by segment (a single one where there are none) and class.

    ``sizes`` and ``squares`` are rows, or Σw and Σw²; ``ranks`` as in :class:`ClassScores`; ``moments`` of the losses
    of all classes, ``losses`` of each class against the rest (``tallies/losses.py``); ``improper`` is the number of
    rows of each segment that are no probabilities. The cells of ``pairs`` are the segment times the number of classes,
    and the true class; those of ``tables``, finer ones that very many classes have besides, twice the segment, and 1
    more for rows of the class itself. Without a grid scores are exact. ``samples`` are some rows of
    each segment, and of all (None).
    """

    classes: tuple[str, ...]
    segments: Sequence[str]
    sizes: Array
    squares: Array | None
    ranks: Array
    moments: Array
    losses: Array
    improper: Array
    pairs: Sequence[Binned | CountsByBin]
    tables: Sequence[Binned]
    span: tuple[float, float]
    samples: Mapping[int | None, ClassSample] = field(default_factory=dict)

    def added_to(self, counted: Counted, decided_by: DecidedBy) -> Counted:
        """Return counted decisions with the scores beside them, overall and by segment."""
        places: dict[str | None, int] = {name: place for place, name in enumerate(self.segments)}
        return replace(counted.with_tallies(lambda name: self.tally(places.get(name))), decided_by=decided_by)

    def tally(self, segment: int | None) -> ClassScores:
        """The tally of a segment, or of all rows."""
        here = slice(None) if segment is None else slice(segment, segment + 1)
        sizes, moments = self.sizes[here].sum(0), self.moments[here].sum(0).astype(np.float64)
        proper, weighted = not self.improper[here].any(), self.squares is not None
        entries = sum(len(binned.edges) for binned in self.tables or self.pairs)
        found = run_all([partial(self._of_class, place, segment) for place in range(len(self.classes))], entries)
        tables, by_class = zip(*found, strict=True)
        wins, ties = pairs_in_order(by_class)
        ends = [table.range for table in tables]
        return ClassScores(
            self.classes,
            tables,
            sizes.astype(np.float64) if weighted else sizes,
            self.ranks[here].sum(0).astype(np.float64 if weighted else np.int64),
            float(moments[:, SURPRISES, 0].sum()) if proper else math.nan,
            float(moments[:, DISTANCES, 0].sum()) if proper else math.nan,
            self.span if segment is None else (min(low for low, _ in ends), max(high for _, high in ends)),
            wins,
            weighted,
            float(sizes.sum()) if self.squares is None else float(self.squares[here].sum()),
            sample=self.samples.get(segment),
            pair_ties=None if self.pairs[0].grid is None else ties,
            moments=moments if proper else None,
        )

    def _of_class(self, place: int, segment: int | None) -> tuple[ScoreTable, Array]:
        """A class's scores against the rest, and the rows of each true class at each score, from low to high ones."""
        k, name = len(self.classes), self.classes[place]
        here = self.pairs[place].of_cells(_cells_of(segment, k))
        levels, by_class, squares = here.by_cell(k)
        if self.tables:
            fine = self.tables[place].of_cells(_cells_of(segment, 2))
            return self._with_losses(fine.table((name, f"not {name}"), fine.cells % 2 == 1), place, segment), by_class
        columns = _against_rest(by_class, place)
        if squares is not None:
            columns |= _against_rest(squares, place, "_squared")
        table = ScoreTable(name, f"not {name}", Columns(levels[::-1], columns), here.grid_of_scores)
        return self._with_losses(table, place, segment), by_class

    def _with_losses(self, table: ScoreTable, place: int, segment: int | None) -> ScoreTable:
        """The same with the losses of its scores, which bins have lost."""
        beyond = table.grid is not None and table.grid.kind == "line" and table.range[1] >= 1  # at 1, or just above it
        if table.grid is None or not table.probabilities or beyond:
            return table
        lost = self.losses[slice(None) if segment is None else slice(segment, segment + 1), place].sum(0)
        return replace(table, losses=lost.astype(np.float64))


def _against_rest(by_class: Array, place: int, suffix: str = "") -> dict[str, Array]:
    """The columns of a class against the rest, from high scores to low ones."""
    others = np.arange(len(by_class)) != place
    return {f"positives{suffix}": by_class[place, ::-1], f"negatives{suffix}": by_class[others, ::-1].sum(0)}


def _cells_of(segment: int | None, cells: int) -> range | None:
    """The cells of a segment, which has so many, or None for those of all rows."""
    return None if segment is None else range(cells * segment, cells * (segment + 1))


def losses_against_rest(moments: Array, own: Array, others: Array) -> Array:
    """Put together what each class's own rows lose, and what its score costs the other rows (surprise, squares)."""
    each = {SURPRISE: (moments[..., SURPRISES, 0], others[..., 0]), SQUARES: (own, others[..., 1])}
    return np.stack([np.stack(each[loss], axis=-1) for loss in KEPT], axis=-2)


def decided_by(asked: RowQuestion) -> DecidedBy:
    """How the decisions come about."""
    if asked.prediction is not None:
        return "rows"
    return "score" if asked.pricing is None else "costs"


def decisions_of(asked: RowQuestion, classes: tuple[str, ...]) -> tuple[str, ...]:
    """What can be decided where nobody decided yet."""
    return classes if asked.pricing is None else asked.pricing.decisions(classes)


def is_of(plan: Plan, classes: tuple[str, ...]) -> bool:
    """Whether a question turned out to be about these classes in this order, none of which is the positive one."""
    return plan.positive is None and plan.classes == classes


def pair_bits(classes: int) -> int:
    """How finely scores are binned by the true class: of more than four, the more classes, the more coarsely."""
    halvings = (classes - 1).bit_length()
    if halvings <= 2:
        return bins.FINE
    return max(bins.FINE + (classes <= MOST_TOGETHER) - halvings, 4)
