"""An interval, or in words why there is none."""

from dataclasses import dataclass, replace

from stakes.metrics.estimate import Estimate


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


def figure(name: str, value: float, baseline: float, limits: Interval, confidence: float, reason: str = "") -> Estimate:
    """Put a figure together with its interval; ``reason`` says why it is undefined, where it is."""
    words = (limits.method, limits.reason, limits.note)
    return Estimate(name, value, baseline, limits.low, limits.high, reason, confidence, *words)
