"""Sentences as data: a key of the catalogue and what fills its gaps, to be written in any of the languages.

A :class:`Finding` is what is to be said about some figures, decided once. Views choose where it stands and how it
looks; what it says comes from the catalogue, in terminal, notebook, Markdown, JSON and page alike.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Annotated, Any, Literal, TypeAlias

from stakes.errors import Pass, Text
from stakes.frozen import dataclass, field, replace
from stakes.language.numbers import write
from stakes.language.texts import texts
from stakes.records import Record, Says, plain
from stakes.text import current_language, visible

Tone: TypeAlias = Literal["good", "doubt", "bad", "note", "open", "wrong", "caution"]
"""The tone of a finding: the first five are answers to a question; a caution is something to keep in mind, and what is
``wrong`` makes every figure meaningless."""

_GAP = re.compile(r"\{(\w+)(?::(\w+))?\}")
_AVERAGED = re.compile(r"(macro|weighted|micro|uniform|variance_weighted)_(?=[a-z])")
_NUMBERS = ("n", "m", "all", "k", "least", "most", "low", "high", "share")
"""Gaps of notes that only numbers fill."""

_NUMBER = r"-?[\d.,]+(?:e[+-]?\d+)?"
_LONGEST = 80
_MOST_KEPT = 1000
"""How many translated notes are cached."""


@dataclass(frozen=True)
class Sentence(Record):
    """A sentence of the catalogue with what fills its gaps."""

    key: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """The sentence in the language of the reader."""
        found = texts(current_language())[self.key]
        text = found if isinstance(found, str) else _plural(found, self.values["n"])
        pieces = _GAP.split(text)  # a piece, the name of a gap, its form, a piece …
        gaps = [
            _fill(self.values[name], form or "number") for name, form in zip(pieces[1::3], pieces[2::3], strict=True)
        ]
        parts = [part for pair in zip(pieces[::3], [*gaps, ""], strict=True) for part in pair]
        return Text(*parts) if any(isinstance(one, Pass | Text) for one in gaps) else "".join(map(str, parts))


def sentence(key: str, **values: Any) -> Sentence:
    """Return a sentence of the catalogue; a metric is named by ``metric("auc")``, a list of names is enumerated."""
    return Sentence(key, {name: _as_data(value) for name, value in values.items()})


def metric(name: str) -> dict[str, str]:
    """Return a metric to be named in the language of the reader."""
    return {"metric": name}


def reason(words: str) -> dict[str, str]:
    """Return a declared reason, to be written in the language of the reader."""
    return {"reason": words}


def money(amount: float | None, unit: str) -> Any:
    """Return a cost with its unit, to be written as the language has it: €390, 390 €, 390 minutes; −€390."""
    if not unit or amount is None:
        return amount
    if not is_currency(unit):
        return sentence("amount.word", amount=amount, unit=unit)
    return sentence("amount.below_0" if amount < 0 else "amount.sign", amount=abs(amount), unit=unit)


def is_currency(unit: str) -> bool:
    """Return whether a unit is the sign of a currency."""
    from unicodedata import category  # few results have a unit

    return len(unit) == 1 and category(unit) == "Sc"


def short_name(name: object) -> str:
    """Return a name from the data, cut to a length that can be shown."""
    text = visible(str(name))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _as_data(value: Any) -> Any:
    if isinstance(value, str):
        return value if isinstance(value, Text) else short_name(value)
    if isinstance(value, list | tuple):
        return [one if isinstance(one, Sentence) else short_name(one) for one in value]
    return value if value is None or isinstance(value, dict | int | Sentence | Pass) else plain(float(value))


@dataclass(frozen=True)
class Chip(Record):
    """A figure beside an answer: its name, and how it is written."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    baseline: float | None = None
    reason: str = ""
    label: Sentence | None = None
    format: str = "number"
    unit: str = ""

    @classmethod
    def of(
        cls, estimate: Any, label: str = "", per: float = 1, form: str = "number", unit: str = "", **values: Any
    ) -> "Chip":
        """Take a figure with its interval, for so many cases, in a unit, and under a label of its own."""
        low, high = (None if one is None else per * one for one in (estimate.low, estimate.high))
        called = sentence(label, **values) if label else None
        value, baseline = per * estimate.value, per * estimate.baseline
        return cls(estimate.name, value, low, high, baseline, estimate.reason, called, form, unit)

    @property
    def words(self) -> str:
        """The figure with its interval in the language of the reader."""
        label = metric_name(self.name) if self.label is None else self.label.words
        value, low, high = (_fill(money(one, self.unit), self.format) for one in (self.value, self.low, self.high))
        return f"{label} {value}" + ("" if self.low is None else f" ({low} – {high})")


