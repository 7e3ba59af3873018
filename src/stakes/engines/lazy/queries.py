"""Queries of an engine that holds the rows, through Narwhals: the number of rows of each kind.

Only groups and their sizes come back. They are plain aggregations, so a task that is retried does not count twice. The
order of groups and the rounding of sums of weights are the engine's.
"""

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce, wraps
from operator import add
from typing import TypeVar

import narwhals as nw
import numpy as np

from stakes import errors
from stakes.engines.columns import Data, LazyTable, Series, Table, Values, as_frame, refuse_repeated_names
from stakes.engines.conditions.lazy import filter_rows
from stakes.engines.conditions.syntax import parse
from stakes.engines.labels import are_fractions
from stakes.engines.lazy.spark_text import add_columns, add_up, choose, column_of, is_nan
from stakes.engines.missing import lacking
from stakes.engines.plan import Counted
from stakes.tallies import bins
from stakes.tallies.arithmetic import Array
from stakes.tallies.error_terms import Term
from stakes.tallies.losses import SHAPE

MOST_SCORES = 10**6
"""Most different scores that come back one by one; more are binned in the engine."""

MOST_GROUPS = 2 * MOST_SCORES
"""Most groups that come back: that many scores of two classes."""

ALIKE = "how many rows are alike"
"""Column of row counts in tables whose rows stand for several."""

_SURELY, _COUNTED = 1.5, 1000
"""How far an estimate must exceed MOST_SCORES to be certain, and the scores that it is made of."""

_FINE, _ZERO = 0, 1
_WEIGHT_FAULTS: tuple[Callable[[int, int | None], errors.InputError], ...] = (
    lambda rows, first: errors.missing_values("weight", rows, first),
    lambda rows, first: errors.negative_weights(rows, first),
    lambda rows, first: errors.infinite_values("weight", rows, first),
    lambda rows, first: errors.extreme_weights(rows, first),
)
_UNITS: tuple[tuple[Callable[[Term], Term], float, float], ...] = (
    (lambda size: size > 2.0**900, 2.0**-200, 0.0),
    (lambda size: size < 2.0**-900, 2.0**200, 0.0),
    (lambda size: size < 2.0**-1022, 2.0**200, 2.0**-822),
)
"""Factors (and offsets) for very large and very small sizes, with which products stay exact. Subnormal floats, whose
steps are equally wide, are shifted to the smallest normal float."""
_LOSSES = ("square_of_positive", "square_of_negative", "surprise_of_positive", "surprise_of_negative")
_ENDS = {"low": np.min, "high": np.max}
_IMPOSSIBLE, _BEYOND = 1e300, 1e150
"""The number for an infinite loss, and the sum (of weights up to 1e100) beyond which it contains one."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of equal rows: a value for each argument, the number of rows, and Σw and Σw² if they have weights.

    ``weightless`` rows have weight 0 and are in no group. ``added`` are sums of other columns, by weight.
    """

    columns: Mapping[str, Values]
    sizes: Array
    weight: Array | None = None
    squares: Array | None = None
    weightless: int = 0
    added: Mapping[str, Array] = field(default_factory=dict)

    @property
    def amounts(self) -> tuple[Array, Array | None]:
        """The number of rows of each group and None, or Σw and Σw² if rows have weights."""
        return (self.sizes, None) if self.weight is None else (self.weight, self.squares)

    @property
    def losses(self) -> Array | None:
        """The losses of each group, were its rows positive and were they negative (``tallies/losses.py``).

        They are known if probabilities were binned.
        """
        if _LOSSES[0] not in self.added:
            return None
        sums = np.stack([self.added[name] for name in _LOSSES], axis=-1)
        return with_infinite(sums).reshape(-1, *SHAPE)

    def take(self, groups: Array | slice) -> "Groups":
        """Some of the groups, without their columns."""
        weight, squares = (None if one is None else one[groups] for one in (self.weight, self.squares))
        added = {name: sums[groups] for name, sums in self.added.items()}
        return Groups({}, self.sizes[groups], weight, squares, added=added)

    def of_rows(self, counted: Counted) -> Counted:
        """What was counted of these groups, with the number of their rows and of those that weigh nothing."""
        return replace(counted, dropped=self.weightless, read=int(self.sizes.sum()) + self.weightless)

    def rows_in(self, groups: Array) -> int:
        """The number of rows in some of the groups (a mask)."""
        return int(self.sizes[groups].sum())

    def check(self, of_classes: bool) -> None:
        """Refuse missing values, infinite scores and fractional classes; there are no row numbers to name."""
        for argument, column in self.columns.items():
            if rows := self.rows_in(lacking(column)):
                raise errors.missing_values(argument, rows, None)
            if not column.dtype.is_float():
                continue
            values = column.to_numpy().astype(np.float64)
            if argument == "score":
                if rows := self.rows_in(np.isinf(values)):
                    raise errors.infinite_values(argument, rows, None)
            elif of_classes or argument.startswith("by"):
                wrong = are_fractions(values)
                if rows := self.rows_in(wrong):
                    raise errors.fractional_labels(argument, rows, None, float(min(values[wrong])))


