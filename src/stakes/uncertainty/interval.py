"""An interval, or in words why there is none."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Interval:
    """Two limits and how they were found; ``note`` is what to keep in mind, ``reason`` says why there are none."""

    low: float | None = None
    high: float | None = None
    method: str = ""
    note: str = ""
    reason: str = ""

    def around(self, value: float) -> "Interval":
        """Return limits between which the value itself lies: small samples can leave it outside by a hair."""
        if self.low is None or self.high is None:
            return self
        return replace(self, low=float(min(self.low, value)), high=float(max(self.high, value)))


def none(reason: str) -> Interval:
    """There is no interval, for this reason."""
    return Interval(reason=reason)
