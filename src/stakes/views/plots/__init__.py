"""Plots by name: what can be drawn of the things that users hold."""

import inspect
from collections.abc import Callable, Iterable, Mapping

from stakes.decisions.curves.kinds import CURVES
from stakes.errors import InputError, nearest, short, some
from stakes.language import speaking
from stakes.question.options import Value
from stakes.results import Plottable
from stakes.tallies.checks import is_one_of
from stakes.views.plots import chance, confusion, curves, forest, network, numbers, scores
from stakes.views.plots.style import Display

Draw = Callable[..., Display]
"""From a thing, the kind of plot and the axes (None for new ones) to what was drawn."""

_CURVES = tuple(CURVES)
_OF_ROWS: Mapping[str, Draw] = {"confusion": confusion.of_evaluation, "segments": forest.of_segments}
_PLOTS: Mapping[str, Mapping[str, Draw]] = {
    "binary": {
        **_OF_ROWS,
        **dict.fromkeys(_CURVES, curves.of_two_classes),
        "histograms": scores.histograms_of_two,
        "reliability": scores.reliability_of_two,
    },
    "multiclass": {
        **_OF_ROWS,
        **dict.fromkeys(_CURVES, curves.of_many_classes),
        "histograms": scores.histograms_of_many,
        "reliability": scores.reliability_of_many,
    },
    "regression": {
        **_OF_ROWS,
        "predicted": numbers.predicted,
        "residuals": numbers.residuals,
        "reliability": numbers.reliability,
        "lorenz": numbers.lorenz,
    },
    **{kind: {"each": forest.of_each, "segments": forest.of_segments} for kind in ("labels", "outputs")},
    "quantiles": {
        "each": forest.of_each,
        "segments": forest.of_segments,
        "reliability": numbers.reliability_of_quantiles,
        "pit": numbers.pit,
    },
    "curve": dict.fromkeys((*_CURVES, "threshold"), curves.of_curve),
    "decision": {"threshold": curves.of_decision, "alternatives": forest.of_alternatives},
    "comparison": {
        "forest": forest.of_comparison,
        **dict.fromkeys(("roc", "pr", "decision"), curves.of_models),
        "reliability": scores.reliability_of_models,
    },
    "permutation test": {"null": chance.null},
    "gap": {"groups": forest.of_gap},
    "number calibration": {"reliability": numbers.of_calibration},
    "system": {"network": network.of_system},
}


def plot(
    thing: Value, kind: str | None = None, ax: Value = None, *, lang: str | None = None, **options: Value
) -> Display:
    """Draw an evaluation, curve, decision, comparison, permutation test or system with matplotlib.

    ``kind`` is one of ``thing.plots``, the first of them if none is named; the plot is drawn into ``ax``, or into a new
    figure. ``lang`` is the code of a language, such as "es", or that in which the thing was asked for. Settings of
    matplotlib stay as they are.
    """
    if not isinstance(thing, Plottable):
        raise InputError(
            "nothing-to-plot",
            f"a {type(thing).__name__} cannot be drawn; plot an evaluation, curve, decision, comparison, test or "
            "system",
        )
    kinds = thing.plots
    if (kind is None and not kinds) or (kind is not None and not is_one_of(kind, kinds)):
        there = f"there is {some(kinds, most=10)}" if kinds else "there is none of these rows"
        raise InputError("no-such-plot", f"there is no plot {short(repr(kind))} of this; {there}")
    kind = kinds[0] if kind is None else kind
    draw = _PLOTS[getattr(thing, "task", thing.plotted_as)][kind]
    _check(draw, kind, options)
    with speaking(getattr(thing, "lang", "en") if lang is None else lang):
        return draw(thing, kind, ax, **options)


def _check(draw: Draw, kind: str, options: Iterable[str]) -> None:
    """Refuse options that a plot does not have; curves check their own."""
    parameters = inspect.signature(draw).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return
    known = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
    for name in options:
        if name not in known:
            raise InputError(
                "no-such-plot-option",
                f"the plot {kind!r} has no option {name!r}{nearest(name, known) or '; leave it out'}",
            )
