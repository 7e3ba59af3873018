"""The table of names: which function of scikit-learn is which declared figure, and what differs on purpose."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Name:
    """A name of ``sklearn.metrics``: where it lives here, the declared figures behind it, and what differs."""

    home: str
    ours: str
    differs: str = ""


_UNDEFINED = "`strict=True`: undefined stays undefined"
_ONE_OUTPUT = "outputs weighted by hand have no interval"

NAMES = {
    "accuracy_score": Name("decisions", "accuracy"),
    "balanced_accuracy_score": Name("decisions", "balanced_accuracy", f"{_UNDEFINED} where a class has no rows"),
    "class_likelihood_ratios": Name(
        "decisions", "positive_likelihood_ratio, negative_likelihood_ratio", "`strict=True`: x/0 is infinite"
    ),
    "classification_report": Name(
        "report", "precision, recall, f1, accuracy", "the averages of `output_dict=True` have intervals"
    ),
    "cohen_kappa_score": Name("decisions", "kappa, linear_kappa, quadratic_kappa"),
    "confusion_matrix": Name("decisions", "stakes.Confusion"),
    "f1_score": Name("decisions", "f1", _UNDEFINED),
    "fbeta_score": Name("decisions", "f_beta", _UNDEFINED),
    "hamming_loss": Name("decisions", "hamming_loss, accuracy", "1 − accuracy of single labels"),
    "jaccard_score": Name("decisions", "jaccard", _UNDEFINED),
    "matthews_corrcoef": Name("decisions", "mcc", _UNDEFINED),
    "multilabel_confusion_matrix": Name("decisions", "stakes.Confusion"),
    "precision_recall_fscore_support": Name("decisions", "precision, recall, f_beta", _UNDEFINED),
    "precision_score": Name("decisions", "precision", _UNDEFINED),
    "recall_score": Name("decisions", "recall", _UNDEFINED),
    "zero_one_loss": Name("decisions", "accuracy", "1 − accuracy"),
    "brier_score_loss": Name("probability", "brier_score, multiclass_brier_score"),
    "d2_brier_score": Name("probability", "normalised_brier_score, normalised_multiclass_brier_score", "1 − it"),
    "d2_log_loss_score": Name(
        "probability", "normalised_log_loss, normalised_multiclass_log_loss", "1 − it; `strict=True` does not clip"
    ),
    "hinge_loss": Name("probability", "", "the mean over rows has an interval"),
    "log_loss": Name("probability", "log_loss, multiclass_log_loss", "`strict=True` does not clip"),
    "dcg_score": Name("searches", "", "the mean over rows has an interval; `stakes rank --measure dcg` ranks by it"),
    "ndcg_score": Name("searches", "", "the mean over rows has an interval; `stakes rank --measure ndcg` ranks by it"),
    "auc": Name("ranking", "", "the area under any curve, a plain float"),
    "average_precision_score": Name("ranking", "average_precision", "no positive rows: 0, and `.reason`"),
    "confusion_matrix_at_thresholds": Name("ranking", "stakes.ScoreTable"),
    "det_curve": Name("ranking", "stakes.ScoreTable"),
    "metric_at_thresholds": Name("ranking", ""),
    "precision_recall_curve": Name("ranking", "stakes.ScoreTable"),
    "roc_auc_score": Name("ranking", "auc, partial_auc, macro_auc, weighted_auc, micro_auc, hand_till_auc"),
    "roc_curve": Name("ranking", "stakes.ScoreTable"),
    "top_k_accuracy_score": Name("ranking", "top_k_accuracy", "`strict=True`: of ties the first class goes first"),
    "coverage_error": Name("labels", "coverage_error"),
    "label_ranking_average_precision_score": Name("labels", "label_ranking_average_precision"),
    "label_ranking_loss": Name("labels", "label_ranking_loss"),
    "d2_absolute_error_score": Name("regression", "pinball", "no interval"),
    "d2_pinball_score": Name("regression", "pinball", "no interval"),
    "d2_tweedie_score": Name("regression", "d2_poisson, d2_gamma, d2_tweedie", "none below power 1 but 0"),
    "explained_variance_score": Name(
        "regression",
        "explained_variance",
        f"{_UNDEFINED}; exact at offsets and sizes at which scikit-learn loses digits",
    ),
    "max_error": Name("regression", "max_error"),
    "mean_absolute_error": Name("regression", "mean_absolute_error", _ONE_OUTPUT),
    "mean_absolute_percentage_error": Name(
        "regression", "mean_absolute_percentage_error", f"{_UNDEFINED} where a truth is 0"
    ),
    "mean_gamma_deviance": Name("regression", "gamma_deviance"),
    "mean_pinball_loss": Name("regression", "pinball", _ONE_OUTPUT),
    "mean_poisson_deviance": Name("regression", "poisson_deviance"),
    "mean_squared_error": Name("regression", "mean_squared_error", _ONE_OUTPUT),
    "mean_squared_log_error": Name("regression", "mean_squared_log_error", _ONE_OUTPUT),
    "mean_tweedie_deviance": Name("regression", "tweedie_deviance"),
    "median_absolute_error": Name("regression", "median_absolute_error", _ONE_OUTPUT),
    "r2_score": Name(
        "regression", "r2", f"{_UNDEFINED}; exact at offsets and sizes at which scikit-learn loses digits"
    ),
    "root_mean_squared_error": Name(
        "regression", "root_mean_squared_error", f"{_ONE_OUTPUT}; a number where its square is beyond floats"
    ),
    "root_mean_squared_log_error": Name("regression", "mean_squared_log_error", "several outputs have no interval"),
}
"""Every function of this face, in the order of the page about it."""

FUNCTIONS = tuple(NAMES)
"""The names of all functions."""

ESTIMATORS = ("CostClassifier", "RecalibratedClassifier", "RejectClassifier")
"""What needs scikit-learn, and loads it."""

DISPLAYS = (
    "CalibrationDisplay",
    "ConfusionMatrixDisplay",
    "DetCurveDisplay",
    "PrecisionRecallDisplay",
    "PredictionErrorDisplay",
    "RocCurveDisplay",
)
"""Plots, which need matplotlib."""

THEIRS = ("check_scoring", "get_scorer", "get_scorer_names", "make_scorer")
"""scikit-learn's own, since import lines name them beside metrics."""

_OTHERS = dict.fromkeys(ESTIMATORS, "estimators") | dict.fromkeys(DISPLAYS, "displays")
_OTHERS["interval_scorer"] = "scorers"

HOMES = {name: entry.home for name, entry in NAMES.items()} | _OTHERS
"""In which module of this package each public name lives."""
