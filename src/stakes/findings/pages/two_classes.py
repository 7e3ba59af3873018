"""The page of two classes: verdict, thresholds, calibration, segments, every figure."""

from stakes.evaluation.two_classes import TwoClassEvaluation
from stakes.findings.pages.calibration import calibration_section
from stakes.findings.pages.explorer import explorer_section
from stakes.findings.pages.figures import confusion_section, figures_section, segments_section
from stakes.findings.pages.payload import Part


def sections_of(evaluation: TwoClassEvaluation) -> list[Part]:
    """Return the sections below the verdict on a two-class evaluation."""
    points, table = evaluation._report_thresholds, evaluation.scores
    calibration = evaluation._studied_calibration
    return [
        *([explorer_section(evaluation, table, points)] if table and points else confusion_section(evaluation)),
        *([] if calibration is None else [calibration_section(evaluation, calibration)]),
        *segments_section(evaluation),
        figures_section(evaluation),
    ]
