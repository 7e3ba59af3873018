"""What text views show of each kind of result; ``page_of(thing)`` chooses."""

from functools import singledispatch

from stakes.decisions.calibration.calibration import Calibration, ClassCalibrations
from stakes.decisions.policies import Policies
from stakes.decisions.thresholds.decision import PER, Decision
from stakes.evaluation.base import Evaluation
from stakes.evaluation.by_segment import BySegment
from stakes.evaluation.comparison import Comparison
from stakes.evaluation.gate import Gate
from stakes.evaluation.recalibrating import Recalibration
from stakes.findings.facts import about
from stakes.findings.pages.ways import way
from stakes.language.numbers import write
from stakes.language.sentences import metric_name, words
from stakes.systems.system import System
from stakes.uncertainty.permutation import PermutationTest
from stakes.validation.result import Validation
from stakes.views.page import Page, TextTable, confusion_grid
from stakes.views.pages import calibration, comparison, evaluation, gate, segments, system, validation

_MOST_DECISIONS = 20
"""Tables of more decisions are too wide to look at."""


@singledispatch
def page_of(thing: object, everything: bool = False, more: str = "") -> Page:
    """Return what there is to see of a result; ``more`` says how to see what that leaves out."""
    raise NotImplementedError(type(thing).__name__)


page_of.register(Evaluation)(evaluation.page)
page_of.register(Comparison)(comparison.page)
page_of.register(BySegment)(segments.page)
page_of.register(Gate)(gate.page)
page_of.register(System)(system.page)
page_of.register(Validation)(validation.page)
page_of.register(Calibration)(calibration.page)
page_of.register(ClassCalibrations)(calibration.page)
page_of.register(Recalibration)(calibration.recalibration_page)


@page_of.register(PermutationTest)
def _permutation_test(test: PermutationTest, everything: bool = False, more: str = "") -> Page:
    head = [words(f"permutation.{name}") for name in ("figure", "value", "p", "method")]
    row = (metric_name(test.metric), write(test.value), write(test.p_value), test.method)
    return Page.of(about(test), test.findings, grids=[TextTable(head, [row], words=(0, 3))])


@page_of.register(Decision)
@page_of.register(Policies)
def _decision(found: Decision | Policies, everything: bool = False, more: str = "") -> Page:
    costs = not isinstance(found, Decision) or found.costs is not None
    per = PER if costs else 1
    form = "cost" if costs else "number"
    unit = found.costs.unit if found.costs is not None else ""
    names = ("way", "value" if not costs else "cost", "limits", "saving", "limits")
    head = [words(f"ways.{name}") for name in names]
    head[1] = words("ways.cost_in", unit=unit) if unit else head[1]
    rows = [
        (
            way(str(row["way"])).words,
            *(cell for name in ("value", "saving") for cell in _with_limits(row, name, per, form)),
        )
        for row in found.to_rows()
    ]
    grids = [TextTable(head, rows, title=words("ways.title"))] if rows else []
    if found.table is not None and len(found.table.decisions) <= _MOST_DECISIONS:
        grids.append(confusion_grid(found.table))
    return Page.of(about(found), found.findings, grids=grids)


def _with_limits(row: dict[str, str | float | None], name: str, per: int, form: str) -> tuple[str, str]:
    """A cost or a saving, and its interval."""
    before = "" if name == "value" else f"{name}_"
    value, low, high = (row[key] for key in (name, f"{before}low", f"{before}high"))
    told = [write(None if one is None else per * float(one), form) for one in (value, low, high)]
    return told[0], "–" if low is None else f"{told[1]} – {told[2]}"
