"""Predicted numbers against true ones."""

from collections.abc import Iterable, Mapping

from stakes import metrics
from stakes.engines.plan import Counted
from stakes.evaluation.base import Evaluation
from stakes.metrics import Metric
from stakes.metrics.usual import COMPARED
from stakes.tallies import ErrorSums, Tally, WorstError


class RegressionEvaluation(Evaluation, facts="baseline=errors.baseline largest_errors"):
    """The evaluation of predicted numbers; the baseline is always saying the mean (or ``baseline=``)."""

    task = "regression"
    _usual_figure = COMPARED[ErrorSums]

    @classmethod
    def _judges(cls, counted: Counted) -> bool:
        return counted.task == "regression"

    @property
    def errors(self) -> ErrorSums:
        """The sums behind the figures."""
        return self.counted.tallies["errors"]  # type: ignore[return-value]

    @property
    def largest_errors(self) -> tuple[WorstError, ...]:
        """The twenty largest errors with their rows."""
        return self.errors.worst or ()

    def _sizes(self) -> Mapping[str, float]:
        rows = self.errors.rows
        if rows is None or rows.weight is None:
            return {"data": self.rows}
        return {"data": float(rows.weight.sum()) ** 2 / float((rows.weight**2).sum())}

    def _wanted(self) -> Iterable[tuple[Tally, list[Metric]]]:
        yield self.errors, [metric for metric in metrics.catalogue() if metric.tally is ErrorSums]

    def _own_plots(self) -> Iterable[str]:
        if self.errors.rows is not None or self.errors.histogram is not None:
            yield from ("predicted", "residuals")
