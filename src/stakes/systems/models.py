"""The models of a system as a user describes them: a table, shares of right answers, or a column of rows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from stakes import errors
from stakes.errors import InputError, nearest, short
from stakes.question.options import Column, Data, Value
from stakes.systems.fusion import in_order
from stakes.systems.network import Model, Network
from stakes.systems.situations import own_rates
from stakes.systems.tables import RateTable, are_accuracies, of_accuracies, read_table
from stakes.tallies import Confusion, JointCounts
from stakes.tallies.arithmetic import is_real
from stakes.tallies.checks import depth
from stakes.tallies.names import canonical

_RIGHT = "accuracy"  # of a model: the share of right answers of each class
_WORDS = ("column", "table", _RIGHT, "sees", "outputs", "right", "price")
"""What can be said about a model."""

_NOT_TOGETHER = (("outputs", "column"), ("outputs", _RIGHT), ("table", _RIGHT))
"""Pairs of words; the second makes the first one superfluous."""

_SAME = 1e-9


@dataclass(frozen=True)
class Description:
    """What a user says about one model."""

    name: str
    column: Column = None
    table: Value = None
    accuracy: Value = None
    sees: tuple[str, ...] = ()
    outputs: tuple[str, ...] | None = None
    right: Mapping[str, str] = field(default_factory=dict)
    price: float = 0.0


def describe(models: Value, with_rows: bool, data: Data) -> dict[str, Description]:
    """Take apart what a user says about the models."""
    if isinstance(models, str):
        models = [models]
    if isinstance(models, Sequence):
        if not with_rows or not all(isinstance(name, str) for name in models):
            raise errors.models_wanted(type(models).__name__)
        models = {name: name for name in models}
    if not isinstance(models, Mapping) or not models:
        raise errors.models_wanted("" if isinstance(models, Mapping) else type(models).__name__)
    described = {}
    for name, given in models.items():
        if not isinstance(name, str) or not name.strip() or "`" in name:
            raise InputError(
                "bad-model-name", f"a model is called {short(repr(name))}; give it a name, without backticks"
            )
        if name in ("truth", "decision"):
            raise errors.name_taken(name)
        described[name] = _description(name, given, with_rows, data)
    return described


def _description(name: str, given: Value, with_rows: bool, data: Data) -> Description:
    # a word much like a known one is a typing error, not a class of a table, if it is alone or beside known words
    if isinstance(given, Mapping):
        strange = [word for word in given if word not in _WORDS and "did you mean" in nearest(str(word), _WORDS)]
        if strange and (len(given) == 1 or set(given) & set(_WORDS)):
            raise errors.unknown_words(f"model {name!r}", strange, _WORDS)
    if isinstance(given, Mapping) and given and set(given) <= set(_WORDS):
        words: dict[str, Value] = dict(given)
    elif isinstance(given, Mapping) and are_accuracies(given):
        words = {_RIGHT: given}
    elif isinstance(given, Mapping | Confusion) or depth(given) >= 2:
        words = {"table": given}
    elif with_rows and not is_real(given):
        words = {"column": given}
    elif are_accuracies(given):
        words = {_RIGHT: given}
    else:
        raise errors.bad_model(name, given)
    if isinstance(data, JointCounts):
        if name in data.columns[1:]:
            words.setdefault("column", name)
        column = words.get("column")
        if column is not None and (not isinstance(column, str) or column not in data.columns[1:]):
            raise errors.no_such_column(f"model {name}", str(column), data.columns[1:])
    for first, second in _NOT_TOGETHER:
        if words.get(first) is not None and words.get(second) is not None:
            raise InputError(
                "words-not-together",
                f"model {name!r} has {first} beside {second}, which already tells what it says; leave one of them out",
            )
    for key in ("sees", "outputs"):
        if words.get(key) is not None:
            words[key] = _names(name, key, words[key])
    right = words.get("right", {})
    if not isinstance(right, Mapping):
        raise errors.bad_word(name, "right", right, "a dictionary class → output")
    words["right"] = {canonical(c): canonical(o) for c, o in right.items()}
    price = words.get("price", 0.0)
    if not is_real(price) or not 0 <= price < math.inf:
        raise errors.bad_word(name, "price", price, "what it costs to ask the model once, a number from 0 on")
    if not with_rows and "column" in words:
        raise errors.name_without_data(f"model {name}", str(words["column"]))
    if not {"column", "table", _RIGHT} & set(words):
        raise errors.bad_model(name, given)
    return Description(name, **words)


def _names(name: str, key: str, given: Value) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or len(set(map(canonical, names))) != len(names):
        raise errors.bad_word(name, key, given, "a list of different names")
    return tuple(map(canonical, names))


def make(
    described: Mapping[str, Description], classes: Sequence[str], in_rows: Mapping[str, tuple[str, ...]]
) -> dict[str, Model]:
    """Make the models, each after those that it sees; ``in_rows`` tells what models given by rows can say."""
    for one in described.values():
        for name in one.sees:
            if name not in described:
                raise InputError(
                    "sees-unknown", f"a model sees {name!r}, which is no model{nearest(name, list(described))}"
                )
    found: dict[str, Model] = {}
    for name in in_order({name: one.sees for name, one in described.items()}):
        one = described[name]
        if name not in in_rows:
            table = _table(one, classes, found, one.outputs)
            right = _right(one, classes, table.outputs)
            known = (table.rates, table.counts, table.absent)
            found[name] = Model(name, table.outputs, right, one.sees, *known, price=float(one.price))
            continue
        for other in one.sees:
            if not found[other].by_rows:
                raise InputError(
                    "sees-a-table",
                    f"{name!r} is given by rows and sees {other!r}, which is not in them; give both by rows, or "
                    f"{name!r} by a table",
                )
        found[name] = Model(name, in_rows[name], _right(one, classes, in_rows[name]), one.sees, price=float(one.price))
    return found


def _table(
    one: Description, classes: Sequence[str], known: Mapping[str, Model], outputs: Sequence[str] | None
) -> RateTable:
    if one.accuracy is None:
        return read_table(one.name, one.table, classes, outputs, {name: known[name].outputs for name in one.sees})
    if one.sees:
        raise errors.cascade_needs_table(one.name)
    return of_accuracies(one.name, one.accuracy, classes)


def _right(one: Description, classes: Sequence[str], outputs: Sequence[str]) -> tuple[int, ...]:
    for label, output in one.right.items():
        if label not in classes:
            raise errors.class_unknown_to_model(one.name, label, list(one.right), classes)
        if output not in outputs:
            raise errors.unknown_output(one.name, output, outputs)
    wanted = [one.right.get(label, label) for label in classes]
    return tuple(outputs.index(output) if output in outputs else -1 for output in wanted)


def refuse_contradictions(described: Mapping[str, Description], network: Network) -> None:
    """A model given by rows and by a table must say the same in both."""
    for name, one in described.items():
        if one.column is None or (one.table is None and one.accuracy is None):
            continue
        outputs = network.models[name].outputs
        table = _table(one, network.classes, network.models, outputs)
        if set(table.outputs) != set(outputs):
            raise errors.unknown_output(name, next(iter(set(outputs) ^ set(table.outputs))), table.outputs)
        given = table.rates[..., [table.outputs.index(output) for output in outputs]]
        rates = own_rates(network, name)
        wrong = np.argwhere(np.abs(given - rates) > _SAME)
        if len(wrong):
            c, a, j = wrong[0]
            raise InputError(
                "contradiction",
                f"{name!r} is given twice and the two contradict each other: of {network.classes[c]!r} it says "
                f"{outputs[j]!r} in {100 * float(given[c, a, j]):.6g} % by its table and in "
                f"{100 * float(rates[c, a, j]):.6g} % by the rows; keep one, or judge the table as a candidate: "
                "bounds(model, table)",
            )
