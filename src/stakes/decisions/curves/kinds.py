"""The curves there are, by name."""

import inspect
from collections.abc import Callable
from dataclasses import replace

from stakes import errors
from stakes.decisions.curves.cost import cost_curve
from stakes.decisions.curves.curve import Band, ClassScored, Curve, Scored
from stakes.decisions.curves.decision import decision_curve
from stakes.decisions.curves.reject import reject_curve
from stakes.decisions.curves.roc_pr import decided_scores, pr_curve, roc_curve
from stakes.errors import InputError, nearest
from stakes.question.options import Value
from stakes.tallies.checks import is_one_of

__all__ = ["CURVES", "Band", "ClassScored", "Curve", "Scored", "curve", "decided_scores"]

CURVES: dict[str, Callable[..., Curve]] = {
    "roc": roc_curve,
    "pr": pr_curve,
    "cost": cost_curve,
    "decision": decision_curve,
    "reject": reject_curve,
}


def curve(kind: str, scored: Scored | ClassScored, **options: Value) -> Curve:
    """Return the curve of that name; ``options`` are its own."""
    if not is_one_of(kind, CURVES):
        raise errors.no_such_curve(kind, list(CURVES))
    make = CURVES[kind]
    for name in options:
        known = [name for name, one in inspect.signature(make).parameters.items() if one.kind is one.KEYWORD_ONLY]
        if name not in known:
            raise InputError(
                "no-such-curve-option",
                f"the {kind} curve has no option {name!r}{nearest(name, known) or '; leave it out'}",
            )
    made = make(scored, **options)
    there = {} if scored.population is None or kind == "roc" else scored.population.by_class
    return replace(made, prior=there) if there else made
