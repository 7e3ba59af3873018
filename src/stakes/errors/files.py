"""Files, databases and sizes beyond reason."""

from collections.abc import Sequence

from stakes.errors import EmptyError, InputError, MissingPartError
from stakes.errors.words import nearest, rows_text, short, some


def no_such_file(path: str) -> InputError:
    return InputError(f"{path}: there is no such file; check the name and the folder")


def unreadable_file(path: str, why: str) -> InputError:
    hint = "" if ";" in why else "; mend the file, or name another one"
    return InputError(f"{path}: cannot be read: {why}{hint}")


def first_line(problem: BaseException | str) -> str:
    """What a library said, without its advice to programmers."""
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0]


def in_file(place: str, problem: InputError) -> InputError:
    return InputError(f"{place}: {problem}")


def unreadable_kind(path: str, kinds: Sequence[str]) -> InputError:
    return InputError(
        f"{path}: the name does not end in {', '.join(kinds[:-1])} or {kinds[-1]}; convert the file to one of these"
    )


def no_file_matches(pattern: str) -> InputError:
    return InputError(f"{pattern}: there is no such file, and none that matches this pattern; check the folder")


def file_given_twice(path: str) -> InputError:
    return InputError(f"{path}: the file is given twice, and its rows would count twice; name it once")


def changed_while_read(path: str) -> InputError:
    return InputError(f"{path}: the file changed while it was read; read it when nobody writes it")


def different_columns(path: str, other: str, lacking: Sequence[str]) -> InputError:
    kind = "column" if len(lacking) == 1 else "columns"
    return InputError(f"{path} lacks the {kind} {some(lacking)} that {other} has; give files with the same columns")


def different_kinds(argument: str, path: str, kind: str, other: str, other_kind: str) -> InputError:
    return InputError(f"{argument} holds {kind} in {path} and {other_kind} in {other}; write it alike in all files")


def other_separator(path: str, separator: str, header: str) -> InputError:
    return InputError(
        f"{path}: the header {short(repr(header))} is one column, so something else than {separator!r} separates the "
        f"fields; save the file with {separator!r} between them"
    )


def mixed_separators(path: str, header: str) -> InputError:
    return InputError(
        f"{path}: the header {short(repr(header))} seems to be separated by ';'; save the file with ',' between the "
        "fields and '.' in numbers"
    )


def no_header(path: str, names: Sequence[str]) -> InputError:
    return InputError(
        f"{path}: the first line holds only numbers ({some(names)}), so the header is missing; write the names of the "
        "columns there"
    )


def ragged_line(path: str, line: int, fields: int, width: int) -> InputError:
    if not fields:
        return InputError(f"{path}: line {line:,} is empty; delete it")
    seen = "1 field" if fields == 1 else f"{fields:,} fields"
    hint = "; a value that has a comma (a decimal comma?) must stand in quotes" if fields > width else ""
    return InputError(f"{path}: line {line:,} has {seen} and the header has {width:,}; mend that line{hint}")


def stray_quote(path: str, line: int) -> InputError:
    return InputError(
        f"{path}: line {line:,} has a quote within a value; write the quote twice, and the whole value in quotes"
    )


def not_utf8(path: str, line: int) -> InputError:
    return InputError(f"{path}: line {line:,} is not UTF-8 (Latin-1 or UTF-16, perhaps); save the file as UTF-8")


def nul_bytes(path: str, line: int) -> InputError:
    return InputError(f"{path}: line {line:,} has a NUL byte, so the file is damaged or no UTF-8; save it as UTF-8")


def beyond_float64(value: str, problem: InputError) -> InputError:
    spelled = value.strip().lstrip("+-").lower().startswith("inf")
    return problem if spelled else InputError(f"{problem}; {short(repr(value))} is beyond what a float64 holds")


def which_table(path: str, tables: Sequence[str]) -> InputError:
    return InputError(f"{path} is a database; name the table too: {path}::TABLE; there is {some(tables)}")


