"""Predicted numbers where they lie: added up in two passes (``engines/numbers.py``), so that no row comes home.

Beside the sums come errors counted by size, those around the median, and a few rows that can carry a figure.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stakes.engines.columns import to_column
from stakes.engines.number_batches import NumberBatch, Numbers, SecondParts, Sizes
from stakes.engines.numbers import Asked, FirstPass, SecondPass, count_numbers, first_sums, first_terms
from stakes.engines.plan import Counted
from stakes.engines.reading import RowQuestion
from stakes.engines.tables import warn_of_same_column
from stakes.engines.tasks import settle_task
from stakes.engines.tensors.arrays import Tensor
from stakes.engines.tensors.faults import refuse_infinite_tensor
from stakes.engines.tensors.operations import ArrayOperations, operations_on
from stakes.tallies.error_variation import OfArrays

_FLOATS = ("float16", "float32", "float64")

BLOCK = 1 << 22
"""Rows handled at a time, with some thirty columns of their own."""


def count_number_tensors(columns: Mapping[str, Tensor], asked: RowQuestion) -> Counted | None:
    """Count predicted numbers where they are; None where the columns are classes, or need to be looked at here."""
    if set(columns) - {"truth", "prediction", "weight"} or "prediction" not in columns:
        return None
    numbers = TensorNumbers(operations_on(columns["truth"]), dict(columns))
    sure = asked.task == "regression" or asked.baseline is not None
    if not sure and numbers.task != "regression":
        return None
    if not numbers.plain:
        return None
    warn_of_same_column({name: getattr(asked, name) for name in ("truth", "prediction")})
    return count_numbers(numbers, asked.baseline)


@dataclass(frozen=True, eq=False)
class TensorNumbers:
    """Columns truth, prediction and perhaps weight, which are gone through twice."""

    operations: ArrayOperations
    columns: dict[str, Tensor]

    @cached_property
    def _ends(self) -> dict[str, tuple[float, float]]:
        """How far truths and predictions reach; all of them must be finite."""
        found = {}
        for name in ("truth", "prediction"):
            values = self.operations.cast(self.columns[name], "float64")
            found[name] = self.operations.ends(values)
            if not math.isfinite(sum(found[name])):
                refuse_infinite_tensor(self.operations, values, name)
        return found

    @cached_property
    def task(self) -> str:
        """What a few numbers say that stand for all of them; nothing where there are only whole ones."""
        if not any(self.operations.kind(self.columns[name]).endswith(_FLOATS) for name in ("truth", "prediction")):
            return ""
        shown = {}
        for name, (low, high) in self._ends.items():
            values = self.columns[name]
            fractions = self.operations.kind(values).endswith(_FLOATS) and bool(
                (values != self.operations.xp.floor(values)).any()
            )
            some = [math.floor(low) + 0.5] if fractions else []
            shown[name] = to_column(np.array([low, high, *some]), name)
        return settle_task("auto", shown, False, False)

    @property
    def plain(self) -> bool:
        """Whether weights, if there are any, are of ordinary size, and truth and prediction numbers at all."""
        if any(self.operations.kind(self.columns[name]) == "bool" for name in ("truth", "prediction")):
            return False
        if "weight" not in self.columns:
            return bool(self._ends)
        low, high = self.operations.ends(self.operations.cast(self.columns["weight"], "float64"))
        return bool(self._ends) and low > 1e-100 and high < 1e100

    def _blocks(self) -> Iterator[Numbers]:
        whole = Numbers(self.columns["truth"], self.columns["prediction"], self.columns.get("weight"))
        for rows in whole.blocks(BLOCK):
            columns = (rows.truth, rows.prediction, rows.weight)
            yield Numbers(*(None if one is None else self.operations.cast(one, "float64") for one in columns))

    def first(self) -> FirstPass:
        """Add up powers of errors, truths and predictions, and count errors by size."""
        ops, n, do = self.operations, len(self.columns["truth"]), OfArrays(self.operations.xp)
        centre = math.fsum(float(ops.total(rows.truth)) for rows in self._blocks()) / n
        parts, largest, sizes = [], 0.0, Sizes(ops)
        for rows in self._blocks():
            columns, error = (rows.truth, rows.prediction), rows.error
            size, from_centre = abs(error), (rows.truth - centre, rows.prediction - centre)
            terms = first_terms(1.0 + 0.0 * size, columns, (size, error), from_centre, do)
            weighed = terms if rows.weight is None else [term * rows.weight for term in terms]
            parts.append(ops.home(ops.stacked([*map(ops.total, weighed), ops.total(1.0 * (rows.truth == 0))])))
            largest = max(largest, float(size.max()))
            sizes.add(size, rows.weight)
        added = [math.fsum(column) for column in np.stack(parts).T.tolist()]
        least = min(low for low, _ in self._ends.values())
        whole = first_sums(added, centre, largest, least, "weight" in self.columns, sizes.result())
        return FirstPass(whole, {}, n)

    def second(self, asked: Asked) -> SecondPass:
        """Add up products of every two terms, and what always saying the baseline loses."""
        parts = SecondParts(asked, {}, False, self.operations, BLOCK)
        for rows in self._blocks():
            parts.add(NumberBatch(rows))
        return parts.result()
