"""Several outputs per row, in files of many rows: each output is added up like predicted numbers."""

from collections.abc import Mapping
from dataclasses import replace

from stakes.engines.files.reading import Files, count_typed
from stakes.engines.files.sources import FileNames
from stakes.engines.numbers.batches import FileNumbers
from stakes.engines.numbers.passes import count_numbers
from stakes.engines.plan import Counted
from stakes.engines.reading import RowQuestion
from stakes.tallies import OutputSums
from stakes.tallies.names import canonical


def count_outputs(data: FileNames, asked: RowQuestion, at_a_time: int) -> Counted:
    """Count several outputs per row, one after the other, with the same random groups of rows."""
    shared = asked.given(data, "weight", "cluster")
    outputs: dict[str, Counted] = {}
    for name, column in asked.truth.items():
        named = {"truth": column, "prediction": asked.prediction[name], **shared}
        files = Files.open(data, named, asked.where)
        quick = files.with_types(("truth", "prediction", "weight"))
        outputs[canonical(name)] = count_typed(
            files, quick, lambda some: count_numbers(FileNumbers(some, "error", at_a_time, in_groups=True), None)
        )
    whole = next(iter(outputs.values()))
    parts = {name: {key: one.segments[name] for key, one in outputs.items()} for name in whole.segments}
    segments = {name: _side_by_side(part) for name, part in parts.items()}
    both = replace(_side_by_side(outputs), segments=segments, read=whole.read)
    if asked.cluster is not None:
        return both
    alone = {name: replace(part, clusters=None) for name, part in segments.items()}
    return replace(both, clusters=None, segments=alone)


def _side_by_side(outputs: Mapping[str, Counted]) -> Counted:
    """The sums of several outputs as one count."""
    each = tuple(one.tallies["errors"] for one in outputs.values())
    sums = OutputSums(tuple(outputs), each)  # type: ignore[arg-type]
    return Counted(OutputSums.kind, {OutputSums.kind: sums}, clusters=next(iter(outputs.values())).clusters)
