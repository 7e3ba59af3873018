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


class GapError(InputError):
    """Values are missing."""


class EmptyError(InputError):
    """There are no rows; ``dropped`` is how many were left out."""

    dropped = 0


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


_MOST_COMPARED = 5_000
"""Among so many names the nearest is found at once."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``; did you mean …?`` when something close is known, otherwise what is known."""
    import difflib  # only wanted when something is wrong already

    known = list(known)
    if len(known) > _MOST_COMPARED:  # looking at all of them would take longer than anybody waits
        return f"; there is {some(known)}"
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


def _first(row: int | None) -> str:
    """Where to look; rows that were counted in another engine have no numbers."""
    return "in an engine whose rows have no numbers" if row is None else f"the first is row {row:,}, counting from 0"


def _class(names: Sequence[str]) -> str:
    return "the class" if len(names) == 1 else "the classes"


def _plural(kind: str) -> str:
    return kind if kind == "text" else f"{kind}s"


# ── columns ──────────────────────────────────────────────────────────────────────────────────────────────────
def no_such_column(argument: str, name: str, columns: Sequence[str]) -> InputError:
    return InputError(f"{argument}: there is no column {_short(repr(name))}{nearest(name, columns)}")


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


def in_rows(first: int, last: int, problem: InputError) -> InputError:
    return type(problem)(f"rows {first:,} to {last:,}, counted by themselves: {problem}")


def kind_changes(argument: str, first: str, later: str) -> InputError:
    kinds = {"number": "numbers", "boolean": "booleans"}
    one, other = (kinds.get(kind, kind) for kind in (first, later))
    return InputError(f"{argument} holds {one} in the first rows and {other} in later ones; make it of one kind")


def empty(argument: str) -> EmptyError:
    return EmptyError(f"{argument} is empty; there is nothing to evaluate")


