"""scikit-learn's names and conventions, with intervals: ``from stakes.sklearn import f1_score``.

A function takes what its namesake in ``sklearn.metrics`` takes and gives the same number, as a float that also has
``.low``, ``.high`` and ``.reason``; ``strict=True`` gives the figure as stakes declares it. scikit-learn itself is not
loaded before an estimator or a display is used.

>>> from stakes.sklearn import recall_score
>>> found = recall_score([1, 1, 1, 1, 0, 0], [1, 1, 1, 0, 0, 1])
>>> float(found), round(found.low, 3), round(found.high, 3)
(0.75, 0.301, 0.954)
"""

import importlib
from typing import TYPE_CHECKING

# Which public names each module has; scikit-learn and matplotlib load with the modules that need them.
_PUBLIC = {
    "decisions": (
        "accuracy_score balanced_accuracy_score class_likelihood_ratios cohen_kappa_score confusion_matrix f1_score "
        "fbeta_score hamming_loss jaccard_score matthews_corrcoef multilabel_confusion_matrix "
        "precision_recall_fscore_support precision_score recall_score zero_one_loss"
    ),
    "report": "classification_report",
    "probability": "brier_score_loss d2_brier_score d2_log_loss_score hinge_loss log_loss",
    "searches": "dcg_score ndcg_score",
    "ranking": (
        "auc average_precision_score confusion_matrix_at_thresholds det_curve metric_at_thresholds "
        "precision_recall_curve roc_auc_score roc_curve top_k_accuracy_score"
    ),
    "labels": "coverage_error label_ranking_average_precision_score label_ranking_loss",
    "regression": (
        "d2_absolute_error_score d2_pinball_score d2_tweedie_score explained_variance_score max_error "
        "mean_absolute_error mean_absolute_percentage_error mean_gamma_deviance mean_pinball_loss "
        "mean_poisson_deviance mean_squared_error mean_squared_log_error mean_tweedie_deviance median_absolute_error "
        "r2_score root_mean_squared_error root_mean_squared_log_error"
    ),
    "estimators": "CostClassifier RecalibratedClassifier RejectClassifier",
    "displays": (
        "CalibrationDisplay ConfusionMatrixDisplay DetCurveDisplay PrecisionRecallDisplay PredictionErrorDisplay "
        "RocCurveDisplay"
    ),
    "scorers": "interval_scorer",
}
HOMES = {name: module for module, names in _PUBLIC.items() for name in names.split()}
"""In which module of this package each public name lives."""

FUNCTIONS = tuple(name for name, home in HOMES.items() if home not in ("estimators", "displays", "scorers"))
"""The names of all functions."""

_THEIRS = ("check_scoring", "get_scorer", "get_scorer_names", "make_scorer")
"""scikit-learn's own, since import lines name them beside metrics."""

__all__ = sorted([*HOMES, *_THEIRS])

