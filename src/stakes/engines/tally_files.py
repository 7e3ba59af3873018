"""Counts as files: ``monday.tally`` + ``tuesday.tally``.

A file is a zip archive of ``tally.json`` (what ``Counted.saved()`` gives) and ``numbers.bin`` (the numbers of its
longer arrays). docs/tally_file.md specifies the format, with files to try a writer of another language on.

The same count gives the same bytes. Reading checks both checksums, the shapes, that counts are valid, and that scores
lie on their grid. Nothing is unpickled, and nothing is unpacked to the disk.
"""

import json
import math
import os
import zipfile
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, TypeVar

import numpy as np

from stakes import errors
from stakes.engines.anonymise import SMALL, anonymise
from stakes.engines.files.writing import check_target, written_beside
from stakes.errors import InputError, short
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import as_path, check_flag
from stakes.text import named_once

if TYPE_CHECKING:
    from stakes.engines.plan import Counted

Whole = TypeVar("Whole")

VERSION = 1

_MEMBERS = ["tally.json", "numbers.bin"]
_KEYS = ("stakes", "version", "counted")
_TYPES = ("u1", "u2", "u4", "u8", "i8", "f4", "f8")
_FEW = 16
"""Arrays of up to this many numbers are part of the JSON."""

_LEVEL = 4
"""Compression level: higher ones take several times as long and save little."""

_FREELY, _MOST_TIMES = 16 << 20, 10
"""Size of a member that is always allowed, and the largest ratio to the size of the file beyond that."""

_SPARSEST = 16
"""Least characters per list or object of the JSON: empty ones take many times their length in memory."""

_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, KeyError, TypeError, AttributeError, IndexError),
    *(NotImplementedError, RuntimeError, OverflowError),
)
"""Errors that a damaged file may cause (RecursionError is a RuntimeError)."""


def save(counted: "Counted", path: str | os.PathLike[str], *, exact: bool = False, min_cell: int = SMALL) -> None:
    """Write a count, or the part of it that can be shared; the file appears whole or not at all."""
    check_target(path, "tally")
    check_flag("exact", exact)
    if exact and _reveals_rows(counted):
        errors.warn(
            "exact-scores-travel",
            "exact: distinct scores are row-level data, so whoever gets this file can look up single rows; leave "
            "exact out to send bins",
        )
    numbers = _Numbers()
    saved = numbers.take_out((counted if exact else anonymise(counted, min_cell)).saved())
    text = json.dumps({"stakes": "tally", "version": VERSION, "counted": saved}, allow_nan=False)
    with written_beside(as_path("path", path), "tally") as place, zipfile.ZipFile(place, "w") as archive:
        for name, content in zip(_MEMBERS, (text.encode(), numbers.content), strict=True):
            member = zipfile.ZipInfo(name)  # dated 1980, so that the same count gives the same bytes
            member.create_system = 3
            archive.writestr(member, content, zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)
        if max(member.file_size for member in archive.infolist()) > max(_FREELY, _MOST_TIMES * place.stat().st_size):
            raise InputError(
                "too-sparse-to-travel",
                f"{path!s}: these tables are so large and so empty that loading them would be refused as an "
                "attack; group the segments, or the classes",
            )


def read(path: str | os.PathLike[str], restore: Callable[[object], Whole]) -> Whole:
    """Read and check a count that was saved with :func:`save`; ``restore`` makes it from the saved data."""
    file = as_path("path", path)
    try:
        size = os.path.getsize(file)
        with zipfile.ZipFile(file) as archive:
            text, content = (_member(archive, place, size) for place in range(len(_MEMBERS)))
        return restore(_parse(text, content))
    except FileNotFoundError:
        raise errors.no_such_file(str(path)) from None
    except errors.InputError as problem:
        raise problem.within(str(path)) from None
    except _DAMAGE as problem:
        raise InputError(
            "damaged-tally",
            f"{path!s} is damaged or no tally ({short(str(problem) or type(problem).__name__, 100)}); write it "
            "again with stakes count … -o, or count(…).save()",
        ) from None


def _reveals_rows(counted: "Counted") -> bool:
    tables = [counted.scores, *getattr(counted.class_scores, "tables", ())]
    scores = any(table is not None and table.grid is None for table in tables)
    return scores or getattr(counted.tallies.get("errors"), "rows", None) is not None


