"""stakes: what do a model's mistakes cost, how sure are we, and what should be decided?"""

from __future__ import annotations

import importlib

from stakes.results import Door

TYPE_CHECKING = False  # as type checkers read it; typing itself takes longer to load than all of this

__version__ = "0.2.0"

# Which public names each module has. Nothing is imported before it is used, so `import stakes` stays cheap.
_PUBLIC = {
    "evaluation": "evaluate count decide Evaluation",
    "evaluation.counter": "Counter",
    "engines.plan": "load",
    "engines.files.demo": "demo_data",
    "decisions.thresholds.decision": "Decision",
    "decisions.thresholds.by_label": "LabelDecisions",
    "decisions.policies": "Policies",
    "validation.validate": "validate",
    "validation.result": "Validation",
    "evaluation.comparing": "compare",
    "evaluation.recalibrating": "calibrate Recalibration",
    "evaluation.comparison": "Comparison",
    "evaluation.gate": "gate Gate",
    "evaluation.few_classes": "FewClasses",
    "evaluation.few_grades": "FewGrades",
    "evaluation.few_labels": "FewLabels",
    "planning.study": "plan",
    "planning.result": "Plan",
    "evaluation.watch": "watch Watch",
    "evaluation.ranks": "rank Ranks",
    "systems.system": "System",
    "metrics": "Estimate",
    "metrics.own": "metric",
    "decisions.curves.kinds": "Curve",
    "decisions.calibration.calibration": "Calibration",
    "decisions.recalibration.scaling": "AffineCalibrator BetaCalibrator VectorCalibrator TemperatureCalibrator",
    "decisions.recalibration.calibrators": "IsotonicCalibrator SigmoidCalibrator load_calibrator",
    "decisions.recalibration.folds": "cross_fitted",
    "validation.permutation": "permutation_test",
    "validation.scoring": "scorer",
    "views.plots": "plot",
    "views.plots.regions": "plot_regions",
    "views.report.verb": "report",
    "findings": "findings_of",
    "uncertainty.permutation": "PermutationTest",
    "uncertainty.two_samples": "table_tests",
    "tallies": "ClassScores Confusion ErrorSums JointCounts ScoreTable",
    "tallies.costs": "Costs",
    "tallies.graded_items": "GradedItems",
    "errors": "InputError InputWarning StakesError UnableError UndefinedWarning",
}
_HOMES = {name: f"stakes.{module}" for module, names in _PUBLIC.items() for name in names.split()}
_MODULES = ("metrics",)

__all__ = [*sorted(_HOMES), *_MODULES]

if TYPE_CHECKING:
    from typing import Any

    from stakes import metrics as metrics
    from stakes.decisions.calibration.calibration import Calibration as Calibration
    from stakes.decisions.curves.kinds import Curve as Curve
    from stakes.decisions.policies import Policies as Policies
    from stakes.decisions.recalibration.calibrators import IsotonicCalibrator as IsotonicCalibrator
    from stakes.decisions.recalibration.calibrators import SigmoidCalibrator as SigmoidCalibrator
    from stakes.decisions.recalibration.calibrators import load_calibrator as load_calibrator
    from stakes.decisions.recalibration.folds import cross_fitted as cross_fitted
    from stakes.decisions.recalibration.scaling import AffineCalibrator as AffineCalibrator
    from stakes.decisions.recalibration.scaling import BetaCalibrator as BetaCalibrator
    from stakes.decisions.recalibration.scaling import TemperatureCalibrator as TemperatureCalibrator
    from stakes.decisions.recalibration.scaling import VectorCalibrator as VectorCalibrator
    from stakes.decisions.thresholds.by_label import LabelDecisions as LabelDecisions
    from stakes.decisions.thresholds.decision import Decision as Decision
    from stakes.engines.files.demo import demo_data as demo_data
    from stakes.engines.plan import load as load
    from stakes.errors import InputError as InputError
    from stakes.errors import InputWarning as InputWarning
    from stakes.errors import StakesError as StakesError
    from stakes.errors import UnableError as UnableError
    from stakes.errors import UndefinedWarning as UndefinedWarning
    from stakes.evaluation import Evaluation as Evaluation
    from stakes.evaluation import count as count
    from stakes.evaluation import decide as decide
    from stakes.evaluation import evaluate as evaluate
    from stakes.evaluation.comparing import compare as compare
    from stakes.evaluation.comparison import Comparison as Comparison
    from stakes.evaluation.counter import Counter as Counter
    from stakes.evaluation.few_classes import FewClasses as FewClasses
    from stakes.evaluation.few_grades import FewGrades as FewGrades
    from stakes.evaluation.few_labels import FewLabels as FewLabels
    from stakes.evaluation.gate import Gate as Gate
    from stakes.evaluation.gate import gate as gate
    from stakes.evaluation.ranks import Ranks as Ranks
    from stakes.evaluation.ranks import rank as rank
    from stakes.evaluation.recalibrating import Recalibration as Recalibration
    from stakes.evaluation.recalibrating import calibrate as calibrate
    from stakes.evaluation.watch import Watch as Watch
    from stakes.evaluation.watch import watch as watch
    from stakes.findings import findings_of as findings_of
    from stakes.metrics import Estimate as Estimate
    from stakes.metrics.own import metric as metric
    from stakes.planning.result import Plan as Plan
    from stakes.planning.study import plan as plan
    from stakes.systems.system import System as System
    from stakes.tallies import ClassScores as ClassScores
    from stakes.tallies import Confusion as Confusion
    from stakes.tallies import ErrorSums as ErrorSums
    from stakes.tallies import JointCounts as JointCounts
    from stakes.tallies import ScoreTable as ScoreTable
    from stakes.tallies.costs import Costs as Costs
    from stakes.tallies.graded_items import GradedItems as GradedItems
    from stakes.uncertainty.permutation import PermutationTest as PermutationTest
    from stakes.uncertainty.two_samples import table_tests as table_tests
    from stakes.validation.permutation import permutation_test as permutation_test
    from stakes.validation.result import Validation as Validation
    from stakes.validation.scoring import scorer as scorer
    from stakes.validation.validate import validate as validate
    from stakes.views.plots import plot as plot
    from stakes.views.plots.regions import plot_regions as plot_regions
    from stakes.views.report.verb import report as report


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"stakes.{name}")
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'stakes' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _speaking(lang: str) -> Any:
    from stakes.language import speaking

    return speaking(lang)


Door.find, Door.speaking = __getattr__, _speaking
Door.view = lambda name: importlib.import_module(f"stakes.views.{name}")
