"""The page of a system of models: verdict, the network with each model's costs and sliders, what improving pays."""

import itertools
import math
from collections.abc import Mapping

from stakes.findings.pages.payload import Part, listed, section
from stakes.findings.pages.system_sliders import sliders
from stakes.findings.verdicts.answers import MOST
from stakes.findings.verdicts.system import Study
from stakes.language.sentences import short_name
from stakes.records import plain
from stakes.systems.bounds import Bounds
from stakes.systems.component_costs import ComponentCosts
from stakes.systems.fusion import DECISION
from stakes.systems.network import Network
from stakes.systems.system import System
from stakes.systems.worth import ModelWorth

_MOST_CELLS = 2_500
"""The most cells of component costs that a page holds, of all models together."""

_MOST_OWN = 12
"""The most classes or decisions of a table that is shown."""

_FIGURES = ("rate", "expected", "expected_low", "expected_high", "excess", "excess_low", "excess_high")


def sections_of(system: System) -> list[Part]:
    """Return the sections below the verdict on a system."""
    study = Study(system)
    return [_system_section(study), _worth_section(study)]


# ── the network and its models ───────────────────────────────────────────────────────────────────────────────────
def _system_section(study: Study) -> Part:
    network = study.system.network
    first = study.system.worth().first
    room = _MOST_CELLS // len(study.names)
    return section(
        "system",
        classes=[short_name(name) for name in network.classes],
        decisions=[short_name(name) for name in network.fusion.decisions],
        positive=None if study.system.positive is None else network.classes.index(study.system.positive),
        confidence=study.system.sampling.confidence,
        nodes=[
            {"kind": kind, **({"name": short_name(name)} if kind in ("model", "fuser") else {})}
            for kind, name in _node_names(study)
        ],
        arrows=_arrows(study),
        rules=[
            {"name": None if name == DECISION else short_name(name), "text": short_name(text)}
            for name, text in _shown_rules(network)
        ],
        own=_own(study),
        models=[_model(study, name, room) for name in study.names],
        hidden=len(study.system.models) - len(study.names),
        start=study.names.index(first.model) if first is not None and first.model in study.names else 0,
        cost=study.cost,
        constant={"decision": short_name(study.constant[0]), "cost": study.constant[1]},
        sliders=sliders(network),
    )


def _own(study: Study) -> Part | None:
    """The system's own table; of very many classes or decisions none."""
    table = study.system.table
    if max(table.shares.shape) > _MOST_OWN:
        return None
    shares = [{name: plain(cell[name]) for name in ("share", "low", "high")} for cell in table.to_rows()]
    scale = study.per_thousand
    costs = [
        {"cost": plain(one["cost"]), "low": one["low"], "high": one["high"], "total": _scaled(one["total"], scale)}
        for one in table.costs_of_classes()
    ]
    return {"shares": shares, "costs": costs}


def _shown_rules(network: Network) -> list[tuple[str, str]]:
    """The rules, the last one of which decides, as they were written."""
    texts = network.fusion.texts
    others = [(name, text) for name, text in texts.items() if name != DECISION][: MOST - 1]
    return [*others, (DECISION, texts[DECISION])]


def _node_names(study: Study) -> list[tuple[str, str]]:
    """The nodes by kind and name; a model may be called "cost" without being the cost."""
    network = study.system.network
    models = [("model", name) for name in study.names]
    fusers = [("fuser", name) for name, _ in _shown_rules(network)[:-1]]
    return [("truth", ""), *models, *fusers, ("decision", DECISION), ("cost", "")]


