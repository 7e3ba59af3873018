"""Plots by scikit-learn's names, with bands that say how sure a curve is; drawn by matplotlib."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Literal, Self

import numpy as np

from stakes.decisions.calibration.calibration import Calibration
from stakes.decisions.curves.curve import Band, Curve
from stakes.errors import Given, InputError
from stakes.evaluation import evaluate
from stakes.evaluation.base import Evaluation
from stakes.question.options import Value
from stakes.sklearn.decisions import check_value, confusion_matrix
from stakes.sklearn.ranking import (
    average_precision_score,
    det_curve,
    positives,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)
from stakes.sklearn.targets import flat, numbers, read_decisions, same_length
from stakes.tallies.arithmetic import Array, Values
from stakes.validation.features import Estimator
from stakes.views.plots import plot
from stakes.views.plots.curves import of_curve
from stakes.views.plots.style import Display

Look = Mapping[str, Value]
"""Properties of artists, by matplotlib's names."""


class EvaluationDisplay:
    """What was drawn: ``ax_``, ``figure_`` and ``artists_`` by name, and the :class:`stakes.Evaluation`."""

    kind: str
    name: str | None = None

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation

    def plot(self, ax: Value = None, *, name: str | None = None, **look: Value) -> Self:
        """Draw into ``ax``, or into a new figure; ``look`` are matplotlib's words for the line."""
        display = self._draw(ax, name or self.name or "")
        self.ax_, self.figure_, self.artists_ = display.ax_, display.figure_, display.artists
        self._change(("line",), look)
        return self

    def _draw(self, ax: Value, name: str) -> Display:
        return plot(self.evaluation, self.kind, ax)

    def _change(self, artists: tuple[str, ...], look: Look | None) -> None:
        """Change how some of the artists look."""
        for artist in (self.artists_[one] for one in artists if one in self.artists_):
            for one in artist if isinstance(artist, list) else [artist]:
                one.set(**(look or {}))


class ScoreDisplay(EvaluationDisplay):
    """A curve of scores of two classes.

    What ignoring the input gives is always drawn, and spines at the top and to the right never are, so that
    ``plot_chance_level`` and ``despine`` change nothing.
    """

    def __init__(self, evaluation: Evaluation, name: str | None = None) -> None:
        super().__init__(evaluation)
        self.name = name

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
        curve_kwargs: Look | None = None,
        plot_chance_level: bool = False,
        chance_level_kw: Look | None = None,
        despine: bool = False,
        **options: Value,
    ) -> Self:
        """Draw the curve of scores, with its band; ``curve_kwargs`` are matplotlib's words for the line."""
        positive, score = positives(y_true, pos_label), numbers("y_score", y_score)
        same_length(y_true=positive, y_score=score, sample_weight=sample_weight)
        label = 1 if pos_label is None else pos_label
        made = cls(evaluate(truth=flat("y_true", y_true), score=score, positive=label, weight=sample_weight), name)
        own: Look = {one: options.pop(one) for one in ("drop_intermediate", "n_bins", "strategy") if one in options}
        made._note(positive, score, sample_weight, own)
        made.plot(ax, **{**options, **(curve_kwargs or {})})
        made._change(("references", "chance"), chance_level_kw)
        return made

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: Values,
        y: Values,
        *,
        pos_label: object = None,
        name: str | None = None,
        response_method: Literal["auto", "predict_proba", "decision_function"] = "auto",
        **options: Value,
    ) -> Self:
        """Draw the curve of a fitted classifier's scores."""
        check_value("response_method", response_method, ("auto", "predict_proba", "decision_function"))
        classes = estimator.classes_.tolist()
        if len(classes) != 2:
            raise InputError("curve-of-many", f"the classifier has {len(classes)} classes, and the curve is of two")
        label = classes[1] if pos_label is None else pos_label
        if label not in classes:
            raise InputError("no-class-to-draw", Given("pos_label", label), f" is no class; give one of {classes}")
        if response_method == "predict_proba" or (response_method == "auto" and hasattr(estimator, "predict_proba")):
            score = estimator.predict_proba(X)[:, classes.index(label)]
        else:
            score = estimator.decision_function(X) * (1 if label == classes[1] else -1)
        return cls.from_predictions(y, score, pos_label=label, name=name or type(estimator).__name__, **options)

    def _draw(self, ax: Value, name: str) -> Display:
        return plot(self.evaluation, self.kind, ax, name=name)

    def _note(self, truth: Array, score: Array, weight: Values, asked: Look) -> None:
        """Keep the figures of the curve, by scikit-learn's names."""
        raise NotImplementedError


