"""A system in plain words: its picture, what its figures rest on, and which model to improve first."""

import math
from collections.abc import Iterator

from stakes.metrics.estimate import percent
from stakes.systems.build import Built
from stakes.systems.fusion import DECISION
from stakes.systems.network import Network
from stakes.systems.worth import ModelWorth, Worth
from stakes.tallies.names import and_list
from stakes.text import columns, lines, visible

LEGEND = "(…) uncertain   ((…)) fixed by what comes in   […] a cost"


def picture(network: Network) -> str:
    """Draw the network: the truth, the models, the fusers (fixed by what comes in: double brackets), the cost."""
    seen = {name: f" ◄ sees {', '.join(m.sees)}" if m.sees else "" for name, m in network.models.items()}
    names = [visible(f"({name}){others}") for name, others in seen.items()]
    heard = {name for rule in network.fusion.rules.values() for name in rule.names()}
    places = [i for i, name in enumerate(network.models) if name in heard]
    widest = max(map(columns, names))
    drawn = []
    for i, name in enumerate(names):
        stem = "(truth) " if i == 0 else " " * 8
        line = ("─" if i in places else " ") * (widest - columns(name))
        drawn.append(f"{stem}{_remainder(i, len(names))}► {name} {line}{_right(i, places)}".rstrip())
    fusers = [f"(({name})) ─► " for name in network.fusion.rules if name != DECISION]
    drawn[places[-1]] += f"► {''.join(fusers)}((decision)) ─► [cost]"
    rules = [f"(({name})) = {text}" for name, text in network.fusion.texts.items()]
    return lines([*drawn, *rules, LEGEND])


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
    told = {"classes": f"{shares} (from {built.cases_from})"}
    if built.positive is not None:
        told["positive"] = f"{built.positive} ({built.positive_from})"
    told["costs are for"] = "one case" if built.per_case else f"{total:,.6g} cases"
    told["dependence"] = _dependence(network) + _cost_of_dependence(network)
    decision, cost = network.cheapest_constant()
    told["without models"] = f"deciding {decision!r} for everybody costs {cost:,.4g}"
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


def _cost_of_dependence(network: Network) -> str:
    """What it costs that models err together, where rows tell it."""
    if network.rows is None:
        return ""
    if math.isnan(independent := network.cost_if_independent()):
        return ""
    extra = float(network.cost()) - independent
    return f"; with independent errors the system would cost {independent:,.4g}, so dependence costs {extra:,.4g}"


def _right_answers(network: Network) -> Iterator[str]:
    """What counts as a right answer of each model."""
    plain = [name for name, m in network.models.items() if _says_classes(network, name)]
    if plain:
        yield f"of {', '.join(plain)}: the true class"
    for name, model in network.models.items():
        if name not in plain:
            right = zip(network.classes, model.right, strict=True)
            named = [f"{model.outputs[code] if code >= 0 else 'none'} for {label}" for label, code in right]
            yield f"of {name}: {', '.join(named)}"


def _says_classes(network: Network, name: str) -> bool:
    model = network.models[name]
    return [model.outputs[code] if code >= 0 else None for code in model.right] == list(network.classes)


def advice(network: Network, worth: Worth, per_case: bool) -> str:
    """Say which model to improve first and what that can save at most, and whether something simpler would do."""
    return " ".join(filter(None, (_improvement(worth, per_case), _simpler(network, worth))))


def _improvement(worth: Worth, per_case: bool) -> str:
    size = "per case" if per_case else f"over {worth.cases:,.6g} cases"
    unknown = [one for one in worth.models.values() if math.isnan(one.saving)]
    whys = "; ".join(dict.fromkeys(one.reason for one in unknown))
    if len(unknown) == len(worth.models):
        return f"The system costs {worth.now:,.4g} {size}; which model to improve first cannot be told: {whys}."
    first = worth.first
    left_out = f" ({and_list([one.model for one in unknown])} left out: {whys})" if unknown else ""
    if first is None:
        most = max((one.saving_limits[1] for one in worth.models.values() if one.saving_limits), default=0.0)
        still = f", though up to {most:,.3g} cannot be excluded" if most > 0 else ""
        nothing = f"making a single model perfect would save nothing{still}{left_out}"
        return f"The system costs {worth.now:,.4g} {size}; {nothing}."
    which = f"Improve {first.model} first: always right, it"
    if worth.rivals:
        names = " or ".join([first.model, *worth.rivals])
        which = f"There is not enough evidence which model comes first: {names}. Always right, {first.model}"
    elif len(worth.as_good) > 1:
        which = f"It is all the same whether {' or '.join(worth.as_good)} is improved first: always right, it"
    low, high = first.saving_limits or (first.saving, first.saving)
    sure = f" ({percent(worth.confidence)} interval {low:,.3g} – {high:,.3g})" if high > low else ""
    return (
        f"{which} would save {first.saving:,.4g}{sure} of the {worth.now:,.4g} that the system costs {size}, "
        f"{_at_most(first)}{left_out}."
    )


def _at_most(first: ModelWorth) -> str:
    """What can be saved at most: by being right, unless the rule makes an error cheaper."""
    if first.right_is_cheapest:
        return "and no better model in its place can save more while the others stay as they are"
    return (
        f"but being right is not its cheapest answer everywhere under this rule: its cheapest answers would save "
        f"{first.now - first.cheapest:,.4g}"
    )


def _simpler(network: Network, worth: Worth) -> str:
    """Point out what costs less than the system without any model being improved."""
    enough = worth.now - 1e-9 * abs(worth.now)
    decision, cost = network.cheapest_constant()
    spared = [one for one in worth.models.values() if one.constant < min(enough, cost)]
    said = []
    if cost < enough:
        said.append(f"But deciding {decision!r} for everybody would cost only {cost:,.4g}, less than the system.")
    if spared:
        best = min(spared, key=lambda one: one.constant)
        said.append(
            f"Leaving {best.model} out (always {best.constant_answer!r} in its place) would already cost only "
            f"{best.constant:,.4g}."
        )
    return " ".join(said)
