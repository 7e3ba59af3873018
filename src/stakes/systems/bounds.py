"""The least and the most that a system can cost when the dependence between models' errors is unknown."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypedDict

import numpy as np

from stakes.errors import InputError
from stakes.records import Record
from stakes.systems.bootstrap import Bootstrap
from stakes.systems.component_costs import ComponentCosts
from stakes.systems.network import Amount, Joint, Model, Network, distinct, sum_out
from stakes.systems.situations import Situations
from stakes.systems.tables import RateTable
from stakes.tallies.arithmetic import Array, divide
from stakes.text import visible

_MOST_VARIABLES = 200_000
"""The largest linear program over all combinations of all models."""

_MOST_MOVES = 6
"""The most changed shares that the text of bounds lists."""

_SOLVED = 100
"""The number of draws solved one by one where prices are resampled too."""

Sparse = Any
"""A sparse matrix of SciPy's, which has no types."""

_SOLVED_DRAWS = (4, 150)
"""The fewest and the most draws that are solved exactly; in between, as many as stay below ``_MOST_AT_ONCE``."""

_MOST_AT_ONCE = 10_000
"""The number of unknowns that a tenth of a second is enough for."""

SharesByTruth = dict[str, dict[str, float]]
"""How often each decision is taken, for each truth."""


class Move(TypedDict):
    """How often the system takes a decision when the truth is this, in the best and in the worst case."""

    truth: str
    decision: str
    best: float
    worst: float


@dataclass(frozen=True)
class Bounds(Record, shown="* moves"):
    """What the system costs at best and at worst, whatever the dependence, and if errors were independent.

    ``low`` and ``high`` are the ends of an interval for both bounds together: 2.5 % of the best to 97.5 % of the worst
    at 95 %; with three outputs or more, or all models at once, they may be a little too far out, never too far in.
    ``actual`` is what the system costs with the dependence in the rows, where the model is in them. ``best_table`` and
    ``worst_table`` tell for each truth how often the system takes each decision in the best and in the worst case, and
    ``moves`` which of these shares differ; None where only the range of costs is known. Where several tables cost the
    same, one of them is given.
    """

    model: str | None
    best: float
    worst: float
    independent: float
    actual: float
    cases: float
    low: float | None = None
    high: float | None = None
    no_interval: str = ""
    note: str = ""
    best_table: SharesByTruth | None = None
    worst_table: SharesByTruth | None = None

    @property
    def moves(self) -> list[Move]:
        """The shares of decisions that differ between the best and the worst case; of two, the one that grows."""
        if self.best_table is None or self.worst_table is None:
            return []
        return [
            {"truth": truth, "decision": decision, "best": share, "worst": self.worst_table[truth][decision]}
            for truth, row in self.best_table.items()
            for decision, share in row.items()
            if (change := self.worst_table[truth][decision] - share) > 1e-9 or (change < -1e-9 and len(row) > 2)
        ]

    def __str__(self) -> str:
        sure = "" if self.low is None else f", interval {self.low:.4g} to {self.high:.4g}"
        whose = "all models" if self.model is None else visible(self.model)
        even = f"{self.independent:.4g} if errors were independent"
        text = f"the system costs {self.best:.4g} to {self.worst:.4g} whatever the dependence of {whose}{sure}; {even}"
        moves = [
            visible(
                f"of {move['truth']} {100 * move['best']:.4g} % to {100 * move['worst']:.4g} % get {move['decision']}"
            )
            for move in self.moves[:_MOST_MOVES]
        ]
        return "; ".join([text, *moves])


# ── one model against the others ─────────────────────────────────────────────────────────────────────────────────
def bounds(network: Network, costs: ComponentCosts, table: RateTable | None) -> Bounds:
    """Bound what the system costs over every dependence between one model's answers and those of the others.

    ``table`` is a candidate in the place of the model; without it the model's own answers are taken.
    """
    rates = costs.rates if table is None else table.rates
    decided = [[_handed_out(one, rates[c], sign) for c, one in enumerate(costs.found)] for sign in (1, -1)]
    if costs.known and len(costs.outputs) > 2:  # the shares found above give the cost: no program is solved twice
        best, worst = (float(costs.cases @ (np.stack(one) * network.prices).sum(-1)) for one in decided)  # type: ignore[arg-type]
    else:
        best, worst = map(float, _ends(costs, costs.found, rates))
    even = 0.0 if costs.known else math.nan
    for n, shares, prices, _, answers in _parts(costs, costs.found, rates):
        even += n * float(np.einsum("...g,...gj,...j->...", shares, prices, answers))
    actual = costs.system_cost if table is None else math.nan
    low, high, reason = _limits(network, costs, table, (best, worst))
    others = [name for name, other in network.models.items() if name != costs.model and not other.by_rows]
    apart = bool(others) and len(network.models) > 2
    note = "the others assumed independent of each other where they are given by tables" if apart else ""
    tables = [_table(network, one) for one in decided]
    cases = float(costs.cases.sum())
    return Bounds(costs.model, best, worst, float(even), actual, cases, low, high, reason, note, *tables)


