"""What the sliders of a system need: enough for the page to work out its cost at any accuracy of its models, exactly.

For each class the probability of every decision is a sum over combinations of what the models say. The page holds the
decision of every combination, the tables of the models that have one, and how often combinations of the others occurred
in the rows.
"""

import math

import numpy as np

from stakes.errors import StakesError
from stakes.findings.pages.payload import Part
from stakes.language.sentences import sentence
from stakes.systems.network import Joint, Model, Network
from stakes.tallies.arithmetic import Array

_MOST_COMBINATIONS = 50_000
_MOST_WORK = 300_000
"""The most combinations × decisions × classes that a page can add up between two frames."""

_MOST_IN_ROWS = 10_000


def sliders(network: Network) -> Part:
    """Return what the page computes with, or why it has no sliders."""
    axes = _that_matter(network)
    sizes = [len(model.outputs) for model in axes]
    if math.prod(sizes) > _MOST_COMBINATIONS or math.prod([*sizes, *network.prices.shape]) > _MOST_WORK:
        return {"why_not": sentence("system.too_many", n=math.prod(sizes))}
    by_rows = [model for model in axes if model.by_rows]
    joints = [_of_rows(network, by_rows, c) for c in range(len(network.classes))]
    if sum(joint.size for joint in joints) > _MOST_IN_ROWS:
        return {"why_not": sentence("system.too_many", n=max(joint.size for joint in joints))}
    try:
        codes = np.indices(sizes).reshape(len(sizes), -1)  # of every combination
        decided = network.fusion({model.name: column for model, column in zip(axes, codes, strict=True)})
    except StakesError:  # something that never occurred would get a decision without a price
        return {"why_not": sentence("system.unpriced")}
    names = list(network.fusion.models)
    return {
        "axes": [_axis(network, model, axes, names) for model in axes],
        "decided": decided.tolist(),
        "prices": network.prices.tolist(),
        "shares": (network.cases / network.cases.sum()).tolist(),
        "rows": [_occurred(joint, by_rows) for joint in joints],
    }


def _that_matter(network: Network) -> list[Model]:
    """The models that the decision hears, and those that these see: first those in rows, then those by tables."""
    wanted = set(network.fusion.heard)
    for name, model in reversed(list(network.models.items())):
        if name in wanted and not model.by_rows:
            wanted |= set(model.sees)
    found = [model for name, model in network.models.items() if name in wanted]
    return sorted(found, key=lambda model: not model.by_rows)


def _axis(network: Network, model: Model, axes: list[Model], names: list[str]) -> Part:
    """A model: what is right for each class, its table (or its rates in the rows), and which axes it sees."""
    places = {one.name: place for place, one in enumerate(axes)}
    chances = _rates_in_rows(network, model) if model.chances is None else model.chances
    return {
        "model": names.index(model.name),
        "right": list(model.right),
        "by_rows": model.by_rows,
        "sees": [] if model.by_rows else [places[name] for name in model.sees],
        "chances": chances.tolist(),
        # what models in rows that see it would say to other answers is unknown
        "fixed": model.by_rows and any(network.models[name].by_rows for name in network.later(model.name)),
    }


def _rates_in_rows(network: Network, model: Model) -> Array:
    """How often a model in the rows gives each answer, for each class, whatever it sees."""
    tables = []
    for c in range(len(network.classes)):
        joint = network.joint(c, without=[name for name, one in network.models.items() if not one.by_rows])
        tables.append([np.bincount(joint.codes[model.name], joint.chance, len(model.outputs))])
    return np.array(tables)


def _of_rows(network: Network, by_rows: list[Model], c: int) -> Joint:
    """The combinations of models in the rows that occurred in a class."""
    tables = [name for name, model in network.models.items() if not model.by_rows]
    joint = network.joint(c, without=tables).over([model.name for model in by_rows])
    there = np.flatnonzero(joint.chance)
    return Joint({name: codes[there] for name, codes in joint.codes.items()}, joint.chance[there])


def _occurred(joint: Joint, by_rows: list[Model]) -> Part:
    """Where the combinations stand in the list of all, and how often they occur."""
    places = np.zeros(joint.size, np.int64)
    for model in by_rows:
        places = places * len(model.outputs) + joint.codes[model.name]
    return {"places": places.tolist(), "shares": joint.chance.tolist()}
