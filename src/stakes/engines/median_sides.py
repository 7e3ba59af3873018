"""How many rows lie on which side of the median errors of two models, counted where the rows are.

The errors of two models on one row resemble each other, and so do their medians: by how much, these counts tell.
"""

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce

import narwhals as nw
import numpy as np

from stakes.engines.columns import Data, to_column
from stakes.engines.labels import Labels
from stakes.engines.numbers import OTHER
from stakes.engines.queries import Groups, QuerySource, whether
from stakes.engines.segments import segment_labels
from stakes.engines.shared_rows import as_engine_table
from stakes.tallies.arithmetic import Array
from stakes.tallies.error_variation import MedianSides, Term

Medians = tuple[float, float]
"""The median |error| of each of two models."""

_AT_A_TIME = 64
"""Segments in a query: each has medians of its own, and engines do not take expressions of any depth."""


def median_sides(
    data: Data, shared: Mapping[str, str], where: str | None, columns: tuple[str, str], medians: Mapping[str, Medians]
) -> dict[str, MedianSides]:
    """Count the rows on either side of two models' medians, which are given for all rows ("") and for each segment."""
    named = {**shared, "prediction": columns[0], OTHER: columns[1]}
    with as_engine_table(data, named, where) as (table, left):
        assert table is not None  # otherwise counting each model has refused it
        source = _with_sizes(QuerySource.of(table, named, left))
        keys = [name for name in shared if name == "cluster"]
        found = {"": _sides_of(_on_sides(source, _sides(*medians[""])).groups([*keys, "sides"]))}
        by = [name for name in shared if name.startswith("by")]
        for some in _by_segment(source, by, medians):
            groups = some.groups([*by, *keys, "sides"])
            assert groups is not None
            labels = _labels(groups, by)
            for code, name in enumerate(labels.names):
                found[name] = _sides_of(groups, labels.codes == code)
    return found


def _with_sizes(source: QuerySource) -> QuerySource:
    """Add the sizes of both models' errors; with exposure those of rates, which weigh as much as it."""
    places = dict(source.places)

    def column(name: str) -> nw.Expr:
        return nw.col(places[name]).cast(nw.Float64)

    over = column("exposure") if "exposure" in places else nw.lit(1.0)
    sizes = [((column("truth") - column(name)) / over).abs() for name in ("prediction", OTHER)]
    frame = source.frame.with_columns(sizes[0].alias("size0"), sizes[1].alias("size1"))
    if "exposure" in places:
        weight = over * column("weight") if "weight" in places else over
        frame, places = frame.with_columns(weight.alias("exposed")), {**places, "weight": "exposed"}
    kept = {name: place for name, place in places.items() if name in ("weight", "cluster") or name.startswith("by")}
    return replace(source, frame=frame, places={**kept, "sides": "sides"})


def _sides(*medians: float) -> Term:
    """Whether sizes are below (0), at (1) or above (2) their medians: 3 times that of one model, plus the other's."""
    first, second = (
        whether(nw.col(f"size{side}") > median) + whether(nw.col(f"size{side}") >= median)
        for side, median in enumerate(medians)
    )
    return 3 * first + second


def _on_sides(source: QuerySource, sides: Term) -> QuerySource:
    return replace(source, frame=source.frame.with_columns(sides.alias("sides")))


def _by_segment(source: QuerySource, by: Sequence[str], medians: Mapping[str, Medians]) -> Iterator[QuerySource]:
    """The rows of some segments at a time, each beside the medians of its own segment."""
    if not by:
        return
    groups = source.groups(by)
    assert groups is not None
    labels, values = _labels(groups, by), [[*groups.columns[name].to_list()] for name in by]
    for start in range(0, len(labels.codes), _AT_A_TIME):
        sides, here = nw.lit(-1), slice(start, start + _AT_A_TIME)
        for code, *own in zip(labels.codes[here].tolist(), *(each[here] for each in values), strict=True):
            tests = (nw.col(source.places[name]) == value for name, value in zip(by, own, strict=True))
            own_sides = _sides(*medians[labels.names[code]])
            sides = nw.when(reduce(operator.and_, tests)).then(own_sides).otherwise(sides)
        some = _on_sides(source, sides)
        yield replace(some, frame=some.frame.filter(nw.col("sides") >= 0))


def _labels(groups: Groups, by: Sequence[str]) -> Labels:
    labels = segment_labels({name: to_column(groups.columns[name], name) for name in by})
    assert labels is not None
    return labels


def _sides_of(groups: Groups | None, some: Array | slice = slice(None)) -> MedianSides:
    """Some of the groups (a mask)."""
    assert groups is not None
    sides, clusters = groups.columns["sides"].to_numpy().astype(np.int64)[some], None
    if "cluster" in groups.columns:
        numbers = to_column(groups.columns["cluster"], "cluster").values[some]
        clusters = np.unique(numbers, return_inverse=True)[1]
    weight, squares = (groups.sizes if one is None else one for one in groups.amounts)
    signs = np.stack([sides // 3, sides % 3]) - 1.0
    return MedianSides(signs, weight.astype(np.float64)[some], squares.astype(np.float64)[some], clusters)
