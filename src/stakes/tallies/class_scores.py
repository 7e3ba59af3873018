"""Class probabilities counted against the truth, for more than two classes."""

import math
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Self

import numpy as np

from stakes import errors
from stakes.errors import About, InputError
from stakes.frozen import dataclass, field, replace
from stakes.tallies import bins
from stakes.tallies.arithmetic import Array, Number, alike, are_counts, distinct, exact, finite
from stakes.tallies.base import Tally
from stakes.tallies.checks import as_rows, is_sequence
from stakes.tallies.class_blocks import MOMENTS, BlockSums, Span, ranked_losses
from stakes.tallies.clusters import Clusters
from stakes.tallies.fields import SUMMED, SUMMED_FLOATS, WEIGHTED, Content, how, same
from stakes.tallies.scores import ScoreTable, add_losses, read_losses, save_losses

PARTS = ("tables", "pairs", "ranks", "squares", "given", "sample")
ORDERED = (*PARTS, "ranked")
"""What only some figures need: each class's scores against the rest and against every other class, and sums."""

_OF_ALL_SCORES = ("ranks", "squares", "given", "ranked")
"""Sums of all scores of a row; others look up that of the true class alone."""

SAMPLE = 20_000
"""Most rows that are kept: enough for the spread of a figure to a few per cent."""


_FEW_OF_FIRST = 30
"""A sample with fewer of the first k rows does not tell a figure of these, nor how it varies."""


@dataclass(frozen=True, eq=False)
class ClassSample:
    """Some of the rows, for the spread of figures that compare rows.

    ``weight`` is the weight of the rows that each stands for, ``squares`` the sum of their squared weights.
    """

    scores: Array
    truth: Array
    weight: Array
    squares: Array

    @classmethod
    def of(cls, scores: Array, truth: Array, weight: Array | None) -> Self:
        """Copy all rows, or a random sample of them."""
        unit = np.ones(len(truth)) if weight is None else weight
        return cls(scores.copy() if len(truth) <= SAMPLE else scores, truth, unit, unit**2).thinned()

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Join samples, and thin them out to the usual size."""
        names = ("scores", "truth", "weight", "squares")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names)).thinned()

    @property
    def share(self) -> float:
        """The share of the rows that are kept, whatever they weigh."""
        return len(self.truth) / float((self.weight**2 / self.squares).sum())

    @property
    def partial(self) -> bool:
        """Whether only some of the rows are kept."""
        return self.share < 1 - 1e-9

    def thinned(self) -> Self:
        """Take some rows at random, each of which stands for more of them."""
        n = len(self.truth)
        if n <= SAMPLE:
            return self
        rows = distinct(np.random.default_rng(0).integers(0, n, SAMPLE))
        share = n / len(rows)
        return type(self)(self.scores[rows], self.truth[rows], self.weight[rows] * share, self.squares[rows] * share)


_MOST_IN_64_BITS = 1 << 30
"""The pairs of more rows than this are counted by Python's integers."""


def _read_sum(saved: float | str) -> float:
    """A sum of losses: NaN where the scores are no probabilities, infinite where one of 0 came true."""
    number = float(saved)
    if number < 0:
        raise ValueError("losses below 0")
    return number


def _read_squares(saved: float) -> float:
    number = float(saved)
    if not 0 <= number < math.inf:
        raise ValueError("squared weights")
    return number


_TABLES = how(
    add=lambda parts: tuple(ScoreTable.sum(tables) for tables in zip(*parts, strict=True)),
    save=lambda tables: [table.saved() for table in tables],
    load=lambda saved: tuple(map(ScoreTable.from_dict, saved)),
)
_LOSSES = how(add=math.fsum, save=lambda loss: loss if math.isfinite(loss) else str(loss), load=_read_sum)
_RANGE = how(
    add=lambda ranges: (min(low for low, _ in ranges), max(high for _, high in ranges)),
    save=list,
    load=lambda saved: tuple(map(float, saved)),
)
_MOMENTS = how(add=add_losses, save=save_losses, load=lambda saved: read_losses(saved, MOMENTS))
_PAIRS = how(add=lambda parts: parts[0] if len(parts) == 1 else None, load=np.asarray)
_ROWS = how(add=ClassSample.joined, saved=False)
_GROUPS = how(add=Clusters.joined, saved=False)


