"""Decision curves: what a model's probabilities are worth to those who act on them (Vickers & Elkin 2006).

Somebody who acts from a probability t on holds a false alarm t/(1 − t) times as bad as a found case is good. The net
benefit of acting when score ≥ t is tp/n − fp/n·t/(1 − t): found cases per row, less the false alarms at that price.
"""

from typing import Any

import numpy as np

from stakes import errors
from stakes.decisions.curves.curve import Curve, Scored, bootstrap_band
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Array, is_real
from stakes.tallies.checks import as_list

_USUAL = np.arange(1, 100) / 100


def decision_curve(scored: Scored, *, thresholds: Any = None) -> Curve:
    """Return the net benefit at threshold probabilities, beside acting on everybody and on nobody."""
    scored.need_probabilities("decision")
    at = threshold_probabilities(thresholds)
    table = scored.table
    P, N = float(table.P), float(table.N)
    y = _net_benefit(table.at_each(at), at)
    references = {"treat all": (P - N * price(at)) / (P + N), "treat none": np.zeros(len(at))}

    def heights() -> Any:
        from stakes.uncertainty.redraws import redraw_scores  # only bands need it

        return _net_benefit(redraw_scores(table, scored.sampling, 0.5, table.between(at)).at_each(at), at)

    return Curve(
        "decision",
        "threshold_probability",
        "net_benefit",
        at,
        y,
        at,
        lambda: bootstrap_band(at, heights, scored.sampling, y),
        references,
    )


def threshold_probabilities(given: Any) -> Array:
    """Return the thresholds in increasing order, .01 to .99 when none are given."""
    if given is None:
        return _USUAL
    listed = None if isinstance(given, str) else as_list(given)
    listed = [given] if listed is None else listed
    for value in listed:
        if not is_real(value) or not 0 <= value < 1:
            raise errors.no_threshold_probability(value)
    if not listed:
        raise errors.no_threshold_probability(given)
    return np.unique(np.array(listed, np.float64))


def price(at: Array) -> Array:
    """What a false alarm weighs against a found case."""
    found: Array = at / (1 - at)
    return found


def _net_benefit(tables: Confusion, at: Array) -> Array:
    found: Array = (tables.tp - tables.fp * price(at)) / tables.total
    return found
