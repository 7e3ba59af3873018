"""What one model's answers cost the whole system: expected and excess component costs."""

import itertools
import math
from collections.abc import Iterator
from functools import cached_property
from typing import NotRequired, TypedDict

import numpy as np

from stakes import errors
from stakes.question.options import Value
from stakes.records import Record
from stakes.systems.bootstrap import Bootstrap
from stakes.systems.network import Amount, Model, Network
from stakes.systems.situations import own_rates, situations
from stakes.systems.tables import RateTable, read_candidate
from stakes.tallies.arithmetic import Array
from stakes.tallies.names import and_list
from stakes.text import aligned, lines, visible


class Cell(TypedDict):
    """What one answer of a model costs the system, for one true class (and what the model sees)."""

    model: str
    truth: str
    sees: NotRequired[dict[str, str]]
    says: str
    right: bool | None
    rate: float
    expected: float
    expected_low: float | None
    expected_high: float | None
    excess: float
    excess_low: float | None
    excess_high: float | None
    at_least: NotRequired[float]
    at_most: NotRequired[float]


class ComponentCosts(
    Record,
    shown="cells=to_rows() evaluation excess_evaluation dependence evaluation_interval=evaluation_limits "
    "dependence_interval=dependence_limits notes no_interval",
):
    """What each answer of one model costs the system, for each true class.

    ``expected[c, j]`` (K1) is the mean cost of the system's decision when the model is made to say j and the
    others say what they say. ``excess[c, j]`` (K2) is how much more that is than when it is right: 0 for right
    answers, and what being right would have saved for errors (negative where an error helps). A model that sees
    others has one more axis: ``expected[c, a, j]``, where a is what it sees.

    ``evaluation`` is Σ K1 over the model's own answers, ``excess_evaluation`` Σ K2, for all cases of the system;
    ``dependence`` is what the system costs beyond ``evaluation``, because the model errs together with the others.
    Where models see this one and may share its difficulties, nobody knows K1: ``expected`` is NaN and
    ``at_least`` and ``at_most`` hold its range. ``notes`` say what the figures rest on.
    """

    notes: tuple[str, ...]

    def __init__(
        self, network: Network, name: str, cost: float, limits: tuple[float, float] | None, bootstrap: Bootstrap
    ) -> None:
        model = network.models[name]
        self.model, self.outputs, self.sees, self.right = name, model.outputs, model.sees, model.right
        self.classes, self.cases, self.system_cost, self.bootstrap = network.classes, network.cases, cost, bootstrap
        self.absent = network.absent
        self.system_limits = None if model.by_rows else limits  # the answers of a table cost what the system does
        self.seen = tuple(itertools.product(*(network.models[other].outputs for other in model.sees)))
        # the situations of each class in which the model answers, also in bootstrapped systems
        size, classes = len(self.seen), range(len(network.classes))
        self.found = tuple(situations(network, name, c) for c in classes)
        again = bootstrap.network
        self.bootstrapped = None if again is None else tuple(situations(again, name, c) for c in classes)
        self.seen_shares = np.stack([one.seen_shares(size) for one in self.found])
        self.rates, self.bootstrapped_rates = own_rates(network, name), own_rates(again or network, name)
        known = all(one.known for one in self.found)
        self.at_least = self.at_most = np.stack([one.mean_prices(one.low, size) for one in self.found])
        if not known:
            self.at_most = np.stack([one.mean_prices(one.high, size) for one in self.found])
        self._expected = self.at_least if known else np.full(self.at_least.shape, math.nan)
        self.draws: Array | None = None
        if self.bootstrapped is not None and known:
            shape = (bootstrap.times, *self.at_least.shape[1:])  # nothing varies where the others are given as rates
            prices = [np.broadcast_to(one.mean_prices(one.low, size), shape) for one in self.bootstrapped]
            self.draws = np.stack(prices, axis=1)
        self.notes = tuple(_notes(network, model, known))

    # ── K1 and K2 ────────────────────────────────────────────────────────────────────────────────────────────
    @property
    def known(self) -> bool:
        """Whether K1 is known, not only its range."""
        return self.at_least is self.at_most

    @cached_property
    def expected(self) -> Array:
        """K1: what the system costs on average when the model says j."""
        return self._shape(self._expected)

    @cached_property
    def excess(self) -> Array:
        """K2: how much more that is than when the model is right."""
        return self._shape(self._excess(self._expected))

    def _excess(self, expected: Array) -> Array:
        """Subtract what the right answer costs; NaN for classes of which no answer is right."""
        right = np.array(self.right)
        base = np.stack([expected[..., c, :, r % expected.shape[-1]] for c, r in enumerate(right)], axis=-2)
        base = np.where((right >= 0)[:, None], base, math.nan)
        return np.asarray(expected - base[..., None])

    def _shape(self, values: Array) -> Array:
        values = self._masked(values)
        return values if self.sees else values[..., 0, :]

    def _masked(self, values: Array) -> Array:
        """Nothing is known about classes without cases."""
        if not self.absent:
            return values
        values = values.copy()
        values[..., list(self.absent), :, :] = math.nan
        return values

    @cached_property
    def expected_limits(self) -> tuple[Array, Array] | None:
        """The ends of the interval of each K1; None where there is none (``no_interval`` says why)."""
        return None if self.draws is None else self._limits(self.draws, self._expected)

    @cached_property
    def excess_limits(self) -> tuple[Array, Array] | None:
        """The ends of the interval of each K2."""
        return None if self.draws is None else self._limits(self._excess(self.draws), self._excess(self._expected))

    def _limits(self, draws: Array, values: Array) -> tuple[Array, Array]:
        low, high = self.bootstrap.limits(draws, values)
        return self._shape(low), self._shape(high)

    @property
    def no_interval(self) -> str:
        """Why there are no intervals."""
        return "" if self.draws is not None else self.bootstrap.reason or "only the range of these costs is known"

    # ── evaluations ──────────────────────────────────────────────────────────────────────────────────────────
    @property
    def evaluation(self) -> float:
        """What the model's own answers cost by K1, for all cases of the system."""
        return self._sum(self._expected) if self.known else math.nan

    @property
    def excess_evaluation(self) -> float:
        """What the model's own errors cost by K2, for all cases of the system."""
        return self._sum(self._excess(self._expected)) if self.known else math.nan

    def _sum(self, prices: Array) -> float:
        return _add_up(self._cases_of(self.rates), prices)

    def _cases_of(self, rates: Array) -> Array:
        """How many cases of the system get each answer."""
        return np.asarray(self.cases[:, None, None] * self.seen_shares[..., None] * rates)

    @property
    def dependence(self) -> float:
        """The part of the system's cost that is due to the model erring together with the others."""
        return float(_difference(self.system_cost, self.evaluation))

    @cached_property
    def evaluation_limits(self) -> tuple[float, float] | None:
        """The ends of the interval of ``evaluation``."""
        found = self._evaluations
        return None if found is None else self.system_limits or self._ends(found, self.evaluation)

    @cached_property
    def dependence_limits(self) -> tuple[float, float] | None:
        """The ends of the interval of ``dependence``."""
        found = self._evaluations
        return None if found is None else self._ends(_difference(self.bootstrap.costs, found), self.dependence)

    @cached_property
    def _evaluations(self) -> Array | None:
        """The evaluation of the model in each bootstrapped system."""
        if self.draws is None or self.bootstrapped is None:
            return None
        seen = np.stack([one.seen_shares(len(self.seen)) for one in self.bootstrapped], axis=-2)
        shares = self.cases[:, None, None] * seen[..., None] * self.bootstrapped_rates
        return np.asarray(np.where(shares > 0, shares * self.draws, 0.0).sum((-3, -2, -1)))

    def _ends(self, draws: Array, value: float) -> tuple[float, float]:
        low, high = self.bootstrap.limits(draws, value)
        return float(low), float(high)

    def of(self, table: Value) -> tuple[float, float]:
        """Return Σ K1·n and Σ K2·n over a confusion table: what a model with these answers would cost.

        A table of rates, or shares of right answers, stands for the cases of the system.
        """
        given = self.read(table)
        counts = self._cases_of(given.rates) if given.counts is None else given.counts
        expected = self._expected
        return _add_up(counts, expected), _add_up(counts, self._excess(expected))

    def read(self, table: Value) -> RateTable:
        """Check what is put in the place of the model: a table, or shares of right answers."""
        outputs = [tuple(dict.fromkeys(answers)) for answers in zip(*self.seen, strict=True)]
        sees = dict(zip(self.sees, outputs, strict=True))
        found = read_candidate(self.model, table, self.classes, self.outputs, sees)
        for c in found.absent:
            if self.cases[c]:
                raise errors.no_cases_of_class(self.model, self.classes[c])
        return found

    # ── as data ──────────────────────────────────────────────────────────────────────────────────────────────
    def to_rows(self) -> Iterator[Cell]:
        """Return a dictionary for each true class and answer (and for what the model sees)."""
        expected, excess = self._masked(self._expected), self._masked(self._excess(self._expected))
        rates = self._masked(self.rates)
        low = high = below = above = None
        if self.draws is not None:
            low, high = self.bootstrap.limits(self.draws, expected)
            below, above = self.bootstrap.limits(self._excess(self.draws), excess)
        for c, a, j in np.ndindex(*expected.shape):
            place = (c, a, j)
            cell: Cell = {
                "model": self.model,
                "truth": self.classes[c],
                "says": self.outputs[j],
                "right": None if self.right[c] < 0 else self.right[c] == j,
                "rate": float(rates[place]),
                "expected": float(expected[place]),
                "expected_low": None if low is None else float(low[place]),
                "expected_high": None if high is None else float(high[place]),
                "excess": float(excess[place]),
                "excess_low": None if below is None else float(below[place]),
                "excess_high": None if above is None else float(above[place]),
            }
            if self.sees:
                cell["sees"] = dict(zip(self.sees, self.seen[a], strict=True))
            if not self.known:
                cell |= {"at_least": float(self.at_least[place]), "at_most": float(self.at_most[place])}
            yield cell

    def __str__(self) -> str:
        rows = [["truth", *(["sees"] if self.sees else []), "says", "expected", "excess"]]
        for cell in self.to_rows():
            seen = [", ".join(cell["sees"].values())] if self.sees else []
            figures = [f"{cell[key]:.4g}" for key in ("expected", "excess")]
            if not self.known:
                figures[0] = f"{cell['at_least']:.4g} – {cell['at_most']:.4g}"
            rows.append([cell["truth"], *seen, cell["says"] + ("✓" if cell["right"] else ""), *figures])
        return lines([f"what the answers of {self.model} cost (✓ right)", *aligned(rows), *self.notes])

    def __repr__(self) -> str:
        return f"<ComponentCosts of {visible(self.model)}>"


