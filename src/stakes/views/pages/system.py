"""What a view shows of a system: its picture, what its models' answers cost, bounds, worth, and one sentence."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Literal

from stakes.findings.facts import about
from stakes.findings.verdicts.system import Study
from stakes.language.numbers import MISSING, write
from stakes.language.sentences import reason, reason_text, words
from stakes.records import Plain
from stakes.systems.bounds import Bounds
from stakes.systems.component_costs import ComponentCosts
from stakes.systems.system import System
from stakes.systems.worth import Worth
from stakes.views import pictures
from stakes.views.page import Page, TextTable
from stakes.views.plots.network import arrows_of, layout

_MOST_MODELS = 30
_MOST_CELLS = 60
_ENDS: tuple[Literal["best"], Literal["worst"]] = ("best", "worst")


def page(system: System, everything: bool = False, more: str = "") -> Page:
    """Lay out a system; of very many models the first ones."""
    names = list(system.models)[:_MOST_MODELS]
    costs = [system.component_costs(name) for name in names]
    found = [system.bounds_by_model[name] for name in names]
    together = system.bounds_together
    worth, confidence, per = system.worth(), system.sampling.confidence, Study(system).per_thousand
    grids = [
        _own_grid(system, per),
        _costs_grid(costs, confidence),
        *_seeing_and_doing(system, names),
        _evaluations(system, costs, per),
        _bounds_grid([*found, *([together] if together else [])], confidence, per),
        *_moves_grid([*found, *([together] if together else [])]),
        _worth_grid(worth, names, per),
        *_replacements(system, costs, per),
    ]
    facts = [f"{_called(name)}: {reason_text(fact)}" for name, fact in system.facts.items()]
    notes = [*facts, *_notes(system, costs, found, worth)]
    arrows = arrows_of(system.network)
    network = partial(pictures.network, arrows, layout(arrows), list(system.network.fusion.rules))
    return Page.of(about(system), system.findings, grids, notes, picture=system.picture, pictures=[network])


def _called(fact: str) -> str:
    """What a fact is about; rules of fusers have names."""
    rule, _, name = fact.partition("rule ")
    return (
        f"{words('system_text.rule')} {name}" if name and not rule else words(f"system_text.{fact.replace(' ', '_')}")
    )


def _span(low: float | None, high: float | None, per: float = 1.0) -> str:
    """The ends of an interval, for so many cases."""
    if low is None or high is None or math.isnan(low):
        return MISSING
    return (
        f"{number(per * low, 3)} – {number(per * high, 3)}" if high - low > 1e-12 * abs(high) else words("system.exact")
    )


def _limits(ends: tuple[float, float] | None, per: float) -> str:
    return MISSING if ends is None else _span(*ends, per)


def number(value: float, digits: int = 4) -> str:
    """Write a cost with a few digits."""
    if math.isfinite(value) and abs(value) < 10 ** (digits - 1):
        return write(float(f"{value:.{digits}g}"), "exact")
    return write(round(value) if math.isfinite(value) else value, "count")


def _head(*names: str) -> list[str]:
    return [words(name if "." in name else f"system_text.{name}") for name in names]


def _sure(confidence: float) -> str:
    """The head of a column of intervals, which stands behind that of the figures."""
    return write(confidence, "percent")


def _own_grid(system: System, per: float) -> TextTable:
    """The system's own table: shares of each truth, and what a case of it costs, with their intervals."""
    table, rows = system.table, []
    cells = list(table.to_rows())
    for c, cost in enumerate(table.costs_of_classes()):
        mine = cells[c * len(table.decisions) : (c + 1) * len(table.decisions)]
        shares = [_with_limits(one["share"], one["low"], one["high"], "percent") for one in mine]
        costs = [_with_limits(cost["cost"], cost["low"], cost["high"], "cost"), write(per * cost["total"], "cost")]
        rows.append([cost["truth"], *shares, *costs])
    head = [words("system.truth"), *table.decisions, words("system.case_costs"), words("system.per_thousand")]
    return TextTable(head, rows, title=words("system.own"))


def _with_limits(value: float, low: float | None, high: float | None, form: str) -> str:
    limits = "" if low is None else f" ({write(low, form)} – {write(high, form)})"
    return write(value, form) + limits


def _costs_grid(costs: Sequence[ComponentCosts], confidence: float) -> TextTable:
    """K1 and K2 of every model."""
    sees = any(one.sees for one in costs)
    names = ("system_worth.model", "system.truth", *(["system.sees"] if sees else []), "system.says", "expected")
    head = [*_head(*names), _sure(confidence), *_head("excess"), _sure(confidence)]
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
    return TextTable(head, rows, sections=sections[:-1], title=words("system_text.costs"))


def _seeing_and_doing(system: System, names: Sequence[str]) -> list[TextTable]:
    """Decisions when a model says something, beside decisions when it is made to say it, where that is known."""
    known = [name for name in names if system.component_costs(name).known]
    decisions = system.network.fusion.decisions
    each = len(system.classes) * (1 if len(decisions) == 2 else len(decisions))
    many = each * sum(len(system.network.models[name].outputs) for name in known)
    if system.network.rows is None or not 0 < many <= _MOST_CELLS:
        return []
    cells: list[Plain] = [{"model": name, **cell} for name in known for cell in system.seeing_and_doing(name)]
    if len(decisions) == 2:  # the other one follows
        cells = [cell for cell in cells if cell["decision"] == (system.positive or decisions[0])]
    keys = ("model", "truth", "says", "decision")
    rows = [[*(cell[key] for key in keys), number(cell["seen"]), number(cell["done"])] for cell in cells]
    head = _head("system_worth.model", "system.truth", "system.says", "system.decision", "seen", "done")
    return [TextTable(head, rows, title=words("system_text.seen_and_done"))]


