"""Work on large arrays in a few threads: NumPy and Polars let other threads run while they calculate."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
from typing import Any, TypeVar

T = TypeVar("T")

_LARGE = 1 << 20
_MOST_THREADS = 4


def run_all(tasks: Sequence[Callable[[], Any]], rows: int) -> list[Any]:
    """Return the results of all tasks in their order; in threads when there are enough rows to be worth it."""
    threads = min(_MOST_THREADS, os.cpu_count() or 1, len(tasks))
    if rows < _LARGE or threads < 2:
        return [task() for task in tasks]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda task: task(), tasks))


def ahead(items: Iterator[T]) -> Iterator[T]:
    """Make the next item in another thread while this one is being worked on."""
    from concurrent.futures import ThreadPoolExecutor

    context = copy_context()

    def coming() -> Any:
        return context.run(lambda: next(items, _END))

    with ThreadPoolExecutor(1) as pool:
        made = pool.submit(coming)
        while (item := made.result()) is not _END:
            made = pool.submit(coming)
            yield item


_END = object()
