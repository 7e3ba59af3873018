"""The calibration line of a table: its slope with the intercept, and the intercept of the line with slope 1."""

from dataclasses import dataclass

from stakes.metrics import Estimate, Metric
from stakes.metrics.calibration import calibration_in_the_large, calibration_intercept, calibration_slope
from stakes.records import Record
from stakes.tallies import ScoreTable
from stakes.uncertainty.interval import figure
from stakes.uncertainty.intervals import intervals
from stakes.uncertainty.lines import certain_rows
from stakes.uncertainty.sampling import Sampling


@dataclass(frozen=True)
class CalibrationLine:
    """The line's slope with its intercept, and the intercept of the line with slope 1."""

    slope: Estimate
    intercept: Estimate
    intercept_at_slope_1: Estimate


def calibration_line(table: ScoreTable, sampling: Sampling) -> CalibrationLine:
    """Fit both lines to the rows of a table of probabilities."""
    called: dict[str, Metric] = {
        "slope": calibration_slope,
        "intercept": calibration_intercept,
        "intercept_at_slope_1": calibration_in_the_large,
    }
    values = [float(one.of(table)) for one in called.values()]
    limits = intervals(list(called.values()), values, table, sampling)
    return CalibrationLine(
        *(
            figure(name, value, float(one.baseline_of(table)), found, sampling.confidence, one.why_undefined(table))
            for (name, one), value, found in zip(called.items(), values, limits, strict=True)
        )
    )


@dataclass(frozen=True)
class CertainRows(Record):
    """The (weight of) rows with a probability of exactly 0 or 1, and of those among them that came out otherwise."""

    rows: float
    wrong: float

    @classmethod
    def of(cls, table: ScoreTable) -> "CertainRows":
        """Count them."""
        return cls(*certain_rows(table))