def missing_values(argument: str, count: int, first: int | None) -> GapError:
    seen = f"{argument} is missing in {_rows(count)} ({_first(first)})"
    return GapError(f"{seen}; fill them, or leave those rows out with missing='drop'")


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
def fractional_labels(argument: str, count: int, first: int | None, value: float) -> InputError:
    remedies = {
        "by": "; cut the numbers into groups first",
        "y": "; for quantities give a regressor",
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
    return InputError(f"positive={_short(repr(positive))} is not a class of truth{nearest(positive, classes)}")


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
    return InputError(f"there is no {name!r}: {base} is not a figure of one class against the rest; write {base!r}")


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
    import re  # only wanted when something is wrong already

    grouped = re.fullmatch(r"\s*[-+]?\d+([.,' \u00a0\u202f]\d+)+\s*", value)
    hint = "write 0.5 for 0,5 and 1234.5 for 1,234.5" if grouped else "mend the file, or name the right column"
    return InputError(f"{argument} has {_rows_hold(count)} no number ({_short(repr(value))}; {_first(first)}); {hint}")


def infinite_values(argument: str, count: int, first: int | None) -> InputError:
    return InputError(f"{argument} is infinite in {_rows(count)} ({_first(first)}); give finite numbers")


def negative_weights(count: int, first: int | None) -> InputError:
    return InputError(f"weight is negative in {_rows(count)} ({_first(first)}); weights are 0 or more")


def extreme_weights(count: int, first: int | None) -> InputError:
    return InputError(
        f"weight is beyond 1e100 or nearer to 0 than 1e-100 in {_rows(count)} ({_first(first)}); rescale the weights"
    )


def zero_weights() -> EmptyError:
    return EmptyError("weight is 0 in every row, so nothing would be counted; give some rows a weight above 0")


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


def positional_arrays(verb: str = "evaluate") -> InputError:
    return InputError(f"write which column is which: {verb}(truth=y, score=p) or {verb}(truth=y, prediction=d)")


def no_probabilities(name: str, low: float, high: float) -> InputError:
    return InputError(
        f"{name} needs probabilities, but the scores run from {low:.6g} to {high:.6g}; "
        "turn them into probabilities first (for logits: 1 / (1 + exp(-score)))"
    )


def bad_confidence(confidence: object) -> InputError:
    return InputError(f"confidence={_short(repr(confidence))} is not between 0 and 1; 0.95 is usual")


def bad_design(design: object, known: Sequence[str]) -> InputError:
    return InputError(f"design={design!r} is not known; it is {some(known, last='or')}")


def method_with_clusters(method: str) -> InputError:
    return InputError(f"method={method!r} takes rows as independent, and these come in clusters; leave it out")


def clusters_do_not_add() -> InputError:
    return InputError("rows that were counted with cluster= are neither added nor saved; count them all at once")


def few_clusters(count: int, wanted: int) -> str:
    seen = "there is only 1 cluster" if count == 1 else f"there are only {count:,} clusters"
    return f"{seen}; with fewer than {wanted} intervals are too short and p-values too small"


def bad_method(method: object, name: str, known: Sequence[str]) -> InputError:
    choice = f"it can be {some(known, last='or')}" if known else "there is no choice; leave it out"
    return InputError(f"method={method!r} does not make an interval of {name}; {choice}")


# ── metrics ──────────────────────────────────────────────────────────────────────────────────────────────────
def no_such_metric(name: str, known: Iterable[str]) -> InputError:
    hint = nearest(name, known)
    return InputError(f"there is no metric {name!r}{hint if 'mean' in hint else '; `stakes metrics` lists them all'}")


def bad_metric_text(text: object) -> InputError:
    return InputError(
        f"{_short(repr(text), 80)} is not how a metric is written; write a name, or name(parameter=number)"
    )


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


# ── costs ────────────────────────────────────────────────────────────────────────────────────────────────────
def how_to_give_costs() -> InputError:
    return InputError("give Costs(miss=5, false_alarm=1), or a matrix with classes= (rows are the truth), not both")


def costs_without_names() -> InputError:
    return InputError("a cost matrix needs classes= (and decisions=, if they are not the classes), in its own order")


def cost_missing(decision: str, known: str, lacking: str, only: Sequence[str]) -> InputError:
    meant = f", which has {some(only)} instead" if only else ""
    return InputError(
        f"the class {known!r} has a cost of the decision {decision!r}, but the class {lacking!r} has none{meant}; give "
        "every class a cost of every decision"
    )


def bad_price(name: str, price: object) -> InputError:
    return InputError(f"{name}={_short(repr(price))} is no cost; give a finite number, or the name of a column")


def no_such_cost(path: str, name: str) -> InputError:
    close = nearest(name, ["miss", "false_alarm", "costs", "utilities"])
    return InputError(
        f"{path!r}: {name!r} is no cost{close if 'mean' in close else ''}; write miss = 5 and false_alarm = 1, or a "
        "table [costs.CLASS] with decision = cost for each class"
    )


def costs_of_wrong_shape(shape: str, classes: int, decisions: int) -> InputError:
    return InputError(
        f"the cost matrix is {shape}, but there are {classes} classes × {decisions} decisions; rows are the truth, "
        "columns the decisions"
    )


def ragged_costs(lengths: Sequence[int]) -> InputError:
    return InputError(
        f"the cost matrix has rows of unlike length ({' and '.join(map(str, lengths))}); rows are the truth, "
        "columns the decisions: give every class a cost of every decision"
    )


def huge_cost(name: str, cost: object) -> InputError:
    return InputError(f"{name}={_short(repr(cost))} is beyond 1e100; rescale the costs")


def bad_cost(name: str, decision: str, cost: object) -> InputError:
    return InputError(
        f"the cost of {decision!r} for the class {name!r} is {_short(repr(cost))}; give a finite number, or "
        "the name of a column"
    )


def no_cost_for(what: str, name: str, known: Sequence[str]) -> InputError:
    return InputError(f"the costs have no {what} {name!r}{nearest(name, known)}")


def costs_of_two_classes(classes: int, decisions: int) -> InputError:
    return InputError(
        f"miss and false_alarm are for two classes, and there are {classes} classes and {decisions} decisions; give "
        "what every decision costs for every class"
    )


def costs_not_nested(name: object, row: object) -> InputError:
    return InputError(
        f"the costs of the class {name!r} are {_short(repr(row))}; give them as {{decision: cost}}, or miss and "
        "false_alarm for two classes"
    )


def no_costs_in_file(path: str) -> InputError:
    return InputError(
        f"{path!r} holds no costs; write miss = 5 and false_alarm = 1, or a table [costs.CLASS] with decision = cost "
        "for each class"
    )


def costs_transposed(name: str, row: str, decisions: Sequence[str]) -> InputError:
    return InputError(
        f"the costs know {name!r} as a decision, but it is a class of these rows; the cell of truth {row!r} and "
        f"decision {decisions[0]!r} seems to stand in a transposed matrix: rows are the truth, columns the decisions"
    )


def dear_right_answer(name: str, cost: object, best: str, less: object) -> str:
    return (
        f"for the class {name!r} the decision {name!r} costs {float(cost):g}, more than {best!r} ({float(less):g}); "  # type: ignore[arg-type]
        "rows are the truth, and gains become costs with Costs.from_utilities()"
    )


def costs_by_row(columns: Sequence[str]) -> InputError:
    return InputError(
        f"these costs differ from row to row (column {some(columns)}), so there is no one matrix; give them as costs= "
        "together with the rows"
    )


def not_costs(given: object) -> InputError:
    return InputError(
        f"costs={_short(repr(given))} does not work; give Costs(miss=5, false_alarm=1), or any stakes.Costs"
    )


def costs_of_numbers() -> InputError:
    return InputError("costs= are for decisions between classes, and these are predicted numbers; leave costs= out")


def prior_without_costs(argument: str) -> InputError:
    return InputError(
        f"{argument}= changes what decisions cost, but no costs were given; say what a miss and others cost"
    )


def bad_prior(argument: str, given: object) -> InputError:
    return InputError(
        f"{argument}={_short(repr(given))} does not work; give the share of the positive class of two, or "
        "{class: share} with shares that add up to 1"
    )


def prior_of_other_classes(argument: str, given: Sequence[str], classes: Sequence[str]) -> InputError:
    return InputError(f"{argument}= is about {some(given)}, but the classes are {some(classes)}; give a share for each")


def which_training_prior() -> InputError:
    return InputError(
        "prior= changes what the scores mean, which depends on the class frequencies that the model was trained on; "
        "give them as training_prior=, or training_prior='rows' if they are those of the rows"
    )


def no_training_prior_of(name: str) -> InputError:
    return InputError(
        f"training_prior= gives the class {name!r} a share of 0, so its scores say nothing; give a share above 0"
    )


def prior_of_batches() -> InputError:
    return InputError(
        "a correction by the class frequencies of the rows needs all rows at once, and these come in batches; give "
        "both prior= and training_prior= as shares"
    )


def negative_price(name: str, cost: float) -> str:
    return f"{name}={cost:g} is below 0: it would cost less than a right answer; is it a gain?"


def no_list_of_names(argument: str, names: object) -> InputError:
    return InputError(f"{argument}={_short(repr(names))} of the costs is no list of names; give one name for each")


def costs_not_a_table(path: str, name: str, seen: object) -> InputError:
    return InputError(
        f"{path!r}: {name} = {_short(repr(seen))} is no table; write [{name}.CLASS] with decision = number for each"
    )


def costs_and_utilities(path: str) -> InputError:
    return InputError(f"{path!r} holds costs and utilities; keep one of them")


def cost_columns_without_data(columns: Sequence[str]) -> InputError:
    return InputError(
        f"the costs name the column {some(columns)}, but no data was given; pass a table or a file that has it, and "
        "the other columns by name"
    )


def prior_of_empty_class(name: str) -> InputError:
    return InputError(f"prior= expects the class {name!r}, of which there is no row; leave it out, or give rows of it")


def not_to_decide_by(argument: str) -> InputError:
    if argument == "threshold":
        return InputError("threshold= is what decide() looks for; leave it out, or evaluate() at that threshold")
    return InputError(
        f"decide() gives one rule for all rows; leave out {argument}=, or decide for each segment by itself"
    )


def neither_costs_nor_best() -> InputError:
    return InputError("say what mistakes cost (costs=), or which figure shall be best (best='f1', 'recall >= 0.9')")


def single_cluster() -> InputError:
    return InputError("there is a single cluster, so no rows are left to judge a decision by; leave out cluster=")


def no_figure_anywhere(name: str) -> InputError:
    return InputError(f"{name} is undefined at every threshold of these scores, so none can be chosen by it")


def condition_without_figure(words: str, name: str) -> InputError:
    return InputError(f"{words} holds only where {name} is undefined; loosen the condition")


def count_again_to_decide() -> InputError:
    return InputError(
        "decisions between several classes at other costs need the rows again; evaluate them with costs=, or compare "
        "ways to decide with decide()"
    )


def count_again_with_costs(columns: Sequence[str]) -> InputError:
    return InputError(
        f"these costs differ from row to row (column {some(columns)}), and the rows are gone; count again with costs="
    )


def which_costs(name: str) -> InputError:
    return InputError(f"{name} of several classes needs the costs of every decision; pass costs=stakes.Costs(…)")


def costs_need_probabilities(low: float, high: float) -> InputError:
    return InputError(
        f"the costs decide by probabilities, but the scores reach from {low:g} to {high:g}; recalibrate them, or give "
        "the decisions as prediction="
    )


def one_decision_is_best(name: str) -> InputError:
    return InputError(
        f"at these costs the decision {name!r} is the cheapest whatever the score says; take it for every case"
    )


def not_of_decisions(name: str) -> InputError:
    return InputError(
        f"{name} is no figure of decisions between two classes, so no threshold can be chosen by it; name one that is, "
        "such as f1"
    )


def bad_condition(text: str) -> InputError:
    return InputError(
        f"best={text!r} cannot be read; write a metric such as 'f1', or a condition such as 'recall >= 0.9'"
    )


def condition_never_met(words: str, nearest_value: float) -> InputError:
    return InputError(
        f"no threshold gives {words} on these rows; the nearest is {nearest_value:.6g}: loosen the condition"
    )


def costs_or_best() -> InputError:
    return InputError(
        "give costs= (what decisions cost), or best= (a figure such as 'f1' or 'recall >= 0.9'), not both"
    )


def no_scores_to_decide() -> InputError:
    return InputError("there are no scores to put a threshold on; pass score=")


def both_classes_wanted(name: str) -> InputError:
    return InputError(
        f"no row is of the class {name!r}, so no threshold can be chosen; rows of both classes are needed"
    )


def row_costs_of_many() -> InputError:
    return InputError("costs that differ by row are compared for two classes only; evaluate(costs=) prices several")


def rows_are_gone() -> InputError:
    return InputError(
        "ways to decide between several classes are compared row by row, and the rows are gone; count again"
    )


def best_of_two() -> InputError:
    return InputError("best= is for the scores of two classes; for several classes give costs=")


def row_costs_in_clusters() -> InputError:
    return InputError("costs that differ by row cannot be decided with cluster= yet; leave out one of them")


def switch_points_of_two(classes: Sequence[str], positive: object) -> InputError:
    return InputError(
        f"switch points are for two classes with positive= one of them; there is {some(classes)}, {positive!r}"
    )


# ── permutation tests ────────────────────────────────────────────────────────────────────────────────────────
def not_whole(argument: str, value: object, least: int) -> InputError:
    return InputError(f"{argument}={_short(repr(value))} does not work; give a whole number from {least} on")


def no_direction(name: str) -> InputError:
    return InputError(f"{name} is better neither higher nor lower, so nothing can be ranked by it; name another metric")


def nothing_to_compare(name: str, why: str) -> InputError:
    return InputError(f"{name} is undefined here ({why}), so shuffles cannot be compared with it; name another metric")


def single_row() -> InputError:
    return InputError("there is a single row, which shuffling cannot change; give at least two")


def single_class(only: str) -> InputError:
    return InputError(f"truth is {only!r} in every row, which shuffling cannot change; give rows of two classes")


def shuffled_clusters() -> InputError:
    return InputError(
        "cluster= does not go with shuffling rows: rows of a cluster are alike, and a shuffle that parts them takes "
        "chance for a finding far too often; keep one row of each cluster"
    )


def rows_not_kept(name: str) -> InputError:
    return InputError(f"{name} needs the rows to shuffle them, and only counts were kept; give all rows in one table")


def too_many_rows_to_shuffle(rows: int) -> InputError:
    return InputError(f"{_rows(rows)} are too many to shuffle; a random part of them tells as much")


def unknown_refit_options(arguments: Sequence[str]) -> InputError:
    return InputError(
        f"{some(arguments)} is no option of a permutation test that refits; there are cv, test, jobs, groups"
    )


def only_for_estimators(arguments: Sequence[str]) -> InputError:
    names = ", ".join(f"{name}=" for name in arguments)
    return InputError(f"{names}: that is for an estimator, given with X and y; leave it out")


def only_for_predictions(arguments: Sequence[str]) -> InputError:
    names = ", ".join(f"{name}=" for name in arguments)
    return InputError(f"{names}: that is for predictions that are there already; an estimator is given with X and y")


# ── comparisons ──────────────────────────────────────────────────────────────────────────────────────────────
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


def bad_margin(margin: object) -> InputError:
    return InputError(f"margin={margin!r} is not a number from 0 on; give the difference that would still not matter")


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


# ── tallies ──────────────────────────────────────────────────────────────────────────────────────────────────
def different_questions(what: str, left: object, right: object) -> InputError:
    one, other = (_short(repr(value), 200) for value in (left, right))
    hint = " (classes= names classes that some part lacks)" if "class" in what or "decision" in what else ""
    return InputError(
        f"these tallies answer different questions: {what} is {one} in one and {other} in the other; "
        f"count both with the same arguments{hint}"
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
    return InputError(f"{path}: there is no such file; check the name and the folder")


def unknown_file_kind(path: str) -> InputError:
    return InputError(f"{path}: the name does not end in .csv or .parquet; convert the file to one of these")


def unreadable_file(path: str, why: str) -> InputError:
    hint = "" if ";" in why else "; mend the file, or name another one"
    return InputError(f"{path}: cannot be read: {why}{hint}")


# ── validation ───────────────────────────────────────────────────────────────────────────────────────────────
def missing_scikit_learn() -> InputError:
    return InputError("estimators are fitted with the help of scikit-learn, which is missing; pip install scikit-learn")


def no_estimator(seen: Any) -> InputError:
    what = f"the class {seen.__name__}" if isinstance(seen, type) else f"a {type(seen).__name__}"
    hint = f": write {seen.__name__}()" if isinstance(seen, type) else ""
    return InputError(
        f"estimator is {what}; give an object with fit, and with predict, predict_proba or decision_function{hint}"
    )


def features_without_rows(seen: str) -> InputError:
    return InputError(f"X is a {seen}, which has no rows; give an array, a list, a data frame or a sparse matrix")


def features_not_a_table(shape: tuple[int, ...]) -> InputError:
    return InputError(
        f"X has the shape {shape}; test=2 shuffles columns: give one row per case, one column per feature"
    )


def length_unlike_x(argument: str, length: int, rows: int) -> InputError:
    return InputError(f"{argument} has {_rows(length)} but X has {rows:,}; give one value per row of X")


def unknown_class_order(model: str) -> InputError:
    return InputError(
        f"{model} has predict_proba but no classes_, so its columns have no names; pass classes= in their order"
    )


def too_few_rows(rows: int) -> InputError:
    return InputError(f"there {'is' if rows == 1 else 'are'} {_rows(rows)}; at least two are needed to fit and judge")


def bad_jobs(jobs: object) -> InputError:
    return InputError(f"jobs={_short(repr(jobs))} does not work; give the number of processes, or -1 for all cores")


def bad_stratified(value: object) -> InputError:
    return InputError(f"stratified={_short(repr(value))} does not work; give True, False or 'auto' (for classes alone)")


def strata_of_numbers() -> InputError:
    return InputError("stratified=True is for classes, and y holds numbers; leave it out")


def cannot_stratify(words: str) -> InputError:
    return InputError(f"stratified=True does not go with {words}; leave it out, or give a number of folds")


def one_class_to_fit(only: str) -> InputError:
    return InputError(
        f"y is {only!r} in every row, so there is nothing to tell apart; give rows of two classes or more"
    )


def unknown_how(how: object) -> InputError:
    ways = ("hold-out", "hold-out 20%", "2-fold", "5-fold", "10-fold", "leave-one-out")
    return InputError(
        f"how={_short(repr(how))} is no way to split{nearest(str(how), ways)} (also a share, a number of folds, a "
        "splitter of scikit-learn, or pairs of rows)"
    )


def too_few_folds(folds: int) -> InputError:
    return InputError(f"{folds}-fold does not split anything; give 2 folds or more, or a share such as 0.2 to hold out")


def bad_share(how: object, least: float, most: float) -> InputError:
    return InputError(f"how={_short(repr(how))}: a share from {least:.0%} to {most:.0%} can be held out (0.2 or '20%')")


def more_folds_than_rows(folds: int, rows: int) -> InputError:
    return InputError(f"there are {folds:,} folds but {_rows(rows)}; give fewer folds, or how='leave-one-out'")


def more_folds_than_groups(folds: int, groups: int) -> InputError:
    return InputError(
        f"groups stay whole, and there are {folds:,} folds but {groups:,} group{'' if groups == 1 else 's'}; "
        "give fewer folds"
    )


def class_too_small(name: str, count: int, needed: int, kind: str) -> InputError:
    if kind == "hold-out":
        return InputError(
            f"class {name!r} has {_rows(count)}, too few to have some on both sides; pass stratified=False, "
            "or group the classes"
        )
    return InputError(
        f"class {name!r} has {_rows(count)}, fewer than the {needed:,} folds; give fewer folds, stratified=False, "
        "or group the classes"
    )


def class_not_fitted(fold: int, folds: int, names: Sequence[str]) -> InputError:
    return InputError(
        f"fold {fold:,} of {folds:,}: {_class(names)} {some(names)} {'is' if len(names) == 1 else 'are'} not in its "
        "training rows, so its model cannot know it; give fewer folds, or stratified=True"
    )


def cannot_split(words: str, why: str) -> InputError:
    return InputError(f"the rows cannot be split ({_short(words, 80)}): {' '.join(why.split())}")


def decided_by_splits(argument: str) -> InputError:
    return InputError(f"{argument}= does not go with splits of your own, which decide it themselves; leave it out")


def nothing_to_repeat() -> InputError:
    return InputError("leave-one-out is the same every time; leave repeats= out")


def no_splits() -> InputError:
    return InputError("how has no splits; give at least one pair (rows to fit on, rows to judge)")


def bad_split(number: int, why: str) -> InputError:
    return InputError(f"split {number:,} of how= does not work: {why}")


def no_such_permutation_test(test: object) -> InputError:
    return InputError(
        f"test={_short(repr(test))} is not known; 1 shuffles the labels, 2 shuffles each feature within its class"
    )


def neither_better(metric: str) -> InputError:
    return InputError(f"{metric} is neither better when higher nor when lower, so nothing can be as good or better")


def features_within_numbers() -> InputError:
    return InputError("test=2 shuffles each feature within its class, and y holds numbers; give classes, or test=1")


def features_across_groups() -> InputError:
    return InputError("test=2 would carry features from one group into another; leave groups= out, or give test=1")


def group_of_several_labels(row: int) -> InputError:
    return InputError(
        f"groups: row {row:,} (counting from 0) has another label than the first row of its group; labels can only "
        "change places between groups that have a single label each"
    )


def undefined_figure(name: str, reason: str) -> InputError:
    return InputError(f"{name} is undefined ({reason}), so there is nothing to test; choose another metric or cv")


# ── curves of decisions ──────────────────────────────────────────────────────────────────────────────────────
def no_such_curve_option(kind: str, name: str, known: Sequence[str]) -> InputError:
    return InputError(f"the {kind} curve has no option {name!r}{nearest(name, known) or '; leave it out'}")


def no_threshold_probability(value: object) -> InputError:
    return InputError(
        f"thresholds: {_short(repr(value))} is no threshold probability; give numbers from 0 on that are below 1"
    )


def costs_or_threshold() -> InputError:
    return InputError("costs= decide by themselves where the threshold lies; give either costs= or threshold=")


def no_histograms(why: str) -> InputError:
    return InputError(f"there are no histograms of scores for these rows: {why}")


def not_two_models(one: str, other: str, models: Sequence[str]) -> InputError:
    return InputError(f"{one!r} and {other!r} are not two of the models; there are {some(models)}")


# ── calibration ──────────────────────────────────────────────────────────────────────────────────────────────
def no_calibration(why: str) -> InputError:
    return InputError(f"calibration needs probabilities: {why}")


def no_such_binning(by: object, known: Sequence[str]) -> InputError:
    return InputError(f"by={_short(repr(by))} is no way to cut bins; it is {some(known, last='or')}")


def one_score_column(calibrator: str, shape: tuple[int, ...]) -> InputError:
    return InputError(
        f"score is an array of shape {shape}, and {calibrator} is for two classes: give the column of the positive "
        "one; for more classes there is TemperatureCalibrator"
    )


def truth_of_recalibration(calibrator: str, names: Sequence[str]) -> InputError:
    if len(names) > 2:
        return InputError(
            f"truth has {len(names):,} classes ({some(names)}), and {calibrator} is for two; for more there is "
            "TemperatureCalibrator, with one column of probabilities for each"
        )
    return InputError(f"truth holds {some(names)}; write 1 for the positive class and 0 for the other")


def one_class_to_recalibrate(name: str) -> InputError:
    return InputError(f"truth is {name!r} in every row, so there is nothing to learn; give rows of other classes too")


def equal_scores(calibrator: str, value: float) -> InputError:
    return InputError(
        f"score is the same in every row ({value:.6g}), so {calibrator} has nothing to learn from; give scores that "
        "differ"
    )


def temperature_of_probabilities(value: float) -> InputError:
    return InputError(
        f"score holds {value!r}, which is no probability, and TemperatureCalibrator takes probabilities; use "
        "SigmoidCalibrator or IsotonicCalibrator for other scores"
    )


def other_columns(fitted: int, seen: int) -> InputError:
    shapes = ["one probability per row" if k == 0 else f"{k} columns" for k in (fitted, seen)]
    return InputError(f"the calibrator was fitted on {shapes[0]}, and score has {shapes[1]}; give the same classes")


def two_weights() -> InputError:
    return InputError("weight and sample_weight are the same thing; give one of them")


def not_fitted(calibrator: str) -> InputError:
    return InputError(f"this {calibrator} has not been fitted yet; call fit(score, truth) first")


def no_calibrator(seen: str) -> InputError:
    return InputError(f"calibrator is a {seen}; give a recalibrator such as IsotonicCalibrator()")


def too_few_to_cross_fit() -> InputError:
    return InputError("a class has a single row, which cannot be on both sides of a fold; give more rows of it")


def no_saved_calibrator(where: str) -> InputError:
    return InputError(f"{where}: this is no saved calibrator; `stakes calibrate … -o calibrator.json` writes one")


def other_calibrator_version(where: str, version: object, known: int) -> InputError:
    return InputError(
        f"{where}: the calibrator was saved in version {_short(repr(version))}, this stakes reads version {known}; "
        "update stakes, or fit it again"
    )


def damaged_calibrator(where: str, why: str) -> InputError:
    return InputError(f"{where}: the calibrator is damaged ({_short(why, 80)}); fit and save it again")


def no_such_recalibration(method: object, known: Sequence[str]) -> InputError:
    return InputError(f"method={_short(repr(method))} is not known; it is {some(known, last='or')}")


def recalibration_of_two(method: str) -> InputError:
    return InputError(f"method={method!r} is for two classes, and there are more; use method='temperature'")


def no_recalibration_of_scores() -> InputError:
    return InputError("the scores of several classes are no probabilities, and only those can be recalibrated here")


def would_overwrite(path: str) -> InputError:
    return InputError(f"{path}: that is the file with the rows, which is never written over; name another one")


def column_exists(name: str) -> InputError:
    return InputError(f"the file has a column {name!r} already; name the new one with column=")


def one_new_column(name: str) -> InputError:
    return InputError(f"column={name!r} names one new column, and there are several scores; leave it out")


def other_scores(fitted: str, seen: str) -> InputError:
    return InputError(f"the calibrator was fitted on {fitted}, and {seen} was given as score=")


def is_a_folder(path: str) -> InputError:
    return InputError(f"{path} is a folder; name a file in it")


def nothing_satisfies(where: str) -> EmptyError:
    return EmptyError(f"no row satisfies where={_short(repr(where))}; there is nothing to evaluate")


def no_such_folder(path: str) -> InputError:
    return InputError(f"{path}: the folder to write to does not exist; make it first")


def calibrator_of_another(what: str, fitted: str, seen: str) -> str:
    return f"the calibrator was fitted for the {what} {fitted!r}, and is applied to {seen!r}"


# ── systems: rules ───────────────────────────────────────────────────────────────────────────────────────────
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
        f"the rule {_short(repr(text), 80)} cannot be read ({' '.join(why.split())}); write it like 'a and b', "
        "'majority(a, b, c)', 'at_least(2, a, b, c)' or 'a if b == \"sick\" else c'; names that are no plain words "
        "stand in backticks: `chest x-ray`"
    )


def rule_part_unknown(part: str, functions: Sequence[str]) -> InputError:
    return InputError(
        f"{_short(part, 60)!r} is nothing that a rule can say; there is and, or, not, ==, !=, in, a if b else c, "
        f"{', '.join(functions)}"
    )


def unknown_in_rule(name: str, known: Sequence[str], rule: str) -> InputError:
    quoted = [n if n.isidentifier() else f"`{n}`" for n in known]
    return InputError(f"the rule {_short(repr(rule), 60)} names {name!r}, which is no model{nearest(name, quoted)}")


def nobody_in_rule(rule: str, call: str) -> InputError:
    return InputError(f"the rule {_short(repr(rule), 60)} does not say of whom; write {call}")


def count_without_number(function: str) -> InputError:
    return InputError(f"{function} begins with a number: write {function}(2, a, b, c)")


def nothing_to_vote(function: str) -> InputError:
    return InputError(f"{function} has nobody to count; name the models in the brackets")


def bad_vote_weight(part: str) -> InputError:
    return InputError(f"{_short(part, 60)!r} is no weighted vote; write a number above 0 times a model: 2 * a")


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


# ── systems: models ──────────────────────────────────────────────────────────────────────────────────────────
def models_wanted(seen: str) -> InputError:
    what = f"a {seen}" if seen else "empty"
    return InputError(
        f"models is {what}; give a dictionary model → confusion table or column, or with rows a list of columns"
    )


def bad_model_name(name: object) -> InputError:
    return InputError(f"a model is called {name!r}; give it a name, without backticks")


def bad_model(name: str, seen: object) -> InputError:
    return InputError(
        f"model {name!r} is {_short(repr(seen))}; give a confusion table, the share of right answers of each class, "
        "or the name of a column"
    )


def bad_word(name: str, word: str, seen: object, wanted: str) -> InputError:
    return InputError(f"model {name!r}: {word} is {_short(repr(seen))}; give {wanted}")


def bad_switch(argument: str, seen: object) -> InputError:
    return InputError(f"{argument}={_short(repr(seen))} does not work; give True, False or None (nobody knows)")


def bad_replacement_price(price: object) -> InputError:
    return InputError(f"price={_short(repr(price))} is not a number; give what the replacement costs for these cases")


def bad_rule_table(seen: object) -> InputError:
    return InputError(
        f"the table of the rule is {_short(repr(seen))}; give {{(what each model says, …): answer}}, or rows that end "
        "with the answer"
    )


def no_such_model(name: object, models: Sequence[str]) -> InputError:
    return InputError(f"there is no model {name!r}{nearest(str(name), models)}")


def no_such_output(name: str, output: object, outputs: Sequence[str]) -> InputError:
    return InputError(f"{name} never says {output!r}{nearest(str(output), outputs)}")


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
        f"model {name!r} is {_short(repr(seen))}; give the share of right answers, from 0 to 1, of {some(classes)}"
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


# ── systems: the whole ───────────────────────────────────────────────────────────────────────────────────────
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


# ── systems: candidates, cascades, words that do not go together ─────────────────────────────────────────────
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
        f"of={_short(repr(seen))} does not work; list the models that the table of the rule is about, once each"
    )


