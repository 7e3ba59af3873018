"""Predicted numbers in partitions of Dask: each is added up where it lies, as a batch of a file is, and sums come here.

One question about all rows would be a query of hundreds of columns, over which Dask thinks for longer than it counts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TypeVar

import narwhals as nw
import numpy as np

from stakes.engines.cells import Cells
from stakes.engines.clusters import ClusterNumbers
from stakes.engines.columns import Column, LazyTable, as_frame, to_column
from stakes.engines.labels import encode
from stakes.engines.number_batches import CrossParts, FirstParts, NumberBatch, Numbers, SecondParts, cells_by_name
from stakes.engines.numbers import OTHER, Asked, FirstPass, SecondPass
from stakes.engines.queries import collect
from stakes.tallies.arithmetic import Array

Parts = TypeVar("Parts", FirstParts, SecondParts, CrossParts)


class PartitionNumbers:
    """Rows with columns truth, prediction and weight, of which all that is wrong was refused.

    ``places`` are the columns by argument. Segments and clusters are numbered once, so that every partition calls them
    alike.
    """

    def __init__(self, frame: LazyTable, places: Mapping[str, str], rows: int, dropped: int) -> None:
        self._rows, self._dropped = rows, dropped
        own = {name: place for name, place in places.items() if name == "cluster" or name.startswith("by")}
        wanted = {"truth": "truth", "prediction": "prediction", **own}
        wanted |= {"weight": "weight"} if "weight" in places else {}
        wanted |= {OTHER: places[OTHER]} if OTHER in places else {}
        self._partitions = frame.select(*dict.fromkeys(wanted.values())).to_native().to_delayed()
        self._reader = PartitionReader(wanted)
        self._kinds: dict[str, str] = {}
        if own:
            keys = dict.fromkeys(own.values())
            table = collect(frame.group_by(*keys).agg(nw.len().alias("rows")))
            columns = {name: to_column(table[place], name) for name, place in own.items()}
            self._kinds = {name: column.kind for name, column in columns.items() if name != "cluster"}
            self._reader.number(columns)

    @property
    def _cells(self) -> dict[str, int]:
        return cells_by_name(self._reader.segments, self._kinds)

    def first(self) -> FirstPass:
        """Add up errors, and count them by size."""
        found = self._added(lambda: FirstParts(self._rows)).result(self._cells)
        return replace(found, dropped=self._dropped)

    def second(self, asked: Asked) -> SecondPass:
        """Add up what the baselines lose, and how errors vary."""
        cells, clustered = self._cells, "cluster" in self._reader.places
        return self._added(lambda: SecondParts(asked, cells, clustered)).result()

    def cross(self, centre: float) -> dict[str, Array]:
        """Add up the products of what depends on the predictions of two models, of all rows ("") and by segment."""
        return self._added(lambda: CrossParts(centre)).result(self._cells)

    def _added(self, begin: Callable[[], Parts]) -> Parts:
        """Let each partition be added up, and put the sums together."""
        import dask

        tasks = [dask.delayed(self._reader.add)(partition, begin()) for partition in self._partitions]
        return reduce(lambda one, other: one.joined(other), dask.compute(*tasks))


@dataclass(frozen=True, eq=False)
class PartitionReader:
    """Reads a partition: ``places`` are its columns by argument, ``segments`` and ``clusters`` are numbered."""

    places: Mapping[str, str]
    segments: Cells = field(default_factory=Cells)
    clusters: ClusterNumbers = field(default_factory=ClusterNumbers)

    def number(self, columns: Mapping[str, Column]) -> tuple[Array | None, Array | None]:
        """The numbers of the segment and of the cluster of each row."""
        by = [encode(column) for name, column in columns.items() if name.startswith("by")]
        cells = self.segments.of(by).of_rows if by else None
        return cells, self.clusters.of(columns["cluster"]) if "cluster" in columns else None

    def add(self, partition: object, parts: Parts) -> Parts:
        """Add a partition up."""
        table = as_frame(partition)
        if len(table):
            columns = {name: to_column(table[place], name) for name, place in self.places.items()}
            cells, cluster = self.number(columns)
            truth, prediction, weight, other = (
                None if name not in columns else columns[name].values.astype(np.float64)
                for name in ("truth", "prediction", "weight", OTHER)
            )
            parts.add(NumberBatch(Numbers(truth, prediction, weight, cluster, other=other), cells))
        return parts
