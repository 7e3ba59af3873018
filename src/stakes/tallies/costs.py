"""What each decision costs for each true class."""

import math
import warnings
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from stakes import errors
from stakes.errors import Given, InputError, Pass, nearest, short, some
from stakes.frozen import dataclass
from stakes.records import Record
from stakes.tallies.arithmetic import Array, Values, is_real
from stakes.tallies.bayes import BayesDecisions, cheapest, class_probabilities, round_up
from stakes.tallies.checks import is_one_of, is_sequence
from stakes.tallies.fields import Content
from stakes.tallies.names import canonical
from stakes.tallies.small_files import is_separated, read_matrix, read_toml
from stakes.text import visible

Cell = Fraction | str
"""A cost, or the name of the column that holds the cost of each row."""

Row = tuple[Cell, ...]

_MOST = 1e100
"""Larger costs leave no room for their products."""

_PAIR = ("negative", "positive")
"""The names of the two classes of a miss and a false alarm, as long as no table names them."""


@dataclass(frozen=True, repr=False)
class Costs(Record):
    """K true classes × M decisions, in any unit; a decision may be no class (abstain, "more tests").

    Give ``miss`` and ``false_alarm`` for two classes, or a matrix (rows are the truth) with the names of ``classes``
    and ``decisions``, or a dictionary class → {decision: cost}. Costs are fractions, so that switch points are exact.
    A text in place of a number names a column: what that case costs, such as the amount of a fraud. ``unit`` is what
    costs are counted in, such as "€" or "minutes"; it is written beside them.

    >>> Costs(miss=5, false_alarm=1)
    <Costs of a miss 5, of a false alarm 1>
    >>> scan = Costs([[0, 10, 1000], [500, 20, 0]], ["tumour", "none"], ["operate", "tests", "home"])
    >>> [(decision, float(start)) for decision, start in scan.switch_points("tumour")]
    [('home', 0.0), ('tests', 0.019801980198019802), ('operate', 0.9795918367346939)]
    """

    matrix: Values = None
    classes: Sequence[Values] | None = None
    decisions: Sequence[Values] | None = None
    miss: Values = None
    false_alarm: Values = None
    unit: str = ""

    def __post_init__(self) -> None:
        if not _is_unit(self.unit):
            raise InputError(
                "bad-unit", Given("unit", self.unit), " is no unit of costs; give a short text, such as '€'"
            )
        prices = [price for price in (self.miss, self.false_alarm) if price is not None]
        if len(prices) != (2 if self.matrix is None else 0):
            raise InputError(
                "how-to-give-costs",
                "give Costs(miss=5, false_alarm=1), or a matrix with ",
                Pass("classes"),
                " (rows are the truth), not both",
            )
        if self.matrix is None:
            self._from_prices()
        else:
            self._from_matrix()
        if all(len(set(row)) == 1 for row in self.matrix):  # every decision costs the same: nothing to choose between
            raise errors.costs_of_nothing()
        if self.classes is not None:
            self._warn_of_costly_right_answers()

    def _from_prices(self) -> None:
        """Make the matrix of a miss and a false alarm."""
        for name, price in (("miss", self.miss), ("false_alarm", self.false_alarm)):
            if not isinstance(price, str | bytes) and getattr(price, "__len__", None) is not None:
                raise InputError(
                    "prices-of-rows",
                    Given(name),
                    " holds many costs; where they differ from row to row, name a column of the rows that holds them: ",
                    Pass(name, "amount"),
                )
            if not _is_cost(price, name):
                raise InputError(
                    "bad-price", Given(name, price), " is no cost; give a finite number, or the name of a column"
                )
            if not isinstance(price, str) and price < 0:
                errors.warn(
                    "negative-price",
                    Given(name, price),
                    " is below 0: it would cost less than a right answer; is it a gain?",
                )
        self._set(matrix=_cells([[0, self.false_alarm], [self.miss, 0]], _PAIR, _PAIR))

    def _from_matrix(self) -> None:
        """Check a matrix and the names of its rows and columns."""
        if isinstance(self.matrix, Mapping):
            self._from_names(self.matrix)
        if self.classes is None:
            raise InputError(
                "costs-without-names",
                "a cost matrix needs ",
                Pass("classes"),
                " (and ",
                Pass("decisions"),
                ", if they are not the classes), in its own order",
            )
        for argument, names in (("classes", self.classes), ("decisions", self.decisions)):
            if names is not None and not is_sequence(names):
                raise InputError(
                    "no-list-of-names",
                    Given(argument, names),
                    " of the costs is no list of names; give one name for each",
                )
        classes = tuple(map(canonical, self.classes))
        decisions = classes if self.decisions is None else tuple(map(canonical, self.decisions))
        for names in (classes, decisions):
            if len(set(names)) != len(names) or len(names) < 2:
                raise errors.classes_not_different(names)
        self._set(classes=classes, decisions=decisions, matrix=_cells(self.matrix, classes, decisions))

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _from_names(self, named: Mapping[Values, Values]) -> None:
        """Read class → {decision: cost}; every class needs a cost of every decision."""
        for name, row in named.items():
            if not isinstance(row, Mapping):
                raise InputError(
                    "costs-not-nested",
                    f"the costs of the class {short(repr(name))} are {short(repr(row))}; give them as {{decision: "
                    "cost}, or miss and false_alarm for two classes",
                )
        rows = {canonical(name): {canonical(d): cost for d, cost in row.items()} for name, row in named.items()}
        decisions = list(dict.fromkeys(d for row in rows.values() for d in row))
        for name, row in rows.items():
            missing = [d for d in decisions if d not in row]
            if missing:
                other = next(n for n, r in rows.items() if missing[0] in r)
                only = [d for d in row if not all(d in r for r in rows.values())]
                meant = f", which has {some(only)} instead" if only else ""
                raise InputError(
                    "cost-missing",
                    f"the class {other!r} has a cost of the decision {missing[0]!r}, but the class {name!r} has "
                    f"none{meant}; give every class a cost of every decision",
                )
        cells = [[row[d] for d in decisions] for row in rows.values()]
        self._set(matrix=cells, classes=tuple(rows), decisions=tuple(decisions))

    @classmethod
    def from_utilities(
        cls,
        matrix: Values,
        classes: Sequence[str] | None = None,
        decisions: Sequence[str] | None = None,
        unit: str = "",
    ) -> "Costs":
        """Turn gains into costs: what a decision earns less than the best one for that class."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", errors.InputWarning)  # the best gain is the largest, not the smallest
            gains = cls(matrix, classes, decisions)
        rows = gains.numbers
        return cls([[max(row) - gain for gain in row] for row in rows], gains.classes, gains.decisions, unit=unit)

    @classmethod
    def from_toml(cls, path: object) -> "Costs":
        """Read costs from a file: miss and false_alarm, or a table [costs.CLASS] or [utilities.CLASS] for each class.

        ``unit = "€"`` at the top says what they are counted in.

        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "costs.toml"
        >>> _ = file.write_text("miss = 5\\nfalse_alarm = 1\\n")
        >>> Costs.from_toml(file)
        <Costs of a miss 5, of a false alarm 1>
        """
        return cls._from_tables(read_toml(path), str(path))

    @classmethod
    def from_file(cls, path: object) -> "Costs":
        """Read costs from TOML (see :meth:`from_toml`), or a matrix from a CSV file.

        The first line of the matrix names the decisions, the first column the true classes.

        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "costs.csv"
        >>> _ = file.write_text("truth,operate,tests,home\\ntumour,0,10,1000\\nnone,500,20,0\\n")
        >>> Costs.from_file(file)
        <Costs of 2 classes × 3 decisions>
        """
        return cls(read_matrix(path)) if is_separated(path) else cls.from_toml(path)

    @classmethod
    def _from_tables(cls, read: Content, path: str) -> "Costs":
        read, unit = take_unit(read)
        prices = read.get("costs", read)
        for name in ("costs", "utilities"):
            if not isinstance(read.get(name, {}), Mapping):
                raise InputError(
                    "costs-not-a-table",
                    f"{path!r}: {name} = {short(repr(read[name]))} is no table; write [{name}.CLASS] with decision = "
                    "number for each",
                )
        if "utilities" in read and "costs" in read:
            raise InputError("costs-and-utilities", f"{path!r} holds costs and utilities; keep one of them")
        if "utilities" in read:
            return cls.from_utilities(read["utilities"], unit=unit)
        if {"miss", "false_alarm"} & set(prices) or (prices is read and prices):
            for name in prices:
                if name not in ("miss", "false_alarm"):
                    close = nearest(name, ["miss", "false_alarm", "costs", "utilities", "unit"])
                    raise InputError(
                        "no-such-cost",
                        f"{path!r}: {name!r} is no cost{close if 'mean' in close else ''}; write miss = 5 and "
                        "false_alarm = 1, or a table [costs.CLASS] with decision = cost for each class",
                    )
            for name in ("miss", "false_alarm"):
                if name not in prices:
                    raise errors.price_missing(name)
            return cls(miss=prices["miss"], false_alarm=prices["false_alarm"], unit=unit)
        if prices is read or not prices:
            raise InputError(
                "no-costs-in-file",
                f"{path!r} holds no costs; write miss = 5 and false_alarm = 1, or a table [costs.CLASS] with decision "
                "= cost for each class",
            )
        return cls(prices, unit=unit)

    def _warn_of_costly_right_answers(self) -> None:
        """A right answer that costs more than a wrong one is more likely a gain, or a transposed matrix."""
        classes, decisions = self._names
        for name, row in zip(classes, self.matrix, strict=True):
            known = {d: cost for d, cost in zip(decisions, row, strict=True) if not isinstance(cost, str)}
            best = min(known, key=known.__getitem__, default=None)
            if name in known and best is not None and known[name] > known[best]:
                errors.warn(
                    "dear-right-answer",
                    f"for the class {name!r} the decision {name!r} costs {float(known[name]):g}, more than {best!r} "
                    f"({float(known[best]):g}); rows are the truth, and gains become costs with Costs.from_utilities()",
                )
                return

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that hold costs of single rows."""
        return tuple(dict.fromkeys(cell for row in self.matrix for cell in row if isinstance(cell, str)))

    @property
    def numbers(self) -> tuple[tuple[Fraction, ...], ...]:
        """The matrix, when every cost is the same for all rows."""
        if self.columns:
            raise errors.costs_by_row(self.columns)
        return tuple(self.matrix)

    @property
    def _names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The classes and the decisions."""
        return tuple(self.classes or _PAIR), tuple(self.decisions or _PAIR)

    # ── fitted to a table ────────────────────────────────────────────────────────────────────────────────────
    def for_table(self, truths: Sequence[str], decisions: Sequence[str], positive: str | None) -> list[Row]:
        """Return the costs in the order of a table's truths and decisions, or say which name does not fit."""
        if self.classes is None:
            if positive is None and len(truths) == 2 and set(decisions) <= set(truths):
                raise errors.which_positive(truths)
            if positive is None or len(truths) != 2 or not set(decisions) <= set(truths):
                raise InputError(
                    "costs-of-two-classes",
                    f"miss and false_alarm are for two classes, and there are {len(truths)} classes and "
                    f"{len(decisions)} decisions; give what every decision costs for every class in ",
                    Pass("costs"),
                )
            place = {name: int(name == positive) for name in (*truths, *decisions)}
            return [tuple(self.matrix[place[t]][place[d]] for d in decisions) for t in truths]
        classes, possible = self._names
        for what, wanted, known in (("class", truths, classes), ("decision", decisions, possible)):
            strange = [name for name in wanted if name not in known]
            if strange and what == "class" and set(truths) <= set(possible):
                raise InputError(
                    "costs-transposed",
                    f"the costs know {strange[0]!r} as a decision, but it is a class of these rows; the cell of truth "
                    f"{classes[0]!r} and decision {possible[0]!r} seems to stand in a transposed matrix: rows are the "
                    "truth, columns the decisions",
                )
            if strange:
                raise InputError("no-cost-for", f"the costs have no {what} {strange[0]!r}{nearest(strange[0], known)}")
        columns = [possible.index(name) for name in decisions]
        return [tuple(self.matrix[classes.index(name)][j] for j in columns) for name in truths]

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

    def never_cheapest(self) -> list[str]:
        """Return the decisions that are never worth taking, whatever the probabilities of the classes."""
        if self.columns:
            return []
        if self.classes is None or len(self.classes) == 2:
            positive = None if self.classes is None else self.classes[0]
            taken = {name for name, _ in self.switch_points(positive)}
            return [name for name in self._lines(positive)[0] if name not in taken]
        prices = np.array(self.matrix, np.float64)
        return [name for d, name in enumerate(self._names[1]) if not _ever_cheapest(prices, d)]

    def _lines(self, positive: str | None) -> tuple[Sequence[str], list[tuple[Fraction, Fraction]]]:
        """The decisions, and what each costs when surely negative and when surely positive."""
        if self.classes is None:
            return _PAIR, list(zip(*self.numbers, strict=True))
        if len(self.classes) != 2 or not is_one_of(positive, self.classes):
            raise InputError(
                "switch-points-of-two",
                "switch points are for two classes with ",
                Pass("positive"),
                f" one of them; there is {some(self.classes)}, {short(repr(positive))}",
            )
        classes, decisions = self._names
        row, numbers = classes.index(positive), self.numbers
        return decisions, list(zip(numbers[1 - row], numbers[row], strict=True))

    # ── any number of classes ────────────────────────────────────────────────────────────────────────────────
    def bayes_decisions(self, posteriors: Values, positive: str | None = None) -> BayesDecisions:
        """Return the decision that costs least at these class probabilities, and what each would be expected to cost.

        ``posteriors`` are a row with a number for each class (in the order of ``classes``), a table of such rows, or a
        dictionary (or data frame) of numbers or columns by class. Of two classes a number, or a column of numbers, is
        the probability of the ``positive`` one. The probabilities of a row add up to 1 within a thousandth.

        Of decisions that cost the same, the one that costs less should the positive class be the truth is taken, as
        everywhere (a score at the threshold decides positive); without a positive class, the first.

        >>> scan = Costs([[0, 10, 1000], [500, 20, 0]], ["tumour", "none"], ["operate", "tests", "home"])
        >>> found = scan.bayes_decisions({"tumour": 0.3, "none": 0.7})
        >>> found.decision, found.expected
        ('tests', {'operate': 350.0, 'tests': 17.0, 'home': 300.0})
        >>> list(scan.bayes_decisions([0.01, 0.5, 0.99], positive="tumour"))
        ['home', 'tests', 'operate']
        """
        (classes, decisions), named = self._names, positive is not None
        positive = self._positive(positive)
        rows, single = class_probabilities(posteriors, classes, positive, column=named)
        prices = np.array(self.numbers, np.float64)
        expected = rows @ prices
        if len(classes) == 2 and positive is not None:
            starts = self.switch_points(positive)
            places = np.searchsorted([round_up(p) for _, p in starts[1:]], rows[:, classes.index(positive)], "right")
            taken = np.array([decisions.index(name) for name, _ in starts])[places]
        else:
            taken = cheapest(expected)
        return BayesDecisions(decisions, taken, expected, single)

    def _positive(self, named: object) -> str | None:
        """The positive class of two, if it is known."""
        classes, _ = self._names
        if named is None:
            return None if self.classes is not None or len(classes) != 2 else classes[1]
        if canonical(named) not in classes:
            raise errors.no_such_class(named, classes)
        return canonical(named)

    def data(self) -> dict[str, object]:
        """Return plain numbers and names: of errors by name, or of the whole matrix."""
        matrix = [[cell if isinstance(cell, str) else float(cell) for cell in row] for row in self.matrix]
        unit = {"unit": self.unit} if self.unit else {}
        if self.classes is None:
            return {"miss": matrix[1][0], "false_alarm": matrix[0][1], **unit}
        classes, decisions = map(list, self._names)
        return {"classes": classes, "decisions": decisions, "matrix": matrix, **unit}

    @property
    def words(self) -> str:
        """The costs in a few words."""
        unit = f" {self.unit}" if self.unit else ""
        if self.classes is None:
            return f"a miss {show_cell(self.matrix[1][0])}{unit}, a false alarm {show_cell(self.matrix[0][1])}{unit}"
        return f"{len(self.classes)} classes × {len(self._names[1])} decisions" + (unit and f", in{unit}")

    @property
    def in_full(self) -> str:
        """Every cost in words, which identifies the matrix."""
        classes, decisions = self._names
        return "; ".join(
            f"{name}: {', '.join(f'{decision} {price}' for decision, price in zip(decisions, row, strict=True))}"
            for name, row in zip(classes, self.matrix, strict=True)
        )

    def __repr__(self) -> str:
        return visible(f"<Costs of {self.words.replace(', a', ', of a')}>")