def rule_failed(called: str, said: Any, problem: Exception) -> InputError:
    words = ", ".join(f"{name} says {label!r}" for name, label in said.items())
    why = " ".join(f"{type(problem).__name__}: {problem}".split())
    return InputError(f"the function {called} fails when {words} ({why}); mend it")


def words_not_together(name: str, first: str, second: str) -> InputError:
    return InputError(
        f"model {name!r} has {first} beside {second}, which already tells what it says; leave one of them out"
    )


# ── systems: slips in files and rules ────────────────────────────────────────────────────────────────────────
def data_is_no_file(path: str, seen: object) -> InputError:
    return InputError(f"{path}: data is {_short(repr(seen))}; give the name of a file, in quotes")


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
    return InputError(f"classes={_short(repr(classes))} holds something other than labels; give a list of names")


def like(name: str, known: Iterable[str]) -> bool:
    """Whether a name is much like one that is known."""
    return "did you mean" in nearest(name, known)


# ── weights, which are refused by their count and place ──────────────────────────────────────────────────────────
def missing_weights(count: int, first: int | None) -> InputError:
    return missing_values("weight", count, first)


def infinite_weights(count: int, first: int | None) -> InputError:
    return infinite_values("weight", count, first)


# ── more about files ─────────────────────────────────────────────────────────────────────────────────────────
def first_line(problem: BaseException | str) -> str:
    """What a library said, without its advice to programmers."""
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0]


