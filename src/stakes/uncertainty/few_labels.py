"""Few labels and many outputs: posterior draws of the table that all rows would make if they had a truth.

Whether a row was labelled may depend on its output alone. Then the labels give the frequency of positives at each score
(a curve with floors at both ends), or at each decision, and all rows give the frequency of each score. Where decisions
are taken, the curve is moved so that each decision's share of positives is as uncertain as its own labels make it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stakes.tallies.arithmetic import Array
from stakes.uncertainty.influence import Influence
from stakes.uncertainty.sampling import student

DRAWS = 4_000
SOFTENED = 0.8
"""Figures of the whole ranking also use a curve whose labels count for this share, beside the one of all labels."""

_TAILS = 5.0
"""Degrees of freedom of the proposals."""

_LEAST, _MOST = 1e-15, 1 - 1e-15
_MANY = 1e9
_HALVINGS = 28
"""Bisection steps: far more exact than the draws."""

_CLOSE = 1e-6
"""Tolerance of log odds."""

_SMALL = 1e-5
"""Step of numerical slopes."""


@dataclass(frozen=True, eq=False)
class Bins:
    """Rows by score: how many in each bin, how many of them are labelled positive and negative, sums of scores.

    ``cell`` is the decision of each bin (0 or 1). Where labels have weights ``unseen`` is the largest weight of another
    label of each decision, in plain labels. ``elsewhere`` are the rows without a truth, where class frequencies may
    differ from those among labelled rows; draws are then of these rows.
    """

    rows: Array
    positive: Array
    negative: Array
    score: Array
    square: Array
    cell: Array
    unseen: tuple[float, float] | None = None
    elsewhere: Array | None = None

    @property
    def means(self) -> Array:
        """The mean score of each bin."""
        return np.asarray(self.score / np.maximum(self.rows, 1e-300))


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of the numbers of positives and negatives in each bin (or decision), the first axis the draws."""

    positives: Array
    negatives: Array


def draw_tables(bins: Bins, seed: int, anchored: bool = True, power: float = 1.0, draws: int = DRAWS) -> Draws:
    """Sample the classes of all rows: by the curve, moved in each decision to the share among its labels."""
    generator = np.random.default_rng(seed)
    share = _curves(bins, generator, power, draws)
    if anchored:
        share = _anchor(bins, share, generator)
    return _with_rows(bins, share, generator)


def draw_decisions(bins: Bins, seed: int, draws: int = DRAWS) -> Draws:
    """Sample the same where rows have a decision and no score: by the labels of each decision alone."""
    generator = np.random.default_rng(seed)
    share = [_share(bins, np.arange(len(bins.rows)) == place, generator, draws) for place in range(len(bins.rows))]
    return _with_rows(bins, np.stack(share, axis=-1), generator)


def effective_labels(weight: Array, square: Array, positive: Array) -> float:
    """The effective number of weighted labels of one decision.

    It is the number of plain labels that would estimate the share of positives as well (Hájek's estimate), and at most
    Kish's number. ``weight`` and ``square`` are sums of weights and of their squares.
    """
    total = float(weight.sum())
    most = total**2 / float(square.sum())
    mean = (float(weight @ positive) / total * most + 0.5) / (most + 1)
    variance = float(square @ (positive - mean) ** 2) / total**2
    return min(most, mean * (1 - mean) / variance)


def _share(bins: Bins, here: Array, generator: np.random.Generator, draws: int) -> Array:
    """Sample the share of positives among some bins of one decision, given its labels.

    Half a label of each class is added (Jeffreys). Where labels have weights, one more label of either class is added
    instead, with the largest possible weight.
    """
    positive, negative = float(bins.positive[here].sum()), float(bins.negative[here].sum())
    if bins.unseen is None:
        return generator.beta(positive + 0.5, negative + 0.5, draws)
    more = bins.unseen[int(bins.cell[here][0])] * (np.arange(draws) % 2)
    sides = np.maximum(positive + more, 1e-9), np.maximum(negative + more.max() - more, 1e-9)
    return np.asarray(generator.beta(*sides))


def _with_rows(bins: Bins, share: Array, generator: np.random.Generator) -> Draws:
    """Sample the number of rows in each bin, too."""
    rows = bins.rows if bins.elsewhere is None else bins.elsewhere
    many = generator.gamma(np.maximum(rows, 1e-300), size=share.shape)
    if bins.elsewhere is not None:
        labelled = generator.gamma(np.maximum(bins.positive + bins.negative, 1e-300), size=share.shape)
        share = _shifted(share, labelled, many)
    return Draws(many * share, many * (1 - share))


