"""How a metric is declared: one function, and beside it every fact about it.

The table that users read, the catalogue, the documentation and the property tests are all made from these
declarations, so a metric is written in one place.
"""

import inspect
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Literal, overload

import numpy as np

from stakes import errors
from stakes.engines.counting import count_rows
from stakes.engines.kinds import has_columns
from stakes.engines.plain import count_plain, mean_of_plain
from stakes.errors import InputError, Pass, short
from stakes.frozen import dataclass, field, replace
from stakes.metrics import baselines
from stakes.metrics.baselines import Baseline, best
from stakes.metrics.folds import Fold, Shared
from stakes.metrics.reasons import BINNED, EXTRA_DECISIONS, NO_PROBABILITIES, NONE_OF, Undefined
from stakes.results import Door
from stakes.tallies import (
    ClassScores,
    Confusion,
    ErrorSums,
    ForecastSums,
    JointCounts,
    LabelSums,
    QuantileSums,
    ScoreTable,
    Tally,
)
from stakes.tallies.arithmetic import Array, Number, Values
from stakes.tallies.checks import MOST_BINS
from stakes.tallies.costs import Costs
from stakes.tallies.moments import UnusualNumbersError
from stakes.tallies.population import Population
from stakes.tallies.pricing import Prior

Figure = Number
"""The value of a metric: a number, or an array over the leading axes of a tally."""

Parameter = Any
"""A parameter of a metric as a user gives it; anything but a number is an error."""

Better = Literal["higher", "lower", "neither"]
"""Which values of a figure are better."""


Ruled = bool | Array
"""Whether a figure is undefined: one answer, or one for each table of the leading axes."""

Function = Callable[..., Figure] | Shared
"""Computes a figure of a tally, with its parameters."""


@dataclass(frozen=True)
class Kind:
    """What values a parameter of a metric can have."""

    wanted: str
    fits: Callable[[float], bool]


SHARE = Kind("a number above 0, at most 1", lambda value: 0 < value <= 1)
COUNT = Kind("a whole number from 1 on", lambda value: value >= 1 and value == int(value))
BINS = Kind(f"a whole number from 1 to {MOST_BINS:,}", lambda value: COUNT.fits(value) and value <= MOST_BINS)
PRICE = Kind("a number from 0 on", lambda value: 0 <= value < math.inf)
SIZE = Kind("a number above 0", lambda value: 0 < value < math.inf)
CHANCE = Kind("a number from 0 on, below 1", lambda value: 0 <= value < 1)

_COLUMNS = ("truth", "prediction", "score")
"""The names of columns in the call of a metric."""

NEEDED: Any = None
"""The default of a parameter that has none: prices are never guessed."""

PRICES = {"miss", "false_alarm"}
"""The parameters that costs stand for."""


@dataclass(frozen=True)
class OneRow:
    """What one row changes in a figure of scores, where there is a quicker method than leaving each one out.

    ``changes(positives, negatives, unit, …)`` says what the figure loses without a row of each class at each score, the
    highest first; ``unit`` are the weights of such rows. ``unseen(value, positives, negatives, …)`` is the largest
    change that one more row could make; both take the figure's parameters. ``rests_on`` are the rows that may be too
    few: all, the positives, or either class. ``bounds(table)`` are the lowest and the highest figure over all orders of
    tied rows: the exact figure of scores in bins lies between. A figure at a ``place`` of the ranking jumps from row to
    row, so what clusters change is added up over their rows instead of leaving each cluster out. ``rate`` names the
    cell that the figure is a share of, and the cell of the other class that sets the threshold.
    """

    changes: Callable[..., Array]
    unseen: Callable[..., float]
    rests_on: Literal["rows", "positives", "both"]
    bounds: Callable[[ScoreTable], tuple[Number, Number]] | None = None
    place: bool = False
    rate: tuple[str, str] | None = None


_GAFFKE = "Gaffke's limits: one more row, as costly or as cheap as rows can be"

INTERVAL_WORDS = {
    "share": "Wilson's limits for a share",
    "cells": "the percentiles of the resampled table; of more classes, weights or clusters, the influence of rows",
    "area": "the influence of rows (DeLong's variance), together with Newcombe's limits",
    "influence": "the influence of rows: what the figure would be without each of them",
    "median": "order statistics",
    "rate": "order statistics of the threshold, put together with Wilson's limits (MOVER); of clusters, the influence "
    "of rows",
    "line": "Wald's limits; of weights, clusters or other class frequencies, the influence of rows",
    "costs": _GAFFKE,
    "relative costs": _GAFFKE,
}
"""The methods of intervals, in words; ``uncertainty`` holds them."""

