"""Sums of what each row adds to figures that are functions of sums: of several labels, quantiles, forecasts.

A kind of rows says which terms a row has; that is all it needs to have figures, intervals, clusters, segments and
comparisons, because leaving rows out is taking their terms from the sums.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from stakes.frozen import dataclass, field, replace
from stakes.tallies.arithmetic import Array, Number
from stakes.tallies.base import Tally
from stakes.tallies.fields import IN_MEMORY, SUMMED_FLOATS, TOTAL, WEIGHTED, how, same

_BLOCK, _SPARSE_BLOCK = 1 << 14, 1 << 16
_MOST_PRODUCTS = 400
"""With more terms than this their products are not kept beside the sums, so that intervals need the rows."""

Matrix = Any
"""Columns side by side: a NumPy array of one or two axes, or a sparse matrix of scipy."""

Terms = dict[str, Matrix]
"""What rows add, by the name of the term: one number for each row, or one for each row and name."""


@dataclass(frozen=True, eq=False)
class TermRows:
    """The rows themselves: columns by name, and what each row weighs."""

    columns: Mapping[str, Matrix]
    weight: Array | None = None

    def __len__(self) -> int:
        return int(next(iter(self.columns.values())).shape[0])

    def take(self, rows: Array | slice) -> "TermRows":
        """Return some of the rows."""
        columns = {name: column[rows] for name, column in self.columns.items()}
        return TermRows(columns, None if self.weight is None else self.weight[rows])

    @property
    def weights(self) -> Array:
        """The weight of each row, 1 by default."""
        return np.ones(len(self)) if self.weight is None else self.weight.astype(np.float64)

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Put the rows of all parts one after another."""
        columns = {name: stack_rows([part.columns[name] for part in parts]) for name in parts[0].columns}
        weights = [part.weight for part in parts if part.weight is not None]
        return cls(columns, np.concatenate(weights) if weights else None)


def is_sparse(values: Matrix) -> bool:
    """Whether these are columns of which only what is not 0 is kept."""
    return hasattr(values, "tocsr")


def stack_rows(parts: Sequence[Matrix]) -> Matrix:
    """Put matrices below each other."""
    if not is_sparse(parts[0]):
        return np.concatenate(parts)
    from scipy import sparse  # only where such columns were given

    return sparse.vstack(parts, format="csr")


def _beside(terms: Terms, rows: int) -> Matrix:
    """All terms side by side, as floats; first that each row is one."""
    wide = [np.ones((rows, 1))]
    wide += [one if is_sparse(one) else np.asarray(one).reshape(rows, -1) for one in terms.values()]
    if any(map(is_sparse, wide)):
        from scipy import sparse

        return sparse.hstack(wide, format="csr", dtype=np.float64)
    return np.concatenate(wide, axis=1, dtype=np.float64)


_ADDED_HERE = {"how": replace(SUMMED_FLOATS["how"], saved=False)}


