"""Every figure with its interval and its baseline, and the confusion table of decisions without scores."""

from typing import Any

from stakes.views.report.payload import figure, listed, named, section


def figures_section(evaluation: Any) -> dict[str, Any]:
    """Return all figures of an evaluation, family by family; the main ones are marked."""
    rows = [
        {**figure(estimate), "family": found.family, "main": found.headline}
        for name, estimate in evaluation.figures.items()
        for found in [evaluation._find(name)]
    ]
    return section("figures", figures=rows, confidence=evaluation.sampling.confidence)


def confusion_section(evaluation: Any) -> list[dict[str, Any]]:
    """Return the confusion table, if decisions were taken."""
    table = evaluation.confusion
    if table is None:
        return []
    names = {"truths": [named(one) for one in table.truths], "decisions": [named(one) for one in table.decisions]}
    return [section("confusion", **names, cells=[listed(row) for row in table.counts.astype(float)])]
