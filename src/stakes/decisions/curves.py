"""Curves over all thresholds of a score table."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from stakes import errors, metrics
from stakes.tallies import Confusion, ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.sampling import USUAL, Sampling


@dataclass(frozen=True, eq=False)
class Band:
    """Where the curve of another sample would run: at each x by itself (pointwise), not all the way at once."""

    x: Array
    low: Array
    high: Array
    confidence: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists."""
        return {name: getattr(self, name).tolist() for name in ("x", "low", "high")} | {"confidence": self.confidence}


@dataclass(frozen=True, eq=False, repr=False)
class Curve:
    """Points of a curve, from the strictest threshold (+∞: nobody) to the loosest (everybody)."""

    kind: str
    x_name: str
    y_name: str
    x: Array
    y: Array
    thresholds: Array
    table: ScoreTable
    sampling: Sampling = USUAL

    @cached_property
    def band(self) -> Band:
        """The limits of y at 101 places of x, from score tables drawn anew."""
        from stakes.uncertainty.clusters import drawn_scores  # only bands need it

        places = np.linspace(0, 1, 101)
        drawn = drawn_scores(self.table, self.sampling, ends=0.5)
        x, y = CURVES[self.kind].points(drawn.confusions())
        heights = [_height(self.kind, *line, places) for line in zip(x, y, strict=True)]
        low, high = np.quantile(heights, (self.sampling.tail, 1 - self.sampling.tail), axis=0)
        return Band(places, low, high, self.sampling.confidence)

    def __len__(self) -> int:
        return len(self.x)

    def __repr__(self) -> str:
        return f"<{self.kind} curve: {self.y_name} against {self.x_name} at {len(self):,} thresholds>"

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists; the threshold +∞ is None."""
        thresholds = [None if np.isinf(t) else t for t in self.thresholds.tolist()]
        return {
            "kind": self.kind,
            self.x_name: self.x.tolist(),
            self.y_name: self.y.tolist(),
            "threshold": thresholds,
            "band": self.band.to_dict(),
        }


def _roc(tables: Confusion) -> tuple[Array, Array]:
    return metrics.find("false_positive_rate").of(tables), metrics.find("recall").of(tables)


def _pr(tables: Confusion) -> tuple[Array, Array]:
    # where nothing is called positive, precision is undefined; the curve is drawn from 1
    precision = np.where(tables.PP == 0, 1.0, metrics.find("precision").of(tables))
    return metrics.find("recall").of(tables), precision


@dataclass(frozen=True)
class _Recipe:
    x_name: str
    y_name: str
    points: Callable[[Confusion], tuple[Array, Array]]
    needs_negatives: bool


CURVES = {
    "roc": _Recipe("false_positive_rate", "recall", _roc, needs_negatives=True),
    "pr": _Recipe("recall", "precision", _pr, needs_negatives=False),
}


def _height(kind: str, x: Array, y: Array, places: Array) -> Array:
    """The height of a curve at given places: ROC curves run straight between points, PR curves in steps."""
    if kind == "roc":
        return np.interp(places, x, y)
    return y[np.minimum(np.searchsorted(x, places), len(x) - 1)]


def curve(table: ScoreTable, kind: str, sampling: Sampling = USUAL) -> Curve:
    """Return the ROC curve (recall against false positive rate) or the PR curve (precision against recall)."""
    recipe = CURVES.get(kind)
    if recipe is None:
        raise errors.no_such_curve(kind, list(CURVES))
    if table.P == 0:
        raise errors.no_curve(kind, "no case is positive")
    if recipe.needs_negatives and table.N == 0:
        raise errors.no_curve(kind, "no case is negative")
    x, y = recipe.points(table.confusions())
    return Curve(kind, recipe.x_name, recipe.y_name, x, y, table.thresholds, table, sampling)
