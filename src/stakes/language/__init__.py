"""The languages that stakes speaks; their texts are in ``texts/CODE.toml``."""

from collections.abc import Iterator
from contextlib import contextmanager

from stakes.errors import Given, InputError
from stakes.text import in_language

LANGUAGES = {
    "en": "English",
    "es": "Español",
    "ru": "Русский",
}
"""What each language calls itself, by its code."""

PLURALS = {
    "en": {"one", "other"},
    "es": {"one", "other"},
    "ru": {"one", "few", "many"},
}
"""The plural forms that a language has for whole numbers."""

TRANSLATED = [code for code in LANGUAGES if code != "en"]
"""English questions and reasons stand with the metrics; these languages hold translations of them too."""


def check_language(lang: object) -> None:
    """Refuse what is no code of a language."""
    if not isinstance(lang, str) or lang not in LANGUAGES:
        known = ", ".join(map(repr, LANGUAGES))
        raise InputError("no-such-language", Given("lang", lang), f" is not known; give one of {known}")


@contextmanager
def speaking(lang: str) -> Iterator[None]:
    """Write sentences in a language until the end of the block."""
    check_language(lang)
    with in_language(lang):
        yield