class RocCurveDisplay(ScoreDisplay):
    """The ROC curve with its band; ``roc_auc`` has an interval."""

    kind = "roc"

    def _note(self, truth: Array, score: Array, weight: Values, asked: Look) -> None:
        self.fpr, self.tpr, _ = roc_curve(truth, score, sample_weight=weight, **asked)
        self.roc_auc = roc_auc_score(truth, score, sample_weight=weight)


class PrecisionRecallDisplay(ScoreDisplay):
    """The precision-recall curve with its band; ``average_precision`` has an interval."""

    kind = "pr"

    def _note(self, truth: Array, score: Array, weight: Values, asked: Look) -> None:
        self.precision, self.recall, _ = precision_recall_curve(truth, score, sample_weight=weight, **asked)
        self.average_precision = average_precision_score(truth, score, sample_weight=weight)


_TICKS = np.array([0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999])


class DetCurveDisplay(ScoreDisplay):
    """Misses against false alarms, both on the scale of a normal law, with the band of the ROC curve."""

    kind = "det"

    def _note(self, truth: Array, score: Array, weight: Values, asked: Look) -> None:
        asked = {"drop_intermediate": True, **asked}
        self.fpr, self.fnr, at = det_curve(truth, score, sample_weight=weight, **asked)
        inside = (self.fpr > 0) & (self.fpr < 1) & (self.fnr > 0) & (self.fnr < 1)
        x, y = (_deviate(one[inside]) for one in (self.fpr, self.fnr))
        roc = self.evaluation.curve("roc")
        band = partial(_band_of_misses, roc)
        self.curve = Curve(self.kind, roc.x_name, "false_negative_rate", x, y, at[inside], band)

    def _draw(self, ax: Value, name: str) -> Display:
        display = of_curve(self.curve, self.kind, ax, name=name)
        for axis in (display.ax_.xaxis, display.ax_.yaxis):
            axis.set_ticks(_deviate(_TICKS), [f"{tick:.3g}" for tick in _TICKS])
        display.ax_.set(xlim=(-3, 3), ylim=(-3, 3), aspect="equal")
        return display


def _deviate(share: Array) -> Array:
    """The number below which a standard normal law has this share; those of 0 and 1 lie just off the plot."""
    from scipy.special import ndtri

    return np.asarray(np.clip(ndtri(share), -4.0, 4.0))


def _band_of_misses(roc: Curve) -> Band:
    band = roc.band
    return replace(band, x=_deviate(band.x), low=_deviate(1 - band.high), high=_deviate(1 - band.low))


class CalibrationDisplay(ScoreDisplay):
    """How often events happened among cases with a given probability, in bins with intervals.

    ``prob_true`` and ``prob_pred`` are of ``n_bins`` bins of equal width (``strategy="uniform"``), or of equally many
    rows ("quantile"). The rising curve needs no bins; the band says where it would run if probabilities were right.
    """

    kind = "reliability"

    def _note(self, truth: Array, score: Array, weight: Values, asked: Look) -> None:
        how = asked.get("strategy", "uniform")
        check_value("strategy", how, ("uniform", "quantile"))
        self.y_prob = score
        self._bins: Look = {"bins": asked.get("n_bins", 5), "by": "width" if how == "uniform" else "mass"}
        calibration = self.evaluation.calibration
        assert isinstance(calibration, Calibration)
        bins = calibration.reliability(**self._bins).bins
        self.prob_true, self.prob_pred = bins.frequency, bins.mean_probability

    def _draw(self, ax: Value, name: str) -> Display:
        display = plot(self.evaluation, self.kind, ax, **self._bins)
        if name:
            display.ax_.set_title(name, loc="left")
        return display