def _shifted(share: Array, labelled: Array, rows: Array) -> Array:
    """The share of positives in each bin of other rows, whose scores within each class are as among labelled rows.

    Likelihood ratios of the scores come from the labelled rows; the frequency of positives in the other rows maximises
    the likelihood of their scores. EM (Saerens 2002) climbs to the same maximum.
    """
    share = np.clip(share, 1e-12, 1 - 1e-12)
    base = (labelled * share).sum(axis=-1, keepdims=True) / labelled.sum(axis=-1, keepdims=True)
    ratio = share / (1 - share) * (1 - base) / base
    low, high = np.zeros((len(share), 1)), np.ones((len(share), 1))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        rises = (rows * (ratio - 1) / (middle * ratio + 1 - middle)).sum(axis=-1, keepdims=True) > 0
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    return np.asarray(low * ratio / (low * ratio + 1 - low))


# ── the curve ────────────────────────────────────────────────────────────────────────────────────────────────────
def _curves(bins: Bins, generator: np.random.Generator, power: float, draws: int) -> Array:
    """Sample the share of positives in each bin: a logistic curve of the logit between a floor and a ceiling."""
    labelled = float((bins.positive + bins.negative).sum())
    base = (float(bins.positive.sum()) + 0.5) / (labelled + 1)
    centre = math.log(base / (1 - base))
    means = np.clip(bins.means, _LEAST, _MOST)
    steps = _logit(means) - centre

    seen = bins.positive + bins.negative > 0
    positive, negative, labelled_steps = bins.positive[seen], bins.negative[seen], steps[seen]

    def shares(where: Array, steps: Array) -> Array:
        level, slope, floor, ceiling = np.moveaxis(where, -1, 0)[..., None]
        low, high = base * _sigmoid(floor), (1 - base) * _sigmoid(ceiling)
        return np.asarray(low + (1 - low - high) * _sigmoid(level + slope * steps))

    def chance(where: Array) -> Array:
        share = np.clip(shares(where, labelled_steps), 1e-12, 1 - 1e-12)
        likely = np.log(share) @ positive + np.log1p(-share) @ negative
        level, slope, floor, ceiling = np.moveaxis(where, -1, 0)
        expected = -((slope - 1) ** 2) / 2 - (level - centre) ** 2 / 8
        return np.asarray(power * likely + expected + _beta(floor) + _beta(ceiling))

    start = np.array([centre, 1.0, -2.0, -2.0])
    return shares(_sampled(chance, start, generator, draws), steps)


def _sigmoid(x: Array) -> Array:
    return np.asarray(0.5 * (1 + np.tanh(x / 2)))


def _logit(share: Array) -> Array:
    return np.asarray(np.log(share / (1 - share)))


def _beta(x: Array) -> Array:
    """The logarithm of a Beta(½, 2) density, of a logit."""
    return np.asarray(0.5 * x - 2.5 * np.logaddexp(0, x))


def _sampled(chance: Callable[[Array], Array], start: Array, generator: np.random.Generator, draws: int) -> Array:
    """Sample parameters by importance resampling: heavy-tailed proposals around the mode."""
    from scipy.optimize import minimize

    steps = _SMALL * np.eye(len(start))

    def slope(x: Array) -> Array:
        return np.asarray((chance(x - steps) - chance(x + steps)) / (2 * _SMALL))

    best = minimize(lambda x: -float(chance(x)), start, method="BFGS", jac=slope).x
    spread = _spread(chance, best)
    proposed = generator.standard_normal((4 * draws, len(best)))
    stretch = np.sqrt(generator.chisquare(_TAILS, 4 * draws) / _TAILS)
    found = best + (proposed / stretch[:, None]) @ spread.T
    density = -(_TAILS + len(best)) / 2 * np.log1p((proposed**2).sum(axis=1) / stretch**2 / _TAILS)
    weight = chance(found) - density
    weight = np.exp(weight - weight.max())
    return np.asarray(found[generator.choice(len(found), draws, p=weight / weight.sum())])


def _spread(chance: Callable[[Array], Array], best: Array) -> Array:
    """A root of the covariance at the mode; along flat directions no wider than the priors."""
    step, size = 0.05, len(best)
    one, other = step * np.eye(size)[:, None], step * np.eye(size)
    corners = np.stack([one + other, one - other, other - one, -one - other])
    bent = np.tensordot([1, -1, -1, 1], chance(best + corners), axes=1) / (4 * step**2)
    values, vectors = np.linalg.eigh(-bent)
    return np.asarray(vectors * (1.2 / np.sqrt(np.maximum(values, 0.05))))


