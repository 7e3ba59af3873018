"""Members of some evaluations only: declared for all, so that editors complete them; others say why not."""

from collections.abc import Sequence
from typing import ClassVar

from stakes.errors import InputError
from stakes.metrics import Estimate
from stakes.tallies import ClassScores, Confusion, ErrorSums, JointCounts, ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.error_sums import LargeError

_KINDS = {
    "binary": "two classes",
    "multiclass": "more than two classes",
    "regression": "predicted numbers",
    "labels": "several labels per row",
    "outputs": "several outputs",
    "quantiles": "predicted quantiles",
}


class NotOfThisTaskError(InputError, AttributeError):
    """An evaluation of this task has no such thing."""


class Members:
    """The members of single tasks."""

    task: ClassVar[str]

    def _not_mine(self, name: str, of: str) -> NotOfThisTaskError:
        return NotOfThisTaskError(
            "not-of-this-task", f"ev.{name} is for {of}, and this is an evaluation of ", self._kind
        )

    @property
    def _kind(self) -> str:
        """What this is an evaluation of, in words."""
        return _KINDS[self.task]

    # ── of classes ───────────────────────────────────────────────────────────────────────────────────────────
    @property
    def confusion(self) -> Confusion | None:
        """The decisions against the truth, if there are any."""
        raise self._not_mine("confusion", "decisions between classes")

    @property
    def scores(self) -> ScoreTable | ClassScores | None:
        """The scores, if there are any."""
        raise self._not_mine("scores", "scores of classes")

    # ── of two classes ───────────────────────────────────────────────────────────────────────────────────────
    @property
    def positive(self) -> str | None:
        """The positive class; None for decisions between two classes, if neither is obviously positive."""
        raise self._not_mine("positive", "two classes")

    @property
    def negative(self) -> str:
        """The negative class."""
        raise self._not_mine("negative", "two classes")

    @property
    def prevalence(self) -> float:
        """The share of positive rows."""
        raise self._not_mine("prevalence", "two classes")

    @property
    def threshold(self) -> float | None:
        """A case is decided positive from this score on."""
        raise self._not_mine("threshold", "two classes")

    def decide_rows(self, scores: Array) -> Array:
        """Return the decision for each score, by its number."""
        raise self._not_mine("decide_rows()", "two classes")

    # ── of more classes ──────────────────────────────────────────────────────────────────────────────────────
    @property
    def classes(self) -> tuple[str, ...]:
        """The classes."""
        raise self._not_mine("classes", "more than two classes")

    @property
    def support(self) -> dict[str, float]:
        """How many rows each class has."""
        raise self._not_mine("support", "more than two classes")

    @property
    def class_figures(self) -> dict[str, dict[str, Estimate]]:
        """The figures of each class against the rest."""
        raise self._not_mine("class_figures", "more than two classes")

    @property
    def joint(self) -> JointCounts | None:
        """The combinations of truth and decision that occur, of very many classes."""
        raise self._not_mine("joint", "more than two classes")

    def most_confused(self, most: int = 10) -> list[tuple[str, str, float, float]]:
        """Return the pairs of classes that are most often confused."""
        raise self._not_mine("most_confused()", "more than two classes")

    # ── of numbers ───────────────────────────────────────────────────────────────────────────────────────────
    @property
    def errors(self) -> ErrorSums:
        """The sums of truth, prediction and error."""
        raise self._not_mine("errors", "predicted numbers")

    def lorenz(self) -> tuple[Array, Array]:
        """Return the Lorenz curve of predicted counts or amounts."""
        raise self._not_mine("lorenz()", "predicted numbers")

    @property
    def largest_errors(self) -> Sequence[LargeError]:
        """The rows with the largest errors."""
        raise self._not_mine("largest_errors", "predicted numbers")
