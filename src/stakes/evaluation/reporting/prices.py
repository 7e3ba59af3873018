"""The costs and the class frequencies that a report starts with."""

from dataclasses import dataclass

from stakes.evaluation.two_classes import TwoClassEvaluation
from stakes.tallies.pricing import AS_IN_THE_ROWS, Pricing, check_shares


@dataclass(frozen=True)
class Prices:
    """What each decision costs for the negative and the positive class, and how frequent the positive one is.

    ``deployed`` is its share where the model is going to be used, ``trained`` the one inside the scores; None where it
    is that of the rows.
    """

    given: bool
    decisions: tuple[str, ...]
    matrix: list[list[float]]
    deployed: float | None = None
    trained: float | None = None


def prices_of(evaluation: TwoClassEvaluation) -> Prices:
    """Return the prices of an evaluation; 1 for each mistake if nobody gave any, or if each row has its own."""
    pricing, pair = evaluation.pricing, (evaluation.negative, evaluation.positive)
    if pricing is None or pricing.costs.columns:
        return Prices(False, pair, [[0.0, 1.0], [1.0, 0.0]])
    decisions = pricing.decisions(pair)
    matrix = [[float(cell) for cell in row] for row in pricing.prices(pair, decisions, evaluation.positive)]
    deployed = pricing.deployed(pair, evaluation.positive)
    return Prices(True, decisions, matrix, None if deployed is None else float(deployed[1]), _trained(pricing, pair))


def _trained(pricing: Pricing, pair: tuple[str, str]) -> float | None:
    prior = pricing.training_prior
    if prior is None or (isinstance(prior, str) and prior == AS_IN_THE_ROWS):
        return None
    return float(check_shares("training_prior", prior, pair, pair[1])[1])