class ConfusionMatrixDisplay(EvaluationDisplay):
    """The table of truth and decisions: the share of each true class with its interval, and the count.

    ``confusion_matrix`` are the counts, or what ``normalize`` makes of them, which is then drawn instead.
    """

    kind = "confusion"
    confusion_matrix: Array
    display_labels: Array

    @classmethod
    def from_predictions(
        cls,
        y_true: Values,
        y_pred: Values,
        *,
        labels: Values = None,
        sample_weight: Values = None,
        normalize: Literal["true", "pred", "all"] | None = None,
        display_labels: Values = None,
        include_values: bool = True,
        xticks_rotation: str | float = "horizontal",
        values_format: str | None = None,
        cmap: Value = None,
        ax: Value = None,
        colorbar: bool = False,
        im_kw: Look | None = None,
        text_kw: Look | None = None,
    ) -> Self:
        """Draw the table of decisions."""
        truth, decided = flat("y_true", y_true), flat("y_pred", y_pred)
        same_length(y_true=truth, y_pred=decided, sample_weight=sample_weight)
        matrix = confusion_matrix(truth, decided, labels=labels, sample_weight=sample_weight, normalize=normalize)
        names = read_decisions(truth, decided).labels if labels is None else np.asarray(labels)
        held = np.isin(truth, names) & np.isin(decided, names)
        weight = None if sample_weight is None else np.asarray(sample_weight)[held]
        asked = {"weight": weight, "classes": names.tolist(), "task": "classification"}
        positive = {"positive": names[1]} if len(names) == 2 else {}
        made = cls(evaluate(truth=truth[held], prediction=decided[held], **asked, **positive))
        made.confusion_matrix = matrix
        made.display_labels = names if display_labels is None else np.asarray(display_labels)
        made.plot(ax)
        made._fill(matrix, values_format, normalize not in (None, "true"))
        made._label(display_labels, xticks_rotation)
        made._change(("texts",), {**(text_kw or {}), "visible": include_values})
        made._change(("image",), {**({} if cmap is None else {"cmap": cmap}), **(im_kw or {})})
        if colorbar:
            made.figure_.colorbar(made.artists_["image"], ax=made.ax_)
        return made

    @classmethod
    def from_estimator(cls, estimator: Estimator, X: Values, y: Values, **options: Value) -> Self:
        """Draw the table of what a fitted classifier decides."""
        return cls.from_predictions(y, estimator.predict(X), **options)

    def _fill(self, matrix: Array, form: str | None, other: bool) -> None:
        """Write the numbers that were asked for into the cells, where they are not those that are drawn."""
        if other:
            self.artists_["image"].set_data(matrix)
            self.ax_.set_title("", loc="left")
        if other or form:
            for text in self.artists_["texts"]:
                column, row = map(int, text.get_position())
                text.set_text(format(matrix[row, column], form or ".2g"))

    def _label(self, names: Values, rotation: str | float) -> None:
        if names is not None:
            for axis in (self.ax_.xaxis, self.ax_.yaxis):
                axis.set_ticks(range(len(names)), [str(name) for name in names])
        if rotation != "horizontal":
            self.ax_.tick_params(axis="x", labelrotation=90 if rotation == "vertical" else rotation)


_ERRORS = {"residual_vs_predicted": "residuals", "actual_vs_predicted": "predicted"}


class PredictionErrorDisplay(EvaluationDisplay):
    """Residuals against predictions with mean errors and their intervals, or predictions against the truth.

    All rows are drawn: very many as a picture of how densely they lie.
    """

    y_true: Array
    y_pred: Array

    @classmethod
    def from_predictions(
        cls,
        y_true: Values,
        y_pred: Values,
        *,
        kind: str = "residual_vs_predicted",
        ax: Value = None,
        scatter_kwargs: Look | None = None,
        line_kwargs: Look | None = None,
    ) -> Self:
        """Draw predicted numbers; the ``kwargs`` are matplotlib's words for points and for the line of no error."""
        if kind not in _ERRORS:
            raise InputError("kind-of-display", f"{kind!r} is no kind of this display; give one of {list(_ERRORS)}")
        truth, prediction = numbers("y_true", y_true), numbers("y_pred", y_pred)
        made = cls(evaluate(truth=truth, prediction=prediction, task="regression"))
        made.y_true, made.y_pred, made.kind = truth, prediction, _ERRORS[kind]
        made.plot(ax)
        made._change(("points",), scatter_kwargs)
        made._change(("zero", "equal"), line_kwargs)
        return made

    @classmethod
    def from_estimator(cls, estimator: Estimator, X: Values, y: Values, **options: Value) -> Self:
        """Draw what a fitted model predicts."""
        return cls.from_predictions(y, estimator.predict(X), **options)
