"""Counts rows inside another engine: Spark, DuckDB, lazy Polars, and others that Narwhals supports.

Decisions and scores of two classes come back as groups of equal rows, never as rows. More than a million different
scores are binned in the engine, and the auc then has bounds. Scores of several classes are queried by
``classes/queries.py``, predicted numbers are summed by ``numbers/queries.py``, and costs that differ by row by
``cost_sums.py``. Other questions need the rows; then only the named columns are fetched (``QuerySource.rows``).
"""

from dataclasses import replace
from functools import partial

import numpy as np

from stakes import errors
from stakes.engines.classes.queries import FEW_ROWS, ClassTable, open_class_table
from stakes.engines.classes.sums import class_columns, class_names
from stakes.engines.clusters.queries import ROW, QueryClusters
from stakes.engines.clusters.rows import ClusterRows, grid_bits
from stakes.engines.columns import Data
from stakes.engines.cost_sums import CostQuery, count_costs_inside
from stakes.engines.finer_bins import HeavyBins, LabelledScores, count_finer, is_exact_enough
from stakes.engines.labels import Labels, rows_of
from stakes.engines.lazy.groups import count_groups
from stakes.engines.lazy.order import order_inside, sorts_inside
from stakes.engines.lazy.queries import MOST_GROUPS, MOST_SCORES, Groups, QuerySource
from stakes.engines.memory import Rows, count_classes
from stakes.engines.numbers.queries import count_numbers_inside
from stakes.engines.plan import Counted, Plan
from stakes.engines.pricing import cost_column, of_costs
from stakes.engines.reading import RowQuestion, warn_of_few_outside
from stakes.engines.tables import warn_of_same_column
from stakes.tallies.checks import is_one_of
from stakes.tallies.scores import ScoreTable, as_float_if_exact


def count_inside(data: Data, asked: RowQuestion, exact: bool | None = None) -> Counted | None:
    """Count the rows in their engine; None if this question needs the rows themselves.

    With ``exact`` the engine sorts scores that are too many to come back; with False scores are always binned.
    """
    numbers = None if exact else number_columns(data, asked)
    if numbers is not None and is_one_of(asked.missing, ("error", "drop")):
        counted = count_numbers_inside(data, numbers, asked)
        if counted is not None:
            return counted
    columns = name_columns(data, asked)
    if columns is None or not is_one_of(asked.missing, ("error", "drop")):
        return None
    if exact and ("cluster" in columns or (of_costs(columns) and "score" in columns)):
        return None
    source, dropped, weight = _open(data, columns, asked)
    counted = _count_rows(source, columns, asked, exact)
    if counted is None or not dropped:
        return counted
    read, lost = counted.rows_read + dropped, counted.dropped_weight + weight
    return replace(counted, dropped=counted.dropped + dropped, read=read, dropped_weight=lost)


def _open(data: Data, columns: dict[str, str], asked: RowQuestion) -> tuple[QuerySource, int, float]:
    """The rows that count, the number of rows without a value, and the weight of these."""
    rows = {f"{ROW}{place}": name for place, name in enumerate(asked.groups_by)}
    source = QuerySource.of(data, {**columns, **rows}, asked.where)
    if asked.missing != "drop":
        return source, 0, 0.0
    frame, dropped, weight = source.without_gaps()
    return replace(source, frame=frame), dropped, weight


def open_classes(data: Data, asked: RowQuestion) -> ClassTable | None:
    """A table of class scores in another engine; None if this question needs the rows themselves."""
    columns = name_columns(data, asked)
    return None if columns is None else open_class_table(_open(data, columns, asked)[0], asked, columns)


def _count_rows(source: QuerySource, columns: dict[str, str], asked: RowQuestion, exact: bool | None) -> Counted | None:
    """Count the rows of a table without gaps; None if this question needs the rows themselves."""
    if class_names(columns):
        table = open_class_table(source, asked, columns)
        return None if table is None else table.count(exact)
    if of_costs(columns):
        return _sum_costs(source, columns, asked, exact)
    keys = [name for name in columns if name not in ("weight", "cluster")]
    for key in keys:
        if source.dtype(key).is_nested():  # not every engine can group by those
            raise errors.unsupported_type(key, str(source.dtype(key)))
    warn_of_same_column(columns)
    clusters = QueryClusters.of(source) if "cluster" in columns and "score" not in columns else None
    clustered = None if clusters is None else clusters.put_together(source).groups([*keys, "cluster"], MOST_GROUPS)
    groups, grid = clustered, None
    if groups is None:
        groups, grid = _group(source, keys, exact, asked.threshold)
    if groups is None:
        return None
    groups = replace(groups, columns={name: one for name, one in groups.columns.items() if name != "cluster"})
    groups.check(asked.task == "classification" or asked.of_classes)
    promised = 0.0 if exact else asked.auc_error
    counted = count_groups(asked, groups, partial(_count, groups, grid, source, promised))
    if counted is None or "cluster" not in columns:
        return counted
    return _count_clusters(source, keys, asked, counted, clusters=clusters, groups=clustered)


