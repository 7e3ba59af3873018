"""Finds the task of the columns: classes, or numbers. If they leave it open, an error asks."""

import math
from collections.abc import Mapping

import numpy as np

from stakes.engines.columns import Column, as_finite, read_number, to_column
from stakes.errors import About, Given, InputError, Pass, some
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import is_one_of

_BLOCK = 1 << 16
_SHOWN = 3
TASKS = ("auto", "classification", "regression", "counts")


def check_task(task: str) -> None:
    """Refuse a task that does not exist."""
    if not is_one_of(task, TASKS):
        raise InputError("no-such-task", Given("task", task), f" is not known; the tasks are {some(TASKS, last='or')}")


def settle_task(task: str, columns: dict[str, Column], of_classes: bool, of_numbers: bool) -> str:
    """Return "classification" or "regression"; some arguments only make sense for one of them."""
    check_task(task)
    if task != "auto":
        return "regression" if task == "counts" else task
    if of_classes or of_numbers:
        return "classification" if of_classes else "regression"
    kinds = [_numbers_in(columns[name]) for name in ("truth", "prediction")]
    if "none" in kinds and "fractions" in kinds:
        numbers, text = ("truth", "prediction") if kinds[0] == "fractions" else ("prediction", "truth")
        seen, other = (some(_quote(columns[name]), 2) for name in (numbers, text))
        raise InputError(
            "unlike-columns",
            About(numbers),
            f" holds numbers ({seen}) but {text} holds text ({other}); name the right column, so that they can match",
        )
    if "none" in kinds or kinds == ["labels", "labels"]:
        return "classification"
    if kinds == ["labels", "fractions"] and _within_one(columns["prediction"]):
        raise InputError(
            "scores-as-predictions",
            About("truth"),
            " is 0 and 1 and prediction holds fractions between them; pass probabilities as ",
            Pass("score"),
            ", or ",
            Pass("task", "regression"),
            " if numbers are meant",
        )
    if "fractions" in kinds:
        return "regression"
    raise InputError(
        "which-task",
        About("truth"),
        " and prediction are whole numbers, which can be classes or quantities; pass ",
        Pass("task", "classification"),
        " or ",
        Pass("task", "regression"),
    )


def task_of_numbers(known: Mapping[str, tuple[float, float, bool]]) -> str:
    """The task of columns of which the least and the largest number is known, and whether any is a fraction."""
    shown = {
        name: to_column(np.array([low, high, *([math.floor(low) + 0.5] if fractions else [])]), name)
        for name, (low, high, fractions) in known.items()
    }
    return settle_task("auto", shown, False, False)


def _numbers_in(column: Column) -> str:
    """What a column holds: "fractions", "whole" numbers, "labels" (certainly two classes), or "none" (no numbers)."""
    if column.kind == "boolean":
        return "none"
    if column.kind == "number":
        return _kind_of(column.values)
    parsed = [read_number(name) for name in column.names]
    numbers = np.array([number for number in parsed if number is not None])
    if not len(numbers):
        return "none"
    kind = _kind_of(numbers)
    if len(numbers) == len(parsed):
        return kind
    if kind == "fractions" and 2 * len(numbers) > len(parsed):
        as_finite(column)  # mostly numbers: refuse the first value that is not one
    return "none"


def _quote(column: Column) -> list[str]:
    """A few values to show."""
    if column.kind == "text":
        return [*column.names]
    return [str(value) for value in column.values[:_SHOWN].tolist()]


def _within_one(column: Column) -> bool:
    values = as_finite(column)
    return bool(values.min() >= 0 and values.max() <= 1)


def _kind_of(values: Array) -> str:
    """Classify numbers block by block, and stop as soon as the answer is certain."""
    two_valued = True
    for start in range(0, len(values), _BLOCK):
        block = values[start : start + _BLOCK]
        if block.dtype.kind == "f" and not np.isnan(block[block != np.floor(block)]).all():
            return "fractions"
        if two_valued:  # nothing but 0 and 1, or −1 and 1
            two_valued = bool(np.isin(block, (0, 1)).all() or np.isin(block, (-1, 1)).all())
        if not two_valued and block.dtype.kind != "f":
            return "whole"
    return "labels" if two_valued else "whole"
