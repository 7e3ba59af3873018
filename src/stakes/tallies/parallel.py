"""Work on large arrays in a few threads: NumPy and Polars let other threads run while they calculate."""

import itertools
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")

_LARGE = 1 << 20
_MOST_THREADS = 4


def run_all(tasks: Sequence[Callable[[], T]], rows: int) -> list[T]:
    """Return the results of all tasks in their order; in threads when there are enough rows to be worth it."""
    threads = 1 if rows < _LARGE else min(_MOST_THREADS, os.cpu_count() or 1, len(tasks))
    if threads < 2:
        return [task() for task in tasks]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda task: task(), tasks))


def ahead(items: Iterator[T]) -> Iterator[T]:
    """Make the next item in another thread while this one is being worked on."""
    from concurrent.futures import ThreadPoolExecutor

    context = copy_context()

    def coming() -> list[T]:
        return context.run(lambda: list(itertools.islice(items, 1)))

    with ThreadPoolExecutor(1) as pool:
        made = pool.submit(coming)
        while item := made.result():
            made = pool.submit(coming)
            yield item[0]


def in_turn(items: Iterator[T], workers: Sequence[Callable[[T], None]]) -> None:
    """Hand one item after the other to the next of the workers, while the one after it is made in another thread.

    Each worker has a thread of its own, and the same items whenever the work is done.
    """
    from concurrent.futures import Future, ThreadPoolExecutor

    with ExitStack() as open_pools:
        pools = [open_pools.enter_context(ThreadPoolExecutor(1)) for _ in workers]
        busy: dict[int, Future[None]] = {}
        for number, item in enumerate(ahead(items)):
            place = number % len(workers)
            if place in busy:
                busy[place].result()
            busy[place] = pools[place].submit(workers[place], item)
        for one in busy.values():
            one.result()


# ── Polars after fork() ──────────────────────────────────────────────────────────────────────────────────────────
_polars_ran = _polars_lost = False


def polars_is_lost() -> bool:
    """Whether this process was forked from one in which Polars had threads: they are gone, and it would wait for them.

    What needs no Polars works; what does refuses, instead of waiting for ever.
    """
    return _polars_lost


def _before_fork() -> None:
    global _polars_ran
    _polars_ran = "polars" in sys.modules and _polars_has_threads()


def _in_child() -> None:
    global _polars_lost
    _polars_lost = _polars_lost or _polars_ran


def _polars_has_threads() -> bool:
    """Whether Polars has workers, which start when it is first used; True where that is unknown."""
    from pathlib import Path  # as in checks.py

    try:
        names = [Path(f"/proc/self/task/{task}/comm").read_text() for task in os.listdir("/proc/self/task")]
    except OSError:
        return True
    return any(re.match(r"polars-[0-9]", name) for name in names)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)
