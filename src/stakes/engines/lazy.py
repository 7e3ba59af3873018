"""Rows that live in another engine are counted there: Spark, DuckDB, lazy Polars, and what else Narwhals reaches.

Decisions and the scores of two classes come back as groups of rows alike, never as rows. Scores of which there are more
than a million different ones are binned where they lie, and the bounds of the auc are then told. Other questions need
the rows: errors of predicted numbers (their median and their intervals), scores of several classes, clusters, and costs
that differ by row. Of those the named columns are brought here and no others (``Source.rows``).
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from stakes import errors
from stakes.engines.columns import Arguments, Data
from stakes.engines.groups import Grouped, count_groups
from stakes.engines.missing import lacking
from stakes.engines.plan import Counted
from stakes.engines.queries import MOST_GROUPS, MOST_SCORES, Groups, QuerySource
from stakes.engines.reading import Read, read_rows, warn_of_few_outside
from stakes.engines.segments import spread_by, with_segments_together
from stakes.engines.tables import warn_of_same_column
from stakes.errors import InputError
from stakes.tallies.arithmetic import Array

_KEYS = ("truth", "prediction", "score")


def count_inside(data: Data, options: Arguments, exact: bool | None = None) -> Counted | None:
    """Count the rows where they are; None when this question needs the rows themselves.

    ``options`` are the arguments of :func:`stakes.engines.reading.read_rows`. All different scores come back if
    ``exact``, none if it is False.
    """
    given = name_columns(data, options)
    if given is None or options.get("missing", "error") != "error":
        return None
    source, keys = QuerySource.of(data, given, options.get("where")), [name for name in given if name != "weight"]
    for key in keys:
        if source.dtype(key).is_nested():  # not every engine can group by those
            raise errors.unsupported_type(key, str(source.dtype(key)))
    warn_of_same_column(given)
    threshold = options.get("threshold")
    groups, grid = _group(source, keys, exact, threshold)
    if groups is None:
        return None
    _check(groups, options)
    columns = dict(groups.columns)
    above = columns.pop("above", None)
    read = read_rows(**{**options, "weight": None, "where": None, **with_segments_together(columns)})
    if read.plan is None or above is None:
        return None if read.plan is None else _count(read, groups, grid)
    decided = replace(read, rows=replace(read.rows, prediction=above.to_numpy().astype(np.int64)))
    return replace(_count(decided, groups, grid), decided_by="threshold", threshold=threshold)


def name_columns(data: Data, options: Arguments) -> dict[str, str] | None:
    """The columns whose groups answer the question, by argument; None when the question needs the rows themselves."""
    pricing = options.get("pricing")
    by_row = pricing is not None and pricing.costs.columns
    of_numbers = options.get("task") == "regression" or options.get("baseline") is not None
    others = any(options.get(name) is not None for name in ("cluster", "parts"))
    named = {**{name: options.get(name) for name in (*_KEYS, "weight")}, **spread_by(options.get("by"), data)}
    given = {name: column for name, column in named.items() if column is not None}
    if of_numbers or by_row or others or not all(isinstance(name, str) for name in given.values()):
        return None
    if "score" not in given and "prediction" not in given:
        raise errors.nothing_to_judge()
    return given


def _group(
    source: QuerySource, keys: list[str], exact: bool | None, threshold: float | None
) -> tuple[Groups | None, str | None]:
    """Return the groups of rows alike, and the grid that their scores lie on if there are too many scores.

    Within a bin a threshold could not be told later, so its decisions are counted with the bins.
    Too many groups without a score are quantities, or names of single rows: None.
    """
    if "score" not in keys:
        return source.groups(keys, MOST_GROUPS), None
    if exact is not False:
        groups = source.groups(keys, None if exact else MOST_GROUPS)
        if groups is not None and (exact or groups.columns["score"].n_unique() <= MOST_SCORES):
            return groups, None
    dtype = source.dtype("score")
    if not dtype.is_numeric():
        raise errors.not_numbers("score", f"{dtype} values")
    low, high = source.score_range()
    grid = "probability" if low >= 0 and high <= 1 else "line"
    if threshold is not None:
        source, keys = source.decided_at(threshold), [*keys, "above"]
    return source.binned(grid).groups(keys), grid


def _count(read: Read, groups: Groups, grid: str | None) -> Counted:
    sizes = groups.sizes if groups.weight is None else groups.weight
    counted = count_groups(read.plan, Grouped(read.rows, sizes, groups.squares, grid), read.by)  # type: ignore[arg-type]
    if counted.scores is not None and not counted.scores.probabilities:
        warn_of_few_outside(np.asarray(read.rows.scores), groups.sizes)
    return replace(counted, read=int(groups.sizes.sum()))


# ── what is wrong with the rows, told by how many ────────────────────────────────────────────────────────────────
def _check(groups: Groups, options: Arguments) -> None:
    """Refuse missing values, infinite scores and fractions for classes, whose rows have no numbers here."""
    of_classes = options.get("task") == "classification"
    of_classes |= any(options.get(name) is not None for name in ("score", "positive", "classes"))
    for argument, column in groups.columns.items():
        _refuse(lacking(column), groups.sizes, argument, errors.missing_values)
        if not column.dtype.is_float():
            continue
        values = column.to_numpy().astype(np.float64)
        if argument == "score":
            _refuse(np.isinf(values), groups.sizes, argument, errors.infinite_values)
        elif of_classes or argument.startswith("by"):
            wrong = (values != np.floor(values)) | (np.abs(values) >= 2.0**63)
            if wrong.any():
                raise errors.fractional_labels(
                    argument, int(groups.sizes[wrong].sum()), None, float(min(values[wrong]))
                )


def _refuse(wrong: Array, sizes: Array, argument: str, words: Callable[[str, int, None], InputError]) -> None:
    if wrong.any():
        raise words(argument, int(sizes[wrong].sum()), None)