def _evaluations(system: System, costs: Sequence[ComponentCosts], per: float) -> TextTable:
    confidence = system.sampling.confidence
    rows = []
    for one in costs:
        figures = [one.evaluation, one.excess_evaluation, one.dependence] if one.known else [math.nan] * 3
        expected, excess, dependence = (number(per * one) for one in figures)
        limits = [_limits(ends, per) for ends in (one.evaluation_limits, one.dependence_limits)]
        if not system.network.models[one.model].by_rows:
            limits[1] = words("system_text.assumed")
        rows.append([one.model, expected, limits[0], excess, dependence, limits[1]])
    head = [*_head("system_worth.model", "by_expected"), _sure(confidence), *_head("by_excess", "dependence")]
    return TextTable([*head, _sure(confidence)], rows, title=words("system_text.in_all"))


def _replacements(system: System, costs: Sequence[ComponentCosts], per: float) -> list[TextTable]:
    """The line above which a replacement pays, and the threshold of a model: two classes only."""
    rows = []
    for one in costs:
        if not system.can_have_threshold(one.model):
            continue
        line, threshold = system.break_even(one.model), system.threshold(one.model)
        tpr, tnr, needed = (number(per * one) for one in (line.per_tpr, line.per_tnr, line.needed))
        pays = f"{tpr}·TPR + {tnr}·TNR > {needed}"
        rows.append([one.model, pays, number(threshold.value)])
    head = _head("system_worth.model", "pays", "yes_from")
    return [TextTable(head, rows, title=words("system_text.replacements"))] if rows else []


def _bounds_grid(found: Sequence[Bounds], confidence: float, per: float) -> TextTable:
    rows = [
        [
            _name(one),
            *(number(per * cost) for cost in (one.best, one.independent, one.worst)),
            _span(one.low, one.high, per),
        ]
        for one in found
    ]
    head = [
        *_head("system_worth.model", "best", "independent", "worst"),
        words("system_text.span", confidence=confidence),
    ]
    return TextTable(head, rows, title=words("system_text.bounds"))


def _moves_grid(found: Sequence[Bounds]) -> list[TextTable]:
    """Which decisions are taken more or less often in the worst case than in the best."""
    rows = [
        [_name(one), move["truth"], move["decision"], *(write(move[end], "percent") for end in _ENDS)]
        for one in found
        for move in one.moves
    ]
    if not 0 < len(rows) <= _MOST_CELLS:
        return []
    head = _head("system_worth.model", "system.truth", "system.decision", *_ENDS)
    return [TextTable(head, rows, title=words("system_text.moves"))]


def _name(bounds: Bounds) -> str:
    return bounds.model or words("system_worth.all_models")


def _or_range(value: float, ends: tuple[float, float] | None, per: float) -> str:
    """A cost, or its range."""
    return number(per * value) if ends is None else " – ".join(number(per * end) for end in ends)


def _worth_grid(worth: Worth, names: Sequence[str], per: float) -> TextTable:
    rows = []
    for one in (worth[name] for name in names):
        ranges = (one.perfect, one.perfect_range), (one.removed, one.removed_range)
        perfect, removed = (_or_range(*ends, per) for ends in ranges)
        saving = [number(per * one.saving), _limits(one.saving_limits, per)]
        share = [number(per * one.share), _limits(one.share_limits, per)]
        rows.append([one.model, perfect, *saving, f"{removed} ({one.answer})", *share])
    head = [*_head("system_worth.model", "perfect", "system_worth.saves"), _sure(worth.confidence)]
    head += [*_head("removed", "share"), _sure(worth.confidence)]
    return TextTable(head, rows, title=words("system_text.worth", now=number(per * worth.now)))


def _notes(system: System, costs: Sequence[ComponentCosts], found: Sequence[Bounds], worth: Worth) -> list[str]:
    """What to keep in mind, each thing once."""
    notes = [reason_text(note) for one in costs for note in one.notes]
    notes += [words("system_text.bounds_note", note=reason(one.note)) for one in found if one.note]
    notes += _no_intervals(costs)
    notes += [words("system_text.slow")] if system.open_together and not system.quickly_bounded else []
    notes += [words("system_text.no_shares", why=reason(worth.reason))] if worth.reason else []
    notes += [words("system_text.no_limits", why=reason(worth.no_interval))] if worth.no_interval else []
    hidden = len(system.models) - _MOST_MODELS
    notes += [words("system.hidden", n=hidden)] if hidden > 0 else []
    return list(dict.fromkeys(notes))


def _no_intervals(costs: Sequence[ComponentCosts]) -> list[str]:
    """Why there are no intervals, and of which models if not of all."""
    notes = []
    for why in sorted({one.no_interval for one in costs if one.no_interval}):
        names = [one.model for one in costs if one.no_interval == why]
        key = "no_intervals" if len(names) == len(costs) else "no_intervals_of"
        notes.append(words(f"system_text.{key}", models=names, why=reason(why)))
    return notes
