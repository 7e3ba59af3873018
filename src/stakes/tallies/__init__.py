"""Small summaries of rows that add up; everything else is a function of them."""

from typing import TYPE_CHECKING, Any

from stakes.tallies.base import Tally
from stakes.tallies.class_scores import ClassScores
from stakes.tallies.confusion import Confusion
from stakes.tallies.cost_sums import CostSums
from stakes.tallies.error_sums import ErrorSums, WorstError
from stakes.tallies.joint import JointCounts
from stakes.tallies.scores import ScoreTable
from stakes.tallies.steps import Steps

if TYPE_CHECKING:
    from stakes.tallies.graded_items import GradedItems

__all__ = [
    "ClassScores",
    "Confusion",
    "CostSums",
    "ErrorSums",
    "GradedItems",
    "JointCounts",
    "ScoreTable",
    "Steps",
    "Tally",
    "WorstError",
]


def __getattr__(name: str) -> Any:
    if name != "GradedItems":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from stakes.tallies.graded_items import GradedItems  # rarely met, and loaded when they are

    return GradedItems
