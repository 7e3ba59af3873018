"""Reports the progress of reading large files, or of other long work."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[int, int, str], None]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def telling(listener: Listener | None) -> Iterator[None]:
    """Call this function within the block with the rows read and their total, or the progress of other work."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(rows: int, total: int, doing: str = "") -> None:
    """Report the number of rows read, and their total, which is an estimate until all are read.

    For other work, ``doing`` names it, and the numbers are its steps.
    """
    listener = _listener.get()
    if listener is not None:
        listener(rows, total, doing)
