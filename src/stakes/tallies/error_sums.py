"""Errors of a regression added up: moments of truth, prediction and error, carried without rounding."""

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property
from typing import Self, TypeVar

import numpy as np

from stakes import errors
from stakes.errors import About, InputError
from stakes.tallies import bins
from stakes.tallies.arithmetic import Array, Number, Values, finite, weighted_sum
from stakes.tallies.base import Tally
from stakes.tallies.checks import as_rows, check_baseline
from stakes.tallies.fields import TOTAL, WEIGHTED, Content, how
from stakes.tallies.moments import COLUMN, Moments, product_of
from stakes.tallies.moments import Power as Power

T = TypeVar("T")

Cell = tuple[int, int]
"""The bins of a truth and a prediction."""

_PICTURE_BITS = 5
"""For pictures each power of two is cut into 2⁵ bins."""

PARTS = ("prediction", "order 4", "rows", "logs", "percentages", "worst", "histogram", "baseline")
"""What can be counted beyond the means and squares of error and truth."""

WORST = 20
"""How many of the largest errors are kept with their rows."""

_BLOCK = 1 << 15
_POWERS: dict[str, tuple[Power, ...]] = {
    "": ((0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 2, 0, 0), (0, 0, 1, 0), (0, 0, 2, 0)),
    "prediction": ((0, 0, 0, 1), (0, 0, 0, 2), (0, 0, 1, 1)),
    "order 4": tuple((a, e, t, 0) for a, e, t in itertools.product(range(2), range(5), range(5)) if 1 < a + e + t <= 4),
}


@dataclass(frozen=True)
class WorstError:
    """One of the largest errors: where it is, and what was said instead of what."""

    row: int
    truth: float
    prediction: float
    error: float


