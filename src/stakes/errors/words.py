"""Words that several texts share."""

from collections.abc import Iterable, Sequence

__all__ = [
    "FirstRow",
    "Place",
    "first_row",
    "how_many",
    "nearest",
    "rows_text",
    "rows_that_hold",
    "short",
    "some",
    "the_class",
]

_MOST_COMPARED = 5_000
"""Most names among which the nearest is searched."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``; did you mean …?`` when something close is known, otherwise what is known."""
    import difflib  # only wanted when something is wrong already

    known = list(known)
    if name in known:
        return "; the name of that column is no text; rename it"
    if len(known) > _MOST_COMPARED:  # looking at all of them would take longer than anybody waits
        return f"; there is {some(known)}"
    lowered = {k.lower(): k for k in known}
    close = difflib.get_close_matches(name.lower(), list(lowered), n=3, cutoff=0.6)
    if close:
        return f"; did you mean {some([lowered[c] for c in close], last='or')}?"
    return f"; there is {some(known)}" if known else ""


def some(names: Sequence[object], most: int = 5, last: str = "and") -> str:
    """List a few names in words, quoting text: 'a', 'b' and 3 more."""
    shown = [short(repr(n)) for n in names[:most]]
    if len(names) > most:
        return ", ".join(shown) + f" {last} {len(names) - most:,} more"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + f" {last} {shown[-1]}" if shown else "none"


def short(text: str, most: int = 40) -> str:
    return text if len(text) <= most else text[: most - 2] + "…" + text[-1]


def how_many(count: int, kind: str) -> str:
    """Write a number of things: 1 case, 2,000 cases."""
    return f"{count:,} {kind}" + ("" if count == 1 else "s")


def rows_text(count: int) -> str:
    return how_many(count, "row")


def rows_that_hold(count: int) -> str:
    return f"{rows_text(count)} that {'holds' if count == 1 else 'hold'}"


class Place(str):
    """Where a row stands in a file, and a word there that means a missing value, if there is one."""

    word: str

    def __new__(cls, place: str, word: str = "") -> "Place":
        """Take both."""
        made = super().__new__(cls, place)
        made.word = word
        return made


class FirstRow(str):
    """Where to look first: the number of a row, until its place in a file is known."""

    row: int

    def __new__(cls, row: int) -> "FirstRow":
        """Write the number as people count."""
        made = super().__new__(cls, f"the first is row {row + 1:,}, counting from 1")
        made.row = row
        return made

    def __getnewargs__(self) -> tuple[int]:  # type: ignore[override]
        return (self.row,)


def first_row(row: int | None) -> str:
    """Where to look; rows that were counted in another engine have no numbers."""
    return "in an engine whose rows have no numbers" if row is None else FirstRow(row)


def the_class(names: Sequence[str]) -> str:
    return "the class" if len(names) == 1 else "the classes"
