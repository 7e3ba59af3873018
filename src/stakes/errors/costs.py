"""Costs, priors, and decisions by them."""

from collections.abc import Sequence

from stakes.errors import InputError
from stakes.errors.words import first_row, nearest, rows_that_hold, short, some


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
    return InputError(f"{name}={short(repr(price))} is no cost; give a finite number, or the name of a column")


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
    return InputError(f"{name}={short(repr(cost))} is beyond 1e100; rescale the costs")


def bad_cost(name: str, decision: str, cost: object) -> InputError:
    return InputError(
        f"the cost of {decision!r} for the class {name!r} is {short(repr(cost))}; give a finite number, or "
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
        f"the costs of the class {short(repr(name))} are {short(repr(row))}; give them as {{decision: cost}}, or miss "
        "and false_alarm for two classes"
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
        f"costs={short(repr(given))} does not work; give Costs(miss=5, false_alarm=1), or any stakes.Costs"
    )


def costs_of_numbers() -> InputError:
    return InputError("costs= are for decisions between classes, and these are predicted numbers; leave costs= out")


def prior_without_costs(argument: str) -> InputError:
    return InputError(
        f"{argument}= changes what decisions cost, but no costs were given; say what a miss and others cost"
    )


def bad_prior(argument: str, given: object) -> InputError:
    return InputError(
        f"{argument}={short(repr(given))} does not work; give the share of the positive class of two, or "
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
    return InputError(f"{argument}={short(repr(names))} of the costs is no list of names; give one name for each")


def costs_not_a_table(path: str, name: str, seen: object) -> InputError:
    return InputError(
        f"{path!r}: {name} = {short(repr(seen))} is no table; write [{name}.CLASS] with decision = number for each"
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


def which_costs(name: str, of_two: bool = True) -> InputError:
    prices = ", or of two classes both prices (miss= and false_alarm=) in the figure's own parentheses"
    return InputError(f"{name} needs to know what mistakes cost; pass costs={prices if of_two else 'stakes.Costs(…)'}")


def costs_of_nothing() -> InputError:
    return InputError(
        "at these costs all decisions cost the same, whatever the class, so there is nothing to decide; give mistakes "
        "a cost"
    )


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


def not_probabilities(classes: int, given: object) -> InputError:
    return InputError(
        f"posteriors={short(repr(given))} are not the probabilities of {classes} classes; give one number for each "
        "class and row, in the order of the costs"
    )


def uneven_posteriors(count: int, first: int, row: Sequence[float]) -> InputError:
    seen = ", ".join(f"{one:.6g}" for one in row[:5]) + (", …" if len(row) > 5 else "")
    return InputError(
        f"{rows_that_hold(count)} no probabilities ({first_row(first)}: {seen}); give numbers from 0 to 1 that add up "
        "to 1"
    )


def switch_points_of_two(classes: Sequence[str], positive: object) -> InputError:
    return InputError(
        f"switch points are for two classes with positive= one of them; there is {some(classes)}, "
        f"{short(repr(positive))}"
    )
