"""What one pass over the rows has to fill, and what comes back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from stakes import errors
from stakes.tallies import Confusion, ScoreTable

VERSION = 1
"""The version of what Counted.to_dict() writes."""


@dataclass(frozen=True)
class Plan:
    """The two classes to be told apart."""

    negative: str
    positive: str


@dataclass(frozen=True, repr=False)
class Counted:
    """The tallies of some rows: all that is kept of them. Counted rows add up."""

    confusion: Confusion | None = None
    scores: ScoreTable | None = None
    segments: Mapping[str, "Counted"] = field(default_factory=dict)

    def __add__(self, other: object) -> Self:
        if not isinstance(other, Counted):
            return NotImplemented
        _same("by", bool(self.segments), bool(other.segments))
        return type(self)(
            _added("prediction", self.confusion, other.confusion),
            _added("score", self.scores, other.scores),
            {name: _either(self.segments, other.segments, name) for name in [*self.segments, *other.segments]},
        )

    def __radd__(self, other: object) -> Self:
        return self if other == 0 else NotImplemented

    def __repr__(self) -> str:
        parts = [str(part) for part in (self.confusion, self.scores) if part is not None]
        return f"<Counted: {'; '.join(parts)}; {len(self.segments):,} segments>"

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers, ready for JSON."""
        return {
            "stakes": "counted",
            "version": VERSION,
            "confusion": None if self.confusion is None else self.confusion.to_dict(),
            "scores": None if self.scores is None else self.scores.to_dict(),
            "segments": {name: part.to_dict() for name, part in self.segments.items()},
        }

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Self:
        """Restore what :meth:`to_dict` saved."""
        if not isinstance(saved, Mapping) or saved.get("stakes") != "counted":
            raise errors.not_a_tally(f"a {type(saved).__name__} that Counted.to_dict() did not write")
        if saved.get("version") != VERSION:
            raise errors.unknown_version("count", saved.get("version"), VERSION)
        confusion, scores = saved["confusion"], saved["scores"]
        return cls(
            None if confusion is None else Confusion.from_dict(confusion),
            None if scores is None else ScoreTable.from_dict(scores),
            {name: cls.from_dict(part) for name, part in saved["segments"].items()},
        )


def _same(what: str, left: bool, right: bool) -> None:
    if left != right:
        raise errors.different_questions(what, *("given" if part else "not given" for part in (left, right)))


def _added(what: str, left: Any, right: Any) -> Any:
    _same(what, left is not None, right is not None)
    return None if left is None else left + right


def _either(left: Mapping[str, Counted], right: Mapping[str, Counted], name: str) -> Counted:
    if name in left and name in right:
        return left[name] + right[name]
    return left[name] if name in left else right[name]