_SHARE = {"range": (0, 1), "better": "higher", "interval": "influence"}
_LOSS = {"range": (0, math.inf), "better": "lower", "interval": "influence"}
_USUAL: dict[type[Tally], Mapping[str, object]] = {
    Confusion: {**_SHARE, "interval": "cells", "baseline": baselines.COIN},
    ScoreTable: {**_SHARE, "baseline": baselines.CONSTANT_SCORE},
    ErrorSums: {**_LOSS, "baseline": baselines.MEAN},
    ClassScores: {**_LOSS, "baseline": baselines.CLASS_FREQUENCIES, "many": True},
    LabelSums: {**_SHARE, "baseline": baselines.USUAL_LABELS},
    QuantileSums: {**_LOSS, "baseline": baselines.QUANTILES_OF_TRUTH, "parts": ("rows",)},
    ForecastSums: _LOSS,
}
"""The defaults of declarations, by tally."""

_SCORED = (ScoreTable, ClassScores)

FORMS: dict[type[Tally], Callable[["Metric"], "Metric"]] = {}
"""Functions that turn a figure into one of such a tally: an average over labels, a deviance of sums."""


def _usual_of_share(rows: str) -> Mapping[str, object]:
    """The same of a share of some of the rows."""
    within = rows in ("P", "N")
    return {"interval": "share", "range": (0, 1), "undefined": (NONE_OF[rows],), "within_classes": within}