@dataclass(frozen=True, eq=False)
class ErrorRows:
    """The rows themselves, for figures that no sums give."""

    truth: Array
    prediction: Array
    weight: Array | None = None

    @cached_property
    def sizes(self) -> Array:
        """All |errors|."""
        return np.abs(_differences(self.truth, self.prediction))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Put the rows of all parts one after another."""
        weights = [part.weight for part in parts if part.weight is not None]
        return cls(
            np.concatenate([part.truth for part in parts]),
            np.concatenate([part.prediction for part in parts]),
            np.concatenate(weights) if weights else None,
        )

    def saved(self) -> list[Array | None]:
        """Return the columns."""
        return [self.truth, self.prediction, self.weight]

    @classmethod
    def restored(cls, saved: Iterable[Values]) -> Self:
        """Restore what :meth:`saved` gave."""
        truth, prediction, weight = saved
        columns = [np.asarray(column) for column in (truth, prediction, *([] if weight is None else [weight]))]
        if any(c.ndim != 1 or len(c) != len(columns[0]) or not finite(c) for c in columns):
            raise ValueError("rows")
        return cls(*columns)


def _merge(parts: Iterable[Mapping[Cell, float]]) -> dict[Cell, float]:
    whole: dict[Cell, float] = {}
    for part in parts:
        for cell, count in part.items():
            whole[cell] = whole.get(cell, 0) + count
    return whole


def _numbers(entries: Sequence[Sequence[T]]) -> Sequence[Sequence[T]]:
    """Check entries that consist of numbers."""
    if not all(isinstance(number, int | float) for entry in entries for number in entry):
        raise ValueError("the worst errors or the histogram")
    return entries


def _worst(candidates: Iterable[WorstError]) -> tuple[WorstError, ...]:
    return tuple(sorted(candidates, key=lambda w: (-abs(w.error), w.row))[:WORST])


_MOMENTS = how(
    add=lambda parts: {power: sum((part[power] for part in parts), Fraction(0)) for power in parts[0]},
    save=lambda moments: [[*power, value.numerator, value.denominator] for power, value in sorted(moments.items())],
    load=lambda saved: {tuple(entry[:4]): Fraction(entry[4], entry[5]) for entry in saved},
)
_LOGS = how(
    add=math.fsum,
    save=lambda logs: "none" if math.isnan(logs) else logs,
    load=lambda saved: math.nan if saved == "none" else saved,
)
_ROWS = how(add=ErrorRows.joined, save=ErrorRows.saved, load=ErrorRows.restored)
_WORST = how(
    add=lambda parts: _worst(itertools.chain(*parts)),
    save=lambda worst: [[w.row, w.truth, w.prediction, w.error] for w in worst],
    load=lambda saved: tuple(WorstError(*entry) for entry in _numbers(saved)),
)
_HISTOGRAM = how(
    add=_merge,
    save=lambda histogram: [[*cell, count] for cell, count in sorted(histogram.items())],
    load=lambda saved: {(t, p): count for t, p, count in _numbers(saved)},
)
_CONSTANT = how(
    add=lambda parts: type(parts[0]).sum(parts),
    save=lambda constant: replace(constant, rows=None).saved(),
    load=lambda saved: ErrorSums.from_dict(saved),
)


@dataclass(frozen=True, eq=False)
class ErrorSums(Tally):
    """What a regression's figures are functions of; error = truth − prediction.

    ``moments[a, e, t, p]`` is the (weighted) sum of |error|ᵃ·errorᵉ·truthᵗ·predictionᵖ, added up about a centre of the
    data and moved to 0 in fractions, so that a large offset costs no digits. ``rows`` are the rows themselves, for the
    median and for resampling; ``histogram`` counts truth × prediction on a fixed grid, for pictures (``picture`` gives
    its edges). ``zeros`` is how many truths are 0, of which no share can be taken: ``percentages`` are those of the
    others. ``constant`` are the sums of always predicting ``baseline``: what
    ignoring the input scores. A part that was not counted is None.
    """

    moments: Mapping[Power, Number] = field(metadata=_MOMENTS)
    largest: Number = field(metadata=how(add=max))
    squared_logs: Number = field(default=None, metadata=_LOGS)
    percentages: Number = field(default=None, metadata=TOTAL)
    rows: ErrorRows | None = field(default=None, metadata=_ROWS)
    worst: tuple[WorstError, ...] | None = field(default=None, metadata=_WORST)
    histogram: Mapping[Cell, float] | None = field(default=None, metadata=_HISTOGRAM)
    baseline: float | None = field(default=None, metadata=how())
    baseline_given: bool = field(default=False, metadata=how())
    constant: "ErrorSums | None" = field(default=None, metadata=_CONSTANT)
    weighted: bool = field(default=False, metadata=WEIGHTED)
    zeros: int | None = field(default=None, metadata=how(add=sum))

    kind = "errors"

    @classmethod
    def from_rows(
        cls,
        truth: Array,
        prediction: Array,
        weight: Array | None = None,
        *,
        baseline: float | None = None,
        places: Array | None = None,
        parts: Collection[str] | None = None,
        at_once: bool = True,
    ) -> Self:
        """Add up the rows of two columns of finite numbers, with the parts that are wanted (otherwise all).

        ``places`` are the numbers of the rows in the whole, where these are only some of them. Unless ``at_once`` a
        sum of few rows is made when it is asked for, of columns that nobody changes until then.
        """
        parts = PARTS if parts is None else parts
        truth, prediction = as_rows(truth=truth, prediction=prediction)
        if weight is not None:
            weight = as_rows(truth=truth, weight=weight)[1]
        if baseline is not None:
            check_baseline(baseline)
        if not len(truth):
            raise errors.empty("truth")
        sums = cls(**_add_up(truth, prediction, weight, parts, at_once), weighted=weight is not None)
        if places is not None and sums.worst is not None:
            worst = tuple(replace(w, row=int(places[w.row])) for w in sums.worst)
            sums = replace(sums, worst=worst)
        if "rows" in parts:  # copies: the caller's columns may change
            own = ErrorRows(np.array(truth), np.array(prediction), None if weight is None else np.array(weight))
            sums = replace(sums, rows=own)
        return sums._compare(truth, weight, baseline) if "baseline" in parts else sums

    def _compare(self, truth: Array, weight: Array | None, baseline: float | None) -> Self:
        """Return the same sums beside those of always predicting the baseline, or else the mean."""
        value = float(self.mean(t=1)) if baseline is None else float(baseline)
        always = np.broadcast_to(np.float64(value), len(truth))
        wanted = [part for part in ("logs", "percentages", "prediction") if self.has(part)]
        constant = type(self)(
            **_add_up(truth, always, weight, wanted),
            rows=None if self.rows is None else ErrorRows(truth, always, weight),
            weighted=weight is not None,
        )
        return replace(self, baseline=value, baseline_given=baseline is not None, constant=constant)

    @property
    def leading(self) -> tuple[int, ...]:
        """The leading axes: () for the sums of some rows, exact; sums with leading axes are float64 arrays."""
        shape: tuple[int, ...] = getattr(self.moments[0, 0, 0, 0], "shape", ())
        return shape

    # ── what it is ───────────────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def total(self) -> Number:
        """The (weighted) number of rows."""
        total = self.moments[0, 0, 0, 0]
        return total if self.weighted or self.leading else int(total)

    @property
    def equal_rows(self) -> float:
        """How many rows of equal weight would tell as much (Kish)."""
        if self.rows is None or self.rows.weight is None:
            return float(self.total)
        return float(self.total) ** 2 / float((self.rows.weight.astype(np.float64) ** 2).sum())

    def has(self, part: str) -> bool:
        """Whether a part was counted."""
        if part in _POWERS:
            return set(_POWERS[part]) <= set(self.moments)
        held = {"logs": self.squared_logs, "baseline": self.constant}
        return (held[part] if part in held else getattr(self, part)) is not None

    def sum_of(self, a: int = 0, e: int = 0, t: int = 0, p: int = 0) -> Number:
        """The sum of |error|ᵃ·errorᵉ·truthᵗ·predictionᵖ."""
        return self.moments[a, e, t, p]

    def mean(self, **powers: int) -> Number:
        """The mean of |error|ᵃ·errorᵉ·truthᵗ·predictionᵖ."""
        return self.sum_of(**powers) / self.moments[0, 0, 0, 0]

    def mean_of(self, loss: Callable[[Array, Array], Array]) -> float:
        """The (weighted) mean of what each row adds, from its truth and its prediction; NaN where no rows were kept."""
        if self.rows is None:
            return math.nan
        found = np.asarray(loss(self.rows.truth.astype(np.float64), self.rows.prediction.astype(np.float64)))
        return float(np.average(found, weights=self.rows.weight))

    def spread(self, one: str, other: str | None = None) -> Number:
        """The sum of products of deviations from the mean: n times a variance or covariance."""
        x, y, sums = COLUMN[one], COLUMN[other or one], self.moments
        if isinstance(sums, Moments):
            spread: Number = sums.spread(x, y)
        else:
            spread = sums[product_of(x, y)] - sums[x] * sums[y] / sums[0, 0, 0, 0]
        if x != y:
            return spread
        return np.maximum(spread, 0) if self.leading else max(spread, Fraction(0))

    @cached_property
    def median(self) -> float:
        """The median |error|; with weights, where half of the weight lies on either side."""
        if self.rows is None:
            return math.nan
        sizes, weight = self.rows.sizes, self.rows.weight
        if weight is None:
            return float(np.median(sizes))
        order = np.argsort(sizes, kind="stable")
        sizes, reached = sizes[order], np.cumsum(weight[order])
        half = reached[-1] / 2
        place = int(np.searchsorted(reached, half * (1 - 1e-12)))
        if abs(reached[place] - half) <= half * 1e-12:  # half of the weight lies on either side
            return float(sizes[place] / 2 + sizes[place + 1] / 2)
        return float(sizes[place])

    def moved_down(self, rows: int) -> Self:
        """Return the same sums with the row numbers of the largest errors counted from an earlier row."""
        if self.worst is None:
            return self
        return replace(self, worst=tuple(replace(worst, row=worst.row + rows) for worst in self.worst))

    def picture(self) -> list[tuple[float, float, float]]:
        """Return the histogram as (truth, prediction, count): lower edges of the bins that are not empty."""
        lower, _, counts = self.boxes()
        return [(float(t), float(p), float(count)) for (t, p), count in zip(lower, counts, strict=True)]

    def boxes(self) -> tuple[Array, Array, Array]:
        """Return the bins of the histogram that are not empty: lower and upper edges of both columns, and counts."""
        cells = sorted((self.histogram or {}).items())
        found = np.array([cell for cell, _ in cells], np.int64).reshape(-1, 2)
        lower, upper = (bins.edges(found + step, "line", _PICTURE_BITS) for step in (0, 1))
        return lower, upper, np.array([count for _, count in cells], np.float64)

    def anonymise(self, minimum: float) -> Self:
        """Return the sums alone: rows, the worst of them, and a histogram whose cells are small stay at home."""
        constant = None if self.constant is None else replace(self.constant, rows=None)
        return replace(self, rows=None, worst=None, histogram=None, constant=constant)

    # ── a tally like any other ───────────────────────────────────────────────────────────────────────────────
    def _question(self) -> dict[str, object]:
        return {
            **super()._question(),
            "the list of parts": [part for part in PARTS if part != "baseline" and self.has(part)],
            "the baseline": self.baseline if self.baseline_given else "the mean",
        }

    @classmethod
    def _sum(cls, parts: list[Self]) -> Self:
        """Add up; about the mean of all, which no part knew, only rows can be summed again."""
        whole = super()._sum(parts)
        if whole.baseline_given and whole.constant is not None:
            return whole
        whole = replace(whole, baseline=None, constant=None)
        if whole.rows is None or not any(part.constant for part in parts):
            return whole
        return whole._compare(whole.rows.truth, whole.rows.weight, None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ErrorSums):
            return NotImplemented
        return _in_order(self.to_dict()) == _in_order(other.to_dict())

    @classmethod
    def _restored(cls, content: Content) -> Self:
        sums = super()._restored(content)
        if sums.rows is None or sums.constant is None:
            return sums
        always = np.broadcast_to(np.float64(sums.baseline), len(sums.rows.truth))
        return replace(sums, constant=replace(sums.constant, rows=ErrorRows(sums.rows.truth, always, sums.rows.weight)))

    def check(self) -> None:
        """Refuse sums that no rows give."""
        if set(_POWERS[""]) - set(self.moments) or self.moments[0, 0, 0, 0] <= 0 or not 0 <= self.largest < math.inf:
            raise ValueError("moments")
        logs, shares = (0.0 if part is None else part for part in (self.squared_logs, self.percentages))
        if logs < 0 or not shares >= 0:
            raise ValueError("sums of squares or sizes below 0")
        if self.zeros is not None and (type(self.zeros) is not int or self.zeros < 0):
            raise ValueError("the number of zeros")

    def __str__(self) -> str:
        return f"<ErrorSums of {float(self.total):,.15g} rows>"


def _in_order(saved: Content) -> Content:
    """Forget the order of rows, which no figure sees."""
    rows, constant = saved["rows"], saved["constant"]
    columns = None if rows is None else [column for column in rows if column is not None]
    return {
        **saved,
        "rows": None if columns is None else sorted(zip(*columns, strict=True)),
        "worst": None,
        "constant": None if constant is None else _in_order(constant),
    }


# ── one pass over the rows ───────────────────────────────────────────────────────────────────────────────────────
def _add_up(
    truth: Array, prediction: Array, weight: Array | None, parts: Collection[str], at_once: bool = True
) -> Content:
    extremes = [_extreme(column) for column in (truth, prediction)]
    if not math.isfinite(sum(extremes) + (0.0 if weight is None else float(weight.sum()))):
        raise InputError(
            "errors-beyond-floats",
            About("truth"),
            " and prediction (or weights) are no numbers, or too far apart for a float; scale them down",
        )
    moments = Moments(_powers(tuple(parts)), extremes)
    room: dict[Power, Array] | None = {} if at_once or len(truth) > _BLOCK else None
    largest, zeros, logs, percentages = 0.0, 0, [], []
    worst: tuple[WorstError, ...] = ()
    pictures: list[dict[Cell, float]] = []
    for start in range(0, len(truth), _BLOCK):
        rows = slice(start, start + _BLOCK)
        t, p, w = truth[rows], prediction[rows], None if weight is None else weight[rows]
        error = _differences(t, p)
        t, p = t.astype(np.float64, copy=False), p.astype(np.float64, copy=False)
        size = np.abs(error)
        moments.add((size, error, t, p), w, room)
        here = float(size.max())
        if "logs" in parts:
            logs.append(_squared_logs(t, p, w))
        if "percentages" in parts:
            zeros += len(t) - int(np.count_nonzero(t))
            percentages.append(weighted_sum(percentage(size, t), w))
        if "worst" in parts and (len(worst) < WORST or here > abs(worst[-1].error)):
            worst = _worst([*worst, *_worst_of_block(start, size, error, t, p)])
        if "histogram" in parts:
            pictures.append(_cells(t, p, w))
        largest = max(largest, here)
    return {
        "moments": moments,
        "largest": largest,
        "squared_logs": math.fsum(logs) if "logs" in parts else None,
        "percentages": math.fsum(percentages) if "percentages" in parts else None,
        "zeros": zeros if "percentages" in parts else None,
        "worst": worst if "worst" in parts else None,
        "histogram": _merge(pictures) if "histogram" in parts else None,
    }


@cache
def _powers(parts: tuple[str, ...]) -> Sequence[Power]:
    return list(dict.fromkeys(power for part in ("", *parts) for power in _POWERS.get(part, ())))


def percentage(size: Array, truth: Array) -> Array:
    """Return |error| as a share of the truth; 0 where the truth is, which has no shares."""
    with np.errstate(over="ignore"):
        return np.divide(size, np.abs(truth), out=np.zeros(len(size)), where=truth != 0)


def _cells(truth: Array, prediction: Array, weight: Array | None) -> dict[Cell, float]:
    """Count a block on the grid of pictures."""
    t, p = (bins.numbers(column, "line", _PICTURE_BITS) for column in (truth, prediction))
    both, places = np.unique((t << 32) + (p + (1 << 31)), return_inverse=True)
    counts = np.bincount(places, weights=weight)
    rows, columns = both >> 32, (both & ((1 << 32) - 1)) - (1 << 31)
    return dict(zip(zip(rows.tolist(), columns.tolist(), strict=True), counts.tolist(), strict=True))


def _extreme(column: Array) -> float:
    """The largest size; few floats are copied for it, which is quicker than looking at them twice."""
    if column.dtype.kind == "f" and len(column) <= _BLOCK:
        return float(np.abs(column).max())
    return max(abs(float(column.min())), abs(float(column.max())))


def _differences(truth: Array, prediction: Array) -> Array:
    """Truth − prediction as float64, rounded once: whole numbers are subtracted as such, however large or unsigned."""
    if truth.dtype.kind == "f" or prediction.dtype.kind == "f":
        return truth.astype(np.float64, copy=False) - prediction.astype(np.float64, copy=False)
    small = all(
        column.dtype.itemsize < 8 or (int(column.min()) > -(2**62) and int(column.max()) < 2**62)
        for column in (truth, prediction)
    )
    whole = np.int64 if small else object
    return np.asarray((truth.astype(whole) - prediction.astype(whole)).astype(np.float64))


def _squared_logs(truth: Array, prediction: Array, weight: Array | None) -> float:
    """Σ(log1p t − log1p p)², NaN where a logarithm does not exist."""
    if truth.min() <= -1 or prediction.min() <= -1:
        return math.nan
    return weighted_sum((np.log1p(truth) - np.log1p(prediction)) ** 2, weight)


def _worst_of_block(start: int, size: Array, error: Array, truth: Array, prediction: Array) -> Iterable[WorstError]:
    rows = np.argpartition(-size, WORST)[:WORST] if len(size) > WORST else np.arange(len(size))
    return [WorstError(start + int(i), float(truth[i]), float(prediction[i]), float(error[i])) for i in rows]
