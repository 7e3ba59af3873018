"""Values that are computed when they are first needed."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

K = TypeVar("K")
T = TypeVar("T")


def remembered(method: Callable[[K], T]) -> Callable[[K], T]:
    """Let a method without arguments work once for each object, and answer from memory afterwards."""

    place = f"_{method.__name__}"

    @functools.wraps(method)
    def answer(self: K) -> T:
        memory: dict[str, T] = vars(self)
        if place not in memory:
            memory[place] = method(self)
        return memory[place]

    return answer


class OnDemand(Mapping[K, T], Generic[K, T]):
    """A mapping whose values are made when they are needed: there may be thousands, and few are needed."""

    def __init__(self, names: Iterable[K], make: Callable[[K], T]) -> None:
        self._made: dict[K, T | None] = dict.fromkeys(names)
        self._make = make

    def __getitem__(self, name: K) -> T:
        made = self._made[name]
        if made is None:
            made = self._made[name] = self._make(name)
        return made

    def __iter__(self) -> Iterator[K]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def __contains__(self, name: object) -> bool:
        return name in self._made

    def __repr__(self) -> str:
        return f"<{len(self):,} on demand>"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle all of it made: what makes it may hold what cannot be pickled."""
        made = dict(self.items())
        return type(self), (made, made.__getitem__)


class Later(Mapping[K, T], Generic[K, T]):
    """A mapping that is made as a whole when something is asked of it."""

    def __init__(self, make: Callable[[], Mapping[K, T]]) -> None:
        self._make = make

    @functools.cached_property
    def _whole(self) -> Mapping[K, T]:
        return self._make()

    def __getitem__(self, name: K) -> T:
        return self._whole[name]

    def __iter__(self) -> Iterator[K]:
        return iter(self._whole)

    def __len__(self) -> int:
        return len(self._whole)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (functools.partial(dict, dict(self._whole)),)
