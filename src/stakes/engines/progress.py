"""How far the reading of large files has come, for whoever wants to know."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[int, int], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def telling(listener: Listener | None) -> Iterator[None]:
    """Tell this function, while the block lasts, how many rows were read, and of how many."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(rows: int, total: int) -> None:
    """Say how many rows were read by now, and how many there are in all (about: it is right when all are read)."""
    listener = _listener.get()
    if listener is not None:
        listener(rows, total)
