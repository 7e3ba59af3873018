"""A system in plain words: its picture, what its figures rest on, and which model to improve first."""

import math
from collections.abc import Iterator

from stakes.language.sentences import words
from stakes.systems.build import Built
from stakes.systems.fusion import DECISION
from stakes.systems.network import Network
from stakes.tallies.names import and_list
from stakes.text import columns, lines, visible


def picture(network: Network) -> str:
    """Draw the network: the truth, the models, the fusers (deterministic: double brackets), the cost."""
    truth, decision, cost, sees = (words(f"system.{name}") for name in ("truth", "decision", "cost", "sees"))
    seen = {name: f" ◄ {sees} {', '.join(m.sees)}" if m.sees else "" for name, m in network.models.items()}
    names = [visible(f"({name}){others}") for name, others in seen.items()]
    heard = {name for rule in network.fusion.rules.values() for name in rule.names()}
    places = [i for i, name in enumerate(network.models) if name in heard]
    widest = max(map(columns, names))
    rows = []
    for i, name in enumerate(names):
        stem = f"({truth}) " if i == 0 else " " * (len(truth) + 3)
        line = ("─" if i in places else " ") * (widest - columns(name))
        rows.append(f"{stem}{_remainder(i, len(names))}► {name} {line}{_right(i, places)}".rstrip())
    fusers = [f"(({name})) ─► " for name in network.fusion.rules if name != DECISION]
    rows[places[-1]] += f"► {''.join(fusers)}(({decision})) ─► [{cost}]"
    rules = [f"(({decision if name == DECISION else name})) = {text}" for name, text in network.fusion.texts.items()]
    return lines([*rows, *rules, words("system.legend")])


def _remainder(i: int, count: int) -> str:
    if count == 1:
        return "───"
    return "─┬─" if i == 0 else " ├─" if i < count - 1 else " └─"


def _right(i: int, places: list[int]) -> str:
    """The line that gathers the models which rules listen to; the others are passed by."""
    if i not in places:
        return " │ " if places[0] < i < places[-1] else "   "
    if len(places) == 1:
        return "───"
    return "─┐ " if i == places[0] else "─┤ " if i != places[-1] else "─┴─"


def facts(built: Built) -> dict[str, str]:
    """What the figures of a system rest on."""
    network = built.network
    total = network.cases.sum()
    sizes = zip(network.classes, network.cases, strict=True)
    shares = ", ".join(f"{name} {100 * n / total:.4g} %" for name, n in sizes)
    known = {"classes": f"{shares} (from {built._cases_from})"}
    if built.positive is not None:
        known["positive"] = f"{built.positive} ({built._positive_from})"
    whole = "one case" if built.per_case else f"{total:,.6g} cases"
    known["costs are for"] = f"1,000 cases in words and tables, {whole} in data"
    known["dependence"] = _dependence(network) + _cost_of_dependence(network)
    decision, cost = network.cheapest_constant()
    known["without models"] = f"deciding {decision!r} for everybody costs {1000 * cost / total:,.4g}"
    known |= {"rule" if name == DECISION else f"rule {name}": text for name, text in network.fusion.words().items()}
    if network.fusion.ties:
        known["tied votes"] = f"the first one listed wins, in the order {', '.join(network.fusion.terms.letters)}"
    return {**known, "right answers": "; ".join(_right_answers(network))}


def _dependence(network: Network) -> str:
    by_rows = [name for name, model in network.models.items() if model.by_rows]
    tables = [name for name in network.models if name not in by_rows]
    seeing = " and what they see" if any(network.models[name].sees for name in tables) else ""
    kept = f"of {and_list(by_rows)} as in the rows" if by_rows else ""
    assumed = f"{and_list(tables)} assumed independent given the class{seeing}" if tables else ""
    return "; ".join(filter(None, (kept, assumed)))


def _cost_of_dependence(network: Network) -> str:
    """What the dependence between models' errors costs, where rows show it."""
    if network.rows is None:
        return ""
    if math.isnan(independent := network.cost_if_independent()):
        return ""
    per = 1000 / float(network.cases.sum())
    alone, extra = per * independent, per * (float(network.cost()) - independent)
    return f"; with independent errors the system would cost {alone:,.4g}, so dependence costs {extra:,.4g}"


def _right_answers(network: Network) -> Iterator[str]:
    """What counts as a right answer of each model."""
    right = {
        name: [model.outputs[code] if code >= 0 else None for code in model.right]
        for name, model in network.models.items()
    }
    plain = [name for name, answers in right.items() if answers == list(network.classes)]
    if plain:
        yield f"of {', '.join(plain)}: the true class"
    for name in (name for name in right if name not in plain):
        named = [f"{label} → {answer or '–'}" for answer, label in zip(right[name], network.classes, strict=True)]
        yield f"of {name}: {', '.join(named)}"
