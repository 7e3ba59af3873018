"""A figure with what is needed to read it."""

import math
from collections.abc import Mapping, Sequence
from typing import SupportsFloat

from stakes.frozen import dataclass
from stakes.records import Record
from stakes.text import visible


@dataclass(frozen=True)
class Estimate(Record, shown="name value baseline low high reason confidence method no_interval note prior? bounds?"):
    """A figure, its interval, what ignoring the input would score, and, where undefined, the reason.

    ``low`` and ``high`` are the ends of the interval, ``method`` is how it was made, ``note`` what to keep in mind;
    ``no_interval`` says why there is none. ``prior`` are the class frequencies of the figure, the positive class first,
    if they are not those of the rows. ``bounds`` is the range that merged bins of scores leave open.
    """

    name: str
    value: float
    baseline: float = math.nan
    low: float | None = None
    high: float | None = None
    reason: str = ""
    confidence: float = 0.95
    method: str = ""
    no_interval: str = ""
    note: str = ""
    prior: Mapping[str, float] | None = None
    bounds: Sequence[float] | None = None

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def __lt__(self, other: SupportsFloat) -> bool:
        return self.value < float(other)

    def __le__(self, other: SupportsFloat) -> bool:
        return self.value <= float(other)

    def __gt__(self, other: SupportsFloat) -> bool:
        return self.value > float(other)

    def __ge__(self, other: SupportsFloat) -> bool:
        return self.value >= float(other)

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)

    def __str__(self) -> str:
        if not self.defined:
            return visible(f"{self.name}{self._where} is undefined: {self.reason}")
        sure = (
            f", {percent(self.confidence)} interval {self.low:.6g} to {self.high:.6g}" if self.low is not None else ""
        )
        why = f"; no interval: {self.no_interval}" if self.low is None and self.no_interval else ""
        other = "" if math.isnan(self.baseline) else f" (ignoring the input: {self.baseline:.6g})"
        known = "; the bins leave it open between {:.6g} and {:.6g}".format(*self.bounds) if self.bounds else ""
        return visible(f"{self.name}{self._where} {self.value:.6g}{sure}{other}{why}{known}")

    @property
    def _where(self) -> str:
        """At which class frequencies, if not those of the rows."""
        if self.prior is not None and len(self.prior) == 2:
            return f" at prevalence {percent(next(iter(self.prior.values())))}"
        return " at the given class frequencies" if self.prior else ""


def percent(share: float) -> str:
    """Write 0.95 as 95 %."""
    return f"{100 * share:.6g} %"
