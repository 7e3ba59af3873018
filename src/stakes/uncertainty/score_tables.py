"""Score tables drawn anew, for figures of the ranking that have no formula for their error.

A table of millions of scores is first put together into some hundred pieces that grow with the rank. Drawing those
costs the same for any number of rows and moves the ends of an interval by some thousandths of a standard error
(`make bench` measures it).
"""

import numpy as np

from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.columns import Columns
from stakes.uncertainty.cells import gamma_like
from stakes.uncertainty.sampling import Sampling

REPLICATES = 400
"""How many large tables are drawn: only their spread is used, which needs fewer than percentiles do."""

_DRAWS = 400_000
_MOST = 2000
"""Small tables are drawn more often, until so many cells have been drawn."""


def drawn(table: ScoreTable, sampling: Sampling, ends: float = 0.0, pieces: ScoreTable | None = None) -> ScoreTable:
    """Return tables like this one along a leading axis, of the same number of rows, compressed or in these pieces.

    ``ends`` rows of each class are added above and below all scores: where a curve has reached 0 or 1 in these rows,
    another sample need not have.
    """
    store = (table.compressed() if pieces is None else pieces).as_columns()

    def stacked(suffix: str) -> Array:
        columns = np.stack([store.values[name + suffix] for name in ("positives", "negatives")]).astype(np.float64)
        return np.pad(columns, ((0, 0), (1, 1)), constant_values=ends) if ends else columns

    low, high = table.range
    scores = np.concatenate([[high + 1], store.scores, [low - 1]]) if ends else store.scores
    replicates = replicates_of(2 * len(scores))
    draws = gamma_like(stacked(""), stacked("_squared") if table.weighted else None, 0.0, replicates, sampling)
    return redrawn(table, scores, draws, sampling.fixed)


def replicates_of(cells: int) -> int:
    """How often a table of so many cells is drawn."""
    return min(_MOST, max(REPLICATES, _DRAWS // cells))


def redrawn(table: ScoreTable, scores: Array, draws: Array, fixed: bool) -> ScoreTable:
    """Make tables of what was drawn (replicates × class × score), each scaled to the rows of the table itself."""
    wanted = np.array([float(table.P), float(table.N)])
    found = draws.sum(-1)
    with np.errstate(invalid="ignore"):
        factors = wanted / found if fixed else (wanted.sum() / found.sum(-1))[:, None] * np.ones(2)
    factors = np.nan_to_num(factors, nan=1.0)  # of a class without rows nothing is drawn
    draws *= factors[..., None]
    columns = Columns(scores, {"positives": draws[:, 0], "negatives": draws[:, 1]})
    return ScoreTable(table.positive, table.negative, columns)
