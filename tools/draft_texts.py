"""Complete the texts of a language: what is not translated yet stands there in English, between ⟦ and ⟧.

``python tools/draft_texts.py de`` rewrites ``de.toml`` in the order of the other languages. What was translated
stays. Pages can be opened in the language from the first day on, and show which words are left to do.
"""

import json
import sys
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from stakes.language import PLURALS, TRANSLATED
from stakes.language.texts import file_texts, place_of, texts

Text = str | Mapping[str, str]


def draft(lang: str) -> str:
    """Return the whole file of a language."""
    done = file_texts(lang) if place_of(lang).exists() else {}
    complete = next(code for code in TRANSLATED if code != lang)
    whole = {key: done.get(key) or marked(key, lang) for key in file_texts(complete)}
    groups = groupby(whole.items(), key=lambda one: one[0].partition(".")[0])
    return "\n".join(f"[{name}]\n" + "".join(map(line, members)) for name, members in groups)


def marked(key: str, lang: str) -> Text:
    """Return the English text between marks, in as many plural forms as the language has."""
    english: Any = texts("en").get(key, key.removeprefix("reason."))
    if isinstance(english, str):
        return f"⟦{english}⟧"
    return {form: f"⟦{english.get(form, english['other'])}⟧" for form in sorted(PLURALS[lang])}


def line(one: tuple[str, Text]) -> str:
    """Return a text as a line of TOML."""
    key, text = one
    name = key.partition(".")[2]
    name = name if name.isidentifier() and name.isascii() else quoted(name)
    if isinstance(text, str):
        return f"{name} = {quoted(text)}\n"
    forms = ", ".join(f"{form} = {quoted(words)}" for form, words in text.items())
    return f"{name} = {{ {forms} }}\n"


def quoted(text: str) -> str:
    """Return a text in quotes; the rules of JSON are those of TOML, too."""
    return json.dumps(text, ensure_ascii=False)


if __name__ == "__main__":
    lang = sys.argv[1]
    if lang not in PLURALS:
        sys.exit(f"{lang} is no language yet; add it to src/stakes/language/__init__.py")
    text = draft(lang)
    place_of(lang).write_text(text, encoding="utf-8")
    print(f"{place_of(lang).name}: {text.count('⟦')} places are left to translate")
