"""Rows that live in another engine are counted there: Spark, DuckDB, lazy Polars, and what else Narwhals reaches.

Decisions and the scores of two classes come back as groups of rows alike, never as rows. Scores of which there are more
than a million different ones are binned where they lie, and the bounds of the auc are then told. Other questions need
the rows: errors of predicted numbers (their median and their intervals), scores of several classes, clusters, and costs
that differ by row. Of those the named columns are brought here and no others (``Source.rows``).
"""

from dataclasses import replace
from functools import partial

import numpy as np

from stakes import errors
from stakes.engines.columns import Data
from stakes.engines.groups import Grouped, count_as_rows, count_groups
from stakes.engines.labels import Labels, are_fractions
from stakes.engines.memory import Rows
from stakes.engines.missing import lacking
from stakes.engines.plan import Counted, Plan
from stakes.engines.queries import MOST_GROUPS, MOST_SCORES, Groups, QuerySource
from stakes.engines.reading import RowQuestion, warn_of_few_outside
from stakes.engines.segments import spread_by
from stakes.engines.tables import warn_of_same_column


def count_inside(data: Data, asked: RowQuestion, exact: bool | None = None) -> Counted | None:
    """Count the rows where they are; None when this question needs the rows themselves.

    All different scores come back if ``exact``, none if it is False.
    """
    given = name_columns(data, asked)
    if given is None or asked.missing != "error":
        return None
    source, keys = QuerySource.of(data, given, asked.where), [name for name in given if name != "weight"]
    for key in keys:
        if source.dtype(key).is_nested():  # not every engine can group by those
            raise errors.unsupported_type(key, str(source.dtype(key)))
    warn_of_same_column(given)
    groups, grid = _group(source, keys, exact, asked.threshold)
    if groups is None:
        return None
    _check(groups, asked)
    columns = dict(groups.columns)
    above = columns.pop("above").to_numpy() if "above" in columns else None
    return count_as_rows(asked, columns, above, partial(_count, groups, grid))


def name_columns(data: Data, asked: RowQuestion) -> dict[str, str] | None:
    """The columns whose groups answer the question, by argument; None when the question needs the rows themselves."""
    by_row = asked.pricing is not None and asked.pricing.costs.columns
    of_numbers = asked.task == "regression" or asked.baseline is not None
    others = any(given is not None for given in (asked.cluster, asked.frequency, asked.parts))
    named = {name: getattr(asked, name) for name in ("truth", "prediction", "score", "weight")}
    named |= spread_by(asked.by, data)
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


def _count(groups: Groups, grid: str | None, plan: Plan, rows: Rows, by: Labels | None) -> Counted:
    sizes = groups.sizes if groups.weight is None else groups.weight
    keys = [rows.scores, rows.prediction, rows.truth, None if by is None else by.codes]
    # an engine gives groups in any order, and sums of weights would round differently
    order = np.lexsort([key for key in keys if key is not None])
    by = None if by is None else replace(by, codes=by.codes[order])
    counted = count_groups(plan, Grouped(rows, sizes, groups.squares, grid).take(order), by)
    if counted.scores is not None and not counted.scores.probabilities:
        warn_of_few_outside(np.asarray(rows.scores), groups.sizes)
    return replace(counted, dropped=groups.weightless, read=int(groups.sizes.sum()) + groups.weightless)


# ── what is wrong with the rows, told by how many ────────────────────────────────────────────────────────────────
def _check(groups: Groups, asked: RowQuestion) -> None:
    """Refuse missing values, infinite scores and fractions for classes, whose rows have no numbers here."""
    of_classes = asked.task == "classification" or asked.of_classes
    for argument, column in groups.columns.items():
        if rows := groups.rows_in(lacking(column)):
            raise errors.missing_values(argument, rows, None)
        if not column.dtype.is_float():
            continue
        values = column.to_numpy().astype(np.float64)
        if argument == "score":
            if rows := groups.rows_in(np.isinf(values)):
                raise errors.infinite_values(argument, rows, None)
        elif of_classes or argument.startswith("by"):
            wrong = are_fractions(values)
            if rows := groups.rows_in(wrong):
                raise errors.fractional_labels(argument, rows, None, float(min(values[wrong])))