@dataclass(frozen=True, eq=False)
class ClassScores(Tally):
    """One score per class and row, in the order of ``classes``.

    ``tables`` hold each class's score against the rest; ``sizes`` are the (weighted) rows of each class; ``ranks[r]``
    is how often r other classes went before the true one: they scored more, or the same and stand before it in the
    order of classes; ``surprise`` and ``squares`` are the sums of log loss and of squared distances, NaN when the
    scores are no probabilities. ``pair_wins[i, j]`` is twice the number of pairs in which a row of class i gets more of
    score i than a row of class j; pairs between parts are not known, so a sum of parts has none. Where scores were
    counted in bins ``pair_ties`` are the pairs that share one and count as half a win each. ``given[i, j]`` is the sum
    of the probabilities of class j over the rows of class i, None when it was not counted or the scores are no
    probabilities. ``sample`` are some of the rows; it is not saved. ``ranked`` is the sum of the ranked probability
    scores of ordered classes, None where it was not counted. Where no sample is left, ``moments`` give the spread of
    the losses (see ``MOMENTS``), and figures that compare rows vary like ``row_groups``: rows in another engine, put
    together at random.
    """

    classes: tuple[str, ...] = field(metadata=same("the list of classes"))
    tables: tuple[ScoreTable, ...] = field(metadata=_TABLES)
    sizes: Array = field(metadata=SUMMED)
    ranks: Array = field(metadata=SUMMED)
    surprise: float = field(metadata=_LOSSES)
    squares: float = field(metadata=_LOSSES)
    range: tuple[float, float] = field(metadata=_RANGE)
    pair_wins: Array | None = field(metadata=_PAIRS)
    weighted: bool = field(default=False, metadata=WEIGHTED)
    squared_weight: float = field(default=0.0, metadata=how(add=math.fsum, load=_read_squares))
    given: Array | None = field(default=None, metadata=SUMMED_FLOATS)
    sample: ClassSample | None = field(default=None, metadata=_ROWS)
    pair_ties: Array | None = field(default=None, metadata=_PAIRS)
    moments: Array | None = field(default=None, metadata=_MOMENTS)
    ranked: float | None = field(default=None, metadata=_LOSSES)
    row_groups: Clusters | None = field(default=None, metadata=_GROUPS)

    kind = "class_scores"

    @classmethod
    def from_rows(
        cls,
        scores: Array,
        truth: Array,
        classes: Sequence[str],
        weight: Array | None = None,
        *,
        parts: Collection[str] | None = None,
        span: Span | None = None,
    ) -> Self:
        """Count an (n, k) array of scores; ``truth`` are codes into the classes.

        ``parts`` are those that are wanted, ``span`` what is known of the scores already.
        """
        parts = PARTS if parts is None else parts
        (truth,), (scores,) = as_rows(truth=truth), as_rows(-1, scores=scores)
        if weight is not None:
            weight = as_rows(truth=truth, weight=weight)[1]
        k = len(classes) if is_sequence(classes) else 0
        if scores.shape != (len(truth), k) or not len(truth) or not k:
            raise errors.bad_counts(f"scores of shape {scores.shape} do not fit {len(truth)} rows and {k} classes")
        if truth.dtype.kind not in "biu" or truth.min() < 0 or truth.max() >= k:
            raise InputError(
                "codes-beyond-classes",
                About("truth"),
                f" holds numbers of classes, from 0 to {k - 1}; give whole numbers in that range",
            )
        sums = _add_up(scores, truth, k, weight, parts, span or Span.of(scores))
        return cls(
            tuple(classes),
            tuple(
                ScoreTable.from_rows(
                    np.ascontiguousarray(scores[:, i]), truth == i, weight, positive=name, negative=f"not {name}"
                )
                for i, name in enumerate(classes)
                if "tables" in parts
            ),
            **sums,
            pair_wins=_pair_wins(scores, truth, k, weight) if "pairs" in parts else None,
            weighted=weight is not None,
            squared_weight=float(len(truth)) if weight is None else float((weight**2).sum()),
            sample=ClassSample.of(scores, truth, weight) if "sample" in parts else None,
        )

    def hardly_samples(self, first: float) -> bool:
        """Whether only some rows are in the sample, and hardly any of so many with the highest scores."""
        return self.sample is not None and self.sample.partial and first * self.sample.share < _FEW_OF_FIRST

    @property
    def equal_rows(self) -> float:
        """Kish's effective number of rows."""
        return float(self.total) ** 2 / self.squared_weight if self.squared_weight else 0.0

    @cached_property
    def total(self) -> Number:
        """The (weighted) number of rows."""
        return exact(self.sizes).sum()

    def class_sizes(self) -> dict[str, float]:
        """The (weighted) number of rows of each class."""
        return dict(zip(self.classes, self.sizes.tolist(), strict=True))

    @property
    def probabilities(self) -> bool:
        """Whether every score lies in [0, 1], and those of a row add up to 1."""
        return not math.isnan(self.surprise)

    def constant(self) -> Self:
        """Return what giving everyone the class frequencies scores."""
        shares = np.array([float(size / self.total) for size in exact(self.sizes)])
        sizes = self.sizes.astype(np.float64)
        order = [int((shares > share).sum() + (shares[:place] == share).sum()) for place, share in enumerate(shares)]
        with np.errstate(divide="ignore", invalid="ignore"):
            surprise = float(-np.where(sizes > 0, sizes * np.log(shares), 0).sum())
        return type(self)(
            self.classes,
            tuple(table.constant() for table in self.tables),
            self.sizes,
            np.bincount(order, weights=sizes, minlength=len(self.classes)),
            surprise if self.probabilities else math.nan,
            float((sizes * (1 - 2 * shares + (shares**2).sum())).sum()) if self.probabilities else math.nan,
            self.range,
            None if self.pair_wins is None else np.outer(self.sizes, self.sizes),
            self.weighted,
            given=np.outer(sizes, shares) if self.probabilities else None,
            ranked=None
            if self.ranked is None
            else float(sizes @ ranked_losses(np.arange(len(sizes)), np.tile(shares, (len(sizes), 1)))),
        )

    def check(self) -> None:
        """Refuse parts that are not of the same rows."""
        K, sizes = len(self.classes), self.sizes
        if tuple(table.positive for table in self.tables) != self.classes:
            raise ValueError("tables of other classes")
        pairs = ((self.pair_wins, (K, K)), (self.pair_ties, (K, K)))
        for array, shape in ((sizes, (K,)), (self.ranks, (K,)), *pairs):
            if array is not None and (array.shape != shape or not are_counts(array, self.weighted)):
                raise ValueError("sizes, ranks or pairs")
        given = self.given
        if given is not None and (given.shape != (K, K) or not finite(given) or (given < 0).any()):
            raise ValueError("sums of probabilities")
        if not all(alike(total, sizes.sum()) for total in (self.ranks.sum(), *(table.total for table in self.tables))):
            raise ValueError("tables of different numbers of rows")
        low, high = self.range
        if not -math.inf < low <= high < math.inf:
            raise ValueError("the range of the scores")
        if not (math.isnan(self.surprise) or (low >= 0 and high <= 1)):
            raise ValueError("losses of what are no probabilities")
        if self.moments is not None and self.moments.shape != (K, *MOMENTS):
            raise ValueError("the losses")

    @property
    def grids(self) -> list[str | None]:
        """The kind of grid that each class's scores lie on, None where they were not counted in bins."""
        return [kind for table in self.tables for kind in table.grids]

    @property
    def in_bins(self) -> bool:
        """Whether scores were counted in bins."""
        return any(self.grids)

    def binned(self, *grids: str | None) -> Self:
        """Return the same with each class's scores in bins, on grids of these kinds."""
        kinds = grids or [None] * len(self.tables)
        tables = tuple(table.binned(kind) for table, kind in zip(self.tables, kinds, strict=True))
        return replace(self, tables=tables)

    @property
    def merged(self) -> bool:
        """Whether bins of some class were merged, so that rows of one cell had different scores."""
        return any(table.merged for table in self.tables)

    @cached_property
    def off_by(self) -> float:
        """How far a score may lie from the one that :meth:`at_middles` takes it for."""
        return max(table.off_by for table in self.tables)

    def at_middles(self) -> Self:
        """Return the same with a score inside each bin in place of its lower end."""
        return replace(self, tables=tuple(table.at_middles() for table in self.tables)) if self.in_bins else self

    def anonymise(self, minimum: float) -> Self:
        """Return the same with every table in bins, and a range that reveals no single score."""
        tables = tuple(table.anonymise(minimum) for table in self.tables)
        numbers = bins.numbers(np.array(self.range), "line", 0)
        ends = bins.edges(np.add(numbers, (0, 1)), "line", 0)  # powers of two
        span = (0.0, 1.0) if self.probabilities else (float(ends[0]), float(ends[1]))
        few = bool(((self.sizes > 0) & (self.sizes < minimum)).any())  # whose sums would reveal single rows
        moments, given = (None, None) if few else (self.moments, self.given)
        kept = replace(self, tables=tables, range=span, sample=None, row_groups=None)
        return replace(kept, moments=moments, given=given)

    def __str__(self) -> str:
        return f"<ClassScores of {float(self.total):,.15g} rows and {len(self.classes)} classes>"


