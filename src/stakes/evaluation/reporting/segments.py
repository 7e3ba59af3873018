"""The figures of each segment, for a dot plot with intervals."""

from typing import Any

from stakes.views.report.payload import MOST, figure, named, section

_SHOWN = ("accuracy", "recall", "specificity", "precision", "f1", "auc", "brier_score", "prevalence")


def largest_segments(evaluation: Any) -> list[tuple[str, Any]]:
    """Return the names and evaluations of as many segments as a page can show, those with the most rows first."""
    return sorted(evaluation.segments.items(), key=lambda item: -float(item[1].rows))[:MOST]


def segments_section(evaluation: Any) -> list[dict[str, Any]]:
    """Return the largest segments with some figures of each, or nothing where there are no segments."""
    if not evaluation.segments:
        return []
    known = [name for name in _SHOWN if name in evaluation.figures]
    rows = [
        {"name": named(name), "rows": part.rows, "figures": [figure(part.interval(one)) for one in known]}
        for name, part in largest_segments(evaluation)
    ]
    whole = [figure(evaluation.figures[name]) for name in known]
    return [section("segments", metrics=known, segments=rows, whole=whole, count=len(evaluation.segments))]
