"""How two sides are timed in turn, and the line of the table that comes of it.

Machines are shared and noisy, so only ratios count: both sides run in turn, several times, and the best times are
compared. Nothing is rounded in our favour.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

RUNS = 9
"""How often a side runs at most …"""

ENOUGH = 6.0
"""… and after how many seconds it is not run again."""

NO_TIME = "left out: no time"


def is_missing(text: str) -> bool:
    """Whether this stands where a number should be, for want of time or room or because of an error."""
    return text.startswith(("left out", "failed"))


@dataclass(frozen=True)
class Wanted:
    """What a measured number shall reach or not exceed."""

    sign: str
    bound: float
    unit: str

    def __str__(self) -> str:
        return f"{self.sign} {number(self.bound)} {self.unit}"

    def rounded(self, value: float) -> float:
        """Three digits of the value, rounded to the side that is worse for us."""
        exact = Decimal(repr(float(value)))
        last = Decimal(1).scaleb(exact.adjusted() - 2)
        return float(exact.quantize(last, ROUND_FLOOR if self.sign == "≥" else ROUND_CEILING))

    def met(self, value: float) -> bool:
        return value >= self.bound if self.sign == "≥" else value <= self.bound


def at_least(bound: float, unit: str = "×") -> Wanted:
    return Wanted("≥", bound, unit)


def at_most(bound: float, unit: str = "×") -> Wanted:
    return Wanted("≤", bound, unit)


def number(value: float) -> str:
    return f"{value:,.10g}"


@dataclass(frozen=True)
class Line:
    """One line of a table: what was run on both sides, what was measured, what is wanted."""

    what: str
    ours: str
    theirs: str
    measured: str
    wanted: Wanted | None = None
    met: bool | None = None
    hard: str = ""  # why it is not met, for the summary
    section: str = ""  # if not that of the group that it was measured in

    @classmethod
    def of(cls, what: str, ours: str, theirs: str, value: float, wanted: Wanted, hard: str = "", section: str = ""):
        shown = wanted.rounded(value)
        measured = f"{number(shown)} {wanted.unit}"
        return cls(what, ours, theirs, measured, wanted, wanted.met(shown), hard, section)

    @property
    def missing(self) -> str:
        """What was not measured and why, for the summary."""
        return f"{self.what}: {self.measured}" if is_missing(self.measured) else ""

    def __str__(self) -> str:
        met = {True: "yes", False: "**no**", None: ""}[self.met]
        return f"| {self.what} | {self.ours} | {self.theirs} | {self.measured} | {self.wanted or ''} | {met} |"


HEAD = "| what | stakes | peer | measured | wanted | met |\n|---|---|---|---|---|---|"


@dataclass(frozen=True)
class Side:
    """What one side runs, in words or code; ``part`` says how much of the work is run and scaled up."""

    ran: str
    action: Callable[[], object]
    part: tuple[int, int] = (1, 1)

    def seconds(self) -> float:
        """The time of the whole work, scaled up if only a part of it was run."""
        done, whole = self.part
        return seconds(self.action) * whole / done

    def shown(self, took: float) -> str:
        done, whole = self.part
        scaled = f" ({done:,} of {whole:,} run, × {whole // done:,})" if done < whole else ""
        return f"{took:.3f} s: {self.ran}{scaled}"


@dataclass(frozen=True)
class Contest:
    """Two sides on the same data, and how much better we want to be; ``hard`` says why if we are not."""

    what: str
    ours: Side
    theirs: Side
    wanted: Wanted
    hard: str = ""

    def run(self) -> list[Line]:
        ours, theirs = in_turn(self.ours, self.theirs)
        ratio = theirs / ours if self.wanted.sign == "≥" else ours / theirs
        return [
            Line.of(self.what, self.ours.shown(ours), self.theirs.shown(theirs), ratio, self.wanted, self.hard),
        ]

    def left_out(self, why: str) -> Line:
        return Line(self.what, self.ours.ran, self.theirs.ran, why, self.wanted)


@dataclass(frozen=True)
class Measurement:
    """Work that measures itself, say in a process of its own, and makes its own lines."""

    what: str
    work: Callable[[], list[Line]]
    wanted: Wanted | None = None

    def run(self) -> list[Line]:
        return self.work()

    def left_out(self, why: str) -> Line:
        return Line(self.what, "", "", why, self.wanted)


def in_turn(*sides: Side) -> list[float]:
    """The best time of each side; they take turns, so that a busy moment of the machine hits them all."""
    best, spent = [float("inf")] * len(sides), [0.0] * len(sides)
    for _ in range(RUNS):
        for i, side in enumerate(sides):
            if spent[i] < ENOUGH:
                start = time.perf_counter()
                best[i] = min(best[i], side.seconds())
                spent[i] += time.perf_counter() - start
    return best


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start
