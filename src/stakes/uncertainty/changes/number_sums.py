"""What one row changes in figures of predicted numbers of which only sums were kept.

A figure is a function of the means of a few terms (``tallies/error_variation.py``). How it moves with each of them, and
how these vary together, says how sure it is: the delta method, which is what leaving rows out comes to for many rows.
A few rows that can carry a figure are kept, and tell its degrees of freedom.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from stakes.metrics import Metric, measure
from stakes.tallies import ErrorSums
from stakes.tallies.arithmetic import Array
from stakes.tallies.error_variation import HEAVY, OWN, ErrorVariation, centred, terms_of_rows, without
from stakes.uncertainty.influence import NOT_KEPT, Found, Influence, kish
from stakes.uncertainty.sampling import Sampling

_ROUNDING = 1e-13
_STEP = 1e-5
"""By so many standard deviations a mean is moved to see how a figure follows."""


def of_sums(metrics: Sequence[Metric], values: Sequence[float], sums: ErrorSums, sampling: Sampling) -> list[Found]:
    """Return what one row, or one cluster, changes in each figure."""
    varied = sums.variation
    assert varied is not None
    known = [metric for metric in metrics if not from_rows(metric)]
    here = [value for metric, value in zip(metrics, values, strict=True) if not from_rows(metric)]
    if varied.clusters is not None:
        units = kish(varied.clusters[:, 0])
        each = _without(known, here, sums, varied.clusters.sum(axis=0), varied.clusters)
        found: Iterator[Found] = iter([Influence.of_units(changes, units) for changes in each])
    elif sampling.clusters is None and varied.products is not None:
        found = iter([*_of_rows(known, here, sums, varied, varied.products)])
    else:
        return [NOT_KEPT] * len(metrics)
    return [NOT_KEPT if from_rows(metric) else next(found) for metric in metrics]


def of_two_sums(
    metric: Metric, values: Sequence[float], both: Sequence[ErrorSums], own: Array | None, sampling: Sampling
) -> Found:
    """Return what one row, or one cluster, changes in the difference of a figure between two models.

    ``own`` are the sums of products of the terms that depend on what the two predict; of clusters it needs none.
    """
    found = [of_sums([metric], [value], sums, sampling)[0] for value, sums in zip(values, both, strict=True)]
    one, other = found
    if isinstance(one, str) or isinstance(other, str) or metric.interval == "median":
        return NOT_KEPT
    if own is None:
        return replace(one, changes=one.changes - other.changes)
    square, apart = _squared_changes(metric, both, own)
    units, total = both[0].equal_rows, float(one.counts.sum())
    if square <= _ROUNDING * apart:
        return Influence(np.zeros(1), np.array([total]), total, units - 1)
    # as few rows make most of the variance as make it in either figure
    few = total / (1 + 2 * total / min(one.degrees, other.degrees))
    change = math.sqrt(square / few)
    return Influence(np.array([change, -change, 0.0]), np.array([few / 2, few / 2, total - few]), total, units - 1)


def _squared_changes(metric: Metric, both: Sequence[ErrorSums], own: Array) -> tuple[float, float]:
    """What rows change in a difference, squared and added up; and the same were the two not of the same rows."""
    slopes, means, products = [], [], []
    for sums in both:
        varied = sums.variation
        assert varied is not None
        assert varied.products is not None
        mean = _means(sums, varied)
        scale = np.sqrt(np.maximum(np.diagonal(centred(varied.products, mean)), 0.0) / varied.products[0, 0])
        slopes.append(np.append(0.0, _slopes([metric], sums, mean, scale)[0]) / float(sums.total))
        means.append(mean)
        products.append(varied.products)
    one, other = products
    cross = one.copy()  # terms of the truth are the same of both models
    cross[:, [*OWN]] = other[:, [*OWN]]
    cross[[*OWN]] = one[[*OWN]]
    cross[np.ix_(OWN, OWN)] = own
    parts = [one, other, cross]
    sides = [(0, 0), (1, 1), (0, 1)]
    found = [
        _bilinear(product, means[a], means[b], slopes[a], slopes[b])
        for product, (a, b) in zip(parts, sides, strict=True)
    ]
    return found[0] + found[1] - 2 * found[2], found[0] + found[1]


def _bilinear(products: Array, mean: Array, other: Array, slope: Array, tilt: Array) -> float:
    """How two sums of terms, each times a slope and about their means, vary together."""
    rows, columns = np.flatnonzero(slope), np.flatnonzero(tilt)  # a term that was not counted must not matter
    about = products - np.outer(mean, products[0]) - np.outer(products[:, 0], other)
    about = about + np.outer(mean, other) * products[0, 0]
    return float(slope[rows] @ about[np.ix_(rows, columns)] @ tilt[columns])


def from_rows(metric: Metric) -> bool:
    """Whether a figure is a mean over rows that no sums of the tally give."""
    return (metric.loss is not None or metric.changes is not None) and "rows" in metric.parts


def _of_rows(
    metrics: Sequence[Metric], values: Sequence[float], sums: ErrorSums, varied: ErrorVariation, products: Array
) -> Iterator[Found]:
    """By the delta method; rows that were kept are left out one by one."""
    means, total = _means(sums, varied), float(sums.total)
    covariance = centred(products, means)
    scale = np.sqrt(np.maximum(np.diagonal(covariance), 0.0) / products[0, 0])
    slopes = _slopes(metrics, sums, means, scale)
    terms, exact, many = np.zeros((len(means), 0)), [np.zeros(0)] * len(metrics), np.zeros(0)
    if sums.heavy is not None:
        t, p, weight, many = sums.heavy.rows
        terms, _ = terms_of_rows(t, p, weight, varied.centre, varied.baseline)
        exact = _without(metrics, values, sums, total * means, terms.T)
    for slope, changes in zip(slopes, exact, strict=True):
        moving = np.flatnonzero(slope) + 1  # a term that was not counted must not matter
        slope = slope[moving - 1] / total
        square = float(slope @ covariance[np.ix_(moving, moving)] @ slope)
        linear = slope @ (terms[moving] - np.outer(means[moving], terms[0]))
        rest, balance = square - float(many @ linear**2), -float(many @ linear)
        yield _influence(changes, many, max(rest, 0.0), balance, sums) if math.isfinite(rest) else NOT_KEPT


def _without(
    metrics: Sequence[Metric], values: Sequence[float], sums: ErrorSums, totals: Array, parts: Array
) -> list[Array]:
    """What figures lose without each of these rows or clusters, whose terms are given."""
    found = measure(list(metrics), sums_at(sums, *without(totals, parts)))
    each = [np.broadcast_to(np.asarray(one, np.float64), len(parts)) for one in found]
    return [value - figures for value, figures in zip(values, each, strict=True)]


def _influence(changes: Array, many: Array, rest: float, balance: float, sums: ErrorSums) -> Influence:
    """Rows that were kept change what they change, all others together the rest of the variance and of the balance.

    Those were not kept since they are not among the heaviest in any way, so none of them is taken to change more than
    the last of the heaviest; as few as can make up the rest make it up, so that degrees of freedom are rather too few.
    """
    units = sums.equal_rows
    if sums.heavy is None:
        return Influence.of_error(math.sqrt(rest), units, units - 1)
    most, own = float(np.sort(np.abs(changes))[-min(HEAVY, len(changes))]), many > 0
    others = max(sums.heavy.all_rows - float(many.sum()), 0.0)
    few = min(rest / most**2, others) if most > 0 else others
    size = math.sqrt(rest / few) if few > 0 else 0.0
    shift = balance / others if others else 0.0  # to first order all changes add up to nothing
    each = np.concatenate([changes[own], np.array([size, -size, 0.0]) + shift])
    counts = np.concatenate([many[own], [few / 2, few / 2, others - few]])
    return Influence(each, counts, float(sums.heavy.all_rows), units - 1)


def _means(sums: ErrorSums, varied: ErrorVariation) -> Array:
    """The means of the terms, from the sums of a tally."""
    total, centre = float(sums.total), varied.centre
    away = math.nan if sums.constant is None else float(sums.constant.mean(a=1))
    logs, shares = (math.nan if part is None else float(part) / total for part in (sums.squared_logs, sums.percentages))
    t, e = float(sums.mean(t=1) - Fraction(centre)), float(sums.mean(e=1))
    cross = (float(sums.spread("t", "t")) - float(sums.spread("t", "p"))) / total + t * e
    square = float(sums.spread("t")) / total + t * t
    means = [1.0, float(sums.mean(a=1)), e, float(sums.mean(e=2)), t, square, cross, away, logs, shares]
    return np.array(means)


def _slopes(metrics: Sequence[Metric], sums: ErrorSums, means: Array, scale: Array) -> list[Array]:
    """How each figure moves with the mean of each term but the first."""
    steps = _STEP * np.where(scale > 0, scale, 1.0)[1:]
    moved = np.broadcast_to(means, (2 * len(steps), len(means))).copy()
    moved[: len(steps), 1:] += np.diag(steps)
    moved[len(steps) :, 1:] -= np.diag(steps)
    found = measure(list(metrics), sums_at(sums, np.full(len(moved), float(sums.total)), moved))
    each = [np.broadcast_to(np.asarray(one, np.float64), len(moved)) for one in found]
    return [(one[: len(steps)] - one[len(steps) :]) / (2 * steps) for one in each]


def sums_at(sums: ErrorSums, total: Array, means: Array) -> ErrorSums:
    """Return sums with these means of the terms, along a leading axis: what figures are functions of.

    The mean that a baseline says moves with the truths; what that does to its absolute errors is added to first order.
    """
    _, size, error, square, t, t2, cross, away, logs, share = means.T
    varied = sums.variation
    assert varied is not None
    n, one = total, np.ones(len(total))

    def moments(size: Array, error: Array, square: Array) -> dict[tuple[int, int, int, int], Array]:
        first = {(0, 0, 0, 0): one, (1, 0, 0, 0): size, (0, 1, 0, 0): error, (0, 2, 0, 0): square}
        others = {(0, 0, 1, 0): t, (0, 0, 2, 0): t2}
        return {power: n * mean for power, mean in {**first, **others}.items()}

    constant = None
    if sums.baseline is not None:
        before, pull = sums.baseline - varied.centre, varied.balance / float(sums.total)
        said = before if sums.baseline_given else t
        lost = moments(away - pull * (said - before), t - said, t2 - 2 * said * t + said**2)
        constant = ErrorSums(lost, math.nan, n * logs, n * share, weighted=True)
    own = moments(size, error, square)
    own |= {(0, 0, 0, 1): n * (t - error), (0, 0, 0, 2): n * (t2 - 2 * cross + square), (0, 0, 1, 1): n * (t2 - cross)}
    parts = {"baseline": sums.baseline, "baseline_given": sums.baseline_given, "constant": constant}
    return ErrorSums(own, math.nan, n * logs, n * share, weighted=True, **parts)  # type: ignore[arg-type]
