"""Finds the files that names stand for: one, several, a pattern, a table of a database, or standard input."""

import codecs
import glob
import gzip
import io
import os
import re
import stat
import sys
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import IO, NamedTuple, Self, TypeAlias

import numpy as np

from stakes import errors
from stakes.engines.files.demo import PREFIX, real_name
from stakes.engines.files.text_format import FormattedFile, TextFormat
from stakes.errors import Given, InputError, Pass
from stakes.text import visible

STANDARD_INPUT = "-"

_GZIP = b"\x1f\x8b"
_LOOKED_AT = 1 << 20
"""Bytes per block; the length of lines is estimated from the first block."""

_STARTS, _FEW = 1 << 16, 1 << 8
"""Bytes from which line ends are found, and whether a text is JSON."""

JSON = (".jsonl", ".ndjson", ".json")
"""File extensions of JSON."""

_LONGEST_LINE = 16 << 20

_MOST_PIPED = 256 << 20
"""Most bytes from a pipe, which can be read only once and is kept in memory."""

_MARKS = {
    **dict.fromkeys((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "utf-32"),
    **dict.fromkeys((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "utf-16"),
}
"""Byte order marks, the longer ones first since they begin like the shorter."""

_WESTERN = ("cp1252", "iso8859-1", "iso8859-15")
_LETTER_IN_UTF8 = re.compile(rb"\xc3[\x84\x9c\x9f\xa1-\xbf]")
"""Letters such as ä and é in UTF-8; in Western European encodings these bytes make no sense."""

_BESIDE_DATABASES = ("-wal", "-shm", "-journal", ".wal")
"""Extensions of the files beside a database that hold its latest changes."""

State: TypeAlias = tuple[int, int, int]
Opened: TypeAlias = IO[bytes] | gzip.GzipFile


FileName: TypeAlias = str | os.PathLike[str]


class RowsOnDisk(str):
    """Files with rows of another engine; they are deleted with the last reference to them."""

    def __new__(cls, pattern: str, folder: tempfile.TemporaryDirectory[str]) -> Self:
        """Name the files in a folder."""
        found = super().__new__(cls, pattern)
        found.folder = folder
        return found

    folder: tempfile.TemporaryDirectory[str]


FileNames: TypeAlias = FileName | Sequence[FileName]


class Unpacked(NamedTuple):
    """The bytes and lines of a compressed text, and the number of empty lines at its end."""

    size: int
    lines: int
    blank: int


@dataclass(frozen=True, eq=False)
class Source:
    """One source of rows: a file, perhaps with the name of a table in it, or the content of standard input.

    ``name`` is its name in messages; ``state`` identifies the version of the file before reading.
    """

    name: str
    path: Path = Path()
    table: str | None = None
    content: bytes | None = None
    state: State | None = None
    format: TextFormat = field(default_factory=TextFormat)

    @property
    def for_polars(self) -> Path | io.BytesIO:
        """The argument for Polars' readers."""
        return self.plain_path if self.content is None else io.BytesIO(self.content)

    @property
    def plain_path(self) -> Path:
        """The path for libraries that only take names in UTF-8: other files are opened and passed by descriptor."""
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

    def open(self) -> Opened:
        """Open the bytes, decompressed."""
        if self.content is None:
            return gzip.open(self.path) if self.zipped else self.path.open("rb")
        content = io.BytesIO(self.content)
        return gzip.open(content) if self.zipped else content

    @property
    def zipped(self) -> bool:
        """Whether the bytes are compressed."""
        return self.start(len(_GZIP)) == _GZIP

    def start(self, size: int) -> bytes:
        """The first bytes of the file, perhaps compressed."""
        if self.content is not None:
            return self.content[:size]
        with self.path.open("rb") as file:
            return file.read(size)

    @property
    def size(self) -> int:
        """The number of bytes, decompressed."""
        if self.zipped:
            return self.unpacked.size
        return self.path.stat().st_size if self.content is None else len(self.content)

    @cached_property
    def unpacked(self) -> "Unpacked":
        """The size of a compressed text; endless lines are refused before a reader decompresses them."""
        size = lines = blank = longest = 0
        with self.open() as file:
            for block in self._closing(file):
                size, lines, held = size + len(block), lines + block.count(b"\n"), block.rstrip(b"\r\n")
                longest = _measure_line(longest, block)
                blank = (0 if held else blank) + block[len(held) :].count(b"\n")
                if longest > _LONGEST_LINE:
                    raise errors.endless_line(self.name, _LONGEST_LINE)
        return Unpacked(size, lines, blank)

    def _closing(self, file: Opened) -> Iterator[bytes]:
        """Read separated text block by block; refuse a quote that is never closed, which would swallow the rest."""
        read, opened = 0, None
        while block := file.read(_LOOKED_AT):
            if block[0] in b"\r\n" and not block.strip(b"\r\n") and len(block) == _LOOKED_AT:
                raise InputError(
                    "endless-blanks",
                    f"{self.name}: more than {_LOOKED_AT:,} bytes of it are empty lines; mend the file, or name "
                    "another",
                )
            quotes = block.count(b'"') if b'"' in block else 0  # most texts have none, and looking for one is quicker
            if opened is not None and not quotes and len(block) == _LOOKED_AT:
                raise InputError(
                    "open-quote",
                    f"{self.name}: line {self._line_at(opened):,} opens a quote that is not closed within "
                    f"{_LOOKED_AT:,} bytes; mend that line, or write quotes within a value twice",
                )
            if quotes:
                opened = read + block.rindex(b'"') if (opened is not None) ^ quotes % 2 else None
            read += len(block)
            yield block

    def _line_at(self, place: int) -> int:
        """The line of a byte."""
        with self.open() as file:
            whole, rest = divmod(place, _LOOKED_AT)
            return 1 + sum(file.read(_LOOKED_AT).count(b"\n") for _ in range(whole)) + file.read(rest).count(b"\n")

    def lines_up_to(self, most: int) -> int:
        """Count the lines; stop beyond ``most``."""
        if self.zipped:
            return self.unpacked.lines
        if "_lines" in vars(self):
            return int(vars(self)["_lines"])
        lines = 0
        with self.open() as file:
            while block := file.read(_LOOKED_AT):
                lines += int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))
                if lines > most:
                    return lines
        vars(self)["_lines"] = lines
        return lines

    @property
    def likely_lines(self) -> int:
        """The approximate number of lines, estimated from the first ones."""
        if self.zipped:
            return self.unpacked.lines
        with self.open() as file:
            lines = file.read(_LOOKED_AT)
        return max(1, round(self.size / max(1, len(lines)) * lines.count(b"\n")))

    def as_utf8(self, kind: str) -> "Source":
        """The same text in UTF-8 with Unix line ends, in a file that is deleted with the last reference to it.

        Readers of separated text accept a UTF-8 byte order mark and content in memory; those of JSON do not.
        """
        with self.open() as file:
            start = file.read(_STARTS)
        encoding, separated = self.format.encoding or _encoding(start), kind not in JSON
        as_it_is = b"\n" in start or b"\r" not in start
        if not separated:
            as_it_is = self.content is None and not self.zipped and not start.startswith(codecs.BOM_UTF8)
        name = codecs.lookup(encoding).name
        if as_it_is and name == "utf-8":
            return self
        if name in _WESTERN:
            self._refuse_utf8(encoding)
        if self.zipped:
            _ = self.unpacked
        encoding = "utf-8-sig" if name == "utf-8" else encoding
        handle, path = tempfile.mkstemp(prefix="stakes-", suffix=kind)
        converted = replace(self, path=Path(path), content=None, state=None)
        weakref.finalize(converted, os.unlink, path)
        lines = 0
        with os.fdopen(handle, "wb") as out, io.TextIOWrapper(self.open(), encoding, newline=None) as text:
            try:
                while block := text.read(_LOOKED_AT):
                    lines += block.count("\n")
                    out.write(block.encode())
            except UnicodeError:
                raise InputError(
                    "wrong-encoding",
                    f"{self.name}: line {lines + 1:,} or one soon after it is not {encoding}; pass another ",
                    Pass("encoding"),
                ) from None
        return converted

    def _refuse_utf8(self, encoding: str) -> None:
        """Refuse a file that holds UTF-8, which this encoding would read as other letters."""
        read = 0
        with self.open() as file:
            while block := file.read(_LOOKED_AT):
                if found := _LETTER_IN_UTF8.search(block):
                    raise InputError(
                        "utf8-all-the-same",
                        f"{self.name}: line {self._line_at(read + found.start()):,} is UTF-8, and not what ",
                        Given("encoding", encoding),
                        " says; leave that out, or, if other lines are not UTF-8, save the file in one encoding",
                    )
                read += len(block)

    def text_start(self) -> str:
        """The first characters in any encoding, without byte order mark and blanks."""
        with self.open() as file:
            start = file.read(_FEW)
        return start.decode(_encoding(start), "ignore").lstrip("\ufeff \t\r\n")

    def refuse_endless(self, separated: bool) -> None:
        """Refuse a line that is so long that readers would take many times its memory.

        A line of twice the limit covers a whole window, so a window without a line end reveals it. In separated text an
        open quote is refused too, and so is a block of nothing but line ends.
        """
        if self.zipped:
            _ = self.unpacked
            return
        with self.open() as file:
            for start in range(0, self.size - _LONGEST_LINE, _LONGEST_LINE):
                file.seek(start)
                if not any(b"\n" in file.read(_LOOKED_AT) for _ in range(_LONGEST_LINE // _LOOKED_AT)):
                    raise errors.endless_line(self.name, _LONGEST_LINE)
            if separated:
                file.seek(0)
                for _ in self._closing(file):
                    pass

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Refuse a file that changes meanwhile: results and errors would mean nothing."""
        try:
            yield
        finally:
            if self.state is not None and _state(self.path) != self.state:
                raise InputError(
                    "changed-while-read",
                    f"{self.name}: the file changed while it was read; read it when nobody writes it",
                ) from None


def _encoding(start: bytes) -> str:
    """The encoding by the first bytes: in UTF-16 every other byte of plain letters and digits is 0."""
    marked = next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)
    if marked is not None or b"\0" not in start:
        return marked or "utf-8"
    zeros = {"utf-16-be": start[::2].count(0), "utf-16-le": start[1::2].count(0)}
    likely = max(zeros, key=zeros.__getitem__)
    return likely if zeros[likely] > len(start) / 4 and min(zeros.values()) == 0 else "utf-8"


def sources(data: FileNames) -> list[Source]:
    """Find the sources of one or several names; refuse a source that occurs twice."""
    found = [source for one in _named(data) for source in _find(one)]
    _refuse_twice(found)
    return found


def _named(data: FileNames) -> Sequence[FileName]:
    return [data] if isinstance(data, str | os.PathLike) else data


def single(file: FileName) -> Source:
    """The file of exactly this name."""
    path, format = Path(real_name(file)), file.format if isinstance(file, FormattedFile) else TextFormat()
    if os.path.isdir(path):
        raise errors.unreadable_file(str(path), "it is a directory")
    if not os.path.exists(path):
        raise errors.no_such_file(str(path))
    name = visible(str(path))
    if not os.path.isfile(path):  # a pipe can be read once
        with path.open("rb") as pipe:
            return Source(name, path, content=_read_all(name, pipe), format=format)
    return Source(name, path, state=_state(path), format=format)


def _find(one: FileName) -> list[Source]:
    name, format = os.fspath(one), one.format if isinstance(one, FormattedFile) else TextFormat()
    if name == STANDARD_INPUT:
        return [Source("standard input", content=_read_all("standard input", sys.stdin.buffer), format=format)]
    found = files_and_tables(name)
    if not found:
        raise InputError(
            "no-file-matches", f"{name}: there is no such file, and none that matches this pattern; check the folder"
        )
    singles = [(replace(single(Path(file)), format=format), table) for file, table in found]
    by_name = name.startswith(PREFIX)
    return [
        replace(one, name=visible(name), table=table) if table is not None or by_name else one for one, table in singles
    ]


def files_and_tables(name: str) -> list[tuple[str, str | None]]:
    """The files (and tables) of a name; a file of exactly this name comes before any other meaning."""
    name = real_name(name)
    if os.path.exists(name):
        return [(name, None)]
    file, separator, table = name.rpartition("::")
    if separator:
        return [(file, table)]
    if not glob.has_magic(name):
        return [(name, None)]
    return [(match, None) for match in sorted(glob.glob(name, recursive=True)) if not Path(match).is_dir()]


def literally(path: Path) -> str:
    """Escape a path for Polars' readers that always take it for a pattern."""
    return glob.escape(str(path))


def read_places(name: str) -> list[str | int]:
    """Return all files that are read by that name, with those beside a database, or the number of an open file."""
    if name == STANDARD_INPUT:
        return [0]
    found = files_and_tables(name)
    beside = [os.path.realpath(file) + end for file, table in found if table is not None for end in _BESIDE_DATABASES]
    return [*(file for file, _ in found), *beside]


def _read_all(name: str, file: IO[bytes]) -> bytes:
    """Read to the end; refuse endless input."""
    parts, size, longest = [], 0, 0
    while part := file.read(_LOOKED_AT):
        parts.append(part)
        size, longest = size + len(part), _measure_line(longest, part)
        if longest > _LONGEST_LINE:
            raise errors.endless_line(name, _LONGEST_LINE)
        if size > _MOST_PIPED:
            raise InputError(
                "endless-pipe",
                f"{name}: more than {_MOST_PIPED:,} bytes come out of it, or it never ends; save them as a file first",
            )
    return b"".join(parts)


def _measure_line(line: int, block: bytes) -> int:
    """The length of the last line after another block."""
    return line + len(block) if b"\n" not in block else len(block) - block.rindex(b"\n")


def read_once(data: FileNames) -> bool:
    """Whether one of these can be read only once: standard input, or a pipe."""
    names = [os.fspath(one) for one in _named(data)]
    piped = (os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name) for name in names)
    return STANDARD_INPUT in names or any(piped)


def _state(path: Path) -> State | None:
    try:
        seen = path.stat()
    except OSError:
        return None
    return seen.st_ino, seen.st_size, seen.st_mtime_ns


def identity(place: FileName | int) -> str | tuple[int, int] | None:
    """A key that is the same for all names and numbers of one file; None for pipes and devices."""
    try:
        seen = os.stat(place)
    except OSError:
        return None if isinstance(place, int) else os.path.realpath(place)
    except ValueError:  # no file has that name
        return None
    return (seen.st_dev, seen.st_ino) if stat.S_ISREG(seen.st_mode) else None


def _refuse_twice(found: Sequence[Source]) -> None:
    seen = set()
    for source in found:
        key = (source.content is None and identity(source.path), source.table)
        if key in seen:
            raise InputError(
                "file-given-twice",
                f"{source.name}: the file is given twice, and its rows would count twice; name it once",
            )
        seen.add(key)
