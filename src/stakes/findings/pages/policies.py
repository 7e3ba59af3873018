"""The page of ways to decide between several classes: what each costs, and which one earns its keep."""

from stakes.decisions.policies import Policies
from stakes.decisions.thresholds.decision import PER
from stakes.findings.pages.payload import Part
from stakes.findings.pages.ways import Row, way, ways_section
from stakes.metrics.cost import expected_cost


def sections_of(policies: Policies) -> list[Part]:
    """Return the sections below the verdict on ways to decide between several classes."""
    best = policies.best
    rows: list[Row] = [(way(best), policies.estimates[best], None)]
    rows += [(way(name), cost, policies.savings[name]) for name, cost in policies.estimates.items() if name != best]
    return [ways_section(expected_cost.name, PER, rows, True)]
