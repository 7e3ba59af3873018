"""Decisions counted against the truth: rows are the truth, columns the decision."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Self

import numpy as np

from stakes import errors
from stakes.errors import InputError, Pass, some
from stakes.frozen import dataclass, field, replace
from stakes.records import Says
from stakes.tallies.arithmetic import MOST, Array, Index, Number, Values, are_counts, divide, exact, is_real, room_for
from stakes.tallies.base import Tally
from stakes.tallies.checks import as_list, check_class, is_one_of, refuse_masked
from stakes.tallies.fields import Content, how, same, say_weighting
from stakes.tallies.on_demand import remembered
from stakes.text import aligned, lines

Confused = tuple[str, str, float, float]
"""A truth, a wrong decision, how often, and in what share of that truth."""

_MANY = 20
MOST_CLASSES = 1000
"""The most classes or decisions of a dense table."""


def _number_classes(counts: Values) -> list[str]:
    """The numbers of the rows of a table, as the names of its classes."""
    rows = as_list(counts)
    if rows is None or isinstance(counts, str | Mapping):
        raise errors.bad_counts(f"a table is a list of rows of numbers, not {errors.short(repr(counts))}")
    return list(map(str, range(len(rows))))


def _total(parts: list[Array]) -> Array:
    """Add up; counts whose sum could pass 64 bits as Python integers."""
    return np.asarray(np.sum([room_for(part, len(parts)) for part in parts], axis=0))


_COUNTS = how(add=_total, load=np.asarray, same="the shape of the leading axes", tell=lambda counts: counts.shape[:-2])
_SQUARES = how(add=_total, load=np.asarray, same="weighting", tell=lambda squares: say_weighting(squares is not None))


@dataclass(frozen=True, eq=False, init=False)
class Confusion(Tally):
    """How often each decision was taken for each true class.

    ``counts[..., i, j]`` says how often decision ``decisions[j]`` met the truth ``truths[i]``: whole numbers, or sums
    of weights, with ``squares`` holding the sums of squared weights. With a ``positive`` class the four cells have
    names: tp, fn, fp, tn, and the margins P, N (truth) and PP, PN (decisions). Without one, figures that are the same
    for both classes are known.

    A published table is given by itself, rows the truth and columns the decision, with the names of its ``classes``
    if they have some; otherwise they are numbered, and of two the second, 1, is positive.

    >>> Confusion([[80, 20], [10, 90]]).tp
    90
    >>> table = Confusion.two_class(tp=2, fn=2, fp=1, tn=1)
    >>> table.tp, table.P, table.PP, table.total
    (2, 4, 3, 6)
    """

    truths: tuple[str, ...] = field(metadata=same("the list of classes"))
    decisions: tuple[str, ...] = field(metadata=same("the list of decisions"))
    counts: Annotated[Array, Says(axes=2)] = field(metadata=_COUNTS)
    squares: Annotated[Array, Says(axes=2)] | None = field(default=None, metadata=_SQUARES)
    positive: str | None = field(default=None, metadata=how(same="the positive class"))

    kind = "confusion"

    def __init__(
        self,
        truths: Values,
        decisions: Values = None,
        counts: Values = None,
        squares: Values = None,
        positive: str | None = None,
        *,
        classes: Values = None,
        **unknown: Values,
    ) -> None:
        """Take names and counts, or a table of counts alone."""
        for name in unknown:
            raise errors.no_such_option("Confusion", name, ("classes", "positive"))
        if counts is None and hasattr(truths, "columns") and hasattr(truths, "index"):  # a frame names its classes
            counts, classes, decisions = np.asarray(truths), list(truths.index), list(truths.columns)
            if sorted(map(str, classes)) == sorted(map(str, decisions)):
                counts, decisions = counts[:, [decisions.index(name) for name in classes]], classes
            truths = classes
        elif counts is None:
            counts, truths = truths, _number_classes(truths) if classes is None else classes
            decisions = truths if decisions is None else decisions
            positive = "1" if positive is None and classes is None and len(truths) == 2 else positive
        given = {"truths": truths, "decisions": decisions, "counts": counts, "squares": squares, "positive": positive}
        for name, value in given.items():
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        for name in ("truths", "decisions"):
            given = getattr(self, name)
            known = None if isinstance(given, str) else as_list(given)
            names = tuple(map(str, known or ()))
            if known is None or len(set(names)) != len(names):
                raise errors.bad_counts(f"{name} must be a list of different names, not {errors.short(repr(given))}")
            object.__setattr__(self, name, names)
        object.__setattr__(self, "counts", self._check_counts_of(self.counts))
        if self.squares is not None:
            object.__setattr__(self, "squares", self._check_counts_of(self.squares))
        if self.positive is not None and len(self.truths) > 2:
            raise errors.positive_of_many(self.positive, self.truths)
        if self.positive is not None and not is_one_of(self.positive, self.truths):
            raise errors.unknown_positive(self.positive, self.truths)

    def _check_counts_of(self, values: Values) -> Array:
        """Return a frozen copy of the right shape, whole numbers as int64 and the others as float64."""
        refuse_masked("counts", values, needed=True)
        try:
            frozen = isinstance(values, np.ndarray) and not values.flags.writeable  # nobody changes it any more
            array = _small_if_possible(values if frozen else np.array(values))
            low, high = (array.min(), array.max()) if array.size else (0, 0)
            unseen = array.dtype.kind == "O" and (array != array).any()  # a NaN among Python numbers is no minimum
        except (ValueError, TypeError, ArithmeticError):
            raise errors.bad_counts("they are no table of numbers") from None
        kind = array.dtype.kind
        if kind not in "biufO":
            raise errors.bad_counts(f"they are {array.dtype} values, not numbers")
        wanted = (len(self.truths), len(self.decisions))
        if max(wanted) > MOST_CLASSES:
            raise InputError(
                "table-too-large",
                f"{wanted[0]:,} classes × {wanted[1]:,} decisions would make a table of {wanted[0] * wanted[1]:,} "
                "cells; the most is 1,000 × 1,000: group the classes",
            )
        if array.shape[-2:] != wanted:
            raise errors.bad_counts(f"shape {array.shape} does not fit {wanted[0]} truths and {wanted[1]} decisions")
        if unseen or not (low >= 0 and high < np.inf):
            raise errors.bad_counts("some are negative, infinite or not numbers")
        if kind == "O" and high > MOST:
            raise errors.bad_counts(f"some are beyond {MOST:g}, more than there are of anything")
        room = 2**62 // max(array.size, 1) if array.ndim == 2 else 2**63 - 1  # so that the margins fit, too
        if kind in "iu" and high > room:
            array = exact(array)
        elif kind != "O":
            array = array.astype(np.int64 if kind in "biu" else np.float64, copy=False)
        array.flags.writeable = False
        return array

    @classmethod
    def two_class(
        cls, *, tp: Number, fn: Number, fp: Number, tn: Number, positive: str = "positive", negative: str = "negative"
    ) -> Self:
        """Make the table from its four cells (numbers, or arrays with leading axes)."""
        check_class("positive", positive)
        check_class("negative", negative)
        if any(isinstance(cell, np.ndarray) for cell in (tp, fn, fp, tn)):
            counts = _stack_cells(tp, fn, fp, tn)
        else:  # numbers beyond 64 bits stay what they are
            for name, cell in {"tp": tp, "fn": fn, "fp": fp, "tn": tn}.items():
                if not isinstance(cell, int) and not is_real(cell):
                    raise errors.bad_counts(f"{name} is {errors.short(repr(cell))}, which is no number")
            counts = np.array(
                [[tn, fp], [fn, tp]], object if all(isinstance(c, int) for c in (tp, fn, fp, tn)) else None
            )
        return cls((negative, positive), (negative, positive), counts, positive=positive)

    @property
    def leading(self) -> tuple[int, ...]:
        """The leading axes: () for a single table."""
        return tuple(self.counts.shape[:-2])

    @property
    def weighted(self) -> bool:
        """Whether the counts are sums of weights."""
        return self.squares is not None

    @cached_property
    def cells(self) -> Array:
        """The counts as numbers to calculate with: exact ones for a single table, float64 with leading axes."""
        return exact(self.counts) if not self.leading else self.counts.astype(np.float64)

    # ── margins ──────────────────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def truth_totals(self) -> Array:
        """How often each class is the truth (last axis)."""
        return self._margin(-1)

    @property
    def effective_truths(self) -> dict[str, float]:
        """Kish's effective number of rows of each true class."""
        sizes = self.counts.sum(-1).astype(np.float64)
        if self.squares is not None:
            sizes = divide(sizes**2, self.squares.sum(-1))
        return dict(zip(self.truths, sizes.tolist(), strict=True))

    @property
    def equal_rows(self) -> float:
        """Kish's effective number of rows."""
        total, squares = float(self.counts.sum()), self.squares
        return total if squares is None or not total else total**2 / float(squares.sum())

    @cached_property
    def decision_totals(self) -> Array:
        """How often each decision was taken (last axis)."""
        return self._margin(-2)

    def _margin(self, axis: int) -> Array:
        if not self.leading and self.counts.dtype.kind == "i" and self.counts.size and self.counts.max() < 2**40:
            return exact(self.counts.sum(axis))  # quicker than adding up Python numbers
        return np.asarray(self.cells.sum(axis))

    @cached_property
    def total(self) -> Number:
        """The (weighted) number of rows."""
        return self.truth_totals.sum(-1)

    @cached_property
    def hits(self) -> Number:
        """The (weighted) number of rows decided as they are."""
        columns = {name: j for j, name in enumerate(self.decisions)}
        return sum(self._cell(i, columns[name]) for i, name in enumerate(self.truths) if name in columns)

    def check_counts(self) -> None:
        """Refuse fractions of rows, where rows have no weights, and more rows than there are of anything."""
        if not are_counts(self.counts, self.weighted):
            raise errors.no_numbers_of_rows()

    def class_sizes(self) -> dict[str, float]:
        """The (weighted) number of rows of each class."""
        return dict(zip(self.truths, self.truth_totals.tolist(), strict=True))

    def hit(self, name: str) -> Number:
        """How often a class was decided as it is."""
        return self._cell(self.truths.index(name), self.decisions.index(name))

    @remembered
    def against_rest(self) -> Self:
        """Return, along a new leading axis, each class against all others."""
        counts = self._each_against_rest(self.counts if self.counts.dtype != object else self.counts.astype(np.float64))
        squares = None
        if self.squares is not None:  # what differences leave nothing of is at most that of a single row
            squares = self._each_against_rest(self.squares.astype(np.float64))
            squares = np.where(counts > 0, np.where(squares > 0, squares, counts.astype(np.float64) ** 2), 0.0)
        names = "rest", "class"
        return type(self)(names, names, counts, squares, "class")

    def _each_against_rest(self, counts: Array) -> Array:
        """The cells of each class against all others, along a new axis before the last two."""
        columns = [self.decisions.index(n) for n in self.truths]
        hits = counts[..., range(len(columns)), columns]
        truths = counts.sum(-1)
        decisions = counts.sum(-2)[..., columns]
        total = truths.sum(-1, keepdims=True)
        cells = hits, truths - hits, decisions - hits, total - truths - decisions + hits
        if counts.dtype.kind == "f":  # differences of sums of weights leave crumbs where nothing is
            tp, fn, fp, tn = (np.where(cell > 1e-12 * total, cell, 0.0) for cell in cells)
        else:
            tp, fn, fp, tn = cells
        return _stack_cells(tp, fn, fp, tn)

    def pooled(self) -> Self:
        """Return the sum over the last leading axis."""
        return self.with_counts(self.counts.sum(-3))

    def most_confused(self, most: int = 10) -> list[Confused]:
        """Return the classes most often taken for another: truth, decision, how often, and the share of that truth."""
        pairs = [
            (self.counts[i, j].item(), truth, decision)
            for i, truth in enumerate(self.truths)
            for j, decision in enumerate(self.decisions)
            if truth != decision and decision in self.truths and self.counts[i, j]
        ]
        return most_frequent(pairs, dict(zip(self.truths, self.counts.sum(-1).tolist(), strict=True)), most)

    def _cell(self, row: int, column: int) -> Number:
        if not self.leading:
            return exact(self.counts[row : row + 1, column])[0]
        return self.cells[..., row, column]

    # ── the four cells of two classes ────────────────────────────────────────────────────────────────────────
    @property
    def of_pair(self) -> bool:
        """Whether there are two classes, and every decision is one of them."""
        return len(self.truths) == 2 and set(self.truths) == set(self.decisions)

    @property
    def unnamed(self) -> bool:
        """Whether there are four cells, but no class was named positive."""
        return self.of_pair and self.positive is None

    def called(self, positive: str) -> Self:
        """Return the same table with this class as the positive one."""
        return replace(self, positive=positive)

    @remembered
    def either_called(self) -> Self:
        """Return a table with a positive class for figures that are the same whichever it is."""
        return self.called(self.truths[-1]) if self.unnamed else self

    @cached_property
    def _places(self) -> dict[str, tuple[int, int]]:
        """The row and the column of each cell."""
        if self.unnamed:
            raise errors.which_positive(self.truths)
        if self.positive is None or not self.of_pair:
            raise InputError(
                "no-positive",
                f"this table has no positive class ({some(self.truths)}); pass ",
                Pass("positive"),
                " to have tp, fn, fp and tn",
            )
        row, column = self.truths.index(self.positive), self.decisions.index(self.positive)
        return {"tp": (row, column), "fn": (row, 1 - column), "fp": (1 - row, column), "tn": (1 - row, 1 - column)}

    @cached_property
    def tp(self) -> Number:
        """Positives found."""
        return self._cell(*self._places["tp"])

    @cached_property
    def fn(self) -> Number:
        """Positives missed."""
        return self._cell(*self._places["fn"])

    @cached_property
    def fp(self) -> Number:
        """False alarms."""
        return self._cell(*self._places["fp"])

    @cached_property
    def tn(self) -> Number:
        """Negatives left alone."""
        return self._cell(*self._places["tn"])

    @property
    def P(self) -> Number:
        """Rows that are positive."""
        return self.tp + self.fn

    @property
    def N(self) -> Number:
        """Rows that are negative."""
        return self.fp + self.tn

    @property
    def PP(self) -> Number:
        """Rows called positive."""
        return self.tp + self.fp

    @property
    def PN(self) -> Number:
        """Rows called negative."""
        return self.fn + self.tn

    def with_counts(self, counts: Array, squares: Array | None = None) -> Self:
        """Return a table of other counts (with the sums of squared weights, if rows have any) under the same names."""
        return type(self)(self.truths, self.decisions, counts, squares, self.positive)

    def swapped(self) -> Self:
        """Return the same table with the other class as the positive one."""
        return self.called(self.truths[self._places["tn"][0]])

    def at_shares(self, shares: Sequence[Fraction]) -> Self:
        """Return as many rows with the same rates within the classes, and the classes as frequent as that."""
        totals, total = self.truth_totals, self.total
        if self.leading:
            factors = divide(np.array(shares, np.float64) * np.expand_dims(total, -1), totals)
            return self.with_counts(self.cells * factors[..., None])
        sizes = zip(shares, totals, strict=True)
        each = [share * total / Fraction(size) if size else Fraction(0) for share, size in sizes]
        return self.with_counts(self.cells * np.array(each, object)[:, None])

    # ── what ignoring the input would give ───────────────────────────────────────────────────────────────────
    @remembered
    def coin(self) -> Self:
        """Return the table of a coin that takes each decision as often as the model, whatever the case.

        Counts are multiplied by the total, which keeps them whole; ratios do not notice.
        """
        truths, decisions = self._plain(self.truth_totals), self._plain(self.decision_totals)
        return self.with_counts(truths[..., :, None] * decisions[..., None, :])

    @remembered
    def constants(self) -> list[Self]:
        """Return, for each decision, the table of always taking it; of many, only the most frequent truth."""
        totals = self._plain(self.truth_totals)
        places = list(range(len(self.decisions)))
        if len(self.decisions) > _MANY and not self.leading:
            places = [self.decisions.index(self.truths[int(np.argmax(totals))])]
        tables = []
        for j in places:
            table = np.zeros((*self.leading, len(self.truths), len(self.decisions)), totals.dtype)
            table[..., :, j] = totals
            tables.append(self.with_counts(table))
        return tables

    def _plain(self, totals: Array) -> Array:
        """Exact numbers for small tables; large ones would take forever, and floats will do for a baseline."""
        return totals.astype(np.float64) if len(self.decisions) > _MANY else totals

    # ── a tally like any other ───────────────────────────────────────────────────────────────────────────────
    def __getitem__(self, index: Index) -> Self:
        """Take one (or some) of the leading axis."""
        if not self.leading:
            raise TypeError("this confusion table has no leading axis to index")
        return self.with_counts(self.counts[index], None if self.squares is None else self.squares[index])

    @classmethod
    def _stack(cls, parts: Sequence[Self]) -> Self:
        squares = [part.squares for part in parts if part.squares is not None]
        return parts[0].with_counts(np.stack([part.counts for part in parts]), np.stack(squares) if squares else None)

    @classmethod
    def _restored(cls, content: Content) -> Self:
        if content["squares"] is not None:
            counts, squares = (np.asarray(content[name], np.float64) for name in ("counts", "squares"))
            if ((squares > 0) != (counts > 0)).any():
                raise ValueError("squares without weights, or weights without squares")
            content = {**content, "counts": counts, "squares": squares}
        return super()._restored(content)

    def text_rows(self) -> list[list[str]]:
        """Return a single table as text: a head, and a row for each true class."""
        rows = [["truth \\ decision", *map(quote_label, self.decisions)]]
        for name, row in zip(self.truths, self.counts.tolist(), strict=True):
            rows.append([quote_label(name), *(f"{v:,}" if isinstance(v, int) else f"{v:,.6g}" for v in row)])
        return rows

    def __str__(self) -> str:
        if self.leading:
            return f"<Confusion of {len(self.truths)} classes with leading axes {self.leading}>"
        return lines(aligned(self.text_rows()))


def quote_label(name: str) -> str:
    """Quote a label that would be misread without quotes."""
    return repr(name) if name != name.strip() or "," in name else name


def most_frequent(pairs: list[tuple[float, str, str]], totals: Mapping[str, float], most: int) -> list[Confused]:
    """Rank (count, truth, decision): truth, decision, how often, and the share of that truth."""
    ranked = sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2]))[:most]
    return [(truth, decision, count, float(count / totals[truth])) for count, truth, decision in ranked]


def _stack_cells(tp: Number, fn: Number, fp: Number, tn: Number) -> Array:
    """The cells of many tables, each an array over the same leading axes."""
    try:
        return np.stack([np.stack([tn, fp], -1), np.stack([fn, tp], -1)], -2)
    except (ValueError, TypeError):
        raise errors.bad_counts("tp, fn, fp and tn are not of one shape") from None


def _small_if_possible(counts: Array) -> Array:
    """Python integers as int64 where they fit."""
    if counts.dtype.kind == "O" and all(isinstance(c, int) and abs(c) < 2**63 for c in counts.flat):
        return counts.astype(np.int64)
    return counts
