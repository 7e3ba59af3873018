"""The segments of an evaluation, found by their names or by their values."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from stakes import errors
from stakes.engines.segments import values_of
from stakes.question.options import Value
from stakes.results import speak
from stakes.tallies.names import canonical
from stakes.tallies.on_demand import OnDemand

if TYPE_CHECKING:
    from stakes.evaluation.base import Evaluation


class Segments(OnDemand[str, "Evaluation"]):
    """Evaluations by the name of the segment, or by its values: ``ev.segments["A", "f"]`` of two columns."""

    whole: "Evaluation | None" = None  # not pickled; the parts know their language by then

    def __getitem__(self, name: Value) -> "Evaluation":
        found = self._place(name)
        if found is None:
            raise errors.no_such_segment(name, list(self))
        return speak(super().__getitem__(found), "en" if self.whole is None else self.whole.lang)

    def __contains__(self, name: object) -> bool:
        return self._place(name) is not None

    def _place(self, name: Value) -> str | None:
        """The name of the segment that is meant, if there is one."""
        if isinstance(name, tuple):
            return self._by_values.get(tuple(canonical(value) for value in name))
        text = canonical(name)
        return text if text in self._made else None

    @cached_property
    def _by_values(self) -> Mapping[tuple[str, ...] | None, str]:
        return {values_of(name): name for name in self}
