"""Several labels per row: which labels rows have, which were given to them, and how well each row was labelled."""

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Self

import numpy as np

from stakes.frozen import dataclass, field, replace
from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.clusters import Clusters
from stakes.tallies.columns import COUNTS, Columns
from stakes.tallies.confusion import Confusion
from stakes.tallies.fields import how
from stakes.tallies.scores import ScoreTable
from stakes.tallies.term_sums import Matrix, TermRows, Terms, TermSums, is_sparse

_NUMBERS = 1 << 20
"""About this many numbers of rankings are put side by side."""

_TABLES = how(add=lambda parts: tuple(map(ScoreTable.sum, zip(*parts, strict=True))), saved=False)
_FORGOTTEN = how(add=lambda parts: None, saved=False)


@dataclass(frozen=True, eq=False)
class GroupCells:
    """Weights of groups of rows in each piece of a ranking: groups × class (positive first) × given or not × piece.

    ``lowest`` are the lowest scores of the pieces, the highest first. Pieces hold about equal shares of both classes,
    so what a row changes in a figure of the ranking hardly differs within a piece.
    """

    lowest: Array
    counts: Array

    @classmethod
    def cut(cls, table: ScoreTable, groups: int, pieces: int, decided: bool) -> Self:
        """Cut a ranking into so many pieces, still empty; ``decided``: count given and other labels apart."""
        columns = table.as_columns()
        shares = [divide(reached, reached[-1]) for reached in map(columns.cumulated, ("positives", "negatives"))]
        places = np.searchsorted(np.add(*shares), np.linspace(0, 2, pieces + 1)[1:] - 1e-9)
        last = len(columns.scores) - 1  # which is reached early where a class has no rows
        lowest = columns.scores[np.unique(np.append(places, last).clip(max=last))].astype(np.float64)
        return cls(lowest, np.zeros((groups, 2, 1 + decided, len(lowest))))

    def _places(self, scores: Array) -> Array:
        return np.searchsorted(-self.lowest, -scores.astype(np.float64))

    def with_rows(self, scores: Array, positive: Array, decided: Array, weight: Array, groups: Array) -> Self:
        """Return the same with more rows."""
        cells = groups * 2 + ~positive
        cells = cells if self.counts.shape[2] == 1 else cells * 2 + decided
        cells = cells * len(self.lowest) + self._places(scores)
        more = np.bincount(cells, weight, self.counts.size).reshape(self.counts.shape)
        return replace(self, counts=self.counts + more)

    def add_up(self, table: ScoreTable, changes: Array) -> Array:
        """Add up by group what rows of each class and score of the ranking change, by their weight."""
        columns = table.as_columns()
        places, found = self._places(columns.scores), np.zeros(len(self.counts))
        for place, name in enumerate(("positives", "negatives")):
            own = columns.values[name].astype(np.float64)
            held, moved = (np.bincount(places, one, len(self.lowest)) for one in (own, own * changes[place]))
            found += self.counts[:, place].sum(axis=1) @ divide(moved, held)
        return found

    def as_clusters(self, count: int) -> Clusters:
        """The groups as so many clusters, whose entries stand for rows."""
        groups, negative, decided, pieces = np.nonzero(self.counts)
        decisions = decided if self.counts.shape[2] > 1 else None
        weight, grid = self.counts[groups, negative, decided, pieces], ("probability", 0)
        return Clusters(groups, count, 1 - negative, decisions, self.lowest[pieces], weight, grid=grid)