def _handed_out(one: Situations, rates: Array, sign: int) -> Array | None:
    """How often each decision is taken when answers are assigned to situations at the least (or most) cost."""
    if one.decided is None:
        return None
    total = np.zeros(one.decided.shape[-1])
    for a in np.unique(one.seen):
        there = one.seen == a
        shares, prices, decided = one.shares[there], sign * one.low[there], one.decided[there]
        if (weight := shares.sum()) > 0:
            if prices.shape[-1] <= 2:
                answers = _in_order(shares / weight, prices, rates[a])
            else:
                margins = np.concatenate([shares / weight, rates[a][:-1]])
                answers = least(prices.ravel(), transport(*prices.shape), margins)[2].reshape(prices.shape)
            total += weight * np.einsum("gj,gjs->s", answers, decided)
    return total


def _table(network: Network, decided: Sequence[Array | None]) -> SharesByTruth | None:
    """How often each decision is taken, by name; nothing is known about classes without cases."""
    known = [one for one in decided if one is not None]
    if len(known) < len(decided):
        return None
    shares = network.masked(np.stack(known)).tolist()
    return {
        truth: dict(zip(network.fusion.decisions, row, strict=True))
        for truth, row in zip(network.classes, shares, strict=True)
    }


def _parts(
    costs: ComponentCosts, found: Sequence[Situations], rates: Array
) -> Iterator[tuple[float, Array, Array, Array, Array]]:
    """For each class and each thing that the model sees: cases, shares of situations, their prices, its answers."""
    for c, one in enumerate(found):
        for a in np.unique(one.seen):
            there = one.seen == a
            shares = one.shares[..., there]
            if costs.cases[c] and shares.any():
                yield costs.cases[c], shares, one.low[..., there, :], one.high[..., there, :], rates[..., c, a, :]


def _ends(costs: ComponentCosts, found: Sequence[Situations], rates: Array) -> tuple[Amount, Amount]:
    """The least and the most that all cases can cost."""
    best = worst = 0.0
    for cases, shares, low, high, answers in _parts(costs, found, rates):
        best = best + cases * _least(shares, low, answers)
        worst = worst - cases * _least(shares, -high, answers)
    return best, worst


def _least(shares: Array, prices: Array, rates: Array) -> Amount:
    """The least cost over all assignments of answers (rates) to situations (shares)."""
    weight = shares.sum(-1)
    within = divide(shares, weight[..., None])
    answers = np.where(weight[..., None] > 0, rates, 0.0)  # situations that never happen get no answers
    if prices.shape[-1] > 2:
        return weight * _by_program(within, prices, answers)
    return weight * (_in_order(within, prices, answers) * prices).sum((-2, -1))


def _in_order(shares: Array, prices: Array, answers: Array) -> Array:
    """Assign two answers to situations: the second goes first to where it costs least extra."""
    if prices.shape[-1] == 1:
        return shares[..., None]
    order = np.argsort(prices[..., 1] - prices[..., 0], axis=-1, kind="stable")
    shares, order = np.broadcast_arrays(shares, order)
    ranked = np.take_along_axis(shares, order, axis=-1)
    handed_out = np.clip(answers[..., 1:] - (np.cumsum(ranked, axis=-1) - ranked), 0, ranked)
    second = np.take_along_axis(handed_out, np.argsort(order, axis=-1), axis=-1)
    return np.stack([shares - second, second], axis=-1)


