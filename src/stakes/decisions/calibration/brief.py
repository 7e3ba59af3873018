"""Calibration of very many rows, seen through groups of neighbours: quick enough for a verdict."""

from stakes.decisions.calibration.calibration import Calibration
from stakes.decisions.calibration.reliability import Honest, group_scores, honest
from stakes.tallies import ScoreTable
from stakes.uncertainty.sampling import Sampling

_MANY, _GROUPS, _FEW_GROUPS = 50_000, 20_000, 500
"""Beyond so many rows neighbours are put together: neither the curve nor a slope moves as far as can be seen."""


def calibration_in_brief(table: ScoreTable | None, sampling: Sampling) -> Calibration | None:
    """Return how honest the probabilities of two classes are, if both occur and the scores are not in bins."""
    if table is None or table.grid is not None or not table.P or not table.N:
        return None
    return Calibration(table if table.total <= _MANY else group_scores(table, _GROUPS), sampling)


def study_calibration(table: ScoreTable | None, sampling: Sampling) -> tuple[Calibration, Honest | None] | None:
    """Return the same with what honest scores would look like in rows like these."""
    found = calibration_in_brief(table, sampling)
    if found is None:
        return None
    few = found.table.total <= _FEW_GROUPS
    return found, found.honest if few else honest(group_scores(found.table, _FEW_GROUPS), sampling)