@dataclass(frozen=True, eq=False)
class QuerySource:
    """A table in another engine; ``places`` maps arguments to the plain names of their columns."""

    frame: LazyTable
    places: Mapping[str, str]
    where: str | None = None
    added: tuple[str, ...] = ()
    alike: bool = False

    @classmethod
    def of(cls, data: Data, wanted: Mapping[str, str], where: str | None = None) -> "QuerySource":
        """Find the named columns of the rows that satisfy a condition.

        Columns get plain names by index, since engines interpret dots and quotes in names.
        """
        condition = None if where is None else parse(where)
        frame = as_frame(data).lazy()
        if frame.implementation.is_spark_like() or frame.implementation.is_dask():  # a schema has each name once
            refuse_repeated_names(list(map(str, frame.to_native().columns)))
        schema = frame.collect_schema()
        names = schema.names()
        refuse_repeated_names(names)
        for argument, name in wanted.items():
            if name not in names:
                raise errors.no_such_column(argument, name, names)
        if condition is not None:
            condition.check(names)
        asked = condition.columns if condition is not None else []
        for argument, name in wanted.items():
            if schema[name] == nw.Duration:  # which not every engine can hand over
                raise errors.unsupported_type(argument, str(schema[name]))
        plain = {name: f"c{names.index(name)}" for name in [*wanted.values(), *asked]}
        if frame.implementation.is_spark_like():
            frame = as_frame(frame.to_native().toDF(*(f"c{i}" for i in range(len(names))))).lazy()
        elif frame.implementation.is_duckdb():  # before 2.0 its expressions take the part before a dot for a table
            quoted = (f'"{name.replace(chr(34), 2 * chr(34))}" AS {place}' for name, place in plain.items())
            frame = as_frame(frame.to_native().project(", ".join(quoted))).lazy()
        else:
            kept = {ALIKE: ALIKE, **plain} if ALIKE in names else plain
            frame = frame.select(*(nw.col(name).alias(place) for name, place in kept.items()))
        if condition is not None:
            frame = filter_rows(frame, condition, {name: plain[name] for name in asked})
        return cls(frame, {argument: plain[name] for argument, name in wanted.items()}, where, alike=ALIKE in names)

    def dtype(self, argument: str) -> nw.dtypes.DType:
        """The type of a column."""
        return self.frame.collect_schema()[self.places[argument]]

    def rows(self) -> dict[str, Series]:
        """Fetch the named columns of all rows, for questions that need them; the log says how many."""
        table = collect(self.frame.select(*dict.fromkeys(self.places.values())))
        self.refuse_nothing(len(table))
        logging.getLogger("stakes").info("%d rows of %d columns left their engine to be counted", *table.shape)
        return {argument: table[place] for argument, place in self.places.items()}

    def count(self) -> int:
        """The number of rows."""
        return int(collect(self.frame.select(self._size.alias("rows"))).item())

    @property
    def _size(self) -> nw.Expr:
        return nw.col(ALIKE).sum() if self.alike else nw.len()

    def refuse_nothing(self, rows: int) -> None:
        """Refuse a condition that keeps no row."""
        if self.where is not None and not rows:
            raise errors.nothing_satisfies(self.where)

    def without_gaps(self) -> tuple[LazyTable, int, float]:
        """Drop rows that lack a value in a column: return the others, the number of dropped rows, and their weight."""
        frame = self.frame.with_columns(nw.lit(0).alias("gap"))
        for place in dict.fromkeys(self.places.values()):
            frame = frame.with_columns(choose(lacks(frame, place), nw.lit(1), nw.col("gap")).alias("gap"))
        lost = [nw.len().alias("rows"), nw.col("gap").sum().alias("lost")]
        if "weight" in self.places:
            place = self.places["weight"]
            own = choose(lacks(frame, place), nw.lit(0.0), nw.col(place).cast(nw.Float64))
            frame = frame.with_columns((own * nw.col("gap")).alias("lost_weight"))
            lost.append(nw.col("lost_weight").sum().alias("weight"))
        (totals,) = collect(frame.select(*lost)).rows(named=True)
        if totals["rows"] and totals["rows"] == totals["lost"]:
            raise errors.nothing_left(int(totals["rows"]))
        return frame.filter(nw.col("gap") == 0), int(totals["lost"] or 0), float(totals.get("weight") or 0.0)

    @property
    def unit(self) -> nw.Expr:
        """The weight of a row."""
        return nw.col(self.places["weight"]).cast(nw.Float64) if "weight" in self.places else nw.lit(1.0)

    def query(self, keys: Sequence[str]) -> LazyTable:
        """The query for the number of rows of each combination of these columns."""
        frame, sums, names = self.frame, [self._size.alias("rows")], dict.fromkeys(self.places[key] for key in keys)
        if "weight" in self.places:
            frame = weigh(frame, self.places["weight"])
            sums += [nw.col("weight").sum().alias("sum"), nw.col("square").sum().alias("squares")]
            names["weighing"] = None
        if self.added:
            unit = nw.col("weight") if "weight" in self.places else nw.lit(1.0)
            frame = frame.with_columns(*((nw.col(name) * unit).alias(name) for name in self.added))
            sums += [nw.col(name).sum().alias(f"sum_{name}") for name in self.added]
        return frame.group_by(*names).agg(*sums)

    def groups(self, keys: Sequence[str], most: int | None = None) -> Groups | None:
        """Count the rows of each combination of these columns; None if there are more than ``most`` combinations."""
        query = self.query(keys)
        table = collect(query if most is None else query.head(most + 1))
        self.refuse_nothing(len(table))
        if most is not None and len(table) > most:
            return None
        weightless = 0
        if "weight" in self.places:
            table, weightless = with_weight(table)
        found = {key: table[self.places[key]] for key in keys}
        numbers = {name: table[name].to_numpy() for name in ("rows", "sum", "squares") if name in table.columns}
        sizes = numbers["rows"].astype(np.int64)
        added = {name: table[f"sum_{name}"].to_numpy().astype(np.float64) for name in self.added}
        return Groups(found, sizes, numbers.get("sum"), numbers.get("squares"), weightless, added)

    @property
    def has_too_many_scores(self) -> bool:
        """Whether there are certainly more different scores than can come back one by one.

        Spark counts those in one of many parts by hash, an estimate within about 3 %; grouping would take it as long as
        everything else. Other engines are not queried.
        """
        if not self.frame.implementation.is_pyspark():
            return False
        score, parts = self.places["score"], max(MOST_SCORES // _COUNTED, 1)
        some = self.frame.to_native().where(f"pmod(xxhash64({score}), {parts}) = 0")
        different = some.selectExpr(f"count(DISTINCT {score}) AS scores")
        return int(collect(as_frame(different).lazy()).item()) * parts > _SURELY * MOST_SCORES

    @property
    def _score(self) -> nw.Expr:
        return nw.col(self.places["score"]).cast(nw.Float64)

    def look_at_scores(self, keys: Sequence[str]) -> "ScoreLook":
        """Check the scores of each combination of other columns, which must be finite, and sum their losses."""
        by, column = [*dict.fromkeys(self.places[key] for key in keys)], column_of(self.frame)
        frame = add_columns(self.frame, {"score": column(self.places["score"]).cast(nw.Float64)})
        unit: Term = 1.0
        if "weight" in self.places:
            frame, unit, by = weigh(frame, self.places["weight"]), column("weight"), [*by, "weighing"]
        score, tests = column("score"), {name: whether(test) for name, test in faults(["score"], column).items()}
        frame = add_columns(frame, {**tests, "own": choose((score >= 0.0) & (score <= 1.0), score, 0.5)})
        own, other = column("own"), 1.0 - column("own")
        each = other * other, own * own, surprise(own), surprise(other)
        frame = add_columns(frame, {name: loss * unit for loss, name in zip(each, _LOSSES, strict=True)})
        table = collect(add_up(frame, by, [*tests, *_LOSSES], ["score"], ["score"]))
        if "weight" in self.places:
            table, _ = with_weight(table)
        look = ScoreLook(Look.of(table).found, table)
        self.refuse_nothing(look.rows)
        look.refuse({"score": "score"})
        return look

    def decided_at(self, threshold: float) -> "QuerySource":
        """The same table with a column ``decided``: 1 if the score reaches the threshold, otherwise 0."""
        frame = self.frame.with_columns(whether(self._score >= float(threshold)).alias("decided"))
        return replace(self, frame=frame, places={**self.places, "decided": "decided"})

    def between(self, ranges: Sequence[tuple[float, float]]) -> "QuerySource":
        """The same table with the rows whose scores lie in one of several ranges, each without its end."""
        inside = (whether((self._score >= low) & (self._score < high)) for low, high in ranges)
        return replace(self, frame=self.frame.filter(reduce(add, inside) > 0))

    def on_grid(self, grid: str, bits: int = bins.FINE) -> "QuerySource":
        """The same table with scores rounded down to a grid of ``2**bits`` bins per power of two."""
        frame = round_down(self.frame.with_columns(self._score.alias("edge")), grid, 2.0**bits)
        return replace(self, frame=frame, places={**self.places, "score": "edge"})


def group_table(data: Data, columns: Sequence[str], where: str | None) -> Data | None:
    """The combinations of columns that occur, as a table that can be queried like the rows; None if they are very many.

    None also if a column does not exist: the query of that column alone gives the better error.
    """
    if not set(columns) <= set(as_frame(data).lazy().collect_schema().names()):
        return None
    source = QuerySource.of(data, {name: name for name in columns}, where)
    if any(source.dtype(name).is_float() or source.dtype(name).is_nested() for name in columns):
        return None
    groups = source.groups(columns, MOST_GROUPS)
    if groups is None:
        return None
    sizes = nw.new_series(ALIKE, groups.sizes, backend="polars")
    table = nw.from_dict({name: column.to_arrow() for name, column in groups.columns.items()}, backend="polars")
    return table.with_columns(sizes).lazy().to_native()


@dataclass(frozen=True, eq=False)
class Look:
    """A check of columns of numbers: the number of rows, of faults, and the range of values."""

    found: Mapping[str, float]

    @classmethod
    def at(cls, frame: LazyTable, names: Sequence[str], tests: Mapping[str, nw.Expr] | None = None) -> "Look":
        """Query the engine once, also for the number of rows in which ``tests`` hold."""
        asked = {name: whether(test) for name, test in {**(tests or {}), **faults(names)}.items()}
        frame = frame.with_columns(*(test.alias(name) for name, test in asked.items()))
        return cls.of(collect(add_up(frame, [], [*asked], [*names], [*names])))

    @classmethod
    def of(cls, table: Table) -> "Look":
        """Combine the results of all groups of rows."""
        found = {}
        for name in table.columns:
            if table[name].dtype.is_numeric() and len(table):
                column = table[name].to_numpy().astype(np.float64)
                found[name] = float(_ENDS.get(name.split()[0], np.sum)(np.where(np.isnan(column), 0.0, column)))
        return cls(found or {"rows": 0.0})

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.found["rows"])

    def span(self, name: str) -> tuple[float, float]:
        """The lowest and the highest number of a column."""
        return self.found[f"low {name}"], self.found[f"high {name}"]

    def refuse(self, called: Mapping[str, str]) -> None:
        """Refuse missing and infinite numbers; ``called`` maps columns to arguments."""
        for fault, words in (("missing", errors.missing_values), ("infinite", errors.infinite_values)):
            for name, argument in called.items():
                if rows := int(self.found[f"{fault} {name}"]):
                    raise words(argument, rows, None)


