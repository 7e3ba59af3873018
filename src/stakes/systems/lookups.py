"""Rules that are no text: a full table, or a Python function asked once for every combination."""

import inspect
import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from stakes import errors
from stakes.systems.rules import Lookup, Terms
from stakes.tallies.names import canonical

MOST_COMBINATIONS = 1 << 20
"""The most combinations that are written down one by one."""

Filled = Callable[[Terms], dict[tuple[str, ...], Any]]
"""What a rule answers for each combination, once it is known who can say what."""


def of_table(table: Mapping[Any, Any], models: Sequence[str]) -> tuple[tuple[str, ...], Filled, str]:
    """Take a full table: combinations → answer, of all models in their order or of those named in ``of``."""
    of: Sequence[str] = models
    cells: Any = table
    if "table" in table:
        strange = [key for key in table if key not in ("of", "table")]
        if strange:
            raise errors.unknown_words("decide", strange, ("of", "table"))
        of, cells = table.get("of", models), table["table"]
    of = (of,) if isinstance(of, str) else of
    listed = isinstance(cells, list | tuple) and all(isinstance(row, list | tuple) and len(row) > 1 for row in cells)
    if not isinstance(of, list | tuple) or not (listed or isinstance(cells, Mapping)):
        raise errors.bad_rule_table(table)
    rows = cells.items() if isinstance(cells, Mapping) else [(row[:-1], row[-1]) for row in cells]
    answers: dict[tuple[str, ...], Any] = {}
    for key, answer in rows:
        combination = tuple(map(canonical, key)) if isinstance(key, tuple | list) else (canonical(key),)
        if combination in answers:
            raise errors.table_row_twice(combination)
        answers[combination] = answer
    return tuple(of), lambda terms: answers, "the table"


def of_function(function: Callable[..., Any], names: Collection[str], models: Sequence[str]) -> Any:
    """Take a Python function, whose arguments are called like models or fusers."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # built-in functions need not tell
        raise errors.rule_of_positions() from None
    of = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if any(p.kind == p.VAR_KEYWORD for p in parameters):
        of += [name for name in models if name not in of]
    elif len(of) != len(parameters):
        raise errors.rule_of_positions()
    for name in of:
        if name not in names:
            raise errors.unknown_in_rule(name, list(names), function.__name__)

    def fill(terms: Terms) -> dict[tuple[str, ...], Any]:
        said = itertools.product(*(terms.outputs[name] for name in of))
        return {answers: function(**dict(zip(of, answers, strict=True))) for answers in said}

    return tuple(of), fill, f"the function {function.__name__}"


def lookup(of: tuple[str, ...], fill: Filled, origin: str, terms: Terms) -> tuple[Lookup, tuple[str, ...]]:
    """Write down the answer of every combination; also return the labels, which begin with those known before."""
    sizes = [len(terms.outputs[name]) for name in of]
    if math.prod(sizes) > MOST_COMBINATIONS:
        raise errors.too_many_to_write_down(origin, math.prod(sizes), MOST_COMBINATIONS)
    found = {key: _label(answer, terms) for key, answer in fill(terms).items()}
    wanted = list(itertools.product(*(terms.outputs[name] for name in of)))
    for key in wanted:
        if key not in found:
            raise errors.table_row_missing(dict(zip(of, key, strict=True)))
    for key in found.keys() - set(wanted):
        raise errors.table_row_unknown(key, {name: terms.outputs[name] for name in of})
    letters = tuple(dict.fromkeys([*terms.letters, *found.values()]))
    place = {label: i for i, label in enumerate(letters)}
    answers = np.array([place[found[key]] for key in wanted]).reshape(sizes)
    return Lookup(of, answers, origin), letters


def _label(answer: Any, terms: Terms) -> str:
    """A label; a plain yes or no stands for the positive and the negative class."""
    if isinstance(answer, bool | np.bool_) and canonical(answer) not in terms.letters:
        return terms.pair()[0 if answer else 1]
    return canonical(answer)
