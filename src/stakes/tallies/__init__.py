"""Small summaries of rows that add up; everything else is a function of them."""

from typing import TYPE_CHECKING, Any

from stakes.tallies.base import Tally as Tally
from stakes.tallies.class_scores import ClassScores as ClassScores
from stakes.tallies.confusion import Confusion as Confusion
from stakes.tallies.cost_sums import CostSums as CostSums
from stakes.tallies.count_sums import CountSums as CountSums
from stakes.tallies.error_sums import ErrorSums as ErrorSums
from stakes.tallies.error_sums import LargeError as LargeError
from stakes.tallies.error_sums import WorstError as WorstError
from stakes.tallies.forecast_sums import ForecastSums as ForecastSums
from stakes.tallies.joint import JointCounts as JointCounts
from stakes.tallies.label_sums import LabelSums as LabelSums
from stakes.tallies.output_sums import OutputSums as OutputSums
from stakes.tallies.quantile_sums import QuantileSums as QuantileSums
from stakes.tallies.scores import ScoreTable as ScoreTable
from stakes.tallies.steps import Steps as Steps
from stakes.tallies.term_sums import TermSums as TermSums

if TYPE_CHECKING:
    from stakes.tallies.graded_items import GradedItems as GradedItems


def __getattr__(name: str) -> Any:
    if name != "GradedItems":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from stakes.tallies.graded_items import GradedItems  # rarely met, and loaded when they are

    return GradedItems
