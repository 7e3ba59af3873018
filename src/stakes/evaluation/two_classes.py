"""Two classes: decisions, scores under a threshold, and curves over all thresholds."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from stakes import errors, metrics
from stakes.decisions.curves import Curve, curve
from stakes.engines import Counted
from stakes.evaluation.base import Evaluation
from stakes.metrics import Metric
from stakes.metrics.estimate import plain
from stakes.tallies import Confusion, ScoreTable, Tally
from stakes.tallies.arithmetic import is_real
from stakes.uncertainty.sampling import USUAL, Sampling
from stakes.views import page

_DEFAULT_THRESHOLD = 0.5
_FLIPS = 0.5
"""How far f1 may change with the names of the classes before it is pointed out."""


def check_threshold(threshold: Any) -> None:
    """Refuse what is no threshold."""
    if not is_real(threshold) or threshold != threshold:
        raise errors.bad_threshold(threshold)


class TwoClassEvaluation(Evaluation):
    """The evaluation of a model that tells two classes apart."""

    task = "binary"

    @classmethod
    def _judges(cls, counted: Counted) -> bool:
        confusion = counted.confusion
        return "scores" in counted.tallies or (confusion is not None and len(confusion.truths) == 2)

    def __init__(
        self,
        counted: Counted,
        threshold: float | None = None,
        probabilities: bool | None = None,
        sampling: Sampling = USUAL,
    ) -> None:
        super().__init__(counted, probabilities, sampling)
        self.scores: ScoreTable | None = counted.scores
        self.threshold = threshold
        if threshold is None and counted.confusion is None and self.probabilities:
            self.threshold = _DEFAULT_THRESHOLD

    def at(self, threshold: float) -> Evaluation:
        """Return the evaluation of the same scores under another threshold; nothing is counted again."""
        if self.scores is None:
            raise errors.threshold_without_score()
        check_threshold(threshold)
        parts = {name: _scores_alone(part) for name, part in self.counted.segments.items()}
        return TwoClassEvaluation(_scores_alone(self.counted, parts), threshold, sampling=self.sampling)

    def _segment(self, counted: Counted) -> Evaluation:
        return TwoClassEvaluation(counted, self.threshold, self.probabilities, self.sampling)

    # ── the tallies ──────────────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def confusion(self) -> Confusion | None:
        """The decisions against the truth; None for scores that still need a threshold."""
        if self.counted.confusion is not None:
            return self.counted.confusion
        if self.scores is None or self.threshold is None:
            return None
        return self.scores.at(self.threshold)

    @property
    def _any(self) -> Any:
        return self.scores if self.scores is not None else self.counted.confusion

    @property
    def positive(self) -> str:
        """The positive class."""
        return self.scores.positive if self.scores is not None else self._any.truths[1]

    @property
    def negative(self) -> str:
        """The negative class."""
        return self.scores.negative if self.scores is not None else self._any.truths[0]

    @property
    def prevalence(self) -> float:
        """The share of positive rows."""
        positives = self.scores.P if self.scores is not None else self._any.truth_totals[1]
        return float(positives / self._any.total)

    # ── figures ──────────────────────────────────────────────────────────────────────────────────────────────
    def _wanted(self) -> Iterable[tuple[Tally, list[Metric]]]:
        for tally in (self.confusion, self.scores):
            if tally is not None:
                yield tally, [metric for metric in metrics.list() if metric.tally is type(tally)]

    def _tally(self, metric: Metric) -> Any:
        return {Confusion: self.confusion, ScoreTable: self.scores}.get(metric.tally)

    def _sampling(self, tally: Any) -> Sampling:
        clusters = self.counted.clusters
        if clusters is not None and isinstance(tally, Confusion) and self.counted.confusion is None:
            clusters = clusters.decided_at(self.threshold)  # type: ignore[arg-type]
        return replace(self.sampling, clusters=clusters)

    def _why_no(self, metric: Metric) -> str:
        if metric.tally is ScoreTable:
            return "no scores were given; pass score="
        if metric.tally is Confusion:
            return "the scores are no probabilities, so there are no decisions yet; pass threshold="
        return super()._why_no(metric)

    def curve(self, kind: str) -> Curve:
        """Return the "roc" or the "pr" curve, with a band around it."""
        if self.scores is None:
            raise errors.no_curve(kind, "no scores were given; pass score=")
        return curve(self.scores, kind, self._sampling(self.scores))

    def _sizes(self) -> Mapping[str, Any]:
        if self.scores is not None:
            return dict(zip((self.positive, self.negative), self.scores.effective_rows, strict=True))
        return self._any.effective_truths

    # ── as data, and to look at ──────────────────────────────────────────────────────────────────────────────
    def _facts_as_data(self) -> dict[str, Any]:
        return {
            "positive": self.positive,
            "negative": self.negative,
            "prevalence": self.prevalence,
            "threshold": plain(self.threshold),
            "confusion": None if self.confusion is None else self.confusion.to_dict(),
        }

    def _facts(self) -> dict[str, str]:
        decided = "given" if self.counted.confusion is not None else f"positive when score ≥ {self.threshold}"
        if self.confusion is None:
            decided = "none: the scores are no probabilities; pass threshold="
        return {
            "positive": f"{self.positive} ({self.prevalence:.1%}), against {self.negative}",
            "decisions": decided,
        }

    def _before(self) -> list[page.Grid]:
        return [] if self.confusion is None else [page.confusion_grid(self.confusion)]

    @property
    def notes(self) -> list[str]:
        """What a careful colleague would point out."""
        notes = []
        if self.confusion is not None and self.confusion.positive is not None:
            here, there = self["f1"].value, metrics.find("f1").of(self.confusion.swapped())
            if abs(here - there) >= _FLIPS:
                notes.append(
                    f"f1 is {here:.4f} with {self.positive!r} as the positive class, "
                    f"but {there:.4f} with {self.negative!r}: say which one you mean"
                )
        if self.scores is not None and self.scores.grid is not None:
            low, high = metrics.auc_bounds(self.scores)
            notes.append(f"scores were counted in bins: the auc lies between {low:.6f} and {high:.6f}")
        return [*notes, *super().notes]

    def __repr__(self) -> str:
        return f"<Evaluation of {self.positive!r} against {self.negative!r}, rows: {self.rows:,}>"


def _scores_alone(counted: Counted, segments: dict[str, Counted] | None = None) -> Counted:
    return Counted(counted.task, {"scores": counted.scores}, segments or {}, clusters=counted.clusters)
