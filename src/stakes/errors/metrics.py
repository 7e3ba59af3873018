"""Metrics by name, curves and plots."""

from collections.abc import Sequence

from stakes.errors import InputError, Pass
from stakes.errors.borrowed import translation
from stakes.errors.mentions import About
from stakes.errors.words import nearest, short, some

_CALLED_WITH = ("truth", "prediction", "score", "positive", "classes", "weight")
"""What the call of a metric takes beside its parameters."""


def bad_metric_text(text: object) -> InputError:
    return InputError(
        "bad-metric-text",
        f"{short(repr(text), 80)} is not how a metric is written; write a name, or name(parameter=number)",
    )


def no_such_parameter(metric: str, parameter: str, known: Sequence[str]) -> InputError:
    takes = f"it takes {some(known)}" if known else "it takes none"
    translated = translation(parameter, (*known, *_CALLED_WITH)) or [takes]
    return InputError("no-such-parameter", f"{metric} has no parameter '", About(parameter), "'; ", *translated)


def wrong_tally(metric: str, wanted: str, seen: str) -> InputError:
    return InputError("wrong-tally", f"{metric} needs a {wanted} table, not a {seen}")


def only_for(what: str, tasks: str) -> InputError:
    return InputError("only-for", f"{what} is for {tasks}; this evaluation has none of its own")


def no_such_segment(name: object, known: Sequence[str]) -> InputError:
    return InputError("no-such-segment", f"there is no segment {short(repr(name))}{nearest(str(name), known)}")


def no_such_curve(kind: object, known: Sequence[str]) -> InputError:
    return InputError("no-such-curve", f"there is no curve {short(repr(kind))}{nearest(str(kind), known)}")


def no_curve(kind: str, why: str) -> InputError:
    return InputError("no-curve", f"there is no {kind} curve for these rows: ", why)


def no_histograms(why: str) -> InputError:
    return InputError("no-histograms", f"there are no histograms of scores for these rows: {why}")


def nothing_defined(what: str) -> InputError:
    return InputError(
        "nothing-defined", f"there is no {what} to draw: it is undefined everywhere; name another ", Pass("metric")
    )
