"""A plan to look at."""

from stakes.findings.facts import about
from stakes.findings.verdicts.plan import named
from stakes.language.numbers import write
from stakes.language.sentences import words
from stakes.planning.result import Plan
from stakes.views.page import Page, TextTable


def page(plan: Plan, everything: bool = False, more: str = "") -> Page:
    """Lay out a plan: the answer, and what studies of other sizes reach."""
    grids = []
    for part in plan.parts:
        reached = "plan.reached_width" if part.aim == "width" else "plan.reached_power"
        form = "number" if part.aim == "width" else "percent"
        rows = [(write(point.rows, "count"), write(point.reached, form)) for point in part.curve]
        if rows:
            grids.append(
                TextTable(
                    (words("plan.study"), words(reached)),
                    rows,
                    words=(),
                    title=words("plan.figure", name=named(part.figure)),
                )
            )
    return Page.of(about(plan), plan.findings, grids=grids)