def _sum_costs(source: QuerySource, columns: dict[str, str], asked: RowQuestion, exact: bool | None) -> Counted | None:
    """Count decisions whose costs differ by row, the scores behind them, and clusters."""
    found = count_costs_inside(source, columns, asked)
    if found is None:
        return None
    query, counted = found
    keys = [name for name in query.source.places if name in ("truth", "prediction", "decided") or name.startswith("by")]
    if "score" in columns:
        counted = _with_scores_and_costs(query, asked, counted, exact)
        keys.append("score")
    return counted if "cluster" not in columns else _count_clusters(query.adding(), keys, asked, counted, query)


def _with_scores_and_costs(query: CostQuery, asked: RowQuestion, counted: Counted, exact: bool | None) -> Counted:
    """Add the scores to decisions whose costs differ by row, with the cost of each decision beside them."""
    table = counted.confusion
    keys = ["truth", *(name for name in query.source.places if name.startswith("by")), "score"]
    groups, grid = _group(query.beside_scores(), keys, exact, None)
    assert groups is not None
    groups.check(of_classes=True)

    def beside(plan: Plan, rows: Rows, by: Labels | None) -> Counted:
        scored = _count(groups, grid, query.source, asked.auc_error, plan, rows, by)
        positive = rows.truth == plan.classes.index(str(plan.positive))
        plan, edges = replace(plan, decisions=table.decisions), as_float_if_exact(np.asarray(rows.scores))

        def scores_in(segment: str | None) -> ScoreTable:
            here, part = rows_of(by, segment), scored if segment is None else scored.segments[segment]
            return query.with_costs(part.scores, plan, groups.take(here), edges[here], positive[here])

        return counted.with_tallies(scores_in)

    plain = replace(asked, pricing=None, threshold=None, prediction=None)
    found = count_groups(replace(plain, classes=list(table.truths), positive=table.positive), groups, beside)
    assert found is not None
    return found


def _count_clusters(
    source: QuerySource,
    keys: list[str],
    asked: RowQuestion,
    counted: Counted,
    query: CostQuery | None = None,
    clusters: QueryClusters | None = None,
    groups: Groups | None = None,
) -> Counted | None:
    """Add the clusters to a count: with few rows every score is queried, with more the cells of a grid.

    If costs differ by row, their ``query`` gives the costs of each cluster, too. For decisions the ``clusters`` and
    their ``groups`` may be known already.
    """
    clusters, grid = clusters or QueryClusters.of(source), None
    if groups is None:
        if counted.scores is not None and counted.rows_read > FEW_ROWS:
            columns = counted.scores.as_columns()
            bits = grid_bits(columns.scores, columns.counts().sum(0))
            grid = ("probability" if counted.scores.probabilities else "line"), bits
            if asked.threshold is not None and query is None:
                source, keys = source.decided_at(asked.threshold), [*keys, "decided"]
            source = source.on_grid(*grid)
        groups = clusters.put_together(source).groups([*keys, "cluster"])  # after bins: DuckDB would repeat the join
    assert groups is not None
    known = groups

    def add(plan: Plan, rows: Rows, by: Labels | None) -> Counted:
        entries = replace(rows.standing_for(*known.amounts), alike=known.sizes)
        paid = None if query is None else query.paid(known, plan, entries)
        return ClusterRows(entries, by, grid, clusters.count, clusters.counts, paid=paid).added_to(counted)

    return count_groups(asked, groups, add)


