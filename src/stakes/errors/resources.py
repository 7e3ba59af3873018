"""What was lacking: memory, room on a disk, or a fault of our own."""

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
        f"there is not enough memory{f' ({short(seen, 120)})' if seen else ''}; name fewer columns, count scores in "
        "bins, or use a machine that has more"
    )


def too_large_for_memory(what: str, needed: float, there: float) -> LackOfMemoryError:
    return LackOfMemoryError(
        f"{what}: reading it takes some {needed / 1e9:,.1f} GB of memory, and {there / 1e9:,.1f} GB are left; name "
        "fewer columns, count scores in bins, or use a machine that has more"
    )


def unable(problem: BaseException) -> str:
    """Why the work could not be done."""
    if isinstance(problem, UnableError):
        return str(problem)
    seen = (str(problem).strip().splitlines() or [""])[0]
    if lacks_memory(problem):
        return str(lack_of_memory(seen))
    if isinstance(problem, OSError):
        return f"cannot write: {problem.strerror or problem}"
    return (
        f"a fault of stakes itself: {type(problem).__name__}: {short(seen, 200)}; run again with --debug to see where, "
        "and please report it"
    )
