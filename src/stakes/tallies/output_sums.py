"""Several predicted numbers per row: the errors of each output, side by side."""

from collections.abc import Sequence
from typing import Self

from stakes.frozen import dataclass, field
from stakes.tallies.arithmetic import Array, Number
from stakes.tallies.base import Tally
from stakes.tallies.error_sums import ErrorSums
from stakes.tallies.fields import how, same

_EACH = how(
    add=lambda parts: tuple(map(ErrorSums.sum, zip(*parts, strict=True))),
    save=lambda each: [one.saved() for one in each],
    load=lambda saved: tuple(ErrorSums.from_dict(one) for one in saved),
)


@dataclass(frozen=True, eq=False)
class OutputSums(Tally):
    """The sums of the errors of each output; all are of the same rows."""

    names: tuple[str, ...] = field(metadata=same("the list of outputs"))
    each: tuple[ErrorSums, ...] = field(metadata=_EACH)

    kind = "outputs"
    task = "regression"

    @classmethod
    def from_rows(
        cls,
        names: Sequence[str],
        truth: Array,
        prediction: Array,
        weight: Array | None = None,
        places: Array | None = None,
    ) -> Self:
        """Add up the errors of each output; columns are outputs."""
        columns = zip(truth.T, prediction.T, strict=True)
        each = [ErrorSums.from_rows(t.copy(), p.copy(), weight, places=places) for t, p in columns]
        return cls(tuple(names), tuple(each))

    @property
    def leading(self) -> tuple[int, ...]:
        """The leading axes: () for the sums of some rows."""
        return self.each[0].leading

    @property
    def total(self) -> Number:
        """The (weighted) number of rows."""
        return self.each[0].total

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.each[0].weighted

    @property
    def equal_rows(self) -> float:
        """Kish's effective number of rows."""
        return self.each[0].equal_rows

    def anonymise(self, minimum: float) -> Self:
        """Return the sums alone."""
        return type(self)(self.names, tuple(one.anonymise(minimum) for one in self.each))

    def __str__(self) -> str:
        return f"<OutputSums of {len(self.names)} outputs, {float(self.total):,.15g} rows>"
