"""What the columns of a condition are compared as: numbers, text, booleans or dates.

How a condition uses a column says so, and columns that are compared with each other are of one kind. What a table
holds must agree with it. Columns of separated text are ``spelled``: they have no type, so all their values decide.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from stakes import errors
from stakes.engines.conditions import tree

if TYPE_CHECKING:
    import narwhals as nw

_HOLD = {
    "number": {"number", "spelled"},
    "text": {"text", "spelled"},
    "boolean": {"boolean", "number", "spelled"},
    "date": {"date", "text", "spelled"},
}
"""What a table may hold of a column that is compared as this; numbers are booleans if they are all 0 and 1."""

_READ = ("number", "date", "boolean")
"""What text can be read as; 0 and 1 are numbers first."""

SOME_DATE = "some date"
"""Text that looks like a date, in whatever form."""

DATE = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?$"
SOME_DATES = r"^(\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4})([T ]|$)"

_MOSTLY = 0.5

Seen = Mapping[str, Collection[str]]
"""What the tables hold of each column."""

Share = Callable[[str, str], float]
"""The share of a column's text that reads as a kind."""


@dataclass(frozen=True)
class Group:
    """Columns that are compared with each other, so that they are of one kind: the one that the condition says, if any.

    ``texts`` are those that they are compared with; None stands for text that is worked out. Whether they are put in
    order, by < say, is ``ordered``.
    """

    columns: tuple[str, ...]
    kind: str | None
    texts: tuple[str | None, ...]
    ordered: bool = False

    @property
    def dates(self) -> bool:
        """Whether there are texts, and all of them are dates."""
        return bool(self.texts) and all(text is not None and as_date(text) for text in self.texts)

    @property
    def candidates(self) -> tuple[str, ...]:
        """The kinds that only the values can tell."""
        if self.kind is None:
            return "number", "date", "boolean", SOME_DATE
        if self.kind == "text" and self.ordered:
            return "number", "date", SOME_DATE
        return ("date",) if self.dates else ()

    def settle(self, seen: Seen, share: Share) -> str:
        """Say what the columns are compared as, by what the tables hold of each and how much of its text reads so."""
        typed = {kind: column for column in self.columns for kind in seen[column] if kind != "spelled"}
        kind = self.kind or (next(iter(typed)) if typed else self._spelled(seen, share))
        if self._are_dates(kind, seen, share):
            return "date"
        if self.kind is None:
            _refuse_two(typed)
        for column in self.columns:
            for held in seen[column]:
                if held not in _HOLD.get(kind, ()):
                    raise errors.condition_of_other_kind(column, self.kind, held)
        if kind == "text" and self.ordered:
            self._refuse_order(seen, share)
        return kind

    def _spelled(self, seen: Seen, share: Share) -> str:
        """What columns without types are: each what all of its values read as, and all of them the same."""
        kinds = {}
        for column in self.columns:
            if seen[column]:
                kinds[next((kind for kind in _READ if share(column, kind) == 1), "text")] = column
        _refuse_two(kinds)
        return next(iter(kinds), "text")

    def _are_dates(self, kind: str, seen: Seen, share: Share) -> bool:
        """Whether text is compared as dates, because all of it is: with a date that is written, or in a column."""
        held = {held for column in self.columns for held in seen[column]}
        if kind not in ("text", "date") or not held <= _HOLD["date"]:
            return False
        written = [column for column in self.columns if set(seen[column]) & {"text", "spelled"}]
        return all(share(column, "date") == 1 for column in written) and (self.kind is None or self.dates)

    def _refuse_order(self, seen: Seen, share: Share) -> None:
        """Refuse to put numbers and dates in the order of text, in which 10 comes before 9."""
        for column in self.columns:
            for kind in ("number", "date", SOME_DATE):
                if kind == "number" and "spelled" not in seen[column]:  # a table with types says that it is text
                    continue
                if kind != SOME_DATE and share(column, kind) == 1:
                    raise errors.condition_of_other_kind(column, self.kind, kind)
                if share(column, kind) >= _MOSTLY:
                    raise errors.no_order(column, kind)


def _refuse_two(kinds: Mapping[str, str]) -> None:
    """Refuse to compare columns of two kinds (kind → column) with each other."""
    if len(kinds) > 1:
        (one, first), (other, second) = list(kinds.items())[:2]
        raise errors.columns_of_other_kinds(first, one, second, other)


def groups(condition: tree.Condition) -> list[Group]:
    """Find what a condition takes its columns for; a column that is taken for two things is refused."""
    uses = _Uses(condition.text)
    uses.look(condition.tree)
    return uses.groups()


def settle(groups: Sequence[Group], seen: Seen, read: Counter[tuple[str, str]]) -> dict[str, str]:
    """Say what each column is compared as, by what the tables hold of it, and how many of its texts read as a kind.

    Those of a column are counted by column and kind; all of them are "text".
    """

    def share(column: str, kind: str) -> float:
        return read[column, kind] / (read[column, "text"] or 1)

    return {column: group.settle(seen, share) for group in groups for column in group.columns}


