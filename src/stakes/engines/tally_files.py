"""Counts as files: ``monday.tally`` + ``tuesday.tally``.

The format, version 1. A file is a zip archive (deflate) of two members, in this order and no others:

``tally.json``
    UTF-8 JSON: ``{"stakes": "tally", "version": 1, "counted": …}``. The count is what ``Counted.to_dict()`` gives:
    ``task`` ("classification", "regression", "items" or "few labels"), ``decided_by`` ("rows", "score", "costs" or
    "threshold"), the ``threshold`` or null, ``question`` (its words and numbers; of columns the names), ``dropped``
    (rows left out), ``dropped_weight`` (what they weigh, if they do), ``read`` (all rows, where some were left out or
    weights hide their number), ``same_column`` ("score" or "prediction" if that was the truth itself), a list of
    ``tallies``, and ``segments`` (name → a count without segments). Each tally has its kind (``tally``), its
    ``version`` and its content:

    - ``confusion``: ``truths`` × ``decisions``, ``counts`` [truth, decision], ``positive``, and ``squares`` (sums of
      squared weights, or null);
    - ``scores``: ``positive`` and ``negative`` class, ``scores`` (highest first), ``columns`` (``positives`` and
      ``negatives`` at each score; weighted ones also ``…_squared``), and ``grid`` (null for exact scores): its ``kind``
      ("probability" or "line", see ``tallies/bins.py``) and the ``ranges`` [first bin, first bin after it] of bins that
      were put together. A score is the lower edge of its bin or range;
    - ``class_scores``: a ``scores`` table of each class against the rest, and sums over all rows;
    - ``errors``: ``moments`` as [|error|, error, truth, prediction powers, numerator, denominator], and more sums;
    - ``joint``: ``labels`` of each column, ``codes`` of the combinations, ``counts``;
    - ``items`` (task "items"): ``models``, and sums over every two of them (``tallies/graded_items.py``);
    - ``costs``: ``sums``, ``products`` and ``powers`` of what rows of each class cost.

``numbers.bin``
    The numbers of all longer arrays, one array after the other without gaps. In the JSON such an array is
    ``{"numbers": TYPE, "shape": [n, …], "at": B}``: it begins B bytes into this member, little-endian, last axis
    fastest. TYPE is u1, u2, u4 or u8 (unsigned), i8 (signed) or f4 or f8 (IEEE floats), the narrowest that loses
    nothing. Arrays of at most 16 numbers, and integers beyond 64 bits, stand in the JSON as lists. A single number that
    JSON does not have is ``{"number": "inf"}``, "-inf" or "nan".

The same count gives the same bytes. What is read is checked: both checksums, the shapes, that every count is one, that
scores lie on their grid. Nothing is unpickled, and nothing is unpacked to the disk.
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
"""So many numbers stand in the JSON."""

_LEVEL = 4
"""How hard to compress: more takes several times as long and saves little."""

_FREELY, _MOST_TIMES = 16 << 20, 10
"""Bytes that a member may come to in any case, and how many times the bytes of the file it may come to beyond that."""

_SPARSEST = 16
"""Letters for each list or object in the JSON, at least: Python takes many times their letters for empty ones."""

_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, KeyError, TypeError, AttributeError, IndexError),
    *(NotImplementedError, RuntimeError, OverflowError),
)
"""What reading a damaged file may end in (RecursionError is a RuntimeError)."""


def save(counted: "Counted", path: str | os.PathLike[str], *, exact: bool = False, min_cell: int = SMALL) -> None:
    """Write a count, or what of it can be shared; the file appears whole or not at all."""
    check_target(path, "tally")
    check_flag("exact", exact)
    if exact and _tells_rows(counted):
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
            member = zipfile.ZipInfo(name)  # of 1980: the same count gives the same bytes
            member.create_system = 3
            archive.writestr(member, content, zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)
        if max(member.file_size for member in archive.infolist()) > max(_FREELY, _MOST_TIMES * place.stat().st_size):
            raise InputError(
                "too-sparse-to-travel",
                f"{path!s}: these tables are so large and so empty that whoever loads them would take them for an "
                "attack; group the segments, or the classes",
            )


def read(path: str | os.PathLike[str], restore: Callable[[object], Whole]) -> Whole:
    """Read and check a count that was saved with :func:`save`; ``restore`` makes it of what was saved."""
    file = as_path("path", path)
    try:
        held = os.path.getsize(file)
        with zipfile.ZipFile(file) as archive:
            text, content = (_member(archive, place, held) for place in range(len(_MEMBERS)))
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


def _tells_rows(counted: "Counted") -> bool:
    tables = [counted.scores, *getattr(counted.tallies.get("class_scores"), "tables", ())]
    scores = any(table is not None and table.grid is None for table in tables)
    return scores or getattr(counted.tallies.get("errors"), "rows", None) is not None


def _member(archive: zipfile.ZipFile, place: int, held: int) -> bytes:
    """Read one of the two members of a file of so many bytes, if it is what it should be."""
    members = archive.infolist()
    if [member.filename for member in members] != _MEMBERS:
        raise ValueError(f"it does not consist of {' and '.join(_MEMBERS)}")
    member = members[place]
    if member.compress_type != zipfile.ZIP_DEFLATED:
        raise ValueError(f"{member.filename} is not deflated")
    if member.file_size > max(_FREELY, _MOST_TIMES * held):
        raise ValueError(f"{member.filename} claims {member.file_size:,} bytes")
    with archive.open(member) as file:
        return file.read(member.file_size)  # and no more, whatever there is


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
    """The arrays of a count, taken out of it one after the other, or put back."""

    def __init__(self, content: bytes = b"") -> None:
        self.read, self.at = content, 0
        self.parts: list[bytes] = []

    @property
    def content(self) -> bytes:
        return b"".join(self.parts)

    def take_out(self, saved: object) -> object:
        """Return the same with references instead of arrays."""
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
        """Return the same with arrays instead of references, which must follow one another without gaps."""
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
"""Whole numbers become int64 otherwise."""


def _narrow(array: Array) -> Array:
    """Return the same numbers in the narrowest type that loses nothing, little-endian."""
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            single = array.astype("<f4")
        return single if np.array_equal(single, array) else array.astype("<f8")
    low, high = int(array.min()), int(array.max())
    kinds = [kind for kind in _TYPES[:4] if low >= 0 and high <= np.iinfo(kind).max]
    return array.astype("<" + (kinds[0] if kinds and (kinds[0] != "u8" or high > 2**63 - 1) else "i8"))
