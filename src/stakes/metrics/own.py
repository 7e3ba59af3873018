"""Figures that users declare: a function of a table or of a row, which then has all that declared figures have."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from stakes import errors
from stakes.errors import Given, InputError, short
from stakes.metrics.baselines import CONSTANT_SCORE, MEAN, SAME_SIZED_COIN, Baseline
from stakes.metrics.declare import ALIASES, CATALOGUE, OWN, Better, Metric
from stakes.metrics.folds import Fold
from stakes.metrics.probability import NEEDS_PROBABILITIES, mean_loss
from stakes.metrics.reasons import EXTRA_DECISIONS, NO_NEGATIVES, NO_POSITIVES
from stakes.metrics.regression import needs_parts
from stakes.tallies import Confusion, ErrorSums, ScoreTable, Tally
from stakes.tallies.arithmetic import Array, Number, is_real
from stakes.tallies.checks import check_text, is_one_of, is_sequence

Of = Literal["table", "scores", "probability", "number"]
"""What a figure of a user is a function of."""

Own = Callable[..., Number]


def metric(
    function: Own | None = None,
    *,
    of: Of = "table",
    name: str = "",
    question: str = "",
    better: Better = "higher",
    range: tuple[float, float] = (-math.inf, math.inf),
    formula: str = "",
) -> Any:
    """Declare a figure of your own; from then on it is known by its name, with an interval and a baseline.

    ``of`` says what the function takes: the "table" of decisions (a :class:`stakes.Confusion`), with its cells tp, fn,
    fp and tn, or with its ``counts`` of any number of classes; the table of "scores" (a :class:`stakes.ScoreTable`); or
    one row, of which the figure is the mean: its truth (1 or 0) and the "probability", or its truth and the predicted
    "number". Functions of rows get arrays and return one.

    ``evaluate()[name]``, :func:`stakes.compare`, gates, permutation tests and ``.scorer()`` take it. A division by zero
    is undefined. The same name can be declared again, unless stakes itself has it. ``@stakes.metric`` and
    ``@stakes.metric(of="scores")`` declare the function below them.

    >>> import stakes
    >>> alarms = stakes.metric(lambda c: (c.tp + c.fp) / c.tp, name="alarms_per_case", better="lower")
    >>> alarms([1, 1, 0, 0], [1, 0, 1, 0])
    2.0
    >>> stakes.evaluate(truth=[1, 1, 0, 0], prediction=[1, 0, 1, 0])["alarms_per_case"].value
    2.0
    >>> root = stakes.metric(lambda t, p: abs(t - p) ** 0.5, of="number", name="root_error", better="lower")
    >>> root([1.0, 2.0, 3.0], [1.0, 3.0, 7.0])
    1.0
    """
    if function is None:
        return partial(metric, of=of, name=name, question=question, better=better, range=range, formula=formula)
    if not callable(function):
        raise InputError("no-function", Given("function", function), " is no function of a table; give one")
    for argument, text in {"name": name, "question": question, "formula": formula}.items():
        check_text(argument, text)
    if not is_sequence(range) or len(range) != 2 or not all(map(is_real, range)) or not range[0] < range[1]:
        raise InputError("bad-range", Given("range", range), " is no pair of numbers, the lower one first; give two")
    if not is_one_of(better, get_args(Better)):
        raise InputError("bad-better", Given("better", better), " is not known; give 'higher', 'lower' or 'neither'")
    if not is_one_of(of, get_args(Of)):
        raise InputError(
            "bad-kind-of-metric", Given("of", of), f" is not known; give {errors.some(get_args(Of), last='or')}"
        )
    called = _free_name(name or getattr(function, "__name__", ""))
    made, tally, baseline, facts = _KINDS[of](called, function)
    CATALOGUE[called] = Metric(
        called,
        made,
        tally,
        OWN,
        question or f"What is {called}?",
        formula or called,
        (float(range[0]), float(range[1])),
        better,
        baseline,
        otherwise="its function divides by zero, or has no value",
        **facts,
    )
    return CATALOGUE[called]


def _free_name(called: str) -> str:
    """The name of a figure; refuse one that stakes has for another, however it is written."""
    known = [CATALOGUE[ALIASES.get(one, one)] for one in (called, called.lower()) if ALIASES.get(one, one) in CATALOGUE]
    if not called.isidentifier() or any(one.family != OWN for one in known):
        raise InputError(
            "bad-name-of-metric",
            Given("name", called),
            " is no name for a figure of your own, or that of another one; give a word that is not in use",
        )
    return called


Kind = tuple[Callable[..., Number] | Fold, type[Tally], Baseline, dict[str, Any]]
"""The function of a figure, its tally, its baseline, and other facts of its declaration."""


_THREE_CLASSES = Confusion([[5, 2, 1], [1, 6, 3], [4, 1, 7]])


def _of_table(name: str, function: Own) -> Kind:
    facts = {"undefined": (EXTRA_DECISIONS,), "interval": "cells", "many": _takes_many(function)}
    return _of_tables(name, function), Confusion, SAME_SIZED_COIN, facts


def _takes_many(function: Own) -> bool:
    """Whether a function works for more than two classes: it does not ask for tp, fn, fp or tn.

    One that fails otherwise may look for classes of its own, or for another number of them.
    """
    try:
        function(_THREE_CLASSES)
    except InputError:
        return False
    except Exception:  # whatever the function of a user does
        return True
    return True


def _of_scores(name: str, function: Own) -> Kind:
    facts = {"undefined": (NO_POSITIVES, NO_NEGATIVES), "interval": "influence"}
    return _of_tables(name, function), ScoreTable, CONSTANT_SCORE, facts


def _of_probability(name: str, function: Own) -> Kind:
    loss = partial(_losses, name, function)

    def of(table: ScoreTable) -> Number:
        return mean_loss(loss, table)

    return of, ScoreTable, CONSTANT_SCORE, {"undefined": NEEDS_PROBABILITIES, "interval": "influence", "loss": loss}


def _of_number(name: str, function: Own) -> Kind:
    loss = partial(_losses, name, function)
    facts = {"undefined": (needs_parts("rows"),), "parts": ("rows",), "interval": "influence", "loss": loss}
    return (lambda sums: sums.mean_of(loss)), ErrorSums, MEAN, facts


_KINDS: dict[str, Callable[[str, Own], Kind]] = {
    "table": _of_table,
    "scores": _of_scores,
    "probability": _of_probability,
    "number": _of_number,
}


def _losses(name: str, function: Own, truth: Array, output: Array) -> Array:
    """What each row adds, by the function of a user."""
    try:
        with np.errstate(all="ignore"):
            found = np.asarray(function(np.asarray(truth, np.float64), output), np.float64)
    except Exception as problem:  # whatever the function of a user does
        raise _failed(name, problem) from None
    if found.shape != np.shape(output):
        raise _failed(name, ValueError("it gives no number for each row"))
    return found


def _of_tables(name: str, function: Own) -> Callable[..., Number]:
    """The function of a single table, or of many at once; if it cannot do that, table by table."""

    def of(tables: Confusion | ScoreTable) -> Number:
        if not tables.leading:
            return _value(name, function, tables)
        found = _at_once(function, tables)
        if found is not None and found.shape == tables.leading and found.size:
            ends = [tuple(0 for _ in found.shape), tuple(size - 1 for size in found.shape)]
            alone = [_value(name, function, tables[place]) for place in ends]  # sums over other axes may look the same
            if np.allclose([found[place] for place in ends], alone, rtol=1e-9, atol=1e-12, equal_nan=True):
                return found
        each = [_value(name, function, tables[place]) for place in np.ndindex(tables.leading)]
        return np.reshape(each, tables.leading)

    return of


def _at_once(function: Own, tables: Confusion | ScoreTable) -> Array | None:
    try:
        with np.errstate(all="ignore"):
            found = np.asarray(function(tables), np.float64)
    except Exception:  # whatever the function of a user does with arrays
        return None
    return np.where(np.isfinite(found), found, np.nan)


def _value(name: str, function: Own, table: Confusion | ScoreTable) -> float:
    try:
        return float(function(table))
    except ZeroDivisionError:
        return math.nan
    except Exception as problem:  # whatever the function of a user does
        raise _failed(name, problem) from None


def _failed(name: str, problem: Exception) -> InputError:
    why = short(f"{type(problem).__name__}: {errors.first_line(problem)}", 120)
    return InputError("own-metric-failed", f"the function of {name} failed ({why}); mend it")