@dataclass(frozen=True)
class Metric:
    """A declared metric: call it on arrays or on a tally, or ask it about itself.

    What one row changes in a figure follows from its tally, unless the declaration has a quicker method: ``loss`` is
    what a row (truth, output) adds to a mean over the rows; ``relative_to`` divides that mean by what the class sizes
    alone would score, and the figure may be the ``root`` of it; ``one_row`` is for figures of scores,
    ``changes(rows)`` for those of class scores, ``changes(sums, groups, count)`` for others. ``range_of`` gives the
    range where it depends on parameters. A figure ``within_classes`` does not depend on class frequencies; any other
    can be that of a ``population`` (``metrics/prior.py``). ``asymptotic`` is the textbook's standard error.
    """

    name: str
    function: Function
    tally: type[Tally]
    family: str
    question: str
    formula: str
    range: tuple[float, float]
    better: Better
    baseline: Baseline
    undefined: tuple[Undefined, ...] = ()
    otherwise: str = ""
    aliases: tuple[str, ...] = ()
    laws: tuple[str, ...] = ()
    swapped: str | None = None
    reference: str = ""
    pitfall: str = ""
    headline: bool = False
    many: bool = False
    sparse: bool = False
    parts: tuple[str, ...] = ()
    of_many: str = ""
    share_of: str = ""
    loss: Callable[..., Array] | None = None
    relative_to: Callable[[Array], Array] | None = None
    root: bool = False
    one_row: OneRow | None = None
    changes: Callable[..., Any] | None = None
    interval: str = ""
    no_interval: str = ""
    range_of: Callable[..., tuple[float, float]] | None = None
    within_classes: bool = False
    population: Population | None = None
    asymptotic: Callable[..., float] | None = None
    defaults: Mapping[str, Parameter] = field(default_factory=dict)
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The name as users write it, with the parameters that differ from the defaults."""
        return self._called({k: v for k, v in self.parameters.items() if self.defaults[k] != v})

    @cached_property
    def full_text(self) -> str:
        """The name with all its parameters."""
        return self._called(self.parameters)

    def _called(self, parameters: Mapping[str, Parameter]) -> str:
        return f"{self.name}({', '.join(f'{k}={v!r}' for k, v in parameters.items())})" if parameters else self.name

    @property
    def lacking(self) -> list[str]:
        """The parameters that must be given, and are not."""
        return [name for name, value in self.parameters.items() if value is NEEDED]

    def ask_for_parameters(self) -> InputError:
        """The error for missing parameters: what mistakes cost, or another number."""
        if PRICES & set(self.lacking):
            return errors.which_costs(self.name)
        needed = self.lacking[0]
        words = f"{self.name} needs its {needed}; write {self.name}({needed}=…) with {self.kinds[needed].wanted}"
        return InputError("which-parameter", words)

    @property
    def symmetric(self) -> bool:
        """Whether the figure of two classes is the same whichever of them is positive."""
        return self.swapped == self.name and not self.parameters  # prices change places with the classes

    def facts(self) -> dict[str, str]:
        """Return everything that is declared, in words."""
        low, high = (f"{v:g}".replace("inf", "∞") for v in self.range)
        opening, closing = "(" if "∞" in low else "[", ")" if "∞" in high else "]"
        better = "" if self.better == "neither" else f"; {self.better} is better"
        facts = {
            "question": self.question,
            "formula": self.formula,
            "range": f"{opening}{low}, {high}{closing}{better}",
            "baseline": self.baseline.words,
            "interval": f"none: {self.no_interval}" if self.no_interval else INTERVAL_WORDS[self.interval],
            "undefined": ", or ".join(words.format(**self.parameters, zeros="some") for words in self._reasons()),
            "pitfall": self.pitfall,
            "parameters": ", ".join(map(self._parameter_in_words, self.defaults)),
            "aliases": ", ".join(self.aliases),
            "reference": self.reference,
        }
        return {name: words for name, words in facts.items() if words}

    def _parameter_in_words(self, name: str) -> str:
        default = self.defaults[name]
        return f"{name}{'' if default is NEEDED else f'={default!r}'} ({self.kinds[name].wanted})"

    def with_parameters(self, **parameters: Parameter) -> "Metric":
        """Return the metric with other parameters than its defaults."""
        if not parameters:
            return self
        for name, value in parameters.items():
            if name not in self.defaults:
                raise errors.no_such_parameter(self.name, name, list(self.defaults))
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not abs(value) < 1e300 or not self.kinds[name].fits(value):
                raise InputError(
                    "bad-parameter",
                    f"{self.name}({name}={short(repr(value))}) does not work; give {self.kinds[name].wanted}",
                )
        if parameters.items() <= self.parameters.items():
            return self
        parameters = {**self.parameters, **parameters}
        return replace(self, parameters=parameters, range=self.range_of(**parameters) if self.range_of else self.range)

    # ── on a tally ───────────────────────────────────────────────────────────────────────────────────────────
    def of(self, tally: Tally) -> Figure:
        """Return the figure of a tally: a float, or an array over its leading axes."""
        if type(tally) in FORMS and not isinstance(tally, self.tally):
            return FORMS[type(tally)](self).of(tally)
        if not isinstance(tally, self.tally) and not (self.sparse and isinstance(tally, JointCounts)):
            raise errors.wrong_tally(self.name, self.tally.kind, type(tally).__name__)
        if isinstance(tally, Confusion) and not self.many and len(tally.truths) > 2:
            raise errors.which_average(self.name, tally.truths)
        if tally.leading or self.lacking:
            return measure([self], tally)[0]
        tally = self.at_middles(tally)
        seen = self._seen(tally)  # one figure of one table has nothing to share, and is asked for often
        if self._rule_out(seen, {}):
            return math.nan
        if isinstance(self.function, Shared):
            return type(self.function).all([(self.function, self.parameters)], tally)[0]
        return self.function(seen, **self.parameters)

    def row_losses(self, truth: Array, output: Array) -> Array:
        """What each row adds to a figure that is a mean over the rows."""
        if self.loss is None:
            raise TypeError(f"{self.name} is not a mean over rows")
        return np.asarray(self.loss(truth, output.astype(np.float64, copy=False), **self.parameters), np.float64)

    @property
    def plain_mean(self) -> bool:
        """Whether the figure is the mean of a loss of each row, and nothing else."""
        return self.loss is not None and self.relative_to is None and not self.root

    def baseline_of(self, tally: Tally) -> Figure:
        """Return what ignoring the input would score on these rows."""
        return measure_baselines([self], tally)[0]

    def why_undefined(self, tally: Tally) -> str:
        """Return in words why the figure of a single tally is NaN."""
        tally = self._seen(self.at_middles(tally))
        words = next((reason.words for reason in self.undefined if reason.applies(tally)), self.otherwise)
        return words.format(**self.parameters, zeros=getattr(tally, "zeros", None))

    @property
    def reads_values(self) -> bool:
        """Whether the figure needs the scores themselves, and not only their order."""
        base: Metric = getattr(self.function, "base", self)
        return BINNED in (*self.undefined, *base.undefined)

    def at_middles(self, tally: Tally) -> Tally:
        """The tally as the figure reads it: scores in fine bins as the middles of these, if it needs their values."""
        if not isinstance(tally, ScoreTable) or tally.grid is None or tally.merged or not self.reads_values:
            return tally
        return tally.at_middles()

    def _seen(self, tally: Tally) -> Tally:
        """The tally with the positive class that the formula speaks of, where either class will do."""
        return tally.either_called() if self.symmetric and isinstance(tally, Confusion) else tally

    def _rule_out(self, tally: Tally, known: dict[tuple[int, ...], Ruled]) -> Ruled:
        """Whether a declared reason applies: one answer for a single tally, one for each table of a leading axis.

        Answers are kept in ``known``, by tally and reasons: figures share them.
        """
        key = id(tally), *map(id, self.undefined)
        if key not in known:
            known[key] = self._reasons_apply(tally, known)
        return known[key]

    def _reasons_apply(self, tally: Tally, known: dict[tuple[int, ...], Ruled]) -> Ruled:
        out: Ruled = False
        for reason in self.undefined:
            key = id(tally), id(reason)
            if key not in known:
                known[key] = _shortened(reason.applies(tally))
            if known[key] is not False:
                out = known[key] if out is False else _shortened(out | known[key])
            if out is True:  # later reasons may rest on what this one rules out
                return True
        return out

    def _reasons(self) -> list[str]:
        return [reason.words for reason in self.undefined] + ([self.otherwise] if self.otherwise else [])

    # ── on arrays ────────────────────────────────────────────────────────────────────────────────────────────
    @overload
    def __call__(self, tally: Tally, /, **parameters: float) -> Figure: ...

    @overload
    def __call__(
        self,
        truth: Values,
        outputs: Values,
        /,
        *,
        positive: object = None,
        classes: Sequence[object] | None = None,
        weight: Values | None = None,
        baseline: float | None = None,
        from_logits: bool = False,
        **parameters: float,
    ) -> float: ...

    def __call__(
        self,
        /,
        *rows: Values,
        positive: Values = None,
        classes: Values = None,
        weight: Values = None,
        baseline: Values = None,
        from_logits: Values = False,
        **parameters: Parameter,
    ) -> Figure:
        """Return the figure of a tally, or of a truth column and a column of decisions, scores or predicted numbers.

        The columns can be named: ``truth=``, and ``prediction=`` or ``score=``. Scores that are logits are made
        probabilities with ``from_logits=True``.
        """
        if parameters:
            truth, *outputs = ([parameters.pop(name)] if name in parameters else [] for name in _COLUMNS)
            rows = (*truth, *rows, *chain(*outputs))
        metric = self.with_parameters(**parameters)
        options = {"positive": positive, "classes": classes, "weight": weight, "baseline": baseline}
        if from_logits:
            options["from_logits"] = from_logits
        if (mean := metric._mean_of(rows, options)) is not None:
            return mean
        value, tally = metric.of_rows(rows, options)
        if isinstance(tally, _SCORED) and NO_PROBABILITIES in self.undefined and not tally.probabilities:
            low, high = tally.range
            raise InputError(
                "no-probabilities",
                f"{self.name} needs probabilities, but the scores run from {low:.6g} to {high:.6g}; turn them into "
                "probabilities first (for logits: ",
                Pass("from_logits", True),
                ")",
            )
        if isinstance(value, float) and math.isnan(value):
            words = f"{metric.text} is undefined: {metric.why_undefined(tally)}"
            warnings.warn(errors.UndefinedWarning("undefined", words), stacklevel=2)
        return value

    def _mean_of(self, rows: tuple[Values, ...], options: Mapping[str, Values]) -> float | None:
        """The figure of probabilities, if it is no more than a mean over the rows, and nothing is unusual."""
        unusual = any(option is not None for name, option in options.items() if name != "weight")
        if unusual or self.lacking or self.tally is not ScoreTable or not self.plain_mean or len(rows) != 2:
            return None
        return mean_of_plain(self.row_losses, *rows, options["weight"])

    def of_rows(self, rows: tuple[Values, ...], options: Mapping[str, Values]) -> tuple[Figure, Tally]:
        """Return the figure of two columns, NaN where it is undefined, and what was counted for it."""
        try:
            tally = self._tally(rows, options)
            return self.of(tally), tally
        except UnusualNumbersError:
            tally = self._count(rows, options)
            return self.of(tally), tally

    def _tally(self, rows: tuple[Values, ...], options: Mapping[str, Values]) -> Tally:
        """The tally that was given, or that of two columns, which are counted the short way if that will do."""
        if len(rows) == 1 and isinstance(rows[0], Tally):
            return rows[0]
        if len(rows) != 2:
            raise InputError(
                "how-to-call",
                f"call {self.name}(truth, {self._column}), or {self.name}(table) with a {self.tally.kind} table",
            )
        if all(option is None for name, option in options.items() if name != "weight"):
            plain = count_plain(self.tally, rows[0], rows[1], self.parts, options["weight"])
            if plain is not None:
                return plain
        return self._count(rows, options)

    @property
    def _column(self) -> str:
        if self.tally is QuantileSums:
            return "quantiles"
        return "score" if self.tally in _SCORED or {"scores", "depth", "ranks"} & set(self.parts) else "prediction"

    def _count(self, rows: tuple[Values, ...], options: Mapping[str, Values]) -> Tally:
        task = "auto" if has_columns(rows[0]) else self.tally.task
        several = self.tally is ClassScores
        asked = {"truth": rows[0], self._column: rows[1], "ordered": self.family == "graded", **options}
        counted = count_rows(**asked, task=task, parts=self.parts, several=several)
        kinds = counted.tallies
        for kind, tally in kinds.items():
            if any(kind == other.kind for other in FORMS):
                return tally
        if self.tally.kind in kinds or (self.sparse and "joint" in kinds):
            return kinds.get(self.tally.kind) or kinds["joint"]
        if self.tally is ScoreTable and isinstance(scores := kinds.get("class_scores"), ClassScores):
            raise errors.which_average(self.of_many or self.name, scores.classes, pooled=False)
        raise errors.wrong_tally(self.name, self.tally.kind, " and ".join(kinds))

    def scorer(
        self,
        *,
        costs: Costs | None = None,
        prior: Prior | None = None,
        training_prior: Prior | str | None = None,
        positive: object = None,
        classes: Sequence[object] | None = None,
        **parameters: Parameter,
    ) -> Figure:
        """Return a scorer for scikit-learn's GridSearchCV, cross_validate, TunedThresholdClassifierCV and the like.

        For a scorer higher is always better, so costs and errors are negated. It asks the model for what the figure
        needs: decisions, probabilities, or numbers that order the rows. With ``costs`` the cheapest decision is taken
        for each row of probabilities, which may be to abstain; ``expected_cost(miss=…, false_alarm=…)`` without them
        uses the decisions of ``predict``. ``positive`` is the positive class, ``classes`` are those that folds may
        lack.
        An undefined figure is NaN, with a warning.

        >>> import stakes
        >>> stakes.metrics.expected_cost.scorer(costs=stakes.Costs(miss=5, false_alarm=1))
        <scorer: negated expected_cost>
        """
        options = {"costs": costs, "prior": prior, "training_prior": training_prior}
        metric = self.with_parameters(**parameters)
        return Door.find("scorer")(metric, positive=positive, classes=classes, **options)

    def __repr__(self) -> str:
        return f"<metric {self.text}: {self.question}>"


def _shortened(out: Ruled) -> Ruled:
    """One answer for all tables where they have the same."""
    if not isinstance(out, np.ndarray):
        return bool(out)
    return False if not np.any(out) else True if np.all(out) else out


def measure(metrics: list[Metric], tally: Tally) -> list[Figure]:
    """Return the figures of several metrics of one tally (NaN where undefined), walking down its scores only once."""
    if not isinstance(metrics, list | tuple):
        raise errors.bad_metric_text(metrics)
    for metric in metrics:
        if not isinstance(metric, Metric):
            raise errors.bad_metric_text(metric)
        if not isinstance(tally, ScoreTable if isinstance(metric.function, Fold) else Tally):
            raise errors.wrong_tally(metric.name, metric.tally.kind, type(tally).__name__)
        if metric.defaults and metric.lacking:
            raise metric.ask_for_parameters()
    if tally.leading:
        return _measure(metrics, tally)
    known: dict[tuple[int, str], tuple[Function, Figure]] = vars(tally).setdefault("_figures", {})
    keys = [(id(metric.function), metric.full_text) for metric in metrics]
    new = [metric for metric, key in zip(metrics, keys, strict=True) if key not in known]
    for metric, value in zip(new, _measure(new, tally) if new else (), strict=True):
        known[id(metric.function), metric.full_text] = metric.function, value  # kept, so that no other has its id
    return [known[key][1] for key in keys]


def _measure(metrics: Sequence[Metric], tally: Tally) -> list[Figure]:
    values: list[Figure] = [math.nan] * len(metrics)
    ruled_out, shared = [], dict[tuple[type[Shared], bool], list[int]]()
    known: dict[tuple[int, ...], Ruled] = {}
    read = [metric.at_middles(tally) for metric in metrics]
    for i, metric in enumerate(metrics):
        seen = metric._seen(read[i])
        ruled_out.append(metric._rule_out(seen, known))
        if ruled_out[i] is True:
            continue
        if isinstance(metric.function, Shared):
            shared.setdefault((type(metric.function), read[i] is tally), []).append(i)
        else:
            values[i] = metric.function(seen, **metric.parameters)
    for (kind, _), places in shared.items():
        found = kind.all([(metrics[i].function, metrics[i].parameters) for i in places], read[places[0]])
        for i, value in zip(places, found, strict=True):
            values[i] = value
    if not tally.leading:
        return values
    return [
        np.full(tally.leading, math.nan) if out is True else value if out is False else np.where(out, math.nan, value)
        for out, value in zip(ruled_out, values, strict=True)
    ]


def measure_baselines(metrics: Sequence[Metric], tally: Tally) -> list[Figure]:
    """Return what ignoring the input would score in each figure; those with the same baseline share its tallies."""
    groups: dict[Baseline, list[int]] = {}
    for i, metric in enumerate(metrics):
        groups.setdefault(metric.baseline, []).append(i)
    values: list[Figure] = [math.nan] * len(metrics)
    for baseline, places in groups.items():
        some = [metrics[i] for i in places]
        each = [] if baseline.value else [measure(some, other) for other in baseline.tallies(tally)]
        for j, i in enumerate(places):
            values[i] = baseline.value(some[j], tally) if baseline.value else best(some[j], [one[j] for one in each])
    return values


# ── the catalogue ────────────────────────────────────────────────────────────────────────────────────────────────
CATALOGUE: dict[str, Metric] = {}
"""Every declared metric by its name, in the order of declaration."""

OWN = "own"
"""The family of the figures that users declare."""

ALIASES: dict[str, str] = {}
"""Other names that people use, to the name of the metric."""


def metric(*, name: str | None = None, **facts: Any) -> Callable[[Callable[..., Figure] | Fold], Metric]:
    """Declare a metric: a decorator for its function (or, with a name, for a :class:`Fold`).

    The annotation of its first argument is the tally of the figure.
    """

    def declare(function: Callable[..., Figure] | Fold) -> Metric:
        parts = (function.each, function.finish) if isinstance(function, Fold) else (function,)
        every = [p for f in parts for p in inspect.signature(f).parameters.values()]
        options = {p.name: p for p in every if p.default is not p.empty}
        defaults = {name: p.default for name, p in options.items()}
        tally = ScoreTable if isinstance(function, Fold) else every[0].annotation
        usual = {**_USUAL[tally], **(_usual_of_share(facts["share_of"]) if "share_of" in facts else {})}
        declared: dict[str, Any] = {**usual, **facts}
        if "range_of" in facts and NEEDED not in defaults.values():
            declared["range"] = facts["range_of"](**defaults)
        if tally is Confusion and not declared.pop("any_decisions", False):
            declared["undefined"] = (EXTRA_DECISIONS, *declared.get("undefined", ()))
        made = Metric(
            name=name or parts[0].__name__,
            function=function,
            tally=tally,
            family=parts[-1].__module__.rpartition(".")[2],
            defaults=defaults,
            kinds={name: p.annotation.__metadata__[0] for name, p in options.items()},
            parameters=defaults,
            **declared,
        )
        for text in (made.name, *made.aliases):
            if text in CATALOGUE or text in ALIASES:
                raise ValueError(f"two metrics are called {text!r}")
        CATALOGUE[made.name] = made
        ALIASES.update(dict.fromkeys(made.aliases, made.name))
        return made

    return declare
