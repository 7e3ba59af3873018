"""What was lacking: memory, room on a disk, or a fault of our own."""

import os

from stakes.errors import LackOfMemoryError, UnableError
from stakes.errors.words import short

_SIGNS = (
    *("cannot allocate memory", "memory allocation", "out of memory", "unable to allocate", "bad_alloc"),
    *("os error 12", "failed to map segment", "resource temporarily unavailable", "os error 11"),
)
"""How libraries say that they lack memory, or threads, which need some."""


def lacks_memory(problem: BaseException) -> bool:
    """Whether a problem is a lack of memory, whatever its type."""
    words = str(problem).lower()
    return isinstance(problem, MemoryError) or any(sign in words for sign in _SIGNS)


def lack_of_memory(seen: str = "") -> LackOfMemoryError:
    return LackOfMemoryError(
        "lack-of-memory",
        f"there is not enough memory{(f' ({short(seen, 120)})' if seen else '')}; name fewer columns, count scores in "
        "bins, or use a machine that has more",
    )


def lacks_files(problem: BaseException) -> bool:
    """Whether the system opens no more files for this process."""
    return "too many open files" in str(problem).lower()


def lack_of_files() -> UnableError:
    return UnableError("lack-of-files", "the system opens no more files for this process; raise the limit (ulimit -n)")


def unable(problem: BaseException) -> str:
    """Why the work could not be done."""
    if isinstance(problem, UnableError):
        return str(problem)
    seen = (str(problem).strip().splitlines() or [""])[0]
    if lacks_memory(problem):
        return str(lack_of_memory(seen))
    if lacks_files(problem):
        return str(lack_of_files())
    if isinstance(problem, FileNotFoundError) and problem.filename is None:
        return "the working directory is not there any more; change to one that is"
    if isinstance(problem, OSError):
        file = "" if problem.filename is None else f" {os.fspath(problem.filename)}"
        return f"cannot write{file}: {problem.strerror or problem}"
    return (
        f"a fault of stakes itself: {type(problem).__name__}: {short(seen, 200)}; run again with --debug to see where, "
        "and please report it"
    )
