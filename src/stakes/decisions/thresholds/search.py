"""What a search for thresholds needs, whatever makes a threshold the best one."""

from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypedDict, TypeVar

import numpy as np

from stakes import errors
from stakes.decisions.thresholds.decision import Range
from stakes.decisions.thresholds.out_of_bag import Resamples
from stakes.decisions.thresholds.threshold_grid import ThresholdGrid
from stakes.errors import InputError
from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.columns import Columns
from stakes.uncertainty.sampling import Sampling

RESAMPLES = 1000
DEFAULT = 0.5
"""The threshold that people use when they do not think about it."""

_RUNNING = 1.0
"""How many standard errors more expensive than the best a threshold may look and still be in the running.

In simulations the truly best threshold was then among those that cannot be told apart 96 to 99 times of 100.
"""


Wanted = TypeVar("Wanted")


class Facts(TypedDict):
    """What every decision tells about its rows."""

    positive: str
    negative: str
    rows: float
    confidence: float


@dataclass(frozen=True, eq=False)
class Search(Generic[Wanted]):
    """What a search for thresholds has in common, whatever is wanted of them."""

    table: ScoreTable
    wanted: Wanted
    sampling: Sampling
    probabilities: bool

    def __post_init__(self) -> None:
        """Refuse what leaves nothing to choose, or nobody to judge by."""
        if self.sampling.clusters is not None and self.sampling.clusters.count < 2:
            raise errors.single_cluster()
        for name, size in ((self.table.positive, self.table.P), (self.table.negative, self.table.N)):
            if not size:
                raise InputError(
                    "both-classes-wanted",
                    f"no row is of the class {name!r}, so no threshold can be chosen; rows of both classes are needed",
                )

    @cached_property
    def columns(self) -> Columns:
        """The table as it is, score by score."""
        return self.table.as_columns()

    @property
    def usual(self) -> list[float]:
        """The threshold to compare with, where scores are probabilities."""
        return [DEFAULT] if self.probabilities else []

    def resamples(self, grid: ThresholdGrid) -> Resamples:
        """Draw rows, or clusters where there are any."""
        generator = self.sampling.generator()
        if self.sampling.clusters is None:
            return Resamples.of_rows(grid, RESAMPLES, generator)
        return Resamples.of_clusters(grid, self.sampling.clusters, RESAMPLES, generator)

    def rows_in_words(self) -> str:
        """How many rows there are, and how many of them are positive."""
        share = float(self.table.P) / float(self.table.total)
        return f"{float(self.table.total):,.6g} rows, {share:.1%} {self.table.positive}"

    def facts(self) -> Facts:
        """What every decision tells about its rows."""
        total = float(self.table.total)
        return {
            "positive": self.table.positive,
            "negative": self.table.negative,
            "rows": int(total) if total.is_integer() else total,
            "confidence": self.sampling.confidence,
        }


def alike(paid: Array, drawn: Array, best: int, confidence: float) -> Array:
    """Which places cannot be told from the best one: no more expensive than the truly best one often looks.

    Were a place the best one in truth, it would still look more expensive than the luckiest of the others. Resamples
    tell how much that can be: their noise at the place, less that of the luckiest other. Others that cost more by more
    than a few standard errors are not in the running, and are handicapped by what is beyond that (Andrews & Soares
    2010, Econometrica 78).
    """
    noise = drawn - paid
    extra_cost = paid - paid[best]
    handicap = np.maximum(extra_cost - _RUNNING * (noise - noise[:, [best]]).std(axis=0), 0.0)
    luckiest = (noise + handicap).min(axis=1)
    found: Array = extra_cost <= np.quantile(noise - luckiest[:, None], confidence, axis=0) + 1e-12 * abs(paid[best])
    return found


def ranges(grid: ThresholdGrid, alike: Array) -> list[Range]:
    """Runs of places as ranges of thresholds, from the lowest to the highest."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], alike.astype(np.int8), [0]])))
    starts, ends = edges[::2], edges[1::2] - 1
    return [(grid.threshold_at(int(b)), grid.threshold_at(int(a))) for a, b in zip(starts, ends, strict=True)][::-1]
