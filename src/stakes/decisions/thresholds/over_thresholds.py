"""What every threshold of a score would give, not only the best one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from stakes import metrics
from stakes.decisions.curves.curve import Curve, bootstrap_band
from stakes.tallies import Confusion, ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.sampling import Sampling

_MOST = 200


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
        low, high = np.array(self.low), np.array(self.high)
        found: Array = (shares * (low + (high - low) * called)).sum(-1)
        return found


def figure_of(name: str, tables: Confusion) -> Any:
    """A figure of each table; by its name, which decisions can be saved with."""
    return metrics.find(name).of(tables)


def over_thresholds(
    table: ScoreTable, name: str, figure: Callable[[Confusion], Any], best: float, sampling: Sampling
) -> Curve:
    """Return a figure of the decisions at some hundred scores, the best threshold among them, with a band."""
    scores = np.asarray(table.as_columns().scores, np.float64)[::-1]
    places = np.unique(np.linspace(0, len(scores) - 1, min(_MOST, len(scores))).astype(np.int64))
    at = np.union1d(scores[places], scores[scores == best])
    y = np.asarray(figure(table.at_each(at)), np.float64)

    def heights() -> Array:
        from stakes.uncertainty.redraws import redraw_scores  # only bands need it

        drawn = np.asarray(figure(redraw_scores(table, sampling, 0.5, table.between(at)).at_each(at)), np.float64)
        return np.where(np.isnan(drawn), y, drawn)

    return Curve("threshold", "threshold", name, at, y, at, lambda: bootstrap_band(at, heights, sampling, y))
