"""Bayes decisions: what each decision is expected to cost at given class probabilities, and the cheapest of them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from stakes import errors
from stakes.errors import Given, InputError, first_row, rows_that_hold
from stakes.frozen import dataclass
from stakes.records import Record
from stakes.tallies.arithmetic import Array, Values
from stakes.tallies.names import canonical
from stakes.text import visible

ROUNDING = 1.00505e-3
"""How far the sum of the probabilities of a row may be from 1: a thousandth, in whatever order they are added up."""

ALIKE = 1e-12
"""Expected costs that differ by less than this share of them are the same, but for rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class BayesDecisions(Record, shown="decisions taken=names expected"):
    """The cheapest decision for each row of class probabilities, by name, and what every decision would cost there.

    ``codes`` are places among the ``decisions``, ``costs`` has a row for each row and a column for each decision. It
    is a sequence of names; for a ``single`` row ``decision`` is the name.
    """

    decisions: tuple[str, ...]
    codes: Array
    costs: Array
    single: bool = False

    @property
    def names(self) -> list[str]:
        """The decision for each row."""
        return [self.decisions[code] for code in self.codes.tolist()]

    @property
    def decision(self) -> str:
        """The decision for a single row."""
        if not self.single:
            raise InputError(
                "several-rows", f"there are {len(self):,} rows, each with its own decision; take list(…) or .names"
            )
        return self.names[0]

    @property
    def expected(self) -> dict[str, float | list[float]]:
        """What each decision would be expected to cost: a number of a single row, otherwise one for each row."""
        columns = self.costs.T.tolist()
        return {name: one[0] if self.single else one for name, one in zip(self.decisions, columns, strict=True)}

    def to_rows(self) -> list[dict[str, object]]:
        """Return one flat dictionary per row, for a data frame: the decision, and what each would cost."""
        each = zip(self.names, self.costs.tolist(), strict=True)
        return [{"decision": name, **dict(zip(self.decisions, costs, strict=True))} for name, costs in each]

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, row: int) -> str:
        return self.names[row]

    def __repr__(self) -> str:
        if not self.single:
            return f"<Bayes decisions for {len(self):,} rows>"
        costs = ", ".join(f"{name} {cost:.6g}" for name, cost in self.expected.items())
        return visible(f"<{self.decision}; expected costs: {costs}>")


def cheapest(risks: Array, if_positive: Array | None = None) -> Array:
    """Return the place of the lowest risk in each row; of those alike the one that costs less ``if_positive``.

    That is what each decision costs should the positive class be the truth; without it, the first.
    """
    least = risks.min(axis=-1, keepdims=True)
    alike = risks <= least + ALIKE * np.abs(risks).max(axis=-1, keepdims=True)
    if if_positive is None:
        return np.asarray(alike.argmax(axis=-1))
    return np.asarray(np.where(alike, if_positive, math.inf).argmin(axis=-1))


def round_up(number: Fraction) -> float:
    """The lowest float that is not below an exact number, so that ``score >= it`` is exact too."""
    nearest = float(number)
    return math.nextafter(nearest, math.inf) if Fraction(nearest) < number else nearest


# ── class probabilities ──────────────────────────────────────────────────────────────────────────────────────────
def class_probabilities(
    given: Values, classes: Sequence[str], positive: str | None, column: bool = False
) -> tuple[Array, bool]:
    """Check probabilities of classes; return a row for each row, and whether a single one was given.

    A list of numbers is a ``column`` of the positive class for sure, or else where it is no row of two.
    """
    named = isinstance(given, Mapping) or hasattr(given, "columns")
    rows = _by_class(given, classes) if named else _numbers(given)
    single = rows is not None and rows.ndim < 2
    if rows is not None and len(classes) == 2 and positive is not None and not named and _is_column(rows, column):
        single, chance = rows.ndim == 0, np.atleast_1d(rows)
        rows = np.stack([1 - chance, chance] if classes[1] == positive else [chance, 1 - chance], axis=1)
    if rows is None or rows.ndim not in (1, 2) or rows.shape[-1] != len(classes) or not rows.size:
        raise InputError(
            "not-probabilities",
            Given("posteriors", given),
            f" are not the probabilities of {len(classes)} classes; give one number for each class and row, in the "
            "order of the costs, or a dictionary by class",
        )
    rows = np.atleast_2d(rows)
    within = ((rows >= 0) & (rows <= 1)).all(axis=1) & (np.abs(rows.sum(axis=1) - 1) <= ROUNDING)
    if not within.all():
        wrong = np.flatnonzero(~within)
        seen = ", ".join(f"{one:.6g}" for one in rows[wrong[0]][:5]) + (", …" if len(classes) > 5 else "")
        raise InputError(
            "uneven-posteriors",
            f"{rows_that_hold(len(wrong))} no probabilities (",
            first_row(int(wrong[0])),
            f": {seen}); give numbers from 0 to 1 that add up to 1",
        )
    return rows, single


def _is_column(rows: Array, surely: bool) -> bool:
    """Whether numbers are those of the positive class: one, or a column that is no row of two."""
    if rows.ndim > 1:
        return False
    return surely or rows.ndim == 0 or rows.shape != (2,) or abs(float(rows.sum()) - 1) > ROUNDING


def _numbers(given: Values) -> Array | None:
    try:
        masked = isinstance(given, np.ma.MaskedArray)
        values = np.ma.filled(given.astype(float), np.nan) if masked else np.asarray(given)
        return values.astype(np.float64) if values.dtype.kind in "iuf" else None
    except ValueError:  # rows of different lengths
        return None


def _by_class(given: Values, classes: Sequence[str]) -> Array | None:
    """A dictionary or a data frame, in the order of the classes; of two, one is enough."""
    named = {canonical(name): given[name] for name in (given if isinstance(given, Mapping) else given.columns)}
    for name in named:
        if name not in classes:
            raise errors.no_such_class(name, classes)
    columns = {name: _numbers(values) for name, values in named.items()}
    found = {name: column for name, column in columns.items() if column is not None and column.ndim < 2}
    if len(classes) == 2 and len(found) == len(columns) == 1:
        ((name, column),) = found.items()
        found[classes[1 - classes.index(name)]] = np.asarray(1 - column)
    if len(found) < len(classes) or len({column.shape for column in found.values()}) > 1:
        return None
    return np.stack([found[name] for name in classes], axis=-1)