def in_file(place: str, problem: InputError) -> InputError:
    return InputError(f"{place}: {problem}")


def unreadable_kind(path: str, kinds: Sequence[str]) -> InputError:
    return InputError(
        f"{path}: the name does not end in {', '.join(kinds[:-1])} or {kinds[-1]}; convert the file to one of these"
    )


def no_file_matches(pattern: str) -> InputError:
    return InputError(f"{pattern}: there is no such file, and none that matches this pattern; check the folder")


def file_given_twice(path: str) -> InputError:
    return InputError(f"{path}: the file is given twice, and its rows would count twice; name it once")


def changed_while_read(path: str) -> InputError:
    return InputError(f"{path}: the file changed while it was read; read it when nobody writes it")


def different_columns(path: str, other: str, lacking: Sequence[str]) -> InputError:
    kind = "column" if len(lacking) == 1 else "columns"
    return InputError(f"{path} lacks the {kind} {some(lacking)} that {other} has; give files with the same columns")


def different_kinds(argument: str, path: str, kind: str, other: str, other_kind: str) -> InputError:
    return InputError(f"{argument} holds {kind} in {path} and {other_kind} in {other}; write it alike in all files")


def other_separator(path: str, separator: str, header: str) -> InputError:
    return InputError(
        f"{path}: the header {_short(repr(header))} is one column, so something else than {separator!r} separates the "
        f"fields; save the file with {separator!r} between them"
    )


