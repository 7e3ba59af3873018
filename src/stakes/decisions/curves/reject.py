"""Reject curves: how much better are the decisions that remain when the riskiest cases are left to somebody else?

The risk of a case is the expected cost of its decision by the model's own probabilities. Errors without a price cost 1
each; a threshold t says that a miss weighs 2 − 2t and a false alarm 2t, so that the risk is largest at t. Cases are
rejected by falling risk, those of equal risk together. Rejecting at random would leave the share of errors, or the mean
cost, as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from stakes import errors
from stakes.decisions.curves.curve import Band, ClassScored, Curve, Scored, ScoredRows, bootstrap_band
from stakes.errors import Given, InputError, Pass
from stakes.question.options import Value
from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array, divide, is_real
from stakes.tallies.class_scores import ClassSample
from stakes.tallies.clusters import Clusters
from stakes.tallies.costs import Costs
from stakes.tallies.scores import growing
from stakes.uncertainty.sampling import Sampling

_BITS = 40
"""Risks that agree in so many bits are equal."""


@dataclass(frozen=True, eq=False)
class _Cases:
    """Rows with their risks and decisions; ``prices`` (truth × decision) are the costs of decisions."""

    rows: ScoredRows
    risk: Array
    decided: Array
    prices: Array
    note: str = ""

    @cached_property
    def losses(self) -> Array:
        """What the decision about each case costs."""
        return self.prices[self.rows.truth, self.decided]


def reject_curve(scored: Scored | ClassScored, *, costs: Value = None, threshold: Value = None) -> Curve:
    """Return the share of wrong decisions (with costs, the mean cost) among the kept against the share rejected.

    ``thresholds`` are the largest risks that are kept; ``area`` is the mean height, each point holding until the next.
    """
    if costs is not None and not isinstance(costs, Costs):
        raise errors.not_costs(costs)
    if isinstance(scored, Scored):
        cases = _cases_of_two(scored, costs, threshold)
    elif threshold is not None:
        raise errors.threshold_of_many()
    else:
        cases = _cases_of_many(scored, costs)
    negated, places = np.unique(-_alike(cases.risk), return_inverse=True)
    size = len(negated)
    thresholds = np.full(size, -np.inf)
    np.maximum.at(thresholds, places, cases.risk)
    weight = cases.rows.weight
    weights, losses = (np.bincount(places, column, size) for column in (weight, weight * cases.losses))
    kept, lost = (np.cumsum(column[::-1])[::-1] for column in (weights, losses))
    x, y = (kept[0] - kept) / kept[0], divide(lost, kept, np.nan)  # a prior of 0 can leave nobody
    height, random = "error_rate" if costs is None else "mean_cost", {"at random": np.full(size, y[0])}
    held = scored.sampling if scored.population is None else replace(scored.sampling, design="classes fixed")
    band, area = partial(_band, cases, size - 1 - places, x, y, held), float(weights @ y / kept[0])
    return Curve("reject", "share_rejected", height, x, y, thresholds, band, random, area, cases.note)


def _alike(risk: Array) -> Array:
    """Round off the last bits, so that 0.3 and 1 − 0.7 are the same risk."""
    parts, powers = np.frexp(risk)
    return np.asarray(np.ldexp(np.rint(np.ldexp(parts, _BITS)), powers - _BITS))


def _band(cases: _Cases, ranks: Array, x: Array, y: Array, sampling: Sampling) -> Band:
    """The limits of y at some of the points, from resampled cases; ``ranks`` are 0 for those of the least risk."""
    cuts = growing(len(x))  # how many of the risks are kept: every number where they are few
    places = (len(x) - cuts)[::-1]

    def heights() -> list[Array]:
        pieces = np.searchsorted(cuts, ranks, side="right")
        bootstrap = _bootstrap_rows if sampling.clusters is None else partial(_bootstrap_clusters, sampling.clusters)
        kept, lost = bootstrap(cases, pieces, len(cuts), sampling)
        rejected = 1 - kept / kept[:, -1:]
        lines = zip(rejected[:, ::-1], (lost / kept)[:, ::-1], strict=True)
        return [np.interp(x[places], share, height) for share, height in lines]

    return bootstrap_band(x[places], heights, sampling, y[places])


def _bootstrap_rows(cases: _Cases, pieces: Array, size: int, sampling: Sampling) -> tuple[Array, Array]:
    """The weight and the cost of kept cases in resamples (draws × cuts); cases of equal cost are drawn together."""
    from stakes.uncertainty.bootstrap import gamma_like, replicates_of  # only bands need it

    (K, M), rows = cases.prices.shape, cases.rows
    labels = np.stack([np.repeat(np.arange(K), M) * sampling.fixed, cases.prices.ravel()])
    kinds, kind_of = np.unique(labels, axis=1, return_inverse=True)
    cells = kind_of.ravel()[rows.truth * M + cases.decided] * size + pieces

    def sums(column: Array) -> Array:
        return np.bincount(cells, column, kinds.shape[1] * size).reshape(-1, size).astype(np.float64)

    squares = None if rows.squares is None else sums(rows.squares)
    draws = gamma_like(sums(rows.weight), squares, replicates_of(kinds.shape[1] * size), sampling)
    classes = (kinds[0, :, None] == np.arange(K)).astype(np.float64)
    kept, lost = (np.einsum("rcs,ck->rks", draws, each) for each in (classes, classes * kinds[1][:, None]))
    unit = 1.0 if rows.squares is None else float(rows.squares.sum() / rows.weight.sum())
    return _cumulate(cases, kept, lost, unit, sampling)


def _bootstrap_clusters(
    clusters: Clusters, cases: _Cases, pieces: Array, size: int, sampling: Sampling
) -> tuple[Array, Array]:
    """The same when whole clusters are resampled."""
    from stakes.uncertainty.bootstrap import cluster_weights  # only bands need it

    K, weight = len(cases.prices), cases.rows.weight
    cells = (clusters.groups * K + cases.rows.truth) * size + pieces
    weights = cluster_weights(sampling, sampling.generator())
    columns = (weight, weight * cases.losses)
    sums = (np.bincount(cells, column, clusters.size * K * size).reshape(-1, K, size) for column in columns)
    kept, lost = (np.tensordot(weights, each, 1) for each in sums)
    return _cumulate(cases, kept, lost, float(weight.sum()) / clusters.size, sampling)


def _cumulate(cases: _Cases, kept: Array, lost: Array, unit: float, sampling: Sampling) -> tuple[Array, Array]:
    """Add up from the least risk on (draws × class × piece).

    Half a unit at the highest and half at the lowest price is added at the least risk: where these rows have no
    errors, others may.
    """
    if sampling.fixed:
        wanted = np.bincount(cases.rows.truth, cases.rows.weight, kept.shape[1])
        factors = divide(wanted, kept.sum(-1), 1.0)[..., None]
        kept, lost = kept * factors, lost * factors
    low, high = np.random.default_rng(sampling.seed + 1).standard_gamma(0.5, (2, len(kept), 1)) * unit
    prices = cases.prices.min(), cases.prices.max()
    kept, lost = (np.cumsum(column.sum(1), axis=-1) for column in (kept, lost))
    return kept + low + high, lost + low * prices[0] + high * prices[1]


# ── two classes ──────────────────────────────────────────────────────────────────────────────────────────────────
def _cases_of_two(scored: Scored, costs: Costs | None, threshold: Value) -> _Cases:
    """Return the cases of two classes, decided by a threshold, or as costs least."""
    scored.need("reject", "probabilities")
    if costs is not None and threshold is not None:
        raise InputError(
            "costs-or-threshold",
            Given("costs"),
            " decide by themselves where the threshold lies; give either ",
            Pass("costs"),
            " or ",
            Pass("threshold"),
        )
    if costs is None:
        starts, prices, reckoned = _rule_of_threshold(scored, threshold)
    else:
        starts, prices = _rule_of_costs(scored, costs)
        reckoned = prices
    clusters = scored.sampling.clusters
    rows = _of_table(scored.table) if clusters is None else ScoredRows.of(clusters)
    decided = np.searchsorted(starts, rows.scores, side="right") - 1
    p = rows.scores if scored.population is None or costs is None else scored.population.correct(rows.scores)
    risk = (1 - p) * reckoned[0, decided] + p * reckoned[1, decided]
    return _Cases(_there(scored, rows, (scored.table.negative, scored.table.positive)), risk, decided, prices)


def _there(scored: Scored | ClassScored, rows: ScoredRows, names: Sequence[str]) -> ScoredRows:
    """The rows, counted as often as their classes are where the model is used."""
    if scored.population is None:
        return rows
    factors = scored.population.weights(rows.truth, rows.weight, names)
    squares = (rows.weight if rows.squares is None else rows.squares) * factors**2
    return replace(rows, weight=rows.weight * factors, squares=squares)


def _of_table(table: ScoreTable) -> ScoredRows:
    """The scores at which there are negatives, then those at which there are positives."""
    columns, names = table.as_columns(), ("negatives", "positives")
    present = [np.flatnonzero(columns.values[name]) for name in names]

    def joined(suffix: str) -> Array:
        parts = zip(names, present, strict=True)
        return np.concatenate([columns.values[name + suffix][places] for name, places in parts])

    scores = columns.scores.astype(np.float64)[np.concatenate(present)]
    truth = np.repeat([0, 1], [len(places) for places in present])
    return ScoredRows(scores, truth, joined(""), joined("_squared") if table.weighted else None)


def _rule_of_threshold(scored: Scored, threshold: Value) -> tuple[Array, Array, Array]:
    """From which score on each decision is taken, what it costs (class × decision), and the costs behind the risk."""
    cut = next((one for one in (threshold, scored.threshold) if one is not None), 0.5)
    if not is_real(cut) or cut != cut:
        raise errors.bad_threshold(cut)
    alarm = 2 * min(max(float(cut), 0.0), 1.0)
    return np.array([-np.inf, cut]), np.array([[0.0, 1], [1, 0]]), np.array([[0.0, alarm], [2 - alarm, 0]])


def _rule_of_costs(scored: Scored, costs: Costs) -> tuple[Array, Array]:
    """From which score on each decision costs least, and what it costs (class × decision)."""
    table = scored.table
    matrix, names = costs.matrix, costs.decisions or ("negative", "positive")
    if costs.classes is not None:
        matrix = costs.for_table((table.negative, table.positive), names, table.positive)
    points = costs.switch_points(table.positive)
    prices = np.array(matrix, np.float64)[:, [names.index(decision) for decision, _ in points]]
    return np.append(-np.inf, scored.scores_of(np.array([float(start) for _, start in points[1:]]))), prices


# ── several classes ──────────────────────────────────────────────────────────────────────────────────────────────
def _cases_of_many(scored: ClassScored, costs: Costs | None) -> _Cases:
    """Return the cases of several classes, each decided for its highest score, or as costs least."""
    clusters, sample = scored.sampling.clusters, scored.scores.sample
    source = sample if clusters is None else clusters.with_scores
    if source is None:
        raise errors.no_curve("reject", "only sums were kept of them; evaluate the rows themselves")
    rows, classes = ScoredRows.of(source), scored.scores.classes
    if costs is None:
        decided, prices = rows.scores.argmax(axis=1), 1.0 - np.eye(len(classes))
        risk = float(scored.probabilities) - rows.scores.max(axis=1)
    else:
        if not scored.probabilities:
            raise errors.no_curve("reject", "costs need probabilities, and the scores lie outside [0, 1]")
        prices = np.array(costs.for_table(classes, costs.decisions or classes, None), np.float64)
        probabilities = rows.scores if scored.population is None else scored.population.correct(rows.scores)
        expected = probabilities @ prices
        decided, risk = expected.argmin(axis=1), expected.min(axis=1)
    # sampled rows stand for more rows than they are
    thinned = isinstance(source, ClassSample) and not np.array_equal(source.squares, source.weight**2)
    rows = _there(scored, rows, classes)
    return _Cases(rows, risk, decided, prices, f"from a sample of {len(rows.truth):,} rows" if thinned else "")
