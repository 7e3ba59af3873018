"""Available memory: files that cannot fit are refused before a library ends the process."""

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stakes.errors import LackOfMemoryError


def refuse_beyond_memory(what: str, needed: float) -> None:
    """Refuse reading that certainly takes more memory than is left."""
    left = memory_left()
    if needed > left:
        raise LackOfMemoryError(
            "too-large-for-memory",
            f"{what}: reading it takes some {needed / 1000000000.0:,.1f} GB of memory, and {left / 1000000000.0:,.1f} "
            "GB are left; name fewer columns, count scores in bins, or use a machine that has more",
        )


def memory_left() -> float:
    """Bytes that this process may still use, by the machine, its container and its limits."""
    left = math.inf
    for limit in (_of_machine, _of_container, _of_limit):
        with suppress(OSError, ImportError, ValueError, KeyError, IndexError):  # the system does not say
            left = min(left, limit())
    return max(left, 0)


@contextmanager
def little_memory(most: int) -> Iterator[None]:
    """Limit the further memory of this process to so many bytes, if the system can."""
    try:
        import resource

        before = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (_used() + most, before[1]))
    except (OSError, ImportError, ValueError):  # it cannot, or less than that is left
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _of_machine() -> float:
    return _table("/proc/meminfo")["MemAvailable:"] * 1024


def _of_container() -> float:
    """The rest of Linux's control group; cached files count as free."""
    place = Path("/sys/fs/cgroup")
    most, used = (float((place / f"memory.{name}").read_text()) for name in ("max", "current"))
    return most - used + _table(place / "memory.stat")["inactive_file"]


def _of_limit() -> float:
    """The rest of ``ulimit -v``."""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return math.inf
    return limit - _used()


def _used() -> int:
    """Bytes of address space of this process."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _table(path: str | Path) -> dict[str, int]:
    lines = (line.split() for line in Path(path).read_text().splitlines())
    return {words[0]: int(words[1]) for words in lines}