def no_header(path: str, names: Sequence[str]) -> InputError:
    return InputError(
        f"{path}: the first line holds only numbers ({some(names)}), so the header is missing; write the names of the "
        "columns there"
    )


def ragged_line(path: str, line: int, fields: int, width: int) -> InputError:
    if not fields:
        return InputError(f"{path}: line {line:,} is empty; delete it")
    seen = "1 field" if fields == 1 else f"{fields:,} fields"
    hint = "; a value that has a comma (a decimal comma?) must stand in quotes" if fields > width else ""
    return InputError(f"{path}: line {line:,} has {seen} and the header has {width:,}; mend that line{hint}")


def stray_quote(path: str, line: int) -> InputError:
    return InputError(
        f"{path}: line {line:,} has a quote within a value; write the quote twice, and the whole value in quotes"
    )


def not_utf8(path: str, line: int) -> InputError:
    return InputError(f"{path}: line {line:,} is not UTF-8 (Latin-1 or UTF-16, perhaps); save the file as UTF-8")


def nul_bytes(path: str, line: int) -> InputError:
    return InputError(f"{path}: line {line:,} has a NUL byte, so the file is damaged or no UTF-8; save it as UTF-8")


def beyond_float64(value: str, problem: InputError) -> InputError:
    spelled = value.strip().lstrip("+-").lower().startswith("inf")
    return problem if spelled else InputError(f"{problem}; {_short(repr(value))} is beyond what a float64 holds")


