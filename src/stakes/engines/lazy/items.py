"""Graded items in another engine, which returns sums over pairs of models, or over clusters of items."""

import itertools
from collections.abc import Mapping, Sequence

import narwhals as nw
import numpy as np

from stakes.engines.columns import Data, to_column
from stakes.engines.labels import encode
from stakes.engines.lazy.queries import QuerySource, collect, whether
from stakes.engines.lazy.spark_text import is_nan
from stakes.tallies.arithmetic import Array
from stakes.tallies.graded_items import GradedItems

_MOST_MODELS = 60
"""With more models and no clusters the rows are fetched: each pair of models would need a sum."""


def count_items_inside(
    data: Data, wanted: Mapping[str, str], models: Mapping[str, str], where: str | None
) -> GradedItems | None:
    """Add up complete items in their engine; None if the rows are needed, or something is wrong with them.

    ``models`` is model → argument, ``wanted`` argument → column.
    """
    source = QuerySource.of(data, wanted, where)
    if not all(source.dtype(argument).is_numeric() for argument in models.values()):
        return None
    if "cluster" not in wanted and len(models) > _MOST_MODELS:
        return None
    scores = {name: nw.col(source.places[argument]).cast(nw.Float64) for name, argument in models.items()}
    facts = _facts(source, scores, [source.places[name] for name in ("item", "cluster") if name in wanted])
    if facts is None:
        return None
    if "item" in wanted and collect(source.frame.select(nw.col(source.places["item"]).n_unique())).item() < facts[0]:
        return None
    if "cluster" not in wanted:
        return _by_item(source, scores, facts)
    return _by_cluster(source, scores, facts)


Facts = tuple[int, float, float, bool]
"""The number of items, the lowest and the highest score, and whether all scores are 0 or 1."""


def _facts(source: QuerySource, scores: Mapping[str, nw.Expr], beside: Sequence[str]) -> Facts | None:
    """The facts of all items; None if there are none, or values are missing or infinite."""
    gaps = [whether(one.is_null()).sum() for one in (*scores.values(), *map(nw.col, beside))]
    gaps += [whether(is_nan(one)).sum() for one in scores.values()]
    ends = [end for one in scores.values() for end in (one.min(), one.max(), (one * (1 - one)).abs().max())]
    named = [one.alias(f"v{place}") for place, one in enumerate([nw.len(), *gaps, *ends])]
    answer = [float(one or 0) for one in collect(source.frame.select(*named)).rows()[0]]
    rows, missing, spans = int(answer[0]), answer[1 : 1 + len(gaps)], np.array(answer[1 + len(gaps) :]).reshape(-1, 3)
    if not rows or any(missing) or not np.isfinite(spans).all():
        return None
    return rows, float(spans[:, 0].min()), float(spans[:, 1].max()), not spans[:, 2].any()


def _by_item(source: QuerySource, scores: Mapping[str, nw.Expr], facts: Facts) -> GradedItems:
    """Sums over items, and over differences of every two models, without clusters."""
    pairs = list(itertools.combinations(range(len(scores)), 2))
    columns = list(scores.values())
    queried = [*(one.sum() for one in columns), *((one**2).sum() for one in columns)]
    queried += [((columns[a] - columns[b]) ** 2).sum() for a, b in pairs]
    queried += [(columns[a] - columns[b]).sum() for a, b in pairs]
    answer = collect(source.frame.select(*(one.alias(f"v{place}") for place, one in enumerate(queried)))).rows()[0]
    sums, squares, apart, gaps = np.split(np.array(answer, np.float64), np.cumsum([len(columns)] * 2 + [len(pairs)]))
    differences = _matrix(apart, len(columns), 1), _matrix(gaps, len(columns), -1)
    return GradedItems.of_pairs(tuple(scores), facts[0], (sums, squares), *differences, facts[1:])


def _matrix(values: Array, size: int, mirrored: int) -> Array:
    """The matrix of all pairs of models from its upper triangle."""
    upper = np.zeros((size, size))
    upper[np.triu_indices(size, 1)] = values
    return upper + mirrored * upper.T


def _by_cluster(source: QuerySource, scores: Mapping[str, nw.Expr], facts: Facts) -> GradedItems:
    """The scores of each model in each cluster, and their difference from the mean of all models."""
    place = source.places["cluster"]
    names = [f"v{number}" for number in range(len(scores))]
    frame = source.frame.select(
        nw.col(place), *(one.alias(name) for name, one in zip(names, scores.values(), strict=True))
    )
    frame = frame.with_columns((nw.sum_horizontal(*names) / len(names)).alias("mean"))
    frame = frame.with_columns(*((nw.col(name) - nw.col("mean")).alias(f"{name}_apart") for name in names))
    added = [nw.col(name).sum() for name in (*names, *(f"{name}_apart" for name in names))]
    table = collect(frame.group_by(place).agg(nw.len().alias("items"), *added))
    labels = encode(to_column(table[place].to_native(), "cluster"))
    order = np.argsort(labels.codes, kind="stable")
    own, apart = (np.stack([table[name + end].to_numpy() for name in names], axis=1)[order] for end in ("", "_apart"))
    sizes = table["items"].to_numpy().astype(np.float64)[order]
    clusters = [labels.names[code] for code in labels.codes[order].tolist()]
    return GradedItems.of_clusters(tuple(scores), (own, sizes, apart), clusters, facts[1:])