if TYPE_CHECKING:
    from sklearn.metrics import check_scoring as check_scoring
    from sklearn.metrics import get_scorer as get_scorer
    from sklearn.metrics import get_scorer_names as get_scorer_names
    from sklearn.metrics import make_scorer as make_scorer

    from stakes.sklearn.decisions import accuracy_score as accuracy_score
    from stakes.sklearn.decisions import balanced_accuracy_score as balanced_accuracy_score
    from stakes.sklearn.decisions import class_likelihood_ratios as class_likelihood_ratios
    from stakes.sklearn.decisions import cohen_kappa_score as cohen_kappa_score
    from stakes.sklearn.decisions import confusion_matrix as confusion_matrix
    from stakes.sklearn.decisions import f1_score as f1_score
    from stakes.sklearn.decisions import fbeta_score as fbeta_score
    from stakes.sklearn.decisions import hamming_loss as hamming_loss
    from stakes.sklearn.decisions import jaccard_score as jaccard_score
    from stakes.sklearn.decisions import matthews_corrcoef as matthews_corrcoef
    from stakes.sklearn.decisions import multilabel_confusion_matrix as multilabel_confusion_matrix
    from stakes.sklearn.decisions import precision_recall_fscore_support as precision_recall_fscore_support
    from stakes.sklearn.decisions import precision_score as precision_score
    from stakes.sklearn.decisions import recall_score as recall_score
    from stakes.sklearn.decisions import zero_one_loss as zero_one_loss
    from stakes.sklearn.displays import CalibrationDisplay as CalibrationDisplay
    from stakes.sklearn.displays import ConfusionMatrixDisplay as ConfusionMatrixDisplay
    from stakes.sklearn.displays import DetCurveDisplay as DetCurveDisplay
    from stakes.sklearn.displays import PrecisionRecallDisplay as PrecisionRecallDisplay
    from stakes.sklearn.displays import PredictionErrorDisplay as PredictionErrorDisplay
    from stakes.sklearn.displays import RocCurveDisplay as RocCurveDisplay
    from stakes.sklearn.estimators import CostClassifier as CostClassifier
    from stakes.sklearn.estimators import RecalibratedClassifier as RecalibratedClassifier
    from stakes.sklearn.estimators import RejectClassifier as RejectClassifier
    from stakes.sklearn.labels import coverage_error as coverage_error
    from stakes.sklearn.labels import label_ranking_average_precision_score as label_ranking_average_precision_score
    from stakes.sklearn.labels import label_ranking_loss as label_ranking_loss
    from stakes.sklearn.probability import brier_score_loss as brier_score_loss
    from stakes.sklearn.probability import d2_brier_score as d2_brier_score
    from stakes.sklearn.probability import d2_log_loss_score as d2_log_loss_score
    from stakes.sklearn.probability import hinge_loss as hinge_loss
    from stakes.sklearn.probability import log_loss as log_loss
    from stakes.sklearn.ranking import auc as auc
    from stakes.sklearn.ranking import average_precision_score as average_precision_score
    from stakes.sklearn.ranking import confusion_matrix_at_thresholds as confusion_matrix_at_thresholds
    from stakes.sklearn.ranking import det_curve as det_curve
    from stakes.sklearn.ranking import metric_at_thresholds as metric_at_thresholds
    from stakes.sklearn.ranking import precision_recall_curve as precision_recall_curve
    from stakes.sklearn.ranking import roc_auc_score as roc_auc_score
    from stakes.sklearn.ranking import roc_curve as roc_curve
    from stakes.sklearn.ranking import top_k_accuracy_score as top_k_accuracy_score
    from stakes.sklearn.regression import d2_absolute_error_score as d2_absolute_error_score
    from stakes.sklearn.regression import d2_pinball_score as d2_pinball_score
    from stakes.sklearn.regression import d2_tweedie_score as d2_tweedie_score
    from stakes.sklearn.regression import explained_variance_score as explained_variance_score
    from stakes.sklearn.regression import max_error as max_error
    from stakes.sklearn.regression import mean_absolute_error as mean_absolute_error
    from stakes.sklearn.regression import mean_absolute_percentage_error as mean_absolute_percentage_error
    from stakes.sklearn.regression import mean_gamma_deviance as mean_gamma_deviance
    from stakes.sklearn.regression import mean_pinball_loss as mean_pinball_loss
    from stakes.sklearn.regression import mean_poisson_deviance as mean_poisson_deviance
    from stakes.sklearn.regression import mean_squared_error as mean_squared_error
    from stakes.sklearn.regression import mean_squared_log_error as mean_squared_log_error
    from stakes.sklearn.regression import mean_tweedie_deviance as mean_tweedie_deviance
    from stakes.sklearn.regression import median_absolute_error as median_absolute_error
    from stakes.sklearn.regression import r2_score as r2_score
    from stakes.sklearn.regression import root_mean_squared_error as root_mean_squared_error
    from stakes.sklearn.regression import root_mean_squared_log_error as root_mean_squared_log_error
    from stakes.sklearn.report import classification_report as classification_report
    from stakes.sklearn.scorers import interval_scorer as interval_scorer
    from stakes.sklearn.searches import dcg_score as dcg_score
    from stakes.sklearn.searches import ndcg_score as ndcg_score


def __getattr__(name: str) -> object:
    if name in __all__:
        home = f"stakes.sklearn.{HOMES[name]}" if name in HOMES else "sklearn.metrics"
        value: object = getattr(importlib.import_module(home), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'stakes.sklearn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
