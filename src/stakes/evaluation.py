"""evaluate(): rows in, an Evaluation out, which answers every question about them."""

import json
import math
import numbers
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from stakes import errors, metrics
from stakes.decisions.curves import Curve, curve
from stakes.engines import Counted, count_rows
from stakes.metrics import Estimate, Metric
from stakes.metrics.estimate import plain
from stakes.metrics.reasons import NO_PROBABILITIES
from stakes.tallies import Confusion, ScoreTable, Tally
from stakes.views import notebook, page, terminal

FORMAT = 1
"""The version of what to_dict() and to_json() give."""

_DEFAULT_THRESHOLD = 0.5
_FLIPS = 0.5
"""How far f1 may change with the names of the classes before it is pointed out."""


def evaluate(
    data: Any = None,
    *arrays: Any,
    truth: Any = None,
    score: Any = None,
    prediction: Any = None,
    task: str = "auto",
    positive: Any = None,
    classes: Any = None,
    weight: Any = None,
    by: Any = None,
    cluster: Any = None,
    costs: Any = None,
    prior: Any = None,
    threshold: float | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> "Evaluation":
    """Judge a two-class model by its scores, its decisions, or both.

    ``truth``, ``score``, ``prediction``, ``weight`` and ``by`` are arrays, or names of columns when ``data`` (a data
    frame, a dictionary of columns, or the name of a CSV or Parquet file) is given. A case is decided positive when
    score ≥ threshold; the threshold is 0.5 for probabilities, and must be given for other scores.

    >>> ev = evaluate(truth=[1, 1, 0, 1, 1, 0], score=[0.9, 0.4, 0.6, 0.8, 0.1, 0.2])
    >>> print(ev["auc"])
    auc 0.625 (ignoring the input: 0.5)
    """
    if arrays or truth is None:
        raise errors.positional_arrays()
    later = {"cluster": cluster, "costs": costs, "prior": prior}
    for name, value in {**later, "confidence": confidence != 0.95 or None, "seed": seed or None}.items():
        if value is not None:
            raise errors.not_yet(f"{name}=")
    if task not in ("auto", "binary"):
        raise errors.not_yet(f"task={task!r}")
    _check_threshold(threshold, score, prediction)
    options = {"positive": positive, "classes": classes, "weight": weight, "by": by}
    return Evaluation(count_rows(data, truth=truth, score=score, prediction=prediction, **options), threshold)


def count(data: Any = None, **columns: Any) -> Counted:
    """Count rows once and keep only the tallies: ``Evaluation(count(monday) + count(tuesday))``.

    Takes the arguments of :func:`evaluate` that say which rows, and of what classes.
    """
    return count_rows(data, **columns)


def _check_threshold(threshold: Any, score: Any, prediction: Any) -> None:
    if threshold is None:
        return
    if isinstance(threshold, bool) or not isinstance(threshold, numbers.Real) or threshold != threshold:
        raise errors.bad_threshold(threshold)
    if prediction is not None:
        raise errors.threshold_and_prediction()
    if score is None:
        raise errors.threshold_without_score()


class Evaluation:
    """What is known about a model on some rows; every figure comes with what ignoring the input would score.

    ``ev["auc"]`` is an :class:`~stakes.Estimate`; so is ``ev["f_beta(beta=0.5)"]``. ``ev.confusion`` and ``ev.scores``
    are the tallies behind the figures, ``ev.segments`` the evaluations of the segments.
    """

    def __init__(self, counted: Counted, threshold: float | None = None, probabilities: bool | None = None) -> None:
        """Evaluate what was counted.

        Whether scores are probabilities is told by the scores of all rows; a segment is told by the whole.
        """
        self.counted = counted
        self.scores: ScoreTable | None = counted.scores
        self.probabilities = self.scores is not None and self.scores.probabilities
        if probabilities is not None:
            self.probabilities = probabilities
        self.threshold = threshold
        if threshold is None and counted.confusion is None and self.probabilities:
            self.threshold = _DEFAULT_THRESHOLD

    def at(self, threshold: float) -> "Evaluation":
        """Return the evaluation of the same scores under another threshold; nothing is counted again."""
        if self.scores is None:
            raise errors.threshold_without_score()
        _check_threshold(threshold, self.scores, None)
        parts = {name: Counted(None, part.scores) for name, part in self.counted.segments.items()}
        return Evaluation(Counted(None, self.scores, parts), threshold)

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
    def rows(self) -> Any:
        """The (weighted) number of rows."""
        return _number(self._any.total)

    @property
    def positive(self) -> str:
        """The positive class."""
        return self._any.positive

    @property
    def negative(self) -> str:
        """The negative class."""
        if self.scores is not None:
            return self.scores.negative
        return next(name for name in self._any.truths if name != self.positive)

    @property
    def prevalence(self) -> float:
        """The share of positive rows."""
        return float(self._any.P / self._any.total)

    # ── figures ──────────────────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def figures(self) -> Mapping[str, Estimate]:
        """Every figure that these tallies can give, by name, with default parameters."""
        found: dict[str, Estimate] = {}
        for kind in (Confusion, ScoreTable):
            tally = self._tally(kind)
            if tally is not None:
                wanted = [metric for metric in metrics.list() if metric.tally is kind]
                values = metrics.measure(wanted, tally)
                found |= {m.name: self._estimate(m, tally, v) for m, v in zip(wanted, values, strict=True)}
        return found

    def __getitem__(self, name: str) -> Estimate:
        metric = metrics.find(name)
        if metric.text in self.figures:
            return self.figures[metric.text]
        tally = self._tally(metric.tally)
        if tally is None:
            return Estimate(metric.text, math.nan, reason=self._why_no(metric.tally))
        return self._estimate(metric, tally, metric.of(tally))

    def _estimate(self, metric: Metric, tally: Any, value: float) -> Estimate:
        if NO_PROBABILITIES in metric.undefined and not self.probabilities:
            return Estimate(metric.text, math.nan, reason=NO_PROBABILITIES.words)
        value = float(value)
        reason = metric.why_undefined(tally) if math.isnan(value) else ""
        return Estimate(metric.text, value, float(metric.baseline_of(tally)), reason=reason)

    def _tally(self, kind: type[Tally]) -> Any:
        return self.confusion if kind is Confusion else self.scores

    def _why_no(self, kind: type[Tally]) -> str:
        if kind is ScoreTable:
            return "no scores were given; pass score="
        return "the scores are no probabilities, so there are no decisions yet; pass threshold="

    def curve(self, kind: str) -> Curve:
        """Return the "roc" or the "pr" curve."""
        if self.scores is None:
            raise errors.no_curve(kind, self._why_no(ScoreTable))
        return curve(self.scores, kind)

    @cached_property
    def segments(self) -> Mapping[str, "Evaluation"]:
        """The evaluation of each segment, when ``by=`` was given."""
        parts = self.counted.segments.items()
        return Segments({name: Evaluation(part, self.threshold, self.probabilities) for name, part in parts})

    # ── as data ──────────────────────────────────────────────────────────────────────────────────────────────
    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON; undefined figures are None with their reason."""
        return {
            "stakes": "evaluation",
            "format": FORMAT,
            "task": "binary",
            "positive": self.positive,
            "negative": self.negative,
            "rows": self.rows,
            "prevalence": self.prevalence,
            "threshold": plain(self.threshold),
            "confusion": None if self.confusion is None else self.confusion.to_dict(),
            "figures": {name: estimate.to_dict() for name, estimate in self.figures.items()},
            "segments": {name: part.to_dict() for name, part in self.segments.items()},
        }

    def to_json(self, indent: int | None = 2) -> str:
        """Return :meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one flat dictionary per segment and figure, for a data frame; the segment of all rows is None."""
        parts: list[tuple[str | None, Evaluation]] = [(None, self), *self.segments.items()]
        return [
            {
                "segment": segment,
                "metric": name,
                **{k: getattr(e, k) for k in ("value", "low", "high", "baseline", "reason")},
            }
            for segment, part in parts
            for name, e in part.figures.items()
        ]

    # ── to look at ───────────────────────────────────────────────────────────────────────────────────────────
    def _content(self) -> page.Content:
        decided = "given" if self.counted.confusion is not None else f"positive when score ≥ {self.threshold}"
        if self.confusion is None:
            decided = "none yet: " + self._why_no(Confusion)
        size = {"weight of rows": f"{self.rows:,.6g}"} if self._any.weighted else {"rows": f"{self.rows:,}"}
        facts = {
            **size,
            "positive": f"{self.positive} ({self.prevalence:.1%}), against {self.negative}",
            "decisions": decided,
        }
        return page.Content(facts, self.confusion, self.figures, self.segments, self.notes)

    @property
    def notes(self) -> list[str]:
        """What a careful colleague would point out."""
        notes = []
        if self.confusion is not None:
            here, there = self["f1"].value, metrics.find("f1").of(self.confusion.swapped())
            if abs(here - there) >= _FLIPS:
                notes.append(
                    f"f1 is {here:.4f} with {self.positive!r} as the positive class, "
                    f"but {there:.4f} with {self.negative!r}: say which one you mean"
                )
        if self.scores is not None and self.scores.grid is not None:
            low, high = metrics.auc_bounds(self.scores)
            notes.append(f"scores were counted in bins: the auc lies between {low:.6f} and {high:.6f}")
        return notes

    def show(self, everything: bool = False, more: str = "ev.to_rows() or ev.show(everything=True)") -> None:
        """Print the figures: the main ones, or everything; ``more`` says how to see the others."""
        terminal.show(self._content().page(everything), more)

    def __str__(self) -> str:
        return terminal.text(self._content().page(), "ev.to_rows() or ev.show(everything=True)")

    def __repr__(self) -> str:
        return f"<Evaluation of {self.positive!r} against {self.negative!r}, rows: {self.rows:,}>"

    def _repr_html_(self) -> str:
        return notebook.html(self._content().page())


class Segments(dict[str, Evaluation]):
    """Evaluations by the name of the segment."""

    def __missing__(self, name: object) -> Evaluation:
        raise errors.no_such_segment(name, list(self))


def _number(total: Any) -> int | float:
    return total if isinstance(total, int) else float(total)
