"""The operations on arrays that counting is written with, as NumPy and CuPy spell them.

Everything else is written with operators and slices, which mean the same everywhere. Whole numbers are int32 or int64,
since PyTorch, which spells some operations differently (``engines/tensors``), hardly supports unsigned ones.
"""

import importlib
from typing import Any, Literal, TypeAlias

import numpy as np

from stakes.tallies.arithmetic import Array

Tensor: TypeAlias = Any
"""An array of NumPy, PyTorch, CuPy or JAX."""

Values: TypeAlias = Any

Kind = Literal["bool", "int32", "int64", "float32", "float64"]


class ArrayOperations:
    """Arrays of NumPy, or of a library that spells them alike: ``xp`` is that library."""

    def __init__(self, xp: Values = np) -> None:
        self.xp = xp

    def __reduce__(self) -> tuple[object, ...]:
        return _operations_of, (type(self), self.xp.__name__)  # a library cannot be pickled

    def _beside(self, like: Tensor) -> dict[str, Values]:
        """Options that allocate new memory on the device of an array."""
        return {}

    def cast(self, values: Tensor, kind: Kind) -> Tensor:
        """Convert numbers to another type; the same array if they have it."""
        with np.errstate(invalid="ignore"):  # callers compare, and find values that do not fit
            return values.astype(kind, copy=False)

    def kind(self, values: Tensor) -> str:
        """The type of these numbers."""
        return str(values.dtype).rpartition(".")[2]

    def bits(self, floats: Tensor) -> Tensor:
        """The bits of floats, as whole numbers of their size."""
        return floats.view(self.xp.int32 if floats.itemsize == 4 else self.xp.int64)

    def floats(self, bits: Tensor) -> Tensor:
        """The floats of these bits."""
        return bits.view(self.xp.float32 if bits.itemsize == 4 else self.xp.float64)

    def empty(self, length: int, like: Tensor, kind: Kind) -> Tensor:
        """Uninitialised memory on the device of an array."""
        return self.xp.empty(length, dtype=getattr(self.xp, kind), **self._beside(like))

    def zeros(self, length: int, like: Tensor, kind: Kind) -> Tensor:
        """Zeros on the device of an array."""
        return self.xp.zeros(length, dtype=getattr(self.xp, kind), **self._beside(like))

    def given(self, values: Array, like: Tensor) -> Tensor:
        """Copy a few numbers to the device of an array."""
        return self.xp.asarray(values, **self._beside(like))

    def sort(self, keys: Tensor) -> Tensor:
        """Sort an array of our own, which may be reused."""
        keys.sort()
        return keys

    def order(self, codes: Tensor) -> Tensor:
        """The indices that sort numbers; the sort is stable."""
        return self.xp.argsort(codes, kind="stable")

    def places(self, mask: Tensor) -> Tensor:
        """The indices at which a mask is true."""
        return self.xp.nonzero(mask)[0]

    def ends(self, values: Tensor) -> tuple[float, float]:
        """The smallest and the largest number; NaN if one is NaN."""
        return values.min().item(), values.max().item()

    def numbers(self, start: int, stop: int, like: Tensor) -> Tensor:
        """Whole numbers from one to another, on the device of an array."""
        return self.xp.arange(start, stop, **self._beside(like))

    def where(self, test: Tensor, one: Values, other: Values) -> Tensor:
        """One value where a test holds, another elsewhere."""
        return self.xp.where(test, one, other)

    def cumulated(self, counts: Tensor) -> Tensor:
        """Running sums of whole numbers, in 64 bits."""
        return self.xp.cumsum(counts, 0, dtype=self.xp.int64)

    def total(self, values: Tensor) -> Tensor:
        """The sum in 64 bits, which stays on the device."""
        return values.sum(dtype=self.xp.float64 if "float" in self.kind(values) else self.xp.int64)

    def count(self, codes: Tensor, size: int, weight: Tensor | None = None) -> Tensor:
        """The number of rows of each code below ``size``, or their weight."""
        return self.xp.bincount(codes, weight, minlength=size)

    def add_counts(self, counts: Tensor, codes: Tensor) -> None:
        """Add the counts of codes to ``counts``."""
        counts += self.xp.bincount(codes, minlength=len(counts))

    def by_kernel(self, name: str, rows: int, **given: Values) -> bool:
        """Run a kernel over so many rows; False if there is none."""
        return False

    def joined(self, parts: list[Tensor]) -> Tensor:
        """Concatenate arrays."""
        return parts[0] if len(parts) == 1 else self.xp.concatenate(parts)

    def copied(self, values: Tensor) -> Tensor:
        """A contiguous copy of the numbers."""
        return values.copy()

    def top(self, values: Tensor, count: int) -> Tensor:
        """The indices of the largest numbers."""
        return self.xp.argpartition(values, len(values) - count)[len(values) - count :]

    def stacked(self, numbers: list[Tensor]) -> Tensor:
        """Single numbers as one array."""
        return np.array(numbers) if self.xp is np else self.xp.stack(numbers)

    def softmax(self, logits: Tensor) -> Tensor:
        """The probabilities of the classes in each row."""
        shares = self.xp.exp(logits - logits.max(1, keepdims=True))
        return shares / shares.sum(1, keepdims=True)

    def first_largest(self, columns: Tensor) -> Tensor:
        """The row of the largest number of each column, the first of ties."""
        rows = len(columns)
        left = self.xp.arange(rows, 0, -1, dtype="uint8" if rows < 256 else "int64")[:, None]
        return rows - (left * (columns == columns.max(0))).max(0)  # faster than argmax

    def column_counts(self, flags: Tensor) -> Tensor:
        """The number of true values in each column."""
        return flags.view("uint8").sum(0, dtype="uint8" if len(flags) < 256 else "int64")

    def sigmoid(self, logits: Tensor) -> Tensor:
        """The probabilities of logits, in 64 bits (``engines/logits.py``); NaN if a logit is not finite."""
        numbers = self.cast(logits, "float64")
        small = self.xp.exp(-abs(numbers))
        return self.where(numbers >= 0, 1.0 + 0.0 * numbers, small) / (1.0 + small)

    def log(self, values: Tensor) -> Tensor:
        """Natural logarithms; −∞ for 0."""
        with np.errstate(divide="ignore"):
            return self.xp.log(values)

    def log1p(self, values: Tensor) -> Tensor:
        """log(1 + x); −∞ for −1."""
        with np.errstate(divide="ignore"):
            return self.xp.log1p(values)

    def home(self, values: Tensor) -> Array:
        """Copy numbers to NumPy."""
        return np.asarray(values.get() if hasattr(values, "get") else values)


def _operations_of(kind: type[ArrayOperations], library: str) -> ArrayOperations:
    return kind(importlib.import_module(library))
