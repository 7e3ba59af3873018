"""The page of few labels: what they tell about each figure, and about each segment."""

from stakes.evaluation.few_labels import FewLabels
from stakes.findings.pages.payload import Part, figure, section
from stakes.language.sentences import short_name
from stakes.metrics import find
from stakes.metrics.agreement import accuracy
from stakes.metrics.rates import prevalence, recall, specificity

_OF_SEGMENTS = (accuracy.name, recall.name, specificity.name, prevalence.name)
_MOST_SEGMENTS = 200


def sections_of(found: FewLabels) -> list[Part]:
    """Return all figures, and some of each segment where there are any."""
    rows = [{**figure(one), "family": find(name).family, "main": True} for name, one in found.figures.items()]
    figures = section("figures", figures=rows, confidence=found.confidence)
    if not found.segments:
        return [figures]
    largest = sorted(found.segments.items(), key=lambda one: -one[1].rows)[:_MOST_SEGMENTS]
    parts = [
        {"name": short_name(name), "rows": part.rows, "figures": [figure(part[one]) for one in _OF_SEGMENTS]}
        for name, part in largest
    ]
    whole = [figure(found[name]) for name in _OF_SEGMENTS]
    return [figures, section("segments", metrics=_OF_SEGMENTS, segments=parts, whole=whole, count=len(found.segments))]