def name_columns(data: Data, asked: RowQuestion) -> dict[str, str] | None:
    """The columns whose groups answer the question, by argument; None if it needs the rows themselves."""
    by_row = {} if asked.pricing is None else {cost_column(name): name for name in asked.pricing.costs.columns}
    others = any(one is not None for one in (asked.frequency, asked.parts))
    columns = asked.given(data, "truth", "prediction", "score", "weight", "cluster") | by_row
    if (several := class_columns(asked)) is not None:
        columns = {name: column for name, column in columns.items() if name != "score"} | several
    thresholds = 0 if asked.pricing is None else len(asked.pricing.costs.decisions or "-") - 1  # between decisions
    apart = not several and not by_row and thresholds > 1  # thresholds that may lie inside cells
    if asked.cluster is not None and apart:
        return None
    if asked.pricing is not None and by_row and asked.pricing.needs_all_rows:
        return None
    if asked.of_numbers or others or not all(isinstance(name, str) for name in columns.values()):
        return None
    if not several and "score" not in columns and "prediction" not in columns:
        raise errors.nothing_to_judge()
    return columns


def number_columns(data: Data, asked: RowQuestion) -> dict[str, str] | None:
    """The columns of predicted numbers, by argument; None if the question is about anything else."""
    if asked.of_classes or asked.task == "classification":
        return None
    if any(one is not None for one in (asked.pricing, asked.frequency, asked.parts, asked.alike)):
        return None
    asked = replace(asked, cluster=asked.series if asked.cluster is None else asked.cluster)
    columns = asked.given(data, "truth", "prediction", "weight", "exposure", "order", "series", "cluster")
    return columns if "prediction" in columns and all(isinstance(name, str) for name in columns.values()) else None


def _group(
    source: QuerySource, keys: list[str], exact: bool | None, threshold: float | None
) -> tuple[Groups | None, str | None]:
    """Return the groups of equal rows, and the grid of their scores if there are too many different scores.

    A threshold inside a bin cannot be applied later, so its decisions are counted with the bins. None if there are too
    many groups without a score: these are quantities, or names of single rows.
    """
    if "score" not in keys:
        return source.groups(keys, MOST_GROUPS), None
    if exact is not False:
        all_of_them = exact and (any(key.startswith("by") for key in keys) or not sorts_inside(source))
        too_many = not all_of_them and source.has_too_many_scores
        groups = None if too_many else source.groups(keys, None if all_of_them else MOST_GROUPS)
        if groups is not None and (all_of_them or groups.columns["score"].n_unique() <= MOST_SCORES):
            return groups, None
    dtype = source.dtype("score")
    if not dtype.is_numeric():
        raise errors.not_numbers("score", f"{dtype} values")
    others = [key for key in keys if key != "score"]
    looked = source.look_at_scores(others)
    if threshold is not None:
        source, keys = source.decided_at(threshold), [*keys, "decided"]
    grid = "probability" if looked.of_probabilities else "line"
    binned = source.on_grid(grid)
    groups = (looked.count_two(binned) if keys == ["truth", "score"] else None) or binned.groups(keys)
    assert groups is not None
    return looked.beside(groups, {key: source.places[key] for key in others}) if grid == "probability" else groups, grid


def _count(
    groups: Groups,
    grid: str | None,
    source: QuerySource,
    auc_error: float | None,
    plan: Plan,
    rows: Rows,
    by: Labels | None,
) -> Counted:
    """Count groups; if bins leave more of the auc open than ``auc_error``, the engine sorts, or counts finer."""
    kept = replace(rows.standing_for(*groups.amounts, grid), lost=groups.losses)
    kept, by, _ = kept.in_order(by, rows.scores)
    counted = count_classes(plan, kept, by)
    table = counted.scores
    if table is not None and auc_error is not None and not is_exact_enough(table, auc_error):
        mine = rows.truth == plan.classes.index(str(plan.positive))
        truths = groups.columns["truth"].filter(mine.tolist()).unique().to_list()
        if sorts_inside(source):
            counted = counted.with_tally(replace(table, order=order_inside(source, table, truths)))
        else:
            counted = count_finer(counted, auc_error, partial(_inside_bins, source, truths))
    if counted.scores is not None and not counted.scores.probabilities:
        warn_of_few_outside(np.asarray(rows.scores), groups.sizes)
    return groups.of_rows(counted)


def _inside_bins(source: QuerySource, positive: list[object], heavy: HeavyBins) -> LabelledScores:
    """The rows of the ranges in which heavy bins lie, in finer bins; ``positive`` are the labels of positive rows."""
    groups = source.between(heavy.ranges).on_grid(heavy.grid, heavy.bits).groups(["truth", "score"])
    assert groups is not None
    mine = groups.columns["truth"].is_in(positive).to_numpy()
    yield groups.columns["score"].to_numpy().astype(np.float64), mine, groups.amounts[0]
