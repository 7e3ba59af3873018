"""The page of several classes: verdict, confusion table, each class against the rest, segments, every figure."""

from collections.abc import Iterable

import numpy as np

from stakes import metrics
from stakes.decisions.curves.report_thresholds import report_thresholds
from stakes.evaluation.many_classes import ManyClassEvaluation
from stakes.findings.pages.figures import each_section, figures_section, segments_section
from stakes.findings.pages.payload import Part, figure, listed, section
from stakes.findings.verdicts.answers import MOST
from stakes.findings.verdicts.many_classes import largest_classes
from stakes.language.sentences import short_name
from stakes.metrics import Estimate
from stakes.metrics.usual import AREAS, CLASS_FIGURES_ON_PAGE
from stakes.tallies import Confusion, JointCounts, ScoreTable
from stakes.tallies.arithmetic import Array

_POINTS = 5000
"""The number of quantiles that the curves of all classes share."""


def sections_of(evaluation: ManyClassEvaluation) -> list[Part]:
    """Return the sections below the verdict on an evaluation of several classes."""
    return [
        *_matrix_section(evaluation),
        *_confused_section(evaluation),
        *_classes_section(evaluation),
        *_versus_section(evaluation),
        *_slopes_section(evaluation),
        *segments_section(evaluation),
        figures_section(evaluation),
    ]


# ── decisions ────────────────────────────────────────────────────────────────────────────────────────────────────
def _matrix_section(evaluation: ManyClassEvaluation) -> list[Part]:
    """The confusion table of the most frequent classes, with the rows that were decided otherwise beside it."""
    table = evaluation._decided
    if table is None:
        return []
    shown = largest_classes(evaluation)
    others = [name for name in table.decisions if name not in evaluation.support][:MOST]
    decisions = [name for name in shown if name in table.decisions] + others
    cells = _cells(table, [table.truths.index(t) for t in shown], [table.decisions.index(d) for d in decisions])
    return [
        section(
            "matrix",
            truths=[short_name(name) for name in shown],
            decisions=[short_name(name) for name in decisions],
            diagonal=[decisions.index(name) if name in decisions else None for name in shown],
            cells=[listed(row) for row in cells],
            totals=[evaluation.support[name] for name in shown],
            count=len(evaluation.classes),
        )
    ]


def _cells(table: Confusion | JointCounts, rows: list[int], columns: list[int]) -> Array:
    if isinstance(table, Confusion):
        return np.asarray(table.counts)[np.ix_(rows, columns)]
    across, down = ({code: place for place, code in enumerate(codes)} for codes in (columns, rows))
    found = np.zeros((len(rows), len(columns)), table.counts.dtype)
    for (truth, decision), count in zip(table.codes[:, :2].tolist(), table.counts, strict=True):
        if truth in down and decision in across:
            found[down[truth], across[decision]] = count
    return found


def _confused_section(evaluation: ManyClassEvaluation) -> list[Part]:
    """The most frequent wrong decisions, if any decision is wrong."""
    found = [] if evaluation._decided is None else evaluation.most_confused()
    pairs = [
        {"truth": short_name(truth), "decision": short_name(decision), "count": count, "share": share}
        for truth, decision, count, share in found
    ]
    return [section("confused", pairs=pairs)] if pairs else []


# ── each class against the rest ──────────────────────────────────────────────────────────────────────────────────
def _classes_section(evaluation: ManyClassEvaluation) -> list[Part]:
    """The figures of each class, and their plain means."""
    shown = largest_classes(evaluation)
    known = [name for name in CLASS_FIGURES_ON_PAGE if metrics.find(name).tally in evaluation._against_rest[shown[0]]]
    each = {of: (evaluation.support[of], {name: evaluation.interval((name, of)) for name in known}) for of in shown}
    whole = [figure(evaluation.figures[f"macro_{name}"]) for name in known]
    return each_section(each, len(evaluation.classes), whole)


def _versus_section(evaluation: ManyClassEvaluation) -> list[Part]:
    """The ROC and PR curves of each class, as counts at some thresholds."""
    tables = {name: evaluation._scores_of(name) for name in largest_classes(evaluation)}
    usable = {name: table for name, table in tables.items() if table is not None and table.P and table.N}
    curves = [
        sweep(name, table, _POINTS // len(usable), [evaluation.interval((area, name)) for area in AREAS.values()])
        for name, table in usable.items()
    ]
    return [section("versus", curves=curves)] if curves else []


def sweep(name: str, table: ScoreTable, quantiles: int, areas: Iterable[Estimate]) -> Part:
    """Return what some hundred thresholds of a score find and let through, with the areas under its curves."""
    found = report_thresholds(table, quantiles=min(quantiles, 1000))
    counts = {"P": float(table.P), "N": float(table.N)}
    return {
        "name": short_name(name),
        **{key: int(count) if count.is_integer() else count for key, count in counts.items()},
        **{key: listed(getattr(found, key)) for key in ("thresholds", "tp", "fp")},
        "figures": [figure(one) for one in areas],
    }


def _slopes_section(evaluation: ManyClassEvaluation) -> list[Part]:
    """How honest the probability of each class is."""
    studied = evaluation._studied_calibration
    each = {} if studied is None else studied.classes
    lines = {name: (one.slope, one.intercept_at_slope_1) for name, one in each.items()}
    known = {name: line for name, line in lines.items() if any(one.defined for one in line)}
    if not known:
        return []
    rows = [
        {"name": short_name(name), "rows": evaluation.support[name], "figures": [figure(one) for one in line]}
        for name, line in known.items()
    ]
    return [section("slopes", classes=rows, at_prior=evaluation.population is not None)]
