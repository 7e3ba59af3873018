"""Rows on disk: writes rows of another engine that cannot add them up, and opens files as Polars tables.

The engine is queried once for any number of passes, and the rows keep one order: parallel engines return another order
each time, but two models must be compared row by row.
"""

import glob
import importlib
import itertools
import logging
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from stakes.engines.columns import Data
from stakes.engines.files.kinds import as_numbers, reading
from stakes.engines.files.reading import Files
from stakes.engines.files.sources import FileNames, RowsOnDisk
from stakes.engines.lazy.queries import QuerySource
from stakes.engines.older_polars import batches

_LABELS = ("truth", "prediction", "cluster", "by")
_NUMBERS = 1 << 22
"""Approximate number of values per batch."""


def bring_to_disk(data: Data, named: Mapping[str, str], where: str | None, most: int) -> RowsOnDisk | None:
    """Write columns (argument → name) of rows that satisfy a condition; None if there are at most ``most`` values."""
    source = QuerySource.of(data, named, where)
    rows, names = source.count(), {source.places[argument]: name for argument, name in named.items()}
    source.refuse_nothing(rows)
    if rows * len(names) <= most:
        return None
    folder = tempfile.TemporaryDirectory(prefix="stakes-")
    if source.frame.implementation.is_ibis():  # its backend writes the file
        table = source.frame.select(*(nw.col(place).alias(name) for place, name in names.items()))
        table.to_native().to_parquet(Path(folder.name) / "rows.parquet")
    else:
        for number, batch in enumerate(_batches(source, max(_NUMBERS // len(names), 1))):
            part = batch.rename({place: names[place] for place in batch.columns})
            part.write_parquet(Path(folder.name) / f"{number:06}.parquet", compression="lz4")
    logging.getLogger("stakes").info("%d rows of %d columns left their engine in batches", rows, len(names))
    return RowsOnDisk(f"{glob.escape(folder.name)}/*.parquet", folder)


def are_of_one_kind(data: FileNames) -> bool:
    """Whether all files are separated text, or none is."""
    return len({table.separated is None for table in Files.open(data, {}).tables}) == 1


@contextmanager
def table_of(files: Files, rows: int) -> Iterator[pl.LazyFrame | None]:
    """The rows of files that satisfy their condition as a lazy table; None if a column has several kinds.

    Text, which has no types, is written to temporary files in batches of ``rows``.
    """
    wanted, typed = files.wanted, [one.lazy for one in files.tables if one.dialect is None and one.lazy is not None]
    with reading(files.tables[0].source), tempfile.TemporaryDirectory(prefix="stakes-") as folder:
        if files.condition is not None or files.tables[0].source.format.percent or len(typed) < len(files.tables):
            typed = []
            for number, batch in enumerate(files.batches(rows)):
                columns = reversed(batch.items())  # a column that is named twice is read as its first argument
                part = pl.DataFrame({wanted[name]: _plain(name, column) for name, column in columns})
                part.write_parquet(Path(folder) / f"{number:06}.parquet", compression="lz4")
                typed += [pl.scan_parquet(Path(folder) / f"{number:06}.parquet")] if len(part) else []
        frames = [lazy.select(*dict.fromkeys(wanted.values())) for lazy in typed]
        kinds = {tuple(dtype.is_numeric() or dtype for dtype in one.collect_schema().values()) for one in frames}
        try:
            yield pl.concat(frames, how="vertical_relaxed") if len(kinds) == 1 else None
        except nw.exceptions.NarwhalsError as problem:  # an error of Polars
            raise pl.exceptions.ComputeError(str(problem)) from None


def _plain(name: str, column: pl.Series) -> pl.Series:
    """A column for engines: numbers, unless it holds labels or other text."""
    column = column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum) else column
    return column if name.startswith(_LABELS) else as_numbers(column)


def _batches(source: QuerySource, rows: int) -> Iterator[pl.DataFrame]:
    """Read batches of ``rows``, or partitions."""
    frame = source.frame.select(*dict.fromkeys(source.places.values()))
    native, engine = frame.to_native(), frame.implementation
    if engine.is_polars():
        return batches(native, rows)
    if engine.is_duckdb():
        read = getattr(native, "to_arrow_reader", None) or native.fetch_arrow_reader  # its name before 1.5
        return map(pl.DataFrame, read(rows))
    if engine.is_dask():
        dask: Any = importlib.import_module("dask")
        parts = (dask.compute(part)[0] for part in native.to_delayed())
        return (pl.from_pandas(part) for part in parts if len(part))
    kinds = {name: _KINDS.get(str(dtype)) for name, dtype in frame.collect_schema().items()}
    return _of_rows(native.toLocalIterator(), kinds, rows)


_KINDS = {"Boolean": pl.Boolean(), "String": pl.String(), "Float64": pl.Float64(), "Float32": pl.Float32()}
_KINDS |= {f"Int{bits}": pl.Int64() for bits in (8, 16, 32, 64)}


def _of_rows(rows: Iterator[Any], kinds: Mapping[str, pl.DataType | None], most: int) -> Iterator[pl.DataFrame]:
    """Collect single rows into frames with columns of the same types."""
    while some := list(itertools.islice(rows, most)):
        yield pl.DataFrame(some, schema=dict(kinds), orient="row", infer_schema_length=None)
