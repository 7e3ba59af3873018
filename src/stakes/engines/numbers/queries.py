"""Predicted numbers in another engine: what it is asked are sums by segment (or cluster), and never rows.

Beside the sums a few rows come back, those that can carry a figure by themselves, and errors counted by size.
"""

import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING

import narwhals as nw
import numpy as np

from stakes import errors
from stakes.engines.columns import Data, LazyTable, Table, to_column
from stakes.engines.labels import Labels
from stakes.engines.lazy.queries import (
    Groups,
    Look,
    QuerySource,
    collect,
    faults,
    round_down,
    weigh,
    whether,
    with_weight,
)
from stakes.engines.lazy.segments import AT_A_TIME, labels_of, segment_tests
from stakes.engines.lazy.spark_text import SparkText, add_columns, add_up, choose, column_of, keep_rows
from stakes.engines.numbers.passes import (
    ALL,
    FIRST,
    LOST,
    MOST_SQUARED,
    OTHER,
    Asked,
    FirstPass,
    SecondPass,
    SecondSums,
    Wanted,
    count_numbers,
    first_sums,
)
from stakes.engines.plan import Counted
from stakes.engines.reading import RowQuestion
from stakes.engines.rows import Dropped
from stakes.engines.tables import warn_of_same_column
from stakes.engines.tasks import task_of_numbers
from stakes.tallies import ErrorSums, LargeError
from stakes.tallies.arithmetic import Array
from stakes.tallies.bins import FINE
from stakes.tallies.error_sums import check_sizes, worst_of
from stakes.tallies.error_terms import OWN, TERMS, Term, Terms
from stakes.tallies.error_variation import COARSE, HEAVY, KEYS, HeavyRows, SizeCounts
from stakes.tallies.keys import put_together

if TYPE_CHECKING:
    from stakes.engines.numbers.partitions import PartitionNumbers

Numbers = dict[str, Array]
"""What an engine answered by name, in whatever order its groups came."""

_TERMS, _LOST = tuple(f"x_{name}" for name in TERMS), tuple(f"x_{name}".replace(" ", "_") for name in LOST)
_FIRST = tuple(f"sum {name}" for name in (*FIRST, "zeros"))
_POWERS_OF = {"truth": ("truth", "truth2", "product"), "prediction": ("prediction", "prediction2", "product")}
_ENDS, _CENTRES = tuple(_POWERS_OF), ("centre t", "centre p")
"""Two columns, which sums are 0 where all rows of one lie where they are counted from, and where that is."""

_AWAY, _SQUARED_WEIGHT = _LOST[0], (_TERMS[0], _TERMS[0])
_HEAVY, _ROW = tuple(_TERMS[key] for key in KEYS), ("truth", "prediction", "weight")
_EACH = (*_HEAVY, "size")
"""Rows that have most of these are brought: those that can carry a figure, and the largest errors."""

_FAR = 64.0
"""Truths whose mean is √64 times as far from 0 as they spread are counted from their mean instead; those of segments
whose mean is 64 times as far from there as they spread, from their own."""

_DEAL, _PARTS, _SOME = (7919.3729, 104729.8317), 512.0, 64.0
"""Rows are dealt into 512 parts by digits of their truths and errors, times these; 64 parts tell of all."""

_LEAST_UNIT = 2.0**-20
"""Digits are those of the mean error, or of this share of how truths spread: engines round down to 64 bits only."""

_MOST_CLOSER = 256
"""As many of the largest segments are looked at closer; every 64 of them are asked for by themselves."""

_MOST_SIZES = 10**6
"""At most this many different errors around the median are collected; of more, finer bins locate it."""


