"""What is asked of an engine that holds the rows, through Narwhals: how many there are of each kind.

Nothing but groups and their sizes comes back. They are plain aggregations, so a task that is tried again does not count
twice. Group by group the order is the engine's own, and sums of weights are rounded as the engine rounds them.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from stakes import errors
from stakes.engines.columns import as_frame
from stakes.engines.conditions import filtered, parse
from stakes.engines.older_polars import streaming
from stakes.tallies.arithmetic import Array

MOST_SCORES = 10**6
"""The most different scores that come back one by one; more are binned where they lie."""

MOST_GROUPS = 2 * MOST_SCORES
"""The most groups that are asked for: that many scores of two classes."""

_FINE, _ZERO = 0, 1
_WEIGHT_FAULTS: Mapping[int, Callable[[int, int | None], errors.InputError]] = {
    2: partial(errors.missing_values, "weight"),
    3: errors.negative_weights,
    4: partial(errors.infinite_values, "weight"),
    5: errors.extreme_weights,
}
_SMALLER = (511, 256, 128, 64, 32, 16, 8, 4, 2, 1)
_LARGER = (512, 256, 128, 64, 32, 16, 8, 4, 2, 1)
_STEPS = 2.0**15
"""Steps of the grid of bins in each power of two; see ``tallies/bins.py``."""


@dataclass(frozen=True, eq=False)
class Groups:
    """The kinds of rows that occur: a value for each argument, how many rows, and perhaps their Σw and Σw²."""

    columns: Mapping[str, Any]
    sizes: Array
    weight: Array | None = None
    squares: Array | None = None


@dataclass(frozen=True, eq=False)
class QuerySource:
    """A table in another engine, of which some columns are named: ``places`` is argument → plain name of its column."""

    frame: Any
    places: Mapping[str, str]
    where: str | None = None

    @classmethod
    def of(cls, data: Any, wanted: Mapping[str, str], where: Any = None) -> "QuerySource":
        """Find the named columns of the rows that satisfy a condition.

        Columns get plain names by their places, since engines read dots and quotes in names.
        """
        condition = None if where is None else parse(where)
        frame = as_frame(data)
        names = frame.collect_schema().names()
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if twice:
            raise errors.duplicate_columns(twice)
        for argument, name in wanted.items():
            if name not in names:
                raise errors.no_such_column(argument, name, names)
        if condition is not None:
            condition.check(names)
        asked = condition.columns if condition is not None else []
        plain = {name: f"c{names.index(name)}" for name in [*wanted.values(), *asked]}
        if frame.implementation.is_spark_like():
            frame = as_frame(frame.to_native().toDF(*(f"c{i}" for i in range(len(names)))))
        else:
            import narwhals as nw

            frame = frame.select(*(nw.col(name).alias(place) for name, place in plain.items()))
        if condition is not None:
            frame = filtered(frame, condition, {name: plain[name] for name in asked})
        return cls(frame, {argument: plain[name] for argument, name in wanted.items()}, where)

    def dtype(self, argument: str) -> Any:
        """The type of a column."""
        return self.frame.collect_schema()[self.places[argument]]

    def rows(self) -> dict[str, Any]:
        """Bring the named columns of all rows here, for questions that need them; how many is told to the log."""
        import logging

        table = collect(self.frame.select(*dict.fromkeys(self.places.values())))
        self._refuse_nothing(len(table))
        logging.getLogger("stakes").info("%d rows of %d columns left their engine to be counted", *table.shape)
        return {argument: table[place] for argument, place in self.places.items()}

    def _refuse_nothing(self, rows: int) -> None:
        if self.where is not None and not rows:
            raise errors.nothing_satisfies(self.where)

    def query(self, keys: Sequence[str]) -> Any:
        """What is asked: how many rows there are of each combination of these columns."""
        import narwhals as nw

        frame, sums, names = self.frame, [nw.len().alias("rows")], dict.fromkeys(self.places[key] for key in keys)
        if "weight" in self.places:
            frame = _weigh(frame, self.places["weight"])
            sums += [nw.col("weight").sum().alias("sum"), nw.col("square").sum().alias("squares")]
            names["weighing"] = None
        return frame.group_by(*names).agg(*sums)

    def groups(self, keys: Sequence[str], most: int | None = None) -> Groups | None:
        """Count the rows of each combination of these columns; None when there are more combinations than that."""
        query = self.query(keys)
        table = collect(query if most is None else query.head(most + 1))
        self._refuse_nothing(len(table))
        if most is not None and len(table) > most:
            return None
        if "weight" in self.places:
            table = _with_weight(table)
        found = {key: table[self.places[key]] for key in keys}
        numbers = {name: table[name].to_numpy() for name in ("rows", "sum", "squares") if name in table.columns}
        return Groups(found, numbers["rows"].astype(np.int64), numbers.get("sum"), numbers.get("squares"))

    def score_range(self) -> tuple[float, float]:
        """The lowest and the highest score, all of which must be finite numbers."""
        import narwhals as nw

        score = nw.col(self.places["score"]).cast(nw.Float64)
        missing = score.is_null() | score.is_nan()
        faults = _whether(nw, missing).alias("missing"), _whether(nw, ~missing & _infinite(score)).alias("infinite")
        asked = self.frame.select(score.alias("score"), *faults)
        found = asked.select(
            nw.col("missing").sum(), nw.col("infinite").sum(), nw.col("score").min().alias("low"),
            nw.col("score").max().alias("high"),
        )  # fmt: skip
        ((missing_rows, infinite_rows, low, high),) = collect(found).rows()
        self._refuse_nothing(low is not None or missing_rows)
        if missing_rows:
            raise errors.missing_values("score", int(missing_rows), None)
        if infinite_rows:
            raise errors.infinite_values("score", int(infinite_rows), None)
        return float(low), float(high)

    def decided_at(self, threshold: float) -> "QuerySource":
        """The same table with one more column, ``above``: whether the score reaches the threshold (1) or not (0)."""
        import narwhals as nw

        reached = nw.col(self.places["score"]).cast(nw.Float64) >= float(threshold)
        frame = self.frame.with_columns(_whether(nw, reached).alias("above"))
        return replace(self, frame=frame, places={**self.places, "above": "above"})

    def binned(self, grid: str) -> "QuerySource":
        """The same table with scores rounded down to the grid of bins."""
        import narwhals as nw

        score = nw.col(self.places["score"]).cast(nw.Float64)
        frame = self.frame.with_columns(score.alias("edge"))
        frame = _on_probability_grid(frame) if grid == "probability" else _on_line_grid(frame)
        return replace(self, frame=frame, places={**self.places, "score": "edge"})


def collect(frame: Any) -> Any:
    """Bring the answer of an engine here; Polars reads what is larger than memory in batches."""
    return frame.collect(**streaming()) if frame.implementation.is_polars() else frame.collect()


# ── weights ──────────────────────────────────────────────────────────────────────────────────────────────────────
def _weigh(frame: Any, name: str) -> Any:
    """Add the weight, its square, and what is wrong with it as a key, so that wrong ones come back counted."""
    import narwhals as nw

    dtype = frame.collect_schema()[name]
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        raise errors.not_numbers("weight", f"{dtype} values")
    frame = frame.with_columns(nw.col(name).cast(nw.Float64).alias("weight"))
    weight = nw.col("weight")
    extreme = (weight > 1e100) | (weight < 1e-100)
    tests = (
        (weight.is_null() | weight.is_nan(), 2),
        (weight == 0, _ZERO),
        (weight < 0, 3),
        (_infinite(weight), 4),
        (extreme, 5),
    )
    weighing = nw.lit(_FINE)
    for test, number in reversed(tests):  # the first that holds is the outermost
        weighing = nw.when(test).then(nw.lit(number)).otherwise(weighing)
    return frame.with_columns((weight * weight).alias("square"), weighing.alias("weighing"))


def _with_weight(table: Any) -> Any:
    """Refuse wrong weights; rows of weight 0 are rows that are not there."""
    weighing, sizes = table["weighing"].to_numpy(), table["rows"].to_numpy()
    for number, words in _WEIGHT_FAULTS.items():
        if (weighing == number).any():
            raise words(int(sizes[weighing == number].sum()), None)
    if len(table) and (weighing == _ZERO).all():
        raise errors.zero_weights()
    return table.filter((weighing == _FINE).tolist()) if (weighing == _ZERO).any() else table


def _infinite(number: Any) -> Any:
    return (number > sys.float_info.max) | (number < -sys.float_info.max)


def _whether(nw: Any, test: Any) -> Any:
    return nw.when(test).then(nw.lit(1)).otherwise(nw.lit(0))


# ── bins: nothing but comparisons and products with powers of two, so that every engine rounds alike ─────────────
def _on_probability_grid(frame: Any) -> Any:
    """Round scores of [0, 1] down; those above ½ mirror those below."""
    import narwhals as nw

    edge, upper = nw.col("edge"), nw.col("upper") == 1
    frame = frame.with_columns(_whether(nw, edge > 0.5).alias("upper"))
    frame = frame.with_columns(nw.when(upper).then(1.0 - edge).otherwise(edge).alias("size"), nw.lit(1.0).alias("unit"))
    rounded = _round(_scale_up(frame), upper)
    return rounded.with_columns(nw.when(upper).then(1.0 - nw.col("size")).otherwise(nw.col("size")).alias("edge"))


def _on_line_grid(frame: Any) -> Any:
    """Round any numbers down: the sizes of negative ones up."""
    import narwhals as nw

    edge, below = nw.col("edge"), nw.col("below") == 1
    frame = frame.with_columns(_whether(nw, edge < 0).alias("below"))
    frame = frame.with_columns(nw.when(below).then(0.0 - edge).otherwise(edge).alias("size"), nw.lit(1.0).alias("unit"))
    rounded = _round(_scale_up(_scale_down(frame)), below)
    return rounded.with_columns(nw.when(below).then(0.0 - nw.col("size")).otherwise(nw.col("size")).alias("edge"))


def _scale_up(frame: Any) -> Any:
    """Bring sizes below 1 into [1, 2); those that no normal float scales so far keep the unit of the smallest."""
    import narwhals as nw

    for k in _SMALLER:
        frame = _times(frame, nw.col("size") < 2.0 ** (1 - k), 2.0**k)
    return frame


def _scale_down(frame: Any) -> Any:
    """Bring sizes of 2 and more into [1, 2)."""
    import narwhals as nw

    for k in _LARGER:
        frame = _times(frame, nw.col("size") >= 2.0**k, 2.0**-k)
    return frame


def _times(frame: Any, test: Any, factor: float) -> Any:
    import narwhals as nw

    size, unit = nw.col("size"), nw.col("unit")
    return frame.with_columns(
        nw.when(test).then(size * factor).otherwise(size).alias("size"),
        nw.when(test).then(unit * (1 / factor)).otherwise(unit).alias("unit"),
    )


def _round(frame: Any, up: Any) -> Any:
    """Round to a whole number of steps, and undo the scaling."""
    import narwhals as nw

    steps = nw.col("size") * _STEPS
    whole = nw.when(up).then(steps.ceil().cast(nw.Float64)).otherwise(steps.floor().cast(nw.Float64))
    return frame.with_columns((whole * (1 / _STEPS) * nw.col("unit")).alias("size"))
