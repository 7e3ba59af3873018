"""Files, databases and sizes beyond reason."""

import re
from collections.abc import Sequence

from stakes.errors import EmptyError, InputError
from stakes.errors.mentions import Pass
from stakes.errors.words import rows_text, short

_MOST_LINES = 20
"""Most lines that are named."""


def no_such_file(path: str) -> InputError:
    what = "there is no such file; check the name and the folder"
    path = re.sub(r"^(\w{2,}:/)(?=[^/])", r"\1/", path)  # of the two strokes of an address a path keeps one
    if re.match(r"\w{2,}://", path):
        what = "files are read from this machine, not from the network; save it here first, and name that file"
    elif path.startswith("~"):
        what = "there is no such file, and ~ is a sign of the shell's; write the whole path"
    return InputError("no-such-file", f"{path}: {what}")


def unreadable_file(path: str, why: str) -> InputError:
    hint = "" if ";" in why else "; mend the file, or name another one"
    return InputError("unreadable-file", f"{path}: cannot be read: {why}{hint}")


def first_line(problem: BaseException | str) -> str:
    """The first line of a library's message, without its advice to programmers."""
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0]


def empty_lines(path: str, lines: Sequence[int]) -> InputError:
    if len(lines) == 1:
        return InputError("ragged-line", f"{path}: line {lines[0]:,} is empty; delete it")
    shown = ", ".join(f"{line:,}" for line in lines[:_MOST_LINES])
    more = f" and {len(lines) - _MOST_LINES:,} more" if len(lines) > _MOST_LINES else ""
    return InputError("ragged-line", f"{path}: lines {shown}{more} are empty; delete them")


def ragged_line(path: str, line: int, fields: int, width: int) -> InputError:
    seen = "1 field" if fields == 1 else f"{fields:,} fields"
    hint = "; a value that has a comma (a decimal comma?) must stand in quotes" if fields > width else ""
    return InputError(
        "ragged-line", f"{path}: line {line:,} has {seen} and the header has {width:,}; mend that line{hint}"
    )


def title_lines(path: str, where: str, above: int) -> InputError:
    return InputError(
        "title-lines", f"{path}: the columns are named in {where}, below something else; pass ", Pass("skip", above)
    )


def not_utf8(path: str, line: int) -> InputError:
    return InputError(
        "not-utf8",
        f"{path}: line {line:,} is not UTF-8; pass ",
        Pass("encoding", "windows-1252"),
        " if a program of Windows wrote it, or save the file as UTF-8",
    )


def beyond_float64(value: str, problem: InputError) -> InputError:
    spelled = value.strip().lstrip("+-").lower().startswith("inf")
    more = f"; {short(repr(value))} is beyond what a float64 holds"
    return problem if spelled else InputError("beyond-float64", problem.text, more)


def rounded_values(place: str, column: str, number: int) -> InputError:
    return InputError(
        "rounded-values",
        f"{place}: the column {short(repr(column))} holds {short(str(number))}, beyond 2**53, beside fractions, which "
        "would round it; make it all whole numbers, or write it as text",
    )


def rows_left_out(count: int) -> str:
    return f"{rows_text(count)} with a missing value or weight 0 {'was' if count == 1 else 'were'} left out"


def nothing_left(count: int) -> EmptyError:
    problem = EmptyError(
        "nothing-left", f"something is missing in every one of {rows_text(count)}; there is nothing to evaluate"
    )
    problem.dropped = count
    return problem


def too_many_columns(path: str, where: str, most: int) -> InputError:
    return InputError("too-many-columns", f"{path}: {where} more than {most:,} columns; keep those that are needed")


def endless_line(path: str, most: int) -> InputError:
    return InputError(
        "endless-line",
        f"{path}: a line has more than {most:,} bytes, so it holds no rows; mend the file, or name another",
    )


def other_ending(path: str, what: str, endings: Sequence[str], choosing: Sequence[str]) -> InputError:
    ends = ", ".join(endings[:-1]) + f" or {endings[-1]}" if len(endings) > 1 else endings[0]
    others = f" ({', '.join(choosing)} choose another form)" if choosing else ""
    return InputError("other-ending", f"{path}: the name of {what} ends in {ends}{others}; give it such a name")


def endless_view(name: str, view: str, most: str) -> InputError:
    return InputError(
        "endless-view",
        f"{name}: the view {short(repr(view))} has more than {most}, or never ends; make a table of its rows",
    )
