"""What each row of predicted numbers adds to the figures: its terms, each a formula of others, written once.

The formulas hold for arrays in memory, for tensors where they lie, and for the columns of another engine; each of them
spells the few operations in its own way.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from stakes.frozen import dataclass
from stakes.tallies.arithmetic import Array
from stakes.tallies.moments import Power, differences

Term = Any
"""A column of numbers: an array, or what another engine makes of its columns."""

Room = Callable[[str], Term]
"""Where the term of a name is to be written, if anywhere."""

FORMULAS: dict[str, tuple[str, ...]] = {
    "one": ("ones_like", "t"),
    "error": ("subtract", "t", "p"),
    "size": ("abs", "error"),
    "square": ("multiply", "error", "error"),
    "truth": ("subtract", "t", "centre"),
    "truth2": ("multiply", "truth", "truth"),
    "cross": ("multiply", "truth", "error"),
    "prediction": ("subtract", "p", "predicted centre"),
    "prediction2": ("multiply", "prediction", "prediction"),
    "product": ("multiply", "truth", "prediction"),
    "beyond": ("subtract", "t", "baseline"),
    "away": ("abs", "beyond"),
    "sign": ("sign", "beyond"),
    "log t": ("log1p", "t"),
    "log p": ("log1p", "p"),
    "log baseline": ("log1p", "baseline"),
    "log": ("subtract", "log t", "log p"),
    "logs": ("multiply", "log", "log"),
    "log away": ("subtract", "log t", "log baseline"),
    "logs away": ("multiply", "log away", "log away"),
    "whole": ("whole", "t"),
    "share": ("divide", "size", "whole"),
    "share away": ("divide", "away", "whole"),
    "sign share": ("divide", "sign", "whole"),
}
"""Each term as an operation on others, from truth (t) and prediction (p), their centres and what a baseline predicts.

Counting truths and predictions from centres keeps their digits. Shares are those of |t|, and 0 where that is 0.
"""

TERMS = ("one", "size", "error", "square", "truth", "truth2", "cross", "away", "logs", "share")
"""What every figure is a function of: the means of these."""

COLUMNS = (
    "logs away", "share away", "sign share", "log away", "prediction",
    "one", "error", "truth", "size", "cross", "away", "sign", "square", "truth2", "logs", "share",
)  # fmt: skip
"""The same in the order in which they are multiplied, after what else is added up of rows that are read once.