def kind_of(dtype: "nw.dtypes.DType", engine: "nw.Implementation") -> str:
    """What a type of Narwhals is compared as: nothing for one without values, or itself if that cannot be compared.

    Spark's times have a time zone in any case, that of the session.
    """
    import narwhals as nw

    if dtype == nw.Unknown and engine.is_polars():
        return ""
    if dtype == nw.Boolean:
        return "boolean"
    if dtype.is_numeric():
        return "number"
    if dtype in (nw.String, nw.Categorical) or isinstance(dtype, nw.Enum):
        return "text"
    if not isinstance(dtype, nw.Datetime):
        return "date" if dtype == nw.Date else f"{dtype} values"
    return "date" if engine.is_spark_like() or dtype.time_zone is None else "times with a time zone"


def as_date(text: str) -> datetime | None:
    """The date, perhaps with a time, that a text spells in ISO 8601, without a time zone."""
    try:
        fine = len(text.rpartition(".")[2]) > 6 and "." in text  # beyond microseconds, which Python would cut
        found = datetime.fromisoformat(text) if text[4:5] == "-" == text[7:8] and not fine else None
    except ValueError:
        return None
    return found if found is None or found.tzinfo is None else None


class _Uses:
    """Walks over a condition and collects what each column is compared with."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.kinds: dict[str, str] = {}
        self.links: list[tuple[str, str]] = []
        self.texts: list[tuple[str, str | None]] = []
        self.ordered: set[str] = set()

    def look(self, test: tree.Test) -> None:
        match test:
            case tree.Several():
                for part in test.parts:
                    self.look(part)
            case tree.Not():
                self.look(test.part)
            case tree.Compare():
                self._alike(test.left, test.right)
                if test.sign != "=":
                    self.ordered |= {_column_of(test.left), _column_of(test.right)}
            case tree.In():
                for item in test.items:
                    self._alike(test.value, item)
            case tree.Like():
                self._take_for(test.value, "text", None)
            case tree.IsNull():
                self._kind(test.value)

    def groups(self) -> list[Group]:
        """Columns that are linked are of one kind."""
        together: dict[str, set[str]] = {column: {column} for pair in self.links for column in pair}
        together |= {column: {column} for column in [*self.kinds, *(column for column, _ in self.texts)]}
        for one, other in self.links:
            merged = together[one] | together[other]
            together |= dict.fromkeys(merged, merged)
        return [self._group(tuple(sorted(columns))) for columns in {id(c): c for c in together.values()}.values()]

    def _group(self, columns: tuple[str, ...]) -> Group:
        kinds = {self.kinds[column]: column for column in columns if column in self.kinds}
        if len(kinds) > 1:
            (one, column), (other, second) = list(kinds.items())[:2]
            raise errors.taken_for_two_kinds(self.text, column, second, [one, other])
        texts = tuple(text for column, text in self.texts if column in columns)
        return Group(columns, next(iter(kinds), None), texts, not self.ordered.isdisjoint(columns))

    def _alike(self, one: tree.Value, other: tree.Value) -> None:
        """Two values are compared."""
        if isinstance(one, tree.Name) and isinstance(other, tree.Name):
            self.links.append((one.column, other.column))
        elif isinstance(one, tree.Name):
            self._take_for(one, self._kind(other), other)
        else:
            self._take_for(other, self._kind(one), one)

    def _take_for(self, value: tree.Value, kind: str, beside: tree.Value | None) -> None:
        if not isinstance(value, tree.Name):
            if self._kind(value) != kind:
                raise errors.bad_where(self.text, f"it compares {_WORDS[self._kind(value)]} with {_WORDS[kind]}")
            return
        if self.kinds.setdefault(value.column, kind) != kind:
            raise errors.taken_for_two_kinds(self.text, value.column, value.column, [self.kinds[value.column], kind])
        if kind == "text":
            self.texts.append((value.column, beside.value if isinstance(beside, tree.Text) else None))

    def _kind(self, value: tree.Value) -> str:
        """What a value is, columns apart; what it is made of is taken for what that wants."""
        if isinstance(value, tree.Arithmetic):
            for operand in (value.left, value.right):
                self._take_for(operand, "number", None)
        elif isinstance(value, tree.Call):
            self._take_for(value.operand, "number" if value.function == "abs" else "text", None)
        return value.kind


def _column_of(value: tree.Value) -> str:
    """The column whose text a value is, as it is or changed by functions; nothing if it is something else."""
    while isinstance(value, tree.Call) and value.kind == "text":
        value = value.operand
    return value.column if isinstance(value, tree.Name) else ""


_WORDS = {"number": "a number", "text": "text", "boolean": "TRUE or FALSE"}
