"""Which files are meant: one, several, those that match a pattern, a table of a database, or standard input."""

import glob
import gzip
import io
import math
import os
import sys
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from stakes import errors
from stakes.text import visible

STANDARD_INPUT = "-"

_GZIP = b"\x1f\x8b"
_OVERHEAD = 1 << 20
"""Bytes that compression may take more than there were; a file that is even longer had 4 GB more."""

_LOOKED_AT = 1 << 20
"""Bytes at the beginning that tell how long lines are."""

_BESIDE_DATABASES = ("-wal", "-shm", "-journal", ".wal")
"""How files are called, beside their database, that hold what was written last."""

State = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Source:
    """One thing that holds rows: a file, perhaps with the name of a table in it, or the content of standard input.

    ``name`` is how messages call it; ``state`` is what the file looked like before anything was read.
    """

    name: str
    path: Path = Path()
    table: str | None = None
    content: bytes | None = None
    state: State | None = None

    @property
    def for_polars(self) -> Any:
        """What Polars' readers take."""
        return self.plain_path if self.content is None else io.BytesIO(self.content)

    @property
    def plain_path(self) -> Path:
        """The path for libraries that take names in UTF-8 only: a file of another name is handed over opened."""
        if os.fsencode(self.path) == str(self.path).encode("utf-8", "replace"):
            return self.path
        opened = Path(f"/proc/self/fd/{self._opened}")
        if not opened.exists():
            raise errors.unreadable_file(self.name, "its name is not UTF-8, which this system cannot read; rename it")
        return opened

    @cached_property
    def _opened(self) -> int:
        number = os.open(self.path, os.O_RDONLY)
        weakref.finalize(self, os.close, number)
        return number

    def open(self) -> IO[bytes]:
        """Open the bytes; those of a compressed file come out as they were."""
        if self.content is None and not self.zipped:
            return self.path.open("rb")
        held: Any = self.path if self.content is None else io.BytesIO(self.content)
        return gzip.open(held) if self.zipped else held  # type: ignore[return-value]

    @property
    def zipped(self) -> bool:
        """Whether the bytes are compressed."""
        return self.start(len(_GZIP)) == _GZIP

    def start(self, size: int) -> bytes:
        """The first bytes, as they stand in the file."""
        if self.content is not None:
            return self.content[:size]
        with self.path.open("rb") as file:
            return file.read(size)

    @property
    def size(self) -> int:
        """How many bytes there are; of a compressed file about how many there were."""
        held = self.path.stat().st_size if self.content is None else len(self.content)
        return held if self.start(len(_GZIP)) != _GZIP else self._unpacked(held)

    def _unpacked(self, held: int) -> int:
        """How many bytes a compressed file had, told by its last four bytes up to multiples of 4 GB."""
        with self._raw() as file:
            file.seek(-4, os.SEEK_END)
            size = int.from_bytes(file.read(), "little")
        return size + (1 << 32) * max(0, math.ceil((held - size - _OVERHEAD) / (1 << 32)))

    def _raw(self) -> IO[bytes]:
        return self.path.open("rb") if self.content is None else io.BytesIO(self.content)

    def lines_up_to(self, most: int) -> int:
        """Count the lines, or stop where there are more than that; those of a compressed file are guessed."""
        if self.start(len(_GZIP)) == _GZIP:
            return self.likely_lines
        lines = 0
        with self.open() as file:
            while lines <= most and (block := file.read(_LOOKED_AT)):
                lines += block.count(b"\n")
        return lines

    @property
    def likely_lines(self) -> int:
        """About how many lines there are, if all are as long as the first ones."""
        with self.open() as file:
            lines = file.read(_LOOKED_AT)
        return max(1, round(self.size / max(1, len(lines)) * lines.count(b"\n")))

    def has_endless_line(self, longest: int) -> bool:
        """Whether the first or the last line is longer than that; readers would take many times its size."""
        if self.content is not None or self.path.stat().st_size <= longest or self.zipped:
            return False
        with self.open() as file:
            begin = file.read(longest)
            file.seek(-longest, os.SEEK_END)
            return b"\n" not in begin or b"\n" not in file.read()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Notice when the file is not what it was any more; then whatever was read, or failed, means nothing."""
        try:
            yield
        finally:
            if self.state is not None and _state(self.path) != self.state:
                raise errors.changed_while_read(self.name) from None


def sources(data: Any) -> list[Source]:
    """Find what a name, or several, stand for; nothing is taken twice."""
    names = [os.fspath(one) for one in (data if isinstance(data, list | tuple) else [data])]
    found = [source for name in names for source in _meant(name)]
    _refuse_twice(found)
    return found


def single(path: Path) -> Source:
    """The file of that very name."""
    if os.path.isdir(path):
        raise errors.unreadable_file(str(path), "it is a directory")
    if not os.path.exists(path):
        raise errors.no_such_file(str(path))
    name = visible(str(path))
    if not os.path.isfile(path):  # a pipe can be read once
        return Source(name, path, content=path.read_bytes())
    return Source(name, path, state=_state(path))


def _meant(name: str) -> list[Source]:
    if name == STANDARD_INPUT:
        return [Source("standard input", content=sys.stdin.buffer.read())]
    found = _files_and_tables(name)
    if not found:
        raise errors.no_file_matches(name)
    singles = [(single(Path(file)), table) for file, table in found]
    return [one if table is None else replace(one, name=visible(name), table=table) for one, table in singles]


def _files_and_tables(name: str) -> list[tuple[str, str | None]]:
    """A file of that very name goes before everything that the name might mean otherwise."""
    if os.path.exists(name):
        return [(name, None)]
    file, separator, table = name.rpartition("::")
    if separator:
        return [(file, table)]
    if not glob.has_magic(name):
        return [(name, None)]
    return [(match, None) for match in sorted(glob.glob(name, recursive=True)) if not Path(match).is_dir()]


def read_places(name: str) -> list[str | int]:
    """Return all that is read by that name: files, what databases keep beside them, or the number of an open file."""
    if name == STANDARD_INPUT:
        return [0]
    found = _files_and_tables(name)
    beside = [os.path.realpath(file) + end for file, table in found if table is not None for end in _BESIDE_DATABASES]
    return [*(file for file, _ in found), *beside]


def read_once(data: Any) -> bool:
    """Whether there is something among these that can be read only once: standard input, or a pipe."""
    names = [os.fspath(one) for one in (data if isinstance(data, list | tuple) else [data])]
    return any(
        n == STANDARD_INPUT or (os.path.exists(n) and not os.path.isfile(n) and not os.path.isdir(n)) for n in names
    )


def _state(path: Path) -> State | None:
    try:
        seen = path.stat()
    except OSError:
        return None
    return seen.st_ino, seen.st_size, seen.st_mtime_ns


def _refuse_twice(found: Sequence[Source]) -> None:
    seen = set()
    for source in found:
        key = (source.content is None and source.path.resolve(), source.table)
        if key in seen:
            raise errors.file_given_twice(source.name)
        seen.add(key)
