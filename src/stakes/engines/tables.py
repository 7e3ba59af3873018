"""Which columns a call names, found in a table, in files or as they were given, with the rows that it asks for."""

import os
from collections.abc import Collection, Mapping

import numpy as np

from stakes import errors
from stakes.engines.columns import Arguments, Column, Data, Values, as_frame, columns_of, refuse_lost_polars, to_column
from stakes.engines.missing import keep
from stakes.errors import About, Given, InputError, Pass, some


def gather(data: Data, **arguments: Values) -> dict[str, Column]:
    """Take the columns that a call names, from the data or as they were given; arguments that are None are left out."""
    return as_columns(take(data, **arguments), {} if data is None else arguments)


def take(data: Data, where: Values = None, **arguments: Values) -> Arguments:
    """Find the columns that a call names, as they are; ``where`` chooses rows of the table."""
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
    """Read the columns and check that they are of one length; ``given`` is what was given beside a table."""
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
    """Whether an argument names a column: a text, or a whole number that a table in memory has as a name."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return isinstance(value, str)
    return any(value == name for name in (data if isinstance(data, Mapping) else getattr(data, "columns", ())))


def refuse_different_indexes(given: Arguments) -> None:
    """Pandas objects are aligned by their index elsewhere; rows that disagree must not be paired silently."""
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
    """Point out that a model is judged by the truth itself."""
    name = same_column(given)
    if name:
        errors.warn("same-column", f"{name} and truth are the same column; a target is not its own prediction")


def same_column(given: Arguments) -> str:
    """The argument for which the truth itself was given, by its name or as the same object; empty if there is none."""
    for name in ("score", "prediction") if "truth" in given else ():
        other = given.get(name)
        named = isinstance(other, str) and isinstance(given["truth"], str)
        if other is not None and (other is given["truth"] or (named and other == given["truth"])):
            return name
    return ""


def names_files(data: Data) -> bool:
    """Whether the rows are in files: this names one, or several."""
    names = data if isinstance(data, list | tuple) and data else [data]
    return all(isinstance(name, str | os.PathLike) for name in names)


def is_lazy(data: Data) -> bool:
    """Whether this is a table whose rows are not here."""
    if data is None or isinstance(data, Mapping | str | os.PathLike | list | tuple | np.ndarray):
        return False
    return hasattr(as_frame(data), "collect")


def _by_name(data: Data, wanted: dict[str, str], where: Values, arrays: Arguments) -> Arguments:
    """Return argument → native column, for the arguments that name one; rows of ``arrays`` are chosen alike."""
    elsewhere = names_files(data) or is_lazy(data)
    if data is None or elsewhere:
        refuse_different_indexes(arrays)
    if data is None:
        return {}
    if arrays and elsewhere and where is not None:  # which rows it keeps is only known where the table is
        beside = f" chooses rows of the table, and {next(iter(arrays))} is an array beside it"
        todo = "; put it into the table and give the name of its column"
        raise InputError("where-beside-array", Given("where"), beside + todo)
    if names_files(data):
        from stakes.engines.files import reading  # loads Polars

        return reading.read(data, wanted, where)
    if elsewhere:
        from stakes.engines import queries  # loads Narwhals

        return queries.QuerySource.of(data, wanted, where).rows()
    table = data if isinstance(data, Mapping) else columns_of(data)
    available = list(table)
    for argument, name in wanted.items():
        if name not in available:
            raise errors.no_such_column(argument, name, [str(a) for a in available])
    found = {**{argument: table[name] for argument, name in wanted.items()}, **arrays}
    refuse_different_indexes({**found, "data": data})
    return found if where is None else _rows_where(where, found, available, table)


def _rows_where(where: Values, found: Arguments, available: Collection[str], table: Data) -> Arguments:
    """The rows of columns that satisfy a condition."""
    from stakes.engines.conditions.frames import choose_rows  # loads Polars
    from stakes.engines.conditions.syntax import parse

    condition = parse(where)
    condition.check(available)
    refuse_lost_polars()
    rows = len(next(iter(found.values())))
    asked = {name: table[name] for name in condition.columns}
    refuse_different_indexes({**found, **asked})
    for name, values in {**found, **asked}.items():
        if len(values) != rows:
            raise errors.wrong_length(name, len(values), rows)
    kept = choose_rows(asked, condition, rows)
    if rows and not kept.any():
        raise errors.nothing_satisfies(condition.text)
    return {argument: keep(values, kept) for argument, values in found.items()}
