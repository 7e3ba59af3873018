"""Counts and positive quantities: deviances of claims, visits and amounts, and how well they are put in order."""

import math
from collections.abc import Callable
from functools import cached_property, partial
from typing import Annotated, Any

import numpy as np

from stakes.frozen import dataclass, replace
from stakes.metrics.baselines import NOTHING, ZERO, Baseline
from stakes.metrics.declare import FORMS, Kind, Metric, metric
from stakes.metrics.reasons import Undefined
from stakes.metrics.regression import NO_BASELINE, needs_parts
from stakes.tallies import CountSums, ErrorSums
from stakes.tallies.arithmetic import Array, Number, ratio
from stakes.tallies.count_sums import POWERS, Levels, crossed_part, own_part
from stakes.tallies.error_sums import ErrorRows

_TWEEDIE = "Jørgensen (1987), Journal of the Royal Statistical Society B 49"
POWER = Kind("a number from 1 on", lambda value: 1 <= value < 100)
ROWS = needs_parts("rows")


def _any(rows: ErrorRows | None, wrong: Callable[[ErrorRows], Array]) -> bool:
    return rows is not None and bool(wrong(rows).any())


NOT_POSITIVE = Undefined("a prediction is 0 or less", lambda s: _any(s.rows, lambda rows: rows.prediction <= 0))
NEGATIVE = Undefined("a truth is below 0", lambda s: _any(s.rows, lambda rows: rows.truth < 0))
ZERO_OR_LESS = Undefined("a truth is 0 or less", lambda s: _any(s.rows, lambda rows: rows.truth <= 0))
NOTHING_HAPPENED = Undefined("every truth is 0", lambda s: s.rows is not None and not s.rows.truth.any())
ALL_EQUAL = Undefined("the baseline is never wrong", lambda s: s.constant is not None and s.constant.largest == 0)


def deviance(truth: Array, prediction: Array, power: float = 1.0) -> Array:
    """How far each prediction is off, in the unit of a log likelihood; the variance is a power of the mean."""
    with np.errstate(all="ignore"):
        if power not in (1, 2):
            return np.asarray(2 * (own_part(truth, power) - crossed_part(truth, prediction, power)))
        share = truth / prediction  # one logarithm, which loses no digits where both are alike
        if power == 2:
            found = share - np.log(share)
            found -= 1
        else:
            found = truth * np.log(np.where(truth > 0, share, 1.0))
            found += prediction - truth
        found *= 2
        return np.asarray(found)


def _mean_deviance(sums: ErrorSums, power: float) -> Number:
    return sums.mean_of(partial(deviance, power=power))


def _explained(sums: ErrorSums, power: float) -> Number:
    if sums.constant is None:
        return math.nan
    return 1 - ratio(_mean_deviance(sums, power), _mean_deviance(sums.constant, power))


def _changes_of_explained(sums: ErrorSums, groups: Array, count: int, power: float) -> Array:
    """What the share of the deviance that is explained loses without each group; the mean moves with the rows."""
    rows = sums.rows
    assert rows is not None
    truth, prediction = (column.astype(np.float64) for column in (rows.truth, rows.prediction))
    weight = np.ones(len(truth)) if rows.weight is None else rows.weight

    def left(values: Array) -> Array:
        each = np.bincount(groups, weight * values, count)
        return np.asarray(each.sum() - each)

    with np.errstate(all="ignore"):
        total, happened = left(np.ones(len(truth))), left(truth)
        mean = np.full(count, sums.baseline) if sums.baseline_given else happened / total
        ignoring = 2 * (left(own_part(truth, power)) - total * crossed_part(happened / total, mean, power))
        return np.asarray(_explained(sums, power) - 1 + left(deviance(truth, prediction, power)) / ignoring)


_OF_COUNTS = (ROWS, NEGATIVE, NOT_POSITIVE)
_OF_AMOUNTS = (ROWS, ZERO_OR_LESS, NOT_POSITIVE)


@metric(
    loss=deviance,
    question="How far off are predicted counts, where the variance is the mean?",
    formula="2 * sum((t * log(t / p) if t else 0) - t + p for t, p in rows) / n",
    parts=("rows",),
    undefined=_OF_COUNTS,
    aliases=("mean_poisson_deviance",),
    pitfall="In the unit of the count: compare it with its baseline, or take d2_poisson.",
    reference="McCullagh & Nelder (1989), Generalized Linear Models",
    headline=True,
)
def poisson_deviance(s: ErrorSums) -> Number:
    return _mean_deviance(s, 1)