@dataclass(frozen=True, eq=False)
class LabelSums(TermSums):
    """Several labels per row; ``names`` are the labels.

    Of each label: the rows that have it (``truth``), that it was given to (``decided``), and both (``hits``). Of the
    rows: what share of the labels given, or of those that it has, is right, and in how many rows there are any.
    Where rows were not kept, ``scored`` are the scores of each label in bins, ``cells`` where groups of rows lie in
    the ranking of each label and, last, in that of all of them, and ``together`` is :meth:`missed_together`.
    """

    scored: tuple[ScoreTable, ...] | None = field(default=None, metadata=_TABLES)
    cells: tuple[GroupCells, ...] | None = field(default=None, metadata=_FORGOTTEN)
    together: Array | None = field(default=None, metadata=how(add=lambda parts: np.sum(parts, axis=0), saved=False))

    kind = "labels"
    task = "classification"
    wide = ("truth", "decided", "hits")

    @classmethod
    def terms_of(
        cls, columns: Mapping[str, Matrix], names: tuple[str, ...], parts: Collection[str] | None = None
    ) -> Terms:
        """Count labels, and compute the figures of each row (the part "rows") and of its order of labels."""
        truth, terms = columns["truth"], Terms()
        wanted = ("rows", "depth", "ranks") if parts is None else parts
        if "decided" in columns:
            decided = columns["decided"]
            hits = truth.multiply(decided) if is_sparse(truth) else truth & decided
            terms |= {"truth": truth, "decided": decided, "hits": hits}
            terms |= _of_rows(truth, decided, hits) if "rows" in wanted else {}
        else:
            terms["truth"] = truth
        if is_sparse(columns.get("scores")):
            return terms | (_of_sparse_ranks(truth, columns["scores"]) if {"depth", "ranks"} & set(wanted) else {})
        if "scores" in columns and "depth" in wanted:
            lowest = np.where(truth, columns["scores"], np.inf).min(axis=1, keepdims=True)
            terms["depth"] = _per_row(columns["scores"] >= lowest)
        if "scores" in columns and "ranks" in wanted:
            terms |= _of_ranks(truth, columns["scores"])
        return terms

    @classmethod
    def constant_answer(cls, rows: TermRows, names: tuple[str, ...]) -> Array | None:
        """The frequency of each label; None for sparse scores."""
        if is_sparse(rows.columns.get("scores")):
            return None
        weights = rows.weights
        return np.asarray(weights @ rows.columns["truth"] / weights.sum())

    @classmethod
    def columns_answering(cls, columns: Mapping[str, Matrix], answer: Array) -> Mapping[str, Matrix]:
        """Give every row the labels that more than half of the rows have, and every label its frequency as score."""
        truth, given = columns["truth"], {"decided": answer > 0.5, "scores": answer}
        if is_sparse(truth):
            from scipy import sparse

            ones = sparse.csr_array(np.ones((truth.shape[0], 1)))
            return {"truth": truth, "decided": (ones @ sparse.csr_array((answer > 0.5)[None] * 1.0)).tocsr()}
        return {"truth": truth} | {k: np.broadcast_to(one, truth.shape) for k, one in given.items() if k in columns}

    # ── as tables of two classes ─────────────────────────────────────────────────────────────────────────────
    def against_rest(self) -> Confusion:
        """The table of each label, along the last leading axis."""
        return self._against_rest

    @cached_property
    def _against_rest(self) -> Confusion:
        own, given, hits = self["truth"], self["decided"], self["hits"]
        rest = self.sums[..., :1] - own - given + hits
        cells = (np.maximum(one, 0.0) for one in (hits, own - hits, given - hits, rest))
        tp, fn, fp, tn = cells
        return Confusion.two_class(tp=tp, fn=fn, fp=fp, tn=tn)

    @cached_property
    def tables(self) -> Sequence[ScoreTable]:
        """The scores of each label; none where they were not kept."""
        if self.rows is None or "scores" not in self.rows.columns:
            return self.scored or ()
        if is_sparse(self.rows.columns["scores"]) and not self.weighted:
            return _tables_of_sparse(self.rows.columns["truth"], self.rows.columns["scores"])
        return [self.table_of(place) for place in range(len(self.names))]

    @cached_property
    def pooled(self) -> ScoreTable:
        """The scores of all labels in one ranking."""
        return ScoreTable.sum(self.tables)

    def side_by_side(self, constant: bool = False) -> Iterator[tuple[Array, ScoreTable]]:
        """The rankings of some labels at a time along a leading axis, and which labels these are.

        They are about as long, and nothing but their order counts; with a ``constant`` score they are of one step.
        """
        steps = np.array([1 if constant else len(table.as_columns().scores) for table in self.tables])
        lengths = np.int64(1) << np.ceil(np.log2(np.maximum(steps, 1))).astype(np.int64)
        for length in np.unique(lengths).tolist():
            alike = np.flatnonzero(lengths == length)
            for places in np.array_split(alike, max(1, len(alike) * length // _NUMBERS)):
                values = {name: np.zeros((len(places), length)) for name in COUNTS}
                for (row, place), (name, column) in itertools.product(enumerate(places), values.items()):
                    counts = self.tables[place].as_columns().values[name]
                    column[row, : steps[place]] = counts.sum() if constant else counts
                yield places, ScoreTable("yes", "no", Columns(-np.arange(float(length)), values))

    def table_of(self, place: int) -> ScoreTable:
        """The scores of one label."""
        assert self.rows is not None
        scores, truth = (dense_column(self.rows.columns[name], place) for name in ("scores", "truth"))
        return ScoreTable.from_rows(scores, truth, self.rows.weight, positive="yes", negative="no")

    def own_by(self, groups: Array, count: int) -> Array:
        """How many rows (by weight) have each label, in each group that was kept or in these groups of rows."""
        if self.rows is None:
            return self.moved(np.asarray(self.groups))["truth"]
        truth, weights = self.rows.columns["truth"], self.rows.weights
        columns = (dense_column(truth, place) for place in range(len(self.names)))
        return np.stack([np.bincount(groups, weights * one, count) for one in columns], axis=-1)

    def coin(self) -> Self:
        """The sums of giving each label at random, as often as the model does."""
        sums = np.array(self.sums)
        expected = divide(self["truth"] * self["decided"], np.asarray(self.sums[..., :1]))
        sums[..., self._places["hits"]] = expected
        return self.moved(sums)

    def constants(self) -> Sequence[Self]:
        """The sums of giving no label, and of giving all."""
        found = []
        for given, hits in ((0.0, 0.0), (self.sums[..., :1], self["truth"])):
            sums = np.array(self.sums)
            sums[..., self._places["decided"]], sums[..., self._places["hits"]] = given, hits
            found.append(self.moved(sums))
        return found

    def missed_together(self) -> Array:
        """In how many rows (by weight) each label was missed while another was missed, or wrongly given.

        Two tables: labels × labels missed in the same row, and missed labels × labels given instead.
        """
        if self.together is not None:
            return self.together
        assert self.rows is not None
        truth, decided, weight = self.rows.columns["truth"], self.rows.columns["decided"], self.rows.weights
        if is_sparse(truth):
            hits = truth.multiply(decided)
            missed, wrong = (truth - hits).tocsr(), (decided - hits).tocsr()
            weighed = missed.multiply(weight[:, None]).tocsr()
            return np.stack([np.asarray((weighed.T @ other).todense()) for other in (missed, wrong)])
        missed, wrong = (one.astype(np.float64) for one in (truth & ~decided, decided & ~truth))
        return np.stack([(missed * weight[:, None]).T @ other for other in (missed, wrong)])


def dense_column(columns: Matrix, place: int) -> Array:
    """One of some columns side by side."""
    one = columns[:, [place]].toarray()[:, 0] if is_sparse(columns) else columns[:, place]
    return np.ascontiguousarray(one)


def _of_rows(truth: Matrix, decided: Matrix, hits: Matrix) -> Terms:
    """How well each row was labelled, and whether it was, or has labels at all."""
    own, given, right = (_per_row(one) for one in (truth, decided, hits))
    either = own + given
    shares = {"row precision": divide(right, given), "row recall": divide(right, own)}
    shares |= {"row f1": divide(2 * right, either), "row jaccard": divide(right, either - right)}
    return {"alike": either == 2 * right, **shares, "any given": given > 0, "any own": own > 0, "any": either > 0}


def _per_row(labels: Matrix) -> Array:
    """How many labels each row has."""
    if is_sparse(labels):
        return np.asarray(labels.sum(axis=1), np.float64).ravel()
    flags = labels.astype(np.float32)  # a product with ones adds up short rows faster than sum() does
    return np.asarray(flags @ np.ones(labels.shape[1], np.float32), np.float64)


def _of_ranks(truth: Array, scores: Array) -> Terms:
    """How the labels of each row are ranked by its scores; of equal scores the worst rank counts."""
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked, own = np.take_along_axis(scores, order, 1), np.take_along_axis(truth, order, 1)
    n, width = scores.shape
    places = np.arange(width)
    last = np.concatenate([ranked[:, 1:] != ranked[:, :-1], np.ones((n, 1), bool)], axis=1)
    ends = np.minimum.accumulate(np.where(last, places, width)[:, ::-1], axis=1)[:, ::-1]
    above = np.take_along_axis(np.cumsum(own, axis=1), ends, 1)
    rank, count = ends + 1.0, own.sum(axis=1, dtype=np.float64)
    mixed = (count > 0) & (count < width)
    share = divide(np.where(own, above / rank, 0.0).sum(axis=1), count)
    reversed_pairs = divide(np.where(own, rank - above, 0.0).sum(axis=1), count * (width - count))
    return {
        "rank precision": np.where(mixed, share, 1.0),
        "rank loss": np.where(mixed, reversed_pairs, 0.0),
    }


# ── sparse scores: what is not there is 0, the lowest ────────────────────────────────────────────────────────────
def _own_entries(truth: Matrix, scores: Matrix) -> Array:
    """Which of the entries of sparse scores, column by column in each row, are those of labels that the row has."""
    width = scores.shape[1]

    def keys(matrix: Matrix) -> Array:
        rows = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
        return np.asarray(rows * width + matrix.indices)

    there = np.sort(keys(truth)[truth.data != 0])
    wanted = keys(scores)
    place = np.minimum(np.searchsorted(there, wanted), max(len(there) - 1, 0))
    return there[place] == wanted if len(there) else np.zeros(len(wanted), bool)


def _of_sparse_ranks(truth: Matrix, scores: Matrix) -> Terms:
    """How the labels of each row are ranked: those without a score share the last rank."""
    (n, width), starts = scores.shape, scores.indptr.astype(np.int64)
    rows = np.repeat(np.arange(n), np.diff(starts))
    order = np.lexsort((-scores.data, rows))
    ranked, own = scores.data[order], _own_entries(truth, scores)[order]
    last = np.ones(len(rows), bool)
    last[:-1] = (rows[1:] != rows[:-1]) | (ranked[1:] != ranked[:-1])
    ends = np.flatnonzero(last)[np.cumsum(last) - last]
    seen = np.append(0, np.cumsum(own))
    rank, above = ends - starts[rows] + 1.0, (seen[ends + 1] - seen[starts[rows]]).astype(np.float64)
    count, scored = _per_row(truth), np.bincount(rows, own, n)
    unscored, mixed = count - scored, (count > 0) & (count < width)
    share = np.bincount(rows, np.where(own, above / rank, 0.0), n) + unscored * count / width
    lost = np.bincount(rows, np.where(own, rank - above, 0.0), n) + unscored * (width - count)
    depth = np.zeros(n)
    np.maximum.at(depth, rows[own], rank[own])
    return {
        "depth": np.where(unscored > 0, float(width), depth),
        "rank precision": np.where(mixed, divide(share, count), 1.0),
        "rank loss": np.where(mixed, divide(lost, count * (width - count)), 0.0),
    }


def _tables_of_sparse(truth: Matrix, scores: Matrix) -> list[ScoreTable]:
    """The scores of each label: those that are there, and one level of all others."""
    own = scores.copy()
    own.data = _own_entries(truth, scores) + 1.0  # 2 where the row has the label, so that none is lost
    own, columns, totals = own.tocsc(), scores.tocsc(), np.asarray(truth.sum(axis=0)).ravel()
    found = []
    for place, (start, end) in enumerate(zip(columns.indptr[:-1], columns.indptr[1:], strict=True)):
        positive = own.data[start:end] - 1
        missed = totals[place] - positive.sum()
        counts = np.append(positive, missed), np.append(1 - positive, truth.shape[0] - (end - start) - missed)
        levels = np.append(columns.data[start:end], 0.0)
        found.append(
            ScoreTable.from_columns(levels, *(one.astype(np.int64) for one in counts), positive="yes", negative="no")
        )
    return found
