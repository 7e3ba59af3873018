"""Scores counted against the truth: what lies at each score, and at or above it."""

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Self

import numpy as np

from stakes import errors
from stakes.errors import Given, InputError, Pass, some
from stakes.frozen import dataclass, field, replace
from stakes.tallies import bins
from stakes.tallies.arithmetic import MOST, Array, Index, Number, Values, are_counts, distinct, divide, finite
from stakes.tallies.base import Tally
from stakes.tallies.checks import as_rows, check_class, check_threshold
from stakes.tallies.columns import COUNTS, Columns
from stakes.tallies.confusion import Confusion
from stakes.tallies.fields import IN_MEMORY, Content, how, say_weighting
from stakes.tallies.grid import Grid
from stakes.tallies.keys import Keys, merge, pack
from stakes.tallies.losses import KEPT, SHAPE, Losses, loss_sums
from stakes.tallies.on_demand import remembered
from stakes.tallies.order import Order
from stakes.tallies.parallel import run_all
from stakes.tallies.small_cells import ranges_without_small_cells
from stakes.tallies.steps import BLOCK, Steps
from stakes.text import visible

_MOST_ROWS = 10**18
"""Most rows of a table: more do not exist, and 64 bits would not hold their sums."""


_GRID = how(
    save=Grid.saved,
    load=Grid.restored,
    same="the grid of bins",
    tell=lambda grid: "none" if grid is None else grid.kind,
)


def save_losses(losses: Array) -> list[object]:
    """Save an infinite loss as None, since JSON has no such number."""
    return [save_losses(part) if np.ndim(part) else None if math.isinf(part) else float(part) for part in losses]


def read_losses(saved: Values, shape: tuple[int, ...]) -> Array:
    """Read what :func:`save_losses` wrote: sums of losses, of this shape in the last axes."""
    losses = np.asarray(np.vectorize(lambda lost: math.inf if lost is None else lost, otypes=[float])(saved))
    if losses.shape[-len(shape) :] != shape or not (losses >= 0).all():
        raise ValueError("the losses")
    return losses


def add_losses(parts: Sequence[Array]) -> Array:
    """Add up sums of losses."""
    return np.asarray(np.sum(parts, axis=0, dtype=np.longdouble), np.float64)


_LOSSES = how(add=add_losses, save=save_losses, load=lambda saved: read_losses(saved, SHAPE))


_FIRST_BINS = 1000
"""Hardly any as many bins hold numbers of three decimals by chance."""


