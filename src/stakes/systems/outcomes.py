"""Seeing and doing: what the system decides when a model says something, and when it is made to say it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from stakes import errors
from stakes.errors import InputError, nearest, short
from stakes.question.options import Value
from stakes.records import Record
from stakes.systems.network import Do, Network, sum_out
from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.names import canonical
from stakes.text import aligned, lines


class SeenAndDone(TypedDict):
    """How probable a decision is when a model is seen to say something, and when it is made to say it."""

    truth: str
    says: str
    decision: str
    seen: float
    done: float


@dataclass(frozen=True, eq=False)
class Outcome(Record, shown="how classes=class_shares decisions=decision_shares cost"):
    """What the system decides: ``decisions[c, s]`` is P(decision s | class c, what is known or done).

    ``classes`` are the probabilities of the classes themselves: seeing what a model says tells about them, doing
    does not. ``cost`` is the mean cost of a case.
    """

    how: str
    class_names: tuple[str, ...]
    decision_names: tuple[str, ...]
    decisions: Array
    classes: Array
    cost: float

    @property
    def class_shares(self) -> dict[str, float]:
        """How probable each class is."""
        return dict(zip(self.class_names, self.classes.tolist(), strict=True))

    @property
    def decision_shares(self) -> dict[str, dict[str, float] | None]:
        """How probable each decision is, by class; None for classes in which it cannot happen."""
        return {
            name: None if np.isnan(row).any() else dict(zip(self.decision_names, row.tolist(), strict=True))
            for name, row in zip(self.class_names, self.decisions, strict=True)
        }

    def __str__(self) -> str:
        head = ["truth", "probability", *(f"decides {name}" for name in self.decision_names)]
        rows = [
            [name, f"{share:.4f}", *("–" if np.isnan(p) else f"{p:.4f}" for p in row)]
            for name, share, row in zip(self.class_names, self.classes, self.decisions, strict=True)
        ]
        return lines([f"{self.how}: a case costs {self.cost:.4g}", *aligned([head, *rows])])


def codes_of(network: Network, values: Mapping[str, Value] | None, named: Mapping[str, Value]) -> dict[str, int]:
    """Check models and what they are to say, given as a dictionary or by name."""
    if values is not None and not isinstance(values, Mapping):
        raise InputError(
            "not-said", f"{short(repr(values))} does not say which model says what; give {{model: answer}}"
        )
    found = {}
    for name, value in {**(values or {}), **named}.items():
        if name not in network.models:
            raise errors.no_such_model(name, list(network.models))
        outputs = network.models[name].outputs
        if canonical(value) not in outputs:
            raise InputError("no-such-output", f"{name} never says {short(repr(value))}{nearest(str(value), outputs)}")
        found[name] = outputs.index(canonical(value))
    return found


def do(network: Network, values: Do) -> Outcome:
    """Make models say something, whatever they would have said; the classes do not change."""
    return _outcome(network, f"do({_words(network, values)})", network.decisions(values), network.cases)


def observe(network: Network, values: Do) -> Outcome:
    """Look only at the cases in which models say something; that tells about the class and the other models."""
    decided, chances = observe_decisions(network, values)
    weights = network.cases * chances
    if not weights.any():
        raise InputError(
            "never-happens",
            f"{_words(network, values)} never happens in this system; ask for something that does, or use do()",
        )
    return _outcome(network, f"given({_words(network, values)})", decided, weights)


def observe_decisions(network: Network, values: Do) -> tuple[Array, Array]:
    """P(decision | class, models say so), NaN where they never do, and how often they say so in each class."""
    decided, chances = [], []
    for c in range(len(network.classes)):
        joint = network.joint(c)
        there = np.ones(joint.size, bool)
        for name, code in values.items():
            there &= joint.codes[name] == code
        chance = sum_out(joint.chance * there, network.fusion(joint.codes), network.prices.shape[1])
        decided.append(divide(chance, chance.sum(), np.nan))
        chances.append(chance.sum())
    return network.masked(np.stack(decided)), np.array(chances)


def _outcome(network: Network, how: str, decided: Array, weights: Array) -> Outcome:
    shares = weights / weights.sum()
    costs = np.where(shares > 0, (decided * network.prices).sum(-1) * shares, 0.0)
    return Outcome(how, network.classes, network.fusion.decisions, decided, shares, float(costs.sum()))


def _words(network: Network, values: Do) -> str:
    return ", ".join(f"{name}={network.models[name].outputs[code]!r}" for name, code in values.items())
