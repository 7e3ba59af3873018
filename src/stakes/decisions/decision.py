"""A recommendation: which threshold, what it costs, what else could be done, and how sure that is."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from stakes.metrics import Estimate
from stakes.metrics.estimate import percent, plain
from stakes.tallies.costs import Costs

Range = tuple[float, float]

PER = 1000
"""Costs are told for so many cases."""


@dataclass(frozen=True, eq=False, repr=False)
class Decision:
    """The best thresholds of a score, what they are worth, and what speaks for and against them.

    ``thresholds`` stand between ``decisions``, from low scores to high ones. ``apparent`` is the figure on the rows
    that chose them, which flatters; ``corrected`` the figure on rows that did not. ``alternatives`` are other ways to
    decide, ``savings`` what the recommended one saves against each. ``alike`` are the ranges of thresholds that cannot
    be told from the best on these rows. ``cost_ratio`` says between which costs of a miss, counted in false alarms, the
    same threshold stays best; ``worth_of_labels`` what knowing all rates exactly could save per case, at most.
    """

    criterion: str
    decisions: tuple[str, ...]
    thresholds: tuple[float, ...]
    apparent: Estimate
    corrected: Estimate
    positive: str
    negative: str
    rows: float
    confidence: float
    alternatives: Mapping[str, Estimate] = field(default_factory=dict)
    savings: Mapping[str, Estimate] = field(default_factory=dict)
    alike: tuple[list[Range], ...] = ()
    costs: Costs | None = None
    bayes: tuple[float, ...] | None = None
    no_bayes: str = ""
    cost_ratio: Range | None = None
    worth_of_labels: float = math.nan
    condition: Estimate | None = None
    limit: tuple[str, float] | None = None

    @property
    def threshold(self) -> float:
        """The threshold, when there is one."""
        return self.thresholds[0] if len(self.thresholds) == 1 else math.nan

    @property
    def constant(self) -> str:
        """The cheapest way to decide the same for everybody."""
        always = {name: cost.value for name, cost in self.alternatives.items() if name.startswith("always ")}
        return min(always, key=always.__getitem__, default="")

    @property
    def enough_evidence(self) -> bool | None:
        """Whether the model surely costs less than deciding the same for everybody; None when costs were not asked."""
        if not self.constant:
            return None
        low = self.savings[self.constant].low
        return low is not None and low > 0

    @property
    def bayes_is_alike(self) -> bool:
        """Whether the Bayes thresholds are among those that cannot be told from the best."""
        return self.bayes is not None and all(
            any(low <= start <= high for low, high in ranges)
            for start, ranges in zip(self.bayes, self.alike, strict=True)
        )

    # ── as data ──────────────────────────────────────────────────────────────────────────────────────────────
    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON."""
        return {
            "stakes": "decision",
            "criterion": self.criterion,
            "positive": self.positive,
            "negative": self.negative,
            "rows": self.rows,
            "decisions": list(self.decisions),
            "thresholds": [plain(start) for start in self.thresholds],
            "apparent": self.apparent.to_dict(),
            "corrected": self.corrected.to_dict(),
            "condition": None if self.condition is None else self.condition.to_dict(),
            "alternatives": {name: cost.to_dict() for name, cost in self.alternatives.items()},
            "savings": {name: saving.to_dict() for name, saving in self.savings.items()},
            "alike": [[[plain(low), plain(high)] for low, high in ranges] for ranges in self.alike],
            "bayes": None if self.bayes is None else [plain(start) for start in self.bayes],
            "no_bayes": self.no_bayes,
            "cost_ratio": None if self.cost_ratio is None else [plain(ratio) for ratio in self.cost_ratio],
            "worth_of_labels": plain(self.worth_of_labels),
            "enough_evidence": self.enough_evidence,
            "costs": None if self.costs is None else self.costs.to_dict(),
        }

    def to_json(self, indent: int | None = 2) -> str:
        """Return :meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    # ── in words ─────────────────────────────────────────────────────────────────────────────────────────────
    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def __repr__(self) -> str:
        return f"<Decision: {self._rule()}>"

    def sentences(self) -> Iterator[str]:
        """Tell the recommendation in plain words."""
        yield f"Decide {self._rule()} ({self.criterion})."
        if self.costs is None:
            yield from self._about_figure()
        else:
            yield from self._about_costs()
        yield from self._about_alike()
        if self.costs is not None:
            yield from self._about_bayes()
            yield from self._about_ratio()
            yield (
                f"Knowing all rates exactly, from many more labels, could save at most {_per(self.worth_of_labels)} "
                f"per {PER:,} cases."
            )

    def _rule(self) -> str:
        if len(self.thresholds) == 1:
            start = self.thresholds[0]
            if math.isinf(start):
                return f"{self.decisions[0]!r} for every case"
            return f"{self.decisions[1]!r} when score ≥ {start:.6g}, otherwise {self.decisions[0]!r}"
        steps = [f"{name!r} from {start:.6g}" for name, start in zip(self.decisions[1:], self.thresholds, strict=True)]
        return f"{self.decisions[0]!r} for low scores, {', '.join(steps)}"

    def _about_costs(self) -> Iterator[str]:
        yield (
            f"That costs {_interval(self.corrected)} per {PER:,} cases. On the very rows that chose it, it is "
            f"{_per(self.apparent.value)}, which flatters it."
        )
        others = [f"{name} {_per(cost.value)}" for name, cost in self.alternatives.items() if "Bayes" not in name]
        yield f"Instead, per {PER:,} cases: {'; '.join(others)}."
        saving = self.savings[self.constant]
        if self.enough_evidence:
            yield f"Against {self.constant} it saves {_interval(saving)}: the model earns its keep."
        else:
            yield (
                f"Not enough evidence that the model costs less than {self.constant}: the saving is "
                f"{_interval(saving)} per {PER:,} cases."
            )

    def _about_figure(self) -> Iterator[str]:
        found = self.corrected
        yield (
            f"On rows that did not choose it {found.name} is {found.value:.4f}{_limits(found)}; on those that did, "
            f"{self.apparent.value:.4f}, which flatters it."
        )
        if self.condition is not None and self.limit is not None:
            sign, limit = self.limit
            kept = self.condition
            met = kept.value >= limit if sign == "≥" else kept.value <= limit
            yield (
                f"There {kept.name} is {kept.value:.4f}{_limits(kept)}"
                + ("." if met else f": the condition {kept.name} {sign} {limit:g} will not quite be kept.")
            )
        for name, other in self.alternatives.items():
            yield f"The {name} would give {other.value:.4f}."

    def _about_alike(self) -> Iterator[str]:
        for start, ranges, name in zip(self.thresholds, self.alike, self.decisions[1:], strict=True):
            if ranges and ranges != [(start, start)]:
                gaps = f", in {len(ranges)} pieces," if len(ranges) > 1 else ""
                which = "" if len(self.thresholds) == 1 else f" of {name!r}"
                yield (
                    f"Thresholds{which} between {ranges[0][0]:.6g} and {ranges[-1][1]:.6g}{gaps} cannot be told "
                    "from it on these rows."
                )

    def _about_bayes(self) -> Iterator[str]:
        if self.bayes is None:
            yield f"There is no Bayes threshold: {self.no_bayes}."
            return
        (name,) = [name for name in self.alternatives if "Bayes" in name]
        starts = ", ".join(f"{start:.6g}" for start in self.bayes)
        gap = self.savings[name]
        yield (
            f"If the probabilities were right, {starts} would be best; that costs "
            f"{_interval(self.alternatives[name])}. The difference is {_interval(gap)}: the price of miscalibration at "
            "these costs, and noise."
        )
        if self.bayes_is_alike:
            yield "It is among those that cannot be told apart, and was not chosen by looking at these rows: prefer it."

    def _about_ratio(self) -> Iterator[str]:
        if self.cost_ratio is not None:
            low, high = (f"{ratio:.4g}" if math.isfinite(ratio) else "any number of" for ratio in self.cost_ratio)
            yield f"The same threshold stays the best while a miss costs between {low} and {high} false alarms."


def _per(cost: float) -> str:
    return f"{PER * cost:,.4g}" if abs(PER * cost) < 1e4 else f"{PER * cost:,.0f}"


def _interval(cost: Estimate) -> str:
    if cost.low is None or cost.high is None:
        return f"{_per(cost.value)} ({cost.no_interval})"
    return f"{_per(cost.value)} ({percent(cost.confidence)} interval {_per(cost.low)} to {_per(cost.high)})"


def _limits(found: Estimate) -> str:
    if found.low is None or found.high is None:
        return ""
    return f" ({percent(found.confidence)} interval {found.low:.4f} to {found.high:.4f})"