@dataclass(frozen=True, eq=False)
class ScoreTable(Tally):
    """How the scores of the positive and of the negative rows are ordered: everything about thresholds is in it.

    Unweighted rows are stored as sorted :class:`Keys`, 4 or 8 bytes each, from which columns are derived a block at a
    time; anything else as :class:`Columns` over the distinct scores. ``grid`` is the grid of bins when scores were
    rounded down to it (see ``bins.py`` and ``grid.py``). Bins lose the sums of the losses of probabilities, which are
    kept as ``losses`` (``losses.py``), and sums over the order of scores, kept as ``order`` where they are known.
    Scores also stand ``for_bins`` where they were taken from inside them.

    >>> table = ScoreTable.from_rows([0.2, 0.1, 0.5, 0.9, 0.8], [0, 0, 1, 1, 0])
    >>> table.thresholds.tolist()
    [inf, 0.9, 0.8, 0.5, 0.2, 0.1]
    >>> print(table.at(0.5))
    truth \\ decision  negative  positive
    negative                 2         1
    positive                 0         2
    """

    positive: str = field(metadata=how(same="the positive class"))
    negative: str = field(metadata=how(same="the negative class"))
    store: Keys | Columns = field(metadata=IN_MEMORY)  # saved as columns, whatever it is
    grid: Grid | None = field(default=None, metadata=_GRID)
    losses: Array | None = field(default=None, metadata=_LOSSES)
    order: Order | None = field(default=None, metadata=IN_MEMORY)
    for_bins: bool = field(default=False, metadata=IN_MEMORY)

    kind = "scores"
    beside = ("scores", "columns")

    def __post_init__(self) -> None:
        check_class("positive", self.positive)
        check_class("negative", self.negative)
        if self.positive == self.negative:
            raise InputError(
                "classes-not-two", Given("classes", [self.negative, self.positive]), ": give two different classes"
            )

    @classmethod
    def from_rows(
        cls,
        scores: Values,
        truth: Values,
        weight: Values = None,
        *,
        extra: Mapping[str, Array] | None = None,
        positive: str = "positive",
        negative: str = "negative",
    ) -> Self:
        """Count rows: finite scores, whether each is positive, and if wanted weights and columns to add up."""
        truth, scores = as_rows(truth=truth, scores=scores)
        truth = truth.astype(bool, copy=False)
        if scores.dtype.kind != "f":
            scores = as_float_if_exact(scores)
        if weight is None and not extra and scores.dtype.kind == "f" and len(scores):
            keys = pack(scores, truth)
            if keys is not None:
                return cls(positive, negative, keys)
        weight = None if weight is None else as_rows(truth=truth, weight=weight)[1].astype(np.float64, copy=False)
        return cls(positive, negative, Columns.of_rows(scores, truth, weight, extra or {}))

    @classmethod
    def from_columns(
        cls,
        scores: Values,
        positives: Values,
        negatives: Values,
        *,
        positive: str = "positive",
        negative: str = "negative",
    ) -> Self:
        """Make a table from counts at scores (in any order, leading axes first)."""
        scores, *counts = as_rows(-1, scores=scores, positives=positives, negatives=negatives)
        if not all(map(finite, counts)):
            raise errors.bad_counts("some are infinite or not numbers")
        values = dict(zip(COUNTS, counts, strict=True))
        return cls(positive, negative, Columns.added(scores, values))

    # ── what it is ───────────────────────────────────────────────────────────────────────────────────────────
    @property
    def leading(self) -> tuple[int, ...]:
        """The leading axes: () for a single table."""
        return self.store.leading

    @property
    def weighted(self) -> bool:
        """Whether the counts are sums of weights."""
        return self.store.weighted

    @cached_property
    def P(self) -> Number:
        """The (weighted) number of positive rows."""
        return self.store.P

    @cached_property
    def N(self) -> Number:
        """The (weighted) number of negative rows."""
        return self.store.N

    @property
    def effective_rows(self) -> tuple[float, float]:
        """Kish's effective numbers of positive and negative rows."""
        P, N = float(self.P), float(self.N)
        if not self.weighted:
            return P, N
        positives, negatives = self.as_columns().counts("_squared").sum(-1).tolist()
        return (P**2 / positives if P else 0.0), (N**2 / negatives if N else 0.0)

    @property
    def equal_rows(self) -> float:
        """Kish's effective number of rows."""
        return float(self.total) / float(self.row_weight)

    @property
    def row_weight(self) -> Number:
        """The weight of each of these effective rows; 1 without weights."""
        return self.store.row_weight

    @property
    def total(self) -> Number:
        """The (weighted) number of rows."""
        return self.P + self.N

    def check_counts(self) -> None:
        """Refuse fractions of rows, where rows have no weights, and more rows than there are of anything."""
        most = MOST if self.weighted else _MOST_ROWS
        if isinstance(self.store, Columns) and not are_counts(self.store.counts(), self.weighted, most):
            raise errors.no_numbers_of_rows()

    def class_sizes(self) -> dict[str, float]:
        """The (weighted) number of rows of each class."""
        return {self.positive: self.P, self.negative: self.N}

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        return self.store.range

    @property
    def probabilities(self) -> bool:
        """Whether every score lies in [0, 1], so that it can be read as a probability."""
        low, high = self.range
        return low >= 0 and high <= 1

    @property
    def merged(self) -> bool:
        """Whether bins were merged, so that rows of one cell had different scores."""
        return self.grid is not None and len(self.grid.ranges) > 0

    @property
    def grids(self) -> list[str | None]:
        """The kind of the grid, of the one column of scores that there is."""
        return [None if self.grid is None else self.grid.kind]

    @property
    def constant_score(self) -> bool:
        """Whether all rows have the same score."""
        low, high = self.range
        return low == high and not self.merged

    @property
    def copies_truth(self) -> bool:
        """Whether the score is the truth itself: one value for all positives, a lower one for all negatives."""
        low, high = self.range
        if self.merged or not self.P or not self.N or low == high:
            return False
        if isinstance(self.store, Keys):
            ends = (high, math.nextafter(low, math.inf))
            return all(self.store.at_least(end) == (self.P, 0) for end in ends)
        values, above, below = self.store.values, self.store.scores > low, self.store.scores < high
        return not values["negatives"][above].any() and not values["positives"][below].any()

    # ── thresholds ───────────────────────────────────────────────────────────────────────────────────────────
    def steps(self) -> Iterator[Steps]:
        """Walk down the distinct scores in blocks.

        A step belongs to the block in which its first row lies, however the table is stored; so sums over
        blocks are the same to the last bit for the same counts. Of scores in bins as many bins make a block.
        """
        return (make() for make in self.blocks())

    def blocks(self) -> list[Callable[[], Steps]]:
        """Return the blocks of :meth:`steps`, each to be made when it is wanted, by any thread."""
        in_bins = self.for_bins or self.grid is not None
        return self.as_columns().blocks(in_bins=True) if in_bins else self.store.blocks()

    @property
    def thresholds(self) -> Array:
        """The thresholds worth considering, highest first: +∞ ("nobody") and every distinct score."""
        return _as_thresholds(self.as_columns().scores)

    def reached(self) -> tuple[Array, Array, Array]:
        """Return the thresholds, and how many (weighted) positives and negatives reach each of them, as float64."""

        def of_block(make: Callable[[], Steps]) -> tuple[Array, Array, Array]:
            steps = make()
            return steps.scores, steps.tp, steps.fp

        blocks = self.blocks()
        walked = run_all([partial(of_block, make) for make in blocks], len(blocks) * BLOCK)
        scores, tp, fp = zip(*walked, strict=True) if walked else ((), (), ())
        none = np.zeros((*self.leading, 1))
        counts = [np.concatenate([none, *parts], axis=-1, dtype=np.float64) for parts in (tp, fp)]
        return _as_thresholds(np.concatenate(scores) if scores else np.zeros(0)), counts[0], counts[1]

    def confusions(self) -> Confusion:
        """Return the confusion tables of all thresholds, along a leading axis in the order of ``thresholds``."""
        columns = self.as_columns()
        return self._confusion(columns, lambda name: (columns.found(name), columns.rest(name)))

    def at_each(self, thresholds: Array) -> Confusion:
        """Return the confusion tables of several thresholds, along a leading axis in their order."""
        for threshold in thresholds:
            self.refuse_inside_bin(threshold)
        columns = self.as_columns()
        places = columns.reaching(thresholds)
        parts = columns.found, columns.rest
        return self._confusion(columns, lambda name: [part(name)[..., places] for part in parts])

    def at(self, threshold: float) -> Confusion:
        """Return the confusion table of the rule "positive when score ≥ threshold"."""
        check_threshold(threshold)
        if isinstance(self.store, Keys):
            tp, fp = self.store.at_least(threshold)
            return self._table(tp, self.P - tp, fp, self.N - fp)
        self.refuse_inside_bin(threshold)
        columns = self.store
        return self._confusion(columns, lambda name: columns.between(name, [threshold, -math.inf]))

    def decided(self, decisions: Sequence[str], steps: Sequence[tuple[str, float]]) -> Confusion:
        """Return the table of several decisions, each taken from a lowest score on (from low scores to high ones)."""
        columns, starts = [decisions.index(name) for name, _ in steps], [start for _, start in steps]

        def taken(suffix: str) -> Array:
            """What lies at or above each start, and not at or above the next one."""
            each = np.array([self._between(name + suffix, starts[::-1]) for name in COUNTS])
            found = np.zeros((2, len(decisions)), each.dtype)
            found[:, columns] = each[:, ::-1]
            return found

        pair = (self.negative, self.positive)
        squares = taken("_squared")[::-1] if self.weighted else None
        return Confusion(pair, tuple(decisions), taken("")[::-1], squares, self.positive)

    def _between(self, name: str, thresholds: Sequence[float]) -> Sequence[Number]:
        """What lies at or above each threshold and below the one before it."""
        if isinstance(self.store, Keys):
            above = [0, *(self.store.at_least(threshold)[COUNTS.index(name)] for threshold in thresholds)]
            return [after - before for before, after in itertools.pairwise(above)]
        for threshold in thresholds:
            self.refuse_inside_bin(threshold)
        return self.store.between(name, thresholds)

    def _confusion(self, columns: Columns, parts: Callable[[str], Sequence[Number]]) -> Confusion:
        """Make the tables of what is called positive and what is not (``parts`` of a column)."""

        def cells(suffix: str) -> Confusion:
            (tp, fn), (fp, tn) = (parts(name + suffix) for name in COUNTS)
            return self._table(tp, fn, fp, tn)

        table = cells("")
        return table.with_counts(table.counts, cells("_squared").counts) if self.weighted else table

    def _table(self, tp: Number, fn: Number, fp: Number, tn: Number) -> Confusion:
        return Confusion.two_class(tp=tp, fn=fn, fp=fp, tn=tn, positive=self.positive, negative=self.negative)

    def answers(self, threshold: float) -> bool:
        """Whether the counts at or above a threshold are known: not where it lies inside a bin."""
        if self.grid is None or not np.isfinite(threshold):
            return True
        if self.grid.kind == "probability" and not 0 <= threshold <= 1:
            return True  # above or below every score
        return self.grid.around(threshold)[0] == threshold

    def refuse_inside_bin(self, threshold: float) -> None:
        """Refuse a threshold that these counts do not answer."""
        if self.grid is not None and not self.answers(threshold):
            low, high = self.grid.around(threshold)
            raise InputError(
                "threshold-inside-bin",
                Given("threshold", threshold),
                f" lies inside a bin of this table; the nearest that it can answer are {low!r} and {high!r}; for this "
                "one, which costs may imply, count the rows with ",
                Pass("threshold", threshold),
            )

    # ── other tables made from this one ──────────────────────────────────────────────────────────────────────
    def as_columns(self) -> Columns:
        """Return the same counts as columns over the distinct scores."""
        if isinstance(self.store, Columns):
            return self.store
        walked = list(self.steps())
        counts = {name: np.concatenate([getattr(s, name) for s in walked]) for name in COUNTS}
        return Columns(np.concatenate([s.scores for s in walked]), counts)

    def upwards(self) -> tuple[Array, Array, Array]:
        """Return the distinct scores from the lowest on, with the (weighted) positives and negatives at each."""
        columns = self.as_columns()
        found = (columns.scores, *(columns.values[name] for name in COUNTS))
        scores, positives, negatives = (one[::-1].astype(np.float64) for one in found)
        return scores, positives, negatives

    @remembered
    def constant(self) -> Self:
        """Return the table of giving every case the same score, the prevalence: what ignoring the input scores."""
        if self.leading:
            flat = [self[place].constant() for place in np.ndindex(self.leading)]
            columns = Columns.stacked([table.as_columns() for table in flat])
            shaped = {name: column.reshape(*self.leading, -1) for name, column in columns.values.items()}
            return self._like(Columns(columns.scores, shaped))
        share = np.array([float(self.P / self.total) if self.total else 0.5])
        counts = {"positives": self.P, "negatives": self.N}
        whole = {name: np.array([count if isinstance(count, int) else float(count)]) for name, count in counts.items()}
        if self.weighted:
            squares = self.as_columns().counts("_squared").sum(-1, keepdims=True)
            whole |= {f"{name}_squared": column for name, column in zip(COUNTS, squares, strict=True)}
        return self._like(Columns(share, whole))

    def flipped(self) -> Self:
        """Return the same rows by the scores of the other class: 1 − p, or the negative of what is no probability."""
        columns = self.as_columns()
        scores = columns.scores.astype(np.float64)[::-1]
        values = {
            f"{one}{suffix}": columns.values[f"{other}{suffix}"][..., ::-1]
            for one, other in zip(COUNTS, COUNTS[::-1], strict=True)
            for suffix in (("", "_squared") if self.weighted else ("",))
        }
        store = Columns.joined_neighbours(1.0 - scores if self.probabilities else -scores, values)
        return type(self)(self.negative, self.positive, store)

    def at_shares(self, positive: float, negative: float) -> Self:
        """Return as many rows with the same scores within the classes, and the classes as frequent as that."""
        columns, total = self.as_columns(), np.asarray(self.P + self.N, np.float64)
        shares, sizes = (positive, negative), np.stack([np.asarray(one, np.float64) for one in (self.P, self.N)], -1)
        factors = divide(np.array(shares) * total[..., None], sizes)
        values = {name: columns.values[name] * factors[..., i, None] for i, name in enumerate(COUNTS)}
        if self.weighted:  # a row weighs what it did
            unit = np.asarray(self.row_weight)[..., None]
            values |= {f"{name}_squared": column * unit for name, column in values.items()}
        losses = None if self.losses is None else self.losses * factors[..., None, :]
        return self._like(Columns(columns.scores, values), self.grid, losses)

    def binned(self, grid: str | None = None) -> Self:
        """Return the table with scores rounded down to a fixed grid: smaller, and fit to be shared.

        Tables add up when they are on the same grid: "probability" for scores in [0, 1], "line" for any number. Name it
        when other parts may have other scores.
        """
        if self.grid is not None:
            return self
        grid = grid or self._usual_grid
        if grid not in bins.GRIDS or (grid == "probability" and not self.probabilities):
            raise InputError(
                "bad-grid",
                Given("grid", grid),
                f" does not hold scores from {self.range[0]:g} to {self.range[1]:g}; the grids are "
                f"{some(bins.GRIDS, last='or')} ('probability' for scores in [0, 1])",
            )
        return self._on(Grid(grid))

    @cached_property
    def off_by(self) -> float:
        """How far a score may lie from the one that :meth:`at_middles` takes it for."""
        if self.grid is None:
            return 0.0
        low, taken, high = self.inside_bins
        return float(np.maximum(taken - low, high - taken).max(initial=0.0))

    @remembered
    def at_middles(self) -> Self:
        """Return the same with a score inside each bin in place of its lower end, as if all its rows had that one.

        It is one of up to three decimals where there is one, since scores are often rounded, otherwise the middle.
        """
        if self.grid is None:
            return self
        taken = self.inside_bins[1].copy()
        taken[np.abs(taken) < sys.float_info.min] = 0.0  # which is what rows of that bin had
        columns = Columns.joined_neighbours(taken, self.as_columns().values)
        return type(self)(self.positive, self.negative, columns, for_bins=True)

    @property
    def inside_bins(self) -> tuple[Array, Array, Array]:
        """Where bins begin, a score inside each, and where they end, at a cut at the latest."""
        scores = self.as_columns().scores
        if self.grid is None:
            return scores, scores, scores
        low, middle, rounded, high = self._ends_of_bins(len(scores))
        return low, np.where((rounded >= low) & (rounded < high), rounded, middle), high

    @cached_property
    def rounded(self) -> bool:
        """Whether every bin holds a number of up to three decimals, as bins of rounded scores do: rows in it tie."""
        if self.grid is None or self.merged:
            return False
        return all(self._are_rounded(some) for some in (_FIRST_BINS, len(self.as_columns().scores)))

    def _are_rounded(self, some: int) -> bool:
        low, _, nearest, high = self._ends_of_bins(some)
        return bool(((nearest == low) | ((nearest > low) & (nearest < high))).all())  # bins of 0 and 1 have no width

    def _ends_of_bins(self, some: int) -> tuple[Array, Array, Array, Array]:
        """Where the first bins begin, their middles and the nearest numbers of three decimals, and where they end."""
        assert self.grid is not None
        low = np.asarray(self.as_columns().scores[:some], np.float64)
        high = np.minimum(self.grid.upper_edges(low), np.append(np.inf, low[:-1])[: len(low)])
        middle = (low + high) / 2
        return low, middle, np.round(middle, 3), high

    def cut_at(self, tables: Mapping[float, Confusion]) -> Self:
        """Return the table with bins cut at thresholds inside them, whose decisions were counted beside the bins."""
        assert self.grid is not None
        columns = self.as_columns()
        for threshold, table in tables.items():
            reached = {"positives": table.tp, "negatives": table.fp}
            if table.squares is not None:
                squares = table.with_counts(table.squares)
                reached |= {"positives_squared": squares.tp, "negatives_squared": squares.fp}
            columns = columns.split(threshold, self.grid.around(threshold)[0], reached)
        return replace(self, store=columns, grid=replace(self.grid, cuts=tuple(sorted(tables))))

    @property
    def _usual_grid(self) -> str:
        return "probability" if self.probabilities else "line"

    def on_grid(self, grid: str) -> Self:
        """Return the table with scores rounded down to a grid, or to another one that is no finer than its own."""
        return self.binned(grid) if self.grid is None else self._on(Grid(grid, bits=self.grid.bits))

    def _on(self, grid: Grid | None) -> Self:
        """Return the table with scores rounded down to a grid that is no finer than its own."""
        if grid is None or grid == self.grid:
            return self
        if isinstance(self.store, Columns):
            edges = grid.lower_edges(np.asarray(self.store.scores))
            return self._like(Columns.added(edges, self.store.values), grid, self._added_losses())
        coarse = [  # a block at a time: the columns of all rows would take several times their memory
            Columns.joined_neighbours(grid.lower_edges(block.scores), {name: getattr(block, name) for name in COUNTS})
            for block in self.steps()
        ]
        counts = {name: np.concatenate([part.values[name] for part in coarse]) for name in COUNTS}
        edges = np.concatenate([part.scores for part in coarse])
        return self._like(Columns.joined_neighbours(edges, counts), grid, self._added_losses())

    def _added_losses(self) -> Array | None:
        """The sums of losses, before the values of scores are lost in bins."""
        if self.grid is not None or not self.probabilities:
            return self.losses
        parts = [loss_sums(step.scores, np.stack([step.positives, step.negatives], axis=-2)) for step in self.steps()]
        return add_losses(parts)

    def lost(self, losses: Losses) -> Number:
        """The sum of a loss over all rows of bins."""
        assert self.losses is not None
        found = self.losses[..., KEPT.index(losses), :].sum(-1)
        return found if self.leading else float(found)

    def anonymise(self, minimum: float) -> Self:
        """Return the table in bins, merged until every cell is empty or holds at least so many rows.

        A cell is the positives or the negatives in a bin; the size of weighted ones is Kish's number of rows. A side of
        ½ (or a whole line) that has too few rows is one bin. Tables add up although other bins were merged.
        """
        grid = Grid(self._usual_grid) if self.grid is None else replace(self.grid, cuts=())
        table = self._on(grid)
        columns = table.as_columns()
        cells, squares = (columns.counts(suffix)[:, ::-1] for suffix in ("", "_squared" if self.weighted else ""))
        numbers = grid.numbers(columns.scores[::-1])
        ranges = ranges_without_small_cells(numbers, cells, squares, grid.kind, minimum)
        few = min((rows for rows in table.effective_rows if rows), default=minimum) < minimum
        return replace(table, losses=None if few else table.losses)._on(grid.joined([Grid(grid.kind, ranges)]))

    def compressed(self, single: int = 48) -> Self:
        """Return a table of some hundred scores, for resampling: neighbours in the ranking are merged.

        Pieces grow in proportion to their rank, so the top of the ranking, on which precision depends, stays as it is:
        the first ``single`` rows by themselves.
        """
        store = self.store
        if isinstance(store, Columns):
            return self._like(store.cut(self._growing_places(store, single)), self.grid)
        scores, positives, negatives = store.cut(growing(len(store), single))
        return self._like(Columns(scores, {"positives": positives, "negatives": negatives}))

    def _growing_places(self, columns: Columns, single: int) -> Array:
        """The ends of pieces that grow with the rank of rows, as with keys; with weights, with the rank of scores."""
        if self.weighted or self.leading or not len(columns.scores):
            return growing(len(columns.scores), single)
        reached = np.cumsum(columns.values["positives"] + columns.values["negatives"])
        return distinct(np.searchsorted(reached, growing(int(reached[-1]), single)) + 1)

    def between(self, thresholds: Array) -> Self:
        """Return the table with everything between two of these thresholds merged: it answers them as before."""
        columns = self.as_columns()
        places = distinct(np.append(columns.reaching(thresholds), len(columns.scores)))
        return self._like(columns.cut(places[places > 0]), self.grid)

    def some_rows(self, most: int) -> tuple[Array, Array, Array]:
        """Return scores with their positives and negatives: all, or evenly spaced ones of more than ``most`` rows."""
        if isinstance(self.store, Columns):
            return self.store.scores, self.store.values["positives"], self.store.values["negatives"]
        scores, labels = self.store.some(most)
        return scores, labels, 1 - labels

    def _like(self, store: Keys | Columns, grid: Grid | None = None, losses: Array | None = None) -> Self:
        return type(self)(self.positive, self.negative, store, grid, losses, for_bins=self.for_bins)

    # ── a tally like any other ───────────────────────────────────────────────────────────────────────────────
    def __getitem__(self, index: Index) -> Self:
        """Take one (or some) of the leading axis."""
        if not self.leading:
            raise TypeError("this score table has no leading axis to index")
        return self._like(self.as_columns()[index], self.grid, None if self.losses is None else self.losses[index])

    @classmethod
    def _stack(cls, parts: Sequence[Self]) -> Self:
        parts = cls._on_common_grid(parts)
        losses = [part.losses for part in parts if part.losses is not None]
        stacked = Columns.stacked([part.as_columns() for part in parts])
        return parts[0]._like(stacked, parts[0].grid, np.stack(losses) if len(losses) == len(parts) else None)

    @classmethod
    def _on_common_grid(cls, parts: Sequence[Self]) -> list[Self]:
        """Return the parts on the finest grid that fits all of them."""
        grids = [part.grid for part in parts if part.grid is not None]
        common = grids[0].joined(grids[1:]) if grids else None
        return [part._on(common) for part in parts]

    def _question(self) -> dict[str, object]:
        extra = set(self.store.values) if isinstance(self.store, Columns) else set()
        return {
            **super()._question(),
            "weighting": say_weighting(self.weighted),
            "the list of extra columns": sorted(extra - {"positives", "negatives"}),
            "the shape of the leading axes": self.leading,
        }

    @classmethod
    def _sum(cls, parts: list[Self]) -> Self:
        keys = [part.store for part in parts if isinstance(part.store, Keys)]
        if len(keys) == len(parts) and len({k.layout for k in keys}) == 1:
            return parts[0]._like(merge(keys))
        parts = cls._on_common_grid(parts)
        losses = _LOSSES["how"].added([part.losses for part in parts])
        return parts[0]._like(Columns.merged([part.as_columns() for part in parts]), parts[0].grid, losses)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreTable):
            return NotImplemented
        if (
            self._question() != other._question()
            or self.grid != other.grid
            or not np.array_equal(self.total, other.total)
        ):
            return False
        a, b = self.store, other.store
        if isinstance(a, Keys) and isinstance(b, Keys) and a.layout == b.layout:
            return np.array_equal(a.values, b.values)
        return self.as_columns() == other.as_columns()

    def _content(self) -> Content:
        columns = self._on(None if self.grid is None else replace(self.grid, cuts=())).as_columns()
        return {**super()._content(), "scores": columns.scores, "columns": dict(columns.values)}

    @classmethod
    def _restored(cls, content: Content) -> Self:
        scores = np.asarray(content["scores"])
        values = {name: np.asarray(column) for name, column in content["columns"].items()}
        if scores.dtype.kind not in "biufO" or not {"positives", "negatives"} <= set(values):
            raise ValueError("scores, positives or negatives")
        if scores.ndim != 1 or any(column.shape[-1:] != scores.shape for column in values.values()):
            raise ValueError("columns of different lengths")
        if not (scores[1:] < scores[:-1]).all():
            raise ValueError("scores that are not in order, or stand there twice")
        if not all(finite(column) for column in values.values()):
            raise ValueError("columns that are not finite numbers")
        squared = {f"{name}_squared" for name in COUNTS} & set(values)
        if len(squared) == 1 or any(
            ((values[name] > 0) != (values[name.removesuffix("_squared")] > 0)).any() for name in squared
        ):
            raise ValueError("squares without weights, or weights without squares")
        if not content["positive"] or not content["negative"]:
            raise ValueError("a class without a name")
        grid = _GRID["how"].from_file(content["grid"])
        if grid is not None and not (grid.lower_edges(scores) == scores).all():
            raise ValueError("the scores are not on the grid")
        losses = _LOSSES["how"].from_file(content.get("losses"))
        return cls(content["positive"], content["negative"], Columns.added(scores, values), grid, losses)

    def __str__(self) -> str:
        how = f"binned on the {self.grid.kind} grid" if self.grid else "exact"
        rows = (
            "" if self.leading else f" of {float(self.total):,.15g} rows ({self.positive!r} against {self.negative!r})"
        )
        return visible(f"<ScoreTable{rows}, {how}>")


def _as_thresholds(scores: Array) -> Array:
    """Scores, the highest first, after +∞; whole numbers too large for floats stay what they are."""
    return np.concatenate([[np.inf], scores if scores.dtype.kind == "f" else scores.astype(object)])


def growing(rows: int, single: int = 48) -> Array:
    """Whole numbers up to ``rows``, each larger than the one before by a 48th (or so), at least by 1."""
    growth = 1 / single
    if rows <= single:
        return np.arange(1, rows + 1)
    steps = math.ceil(math.log(rows / single) / math.log1p(growth))
    larger = np.rint(np.geomspace(single, rows, steps + 1)).astype(np.int64)
    return np.unique(np.concatenate([np.arange(1, single), larger]))


def as_float_if_exact(scores: Array) -> Array:
    """Turn whole numbers into float64 where that loses nothing; larger ones stay integers."""
    if scores.dtype.kind == "b" or not scores.size or max(abs(int(scores.min())), abs(int(scores.max()))) <= 1 << 53:
        return scores.astype(np.float64)
    return scores
