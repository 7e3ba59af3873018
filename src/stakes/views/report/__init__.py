"""The HTML report: one file that opens anywhere, asks no network, and speaks several languages.

A page is a *payload*: plain data that says what to show, made by ``stakes.findings.pages``. It has a title and a
list of sections; each section has a ``kind`` and the data that this kind draws.

To add a page:

1. Make its payload in ``findings/pages/``: ``sections_of(thing)`` returns ``[section("kind", …), …]`` (``payload.py``
   holds this, ``figure`` and ``listed``). Sentences are ``sentence("group.key", value=…)``, never text.
2. Draw a new kind of section in ``script/sections/KIND.js`` (or several files in a folder ``script/sections/KIND/``):
   ``SECTIONS.KIND = (data) => node(…)``. Only the kinds that a page shows are put into it. The files beside
   ``sections/`` are there for all: ``dom`` (elements; text is inert), ``language`` (``t("group.key", values)``),
   ``numbers``, ``charts`` (``new Chart`` with axes, legend and buttons), ``marks`` (lines, bands, bars, dots),
   ``readouts``, ``lists`` (a forest plot), ``sweeps`` (ROC and PR curves of several scores), ``tables``,
   ``confusions``, ``fields`` (typed numbers) and ``export`` (SVG, CSV).
3. Write its sentences in ``language/texts/en.toml`` and, under the same keys, in the files of the other languages, and
   the section's title as ``KIND.title``. A test fails for a key that is missing, superfluous, or used nowhere.

The page is redrawn when the language changes, so what a user has set lives in ``remember(name, start)``.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from html import escape
from os import PathLike
from pathlib import Path

from stakes.engines.files.writing import write_text
from stakes.language import LANGUAGES, check_language, speaking
from stakes.language.sentences import reason_text
from stakes.language.texts import texts
from stakes.records import Plain
from stakes.text import visible

__all__ = ["LANGUAGES", "html", "write"]

_HERE = Path(__file__).parent

_SCRIPTS = (
    *("dom", "language", "numbers", "scales", "charts", "marks", "readouts"),
    *("lists", "sweeps", "export", "tables", "confusions", "fields", "page"),
)
"""The files that every page has."""

_PATTERN = re.compile(r"(note|plot)\.|reason\..*\{")
"""Keys of texts that are found by the words between their gaps."""

_PAGE = """\
<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '{style_hash}'; \
script-src '{script_hash}'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<noscript>{noscript}</noscript>
<script id="payload" type="application/json">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def write(payload: Plain, path: str | PathLike[str], lang: str = "en") -> None:
    """Write a payload as a page; the file appears whole or not at all."""
    write_text(path, html(payload, lang), "page")


def html(payload: Plain, lang: str = "en") -> str:
    """Return the page of a payload, which opens in that language."""
    check_language(lang)
    style = _read("style.css")
    script = _script(tuple(dict.fromkeys(section["kind"] for section in payload["sections"])))
    reasons = set(_reasons(payload))
    spoken = {code: _texts_of(code, reasons) for code in LANGUAGES}
    title = visible(payload["title"]["values"].get("name") or "stakes")
    return _PAGE.format(
        lang=lang,
        title=escape(title),
        noscript=escape(spoken[lang]["page.noscript"]),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        data=_inert({"lang": lang, "languages": LANGUAGES, "texts": spoken, "page": _visible(payload)}),
    )


def _texts_of(lang: str, reasons: Iterable[str]) -> Plain:
    """The texts of a language: of reasons with gaps only what this page says, in words."""
    kept = {key: text for key, text in texts(lang).items() if not _PATTERN.match(key)}
    with speaking(lang):
        return kept | {f"reason.{words}": visible(reason_text(words)) for words in reasons}


def _reasons(data: object) -> Iterator[str]:
    """The reasons and notes of figures, wherever they stand in a payload."""
    if isinstance(data, Mapping):
        yield from (visible(data[name]) for name in ("reason", "note") if isinstance(data.get(name), str))
    if isinstance(data, Mapping | list | tuple):
        for one in data.values() if isinstance(data, Mapping) else data:
            yield from _reasons(one)


def _visible(data: object) -> object:
    """Names from data as text, wherever they stand in a payload."""
    if isinstance(data, str):
        return visible(data)
    if isinstance(data, Mapping):
        return {_visible(name): _visible(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [one if isinstance(one, float | int) else _visible(one) for one in data]
    return data


def _inert(data: object) -> str:
    """JSON in which no name can end the script element that holds it."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@cache
def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


@cache
def _script(kinds: tuple[str, ...]) -> str:
    """The framework, the sections that are shown, and the call that draws the page; all in one scope of its own."""
    files = [f"script/{name}.js" for name in _SCRIPTS] + [file for kind in kinds for file in _files_of(kind)]
    return '(() => {\n"use strict";\n' + "\n".join(map(_read, files)) + "\nopen();\n})();"


def _files_of(kind: str) -> Iterable[str]:
    folder = _HERE / "script" / "sections" / kind
    if folder.is_dir():
        return sorted(str(file.relative_to(_HERE)) for file in folder.glob("*.js"))
    return [f"script/sections/{kind}.js"]


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
