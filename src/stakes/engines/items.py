"""Graded items from tables: one column for each model (wide), or one row for each model and item (long)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from stakes import errors
from stakes.engines.columns import Arguments, Data, Values, as_finite, columns_by_name, to_column
from stakes.engines.labels import Labels, encode
from stakes.engines.missing import keep, lacking
from stakes.engines.tables import is_lazy, names_files, take
from stakes.errors import Given, InputError, Pass, first_row, some
from stakes.tallies.arithmetic import Array
from stakes.tallies.graded_items import GradedItems, Repeats, refuse_one_model

if TYPE_CHECKING:
    from stakes.engines.files.reading import Files

_BATCH = 1 << 17
"""Rows per batch."""

_MANY = 1 << 21
"""Wide tables with more rows are added up batch by batch."""

_SCORE = "score of "
_BESIDE = ("item", "model", "cluster", "repeat", "query")


@dataclass(frozen=True)
class ItemQuestion:
    """Which columns hold the items, the models and their scores, and what belongs together."""

    item: Values = None
    scores: Values = None
    model: Values = None
    score: Values = None
    cluster: Values = None
    repeat: Values = None
    missing: str = "error"
    where: Values = None

    def __post_init__(self) -> None:
        long = self.model is not None or self.score is not None
        if long == (self.scores is not None) or (
            long and any(one is None for one in (self.model, self.score, self.item))
        ):
            raise InputError(
                "which-scores",
                "say where the scores are: a column for each model (",
                Pass("scores"),
                "), or, in a table with a row for each model and item, ",
                Pass("item"),
                ", ",
                Pass("model"),
                " and ",
                Pass("score"),
            )
        if self.repeat is not None and self.item is None:
            raise InputError(
                "repeat-without-item", Given("repeat"), " needs to know what is repeated; give ", Pass("item")
            )

    @property
    def wide(self) -> bool:
        """Whether every model has a column of its own."""
        return self.scores is not None


def count_items(data: Data, asked: ItemQuestion) -> GradedItems:
    """Read the scores of several models, and add them up."""
    if not asked.wide:
        return _count_long(data, asked)
    models = _by_name(asked.scores)
    refuse_one_model(list(models))
    beside = {"item": asked.item, "cluster": asked.cluster, "repeat": asked.repeat}
    wanted = {**{_SCORE + name: column for name, column in models.items()}, **beside}
    if asked.repeat is None and names_files(data) and all(isinstance(one, str | None) for one in wanted.values()):
        counted = _count_batches(data, {name: str(one) for name, one in wanted.items() if one is not None}, asked)
        if counted is not None:
            return counted
    if asked.repeat is None and asked.missing == "error" and is_lazy(data):
        named = {name: one for name, one in wanted.items() if one is not None}
        if all(isinstance(one, str) for one in named.values()):
            from stakes.engines.lazy.items import count_items_inside  # loads Narwhals

            counted = count_items_inside(data, named, {name: _SCORE + name for name in models}, asked.where)
            if counted is not None:
                return counted
    return _count_wide(take(data, asked.where, **wanted), list(models), asked)


def _by_name(scores: Values) -> dict[str, Values]:
    """Model → column; a list of columns names its models, models of an array are numbered."""
    if isinstance(scores, np.ndarray) and scores.ndim == 2:
        return {f"model {place}": column for place, column in enumerate(scores.T, 1)}
    if (found := columns_by_name(scores)) is not None:
        return found
    raise InputError(
        "scores-without-names", "scores: give a dictionary model → column, a list of column names, or a table"
    )


def read_by_task(data: Data, asked: ItemQuestion, task: Values) -> tuple[Callable[[Array], ItemQuestion], Labels]:
    """Read all columns; return a function that selects rows of them, and the task of each row."""
    models = {} if not asked.wide else {_SCORE + name: column for name, column in _by_name(asked.scores).items()}
    plain = {name: getattr(asked, name) for name in ("item", "model", "score", "cluster", "repeat")}
    found = take(data, None, task=task, **models, **plain)
    labels = encode(to_column(found["task"], "task"))

    def choose(rows: Array) -> ItemQuestion:
        columns = {name: keep(values, rows) for name, values in found.items()}
        scores = {name.removeprefix(_SCORE): columns[name] for name in models}
        chosen: Arguments = {name: columns.get(name) for name in plain}
        return replace(asked, scores=scores or None, **chosen)

    return choose, labels


# ── a column for each model ──────────────────────────────────────────────────────────────────────────────────────
def _count_wide(columns: Arguments, models: Sequence[str], asked: ItemQuestion) -> GradedItems:
    scores = _matrix(columns, models)
    beside = _labels_beside(columns, len(scores))
    cluster = beside.get("cluster")
    if "item" not in beside:
        _refuse_gaps(scores, models, None, asked.missing)
        return _add_up(models, scores, cluster, None)
    items = beside["item"]
    if asked.repeat is None:
        _refuse_doubled(np.bincount(items.codes), items, None)
        _refuse_gaps(scores, models, items, asked.missing)
        return _add_up(models, scores, cluster, None)
    cells = items.codes[:, None].astype(np.int64) * len(models) + np.arange(len(models))
    return _add_cells(cells.ravel(), scores.ravel(), models, items, cluster, asked)


def _matrix(found: Arguments, models: Sequence[str]) -> Array:
    """The scores, rows × models; NaN where there is none."""
    columns = [_numbers(found[_SCORE + name], _SCORE + name) for name in models]
    for name, column in zip(models, columns, strict=True):
        if len(column) != len(columns[0]):
            raise errors.wrong_length(_SCORE + name, len(column), len(columns[0]))
    if not len(columns[0]):
        raise errors.empty("scores")
    return np.stack(columns).T  # a model's scores are contiguous, as they are added up


def _numbers(values: Values, argument: str) -> Array:
    """The numbers of a column, NaN where one is missing."""
    gaps = lacking(values)
    if not gaps.any():
        return as_finite(to_column(values, argument)).astype(np.float64)
    numbers = np.full(len(gaps), np.nan)
    if not gaps.all():
        numbers[~gaps] = as_finite(to_column(keep(values, ~gaps), argument))
    return numbers


def _labels_beside(found: Arguments, rows: int) -> dict[str, Labels]:
    """The columns beside the scores, as labels; each must have this many rows."""
    columns = {name: to_column(found[name], name) for name in _BESIDE if name in found}
    for name, column in columns.items():
        if len(column) != rows:
            raise errors.wrong_length(name, len(column), rows)
    return {name: encode(column) for name, column in columns.items()}


def _count_batches(data: Data, wanted: dict[str, str], asked: ItemQuestion) -> GradedItems | None:
    """Add up a table that is larger than memory; None if it is small, or has clusters, which need all rows."""
    from stakes.engines.files.reading import Files  # loads Polars

    files = Files.open(data, wanted, asked.where)
    if "cluster" in wanted or not files.have_more_rows_than(_MANY):
        return None
    models = [name.removeprefix(_SCORE) for name in wanted if name.startswith(_SCORE)]
    seen: list[Array] = []
    total = GradedItems.sum(_batches(files, models, asked, seen))
    if seen:
        values = np.sort(np.concatenate(seen))
        twice = int((values[1:] == values[:-1]).sum())
        if twice:
            raise _doubled(twice, "")
    return total


def _batches(files: "Files", models: Sequence[str], asked: ItemQuestion, seen: list[Array]) -> Iterator[GradedItems]:
    import polars as pl  # loaded since files were opened

    some_rows = False
    for batch in files.with_types((_SCORE,)).batches(_BATCH):
        rows = len(batch[_SCORE + models[0]])
        if not rows:
            continue
        some_rows = True
        scores = _matrix(batch, models)
        _refuse_gaps(scores, models, None, asked.missing)
        if "item" in batch:
            names = batch["item"]
            coded = names.dtype in (pl.Categorical, pl.Enum)  # by codes that differ between batches
            seen.append((names.cast(pl.String) if coded else names).hash().to_numpy())
        yield GradedItems.from_items(models, scores)
    if not some_rows:
        raise files.nothing_there()


# ── a row for each model and item ────────────────────────────────────────────────────────────────────────────────
def _count_long(data: Data, asked: ItemQuestion) -> GradedItems:
    wanted = {name: getattr(asked, name) for name in ("item", "model", "cluster", "repeat")}
    found = take(data, asked.where, **wanted, score=asked.score)
    scores = _numbers(found["score"], "score")
    if not len(scores):
        raise errors.empty("score")
    beside = _labels_beside(found, len(scores))
    items, models = beside["item"], beside["model"]
    refuse_one_model(models.names)
    cells = items.codes.astype(np.int64) * len(models.names) + models.codes
    return _add_cells(cells, scores, models.names, items, beside.get("cluster"), asked)


def _add_cells(
    cells: Array, scores: Array, models: Sequence[str], items: Labels, cluster: Labels | None, asked: ItemQuestion
) -> GradedItems:
    """Add up single answers; ``cells`` number the item and model of each, ``items`` and ``cluster`` are by row."""
    shape = len(items.names), len(models)
    there = ~np.isnan(scores)
    cells, values = cells[there], scores[there]
    counts = np.bincount(cells, minlength=shape[0] * shape[1])
    if asked.repeat is None:
        _refuse_doubled(counts, items, models)
    sums = np.bincount(cells, values, shape[0] * shape[1])
    means = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
    within = np.bincount(cells, (values - means[cells]) ** 2, len(sums))
    matrix = means.reshape(shape)
    groups = None if cluster is None else _cluster_of_items(items, cluster)
    _refuse_gaps(matrix, models, Labels(np.arange(shape[0]), items.names), asked.missing)
    repeats = None if asked.repeat is None else Repeats(counts.reshape(shape), within.reshape(shape))
    return _add_up(models, matrix, groups, repeats)


def _cluster_of_items(items: Labels, cluster: Labels) -> Labels:
    """The cluster of each item, which must be the same in all of its rows."""
    groups = np.zeros(len(items.names), np.int64)
    groups[items.codes] = cluster.codes
    wrong = np.flatnonzero(groups[items.codes] != cluster.codes)
    if len(wrong):
        name = items.names[items.codes[wrong[0]]]
        own = cluster.names[cluster.codes[wrong[0]]], cluster.names[groups[items.codes[wrong[0]]]]
        raise InputError(
            "item-in-two-clusters",
            f"item {name!r} is in the clusters {some(own)}; an item belongs to one, so mend its cluster",
        )
    return Labels(groups, cluster.names)


def _add_up(models: Sequence[str], scores: Array, cluster: Labels | None, repeats: Repeats | None) -> GradedItems:
    if cluster is None:
        return GradedItems.from_items(models, scores, repeats=repeats)
    return GradedItems.from_items(models, scores, cluster.codes.astype(np.int64), cluster.names, repeats)


# ── a row for each document of a query ───────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False)
class Documents:
    """Documents by row: query, relevance, each model's scores, and the cluster of each query."""

    query: Labels
    relevance: Array
    scores: Mapping[str, Array]
    cluster: Array | None