def bad_where(condition: object, why: str) -> InputError:
    return InputError(
        f"where={_short(repr(condition))} is not understood: {why}; write SQL such as site = 'A' AND age > 60"
    )


def condition_of_text(column: str, value: str) -> InputError:
    return InputError(
        f"where: the column {column!r} is compared with a number but holds {_short(repr(value))}; compare it with text "
        "in single quotes"
    )


def where_without_file() -> InputError:
    return InputError("where= is for files; choose the rows of a table before you pass it")


def which_table(path: str, tables: Sequence[str]) -> InputError:
    return InputError(f"{path} is a database; name the table too: {path}::TABLE; there is {some(tables)}")


def no_such_table(path: str, table: str, tables: Sequence[str]) -> InputError:
    return InputError(f"{path}: there is no table {table!r}{nearest(table, tables)}")


def no_database(path: str) -> InputError:
    return InputError(f"{path}: this is neither a SQLite nor a DuckDB database, so it has no tables; leave :: out")


def mixed_column(path: str, column: str, types: Sequence[str]) -> InputError:
    return InputError(
        f"{path}: the column {column!r} holds values of the types {', '.join(types)}; make it all numbers or all text"
    )


def missing_duckdb(path: str) -> InputError:
    return InputError(f"{path} is a DuckDB database, which needs the package duckdb: pip install 'stakes[duckdb]'")