def _by_program(shares: Array, prices: Array, answers: Array) -> Amount:
    """Three answers or more: a transportation program."""
    constraints = transport(*prices.shape[-2:])
    leading = np.broadcast_shapes(shares.shape[:-1], answers.shape[:-1], prices.shape[:-2])
    parts = [np.broadcast_to(part, (*leading, part.shape[-1])) for part in (shares, answers[..., :-1])]
    margins = np.concatenate(parts, axis=-1)
    if not leading:
        return least(prices.ravel(), constraints, margins)[0]
    if prices.ndim == 2:
        return least_of_draws(prices.ravel(), constraints, margins, [])
    return least_of_each(prices.reshape(len(prices), -1), constraints, margins)[0]


def _limits(
    network: Network, costs: ComponentCosts, table: RateTable | None, ends: tuple[float, float]
) -> tuple[float | None, float | None, str]:
    """The interval of both bounds; the model and the others are resampled separately."""
    bootstrap, name = costs.bootstrap, costs.model
    counts = network.models[name].counts if table is None else table.counts
    if bootstrap.network is None and counts is None:
        return None, None, bootstrap.reason
    rates = costs.bootstrapped_rates
    if table is not None:
        rates = table.rates if counts is None else bootstrap.rates(counts)
    again = costs.bootstrapped or costs.found
    if again[0].low.ndim > 2 and len(costs.outputs) > 2:  # prices are resampled: each draw is a program of its own
        chosen = np.linspace(0, bootstrap.times - 1, _SOLVED).astype(int)
        again = tuple(one.of_draws(chosen) for one in again)
        rates = rates[chosen] if rates.ndim > 3 else rates
    best, worst = map(np.atleast_1d, _ends(costs, again, rates))
    return float(bootstrap.limits(best, ends[0])[0]), float(bootstrap.limits(worst, ends[1])[1]), ""


# ── all models at once ───────────────────────────────────────────────────────────────────────────────────────────
def bounds_of_all(network: Network, cost: float, bootstrap: Bootstrap) -> Bounds:
    """Bound what the system costs over every joint distribution that has the tables of all models as its margins.

    The dependence between models in rows stays as it is in the rows.
    """
    cases = float(network.cases.sum())
    size = network.joint(0).size
    if size > _MOST_VARIABLES:
        words = f"there are {size:,} combinations, more than the {_MOST_VARIABLES:,} of the largest program"
        return Bounds(None, math.nan, math.nan, cost, cost, cases, no_interval=words, note=words)
    best, best_again, best_decided = _least_of_all(network, 1, bootstrap)
    worst, worst_again, worst_decided = _least_of_all(network, -1, bootstrap)
    limits: tuple[float | None, float | None] = (None, None)
    if best_again is not None and worst_again is not None:
        limits = float(bootstrap.limits(best_again, best)[0]), float(bootstrap.limits(-worst_again, -worst)[1])
    reason = "" if limits[0] is not None else bootstrap.reason or "the margins of models that see others are not fixed"
    tables = [_table(network, decided) for decided in (best_decided, worst_decided)]
    note = "over every dependence between all models"
    return Bounds(None, best, -worst, cost, cost, cases, *limits, reason, note, *tables)


def _least_of_all(network: Network, sign: int, bootstrap: Bootstrap) -> tuple[float, Amount | None, list[Array]]:
    """The least that all cases can cost (times the sign), the same for each draw of the margins, and the decisions."""
    cascade = any(model.sees and not model.by_rows for model in network.models.values())
    total, again, decided = 0.0, (None if bootstrap.network is None or cascade else 0.0), []
    for c, cases in enumerate(network.cases):
        codes = network.joint(c).codes
        prices = sign * network.costs(c, codes)
        constraints, margins = _margins(network, network, c)
        value, dual, shares = least(prices, constraints, margins)
        total += float(cases * value)
        decided.append(sum_out(shares, network.fusion(codes), network.prices.shape[1]))
        if bootstrap.network is not None and again is not None:
            draws = _margins(network, bootstrap.network, c)[1]
            again = again + cases * least_of_draws(prices, constraints, draws, [dual])
    return total, again, decided


