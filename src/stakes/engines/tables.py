"""Finds the columns of a call in a table, in files or among its arrays, and selects rows."""

import os
from collections.abc import Collection, Mapping

import numpy as np

from stakes import errors
from stakes.engines.columns import Arguments, Column, Data, Values, as_frame, columns_of, refuse_lost_polars, to_column
from stakes.engines.missing import keep
from stakes.errors import About, Given, InputError, Pass, some


def gather(data: Data, **arguments: Values) -> dict[str, Column]:
    """Read the columns of a call, from the data or its arrays; arguments that are None are left out."""
    return as_columns(take(data, **arguments), {} if data is None else arguments)


def take(data: Data, where: Values = None, **arguments: Values) -> Arguments:
    """Find the columns of a call, without reading them; ``where`` selects rows of the table."""
    given = {name: value for name, value in arguments.items() if value is not None}
    wanted = {name: value for name, value in given.items() if _is_name(value, data)}
    arrays = {name: value for name, value in given.items() if name not in wanted}
    if arguments.get("truth", given) is None:
        raise errors.not_a_column("truth", "None")
    if data is None and wanted:
        raise errors.name_without_data(*next(iter(wanted.items())))
    if where is not None and data is None:
        raise InputError(
            "where-without-table",
            Given("where"),
            " chooses rows by the columns of a table, and there are only arrays; pass a table or a file first, and "
            "names of columns",
        )
    found = _by_name(data, wanted, where, arrays)
    warn_of_same_column(given)
    return {name: found.get(name, value) for name, value in given.items()}


def as_columns(found: Arguments, given: Arguments) -> dict[str, Column]:
    """Read the columns and check that their lengths agree; ``given`` are the arguments beside a table."""
    columns = {name: to_column(values, name) for name, values in found.items()}
    rows = len(columns["truth"])
    for name, column in columns.items():
        if len(column) != rows:
            if isinstance(given.get(name), list | tuple) and column.kind == "text":
                wanted = Pass("score", each="column") if name == "score" else "one column"
                raise InputError(
                    "list-of-names", About(name), f" is a list of the names {some(given[name])}; give ", wanted
                )
            raise errors.wrong_length(name, len(column), rows)
    if not rows:
        raise errors.empty("truth")
    return columns


def _is_name(value: Values, data: Data) -> bool:
    """Whether an argument names a column: a text, or a whole number that is a name in a table in memory."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return isinstance(value, str)
    return any(value == name for name in (data if isinstance(data, Mapping) else getattr(data, "columns", ())))


def refuse_different_indexes(given: Arguments) -> None:
    """Refuse pandas objects with different indexes: pandas would align them, and rows must not be mispaired."""
    wrapped = {name: type(value).__module__.startswith("narwhals") for name, value in given.items()}
    native = {name: value.to_native() if wrapped[name] else value for name, value in given.items()}
    indexes = {name: value.index for name, value in native.items() if hasattr(getattr(value, "index", None), "equals")}
    first = next(iter(indexes), "")
    for name, index in indexes.items():
        if not index.equals(indexes[first]):
            raise InputError(
                "different-indexes",
                About(name),
                f" and {first} are pandas objects whose indexes disagree; align them first (reindex), or pass "
                ".to_numpy() of each when the order of the rows is right",
            )


def warn_of_same_column(given: Arguments) -> None:
    """Warn if the truth itself is given as the output of the model."""
    name = same_column(given)
    if name:
        errors.warn("same-column", f"{name} and truth are the same column; a target is not its own prediction")


def same_column(given: Arguments) -> str:
    """The argument that is the truth itself, by name or as the same object; "" if there is none."""
    for name in ("score", "prediction") if "truth" in given else ():
        other = given.get(name)
        named = isinstance(other, str) and isinstance(given["truth"], str)
        if other is not None and (other is given["truth"] or (named and other == given["truth"])):
            return name
    return ""


def names_files(data: Data) -> bool:
    """Whether the data are names of files."""
    names = data if isinstance(data, list | tuple) and data else [data]
    return all(isinstance(name, str | os.PathLike) for name in names)


def is_lazy(data: Data) -> bool:
    """Whether this is a lazy table, whose rows are not in memory."""
    if data is None or isinstance(data, Mapping | str | os.PathLike | list | tuple | np.ndarray):
        return False
    return hasattr(as_frame(data), "collect")


def _by_name(data: Data, wanted: dict[str, str], where: Values, arrays: Arguments) -> Arguments:
    """Return argument → native column, for the arguments that name one; rows of ``arrays`` are selected alike."""
    elsewhere = names_files(data) or is_lazy(data)
    if data is None or elsewhere:
        refuse_different_indexes(arrays)
    if data is None:
        return {}
    if arrays and elsewhere and where is not None:  # only the engine of the table knows the rows
        beside = f" chooses rows of the table, and {next(iter(arrays))} is an array beside it"
        todo = "; put it into the table and give the name of its column"
        raise InputError("where-beside-array", Given("where"), beside + todo)
    if names_files(data):
        from stakes.engines.files import reading  # loads Polars

        return reading.read(data, wanted, where)
    if elsewhere:
        from stakes.engines.lazy.queries import QuerySource  # loads Narwhals

        return QuerySource.of(data, wanted, where).rows()
    table = data if isinstance(data, Mapping) else columns_of(data)
    available = list(table)
    for argument, name in wanted.items():
        if name not in available:
            raise errors.no_such_column(argument, name, [str(a) for a in available])
    columns = {**{argument: table[name] for argument, name in wanted.items()}, **arrays}
    refuse_different_indexes({**columns, "data": data})
    return columns if where is None else _rows_where(where, columns, available, table)


def _rows_where(where: Values, columns: Arguments, available: Collection[str], table: Data) -> Arguments:
    """Select the rows of columns that satisfy a condition."""
    from stakes.engines.conditions.frames import choose_rows  # loads Polars
    from stakes.engines.conditions.syntax import parse

    condition = parse(where)
    condition.check(available)
    refuse_lost_polars()
    rows = len(next(iter(columns.values())))
    tested = {name: table[name] for name in condition.columns}
    refuse_different_indexes({**columns, **tested})
    for name, values in {**columns, **tested}.items():
        if len(values) != rows:
            raise errors.wrong_length(name, len(values), rows)
    kept = choose_rows(tested, condition, rows)
    if rows and not kept.any():
        raise errors.nothing_satisfies(condition.text)
    return {argument: keep(values, kept) for argument, values in columns.items()}
