"""Score tables drawn anew, for the bands of curves.

A table of millions of scores is first put together into some hundred pieces that grow with the rank. Drawing those
costs the same for any number of rows and moves the ends of an interval by some thousandths of a standard error
(`make bench` measures it).

When rows come in clusters whole clusters are drawn, with exponential weights (Rubin's bootstrap).
"""

import numpy as np

from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.columns import Columns
from stakes.uncertainty.sampling import Sampling

_REPLICATES = 400
"""How many large score tables are drawn: only their spread is used, which needs fewer than percentiles do."""

_CELLS = 400_000
_MOST = 2000
"""Small score tables are drawn more often, until so many cells have been drawn."""


def gamma_like(sums: Array, squares: Array | None, extra: float, replicates: int, sampling: Sampling) -> Array:
    """Draw sums of weights with these means, and with these sums of squared weights as variances.

    Unweighted counts are gamma variables whose shares are Dirichlet. ``extra`` is added to every shape.
    """
    generator = sampling.generator()
    if squares is None:
        return generator.standard_gamma(sums + extra, (replicates, *sums.shape))
    usual = squares.sum() / sums.sum()
    unit = np.divide(squares, sums, out=np.full(sums.shape, usual), where=(sums > 0) & (squares > 0))
    return np.asarray(generator.standard_gamma(sums / unit + extra, (replicates, *sums.shape)) * unit)


# ── scores ───────────────────────────────────────────────────────────────────────────────────────────────────────
def redraw_scores(
    table: ScoreTable, sampling: Sampling, ends: float = 0.0, pieces: ScoreTable | None = None
) -> ScoreTable:
    """Return tables like this one along a leading axis, of the same number of rows, compressed or in these pieces.

    ``ends`` rows (or clusters) of each class are added above and below all scores: where a curve has reached 0 or 1 in
    these rows, another sample need not have.
    """
    draw = _draw_rows if sampling.clusters is None else _draw_clusters
    scores, draws = draw(table, table.compressed() if pieces is None else pieces, sampling, ends)
    return scale_draws(table, scores, draws, sampling.fixed)


def _draw_rows(table: ScoreTable, pieces: ScoreTable, sampling: Sampling, ends: float) -> tuple[Array, Array]:
    store = pieces.as_columns()

    def stacked(suffix: str) -> Array:
        columns = np.stack([store.values[name + suffix] for name in ("positives", "negatives")]).astype(np.float64)
        return np.pad(columns, ((0, 0), (1, 1)), constant_values=ends) if ends else columns

    low, high = table.range
    scores = np.concatenate([[high + 1], store.scores, [low - 1]]) if ends else store.scores
    replicates = replicates_of(2 * len(scores))
    return scores, gamma_like(stacked(""), stacked("_squared") if table.weighted else None, 0.0, replicates, sampling)


def _draw_clusters(table: ScoreTable, pieces: ScoreTable, sampling: Sampling, ends: float) -> tuple[Array, Array]:
    scores, counts = sampling.require_clusters().pieces(pieces)
    generator = sampling.generator()
    draws = np.tensordot(_weights(sampling, generator, _REPLICATES), counts, 1)
    if not ends:
        return scores, draws
    typical = counts.sum() / len(counts)
    beyond = generator.standard_gamma(ends, (*draws.shape[:2], 2)) * typical
    draws = np.concatenate([beyond[..., :1], draws, beyond[..., 1:]], axis=-1)
    return np.concatenate([[scores.max() + 1], scores, [scores.min() - 1]]), draws


def replicates_of(cells: int) -> int:
    """How often a table of so many cells is drawn."""
    return min(_MOST, max(_REPLICATES, _CELLS // cells))


def scale_draws(table: ScoreTable, scores: Array, draws: Array, fixed: bool) -> ScoreTable:
    """Make tables of what was drawn (replicates × class × score), each scaled to the rows of the table itself."""
    wanted = np.array([float(table.P), float(table.N)])
    found = draws.sum(-1)
    with np.errstate(invalid="ignore"):
        factors = wanted / found if fixed else (wanted.sum() / found.sum(-1))[:, None] * np.ones(2)
    factors = np.nan_to_num(factors, nan=1.0)  # of a class without rows nothing is drawn
    draws *= factors[..., None]
    columns = Columns(scores, {"positives": draws[:, 0], "negatives": draws[:, 1]})
    return ScoreTable(table.positive, table.negative, columns)


# ── clusters ─────────────────────────────────────────────────────────────────────────────────────────────────────
def cluster_weights(sampling: Sampling) -> Array:
    """Return how often each group of clusters is drawn (draws × groups)."""
    return _weights(sampling, sampling.generator(), _REPLICATES)


def _weights(sampling: Sampling, generator: "np.random.Generator", replicates: int) -> Array:
    return generator.standard_exponential((replicates, sampling.require_clusters().size))
