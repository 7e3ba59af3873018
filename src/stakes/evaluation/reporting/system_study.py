"""What the page of a system is written from: every figure of the system, worked out once."""

from dataclasses import dataclass
from functools import cached_property

from stakes.systems.bounds import Bounds
from stakes.systems.component_costs import ComponentCosts
from stakes.systems.system import System
from stakes.views.report.payload import MOST


@dataclass(frozen=True, eq=False)
class Study:
    """A system and its figures; of very many models the first ones."""

    system: System

    @property
    def names(self) -> list[str]:
        """The models that are shown."""
        return list(self.system.models)[:MOST]

    @property
    def per_thousand(self) -> float:
        """What turns a cost of all cases into that of 1,000 cases."""
        return 1000 / float(self.system.network.cases.sum())

    @property
    def cost(self) -> float:
        """What 1,000 cases cost."""
        return self.per_thousand * self.system.cost

    @cached_property
    def limits(self) -> tuple[float, float] | None:
        """The ends of its interval; None where nothing varies."""
        found = self.system.cost_limits
        if found is None or found[1] - found[0] <= 1e-12 * abs(found[1]):
            return None
        return self.per_thousand * found[0], self.per_thousand * found[1]

    @cached_property
    def constant(self) -> tuple[str, float]:
        """The cheapest decision for everybody, and what it costs for 1,000 cases."""
        decision, cost = self.system.network.cheapest_constant()
        return decision, self.per_thousand * cost

    @cached_property
    def costs(self) -> dict[str, ComponentCosts]:
        """What the answers of each model cost."""
        return {name: self.system.component_costs(name) for name in self.names}

    @cached_property
    def bounds(self) -> dict[str, Bounds]:
        """Between what the system's cost lies, whatever the dependence of each model on the others."""
        return {name: self.system.bounds(name) for name in self.names}
