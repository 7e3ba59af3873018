"""A system as a network: circles for what is uncertain, double circles for what follows, a square for the cost."""

from collections.abc import Iterable, Mapping
from typing import Any

from stakes.systems.fusion import DECISION
from stakes.systems.network import Network
from stakes.views.plots.style import COLOURS, INK, PALE, Display, axes, display, inert

_RADIUS = 0.34
_ACROSS, _DOWN = 1.75, 1.05


def of_system(system: Any, kind: str, ax: Any) -> Display:
    """Draw the truth, the models, the fusers, the decision and its cost from left to right."""
    arrows = arrows_of(system.network)
    places = layout(arrows)
    across = max(x for x, _ in places.values()) + 1
    down = max(y for _, y in places.values()) - min(y for _, y in places.values()) + 1
    with axes(ax, max(1.25 * across * _ACROSS / 1.6, 4.0), max(1.0 * down * _DOWN + 0.8, 2.4)) as ax:
        drawn = {name: _node(ax, name, places[name], _kind(system.network, name)) for name in places}
        lines = [_arrow(ax, places[one], places[other], one, other) for one, other in arrows]
        _finished(ax, list(places.values()))
        return display(kind, ax, nodes=drawn, arrows=lines)


def arrows_of(network: Network) -> list[tuple[str, str]]:
    """Who influences whom: the truth the models, these what sees them, rules what they listen to, the cost at last."""
    arrows = [("truth", name) for name in network.models]
    arrows += [(seen, name) for name, model in network.models.items() for seen in model.sees]
    arrows += [(heard, name) for name, rule in network.fusion.rules.items() for heard in dict.fromkeys(rule.names())]
    return [*arrows, (DECISION, "cost"), ("truth", "cost")]


def layout(arrows: Iterable[tuple[str, str]]) -> dict[str, tuple[float, float]]:
    """Place each node one layer after the last of those that influence it; layers are centred."""
    arrows = list(arrows)
    layers: dict[str, int] = {}
    names = list(dict.fromkeys(name for arrow in arrows for name in arrow))
    while len(layers) < len(names):
        for name in names:
            before = [one for one, other in arrows if other == name]
            if name not in layers and all(one in layers for one in before):
                layers[name] = 1 + max((layers[one] for one in before), default=-1)
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


def _node(ax: Any, name: str, place: tuple[float, float], kind: str) -> Any:
    from matplotlib.patches import Circle, Rectangle

    x, y = _at(place)
    look = {"facecolor": _FILL[kind] + "40", "edgecolor": INK, "linewidth": 1.2, "zorder": 3}
    shape: Any
    if kind == "cost":
        shape = Rectangle((x - _RADIUS, y - _RADIUS * 0.8), 2 * _RADIUS, 1.6 * _RADIUS, **look)
    else:
        shape = Circle((x, y), _RADIUS, **look)
    ax.add_patch(shape)
    if kind == "fixed":
        ax.add_patch(Circle((x, y), _RADIUS - 0.05, fill=False, edgecolor=INK, linewidth=0.9, zorder=3))
    text = inert(name, 24)
    lines = text if len(text) <= 9 else None
    ax.text(x, y if lines else y + _RADIUS + 0.04, text, ha="center", va="center" if lines else "top",
            fontsize=9 if lines else 8, zorder=4)  # fmt: skip
    return shape


def _at(place: tuple[float, float]) -> tuple[float, float]:
    return place[0] * _ACROSS, place[1] * _DOWN


def _arrow(ax: Any, start: tuple[float, float], end: tuple[float, float], one: str, other: str) -> Any:
    """An arrow from rim to rim; one that passes other layers bends around them."""
    from matplotlib.patches import FancyArrowPatch

    far = end[0] - start[0] > 1
    bend = 0.0
    if far:
        bend = 0.28 if start[1] + end[1] >= 0 else -0.28
    room = 0.5 * 72 * _RADIUS
    arrow = FancyArrowPatch(
        _at(start), _at(end), arrowstyle="-|>", mutation_scale=11, color=PALE, linewidth=1.2,
        connectionstyle=f"arc3,rad={bend}", shrinkA=room, shrinkB=room, zorder=2,
    )  # fmt: skip
    ax.add_patch(arrow)
    return arrow


def _finished(ax: Any, places: list[tuple[float, float]]) -> None:
    xs, ys = zip(*map(_at, places), strict=True)
    ax.set(xlim=(min(xs) - 0.7, max(xs) + 0.7), ylim=(max(ys) + 0.9, min(ys) - 0.7), aspect="equal")
    ax.axis("off")
    ax.set_title("circle: uncertain · double circle: follows from what comes in · square: cost", fontsize=8.5)
