"""Columns that are tensors on a GPU: checked, grouped and sorted there; only the tally is copied.

Labels, decisions and segments are whole numbers, and come back as groups of equal rows, which are then read like rows
(``lazy/groups.py``), so there is one label rule. Scores of two classes are sorted: those of few rows come back as
keys, the same as those of rows in memory; of more they come back in bins with the sums of their order. Questions that
cannot be answered there (clusters, frequencies, gaps) copy the tensors. Scores of several classes are counted by
``classes.py``, and predicted numbers are summed by ``numbers.py``, unless they are few: then the rows are worth
keeping.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from stakes import errors
from stakes.engines.labels import Labels
from stakes.engines.lazy.groups import count_as_rows, warn_of_few_in
from stakes.engines.memory import Rows, count_classes, table_of
from stakes.engines.plan import Counted, Plan
from stakes.engines.reading import RowQuestion
from stakes.engines.tables import warn_of_same_column
from stakes.engines.tensors.arrays import Tensor
from stakes.engines.tensors.binned import BinCounts
from stakes.engines.tensors.classes import count_class_tensors
from stakes.engines.tensors.numbers import count_number_tensors
from stakes.engines.tensors.operations import as_countable, operations_on, refuse_infinite_tensor
from stakes.engines.tensors.ordered import fit_into_keys, fold, sort_scores
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import check_threshold
from stakes.tallies.confusion import MOST_CLASSES
from stakes.tallies.operations import ArrayOperations
from stakes.tallies.scores import ScoreTable

FEW = 1 << 21
"""Scores of up to this many rows come back sorted, one by one; more in bins, with the sums of their order."""

BLOCK = 1 << 26
"""Rows per block in which labels are counted."""

_MOST_CELLS = 1 << 22
"""Most combinations of labels that are counted in a table."""

_MANY_CELLS = 1 << 14
"""With more combinations of truth and decision, classes are found by the labels that occur."""

_NUMBERS = ("float16", "bfloat16", "float32", "float64")
_WHOLE = ("bool", "uint8", "int8", "int16", "int32", "int64")


def count_tensors(asked: RowQuestion, exact: bool | None) -> Counted | None:
    """Count tensors on their device; None if the question needs a copy of them."""
    others = (asked.cluster, asked.frequency, asked.where, asked.alike)
    by_row = asked.pricing is not None and asked.pricing.costs.columns
    if any(given is not None for given in others) or by_row:
        return None
    if asked.missing != "error" or (asked.several and getattr(asked.score, "ndim", 1) != 2):
        return None
    given = asked.given(None, "truth", "prediction", "score", "weight")
    columns = {name: as_countable(one) for name, one in given.items()}
    if any(one is None for one in columns.values()) or not {"score", "prediction"} & set(columns):
        return None
    return count_columns(columns, asked, exact)


def count_columns(columns: Mapping[str, Tensor], asked: RowQuestion, exact: bool | None = None) -> Counted | None:
    """Count columns on one device, of any library."""
    columns = {name: one[:, 0] if one.ndim == 2 and one.shape[1] == 1 else one for name, one in columns.items()}
    if any(one.ndim != 1 + (name == "score" and one.ndim == 2) for name, one in columns.items()):
        return None
    rows = len(columns["truth"])
    for name, one in columns.items():
        if len(one) != rows:
            raise errors.wrong_length(name, len(one), rows)
    if not rows:
        raise errors.empty("truth")
    score = columns.get("score")
    if score is not None and score.ndim == 2:
        return count_class_tensors(columns, asked) if exact is not True and rows > FEW else None
    if score is None and not asked.of_classes and rows > FEW and asked.task != "classification":
        numbers = count_number_tensors(columns, asked)
        if numbers is not None:
            return numbers
    if asked.of_numbers:
        return None
    in_keys = score is not None and (exact or (exact is None and rows <= FEW))
    if in_keys and len(columns) > 2:
        return None  # for so few rows the usual path is as good
    threshold = None if score is None or in_keys or "prediction" in columns else asked.threshold
    if threshold is not None:
        check_threshold(threshold)
    if score is not None and operations_on(score).kind(columns["truth"]) in _NUMBERS:
        columns["truth"] = whole_numbers(operations_on(score), columns["truth"])
    if asked.from_logits:
        if score is None:
            raise errors.logits_without_score()
        columns["score"] = probabilities_of_tensor(operations_on(score), score)
        asked = replace(asked, from_logits=False)
    in_bins = exact is False or "weight" in columns
    counting = _Counting(operations_on(columns["truth"]), dict(columns), threshold, in_bins)
    if not counting.countable():
        return None
    warn_of_same_column({name: getattr(asked, name) for name in ("truth", "prediction", "score")})
    return counting.count(asked, bool(in_keys))


@dataclass(frozen=True, eq=False)
class _Label:
    """A column of whole numbers or flags, and their range."""

    values: Tensor
    low: int
    high: int
    flags: bool

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    def named(self, codes: Array) -> Array:
        """The labels of codes."""
        return codes.astype(bool) if self.flags else codes + self.low


@dataclass(frozen=True, eq=False)
class _Counting:
    """The columns of a call on their device."""

    operations: ArrayOperations
    columns: dict[str, Tensor]
    threshold: float | None
    in_bins: bool

    def countable(self) -> bool:
        """Whether labels are few whole numbers, and scores and weights can be counted here."""
        kinds = {name: self.operations.kind(one) for name, one in self.columns.items()}
        score, weight = kinds.pop("score", "float32"), kinds.pop("weight", None)
        if score not in _NUMBERS or not set(kinds.values()) <= set(_WHOLE) or self._cells > _MOST_CELLS:
            return False
        if weight is not None and not self._weights_are_plain:
            return False
        if "score" not in self.columns:
            return True
        if self.in_bins:
            return self._span[0] >= 0 and self._span[1] <= 1
        return fit_into_keys(self.operations, self._score, self._span)

    @cached_property
    def _weights_are_plain(self) -> bool:
        low, high = self.operations.ends(self.operations.cast(self.columns["weight"], "float64"))
        return low > 1e-100 and high < 1e100  # others are checked on the usual path, which explains errors

    @cached_property
    def _labels(self) -> dict[str, _Label]:
        labels = {}
        for name, values in self.columns.items():
            if name not in ("score", "weight"):
                flags = self.operations.kind(values) == "bool"
                low, high = (0, 1) if flags else map(int, self.operations.ends(values))
                labels[name] = _Label(values, low, high, flags)
        return labels

    @property
    def _cells(self) -> int:
        size = 1 if self.threshold is None else 2
        for label in self._labels.values():
            size *= label.size
        return size

    # ── scores ───────────────────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def _score(self) -> Tensor:
        score = self.columns["score"]
        return (
            score if self.operations.kind(score) in ("float32", "float64") else self.operations.cast(score, "float32")
        )

    @cached_property
    def _span(self) -> tuple[float, float]:
        """The lowest and the highest score; scores that are not finite are refused."""
        low, high = self.operations.ends(self._score)
        if not np.isfinite(low + high):
            refuse_infinite_tensor(self.operations, self._score, "score")
        return low, high

    # ── labels ───────────────────────────────────────────────────────────────────────────────────────────────
    def _codes(self, here: slice) -> Tensor:
        """The numbers of the combinations of labels of some rows."""
        ops = self.operations
        codes = combinations_of(ops, list(self._labels.values()), here)
        if self.threshold is not None:
            above = ops.cast(self._score[here], "float64") >= self.threshold
            codes = codes * 2 + ops.cast(above, "int64")
        return codes

    def _groups(self) -> "_Groups":
        """The combinations that occur: their labels, and their rows or weights."""
        ops, size, weight = self.operations, self._cells, self.columns.get("weight")
        if size == 2 and weight is None and [*self._labels] == ["truth"] and self.threshold is None:  # the usual case
            truth, high = self.columns["truth"], self._labels["truth"].high
            found = ops.zeros(1, truth, "int64")
            if not ops.by_kernel("count_equal", len(truth), truth=truth, value=high, into=found):
                for start in range(0, len(truth), BLOCK):
                    found += ops.total(truth[start : start + BLOCK] == high)
            ones = int(ops.home(found)[0])
            return _Groups.of({"truth": 2}, np.array([len(truth) - ones, ones]))
        sums = [0] if weight is None else [0, 0]
        for start in range(0, len(self.columns["truth"]), BLOCK):
            here = slice(start, start + BLOCK)
            codes = self._codes(here)
            if weight is None:
                sums = [sums[0] + ops.count(codes, size)]
            else:
                own = ops.cast(weight[here], "float64")
                sums = [was + ops.count(codes, size, one) for was, one in zip(sums, (own, own * own), strict=True)]
        sizes, *squares = (ops.home(one) for one in sums)
        shape = {name: label.size for name, label in self._labels.items()}
        return _Groups.of(shape if self.threshold is None else {**shape, "above": 2}, sizes, *squares)

    # ── tallies ──────────────────────────────────────────────────────────────────────────────────────────────
    def count(self, asked: RowQuestion, in_keys: bool) -> Counted | None:
        """Group the rows by their labels, find the classes, and count the scores."""
        if "score" in self.columns:
            self._span  # noqa: B018  refuses what is not finite
        elif self._is_large_table:
            return self._count_table(asked)
        groups = self._groups()
        columns: dict[str, Array | None] = {"prediction": None, "score": None}
        columns |= {name: label.named(groups.codes[name]) for name, label in self._labels.items()}
        if "score" in self.columns:
            columns["score"] = np.zeros(len(groups.sizes))
        counted = count_as_rows(asked, columns, groups.codes.get("above"), partial(self._tallies, groups, in_keys))
        return None if counted is None else replace(counted, read=len(self.columns["truth"]))

    @property
    def _is_large_table(self) -> bool:
        most = max(label.size for label in self._labels.values())
        return [*self.columns] == ["truth", "prediction"] and most <= MOST_CLASSES and self._cells > _MANY_CELLS

    def _count_table(self, asked: RowQuestion) -> Counted | None:
        """Find the classes by the labels that occur, and reorder the table of all combinations by them."""
        ops, (truth, decided) = self.operations, self._labels.values()
        counts = ops.zeros(self._cells, truth.values, "int64")
        for start in range(0, len(truth.values), BLOCK):
            here = slice(start, start + BLOCK)
            narrow = ops.zeros(self._cells, truth.values, "int32")  # a GPU counts faster in 32 bits than in 64
            given = {"truth": truth.values[here], "taken": decided.values[here], "lowest_truth": truth.low,
                     "lowest_taken": decided.low, "width": decided.size, "counts": narrow}  # fmt: skip
            if ops.by_kernel("count_pairs", len(given["truth"]), **given):
                counts += narrow
            else:
                ops.add_counts(counts, self._codes(here))
        counts = counts.reshape(truth.size, decided.size)
        there = [np.flatnonzero(ops.home(counts.any(axis))) for axis in (1, 0)]
        table = ops.home(counts)
        table.flags.writeable = False
        most = max(map(len, there))
        columns = {
            name: label.named(np.resize(codes, most))
            for (name, label), codes in zip(self._labels.items(), there, strict=True)
        }

        def counted(plan: Plan, rows: Rows, by: Labels | None) -> Counted:
            places = rows.truth[: len(there[0])], np.asarray(rows.prediction)[: len(there[1])]
            own, sizes = table, (len(plan.classes), len(plan.decisions))
            if any(
                not np.array_equal(one, np.arange(size)) for one, size in zip((*there, *places), sizes * 2, strict=True)
            ):
                own = np.zeros(sizes, np.int64)
                own[np.ix_(*places)] = table[np.ix_(*there)]
            return Counted("classification", {"confusion": table_of(plan, own)}, read=len(truth.values))

        return count_as_rows(asked, columns, None, counted)

    def _tallies(self, groups: "_Groups", in_keys: bool, plan: Plan, rows: Rows, by: Labels | None) -> Counted:
        counted = count_classes(plan, replace(rows, scores=None).standing_for(groups.sizes, groups.squares), by)
        if rows.scores is None:
            return counted
        positive = groups.codes["truth"][rows.truth == plan.classes.index(str(plan.positive))]
        value = int(positive[0]) + self._labels["truth"].low if len(positive) else None
        table = partial(self._table, (str(plan.positive), plan.negative), value, in_keys)
        columns = [self.columns["truth"], self._score, self.columns.get("weight")]
        rows_of_it = groups.sizes[rows.truth == plan.classes.index(str(plan.positive))].sum()
        scores = table(columns[0], columns[1], columns[2], int(rows_of_it))
        warn_of_few_in(scores)
        found: dict[str | None, ScoreTable] = {None: scores}
        found |= {} if by is None else {name: table(*own) for name, own in self._by_segment(groups, by, columns)}
        return counted.with_tallies(found.__getitem__)

    def _by_segment(
        self, groups: "_Groups", by: Labels, columns: list[Tensor | None]
    ) -> Iterator[tuple[str, list[Tensor | None]]]:
        """The columns of the rows of each segment; rows are sorted by segment once."""
        ops, labels = self.operations, {name: one for name, one in self._labels.items() if name.startswith("by")}
        cells: Array = np.zeros(1, np.int64)
        for name, label in labels.items():
            cells = cells * label.size + groups.codes[name]
        numbers = np.zeros(int(np.prod([label.size for label in labels.values()])), np.int64)
        numbers[cells] = by.codes
        codes = combinations_of(ops, list(labels.values()), slice(None))
        segments = ops.given(numbers, codes)[codes]
        order, sizes = ops.order(segments), ops.home(ops.count(segments, len(by.names)))
        start = 0
        for name, size in zip(by.names, sizes.tolist(), strict=True):
            here = order[start : start + size]
            yield name, [None if one is None else one[here] for one in columns]
            start += size

    def _table(
        self, pair: tuple[str, str], positive: int | None, in_keys: bool, truth: Tensor, score: Tensor,
        weight: Tensor | None, positives: int | None = None,
    ) -> ScoreTable:  # fmt: skip
        """The score table of some rows: exact, or in bins, with the sums of their order if they were sorted.

        ``positives`` is the number of positive rows, if it is already known.
        """
        ops = self.operations
        if self.in_bins:
            counts = BinCounts(ops, score, weight is not None)
            counts.add(score, truth, positive, weight)
            return counts.table(pair)
        keys = sort_scores(ops, score, truth, positive, self._span, positives)
        return ScoreTable(*pair, keys.at_home()) if in_keys else fold(keys, pair, self._span)


@dataclass(frozen=True, eq=False)
class _Groups:
    """Combinations of labels: a code for each label, and their number of rows, or Σw and Σw²."""

    codes: Mapping[str, Array]
    sizes: Array
    squares: Array | None

    @classmethod
    def of(cls, shape: Mapping[str, int], sizes: Array, squares: Array | None = None) -> "_Groups":
        """The combinations that occur in a table of all, whose ``shape`` is the number of codes by label."""
        here = sizes != 0
        codes = np.nonzero(here.reshape(tuple(shape.values())))
        return cls(dict(zip(shape, codes, strict=True)), sizes[here], None if squares is None else squares[here])


def combinations_of(operations: ArrayOperations, labels: Sequence[_Label], here: slice) -> Tensor:
    """Number the combinations of labels of some rows."""
    codes: Tensor = 0
    for label in labels:
        codes = codes * label.size + (operations.cast(label.values[here], "int64") - label.low)
    return codes


def whole_numbers(operations: ArrayOperations, labels: Tensor) -> Tensor:
    """Convert labels to whole numbers if all are whole (1.0); return others as they are."""
    whole = operations.cast(labels, "int32")
    return whole if bool((whole == labels).all()) else labels


def probabilities_of_tensor(operations: ArrayOperations, logits: Tensor) -> Tensor:
    """The probabilities of finite logits (``engines/logits.py``), on their device."""
    refuse_infinite_tensor(operations, logits, "score")
    return operations.sigmoid(logits)
