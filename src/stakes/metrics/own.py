"""A figure of one's own: a function of the table of decisions, which is then judged like every declared figure."""

import math
from collections.abc import Callable
from typing import get_args

import numpy as np

from stakes import errors
from stakes.errors import Given, InputError, short
from stakes.metrics.baselines import COIN
from stakes.metrics.declare import ALIASES, CATALOGUE, Better, Metric
from stakes.metrics.reasons import EXTRA_DECISIONS
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Array, Number, is_real
from stakes.tallies.checks import check_text, is_one_of, is_sequence

Own = Callable[[Confusion], Number]

_FAMILY = "own"


def metric(
    function: Own,
    *,
    name: str = "",
    question: str = "",
    better: Better = "higher",
    range: tuple[float, float] = (-math.inf, math.inf),
    formula: str = "",
) -> Metric:
    """Declare a figure of your own: a function of the table of decisions, with its cells tp, fn, fp and tn.

    From then on ``evaluate()[name]``, :func:`stakes.compare`, gates, permutation tests and ``.scorer()`` know it by its
    name, with an interval from tables drawn anew and with what a coin would score. A division by zero is undefined.
    The same name can be declared again, unless stakes itself has it.

    >>> import stakes
    >>> alarms = stakes.metric(lambda c: (c.tp + c.fp) / c.tp, name="alarms_per_case", better="lower")
    >>> alarms([1, 1, 0, 0], [1, 0, 1, 0])
    2.0
    >>> stakes.evaluate(truth=[1, 1, 0, 0], prediction=[1, 0, 1, 0])["alarms_per_case"].value
    2.0
    """
    if not callable(function):
        raise InputError("no-function", Given("function", function), " is no function of a table; give one")
    for argument, text in {"name": name, "question": question, "formula": formula}.items():
        check_text(argument, text)
    if not is_sequence(range) or len(range) != 2 or not all(map(is_real, range)) or not range[0] < range[1]:
        raise InputError("bad-range", Given("range", range), " is no pair of numbers, the lower one first; give two")
    if not is_one_of(better, get_args(Better)):
        raise InputError("bad-better", Given("better", better), " is not known; give 'higher', 'lower' or 'neither'")

    called = name or getattr(function, "__name__", "")
    known = CATALOGUE.get(ALIASES.get(called, called))
    if not called.isidentifier() or (known is not None and known.family != _FAMILY):
        raise InputError(
            "bad-name-of-metric",
            Given("name", called),
            " is no name for a figure of your own, or that of another one; give a word that is not in use",
        )
    CATALOGUE[called] = Metric(
        called,
        _of_tables(called, function),
        Confusion,
        _FAMILY,
        question or f"What is {called}?",
        formula or called,
        (float(range[0]), float(range[1])),
        better,
        COIN,
        undefined=(EXTRA_DECISIONS,),
        otherwise="its function divides by zero, or has no value",
        interval="cells",
    )
    return CATALOGUE[called]


def _of_tables(name: str, function: Own) -> Callable[[Confusion], Number]:
    """The function of a single table, or of many at once; one that cannot is asked table by table."""

    def of(tables: Confusion) -> Number:
        if not tables.leading:
            return _value(name, function, tables)
        found = _at_once(function, tables)
        if found is not None and found.shape == tables.leading:
            return found
        each = [_value(name, function, tables[place]) for place in np.ndindex(tables.leading)]
        return np.reshape(each, tables.leading)

    return of


def _at_once(function: Own, tables: Confusion) -> Array | None:
    try:
        with np.errstate(all="ignore"):
            found = np.asarray(function(tables), np.float64)
    except Exception:  # whatever the function of a user does with arrays
        return None
    return np.where(np.isfinite(found), found, np.nan)


def _value(name: str, function: Own, table: Confusion) -> float:
    try:
        return float(function(table))
    except ZeroDivisionError:
        return math.nan
    except Exception as problem:  # whatever the function of a user does
        why = short(f"{type(problem).__name__}: {errors.first_line(problem)}", 120)
        raise InputError("own-metric-failed", f"the function of {name} failed ({why}); mend it") from None
