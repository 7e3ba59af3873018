"""How many rows lie on which side of the median errors of two models, counted where the rows are.

The errors of two models on one row resemble each other, and so do their medians: by how much, these counts tell.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import narwhals as nw
import numpy as np

from stakes.engines.columns import Data, to_column
from stakes.engines.lazy.queries import Groups, QuerySource, whether
from stakes.engines.lazy.segments import AT_A_TIME, labels_of, segment_tests
from stakes.engines.numbers.passes import OTHER
from stakes.engines.shared_rows import as_engine_table
from stakes.tallies.arithmetic import Array
from stakes.tallies.error_terms import Term
from stakes.tallies.error_variation import MedianSides

Medians = tuple[float, float]
"""The median |error| of each of two models."""


def median_sides(
    data: Data, shared: Mapping[str, str], where: str | None, columns: tuple[str, str], medians: Mapping[str, Medians]
) -> dict[str, MedianSides]:
    """Count the rows on either side of two models' medians, which are given for all rows ("") and for each segment."""
    named = {**shared, "prediction": columns[0], OTHER: columns[1]}
    with as_engine_table(data, named, where) as (table, left):
        assert table is not None  # otherwise counting each model has refused it
        source = _with_sizes(QuerySource.of(table, named, left))
        found = _count(source, [], _sides(*medians[""]))
        by = {name: place for name, place in source.places.items() if name.startswith("by")}
        groups = source.groups([*by]) if by else None
        tests = {} if groups is None else segment_tests(groups.columns, by, nw.col)
        for start in range(0, len(tests), AT_A_TIME):
            sides = nw.lit(-1)
            for name in [*tests][start : start + AT_A_TIME]:
                sides = nw.when(tests[name]).then(_sides(*medians[name])).otherwise(sides)
            found |= _count(source, [*by], sides)
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
    return replace(source, frame=frame, places=kept)


def _count(source: QuerySource, by: Sequence[str], sides: Term) -> dict[str, MedianSides]:
    """Count the rows on each side, of each segment by these columns or of all (""); those below 0 are left out."""
    places = {**source.places, "sides": "sides"}
    frame = source.frame.with_columns(sides.alias("sides")).filter(nw.col("sides") >= 0)
    cluster = [name for name in places if name == "cluster"]
    groups = replace(source, frame=frame, places=places).groups([*by, *cluster, "sides"])
    assert groups is not None
    labels = labels_of({name: groups.columns[name] for name in by})
    if labels is None:
        return {"": _sides_of(groups, np.ones(len(groups.sizes), bool))}
    return {name: _sides_of(groups, labels.codes == code) for code, name in enumerate(labels.names)}


def _sides(*medians: float) -> Term:
    """Whether sizes are below (0), at (1) or above (2) their medians: 3 times that of one model, plus the other's."""
    first, second = (
        whether(nw.col(f"size{side}") > median) + whether(nw.col(f"size{side}") >= median)
        for side, median in enumerate(medians)
    )
    return 3 * first + second


def _sides_of(groups: Groups, some: Array) -> MedianSides:
    """Those of some groups (a mask)."""
    sides, clusters = groups.columns["sides"].to_numpy().astype(np.int64)[some], None
    if "cluster" in groups.columns:
        numbers = to_column(groups.columns["cluster"], "cluster").values[some]
        clusters = np.unique(numbers, return_inverse=True)[1]
    weight, squares = (groups.sizes if one is None else one for one in groups.amounts)
    signs = np.stack([sides // 3, sides % 3]) - 1.0
    return MedianSides(signs, weight.astype(np.float64)[some], squares.astype(np.float64)[some], clusters)