@dataclass(frozen=True, eq=False)
class ScoreLook(Look):
    """A check of scores, with the losses of each combination of other columns."""

    table: Table

    @property
    def of_probabilities(self) -> bool:
        """Whether all scores lie in [0, 1]."""
        low, high = self.span("score")
        return low >= 0 and high <= 1

    def count_two(self, source: QuerySource) -> Groups | None:
        """Let Spark group rows by score alone, and count both truths side by side.

        That halves the number of groups. None for other engines, more truths, weights, or columns to add up.
        """
        place, spark = source.places["truth"], source.frame.implementation.is_pyspark()
        values = self.table[place].to_list()
        if not spark or "weight" in source.places or source.added or len(values) != 2 or None in values:
            return None
        frame = source.frame.with_columns(whether(nw.col(place) == values[0]).alias("first"))
        table = collect(add_up(frame, [source.places["score"]], ["first"]))
        first, rows = (table[name].to_numpy() for name in ("first", "rows"))
        sizes = np.stack([first, rows - first])
        codes, groups = np.nonzero(sizes)
        columns = {"truth": self.table[place][codes], "score": table[source.places["score"]][groups]}
        return Groups(columns, sizes[codes, groups])

    def beside(self, groups: Groups, places: Mapping[str, str]) -> Groups:
        """Add the losses of each combination to its first group; their place within the combination does not matter."""
        keys = [*dict.fromkeys(places.values())]
        each = nw.from_dict({place: groups.columns[key] for key, place in places.items()}).with_row_index("first")
        found = self.table.join(each.unique(keys, keep="any"), on=keys)
        added = {name: np.zeros(len(groups.sizes)) for name in _LOSSES}
        for name, sums in added.items():
            sums[found["first"].to_numpy()] = found[name].to_numpy()
        return replace(groups, added={**groups.added, **added})


