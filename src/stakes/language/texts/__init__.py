"""Every sentence in every language: one catalogue for terminal, notebook, page, Markdown, JSON, and the metrics.

English questions of metrics and reasons come from their declarations; the other languages translate them. A text with
plural forms is a table of them (one/few/many/other, as its language has them).
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from stakes import metrics
from stakes.records import Plain

if TYPE_CHECKING:
    from pathlib import Path

_CAPITALS = "auc crps ece f f1 ks mase mcc mce rmsse"
_PEOPLE = "brier fowlkes gini hamming hand jaccard lorenz mallows pearson poisson till tweedie winkler"

_SPELT = {"r2": "R²", "d2": "D²"} | {word: word.upper() for word in _CAPITALS.split()}
_SPELT |= {name: name.title() for name in _PEOPLE.split()}
"""Words of English metric names that are not written in small letters."""

_FORMS = {"zero", "one", "two", "few", "many", "other"}
"""What plural forms are called, in whatever language."""


@cache
def texts(lang: str) -> Plain:
    """Return the texts of a language by their keys: "group.key", "metric.NAME", "question.NAME", "reason.WORDS"."""
    return {**_declared(), **file_texts(lang)}


@cache
def file_texts(lang: str) -> Plain:
    """Return what the file of a language holds."""
    import tomllib  # no texts are needed while figures are worked out

    return dict(_flat(tomllib.loads(place_of(lang).read_text(encoding="utf-8"))))


def place_of(lang: str) -> "Path":
    """Return where the file of a language is."""
    from pathlib import Path  # loads six more modules

    return Path(__file__).parent / f"{lang}.toml"


def _declared() -> dict[str, str]:
    """The names and questions of metrics as they are declared; a metric without a translation keeps its own."""
    found: dict[str, str] = {}
    for metric in metrics.catalogue():
        found[f"metric.{metric.name}"] = " ".join(_SPELT.get(word, word) for word in metric.name.split("_"))
        found[f"question.{metric.name}"] = metric.question
    return found


def _flat(tree: Mapping[str, object], before: str = "") -> Iterator[tuple[str, object]]:
    for name, value in tree.items():
        if isinstance(value, Mapping) and not set(value) <= _FORMS:
            yield from _flat(value, f"{before}{name}.")
        else:
            yield before + name, value
