"""What text views show of each kind of result; ``page_of(thing)`` chooses."""

from functools import singledispatch

from stakes.decisions.calibration.calibration import Calibration, ClassCalibrations
from stakes.decisions.calibration.numbers import NumberCalibration
from stakes.decisions.policies import Policies
from stakes.decisions.thresholds.decision import Decision
from stakes.evaluation.base import Evaluation
from stakes.evaluation.by_segment import BySegment
from stakes.evaluation.comparison import Comparison
from stakes.evaluation.few_grades import FewGrades
from stakes.evaluation.few_labels import FewLabels
from stakes.evaluation.gap import Gap
from stakes.evaluation.gate import Gate
from stakes.evaluation.ranks import Ranks
from stakes.evaluation.recalibrating import Recalibration
from stakes.evaluation.watch import Watch
from stakes.planning.result import Plan
from stakes.systems.choices import SystemChoice
from stakes.systems.system import System
from stakes.uncertainty.permutation import PermutationTest
from stakes.validation.result import Validation
from stakes.views.page import Page
from stakes.views.pages import (
    calibration,
    choice,
    comparison,
    decision,
    evaluation,
    few_labels,
    gate,
    permutation,
    plan,
    ranks,
    segments,
    system,
    validation,
    watch,
)


@singledispatch
def page_of(thing: object, everything: bool = False, more: str = "") -> Page:
    """Return what there is to see of a result; ``more`` says how to see what that leaves out."""
    raise NotImplementedError(type(thing).__name__)


page_of.register(Evaluation)(evaluation.page)
page_of.register(Comparison)(comparison.page)
page_of.register(BySegment)(segments.page)
page_of.register(Gap)(segments.gap_page)
page_of.register(Gate)(gate.page)
page_of.register(System)(system.page)
page_of.register(SystemChoice)(choice.page)
page_of.register(Validation)(validation.page)
page_of.register(Calibration)(calibration.page)
page_of.register(ClassCalibrations)(calibration.page)
page_of.register(NumberCalibration)(calibration.number_page)
page_of.register(Recalibration)(calibration.recalibration_page)
page_of.register(Decision)(decision.page)
page_of.register(Policies)(decision.page)
page_of.register(Ranks)(ranks.page)
page_of.register(Watch)(watch.page)
page_of.register(PermutationTest)(permutation.page)
page_of.register(Plan)(plan.page)
page_of.register(FewLabels)(few_labels.page)
page_of.register(FewGrades)(few_labels.page)
