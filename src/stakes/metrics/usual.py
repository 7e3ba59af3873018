"""The default figures: of comparisons and tests when none is named, and those that pages and plots show first.

Code that needs a certain figure imports its declaration instead; where there are costs, that is ``expected_cost``.
"""

from stakes.tallies import (
    ClassScores,
    Confusion,
    ErrorSums,
    JointCounts,
    LabelSums,
    OutputSums,
    QuantileSums,
    ScoreTable,
    Tally,
)

# ── by tally ─────────────────────────────────────────────────────────────────────────────────────────────────────
COMPARED: dict[type[Tally], str] = {
    ScoreTable: "auc",
    ClassScores: "macro_auc",
    Confusion: "accuracy",
    JointCounts: "accuracy",
    ErrorSums: "mean_absolute_error",
    LabelSums: "hamming_loss",
    OutputSums: "uniform_r2",
    QuantileSums: "crps",
}
"""The figure by which models, and segments with the rest, are compared."""

TESTED: dict[type[Tally], str] = {**COMPARED, Confusion: "mcc", ErrorSums: "r2"}
"""The figure of a permutation test: that of the first of these tallies that was counted."""

REFITTED: dict[type[Tally], str] = {Confusion: "accuracy", ErrorSums: "mean_squared_error"}
"""The same where models are fitted again: scores of different models have no common order."""

# ── by task ──────────────────────────────────────────────────────────────────────────────────────────────────────
VERDICT = {"binary": ("auc", "mcc"), "multiclass": ("mcc", "macro_auc")}
"""The figure that the verdict on classes rests on: the first of these that is defined."""

SHARES: dict[str, tuple[str, ...]] = {
    "binary": ("recall", "specificity"),
    "multiclass": ("accuracy", "macro_recall"),
    "regression": (),
    "labels": ("micro_recall", "micro_precision"),
    "outputs": (),
    "quantiles": ("coverage_of_intervals",),
}
"""The shares that have to be known well before a verdict can be believed."""

ERRORS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("binary", "multiclass", "labels", "outputs"), ()),
    "regression": ("mean_absolute_error",),
    "quantiles": ("crps",),
}
"""The errors that have to be known well before a verdict can be believed."""

SEGMENT_FIGURES = {
    "binary": ("accuracy", "recall", "specificity", "precision", "f1", "auc", "brier_score", "prevalence"),
    "multiclass": ("accuracy", "macro_recall", "macro_precision", "macro_f1", "macro_auc", "mcc"),
    "regression": ("mean_absolute_error", "root_mean_squared_error", "mean_error", "r2", "median_absolute_error"),
    "labels": ("hamming_loss", "subset_accuracy", "micro_f1", "samples_f1"),
    "outputs": ("uniform_r2", "uniform_mean_absolute_error", "uniform_root_mean_squared_error"),
    "quantiles": ("crps", "coverage_of_intervals", "mean_interval_width", "winkler_score"),
}
"""What a page shows of each segment."""

SEGMENT_PLOT = {
    "binary": ("recall", "auc"),
    "multiclass": ("accuracy", "macro_auc"),
    "regression": ("mean_absolute_error",),
    "labels": ("hamming_loss",),
    "outputs": ("uniform_r2",),
    "quantiles": ("crps",),
}
"""What a plot of segments shows: the first of these that is defined."""

EACH_FIGURES = {
    "labels": ("recall", "precision", "f1", "false_positive_rate", "auc"),
    "outputs": ("mean_absolute_error", "root_mean_squared_error", "mean_error", "r2"),
    "quantiles": ("share_below", "pinball_at"),
}
"""Figures of each label, output or quantile that are shown."""

AVERAGED = ("precision", "recall", "f1", "jaccard")
"""Figures of decisions whose averages over labels are shown; others can be asked for."""

GAINS: dict[str, tuple[str, ...]] = {
    "labels": ("micro_f1", "label_ranking_average_precision"),
    "outputs": ("uniform_r2",),
    "quantiles": ("crps_skill",),
}
"""The figure that shows whether a model is better than ignoring the input: the first that is defined."""

WORST = {"labels": "f1", "outputs": "r2"}
"""The figure by which the worst label or output is found."""

CLASS_FIGURES = ("recall", "false_positive_rate", "precision", "f1", "auc")
"""What a table shows of each class against the rest."""

CLASS_FIGURES_ON_PAGE = ("recall", "precision", "f1", "false_positive_rate", "auc")
"""The same, in the order of the page."""

AREAS = {"roc": "auc", "pr": "average_precision"}
"""What sums up a curve."""
