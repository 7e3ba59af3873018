"""A model given by numbers: a confusion table, rates, or how often it is right."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stakes import errors
from stakes.errors import InputError, short, some
from stakes.question.options import Value
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Array, divide, is_real
from stakes.tallies.checks import depth, refuse_masked
from stakes.tallies.names import canonical

_ROUNDING = 1e-6
"""How far a sum of rates may be from 1, for figures that people write down."""


@dataclass(frozen=True, eq=False)
class RateTable:
    """How often each output is given: ``rates[c, a, j]``, and the ``counts`` behind them if there are any.

    Of ``absent`` classes the table has no cases; their rates are all the same and mean nothing.
    """

    outputs: tuple[str, ...]
    rates: Array
    counts: Array | None = None
    absent: tuple[int, ...] = ()


def read_table(
    name: str, given: Value, classes: Sequence[str], outputs: Sequence[str] | None, sees: Mapping[str, Sequence[str]]
) -> RateTable:
    """Check a table: rows are the true classes (then what the model sees), the last axis is what it says.

    ``sees`` tells what each model that this one sees can say. A table whose rows all sum to 1 holds rates; any other
    one holds counts.
    """
    seen = [len(answers) for answers in sees.values()]
    cells, named = _cells(name, given, classes)
    wanted = named or outputs
    refuse_masked(f"the table of {name!r}", cells, needed=True)
    try:
        values = np.array(cells, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise errors.table_not_numbers(name) from None
    if values.ndim != 2 + len(seen) or values.shape[: 1 + len(seen)] != (len(classes), *seen):
        raise errors.table_shape(name, values.shape, (len(classes), *seen))
    if wanted is None and values.shape[-1] != len(classes):
        raise InputError(
            "outputs-wanted",
            f"the table of {name!r} has {values.shape[-1]} columns and there are {len(classes)} classes; name what it "
            "says: {'table': …, 'outputs': […]}",
        )
    chosen = tuple(map(str, wanted or classes))
    if outputs is not None and named and set(named) != set(outputs):
        strange = [label for label in named if label not in outputs] or [o for o in outputs if o not in named]
        raise errors.unknown_output(name, strange[0], outputs)
    if values.shape[-1] != len(chosen):
        raise errors.table_shape(name, values.shape, (len(classes), *seen), len(chosen))
    if outputs is not None and named:
        values = values[..., [chosen.index(label) for label in outputs]]
        chosen = tuple(outputs)
    flat = values.reshape(len(classes), math.prod(seen), len(chosen))
    return _rates(name, flat, classes, chosen, sees)


def _rates(
    name: str, values: Array, classes: Sequence[str], outputs: tuple[str, ...], sees: Mapping[str, Sequence[str]]
) -> RateTable:
    wrong = np.argwhere(~(values >= 0) | np.isinf(values))
    if len(wrong):
        c, _, j = wrong[0]
        raise InputError(
            "negative-count",
            f"the table of {name!r} holds {float(values[tuple(wrong[0])]):g} where the truth is {classes[c]!r} and it "
            f"says {outputs[j]!r}; give counts or rates from 0 on",
        )
    totals = values.sum(-1)
    absent = ~totals.any(-1)
    wrong_sum = (np.abs(totals - 1) > _ROUNDING) & ~absent[:, None]
    as_counts = wrong_sum.any() or absent.all()
    if as_counts and (values <= 1).all() and (values != np.floor(values)).any():
        c, _ = np.argwhere(wrong_sum)[0]
        raise InputError(
            "rates-sum",
            f"{name}, class {classes[c]!r}: the probabilities sum to "
            f"{float(totals[wrong_sum][0]):.6g}, not to 1; mend them, or give counts",
        )
    if as_counts and not totals[~absent].all():
        c, a = np.argwhere((totals == 0) & ~absent[:, None])[0]
        seen = list(itertools.product(*sees.values()))[a]
        when = errors.who_says(dict(zip(sees, seen, strict=True)))
        raise InputError(
            "never-seen-in-table",
            f"the table of {name!r} has no case where the truth is {classes[c]!r} and {when}, so nobody knows what it "
            "says then; count such cases, or give rates",
        )
    rates = divide(values, totals[..., None], 1 / len(outputs))
    return RateTable(outputs, rates, values if as_counts else None, tuple(np.flatnonzero(absent).tolist()))


def _cells(name: str, given: Value, classes: Sequence[str]) -> tuple[Value, tuple[str, ...] | None]:
    """The numbers in the order of the classes, and the outputs if the table names them."""
    if isinstance(given, Confusion):
        rows_of = zip(given.truths, given.counts.tolist(), strict=True)
        given = {truth: dict(zip(given.decisions, row, strict=True)) for truth, row in rows_of}
    if not isinstance(given, Mapping):
        return given, None
    rows = {canonical(label): row for label, row in given.items()}
    for label in [*(c for c in classes if c not in rows), *(label for label in rows if label not in classes)]:
        raise errors.class_unknown_to_model(name, label, list(rows), classes)
    if not any(isinstance(row, Mapping) for row in rows.values()):
        return [rows[label] for label in classes], None
    if not all(isinstance(row, Mapping) for row in rows.values()):
        raise errors.table_not_numbers(name)
    named = {label: {canonical(output): cell for output, cell in row.items()} for label, row in rows.items()}
    outputs = tuple(dict.fromkeys(output for row in named.values() for output in row))
    return [[named[label].get(output, 0) for output in outputs] for label in classes], outputs


def are_accuracies(given: Value) -> bool:
    """Whether something gives shares of right answers: one number, or one of each class."""
    if isinstance(given, Mapping):
        return all(map(is_real, given.values()))
    return is_real(given) or (depth(given) == 1 and not isinstance(given, str))


def read_candidate(
    name: str, given: Value, classes: Sequence[str], outputs: Sequence[str], sees: Mapping[str, Sequence[str]]
) -> RateTable:
    """Check what is put in a model's place: a table or shares of right answers, in the order of its outputs."""
    if not are_accuracies(given):
        return read_table(name, given, classes, outputs, sees)
    if sees:
        raise errors.cascade_needs_table(name)
    if set(outputs) != set(classes):
        raise InputError(
            "accuracies-of-outputs",
            f"{name!r} says {some(outputs)}, and the classes are {some(classes)}, so shares of right answers do not "
            "tell what it says; give a table",
        )
    rates = of_accuracies(name, given, classes).rates
    return RateTable(tuple(outputs), rates[..., [list(classes).index(output) for output in outputs]])


def of_accuracies(name: str, given: Value, classes: Sequence[str]) -> RateTable:
    """Make the table of a model of which only the share of right answers is known, for two classes."""
    values = [given] * len(classes) if is_real(given) else given
    if isinstance(values, Mapping):
        values, _ = _cells(name, values, classes)
    if len(values) != len(classes) or not all(is_real(v) and 0 <= v <= 1 for v in values):
        raise InputError(
            "bad-accuracies",
            f"model {name!r} is {short(repr(given))}; give the share of right answers, from 0 to 1, of {some(classes)}",
        )
    if len(classes) != 2:
        raise InputError(
            "accuracies-of-many",
            f"model {name!r}: shares of right answers do not say how errors fall on {len(classes)} classes; give its "
            "confusion table",
        )
    first, second = map(float, values)
    rates = np.array([[first, 1 - first], [1 - second, second]])
    return RateTable(tuple(classes), rates[:, None, :])
