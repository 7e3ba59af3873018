"""Predicted numbers against true ones."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from stakes import metrics
from stakes.engines.plan import Counted
from stakes.errors import InputError, Pass, Text
from stakes.evaluation.base import Evaluation
from stakes.frozen import replace
from stakes.metrics import Metric
from stakes.metrics.counts import Lorenz, lorenz_gini, of_count_sums
from stakes.metrics.usual import COMPARED
from stakes.question.options import Value
from stakes.results import speak
from stakes.tallies import CountSums, ErrorSums, ForecastSums, LargeError, Tally
from stakes.tallies.arithmetic import Array

if TYPE_CHECKING:
    from stakes.decisions.calibration.numbers import NumberCalibration


NO_TIMES = Text("no times were given; pass ", Pass("order"))
"""Why there are no figures that need the previous value."""


class RegressionEvaluation(Evaluation, facts="baseline=errors.baseline largest_errors=numbered_errors"):
    """The evaluation of predicted numbers; the baseline is always predicting the mean (or ``baseline=``)."""

    task = "regression"
    _usual_figure = COMPARED[ErrorSums]

    @classmethod
    def _fits(cls, counted: Counted) -> bool:
        return counted.task in ("regression", "counts")

    @property
    def errors(self) -> ErrorSums:
        """The sums behind the figures."""
        return self.counted.tallies["errors"]  # type: ignore[return-value]

    @property
    def largest_errors(self) -> tuple[LargeError, ...]:
        """The twenty largest errors with their rows: ``row`` is an index, from 0; None where rows have no numbers."""
        return self.errors.worst or self.errors.heaviest_errors

    @property
    def numbered_errors(self) -> tuple[LargeError, ...]:
        """The twenty largest errors with their rows, counted from 1 as in the text."""
        return tuple(one if one.row is None else replace(one, row=one.row + 1) for one in self.largest_errors)

    def _sizes(self) -> Mapping[str, float]:
        return {"data": self.errors.equal_rows if self.errors.weighted else self.rows}

    def _wanted(self) -> Iterable[tuple[Tally, list[Metric]]]:
        kinds = ("regression", "counts") if self.counted.task == "counts" else ("regression",)
        of_errors = [metric for metric in metrics.catalogue() if metric.tally is ErrorSums]
        wanted = [one for one in of_errors if one.family in kinds or one.family not in metrics.FAMILIES]
        if (counts := self._held(CountSums)) is not None:
            forms = [of_count_sums(one) for one in wanted]
            yield counts, [one for one in forms if one.tally is CountSums]
            wanted = [one for one in forms if one.tally is ErrorSums]
        yield self.errors, wanted
        if (forecast := self._held(ForecastSums)) is not None:
            yield forecast, [metric for metric in metrics.catalogue() if metric.tally is ForecastSums]

    def _declared(self, name: Value) -> Metric:
        metric = super()._declared(name)
        return metric if self._held(CountSums) is None else of_count_sums(metric)

    def _why_no(self, metric: Metric) -> str:
        return NO_TIMES if metric.tally is ForecastSums else super()._why_no(metric)

    @cached_property
    def calibration(self) -> "NumberCalibration":
        """How far predicted numbers lie from what came true, and the parts of their losses."""
        from stakes.decisions.calibration.numbers import calibration_of_numbers  # only asked for now and then

        return speak(calibration_of_numbers(self.errors, self._sampling(self.errors)), self.lang)

    def lorenz(self) -> tuple[Array, Array]:
        """Return the Lorenz curve: cumulative shares of the rows (or of the exposure), lowest predictions first, and
        their shares of the total outcome.
        """
        if self.errors.rows is None:
            raise InputError("no-lorenz-curve", "the rows were not kept, only sums of them; evaluate the rows")
        return Lorenz.of(self.errors).curve()

    def _own_plots(self) -> Iterable[str]:
        if self.errors.rows is not None or self.errors.histogram is not None:
            yield from ("predicted", "residuals")
        if self.errors.rows is not None:
            yield "reliability"
            if self.counted.task == "counts" and self[lorenz_gini.name].defined:
                yield "lorenz"