def no_such_table(path: str, table: str, tables: Sequence[str]) -> InputError:
    return InputError(f"{path}: there is no table {table!r}{nearest(table, tables)}")


def no_database(path: str) -> InputError:
    return InputError(f"{path}: this is neither a SQLite nor a DuckDB database, so it has no tables; leave :: out")


def mixed_column(path: str, column: str, types: Sequence[str]) -> InputError:
    return InputError(
        f"{path}: the column {column!r} holds values of the types {', '.join(types)}; make it all numbers or all text"
    )


def rounded_values(path: str, column: str, number: int) -> InputError:
    return InputError(
        f"{path}: the column {column!r} holds {short(str(number))}, beyond 2**53, beside fractions, which would round "
        "it; make it all whole numbers, or write it as text"
    )


def missing_duckdb(path: str) -> MissingPartError:
    return MissingPartError(
        f"{path} is a DuckDB database, which needs the package duckdb: pip install 'stakes[duckdb]'"
    )


def outside_database(path: str) -> InputError:
    return InputError(
        f"{path}: cannot be read: it is a view of something outside its database, which is not opened; copy the rows "
        "into a table"
    )


def unknown_missing(missing: object) -> InputError:
    return InputError(f"missing={short(repr(missing))} is not known; give 'error' or 'drop'")


def rows_without_segment(rows: float) -> str:
    return (
        f"{rows:,.6g} rows are in no segment of their own: small segments were put together, or left out, when they "
        "were counted; the others may lack rows"
    )


def rows_left_out(count: int) -> str:
    return f"{rows_text(count)} with a missing value {'was' if count == 1 else 'were'} left out"


def nothing_left(count: int) -> EmptyError:
    problem = EmptyError(f"something is missing in every one of {rows_text(count)}; there is nothing to evaluate")
    problem.dropped = count
    return problem


def too_many_columns(path: str, where: str, most: int) -> InputError:
    return InputError(f"{path}: {where} more than {most:,} columns; keep those that are needed")


def too_many_segments(segments: int, classes: int) -> InputError:
    return InputError(
        f"by= makes {segments:,} segments of {classes:,} classes each, which is more than memory holds; group the "
        "segments, or the classes"
    )


def endless_line(path: str, most: int) -> InputError:
    return InputError(
        f"{path}: a line has more than {most:,} bytes, so it holds no rows; mend the file, or name another"
    )


def endless_blanks(path: str, most: int) -> InputError:
    return InputError(f"{path}: more than {most:,} bytes of it are empty lines; mend the file, or name another")


def endless_pipe(path: str, most: int) -> InputError:
    return InputError(f"{path}: more than {most:,} bytes come out of it, or it never ends; save them as a file first")


def open_quote(path: str, line: int, most: int) -> InputError:
    return InputError(
        f"{path}: line {line:,} opens a quote that is not closed within {most:,} bytes; mend that line, or write "
        "quotes within a value twice"
    )


def would_overwrite(path: str, what: str) -> InputError:
    return InputError(f"{path}: that is the file with the {what}, which is never written over; name another one")


def two_outputs(path: str, one: str, other: str) -> InputError:
    return InputError(f"{path}: {one} and {other} would write the same file; name two")


def is_a_folder(path: str) -> InputError:
    return InputError(f"{path} is a folder; name a file in it")


def no_such_folder(path: str) -> InputError:
    return InputError(f"{path}: the folder to write to does not exist; make it first")


def other_ending(path: str, what: str, endings: Sequence[str], choosing: Sequence[str]) -> InputError:
    ends = ", ".join(endings[:-1]) + f" or {endings[-1]}" if len(endings) > 1 else endings[0]
    others = f" ({', '.join(choosing)} choose another form)" if choosing else ""
    return InputError(f"{path}: the name of {what} ends in {ends}{others}; give it such a name")


def endless_view(name: str, view: str, most: str) -> InputError:
    return InputError(
        f"{name}: the view {short(repr(view))} has more than {most}, or never ends; make a table of its rows"
    )