def unknown_missing(missing: object) -> InputError:
    return InputError(f"missing={_short(repr(missing))} is not known; give 'error' or 'drop'")


def rows_without_segment(rows: float) -> str:
    return (
        f"{rows:,.6g} rows are in no segment of their own: small segments were put together, or left out, when they "
        "were counted; the others may lack rows"
    )


def rows_left_out(count: int) -> str:
    return f"{_rows(count)} with a missing value {'was' if count == 1 else 'were'} left out"


def nothing_left(count: int) -> EmptyError:
    problem = EmptyError(f"something is missing in every one of {_rows(count)}; there is nothing to evaluate")
    problem.dropped = count
    return problem


# ── plots ────────────────────────────────────────────────────────────────────────────────────────────────────────
def missing_matplotlib() -> InputError:
    return InputError("plots are drawn with matplotlib, which is missing; pip install 'stakes[plots]'")


def no_such_plot(kind: object, known: Sequence[str]) -> InputError:
    there = f"there is {some(known, most=10)}" if known else "there is none of these rows"
    return InputError(f"there is no plot {kind!r} of this; {there}")


def nothing_to_plot(seen: str) -> InputError:
    return InputError(f"a {seen} cannot be drawn; plot an evaluation, curve, decision, comparison, test or system")


def no_such_plot_option(kind: str, name: str, known: Sequence[str]) -> InputError:
    return InputError(f"the plot {kind!r} has no option {name!r}{nearest(name, known) or '; leave it out'}")


def no_axes(seen: str) -> InputError:
    return InputError(f"ax= must be axes of matplotlib (of subplots, one of them: axes[0]), not a {seen}")


def no_null(method: str) -> InputError:
    return InputError(f"nothing was shuffled, so there is nothing to draw: the p-value is exact ({method})")


def nothing_defined(what: str) -> InputError:
    return InputError(f"there is no {what} to draw: it is undefined everywhere; name another metric=")


def regions_of_two_features(features: int) -> InputError:
    return InputError(f"regions are drawn in a plane, so X must have 2 features, not {features:,}; choose two columns")


def regions_need_probabilities(seen: str) -> InputError:
    return InputError(f"costs decide by probabilities, and {seen} has no predict_proba; leave costs= out")


def regions_not_fitted(seen: str) -> InputError:
    return InputError(f"the {seen} is not fitted; call fit(X, y) first")


def rows_of_regions(rows: int, labels: int) -> InputError:
    return InputError(f"y has {_rows(labels)} and X has {rows:,}; give the class of every row of X")


def not_compared_by(metric: str, known: Sequence[str]) -> InputError:
    return InputError(f"the models were compared by {some(known)}, not by {metric!r}; compare again with metric=")


# ── tallies that travel ──────────────────────────────────────────────────────────────────────────────────────
def bad_min_cell(seen: object) -> InputError:
    return InputError(f"min_cell={_short(repr(seen))} is no number of rows; give a whole number from 1 on")


def exact_scores_travel() -> str:
    return (
        "exact: distinct scores are row-level data, so whoever gets this file can look up single rows; "
        "leave exact out to send bins"
    )


def damaged_tally(path: str, why: str) -> InputError:
    return InputError(
        f"{path} is damaged or no tally ({_short(why, 100)}); write it again with stakes count … -o, or count(…).save()"
    )


def not_a_tally_file(path: str) -> InputError:
    return InputError(f"{path}: the name of a tally ends in .tally; give it that name")


def tallies_and_rows(tally: str, other: str) -> InputError:
    return InputError(
        f"{tally} is a tally but {other} holds rows; count those first: stakes count {other} … -o {other}.tally"
    )


def fixed_when_counted(arguments: Sequence[str]) -> InputError:
    named = ", ".join(f"{name}=" for name in arguments)
    return InputError(f"{named}: the question of a tally was fixed when its rows were counted; leave this out")


def tallies_to_count(path: str) -> InputError:
    return InputError(
        f"{path} has been counted already; evaluate tallies together, or add them up: stakes.load(a) + stakes.load(b)"
    )


# ── segments ─────────────────────────────────────────────────────────────────────────────────────────────────────
def by_twice(names: Sequence[object]) -> InputError:
    seen = f"names a column twice ({some([str(name) for name in names])})" if names else "names no column"
    return InputError(f"by= {seen}; name each column that makes segments once")


def no_segments() -> InputError:
    return InputError("there are no segments; evaluate with by=, the column (or columns) that make them")


def no_figure_of_segments(name: str, why: str) -> InputError:
    return InputError(f"segments cannot be compared by {name}: {why}")


