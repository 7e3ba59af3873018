"""Describes the columns of files: their values, and which may be the truth, the score and the prediction."""

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from stakes.engines.files import csv
from stakes.engines.files.kinds import FileTable, as_numbers, open_table, warn_of_detected_format
from stakes.engines.files.sources import FileNames, sources
from stakes.engines.labels import PAIRS
from stakes.errors import InputError, short
from stakes.records import Record
from stakes.text import visible

LOOKED_AT = 10_000
"""Rows that are read, from the beginning."""

_FEW, _SHOWN = 20, 5
"""Most different values of a column of classes, and how many of them are shown."""

_NAMES = {
    "truth": r"y|y_?true|truth|true|label|labels|target|actual|outcome|class|gold|diagnos\w*|observed|reference|"
    r"counts?|claims|events|sales|demand",
    "prediction": r"y_?pred\w*|pred\w*|decision|decided|said|forecast|y_?hat|guess|expected|fitted|estimated?",
    "score": r"p|y_?(score|prob\w*)|prob\w*|score|scores|risk|pr",
}
"""Column names that are usual for each role."""


_POSITIVE = r"y|yes|ja|s[ií]|oui|да|pos\w*|sick|case|event|malignant|bad|fraud|spam|churn\w*|dead|died|true"
"""Usual names of the positive class."""


@dataclass(frozen=True)
class DescribedColumn(Record):
    """One column: its kind, and its values in the rows that were read."""

    name: str
    kind: str
    different: int
    missing: int
    examples: list[str]

    @property
    def may_be_classes(self) -> bool:
        """Whether there are few enough values to be classes, and none is a fraction."""
        return 2 <= self.different <= _FEW and self.kind in ("text", "whole numbers", "booleans")

    @property
    def holds(self) -> str:
        """The values in words."""
        if self.kind in ("numbers", "whole numbers") and self.different > _SHOWN:
            return f"{self.examples[0]} to {self.examples[-1]}, {self.different:,} different"
        shown = [short(one if one == one.strip() and "," not in one else repr(one)) for one in self.examples[:_SHOWN]]
        more = "" if self.different <= len(shown) else f" and {self.different - len(shown):,} more"
        return ", ".join(shown) + more


@dataclass(frozen=True)
class DescribedFile(Record, stakes="columns", shown="* roles"):
    """The columns of a file, and what to ask next."""

    file: str
    rows: int
    columns: list[DescribedColumn]

    @property
    def whole(self) -> bool:
        """Whether all rows were read."""
        return self.rows < LOOKED_AT

    @cached_property
    def roles(self) -> dict[str, str]:
        """Which column may be the truth, and which the score or the prediction."""
        truth, quantities = self._truth, self._quantities()
        if truth is None or (truth.different > 2 and quantities.get("truth") == truth.name and len(quantities) == 2):
            return quantities
        chosen = {"score": _choose("score", self._scores)}
        if chosen["score"] is None:
            called = [one for one in self.columns if one.may_be_classes and _is_called(one, "prediction")]
            chosen["prediction"] = _choose("prediction", self._labels) or next(iter(called), None)
        return {"truth": truth.name, **{role: one.name for role, one in chosen.items() if one is not None}}

    @property
    def models(self) -> dict[str, list[str]]:
        """The columns that may be the output of models: scores, or else predictions."""
        if len(self._scores) > 1:
            return {"score": [one.name for one in self._scores]}
        return {"prediction": [one.name for one in self._labels]} if len(self._labels) > 1 else {}

    @property
    def positive(self) -> str:
        """The class that may be the positive one of two, if that is not obvious; otherwise ""."""
        classes = [] if self._truth is None or self._truth.different != 2 else self._truth.examples
        if not classes or any(set(pair) == set(classes) for pair in PAIRS):
            return ""
        return next((name for name in classes if re.fullmatch(_POSITIVE, name.lower())), classes[-1])

    @cached_property
    def _truth(self) -> DescribedColumn | None:
        classes = [one for one in self.columns if one.may_be_classes and not _is_called(one, "prediction")]
        return _choose("truth", classes)

    @property
    def _scores(self) -> list[DescribedColumn]:
        """Columns that may be the score of the positive class of two."""
        if self._truth is None:
            return []
        numbers = [one for one in self.columns if one.kind == "numbers" and one is not self._truth]
        called = [one for one in numbers if _is_called(one, "score")]
        if self._truth.different > 2:  # or two that are written in several ways
            return [one for one in called if _within(one)]
        return [one for one in numbers if _within(one)] or called or numbers[: len(numbers) == 1]

    @property
    def scale(self) -> str:
        """What the score seems to be if it is not a probability: "percent", "from_logits" or ""."""
        score = next((one for one in self.columns if one.name == self.roles.get("score")), None)
        if score is None or _within(score):
            return ""
        low, high = float(score.examples[0]), float(score.examples[-1])
        return "percent" if low >= 0 and high <= 100 else "from_logits" if low < 0 < high else ""

    @property
    def _labels(self) -> list[DescribedColumn]:
        """Columns that may be predictions: they hold nothing but classes of the truth."""
        truth = self._truth
        if truth is None:
            return []
        others = [one for one in self.columns if one.may_be_classes and one is not truth]
        return [one for one in others if set(one.examples) <= set(truth.examples)]

    def _quantities(self) -> dict[str, str]:
        numbers = [one for one in self.columns if one.kind in ("numbers", "whole numbers")]
        named = {role: [one for one in numbers if _is_called(one, role)] for role in ("truth", "prediction")}
        return {role: found[0].name for role, found in named.items() if found}


