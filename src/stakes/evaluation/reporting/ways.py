"""Ways to decide: their names, and what each costs or is worth."""

from collections.abc import Iterable, Sequence

from stakes.decisions.policies import CHEAPEST, HIGHEST, RECALIBRATED
from stakes.decisions.thresholds.decision import BAYES
from stakes.evaluation.reporting import Part
from stakes.metrics import Estimate
from stakes.records import plain
from stakes.views.report.payload import MOST, figure, named, said, section

Row = tuple[Part, Estimate, Estimate | None]
"""A way to decide: its name, what it costs or is worth, and what the recommended one saves against it."""

_NAMES = {
    BAYES: said("way.bayes"),
    HIGHEST: said("way.highest"),
    CHEAPEST: said("way.cheapest"),
    RECALIBRATED: said("way.recalibrated"),
}


def way(name: str) -> Part:
    """Return how an alternative is called, as a sentence of the catalogue."""
    if name in _NAMES:
        return _NAMES[name]
    kind, _, rest = name.partition(" ")
    return said("way.always", decision=rest) if kind == "always" else said("way.threshold", threshold=float(rest))


def estimate_in(per: int, found: Estimate, label: str = "") -> Part:
    """Return a figure with its interval, told for so many cases; ``label`` is the key of what it is called."""
    kept = {**figure(found), "format": "cost" if per > 1 else "number"}
    for name in ("value", "low", "high"):
        number = getattr(found, name)
        kept[name] = None if number is None else plain(per * number)
    return {**kept, "label": said(label)} if label else kept


def ways_section(name: str, per: int, rows: Sequence[Row], costs: bool) -> Part:
    """Return ways to decide with what they cost, and what the first one saves against each of the others."""
    shown = [
        {"name": called, "figure": estimate_in(per, found), "saving": saving and estimate_in(per, saving)}
        for called, found, saving in rows[:MOST]
    ]
    return section("ways", figure=name, costs=costs, ways=shown)


def decision_cautions(never_cheapest: Iterable[str], dropped: int) -> list[Part]:
    """Return what to point out: decisions that are never worth taking, and rows that were left out."""
    found = [said("caution.never_cheapest", name=named(name)) for name in never_cheapest]
    return [*found, said("caution.dropped", n=dropped)] if dropped else found
