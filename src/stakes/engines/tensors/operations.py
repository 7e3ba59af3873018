"""The array operations by which tensors are counted, as NumPy and CuPy spell them, and as PyTorch does.

Everything else is written with operators and slices, which mean the same everywhere. Whole numbers are int32 or int64,
since PyTorch can do little with unsigned ones.
"""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from stakes.engines.columns import Values
from stakes.engines.tensors.arrays import Tensor, device_of, maker_of
from stakes.engines.tensors.kernels import has_kernel, run_kernel
from stakes.tallies.arithmetic import Array

_MANY = 1 << 22
"""From so many keys on another library's sort is worth calling."""

_VERY_MANY = 1 << 26
"""From so many keys on the memory that their sort took is worth giving back."""

Kind = Literal["bool", "int32", "int64", "float32", "float64"]


class ArrayOperations:
    """Arrays of NumPy, or of CuPy: ``xp`` is the library."""

    def __init__(self, xp: Values = np) -> None:
        self.xp = xp

    def __reduce__(self) -> tuple[object, ...]:
        return _operations_of, (type(self), self.xp.__name__)  # a library cannot be pickled

    def _beside(self, like: Tensor) -> dict[str, Values]:
        """Where new memory is to lie."""
        return {}

    def cast(self, values: Tensor, kind: Kind) -> Tensor:
        """Numbers of another kind; the same array where they are of it."""
        with np.errstate(invalid="ignore"):  # what does not fit is found by whoever compares
            return values.astype(kind, copy=False)

    def kind(self, values: Tensor) -> str:
        """What kind of numbers these are."""
        return str(values.dtype).rpartition(".")[2]

    def bits(self, floats: Tensor) -> Tensor:
        """The bits of floats, as whole numbers of their size."""
        return floats.view(self.xp.int32 if floats.itemsize == 4 else self.xp.int64)

    def floats(self, bits: Tensor) -> Tensor:
        """The floats of such bits."""
        return bits.view(self.xp.float32 if bits.itemsize == 4 else self.xp.float64)

    def empty(self, length: int, like: Tensor, kind: Kind) -> Tensor:
        """Memory beside another array."""
        return self.xp.empty(length, dtype=getattr(self.xp, kind), **self._beside(like))

    def zeros(self, length: int, like: Tensor, kind: Kind) -> Tensor:
        """Zeros beside another array."""
        return self.xp.zeros(length, dtype=getattr(self.xp, kind), **self._beside(like))

    def given(self, values: Array, like: Tensor) -> Tensor:
        """A few numbers of ours, brought to where another array lies."""
        return self.xp.asarray(values, **self._beside(like))

    def sort(self, keys: Tensor) -> Tensor:
        """Sort an array of our own, which may be reused."""
        keys.sort()
        return keys

    def order(self, codes: Tensor) -> Tensor:
        """Where numbers stand in ascending order, equal ones as they were."""
        return self.xp.argsort(codes, kind="stable")

    def places(self, mask: Tensor) -> Tensor:
        """Where something holds."""
        return self.xp.nonzero(mask)[0]

    def ends(self, values: Tensor) -> tuple[float, float]:
        """The least and the largest; NaN if one is NaN."""
        return values.min().item(), values.max().item()

    def numbers(self, start: int, stop: int, like: Tensor) -> Tensor:
        """Whole numbers from one to another, beside an array."""
        return self.xp.arange(start, stop, **self._beside(like))

    def where(self, test: Tensor, one: Values, other: Values) -> Tensor:
        """One thing where something holds, another elsewhere."""
        return self.xp.where(test, one, other)

    def cumulated(self, counts: Tensor) -> Tensor:
        """Running sums of whole numbers, in 64 bits."""
        return self.xp.cumsum(counts, 0, dtype=self.xp.int64)

    def total(self, values: Tensor) -> Tensor:
        """The sum in 64 bits, which stays where it is."""
        return values.sum(dtype=self.xp.float64 if "float" in self.kind(values) else self.xp.int64)

    def count(self, codes: Tensor, size: int, weight: Tensor | None = None) -> Tensor:
        """How often each code below ``size`` occurs, or how much those rows weigh."""
        return self.xp.bincount(codes, weight, minlength=size)

    def add_counts(self, counts: Tensor, codes: Tensor) -> None:
        """Count codes on top of what was counted."""
        counts += self.xp.bincount(codes, minlength=len(counts))

    def by_kernel(self, name: str, rows: int, **given: Values) -> bool:
        """Run a kernel of ours over so many rows (``kernels.py``); False where there is none."""
        kinds = self._kinds(given)
        if self.xp is np or not has_kernel(name, kinds):
            return False
        whole = {of: self.xp.ascontiguousarray(given[of]) for of in kinds}  # held until the kernel was called
        run_kernel(self.xp, name, rows, kinds, {**given, **{of: one.data.ptr for of, one in whole.items()}})
        return True

    def _kinds(self, given: Mapping[str, Values]) -> dict[str, str]:
        return {name: self.kind(one) for name, one in given.items() if not isinstance(one, int)}

    def joined(self, parts: list[Tensor]) -> Tensor:
        """Put arrays one after the other."""
        return parts[0] if len(parts) == 1 else self.xp.concatenate(parts)

    def copied(self, values: Tensor) -> Tensor:
        """The same numbers in memory of their own, row by row."""
        return values.copy()

    def top(self, values: Tensor, count: int) -> Tensor:
        """Where the largest numbers stand."""
        return self.xp.argpartition(values, len(values) - count)[len(values) - count :]

    def stacked(self, numbers: list[Tensor]) -> Tensor:
        """Single numbers side by side."""
        return np.array(numbers) if self.xp is np else self.xp.stack(numbers)

    def softmax(self, logits: Tensor) -> Tensor:
        """The probabilities of the classes in each row."""
        shares = self.xp.exp(logits - logits.max(1, keepdims=True))
        return shares / shares.sum(1, keepdims=True)

    def first_largest(self, columns: Tensor) -> Tensor:
        """Where the largest number of each column stands, the first of those that tie."""
        rows = len(columns)
        left = self.xp.arange(rows, 0, -1, dtype="uint8" if rows < 256 else "int64")[:, None]
        return rows - (left * (columns == columns.max(0))).max(0)  # which is quicker than to look for places

    def column_counts(self, flags: Tensor) -> Tensor:
        """In how many places of each column something holds."""
        return flags.view("uint8").sum(0, dtype="uint8" if len(flags) < 256 else "int64")

    def sigmoid(self, logits: Tensor) -> Tensor:
        """The probabilities of logits, in 64 bits (``engines/logits.py``); of what is not finite NaN."""
        numbers = self.cast(logits, "float64")
        small = self.xp.exp(-abs(numbers))
        return self.where(numbers >= 0, 1.0 + 0.0 * numbers, small) / (1.0 + small)

    def log(self, values: Tensor) -> Tensor:
        """Natural logarithms; of 0 −∞."""
        with np.errstate(divide="ignore"):
            return self.xp.log(values)

    def log1p(self, values: Tensor) -> Tensor:
        """log(1 + x); of −1 −∞."""
        with np.errstate(divide="ignore"):
            return self.xp.log1p(values)

    def home(self, values: Tensor) -> Array:
        """Bring numbers here."""
        return np.asarray(values.get() if hasattr(values, "get") else values)


