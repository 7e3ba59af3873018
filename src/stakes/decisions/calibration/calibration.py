"""Calibration: do things happen as often as the probabilities say?"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from stakes import errors
from stakes.decisions.calibration.decomposition import Decomposition, decompose, decompose_sum, recalibrate_table
from stakes.decisions.calibration.line import CalibrationLine, calibration_line
from stakes.decisions.calibration.reliability import Honest, Reliability, honest, reliability
from stakes.metrics import Estimate, probability
from stakes.metrics.estimate import percent
from stakes.metrics.reasons import BINNED, NO_PROBABILITIES, NO_SCORES
from stakes.records import Record
from stakes.tallies import ClassScores, ScoreTable
from stakes.tallies.names import canonical
from stakes.text import lines, visible
from stakes.uncertainty.interval import figure
from stakes.uncertainty.intervals import interval
from stakes.uncertainty.sampling import USUAL, Sampling


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(
    Record,
    shown="rows positive=table.positive slope intercept intercept_at_slope_1 ece brier log_loss p_value_if_honest "
    "reliability=reliability()",
):
    """How honest the probabilities of two classes are, with slope, intercepts, and what the losses are made of.

    >>> table = ScoreTable.from_rows([0.1, 0.3, 0.4, 0.6, 0.7, 0.9], [0, 0, 1, 0, 1, 1])
    >>> found = calibration(table)
    >>> print(f"{found.slope.value:.4f} {found.brier.miscalibration.value:.4f}")
    1.5048 0.0700
    """

    table: ScoreTable
    sampling: Sampling = USUAL

    @cached_property
    def line(self) -> CalibrationLine:
        """The log odds of what happened against those that were said."""
        return calibration_line(self.table, self.sampling)

    @property
    def slope(self) -> Estimate:
        """The slope of that line: 1 is honest, less is too extreme, more is too timid."""
        return self.line.slope

    @property
    def intercept(self) -> Estimate:
        """The intercept that belongs to the slope; it is no figure to be read by itself."""
        return self.line.intercept

    @property
    def intercept_at_slope_1(self) -> Estimate:
        """What all log odds together lack: above 0 the probabilities are too low, below 0 too high."""
        return self.line.intercept_at_slope_1

    @cached_property
    def _recalibrated(self) -> ScoreTable:
        return recalibrate_table(self.table)

    @cached_property
    def brier(self) -> Decomposition:
        """The parts of the Brier score."""
        return decompose(probability.brier_score, self.table, self._recalibrated, self.sampling)

    @cached_property
    def log_loss(self) -> Decomposition:
        """The parts of the log loss."""
        return decompose(probability.log_loss, self.table, self._recalibrated, self.sampling)

    @cached_property
    def ece(self) -> Estimate:
        """How far on average the probabilities lie from the frequencies, in ten bins of equal width."""
        metric = probability.ece
        value = float(metric.of(self.table))
        limits = interval(metric, value, self.table, self.sampling)
        return figure(metric.name, value, float(metric.baseline_of(self.table)), limits, self.sampling.confidence)

    @cached_property
    def honest(self) -> Honest | None:
        """What honest probabilities would look like in rows like these; None when rows come in clusters."""
        return honest(self.table, self.sampling)

    @property
    def rows(self) -> float:
        """The (weighted) number of rows."""
        return float(self.table.total)

    @property
    def p_value_if_honest(self) -> float | None:
        """How likely a miscalibration like this one is where there is none; None when rows come in clusters."""
        return None if self.honest is None else self.honest.p_value

    def reliability(self, bins: int = 10, by: str = "mass") -> Reliability:
        """Return the reliability curve, in bins of equally many rows ("mass") or of equal "width", and without bins."""
        return reliability(self.table, bins, by, self.sampling, lambda: self.honest)

    def __str__(self) -> str:
        title = _TITLE.format(self.table.positive)
        return lines([title, *_line_words(self), *_loss_words(self), *_test_words(self)])

    def __repr__(self) -> str:
        return visible(f"<Calibration of {self.table.positive!r} against {self.table.negative!r}>")


def calibration(table: ScoreTable, sampling: Sampling = USUAL) -> Calibration:
    """Ask a table of probabilities how honest they are."""
    if not table.probabilities:
        raise errors.no_calibration(NO_PROBABILITIES.words)
    if table.grid is not None:
        raise errors.no_calibration(BINNED.words)
    return Calibration(table, sampling)


@dataclass(frozen=True, eq=False, repr=False)
class ClassCalibrations(Record, shown="brier log_loss classes"):
    """How honest the probabilities of several classes are: each class against the rest, and the Brier score of all."""

    classes: Mapping[str, Calibration]
    scores: ClassScores
    sampling: Sampling

    def __getitem__(self, name: object) -> Calibration:
        if canonical(name) not in self.classes:
            raise errors.no_such_class(name, list(self.classes))
        return self.classes[canonical(name)]

    @cached_property
    def brier(self) -> Decomposition:
        """The parts of the Brier score, added up over the classes."""
        return decompose_sum(self.scores, self.sampling)

    @property
    def log_loss(self) -> Estimate:
        """Why there are no parts of the log loss."""
        return Estimate(probability.log_loss.name, math.nan, reason=_NO_LOG_LOSS)

    def __str__(self) -> str:
        said = ["Calibration of all classes", _parts_words("Brier score", self.brier), str(self.log_loss)]
        for name, one in self.classes.items():
            said += ["", _TITLE.format(name), *_line_words(one), *_test_words(one)]
        return lines(said)

    def __repr__(self) -> str:
        return f"<Calibration of {len(self.classes)} classes>"


def calibration_of(
    scores: ScoreTable | ClassScores | None, probabilities: bool, sampling: Sampling
) -> Calibration | ClassCalibrations:
    """Ask the scores of two or more classes, if there are any; whether they are probabilities is told by all rows."""
    if scores is None:
        raise errors.no_calibration(NO_SCORES)
    if not probabilities:
        raise errors.no_calibration(NO_PROBABILITIES.words)
    if isinstance(scores, ScoreTable):
        return calibration(scores, sampling)
    clusters = sampling.clusters
    each = {
        name: calibration(table, replace(sampling, clusters=clusters and clusters.against_rest(place)))
        for place, (name, table) in enumerate(zip(scores.classes, scores.tables, strict=True))
    }
    return ClassCalibrations(each, scores, sampling)


# ── in words ─────────────────────────────────────────────────────────────────────────────────────────────────────
_TITLE = "Calibration of the probability of {!r}"
_NO_LOG_LOSS = "the log loss of several classes is no sum over classes, so it has no parts of this kind"


def _line_words(found: Calibration) -> list[str]:
    slope, intercept, at_slope_1 = found.slope, found.intercept, found.intercept_at_slope_1
    if not at_slope_1.defined:
        return [f"no slope and intercepts: {at_slope_1.reason}"]
    too_high, too_low = (f"the probabilities are too {way}" for way in ("high", "low"))
    shift = _row("intercept at slope 1", at_slope_1, _meaning(at_slope_1, 0, too_high, too_low))
    if not slope.defined:
        return [f"no slope: {slope.reason}", shift]
    meaning = _meaning(slope, 1, "too extreme", "too timid")
    return [_row("slope", slope, meaning), _row("  its intercept", intercept, ""), shift]


def _loss_words(found: Calibration) -> list[str]:
    return [
        _row("ece, ten bins", found.ece, "mean gap between probability and frequency"),
        _parts_words("Brier score", found.brier),
        _parts_words("log loss", found.log_loss),
    ]


def _test_words(found: Calibration) -> list[str]:
    if found.honest is None:
        return ["Rows come in clusters, so the truth cannot be redrawn row by row to test the probabilities."]
    times, of = found.honest.as_far, found.honest.redrawn
    verdict = "hardly chance" if found.honest.p_value <= 2 * found.sampling.tail else "that can be chance"
    return [f"Honest probabilities would look at least this far off in {times:,} of {of:,} files: {verdict}."]


def _row(name: str, figure: Estimate, meaning: str) -> str:
    sure = "" if figure.low is None else f"[{figure.low:.3f}, {figure.high:.3f}]"
    return f"{name:<22}{figure.value:<8.4f}{sure:<18}{meaning}".rstrip()


def _meaning(found: Estimate, ideal: int, below: str, above: str) -> str:
    if found.low is None or found.high is None or found.low <= ideal <= found.high:
        return f"{ideal} is ideal"
    return f"below {ideal}: {below}" if found.high < ideal else f"above {ideal}: {above}"


def _parts_words(name: str, parts: Decomposition) -> str:
    share = f" ({percent(round(parts.calibration_share.value, 3))} of it)" if parts.calibration_share.defined else ""
    return (
        f"{name:<22}{parts.score.value:.4f} = {parts.miscalibration.value:.4f} miscalibration{share} − "
        f"{parts.discrimination.value:.4f} discrimination + {parts.uncertainty.value:.4f} uncertainty"
    )
