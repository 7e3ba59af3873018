"""Conditions on figures: ``auc.low >= 0.80``, ``f1[setosa] > 0.9``, ``recall.low >= 0.7 in every segment``."""

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from stakes import errors, metrics
from stakes.errors import InputError, Pass, short
from stakes.evaluation.base import Evaluation
from stakes.evaluation.gate.checks import Check
from stakes.evaluation.many_classes import ManyClassEvaluation
from stakes.metrics import Estimate, Metric

_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_FIGURE = r"(?P<name>\w+\s*(?:\([^()]*\))?)\s*(?:\[(?P<of>.+)\])?"
_CONDITION = re.compile(
    rf"\s*{_FIGURE}\s*(?:\.\s*(?P<end>value|low|high))?\s*(?P<sign>>=|<=|≥|≤|>|<)\s*(?P<limit>\S+)"
    r"(?P<every>\s+in\s+every\s+segment)?\s*"
)


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
        found = re.fullmatch(rf"\s*{_FIGURE}\s*", text)
        if found is None:
            raise InputError(
                "bad-figure",
                f"{short(repr(text))} names no figure; write auc, f_beta(beta=2), or f1[setosa] of a class",
            )
        return cls(found["name"].strip(), found["of"])

    def __str__(self) -> str:
        return self.name if self.of is None else f"{self.name}[{self.of}]"

    def in_(self, evaluation: Evaluation) -> Estimate:
        """Return the figure of an evaluation."""
        if self.of is None:
            return evaluation[self.name]
        if not isinstance(evaluation, ManyClassEvaluation):
            raise InputError(
                "class-of-few",
                f"{self!s}: [CLASS] is for more than two classes; choose the class of two with ",
                Pass("positive"),
            )
        return evaluation[self.name, self.of]


@dataclass(frozen=True)
class Requirement:
    """A figure, or an end of its interval, held against a number."""

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
        figure = Figure(found["name"].strip(), found["of"])
        limit, every = _number(text, found["limit"]), bool(found["every"])
        end = f".{found['end']}" if found["end"] else ""
        shown = f"{figure}{end} {sign} {found['limit']}{' in every segment' if every else ''}"
        return cls(shown, figure, found["end"] or "value", sign, limit, every)

    def warn_if_weak(self) -> None:
        """Warn if a worse figure meets the condition where a better one does not, if any does, or by mere luck."""
        metric, shown, upwards = self.figure.metric, short(repr(self.text)), self.sign in (">=", ">")
        worst = metric.range[0 if upwards else 1]
        if metric.better == ("lower" if upwards else "higher"):
            errors.warn(
                "wrong-way",
                f"{shown} points the wrong way: a {metric.better} {metric.name} is better, so it passes a worse model; "
                f"is {'<=' if upwards else '>='} meant?",
            )
        elif _SIGNS[self.sign](worst, self.limit):
            beyond = "below" if upwards else "above"
            errors.warn("always-met", f"{shown} is met by every model: {metric.name} is never {beyond} {worst:g}")
        elif self.end == ("high" if upwards else "low"):
            meant = "low" if upwards else "high"
            errors.warn(
                "better-end",
                f"{shown} is judged at the better end of the interval, so a model passes by chance; is .{meant} meant?",
            )

    def check(self, evaluation: Evaluation) -> Check:
        """Hold the figure against the number: of all rows, or of every segment, of which the worst is told."""
        if not self.every_segment:
            return self._check(self.figure.in_(evaluation))
        if not evaluation.segments:
            raise errors.no_segments()
        found = [self._check(self.figure.in_(part), name) for name, part in evaluation.segments.items()]
        return min(found, key=self._goodness)

    def _check(self, estimate: Estimate, segment: str | None = None) -> Check:
        seen, reason = getattr(estimate, self.end), ""
        if not estimate.defined:
            seen, reason = None, f"{estimate.name} is undefined: {estimate.reason}"
        elif seen is None:
            reason = f"there is no interval: {estimate.no_interval}"
        passed = seen is not None and _SIGNS[self.sign](seen, self.limit)
        return Check("require", self.text, passed, seen, self.limit, estimate, reason, segment)

    def _goodness(self, check: Check) -> float:
        """How far on the right side of the limit; what has no number is the worst."""
        if check.seen is None:
            return -math.inf
        return check.seen if self.sign in (">=", ">") else -check.seen


def _number(text: str, limit: str) -> float:
    try:
        value = float(limit)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise errors.bad_requirement(text)
    return value
