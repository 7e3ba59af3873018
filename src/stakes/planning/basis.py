"""What a plan rests on: the expected figure, and its variance in a study of any size.

Both come from a pilot, by what each of its rows changes, or from rates that somebody expects.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from stakes.errors import InputError, Pass, some
from stakes.evaluation import evaluate
from stakes.evaluation.base import Evaluation
from stakes.evaluation.comparison import Comparison
from stakes.metrics import Metric, find, rates
from stakes.metrics.agreement import accuracy
from stakes.metrics.calibration import calibration_slope
from stakes.metrics.ranking import auc
from stakes.metrics.rates import precision, recall, specificity
from stakes.metrics.regression import mean_error
from stakes.planning.rates import OBSERVED_EXPECTED, RATES
from stakes.question.options import Value
from stakes.tallies import Confusion, CostSums, Tally
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.changes import influences
from stakes.uncertainty.influence import Influence
from stakes.uncertainty.sampling import USUAL, Sampling, normal

_ROUNDED = 0.006
"""Rates that differ by no more than this are the same, but for rounding."""

_KINDS = 1_000
"""Most kinds of rows that are resampled."""

_MANY_ROWS = 10_000_000
"""Rows of the table that stands for expected rates: so many that rounding does not matter."""

_OF_TABLES = (rates.prevalence.name, recall.name, specificity.name, precision.name, accuracy.name)
"""The rates that a table of two classes fixes, and that have to agree with it."""

Assumed = Mapping[str, float]
"""Expected rates by name."""


@dataclass(frozen=True, eq=False)
class Basis:
    """A figure, and its variance as a function of the number of units: rows, or clusters of ``rows_per_unit`` rows.

    ``moves`` says how far each kind of row of the pilot moves the figure, and how many there are of it; ``table`` is
    the table from which studies are simulated. ``rests_on`` are the expected rates that it was made of.
    """

    figure: str
    value: float
    variance: Callable[[float], float]
    metric: Metric | None = None
    rows_per_unit: float = 1.0
    prevalence: float | None = None
    pilot_rows: float | None = None
    moves: tuple[Array, Array] | None = None
    table: Confusion | None = None
    sampling: Sampling = USUAL
    shares: Mapping[str, float] = field(default_factory=dict)
    of_two: bool = False
    rests_on: tuple[str, ...] = ()

    @property
    def range(self) -> tuple[float, float]:
        """The ends between which the figure lies, or a difference of it."""
        low, high = (0.0, math.inf) if self.metric is None else self.metric.range
        return (low - high, high - low) if self.of_two else (low, high)

    def resample(self, draws: int, seed: int, units: float | None = None) -> tuple[Array, Array]:
        """Sample the figures of studies of so many units (or as many as the pilot has), and the variances of a unit.

        Each kind of row gets a random share (the Bayesian bootstrap, Rubin 1981).
        """
        assert self.moves is not None
        moves, counts = self.moves
        scale = 1.0 if units is None else units / counts.sum()
        shares = np.random.default_rng(seed).gamma(counts * scale, size=(draws, len(counts)))
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
        mean = shares @ moves
        return self.value + mean, np.maximum(shares @ moves**2 - mean**2, 0.0)


def _constant(variance: float) -> Callable[[float], float]:
    return lambda units: variance / units


# ── from a pilot ─────────────────────────────────────────────────────────────────────────────────────────────────
def of_evaluation(pilot: Evaluation, name: str) -> Basis:
    """The basis of a figure from an evaluation."""
    estimate = pilot[name]
    if not estimate.defined:
        raise InputError("pilot-undefined", f"{name} of the pilot is undefined: {estimate.reason}; plan from rates")
    if estimate.no_interval:
        raise InputError("pilot-no-interval", f"{name} of the pilot has no interval: {estimate.no_interval}")
    metric, tally, sampling = pilot._place_of(name)
    clusters = pilot.counted.clusters
    rows = float(pilot.rows)
    units = rows if clusters is None else float(clusters.count)
    moves = None
    found = _influence(metric, estimate.value, tally, sampling)
    if found is not None:
        if not replace(found, unseen=0.0).error > 0:
            raise InputError(
                "pilot-without-spread",
                f"{name} of the pilot is {estimate.value:g} whichever row is left out, so how it varies is not known; "
                "plan from rates that you expect",
            )
        moves = _in_kinds((float(found.counts.sum()) - 1) * found.changes, found.counts)
        variance = units * replace(found, unseen=0.0).error ** 2
    elif estimate.low is not None and estimate.high is not None:
        variance = units * ((estimate.high - estimate.low) / (2 * normal((1 + estimate.confidence) / 2))) ** 2
    else:
        raise InputError("pilot-no-interval", f"{name} of the pilot has no interval: it has no two ends")
    prevalence = getattr(pilot, rates.prevalence.name, None) if pilot.task == "binary" else None
    table = tally if isinstance(tally, Confusion) and clusters is None and not tally.weighted else None
    shares = {segment: float(part.rows) / rows for segment, part in pilot.segments.items()}
    return Basis(
        name,
        estimate.value,
        _constant(variance),
        metric,
        rows / units,
        prevalence,
        rows,
        moves,
        table,
        sampling,
        shares,
    )


def _influence(metric: Metric, value: float, tally: Tally | None, sampling: Sampling) -> Influence | None:
    """What a row changes; None where that is not known, as for a median."""
    if tally is None or isinstance(tally, CostSums) or metric.interval == "median":
        return None
    (found,) = influences([metric], [value], tally, sampling)
    return found if isinstance(found, Influence) and found.finite and found.counts.sum() > 1 else None


def _in_kinds(moves: Array, counts: Array) -> tuple[Array, Array]:
    """Group very many rows into kinds that move a figure about as far, so that resampling stays quick."""
    if len(moves) <= _KINDS:
        return moves, counts
    parts = np.array_split(np.argsort(moves), _KINDS)
    many = np.array([counts[part].sum() for part in parts])
    return np.array([counts[part] @ moves[part] for part in parts]) / many, many


def of_comparison(pilot: Comparison, name: str) -> Basis:
    """The basis of the difference of a figure from a comparison of two models."""
    pairs = [pair for pair in pilot.pairs if pair.metric == name]
    if len(pairs) != 1:
        seen = f"there are {len(pilot.models)}" if pairs else f"they were compared by {some(pilot.metrics)}"
        raise InputError("pilot-pair", f"a plan is for two models compared by {name}, and {seen}; compare those two")
    pair = pairs[0]
    if pair.low is None or pair.high is None:
        raise InputError("pilot-no-interval", f"the difference of the pilot has no interval: {pair.note}")
    rows = pilot.rows if isinstance(pilot.rows, int | float) else sum(pilot.rows)
    units = float(pilot.clusters or rows)
    error = (pair.high - pair.low) / (2 * normal((1 + pilot.confidence) / 2))
    first = next(iter(pilot.models.values()))
    prevalence = getattr(first, rates.prevalence.name, None) if first.task == "binary" else None
    variance = _constant(units * error**2)
    per_unit = float(rows) / units
    return Basis(name, pair.difference, variance, find(name), per_unit, prevalence, float(rows), of_two=True)


# ── from what somebody expects ───────────────────────────────────────────────────────────────────────────────────
def of_rates(name: str, assumed: Assumed, costs: Value = None) -> Basis:
    """The basis of a figure from expected rates."""
    if name == OBSERVED_EXPECTED:
        (share,) = _need(name, assumed, rates.prevalence.name)
        return Basis(name, 1.0, _constant((1 - share) / share), prevalence=share)
    metric = find(name)
    needed: tuple[str, ...]
    if metric.name == auc.name:
        needed = (auc.name, rates.prevalence.name)
        found = _of_auc(*_need(name, assumed, *needed))
    elif metric.name == calibration_slope.name:
        needed = ("logit_mean", "logit_sd")
        found = replace(_of_slope(*_need(name, assumed, *needed)), prevalence=assumed.get(rates.prevalence.name))
    elif "sd" in assumed and metric.name == mean_error.name:
        needed, found = ("sd",), Basis(name, math.nan, _constant(assumed["sd"] ** 2))
    elif metric.tally is Confusion and (table := _expected_table(assumed)) is not None:
        needed, pilot = _OF_TABLES, evaluate(table, costs=costs)
        found = replace(of_evaluation(pilot, name), pilot_rows=None, moves=None, table=table)
    else:
        needed, found = (metric.name,), _of_share(metric, assumed)
    return replace(found, metric=found.metric or metric, rests_on=needed)


def _need(name: str, assumed: Assumed, *rates: str) -> list[float]:
    if not {*rates} <= {*assumed}:
        raise _lacking(name, [*rates])
    return [assumed[rate] for rate in rates]


def _lacking(name: str, rates: list[str]) -> InputError:
    listed: list[str | Pass] = [part for rate in rates for part in (" and ", Pass(rate))][1:]
    return InputError("plan-lacks-rates", f"a plan for {name} needs a pilot, or what you expect: ", *listed)


def _expected_table(assumed: Assumed) -> Confusion | None:
    """The table of a great many rows with these rates; None where they do not fix it."""
    if not {rates.prevalence.name, recall.name} <= {*assumed} or not {specificity.name, precision.name} & {*assumed}:
        return None
    positives = assumed[rates.prevalence.name] * _MANY_ROWS
    hits = positives * assumed[recall.name]
    negatives = _MANY_ROWS - positives
    if specificity.name in assumed:
        alarms = negatives * (1 - assumed[specificity.name])
    else:
        alarms = hits * (1 - assumed[precision.name]) / assumed[precision.name]
        if alarms > negatives:
            raise InputError(
                "impossible-rates", "no table has that precision, recall and prevalence: there are too few negatives"
            )
    cells = [round(one) for one in (hits, positives - hits, alarms, negatives - alarms)]
    table = Confusion.two_class(tp=cells[0], fn=cells[1], fp=cells[2], tn=cells[3])
    for name in (name for name in _OF_TABLES if name in assumed):
        value = float(find(name).of(table))
        if abs(assumed[name] - value) > _ROUNDED:
            words = f"{name} is {value:.4g} by the other rates that you expect, not {assumed[name]:g}; leave one out"
            raise InputError("rates-disagree", words)
    return table


def _of_share(metric: Metric, assumed: Assumed) -> Basis:
    """A share of all rows, of the positives or of the negatives."""
    prevalence = assumed.get(rates.prevalence.name)
    if metric.name not in assumed or (metric.share_of != "total" and prevalence is None):
        raise _lacking(metric.name, _rates_of(metric))
    share = {"P": prevalence, "N": None if prevalence is None else 1 - prevalence}.get(metric.share_of, 1.0)
    if share is None or metric.name == precision.name:
        raise _lacking(metric.name, [recall.name, precision.name, rates.prevalence.name])
    value = assumed[metric.name]
    return Basis(metric.name, value, _constant(value * (1 - value) / share), prevalence=prevalence)


def _rates_of(metric: Metric) -> list[str]:
    """The fewest rates from which a figure of a table can be planned."""
    if metric.share_of == "total" and metric.name in RATES:
        return [metric.name]
    alone = metric.name in RATES and metric.share_of in ("P", "N")
    return [metric.name if alone else recall.name, *([] if alone else [specificity.name]), rates.prevalence.name]


def _of_auc(value: float, prevalence: float) -> Basis:
    """The area under the curve, by Newcombe's (2006) formula as Riley et al. (2021) use it."""
    wins = (1 - value) / (2 - value) + value / (1 + value)

    def variance(rows: float) -> float:
        return value * (1 - value) * (1 + (rows / 2 - 1) * wins) / (rows**2 * prevalence * (1 - prevalence))

    return Basis(auc.name, value, variance, prevalence=prevalence)


def _of_slope(mean: float, deviation: float) -> Basis:
    """The calibration slope where logits of the probabilities are normal (Riley et al., 2021)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    logit = mean + deviation * nodes
    chance = weights / weights.sum() * np.exp(-np.abs(logit)) / (1 + np.exp(-np.abs(logit))) ** 2
    level, cross, slope = (float(np.sum(chance * logit**power)) for power in (0, 1, 2))
    return Basis(calibration_slope.name, 1.0, _constant(level / (level * slope - cross**2)))
