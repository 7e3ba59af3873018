"""JSON lines: one object for each row. Polars reads them; a slow second look names the line that is wrong."""

import json
import math
import re
from functools import partial

import polars as pl

from stakes import errors
from stakes.engines.files.sources import Source, literally
from stakes.engines.older_polars import DIES_OF_BRACKETS

_NAME = re.compile(rb'"([^"\\\n]*)"\s*:')
_MOST_BYTES = 64 << 20
"""Of a list that is read at once."""

_MANY_BRACKETS = 500
_MOST_DIGITS = 4_000
_MOST_COLUMNS = 10_000
"""Polars takes minutes to find the types of more of them."""
_LOOKED_AT, _EVERY = 1 << 20, 16 << 20
"""Names are looked for in the first bytes, and then in some at every so many."""


def scan(source: Source) -> pl.LazyFrame:
    """Scan with the types that all lines together need."""
    if DIES_OF_BRACKETS:
        _refuse_brackets(source)
    _refuse_many_columns(source)
    return pl.scan_ndjson(literally(source.plain_path), infer_schema_length=None)


def _refuse_brackets(source: Source) -> None:
    """Refuse brackets within each other that are too many for Python's reader, before Polars sees them."""
    with source.open() as file:
        many = any(line.count(b"[") + line.count(b"{") > _MANY_BRACKETS for line in file)
    if many and (problem := fault(source)):
        raise problem


def _refuse_many_columns(source: Source) -> None:
    names: set[bytes] = set()
    with source.open() as file:
        for start in (*range(0, _EVERY, _LOOKED_AT), *range(_EVERY, source.size, _EVERY)):
            file.seek(start)
            names.update(_NAME.findall(file.read(_LOOKED_AT)))
            if len(names) > _MOST_COLUMNS:
                raise errors.too_many_columns(source.name, "the lines name", _MOST_COLUMNS)


def fault(source: Source) -> errors.InputError | None:
    """The first line that is not an object of JSON, or has a number that no float64 holds."""
    with source.open() as file:
        for number, line in enumerate(file, 1):
            try:
                row = _parse(line.rstrip()) if line.strip() else {}
            except UnicodeDecodeError:
                return errors.not_utf8(source.name, number)
            except json.JSONDecodeError as problem:
                return errors.unreadable_file(source.name, f"line {number:,}, column {problem.colno:,}: {problem.msg}")
            except RecursionError:
                return errors.unreadable_file(source.name, f"line {number:,} is nested too deep")
            except ValueError as problem:
                return errors.unreadable_file(source.name, f"line {number:,}: {problem}")
            if not isinstance(row, dict):
                return errors.unreadable_file(source.name, f"line {number:,} is not one object such as {{'y': 1}}")
    return None


def _finite(text: str) -> float:
    if not math.isfinite(float(text)):
        raise ValueError(f"{text} is beyond what a float64 holds")
    return float(text)


def _whole(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"a number has {len(text):,} digits, more than {_MOST_DIGITS:,}")
    return int(text)


def _no_json(text: str) -> None:
    raise ValueError(f"{text} is no JSON; write null for a missing value")


_parse = partial(json.loads, parse_float=_finite, parse_int=_whole, parse_constant=_no_json)


def read_array(source: Source) -> pl.LazyFrame:
    """Read a file that is one list of objects, or else lines of JSON."""
    with source.open() as file:
        text = file.read(_MOST_BYTES + 1)
    if len(text) > _MOST_BYTES:
        raise errors.unreadable_file(
            source.name, f"it has more than {_MOST_BYTES:,} bytes; write one object in each line"
        )
    if not text.lstrip().startswith(b"["):
        source.refuse_endless(False)
        return scan(source)
    try:
        rows = _parse(text)
    except (ValueError, RecursionError) as problem:
        why = "it is nested too deep" if isinstance(problem, RecursionError) else str(problem)
        raise errors.unreadable_file(source.name, why) from None
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise errors.unreadable_file(source.name, "it is not a list of objects such as {'y': 1}")
    return pl.DataFrame(rows, infer_schema_length=None).lazy()