def faults(names: Sequence[str], column: Callable[[str], Term] = nw.col) -> dict[str, Term]:
    """Tests for what can be wrong with numbers: they are missing, or infinite."""
    found: dict[str, Term] = {}
    for name in names:
        missing = column(name).is_null() | is_nan(column(name))
        found |= {f"missing {name}": missing, f"infinite {name}": ~missing & infinite(column(name))}
    return found


def surprise(probability: Term, impossible: float = _IMPOSSIBLE) -> Term:
    """−log p; for 0, which not every engine accepts, a number that no sum of others reaches."""
    possible = probability > 0.0
    return choose(possible, choose(possible, probability, 1.0).log() * -1.0, impossible)


def with_infinite(sums: Array) -> Array:
    """Make sums of surprise infinite if they contain a probability of 0."""
    return np.where(sums > _BEYOND, np.inf, sums)


def collect(frame: LazyTable) -> Table:
    """Fetch the result of a query; Polars reads tables larger than memory in batches."""
    if not frame.implementation.is_polars():
        try:
            return frame.collect()
        except ModuleNotFoundError as missing:
            name = missing.name
            words = f"what this table answers is handed over by {name}, which is missing; pip install {name}"
            raise errors.MissingPartError("missing-for-table", words) from None
    from stakes.engines.older_polars import STREAMING  # loads Polars

    return frame.collect(**STREAMING)