@metric(
    loss=partial(deviance, power=2),
    question="How far off are predicted positive amounts, relative to their size?",
    formula="2 * sum(log(p / t) + t / p - 1 for t, p in rows) / n",
    parts=("rows",),
    undefined=_OF_AMOUNTS,
    aliases=("mean_gamma_deviance",),
    pitfall="Needs every truth above 0; tiny truths weigh as much as large ones.",
    reference="McCullagh & Nelder (1989), Generalized Linear Models",
)
def gamma_deviance(s: ErrorSums) -> Number:
    return _mean_deviance(s, 2)


@metric(
    loss=lambda t, p, power: deviance(t, p, power),
    question="How far off are predicted amounts of which many are 0, where the variance is a power of the mean?",
    formula="2 * sum(t**(2 - power) / ((1 - power) * (2 - power)) - t * p**(1 - power) / (1 - power) "
    "+ p**(2 - power) / (2 - power) for t, p in rows) / n",
    parts=("rows",),
    undefined=_OF_COUNTS,
    otherwise="a truth is 0, and this power needs positive ones",
    aliases=("mean_tweedie_deviance",),
    pitfall="Figures of different powers are not to be compared; 1 is Poisson's, 2 is that of gamma.",
    reference=_TWEEDIE,
)
def tweedie_deviance(s: ErrorSums, *, power: Annotated[float, POWER] = 1.5) -> Number:
    return _mean_deviance(s, power)


_POISSON = "(t * log(t / {0}) if t else 0) - t + {0}"
_GAMMA = "log({0} / t) + t / {0} - 1"
_POWER = (
    "t**(2 - power) / ((1 - power) * (2 - power)) - t * {0}**(1 - power) / (1 - power) + {0}**(2 - power) / (2 - power)"
)


def _d2(power: float, words: str, loss: str, undefined: tuple[Undefined, ...]) -> dict[str, Any]:
    own, always = (f"sum({loss.format(predicted)} for t, p in rows)" for predicted in "pb")
    return {
        "question": f"How much of the deviance of {words} is avoided, compared with always predicting the mean?",
        "formula": f"1 - {own} / {always}",
        "range": (-math.inf, 1),
        "better": "higher",
        "baseline": NOTHING,
        "parts": ("rows", "baseline"),
        "undefined": (*undefined, NO_BASELINE, ALL_EQUAL),
        "pitfall": "Low even for good models of rare counts, which are mostly chance.",
        "reference": _TWEEDIE,
        **({} if math.isnan(power) else {"changes": partial(_changes_of_explained, power=power)}),
    }


@metric(**_d2(1, "counts", _POISSON, _OF_COUNTS), headline=True)
def d2_poisson(s: ErrorSums) -> Number:
    return _explained(s, 1)


@metric(**_d2(2, "positive amounts", _GAMMA, _OF_AMOUNTS))
def d2_gamma(s: ErrorSums) -> Number:
    return _explained(s, 2)


@metric(**_d2(math.nan, "amounts of which many are 0", _POWER, _OF_COUNTS), changes=_changes_of_explained)
def d2_tweedie(s: ErrorSums, *, power: Annotated[float, POWER] = 1.5) -> Number:
    return _explained(s, power)


# ── where rows were not kept ─────────────────────────────────────────────────────────────────────────────────────
_POWERS = {"poisson": 1.0, "gamma": 2.0, "tweedie": None}
_NO_AMOUNT = Undefined("a truth is 0 or less", lambda sums: sums["none"] > 0)
_NO_PREDICTION = Undefined("a prediction is 0 or less", lambda sums: sums["not positive"] > 0)
_SUMMED = {f"{name}_deviance": power for name, power in _POWERS.items()}
_EXPLAINED = {f"d2_{name}": power for name, power in _POWERS.items()}


