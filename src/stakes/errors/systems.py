"""Systems of several models."""

from collections.abc import Sequence
from typing import Any

from stakes.errors import InputError
from stakes.errors.words import nearest, short, some


def models_wanted(seen: str) -> InputError:
    what = f"a {seen}" if seen else "empty"
    return InputError(
        f"models is {what}; give a dictionary model → confusion table or column, or with rows a list of columns"
    )


def bad_model_name(name: object) -> InputError:
    return InputError(f"a model is called {short(repr(name))}; give it a name, without backticks")


def bad_model(name: str, seen: object) -> InputError:
    return InputError(
        f"model {name!r} is {short(repr(seen))}; give a confusion table, the share of right answers of each class, "
        "or the name of a column"
    )


def bad_word(name: str, word: str, seen: object, wanted: str) -> InputError:
    return InputError(f"model {name!r}: {word} is {short(repr(seen))}; give {wanted}")


def not_said(values: object) -> InputError:
    return InputError(f"{short(repr(values))} does not say which model says what; give {{model: answer}}")


def bad_switch(argument: str, seen: object) -> InputError:
    return InputError(f"{argument}={short(repr(seen))} does not work; give True, False or None (nobody knows)")


def bad_replacement_price(price: object) -> InputError:
    return InputError(f"price={short(repr(price))} is not a number; give what the replacement costs for these cases")


def bad_rule_table(seen: object) -> InputError:
    return InputError(
        f"the table of the rule is {short(repr(seen))}; give {{(what each model says, …): answer}}, or rows that end "
        "with the answer"
    )


def no_such_model(name: object, models: Sequence[str]) -> InputError:
    return InputError(f"there is no model {short(repr(name))}{nearest(str(name), models)}")


def no_such_output(name: str, output: object, outputs: Sequence[str]) -> InputError:
    return InputError(f"{name} never says {short(repr(output))}{nearest(str(output), outputs)}")


def table_not_numbers(name: str) -> InputError:
    return InputError(
        f"the table of {name!r} holds something other than numbers, or rows of unlike length; give counts or rates"
    )


def table_shape(name: str, shape: Sequence[int], wanted: Sequence[int], outputs: int | None = None) -> InputError:
    last = "a column for each thing that it says" if outputs is None else f"{outputs} columns"
    seen = " × ".join(map(str, shape)) or "a single number"
    rows = " × ".join(map(str, wanted))
    return InputError(
        f"the table of {name!r} is {seen}; give {rows} rows (the true classes, then what the model sees) and {last}"
    )


def outputs_wanted(name: str, columns: int, classes: Sequence[str]) -> InputError:
    return InputError(
        f"the table of {name!r} has {columns} columns and there are {len(classes)} classes; name what it says: "
        f"{{'table': …, 'outputs': […]}}"
    )


def unknown_output(name: str, output: str, outputs: Sequence[str]) -> InputError:
    return InputError(f"{name!r} has {output!r} in one place and not in another; it says {some(outputs)}")


def class_unknown_to_model(name: str, label: str, known: Sequence[str], classes: Sequence[str]) -> InputError:
    if label in classes:
        return InputError(f"the table of {name!r} does not know the class {label!r}; it knows {some(known)}")
    return InputError(f"the table of {name!r} has the class {label!r}, which the system lacks{nearest(label, classes)}")


def negative_count(name: str, truth: str, output: str, value: float) -> InputError:
    return InputError(
        f"the table of {name!r} holds {value:g} where the truth is {truth!r} and it says {output!r}; give counts or "
        "rates from 0 on"
    )


def rates_sum(what: str, total: float) -> InputError:
    return InputError(f"{what}: the probabilities sum to {total:.6g}, not to 1; mend them, or give counts")


def no_cases_of_class(name: str, label: str) -> InputError:
    return InputError(f"{name} has no case of the class {label!r}, so nothing is known about it; leave the class out")


def bad_accuracies(name: str, seen: object, classes: Sequence[str]) -> InputError:
    return InputError(
        f"model {name!r} is {short(repr(seen))}; give the share of right answers, from 0 to 1, of {some(classes)}"
    )


def accuracies_of_many(name: str, classes: int) -> InputError:
    return InputError(
        f"model {name!r}: shares of right answers do not say how errors fall on {classes} classes; give its confusion "
        "table"
    )


def sees_unknown(name: str, models: Sequence[str]) -> InputError:
    return InputError(f"a model sees {name!r}, which is no model{nearest(name, models)}")


def sees_a_table(name: str, other: str) -> InputError:
    return InputError(
        f"{name!r} is given by rows and sees {other!r}, which is not in them; give both by rows, or {name!r} by a table"
    )


def cascade_needs_table(name: str) -> InputError:
    return InputError(
        f"{name!r} sees another model; give a table of what it says for each class and each thing it sees"
    )


