"""Cost curves: what the best threshold costs, for every ratio of costs at once (Drummond & Holte 2006).

The x axis is the probability-cost P·miss / (P·miss + N·false_alarm): the share of the cost at stake that lies with
misses. There a threshold costs FNR·x + FPR·(1 − x), where always deciding wrong would cost 1: a straight line. The
curve is the lowest of all these lines; its pieces belong to the corners of the ROC curve's hull.
"""

import functools
from dataclasses import replace

import numpy as np

from stakes.decisions.curves.curve import Band, Curve, Scored, bootstrap_band, bootstrap_tables
from stakes.decisions.curves.hull import roc_hull
from stakes.metrics.declare import Figure
from stakes.metrics.rates import false_positive_rate, miss_rate
from stakes.tallies.arithmetic import Array, exact, ratio
from stakes.tallies.checks import check_threshold
from stakes.tallies.costs import Costs

_PLACES = np.linspace(0, 1, 101)
_NOTE = "each threshold was chosen on the rows that it is judged on, which flatters the curve"


def cost_curve(scored: Scored, *, threshold: float | None = None) -> Curve:
    """Return the corners of the lower envelope, each with the threshold that is best from it on; of one, its line."""
    scored.need("cost", "positives", "negatives")
    x, y, thresholds = _envelope(scored) if threshold is None else _line(scored, threshold)
    trivial = {"never": x.copy(), "always": 1 - x}
    note = _NOTE if threshold is None else ""
    band = functools.partial(_band, scored, x, y, thresholds)
    made = Curve("cost", "probability_cost", "normalised_expected_cost", x, y, thresholds, band, trivial, note=note)
    return replace(made, place=_place(scored))


def _place(scored: Scored) -> float | None:
    """The share of the cost at stake that lies with misses where the model is used."""
    if scored.population is None or scored.population.shares is None:
        return None
    share = float(scored.population.share_of(scored.table.positive))
    pair = (scored.table.negative, scored.table.positive)
    costs = scored.costs or Costs(miss=1, false_alarm=1)
    (rest, alarm), (miss, hit) = np.array(costs.for_table(pair, pair, pair[1]), np.float64).tolist()
    at_stake = share * (miss - hit), (1 - share) * (alarm - rest)
    return float(at_stake[0] / sum(at_stake)) if min(at_stake) >= 0 < sum(at_stake) else None


def _line(scored: Scored, threshold: float) -> tuple[Array, Array, Array]:
    """One threshold: from false alarms alone to misses alone."""
    check_threshold(threshold)
    table = scored.table.at(threshold)
    rates = [rate.of(table) for rate in (false_positive_rate, miss_rate)]
    return np.array([0.0, 1.0]), np.array(rates, np.float64), np.full(2, float(threshold))


def _envelope(scored: Scored) -> tuple[Array, Array, Array]:
    """The corners; each coordinate is a ratio of exact numbers, rounded once."""
    columns = scored.table.as_columns()
    tp, fp = (np.append(0, columns.cumulated(name)) for name in ("positives", "negatives"))
    hull = roc_hull(tp, fp)
    tp, fp = exact(tp[hull]), exact(fp[hull])
    found, alarmed = np.diff(tp), np.diff(fp)
    whole = alarmed * tp[-1] + found * fp[-1]
    x = _ratios(alarmed * tp[-1], whole)
    y = _ratios((tp[-1] - tp[:-1]) * alarmed + fp[:-1] * found, whole)
    inside = np.asarray((alarmed != 0) & (found != 0), bool)
    # a first edge straight up, or a last one level, is met at x = 0 or 1 alone: the corner beyond it is never better
    best = hull[int(alarmed[0] == 0) : len(hull) - int(found[-1] == 0)]
    thresholds = scored.table.thresholds[np.append(best, best[-1])]
    return np.concatenate([[0.0], x[inside], [1.0]]), np.concatenate([[0.0], y[inside], [0.0]]), thresholds


def _ratios(numerators: Array, denominators: Array) -> Array:
    return np.array([ratio(a, b) for a, b in zip(numerators, denominators, strict=True)], np.float64)


def _band(scored: Scored, x: Array, y: Array, thresholds: Array) -> Band:
    """The limits of what the threshold of each place costs.

    The lowest line of resampled tables would be biased low a second time: the curve itself is already too low.
    """
    chosen = thresholds[np.searchsorted(x[1:-1], _PLACES, side="right")]

    def heights() -> Figure:
        tables = bootstrap_tables(scored.table, chosen, scored.sampling)
        return miss_rate.of(tables) * _PLACES + false_positive_rate.of(tables) * (1 - _PLACES)

    return bootstrap_band(_PLACES, heights, scored.sampling, np.interp(_PLACES, x, y))
