"""Reliability: how often a thing happened, among the cases of which a probability was said."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from stakes.decisions.calibration import logistic
from stakes.decisions.calibration.honesty_test import (
    REDRAWN,
    HonestyTest,
    compare_with_redrawn,
    distance,
    gain,
    log_odds,
    mean_share,
    squared_error,
)
from stakes.decisions.calibration.isotonic import rising_curve, upwards
from stakes.errors import Given, InputError, some
from stakes.records import Record
from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import MOST_BINS, check_whole, is_one_of
from stakes.tallies.parallel import run_all
from stakes.tallies.steps import Steps
from stakes.uncertainty.sampling import Sampling
from stakes.uncertainty.shares import wilson

BINNINGS = ("mass", "width")

_MOST_SCORES = 500
"""Scores beyond this many are put together, equally many rows each, before the truth is redrawn."""

_CLUSTERED = "it takes rows as independent, and these come in clusters"


@dataclass(frozen=True, eq=False)
class Bins(Record):
    """Cases put together by their probability: the mean of it, how often the thing happened, and Wilson's limits.

    Bins without rows are left out. ``no_limits`` says why limits are NaN, where they are.
    """

    by: str
    mean_probability: Array
    frequency: Array
    rows: Array
    low: Array
    high: Array
    no_limits: str = ""


@dataclass(frozen=True, eq=False)
class Honest(Record, shown="probability low high confidence *test"):
    """What honest probabilities would look like in a file like this one: the truth redrawn from them many times.

    ``low`` and ``high`` are, at each ``probability`` by itself (pointwise, not all the way at once), where the rising
    curve would run; ``test`` says how many of the redrawn files looked at least as far off as this one.
    """

    probability: Array
    low: Array
    high: Array
    confidence: float
    test: HonestyTest

    @property
    def p_value(self) -> float:
        """The p-value of the probabilities being honest; never 0."""
        return self.test.p_value


@dataclass(frozen=True, eq=False, repr=False)
class Reliability(Record, shown="bins curve band no_band"):
    """The reliability curve: in bins, and as the rising curve nearest to the data, which needs no bins.

    ``probability`` and ``frequency`` are the points between which the rising curve runs straight.
    """

    bins: Bins
    probability: Array
    frequency: Array
    redrawn: Callable[[], Honest | None]

    @property
    def band(self) -> Honest | None:
        """Where the rising curve would run if the probabilities were honest; None when rows come in clusters."""
        return self.redrawn()

    @property
    def curve(self) -> dict[str, Array]:
        """The points of the rising curve by name."""
        return {"probability": self.probability, "frequency": self.frequency}

    @property
    def no_band(self) -> str:
        """Why there is no band."""
        return _CLUSTERED if self.band is None else ""

    def __repr__(self) -> str:
        return f"<Reliability in {len(self.bins.rows)} bins of equal {self.bins.by}>"


def reliability(
    table: ScoreTable, bins: int, by: str, sampling: Sampling, redrawn: Callable[[], Honest | None]
) -> Reliability:
    """Return the reliability curve of a table of probabilities; ``redrawn`` makes its band when it is wanted."""
    check_whole("bins", bins, 1, MOST_BINS)
    if not is_one_of(by, BINNINGS):
        raise InputError(
            "no-such-binning", Given("by", by), f" is no way to cut bins; it is {some(BINNINGS, last='or')}"
        )
    return Reliability(_bins(table, bins, by, sampling), *rising_curve(table), redrawn)


def _bins(table: ScoreTable, bins: int, by: str, sampling: Sampling) -> Bins:
    scores, positives, weights, squares = _columns(table)
    if by == "mass":
        place = _by_mass(weights, bins)
    else:
        place = np.clip(np.searchsorted(np.arange(bins) / bins, scores, side="right") - 1, 0, bins - 1)

    def added(column: Array) -> Array:
        return np.bincount(place, column, bins)[present]

    present = np.bincount(place, minlength=bins) > 0
    rows = added(weights)
    frequency = added(positives) / rows
    limits, why = np.full((len(rows), 2), np.nan), _CLUSTERED
    if sampling.clusters is None:
        telling = zip(frequency.tolist(), (rows**2 / added(squares)).tolist(), strict=True)
        limits, why = np.array([wilson(share, n, sampling.confidence) for share, n in telling]), ""
    return Bins(by, added(weights * scores) / rows, frequency, rows, limits[:, 0], limits[:, 1], why)


def _by_mass(weights: Array, bins: int) -> Array:
    """The bin of each score when the rows are cut into equal numbers from the highest on; ties stay together."""
    total = float(weights.sum())
    before = np.append(np.cumsum(weights[::-1])[:-1][::-1], 0.0)
    return bins - np.searchsorted(np.arange(bins) * (total / bins), before, side="right")


def _columns(table: ScoreTable) -> tuple[Array, Array, Array, Array]:
    """The scores from the lowest on, with the positives, Σw and Σw² at each."""
    scores, positives, negatives = upwards(table)
    weights, values = positives + negatives, table.as_columns().values
    if not table.weighted:
        return scores, positives, weights, weights
    return scores, positives, weights, (values["positives_squared"] + values["negatives_squared"])[::-1]


# ── what honest probabilities would look like ────────────────────────────────────────────────────────────────────
def honest(table: ScoreTable, sampling: Sampling) -> Honest | None:
    """Redraw the truth from the probabilities many times; None when rows come in clusters.

    A bootstrap of the rising curve itself would not do: it is not consistent (Sen, Banerjee & Woodroofe, 2010).
    """
    if sampling.clusters is not None:
        return None
    scores, positives, weights, telling = _thin(table if table.total <= _MOST_SCORES else group_scores(table))
    scores = np.minimum(scores, 1.0)  # means may be rounded beyond it
    if sampling.fixed and table.P and table.N:  # the design, not the model, says how frequent the classes are
        x = log_odds(scores)
        scores = logistic.probability(x + logistic.shift(x, positives, weights - positives))
    draws = sampling.generator().binomial(telling, scores, (REDRAWN, len(scores))) / telling * weights
    files = np.concatenate([positives[None], draws])
    found = [gain(scores, drawn, weights) for drawn in files]
    gains = np.array([saved for saved, _ in found])
    places = np.linspace(scores[0], scores[-1], 101)
    heights = [np.interp(places, scores, fitted) for _, fitted in found[1:]]
    low, high = sampling.percentiles(np.array(heights))
    columns = np.stack([np.ones(len(scores)), log_odds(scores)])
    line = distance((files - weights * scores) @ columns.T, columns, weights**2 / telling * scores * (1 - scores))
    share = mean_share(gains[1:], squared_error(scores, draws, weights))
    return Honest(places, low, high, sampling.confidence, compare_with_redrawn(line, gains, share))


def _thin(table: ScoreTable) -> tuple[Array, Array, Array, Array]:
    """Scores with positives, weights and the rows that tell as much; many scores are put together to their means."""
    scores, positives, weights, squares = _columns(table)
    if len(scores) > _MOST_SCORES:
        place = np.unique(_by_mass(weights, _MOST_SCORES), return_inverse=True)[1]
        sums = [np.bincount(place, column) for column in (weights * scores, positives, weights, squares)]
        scores, positives, weights, squares = sums[0] / sums[2], *sums[1:]
    telling = np.maximum(np.rint(weights**2 / squares), 1).astype(np.int64)
    return scores, positives, weights, telling


# ── what a picture needs of very many rows ───────────────────────────────────────────────────────────────────────
def group_scores(table: ScoreTable, groups: int = _MOST_SCORES) -> ScoreTable:
    """Return a table of about so many scores: neighbours in the ranking, equally many rows each, share their mean.

    Weighted tables, which are small enough to be kept as columns, stay as they are.
    """
    if table.weighted:
        return table
    edges = np.arange(groups) * (float(table.total) / groups)
    parts = run_all([partial(_pieces, block, edges) for block in table.blocks()], int(table.total))
    sums, positives, rows = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    names = {"positive": table.positive, "negative": table.negative}
    return ScoreTable.from_columns(sums / rows, positives, rows - positives, **names)


def _pieces(block: Callable[[], Steps], edges: Array) -> list[Array]:
    """The sums of scores, the positives and the rows of the pieces into which the edges cut a block."""
    steps = block()
    before = steps.rows_before
    here = edges[slice(*np.searchsorted(edges, (before[0], before[-1]), side="right"))]
    starts = np.unique(np.append(0, np.searchsorted(before, here)))
    return [np.add.reduceat(column, starts) for column in (steps.scores * steps.rows, steps.positives, steps.rows)]
