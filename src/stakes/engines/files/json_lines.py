"""JSON: an object for each row, in lines, or all in one document. A slow second pass finds the line that is wrong."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import polars as pl

from stakes import errors
from stakes.engines.conditions.tree import LARGEST
from stakes.engines.files.sources import Source, literally
from stakes.engines.older_polars import DIES_OF_BRACKETS
from stakes.errors import InputError, short
from stakes.text import named_once

_NAME = re.compile(rb'"([^"\\\n]*)"\s*:')
_MOST_BYTES = 64 << 20
"""Largest document that is read at once."""

_MANY_BRACKETS = 500
_MOST_DIGITS = 4_000
_MOST_COLUMNS = 10_000
"""With more columns Polars takes minutes to find their types."""
_BLOCK, _EVERY = 1 << 20, 16 << 20
"""Names are searched for in the first bytes, and then in one block of every so many."""

_CHANGED: dict[type[pl.DataType], bytes] = {pl.String: rb"\s*:\s*[-0-9tf]", pl.Float64: rb"\s*:\s*-?[0-9]{16}"}
"""What follows the name of a column if Polars may have converted a value to this type."""


def scan(source: Source) -> pl.LazyFrame:
    """Scan lines, with types that fit all of them."""
    if DIES_OF_BRACKETS:
        _refuse_brackets(source)
    _refuse_many_columns(source)
    return pl.scan_ndjson(literally(source.plain_path), infer_schema_length=None)


def _refuse_brackets(source: Source) -> None:
    """Refuse nesting that is too deep for Python's reader, before Polars sees it."""
    with source.open() as file:
        many = any(line.count(b"[") + line.count(b"{") > _MANY_BRACKETS for line in file)
    if many and (problem := fault(source)):
        raise problem


def _refuse_many_columns(source: Source) -> None:
    names: set[bytes] = set()
    with source.open() as file:
        for start in (*range(0, _EVERY, _BLOCK), *range(_EVERY, source.size, _EVERY)):
            file.seek(start)
            names.update(_NAME.findall(file.read(_BLOCK)))
            if len(names) > _MOST_COLUMNS:
                raise errors.too_many_columns(source.name, "the lines name", _MOST_COLUMNS)


def fault(source: Source) -> errors.InputError | None:
    """The error of the first line that is not a JSON object, or has a number beyond float64."""
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


_parse = partial(
    json.loads, parse_float=_finite, parse_int=_whole, parse_constant=_no_json, object_pairs_hook=named_once
)


def refuse_ambiguous(source: Source, types: Mapping[str, pl.DataType]) -> None:
    """Refuse lines that name a column twice, or whose value Polars has converted to suit others.

    Only lines whose bytes look suspicious are parsed; large files are checked in blocks first.
    """
    keys = [json.dumps(name.rpartition(".")[2], ensure_ascii=False).encode() for name in types]
    changed = [
        re.compile(re.escape(key) + _CHANGED[type(t)])
        for key, t in zip(keys, types.values(), strict=True)
        if type(t) in _CHANGED
    ]
    first, small = 1, source.size <= _MOST_BYTES
    with source.open() as file:
        while block := file.read(_EVERY) + file.readline():
            lines = block.count(b"\n")
            if small or any(block.count(key) != lines for key in keys) or any(one.search(block) for one in changed):
                for number, line in enumerate(block.split(b"\n"), first):
                    if any(line.count(key) > 1 for key in keys) or any(one.search(line) for one in changed):
                        _look(source, number, line, types)
            first += lines


def _look(source: Source, number: int, line: bytes, types: Mapping[str, pl.DataType]) -> None:
    try:
        row = _parse(line)
    except (ValueError, RecursionError) as problem:
        raise errors.unreadable_file(source.name, f"line {number:,}: {problem}") from None
    _refuse_changed(f"{source.name}, line {number:,}", row, types)


def _refuse_changed(place: str, row: Mapping[str, object], types: Mapping[str, pl.DataType]) -> None:
    """Refuse a number that became text because others are text, or was rounded because others are fractions."""
    for name, dtype in types.items():
        value: object = row
        for part in [name] if name in row else name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if isinstance(dtype, pl.String) and isinstance(value, int | float):
            raise InputError(
                "number-beside-text",
                f"{place}: {short(repr(name))} is {json.dumps(value)} and elsewhere text; make it all numbers or all "
                "text",
            )
        if isinstance(dtype, pl.Float64) and isinstance(value, int) and abs(value) > LARGEST:
            raise errors.rounded_values(place, name, value)


def read_array(source: Source) -> pl.LazyFrame:
    """Read a file that is one document with all rows, or JSON lines."""
    rows = _array(source)
    if rows is None:
        source.refuse_endless(False)
        return scan(source)
    return pl.DataFrame(rows, infer_schema_length=None).lazy()


def _array(source: Source) -> list[dict[str, object]] | None:
    """The rows of a file that is one document; None if it holds lines."""
    with source.open() as file:
        text = file.read(_MOST_BYTES + 1)
    if len(text) > _MOST_BYTES:
        raise errors.unreadable_file(
            source.name, f"it has more than {_MOST_BYTES:,} bytes; write one object in each line"
        )
    if text.lstrip().startswith(b"{"):
        with suppress(ValueError, RecursionError):  # JSON lines, whose errors name the line
            return _rows_in(_parse(text))
        return None
    if not text.lstrip().startswith(b"["):
        return None
    try:
        rows: list[dict[str, object]] = _parse(text)
    except (ValueError, RecursionError) as problem:
        why = "it is nested too deep" if isinstance(problem, RecursionError) else str(problem)
        raise errors.unreadable_file(source.name, why) from None
    if not _are(dict, rows):
        raise errors.unreadable_file(source.name, "it is not a list of objects such as {'y': 1}")
    return rows


def _rows_in(document: dict[str, Any]) -> list[dict[str, object]] | None:
    """The rows in an object, as libraries write tables: a list of rows, lists by column, or numbered rows."""
    names, values = document.get("columns", ()), list(document.values())
    tables: list[list[dict[str, object]]] = [value for value in values if _are(dict, value)]
    if _are(str, names) and _are(list, document.get("data")):
        return [dict(zip(names, row, strict=True)) for row in document["data"]]
    if len(tables) == 1:
        return tables[0]
    if _are(list, values) and len({len(value) for value in values}) == 1:
        return [dict(zip(document, row, strict=True)) for row in zip(*values, strict=True)]
    if not _are(dict, values) or len({tuple(value) for value in values}) > 1:
        return None
    if _are_numbers(values[0]):
        return [{name: column[row] for name, column in document.items()} for row in values[0]]
    return values if _are_numbers(document) else None


def _are(kind: type, values: object) -> bool:
    return isinstance(values, list) and bool(values) and all(isinstance(value, kind) for value in values)


def _are_numbers(names: Iterable[str]) -> bool:
    """Whether these are the numbers of rows, from 0 on."""
    return list(names) == [str(row) for row, _ in enumerate(names)]


def refuse_ambiguous_array(source: Source, types: Mapping[str, pl.DataType]) -> None:
    """Do the same for a file that is one document with all rows, or JSON lines."""
    rows = _array(source)
    if rows is None:
        refuse_ambiguous(source, types)
    for number, row in enumerate(rows or (), 1):
        _refuse_changed(f"{source.name}, row {number:,}", row, types)