def _add_up(scores: Array, truth: Array, k: int, weight: Array | None, parts: Collection[str], span: Span) -> Content:
    """Add up sizes, ranks and losses block by block; scores that are no probabilities have no losses."""
    proper = span.probabilities
    wanted = {*parts, "losses", *(("moments",) if {"sample", "squares"} <= {*parts} else ())} if proper else {*parts}
    sums = BlockSums(k, wanted)
    for start in range(0, len(truth), sums.rows):
        rows = slice(start, start + sums.rows)
        table = scores[rows].T
        if not wanted.isdisjoint(_OF_ALL_SCORES):
            room = sums.room(table.shape[1])
            np.copyto(room, table)
            table = room
        sums.add(table, truth[rows], None if weight is None else weight[rows])
    kind, (surprise, squares) = np.int64 if weight is None else np.float64, sums.moments[0, ..., 0].sum(0).tolist()
    return {
        "sizes": sums.sizes[0].astype(kind),
        "ranks": sums.ranks[0].astype(kind),
        "surprise": float(surprise) if proper else math.nan,
        "squares": float(squares) if proper and "squares" in parts else math.nan,
        "given": sums.given[0].T.astype(np.float64) if proper and "given" in parts else None,
        "range": (span.low, span.high),
        "ranked": float(sums.ranked.sum()) if proper and "ranked" in parts else None,
        "moments": sums.all_moments()[0].astype(np.float64) if "moments" in wanted else None,
    }


