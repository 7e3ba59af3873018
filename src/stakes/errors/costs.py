"""Costs, priors, and decisions by them."""

from collections.abc import Sequence

from stakes.errors import About, Given, InputError, Pass
from stakes.errors.words import some


def costs_of_wrong_shape(shape: str, classes: int, decisions: int) -> InputError:
    return InputError(
        "costs-of-wrong-shape",
        f"the cost matrix is {shape}, but there are {classes} classes × {decisions} decisions; rows are the truth, "
        "columns the decisions",
    )


def costs_by_row(columns: Sequence[str]) -> InputError:
    return InputError(
        "costs-by-row",
        f"these costs differ from row to row (column {some(columns)}), so there is no one matrix; give them as ",
        Pass("costs"),
        " together with the rows",
    )


def not_costs(given: object) -> InputError:
    matrix = hasattr(given, "__len__") and not isinstance(given, str)
    return InputError(
        "not-costs",
        Given("costs", given),
        " does not work; pass ",
        Pass("costs", miss=5, false_alarm=1),
        ", or Costs(matrix, classes=[…]), which says whose rows these are" if matrix else ", or any Costs",
    )


def costs_of_numbers(argument: str = "costs") -> InputError:
    return InputError(
        "costs-of-numbers",
        Given(argument),
        f" {'are for decisions between' if argument == 'costs' else 'is about'} classes, and these are predicted "
        "numbers; leave ",
        Pass(argument),
        " out",
    )


def single_cluster() -> InputError:
    return InputError(
        "single-cluster",
        "there is a single cluster, so no rows are left to judge a decision by; leave out ",
        Pass("cluster"),
    )


def count_again_with_costs(columns: Sequence[str]) -> InputError:
    return InputError(
        "count-again-with-costs",
        f"these costs differ from row to row (column {some(columns)}), and the rows are gone; count again with ",
        Pass("costs"),
    )


def which_costs(name: str, of_two: bool = True) -> InputError:
    inside = f", or of two classes both prices in its own parentheses: {name}(miss=5, false_alarm=1)"
    return InputError(
        "which-costs",
        f"{name} needs to know what mistakes cost; pass ",
        Pass("costs", miss=5, false_alarm=1) if of_two else Pass("costs"),
        inside if of_two else "",
    )


def costs_of_nothing() -> InputError:
    return InputError(
        "costs-of-nothing",
        "at these costs all decisions cost the same, whatever the class, so there is nothing to decide; give mistakes "
        "a cost",
    )


def costs_need_probabilities(low: float, high: float) -> InputError:
    return InputError(
        "costs-need-probabilities",
        f"the costs decide by probabilities, but the scores reach from {low:g} to {high:g}; recalibrate them, or give "
        "the decisions as ",
        Pass("prediction"),
    )


def bad_condition(text: str) -> InputError:
    return InputError(
        "bad-condition",
        Given("best", text),
        " cannot be read; write a metric such as 'f1', or a condition such as 'recall >= 0.9'",
    )


def no_scores_to_decide() -> InputError:
    return InputError("no-scores-to-decide", "there are no scores to put a threshold on; pass ", Pass("score"))


def costs_or_best() -> InputError:
    return InputError(
        "costs-or-best",
        "give ",
        Pass("costs"),
        " (what decisions cost), or ",
        Pass("best"),
        " (a figure such as 'f1' or 'recall >= 0.9'), not both",
    )


def count_again_to_decide() -> InputError:
    return InputError(
        "count-again-to-decide",
        "decisions between several classes at other costs need the rows again; evaluate them with ",
        Pass("costs"),
        ", or compare ways to decide with decide()",
    )


def row_costs_in_clusters() -> InputError:
    return InputError(
        "row-costs-in-clusters",
        About("costs"),
        " that differ by row cannot be decided with ",
        Pass("cluster"),
        " yet; leave out one of them",
    )
