"""Errors of a regression added up: moments of truth, prediction and error, carried without rounding."""

import dataclasses
import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, cached_property, partial
from typing import Any, Self, TypeVar

import numpy as np

from stakes import errors
from stakes.errors import About, InputError
from stakes.frozen import dataclass, field, replace
from stakes.tallies import bins
from stakes.tallies.arithmetic import Array, Number, Values, finite, weighted_sum
from stakes.tallies.base import Tally
from stakes.tallies.checks import as_rows, check_baseline
from stakes.tallies.error_terms import MOMENTS, ArrayTerms, Origin
from stakes.tallies.error_variation import ErrorVariation, HeavyRows, SizeCounts
from stakes.tallies.fields import TOTAL, WEIGHTED, Content, how
from stakes.tallies.keys import add_up, order_of, put_together
from stakes.tallies.moments import (
    BLOCK,
    COLUMN,
    SPAN,
    Block,
    Moments,
    MomentsOnDemand,
    Sums,
    differences,
    product_of,
    room_for,
    room_of_thread,
)
from stakes.tallies.moments import Power as Power
from stakes.tallies.on_demand import Later, OnDemand
from stakes.tallies.parallel import run_all

T = TypeVar("T")

Cell = tuple[int, int]
"""The bins of a truth and a prediction."""

_MANY = 1 << 13
"""With more rows than this a sample shows about where a rank lies."""

_PICTURE_BITS = 5
"""For pictures each power of two is cut into 2⁵ bins."""

PARTS = ("prediction", "order 4", "rows", "logs", "percentages", "worst", "histogram", "baseline")
"""What can be counted beyond the means and squares of error and truth."""

WORST = 20
"""How many of the largest errors are kept with their rows."""

_POWERS: dict[str, tuple[Power, ...]] = {
    "": tuple(power for power in MOMENTS.values() if not power[3]),
    "prediction": tuple(power for power in MOMENTS.values() if power[3]),
    "order 4": tuple((a, e, t, 0) for a, e, t in itertools.product(range(2), range(5), range(5)) if 1 < a + e + t <= 4),
}
_OF_ERRORS = [MOMENTS[name] for name in ("one", "size", "error", "square")]


@dataclass(frozen=True)
class LargeError:
    """One of the largest errors: its row (None in an engine, whose rows have no numbers), the truth, the prediction."""

    row: int | None
    truth: float
    prediction: float
    error: float


@dataclass(frozen=True)
class WorstError(LargeError):
    """The same where rows have numbers."""

    row: int


Large = TypeVar("Large", bound=LargeError)