# ── moved to what each decision's labels say ─────────────────────────────────────────────────────────────────────
def _anchor(bins: Bins, share: Array, generator: np.random.Generator) -> Array:
    """Move the log odds of each decision's bins until the mean over its labelled rows is what its labels allow."""
    labelled = bins.positive + bins.negative
    moved = share.copy()
    for cell in np.unique(bins.cell):
        here = bins.cell == cell
        if not labelled[here].any():
            continue  # without labels the curve stands
        wanted = _share(bins, here, generator, len(share))
        moved[:, here] = _shift(share[:, here], labelled[here] / labelled[here].sum(), wanted)
    return moved


def _shift(share: Array, weight: Array, wanted: Array) -> Array:
    """Shift the log odds of each draw until the weighted mean is as wanted: by Newton's steps, or bisection.

    The log odds of the mean are nearly linear in the shift, so few steps are needed.
    """
    share = np.clip(share, 1e-12, 1 - 1e-12)
    seen = weight > 0
    odds = share / (1 - share)
    of_seen, weight = odds[:, seen], weight[seen]
    low, high = np.full(len(share), -40.0), np.full(len(share), 40.0)
    goal, shift = _logit(np.clip(wanted, 1e-12, 1 - 1e-12)), np.zeros(len(share))
    for _ in range(_HALVINGS):
        moved = of_seen * np.exp(shift)[:, None]
        moved /= 1 + moved
        mean = np.clip(moved @ weight, _LEAST, _MOST)
        away = goal - _logit(mean)
        if np.abs(away).max() < _CLOSE:
            break
        low, high = np.where(away > 0, shift, low), np.where(away > 0, high, shift)
        guess = shift + away * mean * (1 - mean) / np.maximum((moved * (1 - moved)) @ weight, 1e-300)
        shift = np.where((guess > low) & (guess < high), guess, (low + high) / 2)
    moved = odds * np.exp(shift)[:, None]
    return np.asarray(moved / (1 + moved))


# ── decisions between several classes ────────────────────────────────────────────────────────────────────────────
def stratified(figure: Callable[[Array], Array], labels: Array, rows: Array) -> tuple[float, Influence]:
    """A figure of the table of all rows, estimated by the labels of each decision, and its influences.

    ``labels`` are counts of classes (first axis) and decisions, ``rows`` the number of rows of each decision. Changes
    by one label come first, then those by one row of each decision; a decision without labels is taken to be right.
    """

    def table(counts: Array) -> Array:
        total = counts.sum(axis=-2, keepdims=True)
        share = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
        return np.asarray(np.where(total > 0, share, np.eye(len(rows))) * rows)

    whole, held = table(labels), labels.sum(axis=0)
    value, every = float(figure(whole)), np.eye(labels.size).reshape(-1, *labels.shape)
    seen = labels.ravel() > 0
    changes = np.nan_to_num(value - figure(table(labels - every[seen])))
    unseen = float(np.nanmax(np.abs(figure(table(labels + every)) - value), initial=0.0))
    # a single label says nothing about the spread within its decision
    sizes = np.where(held > 1, held, _MANY)[np.nonzero(labels)[1]]
    found = Influence(changes, labels[labels > 0], sizes, float(labels.sum()) - 1, unseen)
    there = rows > 0
    less = whole - (whole / np.maximum(rows, 1.0)) * np.eye(len(rows))[there][:, None, :]
    return value, found.joined(np.nan_to_num(value - figure(less)), rows[there])


# ── means of numbers ─────────────────────────────────────────────────────────────────────────────────────────────
def regressed_mean(
    seen: Array, beside: tuple[Array, Array] | None, confidence: float, weight: Array | None = None
) -> tuple[float, float, float]:
    """The mean of a number known in few rows, and its limits: the regression estimate with a number known in all rows.

    ``beside`` is that other number in the rows that were ``seen``, and in all rows; without it the plain mean is taken.
    Residuals are those from a line fitted without the row (jackknife). Rows were seen at random, or each stands for as
    many as its ``weight``.
    """
    share = np.full(len(seen), 1 / len(seen)) if weight is None else weight / weight.sum()
    n = 1 / float((share**2).sum())
    mean, slope, between = float(share @ seen), 0.0, 0.0
    distance = (seen - mean) / (1 - share)
    if beside is not None and (spread := float(share @ (away := beside[0] - share @ beside[0]) ** 2)) > 0:
        slope = float((share * away) @ (seen - mean)) / spread
        moved = float(beside[1].mean() - share @ beside[0])
        distance = (seen - mean - slope * away) / np.maximum(1 - share - share * away**2 / spread, 1e-9)
        share = share * (1 + moved * away / spread)
        mean += slope * moved
        between = slope**2 * float(beside[1].var(ddof=1)) / len(beside[1])
    error = math.sqrt(float(((share * distance) ** 2).sum()) + between)
    reach = student((1 + confidence) / 2, n - 1 - (slope != 0)) * error
    return mean, mean - reach, mean + reach
