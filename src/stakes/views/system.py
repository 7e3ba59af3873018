"""What a view shows of a system: its picture, what its models' answers cost, bounds, worth, and one sentence."""

import math
from collections.abc import Sequence
from typing import Any

from stakes.metrics.estimate import percent, plain
from stakes.systems.bounds import Bounds
from stakes.systems.component_costs import ComponentCosts
from stakes.systems.worth import Worth
from stakes.views.page import Grid, Page

_MOST_MODELS = 30


def page(system: Any) -> Page:
    """Lay out a system; of very many models the first ones."""
    names = list(system.models)[:_MOST_MODELS]
    costs = [system.component_costs(name) for name in names]
    found = [system.bounds(name) for name in names]
    together = [system.bounds()] if _open(system) else []
    worth = system.worth()
    grids = [
        _costs_grid(costs, system.sampling.confidence),
        _evaluations(costs),
        _bounds_grid([*found, *together], system.sampling.confidence),
        _worth_grid(worth, names),
    ]
    told = {**system.facts, "the system costs": _amount(system.cost, worth.cases)}
    return Page(told, grids, [*_notes(system, costs, found, worth), system.advice], picture=system.picture)


def _open(system: Any) -> bool:
    """Whether several models are given by tables, so that their dependence on each other is open too."""
    tables = [model for model in system.network.models.values() if not model.by_rows]
    return len(tables) > 1 and len(system.models) > 2


def _amount(cost: float, cases: float) -> str:
    return f"{cost:,.6g} per case" if cases == 1 else f"{cost:,.6g}, that is {cost / cases:.4g} per case"


def _span(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "–"
    return f"{number(low)} – {number(high)}" if high - low > 1e-12 * abs(high) else "exact"


def number(value: float) -> str:
    """Write a cost with four digits."""
    return "–" if math.isnan(value) else f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.4g}"


def _costs_grid(costs: Sequence[ComponentCosts], confidence: float) -> Grid:
    """K1 and K2 of every model."""
    sees = any(one.sees for one in costs)
    sure = percent(confidence)
    head = ["model", "truth", *(["sees"] if sees else []), "says", "expected", sure, "excess", sure]
    rows, sections = [], []
    for one in costs:
        for cell in one.to_rows():
            seen = [", ".join(cell["sees"].values()) if one.sees else ""] if sees else []
            mark = " ✓" if cell["right"] else ""
            expected = number(cell["expected"]) if one.known else _span(cell["at_least"], cell["at_most"])
            rows.append(
                [
                    *(cell["model"], cell["truth"], *seen, cell["says"] + mark, expected),
                    _span(cell["expected_low"], cell["expected_high"]),
                    number(cell["excess"]),
                    _span(cell["excess_low"], cell["excess_high"]),
                ]
            )
        sections.append(len(rows) - 1)
    title = "component costs: what a case costs when a model says this (✓ right)"
    return Grid(head, rows, sections=sections[:-1], title=title)


def _evaluations(costs: Sequence[ComponentCosts]) -> Grid:
    rows = [
        [one.model, number(one.evaluation), number(one.excess_evaluation), number(one.dependence)]
        if one.known
        else [one.model, "–", "–", "–"]
        for one in costs
    ]
    title = "evaluations: expected + dependence = the system's cost"
    return Grid(["model", "by expected costs", "by excess costs", "due to dependence"], rows, title=title)


def _bounds_grid(found: Sequence[Bounds], confidence: float) -> Grid:
    rows = [
        [
            one.model or "all models",
            number(one.best),
            number(one.independent),
            number(one.worst),
            _span(one.low, one.high),
        ]
        for one in found
    ]
    title = "the system's cost, whatever the dependence on the others"
    return Grid(["model", "best", "independent", "worst", f"{percent(confidence)}, best to worst"], rows, title=title)


def _worth_grid(worth: Worth, names: Sequence[str]) -> Grid:
    head = ["model", "now", "if perfect", "saves", "if removed", "always says", "share"]
    rows = [
        [
            one.model,
            *map(number, (one.now, one.perfect, one.saving, one.removed)),
            one.answer,
            number(one.share),
        ]
        for one in (worth[name] for name in names)
    ]
    title = "worth: the system's cost with a model perfect or removed, Shapley share"
    return Grid(head, rows, title=title)


def _notes(system: Any, costs: Sequence[ComponentCosts], found: Sequence[Bounds], worth: Worth) -> list[str]:
    """What to keep in mind, each thing once."""
    notes = [note for one in costs for note in one.notes]
    notes += [f"bounds of one model: {one.note}" for one in found if one.note]
    why = {one.no_interval for one in costs if one.no_interval}
    notes += [f"there are no intervals: {reason}" for reason in sorted(why)]
    notes += [f"no shares: {worth.reason}"] if worth.reason else []
    hidden = len(system.models) - _MOST_MODELS
    notes += [f"{hidden} more models are not shown"] if hidden > 0 else []
    return list(dict.fromkeys(notes))


def as_data(system: Any, version: int) -> dict[str, Any]:
    """Return everything as plain data."""
    names = list(system.models)
    costs = {name: system.component_costs(name) for name in names}
    return {
        "stakes": "system",
        "format": version,
        "facts": system.facts,
        "classes": system.cases,
        "positive": system.positive,
        "models": names,
        "rules": system.rules,
        "cost": system.cost,
        "component_costs": {name: _costs_as_data(one) for name, one in costs.items()},
        "bounds": {name: system.bounds(name).to_dict() for name in names},
        "bounds_of_all": system.bounds().to_dict() if _open(system) else None,
        "worth": system.worth().to_dict(),
        "advice": system.advice,
    }


def _costs_as_data(one: ComponentCosts) -> dict[str, Any]:
    cells = [{key: plain(value) for key, value in cell.items()} for cell in one.to_rows()]
    return {
        "cells": cells,
        "evaluation": plain(one.evaluation if one.known else float("nan")),
        "excess_evaluation": plain(one.excess_evaluation if one.known else float("nan")),
        "dependence": plain(one.dependence if one.known else float("nan")),
        "notes": list(one.notes),
        "no_interval": one.no_interval,
    }
