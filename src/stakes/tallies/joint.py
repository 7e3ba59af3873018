"""Combinations of labels counted together, only those that occur."""

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Self

import numpy as np

from stakes.frozen import dataclass, field, replace
from stakes.tallies.arithmetic import Array, Number, Values, are_counts, distinct, exact
from stakes.tallies.base import Tally
from stakes.tallies.confusion import Confused, most_frequent
from stakes.tallies.fields import SUMMED, Content, how, same, say_weighting
from stakes.tallies.keys import add_up, put_together
from stakes.tallies.names import read_names
from stakes.text import visible

_BLOCK = 1 << 18
_FEW = 1 << 17
"""Up to this many possible combinations are counted in an array of all of them."""


_COUNTS = how(load=np.asarray, same="weighting", tell=lambda counts: say_weighting(counts.dtype.kind == "f"))


@dataclass(frozen=True, eq=False)
class JointCounts(Tally):
    """How often each combination of labels occurs in several columns, for any number of labels.

    ``codes[i]`` are the labels of the i-th combination, a code into ``labels[j]`` for each column j; ``counts[i]`` says
    how often (or with what weight) it occurs.

    >>> joint = JointCounts.from_rows(("truth", "decision"), (("a", "b"), ("a", "b")), [[0, 1, 1], [0, 0, 1]])
    >>> joint.hits, joint.total
    (2, 3)
    """

    columns: tuple[str, ...] = field(metadata=same("the list of columns", load=tuple))
    labels: tuple[tuple[str, ...], ...] = field(
        metadata=same(
            "the list of labels",
            save=lambda labels: [list(names) for names in labels],
            load=lambda saved: tuple(map(read_names, saved)),
        )
    )
    codes: Array = field(metadata=SUMMED)
    counts: Array = field(metadata=_COUNTS)

    kind = "joint"

    @classmethod
    def from_rows(
        cls,
        columns: Sequence[str],
        labels: Sequence[Sequence[str]],
        codes: Sequence[Values],
        weight: Array | None = None,
    ) -> Self:
        """Count rows given as one column of codes each, block by block: memory grows with the combinations."""
        names, known = tuple(columns), tuple(map(tuple, labels))
        given = [np.asarray(column) for column in codes]
        rows, sizes = len(given[0]) if given else 0, [len(label) for label in known]
        blocks = (slice(start, start + _BLOCK) for start in range(0, max(rows, 1), _BLOCK))
        if math.prod(sizes) < 2**63:
            found = _count_blocks(given, sizes, blocks, weight)
            return cls(names, known, np.stack(np.unravel_index(found[0], sizes), axis=-1), found[1])
        parts: list[Self] = []
        for block in blocks:
            stacked = np.stack([column[block].astype(np.int64) for column in given], axis=-1)
            parts.append(cls._counted(names, known, stacked, None if weight is None else weight[block]))
            if sum(len(part.counts) for part in parts) > _BLOCK:
                parts = [cls._sum(parts)]
        return cls._sum(parts) if len(parts) > 1 else parts[0]

    @classmethod
    def _counted(
        cls, columns: tuple[str, ...], labels: tuple[tuple[str, ...], ...], codes: Array, weight: Array | None
    ) -> Self:
        sizes = [len(names) for names in labels]
        if math.prod(sizes) >= 2**63:  # too many to be numbered
            kept, places = np.unique(codes, axis=0, return_inverse=True)
            return cls(columns, labels, kept, np.bincount(np.ravel(places), weights=weight, minlength=len(kept)))
        flat = np.ravel_multi_index(tuple(codes.T), sizes) if len(codes) else np.empty(0, np.int64)
        found, counts = _count_numbers(flat, weight, math.prod(sizes))
        return cls(columns, labels, np.stack(np.unravel_index(found, sizes), axis=-1), counts)

    @property
    def weighted(self) -> bool:
        """Whether the counts are sums of weights."""
        return bool(self.counts.dtype.kind == "f")

    @cached_property
    def total(self) -> Number:
        """The (weighted) number of rows."""
        return exact(self.counts).sum()

    @cached_property
    def hits(self) -> Number:
        """The (weighted) number of rows whose first two columns hold the same label."""
        truths, decisions = (np.array(names, object)[self.codes[:, j]] for j, names in enumerate(self.labels[:2]))
        return exact(self.counts[truths == decisions]).sum() if (truths == decisions).any() else 0

    @property
    def truths(self) -> tuple[str, ...]:
        """The labels of the first column."""
        return self.labels[0]

    @property
    def decisions(self) -> tuple[str, ...]:
        """The labels of the second column."""
        return self.labels[1]

    def sizes(self, column: int) -> Array:
        """How often each label of a column occurs."""
        return np.bincount(self.codes[:, column], weights=self.counts, minlength=len(self.labels[column]))

    def class_sizes(self) -> dict[str, float]:
        """The (weighted) number of rows of each class."""
        return dict(zip(self.truths, self.sizes(0).tolist(), strict=True))

    def constants(self) -> list[Self]:
        """Return the counts of always deciding for the most frequent truth."""
        sizes = self.sizes(0)
        best = int(sizes.argmax())
        present = np.flatnonzero(sizes)
        codes = np.stack([present, np.full(len(present), best)], axis=-1)
        return [type(self)(self.columns, (self.truths, self.truths), codes, sizes[present])]

    def most_confused(self, most: int = 10) -> list[Confused]:
        """Return the most frequent wrong decisions: truth, decision, how often, and the share of that truth."""
        pairs = [
            (self.counts[i].item(), self.truths[t], self.decisions[d])
            for i, (t, d) in enumerate(self.codes[:, :2].tolist())
            if self.truths[t] != self.decisions[d]
        ]
        return most_frequent(pairs, self.class_sizes(), most)

    # ── a tally like any other ───────────────────────────────────────────────────────────────────────────────
    @classmethod
    def _sum(cls, parts: list[Self]) -> Self:
        """Add up what is counted of the same combination: codes and counts belong together."""
        codes = np.concatenate([part.codes for part in parts])
        counts = np.concatenate([part.counts for part in parts])
        added = cls._counted(parts[0].columns, parts[0].labels, codes, counts)
        return added if parts[0].weighted else replace(added, counts=np.rint(added.counts).astype(np.int64))

    @classmethod
    def _restored(cls, content: Content) -> Self:
        codes = np.asarray(content["codes"], np.int64).reshape(-1, len(content["labels"]))
        return super()._restored({**content, "codes": codes})

    def check(self) -> None:
        """Refuse codes beyond the labels, and combinations that come twice."""
        codes, counts = self.codes, self.counts
        if len(counts) != len(codes) or (
            codes.size and (codes.min() < 0 or (codes.max(0) >= list(map(len, self.labels))).any())
        ):
            raise ValueError("codes or counts")
        found = self._counted(self.columns, self.labels, codes, counts)
        if not are_counts(counts, weighted=True) or len(found.codes) != len(codes):
            raise ValueError("combinations that come twice, or counts that are none")

    def __str__(self) -> str:
        return f"<JointCounts of {visible(' × '.join(self.columns))}: {len(self.codes):,} combinations>"


