"""What a view shows of a result: the verdict, facts, notes and a few small tables, still without any markup."""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from stakes import metrics
from stakes.errors import Text
from stakes.findings.facts import About
from stakes.frozen import dataclass, field, fields, replace
from stakes.language.numbers import write
from stakes.language.sentences import Finding, Tone, metric_name, metric_question, reason, words
from stakes.metrics import Estimate
from stakes.tallies import Confusion
from stakes.text import current_language

Figures: TypeAlias = Sequence[tuple[metrics.Metric, Estimate]]

Column: TypeAlias = tuple[str, Callable[[Any], str]]
"""A column of a table: its head, and what it tells of each thing."""

SIGNS: Mapping[Tone, str] = {
    "good": "✓", "doubt": "?", "bad": "✕", "note": "i", "open": "–", "wrong": "✕", "caution": "!",
}  # fmt: skip

_SAME_REASON = 3
"""From so many figures that are undefined for the same reason, one line says it for all."""


@dataclass(frozen=True)
class TextTable:
    """A small table of text; all columns but those named in ``words`` are numbers.

    A column in ``below`` holds sentences, which stand below their row where the page is narrow; ``tones`` say how some
    cells sound.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[int] = (0,)
    sections: Sequence[int] = ()
    title: str = ""
    below: int | None = None
    tones: Mapping[str, Tone] = field(default_factory=dict)

    @classmethod
    def of(cls, things: Iterable[Any], *columns: Column, **parts: Any) -> "TextTable":
        """Lay out things as rows; each column is a head, and what it tells of a thing."""
        rows = [[tell(one) for _, tell in columns] for one in things]
        return cls([head for head, _ in columns], rows, **parts)


@dataclass(frozen=True)
class AnswerInWords:
    """A finding in words: the essential sentence, the figures behind it, and what else there is to say."""

    tone: Tone
    question: str
    lead: str
    figures: Sequence[str] = ()
    more: Sequence[str] = ()

    @classmethod
    def of(cls, found: Finding) -> "AnswerInWords":
        """Put a finding into words."""
        lead, *more = found.words
        return cls(found.tone, found.question or "", lead, [one.words for one in found.figures], more)


@dataclass(frozen=True)
class Page:
    """The parts of a page, in the order in which they are shown."""

    title: str = ""
    facts: Sequence[str] = ()
    answers: Sequence[AnswerInWords] = ()
    grids: Sequence[TextTable] = ()
    notes: Sequence[str] = ()
    more: str = ""
    picture: str = ""
    pictures: Sequence[Callable[[], str]] = field(default_factory=tuple)

    @classmethod
    def of(
        cls,
        about: About,
        findings: Iterable[Finding] = (),
        grids: Sequence[TextTable] = (),
        notes: Iterable[str] = (),
        **parts: Any,
    ) -> "Page":
        """Put a page together from what it is about, its findings (cautions go before other notes), and tables."""
        found = list(findings)
        answers = [AnswerInWords.of(one) for one in found if one.tone != "caution"]
        cautions = [note for one in found if one.tone == "caution" for note in one.words]
        facts = [fact.words for fact in about.facts]
        return cls(about.title.words, facts, answers, grids, [*cautions, *notes], **parts)

    def mapped(self, write: Callable[[str], str]) -> "Page":
        """Return the page with each of its texts written another way: every cell, fact, note, title, line."""
        found: Page = _rewrite(self, write)
        return replace(found, picture="\n".join(map(write, self.picture.split("\n"))))  # the only text of several lines


def _rewrite(part: Any, write: Callable[[str], str]) -> Any:
    """A part of a page with its texts written another way; tones, numbers and what is still to be drawn stay."""
    if isinstance(part, str):
        return write(part)
    if isinstance(part, list | tuple):
        return [_rewrite(one, write) for one in part]
    if isinstance(part, Mapping):
        return {write(cell): tone for cell, tone in part.items()}
    if isinstance(part, Page | TextTable | AnswerInWords):
        names = [one.name for one in fields(part) if one.name != "tone"]
        return replace(part, **{name: _rewrite(getattr(part, name), write) for name in names})
    return part


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────
def figures_grid(shown: Figures, families: bool, marks: Mapping[str, str]) -> TextTable:
    """Return figures with their intervals (marked if noted), baselines and the questions that they answer."""
    rows = [
        (
            metric_name(metric.full_text),
            write(one.value),
            f"{between(one)}{marks.get(one.name, '')}",
            write(one.baseline),
            _meaning(metric, one, families),
        )
        for metric, one in shown
    ]
    pairs = itertools.pairwise(metric.family for metric, _ in shown)
    sections = [i for i, (one, next_one) in enumerate(pairs) if families and one != next_one]
    sure = words("figures.interval", confidence=shown[0][1].confidence)
    head = [words(f"figures.{name}") for name in ("name", "value", "baseline", "question")]
    return TextTable([*head[:2], sure, *head[2:]], rows, words=(0, 4), sections=sections, below=4)


def _meaning(metric: metrics.Metric, estimate: Estimate, everything: bool) -> str:
    """The notes on a figure: its question, and on a full page why it has no interval."""
    if not estimate.defined:
        return why_undefined(estimate)
    question = " ".join(filter(None, (metric_question(metric.full_text), where_used(estimate))))
    if everything and estimate.low is None and estimate.no_interval:
        return f"{question} {words('figures.no_interval', reason={'reason': estimate.no_interval})}"
    return question


def where_used(estimate: Estimate) -> str:
    """Say at which class frequencies a figure is, where those of the rows are others."""
    if not estimate.prior:
        return ""
    if len(estimate.prior) > 2:
        return words("figures.at_frequencies")
    return words("figures.at_prevalence", share=next(iter(estimate.prior.values())))


def why_undefined(undefined: Estimate) -> str:
    """Say why a figure is undefined."""
    return words("figures.undefined", reason=reason(undefined.reason))


def without_repeated_reasons(shown: Figures) -> tuple[Figures, list[str]]:
    """Take out figures that are all undefined for the same reason, and say it once."""
    names: dict[str, list[str]] = {}
    for metric, estimate in shown:
        names.setdefault(estimate.reason, []).append(metric_name(metric.name))
    shared = {why for why, same in names.items() if why and len(same) >= _SAME_REASON}
    notes = [Text(f"{', '.join(names[why])}: ", words("figures.undefined", reason=reason(why))) for why in shared]
    return [(metric, estimate) for metric, estimate in shown if estimate.reason not in shared], sorted(notes)


def confusion_grid(confusion: Confusion) -> TextTable:
    """Return a confusion table to look at."""
    head, *rows = confusion.text_rows()
    return TextTable([words("confusion.corner"), *head[1:]], rows)


def line_of(found: Estimate) -> str:
    """Return a figure in one line, with its interval and what ignoring the input would score."""
    if not found.defined:
        return f"{metric_name(found.name)}: {why_undefined(found)}"
    values = {name: getattr(found, name) for name in ("low", "high", "confidence", "baseline")}
    sure = words("figures.no_interval", reason={"reason": found.no_interval}) if found.no_interval else ""
    if found.low is not None:
        sure = words("figures.line_interval", **values)
    other = "" if math.isnan(found.baseline) else f" ({words('figures.line_baseline', **values)})"
    ends = None if found.bounds is None else dict(zip(("low", "high"), found.bounds, strict=True))
    left_open = "" if ends is None else f"; {words('figures.line_bounds', **ends)}"
    return f"{metric_name(found.name)} {write(found.value, 'exact')}{sure and ', '}{sure}{other}{left_open}"


def between(estimate: object) -> str:
    """Write an interval, or a dash where there is none."""
    low, high = (getattr(estimate, end) for end in ("low", "high"))
    return "–" if low is None else f"{write(low)} – {write(high)}"


def write_count(name: str) -> Callable[[Any], str]:
    """Return what writes a number of rows, a rank or the like, by its name."""
    return lambda one: write(getattr(one, name), "count")


def write_figure(name: str) -> Callable[[Any], str]:
    """Return what writes a figure by its name."""
    form = "p" if name.endswith("p_value") else "number"
    return lambda one: write(getattr(one, name), form)


def pair_of(one: Any) -> str:
    """Write which model is compared with which."""
    return f"{one.first} − {one.second}"


def sure_of(confidence: float) -> str:
    """Return the head of a column of intervals."""
    return words("figures.interval", confidence=confidence)


def ranks_between(low: int, high: int) -> str:
    """Write the ranks that a model may have."""
    return write(low, "count") if low == high else f"{write(low, 'count')} – {write(high, 'count')}"


def short(name: str) -> str:
    """Long names by their first alias, which is English, where columns are narrow."""
    if current_language() != "en":
        return metric_name(name)
    aliases = [alias for alias in metrics.find(name).aliases if len(alias) < len(name)]
    return aliases[0] if len(name) > 12 and aliases else metric_name(name)
