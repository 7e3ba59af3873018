"""Rules that are no text: a full table, or a Python function asked once for every combination."""

import functools
import inspect
import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from stakes import errors
from stakes.errors import Given, InputError, short, some
from stakes.question.options import Value
from stakes.systems.rules import Lookup, RuleTerms
from stakes.tallies.names import canonical

MOST_COMBINATIONS = 1 << 20
"""The most combinations that are written down one by one."""

Answers = dict[tuple[str, ...], Value]

Filled = Callable[[RuleTerms], Answers]
"""What a rule answers for each combination, once it is known who can say what."""


def of_table(table: Mapping[Value, Value], models: Sequence[str]) -> tuple[tuple[str, ...], Filled, str]:
    """Take a full table: combinations → answer, of all models in their order or of those named in ``of``."""
    of, cells = models, table
    if "table" in table:
        strange = [key for key in table if key not in ("of", "table")]
        if strange:
            raise errors.unknown_words("decide", strange, ("of", "table"))
        of, cells = table.get("of", models), table["table"]
    of = (of,) if isinstance(of, str) else of
    listed = isinstance(cells, list | tuple) and all(isinstance(row, list | tuple) and len(row) > 1 for row in cells)
    if not isinstance(of, list | tuple) or not (listed or isinstance(cells, Mapping)):
        raise InputError(
            "bad-rule-table",
            f"the table of the rule is {short(repr(table))}; give {{(what each model says, …): answer}}, or rows that "
            "end with the answer",
        )
    if not all(isinstance(name, str) for name in of) or len(set(of)) != len(of):
        raise InputError(
            "bad-names-of-rule-table",
            Given("of", of),
            " does not work; list the models that the table of the rule is about, once each",
        )
    rows = cells.items() if isinstance(cells, Mapping) else [(row[:-1], row[-1]) for row in cells]
    answers: Answers = {}
    for key, answer in rows:
        combination = tuple(map(canonical, key)) if isinstance(key, tuple | list) else (canonical(key),)
        if combination in answers:
            raise InputError(
                "table-row-twice", f"the table of the rule answers {some(combination)} twice; keep one of them"
            )
        answers[combination] = answer
    return tuple(of), lambda terms: answers, "the table"


def of_function(
    function: Callable[..., Value], names: Collection[str], models: Sequence[str]
) -> tuple[tuple[str, ...], Filled, str]:
    """Take a Python function, whose arguments are called like models or fusers."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:  # built-in functions need not tell
        raise errors.rule_of_positions() from None
    bound = function.keywords if isinstance(function, functools.partial) else {}
    parameters = [p for p in parameters if p.name not in bound]
    of = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if any(p.kind == p.VAR_KEYWORD for p in parameters):
        of += [name for name in models if name not in of and name not in bound]
    elif len(of) != len(parameters):
        raise errors.rule_of_positions()
    called = _name(function)
    for name in of:
        if name not in names:
            raise errors.unknown_in_rule(name, list(names), called)

    def fill(terms: RuleTerms) -> Answers:
        combinations = itertools.product(*(terms.outputs[name] for name in of))
        return {said: _answer(function, called, dict(zip(of, said, strict=True))) for said in combinations}

    return tuple(of), fill, f"the function {called}"


def _name(function: Callable[..., Value]) -> str:
    """What a function is called; what has no name of its own goes by the name of what it is made of."""
    if isinstance(function, functools.partial):
        return _name(function.func)
    return getattr(function, "__name__", type(function).__name__)


def _answer(function: Callable[..., Value], called: str, said: dict[str, str]) -> Value:
    try:
        return function(**said)
    except Exception as problem:  # whatever a user's function raises
        raise errors.rule_failed(called, said, problem) from problem


def refuse_too_many(origin: str, sizes: Sequence[int]) -> None:
    """Refuse more combinations than can be written down."""
    if math.prod(sizes) > MOST_COMBINATIONS:
        raise errors.too_many_to_write_down(origin, math.prod(sizes), MOST_COMBINATIONS)


def lookup(of: tuple[str, ...], fill: Filled, origin: str, terms: RuleTerms) -> tuple[Lookup, tuple[str, ...]]:
    """Write down the answer of every combination; also return the labels, which begin with those known before."""
    sizes = [len(terms.outputs[name]) for name in of]
    refuse_too_many(origin, sizes)
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


def _label(answer: Value, terms: RuleTerms) -> str:
    """A label; a plain yes or no stands for the positive and the negative class."""
    if isinstance(answer, bool | np.bool_) and canonical(answer) not in terms.letters:
        return terms.pair()[0 if answer else 1]
    return canonical(answer)
