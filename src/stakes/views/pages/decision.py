"""Ways to decide to look at: what each costs, and what the recommended one saves."""

from collections.abc import Iterator
from dataclasses import replace

from stakes.decisions.policies import Policies
from stakes.decisions.thresholds.by_label import LabelDecisions
from stakes.decisions.thresholds.decision import PER, Decision
from stakes.findings.facts import about
from stakes.findings.pages.ways import way
from stakes.language.numbers import write
from stakes.language.sentences import is_currency, metric_name, words
from stakes.tallies.costs import Costs
from stakes.views.page import Page, TextTable, confusion_grid

_MOST_DECISIONS = 20
"""Tables of more decisions are too wide to look at."""


def page(found: Decision | Policies, everything: bool = False, more: str = "") -> Page:
    """Lay out a recommendation: the verdict, every way to decide, and the table of the recommended one."""
    costs = found.costs is not None
    rows = [(_called(row), *_cells(row, found.costs)) for row in found.to_rows()]
    head = [words("ways.way"), *_head(found)]
    grids = [TextTable(head, rows, title=words("ways.title"))] if len(rows) > (not costs) else []
    if found.table is not None and len(found.table.decisions) <= _MOST_DECISIONS:
        chosen = isinstance(found, Decision) and found.chosen
        grids.append(replace(confusion_grid(found.table), title=words("decided.table_chosen") if chosen else ""))
    return Page.of(about(found), found.findings, grids=grids)


def labels_page(found: LabelDecisions, everything: bool = False, more: str = "") -> Page:
    """Lay out the threshold of each label, what it costs, and what that saves against everyone or no one."""
    first = next(iter(found.decisions.values()))
    rows = [
        (
            str(row["label"]),
            write(found[str(row["label"])].shown(float(row["threshold"] or 0)), "exact"),
            *_cells(row, first.costs),
        )
        for row in found.to_rows()[: None if everything else _MOST_DECISIONS]
    ]
    head = [words("each.of_labels"), words("ways.threshold"), *_head(first)]
    return Page.of(about(found), found.findings, grids=[TextTable(head, rows, title=words("each.labels"))])


def _head(found: Decision | Policies) -> list[str]:
    """What stands above the figures of ways to decide: costs and savings, or the figure that was asked for."""
    limits = words("ways.limits")
    if isinstance(found, Decision) and found.costs is None:
        return [metric_name(found.apparent.name), limits]
    unit = found.costs.unit if found.costs is not None else ""
    return [words("ways.cost_in", unit=unit) if unit else words("ways.cost"), limits, words("ways.saving"), limits]


def _cells(row: dict[str, str | float | None], costs: Costs | None) -> Iterator[str]:
    """Costs and savings of a thousand cases, or a figure as it is, each with its interval."""
    if costs is None:
        yield from _with_limits(row, "value", 1, "number")
        return
    form = "money" if is_currency(costs.unit) else "cost"
    for name in ("value", "saving"):
        yield from _with_limits(row, name, PER, form)


def _called(row: dict[str, str | float | None]) -> str:
    """The name of a way to decide; the recommended one says so."""
    name = way(str(row["way"])).words
    return words("ways.this_one", way=name) if row["recommended"] else name


def _with_limits(row: dict[str, str | float | None], name: str, per: int, form: str) -> tuple[str, str]:
    """A cost or a saving, and its interval."""
    before = "" if name == "value" else f"{name}_"
    value, low, high = (row[key] for key in (name, f"{before}low", f"{before}high"))
    numbers = [write(None if one is None else per * float(one), form) for one in (value, low, high)]
    return numbers[0], "–" if low is None else f"{numbers[1]} – {numbers[2]}"
