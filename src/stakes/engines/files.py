"""Prediction files: CSV and Parquet, read by Polars."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stakes import errors

MISSING = ["", "NA", "N/A", "NULL", "null", "NaN", "nan"]
"""How text files write a missing value; no class is called like that."""

_NUMBERS = ("score", "weight")


def read(path: Path, wanted: dict[str, str]) -> dict[str, Any]:
    """Return argument → column of the file, for the arguments that name one."""

    def choose(lazy: Any) -> Any:
        available = lazy.collect_schema().names()
        for argument, name in wanted.items():
            if name not in available:
                raise errors.no_such_column(argument, name, available)
        return lazy.select(list(dict.fromkeys(wanted.values())))

    frame = _collected(path, MISSING, choose)
    return {argument: _typed(frame[name], argument) for argument, name in wanted.items()}


def read_whole(path: Path) -> Any:
    """Return the file as a Polars frame with all its columns; those of a text file stay text as it stands."""
    return _collected(path, [], lambda lazy: lazy)


def write_whole(frame: Any, path: Path) -> None:
    """Write a Polars frame as CSV or Parquet; the file appears whole or not at all."""
    write = {".csv": frame.write_csv, ".parquet": frame.write_parquet}.get(path.suffix.lower())
    if write is None:
        raise errors.unknown_file_kind(str(path))
    with written_beside(path) as place:
        write(place)


def _collected(path: Path, missing: list[str], choose: Callable[[Any], Any]) -> Any:
    import polars as pl

    if not path.is_file():
        raise (
            errors.unreadable_file(str(path), "it is a directory") if path.is_dir() else errors.no_such_file(str(path))
        )
    try:
        return choose(_scan(path, missing)).collect()
    except (pl.exceptions.PolarsError, OSError, UnicodeError) as problem:
        raise errors.unreadable_file(str(path), str(problem).strip().splitlines()[0]) from None


def _scan(path: Path, missing: list[str]) -> Any:
    import polars as pl

    kind = path.suffix.lower()
    if kind == ".parquet":
        return pl.scan_parquet(path, glob=False)
    if kind == ".csv":
        return _scan_csv(path, missing)
    raise errors.unknown_file_kind(str(path))


def _scan_csv(path: Path, missing: list[str]) -> Any:
    """Scan with the header as it is meant: quotes undone, and no name twice."""
    import polars as pl

    options: Any = {"infer_schema": False, "glob": False}
    first = pl.scan_csv(path, has_header=False, n_rows=1, **options).collect()
    names = [name or "" for name in first.row(0)]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise errors.duplicate_columns(twice)
    lazy = pl.scan_csv(path, null_values=missing, **options)
    return lazy.rename(dict(zip(lazy.collect_schema().names(), names, strict=True)))


def _typed(column: Any, argument: str) -> Any:
    """Labels in text files stay text; scores and weights must be numbers."""
    import polars as pl

    if argument not in _NUMBERS or column.dtype != pl.String:
        return column
    numbers = column.str.strip_chars().cast(pl.Float64, strict=False)
    wrong = (numbers.is_null() & column.is_not_null()).arg_true()
    if len(wrong):
        raise errors.not_a_number(argument, len(wrong), int(wrong[0]), column[int(wrong[0])])
    return numbers


@contextmanager
def written_beside(path: Path) -> Iterator[Path]:
    """Give a place beside the target to write to, and rename it into place when all went well: whole, or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield beside
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