def _meeting(one: tuple[Fraction, Fraction], other: tuple[Fraction, Fraction]) -> Fraction | None:
    """Where another decision becomes cheaper as the probability grows, if it does."""
    ahead, behind = other[0] - one[0], other[1] - one[1]
    return None if behind >= 0 or ahead < 0 else ahead / (ahead - behind)


def show_cell(cell: Cell) -> str:
    """Write a cost, or the name of its column."""
    return f"{cell!r}" if isinstance(cell, str) else f"{float(cell):g}"


_LONGEST_UNIT = 20


def _is_unit(unit: object) -> bool:
    return isinstance(unit, str) and len(unit) <= _LONGEST_UNIT and unit == unit.strip() and unit.isprintable()


def take_unit(written: Content) -> tuple[Content, str]:
    """Take the unit out of costs as a file has them; a table of that name is a class."""
    unit = written.get("unit", "")
    if isinstance(unit, Mapping):
        return written, ""
    return {name: part for name, part in written.items() if name != "unit"}, unit


def _ever_cheapest(prices: Array, decision: int) -> bool:
    """Whether some probabilities of the classes make a decision as cheap as any other (a linear program)."""
    from scipy.optimize import linprog

    others = np.delete(prices, decision, axis=1)
    gaps = (prices[:, [decision]] - others).T / max(float(np.abs(prices).max()), 1e-300)
    classes = len(prices)
    found = linprog(
        np.append(np.zeros(classes), 1.0),  # the least lead that the best of the others can have
        A_ub=np.column_stack([gaps, -np.ones(len(gaps))]),
        b_ub=np.zeros(len(gaps)),
        A_eq=[np.append(np.ones(classes), 0.0)],
        b_eq=[1.0],
        bounds=[(0, 1)] * classes + [(None, None)],
    )
    return bool(found.fun <= 1e-9)


