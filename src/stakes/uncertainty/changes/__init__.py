"""What the figures of a tally would be without one row, or one cluster, after another.

A table knows how many rows of each kind there are, so a figure is worked out once for every kind. Rankings of very many
scores are put together into some hundred pieces first, and rows with very many predicted numbers into random groups.
"""

from collections.abc import Sequence

import numpy as np

from stakes.metrics import Metric
from stakes.tallies import ClassScores, Confusion, ErrorSums, ScoreTable, Tally
from stakes.uncertainty.changes.losses import of_class_scores
from stakes.uncertainty.changes.numbers import of_errors
from stakes.uncertainty.changes.scores import of_scores
from stakes.uncertainty.changes.tables import of_table
from stakes.uncertainty.influence import SINGLE_CLUSTER, Found
from stakes.uncertainty.sampling import Sampling


def influences(metrics: Sequence[Metric], values: Sequence[float], tally: Tally, sampling: Sampling) -> list[Found]:
    """Return what one row (or cluster) changes in each figure of a tally."""
    if sampling.clusters is not None and sampling.clusters.count < 2:
        return [SINGLE_CLUSTER] * len(metrics)
    with np.errstate(all="ignore"):  # what is not finite has no interval, and says so
        if isinstance(tally, Confusion):
            return of_table(metrics, values, tally, sampling)
        if isinstance(tally, ScoreTable):
            return of_scores(metrics, values, tally, sampling)
        if isinstance(tally, ErrorSums):
            return of_errors(metrics, values, tally, sampling)
        assert isinstance(tally, ClassScores)
        return of_class_scores(metrics, tally, sampling)
