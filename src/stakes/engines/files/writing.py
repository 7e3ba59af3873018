"""Files that appear whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stakes import errors


def write_whole(frame: Any, path: Path) -> None:
    """Write a Polars frame as CSV or Parquet; the file appears whole or not at all."""
    write = {".csv": frame.write_csv, ".parquet": frame.write_parquet}.get(path.suffix.lower())
    if write is None:
        raise errors.unknown_file_kind(str(path))
    with written_beside(path) as place:
        write(place)


@contextmanager
def written_beside(path: Path) -> Iterator[Path]:
    """Give a place beside the target to write to, and rename it into place when all went well: whole, or not at all."""
    if not path.parent.is_dir():
        raise errors.no_such_folder(str(path))
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield beside
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
