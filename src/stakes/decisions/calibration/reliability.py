"""Reliability: how often an event happened, among the cases with a given probability."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from stakes.decisions.calibration.honesty_test import (
    BINS,
    REDRAWN,
    SHARES,
    HonestyTest,
    Looks,
    distance,
    gain,
    judge_by_redrawing,
    log_odds,
    mean_share,
    squared_error,
)
from stakes.decisions.calibration.isotonic import rising_curve
from stakes.errors import Given, InputError, some
from stakes.metrics import logistic
from stakes.records import Record
from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array, weighted_sum
from stakes.tallies.checks import MOST_BINS, check_whole, is_one_of
from stakes.tallies.parallel import run_all
from stakes.tallies.steps import Steps
from stakes.uncertainty import influence
from stakes.uncertainty.influence import Influence, kish
from stakes.uncertainty.interval import wilson
from stakes.uncertainty.sampling import Sampling

BINNINGS = ("mass", "width")

_MOST_SCORES = 500
"""Scores beyond this many are merged, equally many rows each, before the truth is redrawn."""

_MOST_TESTED = 200
"""Likewise, before many probabilities are tested."""

_BY_ROW = 1000
"""The most rows that are redrawn one by one."""

_BAND_REDRAWN = 400
"""How often the truth is redrawn for the band."""

_CLUSTERED = "it takes rows as independent, and these come in clusters"


@dataclass(frozen=True, eq=False)
class Bins(Record):
    """Cases binned by their probability: its mean, how often the event happened, and Wilson's limits.

    Bins without rows are left out. Limits are NaN where a bin holds rows of a single cluster; ``no_limits`` says why,
    if that is so of all.
    """

    by: str
    mean_probability: Array
    frequency: Array
    rows: Array
    low: Array
    high: Array
    no_limits: str = ""


def rows_of(bins: Record) -> list[dict[str, float]]:
    """Return one flat dictionary per bin: of every column, its value there."""
    columns = {name: values.tolist() for name, values in vars(bins).items() if isinstance(values, np.ndarray)}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


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
    telling = zip(frequency.tolist(), (rows**2 / added(squares)).tolist(), strict=True)
    limits = np.array([wilson(share, n, sampling.confidence) for share, n in telling])
    if sampling.clusters is not None:
        lowest, alone = np.append(0.0, scores[np.flatnonzero(np.diff(place)) + 1]), limits
        limits = _limits_of_clusters(sampling, lowest, np.stack([added(positives), added(weights - positives)]))
        if sampling.clusters.grid is not None:  # rows that are shared out vary less than rows do
            limits = np.stack([np.minimum(limits[:, 0], alone[:, 0]), np.maximum(limits[:, 1], alone[:, 1])], axis=1)
    why = _CLUSTERED if np.isnan(limits).all() else ""
    return Bins(by, added(weights * scores) / rows, frequency, rows, limits[:, 0], limits[:, 1], why)


def _limits_of_clusters(sampling: Sampling, lowest: Array, counts: Array) -> Array:
    """Limits of the share of positives in bins that begin at these scores, from leaving out each cluster.

    ``counts`` are the positives and negatives of bins. Of clusters in coarse cells these are shared out.
    """
    assert sampling.clusters is not None
    held = sampling.clusters.by_level(lowest[::-1], counts[:, ::-1])[..., ::-1]
    found = np.full((len(lowest), 2), np.nan)
    for place in range(len(lowest)):
        own = held[..., place]
        own = own[own.sum(axis=1) > 0]
        sizes, (positives, rows) = own.sum(axis=1), (own[:, 0].sum(), own.sum())
        if len(own) < 2:
            continue
        share = float(positives / rows)
        changes = share - (positives - own[:, 0]) / (rows - sizes)
        units = Influence.of_units(changes, kish(sizes), unseen=max(share, 1 - share) / (rows + 1))
        limits = influence.limits(share, units, (0.0, 1.0), sampling.confidence).around(share)
        if limits.low is not None:
            found[place] = limits.low, limits.high
    return found


def _by_mass(weights: Array, bins: int) -> Array:
    """The bin of each score when the rows are cut into equal numbers from the highest on; ties stay together."""
    total = float(weights.sum())
    before = np.append(np.cumsum(weights[::-1])[:-1][::-1], 0.0)
    return bins - np.searchsorted(np.arange(bins) * (total / bins), before, side="right")


def _columns(table: ScoreTable) -> tuple[Array, Array, Array, Array]:
    """The scores from the lowest on, with the positives, Σw and Σw² at each."""
    scores, positives, negatives = table.upwards()
    weights = positives + negatives
    squares = table.as_columns().counts("_squared").sum(0)[::-1] if table.weighted else weights
    return scores, positives, weights, squares


# ── what honest probabilities would look like ────────────────────────────────────────────────────────────────────
def honest(table: ScoreTable, sampling: Sampling, test: HonestyTest) -> Honest:
    """Redraw the truth from the probabilities many times, and see where the rising curve runs; ``test`` goes with it.

    A bootstrap of the rising curve itself would not do: it is not consistent (Sen, Banerjee & Woodroofe, 2010).
    """
    rows = _Redrawable.of(table, sampling, _MOST_SCORES)
    places = np.linspace(rows.scores[0], rows.scores[-1], 101)
    redrawn = rows.redraw(_BAND_REDRAWN, sampling.generator())
    heights = [np.interp(places, rows.scores, gain(rows.scores, one, rows.weights)[1]) for one in redrawn]
    return Honest(places, *sampling.percentiles(np.array(heights)), sampling.confidence, test)


def judge_scores(table: ScoreTable, sampling: Sampling) -> HonestyTest:
    """Redraw the truth of two classes, whose rows are independent, and test the line and the shape."""
    most = _MOST_TESTED if table.total > _BY_ROW else _BY_ROW
    rows, generator = _Redrawable.of(table, sampling, most), sampling.generator()
    bins = _by_mass(rows.weights, BINS)
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    tenths = (bins == bins[starts][:, None]).astype(np.float64)
    odds, variances = log_odds(rows.scores), rows.variances
    line = np.stack([np.ones(len(bins)), odds])
    expected = rows.weights * rows.scores

    def look(files: Array) -> Looks:
        shape = np.add.reduceat(files, starts, axis=1) - np.add.reduceat(expected, starts)
        pulls = np.stack([shape.sum(axis=1), np.einsum("ij,j->i", files, odds) - weighted_sum(expected, odds)], axis=-1)
        return distance(pulls, line, variances), distance(shape, tenths, variances)

    fine = rows if most == _BY_ROW else _Redrawable.of(table, sampling, _BY_ROW)
    some = fine.redraw(SHARES, generator)
    gains = np.array([gain(fine.scores, one, fine.weights)[0] for one in some])
    share = mean_share(gains, squared_error(fine.scores, some, fine.weights))
    here = look(rows.positives[None])
    return judge_by_redrawing(here, lambda times: look(rows.redraw(times, generator)), REDRAWN, share)


@dataclass(frozen=True, eq=False)
class _Redrawable:
    """Scores with positives, weights and effective numbers of rows, from which the truth can be redrawn."""

    scores: Array
    positives: Array
    weights: Array
    telling: Array

    @classmethod
    def of(cls, table: ScoreTable, sampling: Sampling, most: int) -> "_Redrawable":
        """Take the scores of a table; more than ``most`` are merged to means."""
        scores, positives, weights, squares = _columns(table if table.total <= most else group_scores(table, most))
        if len(scores) > most:
            place = np.unique(_by_mass(weights, most), return_inverse=True)[1]
            sums = [np.bincount(place, column) for column in (weights * scores, positives, weights, squares)]
            scores, positives, weights, squares = sums[0] / sums[2], *sums[1:]
        scores = np.minimum(scores, 1.0)  # means may be rounded beyond it
        if sampling.fixed and table.P and table.N:  # the design fixes the class frequencies
            x = log_odds(scores)
            scores = logistic.probability(x + logistic.shift(x, positives, weights - positives))
        return cls(scores, positives, weights, np.maximum(np.rint(weights**2 / squares), 1).astype(np.int64))

    @property
    def variances(self) -> Array:
        """How much the positives at each score vary."""
        return np.asarray(self.weights**2 / self.telling * self.scores * (1 - self.scores))

    def redraw(self, times: int, generator: np.random.Generator) -> Array:
        """The positives at each score (second axis) of so many redrawn files."""
        ends = np.cumsum(self.telling)
        hits: Array
        if ends[-1] > _BY_ROW:
            hits = generator.binomial(self.telling, self.scores, (times, len(ends)))
        else:  # one draw per row is quicker
            hits = generator.random((times, ends[-1])) < np.repeat(self.scores, self.telling)
            if len(ends) < ends[-1]:
                hits = np.add.reduceat(hits, ends - self.telling, axis=1, dtype=np.float64)
        return np.asarray(hits * (self.weights / self.telling))


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
