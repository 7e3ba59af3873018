"""What the system decides: its own table, and what follows when a model says something or is made to say it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np

from stakes import errors
from stakes.errors import InputError, nearest, short
from stakes.question.options import Value
from stakes.records import Record
from stakes.systems.network import Do, Network, sum_out
from stakes.systems.row_costs import RowCosts, no_limits
from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.names import canonical
from stakes.text import aligned, lines
from stakes.uncertainty.interval import wilson
from stakes.uncertainty.sampling import Sampling

_MOST_CELLS = 100
"""The most cells of the table for which intervals are worked out."""

Ends = tuple[float, float] | None


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
    """Set what models say (an intervention); the classes do not change."""
    return _outcome(network, f"do({_words(network, values)})", network.decisions(values), network.cases)


def observe(network: Network, values: Do) -> Outcome:
    """Condition on what models say, which also tells about the class and the other models."""
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


# ── the system's own table ────────────────────────────────────────────────────────────────────────────────────────
class DecisionShare(TypedDict):
    """How often the system takes a decision when the truth is this."""

    truth: str
    decision: str
    share: float
    low: float | None
    high: float | None
    cases: float


class ClassCost(TypedDict):
    """What one case of a class costs, and all of them together."""

    truth: str
    cost: float
    low: float | None
    high: float | None
    total: float


@dataclass(frozen=True, eq=False)
class OwnTable(Record, shown="cells=to_rows() by_class=costs_of_classes()"):
    """``shares[c, s]`` is how often the system decides s when the class is c, ``costs[c]`` what a case of it costs.

    ``share_limits`` and ``cost_limits`` are the ends of their intervals, None where there are none.
    """

    classes: tuple[str, ...]
    decisions: tuple[str, ...]
    cases: Array
    shares: Array
    costs: Array
    share_limits: dict[tuple[int, int], Ends]
    cost_limits: dict[int, Ends]

    def to_rows(self) -> Iterator[DecisionShare]:
        """Return a dictionary for each truth and decision."""
        for c, s in np.ndindex(*self.shares.shape):
            low, high = self.share_limits.get((c, s)) or (None, None)
            share = float(self.shares[c, s])
            yield {
                "truth": self.classes[c],
                "decision": self.decisions[s],
                "share": share,
                "low": low,
                "high": high,
                "cases": share * float(self.cases[c]),
            }

    def costs_of_classes(self) -> Iterator[ClassCost]:
        """Return what each class costs."""
        for c, cost in enumerate(self.costs.tolist()):
            low, high = self.cost_limits.get(c) or (None, None)
            total = cost * float(self.cases[c])
            yield {"truth": self.classes[c], "cost": cost, "low": low, "high": high, "total": total}

    def __str__(self) -> str:
        head = ["truth", *(f"decides {name}" for name in self.decisions), "a case costs"]
        cells = [[f"{100 * share:.4g} %" for share in row] for row in self.shares.tolist()]
        rows = zip(self.classes, cells, self.costs.tolist(), strict=True)
        return lines(aligned([head, *([truth, *row, f"{cost:.4g}"] for truth, row, cost in rows)]))


def own_table(network: Network, sampling: Sampling) -> OwnTable:
    """Work out the table of a system, with intervals as costs have them (of shares counted in rows, Wilson's)."""
    shares = network.decisions()
    costs = np.array([(row * prices).sum() for row, prices in zip(shares, network.prices, strict=True)])
    cases = np.where(network.cases > 0, network.cases, 0.0)
    table = (network.classes, network.fusion.decisions, cases, shares, costs)
    if no_limits(network, 1 + shares.shape[1]):
        return OwnTable(*table, {}, {})
    of_costs = dict(enumerate(_limits(network, network.prices, costs, sampling)))
    of_shares: dict[tuple[int, int], Ends] = {}
    for s in range(shares.shape[1]) if shares.size <= _MOST_CELLS else ():
        found = _counted(network, shares[:, s], sampling)
        if found is None:
            chosen = np.zeros(network.prices.shape)
            chosen[:, s] = 1
            found = _limits(network, chosen, shares[:, s], sampling)
        of_shares |= {(c, s): ends for c, ends in enumerate(found)}
    return OwnTable(*table, of_shares, of_costs)


def _counted(network: Network, shares: Array, sampling: Sampling) -> list[Ends] | None:
    """Limits of shares of plain rows; None where rows have weights or clusters, or tables come in."""
    rows = network.rows
    if rows is None or rows.units is not None or not all(model.by_rows for model in network.models.values()):
        return None
    sizes = rows.counts.sum(-1)
    return [
        None if c in network.absent else wilson(share, float(sizes[c]), sampling.confidence)
        for c, share in enumerate(shares.tolist())
    ]


def _limits(network: Network, prices: Array, values: Array, sampling: Sampling) -> list[Ends]:
    """Limits of what a case of each class costs at these prices."""
    one_case = replace(network, cases=np.ones(len(network.classes)), prices=prices)
    rows = RowCosts(one_case)
    costs = rows.made([{}] * len(network.classes))
    found: list[Ends] = []
    for c, value in enumerate(values.tolist()):
        alone = np.where((rows.sample_class[: len(costs)] == c)[:, None], costs, 0.0)
        found.append(None if c in network.absent else rows.limits(value, alone, sampling))
    return found
