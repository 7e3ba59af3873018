"""Writes files: never over input, in the format of their extension, whole or not at all."""

import errno
import os
import platform
import re
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from stakes import errors
from stakes.engines.files.sources import FileName, files_and_tables, identity
from stakes.errors import InputError
from stakes.tallies.checks import as_path

if TYPE_CHECKING:
    import polars as pl

_PLAIN = (".txt", ".log", ".out")
_CHOOSING = {".json": "json", ".csv": "csv", ".md": "markdown", ".markdown": "markdown"}
_FORMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "text": ("a text", _PLAIN),
    "quiet": ("a text", _PLAIN),
    "json": ("JSON", (".json", *_PLAIN)),
    "csv": ("CSV", (".csv", *_PLAIN)),
    "markdown": ("Markdown", (".md", ".markdown", *_PLAIN)),
    "page": ("an HTML page", (".html", ".htm")),
    "junit": ("JUnit's XML", (".xml",)),
    "calibrator": ("a calibrator", (".json",)),
    "tally": ("a tally", (".tally",)),
    "table": ("a table", (".csv", ".parquet", ".jsonl")),
}
"""Each form in words, and its file extensions. A name without an extension is accepted."""

_READ_BY_ENDING = ("tally", "table")
"""Forms that are recognised by their extension when they are read, so they must have one."""

_LONGEST_START = 40
"""Bytes of a target's name in a temporary one, which must not become too long."""


def form_of(path: FileName) -> str:
    """Return the form of output for the extension of a name."""
    return _CHOOSING.get(Path(path).suffix.lower(), "text")