@dataclass(frozen=True)
class Finding(Record, shown="key tone question words sentences figures"):
    """What is to be said about some figures: an answer to a plain question, or something to keep in mind.

    ``key`` names the question in the catalogue, or the caution; ``sentences`` are the answer, the essential one first;
    ``figures`` stand behind it.
    """

    key: str
    tone: Tone
    sentences: tuple[Sentence, ...]
    figures: tuple[Chip, ...] = ()
    asked: Mapping[str, Any] = field(default_factory=dict)

    @property
    def answers(self) -> bool:
        """Whether it answers a question."""
        return self.tone not in ("wrong", "caution")

    @property
    def question(self) -> Annotated[str | None, Says("The question that is answered; None of a caution.")]:
        """The question in the language of the reader, if it answers one."""
        return Sentence(self.key, self.asked).words if self.answers else None

    @property
    def words(self) -> Annotated[list[str], Says("The sentences in words.")]:
        """The sentences in the language of the reader."""
        return [one.words for one in self.sentences]

    def __str__(self) -> str:
        return visible(" ".join([self.question, *self.words] if self.question else self.words))


def answer(key: str, tone: Tone, /, *sentences: Sentence, figures: Sequence[Any] = (), **asked: Any) -> Finding:
    """Return the answer to a question of the catalogue, with the figures behind it."""
    chips = tuple(one if isinstance(one, Chip) else Chip.of(one) for one in figures)
    return Finding(key, tone, sentences, chips, sentence(key, **asked).values)


def caution(key: str, wrong: bool = False, /, **values: Any) -> Finding:
    """Return something to keep in mind."""
    return Finding(key, "wrong" if wrong else "caution", (sentence(key, **values),))


def in_unit(finding: Finding, unit: str) -> Finding:
    """Return the same finding with every cost in a unit."""
    if not unit:
        return finding
    sentences = []
    for one in finding.sentences:
        costs = {name: money(one.values[name], unit) for name in _costs_in(one.key)}
        sentences.append(replace(one, values={**one.values, **costs}))
    chips = tuple(replace(chip, unit=unit) if chip.format == "cost" else chip for chip in finding.figures)
    return replace(finding, sentences=tuple(sentences), figures=chips)


@cache
def _costs_in(key: str) -> frozenset[str]:
    """The gaps of a sentence that costs fill."""
    found = texts("en")[key]
    forms = [found] if isinstance(found, str) else list(found.values())
    return frozenset(name for text in forms for name, form in _GAP.findall(text) if form == "cost")


# ── in the language of the reader ────────────────────────────────────────────────────────────────────────────────
def words(key: str, /, **values: Any) -> str:
    """Return a sentence or a label of the catalogue in words."""
    return sentence(key, **values).words


def metric_name(text: str) -> str:
    """Return the name of a metric; parameters stay as users write them, averages are named after their figure."""
    average = _average_of(text)
    if average is not None:
        return words(f"average.{average[1]}", name=metric_name(text[average.end() :]))
    name = _first_word(text)
    return " ".join(filter(None, (str(texts(current_language()).get(f"metric.{name}", name)), text[len(name) :])))


def metric_question(text: str) -> str:
    """Return the question that a metric answers."""
    average = _average_of(text)
    if average is not None:
        return f"{metric_question(text[average.end() :])} ({words(f'average.{average[1]}_means')})"
    return str(texts(current_language()).get(f"question.{_first_word(text)}", ""))


def _average_of(text: str) -> re.Match[str] | None:
    """How a name says that it is an average of another figure, if it is one."""
    found = _AVERAGED.match(text)
    known = found is not None and f"metric.{_first_word(text[found.end() :])}" in texts(current_language())
    return found if known else None


def _first_word(text: str) -> str:
    return re.split(r"[(\[ ]", text, maxsplit=1)[0]


