"""Names and parameters of metrics."""

from collections.abc import Iterable, Sequence

from stakes.errors import InputError
from stakes.errors.words import nearest, short, some


def no_such_metric(name: str, known: Iterable[str]) -> InputError:
    hint = nearest(name, known)
    return InputError(f"there is no metric {name!r}{hint if 'mean' in hint else '; `stakes metrics` lists them all'}")


def bad_metric_text(text: object) -> InputError:
    return InputError(
        f"{short(repr(text), 80)} is not how a metric is written; write a name, or name(parameter=number)"
    )


def no_such_parameter(metric: str, parameter: str, known: Sequence[str]) -> InputError:
    takes = f"it takes {some(known)}" if known else "it takes none"
    return InputError(f"{metric} has no parameter {parameter!r}; {takes}")


def bad_parameter(metric: str, parameter: str, value: object, wanted: str) -> InputError:
    return InputError(f"{metric}: {parameter}={short(repr(value))} does not work; give {wanted}")


def wrong_tally(metric: str, wanted: str, seen: str) -> InputError:
    return InputError(f"{metric} needs a {wanted} table, not a {seen}")


def how_to_call(metric: str, column: str, tally: str) -> InputError:
    return InputError(f"call {metric}(truth, {column}), or {metric}(table) with a {tally} table")


def does_not_fit(name: str, needs: str, task: str) -> InputError:
    return InputError(
        f"{name} is a figure of {needs}, and this is a {task} evaluation; `stakes metrics` lists them all"
    )


def only_for(what: str, tasks: str) -> InputError:
    return InputError(f"{what} is for {tasks}; this evaluation has none of its own")


def curve_of_which_class(kind: str, classes: Sequence[str]) -> InputError:
    return InputError(f"with several classes a curve is that of one against the rest: curve({kind!r}, {classes[0]!r})")


def no_such_segment(name: object, known: Sequence[str]) -> InputError:
    return InputError(f"there is no segment {short(repr(name))}{nearest(str(name), known)}")


def no_such_curve(kind: object, known: Sequence[str]) -> InputError:
    return InputError(f"there is no curve {short(repr(kind))}{nearest(str(kind), known)}")


def no_curve(kind: str, why: str) -> InputError:
    return InputError(f"there is no {kind} curve for these rows: {why}")
