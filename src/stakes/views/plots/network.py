"""A system as a network: circles for what is uncertain, double circles for what follows, a square for the cost."""

from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

import numpy as np

from stakes.language.sentences import words
from stakes.question.options import Value
from stakes.systems.fusion import DECISION
from stakes.systems.network import Network
from stakes.views.plots.style import COLOURS, INK, PALE, Axes, Display, axes
from stakes.views.plots.words import inert

if TYPE_CHECKING:
    from matplotlib.patches import Patch

    from stakes.systems.system import System

Place = tuple[float, float]

_RADIUS = 0.4
_ACROSS, _DOWN = 1.75, 1.05
_INCHES = 0.85
_OWN = {"truth": "system.truth", DECISION: "system.decision", "cost": "system.cost"}
"""The nodes that every system has."""

_BENDS = (0.0, 0.2, -0.2, 0.35, -0.35, 0.5, -0.5, 0.7, -0.7)
"""How arrows may bend, the straighter the better."""


def of_system(system: "System", kind: str, ax: object) -> Display:
    """Draw the truth, the models, the fusers, the decision and its cost from left to right."""
    arrows = arrows_of(system.network)
    places = {name: (x * _ACROSS, y * _DOWN) for name, (x, y) in layout(arrows).items()}
    lowest = max(y for _, y in places.values()) + 2 * _RADIUS
    width = max(x for x, _ in places.values()) + 3 * _RADIUS
    height = lowest - min(y for _, y in places.values()) + 2 * _RADIUS
    with axes(ax, max(_INCHES * width, 4.2), _INCHES * height + 0.4) as ax:
        nodes = {name: _node(ax, name, places[name], _kind(system.network, name)) for name in places}
        lines = [
            _line_below(ax, places[one], places[other], lowest)
            if (one, other) == ("truth", "cost")
            else _arrow(ax, one, other, places, nodes)
            for one, other in arrows
        ]
        ax.set(xlim=(-1.5 * _RADIUS, width - 1.5 * _RADIUS), aspect="equal")
        ax.set_ylim(lowest + 0.2, lowest + 0.2 - height)
        ax.axis("off")
        ax.set_title(words("plot.network"), fontsize=8.5)
        return Display(kind, ax, {"nodes": nodes, "arrows": lines})


def arrows_of(network: Network) -> list[tuple[str, str]]:
    """Who influences whom: the truth the models, these what sees them, rules what they listen to, the cost at last."""
    arrows = [("truth", name) for name in network.models]
    arrows += [(seen, name) for name, model in network.models.items() for seen in model.sees]
    arrows += [(heard, name) for name, rule in network.fusion.rules.items() for heard in dict.fromkeys(rule.names())]
    return [*arrows, (DECISION, "cost"), ("truth", "cost")]


def layout(arrows: Iterable[tuple[str, str]]) -> dict[str, Place]:
    """Place each node one layer after the last of those that influence it; layers are centred."""
    arrows = list(arrows)
    layers: dict[str, int] = {}
    names = list(dict.fromkeys(name for arrow in arrows for name in arrow))
    before = {name: [one for one, other in arrows if other == name] for name in names}
    for name in TopologicalSorter(before).static_order():
        layers[name] = 1 + max((layers[one] for one in before[name]), default=-1)
    members: dict[int, list[str]] = {}
    for name in names:
        members.setdefault(layers[name], []).append(name)
    return {
        name: (float(layer), place - (len(inside) - 1) / 2)
        for layer, inside in members.items()
        for place, name in enumerate(inside)
    }


def _kind(network: Network, name: str) -> str:
    if name in network.fusion.rules:
        return "fixed"
    return "cost" if name == "cost" and name not in network.models else "uncertain"


_FILL: Mapping[str, str] = {"uncertain": COLOURS[5], "fixed": COLOURS[4], "cost": PALE}


def _node(ax: Axes, name: str, place: Place, kind: str) -> "Patch":
    from matplotlib.patches import Circle, Rectangle

    x, y = place
    shape: Patch = Circle((x, y), _RADIUS)
    if kind == "cost":
        shape = Rectangle((x - _RADIUS, y - _RADIUS * 0.8), 2 * _RADIUS, 1.6 * _RADIUS)
    shape.set(facecolor=_FILL[kind] + "40", edgecolor=INK, linewidth=1.2, zorder=3)
    ax.add_patch(shape)
    if kind == "fixed":
        ax.add_patch(Circle((x, y), _RADIUS - 0.05, fill=False, edgecolor=INK, linewidth=0.9, zorder=3))
    text = words(_OWN[name]) if name in _OWN else inert(name, 24)
    if len(text) <= 9:
        ax.text(x, y, text, ha="center", va="center", fontsize=8.5, zorder=4)
    else:  # beside the circle there is room for long names
        ax.text(x, y + _RADIUS + 0.04, text, ha="center", va="top", fontsize=8, zorder=4)
    return shape


def _arrow(ax: Axes, one: str, other: str, places: Mapping[str, Place], nodes: Mapping[str, "Patch"]) -> object:
    """An arrow from rim to rim that bends around other nodes."""
    start, end = places[one], places[other]
    others = [place for name, place in places.items() if name not in (one, other)]
    bend = max(_BENDS, key=lambda bend: round(min(_distance(start, end, bend, others), 1.2 * _RADIUS), 6))
    rims = {"patchA": nodes[one], "patchB": nodes[other], "shrinkA": 0, "shrinkB": 1}
    return _line(ax, posA=start, posB=end, connectionstyle=f"arc3,rad={bend}", **rims)


def _line(ax: Axes, **way: Value) -> object:
    from matplotlib.patches import FancyArrowPatch

    return ax.add_patch(
        FancyArrowPatch(**way, arrowstyle="-|>", mutation_scale=11, color=PALE, linewidth=1.2, zorder=2)
    )


def _distance(start: Place, end: Place, bend: float, others: Sequence[Place]) -> float:
    """How near a bent arrow comes to the middle of another node."""
    (x0, y0), (x2, y2) = start, end
    x1, y1 = (x0 + x2) / 2 - bend * (y2 - y0), (y0 + y2) / 2 + bend * (x2 - x0)
    t = np.linspace(0, 1, 30)
    x, y = ((1 - t) ** 2 * a + 2 * t * (1 - t) * b + t**2 * c for a, b, c in ((x0, x1, x2), (y0, y1, y2)))
    return min((float(np.hypot(x - ox, y - oy).min()) for ox, oy in others), default=np.inf)


def _line_below(ax: Axes, start: Place, end: Place, lowest: float) -> object:
    """The arrow from the truth to the cost runs below everything else."""
    from matplotlib.path import Path

    (x0, y0), (x1, y1), turn = start, end, 0.25
    way = [(x0, y0 + _RADIUS), (x0, lowest - turn), (x0, lowest), (x0 + turn, lowest), (x1 - turn, lowest)]
    way += [(x1, lowest), (x1, lowest - turn), (x1, y1 + 0.84 * _RADIUS)]
    line, curve = Path.LINETO, Path.CURVE3
    codes = [Path.MOVETO, line, curve, curve, line, curve, curve, line]
    return _line(ax, path=Path(way, codes))
