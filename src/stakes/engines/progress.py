"""How far the reading of large files has come, or other long work, for whoever wants to know."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[int, int, str], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def telling(listener: Listener | None) -> Iterator[None]:
    """Tell this function, while the block lasts, how many rows were read, and of how many, or how far other work is."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(rows: int, total: int, doing: str = "") -> None:
    """Say how many rows were read by now, and how many there are in all (about: it is right when all are read).

    Or how many times something else was done: ``doing`` says what.
    """
    listener = _listener.get()
    if listener is not None:
        listener(rows, total, doing)