def _pair_wins(scores: Array, truth: Array, k: int, weight: Array | None) -> Array:
    """Compare each pair of classes on their own rows (Hand & Till)."""
    order = np.argsort(truth, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(truth, minlength=k))[:-1])
    wins = np.zeros((k, k), np.int64 if weight is None else np.float64)
    for i in range(k):
        column = scores[:, i]
        mine = column[rows[i]]
        for j in range(k):
            if i != j and len(rows[i]) and len(rows[j]):
                both = np.concatenate([mine, column[rows[j]]])
                unit = None if weight is None else np.concatenate([weight[rows[i]], weight[rows[j]]])
                table = ScoreTable.from_rows(both, np.arange(len(both)) < len(mine), unit)
                wins[i, j] = sum((s.positives * (2 * s.tn + s.negatives)).sum() for s in table.steps())
    return wins


def pairs_in_order(counts: Sequence[Array]) -> tuple[Array, Array]:
    """Compare a class with every other one, from the rows of each class at each score, from low scores to high ones.

    Return twice the pairs that a row of class i wins by score i, and the pairs that tie; ``counts[i]`` has a row for
    each class, at the scores of column i.
    """
    wins, ties = [], []
    for i, column in enumerate(counts):
        column = exact(column) if column.dtype.kind == "i" and int(column.sum()) >= _MOST_IN_64_BITS else column
        below = np.cumsum(column, axis=1) - column
        wins.append((column[i] * (2 * below + column)).sum(axis=1))
        ties.append((column[i] * column).sum(axis=1))
        wins[i][i] = ties[i][i] = 0
    return np.stack(wins), np.stack(ties)
