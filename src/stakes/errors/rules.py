"""Rules that make one decision of what several models say."""

from collections.abc import Iterable, Sequence
from typing import Any

from stakes.errors import InputError
from stakes.errors.words import nearest, short, some


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


def table_row_missing(said: Any) -> InputError:
    words = ", ".join(f"{name} says {label!r}" for name, label in said.items())
    return InputError(
        "table-row-missing", f"the table of the rule has no answer when {words}; give one for every combination"
    )


def table_row_unknown(combination: Sequence[str], outputs: Any) -> InputError:
    words = "; ".join(f"{name}: {some(labels)}" for name, labels in outputs.items())
    return InputError(
        "table-row-unknown",
        f"the table of the rule answers {some(sorted(combination))}, which cannot be said ({words})",
    )


def too_many_to_write_down(what: str, count: int, most: int) -> InputError:
    return InputError(
        "too-many-to-write-down", f"{what} has {count:,} combinations, more than {most:,}; write the rule as text"
    )


def decision_without_cost(said: Any, decisions: Sequence[str]) -> InputError:
    words = ", ".join(f"{name} says {label!r}" for name, label in said.items())
    return InputError(
        "decision-without-cost",
        f"when {words}, the rule decides for something that has no cost; the decisions are {some(decisions)}",
    )


def price_missing(word: str) -> InputError:
    return InputError("price-missing", f"costs: {word} is missing; write miss = 5 and false_alarm = 1")


def like(name: str, known: Iterable[str]) -> bool:
    """Whether a name is much like one that is known."""
    return "did you mean" in nearest(name, known)