def _member(archive: zipfile.ZipFile, place: int, file_size: int) -> bytes:
    """Read and check one of the two members of a file of this size."""
    members = archive.infolist()
    if [member.filename for member in members] != _MEMBERS:
        raise ValueError(f"it does not consist of {' and '.join(_MEMBERS)}")
    member = members[place]
    if member.compress_type != zipfile.ZIP_DEFLATED:
        raise ValueError(f"{member.filename} is not deflated")
    if member.file_size > max(_FREELY, _MOST_TIMES * file_size):
        raise ValueError(f"{member.filename} claims {member.file_size:,} bytes")
    with archive.open(member) as file:
        return file.read(member.file_size)  # never more than declared


def _parse(text: bytes, content: bytes) -> object:
    if sum(map(text.count, (b"[", b"{"))) > max(len(text) // _SPARSEST, _FREELY // _SPARSEST):
        raise ValueError("it consists of nothing but brackets")
    saved = json.loads(text.decode(), parse_constant=_no_constant, object_pairs_hook=named_once)
    if not isinstance(saved, dict) or saved.get("stakes") != "tally" or not saved.keys() <= {*_KEYS}:
        raise ValueError("it was not written by stakes count")
    if saved.get("version") != VERSION:
        raise errors.unknown_version("tally", saved.get("version"), VERSION)
    numbers = _Numbers(content)
    counted = numbers.put_back(saved["counted"])
    if numbers.at != len(content):
        raise ValueError("there are numbers that belong to nothing")
    return counted


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


class _Numbers:
    """The arrays of a count, moved out of it one after the other, or put back."""

    def __init__(self, content: bytes = b"") -> None:
        self.read, self.at = content, 0
        self.parts: list[bytes] = []

    @property
    def content(self) -> bytes:
        return b"".join(self.parts)

    def take_out(self, saved: object) -> object:
        """Return the same data with references instead of arrays."""
        if isinstance(saved, dict):
            return {name: self.take_out(part) for name, part in saved.items()}
        if isinstance(saved, list):
            return [self.take_out(part) for part in saved]
        if isinstance(saved, float) and not math.isfinite(saved):
            return {"number": str(saved)}
        if not isinstance(saved, np.ndarray):
            return saved
        if saved.size <= _FEW or saved.dtype == object:
            return saved.tolist()
        narrow = _narrow(saved)
        reference = {"numbers": narrow.dtype.str[1:], "shape": list(saved.shape), "at": self.at}
        self.parts.append(narrow.tobytes())
        self.at += narrow.nbytes
        return reference

    def put_back(self, saved: object) -> object:
        """Return the same data with arrays instead of references, which must be contiguous."""
        if isinstance(saved, list):
            if any(isinstance(part, bool) for part in saved):
                raise ValueError("true or false among numbers")
            return [self.put_back(part) for part in saved]
        if not isinstance(saved, dict):
            return saved
        if saved.keys() == {"number"} and saved["number"] in _NO_JSON:
            return float(saved["number"])
        if not (saved.keys() == {"numbers", "shape", "at"} and isinstance(saved["numbers"], str)):
            return {name: self.put_back(part) for name, part in saved.items()}
        kind, shape = saved["numbers"], saved["shape"]
        if kind not in _TYPES or not all(type(n) is int and n >= 0 for n in shape) or saved["at"] != self.at:
            raise ValueError("a list of numbers is of no known type, length or place")
        stored = np.dtype("<" + kind)
        size = math.prod(shape) * stored.itemsize
        if size > len(self.read) - self.at:
            raise ValueError("numbers are missing")
        array = np.frombuffer(self.read, stored, math.prod(shape), self.at).reshape(shape)
        self.at += size
        return array.astype(_WIDE.get(kind, np.int64))


_NO_JSON = ("inf", "-inf", "nan")
"""Numbers that JSON does not have."""

_WIDE: dict[str, type[np.generic]] = {"f4": np.float64, "f8": np.float64, "u8": np.uint64}
"""Types of the arrays that are read; others become int64."""


def _narrow(array: Array) -> Array:
    """Return the same numbers in the narrowest type that loses nothing, little-endian."""
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            single = array.astype("<f4")
        return single if np.array_equal(single, array) else array.astype("<f8")
    low, high = int(array.min()), int(array.max())
    kinds = [kind for kind in _TYPES[:4] if low >= 0 and high <= np.iinfo(kind).max]
    return array.astype("<" + (kinds[0] if kinds and (kinds[0] != "u8" or high > 2**63 - 1) else "i8"))