# ── weights ──────────────────────────────────────────────────────────────────────────────────────────────────────
def weigh(frame: LazyTable, name: str) -> LazyTable:
    """Add the weight, its square, and its fault as a key, so that wrong weights come back counted."""
    dtype = frame.collect_schema()[name]
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        raise errors.not_numbers("weight", f"{dtype} values")
    frame = frame.with_columns(nw.col(name).cast(nw.Float64).alias("weight"))
    weight = nw.col("weight")
    extreme = (weight > 1e100) | (weight < 1e-100)
    tests = (weight == 0, weight.is_null() | is_nan(weight), weight < 0, infinite(weight), extreme)
    weighing = nw.lit(_FINE)
    for number, test in reversed([*enumerate(tests, _ZERO)]):  # the first that holds is the outermost
        weighing = nw.when(test).then(nw.lit(number)).otherwise(weighing)
    return frame.with_columns((weight * weight).alias("square"), weighing.alias("weighing"))


def with_weight(table: Table) -> tuple[Table, int]:
    """Refuse wrong weights, and leave out groups of weight 0; return the number of their rows, too."""
    weighing, sizes = table["weighing"].to_numpy(), table["rows"].to_numpy()
    for number, words in enumerate(_WEIGHT_FAULTS, _ZERO + 1):
        if (weighing == number).any():
            raise words(int(sizes[weighing == number].sum()), None)
    weightless = int(sizes[weighing == _ZERO].sum())
    if len(table) and (weighing == _ZERO).all():
        raise errors.zero_weights(weightless)
    return (table.filter((weighing == _FINE).tolist()) if weightless else table), weightless


