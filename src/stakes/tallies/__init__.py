"""Small summaries of rows that add up; everything else is a function of them."""

from stakes.tallies.base import Tally
from stakes.tallies.class_scores import ClassScores
from stakes.tallies.confusion import Confusion
from stakes.tallies.cost_sums import CostSums
from stakes.tallies.error_sums import ErrorSums, WorstError
from stakes.tallies.joint import JointCounts
from stakes.tallies.scores import ScoreTable
from stakes.tallies.steps import Steps

__all__ = [
    "ClassScores",
    "Confusion",
    "CostSums",
    "ErrorSums",
    "JointCounts",
    "ScoreTable",
    "Steps",
    "Tally",
    "WorstError",
]
