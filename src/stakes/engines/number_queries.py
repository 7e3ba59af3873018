"""Predicted numbers in another engine: what it is asked are sums by segment (or cluster), and never rows.

Beside the sums a few rows come back, those that can carry a figure by themselves, and errors counted by size.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import narwhals as nw
import numpy as np

from stakes import errors
from stakes.engines.columns import Data, LazyTable, Table, to_column
from stakes.engines.labels import Labels
from stakes.engines.numbers import (
    OTHER,
    Asked,
    FirstPass,
    SecondPass,
    SecondSums,
    count_numbers,
    first_sums,
    first_terms,
)
from stakes.engines.plan import Counted
from stakes.engines.queries import Look, QuerySource, choose, collect, round_down, weigh, whether, with_weight
from stakes.engines.reading import RowQuestion
from stakes.engines.segments import segment_labels
from stakes.engines.tables import warn_of_same_column
from stakes.engines.tasks import settle_task
from stakes.tallies import ErrorSums
from stakes.tallies.arithmetic import Array
from stakes.tallies.error_variation import HEAVY, KEYS, OWN, TERMS, HeavyRows, SizeCounts, terms_of

if TYPE_CHECKING:
    from stakes.engines.number_partitions import PartitionNumbers

_TERMS, _LOST = tuple(f"x_{name}" for name in TERMS), ("balance", "logs_away", "share_away")
_AWAY = "x_away"
_MOST_SIZES = 10**6
"""So many different errors around the median are brought here at most; of more, their bins say it."""


class OfQueries:
    """The operations on columns of an engine."""

    @staticmethod
    def size(column: nw.Expr) -> nw.Expr:
        """Return |x|."""
        return column.abs()

    @staticmethod
    def log1p(column: nw.Expr) -> nw.Expr:
        """Return log(1 + x), of numbers at −1 and below that of one above it."""
        more = column + 1.0
        return choose(more > 0, choose(more > 0, more, nw.lit(1.0)).log(), nw.lit(-36.0))

    @staticmethod
    def sign(column: nw.Expr) -> nw.Expr:
        """Return 1, 0 or −1."""
        return choose(column > 0, nw.lit(1.0), choose(column < 0, nw.lit(-1.0), nw.lit(0.0)))

    @staticmethod
    def share(size: nw.Expr, of: nw.Expr) -> nw.Expr:
        """Return a size as a share of the size of another column, 0 where that is 0."""
        return choose(of == 0, nw.lit(0.0), size / choose(of == 0, nw.lit(1.0), of.abs()))


def count_numbers_inside(data: Data, named: Mapping[str, str], asked: RowQuestion) -> Counted | None:
    """Count predicted numbers where they are; None where the columns are classes, or text."""
    source = QuerySource.of(data, named, asked.where)
    kinds = [source.dtype(name) for name in ("truth", "prediction")]
    if not all(kind.is_numeric() for kind in kinds):
        return None
    sure = asked.task == "regression" or asked.baseline is not None
    if not sure and not any(kind.is_float() or kind.is_decimal() for kind in kinds):
        return None
    numbers = QueryNumbers.of(source, asked.missing)
    if not sure and numbers.task() == "classification":
        return None
    warn_of_same_column(dict(named))
    return count_numbers(numbers.in_place(), asked.baseline)


@dataclass(frozen=True, eq=False)
class QueryNumbers:
    """Rows with columns truth, prediction and weight (1 where there is none), and what makes segments and clusters.

    ``places`` are the columns by argument, ``seen`` is what a first look tells of the rows.
    """

    frame: LazyTable
    places: Mapping[str, str]
    seen: Look
    dropped: int = 0

    @classmethod
    def of(cls, source: QuerySource, missing: str) -> "QueryNumbers":
        """Check the columns, and leave out rows that lack a value if that is asked for."""
        frame = source.frame.with_columns(
            *(nw.col(source.places[name]).cast(nw.Float64).alias(name) for name in ("truth", "prediction"))
        )
        dropped = weightless = 0
        if missing == "drop":
            frame, dropped, _ = replace(source, frame=frame).without_gaps()
        if "weight" in source.places:
            frame = weigh(frame, source.places["weight"])
            _, weightless = with_weight(collect(frame.group_by("weighing").agg(nw.len().alias("rows"))))
            frame = frame.filter(nw.col("weighing") == 0)
        else:
            frame = frame.with_columns(nw.lit(1.0).alias("weight"))
        names = ("truth", "prediction")
        tests = {f"fractions {name}": ~nw.col(name).is_nan() & (nw.col(name) != nw.col(name).floor()) for name in names}
        seen = Look.at(frame, names, tests)
        source.refuse_nothing(seen.rows)
        if not seen.rows:
            raise errors.empty("truth")
        seen.refuse({name: name for name in names})
        labels = {name: at for name, at in source.places.items() if name == "cluster" or name.startswith("by")}
        if labels and (groups := QuerySource(frame, labels).groups([*labels])) is not None:
            groups.check(of_classes=True)
        return cls(frame, source.places, seen, dropped + weightless)

    def task(self) -> str:
        """What a few numbers say that stand for all of them."""
        shown = {}
        for name in ("truth", "prediction"):
            low, high = self.seen.span(name)
            some = [math.floor(low) + 0.5] if self.seen.found[f"fractions {name}"] else []
            shown[name] = to_column(np.array([low, high, *some]), name)
        return settle_task("auto", shown, False, False)

    def in_place(self) -> "QueryNumbers | PartitionNumbers":
        """The same rows as they are best added up in their engine: those of Dask one partition after the other."""
        if not self.frame.implementation.is_dask():
            return self
        from stakes.engines.number_partitions import PartitionNumbers  # loads Polars

        return PartitionNumbers(self.frame, self.places, self.seen.rows, self.dropped)

    # ── the first pass ───────────────────────────────────────────────────────────────────────────────────────────
    def first(self) -> FirstPass:
        """Ask for sums by segment, and for the sizes of errors."""
        truth, prediction, weight = map(nw.col, ("truth", "prediction", "weight"))
        centre = self.seen.found["mean truth"]
        own = {"error": truth - prediction, "t": truth - centre, "p": prediction - centre}
        frame = _add(_add(self.frame, own), {"size": nw.col("error").abs()})
        errors, centred = (nw.col("size"), nw.col("error")), (nw.col("t"), nw.col("p"))
        terms = first_terms(nw.lit(1.0), (truth, prediction), errors, centred, OfQueries())
        columns = [*(term * weight for term in terms), whether(truth == 0)]
        added = {f"sum{place}": column for place, column in enumerate(columns)}
        ends = [nw.col("size").max().alias("largest"), truth.min().alias("low"), prediction.min().alias("low_p")]
        answer = self._ask(_add(frame, added), [*(nw.col(name).sum().alias(name) for name in added), *ends])
        sizes = self._sizes(frame)

        def sums(found: Mapping[str, Array], sizes: SizeCounts | None) -> ErrorSums:
            each = [math.fsum(found[name]) for name in added]
            least = min(found["low"].min(), found["low_p"].min())
            return first_sums(each, centre, float(found["largest"].max()), least, "weight" in self.places, sizes)

        parts = {name: sums(answer.of(rows), sizes.get(name)) for name, rows in answer.segments.items()}
        whole = sums(answer.of(slice(None)), _refined(frame, sizes[""]))
        return FirstPass(whole, parts, self.seen.rows, self.dropped)

    def _sizes(self, frame: LazyTable) -> dict[str, SizeCounts]:
        """Errors by size: of all rows, and of each segment."""
        frame = round_down(frame.with_columns(nw.col("size").alias("edge")), "line")
        answer = self._ask(frame, [nw.col("weight").sum().alias("many")], "edge")
        every: dict[str, Array | slice] = {"": slice(None), **answer.segments}
        each = {name: answer.of(rows) for name, rows in every.items()}
        return {name: SizeCounts.of_bins(found["edge"], found["many"]) for name, found in each.items()}

    # ── the second pass ──────────────────────────────────────────────────────────────────────────────────────────
    def second(self, asked: Asked) -> SecondPass:
        """Ask for sums of products of terms by segment, or of terms by cluster."""
        frame, own = self._with_terms(asked, nw.lit(asked.whole)), ""
        if asked.segments:
            own = "own_"
            frame = self._with_terms(asked, self._baseline(asked), frame, own)
        names = [*_TERMS, *_LOST, *([f"{own}{_AWAY}", *(f"{own}{name}" for name in _LOST)] if own else [])]
        sums = [nw.len().alias("rows"), *(nw.col(name).sum().alias(name) for name in names)]
        ends = [nw.col("far").max().alias("far"), *([nw.col("own_far").max().alias("own_far")] if own else [])]
        if "cluster" in self.places:
            answer = self._ask(frame, [*sums, *ends], self.places["cluster"])
        else:
            pairs = list(itertools.combinations_with_replacement([*_TERMS, *([f"{own}{_AWAY}"] if own else [])], 2))
            frame = _add(frame, {f"{a}·{b}": nw.col(a) * nw.col(b) for a, b in pairs})
            answer = self._ask(frame, [*sums, *ends, *(nw.col(f"{a}·{b}").sum().alias(f"{a}·{b}") for a, b in pairs)])
        heavy, where = (None, []) if "cluster" in self.places else self._heavy(frame)
        away = self._far_from(asked.whole)
        whole = replace(self._varied(answer.of(slice(None)), "", heavy), sizes=away)
        parts = {}
        for name, rows in answer.segments.items():
            found = answer.of(rows)
            held = None if heavy is None else _of_segment(heavy, where, name, int(found["rows"].sum()))
            parts[name] = self._varied(found, own, held)
        return SecondPass(whole, parts)

    def _far_from(self, said: float) -> SizeCounts:
        """Distances of all truths from a number, by size: asked of two columns alone, for engines repeat the others."""
        far = self.frame.select((nw.col("truth") - said).abs().alias("size"), "weight")
        return replace(self, places={}, frame=far)._sizes(far)[""]

    def _with_terms(self, asked: Asked, said: nw.Expr, frame: "LazyTable | None" = None, own: str = "") -> LazyTable:
        """Add the terms of each row, or those alone that depend on the number that is always said."""
        truth, prediction, weight = nw.col("truth"), nw.col("prediction"), nw.col("weight")
        frame = self.frame if frame is None else frame
        frame = _add(frame, {f"{own}said": said, "error": truth - prediction})
        terms, lost = terms_of(truth, prediction, nw.col("error"), asked.centre, nw.col(f"{own}said"), OfQueries())
        found = {_TERMS[0]: weight, **{name: term * weight for name, term in zip(_TERMS[1:], terms, strict=True)}}
        found = found if not own else {f"{own}{_AWAY}": found[_AWAY]}
        found |= {f"{own}{name}": term * weight for name, term in zip(_LOST, lost, strict=True)}
        return _add(frame, {**found, f"{own}far": (truth - nw.col(f"{own}said")).abs()})

    def _baseline(self, asked: Asked) -> nw.Expr:
        """The number that is always said in each segment: the mean of its truths, unless it was given."""
        if len({asked.whole, *asked.segments.values()}) == 1:
            return nw.lit(asked.whole)
        keys, weight = self._keys, nw.col("weight")
        return (nw.col("truth") * weight).sum().over(*keys) / weight.sum().over(*keys)

    def _varied(self, found: Mapping[str, Array], own: str, heavy: HeavyRows | None) -> SecondSums:
        away, *lost = (math.fsum(found[f"{own}{name}"]) for name in (_AWAY, *_LOST))
        names = [f"{own}{name}" if name == _AWAY else name for name in _TERMS]
        products = clusters = numbers = None
        if "cluster" in self.places:  # which may lie in several segments
            numbers, codes = np.unique(found["extra"], return_inverse=True)
            clusters = np.stack([np.bincount(codes, found[name]) for name in names], axis=1)
        else:
            pairs = [[f"{a}·{b}" if f"{a}·{b}" in found else f"{b}·{a}" for a in names] for b in names]
            products = np.array([[math.fsum(found[pair]) for pair in row] for row in pairs])
        largest = float(found[f"{own}far"].max())
        return SecondSums(away, *lost, largest, products, clusters, heavy=heavy, cluster_numbers=numbers)

    def _heavy(self, frame: LazyTable) -> tuple[HeavyRows, list[list[str]]]:
        """Bring a few rows here that can carry a figure, and the segments that they lie in."""
        chosen, segments = [], []
        for key in KEYS:
            name = _TERMS[key]
            columns = (name, "truth", "prediction", "weight")
            top = collect(frame.select(*columns, *self._keys).sort(name, descending=True).head(HEAVY))
            numbers = [top[column].to_numpy().astype(np.float64) for column in columns]
            chosen.append(np.stack([*numbers, np.ones(len(top))]))
            by = self._labels(top)
            segments.append([] if by is None else [by.names[code] for code in by.codes.tolist()])
        return HeavyRows(tuple(chosen), self.seen.rows), segments

    def cross(self, centre: float) -> dict[str, Array]:
        """Ask for the products of what depends on the predictions of two models, of all rows ("") and by segment."""
        frame, weight = self.frame, nw.col("weight")
        for side, said in enumerate((nw.col("prediction"), nw.col(self.places[OTHER]).cast(nw.Float64))):
            frame = _add(frame, {"error": nw.col("truth") - said})
            terms, _ = terms_of(nw.col("truth"), said, nw.col("error"), centre, nw.lit(0.0), OfQueries())
            frame = _add(frame, {f"own{side}_{place}": terms[place - 1] * weight for place in OWN})
        names = {f"{a}·{b}": (f"own0_{a}", f"own1_{b}") for a in OWN for b in OWN}
        frame = _add(frame, {name: nw.col(one) * nw.col(two) for name, (one, two) in names.items()})
        answer = self._ask(frame, [nw.col(name).sum().alias(name) for name in names])
        every: dict[str, Array | slice] = {"": slice(None), **answer.segments}
        found = {name: answer.of(rows) for name, rows in every.items()}
        shape = len(OWN), len(OWN)
        return {name: np.array([*map(math.fsum, one.values())]).reshape(shape) for name, one in found.items()}

    # ── what is asked ────────────────────────────────────────────────────────────────────────────────────────────
    @property
    def _by(self) -> list[str]:
        return [name for name in self.places if name.startswith("by")]

    @property
    def _keys(self) -> list[str]:
        return [self.places[name] for name in self._by]

    def _ask(self, frame: LazyTable, sums: Sequence[nw.Expr], extra: str = "") -> "SumsBySegment":
        """Ask for sums by segment, and perhaps by one more column."""
        keys = [*self._keys, *([extra] if extra else [])]
        table = collect(frame.group_by(*dict.fromkeys(keys)).agg(*sums) if keys else frame.select(*sums))
        by = self._labels(table)
        numbers = {name: table[name].to_numpy() for name in table.columns if name not in self.places.values()}
        found = {name: column.astype(np.float64) for name, column in numbers.items()}
        if extra in self.places.values():
            found["extra"] = np.unique(to_column(table[extra], "cluster").values, return_inverse=True)[1]
        return SumsBySegment(found, by)

    def _labels(self, table: Table) -> Labels | None:
        return segment_labels({name: to_column(table[self.places[name]], name) for name in self._by})


@dataclass(frozen=True, eq=False)
class SumsBySegment:
    """Numbers by segment, in whatever order the engine gave them."""

    numbers: Mapping[str, Array]
    by: Labels | None

    @property
    def segments(self) -> dict[str, Array]:
        """Where the answers about each segment stand."""
        if self.by is None:
            return {}
        return {name: np.flatnonzero(self.by.codes == code) for code, name in enumerate(self.by.names)}

    def of(self, rows: Array | slice) -> dict[str, Array]:
        """The numbers of some segments."""
        return {name: column[rows] for name, column in self.numbers.items()}


def _of_segment(heavy: HeavyRows, where: list[list[str]], name: str, rows: int) -> HeavyRows:
    """Say which of the rows that were brought here lie in a segment."""
    own = [[float(segment == name) for segment in segments] for segments in where]
    chosen = tuple(np.vstack([some[:-1], flags]) for some, flags in zip(heavy.chosen, own, strict=True))
    return HeavyRows(chosen, rows)


def _add(frame: LazyTable, columns: Mapping[str, nw.Expr]) -> LazyTable:
    return frame.with_columns(*(column.alias(name) for name, column in columns.items()))


def _refined(frame: LazyTable, sizes: SizeCounts) -> SizeCounts:
    """Bring the sizes of errors around the median here, unless they are very many."""
    low, high = sizes.median_range
    within = frame.filter(nw.col("size") >= low, nw.col("size") <= high)
    asked = within.group_by("size").agg(nw.col("weight").sum().alias("many"))
    table = collect(asked.head(_MOST_SIZES + 1))
    if len(table) > _MOST_SIZES:
        return sizes
    each, many = (table[name].to_numpy().astype(np.float64) for name in ("size", "many"))
    order = np.argsort(each)
    return sizes.refined(each[order], many[order])