def read_documents(data: Data, scores: Values, beside: Arguments, where: Values) -> Documents:
    """Read the documents of queries; relevance is 0 or more."""
    models = _by_name(scores)
    refuse_one_model(list(models))
    found = take(data, where, **beside, **{_SCORE + name: column for name, column in models.items()})
    values = {name: as_finite(to_column(found[_SCORE + name], _SCORE + name)) for name in models}
    relevance = as_finite(to_column(found["relevance"], "relevance")).astype(np.float64)
    labels = _labels_beside(found, len(relevance))
    if not len(relevance):
        raise errors.empty("relevance")
    if relevance.min() < 0:
        raise InputError("negative-relevance", "relevance is below 0 in some rows; give 0 for what is not relevant")
    query, cluster = labels["query"], None
    for name, column in values.items():
        if len(column) != len(relevance):
            raise errors.wrong_length(_SCORE + name, len(column), len(relevance))
    if "cluster" in labels:
        own = _cluster_of_items(query, labels["cluster"])
        cluster = np.array(own.names, object)[own.codes]
    return Documents(query, relevance, values, cluster)


# ── errors ────────────────────────────────────────────────────────────────────────────────────────────────
def _refuse_gaps(scores: Array, models: Sequence[str], items: Labels | None, missing: str) -> None:
    """Refuse items that a model did not answer, unless pairs of models are compared on the items that both answered."""
    gaps = np.isnan(scores)
    if missing == "pairwise" or not gaps.any():
        return
    row, model = (int(one) for one in np.argwhere(gaps)[0])
    where = first_row(row) if items is None else f"the first is item {items.names[items.codes[row]]!r}"
    raise InputError(
        "missing-answers",
        f"{int(gaps.sum()):,} of {gaps.size:,} scores are missing, {models[model]!r} has none in some items (",
        where,
        "); fill them in (a failed answer is a score of 0, not a gap), or compare every two models on the items that "
        "both answered: ",
        Pass("missing", "pairwise"),
    )


def _refuse_doubled(counts: Array, items: Labels, models: Sequence[str] | None) -> None:
    """Refuse an item that occurs more than once without ``repeat``."""
    twice = np.flatnonzero(counts > 1)
    if len(twice):
        place = int(twice[0]) if models is None else int(twice[0]) // len(models)
        raise _doubled(len(twice), f" (the first is item {items.names[place]!r})")


def _doubled(count: int, where: str) -> InputError:
    return InputError(
        "doubled-answers",
        f"{count:,} item{' was' if count == 1 else 's were'} scored more than once by the same model{where}; keep one, "
        "or, if they are runs of the same question, name what numbers them: ",
        Pass("repeat"),
    )
