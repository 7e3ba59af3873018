"""Counts and positive quantities whose rows were not kept: the parts of their deviances added up."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from stakes.frozen import dataclass, field, fields
from stakes.tallies import bins
from stakes.tallies.arithmetic import Array
from stakes.tallies.fields import how
from stakes.tallies.term_sums import Matrix, Terms, TermSums

POWERS = ("1", "1.5", "2")
"""The powers for which deviances are added up: Poisson's, one between, gamma's."""


def own_part(truth: Array, power: float) -> Array:
    """The part of half a deviance that the truth alone makes."""
    if power == 1:
        return np.where(truth > 0, truth * np.log(np.where(truth > 0, truth, 1.0)), 0.0) - truth
    if power == 2:
        return -np.log(truth) - 1
    return np.asarray(np.maximum(truth, 0.0) ** (2 - power) / ((1 - power) * (2 - power)))


def crossed_part(truth: Array, prediction: Array, power: float) -> Array:
    """The part that depends on the prediction, and is subtracted; it is linear in the truth."""
    if power == 1:
        return np.asarray(truth * np.log(prediction) - prediction)
    if power == 2:
        return np.asarray(-truth / prediction - np.log(prediction))
    return np.asarray(truth * prediction ** (1 - power) / (1 - power) - prediction ** (2 - power) / (2 - power))


@dataclass(frozen=True, eq=False)
class Levels:
    """Rows by the bin of their prediction: their weight, and what happens in them."""

    numbers: Array
    weight: Array
    happened: Array

    @classmethod
    def of(cls, truth: Array, prediction: Array, weight: Array) -> "Levels":
        """Count rows by bin."""
        return cls(bins.numbers(prediction, "line"), weight, weight * truth)._together()

    @classmethod
    def join(cls, parts: "Sequence[Levels]") -> "Levels":
        """Put parts together."""
        columns = (np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(cls))
        return cls(*columns)._together()

    @property
    def pairs(self) -> float:
        """What happens in each row times the rows of lower predictions, and half of those of the same."""
        return float((self.happened * (np.cumsum(self.weight) - self.weight / 2)).sum())

    @property
    def area(self) -> float:
        """Twice the area between the Lorenz curve and the diagonal."""
        return float(2 * self.pairs / (self.happened.sum() * self.weight.sum()) - 1)

    def changes(self, truth: Array, prediction: Array, weight: Array) -> Array:
        """What the area loses without each of these rows, by the bin that its prediction lies in."""
        return self.changes_at(np.searchsorted(self.numbers, bins.numbers(prediction, "line")), weight * truth, weight)

    def changes_at(self, places: Array, happened: Array, weight: Array) -> Array:
        """What the area loses without rows at these places."""
        below = (np.cumsum(self.weight) - self.weight / 2)[places]
        above = (self.happened.sum() - np.cumsum(self.happened) + self.happened / 2)[places]
        left = self.pairs - happened * below - weight * above + weight * happened / 2
        return np.asarray(self.area + 1 - 2 * left / ((self.happened.sum() - happened) * (self.weight.sum() - weight)))

    def _together(self) -> "Levels":
        numbers, place = np.unique(self.numbers, return_inverse=True)
        return Levels(numbers, *(np.bincount(place, one, len(numbers)) for one in (self.weight, self.happened)))


@dataclass(frozen=True, eq=False)
class CountSums(TermSums):
    """For each power both parts of half a deviance; for the rows the truth, and whether it or the prediction is 0.

    ``levels`` are the rows in the order of their predictions, in bins, and ``area_changes`` what the area under their
    Lorenz curve loses without each group of rows.
    """

    levels: Levels | None = field(default=None, metadata=how(add=Levels.join, saved=False))
    area_changes: Array | None = field(default=None, metadata=how(add=lambda parts: None, saved=False))

    kind = "counts"
    task = "regression"
    wide = ("own", "crossed")

    @classmethod
    def terms_of(
        cls, columns: Mapping[str, Matrix], names: tuple[str, ...], parts: Collection[str] | None = None
    ) -> Terms:
        """Compute both parts of each row, and flag rows for which they do not exist."""
        truth, prediction = columns["truth"], columns["prediction"]
        with np.errstate(all="ignore"):
            own = np.stack([own_part(truth, float(name)) for name in names], -1)
            crossed = np.stack([crossed_part(truth, prediction, float(name)) for name in names], -1)
        wide = {"own": np.where(np.isfinite(own), own, 0.0), "crossed": np.where(np.isfinite(crossed), crossed, 0.0)}
        return {"truth": truth, "none": truth <= 0, "not positive": prediction <= 0, **wide}
