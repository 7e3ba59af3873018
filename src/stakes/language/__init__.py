"""The languages that stakes speaks; their texts are in ``texts/CODE.toml``."""

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
