"""What a gate found about one condition."""

from dataclasses import dataclass
from typing import Any

from stakes.metrics import Estimate
from stakes.metrics.estimate import plain
from stakes.views.page import between, number

_MINUS = str.maketrans("-", "−")


@dataclass(frozen=True)
class Check:
    """One condition, and whether it is met.

    ``seen`` is the number that was held against ``limit``: a figure, an end of its interval, or the bad end of the
    interval of a difference. ``estimate`` is where it comes from. ``reason`` says why there is no such number, and
    ``segment`` in which segment it was seen, when a condition is about all of them.
    """

    kind: str
    condition: str
    passed: bool
    seen: float | None
    limit: float
    estimate: Estimate
    reason: str = ""
    segment: str | None = None

    @property
    def verdict(self) -> str:
        """The outcome in words, with the reason where there is one."""
        where = "" if self.segment is None else f" in segment {self.segment}"
        if self.passed:
            return "passed" if self.segment is None else f"passed; the worst is{where[3:]}"
        return f"failed{where}" + (f": {self.reason}" if self.reason else "")

    @property
    def words(self) -> str:
        """What was seen, in one sentence."""
        if self.seen is None:
            return self.verdict
        seen, value, ends = self.cells
        sure = "" if self.estimate.low is None else f", interval {ends}"
        return f"{self.verdict}: saw {seen} ({self.estimate.name} {value}{sure})"

    @property
    def cells(self) -> tuple[str, str, str]:
        """What was seen, the estimate that it comes from, and its interval, to look at."""
        shown = (number(self.seen), number(self.estimate.value), between(self.estimate))
        return tuple(text.translate(_MINUS) for text in shown)  # type: ignore[return-value]

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "kind": self.kind,
            "condition": self.condition,
            "passed": self.passed,
            "seen": plain(self.seen),
            "limit": self.limit,
            "segment": self.segment,
            "reason": self.reason,
            "estimate": self.estimate.to_dict(),
        }

    def to_row(self) -> dict[str, Any]:
        """Return a flat dictionary, for a data frame."""
        found = self.estimate
        told = {name: getattr(self, name) for name in ("condition", "passed", "seen", "limit", "segment", "reason")}
        return {**told, "value": found.value, "low": found.low, "high": found.high}
