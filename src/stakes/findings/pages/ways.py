"""Ways to decide: their names, and what each costs or is worth."""

import re
from collections.abc import Sequence

from stakes.decisions.policies import CHEAPEST, HIGHEST, RECALIBRATED
from stakes.decisions.thresholds.decision import BAYES, BY_ROW
from stakes.findings.pages.payload import Part, figure, section
from stakes.findings.verdicts.answers import MOST
from stakes.language.sentences import Sentence, sentence
from stakes.metrics import Estimate
from stakes.records import plain

Row = tuple[Sentence, Estimate, Estimate | None]
"""A way to decide: its name, what it costs or is worth, and what the recommended one saves against it."""

_NAMES = {
    BAYES: sentence("way.bayes"),
    BY_ROW: sentence("way.by_row"),
    HIGHEST: sentence("way.highest"),
    CHEAPEST: sentence("way.cheapest"),
    RECALIBRATED: sentence("way.recalibrated"),
}


def way(name: str) -> Sentence:
    """Return the name of an alternative, as a sentence of the catalogue."""
    if name in _NAMES:
        return _NAMES[name]
    kind, _, rest = name.partition(" ")
    if kind == "thresholds":
        listed = rest.partition("(")[2].rstrip(")")
        one = re.fullmatch(r"[\d.e-]+", listed)  # a number is written as the language has it
        return sentence("way.of_these_rows", thresholds=float(listed) if one else listed)
    return (
        sentence("way.always", decision=rest) if kind == "always" else sentence("way.threshold", threshold=float(rest))
    )


def estimate_in(per: int, found: Estimate) -> Part:
    """Return a figure with its interval, for so many cases."""
    kept = {**figure(found), "format": "cost" if per > 1 else "number"}
    for name in ("value", "low", "high"):
        number = getattr(found, name)
        kept[name] = None if number is None else plain(per * number)
    return kept


def ways_section(name: str, per: int, rows: Sequence[Row], costs: bool) -> Part:
    """Return ways to decide with what they cost, and what the first one saves against each of the others."""
    shown = [
        {"name": called, "figure": estimate_in(per, found), "saving": saving and estimate_in(per, saving)}
        for called, found, saving in rows[:MOST]
    ]
    return section("ways", figure=name, costs=costs, ways=shown)
