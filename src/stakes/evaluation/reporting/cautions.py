"""What a careful colleague would point out, as sentences of the page's catalogue."""

from typing import Any

from stakes.evaluation import cautions
from stakes.views.report.payload import MOST, metric, said


def sentences(evaluation: Any) -> list[dict[str, Any]]:
    """Return all that applies to an evaluation."""
    found = [said(one.key, **_translated(one.values)) for one in cautions.cautions(evaluation)]
    if evaluation.task == "binary" and evaluation.pricing is not None and evaluation.pricing.costs.columns:
        found.append(said("caution.costs_by_row"))
    return found[:MOST]


def _translated(values: Any) -> dict[str, Any]:
    """What fills the gaps, with names of metrics to be told in the language of the page."""
    return {name: metric(value) if name == "figure" else value for name, value in values.items()}
