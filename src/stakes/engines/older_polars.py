"""Features of Polars since 1.27, the oldest supported release, and replacements for older releases."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

_HAS_BATCHES = hasattr(pl.LazyFrame, "collect_batches")

STREAMING: dict[str, Any] = {"engine": "streaming"} if _HAS_BATCHES else {}
"""Options that let ``collect`` read in batches; older releases failed on categories, and read all rows at once."""

DIES_OF_BRACKETS = int(pl.__version__.partition(".")[0]) < 2
"""Whether deeply nested JSON ends the process; Polars 2.0 refuses it."""


def batches(lazy: pl.LazyFrame, rows: int) -> Iterator[pl.DataFrame]:
    """Read batches of ``rows``, in their order.

    Before Polars 1.34 all but the first go through a file on disk, so that they need not fit into memory.
    """
    if _HAS_BATCHES:
        yield from lazy.collect_batches(chunk_size=rows, engine="streaming")
        return
    first = lazy.head(rows).collect()
    yield first
    if len(first) == rows:
        yield from _by_way_of_disk(lazy, rows)


def _by_way_of_disk(lazy: pl.LazyFrame, rows: int) -> Iterator[pl.DataFrame]:
    with tempfile.TemporaryDirectory(prefix="stakes-") as folder:
        written = Path(folder) / "rows.parquet"
        lazy.sink_parquet(written, compression="lz4", row_group_size=rows)
        kept, start = pl.scan_parquet(written, glob=False), rows
        while len(frame := kept.slice(start, rows).collect()):
            yield frame
            start += rows
