"""Files that appear whole or not at all."""

import errno
import os
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from stakes import errors


def write_whole(frame: Any, path: Path) -> None:
    """Write a Polars frame as CSV or Parquet; the file appears whole or not at all."""
    write = {".csv": frame.write_csv, ".parquet": frame.write_parquet}.get(path.suffix.lower())
    if write is None:
        raise errors.unknown_file_kind(str(path))
    import polars as pl

    with written_beside(path) as place:
        try:
            write(place)
        except pl.exceptions.PolarsError as problem:  # a full disk, of which Parquet's writer makes something else
            raise OSError(errno.EIO, errors.first_line(problem)) from None


@contextmanager
def written_beside(path: Path) -> Iterator[Path]:
    """Give a place beside the target to write to, and rename it into place when all went well: whole, or not at all.

    Of two processes that write the same target at once, the one that is done last stays. The data is not forced to the
    disk before it is renamed: that would take long on slow disks, and guard against nothing but a power cut, which is
    not promised. A device or a pipe is written to as it is, and a link stays a link.
    """
    if path.is_dir():
        raise errors.is_a_folder(str(path))
    if not path.parent.is_dir():
        raise errors.no_such_folder(str(path))
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file() and not target.is_dir():
        yield target
        return
    _clear_litter(target)
    beside = target.with_name(f"{_start(target)}{os.getpid()}.part")
    try:
        yield beside
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _start(target: Path) -> str:
    """How the names begin that this machine writes beside a target; a number says which process."""
    return f".{target.name}.{re.sub('[^A-Za-z0-9]', '_', platform.node())}-"


def _clear_litter(target: Path) -> None:
    """Remove what processes that were killed left behind while they wrote this target.

    Their number tells whether they are still there. It only does on the machine that gave it, which is why the name of
    the machine stands before it. A number that another process has got meanwhile keeps the litter for a while longer;
    a file in use is never removed.
    """
    if os.name != "posix":  # elsewhere asking for a process could end it
        return
    named = re.compile(rf"{re.escape(_start(target))}(\d+)\.part")
    with suppress(OSError):  # a folder that may be written to, but not listed
        for name in os.listdir(target.parent):
            found = named.fullmatch(name)
            if found and not _alive(int(found[1])):
                target.with_name(name).unlink(missing_ok=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True
