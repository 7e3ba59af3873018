"""The system's own table: how often it takes each decision when the truth is this, and what each class costs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np

from stakes.records import Record
from stakes.systems.network import Network
from stakes.systems.row_costs import RowCosts, no_limits
from stakes.tallies.arithmetic import Array
from stakes.text import aligned, lines
from stakes.uncertainty.interval import wilson
from stakes.uncertainty.sampling import Sampling

_MOST_CELLS = 100
"""Of more cells of the table there are no intervals."""

Ends = tuple[float, float] | None


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
