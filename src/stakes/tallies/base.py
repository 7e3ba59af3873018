"""What every tally can do: add up, compare, stack, and save itself."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

from stakes import errors


class Tally:
    """A small, frozen summary of rows: count once, ask everything.

    Tallies of disjoint rows add up to the tally of all rows. A tally may have leading axes (thresholds, segments,
    bootstrap replicates, folds); a metric is a function of the last axes and broadcasts over the others.
    """

    kind: ClassVar[str]
    leading: Any
    version: ClassVar[int] = 1

    @classmethod
    def sum(cls, parts: Iterable[Self]) -> Self:
        """Add many parts at once; cheaper than adding them pairwise."""
        return cls._sum(cls._alike(parts))

    @classmethod
    def stack(cls, parts: Iterable[Self]) -> Self:
        """Put tallies side by side along a new leading axis."""
        return cls._stack(cls._alike(parts))

    @classmethod
    def _alike(cls, parts: Iterable[Self]) -> list[Self]:
        """Return the parts as a list, or say in which way they answer different questions."""
        parts = list(parts)
        if not parts:
            raise errors.nothing_to_add()
        first = parts[0]._question()
        for part in parts:
            if type(part) is not cls:
                raise errors.different_questions("the kind of tally", cls.kind, getattr(part, "kind", type(part)))
            for what, value in part._question().items():
                if first[what] != value:
                    raise errors.different_questions(what, first[what], value)
        return parts

    def __add__(self, other: object) -> Self:
        if not isinstance(other, Tally):
            return NotImplemented
        return type(self).sum([self, other])  # type: ignore[list-item]  # sum() refuses other kinds in words

    def __radd__(self, other: object) -> Self:
        """Let the built-in sum(), which starts from 0, add tallies."""
        return self if other == 0 else NotImplemented

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers, ready for JSON, from which :meth:`from_dict` makes an equal tally."""
        return {"tally": self.kind, "version": self.version, **self._content()}

    @classmethod
    def from_dict(cls, saved: Any) -> Self:
        """Restore what :meth:`to_dict` saved."""
        if not isinstance(saved, dict) or saved.get("tally") != cls.kind:
            seen = saved.get("tally") if isinstance(saved, dict) else type(saved).__name__
            raise errors.not_a_tally(f"{seen!r} instead of {cls.kind!r}")
        if saved.get("version") != cls.version:
            raise errors.unknown_version(cls.kind, saved.get("version"), cls.version)
        try:
            return cls._restore({k: v for k, v in saved.items() if k not in ("tally", "version")})
        except errors.InputError:
            raise
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, ArithmeticError) as problem:
            raise errors.not_a_tally(f"a {cls.kind!r} whose content is damaged ({problem})") from None

    # What a kind of tally has to say for itself.
    def _question(self) -> dict[str, Any]:
        """What must agree before two tallies may be added."""
        raise NotImplementedError

    @classmethod
    def _sum(cls, parts: list[Self]) -> Self:
        raise NotImplementedError

    @classmethod
    def _stack(cls, parts: Sequence[Self]) -> Self:
        raise NotImplementedError

    def _content(self) -> dict[str, Any]:
        raise NotImplementedError

    @classmethod
    def _restore(cls, content: dict[str, Any]) -> Self:
        raise NotImplementedError
