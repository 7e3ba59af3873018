"""Figures with their intervals and baselines: of all rows and of each segment, and the confusion table of decisions."""

from stakes.evaluation.base import Evaluation
from stakes.evaluation.reporting import Part
from stakes.metrics.usual import SEGMENT_FIGURES
from stakes.views.report.payload import MOST, figure, listed, named, said, section


def figures_section(evaluation: Evaluation) -> Part:
    """Return all figures of an evaluation, family by family; the main ones are marked."""
    rows = [
        {**figure(estimate), "family": found.family, "main": found.headline}
        for name, estimate in evaluation.figures.items()
        for found in [evaluation._find(name)]
    ]
    return section("figures", figures=rows, confidence=evaluation.sampling.confidence)


def confusion_section(evaluation: Evaluation) -> list[Part]:
    """Return the confusion table, if decisions were taken."""
    table = evaluation.confusion
    if table is None:
        return []
    names = {"truths": [named(one) for one in table.truths], "decisions": [named(one) for one in table.decisions]}
    return [section("confusion", **names, cells=[listed(row) for row in table.counts.astype(float)])]


def segments_section(evaluation: Evaluation) -> list[Part]:
    """Return the largest segments with some figures of each, or nothing where there are no segments."""
    if not evaluation.segments:
        return []
    known = [name for name in SEGMENT_FIGURES[evaluation.task] if name in evaluation.figures]
    rows = [
        {"name": named(name), "rows": part.rows, "figures": [figure(part.interval(one)) for one in known]}
        for name, part in largest_segments(evaluation)
    ]
    whole = [figure(evaluation.figures[name]) for name in known]
    return [section("segments", metrics=known, segments=rows, whole=whole, count=len(evaluation.segments))]


def largest_segments(evaluation: Evaluation) -> list[tuple[str, Evaluation]]:
    """Return the names and evaluations of as many segments as a page can show, those with the most rows first."""
    return sorted(evaluation.segments.items(), key=lambda item: -float(item[1].rows))[:MOST]


def clusters_fact(evaluation: Evaluation) -> list[Part]:
    """Return how many clusters the rows come in, if they do."""
    clusters = evaluation.counted.clusters
    return [] if clusters is None else [said("page.clusters", n=clusters.count)]
