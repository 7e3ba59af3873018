"""The columns of predicted numbers that are multiplied and added up: blocks of rows, in memory that is used again.

Threads that add up beside each other wait for each other between any two operations on arrays, the longer the more is
left to find out there. So what is to be done is laid out beforehand.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

import numpy as np

from stakes.engines.numbers.passes import Wanted
from stakes.engines.numbers.rows import Numbers
from stakes.engines.tensors.arrays import Tensor, Values
from stakes.tallies.arithmetic import Array
from stakes.tallies.error_terms import BETWEEN, COLUMNS, FORMULAS, TERMS, Origin, steps_to, whole
from stakes.tallies.error_variation import KEYS
from stakes.tallies.operations import ArrayOperations

BLOCK = 40_330
"""Rows of arrays in memory that are worked on at a time: a part in 26 of a batch, whose columns fit into a cache.

Of a few more rows OpenBLAS multiplies 11 columns in threads of its own, which wait for each other.
"""

PLACE = {name: place for place, name in enumerate(COLUMNS)}

VARYING = PLACE["one"]
"""From here on are the columns whose products say how figures vary: all terms, and the sign that moves one of them."""

_GROWING = tuple(TERMS[key] for key in KEYS)
"""Columns that grow without end: the last ones."""

_SQUARES = [(*FORMULAS[name][1:], name) for name in ("square", "cross", "truth2")]
"""Columns whose product is a column."""

_SOME_AT_A_TIME = 4
"""Columns that a device multiplies at a time with others; it rather has fewer things to do."""


class MadeColumns:
    """Which of the ``COLUMNS`` are made, one below the other: those that are only added up, the last of which is
    prediction, and those whose products are wanted, too, the first of which is one.
    """

    def __init__(self, summed: Sequence[str], varying: Sequence[str]) -> None:
        self.names = (*summed, *varying)
        self.places = np.array([PLACE[name] for name in self.names])
        self.both = np.ix_(self.places, self.places)
        self.varying, self.size = slice(len(summed), len(self.names)), self.names.index("size")
        self.growing = slice(self.names.index(_GROWING[0]), len(self.names))
        self.keys = [_GROWING.index(name) for name in self.names[self.growing]]
        self.squares = [[*map(self.names.index, (*each, "one"))] for each in _SQUARES]
        self.pairs = {
            (every, of_device): [*self._pairs(every, _SOME_AT_A_TIME if of_device else 1)]
            for every, of_device in itertools.product((True, False), repeat=2)
        }

    def _pairs(self, every: bool, at_a_time: int) -> Iterator[tuple[slice, slice]]:
        """Which columns are multiplied with which: ones with all, or with those before the sizes of errors, and from
        there on so many at a time with all that vary and stand before them. Never so many that BLAS starts threads.
        """
        one, size, end = self.varying.start, self.size, len(self.names)
        yield slice(one - 1, one), slice(one - 1, size)
        yield slice(one, one + 1), slice(0, size)
        if not every:
            yield slice(one, one + 1), slice(size, end)
            return
        for start in range(size, end, at_a_time):
            yield slice(start, start + at_a_time), slice(one, start + at_a_time)


EVERY = MadeColumns(COLUMNS[:VARYING], COLUMNS[VARYING:])


@cache
def made_columns(wanted: Wanted, logs: bool) -> MadeColumns:
    """What is made of rows that all have logarithms, or of others: where one has none no figure is asked for."""
    terms = {*wanted.terms, *(["sign"] if wanted.baseline else [])}
    varying = [name for name in COLUMNS[VARYING:] if name in terms]
    beside = COLUMNS[: VARYING - 1] if wanted.shares else ()
    summed = [*beside, *(name for name in ("away", "sign") if name not in varying), "prediction"]
    return MadeColumns(*([name for name in names if logs or "log" not in name] for names in (summed, varying)))


class ColumnMaker:
    """Makes columns of one block of rows after another, about an origin, without weights."""

    def __init__(self, operations: ArrayOperations) -> None:
        self._ops = operations
        self._memory: Tensor | None = None
        self._laid_out: tuple[object, _Layout] | None = None

    def columns(self, rows: Numbers, at: Origin, made: MadeColumns, logs: bool = True) -> Tensor:
        """The columns, which the next block overwrites; logarithms that there are none of are 0."""
        like = made, at, logs, len(rows.truth), rows.truth.dtype, rows.prediction.dtype
        if self._laid_out is None or self._laid_out[0] != like:
            self._laid_out = like, _Layout(self._ops, made, at, logs, self._room(made, rows.truth), rows)
        return self._laid_out[1].fill(rows)

    def _room(self, made: MadeColumns, truth: Tensor) -> Tensor:
        """Memory that was used before: new memory takes longer to get than to fill."""
        lines = len(made.names) + len(_BESIDE)
        size = lines * len(truth)
        if self._memory is None or len(self._memory) < size:
            self._memory = self._ops.empty(size, truth, "float64")
        return self._memory[:size].reshape(lines, len(truth))


_BESIDE = (*BETWEEN, "t", "p")
"""What is made beside the columns."""


class _Layout:
    """Which operations make the columns of a block, of which numbers, and where the results lie."""

    def __init__(
        self, ops: ArrayOperations, made: MadeColumns, at: Origin, logs: bool, room: Tensor, like: Numbers
    ) -> None:
        lines = dict(zip((*made.names, *_BESIDE), room, strict=True))
        self._ops, self._made = ops, room[: len(made.names)]
        self._truth, self._prediction, self._error = (lines[name] for name in ("t", "p", "error"))
        lines["one"][:] = 1.0
        values = {**lines, "centre": at.centre, "predicted centre": at.predicted, "baseline": at.baseline}
        values["log baseline"] = math.log1p(at.baseline) if logs and at.baseline > -1 else 0.0
        self._of_floats = {ops.kind(like.truth), ops.kind(like.prediction)} == {"float64"}
        self._steps: list[tuple[Callable[..., Tensor], list[Values], Tensor]] = []
        for name, operation, of in steps_to(made.names):
            if operation == "log1p" and not logs:
                values[name] = 0.0 * lines["one"]
            elif name in lines and name not in ("one", "error"):
                self._steps.append((operation_of(ops, operation), [values[one] for one in of], lines[name]))

    def fill(self, rows: Numbers) -> Tensor:
        """Make the columns."""
        self._truth[:], self._prediction[:] = rows.truth, rows.prediction
        if self._of_floats:
            self._ops.xp.subtract(self._truth, self._prediction, out=self._error)
        else:
            self._error[:] = rows.error
        for operation, of, into in self._steps:
            operation(*of, out=into)
        return self._made


def operation_of(ops: ArrayOperations, name: str) -> Callable[..., Tensor]:
    """The function of a library that is called so in formulas."""
    return partial(whole, ops.xp) if name == "whole" else getattr(ops.xp, name)


def sums_of_products(left: Tensor, right: Tensor, ops: ArrayOperations, made: MadeColumns, every: bool = True) -> Array:
    """The sums of products of the columns that were made, or only those with ones and predictions; NaN is what was not
    asked for. In memory one column at a time is quickest; ``@`` would keep other threads waiting.
    """
    found, of_device = np.full((len(made.names), len(made.names)), np.nan), ops.xp is not np
    for some, others in made.pairs[every, of_device]:
        if of_device:
            found[some, others] = ops.home(ops.xp.inner(left[some], right[others]))
        else:
            np.dot(right[others], left[some.start], found[some.start, others])
    np.copyto(found, found.T, where=np.isnan(found))
    for one, other, square, ones in made.squares if every else ():
        found[one, other] = found[other, one] = found[square, ones]
    return found
