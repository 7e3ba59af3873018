"""ROC and PR curves: what each threshold finds, and what it lets through.

Both run from the strictest threshold (+∞: nobody) to the loosest (everybody).
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from stakes.decisions.curves.curve import Band, Curve, Scored, bootstrap_band
from stakes.metrics.rates import false_positive_rate, precision, recall
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Array

_PLACES = np.linspace(0, 1, 101)

Points = Callable[[Confusion], tuple[Array, Array]]
Height = Callable[[Array, Array], Array]
"""The height of a curve at all places of its band."""


def roc_curve(scored: Scored) -> Curve:
    """Return recall against the false positive rate."""
    scored.need("roc", "positives", "negatives")
    x, y = _roc(scored.table.confusions())
    band = partial(_band, scored, _roc, lambda x, y: np.interp(_PLACES, x, y), simultaneous=True)
    return Curve("roc", false_positive_rate.name, recall.name, x, y, scored.table.thresholds, band)


def pr_curve(scored: Scored) -> Curve:
    """Return precision against recall."""
    scored.need("pr", "positives")
    x, y = _pr(scored.table.confusions())
    band = partial(_band, scored, _pr, lambda x, y: y[np.minimum(np.searchsorted(x, _PLACES), len(x) - 1)])  # in steps
    return Curve("pr", recall.name, precision.name, x, y, scored.table.thresholds, band)


def _roc(tables: Confusion) -> tuple[Array, Array]:
    return false_positive_rate.of(tables), recall.of(tables)


def _pr(tables: Confusion) -> tuple[Array, Array]:
    # where nothing is called positive, precision is undefined; the curve is drawn from 1
    return recall.of(tables), np.where(tables.PP == 0, 1.0, precision.of(tables))


def _band(scored: Scored, points: Points, height: Height, simultaneous: bool = False) -> Band:
    """The limits of y at 101 places of x, from resampled score tables."""
    from stakes.uncertainty.redraws import redraw_scores  # only bands need it

    def heights() -> list[Array]:
        x, y = points(redraw_scores(scored.table, scored.sampling, ends=0.5).confusions())
        return [height(*line) for line in zip(x, y, strict=True)]

    return bootstrap_band(_PLACES, heights, scored.sampling, simultaneous=simultaneous)