class TorchOperations(ArrayOperations):
    """Tensors of PyTorch, on the CPU or a GPU, where it spells operations in another way."""

    def _beside(self, like: Tensor) -> dict[str, Values]:
        return {"device": like.device}

    def cast(self, values: Tensor, kind: Kind) -> Tensor:
        """Numbers of another kind; the same array where they are of it."""
        return values.to(getattr(self.xp, kind))

    def given(self, values: Array, like: Tensor) -> Tensor:
        """A few numbers of ours, brought to where another array lies."""
        return self.xp.from_numpy(np.array(values)).to(like.device)

    def sort(self, keys: Tensor) -> Tensor:
        """Sort an array of our own: by CuPy where it is there, since PyTorch's sort keeps places that nobody needs."""

        def in_place(cupy: Values) -> None:
            cupy.from_dlpack(keys).sort()
            if len(keys) >= _VERY_MANY:
                cupy.get_default_memory_pool().free_all_blocks()  # PyTorch could not use what CuPy holds back

        done = keys.is_cuda and len(keys) >= _MANY and self._done_by_cupy(in_place, keys)
        return keys if done else self.xp.sort(keys).values

    def _done_by_cupy(self, work: Callable[[Values], None], like: Tensor) -> bool:
        """Let CuPy work beside a tensor, in the order of PyTorch's own work; False where it is not there or fails."""
        cupy = _cupy()
        if cupy is None:
            return False
        stream = self.xp.cuda.current_stream(like.device).cuda_stream
        try:
            with cupy.cuda.Device(like.device.index), cupy.cuda.ExternalStream(stream):
                work(cupy)
        except Exception:  # whatever it is, PyTorch by itself can do the same: CuPy may be for another CUDA
            return False
        return True

    def order(self, codes: Tensor) -> Tensor:
        """Where numbers stand in ascending order, equal ones as they were."""
        return self.xp.argsort(codes, stable=True)

    def places(self, mask: Tensor) -> Tensor:
        """Where something holds."""
        return self.xp.nonzero(mask).squeeze(1)

    def ends(self, values: Tensor) -> tuple[float, float]:
        """The least and the largest; NaN if one is NaN."""
        low, high = self.xp.stack(self.xp.aminmax(values)).tolist()
        return low, high

    def count(self, codes: Tensor, size: int, weight: Tensor | None = None) -> Tensor:
        """How often each code below ``size`` occurs, or how much those rows weigh."""
        if weight is not None:
            return self.zeros(size, codes, "float64").index_add_(0, codes, weight)
        return self.xp.bincount(codes, minlength=size)

    def add_counts(self, counts: Tensor, codes: Tensor) -> None:
        """Count codes on top of what was counted; nobody waits for it, as ``bincount`` would."""
        counts.index_add_(0, codes, self.xp.ones_like(codes, dtype=counts.dtype))

    def by_kernel(self, name: str, rows: int, **given: Values) -> bool:
        """Run a kernel of ours over so many rows, where CuPy is there to compile it."""
        kinds = self._kinds(given)
        whole = {of: given[of].contiguous() for of in kinds}
        like = next(iter(whole.values()))
        if not like.is_cuda or not has_kernel(name, kinds):
            return False
        places = {**given, **{of: one.data_ptr() for of, one in whole.items()}}
        return self._done_by_cupy(lambda cupy: run_kernel(cupy, name, rows, kinds, places), like)

    def copied(self, values: Tensor) -> Tensor:
        """The same numbers in memory of their own, row by row."""
        return values.clone(memory_format=self.xp.contiguous_format)

    def top(self, values: Tensor, count: int) -> Tensor:
        """Where the largest numbers stand."""
        return self.xp.topk(values, count).indices

    def softmax(self, logits: Tensor) -> Tensor:
        """The probabilities of the classes in each row."""
        return self.xp.softmax(logits, 1)

    def column_counts(self, flags: Tensor) -> Tensor:
        """In how many places of each column something holds."""
        return flags.sum(0)

    def first_largest(self, columns: Tensor) -> Tensor:
        """Where the largest number of each column stands, the first of those that tie; PyTorch promises no order."""
        k = len(columns)
        return self.where(columns == columns.amax(0), self.numbers(0, k, columns)[:, None], k).amin(0)

    def home(self, values: Tensor) -> Array:
        """Bring numbers here; memory that the GPU can write to itself is several times faster."""
        if not values.is_cuda:
            return np.asarray(values.numpy())
        here = self.xp.empty(values.shape, dtype=values.dtype, pin_memory=True)
        here.copy_(values, non_blocking=True)
        self.xp.cuda.current_stream(values.device).synchronize()
        return np.asarray(here.numpy())