def _count_blocks(
    columns: Sequence[Array], sizes: Sequence[int], blocks: Iterable[slice], weight: Array | None
) -> tuple[Array, ...]:
    """Number combinations block by block and count the numbers: those that occur, and how often."""
    none = np.empty(0, np.int64), np.empty(0, np.int64 if weight is None else np.float64)
    waiting: list[tuple[Array, ...]] = [none]
    for block in blocks:
        flat = np.zeros(len(columns[0][block]) if columns else 0, np.int64)
        for column, size in zip(columns, sizes, strict=True):
            flat *= size
            flat += column[block]
        waiting.append(_count_numbers(flat, None if weight is None else weight[block], math.prod(sizes)))
        if sum(len(numbers) for numbers, _ in waiting) > _BLOCK:
            waiting = [put_together(waiting)]
    return put_together(waiting)


def _count_numbers(flat: Array, weight: Array | None, most: int) -> tuple[Array, ...]:
    """The numbers that occur, and how often or with what weight."""
    if most <= _FEW:
        every = np.bincount(flat, weights=weight, minlength=most)
        found = distinct(flat) if weight is not None else np.flatnonzero(every)
        return found, every[found]
    return np.unique(flat, return_counts=True) if weight is None else add_up(flat, weight.astype(np.float64))
