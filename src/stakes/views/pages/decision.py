"""Ways to decide to look at: what each costs, and what the recommended one saves."""

from stakes.decisions.policies import Policies
from stakes.decisions.thresholds.decision import PER, Decision
from stakes.findings.facts import about
from stakes.findings.pages.ways import way
from stakes.language.numbers import write
from stakes.language.sentences import metric_name, words
from stakes.views.page import Page, TextTable, confusion_grid

_MOST_DECISIONS = 20
"""Tables of more decisions are too wide to look at."""


def page(found: Decision | Policies, everything: bool = False, more: str = "") -> Page:
    """Lay out a recommendation: the verdict, every way to decide, and the table of the recommended one."""
    costs = not isinstance(found, Decision) or found.costs is not None
    per = PER if costs else 1
    form = "cost" if costs else "number"
    unit = found.costs.unit if found.costs is not None else ""
    if isinstance(found, Decision) and not costs:
        value = metric_name(found.apparent.name)
    else:
        value = words("ways.cost_in", unit=unit) if unit else words("ways.cost")
    limits = words("ways.limits")
    columns = {"value": (value, limits), **({"saving": (words("ways.saving"), limits)} if costs else {})}
    head = [words("ways.way"), *(one for pair in columns.values() for one in pair)]
    rows = [
        (_called(row), *(cell for name in columns for cell in _with_limits(row, name, per, form)))
        for row in found.to_rows()
    ]
    grids = [TextTable(head, rows, title=words("ways.title"))] if len(rows) > (not costs) else []
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