def of_count_sums(figure: Metric) -> Metric:
    """Return a deviance, or the share of it that is explained, as a figure of sums."""
    if figure.name == "lorenz_gini":
        lost = Undefined("the rows were not kept, only sums of them", lambda sums: sums.levels is None)
        nothing = Undefined("every truth is 0", lambda sums: sums["truth"] == 0)
        return replace(
            figure,
            tally=CountSums,
            function=lambda sums: math.nan if sums.levels is None else sums.levels.area,
            undefined=(lost, nothing),
            parts=(),
            changes=lambda sums, groups, count: sums.area_changes,
        )
    explained, known = figure.name in _EXPLAINED, {**_EXPLAINED, **_SUMMED}
    if figure.name not in known:
        return figure
    power = known[figure.name]
    return replace(
        figure,
        tally=CountSums,
        function=partial(_of_sums, explained) if power is None else partial(_of_sums, explained, power=power),
        baseline=Baseline(figure.baseline.words, value=(lambda *_: 0.0) if explained else _constant_deviance),
        undefined=(*((_NO_AMOUNT,) if power == 2 else ()), _NO_PREDICTION),
        otherwise="the rows were not kept, and this power was not added up",
        parts=(),
        loss=None,
        changes=None,
        interval="influence",
    )


def _constant_deviance(figure: Metric, sums: CountSums) -> Number:
    """The deviance of always predicting the mean."""
    power = _SUMMED[figure.name]
    return _deviances(sums, float(figure.parameters["power"]) if power is None else power)[1]


def _of_sums(explained: bool, sums: CountSums, power: float) -> Number:
    own, always = _deviances(sums, power)
    return 1 - ratio(own, always) if explained else own


def _deviances(sums: CountSums, power: float) -> tuple[Number, Number]:
    """The mean deviance, and that of always predicting the mean."""
    if f"{power:g}" not in POWERS:
        nothing = np.full(sums.leading, math.nan)[()]
        return nothing, nothing
    place, total = POWERS.index(f"{power:g}"), sums.sums[..., 0]
    own, crossed = (sums[term][..., place] / total for term in ("own", "crossed"))
    mean = sums["truth"] / total
    with np.errstate(all="ignore"):
        return (2 * (own - crossed))[()], (2 * (own - crossed_part(mean, mean, power)))[()]


FORMS[CountSums] = of_count_sums


# ── the order of predictions ─────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False)
class Lorenz:
    """Rows in the order of their predictions, the lowest first, and their cumulative shares of what happens."""

    truth: Array
    prediction: Array
    weight: Array

    @classmethod
    def of(cls, sums: ErrorSums) -> "Lorenz":
        """Put the rows in order."""
        rows = sums.rows
        assert rows is not None
        weight = np.ones(len(rows.truth)) if rows.weight is None else rows.weight.astype(np.float64)
        return cls(rows.truth.astype(np.float64), rows.prediction.astype(np.float64), weight)

    @cached_property
    def _levels(self) -> tuple[Array, Levels]:
        """The place of each row among the distinct predictions; what rows weigh and what happens at each."""
        numbers, places = np.unique(self.prediction, return_inverse=True)
        added = (np.bincount(places, one) for one in (self.weight, self.weight * self.truth))
        return places, Levels(numbers, *added)

    def curve(self) -> tuple[Array, Array]:
        """The share of the rows up to each prediction, and the share of what happens that they hold."""
        found = self._levels[1]
        return tuple(np.concatenate([[0.0], np.cumsum(one) / one.sum()]) for one in (found.weight, found.happened))  # type: ignore[return-value]

    @property
    def area(self) -> float:
        """Twice the area between that curve and the diagonal."""
        return self._levels[1].area

    def changes(self) -> Array:
        """What the area loses without each row."""
        places, found = self._levels
        return found.changes_at(places, self.weight * self.truth, self.weight)


@metric(
    question="How well do predictions put rows in order, from where little happens to where much does?",
    formula="2 * sum(t * sum((q < p) + (q == p) / 2 for q in predictions) for t, p in rows) / (n * sum(truths)) - 1",
    range=(-1, 1),
    better="higher",
    baseline=ZERO,
    parts=("rows",),
    undefined=(ROWS, NEGATIVE, NOTHING_HAPPENED),
    changes=lambda sums, groups, count: np.bincount(groups, Lorenz.of(sums).changes(), count),
    pitfall="Blind to the size of predictions; its best value depends on the truth and lies below 1.",
    reference="Frees, Meyers & Cummings (2011), JASA 106",
    headline=True,
)
def lorenz_gini(s: ErrorSums) -> Number:
    return Lorenz.of(s).area if s.rows is not None else math.nan
