"""Costs that differ from row to row, added up."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Self

import numpy as np

from stakes.frozen import dataclass, field
from stakes.tallies.arithmetic import Array, are_counts, divide, finite
from stakes.tallies.base import Tally
from stakes.tallies.fields import SUMMED_FLOATS, WEIGHTED, same

OWN, LEAST, EACH = 1, 2, 3
"""Places of the numbers of a row: its cost, the cost of its cheapest decision, and from there on that of each."""


def numbers_of(costs: Array, decided: Array) -> Array:
    """Return the numbers of each row: 1, its cost, the cost of its cheapest decision, and the cost of each decision."""
    own = costs[np.arange(len(costs)), decided]
    return np.column_stack([np.ones(len(costs)), own, costs.min(axis=1), costs])


@dataclass(frozen=True, eq=False)
class CostSums(Tally):
    """What rows of each class cost: as decided, at best, and with the same decision for everyone.

    Each row has the numbers 1, its cost, the cost of its cheapest decision, and the cost of each decision.
    ``sums[c]`` adds them up over the rows of class c (times their weights), ``products[c]`` the product of every two of
    them (times the squared weights), ``powers[c]`` the square and the cube of the cost.
    """

    classes: tuple[str, ...] = field(metadata=same("the list of classes", load=tuple))
    decisions: tuple[str, ...] = field(metadata=same("the list of decisions", load=tuple))
    sums: Array = field(metadata=SUMMED_FLOATS)
    products: Array = field(metadata=SUMMED_FLOATS)
    powers: Array = field(metadata=SUMMED_FLOATS)
    weighted: bool = field(default=False, metadata=WEIGHTED)

    kind = "costs"

    @classmethod
    def from_rows(
        cls,
        costs: Array,
        decided: Array,
        truth: Array,
        classes: Sequence[str],
        decisions: Sequence[str],
        weight: Array | None = None,
    ) -> Self:
        """Add up rows: what each decision costs, the one that was taken, and the class, as codes."""
        numbers = numbers_of(costs, decided)
        own = numbers[:, 1]
        unit = np.ones(len(costs)) if weight is None else weight
        sums, products, powers = [], [], []
        for c in range(len(classes)):
            mine = np.asarray(truth == c)
            x, w, cost = numbers[mine], unit[mine], own[mine]
            sums.append(w @ x)
            products.append((x * (w**2)[:, None]).T @ x)
            powers.append([w @ cost**2, w @ cost**3])
        return cls(
            tuple(classes), tuple(decisions), np.array(sums), np.array(products), np.array(powers), weight is not None
        )

    @property
    def total(self) -> float:
        """The (weighted) number of rows."""
        return float(self.sums[:, 0].sum())

    def class_sizes(self) -> dict[str, float]:
        """The (weighted) number of rows of each class."""
        return dict(zip(self.classes, self.sums[:, 0].tolist(), strict=True))

    @property
    def equal_rows(self) -> float:
        """Kish's effective number of rows."""
        return self.total**2 / float(self.products[:, 0, 0].sum()) if self.total else 0.0

    def shares(self, prior: Sequence[Fraction] | None) -> Array:
        """How frequent each class is: in the rows, or where the model is going to be used."""
        return self.sums[:, 0] / self.total if prior is None else np.array(prior, np.float64)

    def means(self, prior: Sequence[Fraction] | None = None) -> Array:
        """The mean of each number over all rows, with the classes as frequent as the prior says."""
        sizes = self.sums[:, :1]
        each = divide(self.sums, sizes)
        return self.shares(prior) @ each

    def check(self) -> None:
        """Refuse sums of other lengths, and what are no sums of rows."""
        K, width = len(self.classes), len(self.decisions) + 3
        arrays = (self.sums, self.products, self.powers)
        if [array.shape for array in arrays] != [(K, width), (K, width, width), (K, 2)]:
            raise ValueError("sums of other lengths")
        if not all(map(finite, arrays)) or not are_counts(self.sums[:, 0], self.weighted):
            raise ValueError("sums that are no numbers, or fewer rows than none")

    def __str__(self) -> str:
        return f"<CostSums of {self.total:,.15g} rows and {len(self.decisions)} decisions>"


@dataclass(frozen=True, eq=False)
class CostGroups:
    """Groups of rows of one class whose costs differ: sums of the few numbers that every cost is a combination of.

    The first number of a row is 1. ``sums`` adds them up over the rows of each group (times their weights), and so do
    ``once`` the product of every two and ``cubes`` their cubes; in ``products`` these count by squared weight. In a row
    of class c decision d costs the sum of its numbers times ``shares[c, d]``; the lowest cost stands last.
    """

    sums: Array
    once: Array
    products: Array
    cubes: Array
    shares: Array

    def __getitem__(self, groups: Array | slice) -> Self:
        sums, once, products, cubes = (one[groups] for one in (self.sums, self.once, self.products, self.cubes))
        return type(self)(sums, once, products, cubes, self.shares)

    def _shares(self, truth: Array, decided: Array) -> Array:
        """What the numbers of a :class:`CostSums` are made of: group × those × the numbers of rows."""
        each = self.shares[truth]
        one, own = np.zeros_like(each[:, :1]), each[np.arange(len(truth)), decided]
        one[..., 0] = 1
        return np.concatenate([one, own[:, None], each[:, -1:], each[:, :-1]], axis=1)

    def numbers(self, truth: Array, decided: Array) -> Array:
        """The sums of the rows of each group, in the order of a :class:`CostSums`."""
        return np.asarray(np.einsum("gan,gn->ga", self._shares(truth, decided), self.sums))

    def factors(self, truth: Array, decided: Array, each: Array) -> Array:
        """The factor of each number (group × number) if those of a :class:`CostSums` have the factors ``each``."""
        return np.asarray((each[..., None] * self._shares(truth, decided)).sum(axis=1))

    def moments(self, factors: Array, once: bool = False) -> tuple[Array, Array, Array]:
        """Σw², Σw²x and Σw²x² of each group, where x is the sum of its numbers times ``factors`` (group × number).

        Or Σw, Σwx and Σwx², where rows count by their weight ``once``.
        """
        products = self.once if once else self.products
        first = np.einsum("gi,gi->g", products[:, 0], factors)
        return products[:, 0, 0], first, np.einsum("gi,gij,gj->g", factors, products, factors)

    def tally(
        self, truth: Array, decided: Array, classes: Sequence[str], decisions: Sequence[str], weighted: bool
    ) -> CostSums:
        """Add up the groups."""
        shares, mine = self._shares(truth, decided), (np.arange(len(classes))[:, None] == truth).astype(np.float64)
        own, products = shares[:, OWN], shares @ self.products @ shares.swapaxes(1, 2)
        powers = np.stack([self.moments(own, once=True)[2], (own**3 * self.cubes).sum(axis=1)], axis=1)
        each = [np.tensordot(mine, one, 1) for one in (self.numbers(truth, decided), products, powers)]
        return CostSums(tuple(classes), tuple(decisions), each[0], each[1], each[2], weighted)
