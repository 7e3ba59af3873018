"""Rules that make one decision of what several models say."""

from collections.abc import Iterable, Sequence
from typing import Any

from stakes.errors import InputError
from stakes.errors.words import nearest, short, some


def rule_too_long(length: int, most: int) -> InputError:
    return InputError(f"the rule has {length:,} characters, more than {most:,}; split it into fusers")


def rule_too_deep(most: int) -> InputError:
    return InputError(f"the rule is nested more than {most} deep; split it into fusers")


def candidate_of_which_model(models: Sequence[str]) -> InputError:
    return InputError(f"table= is a candidate in the place of one model; say which: bounds({models[0]!r}, table=…)")


def no_open_dependence(model: str) -> InputError:
    return InputError(
        f"the rows tell how the models depend on each other, so nothing is open between all of them; ask about one "
        f"model: bounds({model!r})"
    )


def label_as_condition(label: str) -> InputError:
    return InputError(f"the rule uses {label!r} as if it could be true; compare a model with it: a == {label!r}")


def count_beyond(function: str, number: str, most: str) -> InputError:
    return InputError(
        f"{function}({number}, …) gives the same answer for every case: there are {most} votes; choose another number"
    )


def model_twice(name: str) -> InputError:
    return InputError(f"model {name!r} is named twice; give each model a name of its own (NAME=COLUMN)")


def rule_unreadable(text: str, why: str) -> InputError:
    return InputError(
        f"the rule {short(repr(text), 80)} cannot be read ({' '.join(why.split())}); write it like 'a and b', "
        "'majority(a, b, c)', 'at_least(2, a, b, c)' or 'a if b == \"sick\" else c'; names that are no plain words "
        "stand in backticks: `chest x-ray`"
    )


def rule_part_unknown(part: str, functions: Sequence[str]) -> InputError:
    return InputError(
        f"{short(part, 60)!r} is nothing that a rule can say; there is and, or, not, ==, !=, in, a if b else c, "
        f"{', '.join(functions)}"
    )


def unknown_in_rule(name: str, known: Sequence[str], rule: str) -> InputError:
    quoted = [n if n.isidentifier() else f"`{n}`" for n in known]
    return InputError(f"the rule {short(repr(rule), 60)} names {name!r}, which is no model{nearest(name, quoted)}")


def nobody_in_rule(rule: str, call: str) -> InputError:
    return InputError(f"the rule {short(repr(rule), 60)} does not say of whom; write {call}")


def count_without_number(function: str) -> InputError:
    return InputError(f"{function} begins with a number: write {function}(2, a, b, c)")


def nothing_to_vote(function: str) -> InputError:
    return InputError(f"{function} has nobody to count; name the models in the brackets")


def bad_vote_weight(part: str) -> InputError:
    return InputError(f"{short(part, 60)!r} is no weighted vote; write a number above 0 times a model: 2 * a")


def votes_beyond_sums(function: str) -> InputError:
    return InputError(
        f"the numbers in {function} are too large, or too far apart, to be added up; write weights such as 2 * a and "
        "0.5 * b"
    )


def no_yes_in_rule(labels: Sequence[str]) -> InputError:
    return InputError(
        f"and, or, not and counts ask for a positive class, and {some(labels)} have none; compare instead, as in "
        f"a == {labels[0]!r}, and answer with labels: 'x' if … else 'y'"
    )


def no_yes_of_model(name: str, outputs: Sequence[str], positive: str) -> InputError:
    return InputError(
        f"{name} says {some(outputs, last='or')} and never {positive!r}, so the rule cannot tell its yes; compare "
        f"({name} == {outputs[0]!r}), or give the model right={{class: output}}"
    )


def never_says(part: str, label: str, possible: Sequence[str]) -> InputError:
    return InputError(f"the rule compares {part} with {label!r}, which it never is{nearest(label, possible)}")


def rule_of_positions() -> InputError:
    return InputError("the rule is a function with arguments without names; call them like the models")


def rule_hears_nobody() -> InputError:
    return InputError("the rule listens to no model, so no model can cost anything; name one of them in it")


def no_rule(seen: str) -> InputError:
    return InputError(f"decide is a {seen}; give the text of a rule, a full table or a function")


def no_fusers(seen: str) -> InputError:
    return InputError(f"fusers is a {seen}; give a dictionary name → rule")


def name_taken(name: str) -> InputError:
    return InputError(
        f"{name!r} is taken; models and fusers need names of their own, other than 'truth' and 'decision'"
    )


def circle(names: Sequence[str]) -> InputError:
    return InputError(f"{' → '.join(names)} is a circle: nobody can answer first; break it")


def unknown_words(where: str, words: Sequence[object], known: Sequence[str]) -> InputError:
    close = nearest(str(words[0]).replace("-", "_"), known)
    meant = close if "mean" in close else f"; there is {some(known, most=20)}"
    return InputError(f"{where}: {some(words)} is not known{meant}")


def table_row_twice(combination: Sequence[str]) -> InputError:
    return InputError(f"the table of the rule answers {some(combination)} twice; keep one of them")


def table_row_missing(said: Any) -> InputError:
    words = ", ".join(f"{name} says {label!r}" for name, label in said.items())
    return InputError(f"the table of the rule has no answer when {words}; give one for every combination")


def table_row_unknown(combination: Sequence[str], outputs: Any) -> InputError:
    words = "; ".join(f"{name}: {some(labels)}" for name, labels in outputs.items())
    return InputError(f"the table of the rule answers {some(sorted(combination))}, which cannot be said ({words})")


def too_many_to_write_down(what: str, count: int, most: int) -> InputError:
    return InputError(f"{what} has {count:,} combinations, more than {most:,}; write the rule as text")


def decision_without_cost(said: Any, decisions: Sequence[str]) -> InputError:
    words = ", ".join(f"{name} says {label!r}" for name, label in said.items())
    return InputError(
        f"when {words}, the rule decides for something that has no cost; the decisions are {some(decisions)}"
    )


def data_is_no_file(path: str, seen: object) -> InputError:
    return InputError(f"{path}: data is {short(repr(seen))}; give the name of a file, in quotes")


def price_missing(word: str) -> InputError:
    return InputError(f"costs: {word} is missing; write miss = 5 and false_alarm = 1")


def system_costs_by_row(columns: Sequence[str]) -> InputError:
    return InputError(f"costs of a system cannot name a column ({some(columns)}); give numbers")


def prior_lacks(missing: Sequence[str]) -> InputError:
    return InputError(f"prior= gives no share of {some(missing)}; give one for every class")


def backticks_wanted(name: str) -> InputError:
    return InputError(f"the model {name!r} is no plain word; write `{name}` in the rule, in backticks")


def rule_word_in_capitals(word: str) -> InputError:
    return InputError(f"{word!r} is nothing that a rule can say; write {word.lower()}")


def system_of_one_class(only: str) -> InputError:
    return InputError(f"truth is {only!r} in every row, so nothing is known about other classes; give rows of them too")


def classes_no_labels(classes: object) -> InputError:
    return InputError(f"classes={short(repr(classes))} holds something other than labels; give a list of names")


def like(name: str, known: Iterable[str]) -> bool:
    """Whether a name is much like one that is known."""
    return "did you mean" in nearest(name, known)
