"""Names that do harm where they are not taken as text, and what must never be found in what is shown."""

import re
import unicodedata

HOSTILE = (
    "\x1b[2J\x1b[Hclear",
    "\x1b]0;title\x07",
    "\x1b[31mred\x1b[0m",
    "\x9b31mC1\x85",
    "line\n::error::break",
    "back\rover\x08\x7f",
    "nul\0tab\t.",
    "::set-output name=x::y",
    " ::stop-commands::z",
    "##[error]old",
    "##vso[task.complete]",
    "##teamcity[message]",
    "\u202egnp.txt\u2066",
    "zero\u200bwidth\u200d\ufeff",
    "soft\u00adhyphen\u034f\u180e",
    "separated\u2028lines\u2029",
    "tags\U000e0041\U000e007f",
    "heart\u2764\ufe0f\u3164",
    "private\ue000\ufffe\ufff9",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![x](http://evil.example/y.png) @user #1 :tada:",
    "| `code` *b* _i_ ~~s~~ [^1]",
    "$x^2$ and $\\alpha$",
    "$\\frac{",
    "$$",
    "=1+1",
    "@SUM(A1)",
    '"quoted", it\'s',
    "]]> --> &amp; &#27;",
    "%0A::error::",
    "_underscore",
    "Жук 名前 e\u0301",
    "C:\\temp\\x1b",
    "__proto__",
    "https://evil.example www.evil.example a@evil.example",
)

_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_BLANK = {
    *"\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0",
    *(chr(code) for low, high in ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF)) for code in range(low, high)),
}
_OWN_STYLES = re.compile(r"\x1b\[(?:[0123]|(?:1;)?3[1-7])m")
"""Bold, dim, italic and plain, and the colours of good and bad: the styles that we use ourselves."""


def unseen(text: str) -> set[str]:
    """Signs that nobody sees, or that steer a terminal."""
    return {sign for sign in set(text) if unicodedata.category(sign) in _UNSEEN or sign in _BLANK}


def commands(text: str) -> list[str]:
    """Lines that a build server takes for commands."""
    plain = _OWN_STYLES.sub("", text)
    return [line for line in plain.split("\n") if line.lstrip().startswith("::") or re.search(r"##\w*\[", line)]


def harmless(text: str) -> None:
    """Fail unless nothing but our own line breaks and styles is in a text."""
    plain = _OWN_STYLES.sub("", text)
    assert unseen(plain.replace("\n", "")) == set(), [line for line in plain.split("\n") if unseen(line)][:3]
    assert commands(text) == []