@dataclass(frozen=True, eq=False)
class ErrorRows:
    """The rows themselves, for figures that no sums give."""

    truth: Array
    prediction: Array
    weight: Array | None = None

    @cached_property
    def sizes(self) -> Array:
        """All |errors|."""
        return self._sizes(slice(None))

    def _sizes(self, rows: slice) -> Array:
        found = differences(self.truth[rows], self.prediction[rows])
        return np.asarray(np.abs(found, out=found))

    def ranked(self, first: int, last: int) -> Array:
        """The |errors| from one rank to another (the smallest has rank 0), in order.

        A sample shows about where these lie, so that of very many rows few have to be kept and sorted.
        """
        n = len(self.truth)
        if n > _MANY:
            some = np.sort(self._sizes(slice(None, None, math.isqrt(n) // 8)))
            beside = 2 * math.isqrt(len(some))  # ranks in a sample miss by half the root of its size
            before, after = int(first * len(some) / n) - beside, int(last * len(some) / n) + beside
            low, high = some[max(before, 0)] if before > 0 else 0.0, some[after] if after < len(some) else math.inf
            found = run_all([partial(self._between, start, low, high) for start in range(0, n, SPAN)], n)
            below, inside = sum(one for one, _ in found), np.concatenate([one for _, one in found])
            if below <= first and last < below + len(inside):
                return np.sort(inside)[first - below : last - below + 1]
        lower = np.partition(self.sizes, last)[: last + 1]  # one place at a time, for which NumPy has a quick way
        return np.sort(np.partition(lower, first)[first:])

    def _between(self, start: int, low: float, high: float) -> tuple[int, Array]:
        """Of a span of rows: how many |errors| are smaller, and those that are not, up to a highest one."""
        below, inside = 0, []
        for first in range(start, min(start + SPAN, len(self.truth)), BLOCK):
            sizes = self._sizes(slice(first, first + BLOCK))
            smaller = sizes < low
            below += int(np.count_nonzero(smaller))
            inside.append(sizes[~(smaller | (sizes > high))])
        return below, np.concatenate(inside)

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


def _add_moments(parts: Sequence[Mapping[Power, Number]]) -> dict[Power, Number]:
    """Add up the moments that all parts have."""
    powers = [power for power in parts[0] if all(power in part for part in parts[1:])]
    return {power: sum((part[power] for part in parts), Fraction(0)) for power in powers}


def _numbers(entries: Sequence[Sequence[T]]) -> Sequence[Sequence[T]]:
    """Check entries that consist of numbers."""
    if not all(isinstance(number, int | float) for entry in entries for number in entry):
        raise ValueError("the worst errors or the histogram")
    return entries


def _large_errors(saved: Sequence[Sequence[Any]]) -> tuple[LargeError, ...]:
    """Read the largest errors; those of an engine have no row."""
    _numbers([entry[entry[0] is None :] for entry in saved])
    return tuple(LargeError(*entry) for entry in saved)


def worst_of(candidates: Iterable[Large]) -> tuple[Large, ...]:
    """The largest of some errors, the first rows first where they are alike."""
    return tuple(sorted(candidates, key=lambda w: (-abs(w.error), -1 if w.row is None else w.row))[:WORST])


_MOMENTS = how(
    add=lambda parts: _add_moments(parts),
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
    add=lambda parts: worst_of(itertools.chain(*parts)),
    save=lambda worst: [[w.row, w.truth, w.prediction, w.error] for w in worst],
    load=lambda saved: _large_errors(saved),
)
_HISTOGRAM = how(
    add=lambda parts: {cell: sum(part.get(cell, 0) for part in parts) for cell in {*itertools.chain(*parts)}},
    save=lambda histogram: [[*cell, count] for cell, count in sorted(histogram.items())],
    load=lambda saved: {(t, p): count for t, p, count in _numbers(saved)},
)
_VARIATION = how(add=ErrorVariation.joined, save=ErrorVariation.saved, load=ErrorVariation.restored)
_SIZES = how(add=SizeCounts.joined, save=SizeCounts.saved, load=SizeCounts.restored)
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
    others. ``constant`` are the sums of always predicting ``baseline``: what ignoring the input scores. Where no rows
    were kept, ``variation`` holds covariances for intervals, ``heavy`` a few rows that can carry a figure, and
    ``sizes`` the number of errors of each size. A part that was not counted is None.
    """

    moments: Mapping[Power, Number] = field(metadata=_MOMENTS)
    largest: Number = field(metadata=how(add=max))
    squared_logs: Number = field(default=None, metadata=_LOGS)
    percentages: Number = field(default=None, metadata=TOTAL)
    rows: ErrorRows | None = field(default=None, metadata=_ROWS)
    worst: tuple[LargeError, ...] | None = field(default=None, metadata=_WORST)
    histogram: Mapping[Cell, float] | None = field(default=None, metadata=_HISTOGRAM)
    baseline: float | None = field(default=None, metadata=how())
    baseline_given: bool = field(default=False, metadata=how())
    constant: "ErrorSums | None" = field(default=None, metadata=_CONSTANT)
    weighted: bool = field(default=False, metadata=WEIGHTED)
    zeros: int | None = field(default=None, metadata=how(add=sum))
    variation: ErrorVariation | None = field(default=None, metadata=_VARIATION)
    heavy: HeavyRows | None = field(default=None, metadata=how(add=HeavyRows.joined, saved=False))
    sizes: SizeCounts | None = field(default=None, metadata=_SIZES)

    kind = "errors"
    task = "regression"

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
    ) -> Self:
        """Add up the rows of two columns of finite numbers, with the parts that are wanted (otherwise all).

        ``places`` are the numbers of the rows in the whole, where these are only some of them.
        """
        parts = PARTS if parts is None else parts
        truth, prediction = as_rows(truth=truth, prediction=prediction)
        if weight is not None:
            weight = as_rows(truth=truth, weight=weight)[1]
        if baseline is not None:
            check_baseline(baseline)
        if not len(truth):
            raise errors.empty("truth")
        own = None
        if "rows" in parts:  # copies: the caller's columns may change
            given = [one for one in (truth, prediction, weight) if one is not None]
            truth, prediction, weight = (*run_all([partial(np.array, one) for one in given], len(truth)), None)[:3]
            own = ErrorRows(truth, prediction, weight)
        sums = cls(**_add_up(truth, prediction, weight, parts, places), rows=own, weighted=weight is not None)
        return sums._compare(truth, weight, baseline) if "baseline" in parts else sums

    @classmethod
    def on_demand(cls, truth: Array, prediction: Array, parts: Collection[str], weight: Array | None = None) -> Self:
        """Take two columns as they are for one figure: what it asks for is added up then, and nothing else.

        Columns that turn out to be unusual (not finite, very large or small) raise an UnusualNumbersError.
        """
        if not set(parts) <= {"prediction", "rows"}:
            return cls.from_rows(truth, prediction, weight, parts=parts)
        moments = MomentsOnDemand(_powers(tuple(parts)), truth, prediction, weight)
        rows = ErrorRows(truth, prediction, weight) if "rows" in parts else None
        if rows is not None:
            _ = moments[1, 0, 0, 0]  # whether all are numbers
        return cls(moments, math.nan, rows=rows, weighted=weight is not None)

    def _compare(self, truth: Array, weight: Array | None, baseline: float | None) -> Self:
        """Return the same sums beside those of always predicting the baseline, or else the mean."""
        value = float(self.mean(t=1)) if baseline is None else float(baseline)
        always = np.broadcast_to(np.float64(value), len(truth))
        wanted = [part for part in ("logs", "percentages") if self.has(part)]
        rows = None if self.rows is None else ErrorRows(truth, always, weight)
        constant = type(self)(**_add_up(truth, always, weight, wanted, powers=_OF_ERRORS), rows=rows)
        return self.against(constant, value, baseline is not None)

    def against(self, constant: Self, baseline: float, given: bool) -> Self:
        """Return the same sums beside those of always predicting a number, which need tell |errors| only: truths are
        the same, and what else there is to know of errors and predictions follows.
        """
        known, b = constant.moments, Fraction(baseline)

        def moment(power: Power) -> Number:
            _, e, t, p = power
            truths = (math.comb(e, i) * (-b) ** (e - i) * self.sum_of(t=t + i) for i in range(e + 1))
            return known[power] if power in known else b**p * sum(truths)

        moments = OnDemand(MOMENTS.values(), moment)
        constant = replace(constant, moments=moments, weighted=self.weighted, zeros=self.zeros)
        return replace(self, baseline=baseline, baseline_given=given, constant=constant)

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
        """Kish's effective number of rows."""
        if self.rows is None or self.rows.weight is None:
            squares = None if self.variation is None else self.variation.squared_weight
            return float(self.total) ** 2 / squares if self.weighted and squares else float(self.total)
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

    @property
    def heaviest_errors(self) -> tuple[LargeError, ...]:
        """The largest errors among the few rows that were kept where no others are; of weights these are not told."""
        if self.heavy is None or self.weighted:
            return ()
        _, truth, prediction, _, here = self.heavy.chosen[0]
        rows = zip(truth[here > 0].tolist(), prediction[here > 0].tolist(), strict=True)
        return worst_of(LargeError(None, t, p, t - p) for t, p in rows)

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
        if self.leading:
            return np.maximum(spread, 0)
        return spread if spread > 0 else Fraction(0)

    @property
    def baseline_squares(self) -> Number:
        """The sum of squared errors of always predicting the baseline: about the mean of all, of added parts too."""
        return self.spread("t") if self.constant is None else self.constant.sum_of(e=2)

    @cached_property
    def median(self) -> float:
        """The median |error|; with weights, where half of the weight lies on either side."""
        if self.rows is None:
            return math.nan if self.sizes is None else self.sizes.median
        weight = self.rows.weight
        if weight is None:
            n = len(self.rows.truth)
            middle = self.rows.ranked((n - 1) // 2, n // 2)
            return float(middle[0]) if n % 2 else (float(middle[0]) + float(middle[1])) / 2
        sizes = self.rows.sizes
        order = order_of(sizes)
        sizes, reached = sizes.take(order), np.cumsum(weight.take(order))
        half = reached[-1] / 2
        place = int(np.searchsorted(reached, half * (1 - 1e-12)))
        if abs(reached[place] - half) <= half * 1e-12:  # half of the weight lies on either side
            return float(sizes[place] / 2 + sizes[place + 1] / 2)
        return float(sizes[place])

    def moved_down(self, rows: int) -> Self:
        """Return the same sums with the row numbers of the largest errors counted from an earlier row."""
        return self._numbered(lambda row: None if row is None else row + rows)

    def without_row_numbers(self) -> Self:
        """Return the same sums of rows that have no numbers."""
        return self._numbered(lambda row: None)

    def _numbered(self, number: Callable[[int | None], int | None]) -> Self:
        """Return the same sums with other row numbers of the largest errors."""
        if self.worst is None:
            return self
        return replace(self, worst=tuple(replace(one, row=number(one.row)) for one in self.worst))

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
        """Return the sums, and how many errors there are of each size in bins of so many rows; nothing of a row."""
        least = minimum * float(self.total) / self.equal_rows
        constant = self.constant
        if constant is not None:
            constant = replace(constant, rows=None, sizes=constant._shared_sizes(least))
        summed = {power: self.moments[power] for power in _powers(("prediction",)) if power in self.moments}
        bare = replace(self, moments=summed, rows=None, worst=None, histogram=None, heavy=None)
        return replace(bare, constant=constant, variation=self._variation(), sizes=self._shared_sizes(least))

    def _shared_sizes(self, least: float) -> SizeCounts | None:
        """How many errors there are of each size, in bins that weigh at least so much."""
        sizes = self.sizes if self.rows is None else SizeCounts.of_rows(self.rows.sizes, self.rows.weight)
        return None if sizes is None else sizes.shared(least)

    def _variation(self) -> ErrorVariation | None:
        """How the errors vary, from the rows while there are any."""
        if self.rows is None:
            return self.variation if self.variation is None or self.variation.clusters is None else None
        centre = float(self.mean(t=1))
        baseline = centre if self.baseline is None else self.baseline
        return ErrorVariation.of_rows(self.rows.truth, self.rows.prediction, self.rows.weight, centre, baseline)

    # ── a tally like any other ───────────────────────────────────────────────────────────────────────────────
    def _question(self) -> dict[str, object]:
        return {
            **super()._question(),
            "the list of parts": [part for part in PARTS if part not in ("baseline", "order 4") and self.has(part)],
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
    truth: Array,
    prediction: Array,
    weight: Array | None,
    parts: Collection[str],
    places: Array | None = None,
    powers: Sequence[Power] = (),
) -> Content:
    """Add up the parts that are wanted; ``powers`` are those of the moments, if others than these parts need."""
    extremes = [_extreme(column) for column in (truth, prediction)]
    if not math.isfinite(sum(extremes) + (0.0 if weight is None else float(weight.sum()))):
        raise beyond_floats()
    walk = partial(_blocks, truth, prediction, weight)
    later = ("order 4", "histogram") if "rows" in parts else ()  # own rows, which can be asked again
    at_once = [part for part in parts if part not in later]
    powers = powers or _powers(tuple(at_once))
    more = [power for power in _powers(tuple(parts)) if power not in powers] if later else []
    moments = Moments(powers, extremes, (more, walk) if more else None)
    moments.centre(next(walk(0, BLOCK))[0])
    rows = range(len(truth)) if places is None else places
    each = [(partial(walk, start, start + SPAN), rows[start : start + SPAN]) for start in range(0, len(truth), SPAN)]
    found = run_all([partial(_SpanSums.of, moments, at_once, *span) for span in each], len(truth))
    moments.add(block for span in found for block in span.moments)
    counted = "percentages" in parts
    histogram = None
    if "histogram" in parts:
        picture = Later(lambda: histogram_of(count_cells(t, p, w) for (_, _, t, p), w in walk()))
        histogram = picture if "histogram" in later else dict(picture)
    return {
        "moments": moments,
        "largest": max(span.largest for span in found),
        "squared_logs": math.fsum(log for span in found for log in span.logs) if "logs" in parts else None,
        "percentages": math.fsum(share for span in found for share in span.percentages) if counted else None,
        "zeros": sum(span.zeros for span in found) if counted else None,
        "worst": worst_of(one for span in found for one in span.worst) if "worst" in parts else None,
        "histogram": histogram,
    }


def beyond_floats() -> InputError:
    """The error for sums that no float holds."""
    return InputError(
        "errors-beyond-floats",
        About("truth"),
        " and prediction (or weights) are no numbers, or too far apart for a float; scale them down",
    )


POWERS_LOST = ("errors-too-large", "errors-too-small")
"""Codes of errors for numbers that can be counted row by row, but not added up."""


def powers_too_large(largest: float) -> InputError:
    """The error for numbers whose powers, which are added up, no float holds."""
    words = f" and prediction (or weights) are too large to be added up (the largest error is {largest:.6g}); "
    return InputError("errors-too-large", About("truth"), words, "leave such rows out, or scale all down")


def check_sizes(sums: ErrorSums, most_squared: float) -> None:
    """Refuse numbers whose mean squares are larger than that, or as much smaller than 1: intervals would be wrong."""
    squares = sums.mean(e=2), sums.mean(t=2)
    if max(squares) > most_squared:
        raise powers_too_large(sums.largest)
    if sums.largest > 0 and squares[0] < 1 / most_squared:
        words = f" and prediction are too near to each other to be added up (the largest error is {sums.largest:.6g}); "
        raise InputError("errors-too-small", About("truth"), words, "scale them up")


def _blocks(
    truth: Array, prediction: Array, weight: Array | None, start: int = 0, stop: int | None = None
) -> Iterator[Block]:
    """Walk over the rows: |error|, error, truth and prediction as float64, and weights."""
    for first in range(start, min(len(truth), stop or len(truth)), BLOCK):
        rows = slice(first, first + BLOCK)
        t, p = truth[rows], prediction[rows]
        error = differences(t, p)
        columns = np.abs(error), error, t.astype(np.float64, copy=False), p.astype(np.float64, copy=False)
        yield columns, None if weight is None else weight[rows]


@dataclasses.dataclass
class _SpanSums:
    """What the blocks of a span of rows add up to."""

    moments: list[Sums] = dataclasses.field(default_factory=list)
    largest: float = 0.0
    logs: list[float] = dataclasses.field(default_factory=list)
    zeros: int = 0
    percentages: list[float] = dataclasses.field(default_factory=list)
    worst: tuple[WorstError, ...] = ()

    @classmethod
    def of(cls, moments: Moments, parts: Collection[str], walk: Callable[[], Iterable[Block]], places: Values) -> Self:
        """Add up the blocks of a walk over rows that have these numbers."""
        found, room = cls(), room_of_thread()
        for number, block in enumerate(walk()):
            (size, error, t, p), w = block
            found.moments.append(moments.sums_of(block, room))
            terms = ArrayTerms(t, p, Origin(), room=partial(room_for, room, rows=len(t)))
            terms |= {"error": error, "size": size}
            if "logs" in parts:
                has_logs = t.min() > -1 and p.min() > -1
                found.logs.append(weighted_sum(terms["logs"], w) if has_logs else math.nan)
            if "percentages" in parts:
                found.zeros += len(t) - int(np.count_nonzero(t))
                with np.errstate(over="ignore"):  # of a truth next to 0 it may be endless
                    found.percentages.append(weighted_sum(terms["share"], w))
            largest = float(size.max())
            if "worst" in parts:
                found.worst = with_worst(found.worst, largest, partial(tuple, block[0]), places[number * BLOCK :])
            found.largest = max(found.largest, largest)
        return found


@cache
def _powers(parts: tuple[str, ...]) -> Sequence[Power]:
    return list(dict.fromkeys(power for part in ("", *parts) for power in _POWERS.get(part, ())))


CellCounts = tuple[Array, ...]
"""Cells that occur, and what lies in each."""


def count_cells(truth: Array, prediction: Array, weight: Array | None) -> CellCounts:
    """Count some rows on the grid of pictures; a cell is one number here."""
    t, p = (bins.numbers(column, "line", _PICTURE_BITS) for column in (truth, prediction))
    cells = np.asarray((t << 32) + (p + (1 << 31)))
    return np.unique(cells, return_counts=True) if weight is None else add_up(cells, weight)


def histogram_of(parts: Iterable[CellCounts]) -> dict[Cell, float]:
    """Put the cells of parts together."""
    found, sums = put_together(parts)
    rows, columns = found >> 32, (found & ((1 << 32) - 1)) - (1 << 31)
    return dict(zip(zip(rows.tolist(), columns.tolist(), strict=True), sums.tolist(), strict=True))


def _extreme(column: Array) -> float:
    """The largest size; few floats are copied for it, which is quicker than looking at them twice."""
    if column.dtype.kind == "f" and len(column) <= BLOCK:
        return float(np.abs(column).max())
    return max(abs(float(column.min())), abs(float(column.max())))


def with_worst(
    worst: tuple[WorstError, ...], largest: float, columns: Callable[[], Sequence[Array]], places: Values
) -> tuple[WorstError, ...]:
    """The largest errors of before and of a block, of which this is the largest size; rows have these numbers.

    Of those that are alike the first rows stay.
    """
    least = abs(worst[-1].error) if len(worst) == WORST else -1.0
    if largest <= least:
        return worst
    size, error, truth, prediction = columns()
    rows = np.flatnonzero(size > least)
    if len(rows) > WORST:
        sizes = size[rows]
        last = np.partition(sizes, -WORST)[-WORST]
        rows = np.concatenate([rows[sizes > last], rows[sizes == last]])[:WORST]
    here = (WorstError(int(places[i]), float(truth[i]), float(prediction[i]), float(error[i])) for i in rows.tolist())
    return worst_of([*worst, *here])
