"""Curves, plots and reports."""

from collections.abc import Sequence

from stakes.errors import InputError, Pass
from stakes.errors.words import nearest, short, some


def no_such_curve_option(kind: str, name: str, known: Sequence[str]) -> InputError:
    return InputError(
        "no-such-curve-option", f"the {kind} curve has no option {name!r}{nearest(name, known) or '; leave it out'}"
    )


def no_threshold_probability(value: object) -> InputError:
    return InputError(
        "no-threshold-probability",
        f"thresholds: {short(repr(value))} is no threshold probability; give numbers from 0 on that are below 1",
    )


def no_histograms(why: str) -> InputError:
    return InputError("no-histograms", f"there are no histograms of scores for these rows: {why}")


def no_such_plot(kind: object, known: Sequence[str]) -> InputError:
    there = f"there is {some(known, most=10)}" if known else "there is none of these rows"
    return InputError("no-such-plot", f"there is no plot {short(repr(kind))} of this; {there}")


def no_such_plot_option(kind: str, name: str, known: Sequence[str]) -> InputError:
    return InputError(
        "no-such-plot-option", f"the plot {kind!r} has no option {name!r}{nearest(name, known) or '; leave it out'}"
    )


def nothing_defined(what: str) -> InputError:
    return InputError(
        "nothing-defined", f"there is no {what} to draw: it is undefined everywhere; name another ", Pass("metric")
    )


def no_report_of(task: str) -> InputError:
    return InputError("no-report-of", f"there is no report page for a {task} yet; ev.show() prints all figures")
