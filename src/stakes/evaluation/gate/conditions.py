"""Conditions on figures: ``auc.low >= 0.80``, ``f1[setosa] > 0.9``, ``recall.low >= 0.7 in every segment``.

``gap(recall).high <= 0.1`` is about the largest gap between segments.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from stakes import errors, metrics
from stakes.errors import InputError, Pass, Text, short
from stakes.evaluation.base import Evaluation
from stakes.evaluation.gap import SPELLED, TOGETHER
from stakes.evaluation.gate.checks import Check
from stakes.metrics import Estimate, Metric
from stakes.metrics.declare import Better
from stakes.question.options import Value
from stakes.tallies.names import FIGURE, read_limit, written_of_class

_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_GAP = r"gap\s*\(\s*(?P<gap>[^()]*?(?:\([^()]*\))?[^()]*?)\s*(?:,\s*by\s*=\s*(?P<by>[^()]+?)\s*)?\)"
_CONDITION = re.compile(
    rf"\s*(?:{_GAP}|{FIGURE})\s*(?:\.\s*(?P<end>value|low|high))?\s*(?P<sign>>=|<=|≥|≤|>|<)\s*(?P<limit>\S+(?:\s*%)?)"
    r"(?P<every>\s+in\s+every\s+segment)?\s*"
)


class HasFigures(Protocol):
    """Anything with figures by name, and segments that have them, too."""

    @property
    def segments(self) -> Mapping[str, "HasFigures"]: ...  # noqa: D102

    def __getitem__(self, name: Value) -> Estimate: ...


@dataclass(frozen=True)
class Figure:
    """A figure by the text that names it; ``of`` is the class that it is about, one against the rest."""

    name: str
    of: str | None = None

    def __post_init__(self) -> None:
        self.metric  # noqa: B018  a name that nobody knows is refused before any row is read

    @property
    def metric(self) -> Metric:
        """The declared metric."""
        return metrics.find(self.name)

    @classmethod
    def parse(cls, text: str) -> "Figure":
        """Read ``auc``, ``f_beta(beta=2)`` or ``f1[setosa]``."""
        found = re.fullmatch(rf"\s*{FIGURE}\s*", text)
        if found is None:
            raise InputError(
                "bad-figure",
                f"{short(repr(text))} names no figure; write auc, f_beta(beta=2), or f1[setosa] of a class",
            )
        return cls(found["name"].strip(), found["of"])

    def __str__(self) -> str:
        return self.name if self.of is None else written_of_class(self.name, self.of)

    @property
    def better(self) -> Better:
        """Which values are better."""
        return self.metric.better

    @property
    def range(self) -> tuple[float, float]:
        """The ends between which it lies."""
        return self.metric.range

    def in_(self, evaluation: HasFigures) -> Estimate:
        """Return the figure of an evaluation."""
        return evaluation[self.name] if self.of is None else evaluation[self.name, self.of]


@dataclass(frozen=True)
class GapFigure(Figure):
    """The largest gap of a figure between segments, or between the values of one of the columns that make them."""

    by: str | None = None

    @property
    def metric(self) -> Metric:
        """The figure that is compared; of several, the first."""
        return metrics.find(TOGETHER.get(self.name, (self.name,))[0])

    @property
    def better(self) -> Better:
        """A smaller gap is better."""
        return "lower"

    @property
    def range(self) -> tuple[float, float]:
        """From no gap to the widest."""
        low, high = self.metric.range
        return 0.0, high - low

    def __str__(self) -> str:
        return f"gap({super().__str__()}{'' if self.by is None else f', by={self.by}'})"

    def in_(self, evaluation: HasFigures) -> Estimate:
        """Return the gap of an evaluation."""
        if not isinstance(evaluation, Evaluation):
            raise InputError("gap-of-evaluations", f"{self!s} needs the truth of every row")
        return evaluation.gap(self.name if self.of is None else (self.name, self.of), self.by).estimate


@dataclass(frozen=True)
class Requirement:
    """A figure, or an end of its interval, compared with a number."""

    text: str
    figure: Figure
    end: str
    sign: str
    limit: float
    every_segment: bool = False

    @classmethod
    def parse(cls, text: str) -> "Requirement":
        """Read a condition; the text is taken apart, never run."""
        found = _CONDITION.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            raise errors.bad_requirement(text)
        sign = {"≥": ">=", "≤": "<="}.get(found["sign"], found["sign"])
        figure = _figure(found)
        limit, every = read_limit(found["limit"]), bool(found["every"])
        if limit is None:
            raise errors.bad_requirement(text)
        end = f".{found['end']}" if found["end"] else ""
        shown = f"{figure}{end} {sign} {found['limit']}{' in every segment' if every else ''}"
        return cls(shown, figure, found["end"] or "value", sign, limit, every)

    def warn_if_weak(self) -> None:
        """Warn if a worse figure meets the condition where a better one does not, if every figure does, or by luck."""
        figure, shown, upwards = self.figure, short(repr(self.text)), self.sign in (">=", ">")
        name = str(figure) if isinstance(figure, GapFigure) else figure.metric.name
        worst = figure.range[0 if upwards else 1]
        if figure.better == ("lower" if upwards else "higher"):
            errors.warn(
                "wrong-way",
                f"{shown} points the wrong way: a {figure.better} {name} is better, so it passes a worse model; "
                f"is {'<=' if upwards else '>='} meant?",
            )
        elif _SIGNS[self.sign](worst, self.limit):
            beyond = "below" if upwards else "above"
            errors.warn("always-met", f"{shown} is met by every model: {name} is never {beyond} {worst:g}")
        elif self.end == ("high" if upwards else "low"):
            meant = "low" if upwards else "high"
            errors.warn(
                "better-end",
                f"{shown} is about the better end of the interval, so a model passes by chance; is .{meant} meant?",
            )

    def check(self, evaluation: HasFigures) -> Check:
        """Compare the figure of all rows with the number, or that of the worst segment."""
        if not self.every_segment:
            return self.compare(self.figure.in_(evaluation))
        if not evaluation.segments:
            raise errors.no_segments()
        found = [self.compare(self.figure.in_(part), name) for name, part in evaluation.segments.items()]
        return min(found, key=self._goodness)

    def compare(self, estimate: Estimate, segment: str | None = None) -> Check:
        """Compare one figure with the number."""
        seen, reason = getattr(estimate, self.end), ""
        if not estimate.defined:
            seen, reason = None, f"{estimate.name} is undefined: {estimate.reason}"
        elif seen is None:
            reason = f"there is no interval: {estimate.no_interval}"
        elif self.end == "value" and estimate.bounds is not None and len(set(map(self._holds, estimate.bounds))) > 1:
            low, high = estimate.bounds
            reason = Text(f"the bins leave it open: {low:.4f} to {high:.4f}; count the rows with ", Pass("exact", True))
        passed = seen is not None and not reason and self._holds(seen)
        return Check("require", self.text, passed, seen, self.limit, estimate, reason, segment)

    def _holds(self, seen: float) -> bool:
        """Whether a number is on the right side of the limit."""
        return _SIGNS[self.sign](seen, self.limit)

    def _goodness(self, check: Check) -> float:
        """How far on the right side of the limit; what has no number is the worst."""
        if check.seen is None:
            return -math.inf
        return check.seen if self.sign in (">=", ">") else -check.seen


def _figure(found: re.Match[str]) -> Figure:
    """The figure that a condition names."""
    if found["gap"] is None:
        return Figure(found["name"].strip(), found["of"])
    inner = re.fullmatch(rf"\s*{FIGURE}\s*", found["gap"])
    if inner is None:
        raise errors.bad_requirement(found[0])
    return GapFigure(SPELLED.get(inner["name"], inner["name"]).strip(), inner["of"], found["by"])
