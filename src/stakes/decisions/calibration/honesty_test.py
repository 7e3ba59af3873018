"""Could honest probabilities look like this? One test, with one p-value.

There are two statistics. The *line*: the log odds lie on a line with slope 1 through 0 (the score test of both), which
finds with few rows what is off along the whole range. The *shape*: frequencies match probabilities in each tenth of the
rows by probability, which finds what a line does not. The truth is redrawn from the probabilities many times, and the
smaller of the two p-values is compared with the smaller ones of redrawn files. So honest probabilities are rejected as
often as the level says, however many rows there are. The statistic with the smaller p-value is the sharper one.

Both statistics are sums over rows, so one matrix product computes them for all redrawn files. The first fifth of the
files is enough where many lie further off than the data (Besag & Clifford, 1991, Biometrika 78).
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from stakes.metrics import logistic
from stakes.records import Record
from stakes.tallies import ClassScores
from stakes.tallies.arithmetic import Array
from stakes.tallies.clusters import Clusters
from stakes.uncertainty.sampling import Sampling

LINE, SHAPE = "line", "shape"

REDRAWN = 1000
"""How often the truth is redrawn from the probabilities."""

_MOST_DRAWS, _MOST_STEPS, _LEAST_REDRAWN = 5_000_000, 400_000_000, 200
"""Several classes: the most rows, and rows × classes, redrawn in all, and the fewest redrawn files."""

_MOST_PROBABILITIES, _LEAST_ROWS = 2_000_000, 500
"""Several classes: the most probabilities, and the fewest rows, that are sampled for the test."""

SHARES = 20
"""The number of redrawn files over which miscalibration is averaged; of several classes fewer where they are large."""

BINS = 10
"""The number of bins (of equally many rows) in which the shape is tested."""

_CLEAR = 0.2
"""A p-value above this needs no more redrawn files."""

_BLOCK = 50


@dataclass(frozen=True)
class HonestyTest(Record):
    """The p-value of the probabilities being honest, never 0, and what shows best that they are not.

    ``sharper`` is "line" (slope and shift of the log odds) or "shape" (frequencies against probabilities). ``as_far``
    of the ``redrawn`` files looked at least as far off; None where rows come in clusters, and nothing is redrawn.
    ``share`` is the share of the Brier score that honest probabilities show as miscalibration in rows like these; NaN
    where only some of the rows were redrawn.
    """

    p_value: float
    sharper: str
    as_far: int | None = None
    redrawn: int | None = None
    share: float = math.nan


Looks: TypeAlias = tuple[Array, Array]
"""The two statistics of each file (the only axis): line and shape; large is far off."""


def judge_by_redrawing(here: Looks, redraw: Callable[[int], Looks], most: int, share: float) -> HonestyTest:
    """Compare a file with ``redraw(times)``: with a fifth of ``most`` redrawn files, with all if that is unclear."""
    (line, shape), first = here, most // 5
    for times in (first, most - first):
        more = redraw(times)
        line, shape = np.concatenate([line, more[0]]), np.concatenate([shape, more[1]])
        found = compare_with_redrawn(line, shape, share)
        if found.p_value > _CLEAR:
            break
    return found


def compare_with_redrawn(line: Array, shape: Array, share: float = math.nan) -> HonestyTest:
    """Compare both statistics of a file (the first entries) with those of redrawn files (the others)."""
    unlikely = np.stack([_p_values(line), _p_values(shape)])
    smaller = unlikely.min(axis=0)
    as_far = int(np.count_nonzero(smaller[1:] <= smaller[0]))
    redrawn = len(smaller) - 1
    sharper = LINE if unlikely[0, 0] <= unlikely[1, 0] else SHAPE
    return HonestyTest((1 + as_far) / (1 + redrawn), sharper, as_far, redrawn, share)


def _p_values(found: Array) -> Array:
    """The share of files that lie at least as far off as each, itself included; ties are equal within rounding."""
    ordered = np.sort(found)
    return 1 - np.searchsorted(ordered, found - 1e-9 * np.abs(found)) / len(found)


def distance(pulls: Array, columns: Array, variances: Array) -> Array:
    """The score statistic: how far sums of (truth − probability) × columns lie from 0, in their own spread."""
    inverse = np.linalg.pinv((columns * variances) @ columns.T, hermitian=True)
    return np.asarray(np.einsum("...i,ij,...j->...", pulls, inverse, pulls))


# ── clusters ─────────────────────────────────────────────────────────────────────────────────────────────────────
def judge_clusters(clusters: Clusters) -> HonestyTest | None:
    """Compare the score contributions of whole clusters with 0; None for too few clusters.

    Rows of a cluster cannot be redrawn one by one, so only the line is tested. Honest probabilities give the variance
    of single rows' contributions, the clusters how much larger that of dependent rows is (the design effect).
    Hotelling's T², whose variance comes from the clusters alone, rejected honest ones too often in simulations.
    """
    from scipy.special import fdtrc

    p = np.asarray(clusters.scores, np.float64)
    weight = clusters.weights
    columns = np.stack([np.ones(len(p)), log_odds(p)])
    variances, size = clusters.squared_weights * p * (1 - p), clusters.size
    rank = int(np.linalg.matrix_rank((columns * variances) @ columns.T, hermitian=True))
    if not 0 < rank < size - 1:
        return None
    surprise = weight * (np.asarray(clusters.truth, np.float64) - p)
    pulls = np.stack([np.bincount(clusters.groups, surprise * column, size) for column in columns], axis=-1)
    effect = max(1.0, float(distance(pulls, columns, variances).sum()) / rank)
    far = float(distance(pulls.sum(axis=0), columns, variances)) / effect
    p_value = float(fdtrc(rank, size - rank, far * (size - rank) / (rank * (size - 1))))
    return HonestyTest(max(p_value, 1e-300), LINE)


# ── several classes ──────────────────────────────────────────────────────────────────────────────────────────────
def judge_classes(scores: ClassScores, sampling: Sampling) -> HonestyTest | None:
    """Redraw the class of each row from its probabilities; the statistics are added up over the classes.

    None where no rows are left to redraw.
    """
    rows = scores.sample
    if rows is None or not len(rows.truth):
        return None
    generator = sampling.generator()
    p, truth, weight = (np.asarray(one) for one in (rows.scores, rows.truth, rows.weight))
    most = max(_MOST_PROBABILITIES // p.shape[1], _LEAST_ROWS)
    if len(p) > most:
        some = generator.choice(len(p), most, replace=False)
        p, truth, weight = p[some], truth[some], weight[some]
    p = p.astype(np.float64)
    if sampling.fixed:
        p = _as_frequent(p, np.bincount(truth, weight, p.shape[1]))
    looks = _Looks(p, weight)
    share, all_rows = math.nan, float((rows.weight**2 / np.maximum(rows.squares, 1e-300)).sum())
    if len(p) > 0.999 * all_rows:  # fewer rows show more miscalibration by chance than all of them would
        share = looks.share(looks.redraw(int(np.clip(_MOST_PROBABILITIES // p.size, 2, SHARES)), generator))
    most = int(np.clip(min(_MOST_DRAWS // len(p), _MOST_STEPS // p.size), _LEAST_REDRAWN, REDRAWN))

    def redraw(times: int) -> Looks:
        blocks = [min(_BLOCK, times - start) for start in range(0, times, _BLOCK)]
        line, shape = zip(*(looks.at(looks.redraw(size, generator)) for size in blocks), strict=True)
        return np.concatenate(line), np.concatenate(shape)

    return judge_by_redrawing(looks.at(truth.astype(np.int64)[None]), redraw, most, share)


def _as_frequent(p: Array, sizes: Array) -> Array:
    """Probabilities with odds shifted so that the classes are as frequent as the design made them."""
    for _ in range(50):
        p = p * (sizes / np.maximum(p.sum(axis=0), 1e-300))
        p = p / p.sum(axis=1, keepdims=True)
    return p


def worst_of(tests: Iterable[HonestyTest | None]) -> HonestyTest | None:
    """Combine the tests of single classes (Bonferroni): the smallest p-value, times their number."""
    found = [one for one in tests if one is not None]
    if not found:
        return None
    worst = min(found, key=lambda one: one.p_value)
    return HonestyTest(min(1.0, len(found) * worst.p_value), worst.sharper)


class _Looks:
    """What both statistics need of the rows, whatever their classes are."""

    def __init__(self, p: Array, weight: Array) -> None:
        self.probabilities, self.weight = p, weight
        rows, self.classes = p.shape
        self.x = log_odds(p)
        self.edges = (np.cumsum(p, axis=1)[:, :-1] / p.sum(axis=1, keepdims=True)).T
        ranks = p.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
        self.bins = np.arange(self.classes) * BINS + ranks * BINS // rows
        self.expected, spread = weight[:, None] * p, (weight**2)[:, None] * p * (1 - p)
        moments = np.stack([(spread * self.x**power).sum(axis=0) for power in range(3)])
        self.inverse = np.linalg.pinv(moments[[[0, 1], [1, 2]]].transpose(2, 0, 1), hermitian=True)
        self.in_bins, self.spread = (
            np.bincount(self.bins.ravel(), column.ravel(), self.classes * BINS) for column in (self.expected, spread)
        )

    def redraw(self, times: int, generator: np.random.Generator) -> Array:
        """Draw classes from the probabilities: files × rows."""
        luck = generator.random((times, len(self.probabilities)))
        classes = np.zeros(luck.shape, np.int64)
        for edge in self.edges:
            classes += luck > edge
        return classes

    def at(self, classes: Array) -> Looks:
        """Both statistics of each file, added up over the classes."""
        rows, files = np.arange(len(self.probabilities)), len(classes)
        weight = np.broadcast_to(self.weight, classes.shape)

        def added(places: Array, values: Array, size: int) -> Array:
            cells = np.arange(files)[:, None] * size + places
            return np.bincount(cells.ravel(), values.ravel(), files * size).reshape(files, size)

        seen = [added(classes, weight * column, self.classes) for column in (1.0, self.x[rows, classes])]
        pulls = np.stack([seen[0] - self.expected.sum(0), seen[1] - (self.expected * self.x).sum(0)], -1)
        line = np.einsum("fci,cij,fcj->f", pulls, self.inverse, pulls)
        surplus = added(self.bins[rows, classes], weight, len(self.spread)) - self.in_bins
        known = self.spread > 1e-12 * self.spread.max()
        return line, (surplus[:, known] ** 2 / self.spread[known]).sum(axis=1)

    def share(self, files: Array) -> float:
        """The mean share of the Brier score that is miscalibration in such files."""
        gains, losses = np.zeros(len(files)), np.zeros(len(files))
        for c in range(self.classes):
            p, place = np.unique(self.probabilities[:, c], return_inverse=True)
            weights = np.bincount(place, self.weight)
            for i, classes in enumerate(files):
                positives = np.bincount(place, self.weight * (classes == c))
                gains[i] += gain(p, positives, weights)[0]
                losses[i] += squared_error(p, positives, weights)
        return mean_share(gains, losses)


# ── miscalibration ───────────────────────────────────────────────────────────────────────────────────────────────
def gain(scores: Array, positives: Array, weights: Array) -> tuple[float, Array]:
    """The squared error that the rising curve would save in all rows together, and the curve."""
    from scipy.optimize import isotonic_regression

    fitted = isotonic_regression(positives / weights, weights=weights).x
    # Σ (y − p)² − Σ (y − q)², in which the squares of the truth cancel
    return float((weights * (scores**2 - fitted**2) - 2 * positives * (scores - fitted)).sum()), fitted


def squared_error(scores: Array, positives: Array, weights: Array) -> Array:
    """The squared error of all rows together; ``positives`` may have leading axes."""
    return np.asarray((positives * (1 - scores) ** 2 + (weights - positives) * scores**2).sum(axis=-1))


def mean_share(gains: Array, losses: Array) -> float:
    """The mean ratio of gains to losses."""
    known = losses > 0
    return float((gains[known] / losses[known]).mean()) if known.any() else math.nan


# ── exactly 0 or 1 ───────────────────────────────────────────────────────────────────────────────────────────────
def log_odds(probabilities: Array) -> Array:
    """Read exactly 0 and 1, which have no log odds, as half as far from the end as the nearest of the others."""
    return logistic.logit(probabilities, logistic.nearest_inside(probabilities))
