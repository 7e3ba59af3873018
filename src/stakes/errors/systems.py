"""Systems of several models, and the rules that make one decision of their answers."""

from collections.abc import Mapping, Sequence

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
        f"the table of {name!r} holds something other than numbers, or rows of different lengths; give counts or rates",
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
        f"{name} has no case of the class {label!r}, so nothing is known about it; give some, or pass ",
        Pass("prior"),
        f" with no share of {label!r} to ask about the others alone",
    )


def class_needed(what: str, label: str) -> InputError:
    return InputError(
        "class-needed",
        f"{what} needs both classes, and there is no case of {label!r}; give some, and a ",
        Pass("prior"),
        " above 0",
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


def rule_too_deep(most: int) -> InputError:
    return InputError("rule-too-deep", f"the rule is nested more than {most} deep; split it into fusers")


def rule_part_unknown(part: str, functions: Sequence[str]) -> InputError:
    return InputError(
        "rule-part-unknown",
        f"{short(part, 60)!r} is nothing that a rule can say; there is and, or, not, ==, !=, in, a if b else c, "
        f"{', '.join(functions)}",
    )


def unknown_in_rule(name: str, known: Sequence[str], rule: str) -> InputError:
    quoted = [n if n.isidentifier() else f"`{n}`" for n in known]
    return InputError(
        "unknown-in-rule", f"the rule {short(repr(rule), 60)} names {name!r}, which is no model{nearest(name, quoted)}"
    )


def rule_of_positions() -> InputError:
    return InputError(
        "rule-of-positions", "the rule is a function with arguments without names; call them like the models"
    )


def name_taken(name: str) -> InputError:
    return InputError(
        "name-taken", f"{name!r} is taken; models and fusers need names of their own, other than 'truth' and 'decision'"
    )


def unknown_words(where: str, words: Sequence[object], known: Sequence[str]) -> InputError:
    close = nearest(str(words[0]).replace("-", "_"), known)
    meant = close if "mean" in close else f"; there is {some(known, most=20)}"
    return InputError("unknown-words", f"{where}: {some(words)} is not known{meant}")


def too_many_to_write_down(what: str, count: int, most: int) -> InputError:
    return InputError(
        "too-many-to-write-down", f"{what} has {count:,} combinations, more than {most:,}; write the rule as text"
    )


def price_missing(word: str) -> InputError:
    return InputError("price-missing", f"costs: {word} is missing; write miss = 5 and false_alarm = 1")


def who_says(answers: Mapping[str, str]) -> str:
    return ", ".join(f"{name} says {label!r}" for name, label in answers.items())
