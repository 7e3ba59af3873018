"""Something chosen for a system to look at: a rule, whom to ask, or thresholds."""

from typing import Any

from stakes.findings.facts import about
from stakes.language.numbers import write
from stakes.language.sentences import words
from stakes.systems.choices import SystemChoice
from stakes.views.page import Page, TextTable

_TITLES = {"rule": "choice.changes", "plan": "choice.steps", "thresholds": "choice.thresholds"}
_FORMS = {"cases": "cost", "saves": "cost", "share": "percent", "threshold": "number"}
_OF_ALL = ("cases", "saves")
"""Columns that add up over all cases, and are shown for 1,000 of them."""

_WORDS = ("now", "best", "cases", "saves", "after", "ask", "decide", "share", "model", "threshold")


def page(choice: SystemChoice, everything: bool = False, more: str = "") -> Page:
    """Lay out a choice: the verdict, and what was chosen."""
    rows = choice.to_rows()
    if not rows:
        return Page.of(about(choice), choice.findings)
    names = list(rows[0])
    models = names[:-4] if choice.chosen == "rule" else []
    head = [words(f"choice.{name}") if name in _WORDS and name not in models else name for name in names]
    per = 1000 / choice.cases
    cells = [[_cell(name, row[name], name in models, per) for name in names] for row in rows]
    numbers = [i for i, name in enumerate(names) if name in _FORMS and name not in models]
    texts = [i for i in range(len(names)) if i not in numbers]
    return Page.of(about(choice), choice.findings, [TextTable(head, cells, texts, title=words(_TITLES[choice.chosen]))])


def _cell(name: str, value: Any, is_answer: bool, per: float) -> str:
    """The text of a cell: a model's answer, a word, or a number."""
    if is_answer or name not in _FORMS:
        return "" if value is None else str(value)
    return write(per * value if name in _OF_ALL else value, _FORMS[name])
