"""Small files that people write by hand: their content, or one line about why they cannot be read."""

import re

from stakes import errors
from stakes.errors import InputError, rows_text, short, some
from stakes.tallies.checks import as_path
from stakes.tallies.fields import Content

_LARGEST, _DEEPEST = 1_000_000, 1_000
"""Bytes of a file, and dots in a line: Python takes minutes over a name of very many parts."""

_SEPARATED = (".csv", ".tsv", ".tab")
"""How the names of separated text end."""


def is_separated(path: object) -> bool:
    """Whether the name of a file says that it is separated text."""
    return str(path).lower().endswith(_SEPARATED)


def read_toml(path: object) -> Content:
    """Return what a TOML file says."""
    import tomllib  # only files need it

    text = _read(path)
    try:
        if max(line.count(".") for line in text.split("\n")) > _DEEPEST:
            raise RecursionError
        return tomllib.loads(text)
    except RecursionError:
        raise errors.unreadable_file(str(path), "it is nested too deep") from None
    except tomllib.TOMLDecodeError as problem:
        raise errors.unreadable_file(str(path), _what_it_is(text, str(problem))) from None
    except ValueError:
        raise errors.unreadable_file(str(path), "it holds a number of thousands of digits") from None


def _what_it_is(text: str, problem: str) -> str:
    """Say what was given in place of TOML, if it is something known, or else which line is wrong."""
    (first, *_) = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    advice = "and TOML is wanted; write lines like miss = 5 and false_alarm = 1"
    if re.match(r'\{|\[+\s*[{"\d-]', first):
        return f"it is JSON, {advice}"
    if re.search("[,;\t]", first) and not re.search(r"[=\[#]", first):
        return f"it is separated text (its first line is {short(repr(first))}), {advice}, or name a matrix *.csv"
    place = re.search(r"at line (\d+)", problem)
    number = int(place[1]) if place else len(text.splitlines())
    return f"line {number:,} is {short(repr(text.splitlines()[number - 1]))}, {advice}"


def read_matrix(path: object) -> dict[str, dict[str, float | str]]:
    """Return a matrix with names as row → column → number, of a separated text: names on top and on the left.

    What is no number stays a text. Semicolons may come with decimal commas.
    """
    import csv  # only files need it

    text = _read(path)
    sign = next((sign for sign in "\t;," if sign in text.partition("\n")[0]), ",")
    try:
        lines = [[cell.strip() for cell in line] for line in csv.reader(text.splitlines(), delimiter=sign) if any(line)]
    except csv.Error:
        raise errors.unreadable_file(str(path), "it is no table of few short values") from None
    (_, *columns), *rows = lines or [[""]]
    names = [row[0] for row in rows]
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    ragged = [row for row in rows if len(row) != len(columns) + 1]
    if len(rows) < 2 or len(columns) < 2 or twice or ragged or len(set(columns)) < len(columns):
        below = f"{rows_text(len(rows))} below {len(columns)} name{'s' * (len(columns) != 1)}"
        seen = f"{some(twice[:1])} twice on the left" if twice else below
        raise InputError(
            "no-matrix-in-file",
            f"{path!s} is no cost matrix ({seen}); write a line of decisions, and below it a line for each true class: "
            "its name, and what each decision costs",
        )
    return {
        name: {column: _number(cell, sign) for column, cell in zip(columns, cells, strict=True)}
        for name, *cells in rows
    }


def _number(cell: str, sign: str) -> float | str:
    try:
        return float(cell.replace(",", ".") if sign != "," else cell)
    except ValueError:
        return cell


def _read(path: object) -> str:
    """The text of a file in UTF-8, with a mark at its beginning or without."""
    file = as_path("path", path)
    try:
        if file.stat().st_size > _LARGEST:
            raise errors.unreadable_file(str(path), f"it has more than {_LARGEST:,} bytes, so it is no list of words")
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise errors.no_such_file(str(path)) from None
    except UnicodeDecodeError as problem:
        line = problem.object.count(b"\n", 0, problem.start) + 1
        raise errors.unreadable_file(str(path), f"line {line:,} is not UTF-8; save it as UTF-8") from None
    except OSError as problem:
        raise errors.unreadable_file(str(path), str(problem.strerror)) from None