def contradiction(name: str, truth: str, output: str, in_table: float, in_rows: float) -> InputError:
    return InputError(
        f"{name!r} is given twice and the two contradict each other: of {truth!r} it says {output!r} in "
        f"{100 * in_table:.6g} % by its table and in {100 * in_rows:.6g} % by the rows; keep one, or judge the table "
        "as a candidate: bounds(model, table)"
    )


def system_without_classes() -> InputError:
    return InputError("models given by tables need classes=: the true classes, in the order of the tables' rows")


def system_without_truth() -> InputError:
    return InputError("models given by columns need truth=: what really happened")


def prior_wanted(classes: Sequence[str]) -> InputError:
    return InputError(
        f"nothing says how frequent the classes {some(classes)} are, since no model is given by counts; pass prior="
    )


def costs_wanted(seen: str) -> InputError:
    return InputError(f"costs is a {seen}; give stakes.Costs(miss=…, false_alarm=…), or a matrix with names")


def costs_of_strange_class(name: str, classes: Sequence[str]) -> InputError:
    return InputError(f"the costs have the class {name!r}, which the system lacks{nearest(name, classes)}")


def system_too_large(models: int, combinations: int, classes: int, most: int, by_rows: bool) -> InputError:
    cells = combinations * (classes + models)
    way_out = "leave some out" if by_rows else "give them by rows, of which only the combinations that occur are kept"
    size = f"{combinations:,} combinations: a table of {cells:,} cells"
    return InputError(f"{models} models can say {size}, more than {most:,}; {way_out}")


def shared_difficulty(name: str, later: Sequence[str]) -> InputError:
    see = "sees" if len(later) == 1 else "see"
    return InputError(
        f"{some(later)} {see} {name!r} and may find the same cases difficult, so rows do not tell what they would say "
        f"if {name!r} said something else; pass shared_difficulty=False if they share nothing beyond the rows, or "
        "give them by a table"
    )


def never_observed(truth: str, said: Any, count: int) -> InputError:
    words = ", ".join(f"{name} says {label!r}" for name, label in said.items())
    more = "" if count == 1 else f" (and {count - 1:,} more)"
    return InputError(
        f"never observed: truth {truth!r}, {words}{more}; so nobody knows what the models that see it would say; give "
        "them by a table, or more rows"
    )


def no_joint(why: str) -> InputError:
    return InputError(f"no joint distribution has these tables as its margins ({' '.join(why.split())}); check them")


def break_even_of_two(name: str) -> InputError:
    return InputError(
        f"a break-even line in (TPR, TNR) is for two classes and a model that tells them apart; {name!r} does not"
    )


def break_even_without_seeing(name: str) -> InputError:
    return InputError(
        f"{name!r} sees other models, so one line in (TPR, TNR) does not tell what a replacement is worth"
    )


def range_only(name: str) -> InputError:
    return InputError(
        f"only the range of the costs of {name!r} is known, since models that see it may share its difficulties; pass "
        "shared_difficulty=False if they share nothing beyond the rows"
    )


def threshold_of_two(name: str) -> InputError:
    return InputError(
        f"a threshold in the system is for two classes and a model that says yes or no; {name!r} does not"
    )


def score_without_rows() -> InputError:
    return InputError("score= needs the rows of every model; this system is given by tables: leave it out")


def threshold_of_seen(name: str) -> InputError:
    return InputError(
        f"other models see {name!r}, and nobody knows what they would say at another threshold; run them again"
    )


def never_happens(words: str) -> InputError:
    return InputError(f"{words} never happens in this system; ask for something that does, or use do()")


def missing_in_file(path: str, word: str) -> InputError:
    return InputError(f"{path}: {word} is missing; a system needs models, decide and costs")


def accuracies_of_outputs(name: str, outputs: Sequence[str], classes: Sequence[str]) -> InputError:
    return InputError(
        f"{name!r} says {some(outputs)}, and the classes are {some(classes)}, so shares of right answers do not tell "
        "what it says; give a table"
    )


def never_seen_in_table(name: str, truth: str, said: Any) -> InputError:
    words = ", ".join(f"{other} says {label!r}" for other, label in said.items())
    return InputError(
        f"the table of {name!r} has no case where the truth is {truth!r} and {words}, so nobody knows what it says "
        "then; count such cases, or give rates"
    )


def bad_names_of_rule_table(seen: object) -> InputError:
    return InputError(
        f"of={short(repr(seen))} does not work; list the models that the table of the rule is about, once each"
    )


def rule_failed(called: str, said: Any, problem: Exception) -> InputError:
    words = ", ".join(f"{name} says {label!r}" for name, label in said.items())
    why = " ".join(f"{type(problem).__name__}: {problem}".split())
    return InputError(f"the function {called} fails when {words} ({why}); mend it")


def words_not_together(name: str, first: str, second: str) -> InputError:
    return InputError(
        f"model {name!r} has {first} beside {second}, which already tells what it says; leave one of them out"
    )
