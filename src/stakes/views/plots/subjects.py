"""What plots ask of an evaluation; the classes of evaluations stand above the views, and each has a part of this."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stakes.decisions.curves.curve import Curve
    from stakes.engines.plan import Counted
    from stakes.metrics import Estimate
    from stakes.question.options import Value
    from stakes.tallies import Confusion, ErrorSums
    from stakes.uncertainty.sampling import Sampling


class Evaluation(Protocol):
    """Figures of some rows, and what they were made from."""

    task: str
    rows: float
    classes: Sequence[str]
    support: Mapping[str, float]
    positive: str
    prevalence: float
    threshold: float | None
    confusion: Confusion
    errors: ErrorSums
    counted: Counted
    sampling: Sampling
    segments: Mapping[str, Evaluation]
    calibration: Value

    def interval(self, name: Value) -> Estimate:
        """Return a figure with its interval."""

    def curve(self, kind: str, *of: Value, **options: Value) -> Curve:
        """Return a curve; of several classes, that of one against the rest."""

    def histograms(self, bins: int) -> Value:
        """Return how scores are spread; of several classes, for each of them."""