def count_numbers_inside(data: Data, named: Mapping[str, str], asked: RowQuestion) -> Counted | None:
    """Count predicted numbers where they are; None where the columns are classes, or text."""
    source = QuerySource.of(data, named, asked.where)
    kinds = [source.dtype(name) for name in ("truth", "prediction")]
    if not all(kind.is_numeric() for kind in kinds):
        return None
    if not asked.of_numbers and not any(kind.is_float() or kind.is_decimal() for kind in kinds):
        return None
    numbers = replace(QueryNumbers.of(source, asked.missing), wanted=Wanted.of(asked.needed))
    if not asked.of_numbers and numbers.task() == "classification":
        return None
    warn_of_same_column(dict(named))
    return count_numbers(numbers.in_place(), asked.baseline)


@dataclass(frozen=True, eq=False)
class QueryNumbers:
    """Rows with columns truth, prediction and weight (1 where there is none), and what makes segments and clusters.

    ``places`` are the columns by argument, ``seen`` is what a first look tells of the rows, and ``opening`` what it
    adds up of them at once.
    """

    frame: LazyTable
    places: Mapping[str, str]
    seen: Look = field(default_factory=lambda: Look({}))
    opening: Mapping[str, Numbers] = field(default_factory=dict)
    dropped: Dropped = field(default_factory=Dropped)
    wanted: Wanted = ALL

    @classmethod
    def of(cls, source: QuerySource, missing: str) -> "QueryNumbers":
        """Check the columns, and leave out rows that lack a value if that is asked for."""
        names, places, dropped, lost = ("truth", "prediction"), source.places, 0, 0.0
        column = column_of(source.frame)
        frame = add_columns(source.frame, {name: column(places[name]).cast(nw.Float64) for name in names})
        if missing == "drop":
            frame, dropped, lost = replace(source, frame=frame).without_gaps()
        weighted = ["weighing"] if "weight" in places else []
        frame = weigh(frame, places["weight"]) if weighted else add_columns(frame, {"weight": _number(frame, 1.0)})
        labels = dict.fromkeys(at for name, at in places.items() if name in ("cluster", OTHER) or name.startswith("by"))
        checks = {name: whether(test) for name, test in faults(names, column).items()}
        looked = add_columns(frame.select(*names, "weight", *weighted, *labels), checks)
        looked = add_columns(looked, {name: _finite(column(name)) for name in names})
        whole = {f"fractions {name}": whether(_has_fraction(column(name))) for name in names}
        table, weightless = cls(add_columns(looked, whole), places)._open([*checks, *whole], weighted), 0
        if weighted:
            table, weightless = with_weight(table)
        seen = Look.of(table)
        source.refuse_nothing(seen.rows)
        if not seen.rows:
            raise errors.empty("truth")
        seen.refuse({name: name for name in names})
        looked = looked.filter(nw.col("weighing") == 0) if weighted else looked
        frame = looked.select(*names, "weight", *labels)
        if "cluster" in places and (groups := QuerySource(frame, {"cluster": places["cluster"]}).groups(["cluster"])):
            groups.check(of_classes=True)
        found = cls(frame, places, seen, dropped=Dropped(dropped + weightless, weight=lost))
        Groups({name: table[places[name]] for name in found._by}, table["rows"].to_numpy()).check(of_classes=True)
        return replace(found, opening=found._read(table))

    def _open(
        self,
        checks: Sequence[str],
        weighing: Sequence[str] = (),
        centres: Sequence[Term] = (0.0, 0.0),
        highs: Sequence[str] = (),
    ) -> Table:
        """Ask in how many rows something holds, how far they reach (also other columns), and what they add up to."""
        column = column_of(self.frame)
        truth, prediction, weight = map(column, ("truth", "prediction", "weight"))
        t, p = truth - centres[0], prediction - centres[1]
        frame = add_columns(self.frame, {"error": truth - prediction, "t": t, "p": p})
        frame = add_columns(frame, {"size": column("error").abs()})
        sums = () if frame.implementation.is_dask() else _FIRST  # it adds up one partition after the other
        if sums:
            terms = _RowTerms(one=_number(frame, 1.0), t=truth, p=prediction, truth=column("t"), prediction=column("p"))
            terms |= {name: column(name) for name in ("error", "size")}
            columns = [*(terms[name] * weight for name in FIRST), whether(truth == 0.0)]
            frame = add_columns(frame, dict(zip(sums, columns, strict=True)))
        return collect(add_up(frame, [*weighing, *self._keys], [*checks, *sums], _ENDS, [*_ENDS, "size", *highs]))

    def task(self) -> str:
        """What a few numbers say that stand for all of them."""
        names, found = ("truth", "prediction"), self.seen.found
        return task_of_numbers({name: (*self.seen.span(name), bool(found[f"fractions {name}"])) for name in names})

    def in_place(self) -> "QueryNumbers | PartitionNumbers":
        """The same rows as they are best added up in their engine: those of Dask one partition after the other."""
        if not self.frame.implementation.is_dask():
            return self
        from stakes.engines.numbers.partitions import PartitionNumbers  # loads Polars

        return PartitionNumbers(self.frame, self.places, self.seen.rows, self.dropped, self.wanted)

    # ── the first pass ───────────────────────────────────────────────────────────────────────────────────────────
    def first(self, baseline: float | None) -> FirstPass:
        """Make sums by segment of what was added up at once, and ask for the sizes of errors."""
        answer, centres = self.opening, (0.0, 0.0)
        if _is_far(answer[""], _FAR):
            n, t, p = (_total(answer[""][f"sum {name}"]) for name in ("one", "truth", "prediction"))
            centres = t / n, p / n  # so far from 0 that digits are lost
            answer = self._read(self._open([], centres=centres))
        own: dict[str, tuple[Numbers, Sequence[float]]] = {name: (found, centres) for name, found in answer.items()}
        if any(_is_far(answer[name], _FAR**2) for name in own if name):
            own |= self._about_own_means()

        def sums(name: str, sizes: SizeCounts | None) -> ErrorSums:
            found, own_centres = own[name]
            each, about = {term: _total(found[term]) for term in _FIRST}, [*own_centres]
            for place, (column, powers) in enumerate(_POWERS_OF.items()):
                if found[f"low {column}"].min() == (same := found[f"high {column}"].max()):
                    about[place] = same  # so that no digit is lost
                    each |= {f"sum {power}": 0.0 for power in powers}
            least = min(found["low truth"].min(), found["low prediction"].min())
            largest, weighted = float(found["high size"].max()), "weight" in self.places
            shares = self.wanted.shares
            return first_sums([*each.values()], (about[0], about[1]), largest, least, weighted, sizes, shares)

        check_sizes(sums("", None), MOST_SQUARED)  # before sizes are asked for
        sizes = self._sizes(column_of(self.frame)("prediction"), COARSE) if self.wanted.rows else {}
        parts = {name: sums(name, sizes.get(name)) for name in answer}
        return FirstPass(parts.pop(""), parts, self.seen.rows, self.dropped.rows, self.dropped.weight)

    def _about_own_means(self) -> dict[str, tuple[Numbers, Sequence[float]]]:
        """The sums of each segment about its own means, and these."""
        means = dict(zip(_CENTRES, map(self._mean, _ENDS), strict=True))
        table = replace(self, frame=add_columns(self.frame, means))
        column = column_of(self.frame)
        answer = self._read(table._open([], centres=[*map(column, _CENTRES)], highs=_CENTRES))
        return {
            name: (found, [float(found[f"high {centre}"].max()) for centre in _CENTRES])
            for name, found in answer.items()
            if name
        }

    def _sizes(self, predicted: Term, bits: int) -> dict[str, SizeCounts]:
        """Distances of truths from a prediction, by size: of all rows, and of each segment.

        They are asked for without other columns, which engines would work out again.
        """
        size = (column_of(self.frame)("truth") - predicted).abs()
        narrow = add_columns(self.frame, {"edge": size}).select("edge", "weight", *self._keys)
        frame, sizes = round_down(narrow, "line", 2.0**bits), {}
        for name, found in self._ask(frame, ["weight"], extra="edge").items():
            edges, counts = put_together([(found["edge"], found["weight"])])  # several segments may share a bin
            sizes[name] = SizeCounts.of_bins(edges, counts, bits)
        return sizes

    # ── the second pass ──────────────────────────────────────────────────────────────────────────────────────────
    def second(self, asked: Asked) -> SecondPass:
        """Ask for sums of products of terms by segment, or of terms by cluster."""
        frame, own = self._with_terms(self.frame, asked, _number(self.frame, asked.whole)), ""
        if asked.segments:
            own = "own_"
            frame = self._with_terms(frame, asked, self._baseline(asked), own)
        sums = [*dict.fromkeys([*self._lost, *(f"{own}{name}" for name in self._lost)])]
        highs = [*dict.fromkeys(["far", f"{own}far"])]
        if "cluster" in self.places:
            squares = [_SQUARED_WEIGHT] if "weight" in self.places else []
            wanted: list[str | tuple[str, str]] = [*dict.fromkeys([*self._terms, *sums]), *squares]
            answer = self._ask(frame, wanted, highs, self.places["cluster"])
        else:
            of_segments = [f"{own}{_AWAY}"] if own and self.wanted.baseline else []
            pairs = itertools.combinations_with_replacement([*self._terms, *of_segments], 2)
            answer = self._ask(frame, [*sums, *pairs], highs)
        rows = {name: int(found["rows"].sum()) for name, found in answer.items()}
        closer = self._look_closer(frame, asked, rows)
        found = {name: self._varied(found, own if name else "", closer[name]) for name, found in answer.items()}
        return SecondPass(found.pop(""), found)

    @property
    def _terms(self) -> tuple[str, ...]:
        """The terms whose products are asked for."""
        return tuple(f"x_{name}" for name in self.wanted.terms)

    @property
    def _lost(self) -> Sequence[str]:
        """What is asked of a baseline."""
        return [name for name, of in zip(_LOST, LOST, strict=True) if self.wanted.shares or of in ("away", "sign")]

    def _with_terms(self, frame: LazyTable, asked: Asked, baseline: Term, own: str = "") -> LazyTable:
        """Add the terms of each row, or only those that depend on the baseline."""
        column = column_of(frame)
        truth, prediction, weight = map(column, ("truth", "prediction", "weight"))
        frame = add_columns(frame, {f"{own}baseline": baseline, "error": truth - prediction})
        terms = _RowTerms(t=truth, p=prediction, error=column("error"), centre=asked.centre)
        terms["baseline"] = column(f"{own}baseline")
        found = {} if own else {_TERMS[0]: weight, **{f"x_{name}": terms[name] * weight for name in TERMS[1:]}}
        found |= {f"{own}{name}": terms[of] * weight for name, of in zip(_LOST, LOST, strict=True)}
        found |= {f"{own}far": (truth - column(f"{own}baseline")).abs(), "size": column("error").abs()}
        return add_columns(frame, found)

    def _baseline(self, asked: Asked) -> Term:
        """What the baseline predicts in each segment: the mean of its truths, unless a number was given."""
        if len({asked.whole, *asked.segments.values()}) == 1:
            return _number(self.frame, asked.whole)
        return self._mean("truth")

    def _mean(self, name: str) -> Term:
        """The mean of a column in each segment."""
        keys, weight = self._keys, nw.col("weight")
        if self.frame.implementation.is_pyspark():
            by = f"OVER (PARTITION BY {', '.join(keys)})"
            return SparkText(f"sum({name} * weight) {by} / sum(weight) {by}")
        return (nw.col(name) * weight).sum().over(*keys) / weight.sum().over(*keys)

    def _varied(self, found: Numbers, own: str, closer: "_Closer") -> SecondSums:
        names = [f"{own}{name}" if name == _AWAY else name for name in self._terms]
        products = clusters = numbers = squares = None
        places = [_TERMS.index(name) for name in self._terms]
        if "cluster" in self.places:  # which may lie in several segments
            numbers, codes = np.unique(found["extra"], return_inverse=True)
            clusters = np.full((len(numbers), len(_TERMS)), np.nan)
            clusters[:, places] = np.stack([np.bincount(codes, found[name]) for name in names], axis=1)
            squares = _total(found["·".join(_SQUARED_WEIGHT)]) if "weight" in self.places else None
        else:
            pairs = [[f"{a}·{b}" if f"{a}·{b}" in found else f"{b}·{a}" for a in names] for b in names]
            products = np.full((len(_TERMS), len(_TERMS)), np.nan)
            products[np.ix_(places, places)] = [[_total(found[pair]) for pair in row] for row in pairs]
        lost = [_total(found[f"{own}{name}"]) if name in self._lost else math.nan for name in _LOST]
        largest = float(found[f"high {own}far"].max())
        heavy = None if clusters is not None else closer.heavy
        return SecondSums(
            lost, largest, products, clusters, squares, closer.far, closer.size, heavy, numbers, worst=closer.worst
        )

    # ── a closer look ────────────────────────────────────────────────────────────────────────────────────────────
    def _look_closer(self, frame: LazyTable, asked: Asked, rows: Mapping[str, int]) -> "dict[str, _Closer]":
        """Ask for what bins hide, of all rows and of each segment: errors and distances from the baseline around their
        medians, and heavy rows; of several segments at once, as far as these bring few enough.
        """
        least = self._least_heavy(frame, asked)
        alone, whole, far = replace(self, places={}), _number(frame, asked.whole), dict[str, SizeCounts]()
        sums = {"": asked.first.whole, **asked.first.segments}
        if self.wanted.rows:
            far = {**(self._sizes(self._baseline(asked), COARSE) if self._by else {}), **alone._sizes(whole, COARSE)}
        ranks = {name: 0.0 if "weight" in self.places else 3 * math.sqrt(many) + 1 for name, many in rows.items()}
        known = {
            name: _Closer(rows[name], ranks[name], one.sizes, far.get(name), least[name]) for name, one in sums.items()
        }
        found = alone._ask_closer(frame, {"": known.pop("")}, {}, "far", whole)
        tests: Mapping[str, Term] = {}
        if known:
            keys, places = collect(add_up(self.frame, self._keys, [])), {name: self.places[name] for name in self._by}
            tests = segment_tests({name: keys[place] for name, place in places.items()}, places, column_of(frame))
        largest = sorted(known, key=lambda name: -rows[name])
        if others := {name: known.pop(name) for name in largest[_MOST_CLOSER:]}:
            found |= self._in_fine_bins(frame, others, column_of(frame)("own_baseline"))
        while known:
            reached = np.cumsum([one.likely_rows for one in known.values()])
            some = [*known][: min(max(int((reached < _MOST_SIZES / 2).sum()), 1), AT_A_TIME)]
            parts = {name: known.pop(name) for name in some}
            found |= self._ask_closer(frame, parts, tests, "own_far", column_of(frame)("own_baseline"))
        return found

    def _ask_closer(
        self, frame: LazyTable, parts: "Mapping[str, _Closer]", tests: Mapping[str, Term], far: str, baseline: Term
    ) -> "dict[str, _Closer]":
        """Ask about some segments, or about all rows if there are no ``tests``; rows alike come as one group."""
        column = column_of(frame)
        size, near, heavy = (
            _of_segment(tests, dict(zip(parts, each, strict=True)))
            for each in zip(*(part.tests(column, far) for part in parts.values()), strict=True)
        )
        keys = {"size here": choose(size, column("size"), -1.0), "far here": choose(near, column(far), -1.0)}
        keys |= {f"own {name}": choose(heavy, column(name), 0.0) for name in (*_ROW, *_EACH)}
        some = add_columns(keep_rows(frame, size | near | heavy), {**keys, "heavy": whether(heavy)})
        table = collect(add_up(some, [*keys, "heavy", *self._keys], ["weight"]).head(_MOST_SIZES + 1))
        if len(table) > _MOST_SIZES:
            return self._finer(frame, parts, tests, baseline)
        labels = self._labels(table)
        if labels is None:
            return {name: part.refined(table) for name, part in parts.items()}
        codes = {name: labels.codes == labels.names.index(name) for name in parts}
        return {name: part.refined(table.filter(codes[name].tolist())) for name, part in parts.items()}

    def _finer(
        self, frame: LazyTable, parts: "Mapping[str, _Closer]", tests: Mapping[str, Term], baseline: Term
    ) -> "dict[str, _Closer]":
        """Where too much lies around medians: finer bins, and heavy rows one segment after the other."""
        found = self._in_fine_bins(frame, parts, baseline)
        for name in parts:
            own = keep_rows(frame, tests[name]) if tests else frame
            found[name] = found[name].with_heavy([_sort(own, term) for term in _EACH])
        return found

    def _in_fine_bins(self, frame: LazyTable, parts: "Mapping[str, _Closer]", baseline: Term) -> "dict[str, _Closer]":
        """Errors and distances from the baseline of some segments in finer bins, which are asked for all at once."""
        if not self.wanted.rows:
            return {**parts}
        table = replace(self, frame=frame)
        size, far = table._sizes(column_of(frame)("prediction"), FINE), table._sizes(baseline, FINE)
        return {name: replace(part, size=size[name], far=far[name]) for name, part in parts.items()}

    def _least_heavy(self, frame: LazyTable, asked: Asked) -> dict[str, list[float]]:
        """What rows have at least that can carry a figure, for each term that grows without end.

        As many rows as are wanted, or more, reach what as many groups of some rows reach; few groups are of few rows,
        or of rows that are alike, and all of those come.
        """
        column, sums = column_of(frame), asked.first.whole
        apart = math.sqrt(max(float(sums.spread("t")), 0.0) / self.seen.rows)
        unit = max(float(sums.mean(a=1)), apart * _LEAST_UNIT) or 1.0
        part = (column("truth") - asked.centre) * (_DEAL[0] / unit) + column("error") * (_DEAL[1] / unit)
        frame = add_columns(frame, {"group": ((part - part.floor()) * _PARTS).floor()})
        some = keep_rows(frame, column("group") < _SOME)
        answer, least = self._ask(some, [], [*_EACH], "group"), {name: [0.0] * len(_EACH) for name in self.opening}
        for name, found in answer.items():
            groups, places = np.unique(found["group"], return_inverse=True)
            highs = np.zeros((len(_EACH), len(groups)))  # all rows of a group may lie in several segments
            for high, term in zip(highs, _EACH, strict=True):
                np.maximum.at(high, places, found[f"high {term}"])
            if len(groups) >= HEAVY:
                least[name] = np.sort(highs)[:, -HEAVY].tolist()
        return least

    def cross(self, centre: float) -> dict[str, Array]:
        """Ask for the products of what depends on the predictions of two models, of all rows ("") and by segment."""
        frame, column = self.frame, column_of(self.frame)
        truth, weight = column("truth"), column("weight")
        for side, predicted in enumerate((column("prediction"), column(self.places[OTHER]).cast(nw.Float64))):
            frame = add_columns(frame, {"error": truth - predicted})
            terms = _RowTerms(t=truth, p=predicted, error=column("error"), centre=centre)
            frame = add_columns(frame, {f"own{side}_{place}": terms[TERMS[place]] * weight for place in OWN})
        pairs = [(f"own0_{a}", f"own1_{b}") for a in OWN for b in OWN]
        found, shape = self._ask(frame, pairs), (len(OWN), len(OWN))
        sums = {name: [_total(one["·".join(pair)]) for pair in pairs] for name, one in found.items()}
        return {name: np.array(each).reshape(shape) for name, each in sums.items()}

    # ── what is asked ────────────────────────────────────────────────────────────────────────────────────────────
    @property
    def _by(self) -> list[str]:
        return [name for name in self.places if name.startswith("by")]

    @property
    def _keys(self) -> list[str]:
        return [*dict.fromkeys(self.places[name] for name in self._by)]

    def _ask(
        self, frame: LazyTable, sums: Sequence[str | tuple[str, str]], highs: Sequence[str] = (), extra: str = ""
    ) -> dict[str, Numbers]:
        """Ask for sums of all rows ("") and by segment, and perhaps by one more column."""
        keys = dict.fromkeys([*self._keys, *([extra] if extra else [])])
        return self._read(collect(add_up(frame, [*keys], sums, highs=highs)), extra)

    def _read(self, table: Table, extra: str = "") -> dict[str, Numbers]:
        numbers = {name: table[name].to_numpy() for name in table.columns if name not in self.places.values()}
        found: dict[str, Array] = {name: column.astype(np.float64) for name, column in numbers.items()}
        if extra in self.places.values():
            found["extra"] = np.unique(to_column(table[extra], "cluster").values, return_inverse=True)[1]
        by, parts = self._labels(table) or Labels(np.zeros(0, np.int64), ()), {"": found}
        for code, segment in enumerate(by.names):
            rows = np.flatnonzero(by.codes == code)
            parts[segment] = {name: column[rows] for name, column in found.items()}
        return parts

    def _labels(self, table: Table) -> Labels | None:
        return labels_of({name: table[self.places[name]] for name in self._by})