def _margins(network: Network, source: Network, c: int) -> tuple[Sparse, Array]:
    """The constraints of the program (coefficients, and what they must sum to) for one class."""
    from scipy.sparse import vstack

    joint = network.joint(c)
    by_rows = [joint.codes[name] for name, model in network.models.items() if model.by_rows]
    places, first = distinct(by_rows, joint.size)
    blocks = [_indicators(places, len(first))]
    totals = [sum_out(source.joint(c).chance, places, len(first))]
    for model in network.models.values():
        chances = source.models[model.name].chances
        if chances is not None:
            block, total = _margins_of_table(network, model, joint, chances[..., c, :, :])
            blocks.append(block)
            totals.append(total)
    leading = np.broadcast_shapes(*(total.shape[:-1] for total in totals))
    parts = [np.broadcast_to(total, (*leading, total.shape[-1])) for total in totals]
    return vstack(blocks).tocsr(), np.concatenate(parts, axis=-1)


def _margins_of_table(network: Network, model: Model, joint: Joint, rates: Array) -> tuple[Sparse, Array]:
    """A model's answers sum to its rates; of a model that sees others, to its rates times how often it sees them."""
    from scipy.sparse import csr_array

    answer = joint.codes[model.name]
    combinations, outputs = rates.shape[-2:]
    if not model.sees:
        return _indicators(answer, outputs)[:-1], rates[..., 0, :-1]  # the last sum follows from the others
    seen = network.seen_codes(model, joint.codes, joint.size)
    cells = np.arange(combinations * outputs)
    share = csr_array((np.ravel(rates), (cells, cells // outputs)), shape=(len(cells), combinations))
    block = _indicators(seen * outputs + answer, len(cells)) - share @ _indicators(seen, combinations)
    return block, np.zeros(len(cells))


def _indicators(places: Array, count: int) -> Sparse:
    """An indicator matrix: row n has ones where ``places`` is n."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(places)), (places, np.arange(len(places)))), shape=(count, len(places)))


# ── small linear programs ─────────────────────────────────────────────────────────────────────────────────────────
# Minimise prices·q over q ≥ 0 with given margins. Which dual solutions are feasible does not depend on the margins. So
# when margins are resampled, the duals found for some draws bound every draw from below: exactly for those that were
# solved, and closely for most of the others.


def least(prices: Array, constraints: Sparse, margins: Array) -> tuple[float, Array, Array]:
    """Return the least cost, the dual price of each margin, and the share of each cell."""
    values, duals, shares = least_of_each(prices[None], constraints, margins[None])
    return float(values[0]), duals[0], shares[0]


def least_of_each(prices: Array, constraints: Sparse, margins: Array) -> tuple[Array, Array, Array]:
    """Solve several programs (first axis) as one block-diagonal program: starting the solver takes longest."""
    from scipy.optimize import linprog
    from scipy.sparse import eye_array, kron

    several = kron(eye_array(len(prices)), constraints).tocsr()
    solve = partial(linprog, prices.ravel(), A_eq=several, b_eq=margins.ravel(), bounds=(0, None), method="highs")
    for presolve in (True, False):  # presolving sometimes calls tiny numbers infeasible
        solved = solve(options={"presolve": presolve})
        if solved.status == 0:
            break
    else:
        raise InputError(
            "no-joint",
            f"no joint distribution has these tables as its margins ({' '.join(solved.message.split())}); check them",
        )
    shares = solved.x.reshape(prices.shape)
    return (prices * shares).sum(1), np.asarray(solved.eqlin.marginals).reshape(margins.shape), shares


def least_of_draws(prices: Array, constraints: Sparse, draws: Array, duals: Sequence[Array]) -> Array:
    """Return the least that can be paid for each draw of the margins (first axis).

    Draws that are not solved exactly can be a little too low, never too high: intervals get wider, not narrower.
    """
    fewest, most = _SOLVED_DRAWS
    solved = min(most, max(fewest, _MOST_AT_ONCE // len(prices)), len(draws))
    chosen = np.linspace(0, len(draws) - 1, solved).astype(int)
    _, found, _ = least_of_each(np.broadcast_to(prices, (len(chosen), len(prices))), constraints, draws[chosen])
    return np.asarray((draws @ np.unique(np.stack([*duals, *found]), axis=0).T).max(axis=1))


def transport(rows: int, columns: int) -> Sparse:
    """Constraints of a table with given row sums and, but for the last one, column sums (the last one follows)."""
    from scipy.sparse import csr_array, eye_array, kron, vstack

    by_row = kron(eye_array(rows), np.ones((1, columns)))
    by_column = kron(np.ones((1, rows)), csr_array(np.eye(columns)[:-1]))
    return vstack([by_row, by_column]).tocsr()
