"""Models that are compared."""

from collections.abc import Sequence

from stakes.errors import InputError
from stakes.errors.words import rows_text, short, some, the_class


def how_to_compare() -> InputError:
    return InputError(
        "write which columns are which: compare(data, truth='y', scores=['a', 'b']), or compare(truth=y, "
        "scores={'a': p, 'b': q})"
    )


def one_model(names: Sequence[str]) -> InputError:
    seen = f"there is only {some(names)}" if names else "there is none"
    return InputError(f"a comparison needs two models or more, and {seen}; name them in scores= or predictions=")


def single_row_to_compare() -> InputError:
    return InputError("there is a single row, which tells nothing about a difference; give at least two")


def models_without_names(argument: str, seen: str) -> InputError:
    return InputError(f"{argument} is {seen}; give a dictionary model → column, or a list of column names")


def in_model(name: str, problem: InputError) -> InputError:
    return InputError(f"model {name!r}: {problem}")


def models_of_different_lengths(name: str, length: int, truth_length: int) -> InputError:
    return InputError(
        f"model {name!r} has {rows_text(length)} but truth has {truth_length:,}; models are compared on the same rows: "
        "give every model all of them, or with paired=False each its own truth"
    )


def different_labels(name: str, labels: Sequence[str]) -> InputError:
    return InputError(
        f"model {name!r} has {the_class(labels)} {some(labels)}, which another model does not have; pass classes= to "
        "say what the classes are"
    )


def different_tasks(name: str, task: str, other: str, other_task: str) -> InputError:
    return InputError(
        f"model {name!r} is judged as {task}, but {other!r} as {other_task}; pass task= to say what is meant"
    )


def bad_margin(margin: object) -> InputError:
    seen = short(repr(margin))
    return InputError(f"margin={seen} is not a number from 0 on; give the difference that would still not matter")


def no_such_pair(one: str, other: str, models: Sequence[str]) -> InputError:
    pair = f"{short(repr(one))} and {short(repr(other))}"
    return InputError(f"there is no pair of {pair} by that metric; the models are {some(models)}")


def own_truths(name: str) -> InputError:
    return InputError(
        f"model {name!r} has no truth of its own; with paired=False give each one: scores={{'a': (truth, score), …}}"
    )


def not_unpaired(argument: str) -> InputError:
    return InputError(f"{argument} is for models on the same rows; leave it out with paired=False")


def how_to_join() -> InputError:
    return InputError(
        "several tables were given; name the column of case numbers that joins them as id=, or pass paired=False if "
        "they hold different cases"
    )


def id_of_one_table() -> InputError:
    return InputError("id= joins several tables; give a list of them, or leave it out")


def column_of_each(argument: str) -> InputError:
    return InputError(
        f"{argument}: with several tables, one model each, give the one column name that all of them have"
    )


def duplicate_ids(table: str, column: str, count: int, first: str) -> InputError:
    seen = f"1 value of {column} occurs" if count == 1 else f"{count:,} values of {column} occur"
    return InputError(f"{table}: {seen} more than once (the first is {first!r}); keep one row of every case")


def missing_ids(table: str, other: str, column: str, count: int, first: str) -> InputError:
    seen = "1 case" if count == 1 else f"{count:,} cases"
    return InputError(
        f"{table} lacks {seen} that {other} has (the first has {column} {first!r}); give both the same cases"
    )


def different_truths(table: str, other: str, column: str, count: int, first: str) -> InputError:
    return InputError(
        f"{table} and {other} disagree about the truth of {'1 case' if count == 1 else f'{count:,} cases'} "
        f"(the first has {column} {first!r}); mend the files, so that both are judged alike"
    )


def tables_of_one_name(name: str) -> InputError:
    return InputError(f"two tables are called {name!r}, and models are called like their tables; rename one")