def _total(values: Array) -> float:
    """The sum without rounding; infinite if no float holds it."""
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):  # ∞ − ∞
        return math.inf


def _is_far(found: Numbers, limit: float) -> bool:
    """Whether a column that is not the same in all rows lies so far from where it is counted that digits are lost."""
    for name, powers in _POWERS_OF.items():
        n, x, square = (_total(found[f"sum {power}"]) for power in ("one", *powers[:2]))
        if found[f"low {name}"].min() < found[f"high {name}"].max() and x * x > limit * n * (square - x * x / n):
            return True
    return False


@dataclass(frozen=True, eq=False)
class _Closer:
    """What is known of some rows: the sizes of errors, distances from the baseline (if they are wanted), rows that can
    carry a figure, and the largest errors.

    ``ranks`` are asked for on either side of a median, as far as its interval may reach. ``least`` is what heavy rows
    have at least of each term that grows without end, and the largest errors of their size.
    """

    rows: int
    ranks: float
    size: SizeCounts | None
    far: SizeCounts | None
    least: Sequence[float]
    heavy: HeavyRows | None = None
    worst: tuple[LargeError, ...] = ()

    @property
    def likely_rows(self) -> float:
        """About how many groups of rows a closer look brings: those around medians, in their bins, and heavy ones."""
        return 12 * math.sqrt(self.rows) + self.rows / 1000 + 1000

    def tests(self, column: Callable[[str], Term], far: str) -> list[Term]:
        """Whether error and distance from the baseline are near their medians, and whether the row is heavy."""
        found = []
        for name, sizes in (("size", self.size), (far, self.far)):
            low, high = (-1.0, -1.0) if sizes is None else sizes.around(self.ranks)  # which no size is
            found.append((column(name) >= low) & ((column(name) < high) | (column(name) == low)))
        return [*found, reduce(operator.or_, map(operator.ge, map(column, _EACH), self.least))]

    def refined(self, table: Table) -> "_Closer":
        """The same with what a closer look brought."""
        size, far = (
            None if one is None else one.refined(*_sizes_in(table, f"{name} here"))
            for name, one in (("size", self.size), ("far", self.far))
        )
        heavy = table.filter(nw.col("heavy") == 1)
        return replace(self, size=size, far=far).with_heavy([heavy] * len(_EACH))

    def with_heavy(self, tables: Sequence[Table]) -> "_Closer":
        """The same with the rows that have most of each term, from a table for each."""
        *heavy, large = (_most_of(name, some) for name, some in zip(_EACH, tables, strict=True))
        worst = worst_of(LargeError(None, t, p, t - p) for t, p in large[1:3].T.tolist())
        return replace(self, heavy=HeavyRows(tuple(heavy), self.rows), worst=worst)


