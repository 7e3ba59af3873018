"""Tables of database files: SQLite through the standard library, DuckDB through the optional package."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

import numpy as np
import polars as pl

from stakes import errors
from stakes.engines.conditions.tree import LARGEST
from stakes.engines.files.room import little_memory
from stakes.engines.files.sources import Source
from stakes.errors import InputError, MissingPartError, nearest, some
from stakes.tallies.arithmetic import Array

if TYPE_CHECKING:
    import duckdb

Connection: TypeAlias = Any
"""A connection of ``sqlite3`` or of DuckDB."""

Row: TypeAlias = tuple[object, ...]

_SQLITE = b"SQLite format 3\0"
_DUCKDB = b"DUCK"
_SNIFFED = 16
_OFTEN = 100_000
"""SQLite instructions between two checks for signals."""


def kind_of(source: Source) -> str:
    """Return "sqlite" or "duckdb", by the first bytes of the file, or nothing."""
    start = source.start(_SNIFFED)
    if start == _SQLITE:
        return "sqlite"
    return "duckdb" if start[8:12] == _DUCKDB else ""


def columns(source: Source) -> list[str]:
    """Return the names of the columns of the table; the database is only read."""
    with _connect(source, _LITTLE) as connection, little_memory(3 * _MOST_TEXT):
        tables = [name for (name,) in connection.execute(_TABLES[kind_of(source)]).fetchall()]
        if source.table is None:
            raise InputError(
                "which-table",
                f"{source.name} is a database; name the table too: {source.name}::TABLE; there is {some(tables)}",
            )
        if source.table not in tables:
            raise InputError(
                "no-such-table", f"{source.path!s}: there is no table {source.table!r}{nearest(source.table, tables)}"
            )
        _refuse_endless_view(source, source.table, connection)
        return [name for name, *_ in connection.execute(f"{_select(source, '*')} LIMIT 0").description]


def _select(source: Source, what: str) -> str:
    return f"SELECT {what} FROM {_quote(str(source.table))}"


def collect(source: Source, names: Sequence[str]) -> pl.DataFrame:
    """Read some columns of the table into a Polars frame."""
    query = _select(source, ", ".join(map(_quote, names)))
    with _connect(source) as connection:
        if kind_of(source) == "sqlite":
            return _frame(source, names, connection.execute(query).fetchall())
        types = _types(connection, query)
        arrays = connection.execute(query).fetchnumpy()  # its Arrow streams print of leaks when Python ends
        return pl.DataFrame([_from_numpy(name, arrays[name], types[name]) for name in names])


def batches(source: Source, names: Sequence[str], rows: int) -> Iterator[pl.DataFrame]:
    """Read some columns in batches of ``rows``; DuckDB returns all rows at once (it counts large tables itself)."""
    if kind_of(source) == "duckdb":
        yield collect(source, names)
        return
    with _connect(source) as connection:
        cursor = connection.execute(_select(source, ", ".join(map(_quote, names))))
        while found := cursor.fetchmany(rows):
            yield _frame(source, names, found)


def _frame(source: Source, names: Sequence[str], rows: Sequence[Row]) -> pl.DataFrame:
    values = zip(*rows, strict=True) if rows else [()] * len(names)
    return pl.DataFrame([_series(source, name, column) for name, column in zip(names, values, strict=True)])


@contextmanager
def relation(source: Source) -> Iterator["duckdb.DuckDBPyRelation | None"]:
    """The table of a DuckDB database, to be counted inside DuckDB; None for other databases."""
    if kind_of(source) != "duckdb":
        yield None
        return
    with _connect(source) as connection:
        yield connection.sql(_select(source, "*"))


def rows(source: Source) -> int:
    """The number of rows of the table."""
    with _connect(source) as connection:
        return int(connection.execute(_select(source, "count(*)")).fetchone()[0])


_TABLES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY 1",
    "duckdb": "SELECT table_name FROM information_schema.tables ORDER BY 1",
}


_VIEWS = {
    "sqlite": "SELECT name, sql FROM sqlite_master WHERE type = 'view' OR sql LIKE '% AS %(%'",
    "duckdb": "SELECT view_name, sql FROM duckdb_views() WHERE NOT internal UNION ALL "
    "SELECT table_name, sql FROM duckdb_tables() WHERE sql LIKE '%GENERATED%'",
}
"""Queries for tables that are computed on reading: views, and tables with generated columns."""

_MOST_OF_VIEW, _MOST_OF_RECURSION = 20_000_000, 100_000
"""Most rows of a view, and of a recursive one, whose rows come slowly and may never end."""

_LONGEST, _MOST_TEXT = 1 << 20, 128 << 20
"""Most bytes of one value of a view, and of all its text."""


def _refuse_endless_view(source: Source, name: str, connection: Connection) -> None:
    views = dict(connection.execute(_VIEWS[kind_of(source)]).fetchall())
    if name not in views:
        return
    most = _MOST_OF_RECURSION if name in _recursive(views) else _MOST_OF_VIEW
    few = f"SELECT 1 FROM {_quote(name)} LIMIT {most + 1}"
    if connection.execute(f"SELECT count(*) FROM ({few})").fetchone()[0] > most:
        raise errors.endless_view(source.name, name, f"{most:,} rows")
    if kind_of(source) == "duckdb":
        _refuse_much_text(source, name, connection)


def _recursive(views: Mapping[str, str]) -> set[str]:
    """The views that are recursive, or made of recursive views."""
    found: set[str] = set()
    words = {"recursive"}
    while words:
        more = {view for view, sql in views.items() if any(word.lower() in sql.lower() for word in words)}
        words, found = more - found, found | more
    return found


def _refuse_much_text(source: Source, name: str, connection: Connection) -> None:
    """Refuse a DuckDB view whose text takes more than the little memory that it gets here."""
    import duckdb

    try:
        types = _types(connection, f"SELECT * FROM {_quote(name)}")
        lengths = [f"sum(strlen({_quote(column)}))" for column, type_ in types.items() if type_ == "VARCHAR"]
        found = connection.execute(f"SELECT {', '.join([*lengths, '0'])} FROM {_quote(name)}").fetchone()
        much = sum(filter(None, found)) > _MOST_TEXT
    except duckdb.OutOfMemoryException:
        much = True
    if much:
        raise errors.endless_view(source.name, name, f"{_MOST_TEXT:,} bytes of text")


def _limit_views(source: Source, connection: Connection) -> None:
    """Limit the length of each value and of all text, if SQLite computes the rows."""
    import sqlite3

    if source.table in dict(connection.execute(_VIEWS["sqlite"]).fetchall()):
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        connection.row_factory = _text_limit(source)


def _text_limit(source: Source) -> Callable[[object, Row], Row]:
    total = 0

    def row(_: object, values: Row) -> Row:
        nonlocal total
        total += sum(len(value) for value in values if isinstance(value, str | bytes))
        if total > _MOST_TEXT:
            raise errors.endless_view(source.name, str(source.table), f"{_MOST_TEXT:,} bytes of text")
        return values

    return row


@contextmanager
def _connect(source: Source, options: Mapping[str, str] | None = None) -> Iterator[Connection]:
    connection, problems = _sqlite(source) if kind_of(source) == "sqlite" else _duckdb(source, options or {})
    with closing(connection):
        try:
            if kind_of(source) == "sqlite":
                _limit_views(source, connection)
            yield connection
        except (problems, RuntimeError) as problem:
            if str(problem).lower() in ("interrupted", "query interrupted"):  # how the databases report a signal
                connection.interrupt()  # older releases of DuckDB keep working, and closing would wait for them
                raise KeyboardInterrupt from None
            if not isinstance(problem, problems):
                raise
            if type(problem).__name__ == "PermissionException":
                raise InputError(
                    "outside-database",
                    f"{source.name}: cannot be read: it is a view of something outside its database, which is not "
                    "opened; copy the rows into a table",
                ) from None
            if errors.lacks_memory(problem):
                raise errors.lack_of_memory(errors.first_line(problem)) from None
            raise errors.unreadable_file(source.name, errors.first_line(problem)) from None


def _sqlite(source: Source) -> tuple[Connection, type[Exception]]:
    import sqlite3

    connection = sqlite3.connect(f"file:{quote(os.fsencode(source.path))}?mode=ro", uri=True)
    connection.execute("PRAGMA trusted_schema = OFF")  # a view may call nothing that has effects
    connection.set_progress_handler(lambda: 0, _OFTEN)  # Python only handles Ctrl-C while it runs code of its own
    return connection, sqlite3.Error


def _duckdb(source: Source, options: Mapping[str, str]) -> tuple[Connection, type[Exception]]:
    try:
        import duckdb
    except ImportError:
        raise MissingPartError(
            "missing-duckdb", f"{source.path} is a DuckDB database, which needs the package duckdb: pip install duckdb"
        ) from None
    if source.plain_path != source.path:
        raise errors.unreadable_file(source.name, "DuckDB opens no file whose name is not UTF-8; rename it")
    try:
        connection = duckdb.connect(str(source.path), read_only=True, config={**_NOTHING_OUTSIDE, **options})
        connection.execute("SET enable_progress_bar = false")  # in a session it is printed among our own output
        connection.execute("SET lock_configuration = true")
        return connection, duckdb.Error
    except duckdb.Error as problem:
        raise errors.unreadable_file(source.name, errors.first_line(problem)) from None


_NOTHING_OUTSIDE = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_community_extensions": "false",
}
"""A view in a database from somebody else must not read other files or the network."""

_LITTLE = {"memory_limit": f"{_MOST_TEXT}B"}
"""Memory for the tables behind a view; text that the view generates is not counted in it."""


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _types(connection: Connection, query: str) -> dict[str, str]:
    """The column types of a DuckDB query; before 1.4 its description only has their kinds ("NUMBER")."""
    return {name: type_ for name, type_, *_ in connection.execute(f"DESCRIBE {query}").fetchall()}


def _from_numpy(name: str, array: Array, type_: str) -> pl.Series:
    """Convert a column of DuckDB: missing values are masked, or NaN in an ENUM; huge integers are floats."""
    masked, values = np.ma.getmaskarray(array), np.ma.getdata(array)
    if values.dtype.kind == "O":
        pairs = zip(masked, values, strict=True)
        plain = (None if lost or isinstance(value, float) else value for lost, value in pairs)
        return pl.Series(name, [one.tolist() if isinstance(one, np.ndarray) else one for one in plain])
    if type_ in ("HUGEINT", "UHUGEINT") and (np.abs(values[~masked]) >= 2**53).any():
        raise errors.beyond_64_bits(f"the column {name!r}")
    series = pl.Series(name, values)
    if masked.any():
        series = pl.select(pl.when(pl.Series(~masked)).then(series).alias(name)).to_series()
    return series.dt.replace_time_zone("UTC") if type_ == "TIMESTAMP WITH TIME ZONE" else series


def _series(source: Source, name: str, values: Row) -> pl.Series:
    """Convert a column of SQLite, which checks no types: whole numbers mix with fractions, others are refused."""
    types = {type(value) for value in values} - {type(None)}
    kinds: dict[frozenset[type], type[pl.DataType]] = {
        frozenset({int}): pl.Int64,
        frozenset({float}): pl.Float64,
        frozenset({int, float}): pl.Float64,
        frozenset({str}): pl.String,
        frozenset(): pl.Null,
    }
    dtype = kinds.get(frozenset(types))
    if dtype is None:
        raise InputError(
            "mixed-column",
            f"{source.name}: the column {name!r} holds values of the types "
            f"{', '.join(sorted(type_.__name__ for type_ in types))}; make it all numbers or all text",
        )
    if len(types) > 1:
        long = next((value for value in values if isinstance(value, int) and abs(value) > LARGEST), None)
        if long is not None:
            raise errors.rounded_values(source.name, name, long)
    return pl.Series(name, values, dtype=dtype, strict=False)
