"""The data behind pictures: one place for plots, notebooks and pages."""

import math

import numpy as np

from stakes.decisions.calibration.numbers import errors_by_prediction
from stakes.findings.pages.payload import span
from stakes.frozen import dataclass
from stakes.tallies import Confusion, ErrorSums
from stakes.tallies.arithmetic import Array, divide
from stakes.uncertainty.interval import wilson
from stakes.uncertainty.permutation import PermutationTest

MOST_POINTS = 2000
"""More rows than this are shown as counts on a grid."""

_MANY = 200_000
"""More rows than this are shown by the small picture that their tally keeps."""

_PARTS, _MOST_PLACES = 6, 700_000
"""Each box of the picture is spread evenly over so many places each way, which hides that boxes grow with the numbers;
over fewer where boxes are many and small, so that there are about so many places at most."""

_GROUPS = 10


@dataclass(frozen=True, eq=False)
class Points:
    """Truths and predictions with their weights: rows, or where rows are gone places that stand for them."""

    truth: Array
    prediction: Array
    weight: Array
    rows: bool

    @property
    def few(self) -> bool:
        """Whether each row is plotted as a point."""
        return self.rows and len(self.truth) <= MOST_POINTS


def points_of(sums: ErrorSums) -> Points | None:
    """Return the rows, or where they are very many or gone, places in the boxes of the picture that stand for them."""
    rows = sums.rows
    if rows is not None and len(rows.truth) <= _MANY:
        truth, prediction = (np.asarray(column, np.float64) for column in (rows.truth, rows.prediction))
        weight = np.ones(len(rows.truth)) if rows.weight is None else np.asarray(rows.weight, np.float64)
        return Points(truth, prediction, weight, rows=True)
    if sums.histogram is None:
        return None
    lower, upper, counts = sums.boxes()
    parts = min(max(math.isqrt(_MOST_PLACES // len(counts)), 1), _PARTS)
    middles = (np.arange(parts) + 0.5) / parts
    spread = np.stack([one.ravel() for one in np.meshgrid(middles, middles)])  # (2, parts²)
    places = lower[:, :, None] + (upper - lower)[:, :, None] * spread
    weight = np.repeat(counts / parts**2, parts**2)
    return Points(places[:, 0].ravel(), places[:, 1].ravel(), weight, rows=False)


def density(x: Array, y: Array, weight: Array, cells: int) -> tuple[Array, Array, Array]:
    """Return how much lies in each cell of a grid, and the edges of its cells both ways."""
    edges = [np.linspace(*span(values), cells + 1) for values in (x, y)]
    across, up = (_cell_of(values, ends) for values, ends in zip((x, y), edges, strict=True))
    counts = np.bincount(across * cells + up, weight, cells**2).reshape(cells, cells)
    return counts, edges[0], edges[1]


def _cell_of(values: Array, edges: Array) -> Array:
    """The cell that a number lies in, of equal cells; the last one includes its upper end."""
    cells, width = len(edges) - 1, float(edges[-1] - edges[0])
    return np.asarray(np.minimum((values - edges[0]) * (cells / width), cells - 1).astype(np.int64))


def mean_errors(points: Points, confidence: float) -> tuple[Array, Array, Array]:
    """Return mean prediction and mean error of tenths of the rows by prediction, and how far Student's limits reach."""
    columns = (points.prediction, points.truth, points.weight)
    x, mean, reach, _ = errors_by_prediction(*columns, _GROUPS, confidence)
    return x, mean, reach


# ── decisions, shuffles ──────────────────────────────────────────────────────────────────────────────────────────
def shares_of_truth(table: Confusion) -> Array:
    """Return how often each decision was taken among the cases of each true class; 0 where there are none."""
    counts = table.counts.astype(np.float64)
    return divide(counts, counts.sum(-1, keepdims=True))


def share_limits(table: Confusion, confidence: float) -> list[list[tuple[float, float] | None]]:
    """Return Wilson's limits of these shares; None for a class without cases."""
    return [
        [wilson(float(share), rows, confidence) if rows else None for share in shares]
        for shares, rows in zip(shares_of_truth(table), table.effective_truths.values(), strict=True)
    ]


def null_histogram(test: PermutationTest, bins: int) -> tuple[Array, Array]:
    """Return a histogram of the figure over shuffles: counts, and the edges; undefined figures are left out."""
    null = np.empty(0) if test.null is None else test.null
    known = null[np.isfinite(null)]
    return np.histogram(known, bins=bins, range=span(known)) if len(known) else (np.zeros(1), np.array([0.0, 1.0]))
