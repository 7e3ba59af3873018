"""What a search for thresholds needs, whatever makes a threshold the best one."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from stakes import errors
from stakes.decisions.curves.curve import Curve, bootstrap_band, bootstrap_tables
from stakes.decisions.thresholds.decision import Range, all_within
from stakes.decisions.thresholds.digits import round_threshold
from stakes.decisions.thresholds.threshold_grid import ThresholdGrid
from stakes.errors import InputError
from stakes.metrics.declare import Figure
from stakes.tallies import Confusion, ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.sampling import Sampling

DEFAULT = 0.5
"""The threshold that people use when they do not think about it."""

_RUNNING = 1.0
"""How many standard errors more expensive than the best a threshold may look and still be in the running.

In simulations the truly best threshold was then among those that cannot be told apart 96 to 99 times of 100.
"""


_MOST_PLACES = 200
"""The number of scores at which the curve over all thresholds is worked out."""


class Search:
    """What a search for thresholds has in common, whatever is wanted of them.

    ``usual`` is the threshold to compare with: the one in use, or the usual one of probabilities.
    """

    def __init__(self, table: ScoreTable, sampling: Sampling, probabilities: bool, in_use: float | None = None) -> None:
        """Refuse rows that leave nothing to choose between, or nothing to evaluate on."""
        if sampling.clusters is not None and sampling.clusters.count < 2:
            raise errors.single_cluster()
        for name, size in ((table.positive, table.P), (table.negative, table.N)):
            if not size:
                raise InputError(
                    "both-classes-wanted",
                    f"no row is of the class {name!r}, so no threshold can be chosen; rows of both classes are needed",
                )
        self.table, self.sampling, self.columns = table, sampling, table.as_columns()
        self.usual = [DEFAULT] if probabilities else []
        if in_use is not None:
            self.usual = [in_use] if table.answers(in_use) else []
        total = float(table.total)
        self.rows = int(total) if total.is_integer() else total
        rows = f"rows that weigh {total:,.6g}" if self.columns.weighted else f"{total:,.6g} rows"
        self.rows_in_words = f"{rows}, {float(table.P) / total:.1%} {table.positive}"

    def shown(self, thresholds: Iterable[float], alike: Sequence[Sequence[Range]]) -> dict[float, float]:
        """These thresholds, the one in use, and the ends of ranges as good as the best, each as it is shown."""
        ends = (end for ranges in alike for one in ranges for end in one)
        return {start: round_threshold(self.table, start) for start in (*thresholds, *self.usual, *ends)}

    def kept(self, alike: Sequence[Sequence[Range]]) -> float | None:
        """The threshold in use, if it is as good as the best within noise: then no change is recommended."""
        return next((start for start in self.usual if len(alike) == 1 and all_within([start], alike)), None)


def alike(paid: Array, resampled: Array, best: int, confidence: float) -> Array:
    """Which places cannot be told from the best one: no more expensive than the truly best one often looks.

    Even the truly best place looks more expensive than the luckiest of the others. Resamples show by how much: their
    noise at the place, less that of the luckiest other. Others that cost more by more than a few standard errors are
    not in the running, and are handicapped by what is beyond that (Andrews & Soares 2010, Econometrica 78).
    """
    noise = resampled - paid
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


# ── every threshold, not only the best one ────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False)
class MeanCost:
    """What two decisions cost per case, each with its price for a positive and a negative row.

    ``shares`` are how frequent the classes count, the positive one first; None for those of the rows.
    """

    low: tuple[float, float]
    high: tuple[float, float]
    shares: Array | None = None

    def __call__(self, tables: Confusion) -> Array:
        """The mean cost of each table."""
        sizes = np.stack([tables.P, tables.N], -1)
        called = np.stack([tables.tp, tables.fp], -1) / sizes
        shares = sizes / sizes.sum(-1, keepdims=True) if self.shares is None else self.shares
        low, high = np.array([self.low, self.high])
        return np.asarray((shares * (low + (high - low) * called)).sum(-1))


def over_thresholds(
    table: ScoreTable, name: str, figure: Callable[[Confusion], Figure], best: float, sampling: Sampling
) -> Curve:
    """Return a figure of the decisions at some hundred scores, the best threshold among them, with a band."""
    scores = np.asarray(table.as_columns().scores, np.float64)[::-1]
    places = np.unique(np.linspace(0, len(scores) - 1, min(_MOST_PLACES, len(scores))).astype(np.int64))
    at = np.union1d(scores[places], scores[scores == best])
    y = np.asarray(figure(table.at_each(at)), np.float64)

    def heights() -> Array:
        values = np.asarray(figure(bootstrap_tables(table, at, sampling)), np.float64)
        return np.where(np.isnan(values), y, values)

    return Curve("threshold", "threshold", name, at, y, at, lambda: bootstrap_band(at, heights, sampling, y))
