"""Histograms of the scores of each class: do the classes lie apart, and where does the threshold cut?"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from stakes.records import Record
from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import MOST_BINS, check_whole
from stakes.tallies.keys import Keys
from stakes.text import visible


@dataclass(frozen=True, eq=False, repr=False)
class Histograms(Record, shown="edges counts threshold=cut note?"):
    """How many (or with what weight) cases of each class score between neighbouring ``edges``.

    A bin holds its lower edge, the last one its upper edge too. ``threshold`` is the one that decisions are made with.
    """

    edges: Array
    counts: Mapping[str, Array]
    threshold: float | None = None
    note: str = ""

    @property
    def cut(self) -> float | None:
        """The threshold, where it lies among the scores."""
        return None if self.threshold is None or not np.isfinite(self.threshold) else float(self.threshold)

    def __repr__(self) -> str:
        names = " and ".join(map(repr, self.counts))
        return visible(f"<histograms of the scores of {names} in {len(self.edges) - 1:,} bins>")


def histograms(
    table: ScoreTable, span: tuple[float, float], bins: int = 50, threshold: float | None = None
) -> Histograms:
    """Count the positive and the negative cases in equal bins over a span of the scores."""
    check_whole("bins", bins, 1, MOST_BINS)
    low, high = span if span[0] < span[1] else (span[0] - 0.5, span[1] + 0.5)  # as NumPy does for a single value
    edges = np.linspace(low, high, int(bins) + 1)
    counts = _of_keys(table, table.store, edges) if isinstance(table.store, Keys) else _of_columns(table, edges)
    note = "" if table.grid is None else "scores were counted in bins of their own, by the lower edges of those"
    return Histograms(edges, counts, threshold, note)


def _of_keys(table: ScoreTable, keys: Keys, edges: Array) -> dict[str, Array]:
    """Sorted rows need not be walked through: what reaches an edge is found by halving."""
    reached = np.array([(keys.P, keys.N), *(keys.at_least(edge) for edge in edges[1:-1]), (0, 0)])
    return dict(zip((table.positive, table.negative), -np.diff(reached, axis=0).T, strict=True))


def _of_columns(table: ScoreTable, edges: Array) -> dict[str, Array]:
    columns = table.as_columns()
    places = np.searchsorted(edges[1:-1], columns.scores.astype(np.float64), side="right")
    counts = {}
    for name, label in (("positives", table.positive), ("negatives", table.negative)):
        column = columns.values[name]
        counts[label] = np.zeros(len(edges) - 1, column.dtype)
        np.add.at(counts[label], places, column)
    return counts
