"""Predicted numbers in partitions of Dask: each is added up where it lies, as a batch of a file is, and sums come here.

One question about all rows would be a query of hundreds of columns, over which Dask thinks for longer than it counts.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import narwhals as nw

from stakes.engines.columns import Data, LazyTable, columns_of, to_column
from stakes.engines.lazy.queries import collect
from stakes.engines.numbers.batches import Adding, BatchNumbers, Parts
from stakes.engines.numbers.passes import OTHER, FirstPass, Wanted
from stakes.engines.numbers.rows import NumberReader
from stakes.engines.rows import Dropped


class PartitionNumbers(BatchNumbers):
    """Rows with columns truth, prediction and weight, of which all that is wrong was refused.

    ``places`` are the columns by argument. Segments and clusters are numbered beforehand, so that every partition calls
    them alike.
    """

    def __init__(
        self, frame: LazyTable, places: Mapping[str, str], rows: int, dropped: Dropped, wanted: Wanted
    ) -> None:
        own = {name: place for name, place in places.items() if name == "cluster" or name.startswith("by")}
        others = {name: places[name] for name in (OTHER,) if name in places}
        weight = {"weight": "weight"} if "weight" in places else {}
        self._places = {"truth": "truth", "prediction": "prediction", **weight, **own, **others}
        reader = NumberReader(self._places, "error")
        super().__init__(reader, partial(Parts, rows, reader.clustered, wanted=wanted))
        self._dropped = dropped
        self._partitions = frame.select(*dict.fromkeys(self._places.values())).to_native().to_delayed()
        if own:
            table = collect(frame.group_by(*dict.fromkeys(own.values())).agg(nw.len().alias("rows")))
            self._reader.number({name: to_column(table[place], name) for name, place in own.items()})

    def first(self, baseline: float | None) -> FirstPass:
        """Add up errors, and count them by size; the rows of partitions have no numbers among all."""
        found = super().first(baseline)
        segments = {name: sums.without_row_numbers() for name, sums in found.segments.items()}
        found = replace(found, dropped=self._dropped.rows, dropped_weight=self._dropped.weight)
        return replace(found, whole=found.whole.without_row_numbers(), segments=segments)

    def _added(self, begin: Callable[[], Adding]) -> Adding:
        dask: Any = importlib.import_module("dask")
        tasks = [dask.delayed(_add)(part, self._places, self._reader, begin) for part in self._partitions]
        found: Adding = reduce(lambda one, other: one.joined(other), dask.compute(*tasks))
        return found


def _add(partition: Data, places: Mapping[str, str], reader: NumberReader, begin: Callable[[], Adding]) -> Adding:
    """Add up a partition from nothing on, so that one that is tried again does not count twice."""
    parts = begin()
    if len(partition):
        table = columns_of(partition)
        parts.add(reader.read({name: table[place] for name, place in places.items()}, 0))
    return parts