The last four grow without end.
"""

BETWEEN = ("beyond", "log t", "log p", "log", "whole")
"""What columns are made from, beside truth, prediction and other columns."""

IN_ORDER = [COLUMNS.index(name) for name in TERMS]
"""Where the terms stand among the columns."""

MOMENTS: dict[str, Power] = {
    "one": (0, 0, 0, 0), "size": (1, 0, 0, 0), "error": (0, 1, 0, 0), "square": (0, 2, 0, 0), "truth": (0, 0, 1, 0),
    "truth2": (0, 0, 2, 0), "prediction": (0, 0, 0, 1), "prediction2": (0, 0, 0, 2), "product": (0, 0, 1, 1),
}  # fmt: skip
"""The terms that are products of powers of |error|, error, truth and prediction."""

OWN = tuple(TERMS.index(name) for name in ("size", "error", "square", "cross", "logs", "share"))
"""The terms that depend on what is predicted."""


@dataclass(frozen=True)
class Origin:
    """From where truths are counted, what a baseline always predicts, and from where predictions are counted.

    Predictions have a centre of their own: where they lie far from the truths, squares about that of the truths would
    lose the digits that a correlation needs.
    """

    centre: float = 0.0
    baseline: float = 0.0
    predicted: float = 0.0


_NOWHERE, _no_room = Origin(), dict[str, Term]().get


class Terms(dict[str, Term]):
    """The terms of some rows, each made when it is asked for; some are given, truth and prediction at least."""

    def __missing__(self, name: str) -> Term:
        operation, *of = FORMULAS[name]
        self[name] = found = self._made(name, operation, *(self[one] for one in of))
        return found

    def _made(self, name: str, operation: str, *of: Term) -> Term:
        raise NotImplementedError


class ArrayTerms(Terms):
    """Those of arrays, of any library that spells operations as NumPy does; what has ``room`` is made there.

    Without ``logs`` those are 0: where one of them does not exist no figure is asked for.
    """

    def __init__(
        self, truth: Term, prediction: Term, at: Origin, logs: bool = True, xp: Any = np, room: Room = _no_room
    ) -> None:
        super().__init__({"t": truth, "p": prediction, "centre": at.centre, "predicted centre": at.predicted})
        has_log = logs and at.baseline > -1
        self["baseline"], self["log baseline"] = at.baseline, math.log1p(at.baseline) if has_log else 0.0
        self._logs, self._xp, self._room = logs, xp, room

    def __missing__(self, name: str) -> Term:
        with np.errstate(over="ignore"):  # a share of a truth next to 0 may be endless
            return super().__missing__(name)

    def _made(self, name: str, operation: str, *of: Term) -> Term:
        if operation == "ones_like" or (operation == "log1p" and not self._logs):
            return (self._xp.ones_like if name == "one" else self._xp.zeros_like)(*of)
        if operation == "whole":
            return whole(self._xp, of[0], out=self._room(name))
        return getattr(self._xp, operation)(*of, out=self._room(name))


def whole(xp: Any, truth: Term, out: Term) -> Term:
    """What shares are shares of, so that they are 0 where that is."""
    found = xp.abs(truth, out=out)
    if not truth.all():
        found[truth == 0] = math.inf
    return found


@cache
def steps_to(names: tuple[str, ...]) -> Sequence[tuple[str, str, Sequence[str]]]:
    """Which terms are made of which, and how: those of these names, each after the others that it is made of."""
    steps: dict[str, tuple[str, str, Sequence[str]]] = {}
    for name in names:
        operation, *of = FORMULAS[name]
        before = tuple(one for one in of if one in FORMULAS)
        steps |= {step[0]: step for step in steps_to(before)} | {name: (name, operation, of)}
    return [*steps.values()]


def terms_of(truth: Array, prediction: Array, at: Origin = _NOWHERE, logs: bool = True) -> Terms:
    """The terms of rows in memory."""
    t, p = (column.astype(np.float64, copy=False) for column in (truth, prediction))
    found = ArrayTerms(t, p, at, logs)
    if "f" not in (truth.dtype.kind, prediction.dtype.kind):
        found["error"] = differences(truth, prediction)
    return found


def weighed_terms(truth: Array, prediction: Array, weight: Array | None, at: Origin) -> tuple[Array, Array]:
    """All terms of rows in memory and the signs of truth − baseline, times their weights: terms × rows."""
    terms = terms_of(truth, prediction, at, min(truth.min(), prediction.min()) > -1)
    found = np.stack([terms[name] for name in (*TERMS, "sign")])
    if weight is not None:
        found *= weight
    return found[:-1], found[-1]


def move(
    sums: Array, names: Sequence[str], by: float, drop: float = 0.0, logs: float = 0.0, predicted: float = 0.0
) -> None:
    """Move sums by term (the first axis), in place, to a centre of the truth that is lower by ``by``.

    ``drop`` is by how much the baseline is lower, where no truth lies between the two, and ``logs`` log1p of it;
    ``predicted`` is by how much the centre of predictions is lower.
    """
    parts = {
        "truth2": {"truth": 2 * by, "one": by * by}, "truth": {"one": by}, "prediction": {"one": predicted},
        "cross": {"error": by}, "away": {"sign": drop}, "share away": {"sign share": drop},
        "logs away": {"log away": 2 * logs, "one": logs * logs}, "log away": {"one": logs},
    }  # fmt: skip
    for name, part in parts.items():  # squares first, as long as what they are squares of is what it was
        for other, factor in part.items():
            if factor and name in names:  # 0 times what is endless would be no number
                sums[names.index(name)] += factor * sums[names.index(other)]
