"""Work on large arrays in a few threads: NumPy and Polars let other threads run while they calculate."""

import os
from collections.abc import Callable, Sequence
from typing import Any

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
