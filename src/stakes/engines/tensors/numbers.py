"""Predicted numbers on a device, summed like batches of a file (``engines/numbers/batches.py``).

A few rows are copied beside the sums: evenly spaced ones, those around medians and the baseline, and the heaviest.
"""

import math
from collections.abc import Callable, Mapping
from functools import cached_property, partial

from stakes.engines.numbers.batches import Adding, BatchNumbers, Parts
from stakes.engines.numbers.passes import count_numbers
from stakes.engines.numbers.rows import NumberBatch, NumberReader, Numbers
from stakes.engines.plan import Counted
from stakes.engines.reading import RowQuestion
from stakes.engines.tables import warn_of_same_column
from stakes.engines.tasks import task_of_numbers
from stakes.engines.tensors.arrays import Tensor
from stakes.engines.tensors.operations import operations_on, refuse_infinite_tensor
from stakes.tallies.operations import ArrayOperations

_FLOATS = ("float16", "float32", "float64")

_FEWER = 64
"""The sample of rows for pictures is smaller than that of a file by this factor."""

BLOCK = 1 << 22
"""Rows per block, with some thirty temporary columns."""


def count_number_tensors(columns: Mapping[str, Tensor], asked: RowQuestion) -> Counted | None:
    """Count predicted numbers on their device; None if the columns are classes, or have to be copied."""
    if set(columns) - {"truth", "prediction", "weight"} or "prediction" not in columns:
        return None
    numbers = TensorNumbers(operations_on(columns["truth"]), dict(columns))
    if not (asked.of_numbers or numbers.task == "regression") or not numbers.plain:
        return None
    warn_of_same_column({name: getattr(asked, name) for name in ("truth", "prediction")})
    return count_numbers(numbers, asked.baseline)


class TensorNumbers(BatchNumbers):
    """Columns truth, prediction and perhaps weight."""

    def __init__(self, operations: ArrayOperations, columns: dict[str, Tensor]) -> None:
        many = _FEWER * len(columns["truth"])
        begin = partial(Parts, many, False, operations=operations, block=BLOCK)
        super().__init__(NumberReader((), "error"), begin)
        self.operations, self.columns = operations, columns

    @cached_property
    def _ends(self) -> dict[str, tuple[float, float]]:
        """The ranges of truths and predictions; values that are not finite are refused."""
        ends = {}
        for name in ("truth", "prediction"):
            values = self.operations.cast(self.columns[name], "float64")
            ends[name] = self.operations.ends(values)
            if not math.isfinite(sum(ends[name])):
                refuse_infinite_tensor(self.operations, values, name)
        return ends

    @cached_property
    def task(self) -> str:
        """The task, decided by a few numbers that represent all; "" if all are whole."""
        if not any(self.operations.kind(self.columns[name]).endswith(_FLOATS) for name in ("truth", "prediction")):
            return ""
        return task_of_numbers({name: (*ends, self._has_fractions(name)) for name, ends in self._ends.items()})

    def _has_fractions(self, name: str) -> bool:
        values = self.columns[name]
        of_floats = self.operations.kind(values).endswith(_FLOATS)
        return of_floats and bool((values != self.operations.xp.floor(values)).any())

    @property
    def plain(self) -> bool:
        """Whether truth and prediction are numbers, and weights, if any, have an ordinary size."""
        if any(self.operations.kind(self.columns[name]) == "bool" for name in ("truth", "prediction")):
            return False
        if "weight" not in self.columns:
            return bool(self._ends)
        low, high = self.operations.ends(self.operations.cast(self.columns["weight"], "float64"))
        return bool(self._ends) and low > 1e-100 and high < 1e100

    def _added(self, begin: Callable[[], Adding]) -> Adding:
        parts = begin()
        whole = Numbers(self.columns["truth"], self.columns["prediction"], self.columns.get("weight"))
        for rows in whole.blocks(BLOCK):
            columns = (rows.truth, rows.prediction, rows.weight)
            floats = (None if one is None else self.operations.cast(one, "float64") for one in columns)
            parts.add(NumberBatch(Numbers(*floats)))
        return parts