def _most_of(name: str, some: Table) -> Array:
    """The rows that have most of a term: what they have, truths, predictions and weights, as in ``HeavyRows``."""
    each = [some[f"own {column}"].to_numpy().astype(np.float64) for column in (name, *_ROW)]
    order = np.lexsort((*each[1:], -each[0]))  # the same among those that have as much, in every engine
    top = np.repeat(order, np.minimum(some["rows"].to_numpy(), HEAVY)[order])[:HEAVY]
    return np.stack([*(column[top] for column in each), np.ones(len(top))])


def _sort(frame: LazyTable, name: str) -> Table:
    """The rows that have most of a term."""
    own = (nw.col(column).alias(f"own {column}") for column in (*_ROW, *_EACH))
    rows = frame.sort(name, descending=True).head(HEAVY)
    return collect(rows.select(*own, nw.lit(1).alias("rows")))


def _of_segment(tests: Mapping[str, Term], values: Mapping[str, Term]) -> Term:
    """What holds in the segment in which a row lies; without segments, in all rows."""
    found: Term = False
    for name, value in values.items():
        found = choose(tests[name], value, found) if tests else value
    return found


def _sizes_in(table: Table, name: str) -> tuple[Array, ...]:
    """The sizes that came one by one (placeholders are below 0), and how many there are of each."""
    sizes, many = (table[column].to_numpy().astype(np.float64) for column in (name, "weight"))
    return put_together([(sizes[sizes >= 0], many[sizes >= 0])])


