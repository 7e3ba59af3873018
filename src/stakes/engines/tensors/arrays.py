"""Recognises tensors, finds their device, and copies them to NumPy."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from stakes import errors
from stakes.errors import About, InputError
from stakes.tallies.arithmetic import Array
from stakes.tallies.operations import Tensor as Tensor

Values: TypeAlias = Any
"""A column, or another argument, as passed by the user."""

_MAKERS = {"torch": "Tensor", "cupy": "ndarray", "jax": "Array"}
_seen: dict[type, str] = {}  # loops pass the same type of tensor again and again


def maker_of(values: Values) -> str:
    """The library of a tensor, "" for anything else; no library is imported."""
    if (seen := _seen.get(type(values))) is not None:
        return seen
    if type(values).__module__.partition(".")[0] in ("builtins", "numpy"):
        return ""
    for name, kind in _MAKERS.items():
        if (made := getattr(sys.modules.get(name), kind, None)) is not None and isinstance(values, made):
            return _seen.setdefault(type(values), name)
    return ""


def device_of(values: Tensor) -> str:
    """The device of a tensor: "cpu", "cuda:0", "meta" and the like."""
    maker = maker_of(values)
    if maker == "torch":
        return str(values.device)
    if maker == "cupy":
        return f"cuda:{values.device.id}"
    if maker == "jax":
        platforms = sorted({f"{one.platform}:{one.id}" for one in values.devices()})
        return "cpu" if all(one.startswith("cpu") for one in platforms) else ", ".join(platforms)
    return "cpu"


def at_home(values: Values, argument: str) -> Values:
    """Convert a tensor to a NumPy array, without a copy if it is in memory; return anything else as it is.

    Types that NumPy does not have, such as bfloat16, become float32, which loses nothing.
    """
    maker = maker_of(values)
    if maker and device_of(values) not in ("cpu", "meta"):
        import logging  # only needed here

        words = "%s, a tensor of shape %s, was copied from %s to be counted"
        logging.getLogger("stakes").info(words, argument, tuple(values.shape), device_of(values))
    if maker == "torch":
        return _from_torch(values, argument)
    if maker == "cupy":
        return values.get()
    if maker == "jax" and values.dtype.name == "bfloat16":
        return np.asarray(values.astype("float32"))
    return np.asarray(values) if maker == "jax" else values


def _from_torch(tensor: Tensor, argument: str) -> Array:
    torch = sys.modules["torch"]
    refuse_empty_shell(tensor, argument)
    if tensor.layout != torch.strided:
        raise InputError(
            "sparse-tensor", About(argument), f" is a tensor of layout {tensor.layout}; give .to_dense() of it"
        )
    tensor = tensor.detach()
    if tensor.dtype == torch.bfloat16 or (tensor.is_floating_point() and tensor.element_size() == 1):
        tensor = tensor.float()
    return np.asarray(tensor.cpu().resolve_neg().numpy())


def refuse_empty_shell(tensor: Tensor, argument: str) -> None:
    """Refuse a tensor with a shape but no values."""
    if device_of(tensor) == "meta":
        raise InputError(
            "meta-tensor",
            About(argument),
            f" is a tensor of shape {tuple(tensor.shape)} on the device 'meta', which holds no values; give one that "
            "was computed",
        )


def lie_elsewhere(columns: Mapping[str, Values]) -> bool:
    """Whether a column of a call is a tensor on another device.

    Tensors on several devices are refused: the user has to say which of them to copy. Those in the memory of this
    machine are read like any other array.
    """
    if _MAKERS.keys().isdisjoint(sys.modules.keys()):  # no library is loaded that could have made one
        return False
    found = dict(_tensors_in(columns))
    for name, tensor in found.items():
        refuse_empty_shell(tensor, name)
    places = {name: device_of(tensor) for name, tensor in found.items()}
    if len(set(places.values())) > 1:
        raise errors.mixed_devices(places)
    return bool(set(places.values()) - {"cpu"})


def _tensors_in(columns: Mapping[str, Values]) -> Iterator[tuple[str, Tensor]]:
    """The tensors among the columns of a call, also those in dictionaries and lists of columns."""
    for name, values in columns.items():
        if isinstance(values, Mapping):
            yield from _tensors_in({f"{name} {key}": one for key, one in values.items()})
        elif isinstance(values, list | tuple) and any(map(maker_of, values[:2])):
            yield from _tensors_in({f"{name} {i}": one for i, one in enumerate(values, 1)})
        elif maker_of(values):
            yield name, values
