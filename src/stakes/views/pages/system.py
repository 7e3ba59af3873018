"""What a view shows of a system: its picture, what its models' answers cost, bounds, worth, and one sentence."""

import math
from collections.abc import Sequence
from functools import partial

from stakes.findings.facts import about
from stakes.metrics.estimate import percent
from stakes.records import Plain
from stakes.systems.bounds import Bounds
from stakes.systems.component_costs import ComponentCosts
from stakes.systems.system import System
from stakes.systems.worth import Worth
from stakes.tallies.names import and_list
from stakes.views import pictures
from stakes.views.page import Page, TextTable
from stakes.views.plots.network import arrows_of, layout

_MOST_MODELS = 30
_MOST_CELLS = 60
_TOO_SLOW = "bounds over every dependence between all models take long here: call bounds() for them"


def page(system: System, everything: bool = False, more: str = "") -> Page:
    """Lay out a system; of very many models the first ones."""
    names = list(system.models)[:_MOST_MODELS]
    costs = [system.component_costs(name) for name in names]
    found = [system.bounds(name) for name in names]
    together = system.bounds_together
    worth, confidence = system.worth(), system.sampling.confidence
    grids = [
        _costs_grid(costs, confidence),
        *_seeing_and_doing(system, names),
        _evaluations(system, costs),
        _bounds_grid([*found, *([together] if together else [])], confidence),
        _worth_grid(worth, names),
        *_replacements(system, costs),
    ]
    notes = [*(f"{name}: {fact}" for name, fact in system.facts.items()), *_notes(system, costs, found, worth)]
    drawn = partial(pictures.network, arrows_of(system.network), layout(arrows_of(system.network)), _rules(system))
    return Page.of(about(system), system.findings, grids, notes, picture=system.picture, pictures=[drawn])


def _rules(system: System) -> list[str]:
    return list(system.network.fusion.rules)