# ── where to write ───────────────────────────────────────────────────────────────────────────────────────────────
def check_target(path: FileName, form: str, read: Iterable[tuple[FileName | int, str]] = ()) -> None:
    """Refuse a target that cannot or should not be written; ``read`` are input files, and what each of them holds."""
    target = as_path("path", path)
    given, path = os.fspath(path), target
    keep_inputs(given, read)
    if path.is_dir():
        raise InputError("is-a-folder", f"{given} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise InputError("no-such-folder", f"{given}: the folder to write to does not exist; make it first")
    if path.is_file():
        os.close(os.open(path, os.O_WRONLY))  # renaming would replace even a read-only file
    if not _is_stream(path):
        with _naming(path), tempfile.TemporaryFile(dir=Path(os.path.realpath(path)).parent):
            pass  # a folder that nobody may write to is noticed before the work, not after it
    what, endings = _FORMS[form]
    for name in (given, os.path.realpath(path)):
        if not _may_be_called(Path(name), form, endings):
            raise errors.other_ending(name, what, endings, list(_CHOOSING)[:3] if form == "text" else [])


def keep_inputs(target: FileName | int, read: Iterable[tuple[FileName | int, str]]) -> None:
    """Refuse to write over an input file, by whatever name or link."""
    here = identity(target)
    for place, what in read:
        if here is not None and identity(place) == here:
            raise InputError(
                "would-overwrite",
                f"{('standard output' if isinstance(target, int) else str(target))}: that is the file with the "
                f"{what}, which is never written over; name another one",
            )


def are_same(one: FileName, other: FileName) -> bool:
    """Whether both names read the same file, or the same table of one."""
    here, there = ({(identity(file), table) for file, table in files_and_tables(str(name))} for name in (one, other))
    return any(file is not None for file, _ in here & there)


def _may_be_called(path: Path, form: str, endings: tuple[str, ...]) -> bool:
    ending = path.suffix.lower()
    if ending in endings or form in _READ_BY_ENDING:
        return ending in endings
    promises = ending[1:].isalnum() and not ending[1:].isdigit()  # a date or a version is not an extension
    return not promises or _is_stream(path)


def _is_stream(path: Path) -> bool:
    return path.exists() and not path.is_file()


_unfinished: set[Path] = set()
"""Temporary files that are being written."""


# ── how to write ─────────────────────────────────────────────────────────────────────────────────────────────────
def write_text(path: FileName, text: str, form: str) -> None:
    """Write a text of some form; names of files in it that are not UTF-8 are escaped."""
    with written_beside(as_path("path", path), form) as place:
        place.write_bytes(text.encode("utf-8", "backslashreplace"))


def write_whole(frame: "pl.DataFrame", path: Path) -> None:
    """Write a Polars frame by the extension of the path: CSV, Parquet or JSON lines."""
    import polars as pl

    writers = {".csv": frame.write_csv, ".jsonl": frame.write_ndjson, ".parquet": frame.write_parquet}
    write = cast("Callable[[IO[bytes]], None]", writers[path.suffix.lower()])
    with written_beside(path, "table") as place, place.open("wb") as file:  # Polars only takes names in UTF-8
        try:
            write(file)
        except pl.exceptions.PolarsError as problem:  # such as a full disk, which Parquet's writer reports otherwise
            raise OSError(errno.EIO, errors.first_line(problem)) from None


@contextmanager
def written_beside(path: Path, form: str) -> Iterator[Path]:
    """Yield a temporary path beside the target, and rename it to the target if no error occurs: whole, or not at all.

    If two processes write the same target at once, the last one wins. The data is not forced to the disk before it is
    renamed: that would be slow on slow disks, and only guard against a power cut. A device or a pipe is written to
    directly, and a link stays a link. Until it is renamed, nobody else can read the new file. Its name is random and
    did not exist before, so no link can redirect it.
    """
    check_target(path, form)
    if _is_stream(path):
        yield path
        return
    target = Path(os.path.realpath(path))
    _clear_litter(target)
    with _naming(path):
        number, name = tempfile.mkstemp(".part", f"{_start(target)}{os.getpid()}-", target.parent)
        beside = Path(name)
        _unfinished.add(beside)
        try:
            os.close(number)
            yield beside
            _make_alike(beside, target)
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
            _unfinished.discard(beside)


def discard_unfinished() -> None:
    """Remove files that are being written: the process is about to end without coming back to whoever writes them."""
    for path in list(_unfinished):
        with suppress(OSError):
            path.unlink(missing_ok=True)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the target in errors, not the temporary file; of what a writer says only the system's own words are told."""
    try:
        yield
    except OSError as problem:
        number, words = problem.errno or errno.EIO, problem.strerror or str(problem)
        if os.name == "posix" and (found := re.search(r"\(os error (\d+)\)", words)):  # as Polars writes it
            number, words = int(found[1]), os.strerror(int(found[1]))
        raise OSError(number, words, str(path)) from None


def _make_alike(beside: Path, target: Path) -> None:
    """Give a file the mode, owner and group of the one that it replaces; a new one has the default mode."""
    if os.name != "posix":
        return
    if not target.exists():
        mask = os.umask(0o077)
        os.umask(mask)
        beside.chmod(0o666 & ~mask)
        return
    made, old = beside.stat(), target.stat()
    mode = stat.S_IMODE(old.st_mode) & 0o777
    if (made.st_uid, made.st_gid) != (old.st_uid, old.st_gid):
        for owner in (old.st_uid, -1):  # only root may give files away; others may set their own groups
            with suppress(OSError):
                os.chown(beside, owner, old.st_gid)
                break
        else:
            mode &= ~stat.S_IRWXG  # rights of one group are not for another
    beside.chmod(mode)


def _start(target: Path) -> str:
    """Prefix of this machine's temporary files of a target; the number of the process follows."""
    name = os.fsencode(target.name)[:_LONGEST_START].decode(errors="ignore")
    return f".{name}.{re.sub('[^A-Za-z0-9]', '_', platform.node())[:_LONGEST_START]}-"


def _clear_litter(target: Path) -> None:
    """Remove temporary files that killed processes left while writing this target.

    The process number in the name shows whether the process still runs, on the machine that is also in the name. If the
    number has been reused, the file stays for a while longer; a file in use is never removed.
    """
    if os.name != "posix":  # elsewhere os.kill could end the process
        return
    named = re.compile(rf"{re.escape(_start(target))}(\d+)-\w+\.part")
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
