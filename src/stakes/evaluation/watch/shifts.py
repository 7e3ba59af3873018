"""Before labels come: whether rows are distributed as in a reference, by their scores or by their segments.

What is watched are shares of rows: in ten bins of the reference's scores, or in its segments. On other rows a model may
err more or not; only labels show it, and an alarm says that they are needed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from stakes.engines.plan import FEW_LABELS, Counted
from stakes.engines.unlabelled import LABELLED, UNLABELLED, parts_of
from stakes.errors import InputError, Pass
from stakes.evaluation.base import Evaluation
from stakes.evaluation.watch.monitors import Area, Figures, Monitor
from stakes.metrics import Metric
from stakes.metrics.baselines import COIN
from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.uncertainty import sequences

SHIFTS = ("scores", "segments")
"""What can be watched before labels come."""

SHIFTED = tuple(f"shift_of_{what}" for what in SHIFTS)
"""The names of their figures."""

_BINS = 10
_FEWEST = 5
"""Least number of rows expected in a bin for it to count as evidence."""


@dataclass(frozen=True)
class Unlabelled:
    """A day on which not every row has a truth: only the distribution of its rows is known."""

    counted: Counted

    @property
    def rows(self) -> float:
        """All rows."""
        return float(next(iter(self.counted.tallies.values())).total)


def _distance(_: object) -> float:
    raise NotImplementedError


def _named(what: str) -> Metric:
    """The distance between two distributions (total variation): the share of rows that would have to move."""
    return Metric(f"shift_of_{what}", _distance, ScoreTable, "", "", "", (0.0, 1.0), "lower", COIN)


@dataclass(frozen=True, eq=False)
class Shift(Monitor):
    """Shares of rows, compared with those of the reference: ``edges`` of scores, or ``names`` of segments."""

    edges: Array | None = None
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, what: str, reference: Evaluation | Unlabelled) -> "Shift":
        """Watch the ``scores`` or the ``segments`` of a reference."""
        counted = reference.counted
        if what == "scores" and isinstance(counted.scores, ScoreTable):
            monitor = cls(_named(what), False, 0.0, edges=Area.edges_of([counted.scores], _BINS))
        elif what == "segments" and (sizes := _sizes(counted)):
            monitor = cls(_named(what), False, 0.0, names=tuple(sizes))
        else:
            raise InputError("shift-not-in-day", f"the reference has no {what}; count it with what they need")
        return replace(monitor, drop=0.05, reference=monitor.numbers(reference))

    @property
    def reference_in_words(self) -> list[object]:
        """The parts of the reference that must stay the same while days are added."""
        assert self.reference is not None
        return [*(self.names if self.edges is None else self.edges.tolist()), *self.reference.tolist()]

    def numbers(self, evaluation: Evaluation | Unlabelled) -> Array:
        """Rows in each bin, or in each segment and in all others."""
        counted = evaluation.counted
        if self.edges is None:
            sizes = _sizes(counted)
            known = [sizes.get(name, 0.0) for name in self.names]
            return np.array([*known, sum(sizes.values()) - sum(known)])
        if not isinstance(counted.scores, ScoreTable):
            raise InputError("shift-not-in-day", "a day has no scores; count it with what they need")
        columns, grid = counted.scores.as_columns(), counted.scores.grid if counted.scores.merged else None
        scores = np.asarray(columns.scores, np.float64)
        place = np.searchsorted(self.edges, scores, side="right")
        if grid is not None and (np.searchsorted(self.edges, grid.upper_edges(scores), side="left") > place).any():
            words = "the bins of a day lie across those of the reference, so its rows are not known; count days with "
            raise InputError("shift-in-bins", words, Pass("exact", True))
        many = columns.values["positives"] + columns.values["negatives"]
        return np.bincount(place, many, len(self.edges) + 1).astype(np.float64)

    def figures(self, sums: Array) -> Figures:
        """The share of rows that would have to move to make the window like the reference."""
        assert self.reference is not None
        rows = np.maximum(sums.sum(axis=-1, keepdims=True), 1e-300)
        apart = np.abs(sums / rows - self.reference / self.reference.sum()).sum(axis=-1) / 2
        return Figures(apart, np.full(apart.shape, np.nan), rows[..., 0] >= 1)

    def refuse_useless_reference(self, alpha: float) -> None:
        """Refuse a reference with few rows in each bin: it would never raise an alarm."""
        assert self.reference is not None
        if np.sort(self.reference)[-2] < _FEWEST:
            raise InputError(
                "small-reference-of-shifts",
                f"the reference has fewer than {_FEWEST} rows in all {len(self.reference)} bins or segments but one, "
                "so that nothing would ever raise an alarm; count more rows for it",
            )

    def evidence(self, sums: Array, spread: Array) -> Array:
        """The mean of the evidence that each share has risen, or fallen: a mean of e-values is an e-value."""
        assert self.reference is not None
        rows, all_rows = sums.sum(axis=-1, keepdims=True), self.reference.sum()
        rows = np.maximum(rows, 1e-300)
        pooled = (sums + self.reference) / (rows + all_rows)
        known = (pooled * rows >= _FEWEST) & (pooled * all_rows >= _FEWEST) & (pooled < 1)
        variance = np.where(known, pooled * (1 - pooled) * (spread[..., None] / rows + 1 / all_rows), 1.0)
        away = np.where(known, sums / rows - self.reference / all_rows, 0.0)
        drop = np.minimum(self.drop, np.sqrt(pooled * (1 - pooled)) / 6 + 1e-9)
        logs = np.stack([np.where(known, sequences.log_evidence(s * away, variance, drop), 0.0) for s in (1, -1)])
        return np.asarray(np.logaddexp.reduce(logs, axis=(0, -1)) - np.log(2 * sums.shape[-1]))

    def spread(self, days: Array) -> Array:
        """The overdispersion of days, on average over the shares."""
        assert self.reference is not None
        shares = np.clip(self.reference / self.reference.sum(), 1e-3, 1 - 1e-3)
        rows = days.sum(axis=1)
        return np.asarray(np.mean([sequences.spread_of_days(*one) for one in
                                   zip(days.T, [rows] * len(shares), shares, strict=True)], axis=0))  # fmt: skip

    def course(self, sums: Array, spread: Array, alpha: float) -> tuple[Array, Array]:
        """A distance from the reference has no limits of its own."""
        nothing = np.full(len(sums), np.nan)
        return nothing, nothing


def _sizes(counted: Counted) -> Mapping[str, float]:
    """How many rows each segment has, labelled or not."""
    if counted.task != FEW_LABELS:
        return {name: float(next(iter(part.tallies.values())).total) for name, part in counted.segments.items()}
    parts = {name: kinds for name, kinds in parts_of(counted).items() if name}
    return {name: sum(Unlabelled(part).rows for kind, part in kinds.items() if kind in (LABELLED, UNLABELLED))
            for name, kinds in parts.items()}  # fmt: skip
