"""Figures where the classes are as frequent as in the deployment, and not as in the rows."""

import math
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from stakes.frozen import dataclass, replace
from stakes.metrics.baselines import COIN, Baseline
from stakes.metrics.declare import Metric, OneRow, measure, measure_baselines
from stakes.metrics.folds import Shared
from stakes.metrics.many import ROW_LOSSES, Average, ClassRows
from stakes.metrics.reasons import BINNED, EXTRA_DECISIONS, NO_PROBABILITIES, Undefined
from stakes.tallies import ClassScores, Confusion, ScoreTable, Tally
from stakes.tallies.arithmetic import Array, Number
from stakes.tallies.population import Population

_OF_ROWS = (EXTRA_DECISIONS, NO_PROBABILITIES, BINNED)
"""Reasons that do not depend on class frequencies."""

NO_SAMPLE = "no sample of the rows was kept, which other class frequencies need"

FEW_OF_FIRST = "figures at other class frequencies are those of a sample of the rows, which has too few of the first k"


def at_prior(base: Metric, population: Population) -> Metric:
    """Return the figure of a population; within classes only the baseline moves, and costs have priors already."""
    if base.tally not in (Confusion, ScoreTable, ClassScores) or "costs" in base.interval:
        return base
    baseline = Baseline(base.baseline.words, value=partial(_baseline, base, population))
    if base.within_classes:  # a coin that takes each decision as often as the model does there
        return replace(base, baseline=baseline) if base.baseline is COIN else base
    moved = tuple(
        one if one in _OF_ROWS else Undefined(one.words, partial(_applies, one, population)) for one in base.undefined
    )
    empty = Undefined("a class that the prior expects has no rows", partial(_lacks_class, population))
    return replace(
        base,
        function=InPopulation(base, population),
        baseline=baseline,
        undefined=(Undefined(NO_SAMPLE, partial(_needs_sample, base, population)), empty, *moved),
        share_of="",
        loss=None if base.loss is None else partial(_loss, base, population),
        one_row=_one_row(base.one_row, population) if base.one_row is not None and base.one_row.place else None,
        changes=None if base.changes is None else partial(_changes, base, population),
        interval=_interval(base, population),
        population=population,
    )


def _interval(base: Metric, population: Population) -> str:
    if base.interval == "line" and population.cases is None:
        return base.interval
    return "cells" if base.tally is Confusion else "influence"


def base_of(metric: Metric) -> Metric:
    """The figure that :func:`at_prior` made this of, with its parameters."""
    assert isinstance(metric.function, InPopulation)
    return metric.function.base.with_parameters(**metric.parameters)


def first_rows(metric: Metric) -> float | None:
    """The k of a figure of the k highest scores, of one class or averaged over the classes; None for other figures."""
    function = base_of(metric).function if metric.population is not None else metric.function
    of_class = function.base if isinstance(function, Average) else metric
    at_place = of_class.one_row is not None and of_class.one_row.place
    return metric.parameters.get("k") if at_place else None


@dataclass(frozen=True)
class InPopulation(Shared):
    """The function of a figure, of the tally of the population."""

    base: Metric
    population: Population

    @classmethod
    def all(cls, wanted: Sequence[tuple["InPopulation", Mapping[str, float]]], tally: Tally) -> Sequence[Number]:
        """Turn the tally of the rows into that of the population once for all figures."""
        found: list[Number] = [math.nan] * len(wanted)
        for population in {one.population for one, _ in wanted}:
            places = [i for i, (one, _) in enumerate(wanted) if one.population == population]
            bases = [wanted[i][0].base.with_parameters(**wanted[i][1]) for i in places]
            for i, value in zip(places, measure(bases, population.of(tally)), strict=True):
                found[i] = value
        return found


def _applies(reason: Undefined, population: Population, tally: Tally) -> Number:
    return reason.applies(population.of(tally))


def _needs_sample(base: Metric, population: Population, tally: Tally) -> bool:
    """Whether only rows tell the figure, of which none were kept."""
    if not isinstance(tally, ClassScores) or tally.sample is not None:
        return False
    return base.loss not in ROW_LOSSES or not population.knows_losses(tally)


def _lacks_class(population: Population, tally: Tally) -> Number:
    """Whether a class that is frequent in the population has no rows."""
    if population.shares is None:
        return False
    if isinstance(tally, ScoreTable):
        sizes = {tally.positive: tally.P, tally.negative: tally.N}
    elif isinstance(tally, Confusion):
        sizes = {name: tally.truth_totals[..., i] for i, name in enumerate(tally.truths)}
    elif isinstance(tally, ClassScores) and tally.sample is not None:  # a rare class may have no row in the sample
        sizes = dict(zip(tally.classes, np.bincount(tally.sample.truth, minlength=len(tally.classes)), strict=True))
    else:
        assert isinstance(tally, ClassScores)
        sizes = tally.class_sizes()
    positive = getattr(tally, "positive", None)
    lacking = [size == 0 for name, size in sizes.items() if population.share_of(name, positive)]
    return np.logical_or.reduce(lacking)[()] if tally.leading else any(lacking)


def _baseline(base: Metric, population: Population, figure: Metric, tally: Tally) -> Number:
    if _needs_sample(base, population, tally) or np.any(_lacks_class(population, tally)):
        return math.nan
    return measure_baselines([base.with_parameters(**figure.parameters)], population.of(tally))[0]


def _loss(base: Metric, population: Population, truth: Array, output: Array, **parameters: float) -> Array:
    """What a row adds, by its probabilities in the population."""
    assert base.loss is not None
    return base.loss(truth, population.correct(output), **parameters)


def _one_row(base: OneRow, population: Population) -> OneRow:
    """What one row changes at a place of the ranking, at fixed class frequencies."""

    def changes(positives: Array, negatives: Array, unit: Array, **parameters: float) -> Array:
        counts = np.stack([positives, negatives])
        sizes = counts.sum(-1, keepdims=True)
        factors = np.array([list(population.by_class.values())]).T * sizes.sum() / sizes
        found = base.changes(*(counts * factors), unit * factors, **parameters)
        number = counts / unit
        return np.asarray(found - (number * found).sum(-1, keepdims=True) / number.sum(-1, keepdims=True))

    return replace(base, changes=changes if population.shares is not None else base.changes)


def _changes(base: Metric, population: Population, rows: ClassRows) -> Array:
    """What each row changes, at fixed class frequencies."""
    assert base.changes is not None
    factors = population.weights(rows.truth, rows.weight, population.classes)
    scores = population.correct(rows.scores) if population.factors is not None else rows.scores
    squares = None if rows.squares is None else rows.squares * factors**2
    found = base.changes(ClassRows(scores, rows.truth, rows.weight * factors, squares))
    count = np.maximum(np.bincount(rows.truth, rows.weight), 1e-300)
    means = np.bincount(rows.truth, found) / count
    return np.asarray(found - rows.weight * means[rows.truth])
