"""Joins tables of predictions for the same cases by case number."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from stakes import errors
from stakes.engines.alike import Spelling, refuse_alike
from stakes.engines.columns import Column, Data, Values, ranks
from stakes.engines.labels import Labels, encode
from stakes.engines.tables import gather
from stakes.errors import InputError, how_many
from stakes.tallies.arithmetic import Array
from stakes.text import visible


def table_names(tables: Sequence[Data]) -> list[str]:
    """Return the names of tables: the shortest ends of paths that differ; tables without a path are numbered."""
    files = [str(t) if isinstance(t, str | os.PathLike) else f"table {i}" for i, t in enumerate(tables, 1)]
    parts = [Path(file).with_suffix("").parts for file in files]
    for most in range(1, max(map(len, parts)) + 1):
        names = [visible("/".join(part[-most:])) for part in parts]
        if len(set(names)) == len(names):
            return names
    names = list(map(visible, files))
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                "tables-of-one-name",
                f"two tables are called {name!r}, and models are called like their tables; rename one",
            )
    return names


def join(
    tables: Sequence[Data],
    case: str,
    shared: Mapping[str, str],
    own: Mapping[str, str],
    alike: Values = None,
    where: Values = None,
) -> dict[str, Values]:
    """Return the shared columns (truth among them) once, and the others of each table, in the same order of cases.

    ``case`` names the column of case numbers, ``shared`` and ``own`` argument → column name. The shared columns are
    those of the first table; the truth must be the same in all, once its labels are made ``alike``. ``where`` chooses
    rows of each.
    """
    names, spelling = table_names(tables), Spelling.of(alike, None, None)
    columns = [_read(name, table, case, {**shared, **own}, where) for name, table in zip(names, tables, strict=True)]
    cases = [_cases(name, case, part.pop("id")) for name, part in zip(names, columns, strict=True)]
    orders = [_order(cases[0], labels, (names[0], name), case) for name, labels in zip(names, cases, strict=True)]
    spelled = [replace(part["truth"], names=tuple(map(spelling, part["truth"].names))) for part in columns]
    truths = [values(column, order) for column, order in zip(spelled, orders, strict=True)]
    for name, truth, column in zip(names, truths, spelled, strict=True):
        wrong = np.flatnonzero(truth != truths[0])
        if len(wrong):
            refuse_alike(spelled[0].names, column.names, ())
            first = cases[0].names[cases[0].codes[wrong[0]]]
            raise InputError(
                "different-truths",
                f"{name} and {names[0]} disagree about the truth of {how_many(len(wrong), 'case')} (the first has "
                f"{case} {first!r}); mend the files, so that both have the same truth",
            )
    joined: dict[str, Values] = {argument: values(columns[0][argument], orders[0]) for argument in shared}
    for argument in own:
        pairs = zip(names, columns, orders, strict=True)
        joined[argument] = {name: values(part[argument], order) for name, part, order in pairs}
    return joined


def _read(name: str, table: Data, case: str, wanted: Mapping[str, str], where: Values) -> dict[str, Column]:
    try:
        return gather(table, where=where, id=case, **wanted)
    except errors.InputError as problem:
        raise problem.within(f"model {name!r}") from None


def _cases(name: str, case: str, column: Column) -> Labels:
    if column.kind == "text":  # libraries write whole numbers as 5.0 once a value was missing
        names = tuple(name.removesuffix(".0") for name in column.names)
        column = column if len(set(names)) < len(names) else replace(column, names=names)
    labels = encode(column)
    sizes = np.bincount(labels.codes, minlength=len(labels.names))
    twice = np.flatnonzero(sizes > 1)
    if len(twice):
        first = labels.names[int(labels.codes[np.isin(labels.codes, twice)][0])]
        seen = f"1 value of {case} occurs" if len(twice) == 1 else f"{len(twice):,} values of {case} occur"
        raise InputError(
            "duplicate-ids", f"{name}: {seen} more than once (the first is {first!r}); keep one row of every case"
        )
    return labels


def _order(first: Labels, other: Labels, names: tuple[str, str], case: str) -> Array:
    """The rows of another table in the order of the first."""
    for (a, b), (one, two) in (((first, other), names), ((other, first), names[::-1])):
        missing = sorted(set(a.names) - set(b.names))
        if missing:
            raise InputError(
                "missing-ids",
                f"{two} lacks {how_many(len(missing), 'case')} that {one} has (the first has {case} {missing[0]!r}); "
                "give both the same cases",
            )
    return ranks(other.into(first.names), len(first.names))[first.codes]


def values(column: Column, rows: Array) -> Array:
    """Return the values of some rows, text as text."""
    if column.kind == "text":
        return np.array(column.names, object)[column.values[rows]]
    return column.values[rows]
