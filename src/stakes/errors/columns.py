"""Columns: which are given, how long they are, what they hold."""

from collections.abc import Sequence

from stakes.errors import EmptyError, GapError, InputError
from stakes.errors.words import first_row, nearest, rows_text, short, some


def no_such_column(argument: str, name: str, columns: Sequence[str]) -> InputError:
    return InputError(f"{argument}: there is no column {short(repr(name))}{nearest(name, columns)}")


def name_without_data(argument: str, name: str) -> InputError:
    return InputError(
        f"{argument}={name!r} is a name, but no data was given; pass the table or file first, or an array here"
    )


def not_a_column(argument: str, seen: str) -> InputError:
    return InputError(f"{argument} is {seen}; give one value per row: a list, an array or a column")


def sparse_matrix(argument: str, shape: tuple[int, ...]) -> InputError:
    return InputError(f"{argument} is a sparse matrix of shape {shape}; give the values themselves, .toarray() of it")


def not_a_table(seen: str) -> InputError:
    return InputError(f"data is a {seen}; give a file name, a data frame, or a dictionary of columns")


def wrong_length(argument: str, length: int, other_length: int, other: str = "truth") -> InputError:
    return InputError(f"{argument} has {rows_text(length)} but {other} has {other_length:,}; give one value per row")


def no_batches() -> InputError:
    return InputError("data is an iterator that gave no batch; there is nothing to evaluate")


def in_batch(number: int, rows: int, problem: InputError, classes_open: bool) -> InputError:
    hint = " (each batch is counted by itself; classes= names the classes of all of them)" if classes_open else ""
    return InputError(f"batch {number:,}, which begins at row {rows:,}: {problem}{hint}")


def in_rows(first: int, last: int, problem: InputError) -> InputError:
    return type(problem)(f"rows {first:,} to {last:,}, counted by themselves: {problem}")


def kind_changes(argument: str, first: str, later: str) -> InputError:
    kinds = {"number": "numbers", "boolean": "booleans"}
    one, other = (kinds.get(kind, kind) for kind in (first, later))
    return InputError(f"{argument} holds {one} in the first rows and {other} in later ones; make it of one kind")


def empty(argument: str) -> EmptyError:
    return EmptyError(f"{argument} is empty; there is nothing to evaluate")


def missing_values(argument: str, count: int, first: int | None) -> GapError:
    seen = f"{argument} is missing in {rows_text(count)} ({first_row(first)})"
    return GapError(f"{seen}; fill them, or leave those rows out: evaluate, count and decide take missing='drop'")


def half_a_character(argument: str, text: str) -> InputError:
    seen = short(repr(text))
    return InputError(f"{argument} holds {seen}, in which half a character stands alone (a surrogate); mend the text")


def multilabel_rows(argument: str) -> InputError:
    return InputError(
        f"{argument} holds a list or set in a row: several labels per row (multilabel) are not supported; "
        "evaluate each label by itself"
    )


def classes_without_order(classes: object) -> InputError:
    return InputError(f"classes={short(repr(classes))} has no order; give a list, in the order of the score columns")


def bad_baseline(baseline: object) -> InputError:
    return InputError(f"baseline={short(repr(baseline))} is not a finite number; give one number")


def scores_as_predictions() -> InputError:
    return InputError(
        "truth is 0 and 1 and prediction holds fractions between them; pass probabilities as score=, or "
        "task='regression' if numbers are meant"
    )


def errors_beyond_floats() -> InputError:
    return InputError("truth and prediction (or weights) are no numbers, or too far apart for a float; scale them down")


def multilabel(argument: str, shape: tuple[int, ...]) -> InputError:
    return InputError(
        f"{argument} is an array of shape {shape}: several labels per row (multilabel) are not supported; "
        "evaluate each label by itself"
    )


def different_indexes(argument: str, other: str = "truth") -> InputError:
    return InputError(
        f"{argument} and {other} are pandas objects whose indexes disagree; align them first (reindex), or pass "
        ".to_numpy() of each when the order of the rows is right"
    )


def list_of_names(argument: str, names: Sequence[str]) -> InputError:
    wanted = "score={class: column, …}" if argument == "score" else "one column"
    return InputError(f"{argument} is a list of the names {some(names)}; give {wanted}")


def few_outside(count: int, rows: int, first: int | None, value: float) -> str:
    return (
        f"score lies outside [0, 1] in {count:,} of {rows_text(rows)} ({value!r}; {first_row(first)}), so the scores "
        "are not taken as probabilities; clip or mend them if they are meant to be"
    )


def unlike_columns(argument: str, other: str, numbers: Sequence[str], text: Sequence[str]) -> InputError:
    return InputError(
        f"{argument} holds numbers ({some(numbers, 2)}) but {other} holds text ({some(text, 2)}); "
        "name the right column, so that they can match"
    )


def same_column(argument: str) -> str:
    return f"{argument} and truth are the same column; a target is not its own prediction"


def nothing_in_common(classes: Sequence[str], decisions: Sequence[str]) -> str:
    return f"prediction has no class of truth ({some(decisions)} against {some(classes)}); is it the right column?"


def unsupported_type(argument: str, seen: str) -> InputError:
    return InputError(f"{argument} holds {seen} values; give text, numbers or booleans")


def beyond_64_bits(argument: str) -> InputError:
    return InputError(f"{argument} holds whole numbers beyond 64 bits; scale them down, or give labels as text")


def duplicate_columns(names: Sequence[str]) -> InputError:
    return InputError(
        f"the table has several columns called {some(names)}; rename them, so that a name means one column"
    )


def mixed_types(argument: str, kinds: Sequence[str], examples: Sequence[object]) -> InputError:
    return InputError(
        f"{argument} mixes {' and '.join(kinds)} ({some(examples)}); make the labels all text or all numbers"
    )


def by_twice(names: Sequence[object]) -> InputError:
    seen = f"names a column twice ({some([str(name) for name in names])})" if names else "names no column"
    return InputError(f"by= {seen}; name each column that makes segments once")


def no_segments() -> InputError:
    return InputError("there are no segments; evaluate with by=, the column (or columns) that make them")


def no_figure_of_segments(name: str, why: str) -> InputError:
    return InputError(f"segments cannot be compared by {name}: {why}")


def lost_polars() -> InputError:
    return InputError(
        "this process was forked from one in which Polars was at work, and Polars does not survive that; pass arrays, "
        "or start processes by multiprocessing.get_context('spawn')"
    )
