"""Ways to decide: their names, and what each costs or is worth."""

from collections.abc import Sequence
from typing import Any

from stakes.decisions.policies import CHEAPEST, HIGHEST, RECALIBRATED
from stakes.decisions.thresholds.decision import BAYES
from stakes.metrics import Estimate
from stakes.records import plain
from stakes.views.report.payload import MOST, figure, said, section

Row = tuple[dict[str, Any], Estimate, Estimate | None]
"""A way to decide: its name, what it costs or is worth, and what the recommended one saves against it."""

_NAMES = {
    BAYES: said("way.bayes"),
    HIGHEST: said("way.highest"),
    CHEAPEST: said("way.cheapest"),
    RECALIBRATED: said("way.recalibrated"),
}


def way(name: str) -> dict[str, Any]:
    """Return how an alternative is called, as a sentence of the catalogue."""
    if name in _NAMES:
        return _NAMES[name]
    kind, _, rest = name.partition(" ")
    return said("way.always", decision=rest) if kind == "always" else said("way.threshold", threshold=float(rest))


def estimate_in(per: int, found: Estimate, label: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a figure with its interval, told for so many cases."""
    kept = {**figure(found), "format": "cost" if per > 1 else "number"}
    for name in ("value", "low", "high"):
        number = getattr(found, name)
        kept[name] = None if number is None else plain(per * number)
    return kept if label is None else {**kept, "label": label}


def ways_section(name: str, per: int, rows: Sequence[Row], costs: bool) -> dict[str, Any]:
    """Return ways to decide with what they cost, and what the first one saves against each of the others."""
    told = [
        {
            "name": called,
            "figure": estimate_in(per, found),
            "saving": None if saving is None else estimate_in(per, saving),
        }
        for called, found, saving in rows[:MOST]
    ]
    return section("ways", figure=name, costs=costs, ways=told)
