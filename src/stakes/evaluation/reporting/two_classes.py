"""The page of two classes: verdict, thresholds, calibration, segments, every figure."""

from stakes.decisions.curves.report_thresholds import ReportThresholds, report_thresholds
from stakes.evaluation.reporting import Part
from stakes.evaluation.reporting.calibration import calibration_section, study_calibration
from stakes.evaluation.reporting.explorer import explorer_section
from stakes.evaluation.reporting.figures import clusters_fact, confusion_section, figures_section, segments_section
from stakes.evaluation.reporting.verdict import verdict_section
from stakes.evaluation.two_classes import TwoClassEvaluation
from stakes.views.report.payload import page, said


def page_of(evaluation: TwoClassEvaluation) -> Part:
    """Return the payload of a two-class evaluation."""
    stops, table = _stops(evaluation), evaluation.scores
    calibration = study_calibration(evaluation)
    sections = [
        verdict_section(evaluation, stops, calibration),
        *([explorer_section(evaluation, table, stops)] if table and stops else confusion_section(evaluation)),
        *([] if calibration is None else [calibration_section(evaluation, *calibration)]),
        *segments_section(evaluation),
        figures_section(evaluation),
    ]
    title = said("page.two_classes", positive=evaluation.positive, negative=evaluation.negative)
    return page(title, _facts(evaluation), sections)


def _stops(evaluation: TwoClassEvaluation) -> ReportThresholds | None:
    table, threshold, confusion = evaluation.scores, evaluation.threshold, evaluation.confusion
    if table is None or not table.P or not table.N:
        return None
    if threshold is None or confusion is None or table.answers(threshold):
        return report_thresholds(table, threshold)
    found = [(float(threshold), *confusion.counts[::-1, 1].tolist())]  # within a bin, but counted beside the bins
    return report_thresholds(table, known=found)


def _facts(evaluation: TwoClassEvaluation) -> list[Part]:
    facts = [
        said("page.rows", n=evaluation.rows),
        said("page.prevalence", share=evaluation.prevalence, positive=evaluation.positive),
    ]
    if evaluation.threshold is not None:
        facts.append(said("page.threshold", positive=evaluation.positive, threshold=evaluation.threshold))
    return facts + clusters_fact(evaluation)
