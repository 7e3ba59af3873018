"""Files that were made to harm: tallies with valid checksums that contradict themselves, text without end."""

import gzip
import io
import json
import sqlite3
import zipfile
from typing import Any

import stakes

_ROWS: dict[str, Any] = {"truth": [0, 1] * 50, "score": [i / 100 for i in range(100)]}
_COUNTS = {
    "decisions": {"truth": [0, 1] * 50, "prediction": [0, 1, 1, 1] * 25},
    "weighted": {"truth": [0, 1] * 50, "prediction": [0, 1, 1, 1] * 25, "weight": [0.5, 2.0] * 50},
    "scores": _ROWS,
    "both": {**_ROWS, "threshold": 0.5},
    "segments": {**_ROWS, "by": ["a", "b"] * 50},
    "classes": {
        "truth": ["a", "b", "c"] * 20,
        "score": [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]] * 30,
        "classes": ["a", "b", "c"],
    },
}


def tally(kind: str, *changes: tuple[tuple[Any, ...], Any]) -> bytes:
    """The bytes of a real tally in which something was changed: (place, value)."""
    saved: Any = stakes.count(**_COUNTS[kind]).to_dict()
    for place, value in changes:
        part = saved
        for name in place[:-1]:
            part = part[name]
        part[place[-1]] = value
    return archive(json.dumps({"stakes": "tally", "version": 1, "counted": saved}))


def archive(text: str, numbers: bytes = b"") -> bytes:
    """A tally of this JSON and these numbers."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        for name, content in (("tally.json", text.encode()), ("numbers.bin", numbers)):
            packed.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def claiming(size: int, content: bytes) -> bytes:
    """The same archive, whose list of members claims other sizes than there are."""
    raw, at = bytearray(content), 0
    while (at := raw.find(b"PK\x01\x02", at)) >= 0:
        raw[at + 24 : at + 28] = size.to_bytes(4, "little")
        at += 1
    return bytes(raw)


def zipped(text: str) -> bytes:
    """Text, compressed."""
    return gzip.compress(text.encode(), 1)


def endless(path: Any) -> str:
    """A SQLite database whose view never ends."""
    with sqlite3.connect(path) as database:
        recursion = "WITH RECURSIVE t(y, p) AS (SELECT 1, 0.5 UNION ALL SELECT 1 - y, p FROM t) SELECT y, p FROM t"
        database.execute(f"CREATE VIEW endless AS {recursion}")
    database.close()
    return f"{path}::endless"


def list_in_itself() -> list[object]:
    """A list that contains itself."""
    found: list[object] = []
    found.append(found)
    return found
