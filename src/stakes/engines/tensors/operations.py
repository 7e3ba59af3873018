"""The array operations (``tallies/operations.py``) for counting tensors, on the device where they lie."""

import importlib
import importlib.util
import math
import sys
from collections.abc import Callable, Mapping

import numpy as np

from stakes import errors
from stakes.engines.columns import Values
from stakes.engines.tensors.arrays import Tensor, device_of, maker_of
from stakes.engines.tensors.kernels import has_kernel, run_kernel
from stakes.tallies.arithmetic import Array
from stakes.tallies.operations import ArrayOperations, Kind

_MANY = 1 << 22
"""From this many keys on another library's sort is worth calling."""

_VERY_MANY = 1 << 26
"""From this many keys on the memory of their sort is worth releasing."""


class CupyOperations(ArrayOperations):
    """Arrays of CuPy, which also runs kernels."""

    def by_kernel(self, name: str, rows: int, **given: Values) -> bool:
        """Run a kernel over so many rows (``kernels.py``); False if there is none."""
        kinds = self._kinds(given)
        if not has_kernel(name, kinds):
            return False
        whole = {of: self.xp.ascontiguousarray(given[of]) for of in kinds}  # kept alive until the kernel is called
        run_kernel(self.xp, name, rows, kinds, {**given, **{of: one.data.ptr for of, one in whole.items()}})
        return True

    def _kinds(self, given: Mapping[str, Values]) -> dict[str, str]:
        return {name: self.kind(one) for name, one in given.items() if not isinstance(one, int)}


class TorchOperations(CupyOperations):
    """Tensors of PyTorch, on the CPU or a GPU: the operations that it spells differently."""

    def _beside(self, like: Tensor) -> dict[str, Values]:
        return {"device": like.device}

    def cast(self, values: Tensor, kind: Kind) -> Tensor:
        """Convert numbers to another type; the same array if they have it."""
        return values.to(getattr(self.xp, kind))

    def given(self, values: Array, like: Tensor) -> Tensor:
        """Copy a few numbers to the device of an array."""
        return self.xp.from_numpy(np.array(values)).to(like.device)

    def sort(self, keys: Tensor) -> Tensor:
        """Sort an array of our own, by CuPy if installed, since PyTorch's sort also computes indices."""

        def in_place(cupy: Values) -> None:
            cupy.from_dlpack(keys).sort()
            if len(keys) >= _VERY_MANY:
                cupy.get_default_memory_pool().free_all_blocks()  # PyTorch cannot use memory that CuPy keeps

        done = keys.is_cuda and len(keys) >= _MANY and self._done_by_cupy(in_place, keys)
        return keys if done else self.xp.sort(keys).values

    def _done_by_cupy(self, work: Callable[[Values], None], like: Tensor) -> bool:
        """Let CuPy work on a tensor's device, on PyTorch's stream; False if it is not installed or fails."""
        cupy = _cupy()
        if cupy is None:
            return False
        stream = self.xp.cuda.current_stream(like.device).cuda_stream
        try:
            with cupy.cuda.Device(like.device.index), cupy.cuda.ExternalStream(stream):
                work(cupy)
        except Exception:  # such as a CuPy for another CUDA; PyTorch can do the same
            return False
        return True

    def order(self, codes: Tensor) -> Tensor:
        """The indices that sort numbers; the sort is stable."""
        return self.xp.argsort(codes, stable=True)

    def places(self, mask: Tensor) -> Tensor:
        """The indices at which a mask is true."""
        return self.xp.nonzero(mask).squeeze(1)

    def ends(self, values: Tensor) -> tuple[float, float]:
        """The smallest and the largest number; NaN if one is NaN."""
        low, high = self.xp.stack(self.xp.aminmax(values)).tolist()
        return low, high

    def count(self, codes: Tensor, size: int, weight: Tensor | None = None) -> Tensor:
        """The number of rows of each code below ``size``, or their weight."""
        if weight is not None:
            return self.zeros(size, codes, "float64").index_add_(0, codes, weight)
        return self.xp.bincount(codes, minlength=size)

    def add_counts(self, counts: Tensor, codes: Tensor) -> None:
        """Add the counts of codes to ``counts``, without waiting for the device as ``bincount`` would."""
        counts.index_add_(0, codes, self.xp.ones_like(codes, dtype=counts.dtype))

    def by_kernel(self, name: str, rows: int, **given: Values) -> bool:
        """Run a kernel over so many rows, if CuPy is installed to compile it."""
        kinds = self._kinds(given)
        whole = {of: given[of].contiguous() for of in kinds}
        like = next(iter(whole.values()))
        if not like.is_cuda or not has_kernel(name, kinds):
            return False
        places = {**given, **{of: one.data_ptr() for of, one in whole.items()}}
        return self._done_by_cupy(lambda cupy: run_kernel(cupy, name, rows, kinds, places), like)

    def copied(self, values: Tensor) -> Tensor:
        """A contiguous copy of the numbers."""
        return values.clone(memory_format=self.xp.contiguous_format)

    def top(self, values: Tensor, count: int) -> Tensor:
        """The indices of the largest numbers."""
        return self.xp.topk(values, count).indices

    def softmax(self, logits: Tensor) -> Tensor:
        """The probabilities of the classes in each row."""
        return self.xp.softmax(logits, 1)

    def column_counts(self, flags: Tensor) -> Tensor:
        """The number of true values in each column."""
        return flags.sum(0)

    def first_largest(self, columns: Tensor) -> Tensor:
        """The row of the largest number of each column, the first of ties; PyTorch promises no order."""
        k = len(columns)
        return self.where(columns == columns.amax(0), self.numbers(0, k, columns)[:, None], k).amin(0)

    def home(self, values: Tensor) -> Array:
        """Copy numbers to NumPy; pinned memory, which the GPU writes itself, is several times faster."""
        if not values.is_cuda:
            return np.asarray(values.numpy())
        here = self.xp.empty(values.shape, dtype=values.dtype, pin_memory=True)
        here.copy_(values, non_blocking=True)
        self.xp.cuda.current_stream(values.device).synchronize()
        return np.asarray(here.numpy())


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
    """The operations for the library of a tensor."""
    maker = maker_of(tensor)
    if maker not in ("torch", "cupy"):
        return ArrayOperations()
    return (TorchOperations if maker == "torch" else CupyOperations)(sys.modules[maker])


def refuse_infinite_tensor(operations: ArrayOperations, values: Tensor, argument: str) -> None:
    """Refuse missing and infinite numbers, naming the first row, like ``refuse_infinite`` for arrays."""
    for wrong, words in ((values != values, errors.missing_values), (abs(values) == math.inf, errors.infinite_values)):
        rows = operations.places(wrong)
        if len(rows):
            raise words(argument, len(rows), int(rows[0]))


def as_countable(tensor: Tensor) -> Tensor:
    """A tensor of PyTorch or CuPy that can be counted on its device; None if neither can take it.

    An array of JAX is passed on without a copy (DLPack), since JAX itself only has 32 bits. Tensors are detached from
    their gradients.
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
    """PyTorch, if it is already imported and sees a GPU."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and torch.cuda.is_available() else None
