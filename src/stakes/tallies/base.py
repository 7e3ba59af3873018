"""What every tally can do: add up, compare, stack, and save itself."""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import ClassVar, Self

import numpy as np

from stakes import errors
from stakes.frozen import dataclass
from stakes.tallies.arithmetic import Number
from stakes.tallies.fields import Content, How, Value


class Saved:
    """What is saved as names, numbers and arrays."""

    def saved(self) -> Content:
        """Return all that there is to save, arrays among it, from which ``from_dict`` makes an equal one."""
        raise NotImplementedError

    def to_dict(self) -> Content:
        """Return the same as plain lists and numbers, ready for JSON."""
        return dict(as_lists(self.saved()))


@dataclass(frozen=True, eq=False)
class Tally(Saved):
    """A small, frozen summary of rows: count once, ask everything.

    Tallies of disjoint rows add up to the tally of all rows. A tally may have leading axes (thresholds, segments,
    bootstrap replicates, folds); a metric is a function of the last axes and broadcasts over the others. Each field
    says how it adds up, is saved and is read again (:mod:`stakes.tallies.fields`).
    """

    kind: ClassVar[str]
    task: ClassVar[str] = "classification"
    """The task for which rows of such a tally are read."""

    version: ClassVar[int] = 1
    beside: ClassVar[tuple[str, ...]] = ()
    """What is saved beside the fields."""

    @property
    def leading(self) -> tuple[int, ...]:
        """The leading axes: () for a single tally."""
        return ()

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        raise NotImplementedError

    @property
    def total(self) -> Number:
        """The (weighted) number of rows."""
        raise NotImplementedError

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
            if (asked := part._question()) != first:
                what = next(what for what, value in asked.items() if first[what] != value)
                raise errors.different_questions(what, first[what], asked[what])
        return parts

    def __add__(self, other: object) -> Self:
        if not isinstance(other, Tally):
            return NotImplemented
        return type(self).sum([self, other])  # type: ignore[list-item]  # sum() refuses other kinds in words

    def __radd__(self, other: object) -> Self:
        """Let the built-in sum(), which starts from 0, add tallies."""
        return self if other == 0 else NotImplemented

    def saved(self) -> Content:
        """Return all that there is to save, arrays among it, from which :meth:`from_dict` makes an equal tally."""
        return {"tally": self.kind, "version": self.version, **self._content()}

    def __getstate__(self) -> dict[str, object]:
        """The fields, without cached properties: they can be computed again."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, type(self)) else NotImplemented

    @classmethod
    def from_dict(cls, saved: Value) -> Self:
        """Restore what :meth:`to_dict` or :meth:`saved` gave."""
        if not isinstance(saved, dict) or saved.get("tally") != cls.kind:
            seen = saved.get("tally") if isinstance(saved, dict) else type(saved).__name__
            raise errors.not_a_tally(f"{seen!r} instead of {cls.kind!r}")
        if saved.get("version") != cls.version:
            raise errors.unknown_version(cls.kind, saved.get("version"), cls.version)
        try:
            content = {k: v for k, v in saved.items() if k not in ("tally", "version")}
            known = {*cls.beside, *(name for name, how in cls._how().items() if how.saved)}
            if strange := content.keys() - known:
                raise ValueError(f"{min(strange)} is no part of it")
            tally = cls._restored(content)
            tally.check()
            return tally
        except errors.InputError:
            raise
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, ArithmeticError) as problem:
            raise errors.not_a_tally(f"a {cls.kind!r} whose content is damaged ({problem})") from None

    @property
    def equal_rows(self) -> float:
        """The number of rows; with weights, Kish's effective number."""
        return float(self.total)

    def check_counts(self) -> None:
        """Refuse fractions of rows, where rows have no weights, and more rows than there are of anything."""

    def class_sizes(self) -> dict[str, float]:
        """The (weighted) number of rows of each class; without classes, the number of all rows."""
        return {"": self.total}

    def anonymise(self, minimum: float) -> Self:
        """Return the part of this tally that can be shared: nothing about single rows or small groups of them."""
        return self

    # ── what follows from the fields; some kinds of tallies override it ──────────────────────────────────────────
    @classmethod
    @functools.cache
    def _how(cls) -> Mapping[str, How]:
        return {field.name: field.metadata["how"] for field in fields(cls)}

    @classmethod
    @functools.cache
    def _asked(cls) -> Sequence[tuple[str, str, Callable[[Value], object]]]:
        """The fields that must agree, with their words, and what of them must agree."""
        return [(name, how.same, how.tell) for name, how in cls._how().items() if how.same]

    def _question(self) -> dict[str, object]:
        """What must agree before two tallies may be added."""
        return {words: tell(getattr(self, name)) for name, words, tell in self._asked()}

    @classmethod
    def _sum(cls, parts: list[Self]) -> Self:
        return cls(**{name: how.added([getattr(part, name) for part in parts]) for name, how in cls._how().items()})

    @classmethod
    def _stack(cls, parts: Sequence[Self]) -> Self:
        raise NotImplementedError

    def _content(self) -> Content:
        return {name: how.to_file(getattr(self, name)) for name, how in self._how().items() if how.saved}

    @classmethod
    def _restored(cls, content: Content) -> Self:
        """Read the fields; one that older files lack has its default."""
        optional = {field.name for field in fields(cls) if field.default is not MISSING}
        known = {name: how for name, how in cls._how().items() if how.saved and name not in optional - set(content)}
        return cls(**{name: how.from_file(content[name]) for name, how in known.items()})

    def check(self) -> None:
        """Refuse content that no rows can give."""
        self.check_counts()


def as_lists(saved: Value) -> Value:
    """Turn every array into lists."""
    if isinstance(saved, np.ndarray):
        return saved.tolist()
    if isinstance(saved, dict):
        return {name: as_lists(part) for name, part in saved.items()}
    return [as_lists(part) for part in saved] if isinstance(saved, list) else saved