def _span(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "–"
    return f"{number(low, 3)} – {number(high, 3)}" if high - low > 1e-12 * abs(high) else "exact"


def number(value: float, digits: int = 4) -> str:
    """Write a cost with a few digits."""
    if math.isnan(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def _costs_grid(costs: Sequence[ComponentCosts], confidence: float) -> TextTable:
    """K1 and K2 of every model."""
    sees = any(one.sees for one in costs)
    sure = percent(confidence)
    head = ["model", "truth", *(["sees"] if sees else []), "says", "expected", sure, "excess", f"{sure} (excess)"]
    rows, sections = [], []
    for one in costs:
        for cell in one.to_rows():
            seen = [", ".join(cell["sees"].values()) if one.sees else ""] if sees else []
            mark = "✓" if cell["right"] else ""
            expected = number(cell["expected"]) if one.known else _span(cell["at_least"], cell["at_most"])
            sure_of = _span(cell["expected_low"], cell["expected_high"])
            excess = (number(cell["excess"]), _span(cell["excess_low"], cell["excess_high"]))
            rows.append([cell["model"], cell["truth"], *seen, cell["says"] + mark, expected, sure_of, *excess])
        sections.append(len(rows) - 1)
    title = "component costs: what a case costs when a model says this (✓ right)"
    return TextTable(head, rows, sections=sections[:-1], title=title)


def _seeing_and_doing(system: System, names: Sequence[str]) -> list[TextTable]:
    """What is decided when a model says something beside what is decided when it is made to, where that is known."""
    known = [name for name in names if system.component_costs(name).known]
    if system.network.rows is None or not known:
        return []
    cells: list[Plain] = [{"model": name, **cell} for name in known for cell in system.seeing_and_doing(name)]
    decisions = system.network.fusion.decisions
    if len(decisions) == 2:  # the other one follows
        cells = [cell for cell in cells if cell["decision"] == (system.positive or decisions[0])]
    if len(cells) > _MOST_CELLS:
        return []
    keys = ("model", "truth", "says", "decision")
    rows = [[*(cell[key] for key in keys), number(cell["seen"]), number(cell["done"])] for cell in cells]
    title = "how often the system decides so: when the model is seen to say it, and when it is made to say it"
    return [TextTable([*keys, "seen", "done"], rows, title=title)]


def _evaluations(system: System, costs: Sequence[ComponentCosts]) -> TextTable:
    sure = percent(system.sampling.confidence)
    rows = []
    for one in costs:
        figures = [one.evaluation, one.excess_evaluation, one.dependence] if one.known else [math.nan] * 3
        expected, excess, dependence = map(number, figures)
        limits = [_span(*(ends or (None, None))) for ends in (one.evaluation_limits, one.dependence_limits)]
        if not system.network.models[one.model].by_rows:
            limits[1] = "assumed"
        rows.append([one.model, expected, limits[0], excess, dependence, limits[1]])
    title = (
        "what the models' answers cost in all: by expected costs (plus dependence: the system's cost), by excess costs"
    )
    head = ["model", "by expected", sure, "by excess", "dependence", f"{sure} (dep.)"]
    return TextTable(head, rows, title=title)


def _replacements(system: System, costs: Sequence[ComponentCosts]) -> list[TextTable]:
    """From where on a replacement pays, and where the threshold of a model lies: two classes only."""
    rows = []
    for one in costs:
        if system.positive is None or len(one.outputs) != 2 or one.sees or not one.known or min(one.right) < 0:
            continue
        line, threshold = system.break_even(one.model), system.threshold(one.model)
        pays = f"{number(line.per_tpr)}·TPR + {number(line.per_tnr)}·TNR > {number(line.needed)}"
        rows.append([one.model, pays, number(threshold.value)])
    title = (
        "if errors are independent given the class: when a free replacement pays, and where a calibrated score says yes"
    )
    return [TextTable(["model", "a replacement pays when", "yes from p ≥"], rows, title=title)] if rows else []


def _bounds_grid(found: Sequence[Bounds], confidence: float) -> TextTable:
    rows = [
        [one.model or "all models", *map(number, (one.best, one.independent, one.worst)), _span(one.low, one.high)]
        for one in found
    ]
    title = "the system's cost, whatever the dependence on the others"
    return TextTable(
        ["model", "best", "independent", "worst", f"{percent(confidence)}, best to worst"], rows, title=title
    )


def _or_range(value: float, ends: tuple[float, float] | None) -> str:
    """A cost, or from where to where it can lie."""
    return number(value) if ends is None else " – ".join(map(number, ends))


def _worth_grid(worth: Worth, names: Sequence[str]) -> TextTable:
    sure = percent(worth.confidence)
    rows = []
    for one in (worth[name] for name in names):
        perfect, removed = _or_range(one.perfect, one.perfect_range), _or_range(one.removed, one.removed_range)
        saving = [number(one.saving), _span(*(one.saving_limits or (None, None)))]
        share = [number(one.share), _span(*(one.share_limits or (None, None)))]
        rows.append([one.model, perfect, *saving, f"{removed} ({one.answer})", *share])
    title = (
        f"worth: the system's cost, now {number(worth.now)}, if a model were perfect, or removed (its usual answer "
        "always), and its share"
    )
    return TextTable(["model", "perfect", "saves", sure, "removed", "share", f"{sure} (share)"], rows, title=title)


def _notes(system: System, costs: Sequence[ComponentCosts], found: Sequence[Bounds], worth: Worth) -> list[str]:
    """What to keep in mind, each thing once."""
    notes = [note for one in costs for note in one.notes]
    notes += [f"bounds of one model: {one.note}" for one in found if one.note]
    notes += _no_intervals(costs)
    notes += [_TOO_SLOW] if system.open_together and not system.quickly_bounded else []
    notes += [f"no shares: {worth.reason}"] if worth.reason else []
    notes += [f"worth has no intervals: {worth.no_interval}"] if worth.no_interval else []
    hidden = len(system.models) - _MOST_MODELS
    notes += [f"{hidden} more models are not shown"] if hidden > 0 else []
    return list(dict.fromkeys(notes))


def _no_intervals(costs: Sequence[ComponentCosts]) -> list[str]:
    """Why there are no intervals, and of which models if not of all."""
    notes = []
    for reason in sorted({one.no_interval for one in costs if one.no_interval}):
        names = [one.model for one in costs if one.no_interval == reason]
        whose = "" if len(names) == len(costs) else f" of the costs of {and_list(names)}"
        notes.append(f"there are no intervals{whose}: {reason}")
    return notes