# ── reports ──────────────────────────────────────────────────────────────────────────────────────────────────────
def no_such_language(lang: object, known: Sequence[str]) -> InputError:
    return InputError(f"lang={_short(repr(lang))} is not known; give one of {', '.join(map(repr, known))}")


def no_report_of(task: str) -> InputError:
    return InputError(f"there is no report page for a {task} yet; ev.show() prints all figures")


# ── gates ────────────────────────────────────────────────────────────────────────────────────────────────────────
def bad_requirement(text: object) -> InputError:
    return InputError(
        f"{_short(repr(text))} is no condition; write a figure, one of >= <= > <, and a number: 'auc.low >= 0.8', "
        "'f1[setosa] > 0.9', 'recall.low >= 0.7 in every segment'"
    )


def bad_figure(text: str) -> InputError:
    return InputError(f"{_short(repr(text))} names no figure; write auc, f_beta(beta=2), or f1[setosa] of a class")


def class_of_few(figure: str) -> InputError:
    return InputError(f"{figure}: [CLASS] is for more than two classes; choose the class of two with positive=")


def bad_no_worse(name: object, margin: object) -> InputError:
    return InputError(
        f"no worse by {_short(repr(margin))} in {_short(repr(name))}: the margin is a number from 0 on, as in auc:0.02"
    )


def nothing_required() -> InputError:
    return InputError("there is nothing to check; give conditions (require=) or margins from a baseline (no_worse=)")


def no_baseline() -> InputError:
    return InputError("no_worse= needs a baseline; give baseline=, an evaluation, a comparison or a tally")


def baseline_without_margin() -> InputError:
    return InputError("a baseline alone checks nothing; say with no_worse= which figure may be how much worse")


def comparison_of_two(models: Sequence[str]) -> InputError:
    return InputError(
        f"a baseline that is a comparison holds this model and the baseline, and this one holds {some(models)}"
    )


def another_model(figure: str, one: float, other: float) -> InputError:
    return InputError(
        f"baseline: its first model has {figure} {other:.6g} but this evaluation {one:.6g}; compare this model, on "
        "these rows, with the baseline"
    )


def not_a_baseline(seen: str, wanted: str) -> InputError:
    return InputError(f"baseline: {seen} is nothing to compare a {wanted} evaluation with; give one of the same kind")


def different_confidences(one: str, other: str) -> InputError:
    return InputError(f"baseline: its intervals are of {other}, these of {one}; evaluate both with one confidence=")


def not_to_gate(kind: str) -> InputError:
    return InputError(f"gate() holds an evaluation against conditions, and got a {kind}; pass what evaluate() returns")


def where_of_tables() -> InputError:
    return InputError("where= chooses rows of one table, and several are to be joined; choose their rows first")


# ── the command line ─────────────────────────────────────────────────────────────────────────────────────────────
def no_table_in_config(path: str, command: str) -> InputError:
    return InputError(f"{path}: there is no table [{command}] or [tool.stakes.{command}]; put the options there")


def bad_config(path: str, why: str) -> InputError:
    return InputError(f"{path} cannot be read as TOML ({_short(why, 100)}); mend it there")


def unknown_in_config(path: str, key: str, known: Sequence[str]) -> InputError:
    return InputError(f"{path}: {_short(repr(key))} is no option{nearest(key, known)}")


def bad_in_config(path: str, key: str, seen: object) -> InputError:
    return InputError(f"{path}: {key} takes one value, and has {_short(repr(seen))}; write it as on the command line")


def bad_estimator_name(text: str) -> InputError:
    return InputError(
        f"estimator {_short(repr(text))} is no MODULE:OBJECT; write it like sklearn.svm:SVC or model:make"
    )


def estimator_not_there(text: str, why: str) -> InputError:
    return InputError(
        f"estimator {_short(repr(text))} cannot be had ({_short(why, 120)}); run Python's import to see why"
    )


def no_features(columns: Sequence[str]) -> InputError:
    return InputError(f"there are no features: all columns ({some(columns)}) are named otherwise; add columns")


def target_among_features(target: str) -> InputError:
    return InputError(f"features: {target!r} is what is to be predicted; leave it out")


# ── scorers for scikit-learn, and MLflow ─────────────────────────────────────────────────────────────────────────
def no_direction_to_score(metric: str) -> InputError:
    return InputError(
        f"{metric} is neither better when higher nor when lower, so it cannot score; choose another metric"
    )


def costs_without_use(metric: str, priced: Sequence[str]) -> InputError:
    return InputError(f"costs= mean nothing to {metric}; leave them out, or score by {' or '.join(priced)}")


def scorer_of_cost_columns(columns: Sequence[str]) -> InputError:
    return InputError(
        f"these costs differ from row to row (column {some(columns)}), and scikit-learn gives scorers no columns; "
        "give costs that are numbers"
    )


def scorer_of_decisions(metric: str) -> InputError:
    return InputError(
        f"{metric} is a figure of scores, so it cannot judge decisions; a threshold is tuned by one of decisions, such "
        "as f1 or expected_cost"
    )


def model_cannot_say(model: str, metric: str, ways: Sequence[str]) -> InputError:
    return InputError(f"{model} has no {' and no '.join(ways)}, which {metric} needs; use a model that has")


def missing_mlflow() -> InputError:
    return InputError("figures are logged with MLflow, which is missing; pip install 'stakes[mlflow]'")


def bad_prefix(prefix: object) -> InputError:
    return InputError(
        f"prefix={_short(repr(prefix))} cannot begin names in MLflow; use at most 100 letters, digits and _ - . / "
        "such as 'test/'"
    )


# ── sizes beyond reason ──────────────────────────────────────────────────────────────────────────────────────────
def too_many_columns(path: str, columns: int, most: int) -> InputError:
    return InputError(f"{path}: the header names {columns:,} columns, more than {most:,}; keep those that are needed")


def too_many_segments(segments: int, classes: int) -> InputError:
    return InputError(
        f"by= makes {segments:,} segments of {classes:,} classes each, which is more than memory holds; group the "
        "segments, or the classes"
    )


def endless_line(path: str, most: int) -> InputError:
    return InputError(
        f"{path}: a line has more than {most:,} bytes, so it holds no rows; mend the file, or name another"
    )
