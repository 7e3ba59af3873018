"""Ways to decide to look at: what each costs, and what the recommended one saves."""

from stakes.decisions.policies import Policies
from stakes.decisions.thresholds.decision import PER, Decision
from stakes.findings.facts import about
from stakes.findings.pages.ways import way
from stakes.language.numbers import write
from stakes.language.sentences import words
from stakes.views.page import Page, TextTable, confusion_grid

_MOST_DECISIONS = 20
"""Tables of more decisions are too wide to look at."""


def page(found: Decision | Policies, everything: bool = False, more: str = "") -> Page:
    """Lay out a recommendation: the verdict, every way to decide, and the table of the recommended one."""
    costs = not isinstance(found, Decision) or found.costs is not None
    per = PER if costs else 1
    form = "cost" if costs else "number"
    unit = found.costs.unit if found.costs is not None else ""
    names = ("way", "value" if not costs else "cost", "limits", "saving", "limits")
    head = [words(f"ways.{name}") for name in names]
    head[1] = words("ways.cost_in", unit=unit) if unit else head[1]
    rows = [
        (
            _called(row),
            *(cell for name in ("value", "saving") for cell in _with_limits(row, name, per, form)),
        )
        for row in found.to_rows()
    ]
    grids = [TextTable(head, rows, title=words("ways.title"))] if rows else []
    if found.table is not None and len(found.table.decisions) <= _MOST_DECISIONS:
        grids.append(confusion_grid(found.table))
    return Page.of(about(found), found.findings, grids=grids)


def _called(row: dict[str, str | float | None]) -> str:
    """The name of a way to decide; the recommended one says so."""
    name = way(str(row["way"])).words
    return words("ways.this_one", way=name) if row["recommended"] else name


def _with_limits(row: dict[str, str | float | None], name: str, per: int, form: str) -> tuple[str, str]:
    """A cost or a saving, and its interval."""
    before = "" if name == "value" else f"{name}_"
    value, low, high = (row[key] for key in (name, f"{before}low", f"{before}high"))
    told = [write(None if one is None else per * float(one), form) for one in (value, low, high)]
    return told[0], "–" if low is None else f"{told[1]} – {told[2]}"