def _arrows(study: Study) -> list[list[int]]:
    """Who influences whom, by place in the list of nodes."""
    network, nodes = study.system.network, _node_names(study)
    places = {name: place for place, (kind, name) in enumerate(nodes) if name}
    truth, cost = 0, len(nodes) - 1
    arrows = [[truth, places[name]] for name in study.names]
    listens = {name: network.models[name].sees for name in study.names}
    listens |= {name: tuple(dict.fromkeys(rule.names())) for name, rule in network.fusion.rules.items()}
    arrows += [
        [places[heard], places[name]]
        for name, others in listens.items()
        for heard in others
        if heard in places and name in places
    ]
    return [*arrows, [places[DECISION], cost], [truth, cost]]


def _model(study: Study, name: str, room: int) -> Part:
    costs, model = study.costs[name], study.system.network.models[name]
    return {
        "name": short_name(name),
        "sees": [short_name(one) for one in costs.sees],
        "seen": [[short_name(one) for one in seen] for seen in costs.seen[:room]],
        "outputs": [short_name(one) for one in costs.outputs],
        "right": list(costs.right),
        "by_rows": model.by_rows,
        "known": costs.known,
        "cells": _cells(costs, room),
        "in_all": _in_all(study, costs),
        "bounds": _bounds(study.bounds[name], study.per_thousand),
        "worth": _worth(study.system.worth()[name], study.per_thousand),
        "threshold": _threshold(study, costs),
    }


def _cells(costs: ComponentCosts, room: int) -> Part:
    """What each answer costs, one list for each figure; class by class, by what is seen, by what is said."""
    rows: list[Mapping[str, object]] = list(itertools.islice(costs.to_rows(), room))
    names = _FIGURES if costs.known else ("rate", "at_least", "at_most")
    return {"count": costs.rates.size, **{name: [plain(row[name]) for row in rows] for name in names}}


def _in_all(study: Study, costs: ComponentCosts) -> Part:
    """What the model's answers cost 1,000 cases by expected and by excess costs, and what dependence adds."""
    if not costs.known:
        return {"expected": None, "excess": None, "dependence": None}
    figures = {"expected": costs.evaluation, "excess": costs.excess_evaluation, "dependence": costs.dependence}
    return {name: plain(study.per_thousand * value) for name, value in figures.items()}


def _threshold(study: Study, costs: ComponentCosts) -> Part | None:
    """From which probability on a calibrated score of the model should say yes; two classes only."""
    positive = study.system.positive
    if positive is None or not study.system.can_have_threshold(costs.model):
        return None
    yes = costs.outputs[costs.right[costs.classes.index(positive)]]
    return {"yes": short_name(yes), "value": plain(study.system.threshold(costs.model).value)}


def _bounds(found: Bounds, scale: float) -> Part:
    figures = ("best", "independent", "worst", "low", "high")
    return {name: _scaled(getattr(found, name), scale) for name in figures}


def _scaled(value: float | None, scale: float) -> object:
    return None if value is None else plain(scale * value)


# ── worth ────────────────────────────────────────────────────────────────────────────────────────────────────────
def _worth(one: ModelWorth, scale: float) -> Part:
    figures = {name: _scaled(getattr(one, name), scale) for name in ("perfect", "saving", "removed", "share")}
    names = ("perfect_range", "removed_range", "saving_limits", "share_limits")
    spans = {name: getattr(one, name) for name in names}
    ranges = {name: span and listed([scale * end for end in span]) for name, span in spans.items()}
    return {**figures, **ranges, "answer": short_name(one.answer)}


def _worth_section(study: Study) -> Part:
    together, scale = study.system.bounds_together, study.per_thousand
    rows = [
        {
            "name": short_name(name),
            **_worth(study.system.worth()[name], scale),
            "bounds": _bounds(study.bounds[name], scale),
        }
        for name in study.names
    ]
    return section(
        "system_worth",
        now=study.cost,
        all_perfect=_scaled(study.system.worth().all_perfect, scale),
        models=rows,
        confidence=study.system.sampling.confidence,
        together=None if together is None or math.isnan(together.best) else _bounds(together, scale),
        shares=not study.system.worth().reason,
        assumed=any(one.note for one in study.bounds.values()),
    )
