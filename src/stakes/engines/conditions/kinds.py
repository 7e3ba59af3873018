"""The kinds that the columns of a condition are compared as: numbers, text, booleans or dates.

The kind of a column follows from how the condition uses it; columns that are compared with each other have the same
kind, and the table's values must fit it. Columns of separated text are ``spelled``: they have no type, so all their
values decide.
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
"""The kinds of values that can be compared as this kind; numbers can be booleans if all are 0 or 1."""

_READ = ("number", "date", "boolean")
"""The kinds that text can be read as, in this order: 0 and 1 are numbers first."""

SOME_DATE = "some date"
"""Text that looks like a date, in whatever form."""

DATE = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?$"
SOME_DATES = r"^(\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4})([T ]|$)"

_MOSTLY = 0.5

Seen = Mapping[str, Collection[str]]
"""The kinds of the values that the tables hold in each column."""

Share = Callable[[str, str], float]
"""The share of a column's text that reads as a kind."""


@dataclass(frozen=True)
class Group:
    """Columns that are compared with each other, so they have one ``kind``, or None if the condition leaves it open.

    ``texts`` are the texts that they are compared with, None for computed text. ``ordered`` says whether they are
    compared by order, with < for example.
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
        """The kinds that only the values can decide between."""
        if self.kind is None:
            return "number", "date", "boolean", SOME_DATE
        if self.kind == "text" and self.ordered:
            return "number", "date", SOME_DATE
        return ("date",) if self.dates else ()

    def settle(self, seen: Seen, share: Share) -> str:
        """Decide the kind, given the kinds in the tables and the share of text that can be read as a kind."""
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
        """The kind of columns without types: all values of a column can be read as it, in all columns."""
        kinds = {}
        for column in self.columns:
            if seen[column]:
                kinds[next((kind for kind in _READ if share(column, kind) == 1), "text")] = column
        _refuse_two(kinds)
        return next(iter(kinds), "text")

    def _are_dates(self, kind: str, seen: Seen, share: Share) -> bool:
        """Whether text is compared as dates: all values are dates, and so are the texts they are compared with."""
        held = {held for column in self.columns for held in seen[column]}
        if kind not in ("text", "date") or not held <= _HOLD["date"]:
            return False
        written = [column for column in self.columns if set(seen[column]) & {"text", "spelled"}]
        return all(share(column, "date") == 1 for column in written) and (self.kind is None or self.dates)

    def _refuse_order(self, seen: Seen, share: Share) -> None:
        """Refuse to order numbers and dates as text, where 10 comes before 9."""
        for column in self.columns:
            for kind in ("number", "date", SOME_DATE):
                if kind == "number" and "spelled" not in seen[column]:  # a table with types declares it as text
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
    """Group the columns that a condition compares; a column that is used as two kinds is refused."""
    uses = _Uses(condition.text)
    uses.look(condition.tree)
    return uses.groups()


def settle(groups: Sequence[Group], seen: Seen, read: Counter[tuple[str, str]]) -> dict[str, str]:
    """Decide the kind that each column is compared as.

    ``seen`` are the kinds in the tables, ``read`` the number of texts that can be read as a kind ("text": all of them).
    """

    def share(column: str, kind: str) -> float:
        return read[column, kind] / (read[column, "text"] or 1)

    return {column: group.settle(seen, share) for group in groups for column in group.columns}


def kind_of(dtype: "nw.dtypes.DType", engine: "nw.Implementation") -> str:
    """The kind that a Narwhals type is compared as: "" without values, its own name if it cannot be compared.

    Spark's times always have a time zone, that of the session.
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
        fine = len(text.rpartition(".")[2]) > 6 and "." in text  # finer than microseconds, which Python would truncate
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
                self._use_as(test.value, "text", None)
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
        """Note that two values are compared."""
        if isinstance(one, tree.Name) and isinstance(other, tree.Name):
            self.links.append((one.column, other.column))
        elif isinstance(one, tree.Name):
            self._use_as(one, self._kind(other), other)
        else:
            self._use_as(other, self._kind(one), one)

    def _use_as(self, value: tree.Value, kind: str, beside: tree.Value | None) -> None:
        if not isinstance(value, tree.Name):
            if self._kind(value) != kind:
                raise errors.bad_where(self.text, f"it compares {_WORDS[self._kind(value)]} with {_WORDS[kind]}")
            return
        if self.kinds.setdefault(value.column, kind) != kind:
            raise errors.taken_for_two_kinds(self.text, value.column, value.column, [self.kinds[value.column], kind])
        if kind == "text":
            self.texts.append((value.column, beside.value if isinstance(beside, tree.Text) else None))

    def _kind(self, value: tree.Value) -> str:
        """The kind of a value, "" of a column; notes the kinds that its operands must have."""
        if isinstance(value, tree.Arithmetic):
            for operand in (value.left, value.right):
                self._use_as(operand, "number", None)
        elif isinstance(value, tree.Call):
            self._use_as(value.operand, "number" if value.function == "abs" else "text", None)
        return value.kind


def _column_of(value: tree.Value) -> str:
    """The column behind a text value, perhaps changed by functions; "" if there is none."""
    while isinstance(value, tree.Call) and value.kind == "text":
        value = value.operand
    return value.column if isinstance(value, tree.Name) else ""


_WORDS = {"number": "a number", "text": "text", "boolean": "TRUE or FALSE"}
