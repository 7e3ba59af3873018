"""The page of two classes: verdict, thresholds, calibration, segments, every figure."""

from typing import Any

from stakes.decisions.curves.report_thresholds import ReportThresholds, report_thresholds
from stakes.evaluation.reporting.calibration import calibration_section
from stakes.evaluation.reporting.explorer import explorer_section
from stakes.evaluation.reporting.figures import confusion_section, figures_section
from stakes.evaluation.reporting.segments import segments_section
from stakes.evaluation.reporting.verdict import verdict_section
from stakes.views.report.payload import page, said


def page_of(evaluation: Any) -> dict[str, Any]:
    """Return the payload of a two-class evaluation."""
    found = _stops(evaluation)
    calibration = calibration_section(evaluation)
    sections = [
        verdict_section(evaluation, found, calibration),
        *([explorer_section(evaluation, found)] if found is not None else confusion_section(evaluation)),
        *([calibration] if calibration else []),
        *segments_section(evaluation),
        figures_section(evaluation),
    ]
    title = said("page.two_classes", positive=evaluation.positive, negative=evaluation.negative)
    return page(title, _facts(evaluation), sections)


def _stops(evaluation: Any) -> ReportThresholds | None:
    table = evaluation.scores
    if table is None or not table.P or not table.N:
        return None
    threshold, confusion = evaluation.threshold, evaluation.confusion
    if threshold is None or table.answers(threshold):
        return report_thresholds(table, threshold)
    found = [(float(threshold), *confusion.counts[::-1, 1].tolist())]  # within a bin, but counted beside the bins
    return report_thresholds(table, known=found)


def _facts(evaluation: Any) -> list[dict[str, Any]]:
    facts = [
        said("page.rows", n=evaluation.rows),
        said("page.prevalence", share=evaluation.prevalence, positive=evaluation.positive),
    ]
    if evaluation.threshold is not None:
        facts.append(said("page.threshold", positive=evaluation.positive, threshold=evaluation.threshold))
    if evaluation.counted.clusters is not None:
        facts.append(said("page.clusters", n=evaluation.counted.clusters.count))
    return facts
