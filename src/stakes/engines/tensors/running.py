"""Counts the batches of a loop on the device of its tensors, without waiting for the device.

Batches are collected in a buffer, and counted when it is full: few large steps instead of many small ones. Faults of
rows are counted, too, with the number of the first, and raised when the result is asked for.
"""

import bisect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from stakes import errors
from stakes.engines.columns import as_array
from stakes.engines.tensors.arrays import Tensor, Values, at_home, device_of, maker_of, refuse_empty_shell
from stakes.engines.tensors.binned import BinCounts, table_of_bins
from stakes.engines.tensors.operations import as_countable, operations_on
from stakes.errors import About, InputError, Pass, in_rows, some
from stakes.tallies import Confusion, Tally
from stakes.tallies.arithmetic import Array
from stakes.tallies.operations import ArrayOperations, Kind

BUFFER = 1 << 22
"""Most rows in the buffer."""

_NEVER = (1 << 62) - 1
"""The number of the first row with a fault, if there is none."""

FAULTS = ("truth", "prediction", "missing", "infinite", "outside")
"""The faults of a row: labels that are not classes, scores that are not finite or not probabilities."""


Fault = tuple[int, str, int]
"""The number of rows, the first batch, and the row in that batch."""

Scores = Literal["probabilities", "logits"]


@dataclass
class Totals:
    """The counts so far, in memory: they add up over counters and processes.

    ``counts`` are those of bins, or of truths × decisions; ``sums`` are the losses of probabilities; ``faults`` are the
    faults by name.
    """

    rows: int = 0
    counts: Array | None = None
    sums: Array | None = None
    faults: dict[str, Fault] = field(default_factory=dict)

    def __add__(self, other: "Totals") -> "Totals":
        def added(one: Array | None, two: Array | None) -> Array | None:
            return two if one is None else one if two is None else one + two

        faults = {
            name: (sum(part.faults[name][0] for part in (self, other) if name in part.faults), *fault[1:])
            for name, fault in {**other.faults, **self.faults}.items()
        }
        return Totals(self.rows + other.rows, added(self.counts, other.counts), added(self.sums, other.sums), faults)

    def check(self, classes: Sequence[int]) -> None:
        """Raise the first kind of fault, in the same words as for rows in memory."""
        for name in FAULTS:
            if name in self.faults:
                count, batch, row = self.faults[name]
                raise _problem(name, count, row, classes).within(batch)

    def tally(self, classes: Sequence[int], positive: int | None) -> Tally:
        """The tally of the counts."""
        assert self.counts is not None
        names = tuple(map(str, classes))
        if self.sums is None:
            positive_name = None if positive is None else str(positive)
            return Confusion(names, names, self.counts.reshape(len(names), len(names)), None, positive_name)
        negative = next(name for name in names if name != str(positive))
        return table_of_bins(ArrayOperations(), self.counts, self.sums, (str(positive), negative))


def _problem(fault: str, count: int, row: int, classes: Sequence[int]) -> InputError:
    if fault == "missing":
        return errors.missing_values("score", count, row, needed=True)
    if fault == "infinite":
        return errors.infinite_values("score", count, row)
    if fault == "outside":
        return InputError(
            "no-bins-of-scores",
            About("score"),
            " lies outside [0, 1] ",
            in_rows(count, row),
            ", and bins are those of probabilities; for logits pass ",
            Pass("from_logits", True),
            ", for other scores ",
            Pass("exact", True),
        )
    return InputError(
        "labels-out-of-range",
        About(fault),
        " is not in classes ",
        in_rows(count, row),
        f", which are {some([str(name) for name in classes])}; name every class that occurs",
    )


