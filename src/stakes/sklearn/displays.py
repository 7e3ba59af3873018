"""Plots by scikit-learn's names, with bands that say how sure a curve is; drawn by matplotlib."""

from typing import Self

from stakes.errors import InputError
from stakes.evaluation import evaluate
from stakes.evaluation.base import Evaluation
from stakes.question.options import Value
from stakes.sklearn.ranking import average_precision_score, positives, precision_recall_curve, roc_auc_score, roc_curve
from stakes.sklearn.targets import flat, numbers
from stakes.tallies.arithmetic import Values
from stakes.validation.features import Estimator
from stakes.views.plots import plot


class EvaluationDisplay:
    """What was drawn: ``ax_`` and ``figure_``, and the :class:`stakes.Evaluation` that was."""

    kind: str

    def __init__(self, evaluation: Evaluation, name: str | None = None) -> None:
        self.evaluation = evaluation
        self.name = name

    def plot(self, ax: Value = None, *, name: str | None = None) -> Self:
        """Draw into ``ax``, or into a new figure."""
        drawn = plot(self.evaluation, self.kind, ax)
        self.ax_, self.figure_ = drawn.ax_, drawn.figure_
        title = name or self.name
        if title:
            self.ax_.set_title(title)
        return self


class ScoreDisplay(EvaluationDisplay):
    """A curve of scores of two classes."""

    @classmethod
    def from_predictions(
        cls,
        y_true: Values,
        y_score: Values,
        *,
        sample_weight: Values = None,
        pos_label: object = None,
        name: str | None = None,
        ax: Value = None,
    ) -> Self:
        """Draw the curve of scores, with its band."""
        truth, score = positives(y_true, pos_label), numbers("y_score", y_score)
        made = cls(evaluate(truth=truth, score=score, weight=sample_weight), name)
        made._note(truth, score, sample_weight)
        return made.plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: Values,
        y: Values,
        *,
        sample_weight: Values = None,
        pos_label: object = None,
        name: str | None = None,
        ax: Value = None,
    ) -> Self:
        """Draw the curve of what a fitted classifier says."""
        classes = estimator.classes_.tolist()
        if len(classes) != 2:
            raise InputError("curve-of-many", f"the classifier has {len(classes)} classes, and the curve is of two")
        label = classes[1] if pos_label is None else pos_label
        if hasattr(estimator, "predict_proba"):
            score = estimator.predict_proba(X)[:, classes.index(label)]
        else:
            score = estimator.decision_function(X) * (1 if label == classes[1] else -1)
        called = name or type(estimator).__name__
        return cls.from_predictions(y, score, sample_weight=sample_weight, pos_label=label, name=called, ax=ax)

    def _note(self, truth: Values, score: Values, weight: Values) -> None:
        """Keep the figures of the curve, by scikit-learn's names."""


class RocCurveDisplay(ScoreDisplay):
    """The ROC curve with its band; ``roc_auc`` has an interval."""

    kind = "roc"

    def _note(self, truth: Values, score: Values, weight: Values) -> None:
        self.fpr, self.tpr, _ = roc_curve(truth, score, sample_weight=weight)
        self.roc_auc = roc_auc_score(truth, score, sample_weight=weight)


class PrecisionRecallDisplay(ScoreDisplay):
    """The precision-recall curve with its band; ``average_precision`` has an interval."""

    kind = "pr"

    def _note(self, truth: Values, score: Values, weight: Values) -> None:
        self.precision, self.recall, _ = precision_recall_curve(truth, score, sample_weight=weight)
        self.average_precision = average_precision_score(truth, score, sample_weight=weight)


class ConfusionMatrixDisplay(EvaluationDisplay):
    """The table of truth and decisions."""

    kind = "confusion"

    @classmethod
    def from_predictions(
        cls, y_true: Values, y_pred: Values, *, sample_weight: Values = None, labels: Values = None, ax: Value = None
    ) -> Self:
        """Draw the table of decisions."""
        asked = {"weight": sample_weight, "classes": labels, "task": "classification"}
        return cls(evaluate(truth=flat("y_true", y_true), prediction=flat("y_pred", y_pred), **asked)).plot(ax)


class PredictionErrorDisplay(EvaluationDisplay):
    """Residuals against predictions, or the truth against them (``kind="actual_vs_predicted"``)."""

    @classmethod
    def from_predictions(
        cls, y_true: Values, y_pred: Values, *, kind: str = "residual_vs_predicted", ax: Value = None
    ) -> Self:
        """Draw predicted numbers."""
        known = {"residual_vs_predicted": "residuals", "actual_vs_predicted": "predicted"}
        if kind not in known:
            raise InputError("kind-of-display", f"{kind!r} is no kind of this display; give one of {list(known)}")
        truth, said = numbers("y_true", y_true), numbers("y_pred", y_pred)
        made = cls(evaluate(truth=truth, prediction=said, task="regression"))
        made.kind = known[kind]
        return made.plot(ax)
