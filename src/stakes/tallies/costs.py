"""What each decision costs for each true class."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from stakes import errors
from stakes.tallies.arithmetic import Array, is_real

Row = tuple[Fraction, ...]


@dataclass(frozen=True, repr=False)
class Costs:
    """K true classes × M decisions, in any unit; a decision may be no class (abstain, "more tests").

    Give ``miss`` and ``false_alarm`` for two classes, or a matrix (rows are the truth) with the names of ``classes``
    and ``decisions``, or a dictionary class → {decision: cost}. Costs are fractions, so that switch points are exact.

    >>> Costs(miss=5, false_alarm=1)
    <Costs of a miss 5, of a false alarm 1>
    >>> scan = Costs([[0, 10, 1000], [500, 20, 0]], ["tumour", "none"], ["operate", "tests", "home"])
    >>> [(decision, float(start)) for decision, start in scan.switch_points("tumour")]
    [('home', 0.0), ('tests', 0.019801980198019802), ('operate', 0.9795918367346939)]
    """

    matrix: Any = None
    classes: Sequence[str] | None = None
    decisions: Sequence[str] | None = None
    miss: Any = None
    false_alarm: Any = None

    def __post_init__(self) -> None:
        if (self.matrix is None) == (self.miss is None or self.false_alarm is None):
            raise errors.how_to_give_costs()
        if self.matrix is None:
            self._set(matrix=_fractions([[0, self.false_alarm], [self.miss, 0]], ("negative", "positive"), ("-", "+")))
            return
        if isinstance(self.matrix, Mapping):
            self._from_names(self.matrix)
        if self.classes is None:
            raise errors.costs_without_names()
        classes = tuple(map(str, self.classes))
        decisions = classes if self.decisions is None else tuple(map(str, self.decisions))
        for names in (classes, decisions):
            if len(set(names)) != len(names) or len(names) < 2:
                raise errors.classes_not_different(names)
        self._set(classes=classes, decisions=decisions, matrix=_fractions(self.matrix, classes, decisions))

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _from_names(self, named: Mapping[Any, Any]) -> None:
        """Take class → {decision: cost} apart; every class must price every decision."""
        rows = {str(name): {str(d): cost for d, cost in row.items()} for name, row in named.items()}
        decisions = list(dict.fromkeys(d for row in rows.values() for d in row))
        for name, row in rows.items():
            missing = [d for d in decisions if d not in row]
            if missing:
                raise errors.cost_missing(name, missing[0])
        cells = [[row[d] for d in decisions] for row in rows.values()]
        self._set(matrix=cells, classes=tuple(rows), decisions=tuple(decisions))

    @classmethod
    def from_utilities(cls, matrix: Any, classes: Sequence[str], decisions: Sequence[str] | None = None) -> "Costs":
        """Turn gains into costs: what a decision earns less than the best one for that class."""
        gains = cls(matrix, classes, decisions)
        return cls([[max(row) - gain for gain in row] for row in gains.matrix], gains.classes, gains.decisions)

    # ── fitted to a table ────────────────────────────────────────────────────────────────────────────────────
    def for_table(self, truths: Sequence[str], decisions: Sequence[str], positive: str | None) -> list[Row]:
        """Return the costs in the order of a table's truths and decisions, or say which name does not fit."""
        if self.classes is None:
            if positive is None or len(truths) != 2 or len(decisions) != 2:
                raise errors.costs_of_two_classes(len(truths), len(decisions))
            place = {name: int(name == positive) for name in (*truths, *decisions)}
            return [tuple(self.matrix[place[t]][place[d]] for d in decisions) for t in truths]
        for what, wanted, known in (("class", truths, self.classes), ("decision", decisions, self.decisions)):
            strange = [name for name in wanted if name not in known]  # type: ignore[operator]
            if strange:
                raise errors.no_cost_for(what, strange[0], known)  # type: ignore[arg-type]
        rows, columns = ({name: i for i, name in enumerate(names)} for names in (self.classes, self.decisions))  # type: ignore[arg-type]
        return [tuple(self.matrix[rows[t]][columns[d]] for d in decisions) for t in truths]

    # ── two classes ──────────────────────────────────────────────────────────────────────────────────────────
    def switch_points(self, positive: str | None = None) -> list[tuple[str, Fraction]]:
        """Return the decisions that cost least, with the probability of the positive class from which each does.

        Exact; a decision that is never the cheapest is not among them.
        """
        names, lines = self._lines(positive)
        found: list[tuple[str, Fraction]] = []
        p, current = Fraction(0), min(range(len(lines)), key=lambda d: (lines[d][0], lines[d][1]))
        while True:
            found.append((names[current], p))
            later = [(_meeting(lines[current], lines[d]), lines[d][1], d) for d in range(len(lines))]
            ahead = [(at, end, d) for at, end, d in later if at is not None and p <= at < 1]
            if not ahead:
                return found
            at, _, following = min(ahead, key=lambda one: (one[0], one[1]))
            if at == p:
                found.pop()
            p, current = at, following

    def never_cheapest(self, positive: str | None = None) -> list[str]:
        """Return the decisions that no probability of the positive class makes worth taking."""
        names, _ = self._lines(positive)
        taken = {name for name, _ in self.switch_points(positive)}
        return [name for name in names if name not in taken]

    def _lines(self, positive: str | None) -> tuple[Sequence[str], list[tuple[Fraction, Fraction]]]:
        """The decisions, and what each costs when surely negative and when surely positive."""
        if self.classes is None:
            return ("negative", "positive"), list(zip(self.matrix[0], self.matrix[1], strict=True))
        if len(self.classes) != 2 or positive not in self.classes:
            raise errors.switch_points_of_two(self.classes, positive)
        row = self.classes.index(str(positive))
        return self.decisions, list(zip(self.matrix[1 - row], self.matrix[row], strict=True))  # type: ignore[return-value]

    # ── any number of classes ────────────────────────────────────────────────────────────────────────────────
    def bayes_decisions(self, posteriors: Any) -> Array:
        """Return for each row of class probabilities (in the order of ``classes``) the decision that costs least.

        Of decisions that cost the same, the first.
        """
        prices = np.array([[float(cost) for cost in row] for row in self.matrix])
        return (np.asarray(posteriors, np.float64) @ prices).argmin(axis=-1)

    def __repr__(self) -> str:
        if self.classes is None:
            return f"<Costs of a miss {float(self.matrix[1][0]):g}, of a false alarm {float(self.matrix[0][1]):g}>"
        return f"<Costs of {len(self.classes)} classes × {len(self.decisions or ())} decisions>"


