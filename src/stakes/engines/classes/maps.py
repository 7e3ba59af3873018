"""Maps of class probabilities, softmax(scale × log p + bias), tried on rows that are not here: sums come back.

A table is asked in its engine, and files batch by batch. Rows of a cluster, or of a random group, lie in one fold.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial, reduce

import narwhals as nw
import numpy as np
import polars as pl

from stakes.engines.alike import Spelling
from stakes.engines.classes.queries import sum_of
from stakes.engines.classes.sums import class_columns, class_names
from stakes.engines.clusters.numbering import ClusterGroups
from stakes.engines.columns import Data, LazyTable, as_frame
from stakes.engines.files.reading import Files, count_typed
from stakes.engines.lazy.counting import name_columns, open_classes
from stakes.engines.lazy.queries import collect, row_by_row, surprise, whether, with_infinite
from stakes.engines.lazy.spark_text import choose
from stakes.engines.reading import RowQuestion
from stakes.engines.streaming import batches
from stakes.engines.tables import is_lazy
from stakes.tallies.arithmetic import Array
from stakes.tallies.clusters import MOST_GROUPS, deal_out

MOST_MAPPED = 20
"""Maps of more classes have too many products of two scores for an engine to add up."""

Map = tuple[Array, Array]
"""The scale and the bias of each class."""

Tables = Callable[[], Iterator[LazyTable]]
"""Rows: the code of the true class, scores s0, s1 …, what a row weighs (unit) and the number of its group (held)."""


@dataclass(frozen=True)
class Folds:
    """How many classes and folds there are; logarithms of probabilities below ``least`` are read as that of it."""

    classes: int
    count: int
    first: int
    least: float = 0.0

    @property
    def own(self) -> nw.Expr:
        """The fold that a row lies in."""
        return (nw.col("held") + self.first) % self.count

    def choose(self, numbers: Sequence[float]) -> nw.Expr:
        """The number of the fold that a row lies in; a single one is that of all."""
        first, *others = (nw.lit(float(number)) for number in numbers)
        return reduce(lambda so_far, one: choose(self.own == one[0], one[1], so_far), enumerate(others, 1), first)


@dataclass(frozen=True, eq=False)
class MappedRows:
    """Rows with class probabilities that are not here, and what they say of maps."""

    tables: Tables
    folds: Folds

    def _add_up(self, size: int, count: int, change: Callable[[LazyTable], LazyTable]) -> Array:
        """Add up this many columns of the changed tables, by their key."""
        sums, names = np.zeros((size, count)), [f"sum{n}" for n in range(count)]
        for table in self.tables():
            found = collect(change(table).group_by("key").agg(*(nw.col(name).sum() for name in names)))
            values = np.stack([found[name].to_numpy().astype(np.float64) for name in names], axis=-1)
            np.add.at(sums, found["key"].to_numpy().astype(np.int64), values)
        return sums

    def pulls(self, scales: Array, biases: Array, free: Array | None, biased: bool, own: float) -> Array:
        """What the rows of each fold say of a map, as ``softmax.Pulls`` of recalibration tells it."""
        k, count = self.folds.classes, self.folds.count
        moved = (1 if free is None else int(free.sum())) + (k - 1) * biased
        i, j = np.triu_indices(moved)
        change = partial(_pulls, folds=self.folds, at=(scales, biases), free=free, biased=biased, own=own)
        sums, products = self._add_up(count, 1 + 5 * k + len(i), change), np.zeros((count, moved, moved))
        products[:, i, j] = products[:, j, i] = sums[:, 1 + 5 * k :]
        return np.concatenate([sums[:, : 1 + 5 * k], products.reshape(count, -1)], axis=1)

    def top(self, k: int) -> tuple[Array, Array]:
        """Which sets of classes the k highest scores of rows are of (set × class), and how many rows have each."""
        classes = self.folds.classes
        rows = self._add_up(1 << classes, 1, partial(_top, classes=classes, k=k))[:, 0]
        (sets,) = np.nonzero(rows)
        return sets[:, None] >> np.arange(classes) & 1, rows[sets].astype(np.int64)

    def products(self, places: Sequence[tuple[Array, Array]]) -> Array:
        """Add up over rows the products of their places by two classes' scores (class × class).

        Of each class these are the lowest scores of parts of the ranking, from the lowest on, and their places.
        """
        i, j = np.triu_indices(self.folds.classes)
        sums = np.zeros((self.folds.classes, self.folds.classes))
        sums[i, j] = sums[j, i] = self._add_up(1, len(i), partial(_products, places=places))[0]
        return sums

    def losses(self, maps: Sequence[Sequence[Map]]) -> tuple[Array, Array, Array, Array]:
        """What rows lose as they stand, and by maps that each fold has, on average over those of a class and group.

        Return classes, groups, what these rows weigh, and losses: as they stand or map × log loss or squares × group.
        """
        k = self.folds.classes
        change = partial(_losses, folds=self.folds, maps=maps)
        sums = self._add_up(MOST_GROUPS * k, 3 + 2 * len(maps), change)
        here = np.flatnonzero(sums[:, 0])
        lost = with_infinite(sums[here, 1:].T) / sums[here, 0]
        return here % k, here // k, sums[here, 0], lost.reshape(-1, 2, len(here))


# ── what is asked ────────────────────────────────────────────────────────────────────────────────────────────────
def _each(kind: str, classes: int) -> list[nw.Expr]:
    return [nw.col(f"{kind}{c}") for c in range(classes)]


def _named(kind: str, columns: Sequence[nw.Expr]) -> list[nw.Expr]:
    return [column.alias(f"{kind}{n}") for n, column in enumerate(columns)]


def _times(some: Sequence[nw.Expr], others: Sequence[nw.Expr]) -> list[nw.Expr]:
    return [one * other for one, other in zip(some, others, strict=True)]


def _rooms(frame: LazyTable, classes: int) -> LazyTable:
    """How far the probabilities of each class are from 0 or 1 at least, but for those that are there."""
    rooms = [choose(s < 0.5, s, 1.0 - s) for s in _each("s", classes)]
    frame = frame.select(*_named("s", [choose(room > 0, room, nw.lit(1.0)) for room in rooms]))
    return frame.select(*(s.min() for s in _each("s", classes)))


def _apply(frame: LazyTable, folds: Folds, maps: Sequence[Map]) -> LazyTable:
    """Add logarithms l0, l1 … of the scores, z0, z1 … that a map makes of them, and the probabilities m0, m1 …"""
    k = folds.classes
    logs = [choose(s > folds.least, s, nw.lit(folds.least)).log() for s in _each("s", k)]
    frame = frame.with_columns(*_named("l", logs))
    numbers = [[folds.choose([one[part][c] for one in maps]) for c in range(k)] for part in (0, 1)]
    scaled = zip(_times(_each("l", k), numbers[0]), numbers[1], strict=True)
    frame = frame.with_columns(*_named("z", [one + bias for one, bias in scaled]))
    frame = frame.with_columns(nw.max_horizontal(*(f"z{c}" for c in range(k))).alias("top"))
    frame = frame.with_columns(*_named("e", [(z - nw.col("top")).exp() for z in _each("z", k)]))
    frame = frame.with_columns(sum_of(_each("e", k)).alias("total"))
    return frame.with_columns(*_named("m", [e / nw.col("total") for e in _each("e", k)]))


@row_by_row
def _pulls(frame: LazyTable, *, folds: Folds, at: Map, free: Array | None, biased: bool, own: float) -> LazyTable:
    k, unit, frame = folds.classes, nw.col("unit"), _apply(frame, folds, [at])
    s, logs, z, m = (_each(kind, k) for kind in "slzm")
    target = [whether(nw.col("code") == c) + one * own for c, one in enumerate(s)]
    frame = frame.with_columns(*_named("t", target), *_named("u", _times(m, logs)))
    t, u = _each("t", k), _each("u", k)
    moved = [sum_of(u)] if free is None else [one for one, is_free in zip(u, free, strict=True) if is_free]
    x = [*moved, *(m[1:] if biased else [])]
    frame = frame.with_columns(
        *_named("x", x), *_named("r", [one - p * (1 + own) for one, p in zip(t, m, strict=True)])
    )
    r, x = _each("r", k), _each("x", len(x))
    height = sum_of(_times(t, z)) - (nw.col("total").log() + nw.col("top")) * (1 + own)
    products = [x[i] * x[j] for i in range(len(x)) for j in range(i, len(x))]
    sums = [height, *r, *_times(r, logs), *u, *_times(u, logs), *m, *products]
    return frame.with_columns(folds.own.alias("key"), *_named("sum", [one * unit for one in sums]))


@row_by_row
def _top(frame: LazyTable, *, classes: int, k: int) -> LazyTable:
    """Number the set of the k classes that go first; of two that tie it is the one that stands before the other."""
    s = _each("s", classes)
    ahead = [
        sum_of(whether(other >= one if j < c else other > one) for j, other in enumerate(s) if j != c)
        for c, one in enumerate(s)
    ]
    frame = frame.with_columns(*_named("ahead", ahead))
    first = sum_of(whether(one < k) * (1 << c) for c, one in enumerate(_each("ahead", classes)))
    return frame.with_columns(first.alias("key"), nw.lit(1.0).alias("sum0"))


@row_by_row
def _products(frame: LazyTable, *, places: Sequence[tuple[Array, Array]]) -> LazyTable:
    own = []
    for s, (levels, values) in zip(_each("s", len(places)), places, strict=True):
        steps = zip(levels[1:].tolist(), np.diff(values).tolist(), strict=True)
        own.append(sum_of([nw.lit(float(values[0])), *(whether(s >= level) * step for level, step in steps)]))
    frame, u = frame.with_columns(*_named("u", own)), _each("u", len(places))
    both = [u[i] * u[j] for i in range(len(u)) for j in range(i, len(u))]
    return frame.with_columns(nw.lit(0).alias("key"), *_named("sum", both))


@row_by_row
def _losses(frame: LazyTable, *, folds: Folds, maps: Sequence[Sequence[Map]]) -> LazyTable:
    k, code = folds.classes, nw.col("code")
    frame = frame.with_columns((nw.col("held") * k + code).alias("key"), nw.col("unit").alias("sum0"))
    for place, kind in enumerate("s" + "m" * len(maps)):
        frame = _apply(frame, folds, maps[place - 1]) if place else frame
        first, *others = probabilities = _each(kind, k)
        own = reduce(lambda so_far, one: choose(code == one[0], one[1], so_far), enumerate(others, 1), first)
        away = [one - whether(code == c) for c, one in enumerate(probabilities)]
        lost = surprise(own) * nw.col("unit"), sum_of(_times(away, away)) * nw.col("unit")
        frame = frame.with_columns(*(one.alias(f"sum{1 + 2 * place + n}") for n, one in enumerate(lost)))
    return frame


# ── where the rows are ───────────────────────────────────────────────────────────────────────────────────────────
@contextmanager
def map_classes(data: Data, asked: RowQuestion, folds: int, seed: int) -> Iterator[MappedRows | None]:
    """Open rows with probabilities of several classes, which were counted, to try maps on; None of too many classes."""
    given = class_columns(asked)
    if given is None or len(given) > MOST_MAPPED:
        yield None
        return
    if asked.cluster is None:
        asked = replace(asked, groups_by=[str(asked.truth), *given.values()])
    fold_of = Folds(len(given), folds, seed % folds)
    files = None if is_lazy(data) else Files.open(data, name_columns(data, asked) or {}, asked.where)
    with nullcontext(data) if files is None else files.relation() as table:
        if table is None and files is not None:
            yield count_typed(files, files.with_types(), lambda some: _look(partial(_in_batches, some, asked), fold_of))
            return
        with _inside(table, asked, fold_of) as rows:
            yield rows


def _look(tables: Tables, folds: Folds) -> MappedRows:
    nearest = min(collect(_rooms(table, folds.classes)).to_numpy().min() for table in tables())
    return MappedRows(tables, replace(folds, least=max(float(nearest) / 2, 2.0**-53)))


@contextmanager
def _inside(data: Data, asked: RowQuestion, folds: Folds) -> Iterator[MappedRows | None]:
    """The rows in their engine; Spark keeps the few columns meanwhile, so that every step does not read all again."""
    table = open_classes(data, asked)
    rows = None if table is None else table.in_groups()
    kept = rows.to_native().persist() if rows is not None and rows.implementation.is_pyspark() else None
    rows = rows if kept is None else as_frame(kept).lazy()
    try:
        yield None if rows is None else _look(lambda: iter([rows]), folds)
    finally:
        if kept is not None:
            kept.unpersist()


def _in_batches(files: Files, asked: RowQuestion) -> Iterator[LazyTable]:
    """The rows of files, some at a time; clusters are numbered as they come up."""
    classes, clusters = class_names(files.wanted), ClusterGroups()
    spelling = Spelling.of(asked.alike, asked.classes, asked.positive, classes)
    for batch in batches(files, asked.missing):
        if not batch.labels:
            continue
        truth = batch.labels["truth"].renamed(spelling) if spelling.words else batch.labels["truth"]
        held = deal_out(np.asarray(batch.numbers)) if batch.cluster is None else clusters.of(batch.cluster)
        unit = np.ones(len(held)) if batch.weight is None else batch.weight.astype(np.float64)
        scores = {f"s{c}": one for c, one in enumerate(batch.several)}
        code = truth.into(classes).astype(np.int64)
        yield as_frame(pl.DataFrame({"code": code, **scores, "unit": unit, "held": held}).lazy()).lazy()
