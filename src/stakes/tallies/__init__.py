"""Small summaries of rows that add up; everything else is a function of them."""

from stakes.tallies.base import Tally
from stakes.tallies.confusion import Confusion
from stakes.tallies.scores import ScoreTable, Steps

__all__ = ["Confusion", "ScoreTable", "Steps", "Tally"]
