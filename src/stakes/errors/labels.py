"""Classes and their names."""

from collections.abc import Sequence
from typing import Any

from stakes.errors import InputError
from stakes.errors.words import first_row, nearest, plural, rows_text, rows_that_hold, short, some, the_class


def fractional_labels(argument: str, count: int, first: int | None, value: float) -> InputError:
    remedies = {
        "by": "; cut the numbers into groups first",
        "y": "; for quantities give a regressor",
        "truth": "; for quantities pass the predicted numbers as prediction=, without score=, positive= and classes=",
    }
    remedy = remedies.get(argument, "; pass numbers between them as score=")
    return InputError(
        f"{argument} has {rows_that_hold(count)} no class ({value!r}; {first_row(first)}): classes are text, booleans "
        f"or whole numbers{remedy}"
    )


def text_against_numbers(argument: str, seen: str, truth_seen: str) -> InputError:
    return InputError(
        f"{argument} holds {plural(seen)} but truth holds {plural(truth_seen)}; make both the same kind, "
        "so that labels can match, or pass alike='numbers' (1, '1.0' and true are then one class)"
    )


_DIFFERENCES = {
    "unicode": "characters that look alike",
    "blanks": "blanks",
    "case": "case",
    "numbers": "how a number is written",
    "punctuation": "dashes, underscores or blanks",
}


def nearly_alike(one: str, other: str, words: str) -> str:
    shown = ascii if {"unicode", "punctuation"} & {*words.split(",")} else repr  # otherwise both could look the same
    differ = " and ".join(_DIFFERENCES[word] for word in words.split(","))
    return (
        f"the labels {short(shown(one))} and {short(shown(other))} differ in {differ} only, and count as two classes; "
        f"pass alike={words!r} if they mean the same, or classes= with both if they do not"
    )


def unknown_alike(given: object, known: Sequence[str]) -> InputError:
    return InputError(
        f"alike={short(repr(given))} is not known; pass {some(known, last='or')}, several with commas between them"
    )


def which_positive(classes: Sequence[str]) -> InputError:
    return InputError(
        f"truth has the classes {some(classes)} and neither is obviously the positive one; "
        f"pass positive={classes[-1]!r} or positive={classes[0]!r}"
    )


def unknown_positive(positive: str, classes: Sequence[str]) -> InputError:
    return InputError(f"positive={short(repr(positive))} is not a class of truth{nearest(str(positive), classes)}")


def one_class(only: str) -> InputError:
    return InputError(f"truth has the single class {only!r}; pass positive= or classes= to say what the other one is")


def positive_of_many(positive: str, classes: Sequence[str]) -> InputError:
    return InputError(
        f"positive={positive!r} is for two classes, and there are {len(classes):,} ({some(classes)}); leave it out: "
        "every class is judged against the rest"
    )


def unknown_labels(argument: str, labels: Sequence[str], classes: Sequence[str]) -> InputError:
    which = "the label {}, which is" if len(labels) == 1 else "the labels {}, which are"
    return InputError(
        f"{argument} has {which.format(some(labels))} not in classes ({some(classes)}); name every class that occurs"
    )


def classes_not_different(classes: Sequence[str]) -> InputError:
    return InputError(f"classes={short(repr(list(classes)))}: give at least two different classes")


def which_task() -> InputError:
    return InputError(
        "truth and prediction are whole numbers, which can be classes or quantities; "
        "pass task='classification' or task='regression'"
    )


def no_such_task(task: object, known: Sequence[str]) -> InputError:
    return InputError(f"task={short(repr(task))} is not known; the tasks are {some(known, last='or')}")


def baseline_of_classes() -> InputError:
    return InputError("baseline= is the constant that a regression is compared with; leave it out for classes")


def baseline_of_text() -> InputError:
    return InputError(
        "baseline= is the constant that predicted numbers are compared with, and truth holds text; leave it out"
    )


def regression_without_prediction() -> InputError:
    return InputError("a regression is judged by prediction=, the predicted numbers; score= is for classes")


def one_score_for_many(classes: Sequence[str]) -> InputError:
    return InputError(
        f"there is one score column for {len(classes):,} classes ({some(classes)}); give one for each: "
        "score={class: column, …}, or an array of one column per class with classes="
    )


def quantities_with_score(classes: Sequence[str]) -> InputError:
    return InputError(
        f"truth has {len(classes):,} different numbers ({some(classes, 2)}) beside one score; for quantities pass the "
        "predicted numbers as prediction=, for classes one score column each"
    )


def class_without_score(classes: Sequence[str], unused: Sequence[str]) -> InputError:
    hint = f" (there is one for {some(unused)}, which occurs in no row)" if unused else ""
    return InputError(f"there is no score column for {the_class(classes)} {some(classes)}{hint}; every class needs one")


def which_score_column(shape: tuple[int, ...], classes: Any) -> InputError:
    if classes is not None and shape[0] == len(classes):
        return InputError(f"score is an array of shape {shape} for {len(classes)} classes; transpose it: rows first")
    seen = "no classes=" if classes is None else f"{len(classes)} classes"
    return InputError(
        f"score is an array of shape {shape} with {seen}; pass classes= in the order of its {shape[1]} columns, or "
        "for two classes the column of the positive one"
    )


def uneven_probabilities(count: int, first: int, total: float) -> InputError:
    return InputError(
        f"the probabilities of {rows_text(count)} do not add up to 1 ({total:.6g}; {first_row(first)}); "
        "give all classes, and divide each row by its sum if they were rounded"
    )


def no_figure_of_a_class(name: str) -> InputError:
    return InputError(
        f"{name} is not a figure of one class against the rest here; `stakes metrics {name}` says what it is"
    )


def no_decisions() -> InputError:
    return InputError("no decisions were given; pass prediction=")


def threshold_of_many() -> InputError:
    return InputError("threshold= is for the scores of two classes; leave it out")


def not_counted(seen: str) -> InputError:
    return InputError(f"an Evaluation is made from stakes.count(…), not from a {seen}; or call stakes.evaluate(…)")


def no_average(name: str, base: str) -> InputError:
    return InputError(f"there is no {name!r}: {base} is not a figure of one class against the rest; write {base!r}")


def which_average(name: str, classes: Sequence[str], pooled: bool = True) -> InputError:
    micro = f"'micro_{name}', " if pooled else ""
    return InputError(
        f"{name} is a figure of one class against the rest; write 'macro_{name}', 'weighted_{name}', {micro}"
        f"or ev[{name!r}, {classes[0]!r}] for a class"
    )


def codes_beyond_classes(classes: int) -> InputError:
    return InputError(f"truth holds numbers of classes, from 0 to {classes - 1}; give whole numbers in that range")


def no_such_class(name: object, classes: Sequence[str]) -> InputError:
    return InputError(f"there is no class {short(repr(name))}{nearest(str(name), classes)}")


def table_too_large(classes: int, decisions: int) -> InputError:
    return InputError(
        f"{classes:,} classes × {decisions:,} decisions would make a table of {classes * decisions:,} cells; "
        "the most is 1,000 × 1,000: group the classes"
    )


def classes_not_two(classes: Sequence[str]) -> InputError:
    return InputError(f"classes={list(classes)!r}: give two different classes")
