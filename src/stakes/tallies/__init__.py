"""Small summaries of rows that add up; everything else is a function of them."""

from typing import TYPE_CHECKING, Any

from stakes.tallies.base import Tally
from stakes.tallies.class_scores import ClassScores
from stakes.tallies.confusion import Confusion
from stakes.tallies.cost_sums import CostSums
from stakes.tallies.count_sums import CountSums
from stakes.tallies.error_sums import ErrorSums, WorstError
from stakes.tallies.forecast_sums import ForecastSums
from stakes.tallies.joint import JointCounts
from stakes.tallies.label_sums import LabelSums
from stakes.tallies.output_sums import OutputSums
from stakes.tallies.quantile_sums import QuantileSums
from stakes.tallies.scores import ScoreTable
from stakes.tallies.steps import Steps
from stakes.tallies.term_sums import TermSums

if TYPE_CHECKING:
    from stakes.tallies.graded_items import GradedItems

__all__ = [
    "ClassScores",
    "Confusion",
    "CostSums",
    "CountSums",
    "ErrorSums",
    "ForecastSums",
    "GradedItems",
    "JointCounts",
    "LabelSums",
    "OutputSums",
    "QuantileSums",
    "ScoreTable",
    "Steps",
    "Tally",
    "TermSums",
    "WorstError",
]


def __getattr__(name: str) -> Any:
    if name != "GradedItems":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from stakes.tallies.graded_items import GradedItems  # rarely met, and loaded when they are

    return GradedItems
