"""A system in plain words: its picture, what its figures rest on, and which model to improve first."""

import math
from collections.abc import Iterator

from stakes.systems.build import Built
from stakes.systems.fusion import DECISION
from stakes.systems.network import Network
from stakes.systems.rules import and_list
from stakes.systems.worth import Worth

LEGEND = "(…) uncertain   ((…)) fixed by what comes in   […] a cost"


def picture(network: Network) -> str:
    """Draw the network: the truth, the models, the fusers (fixed by what comes in: double brackets), the cost."""
    names = [f"({name})" + (f" ◄ sees {', '.join(m.sees)}" if m.sees else "") for name, m in network.models.items()]
    width = max(map(len, names))
    lines = []
    for i, name in enumerate(names):
        left, right = _brackets(i, len(names))
        stem = "(truth) " if i == 0 else " " * 8
        lines.append(f"{stem}{left}► {name} {'─' * (width - len(name))}{right}".rstrip())
    fusers = [name for name in network.fusion.rules if name != DECISION]
    lines[-1] += f"► {' '.join(f'(({name})) ─►' for name in fusers)}{' ' if fusers else ''}((decision)) ─► [cost]"
    rules = [f"(({name})) = {text}" for name, text in network.fusion.texts.items()]
    return "\n".join([*lines, *rules, LEGEND])


def _brackets(i: int, count: int) -> tuple[str, str]:
    if count == 1:
        return "───", "───"
    if i == 0:
        return "─┬─", "─┐ "
    return (" ├─", "─┤ ") if i < count - 1 else (" └─", "─┴─")


def facts(built: Built) -> dict[str, str]:
    """What the figures of a system rest on."""
    network = built.network
    total = network.cases.sum()
    shares = ", ".join(
        f"{name} {100 * n / total:.4g} %" for name, n in zip(network.classes, network.cases, strict=True)
    )
    told = {"classes": f"{shares} (from {built.cases_from})"}
    if built.positive is not None:
        told["positive"] = f"{built.positive} ({built.positive_from})"
    told["costs are for"] = "one case" if built.per_case else f"{total:,.6g} cases"
    told["dependence"] = _dependence(network)
    told |= {"rule" if name == DECISION else f"rule {name}": words for name, words in network.fusion.words().items()}
    if network.fusion.ties:
        told["tied votes"] = f"the first one listed wins, in the order {', '.join(network.fusion.terms.letters)}"
    return {**told, "right answers": "; ".join(_right_answers(network))}


def _dependence(network: Network) -> str:
    by_rows = [name for name, model in network.models.items() if model.by_rows]
    tables = [name for name in network.models if name not in by_rows]
    seeing = " and what they see" if any(network.models[name].sees for name in tables) else ""
    kept = f"of {and_list(by_rows)} as in the rows" if by_rows else ""
    assumed = f"{and_list(tables)} assumed independent given the class{seeing}" if tables else ""
    return "; ".join(filter(None, (kept, assumed)))


def _right_answers(network: Network) -> Iterator[str]:
    """What counts as a right answer of each model."""
    plain = [name for name, m in network.models.items() if _says_classes(network, name)]
    if plain:
        yield f"of {', '.join(plain)}: the true class"
    for name, model in network.models.items():
        if name not in plain:
            named = [
                f"{model.outputs[code]} for {label}" if code >= 0 else f"none for {label}"
                for label, code in zip(network.classes, model.right, strict=True)
            ]
            yield f"of {name}: {', '.join(named)}"


def _says_classes(network: Network, name: str) -> bool:
    model = network.models[name]
    said = [model.outputs[code] if code >= 0 else None for code in model.right]
    return said == list(network.classes)


def advice(worth: Worth) -> str:
    """Say which model to improve first, and what that can save at most."""
    first = worth.first
    size = "per case" if worth.cases == 1 else f"over {worth.cases:,.6g} cases"
    if all(math.isnan(one.saving) for one in worth.models.values()):
        why = "; ".join(dict.fromkeys(one.reason for one in worth.models.values()))
        return f"The system costs {worth.now:,.4g} {size}; which model to improve first cannot be told: {why}."
    if first is None:
        return f"The system costs {worth.now:,.4g} {size}; making a single model perfect would save nothing."
    return (
        f"Improve {first.model} first: always right, it would save {first.saving:,.4g} of the {worth.now:,.4g} that "
        f"the system costs {size}; more than that its own errors do not cost while the others stay as they are."
    )