def describe(data: FileNames) -> DescribedFile:
    """Describe the first rows of a file, or of the first of several files."""
    table = open_table(sources(data)[0])
    if table.separated is not None:
        csv.refuse_titles(table.source, table.separated)
    warn_of_detected_format(table)
    frame = next(table.batches(table.columns, LOOKED_AT), pl.DataFrame(schema=dict.fromkeys(table.columns, pl.String)))
    frame = frame.head(LOOKED_AT)
    return DescribedFile(table.source.name, len(frame), [_described(table, column) for column in frame])


def _described(table: FileTable, column: pl.Series) -> DescribedColumn:
    if table.dialect is not None and column.dtype == pl.String:
        with suppress(InputError):  # numbers that can be read in two ways are listed as text
            column = as_numbers(table.dialect.normal(column, column.name))
    present = column.drop_nulls()
    if column.dtype.is_nested():
        return DescribedColumn(column.name, str(column.dtype), 0, column.null_count(), [])
    values = present.unique().sort()
    if not column.dtype.is_numeric():
        kind = {pl.String: "text", pl.Boolean: "booleans"}.get(type(column.dtype), str(column.dtype))
        examples = [visible(str(value)) for value in values.head(_FEW)]
        return DescribedColumn(column.name, kind, len(values), column.null_count(), examples)
    whole = column.dtype.is_integer() or bool((present == present.floor()).all())
    ends = values if len(values) <= _SHOWN else pl.concat([values.head(1), values.tail(1)])
    kind, examples = "whole numbers" if whole else "numbers", [f"{value:g}" for value in ends]
    return DescribedColumn(column.name, kind, len(values), column.null_count(), examples)


def _within(column: DescribedColumn) -> bool:
    """Whether all numbers may be probabilities."""
    return all(0 <= float(value) <= 1 for value in column.examples)


def _is_called(column: DescribedColumn, role: str) -> bool:
    return re.fullmatch(_NAMES[role], column.name.strip().lower()) is not None


def _choose(role: str, among: list[DescribedColumn]) -> DescribedColumn | None:
    """The column with a usual name for this role, or the only one."""
    called = [one for one in among if _is_called(one, role)]
    return called[0] if called else among[0] if len(among) == 1 else None
