"""Predicted numbers where they lie: added up in two passes (``engines/numbers.py``), so that no row comes home.

Beside the sums come errors counted by size, those around the median, and a few rows that can carry a figure.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stakes.engines.columns import to_column
from stakes.engines.numbers import Asked, FirstPass, SecondPass, SecondSums, count_numbers
from stakes.engines.plan import Counted
from stakes.engines.reading import RowQuestion
from stakes.engines.tables import warn_of_same_column
from stakes.engines.tasks import settle_task
from stakes.engines.tensors.arrays import Tensor
from stakes.engines.tensors.faults import refuse_infinite_tensor
from stakes.engines.tensors.operations import ArrayOperations, operations_on
from stakes.engines.tensors.ordered import bin_numbers
from stakes.tallies import ErrorSums, bins
from stakes.tallies.arithmetic import Array
from stakes.tallies.error_sums import Power, beyond_floats
from stakes.tallies.error_variation import AWAY, HEAVY, KEYS, TERMS, HeavyRows, SizeCounts, terms_of
from stakes.tallies.moments import Moments

_FLOATS = ("float16", "float32", "float64")

BLOCK = 1 << 22
"""Rows handled at a time, with some thirty columns of their own."""

_MOST_SIZES = 10**6
"""So many errors around the median are brought here at most; of more, their bins say it."""

_POWERS: tuple[Power, ...] = (
    (0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 2, 0, 0), (0, 0, 1, 0), (0, 0, 2, 0), (0, 0, 0, 1), (0, 0, 0, 2),
    (0, 0, 1, 1),
)  # fmt: skip
"""What the first pass adds up: powers of |error|, error, truth and prediction, the last two counted from a centre."""


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


class _OfTensors:
    """The operations on columns of tensors (``tallies/error_variation.py``)."""

    def __init__(self, operations: ArrayOperations) -> None:
        self._ops = operations

    @staticmethod
    def size(column: Tensor) -> Tensor:
        """Return |x|."""
        return abs(column)

    def log1p(self, column: Tensor) -> Tensor:
        """Return log(1 + x), of numbers at −1 and below that of one above it."""
        more = column + 1.0
        return self._ops.log(self._ops.where(more > 1e-16, more, 1e-16 + 0.0 * more))

    def sign(self, column: Tensor) -> Tensor:
        """Return 1, 0 or −1."""
        return self._ops.cast(column > 0, "float64") - self._ops.cast(column < 0, "float64")

    def share(self, size: Tensor, of: Tensor) -> Tensor:
        """Return a size as a share of the size of another column, 0 where that is 0."""
        return self._ops.where(of == 0, 0.0 * size, size / self._ops.where(of == 0, 1.0 + 0.0 * of, abs(of)))


@dataclass(frozen=True, eq=False)
class _Rows:
    """Some rows in 64 bits: truth, prediction, error and weight, if there is one."""

    truth: Tensor
    prediction: Tensor
    weight: Tensor | None

    @cached_property
    def error(self) -> Tensor:
        """Truth − prediction."""
        return self.truth - self.prediction

    def weighed(self, column: Tensor) -> Tensor:
        """A column times the weight."""
        return column if self.weight is None else column * self.weight


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
                (values != self.operations.floor(values)).any()
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

    def _blocks(self) -> Iterator[_Rows]:
        for start in range(0, len(self.columns["truth"]), BLOCK):
            here = slice(start, start + BLOCK)
            own = {name: self.operations.cast(one[here], "float64") for name, one in self.columns.items()}
            yield _Rows(own["truth"], own["prediction"], own.get("weight"))

    def _added(self, parts: list[list[Tensor]]) -> list[float]:
        """Add up the sums of all blocks, nearly without rounding."""
        ops = self.operations
        home = ops.home(ops.stacked([one for part in parts for one in part])).reshape(len(parts), -1)
        return [math.fsum(column) for column in home.T.tolist()]

    # ── the first pass ───────────────────────────────────────────────────────────────────────────────────────────
    def first(self) -> FirstPass:
        """Add up powers of errors, truths and predictions, and count errors by size."""
        ops, n, do = self.operations, len(self.columns["truth"]), _OfTensors(self.operations)
        centre = self._added([[ops.total(rows.truth)] for rows in self._blocks()])[0] / n
        parts, largest = [], []
        for rows in self._blocks():
            t, p, size = rows.truth - centre, rows.prediction - centre, abs(rows.error)
            one = 1.0 + 0.0 * size
            powers = [one, size, rows.error, rows.error * rows.error, t, t * t, p, p * p, t * p]
            logs = do.log1p(rows.truth) - do.log1p(rows.prediction)
            columns = [*powers, logs * logs, do.share(size, rows.truth)]
            zeros = ops.cast(rows.truth == 0, "float64")
            parts.append([*(ops.total(rows.weighed(column)) for column in columns), ops.total(zeros)])
            largest.append([size.max()])
        *sums, logs, shares, zeros = self._added(parts)
        if not all(map(math.isfinite, sums)):
            raise beyond_floats()
        least = min(low for low, _ in self._ends.values())
        sizes = self._refined(self._sizes(lambda rows: abs(rows.error)))
        whole = ErrorSums(
            Moments.of_sums(dict(zip(_POWERS, sums, strict=True)), centre),
            float(ops.home(ops.stacked([one for (one,) in largest])).max()),
            logs if least > -1 else math.nan,
            shares,
            weighted="weight" in self.columns,
            zeros=round(zeros),
            sizes=sizes,
        )
        return FirstPass(whole, {}, n)

    def _sizes(self, size_of: Callable[[_Rows], Tensor]) -> SizeCounts:
        """Sizes (of errors, say) counted in the bins of the fixed grid."""
        ops, found = self.operations, []
        for rows in self._blocks():
            numbers = bin_numbers(ops, size_of(rows), "line")
            low, high = (int(end) for end in ops.ends(numbers))
            counts = ops.home(ops.count(numbers - low, high - low + 1, rows.weight))
            present = np.flatnonzero(counts)
            found.append((present + low, counts[present]))
        numbers, places = np.unique(np.concatenate([one for one, _ in found]), return_inverse=True)
        counts = np.bincount(places, np.concatenate([one for _, one in found]), len(numbers))
        return SizeCounts.of_bins(bins.edges(numbers, "line"), counts)

    def _refined(self, sizes: SizeCounts) -> SizeCounts:
        """Bring the sizes of errors around the median here, unless they are very many."""
        ops, (low, high) = self.operations, sizes.median_range
        if float(sizes.counts[(sizes.lower >= low) & (sizes.lower <= high)].sum()) > _MOST_SIZES:
            return sizes
        each, many = [], []
        for rows in self._blocks():
            size = abs(rows.error)
            here = ops.places((size >= low) & (size <= high))
            each.append(ops.home(size[here]))
            many.append(np.ones(len(each[-1])) if rows.weight is None else ops.home(rows.weight[here]))
        found, places = np.unique(np.concatenate(each), return_inverse=True)
        return sizes.refined(found, np.bincount(places, np.concatenate(many), len(found)))

    # ── the second pass ──────────────────────────────────────────────────────────────────────────────────────────
    def second(self, asked: Asked) -> SecondPass:
        """Add up products of every two terms, and what always saying the baseline loses."""
        ops, do, said = self.operations, _OfTensors(self.operations), asked.whole
        products: Array = np.zeros((len(TERMS), len(TERMS)))
        parts, heavy, far = [], [], []
        for rows in self._blocks():
            always = said + 0.0 * rows.truth
            terms, lost = terms_of(rows.truth, rows.prediction, rows.error, asked.centre, always, do)
            weighed = [rows.weighed(one) for one in (1.0 + 0.0 * rows.truth, *terms)]
            products += ops.home(ops.products(weighed))
            parts.append([ops.total(weighed[AWAY]), *(ops.total(rows.weighed(one)) for one in lost)])
            far.append(abs(rows.truth - said).max())
            heavy.append(self._heavy(rows, weighed))
        away, balance, logs, shares = self._added(parts)
        largest = float(ops.home(ops.stacked(far)).max())
        sizes = self._sizes(lambda rows: abs(rows.truth - said))
        varied = SecondSums(away, balance, logs, shares, largest, products, sizes=sizes, heavy=HeavyRows.joined(heavy))
        return SecondPass(varied)

    def _heavy(self, rows: _Rows, weighed: list[Tensor]) -> HeavyRows:
        """Bring a few rows here that can carry a figure."""
        ops, chosen = self.operations, []
        for key in KEYS:
            top = ops.top(weighed[key], min(HEAVY, len(rows.truth)))
            columns = [weighed[key], rows.truth, rows.prediction, weighed[0]]
            found = ops.home(ops.joined([column[top] for column in columns])).reshape(len(columns), -1)
            chosen.append(np.vstack([found, np.ones(found.shape[1])]))
        return HeavyRows(tuple(chosen), len(rows.truth))
