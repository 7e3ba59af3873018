"""Names from data as text: everything shown is visible, stays on its line, and is no command.

Names (of classes, segments, columns, models, files) come from whoever wrote the data. As data they stay what they are;
where they are shown, characters that are invisible or that would control a terminal are written as escapes: ``\\x1b``,
``\\u202e``. A backslash stays a backslash, so that paths can be read; JSON has the exact names.
"""

import codecs
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_BLANK = "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
"""Characters that Unicode counts among letters and marks, and that show nothing."""

_LOGGED = r"##(?=\w*\[)"
"""How commands to build servers begin, anywhere in a line: ``##[``, ``##vso[``, ``##teamcity[``."""

_COMMAND = r"(?m)^((?:\x1b\[[\d;]*m|[^\S\n])*):(?=:)"
"""How GitHub's begin: with ``::`` at the start of a line, behind blanks or colours."""

_STAND_INS = {
    **{"–": "-", "−": "-", "…": "...", "≥": ">=", "≤": "<=", "×": "x", "·": "*", "±": "+/-", "→": "->", "²": "^2"},
    **{"∞": "inf", "½": "1/2", "✓": "*", "✕": "x", "’": "'", "►": ">", "◄": "<", "│": "|", **dict.fromkeys("─━", "-")},
    **dict.fromkeys("“”„«»", '"'),
    **dict.fromkeys("┬┐├└┤┴┌┘┼", "+"),
}
"""What stands for our own signs where an encoding lacks them."""

_POWER = "[⁻⁰¹²³⁴-⁹]+"

_LANGUAGE = ContextVar("language", default="en")
"""The code of the current language of sentences."""

ERRORS = "stakes.visible"
"""The name of the error handler that writes what an encoding lacks."""


def current_language() -> str:
    """Return the code of the current language of sentences."""
    return _LANGUAGE.get()


@contextmanager
def in_language(lang: str) -> Iterator[None]:
    """Set the language of sentences until the end of the block."""
    before = _LANGUAGE.set(lang)
    try:
        yield
    finally:
        _LANGUAGE.reset(before)


def visible(text: str) -> str:
    """Return a text on one line in which every sign can be seen.

    >>> print(visible("a\\x1b[2Jb\\n::error::"))
    a\\x1b[2Jb\\n::error::
    """
    return re.sub(_LOGGED, r"\\x23#", _where_unseen(text, escaped))


def lines(parts: Iterable[str]) -> str:
    """Put lines under each other; each stays one line, whatever names it holds."""
    return uncommanding("\n".join(map(visible, parts)))


def uncommanding(text: str) -> str:
    """Return a laid-out text in which no line begins like a command to a build server."""
    return re.sub(_COMMAND, r"\1\\x3a", text)


def encodable(text: str, encoding: str) -> str:
    """Return a text that an encoding can hold: letters that it lacks are escaped, our own signs have stand-ins."""
    plain_powers = re.sub(_POWER, lambda found: _power(found[0], encoding), text)
    return plain_powers.encode(encoding, ERRORS).decode(encoding)


def _power(raised: str, encoding: str) -> str:
    """Raised digits, all of them plain ones where an encoding lacks some: ``10^-12``."""
    try:
        raised.encode(encoding)
    except UnicodeEncodeError:
        return f"^{unicodedata.normalize('NFKC', raised)}".replace("−", "-")
    return raised


def as_json(data: object, indent: int | None = None, only_ascii: bool = False) -> str:
    """Return JSON in which names are exact, and what cannot be seen of them is escaped as JSON does."""
    import json  # figures in Python need none of it

    text = json.dumps(data, indent=indent, ensure_ascii=only_ascii, allow_nan=False)
    seen = "\n".join(_where_unseen(line, lambda sign: json.dumps(sign)[1:-1]) for line in text.split("\n"))
    return re.sub(_LOGGED, r"\\u0023#", seen)


# ── small tables ─────────────────────────────────────────────────────────────────────────────────────────────────
def named_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make a JSON object, and refuse a name that occurs twice: readers differ in what they make of it."""
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice[:40]!r} stands there twice; keep one of them")
    return made


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines under each other: the first column to the left, the others to the right."""
    cells = [[uncommanding(visible(cell)) for cell in row] for row in rows]
    widths = [max(map(columns, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(padded(cell, widths[i], right=i > 0) for i, cell in enumerate(row)) for row in cells]


def padded(text: str, wanted: int, right: bool = False) -> str:
    """Return a text with blanks behind it, or before it, that takes so many columns."""
    blanks = " " * (wanted - columns(text))
    return blanks + text if right else text + blanks


def columns(text: str) -> int:
    """Return how many columns a text takes: wide letters two, combining marks none."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(sign: str) -> int:
    if unicodedata.category(sign) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


# ── single signs ─────────────────────────────────────────────────────────────────────────────────────────────────
def _where_unseen(text: str, escape: Callable[[str], str]) -> str:
    if text.isprintable() and not re.search(_BLANK, text):  # as nearly every text is
        return text
    return "".join(sign if _is_seen(sign) else escape(sign) for sign in text)


def _is_seen(sign: str) -> bool:
    """Python's own rule of what can be printed, but blanks of any width are seen, and signs without a shape are not."""
    return (sign.isprintable() or unicodedata.category(sign) == "Zs") and not re.match(_BLANK, sign)


def escaped(sign: str) -> str:
    """Return the escape that stands for a sign."""
    return sign.encode("unicode_escape").decode("ascii")


def _lacking(problem: UnicodeError) -> tuple[str, int]:
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    lacked = problem.object[problem.start : problem.end]
    return "".join(_STAND_INS.get(sign) or escaped(sign) for sign in lacked), problem.end


codecs.register_error(ERRORS, _lacking)