def _cells(matrix: Values, classes: Sequence[str], decisions: Sequence[str]) -> tuple[Row, ...]:
    """Check a matrix, cell by cell."""
    if not is_sequence(matrix):
        raise errors.costs_of_wrong_shape(f"{type(matrix).__name__}", len(classes), len(decisions))
    rows = [list(row) if is_sequence(row) else [row] for row in matrix]
    lengths = sorted({len(row) for row in rows}, reverse=True)
    if len(lengths) > 1:
        raise InputError(
            "ragged-costs",
            f"the cost matrix has rows of different lengths ({' and '.join(map(str, lengths))}); rows are the truth, "
            "columns the decisions: give every class a cost of every decision",
        )
    if len(rows) != len(classes) or any(len(row) != len(decisions) for row in rows):
        shape = f"{len(rows)} × {len(rows[0]) if rows else 0}"
        raise errors.costs_of_wrong_shape(shape, len(classes), len(decisions))
    for name, row in zip(classes, rows, strict=True):
        for decision, cost in zip(decisions, row, strict=True):
            if not _is_cost(cost, f"{name} → {decision}"):
                raise InputError(
                    "bad-cost",
                    f"the cost of {decision!r} for the class {name!r} is {short(repr(cost))}; give a finite number, "
                    "or the name of a column",
                )
    return tuple(tuple(cost if isinstance(cost, str) else as_fraction(cost) for cost in row) for row in rows)


def _is_cost(cost: object, called: str) -> bool:
    """Whether a cost is a finite number, or the name of a column; refuse numbers that are too large or too small."""
    if is_real(cost) and (_MOST < abs(cost) < math.inf or 0 < float(abs(cost)) < 1 / _MOST):
        raise InputError(
            "huge-cost", Given(called, cost), " is beyond 1e100, or nearer to 0 than 1e-100; rescale the costs"
        )
    return bool(cost.strip()) if isinstance(cost, str) else is_real(cost) and abs(cost) <= _MOST


def as_fraction(cost: float | Fraction) -> Fraction:
    """Return the number that was written: 0.1 is a tenth."""
    return Fraction(cost) if isinstance(cost, int | Fraction) else Fraction(repr(float(cost)))
