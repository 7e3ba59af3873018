"""The figures of each segment or class, for a dot plot with intervals."""

from typing import Any

from stakes.views.report.payload import MOST, figure, named, section

_SHOWN = {
    "binary": ("accuracy", "recall", "specificity", "precision", "f1", "auc", "brier_score", "prevalence"),
    "multiclass": ("accuracy", "macro_recall", "macro_precision", "macro_f1", "macro_auc", "mcc"),
    "regression": ("mean_absolute_error", "root_mean_squared_error", "mean_error", "r2", "median_absolute_error"),
}


def largest_segments(evaluation: Any) -> list[tuple[str, Any]]:
    """Return the names and evaluations of as many segments as a page can show, those with the most rows first."""
    return sorted(evaluation.segments.items(), key=lambda item: -float(item[1].rows))[:MOST]


def largest_classes(evaluation: Any) -> list[str]:
    """Return as many classes as a page can show; all in their order, or else those with the most rows first."""
    if len(evaluation.classes) <= MOST:
        return list(evaluation.classes)
    return sorted(evaluation.classes, key=lambda name: -float(evaluation.support[name]))[:MOST]


def segments_section(evaluation: Any) -> list[dict[str, Any]]:
    """Return the largest segments with some figures of each, or nothing where there are no segments."""
    if not evaluation.segments:
        return []
    known = [name for name in _SHOWN[evaluation.task] if name in evaluation.figures]
    rows = [
        {"name": named(name), "rows": part.rows, "figures": [figure(part.interval(one)) for one in known]}
        for name, part in largest_segments(evaluation)
    ]
    whole = [figure(evaluation.figures[name]) for name in known]
    return [section("segments", metrics=known, segments=rows, whole=whole, count=len(evaluation.segments))]
