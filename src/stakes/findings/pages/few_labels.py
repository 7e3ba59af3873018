"""The page of few labels: each figure, and each segment."""

from collections.abc import Mapping

from stakes.evaluation.few_grades import MEAN_TRUTH
from stakes.evaluation.few_rows import FewEstimates
from stakes.findings.pages.payload import Part, figure, section
from stakes.language.sentences import short_name
from stakes.metrics import find

_MOST_SEGMENTS = 200


def sections_of(found: FewEstimates) -> list[Part]:
    """Return all figures, and some of each segment where there are any."""
    known = {name: one for name, one in found.figures.items() if name != MEAN_TRUTH}  # the verdict tells that
    rows = [{**figure(one), "family": find(name).family, "main": True} for name, one in known.items()]
    figures = section("figures", figures=rows, confidence=found.confidence)
    if not found.segments:
        return [figures]
    names = [name for name in found.main_figures if name != MEAN_TRUTH]
    segments: Mapping[str, FewEstimates] = {**found.segments}
    largest = sorted(segments.items(), key=lambda one: -one[1].rows)[:_MOST_SEGMENTS]
    parts = [
        {"name": short_name(name), "rows": part.rows, "figures": [figure(part[one]) for one in names]}
        for name, part in largest
    ]
    whole = [figure(found[name]) for name in names]
    return [figures, section("segments", metrics=names, segments=parts, whole=whole, count=len(found.segments))]
