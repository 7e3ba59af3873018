"""Dataclasses that never change, made in a tenth of the time: loading them was half of what ``import`` took.

The standard library compiles six functions for every frozen dataclass. One of them, ``__init__``, differs from class to
class, and is compiled here when the first object is made; the others are shared. Classes that every evaluation loads
are made by this. ``field`` and ``fields`` are those of the standard library.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import field, fields
from functools import cache
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "field", "fields", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import replace as replace
else:

    def dataclass(*, frozen: bool, eq: bool = True, repr: bool = True, **more: bool) -> Callable[[type], type]:
        """Do what :func:`dataclasses.dataclass` does with the same words, for classes that are frozen."""

        def make(cls: type) -> type:
            own_init = more.pop("init", True) and "__init__" not in vars(cls)
            made = dataclasses.dataclass(init=False, eq=False, repr=False, **more)(cls)
            if own_init:
                made.__init__ = _Init(made)
            made.__setattr__, made.__delattr__ = _set_once, _refuse
            if repr and "__repr__" not in vars(made):
                made.__repr__ = _repr
            if eq:
                _add_equality(made)
            return made

        return make

    def replace(one: object, **changes: object) -> object:
        """Do what :func:`dataclasses.replace` does, in less time."""
        kept = {name: getattr(one, name) for name in _names(type(one)) if name not in changes}
        return type(one)(**kept, **changes)


@cache
def _names(cls: type) -> tuple[str, ...]:
    """The fields that ``__init__`` takes."""
    return tuple(one.name for one in dataclasses.fields(cls) if one.init)


class _Init:
    """Stands for the ``__init__`` of a class, which is compiled when it is first looked for."""

    def __init__(self, cls: Any) -> None:
        self._cls = cls

    def __get__(self, one: object, cls: type) -> Any:
        made = self._cls.__init__ = _compile_init(self._cls)
        return made if one is None else made.__get__(one, cls)


def _compile_init(cls: Any) -> Any:
    """Write the function that takes the fields of a class, and sets them; names of our own end in an underscore."""
    every, sets = dataclasses.fields(cls), ["held_ = self.__dict__"]
    known: dict[str, Any] = {"missing_": dataclasses.MISSING}
    takes: dict[bool, list[str]] = {False: [], True: []}
    for one in every:
        name, usual, made = one.name, "", one.name
        if one.default_factory is not dataclasses.MISSING:
            known[f"{name}_"], usual = one.default_factory, " = missing_"
            made = f"{name}_() if {name} is missing_ else {name}" if one.init else f"{name}_()"
        elif one.default is not dataclasses.MISSING:
            known[f"{name}_"], usual = one.default, f" = {name}_"
        if one.init:
            takes[bool(one.kw_only)].append(name + usual)
        if one.init or made != name:
            sets.append(f"held_[{name!r}] = {made}")
    if hasattr(cls, "__post_init__"):
        sets.append("self.__post_init__()")
    named = ", ".join(["self", *takes[False], *(["*", *takes[True]] if takes[True] else [])])
    exec(f"def __init__({named}):\n " + "\n ".join(sets), known)
    init = known["__init__"]
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    init.__annotations__ = {one.name: one.type for one in every if one.init} | {"return": None}
    return init


def _set_once(self: Any, name: str, value: object) -> None:
    """Let ``__init__`` set each field; nothing is set again, and nothing else is set."""
    held = self.__dict__
    if name in held or name not in self.__dataclass_fields__:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    held[name] = value


def _refuse(_: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in dataclasses.fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _add_equality(cls: Any) -> None:
    """Two are equal if they are of one class and all fields that are compared are equal; such have the same hash."""
    values = attrgetter("__class__", *(one.name for one in dataclasses.fields(cls) if one.compare))

    def equal(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: object) -> int:
        return hash(values(self))

    own = vars(cls)
    if "__eq__" not in own:
        cls.__eq__ = equal
    if own.get("__hash__") is None:
        cls.__hash__ = hashed
