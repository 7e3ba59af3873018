"""What one pass over the rows has to fill, and what comes back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

from stakes import errors
from stakes.tallies import ClassScores, Confusion, CostSums, ErrorSums, JointCounts, ScoreTable, Tally
from stakes.tallies.clusters import Clusters
from stakes.tallies.confusion import MOST_CLASSES

DecidedBy = Literal["rows", "score", "costs", "threshold"]

VERSION = 1
"""The version of what Counted.to_dict() writes."""

_KINDS: dict[str, type[Tally]] = {
    tally.kind: tally for tally in (Confusion, JointCounts, ScoreTable, ClassScores, ErrorSums, CostSums)
}


@dataclass(frozen=True)
class Plan:
    """The classes, the decisions that can be taken (the classes and perhaps more), and the positive class of two."""

    classes: tuple[str, ...]
    decisions: tuple[str, ...]
    positive: str | None = None

    @property
    def negative(self) -> str:
        """The other one of two classes."""
        return next(name for name in self.classes if name != self.positive)

    @property
    def dense(self) -> bool:
        """Whether a table of all classes and decisions can be kept; otherwise only the combinations that occur."""
        return max(len(self.classes), len(self.decisions)) <= MOST_CLASSES

    @property
    def square(self) -> bool:
        """Whether every decision is a class."""
        return self.classes == self.decisions


@dataclass(frozen=True, repr=False)
class Counted:
    """The tallies of some rows, by their kind: all that is kept of the rows. Counted rows add up.

    ``decided_by`` says how the decisions came about: they were given with the "rows", the highest "score" decides (the
    first of those that tie), the "costs" do, or a "threshold" does. ``clusters`` say which rows belong together, and
    are neither added nor saved. ``dropped`` rows lacked a value and were left out.
    """

    task: str
    tallies: Mapping[str, Tally]
    segments: Mapping[str, "Counted"] = field(default_factory=dict)
    decided_by: DecidedBy = "rows"
    clusters: Clusters | None = None
    dropped: int = 0

    @property
    def confusion(self) -> Any:
        """The decisions, if there are any."""
        return self.tallies.get("confusion")

    @property
    def scores(self) -> Any:
        """The scores of two classes, if there are any."""
        return self.tallies.get("scores")

    def __add__(self, other: object) -> Self:
        return type(self).sum([self, other]) if isinstance(other, Counted) else NotImplemented

    @classmethod
    def sum(cls, parts: Sequence["Counted"]) -> Self:
        """Add many parts at once; cheaper than adding them pairwise."""
        parts = list(parts)
        if not parts:
            raise errors.nothing_to_add()
        first = parts[0]
        for part in parts:
            _same("the task", first.task, part.task)
            _same("the list of tallies", sorted(first.tallies), sorted(part.tallies))
            if part.clusters is not None:
                raise errors.clusters_do_not_add()
            _same("what decides", first.decided_by, part.decided_by)
            _same("by", *("given" if p.segments else "not given" for p in (first, part)))
        names = dict.fromkeys(name for part in parts for name in part.segments)
        return cls(
            first.task,
            {kind: type(tally).sum([part.tallies[kind] for part in parts]) for kind, tally in first.tallies.items()},
            {name: cls.sum([part.segments[name] for part in parts if name in part.segments]) for name in names},
            first.decided_by,
            dropped=sum(part.dropped for part in parts),
        )

    def __radd__(self, other: object) -> Self:
        return self if other == 0 else NotImplemented

    def binned(self, grid: str | None = None) -> Self:
        """Return the same counts with the scores of two classes in bins, in all segments on one grid."""
        if self.scores is None:
            return self
        scores = self.scores.binned(grid)
        segments = {name: part.binned(scores.grid) for name, part in self.segments.items()}
        return replace(self, tallies={**self.tallies, "scores": scores}, segments=segments)

    def moved_down(self, rows: int) -> Self:
        """Return the same counts with row numbers that begin later: those of a batch within the whole."""
        moved = {
            kind: tally.moved_down(rows) if isinstance(tally, ErrorSums) else tally
            for kind, tally in self.tallies.items()
        }
        parts = {name: part.moved_down(rows) for name, part in self.segments.items()}
        return replace(self, tallies=moved, segments=parts)

    def __repr__(self) -> str:
        parts = "; ".join(str(part) for part in self.tallies.values())
        return f"<Counted for {self.task}: {parts}; {len(self.segments):,} segments>"

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers, ready for JSON."""
        if self.clusters is not None:
            raise errors.clusters_do_not_add()
        return {
            "stakes": "counted",
            "version": VERSION,
            "task": self.task,
            "decided_by": self.decided_by,
            "dropped": self.dropped,
            "tallies": [tally.to_dict() for tally in self.tallies.values()],
            "segments": {name: part.to_dict() for name, part in self.segments.items()},
        }

    @classmethod
    def from_dict(cls, saved: Any) -> Self:
        """Restore what :meth:`to_dict` saved."""
        if not isinstance(saved, Mapping) or saved.get("stakes") != "counted":
            raise errors.not_a_tally(f"a {type(saved).__name__} that Counted.to_dict() did not write")
        if saved.get("version") != VERSION:
            raise errors.unknown_version("count", saved.get("version"), VERSION)
        try:
            tallies = [_KINDS[part["tally"]].from_dict(part) for part in saved["tallies"]]
            if not tallies:
                raise KeyError("tallies")
            segments = {name: cls.from_dict(part) for name, part in saved["segments"].items()}
            by_kind, dropped = {tally.kind: tally for tally in tallies}, saved.get("dropped", 0)
            return cls(saved["task"], by_kind, segments, saved["decided_by"], dropped=dropped)
        except (KeyError, TypeError, AttributeError) as problem:
            raise errors.not_a_tally(f"a count whose content is damaged ({problem})") from None


def _same(what: str, left: object, right: object) -> None:
    if left != right:
        raise errors.different_questions(what, left, right)
