"""Costs that differ from row to row, added up."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Self

import numpy as np

from stakes.frozen import dataclass, field
from stakes.tallies.arithmetic import Array, are_counts, divide, finite
from stakes.tallies.base import Tally
from stakes.tallies.fields import SUMMED_FLOATS, WEIGHTED, same


def numbers_of(costs: Array, decided: Array) -> Array:
    """Return the numbers of each row: 1, its cost, the cost of its cheapest decision, and the cost of each decision."""
    own = costs[np.arange(len(costs)), decided]
    return np.column_stack([np.ones(len(costs)), own, costs.min(axis=1), costs])


@dataclass(frozen=True, eq=False)
class CostSums(Tally):
    """What rows of each class cost: as decided, at best, and had everyone got the same decision.

    Of each row there are the numbers 1, its cost, the cost of its cheapest decision, and the cost of each decision.
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
        """How many rows of equal weight would tell as much (Kish)."""
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