def _add_up(counts: Array, prices: Array) -> float:
    """Σ counts · prices; cells without counts cost nothing, even where their price is NaN."""
    return float(np.where(counts > 0, counts * prices, 0.0).sum())


def _difference(one: Amount, other: Amount) -> Array:
    """Subtract; differences within rounding error are 0."""
    return np.where(np.abs(one - other) <= 1e-12 * np.abs(one), 0.0, one - other)


def _notes(network: Network, model: Model, known: bool) -> Iterator[str]:
    """What the figures of a model rest on."""
    later = network.later(model.name)
    see = "sees" if len(later) == 1 else "see"
    if model.sees:
        yield (
            f"{model.name} sees {and_list(model.sees)}, so its costs are given for each thing that it sees; one "
            "table without that would price its answers wrongly"
        )
    if not known:
        yield (
            f"{and_list(later)} {see} {model.name} and may find the same cases difficult, so only the range of "
            "its costs is known; pass shared_difficulty=False if they share nothing beyond the rows"
        )
    elif later and network.rows is not None and network.shared is False:
        yield (
            f"{and_list(later)} {see} {model.name}: taken as sharing no difficulty with it beyond what the class and "
            "the other models tell"
        )
    if any(code < 0 for code in model.right):
        yield (
            f"{model.name} says {', '.join(model.outputs)}, and which of them is right was not said: there is no "
            "excess cost; give the model right={class: output}"
        )
