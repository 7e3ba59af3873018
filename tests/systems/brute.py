"""Systems worked out by listing everything, in fractions: slow, short, and independent of the package."""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from scipy.optimize import linprog

from stakes import Costs, System


@dataclass
class Brute:
    """A system of models given by tables: ``tables[i][c][seen]`` are the counts of what model i says."""

    prior: list[Fraction]
    sizes: list[int]
    sees: list[tuple[int, ...]]
    tables: list[dict]
    rule: dict
    costs: list[list[int]]

    @property
    def classes(self) -> list[str]:
        return [f"c{c}" for c in range(len(self.prior))]

    def label(self, i: int, j: int) -> str:
        """Outputs are the classes, then others."""
        return f"c{j}" if j < len(self.prior) else f"o{i}{j}"

    @property
    def combinations(self):
        return itertools.product(*map(range, self.sizes))

    def chance(self, i: int, c: int, x: tuple[int, ...]) -> Fraction:
        row = self.tables[i][c, tuple(x[p] for p in self.sees[i])]
        return Fraction(row[x[i]], sum(row))

    def joint(self, c: int, do: dict | None = None) -> dict:
        do = do or {}
        found = {}
        for x in self.combinations:
            p = Fraction(1)
            for i in range(len(x)):
                p *= int(x[i] == do[i]) if i in do else self.chance(i, c, x)
            found[x] = p
        return found

    def cost_of_class(self, c: int, do: dict | None = None) -> Fraction:
        return sum((p * self.costs[c][self.rule[x]] for x, p in self.joint(c, do).items()), Fraction(0))

    def cost(self, right: tuple[int, ...] = ()) -> Fraction:
        """What a case costs when some models are always right (class c is output c)."""
        return sum(p * self.cost_of_class(c, dict.fromkeys(right, c)) for c, p in enumerate(self.prior))

    def expected(self, i: int, c: int, seen: tuple[int, ...], j: int) -> Fraction | None:
        """K1[c, a, j] by its definition; None when a never occurs."""

        def sees(x):
            return tuple(x[p] for p in self.sees[i]) == seen

        done = self.joint(c, {i: j})
        share = sum((p for x, p in self.joint(c).items() if sees(x)), Fraction(0))
        paid = sum((p * self.costs[c][self.rule[x]] for x, p in done.items() if sees(x)), Fraction(0))
        return paid / share if share else None

    def seen_by(self, i: int):
        return list(itertools.product(*(range(self.sizes[p]) for p in self.sees[i])))

    # ── handed to the package ────────────────────────────────────────────────────────────────────────────────
    def system(self, **options) -> System:
        models = {}
        for i, size in enumerate(self.sizes):
            shape = (len(self.prior), *(self.sizes[p] for p in self.sees[i]), size)
            table = np.array([self.tables[i][c, a] for c in range(len(self.prior)) for a in self.seen_by(i)])
            models[f"m{i}"] = {
                "table": table.reshape(shape).tolist(),
                "sees": [f"m{p}" for p in self.sees[i]],
                "outputs": [self.label(i, j) for j in range(size)],
            }
        decisions = [f"d{s}" for s in range(len(self.costs[0]))]
        rule = {tuple(self.label(i, j) for i, j in enumerate(x)): decisions[s] for x, s in self.rule.items()}
        return System(
            classes=self.classes,
            models=models,
            decide=rule,
            costs=Costs(self.costs, self.classes, decisions),
            prior=[float(p) for p in self.prior],
            **options,
        )


@st.composite
def systems(draw, cascades: bool = True, most_models: int = 4, most_classes: int = 4):
    """Random systems with random rules, of which nearly all are not monotone."""
    k = draw(st.integers(2, most_classes))
    n = draw(st.integers(1, most_models))
    sizes = [draw(st.integers(k, min(k + 1, 4))) for _ in range(n)]
    if math.prod(sizes) * k > 300:
        sizes = [k] * n if k**n * k <= 300 else [2] * min(n, 4)
        k = 2 if sizes[0] == 2 else k
    n = len(sizes)
    count = st.integers(0, 4)
    sees, tables = [], []
    for i in range(n):
        parents = draw(st.sets(st.integers(0, i - 1), max_size=2)) if cascades and i else set()
        sees.append(tuple(sorted(parents)))
        cells = itertools.product(range(k), itertools.product(*(range(sizes[p]) for p in sees[i])))
        tables.append({cell: _row(draw, count, sizes[i]) for cell in cells})
    weights = [draw(st.integers(1, 5)) for _ in range(k)]
    prior = [Fraction(w, sum(weights)) for w in weights]
    m = draw(st.integers(2, 3))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    combinations = list(itertools.product(*map(range, sizes)))
    rule = dict(zip(combinations, rng.integers(0, m, len(combinations)).tolist(), strict=True))
    costs = [[draw(st.integers(0, 9)) for _ in range(m)] for _ in range(k)]
    assume(any(len(set(row)) > 1 for row in costs))  # otherwise there is nothing to decide
    return Brute(prior, sizes, sees, tables, rule, costs)


def _row(draw, count, size: int) -> list[int]:
    row = [draw(count) for _ in range(size)]
    return row if sum(row) > 1 else [2, *row[1:]]  # rows that sum to 1 would be read as rates


def least_and_most(prices: np.ndarray, margins: list[tuple[np.ndarray, np.ndarray]]) -> tuple[float, float]:
    """A linear program over a whole joint table: ``margins`` are (indicator rows, what they must sum to)."""
    a = np.vstack([rows for rows, _ in margins])
    b = np.concatenate([sums for _, sums in margins])
    ends = []
    for sign in (1, -1):
        found = linprog(sign * prices, A_eq=a, b_eq=b, bounds=(0, None), method="highs")
        assert found.status == 0, found.message
        ends.append(sign * found.fun)
    return ends[0], ends[1]
