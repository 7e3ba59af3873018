"""Curves, plots and reports."""

from stakes.errors import InputError, Pass
from stakes.errors.words import short


def no_threshold_probability(value: object) -> InputError:
    return InputError(
        "no-threshold-probability",
        f"thresholds: {short(repr(value))} is no threshold probability; give numbers from 0 on that are below 1",
    )


def no_histograms(why: str) -> InputError:
    return InputError("no-histograms", f"there are no histograms of scores for these rows: {why}")


def nothing_defined(what: str) -> InputError:
    return InputError(
        "nothing-defined", f"there is no {what} to draw: it is undefined everywhere; name another ", Pass("metric")
    )


def no_report_of(task: str) -> InputError:
    return InputError("no-report-of", f"there is no report page for a {task} yet; ev.show() prints all figures")
