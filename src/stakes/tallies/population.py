"""The place where a model is used: its class frequencies may be others than those of the rows.

Rates within the classes stay as they are, and classes get other weights: one factor for each class, share · rows / rows
of the class, turns the tally of the rows into that of the population, and every figure of it is a figure at that prior.
Where the model was trained on other frequencies its probabilities are corrected likewise.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from stakes.frozen import dataclass, replace
from stakes.tallies.arithmetic import Array
from stakes.tallies.base import Tally
from stakes.tallies.class_scores import PARTS, ClassScores
from stakes.tallies.columns import Columns
from stakes.tallies.confusion import Confusion
from stakes.tallies.losses import corrected_losses
from stakes.tallies.pricing import Frequencies, Shares
from stakes.tallies.scores import ScoreTable

Seen = TypeVar("Seen", bound=Tally)


@dataclass(frozen=True)
class Population:
    """The frequency of each of the ``classes``, and the factor of its probability (None: nothing changes).

    ``cases`` are those from which the frequencies were estimated, if they are not known exactly.
    """

    classes: tuple[str, ...]
    positive: str | None = None
    shares: Shares | None = None
    factors: Shares | None = None
    cases: tuple[int, ...] | None = None

    @classmethod
    def of_frequencies(
        cls, given: Frequencies, classes: Sequence[str], positive: str | None, rows: Shares
    ) -> "Population":
        """Check what was given for these classes; ``rows`` are their shares in the rows."""
        shares, factors = given.deployed(classes, positive), given.correction(classes, positive, rows)
        return cls(tuple(classes), positive, shares, factors, given.cases(classes))

    @property
    def by_class(self) -> dict[str, float]:
        """The share of each class, the positive one first; empty where those of the rows hold."""
        found = dict(zip(self.classes, map(float, self.shares or ()), strict=False))
        return dict(sorted(found.items(), key=lambda one: one[0] != self.positive))

    def without_case(self, place: int) -> "Population":
        """The same, had one case less been of that class."""
        assert self.cases is not None
        assert self.shares is not None
        left = [Fraction(n - (i == place)) for i, n in enumerate(self.cases)]
        shares = tuple(n / max(sum(left), Fraction(1)) for n in left)
        moved = self.factors and tuple(
            f * new / old if old else f for f, new, old in zip(self.factors, shares, self.shares, strict=True)
        )
        return replace(self, shares=shares, factors=moved)

    def share_of(self, name: str, positive: str | None = None) -> Fraction:
        """How frequent a class is; in tables that name classes otherwise, by whether it is their ``positive`` one."""
        known = dict(zip(self.classes, self.shares or (), strict=True))
        if name in known:
            return known[name]
        share = known[str(self.positive)]
        return share if name == positive else 1 - share

    def of(self, tally: Seen) -> Seen:
        """Return the tally of the population."""
        known: dict[Population, Any] = vars(tally).setdefault("_in_population", {})
        if self not in known:
            known[self] = self._of(tally)
        found: Seen = known[self]
        return found

    def _of(self, tally: Tally) -> Tally:
        if isinstance(tally, Confusion):
            return (
                tally
                if self.shares is None
                else tally.at_shares([self.share_of(name, tally.positive) for name in tally.truths])
            )
        if isinstance(tally, ScoreTable):
            return self._of_scores(tally)
        assert isinstance(tally, ClassScores)
        return self._of_class_scores(tally)

    def _of_scores(self, table: ScoreTable) -> ScoreTable:
        if self.shares is not None:
            names = (table.positive, table.negative)
            table = table.at_shares(*(float(self.share_of(name, table.positive)) for name in names))
        if self.factors is None or not table.probabilities:
            return table
        if table.grid is not None:
            return self.with_losses(table)[0]
        columns = table.as_columns()
        found = Columns.added(self.correct(columns.scores.astype(np.float64)), columns.values)
        return ScoreTable(table.positive, table.negative, found)

    def with_losses(self, table: ScoreTable) -> list[ScoreTable]:
        """Bins of these rows with the losses of corrected probabilities, with the least and with the most."""
        if table.losses is None or self.factors is None:
            return [table] * 3
        counts = table.as_columns().counts()
        found = corrected_losses(table.losses, counts, table.inside_bins, self._of_two_classes(self.factors))
        return [replace(table, losses=losses) for losses in found]

    def _of_class_scores(self, scores: ClassScores) -> ClassScores:
        rows = scores.sample
        if rows is None:  # of which nothing but losses is asked
            return self._with_losses(scores, replace(scores, sizes=scores.sizes * self._by_class_sizes(scores)))
        weight = rows.weight * self.weights(rows.truth, rows.weight, scores.classes)
        outputs = self.correct(rows.scores.astype(np.float64)) if scores.probabilities else rows.scores
        wanted = [part for part in PARTS if part != "pairs"]  # which are those of the rows
        found = ClassScores.from_rows(outputs, rows.truth, scores.classes, weight, parts=wanted)
        return self._with_losses(scores, found)

    def _by_class_sizes(self, scores: ClassScores) -> Array:
        """The factor of each class's weight."""
        shares = np.array([self.share_of(name) for name in scores.classes], np.float64)
        return shares * float(scores.total) / np.where(scores.sizes > 0, scores.sizes, 1.0)

    def _with_losses(self, scores: ClassScores, found: ClassScores) -> ClassScores:
        """The tally of the population with the losses of all rows, where they follow from those of each class."""
        if not self.knows_losses(scores):
            return found
        assert scores.moments is not None
        there = found.sizes > 0
        lost = found.sizes[there] @ (scores.moments[there, :, 0] / scores.sizes[there, None])
        return replace(found, surprise=float(lost[0]), squares=float(lost[1]))

    def knows_losses(self, scores: ClassScores) -> bool:
        """Whether losses follow from those of each class, and not only from a sample of the rows."""
        return self.factors is None and scores.moments is not None and scores.probabilities

    def weights(self, truth: Array, weight: Array, classes: Sequence[str]) -> Array:
        """The factor of each row's weight, from the codes of its class."""
        if self.shares is None:
            return np.ones(len(truth))
        sizes = np.bincount(truth, weight, len(classes))
        shares = np.array([self.share_of(name) for name in classes], np.float64)
        return np.asarray((shares * sizes.sum() / np.where(sizes > 0, sizes, 1.0))[truth])

    def correct(self, probabilities: Array) -> Array:
        """Turn probabilities in the rows into those in the population: of the positive class, or of each."""
        if self.factors is None:
            return probabilities
        if probabilities.ndim == 2:
            moved = probabilities * np.array(self.factors, np.float64)
            return np.asarray(moved / moved.sum(axis=1, keepdims=True))
        positive, negative = self._of_two_classes(self.factors)
        own, other = positive * probabilities, negative * (1 - probabilities)
        return np.asarray(own / (own + other))

    def _of_two_classes(self, factors: Shares) -> tuple[float, float]:
        """The factors of the positive class and of the other one."""
        own = self.classes.index(str(self.positive))
        return float(factors[own]), float(factors[1 - own])
