"""The outcome of one condition of a gate."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from stakes.engines.plan import Counted
from stakes.language.numbers import write
from stakes.metrics import Estimate
from stakes.metrics.estimate import percent
from stakes.records import Finite, Record
from stakes.text import visible


@dataclass(frozen=True)
class Check(Record, shown="kind condition passed seen limit segment reason estimate"):
    """One condition, and whether it is met.

    ``seen`` is the number that was compared with ``limit``: a figure, an end of its interval, or the bad end of the
    interval of a difference. ``estimate`` is where it comes from. ``reason`` says why there is no such number, or that
    the bins of a tally leave open whether the condition is met, which then fails. ``segment`` is the segment in which
    it was seen, if the condition is about all of them.
    """

    kind: Literal["require", "no_worse", "dropped"]
    condition: str
    passed: bool
    seen: float | None
    limit: Finite
    estimate: Estimate
    reason: str = ""
    segment: str | None = None

    @property
    def words(self) -> str:
        """What was seen, in one sentence."""
        where = "" if self.segment is None else f" in segment {self.segment}"
        if self.seen is None:
            return visible(f"{self.verdict}{where}: {self.reason}")
        seen, value, low, high = map(write, (self.seen, self.estimate.value, self.estimate.low, self.estimate.high))
        sure = "" if self.estimate.low is None else f", interval {low} – {high}"
        more = "".join(f"; {note}" for note in (self.reason, self.estimate.note) if note)
        return visible(f"{self.verdict}{where}: saw {seen} ({self.estimate.name} {value}{sure}){more}")

    @property
    def verdict(self) -> str:
        """The outcome in one word."""
        return "passed" if self.passed else "failed"

    def to_row(self) -> dict[str, object]:
        """Return a flat dictionary, for a data frame."""
        found = self.estimate
        own = {name: getattr(self, name) for name in ("condition", "passed", "seen", "limit", "segment", "reason")}
        return {**own, "value": found.value, "low": found.low, "high": found.high}


def check_dropped(counted: Counted, allowed: float, whose: str = "") -> Iterator[Check]:
    """Yield whether few enough rows were left out: of all rows, and of the segment that lost most."""
    if counted.dropped:
        yield _left_out(counted.dropped, counted.rows_read, allowed, whose, share=counted.dropped_share)
    lost = {name: (dropped, read) for name, (dropped, read) in counted.dropped_in.items() if dropped}
    if lost:
        worst = max(lost, key=lambda name: (lost[name][0] / lost[name][1], lost[name][0], name))
        yield _left_out(*lost[worst], allowed, f"{whose} in the segment that lost most", worst)


def _left_out(
    dropped: int, read: int, allowed: float, whose: str, segment: str | None = None, share: float = 0
) -> Check:
    weighed = f", {100 * share:.3g} % of the weight" if share > dropped / read else ""
    share = max(share, dropped / read)
    text = f"rows left out{whose} <= {percent(allowed)} ({dropped:,} of {read:,}{weighed})"
    return Check("dropped", text, share <= allowed, share, allowed, Estimate("share left out", share), segment=segment)