@dataclass(frozen=True, eq=False)
class TermSums(Tally):
    """The (weighted) sums of what rows add, term after term; ``names`` are those that wide terms have a number for.

    ``squares`` is the sum of squared weights, ``products`` are the sums of products of two terms (times squared
    weights), for intervals where no rows were kept. ``ignoring`` are the sums of a model that ignores its input. For
    rows that were counted in batches ``groups`` are the sums of random groups of them, or of whole clusters, and
    ``ignoring_groups`` those of a model that ignores its input.
    """

    names: tuple[str, ...] = field(metadata=same("the list of names"))
    terms: tuple[str, ...] = field(metadata=same("the list of terms"))
    sums: Array = field(metadata=SUMMED_FLOATS)
    squares: float = field(default=0.0, metadata=TOTAL)
    weighted: bool = field(default=False, metadata=WEIGHTED)
    products: Array | None = field(default=None, metadata=SUMMED_FLOATS)
    ignoring: Array | None = field(default=None, metadata=how(add=lambda parts: None, load=np.asarray))
    groups: Array | None = field(default=None, metadata=_ADDED_HERE)
    ignoring_groups: Array | None = field(default=None, metadata=how(add=lambda parts: None, saved=False))
    rows: TermRows | None = field(default=None, metadata={"how": replace(IN_MEMORY["how"], add=TermRows.join)})

    wide: ClassVar[tuple[str, ...]] = ()
    """The terms that have a number for each name."""

    @classmethod
    def terms_of(
        cls, columns: Mapping[str, Matrix], names: tuple[str, ...], parts: Collection[str] | None = None
    ) -> Terms:
        """Work out what each row adds: all terms, or those of the parts that one figure asks for."""
        raise NotImplementedError

    @classmethod
    def constant_answer(cls, rows: TermRows, names: tuple[str, ...]) -> Array | None:
        """The answer of a model that ignores its input, for each name; None if there is no such model."""
        return None

    @classmethod
    def columns_answering(cls, columns: Mapping[str, Matrix], answer: Array) -> Mapping[str, Matrix]:
        """The columns of a model that always gives this answer."""
        raise NotImplementedError

    @classmethod
    def columns_ignoring(cls, rows: TermRows, names: tuple[str, ...]) -> Mapping[str, Matrix] | None:
        """The columns of a model that ignores its input, if there is one."""
        answer = cls.constant_answer(rows, names)
        return None if answer is None else cls.columns_answering(rows.columns, answer)

    @classmethod
    def from_rows(
        cls,
        names: Sequence[str],
        columns: Mapping[str, Matrix],
        weight: Array | None = None,
        parts: Collection[str] | None = None,
    ) -> Self:
        """Add up the terms of all rows, which are kept; ``parts`` are those that one figure asks for."""
        rows, names = TermRows(columns, weight), tuple(names)
        terms, sums = cls._add_up(rows, names, parts)
        squares = float((rows.weights**2).sum())
        return cls(names, terms, sums, squares, weighted=weight is not None, rows=rows)

    @classmethod
    def _add_up(
        cls,
        rows: TermRows,
        names: tuple[str, ...],
        parts: Collection[str] | None = None,
        terms: tuple[str, ...] | None = None,
    ) -> tuple[tuple[str, ...], Array]:
        """The sums of the terms of these parts, or of these terms."""
        weights = rows.weights
        found: list[Array] = []
        for here in _pieces(rows):
            part = rows.take(here)
            each = cls.terms_of(part.columns, names, parts)
            terms = tuple(each) if terms is None else terms
            own = None if rows.weight is None else weights[here]
            sums = [np.ravel(_total(one, own)) for one in (np.ones(len(part), bool), *map(each.get, terms))]
            found.append(np.concatenate(sums))
        return terms or (), np.array([math.fsum(column) for column in np.array(found).T.tolist()])

    def _of_rows(self, rows: TermRows) -> Matrix:
        """The terms of some rows side by side."""
        each = self.terms_of(rows.columns, self.names)
        return _beside({name: each[name] for name in self.terms}, len(rows))

    def sums_by(self, groups: Array, count: int) -> Array:
        """The sums of each group of rows."""
        assert self.rows is not None
        return self.group_sums(self.names, self.rows, groups, count, self.terms)[1]

    @classmethod
    def group_sums(
        cls, names: tuple[str, ...], rows: TermRows, groups: Array, count: int, terms: tuple[str, ...] | None = None
    ) -> tuple[tuple[str, ...], Array]:
        """The terms, and their sums in each group of some rows."""
        from scipy import sparse  # adds up rows by group faster than anything in NumPy

        weights, found = rows.weights, 0.0
        for here in _pieces(rows):
            part = rows.take(here)
            each = cls.terms_of(part.columns, names)
            terms = tuple(each) if terms is None else terms
            own = (weights[here], (groups[here], np.arange(len(part))))
            beside = _beside({name: each[name] for name in terms}, len(part))
            added = sparse.csr_array(own, shape=(count, len(part))) @ beside
            found = found + (added.toarray() if is_sparse(added) else added)
        return terms or (), np.asarray(found)

    def moved(self, sums: Array, ignoring: Array | None = None) -> Self:
        """Other sums of the same terms, and nothing else."""
        return type(self)(self.names, self.terms, sums, self.squares, self.weighted, ignoring=ignoring)

    @cached_property
    def constant(self) -> Self | None:
        """The sums of a model that ignores its input; None where that is no longer known."""
        if self.ignoring is not None:
            return self.moved(self.ignoring)
        columns = None if self.rows is None else self.columns_ignoring(self.rows, self.names)
        if columns is None or self.rows is None:
            return None
        _, sums = self._add_up(TermRows(columns, self.rows.weight), self.names, terms=self.terms)
        return self.moved(sums)

    @property
    def sparse_scores(self) -> bool:
        """Whether rows were kept whose scores are sparse."""
        return self.rows is not None and is_sparse(self.rows.columns.get("scores"))

    # ── what it is ───────────────────────────────────────────────────────────────────────────────────────────
    @property
    def leading(self) -> tuple[int, ...]:
        """The leading axes: () for the sums of some rows."""
        return tuple(self.sums.shape[:-1])

    @property
    def total(self) -> Number:
        """The (weighted) number of rows."""
        total = self.sums[..., 0]
        return total if self.leading else float(total) if self.weighted else int(total)

    @property
    def equal_rows(self) -> float:
        """Kish's effective number of rows."""
        return float(self.total) ** 2 / self.squares if self.weighted else float(self.total)

    @cached_property
    def _places(self) -> dict[str, int | slice]:
        found: dict[str, int | slice] = {}
        place = 1
        for name in self.terms:
            width = len(self.names) if name in self.wide else 0
            found[name] = slice(place, place + width) if name in self.wide else place
            place += width or 1
        return found

    def __getitem__(self, term: str) -> Array:
        """The sum of a term; of a wide one, those of all names along the last axis."""
        return np.asarray(self.sums[..., self._places[term]])

    def __contains__(self, term: str) -> bool:
        return term in self.terms

    def mean(self, term: str) -> Number:
        """The (weighted) mean of a term that has one number for each row."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return (self[term] / self.sums[..., 0])[()]

    def anonymise(self, minimum: float) -> Self:
        """Return the sums and how they vary; the rows stay at home."""
        if self.rows is None:
            return self if self.groups is None else self._of_groups()
        products = None
        if self.sums.shape[-1] <= _MOST_PRODUCTS:
            products = np.zeros((self.sums.shape[-1],) * 2)
            for here in _pieces(self.rows):
                part = self.rows.take(here)
                each = self._of_rows(part)
                each = np.asarray(each.todense() if is_sparse(each) else each) * part.weights[:, None]
                products += each.T @ each
        ignoring = None if self.constant is None else self.constant.sums
        return replace(self, rows=None, products=products, ignoring=ignoring)

    def _of_groups(self) -> Self:
        """The sums, and their covariances estimated from groups."""
        assert self.groups is not None
        means = self.sums / self.sums[0]
        away = self.groups - np.outer(self.groups[:, 0], means)
        products = None
        if len(means) <= _MOST_PRODUCTS:
            products = away.T @ away + self.squares * np.outer(means, means)
        return replace(self, groups=None, ignoring_groups=None, products=products)

    @property
    def squared(self) -> Array | None:
        """Of weighted rows that were not kept: the sums of squared weights times squared terms, if they are known."""
        found = self.products if self.groups is None else self._of_groups().products
        return np.diagonal(found) if self.weighted and found is not None else None

    def check(self) -> None:
        """Refuse sums that no rows give."""
        width = 1 + sum(len(self.names) if term in self.wide else 1 for term in self.terms)
        if self.sums.shape != (width,) or not np.isfinite(self.sums).all() or self.sums[0] <= 0:
            raise ValueError("sums")
        if any(one is not None and one.shape[-1] != width for one in (self.products, self.ignoring)):
            raise ValueError("sums of products")

    def __str__(self) -> str:
        return f"<{type(self).__name__} of {float(self.total):,.15g} rows>"


def _total(term: Matrix, weight: Array | None) -> Array:
    """The (weighted) sum of a term over the rows; of yes and no, short runs fit into bytes."""
    if weight is not None:
        return np.asarray(weight @ term)
    if is_sparse(term) or term.dtype != np.bool_ or term.ndim == 1:
        return np.asarray(term.sum(axis=0), np.float64)
    whole = len(term) // 255 * 255
    flags = np.ascontiguousarray(term).view(np.uint8)
    runs = np.add.reduce(flags[:whole].reshape(-1, 255, term.shape[1]), axis=1, dtype=np.uint8)
    return np.asarray(runs.sum(axis=0, dtype=np.float64) + flags[whole:].sum(axis=0, dtype=np.float64))


def _pieces(rows: TermRows) -> list[slice]:
    """Spans of rows that are handled at a time; more where columns are sparse."""
    size = _SPARSE_BLOCK if any(map(is_sparse, rows.columns.values())) else _BLOCK
    return [slice(start, start + size) for start in range(0, len(rows), size)]
