"""What was wrong, what was seen, what to do: the one place that words what users read when input is wrong.

Each function returns the error; the caller raises it. A text is one line: the argument or column, what was
seen (how many, the first row), and what to do about it.
"""

from collections.abc import Iterable, Sequence
from typing import Any


class StakesError(Exception):
    """Everything that stakes raises on purpose."""


class InputError(StakesError, ValueError):
    """The input or the call is wrong; the text says what was seen and what to do."""


class EmptyError(InputError):
    """There are no rows."""


class InputWarning(UserWarning):
    """The input is allowed but probably not meant; the text says what was seen."""


class UndefinedWarning(UserWarning):
    """A metric has no value on these data; the text says why."""


def warn(text: str, category: type[Warning] = InputWarning) -> None:
    """Warn at the line of the caller's own code, however deep in stakes the thing was noticed."""
    import sys
    import warnings
    from pathlib import Path

    here, depth = str(Path(__file__).parent), 1
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(here):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(text, category, stacklevel=depth)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``; did you mean …?`` when something close is known, otherwise what is known."""
    import difflib  # only wanted when something is wrong already

    known = list(known)
    lowered = {k.lower(): k for k in known}
    close = difflib.get_close_matches(name.lower(), list(lowered), n=3, cutoff=0.6)
    if close:
        return f"; did you mean {some([lowered[c] for c in close], last='or')}?"
    return f"; there is {some(known)}" if known else ""


def some(names: Sequence[object], most: int = 5, last: str = "and") -> str:
    """List a few names in words, quoting text: 'a', 'b' and 3 more."""
    shown = [_short(repr(n)) for n in names[:most]]
    if len(names) > most:
        return ", ".join(shown) + f" {last} {len(names) - most:,} more"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + f" {last} {shown[-1]}" if shown else "none"


def _short(text: str, most: int = 40) -> str:
    return text if len(text) <= most else text[: most - 2] + "…" + text[-1]


def _rows(count: int) -> str:
    return f"{count:,} row" + ("" if count == 1 else "s")


def _rows_hold(count: int) -> str:
    return f"{_rows(count)} that {'holds' if count == 1 else 'hold'}"


def _first(row: int) -> str:
    return f"the first is row {row:,}, counting from 0"


def _class(names: Sequence[str]) -> str:
    return "the class" if len(names) == 1 else "the classes"


def _plural(kind: str) -> str:
    return kind if kind == "text" else f"{kind}s"


# ── columns ──────────────────────────────────────────────────────────────────────────────────────────────────
def no_such_column(argument: str, name: str, columns: Sequence[str]) -> InputError:
    return InputError(f"{argument}: there is no column {name!r}{nearest(name, columns)}")


def name_without_data(argument: str, name: str) -> InputError:
    return InputError(
        f"{argument}={name!r} is a name, but no data was given; pass the table or file first, or an array here"
    )


def not_a_column(argument: str, seen: str) -> InputError:
    return InputError(f"{argument} is {seen}; give one value per row: a list, an array or a column")


def not_a_table(seen: str) -> InputError:
    return InputError(f"data is a {seen}; give a file name, a data frame, or a dictionary of columns")


def wrong_length(argument: str, length: int, truth_length: int) -> InputError:
    return InputError(f"{argument} has {_rows(length)} but truth has {truth_length:,}; give one value per row")


def no_batches() -> InputError:
    return InputError("data is an iterator that gave no batch; there is nothing to evaluate")


def in_batch(number: int, rows: int, problem: InputError, classes_open: bool) -> InputError:
    hint = " (each batch is counted by itself; classes= names the classes of all of them)" if classes_open else ""
    return InputError(f"batch {number:,}, which begins at row {rows:,}: {problem}{hint}")


def empty(argument: str) -> EmptyError:
    return EmptyError(f"{argument} is empty; there is nothing to evaluate")


def missing_values(argument: str, count: int, first: int) -> InputError:
    return InputError(f"{argument} is missing in {_rows(count)} ({_first(first)}); drop or fill them before evaluating")


def multilabel_rows(argument: str) -> InputError:
    return InputError(
        f"{argument} holds a list or set in a row: several labels per row (multilabel) are not supported; "
        "evaluate each label by itself"
    )


def classes_without_order(classes: object) -> InputError:
    return InputError(f"classes={_short(repr(classes))} has no order; give a list, in the order of the score columns")


def bad_baseline(baseline: object) -> InputError:
    return InputError(f"baseline={_short(repr(baseline))} is not a finite number; give one number")


def scores_as_predictions() -> InputError:
    return InputError(
        "truth is 0 and 1 and prediction holds fractions between them; pass probabilities as score=, or "
        "task='regression' if numbers are meant"
    )


def errors_beyond_floats() -> InputError:
    return InputError("truth and prediction are too far apart for a float; scale both down")


def multilabel(argument: str, shape: tuple[int, ...]) -> InputError:
    return InputError(
        f"{argument} is an array of shape {shape}: several labels per row (multilabel) are not supported; "
        "evaluate each label by itself"
    )


def different_indexes(argument: str) -> InputError:
    return InputError(
        f"{argument} and truth are pandas objects whose indexes disagree; align them first (reindex), or pass "
        ".to_numpy() of each when the order of the rows is right"
    )


def list_of_names(argument: str, names: Sequence[str]) -> InputError:
    wanted = "score={class: column, …}" if argument == "score" else "one column"
    return InputError(f"{argument} is a list of the names {some(names)}; give {wanted}")


def few_outside(count: int, rows: int, first: int, value: float) -> str:
    return (
        f"score lies outside [0, 1] in {count:,} of {_rows(rows)} ({value!r}; {_first(first)}), so the scores are not "
        "taken as probabilities; clip or mend them if they are meant to be"
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


def stray_blanks(names: Sequence[str]) -> str:
    return f"some labels differ by blanks only ({some(names)}); they are kept apart"


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


# ── labels ───────────────────────────────────────────────────────────────────────────────────────────────────
def fractional_labels(argument: str, count: int, first: int, value: float) -> InputError:
    remedies = {
        "by": "; cut the numbers into groups first",
        "truth": "; for quantities pass the predicted numbers as prediction=, without score=, positive= and classes=",
    }
    remedy = remedies.get(argument, "; pass numbers between them as score=")
    return InputError(
        f"{argument} has {_rows_hold(count)} no class ({value!r}; {_first(first)}): classes are text, booleans or "
        f"whole numbers{remedy}"
    )


def text_against_numbers(argument: str, seen: str, truth_seen: str) -> InputError:
    return InputError(
        f"{argument} holds {_plural(seen)} but truth holds {_plural(truth_seen)}; make both the same kind, "
        "so that labels can match"
    )


def which_positive(classes: Sequence[str]) -> InputError:
    return InputError(
        f"truth has the classes {some(classes)} and neither is obviously the positive one; "
        f"pass positive={classes[-1]!r} or positive={classes[0]!r}"
    )


def unknown_positive(positive: str, classes: Sequence[str]) -> InputError:
    return InputError(f"positive={positive!r} is not a class of truth{nearest(positive, classes)}")


def one_class(only: str) -> InputError:
    return InputError(f"truth has the single class {only!r}; pass positive= or classes= to say what the other one is")


def positive_of_many(positive: str, classes: Sequence[str]) -> InputError:
    return InputError(
        f"positive={positive!r} is for two classes, and there are {len(classes):,} ({some(classes)}); leave it out: "
        "every class is judged against the rest"
    )


def unknown_labels(argument: str, labels: Sequence[str], classes: Sequence[str]) -> InputError:
    which = "the label {}, which is" if len(labels) == 1 else "the labels {}, which are"
    return InputError(f"{argument} has {which.format(some(labels))} not in classes ({some(classes)})")


def classes_not_different(classes: Sequence[str]) -> InputError:
    return InputError(f"classes={list(classes)!r}: give at least two different classes")


def which_task() -> InputError:
    return InputError(
        "truth and prediction are whole numbers, which can be classes or quantities; "
        "pass task='classification' or task='regression'"
    )


def no_such_task(task: object, known: Sequence[str]) -> InputError:
    return InputError(f"task={task!r} is not known; the tasks are {some(known, last='or')}")


def baseline_of_classes() -> InputError:
    return InputError("baseline= is the constant that a regression is compared with; leave it out for classes")


def baseline_of_text() -> InputError:
    return InputError("baseline= is the constant that predicted numbers are compared with; truth holds text")


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
    return InputError(f"there is no score column for {_class(classes)} {some(classes)}{hint}; every class needs one")


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
        f"the probabilities of {_rows(count)} do not add up to 1 ({total:.6g}; {_first(first)}); "
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
    return InputError(f"there is no {name!r}: {base} is not a figure of one class against the rest")


def which_average(name: str, classes: Sequence[str], pooled: bool = True) -> InputError:
    micro = f"'micro_{name}', " if pooled else ""
    return InputError(
        f"{name} is a figure of one class against the rest; write 'macro_{name}', 'weighted_{name}', {micro}"
        f"or ev[{name!r}, {classes[0]!r}] for a class"
    )


def no_such_class(name: object, classes: Sequence[str]) -> InputError:
    return InputError(f"there is no class {name!r}{nearest(str(name), classes)}")


def table_too_large(classes: int, decisions: int) -> InputError:
    return InputError(
        f"{classes:,} classes × {decisions:,} decisions would make a table of {classes * decisions:,} cells; "
        "the most is 1,000 × 1,000: group the classes"
    )


def classes_not_two(classes: Sequence[str]) -> InputError:
    return InputError(f"classes={list(classes)!r}: give two different classes")


# ── scores, weights, thresholds ──────────────────────────────────────────────────────────────────────────────
def not_numbers(argument: str, seen: str) -> InputError:
    return InputError(f"{argument} holds {seen}; give one number per row")


def not_a_number(argument: str, count: int, first: int, value: str) -> InputError:
    return InputError(
        f"{argument} has {_rows_hold(count)} no number ({_short(repr(value))}; {_first(first)}); "
        "mend the file, or name the right column"
    )


def infinite_values(argument: str, count: int, first: int) -> InputError:
    return InputError(f"{argument} is infinite in {_rows(count)} ({_first(first)}); give finite numbers")


def negative_weights(count: int, first: int) -> InputError:
    return InputError(f"weight is negative in {_rows(count)} ({_first(first)}); weights are 0 or more")


def extreme_weights(count: int, first: int) -> InputError:
    return InputError(
        f"weight is beyond 1e100 or nearer to 0 than 1e-100 in {_rows(count)} ({_first(first)}); rescale the weights"
    )


def zero_weights() -> InputError:
    return InputError("weight is 0 in every row; nothing would be counted")


def bad_threshold(threshold: object) -> InputError:
    return InputError(f"threshold={threshold!r} is not a number; the rule is: positive when score ≥ threshold")


def threshold_without_score() -> InputError:
    return InputError("threshold was given without score; decisions in prediction= are taken as they are")


def threshold_and_prediction() -> InputError:
    return InputError(
        "threshold and prediction were both given; the decisions come from prediction, or from score ≥ threshold: "
        "leave one out"
    )


def nothing_to_judge() -> InputError:
    return InputError("give score= (numbers that order the cases), prediction= (the decisions), or both")


def positional_arrays() -> InputError:
    return InputError("write which column is which: evaluate(truth=y, score=p) or evaluate(truth=y, prediction=d)")


def not_yet(argument: str) -> InputError:
    return InputError(f"{argument} is not supported yet; leave it out")


def no_probabilities(name: str, low: float, high: float) -> InputError:
    return InputError(
        f"{name} needs probabilities, but the scores run from {low:.6g} to {high:.6g}; "
        "turn them into probabilities first (for logits: 1 / (1 + exp(-score)))"
    )


# ── metrics ──────────────────────────────────────────────────────────────────────────────────────────────────
def no_such_metric(name: str, known: Iterable[str]) -> InputError:
    hint = nearest(name, known)
    return InputError(f"there is no metric {name!r}{hint if 'mean' in hint else '; `stakes metrics` lists them all'}")


def bad_metric_text(text: object) -> InputError:
    return InputError(f"{text!r} is not how a metric is written; write a name, or name(parameter=number)")


def no_such_parameter(metric: str, parameter: str, known: Sequence[str]) -> InputError:
    takes = f"it takes {some(known)}" if known else "it takes none"
    return InputError(f"{metric} has no parameter {parameter!r}; {takes}")


def bad_parameter(metric: str, parameter: str, value: object, wanted: str) -> InputError:
    return InputError(f"{metric}: {parameter}={value!r} does not work; give {wanted}")


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
    return InputError(f"there is no segment {name!r}{nearest(str(name), known)}")


def no_such_curve(kind: str, known: Sequence[str]) -> InputError:
    return InputError(f"there is no curve {kind!r}{nearest(kind, known)}")


def no_curve(kind: str, why: str) -> InputError:
    return InputError(f"there is no {kind} curve for these rows: {why}")


# ── comparisons ──────────────────────────────────────────────────────────────────────────────────────────────
def how_to_compare() -> InputError:
    return InputError(
        "write which columns are which: compare(data, truth='y', scores=['a', 'b']), or compare(truth=y, "
        "scores={'a': p, 'b': q})"
    )


def one_model(names: Sequence[str]) -> InputError:
    seen = f"there is only {some(names)}" if names else "there is none"
    return InputError(f"a comparison needs two models or more, and {seen}; name them in scores= or predictions=")


def models_without_names(argument: str, seen: str) -> InputError:
    return InputError(f"{argument} is {seen}; give a dictionary model → column, or a list of column names")


def in_model(name: str, problem: InputError) -> InputError:
    return InputError(f"model {name!r}: {problem}")


def models_of_different_lengths(name: str, length: int, truth_length: int) -> InputError:
    return InputError(
        f"model {name!r} has {_rows(length)} but truth has {truth_length:,}; models are compared on the same rows: "
        "give every model all of them, or with paired=False each its own truth"
    )


def different_labels(name: str, labels: Sequence[str]) -> InputError:
    return InputError(
        f"model {name!r} has {_class(labels)} {some(labels)}, which another model does not have; pass classes= to say "
        "what the classes are"
    )


def different_tasks(name: str, task: str, other: str, other_task: str) -> InputError:
    return InputError(
        f"model {name!r} is judged as {task}, but {other!r} as {other_task}; pass task= to say what is meant"
    )


def bad_confidence(confidence: object) -> InputError:
    return InputError(f"confidence={confidence!r} is not a number between 0 and 1; 0.95 is usual")


def bad_margin(margin: object) -> InputError:
    return InputError(f"margin={margin!r} is not a number from 0 on; give the difference that would still not matter")


def bad_whole_number(argument: str, value: object, least: int) -> InputError:
    return InputError(f"{argument}={value!r} does not work; give a whole number from {least:,} on")


def no_direction(metric: str) -> InputError:
    return InputError(f"{metric} is neither better high nor better low, so it cannot rank models; name another metric")


def no_such_pair(one: str, other: str, models: Sequence[str]) -> InputError:
    return InputError(f"there is no pair of {one!r} and {other!r} by that metric; the models are {some(models)}")


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
    seen = "1 value" if count == 1 else f"{count:,} values"
    return InputError(
        f"{table}: {seen} of {column} occur more than once (the first is {first!r}); every case must have one row"
    )


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


def few_clusters(count: int, wanted: int) -> str:
    return (
        f"there are only {count:,} clusters; with fewer than {wanted} the intervals and p-values are too optimistic: "
        "read them as a rough guide"
    )


# ── tallies ──────────────────────────────────────────────────────────────────────────────────────────────────
def different_questions(what: str, left: object, right: object) -> InputError:
    one, other = (_short(repr(value), 200) for value in (left, right))
    return InputError(
        f"these tallies answer different questions: {what} is {one} in one and {other} in the other; "
        "count both with the same arguments (classes= names classes that some part lacks)"
    )


def nothing_to_add() -> InputError:
    return InputError("there are no tallies to add up; give at least one")


def not_a_tally(seen: str) -> InputError:
    return InputError(f"expected the dictionary of a tally, got {seen}")


def unknown_version(tally: str, version: object, known: int) -> InputError:
    return InputError(
        f"this {tally} was saved in version {version!r}, this stakes reads version {known}; update stakes, "
        "or count the rows again"
    )


def bad_counts(what: str) -> InputError:
    return InputError(f"these counts do not make a table: {what}")


def no_positive(classes: Sequence[str]) -> InputError:
    return InputError(
        f"this table has no positive class ({some(classes)}); pass positive= when it is made, to have tp, fn, fp and tn"
    )


def bad_grid(grid: str, known: Sequence[str], seen: tuple[float, float]) -> InputError:
    return InputError(
        f"grid={grid!r} does not hold scores from {seen[0]:g} to {seen[1]:g}; the grids are {some(known, last='or')} "
        "('probability' for scores in [0, 1])"
    )


def threshold_inside_bin(threshold: float, low: float, high: float) -> InputError:
    return InputError(
        f"threshold={threshold!r} lies inside a bin of this table; the nearest that it can answer are "
        f"{low!r} and {high!r}"
    )


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────
def no_such_file(path: str) -> InputError:
    return InputError(f"{path}: there is no such file")


def unknown_file_kind(path: str) -> InputError:
    return InputError(f"{path}: the name does not end in .csv or .parquet; convert the file to one of these")


def unreadable_file(path: str, why: str) -> InputError:
    return InputError(f"{path}: cannot be read: {why}")
