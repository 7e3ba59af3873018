"""Calibration of very many rows, seen through groups of neighbours: quick enough for a verdict."""

from stakes.decisions.calibration.calibration import Calibration
from stakes.decisions.calibration.reliability import group_scores
from stakes.tallies import ScoreTable
from stakes.uncertainty.sampling import Sampling

_MANY, _GROUPS = 50_000, 20_000
"""Beyond so many rows neighbours are put together: neither the curve nor a slope moves as far as can be seen."""


def calibration_in_brief(table: ScoreTable | None, sampling: Sampling) -> Calibration | None:
    """Return how honest the probabilities of two classes are, if both occur and the scores are not in bins."""
    if table is None or table.grid is not None or not table.P or not table.N:
        return None
    if table.total <= _MANY:
        return Calibration(table, sampling)
    return Calibration(group_scores(table, _GROUPS), sampling, table)
