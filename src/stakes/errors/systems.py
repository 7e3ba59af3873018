"""Systems of several models."""

from collections.abc import Sequence
from typing import Any

from stakes.errors import About, InputError, Pass
from stakes.errors.words import nearest, short, some


def models_wanted(seen: str) -> InputError:
    what = f"a {seen}" if seen else "empty"
    return InputError(
        "models-wanted",
        f"models is {what}; give a dictionary model → confusion table or column, or with rows a list of columns",
    )


def bad_model(name: str, seen: object) -> InputError:
    return InputError(
        "bad-model",
        f"model {name!r} is {short(repr(seen))}; give a confusion table, the share of right answers of each class, or "
        "the name of a column",
    )


def bad_word(name: str, word: str, seen: object, wanted: str) -> InputError:
    return InputError("bad-word", f"model {name!r}: {word} is {short(repr(seen))}; give {wanted}")


def no_such_model(name: object, models: Sequence[str]) -> InputError:
    return InputError("no-such-model", f"there is no model {short(repr(name))}{nearest(str(name), models)}")


def table_not_numbers(name: str) -> InputError:
    return InputError(
        "table-not-numbers",
        f"the table of {name!r} holds something other than numbers, or rows of unlike length; give counts or rates",
    )


def table_shape(name: str, shape: Sequence[int], wanted: Sequence[int], outputs: int | None = None) -> InputError:
    last = "a column for each thing that it says" if outputs is None else f"{outputs} columns"
    seen = " × ".join(map(str, shape)) or "a single number"
    rows = " × ".join(map(str, wanted))
    return InputError(
        "table-shape",
        f"the table of {name!r} is {seen}; give {rows} rows (the true classes, then what the model sees) and {last}",
    )


def unknown_output(name: str, output: str, outputs: Sequence[str]) -> InputError:
    return InputError(
        "unknown-output", f"{name!r} has {output!r} in one place and not in another; it says {some(outputs)}"
    )


def class_unknown_to_model(name: str, label: str, known: Sequence[str], classes: Sequence[str]) -> InputError:
    if label in classes:
        return InputError(
            "class-unknown-to-model", f"the table of {name!r} does not know the class {label!r}; it knows {some(known)}"
        )
    return InputError(
        "class-unknown-to-model",
        f"the table of {name!r} has the class {label!r}, which the system lacks{nearest(label, classes)}",
    )


def no_cases_of_class(name: str, label: str) -> InputError:
    return InputError(
        "no-cases-of-class",
        f"{name} has no case of the class {label!r}, so nothing is known about it; leave the class out",
    )


def cascade_needs_table(name: str) -> InputError:
    return InputError(
        "cascade-needs-table",
        f"{name!r} sees another model; give a table of what it says for each class and each thing it sees",
    )


def costs_wanted(seen: str) -> InputError:
    return InputError(
        "costs-wanted",
        About("costs"),
        f" is a {seen}; give stakes.Costs(miss=…, false_alarm=…), or a matrix with names",
    )


def system_too_large(models: int, combinations: int, classes: int, most: int, by_rows: bool) -> InputError:
    cells = combinations * (classes + models)
    way_out = "leave some out" if by_rows else "give them by rows, of which only the combinations that occur are kept"
    size = f"{combinations:,} combinations: a table of {cells:,} cells"
    return InputError("system-too-large", f"{models} models can say {size}, more than {most:,}; {way_out}")


def shared_difficulty(name: str, later: Sequence[str]) -> InputError:
    see = "sees" if len(later) == 1 else "see"
    return InputError(
        "shared-difficulty",
        f"{some(later)} {see} {name!r} and may find the same cases difficult, so rows do not tell what they would say "
        f"if {name!r} said something else; pass ",
        Pass("shared_difficulty", False),
        " if they share nothing beyond the rows, or give them by a table",
    )


def never_observed(truth: str, said: Any, count: int) -> InputError:
    words = ", ".join(f"{name} says {label!r}" for name, label in said.items())
    more = "" if count == 1 else f" (and {count - 1:,} more)"
    return InputError(
        "never-observed",
        f"never observed: truth {truth!r}, {words}{more}; so nobody knows what the models that see it would say; give "
        "them by a table, or more rows",
    )


def range_only(name: str) -> InputError:
    return InputError(
        "range-only",
        f"only the range of the costs of {name!r} is known, since models that see it may share its difficulties; pass ",
        Pass("shared_difficulty", False),
        " if they share nothing beyond the rows",
    )


def threshold_of_two(name: str) -> InputError:
    return InputError(
        "threshold-of-two",
        f"a threshold in the system is for two classes and a model that says yes or no; {name!r} does not",
    )


def never_seen_in_table(name: str, truth: str, said: Any) -> InputError:
    words = ", ".join(f"{other} says {label!r}" for other, label in said.items())
    return InputError(
        "never-seen-in-table",
        f"the table of {name!r} has no case where the truth is {truth!r} and {words}, so nobody knows what it says "
        "then; count such cases, or give rates",
    )


def rule_failed(called: str, said: Any, problem: Exception) -> InputError:
    words = ", ".join(f"{name} says {label!r}" for name, label in said.items())
    why = " ".join(f"{type(problem).__name__}: {problem}".split())
    return InputError("rule-failed", f"the function {called} fails when {words} ({why}); mend it")
