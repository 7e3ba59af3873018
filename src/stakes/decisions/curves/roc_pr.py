"""ROC and PR curves: what each threshold finds, and what it lets through.

Both run from the strictest threshold (+∞: nobody) to the loosest (everybody).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from stakes.decisions.curves.curve import Band, Curve, Scored, bootstrap_band
from stakes.metrics.rates import false_positive_rate, precision, recall
from stakes.tallies import Confusion, ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import check_flag
from stakes.tallies.columns import Columns
from stakes.uncertainty.sampling import Sampling

_PLACES = np.linspace(0, 1, 101)
_SHUFFLES = 1000

_MOST_LEVELS = 1000
"""With more rows, scores are binned into some hundred pieces before labels are shuffled."""

Points = Callable[[Array, Array], tuple[Array, Array]]
"""The points of a curve, from the positives and negatives that reach each threshold."""

Height = Callable[[Array, Array], Array]
"""The height of a curve at all places of its band."""


def roc_curve(scored: Scored, *, null: bool = False) -> Curve:
    """Return recall against the false positive rate; ``null`` adds where the curve of shuffled labels would run."""
    check_flag("null", null)
    scored.need("roc", "positives", "negatives")
    thresholds, tp, fp = scored.table.reached()
    band = partial(_band, scored, _roc, _height_of_roc, simultaneous=True)
    chance = _chance_band(scored) if null else None
    return Curve("roc", false_positive_rate.name, recall.name, *_roc(tp, fp), thresholds, band, chance=chance)


def decided_scores(table: Confusion, sampling: Sampling) -> tuple[ScoreTable, Sampling]:
    """Return decisions between two classes as scores: 1 where there was an alarm, otherwise 0.

    Their ROC curve is the line through the one point that is known.
    """
    cells = {"positives": (table.tp, table.fn), "negatives": (table.fp, table.tn)}
    if table.squares is not None:
        squares = table.with_counts(table.squares, None)
        cells |= {"positives_squared": (squares.tp, squares.fn), "negatives_squared": (squares.fp, squares.tn)}
    columns = {name: np.array([float(one) for one in pair]) for name, pair in cells.items()}
    if not table.weighted:
        columns = {name: column.astype(np.int64) for name, column in columns.items()}
    negative = next(name for name in table.truths if name != table.positive)
    scores = ScoreTable(str(table.positive), negative, Columns.added(np.array([1.0, 0.0]), columns))
    clusters = sampling.clusters
    if clusters is None:
        return scores, sampling
    alarm, positive = table.decisions.index(str(table.positive)), table.truths.index(str(table.positive))
    alarms = (np.asarray(clusters.decided) == alarm).astype(np.float64)
    truth = (np.asarray(clusters.truth) == positive).astype(np.int64)
    return scores, replace(sampling, clusters=replace(clusters, scores=alarms, truth=truth))


def pr_curve(scored: Scored) -> Curve:
    """Return precision against recall."""
    scored.need("pr", "positives")
    thresholds, tp, fp = scored.table.reached()
    points = partial(_pr, shares=scored.shares)
    band = partial(_band, scored, points, _height_of_pr)
    return Curve("pr", recall.name, precision.name, *points(tp, fp), thresholds, band)


def _height_of_roc(x: Array, y: Array) -> Array:
    return np.interp(_PLACES, x, y)


def _height_of_pr(x: Array, y: Array) -> Array:
    return np.asarray(y[np.minimum(np.searchsorted(x, _PLACES), len(x) - 1)])  # in steps


def _chance_band(scored: Scored) -> Band:
    """Where ROC curves of shuffled labels run: positives are permuted over the scores, ties staying ties."""
    table, sampling = scored.table, scored.sampling
    if table.weighted or sampling.clusters is not None:
        unknown = np.full(len(_PLACES), np.nan)
        return Band(_PLACES, unknown, unknown, sampling.confidence, "labels of clusters or weights are not shuffled")
    if float(table.total) > _MOST_LEVELS:
        table = table.compressed()
    columns = table.as_columns().values
    rows = (columns["positives"] + columns["negatives"]).astype(np.int64)

    def heights() -> Array:
        permuted = sampling.generator().multivariate_hypergeometric(rows, int(table.P), _SHUFFLES, method="marginals")
        found, alarmed = (np.cumsum(np.pad(one, ((0, 0), (1, 0))), axis=1) for one in (permuted, rows - permuted))
        return np.array([_height_of_roc(x / x[-1], y / y[-1]) for x, y in zip(alarmed, found, strict=True)])

    return bootstrap_band(_PLACES, heights, sampling, simultaneous=True)


def _roc(tp: Array, fp: Array) -> tuple[Array, Array]:
    return _of_all(fp), _of_all(tp)


def _pr(tp: Array, fp: Array, shares: tuple[float, float] | None = None) -> tuple[Array, Array]:
    """Recall and precision, with classes as frequent as in the rows or as these ``shares`` say."""
    found = _of_all(tp)
    if shares is not None:
        tp, fp = shares[0] * found, shares[1] * _of_all(fp)
    # where nothing is called positive, precision is undefined; the curve starts at 1
    alarms = tp + fp
    return found, np.divide(tp, alarms, out=np.ones(alarms.shape), where=alarms != 0)


def _of_all(reached: Array) -> Array:
    """What reaches each threshold, as a share of the class; all of it reaches the last one."""
    with np.errstate(invalid="ignore"):
        return np.asarray(reached / reached[..., -1:])


def _band(scored: Scored, points: Points, height: Height, simultaneous: bool = False) -> Band:
    """The limits of y at 101 places of x, from resampled score tables."""
    from stakes.uncertainty.bootstrap import redraw_scores  # only bands need it

    def heights() -> list[Array]:
        _, tp, fp = redraw_scores(scored.table, scored.sampling).reached()
        x, y = points(tp, fp)
        return [height(*line) for line in zip(x, y, strict=True)]

    return bootstrap_band(_PLACES, heights, scored.sampling, simultaneous=simultaneous)
