"""Calibration: do things happen as often as the probabilities say?"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from stakes import errors
from stakes.decisions.calibration.decomposition import Decomposition, decompose, decompose_sum, recalibrate_table
from stakes.decisions.calibration.honesty_test import HonestyTest, judge_classes, judge_clusters, worst_of
from stakes.decisions.calibration.reliability import (
    Honest,
    Reliability,
    group_scores,
    honest,
    judge_scores,
    reliability,
    rows_of,
)
from stakes.language.narrated import Narrated
from stakes.metrics import Estimate, Metric, probability
from stakes.metrics.calibration import calibration_in_the_large, calibration_intercept, calibration_slope
from stakes.metrics.reasons import BINNED, NO_PROBABILITIES, NO_SCORES
from stakes.records import Record, RowCount
from stakes.tallies import ClassScores, ScoreTable
from stakes.tallies.names import canonical
from stakes.text import visible
from stakes.uncertainty.interval import figure
from stakes.uncertainty.intervals import interval, intervals
from stakes.uncertainty.sampling import USUAL, Sampling
from stakes.uncertainty.score_intervals import certain_rows, rows_at_0

_NO_LOG_LOSS = "the log loss of several classes is no sum over classes, so it has no parts of this kind"

_LINE: dict[str, Metric] = {
    "slope": calibration_slope,
    "intercept": calibration_intercept,
    "intercept_at_slope_1": calibration_in_the_large,
}
"""Figures of the line of observed log odds against predicted log odds."""

_MANY, _GROUPS = 50_000, 20_000
"""Beyond so many rows neighbours are merged, which moves neither the curve nor a slope visibly."""


@dataclass(frozen=True)
class CertainRows(Record):
    """The (weight of) rows with a probability of exactly 0 or 1, and of those among them that came out otherwise."""

    rows: float
    wrong: float


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(
    Record,
    Narrated,
    shown="rows positive=table.positive slope intercept intercept_at_slope_1 certain ece brier log_loss "
    "p_value_if_honest test reliability=reliability() off_by findings",
):
    """How honest the probabilities of two classes are, with slope, intercepts, and what the losses are made of.

    ``whole`` are all rows, where the table merges neighbours to be quick. ``off_by`` is how far a probability may be
    from what it is taken for, where scores were counted in bins; ece and reliability are off by no more, unless an edge
    of theirs cuts a bin.

    >>> table = ScoreTable.from_rows([0.1, 0.3, 0.4, 0.6, 0.7, 0.9], [0, 0, 1, 0, 1, 1])
    >>> found = calibration(table)
    >>> print(f"{found.slope.value:.4f} {found.brier.miscalibration.value:.4f}")
    1.5048 0.0700
    """

    table: ScoreTable
    sampling: Sampling = USUAL
    whole: ScoreTable | None = None
    off_by: float = 0.0

    plotted_as = "calibration"

    @cached_property
    def _line(self) -> dict[str, Estimate]:
        metrics, level = list(_LINE.values()), self.sampling.confidence
        values = [float(one.of(self.table)) for one in metrics]
        found = zip(_LINE, metrics, values, intervals(metrics, values, self.table, self.sampling), strict=True)
        return {
            name: figure(name, value, float(one.baseline_of(self.table)), limits, level, one.why_undefined(self.table))
            for name, one, value, limits in found
        }

    @property
    def slope(self) -> Estimate:
        """The slope of that line: 1 is honest, less is too extreme, more is too timid."""
        return self._line["slope"]

    @property
    def intercept(self) -> Estimate:
        """The intercept that belongs to the slope; it is no figure to be read by itself."""
        return self._line["intercept"]

    @property
    def intercept_at_slope_1(self) -> Estimate:
        """What all log odds together lack: above 0 the probabilities are too low, below 0 too high."""
        return self._line["intercept_at_slope_1"]

    @property
    def share_too_high(self) -> float:
        """The share of the rows in which the line lies below the predicted probability."""
        slope, intercept = self.slope.value, self.intercept.value
        if slope == 1:
            return float(intercept < 0)
        crossed = self.table.at(1 / (1 + math.exp(-min(max(intercept / (1 - slope), -700), 700))))
        above = float((crossed.tp + crossed.fp) / (self.table.P + self.table.N))
        return above if slope < 1 else 1 - above

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
        test = None if self.sampling.clusters is not None else self.test
        return None if test is None else honest(self.table, self.sampling, test)

    @cached_property
    def test(self) -> HonestyTest | None:
        """Whether honest probabilities could look like this; None for too few clusters."""
        clusters = self.sampling.clusters
        return judge_scores(self.table, self.sampling) if clusters is None else judge_clusters(clusters)

    @cached_property
    def certain(self) -> CertainRows:
        """The rows with a probability of exactly 0 or 1."""
        return CertainRows(*certain_rows(self.whole or self.table))

    @property
    def rows(self) -> RowCount:
        """The (weighted) number of rows."""
        total = self.table.total
        return total if isinstance(total, int) else float(total)

    @property
    def p_value_if_honest(self) -> float | None:
        """How likely honest probabilities look at least this far off; None for too few clusters."""
        return None if self.test is None else self.test.p_value

    def reliability(self, bins: int = 10, by: str = "mass") -> Reliability:
        """Return the reliability curve, in bins of equally many rows ("mass") or of equal "width", and without bins."""
        return reliability(self.table, bins, by, self.sampling, lambda: self.honest)

    def to_rows(self) -> list[dict[str, float]]:
        """Return one flat dictionary per bin of the reliability curve, for a data frame."""
        return rows_of(self.reliability().bins)

    def __repr__(self) -> str:
        return visible(f"<Calibration of {self.table.positive!r} against {self.table.negative!r}>")


def calibration(table: ScoreTable, sampling: Sampling = USUAL) -> Calibration:
    """Ask a table of probabilities how honest they are."""
    if not table.probabilities:
        raise errors.no_calibration(NO_PROBABILITIES.words)
    if table.merged:
        raise errors.no_calibration(BINNED.words)
    return _at_middles(table, sampling)


def calibration_in_brief(table: ScoreTable | None, sampling: Sampling) -> Calibration | None:
    """Return how honest the probabilities of two classes are, quickly, if both occur and no wide bins hide them."""
    if table is None or not table.P or not table.N or table.merged:
        return None
    found = _at_middles(table, sampling)
    return (
        found if table.total <= _MANY else replace(found, table=group_scores(found.table, _GROUPS), whole=found.table)
    )


def _at_middles(table: ScoreTable, sampling: Sampling) -> Calibration:
    """Take probabilities in bins as the middles of these, and those of clusters in coarse cells as their means."""
    middles, clusters = table.at_middles(), sampling.clusters
    seen = replace(sampling, clusters=clusters and clusters.at_means_of(middles))
    return Calibration(middles, seen, off_by=table.off_by)


@dataclass(frozen=True, eq=False, repr=False)
class ClassCalibrations(Record, Narrated, shown="rows impossible brier log_loss test classes findings"):
    """How honest the probabilities of several classes are: each class against the rest, and the Brier score of all."""

    classes: Mapping[str, Calibration]
    scores: ClassScores
    sampling: Sampling

    plotted_as = "class calibrations"

    def __getitem__(self, name: object) -> Calibration:
        if canonical(name) not in self.classes:
            raise errors.no_such_class(name, list(self.classes))
        return self.classes[canonical(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.classes)

    @cached_property
    def brier(self) -> Decomposition:
        """The parts of the Brier score, added up over the classes."""
        return decompose_sum(self.scores, self.sampling)

    @cached_property
    def test(self) -> HonestyTest | None:
        """Whether honest probabilities could look like this, all classes together; None for too few clusters."""
        found = None if self.sampling.clusters is not None else judge_classes(self.scores, self.sampling)
        return worst_of(one.test for one in self.classes.values()) if found is None else found

    @property
    def impossible(self) -> float:
        """The (weight of) rows of a class whose probability was exactly 0."""
        return math.fsum(map(rows_at_0, self.scores.tables))

    @property
    def rows(self) -> RowCount:
        """The (weighted) number of rows."""
        total = self.scores.total
        return total if isinstance(total, int) else float(total)

    @property
    def log_loss(self) -> Estimate:
        """Why there are no parts of the log loss."""
        return Estimate(probability.log_loss.name, math.nan, reason=_NO_LOG_LOSS)

    def to_rows(self) -> list[dict[str, object]]:
        """Return one flat dictionary per class and bin of its reliability curve, for a data frame."""
        return [{"class": name, **row} for name, one in self.classes.items() for row in one.to_rows()]

    def __repr__(self) -> str:
        return f"<Calibration of {len(self.classes)} classes>"


def calibration_of(
    scores: ScoreTable | ClassScores | None, probabilities: bool, sampling: Sampling
) -> Calibration | ClassCalibrations:
    """Ask the scores of two or more classes, if there are any; all rows decide whether they are probabilities."""
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
    return ClassCalibrations(each, scores.at_middles(), sampling)