def _number(frame: LazyTable, number: float) -> Term:
    """A column of one number."""
    return SparkText(f"{number!r}D") if frame.implementation.is_pyspark() else nw.lit(number)


def _has_fraction(number: Term) -> Term:
    """Whether a number is not whole; those beyond 2⁵³ all are, and some engines cannot round them down."""
    small = number.abs() < 2.0**53
    return small & (number != choose(small, number, 0.0).floor())


def _finite(number: Term) -> Term:
    """A number, or 0 where it is none: those are refused, and must not stop an engine before."""
    return choose(number - number == 0.0, number, 0.0)


class _RowTerms(Terms):
    """The terms of rows as an engine works them out from its columns."""

    def _made(self, name: str, operation: str, *of: Term) -> Term:
        return _OPERATIONS[operation](*of)


def _sign(number: Term) -> Term:
    return choose(number > 0.0, 1.0, choose(number < 0.0, -1.0, 0.0))


def _log1p(number: Term) -> Term:
    """log(1 + x), and anything where there is none."""
    more = number + 1.0
    return choose(more > 0.0, choose(more > 0.0, more, 1.0).log(), -36.0)


def _divide(above: Term, below: Term) -> Term:
    """A share, 0 of 0."""
    return choose(below == 0.0, 0.0, above / choose(below == 0.0, 1.0, below))


_OPERATIONS: dict[str, Callable[..., Term]] = {
    "subtract": operator.sub, "multiply": operator.mul, "abs": lambda number: number.abs(), "sign": _sign,
    "log1p": _log1p, "whole": lambda number: number.abs(), "divide": _divide,
}  # fmt: skip