class RunningCounts:
    """Running counts of rows on one device: scores of two classes in bins, or decisions.

    ``classes`` are whole numbers, and ``positive`` is one of two. ``scores`` says what kind they are, if there are any.
    """

    def __init__(self, like: Tensor, classes: Sequence[int], positive: int | None, scores: Scores | None) -> None:
        self._ops, self._like = operations_on(like), like
        self._classes, self._positive, self._logits = classes, positive, scores == "logits"
        self._scored = scored = scores is not None
        self._low = min(classes)
        places = np.full(max(classes) - self._low + 1, -1)
        places[np.array(classes) - self._low] = np.arange(len(classes))
        self._places = self._ops.given(places, like)
        self._bins = BinCounts(self._ops, like) if scored else None
        self._table = None if scored else self._ops.zeros(len(classes) ** 2, like, "int64")
        self._faults = self._ops.zeros(2 * len(FAULTS), like, "int64")
        self._faults[len(FAULTS) :] = _NEVER
        self._starts: list[int] = []
        self._rows = self._waiting = 0
        self._buffers: list[Tensor] = []

    def add(self, truth: Tensor, output: Tensor) -> None:
        """Add a batch of labels, and of scores or decisions."""
        self._starts.append(self._rows)
        if len(truth) > BUFFER:
            self.flush()
            self._count(truth, output, self._rows)
        else:
            kinds = [self._kept_as(truth, "int64"), self._kept_as(output, "float32" if self._scored else "int64")]
            if self._waiting + len(truth) > BUFFER or kinds != list(map(self._ops.kind, self._buffers)):
                self.flush()
                self._buffers = [self._ops.empty(BUFFER, self._like, kind) for kind in kinds]
            here = slice(self._waiting, self._waiting + len(truth))
            for buffer, values in zip(self._buffers, (truth, output), strict=True):
                buffer[here] = values
            self._waiting += len(truth)
        self._rows += len(truth)

    def _kept_as(self, column: Tensor, usual: Kind) -> Kind:
        """The type of a buffer that holds a column without loss; fractional labels stay fractions."""
        kind = self._ops.kind(column)
        narrow = kind in ("float32", "float16", "bfloat16") if usual == "float32" else "float" not in kind
        return usual if narrow else "float64"

    def flush(self) -> None:
        """Count the rows in the buffer."""
        waiting, self._waiting = self._waiting, 0
        if waiting:
            truth, output = (buffer[:waiting] for buffer in self._buffers)
            self._count(truth, output, self._rows - waiting)

    def _count(self, truth: Tensor, output: Tensor, before: int) -> None:
        """Count rows, after ``before`` others; those with a fault count as if they had none."""
        codes, strange = self._codes(truth)
        self._note("truth", strange, before)
        if self._bins is not None:
            self._bins.add(self._checked(output, before), codes, self._classes.index(int(self._positive or 0)))
            return
        decided, strange = self._codes(output)
        self._note("prediction", strange, before)
        assert self._table is not None
        self._ops.add_counts(self._table, codes * len(self._classes) + decided)

    def _codes(self, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The index of each label among the classes, and a mask of labels that are not classes."""
        ops = self._ops
        whole = ops.cast(labels, "int64")
        near = ops.xp.clip(whole - self._low, 0, len(self._places) - 1)
        codes = self._places[near]
        strange = (codes < 0) | (near != whole - self._low) | (whole != labels)
        return ops.where(strange, 0, codes), strange

    def _checked(self, scores: Tensor, before: int) -> Tensor:
        """Probabilities, with 0 in place of anything else, which is noted as a fault."""
        missing, endless = scores != scores, abs(scores) == math.inf
        outside = (missing | endless) if self._logits else ~((scores >= 0) & (scores <= 1))
        for name, wrong in (("missing", missing), ("infinite", endless), ("outside", outside & ~missing & ~endless)):
            self._note(name, wrong, before)
        numbers = self._ops.where(outside, self._ops.zeros(1, scores, "float32"), scores)
        return self._ops.sigmoid(numbers) if self._logits else numbers

    def _note(self, fault: str, wrong: Tensor, before: int) -> None:
        """Count the rows with a fault, and keep the number of the first, without checking whether there are any."""
        place, first = FAULTS.index(fault), len(FAULTS) + FAULTS.index(fault)
        self._faults[place] += self._ops.total(wrong)
        rows = self._ops.where(wrong, self._ops.numbers(before, before + len(wrong), wrong), _NEVER)
        self._faults[first] = self._ops.xp.minimum(self._faults[first], rows.min())

    def totals(self) -> Totals:
        """Copy the counts into memory."""
        self.flush()
        home = self._ops.home
        counts, firsts = home(self._faults).reshape(2, -1).tolist()
        faults = {
            name: (count, *self._where(row)) for name, count, row in zip(FAULTS, counts, firsts, strict=True) if count
        }
        if self._bins is not None:
            return Totals(self._rows, home(self._bins.counts).copy(), home(self._bins.sums).copy(), faults)
        assert self._table is not None
        return Totals(self._rows, home(self._table).copy(), None, faults)

    def _where(self, row: int) -> tuple[str, int]:
        batch = bisect.bisect_right(self._starts, row) - 1
        return f"batch {batch + 1:,}", row - self._starts[batch]


def as_running(values: Values, argument: str) -> Tensor:
    """A column of a batch, for counting on its device; it is copied only if no library can count there."""
    if maker_of(values) == "":
        return as_array(values, argument)
    refuse_empty_shell(values, argument)
    if device_of(values) == "cpu" and maker_of(values) == "torch":
        return values.detach()
    countable = as_countable(values)
    return at_home(values, argument) if countable is None else countable


def refuse_unlike_batch(batch: Mapping[str, Tensor]) -> None:
    """Refuse a batch whose columns do not fit together, without reading values."""
    for name, one in batch.items():
        if one.ndim == 0 or (one.ndim > 1 and name != "score"):
            raise errors.not_a_column(name, f"an array of shape {tuple(one.shape)}")
        if len(one) != len(batch["truth"]):
            raise errors.wrong_length(name, len(one), len(batch["truth"]))
    places = {name: device_of(one) for name, one in batch.items()}
    if len(set(places.values())) > 1:
        raise errors.mixed_devices(places)
