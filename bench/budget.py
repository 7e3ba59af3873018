"""Time that a group of measurements may take; what does not fit says so."""

import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from contest import NO_TIME, Line

TO_PREPARE = 5.0
"""Seconds that the next piece may take to get ready even when time is up, so that it can be named."""


class OutOfTime(BaseException):
    """Raised wherever the program is when time is up; no library's ``except Exception`` swallows it."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Interrupt what runs inside after so many seconds; a process that is being waited for is ended."""

    def ring(*_: object) -> None:
        raise OutOfTime

    if seconds <= 0:
        raise OutOfTime
    earlier = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier)


class Piece(Protocol):
    """Something to measure: it gives records for the tables, or one that says why it was left out."""

    def run(self) -> Iterable[object]: ...

    def left_out(self, why: str) -> object: ...


@dataclass(frozen=True)
class Group:
    """Pieces that share data, a section and a budget of seconds (``quick`` for the quick form)."""

    name: str
    title: str
    pieces: Callable[[int], Iterable[Piece]]
    budget: float
    quick: float

    def records(self, rows: int, budget: float) -> Iterator[object]:
        """Run everything that fits into the budget, and say what does not."""
        until = time.monotonic() + budget
        pieces = iter(self.pieces(rows))
        while True:
            try:
                with within(max(until - time.monotonic(), TO_PREPARE)):
                    piece = next(pieces, None)
            except (OutOfTime, Exception) as problem:
                yield Line(f"{self.title}: preparing", "", "", in_words(problem))
                return
            if piece is None:
                return
            try:
                with within(until - time.monotonic()):
                    found = list(piece.run())
            except (OutOfTime, Exception) as problem:
                found = [piece.left_out(in_words(problem))]
            yield from found


def in_words(problem: BaseException) -> str:
    """Why something was not measured; the whole story of an error goes to the terminal."""
    if isinstance(problem, OutOfTime):
        return NO_TIME
    traceback.print_exception(problem, file=sys.stderr)
    text = " ".join(str(problem).replace("|", "/").split())
    return f"failed: {type(problem).__name__}: {text[:80]}"