def _meeting(one: tuple[Fraction, Fraction], other: tuple[Fraction, Fraction]) -> Fraction | None:
    """Where another decision becomes cheaper as the probability grows, if it does."""
    ahead, behind = other[0] - one[0], other[1] - one[1]
    return None if behind >= 0 or ahead < 0 else ahead / (ahead - behind)


def _fractions(matrix: Any, classes: Sequence[str], decisions: Sequence[str]) -> tuple[Row, ...]:
    """Check a matrix, cell by cell."""
    rows = [list(row) if isinstance(row, Sequence | np.ndarray) else [row] for row in matrix]
    if len(rows) != len(classes) or any(len(row) != len(decisions) for row in rows):
        shape = f"{len(rows)} × {len(rows[0]) if rows else 0}"
        raise errors.costs_of_wrong_shape(shape, len(classes), len(decisions))
    for name, row in zip(classes, rows, strict=True):
        for decision, cost in zip(decisions, row, strict=True):
            if not is_real(cost) or not math.isfinite(float(cost)):
                raise errors.bad_cost(name, decision, cost)
    return tuple(tuple(_exact(cost) for cost in row) for row in rows)


def _exact(cost: Any) -> Fraction:
    """The number that was written: 0.1 is a tenth."""
    return Fraction(cost) if isinstance(cost, int | Fraction) else Fraction(repr(float(cost)))