def infinite(number: Term) -> Term:
    """Whether a number is infinite."""
    return (number > sys.float_info.max) | (number < -sys.float_info.max)


def lacks(frame: LazyTable, place: str) -> Term:
    """Whether a row lacks a value in a column: null, NaN, or text of nothing but blanks."""
    dtype, column = frame.collect_schema()[place], nw.col(place)
    if dtype.is_float():
        return column.is_null() | is_nan(column)
    return column.is_null() | (column.str.strip_chars() == "") if dtype == nw.String else column.is_null()


def whether(test: Term) -> Term:
    """1 if a test holds, otherwise 0."""
    return choose(test, 1, 0)


T = TypeVar("T", bound=Callable[..., LazyTable])


def row_by_row(change: T) -> T:
    """Decorator: apply a change to each partition of a Dask table, which plans many small steps slowly."""

    @wraps(change)
    def changed(frame: LazyTable, *given: object, **options: object) -> LazyTable:
        if not frame.implementation.is_dask():
            return change(frame, *given, **options)
        parts = frame.to_native().map_partitions(lambda part: change(as_frame(part), *given, **options).to_native())
        return as_frame(parts).lazy()

    return changed  # type: ignore[return-value]


# ── bins: nothing but comparisons, sums and products, so that every engine rounds alike ──────────────────────────
@row_by_row
def round_down(frame: LazyTable, grid: str, fine: float = 2.0**bins.FINE) -> LazyTable:
    """Round scores down to ``fine`` steps in each power of two (``tallies/bins.py``).

    Probabilities above ½ mirror those below, and the sizes of negative numbers are rounded up. First the nearest step
    is found; if it lies on the wrong side, the step before (or after) it is taken.
    """
    mirror, column = 1.0 if grid == "probability" else 0.0, column_of(frame)
    edge, size, near, unit, start = map(column, ("edge", "size", "near", "unit", "start"))
    mirrored = edge > 0.5 if mirror else edge < 0.0
    frame = add_columns(frame, {"mirrored": whether(mirrored), "size": choose(mirrored, mirror - edge, edge)})
    units: list[Term] = [1.0, 0.0]
    for test, *own in _UNITS if grid == "line" else _UNITS[1:]:
        units = [choose(test(size), one, other) for one, other in zip(own, units, strict=True)]
    frame = add_columns(frame, {"unit": units[0], "start": units[1]})
    frame = add_columns(frame, {"size": size * unit + start})
    frame = add_columns(frame, {"near": _nearest(size, fine)})
    mirrored, step = column("mirrored") == 1, 0.6 / fine
    right = choose(mirrored, near >= size, near <= size)
    beside = _nearest(near * choose(mirrored, 1 + step, 1 - step), fine)
    frame = add_columns(frame, {"size": (choose(right, near, beside) - start) / unit})
    return add_columns(frame, {"edge": choose(mirrored, mirror - size, size)})


def _nearest(size: Term, fine: float) -> Term:
    """The step nearest to each size: adding a number 2⁵² / fine times as large rounds away all further bits."""
    larger = size * (2.0**52 / fine + 1)
    return larger - (larger - size)