def _operations_of(kind: type[ArrayOperations], library: str) -> ArrayOperations:
    return kind(importlib.import_module(library))


def _cupy() -> Values:
    """CuPy, if it is installed and works."""
    if "cupy" in sys.modules:
        return sys.modules["cupy"]
    if importlib.util.find_spec("cupy") is None:
        return None
    try:
        return importlib.import_module("cupy")
    except ImportError:  # made for another version of CUDA
        return None


def operations_on(tensor: Tensor) -> ArrayOperations:
    """The operations for what a tensor is."""
    maker = maker_of(tensor)
    return TorchOperations(sys.modules["torch"]) if maker == "torch" else ArrayOperations(sys.modules.get(maker, np))


def as_countable(tensor: Tensor) -> Tensor:
    """A tensor that can be counted where it lies: of PyTorch or CuPy; None where neither can take it.

    An array of JAX is handed over without a copy (DLPack), since JAX itself keeps to 32 bits. What remembers how it was
    computed forgets it.
    """
    maker = maker_of(tensor)
    if maker == "torch":
        plain = tensor.detach()
        return plain if plain.device.type == "cuda" and plain.layout == sys.modules["torch"].strided else None
    if maker == "jax":
        if not device_of(tensor).startswith(("cuda", "gpu")) or "," in device_of(tensor):
            return None
        taker = _torch_on_gpu() or _cupy()
        return None if taker is None else taker.from_dlpack(tensor)
    if maker == "cupy":
        torch = _torch_on_gpu()
        return tensor if torch is None else torch.from_dlpack(tensor)
    return None


def _torch_on_gpu() -> Values:
    """PyTorch, if it is loaded already and sees a GPU."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and torch.cuda.is_available() else None