def reason_text(words: str) -> str:
    """Return a reason or a note, which figures give in English; one with gaps is found by the words between them.

    What nobody translated stays as it is, and so do the arguments that it mentions.
    """
    if not isinstance(words, Text):
        return _translated(words)
    marked = "".join(f"⟦{i}⟧" if isinstance(part, Pass) else part for i, part in enumerate(words.parts))
    pieces = re.split("⟦(\\d+)⟧", _translated(marked))  # a piece, the place of an argument, a piece …
    return Text(*(words.parts[int(piece)] if i % 2 else piece for i, piece in enumerate(pieces)))


def _translated(words: str) -> str:
    return _translated_into(current_language(), words)


@lru_cache(_MOST_KEPT)
def _translated_into(lang: str, words: str) -> str:
    """A note as a whole, or several of them one after the other, or one with gaps; otherwise as it is."""
    known = texts(lang)
    whole = known.get(f"reason.{words}") or known.get(f"note.{words}")
    if whole is not None:
        return str(whole)
    lists = {sign: words.split(sign) for sign in ("; ", ", ") if sign in words}
    translated = {sign: [_translated_into(lang, part) for part in parts] for sign, parts in lists.items()}
    for sign, parts in lists.items():
        if not set(translated[sign]) & set(parts):
            return sign.join(translated[sign])
    for pattern, text in _patterns(lang):
        if found := pattern.fullmatch(words):
            gaps = {name: _fill_note(part) for name, part in found.groupdict().items()}
            return _GAP.sub(lambda gap: gaps[gap[1]], text)  # noqa: B023
    return "; ".join(translated["; "]) if "; " in translated else words


@cache
def _patterns(lang: str) -> list[tuple[re.Pattern[str], str]]:
    """Reasons and notes with gaps, as patterns of their English words; those with the most words of their own first."""
    found = [(key.partition(".")[2], str(text)) for key, text in texts(lang).items() if "{" in key]
    found.sort(key=lambda one: -len(_GAP.sub("", one[0])))
    return [(re.compile(re.sub(r"\\\{(\w+)\\\}", _pattern_of_gap, re.escape(key))), text) for key, text in found]


def _pattern_of_gap(gap: re.Match[str]) -> str:
    return rf"(?P<{gap[1]}>{_NUMBER if gap[1] in _NUMBERS else '.+'})"


def _fill_note(text: str) -> str:
    """What fills a gap of a reason: a number, a note again, a list, a metric, or a name."""
    try:
        value = float(text.replace(",", ""))
        return write(value, "count" if value.is_integer() else "exact")
    except ValueError:
        pass
    if (whole := _translated(text)) != text:
        return whole
    for word, key in ((" and ", "page.list"), (" or ", "page.list_or")):
        before, _, last = text.rpartition(word)
        if before:
            return words(key, before=_fill_note(before), last=_fill_note(last))
    return metric_name(text) if f"metric.{_first_word(text)}" in texts(current_language()) else text


def _fill(value: Any, form: str) -> str | Pass:
    """What fills a gap."""
    if isinstance(value, Pass | Text):
        return value
    if isinstance(value, list | tuple) and any(isinstance(one, Sentence) for one in value):
        return ", ".join(one.words for one in value)
    if isinstance(value, list | tuple):
        return _enumerate([name if name == "…" else words("page.quoted", name=name) for name in value])
    if isinstance(value, Sentence):
        return value.words
    if isinstance(value, Mapping):
        return metric_name(value["metric"]) if "metric" in value else reason_text(value["reason"])
    if isinstance(value, str) and value not in ("Infinity", "-Infinity"):
        return value
    return write(None if value is None else float(value), form)


def _enumerate(names: Sequence[str]) -> str:
    *before, last = names
    return Sentence("page.list", {"before": ", ".join(before), "last": last}).words if before else last


def _plural(forms: Mapping[str, str], number: float) -> str:
    """The form that goes with a number, as far as these languages tell them apart."""
    return forms.get(_plural_form(number)) or forms.get("other") or forms["few"]


def _plural_form(number: float) -> str:
    if current_language() != "ru":
        return "one" if number == 1 else "other"
    if number != int(number):
        return "few"  # a fraction takes the form of "few"
    ones, tens = number % 10, number % 100
    if ones == 1 and tens != 11:
        return "one"
    return "few" if 2 <= ones <= 4 and not 12 <= tens <= 14 else "many"
